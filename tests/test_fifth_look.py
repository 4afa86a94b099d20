"""What a new user met on a fifth look: each a sentence, each once red."""

from __future__ import annotations

import json

import numpy as np
import pytest

import reidbn as rb
from reidbn.errors import DataError, ReidbnWarning
from reidbn.report import Telling, how_told

pytestmark = pytest.mark.wide  # tried in CI

ROWS = {"sex": ["M", "F"] * 60, "age": [str(i % 5) for i in range(120)]}


def table(**more):
    return rb.read_table(ROWS, quasi_identifiers=["sex", "age"], **more)


def assessed(**asked):
    found = rb.assess("adversary-routes", table(), population=6_000, **asked)
    found.keep_crosscheck(draws=2_000)
    return found


def page(result, tmp_path, **asked):
    return result.report(tmp_path / "r.md", **asked).read_text(encoding="utf-8")


# -- the verdict names what was brought about, learnt and set --------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"do": "claims=no"}, "when claims=no is brought about"),
        ({"given": "knows_membership=yes"}, "given that knows_membership=yes"),
        ({"set": {"p_c": 0.1}}, "with p_c set to 0.1"),
    ],
)
def test_a_verdict_names_what_was_brought_about_learnt_or_set(asked, words, tmp_path):
    found = assessed(**asked)
    limit = {"threshold": "overall=0.9"}
    told = found.summary("overall=0.9")
    assert words in told.verdict
    assert str(told).count(words) >= 2
    assert json.loads(json.dumps(told.to_dict()))["posed"] == words
    text = page(found, tmp_path, **limit)
    assert words in text[:700]  # on top, and in the statement
    assert text.count(words) >= 2
    assert "brought" not in found.summary("ema").verdict  # who is alike hangs on nothing of it


def test_a_report_is_written_where_an_end_of_a_range_rules_out_what_is_given(tmp_path):
    found = assessed(given="knows_membership=yes")
    (row,) = (
        line
        for line in page(found, tmp_path, custodian=True).splitlines()
        if line.startswith("| p_m |")
    )
    assert "what is given cannot happen" in row
    assert "each assumption moves is in the custodian's own copy" in page(found, tmp_path)


def test_an_intervention_on_the_event_itself_is_called_a_number_that_was_set():
    found = assessed(do="reidentified=no").summary("overall=0.05")
    assert found.passes
    assert "the very event of the overall risk" in str(found)
    assert not any("very event" in n for n in found.other.rule.notes)
    assert "very event" not in str(assessed(do="claims=no").summary("overall=0.05"))


def test_one_page_has_one_count_of_assumptions(tmp_path):
    found = assessed(do="claims=no")
    told = str(found.summary("overall=0.05"))
    assert "this stands on 3 assumptions of the 4 of the register" in told
    assert "The overall risk stands on 3 assumptions of the 4 of the register" in told
    assert "stands on 4" not in page(found, tmp_path, threshold="overall=0.05")


# -- what was set is part of the question ----------------------------------------------------------


def test_two_results_with_other_settings_do_not_compare_in_silence(tmp_path, shell):
    one, other = assessed(), assessed(set={"p_c": 0.1})
    with pytest.warns(ReidbnWarning, match=r"p_c: 0\.5 -> 0\.1"):
        one.compare(other)
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for result, path in zip((one, other), files, strict=True):
        result.report(path, custodian=True)
    code, said = shell("compare", *files)
    assert code == 0
    assert "p_c: 0.5 -> 0.1" in said


def test_a_number_has_one_source_in_the_whole_report(tmp_path):
    rows = page(assessed(set={"p_c": 0.1}), tmp_path).splitlines()
    told = [r for r in rows if "(p_c) |" in r or r.startswith("| p_c |")]
    assert len(told) == 2
    assert len({r.split(" | ")[-1] for r in told}) == 1


# -- bands of a finer column -----------------------------------------------------------------------

