"""Options that read a table of people, and the ways its results are written."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reidbn.cli._options import (
    HEADER,
    columns_listed,
    header_here,
    listed,
    listing,
    read_pairs,
    refuse_to_write_over,
    split_pair,
)
from reidbn.cli._remedies import in_shell
from reidbn.errors import DataError, UsageError
from reidbn.microdata.direct import AS_IF
from reidbn.microdata.header import may_be_a_person
from reidbn.microdata.sources import source_of
from reidbn.progress import be_quiet
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.hierarchy import Hierarchy
    from reidbn.microdata.table import People

F = TypeVar("F", bound=Callable[..., Any])

QI = (
    "Columns an attacker may know; may be repeated. A name with a comma in it stands in a --qi of "
    "its own, or in double quotes."
)


class KnownColumns(click.types.StringParamType):
    """Columns that may be known; where none is named, it is said what there is to choose from."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """What --qi is, and what stands in the header of the table."""
        context = ctx or click.get_current_context(silent=True)
        table = None if context is None else context.params.get("table")
        return f"{ASKED_QI}{_columns_of(table)}"


ASKED_QI = (
    "The columns that somebody may know of a person from elsewhere, such as --qi age,sex,state: "
    "what a neighbour, a list or the news tells, dates and lengths of stay among it. Secrets are "
    "--sensitive, and what names a person stays out (docs/which-columns.md)"
)
MOST_NAMED = 40


def _columns_of(table: str | None) -> str:
    """The columns of a table to choose from; nothing where that may be a person's row."""
    if table is None:
        return ""
    try:
        source = source_of(_source(table))
        header = source.header
        unsaid = not header or may_be_a_person(header, source)
    except (UsageError, DataError):
        return ""
    if unsaid:
        return ""
    more = f" and {counted(len(header) - MOST_NAMED, 'other')}" if len(header) > MOST_NAMED else ""
    return f". The table has {', '.join(header[:MOST_NAMED])}{more}"


_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "table": click.argument("table"),
    "qi": click.option("--qi", required=True, multiple=True, metavar="A,B,C", help=QI,
                       type=KnownColumns()),
    "sensitive": listing("--sensitive", metavar="A,B", help="Columns that are secret."),
    "subject_id": click.option(
        "--subject-id", metavar="COLUMN", help="Groups several rows of one person."
    ),
    "weights": click.option("--weights", metavar="COLUMN", help="Survey weights."),
    "missing": click.option(
        "--missing", type=click.Choice(["value", "matches-anything", "drop"]), default="value",
        show_default=True, help="What a missing cell is.",
    ),
    "missing_values": listing(
        "--missing-values", metavar="?,NA", help="Texts that mean missing, like blanks."
    ),
    "history": click.option(
        "--history", type=click.Choice(["multiset", "set", "sequence", "person"]),
        default="multiset", show_default=True, help="How histories are compared.",
    ),
    "hierarchy": click.option(
        "--hierarchy", multiple=True, metavar="COLUMN=RULE",
        help="bands:5,10  prefix:4,2  suffix:4  month,year,decade  days:7,28@2020-01-06  or a CSV "
        "file in ARX's format; --level says which level is released.",
    ),
    "level": click.option(
        "--level", multiple=True, metavar="COLUMN=N", help="Generalise to a level."
    ),
    "tidy": click.option("--tidy", is_flag=True, help="Take 'F' and 'f ' as one value."),
    "delimiter": click.option(
        "--delimiter", metavar="CHARACTER", help="Of a CSV file; found if not given."
    ),
    "allow_direct": click.option(
        "--allow-direct", is_flag=True, help="Keep columns that look like names."
    ),
}  # fmt: skip


def reading(*names: str) -> Callable[[F], F]:
    """Some of the options by which a table is read."""

    def decorate(function: F) -> F:
        for name in reversed(names):
            function = _OPTIONS[name](function)
        return function

    return decorate


ALONE = "as written: --hierarchy alone changes nothing"


