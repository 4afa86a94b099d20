"""Conditional probability tables, one file per idea."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "empirical": "Empirical Lookup",
        "function": "Function cpd_function",
        "leak": "HypergeometricLeak",
        "logic": "And NoisyAnd NoisyOr Or Threshold",
        "match": "OneOver Probability Share Uniform Unique",
        "mixture": "Mixture",
        "protocol": "CPD Ref Scope Variable yes_no",
        "records": "NearCopy NoisyCopy OneOf",
        "registry": "SHIPPED installed_kinds shipped_kinds",
        "rows": "REST Row Rows",
        "table": "Table",
        "targets": "RestOfLeak TargetClass TargetInLeak",
        "uniqueness": "PitmanClassSize PitmanMatch PitmanUniqueness SurveyClassSize",
    },
)
