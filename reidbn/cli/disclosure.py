"""reidbn disclosure: what the neighbours' records give away about a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reidbn.cli._options import NUMBER, WHOLE, number, output_options, print_json, print_table
from reidbn.cli._tables import about, listed, say_about, table_options, write_parquet
from reidbn.errors import UsageError

if TYPE_CHECKING:
    from reidbn.attacks.disclosure import DisclosureAll
    from reidbn.attacks.disclosure_generalise import Generalisation
    from reidbn.attacks.disclosure_result import Disclosure
    from reidbn.microdata.table import People

MAP_UP_TO = 12  # columns for which --html also takes every variable in turn as the secret


@click.command()
@table_options
@click.option("--known", default="", metavar="A,B", help="Auxiliaries; default: all other columns.")
@click.option("--p", default=0.0, show_default=True, help="A secret is broken at PPP <= p.")
@click.option("--q", default="0", show_default=True, help='Values count above q; or "joint".')
@click.option("--knowledge", multiple=True, metavar="A=0.9", help="Chance that A is known.")
@click.option("--range", "ranges", multiple=True, metavar="A=10", help="A known by bands of 10.")
@click.option("--tolerance", multiple=True, metavar="A=2", help="A known to within 2.")
@click.option("--within", type=NUMBER, help="A guess this near the secret is a breach.")
@click.option("--individuals", type=WHOLE, help="Ask about this many people, drawn at random.")
@click.option("--seed", default=0, show_default=True, help="Of that draw.")
@click.option("--empty", is_flag=True, help="Count the attacker who knows nothing, too.")
@click.option("--generalise", default="", metavar="A,B", help="Best categories of these columns.")
@click.option("--all", "every", is_flag=True, help="Every column in turn as the secret.")
@click.option("--html", metavar="FILE", help="Write a page with figures.")
@click.option("--out", metavar="FILE", help="Write every person's measures (Parquet).")
@click.option("--fail-above", type=NUMBER, metavar="SHARE", help="Exit 1 if more are unprotected.")
@output_options
@click.pass_context
def disclosure(
    context: click.Context,
    /,
    people: People,
    every: bool,
    generalise: str,
    html: str | None,
    out: str | None,
    fail_above: float | None,
    as_json: bool,
    quiet: bool,
    **question: Any,
) -> None:
    """What people's other values give away about their secret: for each person, all subsets.

    TABLE is a CSV or Parquet file, or synthetic:N for N made-up patients; --sensitive names the
    secret.
    """
    found = _ask(people, every=every, question=question)
    coarse = [_generalise(people, column, found, question) for column in listed(generalise)]
    if as_json:
        print_json(_as_json(people, found, coarse))
    else:
        if not quiet:
            say_about(people)
        _say(found, coarse)
    if out:
        _write(found, out)
    if html:
        _page(people, found, coarse, html)
    worst = max(1 - d.share_upward() for d in found.values())
    if fail_above is not None and worst > fail_above:
        context.exit(1)


def _ask(people: People, *, every: bool, question: dict[str, Any]) -> dict[str, Disclosure]:
    """One result per secret: the sensitive columns, or every column."""
    from reidbn.attacks.disclosure import disclosure as ask

    options = _options(question)
    if every:
        return dict(_all(people, options))
    if not people.sensitive:
        raise UsageError("name the secret with --sensitive COLUMN, or take every column with --all")
    known = listed(question["known"]) or None
    return {name: ask(people, name, known=known, **options) for name in people.sensitive}


def _all(people: People, options: dict[str, Any]) -> DisclosureAll:
    from reidbn.attacks.disclosure import disclosure_all

    for name in ("ranges", "tolerance", "within"):
        if options.pop(name) is not None:
            raise UsageError(f"--{name.removesuffix('s')} is for one secret; leave --all out")
    return disclosure_all(people, **options)


def _options(question: dict[str, Any]) -> dict[str, Any]:
    q = question["q"]
    return {
        "p": question["p"],
        "q": q if q == "joint" else float(number(q, "--q")),
        "knowledge": _numbers(question["knowledge"], "--knowledge"),
        "ranges": _numbers(question["ranges"], "--range"),
        "tolerance": _numbers(question["tolerance"], "--tolerance"),
        "within": question["within"],
        "individuals": question["individuals"],
        "seed": question["seed"],
        "empty": question["empty"],
    }


def _numbers(texts: tuple[str, ...], option: str) -> dict[str, float] | None:
    found: dict[str, float] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise UsageError(f'{option}: "{text}" is not of the form COLUMN=NUMBER')
        found[name] = float(number(value, f"{option} {name}"))
    return found or None


def _generalise(
    people: People, column: str, found: dict[str, Disclosure], question: dict[str, Any]
) -> tuple[Generalisation, Generalisation | None]:
    from reidbn.attacks.disclosure_generalise import best_generalisation, equal_width_search

    if len(found) > 1:
        raise UsageError("--generalise is for one secret; leave --all out")
    (d,) = found.values()
    known = listed(question["known"]) or None
    best = best_generalisation(people, column, d.secret, p=d.p, known=known)
    paper = equal_width_search(people, column, d.secret, reading="observed", p=d.p, known=known)
    return best, paper


def _measures(d: Disclosure) -> dict[str, Any]:
    full, least = d.poac()
    found: dict[str, Any] = {
        "secret": d.secret,
        "status": d.status,
        "known": list(d.known),
        "people": len(d),
        "p": d.p,
        "q": d.q,
        "share_upward": d.share_upward(),
        "share_downward": d.share_downward(),
        "sure_when_all_known": int((d.npp_full == 0).sum()),
        "mean_ppp_full": float(d.ppp_full.mean()),
        "mean_ppp_min": float(d.ppp_min.mean()),
        "mean_poac_full": None if full is None else float(full.mean()),
        "mean_poac_min": None if least is None else float(least.mean()),
        "prior": float(d.prior.mean()),
        "posterior_max": float((1 - d.ppp_min).mean()),
    }
    if d.chances is not None:
        found["expected_ppp"] = float(d.expected_ppp.mean())
        found["breach_probability"] = float(d.breach_probability.mean())
    if d.rows is not None and d.weights is None:
        found["share_upward_interval"] = list(d.interval("upward"))
    return found


def _as_json(
    people: People,
    found: dict[str, Disclosure],
    coarse: list[tuple[Generalisation, Generalisation | None]],
) -> dict[str, Any]:
    secrets = [_measures(d) for d in found.values()]
    shown: dict[str, Any] = about(people) | {"secrets": secrets}
    if coarse:
        shown["generalisations"] = {
            best.column: best.table.drop(columns="partition").to_dict(orient="records")
            for best, _ in coarse
        }
    return shown


def _say(
    found: dict[str, Disclosure], coarse: list[tuple[Generalisation, Generalisation | None]]
) -> None:
    from reidbn.report.disclosure_page import verdict

    for d in found.values() if len(found) == 1 else ():
        for sentence in verdict(d):
            click.echo(sentence)
    rows = [
        (d.secret, f"{d.share_upward():.4f}", f"{d.share_downward():.4f}",
         f"{d.ppp_full.mean():.4f}", f"{d.ppp_min.mean():.4f}", d.status)
        for d in found.values()
    ]  # fmt: skip
    heads = ("secret", "upward", "downward", "PPP, all known", "least PPP", "status")
    print_table(heads, rows)
    for best, _ in coarse:
        table = best.table
        click.echo(f"Best categories of {best.column}")
        shown = [
            (row["categories"], f"{row['share']:.4f}", ", ".join(map(str, row["partition"])))
            for row in table[table["categories"] <= MAP_UP_TO].to_dict("records")
        ]
        print_table(("categories", "share", "categories are"), shown)


def _write(found: dict[str, Disclosure], out: str) -> None:
    import pandas as pd

    parts = []
    for d in found.values():
        table = d.subjects.rename_axis("subject").reset_index()
        table["weakest_subset"] = [",".join(subset) for subset in table["weakest_subset"]]
        table.insert(1, "secret", d.secret)
        parts.append(table)
    write_parquet(pd.concat(parts, ignore_index=True), out)


def _page(
    people: People,
    found: dict[str, Disclosure],
    coarse: list[tuple[Generalisation, Generalisation | None]],
    html: str,
) -> None:
    from reidbn.attacks.disclosure import DisclosureAll, disclosure_all
    from reidbn.report.disclosure_page import disclosure_page

    first = found[people.sensitive[0]] if people.sensitive else next(iter(found.values()))
    every = None
    if len(found) > 1:
        every = DisclosureAll(people, found)
    elif 2 < len(people.columns) <= MAP_UP_TO:
        every = disclosure_all(people, p=first.p, individuals=first.rows)
    disclosure_page(first, html, every=every, generalisations=coarse)
