"""Synthetic tables, and real ones fetched on request."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "ehr": "SyntheticEHR synthetic_ehr",
        "families": "SyntheticFamilies synthetic_families",
        "fetching": "DATASETS fetch",
        "patients": "synthetic_patients",
        "toy_hospital": "ToyHospital toy_hospital",
    },
    {
        "": "shares",
    },
)
