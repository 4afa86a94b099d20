"""Survey weights in an assessment: a class's size in the population is what its weights say."""

from functools import partial

import numpy as np
import pytest

import reidbn as rb
from reidbn.errors import UsageError
from reidbn.microdata import People
from reidbn.theory import individual_risk

ATTACK = "adversary-routes"
BY_WEIGHTS = "benedetti-franconi"


def people(weights=None, n=60, seed=1):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, c, n) for c in (4, 3, 5)])
    if weights is None:
        weights = rng.integers(20, 900, n)
    return People.from_codes(codes, ["age", "race", "town"], weights=weights)


def by_weights(table, **asked):
    """Assessed by the weights alone."""
    return rb.assess(ATTACK, table, population_model=BY_WEIGHTS, **asked)


def half(table):
    from reidbn.attack import Known, Knows, Scenario

    known = tuple(Known(c, (c,), (0.5,), source="s") for c in table.quasi_identifiers)
    return Scenario("half", knows=Knows(known))


def test_a_record_of_great_weight_is_not_found_as_if_it_stood_for_itself():
    table = People.from_codes([[0], [1], [1]], ["age"], weights=[5000, 300, 500])
    result = by_weights(table, population=5800)
    assert result.risk("journalist") == pytest.approx([1 / 5000, 0, 0], rel=1e-12)
    expected = [individual_risk(1, 5000.0), *[individual_risk(2, 800.0)] * 2]
    assert result.risk("journalist_match") == pytest.approx(expected, rel=1e-12)
    plain = rb.assess(ATTACK, People.from_codes([[0], [1], [1]], ["age"]), population=5800)
    assert np.array_equal(plain.risk("prosecutor"), result.risk("prosecutor"))
    assert np.array_equal(plain.risk("marketer"), result.risk("marketer"))


def test_every_subset_by_hand_from_the_weights_of_its_classes():
    table = people()
    total = float(table.weights.sum())
    result = by_weights(table, scenario=half(table), population=total)
    unique, match = np.zeros(60), np.zeros(60)
    for mask in range(8):
        known = [c for j, c in enumerate(table.quasi_identifiers) if mask >> j & 1]
        f, W = table.class_sizes(known), table.class_weights(known)
        unique += (f == 1) / W / 8 if mask else 0  # knowing nothing, everybody fits
        match += individual_risk(f, W) / 8 if mask else 1 / total / 8
    assert np.abs(result.risk("journalist") - unique).max() <= 1e-12
    assert np.abs(result.risk("journalist_match") - match).max() <= 1e-12
    assert result.provenance["population_model"] == BY_WEIGHTS
    assert any("estimated from the survey weights" in n for n in result.population.notes)


def test_weights_alone_say_how_large_the_population_is():
    table = people()
    total = float(table.weights.sum())
    alone = by_weights(table)
    told = by_weights(table, population=total)
    assert np.array_equal(alone.subjects, told.subjects)
    assert alone.provenance["population"] == total
    assert any("what the survey weights sum to" in note for note in alone.groups.notes)


@pytest.mark.parametrize("model", [by_weights, partial(rb.assess, ATTACK)])
def test_relative_weights_are_scaled_to_the_population_with_a_word(model):
    table = people()
    total = float(table.weights.sum())
    relative = people(table.weights / table.weights.mean())
    with pytest.raises(UsageError, match="give population=N"):
        model(relative)
    scaled = model(relative, population=total)
    whole = model(table, population=total)
    for measure in whole.measures:
        assert scaled.risk(measure) == pytest.approx(whole.risk(measure), rel=1e-9), measure
    assert any("scaled to the population" in note for note in scaled.population.notes)


def test_a_class_never_weighs_less_than_its_records():
    table = People.from_codes([[0], [1], [1]], ["age"], weights=[0, 1, 9])
    result = by_weights(table, population=10)
    assert result.risk("journalist").tolist() == [1, 0, 0]
    assert any("less weight than records" in note for note in result.population.notes)


