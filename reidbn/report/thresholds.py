"""Thresholds: precedents on the number of people alike, a user's own limits, and rules of release.

A precedent is about classes: the attacker knows everything that is named and tries for certain.  It
says how many must be alike, k, or how high 1/class may be, and it is one of two rules,

    public       every class holds at least k people (the largest 1/class)
    controlled   the mean of 1/class is at most the limit, and nobody is unique (strict average)

A limit on another measure, such as the overall risk of an attack, which holds the odds that its
author assumed, is nobody's precedent: the user sets it, and it is called the user's own.

The verdict of an assessment by one rule, and what would flip it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above, refuse_no_limit
from reidbn.attacks.routes.assessment import OVERALL, Array, Assessment
from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.inference.cut import SHOWN
from reidbn.inference.worst import OF_ONE, OF_TIED, worst_answers
from reidbn.microdata.table import People
from reidbn.release.counts import Tens, down
from reidbn.release.proof import mean_keeps
from reidbn.report.assessment_sure import BY_ESTIMATE, highest_of_estimate
from reidbn.report.counting import NOT_TOLD
from reidbn.report.telling import Telling
from reidbn.written import agree, read_exact

NOT_LEGAL_ADVICE = "A precedent, not legal advice."
NO_PRECEDENT = "Your own number: no precedent, and no legal advice."
PUBLIC, CONTROLLED = "public", "controlled"
RELEASES = (PUBLIC, CONTROLLED)
CLASSES = "1/class"  # the measure of every precedent
OWN = "your own limit"
KEPT_BACK = (
    "Whether {} does not follow from the counts that leave the house, and would tell more than "
    "they do; the custodian's own copy says it."
)
LISTED = "reidbn thresholds says for which release each is, and what it asks"


@dataclass(frozen=True)
class RiskLimit:
    """A limit: what it is about, its value, for whom, and where that is written."""

    name: str
    value: float
    recipient: str
    source: str
    k: int = 0
    """So many alike; 0 where the limit is not about classes."""
    release: str = ""
    """The release it was written for; empty: either."""
    measure: str = CLASSES
    is_own: bool = False
    has_number: bool = False
    """A number was published, and not only how many are to be alike."""

    @property
    def as_risk(self) -> float:
        """What it is as a limit on a chance: the published number, else one in k."""
        return self.value if self.has_number or not self.k else 1 / self.k

    @property
    def about(self) -> str:
        """Where it comes from, in one or two sentences."""
        if self.is_own:
            return f"{self.value:g} was {self.source}. {NO_PRECEDENT}"
        return f"{self.name} ({self.recipient}): {self.source}. {NOT_LEGAL_ADVICE}"

    @property
    def asks(self) -> str:
        """What it asks for, in words, of the release it is for; of either, a public one."""
        return Rule(self.release or PUBLIC, self, named=True).asks

    @property
    def mean_limit(self) -> float:
        """What the mean may be: the printed value, of which 1/k is the exact one."""
        return max(self.value, 1 / self.k) if self.k and not self.is_own else self.value


PRESETS: dict[str, RiskLimit] = {
    t.name: t
    for t in (
        RiskLimit(
            "ema", 0.09, "public release of clinical reports (European Union)",
            "EMA Policy 0070 external guidance: 0.09 recommended in most cases", 11, PUBLIC,
            has_number=True,
        ),
        RiskLimit(
            "health-canada", 0.09, "public release of clinical information (Canada)",
            "Health Canada, Public Release of Clinical Information: 0.09 recommended in most cases",
            11, PUBLIC, has_number=True,
        ),
        RiskLimit(
            "ontario-low", 0.09, "low invasion of privacy (Ontario)",
            "Ontario IPC de-identification guidelines, October 2025: groups of 11 or more", 11,
        ),
        RiskLimit(
            "ontario-medium", 0.075, "medium invasion of privacy (Ontario)",
            "Ontario IPC de-identification guidelines, October 2025: groups of 15 or more", 15,
        ),
        RiskLimit(
            "ontario-high", 0.05, "high invasion of privacy (Ontario)",
            "Ontario IPC de-identification guidelines, October 2025: groups of 20 or more", 20,
        ),
        RiskLimit(
            "cell-20", 0.05, "public patient data (Canada, United States)",
            "cell-size precedents collected by El Emam: 20 in a cell, which is 0.05", 20, PUBLIC,
        ),
        RiskLimit(
            "cell-11", 0.09, "public data (United States)",
            "cell-size precedents collected by El Emam: 11 in a cell, which is 0.09", 11, PUBLIC,
        ),
        RiskLimit("k-10", 0.1, "no release in particular", "arithmetic: 1/10", 10),
        RiskLimit(
            "cell-5", 0.2, "controlled release",
            "cell-size precedents collected by El Emam: 5 in a cell, which is 0.2", 5, CONTROLLED,
        ),
        RiskLimit(
            "cell-3", 0.33, "trusted recipient under agreement",
            "cell-size precedents collected by El Emam: 3 in a cell, which is 0.33", 3, CONTROLLED,
        ),
    )
}  # fmt: skip
BY_RELEASE = {PUBLIC: "ema", CONTROLLED: "cell-5"}  # where no threshold is named

Choice = str | float | Mapping[str, float]


def threshold(choice: Choice) -> RiskLimit:
    """A preset by name, or a limit of the user's own: on 1/class, or on a measure that is named.

    >>> threshold("ema").k, threshold("EMA") == threshold("ema")
    (11, True)
    >>> threshold(0.09).k                    # 1/11 is above 0.09
    12
    >>> own = threshold({"overall": 0.09})   # the same as "overall=0.09"
    >>> own.measure, own.value, own.k
    ('overall', 0.09, 0)
    """
    if isinstance(choice, Mapping):
        if len(choice) != 1:
            raise UsageError(f"name one measure with its limit, not {len(choice)}")
        measure, limit = next(iter(choice.items()))
        return _own(limit, str(measure))
    if isinstance(choice, str):
        name = choice.strip().lower()
        if name in PRESETS:
            return PRESETS[name]
        measure, equals, value = (part.strip() for part in choice.partition("="))
        if equals:
            return _own(value, measure)
        if name[:1].isalpha():
            hint = did_you_mean(name, PRESETS)
            raise UsageError(f'no threshold "{choice}"; {hint} ({LISTED})')
    return _own(choice, CLASSES)


DIGITS = Fraction(1, 10**12)  # 1/3 as a float is a little under it, and asks for no fourth person
ALMOST = 0.985  # of 1/k: 0.33 and 0.0909 are written where 1/3 and 1/11 are meant


def _own(given: object, measure: str) -> RiskLimit:
    """A limit that the user sets."""
    exact = read_exact(str(given), "threshold")
    value = float(exact)
    refuse_no_limit(value or -1.0, f"a threshold of {value:g}")  # 1/class is never 0
    k = ceil(1 / exact * (1 - DIGITS)) if measure == CLASSES else 0
    near = _beside(value, k)
    asks = "asks" if len(near) == 1 else "ask"
    names = ", ".join(t.name for t in near)
    hint = f"; {names} {asks} for {near[0].k} alike" if near else ""
    source = f"given by the user{hint}"
    return RiskLimit(f"{value:g}", value, OWN, source, k, measure=measure, is_own=True)


def _beside(value: float, k: int) -> list[RiskLimit]:
    """Precedents that print this very limit, or the like, and ask for another number alike."""
    if not k:
        return []
    near = [t for t in PRESETS.values() if t.k != k and t.value == value]
    return near or [t for t in PRESETS.values() if t.k == k - 1 and value * t.k > ALMOST]


@dataclass(frozen=True)
class Rule:
    """What one report judges by: a kind of release and a limit."""

    release: str
    limit: RiskLimit
    named: bool
    """The user named the limit or the release; otherwise both were chosen for them."""

    @property
    def is_public(self) -> bool:
        return self.release == PUBLIC

    @property
    def on_classes(self) -> bool:
        return self.limit.measure == CLASSES

    @property
    def asks(self) -> str:
        """What the rule asks for, in words."""
        limit = self.limit
        if not self.on_classes:
            what = f"the {limit.measure.replace('_', ' ')} risk"
            if self.is_public:
                return f"{what} of everybody is at most {limit.value:g}"
            return f"the mean of {what} is at most {limit.value:g}, and nobody is unique"
        if self.is_public:
            return f"at least {limit.k} people are alike in every class"
        return f"the mean of 1/class is at most {limit.mean_limit:.3g}, and nobody is unique"

    @property
    def targets(self) -> list[Any]:
        """What the rule asks for, as rb.recommend takes it; the verdict asks for the same."""
        limit = self.limit
        if not self.is_public:
            return [{limit.measure: f"mean <= {limit.mean_limit!r}"}, "k=2"]
        return [f"k={limit.k}"] if self.on_classes else [{limit.measure: limit.value}]

    @property
    def beyond(self) -> str:
        """What is counted person by person: those who do not keep the limit."""
        if not self.is_public:
            return "people who are unique"
        if self.on_classes:
            return f"people with fewer than {self.limit.k} alike"
        return f"people above {self.limit.value:g}"

    @property
    def title(self) -> str:
        """The rule in a few words: for which release, by whose limit."""
        whose = f"{OWN} of {self.limit.value:g}" if self.limit.is_own else self.limit.name
        return f"a {self.release} release by {whose}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know about the choice of this rule."""
        limit, found = self.limit, []
        if not self.named:
            found.append(
                f"No release and no threshold were named: this is judged as {self.title}. Name "
                f"them (release public or controlled, a threshold) if it is another; {LISTED}."
            )
        if limit.release and limit.release != self.release:
            found.append(
                f"{limit.name} was written for a {limit.release} release ({limit.recipient}); here "
                f"its number is put to a {self.release} one."
            )
        if not self.on_classes:
            found.append(
                f"The limit is on the {limit.measure.replace('_', ' ')} risk under this scenario; "
                f"no precedent is about that. What precedents ask for stands in the section on the "
                f"threshold."
            )
        return tuple(found)

    def other(self) -> Rule:
        """The rule that this report does not use: a footnote."""
        release = CONTROLLED if self.is_public else PUBLIC
        if not self.on_classes:  # what the precedent for this release asks for
            return Rule(self.release, PRESETS[BY_RELEASE[self.release]], self.named)
        if self.limit.release:
            return Rule(release, PRESETS[BY_RELEASE[release]], self.named)
        return replace(self, release=release)


