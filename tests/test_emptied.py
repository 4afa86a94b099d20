"""Cells that were emptied before a release: who fits somebody is counted by what is known of them.

The oracle goes through every person, every set of columns that is known and every released row in
plain Python, over texts; it shares nothing with the codes, relations and patterns of the package.
"""

from __future__ import annotations

import json
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.microdata import class_sizes_by_mask, empty_cells

EMPTY = ""


def table_of(rng, people=9, columns=3, values=3):
    truth = rng.integers(0, values, (people, columns))
    gone = rng.random((people, columns)) < rng.choice([0.1, 0.3, 0.6])
    return truth, gone


def read(truth, gone=None, **roles):
    names = [f"c{j}" for j in range(truth.shape[1])]
    frame = pd.DataFrame({n: [f"v{v}" for v in truth[:, j]] for j, n in enumerate(names)})
    for name, values in roles.items():
        frame[name] = values
    people = rb.read_table(frame, quasi_identifiers=names, sensitive=list(roles))
    if gone is None:
        return people
    return empty_cells(people, {n: gone[:, j] for j, n in enumerate(names)})


def fitting(truth, gone, person, known):
    """Released rows that somebody who knows these values of the person cannot rule out."""
    found = []
    for row in range(len(truth)):
        cells = [EMPTY if gone[row, j] else str(truth[row, j]) for j in known]
        wanted = [str(truth[person, j]) for j in known]
        if all(cell in (EMPTY, want) for cell, want in zip(cells, wanted, strict=True)):
            found.append(row)
    return found


def anything(truth, gone, person, known):
    """The same where the person's own empty cells are taken to be unknown to the attacker."""
    open_ = [j for j in known if not gone[person, j]]
    return fitting(truth, gone, person, open_)


def written(truth, gone, person, known):
    row = [EMPTY if gone[person, j] else str(truth[person, j]) for j in known]
    return [
        i for i in range(len(truth))
        if [EMPTY if gone[i, j] else str(truth[i, j]) for j in known] == row
    ]  # fmt: skip


def every(columns):
    return [c for r in range(columns + 1) for c in combinations(range(columns), r)]


def test_the_30_year_old_among_ten_of_40():
    people = rb.read_table(pd.DataFrame({"age": ["30", *["40"] * 10]}), quasi_identifiers=["age"])
    hidden = empty_cells(people, {"age": [0]})
    assert hidden.class_sizes().tolist() == [1] + [11] * 10
    assert hidden.as_written().class_sizes().tolist() == [1] + [10] * 10
    two = empty_cells(people, {"age": [0, 1]})
    assert two.class_sizes().tolist() == [2] + [11] * 10
    assert two.as_written().class_sizes().tolist() == [2, 2] + [9] * 9


@pytest.mark.parametrize("seed", range(30))
def test_every_person_and_everything_that_may_be_known(seed):
    rng = np.random.default_rng(seed)
    truth, gone = table_of(rng, columns=int(rng.integers(1, 5)))
    people = read(truth, gone)
    names = people.quasi_identifiers
    masks = class_sizes_by_mask(people)
    texts = np.where(gone, None, truth.astype(str).astype(object))
    frame = pd.DataFrame(texts, columns=list(names))
    loose = rb.read_table(frame.assign(x="x"), quasi_identifiers=[*names, "x"],
                          missing="matches-anything")  # fmt: skip
    for known in every(len(names)):
        columns = [names[j] for j in known]
        sizes = people.class_sizes(columns).tolist()
        assert sizes == [len(fitting(truth, gone, i, known)) for i in range(len(truth))]
        mask = sum(1 << j for j in known)
        assert masks[:, mask].tolist() == sizes
        as_text = people.as_written().class_sizes(columns).tolist()
        assert as_text == [len(written(truth, gone, i, known)) for i in range(len(truth))]
        most = loose.class_sizes(columns).tolist()
        both = [len(anything(truth, gone, i, known)) for i in range(len(truth))]
        assert most == both
        alone = people.before_emptying.class_sizes(columns).tolist()
        for least, own, size, may in zip(alone, as_text, sizes, most, strict=True):
            assert max(least, own) <= size <= may


@pytest.mark.parametrize("seed", range(6))
def test_assess_counts_so_under_every_attack_of_the_table(seed):
    rng = np.random.default_rng(100 + seed)
    truth, gone = table_of(rng, people=8, columns=3)
    people = read(truth, gone)
    chance = {"c0": 0.5, "c1": 0.25, "c2": 0.75}
    result = rb.assess("adversary-routes", people, known=chance, population=80)
    marketer, prosecutor = np.zeros(len(truth)), np.zeros(len(truth))
    for known in every(3):
        p = np.prod([chance[f"c{j}"] if j in known else 1 - chance[f"c{j}"] for j in range(3)])
        for i in range(len(truth)):
            fits = len(fitting(truth, gone, i, known))
            marketer[i] += p / fits
            prosecutor[i] += p * (fits == 1)
    assert result.risk("marketer") == pytest.approx(marketer, abs=1e-12)
    assert result.risk("prosecutor") == pytest.approx(prosecutor, abs=1e-12)
    if seed == 0:
        result.crosscheck.raise_on_failure()


