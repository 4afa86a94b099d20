"""Two result files side by side: what `reidbn compare a.json b.json` prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from reidbn.cli._options import print_json, print_table
from reidbn.errors import UsageError

WRITERS = "write them with --json-report FILE, or result.report('file.json')"


def are_results(*names: str | None) -> bool:
    """Whether all are files of results, and not attacks and questions."""
    return all(name is not None and name.endswith(".json") for name in names)


def compare_files(first: str, second: str, *, as_json: bool) -> None:
    """Every number of two results of one kind, and what lies between them."""
    (kind, before, own), (other, after, others) = _read(first), _read(second)
    if kind != other:
        raise UsageError(
            f"{first} is of {kind} and {second} of {other}: their numbers mean different things"
        )
    rows = [
        (name, before.get(name), after.get(name), _difference(before.get(name), after.get(name)))
        for name in dict.fromkeys([*before, *after])
    ]
    if as_json:
        names = ("measure", "first", "second", "difference")
        print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    click.echo(f"{kind}: {first} against {second}")
    table = [(name, _text(a), _text(b), _text(d, signed=True)) for name, a, b, d in rows]
    print_table(("measure", Path(first).name, Path(second).name, "difference"), table)
    if not (own and others):
        click.echo("Numbers of a report that may leave the house are rounded, and so is this.")


def _read(name: str) -> tuple[str, dict[str, Any], bool]:
    """The kind of result, its numbers by name, and whether they are the custodian's exact ones."""
    try:
        content = json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as problem:
        raise UsageError(f"{name}: cannot be read: {problem.strerror}") from None
    except ValueError:
        raise UsageError(f"{name} is no JSON; {WRITERS}") from None
    measures = content.get("measures") if isinstance(content, dict) else None
    if not isinstance(measures, dict):
        raise UsageError(f"{name} holds no result: it has no measures; {WRITERS}")
    numbers: dict[str, Any] = {}
    for measure, told in measures.items():
        if not isinstance(told, dict):
            raise UsageError(f"{name}: {measure} is no measure of a result; {WRITERS}")
        if "value" in told:
            numbers[measure] = told["value"]
        else:
            numbers |= {f"{measure}, {part}": value for part, value in told.items()}
    if "verdict" in content:
        numbers = {"verdict": content["verdict"], **numbers}
    exact = bool(content.get("custodians_own_copy"))
    return str(content.get("result", "Assessment")), numbers, exact


def _difference(first: Any, second: Any) -> float | None:
    numbers = [isinstance(x, int | float) and not isinstance(x, bool) for x in (first, second)]
    return second - first if all(numbers) else None


def _text(value: Any, *, signed: bool = False) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:+,.4g}" if signed else f"{value:,.4g}"
    return str(value)
