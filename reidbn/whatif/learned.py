"""What tests taught: the parameters and chances of an attack before and after, told and kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from reidbn.attack.attack import Attack
from reidbn.errors import ModelError, UsageError, did_you_mean
from reidbn.late import late
from reidbn.whatif.scattered import method_words

if TYPE_CHECKING:
    import pandas as pd

ALIKE = 1e-9  # of a chance: what is told and what a saved attack answers do not differ
_TOLD = re.compile(r"\s*\(Learnt of .*\)\Z", re.DOTALL)


@dataclass(frozen=True)
class Attempts:
    """So many hits in so many attempts at a target, and under which circumstances."""

    target: str
    hits: int
    trials: int
    given: Mapping[str, Any] = field(default_factory=dict)
    do: Mapping[str, Any] = field(default_factory=dict)
    set: Mapping[str, float] = field(default_factory=dict)

    @property
    def words(self) -> str:
        return f"{self.target}: {self.hits:,} of {self.trials:,}"


@dataclass(frozen=True)
class Update:
    """One parameter before and after; the interval after is central, and of itself alone."""

    parameter: str
    prior: str
    mean_before: float
    sd_before: float
    mean: float
    sd: float
    low: float
    high: float
    source: str
    is_assumption: bool


@dataclass(frozen=True)
class SeenTest:
    """What the attack expected of a test before and after it, as a chance of one attempt.

    `after` is the mean over all that the parameters may now be, together; `saved` is what the
    attack answers that is kept, each parameter at its own mean.
    """

    test: str
    hits: int
    trials: int
    before: float
    after: float
    saved: float

    @property
    def differs(self) -> bool:
        """Whether the attack that is kept answers otherwise than was expected after the test."""
        return abs(self.saved - self.after) > ALIKE * abs(self.after)


@dataclass(frozen=True)
class Learned:
    """What tests taught: parameters and chances before and after.

    `method` is "exact", or "quadrature" with the `error` that is left, in standard deviations.
    `attack` has the new values and priors: beta laws with the same means and sds, taken as
    independent, while `correlation` holds the largest of the correlations that the tests left.
    Where the model cannot be with each parameter at its mean, it is `refused` with why.
    """

    name: str
    tests: tuple[SeenTest, ...]
    parameters: tuple[Update, ...]
    method: str
    error: float
    settings: int
    log_evidence: float
    correlation: float
    kept: Attack | None = field(repr=False)
    refused: str = ""
    filled_in: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def attack(self) -> Attack:
        """The attack with its new values and priors."""
        if self.kept is None:
            raise ModelError(f"{self.name}: {self.refused}")
        return self.kept

    def __getitem__(self, parameter: str) -> Update:
        for update in self.parameters:
            if update.parameter == parameter:
                return update
        names = [update.parameter for update in self.parameters]
        raise UsageError(f'nothing was learnt of "{parameter}"; {did_you_mean(parameter, names)}')

    def to_frame(self) -> pd.DataFrame:
        """One row per parameter, before and after."""
        import pandas as pd

        return pd.DataFrame([asdict(update) for update in self.parameters])

    def to_dict(self) -> dict[str, Any]:
        """What was asked and found, as plain values."""
        plain = {k: getattr(self, k) for k in self.__dataclass_fields__ if k != "kept"}
        for name in ("notes", "refused"):
            if not plain[name]:
                del plain[name]
        return {
            **plain,
            "tests": [asdict(test) for test in self.tests],
            "parameters": [asdict(update) for update in self.parameters],
            "attack": None if self.kept is None else self.kept.to_dict(),
        }

    plot = late("reidbn.report.whatif_figures:draw_learned")

    def __str__(self) -> str:
        how = method_words(self.method, self.error)
        lines = [f"{self.name}: learnt from {len(self.tests)} test(s) ({how})"]
        for t in self.tests:
            before, after = t.before * t.trials, t.after * t.trials
            lines.append(f"  {t.test}; expected {before:.4g} before, {after:.4g} after")
            if t.differs:
                lines.append(
                    f"    one attempt: {t.after:.4g} as the mean over what the parameters "
                    f"may be; the attack that is kept answers {t.saved:.4g}, each at its "
                    f"mean"
                )
        width = max(len(u.parameter) for u in self.parameters)
        for u in self.parameters:
            lines.append(
                f"  {u.parameter:<{width}}  {u.mean_before:.4g} (sd {u.sd_before:.2g}) -> "
                f"{u.mean:.4g} (sd {u.sd:.2g}), 95 % from {u.low:.4g} to {u.high:.4g}"
            )
        if self.filled_in:
            lines.append(f"  no prior given, taken as uniform: {', '.join(self.filled_in)}")
        if len(self.parameters) > 1:
            lines.append(f"  largest correlation between two of them: {self.correlation:.2f}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    __repr__ = __str__


def with_what_differs(attack: Attack, tests: tuple[SeenTest, ...]) -> Attack:
    """The attack, in whose story it stands where it answers otherwise than was expected."""
    story = _TOLD.sub("", attack.story)
    told = [f"{t.test}, expected of one attempt {t.after:.4g} as the mean over what the parameters "
            f"may be together, {t.saved:.4g} with each at its mean as here"
            for t in tests if t.differs]  # fmt: skip
    if not told:
        return attack if story == attack.story else attack.replace(story=story)
    return attack.replace(story=f"{story} (Learnt of {'; '.join(told)})".strip())
