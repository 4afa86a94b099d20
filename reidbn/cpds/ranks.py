"""States that stand in an order, from low to high.

ranked      parents that push up or down, each with a weight: a table that rises with all of them
noisy-max   causes that each bring about some level or nothing; the highest one counts
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from reidbn.cpds.protocol import (
    CPD,
    YES,
    Array,
    Part,
    Ref,
    Scope,
    Variable,
    in_steps,
    needs_parents,
    needs_probability,
    needs_reference,
    needs_weight_each,
    yes_no,
)
from reidbn.cpds.rows import REST, Row, Rows, _cell_problems, _when_problems
from reidbn.errors import ModelError, Problem


@dataclass(frozen=True)
class Ranked(CPD):
    """Higher where the parents are higher: one score from weights, and a chance for every score.

        score = sum of |weight| * rank / sum of |weight|                                        (1)

    A parent's rank is 0 in its first state, 1 in its last, and even steps between; a weight below 0
    turns it around; of a group it is the share of members that are known.  On a yes/no node `p`
    lists P(yes) at even steps of the score, with straight lines between.  On a node with more
    states the place between the first state and the last is normal about the score, with `sd`, and
    cut at both ends [Fenton07].
    """

    kind: ClassVar[str] = "ranked"
    weights: dict[str, Ref] = field(metadata={"story": "parent: weight; below 0 where it lowers"})
    p: tuple[Ref, ...] = field(
        default=(),
        metadata={
            "chance": True,
            "story": "P(yes) at even steps of the score, from lowest to highest",
        },
    )
    sd: Ref | None = field(
        default=None, metadata={"story": "more than two states: how far from the score, 0 to 1"}
    )

    def _score(self, scope: Scope) -> Array:
        total, size = np.asarray(0.0), np.asarray(0.0)
        for parent in scope.parents:
            weight = np.asarray(scope.value(self.weights[parent.name]))
            steps = len(parent.members) if parent.is_group else parent.size - 1
            place = scope.number(parent.name) if parent.is_group else scope.state(parent.name)
            rank = place / max(steps, 1)
            total = total + np.abs(weight) * np.where(weight < 0, 1.0 - rank, rank)
            size = size + np.abs(weight)
        if (size == 0).any():
            raise ModelError(f"{scope.child.name}: all weights are 0; give one parent some weight")
        return np.asarray(np.clip(total / size, 0.0, 1.0))

    def probabilities(self, scope: Scope) -> Array:
        score = self._score(scope)
        if self.p:
            below, share = self._between(score)
            levels = [np.asarray(scope.value(p), dtype=float) for p in self.p]
            low, high = (_chosen(levels, below + i) for i in (0, 1))
            return yes_no(scope.child, low * (1.0 - share) + high * share)
        edges, sd = self._edges(scope)
        steps = np.diff(_within(edges, score[..., None], sd[..., None]))
        return np.asarray(steps / steps.sum(axis=-1, keepdims=True))

    def _between(self, score: Array) -> tuple[NDArray[np.intp], Array]:
        """Between which two of the listed chances a score lies, and how far on the way."""
        at = score * (len(self.p) - 1)
        whole = np.rint(at)
        at = np.where(np.abs(at - whole) < 1e-12, whole, at)  # so that 0 and 1 stay what they are
        below = np.minimum(np.floor(at).astype(np.intp), len(self.p) - 2)
        return below, at - below

    def _edges(self, scope: Scope) -> tuple[Array, Array]:
        assert self.sd is not None  # noqa: S101 - checked at birth
        sd = np.asarray(scope.value(self.sd), dtype=float)
        if not (sd > 0).all():
            raise ModelError(f"{scope.child.name}: an sd of 0 or less; it must be more than 0")
        return np.linspace(0.0, 1.0, scope.child.size + 1), sd

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Weigh the case up; choose one of the two nearest chances, or a place near the score."""
        score = np.broadcast_to(self._score(scope), rows)
        if self.p:
            below, share = self._between(score)
            level = below + (rng.random(rows) < share)
            chance = np.stack([np.broadcast_to(scope.value(p), rows) for p in self.p])
            happens = rng.random(rows) < chance[level, np.arange(rows)]
            yes = scope.child.states.index(YES)
            return np.where(happens, yes, 1 - yes)
        edges, sd = self._edges(scope)
        low, high = ndtr(-score / sd), ndtr((1.0 - score) / sd)
        place = score + sd * ndtri(low + rng.random(rows) * (high - low))
        found = np.searchsorted(edges, place) - 1
        return np.asarray(np.clip(found, 0, scope.child.size - 1), dtype=np.intp)

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        return None if f"${name}" in (*self.weights.values(), self.sd) else 1

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_parents(parents, self.kind)
        for name, weight in self.weights.items():
            found += needs_reference(weight, "weights", name)
        found += needs_weight_each(self.weights, parents)
        if self.weights and all(w == 0 for w in self.weights.values()):
            found.append(Problem(("weights",), "are all 0; give one parent some weight"))
        return found + self._chance_problems(child)

    def _chance_problems(self, child: Variable) -> list[Problem]:
        two = set(child.states) == {YES, "no"} and not child.is_group
        if two and (len(self.p) < 2 or self.sd is not None):
            message = "needs p on a yes/no node: P(yes) at the lowest score, ..., at the highest"
            return [Problem(("p" if self.p else "kind",), message)]
        if not two and (self.p or self.sd is None):
            message = "needs sd and no p on a node with other states than no and yes"
            return [Problem(("p" if self.p else "kind",), message)]
        found = []
        for i, p in enumerate(self.p):
            found += needs_reference(p, "p", i) + needs_probability(p, "p", i)
            before = self.p[i - 1] if i else p
            if not isinstance(p, str) and not isinstance(before, str) and p < before:
                message = f"falls from {before:g} to {p:g}; a higher score is never less likely"
                found.append(Problem(("p", i), message))
        if self.sd is not None:
            found += needs_reference(self.sd, "sd")
            if not isinstance(self.sd, str) and self.sd <= 0:
                found.append(Problem(("sd",), f"{self.sd:g} is no spread: use more than 0"))
        return found


