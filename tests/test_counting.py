"""Kinds that count, and subject data per node: wide ones in steps, what is cut off, what is told.

The kinds' tables stand in cpd_cases.py, random files of them in random_files.py.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import binom

import reidbn as rb
from reidbn.attack import Attack, Group, GroupRow, Node, SubjectColumn
from reidbn.cpds import Count, Max, Minus, NoisyMax, Probability, Row, Sum, Uniform
from reidbn.errors import ReidbnWarning
from reidbn.inference import Lowering, ask, exact, subject_values
from tests.yaml_oracle import Model

YES_NO = ("no", "yes")


def many(n: int, cpd: rb.cpd.CPD, states=None) -> Attack:
    """n causes of one node, each a little more likely than the one before."""
    causes = [Node(f"c{i}", YES_NO, Probability((i + 1) / (2 * n)), source="assumption")
              for i in range(n)]  # fmt: skip
    states = states or tuple(map(str, range(n + 1)))
    goal = Node("goal", states, cpd, tuple(c.name for c in causes), source="assumption")
    return Attack("many", nodes=[*causes, goal])


def poisson_binomial(p: list[Fraction]) -> list[Fraction]:
    """How many of independent events happen: one more event at a time."""
    law = [Fraction(1)]
    for q in p:
        law = [(1 - q) * a + q * b for a, b in zip([*law, 0], [0, *law], strict=True)]
    return law


@pytest.mark.parametrize("n", [9, 40, 48, 49, 200])
def test_a_count_of_many_parents_is_right(n):
    law = poisson_binomial([Fraction(i + 1, 2 * n) for i in range(n)])
    found = ask(many(n, Count()), "goal").probability
    assert np.abs(found - np.array([float(x) for x in law])).max() <= 1e-14


def test_parents_that_hang_together_are_counted_right_in_steps():
    """Sixty looks at one fact: how many see it is a mixture of two binomials."""
    looks = tuple(f"l{i}" for i in range(60))
    nodes = [Node("there", YES_NO, Probability(0.25), source="assumption")]
    nodes += [Node(x, YES_NO, Probability(0.5, ("there",)), ("there",), source="assumption")
              for x in looks]  # fmt: skip
    nodes.append(Node("seen", tuple(map(str, range(61))), Count(), looks))
    attack = Attack("looks", nodes=nodes)
    expected = 0.25 * binom.pmf(np.arange(61), 60, 0.5) + 0.75 * (np.arange(61) == 0)
    assert np.abs(ask(attack, "seen").probability - expected).max() <= 1e-14
    given = ask(attack, "there=yes", given={"seen": "0"})
    assert float(given) == pytest.approx(0.25 * 0.5**60 / expected[0], rel=1e-12)


SPREAD = (Row((0.5, 0.5, 0), {"c0": "yes"}), Row(("rest", 0.1, 0.2), {"c1": "yes"}))


@pytest.mark.filterwarnings("ignore:.* counts as it")
@pytest.mark.parametrize(
    ("cpd", "parents", "states"),
    [
        (Count(), ("c0", "c1", "known"), tuple("01234")),
        (Sum(("n0", "known", "n1")), ("n0", "n1", "known"), tuple("0123456")),
        (Minus(("n0", "n1", "c0", "known")), ("c0", "n0", "known", "n1"), tuple("01234")),
        (Max(), ("n0", "c0", "known", "n1"), tuple("01234")),
        (NoisyMax((*SPREAD, Row((0.9, 0.1, 0), {"n0": "2"}), Row((0.9, 0, 0.1)))),
         ("c0", "c1", "n0"), ("low", "mid", "high")),
    ],
    ids=lambda x: getattr(x, "kind", None),
)  # fmt: skip
def test_in_steps_and_whole_is_the_same(cpd, parents, states):
    attack = Attack(
        "steps",
        groups=[Group("known", ("a", "b"), (GroupRow((0.3, 0.6)),), source="assumption")],
        nodes=[
            *(Node(f"c{i}", YES_NO, Probability(0.2 + i / 4), source="assumption") for i in (0, 1)),
            *(Node(f"n{i}", ("0", "1", "2"), Uniform()) for i in (0, 1)),
            Node("goal", states, cpd, parents, source="assumption"),
        ],
    )
    columns = subject_values(attack, None)
    whole, steps = (Lowering(attack, whole=w).network(columns) for w in (1 << 16, 1))
    assert steps.hidden
    assert not whole.hidden
    for seen in ({}, {"c0": 1}, {"a": 1}):
        seen = {n: i for n, i in seen.items() if n in attack.parent_nodes(attack.nodes["goal"])}
        one, other = (exact.joint(net, ["goal", "c0"], {n: net.states[n][i]
                      for n, i in seen.items()}) for net in (whole, steps))  # fmt: skip
        assert np.abs(one - other).max() <= 1e-15
    assert rb.crosscheck(attack, f"goal={states[1]}", draws=20_000, seed=3).passed


def test_every_number_is_a_state_or_the_file_says_which_are_needed():
    with pytest.raises(rb.ModelError, match=r"3 can come out.*states be 0\.\.3"):
        many(3, Count(), ("0", "1", "2"))
    found = many(2, Sum(), ("0", "1", "2", "7"))
    assert float(ask(found, "goal=7")) == 0


# -- what is cut off -------------------------------------------------------------------------------


def poisson(mean: float, last: int, **more) -> str:
    return f"""
