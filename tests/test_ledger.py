"""With a ledger, tables few people apart print the same numbers; it says nothing in the clear."""

import json
import re
import stat
import warnings
from collections import defaultdict

import numpy as np
import pytest
from click.testing import CliRunner
from outward_attacker import partitions

import reidbn as rb
from reidbn.cli import reidbn
from reidbn.errors import ReidbnWarning, UsageError
from reidbn.release import Alike, cells, sketch
from reidbn.report import refuse_between, released, telling_of

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


@pytest.mark.wide
def test_another_question_of_the_same_table_is_not_answered_with_the_first_ones_numbers(tmp_path):
    """What was set, given or done was no part of what the ledger took the question to be."""
    first, ledger = assessed(rows(260)), tmp_path / "releases.json"
    first.report(tmp_path / "a.json", ledger=ledger)
    for change in ({"set": {"p_m": 0.9}}, {"do": "claims=no"}, {"given": "claims=no"}):
        result = rb.what_if(first, **change)
        result.keep_crosscheck(draws=1_000)
        with pytest.raises(UsageError, match="more than one set of classes"):
            result.report(tmp_path / "b.json", ledger=ledger)


@pytest.mark.wide
def test_a_table_ten_or_more_people_apart_is_let_out_with_a_word(tmp_path):
    """A reader of both pages narrows 462 of 1,604 marks of the smaller table."""
    from benchmarks.attacker_ledger import ten_or_more  # which has its kinds of report from here

    many, bad = ten_or_more(10, most=11)
    assert 0 < bad < many
    first, ledger = rows(150), tmp_path / "releases.json"

    def report(records):
        path = tmp_path / f"{len(records)}.json"
        rb.leak.assess(assessed(records).table, leaked=20).report(path, ledger=ledger)
        return json.loads(path.read_text())["measures"]["people"]["at_least"]

    assert report(first) == 150
    with pytest.warns(ReidbnWarning, match="17 people apart from one in the ledger: each"):
        assert report(first[17:]) == 130
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert report(rows(200, seed=8)) == 200  # of other people


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
    with pytest.raises(UsageError, match="where a column is left out or coarser"):
        before.report(tmp_path / "other.json", ledger=ledger, threshold="ontario-medium")
    text = ledger.read_text()
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600
    assert len(json.loads(text)["releases"]) == 1
    for word in ("Elbheim", "Altdorf", "Neustadt", before.table.fingerprint):
        assert word not in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assessed(rows(260, seed=8)).report(tmp_path / "far.json", ledger=ledger)
    assert len(json.loads(ledger.read_text())["releases"]) == 2


def test_the_same_numbers_leave_for_another_recipient_and_under_another_title(tmp_path):
    """It was refused as "another threshold"; a title was not heard at all."""
    records, ledger = rows(260), tmp_path / "releases.json"
    result, asked = assessed(records), {"threshold": "ontario-high", "ledger": ledger}

    def told(name, result=result, **more):
        path = result.report(tmp_path / name, **asked, **more)
        return re.sub(r"<!-- reidbn.*", "", path.read_text())

    board = {"title": "Request 1 <A>", "context": {"recipient": "the board & its clerks"}}
    plain = told("plain.html")
    for kind in ("html", "md"):
        other = told(f"other.{kind}", **board)
        assert other != told(f"plain.{kind}")
        again = told(f"again.{kind}", **board)
        assert again == other
        assert "Request 1" in other
        assert "its clerks" in other
        own = result.report(tmp_path / f"alone.{kind}", threshold="ontario-high", **board)
        assert re.sub(r"<!-- reidbn.*", "", own.read_text()) == other
    assert told("plain.html") == plain
    assert told("other.json", **board) == told("plain.json")
    context = board["context"] | {"purpose": "a plan for wards"}
    assert "a plan for wards" in told("third.html", title=board["title"], context=context)
    with pytest.warns(ReidbnWarning, match="apart from one in the ledger"):
        near = told("near.html", result=assessed(records[3:]), **board)
    assert near == told("other.html", **board)
    with pytest.raises(UsageError, match="under another title, for another recipient"):
        told("near.html", result=assessed(records[3:]), title="Request 2")
    with pytest.raises(UsageError, match="under another threshold"):
        result.report(tmp_path / "no.html", ledger=ledger, threshold=0.33, **board)


