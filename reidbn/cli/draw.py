"""reidbn draw: the picture of an attack."""

from __future__ import annotations

from pathlib import Path

import click

from reidbn.cli._examples import examples
from reidbn.cli._options import (
    asked_beyond_range,
    attack_argument,
    do_option,
    given_option,
    output_options,
    print_json,
    read_settings,
    read_states,
    read_subject,
    set_option,
    subject_option,
)
from reidbn.errors import UsageError


@click.command(
    epilog=examples(
        "reidbn draw adversary-routes -o routes.svg",
        "reidbn draw leak-single --marginals --given identified=yes -o leak.png",
    )
)
@attack_argument
@click.option("--output", "-o", metavar="FILE", help=".svg, .png or .dot; default NAME.svg.")
@click.option("--marginals", is_flag=True, help="Show every node's chances.")
@set_option
@given_option
@do_option
@subject_option
@output_options
def draw(
    attack: str,
    output: str | None,
    marginals: bool,
    settings: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    subject: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> int:
    """Draw ATTACK: its graph, parameters and where every number comes from."""
    import reidbn as rb

    model = rb.load(attack)
    drawing = rb.draw(
        model,
        set=read_settings(settings),
        subject=read_subject(subject),
        given=read_states(given, "--given"),
        do=read_states(do, "--do"),
        marginals=marginals or bool(given or do),
        beyond_range=asked_beyond_range(),
    )
    path = Path(output or f"{model.name}.svg")
    try:
        drawing.save(path)
    except OSError as problem:
        raise UsageError(f"{path}: cannot be written: {problem.strerror}") from None
    if as_json:
        size = {"width": drawing.width, "height": drawing.height}
        print_json({"attack": model.name, "file": str(path), **size})
    else:
        click.echo(str(path))
    return 0
