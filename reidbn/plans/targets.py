"""What a release is to keep: so many alike, or a limit on a measure of an attack.

"k=5" is about classes: everybody who is released has five or more written alike.  A limit on a
measure names what of it: the highest, the mean, a quantile, or the share of people above a risk.

    "k=5"   "ema"   {"overall": "q95 <= 0.09"}   {"prosecutor": "mean <= 0.05"}
    {"overall": "above 0.2 <= 1%"}   {"overall": 0.09}  (the highest)   "overall: q95 <= 0.09"
    {"diagnosis": "best guess <= 50%"}  (of a secret: nobody who knows all columns guesses better)
    {"diagnosis": "PPP >= 50%"}  (the same: everybody's share of peers with another secret)
    {"diagnosis": "mean PPP >= 60%"}  (the mean of that share over people)

Targets about everybody (k, the highest) can be told person by person; the others are about the
table as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from reidbn.above import SLACK, is_above, quantile, refuse_no_limit, spared
from reidbn.calls import refuse_misfit
from reidbn.errors import UsageError
from reidbn.report.thresholds import CLASSES, LISTED, PRESETS, rule
from reidbn.written import is_number, read_number

Array = NDArray[np.float64]
ALIKE = CLASSES
BEST_GUESS = "best guess"
MEAN_GUESS = "mean guess"
PPP, MEAN_PPP = "ppp", "mean ppp"


@dataclass(frozen=True)
class Target:
    """One limit that the released table must keep."""

    measure: str
    """A measure of the attack, or ALIKE."""
    what: str
    """"highest", "mean", "quantile" or "above"; of a secret BEST_GUESS or MEAN_GUESS."""
    limit: float
    at: float = 0.0
    """Of a quantile the share of people; of "above" the risk."""
    k: int = 0
    under: str = ""
    """Of several attacks or scenarios, the one that it is about."""
    if_missing: str = ""
    """Of a secret that is missing for some: "left-out" (they are nobody's peers) or "value"."""

    @property
    def key(self) -> tuple[str, str]:
        """Under which attack, and which measure."""
        return (self.what if self.on_secret else self.under), self.measure

    @property
    def on_classes(self) -> bool:
        """Whether it is about who is written alike, whatever is known of whom."""
        return self.measure == ALIKE or self.on_secret

    @property
    def on_secret(self) -> bool:
        return self.what in (BEST_GUESS, MEAN_GUESS)

    @property
    def is_of_everybody(self) -> bool:
        """Whether each person keeps it or does not, whoever else is there."""
        return self.what in ("highest", BEST_GUESS)

    @property
    def above(self) -> float:
        """What a person's own risk is held against; a mean and a quantile leave some above it."""
        return self.at if self.what == "above" else self.limit

    @property
    def who_may_be_above(self) -> str:
        """Whom the limit lets stay above it, in words; nothing where it is kept by everybody."""
        share = {"quantile": 1 - self.at, "above": self.limit}.get(self.what, 0.0)
        if self.what in ("mean", MEAN_GUESS):
            return f"being a mean, it lets people stay above {self.limit:g}"
        return f"up to {100 * share:.10g} % of those released may be above {self.above:g}" * (
            share > 0
        )

    def beyond(self, risk: Array) -> NDArray[np.bool_]:
        """Who is over the limit as a person; of a mean, over it too."""
        if self.k:
            return np.asarray(risk > 1 / (self.k - 0.5))
        return np.asarray(is_above(risk, self.above))

    def value(self, risk: Array) -> float:
        """The number that is compared with the limit."""
        if self.what in ("mean", MEAN_GUESS):
            return float(risk.mean())
        if self.what == "above":
            return float(is_above(risk, self.at).mean())
        if self.what == "quantile":
            return quantile(risk, self.at)
        return float(risk.max())

    def shown(self, value: float) -> float:
        """The number as people say it: of so many alike, how many are alike at least."""
        return round(1 / value) if self.k else value

    def told(self, value: float, digits: int = 3) -> str:
        """What is shown, in short: all digits of how many are alike."""
        return f"{value:,.0f}" if self.k else f"{value:.{digits}g}"

    def is_met(self, risk: Array) -> bool:
        if self.what in ("quantile", "above"):
            return int(self.beyond(risk).sum()) <= self.spared(len(risk))
        if self.what in ("mean", MEAN_GUESS):
            return not is_above(self.value(risk), self.limit)
        return not self.beyond(risk).any()

    def excess(self, risk: Array) -> float:
        """How far people are beyond it in all; 0 where it is met."""
        if self.is_met(risk):
            return 0.0
        if self.what in ("mean", MEAN_GUESS):
            return len(risk) * (self.value(risk) - self.limit)
        over = np.sort(risk[self.beyond(risk)])
        return float((over[: len(over) - self.spared(len(risk))] - self.above).sum())

    def spared(self, people: int) -> int:
        """How many of so many people may be beyond it."""
        share = {"quantile": 1 - self.at, "above": self.limit}.get(self.what, 0.0)
        return spared(share, people)

    def fewest_to_leave(self, risk: Array) -> int:
        """At least so many people must go, where leaving people out lowers nobody's risk.

        Of n people V are beyond it, and a share e may be: (V - r) <= e (n - r).  Of a mean, the
        lowest risks of n - r people are within it.
        """
        if self.what == MEAN_GUESS:  # who goes can lower the share of others
            return int(not self.is_met(risk))
        beyond, n = int(self.beyond(risk).sum()), len(risk)
        if self.what == "mean":
            means = np.sort(risk).cumsum() / np.arange(1, n + 1)
            return n - int((~is_above(means, self.limit)).sum())
        share = {"quantile": 1 - self.at, "above": self.limit}.get(self.what, 0.0)
        return max(0, int(np.ceil((beyond - share * n) / (1 - share) - SLACK)))

    def __str__(self) -> str:
        if self.k:
            return f"{self.k} or more alike"
        limit = f"{100 * self.limit:g} %" if self.what == "above" else f"{self.limit:g}"
        return f"{self.axis} at most {limit}"

    @property
    def unit(self) -> str:
        """What its number counts, as a picture says it."""
        if self.k:
            return "people"
        if self.on_secret:
            return "share of people alike"
        if self.what == "above":
            return "share of people"
        return "1 / people alike" if self.on_classes else "probability"

    @property
    def axis(self) -> str:
        """What is limited, in words."""
        if self.k:
            return "fewest alike"
        named = self.measure.replace("_", " ")
        if self.under:
            named += f" ({self.under})"
        whom = {"left-out": f" whose {named} is there", "value": " (missing is a value)"}
        whose = whom.get(self.if_missing, "")
        return {
            "highest": f"the highest {named}",
            BEST_GUESS: f"the largest share of one {named} among people alike{whose}",
            MEAN_GUESS: f"the mean share of people alike who have one's own {named}{whose}",
            "mean": f"the mean of {named}",
            "quantile": f"the {100 * self.at:g} % quantile of {named}",
            "above": f"people whose {named} is above {self.at:g}",
        }[self.what]


MOST_DIGITS = 18
_K = re.compile(r"\s*k\s*(?:=|>=|≥)\s*(\d+)\s*")
_NAMED = re.compile(rf"\s*(\S.*?)\s*:\s*([^:]+)|\s*([A-Za-z_]\w*|{ALIKE})\s*=\s*(.+)")
"""A column may be called anything: what stands before the last colon is its name."""
_BARE = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:<=|≤)\s*(.+)")
_LEFT = re.compile(r"([a-z]+)\s*([\d.]+(?:e[-+]?\d+)?%?)?")
_AND, _SIGN = re.compile(r"[,;&]|\band\b"), re.compile(r"[=<>≤≥:]")
_WORDS = {"max": "highest", "highest": "highest", "largest": "highest", "mean": "mean",
          "average": "mean", "q": "quantile", "above": "above"}  # fmt: skip
