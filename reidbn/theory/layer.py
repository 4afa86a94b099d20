"""From a model's share of a row to how many people of the population are in it: a calibrated layer.

Models say that a row has the share H of the population (structure.py).  Seen from a person of the
row the other n - 1 of the table fall in it independently, each with the row's own chance p.  With
x = log(nH),

    f - 1 ~ Poisson((n - 1) p),    log(n p) = a + b x + e                                    (1)

at *record level*: nothing is truncated, since the person is there.  e is normal, and the rarer the
row the less do models know of it: with m = a + b x its standard deviation is

    s(m) = min(s exp(-.3 m), 2.5)                                                            (2)

for nine rows in ten, and for one of which the models know less its variance is s(m)^2 + .85^2.
A share that r others of the table tell is known as Gamma(r + 1/2) is, whose log has the variance
psi'(r + 1/2): where only one other or two have the rarest of a row's values, the variance of e is
as much larger (`BESIDE`), since the models took that value to be as common as those few say.
What the rows of one to three people say of (a, b, s), given that they have one to three, is the
likelihood

    L = prod_x P(f_x | f_x <= 3)^(f_x c)                                                     (3)

with the same c for all rows, that together they count once per row.  The prior is a - s^2/2 ~
N(.15, .3), b ~ N(.9, .12), ln s ~ N(ln max(.4, .3 d), .6): its middle, and (2), are where real
tables put them (docs/population.md).  d is how far the log shares of the two models of structure.py
are apart from row to row: models that contradict each other know less.  Where most people have a
value of their own on an attribute, a is as much less sure as the share of such a value is, and as
how it goes together with the others is.

Of a person in a class of f,

    P(F = 1 | f = 1) = E[(1-p)^(n-1) (1-p)^(N-n)] / E[(1-p)^(n-1)]                           (4)
    E[1/F | f]       = E[p^(f-1) (1-p)^(n-f) J_f((N-n)p)] / E[p^(f-1) (1-p)^(n-f)]           (5)

where J_f(v) is the mean of 1/(f + X) for a Poisson X of mean v, and E is over e and the posterior.
Classes of four and more have a layer of their own, fitted on classes of four to thirty: what holds
of rare rows says little of common ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import gammaln, polygamma

from reidbn.theory.loglinear import mean_inverse_beside

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

FEW = 3
"""The largest class that (3) looks at."""
COMMON = 30
"""The largest class that the layer of larger classes is fitted on."""
UNKNOWN, UNKNOWN_SD = 0.1, 0.85
"""Share of the rows of which the models know less, and how much further off they are."""
BESIDE = (0.0, *polygamma(1, np.array([1.5, 2.5])).tolist())
"""What the variance of e has on top, by how many others hold a row's rarest value; 0: more."""
FALLS, WIDEST = 0.3, 2.5
"""How fast s falls from rare rows to common ones, and the most that it is."""
MID_A, SD_A, MID_B, SD_B, SD_S = 0.15, 0.3, 0.9, 0.12, 0.6
LEAST_S, OF_APART = 0.4, 0.3
OF_UNSURE = 2.0  # as far apart are models that are so unsure
BINS = 40  # of x, so that the cost does not grow with the table
GRID = (13, 7, 7)
LOW, HIGH = np.array([-1.4, 0.55, np.log(0.02)]), np.array([1.8, 1.35, np.log(2.0)])
KEPT = 1e-5  # of the posterior, that a grid point is kept for
LARGEST = 1 - 1e-6  # a row has less than everybody
NOBODY = 1e-300  # a row of almost everybody is no person's own
_Z, _W = hermegauss(15)
_W = _W / _W.sum()
_BOTH = np.concatenate(((1 - UNKNOWN) * _W, UNKNOWN * _W))


