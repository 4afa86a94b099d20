"""What moves an answer: sweep, tornado, derivatives, solve, compare, sobol, uncertainty; and
crosscheck, which asks the same question again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from reidbn.above import refuse_no_limit
from reidbn.cli._files import are_results, compare_files
from reidbn.cli._options import (
    NUMBER,
    TABLE,
    WHOLE,
    NewFile,
    is_high,
    number,
    option_once,
    print_json,
    read_grid,
    read_settings,
    read_states,
    say_highest,
    typed_options,
)
from reidbn.cli._question import Call, asks
from reidbn.cli._results import result_options
from reidbn.cli._tables import show_frame, write_parquet
from reidbn.errors import CrosscheckFailed, UsageError
from reidbn.release.writing import write_csv
from reidbn.written import capital

if TYPE_CHECKING:
    import pandas as pd

POINTS = 11  # over the range of a parameter that is named without values

_seed = click.option("--seed", default=0, show_default=True)
_statistic = click.option(
    "--statistic", default="mean", show_default=True, metavar="NAME",
    help="Over several subjects: mean, median, max, q95, 'above 0.09'.",
)  # fmt: skip
_threshold = click.option(
    "--threshold", type=NUMBER, metavar="P", help="Where does the answer cross this?"
)
_plot = result_options("plot")
_over = click.option("--over", multiple=True, metavar="NAME[=LOW:HIGH]",
                     help="Only these parameters, over these ranges.")  # fmt: skip


@click.command()
@asks
@click.option("--over", multiple=True, required=True, metavar="NAME[=VALUES]",
              help="Values a,b,c or from:to:count; a bare name: 11 over its range.")  # fmt: skip
@option_once("--per-person", "--per-subject", is_flag=True, help="One row per person and setting.")
@click.option("--csv", type=NewFile(".csv", ".txt", ""), help="Write the table as CSV.")
@click.option("--parquet", type=TABLE, help="Write the table as Parquet.")
@click.option("--impossible", type=click.Choice(["raise", "null"]), default="raise",
              show_default=True,
              help="Where the evidence cannot be: stop, or leave the cell empty.")  # fmt: skip
@click.option("--fail-above", type=NUMBER, metavar="P", help="Exit 1 when any answer is above.")
@_threshold
@_plot
def sweep(
    asked: Call,
    over: tuple[str, ...],
    csv: str | None,
    parquet: str | None,
    fail_above: float | None,
    threshold: float | None,
    plot: str | None,
    **options: Any,
) -> int:
    """Ask QUESTION of ATTACK at every combination of the values of --over."""
    import reidbn as rb
    from reidbn.whatif.crossed import crossed, crossed_in_words

    table = rb.sweep(asked.attack, asked.question, read_over(over), **options, **asked.how)
    is_mean = table.attrs["answer"] == "mean"
    if threshold is not None and not is_mean:
        refuse_no_limit(threshold, f"--threshold {threshold:g}")
    met = {} if threshold is None else {"threshold": crossed(table, threshold)}
    if fail_above is not None and is_mean:
        raise UsageError("--fail-above needs a probability: ask for an event, such as node>=2")
    if fail_above is not None and "state" in table:
        raise UsageError("--fail-above needs a probability: ask for a state, such as node=yes")
    if fail_above is not None:
        refuse_no_limit(fail_above, f"--fail-above {fail_above:g}")
    if csv:
        write_csv(table, csv, of_people=bool({"subject", "subjects"} & {*table.columns}))
    if parquet:
        write_parquet(table, parquet)
    if plot:
        from reidbn.report.whatif_figures import draw_sweep

        draw_sweep(table, plot, threshold=threshold)
    if not (asked.as_json or csv or parquet):
        click.echo(f"{table.attrs['attack']}: {table.attrs['question']}")
        show_frame(table)
        asked.say_policy()
    if met and not asked.as_json:
        click.echo(capital(crossed_in_words(met["threshold"])))
    gate = (
        {} if fail_above is None else {"fail_above": _gate_of_sweep(asked, table, over, fail_above)}
    )
    if asked.as_json:
        print_json({**table.attrs, **asked.under, **met, **gate, "rows": _rows_of(table)})
    return int(bool(gate) and gate["fail_above"]["exceeded"])


def _gate_of_sweep(
    asked: Call, table: pd.DataFrame, over: tuple[str, ...], limit: float
) -> dict[str, Any]:
    """What `--fail-above` judges: every answer, of policies that are tied the highest."""
    from reidbn.whatif.cases import case_of
    from reidbn.whatif.sweep import WORST

    columns = (WORST, "probability", "max")
    shown = table[next(name for name in columns if name in table)]
    if shown.isna().any():
        raise UsageError(
            "--fail-above judges every answer, and where the evidence cannot be there is none: "
            "leave such values out of --over"
        )
    case = case_of(asked.attack, asked.question, **asked.how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is said beside the table
        cut = case.cut_off({name: table[name].to_numpy() for name in read_over(over)})
    high = is_high(zip(shown.tolist(), cut.tolist(), strict=True), limit)
    return say_highest(
        float(shown.max()), limit, exceeded=high, as_json=asked.as_json or asked.quiet,
        of_tied=WORST in table,
    )  # fmt: skip


@click.command()
@asks
@_over
@_statistic
@_threshold
@_plot
def tornado(asked: Call, over: tuple[str, ...], plot: str | None, **options: Any) -> None:
    """Move each parameter of ATTACK over its range, the others staying: the longest bar first."""
    import reidbn as rb

    ranges = read_ranges(over)
    found = rb.tornado(asked.attack, asked.question, over=ranges, **options, **asked.how)
    asked.show(found, plot=plot)


@click.command()
@asks
@click.option("--over", multiple=True, metavar="NAME", help="Only these parameters.")
def derivatives(asked: Call, over: tuple[str, ...]) -> None:
    """How fast the answer moves with each parameter, at the parameters' values."""
    import reidbn as rb

    names = [name.strip() for text in over for name in text.split(",")] or None
    table = rb.whatif.derivatives(asked.attack, asked.question, over=names, **asked.how)
    if asked.as_json:
        print_json(_rows_of(table))
    else:
        show_frame(table)
        asked.say_policy()


