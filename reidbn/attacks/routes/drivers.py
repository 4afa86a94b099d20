"""What each group adds to everybody's risk, over all sets of groups in one pass.

Of a person the attack sees the class of what is known, and nothing else (summed.py):

    v(S) = sum_Y P(Y) g(size on Y and S, P(unique) on Y and S)                               (1)

is the risk when only groups in S can be known, since what never is known falls out of Y.  So every
v, and every Shapley value, is a weighted sum of one row of numbers per person, g on each subset;
the chances P(Y) may be everybody's, or each person's own.

What drives the risk: which attribute group adds most, and through which route.

The worth v(S) of a set S of groups is the mean risk when the other groups are never known (they
are set to "no").  A group's contribution is its Shapley value,

    phi_j = sum over S without j of |S|! (b-|S|-1)! / b!  (v(S + j) - v(S))

exact where all 2^b sets can be asked; otherwise leave-one-out, v(all) - v(all but j).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.events import EVERYTHING_SURE
from reidbn.attack.parts import Node, parse_states
from reidbn.attacks.routes.assess import run
from reidbn.attacks.routes.assessment import OVERALL, Assessment
from reidbn.attacks.routes.blocks import risks
from reidbn.attacks.routes.counts import SubsetClasses
from reidbn.attacks.routes.following import by_what_is_known
from reidbn.attacks.routes.placing import WITH_GROUP
from reidbn.attacks.routes.subject_data import CLASS_SIZE, P_UNIQUE, SubjectTable
from reidbn.attacks.routes.summed import (
    Array,
    agrees,
    curves,
    member_chances,
    shape_by_person,
    summed,
)
from reidbn.calls import typed
from reidbn.cpds.protocol import NO, YES
from reidbn.errors import ImpossibleEvidence, UsageError
from reidbn.inference.answers import joint
from reidbn.inference.policies import reckoned_with
from reidbn.inference.query import Query
from reidbn.microdata.tallied import TalliedPeople
from reidbn.progress import progress

if TYPE_CHECKING:
    import pandas as pd


FEW = 64  # people in whom it is looked at what is a route
IN_CACHE = 1 << 20  # person x subset cells at a time


def shapley_values(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    classes: SubsetClasses,
    table: SubjectTable,
) -> tuple[Array, Array] | None:
    """Each group's Shapley value, subject x group, and the risk where nothing is known.

    None for attacks of another shape, and where the exact engine says otherwise of some people.
    """
    found = None if query.given else shape_by_person(attack, table)
    if found is None or {*query.targets} & attack.upstream(found[0].members):
        return None
    group, constant, own = found
    sizes = np.unique(np.concatenate(classes.occurring))
    some = {n: np.ones((1, 1)) if attack.subject[n].each else table.columns[n][:1] for n in own}
    told = curves(
        attack, query, settings, group, sizes, classes.records, {**constant, **some}
    )  # a class is all that g sees, whoever is meant
    if told is None:
        return None
    base, gain = told[0][0, 0], told[1][0, 0]
    b = len(group.members)
    half = sum(1 << j for j in range(0, b, 2))
    wanted = np.column_stack((_shares(b), np.eye(1 << b)[:, [0, half, -1]]))
    out = np.empty((table.subjects, b + 3))
    everybody: tuple[Array, Array] | None = None
    if not own:
        everybody = member_chances(attack, query, settings, group, constant)
        if everybody is None:
            return None
        wanted = _known_back(wanted, *everybody)
    step = max(1, IN_CACHE >> b)
    for start in progress(range(0, table.subjects, step), "what each attribute adds"):
        part = slice(start, min(start + step, table.subjects))
        columns = table.block(part)
        alike = np.asarray(columns[CLASS_SIZE], dtype=np.int64)
        values = base[np.searchsorted(sizes, alike)]
        if gain and P_UNIQUE in columns:
            values = values + gain * (alike == 1) * columns[P_UNIQUE]
        if everybody is None:
            chances = member_chances(attack, query, settings, group, columns)
            if chances is None:
                return None
            values = _known_at_most(values, *chances)
        out[part] = values @ wanted
    never = {m: NO for j, m in enumerate(group.members) if not half >> j & 1}
    asked = {
        "half": Query(query.targets, query.wanted, {}, {**query.do, **never}),
        "all": query,
    }
    said = {"half": out[:, b + 1], "all": out[:, b + 2]}
    if not agrees(attack, asked, settings, table.of_subjects, said):
        return None
    return out[:, :b], out[:, b]


def _known_at_most(values: Array, chance: Array, members: Array) -> Array:
    """v(S) of (1) for every set S, from g on every subset: person x set.

    Given the state of the group's parents members are known independently, so that

        v(S + j) = P(not j) v(S) + P(j) v(S with j known),

    member after member: b sums of 2^b numbers in place of the 3^b pairs of Y and S.
    """
    found = np.zeros_like(values)
    for o in range(chance.shape[1]):
        told = values.copy()
        for j in range(members.shape[2]):
            pair = told.reshape(len(told), -1, 2, 1 << j)
            no, yes = (members[:, o, j, k][:, None, None] for k in (0, 1))
            pair[:, :, 1] = no * pair[:, :, 0] + yes * pair[:, :, 1]
        found += chance[:, o][:, None] * told
    return found


def _known_back(wanted: Array, chance: Array, members: Array) -> Array:
    """The same sums taken back to g where all have the same chances: subset x what is wanted."""
    found = np.zeros_like(wanted)
    for o in range(chance.shape[1]):
        told = wanted.copy()
        for j in range(members.shape[2]):
            pair = told.reshape(-1, 2, 1 << j, told.shape[1])
            pair[:, 0] += members[0, o, j, 0] * pair[:, 1]
            pair[:, 1] *= members[0, o, j, 1]
        found += chance[0, o] * told
    return found


def _shares(b: int) -> Array:
    """How much v(S) counts in the Shapley value of each group: set S x group."""
    found = np.zeros((1 << b, b))
    for s in range(1 << b):
        for j in range(b):
            if not s >> j & 1:
                size = s.bit_count()
                weight = factorial(size) * factorial(b - size - 1) / factorial(b)
                found[s | 1 << j, j] += weight
                found[s, j] -= weight
    return found


# -- what drives the risk --------------------------------------------------------------------------


MOST_CELLS = 200_000_000  # subject x subset cells that the exact Shapley values may visit
MOST_APART, CELLS_APART = 12, 20_000_000  # groups, and subject x subset cells, told apart
SHAPLEY, LEAVE_ONE_OUT = "exact Shapley value", "leave-one-out"


@dataclass(frozen=True, eq=False)
class Drivers:
    """Contribution of every group to every distinct subject's risk."""

    measure: str
    method: str
    labels: tuple[str, ...]
    by_subject: Array  # subjects x groups
    counts: Array
    nothing: float  # mean risk when nothing is known

    def __post_init__(self) -> None:
        """What is no more than rounding is nothing: a column that all share adds nothing."""
        size = np.abs(self.by_subject)
        dust = size <= 1e-14 * size.sum(axis=1, keepdims=True)
        object.__setattr__(self, "by_subject", np.where(dust, 0.0, self.by_subject))

    @property
    def mean(self) -> Array:
        """Contribution of each group to the mean risk over people."""
        return np.asarray(np.average(self.by_subject, axis=0, weights=self.counts))

    def table(self) -> pd.DataFrame:
        """One row per group, the largest contribution first."""
        import pandas as pd

        table = pd.DataFrame({"group": self.labels, "contribution": self.mean})
        table["method"] = self.method
        return table.sort_values("contribution", ascending=False, ignore_index=True)

    def __str__(self) -> str:
        rows = self.table()[["group", "contribution"]].itertuples(index=False)
        lines = [f"What adds most to the mean {self.measure} risk ({self.method}):"]
        return "\n".join(lines + [f"  {group:24}{adds:10.4g}" for group, adds in rows])

    __repr__ = __str__


