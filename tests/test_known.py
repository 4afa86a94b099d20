"""The same knowledge, said in any way, means the same in every function."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.attack import FactLookup, Known, Knows, Listed, Profile, Scenario
from reidbn.cli import reidbn
from reidbn.errors import ReidbnError, UsageError
from reidbn.microdata import expectations, is_unique

ROUTES = "adversary-routes"
QI = ["age", "sex", "state"]
FRAME = rb.datasets.synthetic_patients(300, seed=4)
CHANCE = np.random.default_rng(5).random(300)
LIST = np.random.default_rng(6).random(300).round(1)


@pytest.fixture(scope="module")
def people():
    return rb.read_table(FRAME, quasi_identifiers=QI, sensitive=["diagnosis"])


def scenario(chances, parent=None):
    groups = {"body": ("age", "sex"), "state": ("state",)}
    known = (
        Known(name, columns, (chances[name],), source="a test") for name, columns in groups.items()
    )
    return Scenario("some", knows=Knows(tuple(known), parent))


FORMS = {
    "chances": {"age": 0.01, "sex": 0.5, "state": 0.3},
    "pairs": {"age": ("age", 0.01), "sex": (["sex"], 0.5), "state": 0.3},
    "together": {"body": (["age", "sex"], 0.25), "state": 0.5},
    "tuple": {("age", "sex"): 0.25, "state": 0.5},
    "each": {"age": ("age", CHANCE), "sex": 0.5, "state": CHANCE[::-1]},
    "scenario": scenario({"body": 0.25, "state": 0.5}),
    "listed": scenario({"body": 0.25, "state": 0.5}, Listed(chance=(0.4,), shared=True)),
    "kinds": Scenario(
        "kinds",
        knows=Knows(
            (
                Known("body", ("age", "sex"), by_profile={"friend": 0.5, "boss": 0.0}),
                Known("state", ("state",), by_profile={"friend": 0.25, "boss": 1.0}),
            ),
            Profile("who", {"friend": 0.25, "boss": 0.75}),
        ),
    ),
    "by-name": "voter-registration",
    "sure": "worst-case",
}


def weights(form, i, columns):
    """P(exactly these columns are known of person i), for every set of columns, by hand."""
    found = {}

    def add(known, p):
        found[known] = found.get(known, 0) + p

    def groups(pairs, factor):
        for draw in product((0, 1), repeat=len(pairs)):
            p, known = factor, set()
            for bit, (own, chance) in zip(draw, pairs, strict=True):
                p *= chance if bit else 1 - chance
                known |= set(own) if bit else set()
            add(frozenset(known), p)

    if form == "listed":
        groups([(("age", "sex"), 0.25), (("state",), 0.5)], 0.4)
        add(frozenset(), 0.6)
    elif form == "kinds":
        groups([(("age", "sex"), 0.5), (("state",), 0.25)], 0.25)
        groups([(("state",), 1.0)], 0.75)
    else:
        told = {
            "chances": [(("age",), 0.01), (("sex",), 0.5), (("state",), 0.3)],
            "together": [(("age", "sex"), 0.25), (("state",), 0.5)],
            "each": [(("age",), CHANCE[i]), (("sex",), 0.5), (("state",), CHANCE[299 - i])],
            "sure": [((c,), 1.0) for c in columns],
        }
        alias = {"pairs": "chances", "tuple": "together", "scenario": "together"}
        groups(told[alias.get(form, form)], 1.0)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_the_same_knowledge_gives_the_same_numbers_everywhere(people, form):
    known = FORMS[form]
    r = rb.assess(ROUTES, people, known=known, population=10_000)
    each = rb.subsets(people, known=known, per_person=True)
    leaked = rb.leak.risks(people, leaked=len(people), known=known)
    assert each["unique"].to_numpy() == pytest.approx(r.risk("prosecutor"), abs=1e-13)
    assert each["mean_inverse"].to_numpy() == pytest.approx(r.risk("marketer"), abs=1e-13)
    assert leaked == pytest.approx(r.risk("marketer"), abs=1e-13)
    named = rb.candidates(people, people, known=known)  # the outside list is the table itself
    assert named.risk == pytest.approx(leaked, abs=1e-13)
    read = rb.knowledge(people, known)
    again = rb.assess(ROUTES, people, known=read, population=10_000)
    assert again.risk() == pytest.approx(r.risk(), abs=1e-13)
    if form == "by-name":
        return
    for i in (0, 57, 299):
        alike = 0.0
        for columns, p in weights(form, i, QI).items():
            same = np.ones(len(FRAME), dtype=bool)
            for column in columns:
                same &= (FRAME[column] == FRAME[column].iloc[i]).to_numpy()
            alike += p / same.sum()
        assert r.risk("marketer")[i] == pytest.approx(alike, abs=1e-12)


@pytest.mark.parametrize("form", [f for f in FORMS if f != "by-name"])
def test_disclosure_takes_the_same_knowledge(people, form):
    d = rb.disclosure(people, "diagnosis", known=FORMS[form])
    assert set(d.known) == set(QI)
    for i in (0, 57, 299):
        wrong = 0.0
        for columns, p in weights(form, i, QI).items():
            same = np.ones(len(FRAME), dtype=bool)
            for column in columns:
                same &= (FRAME[column] == FRAME[column].iloc[i]).to_numpy()
            own = (FRAME["diagnosis"] == FRAME["diagnosis"].iloc[i]).to_numpy()
            wrong += p * (1 - (same & own).sum() / same.sum())
        assert d.expected_ppp[i] == pytest.approx(wrong, abs=1e-12)


def test_chances_of_each_person_go_with_the_person(people):
    known = FORMS["each"]
    r = rb.assess(ROUTES, people, known=known, population=10_000)
    fewer = rb.what_if(r, suppress=2)
    kept = people.suppress(2)
    own = CHANCE[kept.rows_read]
    same = rb.knowledge(kept, {"age": own, "sex": 0.5, "state": CHANCE[::-1][kept.rows_read]})
    assert len(kept) < len(people)
    by_hand = rb.subsets(kept, known=same, per_person=True)["mean_inverse"]
    assert fewer.risk("marketer") == pytest.approx(by_hand.to_numpy(), abs=1e-13)


def test_a_list_of_columns_is_known_for_sure_where_a_chance_is_needed(people):
    sure = rb.assess(ROUTES, people, known=QI, population=10_000)
    worst = rb.assess(ROUTES, people, population=10_000)
    assert np.array_equal(sure.risk(), worst.risk())
    assert np.array_equal(
        rb.leak.risks(people, leaked=9, known=QI), rb.leak.risks(people, leaked=9)
    )
    with pytest.raises(UsageError, match="says nothing about state"):
        rb.assess(ROUTES, people, known=["age", "sex"], population=10_000)
    part = rb.assess(ROUTES, people, known=["age", "sex"], unknown=["state"], population=10_000)
    few = rb.leak.risks(people, leaked=len(people), known=["age", "sex"])
    assert part.risk("marketer") == pytest.approx(few, abs=1e-13)


@pytest.mark.parametrize("ask", ["subsets", "leak", "disclosure", "candidates", "knowledge"])
def test_a_scenario_that_says_more_than_what_is_known_is_refused_without_a_network(people, ask):
    whole = Scenario("more", set={"p_c": 0.5}, knows=FORMS["scenario"].knows)
    calls = {
        "subsets": lambda: rb.subsets(people, known=whole),
        "leak": lambda: rb.leak.risks(people, leaked=20, known=whole),
        "disclosure": lambda: rb.disclosure(people, "diagnosis", known=whole),
        "candidates": lambda: rb.candidates(people, people, known=whole),
        "knowledge": lambda: rb.knowledge(people, whole),
    }
    with pytest.raises(UsageError, match=r"more says more than what is known \(set\)"):
        calls[ask]()
    with pytest.raises(UsageError, match="says more"):
        rb.leak.risks(people, leaked=20, known="controlled-release")


def test_both_ways_to_say_what_is_known_are_refused(people):
    with pytest.raises(UsageError, match="give one of them"):
        rb.assess(ROUTES, people, known=QI, scenario="worst-case", population=10_000)


def test_a_column_that_the_scenario_is_silent_about_is_refused_without_a_network(people):
    silent = Scenario("half", knows=Knows((Known("age", ("age",)),)))
    for ask in (
        lambda k: rb.subsets(people, known=k),
        lambda k: rb.leak.risks(people, leaked=20, known=k),
        lambda k: rb.disclosure(people, "diagnosis", known=k),
    ):
        with pytest.raises(UsageError, match=r"rb\.knowledge\(people, \"half\""):
            ask(silent)
        ask(rb.knowledge(people, silent, unknown=["sex", "state"]))


def test_subsets_drawn_at_random_follow_lists_and_kinds_of_attackers(people):
    for form in ("listed", "kinds"):
        exact = rb.subsets(people, known=FORMS[form], per_person=True)["mean_inverse"]
        drawn = rb.subsets(people, known=FORMS[form], per_person=True, draws=4_000, seed=1)
        inside = (drawn["mean_inverse_low"] <= exact) & (exact <= drawn["mean_inverse_high"])
        assert inside.all()  # seeded; the bounds hold for each person at 95 % or more


def test_knowledge_of_other_people_is_refused(people):
    read = rb.knowledge(people, FORMS["each"])
    with pytest.raises(UsageError, match="300 people, and the table has"):
        rb.subsets(people.take(np.arange(50)), known=read)
    with pytest.raises(ReidbnError, match="found int"):
        rb.subsets(people, known=3)


def of_each(people, known):
    """What each function makes of what is known, person by person."""
    yield lambda: rb.leak.risks(people, leaked=30, known=known)
    yield lambda: rb.subsets(people, per_person=True, known=known)["mean_inverse"].to_numpy()
    yield lambda: rb.disclosure(people, "diagnosis", known=known).expected_ppp
    yield lambda: rb.assess(ROUTES, people, known=known, population=10_000).risk("marketer")


@pytest.mark.parametrize("form", ["each", "listed each"])
def test_chances_of_each_are_taken_for_the_people_they_were_read_for_alone(people, form):
    each = {"age": CHANCE, "sex": 0.5, "state": 0.3}
    listed = Listed(chance=(FactLookup("rates", "rate", ("sex",)),), shared=True)
    rates = {"rates": {"sex": people.labels("sex").tolist(), "rate": [0.2, 0.7]}}
    on_a_list = replace(scenario({"body": 0.5, "state": 0.3}, listed), facts=rates)
    known = rb.knowledge(people, each if form == "each" else on_a_list)
    assert (known.listed is None) is (form == "each")
    assert known.about is people
    for frame in (
        FRAME.sample(frac=1, random_state=0),
        rb.datasets.synthetic_patients(300, seed=9),
    ):
        others = rb.read_table(frame, quasi_identifiers=QI, sensitive=["diagnosis"])
        for ask in of_each(others, known):
            with pytest.raises(
                UsageError, match=r"another table, or of these.*rb\.microdata\.know"
            ):
                ask()
        rb.leak.risks(others, leaked=30, known=rb.knowledge(people, {"age": 0.5, "sex": 0.2}))
    again = rb.read_table(FRAME, quasi_identifiers=QI, sensitive=["diagnosis"])
    coarse = people.generalise({"age": 1}, hierarchies={"age": rb.Bands(10)})
    for same in (again, coarse, people.as_written(), people.select([*QI, "diagnosis"])):
        for ask in of_each(same, known):
            ask()
    risks = rb.leak.risks(coarse, leaked=30, known=rb.knowledge(coarse, each))
    if form == "each":
        assert np.array_equal(risks, rb.leak.risks(coarse, leaked=30, known=known))


def test_a_series_of_chances_follows_the_subject_ids_of_its_index_and_nothing_else():
    frame = FRAME.head(60).assign(subject=[f"s{i:02}" for i in range(60)])
    roles = {"quasi_identifiers": QI, "sensitive": ["diagnosis"]}
    named = rb.read_table(frame, **roles, subject_id="subject")
    series = pd.Series(CHANCE[:60], index=frame["subject"])
    right = [ask() for ask in of_each(named, {"age": CHANCE[:60], "sex": 0.5, "state": 0.3})]
    for values in (series, series[::-1], series.sample(frac=1, random_state=1),
                   pd.Series(CHANCE[:60])):  # fmt: skip
        found = [ask() for ask in of_each(named, {"age": values, "sex": 0.5, "state": 0.3})]
        for got, wanted in zip(found, right, strict=True):
            assert np.array_equal(got, wanted)
    unnamed = rb.read_table(frame, **roles)
    numbered = rb.read_table(frame.assign(subject=range(59, -1, -1)), **roles, subject_id="subject")
    plain = pd.Series(CHANCE[:60])
    for table, values in (
        (named, series.rename({"s00": "t00"})),
        (named, series.rename({"s00": "s01"})),
        (named, plain[::-1]),
        (unnamed, series),
        (unnamed, plain[::-1]),
        (numbered, plain),
    ):
        for known in ({"age": values}, {"both": (["age", "sex"], values)}):
            with pytest.raises(UsageError, match=r"index of these values.*to_numpy\(\)"):
                rb.leak.risks(table, leaked=6, known=rb.knowledge(table, known))
    assert np.array_equal(
        rb.knowledge(numbered, {"age": plain[::-1]}).probabilities[:, 0], CHANCE[59::-1]
    )
    with pytest.raises(UsageError, match=r"subject: told: the index of these values"):
        rb.assess("marketer", unnamed, scenario="worst-case", subject={"told": plain[::-1]})


def run(*words):
    done = CliRunner().invoke(reidbn, list(words))
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize(
    "said", ["age=0.01,sex=0.5,state=0.3", "body=age+sex:.25,state:.5", "worst-case"]
)
def test_the_shell_says_what_is_known_alike_in_every_command(tmp_path, said):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    table = [str(path), "--qi", ",".join(QI), "--sensitive", "diagnosis", "--known", said, "--json"]
    each = json.loads(run("subsets", *table, "--per-person"))["records"]
    mean = np.mean([row["mean_inverse"] for row in each])
    answer = json.loads(run("assess", *table, "--population", "10000", "--rows", "9999"))
    assert answer["measures"]["marketer"]["value"] == pytest.approx(mean, rel=1e-9)
    leaked = json.loads(run("leak", *table, "--leaked", "300"))
    assert leaked["known"][0]["risk"]["mean"] == pytest.approx(mean, rel=1e-9)
    json.loads(run("disclosure", *table))


def test_the_shell_lists_the_scenarios_that_known_takes():
    rows = json.loads(run("scenarios", "--json"))
    assert {row["name"] for row in rows} == set(rb.scenarios())
    by_name = {row["name"]: row for row in rows}
    assert by_name["worst-case"]["knows"] == "every column"
    assert "age_decade" in by_name["social-media"]["knows"]
    assert "nodes" in by_name["controlled-release"]["also changes"]
    assert "who knows what" in run("--help")


def test_columns_that_nobody_knows_are_said_alike_whatever_is_known(people):
    for known in ({"age": 0.5}, ["age"]):
        said = rb.knowledge(people, known, unknown=["sex", "state"])
        assert said.names == ("age",)
    assert rb.knowledge(people, unknown=["sex", "state"]).names == ("age",)
    with pytest.raises(UsageError, match="known= names it"):
        rb.knowledge(people, {"age": 0.5}, unknown=["age"])
    with pytest.raises(UsageError, match="no quasi-identifier"):
        rb.knowledge(people, {"age": 0.5}, unknown=["agee"])
    for ask in (
        lambda k: rb.subsets(people, known=k),
        lambda k: rb.leak.risks(people, leaked=5, known=k),
        lambda k: rb.disclosure(people, "diagnosis", known=k),
        lambda k: rb.assess(ROUTES, people, known=k, population=10_000),
    ):
        for nothing in ([], {}, (), "", " "):
            with pytest.raises(UsageError, match="known= is empty"):
                ask(nothing)
    done = CliRunner().invoke(reidbn, ["subsets", "synthetic:20", "--qi", "age,sex", "--known", ""])
    assert "--known is empty" in str(done.exception)


def test_what_is_no_column_is_refused_alike_and_offers_no_secret(people):
    outside = people
    for ask in (
        lambda k: rb.knowledge(people, k),
        lambda k: rb.subsets(people, known=k),
        lambda k: rb.subsets(people, known=k, per_person=True),
        lambda k: rb.leak.risks(people, leaked=5, known=k),
        lambda k: rb.leak.assess(people, leaked=5, known=k),
        lambda k: rb.disclosure(people, "diagnosis", known=k),
        lambda k: rb.candidates(people, outside, known=k),
        lambda k: rb.assess(ROUTES, people, known=k, population=10_000),
    ):
        with pytest.raises(UsageError, match=r'no column "zip"; known: age, sex, state$'):
            ask({"zip": 0.5})  # the secret is a column, and is not offered
    with pytest.raises(UsageError, match="read the table with it among them"):
        rb.assess(ROUTES, people, known={"diagnosis": 0.5}, population=10_000)


def test_columns_that_nobody_knows_leave_the_others_as_they_are_by_default(people, tmp_path):
    less = rb.subsets(people, known={"age": 0.5, "sex": 0.5}, per_person=True)
    found = rb.subsets(people, known=rb.knowledge(people, unknown=["state"]), per_person=True)
    pd.testing.assert_frame_equal(found, less)
    out = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, words in zip(
        out, (["--unknown", "race"], ["--known", "age=0.5,sex=0.5"]), strict=True
    ):
        done = CliRunner().invoke(
            reidbn, ["subsets", "synthetic:60", "--qi", "age,sex,race", "--per-person", *words,
                     "--out", str(path)],
        )  # fmt: skip
        assert done.exit_code == 0, done.output
    assert pd.read_parquet(out[0]).equals(pd.read_parquet(out[1]))
    with pytest.raises(UsageError, match="named without chances"):
        rb.subsets(people, known=rb.knowledge(people, ["age"]), per_person=True)


def test_an_attack_without_a_group_says_how_a_column_is_left_out(people, tmp_path):
    path = tmp_path / "guess.yaml"
    path.write_text(NO_GROUP, encoding="utf-8")
    rb.assess(path, people)
    with pytest.raises(UsageError, match=r'say unknown=\["sex"\]'):
        rb.assess(path, people, without=["sex"])
    for how in (
        {"unknown": ["sex"]},
        {"known": ["age", "state"]},
        {"known": ["age", "state"], "unknown": ["sex"]},
    ):
        with pytest.raises(UsageError, match=r"may not know sex.*quasi_identifiers=\["):
            rb.assess(path, people, **how)


NO_GROUP = """
schema_version: 1
name: guess
title: A guess
story: x.
sources: [assumption]
subject:
  class_size: {unit: records, range: [1, 10000000000], story: alike}
