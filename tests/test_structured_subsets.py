"""The structured estimator on all subsets at once, and in assessments: oracles and seams."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from inside import inside
from scipy.optimize import linprog

import reidbn as rb
from reidbn.attack import Known, Knows, Scenario
from reidbn.attacks import SubsetPopulation, subset_classes, summed
from reidbn.errors import TooLarge
from reidbn.population import raise_to_parts, settle
from reidbn.theory import (
    BESIDE,
    Distinct,
    Marginals,
    by_forest,
    fit_layer,
    fit_layers,
    knots,
    read,
    tally,
)

QI = ["age", "sex", "state", "race"]
HALF = Scenario("half", knows=Knows(tuple(Known(c, (c,), (0.5,), source="made up") for c in QI)))
SINGLE = 2e-4  # what is lost in single precision, of a logarithm


def patients(n=600, seed=3, columns=QI, **more):
    frame = rb.datasets.synthetic_patients(n, seed=seed)
    return rb.read_table(frame, quasi_identifiers=columns, **more)


def made_up(n=250, seed=91, cards=(7, 4, 3, 5)):
    """Rows of attributes that go together."""
    rng = np.random.default_rng(seed)
    mood = rng.integers(0, 3, n)
    columns = [(mood * (j + 1) + rng.integers(0, v, n)) % v for j, v in enumerate(cards)]
    codes, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    codes = np.column_stack([np.unique(c, return_inverse=True)[1] for c in codes.T])
    return Distinct(codes, counts.astype(float))


def class_sizes(rows, groups):
    """People alike with each row on every subset: subset x row, by a plain loop."""
    found = np.empty((1 << len(groups), len(rows.counts)), dtype=int)
    for mask in range(len(found)):
        on = [j for i, g in enumerate(groups) if mask >> i & 1 for j in g]
        _, ids = np.unique(rows.codes[:, on], axis=0, return_inverse=True)
        found[mask] = np.bincount(ids.ravel(), rows.counts)[ids.ravel()]
    return found


# -- shares on every subset ------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [((0,), (1,), (2,), (3,)), ((0, 2), (1,), (3,))])
def test_shares_of_a_subset_are_sums_over_all_that_is_not_known(groups):
    """The whole joint without the person, added up over every combination of the unknown values."""
    rows = made_up()
    found = Marginals.of(rows, groups, np.arange(1 << len(groups)), seed=5)
    some = np.flatnonzero(rows.counts == 1)[[0, 11, 30]]
    got = found.both(some, np.ones((1 << len(groups), len(some)), dtype=int))[1]
    n = rows.n - 1
    for at, i in enumerate(some):
        person = rows.codes[i]
        joint = np.zeros(rows.values)
        for classes in found.classes:
            r = classes.chances(person[None])[0]
            weight = (classes.held - r + 0.5) / (n + 0.5 * len(r)) / len(found.classes)
            inside_class = []
            for j, v in enumerate(rows.values):
                own = np.arange(v)[:, None] == person[j]
                share = (rows.people[j][:, None] - own) / n
                told = (classes.tables[j] - own * r + 2 * share) / (classes.held - r + 2)
                inside_class.append((n * told + 0.5) / (n + 0.5 * v))
            joint += np.einsum("h,ah,bh,ch,dh->abcd", weight, *inside_class)
        assert joint.sum() == pytest.approx(1)
        for mask in range(1 << len(groups)):
            on = {j for k, g in enumerate(groups) if mask >> k & 1 for j in g}
            cell = tuple(person[j] if j in on else slice(None) for j in range(4))
            assert got[mask, at] == pytest.approx(np.log(joint[cell].sum()), abs=SINGLE)


def test_the_forest_of_a_subset_is_that_of_a_fit_to_it_alone():
    rows = made_up(n=400)
    groups = [(j,) for j in range(4)]
    found = Marginals.of(rows, groups, np.arange(16), seed=5)
    sizes = class_sizes(rows, groups)
    some = np.arange(len(rows.counts))
    got = found.both(some, np.minimum(sizes, 4))[0]
    seen = set()
    for mask in range(1, 16):
        on = [j for j in range(4) if mask >> j & 1]
        codes, first, ids = np.unique(
            rows.codes[:, on], axis=0, return_index=True, return_inverse=True
        )
        alone = Distinct(codes, np.bincount(ids.ravel(), rows.counts))
        few = alone.counts <= 3
        seen |= set(alone.counts[few].astype(int).tolist())
        np.testing.assert_allclose(got[mask, first][few], by_forest(alone)[few], atol=SINGLE)
    assert seen == {1, 2, 3}


def test_classes_say_of_a_value_that_nobody_else_has_what_its_column_says():
    """As of a root of the forest, on every subset."""
    rows = made_up()
    codes = rows.codes.copy()
    alone = int(np.flatnonzero(rows.counts == 1)[7])
    codes[alone, 1] = codes[:, 1].max() + 1  # a value of their own
    rows = Distinct(codes, rows.counts)
    every = np.arange(16)
    found = Marginals.of(rows, [(j,) for j in range(4)], every, seed=5)
    got = found.both(np.array([alone]), np.ones((16, 1), dtype=int))[1][:, 0]
    share = np.log(0.5 / (rows.n - 1 + 0.5 * rows.values[1]))
    with_it = every[every >> 1 & 1 == 1]
    np.testing.assert_allclose(got[with_it] - got[with_it ^ 2], share, atol=SINGLE)
    both = got[2], np.log(rows.shares_without(1)[alone])
    assert both == pytest.approx((share, share), abs=SINGLE)


def test_how_few_others_hold_the_rarest_value_is_counted_on_every_subset():
    rows, groups = made_up(n=120, cards=(40, 30, 3, 25)), ((0, 2), (1,), (3,))
    found = Marginals.of(rows, groups, np.array([1, 3, 5, 7]), seed=5)
    sizes, some = class_sizes(rows, groups), np.arange(len(rows.counts))
    got = found.beside(some, np.minimum(sizes[found.wanted], 4))
    for at, mask in enumerate(found.wanted.tolist()):
        on = found.attributes(mask)
        for i in np.flatnonzero(sizes[mask] <= 3):
            others = min(rows.people[j][rows.codes[i, j]] for j in on) - sizes[mask, i]
            assert got[at, i] == (others if others in {1, 2} else 0)
    assert set(np.unique(got)) == {0, 1, 2}
    assert found.besides == 3
    assert Marginals.of(made_up(n=4_000), groups, found.wanted).besides == 1  # no value is rare


def test_layers_of_all_subsets_say_what_a_layer_of_each_says():
    rng = np.random.default_rng(92)
    n, N, subsets, cells = 3_000, 60_000, 6, 1_500
    x = rng.normal(rng.uniform(-2, 0.5, (subsets, 1)), 1.2, (subsets, cells)).astype(np.float32)
    beside = rng.integers(0, 3, x.shape)
    off = np.sqrt(0.3**2 + np.array(BESIDE)[beside]) * rng.standard_normal(x.shape)
    f = 1 + rng.poisson(np.exp(0.2 + x + off))
    at = knots(n, N)
    seen = np.zeros((subsets, 3 * len(at), 3))
    # Each cell stands for its f people, as in equation (2) of theory/layer.py.
    for size in (1, 2, 3):
        tally(x, np.where(f == size, f, 9), np.full(cells, float(size)), at, seen, beside)
    apart = np.linspace(0, 2.5, subsets)
    (made,) = fit_layers(seen, (f <= 3).sum(axis=1).astype(float), n, [N], apart)
    for mask in range(subsets):
        one = fit_layer(x[mask].astype(float), f[mask], n, apart[mask], beside=beside[mask])
        points = np.linspace(-4, 2, 25)
        every = points.astype(np.float32)
        for k, more in enumerate(BESIDE):
            beside_it = np.full(every.shape, k, dtype=np.int8)
            cell, beyond = made.at(every, np.full(every.shape, mask), beside_it)
            expected = one.weight @ one.p_unique(points, N, more)
            np.testing.assert_allclose(read(made.unique, cell, beyond), expected, atol=0.015)
            for size, table in enumerate(made.match, 1):
                expected = one.weight @ one.mean_inverse(size, points, N, more)
                np.testing.assert_allclose(read(table, cell, beyond), expected, atol=0.015)


# -- agreement between subsets ---------------------------------------------------------------------


@pytest.mark.parametrize("groups", [2, 3, 4])
def test_no_agreement_between_subsets_has_a_smaller_largest_change(groups):
    """By a linear programme: smallest t with |s - v| <= t and s rising along every step."""
    rng = np.random.default_rng(groups)
    subsets = 1 << groups
    steps = [(z ^ 1 << j, z) for z in range(subsets) for j in range(groups) if z >> j & 1]
    rises = np.zeros((len(steps), subsets + 1))
    for row, (y, z) in zip(rises, steps, strict=True):
        row[y], row[z] = 1, -1
    near = np.vstack([np.hstack([sign * np.eye(subsets), -np.ones((subsets, 1))])
                      for sign in (1, -1)])  # fmt: skip
    values = rng.random((subsets, 20))
    found = settle(values.copy())
    assert all((found[y] <= found[z] + 1e-15).all() for y, z in steps)
    for v, s in zip(values.T, found.T, strict=True):
        best = linprog(
            np.append(np.zeros(subsets), 1), np.vstack([rises, near]),
            np.concatenate([np.zeros(len(steps)), v, -v]), bounds=(None, None),
        )  # fmt: skip
        assert np.abs(s - v).max() == pytest.approx(best.fun, abs=1e-9)
    agreed = raise_to_parts(values.copy())
    assert settle(agreed.copy()) == pytest.approx(agreed)


def test_what_agrees_is_not_moved_however_many_subsets_there_are():
    values = np.random.default_rng(93).random((1 << 10, 70)).astype(np.float32)
    settled = settle(values.copy())
    for j in range(10):
        pairs = settled.reshape(-1, 2, 1 << j, 70)
        assert (pairs[:, 0] <= pairs[:, 1]).all()
    np.testing.assert_array_equal(settle(settled.copy()), settled)


# -- assessments -----------------------------------------------------------------------------------


def assessed(people, **more):
    asked = {"scenario": HALF, "population": 20_000, "population_model": "structured", **more}
    return rb.assess("adversary-routes", people, **asked)


@pytest.fixture(scope="module")
def people():
    return patients()


@pytest.fixture(scope="module")
def result(people):
    return assessed(people)


def test_each_person_is_told_more_where_more_is_known(result):
    told = result.population
    rows = np.arange(told.classes.rows)
    unique = np.where(told.classes.sizes.T == 1, told.unique(rows), 0.0)
    match = told.match(rows)
    for mask, j in product(range(16), range(4)):
        if not mask >> j & 1:
            more = mask | 1 << j
            assert (unique[:, mask] <= unique[:, more] + 1e-7).all()
            assert (match[:, mask] <= match[:, more] + 1e-7).all()
    assert (match >= unique - 1e-12).all()
    assert (match <= 1 / told.classes.sizes.T + 1e-6).all()
    assert match[:, 0] == pytest.approx(1 / 20_000, rel=1e-12)
    assert len(np.unique(unique[:, 15])) > 20  # people of one subset are told apart
    assert told.by[1] == "pitman-bayes"  # one attribute alone
    assert told.by[15] == "structured"
    assert any("structures" in note and "factor" in note for note in told.notes)


@pytest.mark.parametrize("groups", [None, {"who": ["age", "sex"], "place": ["state", "race"]}])
def test_fits_of_all_subsets_say_what_an_assessment_says(result, people, groups):
    fits = rb.population.fit_subsets(people, groups, population=20_000, model="structured")
    masks = np.arange(16) if groups is None else np.array([0, 3, 12, 15])
    told = result.population
    some = np.array([table.uniques > 0 for table in fits.tables])
    np.testing.assert_allclose(fits.p_unique[some], told.p_unique[masks][some], rtol=1e-5)
    assert fits.by[1:] == tuple(told.by[m] for m in masks[1:])
    by_hand = fits.p_unique * [table.uniques for table in fits.tables] * 20_000 / 600
    speaks = np.array(fits.by) == "structured"
    np.testing.assert_allclose(fits.expected_uniques[speaks], by_hand[speaks])
    np.testing.assert_allclose(fits.disagreement, told.structured.disagreement[masks])
    assert len(fits) == len(masks)
    assert "structured on" in repr(fits)


def test_fits_of_all_subsets_fall_back_and_refuse(people):
    few = rb.population.fit_subsets(people.take(range(60)), population=900, model="structured")
    pitman = rb.population.fit_subsets(people.take(range(60)), population=900, estimate="posterior")
    np.testing.assert_allclose(few.p_unique, pitman.p_unique)
    assert set(few.by) == {"pitman-bayes"}
    with pytest.raises(rb.UsageError, match='no model "structred"; did you mean "structured"'):
        rb.population.fit_subsets(people, population=900, model="structred")
    with pytest.raises(rb.UsageError, match="estimate= is how"):
        rb.population.fit_subsets(people, population=900, model="structured", estimate="posterior")
    codes = np.random.default_rng(97).integers(0, 2, (120, 15))
    wide = rb.People.from_codes(codes, [f"c{j}" for j in range(15)])
    with pytest.raises(TooLarge, match='Leave some out, or ask model="pitman"'):
        rb.population.fit_subsets(wide, population=900, model="structured")


def test_a_subset_says_about_what_a_fit_to_it_alone_says(result, people):
    means = result.population.p_unique
    for columns, mask in ((QI[:3], 7), (QI, 15)):
        fit = rb.population.fit(people, columns, population=20_000, model="structured")
        assert means[mask] == pytest.approx(fit.p_unique, rel=0.25)
        low, high = fit.interval("p_unique")
        assert low < means[mask] < high


def test_risks_are_the_same_however_they_are_summed(monkeypatch, result, people):
    monkeypatch.setattr(inside(summed), "FROM", 0)
    monkeypatch.setattr(inside(subset_classes), "TILE", 3000)
    monkeypatch.setattr(inside(SubsetPopulation), "SIDE_BY_SIDE", 7)
    monkeypatch.setattr(inside(SubsetPopulation), "CELLS", 64)
    found = assessed(people)
    assert "sizes" not in found.classes.__dict__
    for measure in result.measures:
        np.testing.assert_allclose(found.risk(measure), result.risk(measure), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.population.p_unique, result.population.p_unique)


def test_some_people_cells_and_blocks_that_were_kept_get_the_same_numbers(result, people, tmp_path):
    some = np.array([5, 77, 401])
    asked = assessed(people, individuals=some)
    kept = [assessed(people, checkpoint=tmp_path) for _ in range(2)]
    cells = rb.contingency(rb.datasets.synthetic_patients(600, seed=3), QI)
    counted = assessed(cells)
    for measure in ("journalist", "journalist_match", "overall"):
        np.testing.assert_allclose(asked.risk(measure), result.risk(measure)[some], atol=1e-9)
        for again in kept:
            np.testing.assert_allclose(again.risk(measure), result.risk(measure), atol=1e-9)
        assert counted.risk(measure).mean() == pytest.approx(result.risk(measure).mean(), rel=0.02)


def test_what_cannot_be_modelled_falls_back_and_says_so(people):
    few = assessed(people.take(range(60)))
    pitman = assessed(people.take(range(60)), population_model="pitman-bayes")
    assert few.risk("journalist") == pytest.approx(pitman.risk("journalist"))
    assert any("too few to tell structures apart: pitman-bayes" in n for n in few.summary().notes)
    one = rb.assess("adversary-routes", people.select(["age"]), population=20_000,
                    population_model="structured")  # fmt: skip
    assert any("one attribute alone" in note for note in one.summary().notes)
    whole = assessed(people, population=600)
    alone = (whole.classes.sizes == 1).T[whole.classes.of_person]
    assert whole.risk("journalist").mean() == pytest.approx(alone.mean())


def test_more_subsets_than_can_be_calibrated_are_refused_with_a_remedy():
    names = [f"c{j}" for j in range(15)]
    codes = np.random.default_rng(96).integers(0, 2, (120, 15))
    people = rb.People.from_codes(codes, names)
    known = tuple(Known(c, (c,), (0.5,), source="made up") for c in names)
    with pytest.raises(TooLarge, match=r'population_model="log-linear", or leave attributes out'):
        assessed(people, scenario=Scenario("half", knows=Knows(known)))
    frame = pd.DataFrame(codes, columns=names).assign(weight=np.where(codes[:, 0], 50.0, 150.0))
    survey = rb.read_table(frame, quasi_identifiers=names, weights="weight")
    every = Known("every", tuple(names), (0.5,), source="made up")
    half = {"scenario": Scenario("half", knows=Knows((every,))), "population": 12_000}
    with pytest.raises(TooLarge, match="leaves the survey weights out") as refused:
        rb.assess("adversary-routes", survey, **half)
    for model in ("log-linear", "benedetti-franconi"):  # known together: a remedy that answers
        assert f'population_model="{model}"' in str(refused.value)
        assert (
            rb.assess("adversary-routes", survey, population_model=model, **half).risk().max() > 0
        )


@pytest.mark.parametrize(
    ("groups", "summed_up"), [([QI], False), ([["age"], ["sex", "state"], ["race"]], True)]
)
def test_what_is_known_decides_and_not_how_it_was_grouped(
    monkeypatch, result, people, groups, summed_up
):
    """The worst case is one group: it said less than its parts, which were not asked."""
    if summed_up:
        monkeypatch.setattr(inside(summed), "FROM", 0)
        monkeypatch.setattr(inside(SubsetPopulation), "CELLS", 64)
    known = tuple(Known(f"g{j}", tuple(g), (0.5,), source="made up") for j, g in enumerate(groups))
    joined = assessed(people, scenario=Scenario("joined", knows=Knows(known)))
    every = [sum(1 << QI.index(c) for j, g in enumerate(groups) if mask >> j & 1 for c in g)
             for mask in range(1 << len(groups))]  # fmt: skip
    own, of = (r.population.classes.of_person for r in (joined, result))
    alone = joined.population.classes.sizes.T[own] == 1
    for measure, asked in (("journalist", "unique_of"), ("journalist_match", "match")):
        got, expected = (
            getattr(r.population, asked)(np.arange(r.population.classes.rows))[rows]
            for r, rows in ((joined, own), (result, of))
        )
        np.testing.assert_allclose(got, expected[:, every], atol=1e-12)
        by_hand = (got * alone if measure == "journalist" else got).mean(axis=1)
        np.testing.assert_allclose(joined.risk(measure), by_hand, atol=1e-9)
    np.testing.assert_allclose(
        joined.population.p_unique, result.population.p_unique[every], rtol=1e-6
    )
    ends = joined.population_uncertainty().table()
    assert (ends["low"] < ends["mean"]).all()
    assert (ends["mean"] < ends["high"]).all()


def test_a_column_that_follows_from_another_parts_nobody():
    frame = rb.datasets.synthetic_patients(600, seed=3)
    frame["decade"] = frame["age"] // 10
    both = rb.read_table(frame, quasi_identifiers=[*QI, "decade"])
    found = assessed(both, scenario=Scenario("half", knows=Knows(tuple(
        Known(c, (c,), (0.5,), source="made up") for c in [*QI, "decade"]
    ))))  # fmt: skip
    told = found.population.structured
    assert told.place[31] == told.place[15]  # all five say what four say
    assert told.place[16 | 1] == -1  # age and decade: one attribute alone
    assert found.population.by[16 | 2] == "structured"


def test_changes_and_intervals_ask_the_model_again(result):
    ends = result.population_uncertainty().table()
    assert (ends["low"] < ends["mean"]).all()
    assert (ends["mean"] < ends["high"]).all()
    narrow = result.population_uncertainty(0.5).table()
    assert (narrow["high"] - narrow["low"] < ends["high"] - ends["low"]).all()
    coarse = rb.what_if(result, generalise={"age": 1}, hierarchies={"age": rb.Bands(10)})
    assert coarse.risk("journalist").mean() < result.risk("journalist").mean()
    kept = rb.what_if(result, suppress=2)
    assert kept.population.model == "structured"
    other = rb.what_if(result, population_model="log-linear")
    assert other.population.model == "log-linear"
    moved = rb.what_if(result, set={"p_c": 0.9})
    assert moved.risk("journalist_match") == pytest.approx(result.risk("journalist_match"))
    swept = rb.sweep(result, {"p_c": [0.9]})["mean"]
    assert swept.item() == pytest.approx(moved.risk().mean())


def mostly_dates(n=300):
    """Half of the rest depends on a date that most people have alone."""
    rng = np.random.default_rng(41)
    codes = np.column_stack([rng.integers(0, 4 * n, n), *rng.integers(0, 4, (2, n))])
    codes[:, 1] = (codes[:, 0] + codes[:, 1] // 2) % 4
    return rb.People.from_codes(
        np.column_stack([np.unique(c, return_inverse=True)[1] for c in codes.T]), list("abc")
    )


@pytest.mark.parametrize("population", [1_200, 20_000])
@pytest.mark.parametrize("table", [patients, mostly_dates])
def test_an_interval_of_an_assessment_is_that_of_a_fit(table, population):
    """Layer, structure, values that ran out or never do: told of all columns by both alike."""
    people = table()
    fit = rb.population.fit(people, population=population, model="structured")
    asked = rb.assess("adversary-routes", people, scenario="worst-case", population=population,
                      population_model="structured")  # fmt: skip
    found, every = asked.population, asked.population.by_column.population
    ends = every.structured.ends((0.025, 0.975), every.classes.frequencies)
    rows = np.arange(every.classes.rows)
    sizes = every.classes.sizes_of(rows)
    alone = sizes[-1] == 1
    own = fit.people[fit.people["class_size"] == 1]
    for end, column in zip(ends, ("p_unique_low", "p_unique_high"), strict=True):
        told, match = end.told(every.row_of[rows], np.minimum(sizes, 4).astype(np.int8))
        assert told[-1, alone].mean() == pytest.approx(own[column].mean(), rel=0.1)
        assert (match[-1, alone] >= told[-1, alone] - 1e-6).all()
    sure = asked.population_uncertainty()
    low, high = fit.interval("p_unique")
    share = alone.sum() / len(people)
    row = sure.table().loc["journalist"] / share
    assert row["low"] < low + 0.02
    assert row["high"] > high - 0.02
    assert row["high"] - row["low"] < 1.6 * (high - low) + 0.02
    assert found.by_column is not None


@pytest.mark.parametrize("population", [900, 5_000])
def test_values_of_one_attribute_may_have_run_out(population):
    """Pitman's never do; below a half sampled the lower end is nobody, as that of a fit."""
    people = patients().select(["age"])
    asked, by_class_sizes = (
        rb.assess("adversary-routes", people, scenario="worst-case", population=population,
                  population_model=model).population_uncertainty().people("journalist")
        for model in ("structured", "pitman-bayes")
    )  # fmt: skip
    uniques = people.class_sizes(["age"]) == 1
    assert uniques.any()
    stay = rb.population.fit(people, ["age"], population=population, model="zayatz").p_unique
    least = np.minimum(by_class_sizes["low"][uniques], stay if population == 900 else 0.0)
    np.testing.assert_allclose(asked["low"][uniques], least)
    assert (least < by_class_sizes["low"][uniques]).all()
    np.testing.assert_allclose(asked["high"], by_class_sizes["high"])