def test_numbers_that_would_be_others_do_not_leave_under_another_title(tmp_path):
    """A digest that differs stands for another version, or for another hierarchy."""
    result, path = assessed(rows(260)), tmp_path / "releases.json"
    result.report(tmp_path / "a.md", ledger=path)
    held = json.loads(path.read_text())
    held["releases"][0]["tells"] = "of another version"
    path.write_text(json.dumps(held))
    with pytest.raises(UsageError, match="now its numbers or words would be others"):
        result.report(tmp_path / "b.md", ledger=path, title="Request 2")
    assert not (tmp_path / "b.md").exists()
    result.report(tmp_path / "b.md", ledger=path)
    assert (tmp_path / "a.md").read_text() == (tmp_path / "b.md").read_text()


@pytest.mark.wide
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


def small(names, levels=None, n=90):
    """A table of three columns, of which some are quasi-identifiers."""
    rng = np.random.default_rng(3)
    columns = {"age": rng.integers(20, 60, n).astype(str), "sex": rng.choice(["f", "m"], n),
               "town": rng.choice(list("abcdefgh"), n)}  # fmt: skip
    people = rb.read_table(
        columns, quasi_identifiers=["age", "sex", "town"], hierarchies={"age": rb.Bands(10)}
    )
    people = people if levels is None else people.generalise(levels)
    return rb.leak.assess(people, leaked=20, known=list(names))


def test_classes_in_which_released_ones_lie_are_refused_in_the_other_order_too(tmp_path):
    """A leak's page by age alone was taken to have told the classes of all columns as well."""
    ledger = tmp_path / "releases.json"
    small(["age"]).report(tmp_path / "a.json", ledger=ledger)
    with pytest.raises(UsageError, match="more than one set of classes"):
        small(["age", "sex", "town"]).report(tmp_path / "b.json", ledger=ledger)


@pytest.mark.parametrize(
    "second", [(["age"], None), (["age", "sex", "town"], {"age": 1}), (["sex", "town"], None)]
)
def test_classes_that_lie_in_released_ones_are_refused(tmp_path, second):
    """Of all tables of 10 to 19 people and all coarser classes, a reader of both narrows cells."""
    ledger = tmp_path / "releases.json"
    small(["age", "sex", "town"]).report(tmp_path / "a.json", ledger=ledger)
    small(["town", "sex", "age"]).report(tmp_path / "b.md", ledger=ledger)  # the same classes
    with pytest.raises(UsageError, match="more than one set of classes"):
        small(*second).report(tmp_path / "c.json", ledger=ledger)
    assert not (tmp_path / "c.json").exists()


def test_a_table_that_shares_columns_with_a_released_one_is_refused(tmp_path):
    ledger, frame = tmp_path / "releases.json", rb.datasets.synthetic_patients(150, seed=3)

    def told(names, rows=slice(None), seed=3):
        table = rb.datasets.synthetic_patients(150, seed=seed) if seed != 3 else frame
        people = rb.read_table(table[names].iloc[rows], quasi_identifiers=names)
        return rb.leak.assess(people, leaked=20)

    told(["age", "sex", "state"]).report(tmp_path / "a.json", ledger=ledger)
    for names, rows in ((["age", "sex"], slice(None)), (["age", "state", "race"], slice(4, None))):
        with pytest.raises(UsageError, match="may be of the same people"):
            told(names, rows).report(tmp_path / "b.json", ledger=ledger)
    told(["age", "sex"], seed=4).report(tmp_path / "c.json", ledger=ledger)  # other people


