"""One random file with all means, asked every way there is and by a second reading of its text."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from inside import inside

import reidbn as rb
from tests.random_events import Said, never
from tests.random_whole import Whole, random_whole, varied
from tests.yaml_oracle import Model, cells

MOST_WORLDS = 2_000
MOST_TRIED = 4_000  # policies times worlds
NEAR = 1e-12
IMPOSSIBLE = "impossible evidence, refused"
DRAWS = 2_000  # a right sample is called wrong once in a million files


@dataclass
class Case:
    """One file, on disk, and what it is asked."""

    rng: np.random.Generator
    writer: Whole
    words: str
    models: dict[str, str]
    path: Path
    attack: rb.Attack
    settings: dict[str, Any]

    def model(self, settings: dict[str, Any] | None = None) -> Model:
        """The second reading; what an integral says is taken as it is."""
        known = {n: self.attack.parameters[n].value for n in self.writer.studied
                 if n in self.attack.parameters}  # fmt: skip
        return Model.read(self.words, self.models, set=known | (settings or {}))


@dataclass
class Question:
    """A question as it is written, and what it means of a world."""

    target: str
    of: Any  # of a world: whether it holds, or the number that is meant
    given: dict[str, Any]
    weight: Any
    names: list[str]
    is_mean: bool = False

    @property
    def size(self) -> float:
        """A probability is 1 at most; a mean may be that of states up to nine."""
        return 9.0 if self.is_mean else 1.0

    def told(self, model: Model, do: dict[str, str]) -> tuple[Fraction, Fraction]:
        return model.mean(self.of, self.names, holds=self.weight, do=do)


def near(found: float, exact: Fraction, size: float = 1.0) -> None:
    assert abs(float(found) - float(exact)) <= NEAR * max(1.0, size), (float(found), float(exact))


def made(rng: np.random.Generator, folder: Path) -> Case:
    """A file, half of them a variant of another one, written to a folder."""
    file, writer = random_whole(rng)
    models = dict(writer.files)
    if rng.random() < 0.5:
        file, base = varied(rng, file)
        models["base"] = json.dumps(base, indent=1)
    words = json.dumps(file, indent=1)
    for name, text in models.items():
        (folder / f"{name}.yaml").write_text(text)
    path = folder / "whole.yaml"
    path.write_text(words)
    return Case(rng, writer, words, models, path, rb.load(path), {})


def asked(case: Case, model: Model) -> tuple[Question, dict[str, str]]:
    """A question that the product does not refuse as one about what can never be; by hand, too."""
    while True:
        question, do = drawn(case, model)
        what = f"expect {question.target}" if question.is_mean else question.target
        refused = ""
        try:
            inside(rb.ask).read_query(case.attack, what, question.given, do)
        except rb.UsageError as problem:
            refused = str(problem)
        if " can never be: " not in refused:
            return question, do
        assert never(model, refused), (refused, case.words)


def drawn(case: Case, model: Model) -> tuple[Question, dict[str, str]]:
    """A question on a few nodes and groups, and now and then an intervention."""
    rng, writer = case.rng, case.writer
    fixed = [n for n, s in writer.states.items() if isinstance(s, list)]
    names = [fixed[i] for i in rng.permutation(len(fixed))[:4]]
    do = {}
    if len(names) > 3 and writer.chance(0.25):
        name = names.pop()
        do = {name: writer.pick(writer.states[name])}
    names += [writer.pick(list(writer.groups))] if writer.groups and writer.chance() else []
    said = Said(rng, model, names)
    target, of = said.event()
    numbers = [n for n in names if n in writer.groups or all(
        s.isdecimal() or s in ("no", "yes") for s in writer.states[n])]  # fmt: skip
    is_mean = bool(numbers) and writer.chance(0.3)
    if is_mean:
        target = numbers[0]
        of = lambda world: model.number(target, world)  # noqa: E731
    given, weights = {}, []
    for _ in range(writer.whole(0, 2)):
        item, weight = evidence(said, model, [n for n in names if n not in given])
        given |= item
        weights.append(weight)
    nodes = [n for name in names for n in model.nodes_of(name)]
    return Question(target, of, given, lambda w: math.prod(f(w) for f in weights), nodes,
                    is_mean), do  # fmt: skip


def evidence(said: Said, model: Model, free: list[str]) -> tuple[dict[str, Any], Any]:
    """A state, a report with likelihoods, an event, or how many of a group are known."""
    kind = said.pick(["state", "soft", "event", "group"])
    groups = [n for n in free if n in model.groups]
    nodes = [n for n in free if n not in model.groups]
    if kind == "group" and groups:
        most = len(model.groups[groups[0]]["members"])
        sign, limit = said.pick([">=", "<=", "<", ">"]), said.pick(range(most + 1))
        return {groups[0]: f"{sign}{limit}"}, said.compare(groups[0], sign, str(limit))
    if kind == "event" or not nodes:
        words, holds = said.event(1)
        state = said.pick(["yes", "yes", "no"])
        return {words: state}, lambda world: holds(world) is (state == "yes")
    name = nodes[0]
    if kind == "soft":
        seen = {s: said.pick([0, 0.25, 0.5, 1]) for s in model.states(name)}
        seen[said.pick(model.states(name))] = 0.75
        return {name: seen}, lambda world: Fraction(str(seen[world[name]]))
    state = said.pick(model.states(name))
    return {name: state}, lambda world: world[name] == state


def compare(rng: np.random.Generator, folder: Path, *, often: float = 1.0) -> Counter[str]:
    """Everything about one file; what was compared, counted."""
    case = made(rng, folder)
    try:
        return Checks(case, often).run()
    except Exception as problem:
        texts = "\n".join(f"--- {name}\n{text}" for name, text in case.models.items())
        problem.add_note(f"{case.words}\n{texts}\n{getattr(problem, 'about', '')}")
        raise


@dataclass
class Checks:
    """`often` is the share of files that also pass through the slower doors."""

    case: Case
    often: float

    def run(self) -> Counter[str]:
        seen = Counter(self.means())
        seen["files"] += 1
        slow = self.case.writer.chance(self.often)
        full = self.round_trip()
        for i in range(2):
            settings = self.settings() if i else {}
            model = self.case.model(settings)
            if settings and not model.may_be():
                self.refused(settings)
                seen["settings that break a condition, refused"] += 1
                continue
            question, do = asked(self.case, model)
            if cells(model, model.upstream(question.names, do)) > MOST_WORLDS:
                seen["too many worlds to enumerate, not asked"] += 1
                continue
            try:
                word = self.ask(question, do, settings, model)
                seen[word] += 1
                if word != IMPOSSIBLE and i == 0:
                    seen.update(self.engines(question, do, model))
                    same = [
                        float(self.answer(a, question, do, {})) for a in (self.case.attack, full)
                    ]
                    assert same[0] == same[1]
                    if slow:
                        seen.update(self.sampled(question, do))
                        seen.update(self.what_if(question, do))
            except Exception as problem:
                problem.about = (question, do, settings)
                raise
        if self.case.writer.decided:
            seen.update(self.decides())
        return seen

    def means(self) -> list[str]:
        """What stands in the file and those it stands on."""
        texts = [json.loads(t) for t in (self.case.words, *self.case.models.values())]
        found = {key for t in texts for key in t}
        words = json.dumps(texts)
        found |= {f"kind {k}" for k in re.findall(r'"kind": "([\w-]+)"', words)}
        for word in ("measured", "elicited", "per", "each", "over", "temperature", "with", "give"):
            found |= {f"{word}:"} if f'"{word}": ' in words else set()
        own = [g for t in texts for g in t.get("groups", {}).values()]
        found |= {"own stories"} if any(isinstance(g["members"], dict) for g in own) else set()
        return sorted(found)

    def settings(self) -> dict[str, Any]:
        writer = self.case.writer
        return {
            n: writer.whole(int(low), int(high)) if unit != "probability" else
            writer.pick([0.125, 0.25, 0.5, 0.7, 1])
            for n, (low, high, unit) in writer.moved.items()
            if n in self.case.attack.parameters and writer.chance(0.3)
        }  # fmt: skip

    def refused(self, settings: dict[str, Any]) -> None:
        try:
            rb.ask(self.case.attack, f"{next(iter(self.case.attack.nodes))}=yes", set=settings)
        except rb.ReidbnError:
            return
        raise AssertionError(f"{settings} break a condition, and are taken")

    def answer(self, attack: rb.Attack, q: Question, do: Any, settings: Any, **more: Any) -> Any:
        ask = rb.expect if q.is_mean else rb.ask
        return ask(attack, q.target, given=q.given, do=do, set=settings, **more)

    def ask(self, q: Question, do: Any, settings: Any, model: Model) -> str:
        total, seen = q.told(model, do)
        try:
            found = self.answer(self.case.attack, q, do, settings)
        except rb.ImpossibleEvidence:
            assert seen == 0
            return IMPOSSIBLE
        assert seen
        near(found, total / seen, q.size)
        near(found.evidence_probability, seen)
        return "means" if q.is_mean else "events"

    def engines(self, q: Question, do: Any, model: Model) -> list[str]:
        total, seen = q.told(model, do)
        for engine in ("pgmpy", "enumeration"):
            near(self.answer(self.case.attack, q, do, {}, engine=engine), total / seen, q.size)
        return ["asked of pgmpy and by enumeration"]

    def sampled(self, q: Question, do: Any) -> list[str]:
        words = f"expect {q.target}" if q.is_mean else q.target
        found = rb.crosscheck(self.case.attack, words, given=q.given, do=do, draws=DRAWS, seed=1)
        assert found.passed
        return ["cross-checked by sampling"]

    def what_if(self, q: Question, do: Any) -> list[str]:
        """Sweep, derivative, tornado and solve of one parameter, each asked again directly."""
        case, rng = self.case, self.case.rng
        free = [(n, *s) for n, s in case.writer.moved.items() if n in case.attack.parameters]
        for i in rng.permutation(len(free))[:6]:
            name, low, high, unit = free[i]
            again = Again(case, q, do, name)
            if again(low) != again(high):
                break
        else:
            return []
        tried = [low, high, *(round(float(x), 3) for x in rng.uniform(low, high, 3))]
        if unit != "probability":
            tried = [low, high, *range(low + 1, high)]
        answers = {x: a for x in tried if (a := again(x)) is not None}
        again.sweep(answers)
        if len(answers) < len(tried):
            return ["swept"]  # a condition or impossible evidence cuts the range
        return ["swept", *again.bar(answers)]

    def round_trip(self) -> rb.Attack:
        """Saved as it was written, and in full; both are equal, and the words are sound."""
        attack, folder = self.case.attack, self.case.path.parent
        rb.save(attack, folder / "again.yaml")
        again = rb.load(folder / "again.yaml")
        full = rb.loads(rb.dumps(attack, expanded=True))
        assert again == attack == full
        assert again.fingerprint == attack.fingerprint == full.fingerprint
        return full

    def decides(self) -> list[str]:
        """The attacker's policy is worth what the best of all policies is worth."""
        model = self.case.model()
        names = [n for u in model.file["utilities"].values() for n in u["of"]]
        worlds = cells(model, model.upstream(names, {}))
        found = rb.decide(self.case.attack, f"{self.case.writer.decided[0]}=yes"
                          if model.states(self.case.writer.decided[0])[-1] == "yes"
                          else f"{self.case.writer.decided[0]}=enter")  # fmt: skip
        assert found.method == "exact"
        hot = any(float(model.cell(d.get("temperature", 0), {})) > 0
                  for d in model.file["decisions"].values())  # fmt: skip
        tries = math.prod(
            len(model.states(d)) ** math.prod(len(model.states(n)) for p in model.parents(d)
                                              for n in model.nodes_of(p))
            for d in model.file["decisions"]
        )  # fmt: skip
        if hot or tries * worlds > MOST_TRIED:
            return ["attackers who decide"]
        best = max(model.value(policy) for policy in model.policies())
        near(found.value, best, 100)
        return ["attackers who decide", "best of every policy"]


