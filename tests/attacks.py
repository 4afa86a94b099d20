"""Attacks and subject data that several tests need: Xia's routes at any size, random attacks."""

import numpy as np
from hypothesis import strategies as st

import reidbn as rb
from reidbn.attack import Attack, Group, GroupRow, Node, Parameter, SubjectColumn
from reidbn.cpds import OneOver, Probability, Row, Rows, Table, Unique

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
            Node("marketer", YES_NO, rb.And(), ("right_guess", "claims")),
            Node("reidentified", YES_NO, rb.Or(), ("prosecutor", "journalist", "marketer")),
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


GRAIN = [0.0, 0.2, 0.5, 0.7, 1.0]


@st.composite
def random_table(draw, states: int, rows: int):
    """A table written out in full: as many rows as the parents have configurations."""

    def row() -> tuple[float, ...]:
        weights = draw(st.lists(st.integers(0, 3), min_size=states, max_size=states))
        if not sum(weights):
            weights[0] = 1
        return tuple(w / sum(weights) for w in weights)

    return Table(tuple(row() for _ in range(rows)))


@st.composite
def random_gate(draw, parents: list[str], inputs: int):
    """A gate over parents of which `inputs` can be yes, the members of groups counted."""
    kind = draw(st.sampled_from(["and", "or", "threshold", "noisy-or", "noisy-and"]))
    if kind == "threshold":
        return rb.Threshold(draw(st.integers(1, inputs)))
    if kind in ("and", "or"):
        return rb.And() if kind == "and" else rb.Or()
    noisy = rb.NoisyOr if kind == "noisy-or" else rb.NoisyAnd
    weights = {p: draw(st.sampled_from(GRAIN)) for p in parents}
    return noisy(weights, leak=draw(st.sampled_from([0.0, 0.3])))


@st.composite
def random_group(draw, number: int, most: int, states_of: dict[str, tuple[str, ...]]):
    """A group of up to `most` members, which may depend on any earlier node: members, too."""
    name = f"g{number}"
    members = tuple(f"{name}m{j}" for j in range(draw(st.integers(1, most))))
    outside = draw(st.lists(st.sampled_from(sorted(states_of)), max_size=2, unique=True)
                   if states_of and draw(st.booleans()) else st.just([]))  # fmt: skip

    def chances() -> tuple[float, ...]:
        return tuple(draw(st.sampled_from(GRAIN)) for _ in members)

    rows = [GroupRow(chances(), {p: states_of[p][0]}) for p in outside]
    rows.append(GroupRow(chances()))
    return Group(name, members, tuple(rows), tuple(outside), source="assumption")


@st.composite
def random_attacks(draw, most_nodes: int = 6, most_groups: int = 3, most_members: int = 6):
    """A random graph of up to six nodes and three groups of up to six members in all.

    Groups may depend on nodes and on members of other groups; a node may depend on several groups,
    and on members of one group beside another group as a whole; tables hold zeros and ones.
    """
    states_of: dict[str, tuple[str, ...]] = {}
    nodes: list[Node] = []
    groups: dict[str, Group] = {}
    subject: list[SubjectColumn] = []
    example: dict = {}
    rooms = draw(st.integers(0, most_groups))
    left = most_members
    plan = draw(st.permutations(["group"] * rooms + ["node"] * draw(st.integers(2, most_nodes))))
    for i, what in enumerate([*plan, "node"]):
        if what == "group":
            if left:
                group = draw(random_group(i, min(3, left), states_of))
                left -= len(group.members)
                groups[group.name] = group
                states_of |= dict.fromkeys(group.members, YES_NO)
            continue
        name = f"n{i}"
        known = draw(st.lists(st.sampled_from(sorted(groups)), max_size=3, unique=True)
                     if groups else st.just([]))  # fmt: skip
        if sum(len(groups[g].members) for g in known) > 5:
            known = known[:2]
        inside = {m for g in known for m in groups[g].members}
        free = sorted(set(states_of) - inside)
        plain = draw(st.lists(st.sampled_from(free), max_size=2 if len(known) < 2 else 1,
                              unique=True) if free else st.just([]))  # fmt: skip
        parents = draw(st.permutations([*plain, *known]))
        yes_no = all(states_of[p] == YES_NO for p in plain)
        inputs = len(plain) + len(inside)
        states = YES_NO
        if len(known) == 1 and draw(st.booleans()):
            column, size = f"c{i}", 1 << len(groups[known[0]].members)
            subject.append(SubjectColumn(column, per=known[0]))
            example[column] = draw(
                st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=size, max_size=size)
            )
            cpd = Probability(f"@{column}", tuple(p for p in plain if states_of[p] == YES_NO))
        elif parents and yes_no and draw(st.booleans()):
            cpd = draw(random_gate(parents, inputs))
        elif known:
            rows = 1 << len(inside)
            for p in plain:
                rows *= len(states_of[p])
            cpd = draw(random_table(2, rows))
        else:
            states = tuple("abc"[: draw(st.integers(2, 3))]) if draw(st.booleans()) else YES_NO
            cpd = draw(random_rows(len(states), [(p, states_of[p]) for p in parents]))
        nodes.append(Node(name, states, cpd, tuple(parents), source="assumption"))
        states_of[name] = states
    return Attack("random", nodes=nodes, groups=groups.values(), subject=subject, example=example)


@st.composite
def random_questions(draw):
    """A random attack with targets, evidence and interventions on different nodes.

    Members of groups are as likely as nodes to be asked for, given or set.
    """
    attack = draw(random_attacks())
    order = draw(st.permutations(list(attack.all_nodes)))
    cut = draw(st.tuples(st.integers(1, 2), st.integers(0, 3), st.integers(0, 2)))
    targets, rest = order[: cut[0]], order[cut[0] :]
    seen, rest = rest[: cut[1]], rest[cut[1] :]

    def states(names):
        return {n: draw(st.sampled_from(attack.all_nodes[n].states)) for n in names}

    return attack, targets, states(seen), states(rest[: cut[2]])
