"""Suppressing: k is kept by what is left, whatever matches what."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reidbn as rb
from reidbn.errors import DataError, UsageError
from tests.tables import as_columns

CELLS = (st.sampled_from(["F", "M", None]), st.sampled_from([50, 51, 61, "50-59", "*", None]))
TABLES = st.lists(st.tuples(*CELLS), min_size=1, max_size=9)
LADDER = {"age": rb.Bands(10)}
POLICIES = ("value", "matches-anything", "drop")


def covers(value, missing):
    """The values that a cell may stand for; None where it may be anything."""
    if value == "*" or (value is None and missing == "matches-anything"):
        return None
    return set(range(50, 60)) if value == "50-59" else {value}


def alike(one, two, missing):
    """Whether two rows may be the same person's: by the definition, cell by cell."""
    for a, b in zip(one, two, strict=True):
        if (a is None or b is None) and missing == "value":
            if a != b:
                return False
            continue
        left, right = covers(a, missing), covers(b, missing)
        if left is not None and right is not None and not left & right:
            return False
    return True


def largest_safe_set(rows, k, missing):
    """Of all sets of people in which everybody has k alike, the union of all: by brute force."""
    numbers = range(len(rows))
    match = [[alike(a, b, missing) for b in rows] for a in rows]
    every = chain.from_iterable(combinations(numbers, size) for size in range(1, len(rows) + 1))
    safe = [s for s in every if all(sum(match[i][j] for j in s) >= k for i in s)]
    together = set(chain.from_iterable(safe))
    assert not together or tuple(sorted(together)) in safe  # the union is safe itself
    return sorted(together)


@pytest.mark.parametrize("missing", POLICIES)
@settings(max_examples=60, deadline=None)
@given(rows=TABLES, k=st.integers(1, 4))
def test_suppressing_keeps_the_largest_set_in_which_everybody_has_k_alike(missing, rows, k):
    if missing == "drop":
        rows = [row for row in rows if None not in row]
    if not rows or any(all(row[j] is None for row in rows) for j in (0, 1)):
        return
    table = as_columns(rows, ["sex", "age"]) | {"id": [f"p{i}" for i in range(len(rows))]}
    people = rb.read_table(
        table, quasi_identifiers=["sex", "age"], missing=missing, hierarchies=LADDER,
        subject_id="id",
    )  # fmt: skip
    kept = largest_safe_set(rows, k, missing)
    assert people.suppression_rate(k) == (len(rows) - len(kept)) / len(rows)
    if not kept:
        with pytest.raises(DataError, match="nobody is left"):
            people.suppress(k)
        return
    left = people.suppress(k)
    assert left.subject_ids.tolist() == [f"p{i}" for i in kept]
    assert left.k() >= k
    assert left.suppress(k).subject_ids.tolist() == left.subject_ids.tolist()
    assert left.suppression_rate(k) == 0


def test_suppressing_gives_k_where_values_match_several():
    # 50 and 51 each match "50-59" only beside themselves; once 51 goes, "50-59" has too few.
    rows = [("F", 50), ("F", 51), ("F", "50-59"), ("M", 60), ("M", 60), ("M", 60)]
    people = rb.read_table(
        as_columns(rows, ["sex", "age"]), quasi_identifiers=["sex", "age"], hierarchies=LADDER
    )
    assert people.class_sizes().tolist() == [2, 2, 3, 3, 3, 3]
    assert people.suppress(3).k() == 3
    assert len(people.suppress(3)) == 3
    assert people.suppression_rate(3) == 0.5


def test_suppressing_a_large_table_with_gaps_gives_k():
    table = rb.datasets.synthetic_patients(3_000, seed=2)
    rng = np.random.default_rng(3)
    for name in ("state", "sex"):
        table[name] = table[name].astype(object).mask(rng.random(len(table)) < 0.01)
    people = rb.read_table(table, quasi_identifiers=["state", "sex"], missing="matches-anything")
    sizes = people.class_sizes()
    assert people.take(sizes >= 50).k() == 33  # one round is not enough
    safe = people.suppress(50)
    assert safe.k() >= 50
    assert len(safe) == round(len(people) * (1 - people.suppression_rate(50)))


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3"])
def test_k_is_a_whole_number_of_people(k):
    people = rb.People.from_codes([[0], [0]], ["sex"])
    with pytest.raises(UsageError, match="whole number of people"):
        people.suppress(k)
