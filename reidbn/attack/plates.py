"""Plates: a part of a model file that is written once and stands for several.

`repeat:` names what repeats: words (`relative: [father, mother]`), or pairs (`step: [a>b, b>c]`).
A name with `[relative]` or `[step.from]` is written once for every value, and the values stand in
for the same words inside it.  Inside a list a word that the name around it leaves open stands for
all its values; anywhere else it is refused.  In `parents`, `*` stands for any part of a name.

What comes out is a document as somebody could have written it by hand, whose every line still
knows where in the file it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from reidbn.attack.leaves import Where
from reidbn.attack.yamltext import Document, written
from reidbn.errors import WARNING, Problem, did_you_mean

MOST = 50_000  # things that one file may stand for
_WORD = re.compile(r"\[(\w+)(?:\.(\w+))?\]")
_PAIR = re.compile(r"(\w+)\s*>\s*(\w+)\Z")
_SPAN = re.compile(r"(\d+)\.\.(\d+)\Z")
_TEXT = ("story", "title", "source", "sources", "name", "unit", "linddun", "panoptic", "wp216",
         "five_safes", "excluded")  # fmt: skip
_NAMES = ("parents", "members")

Element = Mapping[str, str]  # what [plate] ("") or [plate.from] and [plate.to] stand for
Left = Mapping[str, tuple[Element, ...]]  # the elements of every plate that are still meant
Fields = list[tuple[str, str]]  # such as ("step", "from")
Inside = Mapping[str, frozenset[int]]  # of a name: places within a word that a plate filled in


def unfold(document: Document) -> tuple[Document, Inside, list[Problem]]:
    """The document with its plates written out; problems stand where the file has them."""
    if "repeat" not in document.data:
        return document, {}, []
    plates, problems = listed(document.data["repeat"])
    if problems:
        return document, {}, problems
    work = _Unfolding(document, plates)
    data = work.value({k: v for k, v in document.data.items() if k != "repeat"}, (), (), plates)
    work.came |= {at: at for at in document.marks if at[:1] == ("repeat",)}
    problems = work.problems or [*work.unused()]
    if problems:
        return document, {}, list(dict.fromkeys(problems))
    moved = document.moved(work.came)
    moved = replace(moved, data=data, template=document.data, bound=work.bound)
    return moved, work.inside, []


def has_wild_cards(data: Any) -> bool:
    return any(True for _ in _wild_lists(data))


def spread(document: Document, inside: Inside) -> tuple[Document, list[Problem]]:
    """The document with every `*` among parents as the names that it stands for, in its order."""
    if not has_wild_cards(document.data):
        return document, []
    names = [*_node_names(document.data)]
    came = {where: where for where in {*document.marks, *document.key_marks, *document.unread}}
    fits: dict[tuple[int, int], bool] = {}  # whether what is written there fits anything at all
    first: dict[tuple[int, int], Problem] = {}
    data = deepcopy(document.data)
    for owner, holder, where in [*_wild_lists(data)]:
        listed = holder["parents"]
        holder["parents"] = []
        for i, parent in enumerate(listed):
            at = (*where, "parents", i)
            matched = [parent]
            if isinstance(parent, str) and "*" in parent:
                every = [n for n in names if n != owner and _fits(parent, n, inside)]
                taken = {p for p in (*listed, *holder["parents"]) if isinstance(p, str)}
                matched = [n for n in every if n not in taken]
                mark = document.mark(at)
                fits[mark] = fits.get(mark, False) or bool(every)
                message = f'no other node has a name such as "{parent}"'
                first.setdefault(mark, Problem(at, message))
            for name in matched:
                came[(*where, "parents", len(holder["parents"]))] = at
                holder["parents"].append(name)
    found = [first[mark] for mark, one in fits.items() if not one]
    if found:
        return document, found
    template = document.data if document.template is None else document.template
    return replace(document, data=data, template=template).moved(came), []


def _fits(pattern: str, name: str, inside: Inside) -> bool:
    """Whether a name is meant; `*` never ends within a word that a plate filled in."""
    first, *parts = pattern.split("*")
    closed = inside.get(name, frozenset())
    ends = {len(first)} if name.startswith(first) else set()
    for part in parts:
        ends = {
            stop + len(part)
            for start in ends - closed
            for stop in range(start, len(name) + 1)
            if stop not in closed and name.startswith(part, stop)
        }
    return len(name) in ends


# -- what repeats ---------------------------------------------------------------------------------


def listed(repeat: Any) -> tuple[dict[str, tuple[Element, ...]], list[Problem]]:
    """What each name under `repeat:` stands for."""
    if not isinstance(repeat, dict) or ("repeat" and not all(repeat)):
        form = "relative: [father, mother]"
        return {}, [Problem(("repeat",), f"needs a mapping of lists, such as {form}")]
    found: dict[str, tuple[Element, ...]] = {}
    problems: list[Problem] = []
    for name, told in repeat.items():
        where = ("repeat", name)
        if not re.fullmatch(r"[^\W\d]\w*", name):
            problems.append(Problem(where, "is no name: use letters, digits and _", at_key=True))
        span = _SPAN.match(told) if isinstance(told, str) else None
        if span:
            told = [str(i) for i in range(int(span[1]), min(int(span[2]), MOST) + 1)]
        if not isinstance(told, list) or not told:
            problems.append(Problem(where, "needs a list of words, of pairs a>b, or a span 1..4"))
            continue
        found[name] = tuple(_element(written(item)) for item in told)
        problems += _odd_elements(where, [*map(written, told)], found[name])
    return found, problems


def _element(word: str) -> Element:
    pair = _PAIR.match(word)
    return {"from": pair[1], "to": pair[2]} if pair else {"": word}


def _odd_elements(
    where: Where, words: list[str], elements: tuple[Element, ...]
) -> Iterator[Problem]:
    seen: set[tuple[str, ...]] = set()
    for i, (word, element) in enumerate(zip(words, elements, strict=True)):
        parts = tuple(element.values())
        if not all(re.fullmatch(r"\w+", part) for part in parts):
            message = f'"{word}" cannot be part of a name: use letters, digits and _, or a pair a>b'
            yield Problem((*where, i), message)
        elif parts in seen:
            yield Problem((*where, i), f'"{word}" is listed twice')
        elif element.keys() != elements[0].keys():
            yield Problem((*where, i), f'"{word}": all are words, or all are pairs such as a>b')
        seen.add(parts)


def plate_slips(repeat: Any) -> Iterator[Problem]:
    """Pairs with a word that is nearly one of a list that has the words of others."""
    plates, _ = listed(repeat)
    words = {e[""] for elements in plates.values() for e in elements if "" in e}
    for name, elements in plates.items():
        known = words & {word for e in elements for word in e.values()}
        for i, pair in enumerate(elements):
            for word in set(pair.values()) - words if known else ():
                if (hint := did_you_mean(word, words)).startswith("did you mean"):
                    message = f'"{word}" is in no other list; {hint}'
                    yield Problem(("repeat", name, i), message, level=WARNING)


# -- writing it out -------------------------------------------------------------------------------


@dataclass
class _Unfolding:
    document: Document
    plates: Left
    came: dict[Where, Where] = field(default_factory=dict)  # the address in the file, by new one
    bound: dict[Where, str] = field(default_factory=dict)  # "relative = mother", by new address
    problems: list[Problem] = field(default_factory=list)
    inside: dict[str, frozenset[int]] = field(default_factory=dict)  # places within words of names
    used: set[str] = field(default_factory=set)

    def unused(self) -> Iterator[Problem]:
        for name in self.plates:
            if name not in self.used:
                message = f"is never used; write [{name}] in a name, or leave it out"
                yield Problem(("repeat", name), message, at_key=True)

    def value(self, value: Any, old: Where, new: Where, left: Left) -> Any:
        self.came[new] = old
        if isinstance(value, dict):
            return self._mapping(value, old, new, left)
        if isinstance(value, list):
            return self._list(value, old, new, left)
        if not isinstance(value, str) or "[" not in value:
            return value
        return self._word(value, old, left)

    def _mapping(self, value: Mapping[str, Any], old: Where, new: Where, left: Left) -> Any:
        out: dict[str, Any] = {}
        first: dict[str, str] = {}
        for key, item in value.items():
            at, found = (*old, key), len(self.problems)
            fields = self._fields(key, at)
            for narrower in self._every(fields, at, left) if len(self.problems) == found else ():
                name = self._filled(key, narrower, is_name=True)
                if name in out:
                    self._clash(at, name, first[name])
                    break
                first[name] = key
                self._remember((*new, name), left, narrower)
                out[name] = self.value(item, at, (*new, name), narrower)
        return out

    def _list(self, value: list[Any], old: Where, new: Where, left: Left) -> Any:
        out: list[Any] = []
        for i, item in enumerate(value):
            at = (*old, i)
            for narrower in self._every(self._open(item, at, left), at, left):
                here = (*new, len(out))
                self._remember(here, left, narrower)
                if isinstance(item, str):
                    self.came[here] = at
                    is_name = old[-1:] == ("members",)
                    out.append(self._filled(item, narrower, is_name=is_name))
                else:
                    out.append(self.value(item, at, here, narrower))
        return out

    def _open(self, item: Any, at: Where, left: Left) -> Fields:
        """What keeps an entry of a list from being one entry: words that nothing in it fixes."""
        if at[-2:-1] and at[-2] in _TEXT:
            return []
        if isinstance(item, str):
            return self._fields(item, at)
        found: Fields = []
        for key, inner in item.items() if isinstance(item, dict) else ():
            if key not in _TEXT and not _WORD.search(key) and isinstance(inner, str | dict):
                fields = self._open(inner, (*at, key), left)
                found += [f for f in fields if len(_values(left, *f)) > 1]
        return found

    def _remember(self, new: Where, left: Left, narrower: Left) -> None:
        if narrower is not left:
            self.bound[new] = _in_words(self.plates, narrower)

    def _clash(self, at: Where, name: str, first: str) -> None:
        line = self.document.mark((*at[:-1], first), at_key=True)[0] + 1
        what = "written" if first == name else f'made by "{first}"'
        message = f'makes "{name}", which is {what} on line {line}, too; rename one of the two'
        self.problems.append(Problem(at, message, at_key=True))

    def _every(self, fields: Fields, at: Where, left: Left) -> list[Left]:
        """What is left for every combination of the words that are named."""
        found = [left]
        for plate in dict.fromkeys(plate for plate, _ in fields):
            keys = [key for p, key in fields if p == plate]
            found = [one for f in found for one in _narrowed(f, plate, keys)]
            if len(self.came) + len(found) > MOST:
                message = f"stands for more than {MOST:,} things with all before it; repeat less"
                self.problems.append(Problem(at, message, at_key=not isinstance(at[-1], int)))
                return []
        return found

    def _fields(self, text: str, at: Where) -> Fields:
        """The words of a text that plates fill; what is no plate is a slip where names stand."""
        found = []
        named = (
            len(at) == 2
            or (at[-2:-1] and at[-2] in _NAMES)
            or (at[:1] == ("questions",) and at[-1] in ("target", "expect"))
        )
        for plate, key in _WORD.findall(text):
            message = ""
            if plate not in self.plates:
                hint = did_you_mean(plate, self.plates)
                message = f'nothing that repeats is called "{plate}"; {hint}' if named else ""
            elif key not in self.plates[plate][0]:
                message = self._no_such_part(plate)
            else:
                self.used.add(plate)
                found.append((plate, key))
            if message:
                self.problems.append(Problem(at, message, at_key=not isinstance(at[-1], int)))
        return found

    def _no_such_part(self, plate: str) -> str:
        if "" in self.plates[plate][0]:
            return f"{plate} lists words, not pairs: write [{plate}]"
        return f"{plate} lists pairs: write [{plate}.from] or [{plate}.to]"

    def _word(self, text: str, old: Where, left: Left) -> str:
        """A text with every word filled in that is fixed here."""
        told = any(part in _TEXT for part in old[-2:])
        for plate, key in [] if told else self._fields(text, old):
            if len(_values(left, plate, key)) > 1:
                word = f"[{plate}.{key}]" if key else f"[{plate}]"
                message = f"{word} is open here: put it into the name around this, or into a list"
                self.problems.append(Problem(old, message))
        return self._filled(text, left)

    def _filled(self, text: str, left: Left, *, is_name: bool = False) -> str:
        out, last = "", 0
        inside: set[int] = set()
        for found in _WORD.finditer(text):
            values = _values(left, found[1], found[2] or "")
            if len(values) == 1:
                out += text[last : found.start()]
                inside.update(range(len(out) + 1, len(out) + len(values[0])))
                out, last = out + values[0], found.end()
        out += text[last:]
        if is_name:
            self.inside[out] = frozenset(inside)
        return out


def _values(left: Left, plate: str, key: str) -> list[str]:
    """What a word may stand for."""
    return list(dict.fromkeys(e[key] for e in left.get(plate, ()) if key in e))


def _narrowed(left: Left, plate: str, keys: list[str]) -> Iterator[Left]:
    """What is left of a plate for every combination of some of its fields."""
    groups: dict[tuple[str, ...], list[Element]] = {}
    for element in left[plate]:
        groups.setdefault(tuple(element[k] for k in keys), []).append(element)
    for elements in groups.values():
        yield {**left, plate: tuple(elements)}


def _in_words(plates: Left, left: Left) -> str:
    """What is fixed, such as "relative = mother, step = father > mother"."""
    said = []
    for plate, elements in left.items():
        for key in elements[0] if len(elements) < len(plates[plate]) else ():
            values = {element[key] for element in elements}
            if len(values) == 1:
                said.append(f"{plate}.{key} = {values.pop()}".replace(". =", " ="))
    return ", ".join(said)


def _node_names(data: Any) -> Iterator[str]:
    for group in _things(data, "groups"):
        members = group.get("members", ())
        yield from (str(written(m)) for m in members if isinstance(members, list | dict))
    for room in ("nodes", "decisions"):
        things = data.get(room)
        yield from things if isinstance(things, dict) else ()


def _things(data: Any, room: str) -> Iterator[Any]:
    things = data.get(room)
    for thing in things.values() if isinstance(things, dict) else ():
        if isinstance(thing, dict):
            yield thing


def _wild_lists(data: Any) -> Iterator[tuple[str, dict[str, Any], Where]]:
    """Everything whose parents hold a wild card: its name, itself and its address."""
    for room in ("groups", "nodes"):
        things = data.get(room)
        for name, thing in things.items() if isinstance(things, dict) else ():
            if not isinstance(thing, dict):
                continue
            if _is_wild(thing):
                yield name, thing, (room, name)
            members = thing.get("members") if room == "groups" else None
            for member, story in members.items() if isinstance(members, dict) else ():
                if isinstance(story, dict) and _is_wild(story):
                    yield member, story, (room, name, "members", member)


def _is_wild(thing: Mapping[str, Any]) -> bool:
    parents = thing.get("parents")
    return isinstance(parents, list) and any(isinstance(p, str) and "*" in p for p in parents)
