"""The report of an assessment, in thirteen sections; aggregates only, no person's values.

What leaves the house is rounded (see telling.py); `custodian=True` writes the custodian's own copy.
Risks of single persons go to a separate file (`result.subjects`), for the custodian alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from reidbn.attack.scenariofile import is_shipped
from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.changes import what_if
from reidbn.calls import typed
from reidbn.errors import ImpossibleEvidence
from reidbn.inference.crosscheck import CrossCheck
from reidbn.release.proof import Audit, audited
from reidbn.report import assessment_results as results
from reidbn.report import assessment_threat as threat
from reidbn.report import sparse_assessment as sparse
from reidbn.report.assessment_sure import fit_status, sure_in_words
from reidbn.report.page import (
    SAFE,
    UNSAFE,
    Section,
    Sheet,
    Shown,
    left_aside,
    made_from,
    telling_of,
    write_as,
)
from reidbn.report.summary import Summary, summarise, told_check
from reidbn.report.telling import OWN_COPY, Telling
from reidbn.report.thresholds import PRESETS, Choice
from reidbn.report.unseen import ONE_TABLE

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
    worst: Assessment | None
    """None where what is given cannot happen when everything is known."""
    options: Mapping[str, Assessment] = field(default_factory=dict)
    context: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    telling: Telling = Telling()  # noqa: RUF009 - frozen


@typed
def write_html(result: Assessment, path: str | Path, **options: Any) -> Path:
    """Write the report as HTML, a failed cross-check on top; `report` does it by the ending.

    `result` is written to the file `path`; `options` are those of the page: threshold,
    release, title, context, custodian, ledger, and options (other assessments, to compare).
    """
    return write_as(".html", result, path, **options)


@typed
def write_markdown(result: Assessment, path: str | Path, **options: Any) -> Path:
    """Write the report as Markdown (figures as their tables).

    `result` is written to the file `path`; `options` are those of `to_html`.
    """
    return write_as(".md", result, path, **options)


@typed
def write_json(
    result: Assessment, path: str | Path, threshold: Choice | None = None, **options: Any
) -> Path:
    """Write every number of the report as JSON; counts that are not told are null.

    `result` is written to the file `path`, judged by `threshold`; `options` are those of `to_html`.
    """
    return write_as(".json", result, path, threshold=threshold, **options)


@typed
def numbers(
    result: Assessment,
    *,
    threshold: Choice | None = None,
    release: str | None = None,
    custodian: bool = False,
) -> dict[str, Any]:
    """Every number of the report; counts that are not told are null."""
    if sparse.is_sparse(result):
        return sparse.numbers(result, threshold, release, custodian=custodian)
    summary = summarise(result, threshold, release)
    telling = audited_telling(summary, custodian=custodian)[0]
    return summary.told(telling)


def sections(result: Assessment, telling: Telling) -> list[Section]:
    """The picture of an assessment: people by their risk, route by route."""
    return [Section("The risk of every person", shown=[results.curves(result, telling)])]


@typed
def report(
    result: Assessment,
    *,
    threshold: Choice | None = None,
    release: str | None = None,
    options: Mapping[str, Assessment] | None = None,
    context: Mapping[str, str] | None = None,
    title: str = "",
    custodian: bool = False,
) -> Sheet:
    """The report by one rule: a threshold, and a release ("public" or "controlled").

    `custodian` gives exact counts and values, for a copy that stays in the house.
    `options` are other assessments to compare (other releases, scenarios or controls); `context`
    says who receives the data and how: recipient, purpose, environment, controls, agreement.
    """
    if sparse.is_sparse(result):
        return sparse.sheet(result, Telling(custodian=custodian), threshold, release, title)
    worst: Assessment | None = result
    if not is_shipped(result.inputs.scenario, "worst-case"):
        try:
            worst = what_if(result, scenario="worst-case", columns={}, without=())
        except ImpossibleEvidence:
            worst = None
    summary = summarise(result, threshold, release)
    telling, audit = audited_telling(summary, custodian=custodian)
    rule = summary.rule
    asked = Request(result, summary, worst, options or {}, context or {}, title, telling)
    return Sheet(
        title=title
        or f"Re-identification risk: {result.inputs.attack.title or result.attack.name}",
        colour=SAFE if summary.passes else UNSAFE,
        verdict=_verdict(asked),
        sections=(
            _statement(asked),
            threat.assumptions(result, telling),
            _context(asked),
            results.data(result, telling),
            threat.threat_model(result, telling),
            _threshold(asked),
            results.results(result, worst, summary, telling),
            results.sensitivity(result, summary, telling),
            results.adversarial_test(result, telling),
            results.options_compared({"this release": result, **asked.options}, rule, telling),
            left_aside(result, telling),
            _governance(),
            _provenance(asked, audit),
        ),
        of_classes=(audit.classes.nobody, audit.classes.somebody) if audit else (0, 0),
    )


def audited_telling(summary: Summary, *, custodian: bool) -> tuple[Telling, Audit | None]:
    """How the result is told, after an integer programme has held the counts against each other."""
    plain = telling_of(summary.result, custodian=custodian)
    if custodian:
        return plain, None
    first, *rest = plain.classes
    rules = (summary.judged, summary.other)
    nobody = max(r.told_alike if r.passes else 0 for r in rules)
    somebody = 0 if summary.judged.passes else summary.judged.told_alike
    audit = audited(replace(first, nobody=nobody, somebody=somebody))
    return replace(plain, classes=(audit.classes, *rest)), audit


def _verdict(asked: Request) -> list[str]:
    s = asked.summary
    if s.failure:
        lines = told_check(asked.result.crosscheck, asked.telling)
        return [s.failure, *(lines if asked.telling.custodian else lines[:2])]
    return [
        s.told_verdict(asked.telling),
        *s.notes_on_the_rule(asked.telling),
        s.told_risk(asked.telling),
        s.threshold.about,
        *([OWN_COPY] if asked.telling.custodian else []),
    ]


def _statement(asked: Request) -> Section:
    s, telling = asked.summary, asked.telling
    sure = sure_in_words(asked.result, telling)
    rows = []
    for name in s.measures:
        values = asked.result.risk(name)
        row = sure.get(name)
        rows.append([
            name.replace("_", " "), telling.mean_in_words(values),
            f"{row['low']} to {row['high']}" if row else "-",
            telling.quantile_in_words(values, 0.5), telling.quantile_in_words(values, 0.95),
            telling.highest_in_short(values),
        ])  # fmt: skip
    status = fit_status(asked.result)
    fits = (
        f"What stands on the population is estimated ({status}). The interval is what the table "
        f"leaves open about the estimate; whether the model suits the table is not in it."
    )
    return Section(
        "Statement and verdict",
        text=[s.told_verdict(telling), s.told_risk(telling)],
        bullets=[
            f"The rule of this report: {s.rule.asks}.",
            *([fits] if status else []),
            "Valid until: ____________    Signed: ____________    Role: ____________",
        ],
        shown=[Shown("Risk by route", ("measure", "mean", "95 % interval of the mean", "median",
                                       "95 % are below", telling.highest_head), rows)],
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
    s = asked.summary
    other = s.other
    rows = [[t.name, str(t.k), f"{t.value:g}", t.release or "either", t.recipient, t.source]
            for t in PRESETS.values()]  # fmt: skip
    return Section(
        "Threshold",
        text=[
            f"The rule: {s.rule.title}. It asks that {s.rule.asks}.",
            s.threshold.about,
            f"Precedents are about people alike on every quasi-identifier when an attempt is "
            f"certain. For comparison only, a rule that this report does not use: "
            f"{_lower(other.sentence(asked.telling))}",
        ],
        details=[Shown("Precedents", ("name", "alike", "1/class", "release", "for", "source"),
                       rows)],
    )  # fmt: skip


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


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


def _provenance(asked: Request, audit: Audit | None) -> Section:
    result, telling = asked.result, asked.telling
    made = made_from(result, telling)
    about = {k: v for k, v in made.items() if not isinstance(v, dict | list)}
    about |= {name: version(name) for name in ("numpy", "scipy", "pandas", "pgmpy")}
    rows = [[k.replace("_", " "), f"{v:,.0f}" if isinstance(v, float) else str(v)]
            for k, v in about.items() if v is not None]  # fmt: skip
    text = ["Anyone with the table, the model and the scenario can make these numbers again."]
    first, *checks = told_check(result.crosscheck, telling)
    text.append(f"{first[:1].upper()}{first[1:]}.")
    text += [] if audit is None else [audit.in_words(), ONE_TABLE]
    details = [_cells(result.crosscheck, telling)]
    return Section(
        "Provenance and cross-check",
        text=text,
        bullets=checks,
        shown=[Shown("Made from", ("what", "value"), rows)],
        details=details,
    )


def _cells(check: CrossCheck, telling: Telling) -> Shown:
    """The verdicts on the mean and the tenths of people; the numbers stay with the custodian."""
    kept = [c for c in check.cells if not c.what.startswith("risk of a subject")]
    caption = "Cross-check of the mean and of the tenths of people by risk"
    if not telling.custodian:
        return Shown(caption, ("what", "verdict"), [[c.what, c.verdict] for c in kept])
    rows = [
        [c.what, f"{c.exact:.4g}", f"{c.sampled or 0:.4g}", c.verdict, f"{c.would_catch:.2g}"]
        for c in kept
    ]
    return Shown(caption, ("what", "exact", "sampled", "verdict", "would catch"), rows)
