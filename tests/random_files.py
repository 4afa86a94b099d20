"""Random model files, as text: graphs, groups, kinds, numbers that size states, and questions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

STATES = (["no", "yes"], ["low", "mid", "high"], ["0", "1", "2"], ["2", "5"])
FORMULAS = (
    "{p}", "1 - {p}", "{p} * {q}", "{p} + (1 - {p}) * {q}", "1 - (1 - {p}) ^ {k}",
    "any({p}, {n})", "any({p}, {k}) * {q}", "min({p}, {q}, 1 / 2)", "max({p}, {p} * {q}, 0)",
    "({p} + {q}) / 2", "{p} / (1 + {n})", "{p} ^ {n} * {q} ^ 2", "-(-{p} - {q}) / 2",
    "4 * {p} * (1 - {p}) / 4 + {q} * {p} ^ 2", "2 ^ -{k} * {p}",
)  # fmt: skip
MEANS = ("counting", "counting", "trials", "trials", "rank", "levels")
GRID = (0, 0.125, 0.2, 0.25, 0.5, 0.7, 0.75, 1)


@dataclass
class Writer:
    """Writes one file; what has been written so far can be a parent."""

    rng: np.random.Generator
    parameters: dict[str, Any] = field(default_factory=dict)
    subject: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, Any] = field(default_factory=dict)
    example: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    states: dict[str, list[str] | str] = field(default_factory=dict)
    yes_no: list[str] = field(default_factory=list)
    per_subset: set[str] = field(default_factory=set)

    # -- small choices -------------------------------------------------------------------------

    def chance(self, p: float = 0.5) -> bool:
        return bool(self.rng.random() < p)

    def pick(self, of: Any) -> Any:
        return of[int(self.rng.integers(len(of)))]

    def some(self, of: list[Any], most: int) -> list[Any]:
        count = int(self.rng.integers(0, min(most, len(of)) + 1))
        return [of[i] for i in sorted(self.rng.permutation(len(of))[:count])]

    def whole(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    # -- numbers -------------------------------------------------------------------------------

    def probability(self) -> Any:
        """A number, a parameter that a question may change, or a number derived from some."""
        if self.chance(0.6):
            return self.pick(GRID)
        if self.chance(0.4):
            return "$" + self.derived()
        return "$" + self.parameter(self.pick(GRID), [0, 1])

    def parameter(self, value: float, span: list[float], unit: str = "probability") -> str:
        name = f"x{len(self.parameters)}"
        spec = {"value": value, "range": span, "source": "assumption"}
        self.parameters[name] = spec | ({} if unit == "probability" else {"unit": unit})
        return name

    def derived(self, column: str = "") -> str:
        """A formula that stays a probability, over parameters, columns and other numbers."""
        p, q = column or self._read(), self._read()
        count = self.parameter(self.whole(1, 3), [0, 4], "records")
        formula = self.pick(FORMULAS).format(p=p, q=q, n=count, k=self.whole(0, 4))
        name = f"y{len(self.numbers)}"
        more = {"unit": "probability", "source": "assumption"}
        self.numbers[name] = formula if self.chance() else {"is": formula, **more}
        self.per_subset |= {name} if column else set()
        return name

    def _read(self) -> str:
        """What a formula reads: a number, a column, or a parameter."""
        free = [n for n in self.numbers if n not in self.per_subset]
        if free and self.chance(0.3):
            return self.pick(free)
        if self.chance(0.3):
            name = f"c{len(self.subject)}"
            self.subject[name] = {"unit": "probability", "range": [0, 1]}
            self.example[name] = self.pick(GRID)
            return name
        return self.parameter(self.pick(GRID), [0, 1])

    def size(self, group: str | None = None) -> str:
        """A class size: a number, a parameter, or a column (per subset of a group)."""
        if group is not None:
            name = f"c{len(self.subject)}"
            self.subject[name] = {"per": group, "unit": "records", "range": [0, 9]}
            count = 2 ** len(self.groups[group]["members"])
            drawn = [self.whole(0, 4) for _ in range(count)]  # a class never grows with knowledge
            self.example[name] = [
                min(drawn[less] for less in range(count) if less & mask == less)
                for mask in range(count)
            ]
            return f"@{name}"
        if self.chance():
            return "$" + self.parameter(self.whole(1, 4), [0, 9], "records")
        name = f"c{len(self.subject)}"
        self.subject[name] = {"unit": "records", "range": [0, 9]}
        self.example[name] = self.whole(0, 4)
        return f"@{name}"

    def row(self, states: list[str]) -> Any:
        """One row of a table: a list or a mapping, often with `rest`."""
        eighths = self.rng.multinomial(8, [1 / len(states)] * len(states))
        cells: list[Any] = [int(e) / 8 for e in eighths]
        if len(states) == 2 and self.chance(0.4):
            p = self.probability()
            return dict(zip(self.pick([states, states[::-1]]), (p, "rest"), strict=True))
        cells[self.whole(0, len(states) - 1)] = "rest"
        return cells if self.chance() else dict(zip(states, cells, strict=True))

    # -- groups --------------------------------------------------------------------------------

    def group(self) -> None:
        name = f"g{len(self.groups)}"
        members = [f"{name}_{'abc'[j]}" for j in range(self.whole(1, 3))]
        spec: dict[str, Any] = {"members": members, "source": "assumption"}
        if self.chance(0.4):
            spec["members"] = self._own_stories(name, members)
            self._put_group(name, spec)
            return
        tables = [n for n, s in self.states.items() if isinstance(s, list)]
        parents = self.some(tables, 1) if self.chance(0.6) else []
        if parents:
            spec["parents"] = parents
            states = self.states[parents[0]]
            spec["rows"] = [
                {"when": {parents[0]: states[0]}, "p": self._known(name, members)},
                {"p": self._known(name, members)},
            ]
        else:
            spec["probability"] = self._known(name, members)
        self._put_group(name, spec)

    def _put_group(self, name: str, spec: dict[str, Any]) -> None:
        self.groups[name] = spec
        for member in spec["members"]:
            self.states[member] = ["no", "yes"]
            self.yes_no.append(member)

    def _own_stories(self, group: str, members: list[str]) -> dict[str, Any]:
        """Members that depend on each other, whichever is written first, and on nodes outside."""
        order = [members[i] for i in self.rng.permutation(len(members))]
        found: dict[str, Any] = {}
        for i, member in enumerate(order):
            parents = self.some([*order[:i], *self.yes_no], 3)
            kind = self.pick(["noisy-or", "probability", "rows", "bare", "and", "each"])
            if kind == "each" and not parents:
                column = f"c{len(self.subject)}"
                self.subject[column] = {"each": group, "unit": "probability", "range": [0, 1]}
                self.example[column] = [self.pick(GRID) for _ in members]
                found[member] = f"@{column}"
            elif kind == "rows":
                tables = [n for n, s in self.states.items() if isinstance(s, list)]
                parent = self.some(tables, 1)
                rows = [{"when": {p: self.states[p][-1]}, "p": self.row(["no", "yes"])}
                        for p in parent]  # fmt: skip
                found[member] = {"parents": parent, "rows": [*rows, {"p": self.row(["no", "yes"])}]}
            elif kind == "bare" or not parents:
                found[member] = self.probability()
            else:
                cpd: dict[str, Any] = {"kind": kind if kind != "each" else "or"}
                if kind == "noisy-or":
                    cpd["weights"] = {p: self.probability() for p in parents}
                elif kind == "probability":
                    cpd |= {"p": self.probability(), "only_if": parents}
                found[member] = {"parents": parents, "cpd": cpd}
        return {m: found[m] for m in members}

    def _known(self, name: str, members: list[str]) -> Any:
        if self.chance(0.2):
            column = f"c{len(self.subject)}"
            self.subject[column] = {"each": name, "unit": "probability", "range": [0, 1]}
            self.example[column] = [self.pick(GRID) for _ in members]
            return f"@{column}"
        return self.probability() if self.chance() else [self.probability() for _ in members]

    # -- nodes ---------------------------------------------------------------------------------

    def node(self) -> None:
        name = f"n{len(self.nodes)}"
        kinds = ["rows", "rows", "table", "empirical", "uniform", "probability", "leak"]
        if self.yes_no:
            kinds += ["gate", "gate", "gate", "noisy", "noisy", "mixture", "lookup", "copy"]
        if self.groups:
            kinds += ["gate", "noisy", "class", "class", "class", "table"]
        if any(isinstance(s, str) or s[0].isdigit() for s in self.states.values()):
            kinds += ["counted", "counted", "near"]
        kinds += [*MEANS, "told", "measured"]
        getattr(self, "_" + self.pick(kinds))(name)

    def put(self, name: str, spec: dict[str, Any], states: Any = None) -> None:
        states = ["no", "yes"] if states is None else states
        if states != ["no", "yes"]:
            spec["states"] = states
        self.nodes[name] = spec | {"source": "assumption"}
        self.states[name] = states
        if states == ["no", "yes"]:
            self.yes_no.append(name)

    def _labelled(self, most: int = 2) -> list[str]:
        return self.some([n for n, s in self.states.items() if isinstance(s, list)], most)

    def _rows(self, name: str) -> None:
        parents, states = self._labelled(), self.pick(STATES)
        rows = []
        for parent in parents:
            here = self.states[parent]
            wants = [here[0], here[-1], [here[0]], here[:-1] or "*"]
            if len(here) > 2 and all(s.isdigit() for s in here) and here == sorted(here, key=int):
                wants += [f">={here[1]}", f"< {here[-1]}", [here[0], f"> {here[1]}"]]
            want = self.pick(wants)
            rows.append({"when": {parent: want}, "p": self.row(states)})
        rows.append({"p": self.row(states)})
        self.put(name, {"parents": parents, "rows": rows}, states)

    def _configurations(self, parents: list[str]) -> int:
        sizes = [2 ** len(self.groups[p]["members"]) if p in self.groups else len(self.states[p])
                 for p in parents]  # fmt: skip
        return int(np.prod(sizes, initial=1))

    def _full(self, name: str, key: str) -> None:
        parents, states = self._labelled(), self.pick(STATES)
        if self.groups and self.chance():
            taken = [p for p in parents if not p.startswith("g")]
            parents = [*taken[:1], self.pick(list(self.groups))]
        rows = []
        for _ in range(self._configurations(parents)):
            counts = self.rng.integers(0, 4, len(states))
            counts[self.whole(0, len(states) - 1)] += 1
            binary = counts * (8 // counts.sum()) if key == "p" else counts
            if key == "p":
                binary[0] += 8 - binary.sum()
                rows.append([float(c) / 8 for c in binary])
            else:
                rows.append([int(c) for c in counts])
        cpd = {"kind": "table" if key == "p" else "empirical", key: rows}
        if key != "p" and self.chance():
            cpd["prior"] = 0.5
        self.put(name, {"parents": parents, "cpd": cpd}, states)

    def _table(self, name: str) -> None:
        self._full(name, "p")

    def _empirical(self, name: str) -> None:
        self._full(name, "counts")

    def _uniform(self, name: str) -> None:
        self.put(name, {"cpd": {"kind": "uniform"}}, self.pick(STATES))

    def _probability(self, name: str) -> None:
        parents = self.some(self.yes_no, 2)
        p: Any = self.probability()
        if self.groups and self.chance(0.4):
            group = self.pick(list(self.groups))
            column = f"c{len(self.subject)}"
            self.subject[column] = {"per": group, "unit": "probability", "range": [0, 1]}
            self.example[column] = [self.pick(GRID) for _ in range(self._configurations([group]))]
            p = f"@{column}" if self.chance() else f"${self.derived(column)}"
            parents = [q for q in parents if not q.startswith("g")]
            self.put(name, {
                "parents": [*parents, group],
                "cpd": {"kind": "probability", "p": p, "only_if": parents},
            })  # fmt: skip
            return
        cpd = {"kind": "probability", "p": p, "only_if": parents}
        self.put(name, {"parents": parents, "cpd": cpd})

    def _inputs(self) -> list[str]:
        """Parents of a gate: nodes, members, whole groups, never a member beside its group."""
        groups = self.some(list(self.groups), 3) if self.chance(0.7) else []
        own = {m for g in groups for m in self.groups[g]["members"]}
        rest = [n for n in self.yes_no if n not in own]
        found = groups + self.some(rest, 2)
        return found or [self.pick(self.yes_no)]

    def _count(self, parents: list[str]) -> int:
        return sum(len(self.groups[p]["members"]) if p in self.groups else 1 for p in parents)

    def _gate(self, name: str) -> None:
        parents = self._inputs()
        kind = self.pick(["and", "or", "threshold"])
        cpd: dict[str, Any] = {"kind": kind}
        if kind == "threshold":
            cpd["at_least"] = self.whole(1, self._count(parents))
        self.put(name, {"parents": parents, "cpd": cpd})

    def _noisy(self, name: str) -> None:
        parents = self._inputs()
        cpd: dict[str, Any] = {"kind": self.pick(["noisy-or", "noisy-and"])}
        one = self.chance(0.3)
        cpd["weights"] = self.probability() if one else {p: self.probability() for p in parents}
        if self.chance():
            cpd["leak"] = self.probability()
        self.put(name, {"parents": parents, "cpd": cpd})

    def _mixture(self, name: str) -> None:
        parents = self._inputs()
        parts = [{"kind": self.pick(["and", "or"])}, {"kind": "noisy-or", "weights": 0.5}]
        cpd = {"kind": "mixture", "weights": [self.probability(), "rest"], "components": parts}
        self.put(name, {"parents": parents, "cpd": cpd})

    def _lookup(self, name: str) -> None:
        parent = self.pick([n for n, s in self.states.items() if isinstance(s, list)])
        states = self.pick(STATES)
        cpd = {"kind": "lookup", "to": [self.pick(states) for _ in self.states[parent]]}
        self.put(name, {"parents": [parent], "cpd": cpd}, states)

    def _copy(self, name: str) -> None:
        parent = self.pick([n for n, s in self.states.items() if isinstance(s, list)])
        cpd = {"kind": "noisy-copy", "same": self.probability()}
        self.put(name, {"parents": [parent], "cpd": cpd}, list(self.states[parent]))

    def _class(self, name: str) -> None:
        """A class size per subset of a group: unique, one-over."""
        group = self.pick(list(self.groups))
        own = self.groups[group]["members"]
        gates = self.some([n for n in self.yes_no if n not in own], 1)
        size = self.size(group)
        if self.chance():
            spec = {"kind": "one-over", "of": size, "only_if": gates}
            self.put(name, {"parents": [*gates, group], "cpd": spec})
        else:
            cpd = {"kind": "unique", "of": size, "stays": self.probability()}
            self.put(name, {"parents": [group], "cpd": cpd})

    def _leak(self, name: str) -> None:
        """How much of a class leaked: states sized by a parameter that a question may change."""
        size = self.parameter(self.whole(1, 3), [0, 4], "records")
        records = self.parameter(self.whole(6, 9), [5, 12], "records")
        leaked = self.parameter(self.whole(0, 5), [0, 5], "records")
        cpd = {"kind": "hypergeometric-leak", "records": f"${records}", "leaked": f"${leaked}",
               "class_size": f"${size}"}  # fmt: skip
        self.put(name, {"cpd": cpd}, f"0..${size}")

    def _numbers(self) -> list[str]:
        return [n for n, s in self.states.items() if isinstance(s, str) or s[0].isdigit()]

    def _counted(self, name: str) -> None:
        """A parent's state, or how many members are known, read as a number."""
        parent = self.pick([*self._numbers(), *self.groups])
        gates = [g for g in self.some(self.yes_no, 1) if not g.startswith("g")]
        if self.chance():
            cpd = {"kind": "one-over", "of": parent, "only_if": gates}
            self.put(name, {"parents": [parent, *gates], "cpd": cpd})
        else:
            whole = "$" + self.parameter(self.whole(4, 6), [4, 9], "records")
            cpd = {"kind": "share", "part": parent, "whole": whole}
            self.put(name, {"parents": [parent], "cpd": cpd})

    def _near(self, name: str) -> None:
        fixed = [n for n in self._numbers() if isinstance(self.states[n], list)]
        if not fixed:
            self._uniform(name)
            return
        parent = self.pick(fixed)
        within = self.pick([0, 1, 3])
        cpd = {"kind": "near-copy", "within": within}
        self.put(name, {"parents": [parent], "cpd": cpd}, list(self.states[parent]))

    # -- numbers made of states, attempts, ranks ---------------------------------------------------

    def _values(self, parent: str) -> list[int] | None:
        """The numbers of a parent's states; None where they are no numbers."""
        if parent in self.groups:
            return list(range(len(self.groups[parent]["members"]) + 1))
        states = self.states[parent]
        if states == ["no", "yes"]:
            return [0, 1]
        fixed = isinstance(states, list) and all(s.isdigit() for s in states)
        return [int(s) for s in states] if fixed else None

    def _numeric(self, most: int) -> list[str]:
        """Parents that are numbers, never a member beside its group."""
        groups = self.some(list(self.groups), 1)
        own = {m for g in groups for m in self.groups[g]["members"]}
        rest = [n for n in self.states if n not in own and self._values(n) is not None]
        return groups + self.some(rest, most)

    def _counting(self, name: str) -> None:
        kind = self.pick(["count", "sum", "minus", "max"])
        kind = kind if self.yes_no else "sum"
        parents = self._inputs() if kind == "count" else self._numeric(3)
        if not parents or (kind == "minus" and len(parents) < 2):
            return self._uniform(name)
        cpd: dict[str, Any] = {"kind": kind}
        order = [parents[i] for i in self.rng.permutation(len(parents))]
        if kind == "minus" or (kind != "count" and self.chance()):
            cpd["of"] = order
        values = [self._values(p) or [0] for p in (order if "of" in cpd else parents)]
        steps = {"count": sum, "sum": sum, "max": max, "minus": lambda v: v[0] - sum(v[1:])}
        reached = sorted({steps[kind](case) for case in product(*values)})
        reached = [x for x in reached if x >= 0] or [0]
        low = 0 if kind == "minus" else reached[0]
        span = [str(i) for i in range(low, reached[-1] + 1)]
        self.put(name, {"parents": parents, "cpd": cpd}, span)
        return None

    def _trials(self, name: str) -> None:
        counts = [n for n, s in self.states.items()
                  if isinstance(s, list) and s == [str(i) for i in range(len(s))]]  # fmt: skip
        parents = self.some(counts, 1)
        most = len(self.states[parents[0]]) - 1 if parents else self.whole(1, 3)
        n: Any = parents[0] if parents else most
        states: Any = [str(i) for i in range(most + 1)]
        kind = self.pick(["binomial", "geometric", "poisson"])
        cpd: dict[str, Any] = {"kind": kind}
        if kind == "binomial":
            cpd |= {"n": n, "p": self.probability()}
        elif kind == "poisson":
            cpd |= {
                "mean": n if parents else "$" + self.parameter(self.whole(0, 3), [0, 5], "records")
            }
        else:
            cpd |= {"p": self.probability()} if self.chance() else {"among": self.whole(1, 3)}
            cpd["budget"] = n
            states = None if self.chance() else states
        self.put(name, {"parents": parents, "cpd": cpd}, states)

    def _rank(self, name: str) -> None:
        parents = self._labelled(3) or self.some(list(self.groups), 1)
        if not parents:
            return self._uniform(name)
        levels = sorted(self.pick(GRID) for _ in range(self.whole(2, 4)))
        weights: dict[str, Any] = {p: self.pick([1, 2, 3, -1]) for p in parents}
        weights[parents[0]] = self.pick([1, 0.5, "$" + self.parameter(2, [1, 3], "records")])
        cpd = {"kind": "ranked", "weights": weights, "p": levels}
        self.put(name, {"parents": parents, "cpd": cpd})
        return None

    def _levels(self, name: str) -> None:
        parents, states = self._labelled(3), self.pick(STATES)
        if not parents:
            return self._uniform(name)
        rows: list[dict[str, Any]] = []
        for parent in parents:
            some = self.states[parent][-1:] if self.chance() else self.states[parent][1:]
            rows += [{"when": {parent: s}, "p": self.row(states)} for s in some]
        if self.chance():
            rows.append({"p": self.row(states)})
        self.put(name, {"parents": parents, "cpd": {"kind": "noisy-max", "rows": rows}}, states)
        return None

    def _told(self, name: str) -> None:
        """Subject data per several nodes, and at most one group, in one line or nested."""
        parents = self._labelled(2) + self.some(list(self.groups), 1)
        own = {m for g in parents if g in self.groups for m in self.groups[g]["members"]}
        parents = [p for p in parents if p not in own]
        if not parents:
            return self._uniform(name)
        per = [parents[i] for i in self.rng.permutation(len(parents))]
        column = f"c{len(self.subject)}"
        shape = [self._configurations([p]) for p in per]
        self.subject[column] = {"per": per, "unit": "probability", "range": [0, 1]}
        drawn = self.rng.choice(GRID, size=shape if self.chance() else int(np.prod(shape)))
        self.example[column] = drawn.tolist()
        cpd = {"kind": "probability", "p": f"@{column}"}
        self.put(name, {"parents": parents, "cpd": cpd})
        return None

    def _measured(self, name: str) -> None:
        """A distribution of a node for each combination of its parents, as counts or shares."""
        parents, states = self._labelled(2), self.pick(STATES)
        column = f"c{len(self.subject)}"
        shape = [self._configurations([p]) for p in parents]
        spec: dict[str, Any] = {"over": name, "unit": "records"} | ({"per": parents} if parents
                                                                    else {})  # fmt: skip
        drawn = self.rng.integers(0, 5, (*shape, len(states))) + 1
        cpd: dict[str, Any] = {"kind": "measured", "counts": f"@{column}"}
        if self.chance(0.3):
            cpd, spec["unit"] = {"kind": "measured", "p": f"@{column}"}, "probability"
            eighths = np.zeros((*shape, len(states)))
            eighths[..., 0], eighths[..., -1] = 0.375, 0.625
            drawn = eighths
        elif self.chance():
            cpd["prior"] = self.pick([0, 1, 2])
        self.subject[column], self.example[column] = spec, drawn.tolist()
        self.put(name, {"parents": parents, "cpd": cpd}, states)

    # -- the file and its questions --------------------------------------------------------------

    def file(self) -> dict[str, Any]:
        groups, nodes = self.whole(0, 3), self.whole(2, 5)
        steps = self.rng.permutation([*["group"] * groups, *["node"] * nodes])
        for step in steps:
            getattr(self, step)()
        self.node()
        return self._filed()

    def _filed(self) -> dict[str, Any]:
        """What was written, without numbers that nothing uses."""
        used = self._used()
        self.numbers = {n: spec for n, spec in self.numbers.items() if f"${n}" in used}
        for told, sign in ((self.parameters, "$"), (self.subject, "@")):
            for name in [n for n in told if f"{sign}{n}" not in used]:
                del told[name]
                self.example.pop(name, None)
        found = {
            "schema_version": 1, "name": "random", "title": "Random", "story": "Made up.",
            "parameters": self.parameters, "numbers": self.numbers, "subject": self.subject,
            "groups": self.groups,
            "nodes": {n: {k: v for k, v in s.items() if v != []} for n, s in self.nodes.items()},
            "example": self.example,
        }  # fmt: skip
        return {k: v for k, v in found.items() if v != {}}

    def _used(self) -> set[str]:
        """Every reference in cells, and what the formulas behind them read."""
        found = set(re.findall(r"[$@]\w+", json.dumps(self._holding())))
        todo = [n[1:] for n in found if n[1:] in self.numbers]
        while todo:
            spec = self.numbers[todo.pop()]
            read = re.findall(r"[^\W\d]\w*", spec["is"] if isinstance(spec, dict) else spec)
            found |= {sign + name for name in read for sign in "$@"}
            todo += [name for name in read if name in self.numbers]
        return found

    def _holding(self) -> list[Any]:
        """What holds references."""
        return [self.groups, self.nodes]

    def settings(self) -> dict[str, Any]:
        """Other values within the ranges, whole numbers included."""
        found: dict[str, Any] = {}
        for name, spec in self.parameters.items():
            low, high = spec["range"]
            if self.chance(0.3):
                whole = spec.get("unit") == "records"
                found[name] = self.whole(low, high) if whole else self.pick(GRID)
        return found

    def question(self, states: dict[str, list[str]]) -> tuple[dict, dict, dict]:
        """A target, evidence and an intervention, on nodes and members alike."""
        order = [str(n) for n in self.rng.permutation(list(states))]
        counts = [1 + self.chance(0.3), self.whole(0, 2), int(self.chance(0.3))]
        parts: list[dict[str, str]] = []
        for count in counts:
            names, order = order[:count], order[count:]
            parts.append({n: self.pick(states[n]) for n in names})
        if parts[0] == {}:
            parts[0] = parts[1] or parts[2]
        return parts[0], parts[1], parts[2]


def random_file(rng: np.random.Generator) -> tuple[str, Writer]:
    """The text of a random model file, and its writer, who knows what to ask."""
    writer = Writer(rng)
    return json.dumps(writer.file(), indent=1), writer