@pytest.mark.parametrize("seed", range(10))
def test_emptying_more_helps_everybody_and_others_are_taken_along(seed):
    rng = np.random.default_rng(200 + seed)
    truth, gone = table_of(rng, people=12, columns=3)
    more = gone | (rng.random(gone.shape) < 0.3)
    for known in every(3):
        columns = [f"c{j}" for j in known]
        fewer = read(truth, gone).class_sizes(columns)
        assert (read(truth, more).class_sizes(columns) >= fewer).all()
    rows = rng.permutation(12)[:7]
    part = read(truth, gone).take(rows)
    for known in every(3):
        own = [len(fitting(truth[rows], gone[rows], i, known)) for i in range(7)]
        assert part.class_sizes([f"c{j}" for j in known]).tolist() == own


def test_a_coarser_table_keeps_its_empty_cells():
    ages = [30, 31, 42, 43, 44]
    people = rb.read_table(pd.DataFrame({"age": ages, "sex": list("fmfmf")}),
                           quasi_identifiers=["age", "sex"])  # fmt: skip
    ladder = {"age": rb.Bands(10, 50)}
    early = empty_cells(people, {"age": [0]}).generalise({"age": 1}, hierarchies=ladder)
    late = empty_cells(people.generalise({"age": 1}, hierarchies=ladder), {"age": [0]})
    for hidden in (early, late):
        assert hidden.class_sizes(["age"]).tolist() == [2, 2, 4, 4, 4]
        assert hidden.emptied["age"].tolist() == [True] + [False] * 4
    assert early.fingerprint == late.fingerprint
    dropped = early.generalise({"age": 3}, hierarchies=ladder)
    assert not dropped.emptied
    assert dropped.class_sizes(["age"]).tolist() == [5] * 5


def test_what_it_held_is_never_written():
    people = rb.read_table(pd.DataFrame({"age": ["thirty", "forty", "forty"]}),
                           quasi_identifiers=["age"])  # fmt: skip
    hidden = empty_cells(people, {"age": [0]})
    shown = hidden.as_written()
    assert shown.labels("age")[shown.table[:, 0]].tolist() == [None, "forty", "forty"]
    assert str(hidden.labels("age")[-1]) == "*" == f"{hidden.labels('age')[-1]}"
    with pytest.raises(TypeError):
        json.dumps(hidden.labels("age").tolist())
    again = pickle.loads(pickle.dumps(hidden))  # noqa: S301 - our own
    assert again.class_sizes().tolist() == [1, 3, 3]
    other = rb.read_table(pd.DataFrame({"age": ["fifty", "forty", "forty"]}),
                          quasi_identifiers=["age"])  # fmt: skip
    assert empty_cells(other, {"age": [0]}).fingerprint != hidden.fingerprint
    assert hidden.fingerprint != people.fingerprint
    assert hidden.as_released["cells_emptied"] == 1


def test_left_out_before_and_after():
    truth = np.array([[0, 0], [1, 0], [1, 1], [1, 1], [0, 1]])
    gone = np.array([[1, 0], [0, 0], [0, 1], [0, 0], [0, 0]], dtype=bool)
    safer = read(truth).suppress(2)
    assert safer.rows_read.tolist() == [2, 3]
    hidden = empty_cells(safer, {"c0": [0]})
    assert hidden.whole.emptied["c0"].tolist() == [False, False, True, False, False]
    assert hidden.class_sizes().tolist() == [2, 2]
    late = read(truth, gone).drop([1])
    assert late.class_sizes().tolist() == [
        len(fitting(truth[[0, 2, 3, 4]], gone[[0, 2, 3, 4]], i, (0, 1))) for i in range(4)
    ]


@pytest.mark.parametrize("seed", range(8))
def test_secrets_of_those_who_fit_and_least_sets_of_columns(seed):
    rng = np.random.default_rng(seed)
    truth, gone = table_of(rng, people=9, columns=3)
    secret = rng.choice(list("abc"), 9)
    people = read(truth, gone, diag=secret)
    told = rb.disclosure(people, "diag").people
    sets = 0
    for i in range(9):
        fit = {known: fitting(truth, gone, i, known) for known in every(3) if known}
        other = {k: np.mean([secret[j] != secret[i] for j in f]) for k, f in fit.items()}
        assert told["ppp_full"][i] == pytest.approx(other[0, 1, 2], abs=1e-12)
        assert told["ppp_min"][i] == pytest.approx(min(other.values()), abs=1e-12)
        alone = [{*k} for k, f in fit.items() if len(f) == 1]
        sets += sum(not any(one < own for one in alone) for own in alone)
    assert rb.microdata.suda(people).total == sets


