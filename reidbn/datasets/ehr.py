"""A made-up health record system: 629 mostly empty columns, with the counts of [Popat25, Table 1].

Nobody in the table exists.  What it takes from the paper is how many features each part of a record
has and how sparse they are; what is in them is drawn here.  People differ in how thoroughly they
were asked (lifestyle) and tested (blood), and in how ill they are; what belongs to one drug, one
illness or one relative's illness is recorded together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import refuse_outside, typed
from reidbn.limits import MOST_LISTED

if TYPE_CHECKING:
    import pandas as pd

Cells = NDArray[Any]
Draw = Callable[[np.random.Generator, int], Cells]

RELATIONS = (
    "father", "mother", "paternal grandfather", "paternal grandmother", "maternal grandfather",
    "maternal grandmother", "siblings",
)  # fmt: skip
DISEASES = (
    "hypertension", "diabetes", "heart disease", "thyroid disease", "asthma", "cancer", "stroke",
    "kidney disease", "arthritis", "tuberculosis", "epilepsy",
)  # fmt: skip
_REPORTED = (0.13, 0.12, 0.035, 0.03, 0.02, 0.017, 0.014, 0.011, 0.009, 0.008, 0.006)
_OF_RELATIVE = (1.0, 1.0, 0.4, 0.35, 0.3, 0.35, 0.6)
_TAGS = {
    "Personal": "colleague", "Lifestyle": "colleague", "Allergies": "colleague insider",
    "Anthropometric Data": "colleague", "Current Medications": "insider app",
    "Past Medical History": "insider", "Past Surgical History": "insider", "Vitals": "app",
    "Blood Test Report": "app", "Alcohol History": "alcohol", "Travel History": "travel",
    "Family History": "family",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class SyntheticEHR:
    """A table of made-up records, and the feature table that says what its columns are."""

    table: pd.DataFrame
    features: pd.DataFrame


@dataclass
class _Records:
    """Columns on their way."""

    rng: np.random.Generator
    n: int
    columns: dict[str, Cells]
    features: list[dict[str, str]]

    def some(self, chance: float | NDArray[np.float64]) -> NDArray[np.bool_]:
        return self.rng.random(self.n) < chance

    def add(
        self, place: str, name: str, kind: str, known: NDArray[np.bool_], values: Cells,
        **more: str,
    ) -> None:  # fmt: skip
        """One feature of `place` (type / category / section), known of some."""
        of, category, section = place.split(" / ")
        column = f"{section}: {name}"
        cells = np.full(self.n, None, dtype=object)
        cells[known] = values[known].tolist()
        self.columns[column] = cells
        tags = {tag for word in (category, section) for tag in _TAGS.get(word, "").split()}
        self.features.append(
            {
                "feature": column, "kind": kind, "type": of, "category": category,
                "section": section, "tags": " ".join(sorted(tags)), "together": "", "relation": "",
                "disease": "", "field": "", **more,
            }
        )  # fmt: skip

    def number(self, mean: float, spread: float, digits: int, least: float = 0.1) -> Cells:
        drawn = np.maximum(self.rng.normal(mean, spread, self.n), least)
        return np.round(drawn, digits) if digits else np.round(drawn).astype(np.int64)

    def words(self, what: str, many: int, skew: float = 0.7) -> Cells:
        """One of many values, the first the commonest."""
        chances = np.arange(1, many + 1, dtype=np.float64) ** -skew
        codes = self.rng.choice(many, self.n, p=chances / chances.sum())
        return np.array([f"{what} {i + 1}" for i in range(many)], dtype=object)[codes]

    def yes(self, chance: float) -> Cells:
        return np.where(self.some(chance), "yes", "no").astype(object)

    def year(self, latest: int = 2023, mean: float = 6.0) -> Cells:
        back = self.rng.exponential(mean, self.n).astype(np.int64)
        return np.maximum(latest - back, 1950)


@typed
def synthetic_ehr(n: int = 2_692, seed: int = 0) -> SyntheticEHR:
    """A table of n made-up health records with 629 features: `.table`, `.features`.

    `seed` gives other people.

    >>> ehr = synthetic_ehr(3, seed=7)
    >>> ehr.table.shape, ehr.features["section"].value_counts()["Family History"].item()
    ((3, 629), 231)
    """
    refuse_outside("n", n, least=1, most=MOST_LISTED)
    import pandas as pd

    records = _Records(np.random.default_rng(seed), int(n), {}, [])
    asked = np.clip(records.rng.normal(0.0, 1.0, n), -2, 2)
    tested = np.clip(records.rng.normal(0.0, 1.0, n), -2, 2)
    ill = records.rng.gamma(1.2, 1 / 1.2, n)
    _lifestyle(records, asked)
    _medical(records, ill)
    _family(records)
    _observed(records, asked)
    _blood(records, tested)
    return SyntheticEHR(pd.DataFrame(records.columns), pd.DataFrame(records.features))


def _likely(base: float, lean: NDArray[np.float64], slope: float) -> NDArray[np.float64]:
    """A chance that leans on how thorough somebody was."""
    odds = np.log(base / (1 - base)) + slope * lean
    return np.asarray(1 / (1 + np.exp(-odds)))


def _lifestyle(records: _Records, asked: NDArray[np.float64]) -> None:
    """Personal 7, lifestyle 53."""
    r, place = records, "Survey / Personal / Personal"
    everybody = np.ones(r.n, dtype=bool)
    r.add(place, "sex", "category", everybody, np.where(r.some(0.46), "female", "male"),
          relation="self", field="sex")  # fmt: skip
    age = np.clip(r.rng.normal(47, 14, r.n), 18, 90).astype(np.int64)
    r.add(place, "birth year", "year", everybody, 2023 - age, relation="self", field="birth year")
    for name, many, chance in (
        ("marital status", 4, 0.97), ("education", 6, 0.9), ("occupation", 25, 0.9),
        ("blood group", 8, 0.7), ("home", 40, 0.96),
    ):  # fmt: skip
        r.add(place, name, "category", r.some(chance), r.words(name, many))
    for section, count, base in (
        ("Sleep", 1, 0.95), ("Physical Activity", 15, 0.5), ("Food habits", 5, 0.88),
        ("Alcohol History", 12, 0.0), ("Travel History", 5, 0.0),
        ("Social & Personal History", 15, 0.68),
    ):  # fmt: skip
        place = f"Survey / Lifestyle / {section}"
        gate = r.some(0.3 if section == "Alcohol History" else 0.22)
        for i in range(count):
            chances = _likely(base, asked, 0.8) if base else np.full(r.n, 0.8 if i else 1.0)
            known = r.some(chances)
            if not base:  # who drinks or travels is asked; the others say no
                known &= gate if i else _likely(0.9, asked, 0.8) > r.rng.random(r.n)
            name = f"item {i + 1}"
            if not base and i == 0:
                r.add(place, "any", "yes/no", known, np.where(gate, "yes", "no").astype(object))
            elif i % 5 == 0:
                r.add(place, name, "number", known, r.number(7, 2.5, 0, 1))
            elif i % 5 == 1:
                r.add(place, name, "yes/no", known, r.yes(0.3))
            else:
                r.add(place, name, "category", known, r.words("answer", 3 + i % 4))


def _medical(records: _Records, ill: NDArray[np.float64]) -> None:
    """Allergies 6, medications 80, past illnesses 56, operations 9."""
    r = records
    place = "Survey / Medical / Allergies"
    for i, chance in enumerate((0.12, 0.06, 0.05, 0.02, 0.008, 0.003)):
        r.add(place, f"allergy {i + 1}", "category", r.some(chance), r.words("to", 8))
    for section, things, most, step in (
        ("Current Medications", 20, 0.16, 0.82), ("Past Medical History", 14, 0.17, 0.8),
    ):  # fmt: skip
        place, word = f"Survey / Medical / {section}", section.split(" ")[1].lower()
        for i in range(things):
            has = r.some(np.minimum(most * step**i * ill, 0.9))
            name, together = f"{word} {i + 1}", f"{section} {i + 1}"
            own = word == "medical" and i < len(DISEASES)
            of = {"relation": "self", "disease": DISEASES[i]} if own else {}
            r.add(place, name, "yes/no", has, r.yes(1.0), together=together,
                  **(of and {**of, "field": "has"}))  # fmt: skip
            since = has & r.some(0.8)
            r.add(place, f"{name} since", "year", since, r.year(), together=together,
                  **(of and {**of, "field": "since"}))  # fmt: skip
            dose = has & r.some(0.7)
            r.add(place, f"{name} amount", "number", dose, r.number(40, 15, 0, 5) * 5,
                  together=together)  # fmt: skip
            how = has & r.some(0.6)
            r.add(place, f"{name} how", "category", how, r.words("way", 5), together=together)
    place = "Survey / Medical / Past Surgical History"
    for i, chance in enumerate((0.14, 0.05, 0.012)):
        has, together = r.some(chance), f"operation {i + 1}"
        r.add(place, together, "category", has, r.words("operation", 12), together=together)
        r.add(place, f"{together} year", "year", has & r.some(0.85), r.year(), together=together)
        r.add(place, f"{together} outcome", "category", has & r.some(0.5), r.words("outcome", 3),
              together=together)  # fmt: skip


def _family(records: _Records) -> None:
    """Family history 231: seven relations x eleven illnesses x three fields."""
    r, place = records, "Survey / Medical / Family History"
    told = r.some(0.45)
    for relation, share in zip(RELATIONS, _OF_RELATIVE, strict=True):
        for disease, chance in zip(DISEASES, _REPORTED, strict=True):
            has = told & r.some(min(2.2 * chance * share, 0.9))
            more = {"relation": relation, "disease": disease, "together": f"{relation} {disease}"}
            name = f"{relation}, {disease}"
            r.add(place, name, "yes/no", has, r.yes(1.0), field="has", **more)
            r.add(place, f"{name}, onset", "number", has & r.some(0.6), r.number(52, 12, 0, 1),
                  field="onset", **more)  # fmt: skip
            r.add(place, f"{name}, status", "category", has & r.some(0.7), r.words("status", 3),
                  field="status", **more)  # fmt: skip


def _observed(records: _Records, asked: NDArray[np.float64]) -> None:
    """Body measures 5, comments 18, vitals 4, examinations 8 + 13, pictures and spirometry 3."""
    r = records
    place = "Observation / Medical / Anthropometric Data"
    for name, mean, spread, digits, chance in (
        ("height", 165, 9, 0, 0.97), ("weight", 70, 13, 1, 0.97),
        ("body mass index", 26, 4, 1, 0.9), ("waist", 92, 12, 0, 0.6), ("hip", 101, 10, 0, 0.5),
    ):  # fmt: skip
        r.add(place, name, "number", r.some(chance), r.number(mean, spread, digits))
    place = "Observation / Medical / Investigation Comments"
    for i in range(18):
        comments = np.array([f"comment {k}" for k in range(400)], dtype=object)
        text = comments[r.rng.integers(0, 400, r.n)]
        r.add(place, f"comment {i + 1}", "text", r.some(0.3 * 0.72**i), text)
    place = "Observation / Measurement / Vitals"
    for name, mean, spread in (
        ("pulse", 77, 9), ("systolic", 126, 14), ("diastolic", 80, 9), ("breaths", 18, 2),
    ):  # fmt: skip
        r.add(place, name, "number", r.some(0.9), r.number(mean, spread, 0))
    for section, count, chance in (
        ("Systemic Examination", 8, 0.7),
        ("General Examination", 13, 0.74),
    ):
        place = f"Observation / Measurement / {section}"
        for i in range(count):
            known = r.some(_likely(chance, asked, 0.6))
            r.add(place, f"finding {i + 1}", "category", known, r.words("finding", 2 + i % 3, 2.0))
    place = "Observation / Measurement / Radiographs/Spirometry"
    for i, chance in enumerate((0.2, 0.08, 0.02)):
        r.add(place, f"result {i + 1}", "category", r.some(chance), r.words("result", 9))


_PANELS: Sequence[tuple[int, float]] = (
    (17, 0.46), (8, 0.38), (11, 0.34), (8, 0.34), (5, 0.45), (4, 0.28), (6, 0.13),
    (18, 0.2), (4, 0.18),
)  # fmt: skip


def _blood(records: _Records, tested: NDArray[np.float64]) -> None:
    """Blood tests 136: nine panels of tests taken together, and 55 that few people have."""
    r, place = records, "Observation / Measurement / Blood Test Report"
    single = [(1, 0.1 * 0.945**i) for i in range(136 - sum(size for size, _ in _PANELS))]
    number = 0
    for size, chance in (*_PANELS, *single):
        taken = r.some(_likely(chance, tested, 1.0))
        for _ in range(size):
            number += 1
            mean = float(np.exp(r.rng.uniform(0.5, 5.5)))
            values = r.number(mean, mean * float(r.rng.uniform(0.15, 0.5)), 1 if mean < 60 else 0)
            known = taken & r.some(0.95 if size > 1 else 1.0)
            r.add(place, f"test {number}", "number", known, values)
