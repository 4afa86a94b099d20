"""One person's risk explained: which facts, which routes, and what would protect this person.

Of a person the same questions are asked as of the table (drivers.py): each attribute's Shapley
value, P(route succeeds) for each route, and the risk if the attacker could not learn one attribute
or two, or if a route were closed.  What is explained is the very risk that the assessment holds.

For the custodian alone: an explanation is of somebody.  `write` keeps everybody's in one file for
its owner alone, with a seal; `reidbn explain` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.events import EVERYTHING_SURE
from reidbn.attack.scenariofile import told_name
from reidbn.attacks.routes.arguments import place_of, whole_number
from reidbn.attacks.routes.assess import run
from reidbn.attacks.routes.assessment import OVERALL, ROUNDING, Array, Assessment
from reidbn.attacks.routes.drivers import (
    SHAPLEY,
    beside_routes,
    can_part,
    drivers,
    risk_of,
    route_names,
    step_names,
    worth,
)
from reidbn.calls import typed
from reidbn.cpds.protocol import NO, YES
from reidbn.errors import EngineError, ImpossibleEvidence, UsageError
from reidbn.inference.query import Query
from reidbn.inference.worst import OF_ONE, OF_TIED
from reidbn.microdata.tallied import TalliedPeople
from reidbn.release.seal import sealed, unsealed
from reidbn.release.writing import write_text
from reidbn.written import agree, counted, tiny

KIND = "everybody's risk, explained; restricted"
MOST_WRITTEN = 100_000  # distinct people in a file
MOST_PAIRS = 10  # attributes up to which every two of them are tried
TWO = " + "
_REMEDY = "reidbn assess TABLE ... --out risks.json, which stays with the custodian"


@dataclass(frozen=True)
class PersonExplained:
    """Why one person's risk is what it is, and what would lower it.  Restricted."""

    person: Any
    asked: str
    """The attack, the scenario and the event."""
    measure: str
    risk: float
    risks: Mapping[str, float]
    people: int
    mean: float
    higher: int
    """People with a higher risk."""
    alike: int | None
    """People of the table, this one included, who are alike on everything that may be known."""
    nothing: float | None
    """The risk where nothing is known."""
    facts: Mapping[str, float]
    """What each attribute adds, from nothing to the risk."""
    method: str
    """How that was found; or why it was not."""
    routes: Mapping[str, float]
    """The chance that each route succeeds."""
    hidden: Mapping[str, float]
    """The risk that is left if the attacker could not learn an attribute, or two ("a + b")."""
    closed: Mapping[str, float]
    """The risk that is left if a route were closed."""
    asks: Mapping[str, str] = field(default_factory=dict)
    """The question of each measure."""
    besides: Sequence[str] = ()
    """Events that the risk has in it besides the routes: each route is told without them."""
    highest: float | None = None
    """The highest risk of all people."""
    steps: Mapping[str, float] = field(default_factory=dict)
    """The chance of each step: none of them brings the event about by itself."""

    @property
    def protections(self) -> dict[str, float]:
        """All that was tried, from what protects most."""
        both = {f"{name} not known": p for name, p in self.hidden.items()}
        both |= {f"{name} closed": p for name, p in self.closed.items()}
        return dict(sorted(both.items(), key=lambda item: item[1]))

    def in_words(self) -> str:
        """One paragraph with the numbers."""
        told = self.highest is None or tiny(self.highest) != tiny(self.risk)
        higher = f"{counted(self.higher, 'person')} {agree(self.higher, 'has', 'have')}"
        up_to = f", up to {tiny(self.highest)}" if self.higher and self.highest is not None else ""
        if self.higher and not told:
            higher, up_to = "nobody has", " by as many digits as are told here"
        parts = [
            f"Person {self.person}: {self.measure.replace('_', ' ')} risk {_chance(self.risk)}; "
            f"{self.asked}. The mean of {counted(self.people, 'person')} is {tiny(self.mean)}, and "
            f"{higher if self.higher else 'nobody has'} a higher one{up_to}.",
            *self._routes_in_words(),
            *self._steps_in_words(),
            *self._facts_in_words(),
            *self._protections_in_words(),
        ]
        return " ".join(parts)

    def _routes_in_words(self) -> list[str]:
        if not self.routes:
            return []
        ordered = sorted(self.routes.items(), key=lambda item: -item[1])
        told = ", ".join(f"{name.replace('_', ' ')} {tiny(p)}" for name, p in ordered)
        above = ""
        if self.besides:
            above = (
                f" The {self.measure.replace('_', ' ')} risk has {' and '.join(self.besides)} in "
                f"it, too, and no route has: a route may be above it."
            )
        with_odds = [
            f"{name.replace('_', ' ')} {tiny(self.risks[name])} ({self.asks[name]})"
            for name, p in ordered
            if name in self.asks and abs(self.risks.get(name, p) - p) > ROUNDING
        ]
        if not with_odds:
            return [f"By route: {told}.{above}"]
        return [
            f"By route, with the odds that the attack gives it: {told}.{above} The report's rows "
            f"of these names are of the events before those odds: {', '.join(with_odds)}."
        ]

    def _steps_in_words(self) -> list[str]:
        if not self.steps:
            return []
        told = [f"{name.replace('_', ' ')} {tiny(p)}" for name, p in self.steps.items()]
        rest = "Beside the routes, as parts of another way" if self.routes else "Step by step"
        return [f"{rest} (no step is enough by itself): {', '.join(told)}."]

    def _facts_in_words(self) -> list[str]:
        found = []
        if self.alike is not None:
            alone = "nobody else of the table is" if self.alike == 1 else (
                f"{counted(self.alike, 'person')} of the table, this one included, are"
            )  # fmt: skip
            found.append(f"With everything known {alone} alike.")
        if self.facts:
            ordered = sorted(self.facts.items(), key=lambda item: -item[1])
            told = ", ".join(f"{name} {_signed(p)}" for name, p in ordered)
            start = "" if self.nothing is None else f"Where nothing is known it is "\
                f"{tiny(self.nothing)}; "  # fmt: skip
            found.append(f"{start}the facts add {told} ({self.method}).")
        elif self.method:
            found.append(f"What each fact adds is not told: {self.method}.")
        return found

    def _protections_in_words(self) -> list[str]:
        if not self.protections:
            return ["Nothing that would protect this person was tried."]
        single = {n: p for n, p in self.hidden.items() if TWO not in n}
        pairs = {n: p for n, p in self.hidden.items() if TWO in n}
        told = [*_best("not knowing ", single), *_best("not knowing ", pairs),
                *_best("closing ", self.closed)]  # fmt: skip
        less = [f"{name} leaves {tiny(p)}" for name, p in told if p < self.risk - ROUNDING]
        if not less:
            return ["None of the attributes, nor a route, protects this person by itself."]
        return [f"What would protect this person: {'; '.join(less)}."]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers and words."""
        return {
            "person": self.person if isinstance(self.person, int | str) else str(self.person),
            "asked": self.asked, "measure": self.measure, "risk": self.risk,
            "risks": dict(self.risks), "people": self.people, "mean": self.mean,
            "higher": self.higher, "highest": self.highest, "besides": list(self.besides),
            "alike": self.alike, "nothing": self.nothing,
            "facts": dict(self.facts), "method": self.method, "routes": dict(self.routes),
            "steps": dict(self.steps),
            "hidden": dict(self.hidden), "closed": dict(self.closed),
            "in_words": self.in_words(),
        }  # fmt: skip

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self.in_words())}</p>"


def _best(how: str, left: Mapping[str, float]) -> list[tuple[str, float]]:
    if not left:
        return []
    name = min(left, key=lambda n: left[n])
    return [(how + name.replace(TWO, " and ").replace("_", " "), left[name])]


def _chance(p: float) -> str:
    return f"{tiny(p)} (about 1 in {1 / p:,.4g})" if 1e-12 < p < 0.5 else tiny(p)


def _signed(p: float) -> str:
    return f"{p:+.4g}" if abs(p) >= 1e-12 else "0"


# -- one person ------------------------------------------------------------------------------------


@typed
def explain(
    result: Assessment, person: Any = None, measure: str = OVERALL, *, worst: int | None = None
) -> PersonExplained | tuple[PersonExplained, ...]:
    """Why one person's risk is what it is: which facts, which route, what would protect.

    `result` is the assessment, `person` the subject's id, or the row from 0 where the table has no
    ids; `measure` is the risk that is explained.  With `worst` in place of a person, so many of
    those with the highest risk, the worst off first.  Restricted: for the custodian alone.
    """
    _refuse_what_cannot(result, measure)
    ids = result.people.index.tolist()
    places = _places_of(person, worst, ids, "the table", result.risk(measure))
    found = tuple(_explained(result, measure, i).of(0, ids[i]) for i in places)
    return found[0] if worst is None else found


def _places_of(
    person: Any, worst: int | None, ids: Sequence[Any], where: str, risk: Array
) -> list[int]:
    """The place of the person who is named, or of the worst off; of the same risk, in order."""
    if (person is None) == (worst is None):
        raise UsageError(
            "name one person by id, or ask for the worst off: worst=3",
            in_shell="name one person, --person ID, or ask for the worst off, --worst 3",
        )
    if worst is None:
        return [_place_of(person, ids, where)]
    many = whole_number(worst, "worst", least=1)
    found: list[int] = np.argsort(-risk, kind="stable")[:many].tolist()
    return found


def _refuse_what_cannot(result: Assessment, measure: str) -> None:
    result.risk(measure)  # refuses one that is not there
    if measure not in result.questions:
        raise UsageError(
            f"{measure} is a mean over what the population may hold, and no question of the attack "
            f"with facts and routes; explain one of {', '.join(result.questions)}"
        )
    if isinstance(result.table, TalliedPeople):
        raise UsageError(
            "one person is explained, and these people were counted as cells: read them with "
            "rb.read_table"
        )
    if result.inputs.method != "exact":
        raise UsageError(
            "these risks were acted out, and what each fact adds to them is noise: assess with "
            'method="exact" and explain that'
        )


def _place_of(person: Any, ids: Sequence[Any], where: str) -> int:
    """The place of one person among the ids; what was looked for is not repeated."""
    if isinstance(person, bool) or not isinstance(person, str | int | np.integer | float):
        raise UsageError("person is a subject's id, or a row from 0: a text or a number")
    found = [i for i, one in enumerate(ids) if one == person]
    found = found or [i for i, one in enumerate(ids) if str(one) == str(person)]
    if len(found) != 1:
        raise UsageError(
            f"{'nobody' if not found else 'more than one'} of the {counted(len(ids), 'person')} in "
            f"{where} has this id; it is what stands under subject in the file of everybody's risk"
        )
    return found[0]


@dataclass(frozen=True, eq=False)
class PeopleExplained:
    """The explanations of some distinct people, an array for each number."""

    about: Mapping[str, Any]
    names: Mapping[str, Sequence[str]]
    values: Mapping[str, Any]
    """An array per distinct person, or distinct person x name."""
    of_person: Sequence[int]
    """Which of them each person is."""

    def of(self, place: int, person: Any) -> PersonExplained:
        """The explanation of the person at this place."""
        i = self.of_person[place]

        def told(key: str) -> dict[str, float]:
            names = self.names.get(key, ())  # a file of before steps were told has none
            pairs = zip(names, self.values[key][i] if names else (), strict=True)
            return {name: float(p) for name, p in pairs if p is not None and p == p}

        about, one = self.about, self.values
        return PersonExplained(
            person=person, asked=about["asked"], measure=about["measure"],
            risk=told("risks")[about["measure"]], risks=told("risks"), people=about["people"],
            mean=about["mean"], higher=int(one["higher"][i]),
            alike=None if one["alike"] is None else int(one["alike"][i]),
            nothing=None if one["nothing"] is None else float(one["nothing"][i]),
            facts=told("facts"), method=about["method"], routes=told("routes"),
            hidden=told("hidden"), closed=told("closed"), asks=about.get("asks", {}),
            besides=about.get("besides", ()), highest=about.get("highest"), steps=told("steps"),
        )  # fmt: skip


def _explained(result: Assessment, measure: str, place: int | None) -> PeopleExplained:
    """Everybody's explanation, or that of the person at one place, by distinct person."""
    base, first = _base(result, place)
    own = {name: result.risk(name)[first] for name in result.risks}
    if not (np.abs(base.risks[measure] - own[measure]) <= ROUNDING).all():
        raise EngineError(
            f"{measure}: told apart by attribute the risk is another; this is a fault of reidbn, "
            f"please report it"
        )
    everybody = np.sort(result.risk(measure))
    values: dict[str, Any] = {
        "risks": np.stack(list(own.values()), axis=1),
        "higher": len(everybody) - np.searchsorted(everybody, own[measure] + ROUNDING, "right"),
        "alike": _alike(result, first),
    }
    names: dict[str, Sequence[str]] = {"risks": list(own)}
    names["facts"], values["facts"], values["nothing"], method = _facts(base, measure)
    for key, found in zip(("routes", "steps", "closed"), _routes(base, measure), strict=True):
        names[key], values[key] = _stacked(found)
    names["hidden"], values["hidden"] = _stacked(_hidden(base, measure))
    about = {
        "asked": f"{result.inputs.attack.name} under {told_name(result.inputs.scenario)}, "
        f"{result.questions[measure].describe()}{_of_tied(result, measure)}",
        "measure": measure, "people": len(result), "mean": float(everybody.mean()),
        "highest": float(everybody[-1]), "besides": beside_routes(result, measure),
        "method": method, "asks": {name: q.describe() for name, q in result.questions.items()},
    }  # fmt: skip
    return PeopleExplained(about, names, values, base.subject_table.of_person.tolist())


