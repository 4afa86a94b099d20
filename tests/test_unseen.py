"""What a report did not look at follows from model, table and call, and counts nobody."""

import json
import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn
from reidbn.report import Telling, not_looked_at
from tests.test_result import kinds, made, people

OUT, OWN = Telling(), Telling(custodian=True)


@cache
def table(n=150, seed=2, missing=0):
    rng = np.random.default_rng(seed)
    data = {c: rng.integers(0, 4, n).astype(object) for c in ("age", "sex", "state", "illness")}
    data["age"][:missing] = None
    return rb.read_table(
        pd.DataFrame(data), quasi_identifiers=["age", "sex", "state"], sensitive=["illness"],
        missing="drop",
    )  # fmt: skip


def said(result, telling=OUT):
    return "\n".join(not_looked_at(result, telling))


def assessed(attack="adversary-routes", people=None, **asked):
    people = table() if people is None else people
    return rb.assess(attack, people, population=len(people), **asked)


def test_threats_are_those_that_no_event_of_the_model_is_about():
    base = rb.load("adversary-routes")
    text = said(assessed())
    assert "no event of adversary-routes is about: Linking, Non-repudiation" in text
    nodes = base.nodes
    tagged = base.replace(
        nodes=nodes.replace(replace(nodes["marketer"], linddun=("Linking", "Non-repudiation"))),
        excluded={"Detecting": "The register is public."},
    )
    text = said(assessed(tagged))
    assert "Linking, Non" not in text
    assert "is about: Data disclosure, " in text
    assert "Detecting, which the model adversary-routes leaves out: The register is public." in text


def test_columns_people_and_numbers_are_those_left_out():
    text = said(assessed(known=["age", "sex"], unknown=["state"]))
    assert "Columns that the attacker is taken not to know: state." in text
    assert "Secret columns, of which nothing is said here: illness." in text
    assert "not to know" not in said(assessed())
    assert "nobody measured for this release: p_m, p_fm, p_cu, p_c" in text
    measured = rb.load("adversary-routes")
    sourced = measured.parameters.replace(
        *(replace(p, source="a count of 2024") for p in measured.parameters.values())
    )
    assert "nobody measured" not in said(assessed(measured.replace(parameters=sourced)))
    still = measured.parameters.replace(replace(measured.parameters["p_m"], low=0.5, high=0.5,
                                                prior=None))  # fmt: skip
    assert "Other values of p_m: " in said(assessed(measured.replace(parameters=still)))
    assert "no range" not in text


def test_that_people_were_left_out_is_said_of_ten_and_more():
    for gone, heard in ((0, False), (9, False), (10, True), (40, True)):
        result = rb.leak.assess(table(missing=gone), leaked=20)
        assert ("people with missing cells" in said(result).lower()) is heard
        assert ("people with missing cells" in said(result, OWN).lower()) is (gone > 0)


def test_models_of_the_population_and_scenarios_are_the_others():
    text = said(assessed())
    assert "than log-linear: pitman," in text
    assert "log-linear," not in text
    assert "worst-case" not in text.partition("not asked: ")[2].partition("\n")[0]
    other = said(assessed(population_model="pitman", known=["age", "sex", "state"]))
    assert "than pitman: pitman-bayes" in other
    assert "log-linear" in other


@pytest.mark.parametrize("kind", kinds())
def test_every_result_says_it_and_counts_nobody(kind):
    result = made(kind)
    lines = not_looked_at(result, OUT)
    assert lines == not_looked_at(result, OWN)
    assert not any(char.isdigit() for char in "".join(lines))
    assert any("LINDDUN" in line for line in lines)
    assert any(line.startswith("Other questions about these people") for line in lines)
    assert result.kind == "Assessment" or "rb.assess" in lines[-1]


def test_a_sparse_table_is_told_what_can_be_asked_of_it():
    sparse = rb.read_sparse(
        {"who": [f"p{i}" for i in range(12)], "a": ["yes", "no"] * 6, "b": ["no", "yes", None] * 4},
        subject_id="who",
    )  # fmt: skip
    text = said(rb.assess("linkage", sparse))
    assert "rb.linkage" in text
    assert "rb.suda" not in text
    assert "not to know" not in text


