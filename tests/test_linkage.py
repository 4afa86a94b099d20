"""Linkage on sparse records against every subset of facts, by the definition."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb, prod

import numpy as np
import pandas as pd
import pytest
from sparse_oracle import agrees, random_table

import reidbn as rb
from reidbn.attack import Known, Knows, Scenario
from reidbn.attacks.linkage import PRINTED
from reidbn.errors import ReidbnWarning
from reidbn.theory import disagrees

FACTS = range(1, 9)


def fits_by_definition(cells, kinds, person, mode):
    """Facts of a person, and for each whom it fits (the person too)."""
    people = range(len(cells["f0"]))
    facts = [j for j in range(len(kinds)) if cells[f"f{j}"][person] is not None]
    return [
        (j, [agrees(mode, kinds[j], cells[f"f{j}"][person], cells[f"f{j}"][r]) for r in people])
        for j in facts
    ]


def shares(fits, person, k, succeeds):
    """The share of k-subsets of the facts with which the attacker succeeds."""
    k = min(k, len(fits))
    if not fits:
        return Fraction(0)
    found = Fraction(0)
    for some in combinations(fits, k):
        scores = [sum(column) for column in zip(*(fit for _, fit in some), strict=True)]
        rivals = scores[:person] + scores[person + 1 :]
        found += Fraction(succeeds(some, rivals, k))
    return found / comb(len(fits), k)


def best(some, rivals, k):
    return k not in rivals


@pytest.mark.parametrize("mode", ["equal", "tolerance", "present"])
def test_every_subset_of_every_persons_facts(mode):
    cells, sparse, kinds = random_table(3, people=20, features=9)
    found = rb.linkage(sparse, match=mode, facts=FACTS)
    assert found.exact.all()
    for person in range(len(sparse)):
        fits = fits_by_definition(cells, kinds, person, mode)
        assert found.held[person] == len(fits)
        expected = [float(shares(fits, person, k, best)) for k in FACTS]
        assert found.success[person] == pytest.approx(expected, abs=1e-15)
    assert str(found.check(individuals=5, draws=50))


RULES = {
    "lineup": (lambda s, rivals, k: rivals.count(k) < 2, {"lineup": 2}),
    "guess": (lambda s, rivals, k: Fraction(1, 1 + rivals.count(k)), {}),
    "separated": (lambda s, rivals, k: max(rivals) <= Fraction(4, 5) * k, {}),
    "threshold": (best, {}),
}


@pytest.mark.parametrize("rule", RULES)
def test_other_rules_of_success(rule):
    """False alarm below 240 x 1e-7."""
    cells, sparse, kinds = random_table(4, people=15, features=9, filled=0.7)
    succeeds, options = RULES[rule]
    found = rb.linkage(sparse, success=rule, facts=FACTS, draws=1_500, **options)
    for person in range(len(sparse)):
        fits = fits_by_definition(cells, kinds, person, "equal")
        for i, k in enumerate(FACTS):
            p = float(shares(fits, person, k, succeeds))
            hits = round(found.success[person, i] * 1_500)
            assert not disagrees(hits, 1_500, p, level=1e-7)
    assert str(found.check(individuals=5, draws=50))


@pytest.mark.parametrize("rule", RULES)
def test_facts_that_are_chosen_are_told_by_the_rule_that_is_asked(rule):
    """The best k by trying all, the greedy by following it; 0 steps: sure bounds around both."""
    cells, sparse, kinds = random_table(4, people=15, features=7, filled=0.7)
    succeeds, options = RULES[rule]
    of = {
        name: rb.linkage(sparse, known=known, success=rule, facts=FACTS, **more, **options)
        for name, known, more in (
            ("greedy", "greedy", {}), ("best", "optimal", {}),
            ("open", "optimal", {"node_budget": 0}),
        )
    }  # fmt: skip
    for person in range(len(sparse)):
        fits = [fit for _, fit in fits_by_definition(cells, kinds, person, "equal")]
        for i, k in enumerate(FACTS):
            k = min(k, len(fits))
            tried = [chance(some, person, succeeds) for some in combinations(fits, k)]
            greedy = chance(by_greed(fits, k), person, succeeds)
            assert of["best"].success[person, i] == pytest.approx(max(tried), abs=1e-12)
            assert of["greedy"].success[person, i] == pytest.approx(greedy, abs=1e-12)
    best = of["best"].success
    assert of["best"].exact.all()
    assert of["greedy"].exact.all()
    assert (of["open"].low <= best).all()
    assert (best <= of["open"].success).all()
    assert (of["open"].exact == (of["open"].low == of["open"].high)).all()
    for i in range(len(FACTS)):
        low, high = of["open"].interval(i) or (best[:, i].mean(), best[:, i].mean())
        assert low - 1e-12 <= best[:, i].mean() <= high + 1e-12
    assert all("choice by choice" in str(one.check(individuals=5)) for one in of.values())


def chance(some, person, succeeds):
    """By the definition, of an attacker who knows these facts."""
    scores = [sum(column) for column in zip(*some, strict=True)]
    return float(succeeds(some, scores[:person] + scores[person + 1 :], len(some)))


def by_greed(fits, k):
    """Each fact the first of those that leave the fewest others."""
    order, rest = [], list(fits)
    for _ in range(k):
        order.append(min(rest, key=lambda f: sum(map(all, zip(*order, f, strict=True)))))
        rest.remove(order[-1])
    return order


def test_a_guess_among_many_alike_is_a_chance_and_no_toss():
    """Forty people just alike: one in forty, whoever chooses the facts and whatever the seed."""
    cells = {"a": [1] * 40, "b": [2] * 40, "c": [None] * 40}
    sparse = rb.read_sparse(cells)
    for known in ("greedy", "rarest", "optimal", "random"):
        found = rb.linkage(sparse, known=known, success="guess", facts=[2], seed=3)
        assert found.success == pytest.approx(1 / 40, abs=1e-15)
        assert found.exact.all()
    nothing = rb.linkage(sparse, known=["c"], success="guess", facts=[1])
    assert nothing.success == pytest.approx(1 / 40, abs=1e-15)
    assert "everybody fits them alike" in " ".join(nothing.remarks())
    assert nothing.check(individuals=5, draws=20)


def test_scores_that_stand_out_are_weighed_by_rarity():
    cells, sparse, kinds = random_table(6, people=15, features=6, filled=0.8)
    found = rb.linkage(sparse, success="eccentricity", facts=[3], draws=1_500)
    support = [sum(x is not None for x in cells[f"f{j}"]) for j in range(6)]
    for person in range(15):
        fits = fits_by_definition(cells, kinds, person, "equal")
        wins = []
        for some in combinations(fits, min(3, len(fits))):
            weights = np.array([1 / np.log(max(2, support[j])) for j, _ in some])
            scores = weights @ np.array([fit for _, fit in some])
            second = max(np.delete(scores, person))
            gap = weights.sum() - second
            wins.append(gap > 1e-9 and gap >= 1.5 * scores.std())
        hits = round(found.success[person, 0] * 1_500)
        assert not disagrees(hits, 1_500, np.mean(wins) if wins else 0.0, level=1e-7)


def test_coarser_matches_nest_and_choosing_well_helps():
    _, sparse, _ = random_table(8, people=40, features=12)
    by_match = [rb.linkage(sparse, match=m, facts=FACTS).success
                for m in ("equal", "tolerance", "present")]  # fmt: skip
    assert (by_match[0] >= by_match[1]).all()
    assert (by_match[1] >= by_match[2]).all()
    wider = rb.linkage(sparse, match="tolerance", tolerance=0.3, facts=FACTS).success
    assert (by_match[1] >= wider).all()
    chosen = {m: rb.linkage(sparse, known=m, facts=FACTS) for m in ("optimal", "greedy", "rarest")}
    assert all(found.exact.all() for found in chosen.values())
    assert (chosen["optimal"].success >= chosen["greedy"].success).all()
    assert (chosen["optimal"].success >= chosen["rarest"].success).all()
    assert (chosen["optimal"].success == (by_match[0] > 0)).all()
    for found in (*by_match, *(c.success for c in chosen.values())):
        assert all((a <= b + 1e-15).all() for a, b in pairwise(found.T))


def test_a_double_hides_and_a_person_more_never_helps():
    cells, sparse, _ = random_table(9, people=25)
    before = rb.linkage(sparse, facts=FACTS).success
    double = pd.DataFrame(
        {n: pd.Series([*values, values[4]], dtype=object) for n, values in cells.items()}
    )
    kinds = sparse.features[["kind"]].reset_index()
    after = rb.linkage(rb.read_sparse(double, features=kinds), facts=FACTS).success
    assert (after[[4, 25]] == 0).all()
    assert (after[:25] <= before).all()
    fewer = rb.linkage(sparse.take([i for i in range(25) if i != 7]), facts=FACTS).success
    assert (np.delete(before, 7, axis=0) <= fewer).all()
    order = np.random.default_rng(1).permutation(25)
    assert np.array_equal(rb.linkage(sparse.take(order), facts=FACTS).success, before[order])


@pytest.mark.parametrize("chances", [{"f0": 1.0, "f1": 0.3, "f2": 0.0, "f4": 0.9}, {"f3": 0.5}])
@pytest.mark.parametrize("otherwise", [None, 0.2, 1.0])
def test_facts_known_independently(chances, otherwise):
    cells, sparse, kinds = random_table(10, people=15, features=7, filled=0.7)
    found = rb.linkage(sparse, known=chances, otherwise=otherwise)
    assert found.exact.all()
    for person in range(15):
        fits = fits_by_definition(cells, kinds, person, "equal")
        total = 0
        for k in range(len(fits) + 1):
            for some in combinations(fits, k):
                inside = {j for j, _ in some}
                weight = prod(
                    p if j in inside else 1 - p
                    for j, _ in fits
                    for p in [chances.get(f"f{j}", otherwise or 0.0)]
                )
                others = [all(fit[r] for _, fit in some) for r in range(15) if r != person]
                total += weight * (not any(others))
        assert found.success[person, 0] == pytest.approx(total, abs=1e-12)
    drawn = rb.linkage(sparse, known=chances, otherwise=otherwise, node_budget=0, draws=2_000)
    for p, hit in zip(found.success[:, 0], drawn.success[:, 0], strict=True):
        assert not disagrees(round(hit * 2_000), 2_000, min(max(p, 0), 1), level=1e-7)


def test_what_cannot_be_counted_is_drawn_and_says_so():
    """Intervals of 95 % hold the exact value in more than 90 % of cells (fewer: 1 in 10^4 runs)."""
    _, sparse, _ = random_table(12, people=60, features=16, filled=0.8)
    exact = rb.linkage(sparse, facts=FACTS)
    assert exact.exact.all()
    assert (exact.low == exact.success).all()
    drawn = rb.linkage(sparse, facts=FACTS, node_budget=3, draws=200)
    unsure = ~drawn.exact
    assert unsure.any()
    assert drawn.exact.mean() < 0.5
    inside = (drawn.low <= exact.success) & (exact.success <= drawn.high)
    assert inside[unsure].mean() > 0.9
    assert inside[~unsure].all()
    assert "drawn 200 times" in drawn.remarks()[0]
    assert drawn.interval(3)[0] <= exact.success[:, 3].mean() <= drawn.interval(3)[1]
    assert exact.interval(3) is None
    other = rb.linkage(sparse, facts=FACTS, node_budget=3, draws=200)
    assert np.array_equal(other.success, drawn.success)  # the same seed


def test_columns_with_chances_are_read_however_they_are_said(tmp_path):
    table = {"f0": [1, 2, 2, 2], "f1": [3, None, 4, 4], "f2": [5, 5, 6, 5]}
    sparse = rb.read_sparse(table)
    people = rb.read_table(pd.DataFrame(table), quasi_identifiers=["f0", "f1", "f2"])
    chances = {"f0": 0.3, "f1": 0.5}
    expected = rb.linkage(sparse, known=chances)
    pairs = {"x": ("f0", 0.3), "y": (["f1"], 0.5)}
    said = Scenario(
        "mine", knows=Knows((Known("x", ("f0",), (0.6, 0.5)), Known("f1", ("f1",), (0.5,))))
    )
    for known in (pairs, rb.microdata.knowledge(people, chances), said):
        found = rb.linkage(sparse, known=known)
        assert found.success.tolist() == expected.success.tolist()
        assert (found.success < 1).all()
    sure = rb.linkage(sparse, known=rb.microdata.knowledge(people, ["f0", "f1"]))
    assert sure.success.tolist() == rb.linkage(sparse, known={"f0": 1, "f1": 1}).success.tolist()
    own = rb.microdata.knowledge(people, {"f0": [0.1, 0.2, 0.3, 0.4]})
    with pytest.raises(rb.UsageError, match="chances of each person's own"):
        rb.linkage(sparse, known=own)
    with pytest.raises(rb.UsageError, match="more than one chance"):
        rb.linkage(sparse, known=replace(said, set={"p_wrong": 0.1}))


def test_some_facts_alone_and_what_is_known_together():
    cells, sparse, kinds = random_table(13, people=20, features=8)
    found = rb.linkage(sparse, known=["f1", "f4", "f7"], facts=[1, 2, 5])
    for person in range(20):
        fits = [f for f in fits_by_definition(cells, kinds, person, "equal") if f[0] in (1, 4, 7)]
        expected = [float(shares(fits, person, k, best)) for k in (1, 2, 5)]
        assert found.success[person] == pytest.approx(expected, abs=1e-15)
    features = sparse.features.reset_index()
    features["together"] = ["a", "b", "a", "", "b", "", "", ""]
    table = pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in cells.items()})
    joined = rb.linkage(
        rb.read_sparse(table, features=features), facts=[1, 2, 8], facts_together=True
    )
    for person in range(20):
        whole = dict(fits_by_definition(cells, kinds, person, "equal"))
        groups = [[j for j in g if j in whole] for g in ((0, 2), (1, 4), (3,), (5,), (6,), (7,))]
        fits = [(g[0], [all(whole[j][r] for j in g) for r in range(20)]) for g in groups if g]
        expected = [float(shares(fits, person, k, best)) for k in (1, 2, 8)]
        assert joined.success[person] == pytest.approx(expected, abs=1e-15)


def test_heavier_facts_are_learnt_sooner():
    """Of two facts one is three times as readily learnt: it is the first in 3 of 4 draws."""
    sparse = rb.read_sparse({"a": [1, 2, 2], "b": [5, 5, 6]})
    found = rb.linkage(sparse, weights={"a": 3}, facts=[1, 2], draws=4_000)
    assert not disagrees(round(found.success[0, 0] * 4_000), 4_000, 0.75, level=1e-7)
    assert not disagrees(round(found.success[2, 0] * 4_000), 4_000, 0.25, level=1e-7)
    assert found.success[:, 1].tolist() == [1, 1, 1]
    assert found.exact.tolist() == [[False, True]] * 3


def test_whoever_has_nothing_to_be_known_is_never_singled_out():
    sparse = rb.read_sparse({"a": [1, 2, None], "b": [None, 3, None]})
    found = rb.linkage(sparse, facts=[1, 3])
    assert found.success.tolist() == [[1, 1], [1, 1], [0, 0]]
    assert found.held.tolist() == [1, 2, 0]
    assert "1 person no fact" in found.remarks()[0]
    assert found.table()["all facts"].tolist() == [2 / 3, 1.0]
    assert found.facts_for(0.6) == 1
    assert found.facts_for(0.7) is None


def test_a_table_of_one_line_per_number_of_facts():
    ehr = rb.datasets.synthetic_ehr(150, seed=3)
    sparse = rb.read_sparse(ehr.table, features=ehr.features)
    found = rb.linkage(sparse, known="colleague", facts=range(1, 6), individuals=30, draws=200)
    table = found.table()
    assert table.index.tolist() == [1, 2, 3, 4, 5]
    assert (table["low"] <= table["success"]).all()
    assert (table["success"] <= table["high"]).all()
    assert len(found.people) == 30
    assert found.people["facts_3"].mean() == pytest.approx(found.measures["facts_3"].value)
    by_chance = rb.linkage(sparse, known={"alcohol": 0.3, "travel": 0.5}, otherwise=0.0)
    assert by_chance.success.shape == (150, 1)
    assert by_chance.table().index.tolist() == ["by chance"]


def test_the_fifteen_experiments(real_data):
    printed = pd.read_csv(real_data / "papers" / "popat_table3.csv", na_values="-")
    ours = {
        (name, match): tuple(None if k is None else k for k in row)
        for (name, match), row in PRINTED.items()
    }
    words = {"Perfect": "perfect", "20% Tolerance": "20 % tolerance", "Presence-only": "presence"}
    for row in printed.itertuples():
        values = (row.k_for_gt_90pct, row.k_for_gt_80pct, row.k_for_gt_60pct)
        told = tuple(None if np.isnan(v) else int(v) for v in values)
        assert ours[row.aux.lower(), words[row.sim]] == told
    assert len(printed) == len(ours) == 15


def test_the_experiments_have_the_orders_of_the_paper():
    """Orders alone: perfect <= 20 % <= presence; levels of insider and app are not the paper's."""
    ehr = rb.datasets.synthetic_ehr(250, seed=1)
    sparse = rb.read_sparse(ehr.table, features=ehr.features)
    found = rb.linkage_experiments(sparse, draws=2, seed=1)
    assert len(found) == 15
    for name in found.index.get_level_values("known").unique():
        for level in ("above 90%", "above 80%", "above 60%"):
            ks = found.loc[name, level].fillna(99)
            assert ks["perfect"] <= ks["20 % tolerance"] <= ks["presence"]
    assert found.loc[("random", "perfect"), "above 60%"] in (2, 3, 4)
    for name in ("acquaintance", "insider", "app"):
        assert pd.isna(found.loc[(name, "presence"), "above 90%"])
    with pytest.raises(rb.UsageError, match='tag "colleague"'):
        rb.linkage_experiments(rb.read_sparse({"a": [1, 2]}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"known": "colleage"}, "colleague"),
        ({"known": 3}, "known is an int"),
        ({"known": {}}, "known= is empty"),
        ({"known": {"f0": 1.5}}, "from 0 to 1"),
        ({"known": {"f0": 0.5}, "facts": [1]}, "matter of chance"),
        ({"known": {"f0": 0.5}, "success": "guess"}, 'ask for "best"'),
        ({"known": {"f0": 0.5, "here": 0.4}}, "another chance"),
        ({"otherwise": 0.5}, "otherwise= is the chance"),
        ({"known": "rarest", "weights": {"f0": 2}}, "drawn at random"),
        ({"weights": {"f0": 0}}, "above 0"),
        ({"match": "presence"}, 'did you mean "present"'),
        ({"success": "unique"}, "known: best"),
        ({"facts": [0]}, "whole numbers from 1"),
        ({"facts": "3"}, "facts is a str"),
        ({"facts": [10**9]}, "at most"),
        ({"match": "tolerance", "tolerance": 1.5}, "share of the value"),
        ({"success": "separated", "share": 1}, "below 1"),
        ({"tolerance": 0.9}, 'tolerance= is of match="tolerance" alone'),
        ({"match": "present", "years": 9}, 'years= is of match="tolerance" alone'),
        ({"modal": 0.1}, 'modal= is of match="modal" alone'),
        ({"success": "guess", "lineup": 3}, 'lineup= is of success="lineup" alone'),
        ({"success": "lineup", "phi": 9}, 'phi= is of success="eccentricity" alone'),
        ({"success": "eccentricity", "share": 0.1}, 'share= is of success="separated" alone'),
        ({"draws": 0}, "draws"),
        ({"individuals": 99}, "individuals=99"),
        ({"known": "any-facts"}, r'rb.assess\("linkage", sparse, scenario="any-facts"\)'),
        ({"known": "worst-case"}, r"says that everything is known: ask for as many facts"),
        ({"known": rb.attack.load_scenario("vague")}, r'scenario="vague"\)'),
        ({"known": "voter-registration"}, "more than one chance for each fact"),
        ({"known": rb.attack.load_scenario("who-is-attacking")}, "more than one chance"),
        ({"known": {"both": (["f0", "f1"], 0.5)}}, "learnt together"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    features = {"feature": ["f0", "f1"], "tags": ["colleague here", ""]}
    sparse = rb.read_sparse({"f0": [1, 2, 2], "f1": [3, None, 4]}, features=features)
    with pytest.raises(rb.UsageError, match=message):
        rb.linkage(sparse, **options)
    with pytest.raises(rb.UsageError, match="it takes a Sparse"):
        rb.linkage(pd.DataFrame())


def some_drawn(seed, **more):
    """Everything is drawn: nothing may be counted."""
    _, sparse, _ = random_table(3, people=20, features=9)
    return rb.linkage(sparse, facts=[2, 4], node_budget=0, draws=50, seed=seed, **more)


def test_a_difference_that_drawing_makes_is_told_as_no_change():
    one, other, wide = some_drawn(0), some_drawn(1), some_drawn(0, success="lineup", lineup=3)
    with pytest.warns(ReidbnWarning) as said:
        told = rb.compare(one, other)
    half = np.hypot(one.high - one.low, other.high - other.low) / 2
    assert told["drawing"]["facts_2"] == pytest.approx(np.sqrt((half[:, 0] ** 2).sum()) / 20)
    near = told.index[told["difference"].abs().between(1e-12, told["drawing"])]
    assert f"{', '.join(near)}: the difference is within what drawing" in str(said[-1].message)
    assert (wide.success.mean(axis=0) - one.success.mean(axis=0) > told["drawing"].iloc[1:]).all()
    exact = rb.linkage(one.sparse, facts=[2, 4])
    assert exact.exact.all()
    assert "drawing" not in exact.compare(exact)


def test_what_is_not_unusual_of_anybody_is_left_out_and_no_feature_is_called_unknown():
    """a has no common content, b one that five of eight have."""
    cells = {"a": [*range(8)], "b": ["x"] * 5 + ["y", None, None], "c": [None] * 6 + [1, 2]}
    features = {"feature": ["a", "b", "c"], "tags": ["friend", "friend", ""]}
    sparse = rb.read_sparse(cells, features=features)
    for asked in ({"known": "a"}, {"known": ["b", "a"]}, {"known": {"a": 0.5}},
                  {"weights": {"a": 2.0}}):  # fmt: skip
        with pytest.raises(rb.UsageError, match="leaves a out: it has no content so common"):
            rb.linkage(sparse, match="modal", **asked)
    with pytest.raises(rb.UsageError, match='no feature, tag, section or category "z"'):
        rb.linkage(sparse, match="modal", known="z")
    told = rb.linkage(sparse, match="modal", known="friend", facts=[1])
    assert told.held.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]  # of b whoever has not the commonest
    assert any("matches 2 of 3 features" in note for note in told.remarks())
    everything = rb.linkage(sparse.select(["b", "c"]), match="modal", facts=[1])
    assert not any("matches" in note for note in everything.remarks())
    with pytest.raises(rb.UsageError, match="this table has noise"):
        rb.linkage(sparse.noisy(0.2), match="modal")
    called = rb.read_sparse(cells, features={"feature": ["a", "b", "c"], "tags": ["", "a", ""]})
    with pytest.raises(rb.UsageError, match="leaves a out"):  # no other feature with the tag a
        rb.linkage(called, match="modal", known="a")


def test_rows_of_people_may_be_an_array():
    _, sparse, _ = random_table(3, people=20, features=9)
    some = rb.linkage(sparse, facts=[2], individuals=np.array([3, 7]))
    assert not some.drawn
    np.testing.assert_array_equal(some.success, rb.linkage(sparse, facts=[2]).success[[3, 7]])
