"""Leaving people out of a release changes nothing of what the population holds for the others."""

import pickle

import numpy as np
import pytest

import reidbn as rb
from reidbn.errors import DataError, UsageError

POPULATION = 60_000
NAMES = ["age", "sex", "state", "race"]
KNOWN = {"age": 0.6, "sex": 0.9, "state": 0.3, "race": 0.5}
MODELS = ("log-linear", "structured", "pitman-bayes", "zayatz")
ON_POPULATION = ("journalist", "journalist_match")


@pytest.fixture(scope="module")
def patients():
    table = rb.datasets.synthetic_patients(600, seed=7)
    table["age"], table["state"] = table["age"] // 5 * 5, table["state"].str[0]
    table["weight"] = np.random.default_rng(1).integers(20, 180, len(table)).astype(float)
    return table


def read(table, **how):
    return rb.read_table(
        table, quasi_identifiers=NAMES, hierarchies={"age": rb.Bands(10, 20)}, **how
    )


def assessed(people, model="log-linear", **asked):
    return rb.assess(
        "adversary-routes", people, known=KNOWN, population=POPULATION, population_model=model,
        **asked,
    )  # fmt: skip


def same_for_those_who_stay(after, before, rows):
    """The marketer's risk may only rise; what rests on the population alone stays."""
    for measure in ON_POPULATION:
        np.testing.assert_allclose(after.risk(measure), before.risk(measure)[rows], atol=1e-12)
    risks = after.risk("marketer"), before.risk("marketer")[rows]
    assert (risks[0] >= risks[1] - 1e-12).all()
    assert risks[0].mean() > risks[1].mean()


@pytest.mark.parametrize("model", MODELS)
def test_suppressing_changes_nothing_that_rests_on_the_population(patients, model):
    people = read(patients)
    whole = assessed(people, model)
    left = people.suppress(2)
    assert 100 < len(left) < 500
    after = assessed(left, model)
    same_for_those_who_stay(after, whole, left.rows_read)
    assert after.provenance["population"] == POPULATION
    within = rb.what_if(whole, suppress=2)
    again = assessed(pickle.loads(pickle.dumps(left)), model)  # noqa: S301 - our own
    for other in (within, again):
        for measure in after.risks:
            assert np.array_equal(other.risk(measure), after.risk(measure))
    some = people.suppress(2, ["age", "sex"])  # somebody is alone who was not before
    held, was = assessed(some, model), whole.risk("journalist")[some.rows_read]
    assert was.any()
    np.testing.assert_allclose(held.risk("journalist"), was, atol=1e-12)
    ends = rb.population_uncertainty(whole), rb.population_uncertainty(after)
    for end in ("low", "high"):
        was, now = (u.of_people(getattr(u, end), "journalist") for u in ends)
        np.testing.assert_allclose(now, was[left.rows_read], atol=1e-12)


@pytest.mark.parametrize("steps", ["before", "after", "finer"])
def test_levels_of_the_release_are_those_of_the_table_as_it_was(patients, steps):
    people = read(patients)
    if steps == "before":
        whole = people.generalise({"age": 1})
        left = whole.suppress(3)
    else:
        level = {"after": 1, "finer": 0}[steps]
        start = people.generalise({"age": 2 if steps == "finer" else 0})
        left = rb.what_if(assessed(start.suppress(3)), generalise={"age": level}).table
        whole = people.generalise({"age": level})
    assert len(left) < len(people)
    same_for_those_who_stay(assessed(left), assessed(whole), left.rows_read)


def test_it_holds_for_some_of_the_people_with_weights_gaps_and_lesser_columns(patients):
    gaps = patients.copy()
    gaps["race"] = gaps["race"].astype(object).mask(np.arange(len(gaps)) % 50 == 0)
    for table, how in ((patients, {"weights": "weight"}), (gaps, {"missing": "matches-anything"})):
        people = read(table, **how)
        left = people.suppress(2)
        some = np.array([3, 50, 7])
        whole = assessed(people)
        same_for_those_who_stay(assessed(left), whole, left.rows_read)
        part = assessed(left, individuals=some)
        for measure in ON_POPULATION:
            want = whole.risk(measure)[left.rows_read[some]]
            np.testing.assert_allclose(part.risk(measure), want, atol=1e-12)
    fewer = read(patients).suppress(2).select(["age", "sex"])
    plain = read(patients).select(["age", "sex"])
    asked = {"known": {"age": 0.6, "sex": 0.9}, "population": POPULATION}
    one, two = (rb.assess("journalist", p, **asked) for p in (fewer, plain))
    np.testing.assert_allclose(
        one.risk("journalist_match"), two.risk("journalist_match")[fewer.rows_read], atol=1e-12
    )


