"""The structured estimator of tables with survey weights: oracles, and what is said."""

import numpy as np
import pytest

import reidbn as rb
from reidbn.attack import Known, Knows, Scenario
from reidbn.errors import DataError
from reidbn.population import distinct_rows, weight_alike
from reidbn.theory import individual_risk

COLUMNS = list("abc")
COMMON = 40.0  # people for whom those with an even value of the first column stand


def codes(n=500):
    rng = np.random.default_rng(21)
    mood = rng.integers(0, 4, n)
    drawn = np.column_stack([(mood * j + rng.integers(0, 5 + 4 * j, n)) for j in range(3)])
    return np.column_stack([np.unique(c, return_inverse=True)[1] for c in drawn.T])


def by_the_column(table):
    return np.where(table[:, 0] % 2 == 0, COMMON, 5.0)


def fitted(weights=None, population=None, table=None):
    table = codes() if table is None else table
    people = rb.People.from_codes(table, COLUMNS, weights=weights)
    N = round(float(weights.sum())) if population is None else population
    return rb.population.fit(people, population=N, model="structured")


@pytest.mark.wide
def test_whoever_stands_for_many_is_told_what_a_larger_population_tells_everybody():
    """Weights that the columns tell: the chance of each is that of a sample of one in so many."""
    table = codes()
    weights = by_the_column(table)
    found = fitted(weights)
    for stands in (COMMON, 5.0):
        some = weights == stands
        plain = fitted(population=round(500 * stands)).people[some]
        told = found.people[some]
        assert (plain["class_size"] > 3).any()
        assert (plain["class_size"] == 1).any()
        for name in ("p_unique", "mean_inverse"):
            np.testing.assert_allclose(told[name], plain[name], rtol=1e-6)
    alone = (found.people["class_size"] == 1).to_numpy()
    by_hand = (found.people["p_unique"] * weights)[alone].sum()
    assert found.expected_uniques == pytest.approx(by_hand)
    low, high = found.prediction_interval()
    assert low < by_hand < high
    first, last = found.interval()
    assert first < by_hand < last
    assert last - first < high - low
    ends = found.people[alone]
    assert (ends["p_unique_low"] < ends["p_unique"]).all()
    assert (ends["p_unique"] < ends["p_unique_high"]).all()
    assert found.parts.calibrated == pytest.approx(by_hand)


def test_weights_that_are_all_alike_are_no_weights():
    for scale in (30.0, 1.0):
        found = fitted(np.full(500, scale), population=15_000)
        plain = fitted(population=15_000)
        assert found.prediction_interval() == plain.prediction_interval()
        np.testing.assert_array_equal(found.people, plain.people)
        assert any("scaled to the population" in said for said in found.warnings) == (scale == 1)


def test_others_weigh_what_the_values_and_people_alike_tell():
    table = np.repeat(codes(), 2, axis=0)  # everybody has somebody alike
    people = rb.People.from_codes(table, COLUMNS)
    ids, rows, counts = distinct_rows(people, COLUMNS)
    told = by_the_column(table)
    np.testing.assert_allclose(weight_alike(told, ids, rows, counts)[ids], told, rtol=1e-6)
    rng = np.random.default_rng(22)
    by_chance = rng.choice([5.0, COMMON], len(told))
    found = weight_alike(by_chance, ids, rows, counts)[ids]
    assert found.std() < by_chance.std() / 3  # nothing tells of it: all are near the mean
    assert found.mean() == pytest.approx(by_chance.mean(), rel=0.05)
    assert weight_alike(np.linspace(1, 2, len(told)), ids, rows, counts).min() >= 1


def test_it_says_what_the_weights_are_taken_for_and_refuses_those_below_one():
    weights = by_the_column(codes())
    said = " ".join(fitted(weights).warnings)
    assert "a random sample of those for whom they stand" in said
    assert "not used" not in said
    with pytest.raises(DataError, match=r"survey weight below 1.*trim the weights"):
        fitted(weights / 6, population=round(float(weights.sum() / 6)))
    relative = fitted(weights / 100, population=round(float(weights.sum())))
    assert any("scaled to the population of" in note for note in relative.warnings)
    assert relative.expected_uniques == pytest.approx(fitted(weights).expected_uniques, rel=1e-6)
    people = rb.People.from_codes(codes(), COLUMNS, weights=weights)
    one = rb.population.fit(people, ["a"], population=12_000, model="structured")
    assert any("not used" in note for note in one.warnings)  # class sizes alone speak


