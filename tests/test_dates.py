"""Dates as a hierarchy, and spellings that people do not mean to differ."""

import datetime

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reidbn as rb
from reidbn.cli import main
from reidbn.errors import DataError, UsageError

CALENDAR = rb.Dates("month", "year", "decade")
WEEKS = rb.Dates(7, 28, start="2020-01-06")
DAYS = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 12, 31))


@pytest.mark.parametrize(
    ("value", "ups"),
    [
        ("1970-01-31", ["1970-01", "1970", "1970s"]),
        ("1970-01-31 23:59:59", ["1970-01", "1970", "1970s"]),
        ("31.1.1970", ["1970-01", "1970", "1970s"]),
        ("31/01/1970", ["1970-01", "1970", "1970s"]),
        ("01/31/1970", ["1970-01", "1970", "1970s"]),
        ("05/05/1970", ["1970-05", "1970", "1970s"]),
        ("31 Jan 1970", ["1970-01", "1970", "1970s"]),
        ("31JAN1970", ["1970-01", "1970", "1970s"]),
        (datetime.date(1969, 12, 31), ["1969-12", "1969", "1960s"]),
        (pd.Timestamp("1969-12-31 05:00"), ["1969-12", "1969", "1960s"]),
        ("1970-02", ["1970-02", "1970", "1970s"]),
        (1970, ["1970", "1970", "1970s"]),
        ("1970s", ["1970s", "1970s", "1970s"]),
        ("*", ["*", "*", "*"]),
        (None, [None, None, None]),
    ],
)
def test_a_date_becomes_its_month_its_year_and_its_decade(value, ups):
    assert [CALENDAR.up(value, level) for level in (1, 2, 3)] == ups


@given(DAYS, st.integers(1, 60), st.integers(2, 4), DAYS)
def test_bands_of_days_are_counted_from_the_start_and_hold_their_dates(day, width, times, start):
    dates = rb.Dates(width, width * times, start=start)
    for level, days in ((1, width), (2, width * times)):
        ((first, last),) = dates.spans(dates.up(day, level))
        assert first <= day.toordinal() <= last == first + days - 1
        assert (first - start.toordinal()) % days == 0
    assert dates.up(dates.up(day, 1), 2) == dates.up(day, 2)


@given(DAYS, DAYS)
def test_two_dates_are_alike_at_a_level_when_their_months_years_and_decades_are(one, two):
    alike = [CALENDAR.up(one, level) == CALENDAR.up(two, level) for level in (1, 2, 3)]
    assert alike == [
        (one.year, one.month) == (two.year, two.month),
        one.year == two.year,
        one.year // 10 == two.year // 10,
    ]


def test_a_date_that_reads_both_ways_is_refused_by_month_and_taken_by_year():
    table = {"born": ["01/02/1970", "03/02/1970", "11/12/1971"]}
    people = rb.read_table(table, quasi_identifiers="born")
    year = people.generalise({"born": 1}, hierarchies={"born": rb.Dates("year")})
    assert year.class_sizes().tolist() == [2, 2, 1]
    with pytest.raises(DataError, match="day first or month first") as caught:
        people.generalise({"born": 1}, hierarchies={"born": rb.Dates("month")})
    assert "1970" not in str(caught.value)
    for order, sizes in (("day-first", [2, 2, 1]), ("month-first", [1, 1, 1])):
        rule = rb.Dates("month", order=order)
        month = people.generalise({"born": 1}, hierarchies={"born": rule})
        assert month.class_sizes().tolist() == sizes


@pytest.mark.parametrize("value", ["31.02.1970", "soon", "02/09/70", "1970-13", "13/13/1970"])
def test_what_is_no_date_is_refused_without_repeating_it(value):
    with pytest.raises(DataError, match="a value is no date") as caught:
        CALENDAR.up(value, 1)
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: rb.Dates(), lambda: rb.Dates("week"), lambda: rb.Dates("year", "month"),
        lambda: rb.Dates(7), lambda: rb.Dates("year", start="2020-01-01"),
        lambda: rb.Dates(7, "year", start="2020-01-01"),
        lambda: rb.Dates(7, 10, start="2020-01-01"),
        lambda: rb.Dates(7, start="1/2/2020"), lambda: rb.Dates("year", order="dmy"),
    ],
)  # fmt: skip
def test_levels_of_dates_that_make_no_sense_are_refused(make):
    with pytest.raises(UsageError):
        make()


