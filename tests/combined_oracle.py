"""Everything of the language at once, a second time: shares over a node, steps that repeat, sources
that are shared, and attackers who decide.

Nothing of reidbn is imported.  A file is made as text and read back from it: plates are unrolled,
every world is gone through, and every policy there is, those worth the same included.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np

WHO = "ann", "bob", "cy"
TIED = 1e-11  # of what is added up: so near to the best is as good as the best


def combined_file(rng: np.random.Generator) -> str:
    """A small file: each of WHO is found by steps from others, and somebody decides on some."""

    def pick(*of: Any) -> Any:
        return of[int(rng.integers(len(of)))]

    who = list(WHO[: int(rng.integers(2, 4))])
    pairs = [f"{a}>{b}" for a in who for b in who if a != b]
    later = [pair for pair in pairs if pair.split(">")[0] < pair.split(">")[1]]
    steps = [later[i] for i in sorted(rng.permutation(len(later))[: int(rng.integers(1, 3))])]
    shared = pick("$p_seen", "$p_told", "$twice")
    deciders = pick("[who]", "one")  # everybody for himself, or one for all
    sees = pick([], ["in_ann"], ["kind_ann"], ["in_[who]"], ["kind_[who]", "in_ann"], ["known"])
    if deciders == "one":
        sees = [name.replace("[who]", "bob") for name in sees]
    elif len(who) == 3:
        sees = pick([], ["in_ann"], ["in_[who]"])
    tries = "tries_[who]" if deciders == "[who]" else "tries"
    options = pick(["no", "yes"], ["no", "yes"], ["wait", "call", "enter"])
    if deciders == "[who]":
        options = ["no", "yes"]
    most = options[-1]
    even = rng.random() < 0.5  # then much is worth the same
    worth, fine = (pick(0, 4), pick(0, 1)) if even else (pick(3, 7.5, 11), pick(0, 1, 2.25))
    kinds = ["none", "near", "exact"][: int(rng.integers(2, 4))]
    per = rng.random() < 0.3
    counts = rng.random() < 0.7

    def shares() -> list[float]:
        if counts:
            return rng.integers(0, 30, len(kinds)).tolist()
        return pick([0.25, 0.75], [0.5, 0.5]) if len(kinds) == 2 else pick([0.25, 0.25, 0.5])

    column = {"over": "kind_[who]", "unit": "records" if counts else "probability"}
    if per:
        column["per"] = "in_[who]"
    nodes: dict[str, Any] = {
        "in_[who]": {"cpd": {"kind": "probability", "p": pick(shared, 0.5, "$p_seen")}},
        "kind_[who]": {
            "states": kinds, **({"parents": ["in_[who]"]} if per else {}),
            "cpd": {"kind": "measured", "counts" if counts else "p": "@seen_[who]"},
        },
        "leads_[step.from]_[step.to]": {
            "parents": ["in_[step.from]", "in_[step.to]"],
            "cpd": pick({"kind": "and"}, {"kind": "or"},
                        {"kind": "noisy-or", "weights": [shared, 0.5]}),
        },
        "found_[who]": {
            "parents": pick(["in_[who]", "leads_*_[who]"], ["leads_*", "in_[who]"], ["in_[who]"]),
            "cpd": {"kind": "or"},
        },
        "hit_[who]": {
            "parents": [tries, "found_[who]", "kind_[who]"],
            "rows": [
                {"when": {tries: most, "found_[who]": "yes", "kind_[who]": kinds[-1]},
                 "p": {"yes": pick("$p_told", 0.5, 1), "no": "rest"}},
                {"when": {tries: most, "found_[who]": "yes"},
                 "p": {"yes": pick(0.25, "$p_seen"), "no": "rest"}},
                {"p": {"yes": 0, "no": 1}},
            ],
        },
        "caught": {"parents": ["tries_*"] if deciders == "[who]" else ["tried"],
                   "cpd": {"kind": "noisy-or", "weights": pick(shared, 0.25)}},
        "any": {"parents": ["hit_*"], "cpd": {"kind": "or"}},
        "hits": {"states": f"0..{len(who)}", "parents": ["hit_*"], "cpd": {"kind": "count"}},
    }  # fmt: skip
    if deciders == "one":
        rows = [{"when": {"tries": options[0]}, "p": {"yes": 0, "no": 1}},
                {"p": {"yes": 1, "no": 0}}]  # fmt: skip
        nodes["tried"] = {"parents": ["tries"], "rows": rows}
    for node in nodes.values():
        node["source"] = "assumption"
    gain = pick("hit_[who]", "any") if deciders == "one" else "hit_[who]"
    of = [gain, tries] if even and rng.random() < 0.5 else [gain]
    utilities = {
        ("gain_[who]" if "[who]" in gain else "gain"): {
            "of": of, "unit": "euro", "source": "assumption",
            "rows": [{"when": {gain: "yes"}, "value": "$worth"}, {"value": 0}]},
        "penalty": {"of": ["caught"], "unit": "euro", "source": "assumption",
                    "rows": [{"when": {"caught": "yes"}, "value": "$loss"}, {"value": 0}]},
    }  # fmt: skip
    if deciders == "one" and gain == "hit_[who]":
        utilities["gain_[who]"]["of"] = [gain]
    low = pick(0.05, 0.1)
    file = {
        "schema_version": 1, "name": "combined", "repeat": {"who": who, "step": steps},
        "parameters": {
            "p_seen": {"measured": {"hits": int(rng.integers(0, 9)), "trials": 9, "study": "one"}},
            "p_told": {"source": "experts", "pool": "linear", "elicited": [
                {"expert": "A", "quantiles": {"0.1": low, "0.9": 0.5}},
                {"expert": "B", "quantiles": {"0.25": 0.2, "0.75": 0.6}, "weight": 2}]},
            "worth": {"value": worth, "range": [0, 50], "unit": "euro", "source": "assumption"},
            "fine": {"value": fine, "range": [0, 50], "unit": "euro", "source": "assumption"},
        },
        "numbers": {"loss": "-fine", "twice": {"is": "1 - (1 - p_seen) ^ 2", "range": [0, 1]}},
        "subject": {"seen_[who]": column},
        "groups": {"known": {"members": ["k_a", "k_b"], "probability": [shared, 0.5],
                             "source": "assumption"}},
        "decisions": {tries: {"options": options, "sees": sees, "story": "s"}},
        "utilities": utilities, "nodes": nodes,
        "questions": {"risk": {"target": "any=yes"}, "hits": {"expect": "hits"}},
        "example": {f"seen_{w}": [shares(), shares()] if per else shares() for w in who},
    }  # fmt: skip
    return json.dumps(file)


@dataclass
class Combined:
    """A file, read by itself: `told` is what experts say, `set` what is set."""

    file: Any
    told: float
    set: dict[str, float]
    subject: dict[str, Any]

    @classmethod
    def read(cls, words: str, told: float, **more: Any) -> Combined:
        file = json.loads(words)
        made = {room: unrolled(file[room], file["repeat"]) for room in
                ("subject", "decisions", "utilities", "nodes")}  # fmt: skip
        names = [*file["groups"]["known"]["members"], *made["decisions"], *made["nodes"]]
        for name, node in made["nodes"].items():
            found = [n for p in node.get("parents", []) for n in matched(p, names) if n != name]
            node["parents"] = list(dict.fromkeys(found))
        subject = {**file["example"], **more.get("subject", {})}
        return cls({**file, **made}, told, more.get("set", {}), subject)

    def number(self, cell: Any) -> float:
        if not isinstance(cell, str):
            return float(cell)
        name = cell[1:]
        if name in self.set:
            return float(self.set[name])
        if name == "p_seen":
            study = self.file["parameters"][name]["measured"]
            return (study["hits"] + 0.5) / (study["trials"] + 1)
        if name == "p_told":
            return self.told
        if name == "twice":
            return float(1 - (1 - self.number("$p_seen")) ** 2)
        if name == "loss":
            return -self.number("$fine")
        return float(self.file["parameters"][name]["value"])

    def states(self, name: str) -> list[str]:
        if name in self.file["decisions"]:
            return self.file["decisions"][name]["options"]
        found = self.file["nodes"].get(name, {}).get("states", ["no", "yes"])
        return [str(i) for i in range(int(found[-1]) + 1)] if isinstance(found, str) else found

    def chances(self, name: str, world: dict[str, str]) -> list[float]:
        group = self.file["groups"]["known"]
        if name in group["members"]:
            p = self.number(group["probability"][group["members"].index(name)])
            return [1 - p, p]
        node, states = self.file["nodes"][name], self.states(name)
        met = [world[p] for p in node["parents"]]
        yes = [state == "yes" or state in ("call", "enter") for state in met]
        if "rows" in node:
            row = next(
                r["p"]
                for r in node["rows"]
                if all(world[n] == s for n, s in r.get("when", {}).items())
            )
            p = self.number(row["yes"])
            return [1 - p, p]
        cpd = node["cpd"]
        kind = cpd["kind"]
        if kind == "measured":
            column = next(v[1:] for k, v in cpd.items() if k in ("p", "counts"))
            told = self.subject[column]
            told = told[["no", "yes"].index(met[0])] if met else told
            if "p" in cpd:
                return [float(x) for x in told]
            return [(n + 0.5) / (sum(told) + len(told) / 2) for n in told]
        if kind == "count":
            return [float(str(sum(yes)) == s) for s in states]
        if kind == "probability":
            p = self.number(cpd["p"])
        elif kind == "noisy-or":
            weights = cpd["weights"] if isinstance(cpd["weights"], list) else [cpd["weights"]] * 9
            of_each = zip(weights[: len(yes)], yes, strict=True)  # one weight may be for all
            p = 1 - float(np.prod([1 - self.number(w) for w, y in of_each if y]))
        else:
            p = float({"and": all, "or": any}[kind](yes))
        return [1 - p, p]

    def worlds(self) -> tuple[list[dict[str, str]], Any, Any]:
        """Every world that can be, the chance of all but decisions, and what it is worth."""
        ordered: list[str] = []

        def visit(name: str) -> None:
            if name not in ordered:
                for parent in self.file["nodes"].get(name, {}).get("parents", []):
                    visit(parent)
                ordered.append(name)

        for name in (
            *self.file["groups"]["known"]["members"],
            *self.file["decisions"],
            *self.file["nodes"],
        ):
            visit(name)
        found: list[tuple[dict[str, str], float]] = [({}, 1.0)]
        for name in ordered:
            free = name in self.file["decisions"]
            found = [
                ({**world, name: state}, chance * p)
                for world, chance in found
                for state, p in zip(
                    self.states(name),
                    [1.0] * len(self.states(name)) if free else self.chances(name, world),
                    strict=True,
                )
                if p > 0
            ]
        worth = [
            sum(
                self.number(
                    next(
                        r["value"]
                        for r in u["rows"]
                        if all(world[n] == s for n, s in r.get("when", {}).items())
                    )
                )
                for u in self.file["utilities"].values()
            )
            for world, _ in found
        ]
        return [w for w, _ in found], np.array([c for _, c in found]), np.array(worth)

    def answers(self, target: Any, given: dict[str, str]) -> tuple[float, float, int]:
        """The highest and lowest mean of `target` of a world, given, of the best policies."""
        worlds, chance, worth = self.worlds()
        policies = np.ones((1, len(worlds)))
        for name, spec in self.file["decisions"].items():
            sees = [
                m
                for p in spec.get("sees", [])
                for m in (self.file["groups"]["known"]["members"] if p == "known" else [p])
            ]
            cases = [*product(*(self.states(p) for p in sees))]
            case = [cases.index(tuple(world[p] for p in sees)) for world in worlds]
            option = np.array([self.states(name).index(world[name]) for world in worlds])
            every = np.array([*product(range(len(self.states(name))), repeat=len(cases))])
            fits = every[:, case] == option
            policies = (policies[:, None] * fits).reshape(-1, len(worlds))
        value = policies @ (chance * worth)
        size = float(np.abs(worth).max()) or 1.0
        known = np.array([all(w[n] == s for n, s in given.items()) for w in worlds])
        of = policies @ (chance * known)
        hit = policies @ (chance * known * np.array([target(w) for w in worlds]))
        good = (value >= value.max() - TIED * size) & (of > 0)
        found = hit[good] / of[good]
        return (float(found.max()), float(found.min()), len(policies)) if good.any() else (0, 0, 0)


def unrolled(room: dict[str, Any], repeat: dict[str, list[str]]) -> dict[str, Any]:
    """Each thing once for every value of the words in its name."""
    found = {}
    for name, thing in room.items():
        if "[who]" in name:
            lets = [{"[who]": w} for w in repeat["who"]]
        elif "[step.from]" in name:
            pairs = [step.split(">") for step in repeat["step"]]
            lets = [{"[step.from]": a, "[step.to]": b} for a, b in pairs]
        else:
            lets = [{}]
        for let in lets:
            text = json.dumps([name, thing])
            for word, value in let.items():
                text = text.replace(word, value)
            own, made = json.loads(text)
            found[own] = made
    return found


def matched(parent: str, names: list[str]) -> list[str]:
    if "*" not in parent:
        return [parent]
    return [n for n in names if re.fullmatch(re.escape(parent).replace(r"\*", "[a-z_]+"), n)]


def pooled(words: str) -> float:
    """The mean of the linear pool of logit-normal experts, each by two quantiles."""
    experts = json.loads(words)["parameters"]["p_told"]["elicited"]
    total = heard = 0.0
    z = np.linspace(-9, 9, 20_001)
    density = np.exp(-z * z / 2)
    for expert in experts:
        (a, x), (b, y) = (
            (NormalDist().inv_cdf(float(q)), np.log(v / (1 - v)))
            for q, v in expert["quantiles"].items()
        )
        sd = (y - x) / (b - a)
        mean = (density / (1 + np.exp(-(x + sd * (z - a))))).sum() / density.sum()
        total += expert.get("weight", 1) * mean
        heard += expert.get("weight", 1)
    return float(total / heard)