def test_one_person_more_changes_nothing():
    both = [rb.leak.assess(people().take(range(n)), leaked=50) for n in (200, 201, 209)]
    assert len({said(one) for one in both}) == 1


def test_a_new_kind_of_result_is_about_no_threat_until_it_says_so():
    class Guess(rb.Result):
        table = None

    assert "threat types: Linking, Identifying," in said(Guess())


REGISTRY = pd.DataFrame(
    {"sex": ["F", "M"] * 100, "state": ["N", "N", "S", "S"] * 50, "illness": ["a", "b"] * 100,
     "mrn": range(9_000, 9_200), "born": pd.date_range("1950-01-01", periods=200, freq="D")}
)  # fmt: skip
ROLES = {"quasi_identifiers": ["sex", "state"], "sensitive": ["illness"]}


def written(ending):
    def source(folder):
        path = folder / f"registry.{ending}"
        save = REGISTRY.to_parquet if ending == "parquet" else REGISTRY.to_csv
        save(path, index=False)
        return path

    return source


def relation(folder):
    import duckdb

    return duckdb.sql(f"SELECT * FROM '{written('parquet')(folder)}'")  # noqa: S608


SOURCES = {
    "frame": lambda _: REGISTRY, "columns": lambda _: REGISTRY.to_dict("list"),
    "csv": written("csv"), "csv.gz": written("csv.gz"), "parquet": written("parquet"),
    "relation": relation,
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_a_green_verdict_is_of_a_table_that_holds_the_columns_looked_at_and_no_other(
    source, tmp_path
):
    """A registry with numbers and dates of birth of everybody passes on two coarse columns."""
    people = rb.read_table(SOURCES[source](tmp_path), **ROLES)
    assert people.others.names == ("mrn", "born")
    result = rb.assess("adversary-routes", people, population=20_000)
    rule = {"threshold": "cell-5", "release": "controlled"}
    assert result.summary(**rule).passes
    lines = not_looked_at(result, OUT)
    assert [said for said in lines if said.startswith("Other columns of the source")] == [
        "Other columns of the source, and whoever knows what stands there of somebody is in no "
        "number here: mrn, born."
    ]
    assert "These of them point at a person: mrn (by its name)." in lines
    only = "a table that holds only sex, state, illness"
    assert f"{only}: nobody looked at mrn, born" in str(result.summary(**rule)).splitlines()[0]
    assert "not looked at: mrn, born." in str(result.summary(**rule)).splitlines()[-1]
    for custodian in (False, True):
        page = result.report(tmp_path / "r.html", custodian=custodian, **rule).read_text()
        assert f"This rule allows a controlled release of {only}." in page
        assert "is in no number here" in page
        told = json.loads(
            result.report(tmp_path / "r.json", custodian=custodian, **rule).read_text()
        )
        assert only in told["verdict"]
        assert "mrn, born" in " ".join(told["not_looked_at"])


def test_what_stands_beside_the_columns_stays_said_whatever_is_done_to_the_table():
    people = rb.read_table(REGISTRY, **ROLES)
    coarser = rb.read_table(REGISTRY, **ROLES, hierarchies={"state": rb.microdata.Prefix(1)})
    assert coarser.generalise({"state": coarser.column("state").hierarchy.levels}).others.names == (
        people.others.names
    )
    assert people.take(range(50)).others.names == people.others.names
    assert people.suppress(k=5).others.names == people.others.names
    assert people.select(["sex"]).others.names == ("state", "illness", "mrn", "born")
    assert pickle.loads(pickle.dumps(people)).others.names == people.others.names  # noqa: S301 - our own
    cells = rb.contingency(REGISTRY, ["sex", "state"])
    assert cells.others.names == ("illness", "mrn", "born")
    assert cells.marginal("sex").others.names == ("state", "illness", "mrn", "born")
    assert rb.contingency(people, "sex").others.names == ("state", "illness", "mrn", "born")
    assert rb.contingency(REGISTRY, ["sex"]).marginal("sex").others.pointing == (
        ("mrn", "by its name"),
    )
    told = said(rb.assess("adversary-routes", cells, population=20_000))
    assert "no number here: illness, mrn, born." in told
    # the numbers, and so their digest, are the same whatever stands beside
    alone = rb.read_table(REGISTRY[["sex", "state", "illness"]], **ROLES)
    assert (alone.fingerprint, alone.content) == (people.fingerprint, people.content)
    assert alone.others.names == ()
    told = rb.assess("adversary-routes", alone, population=20_000)
    assert "ther columns of the source" not in said(told)
    assert "holds only" not in str(told.summary("cell-5", "controlled"))


def test_what_was_read_for_something_else_is_not_said_to_be_seen_by_nobody(tmp_path):
    """Ids and weights are read; that a file that holds them was not judged stays said."""
    frame = REGISTRY.assign(w=1.5)
    people = rb.read_table(frame, **{**ROLES, "subject_id": "mrn"}, weights="w")
    assert people.others.names == ("mrn", "born", "w")
    rule = {"threshold": "cell-5", "release": "controlled"}
    for table in (people, people.suppress(k=2), people.take(range(len(people)))):
        summary = rb.assess("adversary-routes", table, population=20_000).summary(**rule)
        first, *_, last = str(summary).splitlines()
        assert summary.passes
        assert "nobody looked at born; " in first
        for name, why in (("mrn", "to tell persons apart"), ("w", "for the survey weights")):
            assert f"{name} was used {why} alone" in first
            assert f"{name} was used {why} alone" in str(summary).split("not looked at")[1]
        assert "and no verdict is made on a file that has them, too" in first
        assert last.strip() == "w was used for the survey weights alone."
    result = rb.assess("adversary-routes", people, population=20_000)
    assert "no number here: mrn, born, w." in said(result)
    for custodian in (False, True):
        page = result.report(tmp_path / "r.html", custodian=custodian, **rule).read_text()
        assert "a table that holds only sex, state, illness" in page
    alone = rb.read_table(frame.drop(columns="born"), **{**ROLES, "subject_id": "mrn"}, weights="w")
    summary = rb.assess("adversary-routes", alone, population=20_000).summary(**rule)
    assert "looked at:" not in str(summary)
    assert "nobody looked at" not in str(summary)
    assert "holds only sex, state, illness: mrn was used to tell persons apart" in str(summary)
    hidden = frame.rename(columns={"mrn": "1970-01-02"})
    hidden = rb.read_table(hidden, **{**ROLES, "subject_id": "1970-01-02"})
    assert hidden.others.used == (("column 4", "to tell persons apart"),)


def test_counted_people_keep_what_ids_and_weights_were_used_for():
    frame = REGISTRY.assign(w=1.5)
    people = rb.read_table(frame, **{**ROLES, "subject_id": "mrn"}, weights="w")
    cells = rb.contingency(people, ["sex", "state"])
    assert cells.others.used == people.others.used == cells.marginal("sex").others.used
    result = rb.assess("adversary-routes", cells, population=20_000)
    first = str(result.summary("cell-5", "controlled")).splitlines()[0]
    assert "nobody looked at illness, born; mrn was used to tell persons apart alone" in first


def as_source(folder, frame, kind):
    """The frame as one of the sources that a table is read from."""
    duckdb, pa = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    path = folder / f"t.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "arrow":
        return pa.Table.from_pandas(frame)
    elif kind == "polars":
        return pytest.importorskip("polars").from_pandas(frame)
    elif kind == "relation":
        frame.to_parquet(path)
        return duckdb.connect().read_parquet(str(path))
    return path if path.exists() else frame


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "arrow", "polars", "relation"])
def test_columns_beside_are_looked_at_by_what_they_hold(kind, tmp_path):
    """A column of another name whose first rows hold e-mail addresses comes first in a verdict."""
    rows = range(len(REGISTRY))
    frame = REGISTRY.assign(
        contact=[f"p{i}@example.org" for i in rows], height=[i % 9 for i in rows]
    )
    source = as_source(tmp_path, frame, kind)
    people = rb.read_table(source, **ROLES)
    point = (("mrn", "by its name"), ("contact", "its values have the form of e-mail addresses"))
    assert people.others.names == ("mrn", "born", "contact", "height")
    assert (
        people.others.pointing == rb.contingency(source, ["sex", "state"]).others.pointing == point
    )
    result = rb.assess("adversary-routes", people, population=20_000)
    assert "nobody looked at mrn, contact, born" in str(result.summary("cell-5", "controlled"))
    lines = not_looked_at(result, OUT)
    assert (
        "These of them point at a person: mrn (by its name), contact (its values have the form of "
        "e-mail addresses)." in lines
    )
    assert "@" not in " ".join(lines)


