"""Attackers who decide, a second time: every policy tried on every world, in whole numbers.

Nothing of reidbn is imported.  A diagram is made as a model file and read back from its text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

TENTHS = 20  # chances are so many parts of one


def random_diagram(
    rng: Any, *, decisions: int = 0, forgets: bool = False, ties: bool = False
) -> str:
    """A small diagram as a model file: chances, one or two decisions, one to three utilities.

    The second decision sees all that the first saw, and what it did, unless it forgets: then each
    may see what an earlier one did and not what it saw.  The text
    is JSON, which every reader of YAML takes.
    """
    decisions = decisions or int(rng.integers(1, 3))
    before = [f"c{i}" for i in range(int(rng.integers(1, 4)))]
    after = [f"e{i}" for i in range(int(rng.integers(1, 3)))]
    states = {name: ["no", "yes"] for name in (*before, *after)}
    decided: dict[str, Any] = {}
    seen: list[str] = []
    for d in range(decisions):
        sees = [c for c in before if rng.random() < 0.4][:2]
        if d and not forgets:
            sees = [*dict.fromkeys([*seen, "d0", *sees])][:4]
        elif d and rng.random() < 0.3:
            sees = [f"d{d - 1}", *sees]
        options = ["no", "yes"] if d or rng.random() < 0.6 else ["wait", "call", "enter"]
        decided[f"d{d}"] = {"options": options, "sees": sees}
        states[f"d{d}"] = options
        seen = sees
    nodes: dict[str, Any] = {}
    for name in (*before, *after):
        known = [*before, *decided, *(n for n in after if n < name)] if name in after else [
            n for n in before if n < name]  # fmt: skip
        parents = sorted(n for n in known if rng.random() < (0.6 if name in after else 0.3))[:3]
        if name in after and not any(p in decided for p in parents):
            parents = [*parents[:2], f"d{int(rng.integers(decisions))}"]
        rows = []
        for case in product(*(states[p] for p in parents)):
            k = int(rng.integers(0, TENTHS + 1))
            when = dict(zip(parents, case, strict=True))
            rows.append({"when": when, "p": [(TENTHS - k) / TENTHS, k / TENTHS]})
        nodes[name] = {"parents": parents, "rows": rows, "source": "assumption"}
    utilities = {}
    for u in range(int(rng.integers(1, 4))):
        every = [*before, *after, *decided]
        of = sorted(map(str, rng.choice(every, min(len(every), int(rng.integers(1, 4))),
                                        replace=False)))  # fmt: skip
        worth = [
            {"when": dict(zip(of, case, strict=True)),
             "value": int(rng.integers(-1, 2)) if ties else int(rng.integers(-40, 41))}
            for case in product(*(states[n] for n in of))
        ]  # fmt: skip
        utilities[f"u{u}"] = {"of": of, "unit": "euro", "rows": worth, "source": "assumption"}
    return json.dumps({
        "schema_version": 1, "name": "diagram", "decisions": decided, "utilities": utilities,
        "nodes": nodes, "questions": {"risk": {"target": "e0=yes"}},
    })  # fmt: skip


Policy = dict[str, dict[tuple[str, ...], str]]


@dataclass
class Diagram:
    """A model file with decisions, read by itself."""

    file: Any
    _worlds: Any = None

    @classmethod
    def read(cls, words: str) -> Diagram:
        return cls(json.loads(words))

    @property
    def decisions(self) -> dict[str, Any]:
        return self.file["decisions"]

    def states(self, name: str) -> list[str]:
        if name in self.decisions:
            return self.decisions[name]["options"]
        return self.file["nodes"][name].get("states", ["no", "yes"])

    def worlds(self) -> list[tuple[dict[str, str], int, int]]:
        """Every world, the chance of all but decisions, and what it is worth."""
        names = [*self.decisions, *self.file["nodes"]]
        if self._worlds is not None:
            return self._worlds
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
        self._worlds = found
        return found

    def _row(self, rows: Any, world: dict[str, str]) -> Any:
        return next(r for r in rows if all(world[n] == s for n, s in r.get("when", {}).items()))

    def seen(self, name: str, world: dict[str, str]) -> tuple[str, ...]:
        return tuple(world[p] for p in self.decisions[name].get("sees", []))

    @property
    def whole(self) -> int:
        return TENTHS ** len(self.file["nodes"])

    def value(self, policy: Policy) -> Fraction:
        """What a policy is worth."""
        total = sum(
            chance * worth
            for world, chance, worth in self.worlds()
            if all(policy[d][self.seen(d, world)] == world[d] for d in policy)
        )
        return Fraction(total, self.whole)

    def chance(self, policy: Policy, event: dict[str, str]) -> Fraction:
        total = sum(
            chance
            for world, chance, _ in self.worlds()
            if all(policy[d][self.seen(d, world)] == world[d] for d in policy)
            and all(world[n] == s for n, s in event.items())
        )
        return Fraction(total, self.whole)

    def best(self) -> tuple[Fraction, int]:
        """The best value, and how many policies were tried: all there are, in whole numbers."""
        value, _ = self._summed([lambda world, worth: worth])
        return Fraction(int(value[0].max()), self.whole), value.shape[1]

    def tied(self) -> tuple[Fraction, Fraction, dict[str, set[tuple[str, ...]]]]:
        """Of the best policies: the highest P(attack), then eagerness; and where they differ."""
        values, tables = self._summed([
            lambda world, worth: worth,
            lambda world, _: any(self.rank(d, world[d]) for d in self.decisions),
            lambda world, _: sum(self.rank(d, world[d]) for d in self.decisions),
        ])  # fmt: skip
        good = np.flatnonzero(values[0] == values[0].max())
        attack = values[1][good].max()
        eager = values[2][good][values[1][good] == attack].max()
        differ = {}
        counts = [len(every) for every in tables.values()]
        numbers = np.unravel_index(good, counts)
        for (name, every), number in zip(tables.items(), numbers, strict=True):
            cases = product(*(self.states(p) for p in self.decisions[name].get("sees", [])))
            several = [len(np.unique(column)) > 1 for column in every[number].T]
            differ[name] = {case for case, more in zip(cases, several, strict=True) if more}
        return Fraction(int(attack), self.whole), Fraction(int(eager), self.whole), differ

    def highest(self, event: dict[str, str], given: dict[str, str]) -> tuple[Fraction, Fraction]:
        """P(event | given) of the best policies: the highest, and the lowest, where it can be."""
        values, _ = self._summed([
            lambda world, worth: worth,
            lambda world, _: all(world[n] == s for n, s in given.items()),
            lambda world, _: all(world[n] == s for n, s in (*event.items(), *given.items())),
        ])  # fmt: skip
        good = (values[0] == values[0].max()) & (values[1] > 0)
        pairs = {(int(hit), int(of)) for of, hit in values[1:, good].T}
        found = [Fraction(*pair) for pair in pairs]
        return max(found), min(found)

    def rank(self, name: str, option: str) -> int:
        """How eager an option is, of twice one."""
        options = self.states(name)
        return 2 * options.index(option) // (len(options) - 1)  # from holding back upwards

    def eagerness(self, policy: Policy) -> tuple[Fraction, Fraction]:
        """P(attack) and how eager the options are under a policy."""
        total = [0, 0]
        for world, chance, _ in self.worlds():
            if all(policy[d][self.seen(d, world)] == world[d] for d in policy):
                rank = sum(self.rank(d, world[d]) for d in policy)
                total = [total[0] + chance * (rank > 0), total[1] + chance * rank]
        return Fraction(total[0], self.whole), Fraction(total[1], self.whole)

    def _summed(self, what: Any) -> tuple[Any, dict[str, Any]]:
        """Sums over all worlds under every policy there is, and each decision's policies."""
        worlds = [w for w in self.worlds() if w[1]]
        weight = [[chance * of(world, worth) for world, chance, worth in worlds] for of in what]
        every = np.ones((1, len(worlds)), dtype=np.int64)
        tables = {}
        for name, spec in self.decisions.items():
            cases = [*product(*(self.states(p) for p in spec.get("sees", [])))]
            case = [cases.index(self.seen(name, world)) for world, *_ in worlds]
            option = [self.states(name).index(world[name]) for world, *_ in worlds]
            tables[name] = np.array([*product(range(len(self.states(name))), repeat=len(cases))])
            fits = (tables[name][:, case] == option).astype(np.int64)
            every = (every[:, None] * fits).reshape(-1, len(worlds))
        return np.array(weight, dtype=np.int64) @ every.T, tables
