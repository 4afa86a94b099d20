"""When to claim: rules of an attacker who sees h candidates, and how often each claim is right.

The attacker sees h leaked records that look like the target and claims one of them, or none:

- guess: claim whenever h >= 1;
- only one: claim only when h = 1;
- a threshold t: claim when 1/h >= t.

A target in D is in the leak with probability h/k given h, and then picked with 1/h: whatever h
is, a claim on a target of a class of k is right with probability 1/k.  A rule on h therefore helps
an attacker only who knows that the target is in the leak, or who meets classes of several sizes.

Partial histories: a leaked patient whose records come out only in part.

A patient of the leak has v records, and each is among the leaked ones with probability q on its
own (the further work of [Antoniou22]).  A patient is seen when at least one is, with probability
w = 1 - (1 - q)^v, and only those who are seen are candidates.  With L = D the leak is a loss of
single records.

A leak of a real table: what it tells about secrets, and what parts of histories do.

The homogeneity attack and partial histories of [Antoniou22], for every person of a table at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attacks.leak.ask import (
    SEVERAL,
    ClassesLike,
    Homogeneity,
    LeakSize,
    checked_leak,
    checked_prior,
    classes_of,
    homogeneity,
)
from reidbn.attacks.secrets.asked import has_secret
from reidbn.calls import together, typed
from reidbn.errors import DataError, TooLarge, UsageError, did_you_mean
from reidbn.microdata.knowledge import Knowledge, Known, knowledge
from reidbn.microdata.table import People
from reidbn.progress import progress
from reidbn.theory.gamma import like
from reidbn.theory.hypergeometric import leaked_pmf, none_leaked

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]
MOST_GROUPS = 12
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
        return _share(self.true_positive, self.claimed)

    @property
    def recall(self) -> Any:
        """Share of the targets in the leak that are claimed rightly; 0 if none can be."""
        return _share(self.true_positive, self.in_leak)

    def table(self) -> pd.DataFrame:
        """A column for each way a claim may go; of several asked at once a row each."""
        import pandas as pd

        names = ("true_positive", "wrong_member", "not_in_leak", "not_in_table",
                 "false_positive", "claimed", "precision", "recall")  # fmt: skip
        return pd.DataFrame({name: np.ravel(getattr(self, name)) for name in names})


@typed
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

    `leaked` is how many of the records leak; with `known_in_leak` the target
    is one of them.

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
        D, L, k = together("claims", records=records, leaked=leaked, class_size=class_size)
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
    if not np.size(k) or np.min(k) < 1:
        raise UsageError("class_size is 1 or more: the target is one of the class")
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


# -- partial histories -----------------------------------------------------------------------------


_LARGEST = 400


@typed
def partial_histories(
    *, records: int, leaked: LeakSize, histories: ArrayLike, seen: float
) -> Floats:
    """Each class member's risk; `histories` holds how many records each member has.

    `leaked` is how many people leak; a record of theirs came out with chance `seen`.

    >>> partial_histories(records=10, leaked=3, histories=[2, 2, 3], seen=0.5).round(6).tolist()
    [0.185742, 0.185742, 0.220117]
    """
    counts = np.asarray(histories, dtype=np.float64)
    _check(counts, seen, records)
    shown = -np.expm1(counts * np.log1p(-seen)) if seen < 1 else np.where(counts > 0, 1.0, 0.0)
    if isinstance(leaked, dict) or hasattr(leaked, "items"):
        prior: Any = leaked
        parts = [p * _risks(records, L, shown) for L, p in checked_prior(prior).items()]
        return np.asarray(np.sum(parts, axis=0))
    return _risks(records, checked_leak(leaked, records), shown)


def _risks(records: int, leaked: int, shown: Floats) -> Floats:
    k = shown.size
    if leaked == 0:
        return np.zeros(k)
    distinct, place = np.unique(shown, return_inverse=True)
    if len(distinct) == 1:
        return np.full(k, _alike(records, leaked, k, float(distinct[0])))
    # The others of the class that leak, given that the target does.
    others = leaked_pmf(max(records - 1, 1), leaked - 1, k - 1, longest=k - 1)
    found = np.empty(distinct.size)
    for i, w in enumerate(distinct):
        first = int(np.argmax(shown == w))
        rivals = _seen_given_leaked(np.delete(shown, first)) @ (1 / np.arange(1, k + 1))
        found[i] = leaked / records * w * (others @ rivals)
    return np.asarray(found[place])


def _alike(records: int, leaked: int, k: int, w: float) -> float:
    """The risk of members who are all seen with the same chance.

    Of j others that leaked Binomial(j, w) are seen, and one of all who are is picked:

        E 1 / (1 + Binomial(j, w)) = (1 - (1 - w)^(j + 1)) / (j + 1) w
    """
    if w == 0:
        return 0.0
    others = leaked_pmf(max(records - 1, 1), leaked - 1, k - 1, longest=k - 1)
    j = np.arange(k) + 1.0
    some = -np.expm1(j * np.log1p(-w)) if w < 1 else np.ones(k)
    return float(leaked / records * (others @ (some / j)))


def _seen_given_leaked(shown: Floats) -> Floats:
    """P(v seen | h leaked) for members with these chances of being seen; h x v.

    Built up member by member: which h of the first j leak is uniform, so the j-th is among them
    with probability h / j.
    """
    k = shown.size
    table = np.zeros((k + 1, k + 1))
    table[0, 0] = 1.0
    for j, w in enumerate(shown, start=1):
        share = np.arange(j + 1)[:, None] / j
        with_it = np.zeros((j + 1, k + 1))
        with_it[1:] = table[:j] * (1 - w)
        with_it[1:, 1:] += table[:j, :-1] * w
        table[: j + 1] = share * with_it + (1 - share) * table[: j + 1]
    return table


def _check(counts: Floats, seen: float, records: int) -> None:
    if counts.ndim != 1 or counts.size == 0 or np.any((counts < 0) | (counts % 1 != 0)):
        raise UsageError("histories must be one whole number of records per member of the class")
    if counts.size > records:
        raise UsageError(f"histories name {counts.size} members of a table of {records} patients")
    if counts.size > _LARGEST and np.any(counts != counts[0]):
        raise TooLarge(
            f"a class of {counts.size} with histories of several lengths is too large to follow; "
            f"at most {_LARGEST}: give all members the same length, or ask about a smaller class"
        )
    if not 0 <= seen <= 1:
        raise UsageError(f"seen is {seen:g}; it must be a probability")


# -- a leak of a real table ------------------------------------------------------------------------


@typed
def homogeneity_risks(
    people: People, *, leaked: LeakSize, sensitive: str, known: Known | None = None
) -> Homogeneity:
    """What a leak tells about each person's secret: `homogeneity`, as arrays in record order.

    Somebody whose secret is missing, or suppressed as "*", has none to lose: nothing is disclosed
    or believed of them.
    And they protect nobody: they are counted as if they shared the target's secret, whatever that
    is, so with missing secrets `disclosed` and `either` are upper bounds.  A leak in which nobody
    of the class shows a secret is not believed to tell one.

    `people` is the table, `leaked` how many of it leak, `sensitive` the column with the secret.
    By default the attacker knows all quasi-identifiers; `known` makes that the mean over what is
    known, as in rb.leak.risks.  Who knows less may believe more: a larger class leaks more surely.

    >>> people = People.from_codes([[0, 0], [0, 0], [0, 1], [1, 0]], ["age", "flu"],
    ...                            sensitive=["flu"])
    >>> homogeneity_risks(people, leaked=2, sensitive="flu").disclosed.round(4).tolist()
    [0.3333, 0.3333, 0.1667, 0.5]
    """
    people, what = _asked_of_secret(people, sensitive, known)
    if what.is_sure:
        return _homogeneity_of(people, what.used, leaked, sensitive)
    found = _by_subset(people, what, leaked, sensitive)
    each = (np.stack([getattr(one, f.name) for one in found], axis=1) for f in fields(Homogeneity))
    return Homogeneity(*(what.expected(values) for values in each))


def most_found_out(
    people: People, *, leaked: LeakSize, sensitive: str, known: Known | None = None
) -> Floats:
    """Each person's chance to be identified or to have their secret believed.

    Of the attacker to whom the leak tells most: who knows all quasi-identifiers, or any of them.
    Nobody who knows nothing has a class in mind.  With `known` the mean over what is known.
    """
    if known is not None:
        return found_out(homogeneity_risks(people, leaked=leaked, sensitive=sensitive, known=known))
    people, what = _asked_of_secret(people, sensitive, None)
    each = _by_subset(people, what, leaked, sensitive)
    return np.asarray(np.max([found_out(one) for one in each[1:]], axis=0))


def found_out(found: Homogeneity) -> Floats:
    """The chance to be identified or to have one's secret believed.

    Disclosed is a part of believed, and picked among those who all share the secret of both.
    """
    return np.asarray(found.either - found.disclosed + found.believed, dtype=float)


def _asked_of_secret(
    people: People, sensitive: str, known: Known | None
) -> tuple[People, Knowledge]:
    """The people as they are seen and what is known of them, not the secret itself."""
    named = people.quasi_identifiers
    if sensitive not in people.columns or sensitive in named:
        hint = did_you_mean(sensitive, [c for c in people.columns if c not in named])
        raise UsageError(f'no sensitive column "{sensitive}"; {hint}')
    what = knowledge(people, known, sensitive=sensitive)
    people, what = what.seen(people), what if what.stated else what.sure()
    if sensitive in what.used:
        raise UsageError(f'"{sensitive}" is the secret that is asked about, and known= knows it')
    if not people.is_partition:
        raise UsageError(
            "values of this table match others, so its people do not fall into classes; drop or "
            "generalise the people whose values match others"
        )
    if people.history is not None and people.history.varies(sensitive):
        raise DataError(
            f'column "{sensitive}" changes within a person, and each of several values is a secret '
            "of its own: give a table with one row per person for this question"
        )
    return people, what


def _by_subset(
    people: People, what: Knowledge, leaked: LeakSize, sensitive: str
) -> list[Homogeneity]:
    """The same for whoever knows each subset of the groups, nothing first."""
    if what.groups > MOST_GROUPS:
        raise TooLarge(
            f"{what.groups} columns may be known or not, in 2^{what.groups} ways; up to "
            f"{MOST_GROUPS} are tried: leave some out, or learn some together"
        )
    masks = progress(range(1 << what.groups), "what may be known")
    return [_homogeneity_of(people, what.known_columns(m), leaked, sensitive) for m in masks]


def _homogeneity_of(
    people: People, columns: Sequence[str], leaked: LeakSize, sensitive: str
) -> Homogeneity:
    """Of an attacker who knows exactly these columns."""
    ids, count = people.class_ids(list(columns))
    lacks = ~has_secret(people, sensitive)
    unknown = np.bincount(ids, weights=lacks, minlength=count)[ids]
    shares = people.class_sizes([*columns, sensitive])
    cases = np.column_stack([np.bincount(ids, minlength=count)[ids], shares, unknown, lacks])
    (size, shares, unknown, lacks), whose = _once(cases.astype(np.int64))
    alike = np.where(lacks, 1, shares + unknown)
    parts = leaked if isinstance(leaked, Mapping) else {_one(leaked): 1.0}
    sums = [np.zeros(size.size) for _ in range(4)]
    for L, p in checked_prior(parts).items():
        found = homogeneity(records=len(people), leaked=L, class_size=size, alike=alike)
        shown = none_leaked(len(people), L, size - alike) - none_leaked(
            len(people), L, size - np.where(lacks, 0, unknown)
        )
        told = (found.disclosed, shown, found.identified, found.either)
        for total, value in zip(sums, told, strict=True):
            total += p * value
    disclosed, believed, identified, either = sums
    told = (
        np.where(lacks, 0.0, disclosed), np.where(lacks, 0.0, believed), identified,
        np.where(lacks, identified, either),
    )  # fmt: skip
    return Homogeneity(*(values[whose] for values in told))


def _once(cases: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The distinct rows, as columns, and which of them each row is."""
    rows, whose = np.unique(cases, axis=0, return_inverse=True)
    return rows.T, whose.ravel()


