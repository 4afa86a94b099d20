"""The picture of an attack: its graph, its parameters, and where every number comes from.

Cards stand in rows, each below its parents.  An arrow that passes a row goes through a lane between
the cards, shared by all arrows from the same card, and bends only between two rows: so no arrow
meets a card that it does not join.  One matplotlib figure is the picture as SVG and as PNG.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib.style
import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import BoxStyle, PathPatch
from matplotlib.path import Path as Line
from matplotlib.transforms import Affine2D, Bbox
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from reidbn.attack.attack import Attack
from reidbn.attack.cards import Card, Edge, SourceLine, cards, edges, sources
from reidbn.attack.modelfile import load
from reidbn.attack.parts import parse_given, parse_states
from reidbn.attack.repeated import Folded, Repeats, folded, folded_sources
from reidbn.calls import typed
from reidbn.cpds.protocol import YES
from reidbn.errors import TooLarge, UsageError
from reidbn.inference.answers import ask
from reidbn.inference.interchange.dot import write_dot
from reidbn.inference.values import check_settings, parameter_values
from reidbn.limits import MOST_DRAWN
from reidbn.release.writing import whole
from reidbn.report.words import outward
from reidbn.written import ended

Floats = NDArray[np.float64]
Point = tuple[float, float]
Chances = Mapping[str, Sequence[tuple[str, float]]]  # node: (state, probability), in order
Told = Mapping[str, tuple[float, float]]  # node: between what its chance of yes lies

_INK, _QUIET, _FRAME, _ASSUMED = "#1f2937", "#4b5563", "#64748b", "#9a3412"
_GROUP, _SEEN, _BAR, _NO, _TROUGH = "#eef2f7", "#fff7e6", "#1d4ed8", "#94a3b8", "#e2e8f0"
_FAMILY = "DejaVu Sans"  # among the widest: a reader who has another font finds more room, not less
_STYLE: list[Any] = ["default", {"svg.fonttype": "none", "svg.hashsalt": "reidbn"}]
_SUFFIXES = {".svg": "svg", ".png": "png", ".pdf": "pdf", ".dot": "dot", ".gv": "dot"}
_MARGIN, _LEAST, _STORY = 24.0, 560.0, 720.0  # of the sheet; its least width; that of the story
_PAD, _NARROW, _WIDE = 11.0, 186.0, 204.0  # inside a card; the least and the largest room there
_NARROWEST, _SMALLEST = 112.0, 0.75  # room in a card for telephones; of its size, to be read
_GAP, _LANE = 26.0, 15.0  # between cards; beside a lane
_HEAD, _LINE = 8.0, 1.35  # length of an arrow's head; height of a line in sizes of its font
_STARTS, _SWEEPS, _TURNS, _STRAIGHT = 32, 8, 100, 20.0  # of the search for places
_TRACK, _LEFT_OPEN = 24.0, "#bfd0f5"  # the shortest bar's room; what two ends leave open
_MOST_BARS, _NAMES = 8, 0.62  # more states are a small histogram; room for names that repeat


@dataclass(frozen=True)
class Drawing:
    """A drawn attack: `svg`, `png` and `dot`; notebooks show it as it is."""

    title: str
    description: str
    width: float
    height: float
    boxes: Mapping[str, Bbox]  # where the cards stand; y counts downwards
    arrows: Mapping[Edge, Sequence[Point]]  # straight pieces and bends in turn
    figure: Figure
    dot: str
    key: str  # keeps the identifiers of several pictures in a page apart

    @property
    def svg(self) -> str:
        """A self-contained SVG text, which shrinks to its room as far as it can be read."""
        text = self._saved("svg", metadata={"Date": None, "Creator": None}).decode()
        spare = rf"font-family: '{_FAMILY}'; |text-anchor: start; |\n| transform=\"rotate[^\"]*\""
        shapes = re.findall(r"<(?:path|text)\b.*?(?:/>|</text>)", text, re.DOTALL)
        drawn = "\n".join(re.sub(spare, "", shape) for shape in shapes)
        w, h, own = f"{self.width:g}", f"{self.height:g}", f"reidbn-{self.key}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" '
            f'height="{h}" style="max-width: max(100%, {self.width * _SMALLEST:.0f}px); '
            f'height: auto" role="img" aria-labelledby='
            f'"{own}-title {own}-desc" font-family="{_FAMILY}, Verdana, Arial, sans-serif">\n'
            f'<title id="{own}-title">{escape(self.title)}</title>\n'
            f'<desc id="{own}-desc">{escape(self.description)}</desc>\n{drawn}\n</svg>\n'
        )

    @property
    def png(self) -> bytes:
        """The picture as PNG, twice as large for sharp screens."""
        return self._saved("png", dpi=144, metadata={"Software": None, "Title": self.title})

    def save(self, path: str | Path) -> Path:
        """Write the picture; the ending of the name says as what."""
        kind = _SUFFIXES.get((path := Path(path)).suffix.lower())
        if kind is None:
            raise UsageError(f"{path.name}: a picture is .svg, .png, .pdf or .dot")
        undated = {"metadata": {"CreationDate": None}}
        drawn = self._saved(kind, **undated) if kind == "pdf" else getattr(self, kind)
        with whole(path) as made:
            made.write_bytes(drawn.encode() if isinstance(drawn, str) else drawn)
        return path

    def _saved(self, kind: str, **options: Any) -> bytes:
        out = io.BytesIO()
        with _own_style():
            self.figure.savefig(out, format=kind, **options)
        return out.getvalue()

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing {self.title}: {self.width:.0f} x {self.height:.0f}>"


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
    numbers: Sequence[SourceLine] | None = None,
    expanded: bool = False,
    side_by_side: int | None = None,
    told: Told | None = None,
) -> Drawing:
    """Draw an attack, and write it to a .svg, .png, .pdf or .dot file when a path is named.

    `marginals` shows every node's chances (given the evidence, for one subject at one setting);
    `numbers` are listed under the picture instead of the attack's own.  What a file's plates stand
    for is drawn once, with what it stands for; `expanded` draws every node.

    `attack` is one, or its name; `set` gives parameters values, `do` brings something about,
    `beyond_range` also takes values outside declared ranges; `side_by_side` is how many cards,
    then narrow ones without their stories, stand beside each other at most: 1 for a telephone;
    `told` is between what two numbers the chance of yes lies, of the nodes where it is known.

    >>> draw("leak-single").svg.count("<text") > 20
    True
    """
    attack = load(attack)
    if side_by_side is not None and side_by_side < 1:
        raise UsageError(f"side_by_side is 1 or more cards in a row, not {side_by_side}")
    check_settings(attack, set, beyond_range=beyond_range, all_numbers=True)
    values = parameter_values(attack, set)
    known = parse_given({} if given is None else given)
    done = parse_states({} if do is None else do)
    chances: Chances = {}
    drawn = Folded(cards(attack, values), edges(attack), {}, Repeats({}, {}))
    drawn = drawn if expanded else folded(attack, drawn.cards, drawn.edges)
    if (many := len(drawn.cards)) > MOST_DRAWN:
        raise TooLarge(
            f"{attack.name} has {many:,} nodes, and a picture of more than {MOST_DRAWN} says "
            "nothing; rb.export(attack, 'attack.dot') writes it for Graphviz"
        )
    if marginals:
        question = {"given": known, "do": done, "set": set, "subject": subject}
        chances = _chances(attack, {**question, "beyond_range": beyond_range})
    elif known or done:
        raise UsageError("evidence and interventions show in the chances: add marginals=True")
    marks = {n: f"seen: {state}" for n, state in known.items() if isinstance(state, str)}
    marks |= {n: f"set: {state}" for n, state in done.items()}
    listed = sources(attack, values) if numbers is None else list(numbers)
    listed = listed if expanded else folded_sources(attack, listed)
    with _own_style():
        drawing = _drawing(attack, drawn, chances, told or {}, marks, listed,
                           write_dot(attack, values), side_by_side)  # fmt: skip
    if path is not None:
        drawing.save(path)
    return drawing


def _chances(attack: Attack, question: Mapping[str, Any]) -> Chances:
    found = {}
    attack = attack.replace(questions=())  # a node is drawn, though a question has its name
    for node in attack.all_nodes:
        answer = ask(attack, node, **question)
        p = np.asarray(answer.probability)
        if p.ndim != 1:
            raise UsageError("the chances of one subject at one setting can be drawn, not of many")
        found[node] = list(zip(answer.states, p.tolist(), strict=True))
    return found


# -- the sheet -----------------------------------------------------------------------------


def _drawing(attack: Attack, drawn: Folded, chances: Chances, told: Told,
             marks: Mapping[str, str], listed: list[SourceLine], dot: str,
             most: int | None) -> Drawing:  # fmt: skip
    sheet, shown, links = _Sheet(), drawn.cards, drawn.edges
    if most is not None:
        shown = [replace(card, story="", rule="") for card in shown]
    room = max(_width(card.name, 13, bold=True) for card in shown)
    room = min(max(room, _NARROW), _WIDE) if most is None else _NARROWEST
    panels = {card.name: _Panel(card, chances, told, marks, room) for card in shown}
    heights = {n: p.height for n, p in panels.items()}
    boxes, routes = laid_out(heights, room + 2 * _PAD, links, most)
    across = max([b.x1 for b in boxes.values()] + [x for route in routes for x, _ in route])
    width = round(max(across, _LEAST if most is None else 0.0) + 2 * _MARGIN)
    wide = width - 2 * _MARGIN
    size = 18 if most is None else 13
    y = sheet.words(_MARGIN, _MARGIN, attack.title or attack.name, wide, size=size, bold=True) + 5
    if attack.shelf:
        y = sheet.words(_MARGIN, y, f"Shelf: {attack.shelf}", wide, size=11.5, color=_QUIET)
    y = sheet.words(_MARGIN, y, attack.story, min(_STORY, wide), size=11.5, color=_QUIET)
    if drawn.said:
        y = sheet.words(_MARGIN, y + 4, drawn.said, min(_STORY, wide), size=11.5, style="italic")
    left, top = (width - across) / 2, y + 24
    boxes = {name: box.translated(left, top) for name, box in boxes.items()}
    arrows = {edge: [(x + left, y + top) for x, y in route]
              for edge, route in zip(links, routes, strict=True)}  # fmt: skip
    for edge, route in arrows.items():
        sheet.arrow(route, dashed=marks.get(edge.end, "").startswith("set:"))
        if edge.member:  # on the side that the arrow does not come from
            (x, y), left_of = route[-1], route[-2][0] > route[-1][0]
            sheet.words(x - 7 if left_of else x + 7, y - 15, f"only {edge.member}", size=9.5,
                        color=_QUIET, ha="right" if left_of else "left")  # fmt: skip
    for name, panel in panels.items():
        panel.paint(sheet, boxes[name])
    y = max(box.y1 for box in boxes.values()) + 26
    if listed:
        y = _list(sheet, listed, width, y)
    title = f"{attack.title} ({attack.name})" if attack.title else attack.name
    height = round(y + _MARGIN / 2)
    return Drawing(f"Attack: {title}", _spoken(attack, shown, links, listed), width, height, boxes,
                   arrows, sheet.finished(width, height), dot, attack.fingerprint[:8])  # fmt: skip


def _list(sheet: _Sheet, listed: list[SourceLine], width: float, y: float) -> float:
    """The list of numbers and where they come from; assumptions are marked in words."""
    assumed = sum(s.times for s in listed if s.is_assumption)
    count = f"{assumed or 'no'} assumption{'' if assumed == 1 else 's'}"
    title = f"Numbers and where they come from ({count})"
    y = sheet.words(_MARGIN, y, title, size=12.5, bold=True) + 4
    names = max(_width(s.name, 11, bold=True) for s in listed) + 16
    values = min(max(_width(s.value, 11) for s in listed) + 16, 250)
    room = width - 2 * _MARGIN - names - values
    for s in listed:
        color, x = _ASSUMED if s.is_assumption else _INK, _MARGIN + names
        y = 3 + max(sheet.words(_MARGIN, y, s.name, names, color=color, bold=True),
                    sheet.words(x, y, s.value, values - 10, color=color),
                    sheet.words(x + values, y, s.source, room, color=color))  # fmt: skip
    return y


def _spoken(attack: Attack, shown: list[Card], links: list[Edge], listed: list[SourceLine]) -> str:
    """The picture in sentences."""
    parts = [attack.story] if attack.story else []
    for card in shown:
        parents = [e.start for e in links if e.end == card.name]
        after = f", after {', '.join(parents)}" if parents else ""
        kind = {"decision": " (decided)", "utility": " (what pays)"}.get(card.kind, "")
        members = f" (a group of {', '.join(card.members)})" if card.is_group else kind
        parts.append(ended(f"{card.name}{members}{after}: {card.story or card.rule}"))
    parts += [f"{s.name} is {s.value}; source: {s.source}." for s in listed]
    return " ".join(" ".join(parts).split())


class _Sheet:
    """A figure on which y counts downwards; all shapes that look alike become one path."""

    def __init__(self) -> None:
        self.figure = Figure(dpi=72, facecolor="#ffffff")
        self.unit = Affine2D()  # known when the sheet is finished
        self.place = self.unit + self.figure.transFigure
        self.shapes: dict[tuple[Any, ...], dict[bytes, Line]] = {}

    def shape(self, line: Line, *look: Any) -> None:
        """The look is the layer, the fill, the stroke, its width, and whether it is dashed."""
        look = (*look, *("none", 0.0, False)[len(look) - 2 :])
        # arrows from one card begin together: what is drawn twice is drawn once
        self.shapes.setdefault(look, {})[np.asarray(line.vertices).tobytes()] = line

    def box(self, at: Sequence[float], *look: Any, radius: float = 0.0) -> None:
        round_: Any = BoxStyle.Round(pad=0, rounding_size=radius)
        frame: Any = round_ if radius else BoxStyle.Square(pad=0)
        self.shape(frame(*np.round(at, 1), 1.0), *look)

    def diamond(self, at: Bbox, *look: Any) -> None:
        """A box that is pointed on the left and on the right."""
        x0, y0, x1, y1 = np.round(at.extents, 1)
        tip, middle = 11.0, (y0 + y1) / 2
        points = [(x0 - tip, middle), (x0, y0), (x1, y0), (x1 + tip, middle), (x1, y1), (x0, y1)]
        self.shape(Line([*points, points[0]], closed=True), *look)

    def arrow(self, route: Sequence[Point], *, dashed: bool) -> None:
        """Straight within a row, a bend between two rows, and a head at the end."""
        x, y = np.round(route[-1], 1)
        points = np.round([*route[:-1], (x, y - _HEAD + 1)], 1)
        for i, ((x1, y1), (x2, y2)) in enumerate(pairwise(points)):
            bend = [(x1, (y1 + y2) / 2), (x2, (y1 + y2) / 2)] if i % 2 else []
            codes = [Line.MOVETO, *([Line.CURVE4] * 3 if i % 2 else [Line.LINETO])]
            self.shape(Line([(x1, y1), *bend, (x2, y2)], codes), 0, "none", _FRAME, 1.3, dashed)
        head = [(x, y), (x - 4, y - _HEAD), (x + 4, y - _HEAD), (x, y)]
        self.shape(Line(head, closed=True), 0, _FRAME)

    def words(self, x: float, y: float, text: str, room: float = np.inf, *, size: float = 11.0,
              bold: bool = False, **look: Any) -> float:  # fmt: skip
        """Words wrapped to a room, from y downwards; where the next line would begin."""
        look = {"color": _INK, "family": _FAMILY, "weight": "bold" if bold else "normal", **look}
        for line in wrapped(text, size, room, bold=bold):
            self.figure.text(round(x, 1), round(y + size, 1), line, size=size, **look,
                             transform=self.place, parse_math=False)  # fmt: skip
            y += _LINE * size
        return y

    def finished(self, width: float, height: float) -> Figure:
        self.figure.set_size_inches(width / 72, height / 72)
        self.unit.scale(1 / width, -1 / height).translate(0, 1)
        for (_, fill, stroke, wide, dashed), lines in sorted(self.shapes.items()):
            path = Line.make_compound_path(*lines.values())
            dash = (0, (4, 2.5)) if dashed else "-"
            self.figure.add_artist(PathPatch(path, facecolor=fill, edgecolor=stroke, linewidth=wide,
                                             linestyle=dash, transform=self.place))  # fmt: skip
        return self.figure


# -- a card ----------------------------------------------------------------------------------


class _Panel:
    """A card's words, and its chances as bars: its height is known before its place."""

    def __init__(self, card: Card, chances: Chances, told: Told, marks: Mapping[str, str],
                 room: float) -> None:  # fmt: skip
        each = (node for _, node in card.each)
        own = {n: marks[n] for n in (*card.members, *each, card.name) if n in marks}
        fill = _SEEN if own else _GROUP if card.is_group else "#ffffff"
        cut = any(mark.startswith("set:") for mark in own.values())
        self.look = (1, fill, _FRAME, 2.0 if own else 1.2, cut)
        self.room, self.bars = room, [(s, (p, p)) for s, p in chances.get(card.name, ())]
        self.each = len(card.each)
        self.said: list[tuple[str, dict[str, Any]]] = [
            (card.name, {"size": 13.0, "bold": True}),
            (card.story, {"size": 10.5, "color": _QUIET}),
            (card.rule, {"size": 10.5, "style": "italic"}),
            (f"{len(card.each)} of them" * bool(card.each), {"size": 10.5, "bold": True}),
            *((n, {"color": _ASSUMED if n.endswith("(assumed)") else _INK}) for n in card.numbers),
            *((mark if n == card.name else f"{n} {mark}", {"color": _ASSUMED, "bold": True})
              for n, mark in own.items()),
        ]  # fmt: skip
        if chances and card.each:
            self._of_each([(label, chances[n]) for label, n in card.each])
        if chances:  # of a group one bar per member, with P(yes) only
            self.bars += [(m, (dict(chances[m])[YES],) * 2) for m in card.members]
        elif room < _NARROW:
            self.said += [(member, {}) for member in card.members]
            if card.name in told:
                self.said.append((f"{YES}: {_between(told[card.name])}", {}))
        else:
            self.bars += [(YES, told[name]) for name in (card.name,) if name in told]
            self.bars += [(m, told[m]) for m in card.members if m in told]
            self.said += [(member, {}) for member in card.members if member not in told]
        words = sum(_LINE * size * len(wrapped(text, size, room, bold="bold" in look))
                    for text, look in self.said for size in [look.get("size", 11.0)])  # fmt: skip
        bars = 60.0 if len(self.bars) > _MOST_BARS else 15.0 * len(self.bars)
        self.height = words + bars + 2 * _PAD - (1 if bars else 4)
        self.is_group, self.kind = card.is_group, card.kind

    def _of_each(self, told: list[tuple[str, Sequence[tuple[str, float]]]]) -> None:
        """Of a plate a bar for each, with P(yes); between what these lie, where there are many."""
        yes = [(label, dict(states)[YES]) for label, states in told if YES in dict(states)]
        told_apart = {wrapped(label, 10, self.room * _NAMES)[0] for label, _ in yes}
        if len(told_apart) == len(yes) <= _MOST_BARS:
            self.bars += [(label, (p, p)) for label, p in yes]
        else:
            low, high = (percent(find(p for _, p in yes)) for find in (min, max))
            self.said.append((f"yes: {low} to {high}" if low != high else f"yes: {low}", {}))

    def paint(self, sheet: _Sheet, at: Bbox) -> None:
        for behind in (7.0, 3.5) if self.each else ():  # a stack of sheets
            sheet.box(at.translated(behind, behind).bounds, 1 - behind / 10, *self.look[1:4],
                      radius=8)  # fmt: skip
        if self.kind == "utility":  # a diamond, as wide as its words
            sheet.diamond(at, *self.look)
        else:
            sheet.box(at.bounds, *self.look, radius=0 if self.kind == "decision" else 8)
        if self.is_group:
            sheet.box(at.padded(-3).bounds, 2, "none", _FRAME, 0.6, radius=5.5)
        x, y = at.x0 + _PAD, at.y0 + _PAD - 2
        for text, look in self.said:
            y = sheet.words(x, y, text, self.room, **look)
        if len(self.bars) > _MOST_BARS:
            self._histogram(sheet, x, y)
        elif self.bars:
            self._bars(sheet, x, y + 3)

    def _bars(self, sheet: _Sheet, x: float, y: float) -> None:
        most = _NAMES if self.each else 0.5
        names = min(max(_width(state, 10) for state, _ in self.bars), self.room * most) + 0.01
        track = (
            self.room - names - 7 - max(49, *(_width(_between(p), 10) + 7 for _, p in self.bars))
        )
        for state, (p, high) in self.bars:
            shown = wrapped(state, 10, names)
            sheet.words(x, y, "".join(shown[:1]) + ".." * (len(shown) > 1), size=10)
            if track >= _TRACK:
                sheet.box((x + names + 7, y + 2, track, 9), 2, _TROUGH)
                for z, end, colour in ((2.5, high if high > p else 0, _LEFT_OPEN),
                                       (3, p, _NO if state == "no" else _BAR)):  # fmt: skip
                    if end > 0:
                        bar = (x + names + 7, y + 2, max(track * end, 0.5), 9)
                        sheet.box(bar, z, colour)
            sheet.words(x + self.room, y, _between((p, high)), size=10, ha="right")
            y += 15

    def _histogram(self, sheet: _Sheet, x: float, y: float) -> None:
        best, step = max(self.bars, key=lambda bar: bar[1]), self.room / len(self.bars)
        for i, (_, (p, _)) in enumerate(self.bars):
            high = max(36 * p / best[1][0], 0.3) if p > 0 else 0
            sheet.box((x + i * step, y + 43 - high, max(step * 0.85, 0.5), high), 3, _BAR)
        sheet.box((x, y + 43, self.room, 0.8), 3, _FRAME)
        said = f"most likely {best[0]}: {_between(best[1])}"
        sheet.words(x, y + 45, self.bars[0][0], size=10, color=_QUIET)
        sheet.words(x + self.room / 2, y + 45, said, size=10, ha="center")
        sheet.words(x + self.room, y + 45, self.bars[-1][0], size=10, color=_QUIET, ha="right")


