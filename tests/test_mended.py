"""Faults that were found by using the product: each stays gone."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from inside import inside

import reidbn as rb
from reidbn.attacks import drivers
from reidbn.report import Telling, rule
from reidbn.written import read_number, tiny

pytestmark = pytest.mark.wide  # tried in CI


@pytest.fixture
def ages(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 80), "sex": rng.choice(["f", "m"], 80)})
    path = tmp_path / "ages.csv"
    frame.to_csv(path, index=False)
    return path


def ages_in_bands(path, level):
    people = rb.read_table(
        path, quasi_identifiers=["age", "sex"], hierarchies={"age": rb.Bands(5, 10, 20)}
    )
    return people.generalise({"age": level}) if level else people


# -- another release ---------------------------------------------------------------------------


def test_an_option_finer_than_the_release_starts_from_the_table_as_read(ages, tmp_path, shell):
    page = tmp_path / "m.html"
    code, said = shell(
        "assess", ages, "--qi", "age,sex", "--hierarchy", "age=bands:5,10,20", "--level", "age=2",
        "--option", "finer:age=1", "--html", page, "--quiet", "--rows", 1000,
        "--population", 5000,
    )  # fmt: skip
    assert code == 0, said
    assert "finer" in page.read_text()


def test_what_if_says_the_level_of_a_column_in_the_release_not_steps_up_from_now(ages):
    for start in (1, 2):
        coarse = rb.assess("adversary-routes", ages_in_bands(ages, start), population=5000)
        for level in (0, 1, 2, 3):
            found = rb.what_if(coarse, generalise={"age": level})
            alone = rb.assess("adversary-routes", ages_in_bands(ages, level), population=5000)
            np.testing.assert_allclose(found.risk(), alone.risk(), atol=1e-12)
            told = [n for n in found.table.notes if n.startswith("age at level")]
            assert told[-1] == f"age at level {level}"


def test_going_back_to_a_finer_level_keeps_who_was_suppressed_and_for_whom_they_stood(ages):
    coarse = ages_in_bands(ages, 2)
    left = coarse.suppress(8)
    assert len(left) < len(coarse)
    fine = rb.what_if(
        rb.assess("adversary-routes", left, population=5000), generalise={"age": 0}
    ).table
    assert len(fine) == len(left)
    assert fine.share_kept == left.share_kept
    assert any("suppressed" in note for note in fine.notes)
    assert set(fine.labels("age").tolist()) <= set(range(20, 60))


def test_what_a_release_lost_is_told_of_the_table_as_read_though_another_stands_first(ages):
    coarse = rb.assess("adversary-routes", ages_in_bands(ages, 2), population=5000)
    fine = rb.what_if(coarse, generalise={"age": 0})
    lost = rb.risk_utility({"now": coarse, "fine": fine}).table["information_lost"]
    assert lost["fine"] == 0
    assert lost["now"] > 0.2


def test_an_option_that_cannot_be_is_refused_before_the_work(ages, tmp_path, shell):
    for option, word in (("a:agee=1", "agee"), ("a:age=9", "levels 0 to"), ("a:sex=1", "hierarch")):
        code, said = shell(
            "assess", ages, "--qi", "age,sex", "--hierarchy", "age=bands:5,10", "--option", option,
            "--html", tmp_path / "m.html", "--quiet",
        )  # fmt: skip
        assert code == 2
        assert word in said
        assert "passes" not in said, "nothing was assessed"
    code, said = shell("assess", ages, "--qi", "age,sex", "--option", "a:age=1", "--quiet")
    assert code == 2
    assert "--html" in said


# -- the population --------------------------------------------------------------------------------


def patients(n=400, seed=2):
    frame = rb.datasets.synthetic_patients(n, seed=seed)
    return rb.read_table(frame, quasi_identifiers=["age", "sex", "state", "race"])


def test_where_no_model_was_compared_the_recommendation_is_the_cautious_one_of_an_assessment():
    people = patients()
    table = rb.population.compare(people, population=400_000)
    said = table.set_index("model")["p_unique"]
    best = table.loc[table["recommended"], "model"].item()
    assert said[best] == max(said["log-linear"], said["pitman-bayes"])
    words = table.attrs["recommendation"]
    assert "cases on real tables" not in words
    assert "real populations from 0.005 on" in words
    assessed = rb.assess("adversary-routes", people, population=400_000).population
    assert assessed.p_unique[-1] >= said[best] * (1 - 1e-6)
    near = rb.population.compare(people, population=400 * 199)
    assert "cases on real tables" in near.attrs["recommendation"]


def test_no_share_of_real_tables_is_cited_where_none_was_sampled_so_thinly():
    table = rb.population.compare(patients(), ["age", "sex"], population=4_000_000)
    told = table.set_index("model")["remarks"].drop(["zayatz", "dankar"])  # these name the fraction
    assert not told.str.contains("real tables").any()


def test_knowing_nothing_nobody_is_unique_among_many_however_small_the_table():
    frame = pd.DataFrame({"age": [41], "sex": ["f"]})
    for weights in (None, [1000.0]):
        named = {} if weights is None else {"weights": "w"}
        people = rb.read_table(
            frame.assign(w=weights) if weights else frame, quasi_identifiers=["age", "sex"], **named
        )
        half = {"age": 0.5, "sex": 0.5}
        found = rb.assess("adversary-routes", people, known=half, population=1000)
        assert found.population.p_unique[0] == 0
        assert found.population.match(np.arange(1))[0, 0] == pytest.approx(1 / 1000)
        alone = rb.assess("adversary-routes", people, known=half, population=1)
        assert alone.population.p_unique[0] == 1


# -- words of a report -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def worst():
    return quickly(rb.assess("adversary-routes", patients(60), population=6_000))


def quickly(result):
    result.keep_crosscheck(draws=2_000)
    return result


def test_a_value_beyond_its_range_is_said_where_its_bar_and_its_draws_stand(worst, tmp_path):
    attack = worst.inputs.attack
    narrow = replace(attack.parameters["p_c"], low=0.2, high=0.6)
    attack = attack.replace(parameters=attack.parameters.replace(narrow))
    named = {"people": worst.table, "population": 6_000, "set": {"p_c": 0.9}}
    found = quickly(rb.assess(attack, **named, beyond_range=True))
    told = "p_c is 0.9, outside of 0.2 to 0.6"
    assert told in str(rb.tornado(found))
    assert "held at its value, as set: p_c" in str(rb.uncertainty(found, draws=100))
    assert told in str(rb.uncertainty(found, over=["p_c", "p_m"], draws=100))
    page = found.report(tmp_path / "r.md").read_text()
    assert "0.2 to 0.6 (set to 0.9, outside of it)" in page, "at the bar"
    assert "What the parameters leave open (as set: p_c)" in page, "at the draws"
    assert "outside of" not in str(rb.tornado(worst))


def test_odds_are_said_to_be_assumed_only_of_a_risk_that_holds_some(worst):
    def notes(result, measure):
        return " ".join(result.summary({measure: 0.7}).notes_on_the_rule(Telling()))

    assert "assum" not in notes(worst, "journalist")
    assert "The overall risk stands on 4 assumptions (p_m, " in notes(worst, "overall")
    known = rb.what_if(worst, known={"age": 0.5, "sex": 1, "state": 1, "race": 1})
    for measure in ("journalist", "journalist_match"):
        told = f"The {measure.replace('_', ' ')} risk stands on 2 assumptions"
        assert told in notes(known, measure)


OWN = """\
schema_version: 1
kind: scenario
name: worst-case
knows:
  attributes:
    age: {chance: 0.5, source: assumption}
    sex: {chance: 0.9, source: assumption}
