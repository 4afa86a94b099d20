"""Groups collapse: what a group of b yes/no nodes tells the rest, summed over all 2^b subsets.

The children of a group meet the rest of the network through a small message,

    m(children, other parents | outside) = sum_Y  prod_j P(Y_j | outside)  prod_c P(c | Y, others)

computed exactly and without any table over several children at once: for each combination of the
children's states the products run over plain arrays of length 2^b.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from reidbn.inference.tensors import SETTING, SUBJECT, Array, Tensor, batched

BLOCK = 1 << 15  # numbers in one working array: a few of them stay in the processor's cache


def subset_weights(
    members: Sequence[Tensor], outside: Sequence[str], sizes: Sequence[int]
) -> Array:
    """P(Y | outside) for every subset of the given members: axes subject, setting, outside, subset.

    Each tensor is P(member | outside) with the member's own axis last, its states no and yes.
    """
    weights: Array = np.ones((1, 1, 1, 1))
    for tensor in members:
        member = tensor.axes[-1]
        values = tensor.ordered([SUBJECT, SETTING, *outside, member])
        full = np.broadcast_to(values, (*values.shape[:2], *sizes, 2))
        p = full.reshape(*values.shape[:2], -1, 2)
        weights = np.concatenate([weights * p[..., :1], weights * p[..., 1:]], axis=-1)
    return weights


def joint_weights(weights: Tensor, members: Sequence[str], outside: Sequence[str]) -> Array:
    """P(Y | outside) from a tensor with an axis per member: axes as those of `subset_weights`."""
    values = weights.ordered([SUBJECT, SETTING, *outside, *reversed(members)])
    return values.reshape(*values.shape[:2], -1, 1 << len(members))


def collapse(
    group: str,
    children: Sequence[Tensor],
    weights: Array,
    outside: Sequence[str],
    outside_sizes: Sequence[int],
    fixed: Mapping[int, int],
) -> Tensor:
    """The message of a group's free members, the members in `fixed` having the given bits.

    `children` are the factors with the group's axis; `weights` are P(subset of the free members |
    outside), the lowest bit fastest.  The result has the axes subject, setting, outside, and every
    other axis of the children.
    """
    bits = weights.shape[-1].bit_length() - 1 + len(fixed)
    chosen = _subsets(bits, fixed)
    others = tuple(dict.fromkeys(
        a for t in children for a in t.axes if a not in (SUBJECT, SETTING, group)
    ))  # fmt: skip
    sizes = {a: t.size(a) for t in children for a in t.axes}
    tables = [_table(t, group, others, chosen) for t in children]
    subjects = max([weights.shape[0], *(t.shape[0] for t in tables)])
    settings = max([weights.shape[1], *(t.shape[1] for t in tables)])
    shape = tuple(sizes[a] for a in others)
    out = np.empty((subjects, settings, weights.shape[2], *shape))
    at_once = BLOCK << 4 if _is_product(weights, tables) else BLOCK
    step = max(1, at_once // max(1, len(weights[0, 0, 0])))
    for start in range(0, subjects, step):
        block = slice(start, start + step)
        part = [t[block] if len(t) > 1 else t for t in tables]
        w = weights[block] if len(weights) > 1 else weights
        _combine(out[block], w, part, [set(t.axes) for t in children], others, shape)
    result = out.reshape(subjects, settings, *outside_sizes, *shape)
    return batched(result, (*outside, *others))


def _subsets(bits: int, fixed: Mapping[int, int]) -> np.ndarray | None:
    """The subsets that agree with the fixed bits, in order; None means all of them."""
    if not fixed:
        return None
    masks = np.arange(1 << bits)
    agree = np.ones(len(masks), dtype=bool)
    for bit, value in fixed.items():
        agree &= ((masks >> bit) & 1) == value
    return np.flatnonzero(agree)


def _table(tensor: Tensor, group: str, others: Sequence[str], chosen: np.ndarray | None) -> Array:
    """A child's table with the axes subject, setting, others..., subset."""
    values = tensor.ordered([SUBJECT, SETTING, *others, group])
    return values if chosen is None else values[..., chosen]


def _combine(
    out: Array,
    weights: Array,
    tables: Sequence[Array],
    axes: Sequence[set[str]],
    others: Sequence[str],
    shape: tuple[int, ...],
) -> None:
    """Fill `out` (subject, setting, outside, others) for one block of subjects.

    The tables are multiplied one after another; a partial product is shared between all
    combinations that agree on what it depends on.  Weights that depend on neither setting nor
    outside go in first, so that the last table needs no product of its own, only a dot.
    """
    early = weights.shape[1] == weights.shape[2] == 1
    first = [weights[:, :, 0, :]] if early else []
    needs = [[i for i, a in enumerate(others) if any(a in axes[j] for j in range(n + 1))]
             for n in range(len(tables))]  # fmt: skip
    shared: list[tuple[tuple[int, ...], Array | None]] = [((), None)] * len(tables)
    until = len(tables) - 1 if early else len(tables)
    for case in product(*(range(n) for n in shape)):
        running: Array | None = first[0] if early else None
        for n in range(until):
            key = tuple(case[i] for i in needs[n])
            if shared[n][1] is None or shared[n][0] != key:
                piece = _slice(tables[n], case, axes[n], others)
                shared[n] = (key, piece if running is None else running * piece)
            running = shared[n][1]
        assert running is not None  # noqa: S101 - the weights, or at least one table
        if early:
            piece = _slice(tables[-1], case, axes[-1], others)
            out[_where(case, 0)] = np.vecdot(running, piece)
        elif _is_product(weights, [running]):
            found = running[:, 0, :] @ weights[0].reshape(-1, weights.shape[-1]).T
            out[_where(case, slice(None))] = found.reshape(-1, *weights.shape[1:3])
        else:
            out[_where(case, slice(None))] = np.vecdot(running[:, :, None, :], weights)


def _is_product(weights: Array, tables: Sequence[Array]) -> bool:
    """Whether people differ in the tables alone and settings in the weights: one matrix product."""
    several = weights.shape[1] * weights.shape[2] > 1
    return several and weights.shape[0] == 1 and all(t.shape[1] == 1 for t in tables)


def _where(case: tuple[int, ...], outside: Any) -> Any:
    return (slice(None), slice(None), outside, *case)


def _slice(table: Array, case: tuple[int, ...], axes: set[str], others: Sequence[str]) -> Array:
    """P(its state | its parents, subset) of one combination: subject, setting, subset."""
    index: Any = tuple(c if a in axes else 0 for c, a in zip(case, others, strict=True))
    where: Any = (slice(None), slice(None), *index)
    out: Array = table[where]
    return out
