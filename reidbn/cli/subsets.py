"""reidbn subsets: risk on every subset of what an attacker may know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reidbn.cli._bar import share_bar
from reidbn.cli._known import known_of, known_options
from reidbn.cli._options import (
    CHANCE,
    EXACT_PICTURE,
    PICTURE,
    WHOLE,
    option_once,
    output_options,
    print_json,
)
from reidbn.cli._remedies import in_shell
from reidbn.cli._results import OUT, REPORTS, result_options, write_people, write_reports
from reidbn.cli._tables import (
    about,
    say_about,
    show_frame,
    table_options,
    with_subjects,
    write_parquet,
)
from reidbn.errors import UsageError
from reidbn.written import agree, counted

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.table import People


@click.command()
@table_options
@option_once(
    "--per-person", "--per-record", is_flag=True, help="One row per person, over all subsets."
)
@known_options
@click.option("--most", type=WHOLE, help="Only subsets of at most so many attributes.")
@option_once(
    "--draws", "--samples", type=WHOLE, help="Draw subsets at random instead of visiting all."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws.")
@click.option("--suda", is_flag=True, help="Minimal sample uniques and SUDA scores per person.")
@click.option("--score", type=click.Choice(["elliot", "ihsn"]), default="elliot",
              show_default=True, help="Which SUDA score.")  # fmt: skip
@click.option("--sampling-fraction", type=CHANCE, metavar="F",
              help="Share of the population in the table: DIS-SUDA too.")  # fmt: skip
@click.option("--top", type=click.IntRange(0), default=15, show_default=True, help="Rows shown.")
@result_options(out=f"Write a row for each subset; with --per-person or --suda: {OUT}")
@click.option(
    "--plot-lattice", type=PICTURE,
    help="Draw every subset as a cell of a strip.",
)  # fmt: skip
@output_options
def subsets(people: People, **options: Any) -> None:
    """Risk on every subset of the columns: classes, uniques, prior and posterior vulnerability.

    TABLE is a CSV or Parquet file, or synthetic:N for N made-up patients.
    """
    per_person = options["per_person"]
    if options["suda"]:
        return _suda(people, options)
    if options["sampling_fraction"] is not None:
        raise UsageError("--sampling-fraction is for DIS-SUDA; add --suda")
    for name in REPORTS:
        if options[name]:
            raise UsageError(f"--{name.replace('_', '-')} is the page of --suda; add --suda")
    if per_person and (options["plot"] or options["plot_lattice"]):
        raise UsageError("the plots show the table of subsets; leave out --per-person")
    table = _counted(people, options)
    if options["as_json"]:
        name = "records" if per_person else "subsets"
        shown = with_subjects(people, table) if per_person else table
        told = about(people)
        told["notes"] += table.attrs["notes"]
        print_json(told | {name: _rows(shown)})
    else:
        if not options["quiet"]:
            say_about(people)
            for note in table.attrs["notes"]:
                click.echo(f"Note: {in_shell(note, click.get_current_context().command)}.")
        (_show_people if per_person else _show_subsets)(people, table, options["top"])
    if options["out"]:
        _write(with_subjects(people, table) if per_person else table, options["out"])
    _draw(table, options["plot"], options["plot_lattice"], quiet=options["quiet"])
    return None


def _suda(people: People, options: dict[str, Any]) -> None:
    """Who is singled out by what: per person, and how much each column adds."""
    from reidbn.microdata.suda import suda

    for name in ("per_person", "known", "draws", "plot_lattice"):
        if options[name]:
            raise UsageError(
                f"--suda looks at minimal uniques; leave out --{name.replace('_', '-')}"
            )
    found = suda(
        people, score=options["score"], most=options["most"],
        sampling_fraction=options["sampling_fraction"],
    )  # fmt: skip
    table = with_subjects(people, found.to_frame())
    if options["as_json"]:
        measures = {
            "score": found.score_by, "minimal_uniques": found.total, "dis": found.dis,
            "column_contributions": found.column_contributions(),
        }  # fmt: skip
        print_json(found.to_dict() | about(people) | measures | {"records": _rows(table)})
    else:
        if not options["quiet"]:
            say_about(people)
        click.echo(str(found))
        for name, share in found.column_contributions().items():
            click.echo(f"share of the scores with {name:<20}{share:>10.6g}")
        riskiest = table.sort_values("score", ascending=False, kind="stable").head(options["top"])
        least = [" + ".join(next(iter(found.minimal_uniques(i)), ("-",))) for i in riskiest.index]
        click.echo()
        show_frame(riskiest.drop(columns="row").assign(smallest=least))
    write_reports(found, options)
    write_people(found, options)


def _counted(people: People, options: dict[str, Any]) -> pd.DataFrame:
    from reidbn.microdata.subsets import subsets as counted

    with share_bar("subsets", quiet=options["quiet"]) as progress:
        return counted(
            people,
            per_person=options["per_person"],
            known=known_of(people, options),
            most=options["most"],
            draws=options["draws"],
            seed=options["seed"],
            progress=progress,
        )


def _show_subsets(people: People, table: pd.DataFrame, top: int) -> None:
    """A line for each number of attributes known, and the riskiest subsets."""
    import pandas as pd

    shown = table[table["size"] > 0]
    lines = []
    for size, part in shown.groupby("size"):
        share = part["uniques"] / len(people)
        worst = part["subset"].iloc[int(part["uniques"].argmax())]
        lines.append(
            {
                "known": size,
                "subsets": len(part),
                "unique, least": share.min(),
                "mean": share.mean(),
                "most": share.max(),
                "most identifying": " + ".join(worst),
            }
        )
    show_frame(pd.DataFrame(lines))
    riskiest = shown.sort_values("posterior", ascending=False, kind="stable").head(top)
    if len(riskiest):
        click.echo()
        names = [" + ".join(subset) for subset in riskiest["subset"]]
        plain = [] if people.weights is not None else ["mean_inverse"]
        show_frame(riskiest.drop(columns=["subset", *plain]).assign(subset=names))
        if len(riskiest) < len(shown):
            click.echo(
                f"... {counted(len(shown) - len(riskiest), 'more subset')}; --out writes all"
            )


def _people_of(count: int) -> str:
    return agree(count, "person", "people")


def _show_people(people: People, table: pd.DataFrame, top: int) -> None:
    """Means over people, how many attributes are enough, and the most exposed people."""
    click.echo(f"chance of being unique, mean  {table['unique'].mean():>10.6g}")
    click.echo(f"chance of a right guess, mean {table['mean_inverse'].mean():>10.6g}")
    if "smallest_size" in table:
        sizes = table["smallest_size"].dropna().astype(int)
        for size, count in sizes.value_counts().sort_index().items():
            click.echo(f"identified by {size:>2} known          {count:>10,} {_people_of(count)}")
        free = len(table) - len(sizes)
        click.echo(f"identified by no subset         {free:>10,} {_people_of(free)}")
    if not top:
        return
    click.echo()
    told = with_subjects(people, table)
    written = told.sort_values("mean_inverse", ascending=False, kind="stable").head(top)
    if "smallest_identifying" in written:
        names = ["-" if s is None else " + ".join(s) for s in written["smallest_identifying"]]
        written = written.assign(smallest_identifying=names)
    show_frame(written.drop(columns="row"))


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Plain rows: a missing number is None."""
    plain = table.astype(object).where(table.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in plain.to_dict("records")]


def _write(table: pd.DataFrame, path: str) -> None:
    """Subsets as texts with + between names."""
    written = table.copy()
    for name in ("subset", "smallest_identifying"):
        if name in written:
            written[name] = [None if s is None else " + ".join(s) for s in written[name]]
    write_parquet(written, path)


def _draw(table: pd.DataFrame, plot: str | None, lattice: str | None, *, quiet: bool) -> None:
    if plot or lattice:
        from reidbn.report.style import save
        from reidbn.report.subsets import lattice_figure, uniqueness_figure

        if plot:
            save(uniqueness_figure(table), plot, of_people=True)
        if lattice:
            save(lattice_figure(table), lattice, of_people=True)
        for path in filter(None, (plot, lattice)):
            if not quiet:
                click.echo(EXACT_PICTURE.format(path), err=True)
