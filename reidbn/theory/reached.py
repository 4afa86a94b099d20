"""Who is found when one record leads to others, round after round: sets of people, one by one.

From a person who has just been found others are found, each with a chance of its own; who was found
before leads to nobody new.  That is a chain over (found before, just found), 3^n pairs of sets:

    P(next just found = J | found F, just found N) = prod over v not in F of
        c_v where v in J, else 1 - c_v,    c_v = 1 - prod over u in N of (1 - onward[u, v])      (1)

Each pair of people is tried once at most, so that the coins of a story that tosses one coin a pair
and walks along those that fell right are the same coins [Popat25, 4.5].
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any


def found_sets(
    first: Sequence[Any], onward: Sequence[Sequence[Any]], there: Sequence[Any], rounds: int
) -> dict[int, Any]:
    """P(the set of people found after so many rounds); sets are whole numbers, bit v is person v.

    `first[v]`: the first record leads to v if v is there; `onward[u][v]` so from u's; `there[v]`: v
    is in the table, independently.  Works in floats and in fractions alike.

    >>> found_sets([0.5, 0], [[0, 1], [0, 0]], [1, 1], rounds=2)
    {0: 0.5, 3: 0.5}
    """
    n = len(first)
    total: dict[int, Any] = {}
    for inside in product((0, 1), repeat=n):
        weight = _product(there[v] if inside[v] else 1 - there[v] for v in range(n))
        if weight:
            people = [v for v in range(n) if inside[v]]
            for found, chance in _walk(first, onward, people, rounds).items():
                total[found] = total.get(found, 0) + weight * chance
    return total


def _walk(
    first: Sequence[Any], onward: Sequence[Sequence[Any]], people: Sequence[int], rounds: int
) -> dict[int, Any]:
    """The same where it is known who is there."""
    start = {v: 1 - first[v] for v in people}
    states = {(0, new): chance for new, chance in _outcomes(start).items()} if rounds else {}
    for _ in range(rounds - 1):
        after: dict[tuple[int, int], Any] = {}
        for (before, new), weight in states.items():
            done = before | new
            missed = {
                v: _product(1 - onward[u][v] for u in people if new >> u & 1)
                for v in people
                if not done >> v & 1
            }
            for more, chance in _outcomes(missed).items():
                key = (done, more)
                after[key] = after.get(key, 0) + weight * chance
        states = after
    found: dict[int, Any] = {}
    for (before, new), weight in states.items():
        found[before | new] = found.get(before | new, 0) + weight
    return found or {0: 1}


def _outcomes(missed: dict[int, Any]) -> dict[int, Any]:
    """P(who of some people is found), each missed with some chance; the possible alone."""
    found: dict[int, Any] = {0: 1}
    for v, miss in missed.items():
        found = {
            key | bit: weight * chance
            for key, weight in found.items()
            for bit, chance in ((0, miss), (1 << v, 1 - miss))
            if chance
        }
    return found


def _product(numbers: Any) -> Any:
    whole: Any = 1
    for number in numbers:
        whole = whole * number
    return whole
