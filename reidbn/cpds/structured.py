"""From the table to the population by how attributes go together: latent classes, explicit.

    structured-uniqueness   yes when nobody else of the population is like the target
    structured-match        yes when a guess among all who are like the target is right

The target's attributes are nodes.  Everybody else falls into a latent class h, and there has values
of their own [Goodman74], so that one person is like the target on what is known with the chance

    H = sum_h w_h prod_j share_jh(value of j),      p = min(times H^power, 1)                (1)

the same for all N - n outside the table.  `times` and `power` say how far the structure is off: a
node of multipliers is the calibrated layer of the structured estimator (theory/layer.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import (
    CPD,
    Array,
    Ref,
    Scope,
    Variable,
    needs_parent,
    needs_reference,
    needs_yes_no,
    yes_no,
)
from reidbn.cpds.rows import REST
from reidbn.cpds.uniqueness import _answer, refuse_too_many
from reidbn.errors import ModelError, Problem, did_you_mean

# theory's modules are imported where they are used: they take longer than every kind together.
NEAR = 1e-9
NUMBERS = ("class_size", "records", "population", "times", "power")


@dataclass(frozen=True)
class _Structured(CPD):
    """The fields that both kinds share, and how many of the others are like the target."""

    classes: dict[str, Ref] = field(
        metadata={"story": "latent class: its share of the population; one may be rest"}
    )
    shares: dict[str, dict[str, dict[str, Ref]]] = field(
        metadata={"story": "attribute: latent class: state: its share; one of a class may be rest"}
    )
    class_size: Ref = field(metadata={"story": "f: records of the table that match the target"})
    records: Ref = field(metadata={"story": "n: people in the table"})
    population: Ref = field(metadata={"story": "N: people in the population, the table's too"})
    known: dict[str, str] = field(
        default_factory=dict,
        metadata={
            "references": False,
            "story": "attribute: the member of a group that knows it; others are always known",
        },
    )
    times: Ref = field(default=1.0, metadata={"story": "how much more common than H a row is"})
    power: Ref = field(default=1.0, metadata={"story": "power of H"})

    def references(self) -> tuple[str, ...]:
        return tuple(ref for ref in super().references() if ref != REST)

    def reads_group(self, group: str) -> bool:
        return True

    # -- the chance to be like the target ------------------------------------------------------

    def _weights(self, scope: Scope) -> list[Array]:
        return list(_completed(self.classes, scope, "classes").values())

    def _by_attribute(self, scope: Scope, name: str) -> list[Array]:
        """Of each latent class, the chance to be like the target on what is known of it."""
        told = []
        for of in self.classes:
            shares = _completed(self.shares[name][of], scope, f"shares of {name} in {of}")
            found: Array = np.asarray(0.0)
            for i, state in enumerate(scope.parent(name).states):
                found = np.where(scope.state(name) == i, shares.get(state, 0.0), found)
            told.append(np.where(self._is_known(scope, name), found, 1.0))
        return told

    def _is_known(self, scope: Scope, name: str) -> NDArray[np.bool_]:
        member = self.known.get(name)
        if member is None:
            return np.asarray(True)
        group = next(p for p in scope.parents if member in p.members)
        return np.asarray(scope.state(group.name) >> group.members.index(member) & 1, dtype=bool)

    def _alike(self, scope: Scope) -> tuple[Array, Array]:
        """H and p of equation (1)."""
        products = self._weights(scope)
        for name in self.shares:
            own = self._by_attribute(scope, name)
            products = [product * share for product, share in zip(products, own, strict=True)]
        structure = np.asarray(sum(products))
        times, power = (np.asarray(scope.value(ref)) for ref in (self.times, self.power))
        if (times < 0).any() or (power < 0).any():
            raise ModelError(f"{scope.child.name}: times and power are 0 or more")
        return structure, np.minimum(times * structure**power, 1.0)

    def _counts(self, scope: Scope) -> tuple[Array, Array]:
        """f, and the people outside the table."""
        f, n, N = (
            np.asarray(scope.value(ref), dtype=float)
            for ref in (self.class_size, self.records, self.population)
        )
        if (n < 1).any() or (n > N).any():
            many = scope.shown(n.max(), self.records)
            raise ModelError(
                f"{scope.child.name}: {many} records in a population of "
                f"{scope.shown(N.min(), self.population)}; the "
                "table must be a part of the population"
            )
        refuse_too_many(scope, (self.class_size, self.records), f, n)
        return f, N - n

    def _drawn(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.int64]:
        """Draw everybody outside the table: class by class, value by value; count who is alike."""
        _, outside = self._counts(scope)
        left = np.broadcast_to(np.rint(outside), rows).astype(np.int64)
        others, before, alike = left, np.zeros(rows), np.zeros(rows, dtype=np.int64)
        own = {name: self._by_attribute(scope, name) for name in self.shares}
        for h, weight in enumerate(self._weights(scope)):
            chance = np.clip(weight / np.maximum(1.0 - before, 1e-300), 0.0, 1.0)
            last = h == len(self.classes) - 1
            here = left if last else rng.binomial(left, np.broadcast_to(chance, rows))
            left, before = left - here, before + weight
            for told in own.values():
                here = rng.binomial(here, np.broadcast_to(np.clip(told[h], 0.0, 1.0), rows))
            alike = alike + here
        structure, p = (np.broadcast_to(x, rows) for x in self._alike(scope))
        # Where rows are rarer than the structure says, some of these are not alike after all;
        # where they are more common, some of the others are.
        stay = np.minimum(p / np.where(structure > 0, structure, 1.0), 1.0)
        alike = rng.binomial(alike, np.where(structure > 0, stay, 0.0))
        more = np.maximum(p - structure, 0.0) / np.where(structure < 1, 1.0 - structure, 1.0)
        return alike + np.where(p > structure, rng.binomial(others - alike, more), 0)

    # -- what is wrong with it -----------------------------------------------------------------

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_yes_no(child, self.kind)
        for name in NUMBERS:
            found += needs_parent(getattr(self, name), name, parents)
        if not self.classes:
            found.append(Problem(("classes",), "names no latent class"))
        found += _odd_shares(self.classes, ("classes",))
        for name, by_class in self.shares.items():
            found += self._attribute_problems(name, by_class, parents)
        members = {m for p in parents for m in p.members}
        for name, member in self.known.items():
            if name not in self.shares:
                message = f"has no shares; {did_you_mean(name, list(self.shares))}"
                found.append(Problem(("known", name), message, at_key=True))
            if member not in members:
                message = f'"{member}" is no member of a parent group; make the group a parent'
                found.append(Problem(("known", name), message))
        return found + self._unread(parents)

    def _attribute_problems(
        self, name: str, by_class: dict[str, dict[str, Ref]], parents: Sequence[Variable]
    ) -> list[Problem]:
        where, names = ("shares", name), [p.name for p in parents if not p.is_group]
        if name not in names:
            message = f'"{name}" is not a parent of this node; {did_you_mean(name, names)}'
            return [Problem(where, message, at_key=True)]
        states = next(p.states for p in parents if p.name == name)
        found = []
        for of in [of for of in self.classes if of not in by_class]:
            found.append(Problem(where, f"has no shares in the latent class {of}"))
        for of, shares in by_class.items():
            if of not in self.classes:
                message = f'no latent class "{of}"; {did_you_mean(of, list(self.classes))}'
                found.append(Problem((*where, of), message, at_key=True))
            for state in [state for state in shares if state not in states]:
                message = f'{name} has no state "{state}"; {did_you_mean(state, states)}'
                found.append(Problem((*where, of, state), message, at_key=True))
            found += _odd_shares(shares, (*where, of))
        return found

    def _unread(self, parents: Sequence[Variable]) -> list[Problem]:
        members = set(self.known.values())
        read = {*self.shares, *self.references()}
        return [
            Problem(("shares",), f"{p.name} is a parent that nothing here reads; leave it out")
            for p in parents
            if p.name not in read and members.isdisjoint(p.members)
        ]


def _completed(cells: dict[str, Ref], scope: Scope, what: str) -> dict[str, Array]:
    """Shares by name, `rest` worked out; they sum to one."""
    told = {n: np.asarray(scope.value(ref), float) for n, ref in cells.items() if ref != REST}
    total = np.asarray(sum(told.values()), dtype=float)
    if any((value < 0).any() for value in told.values()) or (total > 1 + NEAR).any():
        raise ModelError(f"{scope.child.name}: {what} are below 0 or sum to more than 1")
    if len(told) == len(cells) and (np.abs(total - 1) > NEAR).any():
        raise ModelError(f"{scope.child.name}: {what} sum to {total.min():.12g}, not 1")
    return {n: told.get(n, np.maximum(1.0 - total, 0.0)) for n in cells}


def _odd_shares(cells: dict[str, Ref], where: tuple[str, ...]) -> list[Problem]:
    rests = [name for name, ref in cells.items() if ref == REST]
    found = [
        Problem((*where, name), "a second rest; one may be what is left") for name in rests[1:]
    ]
    for name, ref in cells.items():
        if ref != REST:
            found += needs_reference(ref, *where, name)
    numbers = [ref for ref in cells.values() if isinstance(ref, int | float)]
    total = sum(numbers)
    off = total > 1 + NEAR if len(numbers) < len(cells) else abs(total - 1) > NEAR
    if numbers and (off or min(numbers) < 0):
        found.append(Problem(where, f"shares sum to {total:.12g}; they are chances that sum to 1"))
    return found


@dataclass(frozen=True)
class StructuredUniqueness(_Structured):
    """Yes when the class has one record in the table and nobody outside it is alike.

    P = (1 - p)^(N - n)                                                                      (2)
    """

    kind: ClassVar[str] = "structured-uniqueness"

    def probabilities(self, scope: Scope) -> Array:
        from scipy.special import xlog1py

        f, others = self._counts(scope)
        _, p = self._alike(scope)
        return yes_no(scope.child, np.where(f == 1, np.exp(xlog1py(others, -p)), 0.0))

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Draw the population and see whether anybody is like the target."""
        f, _ = self._counts(scope)
        return _answer(scope, (f == 1) & (self._drawn(rng, scope, rows) == 0))


@dataclass(frozen=True)
class StructuredMatch(_Structured):
    """Yes with E[1/(f + X)], X of the N - n alike: a guess among all who are alike is right."""

    kind: ClassVar[str] = "structured-match"

    def probabilities(self, scope: Scope) -> Array:
        from reidbn.theory.alike import mean_inverse_drawn

        f, others = self._counts(scope)
        _, p = self._alike(scope)
        right = mean_inverse_drawn(np.maximum(f, 1.0), others, p)
        return yes_no(scope.child, np.where(f >= 1, right, 0.0))

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Draw the population, then point at one of those alike; the target is number 0."""
        f, _ = self._counts(scope)
        guess = np.floor(rng.random(rows) * (np.maximum(f, 1) + self._drawn(rng, scope, rows)))
        return _answer(scope, (guess == 0) & (f >= 1))