def rule(choice: Choice | None = None, release: str | None = None) -> Rule:
    """The rule for a release and a threshold; what is not named follows from the other.

    >>> rule().title, rule("cell-5").release, rule(release="controlled").limit.name
    ('a public release by ema', 'controlled', 'cell-5')
    """
    release = release.strip().lower() if isinstance(release, str) else release
    if release is not None and release not in RELEASES:
        hint = did_you_mean(str(release), RELEASES)
        raise UsageError(f'no release "{release}"; {hint}')
    named = choice is not None or release is not None
    if choice is None:
        release = release or PUBLIC
        return Rule(release, PRESETS[BY_RELEASE[release]], named)
    limit = threshold(choice)
    return Rule(release or limit.release or PUBLIC, limit, named)


# -- the verdict of an assessment by one rule, and what would flip it ------------------------------


@dataclass(frozen=True, eq=False)
class Judged:
    """The people of a table against a rule: each one's class and, if it is about one, risk."""

    rule: Rule
    sizes: NDArray[np.int64]
    """How many are written as each person is on all that is named, the person included."""
    risk: Array | None
    """The measure of the rule, where it is not about classes."""
    posed: str = ""
    """What was learnt, brought about or set before that measure was asked for."""
    highest: Array | None = None
    """The same at the upper end of the estimate of the population, where it stands on one."""

    @property
    def values(self) -> Array:
        """What the rule is about, of every person."""
        return 1.0 / self.sizes if self.risk is None else self.risk

    @property
    def unique(self) -> int:
        """People who are alone on what is named."""
        return int((self.sizes == 1).sum())

    @property
    def beyond(self) -> NDArray[np.bool_]:
        """Who does not keep the limit as a person (of a controlled release: who is unique)."""
        limit = self.rule.limit
        if not self.rule.is_public:
            return np.asarray(self.sizes == 1)
        if self.risk is None:
            return np.asarray(self.sizes < limit.k)
        return np.asarray(is_above(self.risk, limit.value))

    @property
    def passes(self) -> bool:
        """The limit is kept, and at the upper end of what is estimated, too."""
        return self.told_passes(Telling(custodian=True)) is True

    @property
    def keeps(self) -> bool:
        """The limit is kept by the numbers, an estimate among them."""
        if self.rule.is_public:
            return not self.beyond.any()
        above = is_above(float(self.values.mean()), self.rule.limit.mean_limit)
        return not above and not self.unique

    def told_passes(self, telling: Telling) -> bool | None:
        """The verdict as it is told; None where it is not, or where an estimate leaves it open."""
        return None if self.is_open(telling) else self.told_keeps(telling)

    def is_open(self, telling: Telling) -> bool:
        """The limit is kept by the estimate of the population, but not surely at its upper end."""
        if self.highest is None or not self.told_keeps(telling):
            return False
        return replace(self, risk=self.highest).told_keeps(telling) is not True

    def told_keeps(self, telling: Telling) -> bool | None:
        """Whether the limit is kept; None where it is not told: it would say more than the counts.

        Whether a mean keeps a limit says how many classes there are at most.  Outwards that is said
        where it follows from what is told of them anyhow; what is left is whether one is unique.
        Whether anybody's risk is above one is said as far as it follows from the classes.
        """
        if telling.custodian:
            return self.keeps
        if self.rule.is_public and self.risk is not None:
            beyond = telling.ladder(self.risk).anybody(self.rule.limit.value)
            return None if beyond is None else not beyond
        if self.rule.is_public or self.mean_keeps(telling):
            return self.keeps
        fails = self.mean_keeps(telling) is False or telling.by_size(self.sizes).at(1).low
        return False if fails else None

    def mean_keeps(self, telling: Telling) -> bool | None:
        """Whether the mean keeps the limit in all tables of which the same is told, or in none."""
        limit = self.rule.limit.mean_limit
        if self.risk is None:
            classes = (c for c in telling.classes if np.array_equal(c.sizes, self.sizes))
            return next((mean_keeps(c, limit) for c in classes), None)
        low, high = self.telling(telling).mean_ends(self.risk) or (0.0, np.inf)
        return False if is_above(low, limit) else None if is_above(high, limit) else True

    def word(self, telling: Telling) -> str:
        """The verdict in a table."""
        if self.is_open(telling):
            return "passes by its estimate alone"
        told = self.told_passes(telling)
        return NOT_TOLD if told is None else "passes" if told else "does not pass"

    def told_alike(self, telling: Telling) -> list[tuple[int, bool]]:
        """The largest classes of which the verdict says that somebody, or nobody, is in one."""
        if not self.rule.is_public:
            return [(1 if self.mean_keeps(telling) else 0, self.keeps)]
        if self.risk is None:
            return [(self.rule.limit.k - 1, self.keeps)]
        ends, level = telling.ladder(self.risk).ends, self.rule.limit.value
        return [(one.last_above(level), not is_above(one.values, level).any()) for one in ends]

    def telling(self, telling: Telling) -> Telling:
        """How its values are told: a rule on classes is about these, whatever is known."""
        return telling.of_classes if self.risk is None else telling

    def told_beyond(self, telling: Telling) -> int | Tens:
        """How many do not keep the limit as a person, as it is told."""
        limit = self.rule.limit
        if not telling.custodian and self.told_keeps(telling):
            return Tens(0, 0)  # as the verdict says
        if self.rule.is_public and self.risk is not None:
            return telling.above(self.risk, limit.value)
        return telling.alike(self.sizes, limit.k - 1 if self.rule.is_public else 1)

    def hangs_on(self, telling: Telling) -> str:
        """The number that the verdict hangs on, for a table of changes."""
        people = telling.of(self.told_beyond(telling), len(self.sizes))
        if self.rule.is_public:
            return people
        return f"mean {self.telling(telling).mean_in_words(self.values)}; unique: {people}"

    def sentence(self, telling: Telling) -> str:
        """The verdict in one sentence."""
        rule, total, told = self.rule, len(self.sizes), self.told_keeps(telling)
        said = {True: "Passes", False: "Does not pass", None: "It is not told whether this passes"}
        if self.is_open(telling):
            said[True] = "By an estimate alone this passes"
        posed = f", {self.posed}" if self.posed else ""
        of = "everybody's risk keeps the limit" if rule.is_public else "the mean keeps the limit"
        end = f". {KEPT_BACK.format(of)}" if told is None else "."
        end += f" That is {BY_ESTIMATE}." if self.is_open(telling) else ""
        return f"{said[told]} the rule for {rule.title}{posed}: {self._found(telling, total)}{end}"

    def _found(self, telling: Telling, total: int) -> str:
        rule, limit = self.rule, self.rule.limit
        count = int(self.beyond.sum())
        people = telling.of(self.told_beyond(telling), total)
        count = count if telling.custodian else 0  # outwards no verb tells that it is one
        is_ = agree(count, "is", "are")
        if not rule.is_public:
            what = "1/class" if rule.on_classes else f"the {_name(limit.measure)} risk"
            mean = self.telling(telling).mean_in_words(self.values)
            nobody = self.told_keeps(telling) or (telling.custodian and not self.unique)
            alone = "nobody is unique" if nobody else f"{people} {is_} unique"
            found = f"the mean of {what} is {mean}"
            return f"{found}, where at most {limit.mean_limit:.3g} is asked for; {alone}"
        if rule.on_classes:
            if self.passes:
                exact = f"; the smallest class has {self.sizes.min():,}"
                return (
                    f"everybody is alike on every quasi-identifier with at least {limit.k} "
                    f"people, themselves included{exact if telling.custodian else ''}"
                )
            smallest = f"; the smallest class has {self.sizes.min():,}"
            return (
                f"{people} {is_} alike on every quasi-identifier with fewer than {limit.k}, "
                f"themselves included{smallest if telling.custodian else ''}"
            )
        highest = telling.highest_in_words(self.values)
        who = "nobody is" if self.told_keeps(telling) else f"{people} {is_}"
        return (
            f"{who} above {limit.value:g} ({_name(limit.measure)} risk); the highest is {highest}"
        )


