"""Changes of an assessment, its intervals, and the files it writes."""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.attacks import routes, subset_classes
from reidbn.errors import DataError, ReidbnWarning, UsageError
from reidbn.population import fit

QI = ["age", "sex", "state", "race"]


@pytest.fixture(scope="module")
def frame():
    return rb.datasets.synthetic_patients(600, seed=5)


@pytest.fixture(scope="module")
def voter(frame):
    people = rb.read_table(frame, quasi_identifiers=QI, subject_id="patient_id")
    return rb.assess(
        "adversary-routes", people, scenario="voter-registration", population=6_900_000
    )


# -- fits on every subset --------------------------------------------------------------------------


def test_the_fit_of_every_subset_is_the_one_that_population_fit_finds(voter):
    found = rb.what_if(voter, population_model="pitman").population.said
    status = voter.population.status
    for mask, columns in enumerate(_columns(voter)):
        sizes = voter.classes.frequencies[mask]
        one = fit(sizes=sizes.sizes, counts=sizes.counts, population=6_900_000)
        assert status[mask] == one.status, columns
        # who is known by nothing is one of everybody, and unique in no population
        unique = one.p_unique if columns else 0.0
        assert found.p_unique[mask] == pytest.approx(unique, abs=1e-12)
        assert found.p_match[mask] == pytest.approx(one.mean_inverse(sizes.sizes), abs=1e-9)


def _columns(result):
    placed = result.groups.placed
    return [[p.label for j, p in enumerate(placed) if m >> j & 1] for m in range(1 << len(placed))]


def test_where_everybody_is_unique_the_posterior_stands_in_and_is_said_so():
    frame = pd.DataFrame({"age": np.arange(40), "sex": ["f", "m"] * 20})
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])
    result = rb.assess("adversary-routes", people, population=1000, population_model="pitman")
    assert result.population.fallback[-1]
    assert 0.5 < result.population.p_unique[-1] < 1
    assert any("posterior mean" in note for note in result.population.notes)


# -- how sure --------------------------------------------------------------------------------------


def test_the_population_interval_of_one_certain_subset_is_the_fits_own(frame):
    """Everything known for sure: the journalist's mean is (share unique) x P_unique."""
    people = rb.read_table(frame, quasi_identifiers=QI)
    result = rb.assess("adversary-routes", people, population=50_000, population_model="pitman")
    table = result.population_uncertainty(0.9).table()
    sizes = subset_classes(people, [tuple(QI)]).frequencies[1]
    one = fit(sizes=sizes.sizes, counts=sizes.counts, population=50_000)
    low, high = one.interval("p_unique", level=0.9, method="grid")
    unique = float((people.class_sizes(QI) == 1).mean())
    ends = sorted([low, high, one.p_unique])
    assert table.loc["journalist", "low"] == pytest.approx(unique * ends[0], rel=1e-9)
    assert table.loc["journalist", "high"] == pytest.approx(unique * ends[-1], rel=1e-9)
    assert {"journalist", "journalist_match", "overall"} == set(table.index)


def test_intervals_hold_the_estimate_and_widen_with_the_level(voter):
    narrow, wide = (voter.population_uncertainty(level).table() for level in (0.5, 0.99))
    for table in (narrow, wide):
        assert (table["low"] <= table["mean"] + 1e-15).all()
        assert (table["mean"] <= table["high"] + 1e-15).all()
    assert (wide["low"] <= narrow["low"]).all()
    assert (wide["high"] >= narrow["high"]).all()
    assert "95 % intervals" in str(voter.population_uncertainty())


def test_a_table_that_is_the_population_leaves_nothing_open(frame):
    people = rb.read_table(frame, quasi_identifiers=QI)
    result = rb.assess("adversary-routes", people, population=len(people))
    found = result.population_uncertainty().table()
    assert (found["low"] == found["high"]).all()


def test_an_assessment_without_a_population_has_no_such_interval(frame):
    people = rb.read_table(frame, quasi_identifiers=QI)
    attack = rb.load("marketer")
    questions = [q for q in attack.questions.values() if not q.given]
    with pytest.raises(UsageError, match="estimates nothing about a population"):
        rb.assess(attack.replace(questions=questions), people).population_uncertainty()


