"""A few facts lead to one record and that to the family: written down set by set, and acted out."""

from itertools import product
from math import comb, exp, factorial, prod

import numpy as np
import pytest
from test_cascade import NAMES, by_sets

import reidbn as rb
from reidbn.attacks.family import KinPeople, Looking
from reidbn.theory import disagrees

SEVERAL = ["siblings", "children", "sons_children", "daughters_children"]
KEEP = ["sibling_1", "father", "paternal_grandfather"]


def by_facts(alone, stranger, fits, held, settings):
    """P(identified) and P(a stranger is named): every number of facts, and of wrong ones."""
    mean, p_wrong, p_in, p_best = settings
    law = [exp(-mean) * mean**k / factorial(k) for k in range(25)]
    law.append(1 - sum(law))
    right_one = wrong_one = 0.0
    for k, known in enumerate(law):
        usable = min(k, held)
        for w in range(usable + 1):
            chance = known * comb(usable, w) * p_wrong**w * (1 - p_wrong) ** (usable - w)
            right = usable - w
            content = 1 if w == 0 else p_best
            right_one += chance * p_in * alone[right] * content
            named = p_best * stranger[right] + (1 - p_best) * (w == 0) * fits[right]
            wrong_one += chance * (1 - p_in) * named
    return right_one, wrong_one


def every_number_of_facts_and_every_set_of_people(seed, keep):
    """All answers of the model, of random numbers and these relatives, by the definition."""
    attack = rb.load("linkage-family")
    rng = np.random.default_rng(seed)
    numbers = dict(attack.example)
    for name in numbers:
        shape = np.shape(numbers[name])
        numbers[name] = rng.random(shape) if shape else float(rng.random())
    numbers["stranger_fits"] = numbers["stranger"] * numbers["stranger_fits"]
    held = int(rng.integers(0, 26))
    numbers["facts_held"] = held
    mean, p_wrong = float(rng.uniform(1, 8)), float(rng.uniform(0, 0.5))
    p_in, p_best, p_here, p_opens = (float(p) for p in rng.random(4))
    values = {"mean_facts": mean, "p_wrong": p_wrong, "p_in_release": p_in, "p_takes_best": p_best,
              "p_family_here": p_here, "p_opens_more": p_opens}  # fmt: skip
    named, wrong = by_facts(numbers["alone"], numbers["stranger"], numbers["stranger_fits"], held,
                            (mean, p_wrong, p_in, p_best))  # fmt: skip
    found = by_sets(keep, numbers, p_here, p_in, 3)
    gone = [f"in_{name}" for name in NAMES if name not in keep]
    asked = {"subject": numbers, "set": values, "do": dict.fromkeys(gone, "no")}

    def ask(what, **more):
        return float(rb.ask(attack, what, **asked, **more))

    assert ask("identified=yes") == pytest.approx(named, abs=1e-12)
    assert ask("wrong_person=yes") == pytest.approx(wrong, abs=1e-12)
    for i, name in enumerate(keep):
        expected = named * sum(p for key, p in found.items() if key >> i & 1)
        assert ask(f"reached_{name}=yes") == pytest.approx(expected, abs=1e-12)
    mean = named * sum(p * key.bit_count() for key, p in found.items())
    assert float(rb.expect(attack, "reached", **asked)) == pytest.approx(mean, abs=1e-12)
    sets = float(rb.expect(attack, "data_sets", **asked))
    assert sets == pytest.approx(p_opens * (named + mean), abs=1e-12)
    led = numbers["leads_on"] * wrong
    assert ask("stranger_led_on=yes") == pytest.approx(led, abs=1e-12)
    # Who is named beside the person by mistake: every relative in the table or not, found or not;
    # as one of several relatives in any case.
    some = 0.0
    for here, inside in product((True, False), product((True, False), repeat=len(keep))):
        weight = p_here if here else 1 - p_here
        for there in inside:
            weight *= (p_in if there else 1 - p_in) if here else (0 if there else 1)
        absent = [name for name in NAMES if name not in keep] + [
            name for name, there in zip(keep, inside, strict=True) if not there
        ]
        absent = [name for name in absent if "sibling" not in name] + SEVERAL
        none = prod(1 - numbers[f"stranger_{name}"] for name in absent)
        for name, there in zip(keep, inside, strict=True):
            if there and "sibling" not in name:
                none *= 1 - (1 - numbers[f"match_{name}"]) * numbers[f"confused_{name}"]
        some += weight * (1 - none)
    assert ask("somebody_misnamed=yes") == pytest.approx(wrong + named * some, abs=1e-12)