BY_PEERS = '"best guess <= 50%", "PPP >= 50%" or "mean PPP >= 60%"'
EXAMPLES = '"k=5", "ema", "overall: q95 <= 0.09", "overall: mean <= 0.05"'


def targets_of(given: Any, release: str | None = None) -> tuple[Target, ...]:
    """All targets that were asked for, each once, precedents as they are put to the release."""
    if release is not None and not _has_precedent(given):
        raise UsageError(
            f'release="{release}" says to which release a precedent ({", ".join(PRESETS)}) is put, '
            f"and no target is one: leave it out. A controlled release by a limit of your own asks "
            f'for its mean and that nobody is unique: [{{"overall": "mean <= 0.09"}}, "k=2"]',
            in_shell=f"--release {release} says to which release a precedent "
            f"({', '.join(PRESETS)}) is put, and no --target is one: leave it out. A controlled "
            f"release by a limit of your own asks for its mean and that nobody is unique: "
            f"--target 'overall: mean <= 0.09' --target k=2",
        )
    return _each_once(_all_of(given, release))


def _each_once(targets: Sequence[Target]) -> tuple[Target, ...]:
    """What is asked twice holds once; raise where two limits differ by no digit that is told."""
    found = tuple(dict.fromkeys(targets))
    told = [str(t) for t in found]
    if twice := next((said for said in told if told.count(said) > 1), None):
        raise UsageError(
            f"two targets differ by less than is told of them ({twice}): keep the stricter one"
        )
    return found


