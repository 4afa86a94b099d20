"""The page of an attack: one HTML file that answers for itself, without a server or a network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from reidbn.attack.attack import Attack
from reidbn.attack.cards import Card, cards, edges
from reidbn.attack.parts import parse_given, parse_states
from reidbn.attack.repeated import folded
from reidbn.attacks.routes.assessment import Assessment
from reidbn.calls import typed
from reidbn.errors import TooLarge, UsageError
from reidbn.inference.answers import load_attack
from reidbn.limits import MOST_DRAWN
from reidbn.page.closed import Json
from reidbn.page.payload import Start, part_of, payload
from reidbn.page.people import behind
from reidbn.release.seal import sealed
from reidbn.release.writing import write_text
from reidbn.report.drawing import laid_out, wrapped
from reidbn.report.ledgered import Texts, digest, released
from reidbn.report.page import context_of, seal_of
from reidbn.report.telling import Telling
from reidbn.written import ending

_PAGE = "page"  # the kind of text in a ledger
SCRIPTS = ("kinds.js", "engine.js", "numbers.js", "page.js")
LARGEST = 300_000  # bytes of a page
_WIDTH, _BROAD, _PAD = 224.0, 262.0, 12.0
_NAME, _LINE, _ROW, _BARS, _MOST_ROWS = 19.0, 16.5, 21.0, 92.0, 8
_MOST_USES = 5  # numbers that a card names; as in page.js


@typed
def page(
    attack: Attack | str,
    path: str | Path,
    question: str | Mapping[str, str] | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    title: str = "",
    predict: bool = False,
) -> Path:
    """Write an attack as a page in which anybody moves it: one HTML file, nothing fetched.

    The .html file at `path` has the graph with its chances, a slider for every parameter, the
    answer to each question of the attack (`question` first), and what every number stands on.  It
    starts from `set`, `given` and `do`; `subject` is what a table says of one person, else the
    model's example.  `title` stands on top, also in print: what the page was made for.  With
    `predict` it opens with its answer hidden, for a class that guesses first.
    """
    attack = load_attack(attack)
    place = _place(path)
    values = {name: _number(name, value) for name, value in (set or {}).items()}
    known = parse_given({} if given is None else given)
    start = Start(values, known, parse_states({} if do is None else do), subject)
    held = payload(attack, question, start)
    asked = {"title": title, "context": {}, "predict": predict}
    return write_text(written(attack, held, asked), place)


@typed
def page_of_people(
    result: Assessment,
    path: str | Path,
    *,
    title: str = "",
    context: Mapping[str, str] | None = None,
    custodian: bool = False,
    ledger: str | Path | None = None,
) -> Path:
    """Write a page, the .html file at `path`, in which anybody moves the attack of these people.

    The people stand in it as cells of those who are nearly alike to the attack (people.py): their
    mean chance and how many are above a threshold follow every slider, each with how far off it may
    be.  A page whose cells are told in tens may leave the house, where a reader can make no small
    count of them: everything is known for sure, and fewer than ten people stand in small cells.
    With `custodian` it is your own, with exact counts of whatever is known: it says that it stays
    in the house.
    `title` (the request, the table) and `context`, which says who receives the data (recipient,
    purpose, ...), stand on top, also in print: the page knows no other name of a table.
    `ledger`: a file that knows what was released, as for a report; of a table fewer than ten people
    apart from one in it, the page of that one is written again.
    """
    place = _place(path)
    if custodian and ledger is not None:
        raise UsageError(
            "a ledger is of what leaves the house, and custodian=True writes what stays in it: "
            "leave one of them out",
            in_shell="a ledger is of what leaves the house, and --custodian writes what stays in "
            "it: leave one of them out",
        )
    asked = {"title": title, "context": context_of(context)}
    people = behind(result, custodian=custodian)
    case, seal = people.case, seal_of(result, None, custodian=custodian)
    start = Start(dict(case.settings), dict(case.laid), dict(case.query.do), None)

    def text() -> tuple[str, str]:
        held = payload(case.attack, None, start, people)
        return sealed(written(case.attack, held, asked), seal), digest(held)

    if ledger is None:
        return write_text(text()[0], place, of_people=custodian)

    def texts() -> Texts:
        found, tells = text()
        return {_PAGE: found}, 1, (0, 0), tells

    options = {"page": "people", **asked}
    return write_text(released(ledger, _PAGE, result, options, Telling(), texts), place)


def _place(path: str | Path) -> Path:
    place = Path(path)
    if ending(place) != ".html":
        raise UsageError(f"{place.name}: a page is an .html file")
    return place


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: a page starts from one number, not a list") from None
    except OverflowError:
        raise UsageError(f"{name}: a page starts from a number below 1e308") from None


def written(attack: Attack, held: dict[str, Json], asked: Mapping[str, Any]) -> str:
    """The page as text; asked: what it was made for."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    held = {**held, "words": json.loads(_own("words.json")), "asked": dict(asked)}
    held["drawn"] = _drawn(attack, held)
    css, js = _own("page.css"), "".join(map(_own, SCRIPTS))
    policy = (
        f"default-src 'none'; script-src '{_hash(js)}'; style-src '{_hash(css)}'; "
        f"base-uri 'none'; form-action 'none'"
    )
    templates = Environment(
        loader=PackageLoader("reidbn.page"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    found = templates.get_template("page.html").render(
        held=held, words=held["words"], css=css, js=js, policy=policy, data=_safe(held)
    )
    size = len(found.encode())
    if size > LARGEST:
        raise TooLarge(
            f"{attack.name}: its page would have {size:,} bytes, and this stops at {LARGEST:,}: "
            f"most of that are tables over many parents or groups; leave members out, or make a "
            f"page of a part of it"
        )
    return found


def _own(name: str) -> str:
    return files("reidbn.page").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _safe(held: Json) -> str:
    """JSON that can stand in a page: no sign of it ends the element, whatever a model is called."""
    text = json.dumps(held, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub(r"[<>&\u2028\u2029]", lambda m: f"\\u{ord(m[0]):04x}", text)


# -- the picture -----------------------------------------------------------------------------------


# The rule of a card, as cards.py writes it, and the words of the page for it; what is called as
# the field that it fills stands there once.
_RULES = (
    ("and", "rule_and"),
    ("or", "rule_or"),
    ("rows", "rule_differs"),
    ("count", "rule_count"),
    ("probability", "rule_law"),
    ("uniform", "rule_even"),
    ("sum", "rule_sum"),
    ("minus", "rule_minus"),
    (r"minus: (?P<whole>.+) less (?P<less>.+)", "rule_less"),
    ("ranked", "rule_ranked"),
    (r"ranked: sd (?P<sd>[\w.]+)", "rule_ranked_about"),
    (r"ranked: falls with (?P<falls>.+), sd (?P<sd>[\w.]+)", "rule_falls_about"),
    (r"ranked: falls with (?P<falls>.+)", "rule_falls"),
    (r"ranked: by the sign of each weight, sd (?P<sd>[\w.]+)", "rule_turns_about"),
    (r"ranked: by the sign of each weight", "rule_turns"),
    ("noisy-max", "rule_highest"),
    ("noisy-max: leak", "rule_highest_or"),
    ("noisy-or", "rule_causes"),
    (r"noisy-or: leak(?: (?P<leak>[\w.]+))?", "rule_causes_or"),
    (r"probability: (?P<p>[\w.]+)", "rule_with"),
    (r"probability: (?P<p>[\w.]+), if (?P<if>.+)", "rule_if"),
    (r"poisson: mean(?: (?P<mean>[\w.]+))?", "rule_poisson"),
    (r"binomial: n(?: (?P<n>\w+))?, (?P<p>[\w.]+)", "rule_binomial"),
    (r"at-most: of (?P<of>\w+), most (?P<most>\w+)", "rule_at_most"),
    (r"geometric: among(?: (?P<among>\w+))?, budget(?: (?P<budget>\w+))?", "rule_search"),
    (r"geometric: (?P<p>[\w.]+), budget(?: (?P<budget>\w+))?", "rule_attempts"),
    (r"share: part(?: (?P<part>\w+))?, whole(?: (?P<whole>\w+))?", "rule_share"),
    (
        r"hypergeometric-leak: records(?: (?P<records>\w+))?, leaked(?: (?P<leaked>\w+))?, "
        r"class[ _]size(?: (?P<class_size>\w+))?",
        "rule_leaked",
    ),
    (r"one-over: of (?P<of>\w+)", "rule_one_over"),
    (r"unique: of (?P<of>\w+)", "rule_unique"),
    (r"unique: of (?P<of>\w+), stays (?P<stays>\w+)", "rule_stays"),
)


def _in_words(card: Card, words: Mapping[str, str]) -> Card:
    """The card with its rule in words."""
    text, _, where = card.rule.partition(", if ")
    for tried, rest in ((card.rule, ""), (text, where)):
        for pattern, key in _RULES:
            if found := re.fullmatch(pattern, tried):
                rule = words[key].format(**{n: v or n for n, v in found.groupdict().items()})
                rule = words["rule_where"].format(rule=rule, **{"if": rest}) if rest else rule
                return replace(card, rule=rule)
    return card


def _drawn(attack: Attack, held: Mapping[str, Json]) -> Json:
    """Places of the cards and the arrows between them; the page draws the rest itself."""
    if held["left_out"]:
        attack = part_of(attack, {n["name"] for n in held["nodes"]})
    drawn = folded(attack, cards(attack), edges(attack))
    shown, links = [_in_words(c, held["words"]) for c in drawn.cards], drawn.edges
    if len(shown) > MOST_DRAWN:
        raise TooLarge(
            f"{attack.name} has {len(shown):,} nodes, and a picture of more than {MOST_DRAWN} says "
            "nothing; make a page of a part of it"
        )
    sizes = {n["name"]: n["states"] for n in held["nodes"]}
    wide = _BROAD if any(c.each for c in shown) else _WIDTH
    people = held["people"] or {"inside": (), "faces": (), "is_sure": True}
    summed = {*people["inside"]} - {*people["faces"]}  # the page says so in place of bars
    groups = {n for members in held["groups"].values() for n in members} & summed
    by_known = {c.name for c in shown if c.name in people["faces"] and not people["is_sure"]
                and groups & {*attack.parent_nodes(attack.all_nodes[c.name])}}  # fmt: skip
    more = {c.name: held["words"]["each"] for c in shown if {c.name, *c.members} & summed}
    more |= {c.name: held["words"]["on_known"] for c in shown if c.name in by_known}
    heights = {
        c.name: _height(
            c, sizes, wide, more.get(c.name, ""), bare=bool({c.name, *c.members} & summed)
        )
        for c in shown
    }
    boxes, routes = laid_out(heights, wide, links)
    width = max([b.x1 for b in boxes.values()] + [x for route in routes for x, _ in route])
    return {
        "width": round(width, 1),
        "height": round(max(b.y1 for b in boxes.values()), 1),
        "said": drawn.said,
        "cards": [
            {"name": c.name, "story": c.story, "rule": c.rule, "kind": c.kind,
             "members": [*c.members], "each": [*c.each],
             "note": more[c.name] if c.name in by_known else "",
             "numbers": [n.partition(" = ")[0] for n in c.numbers],
             "box": [round(x, 1) for x in boxes[c.name].bounds],
             "after": list(dict.fromkeys(e.start for e in links if e.end == c.name))}
            for c in shown
        ],
        "arrows": [
            {"from": e.start, "to": e.end, "only": e.member,
             "points": [[round(x, 1), round(y, 1)] for x, y in route]}
            for e, route in zip(links, routes, strict=True)
        ],
    }  # fmt: skip


def _height(card: Card, sizes: Mapping[str, Json], wide: float, more: str, *, bare: bool) -> float:
    room = wide - 2 * _PAD - 4
    said = "of them" * bool(card.each)
    # A chance stands in percent, and a slider that moves gives it more digits.
    numbers = [re.sub(r"= (0?\.\d+|[01])(?![\d.,])", "= 00.00 %", text) for text in card.numbers]
    uses = numbers if len(numbers) <= _MOST_USES else ["numbers"]
    lines = [len(wrapped(t, 13.2, room)) for t in (card.story, card.rule, said, more, *uses)]
    rows = (
        0 if bare else min(len(card.members) + len(card.each), max(len(card.members), _MOST_ROWS))
    )
    if not rows and not bare and card.name in sizes:
        states = sizes[card.name]
        rows = len(states) if isinstance(states, list) else _MOST_ROWS + 1
    bars = _BARS if rows > _MOST_ROWS and not card.members else _ROW * rows
    names = len(wrapped(card.name, 15.0, room - 34, bold=True))
    return _NAME * names + _LINE * sum(lines) + bars + 2 * _PAD
