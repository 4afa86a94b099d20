"""reidbn family: which relatives one record of a sparse table gives away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reidbn.cli._options import (
    WHOLE,
    number,
    output_options,
    print_json,
    print_table,
    typed_options,
)
from reidbn.cli._results import result_options, write_reports
from reidbn.cli._tables import write_parquet
from reidbn.cli.linkage import read_sparse_table, sparse_options
from reidbn.errors import UsageError
from reidbn.progress import be_quiet

if TYPE_CHECKING:
    from reidbn.attacks.family.neighbourhood import Neighbourhood


@click.command()
@click.argument("table")
@sparse_options
@click.option(
    "--rule",
    type=click.Choice(["posterior", "strict"]),
    default="posterior",
    show_default=True,
    help="Who is named: whoever is above 1/2, or the only record on which everything fits.",
)
@click.option(
    "--depth", type=WHOLE, default=1, show_default=True, help="Rounds: who was found is read next."
)
@click.option("--start", type=int, metavar="ROW", help="The record named first; each in turn.")
@click.option("--individuals", type=WHOLE, metavar="N", help="Start from N drawn at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of what is drawn.")
@click.option(
    "--in-release",
    default="0.5",
    show_default=True,
    metavar="P",
    help="A relative is in the table.",
)
@click.option(
    "--completeness",
    default="0.9",
    show_default=True,
    metavar="P",
    help="An illness that a relative had is told.",
)
@click.option(
    "--false-reports",
    default="0.01",
    show_default=True,
    metavar="P",
    help="One that they did not have is told.",
)
@click.option(
    "--jitter",
    default="2",
    show_default=True,
    metavar="YEARS",
    help="How far told ages are off (standard deviation).",
)
@click.option(
    "--years",
    type=WHOLE,
    default=2,
    show_default=True,
    help="Ages are the same within so many years (strict rule).",
)
@result_options()
@output_options
def family(table: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """Which relatives one record of a sparse table gives away, and theirs.

    TABLE is a CSV or Parquet file with one row per person; its feature table says which column
    tells of whom: relation, disease, field.
    """
    from reidbn.attacks.family.kin import read_kin
    from reidbn.attacks.family.neighbourhood import neighbourhood

    if quiet or as_json:
        be_quiet()
    of: dict[str, Any] = {name: float(number(options[name], f"--{name.replace('_', '-')}"))
          for name in ("completeness", "false_reports", "jitter")}  # fmt: skip
    unused = ("completeness", "false_reports", "jitter", "in_release")
    _refuse_unused(("years",) if options["rule"] == "posterior" else unused, options["rule"])
    kin = read_kin(read_sparse_table(table, options), years=options["years"], **of)
    found = neighbourhood(
        kin, rule=options["rule"], depth=options["depth"], start=options["start"],
        individuals=options["individuals"], seed=options["seed"],
        in_release=float(number(options["in_release"], "--in-release")),
    )  # fmt: skip
    _show(found, as_json=as_json, quiet=quiet)
    write_reports(found, options)
    if options["out"]:
        named = "row" if kin.sparse.subject_ids is None else "subject"
        write_parquet(found.people.rename_axis(named).reset_index(), options["out"])
        click.echo(f"a row per first record (restricted): {options['out']}", err=True)


def _refuse_unused(names: tuple[str, ...], rule: str) -> None:
    """Raise where an option is written that says nothing by this rule."""
    other = "strict" if rule == "posterior" else "posterior"
    for option in typed_options(names):
        raise UsageError(
            f"{option} is of --rule {other} alone, and would say nothing of --rule {rule}; "
            "leave it out"
        )


def _show(found: Neighbourhood, *, as_json: bool, quiet: bool) -> None:
    """Shares of first records: whose names are never printed."""
    table = found.table()
    if as_json:
        print_json(found.to_dict() | {
            "people": len(found.kin), "first_records": len(found.starts),
            "named": found.measures["named"].value,
            "relatives": [
                {"relative": role, **{str(k).replace(" ", "_"): v if v == v else None
                                      for k, v in row.items()}}
                for role, row in zip(table.index, table.to_dict("records"), strict=True)
            ],
        })  # fmt: skip
        return
    if not quiet:
        click.echo(repr(found))
        click.echo(found.question)
    heads = ("relative", *table.columns)
    print_table(heads, [
        [role, *("" if v != v else f"{100 * v:.3g} %" for v in row.values())]
        for role, row in zip(table.index, table.to_dict("records"), strict=True)
    ])  # fmt: skip
    if not quiet:
        for remark in found.remarks():
            click.echo(f"Note: {remark}")
