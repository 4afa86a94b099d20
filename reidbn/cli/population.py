"""reidbn population: how many of a table's unique people are unique in the population."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from reidbn.cli._options import (
    CHANCE,
    PICTURE,
    listed,
    number,
    output_options,
    print_json,
)
from reidbn.cli._results import result_options, write_people, write_reports
from reidbn.cli._tables import (
    about,
    read_alike,
    say_about,
    table_options,
)
from reidbn.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.table import People
    from reidbn.population.result import Uniqueness

_FIGURES = {"plot": "uniqueness", "plot_classes": "class sizes", "plot_models": "models"}


@click.command()
@table_options
@click.option(
    "--population", required=True, metavar="N|FILE",
    help="People in the population, its table, or STRATUM=N,... with --strata.",
)  # fmt: skip
@click.option("--model", metavar="NAME", help="One model; without it, the recommended one.")
@click.option("--confidence", type=CHANCE, default=0.95, show_default=True,
              help="Of the intervals.")  # fmt: skip
@click.option(
    "--strata", metavar="COLUMN", help="Column whose values have populations of their own."
)
@click.option(
    "--approximation", type=click.Choice(["finest-common-level", "drop"]),
    help="What to do where values match several others.",
)  # fmt: skip
@click.option("--rehearse", is_flag=True, help="Predict the table from parts of it, as a check.")
@result_options()
@click.option("--plot-classes", type=PICTURE,
              help="Draw population class sizes.")  # fmt: skip
@click.option("--plot-models", type=PICTURE, help="Draw every model.")
@output_options
def population(people: People, **options: Any) -> None:
    """Population uniqueness: every model side by side, which to believe, and its interval.

    TABLE is a CSV or Parquet file, or synthetic:N for N made-up patients.
    """
    from reidbn import population as room

    if options["plot_classes"] and not options["custodian"]:
        raise UsageError(
            "--plot-classes draws laws that follow from exact counts, which no report tells: add "
            "--custodian for a picture that stays in the house"
        )
    size = _population(options["population"], people, strata=options["strata"])
    shared = {"population": size, "approximation": options["approximation"]}
    table = None
    if options["strata"]:
        names = list(people.quasi_identifiers)
        model = options["model"] or "pitman-bayes"
        fit = room.fit(people, names, model=model, strata=options["strata"], **shared)
    else:
        if options["model"] is None or options["plot_models"]:
            table = room.compare(people, level=options["confidence"], **shared)
        fit = room.fit(people, model=options["model"] or _recommended(table), **shared)
    tried = fit
    if options["rehearse"] and options["model"] is None and not options["strata"]:
        tried = room.fit(people, model="pitman-bayes", **shared)
    _show(people, fit, table, tried, options)
    _draw(fit, table, options)
    write_reports(fit, {**options, "plot": None})
    write_people(fit, options)


def _recommended(table: pd.DataFrame | None) -> str:
    assert table is not None  # noqa: S101 - compared whenever no model is named
    return str(table.loc[table["recommended"], "model"].item())


def _population(text: str, people: People, *, strata: str | None) -> Any:
    """A number, the population's own table, or a number for every stratum."""
    from pathlib import Path

    if strata is not None:
        return _by_stratum(text, people, strata)
    if Path(text).is_file():
        return read_alike(text, people)
    if not re.match(r"\s*[-+.\d]", text):
        raise UsageError(f"--population: no file {text}; give one, or a number such as 300000")
    return number(text, "--population")


def _by_stratum(text: str, people: People, strata: str) -> dict[Any, Any]:
    known = {str(label): label for label in people.labels(strata).tolist()}
    found = {}
    for part in listed(text):
        name, equals, size = part.rpartition("=")
        if not equals:
            raise UsageError(f'--population: "{part}" is not STRATUM=N, as --strata needs')
        if known.get(name, name) in found:
            raise UsageError(f"--population: {name} is named twice")
        found[known.get(name, name)] = number(size, "--population")
    return found


def _show(
    people: People,
    fit: Uniqueness,
    table: pd.DataFrame | None,
    tried: Uniqueness,
    options: dict[str, Any],
) -> None:
    compared = table if options["model"] is None else None
    if options["as_json"]:
        print_json(about(people) | {"fit": fit.to_dict()} | _models_json(compared))
        return
    if not options["quiet"]:
        say_about(people)
    for name, value in _summary(fit, options["confidence"]):
        click.echo(f"{name:<46}{value:>24}")
    if options["rehearse"]:
        click.echo(f"\n{_rehearsed(tried)}")
    if compared is not None:
        click.echo()
        _show_models(compared)
    for warning in () if options["quiet"] else fit.warnings:
        click.echo(f"Note: {warning}.")


