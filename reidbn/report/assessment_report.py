"""The report of an assessment, in twelve sections; aggregates only, no person's values.

Counts below the smallest cell are suppressed, with complementary suppression.  Risks of single
persons go to a separate file (`result.subjects`), which is for the custodian alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reidbn.attacks.assessment import OVERALL, Assessment
from reidbn.attacks.changes import what_if
from reidbn.inference.crosscheck import CrossCheck
from reidbn.report import assessment_results as results
from reidbn.report import assessment_threat as threat
from reidbn.report.page import SAFE, UNSAFE, Page, Section, Shown, html, markdown, write
from reidbn.report.summary import Summary, summarise
from reidbn.report.suppression import SMALLEST
from reidbn.report.thresholds import NOT_LEGAL_ADVICE, PRESETS
from reidbn.report.words import one_in

NOT_STATED = "not stated"
_CONTEXT = (
    ("recipient", "Who receives the data"),
    ("purpose", "What they will use them for"),
    ("environment", "Where and how they may use them"),
    ("controls", "What keeps them from an attack"),
    ("agreement", "What they have signed"),
)


@dataclass(frozen=True, eq=False)
class Request:
    """What a report is asked to hold beside the assessment itself."""

    result: Assessment
    summary: Summary
    worst: Assessment
    options: Mapping[str, Assessment] = field(default_factory=dict)
    context: Mapping[str, str] = field(default_factory=dict)
    title: str = ""


def write_html(result: Assessment, path: str | Path, **options: Any) -> Path:
    """Write the report as one self-contained HTML file, a failed cross-check on top."""
    return write(html(report(result, **options)), path)


def write_markdown(result: Assessment, path: str | Path, **options: Any) -> Path:
    """Write the report as Markdown (figures as their tables)."""
    return write(markdown(report(result, **options)), path)


def write_json(result: Assessment, path: str | Path, threshold: str | float = 0.09) -> Path:
    """Write every number of the report as JSON; small counts are null."""
    found = summarise(result, threshold)
    numbers = found.to_dict() | {"verdict": found.public_verdict}
    for counts in numbers["people_above"].values():
        for measure, count in counts.items():
            counts[measure] = None if 0 < count < SMALLEST else count
    numbers["crosscheck"] = {k: v for k, v in (numbers["crosscheck"] or {}).items() if k != "cells"}
    text = json.dumps(numbers, indent=1, default=float)
    return write(text + "\n", path)


def report(
    result: Assessment,
    *,
    threshold: str | float = 0.09,
    options: Mapping[str, Assessment] | None = None,
    context: Mapping[str, str] | None = None,
    title: str = "",
) -> Page:
    """The report against a threshold.

    `options` are other assessments to compare (other releases, scenarios or controls); `context`
    says who receives the data and how: recipient, purpose, environment, controls, agreement.
    """
    worst = result
    if result.inputs.scenario.name != "worst-case":
        worst = what_if(result, scenario="worst-case", columns={}, without=())
    summary = summarise(result, threshold)
    asked = Request(result, summary, worst, options or {}, context or {}, title)
    return Page(
        title=title
        or f"Re-identification risk: {result.inputs.attack.title or result.attack.name}",
        colour=SAFE if summary.passes else UNSAFE,
        verdict=_verdict(asked),
        sections=(
            _statement(asked),
            threat.assumptions(result),
            _context(asked),
            results.data(result),
            threat.threat_model(result),
            _threshold(asked),
            results.results(result, worst, summary),
            results.sensitivity(result, summary.threshold.value),
            results.adversarial_test(result),
            results.options_compared({"this release": result, **asked.options}, summary.threshold),
            _governance(),
            _provenance(asked),
        ),
    )


def _verdict(asked: Request) -> list[str]:
    s = asked.summary
    mean, worst = s.measures[OVERALL]["mean"], asked.worst.risk().mean()
    if s.failure:
        return [s.failure, *(line.strip() for line in str(asked.result.crosscheck).splitlines())]
    return [
        s.public_verdict,
        f"The average person's risk is {one_in(mean)}; with everything known it would be "
        f"{one_in(float(worst))}.",
        f"The threshold of {s.threshold.value:g} ({s.threshold.recipient}): {s.threshold.source}. "
        f"{NOT_LEGAL_ADVICE}",
    ]


def _statement(asked: Request) -> Section:
    s = asked.summary
    rows = [[m.replace("_", " "), one_in(v["mean"]), one_in(v["q50"]), one_in(v["q95"]),
             one_in(v["max"])] for m, v in s.measures.items()]  # fmt: skip
    unique = bool((asked.result.classes.sizes[-1] == 1).any())
    return Section(
        "Statement and verdict",
        text=[s.public_verdict],
        bullets=[
            f"Maximum risk (public release): {one_in(s.measures[OVERALL]['max'])}.",
            f"Average risk (controlled release): {one_in(s.measures[OVERALL]['mean'])}.",
            "Strict average: "
            + ("not met, because some people are unique on everything that may be known."
               if unique else "met, because nobody is unique on everything that may be known."),
            "Valid until: ____________    Signed: ____________    Role: ____________",
        ],
        shown=[Shown("Risk by route", ("measure", "mean", "median", "95 % are below", "highest"),
                     rows)],
    )  # fmt: skip


def _context(asked: Request) -> Section:
    rows = [[text, asked.context.get(key, NOT_STATED)] for key, text in _CONTEXT]
    known = {key for key, _ in _CONTEXT}
    rows += [[k, v] for k, v in asked.context.items() if k not in known]
    return Section(
        "Release context",
        text=["What is not stated here was not taken into account."],
        shown=[Shown("The release", ("question", "answer"), rows)],
    )


def _threshold(asked: Request) -> Section:
    chosen = asked.summary.threshold
    rows = [[t.name, f"{t.value:g}", t.recipient, t.source] for t in PRESETS.values()]
    return Section(
        "Threshold",
        text=[
            f"This report uses {chosen.value:g} ({chosen.recipient}): {chosen.source}. "
            f"{NOT_LEGAL_ADVICE}",
            "A public release is judged by the maximum over people; a controlled one by the "
            "average, provided that nobody is unique.",
        ],
        details=[Shown("Precedents", ("name", "threshold", "for", "source"), rows)],
    )


def _governance() -> Section:
    return Section(
        "Governance",
        text=["The risk was assessed for the data, the recipient and the knowledge stated above."],
        bullets=[
            "Review by: ____________",
            "Assess again when the data are extended or linked, when another recipient asks, when "
            "a scenario's list or account changes, or after an incident.",
            "Keep the file of per-person risks with the custodian; this report holds aggregates.",
        ],
    )


def _provenance(asked: Request) -> Section:
    result = asked.result
    about = dict(result.provenance)
    about |= {name: version(name) for name in ("numpy", "scipy", "pandas", "pgmpy")}
    rows = [[k.replace("_", " "), f"{v:,.0f}" if isinstance(v, float) else str(v)]
            for k, v in about.items()]  # fmt: skip
    details, checks = [], []
    text = ["Anyone with the table, the model and the scenario can make these numbers again."]
    if not result.inputs.given:
        first, *checks = (line.strip() for line in str(result.crosscheck).splitlines())
        text.append(f"{first[:1].upper()}{first[1:]}:")
        details.append(_cells(result.crosscheck))
    return Section(
        "Provenance and cross-check",
        text=text,
        bullets=checks,
        shown=[Shown("Made from", ("what", "value"), rows)],
        details=details,
    )


def _cells(check: CrossCheck) -> Shown:
    """The verdicts on the mean and the tenths; single people stay with the custodian."""
    rows = [
        [c.what, f"{c.exact:.4g}", f"{c.sampled or 0:.4g}", check.verdicts[c.what],
         f"{c.would_catch:.2g}"]
        for c in check.cells
        if not c.what.startswith("risk of a subject")
    ]  # fmt: skip
    caption = "Cross-check of the mean and of the tenths by risk"
    return Shown(caption, ("what", "exact", "sampled", "verdict", "would catch"), rows)
