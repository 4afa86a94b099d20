"""What a single cell of a model file may hold: words, states, numbers, references."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from reidbn.attack.yamltext import YamlBool, YamlFloat, YamlInt, written

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


def needs(what: str) -> PydanticCustomError:
    """The error of a cell that holds something else than `what`."""
    return PydanticCustomError("needs", "{need}", {"need": what})


def _word(value: Any) -> str:
    if isinstance(value, YamlInt | YamlFloat | str):
        return written(value)
    raise needs("text")


def _state(value: Any) -> str:
    if isinstance(value, YamlBool):
        message = f"{value} is a truth value to other YAML tools; write yes or no, or quote it"
        raise PydanticCustomError("says", "{message}", {"message": message})
    return _word(value)


def _number(value: Any) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
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
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
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
    if not all(0 <= p <= 1 for p in found.values()):
        raise needs("for every state how likely it makes what was seen, between 0 and 1")
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
Tag = Annotated[
    str,
    BeforeValidator(_word),
    WithJsonSchema({"anyOf": [{"enum": list(LINDDUN)}, {"type": "string"}]}),
]
