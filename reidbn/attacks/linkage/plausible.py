"""What happens where wrong facts are somebody else's values: drawn, beside what the model says.

The model linkage takes a wrong fact to fit nobody.  A value that another person has scores for
whoever it fits: a stranger is named oftener, also in the place of somebody who is in the table.
Where equal values alone fit, it never fits the person's own record, and they are identified at most
as often; where values that are near fit, it may, and they may be identified more often.

Where no fact is wrong, the model says what happens.  So whatever wrong facts fit, an event E has

    P(E) <= P(E, no fact wrong) + P(some fact wrong)                                         (1)

The model's coins are tossed and sets of people added up here; model_truth.py acts the same out by
the definition, cell by cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.attacks.family.neighbourhood import NOBODY
from reidbn.attacks.linkage.columns import (
    STRANGER,
    STRANGER_FITS,
    SparsePeople,
    curves_of,
    known_of,
)
from reidbn.attacks.linkage.model_truth import (
    EVENTS,
    IDENTIFIED,
    coins_of,
    may_fit_their_own,
    measure_of,
    named,
    why_not_acted,
)
from reidbn.attacks.routes.arguments import whole_number
from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.blocks import risks
from reidbn.attacks.routes.drawn import off_of_each
from reidbn.attacks.routes.readings import columns_behind
from reidbn.calls import refuse_outside, typed
from reidbn.cpds.protocol import NO
from reidbn.errors import UsageError
from reidbn.inference.query import Query
from reidbn.limits import MOST_CHECKED
from reidbn.microdata.agree import Agreement, members
from reidbn.result import Measure, mean_of
from reidbn.theory.agreement import clustered_interval, intervals
from reidbn.written import counted

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
WRONG_PERSON = EVENTS[1]
DRAWS = 2_000
WRONG, P_WRONG = "wrong", "p_wrong"
WHAT = {IDENTIFIED: "the person is identified", WRONG_PERSON: "a stranger is named"}
LEVEL = 0.95


def fits_nobody(result: Assessment) -> str:
    """What the model takes wrong facts for, and what it does not say of other ones."""
    often = "is identified at most as often as the model says"
    if may_fit_their_own(result):
        often = (
            "may be identified more often than the model says (values that are near fit, and "
            "somebody else's may fit the person's own record)"
        )
    return (
        f"a wrong fact is taken to fit nobody: where wrong facts are somebody else's values, the "
        f"person {often}, and a stranger is named oftener, even where the person is in the table"
    )


@dataclass(frozen=True, eq=False)
class Plausible:
    """For everybody who was looked for, how often each event happened."""

    who: Ints
    """Of those who were asked about, whom it was tried of; a place each."""
    draws: int
    """Attempts of each."""
    shares: Mapping[str, Array]

    def measures(self) -> dict[str, Measure]:
        """The mean of each event, with the 95 % interval of people in clusters."""
        each = np.full(self.who.size, self.draws)
        return {
            event: mean_of(
                shares,
                f"{WHAT[event]}, wrong facts somebody else's",
                per_person=True,
                interval=clustered_interval(np.rint(shares * self.draws).astype(np.int64), each),
            )
            for event, shares in self.shares.items()
        }

    def keeps(self, event: str, limit: float, *, everybody: bool) -> bool | None:
        """Whether nobody's chance is above a limit, of everybody at once (at 95 %); None: open.

        Where the mean is above it, somebody's is.
        """
        hits = np.rint(self.shares[event] * self.draws).astype(np.int64)
        one = 1 - (1 - LEVEL) / len(hits)
        low, high = intervals(hits, self.draws, level=one)
        mean, _ = clustered_interval(hits, np.full(len(hits), self.draws), level=LEVEL)
        if is_above(max(mean, low.max()), limit):
            return False
        return True if everybody and not is_above(high, limit).any() else None


def if_plausible(result: Assessment) -> Plausible | None:
    """What an assessment says beside its numbers; None where no fact is wrong, or none is drawn."""
    kept: Plausible | None
    if "_plausible" not in result.__dict__:
        drawn = may_be_wrong(result) and not result.is_simulated and not why_not_acted(result)
        result.__dict__["_plausible"] = plausible(result) if drawn else None
    kept = result.__dict__["_plausible"]
    return kept


def may_be_wrong(result: Assessment) -> bool:
    """Whether facts of a sparse table may be wrong in the attack."""
    if not isinstance(result.inputs.people, SparsePeople) or WRONG not in result.attack.nodes:
        return False
    p = result.attack.parameters.get(P_WRONG)
    return p is None or bool(np.any(result.inputs.set.get(P_WRONG, p.value)))


def may_be_higher(result: Assessment, measure: str) -> bool:
    """Whether a measure may be higher where wrong facts are somebody else's values.

    What rests on strangers who are named may.  What rests on the person's own record may where a
    value that is near fits it, too; else the model tells the most, but of an event that the person
    is not identified, or beside evidence that rests on the facts.
    """
    query = result.questions.get(measure)
    if query is None or not may_be_wrong(result):
        return False
    above = result.attack.upstream
    if WRONG not in above([*query.targets, *query.given], cut=query.do):
        return False
    strangers = columns_behind(result.attack, query) & {STRANGER, STRANGER_FITS}
    falls = NO in query.wanted.values() or WRONG in above(query.given, cut=query.do)
    return bool(strangers) or falls or may_fit_their_own(result)


def at_most(result: Assessment, measure: str) -> Array:
    """The most that each person's number can be, whatever wrong facts fit: equation (1)."""
    query = result.questions[measure]
    rests = WRONG in result.attack.upstream(query.given, cut=query.do)
    if rests or not query.wanted or query.scale is not None or WRONG in {*query.wanted, *query.do}:
        return np.ones(len(result))
    none = {WRONG: "0"}
    both = replace(query, targets=(*query.targets, WRONG), wanted={**query.wanted, **none})
    right = Query((WRONG,), none, query.given, query.do)
    asked = [
        risks(result.attack, one, result.inputs.set, result.subject_table, taken=True)
        for one in (both, right)
    ]
    return np.asarray((asked[0] + 1 - asked[1])[result.subject_table.of_person])


