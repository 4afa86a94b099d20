"""Recommend under an attack, against every way to release and every set of people left out."""

import ast
import json
import shlex
from itertools import product
from math import log2

import numpy as np
import pandas as pd
import pytest
from inside import inside
from scipy.stats import binom

import reidbn as rb
from reidbn.plans import bounds_of, direction_of

WIDE, SLOW = pytest.mark.wide, pytest.mark.slow
WIDTHS = {"age": (2, 4), "zip": (2,), "sex": ()}
LIMITS = [("highest <= 0.5", lambda r: r.max() <= 0.5 + 1e-12),
          ("mean <= 0.3", lambda r: r.mean() <= 0.3 + 1e-12),
          ("q75 <= 0.4", lambda r: (r > 0.4 + 1e-12).sum() <= int(0.25 * len(r) + 1e-9)),
          ("above 0.35 <= 30%", lambda r: (r > 0.35 + 1e-12).sum() <= int(0.3 * len(r) + 1e-9)),
          ]  # fmt: skip


def bands(values, widths, level):
    if level == 0:
        return values
    return np.zeros_like(values) if level > len(widths) else values // widths[level - 1]


def risk_of(codes, chances, measure):
    """P(alone) or E[1/alike] over what is known: every subset, by hand."""
    total = np.zeros(len(codes))
    for known in product((0, 1), repeat=codes.shape[1]):
        some = np.flatnonzero(known)
        p = np.prod([c if k else 1 - c for c, k in zip(chances, known, strict=True)])
        alike = (codes[:, None, some] == codes[None, :, some]).all(axis=2).sum(axis=1)
        total += p * ((alike == 1) if measure == "prosecutor" else 1 / alike)
    return total


def least_loss(frame, chances, measure, is_met, budget):
    """The least loss over every level of every column and every set of people left out."""
    n, best = len(frame), np.inf
    table = {c: frame[c].to_numpy() for c in frame}
    whole = np.zeros(n)
    for values in table.values():
        bits = np.array([log2(n / (values == v).sum()) for v in values])
        whole += bits / max(bits.sum(), 1e-300) / len(table) if bits.sum() else 0
    for levels in product(*(range(len(WIDTHS[c]) + 2) for c in frame)):
        codes, lost = [], np.zeros(n)
        for (c, values), level in zip(table.items(), levels, strict=True):
            coarse = bands(values, WIDTHS[c], level)
            codes.append(coarse)
            bits = np.array([log2(n / (values == v).sum()) for v in values]).sum()
            hides = [log2((coarse == w).sum() / (values == v).sum())
                     for v, w in zip(values, coarse, strict=True)]  # fmt: skip
            lost += np.array(hides) / bits / len(table) if bits else 0
        codes = np.stack(codes, axis=1)
        for out in product((0, 1), repeat=n):
            out = np.array(out, dtype=bool)
            loss = np.where(out, whole, lost).sum()
            allowed = out.sum() <= budget and not out.all() and loss < best - 1e-12
            if allowed and is_met(risk_of(codes[~out], chances, measure)):
                best = loss
    return best


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 7)) for s in range(40)]
)
def test_no_way_to_release_loses_less_than_the_certificate_says(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8))
    frame = pd.DataFrame({"age": rng.integers(0, 6, n), "zip": rng.integers(0, 3, n),
                          "sex": rng.integers(0, 2, n)})  # fmt: skip
    chances = np.round(rng.uniform(0.2, 1, 3), 2)
    asked, is_met = LIMITS[seed % 4]
    measure = ("marketer", "prosecutor")[seed // 4 % 2]
    share = (0.0, 0.3, 0.5)[seed % 3]
    people = rb.read_table(frame, quasi_identifiers=list(frame))
    known = dict(zip(frame, chances, strict=True))
    best = least_loss(frame, chances, measure, is_met, int(share * n + 1e-9))
    call = {"target": {measure: asked}, "known": known, "population": 10**6,
            "population_model": "pitman", "suppress_at_most": share,
            "hierarchies": {c: rb.Bands(*w) for c, w in WIDTHS.items() if w}}  # fmt: skip
    if np.isinf(best):
        with pytest.raises(rb.errors.DataError, match="no way to release"):
            rb.recommend(people, "adversary-routes", **call)
        return
    plan = rb.recommend(people, "adversary-routes", **call)
    assert is_met(risk_of(plan.apply().table[:, :3], chances, measure))
    assert plan.best.loss - plan.certificate.gap <= best + 1e-12
    assert best <= plan.best.loss + 1e-12
    if plan.certificate.is_proved:
        assert plan.best.loss == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 9))]
)
def test_a_coarser_way_settles_finer_ones_only_whoever_is_unique(seed):
    """Every node by a fresh assessment: nothing that keeps the target is called a failure."""
    rng = np.random.default_rng(seed)
    n = 60
    frame = pd.DataFrame({"age": rng.integers(0, 8, n), "zip": rng.integers(0, 5, n)})
    people = rb.read_table(frame, quasi_identifiers=list(frame))
    call = {"known": dict(zip(frame, rng.uniform(0.3, 1, 2), strict=True)),
            "population": int(rng.choice([80, 300, 10_000])),
            "population_model": ("log-linear", "pitman")[seed % 2]}  # fmt: skip
    limit = float(rng.uniform(0.02, 0.3))
    plan = rb.recommend(people, "adversary-routes", target={"overall": limit}, **call,
                        hierarchies={"age": "bands:2,4", "zip": "bands:2"})  # fmt: skip
    lattice = plan._table.ways
    ladders, losses = {o.name: o.ladder for o in lattice.options}, lattice.losses()
    keeps = []
    for i in range(lattice.size):
        coarse = people.generalise(lattice.levels(lattice.node(i)), hierarchies=ladders)
        risk = rb.assess("adversary-routes", coarse, **call).risk()
        keeps.append(risk.max() <= limit * (1 + 1e-12))
    assert not (plan._search.fails & np.array(keeps)).any()
    assert plan.certificate.is_proved
    assert plan.best.loss == pytest.approx(losses[keeps].min(), abs=1e-12)


