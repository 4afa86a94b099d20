"""Wrong facts that are somebody else's values: every order, number and value, by the definition."""

import json
from collections import Counter
from itertools import combinations, product
from math import comb, exp, factorial, prod

import numpy as np
import pytest
from sparse_oracle import agrees, random_table

import reidbn as rb
from reidbn.attack import load_scenario
from reidbn.attacks.linkage import Plausible, at_most, if_plausible, may_be_higher, plausible
from reidbn.theory import disagrees

SET = {"mean_facts": 2, "p_wrong": 0.4, "p_in_release": 0.6, "p_takes_best": 0.7}


def by_every_choice(cells, kinds, mode, person, wrong_ones):
    """The chance to be identified, and that a stranger is named; by listing what may happen."""
    own, kind = (
        [n for n in cells if cells[n][person] is not None],
        dict(zip(cells, kinds, strict=True)),
    )
    right, wrong = {}, {}
    for n in own:
        others = Counter(v for v in cells[n] if v is not None and v != cells[n][person])
        right[n] = np.array([agrees(mode, kind[n], cells[n][person], x) for x in cells[n]], int)
        wrong[n] = [
            (np.array([agrees(mode, kind[n], v, x) for x in cells[n]], int), c / others.total())
            for v, c in others.items()
        ] or [(np.zeros(len(cells[n]), int), 1.0)]
    found = np.zeros(2)
    law = [exp(-2) * 2**k / factorial(k) for k in range(len(own))]
    for k, p_k in enumerate([*law, 1 - sum(law)]):
        for known, w in product(combinations(own, k), range(k + 1)):
            p_w = comb(k, w) * 0.4**w * 0.6 ** (k - w) if wrong_ones else float(w == 0)
            for odd in combinations(known, w):
                score = sum((right[n] for n in known if n not in odd), np.zeros(len(right[own[0]])))
                for chosen in product(*(wrong[n] for n in odd)):
                    p = p_k * p_w * prod(c for _, c in chosen) / comb(len(own), k) / comb(k, w)
                    found += p * outcome(sum((f for f, _ in chosen), score), person, k)
    return found


def outcome(scores, person, k):
    """The chances that the person, and a stranger, is named: present or not, careful or not."""
    others = np.delete(scores, person)
    rival, found = others.max(), np.zeros(2)
    for here, best in product((True, False), repeat=2):
        own = scores[person] if here else -1
        top = max(own, rival)
        if top >= 1 and (best or top == k):
            weight = (0.6 if here else 0.4) * (0.7 if best else 0.3)
            found += weight * np.array([own > rival, rival > own and (others == rival).sum() == 1])
    return found


@pytest.mark.parametrize("mode", ["equal", "tolerance"])
def test_as_often_as_every_choice_says(mode):
    """A false alarm of a hit is below 1e-7; the same by cells, one after another."""
    cells, sparse, kinds = random_table(11, people=8, features=4, filled=0.8)
    scenario = load_scenario("any-facts")
    if mode == "tolerance":
        features = sparse.features.reset_index()[["feature", "kind"]].assign(tags="app")
        sparse = rb.read_sparse(
            {n: cells[n] for n in cells}, features=features
        )  # health-app: within 20 %
        scenario = load_scenario("health-app")
    r = rb.assess("linkage", sparse, scenario=scenario, set=SET)
    expected = np.array([by_every_choice(cells, kinds, mode, i, True) for i in range(8)])
    found = plausible(r, draws=24_000, seed=4)
    assert found.draws == 3_000
    assert found.who.tolist() == list(range(8))
    for column, event in enumerate(("identified", "wrong_person")):
        for person in range(8):
            hits = round(found.shares[event][person] * 3_000)
            assert not disagrees(hits, 3_000, expected[person, column], level=1e-7), (event, person)
    acted = rb.linkage_truth(r, draws=10_000, seed=5, wrong="plausible")
    for column, event in enumerate(("identified", "wrong_person")):
        mean = expected[acted.who, column].mean()
        assert not disagrees(int(acted.happened[event].sum()), 10_000, mean, level=1e-7)
    assert expected[:, 0].mean() < r.risk().mean()  # the model's is a bound
    right = np.array([by_every_choice(cells, kinds, mode, i, False) for i in range(8)])
    sure = rb.what_if(r, set={"p_wrong": 0})
    assert sure.risk() == pytest.approx(right[:, 0], abs=1e-12)
    assert if_plausible(sure) is None