def _models_json(table: pd.DataFrame | None) -> dict[str, Any]:
    if table is None:
        return {}
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    return {"models": rows, "recommendation": table.attrs["recommendation"]}


def _summary(fit: Uniqueness, confidence: float) -> list[tuple[str, str]]:
    from reidbn.population.result import number_or_none

    lines = [
        ("model", f"{fit.model} ({fit.status})"),
        ("people in the table", f"{fit.n:,}"),
        ("people in the population", f"{fit.population:,}"),
        ("unique in the table", f"{fit.uniques:,}"),
    ]
    names = {
        "expected_uniques": ("unique in the population, expected", ",.1f"),
        "expected_uniques_in_table": ("of them in the table, expected", ",.1f"),
        "p_unique": ("P(unique in population | unique in table)", ".4f"),
        "expected_match": ("mean chance of a right match, E[1/F]", ".4f"),
    }
    for name, (words, form) in names.items():
        value = number_or_none(fit, name) if hasattr(type(fit), name) else None
        if value is not None:
            lines.append((words, format(value, form)))
    return lines + _intervals(fit, confidence)


def _intervals(fit: Uniqueness, level: float) -> list[tuple[str, str]]:
    from reidbn.population.pitman import PITMAN_MODELS
    from reidbn.population.structured import STRUCTURED

    if fit.model not in (*PITMAN_MODELS, STRUCTURED):
        return []
    low, high = fit.interval(level=level)
    first, last = fit.prediction_interval(level=level)
    return [
        (f"expected uniques, {level:.0%} confidence interval", f"{low:,.0f} to {high:,.0f}"),
        (f"uniques there will be, {level:.0%} prediction", f"{first:,} to {last:,}"),
    ]


def _rehearsed(fit: Uniqueness) -> str:
    from reidbn.population.pitman import PitmanFit

    if not isinstance(fit, PitmanFit):
        raise UsageError("--rehearse needs a Pitman model: --model pitman")
    found = fit.rehearse()
    return (
        f"Rehearsal: from parts of {found.part:,} people {fit.model} predicts "
        f"{sum(found.predicted) / len(found.predicted):,.1f} unique rows of this table; it has "
        f"{found.counted:,} (ratio {found.ratio:.2f})."
    )


def _show_models(table: pd.DataFrame) -> None:
    """The models, the recommended one starred; the remarks are left to --json."""
    lines = []
    for _, row in table.iterrows():
        known = row.notna()
        lower = f"{row['lower']:,.0f} to {row['upper']:,.0f}" if known["lower"] else ""
        lines.append(
            (
                f"{'*' if row['recommended'] else ' '} {row['model']}",
                row["status"],
                f"{row['expected_uniques']:,.1f}" if known["expected_uniques"] else "",
                lower,
                f"{row['p_unique']:.4f}" if known["p_unique"] else "",
            )
        )
    head = ("  model", "status", "uniques", "prediction", "P(unique)")
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    for line in [head, *lines]:
        left = f"{line[0]:<{widths[0]}}  {line[1]:<{widths[1]}}"
        right = "  ".join(f"{cell:>{w}}" for cell, w in zip(line[2:], widths[2:], strict=True))
        click.echo(f"{left}  {right}".rstrip())
    click.echo(f"\nRecommended: {table.attrs['recommendation']}.")


def _draw(fit: Uniqueness, table: Any, options: dict[str, Any]) -> None:
    """The pictures of the model that answered; without --custodian as rounded as the page is."""
    if not any(options[name] for name in _FIGURES):
        return
    from reidbn import population as room
    from reidbn.report import population_figures as figures
    from reidbn.report.style import save
    from reidbn.report.telling import Telling

    custodian = options["custodian"]
    if options["plot_models"]:
        if table is None:
            raise UsageError("--plot-models does not go with --strata")
        picture = figures.models_figure(table, Telling(custodian=custodian))
        save(picture, options["plot_models"], of_people=custodian)
    if (options["plot"] or options["plot_classes"]) and options["strata"]:
        raise UsageError("--plot and --plot-classes do not go with --strata")
    if options["plot"] and custodian and isinstance(fit.law, room.PitmanFit):
        picture = figures.uniqueness_figure(fit.law, level=options["confidence"])
        save(picture, options["plot"], of_people=True)
    elif options["plot"]:
        fit.plot(options["plot"], custodian=custodian)
    if options["plot_classes"]:
        save(figures.class_size_figure(fit), options["plot_classes"], of_people=True)
