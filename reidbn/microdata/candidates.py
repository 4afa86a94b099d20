"""Joint assignment: each released record to a person of its own, every way alike.

Records that fit the same people are one kind, people whom the same records fit another; kind t
has n_t records, kind e has m_e people.  The number of assignments is a sum over how many x_te
of kind t go to kind e,

    prod_te C(r_te, x_te) (m_e - u_te)(m_e - u_te - 1)...(m_e - u_te - x_te + 1)           (1)

where r_te records of kind t and u_te people of kind e are still free, or taken, when the pair
(t, e) is reached.  The pairs are passed one by one, forth and back, in whole numbers; people
whom no later record fits are forgotten on the way, so that chains of overlapping bands stay
small.  P(this record is that person) = E[x_te] / (n_t m_e).

Candidates: which named people of an outside table fit each released record.

The linking exercise of [KAnonCourse]: an attacker holds names with dates of birth and genders
and looks for their rows in a release.  A record's candidates are the people who match it in
every shared column; individually each is as likely as another, and jointly, when every
released record must be a different person, some are likelier and some impossible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, perm
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import fits, refuse_outside, typed
from reidbn.errors import CrosscheckFailed, DataError, ImpossibleEvidence, TooLarge, UsageError
from reidbn.late import late
from reidbn.limits import MOST_CHECKED
from reidbn.microdata.classes import Codes, Floats, Ints, class_ids, some_of
from reidbn.microdata.hierarchy import Hierarchy
from reidbn.microdata.ladders import as_hierarchy
from reidbn.microdata.matching import MOST_CELLS
from reidbn.microdata.table import People, checked_people
from reidbn.result import Measure, Result, by_person, count_of, highest_of, mean_of
from reidbn.written import agree, counted

if TYPE_CHECKING:
    import pandas as pd


MOST_STATES = 400_000
"""Most partial assignments that are kept for one group of records and people."""
MOST_MOVES = 4_000_000
"""Most ways to go on from them that are tried."""

State = tuple[int, ...]
"""Records of the kind at hand still free, then people taken of each kind in play."""


@dataclass(frozen=True)
class _Step:
    """One pair of kinds: where its people stand in the state before and after."""

    record: int
    person: int
    opens: bool
    """First pair of its record kind: all its records are free."""
    closes: bool
    """Last pair of its record kind: none may be free after it."""
    before: tuple[int, ...]
    after: tuple[int, ...]


def pair_probabilities(
    fits: Sequence[Sequence[int]], records: Sequence[int], people: Sequence[int]
) -> dict[tuple[int, int], Fraction]:
    """For each kind of record and kind of people it fits: the chance of any one such pair.

    Two records, one fitting both of two people and one only the second: the first is forced.

    >>> pair_probabilities([[0, 1], [1]], [1, 1], [1, 1])
    {(0, 0): Fraction(1, 1), (0, 1): Fraction(0, 1), (1, 1): Fraction(1, 1)}
    """
    found: dict[tuple[int, int], Fraction] = {}
    for group in _groups(fits):
        steps = _steps(fits, group)
        forth = _forth(steps, records, people)
        total = forth[-1].get((0,), 0)
        if total == 0:
            raise ImpossibleEvidence(
                "no assignment gives every released record a person of its own; some records fit "
                "nobody, or too many fit the same few people: look at .counts, or do not assume "
                "that every released person is in the external table"
            )
        back: dict[State, int] = {(0,): 1}
        for step, states in zip(reversed(steps), reversed(forth[:-1]), strict=True):
            mean, back = _back(step, states, back, records, people)
            pairs = records[step.record] * people[step.person]
            found[step.record, step.person] = Fraction(mean, total * pairs)
    return dict(sorted(found.items()))


def _groups(fits: Sequence[Sequence[int]]) -> list[list[int]]:
    """Kinds of records that share people, directly or through others."""
    owner: dict[int, int] = {}
    parent = list(range(len(fits)))

    def root(t: int) -> int:
        while parent[t] != t:
            parent[t] = parent[parent[t]]
            t = parent[t]
        return t

    for t, people in enumerate(fits):
        for e in people:
            parent[root(t)] = root(owner.setdefault(e, t))
    groups: dict[int, list[int]] = {}
    for t in range(len(fits)):
        groups.setdefault(root(t), []).append(t)
    return list(groups.values())


def _steps(fits: Sequence[Sequence[int]], group: Sequence[int]) -> list[_Step]:
    """The pairs in an order that keeps few people in play: along the people's numbers."""
    kinds = sorted(group, key=lambda t: (sum(fits[t]) / max(len(fits[t]), 1), t))
    if not all(fits[t] for t in kinds):
        raise ImpossibleEvidence(
            "some released records fit nobody in the external table, so no joint assignment "
            "exists; leave them out (their .counts are 0), or use the individual candidates"
        )
    pairs = [(t, e) for t in kinds for e in sorted(fits[t])]
    last = {e: i for i, (_, e) in enumerate(pairs)}
    steps: list[_Step] = []
    active: tuple[int, ...] = ()
    for i, (t, e) in enumerate(pairs):
        before = active if e in active else (*active, e)
        active = tuple(k for k in before if last[k] > i)
        opens = i == 0 or pairs[i - 1][0] != t
        closes = i + 1 == len(pairs) or pairs[i + 1][0] != t
        steps.append(_Step(t, e, opens, closes, before, active))
    return steps


