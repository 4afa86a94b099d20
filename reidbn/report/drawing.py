"""The picture of an attack: its graph, its parameters, and where every number comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attack.cards import Source, cards, edges, sources
from reidbn.attack.modelfile import load
from reidbn.attack.parts import parse_given, parse_states
from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.inference.answers import ask
from reidbn.inference.interchange.dot import write_dot
from reidbn.inference.lowering import check_settings, parameter_values
from reidbn.report.boxes import ASSUMED, INK, QUIET, CardBox, Chances
from reidbn.report.layers import Layout, layered
from reidbn.report.lettering import width_of, wrapped
from reidbn.report.scene import Arrow, Scene, Shape, Words

_MARGIN, _GAP = 24.0, 22.0
_LEAST, _LIST = 560.0, 700.0  # width of the sheet; room that the list of sources asks for
_SUFFIXES = {".svg": "svg", ".png": "png", ".dot": "dot", ".gv": "dot"}


@dataclass(frozen=True)
class Drawing:
    """A drawn attack: `svg`, `png` and `dot`; notebooks show it as it is."""

    scene: Scene
    dot: str

    @property
    def svg(self) -> str:
        return self.scene.svg()

    @property
    def png(self) -> bytes:
        return self.scene.png()

    def save(self, path: str | Path) -> Path:
        """Write the picture; the ending of the name says as what."""
        path = Path(path)
        kind = _SUFFIXES.get(path.suffix.lower())
        if kind is None:
            raise UsageError(f"{path.name}: a picture is .svg, .png or .dot")
        data = self.png if kind == "png" else getattr(self, kind).encode()
        path.write_bytes(data)
        return path

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing {self.scene.title}: {self.scene.width:.0f} x {self.scene.height:.0f}>"


@typed
def draw(
    attack: Attack | str,
    path: str | Path | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    marginals: bool = False,
    beyond_range: bool = False,
    numbers: Sequence[Source] | None = None,
) -> Drawing:
    """Draw an attack, and write it to a .svg, .png or .dot file when a path is named.

    `marginals` shows every node's chances (given the evidence, for one subject at one setting);
    `numbers` are listed under the picture instead of the attack's own.

    >>> draw("leak-single").svg.count("<text") > 20
    True
    """
    attack = load(attack)
    check_settings(attack, set, beyond_range=beyond_range)
    values = parameter_values(attack, set)
    known, done = (
        parse_given({} if given is None else given),
        parse_states({} if do is None else do),
    )
    seen = {node: state for node, state in known.items() if isinstance(state, str)}
    chances: Chances = {}
    if marginals:
        question = {"given": known, "do": done, "set": set, "subject": subject}
        chances = _chances(attack, {**question, "beyond_range": beyond_range})
    elif known or done:
        raise UsageError("evidence and interventions show in the chances: add marginals=True")
    boxes = {c.name: CardBox(c, chances, seen, done) for c in cards(attack, values)}
    listed = sources(attack, values) if numbers is None else list(numbers)
    scene = _scene(attack, boxes, listed, done)
    drawing = Drawing(scene, write_dot(attack, values))
    if path is not None:
        drawing.save(path)
    return drawing


def _chances(attack: Attack, question: Mapping[str, Any]) -> Chances:
    found = {}
    for node in attack.all_nodes:
        answer = ask(attack, node, **question)
        p = np.asarray(answer.probability)
        if p.ndim != 1:
            raise UsageError("the chances of one subject at one setting can be drawn, not of many")
        found[node] = list(zip(answer.states, p.tolist(), strict=True))
    return found


# -- the sheet -----------------------------------------------------------------------------


def _scene(
    attack: Attack, boxes: Mapping[str, CardBox], listed: list[Source], done: Mapping[str, str]
) -> Scene:
    arrows = edges(attack)
    pairs = [(e.start, e.end) for e in arrows]
    graph = layered({n: (b.width, b.height) for n, b in boxes.items()}, pairs)
    width = max(graph.width, _LIST if listed else _LEAST) + 2 * _MARGIN
    head, y = _head(attack, width)
    left = (width - graph.width) / 2
    shapes: list[Shape] = [*head]
    for edge, route in zip(arrows, graph.routes, strict=True):
        moved = tuple((px + left, py + y) for px, py in route)
        shapes.append(Arrow(moved, dashed=edge.end in done))
    for name, box in boxes.items():
        shapes += box.shapes(graph.boxes[name], left, y)
    shapes += _labels(arrows, graph, left, y)
    y += graph.height + _GAP
    lines, y = _sources(listed, width, y)
    shapes += lines
    title = f"{attack.title} ({attack.name})" if attack.title else attack.name
    return Scene(width, y + _MARGIN / 2, shapes, f"Attack: {title}", _spoken(attack, listed),
                 attack.fingerprint[:8])  # fmt: skip


def _head(attack: Attack, width: float) -> tuple[list[Shape], float]:
    y, room = _MARGIN, width - 2 * _MARGIN
    out: list[Shape] = []
    for line in wrapped(attack.title or attack.name, 17, room, bold=True):
        y += 17
        out.append(Words(_MARGIN, y, line, 17, INK, bold=True))
        y += 5
    for line in wrapped(attack.story, 11, min(room, 760)):
        y += 11
        out.append(Words(_MARGIN, y, line, 11, QUIET))
        y += 4
    return out, y + _GAP


def _labels(arrows: Any, graph: Layout, left: float, top: float) -> list[Shape]:
    """The member of a group that an arrow means, beside the arrow's end."""
    out: list[Shape] = []
    for edge, route in zip(arrows, graph.routes, strict=True):
        if edge.member:
            x, y = route[-1]
            out.append(Words(x + left + 6, y + top - 12, f"only {edge.member}", 9.5, QUIET))
    return out