def _name(measure: str) -> str:
    return measure.replace("_", " ")


def written_alike(people: People, columns: Sequence[str] | None = None) -> NDArray[np.int64]:
    """How many rows of the table are written as each person's is, the person's included.

    A row with a missing or general value may be many people's, and what the person is like is known
    to an attacker: only rows that are written alike surely fit whatever is known of one of them.
    """
    return people.as_written().class_sizes(columns)


def cut_off(result: Assessment, measure: str = OVERALL) -> float:
    """How much of a risk may lie beyond the states of what it stands on, at most."""
    if measure not in result.questions:  # counted in the table: no node is asked
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is said beside the assessment
        return float(result.whatif_case(measure).cut_off({}).max())


def worst_risk(result: Assessment, measure: str = OVERALL) -> tuple[Array, str]:
    """Everybody's risk as a verdict takes it, of tied policies the highest; and what to say."""
    risk = result.risk(measure)
    if measure in result.untried:
        worst_answers(result.whatif_case(measure))  # refuses
    return risk, OF_TIED if measure in result.taken else ""


def risk_told(result: Assessment, measure: str = OVERALL) -> tuple[Array, str]:
    """Everybody's risk beside a verdict, of tied policies the highest; and what to say of it."""
    try:
        risk, tied = worst_risk(result, measure)
    except (UsageError, TooLarge):  # of a measure that no verdict is about
        said = f"{measure} is {OF_ONE}"
        return result.risk(measure), said
    return risk, f"what is told of risks is the highest {OF_TIED}" if tied else ""


