"""With a ledger, tables few people apart print the same numbers; it says nothing in the clear."""

import json
import stat
import warnings

import numpy as np
import pytest

import reidbn as rb
from reidbn.errors import ReidbnWarning, UsageError
from reidbn.release import sketch

NAMES = ("age", "sex", "town")


def rows(n, seed=7):
    rng = np.random.default_rng(seed)
    return [(str(a), s, t) for a, s, t in zip(rng.integers(20, 26, n), rng.choice(["f", "m"], n),
            rng.choice(["Elbheim", "Altdorf", "Neustadt"], n), strict=True)]  # fmt: skip


def assessed(records):
    people = rb.read_table(
        {
            name: list(values)
            for name, values in zip(NAMES, zip(*records, strict=True), strict=True)
        },
        quasi_identifiers=list(NAMES),
    )
    result = rb.assess("adversary-routes", people, scenario="worst-case", population=50_000)
    result.keep_crosscheck(draws=1_000)
    return result


def marks(records, secret=b"a secret of the house"):
    columns = []
    for name, values in zip(NAMES, zip(*records, strict=True), strict=True):
        labels, codes = np.unique(values, return_inverse=True)
        columns.append((name, list(labels), codes))
    return sketch(columns, secret)


@pytest.mark.parametrize("seed", range(60))
def test_a_sketch_counts_the_people_between_two_tables_while_they_are_few(seed):
    """Records added, taken away, changed and doubled, in any order: told by multisets alone."""
    rng = np.random.default_rng(seed)
    first = rows(int(rng.integers(30, 400)), seed)
    less, more = int(rng.integers(0, 10)), int(rng.integers(0, 10))
    second = [first[i] for i in rng.permutation(len(first))[less:]]
    second += [(f"new{i % 3}", "x", "y") for i in range(more)]
    apart = marks(first).apart(marks(second))
    assert apart == max(less, more)
    far = second + [(f"other{i}", "x", "y") for i in range(60)]
    assert marks(first).apart(marks(far)) in (None, max(less, more + 60))


def test_another_question_of_the_same_table_is_not_answered_with_the_first_ones_numbers(tmp_path):
    """What was set, given or done was no part of what the ledger took the question to be."""
    first = assessed(rows(260))
    asked = [{}, {"set": {"p_m": 0.9}}, {"do": "claims=no"}, {"given": "claims=no"}]
    texts = []
    for i, change in enumerate(asked):
        result = rb.what_if(first, **change)
        result.keep_crosscheck(draws=1_000)
        path = result.report(tmp_path / f"{i}.json", ledger=tmp_path / "releases.json")
        texts.append(json.loads(path.read_text())["question"])
        assert texts[-1] == result.question
    assert len({*texts}) == len(asked)


def test_tables_one_to_nine_people_apart_print_the_same_bytes(tmp_path):
    first, ledger = rows(260), tmp_path / "releases.json"
    before = assessed(first)
    for ending in ("html", "md", "json"):
        before.report(tmp_path / f"first.{ending}", ledger=ledger)
    for apart in (1, 5, 9):
        after = assessed(first[apart:])
        for ending in ("html", "md", "json") if apart == 9 else ("json",):
            path = tmp_path / f"next.{ending}"
            with pytest.warns(ReidbnWarning, match="apart from one in the ledger"):
                after.report(path, ledger=ledger)
            assert path.read_bytes() == (tmp_path / f"first.{ending}").read_bytes()
    with pytest.raises(UsageError, match="nothing like this was asked"):
        after.report(tmp_path / "no.json", ledger=ledger, threshold="ontario-medium")
    assert not (tmp_path / "no.json").exists()
    before.report(tmp_path / "other.json", ledger=ledger, threshold="ontario-medium")
    text = ledger.read_text()
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600
    assert len(json.loads(text)["releases"]) == 2
    for word in ("Elbheim", "Altdorf", "Neustadt", before.table.fingerprint):
        assert word not in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assessed(rows(260, seed=8)).report(tmp_path / "far.json", ledger=ledger)
    assert len(json.loads(ledger.read_text())["releases"]) == 3


def test_a_table_that_fails_does_not_print_the_green_of_its_neighbour(tmp_path):
    green = [("20", "f", "Elbheim")] * 40 + [("21", "m", "Altdorf")] * 40
    ledger = tmp_path / "releases.json"
    assessed(green).report(tmp_path / "first.md", ledger=ledger)
    with pytest.raises(UsageError, match="does not pass itself"):
        assessed([*green, ("22", "f", "Elbheim")]).report(tmp_path / "next.md", ledger=ledger)
    assert not (tmp_path / "next.md").exists()


def test_what_is_no_ledger_is_refused_and_stays(tmp_path):
    path = tmp_path / "releases.json"
    path.write_text("{}")
    result = assessed(rows(120))
    with pytest.raises(UsageError, match="no ledger of releases"):
        result.report(tmp_path / "r.md", ledger=path)
    assert path.read_text() == "{}"
    with pytest.raises(UsageError, match="without a ledger"):
        result.report(tmp_path / "r.md", ledger=tmp_path / "new.json", custodian=True)
