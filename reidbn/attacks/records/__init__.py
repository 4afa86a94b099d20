"""The record network: everybody's values as nodes, the oracle of all counting.

import reidbn as rb

seen = {"age": rb.records.Near(2), "sex": rb.records.Noisy(0.9)}
rb.records.record_network(people, seen=seen, secret="diagnosis").match(0)
"""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {"network": "Near Noisy RecordNetwork record_network"},
    {"network": "MOST_RECORDS"},
)
