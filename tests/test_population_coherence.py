"""What is said of the population: subsets that agree, models by name, statuses that are shown."""

import os
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from inside import inside
from scipy.integrate import quad

import reidbn as rb
from reidbn import population
from reidbn.attack import Known, Knows, Scenario
from reidbn.attacks import SubsetPopulation, subset_classes, subset_population, truth_check
from reidbn.errors import UsageError
from reidbn.population import falls_within, fit_tables, raise_to_parts, share_alike
from reidbn.theory import FrequencyTable, mean_inverse_beside

DATA = Path(os.environ.get("REIDBN_DATA", Path(__file__).parents[2] / "shared" / "data"))
BY_SIZE = ("pitman", "pitman-bayes", "ewens", "zayatz", "dankar")


def half_known(names):
    known = tuple(Known(n, (n,), (0.5,), source="assumption") for n in names)
    return Scenario("half", knows=Knows(known))


def crowd(n=500, seed=11):
    """A common attribute, one with many rare values (a heavy tail), and two that go together.

    Alone, the rare values fit with alpha near .6; with the town, whose values run out, the
    likelihood is highest at alpha = 0, and says that far fewer stay unique.
    """
    rng = np.random.default_rng(seed)
    rare = np.minimum(rng.zipf(1.7, n), 10**6)
    town = rng.integers(0, 40, n)
    frame = pd.DataFrame(
        {"sex": rng.integers(0, 2, n), "rare": rare, "town": town, "county": town // 8}
    )
    return rb.read_table(frame, quasi_identifiers=list(frame.columns))


def test_where_dankars_rule_chooses_pitman_its_law_of_class_sizes_speaks():
    people = crowd()
    names = list(people.quasi_identifiers)
    classes = subset_classes(people, [(name,) for name in names])
    found = subset_population(people, classes, 50_000, model="dankar")
    chosen = set()
    for mask in range(1, 1 << len(names)):
        columns = [name for j, name in enumerate(names) if mask >> j & 1]
        rule = population.fit(people, columns, population=50_000, model="dankar")
        chosen.add(rule.chosen.model)
        model = "pitman" if rule.chosen.model == "pitman" else "pitman-bayes"
        sizes = classes.occurring[mask]
        expected = population.fit(people, columns, population=50_000, model=model)
        each = expected.mean_inverse(sizes)
        if sizes[0] == 1:
            each[0] = max(each[0], rule.p_unique)
        assert found.said.p_match[mask] == pytest.approx(each, rel=1e-9)
        if model == "pitman":
            assert rule.class_size_posterior(1).p_equal == expected.class_size_posterior(1).p_equal
            table = {"sizes": rule.sample.table.sizes, "counts": rule.sample.table.counts}
            bare = population.fit(**table, population=50_000, model="dankar")
            told = expected.measures["mean_inverse"].value
            assert bare.measures["mean_inverse"].value == pytest.approx(told)
    assert chosen == {"pitman", "zayatz"}
    assert any("dankar has no law of class sizes on" in note for note in found.notes)


# -- subsets agree ---------------------------------------------------------------------------------


def test_raising_gives_each_subset_the_largest_of_its_parts():
    values = np.random.default_rng(1).random((16, 30))
    found = raise_to_parts(values.copy())
    for mask in range(16):
        parts = [part for part in range(16) if part & mask == part]
        assert np.array_equal(found[mask], values[parts].max(axis=0))
    assert np.array_equal(raise_to_parts(found.copy()), found)
    for column in values.T:
        falls = any(column[p] > column[m] for m in range(16) for p in range(m) if p & m == p)
        assert falls_within(column) == falls


@pytest.mark.parametrize("model", [*BY_SIZE, "log-linear"])
def test_who_is_unique_on_some_attributes_is_no_less_unique_when_more_is_known(model):
    people = crowd()
    result = rb.assess("adversary-routes", people, scenario=half_known(people.quasi_identifiers),
                       population=40_000, population_model=model)  # fmt: skip
    size = np.asarray(result.subject_table.columns["class_size"])
    said = np.broadcast_to(result.subject_table.columns["p_unique"], size.shape)
    rows = result.classes.of_person[result.subject_table.first]
    match = result.population.match(rows)
    for mask, part in product(range(16), range(16)):
        if part & mask == part:
            alone = size[:, part] == 1
            assert (said[alone, mask] >= said[alone, part]).all(), (mask, part)
            assert (match[:, mask] >= match[:, part]).all(), (mask, part)
    assert (said >= 0).all()
    assert (said <= 1).all()
    assert (match <= 1 / size + 1e-12).all()
    assert (match >= np.where(size == 1, said, 0) - 1e-12).all()


def test_the_raise_is_the_smallest_that_agrees_and_is_named():
    people = crowd()
    classes = subset_classes(people, [(c,) for c in people.quasi_identifiers])
    found = subset_population(people, classes, 40_000, model="pitman")
    before, sizes = found.said.p_unique, classes.sizes
    after = found.unique(np.arange(classes.rows)).T
    for mask in range(16):
        for row in range(classes.rows):
            parts = [p for p in range(16) if p & mask == p and sizes[p, row] == 1]
            assert after[mask, row] == max(before[[mask, *parts]])
    moved = {m for m in range(16) if (after[m] > before[m])[sizes[m] == 1].any()}
    assert moved
    assert set(found.raised) == moved
    most = max(moved, key=lambda m: found.raised[m][1] - found.raised[m][0])
    (note,) = (n for n in found.notes if "unique on more" in n)
    assert f"on {len(moved)} of 16 subsets" in note
    assert f"{found.known(most)} from {found.raised[most][0]:.2g}" in note
    table = found.table()
    assert table["known"][3] == "sex+rare"
    assert (table["p_unique"] >= table["before"]).all()
    assert table["p_unique"].to_numpy() == pytest.approx(found.p_unique)


def test_nobody_is_less_at_risk_when_everything_is_known_than_in_a_scenario():
    """The worst case learns all columns together; what one of them says alone still counts."""
    people = crowd()
    half = half_known(people.quasi_identifiers)
    for population_size in (2_000, 40_000, 3_000_000):
        worst = rb.assess("adversary-routes", people, population=population_size)
        some = rb.what_if(worst, scenario=half)
        for measure in ("journalist", "journalist_match"):
            gap = some.risk(measure) - worst.risk(measure)
            assert gap.max() <= 1e-12, (measure, population_size)


def test_a_table_smaller_than_any_that_was_compared_with_the_truth_says_so():
    people = crowd()
    classes = subset_classes(people, [(c,) for c in people.quasi_identifiers])
    for size, told in ((99_000, False), (101_000, True)):
        found = subset_population(people, classes, size)
        assert any("extrapolation" in note for note in found.notes) == told


def test_estimates_that_agree_stay_one_row_for_everybody():
    frame = rb.datasets.synthetic_patients(300, seed=5)
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])
    classes = subset_classes(people, [("age",), ("sex",)])
    found = subset_population(people, classes, 90_000, model="pitman")
    assert found.unique(np.arange(classes.rows)).shape == (1, 4)
    assert not found.raised


