"""An oracle for what-if answers: whole attacks multiplied out as polynomials with rational numbers.

Shares nothing with the package but the declared parts: it walks every case of every node and reads
the rows itself.  One parameter stays a letter, all others are numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

from reidbn.attack import Attack, Group, GroupRow, Node, Parameter
from reidbn.cpds import And, Mixture, NoisyOr, Or, Probability, Row, Rows

YES_NO = ("no", "yes")


@dataclass(frozen=True)
class Poly:
    """A polynomial with rational coefficients, lowest power first."""

    coefs: tuple[Fraction, ...]

    def __add__(self, other: Poly) -> Poly:
        n = max(len(self.coefs), len(other.coefs))
        a, b = ((*p.coefs, *[Fraction(0)] * (n - len(p.coefs))) for p in (self, other))
        return Poly(tuple(x + y for x, y in zip(a, b, strict=True)))

    def __sub__(self, other: Poly) -> Poly:
        return self + Poly(tuple(-c for c in other.coefs))

    def __mul__(self, other: Poly) -> Poly:
        out = [Fraction(0)] * (len(self.coefs) + len(other.coefs) - 1)
        for i, a in enumerate(self.coefs):
            for j, b in enumerate(other.coefs):
                out[i + j] += a * b
        return Poly(tuple(out))

    def __call__(self, x: Fraction) -> Fraction:
        return sum((c * x**i for i, c in enumerate(self.coefs)), Fraction(0))

    @property
    def slope(self) -> Poly:
        return Poly(tuple(i * c for i, c in enumerate(self.coefs))[1:] or (Fraction(0),))

    @property
    def degree(self) -> int:
        return max((i for i, c in enumerate(self.coefs) if c), default=0)


ZERO, ONE, LETTER = Poly((Fraction(0),)), Poly((Fraction(1),)), Poly((Fraction(0), Fraction(1)))


def constant(x: float) -> Poly:
    return Poly((Fraction(x),))


@dataclass
class Oracle:
    """P(targets, evidence) of an attack as a polynomial in one parameter."""

    attack: Attack
    letter: str
    values: dict[str, float]

    def cell(self, ref) -> Poly:
        if isinstance(ref, str) and ref.startswith("$"):
            name = ref[1:]
            return LETTER if name == self.letter else constant(self.values[name])
        return constant(ref)

    def yes_no(self, states, state, yes: Poly) -> Poly:
        return yes if state == "yes" else ONE - yes

    def entry(self, node: Node, cpd, state: str, case: dict[str, str]) -> Poly:
        """P(node = state | case), read from the declaration."""
        read = {Rows: self.row, Probability: self.coin, Mixture: self.mixture, NoisyOr: self.noisy,
                Or: self.gate, And: self.gate}  # fmt: skip
        return read[type(cpd)](node, cpd, state, case)

    def coin(self, node: Node, cpd: Probability, state: str, case: dict[str, str]) -> Poly:
        holds = all(case[p] == "yes" for p in cpd.only_if)
        return self.yes_no(node.states, state, self.cell(cpd.p) if holds else ZERO)

    def mixture(self, node: Node, cpd: Mixture, state: str, case: dict[str, str]) -> Poly:
        rest = ONE
        for w in cpd.weights:
            rest = rest if w == "rest" else rest - self.cell(w)
        total = ZERO
        for w, part in zip(cpd.weights, cpd.components, strict=True):
            weight = rest if w == "rest" else self.cell(w)
            total = total + weight * self.entry(node, part, state, case)
        return total

    def gate(self, node: Node, cpd: Or | And, state: str, case: dict[str, str]) -> Poly:
        inputs = [case[p] == "yes" for p in self.attack.parent_nodes(node)]
        happens = any(inputs) if isinstance(cpd, Or) else all(inputs)
        return self.yes_no(node.states, state, ONE if happens else ZERO)

    def noisy(self, node: Node, cpd: NoisyOr, state: str, case: dict[str, str]) -> Poly:
        none = ONE - self.cell(cpd.leak)
        for cause in self.attack.parent_nodes(node):
            if case[cause] == "yes":
                group = self.attack.group_of(cause)
                parent = group.name if group and group.name in node.parents else cause
                none = none * (ONE - self.cell(cpd.weight(parent)))
        return self.yes_no(node.states, state, ONE - none)

    def row(self, node: Node, cpd: Rows, state: str, case: dict[str, str]) -> Poly:
        for row in cpd.rows:
            wanted = {p: (w,) if isinstance(w, str) else w for p, w in row.when.items() if w != "*"}
            if all(case[p] in w for p, w in wanted.items()):
                cells = (
                    [row.p.get(s, 0.0) for s in node.states] if isinstance(row.p, dict) else row.p
                )
                known = [c for c in cells if c != "rest"]
                cell = cells[node.states.index(state)]
                if cell != "rest":
                    return self.cell(cell)
                rest = ONE
                for c in known:
                    rest = rest - self.cell(c)
                return rest
        raise AssertionError("no row holds")

    def joint(self, states: dict[str, str], do: dict[str, str] | None = None) -> Poly:
        """P(states) with the interventions made, summed over every case of the other nodes."""
        do = do or {}
        names = list(self.attack.all_nodes)
        choices = [
            [do[n]] if n in do else [states[n]] if n in states else self.attack.all_nodes[n].states
            for n in names
        ]
        if any(do[n] != states[n] for n in do if n in states):
            return ZERO
        total = ZERO
        for combination in product(*choices):
            case = dict(zip(names, combination, strict=True))
            term = ONE
            for name in names:
                if name not in do:
                    node = self.attack.all_nodes[name]
                    term = term * self.entry(node, node.cpd, case[name], case)
                    if not any(term.coefs):
                        break
            total = total + term
        return total


REFS = st.sampled_from(["$p", "$p", "$q", 0.0, 0.2, 0.7, 1.0])


@st.composite
def tied_cpds(draw, parents: list[str]):
    """A coin, rows, a mixture, or a gate over the parents."""
    kinds = ["coin", "rows", "mixture"] + (["or", "and", "noisy"] if parents else [])
    kind = draw(st.sampled_from(kinds))
    if kind == "coin":
        return Probability(draw(REFS), tuple(parents[: draw(st.integers(0, 1))]))
    if kind == "mixture":
        return Mixture((draw(REFS), "rest"), (Probability(draw(REFS)), Probability(draw(REFS))))
    if kind == "rows":
        cases = [{p: s} for p in parents[:1] for s in YES_NO] or [{}]
        cells = st.tuples(st.just("rest"), REFS) | st.tuples(REFS, st.just("rest"))
        return Rows(tuple(Row(draw(cells), case) for case in cases))
    if kind == "noisy":
        return NoisyOr({p: draw(REFS) for p in parents}, draw(REFS))
    return Or() if kind == "or" else And()


@st.composite
def tied_attacks(draw):
    """Random attacks of coins, rows, gates, mixtures and a group that share parameters."""
    values = st.sampled_from([0.0, 0.25, 0.3, 0.5, 0.9, 1.0])
    parameters = [Parameter(name, draw(values), source="made up") for name in ("p", "q")]
    members = tuple(f"m{j}" for j in range(draw(st.integers(0, 3))))
    rows = (GroupRow(draw(REFS)),)
    groups = [Group("g", members, rows, source="made up")] if members else []
    nodes: list[Node] = []
    for i in range(draw(st.integers(2, 4))):
        known = [n.name for n in nodes]
        parents = draw(st.lists(st.sampled_from(known), max_size=2, unique=True)) if known else []
        cpd = draw(tied_cpds(parents))
        if groups and draw(st.booleans()):
            parents = [*parents, "g"]
            cpd = NoisyOr({p: draw(REFS) for p in parents}, draw(REFS))
        nodes.append(Node(f"n{i}", YES_NO, cpd, tuple(parents), source="made up"))
    used = {r[1:] for n in nodes for r in n.cpd.references() if r.startswith("$")}
    used |= {row.p[1:] for g in groups for row in g.rows if isinstance(row.p, str)}
    for name in sorted({"p", "q"} - used):
        nodes.append(Node(f"uses_{name}", YES_NO, Probability(f"${name}"), source="made up"))
    return Attack("tied", parameters=parameters, nodes=nodes, groups=groups)


@st.composite
def tied_questions(draw):
    """A tied attack, a target, up to two pieces of evidence, and perhaps an intervention."""
    attack = draw(tied_attacks())
    order = draw(st.permutations(list(attack.all_nodes)))
    target, rest = order[0], order[1:]
    evidence = rest[: draw(st.integers(0, 2))]
    given = {n: draw(st.sampled_from(YES_NO)) for n in evidence}
    left = rest[len(evidence) :]
    do = {left[0]: draw(st.sampled_from(YES_NO))} if left and draw(st.booleans()) else {}
    return attack, {target: "yes"}, given, do
