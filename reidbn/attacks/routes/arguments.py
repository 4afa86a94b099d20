"""What a call may be given, checked before the work starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.above import refuse_no_limit
from reidbn.attack.attack import Attack
from reidbn.attack.parts import Given
from reidbn.attack.scenario import Scenario
from reidbn.errors import UsageError, did_you_mean
from reidbn.inference.query import default_question
from reidbn.microdata.knowledge import in_their_order
from reidbn.microdata.table import People
from reidbn.written import read_number


def mapping_of(given: Any, argument: str, example: str) -> dict[str, Any]:
    """A mapping by name; nothing is an empty one."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise UsageError(f"{argument} is a mapping by name, such as {argument}={example}")
    return dict(given)


def names_of(given: Sequence[str], argument: str) -> tuple[str, ...]:
    """Several names; one alone is one name, not its letters."""
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, list | tuple | set | frozenset) or not all(
        isinstance(name, str) for name in names
    ):
        raise UsageError(f'{argument} takes names, such as {argument}=["age"]')
    return tuple(names)


def columns_of(
    given: Any, table: Sequence[str], own: Collection[str] = ()
) -> dict[str, str | tuple[str, ...]]:
    """The table's column, or columns, for each attribute of a scenario.

    `own` are the subject columns of the model, which are filled otherwise.
    """
    found = mapping_of(given, "columns", '{"state": "residence"}')
    named = {
        name: columns if isinstance(columns, str) else names_of(columns, f"columns: {name}")
        for name, columns in found.items()
    }
    for name, columns in named.items():
        if name in own:
            raise UsageError(
                f"columns: {name} is a subject column of the model, and no attribute of the "
                f'scenario; give its numbers as subject={{"{name}": one number per person}}'
            )
        for column in (columns,) if isinstance(columns, str) else columns:
            if column not in table:
                said = f'{name} is to be column "{column}", which is none of those that were read; '
                said += f"{did_you_mean(column, table)}; one that is not released, but by which "
                said += "the scenario looks something up, is read with "
                raise UsageError(
                    f'{said}sensitive=["{column}"]', in_shell=f"{said}--sensitive {column}"
                )
    return named


def filled_otherwise(attack: Attack, scenario: Scenario) -> set[str]:
    """The model's subject columns, but for those of which the scenario has an attribute."""
    known = scenario.knows.known if scenario.knows else ()
    return set(attack.subject) - {k.name for k in known} - {c for k in known for c in k.columns}


def settings_of(given: Any) -> dict[str, float]:
    """One number for each parameter: an assessment is made at one setting."""
    found = mapping_of(given, "set", '{"p_c": 0.2}')
    for name, value in found.items():
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not abs(value) <= sys.float_info.max:
            raise UsageError(
                f"set: {name} needs one number; several settings are the business of rb.sweep"
            )
    return found


def people_columns_of(given: Any, people: People) -> dict[str, Any]:
    """Numbers about each person, by subject column."""
    found = mapping_of(given, "subject", '{"p_unique": one value per person}')
    for name, values in found.items():
        if isinstance(values, int | float | np.number) and len(people) != 1:
            raise UsageError(
                f"subject: {name} is one value, and every one of the {len(people):,} people needs "
                f"one of their own, in record order; where it is the same for all, repeat it: "
                f'subject={{"{name}": [number] * {len(people)}}}'
            )
        ordered = in_their_order(people, values, f"subject: {name}")
        try:
            numbers = np.atleast_1d(np.asarray(ordered, dtype=np.float64))
        except (TypeError, ValueError):
            raise UsageError(
                f"subject: {name} needs numbers, one (or one row) per person"
            ) from None
        if not np.isfinite(numbers).all():
            raise UsageError(f"subject: {name} has a value that is not a finite number")
        found[name] = _as_named(values, numbers)
    return found


def _as_named(values: Any, numbers: NDArray[np.float64]) -> Any:
    """Numbers with the names of their columns, which say whose each is, where they have any."""
    names = getattr(values, "columns", None)
    if names is None or callable(names) or numbers.ndim != 2:
        return numbers
    import pandas as pd

    return pd.DataFrame(numbers, columns=[*names])


