"""What cannot be read is refused with a clear word and no value of the table."""

import gzip

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.errors import DataError, UsageError
from reidbn.microdata import is_nhs_number
from tests.tables import write

PRIVATE = "zanzibar7731"

PLAIN = {"sex": ["F", "M"], "town": [PRIVATE, "b"]}


def ragged(tmp_path):
    return write(tmp_path, f"sex,town\nF,{PRIVATE}\nM\nF,{PRIVATE}\n")


BAD = {
    "no such column": (lambda d: (PLAIN, {"quasi_identifiers": ["sxe"]}), UsageError, 'mean "sex"'),
    "identifiers": (
        lambda d: (PLAIN, {"quasi_identifiers": ["sex"], "identifiers": ["town"]}),
        UsageError,
        "quasi_identifiers=",
    ),
    "none named": (lambda d: (PLAIN, {"quasi_identifiers": []}), UsageError, "at least one"),
    "named twice": (
        lambda d: (PLAIN, {"quasi_identifiers": ["sex"], "sensitive": ["sex"]}),
        UsageError,
        "one role",
    ),
    "policy": (
        lambda d: (PLAIN, {"quasi_identifiers": ["sex"], "missing": "values"}),
        UsageError,
        'mean "value"',
    ),
    "empty frame": (
        lambda d: (pd.DataFrame({"sex": []}), {"quasi_identifiers": ["sex"]}),
        DataError,
        "no rows",
    ),
    "empty csv": (
        lambda d: (write(d, "sex,town\n"), {"quasi_identifiers": ["sex"]}),
        DataError,
        "no rows",
    ),
    "no header": (
        lambda d: (write(d, ""), {"quasi_identifiers": ["sex"]}),
        DataError,
        "first line",
    ),
    "short line": (
        lambda d: (ragged(d), {"quasi_identifiers": ["sex", "town"]}),
        DataError,
        "line 3 has 1 cells where the header has 2",
    ),
    "long line": (
        lambda d: (write(d, f"sex,town\nF,{PRIVATE},x\nM,a\n"), {"quasi_identifiers": ["sex"]}),
        DataError,
        "line 2 has 3 cells",
    ),
    "open quote": (
        lambda d: (write(d, f'sex,town\nF,"{PRIVATE}\nM,a\n'), {"quasi_identifiers": ["sex"]}),
        DataError,
        "never closed",
    ),
    "stray quote": (
        lambda d: (
            write(d, f'sex,town\nF,a\nF,6" {PRIVATE} 5"\n'),
            {"quasi_identifiers": ["sex", "town"]},
        ),
        DataError,
        "line 3 has a quote inside",
    ),
    "two cells in one pair of quotes": (
        lambda d: (
            write(d, f'sex,town\nF,"a"{PRIVATE},b"c",d\n'),
            {"quasi_identifiers": ["sex", "town"]},
        ),
        DataError,
        "line 2 has a quote inside",
    ),
    "delimiter": (
        lambda d: (ragged(d), {"quasi_identifiers": ["sex"], "delimiter": "::"}),
        UsageError,
        "one character",
    ),
    "bare carriage return": (
        lambda d: (
            write(d, f"sex,town\nF,a\r{PRIVATE}\n"),
            {"quasi_identifiers": ["sex", "town"]},
        ),
        DataError,
        "line 2 holds a carriage return alone",
    ),
    "not UTF-8": (
        lambda d: (
            write(d, b"sex,town\nF,caf\xe9 " + PRIVATE.encode() + b"\n"),
            {"quasi_identifiers": ["town"]},
        ),
        DataError,
        "not UTF-8",
    ),
    "UTF-16": (
        lambda d: (
            write(d, f"sex,town\nF,{PRIVATE}\n".encode("utf-16")),
            {"quasi_identifiers": ["sex"]},
        ),
        DataError,
        "UTF-8",
    ),
    "cut gzip": (
        lambda d: (
            write(d, gzip.compress(b"sex,town\n" + b"F,a\n" * 999)[:-20], "t.csv.gz"),
            {"quasi_identifiers": ["sex"]},
        ),
        DataError,
        "damaged",
    ),
    "two of a name": (
        lambda d: (write(d, f"sex,sex\nF,{PRIVATE}\n"), {"quasi_identifiers": ["sex"]}),
        DataError,
        "two columns have the same name: columns 1 and 2",
    ),
    "two of a name in a frame": (
        lambda d: (
            pd.DataFrame([["F", PRIVATE]], columns=["sex", "sex"]),
            {"quasi_identifiers": ["sex"]},
        ),
        DataError,
        "two columns",
    ),
    "all missing": (
        lambda d: ({"sex": ["F", "M"], "town": [None, ""]}, {"quasi_identifiers": ["town"]}),
        DataError,
        "missing in every row",
    ),
    "mixed": (
        lambda d: ({"town": [1, PRIVATE]}, {"quasi_identifiers": ["town"]}),
        DataError,
        "mixes numbers and texts",
    ),
    "lists": (
        lambda d: ({"town": [[PRIVATE], ["b"]]}, {"quasi_identifiers": ["town"]}),
        DataError,
        "compound",
    ),
    "objects": (
        lambda d: ({"town": [frozenset([PRIVATE]), frozenset()]}, {"quasi_identifiers": ["town"]}),
        DataError,
        "type frozenset",
    ),
    "uneven": (
        lambda d: ({"sex": ["F"], "town": [PRIVATE, "b"]}, {"quasi_identifiers": ["sex"]}),
        DataError,
        "different lengths",
    ),
    "nobody left": (
        lambda d: (
            {"sex": ["F", None], "town": [None, PRIVATE]},
            {"quasi_identifiers": ["sex", "town"], "missing": "drop"},
        ),
        DataError,
        "leaves nobody",
    ),
    "no file": (
        lambda d: (d / "nothing.csv", {"quasi_identifiers": ["sex"]}),
        DataError,
        "no file",
    ),
    "kind of file": (
        lambda d: (write(d, PRIVATE, "t.sav"), {"quasi_identifiers": ["sex"]}),
        UsageError,
        "use .csv",
    ),
    "a workbook": (
        lambda d: (write(d, PRIVATE, "t.xlsx"), {"quasi_identifiers": ["sex"]}),
        UsageError,
        "save the sheet as CSV UTF-8",
    ),
    "not parquet": (
        lambda d: (write(d, PRIVATE, "t.parquet"), {"quasi_identifiers": ["sex"]}),
        DataError,
        "Parquet",
    ),
    "not a table": (lambda d: ([PRIVATE], {"quasi_identifiers": ["sex"]}), UsageError, "from list"),
    "no subject": (
        lambda d: (
            {"sex": ["F", "M"], "id": [PRIVATE, None]},
            {"quasi_identifiers": ["sex"], "subject_id": "id"},
        ),
        DataError,
        "1 rows have no subject",
    ),
    "not in the hierarchy": (
        lambda d: (PLAIN, {"quasi_identifiers": ["town"], "hierarchies": {"town": {"X": ["b"]}}}),
        DataError,
        "in no level",
    ),
    "not a band": (
        lambda d: (PLAIN, {"quasi_identifiers": ["town"], "hierarchies": {"town": rb.Bands(5)}}),
        DataError,
        "neither a number nor a band",
    ),
    "a person's row for a header": (
        lambda d: (write(d, f"50,01234,{PRIVATE}\n61,1,x\n"), {"quasi_identifiers": ["age"]}),
        UsageError,
        "must be the names of the columns",
    ),
    "no header, and the name nearly a value": (
        lambda d: (write(d, f"50,{PRIVATE}\n61,1\n"), {"quasi_identifiers": [PRIVATE[:-1]]}),
        UsageError,
        "must be the names of the columns",
    ),
    "no header, a value twice": (
        lambda d: (write(d, f"50,{PRIVATE},{PRIVATE}\n1,1,1\n"), {"quasi_identifiers": ["50"]}),
        DataError,
        "two columns have the same name: columns 2 and 3",
    ),
    "identifiers alone": (
        lambda d: (PLAIN, {"identifiers": ["sex"]}),
        UsageError,
        r"quasi_identifiers=\[",
    ),
    "nothing named": (lambda d: (PLAIN, {}), UsageError, "name at least one column"),
    "a number for names": (
        lambda d: (PLAIN, {"quasi_identifiers": 3}),
        UsageError,
        "it takes text or a list of text",
    ),
    "a history of nobody": (
        lambda d: (PLAIN, {"quasi_identifiers": ["sex"], "history": "set"}),
        UsageError,
        "name subject_id=",
    ),
    "hierarchy of another": (
        lambda d: (PLAIN, {"quasi_identifiers": ["sex"], "hierarchies": {"twon": rb.Bands(5)}}),
        UsageError,
        "twon",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_a_clear_word_and_no_value(case, tmp_path):
    make, kind, words = BAD[case]
    source, options = make(tmp_path)
    with pytest.raises(kind, match=words) as caught:
        rb.read_table(source, **options)
    chain, problem = "", caught.value
    while problem is not None:
        chain += str(problem)
        problem = problem.__cause__ or (
            None if problem.__suppress_context__ else problem.__context__
        )
    assert PRIVATE not in chain


DIRECT = {
    "e-mail": [f"p{i}@example.org" for i in range(8)],
    "ssn": [f"{100 + i}-45-6789" for i in range(8)],
    "nhs": ["123 456 7890", "111 342 9807"],
    "phone": [f"+44 20 7946 {i:04d}" for i in range(8)],
    "text of one's own": [f"person {i}" for i in range(200)],
    "running number": list(range(1, 201)),
    "long number": [123_456_789 + 10_007 * i for i in range(150)],
}


@pytest.mark.parametrize("kind", DIRECT)
def test_a_column_that_names_persons_is_refused_unless_allowed(kind):
    rows = {"x": DIRECT[kind]}
    with pytest.raises(DataError, match="direct identifier") as caught:
        rb.read_table(rows, quasi_identifiers="x")
    assert not any(str(value) in str(caught.value) for value in DIRECT[kind] if len(str(value)) > 4)
    people = rb.read_table(rows, quasi_identifiers="x", allow_direct=True)
    assert people.classes().uniques == len(people)


@pytest.mark.parametrize(
    "name", ["Last_Name", "Hospital No", "medical record number", "Passport", "IP address"]
)
def test_a_column_called_like_a_name_is_refused(name):
    with pytest.raises(DataError, match="by its name"):
        rb.read_table({name: ["a", "b"]}, quasi_identifiers=name)


def test_what_an_attacker_may_know_is_not_taken_for_a_direct_identifier():
    days = pd.date_range("1940-01-01", periods=300)
    rows = {
        "birth": days.strftime("%d/%m/%Y"),
        "born": days,
        "zip": [f"{10000 + 7 * (i % 150)}" for i in range(300)],
        "income": np.arange(300) * 1.5,
        "age": np.arange(300) % 90,
    }
    assert len(rb.read_table(pd.DataFrame(rows), quasi_identifiers=list(rows))) == 300


def test_the_check_digit_of_an_nhs_number_is_computed():
    assert is_nhs_number("943 476 5919")
    assert not is_nhs_number("943 476 5918")
    assert not is_nhs_number("9434765")
