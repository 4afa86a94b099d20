"""One what-if after the other is the same question asked at once; it says each change, once."""

import warnings

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

NAMES, K = ["age", "sex", "race"], {"age": 0.3, "sex": 0.5, "race": 0.2}
YEAR = "Personal: birth year"


@pytest.fixture(scope="module")
def people():
    return rb.read_table(
        rb.datasets.synthetic_patients(300, seed=1), quasi_identifiers=NAMES,
        sensitive=["diagnosis"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def guess(people):
    return rb.assess("adversary-routes", people, population=50_000, known=K)


@pytest.fixture(scope="module")
def sparse():
    ehr = rb.datasets.synthetic_ehr(30, seed=0)
    return rb.read_sparse(ehr.table, features=ehr.features)


def assessed(people, **asked):
    return rb.assess("adversary-routes", people, population=50_000, **asked)


def same(chain, fresh):
    """The same numbers, and nothing in which the two questions differ."""
    pd.testing.assert_frame_equal(chain.people, fresh.people, rtol=1e-12, atol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (chain.compare(fresh)["difference"].fillna(0).abs() < 1e-15).all()
    return True


def test_what_a_parameter_of_a_group_was_set_to_falls_away_with_the_group(people, guess):
    once = rb.what_if(guess, set={"p_knows_sex": 0.1, "p_c": 0.2})
    left = {"age": 0.3, "race": 0.2}
    fresh = assessed(people, known=left, unknown=["sex"], set={"p_c": 0.2})
    for chain in (
        rb.what_if(once, unknown=["sex"]),
        rb.what_if(rb.what_if(guess, unknown="sex"), set={"p_c": 0.2}),
    ):
        assert same(chain, fresh)
    assert rb.what_if(once, unknown="sex").changed == (
        "unknown: nothing -> sex", "p_knows_sex: 0.1 -> nothing",
    )  # fmt: skip
    without = rb.what_if(once, without="sex")
    assert same(without, rb.what_if(rb.what_if(guess, without="sex"), set={"p_c": 0.2}))
    assert without.changed == ("without: nothing -> sex", "p_knows_sex: 0.1 -> nothing")
    both = rb.what_if(rb.what_if(once, unknown="sex"), unknown="age")
    assert both.changed == ("unknown: sex -> age, sex",)
    with pytest.raises(rb.UsageError, match='no parameter "p_knows_sex"'):
        rb.what_if(once, unknown="sex", set={"p_knows_sex": 0.3})
    with pytest.raises(rb.UsageError, match='no parameter "p_knows_sex"'):
        rb.what_if(rb.what_if(once, unknown="sex"), set={"p_knows_sex": 0.3})


@pytest.mark.parametrize("chance", [0.1, 1])
def test_a_chance_that_is_set_and_one_that_is_said_are_one_question(people, guess, chance):
    group = {"g": (["age", "sex"], 0.3), "race": 0.2}
    for known, name, item, other in (
        (K, "sex", chance, {**K, "sex": chance}),
        (group, "g", chance, {**group, "g": (["age", "sex"], chance)}),
    ):
        set_so = rb.what_if(assessed(people, known=known), set={f"p_knows_{name}": item})
        assert same(set_so, assessed(people, known=other))
        assert "set to" not in set_so.question
    # A chance of 1 and the column known for sure are one thing, and so is what was before.
    assert same(rb.what_if(set_so, set={"p_knows_g": 0.3}), assessed(people, known=group))


def test_columns_that_are_known_and_chances_of_1_are_one_question(people):
    assert same(assessed(people, known=NAMES), assessed(people, known=dict.fromkeys(NAMES, 1)))
    assert rb.what_if(assessed(people, known=NAMES), known=dict.fromkeys(NAMES, 1.0)).changed == ()


def test_each_change_of_what_is_known_is_said_once(people, guess):
    sure = assessed(people)
    for before, changes, said in (
        (guess, {"known": {**K, "sex": 0.7}}, ["p_knows_sex: 0.5 -> 0.7"]),
        (guess, {"known": {**K, "sex": 1}}, ["p_knows_sex: 0.5 -> 1"]),
        (guess, {"set": {"p_knows_sex": 1}}, ["p_knows_sex: 0.5 -> 1"]),
        (guess, {"unknown": "sex"}, ["unknown: nothing -> sex"]),
        (sure, {"unknown": "sex"}, ["unknown: nothing -> sex"]),
        (sure, {"known": K}, ["scenario: worst-case -> known", "p_knows_age: 1 -> 0.3",
                              "p_knows_race: 1 -> 0.2", "p_knows_sex: 1 -> 0.5"]),
        (guess, {"scenario": "worst-case"}, [
            "scenario: known -> worst-case", "p_knows_age: 0.3 -> 1", "p_knows_race: 0.2 -> 1",
            "p_knows_sex: 0.5 -> 1"]),
    ):  # fmt: skip
        assert list(rb.what_if(before, **changes).changed) == said
    leak = rb.leak.assess(people, leaked=50)
    assert rb.what_if(leak, leaked=20).changed == ("how many leak: 50 -> 20",)
    assert len(rb.what_if(leak, leaked=20, known=["age"]).changed) == 2


def test_suppressing_anew_starts_from_the_whole_table(people, guess):
    few = rb.what_if(guess, suppress=5)
    assert same(rb.what_if(few, suppress=2), rb.what_if(guess, suppress=2))
    assert same(rb.what_if(few, suppress=1), rb.what_if(guess, suppress=1))
    ages = {"generalise": {"age": 1}, "hierarchies": {"age": rb.microdata.Bands(20)}}
    coarse = rb.what_if(few, **ages)
    assert len(coarse) == len(few)
    again = rb.what_if(coarse, suppress=2)
    assert same(again, rb.what_if(guess, suppress=2, **ages))
    assert f"people: {len(few)} -> {len(again)}" in again.changed
    leak = rb.leak.assess(people, leaked=5)
    assert same(rb.what_if(rb.what_if(leak, suppress=5), suppress=2),
                rb.leak.assess(people.suppress(2), leaked=5))  # fmt: skip
    left = people.suppress(5)
    own = assessed(left, subject={"p_unique": np.full((len(left), 2), 0.1)})
    with pytest.raises(rb.UsageError, match="p_unique was given in the call"):
        rb.what_if(own, suppress=2)
    chances = np.linspace(0.1, 0.9, len(people))
    known = assessed(people, known={"age": chances, "sex": 1, "race": 0.5})
    of_left = chances[left.rows_in(people)]
    fresh = assessed(left, known={"age": of_left, "sex": 1, "race": 0.5})
    assert same(rb.what_if(known, suppress=5), fresh)
    each = rb.leak.assess(left, leaked=5, known={"age": np.linspace(0, 1, len(left))})
    with pytest.raises(rb.UsageError, match="suppress first"):
        rb.what_if(each, suppress=2)


def test_noise_and_levels_of_a_sparse_table_in_any_order(sparse):
    years = {"generalise": {YEAR: 1}, "hierarchies": {YEAR: rb.microdata.Bands(10)}}
    noise = {"noise": {"share": 0.2, "years": 2}}
    asked = rb.assess("linkage", sparse, individuals=6, seed=1)
    ladders = years["hierarchies"]
    fresh = rb.assess("linkage", sparse.coarser(ladders).noisy(0.2, years=2), individuals=6, seed=1)
    noisy, coarse = rb.what_if(asked, **noise), rb.what_if(asked, **years)
    for chain in (
        rb.what_if(noisy, **years), rb.what_if(coarse, **noise),
        rb.what_if(asked, **years, **noise),
        rb.what_if(rb.what_if(rb.what_if(asked, noise=0.7), **noise), **years),
    ):  # fmt: skip
        assert same(chain, fresh)
    assert not np.array_equal(noisy.risk(), fresh.risk())
    back = {**years, "generalise": {YEAR: 0}}
    assert same(rb.what_if(fresh, **back), rb.assess(
        "linkage", sparse.noisy(0.2, years=2), individuals=6, seed=1))  # fmt: skip
    # A seed of one's own stays; noise of what is left is the same whatever else is released.
    own = rb.assess("linkage", sparse.noisy(0.3, seed=9), individuals=6, seed=1)
    ours = rb.assess("linkage", sparse.coarser(ladders).noisy(0.3, seed=9), individuals=6, seed=1)
    assert same(rb.what_if(own, **years), ours)
    fewer = rb.assess("linkage", sparse.drop("Vitals").noisy(0.2), individuals=6, seed=1)
    assert same(rb.what_if(rb.what_if(asked, noise=0.2), drop="Vitals"), fewer)
    assert "level of Personal: birth year: 0 -> 1" in coarse.changed
    assert "noise: none -> 0.2 of numbers, 2 years" in noisy.changed
    other = rb.what_if(coarse, **{**years, "hierarchies": {YEAR: rb.microdata.Bands(5)}})
    assert any("hierarchies" in said for said in other.changed)


def test_chances_of_features_are_no_persons_own(sparse):
    first, second = (
        rb.linkage(sparse, known={"alcohol": 0.3, "travel": p}, otherwise=0.0, individuals=4)
        for p in (0.5, 0.6)
    )
    with pytest.warns(rb.errors.ReidbnWarning, match=r"chance of travel: 0\.5 -> 0\.6$"):
        rb.compare(first, second)
    assert "each person's own" not in str(rb.what_if(first, known={"alcohol": 0.4}).changed)


def test_people_counted_as_cells_are_told_a_row_per_cell_everywhere(people):
    frame = rb.datasets.synthetic_patients(300, seed=1)
    cells = rb.assess("adversary-routes", rb.contingency(frame, NAMES[:2]), population=50_000,
                      known={"age": 0.3, "sex": 0.5})  # fmt: skip
    one_by_one = rb.assess("adversary-routes", people.select(NAMES[:2]), population=50_000,
                           known={"age": 0.3, "sex": 0.5})  # fmt: skip
    rows = len(cells.people)
    assert rows < len(cells) == 300
    swept = rb.sweep(cells, {"p_c": [0.5, 0.2]}, per_person=True)
    assert len(swept) == 2 * rows
    assert np.array_equal(swept["people"], np.tile(cells.people["people"], 2))
    assert np.allclose(swept["probability"][:rows], cells.people["overall"], rtol=1e-12, atol=0)
    steps = rb.whatif.derivatives(cells, over=["p_c"], per_person=True)
    each = rb.whatif.derivatives(one_by_one, over=["p_c"], per_person=True)
    weighted = np.repeat(steps["derivative"], steps["people"])
    assert np.allclose(np.sort(weighted), np.sort(each["derivative"]))
    spread = rb.whatif.subject_uncertainty(cells, over=["p_c"], draws=50)
    assert np.array_equal(spread["people"], cells.people["people"])
    own = rb.whatif.subject_uncertainty(one_by_one, over=["p_c"], draws=50)["mean"].mean()
    assert np.isclose(np.average(spread["mean"], weights=spread["people"]), own)
    mean = rb.sweep(cells, {"p_c": [0.2]})["mean"]
    assert np.isclose(
        np.average(swept["probability"][rows:], weights=swept["people"][rows:]), mean[0]
    )


def test_how_many_facts_are_known_is_said(sparse):
    curve = rb.linkage(sparse, facts=[1, 2], individuals=2)
    assert "how many facts: 1, 2 -> 3" in rb.what_if(curve, facts=[3]).changed


MODELS = ["pitman", "pitman-bayes", "ewens", "zayatz", "snb", "dankar", "log-linear"]


@pytest.mark.parametrize("weights", [None, "weight"])
def test_risks_go_to_those_of_a_chance_of_nought_under_every_model_but_one(weights):
    """A chance of 0 leaves a column out: that is where ever smaller chances go."""
    frame = rb.datasets.synthetic_patients(200, seed=2)
    frame["weight"] = np.random.default_rng(1).integers(50, 400, 200)
    table = rb.read_table(frame, quasi_identifiers=NAMES, weights=weights)
    models = MODELS if weights is None else [*MODELS, "benedetti-franconi"]
    for model in [*models, "structured"]:
        by_weight = weights is not None and model in ("benedetti-franconi", "structured")
        own = {"population_model": model, "population": None if by_weight else 60_000}
        least, none = (
            rb.assess("adversary-routes", table, known={"age": p, "sex": 0.5, "race": 0.5}, **own)
            for p in (1e-9, 0)
        )
        for measure in none.risks:
            one, other = least.risk(measure), none.risk(measure)
            if model != "structured":
                assert np.allclose(one, other, rtol=1e-5, atol=1e-8), (model, measure)
        if model == "structured":  # docs/what-if.md: without a column it is another fit
            assert np.allclose(least.risk(), none.risk(), rtol=0.2, atol=0)
    nobody = rb.assess("adversary-routes", table, known={"sex": 0.5, "race": 0.5}, unknown=["age"],
                       **own)  # fmt: skip
    assert np.array_equal(nobody.risk(), none.risk())
