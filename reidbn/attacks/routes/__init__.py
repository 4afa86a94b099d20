"""The adversary network on a table: every person's risk by prosecutor, journalist and marketer.

import reidbn as rb

result = rb.assess("adversary-routes", people, known="voter-registration", population=300_000)
print(result.summary("ema", "public"))
rb.what_if(result, generalise={"age": 1})
"""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {"assess": "assess", "assessment": "Assessment", "changes": "what_if"},
    {"drawn": "is_undecided off_of_each"},
)