def test_verdicts_that_together_give_a_count_away_are_refused(tmp_path):
    """Nobody in a class below 9 and somebody below 10: of under ten people there are nine."""
    ages = ["20"] * 9 + ["21"] * 60 + ["22"] * 40
    result = rb.assess("marketer", rb.read_table({"age": ages}, quasi_identifiers=["age"]))
    result.keep_crosscheck(draws=1_000)
    ledger = tmp_path / "releases.json"
    result.report(tmp_path / "a.json", ledger=ledger, threshold=1 / 10, release="public")
    with pytest.raises(UsageError, match="the verdicts together"):
        result.report(tmp_path / "b.json", ledger=ledger, threshold=1 / 9, release="public")
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize("ladder", [False, True])
def test_another_threshold_is_refused_where_each_tells_of_coarser_tables(tmp_path, ladder):
    """Who fails without a column, at two sizes: a reader of both narrows 17 to 94 of 451 to 709."""
    names = ["age"] if ladder else ["age", "town"]
    people = rb.read_table(
        {"age": [*range(20, 50)] * 2, "town": ["a", "b", "b"] * 20},
        quasi_identifiers=names,
        hierarchies={"age": rb.Bands(10)} if ladder else {},
    )
    result, leak = rb.assess("marketer", people), rb.leak.assess(people, leaked=5)

    def told(result, standing, **options):
        of = ({".json": "-"}, standing, (0, 0), "")
        released(tmp_path / "ledger", ".json", result, options, telling_of(result), lambda: of)

    told(leak, 1)
    told(result, 0, threshold=1 / 3)
    told(rb.leak.assess(people, leaked=6), 1)
    told(result, 0, threshold=1 / 3)
    with pytest.raises(UsageError, match="where a column is left out or coarser"):
        told(result, 2, threshold=1 / 5)


def test_two_verdicts_leave_what_brute_force_leaves():
    """Tables of 10 to 19 people under every two limits: what is let out keeps several numbers."""
    same = defaultdict(list)
    for n in range(10, 20):
        for sizes in partitions(n):
            one = Alike(np.repeat(sizes, sizes))
            same[tuple(map(one.at, range(1, 20)))].append(one)
    let_out = refused = 0
    for tables in list(same.values())[::3]:
        for low, high in ((4, 9), (8, 9)):
            said = defaultdict(list)
            for one in tables:
                said[one.exactly(low) > 0, one.exactly(high) > 0].append(one)
            for some, left in said.items():
                verdicts = {
                    (0, k) if yes else (k, 0) for k, yes in zip((low, high), some, strict=True)
                }
                try:
                    refuse_between(left[0], verdicts)
                except UsageError:
                    refused += 1
                    continue
                for cell in cells(left[0]):
                    alone = ([t for t in tables if (t.exactly(k) > 0) == yes]
                             for k, yes in zip((low, high), some, strict=True))  # fmt: skip
                    can = [len({held(t, cell) for t in part}) for part in (left, *alone)]
                    assert can[0] > 1 or min(can[1:]) == 1, (cell, verdicts)
                    let_out += 1
    assert let_out > 100
    assert refused


def held(classes, cell):
    return classes.exactly(cell.last) - classes.exactly(cell.after)


def gaps(missing, n=400):
    """People of whom half have no age: as a value of its own they are many alike."""
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, n).astype(object)
    age[rng.random(n) < 0.5] = None
    columns = {"age": age, "sex": rng.choice(["f", "m"], n), "town": rng.choice(list("abc"), n)}
    return rb.read_table(columns, quasi_identifiers=list(columns), missing=missing)


@pytest.mark.wide
def test_another_policy_for_missing_cells_is_another_question_to_a_ledger(tmp_path):
    """Cells that match anything pass where cells that are a value of their own do not, which the
    classes of who is written alike do not say: that verdict is the custodian's own."""
    ledger, printed = tmp_path / "releases.json", {}
    asked = {"threshold": {"overall": 0.2}}
    for policy in ("matches-anything", "value"):
        result = rb.assess("marketer", gaps(policy))
        printed[policy] = result.report(tmp_path / "alone.md", **asked).read_text()
        if policy == "value":
            with pytest.raises(UsageError, match="more than one set of classes"):
                result.report(tmp_path / "r.md", ledger=ledger, **asked)
        else:
            result.report(tmp_path / "r.md", ledger=ledger, **asked)
    assert "Does not pass" in printed["value"]
    assert "It is not told whether this passes" in printed["matches-anything"]
    own = rb.assess("marketer", gaps("matches-anything"))
    assert "Passes" in own.report(tmp_path / "o.md", custodian=True, **asked).read_text()


