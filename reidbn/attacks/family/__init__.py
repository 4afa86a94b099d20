"""Families: whoever is named gives away relatives, as far as they are in the table [Popat25]."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "kin": "Kin read_kin",
        "neighbourhood": "Neighbourhood family_experiments neighbourhood",
    },
    {
        "claims": "log_ratio named person_of",
        "columns": "FAMILY RELATIVES KinPeople Looking",
        "kin": "ROLES pairs_of",
        "planting": "FOUND_AGAIN chances planted virtual_record",
    },
)
