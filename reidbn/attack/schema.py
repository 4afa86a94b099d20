"""The shape of a model file as pydantic models, and the JSON Schema made from them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from reidbn.attack.cells import (
    Evidence,
    FilePart,
    Models,
    Number,
    OfThree,
    Reference,
    Safe,
    State,
    Tag,
    Version,
    Whole,
    Word,
    needs,
)
from reidbn.attack.content import SCHEMA_VERSION
from reidbn.attack.decisions import UtilityRow
from reidbn.attack.editor import stricter
from reidbn.attack.explain import explain
from reidbn.attack.parts import GroupRow
from reidbn.cpds.protocol import CPD
from reidbn.cpds.registry import all_kinds
from reidbn.cpds.rows import Row
from reidbn.errors import Problem, did_you_mean

_SCHEMA = "https://json-schema.org/draft/2020-12/schema"


Numbers = Number | tuple[Number | tuple[Number | tuple[Number, ...], ...], ...]


class PriorSpec(FilePart):
    """What is believed about the parameter, within its range."""

    kind: Literal["uniform", "beta", "triangular"] = "uniform"
    a: Number | None = Field(None, description="beta: first shape")
    b: Number | None = Field(None, description="beta: second shape")
    mode: Number | None = Field(None, description="triangular: the most likely value")


class StudySpec(FilePart):
    """So many hits in so many trials."""

    hits: Whole
    trials: Whole
    study: Word = Field("", description="where the counts stand")


def _or_a_list_of_studies(schema: dict[str, Any]) -> None:
    """In the JSON Schema: a list of studies will do, or one study, or several under `studies`."""
    said = [{"required": ["hits", "trials"]}, {"required": ["studies"]}]
    studies = {**schema["properties"]["studies"]["anyOf"][0], "minItems": 1}
    whole = {**schema, "oneOf": said}
    schema.clear()
    schema["anyOf"] = [studies, whole]


class MeasuredSpec(FilePart):
    """One study, or several that are pooled; value, prior, range and source follow."""

    model_config = ConfigDict(json_schema_extra=_or_a_list_of_studies)
    hits: Whole | None = None
    trials: Whole | None = None
    study: Word = Field("", description="where the counts stand")
    studies: tuple[StudySpec, ...] | None = None
    between: Number | None = Field(
        None,
        description="scale of the half-normal prior of the sd between studies, in log odds; "
        "default 0.5 for several",
    )

    @model_validator(mode="after")
    def _one_or_several(self) -> MeasuredSpec:
        if (self.studies is None) == (self.hits is None or self.trials is None):
            raise needs("{hits: .., trials: .., study: ..}, or a list of such studies")
        return self


def _level(value: Any) -> float:
    """A key of a mapping, which is text in a file."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise needs("levels such as 0.05, with the value at each") from None


Level = Annotated[float, BeforeValidator(_level)]


def _once_each(value: Any) -> Any:
    """Quantiles, of which no two are of one level: 0.1 and 0.10 would be the last of them."""
    told: dict[float, Any] = {}
    for level in value if isinstance(value, Mapping) else ():
        if (known := told.setdefault(_level(level), level)) is not level:
            raise needs(f"one value at each level, and {known} and {level} are one level")
    return value


class ExpertSpec(FilePart):
    """Quantiles that an expert gave."""

    expert: Word
    quantiles: Annotated[dict[Level, Number], BeforeValidator(_once_each)] = Field(
        description="level: value, such as 0.5: 0.05"
    )
    weight: Number = Field(1, description="in the pool")


def _listed(value: Any) -> Any:
    return {"studies": value} if isinstance(value, list | tuple) else value


class ParameterSpec(FilePart):
    """A named number that a question may change; write $name where it belongs."""

    value: Number | None = None
    measured: Annotated[MeasuredSpec, BeforeValidator(_listed)] | None = Field(
        None, description="counts behind the number, {hits: 241, trials: 579}, or a list of studies"
    )
    elicited: tuple[ExpertSpec, ...] | None = Field(
        None, description="quantiles of experts, {expert: A, quantiles: {0.05: 0.01, 0.95: 0.2}}"
    )
    pool: Literal["linear", "logarithmic"] | None = Field(
        None, description="how experts are pooled; default linear"
    )
    within: tuple[Number, Number] | None = Field(
        None, description="between which ends an elicited number lies; 0 and 1 for a probability"
    )
    range: tuple[Number, Number] | None = Field(
        None, description="smallest and largest value; left out, 0 to 1 for a probability"
    )
    unit: Word = Field("probability", description="records, people, ...; default probability")
    prior: PriorSpec | None = None
    source: Word | None = Field(
        None, description='where the number comes from; "assumption" is allowed'
    )
    story: Word = Field("", description="what the number means")