def test_features_that_are_not_read_are_said_of_a_sparse_table(tmp_path):
    n = 120
    frame = pd.DataFrame({
        "pid": range(n), "card": [f"{i:03}-12-{i:04}" for i in range(n)], "town": ["a", "b"] * 60,
        "smokes": ["yes", "no", None] * 40, "weight": [50 + i % 7 for i in range(n)],
    })  # fmt: skip
    asked = {"features": {"feature": ["smokes", "weight"]}, "subject_id": "pid"}
    sparse = rb.read_sparse(frame, **asked)
    assert sparse.others.names == ("pid", "card", "town")
    assert sparse.others.used == (("pid", "to tell persons apart"),)
    why = "its values have the form of social security numbers"
    assert ("card", why) in sparse.others.pointing
    for found in (rb.assess("linkage", sparse), rb.linkage(sparse)):
        told = " ".join(not_looked_at(found, OUT))
        assert "no number here: pid, card, town." in told
        assert f"card ({why})" in told
    every = rb.read_sparse(frame[["pid", "smokes", "weight"]], **asked)
    assert every.others.names == ("pid",)
    assert every.fingerprint == sparse.fingerprint


@pytest.mark.parametrize(
    "words",
    [("leak", "--leaked", "20"), ("disclosure", "--sensitive", "illness"), ("subsets",),
     ("population", "--population", "20000"), ("classes",)],
    ids=lambda words: words[0],
)  # fmt: skip
def test_every_command_on_a_table_says_which_columns_it_did_not_look_at(words, tmp_path):
    path = as_source(tmp_path, REGISTRY, "csv")
    command, *more = words
    secret = [] if "--sensitive" in more else ["--sensitive", "illness"]
    asked = [command, str(path), "--qi", "sex,state", "--subject-id", "mrn", *more]
    done = CliRunner().invoke(reidbn, [*asked, *secret])
    assert "Columns that were not looked at: born." in done.output


