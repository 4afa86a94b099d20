"""A reader of pages of people, in whole numbers: no cell that is not told is narrowed.

The reader has one page, knows its grid and that people alike on everything stand in classes, and
asks an exact integer programme (HiGHS) how many people each cell can hold that the page leaves out.
Nothing of the product's telling is used.  Where everything is known, a chance follows from the
class of a person (marketer: 1 over its size).
"""

import numpy as np
import pandas as pd
import pytest
from inside import inside
from scipy.optimize import Bounds, LinearConstraint, milp
from test_page_people import held_of

import reidbn as rb
from reidbn.page import behind

SMALL = ((1, 1, 2, 3, 4, 5, 7, 9, 12), (2, 2, 3, 3, 4), (3, 5, 8, 10, 15, 30), (1, 2, 4, 8, 16, 32))


def drawn(rng, people):
    """The size of each class: often a few people in small ones, of which marks are made."""
    sizes = [s for s in range(1, 10) if rng.random() < 0.3
             for _ in range(int(rng.integers(0, 12 // s + 1)))]  # fmt: skip
    small, left = SMALL[rng.integers(4)], people - sum(sizes)
    while left > 0:
        sizes.append(min(left, int(rng.choice(small if rng.random() < 0.5 else (20, 30, 50)))))
        left -= sizes[-1]
    return sizes


def assessed(sizes, **more):
    a = np.repeat(np.arange(len(sizes)), sizes)
    return rb.assess("marketer", rb.read_table({"a": list(map(str, a))}, quasi_identifiers=["a"]),
                     **more)  # fmt: skip


def places(edges, chances):
    return np.clip(np.searchsorted(edges, chances + 1e-12, side="right") - 1, 0, len(edges) - 2)


class Reader:
    """What one page says, as rows of coefficients on the number of classes of each size."""

    def __init__(self, people):
        edges, cells = people["edges"], people["cells"]
        high = sum(c["high"] for c in cells) + 9
        self.sizes = np.arange(1, high + 1)
        self.rows = []
        laws = np.stack([1 - 1 / self.sizes, 1 / self.sizes], axis=1)
        self.cell = np.array([hash(tuple(at)) for at in places(edges, laws)])
        told = [hash(tuple(c["at"])) for c in cells]
        low, top = 0, 0
        for i, c in enumerate(cells):  # what is summed up is told in tens
            before, low, top = 9 * bool(i), low + c["low"], top + c["high"]
            low, top = low + before, top - before
            assert (low % 10, top - low) == (0, 9)
            self.know(self.people(told[: i + 1]), low, top)
            self.know(self.people(told[i : i + 1]), 10, np.inf)
        self.left_out = sorted({*self.cell} - {*told})
        assert people["rest"] == [0, 9]
        self.know(self.people(self.left_out), 0, 9)
        self._mean(people, cells)

    def people(self, cells):
        return np.where(np.isin(self.cell, cells), self.sizes, 0)

    def know(self, row, low, high):
        self.rows.append((np.asarray(row, float), low, high))

    def _mean(self, people, cells):
        """How far the page's mean is off: at most so far, and farther than the rung before."""
        weights = np.array([(c["low"] + c["high"]) / 2 for c in cells])
        mean = weights @ np.array([c["law"][1] for c in cells]) / weights.sum()
        fewest = sum(c["low"] for c in cells) + 9 * (len(cells) - 1)
        rungs = [e for e in inside(behind)._RUNGS if e < people["error"]
                 and e >= 10 / (fewest // 10 * 10 or 1)]  # fmt: skip
        self.mean, self.before = mean, max(rungs, default=0.0)
        for sign in (1, -1):  # classes are as many as people times their mean chance
            self.know(sign * (1 - mean * self.sizes) - people["error"] * self.sizes, -np.inf, 1e-6)

    def ends(self, row):
        """The smallest and the largest that it can be, the mean off to either side."""
        found = []
        for side in (1, -1):
            off = side * (1 - self.mean * self.sizes) - self.before * self.sizes
            rows = [*self.rows, (off, -1e-6, np.inf)]
            matrix, low, high = np.array([r for r, _, _ in rows]), *np.array(
                [[a, b] for _, a, b in rows], float).T  # fmt: skip
            for sign in (1, -1):
                answer = milp(
                    sign * row, constraints=LinearConstraint(matrix, low - 1e-7, high + 1e-7),
                    bounds=Bounds(0, self.sizes[-1] // self.sizes),
                    integrality=np.ones(len(row)),
                )  # fmt: skip
                assert answer.status in (0, 2), answer.message
                found += [round(sign * answer.fun)] if answer.status == 0 else []
        return min(found), max(found)

    def open_cells(self):
        """Cells that are left out, and what classes of their sizes can make up below ten."""
        for cell in self.left_out:
            can = {0}
            for size in self.sizes[:9][self.cell[:9] == cell]:
                can |= {c + size * k for c in set(can) for k in range(10 // size + 1)}
            can = {int(c) for c in can if c < 10}
            if len(can) > 1:
                yield cell, (min(can), max(can))


def read(seeds, most, folder):
    """Cells that a page leaves out, those that the reader narrows, and pages that were refused."""
    marks = narrowed = refused = 0
    for seed in seeds:
        rng = np.random.default_rng([20261123, seed])
        sizes = drawn(rng, int(rng.integers(100, most)))
        try:
            people = held_of(assessed(sizes), folder)["people"]
        except rb.UsageError as error:
            assert "cells of fewer than 10" in str(error)  # noqa: PT017 - or it is a page
            refused += 1
            continue
        reader = Reader(people)
        own = np.bincount(sizes, minlength=len(reader.sizes) + 1)[1:] * reader.sizes
        for cell, promise in reader.open_cells():
            ends = reader.ends(reader.people([cell]))
            here = own[reader.cell == cell].sum()
            assert ends[0] <= here <= ends[1]
            marks += 1
            narrowed += ends != promise
    return marks, narrowed, refused


@pytest.mark.parametrize(
    ("seeds", "most"),
    [(range(5), 130), pytest.param(range(100, 160), 420, marks=pytest.mark.slow)],
)
def test_no_cell_that_a_page_leaves_out_is_narrowed(seeds, most, tmp_path):
    """With a rest of ten people and more told, as it was, 2 of 176 were."""
    marks, narrowed, refused = read(seeds, most, tmp_path)
    assert len(seeds) > refused
    assert marks >= len(seeds)
    assert narrowed == 0


def test_two_small_cells_of_nine_each_do_not_leave_the_house(tmp_path):
    """Their sum was told, 18 in two cells of fewer than ten: nine in each."""
    sizes = [*[1] * 9, *[3] * 3, *[2] * 20, *[30] * 10]
    with pytest.raises(rb.UsageError, match=r"cells of fewer than 10.*custodian=True"):
        assessed(sizes).page(tmp_path / "p.html")
    assert not [*tmp_path.iterdir()]
    cells = held_of(assessed(sizes), tmp_path, custodian=True)["people"]["cells"]
    assert sorted(c["low"] for c in cells) == [9, 9, 40, 300]


def test_under_chances_a_page_of_people_stays_in_the_house(shell, tmp_path):
    """Nothing proves what nested classes make of its cells: refused outward, here and there."""
    a = np.repeat(np.arange(40), 10).astype(str)
    b = np.repeat(["x", "y"], 200)
    table = rb.read_table({"a": a, "b": b}, quasi_identifiers=["a", "b"])
    result = rb.assess("marketer", table, known={"a": 0.5, "b": 1.0})
    with pytest.raises(
        rb.UsageError,
        match=r"chances here.*The report leaves.*for sure.*custodian=True.*attack\.page",
    ):
        result.page(path := tmp_path / "p.html")
    text = result.page(path, custodian=True).read_text()
    assert "It is the custodian&#39;s own: it holds exact counts of people, and stays" in text
    assert path.stat().st_mode & 0o77 == 0
    assert shell("verify", path)[0] == 0
    sure = rb.assess("marketer", table, known=["a", "b"])
    assert sure.page(tmp_path / "sure.html").exists()
    with pytest.raises(rb.UsageError, match="a ledger is of what leaves the house"):
        result.page(path, custodian=True, ledger=tmp_path / "ledger")
    pd.DataFrame({"a": a, "b": b}).to_csv(tmp_path / "t.csv", index=False)
    how = ("page", "marketer", "--assess", str(tmp_path / "t.csv"), "--qi", "a,b",
           "--known", "a=0.5,b=1", "-o", str(tmp_path / "q.html"))  # fmt: skip
    code, said = shell(*how)
    assert (code, "--custodian writes your own page" in said) == (2, True)
    assert not (tmp_path / "q.html").exists()
    assert shell(*how, "--custodian")[0] == 0
    assert "stays in the house" in (tmp_path / "q.html").read_text()


@pytest.mark.parametrize("known", [{"a": 0.5, "b": 1.0}, None])
def test_the_custodians_page_has_the_mean_and_every_person(known, tmp_path):
    """Twelve people, too: exact counts, and a mean that is the assessment's own."""
    for rows in (12, 300):
        rng = np.random.default_rng(rows)
        table = rb.read_table({n: rng.integers(0, 6, rows).astype(str) for n in "ab"},
                              quasi_identifiers=["a", "b"])  # fmt: skip
        result = rb.assess("marketer", table, known=known)
        people = held_of(result, tmp_path, custodian=True)["people"]
        counts = np.array([(c["low"], c["high"]) for c in people["cells"]])
        assert (counts[:, 0] == counts[:, 1]).all()
        assert (counts[:, 0].sum(), people["rest"], people["error"]) == (rows, [0, 0], 0.0)
        mean = counts[:, 0] @ np.array([c["law"] for c in people["cells"]]) / rows
        face = rb.ask(result.attack, f"{people['faces'][0]}=yes",
                      subject=result.subject_table.columns).probability  # fmt: skip
        own = result.subject_table.of_person
        assert abs(mean[1] - np.ravel(face)[own].mean()) < 1e-12
