"""Numbers as people write them, one reading everywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reidbn as rb
from reidbn.cli import main, read_grid, read_settings
from reidbn.report import threshold as rb_threshold
from reidbn.written import read_number


@given(st.integers(0, 10**12))
def test_thousands_may_stand_apart_in_every_way_that_people_write_them(number):
    english = f"{number:,}"
    for written in (str(number), english, english.replace(",", " "), english.replace(",", "_"),
                    english.replace(",", "\u00a0"), english.replace(",", "\u202f")):  # fmt: skip
        assert read_number(written, "population") == number


@pytest.mark.parametrize(
    ("text", "value"),
    [("300k", 300_000), ("1.5K", 1_500), ("6.9m", 6_900_000), ("0.33 bn", 330_000_000),
     ("9%", 0.09), ("7.5 %", 0.075), ("2.5e8", 2.5e8), ("1,000.5", 1000.5)],
)  # fmt: skip
def test_units_and_percent_are_understood(text, value):
    assert read_number(text, "n") == value


@pytest.mark.parametrize(
    "text",
    [
        "0,09",
        "1,5",
        "300,00",
        "1.000.000",
        "012",
        "000",
        "k",
        "%",
        "",
        "1/0",
        "1/2/3",
        "-1/2",
        "1/0.5",
        "inf",
        "1e999",
    ],
)
def test_what_could_be_two_numbers_or_none_is_refused(text):
    with pytest.raises(rb.UsageError, match=r"n: .*not a (finite )?number"):
        read_number(text, "n")


@pytest.mark.parametrize(("text", "value"), [("1/11", 1 / 11), ("1 / 3", 1 / 3), ("22/7", 22 / 7)])
def test_a_fraction_is_read_as_one_number_divided_by_another(text, value):
    assert read_number(text, "threshold") == value
    assert read_settings([f"p_m={text}"]) == {"p_m": value}


@pytest.mark.parametrize("k", [2, 3, 5, 7, 10, 11, 15, 20, 49, 1000])
def test_a_threshold_of_one_in_k_asks_for_k_alike_in_whatever_way_it_is_written(k):
    for choice in (f"1/{k}", f"{100}/{100 * k}", 1 / k):
        limit = rb_threshold(choice)
        assert (limit.k, limit.is_own) == (k, True)
        assert limit.value == 1 / k


@pytest.mark.parametrize(
    ("text", "k", "offered"),
    [("0.0909", 12, "ask for 11 alike"), ("0.09", 12, "ask for 11 alike"),
     ("0.33", 4, "cell-3 asks for 3 alike"), ("0.333", 4, "cell-3 asks for 3 alike"),
     ("0.0666", 16, "ontario-medium asks for 15 alike"),
     ("0.075", 14, "ontario-medium asks for 15 alike")],
)  # fmt: skip
def test_a_limit_just_beside_a_precedent_names_the_precedent_and_how_many_it_asks_for(
    text, k, offered
):
    limit = rb_threshold(text)
    assert limit.k == k
    assert offered in limit.source


def test_a_limit_beside_no_precedent_names_none():
    for text in ("0.5", "0.15", "1/11", "1/5", "0.2", "0.02"):
        assert rb_threshold(text).source == "given by the user"


def test_a_comma_in_a_list_of_settings_is_never_taken_for_thousands():
    with pytest.raises(rb.UsageError, match="write 300,000 as 300000 or 300k"):
        read_settings(["records=300,000"])
    with pytest.raises(rb.UsageError, match="write 300,000 as 300000 or 300k"):
        read_grid(["records=300,000"])
    assert read_grid(["records=300k,0.4m"]) == {"records": [300_000, 400_000]}


def test_the_population_may_be_written_with_commas_or_as_300k(capsys):
    shown = []
    for text in ("300000", "300,000", "300k"):
        words = ["population", "synthetic:300", "--qi", "age,sex", "--population", text]
        with pytest.raises(SystemExit) as done:
            main([*words, "--model", "pitman", "--json"])
        assert done.value.code == 0
        shown.append(capsys.readouterr().out)
    assert len(set(shown)) == 1
