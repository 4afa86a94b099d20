"""reidbn ask: one question about one attack."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from reidbn.above import refuse_no_limit
from reidbn.cli._examples import examples
from reidbn.cli._options import (
    NUMBER,
    WHOLE,
    is_high,
    option_once,
    print_json,
    print_table,
    say_highest,
)
from reidbn.cli._question import Call, asks
from reidbn.errors import UsageError

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack
    from reidbn.inference.answer import Answer, Expectation

_ENGINES = ["exact", "pgmpy", "enumeration", "sampling"]


@click.command(
    epilog=examples(
        "reidbn ask leak-single identified=yes --set leaked=4000",
        "reidbn ask leak-single leaked_class_size --given identified=yes",
        "reidbn ask breakfast --most-probable --given identified=yes",
    )
)
@asks
@click.option("--engine", type=click.Choice(_ENGINES), default="exact", show_default=True)
@option_once(
    "--draws",
    "--rows",
    type=WHOLE,
    default=1_000_000,
    show_default=True,
    help="Of the sampling engine.",
)
@click.option("--seed", default=0, show_default=True, help="Of the sampling engine.")
@click.option("--scenario", metavar="FILE", help="What a scenario sets, gives and does, such as "
              "the setting of a page; other options go before it.")  # fmt: skip
@click.option("--most-probable", is_flag=True, help="How it most probably came about.")
@click.option("--fail-above", type=NUMBER, metavar="P", help="Exit 1 when any answer is above.")
def ask(
    asked: Call,
    most_probable: bool,
    fail_above: float | None,
    **options: Any,
) -> int:
    """Ask QUESTION (node=state, a node, a question's name) of ATTACK (a model's name or file)."""
    import reidbn as rb
    from reidbn.inference.answers import load_attack
    from reidbn.inference.policies import told_policy

    model = load_attack(asked.attack)
    if most_probable:
        if options["scenario"] is not None:
            raise UsageError(
                "--scenario: --most-probable takes --set, --given and --do; say with them what the "
                "file says"
            )
        if fail_above is not None or asked.policy:
            option = "--policy" if fail_above is None else "--fail-above"
            raise UsageError(
                f"{option}: --most-probable names every node and judges nothing; leave one out"
            )
        return _explain(model, asked)
    answer = rb.ask(model, asked.question, **options, **asked.how)
    answer = replace(answer, policy=told_policy(asked.policy))
    high = fail_above is not None and _is_high(answer, asked.how["subject"], fail_above)
    if not asked.as_json:
        _show(answer, quiet=asked.quiet)
    gate = {} if fail_above is None else {"fail_above": say_highest(
        _highest(answer), fail_above, exceeded=high, as_json=asked.as_json or asked.quiet,
        of_tied=answer.worst is not None,
    )}  # fmt: skip
    if asked.as_json:
        print_json(_as_data(answer) | gate)
    return int(high)


def _is_high(answer: Answer | Expectation, subject: Any, limit: float) -> bool:
    """Whether an answer is above a limit, or may be with what is cut off and could be a hit."""
    from reidbn.inference.answers import cut_of

    highest = _highest(answer)  # which refuses a mean: it has no such gate
    refuse_no_limit(limit, f"--fail-above {limit:g}")
    cut = 0.0
    if answer.cut:
        cut = float(cut_of(answer.attack, answer.query, answer.settings, subject).max())
    return is_high([(highest, cut)], limit)


def _explain(attack: Attack, asked: Call) -> int:
    import reidbn as rb
    from reidbn.report.words import one_in

    if asked.question:
        raise UsageError(
            f'"{asked.question}": --most-probable names every node; use --given for evidence'
        )
    found = rb.most_probable(attack, **asked.how)
    if asked.as_json:
        print_json({"attack": attack.name, **found.to_dict()})
        return 0
    print_table(("node", "most probable state"), list(found.case.items()))
    rest = found.posterior < 1 - 1e-12
    click.echo(f"This case makes up {one_in(found.posterior)} of what fits." if rest else
               "Nothing else fits.")  # fmt: skip
    return 0


def _as_data(answer: Answer | Expectation) -> dict[str, Any]:
    from reidbn.report.words import sentence, used_assumptions

    return {
        **answer.to_dict(),
        "sentence": sentence(answer),
        "assumptions": list(used_assumptions(answer)),
    }


def _show(answer: Answer | Expectation, *, quiet: bool) -> None:
    from reidbn.inference.worst import TIED
    from reidbn.report.words import remarks, sentence

    click.echo(sentence(answer))
    p = answer.probability
    scale = answer.query.scale
    if p.ndim == 1 and (answer.query.is_distribution or scale is not None):
        rows = zip(answer.states, p.tolist(), strict=True)
        node = answer.query.targets[0] if scale is None else scale.of
        print_table((node, "probability"), [(s, f"{x:.6g}") for s, x in rows])
    for remark in remarks(answer):
        if not quiet:
            click.echo(remark)
        elif remark.startswith(TIED):  # the one that may be read as another answer
            click.echo(remark, err=True)


def _highest(answer: Answer | Expectation) -> float:
    from reidbn.inference.answer import Expectation

    if isinstance(answer, Expectation):
        raise UsageError("--fail-above needs a probability: ask for an event, such as node>=2")
    if answer.query.is_distribution:
        raise UsageError("--fail-above needs a probability: ask for a state, such as node=yes")
    if answer.tied and answer.worst is None:
        raise UsageError(
            f"--fail-above judges the highest answer of the policies that are tied, and at "
            f"{', '.join(answer.tied)} these are too many to try: let one option be worth a little "
            f"more to the attacker (a cost in the utilities), or say which with --policy"
        )
    return float((answer.probability if answer.worst is None else answer.worst).max())
