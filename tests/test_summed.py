"""Risks summed over subsets against the exact engine's answer from every class size."""

import numpy as np
import pytest
from inside import inside

import reidbn as rb
from reidbn.attack import Known, Knows, Scenario
from reidbn.attacks import SubsetPopulation, subset_classes, summed

QI = ["age", "sex", "state", "race"]
ATTACKS = ("adversary-routes", "journalist", "marketer", "prosecutor")
HALF = Scenario("half", knows=Knows(tuple(Known(c, (c,), (0.4,), source="made up") for c in QI)))
PAIRS = Scenario("pairs", knows=Knows((
    Known("place", ("state", "race"), (0.3,), source="made up"),
    Known("rest", ("age", "sex"), (0.7,), source="made up"))))  # fmt: skip


def patients(records=400, seed=3, **more):
    frame = rb.datasets.synthetic_patients(records, seed=seed)
    return rb.read_table(frame, quasi_identifiers=QI, **more)


def both(monkeypatch, attack, people, **asked):
    """The assessment with risks summed, in small tiles, and from the whole table."""
    monkeypatch.setattr(inside(summed), "FROM", 1 << 62)
    whole = rb.assess(attack, people, **asked)
    monkeypatch.setattr(inside(summed), "FROM", 0)
    monkeypatch.setattr(inside(subset_classes), "TILE", 3000)
    monkeypatch.setattr(inside(SubsetPopulation), "SIDE_BY_SIDE", 7)
    monkeypatch.setattr(inside(SubsetPopulation), "CELLS", 64)
    return rb.assess(attack, people, **asked), whole


def agree(one, other):
    assert [*one.measures] == [*other.measures]
    for measure in one.measures:
        np.testing.assert_allclose(one.risk(measure), other.risk(measure), rtol=0, atol=1e-12)


def was_summed(result):
    """Whether no number per person and subset was made on the way."""
    return "sizes" not in result.classes.__dict__


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("scenario", [HALF, PAIRS, "worst-case", "who-is-attacking"])
def test_sums_are_the_exact_engines_answers(monkeypatch, attack, scenario):
    if scenario == "who-is-attacking" and attack != "adversary-routes":
        pytest.skip("the scenario speaks of the routes' parameters")
    found, whole = both(monkeypatch, attack, patients(), scenario=scenario, population=2_000)
    agree(found, whole)
    if scenario != "worst-case":  # there some evidence is impossible, and the engine says so
        assert was_summed(found)
    assert not was_summed(whole)


@pytest.mark.parametrize("scenario", ["voter-registration", "voter-registration-by-group"])
def test_where_people_differ_in_what_is_known_nothing_is_summed_and_the_answer_is_the_same(
    monkeypatch, scenario
):
    frame = rb.datasets.synthetic_patients(300, seed=4)
    people = rb.read_table(frame, quasi_identifiers=QI)
    found, whole = both(monkeypatch, "adversary-routes", people, scenario=scenario,
                        population=2_000)  # fmt: skip
    agree(found, whole)


@pytest.mark.parametrize("model", ["log-linear", "pitman", "pitman-bayes", "zayatz", "ewens"])
@pytest.mark.parametrize("population", [400, 3_000, 10_000_000])
def test_every_population_model_is_summed_alike(monkeypatch, model, population):
    found, whole = both(monkeypatch, "adversary-routes", patients(), scenario=PAIRS,
                        population=population, population_model=model)  # fmt: skip
    agree(found, whole)
    assert was_summed(found) or found.population.finer is not None
    np.testing.assert_allclose(found.population.p_unique, whole.population.p_unique, atol=1e-12)
    assert found.population.notes == whole.population.notes
    assert found.population.table().equals(whole.population.table()) or np.allclose(
        found.population.table()["before"], whole.population.table()["before"], atol=1e-12
    )


def test_evidence_interventions_settings_and_some_individuals(monkeypatch):
    people = patients()
    for asked in (
        {"given": {"knows_age": "yes"}},
        {"given": {"claims": "yes", "knows_sex": "no"}},
        {"do": {"knows_state": "yes"}},
        {"do": {"claims": "no"}, "given": {"knows_race": "yes"}},
        {"set": {"p_m": 0.9, "p_knows_age": 0.25}},
        {"individuals": 50, "seed": 2},
        {"individuals": [3, 1, 399]},
    ):
        found, whole = both(monkeypatch, "adversary-routes", people, scenario=HALF,
                            population=3_000, **asked)  # fmt: skip
        agree(found, whole)
        assert was_summed(found), asked


def test_no_population_and_impossible_evidence(monkeypatch):
    agree(*both(monkeypatch, "marketer", patients(), scenario=HALF))
    with pytest.raises(rb.errors.ImpossibleEvidence):
        both(monkeypatch, "adversary-routes", patients(), scenario=HALF, population=3_000,
             given={"claims": "no", "marketer": "yes"})  # fmt: skip


@pytest.mark.wide
def test_columns_of_ones_own_are_left_to_the_exact_engine(monkeypatch):
    weights = patients(records=200)
    found, whole = both(monkeypatch, "adversary-routes", weights, scenario=HALF, population=2_000)
    agree(found, whole)
    frame = rb.datasets.synthetic_patients(200, seed=3)
    frame["weight"] = np.random.default_rng(1).integers(2, 30, 200).astype(float)
    people = rb.read_table(frame, quasi_identifiers=QI, weights="weight")
    agree(*both(monkeypatch, "adversary-routes", people, scenario=HALF))


