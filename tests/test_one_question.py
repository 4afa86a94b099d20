"""One question is one question however it was said; two questions say in what they differ."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

PEOPLE = 120


@pytest.fixture(scope="module")
def people():
    frame = rb.datasets.synthetic_patients(PEOPLE, seed=1)
    return rb.read_table(
        frame, quasi_identifiers=["age", "sex", "race"], sensitive=["diagnosis"], subject_id=None
    )


ASKED = {
    "leak": lambda t, known: rb.leak.assess(t, leaked=30, known=known),
    "disclosure": lambda t, known: rb.disclosure(t, "diagnosis", known=known),
    "candidates": lambda t, known: rb.candidates(t, t, known=known),
}


def apart(one, other):
    """What two results are said to differ in, and by how much their numbers do."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        table = one.compare(other)
    words = [str(w.message) for w in told if issubclass(w.category, rb.errors.ReidbnWarning)]
    words = [said for said in words if said.startswith("the two ")]  # and not of draws
    return words, float(table["difference"].abs().max())


def all_alike(chance):
    return np.full(PEOPLE, chance)


EACH = np.linspace(0, 1, PEOPLE)


SAME = [
    ({"age": 0.3, "sex": 0.5, "race": 1}, {"age": all_alike(0.3), "sex": 0.5, "race": 1}),
    ({"age": 0.3, "sex": 0.5, "race": 1}, {"race": 1, "sex": 0.5, "age": [0.3] * PEOPLE}),
    (["age", "sex", "race"], {"age": all_alike(1.0), "sex": 1, "race": 1}),
    ({"g": (["age", "sex"], 1), "race": 1}, ["age", "sex", "race"]),
    ({"g": (["age", "sex"], 1), "race": 0.4}, {"age": 1, "sex": 1, "race": 0.4}),
    ({"g": (["age", "sex"], 1), "h": (["sex", "race"], 1)}, ["age", "sex", "race"]),
    ({"g": (["age", "sex"], 0.5), "age": 1}, {"sex": 0.5, "age": 1}),
    ({"g": (["age", "sex"], 0.5), "race": 1}, {"race": 1, "other": (["sex", "age"], 0.5)}),
    ({"age": EACH, "sex": 1}, {"sex": [1] * PEOPLE, "age": pd.Series(EACH)}),
    (None, {"age": 1, "sex": 1, "race": 1}),
    ("worst-case", None),
    ("worst-case", {"age": 1, "sex": 1, "race": 1}),
]  # fmt: skip
OTHER = [
    ({"g": (["age", "sex"], 0.5), "race": 1}, {"age": 0.5, "sex": 0.5, "race": 1}),
    ({"age": 0.3, "sex": 1}, {"age": np.r_[0.31, all_alike(0.3)[1:]], "sex": 1}),
    ({"g": (["age", "sex"], 0.5), "age": 0.9}, {"sex": 0.5, "age": 0.9}),
]


@pytest.mark.parametrize("function", ASKED)
@pytest.mark.parametrize(("one", "two"), SAME)
def test_what_is_known_is_one_question_however_it_was_said(people, function, one, two):
    first, second = (ASKED[function](people, known) for known in (one, two))
    words, difference = apart(first, second)
    assert difference < 1e-12
    assert not words
    assert rb.what_if(first, known=two).changed == ()


@pytest.mark.parametrize("function", ASKED)
@pytest.mark.parametrize(("one", "two"), OTHER)
def test_what_is_known_otherwise_is_another_question(people, function, one, two):
    words, _ = apart(*(ASKED[function](people, known) for known in (one, two)))
    assert words


def test_a_chance_that_all_share_is_suppressed_with_them(people):
    """An array of one chance for everybody holds of those who are left, too."""
    chances = {"age": all_alike(0.3), "sex": 0.5}
    left = rb.what_if(rb.leak.assess(people, leaked=30, known=chances), suppress=2)
    alone = rb.leak.assess(people.suppress(2), leaked=30, known={"age": 0.3, "sex": 0.5})
    assert (left.risk == alone.risk).all()
    assert left.identity == alone.identity


