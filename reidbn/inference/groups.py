"""Groups collapse: what a group of b yes/no nodes tells the rest, summed over all 2^b subsets.

The children of a group meet the rest of the network through a small message,

    m(children, other parents | outside) = sum_Y  prod_j P(Y_j | outside)  prod_c P(c | Y, others)

computed exactly and without any table over several children at once: for each combination of the
children's states the products run over plain arrays of length 2^b.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

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


def collapse(
    group: str,
    children: Sequence[Tensor],
    members: Sequence[Tensor],
    outside: Sequence[str],
    outside_sizes: Sequence[int],
    fixed: Mapping[int, int],
) -> Tensor:
    """The message of a group's free members, the members in `fixed` having the given bits.

    `children` are the factors with the group's axis; `members` are P(member | outside) of the free
    members, lowest bit first.  The result has the axes subject, setting, outside, and every other
    axis of the children.
    """
    bits = len(members) + len(fixed)
    chosen = _subsets(bits, fixed)
    others = tuple(dict.fromkeys(
        a for t in children for a in t.axes if a not in (SUBJECT, SETTING, group)
    ))  # fmt: skip
    sizes = {a: t.size(a) for t in children for a in t.axes}
    tables = [_table(t, group, others, chosen) for t in children]
    weights = subset_weights(members, outside, outside_sizes)
    subjects = max([weights.shape[0], *(t.shape[0] for t in tables)])
    settings = max([weights.shape[1], *(t.shape[1] for t in tables)])
    shape = tuple(sizes[a] for a in others)
    out = np.empty((subjects, settings, weights.shape[2], *shape))
    step = max(1, BLOCK // max(1, len(weights[0, 0, 0])))
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

    Where the weights depend on neither setting nor outside they are multiplied in first, and
    partial products are shared between the combinations that agree on the first children.
    """
    single = weights.shape[1] == weights.shape[2] == 1
    start = weights[:, :, 0, :] if single else None
    last = len(tables) - 1
    partial: list[tuple[tuple[int, ...], Array | None]] = [((), None)] * len(tables)
    for case in product(*(range(n) for n in shape)):
        running = start
        for i, table in enumerate(tables):
            key = tuple(c for c, a in zip(case, others, strict=True)
                        if any(a in axes[j] for j in range(i + 1)))  # fmt: skip
            if i == last and single:
                break
            if partial[i][1] is None or partial[i][0] != key:
                piece = _slice(table, case, axes[i], others)
                partial[i] = (key, piece if running is None else running * piece)
            running = partial[i][1]
        if single:
            piece = _slice(tables[last], case, axes[last], others)
            assert running is not None  # noqa: S101 - the weights at least
            out[(slice(None), slice(None), 0, *case)] = np.vecdot(running, piece)
        else:
            assert running is not None  # noqa: S101 - there is at least one child
            out[(slice(None), slice(None), slice(None), *case)] = np.vecdot(
                running[:, :, None, :], weights
            )


def _slice(table: Array, case: tuple[int, ...], axes: set[str], others: Sequence[str]) -> Array:
    """A child's P(its state | its parents, subset) for one combination: subject, setting, subset."""
    index = tuple(c if a in axes else 0 for c, a in zip(case, others, strict=True))
    out: Array = table[(slice(None), slice(None), *index)]
    return out
