"""Answer: a probability and P(evidence), with what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.calls import older
from reidbn.errors import UsageError
from reidbn.inference.cut import UpperEnd
from reidbn.inference.network import Array
from reidbn.inference.query import Query

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What was asked of an attack, and what every answer to it says."""

    query: Query
    probability: Array
    evidence_probability: Array
    states: tuple[str, ...]
    engine: str
    attack: Attack
    settings: Mapping[str, Any]
    draws: int | None = None
    interval: tuple[float, float] | None = None
    """95 %, of what was sampled."""
    cut: Mapping[str, float] = field(default_factory=dict)
    """How much lies beyond the states of a node, such as of a Poisson count: node and share.

    It is told exactly, or is an UpperEnd where what was sampled is too large for that."""
    tied: tuple[str, ...] = ()
    """Decisions in which another option is worth the same to the attacker; the answer is of one."""
    worst: Array | None = None
    """Where policies are tied, the highest of their answers; None where that cannot be told."""
    policy: Mapping[str, str] = field(default_factory=dict)
    """What was given in place of the attacker's best policy: decision and option."""

    @property
    def of_policy(self) -> str:
        """The policy that was given, and what he still decides; nothing where none was."""
        if not self.policy:
            return ""
        given = " and ".join(f"{name}={taken}" for name, taken in self.policy.items())
        left = ", ".join(self.attack.decisions)
        return f"under the policy {given}" + (f" ({left} as he decides best)" if left else "")

    def _numbers(self) -> dict[str, Any]:
        """What was found, by the names it is written under."""
        raise NotImplementedError

    def _words(self) -> str:
        """What was found, in a line."""
        raise NotImplementedError

    def __str__(self) -> str:
        return ", ".join(filter(None, (self._words(), self.of_policy)))

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """The answer, what was asked, of which attack and how, as plain values."""
        found = {
            "attack": self.attack.name,
            "question": self.query.describe(),
            **self._numbers(),
            "evidence_probability": np.asarray(self.evidence_probability).tolist(),
            "engine": self.engine,
            "set": {k: np.asarray(v).tolist() for k, v in self.settings.items()},
            "fingerprint": self.attack.fingerprint,
        }
        if self.policy:
            found |= {"policy": dict(self.policy), "decided": list(self.attack.decisions)}
        if self.tied:
            found["tied"] = list(self.tied)
            found["worst_of_tied"] = None if self.worst is None else np.asarray(self.worst).tolist()
        if self.cut:
            found["cut"] = dict(self.cut)
            bounds = [name for name, share in self.cut.items() if isinstance(share, UpperEnd)]
            found |= {"cut_at_most": bounds} if bounds else {}
        if self.draws:
            found |= {"draws": self.draws, "interval_95": self.interval}
        return found


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer(Reply):
    """A probability and P(evidence); arrays (subject x setting) when there are several.

    For a question on a whole node `probability` has one more axis, its states.
    """

    by_counts: tuple[float, float] | None = None
    """95 %, where nodes stand on counts; of the highest answer where policies are tied."""
    by_counts_share: float = 1.0
    """The share of what the counts leave open at which what is given can be: the interval is of
    that alone, and there is none of little."""
    rows = older("draws")

    def __float__(self) -> float:
        if self.query.is_distribution:
            raise UsageError(
                f"{self.query.describe()} is a distribution: use .distribution, "
                f"or ask for one state"
            )
        if np.size(self.probability) != 1:
            shape = np.shape(self.probability)
            raise UsageError(f"this answer has {shape} values: use .probability")
        return float(np.reshape(self.probability, ()))

    @property
    def distribution(self) -> dict[str, float]:
        """P(state) of a node asked as a whole, for one subject at one setting."""
        if not self.query.is_distribution:
            raise UsageError(f"{self.query.describe()} is a single probability: use float(answer)")
        values = np.asarray(self.probability)
        if values.ndim != 1:
            raise UsageError(f"this answer has {values.shape} values: use .probability")
        return {state: float(p) for state, p in zip(self.states, values, strict=True)}

    @property
    def one_in(self) -> float:
        """About 1 in N."""
        p = float(self)
        return 1 / p if p > 0 else float("inf")

    def _numbers(self) -> dict[str, Any]:
        found: dict[str, Any] = {"probability": np.asarray(self.probability).tolist()}
        if self.query.is_distribution:
            found["states"] = list(self.states)
        if self.by_counts:
            found["interval_95"] = self.by_counts
        if self.by_counts_share < 1:
            found["interval_95_share"] = self.by_counts_share
        return found | ({"rows": self.draws} if self.draws else {})  # the older word

    def _words(self) -> str:
        if np.size(self.probability) == 1 and not self.query.is_distribution:
            p = float(self)
            also = f" (about 1 in {self.one_in:,.4g})" if 0 < p < 0.5 else ""
            return f"{self.query.describe()} = {p:.6g}{also}"
        return f"{self.query.describe()} = {np.array2string(self.probability, threshold=12)}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Expectation(Reply):
    """The mean of a node's number, or of how many of a group are known, given what is given.

    `value` and `sd` are numbers, or one per person and setting; `probability` is the distribution
    that they are of, with the states on its last axis.
    """

    value: Array
    sd: Array
    labels: Sequence[Any] | None = None
    """Of the people, in their order."""
    counts: NDArray[np.int64] | None = None
    """How many people each row is, where people were counted as cells."""

    def __float__(self) -> float:
        """The mean; of several people the mean over them."""
        if np.ndim(self.value) > 1 and np.shape(self.value)[1] > 1:
            raise UsageError(f"this has {np.shape(self.value)[1]} settings: use .value")
        return float(self._over_people(self.value).mean())

    def _over_people(self, values: Array) -> Array:
        """The mean over people, who are on axis 0."""
        each = np.asarray(values)
        return (
            each
            if self.counts is None and not each.ndim
            else np.asarray(np.average(each, axis=0, weights=self.counts))
        )

    @property
    def distribution(self) -> dict[str, float]:
        """P(state); of several people the mean over them."""
        each = np.asarray(self.probability).reshape(-1, len(self.states))
        values = self._over_people(each)
        return {state: float(p) for state, p in zip(self.states, values, strict=True)}

    @property
    def people(self) -> pd.DataFrame:
        """One row per person: the mean and the standard deviation of their number.

        Of people counted as cells a row per cell, with how many people that is; where policies are
        worth the same to the attacker, `worst_tied` is the highest mean.
        """
        import pandas as pd

        each = np.atleast_2d(np.asarray(self.value).reshape(-1, 1) if np.ndim(self.value) < 2
                             else self.value)[:, 0]  # fmt: skip
        sd = np.asarray(self.sd).reshape(len(each), -1)[:, 0]
        cells = {} if self.counts is None else {"people": self.counts}
        worst = (
            {} if self.worst is None else {"worst_tied": self.worst.reshape(len(each), -1)[:, 0]}
        )
        found = pd.DataFrame({**cells, "mean": each, "sd": sd, **worst})
        return found if self.labels is None else found.set_axis(list(self.labels))

    def _numbers(self) -> dict[str, Any]:
        found = {"mean": np.asarray(self.value).tolist(), "sd": np.asarray(self.sd).tolist()}
        found |= {} if self.counts is None else {"people": self.counts.tolist()}
        return found if np.size(self.value) > 1 else found | {"distribution": self.distribution}

    def _words(self) -> str:
        if np.size(self.value) > 1:
            low, high = np.min(self.value), np.max(self.value)
            mean = self._over_people(self.value).mean()
            over = np.size(self.value) if self.counts is None else self.counts.sum()
            tied = ""
            if self.worst is not None:
                most = self._over_people(self.worst).mean()
                tied = f"; of policies that are tied the highest is {most:.6g}"
            return (
                f"{self.query.describe()} = {mean:.6g} on average over "
                f"{over:,} ({low:.6g} to {high:.6g}){tied}"
            )
        return f"{self.query.describe()} = {float(self):.6g} (sd {float(np.mean(self.sd)):.4g})"
