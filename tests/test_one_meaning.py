"""What is asked of one function or command means the same in the next: gates, files, chances."""

import json
import warnings
from itertools import product
from math import prod

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

WARDS = "id,ward,sex,dx\n" + "".join(
    f"p{i},{ward},{sex},{dx}\n"
    for i, (ward, sex, dx) in enumerate(
        [("a", "m", "flu"), ("a", "m", "flu"), ("a", "f", "flu"), ("a", "f", "gout"),
         ("b", "m", "gout"), ("b", "f", "flu"), ("b", "f", "gout"), ("", "f", "flu")]
    )
)  # fmt: skip


@pytest.fixture
def wards(tmp_path):
    path = tmp_path / "wards.csv"
    path.write_text(WARDS, encoding="utf-8")
    return path


# -- gates -----------------------------------------------------------------------------------------


def test_fail_above_of_a_disclosure_judges_the_person_least_protected(wards, shell):
    words = ("disclosure", wards, "--qi", "ward,sex", "--sensitive", "dx", "--json")
    known = {"ward": 0.1, "sex": 0.2}
    people = rb.read_table(wards, quasi_identifiers=["ward", "sex"], sensitive=["dx"])
    highest = rb.disclosure(people, "dx", known=known).breach_probability.max()
    assert 0.05 < highest < 0.2
    for limit, exceeded in ((0.05, True), (0.2, False)):
        code, said = shell(*words, "--known", "ward=0.1,sex=0.2", "--fail-above", limit)
        gate = json.loads(said)["fail_above"]
        assert (code, gate["exceeded"]) == (int(exceeded), exceeded)
        assert f"is given away is {highest:.4g}" in gate["found"]
    code, said = shell(*words, "--fail-above", "0.99")  # three of eight, for sure
    assert code == 1
    assert "what may be known is known" in json.loads(said)["fail_above"]["found"]


def test_a_gate_on_a_share_of_people_has_a_name_of_its_own(wards, shell):
    words = ("disclosure", wards, "--qi", "ward,sex", "--sensitive", "dx")
    people = rb.read_table(wards, quasi_identifiers=["ward", "sex"], sensitive=["dx"])
    share = 1 - rb.disclosure(people, "dx").share_upward()
    assert shell(*words, "--fail-above-share", share + 0.01)[0] == 0
    code, said = shell(*words, "--fail-above-share", share - 0.01)
    assert code == 1
    assert f"--fail-above-share {share - 0.01:g}: {share:.1%} of the people" in said
    code, said = shell(*words, "--individuals", 4, "--fail-above-share", "0.5")
    assert code == 2
    assert "without --fail-above-share" in said


# -- the files with a row per person ---------------------------------------------------------------


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize(
    "words",
    [
        ("classes",),
        ("subsets", "--per-person"),
        ("subsets", "--suda"),
        ("leak", "--leaked", 2),
        ("disclosure", "--sensitive", "dx"),
        ("assess", "--population", 9000, "--check-draws", 2000, "--quiet"),
    ],
    ids=lambda words: "-".join(map(str, words[:2])),
)
def test_every_file_of_people_is_keyed_by_subject(words, ids, wards, tmp_path, shell):
    out = tmp_path / "out.parquet"
    who = ("--subject-id", "id") if ids else ()
    code, said = shell(words[0], wards, "--qi", "ward,sex", "--missing", "drop", *who, *words[1:],
                       "--out", out)  # fmt: skip
    assert code == 0, said
    rows = range(7)  # the last has no ward
    found = pd.read_parquet(out)["subject"].tolist()
    assert found == ([f"p{i}" for i in rows] if ids else list(rows))


def test_the_help_of_out_says_what_the_rows_are(shell):
    said = " ".join(shell("subsets", "--help")[1].split())
    assert "Write a row for each subset; with" in said
    assert "by subject: the id, or the row" in " ".join(shell("leak", "--help")[1].split())


# -- chances that differ between people ------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_the_chance_of_a_subset_is_the_mean_of_each_persons(weighted):
    rng = np.random.default_rng(4)
    n, names = 60, ("age", "sex", "town")
    codes = rng.integers(0, 3, (n, 3))
    people = rb.People.from_codes(codes, names, weights=np.ones(n) if weighted else None)
    each = rng.random((n, 3)).round(1)
    table = rb.subsets(people, known=dict(zip(names, each.T, strict=True)))
    for subset, chance in zip(table["subset"], table["chance"], strict=True):
        own = [
            prod(p if name in subset else 1 - p for name, p in zip(names, row, strict=True))
            for row in each
        ]
        assert chance == pytest.approx(np.mean(own), abs=1e-12)
    assert any("on average over these people" in note for note in table.attrs["notes"])
    same = rb.subsets(people, known=dict.fromkeys(names, np.full(n, 0.3)))
    shared = rb.subsets(people, known=dict.fromkeys(names, 0.3))
    assert np.allclose(same["chance"], shared["chance"], rtol=0, atol=1e-15)


