"""reidbn disclosure: what the neighbours' records give away about a secret."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reidbn.attacks.secrets.counts import threshold
from reidbn.cli._disclosure_gates import GATES, refuse_of_some
from reidbn.cli._known import known_of, known_options, read_known
from reidbn.cli._options import (
    ABOVE,
    WHOLE,
    Chance,
    columns_listed,
    header_here,
    listed,
    listing,
    number,
    output_options,
    print_json,
    print_table,
    read_pairs,
    refuse_without,
)
from reidbn.cli._remedies import in_shell
from reidbn.cli._results import asks_for_a_file, result_options, write_reports
from reidbn.cli._tables import about, say_about, show_frame, table_options, write_parquet
from reidbn.errors import UsageError
from reidbn.limits import regular
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.attacks.secrets.ask import DisclosureAll
    from reidbn.attacks.secrets.generalise import Generalisation
    from reidbn.attacks.secrets.result import Disclosure
    from reidbn.microdata.table import People

BY_VALUE = "By value of the secret"
MAP_UP_TO = 12  # columns for which --html also takes every variable in turn as the secret
COMPARED_UP_TO = 2e8  # comparisons of people that the map may take where values need only be near


@click.command()
@table_options
@known_options
@click.option("--p", default="0", show_default=True,
              help="A secret is broken at PPP <= p; or certain, nearly-certain (5 %), "
              "more-likely-than-not (50 %).")  # fmt: skip
@click.option("--q", default="0", show_default=True, help='Values count above q; or "joint".')
@click.option("--range", "ranges", multiple=True, metavar="A=10|A=18,65|A=FILE",
              help="A known by bands of 10, in ranges from 18 and from 65, or as a CSV file says "
              "(value,range).")  # fmt: skip
@click.option("--tolerance", multiple=True, metavar="A=2", help="A known to within 2.")
@click.option("--within", type=float, help="A guess this near the secret is a breach.")
@click.option("--sensitive-value", "values", multiple=True, metavar="VALUE",
              help="Ask about people with this secret only; may be repeated.")  # fmt: skip
@click.option("--if-missing", type=click.Choice(["left-out", "value"]), default="left-out",
              show_default=True, help="What a person whose secret is missing is.")  # fmt: skip
@click.option("--individuals", type=WHOLE, help="Ask about this many people, drawn at random.")
@click.option("--seed", default=0, show_default=True, help="Of that draw, and of the folds.")
@click.option("--empty", is_flag=True, help="Count the attacker who knows nothing, too.")
@click.option("--all", "every", is_flag=True, help="Every column in turn as the secret.")
@click.option("--leave-one-out", type=click.Choice(["full", "weakest"]),
              help="If one auxiliary is unknown: all others known, or the least.")  # fmt: skip
@click.option("--breaks", type=WHOLE, metavar="N", help="The N subsets that break most people.")
@click.option("--readings", is_flag=True, help="k, l-diversity, t-closeness, alpha.")
@click.option("--smoothed", metavar="dirichlet:10|network:1",
              help="PPP under a smoothed posterior, too (p above 0).")  # fmt: skip
@click.option(
    "--calibrate", type=WHOLE, metavar="FOLDS", help="Score posteriors on held-out people."
)
@click.option("--crosscheck", type=WHOLE, metavar="N", help="Ask pgmpy about N people, too.")
@listing("--generalise", metavar="A,B", help="Best categories of these columns.")
@listing("--together", metavar="A=4,B=3",
              help="Best categories of several columns in turn: 4 of A, 3 of B.")  # fmt: skip
@listing("--categories", metavar="4,8", help="Numbers of categories to show.")
@click.option(
    "--smallest", type=WHOLE, default=10, show_default=True, help="People in a category, at least."
)
@click.option("--order", multiple=True, metavar="A=S,M,L", help="The order of a text's values.")
@click.option("--equal-width", type=click.Choice(["paper", "at-most", "observed", "text"]),
              default="observed", help="What the paper's search cuts [observed].")  # fmt: skip
@result_options()
@click.option("--fail-above", type=ABOVE, metavar="CHANCE",
              help="Exit 1 if the chance that anybody's secret, or any of several, is given away "
                   "is above (it is 1 without upward privacy if no chances are said); where they "
                   "are, knowing nothing counts with its chance.")  # fmt: skip
@click.option("--fail-above-share", type=Chance(is_limit=True), metavar="SHARE",
              help="Exit 1 if a larger share of people, or of their weight, has no upward privacy "
                   "(of several secrets: of any of them, or of one where that share is higher: "
                   "who has none of it is not asked).")  # fmt: skip
@output_options
@click.pass_context
def disclosure(
    context: click.Context,
    /,
    people: People,
    as_json: bool,
    quiet: bool,
    out: str | None,
    fail_above: float | None,
    fail_above_share: float | None,
    **question: Any,
) -> None:
    """What people's other values give away about their secret: for each person, all subsets.

    TABLE is a CSV or Parquet file, or synthetic:N for N made-up patients; --sensitive names the
    secret, or several; without --known every other column, the other secrets included, may be
    known of each.  What is printed is for the custodian; the page of --html may leave the house.
    """
    limits = {"fail_above": fail_above, "fail_above_share": fail_above_share}
    refuse_of_some(question["individuals"], limits)
    for name in ("categories", "smallest", "order", "equal_width"):
        refuse_without(name, "--generalise or --together", is_there=bool(
            question["generalise"] or question["together"]))  # fmt: skip
    found = _ask(people, question)
    coarse = [
        _generalise(people, c, found, question) for c in columns_listed(question["generalise"])
    ]
    more = _more(people, found, question)
    if not as_json:
        if not quiet:
            say_about(people)
            _say_notes(people, found)
        _say(found, coarse, more)
    gates = {
        name: GATES[name](found, limit, as_json=as_json)
        for name, limit in limits.items()
        if limit is not None
    }
    if as_json:
        shown = _as_json(people, found, coarse, more)
        print_json(shown | gates)
    if out:
        _write(found, out)
    if asks_for_a_file(question):
        _page(people, found, coarse, question)
    if any(gate["exceeded"] for gate in gates.values()):
        context.exit(1)


def _ask(people: People, question: dict[str, Any]) -> dict[str, Disclosure]:
    """One result per secret: the sensitive columns, or every column."""
    from reidbn.attacks.secrets.ask import disclosure as ask

    options = _options(people, question)
    if question["every"]:
        return dict(_all(people, question, options))
    if not people.sensitive:
        raise UsageError("name the secret with --sensitive COLUMN, or take every column with --all")
    found = {}
    for name in people.sensitive:
        values = _labels(people, name, question["values"]) or None
        found[name] = ask(people, name, sensitive_values=values, **options)
    return found


def _all(people: People, question: dict[str, Any], options: dict[str, Any]) -> DisclosureAll:
    from reidbn.attacks.secrets.ask import disclosure_all

    if options.pop("within") is not None:
        raise UsageError("--within is for one secret; leave --all out")
    if question["values"]:
        raise UsageError("--sensitive-value is for one secret; leave --all out")
    return disclosure_all(people, **options)


def _options(people: People, question: dict[str, Any]) -> dict[str, Any]:
    return {
        "p": question["p"],
        "q": question["q"],
        **_known(people, question),
        "ranges": _ranges(people, question["ranges"]),
        "tolerance": _numbers(question["tolerance"], "--tolerance"),
        "within": question["within"],
        "if_missing": question["if_missing"],
        "individuals": question["individuals"],
        "seed": question["seed"],
        "empty": question["empty"],
    }


def _pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    return read_pairs(texts, option, "COLUMN=NUMBER", header_here())


def _numbers(texts: tuple[str, ...], option: str) -> dict[str, float] | None:
    pairs = _pairs(texts, option).items()
    return {name: float(number(value, f"{option} {name}")) for name, value in pairs} or None


def _known(people: People, question: dict[str, Any]) -> dict[str, Any]:
    """The auxiliaries with or without chances; --known beside the older --knowledge are both."""
    if question["known"] and question["knowledge"]:
        return {
            "known": read_known(question["known"]),
            "knowledge": read_known(question["knowledge"], "--knowledge"),
        }
    if question["knowledge"] or question["scenario"]:  # the older words: all others count, too
        return {"knowledge": known_of(people, question)}
    return {"known": known_of(people, question)}


def _ranges(people: People, texts: tuple[str, ...]) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for name, value in _pairs(texts, "--range").items():
        if Path(value).is_file():
            found[name] = _range_file(people, name, Path(value))
        elif "," in value:
            found[name] = [float(number(part, f"--range {name}")) for part in listed(value)]
        else:
            found[name] = float(number(value, f"--range {name}"))
    return found or None


def _range_file(people: People, column: str, path: Path) -> dict[Any, str]:
    """Value -> range of a CSV file with two columns and a header."""
    import csv

    try:
        with regular(path).open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise UsageError(f"--range {column}: {path.name} cannot be read: {problem}") from None
    if len(rows) < 2 or any(len(row) != 2 for row in rows):
        raise UsageError(f"--range {column}: {path.name} must have a header and two columns")
    named = dict(rows[1:])
    if len(named) < len(rows) - 1:
        raise UsageError(f"--range {column}: {path.name} names a value twice")
    by_text = {_text(label): label for label in people.labels(column).tolist()}
    return {by_text[value]: band for value, band in named.items() if value in by_text}


def _text(label: Any) -> str:
    return "" if label is None else str(label)


def _labels(people: People, column: str, texts: tuple[str, ...] | list[str]) -> list[Any]:
    """The values of a column that are written so; what is not there is left for the error."""
    from reidbn.attacks.secrets.asked import own_labels

    by_text = {_text(label): label for label in own_labels(people, column).tolist()}
    return [by_text.get(text, text) for text in texts]


def _single(found: dict[str, Disclosure], option: str) -> Disclosure:
    if len(found) > 1:
        raise UsageError(f"{option} is for one secret; leave --all out, or name one --sensitive")
    (d,) = found.values()
    return d


def _coarse_options(d: Disclosure, question: dict[str, Any], option: str) -> dict[str, Any]:
    """What every search for categories is asked with: what the rest of the answer was."""
    for name in ("tolerance", "within"):
        if question[name]:
            raise UsageError(
                f"{option} counts people alike by equality, so --{name} would be dropped; leave "
                f"--{name} out, or ask twice"
            )
    if question["if_missing"] == "value":
        raise UsageError(f"{option} leaves out whoever's secret is missing; leave --if-missing out")
    _refuse_chances(d, option)
    return {"p": d.p, "known": list(d.known)}


def _refuse_chances(d: Disclosure, option: str) -> None:
    """Raise where chances were said, for what takes whatever may be known as known."""
    if d.chances is not None:
        raise UsageError(
            f"{option} would drop the chances of what may be known; name columns alone (--known "
            f"{','.join(d.known)}), or ask twice"
        )


def _generalise(
    people: People, column: str, found: dict[str, Disclosure], question: dict[str, Any]
) -> tuple[Generalisation, Generalisation | None]:
    from reidbn.attacks.secrets.generalise import best_generalisation, equal_width_search

    d = _single(found, "--generalise")
    options = _coarse_options(d, question, "--generalise")
    ranges = _ranges(people, question["ranges"])
    if column in (ranges or {}):
        raise UsageError(f"--generalise and --range both cut {column}; choose one")
    options |= {"ranges": ranges, "empty": question["empty"]}
    if d.rows is not None:
        options["individuals"] = d.rows if d.origin is None else d.origin[d.rows]
    order = _orders(people, question).get(column)
    counts = [int(number(text, "--categories")) for text in listed(question["categories"])]
    best = best_generalisation(
        people, column, d.secret, categories=counts or None, smallest=question["smallest"],
        order=order, **options,
    )  # fmt: skip
    if order is not None:
        return best, None
    reading = question["equal_width"]
    return best, equal_width_search(people, column, d.secret, reading=reading, **options)


def _orders(people: People, question: dict[str, Any]) -> dict[str, list[Any]]:
    pairs = _pairs(question["order"], "--order").items()
    return {name: _labels(people, name, listed(value)) for name, value in pairs}


def _more(
    people: People, found: dict[str, Disclosure], question: dict[str, Any]
) -> dict[str, pd.DataFrame]:
    """The other tables that were asked for, by their heading."""
    import pandas as pd

    tables: dict[str, pd.DataFrame] = {}
    if len(found) == 1:
        (d,) = found.values()
        shown = d.by_value().reset_index()
        tables[BY_VALUE] = shown
    if question["leave_one_out"]:
        d = _single(found, "--leave-one-out")
        tables["With one auxiliary unknown"] = _left_out(d, question["leave_one_out"])
    if question["breaks"] is not None:
        table = _single(found, "--breaks").breaks()[: question["breaks"]]
        table["subset"] = [" + ".join(subset) for subset in table["subset"]]
        tables["Subsets that break most people"] = table
    if question["readings"]:
        r = _single(found, "--readings").readings()
        worst = {"k": r.k, "l": r.l, "entropy l": r.entropy_l, "alpha": r.alpha, "t": r.t}
        if r.ordered_t is not None:
            worst["ordered t"] = r.ordered_t
        tables["The table's worst readings, all known"] = pd.DataFrame([worst])
    return tables | _forecasts(people, found, question) | _several(people, found, question)


def _left_out(d: Disclosure, reading: Any) -> pd.DataFrame:
    import pandas as pd

    left = d.leave_one_out(reading)
    columns: dict[str, Any] = {
        "left out": left.columns,
        "protected": (left.ppp > d.p).mean(axis=1),
        "mean PPP": left.ppp.mean(axis=1),
        "gain": left.gain.mean(axis=1),
    }
    if d.status != "constant":
        columns["mean PoAC"] = d.leave_one_out_poac(reading).poac.mean(axis=1)
    return pd.DataFrame(columns)


def _forecasts(
    people: People, found: dict[str, Disclosure], question: dict[str, Any]
) -> dict[str, pd.DataFrame]:
    import pandas as pd

    from reidbn.attacks.secrets.ask import disclosure_crosscheck
    from reidbn.attacks.secrets.smoothed import disclosure_calibration, smoothed_disclosure

    tables: dict[str, pd.DataFrame] = {}
    for option in ("smoothed", "calibrate"):
        blurred = [name for name in ("ranges", "tolerance", "within", "values", "individuals")
                   if question[name]]  # fmt: skip
        if question[option] is not None and blurred:
            name = {"ranges": "range", "values": "sensitive-value"}.get(blurred[0], blurred[0])
            raise UsageError(f"--{option} would drop --{name}; leave --{name} out, or ask twice")
        if question[option] is not None and question["if_missing"] == "value":
            raise UsageError(
                f"--{option} leaves out whoever's secret is missing; leave --if-missing out"
            )
    if question["smoothed"] is not None and question["empty"]:
        raise UsageError("--smoothed would drop --empty; leave --empty out, or ask twice")
    if question["smoothed"] is not None:
        d = _single(found, "--smoothed")
        _refuse_chances(d, "--smoothed")
        kind, _, strength = question["smoothed"].partition(":")
        weight = float(number(strength, "--smoothed")) if strength else 1.0
        p = d.p or threshold("p", "nearly-certain")
        s = smoothed_disclosure(
            people, d.secret, posterior=kind, strength=weight, known=list(d.known), p=p
        )
        tables[f"Smoothed: {kind} of weight {weight:g}"] = pd.DataFrame(
            [{"p": s.p, "upward": s.share_upward(), "mean PPP, all known": s.ppp_full.mean(),
              "least PPP": s.ppp_min.mean()}]
        )  # fmt: skip
    if question["calibrate"] is not None:
        d = _single(found, "--calibrate")
        _refuse_chances(d, "--calibrate")
        tables["Forecasts of held-out people, best first"] = disclosure_calibration(
            people,
            d.secret,
            known=list(d.known),
            folds=question["calibrate"],
            seed=question["seed"],
        )
    if question["crosscheck"] is not None:
        d = _single(found, "--crosscheck")
        checked = disclosure_crosscheck(d, individuals=question["crosscheck"])
        tables["pgmpy and the counts agree in every fraction"] = pd.DataFrame([vars(checked)])
    return tables


def _several(
    people: People, found: dict[str, Disclosure], question: dict[str, Any]
) -> dict[str, pd.DataFrame]:
    import pandas as pd

    from reidbn.attacks.secrets.generalise import generalise_several

    if not question["together"]:
        return {}
    d = _single(found, "--together")
    options = _coarse_options(d, question, "--together")
    for name in ("ranges", "values", "individuals", "empty"):
        if question[name]:
            option = {"ranges": "range", "values": "sensitive-value"}.get(name, name)
            raise UsageError(f"--together would drop --{option}; leave --{option} out")
    texts = tuple(columns_listed(question["together"]))
    counts = {name: int(number(v, "--together")) for name, v in _pairs(texts, "--together").items()}
    search = generalise_several(
        people, counts, d.secret, smallest=question["smallest"],
        order=_orders(people, question), **options,
    )  # fmt: skip
    rows = [
        {"column": name, "categories": ", ".join(map(str, parts)), "share": search.share}
        for name, parts in search.partitions.items()
    ]
    return {"Best categories together": pd.DataFrame(rows)}


def _measures(d: Disclosure) -> dict[str, Any]:
    """The result's measures, flat, with what was asked."""
    found: dict[str, Any] = {
        "secret": d.secret,
        "status": d.status,
        "known": list(d.known),
        **{name: measure.value for name, measure in d.measures.items()},
        "notes": list(d.notes),
    }
    protected = d.measures["share_upward"].interval
    return found | ({} if protected is None else {"share_upward_interval": list(protected)})


