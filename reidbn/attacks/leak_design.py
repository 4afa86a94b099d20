"""Design backwards: class sizes and leaks that keep the risk low."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from reidbn.attacks.leak_classes import ClassesLike, classes_of, equal_classes
from reidbn.attacks.leak_single import LeakSize, risk
from reidbn.attacks.leak_targets import joint_risk, number_identified
from reidbn.errors import UsageError, did_you_mean
from reidbn.theory.circle import Classes
from reidbn.theory.hypergeometric import identified

if TYPE_CHECKING:
    import pandas as pd

Question = Literal["all", "any", "share"]
QUESTIONS: tuple[Question, ...] = ("all", "any", "share")


def smallest_k(
    *,
    records: int,
    leaked: LeakSize,
    target: float,
    targets: int = 1,
    question: Question = "all",
) -> int:
    """The smallest class size that keeps the risk at or under `target`, all classes alike.

    One target: its risk.  Several: the probability that "all" or "any" of them are identified,
    or the expected "share" of them, with classes of at least this size, as equal as can be.

    >>> smallest_k(records=10_000, leaked=4_000, target=0.09)
    12
    >>> smallest_k(records=10_000, leaked=4_000, target=0.33, targets=5, question="any")
    13
    """
    value = _question(targets, question)

    def too_high(k: int) -> bool:
        return _risk_of_k(records, leaked, k, targets, value) > target

    _check_target(target)
    if too_high(records):
        best = _risk_of_k(records, leaked, records, targets, value)
        raise UsageError(
            f"even one class of all {records} records has risk {best:.4g}, above {target:g}"
        )
    low, high = 0, 1
    while high < records and too_high(high):
        low, high = high, min(2 * high, records)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if too_high(middle) else (low, middle)
    # With several targets classes that do not divide the table can ripple: look just below.
    while targets > 1 and high > 1 and not too_high(high - 1):
        high -= 1
    return high


def largest_leak(
    classes: ClassesLike | None = None,
    *,
    target: float,
    records: int | None = None,
    class_size: int | None = None,
    targets: int = 1,
    question: Question = "all",
) -> int:
    """The largest leak that keeps the risk at or under `target`, for given classes.

    >>> largest_leak(records=10_000, class_size=5, target=0.09)
    1126
    >>> largest_leak({5: 2000}, target=0.09, targets=15, question="any")
    63
    """
    _check_target(target)
    value = _question(targets, question)
    if classes is not None:
        what = classes_of(classes)
    elif records is not None and class_size is not None:
        what = equal_classes(records, class_size)
        if targets == 1:
            return _last(lambda L: identified(records, L, class_size) <= target, records)
    else:
        raise UsageError("give classes, or records and class_size")
    return _last(lambda L: value(what, L) <= target, what.records)


def _last(fits: Callable[[int], bool], highest: int) -> int:
    """The last number that fits, where everything up to it does; 0 always fits."""
    low, high = 0, highest + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def k_curve(
    *,
    records: int,
    leaked: LeakSize,
    class_sizes: Sequence[int] = range(1, 21),
    targets: int = 1,
    question: Question = "all",
) -> pd.DataFrame:
    """The curve of diminishing returns: what each further member of a class takes off the risk.

    `drop` is the fall from the class size before; `left` the risk relative to the first.

    >>> k_curve(records=10_000, leaked=4_000, class_sizes=[1, 2, 5]).round(4).to_dict("list")
    {'class_size': [1, 2, 5], 'risk': [0.4, 0.32, 0.1845], 'drop': [0.0, 0.08, 0.1356], \
'left': [1.0, 0.8, 0.4611]}
    """
    import pandas as pd

    value = _question(targets, question)
    sizes = [int(k) for k in class_sizes]
    found = np.array([_risk_of_k(records, leaked, k, targets, value) for k in sizes])
    drop = np.append(0.0, -np.diff(found))
    left = found / found[0] if found[0] > 0 else np.ones_like(found)
    return pd.DataFrame({"class_size": sizes, "risk": found, "drop": drop, "left": left})


def _risk_of_k(
    records: int,
    leaked: LeakSize,
    k: int,
    targets: int,
    value: Callable[[Classes, LeakSize], float],
) -> float:
    if targets == 1:
        return float(risk(records=records, leaked=leaked, class_size=k))
    return value(equal_classes(records, k), leaked)


def _question(targets: int, question: Question) -> Callable[[Classes, LeakSize], float]:
    """The risk that is asked for, as a function of the classes and the leak."""
    if question not in QUESTIONS:
        raise UsageError(f'no question "{question}"; {did_you_mean(question, QUESTIONS)}')

    def all_(classes: Classes, leaked: LeakSize) -> float:
        return float(joint_risk(classes, leaked=leaked, targets=targets))

    def any_(classes: Classes, leaked: LeakSize) -> float:
        return number_identified(classes, leaked=leaked, targets=targets).at_least(1)

    def share(classes: Classes, leaked: LeakSize) -> float:
        return number_identified(classes, leaked=leaked, targets=targets).mean / targets

    if targets == 1:
        return lambda classes, leaked: float(risk(classes, leaked=leaked))
    return {"all": all_, "any": any_, "share": share}[question]


def _check_target(target: float) -> None:
    if not 0 < target <= 1:
        raise UsageError(f"target is {target:g}; it must be a probability above 0")
