"""Who agrees with whom on which facts of a sparse table: bitsets, and an index of sorted columns.

Each feature's cells are sorted by value.  Whom a value agrees with is then one slice of people,
whatever the rule of matching: equal values, values within a tolerance, or any value at all.  A cell
that holds nothing agrees with nothing [Popat25, 4.4].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.microdata.classes import Ints
from reidbn.microdata.decimals import as_written, in_whole
from reidbn.microdata.kinds import DATE, NUMBER, YEAR
from reidbn.microdata.sparse import Sparse
from reidbn.theory.faces import packed, unpacked
from reidbn.written import counted

Match = Literal["equal", "tolerance", "present", "modal"]
MATCHES = ("equal", "tolerance", "present", "modal")
Words = NDArray[np.uint64]
_TABLE = 1 << 25  # words of bitsets that are kept for all values at once: 256 MB
_AT_ONCE = 1 << 28  # yes/no cells of one person's facts x people


@dataclass(frozen=True, eq=False)
class Agreement:
    """A sparse table under one rule of matching; made by `agreement`.

    A fact is a feature, or several that are known together; facts are numbered as `facts` has them.
    """

    sparse: Sparse
    """The table that is matched: of `modal`, what is unusual of each person."""
    given: Sparse = field(repr=False)
    """The table that was asked about."""
    match: str
    facts: tuple[tuple[int, ...], ...]
    """The features of each fact."""
    fact_of: Ints
    """The fact of each feature."""
    by_value: NDArray[np.int32] = field(repr=False)
    """People, sorted by feature and value."""
    low: Ints = field(repr=False)
    high: Ints = field(repr=False)
    """Whom each value of each feature agrees with: a slice of `by_value`."""
    of_person: Ints = field(repr=False)
    """The cells of person i are of_person[i] to of_person[i + 1] of `cell_value`."""
    cell_value: NDArray[np.int32] = field(repr=False)
    value_feature: NDArray[np.int32] = field(repr=False)
    value_of: Ints = field(repr=False)
    """The first value of each feature."""
    tolerance: float = 0.2
    years: float = 2
    reach: tuple[float, float] = (0.0, 0.0)
    """What else fits: a number within this share of what is known, years and dates within years."""

    @property
    def people(self) -> int:
        return self.sparse.people

    @property
    def words(self) -> int:
        """Words of 64 bits that a set of people takes."""
        return -(-self.people // 64)

    def named(self, what: str | Sequence[str]) -> Ints:
        """The features that words name, as places; refused where none of a word's is matched.

        A word means what it means in the table that was asked about, whatever is left out of it.
        """
        words, here = [what] if isinstance(what, str) else list(what), self.sparse.names
        every = [np.array(self.given.names)[self.given.named(word)] for word in words]
        for word, names in zip(words, every, strict=True):
            if not np.isin(names, here).any():
                raise UsageError(
                    f'match="modal" leaves {word} out: it has no content so common that another '
                    "would be unusual (modal= says how common); name other features, or match "
                    'them by match="present" or match="equal"'
                )
        wanted = {*np.concatenate(every).tolist()} if every else set()
        return np.array([j for j, name in enumerate(here) if name in wanted], dtype=np.int64)

    @property
    def left_out(self) -> str:
        """How many features are not matched, in words; empty where all are."""
        every, here = len(self.given.schema), len(self.sparse.schema)
        if here == every:
            return ""
        return (
            f'match="modal" matches {here} of {counted(every, "feature")}: those with a content '
            "so common that another is unusual (modal= says how common); of the others nothing "
            "is known"
        )

    def known(self, person: int, allowed: NDArray[np.bool_] | None = None) -> tuple[Ints, Ints]:
        """A person's values and the fact that each belongs to, sorted by fact; some facts alone."""
        values = self.cell_value[self.of_person[person] : self.of_person[person + 1]]
        facts = self.fact_of[self.value_feature[values]]
        if allowed is not None:
            values, facts = values[allowed[facts]], facts[allowed[facts]]
        order = np.argsort(facts, kind="stable")
        return values[order].astype(np.int64), facts[order]

    def sets(self, person: int, allowed: NDArray[np.bool_] | None = None) -> tuple[Ints, Words]:
        """The facts known of a person, and for each the set of the *others* who agree on it."""
        values, facts = self.known(person, allowed)
        if values.size * self.people > _AT_ONCE:
            raise TooLarge(
                f"{values.size} facts of one person x {self.people:,} people; look for people in a "
                "sample of the table, or leave features out (sparse.select)"
            )
        table = self._table
        bits = packed(self._rows(values)) if table is None else table[values]
        starts = np.flatnonzero(np.diff(facts, prepend=-1))
        if starts.size < facts.size:
            bits = np.bitwise_and.reduceat(bits, starts, axis=0)
            facts = facts[starts]
        else:
            bits = bits.copy()
        bits[:, person >> 6] &= ~np.uint64(1 << (person & 63))
        return facts, bits

    def _rows(self, values: Ints) -> NDArray[np.bool_]:
        found = np.zeros((values.size, self.people), dtype=bool)
        for row, value in zip(found, values.tolist(), strict=True):
            row[self.by_value[self.low[value] : self.high[value]]] = True
        return found

    @cached_property
    def _table(self) -> Words | None:
        """The set of people of every value, where it fits."""
        values = self.value_feature.size
        if values * self.words > _TABLE:
            return None
        found = np.empty((values, self.words), dtype=np.uint64)
        step = max(1, (1 << 26) // max(1, self.people))
        for start in range(0, values, step):
            some = np.arange(start, min(start + step, values))
            found[some] = packed(self._rows(some))
        return found


def members(sets: Words, people: int) -> NDArray[np.bool_]:
    """The sets as rows of yes and no, person by person."""
    return unpacked(sets, people)


def patterns(sets: Words, people: int, person: int) -> tuple[Words, Ints]:
    """The distinct sets of facts on which others agree, as words over facts, and how many do.

    The set of no facts is among them where somebody agrees on nothing.
    """
    agreed = np.delete(packed(members(sets, people).T), person, axis=0)
    if not len(agreed):
        return agreed, np.zeros(0, dtype=np.int64)
    rows = np.ascontiguousarray(agreed).view([("", np.uint64)] * agreed.shape[1]).ravel()
    distinct, counts = np.unique(rows, return_counts=True)
    return distinct.view(np.uint64).reshape(len(distinct), -1), counts


def agreement(
    sparse: Sparse,
    match: str = "equal",
    *,
    tolerance: float = 0.2,
    years: float = 2,
    modal: float = 0.5,
    together: bool = False,
) -> Agreement:
    """The table under a rule of matching.

    equal: the same value.  tolerance: a number within `tolerance` (a share of the attacker's
    value, the ends included), a year or a date within `years`; everything else the same.  present:
    any value.  modal: both have something unusual, where the commonest content (nothing is one)
    has more than a share `modal` of the people.  `together` makes features that the feature table
    puts together one fact.  Of a table with noise numbers, years and dates are known as they were,
    and fit what noise may have made out of them.
    """
    if match not in MATCHES:
        raise UsageError(f'match="{match}"; {did_you_mean(match, MATCHES)}')
    if not 0 <= tolerance < 1:
        raise UsageError(f"tolerance={tolerance}; it is a share of the value, from 0 to below 1")
    if not 0 <= years <= 100:
        raise UsageError(f"years={years}; it must lie between 0 and 100")
    if match == "modal" and sparse.truth is not None:
        raise UsageError(
            'match="modal" is about contents that few have, and this table has noise on them: ask '
            'of the table without noise, or match="present"'
        )
    seen = sparse.unusual(modal) if match == "modal" else sparse
    known, far = seen.as_known, match == "tolerance"
    reach = round(tolerance * far + seen.noise[0], 12), round(years * far + seen.noise[1], 12)
    sizes = np.array([labels.size for labels in known.labels], dtype=np.int64)
    first = np.concatenate(([0], np.cumsum(sizes)))
    feature = np.repeat(np.arange(len(seen.schema)), np.diff(seen.start))
    value = first[feature] + known.codes
    order, ends = _by_value(seen, feature)
    low, high = np.empty(int(first[-1]), np.int64), np.empty(int(first[-1]), np.int64)
    for j, one in enumerate(seen.schema):
        here = slice(first[j], first[j + 1])
        if match in ("present", "modal"):
            low[here], high[here] = ends[j][0], ends[j][-1]
        elif one.kind in (NUMBER, YEAR, DATE) and reach[one.kind != NUMBER]:
            near = _near(one.kind, known.labels[j].tolist(), seen.labels[j].tolist(), *reach)
            low[here], high[here] = (ends[j][side] for side in near)
        else:
            low[here], high[here] = ends[j][:-1], ends[j][1:]
    by_person = np.argsort(seen.rows, kind="stable")
    counts = np.bincount(seen.rows, minlength=seen.people)
    facts, fact_of = _facts(seen, together=together)
    return Agreement(
        sparse=seen,
        given=sparse,
        match=match,
        facts=facts,
        fact_of=fact_of,
        by_value=np.ascontiguousarray(seen.rows[order]),
        low=low,
        high=high,
        of_person=np.concatenate(([0], np.cumsum(counts))),
        cell_value=value[by_person].astype(np.int32),
        value_feature=np.repeat(np.arange(len(seen.schema)), sizes).astype(np.int32),
        value_of=first[:-1],
        tolerance=tolerance,
        years=years,
        reach=reach,
    )


def _by_value(sparse: Sparse, feature: Ints) -> tuple[Ints, list[Ints]]:
    """Cells in the order of feature and value; where the values of each feature begin and end."""
    sizes = [labels.size for labels in sparse.labels]
    first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    shown = first[feature] + sparse.codes
    ends = np.concatenate(([0], np.cumsum(np.bincount(shown, minlength=int(first[-1])))))
    order = np.lexsort((sparse.rows, shown))
    return order, [ends[first[j] : first[j + 1] + 1] for j in range(len(sizes))]


def _facts(sparse: Sparse, *, together: bool) -> tuple[tuple[tuple[int, ...], ...], Ints]:
    """The features of each fact, and the fact of each feature."""
    found: dict[str, list[int]] = {}
    for j, one in enumerate(sparse.schema):
        word = one.together if together else ""
        found.setdefault(word or f"\0{j}", []).append(j)
    fact_of = np.empty(len(sparse.schema), dtype=np.int64)
    for number, features in enumerate(found.values()):
        fact_of[features] = number
    return tuple(tuple(features) for features in found.values()), fact_of


def _near(
    kind: str, known: Sequence[Any], shown: Sequence[Any], tolerance: float, years: float
) -> tuple[Ints, Ints]:
    """For each known value, the first of the sorted ones that it fits and the one after the last.

    Numbers are compared as they are written, in whole multiples of their last digit: 12 is within
    20 % of 10, where 0.2 * 10 of floats may say otherwise.
    """
    share, wide = as_written(tolerance), as_written(years)
    if kind == NUMBER:
        own, others = ([as_written(v) for v in values] for values in (known, shown))
        reach = [share * abs(value) for value in own]
    elif kind == YEAR:
        own, others = ([Fraction(v) for v in values] for values in (known, shown))
        reach = [wide] * len(own)
    else:
        own, others = ([Fraction(v.toordinal()) for v in values] for values in (known, shown))
        reach = [wide * Fraction(1461, 4)] * len(own)
    at, among, widths = in_whole(own, others, reach)
    low = np.searchsorted(among, at - widths, side="left")
    high = np.searchsorted(among, at + widths, side="right")
    return low.astype(np.int64), high.astype(np.int64)
