"""reidbn page: an attack as a page in which anybody moves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reidbn.cli._examples import examples
from reidbn.cli._options import FILE, print_json, typed_options
from reidbn.cli._question import Call, asks
from reidbn.cli._tables import QI, read_people, reading, say_about
from reidbn.cli.assess import asked_of_people, of_people
from reidbn.errors import UsageError

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack
    from reidbn.attacks.routes.assessment import Assessment
    from reidbn.microdata.table import People

_TABLE = ("sensitive", "subject_id", "weights", "missing", "missing_values", "hierarchy", "level",
          "tidy", "delimiter", "allow_direct")  # fmt: skip


@click.command(
    epilog=examples(
        "reidbn page breakfast -o breakfast.html",
        "reidbn page adversary-routes --set p_m=1 -o routes.html",
        "reidbn page breakfast --predict -o class.html",
        "reidbn page leak-single identified=yes --given in_leak=yes -o leak.html",
        "reidbn page adversary-routes --assess table.csv --qi age,sex,race --population 6900000"
        " --custodian",
    )
)
@asks
@click.option("--output", "-o", type=FILE, help="An .html file; default NAME.html.")
@click.option("--assess", metavar="TABLE", help="A table of people, who then stand behind it.")
@click.option("--qi", multiple=True, metavar="A,B,C", help=QI)
@reading(*_TABLE)
@of_people
@click.option("--title", metavar="TEXT", default="", help="What it was made for: stands on top.")
@click.option("--recipient", metavar="TEXT", help="Who receives the data, as the page states it.")
@click.option(
    "--predict", is_flag=True, help="Opens with the answer hidden: a class guesses first."
)
@click.option("--custodian", is_flag=True, help="Exact counts: your own page, of the house.")
@click.option(
    "--ledger",
    type=FILE,
    metavar="FILE",
    help="What was released; a table under 10 people apart prints that.",
)
def page(
    asked: Call, output: str | None, assess: str | None, title: str, predict: bool, **table: Any
) -> None:
    """Write ATTACK (a model's name or file) as a page: sliders, its graph alive, the answer.

    One HTML file of under 300 kB, which asks nothing of any network. QUESTION is the first that it
    answers; --set, --given and --do are where it starts. With --assess the people of a table stand
    behind it: in tens where the page may leave the house, exactly with --custodian.
    """
    from reidbn.inference.answers import load_attack

    model = load_attack(asked.attack)
    how = dict(asked.how)
    if how.pop("beyond_range"):
        raise UsageError(
            "a slider ends where the range of its parameter ends: widen the range in the model "
            "file, or leave beyond_range=True out",
            in_shell="a slider ends where the range of its parameter ends: widen the range in the "
            "model file, or leave --beyond-range out",
        )
    place = output or f"{model.name}.html"
    notes: dict[str, list[str]] = {}
    if assess is None:
        if typed := typed_options(table):
            raise UsageError(f"{typed[0]} is about a table: add --assess TABLE")
        path = model.page(place, asked.question, title=title, predict=predict, **how)
    else:
        if predict:
            raise UsageError(
                "--predict opens the page of a model: of a page of people open its address with "
                "#predict=yes at the end"
            )
        people = _people(asked, assess, table)
        result = _of_people(model, people, asked, table)
        context = {"recipient": table["recipient"]} if table["recipient"] else {}
        path = result.page(place, title=title, context=context, custodian=table["custodian"],
                           ledger=table["ledger"])  # fmt: skip
        notes = {"notes": [*people.notes, *result.notes]}
        if not asked.as_json:
            say_about(people)
            for note in result.notes:
                click.echo(f"Note: {note}")
    if asked.as_json:
        about = {"attack": model.name, "file": str(path), "bytes": path.stat().st_size}
        print_json(about | notes)
    else:
        click.echo(str(path))


def _people(asked: Call, place: str, table: dict[str, Any]) -> People:
    """The people who stand behind the page."""
    if asked.question or asked.how["subject"]:
        what = "QUESTION" if asked.question else "--subject"
        raise UsageError(
            f"--assess asks every question of the model, of everybody: leave {what} out"
        )
    if not table["qi"]:
        raise UsageError("--assess needs --qi, the columns of the table that an attacker may know")
    return read_people(place, table["qi"], **{name: table[name] for name in _TABLE})


def _of_people(model: Attack, people: People, asked: Call, table: dict[str, Any]) -> Assessment:
    """The assessment of them."""
    import reidbn as rb

    how = {name: asked.how[name] for name in ("set", "given", "do")}
    result: Assessment = rb.assess(model, people, **asked_of_people(table), **how)
    return result
