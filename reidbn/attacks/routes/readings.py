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

Of the structured model every chance is moved by as many standard deviations as the quantile says,
of what its layer leaves open and of how far its structures are apart (population/structured.py).

The log-linear model has no such posterior: its parameters are known well and its structure is not.
There the interval runs, person by person, from the lower of its own answer and the low end of
Pitman's fit to the higher of its own answer and the high end: as far as the two models disagree.
Both ends are made to agree over the subsets like the estimate itself.

The custodian's own file: every person's risk, and through which route and attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from reidbn.attacks.parquet import write_frames
from reidbn.attacks.routes.arguments import place_of
from reidbn.attacks.routes.assessment import MATCH, OVERALL, Array, Assessment
from reidbn.attacks.routes.blocks import risks
from reidbn.attacks.routes.by_weight import BY_WEIGHTS
from reidbn.attacks.routes.drivers import most_exposed
from reidbn.attacks.routes.expected_match import journalist_match
from reidbn.attacks.routes.population import SubsetPopulation, uniques_of
from reidbn.attacks.routes.structured import StructuredPopulation
from reidbn.attacks.routes.subject_data import Told, filled, on_population
from reidbn.attacks.routes.summed import are_many, summed
from reidbn.calls import typed
from reidbn.errors import UsageError, did_you_mean
from reidbn.inference.query import Query
from reidbn.population.pitman import check_level
from reidbn.progress import progress
from reidbn.release.writing import write_csv
from reidbn.result import by_person
from reidbn.theory.class_law import mean_inverse
from reidbn.theory.frequencies import Packed
from reidbn.theory.pitman import stays_unique
from reidbn.theory.pitman_fit import maximise
from reidbn.theory.region import Region, posteriors
from reidbn.written import tiny

if TYPE_CHECKING:
    import pandas as pd


MOST_SUBSETS = 512  # posteriors that are integrated; the others stay at their estimates
FURTHER = (np.minimum, np.maximum)


@dataclass(frozen=True, eq=False)
class PopulationUncertainty:
    """Risks at the low and the high end of the population fits, per distinct subject."""

    result: Assessment
    level: float
    low: dict[str, Array]
    high: dict[str, Array]
    subsets: int
    of: int

    def table(self) -> pd.DataFrame:
        """Per measure: its mean over people, and the interval of that mean."""
        import pandas as pd

        rows = []
        for measure in self.low:
            ends = [float(self.of_people(end, measure).mean()) for end in (self.low, self.high)]
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
    low, high = _ends(fits, chosen, tails)
    if isinstance(low, StructuredPopulation) and isinstance(high, StructuredPopulation):
        low, high = low.moved(float(ndtri(tails[0]))), high.moved(float(ndtri(tails[1])))
    return PopulationUncertainty(
        result,
        level,
        low=_risks(result, low),
        high=_risks(result, high),
        subsets=len(chosen),
        of=len(fits.status),
    )


def _chosen(fits: SubsetPopulation) -> list[int]:
    """The subsets on which most people are unique, among those on which class sizes speak."""
    uniques = np.array([uniques_of(f) for f in fits.classes.frequencies])
    order = np.argsort(-uniques, kind="stable")
    if isinstance(fits, StructuredPopulation):
        order = order[~fits.structured.speaks[order]]
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
    if isinstance(low, StructuredPopulation) and isinstance(high, StructuredPopulation):
        return _by_column(low, high, tails)
    return low, high


def _by_column(
    low: StructuredPopulation, high: StructuredPopulation, tails: tuple[float, float]
) -> tuple[SubsetPopulation, SubsetPopulation]:
    """The same ends on single columns, where groups hold several."""
    by = low.by_column
    if by is None:
        return low, high
    first, last = _ends(by.population, _chosen(by.population), tails)
    assert isinstance(first, StructuredPopulation)  # noqa: S101 - as what they are made of
    assert isinstance(last, StructuredPopulation)  # noqa: S101
    return (
        replace(low, by_column=replace(by, population=first)),
        replace(high, by_column=replace(by, population=last)),
    )


def _risks(result: Assessment, fits: SubsetPopulation) -> dict[str, Array]:
    """Every measure that depends on the population, at one end."""
    asked = {m: q for m, q in result.questions.items() if _asks_the_population(result, q)}
    if are_many(result.classes):
        found = _summed(result, fits, asked)
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
    if MATCH in result.risks:
        inputs = result.inputs
        out[MATCH] = journalist_match(result.attack, fits, table, inputs.set, inputs.done)
    return {m: out[m] for m in result.measures if m in out}


def _summed(
    result: Assessment, fits: SubsetPopulation, asked: Mapping[str, Query]
) -> dict[str, Array] | None:
    """The same where no number per person and subset is kept; None where that cannot be."""
    match = Query((), {}, {}, result.inputs.done) if MATCH in result.risks else None
    found = summed(
        result.attack, asked, result.inputs.set, result.classes, fits, result.subject_table,
        match=match,
    )  # fmt: skip
    if found is None or {*asked} - {*found}:
        return None
    if match is not None:
        found[MATCH] = found.pop("")
    return {m: found[m] for m in result.measures if m in found}


def is_estimated(result: Assessment) -> bool:
    """Whether a measure stands on an estimate of the population."""
    return result.population is not None and bool(_estimated(result) or MATCH in result.risks)


def _estimated(result: Assessment) -> tuple[str, ...]:
    """The columns that the population's fits fill."""
    return on_population(result.attack, result.subject_table.given)


def _asks_the_population(result: Assessment, query: Query) -> bool:
    """Whether the question rests on who is unique in the population, whatever the numbers are."""
    attack, columns = result.attack, {f"@{name}" for name in _estimated(result)}
    named = attack.upstream([*query.targets, *query.given], cut=query.do)
    read = [ref for name in named for ref in attack.behind(attack.all_nodes[name].cpd)]
    worth = attack.behind_utilities if not named.isdisjoint(attack.decisions) else ()
    return not columns.isdisjoint((*read, *worth))


# -- the custodian's own file ----------------------------------------------------------------------


@typed
def write_restricted(result: Assessment, path: Any, measure: str = OVERALL) -> Path:
    """Write all people, highest risk first, keyed by the subject's id; CSV or Parquet.

    `result` is the assessment, `path` the file, `measure` the risk that people are sorted by.
    """
    result.refuse_simulated("everybody's main route")
    place = Path(place_of(path, "path"))
    if place.suffix not in (".csv", ".parquet"):
        raise UsageError(f"{place.name}: end the name in .csv or .parquet")
    table = most_exposed(result, len(result), measure).reset_index(names="subject")
    if place.suffix == ".parquet":
        return write_frames(place, [table])
    return write_csv(table, place, of_people=True)
