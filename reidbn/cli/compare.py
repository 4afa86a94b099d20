"""reidbn compare: the same question before and after some changes."""

from __future__ import annotations

import click

from reidbn.cli._options import output_options, question_options, read_settings, read_states
from reidbn.cli._whatif import asked, show, statistic_option
from reidbn.errors import UsageError


@click.command()
@question_options
@click.option("--then-set", multiple=True, metavar="NAME=NUMBER", help="Change a parameter.")
@click.option("--then-given", multiple=True, metavar="NODE=STATE", help="Learn something.")
@click.option("--then-do", multiple=True, metavar="NODE=STATE", help="Bring something about.")
@statistic_option
@output_options
def compare(
    attack: str,
    question: str | None,
    settings: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    subject: tuple[str, ...],
    then_set: tuple[str, ...],
    then_given: tuple[str, ...],
    then_do: tuple[str, ...],
    statistic: str,
    as_json: bool,
    quiet: bool,
) -> int:
    """Ask QUESTION of ATTACK before and after the changes of --then-..., and which one matters."""
    import reidbn as rb

    how = asked(settings, given, do, subject, quiet=quiet)
    after = {
        "set": read_settings(then_set),
        "given": read_states(then_given, "--then-given"),
        "do": read_states(then_do, "--then-do"),
    }
    if not any(after.values()):
        raise UsageError("nothing changes: give --then-set, --then-given or --then-do")
    result = rb.compare(attack, question, {}, after, statistic=statistic, **how)
    show(result, as_json=as_json)
    return 0
