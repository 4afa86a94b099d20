"""`reidbn learn`: priors brought up to date by attempts."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import click

from reidbn.cli._options import FILE
from reidbn.cli._question import Call, asks
from reidbn.cli._results import result_options
from reidbn.cli.whatif import read_ranges
from reidbn.errors import UsageError

_TEST = re.compile(r"(.+?):\s*(\d+)\s*(?:/|of)\s*(\d+)\s*\Z")


@click.command()
@partial(asks, question=False)
@click.option("--test", "tests", multiple=True, required=True, metavar="'TARGET: HITS/TRIALS'",
              help="Attempts, such as 'identified=yes: 3/40'; again for another test.")  # fmt: skip
@click.option("--over", multiple=True, metavar="NAME[=LOW:HIGH]",
              help="Only these parameters, over these ranges.")  # fmt: skip
@click.option("--save", type=FILE, help="Write the attack with its new values and priors.")
@result_options("plot")
def learn(
    asked: Call, tests: tuple[str, ...], over: tuple[str, ...], save: str | None, plot: str | None
) -> None:
    """What attempts on the real thing teach about the parameters of ATTACK."""
    import reidbn as rb

    found = rb.learn(
        asked.attack, [_read(test) for test in tests], over=read_ranges(over), **asked.how
    )
    asked.show(found, plot=plot)  # also where no attack can be kept
    if save:
        found.attack.save(save)


def _read(text: str) -> dict[str, Any]:
    """A test as it is written in the shell; the target may be a question of the attack."""
    found = _TEST.match(text)
    if found is None:
        raise UsageError(f"--test '{text}': write TARGET: HITS/TRIALS, such as 'risk: 3/40'")
    return {"target": found[1].strip(), "hits": int(found[2]), "trials": int(found[3])}
