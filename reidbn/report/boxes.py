"""A card as a box: its words wrapped, its chances as bars, its size known before it is placed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reidbn.attack.cards import Card
from reidbn.cpds.protocol import YES
from reidbn.report.layers import Placed
from reidbn.report.lettering import width_of, wrapped
from reidbn.report.scene import Box, Shape, Words

INK, QUIET, FRAME = "#1f2937", "#4b5563", "#475569"
ASSUMED = "#9a3412"
_GROUP, _BAR, _TROUGH, _SEEN = "#eef2f7", "#1d4ed8", "#dbe3ee", "#fff7e6"
_PAD, _NARROW, _WIDE = 10.0, 150.0, 216.0
_MOST_BARS = 8  # a node with more states is drawn as a small histogram

Chances = Mapping[str, Sequence[tuple[str, float]]]  # node: (state, probability), in order


@dataclass(frozen=True)
class _Line:
    text: str
    size: float = 11.0
    fill: str = INK
    bold: bool = False
    slanted: bool = False

    @property
    def height(self) -> float:
        return self.size * 1.35


@dataclass(frozen=True)
class _Bars:
    """One bar per state, or one column per state where there are many."""

    chances: Sequence[tuple[str, float]]
    is_histogram: bool = False

    @property
    def height(self) -> float:
        return 58.0 if self.is_histogram else 15.0 * len(self.chances) + 2


class CardBox:
    """One card, laid out; `shapes` draws it at its place."""

    def __init__(
        self, card: Card, chances: Chances, seen: Mapping[str, str], done: Mapping[str, str]
    ) -> None:
        self.card = card
        own = {n for n in (*card.members, card.name) if n in seen or n in done}
        self.is_seen, self.is_done = bool(own & {*seen}), bool(own & {*done})
        room = _WIDE - 2 * _PAD
        items: list[_Line | _Bars] = [
            _Line(line, 13, INK, bold=True) for line in wrapped(card.name, 13, room, bold=True)
        ]
        items += [_Line(t, 10.5, QUIET) for t in wrapped(card.story, 10.5, room)]
        items += [_Line(t, 10.5, INK, slanted=True) for t in wrapped(card.rule, 10.5, room)]
        for number in card.numbers:
            fill = ASSUMED if number.endswith("(assumed)") else INK
            items += [_Line(t, 11, fill, bold=True) for t in wrapped(number, 11, room, bold=True)]
        for node in own:
            verb = f"seen: {seen[node]}" if node in seen else f"set: {done[node]}"
            text = verb if node == card.name else f"{node} {verb}"
            items += [_Line(t, 11, ASSUMED, bold=True) for t in wrapped(text, 11, room, bold=True)]
        self.items = [*items, *_chance_items(card, chances, room)]
        widest = max(width_of(i.text, i.size, bold=i.bold) for i in self.items
                     if isinstance(i, _Line))  # fmt: skip
        self.width = max(_NARROW, widest + 2 * _PAD)
        self.height = sum(item.height for item in self.items) + 2 * _PAD - 3

    def shapes(self, at: Placed, left: float, top: float) -> list[Shape]:
        x, y = at.x + left, at.y + top
        fill = (
            _SEEN if self.is_seen or self.is_done else _GROUP if self.card.is_group else "#ffffff"
        )
        line = 2.2 if self.is_seen or self.is_done else 1.3
        out: list[Shape] = [
            Box(x, y, at.width, at.height, fill, FRAME, line, radius=7, dashed=self.is_done)
        ]
        if self.card.is_group:
            out.append(Box(x + 3, y + 3, at.width - 6, at.height - 6, "none", FRAME, 0.7, radius=5))
        y += _PAD
        for item in self.items:
            if isinstance(item, _Line):
                out.append(Words(x + _PAD, y + item.size, item.text, item.size, item.fill,
                                 bold=item.bold, slanted=item.slanted))  # fmt: skip
            else:
                out += _bars(item, x + _PAD, y, at.width - 2 * _PAD)
            y += item.height
        return out


def _chance_items(card: Card, chances: Chances, room: float) -> list[_Line | _Bars]:
    """A node's bars; for a group one bar per member, with P(yes) only."""
    if not card.is_group:
        own = chances.get(card.name)
        return [_Bars(own, len(own) > _MOST_BARS)] if own else []
    if not chances:
        return [_Line(t, 11) for m in card.members for t in wrapped(m, 11, room)]
    return [_Bars([(m, dict(chances[m])[YES]) for m in card.members])]


def _bars(bars: _Bars, x: float, y: float, room: float) -> list[Shape]:
    if bars.is_histogram:
        return _histogram(bars.chances, x, y, room)
    names = max(width_of(state, 10) for state, _ in bars.chances)
    names = min(names, room * 0.5)
    track = room - names - 52
    out: list[Shape] = []
    for state, p in bars.chances:
        shown = _cut(state, 10, names)
        out += [
            Words(x, y + 11, shown, 10, INK),
            Box(x + names + 6, y + 3, track, 9, _TROUGH),
            Box(x + names + 6, y + 3, max(track * p, 0.4 if p > 0 else 0), 9, _BAR),
            Words(x + room, y + 11, percent(p), 10, INK, anchor="end"),
        ]
        y += 15
    return out


def _histogram(
    chances: Sequence[tuple[str, float]], x: float, y: float, room: float
) -> list[Shape]:
    tallest = max(p for _, p in chances) or 1.0
    step = room / len(chances)
    out: list[Shape] = [Box(x, y + 42, room, 0.8, FRAME)]
    for i, (_, p) in enumerate(chances):
        height = 36 * p / tallest
        out.append(Box(x + i * step, y + 42 - height, max(step * 0.85, 0.5), height, _BAR))
    best = max(range(len(chances)), key=lambda i: chances[i][1])
    middle = f"most likely {chances[best][0]}: {percent(chances[best][1])}"
    out += [
        Words(x, y + 54, chances[0][0], 10, QUIET),
        Words(x + room / 2, y + 54, middle, 10, INK, anchor="middle"),
        Words(x + room, y + 54, chances[-1][0], 10, QUIET, anchor="end"),
    ]
    return out


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


def _cut(text: str, size: float, room: float) -> str:
    if width_of(text, size) <= room + 0.01:
        return text
    while text and width_of(text + "..", size) > room:
        text = text[:-1]
    return text + ".."
