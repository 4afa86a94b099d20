"""Assessment: risk per person, what it was computed from, and the checks that it passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.attack.attack import Attack
from reidbn.attack.scenariofile import told_name
from reidbn.attacks.linkage.columns import rows_of
from reidbn.attacks.parquet import write_frames, write_joined
from reidbn.attacks.routes.arguments import probabilities_of, whole_number
from reidbn.attacks.routes.counts import SubsetClasses
from reidbn.attacks.routes.expected_match import COLUMN, match_column, match_question
from reidbn.attacks.routes.inputs import Inputs
from reidbn.attacks.routes.population import SubsetPopulation
from reidbn.attacks.routes.subject_data import SubjectTable
from reidbn.attacks.routes.summed import summed_people
from reidbn.calls import renamed, typed
from reidbn.errors import EngineError, UsageError, did_you_mean
from reidbn.inference.asked import Asked
from reidbn.inference.compared import WORK, Printed
from reidbn.inference.crosscheck import CrossCheck, crosscheck
from reidbn.inference.query import Query
from reidbn.inference.worst import OF_TIED
from reidbn.late import late
from reidbn.microdata.placing import Groups
from reidbn.microdata.subset_table import binomial_interval
from reidbn.microdata.table import People
from reidbn.microdata.tallied import TalliedPeople
from reidbn.result import WITH_CHANCES, Measure, Result, by_person, mean_of
from reidbn.theory.agreement import intervals, mean_of_shares_interval, probability_interval
from reidbn.written import agree, counted

if TYPE_CHECKING:
    import pandas as pd


Array = NDArray[np.float64]

# Thresholds on a probability of re-identification, by their precedents; not legal advice.
THRESHOLDS = (0.05, 0.09, 0.1, 0.2, 0.33)
OVERALL, MATCH = "overall", "journalist_match"


ROUNDING = 1e-9  # what sums of products may be off by
CHECKED = 1 << 26  # people x subsets up to which everybody can be checked
PERSONS_CHECKED = 1 << 22
FEWEST_CHECKED = 200
THOROUGH = 64 * WORK  # of a check that is asked for: about a minute


def _refuse_what_is_no_risk(measure: str, values: Array, subjects: int) -> None:
    """One number in 0..1 for every distinct subject, or no assessment."""
    if np.shape(values) != (subjects,):
        raise EngineError(
            f"{measure}: {np.shape(values)} risks for {subjects:,} distinct people; this is a "
            f"fault of reidbn, please report it"
        )
    wrong = int((~((values >= -ROUNDING) & (values <= 1 + ROUNDING))).sum())
    if wrong:
        raise EngineError(
            f"{measure}: the risk of {wrong:,} of {subjects:,} distinct people is no number "
            f"between 0 and 1; this is a fault of reidbn, please report it"
        )


@dataclass(frozen=True, eq=False)
class Assessment(Result):
    """Risk of every person under one attack and one scenario."""

    inputs: Inputs
    attack: Attack
    groups: Groups
    classes: SubsetClasses
    subject_table: SubjectTable
    population: SubsetPopulation | None
    questions: Mapping[str, Query]
    risks: Mapping[str, Array]
    """Per measure, one value per distinct subject; of policies that are worth the same to the
    attacker, that of the policy with the highest."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    taken: Mapping[str, Array] = field(default_factory=dict)
    """Of a measure that is higher under another policy, worth the same, that of the one taken."""
    untried: tuple[str, ...] = ()
    """Measures that may be higher under another: these were too many to try, or were acted out."""

    def __post_init__(self) -> None:
        for measure, values in self.risks.items():
            _refuse_what_is_no_risk(measure, values, self.subject_table.subjects)

    # -- per person ------------------------------------------------------------------------

    @property
    def table(self) -> People:
        """The people it was asked of."""
        return self.inputs.people

    @property
    def question(self) -> str:
        """The attack, the scenario and the event whose chance the overall risk is."""
        event = self.questions[OVERALL].describe()
        columns = dict.fromkeys(name for group in self.groups.columns for name in group)
        return self.inputs.question(event, [*columns])

    @property
    def asked(self) -> str:
        return self.inputs.in_order(self.questions[OVERALL].describe())

    def _on(self) -> dict[str, Any]:
        estimated = {} if self.population is None else {"estimated": True}
        counted = {} if self.table.one_by_one else {"counted": "as cells"}
        known = self.inputs.knowing(self.groups) | self.inputs.law(self.groups, of_each=False)
        return {**known, **estimated, **counted}

    def _known(self) -> dict[str, Any]:
        return self.inputs.law(self.groups, of_each=True)

    def _asked_exactly(self) -> tuple[Any, ...]:
        return self.inputs.facts_exactly

    def _settings(self) -> dict[str, Any]:
        bands = {f"{c} known in bands of": width for c, width in self.groups.bands.items()}
        return self.inputs.settings | bands

    @property
    def posed(self) -> str:
        """What was learnt, brought about or set beforehand, in words; empty without any."""
        asked = self.questions[OVERALL]
        done = " and ".join(f"{node}={state}" for node, state in asked.do.items())
        parts = [f"given that {' and '.join(asked.known)}"] if asked.given else []
        parts += [f"when {done} is brought about"] if done else []
        tied = [OF_TIED] if OVERALL in self.taken else []
        return ", ".join([*parts, *self.inputs.set_in_words, *tied])

    def settled(self) -> list[str]:
        """The measures whose very event an intervention names: they say nothing of the attack."""
        targets = {name: {*q.targets, *q.wanted} for name, q in self.questions.items()}
        return [name for name, nodes in targets.items() if nodes & {*self.questions[name].do}]

    @property
    def about(self) -> str:
        """The attack, and the event whose chance the overall risk is."""
        return f"{self.inputs.attack.name}, {self.event()}"

    @typed
    def event(self, measure: str = OVERALL) -> str:
        """What happens, whatever was learnt or brought about before.

        `measure` is one of the measures, such as "overall".
        """
        self.risk(measure)  # refuses one that is not there
        asked = self.questions[measure]
        return replace(asked, given={}, do={}).describe()

    @property
    def made_from(self) -> dict[str, Any]:
        """Its provenance, with what was said of each person and of the release."""
        return {**self.provenance, **self._made_with()}

    @property
    def _population_of(self) -> int | None:
        return self.inputs.population_of

    def _as_told(self, telling: Any) -> Assessment:
        told = self.inputs.as_told(telling)
        return self if told is self.inputs else replace(self, inputs=told)

    def _of_each(self) -> Mapping[str, Sequence[Any]]:
        found = self.inputs.scenario.each_of(self.inputs.people)
        for name, values in self.inputs.subject.items():
            found.setdefault(name, []).append(np.asarray(values))
        return found

    _intervals = late("reidbn.report.assessment_sure:intervals")

    def _asked_about(self) -> NDArray[np.int64] | None:
        return self.inputs.individuals

    def _people(self) -> pd.DataFrame:
        """One column per measure; of people counted as cells a row per cell."""
        if isinstance(self.table, TalliedPeople):
            return self._cells(self.table)
        data = {name: self.risk(name) for name in self.risks} | self._ends()
        return by_person(data, self.table, self.inputs.individuals)

    def _cells(self, people: TalliedPeople) -> pd.DataFrame:
        """The values of each cell, how many people it is, and the risk of each of them."""
        import pandas as pd

        of = self.subject_table.of_entry
        values = {
            name: people.labels(name)[people.cells.codes([name])[:, 0]] for name in people.columns
        }
        every = {**self.risks, **self._ends(each=False)}
        risks = {name: values[of] for name, values in every.items()}
        return pd.DataFrame({**values, "people": people.counts, **risks})

    def _measures(self) -> dict[str, Measure]:
        """The mean of every risk over people; of people drawn at random, with its interval."""
        drawn = self._off_by_drawing() if self.inputs.drawn else {}
        return {
            name: mean_of(
                self.risk(name),
                f"mean risk, {name.replace('_', ' ')}",
                per_person=True,
                interval=self._interval(name, drawn[name].off if name in drawn else 0.0),
            )
            for name in self.risks
        }

    def _interval(self, name: str, off: float) -> tuple[float, float] | None:
        """The 95 % interval of a mean: of people drawn at random, or of draws.

        The numbers of people drawn at random may be drawn themselves, their mean so far `off`.
        """
        if self.inputs.drawn:
            low, high = probability_interval(self.risk(name), len(self.table), level=0.95)
            return max(low - off, 0.0), min(high + off, 1.0)
        if not self.is_simulated or name not in self.questions:
            return None
        return mean_of_shares_interval(
            self.risks[name], self.subject_table.counts, self.inputs.draws
        )

    def _ends(self, *, each: bool = True) -> dict[str, Array]:
        """Of risks that were acted out the 95 % interval [ClopperPearson34] of each person's."""
        if not self.is_simulated:
            return {}
        of = self.subject_table.of_person if each else slice(None)
        found = {}
        for name in self.questions:
            hits = np.rint(self.risks[name] * self.inputs.draws).astype(np.int64)
            low, high = intervals(hits, self.inputs.draws)
            found[f"{name}_low"], found[f"{name}_high"] = low[of], high[of]
        return found

    def remarks(self) -> tuple[str, ...]:
        """Of the table, of what may be known, of wrong facts, and of the population."""
        fits = self.population.notes if self.population else ()
        said = (*self._of_wrong_facts(), *self._of_drawing())
        return (*self.table.notes, *self.groups.notes, *said, *fits)

    _of_wrong_facts = late("reidbn.attacks.linkage.plausible:remarks")
    _of_drawing = late("reidbn.attacks.routes.drawn:remarks")

    def _ids(self) -> NDArray[Any] | None:
        ids, rows = self.inputs.people.who, self.inputs.individuals
        return ids if rows is None else rows if ids is None else ids[rows]

    @property
    def is_part(self) -> bool:
        """Whether only some people of the table were asked about."""
        return self.inputs.individuals is not None

    def refuse_part(self, what: str) -> None:
        """Raise where only some people were asked about: nothing is known of the others.

        `what` is what was wanted of everybody.
        """
        self.refuse_simulated(what)
        if self.is_part:
            raise UsageError(
                f"{len(self):,} of {counted(len(self.inputs.people), 'person')} "
                f"{agree(len(self), 'was', 'were')} asked about, and {what} "
                "is about everybody: read .subjects and .shares_above(), or leave individuals= out"
            )

    @property
    def is_simulated(self) -> bool:
        """Whether the risks are shares of draws, and no sums."""
        return self.inputs.method == "simulation"

    def refuse_simulated(self, what: str) -> None:
        """Raise where the risks were acted out: of few draws whoever was never hit looks safe.

        `what` is what was wanted of the risks themselves.
        """
        if self.is_simulated:
            draws = counted(self.inputs.draws, "draw")
            raise UsageError(
                f"each of these risks is a share of {draws}, which people who are alike have "
                f'together, and {what} is about the risks themselves: assess with method="exact", '
                "or read .subjects and .measures, where each share has its 95 % interval",
                in_shell=f"each of these risks is a share of {draws}, which people who are alike "
                f"have together, and {what} is about the risks themselves: leave --method out",
            )

    @typed
    def shares_above(self, thresholds: Sequence[float] = THRESHOLDS) -> pd.DataFrame:
        """The share of people whose risk is above each threshold; of people drawn, its interval.

        The 95 % interval [ClopperPearson34] is for the share among all people of the table.

        `thresholds` are risks.
        """
        import pandas as pd

        self.refuse_simulated("how many are above a limit")
        thresholds = probabilities_of(thresholds, "thresholds")
        risk = self.risk()
        hits = np.array([int(is_above(risk, t).sum()) for t in thresholds])
        columns = {"people": hits, "share": hits / len(risk)}
        if self.is_part and self.inputs.drawn:
            columns["low"], columns["high"] = binomial_interval(hits, len(risk))
        return pd.DataFrame(columns, index=pd.Index(thresholds, name="threshold"))

    @typed
    def risk(self, measure: str = OVERALL) -> Array:
        """The measure of every person, in record order.

        Of policies that are worth the same to an attacker who decides, the highest.
        """
        if measure not in self.risks:
            raise UsageError(f'no measure "{measure}"; {did_you_mean(str(measure), self.risks)}')
        return self.risks[measure][self.subject_table.of_person]

    def __len__(self) -> int:
        return int(self.subject_table.counts.sum())

    @typed
    def above(self, thresholds: float | Sequence[float] = THRESHOLDS) -> pd.DataFrame:
        """How many people are above each threshold, by measure.

        `thresholds` is one risk or several.
        """
        import pandas as pd

        self.refuse_simulated("how many are above a limit")
        thresholds = probabilities_of(thresholds, "thresholds")
        counts = self.subject_table.counts
        rows = [
            {m: int(counts[is_above(v, t)].sum()) for m, v in self.risks.items()}
            for t in thresholds
        ]
        return pd.DataFrame(rows, index=pd.Index(thresholds, name="threshold"))

    @typed
    def most_at_risk(self, count: int = 10, measure: str = OVERALL) -> pd.DataFrame:
        """The people with the highest risk, with every measure; ties in record order.

        `count` is how many people, `measure` the risk they are sorted by.
        """
        if measure not in self.risks:
            self.risk(measure)  # refuses it
        order = np.argsort(-self.risks[measure][self.subject_table.of_entry], kind="stable")
        order = order[: whole_number(count, "count", least=1)]
        return self.subjects.iloc[order]

    summary = late("reidbn.report.summary:summarise")

    # -- checks ----------------------------------------------------------------------------

    @cached_property
    def crosscheck(self) -> CrossCheck:
        """The main question sampled and asked of pgmpy, and everybody's numbers computed again.

        Done when first asked for: a summary and a report always ask, and put a failure on top.
        Where people one by one would take long, some are compared, and the status says how many;
        `check` takes its time.
        """
        return self._checked()

    @renamed(rows="draws")
    @typed
    def keep_crosscheck(self, *, draws: int, seed: int = 0, subjects: int = 30) -> CrossCheck:
        """A cross-check of another size, kept for summaries and reports.

        So many `draws` from `seed` act the attack out; so many `subjects` are compared one by one.
        """
        self.__dict__["crosscheck"] = self._checked(draws=draws, seed=seed, subjects=subjects)
        return self.crosscheck

    @renamed(rows="draws")
    @typed
    def check(self, *, draws: int = 1_000_000, seed: int = 0, subjects: int = 30) -> CrossCheck:
        """A cross-check of any size, of the very risks that this assessment holds; raises.

        More people are compared one by one than in the check that a summary makes.

        So many `draws` from `seed` act the attack out; so many `subjects` are compared one by one,
        more than in the check that a summary makes.
        """
        found = self._checked(draws=draws, seed=seed, subjects=subjects, work=THOROUGH)
        return found.raise_on_failure()

    def _checked(
        self, *, draws: int = 1_000_000, seed: int = 0, subjects: int = 30, work: int = WORK
    ) -> CrossCheck:
        query = self.questions[OVERALL]
        exact = self.inputs.method == "exact"
        whole_number(subjects, "subjects", least=1)
        seed = whole_number(seed, "seed", least=0)
        who, columns, people = self._to_check(seed)
        check = crosscheck(
            self.attack,
            query.wanted,
            do=query.do,
            given=query.given,
            set=self.inputs.set,
            subject=columns,
            draws=whole_number(draws, "draws", least=1),
            seed=seed,
            subjects=subjects,
            printed=self._acted[OVERALL][who] if exact else None,
            **self._shown(who, columns),
            work=work,
            beyond_range=self.inputs.beyond_range,
            people=people,
            must_agree=False,
        )
        if self.taken:
            check = replace(check, not_checked=f"{check.not_checked}; risks are compared under the "
                            f"policy taken, and not where another is as good and they are higher "
                            f"({', '.join(self.taken)})")  # fmt: skip
        if check.compared is None or isinstance(who, slice):
            return check
        told = check.compared  # who is like somebody compared is compared, too
        if told.people == len(people):
            told = replace(told, people=int(self.subject_table.counts[who].sum()))
        return replace(check, compared=replace(told, of=len(self)))

    @property
    def _acted(self) -> Mapping[str, Array]:
        """The risks under the attacker's policy as he takes it, which every engine is given."""
        return {**self.risks, **self.taken}

    def _shown(self, who: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Every measure of those who are checked, and the attack in which each is a question."""
        trials = 0 if self.inputs.method == "exact" else self.inputs.draws
        acted = self._acted
        shown = {m: Printed(q, acted[m][who], trials) for m, q in self.questions.items()}
        if MATCH not in self.risks or self.population is None:
            return {"shown": shown}
        attack, query = match_question(self.attack, self.questions[OVERALL].do)
        match: Any = match_column(self.attack, self.population, self.subject_table, who)
        shown[MATCH] = Printed(query, self.risks[MATCH][who])
        return {
            "shown": {m: shown[m] for m in self.risks},
            "shown_in": (attack, {**columns, COLUMN: match if len(match) > 1 else match[:]}),
        }

    def _to_check(self, seed: int) -> tuple[Any, Mapping[str, Any], NDArray[np.intp]]:
        """The distinct people who are checked, their columns, and which of them each person is.

        Everybody, or where that is a large table people drawn from it, with the highest and the
        lowest risks.
        """
        table = self.subject_table
        few = self.classes.rows * self.classes.subsets <= CHECKED
        if table.some is None or (few and len(self) <= PERSONS_CHECKED):
            return slice(None), table.columns, table.of_person
        count = max(FEWEST_CHECKED, min(PERSONS_CHECKED, CHECKED // (8 * self.classes.subsets)))
        rng, total = np.random.default_rng(seed), len(self)
        place = rng.choice(total, min(count, total), replace=False)
        ends = np.cumsum(np.ones_like(table.of_entry) if table.people is None else table.people)
        drawn = table.of_entry[np.searchsorted(ends, place, side="right")]
        order = np.argsort(self.risks[OVERALL], kind="stable")
        who, people = np.unique(
            np.concatenate((drawn, order[:10], order[-10:])), return_inverse=True
        )
        return who, table.some(who), people

    # -- what-if ---------------------------------------------------------------------------

    @typed
    def whatif_case(self, measure: str = OVERALL) -> Asked:
        """The question that sweep, tornado, solve and uncertainty vary; people alike are one.

        `measure` is the one whose risk is varied, such as "overall".
        """
        self.refuse_simulated("a what-if by sums")
        return self._case(measure)

    def _case(self, measure: str = OVERALL) -> Asked:
        self.risk(measure)  # refuses one that is not there
        ids = self._ids()
        return Asked(
            self.attack,
            self.questions[measure],
            dict(self.inputs.set),
            self.subject_table.columns,
            labels=None if ids is None else ids.tolist(),
            people=self.subject_table.of_person,
            cells=(self.subject_table.of_entry, self.table.counts)
            if isinstance(self.table, TalliedPeople)
            else None,
            beyond_range=self.inputs.beyond_range,
            many=summed_people(self.classes, self.population, self.subject_table),
            laid=self.inputs.learnt,
            silent=self.inputs.attack.settable.keys() - self.attack.settable.keys(),
        )

    uncertainty = late("reidbn.whatif.uncertainty:uncertainty")
    population_uncertainty = late("reidbn.attacks.routes.readings:population_uncertainty")
    compare_with = late("reidbn.attacks.routes.changes:compare_assessments")
    _off_by_drawing = late("reidbn.attacks.routes.drawn:off_by_drawing")
    _at_most_off = late("reidbn.attacks.routes.drawn:at_most_off")

    # -- views (the rooms above) -----------------------------------------------------------

    _sheet = late("reidbn.report.assessment_report:report")
    _beside = late("reidbn.plans.beside:best_beside")
    _numbers = late("reidbn.report.assessment_report:numbers")
    _sections = late("reidbn.report.assessment_report:sections")

    def refuse_what_is_wrong(self) -> None:
        """Raise where the cross-check fails."""
        self.crosscheck.raise_on_failure()

    @property
    def known_classes(self) -> NDArray[np.int64] | None:
        """Of everybody the size of the class by what is known; None where it is not sure."""
        if not isinstance(self.table, People) or not self.groups.is_sure:
            return None
        return self.groups.seen(rows_of(self.table).as_written()).class_sizes(self._all_known)

    _enclosed = late("reidbn.attacks.routes.enclosed:enclosed")

    @property
    def _hangs_on_more(self) -> str:
        """Why risks are no matter of one class of a person; empty where they are."""
        if self.known_classes is None:
            return WITH_CHANCES
        if self.inputs.learnt:
            return "Something is given, and a risk then hangs on how likely that is of each person"
        if self.inputs.subject:
            return "Columns of the call's own tell people of one class apart"
        return ""

    @property
    def _all_known(self) -> Sequence[str]:
        """The columns of all groups, or of which these are made."""
        return self.groups.columns_in((1 << len(self.groups.placed)) - 1)

    @property
    def sure_columns(self) -> tuple[str, ...] | None:
        """The quasi-identifiers, where all are known of everybody for sure."""
        if not isinstance(self.table, People) or not self.groups.is_sure or self.is_part:
            return None
        known, rows = self._all_known, rows_of(self.table)
        whole = {*known} == {*rows.quasi_identifiers} and not self.groups.bands
        return tuple(known) if whole and rows.is_partition else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out of what may be known, and what the population model stands on."""
        return (*self.groups.notes, *(self.population.notes if self.population else ()))

    page = late("reidbn.page.sheet:page_of_people")
    to_html = late("reidbn.report.assessment_report:write_html")
    to_markdown = late("reidbn.report.assessment_report:write_markdown")
    to_json = late("reidbn.report.assessment_report:write_json")

    @typed
    def to_parquet(self, path: Any, *, source: Any = None) -> Path:
        """Write the risks of every person, keyed by the subject's id; restricted.

        Of people counted as cells a row per cell; with the Parquet files they were counted from as
        `source` every row of these, with the risks of its person; files that hold other rows than
        were counted are refused.

        `path` is the Parquet file.
        """
        if source is not None:
            if not isinstance(self.table, TalliedPeople):
                raise UsageError("source= is for people counted as cells; these have a row each")
            names = self.table.columns
            return write_joined(path, self._cells(self.table), source, names, people="people")
        if isinstance(self.table, TalliedPeople):
            return write_frames(path, [self._cells(self.table)])
        return write_frames(path, [self.subjects.reset_index(names="subject")])

    to_restricted = late("reidbn.attacks.routes.readings:write_restricted")
    drivers = late("reidbn.attacks.routes.drivers:drivers")
    explain = late("reidbn.attacks.routes.explained:explain")
    to_explained = late("reidbn.attacks.routes.explained:write_explained")

    def __repr__(self) -> str:
        values = self.risks[OVERALL]
        mean = np.average(values, weights=self.subject_table.counts)
        drawn = ", drawn at random" if self.inputs.drawn else ""
        part = f" (of {len(self.inputs.people):,}{drawn})" if self.is_part else ""
        acted = f", acted out {self.inputs.draws:,} times each" if self.is_simulated else ""
        return (
            f"<Assessment {self.attack.name} under {told_name(self.inputs.scenario)}: "
            f"{counted(len(self), 'person')}{part}, {OVERALL} mean {mean:.4g}, "
            f"highest {values.max():.4g}{acted}>"
        )
