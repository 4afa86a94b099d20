"""Other models in a model: `extends:` for a variant, `use:` for a part with names of its own.

Both are read as the attack that they are, written out in full, and laid under (or beside) what the
file itself says.  Whatever is wrong with it then points to the line that brought it in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from reidbn.attack.attack import Attack
from reidbn.attack.content import content
from reidbn.attack.leaves import Where
from reidbn.attack.plates import has_wild_cards, spread, unfold
from reidbn.attack.yamltext import Document, written
from reidbn.cpds.function import Function
from reidbn.cpds.registry import all_kinds
from reidbn.cpds.rows import REST, Rows
from reidbn.errors import Problem, ReidbnError, did_you_mean

Reader = Callable[[str], Attack]
Content = dict[str, Any]
_ROOMS = ("parameters", "numbers", "subject", "groups", "decisions", "utilities", "nodes",
          "questions", "example")  # fmt: skip
_LISTS = ("where",)
_HEAD = ("schema_version", "name", "title", "story", "sources", "shelf", "excluded", "takes")
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*\b(?!\s*\()")  # in a formula: what is called is a function
_RECORDS = ("", "cpd", "rows", "p")
_NO_NAMES = ("kind", "name", "to", "story", "source", "linddun", "panoptic", "wp216", "five_safes")


def is_short(data: Any) -> bool:
    """Whether a file says less than it stands for."""
    short = ("repeat", "use", "extends")
    return isinstance(data, dict) and (any(k in data for k in short) or has_wild_cards(data))


def written_out(document: Document, read: Reader) -> tuple[Document, list[Problem]]:
    """The document with everything in it that it stands for, or what keeps it from that.

    `read` finds the attack of a name; problems stand at addresses of the document handed back.
    """
    if not is_short(document.data):
        return document, []
    full, inside, problems = unfold(document)
    if not problems:
        full, problems = _brought(full, read)
    if not problems:
        full, problems = spread(full, inside)
    return replace(full, template=document.data), problems


def _brought(document: Document, read: Reader) -> tuple[Document, list[Problem]]:
    work = _Bringing(document, read, dict(document.data))
    base, used = work.data.pop("extends", None), work.data.pop("use", ())
    if base is not None:
        work.extend(written(base))
    for i, item in enumerate(used):
        work.use(i, item)
    if not work.problems:
        work.match_states()
    if work.problems:
        return document, work.problems
    came = {where: where for where in {*document.marks, *document.key_marks}} | work.came
    return replace(document.moved(came), data=work.data), []


def _text_of(thing: Any) -> str:
    """A part of a file as text, with its names as they are written."""
    return json.dumps(thing, ensure_ascii=False)


@dataclass
class _Bringing:
    document: Document
    read: Reader
    data: Content
    came: dict[Where, Where] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    bound: list[tuple[Where, str, tuple[str, ...] | str]] = field(default_factory=list)

    def _refuse(self, where: Where, message: str) -> None:
        self.problems.append(Problem(where, message))

    def _model(self, name: str, where: Where) -> Attack | None:
        try:
            return self.read(name)
        except ReidbnError as error:
            self._refuse(where, str(error))
            return None

    # -- extends ---------------------------------------------------------------------------

    def extend(self, name: str) -> None:
        """The base under what the file says: a thing of the same name is replaced as a whole."""
        attack = self._model(name, ("extends",))
        if attack is None:
            return
        base = content(attack)
        for room, other in (("nodes", "decisions"), ("decisions", "nodes")):
            own = self.data.get(other)  # a decision may be replaced by a chance, and back
            if room in base and isinstance(own, dict):
                base[room] = {n: thing for n, thing in base[room].items() if n not in own}
        for room in base:
            own = self.data.get(room)
            if isinstance(base[room], dict) and (own is None or isinstance(own, dict)):
                self.came |= {(room, n): ("extends",) for n in base[room] if n not in (own or {})}
                self.data[room] = {**base[room], **(own or {})}
            elif isinstance(base[room], list) and (own is None or isinstance(own, list)):
                own = own or []
                self._listed(room, [*own, *(line for line in base[room] if line not in own)])
            elif own is None:
                self.data[room] = base[room]
            if own is None:
                self.came[(room,)] = ("extends",)

    def _listed(self, room: str, lines: list[Any]) -> None:
        where: Where = ("extends",) if "extends" in self.document.data else ("use",)
        before = len(self.data.get(room, ()))
        self.came |= {(room, i): where for i in range(before, len(lines))}
        if lines:
            self.data[room] = lines

    # -- use -------------------------------------------------------------------------------

    def use(self, i: int, item: Content) -> None:
        """A part with names of its own, beside what the file says."""
        where: Where = ("use", i)
        attack = self._model(written(item["model"]), (*where, "model"))
        if attack is None:
            return
        part = _Part(attack, content(attack), written(item.get("as") or ""), self._per())
        part.give({k: written(v) for k, v in (item.get("give") or {}).items()})
        part.take({k: written(v) for k, v in (item.get("with") or {}).items()})
        part.refuse_what_cannot_be_renamed()
        self.problems += [replace(p, where=(*where, *p.where)) for p in part.problems]
        if part.problems:
            return
        self.bound += [((*where, "with", n), part.to[n], states) for n, states in part.states()]
        self._check_units(where, part)
        brought = part.renamed()
        for room in brought:
            if room in _ROOMS:
                self._beside(room, brought[room], where)
            elif room in _LISTS or room == "sources":
                own = self.data.get(room) or []
                self._listed(room, [*own, *(line for line in brought[room] if line not in own)])

    def _per(self) -> dict[str, list[str]]:
        columns = self.data.get("subject")
        columns = columns if isinstance(columns, dict) else {}
        named = {n: c.get("per") or [] for n, c in columns.items() if isinstance(c, dict)}
        return {n: [per] if isinstance(per, str) else per for n, per in named.items()}

    def _beside(self, room: str, things: Content, where: Where) -> None:
        own = self.data.get(room) or {}
        if not isinstance(own, dict):
            return  # said by its shape
        for name in things:
            if name in own and room != "example":
                marks = self.document.key_marks
                line = f" on line {marks[room, name][0] + 1}" if (room, name) in marks else ""
                message = (
                    f'brings a {room.removesuffix("s")} "{name}", and one is there{line}, too: '
                    f"use it under another name (as: ..., or give: {{...}}), or bind it with: ..."
                )
                self._refuse(where, message)
        self.came |= {(room, name): where for name in things if name not in own}
        if room not in self.data:
            self.came[(room,)] = where
        self.data[room] = {**things, **own}

    def _check_units(self, where: Where, part: _Part) -> None:
        for name in sorted(part.taken):
            text, used = part.to[name], part.attack.parameters.get(name)
            rooms = {"$": ("parameters", "numbers"), "@": ("subject",)}.get(text[0], ())
            known: Content = {}
            for room in rooms:
                things = self.data.get(room)
                known |= things if isinstance(things, dict) else {}
            if rooms and text[1:] not in known:
                what = "parameter" if text[0] == "$" else "subject column"
                hint = did_you_mean(text[1:], known)
                self._refuse((*where, "with", name), f'no {what} "{text[1:]}"; {hint}')
            parameters = self.data.get("parameters")
            own = parameters.get(text[1:]) if isinstance(parameters, dict) else None
            if used is None or text[0] != "$" or not isinstance(own, dict):
                continue
            unit = written(own.get("unit", "probability"))
            if (unit == "probability") != (used.unit == "probability"):
                message = f"{text} is in {unit}, and {name} is in {used.unit}"
                self._refuse((*where, "with", name), message)

    def _room(self, room: str) -> Content:
        found = self.data.get(room)
        return found if isinstance(found, dict) else {}

    def match_states(self) -> None:
        """What stands for a node of the part has the same states in the same order."""
        nodes, groups, decided = (self._room(room) for room in ("nodes", "groups", "decisions"))
        nodes = nodes | {name: {"states": d["options"]} for name, d in decided.items()
                         if isinstance(d, dict) and "options" in d}  # fmt: skip
        members = {written(m) for g in groups.values() if isinstance(g, dict)
                   for m in g.get("members") or ()}  # fmt: skip
        for where, name, states in self.bound:
            found: Any = ["no", "yes"]
            if name in nodes and isinstance(nodes[name], dict):
                found = nodes[name].get("states", found)
            elif name not in {*members, *groups}:
                hint = did_you_mean(name, [*nodes, *members, *groups])
                self._refuse(where, f'no node "{name}" in this file; {hint}')
                continue
            same = found if isinstance(found, str) else tuple(map(written, found))
            if name not in groups and states and same != states:
                wanted = states if isinstance(states, str) else ", ".join(states)
                has = same if isinstance(same, str) else ", ".join(same)
                self._refuse(where, f"{name} has the states {has}; needed, in this order: {wanted}")


@dataclass
class _Part:
    """A model on its way into another one; `to` is what each of its names becomes there."""

    attack: Attack
    made: Content
    prefix: str
    per: Mapping[str, list[str]]  # the groups that columns of the file have a value for
    to: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        a = self.attack
        self.nodes = {*a.groups, *a.all_nodes}
        names = [*a.parameters, *self.made.get("numbers", {}), *a.subject, *a.groups, *a.all_nodes]
        self.to = {n: f"{self.prefix}_{n}" if self.prefix else n for n in names}
        unknown = [k for k in self.made if k not in (*_ROOMS, *_LISTS, *_HEAD)]
        if unknown:
            self._refuse(("model",), f"{a.name} has {unknown[0]}, which cannot be used in part")

    def _refuse(self, where: Where, message: str) -> None:
        self.problems.append(Problem(where, message))

    def _known(self, name: str, where: Where) -> bool:
        if name not in self.to:
            hint = did_you_mean(name, self.to)
            self.problems.append(
                Problem(where, f'{self.attack.name} has no "{name}"; {hint}', at_key=True)
            )
        return name in self.to

    def give(self, names: Mapping[str, str]) -> None:
        """Names of their own for some of its things."""
        for name, new in names.items():
            if self._known(name, ("give", name)):
                self.to[name] = new

    def take(self, bindings: Mapping[str, str]) -> None:
        """What of the file stands for things of the part, which are then left out."""
        for name, text in bindings.items():
            where = ("with", name)
            if not self._known(name, where):
                continue
            is_node = name in self.attack.nodes or name in self.attack.groups
            if is_node == text.startswith(("$", "@")) or not re.fullmatch(r"[$@]?\w+", text):
                form = "the name of a node" if is_node else "$parameter, or @column in quotes,"
                if name in self.attack.all_nodes and not is_node:
                    form = "its whole group: the name of a group"
                self._refuse(where, f'is "{text}"; {form} of this file stands for it')
            self.taken.add(name)
            self.to[name] = text
        for name in {"numbers"} & {*self.made}:
            for number in {*self.made[name]} & self.taken:
                self._refuse(("with", number), "is derived; bind what it is derived from")

    def states(self) -> Iterator[tuple[str, tuple[str, ...] | str]]:
        """Nodes that are taken from the file, and the states they must have; a group has none."""
        for name in sorted(self.taken):
            if name in self.attack.nodes:
                states = self.attack.nodes[name].states
                yield name, self._text(states) if isinstance(states, str) else states
            elif name in self.attack.groups:
                yield name, ()

    def refuse_what_cannot_be_renamed(self) -> None:
        if self.attack.decisions:
            message = "has an attacker who decides, and whose gains are his own: use extends, or "
            self._refuse(("model",), message + "rb.decide(attack).attack, the policy written in")
        new = {name for name, text in self.to.items() if text != name}
        for node in self.attack.nodes.values():
            if isinstance(node.cpd, Function) and new & {*node.cpd.arguments}:
                message = f"{node.name} is a Python function, whose arguments are names: use the "
                self._refuse(("model",), message + "model without as: and with:")
        lists = [n.states for n in self.attack.nodes.values() if not isinstance(n.states, str)]
        for name in sorted(new & {state for states in lists for state in states}):
            message = f'"{name}" names states of nodes there, and something else as well: the two'
            self._refuse(
                ("model",), f"{message} cannot be told apart; rename the other in the part"
            )
        for name in sorted({*self.attack.groups} & self.taken):
            members = {*self.attack.groups[name].members}
            named = [n for node in self.attack.nodes.values() for n in node.parents if n in members]
            default = (n for n in dict.fromkeys(named) if self.to[n] == f"{self.prefix}_{n}")
            if named := [*default]:
                each = ", ".join(f"{n}: {n}" for n in named)
                message = f"nodes of it have members of {name} as parents ({', '.join(named)}): "
                self._refuse(
                    ("with", name), f"{message}say of each what it is here, give: {{{each}}}"
                )
        for line in self.attack.where:
            for word in _NAME.findall(line):
                if self.to.get(word, "").startswith("@"):
                    message = f'"{line}" always holds there, and cannot be said of a column'
                    self._refuse(("with", word), message)

    # -- the content under its new names ---------------------------------------------------

    def renamed(self) -> Content:
        out: Content = {}
        for room in ("parameters", "numbers", "subject", "groups", "nodes", "example"):
            things = {
                self.to[name]: getattr(self, f"_{room}", self._plain)(thing)
                for name, thing in self.made.get(room, {}).items()
                if name not in self.taken and not (room == "example" and self._resized(name))
            }
            out |= {room: things} if things else {}
        lines = [self._formula(line) for line in self.made.get("where", ())]
        out |= {"where": lines} if lines else {}
        self._drop_unused(out)
        return out | {"sources": list(self.attack.sources)}

    def _plain(self, thing: Any) -> Any:
        return thing

    def _resized(self, column: str) -> bool:
        """Whether what stands for an axis may have more cases, or fewer: a node has the same."""
        held, nodes = self.attack.subject[column], self.attack.nodes
        same = {n for n in self.taken if n in nodes and not isinstance(nodes[n].states, str)}
        return bool({*held.axes, *held.last, held.each} & (self.taken - same))

    def _numbers(self, thing: Any) -> Any:
        if isinstance(thing, dict):
            return {**thing, "is": self._formula(thing["is"])}
        return self._formula(thing)

    def _subject(self, thing: Content) -> Content:
        out = dict(thing)
        for key in {"per", "each", "over"} & {*thing}:
            named = thing[key]
            out[key] = self.to[named] if isinstance(named, str) else [self.to[n] for n in named]
        return out

    def _groups(self, thing: Content) -> Content:
        members = thing["members"]
        if isinstance(members, dict):
            named: Any = {self.to[m]: self._nodes(story) for m, story in members.items()}
        else:
            named = [self.to[m] for m in members]
        rest = {k: v for k, v in thing.items() if k != "members"}
        return {"members": named, **self._nodes(rest)}

    def _nodes(self, thing: Any) -> Any:
        out = self._value(thing)
        if not isinstance(thing, dict):
            return out
        if isinstance(thing.get("states"), str):
            out["states"] = self._text(thing["states"])
        elif "states" in thing:
            out["states"] = thing["states"]
        kind = all_kinds().get(thing["cpd"]["kind"]) if "cpd" in thing else Rows
        added = [g for g in self._groups_of_columns(out) if g not in out.get("parents", ())]
        if (
            added and kind is not None and kind.by_name
        ):  # one value per subset: the node depends on the group
            out["parents"] = [*out.get("parents", ()), *added]
        return out

    def _groups_of_columns(self, thing: Content) -> list[str]:
        """Groups that columns of the file are `per`, where such a column was taken."""
        refs = {f'"{text}"' for n, text in self.to.items() if n in self.taken and text[:1] == "@"}
        said = _text_of(thing)
        return [g for ref in refs if ref in said for g in self.per.get(ref[2:-1], ())]

    def _value(self, value: Any, key: str = "", *, in_cells: bool = False) -> Any:
        """A part of a node under the new names; words for states, texts and `rest` stay."""
        if key in _NO_NAMES:
            return value
        if isinstance(value, dict):
            out = {}
            is_cpd = "kind" in value and key != "when"
            fixed = key in _RECORDS or is_cpd  # its keys are no names
            for k, v in value.items():
                name = self.to[k] if not fixed and k in self.nodes else k
                inner = in_cells or k == "p"
                out[name] = v if key == "when" else self._value(v, k, in_cells=inner)
            return out
        if isinstance(value, list):
            return [self._value(item, key, in_cells=in_cells) for item in value]
        is_word = not isinstance(value, str) or (in_cells and value == REST)
        return value if is_word else self._text(value)

    def _text(self, text: str) -> str:
        """A name or a reference, or a span of states that parameters size."""
        if text in self.nodes:
            return self.to[text]
        ends = [self._reference(end, sizes=".." in text) for end in text.split("..")]
        return "..".join(ends)

    def _reference(self, text: str, *, sizes: bool) -> str:
        name = text[1:]
        if text[:1] not in ("$", "@") or name not in self.to:
            return text
        new = self.to[name]
        if name not in self.taken:
            return text[0] + new
        # States that a column would size reach as far as the range that the part declares.
        return f"{self.attack.parameters[name].range[1]:.0f}" if sizes and new[0] == "@" else new

    def _formula(self, line: str) -> str:
        return _NAME.sub(lambda word: self.to.get(word[0], word[0]).lstrip("$@"), str(line))

    def _drop_unused(self, out: Content) -> None:
        """Numbers that only what was taken from the file had used."""
        lines = [*out.get("where", ()), *map(_text_of, out.get("numbers", {}).values())]
        words = {w for line in lines for w in re.findall(r"\w+", line)}
        said = _text_of([out.get("groups", {}), out.get("nodes", {})])
        words |= {*re.findall(r"[$@](\w+)", said)}
        for room in ("parameters", "subject"):
            kept = {name: v for name, v in out.get(room, {}).items() if name in words}
            out.pop(room, None)
            out |= {room: kept} if kept else {}
        columns = out.get("subject", {})
        out["example"] = {n: v for n, v in out.get("example", {}).items() if n in columns}
