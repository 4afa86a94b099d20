"""Hierarchies and matching: levels, what a general value covers, and counting what matches."""

from itertools import count, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

import reidbn as rb
from reidbn.errors import DataError, TooLarge, UsageError
from reidbn.microdata import Relation, interval, match_totals, stars_meet, wildcard
from tests.tables import matches_by_definition

AGES = rb.Bands(5, 10, 20, bottom=20, top=90)
PLACES = rb.Tree({"Europe": {"West": ["UK", "FR"], "East": ["PL"]}, "Asia": ["JP", "CN"]})
POSTCODES = rb.Prefix(4, 2)


@pytest.mark.parametrize(
    ("hierarchy", "value", "ups"),
    [
        (AGES, 52, [52, "50-54", "50-59", "40-59", "*"]),
        (AGES, 12, [12, "<20", "<20", "<20", "*"]),
        (AGES, 94, [94, "90+", "90+", "90+", "*"]),
        (AGES, 89, [89, "85-89", "80-89", "80-89", "*"]),
        (AGES, None, [*[None] * 4, "*"]),
        (rb.Bands(0.5), 1.25, [1.25, "[1, 1.5)", "*"]),
        (rb.Bands(10, start=5), 5, [5, "5-14", "*"]),
        (rb.Bands(5, 10), "50-54", ["50-54", "50-54", "50-59", "*"]),
        (PLACES, "UK", ["UK", "West", "Europe", "*"]),
        (PLACES, "JP", ["JP", "Asia", "Asia", "*"]),
        (PLACES, "West", ["West", "West", "Europe", "*"]),
        (POSTCODES, "OX12 6HU", ["OX12 6HU", "OX12*", "OX*", "*"]),
        (POSTCODES, "OX12", ["OX12", "OX12*", "OX*", "*"]),
        (rb.Prefix(5, 4), "OX12*", ["OX12*", "OX12*", "OX12*", "*"]),
        (rb.Suffix(5, 2), "*/1970", ["*/1970", "*/1970", "*70", "*"]),
        (POSTCODES, "OX1", ["OX1", "OX1", "OX*", "*"]),
        (POSTCODES, "OX12*", ["OX12*", "OX12*", "OX*", "*"]),
        (rb.Suffix(5, 2), "02/09/1970", ["02/09/1970", "*/1970", "*70", "*"]),
    ],
)
def test_each_level_of_a_hierarchy(hierarchy, value, ups):
    assert [hierarchy.up(value, level) for level in range(hierarchy.levels + 1)] == ups


@given(st.integers(-50, 150), st.integers(1, 3))
def test_bands_nest_and_hold_their_values(value, level):
    low, high = interval(AGES.up(value, level))
    assert low <= value <= high
    outer_low, outer_high = interval(AGES.up(value, level + 1))
    assert outer_low <= low
    assert outer_high >= high
    assert AGES.up(AGES.up(value, level), level + 1) == AGES.up(value, level + 1)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("50-54", (50, 54)), ("-5--1", (-5, -1)), ("[50, 55]", (50, 55)), ("<=30", (-np.inf, 30)),
        ("80+", (80, np.inf)), (">=80", (80, np.inf)), ("*", (-np.inf, np.inf)),
        ("7.5", (7.5, 7.5)), ("50 to 54", (50, 54)),
    ],
)  # fmt: skip
def test_bands_are_read_as_people_write_them(text, ends):
    assert interval(text) == ends


def test_open_ends_of_bands_are_left_out():
    assert interval("[50, 55)")[1] < 55
    assert interval("(50, 55]")[0] > 50
    assert interval("<30")[1] < 30
    assert interval(">30")[0] > 30


@pytest.mark.parametrize("text", ["fifty", "54-50", "", "5-", "1-2-3", "2010-05-06"])
def test_what_is_no_band_is_refused_without_repeating_it(text):
    with pytest.raises(DataError, match="neither a number nor a band") as caught:
        interval(text)
    assert len(text) < 3 or text not in str(caught.value)


def test_bands_that_would_not_nest_are_refused():
    with pytest.raises(UsageError, match="multiple"):
        rb.Bands(5, 12)
    with pytest.raises(UsageError, match="above 0"):
        rb.Bands(0)
    with pytest.raises(UsageError, match="keep fewer"):
        rb.Prefix(2, 4)


