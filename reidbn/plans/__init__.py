"""Plans: the least change to a table that makes its release safe, with a proof."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "ways": "Ways",
        "losses": "Margins",
        "regression": "Regression",
        "plan": "Way ReleasePlan",
        "recommend": "recommend",
        "search": "Certificate",
        "targets": "Target",
    },
    {"rising": "Bounds Direction bounds_of direction_of", "wide": "WideSearch"},
)
