"""One person's curve: the chance that k of their facts single them out, for every k asked.

Exact by counting faces (theory/faces.py) as far as a budget of nodes goes, few facts first; beyond
it between bounds that are sure where failures are rarer than one in a million, else drawn, with the
Clopper-Pearson interval of each cell.  More facts than a person has are all that they have.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reidbn.microdata.agree import Agreement, members, patterns
from reidbn.theory.agreement import intervals
from reidbn.theory.faces import (
    Faces,
    chance_of_faces,
    count_faces,
    maximal,
    packed,
    union_bound,
    unpacked,
)
from reidbn.theory.singled_out import drawn_orders, failures_by_union, left_over

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Rule = Literal["best", "threshold", "lineup", "guess", "separated", "eccentricity"]
RULES = ("best", "threshold", "lineup", "guess", "separated", "eccentricity")
ORDERS = ("random", "rarest", "greedy", "optimal")
_HARDLY = Fraction(1, 10**6)  # of failures on average, below which bounds say enough
_RARE = Fraction(1, 5)  # of failures on average, up to which they are drawn where they lie


@dataclass(frozen=True, eq=False)
class PersonCurve:
    """One person's numbers, a value for each number of facts asked about."""

    success: Floats
    low: Floats
    high: Floats
    exact: NDArray[np.bool_]
    nodes: int = 0