words = st.text("ab", max_size=3)


@given(words, words, st.booleans(), st.booleans(), words, words)
def test_two_masked_texts_meet_when_some_text_fits_both(head, tail, star, star2, head2, tail2):
    one, two = (
        h + ("*" if s else "") + t for h, s, t in ((head, star, tail), (head2, star2, tail2))
    )

    def fits(text, mask):
        if "*" not in mask:
            return text == mask
        left, right = mask.split("*")
        inside = len(text) >= len(left) + len(right)
        return inside and text.startswith(left) and text.endswith(right)

    longest = len(one) + len(two)
    some = any(
        fits("".join(letters), one) and fits("".join(letters), two)
        for n in range(min(longest, 12) + 1)
        for letters in product("ab", repeat=n)
    ) if longest <= 9 else None  # fmt: skip
    if some is not None:
        assert stars_meet(one, two) == stars_meet(two, one) == some


@given(st.lists(st.text("ab", max_size=3).flatmap(lambda t: st.sampled_from([t, t + "*"])),
                min_size=1, max_size=8, unique=True), st.booleans())  # fmt: skip
def test_prefixes_found_by_sorting_are_those_found_one_by_one(texts, at_end):
    ladder = rb.Suffix(1) if at_end else rb.Prefix(1)
    texts = [text[::-1] for text in texts] if at_end else texts
    found = ladder.relation(texts)
    matrix = found.matrix() if found else np.eye(len(texts), dtype=bool)
    assert matrix.tolist() == [[stars_meet(a, b) for b in texts] for a in texts]


def test_an_arx_file_is_a_ladder(tmp_path):
    path = tmp_path / "country.csv"
    path.write_text("UK;West;Europe;*\nFR;West;Europe;*\nPL;East;Europe;*\nJP;Asia;Asia;*\n")
    ladder = rb.read_hierarchy(path)
    assert ladder.levels == 3
    assert [ladder.up("FR", level) for level in range(4)] == ["FR", "West", "Europe", "*"]
    people = rb.read_table(
        {"c": ["UK", "FR", "PL", "JP", "JP"]}, quasi_identifiers="c", hierarchies={"c": path}
    )
    assert people.generalise({"c": 1}).class_sizes().tolist() == [2, 2, 1, 2, 2]
    assert people.generalise({"c": 2}).class_sizes().tolist() == [3, 3, 3, 2, 2]
    path.write_text("UK;West\nFR;West;Europe\n")
    with pytest.raises(DataError, match="line 2 has 3 cells"):
        rb.read_hierarchy(path)
    path.write_text("UK;West\nUK;East\n")
    with pytest.raises(DataError, match="line 2 repeats"):
        rb.read_hierarchy(path)
    path.write_bytes(b"caf\xe9;x\n")
    with pytest.raises(DataError, match="not UTF-8"):
        rb.read_hierarchy(path)
    with pytest.raises(DataError, match="No such file"):
        rb.read_hierarchy(tmp_path / "nothing.csv")


def _grown(rng, names, deep):
    """A random tree, and the groups around each value, from the innermost out."""
    branches, around = [], {}
    for _ in range(int(rng.integers(1, 4))):
        if deep and rng.random() < 0.6:
            name = f"group {next(names)}"
            inner, own = _grown(rng, names, deep - 1)
            branches.append({name: inner})
            around |= {value: (*groups, name) for value, groups in own.items()}
        else:
            value = f"value {next(names)}"
            branches.append(value)
            around[value] = ()
    return branches, around


@pytest.mark.parametrize("seed", range(40))
def test_every_level_of_an_uneven_tree_is_made_of_whole_branches(seed):
    rng = np.random.default_rng(seed)
    tree, around = _grown(rng, count(), 4)
    ladder = rb.Tree(tree)
    holds = {v: {v} for v in around}
    for value, groups in around.items():
        for name in groups:
            holds.setdefault(name, set()).add(value)
    for level in range(1, ladder.levels):
        at = {value: ladder.up(value, level) for value in around}
        for value, name in at.items():  # who says a name is all of its branch, and nobody else
            assert name in (value, *around[value])
            assert {v for v, other in at.items() if other == name} == holds[name]
            assert ladder.up(name, level) == name
    for value, groups in around.items():  # and every branch is passed through
        passed = [ladder.up(value, level) for level in range(1, ladder.levels)]
        assert {*groups} <= {*passed}
        assert [n for n in dict.fromkeys(passed) if n != value] == [*groups]


