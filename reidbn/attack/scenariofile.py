"""Scenario files: YAML text -> Scenario, with all problems of a file at once.

Tables of facts (such as what each state's voter list holds) stand beside the scenario as CSV
files; lines that start with # say where their numbers come from.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, create_model

from reidbn.attack import build
from reidbn.attack.cells import FilePart, Number, State, Version, Word
from reidbn.attack.explain import explain, in_file, raise_file_problems, refuse_others
from reidbn.attack.modelfile import models_folder, read_text
from reidbn.attack.register import REGISTER, is_register, named_register, read_facts, values_by_key
from reidbn.attack.scenario import (
    Chance,
    FactLookup,
    InBands,
    Known,
    Knows,
    Listed,
    Profile,
    Scenario,
    SparseKnown,
)
from reidbn.attack.schema import file_model
from reidbn.attack.yamltext import Document, read_yaml
from reidbn.calls import typed
from reidbn.differing import IN_A_CALL
from reidbn.errors import ModelError, Problem, UsageError, did_you_mean

Where = tuple[str | int, ...]


class LookupSpec(FilePart):
    """A column of a table of facts, looked up by the person's own values."""

    table: Word = Field(description="a table named under facts")
    column: Word
    by: tuple[Word, ...] = Field(description="columns of the person's record")
    otherwise: Number | None = Field(None, description="for values that have no row")
    bands: dict[str, tuple[Number, ...]] = Field(
        {}, description="per column: lower edges of the bands under which it is looked up"
    )
    relative: bool | Word = Field(
        False, description="a rate relative to the other factors; a product above 1 counts as 1"
    )


_Factor = Number | LookupSpec
_Chance = _Factor | tuple[_Factor, ...]


class InBandsSpec(FilePart):
    """A finer column, of which only the band is known."""

    of: Word = Field(description="the finer column, such as age")
    width: Number = Field(description="how wide the bands are, such as 10; the first starts at 0")


class KnownSpec(FilePart):
    """Attributes that are learnt together."""

    columns: tuple[Word, ...] | None = Field(
        None, description="the table's columns; default: its name"
    )
    chance: _Chance = Field(1.0, description="a number, a look-up, or a list to be multiplied")
    by_profile: dict[str, Number] = Field({}, description="one probability per attacker profile")
    source: Word = Field(description='where the probability comes from; "assumption" is allowed')
    optional: bool | Word = Field(False, description="left out when the table lacks the columns")
    in_bands: InBandsSpec | None = Field(
        None, description="where the table has no such column: the bands of a finer one"
    )


class ListedSpec(FilePart):
    """One list or account: nothing is known of a person who is not on it."""

    node: Word = "listed"
    chance: _Chance
    shared: bool | Word = Field(False, description="one event for all attributes")
    source: Word


class ProfileSpec(FilePart):
    """Who is attacking."""

    node: Word = "attacker"
    weights: dict[str, Number] = Field(
        description="each kind of attacker and its share, such as {insider: 0.3, stranger: 0.7}"
    )
    source: Word


class SparseSpec(FilePart):
    """Of a sparse table: which facts may be known, and how they are matched."""

    known: tuple[Word, ...] = Field((), description="tags, sections or features; none: any fact")
    match: Literal["equal", "tolerance", "present", "modal"] = "equal"
    together: bool | Word = Field(False, description="what is known together is one fact")
    guesses: int = Field(1, ge=1, description="records that fit best and are looked at, at most")
    source: Word


class KnowsSpec(FilePart):
    """What is known about each person."""

    group: Word | None = None
    every_column: bool | Word = False
    list: ListedSpec | None = None
    profile: ProfileSpec | None = None
    attributes: dict[str, KnownSpec] = Field({})
    sparse: SparseSpec | None = Field(None, description="of a sparse table: any few facts")


class ScenarioBase(FilePart):
    """A named change of an attack."""

    schema_version: Version
    kind: Literal["scenario"]
    name: Word
    extends: Word | None = Field(
        None, description="a shipped scenario, or a file beside this one, that this one changes"
    )
    title: Word = ""
    story: Word = ""
    source: Word = ""
    set: dict[str, Number] = Field({}, description="parameters and their values")
    given: dict[str, State] = Field({}, description="evidence, as node: state")
    do: dict[str, State] = Field({}, description="interventions, as node: state")
    facts: dict[str, Word] = Field({}, description="tables of facts: name and CSV file")
    knows: KnowsSpec | None = None


