"""reidbn linkage: how many facts of a mostly empty record single a person out."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reidbn.cli._options import (
    WHOLE,
    listed,
    number,
    output_options,
    print_json,
    print_table,
    typed_options,
)
from reidbn.cli._results import result_options, write_reports
from reidbn.cli._tables import reading, write_parquet
from reidbn.errors import UsageError
from reidbn.progress import be_quiet
from reidbn.written import counted

if TYPE_CHECKING:
    from reidbn.attacks.linkage.result import Linkage
    from reidbn.microdata.sparse import Sparse

F = TypeVar("F", bound=Callable[..., Any])
_SPAN = re.compile(r"(\d+)\.\.(\d+)")
_MADE_UP = re.compile(r"synthetic:(\d+)")
_OF_PROTECTIONS = {
    "table", "features", "subject_id", "missing_values", "delimiter", "allow_direct", "known",
    "seed", "individuals", "protections", "as_json", "quiet",
}  # fmt: skip


_READING: list[Callable[[Any], Any]] = [
    click.option(
        "--features",
        metavar="FILE",
        help="The feature table: a column feature, and kind, section, tags, together, ...",
    ),
    click.option("--subject-id", metavar="COLUMN", help="Tells people apart; one row each."),
    click.option("--missing-values", default="", metavar="?,NA", help="Texts that mean not known."),
    reading("delimiter", "allow_direct"),
]


def sparse_options(function: F) -> F:
    """How a sparse table is read."""
    for option in reversed(_READING):
        function = option(function)
    return function


@click.command()
@click.argument("table")
@sparse_options
@click.option(
    "--known",
    default="random",
    show_default=True,
    metavar="WORD,...|NAME=P,...",
    help="random, rarest, greedy, optimal; names, tags or sections; or chances.",
)
@click.option("--otherwise", metavar="P", help="With chances: that of every other fact.")
@click.option(
    "--match",
    type=click.Choice(["equal", "tolerance", "present", "modal"]),
    default="equal",
    show_default=True,
    help="When a record fits a fact.",
)
@click.option(
    "--facts",
    default=None,
    metavar="1..20|1,2,5",
    help="How many facts are known; 1..20 if not given.",
)
@click.option(
    "--success",
    type=click.Choice(["best", "threshold", "lineup", "guess", "separated", "eccentricity"]),
    default="best",
    show_default=True,
    help="When the attacker succeeds.",
)
@click.option(
    "--lineup",
    type=WHOLE,
    default=1,
    show_default=True,
    help="Of --success lineup: at most so many records fit as many facts.",
)
@click.option("--facts-together", is_flag=True, help="What the features put together is one fact.")
@click.option(
    "--node-budget",
    type=WHOLE,
    default=20_000,
    show_default=True,
    help="Steps of exact counting a person.",
)
@click.option(
    "--draws", type=WHOLE, default=1_000, show_default=True, help="Of what is not counted."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of what is drawn.")
@click.option("--individuals", type=WHOLE, metavar="N", help="Ask about N people drawn at random.")
@click.option(
    "--protections",
    is_flag=True,
    help="What protects most per column lost, by the model linkage; in place of the curve.",
)
@result_options()
@output_options
def linkage(table: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """How likely any few facts of a person single out their record in a sparse table.

    TABLE is a CSV or Parquet file with one row per person, or synthetic:N for N made-up records.
    """
    from reidbn.attacks.linkage.ask import linkage as ask

    if quiet or as_json:
        be_quiet()
    sparse = read_sparse_table(table, options)
    if options["protections"]:
        _protections(sparse, options, as_json=as_json)
        return
    found = ask(
        sparse,
        known=_known(options["known"]),
        otherwise=None if options["otherwise"] is None
        else float(number(options["otherwise"], "--otherwise")),
        facts=_facts(options["facts"]),
        **{name: options[name] for name in (
            "match", "success", "lineup", "facts_together", "node_budget", "draws", "seed",
            "individuals")},
    )  # fmt: skip
    _show(found, as_json=as_json, quiet=quiet)
    write_reports(found, options)
    if options["out"]:
        write_parquet(found.people.rename_axis("subject").reset_index(), options["out"])
        click.echo(f"a row per person (restricted): {options['out']}", err=True)


def _protections(sparse: Sparse, options: dict[str, Any], *, as_json: bool) -> None:
    """The table of releases; of what the model has not, refused."""
    import reidbn as rb

    for option in typed_options(
        sorted(click.get_current_context().params.keys() - _OF_PROTECTIONS)
    ):
        raise UsageError(
            f"--protections asks the model linkage, and has no {option}; leave it out, or ask "
            "rb.what_if"
        )
    known = _known(options["known"])
    if isinstance(known, dict):
        raise UsageError("--protections takes --known random, or names, tags or sections")
    r = rb.assess(
        "linkage", sparse, known=known, individuals=options["individuals"], seed=options["seed"]
    )
    found = rb.whatif.protections(r)
    if as_json:
        rows = found.astype(object).where(found.notna(), None).reset_index().to_dict("records")
        print_json({name: found.attrs[name] for name in ("risk", "off", "samples")}
                   | {"protections": rows})  # fmt: skip
        return
    click.echo(f"mean risk as it is: {found.attrs['risk']:.4f}")
    shown = [
        [str(name), str(int(row["columns lost"])), f"{row['risk']:.4f}", f"{row['less']:.4f}",
         f"{row['less per column lost']:.2g}" if row["columns lost"] else "-",
         f"{row['off']:.2g}" if row["off"] else "-"]
        for name, row in found.iterrows()
    ]  # fmt: skip
    heads = ("protection", "columns lost", "risk", "less", "less per column lost", "off")
    print_table(heads, shown)
    said = ["off: how far the risk may be away (at 95 %)"]
    if samples := found.attrs["samples"]:
        said.append(f"a sample's by who is in the {len(samples['risks'])} that were drawn")
    if own := found.attrs["off"]:
        said.append(f"others' by draws: the mean as it is at most {ceil(100 * own)} %")
    if len(said) > 1:
        click.echo("; ".join(said))


def read_sparse_table(table: str, options: dict[str, Any]) -> Sparse:
    """The table that a command names, or made-up records."""
    from reidbn.microdata.sparse import read_sparse

    made_up = _MADE_UP.fullmatch(table)
    if made_up:
        from reidbn.datasets.ehr import synthetic_ehr

        ehr = synthetic_ehr(int(made_up[1]))
        return read_sparse(ehr.table, features=options["features"] or ehr.features)
    return read_sparse(
        table,
        features=options["features"],
        subject_id=options["subject_id"],
        missing_values=listed(options["missing_values"]),
        allow_direct=options["allow_direct"],
        delimiter=options["delimiter"],
    )


def _known(text: str) -> str | list[str] | dict[str, float]:
    """One word, several names, or chances.

    >>> _known("colleague"), _known("sex,home"), _known("alcohol=0.3,travel=50%")
    ('colleague', ['sex', 'home'], {'alcohol': 0.3, 'travel': 0.5})
    """
    parts = listed(text)
    if not parts:
        raise UsageError("--known is empty; it takes random, names of facts, or NAME=CHANCE")
    chances = ["=" in part for part in parts]
    if all(chances):
        pairs = [part.rpartition("=") for part in parts]
        names = [name.strip() for name, _, _ in pairs]
        for twice in {name for name in names if names.count(name) > 1}:
            raise UsageError(f"--known names {twice} twice; give each fact one chance")
        return {name.strip(): float(number(p, f"--known {name}")) for name, _, p in pairs}
    if any(chances):
        raise UsageError("--known mixes names and chances; give each fact a chance, or none")
    return parts[0] if len(parts) == 1 else list(parts)


def _facts(text: str | None) -> list[int] | None:
    """1..20 or 1,2,5.

    >>> _facts("1..4"), _facts("1,2,5")
    ([1, 2, 3, 4], [1, 2, 5])
    """
    if text is None:
        return None
    span = _SPAN.fullmatch(text.strip())
    if span and 1 <= int(span[1]) <= int(span[2]) <= 1_000:
        return list(range(int(span[1]), int(span[2]) + 1))
    if span or not all(part.isdigit() and int(part) for part in listed(text)):
        raise UsageError(f"--facts {text}: write 1..20, or numbers such as 1,2,5; at most 1,000")
    return [int(part) for part in listed(text)]


def _show(found: Linkage, *, as_json: bool, quiet: bool) -> None:
    table = found.table()
    if as_json:
        rows = [{"facts": k, **row} for k, row in zip(table.index, table.to_dict("records"),
                                                      strict=True)]  # fmt: skip
        print_json(found.to_dict() | {
            "people": len(found.success), "features": len(found.sparse.schema), "curve": rows,
            "facts_for": {f"{level:g}": found.facts_for(level) for level in (0.6, 0.8, 0.9)}
            if found.ks else None,
        })  # fmt: skip
        return
    if not quiet:
        people, facts = len(found.success), len(found.sparse.schema)
        click.echo(f"{counted(people, 'person')} x {counted(facts, 'feature')}")
        click.echo(found.question)
    shown: list[list[str]] = []
    for k, row in zip(table.index, table.to_dict("records"), strict=True):
        between = f"{row['low']:.4f} to {row['high']:.4f}"
        shown.append([str(k), f"{row['success']:.4f}", between, f"{row['exact']:.0%}"])
    print_table(("facts", "singled out", "95 % interval", "exact"), shown)
    if not quiet:
        for remark in found.remarks():
            click.echo(f"note: {remark}", err=True)
