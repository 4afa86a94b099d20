"""How likely each combination of values is, from a forest of pairs and from latent classes.

A table of n people has distinct rows x with f_x people each.  Both models say the share H(x) of
the population in the row x *without the people of that row*: a row must not vouch for itself,
or every row looks as common as the people who happen to be in it.

Forest [ChowLiu68]: the spanning forest of the largest mutual information, bias taken off, with

    H(x) = prod_roots (c - f + 1/2)/(n - f + V/2)
           prod_edges (n_pc - f + k m_c)/(n_p - f + k)                                      (1)

c, n_p, n_pc the people with the root's value, the parent's, and both; V the values of the root; m_c
the child's own share as of a root; and k, for each edge, of the largest leave-one-out likelihood.
Where values have an order (age, years) neighbours lend each other people: in place of m_c, and for
a root, stands the share among people nearby, counted with a Gaussian weight whose width in parent
and child is of the largest leave-one-out likelihood too, zero being one of the candidates.

Latent classes [Goodman74]: people fall into classes h of weight w_h, within which attributes are
independent, fitted by expectation-maximisation with the table's shares as prior.  With r_xh the
chance that row x is in class h, N_h the people of the class, C_jh(v) those with value v, and
c_j the people of the table who have x_j,

    H(x) = sum_h (N_h - f r_xh + a)/(n - f + K a) prod_j P_jh
    Q_jh = (C_jh(x_j) - f r_xh + g (c_j - f)/(n - f))/(N_h - f r_xh + g)
    P_jh = ((n - f) Q_jh + 1/2)/(n - f + V/2)                                                (2)

A value that few have is thus as common over all classes as it is of a root, and one that nobody
else has as common in each.  Where values have an order, P_jh is Q_jh with the m_j of a root, to
which neighbours lent, for the share (c_j - f)/(n - f).

Together: the mean of both, less where the forest says less, since classes lend each other values
that nobody of theirs has,

    log H = log((H_forest + H_classes)/2) + .2 min(log H_forest - log H_classes, 0)          (3)

Of an attribute on which most people have a value of their own (a date of birth, a street) the table
has seen a part of the values, and cannot tell how they go together with anything.  It has no pairs
and no classes, and multiplies H by the share by which Pitman's partition of its values says that
the next person has it [Pitman95],

    log m(c) = E[log (c - f + 1 - alpha)/(n - f + 1 + theta)]                                (4)

over the posterior of theta and alpha: for somebody who has it with c - 1 others, f - 1 of them left
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import log
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from reidbn.theory.region import Nodes

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

STRENGTHS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
"""Candidates of k, in people."""
WIDTHS = (0.7, 1.5, 3.0, 6.0)
"""Candidates of the width of a neighbourhood, in values."""
FEWEST, MOST, MOST_CELLS = 6, 500, 1 << 18  # values that have neighbours, and cells of a pair
BACK = 2.0  # people with the child's own share who stand behind the neighbours
MOST_CLASSES, PEOPLE_A_CLASS = 30, 15
FITTED_ON = 6_000  # people; more say little more of so few classes
STEPS, STARTS = 40, 2
BLOCK = 1 << 13  # rows that are looked at together
SMALLEST = 1e-300
SPARSE = 0.5  # people a class loses at each step: classes of nobody vanish
PRIOR = 2.0  # g: people with the table's shares that each class starts with
CLASS_PRIOR = 0.5  # a
LEAN = 0.2


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct rows of a table and how many people each has."""

    codes: Ints
    """Axes: row, attribute; each attribute's codes are 0, 1, ..., all in use."""
    counts: Floats
    ordered: tuple[bool, ...] = ()
    """Attributes whose codes are in the order of their values, so that neighbours are alike."""
    own: Mapping[tuple[int, ...], Nodes] = field(default_factory=dict)
    """Pitman's posterior of attributes on which most people have a value of their own, each
    alone and those that are asked for together."""

    @cached_property
    def n(self) -> float:
        """People."""
        return float(self.counts.sum())

    @cached_property
    def values(self) -> tuple[int, ...]:
        """Values in use, by attribute."""
        return tuple(int(v) + 1 for v in self.codes.max(axis=0))

    @cached_property
    def people(self) -> tuple[Floats, ...]:
        """People with each value, by attribute."""
        return tuple(
            np.bincount(self.codes[:, j], weights=self.counts, minlength=v).astype(np.float64)
            for j, v in enumerate(self.values)
        )

    def shares_without(self, j: int) -> Floats:
        """Each row's share of its value of attribute j, the row's own people left out."""
        return self.shares(j, self.codes[:, j], self.counts)

    def shares(self, j: int, values: Ints, left_out: Floats | float) -> Floats:
        """Shares of values of attribute j without some people who have them."""
        if (j,) in self.own:
            return np.exp(share_of_own(self.own[j,], self.people[j][values], self.n, left_out))
        return self._marginal[j].share(
            self.people[j][values], self.n, 1 / self.values[j], left_out, values
        )

    def lent_to_classes(
        self, j: int, values: Ints, left_out: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Of equation (2), some people left out: the people that classes are lent, and what of a
        share is Q's and what is everybody's.
        """
        if self.widths(j):
            every = np.ones(len(values))
            return PRIOR * self.shares(j, values, left_out), every, 0.0 * every
        left, V = self.n - left_out, self.values[j]
        lent = PRIOR * (self.people[j][values] - left_out) / left
        return lent, left / (left + 0.5 * V), 0.5 / (left + 0.5 * V)

    @cached_property
    def shared(self) -> tuple[int, ...]:
        """Attributes of which the table can tell how they go together."""
        return tuple(j for j in range(len(self.values)) if (j,) not in self.own)

    def key(self, attributes: Iterable[int]) -> tuple[int, ...]:
        """Those of some attributes on which most people have a value of their own."""
        return tuple(j for j in attributes if (j,) in self.own)

    def held(self, key: tuple[int, ...]) -> tuple[Ints, Floats]:
        """Which values of a key each row has, and the people who have them."""
        if len(key) == 1:
            return self.codes[:, key[0]], self.people[key[0]]
        ids = np.unique(self.codes[:, key], axis=0, return_inverse=True)[1].reshape(-1)
        people = np.bincount(ids, weights=self.counts)
        return np.asarray(ids, np.int64), np.asarray(people, np.float64)

    def alike_on(self, key: tuple[int, ...]) -> tuple[Ints, Ints, Floats]:
        """The rows whose values of a key more than one person has; which of them; those people.

        Whoever is alike on several is alike on the first of them: so those are looked through, and
        of many keys that most people have alone they are soon nobody.
        """
        if key not in self._alike:
            some, ids = np.arange(len(self.counts)), np.zeros(len(self.counts), dtype=np.int64)
            if len(key) > 1:
                some, ids, _ = self.alike_on(key[:-1])
            joint = ids * self.values[key[-1]] + self.codes[some, key[-1]]
            ids = np.unique(joint, return_inverse=True)[1].reshape(-1)
            people = np.bincount(ids, weights=self.counts[some])[ids].astype(np.float64)
            more = people > 1
            kept = some[more], ids[more].astype(np.int64), people[more]
            self._alike[key] = (np.asarray(kept[0], np.int64), *kept[1:])
        return self._alike[key]

    @cached_property
    def _alike(self) -> dict[tuple[int, ...], tuple[Ints, Ints, Floats]]:
        return {}

    def people_by_value(self, key: tuple[int, ...]) -> Floats:
        """How many people have each value of a key."""
        some, ids, people = self.alike_on(key)
        _, first = np.unique(ids, return_index=True)
        alone = self.n - self.counts[some].sum()
        return np.concatenate((np.ones(round(alone)), people[first]))

    def unsure(self, attributes: Iterable[int]) -> float:
        """Standard deviation of what nobody knows of log H, of people with a key of their own.

        It has the parameters of (4).  And the others may be independent of the key, as H takes
        them, or functions of it: in between lies what they add to log H, of which it has a half.
        """
        some = list(attributes)
        key = self.key(some)
        if not key:
            return 0.0
        if key not in self._unsure:
            at, alone = self.own[key], np.ones(len(self.counts), dtype=bool)
            alone[self.alike_on(key)[0]] = False
            told = np.log1p(-at.alpha) - np.log(self.n + at.theta)
            known = float(at.weight @ (told - at.weight @ told) ** 2)
            rest = {j: float(logs[alone].mean()) for j, logs in self._log_shares.items()}
            self._unsure[key] = known, rest
        known, rest = self._unsure[key]
        return float(np.sqrt(known + (sum(rest[j] for j in some if j in rest) / 2) ** 2))

    @cached_property
    def _unsure(self) -> dict[tuple[int, ...], tuple[float, dict[int, float]]]:
        return {}

    @cached_property
    def _log_shares(self) -> dict[int, Floats]:
        return {j: np.log(self.shares_without(j)) for j in self.shared}

    @cached_property
    def _marginal(self) -> tuple[Shrunk, ...]:
        return tuple(self._shrunk(j) for j in range(len(self.values)))

    def _shrunk(self, j: int) -> Shrunk:
        people, V = self.people[j], self.values[j]
        plain = Shrunk(0.5 * V, 0.0, None)
        found = [plain]
        for width in self.widths(j):
            kernel = _kernel(V, width)
            lent = kernel @ people, np.full(V, self.n), np.diag(kernel)
            found += [Shrunk(k, 0.5 * V, lent) for k in STRENGTHS]
        return _likeliest(found, people, np.full(V, self.n), 1 / V)

    def widths(self, j: int) -> tuple[float, ...]:
        """Widths of the neighbourhoods of attribute j, where its values have an order."""
        some = bool(self.ordered) and self.ordered[j]
        return WIDTHS if some and FEWEST <= self.values[j] <= MOST else ()


@dataclass(frozen=True, eq=False)
class Shrunk:
    """A share by cell: its people over those of its parent, shrunk towards a base."""

    k: float
    """How many people the base stands for."""
    back: float
    """How many people stand behind what neighbours lend."""
    lent: tuple[Floats, Floats, Floats] | None
    """By cell: people nearby, those of their parents, and how much of it each own person is."""

    def share(
        self, people: Floats, above: Floats | float, base: Floats | float,
        left_out: Floats | float, cells: Any = slice(None),
    ) -> Floats:  # fmt: skip
        """Shares of some cells without some of their people."""
        if self.lent is not None:
            near, of, own = (part[cells] for part in self.lent)
            left = np.maximum(near - own * left_out, 0.0)
            base = (left + self.back * base) / (of - left_out + self.back)
        return np.asarray((people - left_out + self.k * base) / (above - left_out + self.k))


def share_of_own(at: Nodes, people: Floats, n: float, left_out: Floats | float) -> Floats:
    """Equation (4), of values that `people` have."""
    left = np.broadcast_to(np.asarray(left_out, dtype=np.float64), people.shape)
    cells, place = np.unique(np.stack([people, left]), axis=1, return_inverse=True)
    held, out = cells[:, :, None]
    told = np.log(held - out + 1 - at.alpha) - np.log(n - out + 1 + at.theta)
    return np.asarray((told @ at.weight)[place.reshape(-1)])


def _likeliest(found: list[Shrunk], people: Floats, above: Floats, base: Floats | float) -> Shrunk:
    """The candidate of the largest leave-one-out likelihood; the first is the plain one."""
    told = [float(people @ np.log(one.share(people, above, base, 1.0))) for one in found]
    return found[int(np.argmax(told))]


def _kernel(V: int, width: float) -> Floats:
    """Weights that neighbours have for each other: each value gives away one in all."""
    step = np.abs(np.subtract.outer(np.arange(V), np.arange(V)))
    kernel = np.where(step <= 3 * width, np.exp(-0.5 * (step / width) ** 2), 0.0)
    return np.asarray(kernel / kernel.sum(axis=0))


@dataclass(frozen=True, eq=False)
class TwoTogether:
    """Two attributes together."""

    first: int
    second: int
    of_row: Ints
    """Which pair of values each row has."""
    people: Floats
    """People with each pair of values that occurs."""
    values: tuple[Ints, Ints]
    """The pair's two values."""
    information: float
    """Mutual information in nats, bias taken off."""


def pair(rows: Distinct, a: int, b: int) -> TwoTogether:
    """Count two attributes together."""
    width = rows.values[b]
    joint = rows.codes[:, a] * width + rows.codes[:, b]
    if rows.values[a] * width <= max(1 << 16, 4 * len(joint)):
        held = np.bincount(joint, weights=rows.counts)
        used = np.flatnonzero(held)
        place = np.empty(len(held), dtype=np.int64)
        place[used] = np.arange(len(used))
        of_row, people = place[joint], held[used]
    else:
        used, of_row = np.unique(joint, return_inverse=True)
        people = np.bincount(of_row, weights=rows.counts)
    one, other = used // width, used % width
    expected = rows.people[a][one] * rows.people[b][other] / rows.n
    raw = float(people @ np.log(people / expected)) / rows.n
    bias = (len(used) - rows.values[a] - width + 1) / (2 * rows.n)
    return TwoTogether(
        a, b, np.asarray(of_row), np.asarray(people, dtype=np.float64), (one, other), raw - bias
    )


def pairs(rows: Distinct) -> list[TwoTogether]:
    """Every two attributes, those of the largest mutual information first."""
    every = [pair(rows, a, b) for a, b in combinations(rows.shared, 2)]
    return sorted(every, key=lambda p: -p.information)


def forest(rows: Distinct) -> tuple[TwoTogether, ...]:
    """The pairs of the spanning forest of the largest mutual information, largest first."""
    return spanning(pairs(rows), range(len(rows.values)))


def spanning(every: Iterable[TwoTogether], attributes: Iterable[int]) -> tuple[TwoTogether, ...]:
    """The forest of some attributes, from pairs of which the largest come first."""
    tree, chosen = {j: j for j in attributes}, []
    for edge in every:
        if edge.information <= 0:
            break
        new, old = tree.get(edge.first), tree.get(edge.second)
        if new is not None and old is not None and new != old:
            tree = {j: new if t == old else t for j, t in tree.items()}
            chosen.append(edge)
            if len(chosen) == len(tree) - 1:
                break
    return tuple(chosen)


@dataclass(frozen=True, eq=False)
class Conditional:
    """P(child | parent) of one pair, shrunk as the table itself tells."""

    rows: Distinct
    edge: TwoTogether
    parent: int
    child: int
    best: Shrunk

    def log(self, left_out: Floats | float, cells: Any = slice(None)) -> Floats:
        """Log of it for some of the pair's cells, without some of their people."""
        side = 0 if self.edge.first == self.parent else 1
        given, value = (self.edge.values[i][cells] for i in (side, 1 - side))
        base = self.rows.shares(self.child, value, left_out)
        above = self.rows.people[self.parent][given]
        people = self.edge.people[cells]
        return np.asarray(np.log(self.best.share(people, above, base, left_out, cells)))


def conditional(rows: Distinct, edge: TwoTogether, *, parent: int) -> Conditional:
    """The pair's conditional share, of the largest leave-one-out likelihood."""
    side = 0 if edge.first == parent else 1
    child = edge.second if side == 0 else edge.first
    given, value = edge.values[side], edge.values[1 - side]
    above = rows.people[parent][given]
    found = [Shrunk(k, 0.0, None) for k in STRENGTHS]
    if rows.values[parent] * rows.values[child] <= MOST_CELLS:
        table = np.zeros((rows.values[parent], rows.values[child]))
        table[given, value] = edge.people
        for lent in _lent(table, rows.widths(parent), rows.widths(child)):
            cells = lent[0][given, value], lent[1][given], lent[2][value]
            found += [Shrunk(k, BACK, cells) for k in STRENGTHS]
    best = _likeliest(found, edge.people, above, rows.shares(child, value, 1.0))
    return Conditional(rows, edge, parent, child, best)


def _lent(
    table: Floats, parents: tuple[float, ...], children: tuple[float, ...]
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """People nearby of each cell, of each parent, and the own part of each child's value.

    A person counts once for the own value of the parent, and less for its neighbours.
    """
    rows, columns = table.shape
    for wide in (0.0, *parents):
        near = _kernel(rows, wide) if wide else np.eye(rows)
        lent = (near / np.diag(near)) @ table
        above = lent.sum(axis=1)
        for width in (0.0, *children):
            kernel = _kernel(columns, width) if width else np.eye(columns)
            if wide or width:
                yield lent @ kernel.T, above, np.diag(kernel)


def by_forest(rows: Distinct, edges: tuple[TwoTogether, ...] | None = None) -> Floats:
    """Log H of equation (1), by row."""
    edges = forest(rows) if edges is None else edges
    total = np.zeros(len(rows.counts))
    for child, edge in outwards(range(len(rows.values)), edges):
        if edge is None:
            total += np.log(rows.shares_without(child))
        else:
            parent = edge.first if edge.second == child else edge.second
            total += conditional(rows, edge, parent=parent).log(rows.counts, edge.of_row)
    return total


def outwards(
    attributes: Iterable[int], edges: Iterable[TwoTogether]
) -> Iterator[tuple[int, TwoTogether | None]]:
    """Every attribute, with the pair that leads to it; roots, without, have most pairs."""
    todo, left = list(edges), sorted(attributes)
    reached = set[int]()
    while left:
        grown = next((e for e in todo if (e.first in reached) != (e.second in reached)), None)
        if grown is None:
            ends = [j for edge in todo for j in (edge.first, edge.second)]
            child = min(left, key=lambda j: (-ends.count(j), j))
        else:
            todo.remove(grown)
            child = grown.first if grown.second in reached else grown.second
        reached.add(child)
        left.remove(child)
        yield child, grown


# -- latent classes --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LatentClasses:
    """What (2) needs: weights and shares that say in which class a row is, and people by class."""

    log_weight: Floats
    log_shares: tuple[Floats, ...]
    """By attribute: axes value, class."""
    held: Floats
    """People by class."""
    tables: tuple[Floats, ...]
    """By attribute, people: axes value, class."""
    attributes: tuple[int, ...]
    """Which attributes those are: all but those of values of one's own."""

    def chances(self, codes: Ints) -> Floats:
        """How likely rows are in each class."""
        told = sum(
            table[codes[:, j]] for table, j in zip(self.log_shares, self.attributes, strict=True)
        )
        return _chances(np.broadcast_to(self.log_weight, (len(codes), len(self.held))) + told)

    def log_share(self, rows: Distinct) -> Floats:
        """Log H of equation (2), by row."""
        prior = [rows.lent_to_classes(j, rows.codes[:, j], rows.counts) for j in self.attributes]
        out = np.empty(len(rows.counts))
        for some in _blocks(len(out)):
            codes, counts = rows.codes[some], rows.counts[some, None]
            own = self.chances(codes) * counts
            left = np.maximum(self.held - own, 0.0)
            total = (left + CLASS_PRIOR) / (rows.n - counts + CLASS_PRIOR * len(self.held))
            left += PRIOR
            for j, table, (lent, part, back) in zip(
                self.attributes, self.tables, prior, strict=True
            ):
                held = table[codes[:, j]]
                held -= own
                np.maximum(held, 0.0, out=held)
                held += lent[some, None]
                held /= left
                held *= part[some, None]
                held += back[some, None]
                total *= held
            out[some] = np.log(np.maximum(total.sum(axis=1), SMALLEST))
        return out + sum(np.log(rows.shares_without(j)) for j in rows.key(range(len(rows.values))))


def latent_classes(rows: Distinct, rng: np.random.Generator) -> LatentClasses:
    """Fit by expectation-maximisation from some rows drawn as first members of the classes."""
    hot = _one_hot(rows)
    prior = np.concatenate([np.zeros(0), *(rows.people[j] for j in rows.shared)]) / rows.n
    part, weight = hot, rows.counts
    if rows.n > FITTED_ON:
        drawn = rng.multinomial(FITTED_ON, rows.counts / rows.n).astype(np.float64)
        used = np.flatnonzero(drawn)
        part, weight = hot[used], drawn[used]
    K = int(np.clip(rows.n // PEOPLE_A_CLASS, 1, min(MOST_CLASSES, part.shape[0])))
    seeds = rng.choice(part.shape[0], size=K, p=weight / weight.sum(), replace=False)
    first = PRIOR * (part[seeds].T.toarray() + prior[:, None])
    log_weight, log_shares = np.full(K, -np.log(K)), np.log(first / (2 * PRIOR))
    for _ in range(STEPS):
        held, tables = _members(part, weight, log_weight, log_shares)
        some = held > SPARSE
        log_weight, log_shares = _maximise(held[some], tables[:, some], prior)
    if part is not hot:  # once over everybody
        held, tables = _members(hot, rows.counts, log_weight, log_shares)
        log_weight, log_shares = _maximise(held, tables, prior)
    held, tables = _members(hot, rows.counts, log_weight, log_shares)
    cuts = np.cumsum([rows.values[j] for j in rows.shared])[:-1].astype(np.int64)
    return LatentClasses(
        log_weight=log_weight,
        log_shares=tuple(np.split(log_shares, cuts)) if rows.shared else (),
        held=held,
        tables=tuple(np.split(tables, cuts)) if rows.shared else (),
        attributes=rows.shared,
    )


def _members(
    hot: csr_array, counts: Floats, log_weight: Floats, log_shares: Floats
) -> tuple[Floats, Floats]:
    """People by class, and by value and class."""
    held, tables = np.zeros(len(log_weight)), np.zeros(log_shares.shape)
    for some in _blocks(len(counts)):
        part = hot if len(counts) <= BLOCK else hot[some]
        people = _chances(part @ log_shares + log_weight) * counts[some, None]
        held += people.sum(axis=0)
        tables += part.T @ people
    return held, tables


def _blocks(rows: int) -> Iterator[slice]:
    """Some rows after others, so that what is done with them stays close to the processor."""
    for start in range(0, rows, BLOCK):
        yield slice(start, start + BLOCK)


def _maximise(held: Floats, tables: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Log weights of the classes and log shares of the values within each."""
    weight = np.maximum(held - SPARSE, 1e-9)
    shares = (tables + PRIOR * prior[:, None]) / (held + PRIOR)
    return np.log(weight / weight.sum()), np.log(shares)


def _one_hot(rows: Distinct) -> csr_array:
    """Distinct by values of all attributes: one where the row has the value."""
    values = [rows.values[j] for j in rows.shared]
    start = np.cumsum([0, *values])[:-1]
    count, attributes = len(rows.codes), len(values)
    ones = np.ones(count * attributes)
    ends = np.arange(count + 1) * attributes
    codes = rows.codes[:, rows.shared] if rows.own else rows.codes
    return csr_array((ones, (codes + start).ravel(), ends), (count, sum(values)))


def _chances(scores: Floats) -> Floats:
    """Each row's chance to be in each class, from log scores; in place."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def by_classes(rows: Distinct, rng: np.random.Generator) -> Floats:
    """Log H of equation (2), by row: the mean of H over some starts."""
    found = [each.log_share(rows) for each in several_classes(rows, rng)]
    return np.asarray(np.logaddexp.reduce(found, axis=0) - np.log(STARTS))


def several_classes(rows: Distinct, rng: np.random.Generator) -> tuple[LatentClasses, ...]:
    """Latent classes from some starts."""
    return tuple(latent_classes(rows, rng) for _ in range(STARTS))


def together(forest: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Log H of equation (3)."""
    lean = forest - classes
    mixed = np.abs(lean)
    np.negative(mixed, out=mixed)
    np.exp(mixed, out=mixed)
    mixed += 1.0
    np.log(mixed, out=mixed)  # with the larger of both, log(H_forest + H_classes)
    mixed += np.maximum(forest, classes)
    mixed -= log(2)
    np.minimum(lean, 0.0, out=lean)
    lean *= LEAN
    mixed += lean
    return np.asarray(mixed)
