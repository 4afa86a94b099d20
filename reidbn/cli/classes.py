"""reidbn classes: who is alike on what an attacker may know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reidbn.cli._options import EXACT_PICTURE, WHOLE, output_options, print_json
from reidbn.cli._results import result_options
from reidbn.cli._tables import (
    about,
    say_about,
    show_frame,
    table_options,
    with_subjects,
    write_parquet,
)

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.table import People


@click.command()
@table_options
@click.option("--suppress", type=WHOLE, metavar="K",
              help="Leave out the fewest so that the others have K written alike.")  # fmt: skip
@result_options("out", "plot")
@output_options
def classes(
    people: People,
    suppress: int | None,
    out: str | None,
    plot: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """How many people are alike: k, distinct rows, unique rows, and people by class size.

    TABLE is a CSV or Parquet file, or synthetic:N for N made-up patients.
    """
    from reidbn.microdata.classes import bands_of_sizes

    left_out: dict[str, Any] = {}
    if suppress is not None:
        everybody = len(people)
        people = people.suppress(suppress)
        left_out = {"share_left_out": 1 - len(people) / everybody}
    sizes = people.class_sizes()
    found = _measures(people) | left_out
    histogram = bands_of_sizes(sizes)
    if as_json:
        rows = histogram.to_dict(orient="records")
        print_json(about(people) | found | {"histogram": rows})
    else:
        if not quiet:
            say_about(people)
        wide = max(22, *(len(name) + 2 for name in found))
        for name, value in found.items():
            shown = f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
            click.echo(f"{name.replace('_', ' '):<{wide}}{shown:>12}")
        click.echo()
        show_frame(histogram)
    if out:
        write_parquet(_per_person(people), out)
    if plot:
        from reidbn.report.style import save
        from reidbn.report.words import class_size_figure

        save(class_size_figure(people), plot, of_people=True)
        if not quiet:
            click.echo(EXACT_PICTURE.format(plot), err=True)


def _measures(people: People) -> dict[str, Any]:
    """k, uniques, risks; the number of classes where there are classes."""
    sizes = people.class_sizes()
    found: dict[str, Any] = {"k": int(sizes.min())}
    if people.is_partition:
        found["classes"] = people.classes().count
    else:
        written = people.as_written().class_sizes()
        found |= {"k_of_rows_written_alike": int(written.min())}
    found |= {
        "uniques": int((sizes == 1).sum()),
        "mean_risk": float((1 / sizes).mean()),
        "risk_without_columns": 1 / len(people),
        "share_below_5": float((sizes < 5).mean()),
    }
    if people.weights is not None:
        found["people_stood_for"] = float(people.weights.sum())
    return found


def _per_person(people: People) -> pd.DataFrame:
    """One row per person, in record order: the subject, class size, and weight of the class."""
    import pandas as pd

    columns: dict[str, Any] = {"class_size": people.class_sizes()}
    if people.weights is not None:
        columns["class_weight"] = people.class_weights()
    return with_subjects(people, pd.DataFrame(columns))
