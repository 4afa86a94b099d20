"""Commands about model files as such: models, scenarios, thresholds, show, new, schema."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from reidbn.cli._options import NewFile, json_option, print_json, print_table, quiet_option
from reidbn.errors import UsageError
from reidbn.release.writing import write_text

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")


@click.command()
@json_option
def models(as_json: bool) -> None:
    """List the models that come with reidbn."""
    from reidbn.attack.modelfile import load
    from reidbn.attack.modelfile import models as names

    columns: tuple[str, ...] = ("name", "title", "nodes", "parameters", "assumptions")
    rows: list[tuple[Any, ...]] = []
    attacks = sorted(map(load, names()), key=lambda a: a.shelf or "~")  # no shelf: last
    for attack in attacks:
        counts = (len(attack.all_nodes), len(attack.parameters), len(attack.assumptions))
        rows.append((attack.name, attack.title, *counts))
    if any(attack.shelf for attack in attacks):
        columns = ("shelf", *columns)
        rows = [(attack.shelf, *row) for attack, row in zip(attacks, rows, strict=True)]
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns, rows)


@click.command()
@json_option
def scenarios(as_json: bool) -> None:
    """List the scenarios that come with reidbn: what an attacker may know, of which columns."""
    from reidbn.attack.scenariofile import load_scenario
    from reidbn.attack.scenariofile import scenarios as names

    rows = []
    for scenario in map(load_scenario, names()):
        knows = scenario.knows
        known = [] if knows is None else [item.name for item in knows.known]
        if knows is not None and knows.sparse is not None:
            known = [f"of a sparse table, {knows.sparse.in_words}"]
        rest = "every other column" if known else "every column"
        known += [rest] if knows is None or knows.every_column else []
        more = [word for word in ("set", "given", "do", "nodes") if getattr(scenario, word)]
        rows.append(
            (scenario.name, scenario.title, ", ".join(known), ", ".join(more), scenario.source)
        )
    columns = ("name", "title", "knows", "also changes", "source")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns[:4], [row[:4] for row in rows])
        click.echo("A list of your own, by any columns: --scenario register:FILE.csv")


@click.command()
@json_option
def thresholds(as_json: bool) -> None:
    """List the precedents: for which release each is, what it asks, and where that is written."""
    from reidbn.report.thresholds import NOT_LEGAL_ADVICE, PRESETS

    columns = ("name", "release", "asks", "for", "source")
    rows = [(t.name, t.release or "either", t.asks, t.recipient, t.source)
            for t in PRESETS.values()]  # fmt: skip
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns[:4], [row[:4] for row in rows])
        click.echo(f"Which is yours: docs/which-rule.md. {NOT_LEGAL_ADVICE}")


@click.command()
@click.argument("name")
@click.option(
    "--output", "-o", type=NewFile(".yaml", ""), help="Where to write it; default NAME.yaml."
)
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@json_option
@quiet_option
def new(name: str, output: str | None, force: bool, as_json: bool, quiet: bool) -> None:
    """Write a commented model to start from: NAME, or NAME.yaml."""
    name = name.removesuffix(".yaml")
    if not _NAME.match(name):
        raise UsageError(
            f'"{name}" cannot be a model\'s name: use letters, digits, - and _; a folder is '
            "said by --output FILE"
        )
    path = Path(output or f"{name}.yaml")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; choose another name, or --force")
    starter = Path(__file__).with_name("starter.yaml").read_text(encoding="utf-8")
    write_text(starter.replace("NAME", name), path)
    if as_json:
        print_json({"file": str(path), "name": name})
    else:
        click.echo(str(path))
        if not quiet:
            click.echo(f"next: edit it, reidbn check {path}, reidbn ask {path}", err=True)


@click.command()
@click.argument("model")
@click.option("--expanded", is_flag=True, help="Plates and parts of other models written out.")
@json_option
def show(model: str, expanded: bool, as_json: bool) -> None:
    """Print a model file; --expanded: with everything that it stands for."""
    from reidbn.attack.modelfile import dumps, find, load, read_text

    attack = load(model)
    if as_json:
        print_json(attack.to_dict())
    else:
        click.echo(dumps(attack, expanded=True) if expanded else read_text(find(model)), nl=False)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="JSON is what it prints in any case.")
def schema(as_json: bool) -> None:
    """Print the JSON Schema of model files, for editors."""
    from reidbn.attack.schema import json_schema_text

    click.echo(json_schema_text(), nl=False)