def whole_number(given: Any, argument: str, *, least: int) -> int:
    """A whole number, not a truth value."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise UsageError(f"{argument} is a whole number, at least {least:,}")
    return int(given)


def probabilities_of(given: Any, argument: str) -> list[float]:
    """Numbers from 0 to 1; one alone is a list of one."""
    values = [given] if isinstance(given, int | float | np.number) else given
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise UsageError(f"{argument} takes numbers from 0 to 1, such as [0.05, 0.2]")
    found = list(values)
    for value in found:
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not 0 <= value <= 1:
            raise UsageError(f"{argument} takes numbers from 0 to 1, such as [0.05, 0.2]")
    return found


def share_of(given: float | str, argument: str, of: str) -> float:
    """A share of `of`, from 0 to 1, a number or as the shell writes it: 0.02, "2%" or "1/50".

    >>> share_of(0.02, "share", "the people"), share_of("2%", "share", "the people")
    (0.02, 0.02)
    """
    found = read_number(given, argument) if isinstance(given, str) else float(given)
    if isinstance(given, bool):
        raise UsageError(f"{argument}={given}; give a share of {of}, such as 0.02 or 2%")
    if found != 1:
        refuse_no_limit(found, f"{argument}={given if isinstance(given, str) else f'{found:g}'}",
                        alike=False)  # fmt: skip
    return found


def truth(given: Any, argument: str) -> bool:
    if not isinstance(given, bool | np.bool_):
        raise UsageError(f"{argument} is True or False")
    return bool(given)


def place_of(given: Any, argument: str) -> str:
    """A path as text."""
    if not isinstance(given, str | os.PathLike):
        raise UsageError(f"{argument} is the path of a file or folder")
    return str(os.fspath(given))


def individuals_of(
    people: Sized, individuals: int | ArrayLike | None, seed: int
) -> NDArray[np.int64] | None:
    """The rows asked about: so many drawn at random, or those named; None for everybody."""
    if individuals is None:
        return None
    wanted = np.asarray(individuals)
    if wanted.dtype.kind not in "iu" or wanted.ndim > 1 or not wanted.size:
        raise UsageError("individuals is how many people to draw, or the rows of some")
    if wanted.ndim == 0:
        if not 0 < int(wanted) <= len(people):
            raise UsageError(f"individuals={int(wanted)}; ask for 1 to {len(people)} people")
        drawn = np.random.default_rng(seed).choice(len(people), int(wanted), replace=False)
        return np.sort(drawn).astype(np.int64)
    if wanted.min() < 0 or wanted.max() >= len(people) or np.unique(wanted).size != wanted.size:
        raise UsageError(f"individuals are rows from 0 to {len(people) - 1}, each once")
    return wanted.astype(np.int64)


def laid_over(attack: Attack, questions: Iterable[str], learnt: Mapping[str, Given]) -> list[str]:
    """Notes on questions whose own evidence and the call's speak of one node, and not alike."""
    found = []
    for name in {*questions} & {*attack.questions} - {default_question(attack)}:
        own = attack.questions[name].given
        over = [node for node, said in own.items() if learnt.get(node, said) != said]
        if over:
            found.append(
                f"question {name} has evidence of its own about {', '.join(over)}: what was given "
                f"to this assessment takes its place, so it is another question"
            )
    return sorted(found)


def means_left_out(attack: Attack) -> list[str]:
    """Notes on questions for a number, which are not asked of people."""
    main = default_question(attack)
    return [
        f"question {q.name} is left out: it asks for a mean, and people are assessed by the chance "
        f"of an event; rb.expect answers it"
        for q in attack.questions.values()
        if q.expect and q.name != main
    ]


def of_empty_cells(people: People, groups: Sequence[Sequence[str]]) -> list[str]:
    """What was taken for known of cells that are missing, or were emptied before the release."""
    known = dict.fromkeys(name for group in groups for name in group)
    notes = []
    if gone := [name for name in people.emptied if name in known]:
        notes.append(
            f"cells of {', '.join(gone)} were emptied: who knows somebody knows what they held, "
            f"and takes an empty cell for any value; who can tell why a cell was emptied finds "
            f"fewer people who fit"
        )
    wild = people.missing == "matches-anything"
    if missing := [name for name in known if wild and people.column(name).has_missing]:
        notes.append(
            f"missing cells of {', '.join(missing)} fit everybody, as if the attacker did not know "
            f"them either; where they were emptied before the release, who knows what they held "
            f'finds fewer people who fit, perhaps one (at least those that missing="value" counts; '
            f"rb.microdata.empty_cells counts them where the table as it was is there)"
        )
    return notes
