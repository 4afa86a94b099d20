"""The page of an attack: one file in which anybody moves it."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {"sheet": "page"},
    {"payload": "Start payload", "people": "behind", "sheet": "written"},
)