def _moves(
    step: _Step, state: State, records: Sequence[int], people: Sequence[int]
) -> Iterator[tuple[int, int, State]]:
    """Each x that may go from the records to the people, its factor in (1), and the state then."""
    free = records[step.record] if step.opens else state[0]
    taken = dict(zip(step.before, (*state[1:], 0), strict=False))
    room = people[step.person] - taken[step.person]
    for x in range(free if step.closes else 0, min(free, room) + 1):
        then = taken | {step.person: taken[step.person] + x}
        left = 0 if step.closes else free - x
        yield x, comb(free, x) * perm(room, x), (left, *(then[k] for k in step.after))


def _forth(
    steps: Sequence[_Step], records: Sequence[int], people: Sequence[int]
) -> list[dict[State, int]]:
    """Ways to reach each state before each step, and after the last."""
    ways: list[dict[State, int]] = [{(0,): 1}]
    kept = tried = 0
    for step in steps:
        reached: dict[State, int] = {}
        for state, count in ways[-1].items():
            for _, factor, then in _moves(step, state, records, people):
                tried += 1
                reached[then] = reached.get(then, 0) + count * factor
            if tried > MOST_MOVES or kept + len(reached) > MOST_STATES:
                raise TooLarge(
                    f"the joint assignment needs more than {MOST_STATES} partial assignments; use "
                    "the individual candidates, or fewer released records at a time"
                )
        kept += len(reached)
        ways.append(reached)
    return ways


def _back(
    step: _Step,
    states: dict[State, int],
    after: dict[State, int],
    records: Sequence[int],
    people: Sequence[int],
) -> tuple[int, dict[State, int]]:
    """Sum of x over all ways through the step, and ways to finish from each state before it."""
    total = 0
    before: dict[State, int] = {}
    for state, count in states.items():
        finish = 0
        for x, factor, then in _moves(step, state, records, people):
            ways = factor * after.get(then, 0)
            finish += ways
            total += x * count * ways
        if finish:
            before[state] = finish
    return total, before


# -- candidates ------------------------------------------------------------------------------------


MOST_PAIRS = 200_000_000
_BLOCK = 5_000_000
Grid = NDArray[np.bool_]


@dataclass(frozen=True)
class PairCheck:
    """How many records were compared with everybody one by one; all candidates were right."""

    records: int
    pairs: int

    def __str__(self) -> str:
        return f"{self.records} records in {self.pairs:,} pairs: the candidates are those who fit"


