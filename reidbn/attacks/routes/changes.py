"""Changes of an assessment: the same people under another scenario, setting or generalisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.parts import parse_given, parse_states
from reidbn.attack.scenario import Scenario
from reidbn.attack.scenariofile import told_name
from reidbn.attacks.linkage.columns import SparsePeople, in_release, known_of
from reidbn.attacks.routes.arguments import (
    columns_of,
    filled_otherwise,
    mapping_of,
    names_of,
    settings_of,
    truth,
    whole_number,
)
from reidbn.attacks.routes.assess import check_population, chosen_scenario, run
from reidbn.attacks.routes.assessment import OVERALL, Array, Assessment
from reidbn.attacks.routes.by_weight import HEARS_WEIGHTS, people_behind
from reidbn.attacks.routes.inputs import Inputs
from reidbn.attacks.routes.subject_data import providers, stands_on_the_table
from reidbn.calls import typed
from reidbn.differing import differing, other_events
from reidbn.errors import UsageError, did_you_mean
from reidbn.inference.worst import OF_ONE, OF_TIED
from reidbn.microdata.again import again, changed_from, stay_out
from reidbn.microdata.generalise import empty_cells, left_out, released_at
from reidbn.microdata.knowledge import Known
from reidbn.microdata.table import People
from reidbn.microdata.tallied import TalliedPeople
from reidbn.result import NOTHING, WITHIN_DRAWING, Result, drawing_between
from reidbn.written import counted, tiny

if TYPE_CHECKING:
    import pandas as pd

_TIMES = -900  # percent: what is ten times as high is told as so many times


@typed
def what_if(
    result: Result,
    *,
    set: Mapping[str, float] | None = None,
    scenario: Scenario | str | None = None,
    known: Known | None = None,
    do: str | Mapping[str, str] | None = None,
    given: str | Mapping[str, str] | None = None,
    generalise: Mapping[str, int] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    suppress: int | None = None,
    population: Any = None,
    population_model: str | None = None,
    columns: Mapping[str, str | Sequence[str]] | str | Sequence[str] | None = None,
    without: str | Sequence[str] | None = None,
    unknown: str | Sequence[str] | None = None,
    together: bool | None = None,
    beyond_range: bool = False,
    drop: str | Sequence[str] | None = None,
    noise: float | Mapping[str, float] | None = None,
    **asked: Any,
) -> Any:
    """The same question asked again with what changed; what is not named stays as it was.

    Any result that a function of the house made is asked again: of a disclosure, a leak, SUDA, an
    estimate of the population, candidates, linkage and a neighbourhood `asked` are arguments of
    that function (`leaked`, `p`, `most`, `model`, ...); `known`, `unknown`, `columns`,
    `population`, `generalise` and `suppress` are changed alike wherever they mean something, and
    refused by name elsewhere.  The result is of the same type, says what was changed
    (`result.changed`), and rb.compare(before, after) tells the two.  All that follows is about an
    assessment, which has an attack behind it.

    `generalise` takes the level of each column in the release, such as {"age": 1} (a finer one than
    now starts from the table as it was read), and `hierarchies` gives a column a hierarchy, such as
    {"age": rb.Bands(10)}; `suppress` leaves out people who are written alike with fewer than that
    many on all quasi-identifiers, and the share of the population for which they stand (of a
    `population` given here, too), another number those of the whole table.  What is known about a
    person stays what it was: it depends on the person and not on what is released; `known` says it
    anew, as another `scenario` does.
    `unknown` takes columns out of what is known, and `without` attributes out of the scenario,
    beside those that were taken out before; `generalise` by itself leaves out whom `suppress` left
    out before, and `suppress` beside it decides that anew at its levels.
    `together` says whether the scenario's list or account is one event for all attributes.  With
    another scenario, `columns`, `without`, `unknown`, and what is given, done or set about nodes
    and parameters that the old scenario brought, are to be said anew.

    Of a sparse table `drop` leaves features out of the release (names, tags, sections), and
    `generalise` with `hierarchies` makes values of features coarse; `noise` moves every number by
    up to that share of itself, or with {"share": 0.2, "years": 2} years and dates, too.  What had
    noise before is made coarse first, and has the same noise again, or the one given here.

    `result` is what is asked again. `do` and `beyond_range` are as in rb.ask, `population_model`
    as in rb.assess.
    """
    if not isinstance(result, Assessment):
        return again(result, _said(
            asked, set=set, scenario=scenario, known=known, do=do, given=given,
            generalise=generalise, hierarchies=hierarchies, suppress=suppress,
            population=population, population_model=population_model, columns=columns,
            without=without, unknown=unknown, together=together, beyond_range=beyond_range,
            drop=drop, noise=noise,
        ))  # fmt: skip
    for name in asked:
        raise UsageError(f'what_if takes no "{name}"; {did_you_mean(name, _CHANGES)}')
    inputs = result.inputs
    anew = chosen_scenario(inputs.people, scenario, known)
    chosen = anew or inputs.scenario
    if anew is not None:
        inputs = _without_the_scenario(inputs, attributes=columns is None and without is None)
    if together is not None:
        chosen = chosen.shared(together=truth(together, "together"))
    people = inputs.people
    if isinstance(people, SparsePeople) or drop is not None or noise is not None:
        people = in_release(people, drop, generalise, hierarchies, suppress, noise)
        generalise = hierarchies = None
    if isinstance(people, TalliedPeople) and (generalise is not None or suppress is not None):
        people.suppress()  # refused, with what to do instead
    if hierarchies is not None and generalise is None:
        raise UsageError('name the levels too: generalise={"age": 1}')
    if generalise is not None:
        named = mapping_of(hierarchies, "hierarchies", '{"age": rb.Bands(10)}') or None
        people = released_at(
            people, mapping_of(generalise, "generalise", '{"age": 1}'), hierarchies=named
        )
    if people is not inputs.people or suppress is not None:
        people = as_given(inputs, people)
    subject = inputs.subject
    if suppress is not None:
        if inputs.individuals is not None:
            raise UsageError("suppress= changes who is in the table: assess all people, not some")
        people, subject = _suppressed(people, whole_number(suppress, "suppress", least=1), subject)
    left = _left(inputs, people) if population is None else check_population(population, people)
    changed = replace(
        inputs,
        people=people,
        subject=subject,
        scenario=chosen,
        said={**inputs.said, **settings_of(set)},
        do={**inputs.do, **parse_states({} if do is None else do)},
        given={**inputs.given, **parse_given({} if given is None else given)},
        population=left,
        population_model=inputs.population_model if population_model is None else population_model,
        columns=inputs.columns
        if columns is None
        else columns_of(columns, people.columns, filled_otherwise(inputs.attack, chosen)),
        without=_without_more(inputs, without, stays=anew is None),
        beyond_range=inputs.beyond_range or beyond_range,
    )
    changed = _known_less(changed, unknown, stays=anew is None)
    fallen = sorted({*inputs.said} & ({*_chances(inputs)} - {*_chances(changed)} - {*(set or ())}))
    changed = replace(changed, said={n: v for n, v in changed.said.items() if n not in fallen})
    _refuse_other_population(inputs, changed, said=population is not None)
    after = run(changed)
    more = [f"{name}: {inputs.said[name]:,.12g} -> nothing" for name in fallen]
    more += stay_out(result.inputs.people, people, suppress)
    more += _gone_before(result.inputs, names_of(unknown or (), "unknown"))
    return changed_from(result, after, [*more, *_never_known(result, after, drop)])


def _gone_before(before: Inputs, unknown: Sequence[str]) -> list[str]:
    """A remark where nobody knew a column before, either."""
    gone = [name for name in unknown if name in before.known_to_nobody]
    return (
        [f"nobody knew {' or '.join(gone)} before, either: nothing changes by it"] if gone else []
    )


def _never_known(
    before: Assessment, after: Assessment, drop: str | Sequence[str] | None
) -> list[str]:
    """A remark where what was left out of a sparse table may be known by nobody anyhow."""
    people, left = before.inputs.people, after.inputs.people
    if drop is None or not isinstance(people, SparsePeople) or not isinstance(left, SparsePeople):
        return []
    known = known_of(after.inputs.scenario)
    gone = {*people.sparse.names} - {*left.sparse.names}
    may = {people.sparse.names[i] for i in people.sparse.named(known.known)}
    if not known.known or known.together or gone & may:
        return []
    return [
        f"what was dropped may not be known by this attacker (facts known: {known.in_words}): no "
        "risk changes by it"
    ]


def _without_more(
    inputs: Inputs, named: str | Sequence[str] | None, *, stays: bool
) -> tuple[str, ...]:
    """What is left out of the scenario, beside what was before where it is the one that was."""
    if named is None:
        return inputs.without
    more = names_of(named, "without")
    return tuple(dict.fromkeys((*inputs.without, *more))) if stays else more


def _known_less(inputs: Inputs, named: str | Sequence[str] | None, *, stays: bool) -> Inputs:
    """The same inputs with columns that nobody knows any more, beside those that nobody knew.

    An attribute of the scenario that is such a column alone goes with it, where the scenario is the
    one that was; of a scenario that is said anew it would be a contradiction, and is refused.
    What a caller said is what is left of it, as if it had been said so: of columns learnt together
    the others stay.
    """
    unknown = names_of(() if named is None else named, "unknown")
    scenario = inputs.scenario
    inputs = replace(inputs, unknown=tuple(dict.fromkeys((*inputs.unknown, *unknown))))
    if not stays or not unknown or scenario.knows is None:
        return inputs
    if scenario.is_said:
        left = scenario.less(unknown, inputs.columns, inputs.without)
        return replace(inputs, scenario=left)
    knows = scenario.renamed(inputs.columns).without(inputs.without).knows
    gone = (k.name for k in (knows.known if knows else ()) if {*k.columns} <= {*unknown})
    return replace(inputs, without=(*inputs.without, *gone))


def _chances(inputs: Inputs) -> list[str]:
    """The parameters that would be the chances of what the scenario knows."""
    knows = inputs.scenario.renamed(inputs.columns).without(inputs.without).knows
    return [f"p_{item.member}" for item in (knows.known if knows else ())]


def _without_the_scenario(inputs: Inputs, *, attributes: bool) -> Inputs:
    """Nodes and parameters that the scenario brought go with it, and what its names were."""
    if attributes:
        inputs = replace(inputs, columns={}, without=())
    own = inputs.attack.nodes
    return replace(
        inputs,
        unknown=(),
        do={node: state for node, state in inputs.do.items() if node in own},
        given={node: state for node, state in inputs.given.items() if node in own},
        said={name: v for name, v in inputs.said.items() if name in inputs.attack.settable},
    )


_CHANGES = tuple(signature(what_if).parameters)[1:-1]


def _said(asked: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """The changes that were named: what is not as it is when nobody says it."""
    usual = signature(what_if).parameters
    named = {name: v for name, v in changes.items() if v is not usual[name].default}
    return {**asked, **named}


def released(
    result: Assessment,
    levels: Mapping[str, int],
    hierarchies: Mapping[str, Any],
    kept: NDArray[np.bool_],
    measures: Sequence[str] | None = None,
    *,
    emptied: Mapping[str, NDArray[np.bool_]] | None = None,
) -> Assessment:
    """The assessment of the people who are kept, released at these levels: all measures, or some.

    `emptied` says whose cells of which column are empty.

    Of some, nothing else of the assessment may be shown: the population was not asked for E[1/F].
    """
    inputs = result.inputs
    people = released_at(inputs.people, levels, hierarchies=dict(hierarchies))
    people = left_out(empty_cells(people, emptied or {}), ~np.asarray(kept))
    people = as_given(inputs, people)
    subject = {name: np.asarray(values)[kept] for name, values in inputs.subject.items()}
    left = _left(inputs, people)
    asked = replace(inputs, people=people, subject=subject, population=left)
    return run(asked, measures=measures)


def as_given(inputs: Inputs, people: People) -> People:
    """The people of another release, with a note on what the call said of each of them.

    What it said of how many are alike is not so any more, and is refused.
    """
    for name in inputs.subject:
        if stands_on_the_table(inputs.attack, name):
            instead = (
                f"leave {name} out of subject=, and the table fills it anew"
                if name in (*providers(), *people.fills)
                else "assess the released table with numbers of its own"
            )
            raise UsageError(
                f"{name} was given in the call (subject=) and counts people of the table as it "
                f"was; another release has other numbers: {instead}"
            )
    said = tuple(f"{name} was given in the call, and is taken to hold of the release, too"
                 for name in inputs.subject)  # fmt: skip
    return replace(people, notes=tuple(dict.fromkeys((*people.notes, *said)))) if said else people


def _refuse_other_population(before: Inputs, after: Inputs, *, said: bool) -> None:
    asked = (before.population, before.population_model)
    if asked == (after.population, after.population_model):
        return
    by_weights = before.population_model in HEARS_WEIGHTS and not said
    if by_weights and after.population_model not in HEARS_WEIGHTS:
        behind = people_behind(before.people.whole, before.population_model)
        if before.population == behind:
            raise UsageError(
                f"the population was what the survey weights sum to, and {after.population_model} "
                "does not hear them: give population=N, the number of people from whom the table "
                "was drawn"
            )
    for name in before.subject:
        known = providers().get(name)
        if known is not None and known.needs_population:
            raise UsageError(
                f"{name} was given in the call (subject=) and is of one population; leave it out "
                f"of subject=, and the model fills it for any"
            )


def _left(inputs: Inputs, people: People) -> float | None:
    """The population of which the table was drawn, as far as it is known what that was."""
    if inputs.population is None:
        return None
    share = people.whole.share_kept / inputs.people.whole.share_kept
    return float(max(round(inputs.population * share), len(people.whole)))


def assessed(given: Any) -> Assessment:
    """An assessment; anything else is refused."""
    if not isinstance(given, Assessment):
        raise UsageError(
            f"{type(given).__name__} is no assessment; make one: rb.assess(attack, people, ...)"
        )
    return given


def _suppressed(
    people: People, k: int, subject: Mapping[str, Any]
) -> tuple[People, Mapping[str, Any]]:
    """The people in classes of at least k, with what the call says about each of them.

    Who was left out before may be among them: another k is another release of the whole table.
    """
    if people.before is not None and subject:
        raise UsageError(
            f"{', '.join(subject)} was given in the call (subject=) for those who were left, and "
            "suppress= starts from all people: assess the whole table, and suppress that"
        )
    people = people.whole
    numbered = replace(people, subject_ids=np.arange(len(people))).suppress(k)
    rows = np.asarray(numbered.subject_ids, dtype=np.intp)
    kept = replace(
        people.take(rows), notes=numbered.notes, share_kept=numbered.share_kept, before=people.whole
    )
    return kept, {name: np.asarray(values)[rows] for name, values in subject.items()}


@dataclass(frozen=True, eq=False)
class AssessmentsCompared:
    """Two assessments of the same people, person by person."""

    before: Assessment
    after: Assessment

    def __post_init__(self) -> None:
        for result in (self.before, self.after):
            result.refuse_simulated("a comparison person by person")
        if len(self.before) != len(self.after):
            raise UsageError(
                f"cannot compare {len(self.before):,} people with {len(self.after):,}: "
                f"compare two assessments of the same people"
            )
        if not _same_people(self.before.inputs, self.after.inputs):
            tables = [inputs.people for inputs in (self.before.inputs, self.after.inputs)]
            if any(isinstance(table, TalliedPeople) for table in tables):
                raise UsageError(
                    "people counted as cells are in the order of their cells: they are compared "
                    "with people of the same cells; before.compare(after) compares the means"
                )
            raise UsageError(
                f"the two assessments are about {len(self.before):,} people each, and nothing says "
                f"that they are the same ones in the same order. Tables that were read apart say "
                f"so by subject_id=, the column that names each person; before.compare(after) "
                f"compares the means alone"
            )
        if self.before.about != self.after.about:
            raise UsageError(other_events(self.before.about, self.after.about))

    def reduction(self, measure: str = OVERALL) -> Array:
        """1 - after/before of every person whose risk was above zero, in record order."""
        before, after = self.before.risk(measure), self.after.risk(measure)
        some = before > 0
        return np.asarray(1 - after[some] / before[some])

    @cached_property
    def table(self) -> pd.DataFrame:
        """Per measure: reduction in percent (Q1, median, Q3 over people), and the mean risks.

        People whose risk was zero before have nothing to reduce: they are left out, and counted.
        """
        import pandas as pd

        rows = []
        for measure in self.before.measures:
            if measure not in self.after.measures or not self._is_one_event(measure):
                continue
            reduction = 100 * self.reduction(measure)
            q = np.quantile(reduction, [0.25, 0.5, 0.75]) if reduction.size else [np.nan] * 3
            rows.append(
                {
                    "measure": measure,
                    "q1": q[0],
                    "median": q[1],
                    "q3": q[2],
                    "mean_before": self.before.risk(measure).mean(),
                    "mean_after": self.after.risk(measure).mean(),
                    "at_zero_before": len(self.before) - reduction.size,
                }
            )
        return pd.DataFrame(rows).set_index("measure")

    @property
    def names(self) -> tuple[str, str]:
        """The scenarios before and after; which is whose, where another has the same name."""
        both = [r.inputs.scenario for r in (self.before, self.after)]
        first, second = (told_name(one) for one in both)
        if first == second and both[0].fingerprint != both[1].fingerprint:
            first, second = (f"{one.name} ({one.fingerprint[:8]})" for one in both)
        return first, second

    def _is_one_event(self, measure: str) -> bool:
        """Whether both mean the same by a measure; a changed model may ask something else."""
        asked = [r for r in (self.before, self.after) if measure in r.questions]
        return len({r.event(measure) for r in asked}) < 2

    @cached_property
    def differs(self) -> tuple[str, ...]:
        """In what the two differ, beside the scenario."""
        apart = differing(self.before.identity, self.after.identity)
        return tuple(line for what, line in apart.items() if what not in ("scenario", "known"))

    @cached_property
    def drawing(self) -> dict[str, float]:
        """By measure, how far drawing curves alone may put the two means apart, at 95 %."""
        return drawing_between(self.before._off_by_drawing(), self.after._off_by_drawing())

    @property
    def within_drawing(self) -> list[str]:
        """The measures whose means are no further apart than drawing alone may put them."""
        apart = (self.table.mean_after - self.table.mean_before).abs()
        return [
            name
            for name, off in self.drawing.items()
            if name in apart.index and NOTHING < apart[name] <= off
        ]

    @property
    def tied(self) -> tuple[str, ...]:
        """Of which measures policies are worth the same to the attacker, and which is told."""
        both = (self.before, self.after)
        higher = [m for m in self.table.index if any(m in r.taken for r in both)]
        untried = [m for m in self.table.index if any(m in r.untried for r in both)]
        told = [f"{', '.join(higher)}: the highest {OF_TIED}"] if higher else []
        return (*told, *([f"{', '.join(untried)}: {OF_ONE}"] if untried else []))

    @property
    def is_reduction(self) -> bool:
        """Whether what lies between them is done to the risk, and not learnt or assumed anew."""
        one, two = self.before.inputs, self.after.inputs
        return (one.attack, one.given, one.population_model, one.method) == (
            two.attack, two.given, two.population_model, two.method)  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        table = self.table.astype(object).where(self.table.notna(), None)
        return {
            "before": self.names[0],
            "after": self.names[1],
            "people": len(self.before),
            "differs": list(self.differs),
            "reduction_percent": table.to_dict(orient="index"),
            **({"drawing": self.drawing} if self.drawing else {}),
            **({"tied": list(self.tied)} if self.tied else {}),
        }

    def __str__(self) -> str:
        what = "reduction of the risk" if self.is_reduction else "how much lower the second is"
        first, second = self.names
        sides = f"{second} against {first}"
        if first == second:
            sides = f"the second against the first, both under {first}"
        lines = [
            f"{sides}, {counted(len(self.before), 'person')}: {what} in percent",
            *(f"  {text}" for text in self.differs),
            f"  {'':18}{'Q1':>8}{'median':>8}{'Q3':>8}   mean risk",
        ]

        def percent(value: float) -> str:
            if np.isnan(value):
                return f"{'-':>8}"  # nobody had a risk
            if value > _TIMES:
                return f"{value:8.2f}"
            times = 1 - value / 100
            return f"{f'x {times:,.0f}' if times < 10_000 else f'x {times:.0e}':>8}"

        if (self.table[["q1", "median", "q3"]] <= _TIMES).to_numpy().any():
            lines.insert(-1, "  (x 12: no reduction, 12 times as high)")
        for measure, row in self.table.iterrows():
            lines.append(
                f"  {measure!s:18}{percent(row.q1)}{percent(row['median'])}{percent(row.q3)}   "
                f"{tiny(row.mean_before)} -> {tiny(row.mean_after)}"
            )
        if self.within_drawing:
            lines.append(f"  {', '.join(self.within_drawing)}: {WITHIN_DRAWING}")
        return "\n".join([*lines, *(f"  {text}" for text in self.tied)])

    __repr__ = __str__


def _same_people(before: Inputs, after: Inputs) -> bool:
    """Whether two assessments asked about the same people in the same order."""
    asked = [
        inputs.people if inputs.individuals is None else inputs.people.take(inputs.individuals)
        for inputs in (before, after)
    ]
    return all(one.has_the_people_of(other) for one, other in (asked, asked[::-1]))


@typed
def compare_assessments(before: Assessment, after: Assessment) -> AssessmentsCompared:
    """Person by person, what the change did to every measure: `before` against `after`."""
    return AssessmentsCompared(assessed(before), assessed(after))
