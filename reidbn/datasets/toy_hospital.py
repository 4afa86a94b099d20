"""A hospital of ten patients and a leak of three: the worked example of [Antoniou22].

The facts of the paper's Tables 1 to 4, told again with one letter per patient instead of their
numbers: the register as the hospital holds it, the anonymised table, a leak of it, and what an
acquaintance knows of one patient.  Where the tables disagree the anonymised one is followed; the
notes say where.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.table import People

_Person = tuple[str | int, ...]
_PERSON = ("patient", "sex", "age", "postcode", "ethnicity")
_ADMISSION = (*_PERSON, "length_of_stay", "diagnosis")
# One line per patient: the person as registered, the person as published, the admissions.
_PATIENTS = """
A | M 50 OX12_6HU White | M 50-55 OX12 White | 2 Cancer, 6 Pneumonia
B | M 53 OX12_9HU White | M 50-55 OX12 White | 3 Cancer, 11 Stroke
C | M 55 OX12_8JU White | M 50-55 OX12 White | 4 Pneumonia, 7 Influenza, 16 Pneumonia
D | F 64 OX14_6GU Mixed | F 60-65 OX14 Mixed | 22 Cancer
E | F 65 OX14_7GU Mixed | F 60-65 OX14 Mixed | 24 Cancer
F | F 65 OX14_8GU Mixed | F 60-65 OX14 Mixed | 27 Cancer
G | F 58 OX13_6AB Mixed | F 55-65 OX13 Mixed | 4 Influenza
H | F 62 OX13_6AF Mixed | F 55-65 OX13 Mixed | 2 Influenza
I | F 60 OX13_6BX Mixed | F 55-65 OX13 Mixed | 3 Ulcer
J | F 56 OX13_6FW White | F 55-65 OX13 Mixed | 4 Stroke
"""
_LEAKED = ("B", "C", "G")
_STAYS = {"0-5": range(6), "6-15": range(6, 16), "20-25": range(20, 28)}


@dataclass(frozen=True)
class ToyHospital:
    """The four tables: D = 10 patients in classes of 3, 3 and 4, and a leak of L = 3."""

    notes: tuple[str, ...] = (
        "the third admission of patient C has no row in the anonymised table",
        "a stay of 27 days is published as 20-25",
        "patient J is registered as White and published as Mixed",
        "the published ages 60-65 and 55-65 overlap",
    )

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return _PERSON[1:]

    @property
    def classes(self) -> dict[int, int]:
        """Class sizes and how many classes there are of each, counted in patients."""
        return {3: 2, 4: 1}

    @property
    def target(self) -> dict[str, str | int]:
        """What is known of John Doe, an acquaintance of the attacker."""
        return {"sex": "M", "age": 50, "postcode": "OX12 6HU", "ethnicity": "White"}

    @property
    def leaked(self) -> tuple[str, ...]:
        """The patients in the leak."""
        return _LEAKED

    @cached_property
    def register(self) -> pd.DataFrame:
        """Table 1: 14 admissions of 10 patients, as the hospital holds them."""
        return _frame(
            (letter, *registered, stay, diagnosis)
            for letter, registered, _, admissions in _patients()
            for stay, diagnosis in admissions
        )

    @cached_property
    def anonymised(self) -> pd.DataFrame:
        """Table 3: 13 admissions, generalised to three classes of patients alike."""
        return _frame(
            (letter, *published, _band(stay), diagnosis)
            for letter, _, published, admissions in _patients()
            for stay, diagnosis in admissions[:2]
        )

    @cached_property
    def leak(self) -> pd.DataFrame:
        """Table 4: the admissions of the three patients in the leak."""
        rows = self.anonymised[self.anonymised["patient"].isin(_LEAKED)]
        return rows.reset_index(drop=True)

    def people(self) -> People:
        """The anonymised table as people, one per patient, the diagnosis sensitive."""
        from reidbn.microdata.read import read_table

        return read_table(
            self.anonymised,
            quasi_identifiers=self.quasi_identifiers,
            sensitive=["diagnosis"],
            subject_id="patient",
        )


def toy_hospital() -> ToyHospital:
    """The hospital of ten patients of [Antoniou22].

    >>> hospital = toy_hospital()
    >>> len(hospital.register), len(hospital.anonymised), len(hospital.leak), hospital.classes
    (14, 13, 5, {3: 2, 4: 1})
    """
    return ToyHospital()


def _frame(rows: Iterable[tuple[object, ...]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(_ADMISSION))


def _patients() -> Iterator[tuple[str, _Person, _Person, list[tuple[int, str]]]]:
    for line in _PATIENTS.strip().splitlines():
        letter, registered, published, admissions = (part.strip() for part in line.split("|"))
        stays = [admission.split() for admission in admissions.split(",")]
        sex, age, postcode, ethnicity = registered.split()
        yield (
            letter,
            (sex, int(age), postcode.replace("_", " "), ethnicity),
            tuple(published.split()),
            [(int(days), diagnosis) for days, diagnosis in stays],
        )


def _band(stay: int) -> str:
    return next(name for name, days in _STAYS.items() if stay in days)