@dataclass(frozen=True, eq=False)
class CalibratedLayer:
    """The posterior of (a, b, s) on grid points, and what it says of persons."""

    n: float
    a: Floats
    b: Floats
    s: Floats
    weight: Floats

    @property
    def mean(self) -> tuple[float, float, float]:
        """The posterior means of a, b and s."""
        a, b, s = (float(self.weight @ v) for v in (self.a, self.b, self.s))
        return a, b, s

    def p_unique(self, x: Floats, N: float, beside: float = 0.0) -> Floats:
        """Equation (4): axes grid point, x; `beside` is one of `BESIDE`."""
        stay = np.log1p(-self._p(x, beside))
        weight = _BOTH * np.exp((self.n - 1) * stay)
        told = (weight * np.exp((N - self.n) * stay)).sum(axis=2)
        return np.asarray(told / np.maximum(weight.sum(axis=2), NOBODY))

    def all_alike(self, x: Floats, N: float) -> Floats:
        """P(F = 1 | f = 1) were there no e, and rows of one x alike likely: grid point, x."""
        return np.asarray(np.exp((N - self.n) * np.log1p(-self._alike(x))))

    def match_alike(self, f: int, x: Floats, N: float) -> Floats:
        """E[1/F | f] in the same way."""
        p = self._alike(x)
        return np.asarray(mean_inverse_beside(np.full(p.shape, float(f)), (N - self.n) * p))

    def _alike(self, x: Floats) -> Floats:
        log_p = self.a[:, None] + self.b[:, None] * x - np.log(self.n)
        return np.asarray(np.minimum(np.exp(log_p), LARGEST))

    def mean_inverse(self, f: int, x: Floats, N: float, beside: float = 0.0) -> Floats:
        """Equation (5) for a class size of at most `FEW`: axes grid point, x."""
        p = self._p(x, beside)
        weight = _BOTH * (self.n * p) ** (f - 1) * np.exp((self.n - f) * np.log1p(-p))
        told = mean_inverse_beside(np.full(p.shape, f), (N - self.n) * p)
        return np.asarray((weight * told).sum(axis=2) / np.maximum(weight.sum(axis=2), NOBODY))

    def _p(self, x: Floats, beside: float) -> Floats:
        log_np = (self.a[:, None] + self.b[:, None] * x)[:, :, None]
        off = _errors(self.s, log_np, beside)
        return np.asarray(np.minimum(np.exp(log_np + off - np.log(self.n)), LARGEST))


def _errors(s: Floats, m: Floats, beside: float) -> Floats:
    """Nodes of e: axes grid point, x, node; m = a + b x has an axis of one for the nodes."""
    own = spread_at(s[:, None, None], m) ** 2 + beside
    return np.concatenate([np.sqrt(own) * _Z, np.sqrt(own + UNKNOWN_SD**2) * _Z], axis=2)


def spread_at(s: Any, m: Floats) -> Floats:
    """Equation (2): the standard deviation of e at m = a + b x."""
    return np.asarray(np.minimum(s * np.exp(-FALLS * m), WIDEST))


def middle_of(apart: Any) -> Any:
    """The prior's middle of ln s, of models so far apart."""
    return np.log(np.maximum(LEAST_S, OF_APART * apart))


def how_far_apart(one: Floats, other: Floats, people: Ints) -> float:
    """Standard deviation over people of the difference of two models' log shares; 0 of nobody."""
    if not len(people):
        return 0.0
    off = one - other - np.average(one - other, weights=people)
    return float(np.sqrt(np.average(off**2, weights=people)))


def which_beside(others: NDArray[Any]) -> NDArray[Any]:
    """Which of `BESIDE` rows have, by how many others hold the rarest value of each."""
    return np.where((others > 0) & (others < len(BESIDE)), others, others.dtype.type(0))


def fit_layer(
    x: Floats, f: Ints, n: float, apart: float = 0.0, unsure: float = 0.0,
    beside: Ints | None = None,
) -> CalibratedLayer:  # fmt: skip
    """The posterior of (a, b, s) from the rows of one to three people, of models `apart`.

    First on a wide grid, then on one over three standard deviations around its mean.  `unsure` is
    the standard deviation of what nobody knows of a, beside the prior's own; `beside` says which
    of `BESIDE` each row has, the first where it is left out.
    """
    few = f <= FEW
    x, f, of = x[few], f[few], np.zeros(few.sum()) if beside is None else beside[few]
    each, seen = _each(f), []
    for k, more in enumerate(BESIDE):
        some = of == k
        if some.any() or not k:
            seen.append((_binned(x[some], f[some], (1, FEW), each), more))
    ends = ends_of(unsure)
    low, high = ends
    prior = float(middle_of(max(apart, OF_UNSURE * unsure))), float(np.hypot(SD_A, unsure))
    points, weight = _posterior(low, high, seen, n, 1, prior)
    middle = points @ weight
    spread = np.sqrt(np.maximum((points - middle[:, None]) ** 2 @ weight, 0))
    spread = np.maximum(spread, (ends[1] - ends[0]) / (np.array(GRID) - 1) / 3)
    low, high = np.maximum(ends[0], middle - 3 * spread), np.minimum(ends[1], middle + 3 * spread)
    points, weight = _posterior(low, high, seen, n, 1, prior)
    keep = weight > KEPT
    a, b, log_s = points[:, keep]
    return CalibratedLayer(n, a, b, np.exp(log_s), weight[keep] / weight[keep].sum())


def ends_of(unsure: float) -> tuple[Floats, Floats]:
    """The ends of the grid, where a is so unsure."""
    more = np.array([3 * unsure, 0.0, 0.0])
    return LOW - more, HIGH + more


