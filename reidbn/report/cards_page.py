"""Cards for the table: an event of a model each, its threat, and two questions to talk about.

The cards are the models' own: what happens is the event's story, what it needs are the stories of
its parents.  Only what happens or does not is a card, no count of it.  As in LINDDUN's cards the
first question is whether it can happen here, the second whether that is a problem.  Threat types
that no card is about get one on which somebody writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from reidbn.attack.attack import Attack
from reidbn.attack.cards import cards as boxes
from reidbn.attack.cards import edges
from reidbn.attack.modelfile import load, models
from reidbn.attack.threats import FRAMEWORKS, threat
from reidbn.calls import typed
from reidbn.cpds.protocol import NO, YES
from reidbn.errors import UsageError
from reidbn.release.writing import write_text
from reidbn.report.page import ending
from reidbn.written import ended

A_PAGE = 8
_NOBODY = "Nobody wrote this one."
_FIRST = "Can it happen here?"
_SECOND = "If it does, is that a problem, and for whom?"
ROOM, FULL = 355, 440  # letters on a card at 10 points, and at 8.8
MOST_BLANK = 1_000
_TYPES = FRAMEWORKS["linddun"][1]
# Each threat type in a line, and a colour that differs in print without colours by its number.
_ABOUT = dict(zip(_TYPES, (
    ("two things are found to be about one person", "#0072B2"),
    ("somebody learns who a person is", "#C1440E"),
    ("a person cannot deny what they did", "#7A5195"),
    ("somebody learns that a person is in it at all", "#2A9D8F"),
    ("more is told than was meant to be", "#B8860B"),
    ("people do not know, or cannot do anything about it", "#5B7C99"),
    ("what law, contract or good practice asks is not kept", "#555555"),
), strict=True))  # fmt: skip


@dataclass(frozen=True)
class ThreatCard:
    """What stands on one card."""

    threat: str
    also: tuple[str, ...]
    title: str
    story: str
    happens: str
    first: str
    second: str
    foot: str


@typed
def cards(
    path: str | Path,
    models: Iterable[str | PathLike[str] | Attack] | str | PathLike[str] | Attack | None = None,
    *,
    blank: int = A_PAGE,
) -> Path:
    """Write a card for every event with a LINDDUN tag, eight on an A4 page, to print.

    `path` is the .html file; `models` are attacks, files or names of shipped models, all that are
    shipped where none is named; `blank` cards to write on come last, and before them as many lists
    of the threat types, one to a group.
    """
    ending(path, (".html",))
    if not 0 <= blank <= MOST_BLANK:
        raise UsageError(f"blank is how many empty cards are added: 0 to {MOST_BLANK:,}")
    attacks = _attacks(models)
    found = [card for attack in attacks for card in _cards(attack)]
    found = list({(c.threat, c.happens): c for c in reversed(found)}.values())[::-1]
    if not found:
        raise UsageError(
            f"no event of {', '.join(a.name for a in attacks)} says which threat it is about: add "
            f"linddun: [{_TYPES[1]}] to it, for instance"
        )
    found.sort(key=lambda card: _TYPES.index(card.threat))
    about = {name for card in found for name in (card.threat, *card.also)}
    found += [_unwritten(name) for name in _TYPES if name not in about]
    return write_text(_page(found, blank), path)


def _attacks(
    named: Iterable[str | PathLike[str] | Attack] | str | PathLike[str] | Attack | None,
) -> list[Attack]:
    given = (
        models()
        if named is None
        else [named]
        if isinstance(named, str | PathLike | Attack)
        else named
    )
    return [load(one) for one in given]


def _cards(attack: Attack) -> Iterator[ThreatCard]:
    stories = {box.name: _story(box.story or box.name) for box in boxes(attack)}
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for edge in edges(attack):
        above.setdefault(edge.end, []).append(edge.start)
        below.setdefault(edge.start, []).append(edge.end)

    def told(names: Iterable[str]) -> list[str]:
        return [*dict.fromkeys(stories[name] for name in names)]

    for node in attack.nodes.values():
        types = tuple(t for tag in node.linddun if (t := threat("linddun", tag)) is not None)
        if not types or tuple(node.states) != (NO, YES):
            continue
        needs, leads = told(above.get(node.name, ())), told(below.get(node.name, ()))
        title, story = ended(attack.title or attack.name), _first_sentence(attack.story)
        happens = _story(node.story or node.name)
        room = ROOM - len("".join((_FIRST, _SECOND, title, story, happens, *types[1:])))
        needed = _listed(needs, room + FULL - ROOM)
        led = f" What depends on it: {'; '.join(leads)}." if leads else ""
        yield ThreatCard(
            threat=types[0],
            also=types[1:],
            title=title,
            story=story,
            happens=happens,
            first=_FIRST
            + (f" It depends on: {needed}." if needs else " What would have to be so?"),
            second=_SECOND + led * (len(needed) + len(led) <= room),
            foot=f"From the model {attack.name}: {node.name}",
        )


def _listed(stories: list[str], room: int) -> str:
    """What there is room for, one at least, and how many more there are."""
    kept = [s for i, s in enumerate(stories) if not i or len("; ".join(stories[: i + 1])) <= room]
    more = len(stories) - len(kept)
    return "; ".join(kept) + (f"; and {more} more" if more else "")


def _first_sentence(text: str) -> str:
    words = " ".join(text.split())
    end = words.find(". ")
    return words if end < 0 else words[: end + 1]


def _story(text: str) -> str:
    return " ".join(text.split()).rstrip(".?!").replace("_", " ")


def _unwritten(name: str) -> ThreatCard:
    return ThreatCard(
        name, (), _NOBODY, "", "______________________________",
        f"{_FIRST} What would have to be so?",
        f"{_SECOND} If you leave it out: why?",
        "no card of these models is about it",
    )  # fmt: skip


_STYLE = """
@page { size: A4 portrait; margin: 8mm }
* { box-sizing: border-box }
body { margin: 0; font: 10pt/1.26 system-ui, sans-serif; color: #222; background: #fff }
.sheet { display: grid; grid-template-columns: 97mm 97mm; grid-auto-rows: 70mm; width: 194mm;
  margin: 0 auto; break-after: page }
.sheet:last-child { break-after: auto }
.card { border: .3mm dashed #999; padding: 3mm 4mm 2mm; display: flex; flex-direction: column;
  overflow: hidden; break-inside: avoid }
.card h2 { font-size: 11.5pt; margin: 0 0 .5mm; padding-bottom: .8mm; border-bottom: 1mm solid }
.card .about { font-size: 8.5pt; color: #444; margin: 0 0 1mm }
.card .story { margin: 0 0 1mm }
.card .happens { font-weight: 600; margin: 0 0 1mm }
.card ol { margin: 0; padding-left: 5mm } .card li { margin-bottom: .5mm }
.card .foot { margin: auto 0 0; font-size: 7.5pt; color: #555; overflow-wrap: anywhere }
.long { line-height: 1.2 } .long .story, .long ol { font-size: 8.8pt }
.types ul { margin: 1mm 0 0; padding-left: 4mm; font-size: 9pt; line-height: 1.22 }
.line { border-bottom: .2mm solid #999; height: 7mm }
h1, .how { max-width: 194mm; margin: 0 auto 4mm; padding: 0 3mm; box-sizing: border-box }
@media print { h1, .how { display: none } }
@media screen { body { background: #eee; padding: 6mm 0 }
  .sheet { background: #fff; margin-bottom: 6mm; box-shadow: 0 0 2mm #bbb } }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark }
  body { background: #111; color: #e4e4e2 } .sheet { background: #1e1e1e; box-shadow: none }
  .card .about, .card .foot { color: #b4b4b0 } }
@media screen and (max-width: 194mm) { .sheet { grid-template-columns: 1fr; width: auto } }
"""


def _page(found: list[ThreatCard], blank: int) -> str:
    made = [_card(card) for card in found]
    lists = max(blank, 1)  # one to a group, as the empty cards; and the rest of the sheet
    made += [_LIST] * (lists + -(len(made) + lists) % A_PAGE)
    empty = [_EMPTY] * blank
    sheets = [
        cards[i : i + A_PAGE] for cards in (made, empty) for i in range(0, len(cards), A_PAGE)
    ]
    none = sum(card.title == _NOBODY for card in found)
    title = f"Cards: {len(found) - none} threats to talk about"
    also = f", and {none} types of which nobody wrote one" if none else ""
    body = "\n".join(
        '<section class="sheet">\n' + "\n".join(sheet) + "\n</section>" for sheet in sheets
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f'<body><main>\n<h1>{title}{also}</h1>\n<p class="how">'
        f"Print on A4, single-sided, cut along the dashed lines, and shuffle: they come sorted by "
        f"their threat. After them come lists of the threat types and, on sheets of their own, "
        f"{blank} empty cards.</p>\n"
        f"{body}\n</main></body></html>\n"
    )


def _card(card: ThreatCard) -> str:
    from html import escape

    about, colour = _ABOUT[card.threat]
    also = f"; also {', '.join(card.also)}" if card.also else ""
    length = len(card.title + card.story + card.happens + card.first + card.second + also)
    long = " long" if length > ROOM else ""
    return (
        f'<article class="card{long}"><h2 style="border-color: {colour}">{escape(card.threat)}</h2>'
        f'<p class="about">{escape(about)}{escape(also)}</p>'
        f'<p class="story"><b>{escape(card.title)}</b> {escape(card.story)}</p>'
        f'<p class="happens">{escape(card.happens)}</p>'
        f"<ol><li>{escape(card.first)}</li><li>{escape(card.second)}</li></ol>"
        f'<p class="foot">{escape(card.foot)}</p></article>'
    )


_LIST = (
    '<article class="card types"><h2 style="border-color: #222">The threat types (LINDDUN)</h2><ul>'
    + "".join(f"<li><b>{name}:</b> {about}</li>" for name, (about, _) in _ABOUT.items())
    + "</ul></article>"
)
_EMPTY = (
    '<article class="card"><h2 style="border-color: #999">Your own: ____________</h2>'
    '<p class="about">threat type · who does it</p><p class="happens">What happens:</p>'
    '<div class="line"></div><p class="happens">It depends on:</p><div class="line"></div>'
    '<p class="happens">How likely, from which source:</p><div class="line"></div>'
    '<p class="foot">without a source, write: assumption</p></article>'
)