NEIGHBOUR = """\
schema_version: 1
kind: scenario
name: neighbour
title: A neighbour
knows:
  attributes:
    {name}: {{in_bands: {{of: {of}, width: 10}}, chance: 1, source: assumption}}
    sex: {{chance: 1, source: seen}}
"""
AGES = {
    "sex": [("f", "m")[i % 2] for i in range(240)],
    "age": [str(i * 7 % 83) for i in range(240)],
    "group": [("young", "old")[i * 7 % 83 > 44] for i in range(240)],
}


def marketer(tmp_path, table, name, of, **asked):
    """The mean of 1/class under the neighbour, and the notes."""
    path = tmp_path / "own.yaml"
    path.write_text(NEIGHBOUR.format(name=name, of=of), encoding="utf-8")
    people = rb.read_table(table, quasi_identifiers=list(table))
    asked |= {"scenario": str(path), "population": 9_000, "population_model": "pitman"}
    found = rb.assess("adversary-routes", people, **asked)
    return float(found.risk("marketer").mean()), " ".join(found.remarks())


def by_hand(*columns):
    rows = list(zip(*columns, strict=True))
    return sum(1 / rows.count(row) for row in rows) / len(rows)


@pytest.mark.parametrize(
    ("name", "of", "mapped"),
    [("age", "age", {}), ("age", "years", {"years": "age"}), ("age_decade", "age", {})],
)
def test_bands_of_a_column_hold_whatever_the_attribute_is_called(tmp_path, name, of, mapped):
    columns = {"sex": AGES["sex"], "age": AGES["age"]}
    found, notes = marketer(tmp_path, columns, name, of, columns=mapped)
    assert found == pytest.approx(by_hand(AGES["sex"], [int(a) // 10 for a in AGES["age"]]))
    assert "bands of 10 of age" in notes


def test_a_column_that_has_the_attributes_name_and_is_finer_than_its_bands_is_told(tmp_path):
    columns = {"sex": AGES["sex"], "age": AGES["age"]}
    found, notes = marketer(tmp_path, columns, "age", "years")
    assert found == pytest.approx(by_hand(AGES["sex"], AGES["age"]))  # never less than is known
    assert "not in bands of 10" in notes
    decades = [str(int(a) // 10 * 10) for a in AGES["age"]]
    assert "bands" not in marketer(tmp_path, {**columns, "age": decades}, "age", "years")[1]


def test_a_table_with_the_attribute_and_its_finer_column_has_both_known(tmp_path):
    columns = {"sex": AGES["sex"], "age": AGES["group"], "years": AGES["age"]}
    found, notes = marketer(tmp_path, columns, "age", "years")
    bands = [int(a) // 10 for a in AGES["age"]]
    assert found == pytest.approx(by_hand(AGES["sex"], AGES["group"], bands))
    assert "both are known" in notes


# -- the best guess about people who were chosen by their secret -----------------------------------


def wards(tmp_path, rows):
    """A table of wards, two halves of each, and an illness."""
    lines = [f"{w},{s},{dx}" for w, s, dx, count in rows for _ in range(count)]
    path = tmp_path / "wards.csv"
    path.write_text("\n".join(["ward,sex,dx", *lines, ""]), encoding="utf-8")
    return path


def test_the_best_guess_about_people_with_a_named_secret_is_about_them(tmp_path, shell):
    each = [(w, s, dx, n) for w in "ab" for s in "mf" for dx, n in (("flu", 30), ("cancer", 10))]
    path = wards(tmp_path, each)
    people = rb.read_table(path, quasi_identifiers=["ward", "sex"], sensitive=["dx"])
    named = rb.disclosure(people, "dx", sensitive_values=["cancer"])
    assert named.right_about().max() == 0  # everybody's best guess is flu
    assert named.measures["right_about_them"].value == 0
    everybody = rb.disclosure(people, "dx")
    assert everybody.right_about().mean() == pytest.approx(everybody.best_guess.mean())
    code, said = shell("disclosure", path, "--qi", "ward,sex", "--sensitive", "dx",
                       "--sensitive-value", "cancer")  # fmt: skip
    assert code == 0
    assert "is right about them with probability 0 when all" in said
    assert "and 0 when nothing is" in said


def test_a_best_guess_among_equally_common_values_is_drawn(tmp_path):
    path = wards(tmp_path, [("a", "m", "flu", 3), ("a", "m", "cancer", 3), ("a", "f", "flu", 4)])
    people = rb.read_table(path, quasi_identifiers=["ward", "sex"], sensitive=["dx"])
    found = rb.disclosure(people, "dx")
    assert found.right_about().tolist() == [0.5] * 6 + [1.0] * 4
    assert found.right_about(()).tolist() == [1.0] * 3 + [0.0] * 3 + [1.0] * 4


def test_the_commonest_value_is_that_of_the_table_and_not_of_those_asked_about(tmp_path, shell):
    each = [(w, s, dx, n) for w in "ab" for s in "mf" for dx, n in (("flu", 30), ("cancer", 10))]
    path = wards(tmp_path, [*each, ("c", "m", "cancer", 4), ("c", "f", "cancer", 4)])
    words = ("disclosure", path, "--qi", "ward,sex", "--sensitive", "dx")
    assert "commonest value of" not in shell(*words, "--sensitive-value", "cancer")[1]


def test_a_limit_is_not_judged_of_a_sample(tmp_path, shell):
    path = wards(tmp_path, [("a", "m", "flu", 30), ("b", "m", "cancer", 10)])
    words = ("disclosure", path, "--qi", "ward,sex", "--sensitive", "dx", "--individuals", "5")
    code, said = shell(*words, "--fail-above", "50%")
    assert code == 2
    assert "about everybody" in said
    assert shell(*words)[0] == 0


# -- what --fail-above judged ----------------------------------------------------------------------


@pytest.fixture
def alike(tmp_path):
    """A table of two halves by five ages, twelve alike in each."""
    path = tmp_path / "t.csv"
    rows = [f"{'MF'[i % 2]},{i % 5}" for i in range(120)]
    path.write_text("\n".join(["sex,age", *rows, ""]), encoding="utf-8")
    return path


def test_fail_above_says_what_it_judged_and_who_exceeds_it(alike, shell):
    words = ("assess", alike, "--qi", "sex,age", "--population", "6000", "--check-draws", "2000")
    code, said = shell(*words, "-q", "--fail-above", "0.01")
    assert code == 1
    assert "--fail-above 0.01: 120 of 120 people (100 %) have an overall risk above it" in said
    code, said = shell(*words, "--fail-above", "0.01", "--json")
    told = json.loads(said[said.index("{") :])["fail_above"]
    assert (code, told["limit"], told["people_above"], told["exceeded"]) == (1, 0.01, 120, True)
    code, said = shell(*words, "-q", "--fail-above", "0.9")
    assert code == 0
    assert "nobody has an overall risk above it" in said


def test_a_leaks_limit_is_put_to_the_risk_with_what_is_known(alike, shell):
    words = ("leak", alike, "--qi", "sex,age", "--leaked", "60", "-q", "--known", "sex=0.5,age=0.5")
    whole = rb.leak.risk(records=120, leaked=60, class_size=12)
    code, said = shell(*words, "--fail-above", str(round(whole * 0.9, 6)))
    assert code == 0, "with everything known it is above, and that is not what was asked"
    assert "the highest risk with what is known is" in said
    assert shell(*words, "--fail-above", "0.001")[0] == 1
    assert shell(*words[:-2], "--fail-above", str(round(whole * 0.9, 6)))[0] == 1


# -- result files ----------------------------------------------------------------------------------


@pytest.fixture
def result_file(tmp_path):
    return table_file(tmp_path, "k.json")


def table_file(tmp_path, name, **more):
    rb.suda(table(**more)).report(tmp_path / name, custodian=True)
    return tmp_path / name


def test_options_that_two_result_files_would_drop_are_refused(result_file, shell):
    for words in (("--statistic", "q95"), ("--set", "p_c=0.3"), ("--given", "a=b")):
        code, said = shell("compare", result_file, result_file, *words)
        assert code == 2
        assert f"leave {words[0]} out" in said
    assert shell("compare", result_file, result_file)[0] == 0


def test_a_result_file_beside_something_else_is_told_so(result_file, alike, shell):
    for words in ((result_file, alike), (alike, result_file)):
        code, said = shell("compare", *words)
        assert code == 2
        assert "is no JSON; write them with --json-report" in said
    assert "name a second one" in shell("compare", result_file)[1]


def test_a_hierarchy_that_is_declared_and_not_used_makes_no_other_table():
    declared = table(hierarchies={"age": rb.Bands(2, 10)})
    assert declared.fingerprint == table().fingerprint
    assert declared.generalise({"age": 1}).fingerprint != table().fingerprint
    mixed = {"age": ["31", "30-39", "44"]}
    plain = rb.read_table(mixed, quasi_identifiers=["age"])
    ranged = rb.read_table(mixed, quasi_identifiers=["age"], hierarchies={"age": rb.Bands(10)})
    assert plain.fingerprint != ranged.fingerprint  # there values match others


# -- what is left out is told ----------------------------------------------------------------------


def test_a_question_for_a_number_is_told_to_be_left_out():
    attack = rb.load("adversary-routes")
    more = rb.attack.Question("how_many", expect="marketer")
    attack = attack.replace(questions=attack.questions.replace(more))
    found = rb.assess(attack, table(), population=6_000)
    assert any("question how_many is left out" in note for note in found.remarks())


def test_a_report_of_a_suppressed_table_says_who_left_and_claims_no_loss_of_nothing(tmp_path):
    ages = [str(i) for i in range(60)] + ["70"] * 140
    people = rb.read_table({"age": ages}, quasi_identifiers=["age"])
    found = rb.assess("adversary-routes", people.suppress(5), population=6_000)
    found.keep_crosscheck(draws=2_000)
    for custodian in (False, True):
        told = page(found, tmp_path, custodian=custodian)
        share = "30 %" if custodian else "28.7 % to 34.5 %"
        assert f"counted nowhere in it: 60 of 200 people ({share})." in told
        assert "information lost" not in told  # nothing is beside it: nothing is claimed
    assert "Left out before" not in page(assessed(), tmp_path)


def test_classes_that_do_not_come_out_even_are_told(shell):
    said = shell("leak", "--records", "392", "--class-size", "12", "--leaked", "100")[1]
    assert "do not part into classes of 12: 24 classes of 12 and 8 classes of 13" in said
    assert "Note" not in shell("leak", "--records", "396", "--class-size", "12", "--leaked", "9")[1]


def test_a_leak_of_histories_counts_people(tmp_path, shell):
    path = tmp_path / "h.csv"
    rows = [f"{i // 3},{'fm'[i % 2]}" for i in range(60)]
    path.write_text("\n".join(["id,sex", *rows, ""]), encoding="utf-8")
    said = shell("leak", path, "--qi", "sex", "--subject-id", "id", "--leaked", "5", "-q")[1]
    assert said.startswith("20 people (60 records) in ")


def test_a_date_with_two_readings_is_read_as_the_other_dates_of_its_column_are():
    dates = ["01/02/1970", "13/02/1970", "03/04/1971"]
    found = rb.Dates("month").all_up(dates, 1)
    assert found == ["1970-02", "1970-02", "1971-04"]
    american = [f"{d[3:5]}/{d[:2]}{d[5:]}" for d in dates]
    assert rb.Dates("month").all_up(american, 1) == found
    for unclear in (dates[::2], [*dates, "02/13/1970"]):
        with pytest.raises(DataError, match="day first or month first"):
            rb.Dates("month").all_up(unclear, 1)
    people = rb.read_table(
        {"born": dates}, quasi_identifiers=["born"], hierarchies={"born": rb.Dates("month")}
    )
    assert people.generalise({"born": 1}).class_sizes().tolist() == [2, 2, 1]


def test_what_the_page_says_of_counts_is_true_of_the_bands_between_two_levels():
    rng = np.random.default_rng(7)
    told = Telling()
    for _ in range(300):
        counts = rng.integers(0, 40, size=5)
        for true, band in list(zip(counts, told.bands(counts), strict=True))[1:]:
            low, high = (0, 9) if band is None else band
            assert low <= true <= high
    assert told.bands([19, 1]) == [10, [1, 19]]  # one of 11 is as well told so
    assert "the difference of two such counts, from its least to its most" in how_told(told)
