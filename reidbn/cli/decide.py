"""reidbn decide: what an attacker who weighs gain against cost does, and what stops him."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from reidbn.cli._examples import examples
from reidbn.cli._options import NUMBER, PICTURE, number, print_json
from reidbn.cli._question import Call, asks
from reidbn.cli._tables import show_frame
from reidbn.errors import UsageError


@click.command(
    epilog=examples(
        "reidbn decide insider-decides",
        "reidbn decide insider-decides --set p_audit=0.2 --information",
        "reidbn decide insider-decides --control p_audit=0.2:1000 --control fine=5000:200",
    )
)
@partial(asks)
@click.option("--temperature", type=NUMBER, help="Less than rational; in the utilities' unit.")
@click.option("--information", is_flag=True, help="What it would be worth to him to see more.")
@click.option("--control", "controls", multiple=True, metavar="NAME=VALUE:COST",
              help="Which control lowers the risk most per unit of cost.")  # fmt: skip
@click.option("--plot", type=PICTURE, help="Draw what pays (.svg, .png, .pdf).")
def decide(
    asked: Call, temperature: float | None, information: bool, controls: tuple[str, ...],
    plot: str | None,
) -> None:  # fmt: skip
    """The best policy of an attacker who decides, and the risk of QUESTION under it."""
    import reidbn as rb

    for word in ("given", "do"):
        if asked.how[word]:
            raise UsageError(f"--{word}: the policy is that of the attack as it is; use reidbn ask")
    if asked.policy and not asked.attack.decisions:
        raise UsageError("--policy: what he does is said then, and not decided; use reidbn ask")
    how = {key: asked.how[key] for key in ("set", "subject", "beyond_range")}
    found = rb.decide(asked.attack, asked.question, temperature=temperature, **how)
    tables: dict[str, Any] = {}
    if information:
        tables["information"] = found.information()
    if controls:
        tables["controls"] = found.controls(_controls(controls))
    if plot:
        found.plot(plot)
    if asked.as_json:
        more = {name: table.to_dict("records") for name, table in tables.items()}
        print_json(found.to_dict() | more)
        return
    click.echo(str(found))
    for table in tables.values():
        show_frame(table)


for option in decide.params:  # understood, to be refused with what answers them
    if isinstance(option, click.Option) and option.name in ("given", "do"):
        option.hidden = True


def _controls(texts: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, change in map(_control, texts):
        if name in found:
            raise UsageError(f"--control: {name} is named twice")
        found[name] = change
    return found


def _control(text: str) -> tuple[str, dict[str, Any]]:
    """A parameter's value, and what it costs to bring it there."""
    name, _, rest = text.partition("=")
    value, colon, cost = rest.partition(":")
    if not (name and value and colon and cost):
        raise UsageError(f'--control "{text}" is not of the form NAME=VALUE:COST')
    what = f"--control {name}"
    return text.rpartition(":")[0], {
        "set": {name.strip(): number(value, what)}, "cost": float(number(cost, what))
    }  # fmt: skip
