"""The structured estimator on every subset of what may be known, at once and person by person.

One table, one fit: the latent classes of the whole table summed over what is not known, and the
pairs of the whole table in the forest of each subset (theory/marginals.py).  Each subset has a
layer of its own, calibrated on its own singles, pairs and triples (theory/layers.py).

Of a class of four and more, of a subset on which one attribute alone parts people, of one that a
column of it contradicts (structured.py), and of a table of under 100 people this model has nothing
to say (`StructuredSubsets.speaks`); Pitman's does.  A
group of columns that is a function of the others parts nobody and is left out of a subset, which
then takes what is said of the smaller one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from reidbn.microdata.classes import some_of
from reidbn.microdata.rows import DistinctRows
from reidbn.microdata.slab import sizes_of_rows
from reidbn.microdata.table import People
from reidbn.population.margins import UNSEEN, contradicts, left_unique, posteriors_of
from reidbn.population.multiplied import no_pair_on
from reidbn.population.multiplied_subsets import MultipliedSubsets, independent_subsets
from reidbn.population.standing import Stands, between, places
from reidbn.population.structured import (
    APART_OF_OWN,
    SMALLEST,
    SPREAD,
    drawn_chances,
)
from reidbn.population.structured_fitting import frequencies_of, is_ordered, own_columns
from reidbn.progress import progress
from reidbn.theory.class_law import mean_inverse
from reidbn.theory.frequencies import FrequencyTable
from reidbn.theory.functions_of import determined, smallest
from reidbn.theory.layer import FEW
from reidbn.theory.layers import SubsetLayers, fit_layers, knots, read, spread_out, tally
from reidbn.theory.marginals import Marginals
from reidbn.theory.pitman import stays_unique
from reidbn.theory.structure import Distinct, together
from reidbn.written import counted

Floats: TypeAlias = NDArray[np.float64]
Single: TypeAlias = NDArray[Any]  # in single precision
Ints: TypeAlias = NDArray[np.int64]

MOST_COLUMNS = 14
"""More subsets leave too few people to calibrate each of them on (`CALIBRATED_ON`)."""
CALIBRATED_ON = 1 << 25
"""Row x subset cells that layers are calibrated on; more people are drawn from."""
COMPARED_ON = 1 << 22  # the same for how far structures are apart
BLOCK = 1 << 18  # cells that are worked on at a time


@dataclass(frozen=True, eq=False)
class StructuredSubsets:
    """What the model says of the distinct rows of a table, by subset of groups."""

    marginals: Marginals
    rows: DistinctRows
    layers: SubsetLayers
    place: Ints
    """Where each subset is among those whose shares are asked for; -1: the model says nothing."""
    answers: Floats
    """By subset asked for: chance of a unique row by forest, classes, mixture, calibrated."""
    stands: Stands | None = None
    """For how many people those of each row stand, where survey weights say so."""
    louder: tuple[str, ...] = ()
    """By subset: the column that contradicts the structures on it; empty where none does."""

    def on(self, masks: Ints) -> StructuredSubsets:
        """The same of some subsets, in this order."""
        louder = tuple(self.louder[mask] for mask in masks.tolist())
        return replace(self, place=self.place[masks], louder=louder)

    @property
    def speaks(self) -> NDArray[np.bool_]:
        """On which subsets the model says something."""
        return self.place >= 0

    def told(self, rows: Ints, f: NDArray[Any]) -> tuple[Single, Single]:
        """P(F = 1 | f = 1) and E[1/F | f] of some rows: subset x row, before subsets agree.

        `f` are the rows' class sizes on every subset, those above three as four.  What is said
        where the model does not speak, or of larger classes, means nothing.
        """
        f = f[self.marginals.wanted]
        few = np.flatnonzero(f <= FEW)
        of_few, subset = f.reshape(-1).take(few), few // f.shape[1]
        beside = None
        if self.layers.besides > 1:
            beside = self.marginals.beside(rows, f).reshape(-1).take(few)
        x = self.marginals.log_rank(rows, f).reshape(-1).take(few)
        knot, beyond = self.layers.at(x, subset, beside)
        size = self.layers.unique.size
        of_size = knot + (of_few.astype(np.int64) - 1) * size
        unique, match = np.zeros((2, *f.shape), dtype=np.float32)
        alone = np.flatnonzero(of_few == 1)
        asked = (
            (unique, self._unique, alone, knot.take(alone), beyond.take(alone), size),
            (match, self._match, slice(None), of_size, beyond, FEW * size),
        )
        if self.stands is not None:
            place = self.stands.place[:, rows].reshape(-1)
            low, further = between(place.take(few), len(self.stands.sizes))
            if self.stands.of_large:
                np.negative(place, out=match.reshape(-1))
        for out, table, which, at, after, many in asked:
            if self.stands is None:
                told = read(table, at, after)
            else:
                at, part = at + low[which] * many, further[which]
                told = read(table, at, after)
                told += (read(table, at + many, after) - told) * part
            out.reshape(-1)[few[which]] = told
        if np.array_equal(self.place, np.arange(len(self.place))):
            return unique, match
        return unique[self.place], match[self.place]

    @cached_property
    def _every(self) -> tuple[SubsetLayers, ...]:
        """One, or one for each of so many people for whom each of the table stands."""
        return (self.layers,) if self.stands is None else self.stands.layers

    @cached_property
    def _unique(self) -> Single:
        """P(F = 1 | f = 1): layers x subset x cell."""
        return np.stack([layers.unique for layers in self._every])

    @cached_property
    def _match(self) -> Single:
        """E[1/F | f]: layers x class size x subset x cell."""
        return np.stack([np.stack(layers.match) for layers in self._every])

    @cached_property
    def independent(self) -> NDArray[np.bool_]:
        """Subsets of which no two columns go together as far as the table shows."""
        return self.speaks & independent_subsets(self.marginals)[self.place]

    def remarks(self, frequencies: Sequence[FrequencyTable]) -> tuple[str, ...]:
        """What to bear in mind where columns do not go together."""
        told = self.speaks & np.array([table.uniques > 0 for table in frequencies])
        some = int((told & self.independent).sum())
        found = [no_pair_on(some, int(told.sum()))] if some else []
        against = [column for column in self.louder if column]
        if against:
            found.append(
                f"on {counted(len(against), 'subset')} one column alone "
                f"({', '.join(sorted(set(against)))}) leaves more than twice as many people unique "
                "as the structures say of all, and whoever learns more finds no fewer: class sizes "
                "speak there (pitman-bayes)"
            )
        return tuple(found)

    @cached_property
    def apart(self) -> Floats:
        """Standard deviation of the log answers of the structures, by subset (0: one speaks)."""
        found = np.std(np.log(self.answers), axis=1)
        return np.where(self.speaks, found[self.place], 0.0)

    @cached_property
    def disagreement(self) -> Floats:
        """Largest over smallest answer of a structure, by subset."""
        found = self.answers.max(axis=1) / self.answers.min(axis=1)
        return np.where(self.speaks, found[self.place], 1.0)

    def ends(
        self, tails: tuple[float, float], frequencies: Sequence[FrequencyTable]
    ) -> tuple[StructuredSubsets, StructuredSubsets]:
        """The same at both ends of what `drawn_chances` leaves open, all chances at one quantile.

        `frequencies` are those of the classes on every subset.  The estimate lies between the ends.
        Where columns do not go together both ends are those of a fit, too, in which most draws are
        those of shares multiplied: three that go together only as three are parted by them alone.
        """
        which = np.flatnonzero(independent_subsets(self.marginals))
        plain = None
        if len(which):
            asked = (self.marginals, self.rows, self.layers, which, self.stands)
            plain = MultipliedSubsets.of(*asked)
        found = []
        for knot, layers in enumerate(self._every):
            told = None if plain is None else plain.tables(layers, knot)
            found.append(self._ends_of(layers, tails, frequencies, plain, told))
        low, high = zip(*found, strict=True)
        if self.stands is None:
            return replace(self, layers=low[0]), replace(self, layers=high[0])
        return tuple(replace(self, stands=replace(self.stands, layers=end)) for end in (low, high))  # type: ignore[return-value]

    def _ends_of(
        self,
        layers: SubsetLayers,
        tails: tuple[float, float],
        frequencies: Sequence[FrequencyTable],
        plain: MultipliedSubsets | None,
        multiplied: Sequence[Single] | None,
    ) -> tuple[SubsetLayers, SubsetLayers]:
        """Both ends of what one population's layers say."""
        low, high = ([layers.unique.copy(), *(m.copy() for m in layers.match)] for _ in range(2))
        normal = ndtri(spread_out(layers.drawn.shape[1])[1])
        deviation = self._structure
        for some, tables in layers.by_draw():
            stay = self._stay(layers, some, frequencies)
            factor = np.exp(np.outer(deviation[some], normal)).astype(np.float32)
            for k, (told, run_out) in enumerate(tables):
                own = None if stay is None else stay[k][:, :, None]
                drawn = drawn_chances(told, run_out, own, factor, 1 / max(k, 1))
                if plain is not None and multiplied is not None:
                    mine, mixed = plain.draw(drawn, some, multiplied[k])
                    mixed.sort(axis=1)
                    low[k][mine] = np.minimum(low[k][mine], _at_tail(mixed, tails[0]))
                    high[k][mine] = np.maximum(high[k][mine], _at_tail(mixed, tails[1]))
                drawn.sort(axis=1)  # a tenth of the time of np.quantile
                first, last = (_at_tail(drawn, tail) for tail in tails)
                low[k][some] = np.minimum(low[k][some], first)
                high[k][some] = np.maximum(high[k][some], last)
        return tuple(
            replace(layers, unique=unique, match=tuple(match)) for unique, *match in (low, high)
        )  # type: ignore[return-value]

    def _stay(
        self, layers: SubsetLayers, some: Ints, frequencies: Sequence[FrequencyTable]
    ) -> list[NDArray[Any]] | None:
        """What class sizes alone say, where people have values of their own: subset x draw.

        P(F = 1 | f = 1) and E[1/F | f]; None where they have not.
        """
        if not any(self.marginals.keys[i] for i in some):
            return None
        n, N, draws = layers.n, layers.N, layers.drawn.shape[1]
        even = spread_out(draws)[0][draws // 3 : 2 * (draws // 3)]
        found = posteriors_of((frequencies[mask] for mask in self.marginals.wanted[some]), N)
        theta, alpha = np.empty((2, len(some), len(even)))
        for i, at in enumerate(found):
            node = np.searchsorted(np.cumsum(at.weight)[:-1], even)
            theta[i], alpha[i] = at.theta[node], at.alpha[node]
        told = [stays_unique(n, N, theta=theta, alpha=alpha)]
        told += [mean_inverse(float(f), n, N, theta=theta, alpha=alpha) for f in range(1, FEW + 1)]
        return told

    @property
    def _structure(self) -> Floats:
        """Equation (2) of structured.py, by subset asked for."""
        fixed, usual = SPREAD
        apart = np.where([bool(key) for key in self.marginals.keys], APART_OF_OWN, usual)
        left = 1 - self.layers.n / self.layers.N
        off = np.std(np.log(self.answers), axis=1)
        return np.asarray(np.sqrt(fixed**2 * left + (apart * off) ** 2))


def _at_tail(drawn: NDArray[Any], tail: float) -> NDArray[Any]:
    """A quantile of draws in order, between two of them: subset x knot."""
    place = tail * (drawn.shape[1] - 1)
    low = min(int(place), drawn.shape[1] - 2)
    return np.asarray(drawn[:, low] + np.float32(place - low) * (drawn[:, low + 1] - drawn[:, low]))


def fit_every_subset(
    people: People,
    rows: DistinctRows,
    groups: Sequence[Sequence[str]],
    frequencies: Sequence[FrequencyTable],
    population: float,
    weights: Floats | None = None,
    *,
    as_counted: bool = True,
) -> StructuredSubsets | None:
    """Fit to the distinct rows of a table, one code a group; None where there is no structure.

    `frequencies` are those of the classes on every subset, and `weights` say for how many each
    entry of the table stands; `as_counted`: whoever is asked about is in classes of the table.
    """
    if rows.total < SMALLEST or population <= rows.total:
        return None
    known, columns = _coded(people, rows, groups, population)
    asked = smallest(frequencies)
    bits = np.arange(len(asked))[:, None] >> np.arange(len(columns)) & 1
    several = bits @ np.array([len(own) for own in columns]) > 1
    wanted = np.unique(asked[several[asked]])
    if not len(wanted):
        return None
    place = np.full(len(asked), -1)
    place[several[asked]] = np.searchsorted(wanted, asked[several[asked]])
    marginals = Marginals.of(known, columns, wanted)
    if weights is None:
        stands = None
        layers, answers, _ = _calibrated(marginals, rows, frequencies, population)
    else:
        sizes, stood = places(marginals, rows, weights, of_large=as_counted)
        layers, answers, several = _calibrated(marginals, rows, frequencies, population, sizes)
        own = np.bincount(rows.of_record, weights, rows.rows) / rows.people
        stands = Stands(sizes, own, several, stood, as_counted)
    said = answers[:, 3] * [frequencies[mask].uniques for mask in wanted.tolist()]
    names = [c for group in groups for c in group]
    louder = [names[j] if j >= 0 else "" for j in _louder(marginals, said, population)]
    told = tuple("" if at < 0 else louder[at] for at in place.tolist())
    place[[column != "" for column in told]] = -1
    return StructuredSubsets(marginals, rows, layers, place, answers, stands, told)


def _louder(marginals: Marginals, said: Floats, N: float) -> Iterator[int]:
    """Of each subset asked for the attribute that contradicts it, or -1.

    `said` is how many people of the table stay unique there, as if each stood for as many.
    """
    known = marginals.rows
    alone = []
    for j in range(len(known.values)):
        values = frequencies_of(known.people_by_value((j,)))
        alone.append(left_unique(values, float(values.uniques), int(N)))
    for mask, many in zip(marginals.wanted.tolist(), said.tolist(), strict=True):
        most = max(marginals.attributes(mask), key=alone.__getitem__)
        yield most if contradicts(alone[most], many, 1.0) else -1


def _coded(
    people: People, rows: DistinctRows, groups: Sequence[Sequence[str]], N: float
) -> tuple[Distinct, list[tuple[int, ...]]]:
    """The rows' values, compact, and the attributes of each group that part people."""
    some = some_of(rows.of_record, rows.rows)
    names = [c for group in groups for c in group]
    codes = people.codes(names)[some]
    compact = np.column_stack([np.unique(c, return_inverse=True)[1] for c in codes.T])
    ordered = tuple(is_ordered(people, c) for c in names)
    known = Distinct(compact, rows.people, ordered)
    keys = own_columns(known)
    if keys:
        sets = [part for size in range(len(keys)) for part in combinations(keys, size + 1)]
        tables = (frequencies_of(known.people_by_value(part)) for part in sets)
        own = dict(zip(sets, posteriors_of(tables, N), strict=True))
        known = Distinct(compact, rows.people, ordered, own)
    columns, at = [], 0
    for group in groups:
        mine = [j for j in range(at, at + len(group)) if known.values[j] > 1]
        at += len(group)
        if len(mine) > 1:
            found = determined(compact[:, mine], rows.people)
            mine = [j for i, j in enumerate(mine) if i not in found]
        columns.append(tuple(mine))
    return known, columns


def _calibrated(
    marginals: Marginals,
    rows: DistinctRows,
    frequencies: Sequence[FrequencyTable],
    population: float,
    stood: Floats | None = None,
) -> tuple[SubsetLayers, Floats, tuple[SubsetLayers, ...]]:
    """The layer of every subset asked for, and what each structure alone says.

    And, where `stood` are given, the layers of populations of those sizes.  Of more rows than
    `CALIBRATED_ON` allows, some people are drawn.
    """
    n, wanted = rows.total, marginals.wanted
    rng = np.random.default_rng(0)
    most = max(SMALLEST, CALIBRATED_ON // marginals.subsets)
    weight = rows.people
    if most < rows.rows:
        weight = np.bincount(rng.choice(rows.of_record, most), minlength=rows.rows).astype(float)
        if len(rows.of_record) != n:  # entries are cells of several people
            weight = rng.multinomial(most, rows.people / n).astype(float)
    some = rng.permutation(np.flatnonzero(weight))
    at = knots(n, population if stood is None else max(population, *stood))
    seen = np.zeros((len(wanted), marginals.besides * len(at), FEW))
    answers, apart = np.zeros((len(wanted), 4)), np.zeros((3, len(wanted)))
    step, compared = max(1, BLOCK // marginals.subsets), 0
    sizes = sizes_of_rows(rows, some).T
    for start in progress(range(0, len(some), step), "how attributes go together"):
        here = some[start : start + step]
        f = sizes[wanted, start : start + step]
        forest, classes = marginals.both(here, np.minimum(f, FEW + 1))
        x = together(forest, classes)
        x += np.float32(np.log(n))
        beside = marginals.beside(here, f) if marginals.besides > 1 else None
        tally(x, f, weight[here], at, seen, beside)
        few = (f <= FEW) * weight[here]
        off = forest - classes
        for total, value in zip(apart, (few, few * off, few * off**2), strict=True):
            total += value.sum(axis=1)
        if compared < COMPARED_ON:
            compared += x.size
            alone = (f == 1) * weight[here]
            for k, h in enumerate((forest, classes, x - np.float32(np.log(n)))):
                stay = np.log1p(-np.exp(np.minimum(h, np.float32(-1e-6))))
                answers[:, k] += (alone * np.exp(np.float32(population - n) * stay)).sum(axis=1)
            answers[:, 3] += alone.sum(axis=1)
    cells = np.array([found.counts[found.sizes <= FEW].sum() for found in frequencies])[wanted]
    _, mean, square = apart / np.maximum(apart[0], 1.0)
    off = np.sqrt(np.maximum(square - mean**2, 0.0))
    unsure = np.array([marginals.rows.unsure(marginals.attributes(m)) for m in wanted.tolist()])
    every = (population, *(() if stood is None else stood))
    layers, *several = fit_layers(seen, cells.astype(float), n, every, off, unsure, at)
    uniques = np.maximum(answers[:, 3], 1.0)
    share = answers / uniques[:, None]
    held = seen[:, :, 0]
    share[:, 3] = (held * layers.unique).sum(axis=1) / np.maximum(held.sum(axis=1), 1e-9)
    of = np.array([found.uniques for found in frequencies], dtype=float)[wanted]
    return layers, share + UNSEEN / np.maximum(of, 1.0)[:, None], tuple(several)


def as_columns(groups: Sequence[Sequence[str]], columns: Sequence[str] | None = None) -> Ints:
    """Each subset of groups, as a subset of all their columns: as they come, or in this order."""
    every = [c for group in groups for c in group] if columns is None else columns
    masks = np.zeros(1 << len(groups), dtype=np.int64)
    for j, group in enumerate(groups):
        masks[1 << j : 2 << j] = masks[: 1 << j] | sum(1 << every.index(c) for c in group)
    return masks