def scenarios_folder() -> Path:
    return models_folder() / "scenarios"


def scenarios() -> tuple[str, ...]:
    """Names of the scenarios that come with reidbn.

    >>> "worst-case" in scenarios()
    True
    """
    return tuple(sorted(path.stem for path in scenarios_folder().glob("*.yaml")))


@typed
def load_scenario(name_or_path: str | os.PathLike[str] | Scenario) -> Scenario:
    """The scenario in a file: a path, the name of a shipped one, or "register:FILE.csv".

    `name_or_path` is the name of a shipped scenario, or a file.
    """
    if isinstance(name_or_path, Scenario):
        return name_or_path
    if not isinstance(name_or_path, str | os.PathLike):
        raise UsageError(
            f"{type(name_or_path).__name__} is no scenario; give the name of a shipped one "
            f"({', '.join(scenarios())}), the path of a file, or a Scenario"
        )
    name = str(os.fspath(name_or_path))
    if is_register(name):
        return named_register(name)
    path = scenarios_folder() / f"{name}.yaml" if name in scenarios() else Path(name)
    if not path.suffix and not path.exists():
        if "+" in name:
            raise UsageError(f'"{name}": columns that are learnt together take a chance: {name}=1')
        raise UsageError(
            f'no scenario "{name}" is shipped; {did_you_mean(name, (*scenarios(), REGISTER))}'
        )
    shown = f"scenarios/{path.name}" if path.parent == scenarios_folder() else name
    return _read(path, shown, ())


def is_shipped(scenario: Scenario, name: str) -> bool:
    """Whether it is the shipped one of that name, by its content; on one list or apart."""
    return name in scenarios() and scenario.fingerprint in _fingerprints(name)


@cache
def _fingerprints(name: str) -> frozenset[str]:
    shipped = load_scenario(name)
    variants = [shipped]
    if shipped.knows is not None and isinstance(shipped.knows.parent, Listed):
        variants += [shipped.shared(together=together) for together in (True, False)]
    return frozenset(variant.fingerprint for variant in variants)


def told_name(scenario: Scenario) -> str:
    """Its name, and that it is the user's own where a shipped one has the same."""
    if scenario.name not in scenarios() or is_shipped(scenario, scenario.name):
        return scenario.name
    return f"{scenario.name} (own scenario file, not the shipped one)"


def _read(path: Path, label: str, above: tuple[Path, ...]) -> Scenario:
    """The scenario of a file; `above` are the files that extend it."""
    return _build(read_yaml(read_text(path)), path, label, above)


def _base(name: str | None, path: Path, above: tuple[Path, ...]) -> Scenario:
    """The scenario that a file extends; an empty one where it extends none."""
    if name is None:
        return Scenario("")
    if name in scenarios():
        return load_scenario(name)
    place = path.parent / name
    if Path(name).name != name or not place.is_file():
        raise UsageError(
            f'{path.name}: extends: "{name}" is neither a shipped scenario nor a file beside this '
            f"one; {did_you_mean(name, scenarios())}"
        )
    if place.resolve() in above:
        raise UsageError(f"{path.name}: extends: {name} extends this one in turn")
    return _read(place, name, (*above, path.resolve()))


