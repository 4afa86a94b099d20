"""reidbn assess: from a table and a scenario to a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reidbn.above import is_above
from reidbn.cli._known import column_option, known_option, read_columns, read_known, refuse_both
from reidbn.cli._options import (
    ABOVE,
    FILE,
    WHOLE,
    asked_beyond_range,
    columns_listed,
    listing,
    option_once,
    output_options,
    policy_option,
    print_json,
    read_policy,
    read_settings,
    read_states,
    refuse_beside,
    said_policy,
    say_gate,
    say_policy,
    set_option,
    under,
)
from reidbn.cli._results import result_options, write_reports
from reidbn.cli._tables import about, say_about, say_proposed, table_options
from reidbn.errors import UsageError
from reidbn.written import agree

if TYPE_CHECKING:
    from reidbn.microdata.table import People


def of_people(function: Any) -> Any:
    """What is asked of the people of a table: who knows what of them, and whence they come."""
    for decorate in reversed(_OF_PEOPLE):
        function = decorate(function)
    return function


_OF_PEOPLE = (
    click.option(
        "--scenario",
        metavar="NAME|FILE",
        help="A whole scenario, or register:FILE.csv [default: worst-case; or as the model tells].",
    ),
    known_option,
    click.option(
        "--population", type=WHOLE, metavar="NUMBER", help="People from whom the table was drawn."
    ),
    click.option("--population-model", metavar="NAME",
                 help="Who says who is unique in the population [default: log-linear; structured "
                 "with survey weights]."),
    column_option,
    click.option("--state-column", metavar="COLUMN", help="The column that holds the state."),
    listing("--without", metavar="A,B", help="Attributes that are not known."),
    listing(
        "--unknown",
        metavar="A,B",
        help="Columns of --qi that nobody knows; a rule on k alike counts them.",
    ),
    click.option("--together/--apart", default=None, help="One list for all attributes, or not."),
)  # fmt: skip


@click.command()
@table_options
@click.option("--attack", default="adversary-routes", show_default=True, help="Model name or file.")
@of_people
@policy_option
@set_option
@click.option("--do", multiple=True, metavar="NODE=STATE", help="An intervention.")
@click.option("--method", type=click.Choice(["exact", "simulation"]), default="exact",
              show_default=True)  # fmt: skip
@option_once(
    "--draws",
    "--trials",
    type=WHOLE,
    default=100,
    show_default=True,
    help="Of a simulation, per person.",
)
@click.option("--seed", default=0, show_default=True)
@option_once(
    "--check-draws",
    "--rows",
    type=WHOLE,
    default=1_000_000,
    show_default=True,
    help="Sampled by the cross-check.",
)
@click.option("--checkpoint", metavar="FOLDER", help="Keep finished blocks, to go on after a kill.")
@click.option("--release", type=click.Choice(["public", "controlled"], case_sensitive=False),
              help="Public: k alike in every class; controlled: mean, nobody unique.")  # fmt: skip
@click.option("--threshold", metavar="NAME|NUMBER|MEASURE=NUMBER",
              help="A precedent (ema), your own limit on 1/class, or on a measure.")  # fmt: skip
@click.option("--recipient", metavar="TEXT", help="Who receives the data, as the report states it.")
@result_options(
    out="Write everybody's risks (Parquet) by subject: the id, or the row of TABLE from 0; as "
    ".json with the reasons that reidbn explain reads. Restricted.",
    also=(".json",),
)
@click.option(
    "--option",
    multiple=True,
    metavar="NAME:COLUMN=LEVEL,...",
    help="Another release to compare in the report: columns at levels of a hierarchy.",
)
@click.option(
    "--options",
    "search",
    type=float,
    metavar="SECONDS",
    help="Search so long for the best releases, and set them beside in the report (--custodian).",
)
@click.option(
    "--restricted",
    type=FILE,
    help="Write risk, main route and attribute of everybody (CSV, Parquet). Restricted.",
)
@click.option("--histories", is_flag=True, help="A repeated subject id is a person's history.")
@click.option("--individuals", type=WHOLE, metavar="N",
              help="Ask about N people at random; classes are counted among all.")  # fmt: skip
@click.option(
    "--fail-above", type=ABOVE, metavar="RISK", help="Exit 1 if anybody's overall risk is above."
)
@output_options
def assess(people: People, as_json: bool, quiet: bool, **options: Any) -> int:
    """The re-identification risk of every person of TABLE under an attack and a scenario.

    TABLE is a CSV or Parquet file, or synthetic:N for N made-up patients.  With --release or
    --threshold the exit code is 1 where the verdict does not pass; 3 where the cross-check fails.
    What is printed is the custodian's own copy; the reports round what they tell.
    """
    import reidbn as rb

    _refuse_of_part(options)
    _refuse_of_draws(options)
    releases = _releases(people, options)
    _refuse_search(options)
    asked = asked_of_people(options) | {
        "set": read_settings(options["settings"]),
        "do": read_states(options["do"], "--do"),
    }
    policy = read_policy(options["policy"])
    result = rb.assess(
        under(options["attack"], policy) if policy else options["attack"],
        people,
        **asked,
        method=options["method"],
        draws=options["draws"],
        seed=options["seed"],
        checkpoint=options["checkpoint"],
        histories=options["histories"],
        beyond_range=asked_beyond_range(),
        individuals=options["individuals"],
    )
    if result.is_part:
        return _say_part(people, result, options, as_json=as_json, quiet=quiet)
    if result.is_simulated:
        return _say_simulated(people, result, options, as_json=as_json, quiet=quiet)
    result.keep_crosscheck(draws=options["check_draws"], seed=options["seed"])
    summary = result.summary(options["threshold"], options["release"])
    above = options["fail_above"]
    if not as_json:
        if not quiet:
            say_about(people, others=False)
        click.echo(str(summary))
        say_policy(policy)
    gate = None if above is None else _gate(result, above, as_json=as_json)
    if as_json:
        print_json(
            summary.to_dict() | said_policy(policy) | ({} if gate is None else {"fail_above": gate})
        )
    best = {} if options["search"] is None else _best(summary, options)
    _write(result, options, releases, best)
    if summary.failure:  # the report says so on top; nobody's risk is written
        result.crosscheck.raise_on_failure()
    _write_persons(result, options)
    is_high = gate is not None and gate["exceeded"]
    return int(is_high or (summary.rule.named and not summary.passes))


def asked_of_people(options: dict[str, Any]) -> dict[str, Any]:
    """What the options of `of_people` say, as rb.assess takes it."""
    from reidbn.attack.scenariofile import load_scenario

    known = read_known(options["known"])
    refuse_both(known is not None and options["scenario"])
    scenario = load_scenario(options["scenario"]) if options["scenario"] else None
    if options["together"] is not None:
        if known is None and scenario is None:
            scenario = load_scenario("worst-case")
        if scenario is None and not isinstance(known, str):
            raise UsageError("--together and --apart are about a scenario's list; name a scenario")
        scenario = scenario or load_scenario(known)
        scenario = scenario.shared(together=options["together"])
    return {
        "scenario": scenario,
        "known": None if scenario else known,
        "population": options["population"],
        "population_model": options["population_model"],
        "columns": _columns(options),
        "without": columns_listed(options["without"]),
        "unknown": columns_listed(options["unknown"]),
    }


def _gate(result: Any, limit: float, *, as_json: bool) -> dict[str, Any]:
    """Who exceeds `--fail-above`, which is on everybody's overall risk, whatever the rule says."""
    from reidbn.report.assessment_sure import highest_of_estimate
    from reidbn.report.thresholds import cut_off, worst_risk
    from reidbn.report.words import people as people_of

    cut = cut_off(result)
    risk, tied = worst_risk(result)
    highest = highest_of_estimate(result)
    count = int(is_above(risk + cut, limit).sum())
    may = count if highest is None else int(is_above(highest + cut, limit).sum())

    def who(of: int) -> str:
        return f"{people_of(of, len(result))} {agree(of, 'has', 'have')}" if of else "nobody has"

    also = f", with what is cut off of the states (at most {cut:.2g})" if cut else ""
    also += f", {tied}" if tied else ""
    if may > count:
        also += f"; with what the estimate of the population leaves open, {who(may)}"
    told = say_gate(
        limit, f"{who(count)} an overall risk above it{also}", exceeded=may > 0, as_json=as_json
    )
    return told | {"people_above": count, "people_above_at_upper_end": may}


