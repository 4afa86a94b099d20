"""What the what-if commands share: `--over`, and a call with the options of a question."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from reidbn.cli._options import (
    NUMBER,
    asked_beyond_range,
    print_json,
    read_grid,
    read_settings,
    read_states,
    read_subject,
)
from reidbn.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

POINTS = 11  # over the range of a parameter that is named without values

statistic_option = click.option(
    "--statistic", default="mean", show_default=True, metavar="NAME",
    help="Over several subjects: mean, median, max, q95, 'above 0.09'.",
)  # fmt: skip
threshold_option = click.option(
    "--threshold", type=NUMBER, metavar="P", help="Where does the answer cross this?"
)
plot_option = click.option("--plot", metavar="FILE", help="Draw it (.svg, .png, .pdf).")


def asked(
    settings: Iterable[str],
    given: Iterable[str],
    do: Iterable[str],
    subject: Iterable[str],
    *,
    quiet: bool,
) -> dict[str, Any]:
    """The keyword arguments of a what-if call."""
    if quiet:
        from reidbn.progress import be_quiet

        be_quiet()
    return {
        "set": read_settings(settings),
        "given": read_states(given, "--given"),
        "do": read_states(do, "--do"),
        "subject": read_subject(subject),
        "beyond_range": asked_beyond_range(),
    }


def read_over(texts: Iterable[str]) -> dict[str, Any]:
    """A grid: `NAME=values`, `NAME=from:to:count`, or a bare NAME for 11 points over its range.

    >>> read_over(["leaked=1000,2000", "p_c"])
    {'leaked': [1000, 2000], 'p_c': 11}
    """
    texts = list(texts)
    bare = [text.strip() for text in texts if "=" not in text]
    grid: dict[str, Any] = read_grid([text for text in texts if "=" in text], "--over")
    for name in bare:
        if name in grid:
            raise UsageError(f"--over: {name} is named twice")
        grid[name] = POINTS
    return grid


def read_ranges(texts: Iterable[str]) -> dict[str, tuple[float, float] | None] | None:
    """Ranges: `NAME=low:high`, or a bare NAME for its own range; None when nothing is named.

    >>> read_ranges(["p_c=0:0.5,p_m"])
    {'p_c': (0.0, 0.5), 'p_m': None}
    """
    found: dict[str, tuple[float, float] | None] = {}
    for text in (part.strip() for whole in texts for part in whole.split(",")):
        name, equals, ends = (part.strip() for part in text.partition("="))
        if not name or (equals and ends.count(":") != 1):
            raise UsageError(f'--over: "{text}" is not of the form NAME or NAME=LOW:HIGH')
        if name in found:
            raise UsageError(f"--over: {name} is named twice")
        found[name] = _ends(ends, name) if equals else None
    return found or None


def _ends(text: str, name: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise UsageError(f'--over {name}: "{text}" is not LOW:HIGH, such as 0:0.5') from None


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table for JSON, every digit kept; what is empty is null."""
    return [
        {str(name): None if value != value else value for name, value in row.items()}
        for row in table.to_dict(orient="records")
    ]


def show(result: Any, *, as_json: bool, plot: str | None = None, **options: Any) -> None:
    """A result as text or JSON, and its figure if one is wanted."""
    if plot:
        result.plot(plot, **options)
    if as_json:
        print_json(result.to_dict())
    else:
        click.echo(str(result))
