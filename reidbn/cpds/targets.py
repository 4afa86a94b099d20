"""Many targets in one leak, unrolled: whose class, how much of it leaked, in the leak, picked.

Only the classes of the targets are followed.  The first target of a class reveals how many of it
leaked; the next ones of that class share the number, less what is known of those before them.

    target-class          the class of the i-th target: a new one of a size, or that of the j-th
    target-class-leaked   how many of that class are in the leak
    target-in-leak        the target is among them
    target-picked         the guess among those who are left falls on the target   [Antoniou22]
    rest-of-leak          how many of a class leaked, given what other groups leaked

States of a target-class node: of_3, of_5, ... for a new class of that size, and same_as_1,
same_as_2, ... for the class of an earlier target.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

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
    yes_or_no,
)
from reidbn.errors import ModelError, Problem, did_you_mean
from reidbn.theory.hypergeometric import leaked_pmf

Ints = NDArray[np.int64]
NEW, SAME = "of_", "same_as_"


@dataclass(frozen=True)
class _Places:
    """For targets 1..i: the first target in the same class (0-based), and that class's size."""

    first: list[Ints]
    size: list[Array]

    @classmethod
    def of(cls, scope: Scope, nodes: tuple[str, ...]) -> _Places:
        first: list[Ints] = []
        size: list[Array] = []
        for i, node in enumerate(nodes):
            states, at = scope.parent(node).states, scope.state(node)
            where, large = np.zeros(at.shape, dtype=np.int64), np.zeros(at.shape)
            for s, state in enumerate(states):
                here = at == s
                if state.startswith(NEW):
                    where, large = (
                        np.where(here, i, where),
                        np.where(here, float(state.removeprefix(NEW)), large),
                    )
                else:
                    j = int(state.removeprefix(SAME)) - 1
                    where, large = np.where(here, first[j], where), np.where(here, size[j], large)
            first.append(where)
            size.append(large)
        return cls(first, size)

    def opened(self, j: int) -> Array:
        """1 where the j-th target is the first of its class."""
        return np.asarray(self.first[j] == j, dtype=float)


def _total(terms: list[Any]) -> Array:
    """The sum of arrays that broadcast, 0 when there are none."""
    total: Array = np.asarray(0.0)
    for term in terms:
        total = total + term
    return total


@dataclass(frozen=True)
class TargetClass(CPD):
    """The class of the i-th target, drawn from the patients who were not targets before.

    P(same as j) = (size of j's class - targets in it) / (D - i + 1);
    P(new of size k) = k (a_k - classes of size k met before) / (D - i + 1).
    """

    kind: ClassVar[str] = "target-class"
    sizes: tuple[int, ...] = field(metadata={"sourced": False, "story": "the class sizes, k"})
    counts: tuple[Ref, ...] = field(metadata={"story": "how many classes of each size, a_k"})
    earlier: tuple[str, ...] = field(
        default=(), metadata={"story": "the class nodes of the targets before, in order"}
    )

    def probabilities(self, scope: Scope) -> Array:
        counts = [scope.value(ref) for ref in self.counts]
        records = _records(scope, self.sizes, self.counts)
        i = len(self.earlier)
        if np.any(records <= i):
            few = scope.shown(records.min(), *self.sizes, *self.counts)
            raise ModelError(
                f"{scope.child.name}: target {i + 1} of {few} records; there must be "
                "as many records as targets"
            )
        places = _Places.of(scope, self.earlier)
        weights = [self._weight(state, places, counts) for state in scope.child.states]
        shape = np.broadcast_shapes(*(w.shape for w in weights))
        table = np.stack([np.broadcast_to(np.maximum(w, 0.0), shape) for w in weights], axis=-1)
        whole = table.sum(axis=-1, keepdims=True)
        # Where the earlier states are impossible any legal row will do.
        return np.where(whole > 0, table / np.where(whole > 0, whole, 1), 1 / table.shape[-1])

    def _weight(self, state: str, places: _Places, counts: list[Array]) -> Array:
        number = len(places.first)
        if state.startswith(SAME):
            j = int(state.removeprefix(SAME)) - 1
            inside = _total([places.first[t] == j for t in range(number)])
            return np.asarray(places.opened(j) * (places.size[j] - inside))
        k = int(state.removeprefix(NEW))
        met = _total([places.opened(j) * (places.size[j] == k) for j in range(number)])
        return np.asarray(k * (counts[self.sizes.index(k)] - met))

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = _are_parents(self.earlier, "earlier", parents)
        found += _sizes_and_counts(self.sizes, self.counts)
        wanted = [f"{SAME}{j + 1}" for j in range(len(self.earlier))]
        wanted = [f"{NEW}{k}" for k in self.sizes] + wanted
        if sorted(child.states) != sorted(wanted):
            message = f"the states must be {', '.join(wanted)}"
            found.append(Problem(("kind",), message))
        return found


