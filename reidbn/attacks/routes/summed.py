"""Risks summed over subsets without a number per person and subset.

What is known of a person is a subset Y of the groups, and the attack sees of it the size of the
person's class on Y and whether it is one person of the population.  So, by total probability,

    P(target, evidence) = sum_Y P(Y) g(size on Y, P(unique) on Y)                             (1)
    g(f, u) = P(target, evidence | a class of f, unique with probability u) = a(f) + b 1(f = 1) u

with one g for everybody: the exact engine is asked once for every class size that occurs.  The sum
of a(f) is a walk over the lattice of subsets (microdata/lattice.py), in which people who are alone
cost nothing more; that of u is `SubsetPopulation.expected`.  Both are linear in P(Y) and in a, so
what-ifs at many settings are answered from few walks (`Sums`, `SummedPeople`).

An attack of another shape (a column of one's own or one that the call gave, a node that hangs on a
single member) is not summed so; nor is one whose sum differs from the exact engine's answer for
some of the people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Group
from reidbn.attacks.routes.counts import SubsetClasses
from reidbn.attacks.routes.population import SubsetPopulation
from reidbn.attacks.routes.subject_data import CLASS_SIZE, P_UNIQUE, SubjectTable, Told, filled
from reidbn.attacks.routes.sums import ROUNDING, Means, SubsetSum, Sums
from reidbn.cpds.protocol import YES
from reidbn.errors import ModelError, UsageError
from reidbn.inference import exact
from reidbn.inference.answers import joint, positions
from reidbn.inference.lowering import Lowering
from reidbn.inference.network import Network
from reidbn.inference.query import Query
from reidbn.inference.tensors import SETTING, SUBJECT, batched

Array = NDArray[np.float64]
FROM = 1 << 20  # people x subsets from which risks are summed
COMPARED = 16  # people whose sum is held against the exact engine's answer
AGREES = 1e-12
MOST_CHANCES = 1 << 24  # people who are known differently x subsets


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
    made = Sums(classes, population)
    sums: dict[str, tuple[SubsetSum, SubsetSum | None]] = {}
    for name, query in questions.items():
        found = as_sums(attack, query, settings, group, made.sizes, classes.records, constant)
        if found is not None:
            sums[name] = found[0]
    plain = None if match is None else _weights(attack, match, settings, group)
    if not sums or (match is not None and plain is None):
        return None
    each = [one for pair in sums.values() for one in pair if one is not None]
    values = made.values(each, None if plain is None else plain[0])
    told = dict(zip(map(id, each), values, strict=False))
    risks = {}
    for name, (top, below) in sums.items():
        given = np.ones(1) if below is None else told[id(below)]
        if (given > 0).all():  # else the engine says of whom it is impossible
            risks[name] = told[id(top)] / given

    def columns(some: NDArray[np.intp]) -> dict[str, Any]:
        return _columns_of(some, attack, classes, population, constant)

    if not agrees(attack, {n: questions[n] for n in risks}, settings, columns, risks):
        return None
    return risks if plain is None else {**risks, "": values[-1]}


def _columns_of(
    some: NDArray[np.intp],
    attack: Attack,
    classes: SubsetClasses,
    population: SubsetPopulation | None,
    constant: Mapping[str, Any],
) -> dict[str, Any]:
    """All columns of some distinct rows."""
    told = Told(classes, population, few=True)
    mine = [name for name in attack.subject if name not in constant]
    return {**constant, **{name: filled(attack, name, told, some) for name in mine}}


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
    if len(attack.groups) != 1 or attack.decisions:  # what is decided is no sum over subsets
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
        names = {ref[1:] for ref in attack.behind(node.cpd) if ref.startswith("@")}
        asked[node.name in above] |= names
    return asked[True] - asked[False]


def as_sums(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any],
    group: Group,
    sizes: NDArray[np.int64],
    records: int,
    constant: Mapping[str, Any],
    *,
    validate: bool = True,
) -> list[tuple[SubsetSum, SubsetSum | None]] | None:
    """The question's numerator, and its denominator where something is given, at every setting."""
    if {*query.targets} & attack.upstream(group.members):
        return None
    weights = _weights(attack, query, settings, group, validate=validate)
    if weights is None:
        return None
    found = curves(attack, query, settings, group, sizes, records, constant, validate=validate)
    if found is None:
        return None
    base, gain = found
    count = max(len(weights), gain.shape[1])
    weights = np.broadcast_to(weights, (count, weights.shape[1]))
    base, gain = np.broadcast_to(base, (2, count, sizes.size)), np.broadcast_to(gain, (2, count))
    top, below = (
        [SubsetSum(weights[t], base[i, t], float(gain[i, t])) for t in range(count)] for i in (0, 1)
    )
    return list(zip(top, below if query.given else [None] * count, strict=True))


