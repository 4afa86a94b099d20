"""Several secrets of the same people: who learns any of them has learnt one.

Of an attacker who knows the subset A with chance P(A), with s over the secrets,

    P(any secret broken) = sum over A of P(A) max_s [PPP_s(A) <= p]                           (1)

which is as high as the highest of the secrets' own chances, and up to their sum.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.attacks.secrets.peers import Matched
from reidbn.attacks.secrets.result import Disclosure
from reidbn.errors import TooLarge, UsageError
from reidbn.microdata.classes import Floats, Ints
from reidbn.progress import progress

MOST_VISITED = 2e9
"""People (or pairs, where they are compared) looked at over all subsets and secrets."""


def records_of(d: Disclosure) -> Ints:
    """The row of each individual in the table that was asked about."""
    rows = np.arange(len(d.table)) if d.rows is None else d.rows
    return np.asarray(rows if d.origin is None else d.origin[rows])


def asked_about(found: Mapping[str, Disclosure]) -> tuple[Ints, dict[str, Ints]]:
    """The records of which any secret was asked, and the place among them of each secret's."""
    each = {name: records_of(d) for name, d in found.items()}
    everybody = np.unique(np.concatenate([*each.values()]))
    return everybody, {name: np.searchsorted(everybody, own) for name, own in each.items()}


def side_by_side(found: Mapping[str, Disclosure], values: Mapping[str, Floats]) -> Floats:
    """Records x secrets; NaN where a record was left out of a secret's question."""
    everybody, places = asked_about(found)
    table = np.full((everybody.size, len(found)), np.nan)
    for column, name in enumerate(found):
        table[places[name], column] = values[name]
    return table


def unprotected(found: Mapping[str, Disclosure]) -> tuple[NDArray[np.bool_], Floats | None]:
    """Who has no upward privacy of some secret, and what everybody weighs."""
    everybody, places = asked_about(found)
    broken, weights = np.zeros(everybody.size, dtype=bool), np.zeros(everybody.size)
    for name, d in found.items():
        broken[places[name]] |= ~d.upward()
        weights[places[name]] = 0.0 if d.weights is None else d.weights
    return broken, weights if all(d.weights is not None for d in found.values()) else None


def breach_of_any(found: Mapping[str, Disclosure]) -> Floats:
    """The chance that any of a record's secrets is broken: equation (1).

    The secrets must be asked about with the same chances of the same columns.
    """
    first, *others = found.values()
    if not others:
        return first.breach_probability
    _refuse_unlike(found)
    everybody, places = asked_about(found)
    known = {name: d.source.others(d.column) for name, d in found.items()}
    profiles = {name: _profile(d) for name, d in found.items()}
    total = np.zeros(everybody.size)
    for part in progress(range(1 << len(first.known)), "what may be known"):
        chance, broken = np.zeros((2, everybody.size))
        for name, d in found.items():
            members = [c for bit, c in enumerate(known[name]) if part >> bit & 1]
            own = _law(d)[profiles[name], sum(1 << c for c in members)]
            chance[places[name]] = own
            if own.any():
                alike, same = d.source.at(d.column, members)
                broken[places[name]] = np.maximum(
                    broken[places[name]], ~is_above((alike - same) / alike, d.p)
                )
        total += chance * broken
    return total


def _law(d: Disclosure) -> Floats:
    """The chance that exactly a subset is known: kind of people x subset."""
    if d.chances is None:
        raise UsageError("no chances were said of what may be known")
    return d.chances


def _profile(d: Disclosure) -> Ints:
    """Of which kind each individual is."""
    profile = np.zeros(len(d.table), dtype=np.int64) if d.profile is None else d.profile
    return np.asarray(profile if d.rows is None else profile[d.rows])


def _refuse_unlike(found: Mapping[str, Disclosure]) -> None:
    first, *others = found.values()
    if any(d.known != first.known or not _same_chances(d, first) for d in others):
        raise UsageError(
            f"what may be known differs between the secrets ({', '.join(found)}), so that no one "
            "chance is that any of them is given away: ask about one secret at a time"
        )
    each = (len(d) * (len(d) if isinstance(d.source, Matched) else 1) for d in found.values())
    if (1 << len(first.known)) * float(sum(each)) > MOST_VISITED:
        raise TooLarge(
            f"the chance that any of {len(found)} secrets is given away would look at everybody on "
            f"2^{len(first.known)} subsets for each: ask about one secret at a time, or name fewer "
            "columns that may be known"
        )


def _same_chances(one: Disclosure, other: Disclosure) -> bool:
    if one.chances is None or other.chances is None:
        return one.chances is other.chances
    return np.array_equal(one.chances, other.chances)
