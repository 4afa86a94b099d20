"""From the table to the population: how many people look like the target there.

    pitman-uniqueness   yes when a class of one in the table is still alone in the population
    pitman-class-size   how large the class is in the population
    pitman-match        yes when a guess within the population class is right: E[1/F | f]
    survey-class-size   the population class size from survey weights  [BenedettiFranconi98]

The first three seat the newcomers of Pitman's partition [Pitman95] at the tables of a fit, theta
and alpha, or average over a posterior of them, which makes them the posterior predictive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.cpds.protocol import (
    CPD,
    YES,
    Array,
    Ref,
    Scope,
    Variable,
    needs_parent,
    needs_yes_no,
    yes_no,
)
from reidbn.errors import DataError, ModelError, Problem

# theory's modules need SciPy's special functions, which take longer to import than every kind
# together; they are imported where they are used.
LITERAL = 2_000
"""Newcomers up to this number are seated one by one; more are drawn from the urn."""


@dataclass(frozen=True)
class _Pitman(CPD):
    """The fields and the fit that the three Pitman kinds share."""

    class_size: Ref = field(metadata={"story": "f: records of the table that match the target"})
    records: Ref = field(metadata={"story": "n: people in the table"})
    population: Ref = field(metadata={"story": "N: people in the population, the table's too"})
    theta: Ref | None = field(default=None, metadata={"story": "theta of Pitman's partition"})
    alpha: Ref | None = field(default=None, metadata={"story": "alpha of Pitman's partition"})
    posterior: tuple[tuple[float, float, float], ...] = field(
        default=(), metadata={"story": "theta, alpha and weight, to average over instead"}
    )

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = []
        for name in ("class_size", "records", "population", "theta", "alpha"):
            ref = getattr(self, name)
            if ref is not None:
                found += needs_parent(ref, name, parents)
        given = self.theta is not None and self.alpha is not None
        if given == bool(self.posterior):
            message = "needs theta and alpha, or a posterior of them, and not both"
            found.append(Problem(("theta",), message))
        weight = sum(row[2] for row in self.posterior)
        if self.posterior and not abs(weight - 1) < 1e-9:
            message = f"the weights sum to {weight:g}; they must sum to 1"
            found.append(Problem(("posterior",), message))
        return found

    def _seats(self, scope: Scope) -> tuple[Array, Array, Array, Array, Array, Array]:
        """f, n, N, theta, alpha and weight, with one more axis, for the posterior, at the end."""
        f, n, N = (
            np.asarray(scope.value(ref), dtype=float)[..., None]
            for ref in (self.class_size, self.records, self.population)
        )
        if self.posterior:
            theta, alpha, weight = np.array(self.posterior).T
        else:
            theta, alpha = (
                np.asarray(scope.value(ref), dtype=float)[..., None]
                for ref in (self.theta or 0.0, self.alpha or 0.0)
            )
            weight = np.ones(1)
        name = scope.child.name
        if (n < 1).any() or (n > N).any():
            raise ModelError(
                f"{name}: {scope.shown(n.max(), self.records)} records in a population of "
                f"{scope.shown(N.min(), self.population)}; the table must be a part of the "
                "population"
            )
        refuse_too_many(scope, (self.class_size, self.records), f, n)
        if not ((alpha >= 0) & (alpha < 1) & (theta > -alpha) & np.isfinite(theta)).all():
            raise ModelError(
                f"{name}: theta and alpha lie outside 0 <= alpha < 1, theta > -alpha; a fit "
                "without a finite maximum has none: use its posterior"
            )
        return f, n, N, theta, alpha, weight

    def _grown(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.int64]:
        """Population class sizes: the newcomers are seated, each row with its own parameters."""
        f, n, N, theta, alpha, weight = self._seats(scope)
        if self.posterior:
            chosen = rng.choice(weight.size, size=rows, p=weight / weight.sum())
            theta, alpha = theta[chosen][:, None], alpha[chosen][:, None]
        f, n, N, theta, alpha = (np.broadcast_to(x[..., 0], rows) for x in (f, n, N, theta, alpha))
        f = np.maximum(f, 1)  # a class of nobody has probability 0
        if (N - n).max() > LITERAL:
            from reidbn.theory.pitman import urn_growth

            return urn_growth(rng, f, n, N, theta=theta, alpha=alpha)
        size, seated = f.copy(), n.copy()
        for _ in range(int((N - n).max())):
            joins = rng.random(rows) * (seated + theta) < size - alpha
            size += joins & (seated < N)
            seated = np.minimum(seated + 1, N)
        return size.astype(np.int64)


@dataclass(frozen=True)
class PitmanUniqueness(_Pitman):
    """Yes when the class has one record in the table and one person in the population."""

    kind: ClassVar[str] = "pitman-uniqueness"
    by_name: ClassVar[bool] = True

    def probabilities(self, scope: Scope) -> Array:
        from reidbn.theory.pitman import stays_unique

        f, n, N, theta, alpha, weight = self._seats(scope)
        stays = np.asarray(stays_unique(n, N, theta=theta, alpha=alpha)) @ weight
        return yes_no(scope.child, np.where(f[..., 0] == 1, stays, 0.0))

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Seat everybody else of the population and see whether the target is still alone."""
        f = np.broadcast_to(np.asarray(scope.value(self.class_size)), rows)
        alone = (f == 1) & (self._grown(rng, scope, rows) == 1)
        return _answer(scope, alone)

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return needs_yes_no(child, self.kind) + super().problems(child, parents)