def _posterior(
    low: Floats,
    high: Floats,
    seen: list[tuple[tuple[Floats, Floats], float]],
    n: float,
    smallest: int,
    prior: tuple[float, float],
) -> tuple[Floats, Floats]:
    """Points (a, b, ln s) of a grid, and their weights; `prior`: middle of ln s, sd of a.

    `seen` are rows, as `_binned`, and what the variance of their e has on top.
    """
    middle_s, sd_a = prior
    axes = [np.linspace(*ends) for ends in zip(low, high, GRID, strict=True)]
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")])
    a, b, log_s = points
    s = np.exp(log_s)
    off = ((a - s**2 / 2 - MID_A) / sd_a) ** 2 + ((b - MID_B) / SD_B) ** 2
    told = -(off + ((log_s - middle_s) / SD_S) ** 2) / 2
    for rows, beside in seen:
        told += log_likelihood(a, b, s, rows, n, smallest, beside)
    weight = np.exp(told - told.max())
    return points, weight / weight.sum()


def _each(f: Ints) -> float:
    """What a person counts, c of equation (3): all count as many as there are classes f."""
    return 1 / float(f.mean()) if len(f) else 1.0


def _binned(x: Floats, f: Ints, ends: tuple[int, int], each: float) -> tuple[Floats, Floats]:
    """Mean x of each bin, and people by bin and class size between `ends`, who count `each`."""
    low, high = ends
    if not len(x):
        return np.zeros(1), np.zeros((1, high - low + 1))
    start = float(x.min())
    width = max((float(x.max()) - start) / BINS, 1e-9)
    at = np.minimum(((x - start) / width).astype(np.int64), BINS - 1)
    sizes = high - low + 1
    people = np.bincount(at * sizes + f - low, weights=f, minlength=BINS * sizes)
    people = people.reshape(BINS, sizes)
    held = people.sum(axis=1)
    some = held > 0
    centres = np.bincount(at, weights=x * f, minlength=BINS)[some] / held[some]
    return centres, people[some] * each


def log_likelihood(
    a: Floats, b: Floats, s: Floats, seen: tuple[Floats, Floats], n: float, low: int,
    beside: float = 0.0,
) -> Floats:  # fmt: skip
    """Log of (3) for class sizes from `low` on, by point."""
    x, people = seen
    m = (a[:, None] + b[:, None] * x)[:, :, None]
    log_mean = np.minimum(m + _errors(s, m, beside), np.log(n))
    mean = np.exp(log_mean) * ((n - 1) / n)
    part = np.exp((low - 1) * log_mean - mean - gammaln(low))
    law = np.empty((people.shape[1], *mean.shape[:2]))
    for k in range(people.shape[1]):
        law[k] = part @ _BOTH
        part *= mean / (low + k)
    np.maximum(law, 1e-300, out=law)
    return np.asarray(np.einsum("kgx,xk->g", np.log(law / law.sum(axis=0)), people))


# -- classes of four and more ----------------------------------------------------------------------


def common_layer(x: Floats, f: Ints, n: float) -> tuple[float, float, float]:
    """(a, b, s) of the classes of four to thirty people: the best point under the same prior."""
    some = (f > FEW) & (f <= COMMON)
    seen = [(_binned(x[some], f[some], (FEW + 1, COMMON), _each(f[some])), 0.0)]
    points, weight = _posterior(LOW, HIGH, seen, n, FEW + 1, (float(middle_of(0.0)), SD_A))
    a, b, log_s = points[:, int(np.argmax(weight))]
    return float(a), float(b), float(np.exp(log_s))


def mean_inverse_common(
    f: Floats, x: Floats, n: float, N: float | Floats, layer: tuple[float, float, float]
) -> Floats:
    """Equation (5) for classes of any size, by class, with one (a, b, s) and e normal.

    N is one number, or one for each class.

    The posterior of t = log(np) is narrow where f is large, so the nodes are laid around its mode,
    which solves f - 1 = e^t + (t - a - bx)/s^2 and which Newton's steps find.
    """
    a, b, s = layer
    middle = a + b * x
    precision = 1 / spread_at(s, middle) ** 2
    t = np.log(np.maximum(f - 1, 0.5))
    for _ in range(30):
        grown = np.exp(t)
        slope = (grown + precision * (t - middle) - (f - 1)) / (grown + precision)
        t -= np.clip(slope, -2, 2)
    width = 1 / np.sqrt(np.exp(t) + precision)
    at = t[:, None] + width[:, None] * _Z
    log_weight = (f[:, None] - 1) * at - np.exp(at)
    log_weight -= precision[:, None] / 2 * (at - middle[:, None]) ** 2
    log_weight += _Z**2 / 2  # the nodes' own weight has it already
    weight = _W * np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    outside = (np.asarray(N)[..., None] - n) * np.minimum(np.exp(at) / n, LARGEST)
    told = mean_inverse_beside(np.repeat(f[:, None], at.shape[1], axis=1), outside)
    return np.asarray((weight * told).sum(axis=1) / weight.sum(axis=1))
