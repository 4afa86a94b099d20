"""What an answer about people did not look at: derived from the model, the table and the call.

Each sentence follows from something that is not there: a threat that no event is about, a column
in no group, a population that was not given, a question that was left out.  No number of
people is in it; that some were left out is said of ten and more, as everywhere outside the house.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reidbn.attack.coverage import coverage
from reidbn.attack.scenario import Scenario
from reidbn.attack.scenariofile import scenarios, told_name
from reidbn.attack.threats import FRAMEWORKS
from reidbn.attacks.linkage.columns import SparsePeople
from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.register import register
from reidbn.attacks.routes.told import as_spoken
from reidbn.microdata.others import AS_LOOKED_UP, AS_SECRET, Others
from reidbn.microdata.table import People
from reidbn.population.fitting import MODELS
from reidbn.report.telling import Telling

if TYPE_CHECKING:
    from reidbn.result import Result

ONE_TABLE = (
    "Somebody who has reports of two tables that differ by a few people, or who knows everybody "
    "but one person, may work out more: this report does not promise anything against them."
)
LINDDUN = FRAMEWORKS["linddun"][1]
FEW_NAMED = 8  # columns, on the first screen; the section on what was not looked at has all


@dataclass(frozen=True)
class Kind:
    """What a result is about, where no model says it, and how it is asked for."""

    threats: tuple[str, ...]
    asks: str
    verb: str
    of: str = "table"
    """A table of people, one with a secret, or a sparse one."""
    whom: str = ""
    """Who the attacker is."""
    then: str = ""
    """What to do with the answer."""


KINDS = {
    "Assessment": Kind((), "whether anybody tries, by which route and with what success",
                       "rb.assess"),
    "Leak": Kind(("Identifying",), "what a leaked part of the table gives away", "rb.leak.assess",
                 then="reidbn leak --largest-leak and --smallest-k find what keeps the risk under "
                 "a limit; reidbn recommend makes classes larger."),
    "Disclosure": Kind(("Data disclosure",), "what the neighbours' records say about a secret",
                       "rb.disclosure", "secret",
                       then="reidbn disclosure --generalise says how coarse a column must be; "
                       "then reidbn assess."),
    "Uniqueness": Kind(("Identifying",), "who is unique among all people of whom the table is part",
                       "rb.population.fit",
                       whom="Whoever finds somebody alike among all these people.",
                       then="rb.population.compare sets other models beside this one; reidbn "
                       "assess --population gives every person's risk."),
    "Suda": Kind(("Identifying",), "the few columns that single somebody out", "rb.suda",
                 whom="Whoever knows few of these columns of somebody in the table.",
                 then="reidbn recommend looks for the least coarsening of the columns that single "
                 "most people out."),
    "Candidates": Kind(("Linking", "Identifying"), "who of an outside list fits which record",
                       "rb.candidates", whom="Whoever holds that list.",
                       then="reidbn recommend makes records coarser; then compare again."),
    "Linkage": Kind(("Linking", "Identifying"), "how many facts single a record out", "rb.linkage",
                    "sparse", whom="Whoever knows a few facts of somebody in the table.",
                    then="reidbn linkage --protections says which feature to make coarser first."),
    "Neighbourhood": Kind(("Linking", "Identifying"), "which relatives one record gives away",
                          "rb.neighbourhood", "sparse",
                          whom="Whoever knows which record is somebody's.",
                          then="Leave out, or make coarser, what is told of relatives; then ask "
                          "again. reidbn linkage says who is singled out first."),
}  # fmt: skip
NOBODY = Kind((), "", "")


def not_looked_at(result: Result, telling: Telling, *, limited: Sequence[str] = ()) -> list[str]:
    """The sentences of the section; of the secrets that are `limited` something is said besides."""
    return [f"{said[:1].upper()}{said[1:]}." for said in _said(result, telling, limited)]


def _said(result: Result, telling: Telling, limited: Sequence[str]) -> Iterator[str]:
    yield from _of_a_model(result) if isinstance(result, Assessment) else _of_no_model(result)
    yield from _of_the_table(result, telling, limited)
    yield from _not_asked(result)


def _of_a_model(result: Assessment) -> Iterator[str]:
    """Threats, numbers, questions and populations of an attack."""
    base, inputs = result.inputs.attack, result.inputs
    for name, reason in base.excluded.items():
        yield f"{name}, which the model {base.name} leaves out: {reason.strip().rstrip('.')}"
    found = coverage([base])
    for framework, (what, _) in FRAMEWORKS.items():
        left = [e.threat for e in found.entries if e.framework == framework and e.status == "open"]
        if left:
            yield f"{what}s that no event of {base.name} is about: {', '.join(left)}"
    unasked = [n for n, q in base.questions.items()
               if n not in result.questions and q != base.main_question]  # fmt: skip
    if unasked:
        yield f"questions of the model that were not answered: {', '.join(unasked)}"
    assumed = [e.name for e in register(result) if e.is_assumption]
    if assumed:
        yield (
            f"whether these numbers are right, which nobody measured for this release: "
            f"{', '.join(assumed)}"
        )
    of_the_call = {*inputs.set, "records"}
    still = [p.name for p in result.attack.parameters.values()
             if p.range[0] == p.range[1] and p.name not in of_the_call]  # fmt: skip
    if still:
        yield f"other values of {', '.join(still)}: the model gives them no range"
    yield from _of_the_population(result)
    missed = [known.name for known in result.groups.missed]
    if missed:
        yield (
            f"what the scenario speaks of and no column named for the attacker holds: "
            f"{', '.join(missed)}"
        )
    compared = (inputs.scenario.name, "worst-case")  # the report has both
    others = [name for name in scenarios() if name not in compared]
    yield (
        f"attackers who know otherwise than {told_name(inputs.scenario)} says; scenarios that come "
        f"with reidbn and were not asked: {', '.join(others)}"
    )


def _of_the_population(result: Assessment) -> Iterator[str]:
    if result.population is not None:
        model = result.population.model
        others = [name for name in MODELS if name not in (model, "truth")]
        yield (
            f"what other models say of the population than {model}: {', '.join(others)}; they may "
            f"differ by factors (rb.population.compare)"
        )
    elif isinstance(result.table, People) and result.attack.groups:
        yield "the population from which the table was drawn: nobody said how many people it is"


def _of_no_model(result: Result) -> Iterator[str]:
    about = KINDS.get(result.kind, NOBODY).threats
    if about:
        yield (
            f"{FRAMEWORKS['linddun'][0]}s but {' and '.join(about)}: "
            f"{', '.join(t for t in LINDDUN if t not in about)}"
        )
    else:
        yield f"{FRAMEWORKS['linddun'][0]}s: {', '.join(LINDDUN)}"


def _of_the_table(result: Result, telling: Telling, limited: Sequence[str]) -> Iterator[str]:
    """Columns in no group, and people left out."""
    table, whole = result.table, result.asked_of
    if isinstance(table, People):
        used = {*_used(result), *limited}
        unused = [name for name in table.quasi_identifiers if name not in used]
        alone = read_alone(result) if isinstance(result, Assessment) else {}
        secret = [n for n in table.sensitive if n not in used and n not in alone]
        if unused:
            yield f"columns that the attacker is taken not to know: {', '.join(unused)}"
        for why in dict.fromkeys(alone.values()):
            names = ", ".join(name for name, of in alone.items() if of == why)
            yield (
                f"columns that were read {why} alone, and nothing here is of a file that has "
                f"them: {names}"
            )
        if secret:
            yield f"secret columns, of which nothing is said here: {', '.join(secret)}"
    others = Others() if whole is None else whole.others
    if others.names:
        yield (
            f"other columns of the source, and whoever knows what stands there of somebody is in "
            f"no number here: {', '.join(others.names)}"
        )
    if others.pointing:
        named = [f"{name} ({why})" for name, why in others.pointing]
        yield f"these of them point at a person: {', '.join(named)}"
    if not isinstance(table, People):
        return
    if table.dropped and telling.count(table.dropped) is not None:
        yield "people with missing cells, who were left out when the table was read"
    gone = 0 if table.before is None else len(table.before) - len(table)
    if gone and telling.count(gone) is not None:
        yield "people who were left out of the table before its release"
    if getattr(result, "is_part", False):
        yield "people who were not among those asked about"


def _spoken(result: Assessment) -> Scenario:
    """What was said of the attacker, by the table's columns, with what the call left out."""
    return as_spoken(result.inputs).renamed(result.inputs.columns)


