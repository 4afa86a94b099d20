"""How far the population fits could move the risks of an assessment.

Each subset of what may be known has its own fit of population uniqueness, with a posterior (see
theory/region.py).  The subsets are counted on one table, so their errors go together; here they
all stand at the same quantile of their posteriors at once,

    p_unique(y) = quantile_q of P_unique(theta, alpha),   E[1/F | f, y] likewise

with q = (1 - level)/2 or (1 + level)/2, and the attack is asked again.  A sum of quantities that
rise together has the sum of their quantiles as its quantile, so for the journalist's risks the
interval is exact under that dependence, and it is wider than if errors cancelled.  It holds what
the table leaves open about the fit's two parameters; it does not hold whether Pitman's model suits
the table.

Of the structured model the chances of every subset stand at that quantile of the draws that an
interval of `rb.population.fit` is made of (population/structured.py, `drawn_chances`).

The log-linear model has no such posterior: its parameters are known well and its structure is not.
There the interval runs, person by person, from the lower of its own answer and the low end of
Pitman's fit to the higher of its own answer and the high end: as far as the two models disagree.
Both ends are made to agree over the subsets like the estimate itself.

The custodian's own file: every person's risk, and through which route and attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.above import is_above
from reidbn.attack.attack import Attack
from reidbn.attacks.parquet import write_frames
from reidbn.attacks.routes.arguments import place_of
from reidbn.attacks.routes.assessment import MATCH, OVERALL, THRESHOLDS, Array, Assessment
from reidbn.attacks.routes.blocks import risks
from reidbn.attacks.routes.by_weight import BY_WEIGHTS, LargerPopulation
from reidbn.attacks.routes.drivers import most_exposed
from reidbn.attacks.routes.expected_match import journalist_match
from reidbn.attacks.routes.population import SubsetPopulation, uniques_of
from reidbn.attacks.routes.said import Said
from reidbn.attacks.routes.structured import ByColumn, StructuredPopulation, TurnedOut
from reidbn.attacks.routes.subject_data import P_UNIQUE, Told, filled, on_population
from reidbn.attacks.routes.summed import are_many, summed
from reidbn.calls import typed
from reidbn.errors import UsageError, did_you_mean
from reidbn.inference.query import Query
from reidbn.population.pitman import check_level
from reidbn.population.structured import STRUCTURED, least_that_stay
from reidbn.progress import progress
from reidbn.release.writing import ends_in, write_csv
from reidbn.result import by_person
from reidbn.theory.class_law import mean_inverse
from reidbn.theory.frequencies import Packed
from reidbn.theory.loglinear import mean_inverse_beside
from reidbn.theory.pitman import stays_unique
from reidbn.theory.pitman_fit import maximise
from reidbn.theory.region import Region, posteriors
from reidbn.written import tiny

if TYPE_CHECKING:
    import pandas as pd


MOST_SUBSETS = 512  # posteriors that are integrated; the others stay at their estimates
FURTHER = (np.minimum, np.maximum)
TURNS = (0.0, 0.003, 0.01, 0.03, 0.07, 0.13, 0.22, 0.33, 0.45, 0.58, 0.72, 0.86, 1.0)
"""Ends of the levels at which a population may turn out; most people's chances are small."""