def test_a_column_that_cannot_be_read_hides_none_of_those_beside_it():
    rows = range(len(REGISTRY))
    odd = {"lists": [[i] for i in rows], "contact": [f"p{i}@example.org" for i in rows]}
    people = rb.read_table(REGISTRY.assign(**odd, more=odd["lists"]), **ROLES)
    assert [name for name, _ in people.others.pointing] == ["mrn", "contact"]


def test_a_file_without_a_header_shows_no_person_as_the_names_of_its_other_columns():
    rows = pd.DataFrame({"F": ["F", "M"] * 20, "Smith": ["x"] * 40, "1970-01-02": ["y"] * 40})
    with pytest.warns(rb.errors.ReidbnWarning, match="names of columns stand among the values"):
        people = rb.read_table(rows, quasi_identifiers=["F"])
    assert people.others.names == ("column 2", "column 3")


def test_what_is_taken_as_known_to_nobody_stands_on_the_first_screen(tmp_path):
    """A column that the call says is unknown makes the risk small: not only section 5 says so."""
    people = rb.read_table(
        {"age": [str(i % 40) for i in range(200)], "sex": ["m", "f"] * 100},
        quasi_identifiers=["age", "sex"],
    )
    known = {"known": {"sex": 0.5}, "population": 2_000}
    said = rb.assess("adversary-routes", people, unknown=["age"], **known)
    text = said.report(tmp_path / "r.md").read_text()
    assert "It takes as known to nobody: age." in text.partition("## 1.")[0]
    every = rb.assess("adversary-routes", people, **(known | {"known": {"sex": 0.5, "age": 0.1}}))
    assert "known to nobody" not in every.report(tmp_path / "s.md").read_text()


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_a_column_that_was_let_in_and_left_out_later_points_at_a_person_by_its_values(
    kind, tmp_path
):
    """Whatever made it a direct identifier is said where nobody looks at it any more."""
    rows = range(len(REGISTRY))
    frame = REGISTRY.drop(columns=["mrn", "born"]).assign(contact=[f"p{i}@x.org" for i in rows])
    names = ["sex", "state", "contact"]
    source = as_source(tmp_path, frame, kind)
    people = rb.read_table(source, quasi_identifiers=names, allow_direct=True)
    cells = rb.contingency(source, names)
    few = [people.select(names[:2]), rb.contingency(people, names[:2]), cells.marginal(names[:2]),
           rb.read_sparse(source, allow_direct=True).select(names[:2])]  # fmt: skip
    for one in few:
        assert "contact" in one.others.names
        assert dict(one.others.pointing) == {
            "contact": "its values have the form of e-mail addresses"
        }
    assert people.others.pointing == cells.others.pointing == ()
    told = rb.assess("adversary-routes", few[0], population=20_000).summary("cell-5", "controlled")
    assert "nobody looked at contact" in str(told).splitlines()[0]


