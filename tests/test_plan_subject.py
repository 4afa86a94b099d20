"""Plans where the call says something of each person (subject=): held against every way to release
and everybody who may be left out, by hand."""

from itertools import chain, combinations, product

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

BEFORE = """
schema_version: 1
name: wanted
title: Some people are looked for more than others
subject:
  class_size: {per: known, unit: records, range: [1, 1000000]}
  p_sought: {unit: probability, range: [0, 1]}
groups:
  known: {members: [knows_a, knows_b], probability: 0.5, source: assumption}
nodes:
  sought: {cpd: {kind: probability, p: "@p_sought"}}
  guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  found: {parents: [sought, guess], cpd: {kind: probability, p: 1, only_if: [sought, guess]}}
questions: {risk: {target: found=yes}}
"""
LEARNT = """
schema_version: 1
name: told
title: Who is written of more is known better
parameters: {at_all: {value: 0.9, source: assumption}, p_b: {value: 0.4, source: assumption}}
subject:
  class_size: {per: known, unit: records, range: [1, 1000000]}
  p_sought: {unit: probability, range: [0, 1]}
nodes:
  posts: {cpd: {kind: probability, p: "@p_sought"}}
  guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
groups:
  known:
    members:
      a: {parents: [posts], cpd: {kind: probability, p: $at_all, only_if: [posts]}}
      b: $p_b
questions: {risk: {target: guess=yes}}
"""
LADDERS = {"a": "bands:2,4", "b": "bands:3"}
KNOWN = {BEFORE: {"known": {"a": 0.7, "b": 0.4}}, LEARNT: {}}
WIDTHS = {"a": [1, 2, 4, 99], "b": [1, 3, 99]}


def by_hand(text, frame, kept, p):
    """The risk of everybody who is kept."""
    left, own, total = frame[kept], p[kept], np.zeros(kept.sum())
    for a, b in product((0, 1), repeat=2):
        known = ["a"] * a + ["b"] * b
        size = left.groupby(known)["a"].transform("size") if known else len(left)
        p_a = 0.7 if text is BEFORE else 0.9 * own
        chance = np.where(a, p_a, 1 - p_a) * (0.4 if b else 0.6)
        total += chance / np.broadcast_to(size, len(left))
    return total * own if text is BEFORE else total


def made(seed, n=9):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 8, n), "b": rng.integers(0, 6, n)})
    return frame, rng.uniform(0, 1, n).round(2), rng


KEPT = {
    "highest": lambda risk, limit: risk.max() <= limit + 1e-12,
    "mean": lambda risk, limit: risk.mean() <= limit + 1e-12,
    "q80": lambda risk, limit: (risk > limit + 1e-12).sum() <= 0.2 * len(risk) + 1e-9,
}


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 5)) for s in range(60)]
)
def test_what_is_said_of_each_person_is_carried_to_every_way(seed):
    text, what = (BEFORE, LEARNT)[seed % 2], list(KEPT)[seed // 2 % 3]
    frame, p, rng = made(seed)
    most = seed // 6 % 3
    limit = float(rng.uniform(0.05, 0.4))
    people = rb.read_table(frame, quasi_identifiers=["a", "b"])
    attack = rb.loads(text)
    whole = by_hand(text, frame, np.ones(9, bool), p)
    np.testing.assert_allclose(
        rb.assess(attack, people, subject={"p_sought": p}, **KNOWN[text]).risk(), whole
    )

    def plan():
        return rb.recommend(people, attack, subject={"p_sought": p}, hierarchies=LADDERS,
                            target={"overall": f"{what} <= {limit}"},
                            suppress_at_most=(most + 0.01) / 9, **KNOWN[text])  # fmt: skip

    least, keeps = np.inf, KEPT[what]
    ways = None
    for a, b in product(range(4), range(3)):
        coarse = pd.DataFrame({"a": frame.a // WIDTHS["a"][a], "b": frame.b // WIDTHS["b"][b]})
        for out in chain.from_iterable(combinations(range(9), r) for r in range(most + 1)):
            kept = ~np.isin(np.arange(9), out)
            if keeps(by_hand(text, coarse, kept, p), limit):
                ways = ways or rb.recommend(people, target="k=2", hierarchies=LADDERS,
                                            suppress_at_most=0.9)._table.ways  # fmt: skip
                least = min(least, ways.loss((a, b), ~kept))
    if np.isinf(least):
        with pytest.raises(rb.DataError, match="no way to release"):
            plan()
        return
    found = plan()
    assert found.best.loss >= least - 1e-9
    assert found.best.loss - found.certificate.gap <= least + 1e-9
    if found.certificate.is_proved:
        assert found.best.loss == pytest.approx(least, abs=1e-9)
    released = found.apply()
    stay = np.isin(people.rows_read, released.rows_read)
    fresh = rb.assess(attack, released, subject={"p_sought": p[stay]}, **KNOWN[text])
    assert keeps(fresh.risk(), limit)
    np.testing.assert_allclose(found.result.risk(), fresh.risk(), rtol=1e-12)
    assert any("p_sought was given in the call" in note for note in found.notes)


def test_a_sample_takes_what_is_said_of_those_who_are_drawn():
    frame, p, _ = made(3, n=200)
    people = rb.read_table(frame, quasi_identifiers=["a", "b"])
    plan = rb.recommend(people, rb.loads(BEFORE), subject={"p_sought": p}, hierarchies=LADDERS,
                        target={"overall": 0.3}, sample=0.4, seed=5, **KNOWN[BEFORE])  # fmt: skip
    released = plan.apply()
    stay = np.isin(people.rows_read, released.rows_read)
    fresh = rb.assess(rb.loads(BEFORE), released, subject={"p_sought": p[stay]}, **KNOWN[BEFORE])
    np.testing.assert_allclose(plan.result.risk(), fresh.risk(), rtol=1e-12)
    row = plan.sampled.set_index("measure").loc["overall"]
    whole = by_hand(BEFORE, frame, np.ones(200, bool), p)
    assert row.all_released == pytest.approx(whole.mean(), abs=1e-12)


def test_numbers_that_count_people_of_the_table_are_refused():
    people = rb.read_table({"a": [1, 1, 2, 3]}, quasi_identifiers=["a"])
    for name, values in (("p_unique", np.full((4, 2), 0.5)), ("class_size", np.full((4, 2), 2.0))):
        with pytest.raises(rb.UsageError, match=f"{name} was given in the call"):
            rb.recommend(people, "adversary-routes", target={"overall": 0.9}, population=900,
                         subject={name: values}, known={"a": 1.0})  # fmt: skip


def test_the_search_that_a_report_prints_names_what_was_said_of_each_person(tmp_path):
    frame, p, _ = made(4, n=60)
    people = rb.read_table(frame, quasi_identifiers=["a", "b"])
    result = rb.assess(rb.loads(BEFORE), people, subject={"p_sought": p}, **KNOWN[BEFORE])
    page = result.report(tmp_path / "r.md", threshold={"overall": 0.05}, custodian=True).read_text()
    assert "rb.recommend(people, target=" in page
    assert "subject=..." in page