# -- assessments -----------------------------------------------------------------------------------


ALONE = """\
schema_version: 1
name: alone
subject:
  class_size: {per: known, unit: records, range: [1, 1000000]}
groups:
  known: {members: [knows_a, knows_b], probability: 0.5, source: assumption}
nodes:
  right_guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
questions:
  risk: {target: right_guess=yes}
"""
COUNTED = ALONE.replace(
    "questions:",
    """\
  enough: {parents: [known], cpd: {kind: threshold, at_least: 2}, source: assumption}
  named: {parents: [enough, right_guess], cpd: {kind: and}}
questions:""",
).replace("right_guess=yes", "named=yes")


def assessed(people, known, **asked):
    return rb.assess("adversary-routes", people, known=known, population=20_000, **asked)


@pytest.mark.parametrize(("one", "two"), [*SAME[:5], *SAME[7:9]])
def test_an_assessment_is_one_question_however_it_was_said(people, one, two):
    unknown = [] if "race" in [*one, *two] else ["race"]
    first, second = (assessed(people, known, unknown=unknown) for known in (one, two))
    words, difference = apart(first, second)
    assert difference < 1e-12
    assert not words


def test_a_chance_of_zero_and_unknown_are_one_question_and_what_differs_says_why(people):
    before = assessed(people, {"age": 0.3, "sex": 0.5, "race": 0.6})
    said = assessed(people, {"age": 0, "sex": 0.5, "race": 0.6})
    unknown = rb.what_if(before, unknown="age")
    named = assessed(people, {"sex": 0.5, "race": 0.6}, unknown="age")
    for other in (unknown, named):
        assert apart(said, other) == ([], 0)
    assert unknown.changed == ("unknown: nothing -> age",)
    estimate = "age: known to nobody in both, and the population is estimated with it -> without it"
    put = rb.what_if(before, set={"p_knows_age": 0})
    assert put.changed == ("p_knows_age: 0.3 -> 0",)
    assert [estimate in words for words in apart(put, said)[0]] == [True]
    assert [estimate[:50] in words for words in apart(said, put)[0]] == [True]
    # where no population is estimated, nobody knows it in either, and that is all
    alone = [
        rb.assess(rb.loads(ALONE), people, known={"age": p, "sex": 0.5, "race": 1})
        for p in (0.3, 0)
    ]
    assert apart(rb.what_if(alone[0], set={"p_knows_age": 0}), alone[1]) == ([], 0)


def test_what_is_known_again_says_its_chance(people):
    before = assessed(people, {"age": 0.3, "sex": 0.5, "race": 0.6})
    gone = rb.what_if(before, unknown="age")
    again = rb.what_if(gone, known={"age": 0.2, "sex": 0.5, "race": 0.9})
    assert again.changed == (
        "unknown: age -> nothing", "p_knows_race: 0.6 -> 0.9", "p_knows_age: nothing -> 0.2",
    )  # fmt: skip


def test_a_group_is_not_its_columns_where_it_counts_how_many_are_known(people):
    """Two of three known are enough: a pair that is learnt together is one."""
    pair, each = {"g": (["age", "sex"], 1), "race": 0.4}, {"age": 1, "sex": 1, "race": 0.4}
    counted = [rb.assess(rb.loads(COUNTED), people, known=known) for known in (pair, each)]
    words, difference = apart(*counted)
    assert difference > 0.01
    assert words
    alone = [rb.assess(rb.loads(ALONE), people, known=known) for known in (pair, each)]
    assert apart(*alone) == ([], 0)


def test_one_account_for_all_is_said_as_that(people):
    before = rb.assess(
        "adversary-routes", people, scenario="social-media", population=20_000,
    )  # fmt: skip
    after = rb.what_if(before, together=True)
    assert apart(before, after)[1] > 0
    assert after.changed == ("together: no -> yes",)  # no chance of an attribute was raised
    assert rb.what_if(after, together=True).changed == ()
    worst = rb.what_if(after, scenario="worst-case")  # which has no account
    assert not any("together" in words for words in worst.changed)


