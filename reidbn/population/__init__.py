"""Population uniqueness: fits with status and interval, models compared, all subsets at once."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "compare": "compare",
        "curve": "uniqueness_curve",
        "every_subset": "StructuredSubsetFits fit_subsets",
        "fitting": "MODELS fit",
        "pitman": "PitmanFit",
        "rehearsal": "Rehearsal",
        "result": "Uniqueness",
        "subsets": "SubsetFits",
    },
    {
        "coherence": "falls_within raise_to_parts settle",
        "margins": "share_alike",
        "sample": "distinct_rows",
        "subsets": "fit_tables fits_kept",
        "weights": "weight_alike",
    },
)
