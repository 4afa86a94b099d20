"""What every command about people writes: its report, its picture, a row per person."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reidbn.cli._options import FILE, PICTURE, NewFile, option_once
from reidbn.cli._tables import with_subjects, write_parquet
from reidbn.errors import CrosscheckFailed, UsageError
from reidbn.release.writing import PARQUET

if TYPE_CHECKING:
    from reidbn.result import Result

F = TypeVar("F", bound=Callable[..., Any])
REPORTS = {"html": ".html", "markdown": ".md", "json_report": ".json"}
OUT = (
    "Write a row for each person (Parquet), by subject: the id, or the row of TABLE from 0. "
    "Restricted."
)
_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "html": click.option("--html", type=NewFile(".html", ""),
                         help="Write the report; counts are rounded, so that it may be passed on."),
    "markdown": click.option("--markdown", type=NewFile(".md", ""),
                             help="Write the report as Markdown."),
    "json_report": click.option("--json-report", type=NewFile(".json", ""),
                                help="Write the report's numbers as JSON."),
    "plot": click.option("--plot", type=PICTURE,
                         help="Draw it (.svg, .png, .pdf)."),
    "custodian": option_once("--custodian", "--own-copy", is_flag=True,
                             help="Reports with exact counts: they stay in the house."),
    "ledger": click.option("--ledger", type=FILE, metavar="FILE",
                           help="What was released; a table under 10 people apart prints that."),
}  # fmt: skip


def result_options(*names: str, out: str = OUT, also: tuple[str, ...] = ()) -> Callable[[F], F]:
    """`--html`, `--plot`, `--out` and their neighbours, or some of them by name."""
    file = NewFile(*PARQUET, *also)
    options = _OPTIONS | {"out": option_once("--out", "--parquet", type=file, help=out)}

    def decorate(function: F) -> F:
        for name in reversed(options):
            if name in (names or options):
                function = options[name](function)
        return function

    return decorate


def asks_for_a_file(options: Mapping[str, Any]) -> bool:
    """Whether a report, a picture or a file per person is to be written."""
    return any(options.get(name) for name in (*REPORTS, "plot", "out"))


def write_reports(result: Result, asked: Mapping[str, Any], **more: Any) -> None:
    """The reports and the picture that were asked for; rounded without `--custodian`.

    A report whose numbers are wrong is written with that on top; the caller ends the command.
    """
    from reidbn.report.page import SHEET_ALONE, write_as

    custodian = asked["custodian"]
    if asked.get("ledger") and asked.get("plot"):
        raise UsageError(
            "--plot draws this table, whatever --ledger prints; the page has the picture: --html"
        )
    ledger = {"command": command_again(() if custodian else kept_back(result))}
    if asked.get("ledger") is not None:
        ledger["ledger"] = asked["ledger"]
    before = _written_at(asked.get("ledger"))
    for name, kind in REPORTS.items():
        if asked.get(name):
            whole = kind != ".json" or "ledger" in ledger  # which knows all forms of one report
            own = {k: v for k, v in more.items() if whole or k not in SHEET_ALONE}
            with suppress(CrosscheckFailed):
                write_as(kind, result, asked[name], custodian=custodian, **own, **ledger)
            again = before is not None and before == _written_at(asked["ledger"])
            said = " (printed again, as the ledger has it)" if again else ""
            click.echo(f"report: {asked[name]}{said}", err=True)
    if asked.get("plot"):
        result.plot(asked["plot"], custodian=custodian)


def _written_at(path: str | None) -> int | None:
    """When a file was last written; None where there is none."""
    return os.stat(path).st_mtime_ns if path and os.path.exists(path) else None


_SAYS = ("--json", "--quiet", "-q")


OWN = "{in the house}"
"""What stands in a command for a value that its report does not tell."""
_OF_PEOPLE = ("--individuals", "--start", "--suppress-at-most", "--empty-at-most")
"""Who or how many people it was about, and between what numbers these are."""


def kept_back(result: Result) -> tuple[str, ...]:
    """The options of whose values a report that leaves the house tells less, or nothing."""
    from reidbn.report.page import made_from
    from reidbn.report.telling import Telling

    telling = Telling()
    population = () if result._tells_population(telling) else ("--population",)
    as_asked = made_from(result, telling).get("settings") == result.made_from.get("settings")
    return (*_OF_PEOPLE, *population, *(() if as_asked else ("--leaked",)))


def writes(option: click.Parameter) -> bool:
    """Whether an option names what is written, which is no part of how a report is made."""
    return isinstance(option.type, NewFile) or option.name in ("checkpoint", "figures")


def command_again(secret: tuple[str, ...] = ()) -> list[str] | None:
    """The words by which a report can be made again, without the files that were written.

    Of `secret` options stands that they were given, and not what they hold.
    """
    context = click.get_current_context(silent=True)
    meta = {} if context is None else context.meta
    own = [] if context is None else [p for p in context.command.params if writes(p)]
    files = {name for option in own for name in option.opts}
    table = None if context is None else context.params.get("table")
    told, found, after = meta.get("reidbn.told", {}), [], ""
    for word in _apart(meta.get("reidbn.words", [])):
        if after in secret:
            found.append(OWN)
        elif after not in files and word not in files.union(_SAYS):
            found.append("{table}" if word == table else told.get((after, word)) or _short(word))
        after = word
    return found if "{table}" in found else None


def told_as(option: str, typed: Mapping[str, str]) -> None:
    """Values of an option that stand otherwise in the command of a report than they were typed."""
    meta = click.get_current_context().meta
    meta["reidbn.told"] = meta.get("reidbn.told", {}) | {(option, v): t for v, t in typed.items()}


def _apart(words: Iterable[str]) -> Iterator[str]:
    """Options and their values, each a word."""
    for word in words:
        name, equals, value = word.partition("=")
        yield from (name, value) if equals and name.startswith("--") else (word,)


def _short(word: str) -> str:
    """A file by its name: the folders of a house are not told."""
    return Path(word).name if os.sep in word and Path(word).exists() else word


def write_people(result: Result, options: Mapping[str, Any]) -> None:
    """A row per person, with the row of the table and the subject's name, where asked for."""
    if options["out"] and result.table is not None:
        write_parquet(with_subjects(result.table, result.people), options["out"])
        click.echo(f"a row per person (restricted): {options['out']}", err=True)
