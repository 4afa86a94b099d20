"""A picture that leaves the house tells nothing that the text beside it does not.

The reader measures everything: every letter and every length of every picture.  Whatever they make
of them follows from the text where two tables of which all text is alike are drawn alike.
"""

import re
from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest

import reidbn as rb
from reidbn.release import unsealed

WIDE = pytest.mark.wide


def table_of(sizes, rng):
    n = sum(sizes)
    table = {
        "c": np.repeat([f"v{i}" for i in range(len(sizes))], sizes),
        "s": np.where(rng.random(n) < 0.4, "x", "y"),
    }
    return rb.read_table(table, quasi_identifiers=["c"], sensitive=["s"])


def assessed(people):
    found = rb.assess("marketer", people, known=["c"])
    found.keep_crosscheck(draws=1_000)
    return found


ASKED = {
    "leak": lambda p: rb.leak.assess(p, leaked=5),
    "suda": rb.suda,
    "population": lambda p: rb.population.fit(p, population=500),
    "disclosure": lambda p: rb.disclosure(p, sensitive="s"),
    "assessment": assessed,
}


def near(rng, many):
    """Tables of 20 to 29 people that differ by a few, so that much of them is told alike."""
    found = {}
    while len(found) < many:
        sizes = rng.integers(1, 6, size=rng.integers(5, 9))
        for _ in range(6):
            moved = np.maximum(sizes + rng.integers(-1, 2, size=len(sizes)), 1)
            if 20 <= moved.sum() <= 29:
                found[tuple(sorted(moved.tolist()))] = None
    return list(found)[:many]


def told(result, folder, **how):
    """All text that is told, and all pictures."""
    texts = []
    for kind in ("md", "json", "html"):
        result.report(folder / f"r.{kind}", **how)
        texts.append(unsealed((folder / f"r.{kind}").read_text())[0])
    result.plot(folder / "r.svg", **how)
    pictures = re.findall(r"<svg.*?</svg>", texts[2], flags=re.DOTALL)
    return tuple(texts[:2]), (*pictures, (folder / "r.svg").read_text())


@pytest.mark.parametrize(
    ("kind", "many"),
    [("leak", 6), ("suda", 8), ("population", 8),
     *(pytest.param(kind, many, marks=WIDE) for kind, many in (
         ("leak", 24), ("suda", 45), ("population", 45), ("disclosure", 14), ("assessment", 12)))],
)  # fmt: skip
def test_tables_that_are_told_alike_are_drawn_alike(kind, many, tmp_path):
    rng = np.random.default_rng(20261128)
    drawn = defaultdict(list)
    for sizes in near(rng, many):
        text, pictures = told(ASKED[kind](table_of(sizes, rng)), tmp_path)
        assert len(pictures) > 1
        drawn[text].append(pictures)
    pairs = [pair for alike in drawn.values() for pair in combinations(alike, 2)]
    assert len(pairs) > 2  # else nothing was tried
    assert all(one == two for one, two in pairs)


def test_this_reader_sees_a_bar_that_is_a_person_longer(tmp_path):
    rng = np.random.default_rng(1)
    rows = [told(rb.suda(table_of(sizes, rng)), tmp_path, custodian=True)[1]
            for sizes in ((5, 4, 4, 4, 3, 1), (5, 4, 4, 4, 2, 1, 1))]  # fmt: skip
    assert rows[0] != rows[1]