@dataclass(frozen=True, eq=False)
class Curves:
    """What is asked of every person alike."""

    agreement: Agreement
    ks: tuple[int, ...]
    order: str = "random"
    allowed: NDArray[np.bool_] | None = None
    """The facts that may be known; None: all."""
    weights: Floats | None = None
    """How readily each fact is learnt, where not all alike."""
    chances: Floats | None = None
    """The chance that each fact is known, where facts are known independently."""
    rule: str = "best"
    lineup: int = 1
    share: Fraction = Fraction(4, 5)
    """Of `separated`: nobody else fits more than this share of the facts."""
    phi: float = 1.5
    node_budget: int = 20_000
    draws: int = 1_000
    seed: int = 0
    backwards: bool = False
    """Of facts as rare as each other, the last first: to see whether ties matter."""
    support: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """How many people each fact is known of."""

    def of(self, person: int) -> PersonCurve:
        """A person's curve."""
        facts, sets = self.agreement.sets(person, self.allowed)
        rng = np.random.default_rng((self.seed, person))
        if self.chances is not None:
            return self._by_chance(facts, sets, person, rng)
        if not facts.size:
            return _sure(np.full(len(self.ks), self._of_nothing()))
        if self.order in ("rarest", "greedy"):
            orders = self._chosen(facts, sets)[None, : max(self.ks)]
            return _sure(self.outcomes(facts, sets, orders, person)[0])
        if self.order == "optimal" and self.rule in ("best", "threshold"):
            return self._optimal(facts, sets, person)
        if self.order == "optimal":
            return self._best_choice(facts, sets, person)
        return self._random(facts, sets, person, rng)

    # -- facts drawn at random ---------------------------------------------------------------------

    def _random(
        self, facts: Ints, sets: Words, person: int, rng: np.random.Generator
    ) -> PersonCurve:
        """The exact curve where it can be counted, else drawn."""
        counted = self.rule in ("best", "threshold") and self.weights is None
        size, nodes = facts.size, 0
        found: Faces | None = None
        largest = np.empty((0, 1), dtype=np.uint64)
        if counted and self.node_budget:
            largest = maximal(patterns(sets, self.agreement.people, person)[0])
            found = count_faces(
                largest, size, deepest=max(self.ks), budget=self.node_budget, sifted=True
            )
            nodes = found.nodes
        cells = _sure(np.zeros(len(self.ks)))
        drawn = []
        for i, k in enumerate(self.ks):
            if found is not None and min(k, size) < len(found.counts):
                cells.success[i] = float(found.unique(k))
            else:
                drawn.append(i)
        cells.low[:], cells.high[:] = cells.success, cells.success
        if drawn:
            self._draw(cells, drawn, (facts, sets), largest, person, rng)
        return PersonCurve(cells.success, cells.low, cells.high, cells.exact, nodes)

    def _draw(
        self, cells: PersonCurve, places: list[int], known: tuple[Ints, Words],
        largest: Words, person: int, rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """Fill cells: from random orders, or where failures lie if these are rare."""
        facts, sets = known
        sizes, many = np.unique(np.bitwise_count(largest).sum(axis=1), return_counts=True)
        left = []
        for i in places:
            k = min(self.ks[i], facts.size)
            whole = k == facts.size  # one way to know all: no chance
            cells.exact[i] = whole
            bound = union_bound(sizes, many, facts.size, k) if len(largest) else Fraction(1)
            if whole or bound >= _RARE:
                left.append(i)
            elif bound < _HARDLY:  # what is told is what the largest set alone forbids
                least = Fraction(comb(int(sizes[-1]), k), comb(facts.size, k))
                cells.low[i] = float(1 - bound)
                cells.success[i] = cells.high[i] = float(1 - least)
            else:
                cells.success[i], cells.low[i], cells.high[i] = _rare(
                    largest, facts.size, k, self.draws, rng
                )
        if not left:
            return
        chance = self.outcomes(facts, sets, self.orders(facts, rng), person)[:, left]
        won = rng.random(chance.shape) < chance if self.rule == "guess" else chance
        hits = won.sum(axis=0).astype(np.int64)
        low, high = intervals(hits, self.draws)
        sure = cells.exact[left]
        cells.success[left] = np.where(sure, chance[0], hits / self.draws)
        cells.low[left] = np.where(sure, cells.success[left], low)
        cells.high[left] = np.where(sure, cells.success[left], high)

    def orders(self, facts: Ints, rng: np.random.Generator) -> Ints:
        """Facts in the order in which they are learnt, one row a draw."""
        if self.weights is None:
            return drawn_orders(rng, facts.size, max(self.ks), self.draws)
        waits = rng.exponential(size=(self.draws, facts.size)) / self.weights[facts]
        return np.argsort(waits, axis=1)[:, : max(self.ks)]

    # -- who wins ----------------------------------------------------------------------------------

    def _of_nothing(self) -> float:
        """The chance of success of somebody of whom no fact may be known: all fit alike."""
        people = self.agreement.people
        return {"guess": 1 / people, "lineup": float(people <= self.lineup)}.get(self.rule, 0.0)

    def outcomes(self, facts: Ints, sets: Words, orders: Ints, person: int) -> Floats:
        """The chance of success, 0 or 1 but for a guess: a row an order, a column for each k."""
        upto = np.minimum(self.ks, facts.size) - 1
        if self.rule in ("best", "threshold", "lineup", "guess"):
            others = left_over(sets, orders)[:, upto]
            if self.rule == "guess":
                return np.asarray(1 / (others + 1))
            return np.asarray(others < (self.lineup if self.rule == "lineup" else 1), dtype=float)
        fits = members(sets, self.agreement.people)
        rule = self._separated if self.rule == "separated" else self._eccentric
        found = np.empty(orders.shape)
        for row, order in enumerate(orders):
            found[row] = rule(facts[order], fits[order], person)
        return found[:, upto]

    def _separated(self, facts: Ints, fits: NDArray[np.bool_], person: int) -> NDArray[np.bool_]:
        """No other record fits more than a share of the facts [Popat25, 4.2]."""
        most = np.cumsum(fits, axis=0, dtype=np.int16).max(axis=1).astype(np.int64)
        k = np.arange(1, len(most) + 1)
        return np.asarray(most * self.share.denominator <= k * self.share.numerator)

    def _eccentric(self, facts: Ints, fits: NDArray[np.bool_], person: int) -> NDArray[np.bool_]:
        """The best score stands out from the second by phi standard deviations [NS08]."""
        weight = 1 / np.log(np.maximum(self.support[facts], 2))
        scores = np.cumsum(fits * weight[:, None], axis=0)
        top = np.cumsum(weight)
        scores[:, person] = -1.0
        second = scores.max(axis=1)
        scores[:, person] = top
        spread = scores.std(axis=1)
        return np.asarray((top - second > 1e-9) & (top - second >= self.phi * spread - 1e-9))

    # -- facts chosen by the attacker --------------------------------------------------------------

    def _chosen(self, facts: Ints, sets: Words) -> Ints:
        """All facts in the order of choice: the rarest first, or the one that leaves fewest."""
        if self.order == "rarest":
            ties = -np.arange(facts.size) if self.backwards else np.arange(facts.size)
            return np.lexsort((ties, self.support[facts]))
        left = np.full(sets.shape[1], ~np.uint64(0), dtype=np.uint64)
        order: list[int] = []
        open_ = np.ones(facts.size, dtype=bool)
        for _ in range(min(max(self.ks), facts.size)):
            counts = np.bitwise_count(sets & left).sum(axis=1, dtype=np.int64)
            counts[~open_] = np.iinfo(np.int64).max
            order.append(int(counts.argmin()))
            open_[order[-1]] = False
            left &= sets[order[-1]]
        return np.array(order, dtype=np.int64)

    def _optimal(self, facts: Ints, sets: Words, person: int) -> PersonCurve:
        """Whether any k facts single the person out: the fewest such are looked for."""
        agree, _ = patterns(sets, self.agreement.people, person)
        greedy = left_over(sets, self._chosen_greedily(facts, sets)[None])[0]
        reached = np.flatnonzero(greedy == 0)
        first = facts.size + 1 if not reached.size else int(reached[0]) + 1
        sure, nodes = 0, 0  # up to so many facts, none singles the person out
        for k in range(1, min(first - 1, max(self.ks), facts.size) + 1):
            found = count_faces(agree, facts.size, deepest=k, budget=self.node_budget)
            if len(found.counts) <= k:
                break
            nodes = max(nodes, found.nodes)
            if found.unique(k):
                first = k
                break
            sure = k
        ks = np.minimum(self.ks, facts.size)
        if greedy.size == facts.size and greedy[-1]:
            return _sure(np.zeros(len(self.ks)))  # somebody is just alike
        open_ = (ks > sure) & (ks < first)
        success = (ks >= first).astype(float)
        return PersonCurve(
            np.where(open_, 1.0, success), np.where(open_, 0.0, success),
            np.where(open_, 1.0, success), ~open_, nodes,
        )  # fmt: skip

    def _best_choice(self, facts: Ints, sets: Words, person: int) -> PersonCurve:
        """What the best k facts give by a rule other than the best fit.

        Every choice is looked at, few facts first, as far as the budget goes; of the others the
        greedy choice is the lower bound.  A further fact only leaves fewer who fit, so that of a
        line-up and of a guess all facts together are the upper bound.
        """
        size, left, nodes = facts.size, self.node_budget, 0
        rank = self._chosen_greedily(facts, sets)[None]
        low = self.outcomes(facts, sets, rank, person)[0]
        whole = float(replace(self, ks=(size,)).outcomes(facts, sets, rank, person)[0, 0])
        shrinks = self.rule in ("lineup", "guess")
        high = np.full(len(self.ks), whole if shrinks else 1.0)
        for i, k in enumerate(np.minimum(self.ks, size).tolist()):
            low[i] = max(low[i], low[i - 1]) if shrinks and i else low[i]
            if k == size:
                low[i] = high[i] = whole
            elif low[i] < high[i] and comb(size, k) <= left:
                left, nodes = left - comb(size, k), nodes + comb(size, k)
                every = np.array(list(combinations(range(size), k)))
                found = replace(self, ks=(k,)).outcomes(facts, sets, every, person)
                low[i] = high[i] = found.max()
        return PersonCurve(high, low, high.copy(), low == high, nodes)

    def _chosen_greedily(self, facts: Ints, sets: Words) -> Ints:
        return replace(self, order="greedy", ks=(facts.size,))._chosen(facts, sets)

    # -- facts known independently -----------------------------------------------------------------

    def _by_chance(
        self, facts: Ints, sets: Words, person: int, rng: np.random.Generator
    ) -> PersonCurve:
        """Every fact is known with a chance of its own."""
        assert self.chances is not None  # noqa: S101 - the caller looked
        p = self.chances[facts]
        some = p > 0
        facts, sets, p = facts[some], sets[some], p[some]
        alone = self.agreement.people == 1
        if not facts.size:
            return _sure(np.array([float(alone)]))
        fits = members(sets, self.agreement.people).T
        fits = np.delete(fits, person, axis=0)
        fits = fits[fits[:, p == 1].all(axis=1)][:, p < 1]  # who differs on what is sure is out
        if not fits.size:
            return _sure(np.array([float(not len(fits))]))
        agree = np.unique(packed(fits), axis=0)
        found = chance_of_faces(agree, p[p < 1], budget=self.node_budget)
        if found is not None:
            cells = _sure(np.array([1 - found[0]]))
            return PersonCurve(cells.success, cells.low, cells.high, cells.exact, found[1])
        known = rng.random((self.draws, int((p < 1).sum()))) < p[p < 1]
        largest = maximal(agree)
        wide = unpacked(largest, known.shape[1]).astype(np.float32)
        outside = known.astype(np.float32) @ (1 - wide).T
        hits = np.array([int((outside > 0.5).all(axis=1).sum())])
        low, high = intervals(hits, self.draws)
        return PersonCurve(hits / self.draws, low, high, np.array([False]), self.node_budget)


def _sure(success: Floats) -> PersonCurve:
    return PersonCurve(success, success.copy(), success.copy(), np.ones(success.size, dtype=bool))


def _rare(
    agree: Words, size: int, k: int, draws: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Success and its interval, from failures drawn where they lie."""
    hits, scale = failures_by_union(agree, size, k, draws=draws, rng=rng)
    low, high = intervals(np.array([hits]), draws)
    by = float(scale)
    return 1 - by * hits / draws, 1 - by * float(high[0]), 1 - by * float(low[0])


def support_of(found: Agreement) -> NDArray[np.int64]:
    """For how many people each fact is known: of features known together, any of them."""
    sparse = found.sparse
    many = np.zeros(len(found.facts), dtype=np.int64)
    for number, features in enumerate(found.facts):
        cells = [sparse.rows[sparse.start[j] : sparse.start[j + 1]] for j in features]
        many[number] = cells[0].size if len(cells) == 1 else np.unique(np.concatenate(cells)).size
    return many
