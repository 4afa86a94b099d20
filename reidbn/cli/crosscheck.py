"""reidbn crosscheck: exact against sampled and against pgmpy."""

from __future__ import annotations

import click

from reidbn.cli._options import (
    asked_beyond_range,
    output_options,
    print_json,
    question_options,
    read_settings,
    read_states,
    read_subject,
)
from reidbn.errors import CrosscheckFailed


@click.command()
@question_options
@click.option("--rows", default=1_000_000, show_default=True, help="Rows to sample.")
@click.option("--seed", default=0, show_default=True)
@click.option("--cells", is_flag=True, help="Show every cell, not only the verdicts.")
@output_options
def crosscheck(
    attack: str,
    question: str | None,
    settings: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    subject: tuple[str, ...],
    rows: int,
    seed: int,
    cells: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Check an attack's exact answers by forward sampling and by pgmpy; exit 3 on disagreement."""
    import reidbn as rb
    from reidbn.progress import be_quiet

    if quiet:
        be_quiet()
    check = rb.crosscheck(
        attack,
        question,
        set=read_settings(settings),
        given=read_states(given, "--given"),
        do=read_states(do, "--do"),
        subject=read_subject(subject),
        rows=rows,
        seed=seed,
        beyond_range=asked_beyond_range(),
        must_agree=False,
    )
    if as_json:
        print_json(check.to_dict())
    else:
        click.echo(str(check))
        if cells:
            click.echo(check.table().to_string(index=False))
    return CrosscheckFailed.exit_code if check.failed else 0