# -- what is known of those who may be in an outside list ------------------------------------------


@pytest.mark.parametrize("each", [False, True], ids=["one chance", "chances of their own"])
def test_candidates_take_what_is_known_as_all_others_do(each):
    rng = np.random.default_rng(6)
    ours = {"age": rng.integers(20, 30, 30), "sex": rng.integers(0, 2, 30).astype(str),
            "town": rng.integers(0, 3, 30).astype(str)}  # fmt: skip
    theirs = {"years": rng.integers(20, 30, 80), "sex": rng.integers(0, 2, 80).astype(str),
              "town": rng.integers(0, 3, 80).astype(str)}  # fmt: skip
    release = rb.read_table(ours, quasi_identifiers=list(ours))
    names = rb.read_table(theirs, quasi_identifiers=list(theirs))
    age = np.where(np.arange(30) % 2, 0.3, 0.9) if each else 0.9
    known = {"age": age, "place": (["sex", "town"], 0.25)}
    pairs = {"age": "years", "sex": "sex", "town": "town"}
    found = rb.candidates(release, names, columns=pairs, match={"age": 1}, known=known)
    for i in range(30):
        near = np.abs(theirs["years"] - ours["age"][i]) <= 1
        place = (theirs["sex"] == ours["sex"][i]) & (theirs["town"] == ours["town"][i])
        p, risk = (np.broadcast_to(age, 30)[i], 0.25), 0.0
        for has_age, has_place in product((False, True), repeat=2):
            chance = (p[0] if has_age else 1 - p[0]) * (p[1] if has_place else 1 - p[1])
            fit = (near | (not has_age)) & (place | (not has_place))
            risk += chance / max(fit.sum(), 1)
        assert found.counts[i] == (near & place).sum()
        assert found.risk[i] == pytest.approx(risk * (near & place).any(), abs=1e-12)
    assert found.check(individuals=30).records == 30
    with pytest.raises(rb.UsageError, match="leave the chances"):
        found.joint(0)
    object.__setattr__(found, "risk", found.risk * 1.01)  # a planted slip is found
    with pytest.raises(rb.CrosscheckFailed, match="its risk is"):
        found.check(individuals=30)


def test_columns_that_are_known_for_sure_are_those_that_are_compared():
    codes = np.random.default_rng(2).integers(0, 3, (40, 2))
    release, names = (rb.People.from_codes(part, ["sex", "town"]) for part in (codes[:20], codes))
    alone = rb.candidates(release, names, columns=["sex"])
    for known in ("sex", ["sex"], {"sex": 1}):
        found = rb.candidates(release, names, known=known)
        assert np.array_equal(found.counts, alone.counts)
        assert found.joint(0) == pytest.approx(alone.joint(0))
    both = rb.candidates(release, names, known={"sex": 1, "town": 1})
    assert np.array_equal(both.risk, rb.candidates(release, names).risk)
    with pytest.raises(rb.UsageError, match='names "town", which is not compared'):
        rb.candidates(release, names, columns=["sex"], known={"town": 0.5})
    with pytest.raises(rb.UsageError, match="nothing can be known"):
        rb.candidates(release, names, known={"sex": 0})


@pytest.mark.parametrize("chance", [0, 0.0, np.zeros(20)], ids=["0", "0.0", "each"])
def test_who_can_know_nothing_is_no_attacker_whatever_is_asked(chance):
    codes = np.random.default_rng(2).integers(0, 3, (20, 3))
    people = rb.People.from_codes(codes, ["sex", "town", "dx"], sensitive=["dx"])
    known = {"sex": chance, "town": chance}
    for ask in (
        lambda: rb.subsets(people, known=known),
        lambda: rb.subsets(people, known=known, per_person=True),
        lambda: rb.leak.assess(people, leaked=5, known=known),
        lambda: rb.leak.risks(people, leaked=5, known=known),
        lambda: rb.disclosure(people, "dx", known=known),
        lambda: rb.assess("adversary-routes", people, population=90, known=known),
        lambda: rb.candidates(people, people, known=known),
        lambda: rb.knowledge(people, known),
    ):
        with pytest.raises(rb.UsageError, match="nothing can be known by this known="):
            ask()


# -- another question is told ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def people():
    frame = rb.datasets.synthetic_patients(120, seed=5)
    return rb.read_table(frame, quasi_identifiers=["age", "sex"], sensitive=["diagnosis"])


