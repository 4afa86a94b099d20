"""What is set is held; what does not vary has no sd; names and plans that were believed too far."""

import itertools

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from tests.test_seams_of_the_language import written

TWO = """\
parameters: {p: {value: 0.3, range: [0, 1], source: a}, q: {value: 0.4, range: [0, 1], source: a}}
nodes:
  a: {cpd: {kind: probability, p: $p}}
  b: {cpd: {kind: probability, p: $q}}
  k: {states: 0..2, parents: [a, b], cpd: {kind: count}}
questions: {risk: {target: "a=yes, b=yes"}}
"""


def test_what_is_set_does_not_vary_unless_it_is_named(tmp_path):
    """Both drew p evenly from its range, whatever it was set to."""
    file = written(tmp_path, TWO)
    found = rb.whatif.sobol(file, set={"p": 0.9})
    assert (found.mean, found.sd) == pytest.approx((0.45, 0.9 / 12**0.5))
    assert [i.parameter for i in found.indices] == ["q"]
    assert found["q"].first == pytest.approx(1)
    assert found.to_dict()["pairs"] == []
    assert "as set: p" in str(found)
    drawn = rb.whatif.uncertainty(file, set={"p": 0.9}, draws=1_000)
    assert (drawn.mean, drawn.sd) == pytest.approx((0.45, 0.9 / 12**0.5))
    assert "as set: p" in str(drawn)
    each = rb.whatif.subject_uncertainty(file, set={"p": 0.9}, draws=1_000)
    assert float(each["mean"].iloc[0]) == pytest.approx(0.45)
    named = rb.whatif.sobol(file, set={"p": 0.9}, over=["p", "q"])
    assert named.mean == pytest.approx(0.25)


def test_where_all_is_set_it_is_said(tmp_path):
    file = written(tmp_path, TWO)
    with pytest.raises(rb.errors.UsageError, match="but what is held as set: p, q"):
        rb.sobol(file, set={"p": 0.4, "q": 0.1})
    assert [i.parameter for i in rb.sobol(file)] == ["p", "q"]


def test_a_report_draws_what_is_not_set(tmp_path):
    """Its interval was of settings of which none was the one that was assessed."""
    people = rb.read_table(
        rb.datasets.synthetic_patients(300, seed=2), quasi_identifiers=["age", "sex", "state"]
    )
    asked = {"scenario": "voter-registration", "population": 10_000}
    every = {"p_c": 0.2, "p_m": 0.4, "p_fm": 0.4}
    r = rb.assess("adversary-routes", people, set={"p_c": 0.2}, **asked)
    page = r.report(tmp_path / "r.md", custodian=True).read_text()
    assert "What the parameters leave open (as set: p_c)" in page
    held = rb.whatif.uncertainty(r, draws=1_000)
    assert "p_c" not in held.priors
    assert held.mean == pytest.approx(
        rb.whatif.uncertainty(r, over=["p_m", "p_fm", "p_cu"], draws=1_000).mean
    )
    fixed = rb.assess("adversary-routes", people, set=every | {"p_cu": 0.3}, **asked)
    assert "What the parameters leave open" not in fixed.report(tmp_path / "f.md").read_text()


@pytest.mark.parametrize("event", ["k>=0", "k<=2", "a=yes or not a=yes"])
def test_what_is_certain_has_no_sd(tmp_path, event):
    """An sd of 9e-17, and an interaction of 9 % with an infinite error."""
    found = rb.whatif.sobol(written(tmp_path, TWO), event)
    assert (found.mean, found.sd) == (pytest.approx(1), 0)
    for told in (*found.to_dict()["pairs"], *found.to_dict()["indices"]):
        numbers = [x for x in told.values() if isinstance(x, float)]
        assert numbers
        assert not any(numbers)


def test_a_verdict_over_a_gap_says_what_it_did_not_ask(tmp_path):
    file = written(
        tmp_path,
        """\
parameters: {p: {value: 0.1, range: [0, 1], source: a}}
where: ["(p - 0.3) * (p - 0.7) >= 0"]
nodes: {a: {cpd: {kind: probability, p: $p}}}
questions: {risk: {target: a=yes}}
""",
    )
    assert "beyond the bar of p it was not asked" in str(rb.tornado(file, threshold=0.8))
    assert float(rb.ask(file, set={"p": 0.9})) == pytest.approx(0.9)


