"""The verdict of an assessment by one rule, and what would flip it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.assessment import Array, Assessment
from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.table import People
from reidbn.report.telling import Telling
from reidbn.report.thresholds import Rule
from reidbn.written import agree

EXACT = 1e-12  # what a sum of classes may be off by


@dataclass(frozen=True, eq=False)
class Judged:
    """The people of a table against a rule: each one's class and, if it is about one, risk."""

    rule: Rule
    sizes: NDArray[np.int64]
    """How many are written as each person is on all that is named, the person included."""
    risk: Array | None
    """The measure of the rule, where it is not about classes."""

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
        return np.asarray(self.risk > limit.value)

    @property
    def passes(self) -> bool:
        if self.rule.is_public:
            return not self.beyond.any()
        limit = self.rule.limit.mean_limit
        return float(self.values.mean()) <= limit * (1 + EXACT) and not self.unique

    def hangs_on(self, telling: Telling) -> str:
        """The number that the verdict hangs on, for a table of changes."""
        people = telling.of(int(self.beyond.sum()), len(self.sizes))
        if self.rule.is_public:
            return people
        return f"mean {telling.mean_in_words(self.values)}; unique: {people}"

    def sentence(self, telling: Telling) -> str:
        """The verdict in one sentence."""
        rule, total = self.rule, len(self.sizes)
        head = f"{'Passes' if self.passes else 'Does not pass'} the rule for {rule.title}"
        return f"{head}: {self._found(telling, total)}."

    def _found(self, telling: Telling, total: int) -> str:
        rule, limit = self.rule, self.rule.limit
        count = int(self.beyond.sum())
        people = telling.of(count, total)
        count = count if telling.custodian else 0  # outwards no verb tells that it is one
        is_, share = agree(count, "is", "are"), agree(count, "shares", "share")
        if not rule.is_public:
            what = "1/class" if rule.on_classes else f"the {_name(limit.measure)} risk"
            mean = telling.mean_in_words(self.values)
            alone = f"{people} {is_} unique" if self.unique else "nobody is unique"
            found = f"the mean of {what} is {mean}"
            return f"{found}, where at most {limit.mean_limit:.3g} is asked for; {alone}"
        if rule.on_classes:
            if self.passes:
                exact = f"; the smallest class has {self.sizes.min():,}"
                return (
                    f"everybody shares what is named with at least {limit.k} people, themselves "
                    f"included{exact if telling.custodian else ''}"
                )
            smallest = f"; the smallest class has {self.sizes.min():,}"
            return (
                f"{people} {share} what is named with fewer than {limit.k}, themselves "
                f"included{smallest if telling.custodian else ''}"
            )
        highest = telling.highest_in_words(self.values)
        who = "nobody is" if self.passes else f"{people} {is_}"
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


def judge(result: Assessment, rule: Rule) -> Judged:
    """An assessment by a rule."""
    risk = None
    if not rule.on_classes:
        if rule.limit.measure not in result.measures:
            hint = did_you_mean(rule.limit.measure, result.measures)
            raise UsageError(f'no measure "{rule.limit.measure}" to set a limit on; {hint}')
        risk = result.risk(rule.limit.measure)
    return Judged(rule, written_alike(result.inputs.people), risk)


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