def test_it_stands_beside_the_number_everywhere(tmp_path):
    _, sparse, _ = random_table(12, people=30, features=8)
    r = rb.assess("linkage", sparse)
    r.keep_crosscheck(draws=1_000, subjects=2)
    found = if_plausible(r)
    measures = found.measures()
    said = str(r)
    assert "a wrong fact is taken to fit nobody" in said
    assert measures["wrong_person"].in_words() in said
    for event, m in measures.items():
        assert m.value == found.shares[event].mean()
        assert m.interval[0] < m.value < m.interval[1]
    told = json.loads(r.to_json(tmp_path / "own.json", custodian=True).read_text())
    beside = told["wrong_facts_somebody_elses"]
    assert beside["wrong_person"]["value"] == measures["wrong_person"].value
    assert beside["wrong_person"]["interval"] == list(measures["wrong_person"].interval)
    assert any("somebody else" in remark for remark in r.to_dict()["remarks"])
    outward = json.loads(r.to_json(tmp_path / "out.json").read_text())
    assert outward["wrong_facts_somebody_elses"]["identified"]["value"] is None
    assert not any("attempts" in remark for remark in outward["remarks"])
    assert any("fit nobody" in remark for remark in outward["remarks"])
    page = r.to_markdown(tmp_path / "own.md", custodian=True).read_text()
    assert measures["identified"].between() in page
    assert "where these are somebody else" in r.to_html(tmp_path / "out.html").read_text()


def test_where_no_fact_is_wrong_or_nothing_can_be_drawn():
    _, sparse, _ = random_table(13, people=20, features=6)
    for asked, words in (({"set": {"p_wrong": 0}}, False), ({"do": {"in_release": "yes"}}, True),
                         ({"scenario": "access-controlled"}, True)):  # fmt: skip
        r = rb.assess("linkage", sparse, **asked)
        assert if_plausible(r) is None
        assert any("fit nobody" in remark for remark in r.remarks()) == words
    few = rb.assess("linkage", sparse, individuals=[3, 7])
    drawn = plausible(few, draws=40)
    assert (drawn.who.tolist(), drawn.draws) == ([0, 1], 20)
    some = plausible(rb.assess("linkage", sparse), draws=5)
    assert (len(some.who), some.draws) == (5, 1)
    with pytest.raises(rb.UsageError, match="do="):
        plausible(rb.assess("linkage", sparse, do={"in_release": "yes"}))


def near_values(people=60):
    """Numbers that all lie within a fifth of each other."""
    rng = np.random.default_rng(1)
    cells = {
        f"lab{j}": [float(rng.integers(136, 145)) if rng.random() < 0.3 else None
                    for _ in range(people)]
        for j in range(12)
    }  # fmt: skip
    features = {"feature": list(cells), "kind": ["number"] * 12, "tags": ["colleague"] * 12}
    return rb.read_sparse(cells, features=features)


def verdict(result, path, limit, measure="overall"):
    text = result.report(path / "r.md", threshold={measure: limit}).read_text()
    said = " ".join(text.partition("A risk (")[2].partition("**On what")[0].split())
    return said.partition("the limit is ")[2]