def _as_json(
    people: People,
    found: dict[str, Disclosure],
    coarse: list[tuple[Generalisation, Generalisation | None]],
    more: dict[str, pd.DataFrame],
) -> dict[str, Any]:
    secrets = [d.to_dict() | _measures(d) for d in found.values()]
    shown: dict[str, Any] = about(people) | {"secrets": secrets}
    shown |= {heading: _records(table) for heading, table in more.items()}
    if coarse:
        shown["generalisations"] = {
            best.column: _records(best.table.drop(columns="partition")) for best, _ in coarse
        }
    return shown


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON, which has no infinity: null stands for it."""
    rows = table.to_dict(orient="records")
    return [
        {str(k): None if isinstance(v, float) and v - v != 0 else v for k, v in row.items()}
        for row in rows
    ]


def _say_notes(people: People, found: dict[str, Disclosure]) -> None:
    """What was done for this question: who was left out, what the scenario does not know."""
    command = click.get_current_context().command
    for note in dict.fromkeys(note for d in found.values() for note in d.notes):
        if note not in people.notes:
            click.echo(f"Note: {in_shell(note, command)}.")


def _say(
    found: dict[str, Disclosure],
    coarse: list[tuple[Generalisation, Generalisation | None]],
    more: dict[str, pd.DataFrame],
) -> None:
    from reidbn.report.disclosure_page import MOST_OWN, guesses, verdict

    if any({*d.known} & ({*found} - {d.secret}) for d in found.values()):
        click.echo(
            "Of each secret the other secrets are taken as known, too; with one --sensitive alone "
            "none of them is."
        )
    for d in found.values() if len(found) == 1 else ():
        for sentence in verdict(d):
            click.echo(sentence)
    rows = [
        (d.secret, f"{d.share_upward():.4f}", f"{d.share_downward():.4f}",
         *(f"{each.mean():.4f}" for each in guesses(d)), f"{d.ppp_full.mean():.4f}",
         d.status)
        for d in found.values()
    ]  # fmt: skip
    heads = ("secret", "upward", "downward", "best guess, nothing known", "all known",
             "PPP, all known", "status")  # fmt: skip
    print_table(heads, rows)
    if any(d.chances is not None for d in found.values()):
        chances = [(d.secret, f"{d.expected_ppp.mean():.4f}", f"{d.breach_probability.mean():.4f}")
                   for d in found.values()]  # fmt: skip
        print_table(("secret", "PPP in the scenario", "breach probability"), chances)
    for heading, table in more.items():
        click.echo(heading)
        most = MOST_OWN if heading == BY_VALUE else len(table)
        show_frame(table[:most])
        if rest := len(table[most:]):
            click.echo(f"{counted(rest, 'rarer value')} not shown; --json has every one.")
    for best, _ in coarse:
        table = best.table
        click.echo(f"Best categories of {best.column} ({best.method})")
        shown = [
            (row["categories"], f"{row['share']:.4f}", row["smallest"],
             ", ".join(map(str, row["partition"])))
            for row in table[:MAP_UP_TO].to_dict("records")
        ]  # fmt: skip
        print_table(("categories", "share", "smallest", "categories are"), shown)


def _write(found: dict[str, Disclosure], out: str) -> None:
    import pandas as pd

    parts = []
    for d in found.values():
        table = d.subjects.rename_axis("subject").reset_index()
        table.insert(1, "secret", d.secret)
        parts.append(table)
    write_parquet(pd.concat(parts, ignore_index=True), out)
    click.echo(f"a row per person (restricted): {out}", err=True)


def _page(
    people: People,
    found: dict[str, Disclosure],
    coarse: list[tuple[Generalisation, Generalisation | None]],
    question: dict[str, Any],
) -> None:
    from reidbn.attacks.secrets.ask import DisclosureAll

    first = found[people.sensitive[0]] if people.sensitive else next(iter(found.values()))
    every = None
    if not question["html"] and not question["markdown"]:
        return write_reports(first, question)
    if len(found) > 1:
        every = DisclosureAll(people, found)
    elif 1 < len(first.known) < MAP_UP_TO and _cheap(people, first, question):
        every = _map(people, first, question)
    return write_reports(first, question, every=every, generalisations=coarse)


def _cheap(people: People, d: Disclosure, question: dict[str, Any]) -> bool:
    """Whether asking for each column in turn takes no long time."""
    near = bool(question["tolerance"]) or not people.is_partition
    return not near or float(len(people)) * len(d) <= COMPARED_UP_TO


def _map(people: People, d: Disclosure, question: dict[str, Any]) -> DisclosureAll:
    """Each column of the page's own question in turn as the secret; its secret's row is its own."""
    from reidbn.attacks.secrets.ask import DisclosureAll, disclosure_all

    options = _options(people, question)
    for name in ("within", "known", "knowledge", "individuals", "q"):
        options.pop(name, None)
    if d.rows is not None:
        options["individuals"] = d.rows if d.origin is None else d.origin[d.rows]
    several = disclosure_all(people, columns=[*d.known, d.secret], **options)
    return DisclosureAll(people, dict(several) | {d.secret: d})
