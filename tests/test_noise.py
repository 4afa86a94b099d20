"""Noise on a sparse table: how far values go, who fits them, and what it protects."""

import datetime
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from sparse_oracle import random_table

import reidbn as rb

REACH = {"number": Fraction(1, 5), "year": 2, "date": 2}


def cell(sparse, j, person):
    """What a feature holds of somebody; None where nothing."""
    here = slice(sparse.start[j], sparse.start[j + 1])
    own = np.flatnonzero(sparse.rows[here] == person)
    return sparse.labels[j].tolist()[sparse.codes[here][own[0]]] if own.size else None


def fits(kind, known, shown):
    """By the definition, in rationals: may noise have made this out of that?"""
    if known is None or shown is None:
        return False
    if kind == "number":
        a, b = Fraction(str(known)), Fraction(str(shown))
        return abs(b - a) <= REACH[kind] * abs(a)
    if kind == "year":
        return abs(known - shown) <= 2
    if kind == "date":
        return abs((known - shown).days) <= Fraction(1461, 2)
    return known == shown


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_subset_of_facts_by_the_definition(seed):
    """What is known is the value as it was, what is looked through has noise; own facts fit."""
    cells, sparse, kinds = random_table(seed, people=16, features=9)
    off = sparse.noisy(0.2, years=2, seed=seed)
    found = rb.linkage(off, facts=range(1, 9))
    assert found.exact.all()
    for person in range(16):
        own = [j for j in range(9) if cells[f"f{j}"][person] is not None]
        who = {j: [fits(kinds[j], cells[f"f{j}"][person], cell(off, j, i)) for i in range(16)]
               for j in own}  # fmt: skip
        assert all(who[j][person] for j in own)
        for k in range(1, len(own) + 1):
            alone = sum(
                not any(all(who[j][i] for j in some) for i in range(16) if i != person)
                for some in combinations(own, k)
            )
            assert found.success[person, k - 1] == pytest.approx(alone / comb(len(own), k))
    assert str(found.check(individuals=3, draws=40))


def test_values_stay_within_reach_and_others_where_they_are():
    cells, sparse, kinds = random_table(7, people=40, features=12)
    off = sparse.noisy(0.2, years=2)
    moved = 0
    for j, kind in enumerate(kinds):
        for person in range(40):
            was, now = cells[f"f{j}"][person], cell(off, j, person)
            assert (was is None) == (now is None)
            assert was is None or fits(kind, was, now)
            moved += was != now
    assert moved > 50
    assert off.fingerprint != sparse.fingerprint
    assert off.fingerprint == sparse.noisy(0.2, years=2).fingerprint
    assert off.fingerprint != sparse.noisy(0.2, years=2, seed=1).fingerprint
    few = off.drop("f0").take([3, 5, 9])
    assert [cell(few.truth, 0, i) for i in range(3)] == [cells["f1"][p] for p in (3, 5, 9)]
    assert sparse.noisy(0, years=0).labels[2].tolist() == sparse.labels[2].tolist()
    dates = rb.read_sparse({"day": [datetime.date(1, 1, 2), None]}).noisy(0, years=5)
    assert dates.labels[0][0] >= datetime.date(1, 1, 1)


def test_noise_as_a_what_if_is_what_happens():
    """Acted out on the values by the definition; a false alarm below 1e-6."""
    _, sparse, _ = random_table(5, people=40, features=12, filled=0.7)
    before = rb.assess("linkage", sparse)
    after = rb.what_if(before, noise={"share": 0.2, "years": 2})
    assert after.risk().mean() < before.risk().mean()
    found = rb.linkage_truth(after, draws=8_000, seed=2)
    for event, happened in found.happened.items():
        mean = found.predicted(event).mean()
        assert not rb.theory.disagrees(int(happened.sum()), 8_000, mean, level=1e-6), event
    assert any("noise" in remark for remark in after.remarks())
    assert "noise" in str(after.made_from)
    assert "released" in str(rb.compare(before, after))
    table = rb.whatif.protections(before)
    name = next(row for row in table.index if row.startswith("noise"))
    assert table.loc[name, "risk"] == pytest.approx(after.risk().mean(), abs=1e-12)
    assert table.loc[name, "columns lost"] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.noisy(0.2).noisy(0.2), "already"),
        (lambda s: s.noisy(0.95), "share"),
        (lambda s: s.noisy(0.2, years=-1), "years"),
        (lambda s: s.noisy(0.2).coarser({"f3": rb.Bands(5)}), "first"),
        (lambda s: rb.what_if(rb.assess("linkage", s), noise={"off": 1}), "noise=0.2"),
        (lambda s: rb.what_if(rb.assess("linkage", s), noise=2), "share"),
        (lambda s: rb.what_if(rb.linkage(s), noise=0.2), "noise"),
        (lambda s: rb.what_if(rb.assess("adversary-routes", rb.microdata.People.from_codes(
            [[0], [1]], ["age"]), population=10), noise=0.1), "noise= moves"),
    ],
)  # fmt: skip
def test_what_noise_cannot_do(call, message):
    _, sparse, _ = random_table(9, people=8, features=5)
    with pytest.raises(rb.ReidbnError, match=message):
        call(sparse)


def test_relatives_are_not_looked_for_in_noise():
    made = rb.datasets.synthetic_families(3, seed=1)
    sparse = rb.read_sparse(made.table, features=made.features)
    with pytest.raises(rb.UsageError, match="jitter="):
        rb.read_kin(sparse.noisy(0.1))