def test_a_node_called_rest_may_stand_in_a_part(tmp_path):
    """The cells that say rest were renamed with it."""
    head = "schema_version: 1\nname: {0}\ntitle: t\nstory: s\n"
    (tmp_path / "part.yaml").write_text(
        head.format("part")
        + """\
nodes:
  rest: {rows: [{p: {yes: 0.3, no: rest}}], source: x}
  b:
    parents: [rest]
    rows: [{when: {rest: yes}, p: {yes: 0.5, no: rest}}, {p: {yes: 0.1, no: rest}}]
    source: x
questions: {risk: {target: b=yes}}
"""
    )
    whole = written(tmp_path, "use: [{model: part, as: k}]\nquestions: {risk: {target: k_b=yes}}\n")
    assert float(rb.ask(whole)) == pytest.approx(0.3 * 0.5 + 0.7 * 0.1)


def test_of_people_with_one_risk_no_more_go_than_have_to():
    """All with the same risk went together, or a plan was refused where one was enough."""
    column = ["AY"] * 5 + ["BX"] * 2 + ["AX", "BZ"]
    people = rb.read_table(pd.DataFrame({"c": column}), quasi_identifiers=["c"])
    plan = rb.recommend(
        people, "adversary-routes", known={"c": 1.0}, population=1_000, keep=["c"],
        target={"marketer": "above 0.2 <= 40%"}, suppress_at_most=0.15,
    )  # fmt: skip
    assert plan.best.suppressed == 1
    sizes = plan.apply().class_sizes(["c"])
    assert len(sizes) == 8
    assert np.mean(1 / sizes > 0.2) <= 0.4
    fewest = min(
        len(gone)
        for many in range(9)
        for gone in itertools.combinations(range(9), many)
        if _kept([v for i, v in enumerate(column) if i not in gone])
    )
    assert fewest == plan.best.suppressed


def _kept(values):
    return np.mean([1 / values.count(value) > 0.2 for value in values]) <= 0.4


def test_a_plan_that_stands_on_an_estimate_ends_with_1(tmp_path, shell):
    """The page and Python said that it is not sure to be kept, and the shell ended with 0."""
    table = tmp_path / "t.csv"
    rb.datasets.synthetic_patients(400, seed=3).to_csv(table, index=False)
    words = ["recommend", table, "--qi", "age,sex,race", "--hierarchy", "age=bands:5,10,20",
             "--known", "age=0.8,sex=0.9,race=0.5", "--population", "2000", "-q",
             "--suppress-at-most", "5%", "--markdown", tmp_path / "p.md"]  # fmt: skip
    assert shell(*words, "--target", "journalist: highest <= 0.118")[0] == 1
    said = (tmp_path / "p.md").read_text()
    assert "keeps the highest journalist at most 0.118, by the estimate alone." in said
    assert shell(*words, "--target", "journalist: highest <= 0.9")[0] == 0
    assert "by the estimate alone" not in (tmp_path / "p.md").read_text()


@rb.cpd.cpd_function("drawn_anew")
def drawn_anew(a, p):
    return p * np.random.default_rng().random() * np.where(a == 1, 0.5, 0.25)


def test_a_function_that_draws_is_refused(tmp_path):
    """A page held one draw of it, and every answer was another."""
    file = written(
        tmp_path,
        """\
parameters: {p: {value: 0.3, range: [0, 1], source: s}}
nodes:
  a: {cpd: {kind: probability, p: $p}}
  b: {cpd: {kind: function, name: drawn_anew}, source: s}
questions: {risk: {target: b=yes}}
""",
    )
    with pytest.raises(rb.errors.ModelError, match="something else each time"):
        rb.ask(file)


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_truth_value_is_no_answer_of_a_lesson(answer):
    assert "one number or one word" in str(rb.lesson.check(2, answer))