def test_it_holds_where_risks_are_summed_over_subsets_and_in_what_ifs():
    rng = np.random.default_rng(4)
    codes = rng.geometric(0.35, (2_600, 9)) - 1
    people = rb.People.from_codes(np.minimum(codes, 4), [f"x{j}" for j in range(9)])
    known = dict.fromkeys(people.columns, 0.4)
    whole = rb.assess("journalist", people, known=known, population=50_000)
    assert whole.classes.rows * whole.classes.subsets >= 1 << 20  # else nothing is summed
    left = people.suppress(2, ["x0", "x1", "x2", "x3"])
    assert len(left) < len(people)
    after = rb.assess("journalist", left, known=known, population=50_000)
    for measure in after.risks:
        np.testing.assert_allclose(
            after.risk(measure), whole.risk(measure)[left.rows_read], atol=1e-12
        )
    means = rb.sweep(after, grid={"p_cu": [0.2, 0.9]})
    for at, mean in zip((0.2, 0.9), means["mean"], strict=True):
        alone = rb.what_if(after, set={"p_cu": at}).risk()
        assert mean == pytest.approx(alone.mean(), abs=1e-12)


def test_a_plan_that_leaves_people_out_keeps_its_targets_when_it_is_assessed_anew(patients):
    people = read(patients)
    plan = rb.recommend(
        people, "adversary-routes", known=KNOWN, population=POPULATION, suppress_at_most=0.3,
        target=["k=2", {"journalist_match": "max <= 0.05"}],
    )  # fmt: skip
    fresh = assessed(plan.apply())
    assert plan.best.suppressed
    np.testing.assert_allclose(
        fresh.risk("journalist_match"), plan.result.risk("journalist_match"), atol=1e-12
    )
    assert fresh.risk("journalist_match").max() <= 0.05


def test_where_the_table_as_it_was_is_gone_the_words_say_that_the_fit_is_of_those_left(patients):
    left = read(patients).suppress(2)
    assert any("as it was before" in note for note in assessed(left).remarks())
    part = left.take(np.arange(100))
    assert part.before is None
    told = assessed(part).remarks()
    assert any("fitted to those who are left" in note for note in told)
    with pytest.raises(DataError, match="smaller than the table"):
        rb.assess("journalist", left, population=len(left))


ESTIMATES = {
    "fit": lambda p: rb.population.fit(p, population=POPULATION),
    "structured": lambda p: rb.population.fit(p, population=POPULATION, model="structured"),
    "strata": lambda p: rb.population.fit(
        p, population=dict.fromkeys(["Female", "Male", "F", "M"], 90_000), strata="sex"),
    "compare": lambda p: rb.population.compare(p, population=POPULATION),
    "subsets": lambda p: rb.population.fit_subsets(p, population=POPULATION),
    "what-if": lambda p: rb.what_if(
        rb.population.fit(p.whole, population=POPULATION), suppress=2),
    "register": lambda p: rb.population.fit(p, population=p.whole, model="truth"),
}  # fmt: skip


@pytest.mark.parametrize("asked", ESTIMATES)
@pytest.mark.parametrize("coarse", [False, True])
def test_no_estimate_takes_those_who_are_left_for_a_sample(patients, asked, coarse):
    people = read(patients).generalise({"age": 1}) if coarse else read(patients)
    left = people.suppress(2)
    assert len(left) < len(people)
    for table in (left, pickle.loads(pickle.dumps(left)), left.select(NAMES[:3])):  # noqa: S301
        with pytest.raises(UsageError, match="Fit the table as it was"):
            ESTIMATES[asked](table)
    nobody = people.suppress(1)
    assert rb.population.fit(nobody, population=POPULATION).n == len(people)


def test_the_remedy_tells_of_those_who_stay_what_an_assessment_tells(patients):
    left = read(patients).generalise({"age": 2}).suppress(3)
    found = rb.population.fit(left.whole, population=POPULATION, model="log-linear")
    held = rb.assess("journalist", left, population=POPULATION, population_model="log-linear")
    each = found.people["mean_inverse"].to_numpy()[left.rows_of_whole]
    np.testing.assert_allclose(held.risk("journalist_match"), each, rtol=1e-9)