REFUSING = {
    "candidates": lambda p: rb.candidates(p, p.before_emptying),
    "candidates of": lambda p: rb.candidates(p.before_emptying, p),
    "contingency": rb.contingency,
    "record network": rb.records.record_network,
    "disclosure": lambda p: rb.disclosure(p, "c0"),
    "recommend": lambda p: rb.recommend(p, target="k=2"),
}


@pytest.mark.parametrize("what", REFUSING)
def test_rooms_that_do_not_count_so_refuse(what):
    truth = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    gone = np.array([[1, 0], [0, 0], [0, 0], [0, 0]], dtype=bool)
    with pytest.raises(rb.UsageError, match="before_emptying"):
        REFUSING[what](read(truth, gone))


def test_refused_with_a_remedy():
    people = rb.read_table(pd.DataFrame({"age": [1, None, 2], "sex": list("mmf")}),
                           quasi_identifiers=["age", "sex"],
                           missing="matches-anything")  # fmt: skip
    with pytest.raises(rb.UsageError, match='missing="value"'):
        empty_cells(people, {"age": [0]})
    with pytest.raises(rb.UsageError, match='missing="value"'):
        empty_cells(people, {"sex": [0]}).class_sizes()
    with pytest.raises(rb.UsageError, match="no quasi-identifier"):
        empty_cells(people, {"agee": [0]})
    with pytest.raises(rb.UsageError, match="all cells at once"):
        empty_cells(empty_cells(read(np.eye(3, dtype=int)), {"c0": [0]}), {"c0": [1]})


def test_where_the_original_is_not_there_it_is_said_at_the_number():
    ages = pd.DataFrame({"age": [None, *["40"] * 10]})
    loose = rb.read_table(ages, quasi_identifiers=["age"], missing="matches-anything")
    result = rb.assess("adversary-routes", loose, known=["age"], population=100)
    assert result.risk("marketer")[0] == pytest.approx(1 / 11)
    assert "perhaps one" in str(result)
    assert "perhaps one" in " ".join(result.remarks())
    strict = rb.read_table(ages, quasi_identifiers=["age"])
    alone = rb.assess("adversary-routes", strict, known=["age"], population=100)
    assert alone.risk("marketer")[0] == 1
    assert "perhaps one" not in str(alone)
    told = rb.read_table(pd.DataFrame({"age": ["30", *["40"] * 10]}), quasi_identifiers=["age"])
    hidden = empty_cells(told, {"age": [0]})
    right = rb.assess("adversary-routes", hidden, known=["age"], population=100)
    assert right.risk("marketer").tolist() == pytest.approx([1, *[1 / 11] * 10])
    assert "cells of age were emptied" in str(right)


@pytest.mark.wide
def test_two_releases_differ_in_what_was_emptied(tmp_path):
    rng = np.random.default_rng(5)
    truth, gone = table_of(rng, people=30, columns=2)
    plain, hidden = read(truth), read(truth, gone)
    ask = {"known": {"c0": 0.5, "c1": 0.5}, "population": 300}
    before, after = (rb.assess("adversary-routes", p, **ask) for p in (plain, hidden))
    both = rb.compare(before, after)
    assert "emptied" in str(both)
    assert (after.risk("marketer") <= before.risk("marketer") + 1e-12).all()
    cells = int(gone.sum())
    after.report(tmp_path / "r.json")
    after.report(tmp_path / "r.md")
    told = (tmp_path / "r.json").read_text() + (tmp_path / "r.md").read_text()
    assert f'"cells_emptied": {cells}' not in told
    assert f"cells emptied | {cells} " not in told


def test_a_banded_column_that_is_dropped_can_be_compared_and_reported(tmp_path):
    ages = pd.DataFrame({"age": np.arange(200) % 60, "sex": ["f", "m"] * 100})
    people = rb.read_table(ages, quasi_identifiers=["age", "sex"])
    plan = rb.recommend(people, "adversary-routes", known=["age", "sex"], population=2_000,
                        target="k=50", hierarchies={"age": "bands:5,10"})  # fmt: skip
    assert "age" in plan.best.dropped
    before = rb.assess("adversary-routes", people, known=["age", "sex"], population=2_000)
    with pytest.warns(rb.errors.ReidbnWarning, match="level of age: 0 -> 3"):
        before.compare(plan.result)
    assert plan.result.report(tmp_path / "r.json").is_file()
    assert plan.apply().as_released["levels"]["age"] == plan.best.levels["age"]
