"""The cascade through a family a second time: the model file read as text, and the attack from the
table and the pedigrees as they are written.

Nothing of reidbn is imported.  `Story` unrolls the file's plates and goes through every world of
coins, told apart by what is still needed; `Table` reads the cells of a data frame itself, weighs
every candidate truth by truth, and follows whom records lead to.
"""

from __future__ import annotations

import re
from itertools import product
from math import exp, prod
from typing import Any

import yaml

# -- the model file --------------------------------------------------------------------------------


class Story:
    """A model file with plates, coins, noisy-or, `and`, `or`, `count`; yes and no are 1 and 0."""

    def __init__(self, text: str) -> None:
        read = yaml.BaseLoader(text).get_single_data()  # every word as it is written
        self.plates = {
            name: [dict(zip(("from", "to"), v.split(">"), strict=True)) if ">" in v else v
                   for v in values]
            for name, values in read["repeat"].items()
        }  # fmt: skip
        self.nodes = dict(self._unrolled(read["nodes"]))
        self.questions = dict(self._unrolled(read["questions"]))
        self.values = {n: float(p["value"]) for n, p in read["parameters"].items()}

    def _unrolled(self, written: dict[str, Any]) -> Any:
        for name, body in written.items():
            used = {w.split(".")[0] for w in re.findall(r"\[([\w.]+)\]", name)}
            for chosen in product(*(self.plates[plate] for plate in sorted(used))):
                of = dict(zip(sorted(used), chosen, strict=True))
                yield self._filled(name, of), self._filled(body, of)

    def _filled(self, what: Any, of: dict[str, Any]) -> Any:
        if isinstance(what, dict):
            return {self._filled(k, of): self._filled(v, of) for k, v in what.items()}
        if isinstance(what, list):
            return [self._filled(v, of) for v in what]

        def value(found: re.Match[str]) -> str:
            plate, _, end = found[1].partition(".")
            return str(of[plate][end] if end else of[plate])

        return re.sub(r"\[([\w.]+)\]", value, what)

    def parents(self, name: str) -> list[str]:
        """With `*` for any word."""
        found: list[str] = []
        for written in self.nodes[name].get("parents", []):
            pattern = re.compile(re.escape(written).replace(r"\*", r".+"))
            found += (
                [n for n in self.nodes if pattern.fullmatch(n)] if "*" in written else [written]
            )
        return found

    def law(
        self, wanted: list[str], columns: dict[str, float], done: dict[str, int], **values: float
    ) -> dict[tuple[int, ...], float]:
        """The joint law of some nodes: every world, told apart by what is still to be asked for."""
        numbers = {f"${n}": v for n, v in (self.values | values).items()}
        numbers |= {f"@{n}": v for n, v in columns.items()}
        order: list[str] = []

        def visit(name: str) -> None:
            if name not in order:
                for parent in () if name in done else self.parents(name):
                    visit(parent)
                if name not in order:
                    order.append(name)

        for name in wanted:
            visit(name)
        last = {}  # the place up to which each is needed
        for i, one in enumerate(order):
            last |= dict.fromkeys([one, *([] if one in done else self.parents(one))], i)
        last |= dict.fromkeys(wanted, len(order))
        worlds: dict[tuple[tuple[str, int], ...], float] = {(): 1.0}
        for i, name in enumerate(order):
            after: dict[tuple[tuple[str, int], ...], float] = {}
            for world, weight in worlds.items():
                states = dict(world)
                law = {done[name]: 1.0} if name in done else self._given(name, states, numbers)
                for state, chance in law.items():
                    if chance:
                        key = tuple(p for p in (*world, (name, state)) if last[p[0]] > i)
                        after[key] = after.get(key, 0.0) + weight * chance
            worlds = after
        found: dict[tuple[int, ...], float] = {}
        for world, weight in worlds.items():
            key = tuple(dict(world)[name] for name in wanted)
            found[key] = found.get(key, 0.0) + weight
        return found

    def _given(
        self, name: str, states: dict[str, int], numbers: dict[str, float]
    ) -> dict[int, float]:
        def number(said: str) -> float:
            return numbers[said] if said[0] in "$@" else float(said)

        node, above = self.nodes[name], self.parents(name)
        for row in node.get("rows", ()):
            when = row.get("when", {})
            if all(states[n] == (value == "yes") for n, value in when.items()):
                told = {s == "yes": v for s, v in row["p"].items()}
                p = {s: number(v) for s, v in told.items() if v != "rest"}
                yes = p.get(True, 1 - p.get(False, 0.0))
                return {1: yes, 0: 1 - yes}
        cpd = node["cpd"]
        many = sum(states[n] for n in above)
        if cpd["kind"] == "count":
            return {many: 1.0}
        if cpd["kind"] in ("and", "or"):
            return {int(many == len(above) if cpd["kind"] == "and" else many > 0): 1.0}
        if cpd["kind"] == "noisy-or":
            none = prod(1 - number(cpd["weights"][n]) for n in above if states[n])
            return {1: 1 - none, 0: none}
        assert cpd["kind"] == "probability", cpd
        p = number(cpd["p"]) * all(states[n] for n in cpd.get("only_if", ()))
        return {1: p, 0: 1 - p}


