"""Risks summed over subsets without a number per person and subset.

What is known of a person is a subset Y of the groups, and the attack sees of it the size of the
person's class on Y and whether it is one person of the population.  So, by total probability,

    P(target, evidence) = sum_Y P(Y) g(size on Y, P(unique) on Y)                             (1)
    g(f, u) = P(target, evidence | a class of f, unique with probability u) = a(f) + b 1(f = 1) u

with one g for everybody: the exact engine is asked once for every class size that occurs.  The sum
of a(f) is a walk over the lattice of subsets (microdata/lattice.py), in which people who are alone
cost nothing more; that of u is `SubsetPopulation.expected`.

An attack of another shape (a column of one's own or one that the call gave, a node that hangs on a
single member) is not summed so; nor is one whose sum differs from the exact engine's answer for
some of the people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Group
from reidbn.attacks.routes.counts import SubsetClasses
from reidbn.attacks.routes.population import SubsetPopulation
from reidbn.attacks.routes.subject_data import CLASS_SIZE, P_UNIQUE, SubjectTable, Told, filled
from reidbn.cpds.protocol import YES
from reidbn.errors import ModelError, UsageError
from reidbn.inference import exact
from reidbn.inference.answers import joint, positions
from reidbn.inference.lowering import Lowering
from reidbn.inference.network import Network
from reidbn.inference.query import Query
from reidbn.inference.tensors import SETTING, SUBJECT, batched
from reidbn.microdata.lattice import Gather, Walk

Array = NDArray[np.float64]
FROM = 1 << 20  # people x subsets from which risks are summed
COMPARED = 16  # people whose sum is held against the exact engine's answer
ROUNDING = 1e-13
DENSE = 1 << 22  # class sizes up to which a number each is looked up directly


@dataclass(frozen=True, eq=False)
class SubsetSum:
    """One question as (1): weights of the subsets, a(f) of every class size that occurs, and b."""

    weights: Array
    base: Array
    gain: float


def summed(
    attack: Attack,
    questions: Mapping[str, Query],
    settings: Mapping[str, float],
    classes: SubsetClasses,
    population: SubsetPopulation | None,
    table: SubjectTable,
    *,
    match: Query | None = None,
) -> dict[str, Array] | None:
    """P(wanted | given, do) of every distinct subject, for the questions that are such sums.

    With `match`, what is done there, the key "" holds E[1/F].  None where nothing is a sum.
    """
    if classes.distinct is None or (population is not None and not population.can_sum):
        return None
    shape = shape_of(attack, classes, table)
    if shape is None:
        return None
    group, constant = shape
    sizes = np.unique(np.concatenate(classes.occurring))
    sums: dict[str, tuple[SubsetSum, SubsetSum | None]] = {}
    for name, query in questions.items():
        found = as_sums(attack, query, settings, group, sizes, classes.records, constant)
        if found is not None:
            sums[name] = found
    plain = None if match is None else _weights(attack, match, settings, group)
    if not sums or (match is not None and plain is None):
        return None
    each = [one for pair in sums.values() for one in pair if one is not None]
    values = _values(classes, population, sizes, each, plain)
    told = dict(zip(map(id, each), values, strict=False))
    risks = {}
    for name, (top, below) in sums.items():
        given = np.ones(1) if below is None else told[id(below)]
        if (given > 0).all():  # else the engine says of whom it is impossible
            risks[name] = told[id(top)] / given
    told_of = Told(classes, population, few=True)

    def columns(some: NDArray[np.intp]) -> dict[str, Any]:
        mine = [name for name in attack.subject if name not in constant]
        return {**constant, **{name: filled(attack, name, told_of, some) for name in mine}}

    if not agrees(attack, {n: questions[n] for n in risks}, settings, columns, risks):
        return None
    return risks if plain is None else {**risks, "": values[-1]}


def are_many(classes: SubsetClasses) -> bool:
    """Whether people x subsets are so many that risks are summed."""
    return classes.rows * classes.subsets >= FROM


def shape_of(
    attack: Attack, classes: SubsetClasses, table: SubjectTable
) -> tuple[Group, dict[str, Any]] | None:
    """The one group, and the columns that are the same for everybody; None for other shapes."""
    found = shape_by_person(attack, table)
    same = found is not None and not found[2] and table.subjects == classes.rows
    return found[:2] if found is not None and same else None


def shape_by_person(
    attack: Attack, table: SubjectTable
) -> tuple[Group, dict[str, Any], tuple[str, ...]] | None:
    """The one group, the columns that all share, and those of chances to know, person by person.

    None for other shapes.
    """
    if len(attack.groups) != 1:
        return None
    group = next(iter(attack.groups.values()))
    constant: dict[str, Any] = {}
    own: list[str] = []
    of_group = _of_group(attack, group)
    for column in attack.subject.values():
        if column.name in (CLASS_SIZE, P_UNIQUE) and column.name not in table.given:
            if (column.per, column.over) != (group.name, None):
                return None
        elif (
            not (column.per or column.each or column.over) and len(table.columns[column.name]) == 1
        ):
            constant[column.name] = table.columns[column.name]
        elif not column.axes and not column.over and column.name in of_group:
            own.append(column.name)
        else:
            return None
    if attack.counts_members(group.name):  # (1) holds where a class is all that is seen of a subset
        return None
    apart = attack.upstream(group.members)
    alone = any(apart & {*node.parents} for node in attack.nodes.values() if node.name not in apart)
    if alone or CLASS_SIZE not in attack.subject:
        return None
    return group, constant, tuple(own)


def _of_group(attack: Attack, group: Group) -> set[str]:
    """The columns that only the group's members, and what lies above them, ask for."""
    above = attack.upstream(group.members)
    asked: dict[bool, set[str]] = {True: set(), False: set()}
    for node in attack.all_nodes.values():
        names = {ref[1:] for ref in node.cpd.references() if ref.startswith("@")}
        asked[node.name in above] |= names
    return asked[True] - asked[False]


