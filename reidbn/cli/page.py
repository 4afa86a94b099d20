"""reidbn page: an attack as a page in which anybody moves it."""

from __future__ import annotations

import click

from reidbn.cli._examples import examples
from reidbn.cli._options import FILE, print_json
from reidbn.cli._question import Call, asks
from reidbn.errors import UsageError


@click.command(
    epilog=examples(
        "reidbn page breakfast -o breakfast.html",
        "reidbn page adversary-routes --set p_m=1 -o routes.html",
        "reidbn page leak-single identified=yes --given in_leak=yes -o leak.html",
    )
)
@asks
@click.option("--output", "-o", type=FILE, help="An .html file; default NAME.html.")
def page(asked: Call, output: str | None) -> None:
    """Write ATTACK (a model's name or file) as a page: sliders, its graph alive, the answer.

    One HTML file of under 300 kB, which asks nothing of any network. QUESTION is the first that it
    answers; --set, --given and --do are where it starts.
    """
    import reidbn as rb

    model = rb.load(asked.attack)
    how = dict(asked.how)
    if how.pop("beyond_range"):
        raise UsageError(
            "a slider ends where the range of its parameter ends: widen the range in the model "
            "file, or leave beyond_range=True out",
            in_shell="a slider ends where the range of its parameter ends: widen the range in the "
            "model file, or leave --beyond-range out",
        )
    path = model.page(output or f"{model.name}.html", asked.question, **how)
    if asked.as_json:
        print_json({"attack": model.name, "file": str(path), "bytes": path.stat().st_size})
    else:
        click.echo(str(path))
