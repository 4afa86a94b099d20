"""DOT: the graph of an attack as text for Graphviz and whatever else reads it."""

from __future__ import annotations

from reidbn.attack.attack import Attack
from reidbn.attack.cards import Card, Values, cards, edges, sources


def write_dot(attack: Attack, values: Values | None = None) -> str:
    """Nodes with their rules and parameters, a group as one box, sources in a note.

    >>> from reidbn.attack.modelfile import load
    >>> print(write_dot(load("leak-single")).splitlines()[-2])
      "leaked_class_size" -> "identified";
    """
    title = f"{attack.name}: {attack.title}" if attack.title else attack.name
    lines = [
        f"digraph {_quoted(attack.name)} {{",
        f'  label={_quoted(title)}; labelloc=t; fontname="DejaVu Sans";',
        '  node [shape=box, style="rounded,filled", fillcolor="#ffffff", fontname="DejaVu Sans"];',
    ]
    lines += [f"  {_quoted(card.name)} {_attributes(card)};" for card in cards(attack, values)]
    listed = sources(attack, values)
    if listed:
        text = "".join(f"{s.name} = {s.value}: {s.source}\n" for s in listed)
        lines.append(f'  "sources" [shape=note, style="", label={_quoted(text, end="l")}];')
    for edge in edges(attack):
        label = f" [label={_quoted(edge.member)}]" if edge.member else ""
        lines.append(f"  {_quoted(edge.start)} -> {_quoted(edge.end)}{label};")
    return "\n".join([*lines, "}"]) + "\n"


# The signs of influence diagrams: a square for a decision, a diamond for a utility.
_SHAPES = {"decision": ', style="filled", penwidth=2', "utility": ', shape=diamond, style="filled"'}


def _attributes(card: Card) -> str:
    lines = [card.name, *card.members, card.rule, *card.numbers]
    fill = ', fillcolor="#eef2f7", peripheries=2' if card.is_group else ""
    fill = _SHAPES.get(card.kind, fill)
    label = "\n".join(line for line in lines if line)
    return f"[label={_quoted(label)}, tooltip={_quoted(card.story or card.name)}{fill}]"


def _quoted(text: str, *, end: str = "n") -> str:
    r"""A DOT string; lines end in \n (centred) or \l (left)."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", f"\\{end}")
    return f'"{escaped}"'
