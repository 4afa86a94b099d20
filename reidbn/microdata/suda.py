"""Minimal sample uniques, and the SUDA and DIS-SUDA scores made of them.

A set of columns is a minimal sample unique (MSU) of a person who is alone on it and not alone on
any smaller part of it.  Small ones are the telling ones: of m columns, an MSU of k counts

    elliot   prod_{i=k}^{M} (m - i), M the largest size searched: (m - k)! for all   (1)
    ihsn     (2^(m-k) - 1) k! (m-k)! / m!                                            (2)

(1) is Elliot's [Elliot05], (2) that of the program first made for the International Household
Survey Network and of sdcMicro before version 5.0.2.  A person's score is the sum over the MSUs.

With U uniques, P people in pairs and sampling fraction f, a unique match is right with
probability theta = U f / (U f + P (1 - f)), the DIS of [SkinnerElliot02].  DIS-SUDA spreads it over
people by score s, as sdcMicro does:

    1 / (1 + (U/theta - U) / (s^Q A)),   Q = 1 + (8 - m)/20,   A = sum 1/s^Q          (3)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import refuse_outside, typed
from reidbn.errors import CrosscheckFailed, TooLarge, UsageError, did_you_mean
from reidbn.late import late
from reidbn.limits import MOST_CHECKED
from reidbn.microdata.again import asked_again
from reidbn.microdata.classes import Floats, Ints, some_of
from reidbn.microdata.groups import group_rows, grouped, is_product, mirrored
from reidbn.microdata.knowledge import Knowledge
from reidbn.microdata.lattice import refuse_many
from reidbn.microdata.masks import class_size_chunks
from reidbn.microdata.slab import every_subset
from reidbn.microdata.subset_table import MOST_SUBSETS
from reidbn.microdata.table import People, checked_people
from reidbn.result import Measure, Result, by_person, count_of, given, highest_of, mean_of
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd

Bits = NDArray[np.uint8]
SCORES = ("elliot", "ihsn")


@dataclass(frozen=True)
class MinimalCheck:
    """How many people's minimal uniques were looked at, on how many sets; all were right."""

    individuals: int
    subsets: int

    def __str__(self) -> str:
        return (
            f"{counted(self.individuals, 'person')} on {self.subsets} sets of columns: the minimal "
            "uniques are "
            "those that class sizes say"
        )


