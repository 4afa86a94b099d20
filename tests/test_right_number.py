"""One is, two are: what is counted in a sentence stands in the right number."""

import re

import numpy as np
import pytest

import reidbn as rb
from reidbn.cli import main
from reidbn.report import Judged, Telling, rule, verdict

THINGS = "people|records|values|spellings|rows|cells|classes|individuals|subsets|uniques|entries"
VERBS = "are|have|share|differ|repeat|keep|were|agree"
WRONG = (
    re.compile(rf"(?<![\d.,/=^-])1 (?:more |rarer |distinct )?(?:{THINGS})\b"),
    re.compile(rf"(?<![\d.,/=^-])1 of [\d,]+ \w+ (?:\([^)]*\) )?(?:{VERBS})\b"),
    re.compile(rf"(?<![\d.,/=^-])1 (?:person|record|value|spelling|row|cell) (?:{VERBS})\b"),
    re.compile(r"(?:0|[2-9]) (?:person|record|value|spelling|row|cell|individual)\b"),
)


def assert_right(text):
    for pattern in WRONG:
        assert not pattern.search(text), text


def test_the_checker_sees_what_is_wrong():
    for text in (
        "1 people dropped",
        "1 of 441 people (0.23 %) are unique",
        "1 spellings",
        "2 value",
    ):
        with pytest.raises(AssertionError):
            assert_right(text)
    assert_right("1 of 441 people (0.23 %) is unique; 21 people; 1 person")


@pytest.mark.parametrize("alone", [0, 1, 2])
@pytest.mark.parametrize("asked", [("cell-5", None), ("cell-5", "public"), (0.3, "controlled")])
def test_a_verdict_about_one_person_says_is(alone, asked):
    sizes = np.array([1] * alone + [9] * 9)
    judged = Judged(rule(*asked), sizes, None)
    assert_right(judged.sentence(Telling(custodian=True)))
    own = rule({"overall": 0.5}, "public")
    high = np.array([0.9] * alone + [0.1] * 9)
    assert_right(Judged(own, sizes, high).sentence(Telling(custodian=True)))


def test_outwards_no_verb_tells_that_it_is_one_person():
    sizes = np.array([1] + [9] * 399)
    two = np.array([1, 1] + [9] * 398)
    for asked in (("cell-5", None), ("cell-5", "public")):
        one = Judged(rule(*asked), sizes, None).sentence(Telling())
        assert one == Judged(rule(*asked), two, None).sentence(Telling())
        assert "under 10 of 400 people " in one
    said = Telling()
    for text in ("left out: {} whose x is missing", "asked about the {} with a named value"):
        assert said.rounded(text.format("1 person")) == said.rounded(text.format("2 people"))
        assert "under 10 people" in said.rounded(text.format("1 person"))


@pytest.mark.parametrize("many", [1, 2])
@pytest.mark.parametrize("tidy", [False, True])
def test_a_remark_about_one_spelling_or_one_person_dropped_says_one(many, tidy):
    table = {"sex": ["F", "f", "M", "m"][: 2 * many], "age": [3] * (2 * many)}
    for note in rb.read_table(table, quasi_identifiers=["sex", "age"], tidy=tidy).notes:
        assert_right(note)
        assert note.startswith(f"sex: {many} ")
    table = {"sex": ["F"] * 3 + [None] * many}
    notes = rb.read_table(table, quasi_identifiers="sex", missing="drop").notes
    assert notes == (f"{many} {'person' if many == 1 else 'people'} dropped for a missing cell",)


@pytest.mark.parametrize("many", [0, 1, 2])
def test_what_is_said_of_a_secret_of_one_person_is_in_the_right_number(many):
    sick = ["flu"] * many + ["cold"] * 6
    table = {"age": list(range(many)) + [40] * 6, "illness": sick}
    people = rb.read_table(table, quasi_identifiers="age", sensitive="illness")
    d = rb.disclosure(people, "illness", known=["age"])
    assert_right(" ".join(verdict(d)))
    if many:
        some = rb.disclosure(people, "illness", known=["age"], individuals=list(range(many)))
        assert_right(" ".join([*verdict(some), *some.notes, str(some.question)]))
        named = rb.disclosure(people, "illness", known=["age"], sensitive_values=["flu"])
        assert_right(" ".join([*verdict(named), *named.notes]))
        gaps = rb.read_table(table | {"illness": [None] * many + sick[many:]},
                             quasi_identifiers="age", sensitive="illness")  # fmt: skip
        assert_right(" ".join(rb.disclosure(gaps, "illness", known=["age"]).notes))


@pytest.mark.parametrize("words", [
    ["leak", "--records", "1", "--class-size", "1", "--leaked", "1"],
    ["classes", "{one}", "--qi", "a"],
    ["classes", "{two}", "--qi", "a"],
    ["classes", "{two}", "--qi", "a", "--missing", "drop"],
    ["subsets", "{two}", "--qi", "a,b", "--top", "3"],
    ["disclosure", "{two}", "--qi", "a", "--sensitive", "b"],
])  # fmt: skip
def test_a_table_of_one_or_two_people_is_told_in_the_right_number(words, tmp_path, capsys):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("a,b\n1,2\n")
    two.write_text("a,b\n1,2\n,3\n4,2\n")
    with pytest.raises(SystemExit):
        main([word.format(one=one, two=two) for word in words])
    shown = capsys.readouterr()
    assert len(shown.out) > 30, shown.err
    assert_right(shown.out + shown.err)