def test_the_joint_story_is_every_number_of_facts_and_every_set_of_people():
    every_number_of_facts_and_every_set_of_people(8, KEEP)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_so_it_is_of_any_relatives_and_numbers(seed):
    rng = np.random.default_rng([seed, 1])
    keep = [NAMES[i] for i in sorted(rng.choice(len(NAMES), rng.integers(1, 4), replace=False))]
    every_number_of_facts_and_every_set_of_people(seed, keep)


@pytest.fixture(scope="module")
def made():
    families = rb.datasets.synthetic_families(30, seed=9, told=0.5)
    kin = rb.read_kin(rb.read_sparse(families.table, features=families.features), jitter=1.0)
    first = families.truth.loc[families.truth["person"] % 9 == 0, "row"].to_numpy()[:20]
    r = rb.assess("linkage-family", KinPeople.of_kin(kin, Looking(plants=30)), individuals=first,
                  known=["Own history"], set={"mean_facts": 8})  # fmt: skip
    return families, kin, first, r


@pytest.mark.wide
def test_what_is_predicted_of_the_person_happens_and_relatives_follow(made):
    """False alarm below 4e-6 for the person; who is reached is looked up in the truth here."""
    families, kin, first, r = made
    found = rb.linkage_truth(r, draws=3_000, seed=2, truth=families.truth)
    assert {*found.happened} == {*r.risks}
    for event in ("identified", "wrong_person", "nobody_named"):
        hits, p = int(found.happened[event].sum()), found.predicted(event).mean()
        assert not disagrees(hits, 3_000, p, level=1e-6)
    named = found.happened["identified"]
    place = families.truth.set_index("person")
    claims = rb.neighbourhood(kin, start=first, depth=3).against(families.truth)
    right = {(s, w) for s, w, ok in claims[["start", "who", "right"]].to_numpy() if ok}
    person = families.truth[families.truth["row"] >= 0].set_index("row")["person"]
    for role, steps in (("father", ["father"]), ("maternal_grandmother", ["mother", "mother"])):
        for i in range(0, 3_000, 7):
            of = int(person[int(first[found.who[i]])])
            for step in steps:
                of = int(place.loc[of, step])
            there = (int(first[found.who[i]]), int(place.loc[of, "row"])) in right
            assert found.happened[role][i] == (named[i] and there)
    assert (found.happened["overall"] <= named).all()
    assert (found.happened["strangers_family"] <= found.happened["wrong_person"]).all()
    assert (found.happened["wrong_person"] <= found.happened["misnamed"]).all()
    assert "father" in str(found)


@pytest.mark.wide
def test_each_person_has_the_chances_of_both_parts(made):
    _families, kin, first, r = made
    people = r.inputs.people
    asked = {"individuals": first, "known": ["Own history"], "set": {"mean_facts": 8}}
    one = rb.assess("linkage", people, **asked)
    rest = rb.assess("family-cascade", people, individuals=first, set={"p_in_release": 0.7})
    assert r.risk("identified") == pytest.approx(one.risk(), abs=1e-12)
    assert r.risk("wrong_person") == pytest.approx(one.risk("wrong_person"), abs=1e-12)
    assert r.risk() == pytest.approx(one.risk() * rest.risk(), abs=1e-12)
    assert r.risk("father") == pytest.approx(one.risk() * rest.risk("father"), abs=1e-12)
    share = [len(c) > 0 for _, c in _claims_of(kin)]
    leads = np.asarray(r.subject_table.columns["leads_on"])
    assert leads == pytest.approx(np.mean(share), abs=1e-12)
    assert any("known by facts of their own" in note for note in r.remarks())


def _claims_of(kin):
    found = rb.neighbourhood(kin).claims
    return [(i, found[found["start"] == i]) for i in range(len(kin))]


@pytest.mark.wide
def test_what_cannot_be_acted_out_of_families_is_refused(made):
    families, kin, _first, r = made
    fatherless = families.truth.assign(father=-1)
    with pytest.raises(rb.DataError, match="eight relatives"):
        rb.linkage_truth(r, draws=10, truth=fatherless)
    alone = rb.assess("linkage", kin.sparse, individuals=[0])
    with pytest.raises(rb.UsageError, match="about relatives"):
        rb.linkage_truth(alone, draws=10, truth=families.truth)
    with pytest.raises(rb.DataError, match="read_kin"):
        rb.assess("linkage-family", kin.sparse, individuals=[0])
