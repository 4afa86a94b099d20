"""The page of a linkage: which facts single people out, and whether what is told happens."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sparse_oracle import agrees, random_table

import reidbn as rb
from reidbn.attacks.linkage import acted_in_bins, by_fact


def sectioned(seed, people, features):
    """A random table in three sections."""
    cells, _, kinds = random_table(seed, people=people, features=features, filled=0.7)
    parts = [f"part {j % 3}" for j in range(features)]
    table = pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in cells.items()})
    schema = pd.DataFrame({"feature": list(cells), "kind": kinds, "section": parts})
    return cells, rb.read_sparse(table, features=schema), kinds, parts


def test_of_whom_a_part_is_known_by_every_order():
    """A chance is a share of 100 draws, of which 20 or more have the part: sd up to .11."""
    cells, sparse, kinds, parts = sectioned(3, people=12, features=6)
    found = by_fact(rb.linkage(sparse, facts=[1, 2, 3]))
    assert list(found.rows) == ["part 0", "part 1", "part 2"]
    assert list(found.ks) == [1, 2, 3]
    for row, part in enumerate(found.rows):
        for column, k in enumerate(found.ks):
            exact = []
            for person in range(12):
                own = [j for j in range(6) if cells[f"f{j}"][person] is not None]
                who = {
                    j: [agrees("equal", kinds[j], cells[f"f{j}"][person], other)
                        for i, other in enumerate(cells[f"f{j}"]) if i != person]
                    for j in own
                }  # fmt: skip
                some = [o for o in permutations(own, min(k, len(own)))
                        if any(parts[j] == part for j in o)]  # fmt: skip
                if some:
                    alone = [not np.all([who[j] for j in o], axis=0).any() for o in some]
                    exact.append(np.mean(alone))
            got = found.each[row][column]
            assert len(got) == len(exact)
            assert got.mean() == pytest.approx(np.mean(exact), abs=6 * 0.11 / np.sqrt(len(exact)))
            assert got == pytest.approx(exact, abs=0.55)


def test_what_is_told_happens_and_what_is_wrong_would_show():
    _, sparse, _, _ = sectioned(4, people=40, features=9)
    found = rb.linkage(sparse, facts=range(1, 8))
    bins = acted_in_bins(found)
    assert sum(one.attempts for one in bins) == 20 * 5 * 50
    near = [one.low - 0.03 <= one.predicted <= one.high + 0.03 for one in bins]
    assert all(near)
    from dataclasses import replace

    wrong = replace(found, success=np.clip(found.success * 0.6, 0, 1))
    off = [one.low - 0.03 <= one.predicted <= one.high + 0.03 for one in acted_in_bins(wrong)]
    assert not all(off)


def test_the_page_has_curves_map_and_diagram(tmp_path):
    _, sparse, _, _ = sectioned(5, people=30, features=9)
    found = rb.linkage(sparse, facts=[1, 2, 3])
    own = found.report(tmp_path / "own.html", custodian=True).read_text()
    assert own.count("<svg") == 3
    assert (
        "<image" not in own
    )  # a page loads no picture, not even its own: the map was a broken one
    for title in ("Which facts single people out", "Does it happen?", "part 2"):
        assert title in own
    outward = found.report(tmp_path / "out.md").read_text()
    assert "Does it happen?" not in outward
    few = outward.partition("Which facts single people out")[2].partition("## ")[0]
    assert "not told" in few
    assert not any(f"{x:.3g}" in few for x in found.success.mean(axis=0))  # thirty people: no mean
    for other in (
        rb.linkage(sparse, known="rarest", facts=[2]),
        rb.linkage(sparse, known={"f1": 0.5}),
    ):
        assert by_fact(other) is None
        assert acted_in_bins(other) == []
        assert "Which facts" not in other.report(tmp_path / "other.md", custodian=True).read_text()
    heavy = rb.linkage(sparse, facts=[2], weights={"part 0": 5})
    assert acted_in_bins(heavy) == []
    assert by_fact(heavy) is not None


def test_features_stand_by_themselves_without_sections():
    _, sparse, _ = random_table(6, people=15, features=4)
    assert list(by_fact(rb.linkage(sparse, facts=[1])).rows) == ["f0", "f1", "f2", "f3"]
    assert by_fact(rb.linkage(sparse, facts=range(1, 21))).ks[-1] <= 20


def test_the_picture_of_the_attack_has_the_values_that_were_used(tmp_path):
    sparse = rb.read_sparse({"a": [1, 1, 2, None] * 40, "b": list(range(160))})
    found = rb.assess("linkage", sparse, set={"p_in_release": 0.2, "mean_facts": 2})
    page = found.to_html(tmp_path / "r.html", threshold={"overall": 0.09}).read_text()
    picture = page[page.index("<svg") : page.rindex("</svg>")]
    assert "p_in_release = 0.2" in picture
    assert "p_in_release = 0.7" not in picture
    assert "mean_facts = 5" not in picture