def test_many_cells_are_kept_in_single_precision_and_say_the_same(monkeypatch):
    people = crowd()
    classes = subset_classes(people, [(c,) for c in people.quasi_identifiers])
    rows = np.arange(classes.rows)
    double = subset_population(people, classes, 40_000)
    monkeypatch.setattr(inside(SubsetPopulation), "EXACT", 10)
    monkeypatch.setattr(inside(SubsetPopulation), "IN_CACHE", 100)
    single = subset_population(people, classes, 40_000)
    assert single.unique(rows).dtype == np.float32
    assert single.unique(rows) == pytest.approx(double.unique(rows), rel=1e-6)
    assert np.array_equal(single.match(rows[::-1]), double.match(rows)[::-1])


@pytest.mark.parametrize("model", ["log-linear", "pitman"])
def test_some_individuals_are_told_of_the_population_what_everybody_is(model):
    people = crowd()
    call = {"scenario": half_known(people.quasi_identifiers), "population": 40_000,
            "population_model": model}  # fmt: skip
    everybody = rb.assess("adversary-routes", people, **call)
    rows = np.array([3, 77, 150, 410])
    some = rb.assess("adversary-routes", people, individuals=rows, **call)
    for measure in ("journalist", "journalist_match", "overall"):
        told = some.subjects[measure].to_numpy()
        assert told == pytest.approx(everybody.subjects[measure].to_numpy()[rows], abs=1e-14)