@click.command()
@partial(asks, question=False)
@click.argument("what", nargs=-1, metavar="[QUESTION] PARAMETER TARGET")
@click.option("--range", "span", metavar="LOW:HIGH", help="Search here, not over its own range.")
@_statistic
def solve(asked: Call, what: tuple[str, ...], span: str | None, statistic: str) -> None:
    """Find where the answer to QUESTION is TARGET, and stays under it, as PARAMETER moves."""
    import reidbn as rb

    if len(what) not in (2, 3):
        raise UsageError(
            f"solve takes ATTACK, a QUESTION if it is not the attack's own, PARAMETER and TARGET; "
            f"after the attack there are {len(what)} words"
        )
    question = what[0] if len(what) == 3 else None
    parameter, target = what[-2:]
    asked.show(
        rb.solve(
            asked.attack, question, parameter, float(number(target, "TARGET")),
            range=_ends(span, "--range") if span else None, statistic=statistic, **asked.how,
        )
    )  # fmt: skip


def _refuse_of_files(asked: Call, *then: tuple[str, ...]) -> None:
    """Two result files are compared as they are: nothing is asked of them anew."""
    if asked.question is None:
        raise UsageError(f"{asked.attack} is a result file: name a second one to compare it with")
    named = ["--then-..."] if any(then) else []
    named += [f"--{name.replace('_', '-')}" for name, value in asked.how.items() if value]
    named += typed_options(["statistic"])
    if named:
        raise UsageError(f"two result files are compared as they are; leave {named[0]} out")


@click.command()
@asks
@click.option("--then-set", multiple=True, metavar="NAME=NUMBER", help="Change a parameter.")
@click.option("--then-given", multiple=True, metavar="NODE=STATE", help="Learn something.")
@click.option("--then-do", multiple=True, metavar="NODE=STATE", help="Bring something about.")
@_statistic
def compare(
    asked: Call,
    then_set: tuple[str, ...],
    then_given: tuple[str, ...],
    then_do: tuple[str, ...],
    statistic: str,
) -> None:
    """Ask QUESTION of ATTACK before and after the changes of --then-..., and which one matters.

    Or compare two results: reidbn compare before.json after.json.
    """
    import reidbn as rb

    if not asked.policy and are_results(asked.attack, asked.question):
        _refuse_of_files(asked, then_set, then_given, then_do)
        compare_files(asked.attack, str(asked.question), as_json=asked.as_json)
        return
    after = {
        "set": read_settings(then_set),
        "given": read_states(then_given, "--then-given"),
        "do": read_states(then_do, "--then-do"),
    }
    if not any(after.values()):
        raise UsageError("nothing changes: give --then-set, --then-given or --then-do")
    asked.show(
        rb.compare(asked.attack, asked.question, {}, after, statistic=statistic, **asked.how)
    )


@click.command()
@asks
@_over
@_plot
def sobol(asked: Call, over: tuple[str, ...], plot: str | None) -> None:
    """Whose uncertainty makes the answer uncertain: each parameter's share of the variance."""
    import reidbn as rb

    found = rb.whatif.sobol(asked.attack, asked.question, over=read_ranges(over), **asked.how)
    asked.show(found, plot=plot)


@click.command()
@asks
@_over
@option_once(
    "--draws",
    "--samples",
    type=WHOLE,
    metavar="N",
    help="Draws for the quantiles; 100,000, or fewer of a large model.",
)
@_seed
@_threshold
@_plot
def uncertainty(
    asked: Call,
    over: tuple[str, ...],
    threshold: float | None,
    plot: str | None,
    **options: Any,
) -> None:
    """The distribution of the answer when the parameters have their priors."""
    import reidbn as rb

    if threshold is not None:
        options["thresholds"] = (threshold,)
    ranges = read_ranges(over)
    found = rb.whatif.uncertainty(asked.attack, asked.question, over=ranges, **options, **asked.how)
    asked.show(found, plot=plot, **({"threshold": threshold} if plot else {}))


@click.command()
@asks
@option_once(
    "--draws",
    "--rows",
    type=WHOLE,
    default=1_000_000,
    show_default=True,
    help="How often the attack is sampled.",
)
@_seed
@click.option("--cells", is_flag=True, help="Show every cell, not only the verdicts.")
def crosscheck(asked: Call, draws: int, seed: int, cells: bool) -> int:
    """Check an attack's exact answers by forward sampling and by pgmpy; exit 3 on disagreement."""
    import reidbn as rb

    check = rb.crosscheck(
        asked.attack, asked.question, draws=draws, seed=seed, must_agree=False, **asked.how
    )
    asked.show(check)
    if cells and not asked.as_json:
        click.echo(check.table().to_string(index=False))
    return CrosscheckFailed.exit_code if check.failed else 0


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
        found[name] = _ends(ends, f"--over {name}") if equals else None
    return found or None


def _ends(text: str, option: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise UsageError(f'{option}: "{text}" is not LOW:HIGH, such as 0:0.5') from None


def _rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table for JSON, every digit kept; what is empty is null."""
    return [
        {str(name): None if value != value else value for name, value in row.items()}
        for row in table.to_dict(orient="records")
    ]
