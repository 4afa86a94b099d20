"""Linkage acted out on the table's own values: draw facts, look for who fits, see who is named.

Nothing here uses bitsets, sorted columns or faces: every cell is compared by the definition.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.linkage.curves import Curves
from reidbn.microdata.agree import Agreement
from reidbn.microdata.kinds import DATE, NUMBER, YEAR

Ints = NDArray[np.int64]
Chosen: TypeAlias = tuple[float, bool]  # a chance, and whether every choice was tried
_DAYS = Fraction(1461, 4)  # in a year


def fits_of(found: Agreement, person: int) -> tuple[Ints, NDArray[np.bool_]]:
    """The facts known of a person, and who fits each of them: facts x people."""
    sparse = found.sparse
    facts, rows = [], []
    for number, features in enumerate(found.facts):
        held, fits = False, np.ones(sparse.people, dtype=bool)
        for j in features:
            here = slice(sparse.start[j], sparse.start[j + 1])
            own = np.flatnonzero(sparse.rows[here] == person)
            if own.size:
                held = True
                labels = sparse.labels[j].tolist()
                known = sparse.as_known
                mine = known.labels[j].tolist()[known.codes[here][own[0]]]
                same = np.array([_agrees(found, sparse.schema[j].kind, mine, x) for x in labels])
                of = np.zeros(sparse.people, dtype=bool)
                of[sparse.rows[here]] = same[sparse.codes[here]]
                fits &= of
        if held:
            facts.append(number)
            rows.append(fits)
    if not facts:
        return np.empty(0, dtype=np.int64), np.empty((0, sparse.people), dtype=bool)
    return np.array(facts), np.stack(rows)


def fits_value(
    found: Agreement, fact: int, person: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Whom another person's value of a fact fits; nobody where no other has another value."""
    sparse, j = found.sparse, found.facts[fact][0]
    here = slice(sparse.start[j], sparse.start[j + 1])
    known = sparse.as_known
    rows, codes = sparse.rows[here], known.codes[here]
    own = codes[rows == person]
    others = np.flatnonzero((rows != person) & ~np.isin(codes, own))
    fits = np.zeros(sparse.people, dtype=bool)
    if others.size:
        value = known.labels[j].tolist()[codes[rng.choice(others)]]
        shown = sparse.labels[j].tolist()
        same = np.array([_agrees(found, sparse.schema[j].kind, value, x) for x in shown])
        fits[rows] = same[sparse.codes[here]]
    return fits


def _agrees(found: Agreement, kind: str, mine: Any, other: Any) -> bool:
    """The definition of a match of two known values."""
    if found.match in ("present", "modal") or mine == other:
        return True
    if kind not in (NUMBER, YEAR, DATE) or not found.reach[kind != NUMBER]:
        return False
    share, years = (Fraction(str(far)) for far in found.reach)
    if kind == NUMBER:
        a, b = Fraction(str(mine)), Fraction(str(other))
        return abs(b - a) <= share * abs(a)
    if kind == YEAR:
        return bool(abs(mine - other) <= years)
    return bool(abs((mine - other).days) <= years * _DAYS)


def acted_out(curves: Curves, person: int, draws: int, rng: np.random.Generator) -> Ints:
    """How often the attacker succeeds who knows any k facts of a person, for each k asked."""
    facts, fits = _may_be_known(curves, person)
    hits = np.zeros(len(curves.ks), dtype=np.int64)
    for _ in range(draws):
        order = rng.permutation(facts.size)
        for i, k in enumerate(curves.ks):
            hits[i] += rng.random() < _chance(curves, facts, fits, person, order[:k])
    return hits


def chosen(curves: Curves, person: int, draws: int, rng: np.random.Generator) -> list[Chosen]:
    """The chance of success of an attacker who chooses the facts, for each k asked.

    Of the best choice every one is tried, or so many `draws` of them where there are more.
    """
    facts, fits = _may_be_known(curves, person)
    found: list[Chosen] = []
    for k in (min(k, facts.size) for k in curves.ks):
        every = curves.order != "optimal" or comb(facts.size, k) <= draws
        tries: Iterable[Any] = [_in_order(curves, facts, fits)[:k]]
        if curves.order == "optimal" and every:
            tries = map(list, combinations(range(facts.size), k))
        elif curves.order == "optimal":
            tries = (rng.permutation(facts.size)[:k] for _ in range(draws))
        found.append((max(_chance(curves, facts, fits, person, one) for one in tries), every))
    return found


def _in_order(curves: Curves, facts: Ints, fits: NDArray[np.bool_]) -> Ints:
    """The facts in the order of choice, fact by fact; of equals, the first."""
    if curves.order == "rarest":
        return np.array(sorted(range(facts.size), key=lambda i: curves.support[facts[i]]), int)
    order: list[int] = []
    left = np.ones(fits.shape[1], dtype=bool)
    while len(order) < facts.size:
        rest = [i for i in range(facts.size) if i not in order]
        order.append(min(rest, key=lambda i: int((left & fits[i]).sum())))
        left &= fits[order[-1]]
    return np.array(order, dtype=np.int64)


def _may_be_known(curves: Curves, person: int) -> tuple[Ints, NDArray[np.bool_]]:
    facts, fits = fits_of(curves.agreement, person)
    here = slice(None) if curves.allowed is None else curves.allowed[facts]
    return facts[here], fits[here]


def _chance(curves: Curves, facts: Ints, fits: NDArray[np.bool_], person: int, known: Any) -> float:
    """The chance of success of somebody who knows these facts of a person."""
    if not len(known) and curves.rule not in ("guess", "lineup"):
        return 0.0  # nobody is named of whom nothing is known
    facts, fits = facts[known], fits[known]
    others = np.arange(fits.shape[1]) != person
    scores = fits.sum(axis=0)
    rivals = scores[others]
    alike = int((rivals == len(fits)).sum())
    if curves.rule in ("best", "threshold"):
        return float(alike == 0)
    if curves.rule == "lineup":
        return float(alike + 1 <= curves.lineup)
    if curves.rule == "guess":
        return 1 / (alike + 1)
    if curves.rule == "separated":
        return float(rivals.size == 0 or rivals.max() <= curves.share * len(fits))
    weight = np.array([1 / np.log(max(2, curves.support[j])) for j in facts])
    scored = weight @ fits
    ranked = np.sort(scored)[::-1]
    own = float(scored[~others][0])
    second = ranked[1] if ranked.size > 1 else -1.0
    gap = own - second
    return float(alike == 0 and gap > 1e-9 and gap >= curves.phi * scored.std())
