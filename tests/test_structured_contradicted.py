"""Where the structures cannot be right: what one column says alone, crowds, and what can be."""

import json

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn import population

# -- what the values of a column say by themselves -------------------------------------------------


def heavy(rng, size):
    """Diagnoses with a heavy tail, and a sex that has nothing to do with them."""
    diagnoses = np.minimum(rng.zipf(1.6, size), 3_000)
    return np.column_stack([diagnoses, rng.integers(0, 2, size)])


@pytest.mark.parametrize("seed", range(4))
def test_learning_more_is_not_told_to_part_fewer(seed):
    """Diagnosis and sex: the structures say a tenth of what the diagnosis alone leaves unique."""
    rng = np.random.default_rng([101, seed])
    everybody = rb.People.from_codes(heavy(rng, 20_000), ["diagnosis", "sex"])
    truth = int((everybody.class_sizes() == 1).sum())
    table = everybody.take(rng.choice(20_000, 1_000, replace=False))
    fit = population.fit(table, population=20_000, model="structured")
    low, high = fit.prediction_interval()
    assert low <= truth <= high
    column, many = fit.contradicted
    assert column == "diagnosis"
    assert many > 2 * fit.expected_uniques
    assert any("diagnosis alone leaves about" in word for word in fit.warnings)
    best = population.compare(table, population=20_000)
    assert best.attrs["recommendation"].startswith("pitman-bayes: diagnosis alone leaves")
    said = float(best.set_index("model")["expected_uniques"]["pitman-bayes"])
    assert truth / 2 < said < 2 * truth


@pytest.mark.parametrize("seed", [0, 2])
def test_on_every_subset_too_a_column_alone_is_heard(seed):
    """Where two columns are known the structures had a half of what one of them leaves unique."""
    rng = np.random.default_rng([101, seed, 0])
    codes = heavy(rng, 20_000)
    everybody = rb.People.from_codes(codes, ["diagnosis", "sex"])
    table = everybody.take(rng.choice(20_000, 1_000, replace=False))
    fits = population.fit_subsets(table, population=20_000, model="structured")
    truth = int((everybody.class_sizes() == 1).sum())
    assert fits.by[3] == "pitman-bayes"
    assert truth / 1.5 < fits.expected_uniques[3] < 1.5 * truth
    assert fits.expected_uniques[3] >= fits.expected_uniques[1]
    told = rb.assess("adversary-routes", table, population=20_000, population_model="structured")
    assert any("one column alone (diagnosis)" in note for note in told.notes)


def test_survey_weights_do_not_silence_a_column():
    """Women asked three times as often: structures and shares multiplied say a tenth of 413."""
    rng = np.random.default_rng([101, 0])
    codes = heavy(rng, 20_000)
    everybody = rb.People.from_codes(codes, ["diagnosis", "sex"])
    truth = int((everybody.class_sizes() == 1).sum())
    asked = np.flatnonzero(rng.random(20_000) < np.where(codes[:, 1] == 0, 1 / 12, 1 / 40))
    table = pd.DataFrame(codes[asked], columns=["diagnosis", "sex"])
    of = pd.Series(codes[:, 1]).value_counts()
    table["weight"] = table["sex"].map(of / table["sex"].value_counts())
    people = rb.read_table(table, quasi_identifiers=["diagnosis", "sex"], weights="weight")
    fit = population.fit(people, population=20_000)
    assert fit.model == "structured"
    assert fit.contradicted[0] == "diagnosis"
    low, high = fit.prediction_interval()
    assert fit.expected_uniques < truth / 4
    assert low <= truth <= high
    best = population.compare(people, population=20_000)
    assert best.attrs["recommendation"].startswith("pitman-bayes: diagnosis alone leaves")
    shares = population.fit(people, population=20_000, model="log-linear")
    assert any("diagnosis alone leaves about" in word for word in shares.warnings)
    told = rb.assess("adversary-routes", people, population=20_000)
    assert any("one column alone (diagnosis)" in note for note in told.notes)


def test_a_column_that_leaves_a_little_more_unique_widens_the_interval():
    """A long tail beside sex and region: 1,991 was said, up to 3,277, and 5,100 are alone."""
    rng = np.random.default_rng([105, 1])
    weight = 1 / np.arange(1, 5_001) ** 1.1
    held = widened = 0
    for seed in range(4):
        tail = rng.choice(5_000, 20_000, p=weight / weight.sum())
        sex, region = rng.integers(0, 2, 20_000), rng.integers(0, 8, 20_000)
        codes = np.column_stack([tail, sex, region])
        everybody = rb.People.from_codes(codes, ["diagnosis", "sex", "region"])
        truth = int((everybody.class_sizes() == 1).sum())
        own = np.random.default_rng([106, seed])
        fit = population.fit(everybody.take(own.choice(20_000, 400, replace=False)),
                             population=20_000, model="structured")  # fmt: skip
        low, high = fit.prediction_interval()
        held += low <= truth <= high
        louder = fit.sample.loudest[1] > fit.expected_uniques
        told = any("diagnosis alone leaves about" in word for word in fit.warnings)
        assert told == louder
        widened += told
    assert held >= 3
    assert widened