def judge(result: Assessment, rule: Rule) -> Judged:
    """An assessment by a rule."""
    result.refuse_simulated("a verdict")
    risk, tied = None, ""
    if not rule.on_classes:
        if rule.limit.measure not in result.measures:
            hint = did_you_mean(rule.limit.measure, result.measures)
            raise UsageError(f'no measure "{rule.limit.measure}" to set a limit on; {hint}')
        risk, tied = worst_risk(result, rule.limit.measure)
    posed = "" if rule.on_classes else result.posed
    cut = 0.0 if risk is None else cut_off(result, rule.limit.measure)
    if risk is not None and cut > SHOWN:  # what lies beyond a node's states may be a hit
        risk = np.minimum(risk + cut, 1.0)
        most = f"with what is cut off of the states (at most {cut:.2g})"
        posed = f"{posed}, {most}" if posed else most
    if tied not in posed:
        posed = f"{posed}, {tied}" if posed else tied
    highest = None if risk is None else highest_of_estimate(result, rule.limit.measure)
    if risk is not None and highest is not None:
        highest = np.maximum(risk, np.minimum(highest + (cut if cut > SHOWN else 0.0), 1.0))
    return Judged(rule, written_alike(result.inputs.people), risk, posed, highest)


# -- what flips it ---------------------------------------------------------------------------------

