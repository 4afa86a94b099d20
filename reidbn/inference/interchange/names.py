"""Names that other tools accept, and the way back.

A format takes some names only; every other name is changed, one to one, and what it was is kept
in the file: percent-encoded words, so that any reader may skip them and ours can restore them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, unquote

from reidbn.attack.parts import NAME
from reidbn.cpds.protocol import NO, YES
from reidbn.inference.network import PlainNode

# Words of the BIF language; some readers take them for the start of a block wherever they stand.
_RESERVED = {"network", "variable", "probability", "table", "default", "property", "type",
             "discrete"}  # fmt: skip
_NOT_IN_STATES = re.compile(r'[=,;{}"]')


@dataclass(frozen=True)
class Renaming:
    """A node list under other names: the new nodes, and what was changed (new -> old)."""

    nodes: list[PlainNode]
    names: Mapping[str, Hashable]
    states: Mapping[str, Mapping[str, Hashable]]

    def __str__(self) -> str:
        parts = [f'{new} was "{old}"' for new, old in self.names.items()]
        for node, changed in self.states.items():
            parts += [f'{node}={new} was "{old}"' for new, old in changed.items()]
        return "; ".join(parts)


def safe_for_files(nodes: Sequence[PlainNode], *, letter_first: bool = False) -> Renaming:
    """Letters, digits and _ only; unique whatever the case, for readers that ignore it."""
    names = _unique((n.name for n in nodes), _file_name, str.lower)
    rule = _lettered if letter_first else _word
    return _renamed(nodes, names, {n.name: _unique(n.states, rule, str.lower) for n in nodes})


def node_names(words: Iterable[Hashable], reserved: Sequence[str] = ()) -> dict[Hashable, str]:
    """A node name for every word, none of them a reserved one.

    >>> node_names(["ZIP code", "age", "record"], reserved=["record"])
    {'ZIP code': 'ZIP_code', 'age': 'age', 'record': 'record_2'}
    """
    return _unique(words, _identifier, str, reserved)


def state_names(words: Iterable[Hashable]) -> dict[Hashable, str]:
    """A state for every value, such as a table's; True and False become yes and no.

    >>> state_names(["<=50K", 3, True])
    {'<=50K': '<_50K', 3: '3', True: 'yes'}
    """
    return _unique(words, _state, str)


def safe_for_attacks(nodes: Sequence[PlainNode]) -> Renaming:
    """Identifiers for nodes; states without the few signs that questions are written with."""
    names = _unique((n.name for n in nodes), _identifier, str)
    return _renamed(nodes, names, {n.name: _unique(n.states, _state, str) for n in nodes})


def encoded(words: Iterable[str]) -> str:
    """Words as one text without any sign that a format could stumble over.

    >>> encoded(["very high", "20-29"]), decoded("very%20high 20%2D29")
    ('very%20high 20%2D29', ['very high', '20-29'])
    """
    return " ".join(quote(word, safe="").replace("-", "%2D").replace("~", "%7E") for word in words)


def decoded(text: str) -> list[str]:
    return [unquote(word) for word in text.split()]


class Originals:
    """What a file says about the names that it had to change."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.states: dict[str, list[str]] = {}

    def note(self, node: str, text: str) -> None:
        """Remember "reidbn_name = ..." or "reidbn_states = ..."; other notes are passed over."""
        key, _, value = text.partition("=")
        if key.strip() == "reidbn_name":
            self.names[node] = decoded(value)[0]
        elif key.strip() == "reidbn_states":
            self.states[node] = decoded(value)

    def restore(self, nodes: Sequence[PlainNode]) -> list[PlainNode]:
        """The nodes under the names that they had."""
        states = {
            n.name: dict(zip(n.states, self.states[n.name], strict=True))
            for n in nodes
            if len(self.states.get(n.name, ())) == len(n.states)
        }
        return _renamed(nodes, self.names, states).nodes


def kept(old: PlainNode, node: PlainNode) -> list[str]:
    """The notes from which `Originals` restores a node that was renamed."""
    out = []
    if old.name != node.name:
        out.append(f"reidbn_name = {encoded([old.name])}")
    if old.states != node.states:
        out.append(f"reidbn_states = {encoded(old.states)}")
    return out


def _renamed(
    nodes: Sequence[PlainNode],
    names: Mapping[str, str],
    states: Mapping[str, Mapping[str, str]],
) -> Renaming:
    def named(old: str) -> str:
        return names.get(old, old)

    new = [
        replace(
            n,
            name=named(n.name),
            states=tuple(states.get(n.name, {}).get(s, s) for s in n.states),
            parents=tuple(named(p) for p in n.parents),
        )
        for n in nodes
    ]
    changed = {
        named(old): {to: was for was, to in pairs.items() if to != was}
        for old, pairs in states.items()
    }
    return Renaming(
        new,
        {to: was for was, to in names.items() if to != was},
        {node: pairs for node, pairs in changed.items() if pairs},
    )


def _unique(
    words: Iterable[Hashable],
    rule: Callable[[Hashable], str],
    fold: Callable[[str], str],
    reserved: Iterable[str] = (),
) -> dict[Any, str]:
    """A safe name for every word, no two alike when folded; a good name is kept."""
    words = list(words)
    kept = {fold(word) for word in words if rule(word) == word and isinstance(word, str)}
    taken = {fold(word) for word in reserved}
    out: dict[Any, str] = {}
    for word in words:
        safe = first = rule(word)
        n = 2
        while fold(safe) in taken or (safe != word and fold(safe) in kept):
            safe, n = f"{first}_{n}", n + 1
        taken.add(fold(safe))
        out[word] = safe
    return out


def _ascii(word: Hashable) -> str:
    text = unicodedata.normalize("NFKD", str(word))
    return re.sub(r"[^A-Za-z0-9_]+", "_", text.encode("ascii", "ignore").decode()).strip("_")


def _word(word: Hashable) -> str:
    if isinstance(word, str) and re.fullmatch(r"[A-Za-z0-9_]+", word):
        return word
    return _ascii(word) or "x"


def _lettered(word: Hashable) -> str:
    safe = _word(word)
    return safe if safe[0].isalpha() else f"s{safe}"


def _file_name(word: Hashable) -> str:
    safe = _word(word)
    if not safe[0].isalpha():
        safe = f"n{safe}"
    return f"{safe}_" if safe.lower() in _RESERVED else safe


def _identifier(word: Hashable) -> str:
    if isinstance(word, str) and NAME.match(word):
        return word
    safe = _ascii(word) or "x"
    return safe if NAME.match(safe) else f"n{safe}"


def _state(word: Hashable) -> str:
    if isinstance(word, bool):
        return YES if word else NO
    return _NOT_IN_STATES.sub("_", str(word)).strip() or "_"