@dataclass(frozen=True)
class PitmanMatch(_Pitman):
    """Yes with probability E[1/F | f]: a guess among the population class names the target."""

    kind: ClassVar[str] = "pitman-match"
    by_name: ClassVar[bool] = True

    def probabilities(self, scope: Scope) -> Array:
        from reidbn.theory.class_law import mean_inverse

        f, n, N, theta, alpha, weight = self._seats(scope)
        right = mean_inverse(np.maximum(f, 1), n, N, theta=theta, alpha=alpha)
        return yes_no(scope.child, np.where(f[..., 0] >= 1, np.asarray(right) @ weight, 0.0))

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Seat everybody else, then point at one of the class; the target is number 0."""
        f = np.broadcast_to(np.asarray(scope.value(self.class_size)), rows)
        guess = np.floor(rng.random(rows) * self._grown(rng, scope, rows))
        return _answer(scope, (guess == 0) & (f >= 1))

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return needs_yes_no(child, self.kind) + super().problems(child, parents)


@dataclass(frozen=True)
class PitmanClassSize(_Pitman):
    """The class's population size; a state stands for its numeral up to below the next one.

    The last state stands for its numeral and everything above.
    """

    kind: ClassVar[str] = "pitman-class-size"
    has_bands: ClassVar[bool] = True
    by_name: ClassVar[bool] = True

    def probabilities(self, scope: Scope) -> Array:
        f, n, N, theta, alpha, _ = np.broadcast_arrays(*self._seats(scope))
        f = np.maximum(f, 1)
        shape = f.shape[:-1]
        # One law per distinct case: subjects share few class sizes.
        own = 1 if self.posterior else f.shape[-1]
        cases = np.stack([x[..., :own].reshape(-1) for x in (f, n, N, theta, alpha)], axis=1)
        distinct, place = np.unique(cases, axis=0, return_inverse=True)
        starts = _starts(scope.child)
        table = np.array([self._law(row, starts) for row in distinct])
        return np.asarray(table[place.ravel()].reshape(*shape, len(starts)))

    def _law(self, case: Array, starts: NDArray[np.int64]) -> Array:
        from reidbn.theory.class_law import ClassSizePosterior
        from reidbn.theory.region import Nodes

        f, n, N = (int(x) for x in case[:3])
        if self.posterior:
            nodes = Nodes(*np.array(self.posterior).T)
        else:
            nodes = Nodes.single(float(case[3]), float(case[4]))
        below = ClassSizePosterior(f, n, N, nodes).cdf(starts[1:] - 1)
        return np.diff(below, prepend=0.0, append=1.0)

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Seat everybody else of the population and count who looks like the target."""
        return _binned(scope.child, self._grown(rng, scope, rows))

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        return _needs_sizes(child, self.kind) + super().problems(child, parents)