schema_version: 1
name: cut
parameters:
  m: {{value: {mean}, range: [1.0, 9.0], unit: facts, source: assumption}}
nodes:
  facts: {{states: 0..{last}, cpd: {{kind: poisson, mean: $m}}}}
  taken: {{states: 0..3, cpd: {{kind: binomial, n: 3, p: 0.5}}, source: assumption}}
  left: {{states: 0..{last}, parents: [facts, taken], cpd: {{kind: minus, of: [facts, taken]}}}}
questions:
  risk: {{target: left=0}}
"""


@pytest.mark.filterwarnings("ignore:.* counts as it")  # test_cut_off.py hears it
def test_what_does_not_fit_is_told_beside_the_answer_and_by_check():
    attack = rb.loads(poisson(2.0, 5))
    answer = rb.ask(attack, "left=0")
    law = [float(x) for x in Model.read(poisson(2.0, 5)).chances("facts", {}).values()]
    beyond = 1 - np.exp(-2) * sum(2**k / float(rb.cpds.trials.comb(k, 0)) / np.prod(
        range(1, k + 1)) for k in range(6))  # fmt: skip
    below = sum(law[k] * sum(comb(3, t) / 8 for t in range(k + 1, 4)) for k in range(4))
    assert answer.cut == pytest.approx({"facts": beyond, "left": below}, rel=1e-9)
    assert answer.to_dict()["cut"] == dict(answer.cut)
    words = [p.message for p in rb.check(attack)]
    assert len(words) == 2
    assert words[0].startswith("0.88 of what can be at m=9 lies beyond its last state, and counts")
    assert "(0.017 at the values of the parameters)" in words[0]
    assert "below its lowest state" in words[1]
    assert rb.ask(attack, "taken=0").cut == {}
    assert rb.ask(attack, "left=0", do={"facts": "5"}).cut == {}
    of = "0..5, parents: [facts], cpd: {kind: binomial, n: facts,"
    part = rb.loads(poisson(2.0, 5).replace("0..3, cpd: {kind: binomial, n: 3,", of))
    assert [*rb.ask(part, "left=0").cut] == ["facts"]  # what is taken is a part of the whole
    assert rb.ask(part, "left=0", do={"taken": "3"}).cut["left"] > 0.1
    wide = rb.loads(poisson(2.0, 60).replace("9.0", "3.0"))
    assert [p.where[1] for p in rb.check(wide)] == ["left"]


@dataclass(frozen=True)
class Tries(rb.cpd.CPD):
    """A kind of somebody else's that has no end: so many failures before the first success."""

    kind: ClassVar[str] = "tries"
    p: float

    def probabilities(self, scope):
        k = np.arange(scope.child.size - 1)
        return np.array([*self.p * (1 - self.p) ** k, self.cut(scope)])

    def cut(self, scope):
        return np.asarray((1 - self.p) ** (scope.child.size - 1))