@dataclass(frozen=True, eq=False, repr=False)
class Candidates(Result):
    """The people who fit each released record."""

    release: People
    external: People
    columns: Mapping[str, str]
    """Each released column and the external one that it was compared with."""
    kind_of_record: Ints
    kind_of_person: Ints
    links: tuple[Ints, Ints]
    """Which kinds of record fit which kinds of person: two arrays, sorted by the first."""
    match: Mapping[str, Any] | None = None
    """The columns' rules, as asked."""

    @cached_property
    def _people_of_kind(self) -> Ints:
        return np.bincount(self.kind_of_person, minlength=1)

    @cached_property
    def _sorted_people(self) -> Ints:
        return np.argsort(self.kind_of_person, kind="stable")

    @cached_property
    def counts(self) -> Ints:
        """How many named people fit each released record, in record order."""
        kinds = int(self.kind_of_record.max()) + 1
        records, persons = self.links
        fitting = np.bincount(records, self._people_of_kind[persons], minlength=kinds)
        return fitting.astype(np.int64)[self.kind_of_record]

    @property
    def risk(self) -> Floats:
        """Chance of naming each record's owner by picking a candidate: 1 / count, or 0."""
        return np.where(self.counts > 0, 1 / np.maximum(self.counts, 1), 0.0)

    @typed
    def of(self, row: int) -> Ints:
        """Rows of the external table that fit one released record."""
        if not 0 <= row < len(self.release):
            raise UsageError(f"released records are 0 to {len(self.release) - 1}; asked for {row}")
        records, persons = self.links
        kind = self.kind_of_record[row]
        fitting = persons[slice(*np.searchsorted(records, [kind, kind + 1]))]
        ends = np.cumsum(self._people_of_kind)[fitting]
        sizes = self._people_of_kind[fitting]
        return np.sort(self._sorted_people[_ranges(ends - sizes, sizes)])

    @typed
    def names(self, row: int) -> list[Any]:
        """The subject ids of the people who fit one released record; row numbers without ids."""
        ids = self.external.subject_ids
        rows = self.of(row)
        return list(rows.tolist() if ids is None else ids[rows].tolist())

    @cached_property
    def _joint(self) -> dict[tuple[int, int], float]:
        """Chance of each pair of kinds' members, over all assignments to different people.

        Kinds that fit the same are taken together first: more of them cost nothing.
        """
        records, persons = self.links
        count = np.bincount(self.kind_of_record)
        record_kind = _alike(records, persons, count.size)
        person_kind = _alike(persons, records, self._people_of_kind.size)
        fits: list[list[int]] = [[] for _ in range(int(record_kind.max()) + 1)]
        for t, e in sorted(set(zip(record_kind[records].tolist(), person_kind[persons].tolist(),
                                   strict=True))):  # fmt: skip
            fits[t].append(e)
        sizes = np.bincount(record_kind, count).astype(int).tolist()
        room = np.bincount(person_kind, self._people_of_kind).astype(int).tolist()
        found = pair_probabilities(fits, sizes, room)
        return {
            (r, p): float(found[int(record_kind[r]), int(person_kind[p])])
            for r, p in zip(records.tolist(), persons.tolist(), strict=True)
        }

    @typed
    def joint(self, row: int) -> Floats:
        """The chance of each candidate `of(row)`, if all records are different people.

        Assumes that every released person is in the external table, and that all assignments of
        records to people who fit them are alike.
        """
        people = self.kind_of_person[self.of(row)].tolist()
        kind = int(self.kind_of_record[row])
        chances = self._joint
        return np.array([chances[kind, p] for p in people], dtype=np.float64)

    @typed
    def pairs(self, *, joint: bool = False) -> pd.DataFrame:
        """One row per released record and fitting person: their chance alone, and jointly."""
        import pandas as pd

        total = int(self.counts.sum())
        if total > MOST_PAIRS // 20:
            raise TooLarge(f"{total} pairs of record and person; ask .counts, or .of(row)")
        rows = [self.of(row) for row in range(len(self.release))]
        record = np.repeat(np.arange(len(self.release)), self.counts)
        person = np.concatenate(rows)
        ids = self.external.subject_ids
        found: dict[str, Any] = {
            "record": record,
            "person": person if ids is None else ids[person],
            "alone": self.risk[record],
        }
        if joint:
            found["jointly"] = np.concatenate([self.joint(row) for row in range(len(rows))])
        return pd.DataFrame(found)

    # -- as a result -----------------------------------------------------------------------

    @property
    def question(self) -> str:
        """Who is looked for, and on what."""
        compared = [own if own == other else f"{own} ({other} there)"
                    for own, other in self.columns.items()]  # fmt: skip
        return f"the named people who fit each released record on {', '.join(compared)}"

    @property
    def table(self) -> People:
        """The released people."""
        return self.release

    def _people(self) -> pd.DataFrame:
        """How many named people fit each released record, and the chance to name its owner."""
        return by_person({"candidates": self.counts, "risk": self.risk}, self.release)

    def _measures(self) -> dict[str, Measure]:
        return {
            "people": count_of(len(self.release), "released records"),
            "external": count_of(len(self.external), "named people"),
            "fit_one": count_of(int((self.counts == 1).sum()), "records that fit one person"),
            "fit_nobody": count_of(int((self.counts == 0).sum()), "records that fit nobody"),
            "candidates": mean_of(
                self.counts, "people who fit a record, mean", unit="people", per_person=True
            ),
            "risk": mean_of(
                self.risk, "chance to name the owner of a record, mean", per_person=True
            ),
            "highest_risk": highest_of(self.risk, "chance to name the owner, highest"),
        }

    def remarks(self) -> tuple[str, ...]:
        """What the chance stands on."""
        return (
            "a candidate is picked at random; whether the owner is among the named people at all "
            "is not in this chance",
        )

    @typed
    def check(self, *, individuals: int = 20, seed: int = 0) -> PairCheck:
        """Some records compared with every named person one by one; raises CrosscheckFailed."""
        refuse_outside("individuals", individuals, least=1, most=MOST_CHECKED)
        rng = np.random.default_rng(seed)
        n = len(self.release)
        chosen = np.sort(rng.choice(n, min(individuals, n), replace=False))
        fits = np.ones((chosen.size, len(self.external)), dtype=bool)
        for name, other in self.columns.items():
            grid = _grid(self.release, self.external, name, other, (self.match or {}).get(name))
            ours, theirs = self.release.codes([name])[chosen, 0], self.external.codes([other])[:, 0]
            fits &= grid[ours[:, None], theirs]
        for row, people in zip(chosen.tolist(), fits, strict=True):
            listed = self.of(row)
            if listed.size != self.counts[row] or not np.array_equal(
                listed, np.flatnonzero(people)
            ):
                raise CrosscheckFailed(
                    f"record {row}: {int(people.sum())} people fit it one by one, and "
                    f"{self.counts[row]} were counted; this is a fault of reidbn, please report it"
                )
        return PairCheck(chosen.size, chosen.size * len(self.external))

    _sections = late("reidbn.report.subsets:candidate_sections")

    def __repr__(self) -> str:
        shared = ", ".join(self.columns)
        one, none = (int((self.counts == n).sum()) for n in (1, 0))
        return (
            f"Candidates({counted(len(self.release), 'record')}, "
            f"{counted(len(self.external), 'person')}, on {shared}: "
            f"{counted(one, 'record')} {agree(one, 'fits', 'fit')} one person, "
            f"{none} {agree(none, 'fits', 'fit')} nobody)"
        )


