"""What a single cell of a model file may hold: words, states, numbers, references.

CPD kinds as pydantic models, made from the fields of their frozen dataclasses.

No kind is listed here: one from another package is checked and completed like a shipped one.
A field's `metadata={"story": ...}` is its description, `{"file": False}` keeps it out of files.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import (
    Annotated,
    Any,
    ClassVar,
    ForwardRef,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model
from pydantic_core import PydanticCustomError

from reidbn.attack.yamltext import YamlBool, YamlFloat, YamlInt, written
from reidbn.cpds.protocol import CPD, Ref
from reidbn.written import is_number

REFERENCE = "a number, $parameter, @column or (for sizes) a parent"
LINDDUN = (
    "Linking",
    "Identifying",
    "Non-repudiation",
    "Detecting",
    "Data disclosure",
    "Unawareness and unintervenability",
    "Non-compliance",
)
WP216 = ("Singling out", "Linkability", "Inference")
FIVE_SAFES = ("Safe projects", "Safe people", "Safe settings", "Safe data", "Safe outputs")


def needs(what: str) -> PydanticCustomError:
    """The error of a cell that holds something else than `what`."""
    return PydanticCustomError("needs", "{need}", {"need": what})


def says(message: str) -> PydanticCustomError:
    """The error of a cell, in words of its own."""
    return PydanticCustomError("says", "{message}", {"message": message})


def _word(value: Any) -> str:
    if isinstance(value, YamlInt | YamlFloat | str):
        return written(value)
    raise needs("text")


def _state(value: Any) -> str:
    if isinstance(value, YamlBool):
        raise says(f"{value} is a truth value to other YAML tools; write yes or no, or quote it")
    return _word(value)


def _number(value: Any) -> int | float:
    if is_number(value):
        return int(value) if isinstance(value, int) else float(value)
    raise needs("a number")


def _float(value: Any) -> float:
    try:
        return float(_number(value))
    except OverflowError:
        raise needs("a number below 1e308") from None


def _plain(value: Any) -> Any:
    return int(value) if type(value) is YamlInt else value


def _whole(value: Any) -> int:
    if not is_number(value) or value != value // 1:
        raise needs("a whole number")
    return int(value)


def _reference(value: Any) -> float | str:
    if isinstance(value, str) and not isinstance(value, YamlBool):
        return str(value)
    if isinstance(value, int | float):
        return _float(value)
    raise needs(REFERENCE)


def _evidence(value: Any) -> str | dict[str, float]:
    if not isinstance(value, dict):
        return _state(value)
    found = {_state(state): _float(p) for state, p in value.items()}
    for state, p in found.items():
        if not 0 <= p <= 1:
            raise says(f"{state}: {p:g} is no likelihood of what was seen: it lies between 0 and 1")
    return found


_TEXT = WithJsonSchema({"type": ["string", "number"]})
Word = Annotated[str, BeforeValidator(_word), _TEXT]
State = Annotated[str, BeforeValidator(_state), _TEXT]
Number = Annotated[int | float, BeforeValidator(_number), WithJsonSchema({"type": "number"})]
Float = Annotated[float, BeforeValidator(_float), WithJsonSchema({"type": "number"})]
Whole = Annotated[int, BeforeValidator(_whole), WithJsonSchema({"type": "integer"})]
Version = Annotated[Literal[1], BeforeValidator(_plain)]
Evidence = Annotated[
    Any,
    BeforeValidator(_evidence),
    WithJsonSchema({
        "anyOf": [
            {"type": ["string", "number"]},
            {"type": "object", "additionalProperties": {"type": "number"}},
        ],
        "description": "a state, or for every state P(what was seen | state)",
    }),
]  # fmt: skip
Reference = Annotated[
    float | str,
    BeforeValidator(_reference),
    WithJsonSchema({"type": ["number", "string"], "description": REFERENCE}),
]


def _one_of(words: tuple[str, ...]) -> WithJsonSchema:
    """These are offered; other names of the same are understood."""
    return WithJsonSchema({"anyOf": [{"enum": list(words)}, {"type": "string"}]})


Tag = Annotated[str, BeforeValidator(_word), _one_of(LINDDUN)]
OfThree = Annotated[str, BeforeValidator(_word), _one_of(WP216)]
Safe = Annotated[str, BeforeValidator(_word), _one_of(FIVE_SAFES)]


# -- cpd kinds as pydantic models, made from the fields of their frozen dat ------------------------


_LEAVES = {str: Word, float: Float, int: Whole}


class FilePart(BaseModel):
    """A piece of a model file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FromDataclass(FilePart):
    """A model made from a frozen dataclass; `build` gives the dataclass."""

    made_of: ClassVar[type]

    def build(self) -> Any:
        names = [f.name for f in fields(self.made_of) if _in_file(f)]
        return self.made_of(**{name: built(getattr(self, name)) for name in names})


