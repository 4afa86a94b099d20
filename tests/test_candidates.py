"""Candidates: the course's linking exercise, pair-by-pair matching, and every assignment listed."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

import reidbn as rb
from reidbn.errors import DataError, ImpossibleEvidence, TooLarge, UsageError
from reidbn.microdata import pair_probabilities
from tests.tables import KANON_PEOPLE, as_columns

VOTERS = {  # the course's outside table: names with dates of birth and genders
    "Name": ["Sonia", "Bambi", "Josef", "Emery", "Miguel", "Kacie"],
    "DoB": ["20/09/1970", "02/08/1960", "02/09/1970", "25/08/1970", "30/08/1970", "01/08/1960"],
    "Gender": list("FFMMMF"),
}


def voters():
    return rb.read_table(VOTERS, quasi_identifiers=["DoB", "Gender"], subject_id="Name")


def release(**hidden):
    """The course's table 2, or with some columns generalised: tables 3 and 4."""
    columns = as_columns(KANON_PEOPLE, ["DoB", "Gender", "Disease"])
    people = rb.read_table(columns, quasi_identifiers=["DoB", "Gender"], sensitive="Disease")
    ladders = {"DoB": rb.Suffix(5), "Gender": rb.Tree(["M", "F"])}
    return people.generalise(hidden, hierarchies=ladders)


def test_exact_dates_and_genders_name_every_record():
    found = rb.candidates(release(), voters())
    assert found.counts.tolist() == [1] * 6
    assert [found.names(row) for row in range(6)] == [
        ["Josef"], ["Sonia"], ["Kacie"], ["Bambi"], ["Emery"], ["Miguel"]
    ]  # fmt: skip


def test_a_year_of_birth_leaves_four_and_two_candidates():
    found = rb.candidates(release(DoB=1, Gender=1), voters())
    assert found.counts.tolist() == [4, 4, 2, 2, 4, 4]
    assert found.names(2) == ["Bambi", "Kacie"]
    assert found.risk.tolist() == [1 / 4, 1 / 4, 1 / 2, 1 / 2, 1 / 4, 1 / 4]
    assert found.joint(2).tolist() == [0.5, 0.5]


def test_a_gender_leaves_three_candidates_each():
    found = rb.candidates(release(DoB=2), voters())
    assert found.counts.tolist() == [3] * 6
    assert found.names(0) == ["Josef", "Emery", "Miguel"]
    table = found.pairs(joint=True)
    assert len(table) == 18
    assert table["jointly"].tolist() == pytest.approx(table["alone"].tolist())


def test_the_printed_tables_of_the_course_link_to_the_printed_names(shared):
    import pandas as pd

    papers = shared / "data" / "papers"
    outside = rb.read_table(
        papers / "kanon_course_attacker_table.csv",
        quasi_identifiers=["DoB", "Gender"],
        subject_id="Name",
    )
    named = pd.read_csv(papers / "kanon_course_table1.csv").set_index("Name")
    for number, counts in ((2, [1] * 6), (3, [4, 4, 2, 2, 4, 4]), (4, [3] * 6)):
        printed = rb.read_table(
            papers / f"kanon_course_table{number}.csv", quasi_identifiers=["DoB", "Gender"],
            sensitive="Disease", hierarchies={"DoB": rb.Suffix(5), "Gender": rb.Tree(["M", "F"])},
        )  # fmt: skip
        found = rb.candidates(printed, outside)
        assert found.counts.tolist() == counts
        if number == 2:
            dates = [named.loc[found.names(row)[0], "DoB"] for row in range(6)]
            assert dates == [row[0] for row in KANON_PEOPLE]


def test_knowing_that_all_are_different_people_names_more_of_them():
    """a fits Ann or Bo, b fits Bo only: alone a has two candidates, jointly a is Ann."""
    table = rb.read_table({"age": [30, 31]}, quasi_identifiers="age")
    named = rb.read_table(
        {"age": [29, 31], "who": ["Ann", "Bo"]}, quasi_identifiers="age", subject_id="who"
    )
    found = rb.candidates(table, named, match={"age": 1})
    assert [found.names(row) for row in (0, 1)] == [["Ann", "Bo"], ["Bo"]]
    assert found.joint(0).tolist() == [1.0, 0.0]
    assert found.joint(1).tolist() == [1.0]


def test_any_rule_may_say_what_fits():
    table = rb.read_table(
        {"born": ["1970", "1960"], "zip": ["94*", "94152"], "sex": ["F", None]},
        quasi_identifiers=["born", "zip", "sex"], missing="matches-anything",
    )  # fmt: skip
    named = rb.read_table(
        {"dob": ["1970-05-01", "1960-01-01", "1960-07-07"], "postal": ["94140", "94152", "94153"],
         "gender": ["F", "M", "F"]},
        quasi_identifiers=["dob", "postal", "gender"],
    )  # fmt: skip
    found = rb.candidates(
        table, named, columns={"born": "dob", "zip": "postal", "sex": "gender"},
        match={"born": lambda year, day: day.startswith(str(year)), "zip": rb.Prefix(2)},
    )  # fmt: skip
    assert [found.of(row).tolist() for row in (0, 1)] == [[0], [1]]
    year_only = rb.candidates(
        table, named, columns={"born": "dob"}, match={"born": lambda a, b: str(a) in b}
    )
    assert year_only.counts.tolist() == [1, 2]
    assert "1 record fits one person" in repr(year_only)


values = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=12)


@settings(deadline=None)
@given(values, values, st.sampled_from(["equal", "near", "band", "wild"]))
def test_candidates_are_those_found_pair_by_pair(ours, theirs, how):
    names = ["a", "b", "c"]
    rules = {
        "equal": ({}, lambda x, y: x == y),
        "near": ({"b": 1}, lambda x, y: abs(x - y) <= 1),
        "band": ({"b": lambda x, y: x // 2 == y // 2}, lambda x, y: x // 2 == y // 2),
        "wild": ({"b": lambda x, y: True}, lambda x, y: True),
    }
    match, fits = rules[how]
    found = rb.candidates(
        rb.People.from_codes(ours, names), rb.People.from_codes(theirs, names), match=match
    )
    for i, row in enumerate(ours):
        expected = [
            j for j, other in enumerate(theirs)
            if row[0] == other[0] and fits(row[1], other[1]) and row[2] == other[2]
        ]  # fmt: skip
        assert found.of(i).tolist() == expected
        assert found.counts[i] == len(expected)


def by_listing(fits, records, people):
    """Every assignment of single records to single people, counted."""
    left = [t for t, n in enumerate(records) for _ in range(n)]
    right = [e for e, m in enumerate(people) for _ in range(m)]
    hits, total = {}, 0
    for chosen in permutations(range(len(right)), len(left)):
        if all(right[j] in fits[t] for t, j in zip(left, chosen, strict=True)):
            total += 1
            for t, j in zip(left, chosen, strict=True):
                hits[t, right[j]] = hits.get((t, right[j]), 0) + 1
    return {
        (t, e): Fraction(hits.get((t, e), 0), total * records[t] * people[e])
        for t in range(len(records)) for e in fits[t]
    } if total else None  # fmt: skip


@st.composite
def assignments(draw):
    people = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    records = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    one = st.sets(st.sampled_from(range(len(people))), min_size=1).map(sorted)
    return [draw(one) for _ in records], records, people


@settings(deadline=None, max_examples=150)
@given(assignments())
def test_the_chance_of_each_pair_is_its_share_of_all_assignments(case):
    expected = by_listing(*case)
    if expected is None:
        with pytest.raises(ImpossibleEvidence):
            pair_probabilities(*case)
    else:
        assert pair_probabilities(*case) == expected


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=5),
    st.lists(st.integers(0, 8), min_size=5, max_size=6),
)
def test_the_joint_chances_of_overlapping_ages_are_those_of_listing_all(ours, theirs):
    """Every record's chances add up to one, and to no more than one for every person."""
    found = rb.candidates(
        rb.People.from_codes([[a] for a in ours]), rb.People.from_codes([[a] for a in theirs]),
        match={"x0": 2},
    )  # fmt: skip
    fits = [[j for j, b in enumerate(theirs) if abs(a - b) <= 2] for a in ours]
    expected = by_listing(fits, [1] * len(ours), [1] * len(theirs)) if all(fits) else None
    if expected is None:
        with pytest.raises(ImpossibleEvidence):
            found.joint(0)
        return
    total = np.zeros(len(theirs))
    for i in range(len(ours)):
        chances = found.joint(i)
        assert chances == pytest.approx([float(expected[i, j]) for j in fits[i]], abs=1e-15)
        assert chances.sum() == pytest.approx(1, abs=1e-12)
        total[found.of(i)] += chances
    assert (total <= 1 + 1e-12).all()


def test_a_long_chain_of_overlapping_bands_is_solved_jointly():
    """300 records of one age each, named people of all ages, within one year of it."""
    ages = np.arange(300)
    found = rb.candidates(
        rb.People.from_codes(ages[:, None]), rb.People.from_codes(ages[:, None]), match={"x0": 1}
    )
    fib = [1, 1]
    while len(fib) < 302:
        fib.append(fib[-1] + fib[-2])
    stay = found.joint(150)[1]
    assert stay == pytest.approx(float(Fraction(fib[150] * fib[149], fib[300])), rel=1e-12)


def test_what_cannot_be_is_said_and_what_is_too_large_is_refused(monkeypatch):
    three, two = rb.People.from_codes([[0], [0], [0]]), rb.People.from_codes([[0], [0]])
    with pytest.raises(ImpossibleEvidence, match="no assignment"):
        rb.candidates(three, two).joint(0)
    nobody = rb.candidates(rb.People.from_codes([[0], [1]]), two)
    assert nobody.counts.tolist() == [2, 0]
    assert nobody.risk.tolist() == [0.5, 0.0]
    assert nobody.of(1).tolist() == []
    with pytest.raises(ImpossibleEvidence, match="fit nobody"):
        nobody.joint(0)
    monkeypatch.setattr(inside(pair_probabilities), "MOST_STATES", 5)
    rng = np.random.default_rng(20250307)
    many = rb.People.from_codes(rng.integers(0, 30, (25, 1)))
    with pytest.raises(TooLarge, match="individual candidates"):
        rb.candidates(many, many, match={"x0": 9}).joint(0)


