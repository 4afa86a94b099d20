"""Random model files in which all means of the language occur together.

A file has plates, a part or two (files of their own, with plates of their own), a variant that lies
over a base, members with stories of their own, every kind, derived numbers, conditions, counts
behind numbers, decisions and what they are worth, and questions about events and means.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.random_files import GRID, Writer

WORDS = ("ann", "bob", "cy")
STUDIED = (
    {"measured": {"hits": 3, "trials": 8, "study": "one"}},
    {"measured": {"hits": 0, "trials": 5}},
    {"measured": {"hits": 241, "trials": 579}},
)
# Numbers that are integrals: they have tests of their own, and here the second reading takes them
# as they come.
POOLED = (
    {"measured": [{"hits": 12, "trials": 100}, {"hits": 30, "trials": 120}]},
    {"elicited": [{"expert": "A", "quantiles": {"0.05": 0.1, "0.5": 0.25, "0.95": 0.5}},
                  {"expert": "B", "quantiles": {"0.1": 0.2, "0.9": 0.6}, "weight": 2}]},
    {"elicited": [{"expert": "A", "quantiles": {"0.1": 0.1, "0.9": 0.3}},
                  {"expert": "B", "quantiles": {"0.1": 0.2, "0.9": 0.6}}], "pool": "logarithmic"},
)  # fmt: skip
# A part with a class per subset of a group, both of which the file may bring itself.
SEARCH = {
    "schema_version": 1,
    "name": "search",
    "parameters": {"p_looks": {"value": 0.25, "range": [0, 1], "source": "assumption"}},
    "numbers": {"p_twice": "any(p_looks, 2)"},
    "subject": {"size": {"per": "known", "unit": "records", "range": [0, 9]}},
    "groups": {"known": {"members": ["age", "town"], "probability": 0.5, "source": "assumption"}},
    "nodes": {
        "looks": {"cpd": {"kind": "probability", "p": "$p_twice"}},
        "guess": {"parents": ["known"], "cpd": {"kind": "one-over", "of": "@size"}},
        "named": {"parents": ["looks", "guess"], "cpd": {"kind": "and"}},
        "knows": {"parents": ["known"], "states": "0..2", "cpd": {"kind": "count"}},
    },
    "example": {"size": [4, 2, 3, 1]},
}


@dataclass
class Whole(Writer):
    """Writes a file and those that it stands on."""

    is_part: bool = False
    files: dict[str, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)  # other rooms of the file
    templates: dict[str, dict[str, Any]] = field(default_factory=dict)
    shown_as: set[str] = field(default_factory=set)  # written as a template, or by a part
    families: list[str] = field(default_factory=list)
    moved: dict[str, tuple[float, float, str]] = field(default_factory=dict)
    studied: list[str] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)

    @property
    def who(self) -> list[str]:
        return self.more.get("repeat", {}).get("who", [])

    # -- numbers -------------------------------------------------------------------------------

    def parameter(self, value: float, span: list[float], unit: str = "probability") -> str:
        name = super().parameter(value, span, unit)
        if unit == "probability" and self.chance(0.15):
            pooled = self.chance(0.3)
            self.parameters[name] = {**self.pick(POOLED if pooled else STUDIED), "source": "a"}
            self.studied += [name] if pooled else []
        else:
            self.moved[name] = (*span, unit)
        return name

    def conditions(self) -> None:
        """What holds of the numbers as they stand, and may not of others."""
        sizes = [s for s in self.states.values() if isinstance(s, str)]
        free = [n for n, spec in self.parameters.items()
                if "value" in spec and f"0..${n}" not in sizes]  # fmt: skip
        lines = []
        for _ in range(self.whole(0, 2) if len(free) > 1 else 0):
            a, b = (free[i] for i in self.rng.permutation(len(free))[:2])
            low, high = sorted((a, b), key=lambda n: self.parameters[n]["value"])
            top = self.parameters[a]["value"] + self.parameters[b]["value"] + self.pick([0, 0.25])
            top = round(top, 6)
            lines.append(self.pick([f"{low} <= {high}", f"{a} + {b} <= {top}",
                                    f"2 * {high} >= {low} * 2"]))  # fmt: skip
        if lines:
            self.more["where"] = list(dict.fromkeys(lines))

    # -- plates --------------------------------------------------------------------------------

    def _template(self, room: str, name: str, spec: Any) -> list[str]:
        """A thing that is written once; the names that it makes."""
        self.templates.setdefault(room, {})[name] = spec
        if "[who]" in name:
            return [name.replace("[who]", w) for w in self.who]
        pairs = [p.split(">") for p in self.more["repeat"]["step"]]
        return [name.replace("[step.from]", a).replace("[step.to]", b) for a, b in pairs]

    def _repeated(self, name: str, spec: dict[str, Any]) -> None:
        for made in self._template("nodes", name, {**spec, "source": "assumption"}):
            self.states[made] = ["no", "yes"]
            self.yes_no.append(made)
        self.families.append(name)

    def _per_word(self) -> Any:
        """A number of each word, or one for all."""
        kind, i = self.pick(["parameter", "column", "number", "plain"]), len(self.templates)
        i += sum(map(len, self.templates.values()))
        if kind == "plain":
            return self.pick([0.25, 0.5, "$" + self.parameter(0.5, [0, 1])])
        if kind == "column":
            for made in self._template("subject", f"d{i}_[who]", {"unit": "probability",
                                                                 "range": [0, 1]}):  # fmt: skip
                self.example[made] = self.pick(GRID)
                self.shown_as.add(made)
            return f"@d{i}_[who]"
        spec = {"value": self.pick(GRID), "range": [0, 1], "source": "assumption"}
        for made in self._template("parameters", f"q{i}_[who]", spec):
            self.moved[made] = (0, 1, "probability")
        if kind == "parameter":
            return f"$q{i}_[who]"
        other = self.parameter(self.pick(GRID), [0, 1])
        self._template("numbers", f"z{i}_[who]", {"is": f"1 - (1 - q{i}_[who]) * (1 - {other})",
                                                 "source": "assumption"})  # fmt: skip
        return f"$z{i}_[who]"

    def plate(self) -> None:
        if not self.who:
            return
        own = [f for f in self.families if "[who]" in f]
        kind = self.pick(["chance", "chance", "steps", "rows", "members", "pool", "pool"])
        name = f"r{len(self.families)}"
        if kind == "chance" or not own:
            gates = self.some(own, 1)
            apart = [n for n in self.yes_no if not n.startswith("r")]
            gates += self.some(apart, 1)
            cpd: dict[str, Any] = {"kind": "probability", "p": self._per_word(), "only_if": gates}
            self._repeated(f"{name}_[who]", {"parents": gates, "cpd": cpd} if gates else
                           {"cpd": {**cpd, "only_if": []}})  # fmt: skip
        elif kind == "steps":
            family = self.pick(own)
            parents = [family.replace("[who]", end) for end in ("[step.from]", "[step.to]")]
            cpd = self.pick([{"kind": "and"}, {"kind": "or"}, {"kind": "noisy-or", "weights": 0.5},
                             {"kind": "noisy-and", "weights": 0.25}])  # fmt: skip
            self._repeated(f"{name}_[step.from]_[step.to]", {"parents": parents, "cpd": cpd})
        elif kind == "rows":
            family = self.pick(own)
            rows = [{"when": {family: self.pick(["no", "yes"])},
                     "p": {"yes": self._per_word(), "no": "rest"}},
                    {"p": self.row(["no", "yes"])}]  # fmt: skip
            self._repeated(f"{name}_[who]", {"parents": [family], "rows": rows})
        elif kind == "members":
            self._repeated_members(self.pick(own))
        else:
            family = self.pick(self.families)
            stem = family.split("[", maxsplit=1)[0]
            parents = [self.pick([f"{stem}*", family]), *self.some(self.yes_no, 1)]
            parents = [p for p in parents if not p.startswith(stem) or p is parents[0]]
            cpd = self.pick([{"kind": "or"}, {"kind": "and"}, {"kind": "noisy-or", "weights": 0.5},
                             {"kind": "threshold", "at_least": 2}])  # fmt: skip
            self.put(f"n{len(self.nodes)}", {"parents": parents, "cpd": cpd})

    def _repeated_members(self, family: str) -> None:
        name = f"g{len(self.groups)}"
        member = f"{name}_[who]"
        spec: dict[str, Any] = {"members": [member], "source": "assumption"}
        if self.chance():
            spec["probability"] = self.pick([0.5, "$" + self.parameter(0.5, [0, 1])])
        else:
            cpd = {"kind": "noisy-or", "weights": {family: self._per_word()}, "leak": 0.125}
            spec["members"] = {member: self.pick([self._per_word(),
                                                  {"parents": [family], "cpd": cpd}])}  # fmt: skip
        self.templates.setdefault("groups", {})[name] = spec
        self.groups[name] = {"members": [f"{name}_{w}" for w in self.who]}
        self.shown_as.add(name)
        for made in self.groups[name]["members"]:
            self.states[made] = ["no", "yes"]
            self.yes_no.append(made)

    # -- parts ---------------------------------------------------------------------------------

    def part(self) -> None:
        """Another file under names of its own: a random one, or a search in a table."""
        if self.is_part:
            return
        as_name = f"g{'pq'[len(self.more.get('use', []))]}"  # members are known by their g
        if self.chance():
            self._search(as_name)
            return
        child = Whole(self.rng, is_part=True)
        inner = child.file()
        model = f"inner{len(self.files)}"
        self.files |= {**child.files, model: json.dumps(inner)}
        how: dict[str, Any] = {"model": model, "as": as_name}
        to = {n: f"{as_name}_{n}" for n in (*child.states, *child.groups, *child.moved,
                                            *child.studied)}  # fmt: skip
        free = [n for n, (low, high, unit) in child.moved.items()
                if (low, high, unit) == (0, 1, "probability") and n in inner.get("parameters", {})
                and not any(n in line for line in inner.get("where", []))]  # fmt: skip
        taken = {}
        if free and self.chance():
            own = self.parameter(self.pick(GRID), [0, 1])
            taken[self.pick(free)] = f"${own}"
        told = [c.get(k) for c in inner.get("subject", {}).values() for k in ("per", "over")]
        told += [n for t in told if isinstance(t, list) for n in t]
        here = {str(s): n for n, s in self.states.items() if isinstance(s, list)}
        nodes = [n for n, spec in inner.get("nodes", {}).items() if n in child.states
                 and str(child.states[n]) in here and n not in told]  # fmt: skip
        if nodes and self.chance():
            name = self.pick(nodes)
            taken[name] = here[str(child.states[name])]
        given = {
            n: f"h{as_name[1]}_{n}"
            for n in self.some([n for n in child.nodes if n not in taken], 1)
        }
        to |= given | {n: t.lstrip("$@") for n, t in taken.items()}
        how |= {k: v for k, v in (("with", taken), ("give", given)) if v}
        self.more.setdefault("use", []).append(how)
        self._bring(child, to, {*taken})

    def _bring(self, child: Whole, to: dict[str, str], taken: set[str]) -> None:
        for name, states in child.states.items():
            if name not in taken:
                size = states[4:] if isinstance(states, str) else ""
                self.states[to[name]] = f"0..${to[size]}" if size else states
                self.yes_no += [to[name]] if states == ["no", "yes"] else []
        for name, group in child.groups.items():
            self.groups[to[name]] = {"members": [to[m] for m in group["members"]]}
            self.shown_as.add(to[name])
        self.moved |= {to[n]: span for n, span in child.moved.items() if n not in taken}
        self.studied += [to[n] for n in child.studied if n not in taken]

    def _search(self, as_name: str) -> None:
        self.files["search"] = json.dumps(SEARCH)
        how: dict[str, Any] = {"model": "search", "as": as_name}
        own = [n for n, g in self.groups.items() if len(g["members"]) == 2]
        group, taken = f"{as_name}_known", {}
        if own and self.chance():
            group = self.pick(own)
            taken = {"known": group, "size": self.size(group)}
        looks = f"{as_name}_looks"
        if self.yes_no and self.chance(0.3):
            looks = taken["looks"] = self.pick(self.yes_no)
        if self.chance(0.3):
            taken["p_looks"] = "$" + self.parameter(self.pick(GRID), [0, 1])
        how["give"] = {"named": f"{as_name}_found"}
        self.more.setdefault("use", []).append(how | ({"with": taken} if taken else {}))
        if group not in self.groups:
            self.groups[group] = {"members": [f"{as_name}_age", f"{as_name}_town"]}
            self.shown_as.add(group)
        made = [*self.groups[group]["members"], looks, f"{as_name}_guess", f"{as_name}_found"]
        for name in made:
            if name not in self.states:
                self.states[name] = ["no", "yes"]
                self.yes_no.append(name)
        self.states[f"{as_name}_knows"] = "0..2"
        if "p_looks" not in taken:
            self.moved[f"{as_name}_p_looks"] = (0, 1, "probability")

    # -- decisions -----------------------------------------------------------------------------

    def decision(self) -> None:
        if self.is_part:
            return
        name = f"d{len(self.decided)}"
        options = self.pick([["no", "yes"], ["no", "yes"], ["wait", "call", "enter"]])
        before = self.more.get("decisions", {})
        sees = [*before[self.decided[-1]].get("sees", []), self.decided[-1]] if before else []
        own = {m for g in sees for m in self.groups.get(g, {}).get("members", [])}
        sees += [n for n in self.some(self._labelled(9), 1) if n not in own and n not in sees]
        if self.groups and not before and self.chance(0.3):
            group = self.pick(list(self.groups))
            if not {*sees} & {*self.groups[group]["members"]}:
                sees.append(group)
        spec: dict[str, Any] = {"options": options, "sees": sees, "source": "assumption"}
        if self.chance(0.15):
            spec["temperature"] = "$" + self.parameter(self.whole(0, 20), [0, 40], "euro")
        self.more.setdefault("decisions", {})[name] = {k: v for k, v in spec.items() if v != []}
        self.decided.append(name)
        self.states[name] = options
        self.yes_no += [name] if options == ["no", "yes"] else []

    def utilities(self) -> None:
        """What pays: each is of a decision or what comes of it, and of others."""
        fixed = self._labelled(99)
        for i in range(self.whole(1, 2) if self.decided else 0):
            of = [*dict.fromkeys([self.pick(self.decided), *self.some(fixed[::-1][:4], 2)])]
            rows = [{"when": {of[0]: self.states[of[0]][-1]}, "value": self.worth()}]
            if any(len(self.states[n]) > 1 for n in of[1:]):
                when = {n: self.states[n][-1] for n in of}
                rows.insert(0, {"when": when, "value": self.worth()})
            rows.append({"value": self.pick([0, self.worth()])})
            self.more.setdefault("utilities", {})[f"u{i}"] = {
                "of": of, "unit": "euro", "rows": rows, "source": "assumption",
            }  # fmt: skip

    def worth(self) -> Any:
        kind = self.pick(["plain", "plain", "parameter", "loss", "column"])
        if kind == "plain":
            return self.whole(-40, 40)
        if kind == "column":
            name = f"c{len(self.subject)}"
            self.subject[name] = {"unit": "euro", "range": [0, 50]}
            self.example[name] = self.whole(0, 50)
            return f"@{name}"
        name = self.parameter(self.whole(0, 40), [0, 40], "euro")
        if kind == "parameter":
            return f"${name}"
        number = f"y{len(self.numbers)}"
        self.numbers[number] = f"-{name}"
        self.per_subset.add(number)  # no probability: not for other formulas
        return f"${number}"

    # -- the file ------------------------------------------------------------------------------

    def file(self) -> dict[str, Any]:
        if self.chance(0.6):
            who = list(WORDS[: self.whole(2, 3)])
            pairs = [f"{a}>{b}" for a in who for b in who if a != b]
            steps = [pairs[i] for i in sorted(self.rng.permutation(len(pairs))[:2])]
            self.more["repeat"] = {"who": who, "step": steps}
        most = 1 if self.is_part else 2
        steps = ["group"] * self.whole(0, most) + ["node"] * self.whole(1, most + 1)
        steps += ["plate"] * self.whole(0, most + 1) + ["part"] * self.whole(0, most)
        steps += ["decision"] * (self.chance(0.5) + self.chance(0.3))
        for step in self.rng.permutation(steps):
            getattr(self, step)()
        self.node()
        self.utilities()
        return self._written()

    def _holding(self) -> list[Any]:
        numbers = self.templates.get("numbers", {}).values()
        read = [f"${n}" for n in self.parameters for spec in numbers if n in spec["is"]]
        return [*super()._holding(), self.more, self.templates, read]

    def _written(self) -> dict[str, Any]:
        whole, example = self.groups, dict(self.example)
        self.groups = {n: g for n, g in whole.items() if n not in self.shown_as}
        found = self._filed()
        self.groups = whole
        self.conditions()
        example = {n: v for n, v in example.items() if n in self.shown_as}
        if example:
            found["example"] = {**found.get("example", {}), **example}
        for room, things in self.templates.items():
            found[room] = {**found.get(room, {}), **things}
        said = json.dumps([*self.templates.values(), self.nodes, self.more.get("use")])
        plates = self.more.pop("repeat", {})
        self.more["repeat"] = {k: v for k, v in plates.items() if f"[{k}" in said}
        return {**found, **{k: v for k, v in self.more.items() if v}}


def random_whole(rng: np.random.Generator) -> tuple[dict[str, Any], Whole]:
    """A random file, and its writer, who has those that it stands on in `files`."""
    writer = Whole(rng)
    return writer.file(), writer


def varied(rng: np.random.Generator, file: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The file as a variant of another one, and that one: what differs stands in the variant."""
    base = {room: dict(v) if isinstance(v, dict) else v for room, v in file.items()}
    own: dict[str, Any] = {"schema_version": 1, "name": file["name"], "extends": "base"}
    said = json.dumps(file.get("where", []))
    for name, spec in file.get("parameters", {}).items():
        free = spec.get("range") == [0, 1] and "[" not in name and name not in said
        if free and rng.random() < 0.3:
            own.setdefault("parameters", {})[name] = spec
            base["parameters"][name] = {**spec, "value": 0.375}
    for name, spec in file["nodes"].items():
        text = json.dumps({**file, "nodes": {n: s for n, s in file["nodes"].items() if n != name}})
        if "[" in name or "measured" in json.dumps(spec) or rng.random() < 0.7:
            continue
        own.setdefault("nodes", {})[name] = spec
        if name in text or "*" in text or len(base["nodes"]) == 1:
            states = {k: spec[k] for k in ("states", "source") if k in spec}
            base["nodes"][name] = {**states, "cpd": {"kind": "uniform"}}
        else:
            del base["nodes"][name]
    for name, spec in file.get("utilities", {}).items():
        if rng.random() < 0.3:
            own.setdefault("utilities", {})[name] = spec
            base["utilities"][name] = {**spec, "rows": [{"value": 1}]}
    said = json.dumps(own)
    if words := {k: v for k, v in file.get("repeat", {}).items() if f"[{k}" in said}:
        own["repeat"] = words
    return own, {**base, "name": "base"}