def _has_precedent(given: Any) -> bool:
    if isinstance(given, str):
        return given.strip().lower() in PRESETS
    return isinstance(given, Sequence) and any(map(_has_precedent, given))


def _all_of(given: Any, release: str | None) -> tuple[Target, ...]:
    if isinstance(given, Target):
        return (given,)
    if isinstance(given, str):
        return _of_text(given, release)
    if isinstance(given, Mapping):
        found = tuple(_of_measure(str(name), limit) for name, limit in given.items())
    elif isinstance(given, Sequence) and not isinstance(given, bytes):
        found = tuple(t for one in given for t in _all_of(one, release))
    else:
        raise UsageError(f"a target is a {type(given).__name__}; write one such as {EXAMPLES}")
    if not found:
        raise UsageError(f"no target; write one such as {EXAMPLES}")
    return found


def _of_text(text: str, release: str | None) -> tuple[Target, ...]:
    if len(parts := _AND.split(text)) > 1 and all(_SIGN.search(part) for part in parts):
        raise UsageError(
            f'target "{text}" is several: give them as a list, {[part.strip() for part in parts]}',
            in_shell=f'target "{text}" is several: give each its own --target; all must hold',
        )
    if alike := _K.fullmatch(text.lower()):
        if len(alike[1]) > MOST_DIGITS:
            raise UsageError(f"k has {len(alike[1])} digits; give a number of people")
        k = int(alike[1])
        if k < 2:
            raise UsageError("k=1 asks for nothing: everybody is like themselves; give 2 or more")
        return (_alike(k),)
    if text.strip().lower() in PRESETS:
        return targets_of(rule(text, release).targets)
    if named := _NAMED.fullmatch(text):
        return (_of_measure(named[1] or named[3], named[2] or named[4]),)
    if (bare := _BARE.fullmatch(text)) and bare[1].strip().lower() in PRESETS:
        _refuse_precedent(bare[1].strip())
    if bare and bare[1] != "k":
        raise UsageError(
            f'target "{text}": write what of {bare[1]} it limits, such as '
            f'"{bare[1]}: highest <= {bare[2]}" or "{bare[1]}: mean <= {bare[2]}"'
        )
    raise UsageError(
        f'target "{text}" is neither so many alike (k=5) nor a precedent ({", ".join(PRESETS)}; '
        f"{LISTED}); a limit on a measure names it: {EXAMPLES}"
    )