# -- facts of a sparse table -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def sparse():
    rng = np.random.default_rng(0)
    names = ["age", "sex", "race", "town"]
    table = pd.DataFrame(
        {name: rng.integers(1, n, 40) for name, n in zip(names, (9, 3, 4, 6), strict=True)}
    )
    table["age"] = table["age"].astype(float)
    tags = ["public basic", "public basic", "basic", "public"]
    features = {"feature": names, "section": ["person"] * 3 + ["home"], "tags": tags}
    return rb.read_sparse(table, features=pd.DataFrame(features))


def test_an_attack_on_a_sparse_table_says_which_facts_may_be_known(sparse):
    def asked(known):
        return rb.assess("linkage", sparse, known=known)

    public = asked("public")
    for known in (["public"], ["town", "age", "sex"], ["age", "sex", "town"]):
        assert apart(public, asked(known)) == ([], 0)
    other = rb.what_if(public, known=["basic"])
    assert other.changed == ("facts known: any of public -> any of basic",)
    every = rb.what_if(public, known=["public", "basic"])
    assert every.changed == ("facts known: any of public -> any of the person's",)  # all there are
    assert apart(every, asked("random")) == ([], 0)
    named = rb.what_if(public, scenario="any-facts")
    assert named.changed == (
        "scenario: known -> any-facts", "facts known: any of public -> any of the person's",
    )  # fmt: skip


def test_no_noise_is_no_change(sparse):
    before = rb.assess("linkage", sparse)
    assert rb.what_if(before, noise=0).changed == ()
    noisy = rb.what_if(before, noise=0.2)
    none = rb.what_if(noisy, noise=0)
    assert none.changed[-1] == "noise: 0.2 of numbers, 0 years -> none"
    assert apart(before, none) == ([], 0)
    assert none.remarks() == before.remarks()


@pytest.mark.parametrize(("one", "two"), [
    (["age", "sex"], ["sex", "age"]),
    (["age", "sex", "race"], "person"),
    ("public", ["town", "sex", "age"]),
    (["age", "sex", "race", "town"], "random"),
    ({"age": 0.3, "sex": 0.5}, {"sex": 0.5, "age": 0.3}),
    ({"a": ("age", 0.3), "sex": 0.5}, {"age": 0.3, "sex": 0.5}),
    ({"age": 0.3, "sex": 0}, {"age": 0.3}),
    ({"person": 0.3}, {"age": 0.3, "sex": 0.3, "race": 0.3}),
])  # fmt: skip
def test_linkage_is_one_question_however_its_facts_were_named(sparse, one, two):
    first, second = (rb.linkage(sparse, known=known) for known in (one, two))
    assert apart(first, second) == ([], 0)
    assert rb.what_if(first, known=two).changed == ()


def test_what_changed_of_linkage_is_said_fact_by_fact(sparse):
    chances = rb.linkage(sparse, known={"age": 0.3, "sex": 0.5})
    less = rb.what_if(chances, known={"age": 0.3, "sex": 0})
    assert less.changed == ("chance of sex: 0.5 -> 0",)
    assert rb.what_if(chances, otherwise=0.1).changed == ("chance of all others: nothing -> 0.1",)
    any_of = rb.linkage(sparse, known="public", facts=[1, 2])
    assert rb.what_if(any_of, known=["public", "basic"]).changed == (
        "facts known: public -> basic and public",
    )  # fmt: skip
    assert rb.what_if(any_of, known="rarest").changed == ("facts known: public -> rarest",)
    weighted = rb.what_if(any_of, weights={"age": 2})
    assert weighted.changed[0] == "facts known: public -> public, weighted"
    heavy = rb.linkage(sparse, known="public", facts=[1, 2], weights={"age": 2, "sex": 3})
    assert rb.what_if(heavy, weights={"age": 3, "sex": 2}).changed  # worded alike


# -- what a what-if does, and says that it does ----------------------------------------------------


