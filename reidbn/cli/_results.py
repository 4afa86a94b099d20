"""What every command about people writes: its report, its picture, a row per person."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reidbn.cli._options import FILE, PICTURE
from reidbn.cli._tables import with_subjects, write_parquet
from reidbn.errors import CrosscheckFailed

if TYPE_CHECKING:
    from reidbn.result import Result

F = TypeVar("F", bound=Callable[..., Any])
REPORTS = {"html": ".html", "markdown": ".md", "json_report": ".json"}
_SHEET = ("options", "every", "generalisations", "context", "title")  # not for the numbers alone
_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "html": click.option("--html", type=FILE,
                         help="Write the report; counts are rounded, so that it may be passed on."),
    "markdown": click.option("--markdown", type=FILE, help="Write the report as Markdown."),
    "json_report": click.option("--json-report", type=FILE,
                                help="Write the report's numbers as JSON."),
    "plot": click.option("--plot", type=PICTURE,
                         help="Draw it (.svg, .png, .pdf)."),
    "custodian": click.option("--custodian", is_flag=True,
                              help="Reports with exact counts: they stay in the house."),
    "own_copy": click.option("--own-copy", is_flag=True, hidden=True),
    "out": click.option("--out", type=FILE,
                        help="Write a row for each person (Parquet). Restricted."),
    "parquet": click.option("--parquet", type=FILE, hidden=True),
}  # fmt: skip
_ALIASES = {"own_copy": "custodian", "parquet": "out"}


def result_options(*names: str) -> Callable[[F], F]:
    """`--html`, `--plot`, `--out` and their neighbours, or some of them by name.

    Older names of options are taken, and hidden.
    """
    wanted = set(names or _OPTIONS) | {
        old for old, name in _ALIASES.items() if name in (names or _OPTIONS)
    }

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def command(*given: Any, **options: Any) -> Any:
            for old in wanted & set(_ALIASES):
                value = options.pop(old)
                options[_ALIASES[old]] = options[_ALIASES[old]] or value
            return function(*given, **options)

        wrapped: Any = command
        for name in reversed(_OPTIONS):
            if name in wanted:
                wrapped = _OPTIONS[name](wrapped)
        return wrapped  # type: ignore[no-any-return]

    return decorate


def asks_for_a_file(options: Mapping[str, Any]) -> bool:
    """Whether a report, a picture or a file per person is to be written."""
    return any(options.get(name) for name in (*REPORTS, "plot", "out"))


def write_reports(result: Result, asked: Mapping[str, Any], **more: Any) -> None:
    """The reports and the picture that were asked for; rounded without `--custodian`.

    A report whose numbers are wrong is written with that on top; the caller ends the command.
    """
    from reidbn.report.page import write_as

    custodian = asked["custodian"]
    for name, kind in REPORTS.items():
        if asked.get(name):
            own = {k: v for k, v in more.items() if kind != ".json" or k not in _SHEET}
            with suppress(CrosscheckFailed):
                write_as(kind, result, asked[name], custodian=custodian, **own)
            click.echo(f"report: {asked[name]}", err=True)
    if asked.get("plot"):
        result.plot(asked["plot"], custodian=custodian)


def write_people(result: Result, options: Mapping[str, Any]) -> None:
    """A row per person, with the row of the table and the subject's name, where asked for."""
    if options["out"] and result.table is not None:
        write_parquet(with_subjects(result.table, result.people), options["out"])
        click.echo(f"a row per person (restricted): {options['out']}", err=True)
