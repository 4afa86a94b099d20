"""Class sizes of chosen rows on every subset: the walk over the lattice, following those rows.

The walk is that of walk.py; each followed row remembers where it is among the node's rows.
A row that is alone leaves with size 1 on all larger subsets, and where no followed row is left the
walk goes back.  So people can be looked at some after others without 2^b partitions each time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reidbn.microdata.classes import Ints
from reidbn.microdata.lattice import Lattice, Node, Rows

_AT_ONCE = 1 << 21  # sizes looked up at a time


def sizes_of_rows(rows: Rows, wanted: Ints) -> NDArray[np.uint32]:
    """Class sizes of some distinct rows on every subset: rows x 2^b, column = mask.

    >>> from reidbn.microdata.lattice import distinct_rows
    >>> rows = distinct_rows(np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32), (2, 2))
    >>> sizes_of_rows(rows, np.array([0])).tolist()
    [[3, 2, 1, 1]]
    """
    lattice = Lattice(rows)
    found = np.ones((lattice.masks.size, wanted.size), dtype=np.uint32)
    _visit(lattice, lattice.root(), np.arange(wanted.size), np.asarray(wanted), found)
    return np.ascontiguousarray(found.T)


def _visit(lattice: Lattice, node: Node, who: Ints, at: Ints, found: NDArray[np.uint32]) -> None:
    """Fill in the subsets below a node for the followed rows that are at rows `at` of it."""
    if lattice.is_last(node):
        _finish(lattice, node, who, at, found)
        return
    child, first = lattice.drop(node)
    _visit(lattice, child, who, (np.cumsum(first) - 1)[at], found)
    child, rows, _ = lattice.keep(node)
    place = np.full(node.kid.size, -1, dtype=np.int64)
    place[rows] = np.arange(rows.size)
    later = place[at]
    stay = later >= 0
    if stay.any():
        _visit(lattice, child, who[stay], later[stay], found)


def _finish(lattice: Lattice, node: Node, who: Ints, at: Ints, found: NDArray[np.uint32]) -> None:
    cells = lattice.block(node).cells
    masks = lattice.masks[lattice.below(node)]
    step = max(1, _AT_ONCE // masks.size)
    for start in range(0, who.size, step):
        some = at[start : start + step]
        sid, kid = node.sid[some], node.kid[some]
        columns = np.zeros((1, some.size), dtype=np.int64)
        for level in range(node.level, lattice.rows.groups):
            span = lattice.span[level + 1]
            kept = columns + lattice.digit[level][sid].astype(np.int64) * span
            dropped = columns + lattice.size[level] * span
            columns = np.stack((dropped, kept), axis=1).reshape(-1, some.size)
            sid = lattice.up[level][sid]
        found[np.ix_(masks, who[start : start + step])] = cells[columns, kid]