@typed
def drivers(result: Assessment, measure: str = OVERALL) -> Drivers:
    """How much each attribute group adds to the risk.

    `result` is the assessment; `measure` the risk that is taken apart.  Groups that are known for
    sure are one member of the attack; here they are told apart where
    that leaves few enough subsets.
    """
    result.risk(measure)  # refuses one that is not there
    result.refuse_simulated("what each attribute adds")
    if not result.attack.groups:
        raise UsageError(
            f"{result.attack.name} has no group of attributes, so what each of them adds cannot be "
            f"told; assess {WITH_GROUP}"
        )
    if any(p.member == EVERYTHING_SURE for p in result.groups.placed) and can_part(result):
        parted = run(replace(result.inputs, apart=True, method="exact", checkpoint=None))
        found = drivers(parted, measure)
        _, first = np.unique(result.subject_table.of_person, return_index=True)
        by_subject = found.by_subject[parted.subject_table.of_person[first]]
        return replace(
            found, by_subject=by_subject, counts=result.subject_table.counts.astype(float)
        )
    b = len(result.groups.placed)
    exact = 3**b * result.subject_table.subjects <= MOST_CELLS
    at_once = _at_once(result, measure) if exact else None
    if at_once is not None:
        return at_once
    everything = (1 << b) - 1
    asked = range(1 << b) if exact else [everything, *(everything ^ (1 << j) for j in range(b))]
    try:
        worths = {
            s: worth(result, measure, s) for s in progress(list(asked), "what each attribute adds")
        }
    except ImpossibleEvidence:
        known = ", ".join(result.questions[measure].known)
        raise ImpossibleEvidence(
            f"what each attribute adds is not told: the {measure.replace('_', ' ')} risk is given "
            f"{known}, which cannot be where less is known"
        ) from None
    if exact:
        shares = np.stack([_shapley(worths, j, b) for j in range(b)], axis=1)
        nothing = float(np.average(worths[0], weights=result.subject_table.counts))
    else:
        shares = np.stack([worths[everything] - worths[everything ^ (1 << j)] for j in range(b)], 1)
        nothing = float("nan")
    labels = tuple(p.label for p in result.groups.placed)
    method = _kept(result, measure, SHAPLEY if exact else LEAVE_ONE_OUT)
    return Drivers(
        measure, method, labels, shares, result.subject_table.counts.astype(float), nothing
    )


