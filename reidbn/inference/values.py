"""What an attack is asked at: values of its parameters and of its subjects' columns, checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from math import prod
from typing import Any, NoReturn

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.columns import (
    KNOWS,
    column_shape,
    describe_shape,
    grown,
    holds_class_sizes,
    is_share,
    named_order,
    shaped,
    stray_share,
)
from reidbn.attack.events import EVERYTHING_SURE
from reidbn.attack.limits import broken_condition, refuse_beyond_range, with_numbers
from reidbn.attack.modelfile import models_with
from reidbn.attack.parts import PROBABILITY, Parameter
from reidbn.calls import described
from reidbn.cpds.protocol import Array
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.inference.policies import refuse_policy_of_one

LOOKED_AT = 14  # members, and as many people as have no more numbers: their class sizes


def parameter_values(attack: Attack, changes: Mapping[str, Any] | None) -> dict[str, Array]:
    """Every parameter as an array of length 1, or of the common number of settings.

    So are derived numbers that no table has a say in; they are not yet checked.
    """
    changes = changes or {}
    for name in changes:
        if name in attack.numbers and name not in attack.settable:
            raise UsageError(
                f"{attack.name}: {name} differs from person to person "
                f"({attack.numbers[name].formula}); set what it stands on"
            )
        if name not in attack.settable:
            refuse_unknown(attack, name)
    values = {
        name: _settings(parameter, changes.get(name, parameter.value))
        for name, parameter in attack.settable.items()
        if name in changes or name in attack.parameters
    }
    lengths = {len(v) for v in values.values()} - {1}
    if len(lengths) > 1:
        raise UsageError(f"settings of different lengths: {sorted(lengths)}; use a grid")
    return {**with_numbers(attack, values)}


def refuse_unknown(attack: Attack, name: str, silent: Collection[str] = ()) -> NoReturn:
    """Raise where a name is no parameter, or one of stories that a scenario put aside."""
    if not isinstance(name, str):
        raise UsageError(
            f"{attack.name}: a parameter is called {described(name)}; give its name as text, "
            f"{{name: value}}: {', '.join(attack.settable)}"
        )
    if name in silent:
        raise UsageError(
            f"{name} has no say here: the scenario says what is known in place of the stories that "
            f"read it; vary it where the model itself tells what is known"
        )
    raise UsageError(f'{attack.name} has no parameter "{name}"; {_instead(attack, name)}')


def _instead(attack: Attack, name: str) -> str:
    """What may stand in the place of a name that is no parameter: what is known has its own."""
    column = re.sub(rf"^(known\.|(p_)?{KNOWS})", "", name)
    chance = f"p_{KNOWS}{column}"
    if chance in attack.settable:
        return f'the chance that {column} is known is the parameter "{chance}"'
    members = {m for g in attack.groups.values() for m in g.members if m.startswith(KNOWS)}
    meant = name == "known" or name != column or f"{KNOWS}{column}" in members
    hint = did_you_mean(name, attack.settable)
    others = () if hint.startswith("did you") else models_with(name)
    if others:
        return f"it is one of {' and '.join(others)}"
    sure = EVERYTHING_SURE in members and name.startswith("p_") and not hint.startswith("did you")
    if not (members and meant) and not sure:
        return hint
    there = [one for one in attack.settable if one.startswith(f"p_{KNOWS}")]
    return (
        f"of what may be known, {', '.join(there) or 'nothing'} can be varied: a chance between 0 "
        "and 1 that all people share; say others first, rb.what_if(result, known={...})"
    )


def check_settings(
    attack: Attack,
    settings: Mapping[str, Any] | None,
    *,
    beyond_range: bool = False,
    all_numbers: bool = False,
) -> None:
    """Refuse settings outside the declared ranges (unless asked for), or against a condition.

    Every question about an attack passes here first; whether derived numbers keep to their ranges
    is looked at where they have a say, or here, where all are shown.
    """
    values = parameter_values(attack, settings)
    refuse_beyond_range(
        attack.settable, {name: values[name] for name in settings or {}},
        beyond_range=beyond_range,
    )  # fmt: skip
    check_conditions(attack, values)
    if all_numbers:
        attack.derived.kept(values, attack.tables(attack.all_nodes), settings or {})


def check_conditions(attack: Attack, values: Mapping[str, Array]) -> None:
    broken = broken_condition(attack, values)
    if broken:
        raise UsageError(f"{attack.name}: {broken}")


def _settings(parameter: Parameter, given: Any) -> Array:
    """The values of one parameter over the settings."""
    array = np.atleast_1d(np.asarray(given))
    name = parameter.name
    if array.ndim != 1 or not array.size or array.dtype.kind not in "fiub":
        raise UsageError(f"{name}: expected a number or a list of numbers")
    array = array.astype(float)
    if not np.isfinite(array).all():
        raise UsageError(f"{name}: expected finite numbers")
    if parameter.is_integer and (array != np.floor(array)).any():
        raise UsageError(
            f"{name} is a count of {parameter.unit}: expected whole numbers (its value and range "
            f"are whole; write {parameter.value}.0 in the model where parts of one are meant)"
        )
    return array


def check_probabilities(attack: Attack, values: Mapping[str, Array]) -> None:
    for name, array in values.items():
        outside = array[(array < 0) | (array > 1)]
        if name in attack.numbers:
            continue  # checked with their own formulas
        if attack.parameters[name].unit == PROBABILITY and outside.size:
            raise UsageError(
                f"{name}={outside[0]:g} is not a probability: it must lie between 0 and 1"
            )


def subject_values(attack: Attack, subject: Mapping[str, Any] | None) -> dict[str, Array]:
    """Every subject column as an array with one row per subject; the example when none is given."""
    if subject is None:
        subject = attack.example
    unknown = [name for name in subject if name not in attack.subject]
    if unknown:
        hint = did_you_mean(unknown[0], attack.subject)
        raise UsageError(f'{attack.name} has no subject column "{unknown[0]}"; {hint}')
    missing = [n for n in attack.subject if n in attack.columns_read and n not in subject]
    if missing:
        raise UsageError(
            f"{attack.name} needs subject data: {', '.join(missing)} "
            f"(subject={{...}}, or an example block in the model file)"
        )
    values = {name: subject_column(attack, name, value) for name, value in subject.items()}
    lengths = {len(v) for v in values.values()} - {1}
    if len(lengths) > 1:
        raise UsageError(f"subject columns of different lengths: {sorted(lengths)}")
    if lengths:
        refuse_policy_of_one(attack)
    return values


def subject_column(attack: Attack, name: str, value: Any) -> Array:
    """One subject column, checked, with one row per subject; named values in the model's order."""
    column = attack.subject[name]
    wanted = column_shape(attack, column)
    array = np.asarray(named_order(attack, column, value))
    if array.dtype.kind not in "fiub":
        raise DataError(f"subject column {name}: expected numbers")
    one = shaped(array, wanted)
    several = one[None] if one is not None else shaped(array, wanted, rows=True)
    if several is None or several.ndim != 1 + len(wanted):
        found = np.shape(value)
        raise DataError(
            f"subject column {name} has shape {found}; {describe_shape(attack, column)}, "
            f"for each subject"
        )
    array = several
    if not array.size:
        raise DataError(f"subject column {name} is empty; is there a subject?")
    low, high = float(array.min()), float(array.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise DataError(f"subject column {name} holds a value that is not a finite number")
    if low < _or(column.low, -np.inf) or high > _or(column.high, np.inf):
        raise DataError(
            f"subject column {name} must lie between {_or(column.low, -np.inf):g} and "
            f"{_or(column.high, np.inf):g}; some values do not"
        )
    if column.over and is_share(column) and stray_share(array) is not None:
        raise DataError(f"subject column {name}: {stray_share(array)}, for somebody")
    if holds_class_sizes(attack, column):
        # A slip in the order of the values shows in the first people and members already.
        few = array[: max(1, (1 << LOOKED_AT) // prod(array.shape[1:]))]
        grows = grown(attack, column, few, LOOKED_AT)
        if grows:
            raise DataError(f"subject column {name}: {grows[1]}")
    return array


def _or(bound: float | None, otherwise: float) -> float:
    return otherwise if bound is None else bound