@dataclass(frozen=True, eq=False)
class PopulationUncertainty:
    """Risks at the low and the high end of the population fits, per distinct subject."""

    result: Assessment
    level: float
    low: dict[str, Array]
    high: dict[str, Array]
    subsets: int
    of: int
    chance: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Of the structured model, the ends of each mean with the chance of who is unique."""
    fits: tuple[SubsetPopulation, ...] = ()
    """The fits at both ends."""

    def table(self) -> pd.DataFrame:
        """Per measure: its mean over people, and the interval of that mean."""
        import pandas as pd

        rows = []
        for measure in self.low:
            ends = [float(end.mean()) for end in self.of_mean(measure)]
            mean = float(self.result.risk(measure).mean())
            rows.append({"measure": measure, "mean": mean, "low": ends[0], "high": ends[1]})
        return pd.DataFrame(rows).set_index("measure")

    @property
    def statuses(self) -> str:
        """How many subsets have which status of Pitman's likelihood, in words."""
        assert self.result.population is not None  # noqa: S101 - intervals are of its fits
        if isinstance(self.result.population, StructuredPopulation):
            return self.result.population.structures
        found = self.result.population.statuses.most_common()
        return ", ".join(f"{status} on {count:,}" for status, count in found)

    def people(self, measure: str = OVERALL) -> pd.DataFrame:
        """The risk of every person and its interval, in record order."""
        if measure not in self.low:
            raise UsageError(
                f"{measure} does not stand on the population; {did_you_mean(measure, self.low)}"
            )
        low, high = (self.of_people(end, measure) for end in (self.low, self.high))
        columns = {"low": low, "risk": self.result.risk(measure), "high": high}
        return by_person(columns, self.result.table, self.result.inputs.individuals)

    @typed
    def shares_above(
        self, thresholds: Sequence[float] = THRESHOLDS, measure: str = OVERALL
    ) -> pd.DataFrame:
        """The share of people whose risk is above each threshold, with an interval.

        A risk counts what may be: once it is known who is unique in the population, of two people
        at .05 one is at .1 and the other at 0, so that more turn out to be above a high threshold
        than the risks say.  How far apart they are moved hangs on how a person's chances on several
        subsets go together.  The interval, from `low` to `high`, holds both ends of that: risks as
        they are said, and those of whom whoever is likely to be unique is so on all subsets at
        once; each at both ends of the fits, and with chance.  `measure` is a risk that asks who is
        unique.
        """
        import pandas as pd

        self._refuse_share(measure)
        limits = np.asarray(thresholds, dtype=np.float64)
        n, tails = len(self.result), ((1 - self.level) / 2, (1 + self.level) / 2)
        fits = (self.result.population, *self.fits)
        turned = [_above(self.result, each, measure, limits) for each in fits
                  if isinstance(each, StructuredPopulation)]  # fmt: skip
        ends = (self.of_people(end, measure) for end in (self.low, self.high))
        said = [
            np.array([is_above(risk, t).mean() for t in limits])
            for risk in (self.result.risk(measure), *ends)
        ]
        middle, *told = (likely.mean(axis=1) for likely in turned)
        spread = (turned[0] * (1 - turned[0])).sum(axis=1)
        low, high = (
            middle + side * np.hypot(end - middle, _off(spread, tail) / n)
            for side, end, tail in zip((-1, 1), told, tails, strict=True)
        )
        columns = {
            "share": said[0],
            "low": np.clip(np.minimum(low, said[1]), 0, 1),
            "high": np.clip(np.maximum(high, said[2]), 0, 1),
        }
        return pd.DataFrame(columns, index=pd.Index(limits, name="threshold"))

    def _refuse_share(self, measure: str) -> None:
        if self.result.inputs.population_model == STRUCTURED and not isinstance(
            self.result.population, StructuredPopulation
        ):
            raise UsageError(
                "no structure speaks here (the notes say why), and only how attributes go together "
                "tells how many turn out to be above a threshold: take population_uncertainty()"
            )
        if not isinstance(self.result.population, StructuredPopulation):
            raise UsageError(
                f"{self.result.inputs.population_model} says how likely each person is unique and "
                f'not how that goes together: for the interval of a share ask population_model="'
                f'{STRUCTURED}"'
            )
        if measure not in self.low:
            raise UsageError(
                f"{measure} does not stand on the population; {did_you_mean(measure, self.low)}"
            )
        query = self.result.questions.get(measure)
        alone = query is not None and not query.given
        if query is None or not (alone and asks_the_population(self.result, query, only=P_UNIQUE)):
            raise UsageError(
                f"{measure} does not ask who is unique in the population alone, and the interval "
                "of a share knows of nothing else: ask it of such a measure"
            )

    def of_mean(self, measure: str = OVERALL) -> tuple[Array, Array]:
        """Numbers of every person whose means are the ends of the interval of the mean.

        Those of the person, and of the structured model moved on by what chance adds: who of the
        people that may be unique in the population is.
        """
        low, high = (self.of_people(end, measure) for end in (self.low, self.high))
        if measure not in self.chance:
            return low, high
        first, last = self.chance[measure]
        least, most = float(low.mean()), float(high.mean())
        low = low * (first / least if least > 0 else 1.0)
        return low, high + (1 - high) * ((last - most) / (1 - most) if most < 1 else 0.0)

    def of_people(self, end: dict[str, Array], measure: str = OVERALL) -> Array:
        """One end of the measure for every person, in record order."""
        return end[measure][self.result.subject_table.of_person]

    def __str__(self) -> str:
        lines = [f"{100 * self.level:g} % intervals of the mean risk from the population fits"]
        for name, row in self.table().iterrows():
            lines.append(f"  {name!s:18}{row['mean']:10.4g}  ({tiny(row.low)} to {tiny(row.high)})")
        lines.append(f"  status of the fits: {self.statuses}")
        if self.subsets < self.of and not isinstance(self.result.population, StructuredPopulation):
            lines.append(f"  the {self.subsets} of {self.of} subsets with most unique people vary")
        return "\n".join(lines)

    __repr__ = __str__