def test_weights_make_nobody_safer_in_a_table_that_is_the_whole_population():
    table = People.from_codes([[0], [1], [2]], ["age"], weights=[1, 1, 8])
    result = rb.assess(ATTACK, table, population=3)
    assert result.risk("journalist").tolist() == [1, 1, 1]
    with pytest.raises(rb.DataError, match="sum to 0"):
        rb.assess(ATTACK, People.from_codes([[0], [1]], ["age"], weights=[0, 0]), population=9)


def test_a_model_that_was_asked_for_says_that_it_does_not_use_the_weights():
    result = rb.assess(ATTACK, people(), population=50_000, population_model="pitman")
    assert "survey weights are not used: pitman was asked for" in result.groups.notes
    plain = People.from_codes(people().codes(), ["age", "race", "town"])
    bare = rb.assess(ATTACK, plain, population=50_000, population_model="pitman")
    assert np.array_equal(result.subjects, bare.subjects)
    with pytest.raises(UsageError, match="needs survey weights"):
        rb.assess(ATTACK, plain, population=50_000, population_model="benedetti-franconi")


@pytest.mark.parametrize("model", [by_weights, partial(rb.assess, ATTACK)])
def test_individuals_of_a_weighted_table_have_the_risks_that_they_have_among_all(model):
    table = people()
    whole = model(table, scenario=half(table))
    some = model(table, scenario=half(table), individuals=[3, 41, 17])
    assert some.risk("journalist_match") == pytest.approx(
        whole.risk("journalist_match")[[3, 41, 17]], abs=1e-15
    )


def test_values_that_match_several_are_weighed_with_all_who_match():
    import pandas as pd

    frame = pd.DataFrame({"age": ["30", None, "31"], "w": [10, 20, 40]})
    table = rb.read_table(frame, quasi_identifiers=["age"], weights="w", missing="matches-anything")
    result = by_weights(table)
    expected = [individual_risk(2, 30.0), individual_risk(3, 70.0), individual_risk(2, 60.0)]
    assert result.risk("journalist_match") == pytest.approx(expected, rel=1e-12)


def test_suppression_leaves_the_population_that_the_weights_sum_to():
    table = People.from_codes([[0], [1], [1]], ["age"], weights=[5000, 300, 500])
    held = rb.what_if(by_weights(table), suppress=2)
    assert held.provenance["population"] == 5800
    assert by_weights(table.suppress(2)).provenance["population"] == 5800
    assert held.risk("journalist_match") == pytest.approx(individual_risk(2, 800.0), rel=1e-12)


def test_an_interval_over_a_posterior_is_refused_and_the_report_says_why(tmp_path):
    result = by_weights(people())
    with pytest.raises(UsageError, match="no posterior"):
        result.population_uncertainty()
    result.keep_crosscheck(draws=50_000)
    assert "from survey weights" in str(result.summary())
    page = result.to_html(tmp_path / "r.html").read_text()
    assert "from survey weights: no fit, and no interval" in page


def test_weights_that_sum_to_more_than_there_are_people_are_no_population():
    table = People.from_codes([[0], [1], [1]], ["age"], weights=[5e9, 4e9, 5e9])
    with pytest.raises(UsageError, match="more than there are people on earth"):
        rb.assess(ATTACK, table)
    held = rb.assess(ATTACK, table, population=28_000)
    assert held.provenance["population"] == 28_000


def test_weights_below_1_name_no_population_and_the_refusal_speaks_of_them():
    table = People.from_codes([[0], [1], [1]], ["age"], weights=[40, 0.4, 60])
    with pytest.raises(UsageError, match=r"1 survey weight of 3 is below 1.*give population=N"):
        rb.assess(ATTACK, table)
    with pytest.raises(UsageError) as refused:  # who was left out has a weight, too
        rb.assess(ATTACK, table.suppress(2))
    assert "1 survey weight of 3 is below 1" in refused.value.in_shell
    assert "--population N" in refused.value.in_shell
    assert rb.assess(ATTACK, table, population=100).provenance["population"] == 100
    given = {"p_unique": np.zeros((3, 2))}  # which no population has to tell
    assert rb.assess(ATTACK, table, subject=given).provenance["population"] is None