@pytest.mark.wide
def test_a_green_report_is_not_printed_again_for_what_is_not_green(tmp_path):
    """Whatever a ledger may take for one question: the guard stands at no person apart, too."""
    ledger, asked = tmp_path / "releases.json", {"threshold": {"overall": 0.2}}
    passes, fails = (rb.assess("marketer", gaps(m)) for m in ("matches-anything", "value"))
    passes.report(tmp_path / "a.md", ledger=ledger, **asked)
    fails.report(tmp_path / "alone.md", ledger=tmp_path / "other.json", **asked)
    content, other = (json.loads(p.read_text()) for p in (ledger, tmp_path / "other.json"))
    content["releases"][0] |= {"asked": other["releases"][0]["asked"], "standing": 2}
    ledger.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="passed, and does not pass itself"):
        fails.report(tmp_path / "b.md", ledger=ledger, **asked)
    assert not (tmp_path / "b.md").exists()


def test_the_shell_says_that_a_report_is_printed_again(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("age,sex,town\n" + "\n".join(map(",".join, rows(120))))
    words = ["leak", table, "--qi", "age,sex", "--leaked", "20", "--ledger", tmp_path / "ledger",
             "--markdown", tmp_path / "a.md", "--json-report", tmp_path / "a.json"]  # fmt: skip
    said = [CliRunner().invoke(reidbn, list(map(str, words))) for _ in range(2)]
    assert [one.exit_code for one in said] == [0, 0]
    assert [one.stderr.count("printed again, as the ledger has it") for one in said] == [0, 2]


def secrets_of(sure, n=170, blank=0):
    town = ["many"] * (n - sure) + [f"alone{i}" for i in range(sure)]
    secret = ["x"] * (n - sure - 60) + ["y"] * 60 + ["x"] * sure
    secret[:blank] = [None] * blank
    people = rb.read_table({"town": town, "s": secret}, quasi_identifiers=["town"], sensitive=["s"])
    return rb.disclosure(people, "s")


def test_a_page_that_judges_nothing_is_not_printed_again_for_one_that_fails(tmp_path):
    """Nine are given away of the first, which says nothing; ten of the second."""
    ledger = tmp_path / "releases.json"
    secrets_of(9).report(tmp_path / "a.md", ledger=ledger)
    with pytest.raises(UsageError, match="was not said to fail"):
        secrets_of(11).report(tmp_path / "b.md", ledger=ledger)
    assert not (tmp_path / "b.md").exists()
    with pytest.warns(ReidbnWarning, match="apart from one in the ledger"):
        secrets_of(8).report(tmp_path / "c.md", ledger=ledger)
    content = json.loads(ledger.read_text())
    for entry in content["releases"]:  # as an older ledger has it
        entry["is_green"] = entry.pop("standing") == 2
    ledger.write_text(json.dumps(content))
    with pytest.raises(UsageError, match="was not said to fail"):
        secrets_of(11).report(tmp_path / "b.md", ledger=ledger)


@pytest.mark.parametrize("blank", [0, 5, 10, 30])
def test_a_disclosure_is_of_the_table_whose_secrets_are_missing_too(blank, tmp_path):
    """Ten without a secret made it another table, and it left beside a report of everybody."""
    people = secrets_of(9, blank=blank).table_given
    asked = [rb.disclosure(people, "s"), rb.leak.assess(people, leaked=20)]
    for i, (first, second) in enumerate([asked, asked[::-1]]):
        first.report(tmp_path / "a.md", ledger=tmp_path / f"{i}.json")
        with pytest.raises(UsageError, match="was released"):
            second.report(tmp_path / "b.md", ledger=tmp_path / f"{i}.json")
        first.report(tmp_path / "c.md", ledger=tmp_path / f"{i}.json")
        assert (tmp_path / "c.md").read_bytes() == (tmp_path / "a.md").read_bytes()


@pytest.mark.parametrize("blank", [5, 13, 30])
def test_a_disclosure_is_of_the_table_of_those_who_have_a_secret_too(blank, tmp_path):
    """Its numbers are of those alone: who reads them as a table gets no second report of them."""
    whole = secrets_of(9, blank=blank)
    asked = [whole, rb.leak.assess(whole.table, leaked=20)]
    for i, (first, second) in enumerate([asked, asked[::-1]]):
        first.report(tmp_path / "a.md", ledger=tmp_path / f"{i}.json")
        with pytest.raises(UsageError, match="was released"):
            second.report(tmp_path / "b.md", ledger=tmp_path / f"{i}.json")


@pytest.mark.parametrize("first", [0, 1])
def test_a_verdict_of_a_file_with_columns_beside_is_not_printed_for_one_without(first, tmp_path):
    columns = {"age": ["30", "40"] * 13, "sex": ["m", "f"] * 13}
    tables = [columns, columns | {"mrn": [f"{i}x" for i in range(26)]}]
    made = [rb.read_table(table, quasi_identifiers=["age", "sex"]) for table in tables]
    found = [
        rb.assess("adversary-routes", people, known=["age", "sex"], population=500)
        for people in made
    ]
    out = {"ledger": tmp_path / "releases.json", "threshold": "ema"}
    text = found[first].report(tmp_path / "a.md", **out).read_text()
    assert ("nobody looked at mrn" in text) is bool(first)
    with pytest.raises(UsageError, match="from a file with other columns beside"):
        found[1 - first].report(tmp_path / "b.md", **out)
    assert found[first].report(tmp_path / "c.md", **out).read_text() == text


def test_a_table_of_two_columns_that_was_read_otherwise_is_refused(tmp_path):
    """With "?" as a value and as missing: one column is other, and the people are the same."""
    rng = np.random.default_rng(4)
    columns = {
        "age": rng.choice(["30", "40", "50", "?"], 150),
        "town": rng.choice([*"abcdefgh"], 150),
    }
    ledger, told = tmp_path / "releases.json", []
    for missing in ((), ["?"]):
        people = rb.read_table(columns, quasi_identifiers=["age", "town"], missing_values=missing)
        told.append(rb.leak.assess(people, leaked=20))
    told[0].report(tmp_path / "a.json", ledger=ledger)
    with pytest.raises(UsageError, match="may be of the same people"):
        told[1].report(tmp_path / "b.json", ledger=ledger)
    with pytest.raises(UsageError, match="may be of the same people"):
        told[1].report(tmp_path / "b.json", ledger=ledger, title="another")


@pytest.mark.wide
def test_several_secrets_of_near_tables_print_one_page_and_one_secret_is_refused(tmp_path):
    rng = np.random.default_rng(5)
    columns = {n: rng.choice([*v], 200) for n, v in (("town", "abc"), ("s", "xy"), ("t", "uvw"))}
    rows, told = np.column_stack(list(columns.values())).tolist(), []
    for secrets, part in (("s,t", rows), ("s,t", rows[4:]), ("s", rows), ("t,s", rows)):
        table, page = tmp_path / "t.csv", tmp_path / f"{len(told)}.md"
        table.write_text("town,s,t\n" + "\n".join(map(",".join, part)))
        words = ["disclosure", table, "--qi", "town", "--sensitive", secrets, "--ledger",
                 tmp_path / "ledger", "--markdown", page]  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReidbnWarning)
            CliRunner().invoke(reidbn, list(map(str, words)))
        told.append(page.read_text() if page.exists() else None)
    assert told[0]
    assert told[0] == told[1]
    assert told[2] is None
    assert told[3] != told[0]