@dataclass(frozen=True, eq=False)
class Suda(Result):
    """Minimal sample uniques of every person, and the scores made of them."""

    table: People
    columns: tuple[str, ...]
    score_by: str
    most: int
    """Largest size searched."""
    score: Floats
    dis_score: Floats | None
    """None without a sampling fraction."""
    dis: float | None
    """P(a unique match is right): theta of (3)."""
    counts: Ints
    """MSUs of each person by size: people x (0..most)."""
    contributions: Floats
    """Share of a person's score in MSUs with the column: people x columns."""
    owners: Ints
    masks: Ints
    """One entry per MSU: whose it is (in record order), and the mask of its columns."""
    sampling_fraction: float | None = None

    @property
    def question(self) -> str:
        """Where what is searched for, and how scores are made."""
        return self._asked_on(self.columns)

    @property
    def asked(self) -> str:
        return self._asked_on(sorted(self.columns))

    def _asked_on(self, columns: Sequence[str]) -> str:
        return (
            f"sets of at most {self.most} of {', '.join(columns)} on which somebody is alone, "
            f"and on no part of them; scores by {self.score_by}"
        )

    def _settings(self) -> dict[str, Any]:
        asked = self.sampling_fraction
        return {} if asked is None else {"sampling_fraction": asked}

    @property
    def total(self) -> int:
        """How many minimal sample uniques there are."""
        return int(self.masks.size)

    @typed
    def minimal_uniques(self, person: int) -> list[tuple[str, ...]]:
        """The sets of columns that single a person out, none part of another."""
        if not 0 <= person < self.score.size:
            raise UsageError(f"people are 0 to {self.score.size - 1}; asked for {person}")
        low, high = np.searchsorted(self.owners, [person, person + 1])
        return [self._names(mask) for mask in self.masks[low:high].tolist()]

    def column_contributions(self) -> dict[str, float]:
        """For each column, the share of the total score in MSUs with it."""
        total = float(self.score.sum())
        shares = self.score @ self.contributions / total if total else np.zeros(len(self.columns))
        return dict(zip(self.columns, shares.tolist(), strict=True))

    def to_frame(self) -> pd.DataFrame:
        """One row per person: number of MSUs, size of the smallest, scores."""
        import pandas as pd

        number = self.counts.sum(axis=1)
        smallest = pd.arrays.IntegerArray((self.counts > 0).argmax(axis=1), number == 0)
        table = pd.DataFrame(
            {"minimal_uniques": number, "smallest_size": smallest, "score": self.score}
        )
        if self.dis_score is not None:
            table["dis_score"] = self.dis_score
        return table

    def _people(self) -> pd.DataFrame:
        """Number of minimal uniques, size of the smallest, scores."""
        found = self.to_frame()
        return by_person({name: found[name].array for name in found.columns}, self.table)

    def _measures(self) -> dict[str, Measure]:
        number = self.counts.sum(axis=1)
        found = {
            "columns": given(len(self.columns), "columns searched", unit="columns"),
            "most": given(self.most, "columns in a set, at most", unit="columns"),
            "people": count_of(self.score.size, "people"),
            "people_singled_out": count_of(int((number > 0).sum()), "people with a minimal unique"),
            "total": Measure(self.total, unit="sets", words="minimal uniques of all people"),
            "minimal_uniques": Measure(
                float(number.mean()),
                unit="sets",
                per_person=True,
                words="minimal uniques of a person, mean",
            ),
            "score": Measure(
                float(self.score.mean()), unit="score", per_person=True, words="mean SUDA score"
            ),
        }
        for size in range(1, self.most + 1):  # outside the house the bands of the page tell this
            count = int((self.counts[:, size] > 0).sum())
            words = f"people with a minimal unique of {size} column{'s' if size > 1 else ''}"
            found[f"people_at_{size}"] = Measure(count, unit="people", words=words)
        if self.dis is not None and self.dis_score is not None:
            words = "chance that a match with a unique is right (DIS)"
            found["dis"] = Measure(self.dis, words=words)
            found["dis_score"] = mean_of(self.dis_score, "mean DIS-SUDA score", per_person=True)
            found["highest_dis_score"] = highest_of(self.dis_score, "highest DIS-SUDA score")
            for name in ("dis_score", "highest_dis_score"):  # counts of the page tell of neither
                found[name] = replace(found[name], told="withheld")
        return found

    @typed
    def check(self, *, individuals: int = 20, seed: int = 0) -> MinimalCheck:
        """The minimal uniques of some people against class sizes counted anew, set by set.

        Each is alone on the set and not on the set without any one column; who is alone on a drawn
        set of columns has a minimal unique within it.  Raises CrosscheckFailed.

        So many `individuals` and sets are drawn from `seed`.
        """
        refuse_outside("individuals", individuals, least=1, most=MOST_CHECKED)
        rng = np.random.default_rng(seed)
        n = self.score.size
        chosen = rng.choice(n, min(individuals, n), replace=False)
        own = {int(i): [frozenset(names) for names in self.minimal_uniques(int(i))] for i in chosen}
        drawn = {
            frozenset(rng.choice(self.columns, rng.integers(1, self.most + 1), replace=False))
            for _ in range(individuals)
        }
        minimal = {names for sets in own.values() for names in sets}
        smaller = {names - {name} for names in minimal for name in names}
        alone: dict[frozenset[str], NDArray[np.bool_]] = {}
        for names in {*minimal, *smaller, *drawn}:
            some = [name for name in self.columns if name in names]
            alone[names] = self.table.class_sizes(some) == 1 if some else np.full(n, n == 1)
        for i, sets in own.items():
            right = all(alone[s][i] and not any(alone[s - {name}][i] for name in s) for s in sets)
            if not right or any(alone[d][i] and not any(s <= d for s in sets) for d in drawn):
                raise CrosscheckFailed(
                    f"person {i}: the minimal uniques are not those that class sizes say; this is "
                    "a fault of reidbn, please report it"
                )
        return MinimalCheck(len(own), len(alone))

    _sections = late("reidbn.report.subsets:suda_sections")

    def _names(self, mask: int) -> tuple[str, ...]:
        return tuple(name for j, name in enumerate(self.columns) if mask >> j & 1)

    def __repr__(self) -> str:
        people = int((self.counts.sum(axis=1) > 0).sum())
        found = counted(self.total, "minimal sample unique")
        return f"Suda({found} of {counted(people, 'person')}, {self.score_by})"