@typed
def population_uncertainty(result: Assessment, level: float = 0.95) -> PopulationUncertainty:
    """Ask again with every fit at the low and at the high end of its posterior.

    `result` is an assessment with a population; `level` is that of the interval.
    """
    check_level(level)
    result.refuse_simulated("what an estimate leaves open")
    fits = result.population
    if fits is None or not is_estimated(result):
        raise UsageError("this assessment estimates nothing about a population")
    if fits.model == BY_WEIGHTS:
        raise UsageError(
            "survey weights have no posterior over which the population could vary; for an "
            'interval ask with a model, such as population_model="pitman-bayes"'
        )
    chosen = _chosen(fits)
    tails = ((1 - level) / 2, (1 + level) / 2)
    ends = _ends(fits, chosen, tails)
    low, high = (_risks(result, end) for end in ends)
    chance = {}
    if isinstance(fits, StructuredPopulation):
        chance = _with_chance(result, fits, (low, high), tails)
    return PopulationUncertainty(
        result, level, low, high, len(chosen), len(fits.status), chance, ends
    )


def _off(mean: Array, tail: float) -> Array:
    """How far a Poisson count is from its mean at one end."""
    from scipy.stats import poisson

    return np.asarray(poisson.ppf(tail, mean) - mean)


def _above(result: Assessment, fits: StructuredPopulation, measure: str, limits: Array) -> Array:
    """How likely each person's risk turns out to be above each limit: limit x person."""
    found = np.zeros((len(limits), len(result)))
    turns = [((low + high) / 2, high - low) for low, high in pairwise(TURNS)]
    for level, share in progress(turns, "how it may turn out"):
        own = {measure: result.questions[measure]}
        risk = _risks(result, TurnedOut.of(fits, level), own)[measure]
        found += share * is_above(risk[result.subject_table.of_person], limits[:, None])
    return found


def _with_chance(
    result: Assessment,
    fits: SubsetPopulation,
    ends: Sequence[Mapping[str, Array]],
    tails: tuple[float, float],
) -> dict[str, tuple[float, float]]:
    """The ends of each mean with chance: whoever may be unique in the population is, or is not.

    A person's risk lies between those of a population in which everybody else is like them and of
    one in which nobody is, b and m, so that its variance is at most (r - b)(m - r).  Of the mean
    the part that is chance is that of a Poisson count of the same mean and variance.
    """
    from scipy.stats import poisson

    of = result.subject_table.of_person
    certain = [_risks(result, _all_alike(fits, alone=alone)) for alone in (False, True)]
    found = {}
    for measure, low in ends[0].items():
        r = result.risk(measure)
        least, most = (each[measure][of] for each in certain)
        base, mean = float(least.mean()), float(r.mean())
        told = float(low[of].mean()), float(ends[1][measure][of].mean())
        spread = float(np.clip((r - least) * (most - r), 0, None).mean()) / len(r)
        moved = mean - base
        if moved <= 0 or spread <= 0:
            continue
        size = spread / moved
        by_chance = [base + size * float(poisson.ppf(tail, moved / size)) for tail in tails]
        both = [float(np.hypot(end - mean, chance - mean))
                for end, chance in zip(told, by_chance, strict=True)]  # fmt: skip
        found[measure] = max(base, mean - both[0]), min(float(most.mean()), mean + both[1])
    return found


def _all_alike(fits: SubsetPopulation, *, alone: bool) -> SubsetPopulation:
    """Nobody outside the table is like anybody of it (`alone`), or everybody is."""
    unique = np.full(len(fits.status), float(alone))
    match = [1 / (sizes if alone else np.full(sizes.size, fits.population)) for sizes in
             fits.said.sizes]  # fmt: skip
    unique[0], match[0] = fits.population == 1, match[0] * 0 + 1 / fits.population
    return SubsetPopulation(
        fits.model, fits.population, fits.classes,
        Said(fits.said.outside, unique, fits.said.sizes, match),
        fits.theta, fits.alpha, fits.status, fits.fallback, fits.by,
    )  # fmt: skip