@pytest.mark.wide
def test_options_under_one_name_are_told_apart_by_what_they_are(tmp_path):
    """A ledger took two options called "merged" for one, and printed the first one's numbers."""
    first, ledger = assessed(rows(260)), tmp_path / "releases.json"
    age, sex = (rb.what_if(first, unknown=[named]) for named in ("age", "sex"))
    first.report(tmp_path / "0.md", ledger=ledger, options={"merged": age})
    for options in ({"merged": sex}, {}):
        with pytest.raises(UsageError, match="more than one set of classes"):
            first.report(tmp_path / "1.md", ledger=ledger, options=options)


ROWS = ["Ax", "Ax", "Ay", "Bx", "Bx", "By", "Cx", "Cx", "Cy", "Dx"]
"""Ten people: classes of 3, 3, 3, 1 by q, and of 2, 2, 2, 1, 1, 1, 1 by q and dx."""
CHANCES = (0, 0.0001, 0.5, 0.999, 1)


def every_kind():
    """Every kind of report of ten people, and the columns that it counts by where it is sure."""
    columns = {"q": [r[0] for r in ROWS], "dx": [r[1] for r in ROWS]}
    part = rb.read_table(columns, quasi_identifiers=["q"], sensitive=["dx"])
    both = rb.read_table(columns, quasi_identifiers=["q", "dx"])
    yield "q", rb.leak.assess(part, leaked=3), ".json"
    yield "q", rb.leak.assess(both, leaked={2: 0.5, 9: 0.5}, known=["q"]), ".json"
    yield "q", rb.assess("marketer", part, known=["q"]), ".json"
    for p in CHANCES:
        of = {0: "q", 1: "q, dx"}.get(p)
        secret = rb.leak.assess(part, leaked=10, sensitive="dx", sensitive_known=p)
        yield of, secret, ".json"
        yield of, rb.leak.assess(both, leaked=10, known={"q": 1, "dx": p}), ".json"
        assessed = rb.assess("marketer", both, known={"q": 1, "dx": p})
        yield of if p else None, assessed, ".json"
    yield None, rb.assess("marketer", part, known=["q"]), "page"
    yield None, rb.disclosure(part, "dx"), ".json"
    yield None, rb.population.fit(both, population=500), ".json"
    yield None, rb.population.fit(both, columns=["q"], population=500), ".json"
    yield None, rb.suda(both), ".json"
    yield None, rb.suda(both, columns=["q"]), ".json"


