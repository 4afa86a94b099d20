"""Tensors with named axes, and their contraction.

The names are nodes, groups, and the two batch axes SUBJECT and SETTING; a batch axis of length 1
is dropped, so that what does not depend on it costs nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np
import opt_einsum
from numpy.typing import NDArray

from reidbn.errors import TooLarge, a_dozen
from reidbn.inference.paths import by_elimination, largest
from reidbn.limits import MOST_TABLES

Array = NDArray[np.float64]
SUBJECT, SETTING = "<subject>", "<setting>"
BATCH = (SUBJECT, SETTING)
Axes = tuple[str, ...]
BUDGET = 1 << 27  # numbers in the largest table that exact inference may make: 1 GiB
MOST_WORK = 1 << 35  # multiplications for one subject at one setting: some minutes
DRAWN = "estimate it with rb.ask(..., engine='sampling') or rb.assess(..., method='simulation')"
LONG = 1 << 27  # multiplications, above which it pays to look for a shorter way
TRIES = 32
SPACIOUS = 1 << 22  # numbers in a table (32 MiB) that make no way worse than a longer one
COMFORTABLE = 1 << 12  # numbers in a table, above which a second way is tried


@dataclass(frozen=True)
class Tensor:
    """An array and the names of its axes."""

    axes: tuple[str, ...]
    values: Array

    def size(self, axis: str) -> int:
        return int(self.values.shape[self.axes.index(axis)])

    def at(self, axis: str, position: int) -> Tensor:
        """The slice at one position of an axis; the tensor itself when it has no such axis."""
        if axis not in self.axes:
            return self
        i = self.axes.index(axis)
        return Tensor(
            self.axes[:i] + self.axes[i + 1 :], np.asarray(self.values.take(position, axis=i))
        )

    def opened(self, group: str, members: Sequence[str]) -> Tensor:
        """The axis of a group's subsets as one axis for each member, the lowest bit last."""
        i = self.axes.index(group)
        shape = self.values.shape
        values = self.values.reshape(*shape[:i], *(2 for _ in members), *shape[i + 1 :])
        return Tensor((*self.axes[:i], *reversed(members), *self.axes[i + 1 :]), values)

    def ordered(self, axes: Sequence[str]) -> Array:
        """The values with exactly these axes; an axis it lacks gets length 1."""
        present = [a for a in axes if a in self.axes]
        values = self.values.transpose([self.axes.index(a) for a in present])
        shape = [self.size(a) if a in self.axes else 1 for a in axes]
        return values.reshape(shape)


def batched(values: Array, axes: Sequence[str]) -> Tensor:
    """A tensor from an array whose first two axes are subject and setting."""
    named = [*BATCH, *axes]
    keep = [i for i in range(values.ndim) if i > 1 or values.shape[i] > 1]
    index: list[Any] = [slice(None) if i in keep else 0 for i in range(values.ndim)]
    return Tensor(tuple(named[i] for i in keep), values[tuple(index)])


def contract(tensors: Sequence[Tensor], keep: Iterable[str]) -> Tensor:
    """Multiply the tensors and sum out every axis that is not kept."""
    present = {a for t in tensors for a in t.axes}
    out = tuple(a for a in keep if a in present)
    if not tensors:
        return Tensor((), np.asarray(1.0))
    expression = _expression(tuple(t.axes for t in tensors), out,
                             tuple(t.values.shape for t in tensors))  # fmt: skip
    return Tensor(out, np.asarray(expression(*(t.values for t in tensors))))


def refuse_contraction(
    tensors: Sequence[tuple[str, ...]], keep: Iterable[str], sizes: Mapping[str, int]
) -> None:
    """Refuse now what `contract` would refuse; otherwise it finds its path ready."""
    present = {a for axes in tensors for a in axes}
    out = tuple(a for a in keep if a in present)
    if tensors:
        shapes = tuple(tuple(sizes[a] for a in axes) for axes in tensors)
        _expression(tuple(tensors), out, shapes)


def rows_of(columns: Mapping[str, Any]) -> int:
    """How many subjects, or settings, columns of them are of: those of one number are of any."""
    return max((len(values) for values in columns.values()), default=1)


def refuse_wide(axes: Sequence[str], sizes: Mapping[str, int], what: str) -> None:
    """Refuse an array that does not fit the budget."""
    numbers = prod(sizes[a] for a in axes)
    if numbers > BUDGET:
        nodes = [a for a in axes if a not in BATCH]
        raise TooLarge(
            f"{what} would be one table over {len(nodes)} nodes ({a_dozen(nodes)}): "
            f"{numbers:,} numbers ({_memory(numbers)}), and this stops at {BUDGET:,} "
            f"({_memory(BUDGET)}). Give evidence on some of them, let fewer nodes meet "
            f"in one, or {DRAWN}",
            numbers=numbers,
        )