def as_sums(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    group: Group,
    sizes: NDArray[np.int64],
    records: int,
    constant: Mapping[str, Any],
) -> tuple[SubsetSum, SubsetSum | None] | None:
    """The question's numerator, and its denominator where something is given."""
    if {*query.targets} & attack.upstream(group.members):
        return None
    weights = _weights(attack, query, settings, group)
    if weights is None:
        return None
    found = curves(attack, query, settings, group, sizes, records, constant)
    if found is None:
        return None
    top, below = (SubsetSum(weights, base, gain) for base, gain in found)
    return top, below if query.given else None


def curves(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    group: Group,
    sizes: NDArray[np.int64],
    records: int,
    constant: Mapping[str, Any],
) -> list[tuple[Array, float]] | None:
    """What is wanted, and what is given, as g of (1): a(f) of every class size, and b."""
    apart = attack.upstream(group.members)
    rest = Query(
        query.targets,
        query.wanted,
        {n: s for n, s in query.given.items() if n not in apart},
        {n: s for n, s in query.do.items() if n not in apart},
    )
    try:
        one = attack.with_members(group.name, group.members[:1], probability=1.0)
        told = {n: v for n, v in settings.items() if n in one.settable}
        low, high = (_asked(one, rest, told, sizes, records, u, constant) for u in (0.0, 1.0))
        between = [
            (u, _asked(one, rest, told, sizes[:1], records, u, constant)) for u in (0.5, 0.3)
        ]
    except (ModelError, UsageError):
        return None
    gains = [high[i] - low[i] for i in (0, 1)]
    straight = all(
        abs(found[i][0] - (low[i][0] + u * gains[i][0])) <= ROUNDING
        for u, found in between
        for i in (0, 1)
    )
    if not straight or any(gain[sizes > 1].any() for gain in gains):
        return None
    alone = sizes[0] == 1
    return [(low[i], float(gains[i][0]) if alone else 0.0) for i in (0, 1)]