def _looked_up(result: Assessment) -> tuple[str, ...]:
    """The columns by which chances are looked up."""
    scenario = _spoken(result)
    return () if scenario.knows is None else scenario.looked_up_by()


def read_alone(result: Assessment) -> dict[str, str]:
    """Columns that this attacker goes by and no rule counts, and for what they were read.

    Be it by name, be it as a column or in bands, and also where the call left it out.
    """
    people, knows = result.inputs.people, _spoken(result).knows
    said = knows.known if knows else ()
    names = [c for k in said for c in (k.name, *k.columns)]
    names += [k.in_bands.of for k in said if k.in_bands]
    known = dict.fromkeys(names, AS_SECRET)
    found = known | dict.fromkeys(_looked_up(result), AS_LOOKED_UP)
    return {name: why for name, why in found.items()
            if name in people.columns and name not in people.quasi_identifiers}  # fmt: skip


def beside(result: Assessment) -> Others:
    """The columns of the source that no rule counts, those of `read_alone` among them."""
    others, alone = result.inputs.people.others, read_alone(result)
    return replace(others, names=(*alone, *others.names), used=(*others.used, *alone.items()))


def holds_only(result: Assessment) -> str:
    """Which table alone a verdict is on, where its source has columns nobody looked at."""
    others = beside(result)
    if not others.names:
        return ""
    named = [name for name in result.inputs.people.columns if name not in others.names]
    what = ", ".join(named) if len(named) <= FEW_NAMED else f"{len(named)} columns looked at"
    return f"a table that holds only {what}"