def test_without_adds_up_as_unknown_does(people):
    before = rb.assess("adversary-routes", people, scenario="social-media", population=20_000)
    chain = rb.what_if(rb.what_if(before, without="race"), without=["sex"])
    once = rb.assess(
        "adversary-routes", people, scenario="social-media", population=20_000,
        without=["sex", "race"],
    )  # fmt: skip
    assert apart(chain, once) == ([], 0)
    assert chain.changed == ("without: race -> race, sex",)
    both = rb.what_if(rb.what_if(before, unknown="sex"), without="race")
    assert np.array_equal(both.risk(), once.risk())
    anew = rb.what_if(chain, scenario="social-media", without="sex")
    assert anew.inputs.without == ("sex",)


BANDS = {"generalise": {"age": 1}, "hierarchies": {"age": rb.microdata.Bands(10)}}


def test_whoever_was_left_out_stays_out_until_suppress_asks_anew(people):
    said = "who was left out before stays out"
    for before in (assessed(people, None), rb.leak.assess(people, leaked=2)):
        few = rb.what_if(before, suppress=3)
        stay = rb.what_if(few, **BANDS)
        assert len(stay.people) == len(few.people)
        assert said in stay.changed[-1]
        anew = rb.what_if(few, suppress=3, **BANDS)
        at_once = rb.what_if(before, suppress=3, **BANDS)
        assert len(anew.people) == len(at_once.people) > len(few.people)
        for other in (anew, at_once, rb.what_if(before, **BANDS), few):
            assert not any(said in words for words in other.changed)


def test_what_is_dropped_and_never_known_changes_nothing_and_says_so(sparse):
    before = rb.assess("linkage", sparse, known="public")
    less = rb.what_if(before, drop="race")  # basic alone
    assert np.array_equal(before.risk(), less.risk())
    assert less.changed[-1] == (
        "what was dropped may not be known by this attacker (facts known: any of public): no risk "
        "changes by it"
    )
    for asked, drop in ((before, "town"), (rb.assess("linkage", sparse), "race")):
        other = rb.what_if(asked, drop=drop)
        assert not np.array_equal(asked.risk(), other.risk())
        assert not any("may not be known" in words for words in other.changed)
    anew = rb.what_if(before, drop="race", known=["race", "town"])  # by the attacker of after
    assert not np.array_equal(anew.risk(), rb.what_if(before, known=["race", "town"]).risk())
    assert not any("may not be known" in words for words in anew.changed)


def test_a_mean_of_people_counted_as_cells_has_a_row_per_cell(people):
    frame = rb.datasets.synthetic_patients(300, seed=1)
    names, known = ["age", "sex"], {"age": 0.3, "sex": 0.5}
    table = rb.read_table(frame, quasi_identifiers=names, subject_id=None)
    cells, each = (
        rb.assess("adversary-routes", t, population=50_000, known=known)
        for t in (rb.contingency(frame, names), table)
    )
    given = {"reidentified": "yes"}
    by_cell, by_person = (rb.expect(one, "known", given=given) for one in (cells, each))
    rows = by_cell.people
    assert rows["people"].tolist() == cells.people["people"].tolist()
    assert len(rows) < len(by_person.people) == rows["people"].sum() == 300
    assert rows["mean"].nunique() > 1
    for column in ("mean", "sd"):
        repeated = np.repeat(rows[column], rows["people"])
        np.testing.assert_allclose(np.sort(repeated), np.sort(by_person.people[column]), rtol=1e-9)
    assert float(by_cell) == pytest.approx(float(by_person), rel=1e-9)
    assert by_cell.distribution == pytest.approx(by_person.distribution, rel=1e-9)
    assert "over 300 (" in str(by_cell)
    assert str(by_cell) == str(by_person)
    assert by_cell.to_dict()["people"] == rows["people"].tolist()