@dataclass
class Again:
    """One question at one value of one parameter, asked directly of the second reading."""

    case: Case
    question: Question
    do: Any
    name: str

    def __call__(self, x: Any) -> Fraction | None:
        model = self.case.model({self.name: x})
        if not model.may_be():
            return None
        total, seen = self.question.told(model, self.do)
        return total / seen if seen else None

    @property
    def words(self) -> str:
        return f"expect {self.question.target}" if self.question.is_mean else self.question.target

    @property
    def how(self) -> dict[str, Any]:
        return {"given": self.question.given, "do": self.do}

    def sweep(self, answers: dict[Any, Fraction]) -> None:
        found = rb.sweep(self.case.attack, self.words, {self.name: [*answers]}, **self.how)
        told = found["mean" if self.question.is_mean else "probability"]
        for x, p in zip(answers, told, strict=True):
            near(p, answers[x], self.question.size)

    def bar(self, answers: dict[Any, Fraction]) -> list[str]:
        """The first two of the answers are those at the ends of the range."""
        (low, at_low), (high, at_high), *inner = answers.items()
        bar = rb.tornado(self.case.attack, self.words, over=[self.name], **self.how)[self.name]
        assert (bar.low, bar.high) == (low, high)
        near(bar.at_low, at_low, self.question.size)
        near(bar.at_high, at_high, self.question.size)
        sure = bar.is_proven and bar.method.startswith("exact")
        if sure:
            assert all(bar.lowest - 1e-11 <= a <= bar.highest + 1e-11 for a in answers.values())
        for at, told in ((bar.lowest_at, bar.lowest), (bar.highest_at, bar.highest)):
            there = self(at)
            assert there is None or abs(told - float(there)) <= 1e-9, bar
        seen = ["tornado", f"what-if {bar.method.split()[0]}"]
        if bar.unit != "probability":
            return seen
        if sure and not self.case.writer.decided:
            seen += self.slope()
        if bar.lowest + 1e-6 < inner[0][1] < bar.highest - 1e-6:
            seen += self.solve(*inner[0], sure=sure)
        return seen

    def slope(self) -> list[str]:
        """A derivative against differences in rationals, where they can be taken."""
        at = Fraction(str(self.case.attack.parameters[self.name].value))
        steps = []
        for h in (Fraction(1, 200), Fraction(1, 400)):
            up, down = (self(x) if 0 <= x <= 1 else None for x in (at + h, at - h))
            if up is None or down is None:
                return []
            steps.append((up - down) / (2 * h))
        found = rb.whatif.derivative(self.case.attack, self.words, self.name, **self.how)
        exact = float((4 * steps[1] - steps[0]) / 3)
        assert abs(found - exact) <= 1e-5 * max(1.0, abs(exact)), (self.name, found, exact)
        return ["derivative"]

    def solve(self, x: float, aim: Fraction, *, sure: bool) -> list[str]:
        """Where the answer is as it is at x: there, and wherever else it is said to be."""
        found = rb.solve(self.case.attack, self.words, self.name, float(aim), **self.how)
        for value in found.values:
            there = self(value)
            assert there is None or not sure or abs(float(there - aim)) <= 1e-9, (x, found)
        met = [abs(value - x) <= 1e-6 for value in found.values]
        met += [a - 1e-6 <= x <= b + 1e-6 for a, b in found.undecided]
        assert not sure or any(met), (x, found)
        return ["solved for a value"]
