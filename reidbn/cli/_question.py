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
    policy_option,
    print_json,
    question_argument,
    read_policy,
    read_settings,
    read_states,
    read_subject,
    said_policy,
    say_policy,
    set_option,
    subject_option,
    under,
)


@dataclass(frozen=True)
class Call:
    """What was typed: the question, and how the answer is to be shown."""

    attack: Any
    """As it was named; the attack itself where a policy is written into it."""
    question: str | None
    how: dict[str, Any]
    """given, do, set, subject and beyond_range, as the functions of the library take them."""
    as_json: bool
    quiet: bool
    policy: Any = None

    def show(self, result: Any, *, plot: str | None = None, **options: Any) -> None:
        """A result as text or JSON, and its figure if one is wanted."""
        if plot:
            result.plot(plot, **options)
        if self.as_json:
            print_json(result.to_dict() | self.under)
        else:
            click.echo(str(result))
            self.say_policy()

    @property
    def under(self) -> dict[str, Any]:
        """The policy that was given, as JSON has it."""
        return said_policy(self.policy)

    def say_policy(self) -> None:
        """That it is not the attacker's own policy."""
        say_policy(self.policy)


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
        policy: tuple[str, ...] = (),
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
        given_policy = read_policy(policy)
        what = under(attack, given_policy) if given_policy else attack
        call = Call(what, question, how, as_json, quiet, given_policy)
        return int(command(call, **options) or 0)

    decorated: Any = output_options(read)
    for option in (policy_option, subject_option, do_option, given_option, set_option):
        decorated = option(decorated)
    return attack_argument(question_argument(decorated) if question else decorated)  # type: ignore[no-any-return]