def test_a_value_in_two_branches_is_refused():
    with pytest.raises(UsageError, match="two branches"):
        rb.Tree({"a": ["x"], "b": ["x"]})


VALUES = {
    "age": [50, 52, 57, 61, "50-54", "50-59", "55-64", "*", None],
    "place": ["UK", "FR", "PL", "JP", "West", "Europe", "Asia", "*", None],
    "code": ["OX12 6HU", "OX12 9HU", "OX14 6GU", "CB1 1AA", "OX12*", "OX*", "CB1*", "*", None],
}
HOW = {"age": rb.Bands(5, 10), "place": PLACES, "code": POSTCODES}
STANDS_FOR = {
    "50-54": {50, 52}, "50-59": {50, 52, 57}, "55-64": {57, 61},
    "West": {"UK", "FR"}, "Europe": {"UK", "FR", "PL"}, "Asia": {"JP", "CN"},
    "OX12*": {"OX12 6HU", "OX12 9HU"}, "OX*": {"OX12 6HU", "OX12 9HU", "OX14 6GU"},
    "CB1*": {"CB1 1AA"},
}  # fmt: skip


def alike(a, b):
    """By the sets of exact values that a and b stand for."""
    if "*" in (a, b) or None in (a, b):
        return True
    return bool(STANDS_FOR.get(a, {a}) & STANDS_FOR.get(b, {b}))


row = st.tuples(*[st.sampled_from(values) for values in VALUES.values()])


@settings(deadline=None)
@given(st.lists(row, min_size=1, max_size=20))
def test_a_general_or_missing_value_matches_all_that_it_may_stand_for(rows):
    columns = {name: [r[j] for r in rows] for j, name in enumerate(VALUES)}
    columns = {name: cells for name, cells in columns.items() if any(v is not None for v in cells)}
    if not columns:
        return
    places = [list(VALUES).index(name) for name in columns]
    people = rb.read_table(
        columns, quasi_identifiers=list(columns), missing="matches-anything",
        hierarchies={name: HOW[name] for name in columns}, allow_direct=True,
    )  # fmt: skip
    cut = [[r[j] for j in places] for r in rows]
    expected = matches_by_definition(cut, lambda j, a, b: alike(a, b))
    assert people.class_sizes().tolist() == expected
    for name in columns:
        labels = people.labels(name).tolist()
        labels = [int(v) if str(v).isdigit() else v for v in labels]
        matrix = [[a == b or alike(a, b) for b in labels] for a in labels]
        assert people.matches(name).tolist() == matrix
        assert people.is_partition <= (np.array(matrix) == np.eye(len(labels))).all()


def test_one_level_for_all_is_a_partition_and_mixed_levels_are_not():
    people = rb.read_table(
        {"age": [50, 52, 57, 61], "code": ["OX1 1AA", "OX1 2BB", "OX2 3CC", "CB1 4DD"]},
        quasi_identifiers=["age", "code"],
        hierarchies={"age": rb.Bands(5, 10), "code": rb.Prefix(3)},
    )
    assert people.is_partition
    coarse = people.generalise({"age": 2, "code": 1})
    assert coarse.is_partition
    assert coarse.class_sizes().tolist() == [2, 2, 1, 1]
    mixed = rb.read_table(
        {"age": ["50-59", "52", "57", "61"]}, quasi_identifiers="age",
        hierarchies={"age": rb.Bands(5, 10)},
    )  # fmt: skip
    assert not mixed.is_partition
    assert mixed.class_sizes().tolist() == [3, 2, 2, 1]
    with pytest.raises(UsageError, match="do not fall into classes"):
        mixed.frequencies()
    assert mixed.as_written().class_sizes().tolist() == [1, 1, 1, 1]
    weighed = rb.read_table(
        {"age": ["50-59", "52", "57", "61"], "w": [1, 10, 100, 1000]},
        quasi_identifiers="age", weights="w", hierarchies={"age": rb.Bands(5, 10)},
    )  # fmt: skip
    assert weighed.class_weights().tolist() == [111, 11, 101, 1000]