def _alike(k: int) -> Target:
    return Target(ALIKE, "highest", 1 / k, k=k)


def _refuse_precedent(name: str) -> NoReturn:
    raise UsageError(
        f'{name} is a precedent, which has limits of its own: write it alone, as text, "{name}"'
    )


def _of_measure(measure: str, limit: Any) -> Target:
    text = limit.replace("≤", "<=").replace("≥", ">=") if isinstance(limit, str) else ""
    if text.strip().lower().startswith((PPP, MEAN_PPP)):
        return _of_ppp(measure, text)
    left, sign, right = text.partition("<=")
    if sign and left.strip().lower() == BEST_GUESS:
        return Target(measure, BEST_GUESS, _checked(right, measure))
    if measure.strip().lower() in PRESETS:
        _refuse_precedent(measure)
    if measure == "k":
        raise UsageError('k is how many are alike: write it as text, a whole number, "k=5"')
    if is_number(limit):
        return Target(measure, "highest", _checked(limit, measure))
    if text.strip()[:1].isdigit():
        left, sign, right = "highest", "<=", text
    found = _LEFT.fullmatch(left.strip().lower())
    what = _WORDS.get(found[1]) if found else None
    if found is None or not sign or (what in ("quantile", "above")) != bool(found[2]) or not what:
        raise UsageError(
            f'target {measure}: write what of it and its limit, such as "q95 <= 0.09", '
            f'"mean <= 0.05", "highest <= 0.2" or "above 0.2 <= 1%"; of a secret {BY_PEERS}'
        )
    value = _checked(right, measure)
    at = 0.0
    if what == "quantile":
        per_cent = float(read_number(found[2], f"target {measure}"))
        at = per_cent / 100
        if not 1 / 2 <= at < 1:
            meant = f"did you mean q{100 * per_cent:g}? " * (1 / 2 <= per_cent < 1)
            raise UsageError(
                f"target {measure}: q{found[2]} is no limit for most people; {meant}Write q50 to "
                f"q99.9: a number in per cent, such as q95"
            )
    elif what == "above":
        at = _checked(found[2], measure)
    return Target(measure, what, value, at)


def _of_ppp(secret: str, text: str) -> Target:
    """Everybody's least share of peers with another secret, whichever of the columns are known.

    Among people alike the least is that of those who have the commonest secret, and a class of
    several classes has none that is lower: PPP >= q is a best guess of 1 - q at most.

    The mean over n people is 1 - sum m^2 / f / n over classes of f people and secrets, m of a class
    with each.  (m + m')^2 / (f + f') <= m^2 / f + m'^2 / f': merging lowers it no more than that.
    """
    left, sign, right = text.partition(">=")
    if not sign or left.strip().lower() not in (PPP, MEAN_PPP):
        raise UsageError(
            f'target {secret}: write how much PPP everybody keeps at least, such as "PPP >= 50%", '
            f'or its mean over people, "mean PPP >= 60%"'
        )
    kept = float(read_number(right, f"target {secret}"))
    if not 0 < kept < 1:
        nobody = "is kept by nobody: everybody is a peer of their own, too"
        why = "asks for nothing" if kept <= 0 else nobody
        percent = f", or {kept:g}% if per cent was meant" * (1 < kept < 100 and "%" not in right)
        raise UsageError(
            f"target {secret}: {left.strip()} >= {right.strip()} {why}; write a share above 0 and "
            f"below 100 %{percent or ', such as 50%'}"
        )
    what = BEST_GUESS if left.strip().lower() == PPP else MEAN_GUESS
    return Target(secret, what, 1 - kept)


def _checked(given: float | str, measure: str) -> float:
    """A limit, a number or as it was written."""
    about = f"target {measure}"
    refuse_misfit("target", measure, given, float | str)
    value = read_number(given, about) if isinstance(given, str) else given
    said = given.strip() if isinstance(given, str) else f"{given:g}"
    refuse_no_limit(value, f"{about}: a limit of {said}", alike=False)
    return float(value)
