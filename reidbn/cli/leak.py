"""reidbn leak: someone copies part of a table and looks for patients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reidbn.above import is_above
from reidbn.cli._known import known_of
from reidbn.cli._leak_more import (
    asked_more,
    highest,
    more_options,
    named_leak,
    read_leaks,
    read_sizes,
    refuse_misplaced,
    say_more,
)
from reidbn.cli._options import (
    LIMIT,
    WHOLE,
    Limit,
    NamedLimit,
    columns_listed,
    listing,
    option_once,
    output_options,
    print_json,
    print_table,
    say_gate,
)
from reidbn.cli._results import asks_for_a_file, result_options, write_people, write_reports
from reidbn.cli._tables import QI, reading
from reidbn.errors import UsageError
from reidbn.written import counted

if TYPE_CHECKING:
    from reidbn.microdata.table import People
    from reidbn.theory.circle import Classes

_TABLE = (
    "table", "qi", "sensitive", "subject_id", "missing", "missing_values", "history", "hierarchy",
    "level", "tidy", "delimiter", "allow_direct",
)  # fmt: skip
_NAMES = {
    "leaked": "leaked",
    "risk": "risk of a patient",
    "worst": "risk in the smallest class",
    "all": "all targets identified",
    "log_all": "  its logarithm",
    "low": "  95 % interval from",
    "high": "  to",
    "at_least_one": "at least one identified",
    "expected": "expected number identified",
}


@click.command()
@click.argument("table", required=False)
@click.option("--qi", multiple=True, metavar="A,B,C", help=QI)
@reading("sensitive", "subject_id")
@click.option("--missing", type=click.Choice(["value", "drop"]), default="value", show_default=True,
              help="What a missing cell is.")  # fmt: skip
@reading("missing_values", "history", "hierarchy", "level", "tidy", "delimiter", "allow_direct")
@listing("--classes", metavar="K:COUNT,...", help="Class sizes and how many, without a table.")
@click.option("--records", type=WHOLE, metavar="D", help="Records, without a table.")
@click.option("--class-size", type=WHOLE, metavar="K", help="Size of every class, with --records.")
@listing(
    "--leaked",
    required=True,
    metavar="L[,L...]",
    help="Records in the leak; 1000:0.5,4000:0.5 for a prior, 1000-4000 for all alike.",
)
@click.option("--targets", type=WHOLE, default=1, show_default=True, help="Patients looked for.")
@click.option("--method", type=click.Choice(["exact", "recursion", "simulation"]), default="exact",
              show_default=True, help="How all targets are reckoned.")  # fmt: skip
@click.option(
    "--from-the-leak", is_flag=True, help="Draw the targets from the leak, not the table."
)
@option_once(
    "--draws", "--runs", type=WHOLE, default=100_000, show_default=True, help="Of a simulation."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of a simulation.")
@click.option(
    "--smallest-k", type=LIMIT, metavar="P|NAME", help="Class size that keeps the risk under P."
)
@click.option(
    "--largest-leak", type=LIMIT, metavar="P|NAME", help="Leak that keeps the risk under P."
)
@listing("--k-curve", metavar="K,K,...", help="The risk at these class sizes, all alike.")
@click.option("--question", type=click.Choice(["each", "any", "all", "share"]),
              help="The risk to keep under P: everybody's own, or that any of the --targets is "
              "identified, or all, or their expected share [each; of several targets any].",
              )  # fmt: skip
@click.option("--figures", metavar="FOLDER", help="Write the paper's figures, redrawn (SVG).")
@click.option(
    "--fail-above",
    type=Limit(is_limit=True, alike=True),
    metavar="P|NAME",
    help="Exit 1 when a patient's risk is above; cell-11 is one in 11, ema its .09.",
)
@result_options()
@more_options
@output_options
@click.pass_context
def leak(context: click.Context, /, as_json: bool, quiet: bool, **options: Any) -> None:
    """The risk in a leak of part of a table, for one or many targets.

    TABLE is a CSV or Parquet file, or synthetic:N for N made-up patients; or give --classes, or
    --records and --class-size.
    """
    people, classes = _classes(options, quiet=quiet or as_json)
    refuse_misplaced(people, options)
    leaks = read_leaks(options["leaked"], options["method"], classes.records)
    found: dict[str, Any] = {
        "records": classes.records,
        "classes": int(classes.counts.sum()),
        "k": int(classes.sizes.min()),
        "targets": options["targets"],
        "method": options["method"],
        "leaks": [_row(classes, leaked, options) for leaked in leaks],
    }
    found |= _about_classes(people, classes, options["class_size"])
    found |= _designed(classes, leaks, options)
    found |= asked_more(people, classes, leaks, options)
    if options["figures"]:
        from reidbn.report.leak_figures import draw_all

        found["figures"] = [path.name for path in draw_all(options["figures"])]
    if not as_json:
        _say(found, options)
        say_more(found)
    gate = _gate(found, options["fail_above"], as_json=as_json)
    if as_json:
        print_json(found | ({} if gate is None else {"fail_above": gate}))
    _write(people, leaks, options)
    if gate is not None and gate["exceeded"]:
        context.exit(1)


def _gate(found: dict[str, Any], limit: Any, *, as_json: bool) -> dict[str, Any] | None:
    """What `--fail-above` judges: the highest risk of a person with what is known, as reported."""
    if limit is None:
        return None
    risks = highest(found)
    if "known" in found:
        what = "the highest risk with what is known"
    else:
        what, risks = "the highest risk", [*(row["worst"] for row in found["leaks"]), *risks]
    worst = max(risks)
    told = f"{what} is {worst:.4g}"
    return say_gate(limit, told, exceeded=bool(is_above(worst, limit)), as_json=as_json)


def _about_classes(people: People | None, classes: Classes, least: int | None) -> dict[str, Any]:
    """Who is counted where a person has several records, and classes that do not come out even."""
    if people is not None and people.history is not None:
        rows = counted(int(people.history.lengths.sum()), "record")
        return {"people": f"{counted(len(people), 'person')} ({rows})"}
    if people is not None or least is None or classes.sizes.size == 1:
        return {}
    parts = zip(classes.counts.tolist(), classes.sizes.tolist(), strict=True)
    sizes = " and ".join(f"{counted(count, 'class')} of {size}" for count, size in parts)
    told = f"{counted(classes.records, 'record')} do not part into classes of {least}: {sizes}"
    return {"notes": [told]}


def _write(people: People | None, leaks: list[Any], options: dict[str, Any]) -> None:
    """The report, the picture and everybody's risk in a leak of a table."""
    import reidbn as rb

    if not asks_for_a_file(options):
        return
    if people is None:
        raise UsageError("--html, --plot and --out are about the people of a TABLE; give one")
    secrets = columns_listed(options["sensitive"]) if options["sensitive_known"] is not None else []
    if len(leaks) > 1 or len(secrets) > 1:
        raise UsageError("--html, --plot and --out are about one leak; name one --leaked size and "
                         "at most one --sensitive column")  # fmt: skip
    more = (
        {"sensitive": s, "sensitive_known": options["sensitive_known"]}
        if (s := next(iter(secrets), None))
        else {}
    )
    result = rb.leak.assess(people, leaked=leaks[0], known=known_of(people, options), **more)
    write_reports(result, options)
    write_people(result, options)