def _asked(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    sizes: NDArray[np.int64],
    records: int,
    unique: float,
    constant: Mapping[str, Any],
) -> tuple[Array, Array]:
    """P(wanted, given) and P(given) in a class of each of these sizes."""
    columns: dict[str, Any] = dict(constant)
    columns[CLASS_SIZE] = np.stack((np.full(sizes.size, records), sizes), axis=1)
    if P_UNIQUE in attack.subject:
        columns[P_UNIQUE] = np.array([[0.0, unique]])
    values = joint(attack, query, settings, columns)[:, 0]
    given = values.sum(axis=tuple(range(1, values.ndim)))
    wanted: Any = (slice(None), *positions(attack, query, settings))
    return (
        np.broadcast_to(values[wanted], sizes.shape).copy(),
        np.broadcast_to(given, sizes.shape).copy(),
    )


def _weights(
    attack: Attack, query: Query, settings: Mapping[str, float], group: Group
) -> Array | None:
    """P(Y, what is given of members) for every subset Y; None where more than members is given."""
    weights = _subset_chances(attack, query, settings, group)
    if weights is None:
        return None
    masks = np.arange(weights.size)
    for member, state in query.given.items():
        if member in group.members:
            known = (masks >> group.members.index(member)) & 1 == 1
            weights = np.where(known == (state == YES), weights, 0.0)
    return weights


def _subset_chances(
    attack: Attack, query: Query, settings: Mapping[str, float], group: Group
) -> Array | None:
    """P(Y) of every subset, the first member's bit fastest."""
    if group.own:  # members may lead to each other: P(Y) is no product
        network = _above_members(attack, query, settings, group, {})
        if network is None:
            return None
        joint = exact.joint(network, group.members, {})[0, 0]
        return np.asarray(joint.transpose().reshape(-1))
    found = member_chances(attack, query, settings, group, {})
    if found is None:
        return None
    chance, members = found
    weights: Array = np.ones((members.shape[1], 1))
    for j in range(len(group.members)):
        p = members[0, :, j]
        weights = np.concatenate([weights * p[:, :1], weights * p[:, 1:]], axis=-1)
    return np.asarray(chance[0] @ weights)


def _above_members(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    group: Group,
    columns: Mapping[str, Any],
) -> Network | None:
    """The members and all that leads to them; None where any of that is given, or not there."""
    names = attack.upstream(group.members)
    if {*query.given} & (names - {*group.members}):
        return None
    try:
        network = Lowering(attack, settings, nodes=names).network(columns)
    except (KeyError, ModelError):  # somebody's own column is asked for
        return None
    return network.do({n: s for n, s in query.do.items() if n in names})


def member_chances(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    group: Group,
    columns: Mapping[str, Any],
) -> tuple[Array, Array] | None:
    """P(o) of the states o of the group's parents, and P(no or yes | o) of every member.

    Subject x o, and subject x o x member x 2; one row where all subjects are alike.  None where
    a parent is given, a column is asked for that is not there, or members tell of each other.
    """
    network = None if group.own else _above_members(attack, query, settings, group, columns)
    if network is None:
        return None
    factors = [network.factors[m] for m in group.members]
    outside = tuple(p for p in group.parents if any(p in f.parents for f in factors))
    chance: Array = np.ones((1, 1))
    if outside:
        known = exact.joint(network, outside, {})[:, 0]
        chance = known.reshape(len(known), -1)
    shape = [network.size(p) for p in outside]
    members = []
    for f in factors:
        table = batched(f.table, (*f.parents, f.child)).ordered(
            [SUBJECT, SETTING, *outside, f.child]
        )
        full = np.broadcast_to(table, (*table.shape[:2], *shape, 2))
        members.append(full[:, 0].reshape(len(full), chance.shape[1], 2))
    return chance, np.stack(np.broadcast_arrays(*members), axis=2)


# -- the sums --------------------------------------------------------------------------------------


