"""Numbers of the call that people have by what is known, where something else may be known.

What was given for a subset of the old members holds of a subset of the new ones by which the same
columns are known: all that is known for sure is one member, and was several before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Group, SubjectColumn
from reidbn.attacks.routes.inputs import Inputs
from reidbn.errors import UsageError
from reidbn.microdata.placing import Groups


class KnownOtherwise(UsageError):
    """Numbers that people have by what is known do not say what they are where that is another."""


@dataclass(frozen=True)
class MayBeKnown:
    """What may be known: a group of the attack, and the columns of each of its members."""

    group: str
    columns: tuple[tuple[str, ...], ...]
    bands: Mapping[str, float]

    def members_of(self, columns: tuple[str, ...]) -> list[int] | None:
        """The members by which exactly these columns are known; None where there are none."""
        some = [j for j, own in enumerate(self.columns) if {*own} <= {*columns}]
        found = [column for j in some for column in self.columns[j]]
        return some if sorted(found) == sorted({*columns}) else None


def by_what_is_known(attack: Attack, name: str) -> bool:
    """Whether people have a column's numbers by subset, or by member, of a group."""
    column = attack.subject.get(name)
    return column is not None and any(_hangs_on(column, group) for group in attack.groups)


def _hangs_on(column: SubjectColumn, group: str) -> bool:
    return group in (*column.axes, column.each)


def following(inputs: Inputs, attack: Attack, filled: Group | None, groups: Groups) -> Inputs:
    """The inputs with the numbers of the call for what may be known now."""
    if filled is None:
        return inputs
    now, was = MayBeKnown(filled.name, groups.columns, dict(groups.bands)), inputs.given_for
    subject = dict(inputs.subject)
    for name in subject if was is not None and was != now else ():
        column = attack.subject[name]
        if _hangs_on(column, was.group) or _hangs_on(column, now.group):
            subject[name] = _followed(column, subject[name], was, now)
    return replace(inputs, subject=subject, given_for=now)


def _followed(
    column: SubjectColumn, values: NDArray[np.float64], was: MayBeKnown, now: MayBeKnown
) -> NDArray[np.float64]:
    """The numbers of a column for the subsets, or members, that there are now."""
    members = [was.members_of(columns) for columns in now.columns]
    several = any(some is not None and len(some) > 1 for some in members)
    if None in members or (was.group, was.bands) != (now.group, now.bands) or (
        column.each is not None and several
    ):  # fmt: skip
        known = ", ".join(dict.fromkeys(c for columns in was.columns for c in columns))
        raise KnownOtherwise(
            f"{column.name} was given in the call (subject=) for what is known of {known}, and "
            f"what may be known is something else now: make a new assessment, with its numbers"
        )
    if column.each is not None:
        return np.take(values, [some[0] for some in members if some], axis=1)
    subsets = np.arange(1 << len(members))
    before = np.zeros_like(subsets)
    for j, some in enumerate(members):
        before |= (subsets >> j & 1) * sum(1 << i for i in some or ())
    return np.take(values, before, axis=1 + column.axes.index(now.group))