MOST_COLUMNS = 12  # changes are looked at column by column


@dataclass(frozen=True, eq=False)
class TableChange:
    """A change of the table, and the verdict after it."""

    what: str
    after: Judged


def changes(people: People, rule: Rule) -> Iterator[TableChange]:
    """One change of the table at a time: a column left out, or one level coarser."""
    names = people.quasi_identifiers
    for name in names[:MOST_COLUMNS]:
        rest = [n for n in names if n != name]
        ladder = people.column(name).hierarchy
        if ladder is not None and people.column(name).level < ladder.levels - 1:
            level = people.column(name).level + 1
            coarser = people.generalise({name: level})
            yield TableChange(
                f"{name} at level {level}", Judged(rule, written_alike(coarser), None)
            )
        if rest:
            yield TableChange(f"without {name}", Judged(rule, written_alike(people, rest), None))


def tells_changes(telling: Telling, people: People, rule: Rule) -> bool:
    """Whether the verdicts of changed tables are told: not where one alone tells of how many
    people there are (that a table of 10 to 19 can have 11 alike says that it has 11 people), and
    not of a mean, by which each says how many classes it has.
    """
    return telling.custodian or (rule.is_public and down(len(people)) >= rule.limit.k)


MOST_CELLS = 3_000_000  # rows times sets of columns that are tried


def least_change(people: People, rule: Rule) -> TableChange | None:
    """A change after which a rule on classes is kept: of one column, else of as few as there are.

    Of several, the one that leaves the most classes; columns left out are tried together where the
    table is small enough for every set of them.
    """
    found = [change for change in changes(people, rule) if change.after.passes]
    names = people.quasi_identifiers
    if len(people) * 2 ** len(names) > MOST_CELLS:
        names = ()
    for gone in range(2, len(names)):
        if found:
            break
        tried = (
            TableChange(
                f"without {', '.join(out[:-1])} and {out[-1]}",
                Judged(rule, written_alike(people, [n for n in names if n not in out]), None),
            )
            for out in combinations(names, gone)
        )
        found = [change for change in tried if change.after.passes]
    return max(found, key=lambda c: float(c.after.values.sum()), default=None)
