"""The attack simulated on a whole population, beside what was predicted.

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
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.scenario import Scenario
from reidbn.attacks.acting import draw_known
from reidbn.attacks.assess import assess
from reidbn.attacks.assessment import Array, Assessment
from reidbn.attacks.population_by_subset import DEFAULT_MODEL
from reidbn.errors import UsageError
from reidbn.microdata.table import People
from reidbn.progress import progress
from reidbn.theory.agreement import interval

if TYPE_CHECKING:
    import pandas as pd

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
        import pandas as pd

        if route not in self.happened:
            raise UsageError(f'no route "{route}"; known: {", ".join(self.happened)}')
        predicted = self.result.risk(route)[self.who]
        edges = np.unique(np.quantile(predicted, np.linspace(0, 1, bins + 1)[1:-1]))
        place = np.searchsorted(edges, predicted, side="right")
        rows = [self._bin(predicted, self.happened[route], place == j) for j in np.unique(place)]
        return pd.DataFrame([r for r in rows if r["attempts"] >= FEWEST])

    @staticmethod
    def _bin(
        predicted: Array, happened: NDArray[np.bool_], inside: NDArray[np.bool_]
    ) -> dict[str, float]:
        hits, attempts = int(happened[inside].sum()), int(inside.sum())
        low, high = interval(hits, attempts)
        return {
            "predicted": float(predicted[inside].mean()),
            "happened": hits / attempts,
            "low": low,
            "high": high,
            "attempts": attempts,
        }

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


def truth_check(
    population: People,
    rows: NDArray[np.intp],
    *,
    scenario: Scenario | str,
    attack: Attack | str = "adversary-routes",
    population_model: str = DEFAULT_MODEL,
    attempts: int = 200_000,
    seed: int = 0,
) -> TruthCheck:
    """Draw the table `rows` from the population, assess it, and act the attack out for real."""
    rng = np.random.default_rng(seed)
    table = population.take(rows)
    result = assess(attack, table, scenario=scenario, population=len(population),
                    population_model=population_model)  # fmt: skip
    who = rng.integers(len(table), size=attempts)
    population = result.groups.seen(population)
    masks = draw_known(result, who, rng)
    happened = {route: np.zeros(attempts, dtype=bool) for route in ROUTES}
    for mask in progress(np.unique(masks).tolist(), "acting the attack out"):
        columns = [c for j, g in enumerate(result.groups.columns) if mask >> j & 1 for c in g]
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
