"""reidbn solve: where an answer meets a target."""

from __future__ import annotations

import click

from reidbn.cli._options import (
    attack_argument,
    do_option,
    given_option,
    number,
    output_options,
    set_option,
    subject_option,
)
from reidbn.cli._whatif import asked, read_ranges, show, statistic_option
from reidbn.errors import UsageError


@click.command()
@attack_argument
@click.argument("what", nargs=-1, metavar="[QUESTION] PARAMETER TARGET")
@set_option
@given_option
@do_option
@subject_option
@click.option("--range", "span", metavar="LOW:HIGH", help="Search here, not over its own range.")
@statistic_option
@output_options
def solve(
    attack: str,
    what: tuple[str, ...],
    settings: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    subject: tuple[str, ...],
    span: str | None,
    statistic: str,
    as_json: bool,
    quiet: bool,
) -> int:
    """Find where the answer to QUESTION is TARGET, and stays under it, as PARAMETER moves."""
    import reidbn as rb

    if len(what) not in (2, 3):
        raise UsageError(
            f"solve takes ATTACK, a QUESTION if it is not the attack's own, PARAMETER and TARGET; "
            f"after the attack there are {len(what)} words"
        )
    question = what[0] if len(what) == 3 else None
    parameter, target = what[-2:]
    how = asked(settings, given, do, subject, quiet=quiet)
    ranges = read_ranges([f"{parameter}={span}"]) if span else None
    result = rb.solve(
        attack, question, parameter, float(number(target, "TARGET")),
        range=ranges[parameter] if ranges else None, statistic=statistic, **how,
    )  # fmt: skip
    show(result, as_json=as_json)
    return 0
