"""Problems of a file, shown as `file:line:column: address: message` with the line and a caret.

What pydantic found wrong with the shape of a file, in plain words and with addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from reidbn.attack.leaves import Where
from reidbn.attack.yamltext import Document, YamlBool, scalar, written
from reidbn.errors import ModelError, Problem, did_you_mean, raise_problems

_SHOWN = 96
_OURS = re.compile(
    r"^[\s{\"']*schema_version[\"']?\s*:|^extends\s*:"
    r"|^(?:parameters|groups|decisions|nodes|questions|knows)\s*:\s*(?:[{\[#]|$)",
    re.MULTILINE,
)
"""What stands in every file of ours, broken or not, and in no table of people."""
_UNSHOWABLE = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")


@dataclass(frozen=True)
class FileProblem(Problem):
    """A problem and where it stands: line and column count from 1; line 0 is the file as such."""

    file: str = ""
    line: int = 0
    column: int = 0
    source: str = ""

    def __str__(self) -> str:
        address = "warning: " if self.is_warning else ""
        address += f"{self.address}: " if self.where else ""
        if not self.line:
            return f"{self.file}: {address}{self.message}"
        head = f"{self.file}:{self.line}:{self.column}: {address}{self.message}"
        start = max(0, self.column - _SHOWN)
        shown = _UNSHOWABLE.sub("\N{REPLACEMENT CHARACTER}", self.source)[start:][:_SHOWN]
        number = f"{self.line:>5} | "
        caret = " " * (len(number) - 2) + "| " + " " * (self.column - 1 - start) + "^"
        return f"{head}\n{number}{shown}\n{caret}"


_OTHERWISE = {"states": "options"}  # words of one part of a file that mean another in the next


def in_file(document: Document, label: str, problems: Iterable[Problem]) -> list[FileProblem]:
    """The problems of a document with their lines, in the order of the file."""
    lines = document.text.split("\n")
    found = [
        (p, document.mark(p.where, at_key=p.at_key))
        for p in problems
        if not any(p.where[:end] in document.unread for end in range(len(p.where) + 1))
    ]
    found += document.problems
    if document.broken:
        line, column, message = document.broken
        found.append((Problem((), message), (line, column)))
    found = _once_for_all(document, found)
    located = [
        FileProblem(p.where, p.message, p.at_key, p.level, label, line + 1, column + 1,
                    lines[line].rstrip("\r") if line < len(lines) else "")
        for p, (line, column) in found
    ]  # fmt: skip
    return sorted(dict.fromkeys(located), key=lambda p: (p.line, p.column, p.message))


def _once_for_all(
    document: Document, found: list[tuple[Problem, tuple[int, int]]]
) -> list[tuple[Problem, tuple[int, int]]]:
    """A slip in what is written once for several is one problem, told of the first of them."""
    kept: dict[Any, tuple[Problem, tuple[int, int]]] = {}
    others: dict[Any, list[str]] = {}
    for problem, mark in found:
        ends = range(len(problem.where), 0, -1)
        bound = next((b for e in ends if (b := document.bound.get(problem.where[:e]))), "")
        message = problem.message
        for value in sorted(re.findall(r"= (\w+)", bound), key=len, reverse=True):
            message = re.sub(rf"(?<![^\W_]){value}(?![^\W_])", "?", message)
        key = (mark, message, problem.level) if bound else (mark, problem)
        if key not in kept:
            told = f"{problem.message} [{bound}]" if bound else problem.message
            kept[key] = (replace(problem, message=told), mark)
        else:
            others.setdefault(key, []).append(bound)
    for key, bounds in others.items():
        problem, mark = kept[key]
        more = f"{problem.message[:-1]}; and so for {len(bounds)} more]"
        kept[key] = (replace(problem, message=more), mark)
    return list(kept.values())


def raise_file_problems(label: str, problems: list[FileProblem]) -> None:
    """Raise all problems of a file as one ModelError, or do nothing when there is no error."""
    raise_problems(label, problems, before="")


def whole(label: str, message: str) -> ModelError:
    """An error about a file as such."""
    problem = FileProblem((), message, file=label)
    error = ModelError(str(problem))
    error.problems = (problem,)
    return error


def refuse_others(document: Document, label: str, what: str, starts: str) -> None:
    """Refuse a text that is none of our files without a word of it: it may be a table of people.

    `what` it should be, which `starts` so.
    """
    if document.data is None and not document.broken:
        raise whole(label, f"is empty; {starts}")
    if not _OURS.search(document.text) or (not document.broken and type(document.data) is not dict):
        message = f"is no {what}, and nothing of it is shown: it may be a table of people; {starts}"
        raise whole(label, message)


# -- what pydantic found wrong with the shape of a file, in plain words and ------------------------


_NEEDED = {
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "string_type": "text",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
}


def explain(errors: Sequence[Any], data: Any, model: type[BaseModel]) -> list[Problem]:
    """One problem per thing that is wrong; the branches of a union count as one."""
    mismatches: dict[Where, list[str]] = {}
    found: list[Problem] = []
    for error in errors:
        where, kind = _resolve(error["loc"], data), error["type"]
        if kind in _NEEDED or kind == "needs":
            need = error["ctx"]["need"] if kind == "needs" else _NEEDED[kind]
            mismatches.setdefault(where, []).append(need)
        else:
            found.append(_other(error, where, data, model))
    seen = {*mismatches, *(problem.where for problem in found)}
    for where, needed in mismatches.items():
        deeper = any(len(w) > len(where) and w[: len(where)] == where for w in seen)
        if not deeper:  # a union's other branches stumble over the whole of what one branch reads
            wanted = " or ".join(dict.fromkeys(needed))
            value = _at(data, where)
            slip = _slip(value, wanted) or _form(where, wanted, data, model)
            message = f"is {describe(value)}; needed: {wanted}{slip}"
            found.append(Problem(where, message))
    return found


def describe(value: Any) -> str:
    """What stands in the file, in a few words."""
    if value is None:
        return "empty"
    if isinstance(value, YamlBool):
        return f"the truth value {value}"
    if isinstance(value, str):
        return f'the text "{value if len(value) <= 40 else value[:37] + "..."}"'
    if isinstance(value, list):
        return "a list"
    return "a mapping" if isinstance(value, dict) else written(value)


def _slip(value: Any, wanted: str) -> str:
    """What was probably meant where a number was needed."""
    if "number" not in wanted or not isinstance(value, str):
        return ""
    if isinstance(scalar(value), int | float):
        return ", without quotes"
    percent = scalar(value.removesuffix("%").strip())
    if value.endswith("%") and "whole" in wanted:
        return ", such as 12: how many they are, and not which share"
    if value.endswith("%") and isinstance(percent, int | float):
        return f", such as {percent / 100:.12g}"
    part = re.fullmatch(r"(\d+) ?/ ?(\d+)", value)
    if part and int(part[2]):
        return f", such as {int(part[1]) / int(part[2]):.12g}"
    if re.fullmatch(r"-?\d+,\d{1,2}|-?0,\d+", value):
        return f", such as {value.replace(',', '.')}"
    return ""


def _form(where: Where, wanted: str, data: Any, model: type[BaseModel]) -> str:
    """What a mapping holds, where its field says so."""
    if where[-1:] == ("p",) and wanted == "a list or a mapping":
        return ", such as {yes: 0.2, no: rest}"
    if wanted != "a mapping" or not where:
        return ""
    field = _fields(model, where[:-1], data).get(str(where[-1]))
    said = (field.description or "") if field is not None else ""
    return f" ({said})" if "{" in said or ": " in said else ""


def _resolve(loc: Sequence[str | int], data: Any) -> Where:
    """The address in the file: pydantic also names union branches and tags, which are no keys."""
    where: list[str | int] = []
    for part in loc:
        known = isinstance(data, dict) and part in data
        if known or (isinstance(data, list) and isinstance(part, int) and part < len(data)):
            data = data[part]
            where.append(part)
    return tuple(where)


def _at(data: Any, where: Where) -> Any:
    for part in where:
        data = data[part]
    return data


def _other(error: Any, where: Where, data: Any, model: type[BaseModel]) -> Problem:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "missing":
        return _missing(error["loc"][-1], where, data, model)
    if kind == "extra_forbidden":
        key = str(where[-1])
        if ":" in key:
            return Problem(where, "is no key; a blank is missing after the colon", at_key=True)
        known = _fields(model, where[:-1], data)
        hint = did_you_mean(_OTHERWISE.get(key, key) if key not in known else key, known)
        return Problem(where, f"is no key here; {hint}", at_key=True)
    if kind == "union_tag_not_found":
        return Problem(where, "has no kind; write, for example, {kind: and}")
    if kind == "union_tag_invalid":
        kinds = [k.strip(" '") for k in context["expected_tags"].split(",")]
        tag = str(context["tag"])
        return Problem((*where, "kind"), f'no CPD kind "{tag}"; {did_you_mean(tag, kinds)}')
    if kind == "literal_error":
        return _literal(where, error["input"], context["expected"])
    if kind == "too_long":
        found, wanted = context["actual_length"], context["max_length"]
        return Problem(where, f"has {found} entries; needed: {wanted}")
    message = context["message"] if kind == "says" else error["msg"].removeprefix("Value error, ")
    return Problem(where, message)


def _missing(key: str | int, where: Where, data: Any, model: type[BaseModel]) -> Problem:
    if isinstance(key, int):
        return Problem(where, f"has too few entries: number {key + 1} is missing")
    field = _fields(model, where, data).get(key)
    story = f" ({field.description})" if field is not None and field.description else ""
    return Problem(where, f"has no {key}{story}")


def _literal(where: Where, value: Any, expected: str) -> Problem:
    known = [word.strip(" '") for part in expected.split(" or ") for word in part.split(",")]
    if where == ("schema_version",):
        message = f"is {describe(value)}; this version of reidbn reads schema_version: {known[0]}"
        return Problem(where, message)
    return Problem(where, f"is {describe(value)}; needed: {' or '.join(known)}")


def _fields(model: type[BaseModel], where: Where, data: Any) -> dict[str, Any]:
    """The fields of the model that reads the mapping at an address."""
    hints: list[Any] = [model]
    for part in where:
        hints = [inner for hint in hints for inner in _inside(hint, part, data)]
        data = data[part]
    models = [hint for outer in hints for hint in _flat(outer) if _is_model(hint)]
    kind = data.get("kind") if isinstance(data, dict) else None
    named = [m for m in models if kind in get_args(_annotation(m, "kind"))]
    return {f.alias or name: f for m in named or models for name, f in m.model_fields.items()}


def _annotation(model: Any, name: str) -> Any:
    return model.model_fields[name].annotation if name in model.model_fields else None


def _is_model(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, BaseModel)


def _flat(hint: Any) -> Iterator[Any]:
    """A type with its unions and annotations taken apart."""
    arguments = get_args(hint)
    if _is_model(hint) or get_origin(hint) in (tuple, list, dict) or not arguments:
        yield hint
    else:
        for argument in arguments:
            yield from _flat(argument)


def _inside(outer: Any, part: str | int, data: Any) -> Iterator[Any]:
    """The types of what stands at `part` inside something of type `outer`."""
    for hint in _flat(outer):
        arguments = get_args(hint)
        if _is_model(hint) and part in hint.model_fields:
            kind = data.get("kind") if isinstance(data, dict) else None
            if "kind" not in hint.model_fields or kind in get_args(_annotation(hint, "kind")):
                yield hint.model_fields[part].annotation
        elif isinstance(part, str) and get_origin(hint) is dict:
            yield arguments[1]
        elif isinstance(part, int) and get_origin(hint) in (tuple, list):
            yield arguments[0]