@pytest.mark.parametrize("seed", [pytest.param(s, marks=[WIDE, SLOW][s > 2]) for s in range(12)])
def test_with_a_population_nobody_left_out_otherwise_would_do_better(seed):
    """Every way and every set of people, each by a fresh assessment of who is left."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(0, 4, 5), "zip": rng.integers(0, 2, 5)})
    people = rb.read_table(frame, quasi_identifiers=list(frame))
    call = {"known": dict(zip(frame, rng.uniform(0.3, 1, 2), strict=True)), "population": 30,
            "population_model": ("log-linear", "pitman")[seed % 2]}  # fmt: skip
    asked, is_met = LIMITS[seed % 4]
    asked = {"target": {"overall": asked}, "hierarchies": {"age": "bands:2"}, **call}
    best = np.inf
    whole = rb.recommend(
        people, "adversary-routes", **asked | {"target": {"overall": "q50 <= 0.99"}}
    )
    table = whole._table
    for i in range(table.ways.size):
        node = table.ways.node(i)
        for out in product((0, 1), repeat=5):
            out = np.array(out, dtype=bool)
            loss = table.ways.loss(node, out)
            if out.sum() > 2 or loss >= best - 1e-12:
                continue
            risk = table.assessed(node, ~out)[""].risk()
            best = loss if is_met(risk) else best
    plan, said = None, ""
    try:
        plan = rb.recommend(people, "adversary-routes", **asked, suppress_at_most=0.4)
    except rb.errors.DataError as problem:
        said = str(problem)
    if plan is None:
        assert np.isinf(best) or "was found" in said
    else:
        assert plan.best.loss - plan.certificate.gap <= best + 1e-12
        assert best <= plan.best.loss + 1e-12


def test_a_direction_is_shown_or_not_claimed():
    people = rb.read_table(
        rb.datasets.synthetic_patients(150, seed=1), quasi_identifiers=["age", "sex"]
    )
    call = {"known": {"age": 0.5, "sex": 1.0}, "population": 9_000}
    result = rb.assess("adversary-routes", people, **call)
    found = {m: direction_of(result, m) for m in result.measures}
    assert not found["prosecutor"].on_population
    assert not found["marketer"].on_population
    assert found["overall"].on_population
    assert found["journalist_match"] is None  # E[1/F] moves with the fit
    seen = rb.assess("adversary-routes", people, **call, given={"claims": "yes"})
    assert direction_of(seen, "overall") is None
    everywhere = rb.assess("adversary-routes", people, **{**call, "population": 10**10})
    everybody = np.ones(150, dtype=bool)
    low, high = bounds_of(result, {"overall": found["overall"]}).at(people, everybody)["overall"]
    assert (low <= result.risk() + 1e-15).all()
    assert (result.risk() <= high + 1e-15).all()
    assert bounds_of(result, found) is None  # not of a measure whose direction is not shown
    np.testing.assert_allclose(low, everywhere.risk(), atol=1e-4)  # hardly anybody is unique there


RISING = """
schema_version: 1
name: rising
title: More people alike, more risk
story: Who is one of many is found. Assumed all of it.
subject: {class_size: {per: known, unit: records, range: [1, 1000000000], story: alike}}
groups: {known: {story: what is known, members: [knows_age], probability: 0.5, source: assumption}}
nodes:
  alone: {parents: [known], story: one record, cpd: {kind: unique, of: "@class_size"}}
  found:
    parents: [alone]
    story: found where somebody else is alike
    source: assumption
    cpd: {kind: rows, rows: [{when: {alone: "no"}, p: [0.1, 0.9]}, {p: [0.9, 0.1]}]}
