"""Gates of many parents, small weights, and what is refused before work.

Oracles: products and sums of binomial terms in rationals (fractions.Fraction), the dense table
where one can be written, and acting the story out.
"""

from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest
from attacks import YES_NO
from inside import inside

import reidbn as rb
from reidbn.attack import Attack, Group, GroupRow, Node, Parameter, SubjectColumn
from reidbn.cpds import And, NoisyAnd, NoisyOr, Or, Probability, Row, Rows, Threshold
from reidbn.errors import TooLarge
from reidbn.inference import (
    STEPS,
    Lowering,
    ask,
    by_elimination,
    enumeration,
    exact,
    joint,
    lower,
    read_query,
    single_table,
    subject_values,
)

GATES = [And(), Or(), Threshold(3), NoisyOr(0.1, leak=0.01), NoisyAnd(0.05, leak=0.01)]


def chance(i: int) -> float:
    return 1 / (i + 2)


def gate(count: int, cpd, *others: Node, **more) -> Attack:
    """`count` causes of different chances, and one event over all of them."""
    causes = [
        Node(f"c{i}", YES_NO, Rows((Row({"yes": chance(i), "no": "rest"}),)), source="assumption")
        for i in range(count)
    ]
    goal = Node("goal", YES_NO, cpd, tuple(n.name for n in causes), source="assumption")
    return Attack("wide", nodes=[*causes, goal, *others], **more)


def truth(count: int, cpd) -> Fraction:
    """P(goal), from the law of the number of causes or a product."""
    p = [Fraction(chance(i)) for i in range(count)]
    if isinstance(cpd, NoisyOr | NoisyAnd):
        w, none = Fraction(cpd.weights), 1 - Fraction(cpd.leak)
        for x in p:
            none *= 1 - w * (x if isinstance(cpd, NoisyOr) else 1 - x)
        return 1 - none if isinstance(cpd, NoisyOr) else none
    if cpd.kind == "and":
        return prod(p)
    least = 1 if cpd.kind == "or" else cpd.at_least
    law = [Fraction(1)] + [Fraction(0)] * (least - 1)  # P(k causes) for k under what is needed
    for x in p:
        law = [law[k] * (1 - x) + (law[k - 1] * x if k else 0) for k in range(least)]
    return 1 - sum(law)


@pytest.mark.parametrize("count", [40, 200])
@pytest.mark.parametrize("cpd", GATES, ids=lambda c: c.kind)
def test_a_gate_over_40_or_200_parents_answers_at_once(count, cpd):
    attack = gate(count, cpd)
    assert Lowering(attack, whole=STEPS).numbers < 50 * count
    answer = float(ask(attack, "goal=yes"))
    assert answer == pytest.approx(float(truth(count, cpd)), rel=1e-11, abs=1e-300)
    left = ask(attack, "c7=no", given={"goal": "yes"}) if answer > 0 else None
    assert left is None or 0 < float(left) < 1 or cpd.kind == "and"


@pytest.mark.parametrize("cpd", GATES, ids=lambda c: c.kind)
def test_a_gate_in_steps_is_the_gate_written_whole(cpd):
    """Two causes lead to others, and one group of attributes is among the parents."""
    attack = gate(4, cpd)
    rows = (GroupRow((0.2, 0.5, 0.9), {"c0": "yes"}), GroupRow(0.4))
    group = Group("known", ("k0", "k1", "k2"), rows, ("c0",), source="assumption")
    goal = Node("goal", YES_NO, cpd, ("known", *(f"c{i}" for i in range(4))), source="assumption")
    attack = attack.replace(nodes=[*list(attack.nodes.values())[:-1], goal], groups=[group])
    for seen in ({}, {"goal": "yes"}, {"k1": "no", "c2": "yes"}):
        _, query = read_query(attack, "c0=yes, goal=yes" if "goal" not in seen else "k0=yes", seen)
        split = Lowering(attack, whole=1).network({})
        assert split.hidden
        ours = exact.joint(split, query.targets, query.given)[0, 0]
        brute = enumeration.joint(Lowering(attack).network({}), query.targets, query.given)
        assert np.abs(ours - brute).max() <= 1e-12
        assert np.abs(enumeration.joint(split, query.targets, query.given) - brute).max() <= 1e-12