def _of_tied(result: Assessment, measure: str) -> str:
    """Whose answer it is where policies are worth the same to the attacker."""
    if measure in result.taken:
        return f", the highest {OF_TIED}"
    return f", {OF_ONE}" if measure in result.untried else ""


def _base(result: Assessment, place: int | None) -> tuple[Assessment, NDArray[np.intp]]:
    """The assessment with sure facts told apart, of all or of one; a place for each distinct one.

    Facts that are known for sure are one member of the attack: they are told apart as in drivers.
    """
    rows = result.inputs.individuals
    if any(p.member == EVERYTHING_SURE for p in result.groups.placed) and can_part(result):
        if place is not None:
            rows = np.array([place if rows is None else rows[place]], dtype=np.int64)
        base = run(replace(result.inputs, apart=True, checkpoint=None, individuals=rows))
        first = np.unique(base.subject_table.of_person, return_index=True)[1]
        return base, first if place is None else np.array([place])
    if place is None:
        return result, result.subject_table.first
    subject = np.array([result.subject_table.of_person[place]])
    one = replace(
        result.subject_table, columns=result.subject_table.of_subjects(subject),
        of_entry=np.zeros(1, dtype=np.intp), some=None, is_kept=True, people=None,
    )  # fmt: skip
    risks = {name: values[subject] for name, values in result.risks.items()}
    return replace(result, subject_table=one, risks=risks, taken={}), np.array([place])