@st.composite
def related(draw):
    """Rows of codes with any symmetric relation in each column, nested or not."""
    cards = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    row = st.tuples(*[st.integers(0, c - 1) for c in cards])
    rows = np.array(draw(st.lists(row, min_size=1, max_size=25)), dtype=np.int32)
    relations = []
    for c in cards:
        code = st.integers(0, c - 1)
        others = draw(st.dictionaries(code, st.lists(code).map(np.array), max_size=3))
        others = {k: v.astype(np.int64) for k, v in others.items()}
        relations.append(draw(st.sampled_from([None, wildcard(c, c - 1), Relation(c, others)])))
    return rows, cards, relations


@settings(deadline=None, max_examples=150)
@given(related(), st.booleans())
def test_matches_are_counted_as_pair_by_pair_for_any_relation(case, weighed):
    rows, cards, relations = case
    weights = np.arange(1.0, len(rows) + 1) if weighed else None
    match = np.ones((len(rows), len(rows)), dtype=bool)
    for j, relation in enumerate(relations):
        matrix = np.eye(cards[j], dtype=bool) if relation is None else relation.matrix()
        match &= matrix[rows[:, j][:, None], rows[:, j]]
    expected = match @ (np.ones(len(rows)) if weights is None else weights)
    assert match_totals(rows, cards, relations, weights) == pytest.approx(expected, rel=1e-12)


def test_the_join_and_the_comparison_agree_on_nested_values():
    rng = np.random.default_rng(20250305)
    rows = np.unique(rng.integers(0, 6, (400, 3)).astype(np.int32), axis=0)
    relations = [wildcard(6, 5, Relation(6, {4: np.array([0, 1])})), wildcard(6, 5), None]
    mass = np.arange(1.0, len(rows) + 1)
    for m in (mass, np.ones(len(rows))):
        join = inside(match_totals)._Join(rows, relations).totals(m, (6, 6, 6))
        assert join == pytest.approx(
            inside(match_totals)._Pairs(rows, relations).totals(m, (6, 6, 6))
        )


@settings(deadline=None)
@given(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2))
def test_a_higher_level_never_makes_a_class_smaller(age, place, code):
    rng = np.random.default_rng(20250306)
    exact = {
        "age": rng.integers(18, 95, 60),
        "place": rng.choice(["UK", "FR", "PL", "JP"], 60),
        "code": rng.choice(["OX12 6HU", "OX12 9HU", "OX14 6GU", "CB1 1AA"], 60),
    }
    people = rb.read_table(
        exact,
        quasi_identifiers=list(exact),
        hierarchies={"age": AGES, "place": PLACES, "code": POSTCODES},
    )
    levels = {"age": age, "place": place, "code": code}
    sizes = people.generalise(levels).class_sizes()
    for name in levels:
        if levels[name] < people.column(name).hierarchy.levels:
            above = people.generalise(levels | {name: levels[name] + 1})
            assert (above.class_sizes() >= sizes).all()


def test_generalising_in_steps_is_generalising_at_once_and_never_back():
    people = rb.read_table(
        {"age": [50, 52, 57, 61, None]},
        quasi_identifiers="age",
        hierarchies={"age": rb.Bands(5, 10)},
    )
    once, steps = (
        people.generalise({"age": 2}),
        people.generalise({"age": 1}).generalise({"age": 2}),
    )
    assert once.fingerprint == steps.fingerprint
    assert once.labels("age").tolist() == ["50-59", "60-69", None]
    with pytest.raises(UsageError, match="already at level 2"):
        once.generalise({"age": 1})
    with pytest.raises(UsageError, match="levels 0 to 3"):
        people.generalise({"age": 4})
    with pytest.raises(UsageError, match=r"level 0\.5 of"):
        people.generalise({"age": 0.5})
    with pytest.raises(UsageError, match="has no hierarchy"):
        rb.read_table({"a": [1]}, quasi_identifiers="a").generalise({"a": 1})