def _values(
    classes: SubsetClasses,
    population: SubsetPopulation | None,
    sizes: NDArray[np.int64],
    sums: Sequence[SubsetSum],
    match: Array | None,
) -> list[Array]:
    """The sum of every distinct row; last, with `match`, that of E[1/F]."""
    kinds = _different([s.weights for s in sums] if match is None else
                       [match, *(s.weights for s in sums)])  # fmt: skip
    out = [np.zeros(classes.rows) for _ in sums]
    for weights in kinds:
        mine = [i for i, s in enumerate(sums) if np.array_equal(s.weights, weights)]
        for i, found in zip(
            mine, _walked(classes, sizes, weights, [sums[i].base for i in mine]), strict=True
        ):
            out[i] = found
    rising = [i for i, s in enumerate(sums) if s.gain]
    if population is None or (not rising and match is None):
        return out
    unique, matched = population.expected(np.stack(kinds), match=match is not None)
    for i in rising:
        at = next(j for j, w in enumerate(kinds) if np.array_equal(w, sums[i].weights))
        out[i] = out[i] + sums[i].gain * unique[at]
    return out if match is None else [*out, matched]


def _different(arrays: Sequence[Array]) -> list[Array]:
    found: list[Array] = []
    for array in arrays:
        if not any(np.array_equal(array, other) for other in found):
            found.append(array)
    return found


def _walked(
    classes: SubsetClasses, sizes: NDArray[np.int64], weights: Array, bases: Sequence[Array]
) -> list[Array]:
    """sum_Y weights[Y] a(size on Y) of every row, for several a: as few walks as they span."""
    assert classes.distinct is not None  # noqa: S101 - looked at before
    own, shares = _spanned(bases)
    alike = replace(classes.distinct, of_record=np.arange(classes.distinct.rows))
    gathers = [_gather(sizes, base, weights) for base in own]
    found = Walk(alike, gathers).run() if gathers else []
    if classes.followed is not None:
        found = [values[classes.followed] for values in found]
    total = float(weights.sum())
    out = []
    for share in shares:
        values = np.full(classes.rows, share[0] * total)
        for part, each in zip(share[1:], found, strict=True):
            if part:
                values += part * each
        out.append(values)
    return out


def _spanned(bases: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Some of the functions, and each as a number and multiples of these."""
    own: list[Array] = []
    shares: list[Array] = []
    for base in bases:
        span = np.stack([np.ones(base.size), *own], axis=1)
        share = np.linalg.lstsq(span, base, rcond=None)[0]
        if np.abs(span @ share - base).max() > ROUNDING / 10:
            share = np.zeros(len(own) + 2)
            share[-1] = 1.0
            own.append(base)
        shares.append(np.asarray(share, dtype=np.float64))
    return own, [np.concatenate((s, np.zeros(len(own) + 1 - s.size))) for s in shares]


def _gather(sizes: NDArray[np.int64], base: Array, weights: Array) -> Gather:
    """The values of one function of class size."""
    largest = int(sizes[-1])
    dense = np.zeros(largest + 1) if largest <= DENSE else None
    if dense is not None:
        dense[sizes] = base

    def values(block: Any) -> Array:
        if dense is not None:
            found = dense.take(block.cells)
        else:
            found = base.take(np.minimum(np.searchsorted(sizes, block.cells), sizes.size - 1))
        return np.asarray(found * weights[block.masks][:, None])

    return Gather(values, weights * (base[0] if sizes[0] == 1 else 0.0))


def agrees(
    attack: Attack,
    questions: Mapping[str, Query],
    settings: Mapping[str, float],
    columns: Callable[[NDArray[np.intp]], Mapping[str, Any]],
    risks: Mapping[str, Array],
) -> bool:
    """Whether the exact engine says the same of some people, from all that is known of them."""
    subjects = min(map(len, risks.values()), default=0)
    count = min(COMPARED, subjects)
    some = np.sort(np.random.default_rng(0).choice(subjects, count, replace=False))
    own = columns(some) if count else {}
    for name, query in questions.items():
        values = joint(attack, query, settings, own)[:, 0]
        given = values.sum(axis=tuple(range(1, values.ndim)))
        wanted: Any = (slice(None), *positions(attack, query, settings))
        gap = np.abs(values[wanted] / given - risks[name][some])
        if not (gap <= 1e-12).all():
            return False
    return True