def _refuse_long(work: int, widest: Sequence[str]) -> None:
    """Refuse what fits in memory and would still take hours, for one subject at one setting."""
    if work > MOST_WORK:
        among = ", ".join(a for a in widest if a not in BATCH)
        raise TooLarge(
            f"the exact answer takes about {work:,} multiplications for one subject at one "
            f"setting, and this stops at {MOST_WORK:,}: the most meet at {among}. Give evidence on "
            f"some of them, let fewer nodes meet in one, or {DRAWN}"
        )


def _memory(numbers: int) -> str:
    return f"{8 * numbers / 2**30:,.3g} GiB"


@lru_cache(maxsize=512)
def _expression(
    axes: tuple[tuple[str, ...], ...],
    out: tuple[str, ...],
    shapes: tuple[tuple[int, ...], ...],
) -> Any:
    """A compiled contraction whose tables all fit the budget."""
    if len(axes) > MOST_TABLES:
        raise TooLarge(
            f"the exact answer stands on {len(axes):,} tables, and this stops at {MOST_TABLES:,}. "
            f"Give evidence nearer to what is asked, or {DRAWN}"
        )
    sizes = {a: n for names, shape in zip(axes, shapes, strict=True)
             for a, n in zip(names, shape, strict=True)}  # fmt: skip
    symbols = {a: opt_einsum.get_symbol(i) for i, a in enumerate(sizes)}
    terms = ",".join("".join(symbols[a] for a in names) for names in axes)
    equation = f"{terms}->{''.join(symbols[a] for a in out)}"
    # `auto` never falls into the slow exhaustive path search.
    path, _ = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize="auto")
    widest, work = largest(axes, out, sizes, path)
    if prod(sizes[a] for a in widest) > COMFORTABLE:
        other = by_elimination(axes, out, sizes)
        ways = [(path, widest, work), (other, *largest(axes, out, sizes, other))]
        if work > LONG:
            other = _by_many_tries(equation, shapes)
            ways.append((other, *largest(axes, out, sizes, other)))
        least = min(prod(sizes[a] for a in way[1]) for way in ways)
        ways = [way for way in ways if prod(sizes[a] for a in way[1]) <= max(least, SPACIOUS)]
        path, widest, work = min(ways, key=itemgetter(2))
    refuse_wide(widest, sizes, "On the way to the exact answer there")
    _refuse_long(work // prod(sizes.get(a, 1) for a in BATCH), widest)
    path = path or [tuple(range(len(axes)))]  # of one table
    if not {*BATCH} & {*sizes}:
        return opt_einsum.contract_expression(equation, *shapes, optimize=path)
    return _Steps(axes, out, sizes, path)


class _Steps:
    """The same pair by pair, with the subjects and settings last in every table on the way.

    Of tables over yes/no nodes an inner loop over subjects is ten times and more as fast as one
    over two states.
    """

    def __init__(
        self, axes: Sequence[Axes], out: Axes, sizes: Mapping[str, int], path: Any
    ) -> None:
        terms, self.steps = [_batch_last(names) for names in axes], []
        for places in path:
            some = [terms.pop(i) for i in sorted(places, reverse=True)]
            left = {*out}.union(*terms)
            kept = _batch_last(a for a in dict.fromkeys(chain(*some)) if a in left)
            at = {a: opt_einsum.get_symbol(i) for i, a in enumerate(dict.fromkeys(chain(*some)))}
            said = ["".join(at[a] for a in names) for names in (*some, kept)]
            shapes = [tuple(sizes[a] for a in names) for names in some]
            step = opt_einsum.contract_expression(f"{','.join(said[:-1])}->{said[-1]}", *shapes)
            self.steps.append((sorted(places, reverse=True), step))
            terms.append(kept)
        self.moved = [[names.index(a) for a in _batch_last(names)] for names in axes]
        self.last = [terms[0].index(a) for a in out]

    def __call__(self, *values: Array) -> Array:
        tables = [np.asarray(v.transpose(order), order="C")
                  for v, order in zip(values, self.moved, strict=True)]  # fmt: skip
        for places, step in self.steps:
            tables.append(step(*(tables.pop(i) for i in places)))
        return np.asarray(tables[0]).transpose(self.last)


def _batch_last(names: Iterable[str]) -> Axes:
    return tuple(sorted(names, key=BATCH.__contains__))


def _by_many_tries(equation: str, shapes: tuple[tuple[int, ...], ...]) -> Any:
    """The best of some greedy paths with chance in them; always the same ones."""
    before = random.getstate()  # each try seeds the common generator
    try:
        how = opt_einsum.RandomGreedy(max_repeats=TRIES, minimize="flops")
        return opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=how)[0]
    finally:
        random.setstate(before)
