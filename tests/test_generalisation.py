"""Generalisation: the dynamic programme and the paper's search against every partition there is."""

import json
from fractions import Fraction
from itertools import combinations

import disclosure_by_hand as by_hand
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reidbn as rb
from reidbn.attacks import READINGS
from reidbn.errors import UsageError
from reidbn.microdata import People
from reidbn.theory import best_partitions, equal_width_options, partition_value

NAMES = ["age", "b", "c", "secret"]


def partitions(values):
    """Every cut of 0..values-1 into intervals, as the last place of each."""
    for cuts in range(values):
        for places in combinations(range(values - 1), cuts):
            yield (*places, values - 1)


def protected_by_hand(table, last, p, weights):
    """Weight of the people with PPP > p for every non-empty subset, `age` known as its interval."""
    category = {v: next(i for i, end in enumerate(last) if v <= end) for v in range(last[-1] + 1)}
    coarse = [(category[row[0]], *row[1:]) for row in table]
    secret = len(table[0]) - 1
    return sum(
        weight
        for i, weight in enumerate(weights)
        if by_hand.weakest(coarse, i, secret, range(secret))[0] > p
    )


@st.composite
def cases(draw):
    values = draw(st.integers(1, 5))
    width = draw(st.integers(0, 2))
    row = st.tuples(st.integers(0, values - 1), *[st.integers(0, 1)] * width, st.integers(0, 2))
    table = draw(st.lists(row, min_size=1, max_size=12))
    ages = sorted({row[0] for row in table})
    table = [(ages.index(row[0]), *row[1:]) for row in table]
    weights = draw(st.sampled_from([None, "weights"]))
    return table, [i % 3 + 1.0 for i in range(len(table))] if weights else None


@given(cases(), st.sampled_from([0.0, 0.25, 0.5]))
@settings(max_examples=60, deadline=None)
def test_the_optimum_is_the_best_of_all_partitions(case, p):
    table, weights = case
    names = [*NAMES[: len(table[0]) - 1], "secret"]
    people = People.from_codes(np.array(table), names, weights=weights)
    found = rb.best_generalisation(people, "age", sensitive="secret", p=p, smallest=1)
    each = weights or [1.0] * len(table)
    values = max(row[0] for row in table) + 1
    worth = {last: protected_by_hand(table, last, Fraction(p), each) for last in partitions(values)}
    for categories in range(1, values + 1):
        best = max(w for last, w in worth.items() if len(last) == categories)
        row = found.table.loc[found.table["categories"] == categories].iloc[0]
        assert row["protected"] == best
        assert row["share"] == pytest.approx(best / sum(each), abs=1e-12)
        assert worth[tuple(part.last for part in row["partition"])] == best


@given(cases(), st.sampled_from([0.0, 0.25]), st.data())
@settings(max_examples=40, deadline=None)
def test_a_partition_found_protects_that_share_when_it_is_used(case, p, data):
    """What the programme promises is what `disclosure` counts on the coarse variable."""
    table, weights = case
    names = [*NAMES[: len(table[0]) - 1], "secret"]
    people = People.from_codes(np.array(table), names, weights=weights)
    found = rb.best_generalisation(people, "age", sensitive="secret", p=p, smallest=1)
    categories = data.draw(st.sampled_from(found.table["categories"].tolist()))
    ranges = {
        value: str(part)
        for part in found.partition(categories)
        for value in range(part.first, part.last + 1)
    }
    effect = rb.generalisation_effect(people, "secret", {"age": ranges}, p=p)
    share = found.table["share"][found.table["categories"] == categories].item()
    assert effect["after"] == pytest.approx(share, abs=1e-12)
    if p == 0:
        assert effect["after"] >= effect["before"] - 1e-12


