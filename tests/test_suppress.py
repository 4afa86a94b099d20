"""Suppressing: k is kept by what is left, whatever matches what."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reidbn as rb
from reidbn.errors import DataError, UsageError
from reidbn.report import Telling
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


def largest_safe_set(rows, k, missing, *, may_match):
    """Of all sets of people in which everybody has k alike, the union of all: by brute force."""
    numbers = range(len(rows))
    match = [[alike(a, b, missing) if may_match else a == b for b in rows] for a in rows]
    every = chain.from_iterable(combinations(numbers, size) for size in range(1, len(rows) + 1))
    safe = [s for s in every if all(sum(match[i][j] for j in s) >= k for i in s)]
    together = set(chain.from_iterable(safe))
    assert not together or tuple(sorted(together)) in safe  # the union is safe itself
    return sorted(together)


@pytest.mark.parametrize("may_match", [False, True])
@pytest.mark.parametrize("missing", POLICIES)
@settings(max_examples=40, deadline=None)
@given(rows=TABLES, k=st.integers(1, 4))
def test_suppressing_keeps_the_largest_set_in_which_everybody_has_k_alike(
    missing, may_match, rows, k
):
    if missing == "drop":
        rows = [row for row in rows if None not in row]
    if not rows or any(all(row[j] is None for row in rows) for j in (0, 1)):
        return
    table = as_columns(rows, ["sex", "age"]) | {"id": [f"p{i}" for i in range(len(rows))]}
    people = rb.read_table(
        table, quasi_identifiers=["sex", "age"], missing=missing, hierarchies=LADDER,
        subject_id="id",
    )  # fmt: skip
    kept = largest_safe_set(rows, k, missing, may_match=may_match)
    how = {"may_match": may_match}
    assert people.suppression_rate(k, **how) == (len(rows) - len(kept)) / len(rows)
    if not kept:
        with pytest.raises(DataError, match="nobody is left"):
            people.suppress(k, **how)
        return
    left = people.suppress(k, **how)
    assert left.subject_ids.tolist() == [f"p{i}" for i in kept]
    assert left.k() >= k
    assert left.share_kept == len(kept) / len(rows)
    again = left.suppress(k, **how)
    assert again.subject_ids.tolist() == left.subject_ids.tolist()
    assert again.share_kept == left.share_kept
    assert left.suppression_rate(k, **how) == 0


def test_suppressing_gives_k_where_values_match_several():
    # 50 and 51 each match "50-59" only beside themselves; once 51 goes, "50-59" has too few.
    rows = [("F", 50), ("F", 51), ("F", "50-59"), ("M", 60), ("M", 60), ("M", 60)]
    people = rb.read_table(
        as_columns(rows, ["sex", "age"]), quasi_identifiers=["sex", "age"], hierarchies=LADDER
    )
    assert people.class_sizes().tolist() == [2, 2, 3, 3, 3, 3]
    assert people.suppress(3, may_match=True).k() == 3
    assert len(people.suppress(3, may_match=True)) == 3
    assert people.suppression_rate(3, may_match=True) == 0.5


def test_suppressing_a_large_table_with_gaps_gives_k():
    table = rb.datasets.synthetic_patients(3_000, seed=2)
    rng = np.random.default_rng(3)
    for name in ("state", "sex"):
        table[name] = table[name].astype(object).mask(rng.random(len(table)) < 0.01)
    people = rb.read_table(table, quasi_identifiers=["state", "sex"], missing="matches-anything")
    sizes = people.class_sizes()
    assert people.take(sizes >= 50).k() == 33  # one round is not enough
    safe = people.suppress(50, may_match=True)
    assert safe.k() >= 50
    share = people.suppression_rate(50, may_match=True)
    assert len(safe) == round(len(people) * (1 - share))


GAPS = {"sex": ["f"] * 9 + ["m"] * 6 + [None] * 2, "age": [30] * 14 + [None] + [40, 40]}


@pytest.fixture(scope="module")
def gaps():
    return rb.read_table(GAPS, quasi_identifiers=["sex", "age"], missing="matches-anything")


@pytest.mark.parametrize(("k", "rule"), [(5, {"threshold": "cell-5", "release": "public"}),
                                         (3, {"threshold": "cell-3", "release": "public"}),
                                         (5, {"threshold": "cell-5"})])  # fmt: skip
def test_after_suppressing_five_the_rule_of_five_alike_is_kept_in_a_table_with_gaps(gaps, k, rule):
    def judged(people):
        result = rb.assess("marketer", people)
        result.keep_crosscheck(draws=1_000)
        return result.summary(**rule)

    assert not judged(gaps).judged.passes
    assert judged(gaps.suppress(k)).judged.passes
    assert gaps.suppress(k).k() >= k
    assert not judged(gaps.suppress(2, may_match=True)).judged.passes
    held = rb.what_if(rb.assess("marketer", gaps), suppress=k)
    assert len(held) == len(gaps.suppress(k)) == 14


def test_an_assessment_of_a_table_with_gaps_says_what_counts_possible_matches(gaps, tmp_path):
    result = rb.assess("marketer", gaps)
    result.keep_crosscheck(draws=1_000)
    said = (
        "count whoever may match: with everything known, the highest 1/class is 0.333 (about 1 in "
        "3), counted so; it is 1 (certain), where only rows that are written alike count"
    )
    assert gaps.k() == 3
    assert gaps.as_written().k() == 1
    summary = result.summary("cell-5")
    assert said in str(summary)
    assert any(said in note for note in summary.to_dict()["notes_on_the_rule"])
    outward = "the highest 1/class is up to 0.2, but for under 10 people either way"
    assert outward in result.to_html(tmp_path / "r.html").read_text()
    assert outward in result.to_json(tmp_path / "r.json").read_text()
    plain = rb.read_table(GAPS, quasi_identifiers=["sex", "age"])
    assert rb.assess("marketer", plain).summary("cell-5").notes_on_the_rule(Telling()) == ()


# -- the population of those who are left ----------------------------------------------------------


def patients():
    table = rb.datasets.synthetic_patients(400, seed=7)
    return rb.read_table(table, quasi_identifiers=["age", "sex"])


def test_suppressing_before_assessing_says_the_same_as_suppressing_within_what_if():
    people, N = patients(), 40_000
    within = rb.what_if(rb.assess("journalist", people, population=N), suppress=3)
    before = rb.assess("journalist", people.suppress(3), population=N)
    assert 3 < len(before) < 400
    assert before.provenance["population"] == within.provenance["population"]
    assert before.provenance["population"] == N  # from which the table was drawn, before
    assert np.array_equal(before.risk("journalist_match"), within.risk("journalist_match"))
    assert any("the table as it was before" in note for note in before.summary().notes)
    again = rb.what_if(before, suppress=6)
    once = rb.assess("journalist", people.suppress(6), population=N)
    assert again.provenance["population"] == once.provenance["population"]
    anew = rb.what_if(before, population=N)
    assert anew.provenance["population"] == before.provenance["population"]


def test_a_fit_on_suppressed_people_counts_the_population_without_those_who_left():
    people, N = patients(), 40_000
    left = people.suppress(2)
    with pytest.raises(UsageError, match=r"Fit the table as it was \(people\.whole"):
        rb.population.fit(left, population=N)
    alone = left.take(np.arange(len(left)))  # the table as it was is not there any more
    fitted = rb.population.fit(alone, population=N)
    assert round(N * len(left) / 400) == fitted.sample.N
    assert any("those for whom they stood" in note for note in fitted.sample.notes)
    with pytest.raises(UsageError, match="before suppressing"):
        rb.population.fit(alone, population={"F": 100, "M": 100}, strata="sex")
    with pytest.raises(DataError, match=r"smaller than the table .400, before people were left"):
        rb.assess("journalist", left, population=len(left))


def test_what_leaves_the_house_does_not_count_the_suppressed_by_the_population(tmp_path):
    left = patients().suppress(3)
    left = left.take(np.arange(len(left)))  # the table as it was is not there any more
    result = rb.assess("journalist", left, population=4_000_000)
    result.keep_crosscheck(draws=1_000)
    exact = result.provenance["population"]
    assert exact == round(4_000_000 * len(result) / 400)
    page = (
        result.to_html(tmp_path / "r.html").read_text()
        + result.to_json(tmp_path / "r.json").read_text()
    )
    for written in (f"{exact:,}", f"{exact}"):
        assert written not in page


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3"])
def test_k_is_a_whole_number_of_people(k):
    people = rb.People.from_codes([[0], [0]], ["sex"])
    with pytest.raises(UsageError, match="whole number"):
        people.suppress(k)
