"""Remedies in the shell's words: a message names Python's options, a command has its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

_NAMES = {  # Python's name: the command line's, where they differ
    "quasi_identifiers": "--qi",
    "hierarchies": "--hierarchy",
    "columns": "--column",
    "ranges": "--range",
    "level": "--confidence",  # --level is that of a hierarchy
}
_VALUE = r"""True|"[^"]*"|'[^']*'|\[[^\]]*\]|\{[^}]*\}|\.\.\.|-?\d[\d,.]*\d|-?\d|[A-Z]+|"""
_OPTION = re.compile(rf"(?<![\w\-\"'.=])(?<!P\()(?P<name>[a-z]\w*)=(?P<value>{_VALUE})(?![\w=])")
_CALL = re.compile(r"\b(?:rb\.)?[a-z_.]+\((?:[\w, ]*|\.\.\.), (?P<option>--[^)]*)\)")
_RULE = re.compile(r"rb\.(?:microdata\.)?(Bands|Prefix|Suffix)\(([\d, ]*)\)")
_PHRASES = {
    "(or Prefix, Tree, a CSV file)": "(or prefix:4,2, month,year, a CSV file)",
    'Dates(..., order="day-first") or order="month-first"': (
        "after the rule, @day-first or @month-first"
    ),
    "rb.ask(..., engine='sampling') or rb.assess(..., method='simulation')": (
        "reidbn ask --engine sampling or reidbn assess --method simulation"
    ),
    "name it as subject_id if": "name it with --subject-id if",
    "use class_sizes, or as_written() to compare values as texts": (
        "release one level of each hierarchy, and take a missing cell as --missing value"
    ),
}


def in_shell(message: str, command: click.Command | None) -> str:
    """The message with `name=value` as the command's `--name value`, where it has that option.

    >>> option = click.Option(["--missing"]), click.Option(["--allow-direct"], is_flag=True)
    >>> command = click.Command("classes", params=list(option))
    >>> in_shell('use missing="value"; allow_direct=True keeps it; most=3', command)
    'use --missing value; --allow-direct keeps it; most=3'
    """
    if command is None:
        return message
    flags = {p.name: p.opts[0] for p in command.params if isinstance(p, click.Option) and p.name}
    known = set(flags.values())

    def written(found: re.Match[str]) -> str:
        name = found["name"]
        flag = _NAMES.get(name) or flags.get(name) or "--" + name.replace("_", "-")
        if flag not in known:
            return found[0]
        value = _plain(found["value"])
        return f"{flag} {value}" if value else flag

    for python, shell in _PHRASES.items():
        message = message.replace(python, shell)
    message = _RULE.sub(lambda rule: f"{rule[1].lower()}:{rule[2].replace(' ', '')}", message)
    return _CALL.sub(lambda call: call["option"], _OPTION.sub(written, message))


def _plain(value: str) -> str:
    """A value as it is typed after an option."""
    if value == "True":
        return ""
    if value in ("...", "[...]"):
        return "..."
    if value[:1] in ("[", "{"):
        parts: Iterable[str] = re.split(r",(?![\d])", value[1:-1])
        pairs = (re.sub(r"\s*:\s*", "=", part.strip(), count=1) for part in parts)
        return ",".join(pair.replace('"', "").replace("'", "") for pair in pairs)
    return value.strip("\"'")
