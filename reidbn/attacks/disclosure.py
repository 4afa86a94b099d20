"""Attribute disclosure: what the neighbours' records give away, for every person [Kroes21].

people = rb.read_table("patients.csv", quasi_identifiers=["age", "sex"], sensitive=["diagnosis"])
d = rb.disclosure(people, sensitive="diagnosis")
d.share_upward(p=0), d.subjects
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attacks.disclosure_asked import (
    among,
    auxiliaries,
    coded,
    individuals_of,
    notes_of,
    refuse_many,
    relations_of,
    sampling_pays,
    whole_codes,
    without_secret,
)
from reidbn.attacks.disclosure_exact import Partitioned
from reidbn.attacks.disclosure_knowledge import Knowledge, Range, chances_of
from reidbn.attacks.disclosure_matched import Matched
from reidbn.attacks.disclosure_result import Disclosure
from reidbn.attacks.disclosure_source import Source, threshold
from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.peers import MEMORY
from reidbn.microdata.table import People

if TYPE_CHECKING:
    import pandas as pd


def disclosure(
    people: People,
    sensitive: str,
    *,
    known: Sequence[str] | None = None,
    p: float = 0.0,
    q: float | str = 0.0,
    empty: bool = False,
    knowledge: Knowledge | None = None,
    ranges: Mapping[str, Range] | None = None,
    tolerance: Mapping[str, float] | None = None,
    within: float | None = None,
    individuals: int | ArrayLike | None = None,
    seed: int = 0,
    memory: int = MEMORY,
) -> Disclosure:
    """What people's other values give away about their value of `sensitive`.

    Auxiliaries are the other columns, unless `known` names some.  p and q are the thresholds of the
    two verdicts (`q="joint"`: p / (|dom| - 1)); `empty` admits the attacker who knows nothing.
    `knowledge` gives each auxiliary's (or group's) chance of being known; `ranges` and `tolerance`
    blur what is known, and `within=t` counts a guess at most t off as a breach.  `individuals` asks
    about that many people drawn at random (or about these rows) among the peers of all.

    >>> people = People.from_codes([[0, 0], [0, 0], [0, 1], [1, 1]], ["age", "diagnosis"])
    >>> disclosure(people, "diagnosis").ppp_full.round(3)
    array([0.333, 0.333, 0.667, 0.   ])
    """
    names = auxiliaries(people, sensitive, known)
    among(names, "ranges", ranges)
    among(names, "tolerance", tolerance)
    rows = individuals_of(people, individuals, seed)
    codes, cardinalities = coded(people, names, sensitive, ranges or {})
    relations = relations_of(people, names, sensitive, ranges or {}, tolerance or {}, within)
    secret = len(names)
    if relations or (rows is not None and sampling_pays(len(people), rows.size, len(names))):
        source: Source = Matched(codes, cardinalities, relations, empty, memory, rows)
    else:
        all_known = tuple(range(secret))
        source = Partitioned(codes, cardinalities, all_known, (secret,), empty, memory, rows)
    notes = notes_of(people, ranges, tolerance, within, rows)
    return _found(people, (*names, sensitive), source, secret, p, q, knowledge, rows, notes)


def disclosure_all(
    people: People,
    *,
    columns: Sequence[str] | None = None,
    p: float = 0.0,
    q: float | str = 0.0,
    empty: bool = False,
    knowledge: Knowledge | None = None,
    individuals: int | ArrayLike | None = None,
    seed: int = 0,
    memory: int = MEMORY,
) -> DisclosureAll:
    """Every variable in turn as the secret, the other columns as auxiliaries, in one walk.

    >>> people = People.from_codes([[0, 0], [0, 0], [0, 1], [1, 1]], ["age", "diagnosis"])
    >>> {name: d.share_upward() for name, d in disclosure_all(people).items()}
    {'age': 0.5, 'diagnosis': 0.75}
    """
    names = list(people.columns if columns is None else people.names(columns))
    if len(names) < 2:
        raise UsageError(f"disclosure needs at least two columns; there are {len(names)}")
    rows = individuals_of(people, individuals, seed)
    each = {name: without_secret(knowledge, name) for name in names}
    sampled = rows is not None and sampling_pays(len(people), rows.size, len(names))
    if sampled or not people.is_partition:
        options: dict[str, Any] = {"p": p, "q": q, "empty": empty, "memory": memory}
        found = {
            name: disclosure(
                people,
                name,
                known=[other for other in names if other != name],
                knowledge=each[name],
                individuals=rows,
                **options,
            )
            for name in names
        }
        return DisclosureAll(people, found)
    refuse_many(len(names) - 1)
    every, codes, sizes = (
        tuple(range(len(names))),
        whole_codes(people, names),
        people.cardinalities(names),
    )
    source = Partitioned(codes, sizes, every, every, empty, memory, rows)
    notes = notes_of(people, None, None, None, rows)
    found = {
        name: _found(people, tuple(names), source, j, p, q, each[name], rows, notes)
        for j, name in enumerate(names)
    }
    return DisclosureAll(people, found)


@dataclass(frozen=True, eq=False, repr=False)
class DisclosureAll(Mapping[str, Disclosure]):
    """One `Disclosure` per variable, as a mapping, with the pictures' matrices."""

    people: People
    secrets: dict[str, Disclosure]

    def __getitem__(self, name: str) -> Disclosure:
        if name not in self.secrets:
            raise UsageError(f'no secret "{name}"; {did_you_mean(name, self.secrets)}')
        return self.secrets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.secrets)

    def __len__(self) -> int:
        return len(self.secrets)

    @property
    def ppp_min(self) -> NDArray[np.float64]:
        """Individuals x variables: the least PPP over all subsets (the paper's Figure 2)."""
        return np.stack([d.ppp_min for d in self.values()], axis=1)

    @property
    def ppp_full(self) -> NDArray[np.float64]:
        """Individuals x variables: PPP with all other variables known."""
        return np.stack([d.ppp_full for d in self.values()], axis=1)

    def summary(self) -> pd.DataFrame:
        """One row per variable: domain, shares protected, mean and quartiles of the least PPP."""
        import pandas as pd

        return pd.DataFrame([_row(d) for d in self.values()], index=pd.Index(list(self)))

    def __repr__(self) -> str:
        return f"DisclosureAll({len(self)} secrets of {len(self.people)} people: {list(self)})"


