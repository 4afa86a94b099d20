"""reidbn sweep: the answer at every setting of a grid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reidbn.cli._options import NUMBER, is_above, output_options, print_json, question_options
from reidbn.cli._tables import show_frame, write_parquet
from reidbn.cli._whatif import asked, plot_option, read_over, rows_of, threshold_option
from reidbn.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


@click.command()
@question_options
@click.option("--over", multiple=True, required=True, metavar="NAME[=VALUES]",
              help="Values a,b,c or from:to:count; a bare name: 11 over its range.")  # fmt: skip
@click.option("--per-subject", is_flag=True, help="One row per subject and setting.")
@click.option("--csv", metavar="FILE", help="Write the table as CSV.")
@click.option("--parquet", metavar="FILE", help="Write the table as Parquet.")
@click.option(
    "--impossible",
    type=click.Choice(["raise", "null"]),
    default="raise",
    show_default=True,
    help="Where the evidence cannot be: stop, or leave the cell empty.",
)
@click.option("--fail-above", type=NUMBER, metavar="P", help="Exit 1 when any answer is above.")
@threshold_option
@plot_option
@output_options
def sweep(
    attack: str,
    question: str | None,
    settings: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    subject: tuple[str, ...],
    over: tuple[str, ...],
    per_subject: bool,
    csv: str | None,
    parquet: str | None,
    impossible: str,
    fail_above: float | None,
    threshold: float | None,
    plot: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Ask QUESTION of ATTACK at every combination of the values of --over."""
    import reidbn as rb

    how = asked(settings, given, do, subject, quiet=quiet)
    table = rb.sweep(
        attack, question, read_over(over), per_subject=per_subject, impossible=impossible, **how
    )
    if csv:
        _write_csv(table, csv)
    if parquet:
        write_parquet(table, parquet)
    if plot:
        from reidbn.report.whatif_figures import draw_sweep

        draw_sweep(table, plot, threshold=threshold)
    if as_json:
        print_json({**table.attrs, "rows": rows_of(table)})
    elif not (csv or parquet):
        click.echo(f"{table.attrs['attack']}: {table.attrs['question']}")
        show_frame(table)
    shown = "probability" if "probability" in table else "max"
    return int(fail_above is not None and bool(is_above(table[shown], fail_above).any()))


def _write_csv(table: pd.DataFrame, path: str) -> None:
    try:
        Path(path).write_text(table.to_csv(index=False), encoding="utf-8", newline="\n")
    except OSError as problem:
        raise UsageError(f"{path}: cannot be written: {problem.strerror}") from None