def test_the_comparison_of_models_does_not_speak_of_assessments_with_weights():
    rng = np.random.default_rng(1)
    codes, weights = rng.integers(0, 6, (60, 3)), rng.integers(1, 9, 60) * 1e5
    population = int(weights.sum())
    both = [
        rb.population.compare(
            People.from_codes(codes, ["a", "b", "c"], weights=w), population=population
        )
        for w in (None, weights)
    ]
    said = [found.attrs["recommendation"] for found in both]
    assert ["without survey weights" in text for text in said] == [False, True], said


@pytest.mark.parametrize("columns", [["age", "sex"], ["age"]])  # of one, structured gives way
@pytest.mark.parametrize("model", rb.population.MODELS)
def test_a_model_that_leaves_the_weights_out_says_so_once(model, columns):
    frame = rb.datasets.synthetic_patients(200, seed=5).assign(w=range(1, 201))
    people = rb.read_table(frame, quasi_identifiers=columns, weights="w")
    everybody = rb.datasets.synthetic_patients(20_100, seed=5)
    whole = rb.read_table(everybody, quasi_identifiers=columns) if model == "truth" else 20_100
    fitted = rb.population.fit(people, population=whole, model=model)
    by_weight = model in ("benedetti-franconi", "log-linear", "truth")
    by_weight = by_weight or (model == "structured" and len(columns) > 1)
    assert sum("weights were not used" in note for note in fitted.warnings) == (not by_weight)
    if by_weight:
        return
    plain = rb.read_table(frame, quasi_identifiers=columns)
    assert not any(
        "weights" in note
        for note in rb.population.fit(plain, population=20_100, model=model).warnings
    )


@pytest.mark.parametrize(
    ("weights", "whole"),
    [
        ([2.5] * 5, 12),
        ([1.5] * 5, 7),  # 7.5 to the even 8 would be a person too many
        ([1.7] * 3, 5),
        ([1.1] * 10, 11),  # as decimals: their floating-point sum is 10.999... or 11.000...
        ([1.4, 1.4, 1.4], 4),
    ],
)
def test_parts_of_people_are_left_off_so_that_nobody_hides_among_them(weights, whole):
    table = People.from_codes([[0, 0]] * len(weights), ["a", "b"], weights=weights)
    result = by_weights(table, known={"a": 1e-12, "b": 1e-12})
    assert result.provenance["population"] == whole
    assert result.risk("journalist_match") == pytest.approx([1 / whole] * len(weights), rel=1e-9)
    said = [note for note in result.groups.notes if "what the survey weights sum to" in note]
    assert ("a part of a person is left off" in said[0]) == (sum(weights) - whole > 1e-6)


@pytest.mark.wide
def test_a_table_with_weights_asks_structured_unless_a_model_is_named():
    frame = rb.datasets.synthetic_patients(300, seed=5).assign(w=np.arange(300) % 7 + 2.0)
    columns = ["age", "sex", "race"]
    table = rb.read_table(frame, quasi_identifiers=columns, weights="w")
    plain = rb.read_table(frame, quasi_identifiers=columns)
    asked = {
        model: rb.assess(ATTACK, table, population=1_500, population_model=model)
        for model in (None, "structured", "log-linear", BY_WEIGHTS)
    }
    said = {model: one.provenance["population_model"] for model, one in asked.items()}
    assert said == {model: model or "structured" for model in asked}
    assert np.array_equal(asked[None].subjects, asked["structured"].subjects)
    unweighted = rb.assess(ATTACK, plain, population=1_500)
    assert unweighted.provenance["population_model"] == "log-linear"
    assert np.array_equal(asked["log-linear"].subjects, unweighted.subjects)
    notes = asked["log-linear"].groups.notes
    assert "survey weights are not used: log-linear was asked for" in notes
    less = rb.what_if(asked[BY_WEIGHTS], population_model="structured")
    assert np.array_equal(less.subjects, asked[None].subjects)
    assert any(BY_WEIGHTS in line for line in rb.compare(asked[BY_WEIGHTS], less).differs)
    fits = [rb.population.fit(one, population=1_500) for one in (table, plain)]
    assert [fit.model for fit in fits] == ["structured", "pitman"]
    assert not any("not used" in note for note in fits[0].warnings)