def test_before_and_after_are_compared_in_numbers():
    people = rb.read_table(
        {"age": [50, 52, 57, 61]}, quasi_identifiers="age", hierarchies={"age": rb.Bands(10)}
    )
    after = people.generalise({"age": 1})
    found = after.compared_with(people)
    assert found.risk["before"].to_dict() == {
        "people": 4, "share left out": 0.0, "k": 1, "uniques": 4, "mean risk": 1.0,
        "share in classes below 5": 1.0,
    }  # fmt: skip
    assert found.risk["after"]["mean risk"] == pytest.approx(0.5)
    assert found.columns.loc["age", "bits before"] == 2.0
    assert found.columns.loc["age", "bits after"] == pytest.approx(0.811278, abs=1e-6)
    assert found.fingerprints == (people.fingerprint, after.fingerprint)
    safe = after.suppress(3)
    assert len(safe) == 3
    assert after.suppression_rate(3) == 0.25
    assert safe.compared_with(people).risk.loc["share left out", "after"] == 0.25
    assert "1 person suppressed, so that each has 3 alike" in safe.notes
    with pytest.raises(DataError, match="nobody is left among 2 alike"):
        people.suppress(2)


def test_missing_and_suppressed_cells_are_counted():
    people = rb.read_table({"a": ["x", None, "*", "y"]}, quasi_identifiers="a")
    assert people.missing_rates() == {"a": 0.5}


def test_work_without_end_is_refused_with_a_way_out(monkeypatch):
    monkeypatch.setattr(inside(match_totals), "MOST_NANOSECONDS", 5)
    people = rb.read_table(
        {"a": ["x", None, "z"], "b": [None, "y", "z"]}, quasi_identifiers=["a", "b"],
        missing="matches-anything",
    )  # fmt: skip
    with pytest.raises(TooLarge, match='missing="value"'):
        people.class_sizes()
    monkeypatch.setattr(inside(match_totals), "MOST_CELLS", 3)
    with pytest.raises(TooLarge, match="match matrix"):
        people.matches("a")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: rb.Bands("5"), "a number above 0"),
        (lambda: rb.Bands(float("nan")), "a number above 0"),
        (lambda: rb.Prefix(2.5), "whole numbers"),
        (lambda: rb.Suffix("4"), "whole numbers"),
    ],
)
def test_widths_and_kept_characters_are_numbers(make, says):
    with pytest.raises(UsageError, match=says):
        make()


def test_widths_and_kept_characters_may_be_numbers_of_numpy():
    assert rb.Bands(np.int64(5)).up(52, 1) == "50-54"
    assert rb.Prefix(np.int64(2)).up("OX12", 1) == "OX*"


def test_a_name_of_two_groups_of_different_values_is_refused():
    """The rows of the smaller group were taken for some of the larger one: 2 alike for 5."""
    rungs = {"a": ("a", "a"), "c": ("other",) * 2, "d": ("other",) * 2, "e": ("e", "other")}
    with pytest.raises(rb.UsageError, match='the group "other" has 2 values at level 1 and 3'):
        rb.microdata.Ladder(rungs)
    named = rungs | {"c": ("rare", "other"), "d": ("rare", "other")}
    assert rb.microdata.Ladder(named).all_up(["c", "e"], 1) == ["rare", "e"]


@pytest.mark.parametrize("level", [1, 2])
def test_rare_values_joined_at_two_levels_part_people_at_each(level):
    towns = np.repeat(["a", "b", "c", "d", "e"], [9, 8, 1, 1, 3])
    people = rb.read_table({"town": towns}, quasi_identifiers=["town"])
    ladder = rb.microdata.rare_together(people, "town", [2, 4])
    general = people.generalise({"town": level}, hierarchies={"town": ladder})
    assert general.is_partition
    assert general.k() == (2, 5)[level - 1]
    known = rb.assess("prosecutor", general, known={"town": 1.0})
    alone = np.array([9] * 9 + [8] * 8 + ([2] * 2 + [3] * 3 if level == 1 else [5] * 5))
    np.testing.assert_array_equal(general.class_sizes(), alone)
    assert (known.risk() == 0).all()
