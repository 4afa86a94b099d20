"""The same question asked again with what changed: a result remembers the call that made it.

    @asked_again
    @typed
    def suda(people, columns=None, *, most=None, ...) -> Suda: ...

    after = again(result, {"most": 2, "suppress": 3})      # rb.what_if(result, most=2, suppress=3)

What is not named stays as it was; `generalise` (with `hierarchies`) and `suppress` change the
release, `unknown` takes columns out of what is known, and all else is an argument of the call.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from reidbn.differing import AS_RELEASED, OF_RELEASE, differing, other_events
from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.generalise import released_at
from reidbn.microdata.knowledge import is_scenario, knowledge
from reidbn.microdata.table import People
from reidbn.result import Result

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R", bound=Result)
_RELEASE = ("generalise", "hierarchies", "suppress")
_KNOWN = ("known", "knowledge")


@dataclass(frozen=True)
class MadeBy:
    """A call that made a result: the public function, and what it was called with."""

    function: Callable[..., Any]
    arguments: Mapping[str, Any]

    @property
    def takes(self) -> tuple[str, ...]:
        """The function's arguments by name; the first is the table."""
        return tuple(signature(self.function).parameters)

    @property
    def is_open(self) -> bool:
        """Whether the function takes options that it does not name, and judges them itself."""
        kinds = [p.kind for p in signature(self.function).parameters.values()]
        return Parameter.VAR_KEYWORD in kinds


def asked_again(function: F) -> F:
    """Let a function's result remember how it was asked, apart from what the caller goes on with.

    A scenario is read once: its file may be another one later.  It stands above @typed, so that it
    is the public function, which is pickled by its name.
    """
    names = signature(function)

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            bound = names.bind(*arguments, **named)
        except TypeError:
            return function(*arguments, **named)  # says what is wrong with them
        people = next(iter(bound.arguments.values()), None)
        for word in _KNOWN:
            said = bound.arguments.get(word)
            if isinstance(said, str | os.PathLike) and isinstance(people, People):
                bound.arguments[word] = _read(said, people)
        asked = {name: _as_said(value) for name, value in bound.arguments.items()}
        for name, parameter in names.parameters.items():
            if parameter.kind is Parameter.VAR_KEYWORD:
                asked |= asked.pop(name, {})
        found = function(*bound.args, **bound.kwargs)
        vars(found)["_call"] = MadeBy(called, asked)
        return found

    return cast(F, called)


def _read(said: Any, people: People) -> Any:
    """A scenario in place of its name or file; a column's name as it is."""
    from reidbn.attack.scenariofile import load_scenario

    return load_scenario(said) if is_scenario(os.fspath(said), people) else said


def _as_said(value: Any) -> Any:
    """A value that stays what it was when the caller changes theirs."""
    if isinstance(value, Mapping):
        return {name: _as_said(one) for name, one in value.items()}
    for kind in (list, tuple, set):
        if type(value) is kind:
            return kind(map(_as_said, value))
    is_array = isinstance(value, np.ndarray) or type(value).__module__.startswith("pandas")
    return copy.copy(value) if is_array else value


def again(result: Result, changes: Mapping[str, Any]) -> Result:
    """The result of the same call with these arguments changed, which says what changed."""
    call = vars(result).get("_call")
    if not isinstance(call, MadeBy):
        raise UsageError(
            f"this {result.kind} does not say how it was asked (it was made together with others, "
            "or changed by hand): ask its question by itself, and rb.what_if asks that one again"
        )
    table = call.takes[0]
    asked, changes = dict(call.arguments), dict(changes)
    release = {name: changes.pop(name) for name in _RELEASE if name in changes}
    people = asked.get(table)
    has_columns = "known" in call.takes and isinstance(people, People)
    unknown = changes.pop("unknown", None) if has_columns else None
    for name in changes:
        if name == table or (name not in call.takes and (name in _ELSEWHERE or not call.is_open)):
            _refuse(result, name, call)
    if "model" in changes:  # options are those of a model
        asked = {name: value for name, value in asked.items() if name in call.takes}
    if {*changes} & {*_KNOWN}:  # known= says anew what an older word said
        asked = {name: value for name, value in asked.items() if name not in _KNOWN}
    if unknown is not None:
        changes["known"] = _less(result, people, {**asked, **changes}, unknown, anew=changes)
        asked.pop("knowledge", None)
    asked |= changes
    if release:
        asked[table] = _released(people, asked, **release)
    after: Result = call.function(**asked)
    if after.about != result.about:
        raise UsageError(other_events(result.about, after.about))
    said = stay_out(people, asked.get(table), release.get("suppress"))
    return changed_from(result, after, said)


def stay_out(before: Any, people: Any, suppress: Any) -> list[str]:
    """A remark where people who were left out at other levels stay out at these."""
    if not isinstance(people, People) or suppress is not None or people.before is None:
        return []
    if len(people.before) == len(people) or before.as_released == people.as_released:
        return []
    return [
        "who was left out before stays out at these levels, too: suppress= decides it anew, as "
        "where both are said at once"
    ]


