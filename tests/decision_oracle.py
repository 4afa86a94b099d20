"""Attackers who decide, a second time: every policy tried on every world, in whole numbers.

Nothing of reidbn is imported.  A diagram is made as a model file and read back from its text.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from ruamel.yaml import YAML

TENTHS = 20  # chances are so many parts of one


def random_diagram(
    rng: Any, *, decisions: int = 0, forgets: bool = False, ties: bool = False
) -> str:
    """A small diagram as a model file: chances, one or two decisions, one to three utilities.

    The second decision sees all that the first saw, and what it did, unless it forgets.
    """
    decisions = decisions or int(rng.integers(1, 3))
    before = [f"c{i}" for i in range(int(rng.integers(1, 4)))]
    lines = ["schema_version: 1", "name: diagram", "decisions:"]
    order = [*before]
    seen: list[str] = []
    for d in range(decisions):
        sees = [c for c in before if rng.random() < 0.4][:2]
        if d and not forgets:
            sees = [*dict.fromkeys([*seen, "d0", *sees])][:4]
            sees = sees if {*seen} <= {*sees} else [*seen, "d0"]
        options = ["no", "yes"] if d or rng.random() < 0.6 else ["wait", "call", "enter"]
        lines.append(f"  d{d}: {{options: [{', '.join(options)}], sees: [{', '.join(sees)}]}}")
        seen = sees
        order.append(f"d{d}")
    after = [f"e{i}" for i in range(int(rng.integers(1, 3)))]
    nodes, states = [], {}
    file = YAML(typ="safe", pure=True).load("\n".join(lines))
    for name, spec in file["decisions"].items():
        states[name] = spec["options"]
    for name in (*before, *after):
        known = [n for n in order if n in states] if name in after else [n for n in before if n < name]
        parents = sorted(n for n in known if rng.random() < (0.6 if name in after else 0.3))[:3]
        if name in after and not any(p.startswith("d") for p in parents):
            parents = [*parents[:2], f"d{int(rng.integers(decisions))}"]
        states[name] = ["no", "yes"]
        rows = []
        for case in product(*(states[p] for p in parents)):
            k = int(rng.integers(0, TENTHS + 1))
            when = ", ".join(f"{p}: {s}" for p, s in zip(parents, case, strict=True))
            rows.append(f"      - {{when: {{{when}}}, p: [{(TENTHS - k) / TENTHS}, {k / TENTHS}]}}")
        nodes += [f"  {name}:", f"    parents: [{', '.join(parents)}]", "    rows:", *rows,
                  "    source: assumption"]  # fmt: skip
    lines.append("utilities:")
    for u in range(int(rng.integers(1, 4))):
        every = [*before, *after, *(f"d{d}" for d in range(decisions))]
        of = sorted(rng.choice(every, min(len(every), int(rng.integers(1, 4))), replace=False))
        lines += [f"  u{u}:", f"    of: [{', '.join(of)}]", "    unit: euro", "    rows:"]
        for case in product(*(states[n] for n in of)):
            when = ", ".join(f"{n}: {s}" for n, s in zip(of, case, strict=True))
            value = int(rng.integers(-1, 2)) if ties else int(rng.integers(-40, 41))
            lines.append(f"      - {{when: {{{when}}}, value: {value}}}")
        lines.append("    source: assumption")
    lines += ["nodes:", *nodes, "questions:", f"  risk: {{target: {after[0]}=yes}}"]
    return "\n".join(lines) + "\n"


Policy = dict[str, dict[tuple[str, ...], str]]


@dataclass
class Diagram:
    """A model file with decisions, read by itself."""

    file: Any

    @classmethod
    def read(cls, words: str) -> Diagram:
        return cls(YAML(typ="safe", pure=True).load(words))

    @property
    def decisions(self) -> dict[str, Any]:
        return self.file["decisions"]

    def states(self, name: str) -> list[str]:
        if name in self.decisions:
            return self.decisions[name]["options"]
        return self.file["nodes"][name].get("states", ["no", "yes"])

    def worlds(self) -> list[tuple[dict[str, str], int, int]]:
        """Every world with the parts of its chance and what it is worth; decisions have no chance."""
        names = [*self.decisions, *self.file["nodes"]]
        found = []
        for case in product(*(self.states(n) for n in names)):
            world = dict(zip(names, case, strict=True))
            chance = 1
            for name, node in self.file["nodes"].items():
                p = self._row(node["rows"], world)["p"][self.states(name).index(world[name])]
                chance *= round(p * TENTHS)
            worth = sum(self._row(u["rows"], world)["value"]
                        for u in self.file["utilities"].values())  # fmt: skip
            found.append((world, chance, worth))
        return found

    def _row(self, rows: Any, world: dict[str, str]) -> Any:
        return next(r for r in rows if all(world[n] == s for n, s in r.get("when", {}).items()))

    def seen(self, name: str, world: dict[str, str]) -> tuple[str, ...]:
        return tuple(world[p] for p in self.decisions[name].get("sees", []))

    @property
    def whole(self) -> int:
        return TENTHS ** len(self.file["nodes"])

    def policies(self) -> list[Policy]:
        per = []
        for name, spec in self.decisions.items():
            cases = [*product(*(self.states(p) for p in spec.get("sees", [])))]
            per.append([dict(zip(cases, taken, strict=True))
                        for taken in product(self.states(name), repeat=len(cases))])  # fmt: skip
        return [dict(zip(self.decisions, one, strict=True)) for one in product(*per)]

    def value(self, policy: Policy, worlds: Any = None) -> Fraction:
        """What a policy is worth."""
        total = sum(
            chance * worth
            for world, chance, worth in (self.worlds() if worlds is None else worlds)
            if all(policy[d][self.seen(d, world)] == world[d] for d in policy)
        )
        return Fraction(total, self.whole)

    def chance(self, policy: Policy, event: dict[str, str], worlds: Any = None) -> Fraction:
        total = sum(
            chance
            for world, chance, _ in (self.worlds() if worlds is None else worlds)
            if all(policy[d][self.seen(d, world)] == world[d] for d in policy)
            and all(world[n] == s for n, s in event.items())
        )
        return Fraction(total, self.whole)

    def best(self) -> tuple[Fraction, int]:
        """The best value, and how many policies were tried."""
        worlds = [w for w in self.worlds() if w[1]]
        tried = self.policies()
        return max(self.value(policy, worlds) for policy in tried), len(tried)
