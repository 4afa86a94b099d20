"""What a release of a sample, and a secure room, do to people of a sparse table."""

from itertools import combinations
from math import comb, exp, factorial

import numpy as np
import pytest
from sparse_oracle import random_table

import reidbn as rb

HALF = "a sample of 50 % is released"
ROOM = "access in a secure room"
INSIDE = 0.1 * 0.7 * 0.5
"""Somebody tries, is not stopped, and nothing is held back."""


def five_columns(people=100):
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, values, people).astype(str) for name, values in
             {"a": 6, "b": 6, "c": 5, "d": 4, "e": 2}.items()}  # fmt: skip
    return table, rb.read_sparse(table, features={"feature": list(table), "kind": ["category"] * 5})


def in_a_sample(table, size):
    """Each person's risk in a random sample that holds them: every set of facts, nobody drawn.

    Of n - 1 others a agree on a set of facts; none of them is among the others of a sample of m
    people with the chance C(n - 1 - a, m - 1) / C(n - 1, m - 1).
    """
    cells = np.array(list(table.values()))
    n = cells.shape[1]
    known = [exp(-5) * 5**k / factorial(k) for k in range(5)]
    known.append(1 - sum(known))
    right = [sum(p * comb(k, r) * 0.9**r * 0.1 ** (k - r) for k, p in enumerate(known) if k >= r)
             for r in range(6)]  # fmt: skip
    found = np.zeros(n)
    for person in range(n):
        same = cells == cells[:, [person]]
        for r in range(1, 6):
            alone = [
                comb(n - int(same[list(facts)].all(axis=0).sum()), size - 1) / comb(n - 1, size - 1)
                for facts in combinations(range(5), r)
            ]
            found[person] += right[r] * np.mean(alone)
    return 0.7 * size / n * found


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_in_a_sample_fewer_are_alike(share):
    """A release of half the people takes less than half off the risk of everybody."""
    table, sparse = five_columns()
    exact = in_a_sample(table, round(share * 100)).mean()
    r = rb.assess("linkage", sparse)
    found = rb.whatif.protections(r, sample=share)
    row = found.loc[f"a sample of {100 * share:g} % is released"]
    assert abs(row["risk"] - exact) < row["off"] < 0.2 * exact
    assert r.risk().mean() * share < row["risk"] - row["off"]  # no less than were it presence alone
    drawn = found.attrs["samples"]
    assert (drawn["seed"], drawn["people"], len(drawn["risks"])) == (0, round(share * 100), 5)
    assert row["risk"] == pytest.approx(np.mean(drawn["risks"]))
    assert (found.drop(row.name)["off"] == 0).all()
    again = rb.whatif.protections(r, sample=share)
    assert again.loc[row.name, "risk"] == row["risk"]


def test_few_who_are_asked_about_are_in_every_sample():
    table, sparse = five_columns()
    some = np.arange(3, 100, 12)
    exact = in_a_sample(table, 50)[some].mean()
    r = rb.assess("linkage", sparse, individuals=some)
    row = rb.whatif.protections(r, sample=0.5).loc[HALF]
    assert abs(row["risk"] - exact) < row["off"]
    for rows in ([7], np.arange(60)):  # more than may be in all of the samples, and one alone
        found = rb.whatif.protections(rb.assess("linkage", sparse, individuals=rows), sample=0.05)
        assert 0 < found.loc["a sample of 5 % is released", "risk"] < 0.05
    for share, left in ((0.0, 0.0), (1.0, 1.0)):
        found = rb.whatif.protections(r, sample=share)
        row = found.loc[f"a sample of {100 * share:g} % is released"]
        assert row["risk"] == pytest.approx(left * r.risk().mean(), abs=1e-12)
        assert row["off"] == 0
        assert found.attrs["samples"] == {}


@pytest.mark.parametrize(
    "asked",
    [{}, {"scenario": "best-informed"}, {"set": {"mean_facts": 2, "p_wrong": 0.3}},
     {"scenario": "best-informed", "set": {"mean_facts": 2}}, {"do": {"in_release": "yes"}},
     {"given": {"in_release": "yes"}}, {"known": ["f1", "f2", "f3"]}],
)  # fmt: skip
def test_in_a_secure_room_sits_the_attacker_who_was_asked_about(asked):
    _, sparse, _ = random_table(9, people=20, features=8)
    r = rb.assess("linkage", sparse, **asked)
    told = rb.whatif.protections(r)
    assert told.loc[ROOM, "risk"] == pytest.approx(INSIDE * r.risk().mean(), abs=1e-12)


def test_a_room_holds_what_a_scenario_says_of_facts_and_takes_no_control_away():
    cells, _, _ = random_table(9, people=20, features=8)
    kinds = {"feature": list(cells), "tags": ["colleague"] * 8}
    sparse = rb.read_sparse(cells, features=kinds)
    for name in ("colleague", "vague"):
        r = rb.assess("linkage", sparse, scenario=name)
        told = rb.whatif.protections(r)
        assert told.loc[ROOM, "risk"] == pytest.approx(INSIDE * r.risk().mean(), abs=1e-12)
    for name in ("purpose-limited", "access-controlled", "controlled-release"):
        r = rb.assess("linkage", sparse, scenario=name)
        with pytest.warns(rb.errors.ReidbnWarning, match=f"room: left out, for {name} says"):
            told = rb.whatif.protections(r)
        assert ROOM not in told.index
        assert 0 < told.loc[HALF, "risk"] < r.risk().mean()
