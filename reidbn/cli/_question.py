"""A command that asks a question of an attack: its options, read into one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from reidbn.cli._options import (
    asked_beyond_range,
    attack_argument,
    do_option,
    given_option,
    output_options,
    print_json,
    question_argument,
    read_settings,
    read_states,
    read_subject,
    set_option,
    subject_option,
)


@dataclass(frozen=True)
class Call:
    """What was typed: the question, and how the answer is to be shown."""

    attack: str
    question: str | None
    how: dict[str, Any]
    """given, do, set, subject and beyond_range, as the functions of the library take them."""
    as_json: bool
    quiet: bool

    def show(self, result: Any, *, plot: str | None = None, **options: Any) -> None:
        """A result as text or JSON, and its figure if one is wanted."""
        if plot:
            result.plot(plot, **options)
        if self.as_json:
            print_json(result.to_dict())
        else:
            click.echo(str(result))


def asks(command: Callable[..., Any], *, question: bool = True) -> Callable[..., Any]:
    """ATTACK [QUESTION] --set --given --do --subject --json --quiet, given as one `Call`."""

    @wraps(command)
    def read(
        attack: str,
        settings: tuple[str, ...],
        given: tuple[str, ...],
        do: tuple[str, ...],
        subject: tuple[str, ...],
        as_json: bool,
        quiet: bool,
        question: str | None = None,
        **options: Any,
    ) -> int:
        if quiet:
            from reidbn.progress import be_quiet

            be_quiet()
        how = {
            "set": read_settings(settings),
            "given": read_states(given, "--given"),
            "do": read_states(do, "--do"),
            "subject": read_subject(subject),
            "beyond_range": asked_beyond_range(),
        }
        return int(command(Call(attack, question, how, as_json, quiet), **options) or 0)

    decorated: Any = output_options(read)
    for option in (subject_option, do_option, given_option, set_option):
        decorated = option(decorated)
    return attack_argument(question_argument(decorated) if question else decorated)  # type: ignore[no-any-return]
