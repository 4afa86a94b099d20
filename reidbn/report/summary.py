"""The summary of an assessment: the verdict, the measures, what drives them, the checks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reidbn.attack.scenariofile import told_name
from reidbn.attacks.linkage.columns import SparsePeople
from reidbn.attacks.routes.assessment import OVERALL, THRESHOLDS, Assessment
from reidbn.attacks.routes.drivers import drivers
from reidbn.attacks.routes.register import assumed
from reidbn.calls import typed
from reidbn.errors import ImpossibleEvidence, UsageError
from reidbn.inference.crosscheck import TOLERANCE, CrossCheck
from reidbn.microdata.table import People
from reidbn.release.counts import BASE, PART, STEP, told_number
from reidbn.report.assessment_sure import fit_status, how_sure_of
from reidbn.report.counting import OWN_COPY
from reidbn.report.page import numbers_of
from reidbn.report.telling import Telling
from reidbn.report.thresholds import Choice, Judged, RiskLimit, Rule, judge, rule
from reidbn.report.unseen import beside, holds_for, holds_only, holds_only_since
from reidbn.report.words import people, per_cent
from reidbn.result import highest_of, mean_of
from reidbn.written import counted, tiny

QUANTILES = (0.25, 0.5, 0.75, 0.95)
ADDED = "difference of probabilities"  # below 0 where an attacker decides otherwise
AS_WRITTEN = (
    "Rows count as alike for the rule where they are written alike: a missing or general value "
    "fits many people, but hides none of them from somebody who knows the person. The risks below, "
    "and k() and class sizes, count whoever may match: with everything known, the highest 1/class"
)


@dataclass(frozen=True, eq=False)
class Summary:
    """An assessment in a page of text; `to_dict` holds the same numbers.

    Exact: the custodian's own copy.  `told` is what may leave the house.
    """

    result: Assessment
    rule: Rule

    @property
    def threshold(self) -> RiskLimit:
        """The limit of the rule."""
        return self.rule.limit

    @cached_property
    def judged(self) -> Judged:
        """The people against the rule."""
        return judge(self.result, self.rule)

    @cached_property
    def other(self) -> Judged:
        """The rule that is not used: a footnote."""
        return judge(self.result, self.rule.other())

    @cached_property
    def measures(self) -> dict[str, dict[str, float]]:
        """Mean, quantiles and maximum over people of every measure."""
        exact = Telling(custodian=True)
        return {
            name: {"mean": float(m.value or 0.0)}
            | {key: ends[1] for key, ends in self._spread(name, exact).items()}
            for name, m in self.result.measures.items()
        }

    def _spread(self, name: str, telling: Telling) -> dict[str, tuple[float, float]]:
        """Both ends of the quantiles and of the maximum over people of a measure."""
        values = self.result.risk(name)
        return {
            **{f"q{100 * q:g}": telling.quantile_ends(values, q) for q in QUANTILES},
            telling.highest_key("max"): telling.highest_ends(values),
        }

    @property
    def passes(self) -> bool:
        """The rule is kept, and the cross-check found nothing wrong."""
        return self.judged.passes and not self.failure

    def told_passes(self, telling: Telling) -> bool | None:
        """The same as it is told; None where it is not."""
        return False if self.failure else self.judged.told_passes(telling)

    @cached_property
    def failure(self) -> str:
        """Why these numbers cannot be used: the cross-check disagrees.  Empty otherwise."""
        if not self.result.crosscheck.failed:
            return ""
        return (
            "THE CROSS-CHECK FAILED: an exact number disagrees with the attack acted out or with "
            "another engine. Do not use the numbers below; please report this as a fault of reidbn."
        )

    @cached_property
    def drivers(self) -> Any:
        """What each group adds; a sentence where that cannot be told."""
        try:
            return drivers(self.result)
        except ImpossibleEvidence as problem:
            return str(problem)

    @property
    def untold(self) -> str:
        """Why what each group adds is not told; empty where it is."""
        found = self.drivers if self.result.attack.groups else ""
        return found if isinstance(found, str) else ""

    @property
    def verdict(self) -> str:
        """One sentence, for the custodian; a small count is written out."""
        return self.told_verdict(Telling(custodian=True))

    def told_verdict(self, telling: Telling) -> str:
        said = self.failure or self.judged.sentence(telling)
        if not self.only or self.told_passes(telling) is False:
            return said
        return f"{said} This holds for {holds_only_since(self.result)}."

    def told_other(self, telling: Telling) -> str:
        """What the rule that is not used says."""
        said = self.other.sentence(telling)
        if not self.only or self.other.told_passes(telling) is False:
            return said
        return f"{said} This, too, is said of {self.only}."

    @property
    def only(self) -> str:
        """Which table alone a verdict is on, where its source has columns nobody looked at."""
        return holds_only(self.result)

    def told_risk(self, telling: Telling) -> str:
        """The risk of the attack, in one sentence; it is not what precedents are about."""
        inputs, risk = self.result.inputs, self.result.risk()
        posed = f", {self.result.posed}," if self.result.posed else ""
        against = (
            f"Against the attack {inputs.attack.name} under the scenario "
            f"{told_name(inputs.scenario)}{posed}"
        )
        highest = "" if telling.kept_back else f", {telling.all_but_a_few(risk)}"
        gone = ", ".join(inputs.unknown)
        beside = f" It takes as known to nobody: {gone}." if gone else ""
        return (
            f"{against} the average person's overall risk is "
            f"{telling.mean_in_words(risk)}{highest}; {self.stands_on}.{beside}"
        )

    @property
    def stands_on(self) -> str:
        """How many assumptions there are, in words."""
        return f"this stands on {self._behind(OVERALL)[0]}"

    def _behind(self, measure: str) -> tuple[str, tuple[str, ...]]:
        """How many assumptions a measure stands on, in words, and which; out of one register."""
        names, every = assumed(self.result, measure), len(self.assumptions)
        of = "" if len(names) == every else f" of the {every} of the register"
        return f"{counted(len(names), 'assumption')}{of}", names

    def to_dict(self) -> dict[str, Any]:
        """Every number, exactly: the custodian's own copy."""
        return self.told(Telling(custodian=True))

    def told(self, telling: Telling) -> dict[str, Any]:
        """Every number of the report, as it is told."""
        limit, result = self.rule.limit, self.result
        judged, by_rule = self.judged.values, self.judged.telling(telling)
        return {
            **numbers_of(result, telling=telling),
            "spread": {
                name: {
                    key: told_number(
                        ends[1]
                        if ends[0] == ends[1] or (key[0] != "q" and not telling.kept_back)
                        else None,
                        ends,
                        m.unit,
                    )
                    for key, ends in self._spread(name, telling).items()
                }
                for name, m in result.measures.items()
            },
            "verdict": self.told_verdict(telling),
            "passes": self.told_passes(telling),
            "holds_for": holds_for(self.result),
            "posed": result.posed or None,
            "release": self.rule.release,
            "rule": self.rule.asks,
            "threshold": {
                "name": limit.name,
                "value": limit.value,
                "measure": limit.measure,
                "k": limit.k or None,
                "source": limit.source,
                "is_own": limit.is_own,
            },
            "judged": {
                "people_beyond": telling.count_number(self.judged.told_beyond(telling)),
                "unique": telling.count_number(telling.alike(self.judged.sizes, 1)),
                "mean": by_rule.number(mean_of(judged, "")),
                telling.highest_key("highest"): by_rule.number(highest_of(judged, "")),
            },
            "other_rule": {
                "verdict": self.told_other(telling),
                "passes": self.other.told_passes(telling),
            },
            "notes_on_the_rule": list(self.notes_on_the_rule(telling)),
            "people": telling.count(len(result)),
            "people_left_out": told_left_out(result.table, telling) or None,
            "how_sure": how_sure_of(result, telling),
            "fits": fit_status(result, telling),
            "people_above": self._above(telling),
            "attributes": self._attributes(telling),
            **({"attributes_untold": why} if (why := self.untold or told_not(telling)) else {}),
            "assumptions": list(self.assumptions),
            "crosscheck": _crosscheck(result, telling),
        }

    def _above(self, telling: Telling) -> dict[str, dict[str, Any]]:
        limit = self.rule.limit
        levels = THRESHOLDS if self.rule.on_classes else sorted({*THRESHOLDS, limit.value})
        return {
            f"{t:g}": {m: telling.count_number(telling.above(self.result.risk(m), t))
                       for m in self.result.measures}
            for t in levels
        }  # fmt: skip

    def _attributes(self, telling: Telling) -> list[dict[str, Any]]:
        """What each adds; outwards at most, since parts of a whole told finer tell more of it."""
        found: list[dict[str, Any]] = []
        for label, values in () if telling.kept_back else self.contributions(telling):
            most = telling.rough(values)
            value = most if telling.custodian else None
            adds = told_number(value, (value, most), ADDED)
            found.append({"group": label, **adds, "method": self.drivers.method})
        return found

    def contributions(self, telling: Telling) -> list[tuple[str, Any]]:
        """What each group adds to everybody's risk, the largest mean first as it is told.

        Those told alike stand in the order of the attack: any other would tell which adds more.
        """
        if self.untold or not self.result.attack.groups:
            return []
        found = self.drivers
        each = found.by_subject[self.result.subject_table.of_person]
        parts = [(label, each[:, j]) for j, label in enumerate(found.labels)]
        return sorted(parts, key=lambda part: -(telling.rough(part[1]) or 0.0))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the risks stand on that somebody chose; the same count everywhere."""
        return assumed(self.result)

    def notes_on_the_rule(self, telling: Telling) -> tuple[str, ...]:
        """What a reader must know about how this rule was chosen and put to the table."""
        notes = (*self.rule.notes, *self._odds(), *self._settled(), *self._secrets())
        if self.result.inputs.people.is_partition:
            return notes
        counts = (self._may_match, self.judged.sizes)
        highest = [telling.of_classes.highest_in_words(1.0 / sizes) for sizes in counts]
        if highest[0] == highest[1]:
            return (*notes, f"{AS_WRITTEN} is {highest[0]} either way.")
        apart = "counted so; it is {}, where only rows that are written alike count."
        return (*notes, f"{AS_WRITTEN} is {highest[0]}, {apart.format(highest[1])}")

    def _odds(self) -> tuple[str, ...]:
        """The assumptions in the measure that a limit of the user's own is on."""
        measure = self.rule.limit.measure
        if self.rule.on_classes:
            return ()
        count, names = self._behind(measure)
        if not names:
            return ()
        odds = f"{count} ({', '.join(names)})"
        return (f"The {measure.replace('_', ' ')} risk stands on {odds}.",)

    def _secrets(self) -> tuple[str, ...]:
        """That a rule about identity says nothing of the columns that were named as secret."""
        table = self.result.table
        if not isinstance(table, People) or not table.sensitive:
            return ()
        return (
            f"The rule says nothing of what people alike give away of "
            f"{', '.join(table.sensitive)}: ask rb.disclosure, or reidbn disclosure, for the "
            f"custodian's own copy before a release; of the two reports one may leave.",
        )

    def _settled(self) -> tuple[str, ...]:
        """That an intervention names the very event whose chance is told."""
        names = [name.replace("_", " ") for name in self.result.settled()]
        if not names:
            return ()
        return (
            f"What is brought about is the very event of the {', '.join(names)} risk: that is a "
            f"number that was set, and says nothing about the attack or the table.",
        )

    @cached_property
    def _may_match(self) -> Any:
        """How many may match each person on all that is named."""
        return self.result.inputs.people.class_sizes()

    @property
    def notes(self) -> tuple[str, ...]:
        return self.result.notes

    def __str__(self) -> str:
        exact = Telling(custodian=True)
        lines = [self.verdict]
        if self.failure:
            lines += ["", *(f"  {line}" for line in str(self.result.crosscheck).splitlines())]
        lines += [f"  {note}" for note in (*self.notes_on_the_rule(exact), self.threshold.about)]
        other = self.told_other(exact)
        lines += ["", self.told_risk(exact), f"({other[:1].lower()}{other[1:]})"]
        lines += ["", f"  {'risk':18}{'mean':>13}{'median':>13}{'95 %':>13}{'max':>13}"]
        for name, found in self.measures.items():
            cells = "".join(f"{tiny(found[k]):>13}" for k in ("mean", "q50", "q95", "max"))
            lines.append(f"  {name:18}{cells}")
        lines += [f"  {line}" for line in self._sure_lines()]
        lines += ["", "  People above a level of the overall risk"]
        for t, row in self.result.above().iterrows():
            lines.append(f"  {t:6g}  {people(int(row[OVERALL]), len(self.result))}")
        lines += self._driver_lines() if self.result.attack.groups else []
        if self.assumptions:
            shown = ", ".join(self.assumptions)
            lines += ["", f"  Assumptions ({len(self.assumptions)}): {shown}"]
        lines += [f"  Note: {note}" for note in self.notes]
        checked = ("  " + line for line in str(self.result.crosscheck).splitlines())
        unseen = (f"  {said}" for said in beside(self.result).in_words)
        return "\n".join([*lines, "", *checked, "", f"  {OWN_COPY}", *unseen])

    def _driver_lines(self) -> list[str]:
        if self.untold:
            return ["", f"  {self.untold[:1].upper()}{self.untold[1:]}."]
        lines = ["", f"  What adds most to the mean risk ({self.drivers.method}):"]
        mean = max(self.measures[OVERALL]["mean"], 1e-300)
        for _, row in self.drivers.table().iterrows():
            share = per_cent(row.contribution / mean)
            lines.append(f"  {row.group:24}{row.contribution:10.4g}  ({share} of the mean)")
        return lines

    def _sure_lines(self) -> list[str]:
        """The journalist's numbers: how the fits stand, and the interval of the mean."""
        found = how_sure_of(self.result, Telling(custodian=True))
        lines = [
            f"{name}: 95 % interval of the mean {tiny(row['low'])} to {tiny(row['high'])}"
            for name, row in found.items()
        ]
        status = fit_status(self.result, Telling(custodian=True))
        return [*lines, *([f"estimate of the population: {status}"] if status else [])]

    __repr__ = __str__


