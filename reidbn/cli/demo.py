"""reidbn demo: made-up patients against a voter list, from a table to a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from reidbn.cli._options import WHOLE, option_once, output_options, print_json
from reidbn.errors import UsageError

PATIENTS, SEED, POPULATION = 4_000, 1, 6_900_000
QUASI_IDENTIFIERS = ["age", "sex", "state", "race"]
THRESHOLD = "cell-5"  # a controlled release
CLAIMED = 0.2  # what if the recipient's controls make a claim this unlikely


@click.command()
@click.option("--output", "-o", default="demo", show_default=True, metavar="FOLDER",
              help="Where the report and the risks go.")  # fmt: skip
@click.option("--language", is_flag=True, help="The attack language at work instead.")
@option_once(
    "--draws", "--rows", type=WHOLE, help="Of each cross-check: 250,000, or a million (--language)."
)
@click.option("--seed", default=0, show_default=True, help="Of the cross-checks (--language).")
@output_options
def demo(
    output: str,
    language: bool,
    draws: int | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> int:
    """Assess made-up patients against a voter list and against the worst case; write a report."""
    from reidbn.progress import be_quiet

    if quiet:
        be_quiet()
    folder = Path(output)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise UsageError(f"{folder}: cannot be made: {problem.strerror}") from None
    if language:
        from reidbn.cli._language_demo import language_demo

        language_demo(folder, draws or 1_000_000, seed, as_json=as_json, quiet=quiet)
        return 0
    start = time.perf_counter()
    found = _assessed(folder, draws or 250_000, say=not (as_json or quiet))
    if as_json:
        print_json(found)
        return 0
    click.echo(f"report: {found['files'][0]}")
    click.echo(f"risks of every person (restricted): {found['files'][1]}")
    click.echo(f"{time.perf_counter() - start:.1f} s; the attack language: reidbn demo --language")
    return 0


def _assessed(folder: Path, rows: int, *, say: bool) -> dict[str, Any]:
    """The main job, step by step: read, assess, ask what if, write."""
    import reidbn as rb

    people = rb.read_table(
        rb.datasets.synthetic_patients(PATIENTS, seed=SEED),
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=["diagnosis"],
        subject_id="patient_id",
        hierarchies={"age": rb.microdata.Bands(10)},
    )
    voter = rb.assess(
        "adversary-routes", people, scenario="voter-registration", population=POPULATION
    )
    voter.keep_crosscheck(draws=rows)
    worst = rb.what_if(voter, scenario="worst-case")
    bands = rb.what_if(voter, generalise={"age": 1})
    controls = rb.what_if(voter, set={"p_c": CLAIMED})
    summary, comparison = voter.summary(THRESHOLD), rb.compare(worst, voter)
    options = {"ten-year age bands": bands, f"claims at {CLAIMED:g}": controls}
    report = voter.to_html(
        folder / "report.html",
        threshold=THRESHOLD,
        options=options,
        title="Made-up patients against a voter list",
        context={"recipient": "nobody: a demonstration on made-up patients"},
    )
    risks = voter.to_parquet(folder / "risks.parquet")
    solved = rb.solve(voter, "p_c", statistic="q95", target=summary.threshold.value)
    if say:
        for part in (_about(len(people)), summary, comparison, _what_if(voter, options), solved):
            click.echo(f"{part}\n")
    return {
        "summary": summary.to_dict(),
        "comparison": comparison.to_dict(),
        "what_if": {name: float(option.risk().mean()) for name, option in options.items()},
        "solve": solved.to_dict(),
        "files": [str(report), str(risks)],
    }


def _about(people: int) -> str:
    return (
        f"{people:,} made-up patients, drawn from {POPULATION:,}; an attacker buys voter lists and "
        f"may learn {', '.join(QUASI_IDENTIFIERS)}."
    )


def _what_if(result: Any, options: dict[str, Any]) -> str:
    from reidbn.report.words import one_in

    lines = [f"what if (mean risk now {one_in(float(result.risk().mean()))})"]
    lines += [f"  {name}: {one_in(float(o.risk().mean()))}" for name, o in options.items()]
    return "\n".join(lines)