def built(value: Any) -> Any:
    """The dataclasses in a validated value."""
    if isinstance(value, FromDataclass):
        return value.build()
    if isinstance(value, tuple):
        return tuple(built(item) for item in value)
    if isinstance(value, dict):
        return {key: built(item) for key, item in value.items()}
    return value


class Models:
    """The models of some kinds, and `any_cpd`: one of them, told apart by `kind`."""

    def __init__(self, kinds: Mapping[str, type[CPD]]) -> None:
        self._made: dict[tuple[type, str | None], type[FromDataclass]] = {}
        self.by_kind = {name: self.of(cls, name) for name, cls in kinds.items()}
        union: Any = Union[tuple(self.by_kind.values())]  # noqa: UP007
        self.any_cpd: Any = Annotated[union, Field(discriminator="kind")]
        for model in self._made.values():
            model.model_rebuild(_types_namespace={"AnyCPD": self.any_cpd})

    def of(self, made_of: type, kind: str | None = None) -> type[FromDataclass]:
        """The model of a dataclass; of a CPD when a kind is named."""
        if (made_of, kind) not in self._made:
            hints = get_type_hints(made_of)
            wanted: dict[str, Any] = {"kind": (Literal[kind], ...)} if kind else {}
            for field in fields(made_of):
                if _in_file(field):
                    wanted[field.name] = (self._hint(hints[field.name]), _default(field))
            name = made_of.__name__
            model = create_model(name, __base__=FromDataclass, __doc__=made_of.__doc__, **wanted)
            model.made_of = made_of
            self._made[made_of, kind] = model
        return self._made[made_of, kind]

    def _hint(self, hint: Any) -> Any:
        """A field's type with leaves that check what files hold, and models for dataclasses."""
        if hint == Ref:
            return Reference
        if hint in _LEAVES:
            return _LEAVES[hint]
        if hint is CPD:
            return ForwardRef("AnyCPD")
        if isinstance(hint, type) and is_dataclass(hint):
            return self.of(hint)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, types.UnionType):
            return Union[tuple(self._hint(a) for a in _joined(arguments))]  # noqa: UP007
        if origin in (tuple, list, dict) and arguments:
            return origin[tuple(a if a is ... else self._hint(a) for a in arguments)]
        return hint


def _in_file(field: Any) -> bool:
    return bool(field.init and field.metadata.get("file", True))


def _default(field: Any) -> Any:
    story = field.metadata.get("story")
    if field.default is not MISSING:
        return Field(field.default, description=story)
    if field.default_factory is not MISSING:
        return Field(default_factory=field.default_factory, description=story)
    return Field(description=story)


def _joined(arguments: tuple[Any, ...]) -> list[Any]:
    """A union's members, with float and str side by side read as one reference."""
    if float in arguments and str in arguments:
        return [a for a in arguments if a not in (float, str)] + [Ref]
    return list(arguments)