def test_priors_give_an_interval_of_the_mean_risk(voter):
    """Mean risk is affine in each parameter: its mean under priors is the risk at their means."""
    found = voter.uncertainty(draws=2_000, seed=4)
    means = {p.name: 0.5 for p in voter.attack.parameters.values()}
    assert found.mean == pytest.approx(rb.what_if(voter, set=means).risk().mean(), abs=1e-9)
    assert found.quantiles[0.05].value < found.mean < found.quantiles[0.95].value


# -- sweeps, solutions, generalisation ------------------------------------------------------------


def test_a_sweep_per_person_goes_to_a_file_under_the_users_own_ids(voter, tmp_path):
    grid = {"p_c": [0.2, 0.5], "p_m": [0.1]}
    path = tmp_path / "sweep.parquet"
    rows = rb.sweep(voter, grid, per_person=True, path=path)
    assert rows["mean"].tolist() == rb.sweep(voter, grid)["mean"].tolist()
    kept, whole = pd.read_parquet(path), rb.sweep(voter, grid, per_person=True)
    pd.testing.assert_frame_equal(kept, whole)
    assert set(kept["subject"]) == set(voter.inputs.people.subject_ids.tolist())
    again = rb.what_if(voter, set={"p_c": 0.5, "p_m": 0.1})
    assert kept[kept["p_c"] == 0.5]["probability"].to_numpy() == pytest.approx(again.risk())


def test_a_path_without_rows_per_person_is_refused(voter, tmp_path):
    with pytest.raises(UsageError, match="per_person=True"):
        rb.sweep(voter, {"p_c": [0.2]}, path=tmp_path / "x.parquet")
    with pytest.raises(UsageError, match="its folder is not there"):
        rb.sweep(voter, {"p_c": [0.2]}, per_person=True, path=tmp_path / "no" / "x.parquet")


def test_the_largest_claim_rate_that_keeps_95_percent_of_people_under_a_target(voter):
    quiet = rb.what_if(voter, set={"p_m": 0.05})
    found = rb.solve(quiet, "p_c", statistic="q95", target=0.09)
    at, above = (rb.what_if(quiet, set={"p_c": found.largest + e}).risk() for e in (0, 1e-6))
    assert np.quantile(at, 0.95, method="inverted_cdf") <= 0.09 + 1e-12
    assert np.quantile(above, 0.95, method="inverted_cdf") > 0.09
    assert "q95" in str(found)


