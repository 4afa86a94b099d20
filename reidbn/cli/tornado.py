"""reidbn tornado and derivatives: which parameter moves the answer, how far and how fast."""

from __future__ import annotations

import click

from reidbn.cli._options import output_options, print_json, question_options
from reidbn.cli._tables import show_frame
from reidbn.cli._whatif import (
    asked,
    plot_option,
    read_ranges,
    rows_of,
    show,
    statistic_option,
    threshold_option,
)


@click.command()
@question_options
@click.option("--over", multiple=True, metavar="NAME[=LOW:HIGH]",
              help="Only these parameters, over these ranges.")  # fmt: skip
@statistic_option
@threshold_option
@plot_option
@output_options
def tornado(
    attack: str,
    question: str | None,
    settings: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    subject: tuple[str, ...],
    over: tuple[str, ...],
    statistic: str,
    threshold: float | None,
    plot: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Move each parameter of ATTACK over its range, the others staying: the longest bar first."""
    import reidbn as rb

    how = asked(settings, given, do, subject, quiet=quiet)
    result = rb.tornado(
        attack, question, over=read_ranges(over), threshold=threshold, statistic=statistic, **how
    )
    show(result, as_json=as_json, plot=plot)
    return 0


@click.command()
@question_options
@click.option("--over", multiple=True, metavar="NAME", help="Only these parameters.")
@output_options
def derivatives(
    attack: str,
    question: str | None,
    settings: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    subject: tuple[str, ...],
    over: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> int:
    """How fast the answer moves with each parameter, at the parameters' values."""
    import reidbn as rb

    how = asked(settings, given, do, subject, quiet=quiet)
    names = [name.strip() for text in over for name in text.split(",")] or None
    table = rb.derivatives(attack, question, over=names, **how)
    if as_json:
        print_json(rows_of(table))
    else:
        show_frame(table)
    return 0