def test_a_page_of_a_few_people_tells_no_more_of_a_population_than_there_are(tmp_path):
    frame = pd.DataFrame({"a": [1, 1, 2, 3, 4] + [5] * 25, "b": [1, 1, 2, 2, 2] + [1] * 25})
    table = rb.read_table(frame, quasi_identifiers=["a", "b"])
    fit = rb.population.fit(table, population=20_000)
    page = fit.report(tmp_path / "fit.md").read_text()
    told = json.loads(fit.report(tmp_path / "fit.json").read_text())["measures"]
    for name in ("expected_uniques", "prediction"):
        assert told[name]["at_most"] <= 20_000
        assert told[name]["interval"][1] <= 20_000
    assert "50,000" not in page


@pytest.fixture
def own():
    """Three lists of chances, one for each person."""
    return np.random.default_rng(1).uniform(size=(3, PEOPLE))


def told_apart(one, other):
    words, most = apart(one, other)
    return any("each person's own" in word for word in words), most


def test_chances_of_each_person_are_those_of_the_columns_that_they_were_said_of(people, own):
    def asked(known):
        return rb.assess("adversary-routes", people, known=known, population=5_000)

    ages, sexes, races = own
    same = ([], pytest.approx(0, abs=1e-12))
    first = asked({"age": ages, "sex": sexes, "race": races})
    told, most = told_apart(first, asked({"race": ages, "age": sexes, "sex": races}))
    assert told
    assert most > 0
    assert apart(first, asked({"sex": sexes, "race": races, "age": ages})) == same
    grouped = asked({"g": (["age", "sex"], ages), "race": sexes})
    told, most = told_apart(grouped, asked({"g": (["race"], ages), "h": (["age", "sex"], sexes)}))
    assert told
    assert most > 0
    assert apart(grouped, asked({"race": sexes, "h": (["sex", "age"], ages)})) == same


TWO = """
schema_version: 1
name: two
subject:
  aa: {unit: probability, range: [0, 1]}
  bb: {unit: probability, range: [0, 1]}
nodes:
  x: {cpd: {kind: probability, p: "@aa"}}
  y: {parents: [x], cpd: {kind: probability, p: "@bb", only_if: [x]}}
questions:
  risk: {target: x=yes}
"""


def test_what_is_said_of_each_person_is_that_of_its_column(people, own):
    def asked(**subject):
        return rb.assess(rb.loads(TWO), people, subject=subject)

    one, other, _ = own
    told, most = told_apart(asked(aa=one, bb=other), asked(bb=one, aa=other))
    assert told
    assert most > 0
    assert apart(asked(aa=one, bb=other), asked(bb=other, aa=one)) == ([], pytest.approx(0))


@pytest.mark.parametrize("function", ASKED)
def test_lists_of_chances_in_another_order_are_one_question(people, own, function):
    ages, sexes, races = own
    first = ASKED[function](people, {"age": ages, "sex": sexes, "race": races})
    same = ASKED[function](people, {"race": races, "age": ages, "sex": sexes})
    assert apart(first, same) == ([], pytest.approx(0, abs=1e-12))
    told, most = told_apart(
        first, ASKED[function](people, {"race": ages, "age": sexes, "sex": races})
    )
    assert told
    assert most > 0


@pytest.mark.parametrize("function", ASKED)
def test_without_the_only_list_nobody_has_a_chance_of_their_own(people, own, function):
    before = ASKED[function](people, {"age": own[0], "sex": 0.5, "race": 0.25})
    plain = ASKED[function](people, {"sex": 0.5, "race": 0.25})
    less = rb.what_if(before, unknown="age")
    assert "each person's own" not in str(less.question)
    assert apart(less, plain) == ([], 0)
    if function != "candidates":  # compared with people of their own
        assert apart(*(rb.what_if(one, suppress=2) for one in (less, plain))) == ([], 0)


# -- each change is said once, and nothing that is none ------------------------------------------


