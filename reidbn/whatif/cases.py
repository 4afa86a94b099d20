"""What can be varied: an attack with a question, or anything that brings its own.

An object with a method `whatif_case()` (an assessment, say) answers with its `Case`: attack,
question, settings and subjects.  Nothing else needs to be known of it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from reidbn.attack.attack import Attack
from reidbn.errors import UsageError
from reidbn.inference.case import Case, make_case

Target = str | Mapping[str, str]


@runtime_checkable
class BringsCase(Protocol):
    """A result that knows its own attack, question and subjects."""

    def whatif_case(self) -> Case: ...


What = Attack | str | BringsCase | Case


def brings_case(what: object) -> bool:
    return isinstance(what, Case | BringsCase)


def case_of(
    what: What,
    target: Target | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
) -> Case:
    """The case to vary; an attack needs a target: "identified=yes", or a question's name."""
    if isinstance(what, Attack | str):
        return make_case(what, _target(what, target), given=given, do=do, set=set, subject=subject)
    if not brings_case(what):
        raise UsageError(
            f"a {type(what).__name__} cannot be varied: "
            f"give an attack, the name of a model, or an assessment"
        )
    case: Case = what if isinstance(what, Case) else what.whatif_case()
    if subject is not None:
        raise UsageError("this result brings its own subjects: leave subject= out")
    if target is not None:
        case = make_case(
            case.attack, target, do=case.query.do, set=case.settings, subject=case.subject
        )
    return case.at(set or {}).asked(given=given, do=do)


def _target(what: Attack | str, target: Target | None) -> Target:
    """The target, or the only question that the attack has."""
    if target is not None:
        return target
    from reidbn.inference.answers import load_attack

    attack = load_attack(what)
    if len(attack.questions) == 1:
        return next(iter(attack.questions))
    names = ", ".join(attack.questions) or "none"
    raise UsageError(
        f"{attack.name}: say what to ask, such as node=state or a question's name ({names})"
    )


@dataclass(frozen=True)
class Change:
    """A named change: parameters set, evidence given, interventions done."""

    name: str
    set: Mapping[str, float] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    do: Mapping[str, Any] = field(default_factory=dict)
    scenario: Any = None  # what it was read from, if that changes the attack as well

    def on(self, case: Case) -> Case:
        """The case after the change."""
        if self.scenario is not None and hasattr(self.scenario, "on"):
            from dataclasses import replace

            case = replace(case, attack=self.scenario.on(case.attack))
        return case.at(self.set).asked(given=self.given, do=self.do)


def change(thing: Any, name: str = "") -> Change:
    """A change: a scenario, {"set": ..., "given": ..., "do": ...}, or {parameter: value}.

    >>> change({"p_c": 0.2}, "careful")
    Change(name='careful', set={'p_c': 0.2}, given={}, do={}, scenario=None)
    """
    if isinstance(thing, Change):
        return thing
    if all(hasattr(thing, part) for part in ("name", "set", "given", "do")):
        if getattr(thing, "knows", None) is not None:
            raise UsageError(
                f"scenario {thing.name} says what is known about each person of a table: "
                f"it can only change an assessment of one"
            )
        return Change(thing.name, dict(thing.set), dict(thing.given), dict(thing.do), thing)
    if not isinstance(thing, Mapping):
        raise UsageError(
            f"a {type(thing).__name__} is no change: use a scenario, or a mapping such as "
            f'{{"set": {{"p_c": 0.2}}, "do": {{"claims": "no"}}}}'
        )
    content = dict(thing)
    name = str(content.pop("name", name))
    if set(content) <= {"set", "given", "do"}:
        return Change(name, *(dict(content.get(part) or {}) for part in ("set", "given", "do")))
    return Change(name, content)
