"""reidbn coverage: which threats some models are about."""

from __future__ import annotations

import click

from reidbn.cli._options import PICTURE, json_option, print_json


@click.command()
@click.argument("models", nargs=-1, metavar="[MODELS...]")
@click.option("--plot", type=PICTURE, help="Draw it (.svg, .png, .pdf).")
@json_option
def coverage(models: tuple[str, ...], plot: str | None, as_json: bool) -> None:
    """Which threats MODELS are about, by which node, and which they exclude and why.

    Without models: all that come with reidbn.
    """
    import reidbn as rb

    found = rb.coverage(models or None)
    if plot:
        found.plot(plot)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(str(found))
