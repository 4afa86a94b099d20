"""What a model file writes once and means several times, drawn once: plates as in textbooks.

Two nodes are drawn as one where the file has plates (`repeat:`), their names, stories and rules
differ in words that repeat alone, and both have the same states and numbers.  Where few are to be
drawn, or nodes of one plate lead to each other, they are drawn one by one.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

import networkx as nx

from reidbn.attack.attack import Attack
from reidbn.attack.cards import Card, Edge, SourceLine
from reidbn.attack.plates import listed

_GAP = "\0"
FEW = 30  # cards that all find room beside each other


@dataclass(frozen=True)
class Repeats:
    """The words that repeat, by the name of what repeats; pairs apart."""

    lists: Mapping[str, tuple[str, ...]]
    pairs: Mapping[str, tuple[tuple[str, str], ...]]

    @classmethod
    def of(cls, attack: Attack) -> Repeats:
        """The words of a model file."""
        lists, pairs = {}, {}
        for name, elements in listed((attack.template or {}).get("repeat") or {})[0].items():
            if "" in elements[0]:
                lists[name] = tuple(e[""] for e in elements)
            else:
                pairs[name] = tuple((e["from"], e["to"]) for e in elements)
        return cls(lists, pairs)

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """Any of the words, where it stands alone or between two signs of _."""
        every = {w for words in self.lists.values() for w in words}
        every |= {w for pairs in self.pairs.values() for pair in pairs for w in pair}
        longest = sorted(every, key=lambda w: (-len(w), w))
        any_of = "|".join(map(re.escape, longest))
        return re.compile(rf"(?<![^\W_])(?:{any_of})(?![^\W_])") if every else None

    def label(self, found: list[tuple[str, ...]]) -> list[str]:
        """What stands for every gap of a name, such as [relative]."""
        for name, pairs in self.pairs.items():
            if len(found[0]) == 2 and {*found} <= {*pairs}:
                return [f"[{name}.from]", f"[{name}.to]"]
        named = []
        for slot in zip(*found, strict=True):
            of = (name for name, words in self.lists.items() if {*slot} <= {*words})
            named.append(f"[{next(of, '...')}]")
        return named


@dataclass(frozen=True)
class Folded:
    """Cards, arrows and numbers with every plate once; `names` has the card of each node."""

    cards: list[Card]
    edges: list[Edge]
    names: Mapping[str, str]
    words: Repeats

    @property
    def said(self) -> str:
        """What the words in brackets stand for."""
        used = {w for card in self.cards if card.each for w in re.findall(r"\[(\w+)", card.name)}
        told = [f"[{name}] is each of {', '.join(words)}" for name, words in
                self.words.lists.items() if name in used]  # fmt: skip
        told += [f"[{name}] is each of {len(pairs)} pairs" for name, pairs in
                 self.words.pairs.items() if name in used]  # fmt: skip
        return f"Drawn once: {'; '.join(told)}." if told else ""


def folded(attack: Attack, shown: list[Card], links: list[Edge]) -> Folded:
    """Cards and arrows with every plate drawn once."""
    words = Repeats.of(attack)
    plates = _plates(attack, words, shown)
    plates = [plate for plate in plates if not _leads_on(plate, plates, shown, links)]
    names = {card.name: card.name for card in shown}
    made: dict[str, Card] = {}
    for plate in plates:
        card = _card(plate, words, {*names.values(), *made})
        names |= dict.fromkeys((c.name for c in plate), card.name)
        made[card.name] = card
    own = {card.name: card for card in shown}
    edges = dict.fromkeys(
        Edge(names[e.start], names[e.end], e.member) for e in links if e.start in names
    )
    order = dict.fromkeys(names.values())
    graph: nx.DiGraph[str] = nx.DiGraph((e.start, e.end) for e in edges)
    graph.add_nodes_from(order)
    place = {name: i for i, name in enumerate(order)}
    sorted_ = nx.lexicographical_topological_sort(graph, place.__getitem__)
    return Folded([made.get(n) or own[n] for n in sorted_], [*edges], names, words)


def folded_sources(attack: Attack, told: Iterable[SourceLine]) -> list[SourceLine]:
    """Lines of numbers that differ in words that repeat alone, as one."""
    words = Repeats.of(attack)
    groups: dict[Hashable, list[tuple[str, ...]]] = {}
    keys: list[Hashable] = []
    lines = [*told]
    for line in lines:
        gaps, found = _masked(line.name, words.pattern)
        keys.append((gaps, line.value, line.source))
        groups.setdefault(keys[-1], []).append(found)
    made: dict[Hashable, SourceLine] = {}
    for i, (line, key) in enumerate(zip(lines, keys, strict=True)):
        of = groups[key]
        if len(of) == 1 or len(attack.all_nodes) <= FEW:
            made[i] = line
        elif key not in made:
            gaps = _masked(line.name, words.pattern)[0]
            made[key] = replace(line, name=_filled(gaps, words.label(of)), times=len(of))
    return [*made.values()]


def _masked(text: str, pattern: re.Pattern[str] | None) -> tuple[str, tuple[str, ...]]:
    if pattern is None:
        return text, ()
    return pattern.sub(_GAP, text), tuple(pattern.findall(text))


def _filled(gaps: str, labels: list[str]) -> str:
    for label in labels:
        gaps = gaps.replace(_GAP, label, 1)
    return gaps


def _plates(attack: Attack, words: Repeats, shown: list[Card]) -> list[list[Card]]:
    pattern = words.pattern
    groups: dict[Hashable, list[Card]] = {}
    for card in shown if pattern is not None and len(shown) > FEW else ():
        gaps, found = _masked(card.name, pattern)
        node = attack.all_nodes.get(card.name)
        if found and node is not None:
            alike = [_masked(text, pattern)[0] for text in (card.story, card.rule)]
            key = (gaps, *alike, card.kind, card.numbers, type(node.cpd), node.states)
            groups.setdefault(key, []).append(card)
    return [cards for cards in groups.values() if len(cards) > 1]


def _leads_on(plate: list[Card], plates: list[list[Card]], shown: list[Card],
              links: list[Edge]) -> bool:  # fmt: skip
    """Whether nodes of a plate lead to each other, perhaps by way of others."""
    of = {c.name: i for i, each in enumerate(plates) for c in each}
    graph: nx.DiGraph[Hashable] = nx.DiGraph()
    graph.add_nodes_from(of.get(c.name, c.name) for c in shown)
    graph.add_edges_from((of.get(e.start, e.start), of.get(e.end, e.end)) for e in links)
    mine = of[plate[0].name]
    return mine in nx.nodes_with_selfloops(graph) or any(
        mine in nx.descendants(graph, after) for after in graph.successors(mine)
    )


def _card(plate: list[Card], words: Repeats, taken: set[str]) -> Card:
    pattern, first = words.pattern, plate[0]
    gaps = _masked(first.name, pattern)[0]
    found = [_masked(card.name, pattern)[1] for card in plate]
    labels = words.label(found)
    name, again = _filled(gaps, labels), 2
    while name in taken:
        name, again = f"{_filled(gaps, labels)} ({again})", again + 1
    by_word = dict(zip(found[0], labels, strict=True))
    story, rule = (pattern.sub(lambda m: by_word.get(m[0], "[...]"), text) if pattern else text
                   for text in (first.story, first.rule))  # fmt: skip
    order = {w: i for i, w in enumerate(w for of in words.lists.values() for w in of)}
    told = sorted(zip(found, plate, strict=True), key=lambda f: [order.get(w, 0) for w in f[0]])
    each = tuple((" > ".join(of), card.name) for of, card in told)
    return replace(first, name=name, story=story, rule=rule, each=each)