def _refs(rows: tuple[Row, ...]) -> tuple[str, ...]:
    return Rows(rows).references() if rows else ()


def _chosen(levels: list[Array], which: NDArray[np.intp]) -> Array:
    """The level that is chosen in every configuration."""
    found = np.zeros(())
    for i, level in enumerate(levels):
        found = np.where(which == i, level, found)
    return found


def _within(edges: Array, score: Array, sd: Array) -> Array:
    """The normal law at the edges, from the side on which it keeps its digits."""
    return np.asarray(ndtr((edges - score) / sd))


# -- noisy-max -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoisyMax(CPD):
    """Each cause brings about some state, or the first one; the highest of them is what happens.

    A row without `when` is what happens with no cause at all; every other row names one parent and
    says what its state brings about.  A state of a parent that no row names brings about nothing.

        P(at most y) = product over the causes of P(this one brings about at most y)            (1)
    """

    kind: ClassVar[str] = "noisy-max"
    rows: tuple[Row, ...] = field(
        metadata={"story": "what one parent's state brings about; without when: with no cause"}
    )

    def references(self) -> tuple[str, ...]:
        return tuple(ref for ref in super().references() if ref != REST)

    def reads_group(self, group: str) -> bool:
        return True

    def _of(self, parent: str) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if parent in row.when)

    def _brought(self, scope: Scope) -> list[Array]:
        """What each cause brings about, states on the last axis."""
        nothing = Row((1.0, *[0.0] * (scope.child.size - 1)))
        leak = tuple(row for row in self.rows if not row.when)
        found = [Rows(leak).probabilities(scope)] if leak else []
        for parent in scope.parents:
            rows = self._of(parent.name)
            if rows:
                found.append(Rows((*rows, nothing)).probabilities(scope))
        return found or [Rows((nothing,)).probabilities(scope)]

    def probabilities(self, scope: Scope) -> Array:
        """Cause by cause; sums of products alone, so that small chances keep their digits."""
        total, *others = self._brought(scope)
        for one in others:
            less = np.cumsum(total, axis=-1)[..., :-1]
            total = total * np.cumsum(one, axis=-1)
            total[..., 1:] += less * one[..., 1:]
        return total

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Let every cause bring about its state, and take the highest."""
        found = np.zeros(rows, dtype=np.intp)
        for p in self._brought(scope):
            level = np.broadcast_to(p, (rows, p.shape[-1])).cumsum(axis=-1)
            drawn = (rng.random(rows)[:, None] >= level[:, :-1]).sum(axis=-1)
            found = np.maximum(found, drawn)
        return found

    def parts(self, child: Variable, parents: tuple[Variable, ...]) -> tuple[Part, ...]:
        def over(met: tuple[Variable, ...], *, last: bool) -> CPD:
            rows = [row for p in met for row in self._of(p.name)]
            before = [p for p in met if p.name.startswith(child.name + "~")]
            kept = [Row({state: 1.0}, {p.name: state}) for p in before for state in p.states]
            leak = [row for row in self.rows if not row.when and last]
            return replace(self, rows=(*kept, *rows, *leak))

        return in_steps(
            child, parents, child.states,
            lambda met: over(met, last=False), lambda met: over(met, last=True),
        )  # fmt: skip

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        """One factor for every cause whose rows hold it."""
        causes = [tuple(r for r in self.rows if not r.when), *(self._of(p.name) for p in parents)]
        held = [f"${name}" in ref for rows in causes for ref in [_refs(rows)]]
        return sum(held)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_parents(parents, self.kind)
        for parent in parents:
            if parent.is_group:
                message = f"takes no group; name the members of {parent.name} that are causes"
                found.append(Problem(("kind",), message))
        for i, row in enumerate(self.rows):
            if len(row.when) > 1:
                message = f"names {len(row.when)} parents; a cause is one parent: one row for each"
                found.append(Problem(("rows", i, "when"), message))
            found += _when_problems(i, row, parents)
        found += self._cells(child)
        return found or self._reach_problems(parents)

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return self._cells(child)

    def _cells(self, child: Variable) -> list[Problem]:
        return [p for i, row in enumerate(self.rows) for p in _cell_problems(i, row, child)]

    def _reach_problems(self, parents: tuple[Variable, ...]) -> list[Problem]:
        """Every parent is a cause, and no state has two rows."""
        found = []
        for parent in parents:
            if not self._of(parent.name):
                message = f"says nothing of what its parent {parent.name} brings about"
                found.append(Problem(("rows",), message))
        seen: set[tuple[str, str]] = set()
        for i, row in enumerate(self.rows):
            names = [(n, s) for n in row.when for p in parents if p.name == n
                     for s in row.wanted(p) or p.states] or [("", "")]  # fmt: skip
            twice = [name for name in names if name in seen]
            if twice:
                what = f"{twice[0][0]}={twice[0][1]}" if twice[0][0] else "no cause at all"
                found.append(Problem(("rows", i), f"is a second row for {what}; keep one"))
            seen |= {*names}
        return found
