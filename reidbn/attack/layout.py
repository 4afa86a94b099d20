"""How a model file looks: content as YAML text that a person can read aloud.

ruamel.yaml writes; what is decided here is what stands on one line (`{kind: and}`, `[no, yes]`),
where long stories are folded, and that tables get one row per line.
"""

from __future__ import annotations

import textwrap
from io import StringIO
from typing import Any

WIDTH = 100
MODELINE = "# yaml-language-server: $schema=./model.schema.json\n"
# Mappings of named things, whose entries always get lines of their own.
_ROOMS = ("parameters", "subject", "groups", "nodes")
# Where a numeral is a name: it is read as it is written, so it needs no quotes.
_NUMERALS = ("states", "when", "given", "to")


def layout(content: dict[str, Any]) -> str:
    """The text of a model file.

    >>> print(layout({"nodes": {"a": {"rows": [{"p": ["rest", 0.25]}], "source": "assumption"}}}))
    # yaml-language-server: $schema=./model.schema.json
    nodes:
      a:
        rows:
          - {p: [rest, 0.25]}
        source: assumption
    <BLANKLINE>
    """
    text = _written(_laid_out(content, (), numerals=False), WIDTH)
    return MODELINE + "".join(line.rstrip(" ") + "\n" for line in text.split("\n")[:-1])


def _written(value: Any, width: int) -> str:
    from ruamel.yaml import YAML
    from ruamel.yaml.emitter import Emitter
    from ruamel.yaml.representer import RoundTripRepresenter

    class Quotes(Emitter):  # double ones, which can hold anything
        def choose_scalar_style(self) -> Any:
            style = super().choose_scalar_style()
            text = self.event.value
            misread = style == "" and self.flow_level and (":" in text or text[:1] in ("?", "-"))
            return '"' if misread or style == "'" else style

    class Words(RoundTripRepresenter):  # nothing is a word of its own
        def represent_none(self, data: None) -> Any:
            return self.represent_scalar("tag:yaml.org,2002:null", "null")

    Words.add_representer(type(None), Words.represent_none)
    yaml = YAML()
    yaml.Emitter, yaml.Representer = Quotes, Words
    yaml.width = width
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = StringIO()
    yaml.dump(value, out)
    return out.getvalue()


def _laid_out(value: Any, where: tuple[str | int, ...], *, numerals: bool) -> Any:
    """The value as ruamel's own kinds, which know how they are to be written."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    key = where[-1] if where else ""
    if isinstance(value, str):
        return int(value) if numerals and _canonical(value) else _folded(value, where)
    numerals = numerals or (key in _NUMERALS and not (where[0] in _ROOMS and len(where) == 2))
    if isinstance(value, dict):
        out = CommentedMap()
        for name, item in value.items():
            word = int(name) if _canonical(name) else name
            out[word] = _laid_out(item, (*where, name), numerals=numerals)
        named = bool(value) and len(where) < (3 if where and where[0] in _ROOMS else 2)
        table = any(isinstance(v, list) and _is_table(v) for v in value.values())
        flows = not named and not table
    elif isinstance(value, list | tuple):
        rows = CommentedSeq(
            _laid_out(v, (*where, i), numerals=numerals) for i, v in enumerate(value)
        )
        return rows if _is_table(value) or (value and key == "sources") else _flow(rows)
    else:
        return value if value is None else float(value) if isinstance(value, float) else int(value)
    return _flow(out) if flows and _fits(out, where) else out


def _canonical(numeral: str) -> bool:
    return numeral.isascii() and numeral.isdecimal() and str(int(numeral)) == numeral


def _is_table(values: Any) -> bool:
    return any(isinstance(v, dict | list | tuple) for v in values)


def _flow(value: Any) -> Any:
    value.fa.set_flow_style()
    return value


def _indent(where: tuple[str | int, ...]) -> int:
    """Columns in front of what stands at an address."""
    return 2 * (len(where) - 1) + (2 if isinstance(where[-1], int) else len(str(where[-1])) + 2)


def _fits(mapping: Any, where: tuple[str | int, ...]) -> bool:
    from copy import deepcopy

    line = _written(_flow(deepcopy(mapping)), 1_000_000)
    return _indent(where) + len(line.rstrip("\n")) <= WIDTH


def _folded(text: str, where: tuple[str | int, ...]) -> Any:
    """Long text folded at its single blanks; text that folding would change stays as it is."""
    from ruamel.yaml.scalarstring import FoldedScalarString

    long = _indent(where) + len(text) > WIDTH
    if not (long and text == " ".join(text.split()) and text.isprintable()):
        return text
    found = FoldedScalarString(text)
    ends: list[int] = []
    for line in textwrap.wrap(text, WIDTH - 2 * len(where), break_long_words=False,
                              break_on_hyphens=False)[:-1]:  # fmt: skip
        ends.append((ends[-1] + 1 if ends else 0) + len(line))
    found.fold_pos = ends
    return found