def percent(p: float) -> str:
    """A chance in few signs: never 0 % or 100 % unless it is.

    >>> percent(0.18446), percent(0.00002), percent(0.99999), percent(1.0)
    ('18.4 %', '<0.1 %', '>99.9 %', '100 %')
    """
    if p in (0.0, 1.0):
        return f"{p * 100:.0f} %"
    if p < 0.001:
        return "<0.1 %"
    return ">99.9 %" if p > 0.999 else f"{p * 100:.1f} %"


def _between(ends: tuple[float, float]) -> str:
    """A chance by its ends, in as many digits as the table beside it has.

    >>> _between((0.0366, 0.167)), _between((0.597, 0.65)), _between((0.5, 0.5))
    ('3.6 to 17 %', '59 to 65 %', '50.0 %')
    """
    low, high = outward(*ends)
    if ends[0] == ends[1]:
        return percent(ends[0])
    return f"{100 * low:.2g} to {100 * high:.3g} %"


# -- words -----------------------------------------------------------------------------------


@contextmanager
def _own_style() -> Iterator[None]:
    """The same picture whatever style the caller has set; a sign without a shape is no warning."""
    with matplotlib.style.context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


@cache
def _advance(sign: str, *, bold: bool) -> float:
    """Width of a sign as a share of the font's size; 1 for what the font does not have."""
    font = get_font(findfont(FontProperties(family=_FAMILY, weight="bold" if bold else "normal")))
    font.set_size(100, 72)
    known = font.get_char_index(ord(sign))
    return font.load_char(ord(sign)).linearHoriAdvance / 6_553_600 if known else 1.0