def _build(document: Document, path: Path, label: str, above: tuple[Path, ...]) -> Scenario:
    starts = "a scenario file starts with schema_version: 1, kind: scenario"
    refuse_others(document, label, "scenario file", starts)
    if document.broken:
        raise_file_problems(label, in_file(document, label, []))
    model = _model()
    problems: list[Problem] = []
    try:
        spec: Any = model.model_validate(document.data)
    except ValidationError as error:
        problems = explain(error.errors(include_url=False), document.data, model)
    told = [*_of_a_model(document.data)]
    problems = [p for p in problems if p.where not in {t.where for t in told}] + told
    raise_file_problems(label, in_file(document, label, problems))
    facts, problems = _facts(spec, path.parent)
    if spec.name == IN_A_CALL:
        message = f'"{IN_A_CALL}" is what a call itself says is known; give it another name'
        problems.append(Problem(("name",), message))
    problems += _knows_problems(spec, facts)
    raise_file_problems(label, in_file(document, label, problems))
    base = _base(spec.extends, path, (*above, path.resolve()))
    own: dict[str, list[Any]] = {
        "parameters": [build.parameter(n, s) for n, s in spec.parameters.items()],
        "nodes": [build.node(n, s) for n, s in spec.nodes.items()],
        "questions": [build.question(n, s) for n, s in spec.questions.items()],
    }
    return Scenario(
        name=spec.name, title=spec.title or base.title, story=spec.story or base.story,
        source=spec.source or base.source, set={**base.set, **spec.set},
        given={**base.given, **spec.given}, do={**base.do, **spec.do},
        knows=_knows(spec.knows) if spec.knows else base.knows, facts={**base.facts, **facts},
        **{room: _over(getattr(base, room), things) for room, things in own.items()},
    )  # fmt: skip


def _over(base: tuple[Any, ...], own: list[Any]) -> tuple[Any, ...]:
    """Things by name, one's own in place of those of the same name."""
    return tuple({thing.name: thing for thing in (*base, *own)}.values())


def _of_a_model(data: dict[str, Any]) -> Iterator[Problem]:
    """What only a model file may say, and what to do instead."""
    fields = {*file_model().file.model_fields, "repeat", "use"} - {*_model().model_fields}
    for key in data:
        if key in fields:
            message = (
                "belongs in a model file: a scenario brings parameters, nodes and questions. Write "
                "a variant of the model (extends: its name) that has this, and use the scenario on "
                "that"
            )
            yield Problem((key,), message, at_key=True)
    message = (
        "a scenario is not repeated: write the names that come out (in_mother), or put it into the "
        "model file"
    )
    for room in ("nodes", "parameters", "questions"):
        things = data.get(room)
        for name, thing in things.items() if isinstance(things, dict) else ():
            if "[" in str(name):
                yield Problem((room, name), message, at_key=True)
            parents = thing.get("parents") if isinstance(thing, dict) else None
            for i, parent in enumerate(parents if isinstance(parents, list) else ()):
                if "[" in str(parent) or "*" in str(parent):
                    yield Problem((room, name, "parents", i), message)


def _model() -> type[FilePart]:
    fields = file_model().file.model_fields
    more: Any = {
        name: (fields[name].annotation, Field({})) for name in ("parameters", "nodes", "questions")
    }
    return create_model("ScenarioFile", __base__=ScenarioBase, **more)


def _knows(spec: KnowsSpec) -> Knows:
    parent: Listed | Profile | None = None
    if spec.list:
        parent = Listed(spec.list.node, _chance(spec.list.chance), _truth(spec.list.shared),
                        spec.list.source)  # fmt: skip
    if spec.profile:
        parent = Profile(spec.profile.node, dict(spec.profile.weights), spec.profile.source)
    known = tuple(
        Known(name, k.columns or (name,), _chance(k.chance), dict(k.by_profile), k.source,
              _truth(k.optional), InBands(k.in_bands.of, k.in_bands.width) if k.in_bands else None)
        for name, k in spec.attributes.items()
    )  # fmt: skip
    sparse = None
    if spec.sparse:
        said = spec.sparse
        sparse = SparseKnown(
            said.known, said.match, _truth(said.together), said.source, said.guesses
        )
    return Knows(known, parent, spec.group, _truth(spec.every_column), sparse)


def _truth(value: bool | str) -> bool:  # noqa: FBT001 - a cell of a file
    return value is True or str(value).strip().lower() in ("yes", "true")


def _chance(spec: Any) -> Chance:
    factors = spec if isinstance(spec, tuple) else (spec,)
    return tuple(
        FactLookup(f.table, f.column, f.by, f.otherwise, dict(f.bands), _truth(f.relative))
        if isinstance(f, LookupSpec)
        else float(f)
        for f in factors
    )