@pytest.mark.wide
def test_two_reports_of_one_table_stand_beside_each_other_where_both_are_of_one_set_of_classes(
    tmp_path,
):
    """With a chance of .9999 a risk tells of the very classes that are refused with 1."""
    every, let_out = list(every_kind()), 0
    for i, (first, one, kind) in enumerate(every):
        start = tmp_path / f"{i}.json"
        told_of(one, kind, start)
        for j, (second, other, how) in enumerate(every):
            ledger = tmp_path / "copy.json"
            ledger.write_bytes(start.read_bytes())
            if i == j or (first is not None and first == second):
                told_of(other, how, ledger)
                let_out += 1
                continue
            with pytest.raises(UsageError, match="more than one set of classes"):
                told_of(other, how, ledger)
    assert let_out == len(every) + 5 * 4 + 3 * 2


def told_of(result, kind, ledger):
    """What a ledger does with a report, without the time that the report takes."""
    options = {"page": "people"} if kind == "page" else {}
    telling = telling_of(result, custodian=kind == "page")  # of which a page has no classes
    return released(ledger, kind, result, options, telling, lambda: ({kind: "-"}, 1, (0, 0), ""))


@pytest.mark.parametrize("names", ["a", "ab", "abc"])
def test_a_table_whose_every_column_was_read_with_other_missing_values_is_refused(names, tmp_path):
    """No column alike, and the people are the same: each but for one value is had by as many."""
    rng = np.random.default_rng(len(names))
    one, other = ({n: rng.choice([*"vwxyz?"], 300) for n in names} for _ in range(2))
    ledger = tmp_path / "releases.json"

    def report(columns, path, missing=()):
        people = rb.read_table(columns, quasi_identifiers=[*names], missing_values=missing)
        rb.assess("marketer", people).report(tmp_path / path, ledger=ledger)

    report(one, "a.json")
    with pytest.raises(UsageError, match="may be of the same people"):
        report(one, "b.json", ["?"])
    report(other, "c.json", ["?"])  # of other people
    with pytest.raises(UsageError, match="may be of the same people"):
        report(other, "d.json")
