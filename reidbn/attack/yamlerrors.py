"""Syntax errors of YAML in plain words."""

from __future__ import annotations

from typing import Any

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
    unclosed = {"flow sequence": "[", "flow mapping": "{", "quoted scalar": "a quote"}
    for what, sign in unclosed.items():
        if what in context and opened is not None and "escape" not in message:
            return opened.line, opened.column, _unclosed(sign, mark, text)
    return line, column, _plain(message, text, line, column)


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