def test_strata_of_a_weighted_table_have_weights_of_their_own():
    table = codes()
    weights = by_the_column(table)
    people = rb.People.from_codes(table, COLUMNS, weights=weights)
    labels = people.labels("a").tolist()
    sizes = dict.fromkeys(labels, 6000)
    found = rb.population.fit(people, ["b", "c"], population=sizes, strata="a", model="structured")
    assert found.population == 6_000 * len(labels)
    low, high = found.prediction_interval()
    assert low < found.expected_uniques < high


# -- in assessments --------------------------------------------------------------------------------


QI = ["age", "race", "sex", "state"]  # as the model takes them: what is told apart goes by it
HALF = Scenario("half", knows=Knows(tuple(Known(c, (c,), (0.5,), source="made up") for c in QI)))


def assessed(people, **more):
    asked = {"scenario": HALF, "population": 20_000, "population_model": "structured", **more}
    return rb.assess("adversary-routes", people, **asked)


def by_sex(frame):
    """Everybody stands for 30 people, and those of one sex for 6."""
    return frame.assign(weight=np.where(frame["sex"] == "female", 6.0, 30.0))


def weighted(frame, **more):
    return rb.read_table(by_sex(frame), quasi_identifiers=QI, weights="weight", **more)


@pytest.mark.wide
def test_whoever_stands_for_many_is_told_what_a_larger_population_tells():
    """Where sex is known the weight is, too: as of a sample of one in so many of everybody."""
    frame = rb.datasets.synthetic_patients(600, seed=3)
    people, plain_people = weighted(frame), rb.read_table(frame, quasi_identifiers=QI)
    found = assessed(people, population=None).population
    rows = np.arange(found.classes.rows)
    f = np.minimum(found.classes.sizes_of(rows), 4).astype(np.int8)
    told = found.structured.told(found.row_of[rows], f)
    stands = people.weights[found.classes.some]
    known = [m for m in range(16) if m >> QI.index("sex") & 1 and found.structured.speaks[m]]
    assert len(known) == 7
    for each in (6.0, 30.0):
        plain = assessed(plain_people, population=600 * each)
        own = plain.population.structured.told(found.row_of[rows], f)
        some = stands == each
        for mine, theirs in zip(told, own, strict=True):
            small = f[known][:, some] <= 3
            np.testing.assert_allclose(
                mine[known][:, some][small], theirs[known][:, some][small], rtol=1e-2
            )


@pytest.mark.wide
def test_the_population_of_weights_is_their_sum_and_alike_ones_are_none():
    frame = rb.datasets.synthetic_patients(600, seed=3)
    people = weighted(frame)
    assert "sum to" in assessed(people, population=None).groups.notes[0]
    alike = rb.read_table(frame.assign(weight=33.0), quasi_identifiers=QI, weights="weight")
    told, plain = assessed(alike), assessed(rb.read_table(frame, quasi_identifiers=QI))
    for measure in plain.risks:
        np.testing.assert_array_equal(told.risk(measure), plain.risk(measure))
    light = rb.read_table(by_sex(frame).assign(weight=lambda t: t["weight"] / 10),
                          quasi_identifiers=QI, weights="weight")  # fmt: skip
    with pytest.raises(rb.errors.DataError, match=r"survey weight below 1.*trim the weights"):
        assessed(light, population=1_200)


@pytest.mark.wide
def test_whoever_is_sure_to_be_asked_stands_for_one_though_weights_are_scaled():
    """A tenth of the people have a weight of 1 and the weights sum to two in a hundred too many."""
    frame = rb.datasets.synthetic_patients(600, seed=3)
    weights = np.where(np.arange(600) % 10 == 0, 1.0, 4.0)
    N = round(float(weights.sum()) / 1.02)
    people = rb.read_table(frame.assign(w=weights), quasi_identifiers=QI, weights="w")
    found = assessed(people, population=N)
    note = f"60 people have a survey weight below 1, scaled to the population of {N:,}"
    assert any(n == f"{note}: they stand for themselves" for n in found.summary().notes)
    fit = rb.population.fit(people, QI, population=N)
    assert f"{note}: they stand for themselves" in fit.warnings
    held = rb.read_table(frame.assign(w=np.where(weights == 1, 1.02, weights)),
                         quasi_identifiers=QI, weights="w")  # fmt: skip
    plain = assessed(held, population=N)
    for measure in ("journalist", "journalist_match"):
        np.testing.assert_allclose(found.risk(measure), plain.risk(measure), rtol=1e-2)
        assert found.risk(measure).max() <= 1


