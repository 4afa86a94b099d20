"""The leak of a real table as a result: everybody's risk, and what it was asked of [Antoniou22].

rb.leak.assess(people, leaked=200).report("leak.html")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.leak.ask import SEVERAL, LeakSize, risks
from reidbn.attacks.leak.ask import risk as risk_of
from reidbn.attacks.routes.arguments import whole_number
from reidbn.calls import refuse_outside, renamed, typed
from reidbn.errors import CrosscheckFailed, UsageError
from reidbn.inference.compared import DISAGREES, Cell
from reidbn.late import late
from reidbn.limits import MOST_DRAWS
from reidbn.microdata.again import asked_again
from reidbn.microdata.knowledge import Knowledge, Known, knowledge
from reidbn.microdata.table import People, checked_people
from reidbn.release.counts import BASE, Alike, Law, down
from reidbn.result import (
    WITH_CHANCES,
    Measure,
    Result,
    by_person,
    count_of,
    digest,
    given,
    highest_of,
    mean_of,
)

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]
LEVEL = 1e-6
_NAMED = 12  # sizes of a leak that are said one by one


@dataclass(frozen=True, eq=False, repr=False)
class Leak(Result):
    """Everybody's risk of being identified when part of the table leaks."""

    _model: ClassVar[str] = "leak-single"

    table: People
    leaked: LeakSize
    risk: Floats
    """P(in the leak, and picked among the leaked people alike), in record order."""
    known: Knowledge
    sensitive: str | None = None
    sensitive_known: float = 1.0
    """The chance that the value of `sensitive` is known, and filters who is alike."""
    sizes: Mapping[int, float] = field(default_factory=dict)
    """The sizes that the leak may have, with their chances."""

    @property
    def share_leaked(self) -> float:
        """The expected share of the table's people in the leak."""
        return sum(size * p for size, p in self.sizes.items()) / len(self.table)

    @cached_property
    def question(self) -> str:
        """What leaks, and what the attacker knows."""
        size = self.size_in_words
        if len(self.sizes) > 1 and not self._is_told:
            size += f" ({sum(size * p for size, p in self.sizes.items()):,.5g} on average)"
        return f"{size} of the people leak; {self._known_in_words}"

    @property
    def _known_in_words(self) -> str:
        chance = "" if self.sensitive_known == 1 else f" with chance {self.sensitive_known:.4g}"
        return self.knows + ("" if self.sensitive is None else f", and {self.sensitive}{chance}")

    @property
    def knows(self) -> str:
        """What the attacker knows, in words."""
        return self.known.in_words()

    @property
    def may_be_known(self) -> tuple[str, ...]:
        return self.known.used

    @property
    def asked(self) -> str:
        """What is known; how many leak stands among the settings."""
        return replace(self, known=self.known.in_order)._known_in_words

    def _of_each(self) -> Mapping[str, Sequence[Any]]:
        return self.known.of_each

    def _known(self) -> dict[str, Any]:
        return {**self.known.told, "beside": f"{self.sensitive} {self.sensitive_known:.17g}"}

    def _asked_exactly(self) -> tuple[Any, ...]:
        return (*self.known.exactly, *({self.sensitive_known} - {0.0, 1.0}))

    def _settings(self) -> dict[str, Any]:
        sizes = sorted(self.sizes.items())
        if len(sizes) == 1 or self._is_told:
            return {"how many leak": self.size_in_words}
        few = ", ".join(f"{size:,} ({p:.12g})" for size, p in sizes[:_NAMED])
        rest = "" if len(sizes) <= _NAMED else f", ... ({digest(np.array(sizes))[:12]})"
        return {"how many leak": few + rest}

    @property
    def size_in_words(self) -> str:
        """How many leak."""
        if isinstance(self.leaked, str):  # as it is told
            return self.leaked
        sizes = sorted(self.sizes)
        return f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"

    def _people(self) -> pd.DataFrame:
        return by_person({"risk": self.risk}, self.table)

    def _measures(self) -> dict[str, Measure]:
        mean = self.share_leaked * len(self.table)
        leaked = int(mean) if mean == int(mean) else mean
        total = float(self.risk.sum())
        size = given(leaked, "people in the leak, mean", unit="people")
        if self._is_told:
            size = replace(size, told="count" if len(self.sizes) == 1 else "withheld")
        return {
            "leaked": size,
            "people": count_of(len(self.table), "people in the table"),
            "risk": mean_of(self.risk, "mean risk of a person", per_person=True),
            "highest_risk": highest_of(self.risk, "highest risk of a person"),
            "expected_identified": Measure(
                total, unit="people", words="people identified, each looked for alone, expected",
                told="total", each=self.risk,
            ),
        }  # fmt: skip

    @property
    def by_class(self) -> Alike | None:
        """The class of each person, and the risk of a class by how many people there are.

        None where what is known is uncertain: a risk is then the mean over several classes.
        """
        columns = self._alike_on
        if columns is None:
            return None
        sizes = self.known.seen(self.table).class_sizes(columns)

        ten = down(len(self.table))
        may_be = range(ten, ten + BASE) if max(self.sizes) >= ten else ()
        laws = tuple(_law(_from(ten, self.sizes, at)) for at in may_be)
        return Alike(sizes, law=_law(self.sizes), laws=laws)

    @property
    def _hangs_on_more(self) -> str:
        """Why risks are no matter of one class of a person; empty where they are."""
        return "" if self._alike_on is not None else WITH_CHANCES

    @property
    def _is_told(self) -> bool:
        """Whether it is said in words how many leak, as a reader hears it."""
        return isinstance(self.leaked, str)

    def _as_told(self, telling: Any) -> Leak:
        """A leak of as many as there are people, to ten, would tell of how many there are."""
        ten = down(len(self.table))
        if telling.custodian or max(self.sizes) < ten:
            return self
        told = _from(ten, self.sizes, ten)
        words = f"{min(told):,} to {ten + BASE - 1:,}" if ten else f"under {BASE}"
        return replace(self, leaked=words, sizes=told)

    @property
    def _alike_on(self) -> tuple[str, ...] | None:
        """All that is known, where it is sure."""
        if not self.known.is_sure or 0 < self.sensitive_known < 1:
            return None
        secret = self.sensitive if self.sensitive_known else None
        more = () if secret is None else self.known.seen(self.table).names([secret])
        return tuple(dict.fromkeys((*self.known.used, *more)))

    @property
    def sure_columns(self) -> tuple[str, ...] | None:
        """The columns by which people are alike; None where what is known is not sure."""
        return self._alike_on if self.table.is_partition and not self.known.bands else None

    def remarks(self) -> tuple[str, ...]:
        """Of the table, and of what may be known."""
        return (*self.table.notes, *self.known.notes)

    @renamed(attempts="draws")
    @typed
    def check(self, *, draws: int = 20_000, seed: int = 0) -> ActedLeak:
        """Leaks acted out: draw a person, what is known, the leak and a guess; raises.

        People alike are found by matching the table's values, and the leak is drawn, so that no
        formula of the risk is used.

        So many `draws` are made from `seed`.
        """
        people = self.known.seen(self.table)
        if not people.is_partition:
            raise UsageError(
                "values of this table match others, so its people do not fall into classes from "
                "which a guess could be drawn: a leak of it is not acted out"
            )
        refuse_outside("draws", draws, least=1, most=MOST_DRAWS)
        rng = np.random.default_rng(whole_number(seed, "seed", least=0))
        n = len(self.table)
        who = rng.integers(n, size=draws)
        alike = self._alike(people, who, rng)
        size = rng.choice(list(self.sizes), size=draws, p=list(self.sizes.values()))
        inside = rng.random(draws) * n < size
        others = rng.hypergeometric(alike - 1, n - alike, np.maximum(size - 1, 0))
        right = inside & (rng.random(draws) * (1 + others) < 1)
        cell = Cell(
            "a guess among the leaked is right", float(self.risk.mean()), int(right.sum()),
            draws, LEVEL,
        )  # fmt: skip
        if cell.verdict == DISAGREES:
            raise CrosscheckFailed(
                f"leaks acted out {draws:,} times: {cell.sampled:.4g} of guesses were right, "
                f"{cell.exact:.4g} predicted; this is a fault of reidbn, please report it"
            )
        return ActedLeak(cell, seed)

    def _alike(
        self, people: People, who: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """How many people are alike on what is known, drawn for each attempt."""
        secret = np.full(len(who), self.sensitive is not None)
        secret &= rng.random(len(who)) < self.sensitive_known
        found = np.empty(len(who), dtype=np.int64)
        known, sets = self._drawn(who, rng)
        for mask in np.unique(known):
            for also in (False, True):
                here = (known == mask) & (secret == also)
                columns = [*sets[mask], *([self.sensitive] if also and self.sensitive else [])]
                if not here.any():
                    continue
                ids, _ = people.class_ids(columns) if columns else (np.zeros(1, dtype=int), 1)
                sizes = np.bincount(ids)
                found[here] = sizes[ids[who[here]]] if columns else len(self.table)
        return found

    def _drawn(
        self, who: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], dict[int, list[str]]]:
        """Which groups are known in each attempt, as a mask, and the columns of each mask."""
        what = self.known
        p = what.probabilities
        if what.kinds is not None:
            p = p[rng.choice(what.kinds.size, size=len(who), p=what.kinds / what.kinds.sum())]
        elif p.ndim == 2:
            p = p[who]
        learnt = rng.random((len(who), what.groups)) < p
        if what.listed is not None:
            on = what.listed if what.listed.size == 1 else what.listed[who]
            learnt &= (rng.random(len(who)) < on)[:, None]
        masks = learnt @ (1 << np.arange(what.groups, dtype=np.int64))
        return masks, {int(m): list(what.known_columns(int(m))) for m in np.unique(masks)}

    _sections = late("reidbn.report.leak_page:sections")

    def __repr__(self) -> str:
        return (
            f"<Leak of {self.size_in_words} of {len(self.table):,} people: mean risk "
            f"{self.risk.mean():.4g}, highest {self.risk.max():.4g}>"
        )