def told_not(telling: Telling) -> str:
    """Why nothing that is made of the risks is told; empty where it is."""
    if not telling.kept_back:
        return ""
    return (
        f"{telling.kept_back}: it follows from no class, and a reader who knows every chance could "
        f"hold what is told of it against the classes. Of such risks the mean is told, in steps of "
        f"{STEP} / people, or of {PART} where that is more (of fewer than {STEP + BASE} people not "
        f"at all), and nothing else: not how many people are above a level, nor what each "
        f"attribute and each assumption adds. The custodian's own copy has it all"
    )


def left_out(people: People) -> int | None:
    """How many people suppress() left out of the table; None where they are known by weight only.

    A share of the people is told by the number that it was worked out from.
    """
    if people.weights is not None and people.share_kept < 1:
        return None
    return round(len(people) / people.share_kept) - len(people)


def told_left_out(people: People, telling: Telling) -> str:
    """Who was left out, in words; empty where nobody was."""
    if people.share_kept == 1:
        return ""
    gone = left_out(people)
    if gone is None:
        return f"about {1 - people.share_kept:.0%} of those for whom the people stood"
    return telling.of(gone, len(people) + gone)


def _crosscheck(result: Assessment, telling: Telling) -> dict[str, Any]:
    found = result.crosscheck.to_dict()
    if not telling.custodian:
        for name in ("cells", "decided"):  # hang on how large the risks are
            found.pop(name)
        found["passed"] = False if result.crosscheck.failed else None  # or too rare to tell
        found["subjects"] = telling.count(found["subjects"])
        found["status"] = told_check(result.crosscheck, telling)[0].partition(": ")[2]
        found["one_by_one"] = told_people(result.crosscheck)
        found["largest_difference"] = _told_gaps(result.crosscheck)
    return found