def _alike(result: Assessment, places: NDArray[np.intp]) -> NDArray[np.int64] | None:
    """How many people of the table are alike when everything is known."""
    if not result.attack.groups or not result.groups.placed:
        return None
    seen = result.groups.seen(result.table)
    sizes = seen.class_sizes(result.groups.columns_in(-1))
    rows = result.inputs.individuals
    return np.asarray(sizes[places if rows is None else rows[places]])


def _facts(base: Assessment, measure: str) -> tuple[list[str], Array | None, Array | None, str]:
    """What each attribute adds, the risk where nothing is known, and how that was found."""
    if not base.attack.groups or not base.groups.placed:
        return [], None, None, f"{base.attack.name} has no group of attributes"
    try:
        found = drivers(base, measure)
    except ImpossibleEvidence as problem:
        return [], None, None, str(problem)
    risk, added = base.risks[measure], found.by_subject
    nothing = np.maximum(risk - added.sum(axis=1), 0.0)
    nothing[nothing <= 1e-14 * (risk + np.abs(added).sum(axis=1))] = 0.0  # rounding of the sum
    is_shared = found.method.startswith(SHAPLEY)
    return list(found.labels), found.by_subject, nothing if is_shared else None, found.method


def _routes(base: Assessment, measure: str) -> tuple[dict[str, Array], ...]:
    """Per route and per step its chance, and the risk that is left where either is closed.

    The higher one of an attacker who learns that it is closed, and of one who does not.
    """
    query, closed = base.questions[measure], {}
    routes, steps = dict[str, Array](), dict[str, Array]()
    of_routes, of_steps = route_names(base, measure), step_names(base, measure)
    for name in (*of_routes, *of_steps):
        (routes if name in of_routes else steps)[name] = _asked(
            base, Query((name,), {name: YES}, query.given, query.do)
        )
        if name not in {*query.given, *query.do, *query.targets}:
            shut = replace(query, do={**query.do, name: NO})
            closed[name] = _asked(base, shut)
            if base.attack.decisions:
                closed[name] = np.maximum(closed[name], _asked(base, shut, {name: NO}))
    return routes, steps, closed


