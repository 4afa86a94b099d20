"""The best releases for the rule of a report, found by themselves where that takes no time.

A report that stays in the house sets them beside the table as it is, each assessed.  One that
leaves tells which releases keep the rule, with nobody left out, and no number of any: that a
coarser table keeps the rule says no more than the report's own changes of one column do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np

from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.subject_data import stands_on_the_table
from reidbn.errors import DataError, UsageError
from reidbn.microdata.proposed import propose_hierarchies, steps_of
from reidbn.microdata.table import People
from reidbn.plans.nodes import Looked
from reidbn.plans.plan import ReleasePlan
from reidbn.plans.recommend import recommend
from reidbn.plans.ways import options_of
from reidbn.release.counts import BASE
from reidbn.report.thresholds import Rule

SPARED = 0.02  # of the people, whom a search for other releases may leave out
BEST = 3
MOST_ON_CLASSES = 100_000_000  # people times ways, where so many alike are looked for by themselves
MOST_ON_RISKS = 50_000_000  # people times sets of what may be known times ways
MOST_NAMED = 1_024  # ways that are all looked at for a page that leaves the house
MOST_ASSESSED = 2_000_000  # people times sets of what may be known, in a release that is assessed


@dataclass(frozen=True, eq=False)
class Beside:
    """Releases that keep a rule; in the house those that lose least first."""

    names: list[str] = field(default_factory=list)
    results: dict[str, Assessment] = field(default_factory=dict)
    """Their assessments, for a copy that stays in the house."""
    proposed: dict[str, str] = field(default_factory=dict)
    """Of columns for which a hierarchy was proposed, what it makes of a value; the house's own."""
    said: str = ""
    """What proves the best one, or why there is none; the house's own."""
    by: str = ""
    """What the loss is measured by that they stand in the order of."""


def best_beside(
    result: Assessment, rule: Rule, *, custodian: bool, seconds: float | None = None
) -> Beside:
    """The best three releases for the rule; without `seconds` only where they are found at once.

    None is named where a table or an attack is of a kind for which nothing is searched.
    """
    people = result.inputs.people
    if not _can_be_searched(result):
        return Beside()
    proposed = propose_hierarchies(people) if custodian else {}
    if seconds is None and not _is_quick(result, rule, proposed):
        return Beside()
    if not custodian:
        if not (rule.on_classes and rule.is_public):
            return Beside()
        try:
            plan = recommend(people, target=rule.targets)
        except (DataError, UsageError):
            return Beside()
        names = [plan.named(one) for one in _finest(plan) if _leaves_open(plan, one)]
        return Beside(names[:BEST])
    try:
        plan = _planned(result, rule, proposed, seconds)
    except (DataError, UsageError) as problem:
        return Beside(said=str(problem))
    found = plan.assessed(BEST, of=result if rule.on_classes else None)
    steps = {name: steps_of(people, name, ladder) for name, ladder in proposed.items()}
    return Beside([*found], found, steps, str(plan.certificate), plan.loss_told)


def _finest(plan: ReleasePlan) -> list[Looked]:
    """The ways that keep the rule and are not a coarser one of another; none where they are many.

    All of them, in the order of columns: which ones a search counts, and which loses least, hangs
    on how many people have each value, and a name that leaves the house tells nothing of that.
    """
    found: list[Looked] = []
    shape = plan._table.ways.shape
    if prod(shape) > MOST_NAMED:
        return []
    for node in sorted(product(*map(range, shape)), key=lambda node: (sum(node), node)):
        if any(np.greater_equal(node, other.node).all() for other in found):
            continue
        one = plan._table.look(node)
        if one.keeps and one.left_out is not None and not one.left_out.any():
            found.append(one)
    return found


def _leaves_open(plan: ReleasePlan, one: Looked) -> bool:
    """Whether a name outwards leaves every count of people who are like too few as it was.

    Where what is dropped has more combinations of values than there can be classes of them, all of
    these may have been merged with a single class; else it is told how few a class can hold.
    Values that fewer than ten people have do not count: nothing else tells how many there are.
    """
    few = int((plan.people.class_sizes() < plan.targets[0].k).sum())
    options = zip(plan._table.options, one.node, strict=True)
    merged = (np.bincount(o.codes[place][o.counts >= BASE]) for o, place in options)
    return prod(int(many.max(initial=1)) for many in merged) > few // 10 * 10 + 10


def _can_be_searched(result: Assessment) -> bool:
    inputs = result.inputs
    plain = type(inputs.people) is People and inputs.people.history is None
    whole = inputs.individuals is None and inputs.method == "exact"
    counts = any(stands_on_the_table(inputs.attack, name) for name in inputs.subject)
    return plain and whole and not (counts or inputs.people.emptied)


def _is_quick(result: Assessment, rule: Rule, proposed: dict[str, Any]) -> bool:
    people, groups = result.inputs.people, len(result.groups.columns)
    ways = prod(len(option.levels) for option in options_of(people, proposed))
    known = len(people) << groups
    if known > MOST_ASSESSED:
        return False
    if rule.on_classes:
        return len(people) * ways <= MOST_ON_CLASSES
    return known * ways <= MOST_ON_RISKS


def _planned(
    result: Assessment, rule: Rule, proposed: dict[str, Any], seconds: float | None
) -> ReleasePlan:
    inputs = result.inputs
    asked: dict[str, Any] = {}
    if not rule.on_classes:
        asked = {
            "attack": inputs.attack, "scenario": inputs.scenario, "population": inputs.population,
            "population_model": inputs.population_model, "set": inputs.said, "do": inputs.do,
            "given": inputs.given, "columns": inputs.columns, "without": inputs.without,
            "unknown": inputs.unknown, "beyond_range": inputs.beyond_range,
            "subject": inputs.subject,
        }  # fmt: skip
    return recommend(
        inputs.people, target=rule.targets, hierarchies=proposed,
        suppress_at_most=SPARED, seconds=seconds, **{k: v for k, v in asked.items() if v},
    )  # fmt: skip