@pytest.mark.wide
def test_weights_meet_suppressed_people_joined_columns_and_a_part_of_the_people():
    frame = rb.datasets.synthetic_patients(600, seed=3)
    people = weighted(frame)
    whole = assessed(people, population=12_000)
    left = people.suppress(2, ["age", "sex"])
    assert 100 < len(left) < 600
    fewer, stay = assessed(left, population=12_000), left.origin
    np.testing.assert_allclose(fewer.risk("journalist"), whole.risk("journalist")[stay], rtol=1e-5)
    some = np.arange(3, 600, 11)
    part = assessed(people, population=12_000, individuals=some)
    for measure in ("journalist", "journalist_match"):
        np.testing.assert_allclose(part.risk(measure), whole.risk(measure)[some], rtol=1e-5)
    worst = rb.assess("adversary-routes", people, population=12_000, population_model="structured")
    assert (worst.risk("journalist") >= whole.risk("journalist") - 1e-6).all()
    ends = whole.population_uncertainty().table()
    assert (ends["low"] <= ends["mean"]).all()
    assert (ends["mean"] <= ends["high"]).all()
    notes = whole.summary().notes
    assert any("for how many people each stands" in n for n in notes)
    assert not any("not used" in n for n in notes)


def test_where_no_structure_speaks_the_larger_of_class_sizes_and_weights_does():
    """On every subset: what pitman-bayes and benedetti-franconi say, each asked by itself."""
    frame = rb.datasets.synthetic_patients(90, seed=3)
    people = weighted(frame.assign(age=frame["age"] // 30))
    few, *each = (
        assessed(people, population=2_000, population_model=model)
        for model in ("structured", "pitman-bayes", "benedetti-franconi")
    )
    rows = np.arange(few.classes.rows)
    alone = few.classes.sizes_of(rows).T == 1
    by_class, by_weight = (one.population.unique(rows) * alone for one in each)
    np.testing.assert_array_equal(
        few.population.unique(rows) * alone, np.maximum(by_class, by_weight)
    )
    matches = [one.population.match(rows) for one in each]
    np.testing.assert_array_equal(few.population.match(rows), np.maximum(*matches))
    assert (by_class > by_weight).any()
    assert (matches[0] < matches[1])[:, 1:].any()
    assert any("the larger is said of what class sizes" in n for n in few.summary().notes)
    assert not any("not used" in n for n in few.summary().notes)
    ends = few.population_uncertainty().table()
    assert (ends["low"] <= ends["mean"]).all()
    assert (ends["mean"] <= ends["high"]).all()


@pytest.mark.parametrize("columns", ["abcd", "abcdef"])
def test_those_alike_stand_for_what_their_class_says_on_every_subset(columns):
    """One subset after the other, and one class after the other, by the formulas as they stand."""
    rng = np.random.default_rng(len(columns))
    table = rng.integers(0, rng.integers(2, 8, len(columns)), (700, len(columns)))
    weights = 2 + 10 * rng.gamma(2, size=8)[table[:, 0]] * rng.gamma(3, size=700)
    people = rb.People.from_codes(table, list(columns), weights=weights)
    knows = Knows(tuple(Known(c, (c,), (0.5,), source="made up") for c in columns))
    asked = {"scenario": Scenario("half", knows=knows), "population": round(weights.sum())}
    found = assessed(people, **asked).population
    stands, wanted = found.structured.stands, found.structured.marginals.wanted
    off = weights  # whose sum is near enough to the population
    middle, rows = off.mean(), found.classes.some
    off = off - middle
    for place, mask in zip(stands.place, wanted.tolist(), strict=True):
        on = [j for j in range(len(columns)) if mask >> j & 1]
        hot = np.column_stack([table[:, j] == v for j in on for v in np.unique(table[:, j])])
        pairs = hot.T.astype(float) @ hot + 5 * np.eye(hot.shape[1])
        base = hot @ np.linalg.solve(pairs, hot.T @ off)
        ids = np.unique(table[:, on], axis=0, return_inverse=True)[1].ravel()
        f = np.bincount(ids)
        of_class = np.bincount(ids, off - base) / f
        some = f[ids] > 1
        within = ((off - base - of_class[ids])[some] ** 2).sum() / (some.sum() - (f > 1).sum())
        r = 1 - within / ((off - base)[some] ** 2).mean() if some.any() else 1.0
        k = f * min(max(r, 0), 1) / (1 + (f - 1) * min(max(r, 0), 1))
        alike = np.maximum(middle + base + (k * of_class)[ids], 1 + 0.5 / 700)[rows]
        size = f[ids][rows]
        beside = np.exp(np.interp(place, np.arange(len(stands.sizes)),
                                  np.log(stands.sizes / 700 - 1)))  # fmt: skip
        np.testing.assert_allclose((1 + beside)[size <= 3], alike[size <= 3], rtol=2e-5)
        large = size > 3
        np.testing.assert_allclose(
            -place[large], individual_risk(size[large], (size * alike)[large]), rtol=1e-6
        )