def _or_the_formula(schema: dict[str, Any]) -> None:
    """In the JSON Schema: the formula alone will do."""
    whole = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"type": ["string", "number"]}, whole]


class NumberBase(FilePart):
    """A number derived from parameters, columns and other numbers; write $name in cells."""

    model_config = ConfigDict(json_schema_extra=_or_the_formula)
    unit: Word | None = Field(None, description="left out, it is worked out; probability: 0 to 1")
    range: tuple[Number | None, Number | None] | None = Field(
        None, description="between which values it has to lie"
    )
    source: Word = Field("", description="where the numbers in the formula come from")
    story: Word = Field("", description="what the number means")


_FORMULA = Field(
    description="+ - * / ^ ( ), min, max, exp, log and any(p, n) over bare names, such as "
    "1 - (1 - p_ill) ^ 150"
)
NumberSpec: Any = create_model(
    "NumberSpec", __base__=NumberBase, __doc__=NumberBase.__doc__, **{"is": (Word, _FORMULA)}
)  # type: ignore[call-overload]
NumberForm = Annotated[
    NumberSpec,
    BeforeValidator(lambda value: {"is": value} if isinstance(value, str | int | float) else value),
]


class ColumnSpec(FilePart):
    """Subject data, which a table fills in per person; write "@name" where it belongs."""

    per: Word | tuple[Word, ...] | None = Field(
        None, description="a group (one value per subset of its members), a node, or several nodes"
    )
    each: Word | None = Field(None, description="a group: one value per member")
    over: Word | None = Field(None, description="a node: a distribution of its states")
    unit: Word = Field("", description="records, people, probability, ...")
    range: tuple[Number | None, Number | None] | None = Field(
        None, description="smallest and largest value"
    )
    story: Word = Field("", description="what the value means")


class MemberBase(FilePart):
    """A member of a group with a story of its own."""

    story: Word = Field("", description="how it is learnt")
    parents: tuple[Word, ...] = Field((), description="nodes and members that it depends on")
    source: Word = Field("", description="where its numbers come from; else the group's source")


class GroupBase(FilePart):
    """Attributes that may be known: one yes/no node per member."""

    story: Word = Field("", description="what knowing a member means")
    parents: tuple[Word, ...] = Field((), description="nodes that decide how likely knowing is")
    probability: Reference | tuple[Reference, ...] | None = Field(
        None, description="P(known): one for all members, or a list"
    )
    source: Word = Field("", description="where the probabilities come from")


class NodeBase(FilePart):
    """One event of the story."""

    story: Word = Field("", description="what happens when the node is yes")
    states: tuple[State, ...] | Word = Field(
        ("no", "yes"), description="a list, or a span such as 0..$class_size; default no, yes"
    )
    parents: tuple[Word, ...] = Field((), description="nodes and groups that this one depends on")
    source: Word = Field("", description="where the numbers in this node come from")
    linddun: tuple[Tag, ...] = Field((), description="LINDDUN threat types")
    panoptic: tuple[Word, ...] = Field((), description="MITRE PANOPTIC privacy activities")
    wp216: tuple[OfThree, ...] = Field((), description="the risks of Working Party opinion 216")
    five_safes: tuple[Safe, ...] = Field((), description="which of the five safes it is about")


class DecisionSpec(FilePart):
    """What the attacker chooses, as pays best on what is seen before."""

    story: Word = Field("", description="what is decided")
    options: tuple[State, ...] = Field(
        description="from holding back upwards; where two are worth the same, yes or the later one"
    )
    sees: tuple[Word, ...] = Field((), description="nodes and groups that are known by then")
    temperature: Reference = Field(
        0.0, description="0 takes the best option; above, options that lose so much are likely, too"
    )
    source: Word = Field("", description="who says that the attacker decides so")


class UtilityBase(FilePart):
    """What some nodes' states are worth to the attacker."""

    of: tuple[Word, ...] = Field(description="nodes whose states it depends on")
    unit: Word = Field(description="euro, hours, ...: one for all utilities")
    story: Word = Field("", description="what is won or lost")
    source: Word = Field("", description="where the numbers come from")


