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
from reidbn.attacks.linkage import if_plausible, plausible
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