def curves(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any],
    group: Group,
    sizes: NDArray[np.int64],
    records: int,
    constant: Mapping[str, Any],
    *,
    validate: bool = True,
) -> tuple[Array, Array] | None:
    """What is wanted, and what is given, as g of (1): a(f), two x setting x class size, and b."""
    apart = attack.upstream(group.members)
    rest = Query(
        query.targets,
        query.wanted,
        {n: s for n, s in query.given.items() if n not in apart},
        {n: s for n, s in query.do.items() if n not in apart},
    )
    try:
        one, told, columns = _seen_whole(attack, group, settings, sizes, records, constant)
        low, high, *between = (
            _joint(one, rest, told, columns(u), validate=validate, alone=True)
            for u in (0.0, 1.0, 0.5, 0.3)
        )
    except (ModelError, UsageError):
        return None
    gains = high - low
    for u, found in zip((0.5, 0.3), between, strict=True):
        off = np.abs(found[..., 0] - (low + u * gains)[..., 0])
        if not (off <= ROUNDING * _scale(high[..., 0])).all():
            return None
    if gains[..., sizes > 1].any():
        return None
    return low, gains[..., 0] if sizes[0] == 1 else np.zeros(gains.shape[:2])


def _seen_whole(
    attack: Attack,
    group: Group,
    settings: Mapping[str, Any],
    sizes: NDArray[np.int64],
    records: int,
    constant: Mapping[str, Any],
) -> tuple[Attack, dict[str, Any], Callable[[float], dict[str, Any]]]:
    """G of (1) as an attack whose one member is known, its settings, and its columns for each u."""
    one = attack.with_members(group.name, group.members[:1], probability=1.0)
    columns = {**constant, CLASS_SIZE: np.stack((np.full(sizes.size, records), sizes), axis=1)}

    def unique(u: float) -> dict[str, Any]:
        if P_UNIQUE not in attack.subject:
            return columns
        return {**columns, P_UNIQUE: np.array([[0.0, u]])}

    return one, {n: v for n, v in settings.items() if n in one.settable}, unique


def _joint(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any],
    columns: Mapping[str, Any],
    *,
    validate: bool = True,
    alone: bool = False,
) -> Array:
    """P(wanted, given) and P(given): two x setting x subject."""
    values = joint(attack, query, settings, columns, validate=validate, alone=alone)
    given = values.sum(axis=tuple(range(2, values.ndim)))
    wanted: Any = (slice(None), slice(None), *positions(attack, query, settings))
    subjects = max(len(v) for v in columns.values())
    both = [np.broadcast_to(v, (subjects, v.shape[1])).T for v in (values[wanted], given)]
    return np.asarray(np.stack(both))


def _scale(values: Array) -> Array:
    """What rounding is measured in: beyond a parameter's range numbers are no probabilities."""
    return np.asarray(np.maximum(np.abs(values), 1.0))


def _weights(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any],
    group: Group,
    *,
    validate: bool = True,
) -> Array | None:
    """P(Y, what is given of members), setting x subset; None where more than members is given."""
    network = _above_members(attack, query, settings, group, {}, validate=validate)
    if network is None:
        return None
    weights = _subset_chances(network, group, validate=validate)
    masks = np.arange(weights.shape[1])
    for member, state in query.given.items():
        if member in group.members:
            known = (masks >> group.members.index(member)) & 1 == 1
            weights = np.where(known == (state == YES), weights, 0.0)
    return weights


def subset_chances(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    group: Group,
    columns: Mapping[str, Any],
) -> Array | None:
    """P(Y), subject x subset, one row where all are alike; None where it is no such product.

    Of a question without evidence.
    """
    same = _weights(attack, query, settings, group)
    if same is not None:
        return same[:1] if len(same) == 1 else None
    found = member_chances(attack, query, settings, group, columns)
    if found is None:
        return None
    chance, members = found
    if len(members) << len(group.members) > MOST_CHANCES:
        return None
    return np.asarray((chance[..., None] * _products(members)).sum(axis=1))


def _subset_chances(network: Network, group: Group, *, validate: bool) -> Array:
    """P(Y), setting x subset, the first member's bit fastest."""
    if group.own:  # members may lead to each other: P(Y) is no product
        found = exact.Plan(group.members, {}).joint(network, check=validate)[0]
        last_first = (0, *range(len(group.members), 0, -1))
        return np.asarray(found.transpose(last_first).reshape(len(found), -1))
    chance, members = _chances(network, group, validate=validate)
    return np.asarray((chance[0][:, None] @ _products(members[0]))[:, 0])


def _products(members: Array) -> Array:
    """The chances of all subsets from those of each member: their last two axes become one."""
    weights: Array = np.ones((*members.shape[:2], 1))
    for p in np.moveaxis(members, 2, 0):
        weights = np.concatenate([weights * p[..., :1], weights * p[..., 1:]], axis=-1)
    return weights


def _above_members(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any],
    group: Group,
    columns: Mapping[str, Any],
    *,
    validate: bool = True,
) -> Network | None:
    """The members and all that leads to them; None where any of that is given, or not there."""
    names = attack.upstream(group.members)
    if {*query.given} & (names - {*group.members}):
        return None
    try:
        network = Lowering(attack, settings, nodes=names, validate=validate).network(columns)
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
    chance, members = _chances(network, group)
    return chance[:, 0], members[:, 0]


