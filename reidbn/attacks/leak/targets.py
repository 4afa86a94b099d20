"""Many targets in one leak: all of them, how many of them, exactly or by acting the leak out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.leak.ask import (
    SEVERAL,
    ClassesLike,
    LeakSize,
    Reading,
    check_reading,
    checked_leak,
    checked_prior,
    checked_targets,
    classes_of,
)
from reidbn.calls import older, refuse_outside, renamed, typed
from reidbn.errors import EngineError, TooLarge, UsageError, did_you_mean
from reidbn.limits import MOST_DRAWS
from reidbn.theory.agreement import interval
from reidbn.theory.circle import Classes
from reidbn.theory.leak_by_paper import act_out, log_recursion, share_with_room
from reidbn.theory.number_identified import expected_identified as mean_identified
from reidbn.theory.number_identified import (
    log_none_identified,
    log_number_identified,
    seconds_of_law,
)
from reidbn.theory.similar_sizes import Levelled, levelled
from reidbn.theory.targets import log_all_identified

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]
Method = Literal["exact", "recursion", "simulation"]
METHODS: tuple[Method, ...] = ("exact", "recursion", "simulation")
MOST_TARGETS = 500
MOST_SECONDS = 600.0  # about: a distribution that takes longer is refused before the work
RARE, QUICK = 1e-5, 5.0
ROUNDING = 1e-8  # how far what must add up to 1 may be from it: nine digits are safe
FAULT = "a fault of reidbn, so no answer is given; please report it with the class sizes"


class Estimate(float):
    """A number from a simulation, with what it is worth; it computes like the number."""

    standard_error: float
    low: float
    high: float
    draws: int
    reading: Reading
    runs = older("draws")

    def __new__(
        cls,
        value: float,
        standard_error: float,
        low: float,
        high: float,
        draws: int,
        reading: Reading,
    ) -> Estimate:
        made = super().__new__(cls, value)
        made.standard_error, made.low, made.high = standard_error, low, high
        made.draws, made.reading = draws, reading
        return made

    def __repr__(self) -> str:
        return f"{float(self):.6g} (95 %: {self.low:.6g} to {self.high:.6g}, {self.draws:,} runs)"


@renamed(runs="draws")
@typed
def joint_risk(
    classes: ClassesLike,
    *,
    leaked: LeakSize,
    targets: int,
    method: Method = "exact",
    reading: Reading = "unconditional",
    log: bool = False,
    draws: int = 100_000,
    seed: int = 0,
) -> Any:
    """Probability that all targets, drawn at random from the table, are identified in one leak.

    `method`: "exact" (default), "recursion" (section 2.3 of [Antoniou22], which errs either way),
    or "simulation" (acted out `draws` times, with an interval).  `reading`: targets drawn from
    all records, or "from the leak", as the paper's simulation draws them.  `log=True` gives the
    natural logarithm, also where the probability is too small for a float.

    `classes` are {class size: number} or a table, `leaked` is how many records leak, and `seed`
    that of the simulation.

    >>> f"{joint_risk({5: 2000}, leaked=4_000, targets=15):.6e}"
    '9.715426e-12'
    >>> f"{joint_risk({5: 2000}, leaked=4_000, targets=15, method='recursion'):.6e}"
    '9.768395e-12'
    """
    what = classes_of(classes)
    n = checked_targets(targets, what.records)
    check_reading(reading)
    if method not in METHODS:
        raise UsageError(f'no method "{method}"; {did_you_mean(method, METHODS)}')
    if method == "simulation":
        found = simulate(what, leaked=leaked, targets=n, reading=reading, draws=draws, seed=seed)
        return found.log_all_identified if log else found.all_identified
    sizes, weights = _leak_sizes(leaked, what.records)
    if reading == "from the leak" and np.any(sizes < n):
        raise UsageError(f"{n} targets cannot come from a leak of {sizes.min()}")
    logs = _logs(what, sizes.ravel(), n, method).reshape(sizes.shape)
    if reading == "from the leak":
        logs = logs - _log_members(sizes, what.records, n)
    if weights is not None:
        logs = np.logaddexp.reduce(logs + np.log(weights))
    if method == "exact" and not (logs <= ROUNDING).all():
        raise EngineError(f"{np.exp(logs.max()):.9g} was found, which is no probability: {FAULT}")
    values = logs if log else np.exp(logs)
    return float(values) if np.ndim(values) == 0 else values


def _logs(classes: Classes, leaked: NDArray[np.int64], n: int, method: Method) -> Floats:
    if method == "recursion":
        return log_recursion(classes, leaked, n)
    if n > MOST_TARGETS:
        raise TooLarge(
            f'{n} targets are more than {MOST_TARGETS}; ask for fewer, or method="simulation"'
        )
    return log_all_identified(classes, leaked, n)


def _log_members(leaked: NDArray[np.int64], records: int, n: int) -> Floats:
    """Ln P(n targets drawn from D are all in the leak) = ln (L)_n / (D)_n."""
    i = np.arange(n)
    return np.asarray(np.log((leaked[..., None] - i) / (records - i)).sum(axis=-1))


def _leak_sizes(leaked: LeakSize, records: int) -> tuple[NDArray[np.int64], Floats | None]:
    """Leak sizes as an array, and the weights of a prior if there is one."""
    weights = None
    if isinstance(leaked, Mapping):
        prior = checked_prior(leaked)
        leaked, weights = list(prior), np.array(list(prior.values()))
    given = np.asarray(leaked)
    sizes = np.array([checked_leak(size, records) for size in given.ravel()], dtype=np.int64)
    return sizes.reshape(given.shape), weights


@dataclass(frozen=True, eq=False)
class NumberIdentified:
    """How many of n targets are identified: the distribution, m = 0..n."""

    targets: int
    logs: Floats
    """Natural logarithms of P(exactly m), finite where the probability underflows."""
    error: float = 0.0
    """No probability here, of any set of numbers, is further than this from the exact one.

    0 where it is exact.  Otherwise similar class sizes were taken as one (`number_identified`), and
    what is rarer than the error is not resolved.
    """

    @cached_property
    def probabilities(self) -> Floats:
        """P(just so many identified), for 0, 1, ... targets."""
        return np.asarray(np.exp(self.logs))

    @property
    def mean(self) -> float:
        """The expected number identified: within targets x error, as every sum over 0..n is."""
        return float(self.probabilities @ np.arange(self.targets + 1))

    @property
    def standard_deviation(self) -> float:
        """Of the number identified."""
        spread = (np.arange(self.targets + 1) - self.mean) ** 2
        return float(np.sqrt(self.probabilities @ spread))

    def exactly(self, number: int) -> float:
        """Probability that just this `number` are identified, no more and no fewer."""
        return float(self.probabilities[self._number(number)])

    def at_least(self, number: int) -> float:
        """Probability that at least this `number` are identified."""
        return float(min(1.0, self.probabilities[self._number(number) :].sum()))

    def share(self, share: float) -> float:
        """Probability that at least this share of the targets is identified."""
        if not 0 <= share <= 1:
            raise UsageError(f"share is {share:g}; it must be from 0 to 1")
        return self.at_least(ceil(share * self.targets - 1e-9))

    def table(self) -> pd.DataFrame:
        """One row per number: exactly and at least that many."""
        import pandas as pd

        below = np.append(self.probabilities[::-1].cumsum()[::-1], 0.0)[:-1]
        columns = {
            "identified": np.arange(self.targets + 1),
            "probability": self.probabilities,
            "at_least": np.minimum(below, 1.0),
        }
        if self.error:
            columns["error"] = np.full(self.targets + 1, self.error)
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        known = "exact"
        if self.error:
            known = f"every probability within {_upwards(self.error)}: similar class sizes as one"
        at_least = f"at least one with probability {self.at_least(1):.4g}, " if self.targets else ""
        return f"of {self.targets} targets: {at_least}on average {self.mean:.4g} ({known})"

    __repr__ = __str__

    def _number(self, number: int) -> int:
        if not 0 <= number <= self.targets or number != int(number):
            raise UsageError(f"number is {number}; it must be from 0 to {self.targets} targets")
        return int(number)


@typed
def number_identified(
    classes: ClassesLike,
    *,
    leaked: LeakSize,
    targets: int,
    removed: bool = True,
    error: float = 0.0,
) -> NumberIdentified:
    """How many of n targets, looked for one after the other in one leak, are identified.

    As in [Antoniou22] an identified patient is `removed` from the candidates of later targets;
    with `removed=False` every guess is among all leaked members of the class.

    The time grows with the number of different class sizes.  `error` allows every probability to
    be off by so much: where the exact distribution would take more than seconds, similar class
    sizes are then taken as one, as far as that is proven to change no probability by more.  The
    answer's own `error` is the bound that was proven, 0 where it is exact.

    `classes` are {class size: number} or a table.

    >>> found = number_identified({5: 2000}, leaked=4_000, targets=15)
    >>> round(found.mean, 6), round(found.at_least(1), 6), f"{found.exactly(15):.6e}"
    (2.767445, 0.95309, '9.715426e-12')
    """
    what, n, sizes, weights = _asked(classes, leaked, targets)
    if not 0 <= error < 1:
        raise UsageError(f"error is {error:g}; it must be from 0 (exact) to less than 1")
    asked = [Levelled(what, 0.0)] * len(sizes)
    if error and _seconds(asked, sizes, n) > QUICK:
        asked = [levelled(what, size, n, error, removed=removed) for size in sizes]
    seconds = _seconds(asked, sizes, n)
    if seconds > MOST_SECONDS:
        most = max(len(part.classes.sizes) for part in asked)
        raise TooLarge(
            f"the whole distribution for {n} targets, {most} class sizes and "
            f"{len(sizes)} leak sizes would take about {seconds / 60:,.0f} minutes; ask "
            f"any_identified() and expected_identified(), which need no distribution, allow "
            f"{'a larger error' if error else 'error=0.001'}, which takes similar class sizes as "
            f"one, or simulate()"
        )
    logs = [
        log_number_identified(part.classes, size, n, removed=removed)
        for part, size in zip(asked, sizes, strict=True)
    ]
    mixed = np.logaddexp.reduce(np.array(logs) + np.log(weights)[:, None])
    bound = float(np.dot(weights, [part.error for part in asked]))
    total = float(np.exp(np.logaddexp.reduce(mixed)))
    if not abs(total - 1) <= ROUNDING:
        raise EngineError(
            f"the probabilities of 0 to {n} identified add up to {total:.9g}: {FAULT}"
        )
    return NumberIdentified(n, np.asarray(mixed), bound)


def _seconds(asked: Sequence[Levelled], leaked: Sequence[int], targets: int) -> float:
    pairs = zip(asked, leaked, strict=True)
    return sum(seconds_of_law(part.classes, size, targets) for part, size in pairs)


def _upwards(error: float) -> str:
    """Two digits, never less than it is."""
    unit = 10.0 ** (np.floor(np.log10(error)) - 1)
    return f"{np.ceil(error / unit) * unit:.2g}"


@typed
def any_identified(classes: ClassesLike, *, leaked: LeakSize, targets: int) -> float:
    """Probability that at least one of n targets is identified in one leak.

    The first number of `number_identified`'s distribution, without the rest: far quicker for a
    table of many class sizes.  The same whether identified patients are removed or not.

    `classes` are {class size: number} or a table, and `leaked` is how many records leak.

    >>> round(any_identified({5: 2000}, leaked=4_000, targets=15), 6)
    0.95309
    """
    what, n, sizes, weights = _asked(classes, leaked, targets)
    found = [_any(what, size, n) for size in sizes]
    return float(np.dot(weights, found))


def _any(classes: Classes, leaked: int, n: int) -> float:
    """1 - P(nobody); where that would lose digits, from the distribution if that is quick."""
    found = float(-np.expm1(log_none_identified(classes, leaked, n)))
    if found > RARE or seconds_of_law(classes, leaked, n) > QUICK:
        return _probability(found)
    return _probability(float(np.exp(log_number_identified(classes, leaked, n)[1:]).sum()))


def _probability(found: float) -> float:
    """What rounding took a hair beyond 0 or 1, at the edge."""
    if not -ROUNDING <= found <= 1 + ROUNDING:  # also catches NaN
        raise EngineError(f"{found:.9g} was found, which is no probability: {FAULT}")
    return min(1.0, max(0.0, found))


@typed
def expected_identified(
    classes: ClassesLike, *, leaked: LeakSize, targets: int, removed: bool = True
) -> float:
    """The expected number of n targets that are identified in one leak.

    `classes` are {class size: number} or a table, and `leaked` is how many records leak. With
    `removed` a record that was guessed right is not guessed again.

    >>> round(expected_identified({5: 2000}, leaked=4_000, targets=15), 6)
    2.767445
    """
    what, n, sizes, weights = _asked(classes, leaked, targets)
    found = [mean_identified(what, size, n, removed=removed) for size in sizes]
    return float(np.dot(weights, found))


def _asked(
    classes: ClassesLike, leaked: LeakSize, targets: int
) -> tuple[Classes, int, list[int], Floats]:
    """The classes, how many targets, and the leak sizes with their weights: one, or a prior."""
    what = classes_of(classes)
    n = checked_targets(targets, what.records)
    if n > MOST_TARGETS:
        raise TooLarge(f"{n} targets are more than {MOST_TARGETS}; ask for fewer, or use simulate")
    sizes, weights = _leak_sizes(leaked, what.records)
    if weights is None and sizes.ndim:
        raise UsageError(SEVERAL)
    return what, n, sizes.reshape(-1).tolist(), np.ones(1) if weights is None else weights


@dataclass(frozen=True, eq=False)
class Simulation:
    """What came out of acting a leak out many times."""

    reading: Reading
    targets: int
    draws: int
    seed: int
    chance: Floats
    """Per run, the probability that all its targets are identified (zero if one is not in)."""
    log_unit: float
    """Log of P(all identified) if every run had room: equation (1) of `leak_simulation`."""
    room: int
    """How many runs had room for all their targets among the leaked."""
    counts: NDArray[np.int64]
    """How many runs had 0, 1, .., n targets identified."""
    runs = older("draws")

    @property
    def all_identified(self) -> Estimate:
        """P(all identified): a share of the runs in a unit, with its Clopper-Pearson interval."""
        share, unit = self._share(self.room), float(np.exp(self.log_unit))
        return Estimate(
            min(1.0, unit * share), unit * share.standard_error, min(1.0, unit * share.low),
            min(1.0, unit * share.high), self.draws, self.reading,
        )  # fmt: skip

    @property
    def log_all_identified(self) -> Estimate:
        """The natural logarithm of it, also where the probability is too small for a float."""
        share = self._share(self.room)
        if share.low <= 0:
            raise TooLarge(
                f"{self.room} of {self.draws:,} runs had room for all {self.targets} targets: the "
                f"logarithm is under {np.log(share.high) + self.log_unit:.4g}, and how far is not "
                f'told by so few; take more runs, or method="exact"'
            )
        low, value, high = (
            float(np.log(x)) + self.log_unit for x in (share.low, share, share.high)
        )
        error = share.standard_error / share
        return Estimate(value, error, low, min(0.0, high), self.draws, self.reading)

    def exactly(self, number: int) -> Estimate:
        """P(this `number` identified) by counting runs, with its Clopper-Pearson interval."""
        return self._share(int(self.counts[number]))

    def at_least(self, number: int) -> Estimate:
        """P(this `number` or more identified), in the same way."""
        return self._share(int(self.counts[number:].sum()))

    @property
    def mean(self) -> float:
        """The average number identified."""
        return float(self.counts @ np.arange(self.targets + 1)) / self.draws

    def _share(self, hits: int) -> Estimate:
        p = hits / self.draws
        low, high = interval(hits, self.draws)
        return Estimate(
            p, float(np.sqrt(p * (1 - p) / self.draws)), low, high, self.draws, self.reading
        )


@renamed(runs="draws")
@typed
def simulate(
    classes: ClassesLike,
    *,
    leaked: LeakSize,
    targets: int = 1,
    reading: Reading = "unconditional",
    removed: bool = True,
    draws: int = 100_000,
    seed: int = 0,
) -> Simulation:
    """Act a leak out: draw it, draw the targets, guess them one after the other.

    Sections 2.2 and 2.3 of [Antoniou22].  "unconditional" draws the targets from all records;
    "from the leak" from the leaked ones, as the paper's simulation of many targets does.

    `classes` are {class size: number} or a table; `reading` is one of the two just named. With
    `removed` a record that was guessed right is not guessed again; `seed` gives other draws.

    >>> found = simulate({2: 3}, leaked=4, targets=2, draws=50_000, seed=1)
    >>> found.all_identified.low < 16 / 75 < found.all_identified.high
    True
    """
    what = classes_of(classes)
    n = checked_targets(targets, what.records)
    check_reading(reading)
    if isinstance(leaked, Mapping) or np.ndim(leaked):
        raise UsageError("leaked must be one number to be acted out; simulate each size apart")
    size = checked_leak(leaked, what.records)
    if reading == "from the leak" and size < n:
        raise UsageError(f"{n} targets cannot come from a leak of {size}")
    refuse_outside("draws", draws, least=1, most=MOST_DRAWS)
    rng = np.random.default_rng(seed)
    found = act_out(
        what, size, n, draws, rng, from_leak=reading != "unconditional", removed=removed
    )
    counts = np.bincount(found.identified, minlength=n + 1)
    room = share_with_room(what, size, n, draws, rng, removed=removed)
    total = what.records if reading == "unconditional" else size
    log_unit = n * np.log(float(what.counts.sum())) - float(np.log(total - np.arange(n)).sum())
    return Simulation(reading, n, draws, seed, found.chance, float(log_unit), room, counts)
