"""Candidates: which named people of an outside table fit each released record.

The linking exercise of [KAnonCourse]: an attacker holds names with dates of birth and genders
and looks for their rows in a release.  A record's candidates are the people who match it in
every shared column; individually each is as likely as another, and jointly, when every
released record must be a different person, some are likelier and some impossible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.calls import refuse_outside, typed
from reidbn.errors import CrosscheckFailed, TooLarge, UsageError
from reidbn.late import late
from reidbn.limits import MOST_CHECKED
from reidbn.microdata.again import asked_again
from reidbn.microdata.assignment import pair_probabilities
from reidbn.microdata.classes import Codes, Floats, Ints, class_ids, some_of
from reidbn.microdata.fits import Grid, grid_of, is_ruled
from reidbn.microdata.hierarchy import Bands
from reidbn.microdata.knowledge import Knowledge, Known, knowledge, sure_of
from reidbn.microdata.table import People, checked_people, refuse_emptied
from reidbn.result import Measure, Result, by_person, count_of, digest, highest_of, mean_of
from reidbn.theory.frequencies import numbered
from reidbn.written import agree, counted

if TYPE_CHECKING:
    import pandas as pd


MOST_PAIRS = 200_000_000
_BLOCK = 5_000_000


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
    known: Knowledge | None = None
    """With what chances the columns are known; None: all of them are."""

    @cached_property
    def _people_of_kind(self) -> Ints:
        return np.bincount(self.kind_of_person, minlength=1)

    @cached_property
    def _sorted_people(self) -> Ints:
        return np.argsort(self.kind_of_person, kind="stable")

    @cached_property
    def counts(self) -> Ints:
        """How many named people fit each released record on all columns, in record order."""
        return _counts(self.kind_of_record, self.kind_of_person, self.links)

    @cached_property
    def risk(self) -> Floats:
        """Chance of naming each record's owner by picking a candidate: 1 / count, or 0.

        Where columns are known with chances, the mean of it over what is known: equation (1) of
        `rb.subsets`, with the named people who fit in place of the class.
        """
        if self.known is None:
            return _one_over(self.counts)
        whose, found = self.known, np.empty(len(self.release))
        one, every = some_of(self.kind_of_record, self.kind_of_record.max() + 1), 1 << whose.groups
        known = (whose.known_columns(mask) for mask in range(every))
        fitting = np.column_stack([self._counts_on(columns)[one] for columns in known])
        for start in range(0, found.size, step := max(1, _BLOCK >> whose.groups)):
            rows = slice(start, start + step)
            found[rows] = whose.expected(_one_over(fitting[self.kind_of_record[rows]]), rows)
        return found

    def _counts_on(self, columns: Sequence[str]) -> Ints:
        """How many named people fit each record on some of the columns."""
        if not columns:
            return np.full(len(self.release), len(self.external))
        shared = {name: self.columns[name] for name in columns}
        return _counts(*_linked(self.release, self.external, shared, self.match or {}))

    @typed
    def of(self, row: int) -> Ints:
        """Rows of the external table that fit one released record.

        `row` is the record, from 0.
        """
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
        """The subject ids of the people who fit one released record; row numbers without ids.

        `row` is the record, from 0.
        """
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

        `row` is the record, from 0.
        """
        if self.known is not None:
            raise UsageError(
                "who is whom jointly is asked with all columns known: leave the chances of known= "
                'out, and name the columns: known=["age"]'
            )
        people = self.kind_of_person[self.of(row)].tolist()
        kind = int(self.kind_of_record[row])
        chances = self._joint
        return np.array([chances[kind, p] for p in people], dtype=np.float64)

    @typed
    def pairs(self, *, joint: bool = False) -> pd.DataFrame:
        """One row per released record and fitting person: their chance alone, and with `joint`
        also that among all assignments of records to different people.
        """
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
    def may_be_known(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def asked(self) -> str:
        return replace(
            self,
            columns=dict(sorted(self.columns.items())),
            match=dict(sorted((self.match or {}).items())),
            known=self.known and self.known.in_order,
        ).question

    @property
    def question(self) -> str:
        """Who is looked for, and on what."""
        compared = [own if own == other else f"{own} ({other} there)"
                    for own, other in self.columns.items()]  # fmt: skip
        rules = [
            f"{name} to within {rule:.12g}"
            if isinstance(rule, int | float)
            else f"{name} in {rule!r}"
            if isinstance(rule, Bands)
            else f"{name} by a rule"
            for name, rule in (self.match or {}).items()
        ]
        words = [", ".join(compared), *rules, *([self.known.in_words()] if self.known else [])]
        return f"the named people who fit each released record on {'; '.join(words)}"

    def _of_each(self) -> Mapping[str, Sequence[Any]]:
        return {} if self.known is None else self.known.of_each

    def _known(self) -> dict[str, Any]:
        renamed = {own: other for own, other in self.columns.items() if own != other}
        beside = replace(self, columns=renamed, known=None).asked
        return {**(self.known or sure_of(self.columns)).told, "beside": beside}

    def _asked_exactly(self) -> tuple[Any, ...]:
        rules = {name: repr(rule) for name, rule in (self.match or {}).items()
                 if not isinstance(rule, int | float) and not callable(rule)}  # fmt: skip
        known = () if self.known is None else self.known.exactly
        return (*known, *((repr(sorted(rules.items())),) if rules else ()))

    def _made_with(self) -> dict[str, Any]:
        found = {**super()._made_with(), "outside_fingerprint": self.external.content}
        ruled = {n: (n, o, (self.match or {}).get(n)) for n, o in sorted(self.columns.items())}
        ruled = {n: of for n, of in ruled.items() if is_ruled(self.release, self.external, *of)}
        if ruled:  # by what they say of each two values: not all rules are told apart by themselves
            said = [grid_of(self.release, self.external, *of) for of in ruled.values()]
            found["rules_fingerprint"] = digest(np.array([*ruled]), *said)
        return found

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
            "fit_nobody": Measure(  # with those who fit somebody it would add up to all
                int((self.counts == 0).sum()), unit="people", words="records that fit nobody"
            ),
            "candidates": replace(
                mean_of(
                    self.counts, "people who fit a record, mean", unit="people", per_person=True
                ),
                told="withheld",
            ),
            "risk": mean_of(
                self.risk, "chance to name the owner of a record, mean", per_person=True
            ),
            "highest_risk": highest_of(self.risk, "chance to name the owner, highest"),
        }

    def remarks(self) -> tuple[str, ...]:
        """What the chance stands on."""
        some = (
            "the risks are averages over what is known, with the chances said; the people who fit "
            "are those on all columns, and where nobody does, somebody may on what is known",
        )
        return (
            "a candidate is picked at random; whether the owner is among the named people at all "
            "is not in this chance",
            *(some if self.known is not None else ()),
            *(self.known.notes if self.known is not None else ()),
        )

    @typed
    def check(self, *, individuals: int = 20, seed: int = 0) -> PairCheck:
        """Some records compared with every named person one by one; raises CrosscheckFailed.

        So many `individuals` are drawn from `seed`; with chances their risks are counted anew, too.
        """
        refuse_outside("individuals", individuals, least=1, most=MOST_CHECKED)
        rng = np.random.default_rng(seed)
        n = len(self.release)
        chosen = np.sort(rng.choice(n, min(individuals, n), replace=False))
        fits = np.ones((chosen.size, len(self.external)), dtype=bool)
        names = () if self.known is None else self.known.columns
        missed = np.zeros((chosen.size, len(self.external)), dtype=np.int64)  # groups, as bits
        for name, other in self.columns.items():
            grid = grid_of(self.release, self.external, name, other, (self.match or {}).get(name))
            ours, theirs = self.release.codes([name])[chosen, 0], self.external.codes([other])[:, 0]
            here = grid[ours[:, None], theirs]
            fits &= here
            for j, group in enumerate(names):
                missed |= (name in group and ~here) * np.int64(1 << j)
        self._check_risk(chosen, missed)
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

    def _check_risk(self, chosen: Ints, missed: Ints) -> None:
        """The risks from what each named person does not fit in, added up over subsets."""
        if self.known is None:
            return
        for row, groups in zip(chosen.tolist(), missed, strict=True):
            fitting = np.bincount(groups, minlength=1 << self.known.groups)
            for j in range(self.known.groups):
                halves = fitting.reshape(-1, 2, 1 << j)
                halves[:, 1] += halves[:, 0]
            right = self.known.expected(_one_over(fitting[None, ::-1]), slice(row, row + 1))[0]
            if abs(right - self.risk[row]) > 1e-12:
                raise CrosscheckFailed(
                    f"record {row}: its risk is {right:.12g} from the named people one by one, and "
                    f"{self.risk[row]:.12g} was found; this is a fault of reidbn, please report it"
                )

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


