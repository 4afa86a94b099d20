"""reidbn ask: one question about one attack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reidbn.cli._examples import examples
from reidbn.cli._options import (
    NUMBER,
    asked_beyond_range,
    is_above,
    output_options,
    print_json,
    print_table,
    question_options,
    read_settings,
    read_states,
    read_subject,
)
from reidbn.errors import UsageError

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack
    from reidbn.inference.answer import Answer

_ENGINES = ["exact", "pgmpy", "enumeration", "sampling"]


@click.command(
    epilog=examples(
        "reidbn ask leak-single identified=yes --set leaked=4000",
        "reidbn ask leak-single leaked_class_size --given identified=yes",
        "reidbn ask breakfast --most-probable --given identified=yes",
    )
)
@question_options
@click.option("--engine", type=click.Choice(_ENGINES), default="exact", show_default=True)
@click.option("--rows", default=1_000_000, show_default=True, help="Of the sampling engine.")
@click.option("--seed", default=0, show_default=True, help="Of the sampling engine.")
@click.option("--most-probable", is_flag=True, help="How it most probably came about.")
@click.option("--fail-above", type=NUMBER, metavar="P", help="Exit 1 when any answer is above.")
@output_options
def ask(
    attack: str,
    question: str | None,
    settings: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    subject: tuple[str, ...],
    engine: str,
    rows: int,
    seed: int,
    most_probable: bool,
    fail_above: float | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Ask QUESTION (node=state, a node, a question's name) of ATTACK (a model's name or file)."""
    import reidbn as rb
    from reidbn.progress import be_quiet

    if quiet:
        be_quiet()
    model = rb.load(attack)
    how: dict[str, Any] = {
        "given": read_states(given, "--given"),
        "do": read_states(do, "--do"),
        "set": read_settings(settings),
        "subject": read_subject(subject),
        "beyond_range": asked_beyond_range(),
    }
    if most_probable:
        return _explain(model, question, how, as_json=as_json)
    answer = rb.ask(model, question, engine=engine, rows=rows, seed=seed, **how)
    if as_json:
        print_json(_as_data(answer))
    else:
        _show(answer, quiet=quiet)
    return int(fail_above is not None and is_above(_highest(answer), fail_above))


def _explain(attack: Attack, question: str | None, how: dict[str, Any], *, as_json: bool) -> int:
    import reidbn as rb
    from reidbn.report.words import one_in

    if question:
        raise UsageError(
            f'"{question}": --most-probable names every node; use --given for evidence'
        )
    found = rb.most_probable(attack, **how)
    if as_json:
        print_json({"attack": attack.name, **found.to_dict()})
        return 0
    print_table(("node", "most probable state"), list(found.case.items()))
    rest = found.posterior < 1 - 1e-12
    click.echo(f"This case makes up {one_in(found.posterior)} of what fits." if rest else
               "Nothing else fits.")  # fmt: skip
    return 0


def _as_data(answer: Answer) -> dict[str, Any]:
    from reidbn.report.answer import sentence, used_assumptions

    return {
        **answer.to_dict(),
        "sentence": sentence(answer),
        "assumptions": list(used_assumptions(answer)),
    }


def _show(answer: Answer, *, quiet: bool) -> None:
    from reidbn.report.answer import remarks, sentence

    click.echo(sentence(answer))
    p = answer.probability
    if answer.query.is_distribution and p.ndim == 1:
        rows = zip(answer.states, p.tolist(), strict=True)
        print_table((answer.query.targets[0], "probability"), [(s, f"{x:.6g}") for s, x in rows])
    for remark in [] if quiet else remarks(answer):
        click.echo(remark)


def _highest(answer: Answer) -> float:
    if answer.query.is_distribution:
        raise UsageError("--fail-above needs a probability: ask for a state, such as node=yes")
    return float(answer.probability.max())
