"""Tensors with named axes, and their contraction.

The names are nodes, groups, and the two batch axes SUBJECT and SETTING; a batch axis of length 1
is dropped, so that what does not depend on it costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import opt_einsum
from numpy.typing import NDArray

Array = NDArray[np.float64]
SUBJECT, SETTING = "<subject>", "<setting>"
BATCH = (SUBJECT, SETTING)


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


@lru_cache(maxsize=512)
def _expression(
    axes: tuple[tuple[str, ...], ...],
    out: tuple[str, ...],
    shapes: tuple[tuple[int, ...], ...],
) -> Any:
    """A compiled contraction; `auto` never falls into the slow exhaustive path search."""
    symbols: dict[str, str] = {}
    for names in axes:
        for name in names:
            symbols.setdefault(name, opt_einsum.get_symbol(len(symbols)))
    terms = ",".join("".join(symbols[a] for a in names) for names in axes)
    equation = f"{terms}->{''.join(symbols[a] for a in out)}"
    return opt_einsum.contract_expression(equation, *shapes, optimize="auto")