# -- the log-linear model --------------------------------------------------------------------------


def test_the_log_linear_uniques_are_the_tables_each_counted_once_per_chance_to_be_drawn():
    people = crowd()
    for variant in ("predictive", "default"):
        fit = population.fit(people, population=5_000, model="log-linear", variant=variant)
        shares = np.ones(len(people))
        names = people.quasi_identifiers  # as published: all; else the county follows from the town
        for column in names if variant == "default" else ("sex", "rare", "town"):
            sizes = people.class_sizes([column])
            found = people.frequencies([column])
            table = FrequencyTable(found.sizes, found.counts)
            own = share_alike(sizes, table, 5_000) if variant == "predictive" else sizes / 500
            shares *= own
        alone = people.class_sizes() == 1
        stays = np.exp(-4_500 * shares[alone])
        assert fit.expected_uniques == pytest.approx(stays.sum() / 0.1)
        assert fit.expected_uniques_in_table == pytest.approx(stays.sum())
        assert fit.p_unique == pytest.approx(stays.mean())


def test_assess_and_population_fit_say_the_same_of_one_subset():
    people = crowd()
    names = list(people.quasi_identifiers)
    fit = population.fit(people, population=5_000, model="log-linear")
    result = rb.assess("adversary-routes", people, population=5_000)  # all known: one subset
    assert result.population.said.p_unique[1] == 0  # no number by class size is in play
    assert result.population.p_unique[1] == pytest.approx(fit.p_unique, rel=1e-9)
    match = result.risk("journalist_match").mean()
    assert match == pytest.approx(fit.expected_match, rel=1e-9)
    apart = rb.assess("adversary-routes", people, scenario=half_known(names), population=5_000)
    alone = people.class_sizes(["rare"]) == 1
    assert alone.any()
    one = population.fit(people, ["rare"], population=5_000, model="pitman-bayes")
    assert apart.population.by[2] == "pitman-bayes"
    assert apart.population.p_unique[2] == pytest.approx(one.p_unique, rel=1e-9)


def test_e_one_over_f_beside_poisson_people_is_the_integral():
    for f, v in product((1, 2, 3, 7, 30, 90), (0.0, 1e-6, 0.3, 2.0, 9.0, 40.0, 70.0, 900.0)):
        exact, _ = quad(lambda t, f=f, v=v: t ** (f - 1) * np.exp(-v * (1 - t)), 0, 1,
                        epsabs=1e-13, epsrel=1e-11, points=[1 - 1 / (v + f), 0.5])  # fmt: skip
        found = mean_inverse_beside(np.array([f]), np.array([v]))[0]
        assert found == pytest.approx(exact, rel=1e-7), (f, v)


def test_a_date_of_birth_seen_once_is_not_taken_for_one_of_a_thousandth():
    """20,000 dates, 1,000 of 100,000 people: shares from the table alone leave half as many unique.

    The truth is counted on the made-up population of a fixed seed; .923 of 1,000 have a standard
    error of .008.
    """
    rng = np.random.default_rng(1)
    N = 100_000
    rank = 1 / np.arange(1, 301)
    everybody = np.column_stack([rng.integers(0, 20_000, N), rng.integers(0, 2, N),
                                 rng.choice(300, N, p=rank / rank.sum())])  # fmt: skip
    _, place, count = np.unique(everybody, axis=0, return_inverse=True, return_counts=True)
    picked = rng.choice(N, 1_000, replace=False)
    truth = float((count[place.ravel()[picked]] == 1).mean())
    people = rb.People.from_codes(everybody[picked], ["date", "sex", "zip"])
    fits = {v: population.fit(people, population=N, model="log-linear", variant=v).p_unique
            for v in ("predictive", "default")}  # fmt: skip
    assert truth > 0.9
    assert fits["predictive"] == pytest.approx(truth, abs=0.05)
    assert fits["default"] < 0.6
    # Most have a date of their own: structures cannot be told, which is said.
    told = population.compare(people, population=N).set_index("model")
    assert told.index[told["recommended"]].tolist() == ["structured"]
    assert (
        "date: most people of the table have a value of their own" in told["remarks"]["structured"]
    )
    asked = rb.assess("adversary-routes", people.take(range(300)), population=N,
                      population_model="structured")  # fmt: skip
    assert any("date: most people" in note for note in asked.summary().notes)