def _at_once(result: Assessment, measure: str) -> Drivers | None:
    """Shapley values in one pass, for attacks that allow it."""
    counts = result.subject_table.counts.astype(float)
    found = shapley_values(
        result.attack, result.questions[measure], result.inputs.set, result.classes,
        result.subject_table,
    )  # fmt: skip
    if found is None:
        return None
    shares, nothing = found
    labels = tuple(p.label for p in result.groups.placed)
    return Drivers(
        measure, _kept(result, measure, SHAPLEY), labels, shares, counts,
        float(np.average(nothing, weights=counts)),
    )  # fmt: skip


def _kept(result: Assessment, measure: str, method: str) -> str:
    """How it is told: an attacker who decides does so anew where less can be known.

    What the question says is known of a group goes where that group is taken away.
    """
    query, members = result.questions[measure], {p.member for p in result.groups.placed}
    said = [f"{node}={state}" for node, state in {**query.given, **query.do}.items()
            if node in members]  # fmt: skip
    if said:
        method += f"; where less is known {' and '.join(said)} is taken away, too"
    return f"{method}, the attacker deciding anew" if result.attack.decisions else method


def can_part(result: Assessment) -> bool:
    """Few enough groups and people for every sure group to be a member of its own.

    Numbers of the call that people have by what is known are of all that is sure together.
    """
    if any(by_what_is_known(result.attack, name) for name in result.inputs.subject):
        return False
    groups = sum(len(p.columns) if p.member == EVERYTHING_SURE else 1 for p in result.groups.placed)
    return groups <= MOST_APART and result.subject_table.subjects << groups <= CELLS_APART


def worth(result: Assessment, measure: str, known: int) -> Array:
    """The risk of every distinct subject when only the groups in `known` can be known.

    A group set to no is also given as no: its evidence has probability 1 and halves the subsets.
    """
    query = result.questions[measure]
    never = {p.member: NO for j, p in enumerate(result.groups.placed) if not known >> j & 1}
    changed = Query(query.targets, query.wanted, {**query.given, **never}, {**query.do, **never})
    return risk_of(result, changed, never)


def risk_of(result: Assessment, query: Query, expected: Mapping[str, str] | None = None) -> Array:
    """The answer to a question for every distinct subject; an attacker reckons with `expected`."""
    if expected and result.attack.decisions:
        attack = reckoned_with(result.attack, expected)
        return risks(attack, query, result.inputs.set, result.subject_table)
    if not result.subject_table.is_kept:
        found = summed(
            result.attack, {OVERALL: query}, result.inputs.set, result.classes, result.population,
            result.subject_table,
        )  # fmt: skip
        if found is not None and OVERALL in found:
            return found[OVERALL]
    return risks(result.attack, query, result.inputs.set, result.subject_table)