questions: {risk: {target: found=yes}}
"""


def test_an_attack_that_gains_by_larger_classes_is_searched_without_the_rules(tmp_path):
    (tmp_path / "rising.yaml").write_text(RISING)
    attack = rb.load(tmp_path / "rising.yaml")
    frame = pd.DataFrame({"age": [1, 2, 3, 3, 7, 7, 7]})
    people = rb.read_table(frame, quasi_identifiers=["age"])
    result = rb.assess(attack, people)
    assert direction_of(result, "overall") is None
    call = {"target": {"overall": "mean <= 0.6"}, "suppress_at_most": 0.5,
            "hierarchies": {"age": "bands:2,4"}}  # fmt: skip
    plan = rb.recommend(people, attack, **call)
    assert rb.assess(attack, plan.apply()).risk().mean() <= 0.6
    assert plan.best.suppressed <= 3
    alone = rb.read_table(frame.iloc[[0, 1, 2, 4]], quasi_identifiers=["age"])
    assert rb.assess(attack, alone).risk().mean() <= 0.6  # of three ages one each is left
    with pytest.raises(rb.errors.DataError, match="no way to release was found that keeps"):
        rb.recommend(people, attack, **call | {"target": {"overall": "mean <= 0.3"}})


def test_several_scenarios_hold_at_once_and_nothing_finer_keeps_both(shell):
    people = rb.read_table(
        rb.datasets.synthetic_patients(200, seed=2), quasi_identifiers=["age", "sex", "state"]
    )
    scenarios, limit = ["voter-registration", "worst-case"], 0.3
    call = {"population": 10**6, "population_model": "pitman"}
    ladders = {"age": "bands:10,20"}
    plan = rb.recommend(people, "adversary-routes", scenario=scenarios, hierarchies=ladders,
                        keep=["sex"], target=["k=2", {"marketer": f"mean <= {limit}"}],
                        suppress_at_most=0.0, **call)  # fmt: skip
    assert [str(t) for t in plan.targets][1:] == [
        f"the mean of marketer ({name}) at most {limit}" for name in scenarios
    ]
    assert plan.certificate.is_proved

    def keeps(table):
        risks = [rb.assess("adversary-routes", table, scenario=s, **call).risk("marketer")
                 for s in scenarios]  # fmt: skip
        return table.k() >= 2 and all(r.mean() <= limit for r in risks)

    assert keeps(plan.apply())
    assert set(plan.results) == set(scenarios)
    lattice = plan._table.ways
    ladders, losses = {o.name: o.ladder for o in lattice.options}, lattice.losses()
    for i in np.flatnonzero(losses < plan.best.loss - 1e-12):
        levels = lattice.levels(lattice.node(i))
        assert not keeps(people.generalise(levels, hierarchies=ladders))
    code, said = shell("recommend", "synthetic:300:2", "--qi", "age,state", "--population", "90000",
                       "--target", "marketer: mean <= 0.5", "--scenario", "voter-registration",
                       "--scenario", "worst-case", "--json")  # fmt: skip
    assert code == 0
    assert len(json.loads(said)["after"]) == 2


BANDS = """
schema_version: 1
kind: scenario
name: bands
title: Ages in bands of 10
story: the decade is known
source: assumption
knows:
  group: known
  attributes:
    decade: {in_bands: {of: age, width: 10}, chance: 1.0, source: assumption}