class QuestionSpec(FilePart):
    """A named question, such as {target: identified=yes}, or {expect: how_many}."""

    model_config = ConfigDict(
        extra="forbid", frozen=True,
        json_schema_extra=lambda schema: schema.update(
            oneOf=[{"required": ["target"]}, {"required": ["expect"]}]
        ),
    )  # fmt: skip

    target: Word = Field(
        "", description="node=state, several with commas; also or, not, and n>=3 for numbers"
    )
    expect: Word = Field(
        "", description="a node with numbers as states, or a group: its mean is asked for"
    )
    given: dict[str, Evidence] = Field(
        {}, description="what is known, as node: state, or node: {state: likelihood}"
    )
    story: Word = Field("", description="the question in words")


class UseSpec(FilePart):
    """A part that is another model, with names of its own."""

    model: Word = Field(description="a shipped model, or a file beside this one")
    as_: Word = Field("", alias="as", description="every name is put behind this one and _")
    with_: dict[str, Word] = Field(
        {}, alias="with",
        description="what of this file stands for its numbers ($parameter, @column) and nodes",
    )  # fmt: skip
    give: dict[str, Word] = Field({}, description="names in this file for some of its things")


class ShortForm(FilePart):
    """What makes a file stand for more than it says."""

    repeat: dict[str, Word | tuple[Word, ...]] = Field(
        {}, description="what repeats: words, pairs such as a>b, or a span such as 1..4"
    )
    use: tuple[UseSpec, ...] = Field((), description="other models as parts of this one")
    extends: Word | None = Field(
        None, description="the model that this one is a variant of; what is said here replaces it"
    )


class FileBase(ShortForm):
    """An attack: an adversary's story as a graph."""

    schema_version: Version = Field(description=f"always {SCHEMA_VERSION}")
    name: Word = Field(description="short name, as in the file's name")
    title: Word = ""
    story: Word = Field("", description="the attack, told to somebody who does not know it")
    sources: tuple[Word, ...] = Field((), description="papers, notices, people")
    excluded: dict[str, Word] = Field(
        {}, description="threats that the attack is not about, each with the reason"
    )
    shelf: Word = Field("", description="the group of models that it stands with, such as insiders")
    takes: tuple[Word, ...] = Field(
        (), description="nodes for which a scenario's node of the same name stands, if it has one"
    )
    parameters: dict[str, ParameterSpec] = Field(
        {}, description="numbers that questions may change"
    )
    where: tuple[Word, ...] = Field(
        (), description="conditions that parameters always satisfy, such as leaked <= records"
    )
    numbers: dict[str, NumberForm] = Field(
        {}, description="numbers derived by formulas: name: formula, or name: {is: formula, ...}"
    )
    subject: dict[str, ColumnSpec] = Field({}, description="what a table fills in per person")
    decisions: dict[str, DecisionSpec] = Field({}, description="what the attacker decides")
    questions: dict[str, QuestionSpec] = Field({}, description="questions by name")
    example: dict[str, Numbers] = Field(
        {}, description="subject data of one made-up person, so that the model can be asked as is"
    )


def _exactly_one(*keys: str) -> Any:
    """In the JSON Schema: one of the keys has to be there, and no two."""
    return lambda schema: schema.update(oneOf=[{"required": [key]} for key in keys])


def _or_own_stories(schema: dict[str, Any]) -> None:
    """In the JSON Schema: a list of members with probability or rows, or members with stories."""
    said = [{"required": [key]} for key in ("probability", "rows")]
    named = {"properties": {"members": {"type": "array"}}}
    own = {"properties": {"members": {"type": "object"}}, "not": {"anyOf": said}}
    schema.update(oneOf=[*({**named, **one} for one in said), own])