@asked_again
@typed
def candidates(
    release: People,
    external: People,
    *,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    match: Mapping[str, Any] | None = None,
    known: Known | None = None,
) -> Candidates:
    """The named people of an external table who fit each released record.

    `columns` are the shared ones (default: quasi-identifiers of both), or {released: external}.
    `match` gives a column's rule: a hierarchy (a general value fits all it covers), a number (a
    tolerance), or a function of the two values; otherwise values must be equal, under the
    tables' own hierarchies and policies for missing cells.
    `known` is what the attacker may know of those of the shared columns that it names, however it
    is said (rb.microdata.knowledge): column names alone are known for sure, with chances the risk
    is the mean over what is known; chances that differ by person are those of the released records.

    `release` is the table as released, `external` the table with names.

    >>> release = People.from_codes([[0], [1]], ["sex"], labels={"sex": ["F", "M"]})
    >>> names = People.from_codes([[1], [0], [1]], ["sex"], labels={"sex": ["F", "M"]})
    >>> candidates(release, names).counts
    array([1, 2])
    """
    for table in (checked_people(release), checked_people(external)):
        refuse_emptied(table, "candidates")
    pairs = _shared(release, external, columns)
    for name in match or {}:
        if name not in pairs:
            raise UsageError(f'match names "{name}"; the shared columns are {", ".join(pairs)}')
    what = None if known is None else knowledge(release, known)
    shared = pairs if what is None else {name: pairs[name] for name in _compared(what, pairs)}
    match = {name: rule for name, rule in (match or {}).items() if name in shared} or None
    found = _linked(release, external, shared, match or {})
    by_chance = what if what is not None and what.stated and not what.is_sure else None
    if by_chance is not None and (int(found[0].max()) + 1) << by_chance.groups > MOST_PAIRS:
        raise TooLarge(
            f"{int(found[0].max()) + 1:,} kinds of record on {1 << by_chance.groups:,} subsets; "
            "name fewer columns in known=, or some as learnt together: "
            "{'home': (['town', 'street'], 0.3)}"
        )
    return Candidates(release, external, shared, *found, match, by_chance)


