"""Boxes of parameters that vary together: every setting within one has to be allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from reidbn.attack.limits import with_numbers
from reidbn.errors import TooLarge, UsageError
from reidbn.inference.asked import Asked

MOST_TOGETHER = 12  # parameters of one table: their ranges have 2^12 corners to check


def check_box(case: Asked, box: Mapping[str, tuple[float, float]]) -> None:
    """Parameters that share a table must leave it a table at every corner of their ranges."""
    _check_conditions(case, box)
    _check_numbers(case, box)
    together = {tuple(n for n in box if node in case.holders([n])) for node in case.holders([*box])}
    for names in sorted(together):
        if len(names) > MOST_TOGETHER:
            raise TooLarge(
                f"{case.attack.name}: {len(names)} parameters share one table; vary at most "
                f"{MOST_TOGETHER} of them together: over=[names]"
            )
        corners = np.array(list(product(*(box[n] for n in names)))).T
        at_once = not any(case.is_structural(n) for n in names)
        if at_once and case.refusal(dict(zip(names, corners, strict=True)), names) is None:
            continue
        for corner in corners.T:
            changes = dict(zip(names, corner.tolist(), strict=True))
            problem = case.refusal(changes, names)
            if problem is not None:
                where = ", ".join(f"{n}={v:g}" for n, v in changes.items())
                raise _narrow(case, names, f"no answer is ({where}): {problem}", box)


def _check_conditions(case: Asked, box: Mapping[str, tuple[float, float]]) -> None:
    """Independent priors cannot honour a condition that some corner of their ranges breaks."""
    for condition in case.attack.conditions:
        names = condition.stands_on(case.attack, case.settings)
        ends = [box.get(n, (case.base(n), case.base(n))) for n in names]
        for corner in product(*ends):
            values = dict(zip(names, corner, strict=True))
            known = with_numbers(
                case.attack, {n: case.base(n) for n in (*case.parameters, *case.settings)} | values
            )
            if not condition.holds(known):
                where = ", ".join(f"{n}={v:g}" for n, v in values.items())
                raise _narrow(case, names, f"{condition} does not hold ({where})", box)
        if not condition.is_proved(case.attack, case.settings, dict(zip(names, ends, strict=True))):
            said = f"{condition} cannot be shown to hold everywhere between its corners"
            raise _narrow(case, names, said, box)


def _check_numbers(case: Asked, box: Mapping[str, tuple[float, float]]) -> None:
    """Derived numbers have to keep their ranges everywhere in the box."""
    for name in case.unproved({n: ends for n, ends in box.items() if case.matters(n)}):
        reads = [r[1:] for r in case.attack.derived.behind(name) if r[1:] in box]
        formula = case.attack.numbers[name].formula
        said = f"{name} = {formula} cannot be shown to keep its range"
        raise _narrow(case, reads or [name], said, box)


def _narrow(
    case: Asked, names: Sequence[str], problem: str, box: Mapping[str, tuple[float, float]]
) -> UsageError:
    """Ranges that cannot be drawn from independently, and how to write narrower ones.

    What is not named is held at its value, so what varies beside them is named too.
    """
    said = f"{case.attack.name}: the ranges of {', '.join(names)} meet where {problem}. Narrow them"
    rest = [n for n in box if n not in names and case.matters(n)]
    spans = [*(f'"{n}": (low, high)' for n in names), *(f'"{n}": None' for n in rest)]
    keeps = ", where None keeps what varies as it does" if rest else ""
    shell = " ".join([*(f"--over {n}=LOW:HIGH" for n in names), *(f"--over {n}" for n in rest)])
    return UsageError(f"{said}: over={{{', '.join(spans)}}}{keeps}", in_shell=f"{said}: {shell}")