def _facts(spec: Any, folder: Path) -> tuple[dict[str, dict[str, list[Any]]], list[Problem]]:
    """Read the tables of facts that stand beside the file."""
    tables, problems = {}, []
    for name, file in spec.facts.items():
        where: Where = ("facts", name)
        if Path(file).name != file:
            problems.append(Problem(where, f'"{file}": the file must stand beside the scenario'))
            continue
        try:
            tables[name] = read_facts(folder / file)
        except FileNotFoundError:
            problems.append(Problem(where, f"there is no file {file} beside the scenario"))
        except ModelError as error:
            problems.append(Problem(where, str(error)))
    return tables, problems


def _knows_problems(spec: Any, facts: dict[str, dict[str, list[Any]]]) -> list[Problem]:
    if spec.knows is None:
        return []
    found: list[Problem] = []
    if spec.knows.sparse and (spec.knows.attributes or spec.knows.list or spec.knows.profile):
        found.append(Problem(("knows", "sparse"), "facts of a sparse table, and columns of another "
                             "kind of table: keep one of them"))  # fmt: skip
    if spec.knows.list and spec.knows.profile:
        found.append(Problem(("knows", "profile"), "a list and a profile: keep one of them"))
    if spec.knows.list:
        found += _chance_problems(spec.knows.list.chance, ("knows", "list", "chance"), spec, facts)
    for name, known in spec.knows.attributes.items():
        where: Where = ("knows", "attributes", name)
        found += _chance_problems(known.chance, (*where, "chance"), spec, facts)
        found += _profile_problems(known, where, spec)
        if known.in_bands and not 0 < known.in_bands.width < float("inf"):
            found.append(Problem((*where, "in_bands", "width"), "must be a number above 0"))
        if known.in_bands and len(known.columns or (name,)) > 1:
            found.append(Problem((*where, "in_bands"), "goes with one column, not with several"))
    if spec.knows.profile:
        total = sum(spec.knows.profile.weights.values())
        if abs(total - 1) > 1e-12:
            found.append(Problem(("knows", "profile", "weights"), f"sum to {total:.12g}, not 1"))
    return found


def _profile_problems(known: KnownSpec, where: Where, spec: Any) -> list[Problem]:
    wanted = set(spec.knows.profile.weights) if spec.knows.profile else set()
    if set(known.by_profile) == wanted:
        bad = [s for s, p in known.by_profile.items() if not 0 <= p <= 1]
        text = f"{known.by_profile[bad[0]]:g} is not a probability" if bad else ""
        return [Problem((*where, "by_profile", bad[0]), text)] if bad else []
    if not wanted:
        return [Problem((*where, "by_profile"), "the scenario has no profile")]
    need = ", ".join(sorted(wanted))
    return [Problem(where, f"needs by_profile with one probability for each of {need}")]


def _chance_problems(
    chance: Any, where: Where, spec: Any, facts: dict[str, dict[str, list[Any]]]
) -> list[Problem]:
    found = []
    factors = chance if isinstance(chance, tuple) else (chance,)
    for factor in factors:
        if not isinstance(factor, LookupSpec):
            if not 0 <= factor <= 1:
                message = f"{factor:g} is not a probability: it must lie between 0 and 1"
                found.append(Problem(where, message))
        elif factor.table not in spec.facts:
            hint = did_you_mean(factor.table, spec.facts)
            found.append(Problem(where, f'no table "{factor.table}" under facts; {hint}'))
        else:
            have = facts.get(factor.table, {})
            missing = [c for c in (factor.column, *factor.by) if have and c not in have]
            for column in missing:
                hint = did_you_mean(column, have)
                message = f'{spec.facts[factor.table]} has no column "{column}"; {hint}'
                found.append(Problem(where, message))
            if have and not missing:
                found += _values_problems(factor, where, spec.facts[factor.table], have)
    return found


def _values_problems(
    factor: LookupSpec, where: Where, file: str, table: dict[str, list[Any]]
) -> list[Problem]:
    """A table of facts whose values cannot be looked up."""
    try:
        values_by_key(table, factor.column, factor.by, file)
    except ModelError as error:
        return [Problem(where, str(error))]
    return []