def test_a_weight_that_depends_on_what_is_known_keeps_the_table_whole():
    """A column with a value per subset of a group that a step would not see."""
    group = Group("known", ("k0", "k1"), (GroupRow(0.4),), source="assumption")
    base = gate(8, Or())
    cpd = NoisyOr({"known": 0.1, **{f"c{i}": "@w" for i in range(8)}})
    goal = Node("goal", YES_NO, cpd, ("known", *(f"c{i}" for i in range(8))), source="assumption")
    attack = Attack(
        "per-subset", nodes=[*list(base.nodes.values())[:-1], goal], groups=[group],
        subject=[SubjectColumn("w", per="known")], example={"w": [0.1, 0.3, 0.5, 0.9]},
    )  # fmt: skip
    one, other = (float(ask(attack, "goal=yes", engine=e)) for e in ("exact", "enumeration"))
    assert abs(one - other) <= 1e-12


def test_many_people_at_many_settings_meet_a_wide_gate():
    attack = gate(
        40, NoisyOr("$w", leak="@leak"), parameters=[Parameter("w", 0.1, source="assumption")],
        subject=[SubjectColumn("leak")], example={"leak": 0.0},
    )  # fmt: skip
    leaks, weights = np.linspace(0, 0.5, 300), np.linspace(0, 1, 11)
    found = ask(attack, "goal=yes", subject={"leak": leaks}, set={"w": weights}).probability
    none = np.prod([1 - weights * chance(i) for i in range(40)], axis=0)
    assert np.abs(found - (1 - (1 - leaks)[:, None] * none)).max() <= 1e-12
    swept = rb.sweep(attack, "goal=yes", {"w": weights})
    assert np.abs(swept["probability"].to_numpy() - (1 - none)).max() <= 1e-12


def test_other_engines_and_views_take_a_wide_gate_or_refuse_with_a_word():
    attack = gate(20, NoisyOr(0.1))
    p = float(truth(20, NoisyOr(0.1)))
    # 100,000 rows: five standard errors, wrong in one run of a million
    sampled = ask(attack, "goal=yes", engine="sampling", draws=100_000, seed=3)
    assert abs(float(sampled) - p) <= 5 * np.sqrt(p * (1 - p) / 100_000)
    assert float(ask(attack, "goal=yes", engine="pgmpy")) == pytest.approx(p, abs=1e-12)
    with pytest.raises(TooLarge, match="use the exact engine"):
        ask(attack, "goal=yes", engine="enumeration")
    check = rb.crosscheck(attack, "goal=yes", draws=20_000, seed=4)
    assert check.passed
    assert not any("~" in cell.what for cell in check.cells)


def test_a_cross_check_of_a_gate_over_200_parents_decides():
    assert rb.crosscheck(gate(200, Or()), "goal=yes", draws=2000, seed=5).passed


def test_the_most_probable_case_holds_no_steps_that_nobody_wrote():
    for cpd in (Or(), Threshold(3)):
        found = rb.most_probable(gate(40, cpd), {"goal": "yes"})
        assert set(found.case) == {"goal", *(f"c{i}" for i in range(40))}
        assert found.case["c0"] == "yes"
    with pytest.raises(TooLarge, match="give more evidence"):
        rb.most_probable(gate(40, NoisyOr(0.1)), {"goal": "yes"})
    small = gate(5, NoisyOr(0.3, leak=0.1))
    for seen in ({"goal": "yes"}, {"goal": "yes", "c0": "no"}):
        network = Lowering(small, whole=1).network({})
        from reidbn.inference import best_case, chancy_steps, entries_of

        chancy = chancy_steps(network)
        case = best_case(network, seen, summed=chancy)
        whole, p = enumeration.most_probable(lower(small), seen)
        assert {n: s for n, s in case.items() if n not in network.hidden} == whole
        assert np.prod(entries_of(network, case, summed=chancy)) == pytest.approx(p, rel=1e-12)


# -- small weights -------------------------------------------------------------------------------


@pytest.mark.parametrize("leak", [0.0, 1e-15, 0.25])
@pytest.mark.parametrize("weight", [0.0, 1e-30, 1e-17, 1e-12, 1e-9, 1e-3, 0.5, 1 - 1e-12, 1.0])
@pytest.mark.parametrize("kind", [NoisyOr, NoisyAnd])
def test_noisy_gates_keep_their_digits_however_small_the_weights(kind, weight, leak):
    table = single_table(kind(weight, leak=leak), "c", YES_NO, dict.fromkeys("ab", YES_NO))
    for a in range(2):
        for b in range(2):
            count = a + b if kind is NoisyOr else 2 - a - b
            none = (1 - Fraction(weight)) ** count * (1 - Fraction(leak))
            true = (none, 1 - none) if kind is NoisyOr else (1 - none, none)
            for found, wanted in zip(table[a, b].tolist(), true, strict=True):
                assert abs(Fraction(found) - wanted) <= Fraction(5e-16) * wanted