def test_one_attribute_is_left_to_class_sizes():
    people = crowd()
    table = population.compare(people, ["rare"], population=40_000)
    assert table.loc[table["recommended"], "model"].item() == "pitman-bayes"
    models = ["pitman-bayes", "log-linear", "dankar"]
    table = population.compare(people, population=40_000, models=models)
    assert table.loc[table["recommended"], "model"].item() == "log-linear"
    assert "214" in table.attrs["recommendation"]
    fit = population.fit(people, ["rare"], population=40_000, model="log-linear")
    assert any("pitman-bayes" in warning for warning in fit.warnings)


# -- models by name --------------------------------------------------------------------------------


def test_the_population_model_is_chosen_by_name_and_kept_by_what_if():
    people = crowd()
    half = half_known(people.quasi_identifiers)
    found = {m: rb.assess("adversary-routes", people, scenario=half, population=40_000,
                          population_model=m) for m in (*BY_SIZE, "snb")}  # fmt: skip
    means = {m: round(float(r.risk("journalist").mean()), 12) for m, r in found.items()}
    assert len(set(means.values())) >= 4
    plain = rb.assess("adversary-routes", people, scenario=half, population=40_000)
    assert plain.inputs.population_model == "log-linear"
    assert plain.provenance["population_model"] == "log-linear"
    changed = rb.what_if(found["pitman"], set={"p_m": 0.2})
    assert changed.inputs.population_model == "pitman"
    again = rb.what_if(plain, population_model="pitman")
    assert np.array_equal(again.risk("journalist"), found["pitman"].risk("journalist"))
    assert any("no law of class sizes" in note for note in found["snb"].population.notes)


def test_a_population_model_that_an_assessment_cannot_ask_is_refused_with_a_remedy():
    with pytest.raises(UsageError, match="did you mean"):
        rb.assess("adversary-routes", crowd(), population=9_000, population_model="pitmann")
    with pytest.raises(UsageError, match=r"rb\.population\.fit"):
        rb.assess("adversary-routes", crowd(), population=9_000, population_model="truth")


# -- how sure, and the status of every fit ---------------------------------------------------------


@pytest.mark.parametrize("model", ["pitman", "pitman-bayes", "zayatz", "log-linear"])
def test_no_journalist_is_left_out_where_fits_end_on_their_boundary(model):
    frame = rb.datasets.synthetic_patients(600, seed=5)
    people = rb.read_table(frame, quasi_identifiers=["age", "sex", "state", "race"])
    result = rb.assess("adversary-routes", people, scenario="voter-registration",
                       population=6_900_000, population_model=model)  # fmt: skip
    assert result.population.statuses["boundary"] > 7
    assert sum(result.population.statuses.values()) == len(result.population.status) - 1
    found = result.population_uncertainty()
    table = found.table()
    assert list(table.index) == ["journalist", "journalist_match", "overall"]
    assert (table["low"] <= table["mean"] + 1e-15).all()
    assert (table["mean"] <= table["high"] + 1e-15).all()
    assert f"boundary on {result.population.statuses['boundary']}" in str(found)


def test_the_interval_of_the_log_linear_model_reaches_to_pitmans():
    people = crowd()
    result = rb.assess("adversary-routes", people, population=40_000)  # one subset
    table = result.population_uncertainty(0.9).table()
    pitman = rb.what_if(result, population_model="pitman-bayes")
    other = pitman.population_uncertainty(0.9).table()
    mean, low, high = (table.loc["journalist", c] for c in ("mean", "low", "high"))
    assert low <= min(mean, other.loc["journalist", "low"]) + 1e-12
    assert high >= max(mean, other.loc["journalist", "high"]) - 1e-12
    assert low < mean < high or low == pytest.approx(mean) or high == pytest.approx(mean)


