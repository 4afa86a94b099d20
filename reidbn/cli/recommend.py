"""reidbn recommend: the least change to a table that keeps a rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from reidbn.cli._known import column_option, known_option, read_columns, read_known, refuse_both
from reidbn.cli._options import (
    FILE,
    WHOLE,
    Chance,
    NewFile,
    columns_listed,
    header_here,
    listing,
    number,
    output_options,
    print_json,
    read_pairs,
)
from reidbn.cli._results import REPORTS, command_again, result_options
from reidbn.cli._tables import ALONE, about, say_about, say_proposed, table_options
from reidbn.errors import UsageError
from reidbn.plans.together import SECOND

if TYPE_CHECKING:
    from reidbn.microdata.table import People
    from reidbn.plans.plan import ReleasePlan

ATTACK = "adversary-routes"
_NOT_TOLD = ("--seed", "--sample", "--suppress-at-most", "--empty-at-most")
"""Who and how many were drawn or are left out at most, which the page does not say."""


@click.command()
@table_options
@click.option("--target", multiple=True, required=True, metavar="K=N|NAME|MEASURE:LIMIT",
              help="k=5, ema, or a limit 'overall: q95 <= 0.09'; all must hold.")  # fmt: skip
@click.option("--release", type=click.Choice(["public", "controlled"], case_sensitive=False),
              help="The release that a precedent is put to.")  # fmt: skip
@click.option("--suppress-at-most", type=Chance(), default=0.0, metavar="SHARE",
              help="How many people may be left out, such as 2%.")  # fmt: skip
@click.option("--empty-at-most", type=Chance(), default=0.0, metavar="SHARE",
              help="How many single cells may be emptied instead, such as 1%.")  # fmt: skip
@click.option("--auto", is_flag=True,
              help="Propose a hierarchy for columns without one, and say which.")  # fmt: skip
@listing("--keep", metavar="A,B", help="Columns that stay as they are.")
@listing("--drop", metavar="A,B", help="Columns that go.")
@click.option("--sample", type=Chance(), metavar="SHARE",
              help="Draw so many people first, such as 50%; no others are released.")  # fmt: skip
@click.option("--seed", type=int, help="Of the sample; without one nobody can draw it again.")
@click.option("--loss", default="entropy", show_default=True, metavar="NAME|'Y ~ A + B'",
              help="What is lost: entropy, granularity, discernibility, average-class, or a "
                   "regression's error.")  # fmt: skip
@click.option("--importance", multiple=True, metavar="COLUMN=WEIGHT",
              help="Columns that matter more, or less, than 1.")  # fmt: skip
@click.option("--attack", multiple=True, metavar="NAME|FILE",
              help=f"Of limits on a measure [default there: {ATTACK}].")  # fmt: skip
@click.option("--scenario", multiple=True, metavar="NAME|FILE",
              help="A whole scenario; limits hold under each.")  # fmt: skip
@known_option
@column_option
@listing("--unknown", metavar="A,B", help="Columns of --qi that nobody knows.")
@click.option("--population", type=WHOLE, metavar="NUMBER",
              help="People from whom the table was drawn.")  # fmt: skip
@click.option("--population-model", metavar="NAME", help="As for reidbn assess.")
@click.option("--if-missing", type=click.Choice(["left-out", "value"]), default="left-out",
              show_default=True, help="What a person whose secret is missing is.")  # fmt: skip
@click.option("--seconds", type=float, metavar="S", help="How long to search at most.")
@click.option("--write", type=NewFile(".csv", ".parquet"), metavar="FILE",
              help="Write the table as it would be released. Restricted.")  # fmt: skip
@click.option("--keep-id", is_flag=True,
              help="Also write columns that name a person.")  # fmt: skip
@click.option("--ledger", type=FILE, metavar="FILE",
              help="What was released; --write is held against it.")  # fmt: skip
@result_options("html", "markdown", "json_report", "plot", "custodian")
@output_options
def recommend(people: People, as_json: bool, quiet: bool, **options: Any) -> int:
    """The least change to TABLE that keeps every --target: levels of columns, people left out.

    --hierarchy says how a column may be made coarser; a column without one is kept or dropped.
    The exit code is 1 where a target is kept by an estimate of the population alone.
    """
    import reidbn as rb
    from reidbn.microdata.proposed import steps_of

    if options["plot"] and not options["custodian"]:
        raise UsageError(
            "--plot shows the numbers of ways that were not taken: it is the custodian's own; "
            "add --custodian"
        )
    if options["ledger"] and not options["write"]:
        raise UsageError("--ledger holds the file of --write; the page of a plan is in none")
    people = replace(people, notes=tuple(n for n in people.notes if ALONE not in n))
    proposed = rb.microdata.propose_hierarchies(people) if options["auto"] else {}
    say_proposed({name: steps_of(people, name, own) for name, own in proposed.items()})
    asked = _asked(options, people) | {"hierarchies": proposed}
    plan = rb.recommend(people, target=list(options["target"]), **asked)
    if as_json:
        print_json(about(people) | plan.to_dict())
    else:
        if not quiet:
            say_about(people)
        _say(plan)
    if options["write"]:  # first: a ledger may refuse it, and then nothing is written
        written = plan.write(options["write"], keep_id=options["keep_id"], ledger=options["ledger"])
        click.echo(f"the table as it would be released: {written}", err=True)
        if not options["ledger"]:
            click.echo(f"{SECOND.replace('(ledger=)', '(--ledger)')}", err=True)
    _write_page(plan, options)
    return int(bool(plan.by_estimate))


def _say(plan: ReleasePlan) -> None:
    """What to do, what it keeps, and what proves it."""
    from reidbn.plans.left_out import beside, in_words
    from reidbn.plans.released import untouched_in_words

    best, people = plan.best, plan.people
    wide = max(len(name) for name in best.levels)
    for name, level in best.levels.items():
        top = plan.highest[name]
        what = (
            "dropped"
            if name in best.dropped
            else f"level {level} of {top}"
            if level
            else "as it is"
        )
        click.echo(f"{name:<{wide + 2}}{what}")
    if plan.is_sample:
        click.echo(f"drawn: {len(people):,} of {plan.drawn_of:,} people")
        for _, row in plan.sampled[plan.sampled.measure == "overall"].iterrows():
            click.echo(
                f"mean overall under {row.under}: {row.all_released:.4g} with all released; "
                f"{row.per_released:.4g} per person released, {row.per_original:.4g} per "
                f"person of the table"
            )
    click.echo(f"left out: {best.suppressed:,} of {len(people):,} people")
    if best.suppressed:
        for said in (*in_words(plan), *beside(plan)):
            click.echo(f"  {said}")
    if plan.certificate.tried is not None:
        click.echo(f"emptied: {best.emptied:,} of {len(people) * len(best.levels):,} cells")
    click.echo(f"loss: {best.loss:.4g} ({plan.loss_told}; 0 as it is, 1 nothing left)")
    for t in plan.targets:
        now, then = (t.told(side[str(t)], 4) for side in (best.before, best.after))
        click.echo(f"{t}: {now} now, {then} then{plan.still_above(t)}")
    for _, row in plan.measures[plan.measures.measure == "overall"].iterrows():
        click.echo(
            f"overall under {row.under}: highest {row.highest_before:.4g} now, "
            f"{row.highest_after:.4g} then; mean {row.mean_before:.4g} now, "
            f"{row.mean_after:.4g} then"
        )
    for note in plan.notes:
        click.echo(note)
    click.echo(str(plan.certificate))
    click.echo(plan.least_by)
    for said in untouched_in_words(plan):
        click.echo(said)


def _write_page(plan: ReleasePlan, options: dict[str, Any]) -> None:
    from reidbn.plans.page import write_plan
    from reidbn.report.counting import Counting

    said = options["population"]
    beside = said is not None and not Counting().tells_exactly(said, plan.drawn_of)
    not_told = (*_NOT_TOLD, *(["--population"] if beside else []))
    for name, kind in REPORTS.items():
        if options[name]:
            custodian = options["custodian"]
            words = command_again(() if custodian else not_told)
            write_plan(plan, options[name], custodian=custodian, kind=kind, command=words)
            click.echo(f"report: {options[name]}", err=True)
    if options["plot"]:
        plan.plot(options["plot"])


def _asked(options: dict[str, Any], people: People) -> dict[str, Any]:
    """The arguments of rb.recommend."""
    from reidbn.plans.regression import Regression
    from reidbn.plans.targets import targets_of

    targets = targets_of(list(options["target"]), options["release"])
    about_attack = {
        "known": read_known(options["known"]),
        "scenario": list(options["scenario"]) or None,
        "population": options["population"],
        "population_model": options["population_model"],
        "columns": read_columns(options["column"]) or None,
        "unknown": columns_listed(options["unknown"]) or None,
    }
    refuse_both(about_attack["known"] is not None and options["scenario"])
    attack = list(options["attack"]) or None
    if attack is None and not all(t.on_classes or t.measure in people.sensitive for t in targets):
        attack = [ATTACK]
    loss = options["loss"]
    form = "COLUMN=WEIGHT, such as age=2"
    weights = read_pairs(options["importance"], "--importance", form, header_here())
    return {
        **{name: value for name, value in about_attack.items() if value is not None},
        "attack": attack,
        "release": options["release"],
        "suppress_at_most": options["suppress_at_most"],
        "empty_at_most": options["empty_at_most"],
        "keep": columns_listed(options["keep"]),
        "drop": columns_listed(options["drop"]),
        "sample": options["sample"],
        "seed": options["seed"],
        "loss": Regression(loss) if "~" in loss else loss,
        "importance": {c: float(number(w, f"--importance {c}")) for c, w in weights.items()},
        "seconds": options["seconds"],
        "if_missing": options["if_missing"],
    }
