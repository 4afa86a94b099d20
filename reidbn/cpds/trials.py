"""Attempts and counts that chance decides.

binomial    how many of n succeed, each with probability p
geometric   which of the attempts of a budget is the first to succeed; 0 is none of them
poisson     how many, where only the mean is known; the last state is that many or more
at-most     a number, or what there is of it where that is less
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, pdtrc, xlogy

from reidbn.cpds.protocol import (
    CPD,
    NO,
    YES,
    Array,
    Ref,
    Scope,
    Variable,
    needs_parent,
    needs_probability,
    yes_no,
    yes_or_no,
)
from reidbn.errors import ModelError, Problem
from reidbn.written import few

EXACT = 1000  # attempts up to which the ways to succeed are whole numbers that a float can hold


def _counted(child: Variable, kind: str) -> list[Problem]:
    """The states 0, 1, 2, ..."""
    if child.is_group or child.states != tuple(str(i) for i in range(len(child.states))):
        found = few(child.states)
        message = f"{kind} needs the states 0, 1, 2, ..., such as 0..20; this node has {found}"
        return [Problem(("kind",), message)]
    return []


def _whole(scope: Scope, ref: Ref, what: str) -> Array:
    """A number of attempts: whole, and not below 0."""
    values = np.asarray(scope.value(ref), dtype=float)
    wrong = ~((values >= 0) & (values == np.floor(values)))  # also catches NaN
    if wrong.any():
        found = "" if scope.read_people([ref]) else f" of {float(values[wrong].flat[0])}"
        counts = "" if not str(ref).startswith("$") else (
            f". {str(ref)[1:]} is asked at values that are no counts: give it, and what it stands "
            "on, a whole value and range, and a prior over whole numbers in place of what experts "
            "say of any number"
        )  # fmt: skip
        raise ModelError(f"{scope.child.name}: a {what}{found}; it must be 0, 1, 2, ...{counts}")
    return values


def _most(ref: Ref, parents: Sequence[Variable]) -> int | None:
    """The largest that a number, or a parent's state, can be; None where it is looked up."""
    if isinstance(ref, str) and ref[:1] in ("$", "@"):
        return None
    own = [float(ref)] if not isinstance(ref, str) else [
        float(x) for p in parents if p.name == ref for x in p.numbers
    ]  # fmt: skip
    return None if max(own) > EXACT else int(max(own))


def _refuse_beyond(scope: Scope, values: Array, ref: Ref) -> None:
    child = scope.child
    last = child.size - 1
    if values.max() > last:
        most = "" if scope.read_people([ref]) else f" of {values.max():g}"
        raise ModelError(
            f"{child.name}: {ref} can be more than its last state, {last}{most}; "
            f"let the states run to the largest that it can be"
        )


@dataclass(frozen=True)
class Binomial(CPD):
    """P(k of n) = C(n, k) p^k (1 - p)^(n - k): how many of n succeed."""

    kind: ClassVar[str] = "binomial"
    by_name: ClassVar[bool] = True
    n: Ref = field(metadata={"story": "how many there are: a number, $parameter or a parent"})
    p: Ref = field(metadata={"chance": True, "story": "the chance of each"})

    def probabilities(self, scope: Scope) -> Array:
        n = _whole(scope, self.n, "number of attempts")[..., None]
        _refuse_beyond(scope, n, self.n)
        p = np.asarray(scope.value(self.p), dtype=float)[..., None]
        k = np.arange(scope.child.size, dtype=float)
        if n.max() > EXACT:  # from 1,030 on the number of ways is beyond any float
            from scipy.stats import binom

            return np.asarray(binom.pmf(k, n, p))
        return np.asarray(_ways(n, k.size) * p**k * (1.0 - p) ** np.maximum(n - k, 0.0))

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Let each of them try."""
        n = np.broadcast_to(_whole(scope, self.n, "number of attempts"), rows).astype(np.int64)
        return rng.binomial(n, np.broadcast_to(scope.value(self.p), rows)).astype(np.intp)

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        """Of p^k (1 - p)^(n - k): n."""
        return _most(self.n, parents)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = _counted(child, self.kind) + needs_parent(self.n, "n", parents)
        found += needs_parent(self.p, "p", parents) + needs_probability(self.p, "p")
        return found or self.misfits(child, parents)

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return _most_problems(self.n, "n", child, parents)


def _ways(n: Array, states: int) -> Array:
    """C(n, k) for every k below `states`, each a whole number rounded once; 0 for k above n."""
    sizes, of = np.unique(n[..., 0], return_inverse=True)
    rows = [[float(comb(size, k)) for k in range(states)] for size in sizes.astype(int).tolist()]
    return np.asarray(rows)[of].reshape(*n.shape[:-1], states)


def _most_problems(
    ref: Ref, name: str, child: Variable, parents: tuple[Variable, ...]
) -> list[Problem]:
    """A number, or a parent's states, that run beyond the last state."""
    numbers = [ref] if not isinstance(ref, str) else [
        x for p in parents if p.name == ref for x in np.unique(p.numbers).tolist()
    ]  # fmt: skip
    odd = [x for x in numbers if not (x >= 0 and float(x).is_integer())]
    if odd:
        return [Problem((name,), f"{odd[0]:g} is no number of attempts: it must be 0, 1, 2, ...")]
    most = max(numbers, default=0)
    if most > child.size - 1:
        message = f"can be {most:g}, and the states run to {child.size - 1}: write states: 0.."
        message += f"{most:g}" if not isinstance(ref, str) else f"{most:g}, as of {ref}"
        return [Problem((name,), message)]
    return []


