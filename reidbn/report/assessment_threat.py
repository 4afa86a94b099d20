"""The threat model of a report: who attacks, what they know, and every assumption by number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.modelfile import cited
from reidbn.attack.scenario import Profile
from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.register import register, story
from reidbn.cpds.protocol import YES
from reidbn.inference.answers import joint
from reidbn.inference.query import Query
from reidbn.report.drawing import draw
from reidbn.report.page import Section, Shown, inline
from reidbn.report.telling import Telling
from reidbn.report.words import one_in
from reidbn.written import agree, counted, ended

OUTWARDS = Telling()
BARS = (
    "A bar in the picture is the chance of that event, on average over these people; pale: up to "
    "the most that it can be, as it is told."
)


def assumptions(result: Assessment, telling: Telling = OUTWARDS) -> Section:
    """Every number that somebody chose, with its range and its source: a line and a table."""
    entries = register(result)
    rows = [[f"A{i}", e.what, e.value, e.range, e.source] for i, e in enumerate(entries, start=1)]
    assumed = sum(e.is_assumption for e in entries)
    return Section(
        "Limitations and assumptions",
        text=[
            f"{assumed} of {counted(len(rows), 'entry')} {agree(assumed, 'is an', 'are')} "
            f"{agree(assumed, 'assumption', 'assumptions')}, in whole or in part; the "
            f"others have a source.",
            "The risk is that of one attack under one scenario: it says nothing about attacks "
            "that are not in the model.",
        ],
        bullets=telling.notes(result.notes),
        shown=[Shown("Register", ("no.", "what", "value", "range", "source"), rows)],
    )


def threat_model(result: Assessment, telling: Telling) -> Section:
    """The adversary's story, the picture of the attack, what may be known, and the register."""
    stands_on = assumptions(result, telling)
    attack = result.attack
    base = result.inputs.attack
    sources = {entry.name: entry.source for entry in register(result)}
    bare = attack.replace(story="", shelf="")  # these stand beside it, as the numbers do
    set_here = result.whatif_case().settings
    bare = bare.with_values(
        {n: v for n, v in set_here.items() if n in attack.parameters}, beyond_range=True
    )
    chances = _chances(result, telling)
    drawn = about = ""
    for kind, most, use in (("wide", None, ""), ("slim", 1, ", for a telephone")):
        picture = draw(bare, numbers=[], side_by_side=most, told=chances)
        about = about or f"{ended(base.title or base.name)} {picture.description}"  # wide: stories
        svg = inline(picture.svg, f"Graph of {base.name}{use}", about)
        drawn += f'<div class="{kind}-graph">{svg}</div>'
    rows = [[n.name, n.story, ", ".join(n.linddun) or "-", n.cpd.kind]
            for n in base.nodes.values()]  # fmt: skip
    figure = Shown(
        f"The attack {base.name}",
        ("event", "what happens", "LINDDUN", "kind"),
        rows,
        drawn,
    )
    knows = [[p.label, ", ".join(p.columns), _known(_each(result, i), telling),
              sources[p.label]] for i, p in enumerate(result.groups.placed)]  # fmt: skip
    return Section(
        "Threat model and assumptions",
        text=[*story(result), *([BARS] if chances else [])],
        folded=[("Remarks and sources",
                 [*stands_on.text, *stands_on.bullets, *(f"Source: {s}" for s in base.sources),
                  *cited([*base.sources, *sources.values()])])],
        shown=[figure],
        details=[
            Shown("What the attacker may know", ("attributes", "columns", "known with, on average",
                                                 "source"), knows),
            *stands_on.shown,
        ],
    )  # fmt: skip


def _chances(result: Assessment, telling: Telling) -> dict[str, tuple[float, float]]:
    """Of events whose chance this report tells anyway, between what it lies, on average.

    That is what it measures, what may be known, and what is the same for everybody: no picture
    tells more of people than the tables do.
    """
    attack, case = result.attack, result.whatif_case()
    if case.laid or attack.decisions:  # everybody's chances are their own
        return {}
    plain, found = attack.replace(questions=()), {}
    sizes = {name: float(case.base(name)) for name in attack.structural}
    for name in attack.all_nodes:
        above = attack.above([name])
        own = any(
            ref.startswith("@") for n in above for ref in attack.behind(plain.all_nodes[n].cpd)
        )
        if not own and not any(map(attack.group_of, above)):
            asked = Query((name,), {}, {}, case.query.do)
            states = plain.variable(name, sizes).states
            chance = joint(plain, asked, case.settings, case.subject, alone=True)[0, 0].ravel()
            found[name] = (float(chance[states.index(YES)]),) * 2 if YES in states else None
    for i, placed in enumerate(result.groups.placed):
        chance = _each(result, i)
        same = chance.size and chance.strides == (0,)
        found[placed.member] = (float(chance[0]),) * 2 if same else telling.mean_ends(chance)
    for measure, query in result.questions.items():
        ((node, state), *more) = query.wanted.items()
        if state == YES and not more:
            found[node] = telling.mean_ends(result.risk(measure))
    return {name: ends for name, ends in found.items() if ends is not None}


def _known(chance: NDArray[np.float64], telling: Telling) -> str:
    """The mean chance over people; one that the scenario gives everybody is told as it is."""
    everybody = chance.size and chance.strides == (0,)
    return one_in(float(chance[0])) if everybody else telling.mean_in_words(chance)


def _each(result: Assessment, i: int) -> NDArray[np.float64]:
    """The chance that this attribute is known, of every person."""
    placed, parent = result.groups.placed[i], result.groups.parent
    if isinstance(parent, Profile):
        weights = np.array(list(parent.weights.values()))
        return np.full(len(result), float(placed.p[:, 0] @ weights))
    if any(placed.member in group.members for group in result.attack.groups.values() if group.own):
        return np.broadcast_to(placed.p, len(result))
    chosen = result.inputs.set  # stands above what the scenario says
    p = chosen.get(f"p_{placed.member}", placed.p)
    if parent is not None and result.groups.parent_p is not None:
        p = p * np.asarray(chosen.get(f"p_{parent.node}", result.groups.parent_p))
    return np.broadcast_to(p, len(result))
