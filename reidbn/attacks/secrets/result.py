"""What the neighbours' records give away about one secret: every reading of one posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.attacks.secrets.asked import between_commas, own_labels, several
from reidbn.attacks.secrets.counts import (
    AlternativesLeftOut,
    DisclosureQuestion,
    Kept,
    LeaveOneOut,
    PeerCounter,
    Reading,
    kept,
    nullable,
    threshold,
)
from reidbn.attacks.secrets.readings import (
    Readings,
    guess_alone,
    guess_near,
    guess_ties,
    guess_values,
    readings_of,
)
from reidbn.calls import refuse_misfit, typed
from reidbn.errors import UsageError, did_you_mean
from reidbn.late import late
from reidbn.microdata.classes import Floats, Ints
from reidbn.microdata.table import People
from reidbn.result import Result, by_person
from reidbn.theory.agreement import mean_interval, probability_interval, share_interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Disclosure(Result):
    """One secret, seen by attackers who know any of the auxiliaries [Kroes21].

    Arrays have one entry per individual, in the order of `people`: the table's, or that of the rows
    named in `individuals=`.  With a_i the known values and s_i the
    own secret, peers = #{a_i}, NPP = peers - #{s_i, a_i}, PPP = NPP / peers: the share of peers
    with another secret, how often a guess *drawn* from the peers is wrong (`best_guess` does
    better).  `full` means all auxiliaries known, `min` the least over all subsets of them.  Where
    people have several records, s_i is the most widely shared of their values.
    """

    by_classes: ClassVar[bool] = False

    table: People
    secret: str
    names: tuple[str, ...]
    """The columns by their bit in a mask; the secret may be among them."""
    source: PeerCounter
    column: int
    p: float = 0.0
    q: float = 0.0
    rows: NDArray[np.int64] | None = None
    """The individuals asked about, as row numbers; None for everybody."""
    chances: Floats | None = None
    """P(A) for each subset of auxiliaries, by mask (one row per profile), if that was given."""
    profile: Ints | None = None
    """Which of these rows is whose: an entry per person of `table`, asked about or not."""
    notes: tuple[str, ...] = ()
    origin: Ints | None = None
    """Each of `people`'s row in the table asked about, where some were left out of it."""
    drawn_from: int | None = None
    """How many people the individuals were drawn at random from; None if they were not drawn."""
    question: DisclosureQuestion = field(default_factory=lambda: DisclosureQuestion((), 0.0))
    table_given: People | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.table) if self.rows is None else int(self.rows.size)

    @property
    def about(self) -> str:
        """Whose values are guarded."""
        return f"disclosure of {self.secret}"

    def _of_each(self) -> Mapping[str, Sequence[Any]]:
        return self.question.said.of_each

    def _known(self) -> dict[str, Any]:
        return self.question.told(self.q)

    def _asked_exactly(self) -> tuple[Any, ...]:
        return (*self.question.exactly, *self.question.said.exactly)

    def _asked_about(self) -> Ints | None:
        return self.rows

    @property
    def known(self) -> tuple[str, ...]:
        """The auxiliaries: what may be known."""
        return tuple(self.names[j] for j in self.source.others(self.column))

    may_be_known = known

    @cached_property
    def falsehoods(self) -> Ints:
        """How many false values of the secret there are for each individual: |dom| - 1."""
        return self.source.falsehoods(self.column)

    @property
    def several(self) -> bool:
        """Whether people have several values of the secret, one in each of their records."""
        return several(self.table, self.secret)

    @property
    def status(self) -> str:
        """`measured`, or `constant` when the table holds one value of the secret only."""
        return "measured" if self.falsehoods.any() else "constant"

    # At full knowledge

    @cached_property
    def _full(self) -> Kept:
        return kept(*self.source.at(self.column, self.source.others(self.column)))

    @property
    def peers_full(self) -> Ints:
        """How many people share all auxiliaries (the person included)."""
        return self._full[0].astype(np.int64)

    @property
    def npp_full(self) -> Ints:
        """Peers with another secret, the number of plausible peers; 0 is disclosure."""
        return (self._full[0] - self._full[1]).astype(np.int64)

    @property
    def ppp_full(self) -> Floats:
        """The proportion of plausible peers with all auxiliaries known."""
        return self.npp_full / self.peers_full

    # Over all subsets

    @cached_property
    def _weakest(self) -> Kept:
        share, mask = self.source.weakest(self.column)
        return kept(*share, mask)

    @property
    def ppp_min_fraction(self) -> tuple[Ints, Ints]:
        """The least PPP as a reduced fraction: numerators and denominators."""
        same, alike = (part.astype(np.int64) for part in self._weakest[:2])
        return alike - same, alike

    @property
    def ppp_min(self) -> Floats:
        """The least PPP over all subsets of the auxiliaries."""
        other, alike = self.ppp_min_fraction
        return other / alike

    @property
    def weakest_mask(self) -> Ints:
        """The first subset that attains it, by size and then by column; bit j is `names[j]`."""
        return self._weakest[2].astype(np.int64)

    @property
    def weakest_subset(self) -> NDArray[np.object_]:
        """The same subset as a tuple of names."""
        masks, place = np.unique(self.weakest_mask, return_inverse=True)
        table = np.empty(masks.size, dtype=object)
        table[:] = [self.subset(int(mask)) for mask in masks]
        return table[place]

    @cached_property
    def at_weakest(self) -> tuple[Ints, Ints]:
        """NPP and peers, not reduced, with the weakest subset known."""
        peers, same = np.empty((2, len(self)), dtype=np.int64)
        for mask in np.unique(self.weakest_mask):
            here = self.weakest_mask == mask
            members = [j for j in range(len(self.names)) if mask >> j & 1]
            alike, own = self.source.at(self.column, members)
            peers[here], same[here] = alike[here], own[here]
        return peers - same, peers

    @typed
    def subset(self, mask: int) -> tuple[str, ...]:
        """The names in a mask."""
        return tuple(name for j, name in enumerate(self.names) if mask >> j & 1)

    # False values that stay plausible

    @cached_property
    def _alternatives(self) -> dict[float, Kept]:
        return {}

    @typed
    def alternatives(self, q: float | None = None) -> tuple[Ints, Ints]:
        """How many false values have PP_v > `q`: with full knowledge, and the fewest."""
        at = self.q if q is None else threshold("q", q)
        if at not in self._alternatives:
            self._alternatives[at] = kept(*self.source.alternatives(self.column, at))
        full, fewest = self._alternatives[at]
        return full.astype(np.int64), fewest.astype(np.int64)

    @typed
    def poac(self, q: float | None = None) -> tuple[Floats | None, Floats | None]:
        """PoAC at `q`, the share of alternatives, full and least; None for a constant secret."""
        if self.status == "constant":
            return None, None
        full, fewest = self.alternatives(q)
        false = np.maximum(self.falsehoods, 1)
        return full / false, fewest / false

    @property
    def poac_full(self) -> Floats | None:
        """PoAC with full knowledge."""
        return self.poac()[0]

    @property
    def poac_min(self) -> Floats | None:
        """PoAC, the least over subsets."""
        return self.poac()[1]

    @typed
    def joint_q(self, p: float | None = None) -> float:
        """The paper's joint threshold q = p / (|dom| - 1): p spread evenly over false values."""
        most = int(self.falsehoods.max())
        return (self.p if p is None else p) / most if most else 0.0

    # Verdicts

    @typed
    def upward(self, p: float | None = None) -> NDArray[np.bool_]:
        """Who has p-upward privacy: PPP > p whatever is known.

        At p = 0 that is who has a plausible peer at full knowledge: one pass, no walk over subsets.
        """
        at = self.p if p is None else threshold("p", p)
        return np.asarray(self.npp_full > 0 if at == 0 else is_above(self.ppp_min, at))

    @typed
    def downward(self, q: float | None = None) -> NDArray[np.bool_]:
        """Who has q-downward privacy: every false value keeps PP_v > q whatever is known.

        Nobody without a false value has it.
        """
        return np.asarray((self.alternatives(q)[1] == self.falsehoods) & (self.falsehoods > 0))

    @typed
    def share_upward(self, p: float | None = None) -> float:
        """The share of people with p-upward privacy (of their weight, if people have weights)."""
        return float(np.average(self.upward(p), weights=self.weights))

    @typed
    def share_downward(self, q: float | None = None) -> float:
        """The share of people with q-downward privacy."""
        return float(np.average(self.downward(q), weights=self.weights))

    @property
    def weights(self) -> Floats | None:
        """The survey weights of those asked about."""
        weights = self.table.weights
        return weights if weights is None or self.rows is None else weights[self.rows]

    @typed
    def interval(
        self, what: str = "upward", *, level: float = 0.95, p: float | None = None
    ) -> tuple[float, float]:
        """Where the whole table's share or mean lies, when only a sample was asked about.

        `upward` and `downward` are exact (hypergeometric) intervals for shares of people; a column
        of `subjects`, such as `ppp_min`, gets one for its mean that allows for rare people whom the
        sample missed (a normal one for the count `npp_full`).

        `what` is one of these, `level` the chance to hold it, `p` as in `upward`.
        """
        refuse_misfit("interval", "what", what, str)
        if self.rows is not None and self.drawn_from is None:
            raise UsageError(
                "these individuals were chosen, not drawn at random; an interval for the table "
                "needs individuals=NUMBER"
            )
        everybody = len(self) if self.drawn_from is None else self.drawn_from
        if self.weights is not None and self.rows is not None:
            raise UsageError("intervals are for people who count alike; these carry weights")
        if what in ("upward", "downward"):
            hits = int((self.upward(p) if what == "upward" else self.downward(p)).sum())
            return share_interval(hits, len(self), everybody, level=level)
        if what not in (*NUMERIC, "expected_ppp", "breach_probability"):
            known = ["upward", "downward", *NUMERIC]
            raise UsageError(f'no interval for "{what}"; {did_you_mean(what, known)}')
        values = self._numeric(what)
        mean = mean_interval if what == "npp_full" else probability_interval
        return mean(values, everybody, level=level)

    def _numeric(self, what: str) -> Floats:
        if what.startswith("posterior"):
            return 1 - (self.ppp_full if what == "posterior_full" else self.ppp_min)
        values: Floats = np.asarray(getattr(self, what), dtype=np.float64)
        return values

    @cached_property
    def prior(self) -> Floats:
        """The baseline: the share of the own secret in the whole table, before any knowledge."""
        alike, same = self.source.at(self.column, [])
        return same / alike

    # The best guesser, and what the own record adds

    @cached_property
    def best_guess(self) -> Floats:
        """How often the best guess is right about each individual's peers, all auxiliaries known.

        The best guess is the value that most of the peers have; their mean is the success of an
        attacker who always guesses best, and no attacker who knows less does better on average.
        """
        return self._guess(self.source.others(self.column), self.peers_full)

    @cached_property
    def best_guess_prior(self) -> float:
        """How often the best guess is right before anything is known: the commonest value."""
        alike, _ = self.source.at(self.column, [])
        return float(self._guess([], alike)[0])

    def _guess(self, known: Sequence[int], peers: Ints) -> Floats:
        classes = self.source.posteriors(self.column, known)
        near = self.source.near(self.column)
        hits = guess_values(*classes) if near is None else guess_near(*classes, near)
        return hits / peers

    @property
    def chosen(self) -> bool:
        """Whether these people, or those they were drawn from, were picked: peers are not so."""
        return self.rows is not None and (self.drawn_from or 0) < len(self.table)

    @typed
    def right_about(self, known: Sequence[str] | None = None) -> Floats:
        """How often the best guess, the commonest value of the peers, is each individual's own.

        With all auxiliaries known, or those in `known`; among equally common values one is drawn.
        Over everybody its mean is that of `best_guess`.
        """
        if self.source.near(self.column) is not None:
            raise UsageError("whom the best guess is right about is for values, not for within=")
        at = [self.names.index(name) for name in self._some(known)]
        classes = self.source.posteriors(self.column, at)
        place, owner, _, people = classes
        top, ties = guess_values(*classes), guess_ties(owner, people)[place]
        individual, _, _, same = self.source.own_values(self.column, at)
        is_top = same == top[individual]
        found = np.bincount(individual[is_top], minlength=len(self)) / ties
        return np.asarray(found, dtype=np.float64)

    @cached_property
    def best_guess_without_own(self) -> Floats:
        """How often the best guess about each individual is right if their own record is not there.

        The guess is the commonest value of the other peers (of all others, where nobody is alike);
        among equally common values it is drawn.
        """
        if self.several or self.source.near(self.column) is not None:
            raise UsageError(
                "a best guess without the own record is for one value per person and no within="
            )
        _, own, _, _ = self.source.own_values(self.column, [])
        known = self.source.others(self.column)
        alone = guess_alone(*self.source.posteriors(self.column, []), own)
        everybody, _ = self.source.at(self.column, [])
        alone = np.where(everybody > 1, alone, np.nan)  # nobody else is there to say anything
        found = guess_alone(*self.source.posteriors(self.column, known), own)
        return np.where(self.peers_full > 1, found, alone)

    @property
    def ppp_without_own(self) -> Floats:
        """PPP among the others alike, all auxiliaries known; of all others if there are none.

        What the neighbours' records give away, as against a person's own record in the table; NaN
        in a table of one person, where there is nobody else.
        """
        everybody, same = self.source.at(self.column, [])
        others, npp = self.peers_full - 1, self.npp_full
        baseline = np.where(
            everybody > 1, (everybody - same) / np.maximum(everybody - 1, 1), np.nan
        )
        return np.where(others > 0, npp / np.maximum(others, 1), baseline)

    @property
    def sure(self) -> NDArray[np.bool_]:
        """About whom somebody who knows all auxiliaries is sure: all peers share the secret."""
        return np.asarray(self.npp_full == 0)

    @property
    def sure_without_own(self) -> NDArray[np.bool_]:
        """Those of them about whom others' records alone say it: they are not alone."""
        return np.asarray(self.sure & (self.peers_full > 1))

    @property
    def lift(self) -> Floats:
        """Posterior over prior probability of the own secret, all auxiliaries known."""
        return (1 - self.ppp_full) / self.prior

    def by_value(self) -> pd.DataFrame:
        """One row per value of the secret, the commonest first: what is known of those who have it.

        `prior` is the value's share in the table, `sure` how many of its people have it for certain
        (all auxiliaries known), `sure_without_own` how many of these by others' records alone,
        `posterior` its mean share among their peers, and `lift` posterior / prior.
        """
        import pandas as pd

        known = self.source.others(self.column)
        individual, value, alike, same = self.source.own_values(self.column, known)
        labels, base = self.value_labels, self.source.baseline(self.column)
        size = base.size
        people = np.bincount(value, minlength=size)
        certain = alike == same
        posterior = np.bincount(value, weights=same / alike, minlength=size)
        safe = np.bincount(value, weights=self.upward()[individual], minlength=size)
        shown = np.flatnonzero(people)
        shown = shown[np.lexsort((shown, -people[shown]))]
        mean = posterior[shown] / people[shown]
        table = {
            "people": people[shown],
            "prior": base[shown],
            "sure": np.bincount(value[certain], minlength=size)[shown],
            "sure_without_own": np.bincount(value[certain & (alike > 1)], minlength=size)[shown],
            "upward": safe[shown].astype(np.int64),
            "posterior": mean,
            "lift": mean / base[shown],
        }
        return pd.DataFrame(table, index=pd.Index(labels[shown], name=self.secret, dtype=object))

    @property
    def value_labels(self) -> NDArray[Any]:
        """The values of the secret by code; of single records, where people have several."""
        return own_labels(self.table, self.secret)

    @cached_property
    def _expected(self) -> tuple[Floats, Floats]:
        if self.chances is None:
            raise UsageError('no scenario was given; call disclosure(..., knowledge={"age": 0.9})')
        return self.source.expected(self.column, self.chances, self.profile, self.p)

    @property
    def expected_ppp(self) -> Floats:
        """E[PPP] over what the scenario's attacker knows; knowing nothing leaves the baseline."""
        return self._expected[0]

    @property
    def breach_probability(self) -> Floats:
        """The probability that the scenario's attacker knows a subset with PPP <= p."""
        return self._expected[1]

    @typed
    def readings(self, known: Sequence[str] | None = None) -> Readings:
        """l-diversity, t-closeness, (alpha, k) and entropy l: the same posterior by other names.

        With all auxiliaries known, or those in `known`.
        """
        if self.several:
            raise UsageError(
                f'people have several values of "{self.secret}", and these readings are for one '
                "each; by_value() and best_guess answer"
            )
        at = [self.names.index(name) for name in self._some(known)]
        classes = self.source.posteriors(self.column, at)
        return readings_of(*classes, self.source.baseline(self.column), self._values)

    def _some(self, known: Sequence[str] | None) -> tuple[str, ...]:
        for name in () if known is None else known:
            if name not in self.known:
                raise UsageError(f'"{name}" is no auxiliary; {did_you_mean(name, self.known)}')
        return self.known if known is None else tuple(known)

    @property
    def _values(self) -> Floats | None:
        """The secret's values as numbers, where they are numbers."""
        labels = self.table.labels(self.secret)
        if not all(isinstance(label, int | float | np.number) for label in labels):
            return None
        return np.asarray(labels, dtype=np.float64)

    # What single auxiliaries and subsets do

    @typed
    def leave_one_out(self, reading: Reading = "full") -> LeaveOneOut:
        """PPP when one auxiliary stays unknown: with `full` the rest is known, with `weakest` the
        least over the non-empty subsets of the rest.

        `reading` is one of these two.
        """
        others = self._left_out(reading)
        npp, peers = np.empty((2, len(others), len(self)), dtype=np.int32)
        for place, j in enumerate(others):
            same, alike = self.source.without(self.column, j, all_others=reading == "full")
            npp[place], peers[place] = alike - same, alike
        level = self.ppp_full if reading == "full" else self.ppp_min
        return LeaveOneOut(reading, self.known, npp, peers, level)

    @typed
    def leave_one_out_poac(
        self, reading: Reading = "full", *, q: float | None = None
    ) -> AlternativesLeftOut:
        """PoAC at `q` when one auxiliary stays unknown, in a `reading` of `leave_one_out`."""
        others = self._left_out(reading)
        level = self.poac(q)[0 if reading == "full" else 1]
        if level is None:
            raise UsageError(f'"{self.secret}" has one value only, so there is no false one')
        at, every = self.q if q is None else threshold("q", q), reading == "full"
        found = [
            self.source.alternatives_without(self.column, j, at, all_others=every) for j in others
        ]
        counts = np.stack(found).astype(np.int32)
        return AlternativesLeftOut(reading, self.known, counts, self.falsehoods, level)

    def _left_out(self, reading: str) -> Sequence[int]:
        """The auxiliaries that are left out, one after the other."""
        if reading not in ("full", "weakest"):
            raise UsageError(f'reading is "{reading}"; known: full, weakest')
        if len(self.known) < 2:
            raise UsageError("leaving one out needs at least two auxiliaries")
        return self.source.others(self.column)

    @typed
    def breaks(self, p: float | None = None) -> pd.DataFrame:
        """Every subset with the people it breaks (PPP <= p, exactly it known), most first."""
        import pandas as pd

        counts = self.source.broken(self.column, self.p if p is None else threshold("p", p))
        bits = sum(1 << j for j in self.source.others(self.column))
        masks = [mask for mask in range(1, counts.size) if mask & ~bits == 0]
        table = pd.DataFrame(
            {
                "subset": [self.subset(mask) for mask in masks],
                "size": [mask.bit_count() for mask in masks],
                "broken": counts[masks].astype(np.int64),
                "share": counts[masks] / len(self),
            }
        )
        return table.sort_values(
            ["broken", "size"], ascending=[False, True], kind="stable", ignore_index=True
        )

    def _people(self) -> pd.DataFrame:
        """PoAC is null for a constant secret; a subset is its columns between commas."""
        full, least = self.poac()
        undefined = self.falsehoods == 0
        masks, place = np.unique(self.weakest_mask, return_inverse=True)
        words = np.array([between_commas(self.subset(int(mask))) for mask in masks], dtype=object)
        columns: dict[str, Any] = {
            "ppp_full": self.ppp_full,
            "ppp_min": self.ppp_min,
            "npp_full": self.npp_full,
            "poac_full": nullable(full, undefined),
            "poac_min": nullable(least, undefined),
            "weakest_subset": words[place],
            "peers_full": self.peers_full,
            "upward": self.upward(),
            "downward": self.downward(),
            "prior": self.prior,
            "posterior_full": 1 - self.ppp_full,
            "posterior_max": 1 - self.ppp_min,
            "best_guess": self.best_guess,
            "lift": self.lift,
            "sure_without_own": self.sure_without_own,
        }
        if self.chances is not None:
            columns["expected_ppp"] = self.expected_ppp
            columns["breach_probability"] = self.breach_probability
        return by_person(columns, self.table, self.rows)

    _measures = late("reidbn.attacks.secrets.measures:measures")

    def remarks(self) -> tuple[str, ...]:
        """Of the table and of what was asked."""
        return self.notes

    def to_dict(self) -> dict[str, Any]:
        """Every measure, with what was asked."""
        asked = {"secret": self.secret, "status": self.status, "known": list(self.known)}
        return {**super().to_dict(), **asked}

    check = late("reidbn.attacks.secrets.ask:disclosure_crosscheck")
    _sheet = late("reidbn.report.disclosure_page:sheet")
    _sections = late("reidbn.report.disclosure_page:sections")

    def __repr__(self) -> str:
        mean = 0.0 if self.chances is None else self.breach_probability.mean()
        breach = "" if self.chances is None else f", breach probability {mean:.3g} in the scenario"
        return (
            f"Disclosure({self.secret!r} given {len(self.known)} auxiliaries, {len(self)} people: "
            f"{self.share_upward():.1%} upward at p={self.p:g}, "
            f"{self.share_downward():.1%} downward at q={self.q:g}{breach}; {self.status})"
        )


NUMERIC = ("ppp_full", "ppp_min", "npp_full", "posterior_full", "posterior_max", "prior")
