"""Random attacks with all that a page moves, random settings of them, and what the library says."""

from dataclasses import replace

import numpy as np

import reidbn as rb
from reidbn.attack import Attack, Group, GroupRow, Node, Number, Parameter, Question, SubjectColumn
from reidbn.cpds import (
    REST,
    AtMost,
    Binomial,
    Count,
    Function,
    Geometric,
    HypergeometricLeak,
    Mixture,
    NoisyAnd,
    NoisyOr,
    OneOver,
    Poisson,
    Probability,
    RestOfLeak,
    Row,
    Rows,
    Share,
    Sum,
    Unique,
)  # fmt: skip

YES_NO = ("no", "yes")
CHANCES = ("p_0", "p_1", "p_2", "twice")


def linear(p_0, p_1):
    return 0.25 * p_0 + 0.5 * p_1 * (1 - p_0)


def step(p_2):
    return np.where(np.asarray(p_2) > 0.371, 0.8, 0.05)


def _chance(rng):
    return f"${rng.choice(CHANCES)}" if rng.random() < 0.7 else float(rng.choice([0, 0.2, 0.9, 1]))


def _gate(rng, parents):
    weights = {p: _chance(rng) for p in parents}
    return [rb.And(), rb.Or(), rb.Threshold(int(rng.integers(1, len(parents) + 1))),
            NoisyOr(weights, leak=_chance(rng)), NoisyAnd(weights, leak=_chance(rng)),
            Probability(_chance(rng), tuple(parents[:1]))][rng.integers(6)]  # fmt: skip


def _rows(rng, parent):
    cells = {"yes": _chance(rng), "no": REST}
    return Rows((Row(cells, {parent: "yes"}), Row({"no": _chance(rng), "yes": REST})))


def random_attack(rng):
    """A leak sized by a parameter, a group, functions, counts, and gates over all of them."""
    size, records = int(rng.integers(2, 7)), int(rng.integers(12, 40))
    nodes = [
        Node("leaked_class", "0..$alike", HypergeometricLeak("$records", "$leaked", "$alike")),
        Node("in_leak", YES_NO, Share("leaked_class", "$alike"), ("leaked_class",)),
        Node("picked", YES_NO, OneOver("leaked_class", ("in_leak",)), ("leaked_class", "in_leak")),
        Node("guess", YES_NO, OneOver("@size"), ("known",)),
        Node("alone", YES_NO, Unique("@size", _chance(rng)), ("known",)),
        Node("by_function", YES_NO, Function.of(linear if rng.random() < 0.5 else step)),
        Node("tries", "0..3", [
            Binomial(3, _chance(rng)), Poisson("$rate"),
            Mixture((_chance(rng), REST), (Binomial(3, "$p_0"), Binomial(2, "$p_1"))),
        ][rng.integers(3)]),
        Node("hit_at", "0..3", Geometric("$p_1", budget=2)),
        Node("tried_at", "0..$alike", Geometric(p=None, among="$records") if rng.random() < 0.5
             else Geometric(_chance(rng))),
        Node("done_by", "0..3", AtMost("tried_at", 2) if size < 3 else AtMost("tries", "$leaked"),
             ("tried_at",) if size < 3 else ("tries",)),
        Node("others_leaked", "0..3", RestOfLeak("$records", "$leaked", 3, ("$alike",),
             ("leaked_class",)), ("leaked_class",)),
    ]  # fmt: skip
    binary = ["in_leak", "picked", "guess", "alone", "by_function", "knows_0", "knows_1"]
    for i in range(int(rng.integers(2, 5))):
        parents = [*rng.permutation(binary)[: rng.integers(1, 4)]]
        cpd = _rows(rng, parents[0]) if rng.random() < 0.3 else _gate(rng, parents)
        nodes.append(Node(f"n{i}", YES_NO, cpd, tuple(parents)))
        binary.append(f"n{i}")
    some = tuple(map(str, rng.permutation(binary)[:3]))
    nodes += [Node("how_many", tuple("0123"), Count(), some),
              Node("total", tuple("0123456"), Sum(), ("how_many", "tries"))]  # fmt: skip
    members = tuple(f"knows_{i}" for i in range(int(rng.integers(2, 4))))
    known = tuple(_chance(rng) for _ in members)
    top = nodes[-3].name
    nodes = [replace(node, source="assumption") for node in nodes]
    return Attack(
        "random",
        parameters=[
            *(Parameter(f"p_{i}", float(rng.uniform(0.1, 0.9))) for i in range(3)),
            Parameter("alike", size, 1, 8, "people"),
            Parameter("leaked", int(rng.integers(0, records)), 0, 40, "records"),
            Parameter("records", records, 10, 40, "records"),
            Parameter("rate", 1.0, 0.0, 3.0, "per person"),
        ],
        numbers=[Number("twice", "1 - (1 - p_0) ^ 2 * max(p_1, 0.5)", "probability")],
        where=["leaked <= records", "alike + 3 <= records"],
        subject=[SubjectColumn("size", per="known", unit="records")],
        groups=[Group("known", members, (GroupRow(known),), source="assumption")],
        nodes=nodes,
        example={"size": sorted(rng.integers(1, 30, 1 << len(members)).tolist(), reverse=True)},
        questions=[
            Question("risk", f"{top}=yes"),
            Question("either", f"{top}=yes or picked=yes"),
            Question("mean", expect="total"),
            Question("others", expect="others_leaked"),
            Question("late", "tried_at>=1 and done_by>=1"),
            Question("many", "leaked_class>=2", {"in_leak": "yes"}),
            Question("soft", f"{top}=yes", {"alone": {"yes": 0.9, "no": 0.2}}),
        ],
    )


def random_case(rng, attack, held):
    """A question at a random setting, with something seen and something done."""
    values = {p["name"]: _value(rng, p) for p in held["parameters"]}
    sizes = {name: values[name] for name in attack.structural}
    names = [n["name"] for n in held["nodes"] if not n["helper"]]
    drawn = [str(n) for n in rng.permutation(names)]
    cuts = rng.choice([0, 0, 1, 2]), rng.choice([0, 0, 1])

    def states(of):
        return {n: str(rng.choice(attack.variable(n, sizes).states)) for n in of}

    return {
        "question": int(rng.integers(len(held["questions"]))),
        "set": values, "see": states(drawn[: cuts[0]]), "do": states(drawn[4 : 4 + cuts[1]]),
    }  # fmt: skip


def _value(rng, p):
    if p["frozen"] is not None:
        return p["value"]
    if p["stops"]:
        return float(rng.choice(p["stops"]))
    low, high = p["low"], p["high"]
    if p["whole"]:
        return int(rng.integers(int(low), int(min(high, low + rng.choice([10, 400, 10**6]))) + 1))
    return float(rng.choice([low, high, rng.uniform(low, high), rng.uniform(low, high)]))


def library(attack, held, case):
    """(value, P(evidence)) as the library says; None where it is impossible, or a refusal."""
    own = attack.questions[held["questions"][case["question"]]["name"]]
    target = f"expect {own.expect}" if own.expect else own.target
    try:
        answer = rb.ask(
            attack.replace(questions=()), target, given={**own.given, **case["see"]},
            do=case["do"], set=case["set"],
        )  # fmt: skip
    except rb.ImpossibleEvidence:
        return None
    except rb.ReidbnError as problem:
        return str(problem)
    value = answer.value if own.expect else answer.probability
    return float(value), float(answer.evidence_probability)