def test_the_mean_has_the_chance_of_who_is_unique(result):
    """Of a mean over people, more than the means of their ends; and within what can happen."""
    sure = result.population_uncertainty()
    for measure, row in sure.table().iterrows():
        low, high = (end.mean() for end in (sure.people(measure)[e] for e in ("low", "high")))
        assert row["low"] <= low
        assert high <= row["high"]
    row, each = sure.table().loc["journalist"], sure.people("journalist")
    assert row["low"] < each["low"].mean() - 1e-5
    assert row["high"] > each["high"].mean() + 1e-5
    assert row["high"] <= result.risk("prosecutor").mean()


@pytest.mark.wide
def test_structures_are_shown_side_by_side(result, people, tmp_path):
    table = result.population.table().set_index("known")
    whole = table.loc["age+sex+state+race"]
    four = whole[["forest", "latent_classes", "mixture", "calibrated"]].astype(float)
    assert ((four > 0) & (four <= 1.5)).all()
    assert whole["disagreement"] == pytest.approx(four.max() / four.min())
    assert table.loc["age", ["forest", "disagreement"]].isna().all()
    ends = result.population_uncertainty()
    assert "structures disagree by a factor" in str(ends)
    each = ends.people("journalist")
    assert (each["low"] <= each["risk"] + 1e-12).all()
    assert (each["risk"] <= each["high"] + 1e-12).all()
    assert len(each) == len(people)
    with pytest.raises(rb.UsageError, match="does not stand on the population"):
        ends.people("marketer")
    result.report(tmp_path / "page.html")
    assert "structures disagree by a factor" in (tmp_path / "page.html").read_text()
    fit = rb.population.fit(people, population=20_000, model="structured")
    fit.report(tmp_path / "fit.html", custodian=True)
    assert "Structures disagree by a factor" in (tmp_path / "fit.html").read_text()
    own = fit.people
    assert (own["p_unique_low"] <= own["p_unique"]).all()
    assert (own["p_unique"] <= own["p_unique_high"]).all()
    assert (own["p_unique_low"] < own["p_unique_high"])[own["class_size"] == 1].all()
    rows = rb.population.compare(people, population=20_000).set_index("model")
    assert "structures disagree by a factor" in rows.loc["structured", "remarks"]