def _told_gaps(check: CrossCheck) -> dict[str, float]:
    """How far other engines are off, at most; which digits of rounding differ is the table's."""
    gaps = ((name.partition(" on ")[0], gap) for name, gap in check.references.items())
    return {name: max(gap, TOLERANCE) for name, gap in gaps}


def told_check(check: CrossCheck, telling: Telling) -> list[str]:
    """The cross-check line by line; outwards without the cells and subjects that were looked at.

    There are as many as people who differ, up to 30, so one person more would be one more; and what
    is too rare for a sample to tell is known by whoever knows the risks.
    """
    lines = [line.strip() for line in str(check).splitlines()]
    if telling.custodian:
        return lines
    compared = told_people(check)
    found = "something disagrees" if check.failed else "nothing disagrees"
    status = check.word if check.failed else found
    if compared != ALL and compared is not None and not check.failed:
        status += f"; {compared}"
    return [
        f"cross-check of {check.attack}: {status}",
        f"exact against {check.rows:,} sampled rows (seed {check.seed}): {found} "
        f"(false alarm in {check.level:g} of runs); what was too rare for them to tell is in the "
        f"custodian's own copy",
        *(
            f"exact against {name}: no difference above {gap:.2g}"
            for name, gap in _told_gaps(check).items()
        ),
        *([check.not_checked] if check.not_checked else []),
        *([compared] if compared else []),
    ]


ALL = "all people compared one by one"


def told_people(check: CrossCheck) -> str | None:
    """Whose numbers were computed a second time, without a count of people."""
    if check.compared is None:
        return None
    some = "some people, not all," if check.compared.people else "no people"
    return ALL if check.compared.is_all else f"{some} compared one by one"


@typed
def summarise(
    result: Assessment, threshold: Choice | None = None, release: str | None = None
) -> Summary:
    """The result in words and numbers by one rule, cross-checked; the custodian's own copy.

    A threshold is a precedent ("ema"), a limit of your own on 1/class (0.09), or one on a measure
    ({"overall": 0.09}); a release is "public" or "controlled".

    `result` is the assessment.
    """
    result.refuse_part("a verdict")
    if isinstance(result.inputs.people, SparsePeople):
        raise UsageError(
            "a summary judges by how many people are alike, which says nothing of a sparse table: "
            'read .subjects, .above() and .measures, or write .report("r.html")'
        )
    return Summary(result, rule(threshold, release))
