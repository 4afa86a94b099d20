"""A column of a table may be called like something that a plan tells of its ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

LIKE = ["loss", "suppressed", "keeps", "bound", "cells_emptied", "level of loss", "3 or more alike"]


def planned(names, tmp_path):
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({name: rng.integers(0, 3, 90) for name in names})
    frame["nights"] = rng.integers(0, 9, 90)
    source = tmp_path / f"{names[0]}.csv"
    frame.to_csv(source, index=False)
    people = rb.read_table(source, quasi_identifiers=names)
    ladders = {name: {"some": [0, 1], "more": [2]} for name in names[:2]}
    return rb.recommend(
        people, "adversary-routes", target=["k=3", {"overall": "mean <= 0.2"}], population=200,
        known=dict.fromkeys(names, 0.5), hierarchies=ladders, suppress_at_most=0.1,
    )  # fmt: skip


@pytest.mark.parametrize("names", [LIKE[:3], LIKE[2:5], LIKE[5:] + LIKE[:1], LIKE[6:] + LIKE[1:3]])
def test_the_ways_of_a_plan_are_told_whatever_columns_are_called(names, tmp_path):
    """A loss of 2 was level 2 of the column loss, and every way was kept by the column keeps."""
    plain = [f"c{j}" for j in range(len(names))]
    plan, other = planned(names, tmp_path), planned(plain, tmp_path)
    front, same = plan.front, other.front
    own = [c for c in same if c not in plain]
    pd.testing.assert_frame_equal(front[own], same[own])
    told = [c for c in front if c not in own]
    assert len(told) == len(names) == len({*told})
    assert front[told].to_numpy().tolist() == same[plain].to_numpy().tolist()
    for name, called in zip(names, told, strict=True):
        assert called == name or (called.startswith("level of ") and called.endswith(name))
    pages = []
    for one, called in ((plan, names), (other, plain)):
        page = one.report(tmp_path / "p.md", custodian=True).read_text()
        ways = page.partition("Other ways")[2].partition("\n## ")[0]
        for name, word in zip(called, "xyz", strict=False):
            ways = ways.replace(f"{name} 0", f"{word}0").replace(f"{name} 1", f"{word}1")
            ways = ways.replace(f"{name} 2", f"{word}2")
        pages.append(ways)
        one.plot(tmp_path / "p.png")
    assert pages[0] == pages[1]
    assert "x0" in pages[0] or "x1" in pages[0]
    back = rb.read_table(plan.write(tmp_path / "o.csv"), quasi_identifiers=names)
    assert sorted(back.class_sizes()) == sorted(plan.apply().class_sizes())


def test_ordinary_columns_are_called_as_they_are(tmp_path):
    assert [*planned(["age", "sex"], tmp_path).front][:5] == [
        "age", "sex", "suppressed", "cells_emptied", "loss"
    ]  # fmt: skip