@typed
def history_risks(people: People, *, leaked: LeakSize, seen: float) -> Floats:
    """Each person's risk where a leaked person's records come out only in part, in record order.

    Each record of a leaked person is among those that came out with probability `seen`; a person
    of whom none did is no candidate.  Without several records per person, each has one.

    `people` is the table.

    >>> people = People.from_codes([[0], [0], [1], [1]], ["age"])
    >>> history_risks(people, leaked=2, seen=0.5).round(4).tolist()
    [0.2292, 0.2292, 0.2292, 0.2292]
    """
    if not people.is_partition:
        raise UsageError(
            "values of this table match others, so its people do not fall into classes; drop or "
            "generalise the people whose values match others"
        )
    lengths = np.ones(len(people)) if people.history is None else people.history.lengths
    ids, _ = people.class_ids()
    order = np.lexsort((lengths, ids))
    cuts = np.flatnonzero(np.diff(ids[order])) + 1
    known: dict[tuple[float, ...], Floats] = {}
    out = np.empty(len(people))
    for members in np.split(order, cuts):
        histories = tuple(float(v) for v in lengths[members])  # in order, so alike classes agree
        if histories not in known:
            known[histories] = partial_histories(
                records=len(people), leaked=leaked, histories=histories, seen=seen
            )
        out[members] = known[histories]
    return out


def _one(leaked: Any) -> int:
    if np.ndim(leaked):
        raise UsageError(SEVERAL)
    return int(leaked)


def _share(part: Any, whole: Any) -> Any:
    """The part of the whole; 0 of nothing."""
    whole = np.asarray(whole)
    return like(np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0))
