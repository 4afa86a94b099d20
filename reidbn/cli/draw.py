"""reidbn draw: the picture of an attack."""

from __future__ import annotations

from functools import partial

import click

from reidbn.cli._examples import examples
from reidbn.cli._options import FILE, print_json
from reidbn.cli._question import Call, asks


@click.command(
    epilog=examples(
        "reidbn draw adversary-routes -o routes.svg",
        "reidbn draw leak-single --marginals --given identified=yes -o leak.png",
    )
)
@partial(asks, question=False)
@click.option("--output", "-o", type=FILE, help=".svg, .png, .pdf or .dot; default NAME.svg.")
@click.option("--marginals", is_flag=True, help="Show every node's chances.")
@click.option("--expanded", is_flag=True, help="Draw every node of a plate, not each plate once.")
def draw(asked: Call, output: str | None, marginals: bool, expanded: bool) -> None:
    """Draw ATTACK: its graph, parameters and where every number comes from."""
    import reidbn as rb
    from reidbn.inference.answers import load_attack

    model = load_attack(asked.attack)
    learnt = bool(asked.how["given"] or asked.how["do"])
    drawing = rb.draw(model, marginals=marginals or learnt, expanded=expanded, **asked.how)
    path = drawing.save(output or f"{model.name}.svg")
    if asked.as_json:
        size = {"width": drawing.width, "height": drawing.height}
        print_json({"attack": model.name, "file": str(path), **size})
    else:
        click.echo(str(path))
