"""The best releases that a report names by itself, each counted again by pandas."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from inside import inside

import reidbn as rb

QI = ["age", "sex", "state", "race"]


def assessed(n=600, **asked):
    people = rb.read_table(rb.datasets.synthetic_patients(n, seed=2), quasi_identifiers=QI)
    asked = {"known": "voter-registration", "population": 6_900_000} | asked
    result = rb.assess("adversary-routes", people, **asked)
    result.keep_crosscheck(draws=2_000)
    return result


def section(text, caption):
    """The rows of a table of a Markdown report."""
    if f"**{caption}**" not in text:
        return []
    rows = text.split(f"**{caption}**")[1].split("\n\n")[1].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def fewest(frame, columns):
    return int(frame.groupby(columns).size().min()) if columns else len(frame)


OUTWARDS = "Releases with nobody left out that keep the rule"


@pytest.mark.parametrize("k", [3, 11])
def test_outwards_only_names_of_releases_that_keep_the_rule(k, tmp_path):
    result, data = assessed(), rb.datasets.synthetic_patients(600, seed=2)
    text = result.report(tmp_path / "r.md", threshold=1 / k).read_text()
    rows = section(text, OUTWARDS)
    assert 1 <= len(rows) <= 3
    kept = []
    for name, verdict in rows:
        assert verdict == "passes"
        assert not re.search(r"\d", name)  # no hierarchies were given: kept or dropped
        gone = set(re.findall(r"(\w+) dropped", name))
        left = [c for c in QI if c not in gone]
        assert fewest(data, left) >= k
        kept.append(gone)
    assert not any(a < b for a in kept for b in kept)
    one_less = [[c for c in QI if c not in kept[0] or c == back] for back in kept[0]]
    assert all(fewest(data, left) < k for left in one_less)


def test_nothing_of_small_tables_or_of_risks_leaves_the_house(tmp_path):
    small = assessed(99).report(tmp_path / "small.md").read_text()
    risk = assessed().report(tmp_path / "risk.md", threshold={"overall": 0.05}).read_text()
    assert OUTWARDS not in small + risk
    assert "Options compared" not in small + risk


@pytest.mark.parametrize("threshold", [None, {"overall": 0.05}])
def test_the_custodians_copy_assesses_the_best_three(threshold, tmp_path):
    result = assessed()
    path = result.report(tmp_path / "r.md", threshold=threshold, custodian=True)
    rows = section(path.read_text(), "Options compared")
    assert rows[0][0] == "this release"
    assert len(rows) == 4
    assert [row[1] for row in rows] == ["does not pass", *["passes"] * 3]
    best = result._beside(result.summary(threshold).rule, custodian=True)
    assert [row[0] for row in rows[1:]] == best.names == [*best.results]
    for one in best.results.values():
        table = one.table
        frame = pd.DataFrame({n: table.labels(n)[table.table[:, j]] for j, n in enumerate(QI)})
        if threshold is None:
            assert fewest(frame.astype(str), QI) >= 11
        else:
            assert one.risk().max() <= 0.05
    assert section(path.read_text(), "Levels that were proposed")
    assert (
        path.read_text()
        == result.report(tmp_path / "again.md", threshold=threshold, custodian=True).read_text()
    )


def test_a_name_that_tells_of_small_classes_stays_in_the_house(tmp_path):
    """One of two values is dropped: each class of few must be beside one of many."""
    ward = ["a"] * 150 + ["b"] * 118
    sex = ["f"] * 100 + ["m"] * 50 + ["f"] * 115 + ["m"] * 3
    people = rb.read_table({"ward": ward, "sex": sex}, quasi_identifiers=["ward", "sex"])
    result = rb.assess("adversary-routes", people, population=50_000)
    own = result.report(tmp_path / "own.md", threshold="0.09", custodian=True).read_text()
    assert "ward dropped" in own  # either column loses one half
    assert "dropped | passes" not in result.report(tmp_path / "r.md", threshold="0.09").read_text()


def test_what_was_named_is_not_searched_beside(tmp_path):
    result = assessed()
    other = rb.what_if(result, suppress=2)
    text = result.report(tmp_path / "r.md", custodian=True, options={"mine": other}).read_text()
    assert [row[0] for row in section(text, "Options compared")] == ["this release", "mine"]


def test_a_large_table_is_not_searched_by_itself(monkeypatch, tmp_path):
    result = assessed()
    rule = result.summary().rule
    found = result._beside(rule, custodian=True)
    assert found.results
    monkeypatch.setattr(inside(type(found)), "MOST_ASSESSED", 100)
    text = result.report(tmp_path / "r.md", custodian=True).read_text()
    assert not section(text, "Options compared")
    assert "reidbn recommend TABLE" in text
    assert result._beside(rule, custodian=True, seconds=20).results


def by_hand(frame, columns, risk, rule):
    """Whether a table keeps a rule, from its words."""
    sizes = frame.groupby(columns)[columns[0]].transform("size") if columns else [len(frame)]
    each, limit = (1 / np.array(sizes) if risk is None else risk), rule.limit
    if rule.release == "controlled":
        most = limit.value if limit.is_own else max(limit.value, 1 / limit.k)
        return each.mean() <= most + 1e-12 and min(sizes) > 1
    return min(sizes) >= limit.k if risk is None else each.max() <= limit.value + 1e-12


LIMITS = [
    *rb.report.PRESETS,
    0.2,
    0.5,
    0.33,
    1 / 3,
    0.09,
    0.7,
    {"overall": 0.05},
    {"marketer": 0.3},
]


@pytest.mark.parametrize("release", ["public", "controlled"])
@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_verdict_search_and_what_stands_beside_ask_for_the_same(limit, release):
    """One rule in three rooms: a verdict, the search that is named, what is found by itself."""
    asked = inside(rb.report.report).command_to_search
    targets_of = inside(rb.recommend).targets_of
    rng = np.random.default_rng(16)
    few = {"a": [0] * 30 + [1] * 3 + [2] * 2, "b": [0] * 35}  # mean .086, and two alike
    for n in (12, 24, 45, 35):
        drawn = {c: rng.integers(0, most, n) for c, most in (("a", 2), ("b", n // 3))}
        frame = pd.DataFrame(few if n == 35 else drawn)
        people = rb.read_table(frame, quasi_identifiers=["a", "b"])
        result = rb.assess("adversary-routes", people, scenario="worst-case", population=n)
        rule = rb.report.rule(limit, release)
        measure = next(iter(limit)) if isinstance(limit, dict) else None
        risk = result.risk(measure) if measure else None
        kept = by_hand(frame, ["a", "b"], risk, rule)
        words = shlex.split(asked(result, rule))
        said = [words[i + 1] for i, word in enumerate(words) if word == "--target"]
        to = words[words.index("--release") + 1] if "--release" in words else None
        assert targets_of(said, to) == targets_of(rule.targets)
        call = {"attack": "adversary-routes", "scenario": "worst-case", "population": n}
        call = {"target": said, "release": to} | (call if measure else {})
        try:
            rb.recommend(people, keep=["a", "b"], **call)
            assert kept
        except rb.errors.DataError:
            assert not kept
        beside = result._beside(rule, custodian=True).results
        verdicts = rb.report.risk_utility(
            {"": result, **beside}, threshold=limit, release=release
        ).table.passes.tolist()
        assert verdicts == [kept, *[True] * len(beside)]
        if not measure:
            some = any(by_hand(frame, list(c), None, rule) for c in ("ab", "a", "b", ""))
            assert beside or not some  # bands of b can do what leaving it out does not