def _from(ten: int, sizes: Mapping[int, float], at: int) -> dict[int, float]:
    """Sizes of a leak, all from so many on as one."""
    found = {size: p for size, p in sizes.items() if size < ten}
    return found | {at: sum(p for size, p in sizes.items() if size >= ten)}


def _law(leaked: Mapping[int, float]) -> Law:
    """The risk of a class by how many people there are; a leak of more than these there is none."""

    def law(records: int, class_sizes: NDArray[np.int64]) -> Floats:
        if max(leaked) > records:
            return np.empty(0)
        return np.asarray(
            risk_of(records=records, leaked=leaked, class_size=class_sizes), dtype=float
        )

    return law


@dataclass(frozen=True)
class ActedLeak:
    """Leaks acted out: how often a guess was right, against the mean risk."""

    cell: Cell
    seed: int

    def __str__(self) -> str:
        c = self.cell
        return (
            f"acted out {c.draws:,} times (seed {self.seed}): {c.sampled:.4g} of guesses right, "
            f"{c.exact:.4g} predicted: {c.verdict}"
        )


@asked_again
@typed
def assess(
    people: People,
    *,
    leaked: LeakSize,
    known: Known | None = None,
    sensitive: str | None = None,
    sensitive_known: float = 1.0,
) -> Leak:
    """The risk of every person when part of the table leaks, with a page and a picture.

    people: the table.  leaked: how many of its people leak, or a prior {size: probability}.
    known: what the attacker knows, as rb.knowledge takes it (default: all quasi-identifiers).
    sensitive: a column whose value, known with chance sensitive_known, filters the leaked people.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1], [1, 1]], ["age", "sex"])
    >>> assess(people, leaked=2)
    <Leak of 2 of 4 people: mean risk 0.4583, highest 0.5>
    """
    found = risks(
        checked_people(people), leaked=leaked, known=known, sensitive=sensitive,
        sensitive_known=sensitive_known,
    )  # fmt: skip
    if not isinstance(leaked, Mapping) and np.ndim(leaked):
        raise UsageError(f"{SEVERAL}: leaked=200, or leaked={{200: 0.5, 400: 0.5}}")
    prior = leaked if isinstance(leaked, Mapping) else {int(np.asarray(leaked)): 1.0}
    sizes = {int(size): float(p) for size, p in prior.items()}
    what = knowledge(people, known)
    what = what if what.stated else what.sure()
    return Leak(people, leaked, found, what, sensitive, sensitive_known, sizes)