@dataclass(frozen=True)
class SurveyClassSize(CPD):
    """The class's population size from survey weights: f + negative binomial, p = f / weight.

    States as in pitman-class-size.
    """

    kind: ClassVar[str] = "survey-class-size"
    has_bands: ClassVar[bool] = True
    by_name: ClassVar[bool] = True
    class_size: Ref = field(metadata={"story": "f: records of the table that match the target"})
    class_weight: Ref = field(metadata={"story": "sum of their survey weights"})

    def probabilities(self, scope: Scope) -> Array:
        from reidbn.theory.survey import class_size_cdf

        f, share = self._share(scope)
        below = class_size_cdf(_starts(scope.child)[1:] - 1, f[..., None], share[..., None])
        return np.diff(below, prepend=0.0, append=1.0, axis=-1)

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """People of the class are met in turn, each in the table with chance p, until f are."""
        f, share = (np.broadcast_to(x, rows) for x in self._share(scope))
        return _binned(scope.child, (f + rng.negative_binomial(f, share)).astype(np.int64))

    def _share(self, scope: Scope) -> tuple[Array, Array]:
        f = np.asarray(scope.value(self.class_size), dtype=float)
        weight = np.asarray(scope.value(self.class_weight), dtype=float)
        if (weight < f * (1 - 1e-12)).any():
            raise ModelError(
                f"{scope.child.name}: the weights of a class sum to less than its records; a "
                "weight says how many people a record stands for"
            )
        f, weight = np.broadcast_arrays(f, weight)
        empty = f < 1  # has probability 0, and still needs a legal row
        return np.where(empty, 1.0, f), np.where(empty, 1.0, np.minimum(f / weight, 1.0))

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        found = _needs_sizes(child, self.kind) + needs_parent(
            self.class_size, "class_size", parents
        )
        return found + needs_parent(self.class_weight, "class_weight", parents)


def refuse_too_many(scope: Scope, refs: tuple[Ref, Ref], f: Array, n: Array) -> None:
    """A class is a part of the table: what is said of larger ones would be of no class."""
    if not (f > n).any():
        return
    f, n = (x[np.broadcast_to(f > n, x.shape)] for x in np.broadcast_arrays(f, n))
    ref, size = refs[0], f"{f[0]:g}"
    which = f"class_size ({ref}) is {size}"
    if scope.read_people([ref]):
        which = f"class_size ({ref}) is too large"
    remedy = "it counts records of the table, so it is at most their number"
    if isinstance(ref, str) and not ref.startswith(("$", "@")):
        which = f'class_size is node {ref}, which has a state "{size}",'
        remedy = f"let the states of {ref} end at their number"
    error = DataError if str(ref).startswith("@") else ModelError
    has = scope.shown(n[0], refs[1])
    raise error(f"{scope.child.name}: {which} where the table has {has} records; {remedy}")


def _answer(scope: Scope, yes: Any) -> NDArray[np.intp]:
    at = scope.child.states.index(YES)
    return np.where(yes, at, 1 - at)


def _starts(child: Variable) -> NDArray[np.int64]:
    return np.array([int(state) for state in child.states], dtype=np.int64)


def _binned(child: Variable, sizes: NDArray[np.int64]) -> NDArray[np.intp]:
    return np.searchsorted(_starts(child), sizes, side="right") - 1


def _needs_sizes(child: Variable, kind: str) -> list[Problem]:
    rising = all(state.isdigit() for state in child.states) and not child.is_group
    sizes = [int(state) for state in child.states] if rising else []
    if len(sizes) < 2 or sizes[0] != 1 or sizes != sorted(set(sizes)):
        message = f"the states of {kind} must be rising class sizes from 1, such as 1, 2, 3, 5, 10"
        return [Problem(("kind",), message)]
    return []
