"""The register of an assessment: every number that somebody chose, with its source.

The one place that counts assumptions: the verdict, the register of the report and the picture of
the attack all say what this says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reidbn.attack.assumptions import DERIVED, is_assumption
from reidbn.attack.numbers import is_assumed
from reidbn.attack.scenario import ByPerson, Chance, FactLookup, Listed, Profile
from reidbn.attack.scenariofile import told_name
from reidbn.attacks.routes.assessment import Assessment

BY_PERSON = "differs by person"


@dataclass(frozen=True)
class Entry:
    """One number, or one table of numbers."""

    name: str
    what: str
    value: str
    range: str
    source: str

    @property
    def is_assumption(self) -> bool:
        return is_assumption(self.source)


def register(result: Assessment) -> tuple[Entry, ...]:
    """Parameters, what is known of whom, who attacks, and the tables of nodes."""
    return tuple(_entries(result))


def assumed(result: Assessment, measure: str | None = None) -> tuple[str, ...]:
    """Names of the entries that are assumptions, in whole or in part; of those behind a measure."""
    found = tuple(entry.name for entry in register(result) if entry.is_assumption)
    if measure is None:
        return found
    members = {placed.label: placed.member for placed in result.groups.placed}
    every = set() if result.attack.groups else {*members}  # told by columns, so behind all
    if measure not in result.questions:  # journalist_match: what is known, and who fits
        parent = result.groups.parent
        known = {*members, *({parent.node} if parent else ())}
        return tuple(name for name in found if name in known)
    case = result.whatif_case(measure)
    return tuple(
        name
        for name in found
        if name in every
        or members.get(name, name) in case.relevant
        or ((name in case.parameters or name in case.attack.numbers) and case.matters(name))
        or (name in case.attack.utilities and case.decides)
    )


def story(result: Assessment) -> tuple[str, str]:
    """The stories of the attack and of the scenario; what the model assumes is in the register.

    A scenario may say something else of it, so that "Assumed: ..." at a story's end is left out.
    """
    scenario = result.inputs.scenario
    of_scenario = f"Scenario {told_name(scenario)}: {scenario.story}".removesuffix(": ")
    return result.attack.story.partition(" Assumed:")[0], of_scenario


def _entries(result: Assessment) -> Iterator[Entry]:
    parent = result.inputs.scenario.knows.parent if result.inputs.scenario.knows else None
    told = {m for group in result.attack.groups.values() if group.own for m in group.members}
    known = {f"p_{placed.member}" for placed in result.groups.placed if placed.member not in told}
    known |= {f"p_{parent.node}"} if parent else set()
    for p in result.attack.parameters.values():
        if p.name not in known:
            low, high = p.range
            value = result.inputs.set.get(p.name, result.inputs.scenario.set.get(p.name, p.value))
            what = f"{p.story or p.name} ({p.name})"
            source = _source(result, p.name, p.value, p.source)
            yield Entry(p.name, what, f"{value:g} {p.unit}", f"{low:g} to {high:g}", source)
    yield from _derived(result)
    for placed in result.groups.placed:
        flat = np.ravel(placed.p)
        own = f"p_{placed.member}" in known
        chance = result.inputs.set.get(f"p_{placed.member}", flat[0]) if own else flat[0]
        text = f"{chance:g}" if flat.size == 1 else BY_PERSON
        what = f"The attacker knows {placed.label}"
        source = placed.source
        if own:
            source = _source(result, f"p_{placed.member}", float(flat[0]), placed.source)
        yield Entry(placed.label, what, text, "0 to 1", source)
    if isinstance(parent, Listed):
        what = f"The person is in the source that the attacker looks at ({parent.node})"
        one = result.attack.parameters.get(f"p_{parent.node}")
        text, source = _text(parent.chance), parent.source
        if one is not None and one.name in result.inputs.set:
            text = f"{result.inputs.set[one.name]:g}"
            source = _source(result, one.name, one.value, source)
        yield Entry(parent.node, what, text, "0 to 1", source)
    if isinstance(parent, Profile):
        shares = ", ".join(f"{k} {v:g}" for k, v in parent.weights.items())
        yield Entry(parent.node, "Who is attacking", shares, "fixed", parent.source)
    for utility in result.attack.utilities.values():
        if utility.source:
            what = utility.story or utility.name
            yield Entry(utility.name, what, f"in {utility.unit}", "fixed", utility.source)
    for node in result.attack.nodes.values():
        if node.source and not (parent and node.name == parent.node):
            yield Entry(
                node.name, node.story or node.name, "table of the node", "fixed", node.source
            )


def _derived(result: Assessment) -> Iterator[Entry]:
    """What follows from other numbers, and whose word the numbers in its formula are."""
    for number in result.attack.numbers.values():
        text, model = BY_PERSON, 0.0
        if number.name in result.attack.settable:
            text = f"{result._case().base(number.name):g}"
            model = result.attack.settable[number.name].value
        said = number.source or ("assumption: a number in it" if is_assumed(number) else "")
        source = "; ".join(filter(None, [f"{DERIVED}{number.formula}", said]))
        unit = result.attack.derived.units[number.name]
        yield Entry(
            number.name,
            f"{number.story or number.name} ({number.name})",
            f"{text} {unit}".strip(),
            "follows",
            _source(result, number.name, model, source),
        )


def _source(result: Assessment, name: str, own: float, source: str) -> str:
    """The source of a parameter's value; that of the model holds for the model's value alone."""
    inputs = result.inputs
    if inputs.set.get(name, own) == own:
        return source
    if name in inputs.said:
        return f"assumption: set for this assessment in place of {own:g}"
    scenario = inputs.scenario
    where = f"scenario {scenario.name}, in place of {own:g}"
    return f"{where}: {scenario.source}" if scenario.source else f"assumption: set by {where}"


def _text(chance: Chance) -> str:
    """The factors of a chance, as they are written."""
    return " x ".join(
        f"{f.column} of the scenario's table {f.table}, by {', '.join(f.by)}"
        if isinstance(f, FactLookup)
        else BY_PERSON
        if isinstance(f, ByPerson)
        else f"{f:g}"
        for f in chance
    )