def _chances(network: Network, group: Group, *, validate: bool = True) -> tuple[Array, Array]:
    """`member_chances` at every setting: subject x setting x o, and so on."""
    factors = [network.factors[m] for m in group.members]
    outside = tuple(p for p in group.parents if any(p in f.parents for f in factors))
    chance: Array = np.ones((1, 1, 1))
    if outside:
        known = exact.Plan(outside, {}).joint(network, check=validate)
        chance = known.reshape(*known.shape[:2], -1)
    shape = [network.size(p) for p in outside]
    members = []
    for f in factors:
        table = batched(f.table, (*f.parents, f.child)).ordered(
            [SUBJECT, SETTING, *outside, f.child]
        )
        full = np.broadcast_to(table, (*table.shape[:2], *shape, 2))
        members.append(full.reshape(*full.shape[:2], chance.shape[2], 2))
    return chance, np.stack(np.broadcast_arrays(*members), axis=3)


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
        top, given = _joint(attack, query, settings, own)[:, 0]
        if not (np.abs(top / given - risks[name][some]) <= AGREES).all():
            return False
    return True


# -- what-ifs --------------------------------------------------------------------------------------


class SummedPeople:
    """The people of an assessment, for what-ifs: sums at any settings, and no table of them all."""

    def __init__(
        self, classes: SubsetClasses, population: SubsetPopulation | None, table: SubjectTable
    ) -> None:
        self.subjects = table.subjects
        self._sums, self._table = Sums(classes, population), table
        self.kinds = int(self._sums.sizes.size)
        self._means = Means(classes, population, self._sums.sizes)
        self._people: tuple[Attack | None, Any] = None, None

    def joint(
        self,
        attack: Attack,
        query: Query,
        settings: Mapping[str, Any],
        *,
        validate: bool,
        averaged: bool,
    ) -> tuple[Array, Array] | None:
        """P(wanted, given) and P(given), subject x setting; None where these are no such sums."""
        classes, population = self._sums.classes, self._sums.population
        shape = self._shape(attack)
        if shape is None:
            return None
        group, constant = shape
        found = as_sums(attack, query, settings, group, self._sums.sizes, classes.records,
                        constant, validate=validate)  # fmt: skip
        if found is None:
            return None
        count = min(COMPARED, classes.rows)
        some = np.sort(np.random.default_rng(0).choice(classes.rows, count, replace=False))
        if self._people[0] is not attack:
            self._people = attack, _columns_of(some, attack, classes, population, constant)
        columns = self._people[1]
        wanted = _joint(attack, query, settings, columns, validate=validate)
        parts = [[top for top, _ in found], [below for _, below in found if below is not None]]
        made = self._means if averaged and self._means.are_known else self._sums
        out = [np.stack(made.values(part)) if part else np.ones((1, 1)) for part in parts]
        for told, part, true in zip(out, parts, wanted, strict=True):
            if not part:
                continue
            mine = told[:, some] if made is self._sums else self._one_by_one(part, columns)
            if not (np.abs(mine - true) <= AGREES * _scale(true)).all():
                return None
        if made is self._sums and averaged:
            counts = self._table.counts
            out = [np.average(told, axis=1, weights=counts)[:, None] for told in out]
        return out[0].T, out[1].T

    def _one_by_one(self, sums: Sequence[SubsetSum], columns: Mapping[str, Any]) -> Array:
        """The sums of some rows, from all their class sizes: setting x row."""
        sizes = np.asarray(columns[CLASS_SIZE])
        at, unique = np.searchsorted(self._sums.sizes, sizes), columns.get(P_UNIQUE, 0.0)
        alone = (sizes == 1) * unique
        return np.stack([(s.base[at] + s.gain * alone) @ s.weights for s in sums])

    def checked(self, attack: Attack, settings: Mapping[str, Any], nodes: set[str]) -> bool:
        """Raise what is wrong with the tables of these nodes; False where that is not known here.

        All class sizes that occur are looked at, with anybody's chance to be unique.
        """
        shape = self._shape(attack)
        if shape is None:
            return False
        group, constant = shape
        sizes, records = self._sums.sizes, self._sums.classes.records
        try:
            one, told, columns = _seen_whole(attack, group, settings, sizes, records, constant)
        except (ModelError, UsageError):
            return False
        Lowering(attack, settings, nodes=nodes & {*group.members}).network(constant)
        for u in (0.0, 1.0):
            Lowering(one, told, nodes=nodes - {*group.members}).network(columns(u))
        return True

    def _shape(self, attack: Attack) -> tuple[Group, dict[str, Any]] | None:
        if {*attack.subject} - {*self._table.columns}:
            return None
        return shape_of(attack, self._sums.classes, self._table)


def summed_people(
    classes: SubsetClasses, population: SubsetPopulation | None, table: SubjectTable
) -> SummedPeople | None:
    """What-ifs of people so many that their risks are summed; None for fewer."""
    can = population is None or population.can_sum
    if classes.distinct is None or not (can and are_many(classes)):
        return None
    return SummedPeople(classes, population, table)