def keeps_all_the_same(result: Assessment, measure: str, limit: float) -> bool | None:
    """Whether a limit above which nobody is by the model is kept whatever wrong facts fit.

    None where that is open.
    """
    if not may_be_higher(result, measure):
        return True
    most = at_most(result, measure)
    if not is_above(most, limit).any():
        most = most + off_of_each(result, measure)  # curves are drawn, too
        if not is_above(most, limit).any():
            return True
    found = if_plausible(result)
    event = next((event for event in WHAT if measure_of(result, event) == measure), None)
    if found is None or event is None:
        return None
    return found.keeps(event, limit, everybody=len(found.who) == len(result))


def remarks(result: Assessment) -> tuple[str, ...]:
    """That wrong facts fit nobody, and what happens where they fit somebody: in words and drawn."""
    if not may_be_wrong(result):
        return ()
    found = if_plausible(result)
    if found is None:
        return (fits_nobody(result),)
    told = " and ".join(f"{WHAT[e]} with probability {m.in_words()}"
                        for e, m in found.measures().items())  # fmt: skip
    attempts = counted(found.draws * found.who.size, "attempt")
    drawn = f"where they are somebody else's values, {told}: {attempts}, 95 % intervals"
    return fits_nobody(result), drawn


@typed
def plausible(result: Assessment, *, draws: int = DRAWS, seed: int = 0) -> Plausible:
    """An assessment of linkage drawn with wrong facts that are somebody else's values.

    `result` is an assessment of the model linkage on a sparse table.  About `draws` attempts from
    `seed`, as many of each who was asked about; of more people than draws, so many at random.
    """
    refuse_outside("draws", draws, least=1, most=MOST_CHECKED)
    why = why_not_acted(result)
    people = result.inputs.people if not why else None
    if not isinstance(people, SparsePeople):
        raise UsageError(why)
    rng = np.random.default_rng((whole_number(seed, "seed", least=0), 2))
    rows = result.inputs.individuals
    asked = np.arange(len(people)) if rows is None else np.asarray(rows)
    who = np.arange(len(asked))
    if len(asked) > draws:
        who = np.sort(rng.choice(len(asked), draws, replace=False))
    each = -(-draws // len(who))
    coins = coins_of(result, np.repeat(who, each), rng)
    curves = curves_of(people, known_of(result.inputs.scenario))
    hits = {event: np.zeros(len(who)) for event in WHAT}
    for place, person in enumerate(asked[who].tolist()):
        here = slice(place * each, (place + 1) * each)
        own = {name: values[here].tolist() for name, values in coins.items()}
        record = _records(curves.agreement, curves.allowed, person, own, curves.lineup, rng)
        hits[IDENTIFIED][place] = (record == person).mean()
        hits[WRONG_PERSON][place] = ((record != person) & (record != NOBODY)).mean()
    return Plausible(who, each, hits)


def _records(
    found: Agreement, allowed: Bools | None, person: int, coins: Mapping[str, list[int]],
    lineup: int, rng: np.random.Generator,
) -> Ints:  # fmt: skip
    """Whose record is named in each attempt; -1 where nobody's is."""
    facts, sets = found.sets(person, allowed)
    record = np.full(len(coins["facts"]), NOBODY)
    for i in range(len(record)):
        coin = {name: values[i] for name, values in coins.items()}
        order = rng.permutation(facts.size)[: coin["facts"]]
        wrong, right = np.split(order, [min(coin["wrong"], order.size)])
        scores = members(sets[right], found.people).sum(axis=0, dtype=np.int64)
        scores[person] = right.size
        for fact in facts[wrong].tolist():
            scores[_whom_another_value_fits(found, fact, person, rng)] += 1
        record[i] = named(scores, order.size, person, coin, lineup)
    return record


def _whom_another_value_fits(
    found: Agreement, fact: int, person: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """The people on whom another person's value of a fact fits; nobody where all have the same."""
    sparse, j = found.sparse, found.facts[fact][0]
    here = slice(sparse.start[j], sparse.start[j + 1])
    rows, codes = sparse.rows[here], sparse.as_known.codes[here]
    place = int(np.searchsorted(rows, person))
    held = place < rows.size and rows[place] == person
    others = np.flatnonzero(codes != codes[place]) if held else np.arange(rows.size)
    if not others.size:
        return rows[:0]
    value = found.value_of[j] + int(codes[rng.choice(others)])
    return found.by_value[found.low[value] : found.high[value]]
