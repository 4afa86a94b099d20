"""Linkage on sparse records: somebody who knows any few facts of a person [Popat25, NS08]."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "ask": "linkage",
        "columns": "Effort SparsePeople known_of",
        "experiments": "linkage_experiments",
        "model_truth": "LinkageTruth linkage_truth",
        "result": "Linkage",
    },
    {
        "experiments": "PRINTED",
        "looked_into": "acted_in_bins by_fact",
        "plausible": "Plausible at_most if_plausible may_be_higher plausible",
    },
)