def _hidden(base: Assessment, measure: str) -> dict[str, Array]:
    """The risk that is left if the attacker could not learn an attribute, or any two of a few."""
    placed = base.groups.placed
    if not base.attack.groups or not placed:
        return {}
    everything, labels = (1 << len(placed)) - 1, [p.label for p in placed]
    sets: list[tuple[int, ...]] = [(j,) for j in range(len(placed))]
    if 2 < len(placed) <= MOST_PAIRS:
        sets += combinations(range(len(placed)), 2)
    found = {}
    for some in sets:
        known = everything ^ sum(1 << j for j in some)
        try:
            found[TWO.join(labels[j] for j in some)] = worth(base, measure, known)
        except ImpossibleEvidence:
            continue
    return found


def _asked(base: Assessment, query: Query, expected: Mapping[str, str] | None = None) -> Array:
    """The answer for every distinct person; NaN where what is given cannot then be."""
    try:
        return risk_of(base, query, expected)
    except ImpossibleEvidence:
        return np.full(base.subject_table.subjects, np.nan)


def _stacked(found: Mapping[str, Array]) -> tuple[list[str], Array | None]:
    return list(found), np.stack(list(found.values()), axis=1) if found else None


# -- everybody, in a file of the custodian's -------------------------------------------------------


@typed
def write_explained(result: Assessment, path: Any) -> Path:
    """Write everybody's risk with its explanation, for `reidbn explain`; restricted.

    `result` is the assessment, `path` the .json file, which its owner alone may read.
    """
    place = Path(place_of(path, "path"))
    if place.suffix.lower() != ".json":
        raise UsageError(f"{place.name}: end the name in .json")
    _refuse_what_cannot(result, OVERALL)
    count = result.subject_table.subjects
    if count > MOST_WRITTEN:
        raise UsageError(
            f"{count:,} different people would make a file that nothing reads: explain one at a "
            f"time in Python, result.explain(person)"
        )
    found = _explained(result, OVERALL, None)
    values = {k: None if v is None else np.asarray(v).tolist() for k, v in found.values.items()}
    content = {
        "kind": KIND, "about": dict(found.about), "names": dict(found.names),
        "values": _without_nan(values), "of_person": list(found.of_person),
        "people": [i if isinstance(i, int) else str(i) for i in result.people.index.tolist()],
    }  # fmt: skip
    made_from = {k: v for k, v in result.provenance.items() if isinstance(v, int | float | str)}
    return write_text(sealed(json.dumps(content), made_from), place, of_people=True)


