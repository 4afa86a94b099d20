"""What attempts on the real thing teach about the parameters of an attack.

So many of T attempts succeeded.  Where R(p) is the chance of success, the priors are weighed with

    L(p) = prod over tests of R(p)^h (1 - R(p))^(T - h)                                         (1)

R is a polynomial of degree d in each parameter where nothing is given, so L has degree d T, and
ceil((d T + 1) / 2) Gauss points of a parameter's prior sum it exactly [GolubWelsch69]; one or two
more do so for the means and variances after it.  Anything else is summed on finer and finer points
until nothing moves, and what still moved is stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Unpack

import numpy as np

from reidbn.aside import aside, asides
from reidbn.attack.attack import Attack
from reidbn.attack.events import as_written
from reidbn.attack.parts import Parameter
from reidbn.attack.prior import Prior
from reidbn.calls import typed
from reidbn.errors import ModelError, TooLarge, UsageError, did_you_mean
from reidbn.inference.asked import Asked, Asking
from reidbn.inference.network import Array
from reidbn.inference.worst import AT_SOME, TIED, tied_over
from reidbn.whatif.cases import What, case_of
from reidbn.whatif.learned import Attempts, Learned, SeenTest, Update, with_what_differs
from reidbn.whatif.looking import inwards, levels_of, numbers_of, refuse_wrong_degrees
from reidbn.whatif.prior_points import beta_shapes, gauss_points
from reidbn.whatif.priors import PriorMeasure, measure, prior_text
from reidbn.whatif.ranges import takes_whole_numbers
from reidbn.whatif.scan import at_draws
from reidbn.whatif.scattered import (
    SCATTERED,
    ScatteredPoints,
    asked_at,
    error_in_sds,
    is_rough,
    moments,
)
from reidbn.whatif.sensitivity import Over, spans
from reidbn.whatif.sobol import ROUNDING, Grid
from reidbn.whatif.summaries import mean
from reidbn.whatif.varied import counts_held, held, with_ranges

MOST_CELLS = 1 << 22  # combinations of points
MOST_ASKED = 1 << 23  # numbers that the engine makes, where nothing else follows the answer
MOST_POINTS = 1_024  # of one parameter
FIRST, FEWEST = 16, 8  # points of a parameter, and of a part of it, that are doubled ...
LEVELS = 8  # ... so often at most
CLOSE = 1e-8  # sds that a mean or an sd may still move
FLOOR = 1e-12  # sds: what points leave at least, whatever moved
COARSE = 0.05  # sds beyond which nothing is said
FINE, FEWEST_FINE = 801, 201  # pieces of a parameter for its interval ...
PASSES = 2  # ... which are made alike in weight so often
REACH = 10.0  # sds around the mean
LEVEL = 0.95
MOST_TAKEN = 4  # rules of a policy that are said
SEED = 20250101
MOST_LOG = 600.0  # by which a chance may be above the largest of the points, in logs
SURE = 1e-14  # less than 1: nothing, but for rounding
FAR = 1e5  # by which rounding may grow where an answer is read beyond the points of its grid


@typed
def learn(
    what: What,
    tests: Iterable[Mapping[str, Any]],
    *,
    over: Over = None,
    priors: Mapping[str, Prior] | None = None,
    **asked: Unpack[Asking],
) -> Learned:
    """Priors brought up to date by attempts: {"target": "identified=yes", "hits": 3, "trials": 40}.

    `tests` are such mappings; each may have its own given, do and set.  Parameters without a prior
    count as uniform over their ranges, and the result says so; those that no test depends on, and
    whole numbers, stay.
    `asked` is how it is asked: given, do, set, subject and beyond_range, as in rb.ask.

    `what` is an attack, a name or file of one, or a result; `over` names the parameters to learn
    about, and `priors` gives some of them other priors.

    >>> from reidbn.attack.modelfile import load
    >>> found = learn("marketer", [{"target": "reidentified=yes", "hits": 0, "trials": 20}])
    >>> found.method, found["p_c"].mean < found["p_c"].mean_before
    ('exact', True)
    """
    attempts = [_attempts(i, test) for i, test in enumerate(tests)]
    if not attempts:
        raise UsageError('name a test: {"target": "identified=yes", "hits": 3, "trials": 40}')
    cases = [
        case_of(what, a.target, **asked).at(a.set).asked(given=a.given, do=a.do) for a in attempts
    ]
    names = _names(cases, attempts, over, priors)
    varied = with_ranges(cases[0], names, priors)
    for case, own in zip(cases, attempts, strict=True):
        _say_tied(case, {n: p for n, p in varied.items() if n not in own.set})
    if any(is_rough(c, varied) for c in cases):
        return _Scattering(varied, attempts, cases).learned(cases)
    free = [[n for n in varied if n not in a.set] for a in attempts]
    try:
        grids = [Grid(c, {n: varied[n] for n in own}) for c, own in zip(cases, free, strict=True)]
        work = _Weighing(varied, attempts, grids)
    except TooLarge:
        work = _Scattering(varied, attempts, cases)
    return work.learned(cases)


def _say_tied(case: Asked, varied: Mapping[str, Parameter]) -> None:
    """Say under which of the policies that are worth the same a test is read: that which is taken.

    Under the worst of them it would be no more cautious: few hits would then speak against the
    numbers of all, also of those under which nobody attacked.
    """
    names = tied_over(case, at_draws(case, varied, SEED))
    if names is None:
        return
    where = f"{TIED}at {', '.join(names)} another option is worth the same to the attacker"
    aside(
        "tied",
        1.0,
        f"{where if names else AT_SOME}; what is learnt is of the policy that he takes"
        f"{_taken(case, names)}, and under another the same test teaches of other numbers "
        f"(attack.with_policy, --policy)",
    )


def _taken(case: Asked, names: Sequence[str]) -> str:
    """The rules of what is taken at the values as they are, where they are one for all, and few."""
    from reidbn.whatif.decide import decided

    try:
        every = decided(case).rules if names and case.count == 1 else ()
    except UsageError:
        return ""
    rules = [rule for rule in every if rule.split("=")[0].strip() in names]
    return f" ({'; '.join(rules)})" if 0 < len(rules) <= MOST_TAKEN else ""


def _attempts(i: int, test: Mapping[str, Any]) -> Attempts:
    known = Attempts.__dataclass_fields__
    for name in [n for n in test if n not in known]:
        raise UsageError(f'test {i + 1} has no key "{name}"; {did_you_mean(name, known)}')
    for name in ("target", "hits", "trials"):
        if name not in test:
            raise UsageError(f"test {i + 1} says no {name}; a test has target, hits and trials")
    hits, trials = test["hits"], test["trials"]
    if not all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in (hits, trials)):
        raise UsageError(f"test {i + 1}: hits and trials are whole numbers")
    if not 0 <= hits <= trials or trials < 1:
        raise UsageError(f"test {i + 1} has {hits} hits in {trials} trials")
    return Attempts(**{**test, "hits": int(hits), "trials": int(trials)})


def _names(
    cases: Sequence[Asked], attempts: Sequence[Attempts], over: Over, priors: Any
) -> dict[str, tuple[float, float] | None]:
    """What there is to be learnt about."""
    found = spans(cases[0], over)
    if over is not None:
        whole = [n for n in found if takes_whole_numbers(cases[0], n)]
        if whole:
            raise UsageError(f"{whole[0]} is a whole number, and only real numbers are learnt")
        return found
    pairs = list(zip(cases, attempts, strict=True))
    held = {*cases[0].settings} - {n for a in attempts for n in a.set}
    kept = {
        n: ends
        for n, ends in found.items()
        if not takes_whole_numbers(cases[0], n)
        and n not in held
        and (cases[0].parameter(n).range[0] < cases[0].parameter(n).range[1] or n in (priors or {}))
        and any(case.matters(n) and n not in a.set for case, a in pairs)
    }
    if not kept:
        raise UsageError(
            f"{cases[0].attack.name}: no parameter with a range matters to these tests"
        )
    return kept


class _Weighing:
    """The priors on Gauss points, weighed with what was seen."""

    how = "quadrature"

    def __init__(
        self, varied: Mapping[str, Parameter], attempts: Sequence[Attempts], grids: Sequence[Grid]
    ) -> None:
        self.varied, self.attempts, self.grids = dict(varied), attempts, grids
        self.names = list(varied)
        counts = [self._needed(n) for n in self.names]
        known = [c for c in counts if c is not None]
        self.is_exact = len(known) == len(counts) and prod(known) <= MOST_CELLS
        self.cuts = {n: self._cut(n) for n in self.names}
        asked = [numbers_of(g.case) for g in grids if not _is_followed(g)]
        self.most = min(MOST_CELLS, MOST_ASKED // max(asked, default=1))
        self.error = 0.0
        if self.is_exact:
            self._weigh(known)
        else:
            self._refine()

    def _needed(self, name: str) -> int | None:
        """Gauss points that make everything exact for a parameter; None when none do."""
        if beta_shapes(self.varied[name]) is None:
            return None
        total, largest = 0, 2  # the variance needs two degrees more, a chance after it d
        for grid, seen in zip(self.grids, self.attempts, strict=True):
            axis = next((a for a in grid.axes if a.name == name), None)
            if not grid.is_exact:
                return None
            deep = 0 if axis is None else len(axis.points) - 1
            total, largest = total + deep * seen.trials, max(largest, deep)
        count = -(-(total + largest + 1) // 2)
        return count if count <= MOST_POINTS else None

    def _cut(self, name: str) -> list[float]:
        """Where a parameter's range is cut, since an answer bends along it."""
        known = measure(self.varied[name])
        if known.is_fine:  # its points are no rule on a part of it
            return [known.low, known.high]
        axes = [a for g in self.grids for a in g.axes if a.name == name and not a.is_exact]
        cuts = {p.low for a in axes for p in a.pieces} | {known.low, known.high}
        return sorted(cuts)

    def _refine(self) -> None:
        """Finer and finer points until means and sds stay."""
        before: Array | None = None
        for level in range(LEVELS):
            counts = [(FIRST if len(c) == 2 else FEWEST) << level for c in self.cuts.values()]
            points = [n * (len(c) - 1) for n, c in zip(counts, self.cuts.values(), strict=True)]
            if before is not None and (max(points) > MOST_POINTS or prod(points) > self.most):
                break
            self._weigh(counts)
            now = np.array([self._moments(i) for i in range(len(self.names))])
            if before is not None and self.top > -np.inf:
                moved = np.abs(now - before) / np.maximum(now[:, 1:], 1e-300)
                self.error = max(FLOOR, float(np.nan_to_num(moved, nan=np.inf).max()))
                if self.error <= CLOSE:
                    break
            before = now
        self._refuse_impossible(self.top)
        if not self.error <= COARSE:
            raise _too_little(self.names)

    def _weigh(self, counts: Sequence[int]) -> None:
        pairs = [
            gauss_points(self.varied[n], c, None if self.is_exact else self.cuts[n])
            for n, c in zip(self.names, counts, strict=True)
        ]
        if prod(len(x) for x, _ in pairs) > self.most:
            raise TooLarge("too many points of the priors to hold: name fewer in over=")
        self.points = {n: x for n, (x, _) in zip(self.names, pairs, strict=True)}
        self.prior = [w for _, w in pairs]
        logs = self.log_likelihood(self.points)
        for i, weights in enumerate(self.prior):
            with np.errstate(divide="ignore"):
                logs = logs + self._along(i, np.log(weights))
        self.top = float(logs.max())
        if self.is_exact:
            self._refuse_impossible(self.top)
        weights = np.exp(logs - self.top) if self.top > -np.inf else np.full(logs.shape, np.nan)
        self.total = float(weights.sum())
        self.log_evidence = self.top + float(np.log(self.total))
        self.posterior = weights / self.total

    def _refuse_impossible(self, top: float) -> None:
        if top == -np.inf:
            seen = "; ".join(a.words for a in self.attempts)
            raise UsageError(
                f"what was seen cannot be under these priors, or nearly nowhere ({seen}): widen "
                f"them, or name in over= the range where it can be"
            )

    def _along(self, i: int, values: Array) -> Array:
        shape = [1] * len(self.names)
        shape[i] = -1
        return values.reshape(shape)

    def rate(self, j: int, points: Mapping[str, Array]) -> Array:
        """The chance of test j on the product of the points, over all parameters."""
        grid = self.grids[j]
        is_read = _is_followed(grid) and _is_near(grid, points)
        found = grid.over(points) if is_read else _asked_on(grid, points)
        order = [self.names.index(a.name) for a in grid.axes]
        found = np.transpose(found, np.argsort(order))
        shape = [len(points[n]) if i in order else 1 for i, n in enumerate(self.names)]
        return found.reshape(shape)

    def log_likelihood(self, points: Mapping[str, Array]) -> Array:
        """The log of equation (1)."""
        rates = [self.rate(j, points) for j in range(len(self.attempts))]
        return np.zeros([len(points[n]) for n in self.names]) + self._of_rates(rates)

    def _of_rates(self, rates: Sequence[Array]) -> Array:
        from scipy.special import xlog1py, xlogy

        total: Array = np.zeros(1)
        for seen, found in zip(self.attempts, rates, strict=True):
            p = np.clip(found, 0.0, 1.0)  # a sum of 1 may be above it in its last digit
            _refuse_never(seen, p, self.names)
            total = total + xlogy(seen.hits, p) + xlog1py(seen.trials - seen.hits, -p)
        return total

    def marginal(self, i: int) -> Array:
        others = tuple(j for j in range(len(self.names)) if j != i)
        return np.asarray(self.posterior.sum(axis=others))

    def _moments(self, i: int) -> tuple[float, float]:
        return _mean_and_sd(self.points[self.names[i]], self.marginal(i))

    # -- what is told ----------------------------------------------------------------------

    def learned(self, cases: Sequence[Asked]) -> Learned:
        case = cases[0]
        updates = [self._update(i) for i in range(len(self.names))]
        left = {u.parameter: (u.low, u.mean, u.high) for u in updates}
        for grid in self.grids:
            refuse_wrong_degrees(grid.case, {n: left[n] for n in grid.names})
        means = {u.parameter: u.mean for u in updates}
        tests = tuple(self._expected(j, _as_kept(c, means)) for j, c in enumerate(cases))
        kept, refused = self._kept(as_written(case.attack), updates, tests)
        return Learned(
            name=case.attack.name,
            tests=tests,
            parameters=tuple(updates),
            method="exact" if self.is_exact else self.how,
            error=self.error,
            settings=self.posterior.size,
            log_evidence=self.log_evidence,
            correlation=self._correlation(),
            kept=kept,
            refused=refused,
            filled_in=tuple(n for n, p in self.varied.items() if p.prior is None),
            notes=(*dict.fromkeys(n for g in self.grids for n in g.declared),
                   *held(case, self.varied), *counts_held(case, self.varied), *asides(),
                   *([refused] if refused else [])),
        )  # fmt: skip

    def _kept(
        self, own: Attack, updates: Sequence[Update], tests: tuple[SeenTest, ...]
    ) -> tuple[Attack | None, str]:
        """The attack with what was learnt; or why there is none with each parameter at its mean.

        What no test stands on may not bear these means.
        """
        new = map(self._parameter, updates)
        try:
            attack = own.replace(parameters=own.parameters.replace(*new))
        except ModelError as problem:
            wrong = "; ".join(f"{p.address}: {p.message}" for p in problem.problems
                              if not p.is_warning)  # fmt: skip
            at = ", ".join(f"{u.parameter}={u.mean:.6g}" for u in updates)
            return None, (
                f"no attack is kept: at what was learnt ({at}) it has {wrong}. Learn over "
                f"narrower ranges (over=), or mend the model"
            )
        return with_what_differs(attack, tests), ""

    def _update(self, i: int) -> Update:
        name = self.names[i]
        parameter = self.varied[name]
        before = _mean_and_sd(self.points[name], self.prior[i])
        mean, sd = self._moments(i)
        low, high = self._interval(i)
        return Update(
            name, prior_text(parameter), *before, mean, sd, low, high,
            source=parameter.source, is_assumption=parameter.is_assumption,
        )  # fmt: skip

    def _interval(self, i: int) -> tuple[float, float]:
        """The central interval: the prior's shares of pieces, weighed in their middles.

        Pieces are even, around the mean and ever closer to both ends at first, then even in weight.
        """
        known, (mean, sd) = measure(self.varied[self.names[i]]), self._moments(i)
        ends = known.low, known.high
        cells = self.posterior.size // len(self.points[self.names[i]])
        asked = self.most // (PASSES * cells)
        follows = all(map(_is_followed, self.grids))
        levels = levels_of(FINE if follows else int(np.clip(asked, FEWEST_FINE, FINE)), LEVEL)
        around = np.linspace(max(mean - REACH * sd, ends[0]), min(mean + REACH * sd, ends[1]), 101)
        marks = known.marks  # of a law that may hold nothing in between
        even = np.linspace(*ends, len(levels))
        edges = np.unique(np.concatenate([even, around, inwards(*ends), marks]))
        for _ in range(PASSES):
            mass = self._mass(i, known, edges)
            finer = np.interp(levels * mass[-1], mass, edges)
            before, edges = edges, np.unique(np.concatenate([finer, marks]))
        met = np.diff(mass) @ (before[1:] + before[:-1]) / 2
        if not abs(met - mean * mass[-1]) <= COARSE * sd * mass[-1]:
            raise _too_little(self.names)
        return _between_tails(mass, before)

    def _mass(self, i: int, known: PriorMeasure, edges: Array) -> Array:
        """What is left of the prior below every edge, but for scale."""
        name = self.names[i]
        shares, middles = known.between(edges), (edges[1:] + edges[:-1]) / 2
        weights = np.zeros(len(middles))
        step = max(1, self.most // max(1, self.posterior.size // len(self.points[name])))
        others = [(j, w) for j, w in enumerate(self.prior) if j != i]
        for start in range(0, len(middles), step):
            part = slice(start, start + step)
            logs = self.log_likelihood({**self.points, name: middles[part]}) - self.top
            held = np.exp(np.minimum(logs, MOST_LOG))
            for j, prior in others:
                held = held * self._along(j, prior)
            weights[part] = held.sum(axis=tuple(j for j, _ in others))
        return np.append(0.0, np.cumsum(shares * weights))

    def _expected(self, j: int, saved: float) -> SeenTest:
        rates = self.rate(j, self.points)
        before: Array = rates
        for i, weights in enumerate(self.prior):
            if before.shape[i] > 1:
                before = (before * self._along(i, weights)).sum(axis=i, keepdims=True)
        after = float((self.posterior * rates).sum())
        seen = self.attempts[j]
        return SeenTest(seen.words, seen.hits, seen.trials, float(before.flat[0]), after, saved)

    def _correlation(self) -> float:
        """The largest correlation between two parameters."""
        found = 0.0
        means = [self._moments(i) for i in range(len(self.names))]
        for i in range(len(self.names)):
            for j in range(i):
                others = tuple(k for k in range(len(self.names)) if k not in (i, j))
                both = self.posterior.sum(axis=others)
                x, y = (self.points[self.names[k]] - means[k][0] for k in (j, i))
                sds = means[i][1] * means[j][1]
                found = max(found, abs(float(x @ both @ y)) / sds if sds else 0.0)
        return found

    def _parameter(self, update: Update) -> Parameter:
        """The parameter with a beta prior of the same mean and sd."""
        old = self.varied[update.parameter]
        known = measure(old)
        width = known.high - known.low
        m, v = (update.mean - known.low) / width, (update.sd / width) ** 2
        n = m * (1 - m) / v - 1
        seen = "; ".join(a.words for a in self.attempts)
        prior = Prior("beta", a=m * n, b=(1 - m) * n)
        return replace(
            old, value=update.mean, low=known.low, high=known.high, prior=prior, evidence=None,
            source=f"{old.source}; brought up to date by {seen}",
        )  # fmt: skip


class _Scattering(_Weighing):
    """The priors at scattered points, weighed with what was seen: where answers jump or bend."""

    how = SCATTERED

    def __init__(
        self, varied: Mapping[str, Parameter], attempts: Sequence[Attempts], cases: Sequence[Asked]
    ) -> None:
        self.varied, self.attempts, self.grids = dict(varied), attempts, ()
        self.names = [n for n in varied if any(c.matters(n) for c in cases)]
        self.is_exact = False
        scattered = ScatteredPoints(cases, varied)
        self.at = scattered.at
        self.rates = [
            scattered.mean_answers(c, [n for n in self.names if n not in a.set])
            for c, a in zip(cases, attempts, strict=True)
        ]
        laws = {n: scattered.measures[n] for n in self.names}
        self.points = {n: law.points for n, law in laws.items()}
        self.prior = [law.weights / law.weights.sum() for law in laws.values()]
        logs = self._of_rates(self.rates)
        self.top = float(logs.max())
        self._refuse_impossible(self.top)
        self.posterior = np.exp(logs - self.top)
        self.log_evidence = self.top + float(np.log(self.posterior.mean()))
        self.error = error_in_sds(moments(self.at[n], self.posterior) for n in self.names)
        if not self.error <= COARSE:
            closer = f" closer than within {self.error:.1g} sd" if self.error < 1 else ""
            raise _too_little(self.names, closer)

    def _moments(self, i: int) -> tuple[float, float]:
        mean, sd = moments(self.at[self.names[i]], self.posterior)
        return mean.value, sd.value

    def _interval(self, i: int) -> tuple[float, float]:
        at, weights = self.at[self.names[i]].ravel(), self.posterior.ravel()
        order = np.argsort(at)
        mass = np.cumsum(weights[order])
        return _between_tails(mass, at[order])

    def _expected(self, j: int, saved: float) -> SeenTest:
        seen, rates = self.attempts[j], self.rates[j]
        after = float((self.posterior * rates).sum() / self.posterior.sum())
        return SeenTest(seen.words, seen.hits, seen.trials, float(rates.mean()), after, saved)

    def _correlation(self) -> float:
        if len(self.names) < 2:
            return 0.0
        found = np.cov([self.at[n].ravel() for n in self.names], aweights=self.posterior.ravel())
        sds = np.sqrt(np.diag(found))
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = np.abs(found / np.outer(sds, sds))
        np.fill_diagonal(apart, 0.0)
        return float(np.nanmax(apart))


def _refuse_never(seen: Attempts, p: Array, names: Sequence[str]) -> None:
    """Raise where so many hits could be at no value of any parameter."""
    is_surely, is_never = bool((1 - p <= SURE).all()), bool((p <= 0).all())
    if (is_surely and seen.hits < seen.trials) or (is_never and seen.hits > 0):
        raise UsageError(
            f"what was seen can never be in this model: {seen.target} has probability "
            f"{int(is_surely)} whatever {', '.join(names)} may be, and {seen.hits:,} of "
            f"{seen.trials:,} were hits; check the target, the counts, and what the model rules out"
        )


def _as_kept(case: Asked, means: Mapping[str, float]) -> float:
    """What is answered with each parameter at its own mean, the mean over people."""
    settings = {**means, **case.settings}
    found = replace(case, settings=settings, beyond_range=True).evaluate({})
    return float(mean(found.probability, case.weights)[0])


def _too_little(names: Sequence[str], closer: str = "") -> TooLarge:
    return TooLarge(
        f"what was seen leaves too little of the priors of {', '.join(names)} to be told{closer}: "
        f"check the counts, give wider priors (priors=), name fewer in over=, or narrower ranges "
        f"around where it can be (over={{name: (low, high)}})"
    )


def _between_tails(mass: Array, at: Array) -> tuple[float, float]:
    """The central interval of a law, by what is left of it below some values."""
    tail = (1 - LEVEL) / 2
    low, high = np.interp([tail * mass[-1], (1 - tail) * mass[-1]], mass, at)
    return float(low), float(high)


def _mean_and_sd(x: Array, weights: Array) -> tuple[float, float]:
    mean = float(weights @ x)
    return mean, float(np.sqrt(max(float(weights @ (x - mean) ** 2), 0.0)))


def _is_followed(grid: Grid) -> bool:
    """Whether the grid's points fix what is asked, so that it may be read between them."""
    return all(a.is_exact for a in grid.axes) and grid.distance <= ROUNDING


def _is_near(grid: Grid, points: Mapping[str, Array]) -> bool:
    """Whether an answer that is read here keeps its digits, or these are too many to ask."""
    if prod(len(points[n]) for n in grid.names) * numbers_of(grid.case) > MOST_ASKED:
        return True
    return all(np.abs(a.basis(points[a.name])).sum(axis=1).max() <= FAR for a in grid.axes)


def _asked_on(grid: Grid, points: Mapping[str, Array]) -> Array:
    """The engine's own mean answers on the product of some points of every axis."""
    names = grid.names
    mesh = np.meshgrid(*(points[n] for n in names), indexing="ij")
    flat = {n: m.reshape(-1) for n, m in zip(names, mesh, strict=True)}
    return asked_at(grid.case, flat, mesh[0].size).reshape(mesh[0].shape)
