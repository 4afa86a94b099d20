"""The report of an assessment of a sparse table: the risk, who is wrongly named, what it stands on.

Rules on how many people are alike say nothing of a table without quasi-identifiers: it is judged by
a limit on a risk, where one is named, and by nothing else.
"""

from __future__ import annotations

from typing import Any

from reidbn.above import is_above
from reidbn.attacks.linkage.columns import SparsePeople
from reidbn.attacks.linkage.model_truth import measure_of
from reidbn.attacks.linkage.plausible import (
    WHAT,
    fits_nobody,
    if_plausible,
    keeps_all_the_same,
)
from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.drawn import is_undecided, remedy
from reidbn.errors import UsageError
from reidbn.report import assessment_results as results
from reidbn.report import assessment_threat as threat
from reidbn.report.counting import OWN_COPY
from reidbn.report.page import (
    PLAIN,
    SAFE,
    UNSAFE,
    Section,
    Sheet,
    Shown,
    first_screen,
    in_numbers,
    left_aside,
    numbers_of,
    stands_on,
    telling_of,
)
from reidbn.report.telling import Telling
from reidbn.report.thresholds import Choice, RiskLimit
from reidbn.report.thresholds import threshold as limit_of


def is_sparse(result: Assessment) -> bool:
    """Whether the people are those of a sparse table."""
    return isinstance(result.inputs.people, SparsePeople)


def refuse_classes(threshold: Choice | None, release: str | None) -> RiskLimit | None:
    """The limit on a risk that was named; rules on people alike are refused."""
    limit = None if threshold is None else limit_of(threshold)
    if release is not None or (limit is not None and limit.k):
        raise UsageError(
            "a rule on how many people are alike says nothing of a sparse table, in which nobody "
            'has quasi-identifiers: name a limit on a risk, threshold={"overall": 0.09}'
        )
    return limit


def sheet(
    result: Assessment, telling: Telling, threshold: Choice | None, release: str | None, title: str
) -> Sheet:
    """The whole report."""
    limit = refuse_classes(threshold, release)
    verdict, colour = _verdict(result, telling, limit)
    check = result.crosscheck
    return Sheet(
        title=title or f"Re-identification risk: {result.inputs.attack.title}",
        colour=colour if check.passed else UNSAFE,
        verdict=[*([] if check.passed else ["THE CROSS-CHECK FAILED: these numbers are wrong."]),
                 *verdict, *([OWN_COPY] if telling.custodian else [])],
        answers=first_screen(result, _answers(limit), telling),
        sections=(
            Section("The risk of every person", shown=[results.curves(result, telling)]),
            in_numbers(result, telling),
            *_wrong_facts(result, telling),
            threat.threat_model(result, telling),
            left_aside(result, telling),
            stands_on(result, telling),
        ),
    )  # fmt: skip


def _answers(limit: RiskLimit | None) -> list[tuple[str, list[str]]]:
    """Whether anything was judged, and what to do."""
    judged = [] if limit else ["No limit was named, so nothing is judged."]
    name = "" if limit else 'Name a limit, threshold={"overall": 0.09}. '
    then = f"{name}rb.whatif.protections says which feature to make coarser first."
    return [("May I release it?", judged), ("What next?", [then])]


def _verdict(
    result: Assessment, telling: Telling, limit: RiskLimit | None
) -> tuple[list[str], str]:
    told = [
        f"Against the attack {result.question} the average person is identified with probability "
        f"{telling.mean_in_words(result.risk())}."
    ]
    if "wrong_person" in result.risks:
        named = telling.mean_in_words(result.risk("wrong_person"))
        told.append(f"A stranger is named in their place with probability {named}, on average.")
    if (found := if_plausible(result)) is not None:
        either = [telling.measure_in_words(m) for m in found.measures().values()]
        told.append(
            f"Both are of wrong facts that fit nobody; where these are somebody else's values, it "
            f"is {either[0]} and {either[1]}."
        )
    if limit is None:
        return told, PLAIN
    above = int(is_above(result.risk(limit.measure), limit.value).sum())
    open_ = _undecided(result, limit, above)
    elses = True if above else keeps_all_the_same(result, limit.measure, limit.value)
    if elses is None:
        open_.append(
            "It may happen oftener where wrong facts are somebody else's values: of such facts it "
            "is not decided whether the limit is kept."
        )
    if elses is False:
        open_ = [
            "Where wrong facts are somebody else's values, somebody is above it: by what was drawn "
            "of such facts, at 95 %."
        ]
    broken = above > 0 or elses is False
    told.append(
        f"A risk ({limit.measure.replace('_', ' ')}) above {limit.value:g} have "
        f"{telling.of(above, len(result))}: the limit is {_kept(above, open_, broken=broken)}."
    )
    return [*told, *open_], UNSAFE if broken else PLAIN if open_ else SAFE


def _kept(above: int, open_: list[str], *, broken: bool) -> str:
    """In words; of a limit above which draws alone may have put people, that it is open."""
    if broken:
        return "broken by what was found" if above and open_ else "not kept"
    return "not broken by what was found" if open_ else "kept"


def _undecided(result: Assessment, limit: RiskLimit, above: int) -> list[str]:
    """Why it is not decided whether a limit is kept, above which so many came out."""
    found = []
    if result.is_part and not above:
        found.append(
            "Not everybody was asked about: of the others nothing is known, so that whether the "
            "limit is kept is not decided. Leave individuals= out."
        )
    if is_undecided(result, limit.measure, limit.value):
        side = "nobody's may be" if above else "somebody's may be"
        found.append(
            f"The numbers are drawn, and {side} above the limit: whether it is kept is "
            f"not decided. To decide it, {remedy(result, limit.measure)}."
        )
    return found


def _wrong_facts(result: Assessment, telling: Telling) -> list[Section]:
    """What the model says, beside what is drawn where wrong facts are somebody else's values."""
    found = if_plausible(result)
    if found is None:
        return []
    rows = [
        [WHAT[event], telling.mean_in_short(result.risk(measure_of(result, event))),
         telling.measure_in_words(m), telling.interval_in_words(m) or "-"]
        for event, m in found.measures().items()
    ]  # fmt: skip
    heads = ["event", "wrong facts fit nobody", "somebody else's values", "95 % interval"]
    said = fits_nobody(result)
    text = [f"{said[:1].upper()}{said[1:]}. The second is drawn, the first is not."]
    shown = Shown("What wrong facts do: by the model, and drawn", heads, rows)
    return [Section("Where wrong facts are somebody else's values", text=text, shown=[shown])]


def numbers(
    result: Assessment, threshold: Choice | None, release: str | None, *, custodian: bool
) -> dict[str, Any]:
    """Every number of the report, and the cross-check."""
    refuse_classes(threshold, release)
    own, telling = {}, telling_of(result, custodian=custodian)
    if (found := if_plausible(result)) is not None:
        own["wrong_facts_somebody_elses"] = {
            event: {**telling.number(m), "interval": telling.ends(m), "words": m.words}
            for event, m in found.measures().items()
        }
    passed = {"crosscheck": {"passed": result.crosscheck.passed}}
    return numbers_of(result, custodian=custodian) | own | passed