def test_a_crowd_that_has_nothing_makes_no_column_a_function():
    """Nine in ten have "none" everywhere; what the others have is independent."""
    rng = np.random.default_rng(102)
    some = rng.random(20_000) < 0.1
    own = rng.integers(1, 40, (20_000, 4)) * some[:, None]
    everybody = rb.People.from_codes(np.column_stack([rng.integers(0, 2, 20_000), own]),
                                     ["sex", "ward", "procedure", "drug", "days"])  # fmt: skip
    held = 0
    for seed in range(6):
        picked = np.random.default_rng([103, seed]).choice(20_000, 400, replace=False)
        fit = population.fit(everybody.take(picked), population=20_000, model="structured")
        assert fit.dropped == ()
        low, high = fit.prediction_interval()
        held += low <= int((everybody.class_sizes() == 1).sum()) <= high
    assert held >= 5


def test_there_are_no_more_uniques_than_there_can_be():
    rng = np.random.default_rng(104)
    everybody = rb.People.from_codes(rng.integers(0, 12, (1_000, 3)), ["a", "b", "c"])
    for n in (999, 995, 980):
        table = everybody.take(np.arange(n))
        fit = population.fit(table, population=1_000, model="structured")
        low, high = fit.prediction_interval()
        assert fit.uniques - (1_000 - n) <= low <= high <= fit.uniques + 1_000 - n
        assert fit.expected_uniques <= fit.uniques + 1_000 - n


def test_a_table_in_which_all_are_alike_promises_nothing():
    people = rb.People.from_codes(np.zeros((200, 2), dtype=int), ["a", "b"])
    fit = population.fit(people, population=20_000, model="structured")
    low, high = fit.prediction_interval()
    assert low == 0
    assert high >= int(np.log(0.025) / np.log(1 - 200 / 20_000))
    assert any("no attribute parts people" in word for word in fit.warnings)


def test_strata_say_what_is_wrong_with_them():
    codes = np.column_stack([np.arange(40) % 7, np.repeat([0, 1], [39, 1])])
    people = rb.People.from_codes(codes, ["a", "region"])
    sizes = dict.fromkeys(people.labels("region").tolist(), 100)
    with pytest.raises(rb.UsageError, match=r'the stratum "1" has one person in the table'):
        population.fit(people, population=sizes, strata="region", model="pitman")
    halves = rb.People.from_codes(np.column_stack([np.arange(40) % 7, np.arange(40) % 2]),
                                  ["a", "region"])  # fmt: skip
    fit = population.fit(halves, population={0: 20, 1: 20}, strata="region", model="pitman")
    assert fit.people[["p_unique", "mean_inverse"]].to_numpy().max() <= 1
    with pytest.raises(rb.UsageError, match="ask one of them"):
        fit.mean_inverse([1])


def test_a_limit_that_the_interval_leaves_open_is_not_a_green_one(tmp_path):
    """Three columns that go together only as three: .0085 is said, .085 of the unique are so."""
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 30, (2, 20_000))
    z = np.where(rng.random(20_000) < 0.97, (x + y) % 30, rng.integers(0, 30, 20_000))
    everybody = rb.People.from_codes(np.column_stack([x, y, z]), ["x", "y", "z"])
    table = everybody.take(rng.choice(20_000, 1_000, replace=False))
    told = rb.assess("adversary-routes", table, population=20_000, population_model="structured")
    F = everybody.class_sizes()
    same = {tuple(code): size for code, size in zip(everybody.table.tolist(), F, strict=True)}
    truth = np.mean([same[tuple(code)] == 1 for code in table.table.tolist()])
    low, high = (float(np.mean(end)) for end in told.population_uncertainty().of_mean("journalist"))
    assert told.risk("journalist").mean() < truth / 10
    assert low <= truth <= high
    said = {}
    for limit in (0.02, 0.9):
        page = told.report(tmp_path / "r.md", threshold={"journalist": limit}, custodian=True)
        said[limit] = page.read_text()
    assert "By its estimate of the population alone this rule allows a public release" in said[0.02]
    assert "survey weights have none) it is not sure to be kept" in said[0.02]
    assert "**This rule allows a public release.**" in said[0.9]
    for limit, sure in ((0.02, False), (0.9, True)):
        summary = told.summary({"journalist": limit}, release="public")
        assert summary.passes is sure
        assert summary.to_dict()["passes"] is (True if sure else None)
        row = rb.risk_utility({"as it is": told}, threshold={"journalist": limit}).table.iloc[0]
        assert bool(row["passes"]) is sure


def test_a_gate_of_the_shell_is_not_kept_by_an_estimate_alone(tmp_path, shell):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 30, (2, 1_000))
    z = np.where(rng.random(1_000) < 0.97, (x + y) % 30, rng.integers(0, 30, 1_000))
    pd.DataFrame({"x": x, "y": y, "z": z}).to_csv(tmp_path / "t.csv", index=False)
    asked = ("assess", tmp_path / "t.csv", "--qi", "x,y,z", "--json",
             "--population", "20000", "--population-model", "structured")  # fmt: skip
    table = rb.read_table(tmp_path / "t.csv", quasi_identifiers=[*"xyz"])
    result = rb.assess("adversary-routes", table, population=20_000, population_model="structured")
    high = np.maximum(result.population_uncertainty().of_mean("overall")[1], result.risk()).max()
    between = (result.risk().max() + high) / 2
    assert result.risk().max() < between < high
    for limit, code in ((between, 1), (high + 1e-6, 0), (result.risk().max() - 1e-6, 1)):
        ended, said = shell(*asked, "--fail-above", repr(float(limit)))
        assert ended == code
        told = json.loads(said[said.index("{") :])["fail_above"]
        assert told["exceeded"] is bool(code)
        assert told["people_above"] <= told["people_above_at_upper_end"]
        assert (told["people_above"] > 0) is bool(limit < result.risk().max())