def _designed(classes: Classes, leaks: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Class sizes and leaks that keep the risk under a limit."""
    import reidbn as rb

    question = _question(options)
    asked = {"targets": options["targets"], "question": question.replace("each", "any")}
    found: dict[str, Any] = {}
    if options["smallest_k"] is not None:
        found["smallest_k"] = {
            named_leak(leaked): rb.leak.smallest_k(
                records=classes.records, leaked=leaked, threshold=options["smallest_k"], **asked
            )
            for leaked in leaks
        }
    if options["largest_leak"] is not None:
        asked["question"] = question
        limit = rb.leak.largest_leak(classes, threshold=options["largest_leak"], **asked)
        asked["question"] = question.replace("each", "any")
        found["largest_leak"] = limit
    if options["k_curve"]:
        sizes = read_sizes(options["k_curve"], "--k-curve")
        found["k_curve"] = {
            named_leak(leaked): rb.leak.k_curve(
                records=classes.records, leaked=leaked, class_sizes=sizes, **asked
            ).to_dict("records")
            for leaked in leaks
        }
    return found


def _question(options: dict[str, Any]) -> str:
    """What a design keeps under its limit; a precedent on how many are alike is about everybody."""
    alone = options["targets"] == 1
    question = options["question"] or ("each" if alone else "any")
    if question == "each" and not alone:
        raise UsageError("--question each is about one target; of several --targets ask any")
    for name in ("smallest_k", "largest_leak"):
        limit = options[name]
        if isinstance(limit, NamedLimit) and question != "each":
            raise UsageError(
                f"--{name.replace('_', '-')}: {limit.said}, of everybody's own risk; leave "
                f"--targets and --question out, or write a number"
            )
    return str(question)


def _classes(options: dict[str, Any], *, quiet: bool) -> tuple[People | None, Classes]:
    """The table and its classes, or classes that were named."""
    from reidbn.attacks.leak.ask import classes_of, equal_classes
    from reidbn.cli._tables import read_people, say_about

    named = [options["table"], options["classes"] or None, options["records"]]
    if sum(name is not None for name in named) != 1:
        raise UsageError("give one of: a TABLE with --qi, --classes, --records with --class-size")
    if options["classes"]:
        return None, classes_of(_pairs(options["classes"]))
    if options["records"] is not None:
        if options["class_size"] is None:
            raise UsageError("--records needs --class-size")
        return None, equal_classes(options["records"], options["class_size"])
    if not options["qi"]:
        raise UsageError("name the columns that an attacker may know with --qi A,B,C")
    people = read_people(**{name: options[name] for name in _TABLE})
    if not quiet:
        say_about(people)
    return people, classes_of(people)


def _row(classes: Classes, leaked: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What a leak of this size means."""
    import reidbn as rb

    n = options["targets"]
    smallest = int(classes.sizes.min())
    row: dict[str, Any] = {
        "leaked": named_leak(leaked) if isinstance(leaked, dict) else leaked,
        "risk": rb.leak.risk(classes, leaked=leaked),
        "worst": rb.leak.risk(records=classes.records, leaked=leaked, class_size=smallest),
    }
    if n == 1 and options["method"] == "exact":
        return row
    reading = "from the leak" if options["from_the_leak"] else "unconditional"
    asked: dict[str, Any] = {"leaked": leaked, "targets": n, "reading": reading}
    if options["method"] == "simulation":
        return row | _simulated(classes, asked, options)
    log = rb.leak.joint_risk(classes, method=options["method"], log=True, **asked)
    row |= {"all": rb.leak.joint_risk(classes, method=options["method"], **asked)}
    row |= {"log_all": None if log == float("-inf") else log}
    if options["method"] == "exact" and reading == "unconditional":
        of_many = {"leaked": leaked, "targets": n}
        row |= {
            "at_least_one": rb.leak.any_identified(classes, **of_many),
            "expected": rb.leak.expected_identified(classes, **of_many),
        }
    return row


def _simulated(classes: Classes, asked: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    import reidbn as rb

    run = rb.leak.simulate(classes, draws=options["draws"], seed=options["seed"], **asked)
    joint = run.all_identified
    return {
        "all": float(joint),
        "low": joint.low,
        "high": joint.high,
        "at_least_one": float(run.at_least(1)),
        "expected": run.mean,
    }


def _say(found: dict[str, Any], options: dict[str, Any]) -> None:
    records, classes = found["records"], found["classes"]
    who = found.get("people", counted(records, "record"))
    size = f"{who} in {counted(classes, 'class')}, k = {found['k']}"
    click.echo(size if found["targets"] == 1 else f"{size}; {found['targets']} targets")
    for note in found.get("notes", ()):
        click.echo(f"Note: {note}.")
    rows = found["leaks"]
    if len(rows) > 1:
        names = list(rows[0])
        print_table(tuple(_NAMES[n].strip() for n in names), ([_shown(r[n]) for n in names]
                    for r in rows))  # fmt: skip
    else:
        for name, value in rows[0].items():
            click.echo(f"{_NAMES[name]:<28}{_shown(value):>14}")
    question = _question(options)
    what = _asked_for(found["targets"], question)
    for leaked, k in found.get("smallest_k", {}).items():
        limit = options["smallest_k"]
        kept = f"classes of {k} or more keep {what} at or under {limit:g}"
        shown = f"{int(leaked):,}" if leaked.isdigit() else leaked
        click.echo(f"{shown} leaked: {kept}")
    if "largest_leak" in found:
        limit = options["largest_leak"]
        whose = {"each": "everybody's risk", "any": "the risk of a patient drawn at random"}
        what = whose.get(question, what) if found["targets"] == 1 else what
        kept = f"keeps {what} at or under {limit:g}"
        click.echo(f"every leak of up to {found['largest_leak']:,} {kept}")
    for said in dict.fromkeys(
        options[name].said
        for name in ("smallest_k", "largest_leak", "fail_above")
        if isinstance(options[name], NamedLimit)
    ):
        click.echo(f"limit: {said}")
    for name in found.get("figures", ()):
        click.echo(f"wrote {name}")


def _asked_for(targets: int, question: str) -> str:
    if targets == 1:
        return "the risk"
    return {
        "all": f"the chance that all {targets} targets are identified",
        "any": f"the chance that any of {targets} targets is identified",
        "share": f"the expected share of {targets} targets that is identified",
    }[question]


def _shown(value: Any) -> str:
    if value is None:
        return "impossible"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _pairs(text: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for part in text.split(","):
        size, colon, count = (piece.strip() for piece in part.partition(":"))
        if not (colon and size.isdigit() and count.isdigit()):
            raise UsageError(f'--classes: "{part.strip()}" is not SIZE:COUNT, such as 5:2000')
        if int(size) in found:
            raise UsageError(f"--classes: size {size} is named twice")
        found[int(size)] = int(count)
    return found
