"""Exercises: the answer is right, the usual wrong ones get their hint, nothing is given away."""

from fractions import Fraction
from math import comb

import pytest

import reidbn as rb
from reidbn.lesson import EXERCISES

QUICK = [n for n in EXERCISES if n not in (7, 8, 9, 22, 23, 24, 25, 26)]
BY_HAND = {
    1: Fraction(1, 2) * Fraction(1, 5) * Fraction(1, 2) / 20,
    2: 1,
    3: 26,
    6: Fraction(4, 6),
    10: (1 - Fraction(comb(6, 3), comb(10, 3))) / 4,
    13: Fraction(1, 2),
    16: Fraction(2, 10) / 12,
    18: Fraction(5, 100) * 3 * 2,
    19: 2,
    20: Fraction(7, 10) / (Fraction(7, 10) + 3 * Fraction(3, 10)),
    21: 3,
    25: Fraction(4, 6),
    27: 2,
}


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in EXERCISES]
)
def test_the_answer_is_right_and_the_usual_wrong_ones_get_their_hints(number):
    asked = EXERCISES[number]
    assert rb.lesson.check(number, asked.answer())
    for wrong, hint in asked.usual:
        said = rb.lesson.check(number, wrong())
        assert not said
        assert hint in str(said)
    if number in BY_HAND:
        assert asked.answer() == pytest.approx(float(BY_HAND[number]), rel=1e-9)


@pytest.mark.parametrize("number", EXERCISES)
def test_without_an_answer_the_question_is_said_again_and_nothing_else(number):
    for nothing in (None, ...):
        said = rb.lesson.check(number, nothing)
        assert not said
        assert str(said) == f"Exercise {number}: no answer yet. {EXERCISES[number].asks}"


def test_what_a_lesson_prints_is_taken_and_a_count_is_whole():
    assert rb.lesson.check(16, 0.017)  # 1/60, as tables of three digits after the point print it
    assert not rb.lesson.check(16, 0.018)
    assert not rb.lesson.check(1, 0.003)  # one digit of 0.0025
    assert "divided by 100" in str(rb.lesson.check(1, 0.25))
    assert rb.lesson.check(21, 3)
    assert not rb.lesson.check(3, 26.1)  # within half a per cent of 26
    for none in (float("nan"), float("inf"), ["alike"], {}, object()):
        said = rb.lesson.check(4, none)
        assert not said
        assert "one number or one word" in str(said)


@pytest.mark.slow
def test_the_words_and_numbers_of_the_lessons_own_pages_are_taken():
    assert rb.lesson.check(8, "age")
    assert rb.lesson.check(8, "birth_year")
    assert rb.lesson.check(23, 0.015)
    assert rb.lesson.check(26, 546)
    assert not rb.lesson.check(26, 547)


def test_answers_may_be_rounded_and_written_as_they_come():
    assert rb.lesson.check(1, rb.ask("breakfast", "identified=yes", set={"alike": 20}))
    assert rb.lesson.check(6, 0.667)
    assert not rb.lesson.check(6, 0.65)
    assert rb.lesson.check(17, " Alike ")
    assert "divided by 100" in str(rb.lesson.check(6, 66.7))
    assert "too large" in str(rb.lesson.check(6, 0.9))
    assert "The answer is a name" in str(rb.lesson.check(17, 3))
    assert "The answer is a number" in str(rb.lesson.check(6, "four"))
    for said in (rb.lesson.check(6, 0.9), rb.lesson.check(17, 3)):
        assert "0.66" not in str(said)
        assert "alike" not in str(said)


def test_what_is_no_exercise_is_refused():
    with pytest.raises(rb.UsageError, match="exercises are 1 to 27"):
        rb.lesson.check(28, 1)
    with pytest.raises(rb.UsageError, match="did you mean"):
        rb.lesson.began("nosy-neighbor")


def test_the_begun_file_is_one_that_check_takes():
    attack = rb.attack.loads(rb.lesson.began())
    assert float(rb.ask(attack)) == pytest.approx(0.4 * 0.5 / 3, rel=1e-12)
    assert set(attack.assumptions) == set(attack.parameters)