def test_texts_of_many_records_each_do_not_point_at_a_person():
    """Cells tell of records: a text in each second cell is of ten people."""
    frame = pd.DataFrame({"state": ["a", "b"] * 1500, "ward": [f"w{i // 10}" for i in range(3000)]})
    cells = rb.contingency(frame, ["state", "ward"])
    assert rb.contingency(frame.iloc[::10], ["state", "ward"]).marginal("state").others.pointing
    assert cells.marginal("state").others.pointing == ()


@pytest.mark.parametrize("more", [[], ["born"]], ids=["of these columns alone", "with others"])
def test_a_green_verdict_is_not_of_a_column_that_a_look_up_alone_read(tmp_path, more):
    """Coarse by sex, and everybody alone with the state by which this attacker's list is read."""
    rng = np.random.default_rng(3)
    states = rng.choice(["WA", "OR", "NC", "FL", "GA", "OH"], 300)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], 300), "state": states})
    frame = frame.assign(**dict.fromkeys(more, np.arange(300) % 71))
    people = rb.read_table(frame, quasi_identifiers=["sex"], sensitive=["state"])
    result = rb.assess(
        "adversary-routes", people, scenario="voter-registration", population=6_900_000
    )
    rule = {"threshold": "ema", "release": "public"}
    summary = result.summary(**rule)
    assert summary.passes
    assert "This holds for a table that holds only sex: " in str(summary)
    assert "state was used for look-ups alone" in str(summary)
    for custodian in (False, True):
        page = result.report(tmp_path / "r.html", custodian=custodian, **rule).read_text()
        assert "This rule allows a public release of a table that holds only sex." in page
        assert "read for look-ups alone, and nothing here is of a file that has them" in page
        own = result.page(tmp_path / "p.html", custodian=True).read_text()
        assert "state was read for look-ups alone" in own
    seen = rb.read_table(frame, quasi_identifiers=["sex", "state"])
    whole = rb.assess("adversary-routes", seen, scenario="voter-registration", population=6_900_000)
    assert "look-ups" not in str(whole.summary(**rule))