LIST = np.random.default_rng(2).uniform(size=PEOPLE)
CHANGED = [
    ({"age": 0.3, "sex": 0.5}, {"age": 0.2, "sex": 0.5}, ("chance of age: 0.3 -> 0.2",)),
    ({"age": 0.3, "sex": 0.5}, {"sex": 0.5}, ("known columns: age, sex -> sex",)),
    ({"age": 0.3}, {"age": 0.3, "sex": 0.5},
     ("known columns: age -> age, sex", "chance of sex: nothing -> 0.5")),
    (["age", "sex"], ["age", "race"], ("known columns: age, sex -> age, race",)),
    ({"age": LIST, "sex": 0.5}, {"age": LIST, "sex": 0.4}, ("chance of sex: 0.5 -> 0.4",)),
    ({"age": LIST, "sex": 0.5}, {"age": 0.5, "sex": 0.5},
     ("chance of age: each person's own -> 0.5",)),
    ({"age": LIST, "sex": 0.5}, {"age": LIST[::-1].copy(), "sex": 0.5},
     ("the chances that are each person's own",)),
    ({"g": (["age", "sex"], 0.5), "race": 1}, {"age": 0.5, "sex": 0.5, "race": 1},
     ("chance of age + sex: 0.5 -> nothing", "chance of age: nothing -> 0.5",
      "chance of sex: nothing -> 0.5")),
]  # fmt: skip


@pytest.mark.parametrize("function", ASKED)
@pytest.mark.parametrize(("one", "two", "said"), CHANGED)
def test_what_changed_of_what_is_known_is_said_once(people, function, one, two, said):
    assert rb.what_if(ASKED[function](people, one), known=two).changed == said


def test_a_chance_beside_a_list_and_a_group_that_is_set_are_said_once(people):
    before = assessed(people, {"age": LIST, "sex": 0.5, "race": 0.6})
    for chance in (0, 0.2, 1):
        put = rb.what_if(before, set={"p_knows_sex": chance})
        assert put.changed == (f"p_knows_sex: 0.5 -> {chance}",)
    less = rb.what_if(before, known={"age": LIST, "sex": 0.4, "race": 0.6})
    assert less.changed == ("p_knows_sex: 0.5 -> 0.4",)
    assert rb.what_if(before, unknown="age").changed == ("unknown: nothing -> age",)
    group = assessed(people, {"g": (["age", "sex"], 0.5), "race": 0.6})
    for chance in (0, 0.2, 1):
        put = rb.what_if(group, set={"p_knows_g": chance})
        assert put.changed == (f"p_knows_g: 0.5 -> {chance}",)


def test_what_nobody_knows_is_estimated_with_or_without_it_where_anything_is_estimated(people):
    known = {"g": (["age", "sex"], 0.5), "race": 0.6}
    said = {"race": 0.6, "g": (["age", "sex"], 0)}
    routes = assessed(people, known), assessed(people, said)
    words, difference = apart(rb.what_if(routes[0], set={"p_knows_g": 0}), routes[1])
    assert len(words) == 1
    assert "unknown: " not in words[0]
    assert words[0].count("known to nobody in both, and the population is estimated with it") == 2
    assert difference < 1e-2
    alone = [rb.assess(rb.loads(ALONE), people, known=k, population=20_000) for k in (known, said)]
    assert apart(rb.what_if(alone[0], set={"p_knows_g": 0}), alone[1]) == ([], 0)


@pytest.mark.parametrize("chances", [(0.5, 0.4), (LIST, LIST[::-1].copy())])
def test_two_groups_of_the_same_columns_are_one_question_in_any_order(people, chances):
    first, second = chances
    one = {"g": (["age", "sex"], first), "h": (["sex", "age"], second), "race": 0.6}
    two = {"race": 0.6, "h": (["age", "sex"], second), "i": (["age", "sex"], first)}
    other = {"g": (["age", "sex"], first), "h": (["sex", "age"], 0.1), "race": 0.6}
    alone = {"assess": lambda t, known: rb.assess(rb.loads(ALONE), t, known=known)}
    for ask in (ASKED | alone).values():
        asked, again, another = (ask(people, known) for known in (one, two, other))
        assert apart(asked, again) == ([], pytest.approx(0, abs=1e-12))
        assert apart(asked, another)[0]


