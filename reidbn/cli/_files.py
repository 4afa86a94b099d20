"""Two result files side by side: what `reidbn compare a.json b.json` prints.

`drawing` is how far draws alone may put two means apart, as in Python.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from reidbn.cli._options import print_json, print_table
from reidbn.differing import OF_WHOM, differing, other_events
from reidbn.errors import UsageError
from reidbn.inference.worst import TIED
from reidbn.limits import regular
from reidbn.result import NOTHING, WITHIN_DRAWING, Drawn, drawing_between
from reidbn.written import agree, counted, ending, is_number

UNTOLD = "none that can be told"
WHOSE = "whether both are of one table is not told in rounded files"
UNLESS = "unless both rest on the same draws, "
WRITERS = "write them with --json-report FILE, or result.report('file.json')"


def are_results(*names: str | None) -> bool:
    """Whether they are files of results, and not an attack and a question, which end otherwise."""
    return any(name is not None and ending(name) == ".json" for name in names)


def compare_files(first: str, second: str, *, as_json: bool) -> None:
    """Every number of two results of one kind, and what lies between them."""
    (kind, before, one), (other, after, two) = _read(first), _read(second)
    if kind != other:
        raise UsageError(
            f"{first} is of {kind} and {second} of {other}: their numbers mean different things"
        )
    own = _refuse_what_is_not_alike(one, two)
    differs = _differences(one, two)
    drawing = drawing_between(*(_drawn(content) for content in (one, two)))
    rows = []
    for name in dict.fromkeys([*before, *after]):
        gap = _difference(before.get(name), after.get(name))
        if isinstance(gap, list) and gap[0] <= 0 <= gap[1]:
            gap = None  # even its sign may be that of the rounding
        rows.append((name, before.get(name), after.get(name), gap))
    differs += _of_drawing(rows, drawing, own=own)
    if as_json:
        names = ("measure", "first", "second", "difference")
        for line in differs:
            click.echo(f"reidbn: note: {line}", err=True)
        told = [dict(zip(names, row, strict=True)) for row in rows]
        by_draws = [{"drawing": drawing.get(name, 0.0)} if drawing else {} for name, *_ in rows]
        print_json([one | by for one, by in zip(told, by_draws, strict=True)])
        return
    click.echo(f"{kind}: {first} against {second}")
    for line in differs:
        click.echo(f"  {line}")
    table = [
        (name, _text(a), _text(b), UNTOLD if d is None and _difference(a, b) is not None
         else _text(d, signed=True), *([_text(drawing.get(name, 0.0))] if drawing else []))
        for name, a, b, d in rows
    ]  # fmt: skip
    heads = ("measure", Path(first).name, Path(second).name, "difference")
    print_table((*heads, *(["drawing"] if drawing else [])), table)
    if not own:
        click.echo("Numbers of a report that may leave the house are rounded, and so is this.")
        click.echo(_how_much_is_told(rows))


def _refuse_what_is_not_alike(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    """Raise for numbers of other events, or told otherwise; whether they are exact."""
    about = one.get("about"), two.get("about")
    if None not in about and about[0] != about[1]:
        raise UsageError(other_events(*map(str, about)))
    own = [bool(content.get("custodians_own_copy")) for content in (one, two)]
    if own[0] != own[1]:
        raise UsageError(
            "one file is the custodian's own copy and the other is rounded for others: what lies "
            "between them is rounding. Write both for the same reader"
        )
    return own[0]


def _differences(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    """In what the two differ, beside their numbers."""
    old = ["an older file does not say what its numbers are of"]
    found = differing(one, two)
    own = one.get("custodians_own_copy") or {*found} & {*OF_WHOM}
    remarks = [text for each in (one, two) for text in _list(each.get("remarks"))]
    tied = dict.fromkeys(t for t in remarks if isinstance(t, str) and t.startswith(TIED))
    return [
        *(old if "about" not in {**one} or "about" not in {**two} else []),
        *found.values(),
        *([] if own else [WHOSE]),
        *tied,
    ]


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _how_much_is_told(rows: list[tuple[str, Any, Any, Any]]) -> str:
    """Of how many rounded numbers it is sure that they differ, and of how many nothing is told."""
    gaps = [gap for _, first, second, gap in rows if _difference(first, second) is not None]
    open_ = sum(gap is None for gap in gaps)
    sure = sum(gap not in (None, 0) for gap in gaps)
    why = "where the two ranges overlap, the two numbers may be equal or not"
    told = f"{sure} of {counted(len(gaps), 'number')} {agree(sure, 'differs', 'differ')} for sure"
    if not open_:
        return f"{told}."
    if not sure:
        return f"That any number differs cannot be told: {why}."
    return f"{told}; of {open_} it cannot be told: {why}."


def _drawn(content: Mapping[str, Any]) -> dict[str, Drawn]:
    """How far off drawing may put each measure, as a file says it."""
    said = content.get("drawn") or {}
    return {name: Drawn(float(of["off"]), of.get("draws")) for name, of in said.items()}


def _of_drawing(
    rows: Sequence[tuple[str, Any, Any, Any]], drawing: Mapping[str, float], *, own: bool
) -> list[str]:
    """Which differences are within what drawing alone may make of them.

    Of a difference that is told by two ends, where one of them is; and a file that may leave the
    house does not tell whether both rest on the same draws.
    """
    near = []
    for name, _, _, gap in rows:
        ends = gap if isinstance(gap, list) else [] if gap is None else [gap]
        if ends and NOTHING < min(map(abs, ends)) <= drawing.get(name, 0.0):
            near.append(name)
    return [f"{', '.join(near)}: {'' if own else UNLESS}{WITHIN_DRAWING}"] if near else []


def _read(name: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The kind of result, its numbers by name, and all that the file holds."""
    try:
        content = json.loads(regular(Path(name)).read_text(encoding="utf-8"))
    except OSError as problem:
        raise UsageError(f"{name}: cannot be read: {problem.strerror}") from None
    except ValueError:
        raise UsageError(f"{name} is no JSON; {WRITERS}") from None
    measures = content.get("measures") if isinstance(content, dict) else None
    if not isinstance(measures, dict):
        raise UsageError(f"{name} holds no result: it has no measures; {WRITERS}")
    if not all(isinstance(told, dict) for told in measures.values()):
        raise UsageError(f"{name}: its measures are not those of a result; {WRITERS}")
    own = bool(content.get("custodians_own_copy"))
    numbers = {"verdict": content["verdict"]} if "verdict" in content else {}
    numbers |= {measure: _within(told, own=own) for measure, told in measures.items()}
    for measure, parts in (content.get("spread") or {}).items():
        numbers |= {f"{measure}, {part}": _within(told, own=own) for part, told in parts.items()}
    return str(content.get("result", "Assessment")), numbers, content


def _within(told: Mapping[str, Any], *, own: bool) -> Any:
    """The number; from the least to the most, as a list, where it is told so.

    An older file does not say the ends of what it rounds: its numbers are words.
    """
    low, high = told.get("at_least"), told.get("at_most")
    if is_number(low) and low != high:
        return [low, high]
    value = told.get("value", told.get("mean"))
    return value if own or low is not None else None if value is None else _text(value)


def _difference(first: Any, second: Any) -> float | list[float] | None:
    """What lies between two numbers; of one that is told by two ends, from so much to so much."""
    if isinstance(first, list) or isinstance(second, list):
        (low, high), (least, most) = (x if isinstance(x, list) else [x, x] for x in (first, second))
        return [least - high, most - low] if is_number(low) and is_number(least) else None
    return second - first if is_number(first) and is_number(second) else None


def _text(value: Any, *, signed: bool = False) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " to ".join(_text(end, signed=signed) for end in value)
    if is_number(value):
        return f"{value:+,.4g}" if signed else f"{value:,.4g}"
    return str(value)
