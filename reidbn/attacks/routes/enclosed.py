"""Between what numbers a risk lies by the class of a person alone, where it follows from none.

What is known for sure leaves one way to be alike.  A risk g(size of the class, P(unique in the
population)) then still follows from no class where

- a model of the population tells people of one class apart: everybody who is alone in the table is
  taken to be nobody's like, and everybody's, in the population; E[1/F] is at most 1/f, and
- cells match what they are not equal to: f people who may match are at least those written alike.

Both ends are worked out by class size, so they tell nothing that the classes do not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.linkage.columns import rows_of
from reidbn.attacks.routes.assessment import MATCH, Assessment
from reidbn.attacks.routes.blocks import risks
from reidbn.attacks.routes.readings import asks_the_population
from reidbn.attacks.routes.subject_data import CLASS_SIZE, P_UNIQUE, SubjectTable
from reidbn.inference.query import Query

Array = NDArray[np.float64]


def enclosed(result: Assessment) -> tuple[tuple[Array, Array, Array], ...]:
    """Each risk that follows from no class, with the least and the most that it can be.

    Empty of what is known with a chance, by which there is more than one class.
    """
    known = result.known_classes
    if known is None or _is_everybody(result):
        return ()
    sizes, of = np.unique(known, return_inverse=True)
    return tuple(
        (result.risk(name), low[of], high[of]) for name, low, high in _by_size(result, sizes)
    )


def _is_everybody(result: Assessment) -> bool:
    """Whether the table is the whole population, in which classes are the same."""
    people = result.population
    return people is not None and people.population == len(result.table) and _is_parted(result)


def _is_parted(result: Assessment) -> bool:
    return bool(rows_of(result.table).is_partition)


def _by_size(result: Assessment, sizes: NDArray[np.int64]) -> Iterator[tuple[str, Array, Array]]:
    nothing, all_ = np.zeros(len(sizes)), np.ones(len(sizes))
    parted = _is_parted(result)
    for name in result.measures:
        if name == MATCH:
            yield name, nothing, 1 / sizes
            continue
        query = result.questions[name]
        hangs = asks_the_population(result, query)
        if parted and not hangs:
            continue
        if hangs and not asks_the_population(result, query, only=P_UNIQUE):
            yield name, nothing, all_
            continue
        ends = [
            _asked(result, query, sizes, unique) for unique in ((0.0, 1.0) if hangs else (0.0,))
        ]
        yield name, np.minimum.reduce(ends) if parted else nothing, np.maximum.reduce(ends)


def _asked(result: Assessment, query: Query, sizes: NDArray[np.int64], unique: float) -> Array:
    """The risk by class size, where who is alone is so in the population with this chance."""
    table, columns = result.subject_table, {}
    by_size = {CLASS_SIZE: sizes, P_UNIQUE: unique * (sizes == 1)}
    for name in result.attack.subject:
        own = by_size.get(name)
        if own is None:
            columns[name] = np.asarray(table.columns[name])[:1]
            continue
        shape = np.shape(table.columns[name])[1:]
        columns[name] = np.broadcast_to(own.reshape(-1, *[1] * len(shape)), (len(sizes), *shape))
    made = SubjectTable(columns, np.arange(len(sizes), dtype=np.intp))
    return risks(result.attack, query, result.inputs.set, made)