def test_a_chance_of_one_in_ten_to_the_seventeen_is_not_lost_over_fifty_causes():
    attack = gate(50, NoisyOr(1e-17))
    assert float(ask(attack, "goal=yes")) == pytest.approx(
        float(truth(50, NoisyOr(1e-17))), rel=1e-12
    )


# -- refused before work -------------------------------------------------------------------------


def web(width: int) -> Attack:
    """Everybody tells everybody, twice over: no order of summing out stays small."""
    causes = [Node(f"c{i}", YES_NO, Rows((Row(("rest", 0.3)),)), source="assumption")
              for i in range(width)]  # fmt: skip
    pairs = [
        Node(f"p{i}_{j}", YES_NO, NoisyOr(0.2, leak=0.1), (f"c{i}", f"c{j}"), source="assumption")
        for i in range(width)
        for j in range(i)
    ]
    return Attack("web", nodes=[*causes, *pairs])


def nothing_is_multiplied(monkeypatch):
    def fail(*_):
        raise AssertionError("work was done before the refusal")

    monkeypatch.setattr(exact, "contract", fail)
    monkeypatch.setattr(exact, "collapse", fail)


def test_a_sum_that_does_not_fit_is_refused_before_work_and_says_what_would(monkeypatch):
    nothing_is_multiplied(monkeypatch)
    attack = web(34)
    seen = {n: "yes" for n in attack.nodes if n.startswith("p")}
    with pytest.raises(TooLarge) as refused:
        ask(attack, "c0=yes", given=seen)
    for word in ("c12", "GiB", "evidence on some of them", "engine='sampling'"):
        assert word in str(refused.value)


def test_a_sum_that_fits_and_would_take_hours_is_refused_too(monkeypatch):
    monkeypatch.setattr(inside(exact.contract), "MOST_WORK", 100)
    inside(exact.contract)._expression.cache_clear()
    with pytest.raises(TooLarge, match=r"multiplications .* engine='sampling'"):
        ask(web(6), "c0=yes", given={n: "yes" for n in web(6).nodes if n.startswith("p")})
    inside(exact.contract)._expression.cache_clear()


def test_two_groups_that_meet_too_widely_are_refused_before_work(monkeypatch):
    """Each of 16 members has a child of its own; these and twelve of all together lead to one."""
    group = Group("known", tuple(f"k{i}" for i in range(16)), (GroupRow(0.4),), source="assumption")
    apart = [Node(f"n{i}", YES_NO, Probability(0.5, (f"k{i}",)), (f"k{i}",), source="assumption")
             for i in range(16)]  # fmt: skip
    both = [Node(f"b{i}", YES_NO, Or(), ("known",)) for i in range(12)]
    end = Node("end", YES_NO, Or(), tuple(n.name for n in (*both, *apart)))
    attack = Attack("meet", nodes=[*apart, *both, end], groups=[group])
    nothing_is_multiplied(monkeypatch)
    with pytest.raises(TooLarge, match=r"group known .*engine='sampling'"):
        ask(attack, "end=yes")


def test_a_table_that_cannot_be_written_is_refused_by_name_before_work():
    attack = gate(40, Probability(0.5, tuple(f"c{i}" for i in range(40))))
    with pytest.raises(TooLarge, match=r"goal: its table over 40 parents \(c0, c1, .*sampling"):
        ask(attack, "goal=yes")
    sampled = ask(attack, "goal=yes", engine="sampling", draws=1000)
    assert float(sampled) == 0
    assert rb.check(attack) == ()


