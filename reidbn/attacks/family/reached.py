"""From a few facts to the family, acted out: the attack on relatives is run from whoever is named.

Nothing is taken from the model: who is whose relative is the truth's, who is named the attack's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.family.columns import RELATIVES, KinPeople
from reidbn.attacks.family.neighbourhood import NOBODY, Pedigree, neighbourhood
from reidbn.attacks.routes.assessment import OVERALL
from reidbn.errors import DataError

Ints = NDArray[np.int64]
Yes = NDArray[np.bool_]
ROUNDS = 3


def relatives_reached(people: KinPeople, truth: Any, who: Ints, named: Ints) -> dict[str, Yes]:
    """What happened in each attempt: which relatives of `who` were found from the record `named`.

    Nothing where nobody was named, and nobody rightly where a stranger was.
    """
    pedigree = Pedigree(truth, len(people))
    family = {person: _eight(pedigree, person) for person in np.unique(who).tolist()}
    happened = {name: np.zeros(len(who), dtype=bool) for name in RELATIVES}
    for more in (OVERALL, "misnamed", "strangers_family"):
        happened[more] = np.zeros(len(who), dtype=bool)
    starts = np.unique(named[named != NOBODY])
    if not starts.size:
        return happened
    how = people.looking
    found = neighbourhood(
        people.kin, start=starts, rule=how.rule, depth=ROUNDS, in_release=how.in_release
    ).against(truth)
    for start, claims in found.groupby("start"):
        here = named == start
        right, first = claims["right"].to_numpy(), claims["round"].to_numpy() == 1
        happened["strangers_family"] |= here & (who != start)
        happened["misnamed"] |= here & bool((first & ~right).any())
        happened[OVERALL] |= here & (who == start) & bool((first & right).any())
        rows = {*claims["who"][right].tolist()}
        for name, row in family.get(start, {}).items():
            happened[name] |= here & (who == start) & (row in rows)
    happened["misnamed"] |= (named != NOBODY) & (named != who)
    return happened


def _eight(pedigree: Pedigree, person: int) -> dict[str, int]:
    """The rows of somebody's eight relatives; -1 where they are not in the table."""
    found = pedigree.relatives(person)
    gone = [name for name in RELATIVES if name not in found]
    if gone:
        raise DataError(
            f"the truth does not know the {gone[0].replace('_', ' ')} of somebody who is looked "
            "for: the model has eight relatives; assess people who have them, individuals=[rows]"
        )
    return found
