"""Design backwards: class sizes and leaks that keep the risk low.

What a lower risk costs: information loss of generalised variants of a table, side by side.

- discernibility: sum over patients of the size of their class, and D for each one left out
  [BayardoAgrawal05];
- average class size: patients per class, over the k that was asked for if one was [LeFevre06];
- non-uniform entropy: sum over cells of -log2 P(value | generalised value), read off the table,
  as a share of what leaving out every column would cost [GionisTassa09].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reidbn.attacks.leak.ask import (
    ClassesLike,
    LeakSize,
    checked_prior,
    classes_of,
    equal_classes,
    risk,
)
from reidbn.attacks.leak.targets import (
    any_identified,
    expected_identified,
    joint_risk,
    number_identified,
)
from reidbn.calls import refuse_misfit, renamed, typed
from reidbn.errors import DataError, TooLarge, UsageError, did_you_mean
from reidbn.microdata.classes import class_sizes
from reidbn.microdata.generalise import bits_hidden
from reidbn.microdata.table import People
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


@renamed(target="threshold")
@typed
def smallest_k(
    *,
    records: int,
    leaked: LeakSize,
    threshold: float,
    targets: int = 1,
    question: Question = "any",
) -> int:
    """The smallest size of classes, all alike, from which on the risk is at or under `threshold`.

    One target: its risk.  Several: the probability that "any" or "all" of them are identified,
    or the expected "share" of them, with classes of at least this size, as equal as can be.

    `records` is the size of the table, `leaked` how many of it leak. `targets` is the number of
    people looked for and `question` what is asked of several: "any", "all" or "share".

    >>> smallest_k(records=10_000, leaked=4_000, threshold=0.09)
    12
    >>> smallest_k(records=10_000, leaked=4_000, threshold=0.33, targets=5)
    13
    """
    value = _question(targets, question)
    _check_threshold(threshold)
    best = _risk_of_k(records, leaked, records, targets, value)
    threshold += ROUNDING if targets > 1 else DIGITS * threshold
    if best > threshold:
        raise UsageError(
            f"even one class of all {records} records has risk {best:.4g}, above {threshold:.6g}"
        )
    if targets > 1 and question != "all":
        return _smallest_of_many(records, leaked, threshold, targets, question)

    def too_high(k: int) -> bool:
        return _risk_of_k(records, leaked, k, targets, value) > threshold

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
    records: int, leaked: LeakSize, threshold: float, targets: int, question: Question
) -> int:
    """Down from where the ceiling alone is low enough, to the first that fails.

    The risk is no monotone function of k, but its ceiling is; k counts only through the number of
    classes that it makes.
    """
    value = _question(targets, question)

    def is_certain(classes: int) -> bool:
        made = equal_classes(records, records // classes)
        return ceiling_of(made, leaked, targets, question) <= threshold

    safe = _last(lambda m: m < 1 or is_certain(m), records)  # so many classes are surely few enough
    for classes in progress(range(max(safe, 1), records), "class sizes"):
        smaller = records // (classes + 1)
        is_made = records // smaller == classes + 1  # there is a k that makes so many
        if is_made and value(equal_classes(records, smaller), leaked) > threshold:
            return smaller + 1
    return 1


@renamed(target="threshold")
@typed
def largest_leak(
    classes: ClassesLike | None = None,
    *,
    threshold: float,
    records: int | None = None,
    class_size: int | None = None,
    targets: int = 1,
    question: Question | Literal["each"] = "any",
) -> int:
    """The largest leak up to which the risk is at or under `threshold`, for given classes.

    The classes may also be said as `records` alike in groups of `class_size`. `targets` is the
    number of people drawn from the table who are looked for, and `question` what is asked of
    several: "any", "all" or "share". With "each" everybody's own risk is kept, when looked for
    alone: that of the smallest class, and not the mean.

    >>> largest_leak(records=10_000, class_size=5, threshold=0.09)
    1126
    >>> largest_leak({5: 2000}, threshold=0.09, targets=15)
    63
    >>> largest_leak({1: 1, 10: 100}, threshold=0.09, question="each")
    90
    """
    _check_threshold(threshold)
    if question == "each":
        if targets != 1:
            raise UsageError('question="each" is about one target; of several ask "any"')
        if classes is not None:
            of = classes_of(classes)
            classes, records, class_size = None, of.records, int(of.sizes.min())
        question = "any"
    value = _question(targets, question)
    if classes is not None:
        what = classes_of(classes)
    elif records is not None and class_size is not None:
        what = equal_classes(records, class_size)
        if targets == 1:
            return _last(
                lambda L: identified(records, L, class_size) <= threshold * (1 + DIGITS), records
            )
    else:
        raise UsageError("give classes, or records and class_size")
    if targets > 1 and question != "all":
        return _march(what, targets, threshold, question)
    threshold += ROUNDING if targets > 1 else DIGITS * threshold
    return _last(lambda L: value(what, L) <= threshold, what.records)  # these two only rise


def _march(classes: Classes, targets: int, threshold: float, question: Question) -> int:
    """The last leak before the first that is too large, with none left out.

    P(any) and the expected share may fall where a leak grows, but they rise by no more than their
    ceiling does: from a leak at which the risk is known, as many records further are safe as the
    ceiling needs to rise by what is left to the threshold.
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
        most = ceiling(safe) + threshold - now - ROUNDING
        reach = max(safe, _last(partial(is_under, most), D))
        if reach == safe:
            if value(classes, safe + 1) > threshold + ROUNDING:
                return safe
            reach = safe + 1
        safe = reach
    raise TooLarge(
        f"the risk stays too close to {threshold:g} to find the last leak in {MOST_LOOKS:,} looks; "
        f"every leak of up to {safe:,} keeps it. Give a threshold that is not so close"
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


@typed
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

    `records` is the size of the table, `leaked` how many of it leak, `class_sizes` where the curve
    is read. `targets` is the number of people looked for and `question` what is asked of several:
    "any", "all" or "share".

    >>> k_curve(records=10_000, leaked=4_000, class_sizes=[1, 2, 5]).round(4).to_dict("list")
    {'class_size': [1, 2, 5], 'risk': [0.4, 0.32, 0.1845], 'drop': [0.0, 0.08, 0.1356], \
'left': [1.0, 0.8, 0.4611]}
    """
    import pandas as pd

    value = _question(targets, question)
    refuse_misfit("k_curve", "class_sizes", class_sizes, Sequence[int])
    sizes = [int(k) for k in class_sizes]
    if not sizes:
        raise UsageError("class_sizes names no class size; give one or more")
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


def _check_threshold(threshold: float) -> None:
    if not isinstance(threshold, int | float | np.number) or not 0 < threshold <= 1:
        raise UsageError(f"threshold is {threshold}; it must be above 0 and at most 1")


# -- what a lower risk costs -----------------------------------------------------------------------


@dataclass(frozen=True)
class Loss:
    """Measures of information loss; lower keeps more."""

    discernibility: float
    average_class_size: float
    non_uniform_entropy: float | None
    """Share of all bits of the quasi-identifiers lost; None without the table before."""


@typed
def information_loss(
    classes: ClassesLike, *, before: People | None = None, k: int = 1, left_out: int = 0
) -> Loss:
    """The loss of a table with these classes; `left_out` patients were suppressed.

    `before` is the table as it was, `k` the class size that was asked for.

    >>> information_loss({3: 2, 4: 1}, k=3)
    Loss(discernibility=34.0, average_class_size=1.1111111111111112, non_uniform_entropy=None)
    """
    what = classes_of(classes)
    if before is not None:
        left_out = len(before) - what.records
    if k < 1 or left_out < 0:
        raise UsageError(f"k is {k} and left_out is {left_out}; need k >= 1 and left_out >= 0")
    total = what.records + left_out
    discernibility = float((what.sizes**2 * what.counts).sum() + left_out * total)
    average = what.records / float(what.counts.sum()) / k
    entropy = None
    if before is not None and isinstance(classes, People) and left_out == 0:
        entropy = non_uniform_entropy(before, classes)
    return Loss(discernibility, average, entropy)


@typed
def non_uniform_entropy(before: People, after: People) -> float:
    """Share of the quasi-identifiers' bits that a generalised table has lost.

    The same people in the same order.  Per cell -log2 of the share that the value has among the
    cells with the same generalised value: 0 when nothing changed, 1 when nothing is left.  Who was
    left out since (`suppress`), and cells that were emptied, lost all their bits.

    `before` and `after` are the two tables.
    """
    lost, whole = bits_lost(before, after)
    return float(lost / whole) + 0.0 if whole > 0 else 0.0


def bits_lost(before: People, after: People) -> tuple[float, float]:
    """The bits that a generalised table has lost, and all that there were.

    Who was left out of it since lost all bits, and so did cells that were emptied.
    """
    names, whole = before.names(None), after.whole
    if len(before) != len(whole) or names != after.names(None):
        raise DataError(
            f"{len(before)} people before and {len(whole)} after: non-uniform entropy compares "
            "the same people with the same columns, in the same order"
        )
    if not whole.has_the_people_of(before):
        raise DataError(
            "the two tables hold other people, or the same ones in another order: non-uniform "
            "entropy compares the same people person by person"
        )
    coarse, gone = whole.before_emptying, whole.emptied
    out = ~np.isin(whole.rows_read, after.rows_read)
    lost = bits = 0.0
    for name in names:
        own, now = before.codes([name]), coarse.codes([name])
        sizes = (*before.cardinalities([name]), *coarse.cardinalities([name]))
        both = class_sizes(np.asfortranarray(np.column_stack([own, now])), sizes)
        all_of_it = bits_hidden(class_sizes(own, sizes[:1]), len(before))
        hidden = bits_hidden(both, class_sizes(now, sizes[1:]))
        lost += np.where(out | gone.get(name, False), all_of_it, hidden).sum()
        bits += all_of_it.sum()
    return float(lost), float(bits)


@typed
def trade_off(
    variants: Mapping[str, ClassesLike],
    *,
    leaked: int,
    targets: int = 1,
    before: People | None = None,
) -> pd.DataFrame:
    """Risk in a leak against information loss, one row per variant of a table.

    `worst` is the risk of a patient in the smallest class, `risk` that of a patient drawn at
    random; with several targets also the chance that all, or any, of them are identified.

    `variants` are named tables or classes, `leaked` is how many records leak, `before` the table as
    it was.

    >>> found = trade_off({"fine": {1: 4, 3: 2}, "coarse": {5: 2}}, leaked=4)
    >>> found[["k", "risk", "worst", "discernibility"]].round(4).to_dict("list")
    {'k': [1, 5], 'risk': [0.3267, 0.1952], 'worst': [0.4, 0.1952], 'discernibility': [22.0, 50.0]}
    """
    import pandas as pd

    if not variants:
        raise UsageError("there are no variants; give {name: table or {size: count}}")
    rows = {name: _row(given, leaked, targets, before) for name, given in variants.items()}
    return pd.DataFrame.from_dict(rows, orient="index")


def _row(
    given: ClassesLike, leaked: int, targets: int, before: People | None
) -> dict[str, float | int | None]:
    what: Classes = classes_of(given)
    smallest = int(what.sizes.min())
    loss = information_loss(given, before=before)
    found: dict[str, float | int | None] = {
        "patients": what.records,
        "classes": int(what.counts.sum()),
        "k": smallest,
        "risk": float(risk(what, leaked=leaked)),
        "worst": float(identified(what.records, leaked, smallest)),
    }
    if targets > 1:
        found["all"] = float(joint_risk(what, leaked=leaked, targets=targets))
        found["any"] = number_identified(what, leaked=leaked, targets=targets).at_least(1)
    found["discernibility"] = loss.discernibility
    found["average_class_size"] = loss.average_class_size
    if before is not None:
        found["non_uniform_entropy"] = loss.non_uniform_entropy
    return found