def _row(d: Disclosure) -> dict[str, Any]:
    low, middle, high = np.quantile(d.ppp_min, [0.25, 0.5, 0.75])
    return {
        "domain": int(d.falsehoods.max()) + 1,
        "status": d.status,
        "share_upward": d.share_upward(),
        "share_downward": d.share_downward(),
        "mean_ppp_min": float(d.ppp_min.mean()),
        "q1": float(low),
        "median": float(middle),
        "q3": float(high),
    }


def _found(
    people: People,
    names: tuple[str, ...],
    source: Source,
    secret: int,
    p: float,
    q: float | str,
    knowledge: Knowledge | None,
    rows: NDArray[np.int64] | None,
    notes: tuple[str, ...],
) -> Disclosure:
    known = [name for name in names if name != names[secret]]
    if secret < len(known):
        known.insert(secret, "")  # keeps the places of the others; no column has no name
    chances, profile = chances_of(people, known, knowledge) if knowledge else (None, None)
    found = Disclosure(
        people,
        names[secret],
        names,
        source,
        secret,
        p=threshold("p", p),
        rows=rows,
        chances=chances,
        profile=profile,
        notes=notes,
    )
    if isinstance(q, str):
        if q != "joint":
            raise UsageError(f'q is "{q}"; give a number in [0, 1), or "joint" for p / (|dom| - 1)')
        q = found.joint_q()
    return replace(found, q=threshold("q", q))