"""


def test_bands_that_cross_what_the_attacker_knows_settle_no_finer_way(tmp_path):
    """A decade is a class of ten people; of a release in fourteens some halves are smaller."""
    (tmp_path / "bands.yaml").write_text(BANDS)
    people = rb.read_table(pd.DataFrame({"age": range(70)}), quasi_identifiers=["age"])
    call = {"scenario": str(tmp_path / "bands.yaml"), "population": 10**6}
    fine = rb.assess("adversary-routes", people, **call).risk("marketer")
    coarse = people.generalise({"age": 1}, hierarchies={"age": rb.Bands(7)})
    assert rb.assess("adversary-routes", coarse, **call).risk("marketer").max() > fine.max()
    assert direction_of(rb.assess("adversary-routes", people, **call), "marketer") is None
    plan = rb.recommend(people, "adversary-routes", target={"marketer": 0.12}, **call,
                        hierarchies={"age": "bands:7"}, suppress_at_most=0.0)  # fmt: skip
    assert plan.best.levels == {"age": 0}


def test_a_table_is_as_it_is_before_a_column_is_dropped_and_a_named_attack_is_told(shell):
    """With drop= the first way is not the table as it stands; k=5 asks nothing of the attack."""
    people = rb.read_table(
        rb.datasets.synthetic_patients(200, seed=4), quasi_identifiers=["age", "sex", "state"]
    )
    call = {"known": {"age": 0.9, "sex": 0.9, "state": 0.9}, "population": 10**6,
            "population_model": "pitman"}  # fmt: skip
    plan = rb.recommend(people, "adversary-routes", drop=["state"], hierarchies={"age": "bands:10"},
                        target={"overall": "mean <= 0.45"}, **call)  # fmt: skip
    before, after = (rb.assess("adversary-routes", t, **call).risk().mean()
                     for t in (people, plan.apply()))  # fmt: skip
    (target,) = map(str, plan.targets)
    assert plan.best.before[target] == pytest.approx(before)
    assert plan.best.after[target] == pytest.approx(after)
    assert plan.best.levels["age"] == 0  # without the state the table keeps it as it is
    plan = rb.recommend(people, "adversary-routes", target="k=2", drop=["state"], **call,
                        hierarchies={"age": "bands:10,20"}, suppress_at_most=0.1)  # fmt: skip
    told = plan.measures.set_index("measure").loc["overall"]
    again = rb.assess("adversary-routes", plan.apply(), **call).risk()
    assert told.highest_after == pytest.approx(again.max())
    assert told.mean_before == pytest.approx(before)
    code, said = shell("recommend", "synthetic:200:4", "--qi", "age,sex", "--target", "k=2",
                       "--attack", "adversary-routes", "--known", "age=0.5", "--known", "sex=1",
                       "--population", "9000")  # fmt: skip
    assert code == 0
    assert "overall under adversary-routes: highest" in said


def test_the_options_of_a_plan_are_assessed_whole_and_keep_what_it_keeps():
    people = rb.read_table(
        rb.datasets.synthetic_patients(200, seed=4), quasi_identifiers=["age", "sex", "race"]
    )
    call = {"known": {"age": 0.8, "sex": 0.9, "race": 0.3}, "population": 20_000,
            "population_model": "pitman"}  # fmt: skip
    plan = rb.recommend(people, "adversary-routes", hierarchies={"age": "bands:5,10,20"},
                        target={"overall": "q95 <= 0.2"}, suppress_at_most=0.1, **call)  # fmt: skip
    options = plan.options()
    assert 2 <= len(options) <= 3
    assert not any(str(plan.best.suppressed) + " p" in name for name in options)
    first, *safe = options.values()
    np.testing.assert_array_equal(
        first.risk(), rb.assess("adversary-routes", people, **call).risk()
    )
    for option in safe:
        fresh = rb.assess("adversary-routes", option.inputs.people, **call).risk()
        assert (fresh > 0.2).mean() <= 0.05
        np.testing.assert_allclose(fresh, option.risk(), rtol=1e-12)
        assert "journalist_match" in option.risks  # nothing that the search left out
    with pytest.raises(rb.errors.UsageError, match="name one in"):
        rb.recommend(people, target="k=2", suppress_at_most=0.5).options()


def test_the_command_that_a_report_prints_is_whole_and_runs(shell):
    frame = rb.datasets.synthetic_patients(200, seed=4)
    people = rb.read_table(frame, quasi_identifiers=["age", "sex", "state"])
    result = rb.assess("adversary-routes", people, scenario="voter-registration",
                       population=90_000, population_model="pitman")  # fmt: skip
    command = inside(rb.report.report).command_to_search
    said = command(result, result.summary({"overall": 0.6}).rule)
    assert said == (
        "reidbn recommend TABLE --qi age,sex,state --target overall:0.6 --attack adversary-routes "
        "--scenario voter-registration --population 90000 --population-model pitman"
    )
    words = [w.replace("TABLE", "synthetic:200:4") for w in said.split()[1:]]
    code, printed = shell(*words, "--suppress-at-most", "50%")
    assert code == int("it is not sure to be kept" in printed)
    said = command(result, result.summary("ema", "controlled").rule)
    assert said.endswith("--target ema --release controlled")
    own = rb.assess("adversary-routes", people, known={"age": 1.0}, population=90_000,
                    population_model="pitman", unknown=["sex", "state"])  # fmt: skip
    assert "--scenario ..." in command(own, own.summary({"overall": 0.2}).rule)


SETTINGS = {"set": {"p_fm": 0.5}, "given": {"claims": "yes"}, "do": {"knows_membership": "yes"},
            "without": ["sex"], "unknown": ["state"]}  # fmt: skip
ABOUT = {"attack", "scenario", "population", "population_model"}


@pytest.mark.parametrize("asked", [None, *SETTINGS])
def test_the_search_that_a_report_prints_asks_for_the_rule_and_what_was_set(asked):
    """Read again as the shell or Python reads it, against the rule of the report, by its words."""
    people = rb.read_table(
        rb.datasets.synthetic_patients(200, seed=4), quasi_identifiers=["age", "sex", "state"]
    )
    settings = {asked: SETTINGS[asked]} if asked else {}
    who = {"scenario": "voter-registration"}
    if asked == "unknown":
        who = {"known": {"age": 1.0, "sex": 0.5}}
    result = rb.assess("adversary-routes", people, population=90_000, population_model="pitman",
                       **who, **settings)  # fmt: skip
    command = inside(rb.report.report).command_to_search
    targets_of = inside(rb.recommend).targets_of
    limits = [{"overall": 1 / 15}, {"overall": 2 / 3}, {"marketer": 1e-5}, 0.2, 1 / 15, "cell-3",
              "ema", "ontario-low"]  # fmt: skip
    for threshold, release in product(limits, ("public", "controlled")):
        rule = result.summary(threshold, release).rule
        said = command(result, rule)
        if said.startswith("rb."):
            words = ast.parse(said, mode="eval").body.keywords
            call = {word.arg: ast.literal_eval(word.value) for word in words}
        else:
            call = {"target": [], "release": None}
            words = shlex.split(said)[3:]
            for option, value in zip(words[::2], words[1::2], strict=True):
                name = option[2:].replace("-", "_")
                call[name] = [*call[name], value] if name == "target" else value
        found = [(t.measure, t.what, t.limit, t.k) for t in targets_of(
            call["target"], call.get("release"))]  # fmt: skip
        limit = rule.limit
        if release == "controlled":  # the mean, and nobody unique
            wanted = [(limit.measure, "mean", limit.mean_limit, 0), ("1/class", "highest", 0.5, 2)]
        elif limit.k:
            wanted = [("1/class", "highest", 1 / limit.k, limit.k)]
        else:
            wanted = [(limit.measure, "highest", limit.value, 0)]
        assert found == wanted, said
        told = call.keys() - {"target", "qi", "release"}
        assert told == (set() if limit.k else ABOUT | settings.keys())
        if not limit.k and asked in ("set", "given", "do", "without"):
            assert call[asked] is ...  # what stands in for it can be taken for no setting


def test_what_no_search_keeps_is_said_in_place_of_a_command(tmp_path):
    people = rb.read_table(rb.datasets.synthetic_patients(200, seed=4), quasi_identifiers=["age"])
    result = rb.assess("adversary-routes", people, scenario="worst-case", population=90_000,
                       subject={"p_unique": np.full((200, 2), 0.5)})  # fmt: skip
    page = result.report(tmp_path / "r.md", threshold={"overall": 0.01}, custodian=True).read_text()
    assert "No search for the least change keeps p_unique of subject=" in page
    assert "recommend" not in page.partition("**What next?**")[2].partition("\n\n")[0]


@pytest.mark.parametrize("name", ["voter-registration", pytest.param("worst-case", marks=WIDE),
                                  pytest.param("motivated-intruder", marks=WIDE)])  # fmt: skip
def test_an_accepted_release_that_is_acted_out_finds_nobody_more_often_than_the_limit(name):
    """Forward draws of the attack, person by person; one false alarm in a million for all of them.

    The table as it was is acted out, too, and there the same count does find people above.
    """
    columns = ["age", "sex", "state", "race"]
    if name == "motivated-intruder":
        columns = ["age", "sex", "race"]
    people = rb.read_table(rb.datasets.synthetic_patients(150, seed=6), quasi_identifiers=columns)
    limit, draws = 0.12 if name == "motivated-intruder" else 0.3, 4_000
    call = {"population": 40_000, "population_model": "pitman", "scenario": name}
    plan = rb.recommend(people, "adversary-routes", target={"overall": limit}, **call,
                        hierarchies={"age": "bands:5,10,20"}, suppress_at_most=0.05)  # fmt: skip
    above = []
    for table in (plan.apply(), people):
        hits = draws * rb.assess("adversary-routes", table, method="simulation", draws=draws,
                                 seed=3, **call).risk()  # fmt: skip
        above.append(int((binom.sf(np.rint(hits) - 1, draws, limit) < 1e-6 / len(hits)).sum()))
    assert above[0] == 0
    assert above[1] > 0


def test_a_plan_says_where_the_highest_risk_is_higher_than_it_was(tmp_path):
    """Classes only grow; who is unique in the population is estimated of the coarser table."""
    people = rb.read_table(
        rb.datasets.synthetic_patients(800, seed=2), quasi_identifiers=["age", "sex", "race"]
    )
    call = {"known": "worst-case", "population": 100_000}
    before = rb.assess("adversary-routes", people, **call)
    coarse = people.generalise({"age": 1}, hierarchies={"age": "bands:10"})
    after = rb.assess("adversary-routes", coarse, **call)
    assert after.risk("journalist").max() > before.risk("journalist").max()
    limit = float(after.risk("marketer").mean() + before.risk("marketer").mean()) / 2
    plan = rb.recommend(
        people, "adversary-routes", target={"marketer": f"mean <= {limit}"}, **call,
        hierarchies={"age": "bands:10"}, keep=["sex", "race"],
    )  # fmt: skip
    assert plan.best.levels == {"age": 1, "sex": 0, "race": 0}
    told = [note for note in plan.notes if note.startswith("the highest journalist under")]
    assert len(told) == 1
    assert f"{after.risk('journalist').max():.3g} then" in told[0]
    assert not [note for note in plan.notes if "marketer" in note]
    page = plan.report(tmp_path / "own.md", custodian=True).read_text()
    assert told[0][1:] in page
    assert "is higher than it was" not in plan.report(tmp_path / "out.md").read_text()
