"""Survey weights brought to the population that was named: one rule for estimates and assessments.

A weight says for how many people a record stands.  Weights that sum to another number of people
(relative ones sum to the table) are scaled, so that what is said is said of the population that
was asked about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError, EngineError
from reidbn.microdata.classes import totals
from reidbn.written import agree, counted

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

NEAR = 0.01
"""Weights whose sum is that near the population are taken as they are."""
LIGHT = (
    "some classes have less weight than records; they count as whole in the table, which is the "
    "cautious side"
)
WHOLE = "the table is the whole population: its survey weights are not used"

UNWEIGHTED = (
    "the survey weights were not used: this model takes people as a simple random sample; "
    "structured, log-linear and benedetti-franconi go by the weights, and so does an assessment "
    "of which no model is named"
)
WEIGHTED = (
    "the survey weights say for how many people each stands: people of the same values are taken "
    "for a random sample of those for whom they stand, so that whoever stays away for a reason "
    "that goes with rare values, and with neither the columns nor the weight, is not allowed for, "
    "and weights are taken for exact: no interval has their own error; "
    "means and counts are of the people of the table, each once"
)
BACK = 5.0  # people of the mean weight who stand beside those of each value
ALIKE = 1e-9  # weights that differ by less are one number
DENSE = 500  # values of all attributes, whose effects are solved for outright


def are_alike(stands: NDArray[Any]) -> bool:
    """Whether everybody stands for as many people."""
    return bool(np.ptp(stands) <= ALIKE * stands.mean())


def scale_of(weights: NDArray[Any], population: float) -> tuple[float, tuple[str, ...]]:
    """What to multiply the weights by, and a note where that is not 1.

    >>> import numpy as np
    >>> scale_of(np.array([1.0, 3.0]), 400)
    (100.0, ('the weights sum to 4; they are scaled to the population of 400',))
    """
    total = float(weights.sum())
    if not total > 0:
        raise DataError("the survey weights sum to 0; a weight says for how many a record stands")
    if abs(population / total - 1) <= NEAR:
        return 1.0, ()
    told = f"{total:,.1f}".removesuffix(".0")
    return population / total, (
        f"the weights sum to {told}; they are scaled to the population of {population:,.0f}",
    )


def stood_for_each(
    weights: NDArray[Any], population: float, scaling: tuple[float, tuple[str, ...]]
) -> tuple[Floats, tuple[str, ...]]:
    """For how many people each record stands, none for less than one, and notes.

    `scaling` is as `scale_of`.  Whoever is sure to be asked has a weight of one, which may be a
    little less once weights are scaled; weights that are further below are none of people.
    """
    scale, told = scaling
    stands = np.asarray(scale * weights, dtype=np.float64)
    light = stands < 1
    if not light.any():
        return stands, told
    many = int(light.sum())
    said = f"{counted(many, 'person')} {agree(many, 'has', 'have')} a survey weight below 1"
    if told:
        said += f", scaled to the population of {population:,.0f}"
    if float((1 - stands[light]).sum()) > NEAR * population:  # they would be unique for certain
        raise DataError(
            f"{said}; a weight says for how many people a record stands: trim the weights, or "
            "ask pitman-bayes, which leaves them out, or benedetti-franconi, which counts light "
            "classes as whole in the table"
        )
    return np.maximum(stands, 1.0), (*told, f"{said}: they stand for themselves")


def weight_alike(weights: Floats, ids: Ints, codes: Ints, counts: Ints) -> Floats:
    """By distinct row, the mean weight of those of the table who are like its people."""
    told = ToldByValues.of(weights, ids, codes, counts)
    return told.alike(range(codes.shape[1]), told.held)[0]


@dataclass(frozen=True, eq=False)
class Held:
    """What classes hold: people, of their weights the sum and the sum of squares; a row of each."""

    people: Floats
    sums: Floats
    squares: Floats
    row: Ints

    def by(self, ids: Ints, count: int) -> Held:
        """Classes joined: `ids` says which of so many each goes into."""
        row = np.empty(count, dtype=np.int64)
        row[ids] = self.row
        each = (self.people, self.sums, self.squares)
        people, sums, squares = (totals(ids, own, count) for own in each)
        return Held(people, sums, squares, row)

    def some(self, which: Ints) -> Held:
        """Some of the classes."""
        people, sums, squares, row = self.people, self.sums, self.squares, self.row
        return Held(people.take(which), sums.take(which), squares.take(which), row.take(which))


@dataclass(frozen=True, eq=False)
class ToldByValues:
    """What the values of a table tell of the weights of those who are like somebody.

    A person's own weight need not be that of others alike.  What the values tell of it is a sum of
    effects of each; of what is left, classes of two and more tell how much people alike share:

        W = base + k (mean of the class - base),  k = f r / (1 + (f - 1) r),
        r = 1 - (variance within classes)/(variance around the base)

    Weights that are a function of the columns have r = 1, others 0.  Where no two are alike,
    r = 1: everybody's own.
    """

    middle: float
    """The mean weight; what follows is without it."""
    held: Held
    """By distinct row."""
    at: Ints
    """Attribute x distinct row: which of all values."""
    starts: Ints
    """Where each attribute's values begin, and the end."""
    pairs: Any
    """How many people have each two of all values, and of the mean weight `BACK` on top; sparse
    where values are more than `DENSE`."""
    by_value: Floats
    """The sum of the weights of each value's people."""

    @classmethod
    def of(cls, weights: Floats, ids: Ints, codes: Ints, counts: Any) -> ToldByValues:
        """`ids` says which distinct row each person has, `codes` are the rows' values."""
        from scipy.sparse import csr_array, eye_array

        middle, (rows, attributes) = float(weights.mean()), codes.shape
        off = weights - middle
        starts = np.cumsum([0, *(codes.max(axis=0) + 1)])
        at = codes + starts[:-1]
        ends, many = np.arange(rows + 1) * attributes, int(starts[-1])
        people = np.asarray(counts, dtype=np.float64)
        design = csr_array((np.ones(at.size), at.ravel(), ends), (rows, many))
        weighed = csr_array((np.repeat(people, attributes), at.ravel(), ends), (rows, many))
        sums, squares = (np.bincount(ids, each, rows).astype(np.float64) for each in (off, off**2))
        pairs = (design.T @ weighed + BACK * eye_array(many)).tocsr()
        if many <= DENSE:
            pairs = pairs.toarray()
        held = Held(people, sums, squares, np.arange(rows))
        return cls(middle, held, np.ascontiguousarray(at.T), starts, pairs, design.T @ sums)

    def alike(self, attributes: Iterable[int], *classes: Held) -> list[Floats]:
        """W of those of each class on some attributes; together they are the whole table."""
        of = list(attributes)
        effects, bases = self._effects(of), []
        within = around = people = many = 0.0
        for held in classes:
            base = np.zeros(len(held.row))  # the same throughout a class
            for j in of:
                base += effects.take(self.at[j].take(held.row))
            bases.append(base)
            several = np.flatnonzero(held.people > 1)
            if several.size:
                own, told = held.some(several), base.take(several)
                within += float((own.squares - own.sums**2 / own.people).sum())
                off = own.squares - told * (2 * own.sums - told * own.people)
                around += float(off.sum())
                people += float(own.people.sum())
                many += several.size
        r = 1.0
        if many:
            r -= within / (people - many) / (around / people) if around > 0 else 0.0
            r = float(np.clip(r, 0, 1))
        out = []
        for held, base in zip(classes, bases, strict=True):
            mean = held.sums / held.people - base
            mean *= held.people * r / (1 + (held.people - 1) * r)
            out.append(np.maximum(self.middle + base + mean, 1.0))
        return out

    def _effects(self, attributes: list[int]) -> Floats:
        """What each value of some attributes tells; 0 for those of others."""
        from scipy.linalg.lapack import dposv
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import cg

        effects = np.zeros(int(self.starts[-1]))
        if not attributes:
            return effects
        some = np.concatenate([np.arange(*self.starts[j : j + 2]) for j in attributes])
        if isinstance(self.pairs, np.ndarray):
            pairs = self.pairs[some[:, None], some].T  # symmetric; so it is solved where it lies
            _, effects[some], failed = dposv(pairs, self.by_value[some], overwrite_a=True)
            if failed:
                raise EngineError("what values tell of survey weights could not be solved for")
        else:
            pairs = self.pairs[some][:, some]
            near = diags_array(1 / pairs.diagonal())
            effects[some] = cg(pairs, self.by_value[some], rtol=1e-9, M=near)[0]
        return effects
