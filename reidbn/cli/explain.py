"""reidbn explain: a person's risk in one paragraph, or the worst off, for the custodian."""

from __future__ import annotations

import click

from reidbn.cli._options import WHOLE, print_json


@click.command()
@click.argument("risks", type=click.Path(exists=True, dir_okay=False))
@click.option("--person", metavar="ID",
              help="The subject's id; or the row from 0, where the table has no ids.")  # fmt: skip
@click.option("--worst", type=WHOLE, metavar="NUMBER",
              help="So many of those with the highest risk, the worst off first.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(risks: str, person: str | None, worst: int | None, as_json: bool) -> None:
    """Which facts and which route make one person's risk, and what would protect this person.

    RISKS is what `reidbn assess TABLE ... --out risks.json` wrote.  It is of everybody, and what is
    printed is of somebody: both stay with the custodian.
    """
    from reidbn.attacks.routes.explained import explain_from

    found = explain_from(risks, person, worst=worst)
    if as_json:
        print_json(
            [one.to_dict() for one in found] if isinstance(found, tuple) else found.to_dict()
        )
    else:
        every = found if isinstance(found, tuple) else (found,)
        click.echo("\n\n".join(one.in_words() for one in every))