@dataclass(frozen=True)
class AtMost(CPD):
    """The lesser of two numbers: how many of the n that are wanted there are."""

    kind: ClassVar[str] = "at-most"
    by_name: ClassVar[bool] = True
    of: Ref = field(metadata={"story": "how many are wanted: a parent, a number, $parameter"})
    most: Ref = field(metadata={"story": "how many there are: a number, @column, $parameter"})

    def probabilities(self, scope: Scope) -> Array:
        found = self._found(scope)[..., None]
        return np.asarray((found == np.arange(scope.child.size)).astype(float))

    def _found(self, scope: Scope) -> Array:
        wanted, most = _whole(scope, self.of, "number"), _whole(scope, self.most, "number")
        found = np.minimum(wanted, most)
        _refuse_beyond(scope, found, self.of)
        return np.asarray(found)

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Take them, up to what there is."""
        return np.broadcast_to(self._found(scope), rows).astype(np.intp)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = _counted(child, self.kind) + needs_parent(self.of, "of", parents)
        return found + needs_parent(self.most, "most", parents)


@dataclass(frozen=True)
class Geometric(CPD):
    """The attempt that is the first to succeed, within a budget of attempts; 0 where none does.

        P(k) = p (1 - p)^(k - 1)         each attempt succeeds with probability p
        P(k) = 1 / among, k <= among     candidates are tried one after another, none twice

    On a yes/no node: yes when one of the attempts succeeds.
    """

    kind: ClassVar[str] = "geometric"
    by_name: ClassVar[bool] = True
    p: Ref | None = field(
        default=None, metadata={"chance": True, "story": "the chance of each attempt"}
    )
    among: Ref | None = field(
        default=None, metadata={"story": "candidates, one of them right, none tried twice"}
    )
    budget: Ref | None = field(
        default=None, metadata={"story": "attempts, left out where it is the last state"}
    )

    def _is_yes_no(self, child: Variable) -> bool:
        return set(child.states) == {YES, NO}

    def _budget(self, scope: Scope) -> Array:
        if self.budget is None:
            return np.asarray(float(scope.child.size - 1))
        budget = _whole(scope, self.budget, "budget")
        if not self._is_yes_no(scope.child):
            _refuse_beyond(scope, budget, self.budget)
        return budget

    def _among(self, scope: Scope) -> Array:
        assert self.among is not None  # noqa: S101 - one of the two is there
        return _whole(scope, self.among, "number of candidates")

    def probabilities(self, scope: Scope) -> Array:
        budget = self._budget(scope)
        if self._is_yes_no(scope.child):
            return yes_no(scope.child, *self._found(scope, budget))
        k = np.arange(1, scope.child.size, dtype=float)
        n = budget[..., None]
        if self.p is None:
            among = self._among(scope)[..., None]
            first = np.where(k <= among, 1.0 / np.maximum(among, 1.0), 0.0)
        else:
            p = np.asarray(scope.value(self.p), dtype=float)[..., None]
            first = p * (1.0 - p) ** (k - 1)
        each = np.where(k <= n, first, 0.0)
        none = self._found(scope, budget)[1]
        shape = np.broadcast_shapes(each.shape[:-1], none.shape)
        both = (np.broadcast_to(none[..., None], (*shape, 1)),
                np.broadcast_to(each, (*shape, k.size)))  # fmt: skip
        return np.concatenate(both, axis=-1)

    def _found(self, scope: Scope, budget: Array) -> tuple[Array, Array]:
        """P(one of the attempts succeeds), and P(none does) with its own digits."""
        if self.p is None:
            among = self._among(scope)
            some = np.minimum(budget, among) / np.maximum(among, 1.0)
            return np.asarray(some), np.asarray(1.0 - some)
        p = np.asarray(scope.value(self.p), dtype=float)
        none = (1.0 - p) ** budget
        with np.errstate(divide="ignore", invalid="ignore"):
            some = -np.expm1(np.where(budget == 0, 0.0, np.maximum(budget, 1) * np.log1p(-p))) + 0.0
        return np.where(np.isnan(some), 1.0 - none, some), np.asarray(none)

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Try, and try again, until it succeeds or the budget is spent."""
        budget = np.broadcast_to(self._budget(scope), rows)
        if self.p is None:
            among = np.broadcast_to(self._among(scope), rows)
            place = np.floor(rng.random(rows) * np.maximum(among, 1)) + 1  # of the right one
            place = np.where(among >= 1, place, np.inf)
        else:
            p, place = np.broadcast_to(scope.value(self.p), rows), np.full(rows, np.inf)
            trying, attempt = np.arange(rows), 0
            while (trying := trying[budget[trying] > attempt]).size:
                attempt += 1
                hit = rng.random(trying.size) < p[trying]
                place[trying[hit]] = attempt
                trying = trying[~hit]
        found = place <= budget
        if self._is_yes_no(scope.child):
            return yes_or_no(scope.child, found)
        return np.where(found, place, 0).astype(np.intp)

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        """Of p (1 - p)^(k - 1) and (1 - p)^n: n, the budget."""
        return None if self.budget is None or self.p is None else _most(self.budget, parents)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = [] if self._is_yes_no(child) else _counted(child, self.kind)
        if (self.p is None) == (self.among is None):
            message = "needs either p, the chance of each attempt, or among, how many candidates"
            found.append(Problem(("kind",), message))
        if self.budget is None and self._is_yes_no(child):
            found.append(Problem(("kind",), "needs budget, the number of attempts"))
        for name in ("p", "among", "budget"):
            if getattr(self, name) is not None:
                found += needs_parent(getattr(self, name), name, parents)
        if self.p is not None:
            found += needs_probability(self.p, "p")
        return found or self.misfits(child, parents)

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        if self.budget is None or self._is_yes_no(child):
            return []
        return _most_problems(self.budget, "budget", child, parents)


