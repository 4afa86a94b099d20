"""What if: sweep, tornado, solve, compare, uncertainty, for every attack alike."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "bars": "Tornado tornado",
        "cases": "BringsCase Change case_of change",
        "comparison": "Comparison compare",
        "crossings": "Solution solve",
        "distributions": "Uncertainty estimated_quantile share_above subject_uncertainty "
        "uncertainty",
        "indices": "Sobol sobol",
        "slopes": "derivative derivatives",
        "sweeps": "sweep",
    },
)
