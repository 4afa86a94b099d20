"""Linkage acted out on the table's own values: draw facts, look for who fits, see who is named.

Nothing here uses bitsets, sorted columns or faces: every cell is compared by the definition.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.linkage.curves import Curves
from reidbn.microdata.agree import Agreement
from reidbn.microdata.sparse import DATE, NUMBER, YEAR

Ints = NDArray[np.int64]
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
                mine = labels[sparse.codes[here][own[0]]]
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
    rows, codes = sparse.rows[here], sparse.codes[here]
    own = codes[rows == person]
    others = np.flatnonzero((rows != person) & ~np.isin(codes, own))
    fits = np.zeros(sparse.people, dtype=bool)
    if others.size:
        labels = sparse.labels[j].tolist()
        value = labels[codes[rng.choice(others)]]
        same = np.array([_agrees(found, sparse.schema[j].kind, value, x) for x in labels])
        fits[rows] = same[codes]
    return fits


def _agrees(found: Agreement, kind: str, mine: Any, other: Any) -> bool:
    """The definition of a match of two known values."""
    if found.match in ("present", "modal") or mine == other:
        return True
    if found.match != "tolerance" or kind not in (NUMBER, YEAR, DATE):
        return False
    if kind == NUMBER:
        a, b = Fraction(str(mine)), Fraction(str(other))
        return abs(b - a) <= Fraction(str(found.tolerance)) * abs(a)
    if kind == YEAR:
        return bool(abs(mine - other) <= Fraction(str(found.years)))
    return bool(abs((mine - other).days) <= Fraction(str(found.years)) * _DAYS)


def acted_out(curves: Curves, person: int, draws: int, rng: np.random.Generator) -> Ints:
    """How often the attacker succeeds who knows any k facts of a person, for each k asked."""
    facts, fits = fits_of(curves.agreement, person)
    if curves.allowed is not None:
        here = curves.allowed[facts]
        facts, fits = facts[here], fits[here]
    hits = np.zeros(len(curves.ks), dtype=np.int64)
    if not facts.size:
        return hits
    others = np.arange(fits.shape[1]) != person
    for _ in range(draws):
        order = rng.permutation(facts.size)
        for i, k in enumerate(curves.ks):
            known = order[:k]
            hits[i] += _succeeds(curves, fits[known], facts[known], others, rng)
    return hits


def _succeeds(
    curves: Curves, fits: NDArray[np.bool_], facts: Ints, others: NDArray[np.bool_],
    rng: np.random.Generator,
) -> bool:  # fmt: skip
    scores = fits.sum(axis=0)
    rivals = scores[others]
    alike = int((rivals == len(fits)).sum())
    if curves.rule in ("best", "threshold"):
        return alike == 0
    if curves.rule == "lineup":
        return alike + 1 <= curves.lineup
    if curves.rule == "guess":
        return bool(rng.integers(alike + 1) == 0)
    if curves.rule == "separated":
        return bool(rivals.size == 0 or rivals.max() <= curves.share * len(fits))
    weight = np.array([1 / np.log(max(2, curves.support[j])) for j in facts])
    scored = weight @ fits
    ranked = np.sort(scored)[::-1]
    own = float(scored[~others][0])
    second = ranked[1] if ranked.size > 1 else -1.0
    gap = own - second
    return bool(alike == 0 and gap > 1e-9 and gap >= curves.phi * scored.std())