def _sources(listed: list[Source], width: float, y: float) -> tuple[list[Shape], float]:
    """The list of numbers and where they come from; assumptions are marked in words."""
    if not listed:
        return [], y
    assumed = sum(s.is_assumption for s in listed)
    count = "no assumptions" if not assumed else "1 assumption" if assumed == 1 else (
        f"{assumed} assumptions")  # fmt: skip
    y += 13
    out: list[Shape] = [Words(_MARGIN, y, f"Numbers and where they come from ({count})", 12.5, INK,
                              bold=True)]  # fmt: skip
    names = max(width_of(s.name, 11, bold=True) for s in listed) + 14
    valued = min(max(width_of(s.value, 11) for s in listed) + 14, 270)
    room = width - 2 * _MARGIN - names - valued
    y += 6
    for source in listed:
        fill = ASSUMED if source.is_assumption else INK
        columns = [(0.0, wrapped(source.name, 11, names, bold=True), True),
                   (names, wrapped(source.value, 11, valued - 8), False),
                   (names + valued, wrapped(source.source, 11, room), False)]  # fmt: skip
        for x, lines, bold in columns:
            out += [Words(_MARGIN + x, y + 12 + 15 * i, line, 11, fill, bold=bold)
                    for i, line in enumerate(lines)]  # fmt: skip
        y += 15 * max(len(lines) for _, lines, _ in columns) + 2
    return out, y


def _spoken(attack: Attack, listed: list[Source]) -> str:
    """The picture in sentences."""
    parts = [attack.story] if attack.story else []
    for card in cards(attack):
        parents = [e.start for e in edges(attack) if e.end == card.name]
        after = f", after {', '.join(parents)}" if parents else ""
        members = f" (a group of {', '.join(card.members)})" if card.is_group else ""
        parts.append(f"{card.name}{members}{after}: {card.story or card.rule}.")
    parts += [f"{s.name} is {s.value}; source: {s.source}." for s in listed]
    return " ".join(" ".join(parts).split())
