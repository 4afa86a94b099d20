"""A second reading of model files: the text itself, enumerated in rationals.

Nothing of reidbn is imported.  The language is read as docs/model-files.md tells it, one world at
a time: a world gives every node and every member a state, and its probability is the product of
what each node's story says.  Slow and plain, so that it is wrong in other ways, if it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from math import comb, exp, factorial, prod
from typing import Any

from tests.yaml_written import lets_in, written_out

World = dict[str, str]
ONE, ZERO = Fraction(1), Fraction(0)
TIED = Fraction(1, 10**12)  # of what is added up: so near to the best is as good as the best


def exactly(number: Any) -> Fraction:
    """A number as it is written: 0.1 is a tenth."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def text(state: Any) -> str:
    return str(state)


@dataclass
class Model:
    """One file, and the numbers that a question brings along."""

    file: Mapping[str, Any]
    set: Mapping[str, Any] = field(default_factory=dict)
    subject: Mapping[str, Any] = field(default_factory=dict)
    taken: dict[Any, dict[str, Fraction]] = field(
        default_factory=dict
    )  # what is decided for what is seen

    @classmethod
    def read(cls, words: str, models: Mapping[str, str] = {}, **more: Any) -> Model:
        """Of a text; `models` are the texts that it may stand on, by name."""
        return cls(written_out(words, models), **more)

    # -- what stands in the file -------------------------------------------------------------

    @property
    def nodes(self) -> Mapping[str, Any]:
        """The nodes; a decision is one whose states are options."""
        decided = {
            name: {"states": d["options"], "parents": d.get("sees", []), "cpd": {"kind": "decides"}}
            for name, d in self.file.get("decisions", {}).items()
        }
        return {**self.file.get("nodes", {}), **decided}

    @property
    def groups(self) -> Mapping[str, Any]:
        return self.file.get("groups", {})

    def group_of(self, name: str) -> str | None:
        return next((g for g, group in self.groups.items() if name in group["members"]), None)

    def states(self, name: str) -> list[str]:
        if self.group_of(name):
            return ["no", "yes"]
        found = self.nodes[name].get("states", ["no", "yes"])
        if isinstance(found, str):
            low, high = found.split("..")
            return [str(i) for i in range(self._end(low), self._end(high) + 1)]
        return [text(s) for s in found]

    def _end(self, words: str) -> int:
        return int(self.parameter(words[1:])) if words.startswith("$") else int(words)

    def parameter(self, name: str) -> Fraction:
        if name in self.set:
            return exactly(self.set[name])
        spec = self.file["parameters"][name]
        if "measured" in spec:  # Jeffreys' prior, brought up to date
            told = spec["measured"]
            return (exactly(told["hits"]) + Fraction(1, 2)) / (exactly(told["trials"]) + 1)
        return exactly(spec["value"])

    def may_be(self) -> bool:
        """Whether the numbers satisfy every condition of the file."""
        signs = {ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__"}
        for line in self.file.get("where", []):
            said = ast.parse(line.replace("^", "**"), mode="eval").body
            left, right = (self._worked_out(s, {}, None) for s in (said.left, said.comparators[0]))
            if not getattr(left, signs[type(said.ops[0])])(right):
                return False
        return True

    def parents(self, name: str) -> list[str]:
        group = self.group_of(name)
        own = self._own(name)
        if own is not None:
            return list(own.get("parents", [])) if isinstance(own, Mapping) else []
        return list((self.groups[group] if group else self.nodes[name]).get("parents", []))

    def _own(self, name: str) -> Any:
        """A member's own story, or its chance; None where the group speaks for it."""
        group = self.group_of(name)
        members = self.groups[group]["members"] if group else None
        return members[name] if isinstance(members, Mapping) else None

    def columns_of(self, name: str) -> Any:
        return self.subject.get(name, self.file.get("example", {}).get(name))

    # -- who comes before whom ---------------------------------------------------------------

    def nodes_of(self, parent: str) -> list[str]:
        return list(self.groups[parent]["members"]) if parent in self.groups else [parent]

    def upstream(self, wanted: Sequence[str], cut: Mapping[str, str]) -> list[str]:
        """Everything that can matter, parents before children."""
        done: list[str] = []

        def visit(name: str) -> None:
            if name in done:
                return
            if name not in cut:
                for parent in self.parents(name):
                    for node in self.nodes_of(parent):
                        visit(node)
            done.append(name)

        for name in wanted:
            visit(name)
        return done

    # -- numbers -----------------------------------------------------------------------------

    def number(self, name: str, world: World) -> Fraction:
        """A parent's state as a number; a group's is how many of its members are yes."""
        if name in self.groups:
            return Fraction(sum(world[m] == "yes" for m in self.groups[name]["members"]))
        state = world[name]
        return ONE if state == "yes" else ZERO if state == "no" else Fraction(state)

    def cell(self, cell: Any, world: World, member: int | None = None) -> Fraction:
        """A number, $parameter, @column or a parent's name."""
        if not isinstance(cell, str):
            return exactly(cell)
        if cell.startswith("$"):
            return self.named(cell[1:], world, member)
        if cell.startswith("@"):
            return self.column(cell[1:], world, member)
        return self.number(cell, world)

    def named(self, name: str, world: World, member: int | None = None) -> Fraction:
        """A parameter, or a derived number: Python reads the same grammar, with ** for ^."""
        formula = self.file.get("numbers", {}).get(name)
        if formula is None or name in self.set:
            return self.parameter(name)
        words = str(formula["is"] if isinstance(formula, Mapping) else formula)
        return self._worked_out(
            ast.parse(words.replace("^", "**"), mode="eval").body, world, member
        )

    def _worked_out(self, step: Any, world: World, member: int | None) -> Fraction:
        if isinstance(step, ast.Constant):
            return exactly(step.value)
        if isinstance(step, ast.Name):
            if step.id in self.file.get("subject", {}):
                return self.column(step.id, world, member)
            return self.named(step.id, world, member)
        if isinstance(step, ast.UnaryOp):
            return -self._worked_out(step.operand, world, member)
        if isinstance(step, ast.Call):
            args = [self._worked_out(arg, world, member) for arg in step.args]
            if step.func.id == "any":
                return ONE - (ONE - args[0]) ** int(args[1])
            if step.func.id == "exp":
                return Fraction(exp(args[0]))
            return {"min": min, "max": max}[step.func.id](args)
        left, right = (self._worked_out(s, world, member) for s in (step.left, step.right))
        if isinstance(step.op, ast.Pow):
            assert right.denominator == 1
            return left ** int(right)
        return {
            ast.Add: Fraction.__add__, ast.Sub: Fraction.__sub__, ast.Mult: Fraction.__mul__,
            ast.Div: Fraction.__truediv__,
        }[type(step.op)](left, right)  # fmt: skip

    def column(self, name: str, world: World, member: int | None) -> Fraction:
        value, spec = self.columns_of(name), self.file["subject"][name] or {}
        if "each" in spec:
            assert member is not None
            return exactly(value[member])
        return exactly(self._at(value, spec.get("per", []), world))

    def _place(self, name: str, world: World) -> tuple[int, int]:
        """Which state a node is in, or which subset of a group is known; and how many there are."""
        if name in self.groups:
            members = list(self.groups[name]["members"])
            known = sum((world[m] == "yes") << j for j, m in enumerate(members))
            return known, 2 ** len(members)
        states = self.states(name)
        return states.index(world[name]), len(states)

    def _at(self, value: Any, per: str | list[str], world: World) -> Any:
        """The entry of a column in this world, written nested or in one line."""
        places = [self._place(n, world) for n in ([per] if isinstance(per, str) else per)]
        flat = len(places) > 1 and not isinstance(value[0], list)
        if flat:
            row = 0
            for place, size in places:
                row = row * size + place
            each = len(value) // prod(size for _, size in places)
            return value[row] if each == 1 else value[row * each : (row + 1) * each]
        for place, _ in places:
            value = value[place]
        return value

    def fits(self, when: Mapping[str, Any], world: World) -> bool:
        for parent, wanted in when.items():
            if wanted == "*":
                continue
            allowed = wanted if isinstance(wanted, list) else [wanted]
            if not any(lets_in(text(word), world[parent]) for word in allowed):
                return False
        return True

    # -- P(state | what came before) ---------------------------------------------------------

    def chances(self, name: str, world: World) -> dict[str, Fraction]:
        group = self.group_of(name)
        node = self._own(name) if group else self.nodes[name]
        if group and not isinstance(node, Mapping):
            place = list(self.groups[group]["members"]).index(name)
            known = node is not None
            p = self.cell(node, world, place) if known else self._member(group, name, world)
            return {"no": ONE - p, "yes": p}
        cpd = node.get("cpd") or {"kind": "rows", "rows": node["rows"]}
        return self.story(name, cpd, world)

    def _member(self, group: str, name: str, world: World) -> Fraction:
        spec = self.groups[group]
        place = spec["members"].index(name)
        if "probability" in spec:
            p = spec["probability"]
        else:
            p = next(r["p"] for r in spec["rows"] if self.fits(r.get("when", {}), world))
        return self.cell(p[place] if isinstance(p, list) else p, world, place)

    def story(self, name: str, cpd: Mapping[str, Any], world: World) -> dict[str, Fraction]:
        states, kind = self.states(name), cpd["kind"]
        found = getattr(self, "kind_" + kind.replace("-", "_"))(name, cpd, world)
        if isinstance(found, dict):
            return {s: found.get(s, ZERO) for s in states}
        if isinstance(found, list):
            return dict(zip(states, [*found, *[ZERO] * (len(states) - len(found))], strict=True))
        return {"no": ONE - found, "yes": found}

    def inputs(self, name: str, world: World) -> Iterator[tuple[str, bool]]:
        """Every yes/no input of a gate with the parent it came by."""
        for parent in self.parents(name):
            for node in self.nodes_of(parent):
                yield parent, world[node] == "yes"

    def kind_rows(self, name: str, cpd: Any, world: World) -> dict[str, Fraction]:
        states = self.states(name)
        row = next(r for r in cpd["rows"] if self.fits(r.get("when", {}), world))["p"]
        cells = row if isinstance(row, dict) else dict(zip(states, row, strict=True))
        found = {text(s): self.cell(c, world) for s, c in cells.items() if c != "rest"}
        left = ONE - sum(found.values(), ZERO)
        return found | {text(s): left for s, c in cells.items() if c == "rest"}

    def kind_and(self, name: str, cpd: Any, world: World) -> Fraction:
        return Fraction(all(yes for _, yes in self.inputs(name, world)))

    def kind_or(self, name: str, cpd: Any, world: World) -> Fraction:
        return Fraction(any(yes for _, yes in self.inputs(name, world)))

    def kind_threshold(self, name: str, cpd: Any, world: World) -> Fraction:
        return Fraction(sum(yes for _, yes in self.inputs(name, world)) >= cpd["at_least"])

    def _unweighted(self, name: str, cpd: Any, world: World, *, state: bool) -> Fraction:
        weights = cpd.get("weights", {})
        left = ONE - self.cell(cpd.get("leak", 0), world)
        for parent, yes in self.inputs(name, world):
            if yes is state:
                weight = weights[parent] if isinstance(weights, dict) else weights
                left *= ONE - self.cell(weight, world)
        return left

    def kind_noisy_or(self, name: str, cpd: Any, world: World) -> Fraction:
        return ONE - self._unweighted(name, cpd, world, state=True)

    def kind_noisy_and(self, name: str, cpd: Any, world: World) -> Fraction:
        return self._unweighted(name, cpd, world, state=False)

    def _only(self, cpd: Any, world: World) -> bool:
        return all(world[p] == "yes" for p in cpd.get("only_if", []))

    def kind_probability(self, name: str, cpd: Any, world: World) -> Fraction:
        return self.cell(cpd["p"], world) if self._only(cpd, world) else ZERO

    def kind_unique(self, name: str, cpd: Any, world: World) -> Fraction:
        return self.cell(cpd.get("stays", 1), world) if self.cell(cpd["of"], world) == 1 else ZERO

    def kind_one_over(self, name: str, cpd: Any, world: World) -> Fraction:
        of = self.cell(cpd["of"], world)
        return ONE / of if of >= 1 and self._only(cpd, world) else ZERO

    def kind_share(self, name: str, cpd: Any, world: World) -> Fraction:
        part, whole = (self.cell(cpd[k], world) for k in ("part", "whole"))
        return min(ONE, part / whole) if whole > 0 else ZERO

    def kind_uniform(self, name: str, cpd: Any, world: World) -> list[Fraction]:
        return [Fraction(1, len(self.states(name)))] * len(self.states(name))

    def kind_one_of(self, name: str, cpd: Any, world: World) -> list[Fraction]:
        n, states = self.cell(cpd["n"], world), self.states(name)
        return [ONE / n] * (len(states) - 1) + [ONE - (len(states) - 1) / n]

    def kind_noisy_copy(self, name: str, cpd: Any, world: World) -> dict[str, Fraction]:
        states, same = self.states(name), self.cell(cpd["same"], world)
        seen = world[self.parents(name)[0]]
        return {s: same if s == seen else (ONE - same) / (len(states) - 1) for s in states}

    def kind_near_copy(self, name: str, cpd: Any, world: World) -> dict[str, Fraction]:
        here, within = self.number(self.parents(name)[0], world), self.cell(cpd["within"], world)
        near = [s for s in self.states(name) if abs(Fraction(s) - here) <= within]
        return {s: Fraction(1, len(near)) for s in near}

    def kind_lookup(self, name: str, cpd: Any, world: World) -> dict[str, Fraction]:
        parent = self.parents(name)[0]
        return {text(cpd["to"][self.states(parent).index(world[parent])]): ONE}

    def _row_of(self, name: str, world: World) -> int:
        """Which row of a full table: the last parent varies fastest; a group by its counter."""
        row = 0
        for parent in self.parents(name):
            if parent in self.groups:
                members = self.groups[parent]["members"]
                mask = sum((world[m] == "yes") << j for j, m in enumerate(members))
                row = row * 2 ** len(members) + mask
            else:
                states = self.states(parent)
                row = row * len(states) + states.index(world[parent])
        return row

    def kind_table(self, name: str, cpd: Any, world: World) -> list[Fraction]:
        return [exactly(x) for x in cpd["p"][self._row_of(name, world)]]

    def kind_empirical(self, name: str, cpd: Any, world: World) -> list[Fraction]:
        prior = exactly(cpd.get("prior", 0))
        counts = [exactly(c) + prior for c in cpd["counts"][self._row_of(name, world)]]
        return [c / sum(counts) for c in counts]

    def kind_mixture(self, name: str, cpd: Any, world: World) -> dict[str, Fraction]:
        weights = [None if w == "rest" else self.cell(w, world) for w in cpd["weights"]]
        left = ONE - sum((w for w in weights if w is not None), ZERO)
        total = dict.fromkeys(self.states(name), ZERO)
        for weight, component in zip(weights, cpd["components"], strict=True):
            for state, p in self.story(name, component, world).items():
                total[state] += (left if weight is None else weight) * p
        return total

    def kind_decides(self, name: str, cpd: Any, world: World) -> dict[str, Fraction]:
        """The option that is worth most where this is seen; of equals yes, else the later one.

        What an earlier decision was is seen, so that only later ones are decided on the way.
        """
        seen = {n: world[n] for p in self.parents(name) for n in self.nodes_of(p)}
        key = name, *seen.items()
        if key not in self.taken:
            self.taken[key] = self._best(name, seen)
        return self.taken[key]

    def _best(self, name: str, seen: World) -> dict[str, Fraction]:
        options = self.states(name)
        worth = {o: self._worth({**seen, name: o}, name) for o in options[::-1]}
        heat = self.cell(self.file["decisions"][name].get("temperature", 0), {})
        if heat > 0 and (chance := self._reached(seen)):
            with localcontext() as digits:
                digits.prec = 40
                top = max(worth.values())
                gaps = {o: (w - top) / chance / heat for o, w in worth.items()}
                soft = {o: Fraction((Decimal(g.numerator) / g.denominator).exp())
                        for o, g in gaps.items()}  # fmt: skip
            return {o: w / sum(soft.values()) for o, w in soft.items()}
        most = sum((max(abs(self.cell(r["value"], {})) for r in u["rows"])
                    for u in self.file["utilities"].values()), ZERO)  # fmt: skip
        near = max(worth.values()) - TIED * most * self._reached(seen)  # as the engine: as good
        best = [o for o in worth if worth[o] >= near]
        return {"yes" if "yes" in best else best[0]: ONE}

    def _cut(self, known: World) -> World:
        """What is taken as it stands: decisions, and what only follows from what is seen, too."""
        return {
            n: s for n, s in known.items()
            if n in self.file["decisions"]
            or all(m in known for p in self.parents(n) for m in self.nodes_of(p))
        }  # fmt: skip

    def _reached(self, seen: World) -> Fraction:
        done = self._cut(seen)
        return sum((p for _, p in self.worlds(self.upstream([*seen], done), done, seen)), ZERO)

    def _worth(self, known: World, decision: str) -> Fraction:
        """What all utilities come to, times the probability of what is seen."""
        total = ZERO
        names = [n for u in self.file["utilities"].values() for n in u["of"]]
        done = self._cut(known)
        for world, p in self.worlds(self.upstream([*names, *known], done), done, known):
            total += p * self._paid(world)
        return total

    def _paid(self, world: World) -> Fraction:
        each = self.file["utilities"].values()
        rows = (next(r for r in u["rows"] if self.fits(r.get("when", {}), world)) for u in each)
        return sum((self.cell(row["value"], world) for row in rows), ZERO)

    def policies(self) -> Iterator[dict[Any, Any]]:
        """Every policy that there is: an option for each decision and all that may be seen."""
        keys = []
        for name in self.file["decisions"]:
            seen = [n for p in self.parents(name) for n in self.nodes_of(p)]
            for case in product(*(self.states(n) for n in seen)):
                keys.append((name, *zip(seen, case, strict=True)))
        for options in product(*(self.states(key[0]) for key in keys)):
            yield {key: {option: ONE} for key, option in zip(keys, options, strict=True)}

    def value(self, policy: Mapping[Any, Any]) -> Fraction:
        """What a policy is worth, on every world."""
        taking = replace(self, taken=dict(policy))
        names = [n for u in self.file["utilities"].values() for n in u["of"]]
        worlds = taking.worlds(taking.upstream(names, {}), {}, {})
        return sum((p * taking._paid(world) for world, p in worlds), ZERO)

    def _numbers_of(self, name: str, cpd: Any, world: World) -> list[Fraction]:
        return [self.number(parent, world) for parent in cpd.get("of", self.parents(name))]

    def _state(self, name: str, number: Fraction) -> dict[str, Fraction]:
        """The state that is called by a number; what is below all of them is the lowest."""
        states = {Fraction(s): s for s in self.states(name)}
        return {states[max(number, min(states))]: ONE}

    def kind_count(self, name: str, cpd: Any, world: World) -> dict[str, Fraction]:
        return self._state(name, Fraction(sum(yes for _, yes in self.inputs(name, world))))

    def kind_sum(self, name: str, cpd: Any, world: World) -> dict[str, Fraction]:
        return self._state(name, sum(self._numbers_of(name, cpd, world), ZERO))

    def kind_minus(self, name: str, cpd: Any, world: World) -> dict[str, Fraction]:
        whole, *others = self._numbers_of(name, cpd, world)
        return self._state(name, whole - sum(others, ZERO))

    def kind_max(self, name: str, cpd: Any, world: World) -> dict[str, Fraction]:
        return self._state(name, max(self._numbers_of(name, cpd, world)))

    def kind_binomial(self, name: str, cpd: Any, world: World) -> list[Fraction]:
        n, p = int(self.cell(cpd["n"], world)), self.cell(cpd["p"], world)
        return [comb(n, k) * p**k * (ONE - p) ** (n - k) for k in range(n + 1)]

    def kind_geometric(self, name: str, cpd: Any, world: World) -> Any:
        last = len(self.states(name)) - 1
        budget = int(self.cell(cpd["budget"], world)) if "budget" in cpd else last
        if "p" in cpd:
            p = self.cell(cpd["p"], world)
            first = [p * (ONE - p) ** (k - 1) for k in range(1, budget + 1)]
        else:
            among = int(self.cell(cpd["among"], world))
            first = [Fraction(1, among)] * min(budget, among)
        if self.states(name) == ["no", "yes"]:
            return sum(first, ZERO)
        return [ONE - sum(first, ZERO), *first]

    def kind_poisson(self, name: str, cpd: Any, world: World) -> list[Fraction]:
        mean, last = self.cell(cpd["mean"], world), len(self.states(name)) - 1
        with localcontext() as digits:
            digits.prec = 50
            none = Fraction((Decimal(-mean.numerator) / Decimal(mean.denominator)).exp())
        law = [none * mean**k / factorial(k) for k in range(last)]
        return [*law, ONE - sum(law, ZERO)]

    def kind_ranked(self, name: str, cpd: Any, world: World) -> Fraction:
        score = size = ZERO
        for parent, cell in cpd["weights"].items():
            weight = self.cell(cell, world)
            if parent in self.groups:
                rank = self.number(parent, world) / len(self.groups[parent]["members"])
            else:
                place, count = self._place(parent, world)
                rank = Fraction(place, max(count - 1, 1))
            score += abs(weight) * (ONE - rank if weight < 0 else rank)
            size += abs(weight)
        levels = [self.cell(c, world) for c in cpd["p"]]
        at = score / size * (len(levels) - 1)
        low = min(int(at), len(levels) - 2)
        return levels[low] + (at - low) * (levels[low + 1] - levels[low])

    def kind_measured(self, name: str, cpd: Any, world: World) -> list[Fraction]:
        column = (cpd.get("p") or cpd["counts"])[1:]
        value = self._at(
            self.columns_of(column), self.file["subject"][column].get("per", []), world
        )
        prior = exactly(cpd.get("prior", 0.5)) if "counts" in cpd else ZERO
        counts = [exactly(x) + prior for x in value]
        return [c / sum(counts) for c in counts]

    def kind_noisy_max(self, name: str, cpd: Any, world: World) -> list[Fraction]:
        states = self.states(name)
        at_most = [ONE] * len(states)
        for row in cpd["rows"]:
            if self.fits(row.get("when", {}), world):
                brought = self.kind_rows(name, {"rows": [{"p": row["p"]}]}, world)
                total = ZERO
                for i, state in enumerate(states):
                    total += brought.get(state, ZERO)
                    at_most[i] *= total
        return [b - a for a, b in pairwise([ZERO, *at_most])]

    def kind_hypergeometric_leak(self, name: str, cpd: Any, world: World) -> list[Fraction]:
        records, leaked, size = (
            int(self.cell(cpd[k], world)) for k in ("records", "leaked", "class_size")
        )
        ways = comb(records, leaked)
        possible = range(min(size, leaked) + 1)
        return [Fraction(comb(size, h) * comb(records - size, leaked - h), ways) for h in possible]

    # -- questions ---------------------------------------------------------------------------

    def worlds(
        self, order: Sequence[str], cut: Mapping[str, str], seen: Mapping[str, Any]
    ) -> Iterator[tuple[World, Fraction]]:
        """Every world that agrees with the evidence, with its probability."""
        world: World = {}

        def go(i: int, p: Fraction) -> Iterator[tuple[World, Fraction]]:
            if i == len(order):
                yield world, p
                return
            name = order[i]
            chances = {cut[name]: ONE} if name in cut else self.chances(name, world)
            for state, q in chances.items():
                told = seen.get(name, state)
                weight = exactly(told.get(state, 0)) if isinstance(told, Mapping) else told == state
                if q and weight:
                    world[name] = state
                    yield from go(i + 1, p * q * weight)
                    del world[name]

        yield from go(0, ONE)

    def ask(
        self, target: Mapping[str, str], given: Mapping[str, Any] | None = None,
        do: Mapping[str, str] | None = None,
    ) -> tuple[Fraction, Fraction]:  # fmt: skip
        """P(target and given | do) and P(given | do); soft evidence is a mapping of chances."""
        given, do = given or {}, do or {}
        order = self.upstream([*target, *given], do)
        joint = evidence = ZERO
        for world, p in self.worlds(order, do, given):
            evidence += p
            if all(world[n] == s for n, s in target.items()):
                joint += p
        return joint, evidence

    def mean(
        self,
        of: Callable[[World], Any],
        names: Sequence[str],
        given: Sequence[str] = (),
        holds: Callable[[World], Any] = lambda world: True,
        do: Mapping[str, str] = {},
    ) -> tuple[Fraction, Fraction]:
        """The sum of a number over the worlds in which something holds, and their probability.

        A truth is a number as well: 1 where it holds; what holds may be a likelihood.
        """
        total = evidence = ZERO
        for world, p in self.worlds(self.upstream([*names, *given], do), do, {}):
            if weight := p * Fraction(holds(world)):
                evidence += weight
                total += weight * Fraction(of(world))
        return total, evidence


def read_target(words: str) -> dict[str, str]:
    """The target of a question as it is written: node=state, several with commas."""
    parts = re.split(r"\s*,\s*", words.strip())
    return {n.strip(): s.strip() for n, _, s in (part.partition("=") for part in parts)}


def cells(model: Model, order: Sequence[str]) -> int:
    """How many worlds there are at most."""
    return prod(len(model.states(n)) for n in order)
