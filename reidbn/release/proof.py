"""The counts of a report as one system in whole numbers, and what a reader can make of it.

Unknown are, between two cutoffs, the classes m of a to b people and the people p in them; people
can stand so if and only if a m <= p <= b m, so that the system is exact.  Known are the counts that
are told, the whole, and what a verdict says (somebody is, nobody is, in a class of at most k).  Of
every cell that is marked "under 10" the smallest and the largest number that fit are found (HiGHS).

A linear programme could show that a cell is given away, and not that it is kept: 58 people in
classes of 7 and 11 are 0 to 58 in classes of 7 for it, and 14 in truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from reidbn.release.counts import BASE, WIDTH, Alike, Array, between
from reidbn.written import counted

SLACK = 1e-5
"""In classes: what rounding leaves of so many more than a limit allows."""
NODES = 2_000
"""Of the search for one end of a cell; one that is not found by then is said not to be proved."""


@dataclass(frozen=True)
class Marked:
    """People in classes of more than `after` and at most `last`, marked "under 10"."""

    after: int
    last: int
    exact: int


@dataclass(frozen=True)
class Protection:
    """What a reader can make of one marked cell, and what the mark promises."""

    cell: Marked
    low: int
    high: int
    promise: tuple[int, int]

    @property
    def is_kept(self) -> bool:
        """Whether nothing that the mark leaves is excluded."""
        return self.low <= self.promise[0] and self.high >= self.promise[1]

    @property
    def lower(self) -> int:
        """How far below the truth a reader must reckon with it (lower protection level)."""
        return self.cell.exact - self.low

    @property
    def upper(self) -> int:
        """How far above (upper protection level)."""
        return self.high - self.cell.exact


@dataclass(frozen=True)
class Audit:
    """What is told in the end, and how far that is proved."""

    classes: Alike
    proved: tuple[Protection, ...]
    left: int
    """Marked cells of which nothing is proved: the search grew too long."""

    def in_words(self) -> str:
        """What was done to the counts, and what a reader can make of them."""
        pooled = sorted(self.classes.without)
        said = (
            f"Of people by the size of their class no count is marked under {BASE}, but where the "
            f"verdict itself leaves one number"
        )
        if self.proved:
            said = (
                f"{counted(len(self.proved), 'count')} of people by the size of their class, "
                f"marked under {BASE}, held against everything else that is told of these classes "
                f"by an integer programme: a reader can exclude no number from 0 to {WIDTH} that "
                f"classes can make up and the verdict leaves"
            )
        if self.left:
            more = counted(self.left, "other count")
            said += f"; {more}: the search grew too long, and nothing is proved of these"
        if pooled:
            named = ", ".join(f"up to {c}" for c in pooled)
            said += f"; told by their neighbours alone: {named} alike"
        return f"{said}."


def audited(classes: Alike) -> Audit:
    """What may be told: where the programme finds a cell given away, a cutoff is told no more.

    Where a verdict says that nobody is in a class of at most q, 2 to 8, classes of the next sizes
    up to nine are told together, whatever is found: what is pooled by what it holds tells by that.
    """
    if 1 < classes.nobody < WIDTH:
        small = frozenset(range(classes.nobody + 1, BASE))
        classes = replace(classes, without=classes.without | small)
    while True:
        found = list(protections(classes))
        bad = [part for part in found if not part.is_kept]
        if not bad or not classes.cutoffs:
            return Audit(classes, tuple(found), len(_open(classes)) - len(found))
        pooled = {min(classes.cutoffs, key=lambda c: abs(c - bad[0].cell.last))}
        classes = replace(classes, without=classes.without | pooled)


def cells(classes: Alike) -> Iterator[Marked]:
    """What is marked "under 10": cumulative counts, what lies between two, and the rest."""
    ends = [*classes.cutoffs, classes.end]
    for before, last in zip([0, *ends], ends, strict=False):
        if classes.at(last).is_few:
            yield Marked(0, last, classes.exactly(last))
        if before and between(classes.at(before), classes.at(last)).is_few:
            yield Marked(before, last, classes.exactly(last) - classes.exactly(before))


def protections(classes: Alike) -> Iterator[Protection]:
    """Each marked cell that may be several numbers, and what a reader can make of it."""
    system = _System(classes)
    for cell, promise in _open(classes):
        ends = system.ends(system.people(cell.after, cell.last))
        if ends is not None:
            yield Protection(cell, round(ends[0]), round(ends[1]), promise)


def mean_keeps(classes: Alike, limit: float) -> bool | None:
    """Whether the mean of 1/class is at most a limit in every table of which the same is told.

    False: in none of them.  None: in some, so that to say it would tell more than the counts do.
    """
    system = _System(classes)
    ends = system.ends(system.classes_beyond(limit))
    if ends is None or ends[0] <= SLACK < ends[1]:
        return None
    return ends[1] <= SLACK


def _open(classes: Alike) -> list[tuple[Marked, tuple[int, int]]]:
    """The marked cells of which arithmetic alone leaves several numbers."""
    found = [(cell, promised(cell, classes)) for cell in cells(classes)]
    return [(cell, promise) for cell, promise in found if promise[0] < promise[1]]


def promised(cell: Marked, classes: Alike) -> tuple[int, int]:
    """The numbers from 0 to 9 that classes of the cell's sizes can make up."""
    if cell.last <= classes.nobody:
        return 0, 0
    can = {0}
    for size in range(max(cell.after, classes.nobody) + 1, min(cell.last, WIDTH) + 1):
        can |= {c + size * k for c in tuple(can) for k in range(WIDTH // size + 1)}
    one_more = 0 < classes.somebody <= cell.after and classes.at(cell.last).is_few
    can = {c for c in can if c <= WIDTH - one_more}  # somebody of the few is in a smaller class
    if not cell.after and _holds_somebody(cell.last, classes):
        can -= {0}
    return min(can), max(can)


def _holds_somebody(last: int, classes: Alike) -> bool:
    """Whether the verdict alone says so: fewer than ten stand in no class of ten or more."""
    few = classes.at(classes.somebody).is_few
    return classes.somebody > 0 and (last >= classes.somebody or (few and last >= WIDTH))


class _System:
    """The bounds on classes and people between cutoffs."""

    def __init__(self, classes: Alike) -> None:
        ends = [*classes.cutoffs, classes.end]
        many = len(ends)
        self.ends_of, self.most = ends, classes.all.high
        rows: list[Array] = []
        low: list[float] = []
        high: list[float] = []

        def know(row: Array, least: float, most: float) -> None:
            rows.append(row)
            low.append(least)
            high.append(most)

        for i, (before, last) in enumerate(zip([0, *ends], ends, strict=False)):
            for size, sign in ((before + 1, 1), (min(last, self.most), -1)):
                row = np.zeros(2 * many)
                row[many + i], row[i] = sign, -sign * size
                know(row, 0, np.inf)
            know(self.people(0, last), *classes.at(last))
        nobody = max((end for end in ends if end <= classes.nobody), default=0)
        if nobody:
            know(self.people(0, nobody), 0, 0)
        if classes.somebody:
            know(self.people(0, classes.somebody), 1, np.inf)
        self.rows, self.low, self.high = np.array(rows), np.array(low), np.array(high)

    def people(self, after: int, last: int) -> Array:
        """The people between two cutoffs; of one that is not told, at the next that is."""
        many = len(self.ends_of)
        row = np.zeros(2 * many)
        for i, end in enumerate(self.ends_of):
            row[many + i] = after < end and (end <= last or (i and self.ends_of[i - 1] < last))
        return row

    def classes_beyond(self, limit: float) -> Array:
        """How many classes there are more than the mean of 1/class allows: below 0 where fewer."""
        many = len(self.ends_of)
        return np.repeat([1.0, -limit], many)

    def ends(self, row: Array) -> tuple[float, float] | None:
        """The smallest and the largest that a sum over classes and people can be; None: unfound."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        from reidbn.errors import EngineError

        found = []
        for sign in (1, -1):
            answer = milp(
                sign * row,
                constraints=LinearConstraint(self.rows, self.low, self.high),
                bounds=Bounds(0, self.most),
                integrality=np.ones(len(row)),
                options={"node_limit": NODES, "mip_rel_gap": 0.0},
            )
            if answer.status == 1:
                return None
            if answer.status != 0:
                raise EngineError(
                    f"the audit of what is told found no table: {answer.message}; this is a fault "
                    f"of reidbn, please report it"
                )
            found.append(sign * float(answer.fun))
        return found[0], found[1]
