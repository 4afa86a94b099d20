"""Many different class sizes taken as fewer similar ones, with a proven bound on what that changes.

The law of the number identified (see `number_identified`, whose letters are used) costs about as
much for every *different* class size, and a real table has hundreds.  Here the classes of a range
of sizes k_1..k_c are levelled: they get sizes m and m + 1, the same number c of classes and the
same number of records, so D, L and n stay as they are.

**What it can change.**  Level two classes at a time: sizes a, b become a', b' with
a + b = a' + b' = s, and all other classes stay.  Let H be how many of these s records are leaked
and T how many are targets.  Whatever the two sizes, H ~ Hypergeometric(D, s, L) and
T ~ Hypergeometric(D, s, n), independent of each other; given (H, T) = (h, t) the rest of the
table, its leaked records, its targets and its guesses have one law, and are independent of what
happens within the s records, of whom a uniform h are leaked and a uniform t are targets.  With
M = M_rest + M_pair, and since adding an independent number never moves two laws apart,

    TV(M, M') <= sum_{h,t} P(H = h) P(T = t) TV(M_pair | h, t ; M'_pair | h, t)                 (1)

where TV is the largest difference in the probability of any event.  A table is levelled in steps
of two classes, so by the triangle inequality the sum of (1) over all steps bounds the whole.  The
laws of a pair are a convolution, with B the leaked and V the targets of one class of size k,

    P(h, t, r) C(s,t) = sum V_a(t1) B_a(h1) R_a(r1 | h1, t1) V_b(t2) B_b(h2) R_b(r2 | h2, t2)    (2)

over h1 + h2 = h, t1 + t2 = t, r1 + r2 = r, by FFT.  T = 0 changes nothing; T beyond what is
followed counts as TV = 1.  So (1) is a number, computed and not estimated: true but for rounding,
for which a hair is added.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.stats import binom

from reidbn.progress import progress
from reidbn.theory.circle import Classes, Complex, Floats
from reidbn.theory.hypergeometric import leaked_pmf
from reidbn.theory.number_identified import in_one_class, log_choices

WIDEST = 4_000  # larger classes stay as they are
MOST_FOLLOWED = 12  # targets in two classes
UNSEEN = 1e-3  # of the error that is allowed: what targets beyond may add
HAIR = 1e-15  # of rounding in one number after the FFT: measured 1e-17
HELD = 30_000_000  # numbers of transformed classes that are kept

Step = tuple[int, int, int, int, int]  # a, b -> a', b', so many times


@dataclass(frozen=True)
class Levelled:
    """Classes of fewer sizes, and a bound on how far any probability can be off."""

    classes: Classes
    error: float


def levelled(
    classes: Classes, leaked: int, targets: int, error: float, *, removed: bool = True
) -> Levelled:
    """The classes with similar sizes levelled, as far as the proven error stays within `error`.

    Ranges start at a factor of two; the one with the largest error is cut until all is within.

    >>> many = Classes(np.arange(20, 41), np.full(21, 50))
    >>> found = levelled(many, 3000, 5, 0.001)
    >>> len(found.classes.sizes) < 15, found.error <= 0.001
    (True, True)
    """
    pairs = _Equation(classes.records, leaked, targets, error, removed)
    sizes = dict(zip(classes.sizes.tolist(), classes.counts.tolist(), strict=True))
    ranges = [_Range(pairs, part) for part in _by_doubling(sizes)]
    while sum(r.error for r in ranges) > error:
        worst = max(ranges, key=lambda r: r.error)
        ranges.remove(worst)
        ranges += worst.halves()
    found: Counter[int] = Counter()
    for r in ranges:
        found.update(r.level)
    ordered = sorted(found)
    counts = np.array([found[k] for k in ordered])
    return Levelled(Classes(np.array(ordered), counts), float(sum(r.error for r in ranges)))


def _by_doubling(sizes: dict[int, int]) -> list[dict[int, int]]:
    parts: dict[int, dict[int, int]] = {}
    for size, count in sizes.items():
        key = -size if size > WIDEST else size.bit_length()
        parts.setdefault(key, {})[size] = count
    return list(parts.values())


@dataclass(frozen=True)
class _Range:
    """Classes of neighbouring sizes and their levelling."""

    pairs: _Equation
    sizes: dict[int, int]

    @cached_property
    def _levelled(self) -> tuple[dict[int, int], float]:
        if len(self.sizes) <= 2:  # two sizes would become two
            return self.sizes, 0.0
        level, steps = level_steps(self.sizes)
        each = progress(steps, "similar class sizes as one")
        return level, sum(self.pairs.bound(*step) for step in each)

    @property
    def level(self) -> dict[int, int]:
        return self._levelled[0]

    @property
    def error(self) -> float:
        return self._levelled[1]

    def halves(self) -> list[_Range]:
        ordered = sorted(self.sizes)
        middle = len(ordered) // 2
        parts = ordered[:middle], ordered[middle:]
        return [_Range(self.pairs, {k: self.sizes[k] for k in part}) for part in parts]


def level_steps(sizes: dict[int, int]) -> tuple[dict[int, int], list[Step]]:
    """The level sizes m and m + 1, and the steps of two classes that lead there.

    The largest gives to the smallest until one of them is level.

    >>> level_steps({1: 1, 2: 1, 6: 1})
    ({3: 3}, [(6, 1, 4, 3, 1), (4, 2, 3, 3, 1)])
    """
    now, steps = Counter(sizes), []
    m = sum(k * c for k, c in now.items()) // sum(now.values())
    while max(now) - min(now) > 1:
        a, b = max(now), min(now)
        moved = max(1, min(a - m - 1, m - b))
        times = min(now[a], now[b])
        after = (a - moved, b + moved)
        steps.append((a, b, *after, times))
        now[a] -= times
        now[b] -= times
        for k in after:
            now[k] += times
        now = +now
    return dict(now), steps


@dataclass(frozen=True)
class _Equation:
    """Equation (1) for a table of D records, L leaked, n targets."""

    records: int
    leaked: int
    targets: int
    error: float
    removed: bool
    _kept: dict[tuple[int, int, int], Complex] = field(default_factory=dict, repr=False)

    def bound(self, a: int, b: int, c: int, d: int, times: int) -> float:
        """Equation (1) for sizes a, b that become c, d so many times."""
        s = a + b
        of_t = leaked_pmf(self.records, self.targets, s, longest=min(s, self.targets))
        most = self._followed(of_t, times)
        length, t = 1 << s.bit_length(), np.arange(most + 1)
        before, after = (
            self._wave(x, most, length) * self._wave(y, most, length) for x, y in ((a, b), (c, d))
        )
        shape = (2 * most + 1, 2 * most + 1, length)
        gap = np.fft.irfftn(before - after, s=shape, axes=(0, 1, 2))[: most + 1, :, : s + 1]
        apart = (np.abs(gap[:, : most + 1]) + HAIR).sum(axis=1) / 2
        choices = np.exp(log_choices(s, t) - t * np.log(length))
        beyond = float(of_t[most + 1 :].sum())
        step = float((of_t[1 : most + 1] / choices[1:]) @ (apart @ self._ratio(s))[1:]) + beyond
        return times * min(step, float(of_t[1:].sum()))

    def _followed(self, of_t: Floats, times: int) -> int:
        """Targets in two classes beyond which the chance is negligible, or too many to follow."""
        beyond = of_t[::-1].cumsum()[::-1] - of_t
        seen = np.flatnonzero(times * beyond <= UNSEEN * self.error)
        return int(min(seen[0] if seen.size else MOST_FOLLOWED, MOST_FOLLOWED))

    def _wave(self, k: int, most: int, length: int) -> Complex:
        """One class in equation (2), transformed: axes t x r x h, x = 1 / length.

        Members leak independently with probability L / D, which `_ratio` makes good again.
        """
        key = (k, most, length)
        if key not in self._kept:
            if sum(w.size for w in self._kept.values()) > HELD:
                self._kept.clear()
            h, t = np.arange(k + 1.0), np.arange(min(k, most) + 1)
            table = in_one_class(k, h, int(t[-1]), 1.0, removed=self.removed)
            table = table * binom.pmf(h, k, self.leaked / self.records)[:, None, None]
            table = table * np.exp(log_choices(k, t) - t * np.log(length))[:, None]
            shape = (2 * most + 1, 2 * most + 1, length)
            self._kept[key] = np.fft.rfftn(np.moveaxis(table, 0, 2), s=shape, axes=(0, 1, 2))
        return self._kept[key]

    def _ratio(self, s: int) -> Floats:
        """P(h of s records leak) when exactly L of D do, as a multiple of the binomial chance.

        That is the binomial chance of L - h among the other D - s, over that of L among D.
        """
        D, L = self.records, self.leaked
        h = np.arange(s + 1.0)
        possible = (h <= L) & (L - h <= D - s)
        rest = binom.pmf(np.where(possible, L - h, 0), D - s, L / D)
        return np.asarray(np.where(possible, rest, 0.0) / binom.pmf(L, D, L / D))
