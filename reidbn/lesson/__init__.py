"""Exercises of the lessons: `rb.lesson.check(3, answer)` says right, or gives a hint."""

from reidbn.late import face

__getattr__ = face(__name__, {"check": "Checked check", "began": "began"}, {"answers": "EXERCISES"})