def _chosen(fits: SubsetPopulation) -> list[int]:
    """The subsets on which most people are unique, those first on which class sizes speak."""
    uniques = np.array([uniques_of(f) for f in fits.classes.frequencies])
    order = np.argsort(-uniques, kind="stable")
    if isinstance(fits, StructuredPopulation):
        order = order[np.argsort(fits.structured.speaks[order], kind="stable")]
    return sorted(int(m) for m in order[:MOST_SUBSETS])


def _ends(
    fits: SubsetPopulation, chosen: list[int], tails: tuple[float, float]
) -> tuple[SubsetPopulation, SubsetPopulation]:
    """The fits at both ends."""
    said = fits.said
    unique = [said.p_unique.copy(), said.p_unique.copy()]
    match = [list(said.p_match), list(said.p_match)]
    n, population = fits.people, fits.population
    packed = Packed.of([fits.classes.frequencies[m] for m in chosen])
    grids = posteriors(Region(packed, population, maximise(packed)))
    varied = chosen if population > n else []
    alone = np.zeros(len(fits.status), dtype=bool)  # where no number by class size is said yet
    alone[: said.spread.size] = said.spread
    for mask in progress(varied, "posterior of every fit"):
        nodes = next(grids)
        at = stays_unique(n, population, theta=nodes.theta, alpha=nodes.alpha)
        inverse = mean_inverse(
            said.sizes[mask].astype(float)[:, None],
            n, population, theta=nodes.theta, alpha=nodes.alpha,
        )  # fmt: skip
        for end, (tail, further) in enumerate(zip(tails, FURTHER, strict=True)):
            one, several = (
                nodes.quantile(at, tail),
                np.array([nodes.quantile(v, tail) for v in inverse]),
            )
            # A fit on its boundary may lie outside: the estimate itself is always inside.
            new = alone[mask] and (end == 0 or said.bound is None)
            unique[end][mask] = one if new else further(unique[end][mask], one)
            match[end][mask] = several if new else further(match[end][mask], several)
    for mask in run_out(fits) if population > n else []:
        sizes, outside = said.sizes[mask].astype(float), population - n
        stay = least_that_stay(fits.classes.frequencies[mask], population)
        unique[0][mask] = min(unique[0][mask], stay)
        as_common = mean_inverse_beside(sizes, outside * sizes / n)
        match[0][mask] = np.minimum(match[0][mask], as_common)
    bounded = [np.zeros(len(fits.status), dtype=bool) for _ in range(2)]
    bounded[1] |= False if said.bound is None else said.bounded
    for ends in bounded:
        ends[varied] = True
    low, high = (
        replace(fits, said=replace(said, p_unique=unique[end], p_match=match[end],
                                   bound=FURTHER[end], bounded=bounded[end],
                                   floor=said.floor if end else None),
                finer=fits.finer if end else None)
        for end in (0, 1)
    )  # fmt: skip
    if isinstance(fits, StructuredPopulation):
        return _of_structures(fits, (low, high), tails)
    if isinstance(low, LargerPopulation):
        low = replace(low, class_weights=None)  # the larger of two estimates is no low end
    return low, high


def _of_structures(
    fits: StructuredPopulation,
    ends: tuple[SubsetPopulation, SubsetPopulation],
    tails: tuple[float, float],
) -> tuple[SubsetPopulation, SubsetPopulation]:
    """The ends, with those of the structured model; on single columns, where groups are larger."""
    by = fits.by_column
    if by is None:
        told = fits.structured.ends(tails, fits.classes.frequencies)
        changed: list[dict[str, Any]] = [{"structured": end} for end in told]
        changed[0]["class_weights"] = None  # as in `_ends`
    else:
        single = _ends(by.population, _chosen(by.population), tails)
        changed = [{"by_column": ByColumn(end, by.kept, by.rows)} for end in single]  # type: ignore[arg-type]
    low, high = (replace(end, **own) for end, own in zip(ends, changed, strict=True))
    return low, high


