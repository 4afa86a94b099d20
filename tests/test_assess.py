"""Assessments against brute force: every subset, every person, counted one by one."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from inside import inside

import reidbn as rb
from reidbn.attack import FactLookup, Known, Knows, Listed, Profile, Scenario
from reidbn.attacks import act_out, drivers, most_exposed, risks, routes, subset_classes
from reidbn.errors import DataError, ModelError, TooLarge, UsageError
from reidbn.microdata import People
from reidbn.theory import stays_unique

GRID = {name: [0.2, 0.5, 0.8] for name in ("p_m", "p_fm", "p_cu", "p_c")}


def people(n=60, seed=1, cards=(4, 3, 2, 3)) -> People:
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, c, n) for c in cards])
    return People.from_codes(codes, ["age", "race", "sex", "state"][: len(cards)])


def knows(*probabilities, names=("age", "race", "sex", "state")) -> Scenario:
    known = tuple(
        Known(n, (n,), (p,), source="assumption")
        for n, p in zip(names, probabilities, strict=False)
    )
    return Scenario("some", knows=Knows(known))


def unspoken(table, scenario):
    """What a scenario made up here says nothing about is said to be unknown."""
    if not isinstance(scenario, Scenario) or scenario.knows.every_column:
        return []
    named = {c for k in scenario.knows.known for c in k.columns}
    return [c for c in table.quasi_identifiers if c not in named]


def assess(attack, table, *, scenario="worst-case", **more):
    unknown = unspoken(table, scenario)
    return rb.assess(attack, table, scenario=scenario, unknown=unknown, **more)


def what_if(result, *, scenario=None, **more):
    if scenario is not None:
        more["unknown"] = unspoken(result.inputs.people, scenario)
    return rb.what_if(result, scenario=scenario, **more)


def by_hand(table: People, p: np.ndarray, p_unique, theta=(0.5, 0.5, 0.5, 0.5)):
    """[Xia21] person by person: expectations over every subset, then the closed form.

    Whoever is unique in the population on a part of what is known is so on all of it: the chance
    of one person on a subset is at least that on any part on which that person is unique.
    """
    n, b = p.shape
    codes = table.codes(["age", "race", "sex", "state"][:b])
    u, j, m = np.zeros((3, n))
    chance = np.zeros((1 << b, n))
    for mask in range(1 << b):
        bits = [k for k in range(b) if mask >> k & 1]
        for i in range(n):
            alike = int((codes[:, bits] == codes[i, bits]).all(axis=1).sum()) if bits else n
            w = np.prod([p[i, k] if k in bits else 1 - p[i, k] for k in range(b)])
            u[i] += w * (alike == 1)
            parts = [chance[part, i] for part in range(mask) if part & mask == part]
            chance[mask, i] = (alike == 1) * max([p_unique[mask], *parts])
            j[i] += w * chance[mask, i]
            m[i] += w / alike
    p_m, p_fm, p_cu, p_c = theta
    overall = 1 - ((1 - u) - p_c * (m - u) + (1 - p_m * p_fm) * (1 - p_c) * (u - p_cu * j))
    return {"prosecutor": u, "journalist": j, "marketer": m, "overall": overall}


@pytest.mark.parametrize("probabilities", [(0.3, 0.9, 0.5, 0.2), (1.0, 0.4), (1.0, 1.0, 0.7, 1.0)])
def test_every_measure_equals_counting_by_hand(probabilities):
    table = people()
    result = assess("adversary-routes", table, scenario=knows(*probabilities), population=5000,
                    population_model="pitman")  # fmt: skip
    b = len(probabilities)
    # The certain groups are joined, so the fit of a subset is looked up by its columns.
    p_unique = np.zeros(1 << b)
    for mask in range(1 << b):
        columns = {["age", "race", "sex", "state"][k] for k in range(b) if mask >> k & 1}
        for own in range(1 << len(result.groups.placed)):
            have = {c for k, g in enumerate(result.groups.columns) if own >> k & 1 for c in g}
            if have == columns:
                p_unique[mask] = result.population.said.p_unique[own]
    expected = by_hand(table, np.tile(probabilities, (60, 1)), p_unique)
    for measure, values in expected.items():
        assert np.abs(result.subjects[measure].to_numpy() - values).max() <= 1e-12, measure


def test_uniqueness_on_each_subset_is_pitmans_formula_at_the_fit():
    table = people(400, cards=(30, 10, 5, 4))
    result = assess("adversary-routes", table, scenario=knows(0.5, 0.5, 0.5), population=9000,
                    population_model="pitman")  # fmt: skip
    fits = result.population
    for mask, status in enumerate(fits.status):
        if status in ("interior", "boundary"):
            expected = stays_unique(400, 9000, theta=fits.theta[mask], alpha=fits.alpha[mask])
            assert fits.said.p_unique[mask] == pytest.approx(expected, abs=1e-14)


def test_a_table_that_is_the_population_makes_journalist_and_prosecutor_equal():
    table = people()
    result = assess("adversary-routes", table, scenario=knows(0.3, 0.9, 0.5), population=60)
    assert np.abs(result.subjects["journalist"] - result.subjects["prosecutor"]).max() <= 1e-12
    assert np.abs(result.subjects["journalist_match"] - result.subjects["marketer"]).max() <= 1e-12


def test_chances_looked_up_by_state_equal_counting_by_hand():
    table = people()
    facts = {
        "lists": {"state": ["0", "1", "2"], "age": [1, 0, 1], "sex": [0, 1, 1], "on": [0.2, 0.9, 0]}
    }

    def look(column):
        return FactLookup("lists", column, ("state",))

    known = (
        Known("age", ("age",), (look("age"),), source="s"),
        Known("sex", ("sex",), (look("sex"),), source="s"),
    )
    scenario = Scenario("list", knows=Knows(known, Listed("listed", (look("on"),))), facts=facts)
    result = assess("adversary-routes", table, scenario=scenario, population=5000)
    state = table.codes(["state"])[:, 0]
    on = np.array([0.2, 0.9, 0.0])[state]
    p = np.column_stack([on * np.array([1, 0, 1])[state], on * np.array([0, 1, 1])[state]])
    renamed = table.select(["age", "sex"])
    codes = renamed.codes()
    marketer = np.zeros(60)
    for mask in range(4):
        bits = [k for k in range(2) if mask >> k & 1]
        for i in range(60):
            alike = int((codes[:, bits] == codes[i, bits]).all(axis=1).sum()) if bits else 60
            w = np.prod([p[i, k] if k in bits else 1 - p[i, k] for k in range(2)])
            marketer[i] += w / alike
    assert np.abs(result.subjects["marketer"].to_numpy() - marketer).max() <= 1e-12


def test_one_list_for_all_attributes_mixes_all_or_nothing():
    table = people()
    known = tuple(Known(n, (n,), (1.0,), source="s") for n in ("age", "race"))
    independent = Scenario("list", knows=Knows(known, Listed("listed", (0.3,))))
    shared = independent.shared(together=True)
    result = assess("adversary-routes", table, scenario=shared, population=5000)
    full = table.class_sizes(["age", "race"])
    expected = 0.3 / full + 0.7 / 60
    assert np.abs(result.subjects["marketer"].to_numpy() - expected).max() <= 1e-12
    apart = what_if(result, together=False).subjects["marketer"].to_numpy()
    alone = [table.class_sizes([c]) for c in ("age", "race")]
    expected = 0.09 / full + 0.21 / alone[0] + 0.21 / alone[1] + 0.49 / 60
    assert np.abs(apart - expected).max() <= 1e-12


def test_attacker_profiles_mix_their_own_knowledge():
    table = people()
    profile = Profile("attacker", {"insider": 0.25, "stranger": 0.75})
    known = tuple(
        Known(n, (n,), by_profile={"insider": 1.0, "stranger": q}, source="s")
        for n, q in (("age", 0.5), ("race", 0.0))
    )
    scenario = Scenario("who", knows=Knows(known, profile))
    result = assess("adversary-routes", table, scenario=scenario, population=5000)
    full = table.class_sizes(["age", "race"])
    age = table.class_sizes(["age"])
    expected = 0.25 / full + 0.75 * (0.5 / age + 0.5 / 60)
    assert np.abs(result.subjects["marketer"].to_numpy() - expected).max() <= 1e-12
    insider = what_if(result, do={"attacker": "insider"})
    assert np.abs(insider.subjects["marketer"].to_numpy() - 1 / full).max() <= 1e-12


def test_acting_the_attack_out_agrees_with_the_exact_risk():
    """Mean over people of a share of 400 trials: a correct program fails with P < 1e-6 (5 sd)."""
    table = people()
    exact = assess("adversary-routes", table, scenario=knows(0.5, 0.6, 0.7), population=500)
    acted = assess(
        "adversary-routes",
        table,
        scenario=knows(0.5, 0.6, 0.7),
        population=500,
        method="simulation",
        draws=400,
        seed=3,
    )
    p = exact.risk()
    spread = np.sqrt((p * (1 - p) / 400).sum()) / len(p)
    assert abs(acted.risk().mean() - p.mean()) <= 5 * spread
    assert set(np.round(acted.risk() * 400, 9) % 1) == {0.0}


def test_a_sweep_over_an_assessment_gives_one_row_per_setting():
    result = assess("adversary-routes", people(), scenario=knows(0.5, 0.6), population=500)
    table = rb.sweep(result, GRID)
    assert len(table) == 81
    row = table[(table[["p_m", "p_fm", "p_cu", "p_c"]] == [0.2, 0.8, 0.5, 0.2]).all(axis=1)]
    again = what_if(result, set={"p_m": 0.2, "p_fm": 0.8, "p_cu": 0.5, "p_c": 0.2})
    assert row["mean"].iloc[0] == pytest.approx(again.risk().mean(), abs=1e-12)


def test_the_crosscheck_of_an_assessment_passes_and_is_kept():
    result = assess("adversary-routes", people(), scenario=knows(0.5, 0.6, 0.7), population=500)
    check = result.check(draws=100_000, seed=5)
    assert check.passed
    assert check.decided >= 0.8


def test_a_comparison_is_person_by_person_with_zero_risk_left_out():
    table = people()
    worst = assess("adversary-routes", table, population=500)
    some = what_if(worst, scenario=knows(0.5, 0.6, 0.7, 0.2))
    comparison = rb.compare(worst, some)
    before, after = worst.risk("marketer"), some.risk("marketer")
    q = np.quantile(100 * (1 - after / before), [0.25, 0.5, 0.75])
    assert comparison.table.loc["marketer", ["q1", "median", "q3"]].to_numpy() == pytest.approx(q)
    zero = int((worst.risk("prosecutor") == 0).sum())
    assert comparison.table.loc["prosecutor", "at_zero_before"] == zero


def test_counts_above_thresholds_and_the_most_exposed_follow_the_risks():
    result = assess("adversary-routes", people(), scenario=knows(0.5, 0.6, 0.9), population=500)
    overall = result.risk()
    assert result.above([0.05, 0.2])["overall"].tolist() == [
        int((overall > 0.05).sum()),
        int((overall > 0.2).sum()),
    ]
    assert result.most_at_risk(3)["overall"].tolist() == sorted(overall)[::-1][:3]


def test_people_alike_share_one_row_and_order_is_the_tables():
    table = people(200, cards=(2, 2, 2, 2))
    result = assess("adversary-routes", table, scenario=knows(0.5, 0.6, 0.9), population=500)
    assert result.subject_table.subjects <= 8
    assert len(result.subjects) == 200
    shuffled = np.random.default_rng(2).permutation(200)
    again = assess(
        "adversary-routes", table.take(shuffled), scenario=knows(0.5, 0.6, 0.9), population=500
    )
    assert np.abs(again.risk() - result.risk()[shuffled]).max() <= 1e-12


def test_matching_values_count_matches_and_the_approximation_is_noted():
    frame = pd.DataFrame({"age": ["30", None, "31", "30"], "sex": ["f", "f", "m", None]})
    table = rb.read_table(frame, quasi_identifiers=["age", "sex"], missing="matches-anything")
    classes = subset_classes(table, [("age",), ("sex",)])
    assert classes.sizes[3].tolist() == table.class_sizes(["age", "sex"]).tolist()
    assert not classes.is_partition
    # Population fits see classes, not match counts: four people, n = 4 on every subset.
    assert [f.n for f in classes.frequencies] == [4, 4, 4, 4]
    scenario = knows(0.5, 0.5, names=("age", "sex"))
    result = assess("adversary-routes", table, scenario=scenario, population=500)
    assert any("as-written" in note for note in result.population.notes)
    assert ((result.risk() >= 0) & (result.risk() <= 1)).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"population": 10}, DataError, "smaller than the table"),
        ({}, UsageError, "give population=N"),
        ({"population": 500, "method": "guess"}, UsageError, 'no method "guess"'),
        ({"population": 500, "scenario": "wurst-case"}, UsageError, 'did you mean "worst-case"'),
        ({"population": 500, "set": {"p_x": 0.1}}, UsageError, 'no parameter "p_x"'),
        (
            {"population": 500, "scenario": knows(0.5, names=("postcode",))},
            DataError,
            "no quasi-identifier",
        ),
        ({"population": 500, "scenario": knows(1.5)}, ModelError, "probability of 1.5"),
        (
            {
                "population": 500,
                "scenario": Scenario(
                    "x", knows=Knows((Known("a", ("age", "sex"), (0.5,)), Known("b", ("sex",))))
                ),
            },
            UsageError,
            'groups overlap: "sex" is in more than one of a, b',
        ),
        ({"population": 500, "without": ["party"]}, UsageError, 'knows no "party"'),
        ({"population": 500, "columns": {"party": "race"}}, UsageError, 'no attribute "party"'),
        ({"population": 500, "columns": {"party": "x"}}, UsageError, 'party is to be column "x"'),
        ({"population": 500, "subject": {"nope": [1] * 60}}, UsageError, "no subject column"),
    ],
)
def test_mistaken_calls_say_what_would_be_right(call, error, message):
    call = {"scenario": "worst-case", **call}
    if "without" in call or "columns" in call:
        call["scenario"] = knows(0.5)
    with pytest.raises(error, match=message):
        assess("adversary-routes", people(), **call)


def test_a_value_without_a_row_in_the_facts_is_an_error_that_names_no_value():
    facts = {"lists": {"state": ["0", "1"], "p": [0.5, 0.5]}}
    known = (Known("age", ("age",), (FactLookup("lists", "p", ("state",)),)),)
    scenario = Scenario("x", knows=Knows(known), facts=facts)
    missed = int((people().codes(["state"]) == 2).sum())
    with pytest.raises(DataError, match=rf"^{missed} people have a state with no row"):
        assess("adversary-routes", people(), scenario=scenario, population=500)


def test_too_many_groups_are_refused_with_a_way_out():
    rng = np.random.default_rng(1)
    names = [f"x{i}" for i in range(21)]
    table = People.from_codes(rng.integers(0, 2, (30, 21)), names)
    with pytest.raises(TooLarge):
        assess("adversary-routes", table, scenario=knows(*[0.5] * 21, names=names),
                  population=500)  # fmt: skip


def test_shipped_scenarios_load_and_every_number_has_a_source():
    for name in rb.scenarios():
        scenario = rb.load_scenario(name)
        assert scenario.title
        if scenario.knows is None:
            continue
        assert all(k.source for k in scenario.knows.known), name


def test_independent_groups_over_all_subsets_sum_to_one():
    result = assess("adversary-routes", people(), scenario=knows(0.5, 0.6, 0.7), population=500)
    members = result.attack.groups["known"].members
    one = {k: v[:1] for k, v in result.subject_table.columns.items()}
    total = sum(
        float(rb.ask(result.attack, dict(zip(members, states, strict=True)), subject=one))
        for states in itertools.product(("yes", "no"), repeat=3)
    )
    assert total == pytest.approx(1, abs=1e-12)


def test_shapley_values_are_exact_and_add_up():
    table = people()
    result = assess("adversary-routes", table, scenario=knows(0.5, 0.6, 0.9), population=500)
    found = drivers(result)
    assert found.method == "exact Shapley value"
    assert found.nothing + found.mean.sum() == pytest.approx(result.risk().mean(), abs=1e-12)
    # Against the average over all orders of learning, each step a new assessment.
    names = ("age", "race", "sex")
    p = dict(zip(names, (0.5, 0.6, 0.9), strict=True))
    total = dict.fromkeys(names, 0.0)
    for order in itertools.permutations(names):
        before = found.nothing
        for step in range(1, 4):
            chosen = {n: p[n] if n in order[:step] else 1e-300 for n in names}
            after = what_if(result, scenario=knows(*(chosen[n] for n in names))).risk().mean()
            total[order[step - 1]] += (after - before) / 6
            before = after
    assert found.mean == pytest.approx([total[n] for n in names], abs=1e-9)


def test_without_room_for_all_sets_the_contributions_are_leave_one_out(monkeypatch):
    result = assess("adversary-routes", people(), scenario=knows(0.5, 0.6), population=500)
    monkeypatch.setattr(inside(drivers), "MOST_CELLS", 1)
    found = drivers(result)
    assert found.method == "leave-one-out"
    left = what_if(result, scenario=knows(0.5)).risk().mean()
    assert found.mean[1] == pytest.approx(result.risk().mean() - left, abs=1e-9)


def test_the_most_exposed_come_with_their_route_and_attribute():
    result = assess("adversary-routes", people(), scenario=knows(0.5, 0.6, 0.9), population=500)
    table = most_exposed(result, 5)
    assert set(table["main_route"]) <= {"prosecutor", "journalist", "marketer"}
    assert set(table["main_group"]) <= {"age", "race", "sex"}
    assert len(routes(result)) == 60


def test_a_killed_run_goes_on_from_its_finished_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(inside(risks), "CELLS", 8 * 10)
    call = {"scenario": knows(0.5, 0.6, 0.9), "population": 500, "checkpoint": tmp_path}
    asked = []
    real = inside(risks).joint

    def killed_after_two(*args, **more):
        asked.append(1)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return real(*args, **more)

    monkeypatch.setattr(inside(risks), "joint", killed_after_two)
    with pytest.raises(KeyboardInterrupt):
        assess("adversary-routes", people(), **call)
    assert len(list(tmp_path.glob("*.npy"))) == 2
    monkeypatch.setattr(inside(risks), "joint", real)
    resumed = assess("adversary-routes", people(), **call)
    fresh = assess("adversary-routes", people(), **{**call, "checkpoint": None})
    assert np.array_equal(resumed.subjects, fresh.subjects)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npy")}
    assess("adversary-routes", people(), **call)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npy")} == kept
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("together", [False, True])
def test_acting_the_attack_out_on_the_table_agrees(together):
    """A correct program fails with probability 1e-6."""
    known = tuple(Known(n, (n,), (p,), source="s") for n, p in (("age", 0.9), ("race", 0.5)))
    scenario = Scenario("list", knows=Knows(known, Listed("listed", (0.6,), shared=together)))
    result = assess("adversary-routes", people(30), scenario=scenario, population=500)
    acted = act_out(result, draws=40_000, seed=4)
    assert acted.agrees
    assert [c.verdict for c in acted.cells] == ["agrees", "agrees"]
    wrong = what_if(result, together=not together)
    assert not replace(acted, predicted_right=float(wrong.risk("marketer").mean())).agrees


@pytest.mark.wide
def test_the_worst_case_tells_its_sure_attributes_apart():
    table = people(40)
    worst = assess("adversary-routes", table, population=500)
    assert len(worst.groups.placed) == 1
    found = drivers(worst)
    assert found.labels == ("age", "race", "sex", "state")
    assert found.by_subject.shape == (worst.subject_table.subjects, 4)
    # v(S) of one person by hand: [Xia21] at a class size on the columns of S, averaged over orders.
    total = dict.fromkeys(found.labels, 0.0)
    for order in itertools.permutations(found.labels):
        before = found.nothing
        for step in range(1, 5):
            known = Scenario("s", knows=Knows(tuple(Known(c, (c,)) for c in order[:step])))
            after = what_if(worst, scenario=known).risk().mean()
            total[order[step - 1]] += (after - before) / 24
            before = after
    assert found.mean == pytest.approx([total[n] for n in found.labels], abs=1e-9)
    assert found.nothing + found.mean.sum() == pytest.approx(worst.risk().mean(), abs=1e-9)
