"""What a gate has to believe of an attacker for whom policies are worth the same; what is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reidbn.above import is_above
from reidbn.aside import aside
from reidbn.attack.attack import Attack
from reidbn.errors import TooLarge, UsageError
from reidbn.inference.answers import tied
from reidbn.inference.asked import Asked, Settings
from reidbn.inference.network import Array
from reidbn.inference.tensors import rows_of

TIED = "Tied: "
OF_TIED = "of the policies that are worth the same to the attacker"
OF_ONE = f"told of one {OF_TIED}, and may be higher under another"
AT_SOME = f"{TIED}at some values options are worth the same to the attacker"
OF_HIGHEST = "every figure here is of the policy with the highest answer"


def worst_answers(
    case: Asked, changes: Settings | None = None, *, taken: Array | None = None
) -> Array | None:
    """The highest answers of policies that are tied, subject x setting; None: of no other one.

    `taken` are the answers of those that are taken, where they are known.
    """
    if not case.decides:
        return None
    if taken is None:
        taken = case.evaluate(changes or {}).probability
    worst = replace(case, worst=True).evaluate(changes or {}).probability
    higher = is_above(worst, taken) | (np.isnan(taken) & ~np.isnan(worst))
    return np.fmax(worst, taken) if higher.any() else None


Ties = dict[tuple[tuple[str, str], ...], tuple[str, ...]]


def say_tied(case: Asked, found: Ties | None = None) -> bool:
    """Say beside an answer that another policy, worth the same, has a higher one.

    Of a table it is said without a number: notes leave the house.  True where there is another.
    `found` keeps what is tied, by what is brought about, for other questions about the same people.
    """
    other = of_tied(case, found)
    if other.in_words:
        aside("tied", 1.0, other.in_words)
    return bool(other.names)


@dataclass(frozen=True)
class Tied:
    """What the policies say that are worth as much as the one that is taken."""

    names: tuple[str, ...] = ()
    """Decisions in which another option is worth the same."""
    highest: Array | None = None
    """The highest of all answers, subject x setting; None where that is the answer itself."""
    is_known: bool = True
    """Whether the highest is known: where they are too many to try it is not."""
    in_words: str = ""
    """That another has a higher answer, or may have; empty where none has."""


def of_tied(case: Asked, found: Ties | None = None, *, taken: Array | None = None) -> Tied:
    """What other policies, worth the same, say of a question where it stands.

    `taken` are the answers of those that are taken, where they are known.
    """
    if not case.decides:
        return Tied()
    known = {} if found is None else found
    done = tuple(sorted(case.query.do.items()))
    if done not in known:
        known[done] = tied(case.attack, case.settings, case.subject, case.query.do)
    names = known[done]
    if not names:
        return Tied()
    text = tied_in_words(names)
    try:
        worst = worst_answers(case, taken=taken)
    except (UsageError, TooLarge):  # which of them has the highest is not told, that they are is
        return Tied(names, is_known=False, in_words=text)
    if worst is None:
        return Tied(names)
    told = case.count == 1 and case.query.scale is None
    return Tied(
        names, worst, in_words=text + (f"; the highest is {worst.max():.6g}" if told else "")
    )


def of_worst(case: Asked, looked: Iterable[Settings]) -> Asked:
    """The case under that of the tied policies which has the highest answer, and a word of it.

    Ties are looked for where the case stands, and at the settings that are `looked` at.
    """
    if not case.decides or case.worst:
        return case
    text = of_tied(case).in_words
    if all(worst_answers(case, at) is None for at in ({}, *looked)):
        if text:
            aside("tied", 1.0, text)
        return case
    aside("tied", 2.0, f"{text or AT_SOME}; {OF_HIGHEST}")
    return replace(case, worst=True)


def tied_over(case: Asked, looked: Iterable[Settings]) -> tuple[str, ...] | None:
    """The decisions that are tied where the case stands; () at settings that are `looked` at alone.

    None where no policy that is worth the same has a higher answer, here or there.
    """
    if not case.decides or case.worst:
        return None
    here = of_tied(case)
    if here.in_words:
        return here.names
    try:
        higher = any(worst_answers(case, at) is not None for at in looked)
    except (UsageError, TooLarge):  # too many to try
        higher = False
    return () if higher else None


def tied_in_words(names: tuple[str, ...], *, is_highest: bool = False) -> str:
    """That options are tied, and what to do to ask for another."""
    other = "is no higher" if is_highest else "may be higher or lower"
    return (
        f"{TIED}at {', '.join(names)} another option is worth the same to the attacker; under it "
        f"the answer {other} (attack.with_policy, --policy)"
    )


def not_checked(
    attack: Attack,
    taken: Sequence[str],
    settings: Mapping[str, Any] | None,
    columns: Mapping[str, Array],
    do: Mapping[str, str],
) -> str:
    """What engines that are given one policy cannot say of it; of one subject, where it is tied."""
    if not taken:
        return ""
    text = f"not checked: the attacker's policy ({', '.join(taken)}), which all engines share"
    names = tied(attack, settings or {}, columns, do) if rows_of(columns) == 1 else ()
    return f"{text}. {tied_in_words(names)}" if names else text