nodes:
  hit: {story: g, parents: [], cpd: {kind: one-over, of: "@class_size"}}
questions:
  risk: {target: hit=yes}
example: {class_size: 3}
"""


def test_columns_read_before_are_as_sure_as_columns_named_in_the_call(people):
    for known in (QI, rb.knowledge(people, QI)):
        result = rb.assess(ROUTES, people, known=known, population=10_000)
        sources = {placed.source for placed in result.groups.placed}
        assert sources == {"worst case: known for sure"}


ROWS = 60
SAID = {
    "a chance of one and of none": {"age": 0.5, "sex": 0, "race": 1},
    "chances of their own": {"age": np.linspace(0, 1, ROWS), "sex": 0.5, "race": 1},
    "one chance, said of each": {"age": 0.5, "sex": np.full(ROWS, 0.3), "race": 0.2},
    "columns": ["age", "sex", "race"],
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_an_assessment_takes_what_was_read_as_what_was_said(said):
    """Who is known to nobody was dropped by the reader, and chances lost their parameter."""
    codes = np.random.default_rng(0).integers(0, 5, (ROWS, 3))
    people = rb.People.from_codes(codes, ["age", "sex", "race"])
    read, told = (
        rb.assess("prosecutor", people, known=known)
        for known in (rb.microdata.knowledge(people, said), said)
    )
    assert np.array_equal(read.risk(), told.risk())
    assert list(read.attack.parameters) == list(told.attack.parameters)
    assert read.inputs.scenario.fingerprint == told.inputs.scenario.fingerprint
    never = rb.microdata.knowledge(people, {"age": 0.5}, unknown=["sex", "race"])
    alone = rb.assess("prosecutor", people, known={"age": 0.5}, unknown=["sex", "race"])
    assert np.array_equal(rb.assess("prosecutor", people, known=never).risk(), alone.risk())


def test_a_scenario_with_a_chance_for_each_person_is_refused_of_other_people(people):
    result = rb.assess("marketer", people, known={"age": CHANCE, "sex": 0.5, "state": 0.2})
    scenario = result.inputs.scenario
    others = rb.read_table(rb.datasets.synthetic_patients(300, seed=9), quasi_identifiers=QI)
    for other in (others, others.take(np.arange(100)), people.take(np.arange(300)[::-1])):
        if other.reading is people.reading:  # each keeps the chance that was said of him
            turned = rb.assess("marketer", other, scenario=scenario)
            assert np.array_equal(turned.risk(), result.risk()[::-1])
            continue
        with pytest.raises(UsageError, match=r"nothing says that these are among them.*known="):
            rb.assess("marketer", other, scenario=scenario)
        with pytest.raises(UsageError, match="nothing says"):
            rb.knowledge(other, scenario)
    again = rb.read_table(FRAME, quasi_identifiers=QI, sensitive=["diagnosis"])
    assert np.array_equal(rb.assess("marketer", again, scenario=scenario).risk(), result.risk())
    named = FRAME.assign(id=[f"p{i}" for i in range(len(FRAME))])
    both = [
        rb.read_table(frame, quasi_identifiers=QI, subject_id="id")
        for frame in (named, named.sample(200, random_state=3))
    ]
    by_id = rb.assess("marketer", both[0], known={"age": CHANCE, "sex": 0.5, "state": 0.2})
    moved = rb.assess("marketer", both[1], scenario=by_id.inputs.scenario)
    want = [CHANCE[int(i[1:])] for i in both[1].subject_ids]
    placed = {one.label: one.p for one in moved.groups.placed}
    assert np.array_equal(placed["age"], want)
    assert by_id.inputs.scenario.fingerprint == scenario.fingerprint


def test_a_column_that_is_looked_up_by_and_not_released_is_read_as_the_message_says(
    tmp_path, shell
):
    path = tmp_path / "t.csv"
    FRAME[[*QI, "race"]].to_csv(path, index=False)
    words = ["assess", path, "--attack", "marketer", "--scenario", "voter-registration"]
    words += ["--qi", "age,sex,race", "--json", "--check-draws", 1000]
    for more in ((), ("--column", "state=state"), ("--state-column", "state")):
        code, said = shell(*words, *more)
        assert (code > 1, "is read with --sensitive" in said) == (True, True), said
    assert shell(*words, "--sensitive", "state")[0] == 0


def test_columns_of_which_no_chance_is_said_are_known_in_a_knowledge_too():
    table = rb.read_table(
        rb.datasets.synthetic_patients(200, seed=5), quasi_identifiers=["age", "sex"],
        sensitive=["diagnosis"],
    )  # fmt: skip
    named = rb.disclosure(table, "diagnosis", known=["age", "sex"])
    found = rb.disclosure(table, "diagnosis", known=rb.microdata.knowledge(table, ["age", "sex"]))
    assert found.measures.keys() == named.measures.keys()
    assert found.question == named.question
    assert "expected_ppp" not in found.measures


def test_columns_without_chances_mean_sure_knowledge_or_are_refused(people):
    """In rb.subsets(per_person=True) they meant a chance of 1/2, and everywhere else that of 1."""
    listed, sure = ["age", "sex"], {"age": 1, "sex": 1}
    for known in (listed, rb.knowledge(people, listed)):
        for ask in (
            lambda k: rb.leak.risks(people, leaked=30, known=k),
            lambda k: rb.candidates(people, people, known=k).risk,
            lambda k: rb.disclosure(people, "diagnosis", known=k).ppp_full,
            lambda k: rb.assess("prosecutor", people, known=k, unknown=["state"]).risk(),
        ):
            assert np.array_equal(ask(known), ask(sure))
        for draws in (None, 5):
            with pytest.raises(UsageError, match=r'known=\{"age": 1\}.*known=\{"age": 0.5\}'):
                rb.subsets(people, per_person=True, known=known, draws=draws)
        with pytest.raises(UsageError, match="named without chances"):
            expectations(people, [is_unique], known=known)
        assert len(rb.subsets(people, known=known)) == 3
    half = dict.fromkeys(QI, 0.5)
    default, said = (rb.subsets(people, per_person=True, known=k) for k in (None, half))
    pd.testing.assert_frame_equal(default, said)


def test_groups_that_share_columns_mean_the_same_everywhere(people):
    """A column of two groups is known when either is; assess alone refused such groups."""
    known = {"sex": 0.25, "home": (["sex", "state"], 0.5), "age": 0.3}
    told = [(("sex",), 0.25), (("sex", "state"), 0.5), (("age",), 0.3)]
    half = Knows(tuple(Known(n, c, (p,)) for n, (c, p) in zip(known, told, strict=True)))
    mean = np.zeros(len(people))
    for draw in product((0, 1), repeat=3):
        columns = sorted({c for bit, (own, _) in zip(draw, told, strict=True) for c in own if bit})
        weight = np.prod([p if bit else 1 - p for bit, (_, p) in zip(draw, told, strict=True)])
        mean += weight / (people.class_sizes(columns) if columns else len(people))
    cells = rb.contingency(FRAME, QI)
    for asked in (known, Scenario("half", knows=half)):
        for found in (
            rb.subsets(people, per_person=True, known=asked)["mean_inverse"],
            rb.leak.risks(people, leaked=len(people), known=asked),
            rb.candidates(people, people, known=asked).risk,
            2 * rb.assess("marketer", people, known=asked).risk(),  # tries half the time
        ):
            assert np.asarray(found) == pytest.approx(mean, abs=1e-13)
        assert 2 * rb.assess("marketer", cells, known=asked).risk().mean() == pytest.approx(
            mean.mean(), abs=1e-13
        )
    r = rb.assess("marketer", people, known=known)
    r.check(draws=20_000)
    assert r.explain(3)
    sure = {"sex": 1, "home": (["sex", "state"], 1), "age": 1}
    assert np.array_equal(
        rb.assess("marketer", people, known=sure).risk(), rb.assess("marketer", people).risk()
    )
    plan = rb.recommend(
        people, attack="marketer", known=known, target={"overall": "mean <= 0.12"},
        hierarchies={"age": rb.microdata.Bands(10, 20)}, keep=["sex", "state"],
    )  # fmt: skip
    again = rb.assess("marketer", plan.apply(), known=known).risk().mean()
    assert again <= 0.12 < r.risk().mean()
    with pytest.raises(UsageError, match='groups overlap: "sex" is in more than one of'):
        rb.assess(ROUTES, people, known=known, population=10_000)


def test_groups_that_share_columns_where_missing_cells_match_anything():
    """An assessment's risk is the mean of one over those who fit, counted pair by pair."""
    rng, n = np.random.default_rng(7), 60
    columns = {"age": rng.integers(20, 24, n).astype(object),
               "sex": rng.choice(["f", "m"], n).astype(object),
               "town": rng.choice(list("xyz"), n).astype(object)}  # fmt: skip
    columns["town"][:8], columns["age"][5:15] = None, None
    people = rb.read_table(columns, quasi_identifiers=list(columns), missing="matches-anything")
    known = {"A": (["age", "sex"], 0.3), "B": (["sex", "town"], 0.4)}
    want = 0.7 * 0.6 / n * np.ones(n)
    for chance, names in (
        (0.3 * 0.6, ["age", "sex"]), (0.7 * 0.4, ["sex", "town"]), (0.3 * 0.4, list(columns)),
    ):  # fmt: skip
        fit = np.ones((n, n), bool)
        for value in map(columns.get, names):
            there = np.array([v is not None for v in value])
            fit &= (value[:, None] == value) | ~there | ~there[:, None]
        want += chance / fit.sum(axis=1)
    found = rb.assess("marketer", people, known=known, set={"p_c": 1.0})
    np.testing.assert_allclose(found.risk(), want, rtol=1e-12)