def test_missing_cells_are_told(people):
    frame = rb.datasets.synthetic_patients(600, seed=3).astype(object)
    frame.loc[::9, "race"] = None
    wild = rb.read_table(frame, quasi_identifiers=QI, missing="matches-anything")
    found = assessed(wild)
    assert not found.classes.is_partition
    assert any("approximation as-written" in note for note in found.summary().notes)
    assert ((found.risk("journalist") >= 0) & (found.risk("journalist") <= 1)).all()


# -- shares above a threshold ----------------------------------------------------------------------


@pytest.mark.wide
def test_the_interval_of_a_share_holds_what_is_said_and_what_turns_out():
    """By hand: risks turn out at levels, whoever is likelier than a level to be unique is."""
    people = patients()
    found = assessed(people)
    sure = found.population_uncertainty()
    limits = [0.005, 0.02, 0.05, 0.1, 0.3]
    told = sure.shares_above(limits, "journalist")
    said = [(found.risk("journalist") > t).mean() for t in limits]
    np.testing.assert_array_equal(told["share"], said)
    chances = found.population.unique(np.arange(found.classes.rows))[found.classes.of_person]
    chances = chances * (np.stack([people.class_sizes(
        [c for j, c in enumerate(QI) if m >> j & 1]) if m else np.full(600, 600)
        for m in range(16)]).T == 1)  # fmt: skip
    turned = [(chances > (k + 0.5) / 400).mean(axis=1) for k in range(400)]
    by_hand = np.array([np.mean([(r > t + 1e-12).mean() for r in turned]) for t in limits])
    assert (told["low"] <= np.minimum(by_hand, told["share"])).all()
    assert (told["high"] >= np.maximum(by_hand, told["share"])).all()
    sharp = assessed(people).population_uncertainty(0.001).shares_above(limits, "journalist")
    for side, ends in (("low", np.minimum), ("high", np.maximum)):
        np.testing.assert_allclose(sharp[side], ends(by_hand, told["share"]), rtol=0.2, atol=0.01)
    for side in ("low", "high"):
        assert told[side].is_monotonic_decreasing
    joined = rb.assess("adversary-routes", people, population=20_000, population_model="structured")
    share = joined.population_uncertainty().shares_above([0.05], "journalist").iloc[0]
    assert 0 <= share["low"] <= share["share"] <= share["high"] <= 1
    with pytest.raises(rb.errors.UsageError, match="knows of nothing else"):
        sure.shares_above([0.1], "journalist_match")
    other = assessed(people, population_model="log-linear").population_uncertainty()
    with pytest.raises(rb.errors.UsageError, match='population_model="structured"'):
        other.shares_above([0.1], "journalist")


