"""Problems of a file, shown as `file:line:column: address: message` with the line and a caret."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from reidbn.attack.yamltext import Document
from reidbn.errors import Problem, raise_problems

_SHOWN = 96
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
    located = [
        FileProblem(p.where, p.message, p.at_key, p.level, label, line + 1, column + 1,
                    lines[line].rstrip("\r") if line < len(lines) else "")
        for p, (line, column) in found
    ]  # fmt: skip
    return sorted(dict.fromkeys(located), key=lambda p: (p.line, p.column, p.message))


def raise_file_problems(label: str, problems: list[FileProblem]) -> None:
    """Raise all problems of a file as one ModelError, or do nothing when there is no error."""
    raise_problems(label, problems, before="")
