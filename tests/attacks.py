"""Attacks and subject data that several tests need: Xia's routes at any size, random attacks."""

import numpy as np
from hypothesis import strategies as st

import reidbn.cpds.logic as logic
from reidbn.attack.attack import Attack
from reidbn.attack.parameter import Parameter
from reidbn.attack.parts import Group, GroupRow, Node, SubjectColumn
from reidbn.cpds.match import OneOver, Probability, Unique
from reidbn.cpds.rows import Row, Rows

YES_NO = ("no", "yes")
SETTINGS = ("p_m", "p_fm", "p_cu", "p_c")


def routes(b: int) -> Attack:
    """The three routes of [Xia21] with b groups, each known with the subject's own probability."""
    return Attack(
        "routes",
        parameters=[Parameter(name, 0.5) for name in SETTINGS],
        subject=[
            SubjectColumn("class_size", per="known"),
            SubjectColumn("p_unique", per="known"),
            SubjectColumn("p_known", each="known"),
        ],
        groups=[Group("known", tuple(f"knows_{j}" for j in range(b)), (GroupRow("@p_known"),))],
        nodes=[
            Node("unique", YES_NO, Unique("@class_size"), ("known",)),
            Node("unique_in_population", YES_NO, Unique("@class_size", "@p_unique"), ("known",)),
            Node("right_guess", YES_NO, OneOver("@class_size"), ("known",)),
            Node("member", YES_NO, Probability("$p_m")),
            Node(
                "prosecutor",
                YES_NO,
                Probability("$p_fm", ("member", "unique")),
                ("member", "unique"),
            ),
            Node(
                "journalist",
                YES_NO,
                Probability("$p_cu", ("unique_in_population",)),
                ("unique_in_population",),
            ),
            Node("claims", YES_NO, Probability("$p_c")),
            Node("marketer", YES_NO, logic.And(), ("right_guess", "claims")),
            Node("reidentified", YES_NO, logic.Or(), ("prosecutor", "journalist", "marketer")),
        ],
    )


def routes_subjects(count: int, b: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Made-up subjects: the more is known, the smaller the class."""
    weights = rng.random((count, b)) * 2 + 0.3
    bits = (np.arange(1 << b)[:, None] >> np.arange(b)) & 1
    sizes = np.maximum(1.0, np.floor(10_000 * np.exp(-12 / b * (weights @ bits.T))))
    return {
        "class_size": sizes,
        "p_unique": rng.random((count, 1 << b)),
        "p_known": rng.random((count, b)),
    }


def closed_form(
    subjects: dict[str, np.ndarray], p_m: float, p_fm: float, p_cu: float, p_c: float
) -> np.ndarray:
    """P(reidentified) from three expectations over the subsets: mathematics, section 2."""
    known = subjects["p_known"]
    bits = (np.arange(1 << known.shape[1])[:, None] >> np.arange(known.shape[1])) & 1
    weight = np.where(bits[None], known[:, None, :], 1 - known[:, None, :]).prod(axis=2)
    unique = subjects["class_size"] == 1
    u = (weight * unique).sum(axis=1)
    j = (weight * unique * subjects["p_unique"]).sum(axis=1)
    m = (weight / subjects["class_size"]).sum(axis=1)
    return 1 - ((1 - u) - p_c * (m - u) + (1 - p_m * p_fm) * (1 - p_c) * (u - p_cu * j))


@st.composite
def random_rows(draw, states: int, parents: list[tuple[str, tuple[str, ...]]]):
    """A table by labelled rows: numbers from a coarse grid, zeros included."""

    def one() -> tuple:
        weights = draw(st.lists(st.integers(0, 4), min_size=states, max_size=states))
        if sum(weights) == 0:
            weights[0] = 1
        cells = [w / sum(weights) for w in weights]
        largest = int(np.argmax(cells))
        cells[largest] = "rest"
        return tuple(cells)

    cases: list[dict[str, str]] = [{}]
    for name, names in parents:
        cases = [{**case, name: state} for case in cases for state in names]
    return Rows(tuple(Row(one(), case) for case in cases))


@st.composite
def random_attacks(draw, most_nodes: int = 6):
    """A random graph of up to six nodes, with a group of up to three members in half of them."""
    count = draw(st.integers(2, most_nodes))
    states_of: dict[str, tuple[str, ...]] = {}
    nodes: list[Node] = []
    groups: list[Group] = []
    subject: list[SubjectColumn] = []
    example: dict = {}
    group = None
    for i in range(count):
        name = f"n{i}"
        states = tuple("abc"[: draw(st.integers(2, 3))]) if draw(st.booleans()) else YES_NO
        earlier = sorted(states_of)
        parents = draw(
            st.lists(st.sampled_from(earlier), max_size=2, unique=True) if earlier else st.just([])
        )
        if group is not None and draw(st.booleans()):
            column = f"c{i}"
            subject.append(SubjectColumn(column, per="g"))
            size = 1 << len(group.members)
            example[column] = draw(
                st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=size, max_size=size)
            )
            states = YES_NO
            outside = [p for p in parents if p not in group.members and states_of[p] == YES_NO]
            parents = [*outside[:1], "g"]
            cpd = Probability(f"@{column}", tuple(outside[:1]))
        else:
            cpd = draw(random_rows(len(states), [(p, states_of[p]) for p in parents]))
        nodes.append(Node(name, states, cpd, tuple(parents), source="assumption"))
        states_of[name] = states
        if group is None and draw(st.booleans()):
            outside = draw(st.sampled_from([(), (name,)]))
            members = tuple(f"m{j}" for j in range(draw(st.integers(1, 3))))
            p = tuple(draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])) for _ in members)
            rows: tuple[GroupRow, ...] = (GroupRow(p),)
            if outside:
                rows = (GroupRow(p, {name: states[0]}), GroupRow(tuple(1 - q for q in p)))
            group = Group("g", members, rows, outside, source="assumption")
            groups.append(group)
            states_of |= dict.fromkeys(members, YES_NO)
    return Attack("random", nodes=nodes, groups=groups, subject=subject, example=example)