def test_a_wrong_call_is_told_what_would_be_right():
    table = rb.read_table({"sex": ["F"], "age": ["50"]}, quasi_identifiers=["sex", "age"])
    named = rb.read_table({"sex": ["F"], "age": [50]}, quasi_identifiers=["sex", "age"])
    with pytest.raises(DataError, match='"age" is texts in one table'):
        rb.candidates(table, named)
    with pytest.raises(UsageError, match="pair them"):
        rb.candidates(table, named, columns=[])
    with pytest.raises(UsageError, match='match names "aeg"'):
        rb.candidates(table, named, columns=["sex"], match={"aeg": 1})
    with pytest.raises(DataError, match="not numbers"):
        rb.candidates(table, named, columns=["sex"], match={"sex": 1})
    with pytest.raises(UsageError, match="released records are 0 to 0"):
        rb.candidates(table, named, columns=["sex"]).of(1)
    for row in (-1, 1):
        with pytest.raises(UsageError, match="released records are 0 to 0"):
            rb.candidates(table, named, columns=["sex"]).joint(row)


@pytest.mark.parametrize("tolerance", [-1, float("nan")])
def test_a_tolerance_that_nothing_meets_is_refused(tolerance):
    table = rb.read_table({"age": [50]}, quasi_identifiers="age")
    with pytest.raises(UsageError, match="a tolerance is 0 or more"):
        rb.candidates(table, table, match={"age": tolerance})


@pytest.mark.parametrize("seed", range(6))
def test_who_knows_less_may_name_somebody_for_a_record_that_nobody_fits_on_all_columns(seed):
    """The mean over what is known, by enumeration; half of the records are a year off."""
    rng = np.random.default_rng(seed)
    ours = {c: rng.integers(0, 3, 9).tolist() for c in ("age", "sex", "race")}
    theirs = {c: rng.integers(0, 3, 6).tolist() for c in ("age", "sex", "race")}
    ours["age"] = [a + 7 * (i % 2) for i, a in enumerate(ours["age"])]
    chances = {"age": 0.01, "sex": 1.0, "race": float(rng.choice([0.0, 0.4]))}
    found = rb.candidates(
        rb.read_table(ours, quasi_identifiers=[*ours]),
        rb.read_table(theirs, quasi_identifiers=[*theirs]),
        known=chances,
    )
    for i in range(9):
        right = 0.0
        for known in np.ndindex(2, 2, 2):
            p = np.prod([q if k else 1 - q for q, k in zip(chances.values(), known, strict=True)])
            on = [c for c, k in zip(chances, known, strict=True) if k]
            fit = sum(all(theirs[c][j] == ours[c][i] for c in on) for j in range(6))
            right += p / fit if fit else 0
        assert found.risk[i] == pytest.approx(right, abs=1e-12)
    found.check()
    sure = rb.candidates(found.release, found.external, known=["sex"])
    almost = rb.candidates(
        found.release, found.external, known={"sex": 1.0, "age": 1e-9, "race": 0}
    )
    assert almost.risk == pytest.approx(sure.risk, abs=1e-8)


def zips(values, **more):
    return rb.read_table({"sex": list("FMFMF")[: len(values)], "zip": values},
                         quasi_identifiers=["sex", "zip"], **more)  # fmt: skip


def test_a_hierarchy_of_either_table_makes_another_question():
    """1* covers 100 where a hierarchy says so; the values alone are the same."""
    release, outside = zips(["1*", "2*", "2*", "1*"]), ["100", "101", "200", "210", "230"]
    by_start = {"zip": rb.microdata.Prefix(1)}
    plain = rb.candidates(release, zips(outside))
    laddered = rb.candidates(release, zips(outside, hierarchies=by_start))
    assert plain.counts.tolist() == [0, 0, 0, 0]
    assert laddered.counts.tolist() == [1, 1, 2, 1]
    with pytest.warns(rb.errors.ReidbnWarning, match="another rule of matching"):
        rb.compare(plain, laddered)
    assert rb.what_if(plain, external=zips(outside, hierarchies=by_start)).changed
    released = rb.candidates(zips(["1*", "2*", "2*", "1*"], hierarchies=by_start), zips(outside))
    assert rb.compare(laddered, released)["difference"].eq(0).all()  # they say alike, and one


def test_a_column_that_is_not_known_any_more_takes_its_tolerance_with_it():
    ours = rb.read_table({"a": [1, 2, 3], "b": [1, 1, 2]}, quasi_identifiers=["a", "b"])
    theirs = rb.read_table({"a": [1, 2, 4], "b": [1, 1, 2]}, quasi_identifiers=["a", "b"])
    found = rb.candidates(ours, theirs, match={"a": 1})
    assert rb.what_if(found, unknown="a").counts.tolist() == [2, 2, 1]
    with pytest.raises(UsageError, match='match names "c"; the shared columns are a, b'):
        rb.candidates(ours, theirs, match={"c": 1}, known=["a"])