@given(st.integers(1, 7), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_the_programme_itself_is_exact_for_any_interval_values(values, seed):
    """Values here are not counts of people: nothing but additivity may be used."""
    worth = np.triu(np.random.default_rng(seed).integers(-5, 9, (values, values)))
    for best in best_partitions(worth.astype(float), values):
        sums = [
            partition_value(worth, last)
            for last in partitions(values)
            if len(last) == best.categories
        ]
        assert best.value == max(sums) == partition_value(worth, best.last)


def test_with_nothing_to_lose_more_categories_never_protect_more_people():
    generator = np.random.default_rng(8)
    codes = np.stack([generator.integers(0, m, 300) for m in (12, 3, 2)], axis=1)
    shares = rb.best_generalisation(
        People.from_codes(codes, ["age", "b", "secret"]), "age", sensitive="secret", smallest=1
    ).table["share"]
    assert (np.diff(shares) <= 0).all()


@pytest.mark.parametrize("positions", [1, 2, 5, 11, 72])
def test_the_search_tries_every_start_value_and_one_inner_width(positions):
    for count, width, options in equal_width_options(positions):
        assert len(options) == (1 if count == 1 else positions - 1 - (count - 2) * width)
        assert len(set(options)) == len(options)
        for last in options:
            widths = np.diff([-1, *last])
            assert len(last) == count
            assert (widths >= 1).all()
            assert last[-1] == positions - 1
            assert (widths[1:-1] == width).all()


@given(cases(), st.sampled_from([0.0, 0.25]), st.integers(1, 5), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_optimum_leaves_nobody_in_a_category_that_is_too_small(case, p, smallest, empty):
    """The best of all partitions whose every category has that many people; none is invented."""
    table, weights = case
    names = [*NAMES[: len(table[0]) - 1], "secret"]
    people = People.from_codes(np.array(table), names, weights=weights)
    each, secret = weights or [1.0] * len(table), len(table[0]) - 1
    values = max(row[0] for row in table) + 1
    worth = {}
    for last in partitions(values):
        category = {v: next(i for i, end in enumerate(last) if v <= end) for v in range(values)}
        coarse = [(category[row[0]], *row[1:]) for row in table]
        sizes = [sum(row[0] == c for row in coarse) for c in range(len(last))]
        if min(sizes) >= smallest:
            worth[last] = sum(
                weight
                for i, weight in enumerate(each)
                if by_hand.weakest(coarse, i, secret, range(secret), empty=empty)[0] > Fraction(p)
            )
    if not worth:
        with pytest.raises(UsageError, match="smallest=1"):
            rb.best_generalisation(people, "age", "secret", p=p, smallest=smallest, empty=empty)
        return
    found = rb.best_generalisation(people, "age", "secret", p=p, smallest=smallest, empty=empty)
    assert set(found.table["categories"]) == {len(last) for last in worth}
    for row in found.table.to_dict("records"):
        assert row["smallest"] >= smallest
        assert row["protected"] == max(
            w for last, w in worth.items() if len(last) == row["categories"]
        )
        assert sum(part.people for part in row["partition"]) == len(table)


def test_four_people_are_not_put_alone_in_a_category():
    """Merging all others hides them best; the four old ones would be handed over."""
    ages = [90] * 4 + [20 + i % 30 for i in range(120)]
    sick = [1] * 4 + [int(i % 30 == 0 and i > 0) for i in range(120)]
    people = rb.read_table(
        {"age": ages, "sick": sick}, quasi_identifiers=["age"], sensitive=["sick"]
    )
    free = rb.best_generalisation(people, "age", "sick", smallest=1)
    assert min(part.people for part in free.partition(2)) < 10
    kept = rb.best_generalisation(people, "age", "sick")
    assert (kept.table["smallest"] >= 10).all()
    with pytest.raises(UsageError, match="categories of at least 10 people"):
        rb.best_generalisation(people, "age", "sick", categories=[31])
    several = rb.generalise_several(
        People.from_codes(
            np.random.default_rng(2).integers(0, (9, 6, 3), (80, 3)), ["age", "children", "sick"]
        ),
        {"age": 3, "children": 2}, "sick",
    )  # fmt: skip
    assert all(part.people >= 10 for parts in several.partitions.values() for part in parts)


def test_only_the_individuals_asked_about_count_in_the_share():
    codes = np.random.default_rng(9).integers(0, (5, 2, 3), (40, 3))
    people = People.from_codes(codes, ["age", "b", "secret"])
    rows = np.arange(0, 40, 3)
    found = rb.best_generalisation(people, "age", "secret", smallest=1, individuals=rows)
    d = rb.disclosure(people, "secret", individuals=rows)
    assert found.table["share"].iloc[-1] == pytest.approx(d.share_upward(), abs=1e-12)


def test_categories_are_not_searched_where_values_match_others():
    people = rb.read_table(
        {"age": [1, None, 2, 3], "sick": [0, 1, 0, 1]},
        quasi_identifiers=["age"], sensitive=["sick"], missing="matches-anything",
    )  # fmt: skip
    with pytest.raises(UsageError, match="as_written"):
        rb.best_generalisation(people, "age", "sick", smallest=1)


def test_text_needs_an_order_and_the_order_decides():
    source = {"size": ["L", "M", "S", "S"], "sick": [0, 1, 1, 0]}
    people = rb.read_table(source, quasi_identifiers=["size"], sensitive=["sick"])
    with pytest.raises(UsageError, match="holds text: say in what order its values stand"):
        rb.best_generalisation(people, "size", sensitive="sick", smallest=1)
    found = rb.best_generalisation(
        people, "size", sensitive="sick", order=["S", "M", "L"], smallest=1
    )
    assert [str(part) for part in found.partition(2)] == ["S", "M-L"]
    assert found.table["protected"].tolist() == [4, 4, 2]
    with pytest.raises(UsageError, match="leaves out 1 of the 3"):
        rb.best_generalisation(people, "size", sensitive="sick", order=["S", "M"], smallest=1)


def test_bad_calls_say_what_would_be_right():
    people = People.from_codes([[0, 0], [1, 1]], ["age", "secret"])
    with pytest.raises(UsageError, match=r"1\.\.2"):
        rb.best_generalisation(people, "age", sensitive="secret", categories=[3], smallest=1)
    with pytest.raises(UsageError, match="not an auxiliary"):
        rb.best_generalisation(people, "secret", sensitive="secret", smallest=1)
    with pytest.raises(UsageError, match="paper"):
        rb.equal_width_search(people, "age", "secret", reading="papers")
    with pytest.raises(UsageError, match="best_generalisation"):
        rb.generalise_several(people, {"age": 2}, "secret", smallest=1)


# Several variables


def test_the_coordinate_search_climbs_and_ends_where_no_single_variable_can_be_cut_better():
    generator = np.random.default_rng(31)
    codes = np.stack([generator.integers(0, m, 120) for m in (9, 6, 2, 3)], axis=1)
    people = People.from_codes(codes, ["age", "children", "smokes", "biopsy"])
    for p in (0.0, 0.2):
        found = rb.generalise_several(people, {"age": 4, "children": 3}, "biopsy", p=p, smallest=1)
        later = found.steps[found.steps["round"] > 1]
        assert (later["after"] >= later["before"] - 1e-12).all()
        effect = rb.generalisation_effect(people, "biopsy", found.ranges, p=p)
        assert effect["after"] == pytest.approx(found.share, abs=1e-12)
        for name, count in (("age", 4), ("children", 3)):
            rest = {k: v for k, v in found.ranges.items() if k != name}
            best = rb.best_generalisation(
                people, name, "biopsy", categories=[count], p=p, ranges=rest, smallest=1
            )
            assert best.table["share"][0] == pytest.approx(found.share, abs=1e-12)


# The outside oracle


@pytest.fixture(scope="module")
def cervical(real_data):
    columns = ["num_pregnancies", "smokes", "age", "biopsy"]
    return rb.read_table(real_data / "kroes" / "cervical.csv.gz", quasi_identifiers=columns)


@pytest.fixture(scope="module")
def figure4(shared):
    return json.loads((shared / "oracles" / "disclosure" / "figure4.json").read_text())


@pytest.mark.parametrize("column", ["age", "num_pregnancies"])
def test_the_exact_optimum_equals_the_oracle_for_every_number_of_categories(
    cervical, figure4, column
):
    found = rb.best_generalisation(cervical, column, sensitive="biopsy", smallest=1)
    told = figure4["exact_optimum_any_contiguous_categories"][column]
    assert [str(c) for c in found.table["categories"]] == list(told)
    for categories, row in told.items():
        best = found.table.iloc[int(categories) - 1]
        assert best["protected"] == row["best_count"]
        assert [part.last for part in best["partition"][:-1]] == row["upper_edges"]


@pytest.mark.parametrize(
    ("key", "column", "reading"),
    [
        ("age_integer_range_outer_free", "age", "paper"),
        ("age_integer_range_outer_le_b", "age", "at-most"),
        ("age_observed_values_outer_free", "age", "observed"),
        ("pregnancies_integer_range_outer_free", "num_pregnancies", "paper"),
        ("pregnancies_observed_values_outer_free", "num_pregnancies", "observed"),
        ("pregnancies_as_published_alphabetical_codes", "num_pregnancies", "text"),
    ],
)
def test_the_papers_search_equals_the_oracle_in_every_reading(
    cervical, figure4, key, column, reading
):
    found = rb.equal_width_search(cervical, column, sensitive="biopsy", reading=reading)
    told = figure4[key]
    assert [str(c) for c in found.table["categories"]] == list(told)
    values = [part.last for part in found.table["partition"].iloc[-1]]
    for row, oracle in zip(found.table.to_dict("records"), told.values(), strict=True):
        assert (row["options"], row["protected"]) == (oracle["options"], oracle["best_count"])
        assert row["worst"] == pytest.approx(oracle["worst"], abs=1e-12)
        edges = [part.last for part in row["partition"][:-1]]
        if reading in ("observed", "text"):
            edges = [values.index(edge) + 1 for edge in edges]
        assert edges == oracle["best_upper_edges"]
    assert set(READINGS) == {"paper", "at-most", "observed", "text"}


def test_the_gap_between_the_papers_search_and_the_optimum_is_722_against_677(cervical):
    best = rb.best_generalisation(
        cervical, "age", sensitive="biopsy", categories=range(1, 12), smallest=1
    )
    paper = rb.equal_width_search(cervical, "age", sensitive="biopsy")
    at = paper.table["categories"] == 8
    assert best.table["protected"][7] == 722
    assert paper.table["protected"][at].item() == 677
    assert paper.table["inner_width"][at].item() == 9