def _shapley(worth: dict[int, Array], j: int, b: int) -> Array:
    total = np.zeros_like(worth[0])
    for s in range(1 << b):
        if not s >> j & 1:
            size = s.bit_count()
            weight = factorial(size) * factorial(b - size - 1) / factorial(b)
            total = total + weight * (worth[s | 1 << j] - worth[s])
    return total


def routes(result: Assessment, measure: str = OVERALL) -> pd.DataFrame:
    """Per person, P(route succeeds) for every yes/no parent that brings the event about alone."""
    import pandas as pd

    if isinstance(result.table, TalliedPeople):
        raise UsageError(
            "routes are told person by person, and these people were counted as cells: read them "
            "with rb.read_table"
        )
    query = result.questions[measure]
    data = {}
    for name in route_names(result, measure):
        asked = Query((name,), {name: YES}, query.given, query.do)
        data[name] = risk_of(result, asked)[result.subject_table.of_person]
    return pd.DataFrame(data, index=result.subjects.index)


def route_names(result: Assessment, measure: str) -> list[str]:
    """The routes to the measure's event: yes/no parents that can each bring it about alone."""
    names, alone = _parents(result, measure)
    return [name for name in names if name in alone]


def step_names(result: Assessment, measure: str) -> list[str]:
    """The yes/no parents of the measure's event of which none brings it about by itself."""
    names, alone = _parents(result, measure)
    return [name for name in names if name not in alone]


def _parents(result: Assessment, measure: str) -> tuple[list[str], set[str]]:
    """The yes/no parents of the measure's event, and which of them make it likelier by themselves.

    Looked at in a few people with all of them brought about: nothing else bears on it then.
    """
    query, attack = result.questions[measure], result.attack
    target = _through_the_scenario(result, attack.all_nodes[query.targets[0]])
    names = [p for p in target.parents if p in attack.nodes
             and set(attack.nodes[p].states) == {NO, YES}]  # fmt: skip
    if not names or YES not in target.states:
        return names, {*names}
    table = result.subject_table
    few = table.of_subjects(np.arange(min(table.subjects, FEW)))
    none = dict.fromkeys(names, NO)

    def chance(yes: Mapping[str, str]) -> Array:
        asked = Query((target.name,), {}, {}, {**query.do, **none, **yes})
        found = joint(attack, asked, result.inputs.set, few, alone=True)
        return np.asarray(found[..., target.states.index(YES)])

    least = chance({})
    return names, {name for name in names if (chance({name: YES}) > least).any()}


def beside_routes(result: Assessment, measure: str) -> list[str]:
    """What a scenario asks for besides the routes' own event: no route has it in it."""
    target = result.attack.all_nodes[result.questions[measure].targets[0]]
    own = _through_the_scenario(result, target)
    return [] if own is target else [p for p in target.parents if p != own.name]


def _through_the_scenario(result: Assessment, target: Node) -> Node:
    """The attack's own event where a scenario put its own on top of it."""
    main = result.inputs.attack.main_question
    own = parse_states(main.target) if main is not None and main.is_plain else {}
    below = [p for p in target.parents if p in own and p in result.attack.nodes]
    return result.attack.nodes[below[0]] if below and target.name not in own else target


def most_exposed(
    result: Assessment, count: int = 10, measure: str = OVERALL, found: Drivers | None = None
) -> pd.DataFrame:
    """The people with the highest risk, each with the main route and the main attribute group.

    Without a column for the group where the attack has none, and where what each of them adds
    cannot be told.
    """
    if found is None and result.attack.groups:
        with suppress(ImpossibleEvidence):
            found = drivers(result, measure)
    table = result.most_at_risk(count, measure).copy()
    through = routes(result, measure).loc[table.index]
    if len(through.columns):
        table["main_route"] = through.idxmax(axis=1)
    if found is None:
        return table
    first = np.argsort(-result.risk(measure), kind="stable")[:count]
    rows = result.subject_table.of_person[first]
    table["main_group"] = [found.labels[int(j)] for j in found.by_subject[rows].argmax(axis=1)]
    return table