_OF_EVERYBODY = (
    "html", "markdown", "json_report", "plot", "restricted", "fail_above", "release", "threshold",
)  # fmt: skip
LEVEL = 0.09  # of the overall risk, above which people are counted


def _refuse_of_part(options: dict[str, Any]) -> None:
    """What is about everybody is not asked of some."""
    if options["individuals"] is not None:
        why = "is about everybody, --individuals asks about some"
        refuse_beside(options, _OF_EVERYBODY, why)


def _say_part(
    people: People, result: Any, options: dict[str, Any], *, as_json: bool, quiet: bool
) -> int:
    """Some people's risks, and what they say about the table: no verdict, which is about all."""
    result.check(draws=options["check_draws"], seed=options["seed"])
    value = LEVEL
    shares = result.shares_above([value])
    found = {
        "individuals": len(result), "drawn": "at random", "seed": options["seed"],
        "mean_risk": {m: float(result.risk(m).mean()) for m in result.measures},
        "threshold": value,
        **{f"{name}_above": shares[name].item() for name in ("people", "share", "low", "high")},
    }  # fmt: skip
    if as_json:
        print_json(about(people) | found)
    else:
        if not quiet:
            say_about(people)
        click.echo(f"{len(result):,} of them, drawn at random, were asked about.")
        for measure, mean in found["mean_risk"].items():
            click.echo(f"mean risk, {measure:<28}{mean:>12.6g}")
        click.echo(
            f"{found['people_above']:,} of {len(result):,} have an overall risk above {value:g}; "
            f"of all people, {found['low_above']:.2%} to {found['high_above']:.2%} have (95 % "
            "interval). Nothing is said about the highest risk of the others; no rule is judged."
        )
    if options["out"]:
        done = _write_out(result, options["out"])
        click.echo(f"risks of those asked about (restricted): {done}", err=True)
    return 0


