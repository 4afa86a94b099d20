"""An assessment of linkage acted out, person by person: facts drawn, some wrong, somebody named.

The model's coins (how many facts, who is in the table, how many are wrong) are tossed by forward
sampling.  What decides is not taken from the model: which facts, who fits them, who scores best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.family.columns import KinPeople
from reidbn.attacks.family.neighbourhood import NOBODY
from reidbn.attacks.family.reached import relatives_reached
from reidbn.attacks.linkage.columns import (
    SparsePeople,
    curves_of,
    fits_what_is_near,
    known_of,
)
from reidbn.attacks.linkage.truth import fits_of, fits_value
from reidbn.attacks.routes.arguments import whole_number
from reidbn.attacks.routes.assessment import OVERALL, Assessment
from reidbn.attacks.routes.truth import happened_interval, reliability
from reidbn.calls import refuse_outside, renamed, typed
from reidbn.errors import UsageError, did_you_mean
from reidbn.inference.lowering import Lowering
from reidbn.inference.sampling import forward
from reidbn.limits import MOST_CHECKED
from reidbn.progress import progress

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]
GARBLED = "garbled"
COINS = ("facts", "usable", "wrong", "in_release", "takes_best")
IDENTIFIED = "identified"
EVENTS = (IDENTIFIED, "wrong_person", "nobody_named")


@dataclass(frozen=True, eq=False)
class LinkageTruth:
    """Attempts: whose record was looked for, and what happened."""

    result: Assessment
    who: Ints
    happened: dict[str, NDArray[np.bool_]]
    named: Ints
    """Whose record was named; -1 where nobody's was."""
    wrong: str
    seed: int

    def reliability(self, event: str = "identified", bins: int = 10) -> Any:
        """Attempts in bins of predicted risk: the mean prediction, the share, a 95 % interval."""
        if event not in self.happened:
            raise UsageError(f'no event "{event}"; {did_you_mean(event, self.happened)}')
        predicted, happened = self.predicted(event), self.happened[event]
        return reliability(predicted, happened, self.who, bins, anew=event in EVENTS)

    def predicted(self, event: str) -> NDArray[np.float64]:
        """What was said of the person of each attempt."""
        return self.result.risk(measure_of(self.result, event))[self.who]

    def table(self) -> pd.DataFrame:
        """One row per event: predicted, happened with its 95 % interval, and what is predicted.

        Each attempt draws its facts anew, so that the interval is that of so many attempts; of
        relatives, who are found or not from one record, that of people in clusters.  Wrong facts
        that are somebody else's values are not in the model: what happened, with its interval, is
        the value then.
        """
        import pandas as pd

        rows = {}
        for event, happened in self.happened.items():
            low, high = happened_interval(happened, self.who, anew=event in EVENTS)
            rows[event] = {
                "predicted": float(self.predicted(event).mean()),
                "happened": float(happened.mean()), "low": low, "high": high,
                "predicted is": self._prediction_is(event),
            }  # fmt: skip
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("event")

    def _prediction_is(self, event: str) -> str:
        """The value itself, or how far the model goes where wrong facts fit somebody."""
        if self.wrong == GARBLED:
            return "the value"
        is_bound = event == IDENTIFIED and not may_fit_their_own(self.result)
        return "an upper bound" if is_bound else "not of such facts"

    def __str__(self) -> str:
        lines = [f"acted out {len(self.who):,} times (seed {self.seed}), wrong facts {self.wrong}"]
        for event, row in self.table().iterrows():
            lines.append(
                f"  {event}: {row['happened']:.4g} (95 % interval {row['low']:.4g} to "
                f"{row['high']:.4g}), predicted {row['predicted']:.4g} ({row['predicted is']})"
            )
        return "\n".join(lines)


