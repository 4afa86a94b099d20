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

from reidbn.attacks.disclosure_exact import Partitioned
from reidbn.attacks.disclosure_knowledge import Knowledge, Range, chances_of, near_matrix, ranges_of
from reidbn.attacks.disclosure_matched import Match, Matched
from reidbn.attacks.disclosure_result import Disclosure, Source, _threshold
from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.microdata.classes import Codes, Ints
from reidbn.microdata.peers import MEMORY
from reidbn.microdata.table import People

if TYPE_CHECKING:
    import pandas as pd

MOST_KNOWN = 20


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
    names = _auxiliaries(people, sensitive, known)
    _among(names, "ranges", ranges)
    _among(names, "tolerance", tolerance)
    rows = _individuals(people, individuals, seed)
    codes, cardinalities = _coded(people, names, sensitive, ranges or {})
    relations = _relations(people, names, sensitive, ranges or {}, tolerance or {}, within)
    secret = len(names)
    if relations or (rows is not None and _sampling_pays(len(people), rows.size, len(names))):
        source: Source = Matched(codes, cardinalities, relations, empty, memory, rows)
    else:
        all_known = tuple(range(secret))
        source = Partitioned(codes, cardinalities, all_known, (secret,), empty, memory, rows)
    notes = _notes(people, ranges, tolerance, within, rows)
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
    rows = _individuals(people, individuals, seed)
    each = {name: _without(knowledge, name) for name in names}
    sampled = rows is not None and _sampling_pays(len(people), rows.size, len(names))
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
    _refuse_many(len(names) - 1)
    every, codes, sizes = tuple(range(len(names))), people.codes(names), people.cardinalities(names)
    source = Partitioned(codes, sizes, every, every, empty, memory, rows)
    notes = _notes(people, None, None, None, rows)
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


# What was asked, checked


def _auxiliaries(people: People, sensitive: str, known: Sequence[str] | None) -> list[str]:
    people.names([sensitive])
    if known is None:
        names = [name for name in people.columns if name != sensitive]
    else:
        wanted = set(people.names(known))
        if sensitive in wanted:
            raise UsageError(f'"{sensitive}" is the secret and cannot be known; drop it from known')
        names = [name for name in people.columns if name in wanted]
    if not names:
        raise UsageError(f'no auxiliaries beside "{sensitive}"; name at least one column')
    _refuse_many(len(names))
    return names


def _refuse_many(count: int) -> None:
    if count > MOST_KNOWN:
        raise TooLarge(
            f"{count} auxiliaries have 2^{count} subsets; exact answers go up to {MOST_KNOWN}: "
            "name fewer with known=[...]"
        )


def _among(names: Sequence[str], option: str, given: Mapping[str, Any] | None) -> None:
    for name in given or {}:
        if name not in names:
            raise UsageError(
                f'{option} names "{name}", which is not an auxiliary; {did_you_mean(name, names)}'
            )


def _individuals(
    people: People, individuals: int | ArrayLike | None, seed: int
) -> NDArray[np.int64] | None:
    if individuals is None:
        return None
    wanted = np.asarray(individuals)
    if wanted.ndim == 0:
        if not 0 < int(wanted) <= len(people):
            raise UsageError(
                f"individuals={int(wanted)}; there are {len(people)} people, ask for 1 of them "
                "or more"
            )
        generator = np.random.default_rng(seed)
        return np.sort(generator.choice(len(people), int(wanted), replace=False))
    if wanted.size == 0 or wanted.min() < 0 or wanted.max() >= len(people):
        raise UsageError(f"individuals must be row numbers from 0 to {len(people) - 1}")
    return wanted.astype(np.int64)


def _coded(
    people: People, names: Sequence[str], sensitive: str, ranges: Mapping[str, Range]
) -> tuple[Codes, tuple[int, ...]]:
    columns = [*names, sensitive]
    codes, cardinalities = people.codes(columns), list(people.cardinalities(columns))
    if ranges:
        codes = np.array(codes, order="F")
        for name, spec in ranges.items():
            band = ranges_of(people.labels(name), name, spec)
            j = columns.index(name)
            codes[:, j] = band[codes[:, j]]
            cardinalities[j] = int(band.max()) + 1
    return codes, tuple(cardinalities)


def _relations(
    people: People,
    names: Sequence[str],
    sensitive: str,
    ranges: Mapping[str, Range],
    tolerance: Mapping[str, float],
    width: float | None,
) -> dict[int, Match]:
    found: dict[int, Match] = {}
    if not people.is_partition:
        for j, name in enumerate(names):
            if name not in ranges:
                found[j] = people.matches(name)
    for name, allowed in tolerance.items():
        if name in ranges:
            raise UsageError(f'"{name}" has both a range and a tolerance; choose one')
        found[names.index(name)] = near_matrix(people.labels(name), name, allowed)
    if width is not None:
        found[len(names)] = near_matrix(people.labels(sensitive), sensitive, width)
    return found


def _sampling_pays(people: int, individuals: int, columns: int) -> bool:
    """Whether comparing each individual with everybody beats walking over all subsets."""
    walk = 2.0**columns * people * 8
    compare = individuals * (people * (columns + 4.0) + 2.0**columns * columns * 4)
    return compare < walk


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
    known = names[:-1] if secret == len(names) - 1 else names
    chances, profile = chances_of(people, known, knowledge) if knowledge else (None, None)
    found = Disclosure(
        people,
        names[secret],
        names,
        source,
        secret,
        p=_threshold("p", p),
        rows=rows,
        chances=chances,
        profile=profile,
        notes=notes,
    )
    if isinstance(q, str):
        if q != "joint":
            raise UsageError(f'q is "{q}"; give a number in [0, 1), or "joint" for p / (|dom| - 1)')
        q = found.joint_q()
    return replace(found, q=_threshold("q", q))


def _without(knowledge: Knowledge | None, secret: str) -> dict[Any, Any] | None:
    """The scenario for one secret: its own column cannot be learnt."""
    kept: dict[Any, Any] = {}
    for name, value in (knowledge or {}).items():
        if isinstance(value, tuple | list) and len(value) == 2 and not np.isscalar(value[0]):
            columns = tuple(c for c in value[0] if c != secret)
            kept.update({name: (columns, value[1])} if columns else {})
        elif isinstance(name, tuple):
            columns = tuple(c for c in name if c != secret)
            kept.update({columns: value} if columns else {})
        elif name != secret:
            kept[name] = value
    return kept or None


def _notes(
    people: People,
    ranges: Mapping[str, Range] | None,
    tolerance: Mapping[str, float] | None,
    width: float | None,
    rows: Ints | None,
) -> tuple[str, ...]:
    notes = list(people.notes)
    if ranges:
        notes.append(f"known as a range only: {', '.join(ranges)}")
    if tolerance:
        notes.append("known within: " + ", ".join(f"{k} +-{v:g}" for k, v in tolerance.items()))
    if width is not None:
        notes.append(f"a guess within {width:g} of the secret counts as a breach")
    if rows is not None:
        notes.append(f"{rows.size} individuals among {len(people)} people")
    return tuple(notes)
