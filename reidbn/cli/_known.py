"""What an attacker may know, said in the shell: `--known`, the same in every command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reidbn.cli._options import (
    columns_listed,
    header_here,
    listing,
    number,
    read_pairs,
)
from reidbn.errors import UsageError

if TYPE_CHECKING:
    from reidbn.microdata.table import People

F = TypeVar("F", bound=Callable[..., Any])
FORM = "A,B, nor A=CHANCE, nor A+B=CHANCE, nor GROUP=A+B:CHANCE, nor a scenario"
HELP = (
    "What the attacker may know: columns A,B; chances A=0.9,B=0.1; A+B=0.3, or home=A+B:0.3, for "
    "columns learnt together; or a scenario's name or file."
)

known_option = click.option("--known", multiple=True, metavar="A,B|A=P|A+B=P|SCENARIO", help=HELP)
column_option = click.option(
    "--column", multiple=True, metavar="ATTRIBUTE=COLUMN",
    help="The table's column for an attribute of the scenario.",
)  # fmt: skip
_SCENARIO_OPTIONS = (
    column_option,
    listing("--without", metavar="A,B",
                 help="Attributes of the scenario to leave out."),
    listing("--unknown", metavar="A,B", help="Columns of --qi that nobody knows."),
    click.option("--knowledge", multiple=True, hidden=True),
    click.option("--scenario", hidden=True),
)  # fmt: skip


def known_options(function: F) -> F:
    """`--known`, and what a scenario in it may need; older names of the same are hidden."""
    for decorate in reversed((known_option, *_SCENARIO_OPTIONS)):
        function = decorate(function)
    return function


def refuse_both(both: Any) -> None:
    """Raise where the knowledge is said twice."""
    if both:
        raise UsageError("--known and --scenario both say what is known; choose one")


def known_of(people: People, options: dict[str, Any]) -> Any:
    """What the options of `known_options` say, as `known=` takes it."""
    from reidbn.microdata.knowledge import is_scenario, knowledge

    said = [name for name in ("known", "knowledge", "scenario") if options[name]]
    refuse_both("scenario" in said and said != ["scenario"])
    known = options["scenario"] or read_known((*options["known"], *options["knowledge"]))
    unknown = columns_listed(options["unknown"])
    if known is None or not is_scenario(known, people):
        more = [f"--{name}" for name in ("column", "without") if options[name]]
        if more:
            raise UsageError(f"{more[0]} is about a scenario; name one with --known")
        return knowledge(people, known, unknown=unknown) if unknown else known
    return knowledge(
        people,
        known,
        columns=read_columns(options["column"]),
        without=columns_listed(options["without"]),
        unknown=unknown,
    )


def read_known(texts: Iterable[str], option: str = "--known") -> Any:
    """Columns, chances of columns and of groups, or one scenario; None where nothing was said.

    >>> read_known(["home=zip+city:0.25", "age:0.5", "sex=1"])
    {'home': (['zip', 'city'], 0.25), 'age': (['age'], 0.5), 'sex': (['sex'], 1.0)}
    >>> read_known(["age,sex"]), read_known(["worst-case"]), read_known([])
    (['age', 'sex'], 'worst-case', None)
    """
    texts = list(texts)
    parts = [part for text in texts for part in _parts(text)]
    bare = [part for part in parts if _is_bare(part)]
    if not parts:
        if texts:
            raise UsageError(f"{option} is empty; it takes {FORM.replace(', nor', ', or')}")
        return None
    if len(bare) == len(parts):
        return bare[0] if len(bare) == 1 else bare
    if bare:
        raise UsageError(f'{option}: "{bare[0]}" has no chance, and others have; say it for each')
    found: dict[str, tuple[list[str], float]] = {}
    for part in parts:
        name, columns, chance = _split(part, option)
        if name in found:
            raise UsageError(f"{option}: {name} is named twice")
        found[name] = columns, float(number(chance, f"{option} {name}"))
    return found


def _parts(text: str) -> list[str]:
    return [text] if text.startswith("register:") else columns_listed(text)


def _is_bare(part: str) -> bool:
    """A column or a scenario, and no chance."""
    plain = part in header_here() or not ({":", "="} & {*part})
    return plain or part.startswith("register:") or part.endswith(".yaml")


def _split(part: str, option: str) -> tuple[str, list[str], str]:
    """The group's name, its columns and its chance; = and : may stand in a column's name."""
    for mark in "=:":
        columns, _, chance = (piece.strip() for piece in part.rpartition(mark))
        members = [column.strip() for column in columns.split("+")]
        if chance and ":" not in chance and {*members} <= {*header_here()}:
            return columns, members, chance
    left, equals, right = (piece.strip() for piece in part.partition("="))
    if equals and ":" in right:
        columns, _, chance = (piece.strip() for piece in right.rpartition(":"))
    elif equals:
        columns, chance = left, right
    else:
        columns, _, chance = (piece.strip() for piece in part.rpartition(":"))
        left = columns
    members = [column.strip() for column in columns.split("+") if column.strip()]
    if not (left and members and chance):
        raise UsageError(f'{option}: "{part}" is not {FORM}')
    return left, members, chance


def read_columns(pairs: Iterable[str]) -> dict[str, str]:
    """ATTRIBUTE=COLUMN, each once."""
    return read_pairs(_one_by_one(pairs), "--column", "ATTRIBUTE=COLUMN")


def _one_by_one(pairs: Iterable[str]) -> list[str]:
    """`a=x,b=y` is two pairs; a comma in a column's name stays."""
    return [part for text in pairs for part in re.split(r",(?=[^,=]+=)", text)]