def test_remarks_on_one_fit_never_say_too_low_and_too_high():
    rng = np.random.default_rng(3)
    seen = set()
    for cards, n in product([(9, 9), (40, 9), (60, 60), (200, 30, 4)], (60, 300, 900)):
        weights = [1 / np.arange(1, c + 1) ** 0.3 for c in cards]
        codes = np.column_stack([rng.choice(len(w), n, p=w / w.sum()) for w in weights])
        people = rb.People.from_codes(codes)
        for model in ("pitman", "pitman-bayes", "ewens"):
            fit = population.fit(people, population=50 * n, model=model)
            said = " ".join(fit.warnings)
            low, high = "were too low" in said, "fewer uniques than estimated" in said
            assert not (low and high), (cards, n, model, fit.warnings)
            seen |= {(fit.status, low, high)}
    assert ("boundary", True, False) in seen
    assert ("boundary", False, True) in seen


# -- beside the truth ------------------------------------------------------------------------------


def test_the_measured_shares_in_the_remarks_are_those_of_the_benchmark():
    text = (Path(__file__).parents[1] / "benchmarks/results/two_populations.md").read_text()
    part = text.split("## By status of the likelihood and share")[1].split("##")[0]
    rows = {tuple(c.strip() for c in line.split("|")[1:3]): line.split("|")[3:-1]
            for line in part.splitlines() if line.startswith("| ")}  # fmt: skip
    low = rows["boundary", "0% to 10%"]
    assert low[1].strip() == "12%"  # of pitman's estimates too high: 88 % too low
    assert low[3].strip() == "39%"  # of the posterior's: 61 % too low
    assert "| at most 10 % | 724 | 0.62 | 214 |" in text
    assert "| 0.30 | 52 |" in text