def table_options(function: F) -> F:
    """TABLE --qi A,B,C and the rest: the command is given `people`."""

    @functools.wraps(function)
    def command(**given: Any) -> Any:
        if given.get("quiet"):
            be_quiet()
        own = {name: given.pop(name) for name in _OPTIONS}
        click.get_current_context().meta["reidbn.table"] = own
        return function(people=read_people(**own, strata=given.get("strata") or ""), **given)

    return reading(*_OPTIONS)(command)  # type: ignore[return-value]


def read_people(
    table: str, qi: Sequence[str], *, sensitive: str = "", hierarchy: Iterable[str] = (),
    level: Iterable[str] = (), missing_values: str = "", strata: str = "", **options: Any,
) -> People:  # fmt: skip
    """The people of a file, or made-up ones: `synthetic`, `synthetic:5000`, `synthetic:5000:7`.

    A column of `strata` is read, too, where it is none of the others.
    """
    from reidbn.microdata.read import read_table

    source = _source(table)
    header = source_of(source, delimiter=options.get("delimiter")).header
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta[HEADER] = header
    hierarchies = read_hierarchies(hierarchy, header)
    known = named_columns(qi, header, "--qi")
    beside = named_columns([sensitive], header, "--sensitive")
    parts = named_columns([strata], header, "--strata")
    people = read_table(
        source,
        quasi_identifiers=known,
        sensitive=[*beside, *(name for name in parts if name not in (*known, *beside))],
        missing_values=listed(missing_values),
        hierarchies=hierarchies,
        **options,
    )
    levels = read_levels(level)
    notes = [
        f"{name} stands {ALONE}; choose a level, such as --level {name}=1"
        for name in hierarchies
        if name not in levels and people.column(name).relation is None
    ]
    people = people.generalise(levels) if levels else people
    return replace(people, notes=(*people.notes, *notes))


def read_alike(table: str, people: People) -> People:
    """Another table with the same columns, read and generalised as the command's own was."""
    own = click.get_current_context().meta["reidbn.table"]
    apart = {"sensitive": "", "subject_id": None, "weights": None, "history": "multiset"}
    other = read_people(**{**own, **apart, "table": table, "qi": people.quasi_identifiers})
    if not own["tidy"]:
        return other
    from reidbn.microdata.coding import plainly
    from reidbn.microdata.columns import object_array

    schema = []
    for column in other.schema:
        ours = {plainly(label): label for label in people.labels(column.name).tolist()}
        spelled = [ours.get(plainly(label), label) for label in column.labels.tolist()]
        labels = object_array(spelled) if column.labels.dtype == object else column.labels
        schema.append(replace(column, labels=labels))
    return replace(other, schema=tuple(schema))


def _source(table: str) -> Any:
    name, *numbers = table.split(":")
    if name != "synthetic" or Path(table).exists():
        refuse_to_write_over(table)
        return table
    if len(numbers) > 2 or not all(part.isdigit() for part in numbers):
        raise UsageError(f"{table}: write synthetic:PEOPLE or synthetic:PEOPLE:SEED, whole numbers")
    from reidbn.datasets.patients import synthetic_patients

    return synthetic_patients(*(int(part) for part in numbers))


def named_columns(texts: Iterable[str], header: Sequence[str], option: str) -> list[str]:
    """Columns that are named between commas; a text that is a column's name is that column.

    >>> named_columns(["age,sex", "born, year", '"last, first",city'], ["born, year"], "--qi")
    ['age', 'sex', 'born, year', 'last, first', 'city']
    """
    found = [part for text in texts for part in listed(text, header)]
    for name in header:
        pieces = [piece.strip() for piece in name.split(",")]
        apart = [piece for piece in pieces if piece in {*found} - {*header}]
        if "," in name and name not in found and apart:
            said = name if {*pieces} <= {*found} else f"{apart[0]}, ..."  # what was typed, alone
            raise UsageError(
                f'{option}: no column "{apart[0]}", but one whose name has a comma beside it: put '
                f"that name into an option of its own, {option} '{said}', or in double "
                "quotes inside the list"
            )
    return found


