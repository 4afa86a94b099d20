"""The door out: what leaves the house is written here, whole or not at all."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {"writing": "private_folder probe safe_cells whole write_csv write_text"},
    {
        "counts": "Alike FINE NOT_BESIDE down mean_in_steps mean_of_counts outwards",
        "writing": "held_folder without_apostrophes",
        "marks": "sketch",
        "seal": "sealed unsealed",
        "proof": "audited cells promised protections",
    },
)
