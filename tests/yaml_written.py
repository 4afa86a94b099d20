"""A second reading of what a model file stands for: plates, parts and variants, written out.

Nothing of reidbn is imported; tests/yaml_oracle.py reads what comes out.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ruamel.yaml import YAML

ROOMS = ("parameters", "numbers", "subject", "groups", "decisions", "utilities", "nodes",
         "questions", "example")  # fmt: skip


def written_out(words: str, models: Mapping[str, str] = {}) -> dict[str, Any]:
    """The file as somebody would have written it by hand, without other files."""
    read = json.loads if words.startswith("{") else YAML(typ="safe", pure=True).load
    file = unrolled(read(words))
    if base := file.pop("extends", None):
        file = _over(written_out(models[base], models), file)
    for part in file.pop("use", []):
        file = _beside(file, written_out(models[part["model"]], models), part)
    return spread(file)


def _over(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """A variant: things of the same name are replaced whole."""
    found = {**base, **own}
    for room in ROOMS:
        if room in base:
            found[room] = {**base[room], **own.get(room, {})}
    found["where"] = [*own.get("where", []), *base.get("where", [])]
    return found


def _beside(file: dict[str, Any], part: dict[str, Any], how: Mapping[str, Any]) -> dict[str, Any]:
    """A part under names of its own, whatever stands there: its words are all its own."""
    names = [n for room in ROOMS[:7] for n in part.get(room, {})]
    names += [m for g in part.get("groups", {}).values() for m in g["members"]]
    to = {n: f"{how['as']}_{n}" for n in names} | how.get("give", {}) | how.get("with", {})
    word = re.compile(r"([$@]?)\b(" + "|".join(sorted(names, key=len, reverse=True)) + r")\b")

    def says(found: re.Match[str]) -> str:
        sign, new = found[1], to[found[2]]
        return new if sign and new[0] in "$@" else sign + new.lstrip("$@")

    def renamed(thing: Any) -> Any:
        if isinstance(thing, dict):
            return {renamed(key): renamed(value) for key, value in thing.items()}
        if isinstance(thing, list):
            return [renamed(item) for item in thing]
        return word.sub(says, thing) if isinstance(thing, str) else thing

    found = dict(file)
    for room in (*ROOMS[:7], "example"):
        brought = {to[n]: renamed(thing) for n, thing in part.get(room, {}).items()
                   if n not in how.get("with", {})}  # fmt: skip
        found[room] = {**brought, **found.get(room, {})}
    found["where"] = [*found.get("where", []), *renamed(part.get("where", []))]
    return found


def unrolled(file: dict[str, Any]) -> dict[str, Any]:
    """The file as somebody would have written it without `repeat:` and without wild cards."""
    file = dict(file)
    plates: dict[str, list[dict[str, str]]] = {}
    for name, listed in file.pop("repeat", {}).items():
        if isinstance(listed, str):  # 1..4
            first, last = map(int, listed.split(".."))
            listed = range(first, last + 1)
        pairs = [str(word).partition(">")[::2] for word in listed]
        plates[name] = [
            {f"[{name}.from]": a.strip(), f"[{name}.to]": b.strip()} if b else {f"[{name}]": a}
            for a, b in pairs
        ]
    parts = [copy for part in file.pop("use", []) for copy in _parts(part, plates)]
    found: dict[str, Any] = _filled(file, [{}], plates)
    return {**found, "use": parts} if parts else found


def _parts(part: dict[str, Any], plates: Any) -> list[dict[str, Any]]:
    """One for every name that it is used under."""
    return [_filled({**part, "as": name}, left, plates)
            for name, left in _copies(part["as"], [{}], plates)]  # fmt: skip


def spread(found: dict[str, Any]) -> dict[str, Any]:
    """Wild cards among parents as the names that fit."""
    members = [m for g in found.get("groups", {}).values() for m in g["members"]]
    for room in ("groups", "nodes"):
        for name, thing in found.get(room, {}).items():
            names = [n for n in (*members, *found["nodes"]) if n != name]
            said = thing.get("parents", [])
            parents: list[str] = []
            for word in said:
                wild = fnmatch.filter(names, word) if "*" in word else [word]
                parents += [n for n in wild if n not in parents and (n == word or n not in said)]
            if said:
                thing["parents"] = parents
    return found


def _filled(value: Any, meant: list[dict[str, str]], plates: Any) -> Any:
    """`meant` are the assignments of words that may still hold, as far as names have fixed them."""
    if isinstance(value, dict):
        return {new: _filled(item, left, plates) for key, item in value.items()
                for new, left in _copies(key, meant, plates)}  # fmt: skip
    if isinstance(value, list):
        out = []
        for item in value:
            if isinstance(item, str):
                out += [word for word, _ in _copies(item, meant, plates)]
            else:
                out.append(_filled(item, meant, plates))
        return out
    if isinstance(value, str):
        ((word, _),) = _copies(value, meant, plates)
        return word
    return value


def _copies(text: str, meant: list[dict[str, str]], plates: Any) -> list[tuple[str, Any]]:
    for name, rows in plates.items():
        if f"[{name}" in text and not any(f"[{name}" in key for one in meant for key in one):
            meant = [{**one, **row} for one in meant for row in rows]
    found: dict[str, list[dict[str, str]]] = {}
    for one in meant:
        word = text
        for placeholder, part in one.items():
            word = word.replace(placeholder, part)
        found.setdefault(word, []).append(one)
    return list(found.items())


def lets_in(word: str, state: str) -> bool:
    """Whether a word of `when` means this state: its name, or a comparison such as >=3."""
    if word[:1] not in "<>":
        return word == state
    with_edge = word[1:2] == "="
    value, edge = Fraction(state), Fraction(word[1 + with_edge :].strip())
    return (with_edge and value == edge) or (value > edge if word[0] == ">" else value < edge)