def changed_from(before: Result, after: R, more: Sequence[str] = ()) -> R:
    """A result that says in what its question is another than the one asked before."""
    found = differing(before.identity, after.identity)
    if any(what.startswith(OF_RELEASE) for what in found) and found.get("table") == AS_RELEASED:
        del found["table"]  # of the same people it is one change, and said by its name
    vars(after)["changed"] = (*found.values(), *more)
    return after


def _less(
    result: Result, people: Any, asked: Mapping[str, Any], unknown: Any, anew: Mapping[str, Any]
) -> Any:
    """What is known without some columns."""
    gone = [unknown] if isinstance(unknown, str) else list(unknown)
    said = next((asked[word] for word in _KNOWN if asked.get(word) is not None), None)
    if "known" in anew:
        return knowledge(people, said, unknown=gone)
    what = None if said is None else knowledge(people, said, sensitive=asked.get("sensitive"))
    may = result.may_be_known if what is None else what.used
    for name in gone:
        if name not in may:
            raise UsageError(
                f'unknown names "{name}", which cannot be known as it is; {did_you_mean(name, may)}'
            )
        what = what and what.without(name)
    left = [name for name in may if name not in gone] if what is None else what.used
    if not left:
        raise UsageError(
            "unknown= takes out all that may be known, and who knows nothing finds nobody: leave "
            "one column in, or say anew what is known, known="
        )
    return left if what is None else what


def _released(
    people: Any,
    asked: dict[str, Any],
    generalise: Mapping[str, int] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    suppress: int | None = None,
) -> People:
    """The same people in another release; what is known of all of them is read before that."""
    if not isinstance(people, People):
        raise UsageError(
            "another release is that of a table of people (rb.read_table), and this question was "
            "asked of none: make the release, and ask the question of it"
        )
    if hierarchies is not None and generalise is None:
        raise UsageError('name the levels too: generalise={"age": 1}')
    whole: People = people
    if generalise is not None:
        people = released_at(people, generalise, hierarchies=hierarchies)
    if suppress is None:
        return cast(People, people)
    if asked.get("individuals") is not None:
        raise UsageError("suppress= changes who is in the table: ask about all people, not some")
    word = next((word for word in _KNOWN if asked.get(word) is not None), "")
    fewer: People = people.whole.suppress(suppress)  # of all who were read
    if word and len(fewer) != len(whole) and not is_scenario(asked[word], whole):
        asked[word] = what = knowledge(whole, asked[word])  # a chance for each may be one for all
        if not what.is_shared:
            raise UsageError(
                "suppress= leaves people out, and known= has a chance for each of the people as "
                "they were: suppress first, people.suppress(k), and ask of those who are left"
            )
    return fewer


_NO_NETWORK = (
    "there is no network behind it: rb.assess(attack, people, ...) has one, and rb.what_if of that "
    "takes it"
)
_NOBODY_ELSE = (
    "it asks nobody outside the table: rb.population.fit(people, population=N) and "
    "rb.assess(attack, people, population=N) do"
)
_IN_KNOWN = "say it in what is known: known=rb.microdata.knowledge(people, scenario, {name}=...)"
_BY_COLUMNS = 'it is about columns that are known for sure: name them, columns=["age", "sex"]'
_ELSEWHERE = {
    "set": _NO_NETWORK, "do": _NO_NETWORK, "given": _NO_NETWORK, "beyond_range": _NO_NETWORK,
    "population": _NOBODY_ELSE, "population_model": _NOBODY_ELSE, "columns": _IN_KNOWN,
    "without": _IN_KNOWN, "together": "give a scenario that says so, known=scenario",
    "scenario": 'say it in what is known: known="voter-registration"', "known": _BY_COLUMNS,
    "unknown": _BY_COLUMNS,
    "drop": "features are those of a sparse table: of columns say what is known, or columns=",
}  # fmt: skip
_SPARSE = "make the release without them, and ask of it: sparse.drop(...); rb.compare tells the two"


def _refuse(result: Result, name: str, call: MadeBy) -> NoReturn:
    """Raise for what cannot be changed so, with what can."""
    table = call.arguments.get(call.takes[0])
    of_people = table is None or isinstance(table, People)
    may = [n for n in (*call.takes[1:], *_RELEASE) if of_people or n not in _RELEASE]
    remedy = _ELSEWHERE.get(name) or did_you_mean(name, may)
    if name in ("scenario", "without", "together") and "known" not in call.takes:
        remedy = _BY_COLUMNS
    if name == "unknown" and "known" in call.takes:
        remedy = "name what may be known: known="
    if remedy in (_BY_COLUMNS, _IN_KNOWN) and not of_people:
        remedy = f"it may be asked again with another {', '.join(may)}"
    if name == "drop" and not of_people:
        remedy = _SPARSE
    if name == "population_model" and "model" in call.takes:
        remedy = 'the model is model="pitman"'
    if name == call.takes[0]:
        remedy = "another table is another question: ask it, and rb.compare tells the two"
    raise UsageError(f"rb.what_if: a {result.kind} takes no {name}=: {remedy.format(name=name)}")
