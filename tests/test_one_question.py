"""One question is one question however it was said; two questions say in what they differ."""

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
