"""Cells of a cross-check: one probability, counted in a sample, with a verdict."""

from __future__ import annotations

from dataclasses import dataclass

from reidbn.theory.agreement import detectable, disagrees, tell_apart

AGREES, DISAGREES, TOO_RARE = "agrees", "disagrees", "too rare to tell"
ROUNDING = 1e-12


@dataclass(frozen=True)
class Cell:
    """P(what) computed exactly, and how often it happened among the rows that count."""

    what: str
    exact: float
    hits: int
    trials: int
    level: float
    negligible: float = 0.0
    scale: float = 1.0
    """The share of hits times this is the probability (see rare.py); 0: it cannot happen."""

    @property
    def sampled(self) -> float | None:
        """The sampled share; None when no row counts."""
        return self.scale * self.hits / self.trials if self.trials else None

    @property
    def _share(self) -> float:
        """The share of hits that is expected; rounding may take it over 1, and no more."""
        share = self.exact / self.scale
        return 1.0 if 1 < share <= 1 + ROUNDING else share

    @property
    def verdict(self) -> str:
        if self.scale == 0:
            return AGREES if self.exact <= ROUNDING else DISAGREES
        if disagrees(self.hits, self.trials, self._share, level=self.level):
            return DISAGREES
        if self.would_catch <= self.negligible:
            return AGREES
        return AGREES if tell_apart(self.trials, self._share, level=self.level) else TOO_RARE

    @property
    def would_catch(self) -> float:
        """The smallest error in the probability that this cell catches 19 times out of 20."""
        if self.scale == 0:
            return 0.0
        return self.scale * detectable(self.trials, self._share, level=self.level)

    def to_dict(self) -> dict[str, object]:
        return {
            "what": self.what,
            "exact": self.exact,
            "sampled": self.sampled,
            "rows": self.trials,
            "verdict": self.verdict,
            "would_catch": self.would_catch,
        }


@dataclass(frozen=True)
class Counted:
    """A probability with its count, before the level is split over all cells."""

    what: str
    exact: float
    hits: int
    trials: int
    scale: float = 1.0

    def judged(self, level: float, negligible: float = 0.0) -> Cell:
        """The cell at its share of the level; an error of `negligible` is worth no row."""
        return Cell(self.what, self.exact, self.hits, self.trials, level, negligible, self.scale)
