"""Conditional probability tables, one file per idea."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "arithmetic": "Count Max Minus Sum",
        "function": "Function cpd_function",
        "leak": "HypergeometricLeak",
        "logic": "And Mixture NoisyAnd NoisyOr Or Threshold",
        "match": "NearCopy NoisyCopy OneOf OneOver Probability Share Uniform Unique",
        "protocol": "CPD Ref Scope Variable",
        "ranks": "NoisyMax Ranked",
        "registry": "installed_kinds shipped_kinds",
        "rows": "Empirical Lookup MeasuredShares REST Row Rows Table",
        "structured": "StructuredMatch StructuredUniqueness",
        "targets": "RestOfLeak TargetClass TargetInLeak",
        "trials": "AtMost Binomial Geometric Poisson",
        "uniqueness": "PitmanClassSize PitmanMatch PitmanUniqueness SurveyClassSize",
    },
    {
        "protocol": "yes_no",
    },
)