def test_many_people_are_told_what_each_of_them_is_told():
    """Of columns known as one: all rows walked together, and a few asked for by themselves."""
    rng = np.random.default_rng(12)
    mood = rng.integers(0, 4, 600)
    codes = np.column_stack([(mood * j + rng.integers(0, 5 + 3 * j, 600)) for j in range(4)])
    codes = np.column_stack([np.unique(c, return_inverse=True)[1] for c in codes.T])
    people = rb.People.from_codes(codes, list("abcd"))
    asked = rb.assess("adversary-routes", people, scenario="worst-case", population=30_000,
                      population_model="structured")  # fmt: skip
    found = asked.population
    rows = np.arange(found.classes.rows)
    every, few = found.match(rows), found.match(rows[:7])
    assert every.shape == (len(rows), 2)
    np.testing.assert_allclose(few, every[:7], rtol=1e-6)
    np.testing.assert_allclose(found.unique_of(rows[-5:]), found.unique_of(rows)[-5:], rtol=1e-6)
    assert (np.diff(every, axis=1) >= 0).all()
    ends = asked.population_uncertainty()
    low, high = (ends.of_people(end, "journalist_match") for end in (ends.low, ends.high))
    assert (low <= asked.risk("journalist_match") + 1e-6).all()
    assert (asked.risk("journalist_match") <= high + 1e-6).all()
    assert (low < high).any()


@pytest.mark.parametrize("model", ["pitman", "structured"])
def test_fits_on_every_subset_say_that_they_leave_survey_weights_out(model):
    frame = rb.datasets.synthetic_patients(300, seed=1).assign(stands_for=20)
    columns, N = ["age", "sex", "race"], 6_000
    weighted = rb.read_table(frame, quasi_identifiers=columns, weights="stands_for")
    plain = rb.read_table(frame, quasi_identifiers=columns)
    left_out = "survey weights were not used"
    told = rb.population.fit_subsets(weighted, population=N, model=model).notes
    assert any(left_out in note for note in told)
    of_plain = rb.population.fit_subsets(plain, population=N, model=model).notes
    assert not any(left_out in note for note in of_plain)