def _compared(what: Knowledge, shared: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that are known; each is compared as it is in both tables."""
    for name in what.used:
        if name not in shared:
            raise UsageError(
                f'known= names "{name}", which is not compared; the shared columns are '
                f"{', '.join(shared)}: pair it with one of the external table, columns="
            )
    if what.bands:
        raise UsageError(
            f"known= says {', '.join(what.bands)} in bands, which would be dropped here: coarsen "
            "the column, or give a tolerance in match="
        )
    if not what.used:
        raise UsageError("nothing can be known by this known=; name a column with a chance above 0")
    return what.used


def _linked(
    release: People, external: People, shared: Mapping[str, str], match: Mapping[str, Any]
) -> tuple[Ints, Ints, tuple[Ints, Ints]]:
    """Each record's kind and each person's on these columns, and which of them fit."""
    grids = [grid_of(release, external, name, own, match.get(name)) for name, own in shared.items()]
    left, record_kind = _kinds(release, list(shared))
    right, person_kind = _kinds(external, list(shared.values()))
    return record_kind, person_kind, _links(left, right, grids)


def _one_over(fitting: Ints) -> Floats:
    """The chance of a pick among so many; none where nobody fits."""
    return np.where(fitting > 0, 1 / np.maximum(fitting, 1), 0.0)


def _counts(record_kind: Ints, person_kind: Ints, links: tuple[Ints, Ints]) -> Ints:
    """How many people fit each record."""
    records, persons = links
    people = np.bincount(person_kind, minlength=1)
    fitting = np.bincount(records, people[persons], minlength=int(record_kind.max()) + 1)
    return fitting.astype(np.int64)[record_kind]


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
    within = numbered(lengths)
    return np.repeat(starts, lengths) + within


def _alike(members: Ints, others: Ints, count: int) -> Ints:
    """Members numbered by the set of others they are linked to."""
    linked: list[list[int]] = [[] for _ in range(count)]
    for m, o in zip(members.tolist(), others.tolist(), strict=True):
        linked[m].append(o)
    numbers: dict[tuple[int, ...], int] = {}
    keys = [tuple(sorted(own)) for own in linked]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
