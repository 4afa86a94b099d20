"""What a lower risk costs: information loss of generalised variants of a table, side by side.

- discernibility: sum over patients of the size of their class, and D for each one left out
  [BayardoAgrawal05];
- average class size: patients per class, over the k that was asked for if one was [LeFevre06];
- non-uniform entropy: sum over cells of -log2 P(value | generalised value), read off the table,
  as a share of what leaving out every column would cost [GionisTassa09].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reidbn.attacks.leak_classes import ClassesLike, classes_of
from reidbn.attacks.leak_single import risk
from reidbn.attacks.leak_targets import joint_risk, number_identified
from reidbn.errors import DataError, UsageError
from reidbn.microdata.classes import class_sizes
from reidbn.microdata.table import People
from reidbn.theory.circle import Classes
from reidbn.theory.hypergeometric import identified

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Loss:
    """Measures of information loss; lower keeps more."""

    discernibility: float
    average_class_size: float
    non_uniform_entropy: float | None
    """Share of all bits of the quasi-identifiers lost; None without the table before."""


def information_loss(
    classes: ClassesLike, *, before: People | None = None, k: int = 1, left_out: int = 0
) -> Loss:
    """The loss of a table with these classes; `left_out` patients were suppressed.

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


def non_uniform_entropy(before: People, after: People) -> float:
    """Share of the quasi-identifiers' bits that a generalised table has lost.

    The same people in the same order.  Per cell -log2 of the share that the value has among the
    cells with the same generalised value: 0 when nothing changed, 1 when nothing is left.
    """
    lost, whole = bits_lost(before, after)
    return float(lost / whole) + 0.0 if whole > 0 else 0.0


def bits_lost(before: People, after: People) -> tuple[float, float]:
    """The bits that a generalised table has lost, and all that there were."""
    names = before.names(None)
    if len(before) != len(after) or names != after.names(None):
        raise DataError(
            f"{len(before)} people before and {len(after)} after: non-uniform entropy compares "
            "the same people with the same columns, in the same order"
        )
    if not after.has_the_people_of(before):
        raise DataError(
            "the two tables hold other people, or the same ones in another order: non-uniform "
            "entropy compares the same people person by person"
        )
    lost = whole = 0.0
    for name in names:
        own, coarse = before.codes([name]), after.codes([name])
        sizes = (*before.cardinalities([name]), *after.cardinalities([name]))
        together = class_sizes(np.asfortranarray(np.column_stack([own, coarse])), sizes)
        lost -= np.log2(together / class_sizes(coarse, sizes[1:])).sum()
        whole -= np.log2(class_sizes(own, sizes[:1]) / len(before)).sum()
    return float(lost), float(whole)


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
