"""An answer that jumps or bends, asked at points scattered over the priors of its parameters.

Where an attacker decides, or a number is the lesser of two, the answer has edges that run slantwise
through the space of the parameters.  A grid that was cut along its axes does not see them, and what
it measured of its own error was too small.  Here the engine itself is asked, at Sobol's points that
were scrambled REPEATS times anew: every repeat estimates without bias, and how far the repeats are
apart says how far off their mean may be (Student's t, LEVEL).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context
from functools import cached_property

import numpy as np

from reidbn.attack.parts import Parameter
from reidbn.cpds.function import Function
from reidbn.errors import TooLarge
from reidbn.inference.asked import MOST_NUMBERS, Asked
from reidbn.inference.network import Array
from reidbn.whatif.boxes import check_box
from reidbn.whatif.looking import DECADES, bends, numbers_of
from reidbn.whatif.priors import PriorMeasure, measure
from reidbn.whatif.ranges import takes_whole_numbers

REPEATS = 16
LEVEL = 0.999  # of what is said of an error
MOST = 13  # log2 of the points of a repeat, ...
LEAST = 6
BITS = 30
TAILS = 2_048  # points in the tails, for what the others did not see
WORK = 1 << 27  # ... in all of which so many numbers are made
MOST_MIXED = 1 << 19  # settings where pairs of points are mixed, ...
WORK_MIXED = 1 << 30  # ... of which so many numbers are made
MOST_KEPT = 1 << 27  # answers of people who are told one by one
SCATTERED = "scattered points"
SEED = 20250103


def is_rough(case: Asked, names: Iterable[str]) -> bool:
    """Whether the answer may jump or bend somewhere along these parameters.

    Of a Python function that does not say so nothing is known: along one parameter an axis that is
    cut finds out (priors.py), along several none does.  Whole numbers are taken one by one.
    """
    names = [*names]
    return any(_bends(case, n) for n in names) or sum(_in_code(case, n) for n in names) > 1


def _bends(case: Asked, name: str) -> bool:
    """Whether the answer may jump or bend along a parameter."""
    if not case.matters(name):
        return False
    if case.jumps(name):
        return True
    read = {ref.removeprefix("$") for n in case.relevant
            for ref in case.attack.behind(case.attack.all_nodes[n].cpd)}  # fmt: skip
    derived = case.attack.derived
    for number in read & {*derived.order} - {*case.settings}:
        if f"${name}" in derived.behind(number) and any(
            t.op in ("min", "max") for t in derived.terms[number].walk()
        ):
            return True
    return False


def _in_code(case: Asked, name: str) -> bool:
    if takes_whole_numbers(case, name):
        return False
    cpds = [case.attack.all_nodes[holder].cpd for holder in case.holders([name])]
    rough = any(isinstance(c, Function) and not c.declared.smooth for c in cpds)
    return case.degree(name) is None and rough


@dataclass(frozen=True)
class WithError:
    """A number, and what it is off by at most, at LEVEL."""

    value: float
    error: float


def estimate(pooled: float, repeats: Array) -> WithError:
    """A number found from all points, with its error from what each repeat found alone."""
    from scipy.stats import t

    count = len(repeats)
    reach = float(t.ppf((1 + LEVEL) / 2, count - 1)) / np.sqrt(count)
    off = abs(pooled - float(repeats.mean()))  # a ratio's bias shows here
    return WithError(pooled, float(reach * repeats.std(ddof=1)) + off)


def at_most(error: float) -> str:
    """An error with one digit, never below it.

    >>> at_most(0.00123), at_most(0.0)
    ('0.002', '0')
    """
    return f"{float(Context(prec=1, rounding=ROUND_CEILING).create_decimal(repr(error))):g}"


def tail_draws(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Shares of a prior, half of them even and half by ratio from either end, and their weights."""
    span = DECADES * np.log(10)
    tail = np.exp(-span * rng.random(shape))
    kind = rng.random(shape)
    u = np.where(kind < 0.5, rng.random(shape), np.where(kind < 0.75, tail, 1 - tail))
    u = np.clip(u, 1e-15, 1 - 1e-15)
    ends = np.zeros(shape)
    for x in (u, 1 - u):
        ends += np.where(x > 10.0**-DECADES, 1 / (span * x), 0.0)
    return u, 1 / (0.5 + 0.25 * ends)


def method_words(method: str, error: float, sd: float = 1.0) -> str:
    """How mean and sd were found, and what they are off by.

    >>> method_words("exact", 0.0), method_words("quadrature", 2.31e-9)
    ('exact', 'quadrature, measured error of mean and sd 3e-09 sd')
    """
    most = at_most(error)
    if sd == 0 and error:
        return f"{method}, the sd is at most {most}, less than what can be told"
    if method == "exact":
        words = f"exact but for rounding, at most {most} sd" if error else "exact"
    elif method == SCATTERED:
        words = f"{method}, mean and sd off by at most {most} sd at {100 * LEVEL:g} %"
    else:
        words = f"{method}, measured error of mean and sd {most} sd"
    return f"{words}: the sd is less than what can be told" if error >= 1 else words


