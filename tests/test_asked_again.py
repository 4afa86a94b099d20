"""Every result is asked again with what changed: rb.what_if."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_result import PEOPLE, kin, kinds, made, people, sparse

import reidbn as rb

SHIPPED = Path(__file__).parent.parent / "models" / "scenarios"


@pytest.fixture(scope="module", params=kinds())
def result(request):
    return made(request.param)


AGES = {"generalise": {"age": 1}, "hierarchies": {"age": rb.microdata.Bands(10)}}
CHANGED = {  # what is changed, and the same question asked by itself
    "Assessment": [
        ({"known": {"age": 0.9, "sex": 0.1, "race": 0}}, lambda t: rb.assess(
            "adversary-routes", t, known={"age": 0.9, "sex": 0.1, "race": 0}, population=100_000)),
    ],
    "Disclosure": [
        ({"known": {"age": 0.3, "sex": 0.5}}, lambda t: rb.disclosure(
            t, "diagnosis", known={"age": 0.3, "sex": 0.5})),
        ({"known": "social-media"}, lambda t: rb.disclosure(
            t, "diagnosis", known=rb.attack.load_scenario("social-media"))),
        ({"unknown": "race"}, lambda t: rb.disclosure(t, "diagnosis", known=["age", "sex"])),
        ({"p": 0.2, "within": 1}, lambda t: rb.disclosure(t, "diagnosis", p=0.2, within=1)),
        (AGES, lambda t: rb.disclosure(coarse(t), "diagnosis")),
        ({"suppress": 3, **AGES}, lambda t: rb.disclosure(coarse(t).suppress(3), "diagnosis")),
    ],
    "Leak": [
        ({"known": {"age": 0.3, "sex": 1}}, lambda t: rb.leak.assess(
            t, leaked=50, known={"age": 0.3, "sex": 1})),
        ({"unknown": ["age", "sex"]}, lambda t: rb.leak.assess(t, leaked=50, known=["race"])),
        ({"leaked": {20: 0.5, 70: 0.5}, "sensitive": "diagnosis"}, lambda t: rb.leak.assess(
            t, leaked={20: 0.5, 70: 0.5}, sensitive="diagnosis")),
        ({**AGES, "suppress": 2}, lambda t: rb.leak.assess(coarse(t).suppress(2), leaked=50)),
    ],
    "Uniqueness": [
        ({"population": 5_000}, lambda t: rb.population.fit(t, population=5_000)),
        ({"model": "snb", "classes": "shlosser"}, lambda t: rb.population.fit(
            t, population=100_000, model="snb", classes="shlosser")),
        ({"columns": ["age", "sex"]}, lambda t: rb.population.fit(
            t, ["age", "sex"], population=100_000)),
        (AGES, lambda t: rb.population.fit(coarse(t), population=100_000)),
    ],
    "Suda": [
        ({"most": 2, "columns": ["age", "race"]}, lambda t: rb.suda(
            t, ["age", "race"], most=2, sampling_fraction=0.1)),
        (AGES, lambda t: rb.suda(coarse(t), sampling_fraction=0.1)),
    ],
    "Candidates": [
        ({"known": {"age": 0.3, "sex": 1, "race": 0.2}}, lambda t: rb.candidates(
            t.take(range(157)), t, known={"age": 0.3, "sex": 1, "race": 0.2})),
        ({"unknown": "age"}, lambda t: rb.candidates(t.take(range(157)), t, known=["sex", "race"])),
        ({"match": {"age": 2}}, lambda t: rb.candidates(t.take(range(157)), t, match={"age": 2})),
        (AGES, lambda t: rb.candidates(coarse(t.take(range(157))), t)),
    ],
    "Linkage": [
        ({"known": {"age": 0.3, "sex": 1}, "facts": None}, lambda t: rb.linkage(
            sparse(t), known={"age": 0.3, "sex": 1}, node_budget=10**5)),
        ({"facts": [2], "match": "present"}, lambda t: rb.linkage(
            sparse(t), known=["age", "sex", "race"], facts=[2], match="present",
            node_budget=10**5)),
    ],
    "Neighbourhood": [
        ({"depth": 2}, lambda t: rb.neighbourhood(kin(t), depth=2)),
    ],
}  # fmt: skip


def coarse(table):
    return table.generalise(AGES["generalise"], hierarchies=AGES["hierarchies"])


def test_a_result_is_asked_again_with_what_changed(result):
    for changes, made_anew in CHANGED[result.kind]:
        after, expected = rb.what_if(result, **changes), made_anew(people())
        assert type(after) is type(expected)
        pd.testing.assert_frame_equal(after.people, expected.people)
        for name, m in expected.measures.items():
            assert after.measures[name].value == m.value, name
        assert after.identity == expected.identity
        with pytest.warns(rb.errors.ReidbnWarning) as told:
            result.compare(after)
        if result.kind != "Assessment":
            assert after.changed
            assert all(words in str(told[-1].message) for words in after.changed)
            assert all(f"Changed: {words}" in str(after) for words in after.changed)
            again = pickle.loads(pickle.dumps(after))  # noqa: S301 - our own
            assert again.changed == after.changed
            back = rb.what_if(again)
            assert back.to_dict() == after.to_dict()
            assert back.changed == ()


def test_what_cannot_be_changed_of_a_result_is_refused_by_name(result):
    changes = {
        "set": {"p_c": 0.1}, "scenario": "worst-case", "do": "a=b", "drop": "age", "made_up": 1,
        "population_model": "pitman", "together": True, "people": people(), "unknown": "nothing",
    }  # fmt: skip
    if result.kind == "Assessment":
        with pytest.raises(rb.UsageError, match='what_if takes no "made_up"'):
            rb.what_if(result, made_up=1)
        return
    for name, value in [*changes.items(), ("together", False), ("beyond_range", True)]:
        with pytest.raises(rb.UsageError, match=name):
            rb.what_if(result, **{name: value})
    grid = {"p_c": [0.1]}
    test = [{"target": "risk", "hits": 1, "trials": 2}]
    for asks in (
        lambda: rb.sweep(result, grid),
        lambda: rb.solve(result, "p_c", target=0.1),
        lambda: rb.tornado(result),
        lambda: rb.compare(result, {"set": {"p_c": 0.1}}),
        lambda: rb.compare(result, {}, {"set": {"p_c": 0.1}}),
        lambda: rb.learn(result, test),
        lambda: rb.decide(result),
        lambda: rb.expect(result),
        lambda: rb.whatif.derivatives(result),
        lambda: rb.whatif.derivative(result, "p_c"),
        lambda: rb.whatif.sobol(result),
        lambda: rb.whatif.uncertainty(result),
        lambda: rb.whatif.subject_uncertainty(result),
    ):
        with pytest.raises(rb.UsageError, match=rf"a {result.kind} has no parameters.*rb\.what_if"):
            asks()


def test_a_result_asked_again_is_asked_as_it_was_when_it_was_made(tmp_path):
    table, chances = people(), {"age": 0.3, "sex": np.full(PEOPLE, 0.5)}
    file = tmp_path / "mine.yaml"
    file.write_text((SHIPPED / "social-media.yaml").read_text())
    named = rb.leak.assess(table, leaked=9, known=str(file))
    own = rb.leak.assess(table, leaked=9, known=chances)
    expected = rb.leak.assess(table, leaked=20, known=str(file)).risk, own.risk.copy()
    chances["age"], chances["sex"][:] = 1, 1
    file.write_text("gone")
    assert (rb.what_if(named, leaked=20).risk == expected[0]).all()
    assert (rb.what_if(own).risk == expected[1]).all()
    same = rb.leak.assess(coarse(table), leaked=9, known={"age": 0.3, "sex": 0.5}).risk
    assert rb.what_if(own, **AGES).risk == pytest.approx(same, abs=1e-15)
    with pytest.raises(rb.UsageError, match="a chance for each of the people as they were"):
        rb.what_if(rb.leak.assess(table, leaked=9, known={"age": np.linspace(0, 1, PEOPLE)}),
                   suppress=2)  # fmt: skip


def test_what_is_another_question_is_no_what_if():
    table = people()
    secret = rb.disclosure(table, "diagnosis")
    with pytest.raises(rb.UsageError, match="different events"):
        rb.what_if(secret, sensitive="race")
    with pytest.raises(rb.UsageError, match="ask about all people"):
        rb.what_if(rb.disclosure(table, "diagnosis", individuals=[1, 2]), suppress=3)
    every = rb.secrets.disclosure_all(table)
    with pytest.raises(rb.UsageError, match="made together with others"):
        rb.what_if(every["diagnosis"], p=0.1)
    counts = rb.population.fit(sizes=[1, 2, 9], counts=[50, 20, 3], population=9_000)
    assert rb.what_if(counts, population=800).population == 800
    with pytest.raises(rb.UsageError, match="asked of none"):
        rb.what_if(counts, suppress=2)


def assessed(table, **asked):
    return rb.assess("adversary-routes", table, population=50_000, **asked)


def test_an_assessment_says_what_changed_and_unknown_adds_up():
    table = people()
    before = assessed(table)
    assert before.changed == ()
    for change, said in (
        ({"set": {"p_c": 0.2}}, ("p_c: 0.5 -> 0.2",)),
        ({"population": 90_000}, ("population: 50,000 -> 90,000",)),
        (
            {"known": {"age": 0.3, "sex": 1, "race": 0.1}},
            ("scenario: worst-case -> known", "p_knows_age: 1 -> 0.3", "p_knows_race: 1 -> 0.1"),
        ),
        (AGES, ("level of age: 0 -> 1",)),
        ({}, ()),
    ):
        assert rb.what_if(before, **change).changed == said
    fewer = rb.what_if(before, suppress=2)
    assert f"people: {len(before):,} -> {len(fewer):,}" in fewer.changed
    without_sex = rb.what_if(before, unknown="sex")
    assert "unknown: nothing -> sex" in without_sex.changed
    assert "Changed: unknown: nothing -> sex" in str(without_sex)
    alone = rb.what_if(without_sex, unknown="age")
    assert (alone.risk() == assessed(table, unknown=["sex", "age"]).risk()).all()
    anew = rb.what_if(alone, known={"age": 0.3, "sex": 1, "race": 0.2})
    known = assessed(table, known={"age": 0.3, "sex": 1, "race": 0.2})
    assert (anew.risk() == known.risk()).all()
    less = rb.what_if(rb.what_if(known, unknown="sex"), unknown=["age"])
    assert (
        less.risk() == assessed(table, known={"race": 0.2}, unknown=["age", "sex"]).risk()
    ).all()
    named = assessed(table, known={"years": ("age", 0.3), "sex": 1, "race": 0.2})
    less = rb.what_if(named, unknown="age")
    want = assessed(table, known={"sex": 1, "race": 0.2}, unknown=["age"])
    assert (less.risk() == want.risk()).all()
    both = {"known": {"age": 0.3, "sex": 1}, "unknown": "sex"}
    with pytest.raises(rb.UsageError, match="is said to be unknown, and scenario known knows it"):
        rb.what_if(known, **both)
    pair = assessed(table, known={"pair": (["age", "sex"], 0.3), "race": 0.2})
    left = assessed(table, known={"age": 0.3, "race": 0.2}, unknown=["sex"])
    assert (rb.what_if(pair, unknown="sex").risk() == left.risk()).all()


@pytest.mark.parametrize("policy", ["value", "matches-anything"])
def test_whoever_has_no_secret_is_not_taken_for_another_table(policy):
    frame = rb.datasets.synthetic_patients(300, seed=3)[["age", "sex", "race", "diagnosis"]]
    frame["age"] = frame["age"] // 20
    gaps = np.arange(300) % 9 == 0
    frame["diagnosis"] = frame["diagnosis"].astype(object).mask(gaps)
    table = rb.read_table(frame, quasi_identifiers=["age", "sex", "race"], sensitive=["diagnosis"],
                          subject_id=None, missing=policy)  # fmt: skip
    before = rb.disclosure(table, "diagnosis")
    assert len(before) == 300 - gaps.sum()
    left = table.suppress(3)
    after = rb.what_if(before, suppress=3)
    gone = f"suppressed: 0 -> {300 - len(left):,}"
    assert gone in after.changed
    assert not any("another table" in line for line in after.changed)
    whole = rb.what_if(before, if_missing="value")
    assert len(whole) == 300
    assert not any("another table" in line for line in whole.changed)
    assert gone in rb.what_if(whole, suppress=3).changed
    other = rb.disclosure(table.take(np.arange(200)), "diagnosis")
    with pytest.warns(rb.errors.ReidbnWarning, match="another table|different tables"):
        before.compare(other)


def test_what_changed_and_what_cannot_is_said_in_words_that_mean_something_there():
    table = people()
    leak = rb.leak.assess(table, leaked=20)
    several = rb.what_if(leak, leaked={10: 0.5, 30: 0.5})
    assert several.changed[0] == "how many leak: 20 -> 10 (0.5), 30 (0.5)"
    assert rb.what_if(several, leaked=20).changed[0].endswith("30 (0.5) -> 20")
    columns = list(table.quasi_identifiers)
    for result in (leak, rb.disclosure(table, "diagnosis"), rb.candidates(table, table)):
        with pytest.raises(rb.UsageError, match="unknown= takes out all that may be known"):
            rb.what_if(result, unknown=columns)
    with pytest.raises(rb.errors.DataError, match="this scenario knows nothing about the table"):
        rb.what_if(assessed(table), unknown=columns)
    with pytest.raises(rb.UsageError, match="results of several questions: take one"):
        rb.what_if(rb.secrets.disclosure_all(table), p=0.1)
    ehr = rb.datasets.synthetic_ehr(60, seed=0)
    sparse = rb.read_sparse(ehr.table, features=ehr.features)
    linked = rb.linkage(sparse, facts=range(1, 3), node_budget=500, individuals=4)
    matched = [line for line in rb.what_if(linked, match="tolerance").changed if ":" in line]
    assert matched[0].startswith("matched: equal -> tolerance, numbers to within 0.2")
    assert not any("nothing" in line for line in matched)
    for change, said in (
        ({"drop": "Family History"}, "sparse.drop"),
        ({"columns": "age"}, "another known, match, facts"),
    ):
        with pytest.raises(rb.UsageError, match=said):
            rb.what_if(linked, **change)
    family = rb.neighbourhood(rb.read_kin(sparse), individuals=2)
    for name in ("known", "unknown", "columns", "scenario", "without"):
        with pytest.raises(rb.UsageError, match=rf"takes no {name}=: .* another start, rule"):
            rb.what_if(family, **{name: "age"})


@pytest.mark.wide
def test_a_model_that_hears_no_weights_needs_a_population_in_a_what_if_too():
    frame = rb.datasets.synthetic_patients(300, seed=3)[["age", "sex", "race"]]
    frame["w"] = np.random.default_rng(1).integers(2, 40, 300).astype(float)
    table = rb.read_table(frame, quasi_identifiers=["age", "sex", "race"], weights="w")
    before = rb.assess("journalist", table)
    with pytest.raises(rb.UsageError, match="does not hear them: give population=N"):
        rb.what_if(before, population_model="pitman-bayes")
    after = rb.what_if(before, population_model="pitman-bayes", population=9_000)
    want = rb.assess("journalist", table, population_model="pitman-bayes", population=9_000)
    assert (after.risk() == want.risk()).all()
    assert rb.what_if(before, population_model=before.inputs.population_model).changed == ()
    by_weights = rb.what_if(before, population_model="benedetti-franconi")
    own = rb.assess("journalist", table, population_model="benedetti-franconi")
    assert (by_weights.risk() == own.risk()).all()


def test_a_chance_of_what_is_known_is_varied_as_a_parameter():
    table = people()
    known = {"age": 0.3, "sex": 1, "pair": (["race"], 0.2)}
    before = assessed(table, known=known)
    for name, value in (("age", 0), ("age", 0.7), ("age", 1), ("pair", 0.9)):
        chance = (["race"], value) if name == "pair" else value
        anew = assessed(table, known={**known, name: chance}).risk()
        swept = rb.sweep(before, {f"p_knows_{name}": [value]}, per_person=True)["probability"]
        assert swept.to_numpy() == pytest.approx(anew, abs=1e-15)
    for grid in ({"known.age": [0.1]}, {"age": [0.1]}, {"knows_age": [0.1]}):
        with pytest.raises(rb.UsageError, match='that age is known is the parameter "p_knows_age"'):
            rb.sweep(before, grid)
    for grid in ({"known.sex": [0.1]}, {"known": [0.1]}, {"p_knows_sex": [0.1]}):
        with pytest.raises(rb.UsageError, match="p_knows_age, p_knows_pair can be varied: "):
            rb.sweep(before, grid)
    sure = assessed(table)
    with pytest.raises(rb.UsageError, match="nothing can be varied"):
        rb.sweep(sure, {"known.age": [0.1]})
    with pytest.raises(rb.UsageError, match='did you mean "p_c"'):
        rb.sweep(before, {"p_cc": [0.1]})
    with pytest.raises(rb.UsageError, match="known: p_c, p_cu, p_fm, p_m"):
        rb.sweep("adversary-routes", "risk", {"age": [0.1]})


def test_columns_that_nobody_knows_are_the_same_question_in_any_order():
    made = rb.datasets.synthetic_patients(60, seed=1)
    table = rb.read_table(made, quasi_identifiers=["age", "sex", "state", "race"])
    asked = [
        rb.assess("adversary-routes", table, population=5_000, scenario="worst-case", unknown=names)
        for names in (["race", "state"], ["state", "race"])
    ]
    assert rb.compare(*asked).differs == ()
    assert asked[0].question == asked[1].question


def test_no_population_is_taken_of_a_sparse_table_where_nothing_uses_it():
    ehr = rb.datasets.synthetic_ehr(40, seed=0)
    sparse = rb.read_sparse(ehr.table, features=ehr.features)
    with pytest.raises(rb.UsageError, match="p_in_release"):
        rb.assess("linkage", sparse, population=1_000)
    with pytest.raises(rb.UsageError, match="p_in_release"):
        rb.what_if(rb.assess("linkage", sparse), population=1_000)
