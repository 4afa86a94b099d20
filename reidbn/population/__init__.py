"""Population uniqueness: fits with status and interval, models compared, all subsets at once."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "coherence": "falls_within raise_to_parts",
        "compare": "compare",
        "curve": "uniqueness_curve",
        "fitting": "MODELS fit",
        "margins": "share_alike",
        "pitman": "PitmanFit",
        "rehearsal": "Rehearsal",
        "result": "Uniqueness",
        "subsets": "SubsetFits fit_subsets fit_tables",
    },
)
