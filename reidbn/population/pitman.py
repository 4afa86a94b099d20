"""Pitman's model fitted: parameters, exact expectations, intervals, class-size laws.

`pitman` is constrained maximum likelihood, `ewens` the same with alpha = 0, `pitman-bayes`
integrates the parameters out on a grid.  Where maximum likelihood has no point, the posterior
mean stands in and the warnings say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.calls import refuse_misfit, typed
from reidbn.errors import UsageError, did_you_mean
from reidbn.late import late
from reidbn.population.remarks import of_width, pitman_remarks
from reidbn.population.result import Uniqueness
from reidbn.theory.agreement import profile_interval
from reidbn.theory.class_law import ClassSizePosterior, mean_inverse
from reidbn.theory.frequencies import Packed
from reidbn.theory.gamma import like
from reidbn.theory.pitman import (
    expected_uniques,
    expected_uniques_asymptotic,
    expected_uniques_given,
    stays_unique,
)
from reidbn.theory.pitman_fit import BOUNDARY, INTERIOR, MaximumLikelihood, maximise
from reidbn.theory.realised import Realised
from reidbn.theory.region import Nodes, Region, posterior

Floats: TypeAlias = NDArray[np.float64]
PITMAN_MODELS = ("pitman", "pitman-bayes", "ewens")
QUANTITIES = (
    "expected_uniques",
    "expected_uniques_in_table",
    "expected_uniques_marginal",
    "p_unique",
    "mean_inverse",
    "theta",
    "alpha",
)
INTERVALS = ("profile", "grid")


@dataclass(frozen=True, eq=False, repr=False)
class PitmanFit(Uniqueness):
    """Pitman's partition fitted to one table.

    >>> from reidbn import population
    >>> fit = population.fit(sizes=[1, 2, 3, 9], counts=[812, 150, 60, 9], population=100_000)
    >>> fit.status, round(fit.theta, 3), round(fit.alpha, 6)
    ('interior', 971.673, 0.409765)
    """

    name: str
    top: MaximumLikelihood

    @property
    def model(self) -> str:
        return self.name

    @property
    def status(self) -> str:
        return self.top.names()[0]

    @property
    def has_maximum(self) -> bool:
        """Whether the likelihood has a finite maximum."""
        return self.status in (INTERIOR, BOUNDARY)

    @property
    def log_likelihood(self) -> float:
        """The highest log-likelihood, at theta and alpha."""
        return float(self.top.log_likelihood[0])

    # Parameters

    @cached_property
    def theta(self) -> float:
        """The estimate of theta; inf or minus alpha where the likelihood has no finite maximum."""
        if self.name == "pitman-bayes":
            t = math.exp(self.nodes.mean(np.log(self.nodes.theta + self.nodes.alpha)))
            return t - self.alpha
        return float(self.top.theta[0])

    @cached_property
    def alpha(self) -> float:
        """The estimate of alpha: 0 on the boundary and where there is no maximum."""
        if self.name == "pitman-bayes":
            return self.nodes.mean(self.nodes.alpha)
        return float(self.top.alpha[0])

    @cached_property
    def covariance(self) -> Floats | None:
        """Of (theta, alpha): inverse information, or the posterior's; None without a maximum.

        Where alpha is 0, on the boundary or by the model, it is that of theta alone.
        """
        if self.name == "pitman-bayes":
            points = np.stack([self.nodes.theta, self.nodes.alpha])
            return np.cov(points, aweights=self.nodes.weight, ddof=0)
        if not self.has_maximum:
            return None
        t = self.theta + self.alpha
        information = self.top.information[0]
        if self.alpha == 0:
            return np.array([[t * t / information[0, 0], 0.0], [0.0, 0.0]])
        turn = np.array([[t, -1.0], [0.0, 1.0]])
        return np.asarray(turn @ np.linalg.inv(information) @ turn.T)

    # Expectations

    @cached_property
    def posterior(self) -> Nodes:
        """The grid over the parameters, weighted by their posterior."""
        return posterior(self.region)

    @cached_property
    def nodes(self) -> Nodes:
        """The parameters that the expectations are taken over: one pair, or the grid."""
        if self.name == "pitman-bayes" or not self.has_maximum:
            return self.posterior
        return Nodes.single(float(self.top.theta[0]), float(self.top.alpha[0]))

    @cached_property
    def expected_uniques(self) -> float:
        """Expected population uniques given this table, exactly (no asymptotics)."""
        return self._mean("expected_uniques")

    @cached_property
    def expected_uniques_marginal(self) -> float:
        """Expected population uniques of any population with these parameters, table unseen."""
        return self._mean("expected_uniques_marginal")

    @cached_property
    def expected_uniques_asymptotic(self) -> float:
        """The usual large-population form of the marginal one, for comparison."""
        theta, alpha = self.nodes.theta, self.nodes.alpha
        return self.nodes.mean(
            expected_uniques_asymptotic(self.population, theta=theta, alpha=alpha)
        )

    @cached_property
    def p_unique(self) -> float:
        """P(unique in the population | unique in the table), exactly."""
        return self._mean("p_unique")

    @property
    def _uniques_before_table(self) -> float:
        return self.expected_uniques_marginal

    def _mean(self, quantity: str) -> float:
        return self.nodes.mean(self._quantity(quantity)(self.nodes.theta, self.nodes.alpha))

    # Class sizes

    @typed
    def class_size_posterior(self, class_size: int) -> ClassSizePosterior:
        """The distribution of F given f = `class_size`; `.mean_inverse` is E[1/F | f]."""
        return ClassSizePosterior(int(class_size), self.n, self.population, self.nodes)

    @typed
    def mean_inverse(self, class_sizes: int | Sequence[int] | NDArray[Any]) -> Any:
        """E[1/F | f] for one class size f in the table, or many: `class_sizes`."""
        refuse_misfit("mean_inverse", "class_sizes", class_sizes, ArrayLike)
        f = np.asarray(class_sizes, dtype=np.float64)[..., None]
        theta, alpha = self.nodes.theta, self.nodes.alpha
        at = mean_inverse(f, self.n, self.population, theta=theta, alpha=alpha)
        values = np.asarray(at @ self.nodes.weight)
        return like(values)

    @cached_property
    def expected_match(self) -> float:
        """Mean over the table's people of E[1/F | f]: the journalist's chance of a right match."""
        sizes, counts = self.sample.table.sizes, self.sample.table.counts
        return float(self.mean_inverse(sizes) @ (sizes * counts)) / self.n

    # Uncertainty

    @cached_property
    def region(self) -> Region:
        """The likelihood around its maximum."""
        held = 0.0 if self.name == "ewens" else None
        return Region(Packed.of([self.sample.table]), float(self.population), self.top, held)

    @typed
    def interval(
        self,
        quantity: str = "expected_uniques",
        *,
        level: float = 0.95,
        method: str = "profile",
        class_size: int = 1,
    ) -> tuple[float, float]:
        """A confidence interval of an expectation or a parameter, not of what will turn out.

        `profile` holds every value that a likelihood-ratio test at this level does not exclude;
        `grid` is the central interval of the posterior: `method` is one of the two, `quantity` such
        as "expected_uniques", "p_unique", "theta", or "mean_inverse" of a `class_size`.
        """
        check_level(level)
        g = self._quantity(quantity, class_size)
        if method == "grid":
            values = g(self.posterior.theta, self.posterior.alpha)
            tail = (1 - level) / 2
            ends = self.posterior.quantile(values, tail), self.posterior.quantile(values, 1 - tail)
        elif method == "profile":
            ends = profile_interval(self.region, g, level=level)
        else:
            raise UsageError(f'no method "{method}"; {did_you_mean(method, INTERVALS)}')
        return ends

    @cached_property
    def realised(self) -> Realised:
        """The predictive law of the number of population uniques, parameters integrated out."""
        table = self.sample.table
        return Realised.of(self.n, self.population, table.uniques, table.classes, self.posterior)

    @cached_property
    def realised_in_table(self) -> Realised:
        """The predictive law of how many of the table's unique rows are population uniques."""
        return Realised.of_table(self.n, self.population, self.uniques, self.posterior)

    @typed
    def prediction_interval(
        self, quantity: str = "uniques", *, level: float = 0.95
    ) -> tuple[int, int]:
        """An interval for what will turn out, from the posterior predictive law.

        `uniques` are the population's, `uniques_in_table` those among the table's unique rows.

        `quantity` is one of these two, `level` the chance to hold it.  Where everybody in the table
        is alike the law knows of nobody else; up to as many unique people as a sample misses with
        the chance of the upper end may be there, ln(tail) / ln(1 - n/N).
        """
        check_level(level)
        laws = {"uniques": "realised", "uniques_in_table": "realised_in_table"}
        if quantity not in laws:
            raise UsageError(f'no quantity "{quantity}"; {did_you_mean(quantity, laws)}')
        law: Realised = getattr(self, laws[quantity])
        tail = (1 - level) / 2
        low, high = law.quantile(tail), law.quantile(1 - tail)
        if quantity == "uniques" and self.sample.table.classes == 1 and self.n < self.population:
            high = max(high, int(np.log(tail) / np.log1p(-self.n / self.population)))
        return low, high

    def _drawn(self, rng: np.random.Generator, draws: int, *, realised: bool) -> Floats:
        if realised:
            return np.asarray(self.realised.sample(rng, draws), dtype=np.float64)
        nodes = self.posterior
        values = self._quantity("expected_uniques")(nodes.theta, nodes.alpha)
        return np.asarray(rng.choice(values, size=draws, p=nodes.weight))

    rehearse = late("reidbn.population.rehearsal:rehearse")

    def _quantity(self, name: str, class_size: int = 1) -> Callable[[Floats, Floats], Floats]:
        n, N, table = self.n, self.population, self.sample.table
        f1, u = table.uniques, table.classes
        known: dict[str, Callable[[Floats, Floats], Floats]] = {
            "expected_uniques": lambda t, a: expected_uniques_given(
                n, N, uniques=f1, classes=u, theta=t, alpha=a
            ),
            "expected_uniques_in_table": lambda t, a: f1 * stays_unique(n, N, theta=t, alpha=a),
            "expected_uniques_marginal": lambda t, a: expected_uniques(N, theta=t, alpha=a),
            "p_unique": lambda t, a: stays_unique(n, N, theta=t, alpha=a),
            "mean_inverse": lambda t, a: mean_inverse(class_size, n, N, theta=t, alpha=a),
            "theta": lambda t, a: t,
            "alpha": lambda t, a: a,
        }
        if name not in known:
            raise UsageError(f'no quantity "{name}"; {did_you_mean(name, known)}')
        return known[name]

    def _remarks(self) -> list[str]:
        return [*pitman_remarks(self), *of_width(*self.prediction_interval())]

    def to_dict(self) -> dict[str, Any]:
        low, high = self.interval()
        covariance = None if self.covariance is None else self.covariance.tolist()
        return {
            **super().to_dict(),
            "theta": self.theta if math.isfinite(self.theta) else None,
            "alpha": self.alpha,
            "covariance": covariance,
            "expected_uniques_interval": [low, high],
            "p_unique_interval": list(self.interval("p_unique")),
            "prediction_interval": list(self.prediction_interval()),
            "expected_uniques_marginal": self.expected_uniques_marginal,
            "p_unique_ratio": self.p_unique_ratio,
            "expected_match": self.expected_match,
        }


def fit_pitman(sample: Any, *, model: str) -> PitmanFit:
    """Fit `pitman`, `pitman-bayes` or `ewens`."""
    held = 0.0 if model == "ewens" else None
    return PitmanFit(sample, model, maximise(Packed.of([sample.table]), held_alpha=held))


def check_level(level: float) -> None:
    """Refuse a level outside (0, 1)."""
    if not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise UsageError(f"level={level} is not between 0 and 1; 0.95 is usual")