@asked_again
@typed
def suda(
    people: People,
    columns: str | Sequence[str] | None = None,
    *,
    score: str = "elliot",
    most: int | None = None,
    sampling_fraction: float | None = None,
    memory_limit: int = 1 << 30,
) -> Suda:
    """Minimal sample uniques of at most `most` columns, and SUDA scores "elliot" or "ihsn".

    With a `sampling_fraction` (people in the table per person in the population) also DIS-SUDA.

    `score` is the formula of the scores; `memory_limit` is the most bytes it may
    take.

    >>> people = People.from_codes([[2, 0, 0], [1, 3, 6], [1, 0, 0]], ["a", "b", "c"])
    >>> suda(people).score
    array([2., 4., 2.])
    """
    names = checked_people(people).names(columns)
    most = _checked(names, score, most, sampling_fraction)
    what = grouped(people, {name: name for name in names})
    found = _people_bits if not is_product(people, what) else _row_bits
    alone, person_of = found(people, what, most, memory_limit)
    owners, masks = _minimal(alone, person_of.size)
    weight = _weights(score, len(names), most)
    size = np.bitwise_count(masks).astype(np.int64)
    whose = person_of[owners]
    n = len(people)
    scores = _sums(whose, weight[size], n)
    counts = np.bincount(whose * (most + 1) + size, minlength=n * (most + 1)).reshape(n, most + 1)
    shares = np.zeros((n, len(names)))
    for j in range(len(names)):
        has = (masks >> j) & 1 == 1
        shares[:, j] = _sums(whose[has], weight[size[has]], n)
    np.divide(shares, scores[:, None], out=shares, where=scores[:, None] > 0)
    order = np.lexsort((-mirrored(masks, len(names)), size, whose))
    dis, dis_scores = _dis(people, names, scores, sampling_fraction)
    return Suda(
        people,
        names,
        score,
        most,
        scores,
        dis_scores,
        dis,
        counts,
        shares,
        whose[order],
        masks[order],
        sampling_fraction,
    )


def _sums(whose: Ints, values: Floats, people: int) -> Floats:
    totals = np.bincount(whose, weights=values, minlength=people)
    return totals.astype(np.float64, copy=False)


def _checked(
    names: Sequence[str], score: str, most: int | None, sampling_fraction: float | None
) -> int:
    if not names:
        raise UsageError("there is no column to search; name at least one")
    if score not in SCORES:
        raise UsageError(f'no score "{score}"; {did_you_mean(score, SCORES)}')
    if most is not None and not 1 <= most <= len(names):
        raise UsageError(f"most = {most}; need 1..{len(names)}, a number of columns")
    if sampling_fraction is not None and not 0 < sampling_fraction <= 1:
        raise UsageError(f"sampling_fraction = {sampling_fraction}; need more than 0, at most 1")
    if most is None or most == len(names):
        refuse_many(len(names), remedy="Search small sets only (most=3)")
        return len(names)
    if (number := sum(comb(len(names), k) for k in range(most + 1))) > MOST_SUBSETS:
        raise TooLarge(f"{number} subsets of at most {most} columns; choose a smaller most=")
    return most