def _width(text: str, size: float, *, bold: bool = False) -> float:
    return size * sum(_advance(sign, bold=bold) for sign in text)


def wrapped(text: str, size: float, room: float, *, bold: bool = False) -> list[str]:
    """The text in lines that fit into the room; a word that is too long alone is cut up.

    >>> wrapped("one two three", 10, 50)
    ['one two', 'three']
    """
    lines: list[str] = []
    for word in text.split():
        while word:
            end = len(word)
            while end > 1 and _width(word[:end], size, bold=bold) > room:
                end -= 1
            if end < len(word):  # cut after _ or - where there is one
                end = max(word.rfind("_", 0, end), word.rfind("-", 0, end)) + 1 or end
            longer = f"{lines[-1]} {word[:end]}" if lines else ""
            if longer and _width(longer, size, bold=bold) <= room:
                lines[-1] = longer
            else:
                lines.append(word[:end])
            word = word[end:]
    return lines


# -- where the cards stand ---------------------------------------------------------------------


def laid_out(
    heights: Mapping[str, float],
    width: float,
    links: Sequence[Edge],
    side_by_side: int | None = None,
) -> tuple[dict[str, Bbox], list[tuple[Point, ...]]]:
    """Places for cards, and for each arrow the points between which it is straight or bends."""
    graph: nx.DiGraph[str] = nx.DiGraph((e.start, e.end) for e in links)
    graph.add_nodes_from(heights)
    row = _rows(graph, side_by_side)
    paths = [[*((e.start, r) for r in range(row[e.start], row[e.end])), (e.end, row[e.end])]
             for e in links]  # fmt: skip
    spots = [(name, row[name]) for name in heights]
    spots = list(dict.fromkeys([*spots, *(spot for path in paths for spot in path)]))
    bends = {pair: None for path in paths for pair in pairwise(path)}
    place = {spot: i for i, spot in enumerate(spots)}
    link = np.zeros((len(spots), len(spots)))
    link[[place[u] for u, _ in bends], [place[v] for _, v in bends]] = 1
    level = np.array([r for _, r in spots])
    half = np.where(np.arange(len(spots)) < len(heights), width / 2, 0.0)
    x = dict(zip(spots, _across(level, link, half).tolist(), strict=True))
    tops, bottoms, y = [], [], 0.0
    for r in range(level.max() + 1):
        tops.append(y)
        bottoms.append(y + max(heights[name] for name in row if row[name] == r))
        reach = max((abs(x[u] - x[v]) for u, v in bends if u[1] == r), default=0)
        y = bottoms[-1] + (30.0 if side_by_side else min(max(46.0, 0.16 * reach), 84.0))
    boxes = {n: Bbox.from_bounds(x[n, row[n]] - width / 2, tops[row[n]], width, high)
             for n, high in heights.items()}  # fmt: skip
    routes = []
    for i, path in enumerate(paths):
        points = [(x[spot], at) for spot in path for at in (tops[spot[1]], bottoms[spot[1]])]
        rivals = sorted((x[other[-2]], k) for k, other in enumerate(paths) if other[-1] == path[-1])
        side = rivals.index((x[path[-2]], i)) - (len(rivals) - 1) / 2  # side by side as they come
        end = (x[path[-1]] + side * min(24.0, 0.7 * width / len(rivals)), tops[path[-1][1]])
        routes.append(((points[0][0], boxes[path[0][0]].y1), *points[1:-2], end))
    return boxes, routes