class FileModel:
    """The model of a whole file, for some kinds of CPD."""

    def __init__(self, kinds: Mapping[str, type[CPD]]) -> None:
        self.models = Models(kinds)
        group_rows: Any = tuple[self.models.of(GroupRow), ...] | None  # type: ignore[misc]
        node_rows: Any = tuple[self.models.of(Row), ...] | None  # type: ignore[misc]
        cpd = (self.models.any_cpd | None, Field(None, description="how its chances arise"))
        member: Any = create_model(
            "MemberSpec",
            __base__=_with(MemberBase, _exactly_one("cpd", "rows")),
            __doc__=MemberBase.__doc__,
            cpd=cpd,
            rows=(node_rows, _rows()),
        )
        names = Field(description="the yes/no nodes, at most 20: a list, or each with its story")
        group = create_model(
            "GroupSpec",
            __base__=_with(GroupBase, _or_own_stories),
            __doc__=GroupBase.__doc__,
            members=(tuple[Word, ...] | dict[str, Reference | member], names),
            rows=(group_rows, _rows()),
        )
        node = create_model(
            "NodeSpec",
            __base__=_with(NodeBase, _exactly_one("cpd", "rows")),
            __doc__=NodeBase.__doc__,
            cpd=cpd,
            rows=(node_rows, _rows()),
        )
        utility_rows: Any = tuple[self.models.of(UtilityRow), ...]  # type: ignore[misc]
        utility = create_model(
            "UtilitySpec",
            __base__=UtilityBase,
            __doc__=UtilityBase.__doc__,
            rows=(utility_rows, Field(description="what which states are worth; the first counts")),
        )
        self.file: type[FileBase] = create_model(
            "ModelFile",
            __base__=FileBase,
            __doc__=FileBase.__doc__,
            groups=(dict[str, group], Field({}, description="what may be known")),  # type: ignore[valid-type]
            nodes=(dict[str, node], Field(description="the events")),  # type: ignore[valid-type]
            utilities=(
                dict[str, utility],  # type: ignore[valid-type]
                Field({}, description="what the attacker wins and loses: their sum decides"),
            ),
        )


def _rows() -> Any:
    return Field(None, description="labelled rows; the first that fits counts")


def _with(base: type[FilePart], extra: Any) -> type[FilePart]:
    return type(base.__name__, (base,), {"model_config": {"json_schema_extra": extra}})


def head_problems(data: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with the shape of what makes a file stand for more than it says."""
    words = {"use", "extends", "repeat"}
    for key in {*data} - {*FileBase.model_fields, "groups", "nodes", "utilities"}:
        if get_close_matches(key, words, n=1):
            return [Problem((key,), f"is no key here; {did_you_mean(key, words)}", at_key=True)]
    head = {key: data[key] for key in words & {*data}}
    try:
        ShortForm.model_validate(head)
    except ValidationError as error:
        return explain(error.errors(include_url=False), head, ShortForm)
    return []


@cache
def _shipped_and_installed() -> FileModel:
    return FileModel(all_kinds())


def file_model(kinds: Mapping[str, type[CPD]] | None = None) -> FileModel:
    """The model of files with the installed kinds and those of an explicit mapping."""
    return FileModel(all_kinds(kinds)) if kinds else _shipped_and_installed()


def json_schema(kinds: Mapping[str, type[CPD]] | None = None) -> dict[str, Any]:
    """The JSON Schema of model files, for editors; without a mapping, of the shipped kinds only."""
    from reidbn.cpds.registry import shipped_kinds

    schema = FileModel({**shipped_kinds(), **(kinds or {})}).file.model_json_schema()
    return {"$schema": _SCHEMA, **stricter(_tidy(schema))}


def _tidy(schema: Any) -> Any:
    """Without what editors show and nobody reads: titles of fields, nulls that mean "left out"."""
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    for named in ("properties", "$defs"):
        if named in schema:
            schema = {**schema, named: {key: _tidy(item) for key, item in schema[named].items()}}
    schema = {key: value for key, value in schema.items() if key != "title"}
    if "description" in schema and isinstance(schema["description"], str):
        schema["description"] = re.sub(r"(?<!\n)\n(?!\n| )", " ", schema["description"])
    branches = schema.get("anyOf")
    if isinstance(branches, list) and "default" in schema and schema["default"] is None:
        branches = [branch for branch in branches if branch != {"type": "null"}]
        rest = {key: v for key, v in schema.items() if key not in ("anyOf", "default")}
        schema = {**(branches[0] if len(branches) == 1 else {"anyOf": branches}), **rest}
    done = ("properties", "$defs")
    return {key: value if key in done else _tidy(value) for key, value in schema.items()}


def json_schema_text(kinds: Mapping[str, type[CPD]] | None = None) -> str:
    """The JSON Schema as the text that is kept in models/model.schema.json."""
    return json.dumps(json_schema(kinds), indent=2, ensure_ascii=False) + "\n"
