"""Missing auxiliaries that match anything keep doing so when a column is known less exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

import reidbn as rb

AGES = [12, None, 15, None, 11, 20, 10, 12]
TOWNS = ["u", "v", "u", None, "v", "t", None, "t"]
SECRETS = ["x", "y", "x", "z", "x", "y", "z", "x"]


def people() -> rb.People:
    return rb.read_table(
        {"age": AGES, "town": TOWNS, "s": SECRETS},
        quasi_identifiers=["age", "town"],
        sensitive=["s"],
        missing="matches-anything",
    )


def fits(own: Any, other: Any, near: Any) -> bool:
    return own is None or other is None or near(own, other)


def least(near: Any) -> list[Fraction]:
    """The least share of peers with another secret, by a plain loop over people and subsets."""
    n, columns = len(AGES), ((AGES, near), (TOWNS, lambda a, b: a == b))
    found = []
    for i in range(n):
        shares = []
        for known in (c for k in (1, 2) for c in combinations(columns, k)):
            peers = [j for j in range(n) if all(fits(v[i], v[j], rule) for v, rule in known)]
            shares.append(Fraction(sum(SECRETS[j] != SECRETS[i] for j in peers), len(peers)))
        found.append(min(shares))
    return found


@pytest.mark.parametrize(
    ("blur", "near"),
    [
        ({"ranges": {"age": 5}}, lambda a, b: a // 5 == b // 5),
        ({"ranges": {"age": [11, 15]}}, lambda a, b: (a < 11, a < 15) == (b < 11, b < 15)),
        ({"tolerance": {"age": 2}}, lambda a, b: abs(a - b) <= 2),
    ],
)
def test_a_missing_age_matches_every_age_also_where_ages_are_known_roughly(
    blur: dict[str, Any], near: Any
) -> None:
    top, bottom = rb.disclosure(people(), "s", **blur).ppp_min_fraction
    assert [Fraction(*pair) for pair in zip(top.tolist(), bottom.tolist(), strict=True)] == least(
        near
    )


def test_a_range_hides_nobody_less_than_the_exact_value_does() -> None:
    exact = rb.disclosure(people(), "s", known=["age"]).peers_full
    rough = rb.disclosure(people(), "s", known=["age"], ranges={"age": 1}).peers_full
    assert rough.tolist() == exact.tolist()
    assert exact[1] == len(AGES)


def test_a_blank_that_counts_as_a_value_counts_in_one_of_several_records_too() -> None:
    """Three of four people have a blank and another value: a blank is what gives p away."""
    persons = rb.read_table(
        {
            "id": ["p", "p", "q", "q", "r", "r", "s"],
            "sex": ["m"] * 7,
            "code": ["flu", None, "gout", None, "acne", None, "gout"],
        },
        quasi_identifiers=["sex"],
        sensitive=["code"],
        subject_id="id",
    )
    assert rb.disclosure(persons, "code", if_missing="value").ppp_full.tolist() == [
        1 / 4,
        1 / 4,
        1 / 4,
        1 / 2,
    ]
    assert rb.disclosure(persons, "code").ppp_full.tolist() == [3 / 4, 1 / 2, 3 / 4, 1 / 2]