def test_a_kind_of_somebody_elses_says_what_it_cuts_off_too():
    attack = Attack("tries", nodes=[Node("n", tuple("0123"), Tries(0.5), source="assumption")])
    with pytest.warns(ReidbnWarning, match="n: 0.12 of what can be"):
        assert rb.ask(attack, "n=0").cut == pytest.approx({"n": 1 / 8})


def test_nothing_is_lost_by_the_cut_and_no_digit_by_a_mean_that_is_small():
    attack = rb.loads(poisson(1e-9, 2).replace("[1.0", "[0.0"))
    p = rb.ask(attack, "facts").probability
    assert p.sum() == pytest.approx(1, abs=1e-15)
    assert p[2] == pytest.approx(5e-19, rel=1e-8)


# -- degrees: what-if stays exact ------------------------------------------------------------------


@pytest.mark.parametrize(
    "cpd",
    ["{kind: binomial, n: 6, p: $p}", "{kind: geometric, p: $p, budget: 6}",
     "{kind: geometric, p: $p, budget: tried}", "{kind: binomial, n: tried, p: $p}"],
)  # fmt: skip
def test_a_tornado_over_attempts_reads_a_polynomial_off(cpd):
    parents = ", parents: [tried]" if "tried" in cpd else ""
    attack = rb.loads(f"""
schema_version: 1
name: tries
parameters:
  p: {{value: 0.3, range: [0.1, 0.6], source: assumption}}
nodes:
  tried: {{states: 0..6, cpd: {{kind: uniform}}}}
  hits: {{states: 0..6{parents}, cpd: {cpd}, source: assumption}}
""")
    bar = rb.tornado(attack, "hits=2").bars[0]
    assert bar.method.startswith("exact polynomial")
    at = [float(rb.ask(attack, "hits=2", set={"p": p})) for p in np.linspace(0.1, 0.6, 2001)]
    assert bar.highest == pytest.approx(max(at), abs=1e-6)


# -- subject data per node -------------------------------------------------------------------------


PER = """
schema_version: 1
name: per-nodes
subject:
  fits: {per: [right, known, mood], unit: probability, range: [0, 1]}
groups:
  known: {members: [age, town], probability: [0.5, 0.25], source: assumption}
nodes:
  right: {states: 0..2, cpd: {kind: binomial, n: 2, p: 0.25}, source: assumption}
  mood: {states: [low, high], rows: [{p: [0.75, 0.25]}], source: assumption}
  found: {parents: [mood, right, known], cpd: {kind: probability, p: "@fits"}}
questions: {risk: {target: found=yes}}
example: {fits: [%s]}
"""
FITS = np.linspace(0, 1, 24).reshape(3, 4, 2)
FLAT, NESTED = (PER % x for x in (", ".join(map(repr, FITS.ravel().tolist())),
                                  str(FITS.tolist())[1:-1]))  # fmt: skip


@pytest.mark.parametrize("text", [FLAT, NESTED], ids=["in a line", "nested"])
def test_a_value_for_every_combination_of_states(text):
    attack = rb.loads(text)
    right, mood = [9 / 16, 6 / 16, 1 / 16], [0.75, 0.25]
    known = [0.375, 0.375, 0.125, 0.125]
    expected = np.einsum("i,j,k,ijk->", right, known, mood, FITS)
    assert float(rb.ask(attack)) == pytest.approx(expected, abs=1e-15)
    given = rb.ask(attack, given={"mood": "high", "town": "yes"})
    expected = np.einsum("i,j,ij->", right, [0.5, 0.5], FITS[:, 2:, 1])
    assert float(given) == pytest.approx(expected, abs=1e-15)
    assert rb.loads(rb.dumps(attack)) == attack
    assert rb.crosscheck(attack, draws=20_000, seed=5).passed
    draws = [Model.read(text, subject={}).ask({"found": "yes"})[0]]
    assert float(draws[0]) == pytest.approx(float(rb.ask(attack)), abs=1e-15)


