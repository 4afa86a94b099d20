"""Hierarchies that are proposed: what is seen in the values, and nothing that a ladder refuses."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

N = 400
RNG = np.random.default_rng(3)
MADE = {
    "age": (RNG.integers(18, 90, N), lambda v, up: up[1] == f"{v // 5 * 5}-{v // 5 * 5 + 4}"),
    "born": ([f"19{y:02}-{m:02}-11" for y, m in RNG.integers(1, 12, (N, 2))],
             lambda v, up: up[1:3] == [v[:7], v[:4]]),
    "zip": ([f"{z:05}" for z in RNG.integers(1, 60, N) * 501], lambda v, up: up[1] == v[:4] + "*"),
    "icd": (RNG.choice(["E11.9", "I10", "C50.1", "U07.1", "V01", "D48", "D50.0", "E105"], N),
            lambda v, up: up[1] == v[:3] and up[2].split("-")[0] <= v[:3]),
    "income": (np.round(RNG.lognormal(10, 1, N)), lambda v, up: up[1] != up[0]),
    "weight": (np.round(RNG.normal(70, 12, N), 1), lambda v, up: up[1].startswith("[")),
    "town": (RNG.choice(list("abcdefgh"), N, p=[.4, .3, .2, .04, .02, .02, .01, .01]),
             lambda v, up: (up[1] == "other") == (v in "defgh")),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_what_is_proposed_follows_from_the_values_and_nests(name):
    values, is_right = MADE[name]
    people = rb.read_table(pd.DataFrame({name: values}), quasi_identifiers=[name])
    ladder = rb.microdata.propose_hierarchies(people)[name]
    labels = people.labels(name).tolist()
    ups = [ladder.all_up(labels, level) for level in range(ladder.levels + 1)]
    for j, value in enumerate(labels):
        assert is_right(value, [up[j] for up in ups]), value
    for fine, coarse in pairwise(ups):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))
    sizes = [len(set(up)) for up in ups]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    people.generalise({name: 1}, hierarchies={name: ladder})  # what a table takes


def test_few_values_and_columns_with_a_hierarchy_are_left_alone():
    frame = pd.DataFrame({"sex": [0, 1] * 20, "age": range(20, 60), "g": ["a", "b", "c", "d"] * 10})
    people = rb.read_table(frame, quasi_identifiers=list(frame), hierarchies={"age": rb.Bands(10)})
    assert rb.microdata.propose_hierarchies(people) == {}
    with pytest.raises(rb.UsageError, match="did you mean"):
        rb.microdata.propose_hierarchies(people, ["agee"])
    with pytest.raises(rb.UsageError, match='or "auto"'):
        rb.recommend(people, target="k=2", hierarchies="automatic")


def test_recommend_takes_proposals_and_says_them(shell):
    frame = rb.datasets.synthetic_patients(600, seed=1)
    people = rb.read_table(frame, quasi_identifiers=["age", "sex", "birth_country"])
    plan = rb.recommend(people, target="k=5", hierarchies="auto", suppress_at_most=0.05)
    assert plan.apply().k() >= 5
    code, said = shell("recommend", "synthetic:600:1", "--qi", "age,sex,birth_country", "--target",
                       "k=5", "--auto", "--suppress-at-most", "5%")  # fmt: skip
    assert code == 0
    assert "proposed for age: " in said
    assert f"left out: {plan.best.suppressed:,} of 600" in said