"""


def test_a_scenario_of_the_users_own_is_not_taken_for_the_shipped_one_of_its_name(worst, tmp_path):
    (tmp_path / "own.yaml").write_text(OWN)
    own = rb.what_if(worst, scenario=str(tmp_path / "own.yaml"), unknown=["state", "race"])
    page = quickly(own).report(tmp_path / "r.md", custodian=True).read_text()
    assert "Worst case against scenario" in page
    assert "own scenario file" in page
    assert repr(own).startswith(
        "<Assessment adversary-routes under worst-case (own scenario file, not the shipped one)"
    )
    assert "own scenario file" in own.question
    told = rb.compare(worst, own)
    assert str(told).startswith("worst-case (own scenario file, not the shipped one) against worst")
    assert told.to_dict()["after"] != told.to_dict()["before"] == "worst-case"
    (tmp_path / "other.yaml").write_text(OWN.replace("0.5", "0.4"))
    other = rb.what_if(own, scenario=str(tmp_path / "other.yaml"), unknown=["state", "race"])
    marks = [r.inputs.scenario.fingerprint[:8] for r in (other, own)]
    told = str(rb.compare(own, other))
    assert told.startswith(f"worst-case ({marks[0]}) against worst-case ({marks[1]}),")
    shipped = worst.report(tmp_path / "w.md", custodian=True).read_text()
    assert "Worst case against scenario" not in shipped
    assert "own scenario file" not in shipped
    voter = rb.what_if(worst, scenario="voter-registration", together=False)
    assert "own scenario file" not in voter.summary().told_risk(Telling())


# -- what drives the risk --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "known",
    [
        None,
        "register",
        "by person",
        "voter-registration",
        {"age": 0.5, "home": (["state", "race"], 0.2), "sex": 1},
    ],
)
def test_what_each_attribute_adds_is_read_off_one_pass_over_the_subsets(known, monkeypatch):
    if known == "register":
        shown = {f"shows {name}": [0.8] for name in ("age", "sex", "state", "race")}
        known = rb.register({"listed": [0.9], **shown}, source="visited")
    if known == "by person":
        own = np.random.default_rng(4).random((3, 300))
        known = {"age": own[0], "home": (["state", "race"], own[1]), "sex": own[2] > 0.5}
    result = rb.assess("adversary-routes", patients(300), known=known, population=40_000)
    for measure in ("overall", "journalist", "prosecutor"):
        with monkeypatch.context() as at_once:
            at_once.setattr(inside(drivers), "worth", refuse)
            quick = drivers(result, measure)
        with monkeypatch.context() as by_sets:
            by_sets.setattr(inside(drivers), "shapley_values", lambda *_: None)
            slow = drivers(result, measure)
        assert quick.labels == slow.labels
        np.testing.assert_allclose(quick.by_subject, slow.by_subject, atol=1e-12)
        assert quick.nothing == pytest.approx(slow.nothing, abs=1e-12)


def refuse(*_):
    raise AssertionError("the engine was asked about one set of groups after the other")


# -- blank cells of a register ---------------------------------------------------------------------

REGISTER = "# visited\nplz,age from,listed,shows age,shows plz\n8001,0,0.5,1,1\n8001,40,0.9,1,1\n"


@pytest.fixture
def register(tmp_path):
    def write(more=""):
        (tmp_path / "register.csv").write_text(REGISTER + more)
        return f"register:{tmp_path / 'register.csv'}"

    return write


@pytest.fixture
def blanks(tmp_path):
    path = tmp_path / "blanks.csv"
    path.write_text("plz,age\n8001,30\n8001,50\n,30\n8001,\n,\n")
    return path


def test_a_blank_cell_under_a_register_is_called_blank_with_the_remedies_that_work(
    blanks, register, shell
):
    asked = ("assess", blanks, "--qi", "plz,age", "--population", 500, "--quiet", "--rows", 1000)
    code, said = shell(*asked, "--scenario", register())
    assert code != 0
    assert "3 people have a blank plz or age" in said
    assert "row whose plz or age from is blank" in said
    assert "--missing drop" in said
    assert shell(*asked, "--scenario", register(), "--missing", "drop")[0] == 0
    rows = ",0,0.2,1,1\n,40,0.2,1,1\n8001,,0.3,1,1\n,,0.1,1,1\n"
    assert shell(*asked, "--scenario", register(rows))[0] == 0


def test_a_register_row_with_a_blank_key_matches_a_blank_cell_and_nobody_else(blanks, register):
    people = rb.read_table(blanks, quasi_identifiers=["plz", "age"])
    whole = register(",0,0.2,1,1\n,40,0.2,1,1\n8001,,0.3,1,1\n,,0.1,1,1\n")
    listed = rb.knowledge(people, whole).listed
    np.testing.assert_allclose(listed, [0.5, 0.9, 0.2, 0.3, 0.1])


# -- chances in the table of subsets ---------------------------------------------------------------


def test_chances_that_were_said_stand_in_the_table_of_subsets_and_in_a_note(ages, shell):
    people = rb.read_table(ages, quasi_identifiers=["age", "sex"])
    found = rb.subsets(people, known={"age": 0.9, "sex": 0.1}).set_index("subset")["chance"]
    assert found.to_dict() == pytest.approx({("age",): 0.81, ("sex",): 0.01, ("age", "sex"): 0.09})
    what = rb.knowledge(people, {"age": 0.9, "sex": 0.1})
    np.testing.assert_allclose(what.chances(np.arange(4)), what.subset_probabilities())
    assert "chance" not in rb.subsets(people)
    code, said = shell("subsets", ages, "--qi", "age,sex", "--known", "age:0.9,sex:0.1")
    assert code == 0
    assert "0.81" in said
    assert "Note: chance is how likely just this subset is known" in said


def test_quasi_identifiers_that_no_subset_holds_are_named_in_a_note(ages, shell):
    for known in ("sex", "sex:0.5"):
        code, said = shell("subsets", ages, "--qi", "age,sex", "--known", known)
        assert code == 0
        assert "Note: no subset holds age" in said
    each = {"age": [0.5] * 79 + [0.6], "sex": 0.5}
    people = rb.read_table(ages, quasi_identifiers=["age", "sex"])
    found = rb.subsets(people, known=each)
    told = dict(zip(found["subset"], found["chance"], strict=True))
    assert told["age",] == pytest.approx((79 * 0.5 + 0.6) / 80 / 2)  # the mean over people


def test_survey_weights_of_a_disclosure_say_what_they_weigh(ages, shell):
    frame = pd.read_csv(ages).assign(w=np.arange(80) + 1)
    frame.to_csv(ages, index=False)
    asked = ("disclosure", ages, "--qi", "age", "--sensitive", "sex")
    assert "survey weights: the shares" in shell(*asked, "--weights", "w")[1]
    assert "survey weights" not in shell(*asked)[1]


# -- limits and numbers as people write them -------------------------------------------------------


def test_a_precedent_that_publishes_a_number_is_that_number_as_a_limit_on_a_risk(shell):
    leak = ("leak", "--records", 11_000, "--class-size", 11)
    close = (*leak, "--leaked", 3_960)
    risk = rb.leak.risk(records=11_000, leaked=3_960, class_size=11)
    assert 0.09 < risk < 1 / 11
    code, said = shell(*close, "--fail-above", "EMA")
    assert code == 1
    assert "limit: ema stands for 0.09, which it publishes" in said
    code, said = shell(*close, "--fail-above", "cell-11")
    assert code == 0
    assert "limit: cell-11 stands for 1/11: it asks for 11 alike" in said
    assert "classes of 12 or more" in shell(*leak, "--leaked", 11_000, "--smallest-k", "ema")[1]


def test_numbers_are_read_as_the_swiss_write_them_and_releases_in_any_case(shell):
    assert read_number("300'000", "population") == 300_000
    assert read_number("1\u2019300\u2019000.5", "population") == 1_300_000.5
    for wrong in ("30'00", "'300", "300'", "1'300,000"):
        with pytest.raises(rb.UsageError):
            read_number(wrong, "population")
    assert rule(release="Public").release == "public"
    asked = ("assess", "synthetic:20", "--qi", "sex", "--population", "20'000", "--rows", 1000)
    assert "public release" in shell(*asked, "--release", "Public")[1]


def test_a_leak_may_be_a_share_of_the_records(shell):
    asked = ("leak", "--records", 1_000, "--class-size", 10, "--leaked")
    assert shell(*asked, "10%") == shell(*asked, "100")
    assert shell(*asked, "10%:50%,20%:0.5") == shell(*asked, "100:0.5,200:0.5")
    code, said = shell(*asked, "0.25%")
    assert code == 2
    assert "write 2" in said


def test_one_state_with_a_likelihood_is_told_that_every_state_needs_one(shell):
    code, said = shell("ask", "breakfast", "identified=yes", "--given", "overheard=yes:0.8")
    assert code == 2
    assert "every state needs its likelihood" in said


def test_weights_of_a_profile_in_a_list_are_told_what_mapping_to_write(tmp_path):
    text = (
        "schema_version: 1\nkind: scenario\nname: who\nknows:\n"
        "  profile: {node: who, weights: [0.3, 0.7], source: assumption}\n"
        "  attributes:\n    age: {by_profile: {a: 0.5, b: 0.7}, source: assumption}\n"
    )
    (tmp_path / "who.yaml").write_text(text)
    with pytest.raises(rb.ModelError, match=r"a mapping \(.*\{insider: 0.3, stranger: 0.7\}"):
        rb.assess("marketer", patients(20), scenario=str(tmp_path / "who.yaml"))


def test_an_end_of_an_interval_that_is_all_rounding_is_not_written_out():
    assert tiny(1.903e-247) == "below 1e-12"
    a, b = np.repeat(np.arange(4), 250), np.tile(np.arange(2), 500)
    a[:2] = 50, 51
    people = rb.read_table(pd.DataFrame({"a": a, "b": b}), quasi_identifiers=["a", "b"])
    result = quickly(rb.assess("adversary-routes", people, population=10**6))
    found = result.population_uncertainty()
    assert 0 < found.of_people(found.low, "journalist").mean() < 1e-12
    assert "(below 1e-12 to " in str(found)
    assert "interval of the mean below 1e-12 to" in str(result.summary())


# -- tables ----------------------------------------------------------------------------------------


def test_times_to_the_nanosecond_fall_into_the_same_classes_wherever_they_are_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    noon = 12 * 3600 * 10**9
    times = pa.array([1, 2, 1, None, 5 * 10**8, noon], type=pa.time64("ns"))
    table = pa.table({"t": times, "sex": list("fmfmfm")})
    parquet.write_table(table, tmp_path / "t.parquet")
    wanted = ["00:00:00.000000001", "00:00:00.000000002", "00:00:00.5", "12:00:00", None]
    for source in (tmp_path / "t.parquet", table):
        people = rb.read_table(source, quasi_identifiers=["t"])
        cells, n = rb.contingency(source, ["t"])
        assert people.labels("t").tolist() == wanted
        assert cells["t"].tolist() == wanted
        assert n.tolist() == [2, 1, 1, 1, 1]
        assert people.class_sizes().tolist() == [2, 1, 2, 1, 1, 1]


def test_columns_of_parquet_that_differ_by_capitals_are_read_apart_or_named_as_what_is_wrong(
    tmp_path,
):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "two.parquet"
    nested = pa.array([{"age": 1}, {"age": 2}, {"age": 2}])
    parquet.write_table(pa.table({"home": nested, "age": [1, 2, 1], "Age": [3, 4, 4]}), path)
    people = rb.read_table(path, quasi_identifiers=["Age", "age"])
    assert people.labels("Age").tolist() == [3, 4]
    assert people.class_sizes(["Age"]).tolist() == [1, 2, 2]
    assert people.class_sizes(["age"]).tolist() == [2, 1, 2]
    with pytest.raises(rb.DataError, match="differ by capitals only"):
        rb.contingency(path, ["Age"])
    assert rb.contingency(path, ["Age"], engine="numpy").n.tolist() == [1, 2]


def test_a_frame_with_two_columns_of_one_name_is_refused_by_contingency():
    frame = pd.DataFrame([[1, 2, 3], [1, 3, 3]], columns=["a", "a", "b"])
    with pytest.raises(rb.DataError, match="two columns have the same name"):
        rb.contingency(frame, ["a", "b"])


def test_decimals_longer_than_a_float_are_read_each_number_once():
    texts = ["1.10", "1.1", "1.1000000000000000000000001", "2", "0.00", "-0"]
    frame = pd.DataFrame({"x": [Decimal(text) for text in texts], "y": "a"})
    people = rb.read_table(frame, quasi_identifiers=["x"])
    assert people.class_sizes().tolist() == [2, 2, 1, 1, 2, 2]
    assert rb.contingency(frame, ["x"]).n.tolist() == [2, 2, 1, 1]


# -- disclosure ------------------------------------------------------------------------------------


def test_a_person_asked_about_twice_is_refused_by_disclosure_as_by_assess(ages):
    people = rb.read_table(ages, quasi_identifiers=["age"], sensitive=["sex"])
    with pytest.raises(rb.UsageError, match="names a row twice"):
        rb.disclosure(people, "sex", individuals=[1, 1])
    assert len(rb.disclosure(people, "sex", individuals=[1, 3])) == 2


def test_with_histories_named_values_say_that_ppp_is_the_least_over_all_own_values():
    frame = pd.DataFrame(
        {"id": [1, 1, 2, 3, 4], "age": [30, 30, 30, 40, 40], "d": ["a", "b", "a", "b", "a"]}
    )
    people = rb.read_table(frame, quasi_identifiers=["age"], sensitive=["d"], subject_id="id")
    notes = rb.disclosure(people, "d", sensitive_values=["a"]).notes
    assert any("the least over all of the person's own values of d" in note for note in notes)
    single = rb.read_table(frame.drop(columns="id"), quasi_identifiers=["age"], sensitive=["d"])
    notes = rb.disclosure(single, "d", sensitive_values=["a"]).notes
    assert not any("own values" in note for note in notes)
