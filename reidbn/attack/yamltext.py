"""Reading YAML 1.2 as plain data, with the line and column of everything.

Built on ruamel.yaml's event parser: no tags, no anchors, no objects, nothing that runs.  Words
such as `yes`, `no` and `on` are text.  Numbers and true/false remember how they were written, so
that a state named 007 stays 007.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reidbn.attack.leaves import Where
from reidbn.attack.yamlerrors import syntax_problem
from reidbn.errors import Problem

DEEPEST = 24
_INT = re.compile(r"[-+]?[0-9][0-9_]*\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?\Z")
_ENDLESS = re.compile(r"([-+]?)\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")


class YamlInt(int):
    """A whole number that remembers how it was written."""

    text: str


class YamlFloat(float):
    """A number that remembers how it was written."""

    text: str


class YamlBool(str):
    """The words true and false: nothing in a model file is a truth value."""

    __slots__ = ()


@dataclass
class Document:
    """A file as plain data, where everything stands, and what the YAML itself gets wrong."""

    text: str
    data: Any = None
    marks: dict[Where, tuple[int, int]] = field(default_factory=dict)
    key_marks: dict[Where, tuple[int, int]] = field(default_factory=dict)
    problems: list[tuple[Problem, tuple[int, int]]] = field(default_factory=list)
    unread: set[Where] = field(default_factory=set)  # what stands there is not what was meant
    broken: tuple[int, int, str] | None = None  # line, column and message of a syntax error

    def mark(self, where: Where, *, at_key: bool = False) -> tuple[int, int]:
        """Line and column (from 0) of an address, or of the nearest thing around it."""
        if at_key and where in self.key_marks:
            return self.key_marks[where]
        for end in range(len(where), 0, -1):
            if where[:end] in self.marks:
                return self.marks[where[:end]]
        return self.marks.get((), (0, 0))

    def at(self, where: Where) -> Any:
        """The plain data at an address, or None."""
        here = self.data
        for part in where:
            try:
                here = here[part]
            except (KeyError, IndexError, TypeError):
                return None
        return here


def read_yaml(text: str) -> Document:
    """The document in a text; a syntax error ends the reading, everything else is collected.

    >>> read_yaml("states: [no, yes]").data
    {'states': ['no', 'yes']}
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    document = Document(text)
    try:
        _Builder(document, YAML(typ="safe", pure=True).parse(text)).build()
    except YAMLError as problem:
        document.broken = syntax_problem(problem, text)
    except _TooDeepError as problem:  # at once: the parser takes quadratic time in the depth
        message = f"is nested more than {DEEPEST} levels deep"
        document.broken = (*problem.args, message)
    return document


class _TooDeepError(Exception):
    """Line and column where it becomes too deep."""


class _Builder:
    """Turns events into data, noting marks and problems on the way."""

    def __init__(self, document: Document, events: Iterator[Any]) -> None:
        self.document = document
        self.events = events

    def build(self) -> None:
        from ruamel.yaml.events import DocumentStartEvent, StreamEndEvent

        documents = 0
        for event in self.events:
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents == 1:
                    self.document.data = self.value(next(self.events), ())
                else:
                    message = "a second document starts here; keep one model per file"
                    line = event.start_mark.line, event.start_mark.column
                    self.document.broken = self.document.broken or (*line, message)
            elif isinstance(event, StreamEndEvent):
                return

    def value(self, event: Any, where: Where) -> Any:
        from ruamel.yaml.events import AliasEvent, MappingStartEvent, SequenceStartEvent

        self.document.marks[where] = (event.start_mark.line, event.start_mark.column)
        self._refuse_extras(event, where)
        if len(where) > DEEPEST:
            raise _TooDeepError(event.start_mark.line, event.start_mark.column)
        if isinstance(event, AliasEvent):
            message = f"*{event.anchor}: anchors and aliases are not used; write it out"
            self._refuse(where, message, event)
            return None
        if isinstance(event, MappingStartEvent):
            if not event.flow_style and where in self.document.key_marks:
                self.document.marks[where] = self.document.key_marks[where]
            return self._mapping(where)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(where)
        if event.implicit[0]:
            if not event.value and where in self.document.key_marks:
                self.document.marks[where] = self.document.key_marks[where]
            return scalar(event.value)
        return str(event.value)

    def _refuse_extras(self, event: Any, where: Where) -> None:
        from ruamel.yaml.events import AliasEvent

        if getattr(event, "anchor", None) and not isinstance(event, AliasEvent):
            message = f"&{event.anchor}: anchors and aliases are not used; write it out"
            self._problem(where, message, event)
        tag = getattr(event, "ctag", None) or getattr(event, "tag", None)
        if tag:
            message = "a tag (!...) is not used here: files hold plain text and numbers, no code"
            self._refuse(where, message, event)

    def _problem(self, where: Where, message: str, event: Any) -> None:
        mark = event.start_mark.line, event.start_mark.column
        self.document.problems.append((Problem(where, message), mark))

    def _refuse(self, where: Where, message: str, event: Any) -> None:
        """A problem that leaves the value unread: what else is wrong there is its consequence."""
        self.document.unread.add(where)
        self._problem(where, message, event)

    def _mapping(self, where: Where) -> dict[str, Any]:
        from ruamel.yaml.events import MappingEndEvent, ScalarEvent

        out: dict[str, Any] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            if not isinstance(event, ScalarEvent):
                self._problem(where, "has a key that is not a plain word", event)
                self._skip(event)
                self._skip(next(self.events))
                continue
            key = str(event.value)
            inner = (*where, key)
            if key == "<<":
                self._problem(inner, "merge keys are not used; write it out", event)
                self._skip(next(self.events))
                continue
            if key in out:
                line = self.document.key_marks[inner][0] + 1
                message = f"stands here a second time (first on line {line})"
                self._problem(inner, message, event)
                self._skip(next(self.events))
                continue
            self.document.key_marks[inner] = (event.start_mark.line, event.start_mark.column)
            self._refuse_extras(event, inner)
            out[key] = self.value(next(self.events), inner)
        return out

    def _sequence(self, where: Where) -> list[Any]:
        from ruamel.yaml.events import SequenceEndEvent

        out: list[Any] = []
        while not isinstance(event := next(self.events), SequenceEndEvent):
            out.append(self.value(event, (*where, len(out))))
        return out

    def _skip(self, event: Any) -> None:
        """Pass over one value, whatever is in it."""
        from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

        depth = 0
        while True:
            depth += isinstance(event, CollectionStartEvent)
            depth -= isinstance(event, CollectionEndEvent)
            if depth <= 0:
                return
            event = next(self.events)


def scalar(text: str) -> Any:
    """A plain word as YAML 1.2 reads it, keeping how it was written.

    >>> scalar("yes"), scalar("0.50"), scalar("40_000"), scalar("~") is None
    ('yes', 0.5, 40000, True)
    """
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return YamlBool(text)
    number: YamlInt | YamlFloat
    if _INT.match(text) and len(text) <= 400:
        number = YamlInt(text.replace("_", ""))
    elif _FLOAT.match(text) or _ENDLESS.match(text):
        number = YamlFloat(text.replace("_", "").replace(".i", "i").replace(".n", "n"))
    else:
        return text
    number.text = text
    return number


def written(value: Any) -> str:
    """A scalar as it stands in the file."""
    return str(getattr(value, "text", value))