def _rows(graph: nx.DiGraph[str], most: int | None = None) -> dict[str, int]:
    """Every card below its parents: as low as can be, or as high where that is narrower.

    At most so many in a row: of more, the others stand in rows below.
    """
    low = list(nx.topological_generations(graph.reverse()))[::-1]
    rows = min(low, [*nx.topological_generations(graph)], key=lambda rows: max(map(len, rows)))
    if most is not None:
        rows = [names[i : i + most] for names in rows for i in range(0, len(names), most)]
    return {name: r for r, names in enumerate(rows) for name in names}


def _across(level: NDArray[np.intp], link: Floats, half: Floats) -> Floats:
    """Where the spots of every row stand: few crossings, short lines, in the declared order.

    From several starts, rows are sorted by the mean place of their neighbours above and below in
    turn.  Then least squares of the lines' reach, subject to the order and the gaps: with the gaps
    taken off, the best places of a row are an isotonic regression.
    """
    rows = [np.flatnonzero(level == r) for r in range(level.max() + 1)]
    lane, (start, end) = half == 0, np.nonzero(link)
    same = level[start][:, None] == level[start]
    least, order = (np.inf, 0.0, 0.0), rows
    for seed in range(_STARTS):
        x = np.random.default_rng(seed).permutation(len(level)).astype(float)
        for sweep in range(_SWEEPS):
            near = link if sweep % 2 else link.T
            for row in rows[::-1] if sweep % 2 else rows:
                count = near[row].sum(axis=1)
                wanted = np.where(count > 0, near[row] @ x / np.maximum(count, 1), x[row])
                x[row[np.lexsort((x[row], wanted))]] = np.arange(len(row)) - (len(row) - 1) / 2
            turned = np.subtract.outer(x[start], x[start]) * np.subtract.outer(x[end], x[end])
            cost = ((same & (turned < 0)).sum(), np.abs(x[start] - x[end]).sum(),
                    -(x * np.arange(len(x)))[~lane].sum())  # fmt: skip
            if cost < least:
                least, order = cost, [row[np.argsort(x[row])] for row in rows]
    pull = (link + link.T) * np.array([1.0, 2.0, _STRAIGHT])[lane[:, None] + 1 * lane]
    pull += 1e-3 * np.eye(len(half))
    gaps = [half[row][1:] + half[row][:-1] + np.where(lane[row][1:] | lane[row][:-1], _LANE, _GAP)
            for row in order]  # fmt: skip
    offsets = [np.concatenate([[0.0], gap]).cumsum() for gap in gaps]
    for row, offset in zip(order, offsets, strict=True):
        x[row] = offset - offset[-1] / 2
    for turn in range(_TURNS):
        for row, offset in [*zip(order, offsets, strict=True)][:: -1 if turn % 2 else 1]:
            weights = pull[row].sum(axis=1)
            wanted = pull[row] @ x / weights - offset
            x[row] = isotonic_regression(wanted, weights=weights).x + offset
    return np.asarray(x - (x - half).min())
