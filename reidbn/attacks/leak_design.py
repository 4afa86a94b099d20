"""Design backwards: class sizes and leaks that keep the risk low."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reidbn.attacks.leak_classes import ClassesLike, classes_of, equal_classes
from reidbn.attacks.leak_single import LeakSize, checked_prior, risk
from reidbn.attacks.leak_targets import any_identified, expected_identified, joint_risk
from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.progress import progress
from reidbn.theory.circle import Classes
from reidbn.theory.hypergeometric import identified, none_leaked

if TYPE_CHECKING:
    import pandas as pd

Question = Literal["all", "any", "share"]
MOST_LOOKS = 20_000  # leak sizes at which the risk of many targets is asked
ROUNDING = 1e-10  # of a probability of many targets: nearer to the limit is at it
DIGITS = 1e-13  # of the limit: the risk of one target is known to 14 digits
QUESTIONS: tuple[Question, ...] = ("all", "any", "share")


def smallest_k(
    *,
    records: int,
    leaked: LeakSize,
    target: float,
    targets: int = 1,
    question: Question = "any",
) -> int:
    """The smallest class size from which on the risk stays at or under `target`, all classes alike.

    One target: its risk.  Several: the probability that "any" or "all" of them are identified,
    or the expected "share" of them, with classes of at least this size, as equal as can be.

    >>> smallest_k(records=10_000, leaked=4_000, target=0.09)
    12
    >>> smallest_k(records=10_000, leaked=4_000, target=0.33, targets=5)
    13
    """
    value = _question(targets, question)
    _check_target(target)
    best = _risk_of_k(records, leaked, records, targets, value)
    target += ROUNDING if targets > 1 else DIGITS * target
    if best > target:
        raise UsageError(
            f"even one class of all {records} records has risk {best:.4g}, above {target:.6g}"
        )
    if targets > 1 and question != "all":
        return _smallest_of_many(records, leaked, target, targets, question)

    def too_high(k: int) -> bool:
        return _risk_of_k(records, leaked, k, targets, value) > target

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


def _smallest_of_many(
    records: int, leaked: LeakSize, target: float, targets: int, question: Question
) -> int:
    """Down from where the ceiling alone keeps the risk under the target, to the first that fails.

    The risk is no monotone function of k, but its ceiling is; k counts only through the number of
    classes that it makes.
    """
    value = _question(targets, question)

    def is_certain(classes: int) -> bool:
        made = equal_classes(records, records // classes)
        return ceiling_of(made, leaked, targets, question) <= target

    safe = _last(lambda m: m < 1 or is_certain(m), records)  # so many classes are surely few enough
    for classes in progress(range(max(safe, 1), records), "class sizes"):
        smaller = records // (classes + 1)
        is_made = records // smaller == classes + 1  # there is a k that makes so many
        if is_made and value(equal_classes(records, smaller), leaked) > target:
            return smaller + 1
    return 1


def largest_leak(
    classes: ClassesLike | None = None,
    *,
    target: float,
    records: int | None = None,
    class_size: int | None = None,
    targets: int = 1,
    question: Question = "any",
) -> int:
    """The largest leak up to which the risk is at or under `target`, for given classes.

    >>> largest_leak(records=10_000, class_size=5, target=0.09)
    1126
    >>> largest_leak({5: 2000}, target=0.09, targets=15)
    63
    """
    _check_target(target)
    value = _question(targets, question)
    if classes is not None:
        what = classes_of(classes)
    elif records is not None and class_size is not None:
        what = equal_classes(records, class_size)
        if targets == 1:
            return _last(
                lambda L: identified(records, L, class_size) <= target * (1 + DIGITS), records
            )
    else:
        raise UsageError("give classes, or records and class_size")
    if targets > 1 and question != "all":
        return _march(what, targets, target, question)
    target += ROUNDING if targets > 1 else DIGITS * target
    return _last(lambda L: value(what, L) <= target, what.records)  # these two only rise


def _march(classes: Classes, targets: int, target: float, question: Question) -> int:
    """The last leak before the first that is too large, with none left out.

    P(any) and the expected share may fall where a leak grows, but they rise by no more than their
    ceiling does: from a leak at which the risk is known, as many records further are safe as the
    ceiling needs to rise by what is left to the target.
    """
    value = _question(targets, question)

    def ceiling(leaked: int) -> float:
        return ceiling_of(classes, leaked, targets, question)

    def is_under(most: float, leaked: int) -> bool:
        return ceiling(leaked) <= most

    safe, D = 0, classes.records
    for _ in progress(range(MOST_LOOKS), "leak sizes"):
        if safe == D:
            return D
        now = value(classes, safe) if safe else 0.0
        most = ceiling(safe) + target - now - ROUNDING
        reach = max(safe, _last(partial(is_under, most), D))
        if reach == safe:
            if value(classes, safe + 1) > target + ROUNDING:
                return safe
            reach = safe + 1
        safe = reach
    raise TooLarge(
        f"the risk stays too close to {target:g} to find the last leak in {MOST_LOOKS:,} looks; "
        f"every leak of up to {safe:,} keeps it. Ask a target that is not so close"
    )


def ceiling_of(classes: Classes, leaked: LeakSize, targets: int, question: Question) -> float:
    """What the risk of many targets lies under, and may rise by at most: monotone in the leak.

    Of one class of k, of which h leaked and t are targets, somebody is identified with probability
    0 for h = 0, t/k for h = 1, and less for every further member (`missed` says why).  So P(any)
    rises only where a class shows its first member, by t/k at most: over all targets by n times
    the rise of the risk of one.  The expected number is t/k as well for h = 1, more by
    t (t - 1) / 4 k (k - 1) for h = 2, and less for every further member (seen in rationals for
    every class of up to 14; no proof).
    """
    n, D = targets, classes.records
    one = n * float(risk(classes, leaked=leaked))
    if question == "any":
        return one

    def pairs(L: Any) -> Any:
        """The expected number of classes that show two members or more."""
        k = classes.sizes
        single = k * L / D * none_leaked(max(D - 1, 1), max(L - 1, 0), k - 1)
        return float(classes.counts @ np.maximum(1 - none_leaked(D, L, k) - single, 0.0))

    sizes = checked_prior(leaked) if isinstance(leaked, Mapping) else {int(leaked): 1.0}  # type: ignore[arg-type]
    shown = float(sum(p * pairs(L) for L, p in sizes.items()))
    return one / n + float(n - 1) / (4 * D * max(D - 1, 1)) * shown


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
    question: Question = "any",
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
        return any_identified(classes, leaked=leaked, targets=targets)

    def share(classes: Classes, leaked: LeakSize) -> float:
        return expected_identified(classes, leaked=leaked, targets=targets) / targets

    if targets == 1:
        return lambda classes, leaked: float(risk(classes, leaked=leaked))
    return {"all": all_, "any": any_, "share": share}[question]


def _check_target(target: float) -> None:
    if not isinstance(target, int | float | np.number) or not 0 < target <= 1:
        raise UsageError(f"target is {target}; it must be a probability above 0")