@dataclass(frozen=True)
class _OfTarget(CPD):
    """What the CPDs of one target share: the class nodes of the targets so far, its own last."""

    classes: tuple[str, ...] = field(
        metadata={"story": "the class nodes of the targets so far, this target's last"}
    )

    def _same(self, scope: Scope, nodes: tuple[str, ...]) -> tuple[_Places, Array, Array]:
        """Places, the earlier targets in this one's class, and the `nodes` among them that are yes.

        The nodes belong to the earlier targets, in order.
        """
        places = _Places.of(scope, self.classes)
        earlier = range(len(self.classes) - 1)
        alike = [places.first[j] == places.first[-1] for j in earlier]
        yes = [alike[j] * scope.number(node) for j, node in zip(earlier, nodes, strict=True)]
        return places, _total([*alike]), _total(yes)

    def _node_problems(
        self, parents: tuple[Variable, ...], **groups: tuple[str, ...]
    ) -> list[Problem]:
        found = _are_parents(self.classes, "classes", parents)
        for name, nodes in groups.items():
            found += _are_parents(nodes, name, parents)
            if len(nodes) != len(self.classes) - 1:
                message = f"names {len(nodes)} nodes for {len(self.classes) - 1} earlier targets"
                found.append(Problem((name,), message))
        return found


@dataclass(frozen=True)
class TargetClassLeaked(_OfTarget):
    """How many of the target's class leaked: drawn when the class is new, else as it was."""

    kind: ClassVar[str] = "target-class-leaked"
    sizes: tuple[int, ...] = field(metadata={"sourced": False, "story": "the class sizes, k"})
    counts: tuple[Ref, ...] = field(metadata={"story": "how many classes of each size, a_k"})
    leaked: Ref = field(metadata={"story": "L: records in the leak"})
    earlier: tuple[str, ...] = field(
        default=(), metadata={"story": "the leaked class sizes of the targets before, in order"}
    )

    def probabilities(self, scope: Scope) -> Array:
        places, rest, leaked, seen = self._rest(scope)
        states = len(scope.child.states)
        drawn = leaked_pmf(rest, leaked, np.minimum(places.size[-1], rest), longest=states - 1)
        if not self.earlier:
            return drawn
        known = np.arange(states) == seen[..., None]
        new = (places.first[-1] == len(self.earlier))[..., None]
        return np.where(new, drawn, known)

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Draw what is left of the leak, counting those of the class, if the class is new."""
        places, rest, leaked, seen = self._rest(scope)
        size = np.minimum(places.size[-1], rest)
        numbers = (np.broadcast_to(v, rows).astype(np.int64) for v in (size, rest - size, leaked))
        drawn = rng.hypergeometric(*numbers)
        new = np.broadcast_to(places.first[-1] == len(self.earlier), rows)
        return np.where(new, drawn, seen).astype(np.intp)

    def _rest(self, scope: Scope) -> tuple[_Places, Array, Array, Array]:
        """Places, records and leaked records outside the classes met, and this class's number."""
        places = _Places.of(scope, self.classes)
        numbers = [scope.number(node) for node in self.earlier]
        opened = [places.opened(j) for j in range(len(numbers))]
        met = _total([o * size for o, size in zip(opened, places.size, strict=False)])
        out = _total([o * number for o, number in zip(opened, numbers, strict=True)])
        seen = _total([(places.first[-1] == j) * n for j, n in enumerate(numbers)])
        records, leaked = _records(scope, self.sizes, self.counts), scope.value(self.leaked)
        if np.any(leaked > records) or np.any(leaked < 0):
            few = scope.shown(records.min(), *self.sizes, *self.counts)
            raise ModelError(
                f"{scope.child.name}: a leak of {scope.shown(leaked.max(), self.leaked)} among "
                f"{few} records; "
                "it must lie between 0 and the number of records"
            )
        rest = np.maximum(records - met, 1.0)
        return places, rest, np.clip(leaked - out, 0.0, rest), seen

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = _counting(child) + _sizes_and_counts(self.sizes, self.counts)
        if self.sizes and len(child.states) <= max(self.sizes):
            message = f"the states must run from 0 to {max(self.sizes)}, the largest class size"
            found.append(Problem(("sizes",), message))
        found += needs_parent(self.leaked, "leaked", parents)
        return found + self._node_problems(parents, earlier=self.earlier)


@dataclass(frozen=True)
class TargetInLeak(_OfTarget):
    """Yes with (leaked - earlier targets in the leak) / (size - earlier targets), of the class."""

    kind: ClassVar[str] = "target-in-leak"
    class_leaked: str = field(metadata={"story": "how many of the target's class leaked"})
    earlier: tuple[str, ...] = field(
        default=(), metadata={"story": "whether the targets before are in the leak, in order"}
    )

    def probabilities(self, scope: Scope) -> Array:
        places, alike, taken = self._same(scope, self.earlier)
        left = np.maximum(places.size[-1] - alike, 1.0)
        share = (scope.number(self.class_leaked) - taken) / left
        return yes_no(scope.child, np.clip(share, 0.0, 1.0))

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_yes_no(child, self.kind) + self._node_problems(parents, earlier=self.earlier)
        return found + _are_parents((self.class_leaked,), "class_leaked", parents)