class ScatteredPoints:
    """An array REPEATS x points for every parameter that matters to one of the cases."""

    def __init__(
        self,
        cases: Iterable[Asked],
        priors: Mapping[str, Parameter],
        *,
        draws: int | None = None,
        seed: int = SEED,
        mixed: bool = False,
    ) -> None:
        from scipy.stats import qmc

        self.cases = cases = list(cases)
        self.measures: dict[str, PriorMeasure] = {
            n: measure(p) for n, p in priors.items() if any(c.matters(n) for c in cases)
        }
        names = [*self.measures]
        whole = {n: self.measures.get(n) or measure(p) for n, p in priors.items()}
        for case in cases:  # also of what has no say itself, and stands in a condition
            check_box(case, {n: (m.low, m.high) for n, m in whole.items()})
        work = max(1, sum(numbers_of(case) for case in cases))
        self.repeats, self.log2 = REPEATS, MOST
        self.corners = 1 << len(names) if mixed else 1
        most = min(MOST_MIXED, WORK_MIXED // work) if mixed else WORK // work
        while self.log2 > LEAST and REPEATS * self.corners << self.log2 > most:
            self.log2 -= 1
        if mixed and self.corners * self.count > most:
            raise TooLarge(
                f"{self.corners * self.count:,} settings of {work:,} numbers each are too many to "
                f"tell {len(names)} parameters apart where the answer jumps, bends or curves: vary "
                f"fewer (over=[names], those that rb.tornado has on top), or ask "
                f"rb.whatif.uncertainty for mean and sd"
            )
        if draws is not None:  # of people one by one: one repeat, and as many as were asked for
            self.repeats, self.log2 = 1, max(0, int(np.ceil(np.log2(draws))))
        at: dict[str, list[Array]] = {n: [] for n in names}
        again: dict[str, list[Array]] = {n: [] for n in names if mixed}
        for repeat in range(self.repeats):
            rng = np.random.default_rng([seed, repeat])
            axes = len(names) * (2 if mixed else 1)
            u = qmc.Sobol(axes, bits=BITS, seed=rng).random_base2(self.log2)
            u += 2.0**-BITS * rng.random(u.shape)  # they are cut off after so many bits
            u = np.clip(u, 2.0**-53, 1 - 2.0**-53)
            for i, (name, known) in enumerate(self.measures.items()):
                at[name].append(known.at(u[:, i]))
                if mixed:
                    again[name].append(known.at(u[:, len(names) + i]))
        self.at = {n: np.array(parts) for n, parts in at.items()}
        self.again = {n: np.array(parts) for n, parts in again.items()}

    @cached_property
    def bends(self) -> Mapping[str, Array]:
        """Where a formula of one of the cases peaks, bends or jumps along each parameter."""
        return {
            n: np.unique(np.concatenate([bends(c, n, known.low, known.high) for c in self.cases]))
            if not known.integer
            else np.empty(0)
            for n, known in self.measures.items()
        }

    @property
    def count(self) -> int:
        return self.repeats << self.log2

    def mean_answers(self, case: Asked, names: Iterable[str]) -> Array:
        """The mean answer over subjects at every point: REPEATS x points."""
        flat = {n: self.at[n].reshape(-1) for n in names if n in self.at}
        found = asked_at(case.as_mean(), flat, self.count)
        return found.reshape(self.repeats, -1)

    def moments(self, case: Asked, names: Iterable[str]) -> tuple[WithError, WithError]:
        """Mean and sd of the mean answer, and their errors.

        What lies beyond all answers seen is measured in the tails of the priors, and where a
        formula peaks: mean and sd are off by no more than its root mean square.
        """
        names = [n for n in names if n in self.at]
        seen = self.mean_answers(case, names)
        mean, sd = moments(seen)
        off = self.unseen(case, names, seen)
        return replace(mean, error=mean.error + off), replace(sd, error=sd.error + off)

    def unseen(self, case: Asked, names: Sequence[str], seen: Array) -> float:
        """The root mean square of what the mean answer has beyond all answers that were seen."""
        mean_case = case.as_mean()

        def asked(at: Mapping[str, Array], count: int) -> Array:
            return asked_at(mean_case, at, count)[None]

        return float(self._unseen(names, asked, seen.min(), seen.max(), TAILS)[0])

    def mixed_answers(self, case: Asked) -> Array:
        """The mean answer where each parameter is its first point's or its second's.

        REPEATS x 2^parameters x points: at corner m those of the second whose bit of m is set.
        """
        corners = [
            {n: (self.again if corner >> i & 1 else self.at)[n] for i, n in enumerate(self.at)}
            for corner in range(self.corners)
        ]
        flat = {n: np.stack([c[n] for c in corners], axis=1) for n in self.at}
        count = self.count * self.corners
        found = asked_at(case.as_mean(), {n: x.reshape(-1) for n, x in flat.items()}, count)
        return found.reshape(self.repeats, self.corners, -1)

    def moments_of_each(self, case: Asked, names: Iterable[str]) -> tuple[Array, Array, Array]:
        """Mean and sd of every subject's own answer, and what both are off by at most."""
        from scipy.stats import t

        names = [n for n in names if n in self.at]
        size = 1 << self.log2
        found: list[tuple[Array, Array]] = []
        least, most = np.full(1, np.inf), np.full(1, -np.inf)
        for repeat in range(self.repeats):
            values = case.answers({n: self.at[n][repeat] for n in names})
            values = np.broadcast_to(values, (len(values), size))
            least = np.minimum(least, values.min(axis=1))
            most = np.maximum(most, values.max(axis=1))
            found.append((values.mean(axis=1), values.std(axis=1)))
        means, sds = np.array(found).transpose(1, 0, 2)
        mean = means.mean(axis=0)
        sd = np.sqrt((sds**2 + (means - mean) ** 2).mean(axis=0))
        reach = float(t.ppf((1 + LEVEL) / 2, self.repeats - 1)) / np.sqrt(self.repeats)
        off = reach * np.maximum(means.std(axis=0, ddof=1), sds.std(axis=0, ddof=1))
        off = off + np.abs(sd - sds.mean(axis=0))
        count = int(np.clip(MOST_NUMBERS // len(mean), 1 << LEAST, TAILS))

        def asked(at: Mapping[str, Array], _: int) -> Array:
            return case.answers(at)

        ends = least[:, None], most[:, None]
        return mean, sd, off + self._unseen(names, asked, *ends, count)

    def _unseen(
        self,
        names: Sequence[str],
        asked: Callable[[Mapping[str, Array], int], Array],
        least: Array | float,
        most: Array | float,
        count: int,
    ) -> Array:
        """What lies beyond all answers seen, as a root mean square: in the tails of the priors,
        and where a formula peaks so closely that no point fell there.
        """
        u, weights = tail_draws(np.random.default_rng(SEED), (count, len(names)))
        at = {n: self.measures[n].at(part) for n, part in zip(names, u.T, strict=True)}
        found = asked(at, count)
        square = (found - np.clip(found, least, most)) ** 2
        off = np.sqrt(np.average(square, axis=1, weights=weights.prod(axis=1)))
        for name in names:
            known, bent = self.measures[name], self.bends[name]
            if len(bent):
                found = asked({name: bent}, len(bent))
                square = (found - np.clip(found, least, most)) ** 2
                off = off + np.sqrt(np.maximum(square[:, 1:], square[:, :-1]) @ known.between(bent))
        return np.asarray(off)


def asked_at(case: Asked, points: Mapping[str, Array], count: int) -> Array:
    """The engine's own mean answers at points, some at a time."""
    out = np.empty(count)
    weights = np.ones(case.subjects) if case.weights is None else case.weights
    step = max(1, MOST_NUMBERS // case.subjects)
    for start in range(0, count, step):
        part = {n: v[start : start + step] for n, v in points.items()}
        found = case.answers(part)
        out[start : start + step] = np.average(found, axis=0, weights=weights)
    return out


def each_at(case: Asked, priors: Mapping[str, Parameter], draws: int, seed: int) -> Array:
    """The engine's own answers of every subject: subjects x points, at least so many."""
    points = ScatteredPoints([case], priors, draws=draws, seed=seed)
    if case.subjects * points.count > MOST_KEPT:
        raise TooLarge(
            f"{points.count:,} settings of {case.subjects:,} distinct people are too many: take "
            f"draws={max(1, MOST_KEPT // case.subjects // 2):,}, or some of the people"
        )
    return case.answers({n: v[0] for n, v in points.at.items()})


def moments(values: Array, weights: Array | None = None) -> tuple[WithError, WithError]:
    """Mean and sd of numbers, REPEATS x points, with their errors; weighed, if need be."""
    held = np.ones_like(values) if weights is None else weights

    def both(x: Array, w: Array) -> tuple[float, float]:
        total = float(w.sum())
        mean = float((w * x).sum()) / total
        return mean, float(np.sqrt((w * (x - mean) ** 2).sum() / total))

    heard = [both(x, w) for x, w in zip(values, held, strict=True) if w.sum() > 0]
    pooled, each = both(values, held), np.array(heard)
    if len(each) < len(values):
        return WithError(pooled[0], np.inf), WithError(pooled[1], np.inf)
    return estimate(pooled[0], each[:, 0]), estimate(pooled[1], each[:, 1])


def error_in_sds(of: Iterable[tuple[WithError, WithError]]) -> float:
    """The largest error of means and sds, in sds."""
    worst = 0.0
    for mean, sd in of:
        off = max(mean.error, sd.error)
        worst = max(worst, off / sd.value if sd.value > 0 else off)
    return worst
