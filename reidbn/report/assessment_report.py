"""The report of an assessment; aggregates only, no person's values.

First the verdict, to whom, on what condition and what next; then six sections.

What leaves the house is rounded (see telling.py); `custodian=True` writes the custodian's own copy.
Risks of single persons go to a separate file (`result.subjects`), for the custodian alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any

from reidbn.above import is_above
from reidbn.attack.attack import Attack
from reidbn.attack.modelfile import load, models
from reidbn.attack.scenariofile import is_shipped, load_scenario
from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.changes import what_if
from reidbn.attacks.routes.following import KnownOtherwise
from reidbn.attacks.routes.inputs import Inputs
from reidbn.attacks.routes.placing import NamedOtherwise
from reidbn.attacks.routes.speaking import model_for
from reidbn.attacks.routes.subject_data import stands_on_the_table
from reidbn.calls import typed
from reidbn.errors import ImpossibleEvidence
from reidbn.inference.crosscheck import CrossCheck
from reidbn.release.counts import PART, STEP, Alike, Enclosed
from reidbn.release.proof import Audit, audited
from reidbn.report import assessment_moves as moves
from reidbn.report import assessment_results as results
from reidbn.report import assessment_threat as threat
from reidbn.report import sparse_assessment as sparse
from reidbn.report.assessment_sure import fit_status
from reidbn.report.counting import OWN_COPY
from reidbn.report.page import (
    PLAIN,
    SAFE,
    UNSAFE,
    Section,
    Sheet,
    Shown,
    Stated,
    context_of,
    left_aside,
    made_from,
    telling_of,
    write_as,
)
from reidbn.report.summary import Summary, summarise, told_check, told_not
from reidbn.report.telling import FEWEST, Telling
from reidbn.report.thresholds import (
    PRESETS,
    Choice,
    Judged,
    Rule,
    least_change,
    tells_changes,
)

NOT_STATED = "not stated"
GOVERNANCE = (
    "Assess again when the data are extended or linked, when another recipient asks, when a "
    "scenario's list or account changes, or after an incident.",
    "Keep the file of per-person risks with the custodian; this report holds aggregates.",
    "Date: ____________    Review by: ____________    Valid until: ____________    "
    "Signed: ____________    Role: ____________",
)
UNSTATED = Stated(
    "Nothing is stated of who receives the data and how (--recipient, context=), and nothing of it "
    "was taken into account."
)
FLIPS = ("The verdict flips", "No single assumption")
MOST_SHOWN = 60  # signs of column names in a command
LEFT_OUT = "..."  # what the reader has at hand
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
    result.refuse_simulated("a report")
    if sparse.is_sparse(result):
        return sparse.numbers(result, threshold, release, custodian=custodian)
    summary = summarise(result, threshold, release)
    telling = audited_telling(summary, custodian=custodian)[0]
    return summary.told(telling)


def sections(result: Assessment, telling: Telling) -> list[Section]:
    """The picture of an assessment: people by their risk, route by route."""
    result.refuse_simulated("a picture of how many are above each risk")
    title = "The risk of every person"
    if telling.kept_back:
        shown = [results.means_by_route(result, telling)]
        return [Section(title, text=[f"{told_not(telling)}."], shown=shown)]
    return [Section(title, shown=[results.curves(result, telling)])]


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
    result.refuse_simulated("a report")
    if sparse.is_sparse(result):
        return sparse.sheet(result, Telling(custodian=custodian), threshold, release, title)
    worst = _worst_case(result)
    summary = summarise(result, threshold, release)
    telling, audit = audited_telling(summary, custodian=custodian)
    asked = Request(result, summary, options or {}, context_of(context), title, telling)
    options_ = _options(asked)
    moved = moves.sensitivity(result, summary, telling, options_)
    return Sheet(
        title=title
        or f"Re-identification risk: {result.inputs.attack.title or result.attack.name}",
        colour=_colour(summary, telling),
        headline=_headline(summary, telling),
        verdict=_verdict(asked),
        answers=() if summary.failure else _answers(asked, moved),
        sections=(
            results.results(result, worst, summary, telling),
            moved,
            threat.threat_model(result, telling),
            _data_and_rule(asked),
            left_aside(result, telling),
            _provenance(asked, audit),
        ),
        of_classes=(audit.classes.nobody, audit.classes.somebody) if audit else (0, 0),
    )


def _worst_case(result: Assessment) -> Assessment | str:
    """The same where everything is known for sure; or why it is not beside.

    As the attack is by itself; where the scenario's own numbers and controls make a risk higher
    than that, with these.
    """
    own, attack, shipped = result.inputs.scenario, result.inputs.attack, load_scenario("worst-case")
    if is_shipped(own, shipped.name):
        return result
    with_own = replace(
        shipped,
        set={name: value for name, value in own.set.items() if name in attack.settable},
        do={name: state for name, state in own.do.items() if name in attack.nodes},
        given={name: state for name, state in own.given.items() if name in attack.nodes},
    )
    try:
        for scenario in (shipped, with_own):
            worst: Assessment = what_if(result, scenario=scenario, columns={}, without=())
            if not is_above(result.risk(), worst.risk()).any():
                return worst
    except ImpossibleEvidence:
        return results.NOT_POSSIBLE
    except (NamedOtherwise, KnownOtherwise) as why:
        return f"{results.NO_WORST}: {why}."
    return results.NOT_WORST


def _options(asked: Request) -> Section:
    """The releases that were named; where none was, the best for the rule, if found at once."""
    result, s, telling = asked.result, asked.summary, asked.telling
    found = dict(asked.options)
    if found or s.told_passes(telling) or s.judged.is_open(telling) or s.failure:
        by = getattr(asked.options, "by", "")
        return results.options_compared({"this release": result, **found}, s.rule, telling, by)
    if not telling.custodian and not _may_tell_changes(asked):
        return results.options_compared({"this release": result}, s.rule, telling)
    best = result._beside(s.rule, custodian=telling.custodian)
    return results.best_options(result, best, s.rule, telling)


def _may_tell_changes(asked: Request) -> bool:
    people = asked.result.inputs.people
    return len(people) >= FEWEST and tells_changes(asked.telling, people, asked.summary.rule)


def audited_telling(summary: Summary, *, custodian: bool) -> tuple[Telling, Audit | None]:
    """How the result is told, after an integer programme has held the counts against each other."""
    plain = telling_of(summary.result, custodian=custodian)
    if custodian:
        return plain, None
    return held_together(plain, (summary.judged, summary.other))  # each is on the page


def held_together(plain: Telling, both: Sequence[Judged]) -> tuple[Telling, Audit]:
    """Counts and verdicts as they may be told beside each other.

    Whether a mean keeps its limit is told where it follows from the counts without it, so that this
    choice tells nothing; whether anybody is unique is then held against them.
    """
    first, *rest = plain.classes
    public = [judged for judged in both if judged.rule.is_public]
    while True:
        before = audited(_with_verdicts(first, public, plain))
        told = replace(plain, classes=(before.classes, *rest))
        audit = audited(_with_verdicts(before.classes, both, told))
        if audit.classes.without == before.classes.without:  # by which a mean was judged
            break
        first = replace(first, without=audit.classes.without)
    rest = [replace(classes, nobody=audit.classes.nobody) for classes in rest]
    return replace(plain, classes=(audit.classes, *rest)), audit


def _with_verdicts(classes: Alike, rules: Sequence[Judged], telling: Telling) -> Alike:
    """Classes, and of which verdicts say that nobody, or that somebody, is in one."""
    said = [one for judged in rules for one in judged.told_alike(telling)]
    nobody = max((size for size, passes in said if passes), default=0)
    somebody = min((size for size, passes in said if size and not passes), default=0)
    return replace(classes, nobody=nobody, somebody=somebody)


def _colour(s: Summary, telling: Telling) -> str:
    passes = s.told_passes(telling)
    if passes is None:
        return PLAIN
    return SAFE if passes else UNSAFE


def _headline(s: Summary, telling: Telling) -> str:
    if s.failure:
        return "Do not release: the cross-check failed."
    passes = s.told_passes(telling)
    release = f"{s.rule.release} release"
    if s.judged.is_open(telling):
        return f"By its estimate of the population alone this rule allows a {release}."
    if passes is None:
        return f"The custodian's own copy says whether this rule allows a {release}."
    if not passes:
        return f"No {release} of this table as it is."
    return f"This rule allows a {release}{f' of {s.only}' if s.only else ''}."


def _verdict(asked: Request) -> list[str]:
    s = asked.summary
    if s.failure:
        lines = told_check(asked.result.crosscheck, asked.telling)
        return [s.failure, *(lines if asked.telling.custodian else lines[:2])]
    return [s.told_verdict(asked.telling), *([OWN_COPY] if asked.telling.custodian else [])]


def _answers(asked: Request, moved: Section) -> list[tuple[str, Sequence[str]]]:
    """To whom, on what condition, and what to do next."""
    s, telling = asked.summary, asked.telling
    recipient = asked.context.get("recipient")
    to = [
        *([Stated(f"Stated recipient: {recipient}.")] if recipient else []),
        f"Judged for a {s.rule.release} release: {s.rule.asks}. {s.threshold.about}",
        *s.notes_on_the_rule(telling),
    ]
    flips = [said for said in moved.bullets if said.startswith(FLIPS)]
    rest = moves.ONLY_THE_TABLE if s.rule.on_classes else " ".join(flips)
    most = moves.moves_most(moved, asked.result)
    condition = [said for said in (rest, f"{s.told_risk(telling)} {most}".strip()) if said]
    return [("To whom?", to), ("On what condition?", condition), ("What next?", _next(asked))]


KEEP_ROOM = (
    "Keep the limit with room: reidbn recommend with a lower one, and assess that table. Where "
    "survey weights say who is unique, a model has an interval: --population-model structured."
)


def _next(asked: Request) -> list[str]:
    """What would do, of what this report can see; and the command that searches further."""
    s, result = asked.summary, asked.result
    if s.told_passes(asked.telling):
        alone = f"See that it is {s.only} which goes out. " if s.only else ""
        return [f"{alone}Read what was not looked at, and sign at the end. {GOVERNANCE[0]}"]
    if s.judged.is_open(asked.telling):
        return [KEEP_ROOM]
    rule, found = s.rule, []
    if rule.on_classes and tells_changes(asked.telling, result.inputs.people, rule):
        change = least_change(result.inputs.people, rule)
        if change is not None:
            of = f" of {s.only}" if s.only else ""
            found.append(f"One change{of} that is enough for this rule: the table {change.what}.")
        elif result.table.quasi_identifiers:
            found.append("No column left out, nor one level coarser, is enough by itself.")
    python = "; in Python, plan.result.report(path, options=plan.options()) shows the best ways"
    if s.told_passes(asked.telling) is None:
        found.append("Read the verdict in the custodian's own copy, and where it does not pass:")
    counts = [n for n in result.inputs.subject if stands_on_the_table(result.inputs.attack, n)]
    if counts and not rule.on_classes:
        said = (
            f"No search for the least change keeps {_listed(counts)} of subject=, which tells of "
            f"the table as it is: change the table, and assess it."
        )
        return [*found, said]
    found.append(
        f"{command_to_search(result, rule)} searches for the least change that keeps the rule"
        f"{_to_be_filled_in(asked)}. "
        f"Then assess the changed table again{'' if rule.on_classes else python}."
    )
    return found


def _to_be_filled_in(asked: Request) -> str:
    """What a search is to be told besides, which a report does not know or does not tell."""
    people = asked.result.inputs.people
    secret = _listed(people.sensitive)
    more = [
        "your file in place of TABLE",
        "--hierarchy or --auto for columns that may be made coarser and not only dropped",
        *([f"--sensitive {secret} as here"] if people.sensitive else []),
        "--write FILE for the changed table",
    ]
    return f" ({', '.join(more)})"


def command_to_search(result: Assessment, rule: Rule) -> str:
    """`reidbn recommend` for this table and rule, as it was asked here.

    What the shell cannot say is a call in Python; `...` stands for what the reader has at hand.
    """
    inputs, limit = result.inputs, rule.limit
    named = rule.on_classes and not limit.is_own
    targets = [limit.name] if named else rule.targets
    asked: dict[str, Any] = {} if rule.on_classes else _about_the_attack(inputs)
    more = () if rule.on_classes else _in_python_alone(inputs)
    if named and limit.release != rule.release:
        asked["release"] = rule.release
    if more:
        said = [f"target={targets!r}", *(f"{name}={value!r}" for name, value in asked.items()),
                *(f"{name}={LEFT_OUT}" for name in more if name not in asked)]  # fmt: skip
        return f"rb.recommend(people, {', '.join(said)})".replace(repr(LEFT_OUT), LEFT_OUT)
    words = [f"--qi {_listed(inputs.people.quasi_identifiers)}"]
    for one in targets:
        told = [one] if isinstance(one, str) else [f"{name}:{of}" for name, of in one.items()]
        words += [f"--target {quote(text)}" for text in told]
    for name, value in asked.items():
        plain = _listed(value) if isinstance(value, list) else value
        words.append(f"--{name.replace('_', '-')} {plain}")
    return " ".join(["reidbn recommend TABLE", *words])


def _about_the_attack(inputs: Inputs) -> dict[str, Any]:
    """The attack and what is known, by the names that --options have, too."""
    attack, name = inputs.attack, inputs.scenario.name
    found: dict[str, Any] = {
        "attack": attack.name if _is_shipped(attack) else LEFT_OUT,
        "scenario": name if is_shipped(inputs.scenario, name) else LEFT_OUT,
    }
    if inputs.population is not None:
        exact = inputs.population
        number = int(exact) if float(exact).is_integer() else exact
        is_told = inputs.as_told(Telling()) is inputs  # else it would count people
        found["population"] = number if is_told else LEFT_OUT
        if inputs.population_model != model_for(inputs.people, None):
            found["population_model"] = inputs.population_model
    if inputs.unknown:
        found["unknown"] = [*inputs.unknown]
    return found


def _is_shipped(attack: Attack) -> bool:
    return attack.name in models() and load(attack.name) == attack


def _in_python_alone(inputs: Inputs) -> list[str]:
    """What was asked for that `reidbn recommend` has no option for."""
    changed = inputs.attack.name in models() and not _is_shipped(inputs.attack)  # as by a policy
    asked = {"attack": changed, "set": inputs.said, "do": inputs.do, "given": inputs.given,
             "columns": inputs.columns, "without": inputs.without, "subject": inputs.subject,
             "beyond_range": inputs.beyond_range}  # fmt: skip
    return [name for name, value in asked.items() if value]


def _listed(names: Sequence[str]) -> str:
    """Columns of an option; what is long, or hard for a shell, is left to the reader."""
    said = ",".join(names)
    is_plain = quote(said) == said and not any("," in name for name in names)
    return said if is_plain and len(said) < MOST_SHOWN else LEFT_OUT


def _data_and_rule(asked: Request) -> Section:
    """The table, the release, and the rule with the precedents."""
    s, telling = asked.summary, asked.telling
    data = results.data(asked.result, telling)
    rows = [[text, asked.context.get(key, NOT_STATED)] for key, text in _CONTEXT]
    known = {key for key, _ in _CONTEXT}
    rows += [[k, v] for k, v in asked.context.items() if k not in known]
    stated = Shown("The release", ("question", "answer"), rows, is_stated=True)
    rows = [[t.name, t.release or "either", t.asks, t.recipient, t.source]
            for t in PRESETS.values()]  # fmt: skip
    heads = ("name", "release", "asks (of either: of a public one)", "for", "source")
    precedents = Shown("Precedents", heads, rows)
    return replace(
        data,
        text=[
            *data.text,
            f"The rule: {s.rule.title}. It asks that {s.rule.asks}.",
            f"Precedents are about people alike on every quasi-identifier when an attempt is "
            f"certain. For comparison only, a rule that this report does not use: "
            f"{_lower(s.told_other(telling))}",
            *([] if asked.context else [UNSTATED]),
        ],
        shown=[*data.shown, *([stated] if asked.context else [])],
        details=[*data.details, *([] if asked.context else [stated]), precedents],
    )  # fmt: skip


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _provenance(asked: Request, audit: Audit | None) -> Section:
    result, telling = asked.result, asked.telling
    made = made_from(result, telling)
    about = {k: v for k, v in made.items() if not isinstance(v, dict | list)}
    about |= {name: version(name) for name in ("numpy", "scipy", "pandas", "pgmpy")}
    rows = [[k.replace("_", " "), f"{v:,.0f}" if isinstance(v, float) else str(v)]
            for k, v in about.items() if v is not None]  # fmt: skip
    tested = results.adversarial_test(result, telling)
    first, *checks = told_check(result.crosscheck, telling)
    text = [f"{first[:1].upper()}{first[1:]}."]
    text += [] if audit is None else [audit.in_words(), *_not_held(asked.summary, telling)]
    status = fit_status(result, telling)
    fits = [f"What stands on the population is estimated ({status}). The interval is what the "
            f"table leaves open about the estimate; whether the model suits the table is not in "
            f"it."] if status else []  # fmt: skip
    return Section(
        "Provenance and cross-check",
        text=text,
        bullets=GOVERNANCE,
        folded=[("What was checked against what", [*tested.text, *checks, *fits])],
        details=[
            *([] if telling.kept_back else tested.shown),
            *([_cells(result.crosscheck)] if telling.custodian else []),
            Shown("Made from", ("what", "value"), rows),
        ],
    )  # fmt: skip


def _not_held(summary: Summary, telling: Telling) -> list[str]:
    """Of which risks counts are told by what the classes leave of them, or not at all."""
    if telling.kept_back:  # of the risks the mean alone is told
        return []
    result = summary.result
    ladders = {n.replace("_", " "): telling.ladder(result.risk(n)) for n in result.measures}
    between = [name for name, ladder in ladders.items() if isinstance(ladder, Enclosed)]
    said = [
        f"Risks that hang on more than a class, such as on who is unique in the population "
        f"({', '.join(between)}): how many people are above a level is told as far as the classes "
        f"say it, from where each risk is the least that its class leaves to where it is the most, "
        f"and the mean in steps of {STEP} / people, or of {PART}, besides. A reader who knows "
        f"every chance could hold finer counts against the classes; the custodian's own copy has "
        f"them."
    ]  # fmt: skip
    not_told = [name for name, ladder in ladders.items() if ladder.is_kept_back]
    none = [
        f"Of {', '.join(not_told)} the mean alone is told, in such steps: it follows from no class."
    ]
    return [*(said if between else []), *(none if not_told else [])]


def _cells(check: CrossCheck) -> Shown:
    """The mean and the tenths of people, for the custodian: which are rare tells of them."""
    kept = [c for c in check.cells if not c.what.startswith("risk of a subject")]
    rows = [
        [c.what, f"{c.exact:.4g}", f"{c.sampled or 0:.4g}", c.verdict, f"{c.would_catch:.2g}"]
        for c in kept
    ]
    heads = ("what", "exact", "sampled", "verdict", "would catch")
    return Shown("Cross-check of the mean and of the tenths of people by risk", heads, rows)
