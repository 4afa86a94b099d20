"""Syntax errors of YAML in plain words.

Reading YAML 1.2 as plain data, with the line and column of everything.

Built on ruamel.yaml's event parser: no tags, no anchors, no objects, nothing that runs.  Words
such as `yes`, `no` and `on` are text.  Numbers and true/false remember how they were written, so
that a state named 007 stays 007.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from reidbn.attack.leaves import Where
from reidbn.errors import Problem

_SPECIAL = {
    "\t": "a tab: indent with blanks only",
    "@": 'a word cannot start with @ in YAML; put it in quotes, as in "@class_size"',
    "`": "a word cannot start with a backtick in YAML; put it in quotes",
    "%": "a word cannot start with % in YAML; put it in quotes",
}
_UNEXPECTED = {
    "']'": "a ] without its [",
    "'}'": "a } without its {",
    "<scalar>": "text after the end of the value; put the whole value in quotes",
    "'?'": "this line does not continue what is above; check its indentation",
    "<block mapping start>": "this line is indented differently from its neighbours",
    "'-'": "a list item where a `key: value` was expected; check its indentation",
    "<block sequence start>": "a list item where a `key: value` was expected",
}
_BRACKETED = re.compile(r"\w+(?:\[\w+\]\w*)+|(?:\[\w+\])+\w+(?:\[\w+\]\w*)*")


def syntax_problem(problem: Any, text: str) -> tuple[int, int, str]:
    """Line and column (from 0) and a message, from whatever ruamel.yaml reports."""
    mark = getattr(problem, "problem_mark", None)
    if mark is None:
        return _unreadable(problem, text)
    message = str(problem.problem or problem.context or "cannot be read")
    context = str(problem.context or "")
    opened = problem.context_mark
    line, column = mark.line, mark.column
    if "could not find expected ':'" in message and opened is not None:
        words = "a `key: value` is expected here; the colon and a blank are missing"
        return opened.line, opened.column, words
    lines = text.splitlines()
    if "mapping values are not allowed" in message and 0 < line <= len(lines):
        joined = re.fullmatch(r"\s*[\w-]+:(?=[\w$\"'\[{.@-])(?!//)\S*\s*", lines[line - 1])
        if joined:  # read as the start of a text that goes on in the next line
            return line - 1, lines[line - 1].index(":"), "a blank is missing after the colon"
    unclosed = {"flow sequence": "[", "flow mapping": "{", "quoted scalar": "a quote"}
    for what, sign in unclosed.items():
        if what in context and opened is not None and "escape" not in message:
            if sign in "[{" and (name := _bracketed(lines, line, column)):
                words = f'a name with [..] stands in quotes here: "{name[0]}"'
                return line, name.start(), words
            return opened.line, opened.column, _unclosed(sign, mark, text)
    return line, column, _plain(message, text, line, column)


def _bracketed(lines: list[str], line: int, column: int) -> re.Match[str] | None:
    """The name of what repeats, such as notice_[who], in which a flow list goes wrong."""
    found = _BRACKETED.finditer(lines[line]) if line < len(lines) else ()
    return next((m for m in found if m.start() <= column <= m.end()), None)


def _unclosed(sign: str, mark: Any, text: str) -> str:
    what = f"{sign} is opened here and never closed"
    lines = text.splitlines()
    if mark.line < len(lines) and lines[mark.line].strip():
        return f"{what}, or what is inside it goes wrong at line {mark.line + 1}:{mark.column + 1}"
    return what


def _plain(message: str, text: str, line: int, column: int) -> str:
    if "that cannot start any token" in message:
        lines = text.splitlines()
        sign = lines[line][column] if line < len(lines) and column < len(lines[line]) else ""
        return _SPECIAL.get(sign, f"nothing can start with {sign!r}; put the text in quotes")
    if "mapping values are not allowed" in message:
        return (
            "a second `: ` in one value; put text that holds a colon in quotes, "
            "or check the indentation of this line"
        )
    if "unknown escape character" in message:
        return 'an unknown \\ escape; use single quotes, or write \\\\ inside "..."'
    for found, words in _UNEXPECTED.items():
        if "but found" in message and found in message:
            return words
    return message


def _unreadable(problem: Any, text: str) -> tuple[int, int, str]:
    position = getattr(problem, "position", None)
    if isinstance(position, int) and position <= len(text):
        before = text[:position]
        line = before.count("\n")
        code = ord(text[position]) if position < len(text) else 0
        column = position - (before.rfind("\n") + 1)
        return line, column, f"a control character (code {code}), which text cannot hold"
    return 0, 0, str(problem).splitlines()[0]


# -- reading yaml 1.2 as plain data, with the line and column of everything ------------------------


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
    template: Any = None  # what the file says, where `data` is more than is written there
    bound: dict[Where, str] = field(default_factory=dict)  # "relative = mother", of what repeats

    def mark(self, where: Where, *, at_key: bool = False) -> tuple[int, int]:
        """Line and column (from 0) of an address, or of the nearest thing around it."""
        if at_key and where in self.key_marks:
            return self.key_marks[where]
        for end in range(len(where), 0, -1):
            if where[:end] in self.marks:
                return self.marks[where[:end]]
        return self.marks.get((), (0, 0))

    def moved(self, came: Mapping[Where, Where]) -> Document:
        """A copy whose addresses are new; `came` says where each stood."""
        return replace(
            self,
            marks={new: self.marks[at] for new, at in came.items() if at in self.marks},
            key_marks={new: self.key_marks[at] for new, at in came.items() if at in self.key_marks},
            unread={new for new, at in came.items() if at in self.unread},
            bound={new: self.bound[at] for new, at in came.items() if at in self.bound},
        )

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
