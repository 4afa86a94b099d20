"""The threat model of a report: who attacks, what they know, and every assumption by number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.knows import Listed, Profile
from reidbn.attacks.assessment import Assessment
from reidbn.report.drawing import draw
from reidbn.report.page import Section, Shown, inline
from reidbn.report.words import one_in


def assumptions(result: Assessment) -> Section:
    """Every number that somebody chose, with its range and its source."""
    rows = [[f"A{i}", *row] for i, row in enumerate(_register(result), start=1)]
    assumed = sum(row[-1].lower().startswith("assumption") for row in rows)
    return Section(
        "Limitations and assumptions",
        text=[
            f"{assumed} of these {len(rows)} entries are assumptions; the others have a source.",
            "The risk is that of one attack under one scenario: it says nothing about attacks "
            "that are not in the model.",
        ],
        bullets=[*result.groups.notes, *(result.population.notes if result.population else ())],
        shown=[Shown("Register", ("no.", "what", "value", "range", "source"), rows)],
    )


def _register(result: Assessment) -> Iterator[list[str]]:
    chosen = result.inputs.set
    for p in result.attack.parameters.values():
        low, high = p.range
        value = chosen.get(p.name, p.value)
        what = f"{p.story or p.name} ({p.name})"
        yield [what, f"{value:g} {p.unit}", f"{low:g} to {high:g}", p.source]
    for placed in result.groups.placed:
        if len(np.ravel(placed.p)) > 1 or float(np.ravel(placed.p)[0]) in (0.0, 1.0):
            found = _span(placed.p)
            yield [f"The attacker knows {placed.label}", found, "by person", placed.source]
    parent = result.groups.parent
    if isinstance(parent, Profile):
        shares = ", ".join(f"{k} {v:g}" for k, v in parent.weights.items())
        yield ["Who is attacking", shares, "fixed", parent.source]
    if isinstance(parent, Listed) and result.groups.parent_p is not None:
        found = _span(result.groups.parent_p)
        yield ["On the list, or with an account", found, "by person", parent.source]
    for node in result.attack.nodes.values():
        if node.source:
            yield [node.story or node.name, "table of the node", "fixed", node.source]


def _span(p: NDArray[np.float64]) -> str:
    low, high = float(p.min()), float(p.max())
    return f"{low:.3g} to {high:.3g}" if low < high else f"{low:g}"


def threat_model(result: Assessment) -> Section:
    """The adversary's story, the picture of the attack, and what may be known."""
    attack, scenario = result.attack, result.inputs.scenario
    base = result.inputs.attack
    picture = draw(base)
    rows = [[n.name, n.story, ", ".join(n.linddun) or "-", n.cpd.kind]
            for n in base.nodes.values()]  # fmt: skip
    figure = Shown(
        f"The attack {base.name}",
        ("event", "what happens", "LINDDUN", "kind"),
        rows,
        inline(picture.svg, f"Graph of {base.name}", f"{base.title}. {base.story}"),
    )
    knows = [[p.label, ", ".join(p.columns), one_in(_mean(result, i)), p.source]
             for i, p in enumerate(result.groups.placed)]  # fmt: skip
    return Section(
        "Threat model",
        text=[attack.story, f"Scenario {scenario.name}: {scenario.story}"],
        bullets=[f"Source: {s}" for s in base.sources],
        shown=[
            figure,
            Shown("What the attacker may know", ("attributes", "columns", "known with, on average",
                                                 "source"), knows),
        ],
    )  # fmt: skip


def _mean(result: Assessment, i: int) -> float:
    placed, parent = result.groups.placed[i], result.groups.parent
    if isinstance(parent, Profile):
        weights = np.array(list(parent.weights.values()))
        return float(placed.p[:, 0] @ weights)
    p = np.broadcast_to(placed.p, len(result)) if len(placed.p) == 1 else placed.p
    if result.groups.parent_p is not None:
        p = p * result.groups.parent_p
    return float(p.mean())