def test_general_dates_match_all_that_they_may_stand_for():
    table = {"born": ["1970-01-31", "1970-01", "1970-02-01", "1970", "1971", None, "*"]}
    people = rb.read_table(
        table, quasi_identifiers="born", hierarchies={"born": CALENDAR}, missing="matches-anything"
    )
    assert people.class_sizes().tolist() == [5, 5, 4, 6, 3, 7, 7]


def shown(capsys, *words):
    with pytest.raises(SystemExit) as done:
        main(list(words))
    out = capsys.readouterr()
    return done.value.code, out.out, out.err


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("born,sex\n1970-01-31,F\n1970-05-01,f\n1970-07-01,F\n1981-01-01,M\n")
    return str(path)


@pytest.mark.parametrize(
    "rule", ["year", "month,year", "month,year@day-first", "days:366@1970-01-01"]
)
def test_dates_have_rules_in_the_shell(rule, file, capsys):
    level = "born=2" if "," in rule else "born=1"
    code, out, _ = shown(
        capsys, "classes", file, "--qi", "born", "--hierarchy", f"born={rule}", "--level", level
    )
    assert code == 0
    assert "uniques                          1" in out


def test_a_hierarchy_without_a_level_says_that_it_changes_nothing(file, capsys):
    words = ["classes", file, "--qi", "born", "--hierarchy", "born=year"]
    code, out, _ = shown(capsys, *words)
    assert code == 0
    assert "born stands as written" in out
    assert "--level born=1" in out
    assert "stands as written" not in shown(capsys, *words, "--level", "born=1")[1]


def test_a_hierarchy_that_makes_general_values_match_needs_no_level(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("born\n1970-01-31\n1970\n")
    code, out, _ = shown(capsys, "classes", str(path), "--qi", "born", "--hierarchy", "born=year")
    assert code == 0
    assert "stands as written" not in out


@pytest.mark.parametrize(
    ("rule", "says"),
    [("yaer", "did you mean"), ("days:7", "counts days from no date"), ("year@dmy", "day-first"),
     ("days:x@2020-01-01", "not a whole number")],
)  # fmt: skip
def test_a_rule_for_dates_that_cannot_be_read_is_refused(rule, says, file, capsys):
    code, _, err = shown(capsys, "classes", file, "--qi", "born", "--hierarchy", f"born={rule}")
    assert code == 2
    assert says in err


def test_values_that_differ_by_capitals_or_blanks_are_said_and_made_one_when_asked(file, capsys):
    people = rb.read_table(file, quasi_identifiers=["sex"])
    assert people.class_sizes().tolist() == [2, 1, 2, 1]
    assert any("sex: 1 value differs from another only by capitals" in n for n in people.notes)
    tidy = rb.read_table(file, quasi_identifiers=["sex"], tidy=True)
    assert tidy.class_sizes().tolist() == [3, 3, 3, 1]
    assert tidy.labels("sex").tolist() == ["F", "M"]
    assert "differs from another" in shown(capsys, "classes", file, "--qi", "sex")[1]
    out = shown(capsys, "classes", file, "--qi", "sex", "--tidy")[1]
    assert "uniques                          1" in out
    assert "made one" in out


SPELLED = ["F", "f", "M", " m", "new york", "New  York", "Ä", "a\u0308", None]
TEXTS = st.lists(st.sampled_from(SPELLED), min_size=1, max_size=12)


@given(TEXTS)
def test_tidy_values_are_those_alike_without_capitals_and_blanks(texts):
    if all(text is None for text in texts):
        return
    import unicodedata

    def key(text):
        return text and " ".join(unicodedata.normalize("NFKC", text).casefold().split())

    keys = [key(text) for text in texts]
    people = rb.read_table({"a": texts}, quasi_identifiers="a", tidy=True)
    assert people.class_sizes().tolist() == [keys.count(k) for k in keys]
    assert {label for label in people.labels("a").tolist() if label} <= {
        t.strip() for t in texts if t
    }
    told = any("capitals" in note for note in people.notes)
    assert told == (len({t.strip() for t in texts if t}) > len({k for k in keys if k}))