def test_where_near_values_fit_the_person_may_be_identified_more_often(tmp_path):
    """Somebody else's value fits their own record: no bound is told, and no limit called kept."""
    sparse = near_values()
    vague = rb.assess("linkage", sparse, scenario="vague")
    noisy = rb.assess("linkage", sparse.noisy(0.2), set={"p_wrong": 0.3})
    equal = rb.assess("linkage", sparse, set={"p_wrong": 0.3})
    for r, near in ((vague, True), (noisy, True), (equal, False)):
        r.keep_crosscheck(draws=1_000, subjects=2)
        acted = rb.linkage_truth(r, draws=4_000, seed=2, wrong="plausible")
        row = acted.table().loc["identified"]
        assert row["predicted is"] == ("not of such facts" if near else "an upper bound")
        assert (row["low"] > row["predicted"]) == near
        said = "more often than the model says" if near else "at most as often as the model"
        assert said in str(r)
        assert {m: may_be_higher(r, m) for m in ("overall", "more_opened", "wrong_person")} == {
            "overall": near, "more_opened": near, "wrong_person": True,
        }  # fmt: skip
        for event, measure in (("identified", "overall"), ("wrong_person", "wrong_person")):
            most = at_most(r, measure)
            assert (most >= r.risk(measure) - 1e-12).all()
            assert acted.happened[event].mean() < most.mean()
        shares = np.bincount(acted.who, acted.happened["identified"]) / np.bincount(acted.who)
        between = (r.risk().max() + shares.max()) / 2
        told = verdict(r, tmp_path, between)
        assert told.startswith("kept.") == (not near)
        assert ("oftener where wrong facts" in told) == near
        assert verdict(r, tmp_path, 0.999).startswith("kept.")
    mostly = rb.what_if(vague, set={"p_wrong": 0.5})
    mostly.keep_crosscheck(draws=1_000, subjects=2)
    mean = if_plausible(mostly).measures()["identified"].interval[0]
    assert mostly.risk().max() < mean
    told = verdict(mostly, tmp_path, (mostly.risk().max() + mean) / 2)
    assert told.startswith("not kept. ")
    assert "Where wrong facts are somebody else's values, somebody is above it" in told
    few = rb.what_if(noisy, set={"p_wrong": 1e-4})  # too few to matter, whatever they fit
    assert verdict(few, tmp_path, few.risk().max() + 0.01).startswith("kept.")
    sure = rb.what_if(noisy, set={"p_wrong": 0})
    assert not may_be_higher(sure, "overall")
    assert verdict(sure, tmp_path, sure.risk().max() + 0.01).startswith("kept.")


def test_the_most_that_wrong_facts_may_do_is_what_is_sure_and_all_of_the_rest():
    _, sparse, _ = random_table(14, people=8, features=5)
    r = rb.assess("linkage", sparse, set=SET)
    right = rb.what_if(r, given={"wrong": "0"}).risk()
    held = r.subject_table.columns["facts_held"]
    law = [exp(-2) * 2**k / factorial(k) for k in range(26)]
    none = np.array([sum(p * 0.6 ** min(k, n) for k, p in enumerate(law)) for n in held])
    assert at_most(r, "overall") == pytest.approx(right * none + 1 - none, abs=1e-12)
    asked = rb.what_if(r, given={"identified": "no"})  # the evidence rests on wrong facts itself
    assert may_be_higher(asked, "overall")
    assert at_most(asked, "overall").tolist() == [1.0] * 8
    assert not may_be_higher(rb.what_if(r, given={"in_release": "yes"}), "overall")


def test_every_measure_that_rests_on_strangers_says_so(tmp_path):
    """A stranger's family, too, is named oftener where a wrong fact is somebody else's value."""
    fam = rb.datasets.synthetic_families(6, seed=0)
    kin = rb.read_kin(rb.read_sparse(fam.table, features=fam.features), plants=50)
    r = rb.assess("linkage-family", kin, known=["Own history"], individuals=[0, 9, 20],
                  set={"p_wrong": 0.3, "p_in_release": 1})  # fmt: skip
    r.keep_crosscheck(draws=1_000, subjects=2)
    found = {m: may_be_higher(r, m) for m in r.questions}
    higher = {"wrong_person", "nobody_named", "misnamed", "strangers_family"}
    assert {m for m, may in found.items() if may} == higher
    for measure in ("wrong_person", "strangers_family", "misnamed"):
        told = verdict(r, tmp_path, float(r.risk(measure).max()) + 0.1, measure)
        assert told.startswith("not ")
        assert "here wrong facts are somebody else's values" in told


def test_draws_decide_a_limit_only_where_they_do_for_everybody_at_once():
    drawn = Plausible(np.arange(4), 1_000, {"identified": np.array([0.1, 0.2, 0.3, 0.3])})
    assert drawn.keeps("identified", 0.26, everybody=True) is False  # one is above for sure
    assert drawn.keeps("identified", 0.31, everybody=True) is None
    assert drawn.keeps("identified", 0.36, everybody=True) is True
    assert drawn.keeps("identified", 0.36, everybody=False) is None
    many = Plausible(np.arange(400), 5, {"identified": np.full(400, 0.6)})
    assert many.keeps("identified", 0.5, everybody=True) is False  # nobody by themselves: the mean
    assert many.keeps("identified", 0.7, everybody=True) is None
