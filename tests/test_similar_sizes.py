"""Similar class sizes as one: no probability is ever further off than the error that is stated."""

import numpy as np
import pytest
from inside import inside

import reidbn as rb
from reidbn.theory import (
    Classes,
    Levelled,
    level_steps,
    levelled,
    log_number_identified,
)
from tests.leak_oracle import every_number_identified


def as_classes(sizes):
    ordered = sorted(sizes)
    return Classes(np.array(ordered), np.array([sizes[k] for k in ordered]))


def law(classes, leaked, n, removed):
    return np.exp(log_number_identified(classes, leaked, n, removed=removed))


def random_table(rng, sizes, largest, most):
    chosen = rng.choice(np.arange(1, largest + 1), sizes, replace=False)
    return {int(k): int(rng.integers(1, most + 1)) for k in chosen}


def all_as_one(sizes, leaked, n, removed) -> Levelled:
    """Every class levelled with every other: far more than anybody would allow."""
    pairs = inside(levelled)._Equation(as_classes(sizes).records, leaked, n, 1e-3, removed)
    level, steps = level_steps(sizes)
    return Levelled(as_classes(level), sum(pairs.bound(*step) for step in steps))


def random_questions(seed, number):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        sizes = random_table(rng, int(rng.integers(3, 6)), 12, 3)
        D = as_classes(sizes).records
        yield sizes, int(rng.integers(1, D)), int(rng.integers(1, min(8, D))), rng.random() < 0.5


@pytest.mark.wide
def test_on_random_tables_the_distance_of_the_two_laws_is_within_the_bound():
    nearest = 0.0
    for sizes, leaked, n, removed in random_questions(20251122, 50):
        found = all_as_one(sizes, leaked, n, removed)
        assert found.classes.records == as_classes(sizes).records
        assert found.classes.counts.sum() == sum(sizes.values())
        assert len(found.classes.sizes) <= 2
        one, other = (law(c, leaked, n, removed) for c in (as_classes(sizes), found.classes))
        distance = float(np.abs(one - other).sum()) / 2
        assert distance <= found.error + 1e-12
        nearest = max(nearest, distance / found.error)
    assert nearest > 0.99  # the bound is met: it could not be smaller


def test_the_bound_holds_against_every_outcome_counted_in_rationals():
    for sizes, leaked, n, removed in [
        ({1: 1, 2: 1, 4: 1}, 3, 2, True),
        ({1: 2, 2: 1, 3: 1}, 4, 3, True),
        ({1: 2, 2: 1, 3: 1}, 4, 3, False),
        ({1: 1, 5: 1, 2: 1}, 5, 2, False),
    ]:
        found = all_as_one(sizes, leaked, n, removed)
        level = dict(zip(found.classes.sizes.tolist(), found.classes.counts.tolist(), strict=True))
        one, other = (
            every_number_identified(table, leaked, n, removed=removed) for table in (sizes, level)
        )
        distance = float(sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2)
        assert 0 < distance <= found.error + 1e-12


def test_for_one_target_the_bound_is_the_distance_itself():
    sizes = {3: 4, 5: 2, 6: 7, 11: 3}
    found = all_as_one(sizes, 30, 1, True)
    one, other = (law(c, 30, 1, True) for c in (as_classes(sizes), found.classes))
    assert found.error == pytest.approx(abs(one[1] - other[1]), rel=1e-9)


def test_targets_that_are_not_followed_count_as_all_wrong(monkeypatch):
    sizes, leaked, n = {1: 2, 4: 3, 9: 2, 12: 1}, 17, 7
    full = all_as_one(sizes, leaked, n, True).error
    monkeypatch.setattr(inside(levelled), "MOST_FOLLOWED", 1)
    assert full < all_as_one(sizes, leaked, n, True).error


def many_sizes(number):
    """A table with heavy tails, as real ones have."""
    sizes = np.unique(np.rint(np.geomspace(1, 800, number)).astype(int))
    return {int(k): max(1, int(3000 / k**1.6)) for k in sizes}


@pytest.mark.parametrize("removed", [True, False])
def test_on_a_table_of_49_sizes_the_law_is_as_near_as_it_says(removed):
    classes, n = as_classes(many_sizes(60)), 8
    leaked = classes.records // 5
    exact = law(classes, leaked, n, removed)
    for error in (1e-2, 1e-4):
        found = levelled(classes, leaked, n, error, removed=removed)
        near = law(found.classes, leaked, n, removed)
        assert float(np.abs(near - exact).sum()) / 2 <= found.error <= error
        assert len(found.classes.sizes) < len(classes.sizes) * 3 / 4
        assert found.classes.records == classes.records


def test_an_allowed_error_is_used_only_where_the_exact_law_is_slow_and_is_told(monkeypatch):
    classes = many_sizes(60)
    D = as_classes(classes).records
    asked = {"leaked": {D // 5: 0.5, D // 2: 0.5}, "targets": 5}
    exact = rb.leak.number_identified(classes, error=0.001, **asked)
    assert exact.error == 0
    assert "(exact)" in str(exact)
    assert "error" not in exact.table()
    monkeypatch.setattr(inside(rb.leak.number_identified), "QUICK", 0.0)
    near = rb.leak.number_identified(classes, error=0.001, **asked)
    assert 0 < near.error <= 0.001
    assert "every probability within 0.000" in str(near)
    assert (near.table()["error"] == near.error).all()
    for m in range(6):
        assert abs(near.exactly(m) - exact.exactly(m)) <= near.error
        assert abs(near.at_least(m) - exact.at_least(m)) <= near.error
    assert abs(near.mean - exact.mean) <= 5 * near.error


@pytest.mark.slow
def test_a_law_that_would_take_minutes_is_answered_with_an_error_when_one_is_allowed():
    classes = dict.fromkeys(range(1, 1500, 5), 3)
    D = sum(k * c for k, c in classes.items())
    asked = {"leaked": D // 3, "targets": 30}
    found = rb.leak.number_identified(classes, error=0.001, **asked)
    assert 0 < found.error <= 0.001
    assert abs(found.at_least(1) - rb.leak.any_identified(classes, **asked)) <= found.error
    gap = abs(found.mean - rb.leak.expected_identified(classes, **asked))
    assert gap <= 30 * found.error


def test_an_error_that_is_no_share_is_refused():
    for error in (-0.1, 1.0):
        with pytest.raises(rb.UsageError, match="from 0"):
            rb.leak.number_identified({5: 20}, leaked=40, targets=3, error=error)
    sizes = dict.fromkeys(range(1, 3000, 5), 3)
    with pytest.raises(rb.TooLarge, match=r"allow error=0\.001"):
        rb.leak.number_identified(sizes, leaked=10**5, targets=200)