def test_a_generalisation_is_the_assessment_of_the_coarser_table(voter, frame):
    coarse = rb.what_if(voter, generalise={"age": 1}, hierarchies={"age": rb.Bands(10)})
    banded = frame.assign(age=frame["age"] // 10)
    people = rb.read_table(banded, quasi_identifiers=QI, subject_id="patient_id")
    direct = rb.assess(
        "adversary-routes", people, scenario="voter-registration", population=6_900_000
    )
    assert np.abs(coarse.risk() - direct.risk()).max() <= 1e-12
    with pytest.raises(UsageError, match="name the levels too"):
        rb.what_if(voter, hierarchies={"age": rb.Bands(10)})


def test_options_are_told_by_risk_and_information_lost(voter, tmp_path):
    bands = rb.Bands(10, 40)
    options = {"as it is": voter}
    for level in (1, 2):
        options[f"level {level}"] = rb.what_if(
            voter, generalise={"age": level}, hierarchies={"age": bands}
        )
    found = rb.risk_utility(options, threshold={"overall": 0.09})
    lost, above = found.table["information_lost"], found.table["above"]
    assert lost.iloc[0] == 0
    assert lost.is_monotonic_increasing
    assert above.is_monotonic_decreasing
    assert above.iloc[0] == (voter.risk() > 0.09).sum()
    found.plot(tmp_path / "options.svg")
    assert "level 2" in (tmp_path / "options.svg").read_text()
    with pytest.raises(UsageError, match="the original first"):
        rb.risk_utility({})


# -- files -----------------------------------------------------------------------------------------


def test_the_restricted_file_holds_everybody_with_route_and_attribute(voter, tmp_path):
    table = pd.read_csv(voter.to_restricted(tmp_path / "all.csv"))
    assert table["overall"].is_monotonic_decreasing
    by_id = table.set_index("subject").loc[voter.subjects.index]
    assert by_id["overall"].to_numpy() == pytest.approx(voter.risk())
    through = routes(voter)
    assert (by_id["main_route"] == through.idxmax(axis=1)).all()
    assert set(by_id["main_group"]) <= {p.label for p in voter.groups.placed}
    parquet = pd.read_parquet(voter.to_restricted(tmp_path / "all.parquet"))
    assert parquet.columns.tolist() == table.columns.tolist()
    with pytest.raises(UsageError, match=r"\.csv or \.parquet"):
        voter.to_restricted(tmp_path / "all.txt")


def test_the_file_of_risks_is_keyed_by_the_users_own_id(voter, tmp_path):
    table = pd.read_parquet(voter.to_parquet(tmp_path / "risks.parquet")).set_index("subject")
    pd.testing.assert_frame_equal(table, voter.subjects)


# -- bad input -------------------------------------------------------------------------------------


def test_a_subject_id_that_repeats_is_an_error_with_the_remedy(frame):
    twice = pd.concat([frame, frame.head(3)])
    people = rb.read_table(twice, quasi_identifiers=QI, subject_id="patient_id")
    with pytest.raises(DataError, match=r"id of 3 people repeats.*drop the repeats"):
        rb.assess("adversary-routes", people, population=5000)
    kept = rb.assess("adversary-routes", people, population=5000, histories=True)
    assert len(kept) == 600


def test_rows_taken_twice_are_an_error_too(voter):
    people = voter.inputs.people
    doubled = people.take(np.array([0, 0, 1, 2]))
    with pytest.raises(DataError, match="1 row repeats the subject id"):
        rb.assess("adversary-routes", doubled, population=5000)


def test_a_table_may_call_the_state_and_the_age_as_it_likes(frame):
    """Look-ups follow the renamed columns; the facts keep their own names, bands too."""
    renamed = frame.rename(columns={"state": "residence", "age": "years"})
    own = {"state": "residence", "age": "years"}
    for scenario in ("voter-registration", "voter-registration-by-group"):
        plain, ours = (
            rb.assess(
                "adversary-routes",
                rb.read_table(table, quasi_identifiers=qi),
                scenario=scenario,
                population=6_900_000,
                columns=columns,
            )
            for table, qi, columns in (
                (frame, QI, {}),
                (renamed, ["years", "sex", "residence", "race"], own),
            )
        )
        assert np.abs(plain.risk() - ours.risk()).max() <= 1e-12


# -- who is compared with whom ---------------------------------------------------------------------


@pytest.mark.parametrize("subject_id", [None, "person"])
def test_assessments_of_as_many_other_people_are_not_compared(subject_id):
    frame = pd.DataFrame({"person": [21, 13, 34, 55, 42, 60], "age": [50, 50, 51, 60, 61, 61]})
    people = rb.read_table(frame, quasi_identifiers="age", subject_id=subject_id)
    three = rb.assess("marketer", people.take([0, 1, 2]))
    for rows in ([3, 4, 5], [2, 1, 0]):
        other = rb.assess("marketer", people.take(rows))
        with pytest.raises(UsageError, match="the same ones in the same order"):
            rb.compare(three, other)
        assert rb.risk_utility({"a": three, "b": other}).table["information_lost"].isna()["b"]
    same = rb.assess("marketer", people.take([0, 1, 2]).take([0, 1, 2]))
    assert rb.compare(three, same).table["median"].eq(0).all()


def test_as_many_people_left_by_another_suppression_are_not_compared():
    frame = {"age": [50, 52, 60, 60], "sex": ["f", "f", "f", "m"]}
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])
    result = rb.assess("marketer", people)
    decades = {"age": rb.Bands(10)}
    anybody = {"sex": rb.Tree({"anybody": ["f", "m"]})}
    by_age = rb.what_if(result, generalise={"age": 1}, hierarchies=decades, suppress=2)
    by_sex = rb.what_if(result, generalise={"sex": 1}, hierarchies=anybody, suppress=2)
    assert (len(by_age), len(by_sex)) == (2, 2)
    with pytest.raises(UsageError, match="the same ones in the same order"):
        rb.compare(by_age, by_sex)


