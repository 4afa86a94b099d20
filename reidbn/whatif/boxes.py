"""Boxes of parameters that vary together: every setting within one has to be allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count, product

import numpy as np

from reidbn.aside import aside
from reidbn.attack.limits import Condition, with_numbers
from reidbn.attack.numbers import without_remedy
from reidbn.errors import ModelError, TooLarge, UsageError
from reidbn.inference.asked import Asked
from reidbn.inference.network import Array
from reidbn.inference.values import parameter_values
from reidbn.whatif.ranges import MOST_HALVED, shortest, takes_whole_numbers

LOOKED, SOME, CLOSER = 4_096, 64, 3  # settings looked at, of them with tables; rounds closer in
Span = tuple[float, float]
MOST_TOGETHER = 12  # parameters of one table: their ranges have 2^12 corners to check


def check_box(case: Asked, box: Mapping[str, Span]) -> None:
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


def _check_conditions(case: Asked, box: Mapping[str, Span]) -> None:
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
            if not condition.holds(known, case.attack.derived.terms):
                where = ", ".join(f"{n}={v:g}" for n, v in values.items())
                raise _narrow(case, names, f"{condition} does not hold ({where})", box)
        inner = {n: span for n, span in zip(names, ends, strict=True) if n in box}
        _halve(case, condition, dict(zip(names, ends, strict=True)), inner, box)


def _halve(
    case: Asked,
    condition: Condition,
    fixed: Mapping[str, Span],
    inner: Mapping[str, Span],
    box: Mapping[str, Span],
) -> None:
    """A condition proved part by part of a box, the doubtful halved; where that takes too long it
    is looked at.
    """
    attack, widths = case.attack, {n: (high - low) or 1.0 for n, (low, high) in inner.items()}
    whole, order = {n for n in inner if takes_whole_numbers(case, n)}, count()

    def known(points: Mapping[str, Array]) -> Mapping[str, Array]:
        return parameter_values(attack, {**case.settings, **points})

    def refuse_broken(points: Mapping[str, Array]) -> int:
        several = max(map(len, points.values()))
        held = np.broadcast_to(condition.holds(known(points), attack.derived.terms), several)
        if not held.all():
            first = int(np.argmin(held))
            where = ", ".join(f"{n}={v[first]:.9g}" for n, v in points.items())
            raise _narrow(case, [*inner], f"{condition} does not hold ({where})", box)
        return several

    def entry(part: Mapping[str, Span]) -> tuple[float, int, Mapping[str, Span]]:
        least = condition.lowest(attack, case.settings, {**fixed, **part})
        return least, next(order), part

    queue = [entry(inner)]
    for _ in range(MOST_HALVED):
        if not queue or condition.is_kept_by(queue[0][0]):  # the least of all
            return
        part = heappop(queue)[2]
        middle = {n: (low + high) / 2 for n, (low, high) in part.items()}
        middle = {n: float(np.floor(x)) if n in whole else x for n, x in middle.items()}
        refuse_broken({n: np.array([x]) for n, x in middle.items()})
        share = {
            n: (high - low) / widths[n] for n, (low, high) in part.items()
            if high - low > (0.0 if n in whole else shortest(low, high, widths[n]))
        }  # fmt: skip
        if share:
            name = max(share, key=lambda n: share[n])
            low, high = part[name]
            after = middle[name] + 1 if name in whole else middle[name]
            for span in ((low, middle[name]), (after, high)):
                heappush(queue, entry({**part, name: span}))
    looked = _looked_at(case, inner, lambda points: condition.slack(known(points)))
    settings = sum(map(refuse_broken, looked))
    said = (
        f"{condition} is not proved to hold all over these ranges; it did at all {settings:,} "
        f"settings that were looked at"
    )
    aside(("unproved", str(condition)), 1.0, said)


def _check_numbers(case: Asked, box: Mapping[str, Span]) -> None:
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
        looked = 0
        for points in _looked_at(case, inner, partial(_values, case, name)):
            looked += len(next(iter(points.values()), ()))
            problem = _leaves(case, name, points) or case.refusal(
                {n: v[:SOME] for n, v in points.items()}, [*points]
            )
            if problem:
                raise _narrow(case, reads, problem, box)
        said = (
            f"{name} = {formula} is not proved to keep to what its tables take over these ranges; "
            f"it did at all {looked:,} settings that were looked at"
        )
        aside(("unproved", name), 1.0, said)


def _looked_at(
    case: Asked,
    box: Mapping[str, Span],
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
    known = parameter_values(case.attack, held)
    values = case.attack.derived.strictly(name, known, held)

    def where(i: int) -> str:
        return ", ".join(f"{n}={v[i]:.6g}" for n, v in points.items())

    try:
        case.attack.derived.checked(name, values, case.attack.derived.off(name, known), where)
    except ModelError as problem:
        return without_remedy(case.attack.name, problem)
    return ""


class TooWide(UsageError):
    """Ranges that meet where no answer is."""


def _narrow(case: Asked, names: Sequence[str], problem: str, box: Mapping[str, Span]) -> TooWide:
    """Ranges that cannot be drawn from independently, and how to write narrower ones.

    What is not named is held at its value, so what varies beside them is named too.
    """
    said = f"{case.attack.name}: the ranges of {', '.join(names)} meet where {problem}. Narrow them"
    rest = [n for n in box if n not in names and case.matters(n)]
    spans = [*(f'"{n}": (low, high)' for n in names), *(f'"{n}": None' for n in rest)]
    keeps = ", where None keeps what varies as it does" if rest else ""
    shell = " ".join([*(f"--over {n}=LOW:HIGH" for n in names), *(f"--over {n}" for n in rest)])
    return TooWide(f"{said}: over={{{', '.join(spans)}}}{keeps}", in_shell=f"{said}: {shell}")