# -- the table and its pedigrees -------------------------------------------------------------------

OLDEST = 110
GRAND = ("paternal grandfather", "paternal grandmother", "maternal grandfather",
         "maternal grandmother")  # fmt: skip
ROLES = ("father", "mother", *GRAND, "sibling", "child", "son's child", "daughter's child")


def same_person(role: str, sex: str | None) -> list[tuple[str, str]]:
    """Of whom both records tell: what the first calls them, and what the relative does."""
    if role == "father":
        return [("father", "self"), (GRAND[0], "father"), (GRAND[1], "mother")]
    if role == "mother":
        return [("mother", "self"), (GRAND[2], "father"), (GRAND[3], "mother")]
    if role in GRAND:
        return [(role, "self")]
    if role == "sibling":
        both = [(one, one) for one in ("father", "mother", *GRAND)]
        return [*both, ("self", "siblings"), ("siblings", "self")]
    if sex is None:
        return []
    me = "father" if sex == "male" else "mother"
    if role == "child":
        line = "paternal" if sex == "male" else "maternal"
        return [("self", me), ("father", f"{line} grandfather"), ("mother", f"{line} grandmother")]
    return [("self", ("paternal" if role[0] == "s" else "maternal") + f" grand{me}")]


class Table:
    """Cells of a data frame: what each record tells of whom; None is not told."""

    def __init__(
        self, table: Any, features: Any, completeness: float = 0.9, false: float = 0.01,
        jitter: float = 2.0, years: int = 2,
    ) -> None:  # fmt: skip
        self.completeness, self.false = completeness, false
        self.jitter, self.years = jitter, years
        self.people = len(table)
        self.sex: list[str | None] = [None] * self.people
        self.born: list[int | None] = [None] * self.people
        self.told: dict[tuple[str, str], list[tuple[str, int | None] | None]] = {}
        for row in features.to_dict("records"):
            cells = table[row["feature"]].tolist()
            cells = [None if cell is None or cell != cell else cell for cell in cells]
            if row["field"] == "sex":
                self.sex = cells
            elif row["field"] == "birth year":
                self.born = [None if cell is None else int(cell) for cell in cells]
            else:
                here = self.told.setdefault((row["relation"], row["disease"]), [None] * len(cells))
                for i, cell in enumerate(cells):
                    if cell is None or here[i] == ("no", None):
                        continue
                    if row["field"] == "has":
                        here[i] = ("no", None) if cell == "no" else here[i] or ("yes", None)
                    else:
                        here[i] = ("yes", round(float(cell)))
        self.relations = list(dict.fromkeys(relation for relation, _ in self.told))
        self.diseases = list(dict.fromkeys(disease for _, disease in self.told))
        self._ratios: dict[Any, float] = {}
        own = [c[1] for d in self.diseases for c in self.told.get(("self", d), ()) if c and c[1]]
        own += [0 for d in self.diseases for c in self.told.get(("self", d), ())
                if c and c[1] == 0]  # fmt: skip
        law = [1 / (OLDEST + 1)] * (OLDEST + 1)
        for age in own:
            kernel = [exp(-0.5 * ((y - age) / 3) ** 2) for y in range(OLDEST + 1)]
            law = [p + k / sum(kernel) for p, k in zip(law, kernel, strict=True)]
        self.ages = [p / sum(law) for p in law]

    # -- how records tell ------------------------------------------------------------------------

    def share(self, relation: str, disease: str) -> float:
        """Of whom records of a relation tell: the share who had it, set right for the channel."""
        cells = self.told[relation, disease]
        yes = sum(c is not None and c[0] == "yes" for c in cells)
        no = sum(c is not None and c[0] == "no" for c in cells)
        assert no, "this oracle reads tables that say no where it is no"
        found = (yes + 0.5) / (yes + no + 1)
        if relation != "self":
            found = (found - self.false) / (self.completeness - self.false)
        return min(max(found, 1e-4), 0.95)

    def says(self, relation: str, about: str, disease: str, cell: Any) -> list[float]:
        """P(what is told | the truth of the person meant), for never ill and for each age."""
        every = [c for d in self.diseases for c in self.told[relation, d] if c and c[0] == "yes"]
        aged = (sum(c[1] is not None for c in every) + 0.5) / (len(every) + 1)
        own = relation == "self"
        complete, false = (1.0, 0.0) if own else (self.completeness, self.false)
        blur = 0.0 if own else self.jitter
        word, age = cell

        def of(chance: float, law: float) -> float:
            if word == "no":
                return 1 - chance
            return chance * (1 - aged if age is None else aged * law)

        def near(truth: int) -> float:
            if age is None or not blur:
                return float(age == truth)
            law = [exp(-0.5 * ((y - truth) / blur) ** 2) for y in range(OLDEST + 1)]
            return law[age] / sum(law)

        anybodys = 0.0 if age is None else self.ages[age]
        alone = [of(false, anybodys), *(of(complete, near(y)) for y in range(OLDEST + 1))]
        if relation != "siblings" or about != "self":
            return alone
        another = self.share("siblings", disease) / 2
        told = 0.0 if word == "no" else of(1.0, anybodys)
        return [p * (1 - another) + another * told for p in alone]

    def ratio(self, one: str, its: str, disease: str, a: Any, b: Any) -> float:
        """P(both tell so of one person) over P(a) P(b), truth by truth."""
        key = one, its, disease, a, b
        if key not in self._ratios:
            about = "self" if "self" in (one, its) else one
            share = self.share("self" if one == "siblings" else one, disease)
            prior = [1 - share, *(share * p for p in self.ages)]
            first, other = self.says(one, about, disease, a), self.says(its, about, disease, b)
            both = sum(p * x * y for p, x, y in zip(prior, first, other, strict=True))
            pa = sum(p * x for p, x in zip(prior, first, strict=True))
            pb = sum(p * x for p, x in zip(prior, other, strict=True))
            self._ratios[key] = both / (pa * pb) if pa * pb else 1.0
        return self._ratios[key]

    # -- the attack ------------------------------------------------------------------------------

    def may_be(self, person: int, other: int, role: str) -> bool:
        """Sex and birth years allow it."""
        last = role.split(" ")[-1][-6:]
        if last in ("father", "mother"):
            wanted = "male" if last == "father" else "female"
            if self.sex[other] not in (wanted, None):
                return False
        one, two = self.born[person], self.born[other]
        if one is None or two is None:
            return True
        up = one - two
        if role == "sibling":
            return abs(up) <= 25
        if role in ("father", "mother"):
            return (15 <= up <= 60) if role == "father" else (12 <= up <= 55)
        if role in GRAND:
            return 28 <= up <= 110
        if role == "child":
            return (12 <= -up <= 55) if self.sex[person] == "female" else (15 <= -up <= 60)
        return 28 <= -up <= 110

    def search(self, person: int, role: str, rule: str, there: float) -> dict[str, Any]:
        """Evidence, whom the rule names with which chance, and whether one is in the table."""
        pairs = [(a, b) for a, b in same_person(role, self.sex[person])
                 if a in self.relations and b in self.relations]  # fmt: skip
        said = {(a, d): self.told[a, d][person] for a, _ in pairs for d in self.diseases
                if (a, d) in self.told}  # fmt: skip
        evidence = sum(c is not None and c[0] == "yes" for c in said.values())
        if not evidence:
            return {"evidence": 0, "chances": {}, "present": None}
        some = [v for v in range(self.people) if v != person and self.may_be(person, v, role)]
        if not some:
            return {"evidence": evidence, "chances": {}, "present": 0.0}
        if rule == "strict":
            fits = [v for v in some if self._all_found(person, v, pairs)]
            only = dict.fromkeys(fits if len(fits) == 1 else (), 1.0)
            return {"evidence": evidence, "chances": only, "present": float(bool(fits))}
        weight = {
            v: there / len(some)
            * prod(
                self.ratio(a, b, d, said[a, d], self.told[b, d][v])
                for a, b in pairs for d in self.diseases
                if said[a, d] is not None and self.told[b, d][v] is not None
            )
            for v in some
        }  # fmt: skip
        if role in ROLES[6:]:
            chances = {v: w / (1 - there / len(some) + w) for v, w in weight.items()}
            present = 1 - prod(1 - p for p in chances.values())
        else:
            whole = 1 - there + sum(weight.values())
            chances = {v: w / whole for v, w in weight.items()}
            present = sum(chances.values())
        return {"evidence": evidence, "chances": chances, "present": present}

    def _all_found(self, person: int, other: int, pairs: list[tuple[str, str]]) -> bool:
        for a, b in pairs:
            for d in self.diseases:
                told, theirs = self.told[a, d][person], self.told[b, d][other]
                if told is None or told[0] == "no":
                    continue
                if theirs is None or theirs[0] == "no":
                    return False
                if told[1] is not None and (
                    theirs[1] is None or abs(told[1] - theirs[1]) > self.years
                ):
                    return False
        return True

    def spread(self, start: int, rule: str, depth: int, there: float) -> dict[int, tuple[Any, ...]]:
        """Round after round: who is named, from whom, as what, in which round, how surely."""
        named: dict[int, tuple[Any, ...]] = {}
        last = [start]
        for step in range(1, depth + 1):
            now: list[int] = []
            for source in last:
                for role in ROLES:
                    chances = self.search(source, role, rule, there)["chances"]
                    for who in sorted(chances):
                        if chances[who] > 0.5 and who != start and who not in named:
                            named[who] = (source, role, step, chances[who])
                            now.append(who)
            last = now
        return named


def is_relative(truth: Any, source: int, who: int, role: str) -> bool:
    """Whether one row's person is such a relative of another's, by who is whose child."""
    of_row = {r: p for p, r in zip(truth["person"], truth["row"], strict=True) if r >= 0}
    dad = dict(zip(truth["person"], truth["father"], strict=True))
    mum = dict(zip(truth["person"], truth["mother"], strict=True))
    one, other = of_row[source], of_row[who]
    if role == "sibling":
        return one != other and (dad[one], mum[one]) == (dad[other], mum[other]) != (-1, -1)

    def above(person: int, role: str) -> Any:
        first, _, second = role.partition(" ")
        if not second:
            return (dad if first == "father" else mum).get(person)
        middle = (dad if first == "paternal" else mum).get(person)
        return (dad if second == "grandfather" else mum).get(middle)

    if role in ("father", "mother", *GRAND):
        return bool(above(one, role) == other)
    back = {"child": ("father", "mother"), "son's child": GRAND[:2], "daughter's child": GRAND[2:]}
    return any(above(other, up) == one for up in back[role])
