"""BIF: the interchange format for Bayesian networks that most tools read.

Rows are written with the states of the parents, so that no reader can mistake their order, and
numbers with all their digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from reidbn.errors import ModelError, did_you_mean
from reidbn.inference.interchange.names import Originals, kept, safe_for_files
from reidbn.inference.network import MOST_CELLS, Array, PlainNode


def write_bif(nodes: Sequence[PlainNode], *, title: str, notes: Sequence[str]) -> str:
    """The nodes as BIF; `notes` become comments."""
    safe = safe_for_files(nodes)
    name = re.sub(r"\W+", "_", title, flags=re.ASCII) or "network"
    lines = [*(f"// {note}" for note in notes), f"network {name} {{", "}"]
    states = {n.name: n.states for n in safe.nodes}
    for old, node in zip(nodes, safe.nodes, strict=True):
        listed = ", ".join(node.states)
        lines.append(f"variable {node.name} {{")
        lines.append(f"    type discrete [ {len(node.states)} ] {{ {listed} }};")
        lines += [f"    property {note} ;" for note in kept(old, node)]
        lines.append("}")
    for node in safe.nodes:
        lines += _block(node, states)
    return "\n".join(lines) + "\n"


def _block(node: PlainNode, states: dict[str, tuple[str, ...]]) -> Iterator[str]:
    rows = [", ".join(repr(float(p)) for p in row) for row in node.rows]
    if not node.parents:
        yield from (f"probability ( {node.name} ) {{", f"    table {rows[0]} ;", "}")
        return
    yield f"probability ( {node.name} | {', '.join(node.parents)} ) {{"
    cases = product(*(states[p] for p in node.parents))
    for case, row in zip(cases, rows, strict=True):
        yield f"    ( {', '.join(case)} ) {row};"
    yield "}"


def read_bif(text: str, where: str) -> list[PlainNode]:
    """The nodes of a BIF text; `where` names it in errors."""
    return _Reader(text, where).nodes()


_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/)"
    r"|property\s(?P<property>[^;]*);"
    r'|"(?P<quoted>[^"]*)"'
    r"|(?P<sign>[{}()\[\],;|])"
    r'|(?P<word>[^\s{}()\[\],;|"]+)',
    re.DOTALL,
)


@dataclass
class _Token:
    kind: str
    text: str
    line: int


class _Reader:
    """Blocks in any order; names and states may hold blanks, as some writers leave them."""

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.tokens = list(self._tokenised(text))
        self.at = 0
        self.variables: dict[str, tuple[str, ...]] = {}
        self.originals = Originals()
        self.found: dict[str, PlainNode] = {}

    def nodes(self) -> list[PlainNode]:
        while self.at < len(self.tokens):
            self._block(self._take())
        for name in self.variables:
            if name not in self.found:
                raise ModelError(f"{self.where}: no probability block for {name}")
        return self.originals.restore(list(self.found.values()))

    def _block(self, token: _Token) -> None:
        if token.text == "network":
            self._until("}")
        elif token.text == "variable":
            self._variable()
        elif token.text == "probability":
            self._probability(token.line)
        elif token.kind != "property":
            message = "expected network, variable or probability"
            raise self._error(token.line, f'"{token.text}" starts no block; {message}')

    # -- blocks ----------------------------------------------------------------------------

    def _variable(self) -> None:
        name = " ".join(t.text for t in self._until("{"))
        states: list[str] = []
        while (token := self._take()).text != "}":
            if token.kind == "property":
                self.originals.note(name, token.text)
            elif token.text == "type":
                single = "1" in [t.text for t in self._until("{")]
                texts = [t.text for t in self._until("}")]
                states = _split(texts) if single or "," in texts else texts
        if not states:
            raise self._error(token.line, f"variable {name} has no states")
        self.variables[name] = tuple(states)

    def _probability(self, line: int) -> None:
        child, parents = self._header(line)
        if child in self.found:
            raise self._error(line, f"{child} has a second probability block")
        shape = [len(self._of(p, line)) for p in parents]
        cells = prod([*shape, len(self._of(child, line))])
        if cells > MOST_CELLS:
            raise self._error(
                line, f"the table of {child} has {cells:,} numbers; at most {MOST_CELLS:,}"
            )
        table = np.full((*shape, len(self._of(child, line))), np.nan)
        while (token := self._take()).text != "}":
            if token.text == "(":
                index = self._case(parents, token.line)
                table[index] = self._numbers(token.line, table.shape[-1])
            elif token.text == "table":
                table = self._whole(token.line, table)
            elif token.text == "default":
                rest = np.isnan(table).any(axis=-1)
                table[rest] = self._numbers(token.line, table.shape[-1])
        if np.isnan(table).any():
            missing = int(np.isnan(table).any(axis=-1).sum())
            raise self._error(line, f"{child}: {missing} configurations of its parents have no row")
        states = self.variables[child]
        self.found[child] = PlainNode(child, states, tuple(parents), table)

    def _header(self, line: int) -> tuple[str, list[str]]:
        self._expect("(")
        inside = self._until(")")
        self._expect("{")
        texts = [t.text for t in inside]
        if not texts:
            raise self._error(line, "a probability block names no node")
        if "|" in texts:
            bar = texts.index("|")
            return " ".join(texts[:bar]), _split(texts[bar + 1 :])
        whole = " ".join(texts)
        if whole in self.variables or len(texts) == 1:
            return whole, []
        return texts[0], [t for t in texts[1:] if t != ","]  # the oldest dialect has no bar

    def _case(self, parents: list[str], line: int) -> tuple[int, ...]:
        texts = [t.text for t in self._until(")")]
        named = texts if len(texts) == len(parents) else _split(texts)
        if len(named) != len(parents):
            raise self._error(line, f"a row names {len(named)} states for {len(parents)} parents")
        index = []
        for parent, state in zip(parents, named, strict=True):
            states = self.variables[parent]
            if state not in states:
                hint = did_you_mean(state, states)
                raise self._error(line, f'{parent} has no state "{state}"; {hint}')
            index.append(states.index(state))
        return tuple(index)

    def _whole(self, line: int, table: Array) -> Array:
        """`table` lists the child's states slowest, the last parent fastest."""
        numbers = self._numbers(line, table.size)
        return np.moveaxis(numbers.reshape(table.shape[-1:] + table.shape[:-1]), 0, -1)

    # -- tokens ----------------------------------------------------------------------------

    def _tokenised(self, text: str) -> Iterator[_Token]:
        position, line = 0, 1
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._error(line, f"cannot read {text[position]!r} here")
            kind = str(match.lastgroup)
            if kind != "skip":
                yield _Token(kind, match.group(kind), line)
            line += match.group().count("\n")
            position = match.end()

    def _take(self) -> _Token:
        if self.at >= len(self.tokens):
            raise ModelError(f"{self.where}: ends in the middle of a block; a }} is missing")
        self.at += 1
        return self.tokens[self.at - 1]

    def _until(self, sign: str) -> list[_Token]:
        found = []
        while (token := self._take()).text != sign:
            found.append(token)
        return found

    def _expect(self, sign: str) -> None:
        token = self._take()
        if token.text != sign:
            raise self._error(token.line, f'found "{token.text}" where {sign} belongs')

    def _numbers(self, line: int, wanted: int) -> Array:
        texts = [t.text for t in self._until(";") if t.text != ","]
        try:
            numbers = np.array([float(t) for t in texts])
        except ValueError:
            raise self._error(line, "holds something that is no number") from None
        if len(numbers) != wanted:
            raise self._error(line, f"has {len(numbers)} numbers; {wanted} belong here")
        return numbers

    def _of(self, name: str, line: int) -> tuple[str, ...]:
        if name not in self.variables:
            hint = did_you_mean(name, self.variables)
            raise self._error(line, f'no variable "{name}"; {hint}')
        return self.variables[name]

    def _error(self, line: int, message: str) -> ModelError:
        return ModelError(f"{self.where}:{line}: {message}")


def _split(texts: list[str]) -> list[str]:
    """Words between commas, blanks within a name kept."""
    return [" ".join(part.split()) for part in " ".join(texts).split(",") if part.strip()]
