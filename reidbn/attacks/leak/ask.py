"""The classes of a leaked table, however they are given: {size: how many}, people, or counts.

One target in a leak: the risk, its distribution, and what changes it [Antoniou22].

Everything broadcasts over arrays, so that a curve is one call.

Each person's risk in a leak of a table, whatever the attacker knows of that person.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.calls import described, fits, refuse_misfit, refuse_outside, together, typed
from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.limits import MOST_LISTED
from reidbn.microdata.knowledge import Knowledge, Known, knowledge
from reidbn.microdata.masks import class_size_chunks
from reidbn.microdata.subsets import expectations
from reidbn.microdata.table import People
from reidbn.theory.circle import Classes
from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.hypergeometric import identified, leaked_pmf, none_leaked

if TYPE_CHECKING:
    import pandas as pd


ClassesLike = Mapping[int, int] | People | FrequencyTable | Classes
"""{class size: number of classes}, a table of people, or the frequencies of its class sizes."""


@typed
def classes_of(given: ClassesLike) -> Classes:
    """The distinct class sizes and how many classes there are of each.

    `given` is what to read them from.

    >>> classes_of({5: 2000}).records
    10000
    """
    if isinstance(given, Classes):
        return given
    if isinstance(given, People):
        if not given.is_partition:
            raise UsageError(
                "values of this table match others, so its people do not fall into classes; "
                "give {size: count}, or drop or generalise the people whose values match others"
            )
        given = given.classes().frequencies()
    if isinstance(given, FrequencyTable):
        return Classes(given.sizes.astype(np.int64), given.counts.astype(np.int64))
    if not isinstance(given, Mapping):
        raise UsageError(
            f"classes are {type(given).__name__}; give {{class size: number of classes}}, "
            "such as {5: 2000}, or a table read with rb.read_table"
        )
    return _checked(given)


@typed
def equal_classes(records: int, class_size: int) -> Classes:
    """Classes of at least that size that take up all records, as equal as can be.

    `class_size` is the least size.

    >>> equal_classes(11, 3)
    Classes(sizes=array([3, 4]), counts=array([1, 2]))
    """
    if not 1 <= class_size <= records:
        raise UsageError(f"class_size is {class_size}; it must be from 1 to {records} records")
    number = records // class_size
    size, larger = divmod(records, number)
    pairs = [(size, number - larger), (size + 1, larger)]
    sizes, counts = zip(*[pair for pair in pairs if pair[1]], strict=True)
    return Classes(np.array(sizes), np.array(counts))


def _checked(given: Mapping[int, int]) -> Classes:
    pairs = sorted((_whole(k, "a class size"), _whole(a, "a count")) for k, a in given.items())
    wrong = [k for k, _ in pairs if k < 1]
    if wrong:
        raise UsageError(f"a class size is {wrong[0]}; it must be 1 or more")
    kept = [(k, a) for k, a in pairs if a]
    if not kept:
        raise UsageError("there are no classes; give {class size: number of classes}")
    if any(a < 0 for _, a in kept):
        raise UsageError("a number of classes is negative; it must be 0 or more")
    sizes, counts = zip(*kept, strict=True)
    return Classes(np.array(sizes, dtype=np.int64), np.array(counts, dtype=np.int64))


def _whole(value: Any, what: str) -> int:
    if not fits(value, float) or not math.isfinite(value):
        raise UsageError(f"{what} is {described(value)}; it must be a whole number")
    if value != int(value):
        raise UsageError(f"{what} is {value:g}; it must be a whole number")
    return int(value)


def checked_leak(leaked: Any, records: int) -> int:
    """A leak size as a whole number from 0 to the number of records."""
    size = _whole(leaked, "leaked")
    if not 0 <= size <= records:
        raise UsageError(f"leaked is {size}; it must be from 0 to {records} records")
    return size


def checked_targets(targets: Any, records: int) -> int:
    """A number of targets as a whole number from 1 to the number of records."""
    number = _whole(targets, "targets")
    if not 1 <= number <= records:
        raise UsageError(f"targets is {number}; it must be from 1 to {records} records")
    return number


# -- one target in a leak --------------------------------------------------------------------------


Floats = NDArray[np.float64]
LeakSize = ArrayLike | Mapping[int, float]
SEVERAL = "leaked must be one number or one prior here, not several numbers"
"""How many records leaked: a number, several, or a prior {size: probability}."""
Reading = Literal["unconditional", "from the leak"]
READINGS: tuple[Reading, ...] = ("unconditional", "from the leak")


@typed
def risk(
    classes: ClassesLike | None = None,
    *,
    leaked: LeakSize,
    records: ArrayLike | None = None,
    class_size: ArrayLike | None = None,
) -> Any:
    """Probability that a target is in the leak and picked among the leaked of the class.

    For a target in a class of `class_size` of `records`, or for a patient drawn from `classes`
    ({size: count}, or a table of people).  `leaked` may be a prior {size: probability}.

    >>> round(risk(records=10_000, leaked=4_000, class_size=5), 12)
    0.184458368691
    >>> round(risk({5: 1000, 10: 500}, leaked=4_000), 12)
    0.141927759863
    """
    if classes is not None:
        if records is not None or class_size is not None:
            raise UsageError("give classes, or records and class_size, not both")
        what = classes_of(classes)
        weights = what.sizes * what.counts / what.records
        return _over_prior(
            lambda leak: _like(
                identified(what.records, np.asarray(leak)[..., None], what.sizes) @ weights
            ),
            leaked,
        )
    if records is None or class_size is None:
        raise UsageError("give records and class_size, or classes such as {5: 2000}")
    return _over_prior(lambda leak: identified(records, leak, class_size), leaked)


@dataclass(frozen=True, eq=False)
class TargetRisk:
    """A given target's risk before the leak is seen: it takes the value 0 or 1/h.

    >>> given_target(records=10, leaked=3, class_size=3).table().round(4).to_dict("list")
    {'risk': [0.0, 0.3333, 0.5, 1.0], 'probability': [0.7, 0.0083, 0.1167, 0.175]}
    """

    reading: Reading
    risk: Floats
    probability: Floats

    @property
    def mean(self) -> float:
        """The mean risk, (1 - P(H = 0)) / k when the target may be outside the leak."""
        return float(self.risk @ self.probability)

    def at_least(self, threshold: float) -> float:
        """Probability that the risk turns out at or above a threshold."""
        return float(self.probability[self.risk >= threshold - 1e-12].sum())

    def table(self) -> pd.DataFrame:
        """One row per risk, with its probability."""
        import pandas as pd

        return pd.DataFrame({"risk": self.risk, "probability": self.probability})


@typed
def given_target(
    *, records: int, leaked: int, class_size: int, reading: Reading = "unconditional"
) -> TargetRisk:
    """The distribution of one target's risk over all leaks, exactly.

    P(risk = 1/h) = P(H = h) h/k, and P(risk = 0) = 1 - L/D: not in the leak.  Read "from the
    leak" the target is one of the leaked, and the risk is never 0.

    `records` is the size of the table, `class_size` how many of it look like the target; `reading`
    is "unconditional" or "from the leak".
    """
    check_reading(reading)
    size = checked_leak(leaked, records)
    refuse_outside("class_size", class_size, least=1, most=min(records, MOST_LISTED))
    h = np.arange(class_size, 0, -1)
    inside = leaked_pmf(records, size, class_size, longest=class_size)[h] * h / class_size
    if reading == "from the leak":
        if size == 0:
            raise UsageError("leaked is 0: no target can come from an empty leak")
        return TargetRisk(reading, 1 / h, inside / inside.sum())
    outside = [1 - size / records]
    return TargetRisk(reading, np.append(0.0, 1 / h), np.append(outside, inside))


@dataclass(frozen=True, eq=False)
class Homogeneity:
    """What a leak tells about a secret without telling the patient: the homogeneity attack.

    `disclosed`: the target is in the leak and all leaked members of the class share the secret.
    `believed`: the same seen by an attacker who takes the target to be in the leak: some of the
    class leaked and all of them share the target's secret, the target among them or not.
    `identified`: the target is in the leak and picked.  `either`: disclosed or identified.
    """

    disclosed: Any
    believed: Any
    identified: Any
    either: Any


@typed
def homogeneity(
    *, records: ArrayLike, leaked: ArrayLike, class_size: ArrayLike, alike: ArrayLike
) -> Homogeneity:
    """Disclosure through a class in which `alike` of `class_size` share the target's secret.

    With k - s others: disclosed = (L/D) P(none of k - s leaked | target leaked), and
    believed = P(none of k - s leaked) - P(none of k leaked).

    `records` is the size of the table.

    >>> found = homogeneity(records=10, leaked=3, class_size=3, alike=2)
    >>> round(found.disclosed, 6), round(found.believed, 6), round(found.either, 6)
    (0.233333, 0.408333, 0.265278)
    """
    D, L, k, s = (
        np.asarray(x, float)
        for x in together(
            "homogeneity", records=records, leaked=leaked, class_size=class_size, alike=alike
        )
    )
    if np.any((s < 1) | (s > k)):
        raise UsageError("alike must be from 1 (the target) to class_size")
    others = k - s
    none_other, none = none_leaked(D, L, others), none_leaked(D, L, k)
    inside = L / D * none_leaked(np.maximum(D - 1, 1), np.maximum(L - 1, 0), others)
    picked = identified(D, L, k)
    both = (none_other - none) / s
    values = (inside, none_other - none, picked, inside + picked - both)
    return Homogeneity(*(_like(np.asarray(v)) for v in values))


def check_reading(reading: str) -> None:
    if reading not in READINGS:
        raise UsageError(f'no reading "{reading}"; {did_you_mean(reading, READINGS)}')


def _over_prior(of_leak: Any, leaked: LeakSize) -> Any:
    """The value at each leak size, or the mean over a prior of leak sizes."""
    if not isinstance(leaked, Mapping):
        return of_leak(leaked)
    return sum(p * of_leak(size) for size, p in checked_prior(leaked).items())


def checked_prior(prior: Mapping[int, float]) -> dict[int, float]:
    """A prior over leak sizes that sums to 1."""
    refuse_misfit("the prior of the leak size", "chances", [*prior.values()], Sequence[float])
    refuse_misfit("the prior of the leak size", "sizes", [*prior], Sequence[int])
    total = float(sum(prior.values()))
    if not prior or not math.isfinite(total) or abs(total - 1) > 1e-9 or min(prior.values()) < 0:
        raise UsageError(
            f"the prior of the leak size sums to {total:g}; give {{size: probability}} that sums "
            "to 1 with none below 0"
        )
    return {int(size): float(p) / total for size, p in prior.items() if p > 0}


@typed
def between(lowest: int, highest: int, *, step: int = 1) -> dict[int, float]:
    """A prior that makes every leak size from `lowest` to `highest` alike.

    Only every `step`th size counts.

    >>> between(1000, 3000, step=1000)
    {1000: 0.3333333333333333, 2000: 0.3333333333333333, 3000: 0.3333333333333333}
    """
    refuse_outside("step", step, least=1, most=2.0**53)
    sizes = range(lowest, highest + 1, step)
    if len(sizes) > MOST_LISTED:
        raise TooLarge(f"{len(sizes):,} leak sizes; take a larger step=")
    if not sizes:
        raise UsageError(f"no leak size between {lowest} and {highest}; lowest comes first")
    return dict.fromkeys(sizes, 1 / len(sizes))


def _like(values: Any) -> Any:
    return float(values) if np.ndim(values) == 0 else values


# -- each person's risk in a leak of a table, whatever the attacker knows o ------------------------


_SENSITIVE = "(sensitive)"


@typed
def risks(
    people: People,
    *,
    leaked: LeakSize,
    known: Known | None = None,
    sensitive: str | None = None,
    sensitive_known: float = 1.0,
) -> Floats:
    """Each person's risk in a leak of the table, in record order.

    By default the attacker knows all quasi-identifiers.  `known` makes that uncertain and the risk
    the mean over what is known, exactly: whatever rb.knowledge takes, also a scenario with its
    lists and kinds of attackers; where chances are said, a column without one is not known.  The
    value of a `sensitive` column, known with probability `sensitive_known`, filters the leaked
    class members.

    `people` is the table.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1], [1, 1]], ["age", "sex"])
    >>> risks(people, leaked=2).round(4).tolist()
    [0.5, 0.5, 0.4167, 0.4167]
    >>> risks(people, leaked=2, known={"age": ("age", 0.5)}).round(4).tolist()
    [0.3333, 0.3333, 0.3333, 0.3333]
    """
    if not 0 <= sensitive_known <= 1:
        raise UsageError(f"sensitive_known is {sensitive_known:g}; it must be a probability")
    what = knowledge(people, known)
    people, what = what.seen(people), what if what.stated else what.sure()
    without = _risks(people, leaked, what, None)
    if sensitive is None or sensitive_known == 0:
        return without
    filtered = _risks(people, leaked, what, sensitive)
    return np.asarray(sensitive_known * filtered + (1 - sensitive_known) * without)


def _risks(people: People, leaked: LeakSize, what: Knowledge, sensitive: str | None) -> Floats:
    """The mean over what is known; a sensitive value is known beside it, also off a list."""
    also = () if sensitive is None else people.names([sensitive])
    if what.is_sure:
        columns = tuple(dict.fromkeys((*what.used, *also)))
        return _of_sizes(people, leaked, people.class_sizes(columns))
    if not also:
        return _expected(people, leaked, what)
    names, columns_of = (*what.names, _SENSITIVE), (*what.columns, also)
    if what.listed is None:
        sure = np.ones((*what.probabilities.shape[:-1], 1))
        p = np.concatenate((what.probabilities, sure), axis=-1)
        with_it = replace(what, names=names, columns=columns_of, probabilities=p)
        return _expected(people, leaked, with_it)
    with_it = Knowledge(names, columns_of, np.ones(len(names)))
    found = []
    for rows, sizes in class_size_chunks(people, with_it):
        # The last group: with it known, only the upper half of the subsets counts.
        values = _of_sizes(people, leaked, sizes[:, -(1 << what.groups) :])
        found.append(what.expected(values, rows))
    return np.concatenate(found)


def _expected(people: People, leaked: LeakSize, what: Knowledge) -> Floats:
    values = np.full(len(people) + 1, np.nan)

    def of_size(sizes: NDArray[Any], _: NDArray[np.int64]) -> Floats:
        """The risk at each class size, asked once each."""
        new = np.unique(sizes)
        new = new[(new > 0) & np.isnan(values[new])]
        if new.size:
            values[new] = _of_sizes(people, leaked, new)
        return values.take(sizes)

    return expectations(people, [of_size], known=what)[0]


def _of_sizes(people: People, leaked: LeakSize, sizes: NDArray[Any]) -> Floats:
    """The risk for every entry, computed once per distinct class size."""
    distinct, place = np.unique(sizes, return_inverse=True)
    values = np.asarray(risk(records=len(people), leaked=leaked, class_size=distinct))
    if values.shape != distinct.shape:
        raise UsageError(SEVERAL)
    return np.asarray(values[place.reshape(sizes.shape)])
