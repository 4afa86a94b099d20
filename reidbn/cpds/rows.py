"""Labelled rows: a table a person can read aloud.

    rows:
      - {when: {weather: wet}, p: {yes: $p_late_wet, no: rest}}
      - {p: [0.9, 0.1]}

A parent that `when` does not name, or names as "*", may have any state; ">=3" stands for all states
that are such numbers.  The first row that fits counts, so the last one can be "everything else".
`rest` is what is left of a row.

A table written out in full: what an imported network brings along.

Tables read off data: counts from a table of records, and look-ups by the parent's state.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import check_fields
from reidbn.cpds.protocol import (
    CPD,
    Array,
    Ref,
    Scope,
    Variable,
    freeze_fields,
    needs_probability,
    needs_reference,
)
from reidbn.errors import DataError, ModelError, Problem, did_you_mean, which_state
from reidbn.written import few

if TYPE_CHECKING:
    import pandas as pd


REST, ANY = "rest", "*"
_COMPARED = re.compile(r"\s*(>=|<=|<|>)\s*(-?\d+(?:\.\d+)?)\s*\Z")
_SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
TOLERANCE = 1e-12
EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Row:
    """One row: for which parent states it holds, and P(state) in order or by name."""

    p: tuple[Ref, ...] | dict[str, Ref] = field(
        metadata={
            "chance": True,
            "story": "chances in the order of the states, or by name; one may be rest",
        }
    )
    when: dict[str, str | tuple[str, ...]] = field(
        default_factory=dict,
        metadata={"references": False, "story": "parent: state, list of states, or * for any"},
    )

    def __post_init__(self) -> None:
        check_fields(self, apart=["p"])
        freeze_fields(self)

    def cells(self, states: tuple[str, ...]) -> tuple[Ref, ...]:
        """The cells in the order of the states; a state that is not named has 0."""
        if isinstance(self.p, dict):
            return tuple(self.p.get(state, 0.0) for state in states)
        return tuple(self.p)

    def words(self, parent: str) -> tuple[str, ...] | None:
        """What `when` says of a parent: states and comparisons; None means any."""
        want = self.when.get(parent, ANY)
        if want == ANY:
            return None
        return (want,) if isinstance(want, str) else tuple(want)

    def wanted(self, parent: Variable) -> tuple[str, ...] | None:
        """The states of a parent for which this row holds; None means any."""
        words = self.words(parent.name)
        return None if words is None else tuple(s for w in words for s in _meant(w, parent))


@dataclass(frozen=True)
class Rows(CPD):
    """P(state | parents) from labelled rows."""

    kind: ClassVar[str] = "rows"
    by_name: ClassVar[bool] = True
    rows: tuple[Row, ...] = field(metadata={"story": "labelled rows; the first that fits counts"})

    def references(self) -> tuple[str, ...]:
        return tuple(ref for ref in super().references() if ref != REST)

    def probabilities(self, scope: Scope) -> Array:
        """Row by row, first fit: the row of every parent configuration, then its cells."""
        tables = [self._row_table(row, scope) for row in self.rows]
        if len(tables) == 1:
            return np.moveaxis(tables[0], 0, -1)
        chosen = self._first_fit(scope)
        if (chosen < 0).any():  # states that came with another value of a structural parameter
            raise ModelError(
                f"{scope.child.name}: no row holds for some states of its parents; "
                f"add a last row without when"
            )
        shape = np.broadcast_shapes(chosen.shape, *(t.shape[1:] for t in tables))
        out = np.empty((len(scope.child.states), *shape))
        for i, table in reversed(list(enumerate(tables))):
            here = (
                chosen == i if i < len(tables) - 1 else True
            )  # where no other holds, the last does
            for k, cell in enumerate(table):
                np.copyto(out[k, ...], cell, where=here)
        return np.moveaxis(out, 0, -1)

    @staticmethod
    def _row_table(row: Row, scope: Scope) -> Array:
        """The cells of a row, the states first: the engines read them one state at a time."""
        cells = row.cells(scope.child.states)
        known = [None if cell == REST else scope.value(cell) for cell in cells]
        shape = np.broadcast_shapes(*(v.shape for v in known if v is not None))
        out = np.zeros((len(cells), *shape))
        for k, value in enumerate(known):
            if value is not None:
                out[k, ...] = value
        if REST in cells:
            out[cells.index(REST)] = what_is_left(scope, out.sum(axis=0), cells)
        return out

    def _first_fit(self, scope: Scope) -> NDArray[np.intp]:
        chosen: NDArray[np.intp] = np.asarray(-1)
        for i in reversed(range(len(self.rows))):
            fits: NDArray[np.bool_] = np.asarray(True)
            for parent in scope.parents:
                want = self.rows[i].wanted(parent)
                if want is not None:
                    allowed = np.array([state in want for state in parent.states])
                    fits = fits & allowed[scope.state(parent.name)]
            chosen = np.where(fits, i, chosen)
        return chosen

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        lists = [(i, row) for i, row in enumerate(self.rows) if isinstance(row.p, tuple)]
        return [p for i, row in lists for p in _cell_problems(i, row, child)]

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        return 1  # one row holds at a time; its cells are the parameter, numbers, and what is left

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        if not self.rows:
            return [Problem(("rows",), "there are no rows")]
        found: list[Problem] = []
        for i, row in enumerate(self.rows):
            found += _when_problems(i, row, parents)
        found += self.problems_without_parents(child)
        return found or self._coverage_problems(parents)

    def problems_without_parents(self, child: Variable) -> list[Problem]:
        """What can be said of the rows before anything is known about the parents."""
        return [p for i, row in enumerate(self.rows) for p in _cell_problems(i, row, child)]

    def _coverage_problems(self, parents: tuple[Variable, ...]) -> list[Problem]:
        """Every parent configuration has a row, and every row is reached."""
        named = [p for p in parents if any(row.words(p.name) is not None for row in self.rows)]
        chosen = self._first_fit(_Configurations(named))
        found = []
        if (chosen < 0).any():
            first = np.unravel_index(int(np.argmax(chosen < 0)), chosen.shape)
            case = ", ".join(f"{p.name}={p.states[i]}" for p, i in zip(named, first, strict=True))
            more = int((chosen < 0).sum()) - 1
            also = f" and {more} other case{'s' if more > 1 else ''}" if more else ""
            message = f"no row holds for {case}{also}; add a last row without when"
            found.append(Problem(("rows",), message))
        for i in sorted(set(range(len(self.rows))) - set(np.unique(chosen).tolist())):
            found.append(Problem(("rows", i), "is never reached: rows above it hold for all of it"))
        return found


def what_is_left(scope: Scope, named: Array, cells: Iterable[object]) -> Array:
    """What `rest` stands for beside cells whose chances add up to so much."""
    left = np.asarray(1.0 - named)
    parts = sum(cell != REST for cell in cells)
    if parts > 1:  # a sum of chances that is 1 but for its rounding leaves nothing
        left = np.where(np.abs(left) <= parts * EPSILON, 0.0, left)
    if scope.checks and left.min() < -TOLERANCE:
        found = f"{named.max():.6g}"
        if scope.read_people(cells):  # somebody's own number is nobody's business
            found = "more than 1 for somebody"
        raise ModelError(
            f"{scope.child.name}: rest stands beside chances that add up to {found}; "
            f"together they are 1 at most"
        )
    return np.maximum(left, 0.0) if scope.checks else left  # a hair of rounding is taken back


class _Configurations(Scope):
    """All configurations of some parents, to see which row holds where."""

    def __init__(self, parents: list[Variable]) -> None:
        self.parents = tuple(parents)

    def state(self, parent: str) -> NDArray[np.intp]:
        axis = [p.name for p in self.parents].index(parent)
        shape = [-1 if i == axis else 1 for i in range(len(self.parents))]
        return np.arange(self.parents[axis].size).reshape(shape) + np.zeros(
            [p.size for p in self.parents], dtype=np.intp
        )

    def parameter(self, name: str) -> Array:
        raise AssertionError("configurations have no parameters")

    def column(self, name: str) -> Array:
        raise AssertionError("configurations have no columns")


def _when_problems(i: int, row: Row, parents: tuple[Variable, ...]) -> list[Problem]:
    found = []
    by_name = {p.name: p for p in parents}
    for name in row.when:
        where = ("rows", i, "when", name)
        if name not in by_name:
            message = f'"{name}" is not a parent of this node; {did_you_mean(name, by_name)}'
            found.append(Problem(where, message, at_key=True))
        elif by_name[name].is_group:
            message = f"{name} is a group: a row cannot name its subsets; make one member a parent"
            found.append(Problem(where, message, at_key=True))
        else:
            found += [Problem(where, said) for said in _odd_words(row, by_name[name])]
    return found


def _meant(word: str, parent: Variable) -> tuple[str, ...]:
    """The states that a word stands for: one of them, or all that a comparison lets in."""
    compared = _COMPARED.match(word)
    if word in parent.states or compared is None or not parent.is_numeric:
        return (word,)
    lets_in, edge = _SIGNS[compared[1]], float(compared[2])
    return tuple(s for s in parent.states if lets_in(float(s), edge))


def _odd_words(row: Row, parent: Variable) -> list[str]:
    found = []
    for word in sorted({*(row.words(parent.name) or ())} - {*parent.states}):
        compared, listed = _COMPARED.match(word), few(parent.states)
        if compared is None:
            hint = which_state(word, parent.states)
            found.append(f'{parent.name} has no state "{word}"; {hint}')
        elif not parent.is_numeric:
            found.append(f'"{word}" compares numbers, and the states of {parent.name} are {listed}')
        elif parent.bands:
            found.append(
                f'"{word}" may cut a state of {parent.name} in two: each stands for all sizes up '
                f"to the next; name the states: {listed}"
            )
        elif not _meant(word, parent):
            found.append(f'"{word}" lets no state of {parent.name} in; they are {listed}')
    return found


def _cell_problems(i: int, row: Row, child: Variable) -> list[Problem]:
    where: tuple[str | int, ...] = ("rows", i, "p")
    if not isinstance(row.p, tuple | dict):
        return [Problem(where, f"must be a list or a mapping of the states {few(child.states, 8)}")]
    if isinstance(row.p, dict):
        unknown = [s for s in row.p if s not in child.states]
        if unknown:
            hint = did_you_mean(unknown[0], child.states)
            message = f'this node has no state "{unknown[0]}"; {hint}'
            return [Problem((*where, unknown[0]), message, at_key=True)]
    cells = row.cells(child.states)
    if len(cells) != len(child.states):
        message = f"needs {len(child.states)} cells, for {few(child.states, 8)}; found {len(cells)}"
        return [Problem(where, message)]
    found: list[Problem] = []
    for j, cell in enumerate(cells):
        if cell != REST:
            inner = (*where, child.states[j] if isinstance(row.p, dict) else j)
            found += needs_reference(cell, *inner) + needs_probability(cell, *inner)
    return found or _sum_problems(where, cells)


def _sum_problems(where: tuple[str | int, ...], cells: tuple[Ref, ...]) -> list[Problem]:
    if cells.count(REST) > 1:
        return [Problem(where, "says rest more than once; only one cell can be what is left")]
    numbers = [c for c in cells if not isinstance(c, str)]
    total = float(sum(numbers))
    if REST in cells or len(numbers) < len(cells):
        if total > 1 + TOLERANCE:
            return [Problem(where, f"sums to {total:.12g}, more than 1 (over by {total - 1:.6g})")]
        if REST not in cells:
            return [Problem(where, "holds references but no rest: write rest for the last cell")]
    elif abs(total - 1) > TOLERANCE:
        gap = "short" if total < 1 else "over"
        return [Problem(where, f"sums to {total:.12g}, not 1 ({gap} by {abs(total - 1):.6g})")]
    return []


# -- a table written out in full -------------------------------------------------------------------


@dataclass(frozen=True)
class Table(CPD):
    """P(state | parents), one row per configuration of the parents and one number per state.

    The parents stand in their declared order, the last one varying fastest.  The numbers are used
    as they are, to the last bit, so that what is imported can be exported unchanged.
    """

    kind: ClassVar[str] = "table"
    p: tuple[tuple[float, ...], ...]

    def references(self) -> tuple[str, ...]:
        return ()

    def probabilities(self, scope: Scope) -> Array:
        row: Any = np.asarray(0)
        for parent in scope.parents:
            row = row * parent.size + scope.state(parent.name)
        out: Array = np.array(self.p, dtype=float)[row]
        return out

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return self.problems(child, parents)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        rows = int(np.prod([p.size for p in parents], initial=1))
        if len(self.p) != rows:
            message = f"has {len(self.p)} rows for {rows} configurations of the parents"
            return [Problem(("p",), message)]
        return [Problem(("p", i), text) for i, row in enumerate(self.p)
                for text in _row_problems(row, len(child.states))]  # fmt: skip


def _row_problems(row: tuple[float, ...], states: int) -> list[str]:
    if isinstance(row, int | float | str) or len(row) != states:
        found = len(row) if isinstance(row, tuple) else 1
        return [f"has {found} numbers for {states} states"]
    if any(isinstance(x, str) or not 0 <= x <= 1 for x in row):
        return ["holds something that is no probability: every number lies between 0 and 1"]
    total = float(sum(row))
    if abs(total - 1) > TOLERANCE:
        gap = "short" if total < 1 else "over"
        return [f"sums to {total:.12g}, not 1 ({gap} by {abs(total - 1):.6g})"]
    return []


@dataclass(frozen=True)
class MeasuredShares(CPD):
    """P(state) as a subject column over the node says it: by shares, or by counts.

        P(state) = (count + prior) / (all counts + states * prior)

    Counts say how sure they are: an answer that stands on them has an interval.
    """

    kind: ClassVar[str] = "measured"
    by_name: ClassVar[bool] = True
    p: Ref | None = field(default=None, metadata={"story": "column over this node: shares"})
    counts: Ref | None = field(default=None, metadata={"story": "column over this node: counts"})
    prior: float = field(default=0.5, metadata={"story": "added to every count", "sourced": False})

    def probabilities(self, scope: Scope) -> Array:
        if self.p is not None:
            return np.asarray(scope.value(self.p), dtype=float)
        assert self.counts is not None  # noqa: S101 - checked at birth
        counts = np.asarray(scope.value(self.counts), dtype=float) + self.prior
        total = counts.sum(axis=-1, keepdims=True)
        if not ((counts >= 0).all() and (total > 0).all()):  # also catches NaN
            raise ModelError(
                f"{scope.child.name}: nobody was counted, or fewer than nobody; "
                f"give a prior above 0, or leave such rows out"
            )
        return np.asarray(counts / total)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        if (self.p is None) == (self.counts is None):
            return [Problem(("kind",), "needs either p, a column of shares, or counts, of counts")]
        name = "p" if self.counts is None else "counts"
        found = []
        if not str(getattr(self, name)).startswith("@"):
            message = f"takes a column over {child.name}, such as @hits"
            found.append(Problem((name,), message))
        if self.prior < 0:
            found.append(Problem(("prior",), f"{self.prior:g} is no prior: use 0 or more"))
        return found


# -- tables read off data --------------------------------------------------------------------------


@dataclass(frozen=True)
class Empirical(CPD):
    """P(state | parents) = (count + prior) / (row total + states x prior).

    `counts` has one row per parent configuration (parents in their declared order, the last one
    varying fastest) and one column per state.  With no prior a configuration that was never seen
    is an error: there is nothing to read off.
    """

    kind: ClassVar[str] = "empirical"
    counts: tuple[tuple[float, ...], ...] = field(
        metadata={"story": "one row per parent configuration"}
    )
    prior: float = field(default=0.0, metadata={"story": "added to every count"})

    def probabilities(self, scope: Scope) -> Array:
        table = np.asarray(self.counts, dtype=float) + self.prior
        table = table / table.sum(axis=1, keepdims=True)
        row: Any = np.asarray(0)
        for parent in scope.parents:
            row = row * parent.size + scope.state(parent.name)
        out: Array = table[row]
        return out

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return self.problems(child, parents)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        rows = int(np.prod([p.size for p in parents], initial=1))
        if len(self.counts) != rows:
            message = f"needs {rows} rows, one per configuration of the parents; found "
            message += str(len(self.counts))
            return [Problem(("counts",), message)]
        found = []
        for i, row in enumerate(self.counts):
            if len(row) != len(child.states):
                message = f"needs {len(child.states)} counts, one per state; found {len(row)}"
                found.append(Problem(("counts", i), message))
            elif min(row) < 0 or sum(row) + self.prior <= 0:
                message = "has no case, or a negative count; give a prior above 0 or drop the case"
                found.append(Problem(("counts", i), message))
        return found

    @classmethod
    def from_table(
        cls,
        table: pd.DataFrame,
        node: str,
        parents: tuple[str, ...] = (),
        *,
        states: dict[str, tuple[str, ...]],
        prior: float = 0.0,
    ) -> Empirical:
        """Count the rows of a DataFrame; `states` gives the states of the node and its parents.

        >>> import pandas as pd
        >>> t = pd.DataFrame({"rain": ["no", "no", "yes"], "late": ["no", "yes", "yes"]})
        >>> Empirical.from_table(t, "late", ("rain",),
        ...     states={"rain": ("no", "yes"), "late": ("no", "yes")}).counts
        ((1.0, 1.0), (0.0, 1.0))
        """
        index = np.zeros(len(table), dtype=np.intp)
        for column in (*parents, node):
            code = {state: i for i, state in enumerate(states[column])}
            values = [code.get(str(v), -1) for v in table[column]]
            if -1 in values:
                missed = values.count(-1)
                raise DataError(
                    f"{column}: {missed} rows hold a value that is not among its states"
                )
            index = index * len(code) + np.array(values, dtype=np.intp)
        sizes = [len(states[c]) for c in (*parents, node)]
        counts = np.bincount(index, minlength=int(np.prod(sizes))).reshape(-1, sizes[-1])
        return cls(tuple(tuple(float(c) for c in row) for row in counts), prior)


@dataclass(frozen=True)
class Lookup(CPD):
    """The state is a function of one parent: `states[i]` for the parent's i-th state."""

    kind: ClassVar[str] = "lookup"
    to: tuple[str, ...] = field(metadata={"story": "this state for each state of the parent"})

    def references(self) -> tuple[str, ...]:
        return ()

    def probabilities(self, scope: Scope) -> Array:
        code = {state: i for i, state in enumerate(scope.child.states)}
        target = np.array([code[state] for state in self.to])
        out: Array = np.eye(len(code))[target[scope.state(scope.parents[0].name)]]
        return out

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return self.problems(child, parents)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        if len(parents) != 1 or parents[0].is_group:
            return [Problem(("kind",), "lookup needs exactly one parent node")]
        if len(self.to) != parents[0].size:
            message = f"needs {parents[0].size} entries, one per state of its parent; found "
            message += str(len(self.to))
            return [Problem(("to",), message)]
        unknown = sorted(set(self.to) - set(child.states))
        if unknown:
            return [Problem(("to",), f'no state "{unknown[0]}" in this node')]
        return []