def _refuse_of_draws(options: dict[str, Any]) -> None:
    """What is about the risks themselves is not asked of shares of draws."""
    if options["method"] == "simulation":
        why = (
            "is about risks, and with --method simulation they are shares of draws, low for "
            "whoever was never hit"
        )
        refuse_beside(options, (*_OF_EVERYBODY, "individuals"), why)


def _say_simulated(
    people: People, result: Any, options: dict[str, Any], *, as_json: bool, quiet: bool
) -> int:
    """Shares of draws with their intervals: no verdict, which is about the risks themselves."""
    check = result.check(draws=options["check_draws"], seed=options["seed"])
    rows = result.frame().loc[:, ["value", "low", "high"]]
    if as_json:
        found = {m: {end: None if v != v else v for end, v in row.items()}
                 for m, row in rows.to_dict("index").items()}  # fmt: skip
        more = {"method": "simulation", "draws": options["draws"], "seed": options["seed"]}
        print_json(about(people) | more | {"mean_risk": found, "crosscheck": check.to_dict()})
    else:
        if not quiet:
            say_about(people)
        for name, row in rows.iterrows():
            ends = (
                "" if row.low != row.low else f"  (95 % interval {row.low:.4g} to {row.high:.4g})"
            )
            click.echo(f"mean risk, {name:<28}{row['value']:>12.6g}{ends}")
        for note in result.groups.notes:
            click.echo(f"  Note: {note}")
        click.echo(str(check))
    if options["out"]:
        click.echo(f"shares of draws (restricted): {_write_out(result, options['out'])}", err=True)
    return 0


def _columns(options: dict[str, Any]) -> dict[str, str]:
    state = options["state_column"]
    found = {"state": state} if state and state != "state" else {}
    return found | read_columns(options["column"])


def _refuse_search(options: dict[str, Any]) -> None:
    """A search for other releases has a report to stand in, which stays in the house."""
    if options["search"] is None:
        return
    if not (options["html"] or options["markdown"]):
        raise UsageError("--options are compared in a report; add --html or --markdown")
    for name, word in (("individuals", "--individuals"), ("histories", "--histories")):
        if options[name]:
            raise UsageError(f"--options searches for releases of a whole table, without {word}")
    if options["method"] != "exact":
        raise UsageError("--options searches by exact risks; leave out --method")
    if not options["custodian"]:
        raise UsageError(
            "--options tells of several releases of one table, and a reader of all of them could "
            "work out more than from one: it is the custodian's own; add --custodian"
        )


def _best(summary: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The best releases that a search of so many seconds finds for the rule, each assessed."""
    if summary.judged.keeps and not summary.failure:
        click.echo("options: the table keeps the rule as it is; nothing was searched", err=True)
        return {}
    found = summary.result._beside(summary.rule, custodian=True, seconds=options["search"])
    say_proposed(found.proposed)
    click.echo(f"options: {found.said}", err=True)
    return dict(found.results)


def _write(
    result: Any,
    options: dict[str, Any],
    releases: dict[str, dict[str, int]],
    best: dict[str, Any],
) -> None:
    import reidbn as rb

    rule = {k: options[k] for k in ("threshold", "release")}
    others = {name: rb.what_if(result, generalise=levels) for name, levels in releases.items()}
    context = {"recipient": options["recipient"]} if options["recipient"] else {}
    write_reports(result, options, **rule, options=others | best, context=context)


def _write_persons(result: Any, options: dict[str, Any]) -> None:
    if options["out"]:
        done = _write_out(result, options["out"])
        click.echo(f"risks of every person (restricted): {done}", err=True)
    if options["restricted"]:
        done = result.to_restricted(options["restricted"])
        click.echo(f"everybody's risk, route and attribute (restricted): {done}", err=True)


def _write_out(result: Any, path: str) -> Any:
    """A row per person; or, in a .json file, everybody's risk explained."""
    is_explained = path.lower().endswith(".json")
    return result.to_explained(path) if is_explained else result.to_parquet(path)


def _releases(people: People, options: dict[str, Any]) -> dict[str, dict[str, int]]:
    """The levels of each release of `--option`, refused before the work where they cannot be."""
    from reidbn.cli._tables import read_levels
    from reidbn.microdata.generalise import released_at

    texts = options["option"]
    for name, what in (("option", "compared"), ("recipient", "stated")):
        if options[name] and not (options["html"] or options["markdown"]):
            raise UsageError(f"--{name} is {what} in a report; add --html or --markdown")
    found: dict[str, dict[str, int]] = {}
    for text in texts:
        name, colon, levels = (part.strip() for part in text.partition(":"))
        if not (name and colon and levels):
            raise UsageError(f'--option: "{text}" is not NAME:COLUMN=LEVEL, such as bands:age=1')
        if name in found:
            raise UsageError(f"--option: {name} is named twice")
        found[name] = read_levels([levels])
        released_at(people, found[name])
    return found