ROUTES = "adversary-routes"
LOW, HIGH = {"age": 0.1, "sex": 0.1}, {"age": 0.9, "sex": 0.9}
OTHERWISE = {
    "leak": (lambda t, **k: rb.leak.assess(t, **{"leaked": 30, **k}), [
        ({"known": LOW}, {"known": HIGH}),
        ({"leaked": {30: 0.5, 60: 0.5}}, {"leaked": {30: 0.9, 60: 0.1}}),
        ({"sensitive": "diagnosis", "sensitive_known": 0.2}, {"sensitive": "diagnosis"}),
    ]),
    "disclosure": (lambda t, **k: rb.disclosure(t, "diagnosis", **k), [
        ({"known": LOW}, {"known": HIGH}), ({"q": 0.2}, {}),
    ]),
    "candidates": (lambda t, **k: rb.candidates(t, t, **k), [
        ({"known": LOW}, {"known": HIGH}), ({"match": {"age": 1}}, {"match": {"age": 10}}),
    ]),
    "assess": (lambda t, **k: rb.assess(ROUTES, t, **{"population": 10**5, **k}), [
        ({"known": LOW}, {"known": HIGH}), ({}, {"population": 10**6}),
        ({"known": {"age": 0.1}, "unknown": ["sex"]}, {"known": LOW}),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("kind", OTHERWISE)
def test_two_results_of_other_questions_are_compared_with_a_word(kind, people):
    ask, pairs = OTHERWISE[kind]
    for one, other in pairs:
        found = ask(people, **one)
        with pytest.warns(rb.errors.ReidbnWarning, match="answer different questions"):
            found.compare(ask(people, **other))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found.compare(ask(people, **one))
        assert not [w for w in said if "different questions" in str(w.message)]
    if kind != "candidates":
        assert "0.1" in str(ask(people, known=LOW).question)


# -- a column, a change: one meaning ---------------------------------------------------------------


@pytest.mark.parametrize("model", ["pitman", "pitman-bayes", "log-linear", "structured", "zayatz"])
def test_whoever_is_not_alone_is_not_unique_in_the_population_whatever_reads_it(model, tmp_path):
    path = tmp_path / "ng.yaml"
    path.write_text(NO_GATE, encoding="utf-8")
    table = rb.datasets.synthetic_patients(120, seed=3)
    table["age"] = table.age // 20
    names = ["age", "sex", "race"]
    people = rb.read_table(table, quasi_identifiers=names)
    alike = people.class_sizes()
    assert (alike > 1).any()
    assert (alike == 1).any()
    how = {"population": 5_000, "population_model": model}
    gated = rb.assess("adversary-routes", people, **how).people["journalist"].to_numpy()
    assert (gated[alike == 1] > 0).all()
    found = rb.assess(path, people, **how)
    assert found.people["overall"].to_numpy() == pytest.approx(gated, abs=1e-12)
    assert (found.people["overall"].to_numpy()[alike > 1] == 0).all()
    cells = rb.assess(path, rb.contingency(table, names), **how)
    assert cells.measures["overall"].value == pytest.approx(gated.mean(), abs=1e-12)
    some = rb.assess(path, people, individuals=np.arange(30), **how)
    assert some.people["overall"].to_numpy() == pytest.approx(gated[:30], abs=1e-12)
    suppressed = people.suppress(2)
    fewer = rb.assess(path, suppressed, **how)
    assert (fewer.people["overall"].to_numpy() == 0).all()


NO_GATE = """
schema_version: 1
name: ng
title: No gate
story: x.
sources: [assumption]
subject:
  p_unique: {unit: probability, range: [0, 1], story: unique}
nodes:
  alone: {story: u, cpd: {kind: probability, p: "@p_unique"}}
questions:
  risk: {target: alone=yes}
example: {p_unique: 0.1}
"""


def test_one_change_is_what_comes_after():
    change, want = {"set": {"p_c": 0.1}}, pytest.approx(-0.0737, abs=1e-4)
    table = rb.datasets.synthetic_patients(60, seed=3)
    people = rb.read_table(table, quasi_identifiers=["age", "sex"])
    result = rb.assess("adversary-routes", people, population=5_000)
    whole = rb.compare(result, after=change).difference
    assert whole < 0
    for found in (
        rb.compare("adversary-routes", "risk", change),
        rb.compare("adversary-routes", "risk", after=change),
        rb.compare("adversary-routes", "risk", {}, change),
        rb.compare("adversary-routes", "risk", None, change),
        rb.compare("adversary-routes", "risk", {}, after=change),
        rb.compare("adversary-routes", "risk", change, before={}),
    ):
        assert found.difference == want
        assert "p_c: 0.5 -> 0.1" in str(found)
    for found in (
        rb.compare(result, change),
        rb.compare(result, {}, change),
        rb.compare(result, None, change),
        rb.compare(result, None, None, change),
    ):
        assert found.difference == whole
    for found in (
        rb.compare("adversary-routes", "risk", before=change),
        rb.compare("adversary-routes", "risk", change, {}),
    ):
        assert found.difference == -rb.compare("adversary-routes", "risk", change).difference
    with pytest.raises(rb.UsageError, match="3 changes: a comparison has two"):
        rb.compare("adversary-routes", "risk", {}, {}, change)