@typed
def candidates(
    release: People,
    external: People,
    *,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    match: Mapping[str, Any] | None = None,
) -> Candidates:
    """The named people of an external table who fit each released record.

    `columns` are the shared ones (default: quasi-identifiers of both), or {released: external}.
    `match` gives a column's rule: a hierarchy (a general value fits all it covers), a number (a
    tolerance), or a function of the two values; otherwise values must be equal, under the
    tables' own hierarchies and policies for missing cells.

    `release` is the table as released, `external` the table with names.

    >>> release = People.from_codes([[0], [1]], ["sex"], labels={"sex": ["F", "M"]})
    >>> names = People.from_codes([[1], [0], [1]], ["sex"], labels={"sex": ["F", "M"]})
    >>> candidates(release, names).counts
    array([1, 2])
    """
    shared = _shared(checked_people(release), checked_people(external), columns)
    for name in match or {}:
        if name not in shared:
            raise UsageError(f'match names "{name}"; the shared columns are {", ".join(shared)}')
    grids = {
        name: _grid(release, external, name, other, (match or {}).get(name))
        for name, other in shared.items()
    }
    left, record_kind = _kinds(release, list(shared))
    right, person_kind = _kinds(external, list(shared.values()))
    links = _links(left, right, list(grids.values()))
    return Candidates(release, external, shared, record_kind, person_kind, links, match)


