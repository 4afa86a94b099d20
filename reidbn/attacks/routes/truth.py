"""The attack acted out on the table itself: draw what is known, look the class up, guess.

Nothing here uses the class sizes of the model: matching is done on the table's own values, so a
slip in counting, in the order of subsets or in the knowledge shows up as a disagreement.

The attack simulated on a whole population, beside what was predicted.

A table is drawn from a population that is at hand.  The assessment sees the table alone.  Then the
attack is acted out with real matching: what is known is drawn, the class is looked up in the table
and in the population, guesses are made.  Among people whose predicted risk is near r, the share
re-identified should be r.

No coin of the model's decides here: p_m, p_fm, p_cu and p_c are out of play, each route stands
alone.  Prosecutor: the match is unique in the table.  Marketer: a guess within the class of the
table is right.  Journalist: the match is unique in the table and in the population.  Journalist
match: a guess within the class of the population is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.scenario import Listed, Profile, Scenario
from reidbn.attacks.routes.arguments import whole_number
from reidbn.attacks.routes.assess import assess
from reidbn.attacks.routes.assessment import Array, Assessment
from reidbn.attacks.routes.told import drawn_as_told, told_group
from reidbn.calls import older, renamed
from reidbn.errors import UsageError
from reidbn.inference.compared import Cell
from reidbn.microdata.table import People
from reidbn.progress import progress
from reidbn.theory.agreement import clustered_interval, interval

if TYPE_CHECKING:
    import pandas as pd


LEVEL = 1e-6


@dataclass(frozen=True, eq=False)
class ActedOut:
    """Attempts on people drawn at random: how many guesses were right, and what was predicted."""

    draws: int
    right: int
    unique: int
    predicted_right: float
    predicted_unique: float
    seed: int
    attempts = older("draws")

    @property
    def cells(self) -> tuple[Cell, Cell]:
        """The guess and the unique match, each against its prediction."""
        return (
            Cell("a guess within the class is right", self.predicted_right, self.right,
                 self.draws, LEVEL / 2),
            Cell("the match is unique in the table", self.predicted_unique, self.unique,
                 self.draws, LEVEL / 2),
        )  # fmt: skip

    @property
    def agrees(self) -> bool:
        return all(c.verdict != "disagrees" for c in self.cells)

    def __str__(self) -> str:
        lines = [f"acted out {self.draws:,} times on people drawn at random (seed {self.seed})"]
        lines += [f"  {c.what}: {c.sampled:.4g}, predicted {c.exact:.4g}: {c.verdict}"
                  for c in self.cells]  # fmt: skip
        return "\n".join(lines)


@renamed(attempts="draws")
def act_out(result: Assessment, *, draws: int = 20_000, seed: int = 0) -> ActedOut:
    """Attack people of the table for real; compare with the marketer and the prosecutor."""
    result.refuse_part("an attack on the table")
    for measure in ("marketer", "prosecutor"):
        if measure not in result.risks:
            raise UsageError(f"this attack has no question {measure} to compare a match with")
    if result.questions["marketer"].given:
        raise UsageError("attacks are acted out forward, without evidence: leave given= out")
    if left := not_acted(result):
        raise UsageError(f"attacks are acted out as they happen, and do= sets {left}: leave it out")
    whole_number(draws, "draws", least=1)
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    who = rng.integers(len(result), size=draws)
    masks = draw_known(result, who, rng)
    people = result.groups.seen(result.inputs.people)
    right = unique = 0
    for mask in progress(np.unique(masks).tolist(), "acting the attack out"):
        columns = result.groups.columns_in(mask)
        targets = who[masks == mask]
        guessed, sizes = _guess(people.class_ids(columns)[0], targets, rng)
        right += int((guessed == targets).sum())
        unique += int((sizes == 1).sum())
    return ActedOut(
        draws,
        right,
        unique,
        float(result.risk("marketer").mean()),
        float(result.risk("prosecutor").mean()),
        seed,
    )


def not_acted(result: Assessment) -> str:
    """A node that do= sets, that the match rests on, and that is not acted out; else empty."""
    told = told_group(result.attack)
    acted = set() if told is None else result.attack.upstream(told.members)
    queries = (result.questions[name] for name in ("marketer", "prosecutor"))
    behind = result.attack.upstream({name for query in queries for name in query.targets})
    return min((result.inputs.done.keys() & behind) - acted, default="")


def _guess(
    ids: NDArray[np.intp], targets: NDArray[np.intp], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """A record drawn from each target's class, and the size of the class."""
    order = np.argsort(ids, kind="stable")
    starts = np.searchsorted(ids[order], np.arange(ids.max() + 2))
    first, last = starts[ids[targets]], starts[ids[targets] + 1]
    chosen = order[first + np.floor(rng.random(len(targets)) * (last - first)).astype(np.intp)]
    return chosen, last - first


