"""How many of n targets are identified in one leak: the exact distribution.

As in `targets`, n targets are drawn from D and looked for one after the other.  A target in the
leak is guessed right with probability 1 / pool, where the pool is the leaked members of the class,
less those identified before (`removed`) or all of them (not `removed`); other targets never are.

Of t targets in a class of k with h leaked, a number T ~ Hypergeometric(k, t, h) is in the leak,
and the guesses on these are a Markov chain in the number identified so far.  With R(r | h, t) the
outcome of that chain, x marking targets, y the identified and z the leaked,

    P(M = m) = [x^n y^m z^L] prod_classes sum_h C(k,h) z^h sum_t C(k,t) x^t sum_r R(r | h, t) y^r
               / C(D,n) C(D,L)                                                                (1)

[y^m] is a discrete Fourier sum over n + 1 points of a circle |y| = e^v as well.  One radius gives
the likely values of M; other radii make others likely, so that each keeps its digits.

Two numbers need no law.  P(M = 0) is (1) at y = 0, one point instead of n + 1, with

    R(0 | h, t) = E (1 - 1/h)^T                                                                 (2)

and the mean is a sum over classes, since of one class H ~ Hypergeometric(D, k, L) and
T ~ Hypergeometric(D, k, n) are independent:

    E M = sum_classes sum_h P(H = h) sum_t P(T = t) sum_r r R(r | h, t)                         (3)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from reidbn.errors import TooLarge
from reidbn.progress import progress
from reidbn.theory.circle import (
    Classes,
    Complex,
    Floats,
    find_log_odds,
    log_binomial,
    log_coefficient,
    points,
    worth_evaluating,
)
from reidbn.theory.hypergeometric import leaked_pmf
from reidbn.theory.targets import log_choose, scale_of_targets

_FAR = -200.0  # log of a leaked class size's probability against the likeliest that is left out
_TOO_MANY = -80.0  # log of a number of targets in one class that is left out
_CERTAIN = 1e-5  # share of a tilted law from which nine digits are safe
_NOISE = 1e-10  # share below which it may be rounding
_STEEPEST = 300.0  # largest tilt that is tried
_NEGLIGIBLE = 1e-40  # share of the likeliest that is left out of a mean
_MOST_MARKED = 40  # P(B > 40) is below 1e-49
_SECONDS = 2e-10  # of one multiplication, as measured
_PER_SIZE = 2e7  # multiplications that a class size costs in any case
_LISTED = 4_000  # leaked class sizes kept in a table
_HELD = 2_000_000


def log_number_identified(
    classes: Classes, leaked: int, targets: int, *, removed: bool = True
) -> Floats:
    """Log of equation (1) for m = 0..n.

    >>> two_pairs = Classes(np.array([2]), np.array([2]))
    >>> np.exp(log_number_identified(two_pairs, 2, 2)).round(6).tolist()
    [0.291667, 0.569444, 0.138889]
    """
    n = targets
    if n == 0 or leaked == 0:
        return np.where(np.arange(n + 1) == 0, 0.0, -np.inf)
    found = _Found(_Law(classes, leaked, n, removed), np.zeros(n + 1), np.full(n + 1, -np.inf))
    lowest, highest = support(classes, leaked, n)
    found.look(0.0)
    found.walk(1, highest)
    found.walk(-1, lowest)
    return np.where(
        (np.arange(n + 1) < lowest) | (np.arange(n + 1) > highest), -np.inf, found.log_p
    )


def log_none_identified(classes: Classes, leaked: int, targets: int) -> float:
    """Log of P(M = 0), by (1) and (2): the same whether identified patients are removed or not.

    >>> two_pairs = Classes(np.array([2]), np.array([2]))
    >>> round(float(np.exp(log_none_identified(two_pairs, 2, 2))), 6)
    0.291667
    """
    if targets == 0 or leaked == 0:
        return 0.0
    if support(classes, leaked, targets)[0] > 0:
        return -np.inf
    return _None(classes, leaked, targets, removed=True).log_total()


def expected_identified(
    classes: Classes, leaked: int, targets: int, *, removed: bool = True
) -> float:
    """The mean of M, equation (3).

    >>> two_pairs = Classes(np.array([2]), np.array([2]))
    >>> round(expected_identified(two_pairs, 2, 2), 6)
    0.847222
    """
    D, total = classes.records, 0.0
    for size, count in zip(*classes, strict=True):
        k = int(size)
        h = np.arange(k + 1, dtype=np.float64)
        of_h = leaked_pmf(D, leaked, k, longest=k)
        kept = of_h > _NEGLIGIBLE * of_h.max()
        h, of_h = h[kept], of_h[kept]
        most = _most_targets(k, int(count), targets, D)
        of_t = leaked_pmf(D, targets, k, longest=min(k, targets))[: most + 1]
        step = max(1, _HELD // (most + 1) ** 2)
        for first in range(0, h.size, step):
            part = slice(first, first + step)
            table = in_one_class(k, h[part], most, 1.0, removed=removed)
            mean = table @ np.arange(most + 1.0)
            total += float(count) * float(of_h[part] @ mean @ of_t)
    return total


def seconds_of_law(classes: Classes, leaked: int, targets: int) -> float:
    """About how long the whole law takes on one core, to a factor of three or so."""
    D, L, n = classes.records, leaked, targets
    if n == 0 or L in (0, D):
        return 0.0
    u = np.array([logit(L / D)])
    spread = np.sqrt(np.array([L * (1 - L / D)]))
    angles = worth_evaluating(classes, points(D, spread, n), u, n).angle.size
    work = 0.0
    for size, count in zip(*classes, strict=True):
        most = _most_targets(int(size), int(count), n, D) + 1
        reach = 12 * np.sqrt(float(size) * L / D * (1 - L / D)) + 20
        leaked_sizes = min(float(size) + 1, 2 * reach)
        work += leaked_sizes * most**2 * (2 * angles + 60 * most) + 4 * most**2 * angles * (n + 1)
        work += 4 * angles * (n + 1) * n**2 * np.log2(float(count) + 1) + _PER_SIZE
    return work * (2 + n / 8) * _SECONDS


def support(classes: Classes, leaked: int, targets: int) -> tuple[int, int]:
    """The smallest and the largest number that can be identified.

    At most every target in the leak.  A target must be identified only when it is alone of its
    class in the leak: in a class of one, or in a class of which everybody is a target.

    >>> support(Classes(np.array([1, 3]), np.array([4, 1])), 6, 3)
    (0, 3)
    """
    D, L, n = classes.records, leaked, targets
    larger = classes.sizes > 1
    room = int((classes.sizes * classes.counts)[larger].sum())
    forced = max(0, (L - min(L, room)) + (n - min(n, room)) - (D - room))
    pairs_only = bool(np.all(classes.sizes[larger] == 2))
    if n == D and 0 < L < room and (L == 1 or (pairs_only and L % 2)):
        forced += 1  # one class of several has to show exactly one member
    return forced, min(n, L)


@dataclass(frozen=True)
class _Found:
    """What is known of the law so far, and how: each value from the tilt that made it likeliest."""

    law: _Law
    best: Floats  # the largest share that each value had under any tilt
    log_p: Floats

    def look(self, tilt: float) -> None:
        share, log_total = self.law.tilted(tilt)
        m = np.flatnonzero(share > np.maximum(self.best, _NOISE))
        self.log_p[m] = np.log(share[m]) + log_total - tilt * m
        self.best[m] = share[m]

    def walk(self, step: int, last: int) -> None:
        """Follow the law upwards or downwards until every value that can occur is certain.

        The next tilt makes the last certain value and the one beyond it alike; while the one beyond
        is too rare to be seen, tilt a little more.
        """
        tilt = 0.0
        while True:
            edge = int(np.flatnonzero(self.best >= _CERTAIN)[-1 if step > 0 else 0])
            if (last - edge) * step <= 0:
                return
            if self.best[edge + step] > _NOISE:
                tilt = float(self.log_p[edge] - self.log_p[edge + step]) * step
            else:
                tilt += 12.0 * step
            if abs(tilt) > _STEEPEST:
                raise TooLarge(
                    f"more than {edge} identified is too rare to be told from rounding; "
                    "the joint risk and simulations need no such tilt"
                )
            self.look(tilt)


@dataclass(frozen=True)
class _Law:
    classes: Classes
    leaked: int
    targets: int
    removed: bool

    def tilted(self, tilt: float) -> tuple[Floats, float]:
        """P(M = m) e^(tilt m) / total for every m, and the log of the total.

        A point and its mirror image (both angles negated) have conjugate values, so the upper
        half circle of z and the real part at the end are enough.
        """
        n = self.targets
        turns = 2 * np.pi * np.arange(n + 1) / (n + 1)
        at, log_scale = self._summed(turns, tilt)
        shares = np.fft.fft(at).real / (n + 1)
        whole = shares.sum()
        return np.maximum(shares / whole, 0), float(np.log(whole) + log_scale)

    def _summed(self, turns: Floats, tilt: float) -> tuple[Complex, float]:
        """[x^n z^L] of (1) at every point of y, and the log of its unit."""
        n, D, L = self.targets, self.classes.records, self.leaked
        u, spread, scale = self._centre(tilt)
        centre = self._log_values(u, np.zeros(1), np.zeros(1), tilt, scale)[0].real
        if D == L:
            angle, weight, log_leaks = np.zeros(1), np.ones(1), 0.0
        else:
            rows = worth_evaluating(self.classes, points(D, spread, n), u, n)
            angle, weight = rows.angle, rows.weight
            log_leaks = float(log_binomial(np.array([float(L)]), D, u)[0])
        at = np.zeros(turns.size, dtype=np.complex128)
        step = max(1, _HELD // (n + 1) ** 2)
        for first in range(0, angle.size, step):
            a, w = angle[first : first + step], weight[first : first + step]
            logs = self._log_values(u, a, turns, tilt, scale).reshape(a.size, turns.size)
            at += w @ np.exp(logs - centre - 1j * L * a[:, None])
        return at, float(centre - n * scale - log_leaks - log_choose(D, n))

    def _centre(self, tilt: float) -> tuple[Floats, Floats, float]:
        """The circle of z (log of its radius), the spread of the law there, the unit of x."""
        D, L = self.classes.records, self.leaked
        if D == L:
            certain = np.full(1, 700.0)
            return certain, np.zeros(1), self._scale(certain, tilt)
        start = np.array([logit(L / D)])
        scale = self._scale(start, tilt)

        def log_rest(u: Floats) -> Floats:
            return self._log_values(u, np.zeros(1), np.zeros(1), tilt, scale).real

        goal = np.array([np.clip(L, 0.2, D - 0.2)])
        u, spread = find_log_odds(log_rest, D, goal, start)
        return u, spread, self._scale(u, tilt)

    def _log_values(
        self, u: Floats, angle: Floats, turns: Floats, tilt: float, scale: float
    ) -> Complex:
        """Log of [x^n] at every pair of a point of z and a point of y, y fastest."""
        odds, a = np.full(angle.size * turns.size, u[0]), np.repeat(angle, turns.size)
        factors = self._factors(float(u[0]), angle, turns, tilt, scale)
        return log_coefficient(self.classes, factors, self.targets, odds, a)

    def _factors(
        self, u: float, angle: Floats, turns: Floats, tilt: float, scale: float
    ) -> Iterator[Complex]:
        sizes, counts = self.classes
        pairs = zip(sizes.tolist(), counts.tolist(), strict=True)
        for size, count in progress(pairs, "how many are identified", total=len(sizes)):
            outcomes, log_weights = self._class(int(size), int(count), u, angle, tilt)
            t = np.arange(len(outcomes))
            weighed = outcomes * np.exp(log_weights + t[:, None] * scale)[..., None]
            wave = np.exp(1j * np.arange(outcomes.shape[1])[:, None] * turns)
            yield np.einsum("tra,ry->tay", weighed, wave).reshape(t.size, -1)

    def _scale(self, u: Floats, tilt: float) -> float:
        logs = np.full((self.targets + 1, self.classes.sizes.size, 1), -np.inf)
        for i, (size, count) in enumerate(zip(*self.classes, strict=True)):
            outcomes, log_weights = self._class(int(size), int(count), u[0], np.zeros(1), tilt)
            with np.errstate(divide="ignore"):
                parts = np.log(outcomes[..., 0].real) + log_weights
            logs[: len(parts), i, 0] = np.logaddexp.reduce(parts, axis=1)
        return float(scale_of_targets(self.classes, logs, self.targets)[0])

    def _class(
        self, k: int, count: int, u: float, angle: Floats, tilt: float
    ) -> tuple[Complex, Floats]:
        """sum_h b_h e^{i h angle} R(r | h, t) in units of unit^-r; logs of the weights of t, r.

        The unit is the mean pool, so that R, a product of 1 / pool, stays in range.
        """
        most = _most_targets(k, count, self.targets, self.classes.records)
        h, log_b = _likely_leaked(k, u)
        unit = max(1.0, k * float(expit(u)))
        outcomes = np.zeros((most + 1, most + 1, angle.size), dtype=np.complex128)
        step = max(1, _HELD // (most + 1) ** 2)
        for first in range(0, h.size, step):
            part = slice(first, first + step)
            table = in_one_class(k, h[part], most, unit, removed=self.removed)
            flat = (table * np.exp(log_b[part])[:, None, None]).reshape(len(table), -1)
            turn = h[part, None] * angle  # cos and sin apart: real products cost half
            found = flat.T @ np.cos(turn) + 1j * (flat.T @ np.sin(turn))
            outcomes += found.reshape(outcomes.shape)
        t = np.arange(most + 1)
        return outcomes, log_choices(k, t)[:, None] + t * (tilt - np.log(unit))


class _None(_Law):
    """The law at y = 0 alone."""

    def log_total(self) -> float:
        at, log_scale = self._summed(np.zeros(1), 0.0)
        return float(np.log(max(at[0].real, 0.0)) + log_scale) if at[0].real > 0 else -np.inf

    def _class(
        self, k: int, count: int, u: float, angle: Floats, tilt: float
    ) -> tuple[Complex, Floats]:
        """Equation (2) instead of all outcomes: the axis r has length 1."""
        most = _most_targets(k, count, self.targets, self.classes.records)
        h, log_b = _likely_leaked(k, u)
        t = np.arange(most + 1)
        table = _missed(k, h, most) * np.exp(log_b)[:, None]
        turn = h[:, None] * angle
        outcomes = table.T @ np.cos(turn) + 1j * (table.T @ np.sin(turn))
        return outcomes[:, None, :], log_choices(k, t)[:, None]


def missed(k: int, h: Floats, most: int) -> Floats:
    """R(0 | h, t) of (2), axes h x t, as a sum of positive terms.

    Mark each of the h leaked members with probability 1/h: the targets in the leak are missed when
    none of them is marked, so with B ~ Binomial(h, 1/h) marks anywhere among the k

        R(0 | h, t) = E C(k - B, t) / C(k, t)                                                  (4)

    The ratio is convex in B, and B grows in convex order with h [Hoeffding56]: from h = 1 on a
    larger leak of one class makes a miss likelier.

    >>> missed(2, np.array([0.0, 1.0, 2.0]), 2).tolist()
    [[1.0, 1.0, 1.0], [1.0, 0.5, 0.0], [1.0, 0.5, 0.25]]
    """
    t, b = np.arange(most + 1), np.arange(min(k, _MOST_MARKED) + 1)
    factors = np.maximum(k - t - b[:-1, None], 0.0) / (k - b[:-1, None])
    ratio = np.concatenate([np.ones((1, most + 1)), np.cumprod(factors, axis=0)])
    size = np.maximum(h, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        step = np.maximum(size - b[1:] + 1, 0.0) / b[1:] / np.maximum(size - 1, 1e-300)
    marks = np.concatenate([np.ones((len(h), 1)), np.cumprod(step, axis=1)], axis=1)
    marks *= np.power(1 - 1 / size, size)
    one = size[:, 0] == 1
    marks[one] = b == 1
    return np.asarray(np.where(h[:, None] > 0, marks @ ratio, 1.0))


def _missed(k: int, h: Floats, most: int) -> Floats:
    return _all_missed(k, most)[h.astype(np.intp)] if k <= _LISTED else missed(k, h, most)


@lru_cache(maxsize=512)
def _all_missed(k: int, most: int) -> Floats:
    return missed(k, np.arange(k + 1.0), most)


def in_one_class(k: int, h: Floats, most: int, unit: float, *, removed: bool) -> Floats:
    """R(r | h, t) unit^r with axes h x t x r, for up to `most` targets in the class."""
    chain = np.zeros((h.size, most + 1, most + 1))  # h x targets in the leak x identified
    chain[:, 0, 0] = 1.0
    r = np.arange(most + 1)
    pool = np.maximum(h[:, None] - (r if removed else 0), 1.0)
    for t in range(most):
        chain[:, t + 1] = chain[:, t] * (1 - 1 / pool)
        chain[:, t + 1, 1:] += (chain[:, t] * unit / pool)[:, :-1]
    in_leak = leaked_pmf(k, h[:, None], r, longest=most)
    return np.asarray(in_leak @ chain)


def _likely_leaked(k: int, u: float) -> tuple[Floats, Floats]:
    """Leaked class sizes that matter at log-odds u, and the logs of their probabilities."""
    mean = k * float(expit(u))
    reach = 25 * np.sqrt(mean * float(expit(-u))) + 150
    h = np.arange(max(0, int(mean - reach)), min(k, int(mean + reach) + 1) + 1, dtype=np.float64)
    inside = (h > 0) & (h < k)
    log_b = np.where(h == 0, -k * np.logaddexp(0, u), -k * np.logaddexp(0, -u))
    log_b[inside] = log_binomial(h[inside], k, np.full(int(inside.sum()), u))
    kept = log_b > log_b.max() + _FAR
    return h[kept], log_b[kept]


def _most_targets(k: int, count: int, n: int, D: int) -> int:
    """The largest number of targets in one class of this size that is worth following."""
    t = np.arange(min(k, n) + 1)
    log_weight = log_choices(k, t) + t * np.log(n / D)
    return int(t[log_weight + np.log(count) > _TOO_MANY].max())


def log_choices(k: int, t: NDArray[np.int64]) -> Floats:
    """Ln C(k, t) for t = 0, 1, 2, ..., one factor after the other."""
    return np.asarray(np.concatenate([[0.0], np.cumsum(np.log((k - t[:-1]) / (t[:-1] + 1)))]))
