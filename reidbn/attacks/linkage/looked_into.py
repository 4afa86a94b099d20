"""A curve looked into: which facts single people out, and whether what is predicted happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.linkage.result import Linkage
from reidbn.attacks.linkage.truth import acted_out
from reidbn.microdata.sparse import Sparse
from reidbn.release.counts import BASE
from reidbn.theory.agreement import clustered_interval

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_ROWS, MOST_COLUMNS = 30, 10
PEOPLE, DRAWS = 300, 100  # of the facts that single people out
ACTED, TRIES, BINS = 20, 50, 10  # of what is acted out


@dataclass(frozen=True, eq=False)
class ByFact:
    """Per part of a record and number of facts, the chance of people of whom it is among them."""

    rows: Sequence[str]
    ks: Sequence[int]
    each: Sequence[Sequence[Array]]
    """A value per person who has such a fact: rows x numbers of facts."""


def by_fact(result: Linkage, *, seed: int = 0) -> ByFact | None:
    """How likely k facts single people out where one is of a section, or is a feature.

    Drawn; None where facts are chosen by the attacker or known by chance, so that none are drawn.
    """
    curves = result.curves
    if not result.ks or curves.order != "random":
        return None
    names, part = _parts(result.sparse, curves.agreement.sparse)
    ks = result.ks[:: -(-len(result.ks) // MOST_COLUMNS)]
    drawing = replace(curves, ks=tuple(ks), draws=DRAWS)
    own = np.array([part[features[0]] for features in curves.agreement.facts])
    found: list[list[list[float]]] = [[[] for _ in ks] for _ in names]
    for person in _some(result, PEOPLE, seed):
        facts, sets = curves.agreement.sets(person, curves.allowed)
        rng = np.random.default_rng((seed, person, 4))
        if not facts.size:
            continue
        orders = drawing.orders(facts, rng)
        won = drawing.outcomes(facts, sets, orders, person)
        parts = own[facts[orders]]
        for row in np.unique(parts[parts >= 0]).tolist():
            known = np.maximum.accumulate(parts == row, axis=1)
            for column, k in enumerate(np.minimum(ks, facts.size) - 1):
                if (some := known[:, k]).any():
                    found[row][column].append(float(won[some, column].mean()))
    kept = [i for i, cells in enumerate(found) if any(cells)]
    each = [[np.array(cell) for cell in found[i]] for i in kept]
    return ByFact([names[i] for i in kept], ks, each) if kept else None


def _parts(sparse: Sparse, matched: Sparse) -> tuple[list[str], Ints]:
    """The rows, and the row of each feature that is matched: sections, or features one by one."""
    sections = list(dict.fromkeys(one.section for one in sparse.schema if one.section))
    if sections:
        of = {one.name: one.section for one in sparse.schema}
        names = sections[:MOST_ROWS]
    else:
        of = {name: name for name in sparse.names}
        order = np.argsort(-(sparse.records // BASE), kind="stable")[:MOST_ROWS]
        names = [sparse.names[j] for j in np.sort(order)]
    place = {name: i for i, name in enumerate(names)}
    return names, np.array([place.get(of.get(name, ""), -1) for name in matched.names])


def _some(result: Linkage, most: int, seed: int) -> list[int]:
    """Some of the people who were asked about."""
    people = np.arange(len(result.sparse)) if result.individuals is None else result.individuals
    rng = np.random.default_rng((seed, 5))
    some: list[int] = np.sort(rng.permutation(people)[:most]).tolist()
    return some


@dataclass(frozen=True)
class Bin:
    """Attempts of people who were told about as high a chance."""

    predicted: float
    happened: float
    low: float
    high: float
    attempts: int


def acted_in_bins(result: Linkage, *, seed: int = 0) -> list[Bin]:
    """Some people's chances acted out on the table's own values, in bins of what was told.

    None where facts are not drawn alike likely: nothing is acted out there.
    """
    curves = result.curves
    if not result.ks or curves.order != "random" or curves.weights is not None:
        return []
    rows = np.arange(len(result.success))
    rng = np.random.default_rng((seed, 6))
    chosen = np.sort(rng.permutation(rows)[:ACTED])
    people = rows if result.individuals is None else result.individuals
    columns = np.unique(np.linspace(0, len(result.ks) - 1, 5).astype(int))
    asked = replace(curves, ks=tuple(result.ks[i] for i in columns))
    hits = np.stack([acted_out(asked, int(people[row]), TRIES, rng) for row in chosen])
    told = result.success[np.ix_(chosen, columns)]
    place = np.minimum((told * BINS).astype(int), BINS - 1)
    return [_bin(told, hits, place == i) for i in range(BINS) if (place == i).any()]


def _bin(told: Array, hits: NDArray[Any], inside: NDArray[np.bool_]) -> Bin:
    who = inside.any(axis=1)
    each = inside[who].sum(axis=1) * TRIES
    own = np.where(inside, hits, 0)[who].sum(axis=1)
    low, high = clustered_interval(own, each)
    total = int(each.sum())
    return Bin(float(told[inside].mean()), float(own.sum() / total), low, high, total)