def test_individuals_drawn_by_other_seeds_are_not_compared():
    people = rb.read_table({"age": np.arange(40) // 3}, quasi_identifiers="age")
    some, others = (rb.assess("marketer", people, individuals=5, seed=seed) for seed in (1, 2))
    with pytest.raises(UsageError, match="the same ones in the same order"):
        rb.compare(some, others)
    again = rb.assess("marketer", people, individuals=5, seed=1)
    assert rb.compare(some, again).table["q3"].eq(0).all()


def test_tables_that_were_read_apart_are_not_compared_row_by_row():
    """Unless a subject id, or the very same content, says who is who."""
    frame = rb.datasets.synthetic_patients(60, seed=1)
    frame["person"] = np.arange(60)
    shuffled = frame.sample(frac=1, random_state=1)

    def assessed(frame, **named):
        return rb.assess("marketer", rb.read_table(frame, quasi_identifiers=["age"], **named))

    one, other = assessed(frame), assessed(shuffled)
    with pytest.raises(UsageError, match="subject_id="):
        rb.compare(one, other)
    with pytest.raises(UsageError, match="same ones in the same order"):  # ids say: another order
        rb.compare(assessed(frame, subject_id="person"), assessed(shuffled, subject_id="person"))
    with pytest.warns(ReidbnWarning, match="of different tables: another table"):
        assert one.compare(other).loc["overall", "difference"] == pytest.approx(0, abs=1e-15)
    assert rb.risk_utility({"a": one, "b": other}).table["information_lost"].isna()["b"]
    assert rb.compare(one, assessed(frame)).table["q3"].eq(0).all()
    apart = rb.compare(one, rb.assess("marketer", one.table.select(["age"])))
    assert apart.table["q3"].eq(0).all()


def test_assessments_of_other_events_are_not_compared():
    people = rb.read_table(rb.datasets.synthetic_patients(60, seed=1), quasi_identifiers=["age"])
    routes = rb.assess("adversary-routes", people, population=1000)
    prosecutor = rb.assess("prosecutor", people)
    for compared in (rb.compare, rb.assess("prosecutor", people).__class__.compare):
        with pytest.raises(UsageError, match="different events: adversary-routes"):
            compared(routes, prosecutor)


def test_a_comparison_says_what_differs_and_calls_no_evidence_a_reduction():
    people = rb.read_table(rb.datasets.synthetic_patients(60, seed=1), quasi_identifiers=["age"])
    routes = rb.assess("adversary-routes", people, population=1000)
    learnt = rb.compare(routes, rb.what_if(routes, given={"claims": "yes"}))
    assert "reduction" not in str(learnt)
    assert "  given claims: nothing -> yes" in str(learnt)
    told = rb.compare(routes, rb.what_if(routes, set={"p_c": 0.1}))
    assert "reduction of the risk" in str(told)
    assert "  p_c: 0.5 -> 0.1" in str(told)
    coarse = rb.what_if(routes, generalise={"age": 1}, hierarchies={"age": rb.Bands(10)})
    assert rb.compare(routes, coarse).differs == (
        "level of age: 0 -> 1", "the table as it is released",
    )  # fmt: skip


def test_the_main_route_is_the_attacks_own_where_a_scenario_has_an_event_on_top():
    table = rb.datasets.synthetic_patients(60, seed=2)
    people = rb.read_table(table, quasi_identifiers=["age", "sex"])
    asked = {"population": 6_000}
    plain = rb.assess("adversary-routes", people, scenario="worst-case", **asked)
    tried = rb.assess("adversary-routes", people, scenario="controlled-release", **asked)
    assert [*routes(tried).columns] == [*routes(plain).columns]
    np.testing.assert_allclose(routes(tried), routes(plain), atol=1e-12)
