"""Boxes of parameters that vary together: every setting within one has to be allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from math import prod

import numpy as np

from reidbn.aside import aside
from reidbn.attack.limits import Condition, with_numbers
from reidbn.attack.numbers import without_remedy
from reidbn.errors import ModelError, TooLarge, UsageError
from reidbn.inference.asked import Asked
from reidbn.inference.network import Array
from reidbn.inference.values import parameter_values
from reidbn.whatif.ranges import MOST_WHOLE, takes_whole_numbers

LOOKED, SOME, CLOSER = 4_096, 64, 3  # settings looked at, of them with tables; rounds closer in
MOST_TOGETHER = 12  # parameters of one table: their ranges have 2^12 corners to check


def check_box(case: Asked, box: Mapping[str, tuple[float, float]]) -> None:
    """Parameters that share a table must leave it a table at every corner of their ranges."""
    _check_conditions(case, box)
    _check_numbers(case, box)
    together = {tuple(n for n in box if node in case.holders([n])) for node in case.holders([*box])}
    for names in sorted(together):
        if len(names) > MOST_TOGETHER:
            raise TooLarge(
                f"{case.attack.name}: {len(names)} parameters share one table; vary at most "
                f"{MOST_TOGETHER} of them together: over=[names]"
            )
        corners = np.array(list(product(*(box[n] for n in names)))).T
        at_once = not any(case.is_structural(n) for n in names)
        if at_once and case.refusal(dict(zip(names, corners, strict=True)), names) is None:
            continue
        for corner in corners.T:
            changes = dict(zip(names, corner.tolist(), strict=True))
            problem = case.refusal(changes, names)
            if problem is not None:
                where = ", ".join(f"{n}={v:g}" for n, v in changes.items())
                raise _narrow(case, names, f"no answer is ({where}): {problem}", box)


def _check_conditions(case: Asked, box: Mapping[str, tuple[float, float]]) -> None:
    """Independent priors cannot honour a condition that some corner of their ranges breaks.

    What has no say in the answer itself counts, where it stands in one with what has: it says
    which values of that can be.
    """
    for condition in case.attack.conditions:
        names = condition.stands_on(case.attack, case.settings)
        if not any(n in box and case.matters(n) for n in names):
            continue
        ends = [box.get(n, (case.base(n), case.base(n))) for n in names]
        for corner in product(*ends):
            values = dict(zip(names, corner, strict=True))
            known = with_numbers(
                case.attack, {n: case.base(n) for n in (*case.parameters, *case.settings)} | values
            )
            if not condition.holds(known):
                where = ", ".join(f"{n}={v:g}" for n, v in values.items())
                raise _narrow(case, names, f"{condition} does not hold ({where})", box)
        if not condition.is_proved(case.attack, case.settings, dict(zip(names, ends, strict=True))):
            _look_at_condition(case, condition, {n: box[n] for n in names if n in box}, box)


def _look_at_condition(
    case: Asked,
    condition: Condition,
    inner: Mapping[str, tuple[float, float]],
    box: Mapping[str, tuple[float, float]],
) -> None:
    """A condition without a proof: at every setting, of few whole numbers; else at many."""
    counts = [takes_whole_numbers(case, n) and int(high - low) + 1 for n, (low, high) in
              inner.items()]  # fmt: skip
    every = all(counts) and prod(counts) <= MOST_WHOLE

    def known(points: Mapping[str, Array]) -> Mapping[str, Array]:
        return parameter_values(case.attack, {**case.settings, **points})

    looked = _every(inner) if every else _looked_at(
        case, inner, lambda points: condition.slack(known(points)))  # fmt: skip
    count = 0
    for points in looked:
        count += len(next(iter(points.values())))
        held = np.broadcast_to(condition.holds(known(points)), len(next(iter(points.values()))))
        if not held.all():
            first = int(np.argmin(held))
            where = ", ".join(f"{n}={v[first]:.6g}" for n, v in points.items())
            raise _narrow(case, [*inner], f"{condition} does not hold ({where})", box)
    if not every:
        said = (
            f"{condition} is not proved to hold all over these ranges; it did at all {count:,} "
            f"settings that were looked at"
        )
        aside(("unproved", str(condition)), 1.0, said)


def _every(box: Mapping[str, tuple[float, float]]) -> Iterator[dict[str, Array]]:
    """All whole numbers in a box."""
    axes = [np.arange(low, high + 1) for low, high in box.values()]
    yield dict(zip(box, (grid.ravel() for grid in np.meshgrid(*axes)), strict=True))


def _check_numbers(case: Asked, box: Mapping[str, tuple[float, float]]) -> None:
    """Derived numbers have to keep their ranges everywhere in the box.

    Where that cannot be proved it is looked at: at many settings, and ever closer around those
    where a number is least and most.  One that leaves its range is refused, with where; of others
    it is said beside the answer that it was seen and not proved.
    """
    names = case.unproved({n: ends for n, ends in box.items() if case.matters(n)})
    derived = case.attack.derived
    for name in names:
        formula = case.attack.numbers[name].formula
        reads = [r[1:] for r in derived.behind(name) if r[1:] in box] or [name]
        if derived.is_per_person(name):
            said = f"{name} = {formula} cannot be shown to keep its range"
            raise _narrow(case, reads, said, box)
        inner = {n: box[n] for n in reads if n in box}
        count = 0
        for points in _looked_at(case, inner, partial(_values, case, name)):
            count += len(next(iter(points.values()), ()))
            problem = _leaves(case, name, points) or case.refusal(
                {n: v[:SOME] for n, v in points.items()}, [*points]
            )
            if problem:
                raise _narrow(case, reads, problem, box)
        said = (
            f"{name} = {formula} is not proved to keep to what its tables take over these ranges; "
            f"it did at all {count:,} settings that were looked at"
        )
        aside(("unproved", name), 1.0, said)


def _looked_at(
    case: Asked,
    box: Mapping[str, tuple[float, float]],
    value: Callable[[Mapping[str, Array]], Array],
) -> Iterator[dict[str, Array]]:
    """Settings within a box: its corners, all over it, and closer around where a value is least
    and most so far.
    """
    from scipy.stats import qmc

    ends = np.array([*box.values()], dtype=float)
    whole = [takes_whole_numbers(case, n) for n in box]

    def points(t: Array, low: Array, high: Array) -> dict[str, Array]:
        found = low + (high - low) * t
        found = np.where(whole, np.rint(found), found)
        return {n: found[:, i] for i, n in enumerate(box)}

    spread = qmc.Sobol(len(box), seed=np.random.default_rng(0)).random(LOOKED)
    if len(box) <= MOST_TOGETHER:
        yield points(np.array([*product((0.0, 1.0), repeat=len(box))]), *ends.T)
    around, reach = [points(spread, *ends.T)], ends[:, 1] - ends[:, 0]
    yield around[0]
    for _ in range(CLOSER):
        reach = reach / 8
        every = {n: np.concatenate([some[n] for some in around]) for n in box}
        values = value(every)
        best = [np.array([v[at] for v in every.values()])
                for at in (int(values.argmin()), int(values.argmax()))]  # fmt: skip
        around = [points(spread[:LOOKED // 4], np.maximum(at - reach, ends[:, 0]),
                         np.minimum(at + reach, ends[:, 1])) for at in best]  # fmt: skip
        yield from around


def _values(case: Asked, name: str, points: Mapping[str, Array]) -> Array:
    values = parameter_values(case.attack, {**case.settings, **points})[name]
    return np.where(np.isfinite(values), values, 0.0)


def _leaves(case: Asked, name: str, points: Mapping[str, Array]) -> str:
    """What is wrong with a number at some of these settings; nothing where it keeps its range."""
    held = {**case.settings, **points}
    values = case.attack.derived.strictly(name, parameter_values(case.attack, held), held)

    def where(i: int) -> str:
        return ", ".join(f"{n}={v[i]:.6g}" for n, v in points.items())

    try:
        case.attack.derived.checked(name, values, where)
    except ModelError as problem:
        return without_remedy(case.attack.name, problem)
    return ""


class TooWide(UsageError):
    """Ranges that meet where no answer is."""


def _narrow(
    case: Asked, names: Sequence[str], problem: str, box: Mapping[str, tuple[float, float]]
) -> TooWide:
    """Ranges that cannot be drawn from independently, and how to write narrower ones.

    What is not named is held at its value, so what varies beside them is named too.
    """
    said = f"{case.attack.name}: the ranges of {', '.join(names)} meet where {problem}. Narrow them"
    rest = [n for n in box if n not in names and case.matters(n)]
    spans = [*(f'"{n}": (low, high)' for n in names), *(f'"{n}": None' for n in rest)]
    keeps = ", where None keeps what varies as it does" if rest else ""
    shell = " ".join([*(f"--over {n}=LOW:HIGH" for n in names), *(f"--over {n}" for n in rest)])
    return TooWide(f"{said}: over={{{', '.join(spans)}}}{keeps}", in_shell=f"{said}: {shell}")
