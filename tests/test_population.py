"""Population uniqueness as users meet it: people, models side by side, subsets, approximations."""

import warnings

import numpy as np
import pandas as pd
import pytest
from inside import inside

import reidbn as rb
from reidbn import population
from reidbn.errors import DataError, UsageError
from reidbn.theory import seat_people, zayatz


@pytest.fixture(scope="module")
def register():
    """A population of 20,000 with four attributes that go together."""
    rng = np.random.default_rng(51)
    age = rng.integers(0, 80, 20_000)
    job = np.clip(age // 4 + rng.poisson(3, age.size), 0, 30)
    home = (40 * rng.beta(1, 3, age.size)).astype(int)
    sex = rng.integers(0, 2, age.size)
    return rb.People.from_codes(
        np.column_stack([age, job, home, sex]), ["age", "job", "home", "sex"]
    )


@pytest.fixture(scope="module")
def sample(register):
    rng = np.random.default_rng(52)
    return register.take(rng.choice(len(register), 2_000, replace=False))


def test_people_and_their_frequencies_give_the_same_fit(sample):
    f = sample.frequencies(["age", "job"])
    one = population.fit(sample, ["age", "job"], population=20_000)
    other = population.fit(sizes=f.sizes, counts=f.counts, population=20_000)
    assert (one.theta, one.alpha) == (other.theta, other.alpha)
    assert one.uniques == f.uniques
    assert one.sampling_fraction == pytest.approx(0.1)


def test_the_call_of_the_front_page_runs_as_written():
    fit = rb.population.fit(
        sizes=[1, 2, 3, 5], counts=[812, 150, 60, 9], population=100_000, model="pitman"
    )
    assert fit.status == "boundary"
    assert fit.theta > 0
    assert fit.alpha == 0
    low, high = fit.interval("expected_uniques", level=0.95)
    assert low <= fit.expected_uniques <= high
    first, last = fit.prediction_interval(level=0.95)
    assert isinstance(first, int)
    assert first < last
    law = fit.class_size_posterior(1)
    assert fit.p_unique == pytest.approx(law.p_equal, rel=1e-12)
    assert law.mean_inverse == pytest.approx(fit.mean_inverse(1), rel=1e-12)
    assert fit.p_unique < law.mean_inverse < 1


def test_expectations_hang_together(sample):
    fit = population.fit(sample, population=20_000)
    assert fit.expected_uniques_in_table == pytest.approx(fit.uniques * fit.p_unique)
    ratio = fit.sampling_fraction * fit.expected_uniques_marginal / fit.uniques
    assert fit.p_unique_ratio == pytest.approx(ratio)
    sizes = sample.class_sizes()
    assert fit.expected_match == pytest.approx(np.mean(fit.mean_inverse(sizes)), rel=1e-12)
    assert fit.expected_match <= (1 / sizes).mean()
    words = fit.to_dict()
    assert words["expected_uniques_interval"][0] <= words["expected_uniques"]
    assert words["status"] == fit.status


def test_the_posterior_fit_averages_over_parameters(sample):
    fit = population.fit(sample, population=20_000, model="pitman-bayes")
    nodes = fit.posterior
    assert nodes.weight.sum() == pytest.approx(1)
    assert fit.alpha == pytest.approx(float(nodes.weight @ nodes.alpha))
    assert fit.realised.mean == pytest.approx(fit.expected_uniques, rel=1e-9)
    assert np.linalg.eigvalsh(fit.covariance).min() > 0
    one = population.fit(sample, population=20_000)
    assert abs(fit.p_unique - one.p_unique) < 4 * (one.interval("p_unique")[1] - one.p_unique)


# Models side by side


def test_truth_is_counted_by_matching(register, sample):
    fit = population.fit(sample, ["age", "job", "home"], population=register, model="truth")
    everybody = pd.DataFrame(register.codes(["age", "job", "home"])).value_counts()
    mine = [everybody[tuple(row)] for row in sample.codes(["age", "job", "home"]).tolist()]
    assert fit.population_sizes.tolist() == mine
    assert fit.expected_uniques == (everybody == 1).sum()
    alone = sample.class_sizes(["age", "job", "home"]) == 1
    assert fit.p_unique == pytest.approx((np.array(mine)[alone] == 1).mean())
    assert fit.expected_match == pytest.approx(np.mean(1 / np.array(mine)))


def test_a_table_that_is_no_part_of_the_population_is_refused(register, sample):
    with pytest.raises(DataError, match="part of the population"):
        population.fit(
            register, population=sample.take(np.repeat(np.arange(2000), 11)), model="truth"
        )


def test_truth_matches_by_value_not_by_code():
    names = ["town", "sex"]
    everybody = rb.read_table(
        pd.DataFrame({"town": ["A", "B", "C", "C", "B"], "sex": ["f", "m", "f", "f", "f"]}),
        quasi_identifiers=names,
    )
    table = rb.read_table(
        pd.DataFrame({"town": ["C", "B"], "sex": ["f", "m"]}), quasi_identifiers=names
    )
    fit = population.fit(table, population=everybody, model="truth")
    assert fit.population_sizes.tolist() == [2, 1]
    assert fit.expected_uniques == 3


def test_compare_is_a_tidy_table_with_one_recommendation(register, sample):
    table = population.compare(sample, ["age", "job", "home"], population=20_000)
    assert table["model"].tolist() == ["pitman", "pitman-bayes", "ewens", "zayatz", "snb",
                                       "dankar", "log-linear", "structured"]  # fmt: skip
    assert table["recommended"].sum() == 1
    best = table.loc[table["recommended"], "model"].item()
    assert table.attrs["recommendation"].startswith(f"{best}: ")
    own = table.set_index("model").loc["structured"]
    assert own["lower"] < own["expected_uniques"] < own["upper"]
    row = table.set_index("model").loc["zayatz"]
    known = sample.classes(["age", "job", "home"])
    t = population.fit(sample, ["age", "job", "home"], population=20_000).sample.table
    assert row["p_unique"] == pytest.approx(zayatz(t, 20_000))
    assert row["expected_uniques"] == pytest.approx(known.uniques * row["p_unique"] / 0.1)
    told = population.compare(sample, ["age", "job", "home"], population=register)
    assert told.loc[told["recommended"], "model"].item() == "truth"


def test_compare_recommends_by_the_record_on_real_tables(register):
    half = register.take(np.random.default_rng(53).choice(20_000, 10_000, replace=False))

    def recommended(people=half, N=20_000, **more):
        table = population.compare(people, population=N, **more)
        return table.loc[table["recommended"], "model"].item()

    assert recommended() == "structured"
    without = ["pitman-bayes", "dankar", "log-linear"]
    assert recommended(models=without) == "dankar"
    assert recommended(half.take(range(2_000)), models=without) == "log-linear"
    few = half.take(range(90))  # too few to tell structures apart
    assert recommended(few, 9_000) == "log-linear"
    assert recommended(half.take(range(150)), 150_000) in ("log-linear", "pitman-bayes")
    sizes = population.fit(half, population=20_000).sample.table
    counted = population.compare(sizes=sizes.sizes, counts=sizes.counts, population=20_000)
    assert counted.loc[counted["recommended"], "model"].item() == "dankar"
    complete = population.compare(half, population=10_000)
    assert complete.loc[complete["recommended"], "model"].item() == "zayatz"


def test_compare_survives_models_that_have_no_answer():
    table = population.compare(sizes=[1], counts=[500], population=10_000).set_index("model")
    assert table.loc["snb", "status"] == "no solution"
    assert pd.isna(table.loc["snb", "expected_uniques"])
    assert table.loc["pitman", "status"] == "no finite maximum"
    named = population.compare(sizes=[1, 2], counts=[9, 3], population=99, models=["zayatz"])
    assert named["model"].tolist() == ["zayatz"]
    assert named["recommended"].tolist() == [True]


def test_dankars_rule_can_choose_snb(register):
    heavy = {"sizes": [1, 2, 3, 9], "counts": [812, 150, 60, 9], "population": 100_000}
    low = population.fit(**heavy, model="dankar")
    assert low.chosen.model == "pitman"
    assert low.interval() == population.fit(**heavy).interval()
    bigger = register.take(np.random.default_rng(54).choice(20_000, 5_000, replace=False))
    high = population.fit(bigger, population=20_000, model="dankar")
    rivals = [population.fit(bigger, population=20_000, model=m) for m in ("snb", "zayatz")]
    assert high.expected_uniques == min(fit.expected_uniques for fit in rivals)
    assert high.chosen.model == "snb"
    boundary = population.fit(sizes=[1, 2], counts=[500, 250], population=100_000, model="dankar")
    assert boundary.chosen.model == "zayatz"


def test_survey_weights_give_individual_risks():
    rng = np.random.default_rng(55)
    codes, weights = rng.integers(0, 6, (200, 2)), rng.uniform(2, 40, 200)
    people = rb.People.from_codes(codes, ["a", "b"], weights=weights)
    N = round(weights.sum())
    fit = population.fit(people, population=N, model="benedetti-franconi")
    frame = pd.DataFrame(codes, columns=["a", "b"]).assign(w=weights)
    total = frame.groupby(["a", "b"])["w"].transform("sum").to_numpy()
    assert fit.class_weights == pytest.approx(total)
    assert fit.expected_reidentifications == pytest.approx(fit.individual_risk.sum())
    with pytest.raises(UsageError, match="survey weights"):
        population.fit(
            rb.People.from_codes(codes, ["a", "b"]), population=5_000, model="benedetti-franconi"
        )
    with pytest.raises(UsageError, match="outside the table"):
        _ = fit.expected_uniques


def test_log_linear_fits_from_people(sample):
    plain = population.fit(sample, ["job", "home"], population=20_000, model="log-linear")
    joint = population.fit(
        sample, ["job", "home"], population=20_000, model="log-linear",
        interactions=[["job", "home"]],
    )  # fmt: skip
    # With every interaction in, the model reproduces the table: mu = 1 on a unique row.
    v = (1 - 0.1) / 0.1
    assert joint.p_unique == pytest.approx(np.exp(-v), rel=1e-9)
    assert 0 < plain.p_unique < 1
    assert plain.tau[0] == pytest.approx(plain.uniques * plain.p_unique)
    with pytest.raises(UsageError, match='no option "classes"'):
        population.fit(sample, population=20_000, model="log-linear", classes="shlosser")


def test_strata_have_populations_of_their_own(register):
    rng = np.random.default_rng(56)
    table = register.take(rng.choice(20_000, 3_000, replace=False))
    N = {0: 900_000, 1: 40_000}
    whole = population.fit(table, ["age", "job"], population=N, strata="sex")
    for label, size in N.items():
        own = table.take(table.codes(["sex"])[:, 0] == label)
        alone = population.fit(own, ["age", "job"], population=size)
        assert whole.parts[label].expected_uniques == pytest.approx(alone.expected_uniques)
    assert whole.expected_uniques == pytest.approx(
        sum(part.expected_uniques for part in whole.parts.values())
    )
    assert whole.population == 940_000
    assert whole.uniques == table.frequencies(["age", "job", "sex"]).uniques
    low, high = whole.interval()
    assert low < whole.expected_uniques < high
    first, last = whole.prediction_interval()
    assert first < whole.expected_uniques < last
    assert whole.class_size_posterior(2, stratum=1).N == 40_000
    with pytest.raises(UsageError, match="no number for 1 of the 2 strata"):
        population.fit(table, ["age"], population={0: 900_000}, strata="sex")


def test_one_stratum_is_the_plain_fit(sample):
    codes = np.column_stack([sample.codes(["age", "job"]), np.zeros(len(sample), dtype=int)])
    people = rb.People.from_codes(codes, ["age", "job", "state"])
    one = population.fit(people, population={0: 50_000}, strata="state", model="pitman-bayes")
    plain = population.fit(people, ["age", "job"], population=50_000, model="pitman-bayes")
    assert one.expected_uniques == plain.expected_uniques
    for a, b in zip(one.prediction_interval(), plain.prediction_interval(), strict=True):
        assert a == pytest.approx(b, rel=0.03)


# All subsets


@pytest.mark.parametrize("estimate", ["maximum likelihood", "posterior"])
def test_all_subsets_at_once_are_the_single_fits(sample, estimate):
    fits = population.fit_subsets(sample, population=20_000, estimate=estimate)
    assert len(fits) == 16
    model = "pitman" if estimate == "maximum likelihood" else "pitman-bayes"
    for mask in range(1, 16):
        names = [c for j, c in enumerate(sample.quasi_identifiers) if mask >> j & 1]
        one = population.fit(sample, names, population=20_000, model=model)
        assert fits.status[mask] == one.status
        assert fits.p_unique[mask] == pytest.approx(one.p_unique, rel=1e-7)
        assert fits.expected_uniques[mask] == pytest.approx(one.expected_uniques, rel=1e-7)
        sizes = one.sample.table.sizes
        assert fits.mean_inverse(mask, sizes) == pytest.approx(one.mean_inverse(sizes), rel=1e-7)
        assert not fits.fallback[mask]


def test_a_population_of_subsets_is_checked_like_any_other(sample):
    for wrong in (10, 1e300, "many"):
        with pytest.raises(UsageError):
            population.fit_subsets(sample, population=wrong)
    with pytest.raises(UsageError, match="did you mean"):
        population.fit_subsets(sample, population=20_000, estimate="posteriors")


def test_subsets_without_a_maximum_fall_back_smoothly_and_say_so():
    rng = np.random.default_rng(57)
    codes = np.column_stack([np.arange(300), rng.integers(0, 150, 300), np.zeros(300, dtype=int)])
    people = rb.People.from_codes(codes, ["id", "b", "same"])
    fits = population.fit_subsets(people, population=9_000)
    assert fits.fallback.tolist() == [True, True, False, True, True, True, False, True]
    assert fits.status[1] == "no finite maximum"
    assert fits.status[4] == "not identifiable"
    assert fits.statuses["no finite maximum"] == 4
    assert any("posterior mean" in note for note in fits.notes)
    single = population.fit(people, ["id"], population=9_000)
    assert fits.p_unique[1] == pytest.approx(single.p_unique, rel=1e-12)
    # One pair instead of none barely moves the posterior mean.
    nearly = population.fit(sizes=[1, 2], counts=[298, 1], population=9_000, model="pitman-bayes")
    assert 0.5 < nearly.p_unique / single.p_unique < 1


def test_groups_of_columns_are_learnt_together(sample):
    fits = population.fit_subsets(
        sample, {"who": ["age", "sex"], "where": ["home"]}, population=20_000
    )
    one = population.fit(sample, ["age", "sex"], population=20_000)
    assert len(fits) == 4
    assert fits.p_unique[1] == pytest.approx(one.p_unique, rel=1e-9)


# Values that match several others


@pytest.fixture(scope="module")
def covering():
    rng = np.random.default_rng(58)
    frame = pd.DataFrame(
        {"town": rng.choice(list("ABCDEFGH"), 600), "age": rng.integers(20, 60, 600).astype(float)}
    )
    frame.loc[::50, "age"] = np.nan
    return frame, rb.read_table(
        frame, quasi_identifiers=["town", "age"], missing="matches-anything"
    )


def test_match_counts_are_never_fitted_silently(covering):
    _, people = covering
    for call in (population.fit, population.compare, population.fit_subsets):
        with pytest.raises(DataError, match="finest-common-level"):
            call(people, population=50_000)
    with pytest.raises(UsageError, match="did you mean"):
        population.fit(people, population=50_000, approximation="finest-comon-level")


def test_columns_that_match_by_equality_need_no_approximation(covering):
    _, people = covering
    assert population.fit(people, ["town"], population=50_000).warnings is not None


def test_drop_leaves_covering_records_out(covering):
    frame, people = covering
    fit = population.fit(people, population=50_000, approximation="drop")
    known = rb.read_table(frame.dropna(), quasi_identifiers=["town", "age"])
    plain = population.fit(known, population=50_000)
    assert fit.n == 588
    assert fit.theta == plain.theta
    assert "12 of 600 records" in fit.warnings[0]


def test_finest_common_level_merges_what_matches(covering):
    _, people = covering
    fit = population.fit(people, population=50_000, approximation="finest-common-level")
    # A missing age matches every age, so only the town is left.
    assert fit.classes == 8
    assert "age from 41 to 1" in fit.warnings[0]


def test_finest_common_level_of_a_hierarchy():
    codes = ["12", "13", "1*", "25", "26", "31", "31"]
    people = rb.read_table(
        pd.DataFrame({"zip": codes}), quasi_identifiers=["zip"], hierarchies={"zip": rb.Prefix(1)}
    )
    assert not people.is_partition
    fit = population.fit(people, population=100, approximation="finest-common-level")
    # 12, 13 and 1* are one; 25, 26 and 31 stay apart.
    assert sorted(fit.sample.class_sizes.tolist()) == [1, 1, 2, 2, 3, 3, 3]
    fit = population.fit(people, population=100, approximation="drop")
    assert fit.n == 6


# Refusals and words


def test_what_does_not_go_together_is_refused(sample):
    with pytest.raises(UsageError, match="not both"):
        population.fit(sample, sizes=[1], counts=[3], population=99)
    with pytest.raises(UsageError, match="give a table"):
        population.fit(population=99)
    with pytest.raises(UsageError, match="did you mean"):
        population.fit(sample, population=20_000, model="pitmann")
    with pytest.raises(UsageError, match="did you mean"):
        population.fit(sample, ["agee"], population=20_000)
    with pytest.raises(UsageError, match="columns is empty"):
        population.fit(sample, [], population=20_000)
    with pytest.raises(UsageError, match=r"rb\.read_table"):
        population.fit(pd.DataFrame({"a": [1]}), population=20_000)
    fit = population.fit(sample, population=20_000)
    for wrong in (0, 1, 1.5):
        with pytest.raises(UsageError, match="between 0 and 1"):
            fit.interval(level=wrong)
    with pytest.raises(UsageError, match="did you mean"):
        fit.interval("expected_unique")
    with pytest.raises(UsageError, match="did you mean"):
        fit.interval(method="profil")
    with pytest.raises(UsageError, match="need 1 <= class"):
        fit.class_size_posterior(0)
    for model in ("truth", "log-linear", "benedetti-franconi"):
        with pytest.raises(UsageError, match="needs the table"):
            population.fit(sizes=[1, 2], counts=[3, 4], population=99, model=model)
    with pytest.raises(UsageError, match="population's table"):
        population.fit(sample, population=20_000, model="truth")
    with pytest.raises(UsageError, match="no interval"):
        population.fit(sample, population=20_000, model="zayatz").interval()


def test_a_crowded_domain_is_warned_of(register):
    table = register.take(np.random.default_rng(59).choice(20_000, 4_000, replace=False))
    fit = population.fit(table, ["age", "sex"], population=20_000)
    assert fit.sample.domain_share > 0.9
    assert any("new classes run out" in warning for warning in fit.warnings)
    seated = seat_people(np.random.default_rng(60), 3_000, theta=300.0, alpha=0.6)
    spread = [seated * k % 997 for k in (1, 7, 31)]
    roomy = rb.People.from_codes(np.column_stack(spread))
    assert not any("run out" in w for w in population.fit(roomy, population=10**6).warnings)


def test_a_wide_interval_is_warned_of():
    fit = population.fit(sizes=[1, 2], counts=[20, 2], population=10**6)
    assert any("too small for a point estimate" in warning for warning in fit.warnings)


def test_every_fit_prints_itself_and_its_numbers(sample, register):
    for model in population.MODELS[:6]:
        fit = population.fit(sample, population=20_000, model=model)
        assert repr(fit).startswith(f"<{model} (")
        assert fit.to_dict()["model"] == model
    truth = population.fit(sample, population=register, model="truth")
    assert "truth (counted)" in repr(truth)


def test_weights_below_one_are_refused_by_the_log_linear_model_and_not_read_as_certain():
    people = rb.People.from_codes([[0, 0], [1, 0], [1, 1]], ["age", "sex"], weights=[0.5, 2, 2])
    with pytest.raises(rb.DataError, match="1 person has a survey weight below 1, scaled to"):
        rb.population.fit(people, population=5, model="log-linear")
    by_class = rb.population.fit(people, population=5, model="benedetti-franconi")
    assert by_class.individual_risk[0] == 1
    assert any("less weight than records" in remark for remark in by_class.warnings)
    heavy = rb.People.from_codes([[0, 0], [1, 0], [1, 1]], ["age", "sex"], weights=[5, 20, 20])
    assert 0 < rb.population.fit(heavy, population=45, model="log-linear").p_unique < 1


def weighted(scale: float = 1.0, *, same: bool = False) -> rb.People:
    rng = np.random.default_rng(8)
    codes, weights = rng.integers(0, 7, (120, 3)), rng.uniform(4, 40, 120)
    weights = np.full(120, 30.0) if same else weights
    return rb.People.from_codes(codes, ["a", "b", "c"], weights=scale * weights)


@pytest.mark.parametrize("model", ["benedetti-franconi", "log-linear"])
def test_weights_say_shares_of_the_population_that_was_named(model):
    """Relative weights, weights of a tenth of the people and full ones: one answer, its own."""
    full = weighted()
    N = round(float(full.weights.sum()))
    told = rb.population.fit(full, population=N, model=model)
    assert not any("scaled" in remark for remark in told.warnings)
    for scale in (0.1, 1 / float(full.weights.mean()), 7.0):
        found = rb.population.fit(weighted(scale * N / full.weights.sum()), population=N,
                                  model=model)  # fmt: skip
        assert any(f"scaled to the population of {N:,}" in r for r in found.warnings)
        for name in ("p_unique", "expected_match"):
            assert getattr(found, name) == pytest.approx(getattr(told, name), rel=1e-3)
    rarer = rb.population.fit(full, population=10 * N, model=model)
    assert rarer.expected_match < told.expected_match / 5  # ten times as many people to be alike
    assert rarer.p_unique < told.p_unique


def test_weights_that_are_all_alike_say_what_no_weights_say():
    bare = rb.People.from_codes(weighted().codes(), ["a", "b", "c"])
    for N in (3_600, 36_000, 200):
        plain = rb.population.fit(bare, population=N, model="log-linear")
        found = rb.population.fit(weighted(same=True), population=N, model="log-linear")
        assert found.expected_uniques == pytest.approx(plain.expected_uniques, rel=1e-9)


def test_compare_recommends_no_estimate_of_another_population_than_the_one_named():
    """A row of weights for 3,600 people does not move where 36,000 are asked about."""
    for N in (3_600, 36_000):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            table = rb.population.compare(weighted(same=True), population=N).set_index("model")
        assert len(said) == (N == 36_000)
        bare = rb.People.from_codes(weighted().codes(), ["a", "b", "c"])
        alone = rb.population.compare(bare, population=N).set_index("model")
        best = table.index[table["recommended"]].item()
        assert best == alone.index[alone["recommended"]].item()
        assert table["p_unique"][best] == pytest.approx(alone["p_unique"][best], rel=1e-9)


@pytest.mark.parametrize("model", ["benedetti-franconi", "log-linear"])
def test_weights_of_a_table_that_is_the_whole_population_are_not_used(model):
    people = rb.People.from_codes([[0, 0], [1, 0], [1, 1]], ["a", "b"], weights=[1, 1, 8])
    found = rb.population.fit(people, population=3, model=model)
    assert found.p_unique == found.expected_match == 1
    assert any("the table is the whole population" in r for r in found.warnings)


def test_that_weights_were_scaled_is_said_beside_a_comparison_and_not_only_in_a_cut_off_cell():
    people = rb.People.from_codes([[0], [0], [1], [2]], ["a"], weights=[3.5, 4, 4, 4])
    with pytest.warns(rb.errors.ReidbnWarning, match="scaled to the population of 400"):
        rb.population.compare(people, population=400)
    whole = rb.People.from_codes([[0], [0], [1], [2]], ["a"], weights=[4, 4, 4, 4])
    rb.population.compare(whole, population=16)  # a warning would be an error


def test_weights_are_not_scaled_to_their_own_sum_in_whole_people():
    people = rb.People.from_codes([[0], [0], [1], [2]], ["a"], weights=[3.5, 4, 4, 4])
    asked = (None, "benedetti-franconi")
    found, alone = (rb.assess("adversary-routes", people, population_model=m) for m in asked)
    assert alone.population.weights[1].tolist() == [7.5, 4, 4]
    assert found.population.class_weights[1].tolist() == [7.5, 4, 4]
    for one in (found, alone):
        assert not any("scaled" in note for note in one.remarks())


@pytest.mark.parametrize("estimate", ["maximum likelihood", "posterior"])
def test_fits_that_are_kept_are_those_that_would_be_made_anew(sample, estimate, monkeypatch):
    """And where all are known nothing is fitted; outside nothing is kept."""
    tables = [sample.frequencies(known) for known in
              (["age"], ["age", "job"], ["age", "job", "home"], ["home", "sex"])]  # fmt: skip
    fit = population.fit_tables
    with population.fits_kept():
        fit(tables[:2], 20_000, estimate=estimate)
        others = fit(tables, 30_000, estimate=estimate)
        kept = fit(tables[::-1], 20_000, estimate=estimate)
        monkeypatch.setattr(inside(population.SubsetFits), "maximise", None)
        again = fit(tables, 20_000, estimate=estimate)
    monkeypatch.undo()
    for found, where, N in ((kept, tables[::-1], 20_000), (again, tables, 20_000),
                            (others, tables, 30_000)):  # fmt: skip
        fresh = fit(where, N, estimate=estimate)
        for name in ("theta", "alpha", "p_unique", "expected_uniques"):
            np.testing.assert_allclose(getattr(found, name), getattr(fresh, name), rtol=1e-11)
        assert (found.status, found.fallback.tolist()) == (fresh.status, fresh.fallback.tolist())
    with population.fits_kept():
        assert not population.fit_tables(tables, 20_000).nodes
    assert population.fit_tables(tables, 20_000).nodes