def test_a_native_country_seen_in_one_percent_of_adult_is_as_unique_as_it_is():
    place = DATA / "kroes" / "adult.csv.gz"
    if not place.is_file():
        pytest.skip("Adult is not here: set REIDBN_DATA to the folder of the real tables")
    frame = pd.read_csv(place)
    everybody = rb.read_table(frame, quasi_identifiers=["age", "race", "native_country"])
    half = half_known(everybody.quasi_identifiers)
    for seed in (2, 5):
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.choice(len(frame), len(frame) // 100, replace=False))
        check = truth_check(everybody, rows, scenario=half, seed=seed, draws=20_000)
        found = check.uniqueness().set_index("known").loc["age+race+native_country"]
        assert 0.5 < found["predicted"] / found["true"] < 2
        assert check.result.population.p_unique[7] == pytest.approx(found["predicted"], abs=0.02)


@pytest.mark.parametrize("model", ["log-linear", *BY_SIZE])
def test_the_worst_case_says_no_less_of_anybody_than_an_attacker_who_knows_less(model):
    """All columns known for sure are one group; what a model says of its parts still counts."""
    people = crowd()
    worst = rb.assess("adversary-routes", people, population=200_000, population_model=model)
    known = tuple(Known(n, (n,), (0.99,), source="assumption") for n in people.columns)
    less = rb.assess(
        "adversary-routes", people, scenario=Scenario("less", knows=Knows(known)),
        population=200_000, population_model=model,
    )  # fmt: skip
    for measure in ("journalist", "journalist_match", "overall"):
        assert (worst.risk(measure) >= less.risk(measure) - 1e-12).all(), measure
    ends = worst.population_uncertainty().table()
    assert (ends["low"] <= ends["mean"] + 1e-12).all()
    assert (ends["high"] >= ends["mean"] - 1e-12).all()


def test_each_person_of_a_group_gets_the_most_that_any_part_of_it_says():
    """By a plain loop over the subsets of the columns, each fitted alone."""
    people = crowd(n=200)
    columns = list(people.columns)
    worst = rb.assess("adversary-routes", people, population=50_000, population_model="pitman")
    unique, match = np.zeros(len(people)), np.zeros(len(people))
    for chosen in product((False, True), repeat=len(columns)):
        part = [c for c, is_in in zip(columns, chosen, strict=True) if is_in]
        if not part:
            continue
        fit = rb.population.fit(people, part, population=50_000)
        alike = people.class_sizes(part)
        unique = np.maximum(unique, np.where(alike == 1, fit.p_unique, 0))
        match = np.maximum(match, fit.mean_inverse(alike))
    assert worst.risk("journalist") == pytest.approx(unique, rel=1e-6)
    assert worst.risk("journalist_match") == pytest.approx(match, rel=1e-6)


def test_a_group_of_many_columns_does_not_keep_what_is_said_of_every_part_of_it():
    """Eleven columns in one group, 2,048 parts: their grids and numbers took 750 MB."""
    people = crowd()
    worst = rb.assess("adversary-routes", people, population=6_900_000)
    parts = worst.population.finer.population
    assert len(parts.status) == 16
    rows = np.arange(worst.classes.rows)
    assert parts.unique(rows).shape == (rows.size, 2)  # nothing known, and all of the group
    assert parts.match(rows).shape == (rows.size, 2)
    fits = fit_tables(
        worst.classes.frequencies, 6_900_000, estimate="posterior", sizes=worst.classes.occurring
    )
    assert fits.nodes == ()
    kept = fit_tables(worst.classes.frequencies, 6_900_000, estimate="posterior")
    for mask, sizes in enumerate(worst.classes.occurring):
        assert fits.match[mask] == pytest.approx(kept.mean_inverse(mask, sizes), rel=1e-12)


def test_a_model_with_a_law_of_class_sizes_says_the_same_of_a_match_in_assess_and_in_a_fit():
    frame = rb.datasets.synthetic_patients(3000, seed=5).iloc[:8]
    people = rb.read_table(frame, quasi_identifiers=["education", "sex", "age"])
    for model in ("ewens", "pitman-bayes"):
        result = rb.assess("adversary-routes", people, population=100_000, population_model=model)
        fit = rb.population.fit(people, population=100_000, model=model)
        alone = people.class_sizes() == 1
        match = result.risk("journalist_match")[alone]
        assert match == pytest.approx(fit.mean_inverse([1])[0], abs=1e-9)
        assert not any("has no law of class sizes" in note for note in result.summary().notes)


@pytest.mark.parametrize("model", ["log-linear", *BY_SIZE])
def test_a_guess_of_somebody_who_knows_nothing_is_right_once_in_the_population(model):
    rng = np.random.default_rng(0)
    table = {"a": rng.choice(list("stuv"), 11), "b": rng.choice(list("xyzw"), 11)}
    people = rb.read_table(table, quasi_identifiers=["a", "b"])
    seldom = tuple(Known(n, (n,), (1e-12,), source="assumption") for n in people.names(None))
    scenario = Scenario("seldom", knows=Knows(seldom))
    found = rb.assess(
        "adversary-routes", people, scenario=scenario, population=220, population_model=model
    )
    assert found.risk("journalist_match") == pytest.approx(np.full(11, 1 / 220), rel=1e-9)


def test_where_no_model_was_compared_with_the_truth_the_more_cautious_one_speaks():
    """On made-up patients log-linear alone was as low as a fifth of what happened."""
    frame = rb.datasets.synthetic_patients(1_000, seed=1)
    people = rb.read_table(frame, quasi_identifiers=["age", "sex", "state", "race"])
    scenario = Scenario("half", knows=Knows(tuple(
        Known(c, (c,), (0.5,), source="assumption") for c in people.quasi_identifiers
    )))  # fmt: skip
    more = {"scenario": scenario, "population": 6_900_000}
    default = rb.assess("adversary-routes", people, **more)
    pitman = rb.assess("adversary-routes", people, population_model="pitman-bayes", **more)
    for measure in ("journalist", "journalist_match"):
        assert (default.risk(measure) >= pitman.risk(measure) - 1e-12).all()
    assert any("the larger of what log-linear and pitman-bayes say" in n
               for n in default.summary().notes)  # fmt: skip
    spread = default.population_uncertainty()
    low, high = spread.low["journalist"].mean(), spread.high["journalist"].mean()
    assert low <= default.risks["journalist"].mean() <= high
    known = rb.assess("adversary-routes", people, scenario=scenario, population=100_000)
    assert not any("the larger of" in n for n in known.summary().notes)