@dataclass(frozen=True)
class Poisson(CPD):
    """P(k) = e^-m m^k / k!; the last state holds that many or more, so that nothing is lost."""

    kind: ClassVar[str] = "poisson"
    by_name: ClassVar[bool] = True
    mean: Ref = field(metadata={"story": "how many on average"})

    def probabilities(self, scope: Scope) -> Array:
        mean = self._mean(scope)[..., None]
        last = scope.child.size - 1
        k = np.arange(last, dtype=float)
        law = np.exp(xlogy(k, mean) - mean - gammaln(k + 1))
        return np.concatenate((law, _more(mean, last - 1)), axis=-1)

    def cut(self, scope: Scope) -> Array:
        """P(more than the last state says), of every configuration."""
        return _more(self._mean(scope), scope.child.size - 1)

    def _mean(self, scope: Scope) -> Array:
        mean = np.asarray(scope.value(self.mean), dtype=float)
        if not (mean >= 0).all():  # also catches NaN
            raise ModelError(f"{scope.child.name}: a mean below 0; it must be 0 or more")
        return mean

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Count what happens, up to the last state."""
        found = rng.poisson(np.broadcast_to(self._mean(scope), rows))
        return np.minimum(found, scope.child.size - 1).astype(np.intp)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = _counted(child, self.kind) + needs_parent(self.mean, "mean", parents)
        if not isinstance(self.mean, str) and self.mean < 0:
            found.append(Problem(("mean",), f"{self.mean:g} is no mean of counts: use 0 or more"))
        return found


def _more(mean: Any, than: int) -> Array:
    """P(more than so many), with its own digits; certain where more than -1 is asked."""
    return np.ones_like(mean) if than < 0 else np.asarray(pdtrc(than, mean))