def test_settings_and_subjects_go_in_smaller_parts_where_all_at_once_would_not_fit(monkeypatch):
    attack = gate(
        7, Probability("$w", tuple(f"c{i}" for i in range(7))),
        Node("end", YES_NO, Probability("@q", ("goal",)), ("goal",)),
        parameters=[Parameter("w", 0.1, source="assumption")],
        subject=[SubjectColumn("q")], example={"q": 0.5},
    )  # fmt: skip
    many = {"subject": {"q": np.linspace(0, 1, 50)}, "set": {"w": np.linspace(0, 1, 40)}}
    whole = ask(attack, "end=yes", **many).probability
    monkeypatch.setattr(inside(exact.contract), "BUDGET", 1 << 10)
    monkeypatch.setattr(inside(ask), "BUDGET", 1 << 10)
    monkeypatch.setattr(inside(lower), "BUDGET", 1 << 10)
    inside(exact.contract)._expression.cache_clear()
    parts = ask(attack, "end=yes", **many).probability
    inside(exact.contract)._expression.cache_clear()
    assert parts.shape == (50, 40)
    assert np.abs(parts - whole).max() <= 1e-15


def test_a_long_story_is_summed_out_in_an_order_that_stays_small():
    """A ring of eight people over twelve rounds: the second way finds a small order."""
    nodes = []
    for t in range(12):
        for i in range(8):
            before = (f"r{t - 1}_{i}", f"r{t - 1}_{(i + 1) % 8}") if t else ()
            cpd = NoisyOr(0.4, leak=0.05) if t else Rows((Row(("rest", 0.1 + i / 20)),))
            nodes.append(Node(f"r{t}_{i}", YES_NO, cpd, before, source="assumption"))
    attack = Attack("ring", nodes=nodes)
    p = float(ask(attack, "r11_0=yes"))
    state = np.zeros((2,) * 8)
    for case in np.ndindex(*state.shape):
        state[case] = np.prod([(0.1 + i / 20) if s else 0.9 - i / 20 for i, s in enumerate(case)])
    table = single_table(NoisyOr(0.4, leak=0.05), "c", YES_NO, dict.fromkeys("ab", YES_NO))
    for _ in range(11):
        axes = list("abcdefgh")
        terms = ["abcdefgh"] + [f"{axes[i]}{axes[(i + 1) % 8]}{axes[i].upper()}" for i in range(8)]
        state = np.einsum(",".join(terms) + "->ABCDEFGH", state, *[table] * 8, optimize=True)
    assert p == pytest.approx(float(state.sum(axis=tuple(range(1, 8)))[1]), abs=1e-12)


def test_both_paths_multiply_every_table_once():
    rng = np.random.default_rng(4)
    tables = [tuple(rng.choice(list("abcdefg"), size=rng.integers(1, 4), replace=False).tolist())
              for _ in range(9)]  # fmt: skip
    sizes = dict(zip("abcdefg", (2, 3, 2, 2, 3, 2, 2), strict=True))
    values = [rng.random([sizes[a] for a in axes]) for axes in tables]
    path = by_elimination(tables, ("a",), sizes)
    terms = ",".join("".join(axes) for axes in tables)
    import opt_einsum

    one = opt_einsum.contract(f"{terms}->a", *values, optimize=path)
    other = np.einsum(f"{terms}->a", *values)
    assert np.abs(one - other).max() <= 1e-12


def test_the_exact_engine_splits_sooner_than_other_tools_see():
    attack = gate(10, Or())
    assert STEPS < 2**10
    assert not lower(attack).hidden
    columns = subject_values(attack, None)
    assert Lowering(attack, whole=STEPS).network(columns).hidden
    _, query = read_query(attack, "goal=yes")
    assert joint(attack, query)[0, 0].sum() == pytest.approx(1, abs=1e-12)


def wide(count, at_least):
    causes = [Node(f"c{i}", YES_NO, Probability(0.25), source="assumption") for i in range(count)]
    goal = Node("goal", YES_NO, Threshold(at_least), tuple(c.name for c in causes))
    return Attack("wide", nodes=[*causes, goal])


def test_half_of_many_parents_in_rationals_and_too_many_are_refused_before_work():
    p = Fraction(1, 4)
    exactly = sum(comb(120, k) * p**k * (1 - p) ** (120 - k) for k in range(40, 121))
    assert float(ask(wide(120, 40), "goal=yes")) == pytest.approx(float(exactly), rel=1e-11)
    numbers = [sum(t.table.size for t in lower(wide(120, m)).factors.values()) for m in (2, 119)]
    assert numbers[0] < 120 * 20  # a count stops at what is asked for, and at what there can be
    assert numbers[1] < 120**3
    with pytest.raises(TooLarge, match="900 parents are counted one by one, in tables that would"):
        ask(wide(900, 450), "goal=yes")