def _without_nan(value: Any) -> Any:
    """What cannot be told is null: JSON knows no NaN."""
    if isinstance(value, dict):
        return {k: _without_nan(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_without_nan(v) for v in value]
    return None if isinstance(value, float) and value != value else value


@typed
def explain_from(
    path: Any, person: Any = None, *, worst: int | None = None
) -> PersonExplained | tuple[PersonExplained, ...]:
    """The explanation of one person, or of the worst off, from the file of `write_explained`.

    `path` is the file; `person` the subject's id, or the row from 0; `worst` how many of those with
    the highest risk, the worst off first.  Restricted.
    """
    place = Path(place_of(path, "path"))
    content = _read(place)
    found = PeopleExplained(
        content["about"], content["names"], content["values"], content["of_person"]
    )
    of_each = found.names["risks"].index(found.about["measure"])
    risk = np.array(found.values["risks"])[found.of_person, of_each]
    places = _places_of(person, worst, content["people"], place.name, risk)
    told = tuple(found.of(i, content["people"][i]) for i in places)
    return told[0] if worst is None else told


def _read(place: Path) -> dict[str, Any]:
    """The content of such a file; any other is refused with what would be right."""
    raw = place.read_bytes()
    if raw[:4] == b"PAR1":
        raise UsageError(f"{place.name} holds risks without their reasons; write {_REMEDY}")
    try:
        content = json.loads(raw)
    except (UnicodeDecodeError, ValueError):
        content = None
    if not isinstance(content, dict) or content.get("kind") != KIND:
        what = "is a report, which tells of nobody" if b"reidbn-seal" in raw or (
            isinstance(content, dict) and "seal" in content
        ) else "is no file of everybody's risk"  # fmt: skip
        raise UsageError(f"{place.name} {what}; write {_REMEDY}")
    if not unsealed(raw.decode("utf-8"))[2]:
        raise UsageError(
            f"{place.name} was changed since it was written; write it again: {_REMEDY}"
        )
    return content
