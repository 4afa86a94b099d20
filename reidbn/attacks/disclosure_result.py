"""What the neighbours' records give away about one secret: every reading of one posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.disclosure_readings import Readings, readings_of
from reidbn.attacks.disclosure_source import (
    Kept,
    LeaveOneOut,
    Reading,
    Source,
    kept,
    nullable,
    threshold,
)
from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.classes import Floats, Ints
from reidbn.microdata.table import People
from reidbn.theory.finite_population import mean_interval, share_interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Disclosure:
    """One secret, seen by attackers who know any of the auxiliaries [Kroes21].

    Arrays have one entry per individual, in record order.  With a_i the known values and s_i the
    own secret, peers = #{a_i}, NPP = peers - #{s_i, a_i}, PPP = NPP / peers: the posterior that the
    secret is not what it is.  `full` means all auxiliaries known, `min` the least over all subsets
    of them.
    """

    people: People
    secret: str
    names: tuple[str, ...]
    """The columns by their bit in a mask; the secret may be among them."""
    source: Source
    column: int
    p: float = 0.0
    q: float = 0.0
    rows: NDArray[np.int64] | None = None
    """The individuals asked about, as row numbers; None for everybody."""
    chances: Floats | None = None
    """P(A) for each subset of auxiliaries, by mask (one row per profile), if that was given."""
    profile: Ints | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.people) if self.rows is None else int(self.rows.size)

    @property
    def known(self) -> tuple[str, ...]:
        """The auxiliaries: what may be known."""
        return tuple(self.names[j] for j in self.source.others(self.column))

    @cached_property
    def falsehoods(self) -> Ints:
        """How many false values of the secret there are for each individual: |dom| - 1."""
        return self.source.falsehoods(self.column)

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

    def subset(self, mask: int) -> tuple[str, ...]:
        """The names in a mask."""
        return tuple(name for j, name in enumerate(self.names) if mask >> j & 1)

    # False values that stay plausible

    @cached_property
    def _alternatives(self) -> dict[float, Kept]:
        return {}

    def alternatives(self, q: float | None = None) -> tuple[Ints, Ints]:
        """How many false values have PP_v > q: with full knowledge, and the least over subsets."""
        at = self.q if q is None else threshold("q", q)
        if at not in self._alternatives:
            self._alternatives[at] = kept(*self.source.alternatives(self.column, at))
        full, fewest = self._alternatives[at]
        return full.astype(np.int64), fewest.astype(np.int64)

    def poac(self, q: float | None = None) -> tuple[Floats | None, Floats | None]:
        """PoAC_q, the proportion of alternatives, full and least; None for a constant secret."""
        if self.status == "constant":
            return None, None
        full, fewest = self.alternatives(q)
        false = np.maximum(self.falsehoods, 1)
        return full / false, fewest / false

    @property
    def poac_full(self) -> Floats | None:
        return self.poac()[0]

    @property
    def poac_min(self) -> Floats | None:
        return self.poac()[1]

    def joint_q(self, p: float | None = None) -> float:
        """The paper's joint threshold q = p / (|dom| - 1): p spread evenly over false values."""
        most = int(self.falsehoods.max())
        return (self.p if p is None else p) / most if most else 0.0

    # Verdicts

    def upward(self, p: float | None = None) -> NDArray[np.bool_]:
        """Who has p-upward privacy: PPP > p whatever is known."""
        return np.asarray(self.ppp_min > (self.p if p is None else threshold("p", p)))

    def downward(self, q: float | None = None) -> NDArray[np.bool_]:
        """Who has q-downward privacy: every false value keeps PP_v > q whatever is known.

        Nobody without a false value has it.
        """
        return np.asarray((self.alternatives(q)[1] == self.falsehoods) & (self.falsehoods > 0))

    def share_upward(self, p: float | None = None) -> float:
        """The share of people with p-upward privacy (of their weight, if people have weights)."""
        return self._share(self.upward(p))

    def share_downward(self, q: float | None = None) -> float:
        """The share of people with q-downward privacy."""
        return self._share(self.downward(q))

    def _share(self, verdict: NDArray[np.bool_]) -> float:
        return float(np.average(verdict, weights=self.weights))

    @property
    def weights(self) -> Floats | None:
        weights = self.people.weights
        return weights if weights is None or self.rows is None else weights[self.rows]

    def interval(
        self, what: str = "upward", *, level: float = 0.95, p: float | None = None
    ) -> tuple[float, float]:
        """Where the whole table's share or mean lies, when only a sample was asked about.

        `upward` and `downward` are exact (hypergeometric) intervals for shares of people; a column
        of `subjects`, such as `ppp_min`, gets a normal interval for its mean.
        """
        if self.weights is not None and self.rows is not None:
            raise UsageError("intervals are for people who count alike; these carry weights")
        if what in ("upward", "downward"):
            hits = int((self.upward(p) if what == "upward" else self.downward(p)).sum())
            return share_interval(hits, len(self), len(self.people), level=level)
        if what not in (*_NUMERIC, "expected_ppp", "breach_probability"):
            known = ["upward", "downward", *_NUMERIC]
            raise UsageError(f'no interval for "{what}"; {did_you_mean(what, known)}')
        values = self._numeric(what)
        return mean_interval(values, len(self.people), level=level)

    def _numeric(self, what: str) -> Floats:
        if what.startswith("posterior"):
            return 1 - (self.ppp_full if what == "posterior_full" else self.ppp_min)
        values: Floats = np.asarray(getattr(self, what), dtype=np.float64)
        return values

    # Prior, posterior, scenario

    @cached_property
    def prior(self) -> Floats:
        """The baseline: the share of the own secret in the whole table, before any knowledge."""
        alike, same = self.source.at(self.column, [])
        return same / alike

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

    def readings(self, known: Sequence[str] | None = None) -> Readings:
        """l-diversity, t-closeness, (alpha, k) and entropy l: the same posterior by other names.

        With all auxiliaries known, or those in `known`.
        """
        at = [self.names.index(name) for name in self._some(known)]
        classes = self.source.posteriors(self.column, at)
        return readings_of(*classes, self.source.baseline(self.column), self._values)

    def _some(self, known: Sequence[str] | None) -> tuple[str, ...]:
        for name in known or ():
            if name not in self.known:
                raise UsageError(f'"{name}" is no auxiliary; {did_you_mean(name, self.known)}')
        return self.known if known is None else tuple(known)

    @property
    def _values(self) -> Floats | None:
        """The secret's values as numbers, where they are numbers."""
        labels = self.people.labels(self.secret)
        if not all(isinstance(label, int | float | np.number) for label in labels):
            return None
        return np.asarray(labels, dtype=np.float64)

    # What single auxiliaries and subsets do

    def leave_one_out(self, reading: Reading = "full") -> LeaveOneOut:
        """PPP when one auxiliary stays unknown: with `full` the rest is known, with `weakest` the
        least over the non-empty subsets of the rest.
        """
        if reading not in ("full", "weakest"):
            raise UsageError(f'reading is "{reading}"; known: full, weakest')
        if len(self.known) < 2:
            raise UsageError("leaving one out needs at least two auxiliaries")
        others = self.source.others(self.column)
        npp, peers = np.empty((2, len(others), len(self)), dtype=np.int32)
        for place, j in enumerate(others):
            same, alike = self.source.without(self.column, j, all_others=reading == "full")
            npp[place], peers[place] = alike - same, alike
        level = self.ppp_full if reading == "full" else self.ppp_min
        return LeaveOneOut(reading, self.known, npp, peers, level)

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

    @cached_property
    def subjects(self) -> pd.DataFrame:
        """One row per individual, in record order; PoAC is null for a constant secret."""
        import pandas as pd

        rows = np.arange(len(self.people)) if self.rows is None else self.rows
        ids = self.people.subject_ids
        full, least = self.poac()
        undefined = self.falsehoods == 0
        columns: dict[str, Any] = {
            "ppp_full": self.ppp_full,
            "ppp_min": self.ppp_min,
            "npp_full": self.npp_full,
            "poac_full": nullable(full, undefined),
            "poac_min": nullable(least, undefined),
            "weakest_subset": self.weakest_subset,
            "peers_full": self.peers_full,
            "upward": self.upward(),
            "downward": self.downward(),
            "prior": self.prior,
            "posterior_full": 1 - self.ppp_full,
            "posterior_max": 1 - self.ppp_min,
        }
        if self.chances is not None:
            columns["expected_ppp"] = self.expected_ppp
            columns["breach_probability"] = self.breach_probability
        return pd.DataFrame(columns, index=pd.Index(rows if ids is None else ids[rows]))

    def __repr__(self) -> str:
        return (
            f"Disclosure({self.secret!r} given {len(self.known)} auxiliaries, {len(self)} people: "
            f"{self.share_upward():.1%} upward at p={self.p:g}, "
            f"{self.share_downward():.1%} downward at q={self.q:g}; {self.status})"
        )


_NUMERIC = ("ppp_full", "ppp_min", "npp_full", "posterior_full", "posterior_max", "prior")
