"""What if: sweep, tornado, solve, compare, uncertainty, for every attack alike."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "cases": "BringsCase Change case_of change",
        "compare": "Comparison compare",
        "curve": "Curve RATIO Response coefficients divided nodes responses",
        "priors": "lagrange measure prior_text",
        "scan": "Scan spread",
        "sensitivity": "Line slopes subject_slopes",
        "slopes": "derivative derivatives",
        "sobol": "Grid Sobol decompose sobol with_ranges",
        "solve": "Solution level solve",
        "summaries": "quantile summary",
        "sweep": "sweep",
        "tornado": "Tornado tornado",
        "uncertainty": "Uncertainty estimated_quantile share_above subject_uncertainty uncertainty",
    },
)
