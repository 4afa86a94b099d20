"""What a new user met on a fifth look: each a sentence, each once red."""

from __future__ import annotations

import json

import pytest

import reidbn as rb
from reidbn.errors import ReidbnWarning

ROWS = {"sex": ["M", "F"] * 60, "age": [str(i % 5) for i in range(120)]}


def table(**more):
    return rb.read_table(ROWS, quasi_identifiers=["sex", "age"], **more)


def assessed(**asked):
    found = rb.assess("adversary-routes", table(), population=6_000, **asked)
    found.keep_crosscheck(draws=2_000)
    return found


def page(result, tmp_path, **asked):
    return result.report(tmp_path / "r.md", **asked).read_text(encoding="utf-8")


# -- the verdict names what was brought about, learnt and set -------------------------------------


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
    assert page(found, tmp_path, **limit).count(words) >= 4  # on top, and in the statement
    assert "brought" not in found.summary("ema").verdict  # who is alike hangs on nothing of it


def test_a_report_is_written_where_an_end_of_a_range_rules_out_what_is_given(tmp_path):
    found = assessed(given="knows_membership=yes")
    for custodian in (False, True):
        (row,) = (
            line
            for line in page(found, tmp_path, custodian=custodian).splitlines()
            if line.startswith("| p_m |")
        )
        assert "what is given cannot happen" in row


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
    with pytest.warns(ReidbnWarning, match=r"p_c set to 0\.1"):
        one.compare(other)
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for result, path in zip((one, other), files, strict=True):
        result.report(path, custodian=True)
    code, said = shell("compare", *files)
    assert code == 0
    assert "another question" in said
    assert "p_c set to 0.1" in said


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