@renamed(attempts="draws")
@typed
def linkage_truth(
    result: Assessment,
    *,
    draws: int = 20_000,
    seed: int = 0,
    wrong: str = "garbled",
    truth: pd.DataFrame | None = None,
) -> LinkageTruth:
    """Act an assessment of linkage out on the table's own values, `draws` times.

    `result` is an assessment of the model linkage on a sparse table.  A wrong fact is `wrong`:
    "garbled" fits nobody, as the model says; "plausible" is another person's value of the same
    feature, which may fit others: there the model's chance to be identified is an upper bound, but
    where values that are near fit, too (match tolerance, noise), and the person's own record gains
    as others do; that of a stranger is none (they gain).  `.table()` has what happened, with its
    95 % interval.

    Of an assessment of linkage-family `truth` says who is whose child (as rb.neighbourhood(...)
    .against): from whoever is named the attack on relatives is then run, too.

    `seed` draws the people, their facts and the model's coins.
    """
    refuse_outside("draws", draws, least=1, most=MOST_CHECKED)
    people = _people_of(result)
    result.refuse_simulated("a comparison with what happens")
    if wrong not in ("garbled", "plausible"):
        raise UsageError(f'wrong="{wrong}"; wrong facts are "garbled" or "plausible"')
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    asked = (
        np.arange(len(people)) if result.inputs.individuals is None else result.inputs.individuals
    )
    who = np.sort(rng.integers(len(asked), size=draws))
    coins = coins_of(result, who, rng)
    curves = curves_of(people, known_of(result.inputs.scenario))
    if truth is not None and not isinstance(people, KinPeople):
        raise UsageError("truth= is about relatives: assess linkage-family on rb.read_kin(...)")
    record = np.full(draws, NOBODY)
    for place in progress(np.unique(who).tolist(), "acting the attack out"):
        person = int(asked[place])
        facts, fits = fits_of(curves.agreement, person)
        if curves.allowed is not None:
            facts, fits = facts[curves.allowed[facts]], fits[curves.allowed[facts]]
        for i in np.flatnonzero(who == place).tolist():
            coin = {name: int(values[i]) for name, values in coins.items()}
            some = rng.permutation(len(facts))[: coin["facts"]]
            seen = fits[some].copy()
            for row in range(min(coin["wrong"], len(some))):
                seen[row] = False
                if wrong == "plausible":
                    seen[row] = fits_value(curves.agreement, int(facts[some[row]]), person, rng)
            record[i] = named(seen.sum(axis=0), len(seen), person, coin, curves.lineup)
    right = record == np.asarray(asked)[who]
    nobody = record == NOBODY
    happened = dict(zip(EVENTS, (right, ~right & ~nobody, nobody), strict=True))
    if truth is not None and isinstance(people, KinPeople):
        happened |= relatives_reached(people, truth, np.asarray(asked)[who], record)
        happened = {name: hits for name, hits in happened.items() if name in result.risks}
    return LinkageTruth(result, who, happened, record, wrong, seed)


def may_fit_their_own(result: Assessment) -> bool:
    """Whether somebody else's value may fit the record of the person whom it is not of."""
    people = result.inputs.people
    if not isinstance(people, SparsePeople):
        return False
    return fits_what_is_near(people, known_of(result.inputs.scenario))


def measure_of(result: Assessment, event: str) -> str:
    """By which name the assessment has an event; the main question has another name there."""
    return event if event in result.risks else OVERALL


def named(scores: Ints, known: int, person: int, coin: Mapping[str, int], lineup: int) -> int:
    """Whose record is named (the person's, where it is in the line-up); -1 where nobody's is."""
    if not coin["in_release"]:
        scores[person] = -1
    best = int(scores.max())
    first = np.flatnonzero(scores == best)
    careful = not coin["takes_best"] and best < known
    if careful or first.size > lineup or (best < 1 and person not in first):
        return NOBODY
    return person if person in first else int(first[0])


def _people_of(result: Any) -> SparsePeople:
    why = why_not_acted(result)
    if why:
        raise UsageError(why)
    people: SparsePeople = result.inputs.people
    return people


def why_not_acted(result: Any) -> str:
    """Why an assessment cannot be acted out here, and what can; empty where it can."""
    people = result.inputs.people if isinstance(result, Assessment) else None
    if not isinstance(people, SparsePeople):
        return 'linkage_truth needs r = rb.assess("linkage", sparse, scenario=...)'
    gone = [name for name in COINS if name not in result.attack.nodes]
    if gone:
        return (
            f"{result.attack.name} has no node {gone[0]}: the model linkage is acted out, with the "
            f"nodes {', '.join(COINS)}"
        )
    asked = {event: result.questions.get(measure_of(result, event)) for event in EVENTS}
    if asked[IDENTIFIED] is None or dict(asked[IDENTIFIED].wanted) != {IDENTIFIED: "yes"}:
        return "no question of the assessment is whether identified=yes"
    if any(measure_of(result, m) == OVERALL for m in EVENTS[1:]) or any(
        q.given for q in result.questions.values()
    ):
        return "the attack is acted out forward, without evidence: leave given= out"
    if result.inputs.done or result.inputs.scenario.nodes:
        return "the attack is acted out as it happens: leave do= and scenarios with nodes out"
    return ""


def coins_of(result: Assessment, who: Ints, rng: np.random.Generator) -> dict[str, Ints]:
    """The states of the nodes that chance decides, an attempt each; yes is 1."""
    table = result.subject_table
    columns = {name: np.asarray(values) for name, values in table.columns.items()}
    network = Lowering(result.attack, result.inputs.set, tables=False).network(columns)
    subject = table.of_person[who]
    states = forward(network, len(who), rng, subject=subject, wanted=dict.fromkeys(COINS))
    return {name: np.broadcast_to(states[name], len(who)).astype(np.int64) for name in COINS}