def test_many_people_at_once_are_as_one_by_one_however_their_data_come():
    attack = rb.loads(FLAT)
    data = np.random.default_rng(1).random((7, 3, 4, 2))
    together = rb.ask(attack, subject={"fits": data}).probability[:, 0]
    assert (rb.ask(attack, subject={"fits": data.reshape(7, 24)}).probability[:, 0] ==
            together).all()  # fmt: skip
    for i in range(7):
        one = rb.ask(attack, subject={"fits": data[i]}, engine="enumeration")
        assert together[i] == pytest.approx(float(one), abs=1e-15)
    for wrong in (data[:, :2], data[0, 0], 0.5):
        with pytest.raises(rb.DataError, match=r"24 values \(3 x 4 x 2\), the last of .* fastest"):
            rb.ask(attack, subject={"fits": wrong})


def test_states_that_change_do_not_outgrow_the_data():
    text = FLAT.replace("states: 0..2", "states: 0..$n").replace("n: 2,", "n: $n,")
    text = text.replace("subject:", "parameters:\n  n: {value: 2, range: [1, 3], unit: facts, "
                        "source: assumption}\nsubject:", 1)  # fmt: skip
    attack = rb.loads(text)
    assert float(rb.ask(attack)) == float(rb.ask(rb.loads(FLAT)))
    with pytest.raises(rb.ModelError, match="uses @fits, which has a value for every state of ri"):
        rb.ask(attack, set={"n": 3})
    assert any("every state of right" in p.message for p in rb.check(attack))


def test_a_class_that_grows_along_the_group_is_refused_beside_nodes():
    with pytest.raises(rb.ModelError, match="a class grows when age is known"):
        rb.loads(FLAT.replace("unit: probability, range: [0, 1]", "unit: people")
                 .replace("probability, p:", "one-over, of:"))  # fmt: skip


def test_a_column_of_one_node_given_as_a_list_is_that_node():
    assert SubjectColumn("x", per=("a",)) == SubjectColumn("x", per="a")
    assert SubjectColumn("x", per=()).axes == ()


# -- the contract ----------------------------------------------------------------------------------


def test_somebody_who_knows_a_few_facts_of_a_sparse_record(authored):
    """By hand: facts ~ Poisson(5) cut at 20, right ~ Binomial(facts, 0.9)."""
    text = (authored / "contract" / "linkage.yaml").read_text()
    attack = rb.loads(text)
    model = Model.read(text)
    facts = [float(x) for x in model.chances("facts", {}).values()]
    alone = np.array(attack.example["alone"])
    joint = [p * float(binom.pmf(np.arange(21), n, 0.9) @ alone) for n, p in enumerate(facts)]
    assert float(rb.ask(attack)) == pytest.approx(0.7 * sum(joint), abs=1e-14)
    found = rb.ask(attack, "facts=6", given={"identified": "yes"})
    assert float(found) == pytest.approx(joint[6] / sum(joint), abs=1e-14)
    assert rb.crosscheck(attack, draws=20_000, seed=6).passed
    people = np.sort(np.random.default_rng(4).random((50, 21)), axis=1)
    risks = rb.ask(attack, subject={"alone": people}).probability[:, 0]
    assert risks[7] == pytest.approx(
        0.7 * sum(p * (binom.pmf(np.arange(21), n, 0.9) @ people[7]) for n, p in enumerate(facts)),
        abs=1e-14,
    )
