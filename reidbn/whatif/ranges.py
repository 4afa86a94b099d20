"""How far a parameter may move before a table is none, or a condition of `where` does not hold.

A condition may hold at both ends of a range and not between them.  It is proved piece by piece,
each halved where that fails; where that takes too long it is looked at, closely.  So are the ranges
of derived numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.limits import broken_condition, conditions_hold, first_broken
from reidbn.errors import ImpossibleEvidence, ModelError, UsageError
from reidbn.inference.asked import LEAVE_OUT, Asked
from reidbn.inference.network import Array
from reidbn.inference.values import parameter_values

PIECES, CLOSELY = 256, 65  # of a range; values of a piece of which there is no proof
MOST_HALVED, FINEST = 2_000, 1e-12  # pieces that are proved, or halved; of a value: the shortest
MOST_WHOLE = 1 << 17  # whole numbers that are all looked at
MOST_DIPS, MOST_BISECTED = 8, 400  # least values of a condition that are looked at closely; halves
AGAIN = "it holds again at"
MOST_TRIED = 256  # values at which a range is tried to be entered
LOOKED = 65  # values on either side at which derived numbers without a proof are checked

Range = tuple[float, float]


def takes_whole_numbers(case: Asked, name: str) -> bool:
    """Whether a parameter moves in whole steps; so does a number that can only be whole."""
    if case.is_structural(name) or case.parameter(name).is_integer:
        return True
    return name in case.attack.derived.whole


@contextmanager
def where_it_can_be(names: Iterable[str]) -> Iterator[None]:
    """What rules evidence out at some values is answered with ranges of these parameters."""
    try:
        yield
    except ImpossibleEvidence as problem:
        said = f"{str(problem).removesuffix(LEAVE_OUT)}; vary them where that is not so: "
        every = [*names]
        spans = ", ".join(f'"{n}": (low, high)' for n in every)
        shell = " ".join(f"--over {n}=LOW:HIGH" for n in every)
        raise ImpossibleEvidence(f"{said}over={{{spans}}}", in_shell=f"{said}{shell}") from None


def told(value: float, beside: float) -> str:
    """A value in as few digits as tell it from another: six, nine, or all.

    >>> told(99999998, 100000000), told(0.1 + 0.2, 0.5), told(2.0, 3.0)
    ('99999998', '0.3', '2')
    """
    for digits in (6, 9, 12):
        if (said := f"{value:.{digits}g}") != f"{beside:.{digits}g}" and not (
            value == round(value) and float(said) != value
        ):
            return said if "e" not in said or abs(value) >= 1e15 else f"{value:.15g}"
    return f"{value:.12g}"


def allowed_range(
    case: Asked, name: str, span: Range, *, evidence: bool = True
) -> tuple[Range, tuple[str, ...]]:
    """The part of a range, around the base value, where every table is one; and what was cut.

    A range that has not the base in it is entered at the first value that is allowed.  With
    `evidence`, also where no curve can give a limit, the evidence has to be possible.
    """
    base = case.base(name)
    problem = _refusal(case, name, base)
    if problem is not None:
        raise ModelError(f"{case.attack.name} at {name}={base:g}: {problem}")
    start, notes = base, tuple[str, ...]()
    if not span[0] <= base <= span[1]:
        start, notes = _entered(case, name, span, evidence=evidence)
    ends: list[float] = []
    for far in span:
        if start != base and (far - start) * (start - base) <= 0:  # where it was entered
            ends.append(start)
            continue
        end, said = holds_up_to(case, name, start, far, whole=takes_whole_numbers(case, name))
        notes += said
        problem = _refusal(case, name, end, evidence=evidence)
        if problem is None:
            ends.append(end)
        else:
            ends.append(_last_allowed(case, name, start, end, evidence=evidence))
            last = ends[-1]
            notes += (f"range ends at {told(last, end)}, since at {told(end, last)} {problem}",)
    if ends[0] < ends[1] and case.unproved({name: (ends[0], ends[1])}):
        return _between(case, name, start, ends, notes)
    return (ends[0], ends[1]), notes


def _entered(
    case: Asked, name: str, span: Range, *, evidence: bool
) -> tuple[float, tuple[str, ...]]:
    """The value of a range, nearest to the base that is outside it, that is allowed; and why."""
    near, far = span if case.base(name) < span[0] else span[::-1]
    problem = _refusal(case, name, near, evidence=evidence)
    if problem is None:
        return near, ()
    whole = takes_whole_numbers(case, name)
    for value, before in islice(_entries(case, name, near, far, whole=whole), MOST_TRIED):
        if _refusal(case, name, value, evidence=evidence) is None:
            start = _last_allowed(case, name, value, before, evidence=evidence)
            at = told(near, start)
            return start, (f"range starts at {told(start, near)}, since at {at} {problem}",)
    raise UsageError(
        f"{case.attack.name}: no value of {name} from {span[0]:.6g} to {span[1]:.6g} was found "
        f"that is allowed: at {near:.6g} {problem}"
    )


def _between(
    case: Asked, name: str, base: float, ends: Sequence[float], notes: tuple[str, ...]
) -> tuple[Range, tuple[str, ...]]:
    """The part of a range on which derived numbers were seen to keep theirs, around the base."""
    whole, kept = takes_whole_numbers(case, name), []
    for end in ends:
        points = np.linspace(base, end, LOOKED)
        points = np.unique(np.rint(points)) if whole else points
        points = points if end >= base else points[::-1] if whole else points
        bad = [x for x in points.tolist() if _refusal(case, name, x, evidence=False) is not None]
        if not bad:
            kept.append(end)
            continue
        before = points[points.tolist().index(bad[0]) - 1]
        kept.append(_last_allowed(case, name, float(before), bad[0], evidence=False))
        problem = _refusal(case, name, bad[0], evidence=False)
        at, last = bad[0], kept[-1]
        notes += (f"range ends at {told(last, at)}, since at {told(at, last)} {problem}",)
    return (kept[0], kept[1]), (
        *notes,
        f"{name}: derived numbers were checked at {2 * LOOKED} values",
    )


def _refusal(case: Asked, name: str, value: float, *, evidence: bool = True) -> str | None:
    problem = case.refusal({name: value}, [name])
    if evidence and problem is None and case.degree(name) is None and case.is_conditional:
        try:
            case.answers({name: value})
        except (ImpossibleEvidence, UsageError) as impossible:
            said = str(impossible).removeprefix(f"{case.attack.name}: ")
            return said.removesuffix(LEAVE_OUT)
    return problem


def _last_allowed(case: Asked, name: str, good: float, bad: float, *, evidence: bool) -> float:
    def is_allowed(value: float) -> bool:
        return _refusal(case, name, value, evidence=evidence) is None

    return last_allowed(is_allowed, good, bad, whole=takes_whole_numbers(case, name))[0]


def holds_up_to(
    case: Asked, name: str, start: float, end: float, *, whole: bool
) -> tuple[float, tuple[str, ...]]:
    """The last value from a start towards an end up to which every condition holds, and numbers
    that all people share keep their ranges; and why.
    """
    end, said = _conditions_hold(case, name, start, end, whole=whole)
    numbers = [n for n in case.unproved({name: (min(start, end), max(start, end))})
               if not case.attack.derived.is_per_person(n)] if end != start else []  # fmt: skip
    if not numbers:
        return end, said

    def keep(points: Array) -> NDArray[np.bool_]:
        derived, at = case.attack.derived, _settings(case, name, points)
        held = {*case.settings, name}
        each = (derived.keeps(n, at, held) for n in numbers)
        return reduce(np.logical_and, each, np.ones(len(points), dtype=bool))

    looked = _looked_at(start, end, whole=whole)
    bad = np.flatnonzero(~keep(looked))
    if not len(bad):
        return end, said
    good, beyond = float(looked[max(bad[0] - 1, 0)]), float(looked[bad[0]])
    kept, _ = last_allowed(lambda x: bool(keep(np.array([x])).all()), good, beyond, whole=whole)
    at = end if bad[-1] == len(looked) - 1 else beyond
    why = case.refusal({name: at}, [name])
    return kept, (*said, f"range ends at {told(kept, at)}, since at {told(at, kept)} {why}")


def _entries(
    case: Asked, name: str, near: float, far: float, *, whole: bool
) -> Iterator[tuple[float, float]]:
    """Values from one end of a range to the other at which every condition holds, each with the
    one before it.
    """
    points = _looked_at(near, far, whole=whole)
    for i in np.flatnonzero(_holds(case, name, points)).tolist():
        yield float(points[i]), float(points[max(i - 1, 0)])


def _looked_at(start: float, end: float, *, whole: bool) -> Array:
    """Values from one to another: all whole numbers, where they are not too many; else many."""
    if whole and abs(end - start) <= MOST_WHOLE:
        return np.append(np.arange(start, end, 1.0 if end > start else -1.0), end)
    points = np.linspace(start, end, PIECES * CLOSELY)
    return np.rint(points) if whole else points


def _conditions_hold(
    case: Asked, name: str, start: float, end: float, *, whole: bool
) -> tuple[float, tuple[str, ...]]:
    """The same of conditions: halved where there is no proof, the half near the start first."""
    if not case.attack.conditions or end == start:
        return end, ()
    sure, todo = start, [end]
    halved = 0 if whole and abs(end - start) <= MOST_WHOLE else MOST_HALVED
    for _ in range(halved):
        if not todo:
            return end, ()
        far = todo[-1]
        finest = 1.0 if whole else shortest(sure, far, abs(end - start))
        if not _at(case, name, far) and abs(far - sure) <= finest:
            return _cut(case, name, sure, far, end, whole=whole)
        if abs(far - sure) <= finest or _is_proved(case, name, sure, far):
            sure = todo.pop()
        else:
            middle = (sure + far) / 2
            todo.append(float(np.floor(middle)) if whole and far > sure else
                        float(np.ceil(middle)) if whole else middle)  # fmt: skip
    points = _looked_at(sure, end, whole=whole)
    if halved:
        points = _closer(case, name, points, whole=whole)
    bad = np.flatnonzero(~_holds(case, name, points))
    if len(bad):
        last, first = points[max(bad[0] - 1, 0)], points[bad[0]]
        return _cut(case, name, float(last), float(first), end, whole=whole)
    looked = f"seen to hold at {len(points):,} values from {sure:.6g} on"
    said = f"{name}: conditions are not proved and were {looked}"
    return end, (said,) if halved else ()


def shortest(one: float, other: float, span: float) -> float:
    """How long a piece of a span is at least that is halved."""
    return max(FINEST * max(abs(one), abs(other)), 1e-18 * span)


def _closer(case: Asked, name: str, points: Array, *, whole: bool) -> Array:
    """The same values, and ever more of them around those at which a condition nearly breaks."""
    found, turn = [points], 1 if points[-1] >= points[0] else -1
    for condition in case.attack.conditions:
        slack = np.broadcast_to(condition.slack(_settings(case, name, points)), points.shape)
        beside = np.pad(slack, 1, constant_values=np.inf)
        dips = np.flatnonzero((slack <= beside[:-2]) & (slack <= beside[2:]))
        for i in dips[np.argsort(slack[dips], kind="stable")[:MOST_DIPS]].tolist():
            low, high = points[max(i - 1, 0)], points[min(i + 1, len(points) - 1)]
            while abs(high - low) > (2.0 if whole else shortest(low, high, 0.0)):
                near = np.linspace(low, high, CLOSELY)
                near = np.unique(np.rint(near))[::turn] if whole else near
                found.append(near)
                own = np.broadcast_to(condition.slack(_settings(case, name, near)), near.shape)
                at = int(np.clip(own.argmin(), 1, len(near) - 2))
                if whole and len(near) < CLOSELY:
                    break
                low, high = near[at - 1], near[at + 1]
    return np.unique(np.concatenate(found))[::turn]


def _is_proved(case: Asked, name: str, one: float, other: float) -> bool:
    """Whether every condition holds between two values of a parameter, the others staying."""
    held = {*case.settings, name}
    for condition in case.attack.conditions:
        names = condition.stands_on(case.attack, held)
        box = {n: (case.base(n), case.base(n)) for n in names}
        if name in box:
            box[name] = min(one, other), max(one, other)
            if not condition.is_kept_by(condition.lowest(case.attack, held, box)):
                return False
    return True


def _settings(case: Asked, name: str, points: Array) -> Mapping[str, Array]:
    return parameter_values(case.attack, {**case.settings, name: points})


def _holds(case: Asked, name: str, points: Array) -> NDArray[np.bool_]:
    return conditions_hold(case.attack, _settings(case, name, points), len(points))


def _at(case: Asked, name: str, value: float) -> bool:
    return bool(_holds(case, name, np.array([value]))[0])


def last_allowed(
    is_allowed: Callable[[float], bool], good: float, bad: float, *, whole: bool
) -> tuple[float, float]:
    """Bisect between a value that is allowed and one that is not; the last, and the next that is
    not.  The last is told in as few digits as leave it where it is, from nine on.
    """
    first, near = good, 1e-9 * max(1.0, abs(bad - good))
    for _ in range(MOST_BISECTED):
        if abs(bad - good) <= (1.0 if whole else 1e-12 * max(abs(good), abs(bad))):
            break
        middle = (good + bad) / 2
        middle = float(np.floor(middle)) if whole else middle
        good, bad = (middle, bad) if is_allowed(middle) else (good, middle)
    for digits in (9, 12, 15):
        tidy = float(f"{good:.{digits}g}")
        between = min(first, bad) <= tidy <= max(first, bad) and tidy != bad
        if between and abs(tidy - good) <= near and is_allowed(tidy):
            return tidy, bad
    return good, bad


def _cut(
    case: Asked, name: str, good: float, bad: float, end: float, *, whole: bool
) -> tuple[float, tuple[str, ...]]:
    """The last value before one that breaks a condition, and whether others hold it beyond."""
    seen = bad
    kept, bad = last_allowed(lambda x: _at(case, name, x), good, bad, whole=whole)
    at = end if not _at(case, name, end) else bad if whole else seen
    beyond = first_broken(case.attack, _settings(case, name, np.array([bad])))
    shown = first_broken(case.attack, _settings(case, name, np.array([float(told(at, kept))])))
    if beyond is not None and (shown is None or shown[0] is not beyond[0]):
        side = "above" if bad > kept else "below"
        said = f"range ends at {told(kept, bad)}, since just {side} {beyond[0]} does not hold"
    else:
        broken = broken_condition(case.attack, _settings(case, name, np.array([at])))
        said = f"range ends at {told(kept, at)}, since at {told(at, kept)} {broken}"
    again = next(_entries(case, name, bad, end, whole=whole), None)
    if again is not None:
        first, _ = last_allowed(lambda x: _at(case, name, x), *again, whole=whole)
        said += f"; {AGAIN} {told(first, bad)}: set {name} there to see that part"
    return kept, (said,)