def run_out(fits: SubsetPopulation) -> list[int]:
    """The subsets on which one attribute alone parts people, where structures were asked for.

    Pitman's values never run out, those of an age or a state do (population/structured.py).
    """
    if isinstance(fits, StructuredPopulation):
        return [mask for mask, own in enumerate(fits.structured.speaks) if mask and not own]
    if fits.model != STRUCTURED:
        return []
    groups = fits.classes.groups
    parting = [fits.classes.frequencies[1 << j].classes > 1 for j in range(len(groups))]
    alone = [
        sum(parting[j] * len(groups[j]) for j in range(len(groups)) if mask >> j & 1) == 1
        for mask in range(len(fits.status))
    ]
    return [mask for mask, one in enumerate(alone) if one]


def _risks(
    result: Assessment, fits: SubsetPopulation, asked: Mapping[str, Query] | None = None
) -> dict[str, Array]:
    """Every measure that depends on the population, or those asked, at one end."""
    match = asked is None and MATCH in result.risks
    if asked is None:
        asked = {m: q for m, q in result.questions.items() if asks_the_population(result, q)}
    if are_many(result.classes):
        found = _summed(result, fits, asked, match=match)
        if found is not None:
            return found
    rows = result.classes.of_person[result.subject_table.first]
    told = Told(result.classes, fits)
    columns: dict[str, Any] = {
        **result.subject_table.columns,
        **{name: filled(result.attack, name, told, rows) for name in _estimated(result)},
    }
    table = replace(result.subject_table, columns=columns, some=None, is_kept=True)
    out = {
        measure: risks(result.attack, query, result.inputs.set, table)
        for measure, query in asked.items()
    }
    if match:
        inputs = result.inputs
        out[MATCH] = journalist_match(result.attack, fits, table, inputs.set, inputs.done)
    return {m: out[m] for m in result.measures if m in out}


def _summed(
    result: Assessment, fits: SubsetPopulation, asked: Mapping[str, Query], *, match: bool
) -> dict[str, Array] | None:
    """The same where no number per person and subset is kept; None where that cannot be."""
    done = Query((), {}, {}, result.inputs.done) if match else None
    found = summed(
        result.attack, asked, result.inputs.set, result.classes, fits, result.subject_table,
        match=done,
    )  # fmt: skip
    if found is None or {*asked} - {*found}:
        return None
    if done is not None:
        found[MATCH] = found.pop("")
    return {m: found[m] for m in result.measures if m in found}


def is_estimated(result: Assessment) -> bool:
    """Whether a measure stands on an estimate of the population."""
    return result.population is not None and bool(_estimated(result) or MATCH in result.risks)


def _estimated(result: Assessment) -> tuple[str, ...]:
    """The columns that the population's fits fill."""
    return on_population(result.attack, result.subject_table.given)


def asks_the_population(result: Assessment, query: Query, *, only: str = "") -> bool:
    """Whether the question rests on the population, or on `only` one column of its model."""
    found = columns_behind(result.attack, query) & {*_estimated(result)}
    return found == {only} if only else bool(found)


def rests_on_the_population(result: Assessment, measure: str) -> bool:
    """Whether a measure of an assessment rests on an estimate of the population."""
    query = result.questions.get(measure)
    of = measure == MATCH if query is None else asks_the_population(result, query)
    return is_estimated(result) and of


def columns_behind(attack: Attack, query: Query) -> set[str]:
    """The columns of subject data that the answer to a question rests on."""
    named = attack.upstream([*query.targets, *query.given], cut=query.do)
    read = [ref for name in named for ref in attack.behind(attack.all_nodes[name].cpd)]
    worth = attack.behind_utilities if not named.isdisjoint(attack.decisions) else ()
    return {ref[1:] for ref in (*read, *worth) if ref.startswith("@")}


# -- the custodian's own file ----------------------------------------------------------------------


@typed
def write_restricted(result: Assessment, path: Any, measure: str = OVERALL) -> Path:
    """Write all people, highest risk first, keyed by the subject's id; CSV or Parquet.

    `result` is the assessment, `path` the file, `measure` the risk that people are sorted by.
    """
    result.refuse_simulated("everybody's main route")
    place = Path(place_of(path, "path"))
    kind = ends_in(place, (".csv", ".parquet"))
    table = most_exposed(result, len(result), measure).reset_index(names="subject")
    if kind == ".parquet":
        return write_frames(place, [table])
    return write_csv(table, place, of_people=True)