def test_what_was_summed_wrongly_is_not_told(monkeypatch):
    """A sum that differs from the exact engine for somebody is dropped, and the engine's told."""
    sums = inside(summed).Sums
    real = sums.values
    monkeypatch.setattr(sums, "values", lambda *a: [v * (1 + 1e-9) for v in real(*a)])
    found, whole = both(monkeypatch, "adversary-routes", patients(), scenario=HALF,
                        population=2_000)  # fmt: skip
    agree(found, whole)
    assert not was_summed(found)
    one, other = (rb.sweep(r, {"p_m": [0.1, 0.9]}) for r in (found, whole))
    np.testing.assert_allclose(one["mean"], other["mean"], atol=1e-12)


def test_uncertainty_and_crosscheck_follow_a_sum(monkeypatch):
    found, whole = both(monkeypatch, "adversary-routes", patients(150), scenario=HALF,
                        population=2_000)  # fmt: skip
    agree(rb.what_if(found, scenario=PAIRS), rb.what_if(whole, scenario=PAIRS))
    ends = [r.population_uncertainty() for r in (found, whole)]
    for name in ends[0].low:
        np.testing.assert_allclose(ends[0].low[name], ends[1].low[name], atol=1e-12)
        np.testing.assert_allclose(ends[0].high[name], ends[1].high[name], atol=1e-12)
    assert found.keep_crosscheck(draws=20_000).passed


def numbers(frame):
    return frame.select_dtypes("number").to_numpy(dtype=float)


WHAT_IFS = {
    "sweep": lambda r: numbers(rb.sweep(r, {"p_m": [0.1, 0.9], "p_knows_age": 5})),
    "sweep of each person": lambda r: numbers(rb.sweep(r, {"p_cu": 3}, per_person=True)),
    "sweep, given": lambda r: numbers(
        rb.sweep(r, {"p_m": 4, "p_knows_sex": [0.2, 0.3]},
                 given={"claims": "yes", "knows_age": "no"})
    ),
    "sweep, done": lambda r: numbers(rb.sweep(r, {"p_fm": 3}, do={"knows_state": "yes"})),
    "sweep of changes": lambda r: numbers(
        rb.sweep(r, {"sure": {"do": {"claims": "yes"}}, "as it is": {}, "some": {"p_m": 0.5}})
    ),
    "tornado": lambda r: numbers(rb.tornado(r, threshold=0.1).to_frame()),
    "tornado of the largest": lambda r: numbers(rb.tornado(r, statistic="max").to_frame()),
    "solve": lambda r: [rb.solve(r, None, "p_m", 0.25).smallest,
                        rb.solve(r, None, "p_c", 0.3, statistic="q95").smallest],
    "sobol": lambda r: numbers(rb.sobol(r).to_frame()),
    "derivatives": lambda r: numbers(rb.derivatives(r)),
    "uncertainty": lambda r: numbers(rb.uncertainty(r, draws=500).to_frame()),
    "uncertainty of each person": lambda r: numbers(
        rb.whatif.subject_uncertainty(r, draws=50, over=["p_m", "p_knows_age"])
    ),
    "compare": lambda r: numbers(
        rb.compare(r, None, {}, {"set": {"p_m": 0.4}, "do": {"claims": "no"}}).to_frame()
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WHAT_IFS)
def test_what_ifs_of_many_people_are_those_of_the_whole_table(monkeypatch, name):
    found, whole = both(monkeypatch, "adversary-routes", patients(150), scenario=HALF,
                        population=2_000)  # fmt: skip
    one, other = WHAT_IFS[name](found), WHAT_IFS[name](whole)
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert was_summed(found), "no number per person and subset is made on the way"


@pytest.mark.parametrize("attack", ["journalist", "marketer", "prosecutor"])
def test_every_shipped_attack_is_varied_alike(monkeypatch, attack):
    found, whole = both(monkeypatch, attack, patients(150), scenario=PAIRS, population=2_000)
    for name in found.attack.parameters:
        one, other = (numbers(rb.sweep(r, {name: 4})) for r in (found, whole))
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    assert was_summed(found)


def test_a_setting_that_makes_no_table_is_refused_alike(monkeypatch):
    found, whole = both(monkeypatch, "adversary-routes", patients(150), scenario=HALF,
                        population=2_000)  # fmt: skip
    said = []
    for result in (found, whole):
        with pytest.raises(rb.errors.ReidbnError) as problem:
            rb.tornado(result, over={"p_m": (0.1, 1.5)}, beyond_range=True)
        said.append(str(problem.value))
    assert said[0] == said[1]
    assert was_summed(found)


def test_tiles_hold_the_class_size_of_every_row_on_every_subset(monkeypatch):
    people = patients(150)
    classes = subset_classes(people, [(c,) for c in QI])
    monkeypatch.setattr(inside(subset_classes), "TILE", 16 * 40)
    seen = []
    for tile in classes.tiles():
        for rows, places in tile.blocks(7):
            seen += range(rows.start, rows.stop)
            told = [own[at] for own, at in zip(classes.occurring, places, strict=True)]
            assert np.array_equal(told, classes.sizes_of(np.arange(classes.rows)[rows]))
    assert seen == [*range(classes.rows)]
    assert classes.rows > 80, "several tiles, in one place after the other"


def test_places_beyond_a_byte_and_within_come_back_in_the_order_of_the_subsets():
    wide = np.array([True, False, True, False])
    low, high = np.arange(6, dtype=np.uint8).reshape(2, 3), np.arange(300, 306).reshape(2, 3)
    tile = inside(subset_classes).Tile(slice(5, 8), wide, low, high.astype(np.uint16))
    (one, first), (two, last) = tile.blocks(2)
    assert (one, two) == (slice(5, 7), slice(7, 8))
    assert np.hstack((first, last)).tolist() == [high[0].tolist(), [0, 1, 2], high[1].tolist(),
                                                 [3, 4, 5]]  # fmt: skip