def read_hierarchies(texts: Iterable[str], header: Sequence[str] = ()) -> dict[str, Hierarchy]:
    """Hierarchies of `--hierarchy`; a column of the header may have = in its name.

    >>> read_hierarchies(["zip=prefix:3,2"])["zip"].up("94152", 1)
    '941*'
    >>> read_hierarchies(["born=month,year"])["born"].up("1970-01-31", 2)
    '1970'
    >>> list(read_hierarchies(["a=b=prefix:1"], ["a=b", "c"]))
    ['a=b']
    """
    from reidbn.microdata.ladders import as_hierarchy

    found: dict[str, Hierarchy] = {}
    for text in texts:
        name, rule = split_pair(text, header)
        if not name or not rule:
            raise UsageError(f'--hierarchy: "{text}" is not COLUMN=RULE, such as age=bands:5,10')
        if name in found:
            raise UsageError(f"--hierarchy: {name} is named twice; give one rule with its levels")
        try:
            found[name] = as_hierarchy(rule)
        except UsageError as problem:
            raise UsageError(f"--hierarchy {text}: {problem}") from None
    return found


def read_levels(texts: Iterable[str]) -> dict[str, int]:
    """Levels of `--level`.

    >>> read_levels(["age=2,zip=1"])
    {'age': 2, 'zip': 1}
    """
    parts = [part for text in texts for part in columns_listed(text)]
    pairs = read_pairs(parts, "--level", "COLUMN=N, such as age=1", header_here())
    return {name: _whole(value, f"--level {name}") for name, value in pairs.items()}


def _whole(text: str, what: str) -> int:
    if not text.isdigit():
        raise UsageError(f'{what}: "{text}" is not a whole number')
    return int(text)


# What comes out


def about(people: People, table: str | None = None) -> dict[str, Any]:
    """What a result was computed from, for `--json`."""
    return {
        "people": len(people),
        "quasi_identifiers": list(people.quasi_identifiers),
        "sensitive": list(people.sensitive),
        "missing": people.missing,
        "dropped": people.dropped,
        "partition": people.is_partition,
        "notes": list(people.notes),
        "beside": list(people.others.names),
        "fingerprint": people.fingerprint,
    } | ({} if table is None else {"table": table})


_POLICY = {
    "value": "a missing cell is a value of its own",
    "matches-anything": "a missing cell matches anything, as if the attacker did not know it",
    "drop": "people with a missing cell are left out",
}


def say_about(people: People, *, others: bool = True) -> None:
    """One paragraph on standard output: how many people, on what, and what was done to them;
    and what was not looked at (`others`), where what follows does not say so.
    """
    known = ", ".join(people.quasi_identifiers)
    click.echo(f"{counted(len(people), 'person')} on {known}; {_POLICY[people.missing]}.")
    for note in people.notes:
        if AS_IF in note:  # said when the table was read
            continue
        click.echo(f"Note: {in_shell(note, click.get_current_context().command)}.")
    if not people.is_partition:
        click.echo("Some values match others, so sizes count the people who match.")
    for said in people.others.in_words if others else ():
        click.echo(said)


def with_subjects(people: People, table: pd.DataFrame) -> pd.DataFrame:
    """A table of one row per person with whose it is: the source's row, and the subject.

    The row is that of the person's first record, from 0, also where others were left out; without
    ids it is the subject, too, by which the files of all commands can be joined.
    """
    found = table.reset_index(drop=True)
    rows = range(len(people)) if people.origin is None else people.origin
    found.insert(0, "subject", rows if people.subject_ids is None else people.subject_ids)
    found.insert(0, "row", rows)
    return found


def show_frame(frame: pd.DataFrame) -> None:
    """A table as aligned text: whole numbers with commas, others to six digits."""
    shown = frame.copy()
    for name in shown.columns:
        kind = shown[name].dtype.kind
        if kind in "iu":
            shown[name] = [f"{value:,}" for value in shown[name]]
        elif kind == "f":
            shown[name] = [f"{value:.6g}" for value in shown[name]]
    click.echo(shown.to_string(index=False))


def write_parquet(frame: pd.DataFrame, path: str) -> None:
    """The table as a Parquet file."""
    from reidbn.attacks.parquet import write_frames

    write_frames(path, [frame])


def say_proposed(steps: Mapping[str, str]) -> None:
    """The hierarchies that were proposed: what each makes of a value, level by level."""
    for name, how in steps.items():
        click.echo(f"proposed for {name}: {how}", err=True)