def holds_for(result: Assessment) -> str:
    """Which table a verdict is on, in every case."""
    return holds_only(result) or "the whole table"


def holds_only_since(result: Assessment) -> str:
    """The same, and why no verdict is of more; empty where it is of the whole file."""
    if not (only := holds_only(result)):
        return ""
    others = beside(result)
    gone = others.unseen
    more = f" and {len(gone) - FEW_NAMED} more" if len(gone) > FEW_NAMED else ""
    looked = [f"nobody looked at {', '.join(gone[:FEW_NAMED])}{more}"] if gone else []
    told = "; ".join([*looked, *(f"{name} was used {why} alone" for name, why in others.used)])
    return f"{only}: {told}, and no verdict is made on a file that has them, too"


def _used(result: Any) -> list[str]:
    """The table's columns that an answer uses."""
    if isinstance(result, Assessment):
        return [*(n for names in result.groups.columns for n in names), *_looked_up(result)]
    known = getattr(result, "known", None)
    names: Any = getattr(known, "used", known)
    if names is None:
        names = getattr(getattr(result, "sample", result), "columns", ())
    own = (getattr(result, name, None) for name in ("secret", "sensitive"))
    return [*names, *(name for name in own if name is not None)]


def _not_asked(result: Result) -> Iterator[str]:
    """What else can be asked of the same table."""
    table = result.table
    is_table = isinstance(table, People) and not isinstance(table, SparsePeople)
    held = {"table"} if is_table else {"sparse"}
    if is_table and table is not None and table.sensitive:
        held.add("secret")
    others = [f"{k.asks} ({k.verb})" for name, k in KINDS.items()
              if name != result.kind and (k.of in held or name == "Assessment")]  # fmt: skip
    if others:
        yield f"other questions about these people: {'; '.join(others)}"