def test_what_is_covered_by_what_is_sure_adds_nothing(people):
    covered = {"g": (["age", "sex"], 1), "h": (["sex"], 0.5)}
    for ask in ASKED.values():
        assert apart(ask(people, covered), ask(people, ["age", "sex"])) == ([], 0)


def test_unknown_again_is_said_to_change_nothing(people):
    gone = rb.what_if(assessed(people, {"age": 0.3, "sex": 0.5, "race": 0.6}), unknown="age")
    same = "nobody knew age before, either: nothing changes by it"
    assert rb.what_if(gone, unknown="age").changed == (same,)
    assert rb.what_if(gone, unknown=["age", "sex"]).changed == ("unknown: age -> age, sex", same)


def test_the_levels_as_they_are_say_nothing_of_who_was_left_out(people):
    coarse = rb.what_if(rb.leak.assess(people, leaked=2), suppress=3, **BANDS)
    assert rb.what_if(coarse, generalise={"age": 1}).changed == ()
    coarse = rb.what_if(assessed(people, None), suppress=3, **BANDS)
    assert rb.what_if(coarse, generalise={"age": 1}).changed == ()


def test_no_scenario_file_has_the_name_of_what_a_call_says(tmp_path):
    path = tmp_path / "own.yaml"
    text = (
        "schema_version: 1\nkind: scenario\nname: {}\ntitle: x\nsource: assumption\n"
        "knows: {{attributes: {{age: {{source: assumption}}}}}}\n"
    )
    path.write_text(text.format("own"))
    assert rb.load_scenario(path).name == "own"
    path.write_text(text.format("known"))
    with pytest.raises(rb.errors.ModelError, match="is what a call itself says is known"):
        rb.load_scenario(path)


def test_the_worst_case_by_any_name_is_one_question(people):
    for ask in (
        lambda known: assessed(people, known),
        lambda known: rb.assess(rb.loads(ALONE), people, known=known),
    ):
        worst, named, none = (ask(k) for k in ("worst-case", ["race", "sex", "age"], None))
        assert apart(worst, named) == ([], pytest.approx(0, abs=1e-12))
        assert apart(worst, none) == ([], pytest.approx(0, abs=1e-12))
        assert rb.what_if(worst, known=["age", "sex", "race"]).changed == ()
        assert apart(worst, ask({"age": 0.9, "sex": 1, "race": 1}))[0]
    media = rb.assess("adversary-routes", people, scenario="social-media", population=20_000)
    assert apart(assessed(people, None), media)[0][0].count("scenario: ") == 1


@pytest.mark.parametrize("known", [None, {"age": 0.5, "sex": 0.6, "race": 0.3}])
def test_the_structured_model_hears_columns_in_any_order(known):
    """The fit has an order of its own, that of the table; what was asked has none."""
    frame = rb.datasets.synthetic_patients(200, seed=1)
    names = ["age", "sex", "race", "state"]
    table = rb.read_table(frame, quasi_identifiers=names, subject_id=None)
    chances = {"state": 0.4, **known} if known else dict.fromkeys(names, 1.0)
    first, *others = (
        rb.assess(
            "adversary-routes", table, known={name: chances[name] for name in order},
            population=20_000, population_model="structured",
        )
        for order in (names, names[::-1], ["sex", "state", "age", "race"])
    )  # fmt: skip
    for other in others:
        assert apart(first, other)[0] == []
        np.testing.assert_allclose(other.risk(), first.risk(), atol=1e-12)


def test_an_estimate_of_structures_hears_columns_in_any_order(people):
    names = ["age", "sex", "race"]
    first, other = (
        rb.population.fit(people, population=20_000, columns=order, model="structured")
        for order in (names, names[::-1])
    )
    assert apart(first, other) == ([], 0)
    assert first.p_unique == other.p_unique
    one, two = (
        rb.population.fit_subsets(people, parts, population=20_000, model="structured")
        for parts in ([["age", "race"], "sex"], ["sex", ["race", "age"]])
    )
    assert one.p_unique.tolist() == two.p_unique[[0, 2, 1, 3]].tolist()