@dataclass(frozen=True)
class TargetPicked(_OfTarget):
    """Yes with 1 / (leaked - identified before), of the class, while the target is in the leak."""

    kind: ClassVar[str] = "target-picked"
    class_leaked: str = field(metadata={"story": "how many of the target's class leaked"})
    in_leak: str = field(metadata={"story": "whether the target is in the leak"})
    earlier: tuple[str, ...] = field(
        default=(), metadata={"story": "whether the targets before were identified, in order"}
    )

    def probabilities(self, scope: Scope) -> Array:
        return yes_no(scope.child, np.asarray(scope.number(self.in_leak) / self._pool(scope)))

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Pick one of those who are left; the target, if in the leak, is number 0."""
        picked = np.floor(rng.random(rows) * self._pool(scope))
        hit = (picked == 0) & (scope.number(self.in_leak) == 1)
        return yes_or_no(scope.child, hit)

    def _pool(self, scope: Scope) -> Array:
        _, _, gone = self._same(scope, self.earlier)
        return np.maximum(scope.number(self.class_leaked) - gone, 1.0)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = needs_yes_no(child, self.kind) + self._node_problems(parents, earlier=self.earlier)
        found += _are_parents((self.class_leaked,), "class_leaked", parents)
        return found + _are_parents((self.in_leak,), "in_leak", parents)


@dataclass(frozen=True)
class RestOfLeak(CPD):
    """P(h of a class leaked | what other groups leaked): hypergeometric in what is left.

    With groups of sizes s_j of which g_j leaked: h ~ Hypergeometric(D - sum s, L - sum g, k).
    """

    kind: ClassVar[str] = "rest-of-leak"
    by_name: ClassVar[bool] = True
    records: Ref = field(metadata={"story": "D: records in the register"})
    leaked: Ref = field(metadata={"story": "L: records in the leak"})
    class_size: Ref = field(metadata={"story": "k: records of this class"})
    other_sizes: tuple[Ref, ...] = field(metadata={"story": "sizes of the other groups"})
    other_leaked: tuple[str, ...] = field(metadata={"story": "nodes: how many of each leaked"})

    def probabilities(self, scope: Scope) -> Array:
        rest, leaked, size = self._rest(scope)
        return leaked_pmf(rest, leaked, size, longest=len(scope.child.states) - 1)

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Draw what is left of the leak, counting those of the class."""
        rest, leaked, size = self._rest(scope)
        numbers = (np.broadcast_to(v, rows).astype(np.int64) for v in (size, rest - size, leaked))
        return rng.hypergeometric(*numbers).astype(np.intp)

    def _rest(self, scope: Scope) -> tuple[Array, Array, Array]:
        others = _total([scope.value(ref) for ref in self.other_sizes])
        rest, size = scope.value(self.records) - others, scope.value(self.class_size)
        longest = len(scope.child.states) - 1
        if np.any(size > np.minimum(rest, longest)) or np.any(size < 0):
            few = scope.shown(rest.min(), self.records, *self.other_sizes)
            raise ModelError(
                f"{scope.child.name}: a class of {scope.shown(size.max(), self.class_size)} among "
                f"{few} records outside the other groups, with states up to {longest}; it must "
                "fit in both"
            )
        out = _total([scope.number(node) for node in self.other_leaked])
        return rest, np.clip(scope.value(self.leaked) - out, 0.0, rest), size

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = _counting(child) + _are_parents(self.other_leaked, "other_leaked", parents)
        if len(self.other_sizes) != len(self.other_leaked):
            message = f"{len(self.other_sizes)} sizes for {len(self.other_leaked)} groups"
            found.append(Problem(("other_sizes",), message))
        for name in ("records", "leaked", "class_size"):
            found += needs_parent(getattr(self, name), name, parents)
        for i, ref in enumerate(self.other_sizes):
            wrong = needs_parent(ref, "other_sizes", parents)
            found += [Problem(("other_sizes", i), p.message) for p in wrong]
        return found


def _records(scope: Scope, sizes: tuple[int, ...], counts: tuple[Ref, ...]) -> Array:
    """D = sum of k a_k."""
    return _total([k * scope.value(ref) for k, ref in zip(sizes, counts, strict=True)])


def _sizes_and_counts(sizes: tuple[int, ...], counts: tuple[Ref, ...]) -> list[Problem]:
    found = []
    if not sizes or min(sizes) < 1 or len(set(sizes)) < len(sizes):
        found.append(Problem(("sizes",), "must be different whole numbers, 1 or more"))
    if len(counts) != len(sizes):
        message = f"{len(counts)} counts for {len(sizes)} class sizes"
        found.append(Problem(("counts",), message))
    return found + [p for i, ref in enumerate(counts) for p in needs_reference(ref, "counts", i)]


def _are_parents(
    names: tuple[str, ...], where: str, parents: tuple[Variable, ...]
) -> list[Problem]:
    known = [p.name for p in parents]
    return [
        Problem((where,), f'"{name}" is not a parent of this node; {did_you_mean(name, known)}')
        for name in names
        if name not in known
    ]


def _counting(child: Variable) -> list[Problem]:
    if child.states != tuple(str(i) for i in range(len(child.states))):
        return [Problem(("kind",), "the states must be 0, 1, 2, ... up to the largest class size")]
    return []