def _shared(
    release: People, external: People, columns: Sequence[str] | Mapping[str, str] | None
) -> dict[str, str]:
    if columns is None:
        columns = [n for n in release.quasi_identifiers if n in external.quasi_identifiers]
    pairs = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    if not pairs:
        raise UsageError("the tables share no quasi-identifier; pair them: columns={'dob': 'born'}")
    release.codes(list(pairs))
    external.codes(list(pairs.values()))
    return pairs


def _kinds(people: People, columns: list[str]) -> tuple[Codes, Ints]:
    """The distinct rows of codes, and each person's."""
    codes = people.codes(columns)
    ids, count = class_ids(codes, people.cardinalities(columns))
    return codes[some_of(ids, count)], ids


def _grid(release: People, external: People, name: str, other: str, rule: Any) -> Grid:
    """Which released values fit which external ones."""
    ours, theirs = release.labels(name).tolist(), external.labels(other).tolist()
    if len(ours) * len(theirs) > MOST_CELLS:
        raise TooLarge(f'"{name}": {len(ours)} x {len(theirs)} values; generalise the column first')
    known = [v for v in ours if v is not None], [v for v in theirs if v is not None]
    grid = np.zeros((len(ours), len(theirs)), dtype=bool)
    fits = _rule(name, release.column(name).hierarchy or external.column(other).hierarchy, rule)
    grid[: len(known[0]), : len(known[1])] = fits(*known)
    grid[len(known[0]) :, len(known[1]) :] = True
    if release.missing == "matches-anything":
        grid[len(known[0]) :] = True
    if external.missing == "matches-anything":
        grid[:, len(known[1]) :] = True
    return grid


Fits = Callable[[list[Any], list[Any]], Grid]


def _rule(name: str, own: Hierarchy | None, rule: Any) -> Fits:
    if rule is None and own is None:
        return lambda ours, theirs: _equal(name, ours, theirs)
    if isinstance(rule, int | float):
        if not 0 <= rule < 2**53:
            raise UsageError(
                f'match["{name}"] is {rule:.12g}; a tolerance is 0 or more'
                if fits(rule, float)
                else f'match["{name}"] is too large a tolerance'
            )
        return lambda ours, theirs: _near(name, ours, theirs, float(rule))
    if callable(rule):
        return lambda ours, theirs: np.array(
            [[bool(rule(a, b)) for b in theirs] for a in ours], dtype=bool
        ).reshape(len(ours), len(theirs))
    ladder = as_hierarchy(rule) if rule is not None else own
    if ladder is None:
        raise UsageError(f'no rule for "{name}"')
    return lambda ours, theirs: _covering(name, ladder, ours, theirs)


