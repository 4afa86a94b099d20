"""Joint assignment: each released record to a person of its own, every way alike.

Records that fit the same people are one kind, people whom the same records fit another; kind t
has n_t records, kind e has m_e people.  The number of assignments is a sum over how many x_te
of kind t go to kind e,

    prod_te C(r_te, x_te) (m_e - u_te)(m_e - u_te - 1)...(m_e - u_te - x_te + 1)           (1)

where r_te records of kind t and u_te people of kind e are still free, or taken, when the pair
(t, e) is reached.  The pairs are passed one by one, forth and back, in whole numbers; people
whom no later record fits are forgotten on the way, so that chains of overlapping bands stay
small.  P(this record is that person) = E[x_te] / (n_t m_e).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, perm

from reidbn.errors import ImpossibleEvidence, TooLarge

MOST_STATES = 400_000
"""Most partial assignments that are kept for one group of records and people."""
MOST_MOVES = 4_000_000
"""Most ways to go on from them that are tried."""

State = tuple[int, ...]
"""Records of the kind at hand still free, then people taken of each kind in play."""


@dataclass(frozen=True)
class _Step:
    """One pair of kinds: where its people stand in the state before and after."""

    record: int
    person: int
    opens: bool
    """First pair of its record kind: all its records are free."""
    closes: bool
    """Last pair of its record kind: none may be free after it."""
    before: tuple[int, ...]
    after: tuple[int, ...]


def pair_probabilities(
    fits: Sequence[Sequence[int]], records: Sequence[int], people: Sequence[int]
) -> dict[tuple[int, int], Fraction]:
    """For each kind of record and kind of people it fits: the chance of any one such pair.

    Two records, one fitting both of two people and one only the second: the first is forced.

    >>> pair_probabilities([[0, 1], [1]], [1, 1], [1, 1])
    {(0, 0): Fraction(1, 1), (0, 1): Fraction(0, 1), (1, 1): Fraction(1, 1)}
    """
    found: dict[tuple[int, int], Fraction] = {}
    for group in _groups(fits):
        steps = _steps(fits, group)
        forth = _forth(steps, records, people)
        total = forth[-1].get((0,), 0)
        if total == 0:
            raise ImpossibleEvidence(
                "no assignment gives every released record a person of its own; some records fit "
                "nobody, or too many fit the same few people: look at .counts, or do not assume "
                "that every released person is in the external table"
            )
        back: dict[State, int] = {(0,): 1}
        for step, states in zip(reversed(steps), reversed(forth[:-1]), strict=True):
            mean, back = _back(step, states, back, records, people)
            pairs = records[step.record] * people[step.person]
            found[step.record, step.person] = Fraction(mean, total * pairs)
    return dict(sorted(found.items()))


def _groups(fits: Sequence[Sequence[int]]) -> list[list[int]]:
    """Kinds of records that share people, directly or through others."""
    owner: dict[int, int] = {}
    parent = list(range(len(fits)))

    def root(t: int) -> int:
        while parent[t] != t:
            parent[t] = parent[parent[t]]
            t = parent[t]
        return t

    for t, people in enumerate(fits):
        for e in people:
            parent[root(t)] = root(owner.setdefault(e, t))
    groups: dict[int, list[int]] = {}
    for t in range(len(fits)):
        groups.setdefault(root(t), []).append(t)
    return list(groups.values())


def _steps(fits: Sequence[Sequence[int]], group: Sequence[int]) -> list[_Step]:
    """The pairs in an order that keeps few people in play: along the people's numbers."""
    kinds = sorted(group, key=lambda t: (sum(fits[t]) / max(len(fits[t]), 1), t))
    if not all(fits[t] for t in kinds):
        raise ImpossibleEvidence(
            "some released records fit nobody in the external table, so no joint assignment "
            "exists; leave them out (their .counts are 0), or use the individual candidates"
        )
    pairs = [(t, e) for t in kinds for e in sorted(fits[t])]
    last = {e: i for i, (_, e) in enumerate(pairs)}
    steps: list[_Step] = []
    active: tuple[int, ...] = ()
    for i, (t, e) in enumerate(pairs):
        before = active if e in active else (*active, e)
        active = tuple(k for k in before if last[k] > i)
        opens = i == 0 or pairs[i - 1][0] != t
        closes = i + 1 == len(pairs) or pairs[i + 1][0] != t
        steps.append(_Step(t, e, opens, closes, before, active))
    return steps


def _moves(
    step: _Step, state: State, records: Sequence[int], people: Sequence[int]
) -> Iterator[tuple[int, int, State]]:
    """Each x that may go from the records to the people, its factor in (1), and the state then."""
    free = records[step.record] if step.opens else state[0]
    taken = dict(zip(step.before, (*state[1:], 0), strict=False))
    room = people[step.person] - taken[step.person]
    for x in range(free if step.closes else 0, min(free, room) + 1):
        then = taken | {step.person: taken[step.person] + x}
        left = 0 if step.closes else free - x
        yield x, comb(free, x) * perm(room, x), (left, *(then[k] for k in step.after))


def _forth(
    steps: Sequence[_Step], records: Sequence[int], people: Sequence[int]
) -> list[dict[State, int]]:
    """Ways to reach each state before each step, and after the last."""
    ways: list[dict[State, int]] = [{(0,): 1}]
    kept = tried = 0
    for step in steps:
        reached: dict[State, int] = {}
        for state, count in ways[-1].items():
            for _, factor, then in _moves(step, state, records, people):
                tried += 1
                reached[then] = reached.get(then, 0) + count * factor
            if tried > MOST_MOVES or kept + len(reached) > MOST_STATES:
                raise TooLarge(
                    f"the joint assignment needs more than {MOST_STATES} partial assignments; use "
                    "the individual candidates, or fewer released records at a time"
                )
        kept += len(reached)
        ways.append(reached)
    return ways


def _back(
    step: _Step,
    states: dict[State, int],
    after: dict[State, int],
    records: Sequence[int],
    people: Sequence[int],
) -> tuple[int, dict[State, int]]:
    """Sum of x over all ways through the step, and ways to finish from each state before it."""
    total = 0
    before: dict[State, int] = {}
    for state, count in states.items():
        finish = 0
        for x, factor, then in _moves(step, state, records, people):
            ways = factor * after.get(then, 0)
            finish += ways
            total += x * count * ways
        if finish:
            before[state] = finish
    return total, before
