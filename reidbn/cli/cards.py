"""reidbn cards: cards to print, an event with a threat each."""

from __future__ import annotations

import click

from reidbn.cli._examples import examples
from reidbn.cli._options import FILE


@click.command(
    epilog=examples("reidbn cards -o cards.html", "reidbn cards breakfast leak-single -o two.html")
)
@click.argument("models", nargs=-1)
@click.option("--output", "-o", type=FILE, default="cards.html", show_default=True,
              help="The page, to open and print.")  # fmt: skip
@click.option("--blank", type=click.IntRange(0), default=8, show_default=True,
              help="Empty cards at the end.")  # fmt: skip
def cards(models: tuple[str, ...], output: str, blank: int) -> None:
    """Write A4 cards of MODELS (names or files; all that are shipped), to print and talk about.

    Each is an event with its LINDDUN threat and two questions: can it happen here, and is that a
    problem.
    """
    import reidbn as rb

    click.echo(str(rb.report.cards(output, models or None, blank=blank)))