def draw_known(
    result: Assessment, who: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """The groups known in each attempt, drawn from the scenario."""
    told = drawn_as_told(result, who, rng)
    if told is not None:
        return told
    groups = result.groups
    rows = np.arange(len(who))
    masks = np.zeros(len(who), dtype=np.intp)
    present = np.ones(len(who), dtype=bool)
    profile = np.zeros(len(who), dtype=np.intp)
    if isinstance(groups.parent, Listed) and groups.parent_p is not None:
        present = rng.random(len(who)) < _of(groups.parent_p, who)
    if isinstance(groups.parent, Profile):
        weights = list(groups.parent.weights.values())
        profile = rng.choice(len(weights), size=len(who), p=np.array(weights) / sum(weights))
    for j, placed in enumerate(groups.placed):
        p = placed.p[profile, 0] if placed.p.ndim == 2 else _of(placed.p, who)
        masks[rows[present & (rng.random(len(who)) < p)]] |= 1 << j
    return masks


def _of(p: Array, who: NDArray[np.intp]) -> Array:
    return p[who] if len(p) > 1 else np.broadcast_to(p, len(who))


# -- the attack simulated on a whole population, beside what was predicted -------------------------


ROUTES = ("prosecutor", "marketer", "journalist", "journalist_match")
FEWEST = 200  # attempts in a bin of a reliability diagram


@dataclass(frozen=True, eq=False)
class TruthCheck:
    """Attempts with what was predicted for the person and what happened, by route."""

    result: Assessment
    who: NDArray[np.intp]
    masks: NDArray[np.intp]
    happened: dict[str, NDArray[np.bool_]]

    def reliability(self, route: str, bins: int = 10) -> pd.DataFrame:
        """Attempts in bins of predicted risk: the mean prediction, the share, a 95 % interval."""
        if route not in self.happened:
            raise UsageError(f'no route "{route}"; known: {", ".join(self.happened)}')
        predicted = self.result.risk(route)[self.who]
        return reliability(predicted, self.happened[route], self.who, bins)

    def uniqueness(self) -> pd.DataFrame:
        """Per subset: P(unique in the population | unique in the table), predicted and true.

        The truth is counted over all people of the table who are unique on the subset.
        """
        import pandas as pd

        return pd.DataFrame(list(self._by_subset()))

    def _by_subset(self) -> Iterator[dict[str, object]]:
        population = self.result.population
        assert population is not None  # noqa: S101 - truth_check gave one
        for mask in range(1, 1 << len(self.result.groups.placed)):
            unique = (self.masks == mask) & self.happened["prosecutor"]
            people = np.unique(self.who[unique])
            if people.size:
                still = np.zeros(len(self.result), dtype=bool)
                still[self.who[unique & self.happened["journalist"]]] = True
                hits = int(still[people].sum())
                low, high = interval(hits, people.size)
                placed = self.result.groups.placed
                yield {
                    "known": "+".join(p.label for j, p in enumerate(placed) if mask >> j & 1),
                    "model": population.by[mask],
                    "status": population.status[mask],
                    "predicted": self._predicted(people, mask),
                    "true": hits / people.size,
                    "low": low,
                    "high": high,
                    "uniques": people.size,
                }

    def _predicted(self, people: NDArray[np.intp], mask: int) -> float:
        """Mean over some people of what was said of them on a subset."""
        said = np.asarray(self.result.subject_table.columns["p_unique"])
        who = self.result.subject_table.of_person[people] if len(said) > 1 else [0]
        return float(said[who, mask].mean())


def reliability(
    predicted: Array,
    happened: NDArray[np.bool_],
    who: NDArray[Any],
    bins: int = 10,
    *,
    anew: bool = False,
) -> pd.DataFrame:
    """Attempts in bins of predicted risk: the mean prediction, the share, a 95 % interval.

    The interval is that of people in clusters, for what one population decides of a person is the
    same in all attempts on them; where each attempt is drawn `anew`, given the person, it is that
    of so many attempts.  A bin of fewer than 200 says too little, and is left out.
    """
    import pandas as pd

    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, bins + 1)[1:-1]))
    place = np.searchsorted(edges, predicted, side="right")
    rows = [_bin(predicted, happened, who, place == j, anew=anew) for j in np.unique(place)]
    return pd.DataFrame([r for r in rows if r["attempts"] >= FEWEST])


