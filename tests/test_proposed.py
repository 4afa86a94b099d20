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


@pytest.mark.parametrize("seed", range(12))
def test_a_hierarchy_written_for_arx_and_read_again_makes_the_same_groups(seed, tmp_path):
    rng = np.random.default_rng(seed)
    n = 80
    frame = pd.DataFrame(
        {
            "age": rng.integers(-5, 60, n),
            "zip": rng.integers(10000, 10300, n),
            "land": rng.choice(list("ABCDEFG"), n, p=[0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01]),
        }
    )
    frame["zip"] = frame["zip"].astype(str)
    people = rb.read_table(frame, quasi_identifiers=list(frame))
    micro = rb.microdata
    by, parts = ("quantiles", "width")[seed % 2], ([8, 4, 2], [6, 3], [9])[seed % 3]
    ladders = {
        "age": micro.in_parts(people, "age", parts, by=by),
        "zip": rb.Prefix(4, 3),
        "land": micro.rare_together(people, "land", [0.05, 0.2]),
    }
    for name, ladder in ladders.items():
        path = micro.write_hierarchy(people, name, tmp_path / f"{name}.csv", hierarchy=ladder)
        assert path.stat().st_mode & 0o077 == 0  # as restricted as the table
        again = micro.read_hierarchy(path)
        assert again.levels == ladder.levels
        values = people.labels(name).tolist()
        for level in range(ladder.levels + 1):
            assert [str(v) for v in ladder.all_up(values, level)] == [
                str(v) for v in again.all_up(values, level)
            ]
    for level, most in enumerate(parts, 1):  # by hand: how many parts, in order, and they nest
        coarse = people.generalise({"age": level}, hierarchies=ladders)
        group = coarse.table[:, 0]
        assert len(set(group)) <= most
        lows = [frame.age[group == g].min() for g in set(group)]
        highs = [frame.age[group == g].max() for g in set(group)]
        assert all(h < low for h, low in zip(sorted(highs), sorted(lows)[1:], strict=False))
        if by == "quantiles":  # a part holds its share, but for the values at its two ends
            end = frame.age.value_counts().max()
            assert max(np.bincount(group)) <= n / most + end
        else:
            wide = (frame.age.max() - frame.age.min()) / most
            assert max(h - low for h, low in zip(sorted(highs), sorted(lows), strict=True)) <= wide
