"""The summary of an assessment: the verdict, the measures, what drives them, the checks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from reidbn.attacks.assessment import OVERALL, THRESHOLDS, Assessment
from reidbn.attacks.drivers import drivers
from reidbn.attacks.register import assumed
from reidbn.report.suppression import SMALLEST
from reidbn.report.thresholds import NOT_LEGAL_ADVICE, Threshold, threshold
from reidbn.report.words import one_in, people, per_cent

QUANTILES = (0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class Summary:
    """An assessment in a page of text; `to_dict` holds the same numbers."""

    result: Assessment
    threshold: Threshold

    @cached_property
    def measures(self) -> dict[str, dict[str, float]]:
        """Mean, quantiles and maximum over people of every measure."""
        out = {}
        for name in self.result.measures:
            values = self.result.risk(name)
            quantiles = np.quantile(values, QUANTILES, method="inverted_cdf")
            out[name] = {
                "mean": float(values.mean()),
                **{f"q{100 * q:g}": float(v) for q, v in zip(QUANTILES, quantiles, strict=True)},
                "max": float(values.max()),
            }
        return out

    @cached_property
    def above(self) -> int:
        """People whose overall risk is above the threshold."""
        return int((self.result.risk() > self.threshold.value).sum())

    @property
    def passes(self) -> bool:
        """Nobody is above the threshold, and the cross-check found nothing wrong."""
        return self.above == 0 and not self.failure

    @cached_property
    def failure(self) -> str:
        """Why these numbers cannot be used: the cross-check disagrees.  Empty otherwise."""
        if self.result.inputs.given or not self.result.crosscheck.failed:
            return ""
        return (
            "THE CROSS-CHECK FAILED: an exact number disagrees with the attack acted out or with "
            "another engine. Do not use the numbers below; please report this as a fault of reidbn."
        )

    @cached_property
    def drivers(self) -> Any:
        return drivers(self.result)

    @property
    def verdict(self) -> str:
        """One sentence, for the custodian; a small count is written out."""
        return self._verdict(people(self.above, len(self.result)))

    @property
    def public_verdict(self) -> str:
        """One sentence for a report that leaves the house: no small count."""
        if self.above < SMALLEST:
            return self._verdict(f"fewer than {SMALLEST} of {len(self.result):,} people")
        return self._verdict(people(self.above, len(self.result)))

    def _verdict(self, who: str) -> str:
        inputs = self.result.inputs
        highest = one_in(self.measures[OVERALL]["max"])
        what = f"the {inputs.attack.name} attack under the scenario {inputs.scenario.name}"
        if self.failure:
            return self.failure
        if self.passes:
            return (
                f"Under the threshold: against {what} nobody's risk is above "
                f"{self.threshold.value:g}; the highest is {highest}."
            )
        return (
            f"Above the threshold: against {what} "
            f"{who} have a risk above "
            f"{self.threshold.value:g}; the highest is {highest}."
        )

    def to_dict(self) -> dict[str, Any]:
        table = self.result.above(sorted({*THRESHOLDS, self.threshold.value}))
        return {
            "verdict": self.verdict,
            "passes": self.passes,
            "threshold": {"value": self.threshold.value, "source": self.threshold.source},
            "people": len(self.result),
            "measures": self.measures,
            "people_above": {f"{t:g}": row.to_dict() for t, row in table.iterrows()},
            "attributes": self.drivers.table().to_dict(orient="records"),
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            "crosscheck": _crosscheck(self.result),
            "provenance": dict(self.result.provenance),
        }

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the risks stand on that somebody chose; the same count everywhere."""
        return assumed(self.result)

    @property
    def notes(self) -> tuple[str, ...]:
        population = self.result.population
        return (*self.result.groups.notes, *(population.notes if population else ()))

    def __str__(self) -> str:
        lines = [
            self.verdict,
            "",
            f"  {'risk':18}{'mean':>10}{'median':>10}{'95 %':>10}{'max':>10}",
        ]
        for name, found in self.measures.items():
            cells = "".join(f"{found[k]:10.4g}" for k in ("mean", "q50", "q95", "max"))
            lines.append(f"  {name:18}{cells}")
        lines += ["", f"  People above a threshold (overall risk; {NOT_LEGAL_ADVICE.lower()})"]
        for t, row in self.result.above().iterrows():
            lines.append(f"  {t:6g}  {people(int(row[OVERALL]), len(self.result))}")
        lines += ["", f"  What adds most to the mean risk ({self.drivers.method}):"]
        mean = max(self.measures[OVERALL]["mean"], 1e-300)
        for _, row in self.drivers.table().iterrows():
            share = per_cent(row.contribution / mean)
            lines.append(f"  {row.group:24}{row.contribution:10.4g}  ({share} of the mean)")
        if self.assumptions:
            shown = ", ".join(self.assumptions)
            lines += ["", f"  Assumptions ({len(self.assumptions)}): {shown}"]
        lines += [f"  Note: {note}" for note in self.notes]
        return "\n".join(lines) + _crosscheck_line(self.result)

    __repr__ = __str__


def _crosscheck(result: Assessment) -> dict[str, Any] | None:
    return None if result.inputs.given else result.crosscheck.to_dict()


def _crosscheck_line(result: Assessment) -> str:
    if result.inputs.given:
        return "\n  Not cross-checked: many subjects with evidence."
    return "\n\n" + "\n".join("  " + line for line in str(result.crosscheck).splitlines())


def summarise(result: Assessment, choice: str | float = 0.09) -> Summary:
    """The summary against a threshold: a preset's name or a value."""
    result.refuse_part("a verdict")
    return Summary(result, threshold(choice))