def _bin(
    predicted: Array,
    happened: NDArray[np.bool_],
    who: NDArray[Any],
    inside: NDArray[np.bool_],
    *,
    anew: bool,
) -> dict[str, float]:
    hits, attempts = int(happened[inside].sum()), int(inside.sum())
    low, high = happened_interval(happened[inside], who[inside], anew=anew)
    return {
        "predicted": float(predicted[inside].mean()),
        "happened": hits / attempts,
        "low": low,
        "high": high,
        "attempts": attempts,
        "people": len(np.unique(who[inside])),
    }


def happened_interval(
    happened: NDArray[np.bool_], who: NDArray[Any], *, anew: bool
) -> tuple[float, float]:
    """The 95 % interval of a share of attempts, drawn anew each or alike for each person.

    Of attempts that are drawn anew the mean of the people's own chances is in it: with chances that
    differ the number of hits varies less than with one for all.
    """
    if anew:
        return interval(int(happened.sum()), len(happened))
    _, person = np.unique(who, return_inverse=True)
    return clustered_interval(np.bincount(person, happened), np.bincount(person))


@renamed(attempts="draws")
def truth_check(
    population: People,
    rows: NDArray[np.intp],
    *,
    scenario: Scenario | str,
    attack: Attack | str = "adversary-routes",
    population_model: str | None = None,
    draws: int = 200_000,
    seed: int = 0,
) -> TruthCheck:
    """Draw the table `rows` from the population, assess it, and act the attack out for real."""
    rng = np.random.default_rng(seed)
    table = population.take(rows)
    result = assess(attack, table, scenario=scenario, population=len(population),
                    population_model=population_model)  # fmt: skip
    who = rng.integers(len(table), size=draws)
    population = result.groups.seen(population)
    masks = draw_known(result, who, rng)
    happened = {route: np.zeros(draws, dtype=bool) for route in ROUTES}
    for mask in progress(np.unique(masks).tolist(), "acting the attack out"):
        columns = result.groups.columns_in(mask)
        ids, count = population.class_ids(columns)
        in_population = np.bincount(ids, minlength=count)
        in_table = np.bincount(ids[rows], minlength=count)
        here = masks == mask
        cls = ids[rows[who[here]]]
        f, F = in_table[cls], in_population[cls]
        happened["prosecutor"][here] = f == 1
        happened["journalist"][here] = (f == 1) & (F == 1)
        # The target is one of the f (or F) who match, all alike to the attacker.
        happened["marketer"][here] = rng.random(len(f)) * f < 1
        happened["journalist_match"][here] = rng.random(len(F)) * F < 1
    return TruthCheck(result, who, masks, happened)
