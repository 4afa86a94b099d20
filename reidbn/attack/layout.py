"""How a model file looks: content as YAML text that a person can read aloud.

Short things stand on one line (`{kind: and}`, `[no, yes]`), long stories are folded, long tables
get one row per line; nothing is wider than 100 columns unless a single word is.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from reidbn.attack.yamltext import YamlBool, scalar

WIDTH = 100
MODELINE = "# yaml-language-server: $schema=./model.schema.json\n"
# Mappings of named things, whose entries always get lines of their own.
_ROOMS = ("parameters", "subject", "groups", "nodes")
# Where a numeral is a name: it is read as it is written, so it needs no quotes.
_NUMERALS = ("states", "when", "given", "to")
_FIRST = set("-?:,[]{}#&*!|>'\"%@`=<~")
_ODD = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|[\ud800-\udfff]")
_OTHER_NUMBERS = re.compile(r"[-+]?0[xob]")


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
    lines: list[str] = []
    for key, value in content.items():
        if key == "sources" and isinstance(value, list):
            lines += [f"{key}:", *_items(value, 2, numerals=False)]
        elif key in _ROOMS and isinstance(value, dict):
            lines.append(f"{key}:")
            for name, thing in value.items():
                lines += _entry(name, thing, 2, flat=False)
        elif isinstance(value, dict):
            lines += [f"{_word(key, numerals=True)}:", *_block(value, 2)]
        else:
            lines += _entry(key, value, 0)
    return MODELINE + "\n".join(lines) + "\n"


def _block(mapping: dict[str, Any], indent: int) -> Iterator[str]:
    for key, value in mapping.items():
        yield from _entry(key, value, indent)


def _entry(
    key: str, value: Any, indent: int, *, inside: bool = False, flat: bool = True
) -> Iterator[str]:
    """`key: value` on one line if it fits (and may be `flat`), else on several."""
    numerals = inside or (flat and key in _NUMERALS)
    head = " " * indent + _word(key, numerals=True) + ":"
    line = f"{head} {_flow(value, numerals=numerals)}"
    table = isinstance(value, list) and any(isinstance(v, dict | list) for v in value)
    fits = len(line) <= WIDTH and not table and "\\n" not in line
    if fits and (flat or not value):
        text = isinstance(value, str)
        yield f"{head} {_word(value, numerals=numerals)}" if text else line
    elif isinstance(value, dict) and value:
        yield head
        for inner, item in value.items():
            yield from _entry(inner, item, indent + 2, inside=numerals)
    elif table:
        yield head
        yield from _items(value, indent + 2, numerals=numerals)
    elif isinstance(value, list) and value:
        yield from _wrapped(head, value, indent, numerals=numerals)
    elif isinstance(value, str) and _folds(value):
        yield f"{head} >-"
        yield from _folded(value, indent + 2)
    else:
        yield f"{head} {_flow(value, numerals=numerals)}"


def _items(values: list[Any], indent: int, *, numerals: bool) -> Iterator[str]:
    """A block list: one line per item, or one block per item that does not fit."""
    dash = " " * indent + "- "
    for value in values:
        line = dash + _flow(value, numerals=numerals, flow=not isinstance(value, str))
        if len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
            yield line
        elif isinstance(value, dict):
            first, *rest = _block(value, indent + 2)
            yield dash + first[indent + 2 :]
            yield from rest
        else:
            yield from _wrapped(" " * indent + "-", value, indent, numerals=numerals)


def _wrapped(head: str, values: list[Any], indent: int, *, numerals: bool) -> Iterator[str]:
    """A flow list over several lines."""
    line = f"{head} ["
    for i, value in enumerate(values):
        last = i == len(values) - 1
        cell = _flow(value, numerals=numerals) + ("]" if last else ",")
        if len(line) + len(cell) + 1 > WIDTH and not line.endswith("["):
            yield line
            line = " " * (indent + 2) + cell
        else:
            line += cell if line.endswith("[") else f" {cell}"
    yield line


def _flow(value: Any, *, numerals: bool = False, flow: bool = True) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        pairs = (
            f"{_word(k, numerals=True, flow=True)}: {_flow(v, numerals=numerals or k in _NUMERALS)}"
            for k, v in value.items()
        )
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(v, numerals=numerals) for v in value) + "]"
    if isinstance(value, str):
        return _word(value, numerals=numerals, flow=flow)
    return _number(value)


def _number(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    return repr(value)


def _word(text: str, *, numerals: bool = False, flow: bool = False) -> str:
    """Text without quotes where YAML reads it back as the same text, else in double quotes."""
    meaning = scalar(text)
    is_text = isinstance(meaning, str) and not isinstance(meaning, YamlBool)
    if numerals and isinstance(meaning, int | float):
        is_text = True
    if is_text and not _needs_quotes(text, flow=flow):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", quoted)


def _needs_quotes(text: str, *, flow: bool) -> bool:
    return (
        (text[0] in _FIRST and not isinstance(scalar(text), int | float))
        or text != text.strip()
        or text.endswith(":")
        or ": " in text
        or " #" in text
        or text.startswith("...")
        or _ODD.search(text) is not None
        or _OTHER_NUMBERS.match(text) is not None
        or (flow and any(sign in text for sign in ",[]{}:"))
    )


def _folds(text: str) -> bool:
    """Folding keeps single blanks between words and line breaks between paragraphs, no more."""
    paragraphs = text.split("\n")
    whole = bool(paragraphs[0] and paragraphs[-1])
    return whole and all(p == " ".join(p.split(" ")) and _plain(p) for p in paragraphs)


def _plain(paragraph: str) -> bool:
    return not _ODD.search(paragraph) and "  " not in paragraph and paragraph == paragraph.strip()


def _folded(text: str, indent: int) -> Iterator[str]:
    """The lines of a folded block; an empty line between paragraphs."""
    blank = " " * indent
    for i, paragraph in enumerate(text.split("\n")):
        if i:
            yield ""
        line = ""
        for word in paragraph.split(" ") if paragraph else ():
            if line and indent + len(line) + 1 + len(word) > WIDTH:
                yield blank + line
                line = word
            else:
                line = f"{line} {word}" if line else word
        if line:
            yield blank + line