def _equal(name: str, ours: list[Any], theirs: list[Any]) -> Grid:
    if ours and theirs and isinstance(ours[0], str) != isinstance(theirs[0], str):
        raise DataError(f'"{name}" is texts in one table and not in the other; convert one of them')
    place = {value: i for i, value in enumerate(theirs)}
    grid = np.zeros((len(ours), len(theirs)), dtype=bool)
    for i, value in enumerate(ours):
        if value in place:
            grid[i, place[value]] = True
    return grid


def _near(name: str, ours: list[Any], theirs: list[Any], tolerance: float) -> Grid:
    if any(isinstance(value, str) for value in (*ours, *theirs)):
        raise DataError(f'"{name}" has a tolerance and is not numbers in both tables')
    a, b = np.array(ours, dtype=np.float64), np.array(theirs, dtype=np.float64)
    return np.asarray(np.abs(a[:, None] - b) <= tolerance)


def _covering(name: str, ladder: Hierarchy, ours: list[Any], theirs: list[Any]) -> Grid:
    try:
        overlap = ladder.overlaps([*ours, *theirs])
    except DataError as problem:
        raise DataError(f'column "{name}": {problem}') from None
    grid = np.zeros((len(ours), len(theirs)), dtype=bool)
    for i in range(len(ours)):
        found = overlap(i)
        grid[i, found[found >= len(ours)] - len(ours)] = True
    return grid


def _links(left: Codes, right: Codes, grids: list[Grid]) -> tuple[Ints, Ints]:
    """Kinds of records and of people that fit in every column.

    A column in which each value fits at most one value of the other table is joined on that
    value; the pairs that are left are checked in the other columns.
    """
    keys = np.empty((len(left) + len(right), 0), dtype=np.int32)
    cards, rest = [], []
    for j, grid in enumerate(grids):
        if (np.count_nonzero(grid, axis=1) <= 1).all():
            pair: tuple[Any, Any] = _only(grid)[left[:, j]], right[:, j] + 1
        elif (np.count_nonzero(grid, axis=0) <= 1).all():
            pair = left[:, j] + 1, _only(grid.T)[right[:, j]]
        else:
            rest.append(j)
            continue
        keys = np.column_stack([keys, np.concatenate(pair).astype(np.int32)])
        cards.append(max(grid.shape) + 1)
    both, _ = class_ids(np.asfortranarray(keys), cards)
    ours, theirs = both[: len(left)], both[len(left) :]
    order = np.argsort(theirs, kind="stable")
    start, stop = (np.searchsorted(theirs[order], ours, side) for side in ("left", "right"))
    number = stop - start
    total = int(number.sum())
    if total > 10 * MOST_PAIRS:
        raise TooLarge(f"{total:.1e} pairs to compare; share a column that must be equal")
    found: list[tuple[Ints, Ints]] = []
    for rows in np.array_split(np.arange(len(left)), min(len(left), total // _BLOCK + 1)):
        record = np.repeat(rows, number[rows])
        person = order[_ranges(start[rows], number[rows])]
        fits = np.ones(record.size, dtype=bool)
        for j in rest:
            fits &= grids[j][left[record, j], right[person, j]]
        found.append((record[fits], person[fits]))
    return np.concatenate([r for r, _ in found]), np.concatenate([p for _, p in found])


def _only(grid: Grid) -> Ints:
    """The number from 1 of the one column that each row fits, 0 where it fits none."""
    return np.where(grid.any(axis=1), grid.argmax(axis=1) + 1, 0)


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """start, start + 1, ... of each range, one after the other."""
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(starts, lengths) + within


def _alike(members: Ints, others: Ints, count: int) -> Ints:
    """Members numbered by the set of others they are linked to."""
    linked: list[list[int]] = [[] for _ in range(count)]
    for m, o in zip(members.tolist(), others.tolist(), strict=True):
        linked[m].append(o)
    numbers: dict[tuple[int, ...], int] = {}
    keys = [tuple(sorted(own)) for own in linked]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
