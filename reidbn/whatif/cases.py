"""What can be varied: an attack with a question, or anything that brings its own.

An object with a method `whatif_case()` (an assessment, say) answers with its `Asked`: attack,
question, settings and subjects.  Nothing else needs to be known of it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.scenario import Scenario
from reidbn.attacks.routes.assessment import OVERALL, Assessment
from reidbn.attacks.routes.drawn import say as say_drawn
from reidbn.errors import UsageError
from reidbn.inference.asked import Asked, make_case
from reidbn.inference.query import Scale

NINE_DIGITS = 1e-8  # of a number: it and itself in nine digits are no further apart
Target = str | Mapping[str, str]


@runtime_checkable
class BringsCase(Protocol):
    """A result that knows its own attack, question and subjects."""

    def whatif_case(self) -> Asked: ...


What = Attack | str | BringsCase | Asked


def brings_case(what: object) -> bool:
    return isinstance(what, Asked | BringsCase)


def case_of(
    what: What,
    target: Target | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    beyond_range: bool = False,
    means: bool = False,
) -> Asked:
    """The case to vary; an attack needs a target: "identified=yes", or a question's name.

    `means` is said by who can vary the mean of a number as well as a probability.
    """
    case = _case(what, target, given, do, set, subject, beyond_range=beyond_range)
    if case.query.scale is not None and not means:
        raise UsageError(
            f"{case.query.describe()} is a mean, and this takes probabilities: ask for an event, "
            f"such as {case.query.scale.of}>=1, or use ask, expect, sweep, tornado, solve, sobol, "
            f"uncertainty or derivatives"
        )
    return case


def _case(
    what: What,
    target: Target | None,
    given: Mapping[str, Any] | None,
    do: Mapping[str, Any] | None,
    set: Mapping[str, Any] | None,
    subject: Mapping[str, Any] | None,
    *,
    beyond_range: bool,
) -> Asked:
    if isinstance(what, Attack | str):
        return make_case(what, target, given=given, do=do, set=set,
                         subject=subject, beyond_range=beyond_range)  # fmt: skip
    if not brings_case(what):
        raise UsageError(
            f"a {type(what).__name__} cannot be varied: "
            f"give an attack, the name of a model, or an assessment"
        )
    case: Asked = what if isinstance(what, Asked) else what.whatif_case()
    if isinstance(what, Assessment):
        say_drawn(what)
    case = replace(case, beyond_range=case.beyond_range or beyond_range)
    if subject is not None:
        raise UsageError("this result brings its own subjects: leave subject= out")
    is_name = isinstance(target, str) and target == OVERALL  # as the summary calls its question
    own = is_name and isinstance(what, Assessment)
    if target is not None and not (own and OVERALL not in case.attack.all_nodes):
        other = make_case(case.attack, target, given=case.laid, do=case.query.do,
                          beyond_range=case.beyond_range, set=case.settings)  # fmt: skip
        case = replace(case, attack=other.attack, query=other.query)  # its people and settings
    return case.at(set or {}).asked(given=given, do=do)


@dataclass(frozen=True)
class Change:
    """A named change: parameters set, evidence given, interventions done."""

    name: str
    set: Mapping[str, float] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    do: Mapping[str, Any] = field(default_factory=dict)
    scenario: Scenario | None = None  # where it comes from, when that changes the attack as well

    def on(self, case: Asked) -> Asked:
        """The case after the change."""
        if self.scenario is not None:
            case = replace(case, attack=self.scenario.on(case.attack))
        return case.at(self.set).asked(given=self.given, do=self.do)


def change(thing: Any, name: str = "") -> Change:
    """A change: a scenario or its name, {"set": ..., "given": ..., "do": ...}, {parameter: value}.

    >>> change({"p_c": 0.2}, "careful")
    Change(name='careful', set={'p_c': 0.2}, given={}, do={}, scenario=None)
    """
    if isinstance(thing, Change):
        return thing
    if isinstance(thing, str):
        from reidbn.attack.scenariofile import load_scenario

        thing = load_scenario(thing)
    if isinstance(thing, Scenario):
        return _from_scenario(thing)
    if not isinstance(thing, Mapping):
        raise UsageError(
            f"{thing!r:.40} is no change: use a scenario, or a mapping such as "
            f'{{"set": {{"p_c": 0.2}}, "do": {{"claims": "no"}}}}'
        )
    content = dict(thing)
    name = str(content.pop("name", name))
    if set(content) <= {"set", "given", "do"}:
        parts = {part: dict(content.get(part) or {}) for part in ("set", "given", "do")}
        return Change(name, set=parts["set"], given=parts["given"], do=parts["do"])
    return Change(name, content)


def _from_scenario(scenario: Scenario) -> Change:
    scenario = scenario.without_people()
    adds = scenario.parameters or scenario.nodes or scenario.questions
    return Change(scenario.name, dict(scenario.set), dict(scenario.given), dict(scenario.do),
                  scenario if adds else None)  # fmt: skip


def check_mean(scale: Scale, statistic: str, level: float | None, name: str) -> float | None:
    """A level of a mean as a share of its range; what cannot be said of means is refused."""
    if statistic.startswith("above"):
        raise UsageError(f'statistic="{statistic}" counts risks; a mean takes mean, median, max')
    if level is None:
        return None
    is_number = isinstance(level, int | float | np.number) and not isinstance(level, bool)
    if not is_number or not scale.low <= level <= scale.high:
        raise UsageError(
            f"{name}={level}: {scale.of} lies between {scale.low:g} and {scale.high:g}"
        )
    return scale.share(float(level))


def outside(name: str, value: float, low: float, high: float) -> tuple[str, ...]:
    """What to say of a value that a parameter has and its range does not hold.

    An end that was searched for is told in nine digits, and a number is as it works out.
    """
    hair = NINE_DIGITS * max(abs(low), abs(high))
    if low - hair <= value <= high + hair:
        return ()
    return (
        f"{name} is {value:g}, outside of {low:g} to {high:g}: what is shown over that range does "
        f"not hold the answer at {value:g}",
    )


def row_by_row(case: Asked, **values: NDArray[Any]) -> dict[str, Any]:
    """Values of the subjects, a row for each of the people, or for each cell of people counted so:
    the rows of `.people`.
    """
    if case.cells is None or case.averaged:
        each = {name: case.each(v) for name, v in values.items()}
        return {"subject": np.asarray(case.names(len(next(iter(values.values()))))), **each}
    of, people = case.cells
    each = {name: v[of] for name, v in values.items()}
    return {"subject": np.arange(len(of)), "people": people, **each}
