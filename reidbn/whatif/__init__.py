"""What if: sweep, tornado, solve, compare, uncertainty, for every attack alike."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "compare": "Comparison compare",
        "decide": "Decision decide",
        "learn": "learn",
        "learned": "Learned",
        "expected": "expect",
        "slopes": "derivative derivatives",
        "sobol": "Sobol sobol",
        "protections": "protections",
        "solve": "Solution solve",
        "sweep": "sweep",
        "tornado": "Tornado tornado",
        "uncertainty": "Uncertainty subject_uncertainty uncertainty",
    },
    {
        "cases": "BringsCase Change case_of change",
        "curve": "Curve RATIO Response coefficients divided nodes responses",
        "axes": "lagrange",
        "priors": "measure prior_text",
        "scan": "Scan spread",
        "sensitivity": "Line slopes subject_slopes",
        "ratios": "decompose",
        "sobol": "Grid",
        "varied": "with_ranges",
        "solve": "level",
        "summaries": "quantile summary",
        "uncertainty": "estimated_quantile share_above",
    },
)