@pytest.mark.parametrize("scenario", ["who-is-attacking", "motivated-intruder", "social-media"])
def test_a_green_verdict_is_not_of_a_column_that_this_attacker_knows_and_no_rule_counts(
    scenario, tmp_path
):
    """Read as a secret, the state is in no class: with it most people are alike with few."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({
        "age": rng.choice([30, 50, 70], 600), "sex": rng.choice(["F", "M"], 600),
        "race": rng.choice(["white", "black"], 600), "state": rng.choice(["OH", "CA", "NY"], 600),
        "illness": rng.choice(["x", "y"], 600),
    })  # fmt: skip
    read = {"quasi_identifiers": ["age", "sex", "race"], "sensitive": ["state", "illness"]}
    people = rb.read_table(frame, **read)
    result = rb.assess("adversary-routes", people, scenario=scenario, population=100_000)
    if "state" not in {c for k in result.groups.missed for c in k.columns}:
        pytest.skip(f"{scenario} says nothing of a state")
    rule = {"threshold": "ema", "release": "public"}
    summary = result.summary(**rule)
    assert summary.passes
    said = "holds only age, sex, race, illness: state was used as a secret alone"
    assert said in str(summary)
    for custodian in (False, True):
        page = result.report(tmp_path / "r.html", custodian=custodian, **rule).read_text()
        assert "a public release of a table that holds only age, sex, race, illness." in page
        assert "read as a secret alone, and nothing here is of a file that has them" in page


def test_what_a_plan_keeps_is_said_of_the_columns_that_it_looked_at(tmp_path):
    people = rb.read_table(REGISTRY, **ROLES)
    for target, only in (("k=5", "sex, state"), ({"illness": "best guess <= 99%"},
                                                 "sex, state, illness")):  # fmt: skip
        plan = rb.recommend(people, target=target)
        for custodian in (False, True):
            text = plan.report(tmp_path / "p.md", custodian=custodian).read_text()
            assert f"This is said of a file that holds only {only}: " in text
    alone = rb.read_table(REGISTRY[["sex", "state"]], quasi_identifiers=["sex", "state"])
    assert (
        "holds only" not in rb.recommend(alone, target="k=5").report(tmp_path / "p.md").read_text()
    )


def test_a_secret_that_this_attacker_knows_in_bands_is_in_no_verdict():
    """social-media knows the decade of an age."""
    rng = np.random.default_rng(3)
    frame = {"sex": rng.choice(["F", "M"], 600), "state": rng.choice(["OH", "CA"], 600),
             "age": rng.integers(0, 90, 600)}  # fmt: skip
    people = rb.read_table(frame, quasi_identifiers=["sex", "state"], sensitive=["age"])
    result = rb.assess("adversary-routes", people, scenario="social-media", population=100_000)
    said = "holds only sex, state: age was used as a secret alone"
    assert said in str(result.summary("ema", "public"))
    without = rb.what_if(result, without=["age_decade"])
    assert said in str(without.summary("ema", "public"))  # the file has it all the same


def test_a_secret_that_is_called_as_what_the_scenario_knows_is_in_no_verdict(tmp_path):
    """A year of birth is what voter-registration calls so, though it looks for an age."""
    rng = np.random.default_rng(4)
    frame = {"sex": rng.choice(["F", "M"], 600), "race": rng.choice(["white", "black"], 600),
             "birth_year": rng.integers(1930, 2000, 600), "age": rng.integers(0, 90, 600),
             "state": rng.choice(["OH", "CA"], 600)}  # fmt: skip
    read = {"quasi_identifiers": ["sex", "race"]}
    people = rb.read_table(frame, **read, sensitive=["birth_year", "state"])
    result = rb.assess("adversary-routes", people, scenario="voter-registration", population=9_000)
    told = str(result.summary("k-10", "public"))
    assert "holds only sex, race: nobody looked at age; " in told
    assert "birth_year was used as a secret alone" in told
    content = json.loads(result.report(tmp_path / "r.json", threshold="k-10").read_text())
    assert "a table that holds only sex, race" in json.dumps(content)
    people = rb.read_table(frame, **read, sensitive=["age", "state"])
    told = rb.assess("jigsaw", people, columns={"town": "state"}, unknown=["race"],
                     without=["age", "town"])  # fmt: skip
    said = "age was used as a secret alone; state was used as a secret alone"
    assert said in str(told.summary("ema", "public"))  # a model that tells itself what is learnt


def known_secret():
    """Ages in thirties, and an income that who-is-attacking knows."""
    rng = np.random.default_rng(0)
    frame = {"sex": rng.choice(["F", "M"], 600), "age": rng.integers(0, 90, 600),
             "income": rng.integers(10_000, 90_000, 600)}  # fmt: skip
    return rb.read_table(frame, quasi_identifiers=["sex", "age"], sensitive=["income"],
                         hierarchies={"age": "bands:30,90"})  # fmt: skip


def test_a_plan_promises_nothing_of_a_secret_that_its_own_attacker_knows(tmp_path):
    """A limit on the secret says nothing of whoever knows it."""
    people = known_secret()
    of_income = "income: best guess <= 60%"
    against = {"scenario": "who-is-attacking", "population": 20_000}
    targets = ["k=5", {"overall": "highest <= 0.5"}, of_income]
    plan = rb.recommend(people, "adversary-routes", target=targets, **against)
    assert plan.known_beside == tuple(plan.to_dict()["known_beside"]) == ("income",)
    assert "It is not kept with income beside, known to an attacker." in plan.explain()
    for custodian in (False, True):
        text = plan.report(tmp_path / "p.md", custodian=custodian).read_text()
        assert "This is said of a file that holds only sex, age: " in text
        said = "known to an attacker, and in a target as what is guessed alone, and written as they"
        assert said in text
        assert "in no target" not in text
        assert "taken as known to nobody" not in text
    plan = rb.recommend(people, "adversary-routes", target=targets[:2], **against)
    text = plan.report(tmp_path / "p.md").read_text()
    assert "known to an attacker, and in no target, and written as they are" in text
    assert "what is guessed alone" not in text
    plan = rb.recommend(people, target=["k=5", of_income])
    assert plan.known_beside == ()
    assert "known to an attacker" not in plan.explain()


def test_the_shell_says_of_a_limited_secret_that_it_is_in_a_target(shell, tmp_path):
    frame = {"sex": ["F", "M"] * 30, "income": [1, 1, 2, 2] * 15}
    pd.DataFrame(frame).to_csv(tmp_path / "t.csv", index=False)
    args = ["recommend", tmp_path / "t.csv", "--qi", "sex", "--sensitive", "income", "--scenario",
            "who-is-attacking", "--population", "900", "--attack", "adversary-routes", "--target",
            "k=5"]  # fmt: skip
    code, said = shell(*args)
    assert code == 0, said
    assert "known to an attacker, and in no target, and written as they are" in said
    code, said = shell(*args, "--target", "income: best guess <= 60%")
    assert code == 0, said
    assert "in no target" not in said
    assert "known to an attacker, and in a target as what is guessed alone" in said


def test_what_options_pass_is_said_of_the_columns_that_their_attacker_is_counted_on(tmp_path):
    base = rb.assess("adversary-routes", known_secret(), scenario="worst-case", population=20_000)
    coarse = rb.what_if(base, generalise={"age": 2}, scenario="who-is-attacking")
    table = rb.risk_utility({"now": base, "coarse": coarse}, threshold="ema").table
    assert table["holds_for"].tolist() == ["the whole table", "a table that holds only sex, age"]
    rule = {"threshold": "ema", "release": "public", "options": {"coarse": coarse}}
    for custodian in (False, True):
        text = base.report(tmp_path / "r.md", custodian=custodian, **rule).read_text()
        said = "The verdict on coarse is of a table that holds only sex, age: income was used as a"
        assert said in text
    own = rb.assess("adversary-routes", known_secret(), scenario="who-is-attacking",
                    population=20_000)  # fmt: skip
    text = own.report(tmp_path / "r.md", custodian=True, threshold="ema",
                      release="public").read_text()  # fmt: skip
    said = "One change of a table that holds only sex, age that is enough for this rule: the table"
    assert said in text