def _weights(score: str, columns: int, most: int) -> Floats:
    """The weight of an MSU by its size, equation (1) or (2)."""
    m = columns
    sizes = range(most + 1)
    if score == "ihsn":
        return np.array([(2.0 ** (m - k) - 1) / comb(m, k) for k in sizes])
    if most == m:
        return np.array([float(factorial(m - k)) for k in sizes])
    return np.array([float(prod(m - i for i in range(k, most + 1))) for k in sizes])


def _row_bits(
    people: People, what: Knowledge, most: int, memory_limit: int
) -> tuple[dict[int, Bits], Ints]:
    """For each subset one bit per person who is alone on all columns: alone on the subset too."""
    rows = group_rows(people, what)
    candidates = np.flatnonzero(rows.people == 1)
    person = some_of(rows.of_record, rows.rows)
    subsets = sum(comb(what.groups, k) for k in range(most + 1))
    _refuse_memory(candidates.size, subsets, memory_limit)
    whole = candidates.size == rows.rows
    alone: dict[int, Bits] = {}
    for subset in every_subset(rows, most=most):
        single = subset.spread(subset.sizes == 1, True)
        alone[subset.mask] = np.packbits(single if whole else single[candidates])
    return alone, person[candidates]


def _people_bits(
    people: People, what: Knowledge, most: int, memory_limit: int
) -> tuple[dict[int, Bits], Ints]:
    """The same through everybody's class sizes on all subsets, for any rule of matching."""
    refuse_many(what.groups)
    _refuse_memory(len(people), 1 << what.groups, memory_limit)
    parts = [sizes.T == 1 for _, sizes in class_size_chunks(people, what)]
    packed = np.packbits(np.concatenate(parts, axis=1), axis=1)
    small = [m for m in range(1 << what.groups) if m.bit_count() <= most]
    return {mask: packed[mask] for mask in small}, np.arange(len(people))


def _refuse_memory(people: int, subsets: int, memory_limit: int) -> None:
    needed = people * subsets / 8
    if needed > memory_limit:
        raise TooLarge(
            f"{people} people x {subsets} subsets need {needed / 1e6:.0f} MB, more than "
            f"memory_limit = {memory_limit / 1e6:.0f} MB; search smaller sets (most=), or raise it"
        )


def _minimal(alone: dict[int, Bits], people: int) -> tuple[Ints, Ints]:
    """Whose and which: alone on the set, and on no set with one column less."""
    owners, masks = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for mask, bits in alone.items():
        less = np.zeros_like(bits)
        for j in range(mask.bit_length()):
            if mask >> j & 1:
                less |= alone[mask ^ (1 << j)]
        mine = bits & ~less
        if mine.any():
            who = np.flatnonzero(np.unpackbits(mine, count=people))
            owners.append(who)
            masks.append(np.full(who.size, mask))
    return np.concatenate(owners), np.concatenate(masks)


def _dis(
    people: People, names: Sequence[str], scores: Floats, fraction: float | None
) -> tuple[float | None, Floats | None]:
    """DIS and the DIS-SUDA scores, equation (3)."""
    if fraction is None:
        return None, None
    sizes = people.class_sizes(names)
    uniques, in_pairs = int((sizes == 1).sum()), int((sizes == 2).sum())
    if uniques == 0:
        return 0.0, np.zeros(len(people))
    theta = uniques * fraction / (uniques * fraction + in_pairs * (1 - fraction))
    some = scores > 0
    power = scores[some] ** (1 + (8 - len(names)) / 20)
    spread = power * (1 / power).sum()
    dis = np.zeros(len(people))
    dis[some] = 1 / (1 + (uniques / theta - uniques) / spread)
    return theta, dis
