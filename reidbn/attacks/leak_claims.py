"""When to claim: rules of an attacker who sees h candidates, and how often each claim is right.

The attacker sees h leaked records that look like the target and claims one of them, or none:

- guess: claim whenever h >= 1;
- only one: claim only when h = 1;
- a threshold t: claim when 1/h >= t.

A target in D is in the leak with probability h/k given h, and then picked with 1/h: whatever h
is, a claim on a target of a class of k is right with probability 1/k.  A rule on h therefore helps
an attacker only who knows that the target is in the leak, or who meets classes of several sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attacks.leak_classes import ClassesLike, classes_of
from reidbn.errors import UsageError
from reidbn.theory.hypergeometric import leaked_pmf

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Rule = Literal["guess", "only one"] | float


@dataclass(frozen=True, eq=False)
class Claims:
    """Probabilities of what a claim turns out to be; arrays when leak or class sizes are several.

    Before the leak is seen; given that the target is in the leak if `known_in_leak`.
    """

    true_positive: Any
    """A claim is made and names the target's record."""
    wrong_member: Any
    """A claim is made; the target is in the leak but another of the class is named."""
    not_in_leak: Any
    """A claim is made; the target is in the table but not in the leak."""
    not_in_table: Any
    """A claim is made; the target is not in the table at all."""
    in_leak: Any
    """The target is in the leak: what could be found."""

    @property
    def false_positive(self) -> Any:
        return self.wrong_member + self.not_in_leak + self.not_in_table

    @property
    def claimed(self) -> Any:
        return self.true_positive + self.false_positive

    @property
    def precision(self) -> Any:
        """Share of claims that are right; 0 where no claim is ever made."""
        claimed = np.asarray(self.claimed)
        right = np.divide(
            self.true_positive, claimed, out=np.zeros_like(claimed), where=claimed > 0
        )
        return float(right) if right.ndim == 0 else right

    @property
    def recall(self) -> Any:
        """Share of the targets in the leak that are claimed rightly; 0 if none can be."""
        inside = np.asarray(self.in_leak)
        found = np.divide(self.true_positive, inside, out=np.zeros_like(inside), where=inside > 0)
        return float(found) if found.ndim == 0 else found

    def table(self) -> pd.DataFrame:
        import pandas as pd

        names = ("true_positive", "wrong_member", "not_in_leak", "not_in_table",
                 "false_positive", "claimed", "precision", "recall")  # fmt: skip
        return pd.DataFrame({name: np.ravel(getattr(self, name)) for name in names})


def claims(
    classes: ClassesLike | None = None,
    *,
    leaked: ArrayLike,
    records: ArrayLike | None = None,
    class_size: ArrayLike | None = None,
    rule: Rule = "guess",
    in_table: float = 1.0,
    known_in_leak: bool = False,
) -> Claims:
    """How often a rule claims, and how often it is right, exactly.

    For a target who looks like `class_size` of `records`, or like a patient drawn from `classes`.
    The target is in the table with probability `in_table`; one who is not looks like k patients
    all the same.

    >>> found = claims(records=10_000, leaked=4_000, class_size=5, rule="only one", in_table=0.8)
    >>> round(found.true_positive, 6), round(found.false_positive, 6), round(found.precision, 6)
    (0.041472, 0.217728, 0.16)
    """
    if not 0 <= in_table <= 1:
        raise UsageError(f"in_table is {in_table:g}; it must be a probability")
    if known_in_leak and in_table < 1:
        raise UsageError("a target known to be in the leak is in the table: leave in_table at 1")
    most = _most_candidates(rule)
    if classes is None:
        if records is None or class_size is None:
            raise UsageError("give records and class_size, or classes such as {5: 2000}")
        D, L, k = np.broadcast_arrays(*(np.asarray(x) for x in (records, leaked, class_size)))
        parts = _parts(D, L, k, most)
    else:
        if records is not None or class_size is not None:
            raise UsageError("give classes, or records and class_size, not both")
        what = classes_of(classes)
        weights = what.sizes * what.counts / what.records
        D, L = np.asarray(what.records), np.asarray(leaked)
        parts = _parts(D, L[..., None], what.sizes, most) @ weights
    right, wrong, absent, any_claim = parts
    inside = np.asarray(L / D * np.ones_like(right))
    if known_in_leak:
        if np.any(inside == 0):
            raise UsageError("leaked is 0: nobody can be known to be in an empty leak")
        found = (right / inside, wrong / inside, 0 * right, 0 * right, np.ones_like(right))
    else:
        others = (1 - in_table) * any_claim
        found = (in_table * right, in_table * wrong, in_table * absent, others, in_table * inside)
    return Claims(*(float(v) if np.ndim(v) == 0 else v for v in found))


def _parts(D: Any, L: Any, k: Any, most: int) -> Floats:
    """P(right), P(wrong member), P(not in the leak), P(any claim) for a target in the table."""
    longest = int(np.max(k))
    pmf = leaked_pmf(D, L, k, longest=longest)
    h = np.arange(longest + 1)
    pmf = np.where((h >= 1) & (h <= most), pmf, 0.0)
    size = np.broadcast_to(k, pmf.shape[:-1])
    claimed = pmf.sum(axis=-1)
    members = (pmf @ h) / size  # sum_h P(h) h / k: a claim, and the target is in the leak
    right = claimed / size
    return np.array([right, members - right, claimed - members, claimed])


def _most_candidates(rule: Rule) -> int:
    """The largest h at which the rule still claims."""
    if rule == "guess":
        return int(np.iinfo(np.int64).max)
    if rule == "only one":
        return 1
    if isinstance(rule, str) or not 0 < rule <= 1:
        raise UsageError(
            f'no rule {rule!r}; "guess", "only one", or a threshold on 1/h above 0, up to 1'
        )
    return int(1 / rule + 1e-9)
