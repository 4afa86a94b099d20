"""reidbn compare of two result files: numbers side by side, and nothing that is not comparable."""

import json
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn
from reidbn.errors import ReidbnWarning, UsageError

PEOPLE = rb.datasets.synthetic_patients(300, seed=2)


def run(*words):
    return CliRunner().invoke(reidbn, [str(w) for w in words], standalone_mode=False)


@pytest.fixture
def files(tmp_path):
    people = rb.read_table(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["diagnosis"])
    found = {
        "few": rb.leak.assess(people, leaked=20),
        "many": rb.leak.assess(people, leaked=60),
        "secret": rb.disclosure(people, "diagnosis"),
    }
    for name, result in found.items():
        result.report(tmp_path / f"{name}.json", custodian=True)
    return found, {name: tmp_path / f"{name}.json" for name in found}


def test_two_files_give_the_numbers_of_the_two_results(files):
    results, paths = files
    done = run("compare", paths["few"], paths["many"], "--json")
    assert "another question: 20 of the people leak" in done.stderr
    rows = json.loads(done.stdout)
    with pytest.warns(ReidbnWarning, match="20 of the people leak.* 60 of the people leak"):
        frame = results["few"].compare(results["many"])
    assert {row["measure"] for row in rows} == set(frame.index)
    for row in rows:
        told = frame.loc[row["measure"]]
        assert row["first"] == pytest.approx(told["this"])
        assert row["second"] == pytest.approx(told["other"])
        assert row["difference"] == pytest.approx(told["difference"], abs=1e-15)
    said = run("compare", paths["few"], paths["many"]).stdout
    assert "Leak: " in said
    assert "another question: 20 of the people leak" in said
    assert "rounded" not in said


@pytest.mark.wide
def test_rounded_files_say_so_and_assessments_bring_their_verdict(tmp_path):
    people = rb.read_table(PEOPLE, quasi_identifiers=["age", "sex"])
    result = rb.assess("adversary-routes", people, population=10_000)
    for name in ("a", "b"):
        result.report(tmp_path / f"{name}.json")
    said = run("compare", tmp_path / "a.json", tmp_path / "b.json").stdout
    assert "verdict" in said
    assert "overall, q95" in said
    assert "rounded" in said


def test_what_cannot_be_compared_is_refused(files, tmp_path):
    _, paths = files
    other = tmp_path / "other.json"
    cases = {
        "mean different things": (paths["few"], paths["secret"]),
        "cannot be read": (paths["few"], tmp_path / "none.json"),
        "holds no result": (paths["few"], other),
        "leave --then-": (paths["few"], paths["many"], "--then-set", "p_c=1"),
    }
    other.write_text('{"rows": []}')
    for says, words in cases.items():
        done = run("compare", *words)
        assert isinstance(done.exception, UsageError)
        assert says in str(done.exception)


@pytest.mark.wide
def test_files_about_other_events_or_for_other_readers_are_refused(files, tmp_path):
    table = rb.read_table(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["income"])
    found = {
        "income": rb.disclosure(table, "income"),
        "routes": rb.assess("adversary-routes", table, population=10_000),
        "prosecutor": rb.assess("prosecutor", table),
    }
    for name, result in found.items():
        result.report(tmp_path / f"{name}.json", custodian=True)
    files[0]["secret"].report(tmp_path / "outward.json")
    cases = {
        "disclosure of diagnosis | disclosure of income": ("secret", "income"),
        r"adversary-routes, P\(reidentified=yes\) \| prosecutor": ("routes", "prosecutor"),
        "rounded for others": ("secret", "outward"),
    }
    for says, pair in cases.items():
        done = run("compare", *(tmp_path / f"{name}.json" for name in pair))
        with pytest.raises(UsageError, match=says):
            raise done.exception


@pytest.mark.wide
def test_assessments_of_other_people_and_populations_say_so(tmp_path):
    for name, rows, population in (("a", 300, 10_000), ("b", 200, 20_000)):
        people = rb.read_table(PEOPLE[:rows], quasi_identifiers=["age", "sex"])
        result = rb.assess("adversary-routes", people, population=population)
        result.report(tmp_path / f"{name}.json", custodian=True)
    said = run("compare", tmp_path / "a.json", tmp_path / "b.json").stdout.splitlines()[:8]
    assert "  people: 300 -> 200" in said
    assert "  population: 10,000 -> 20,000" in said
    assert "  another table" in said
    same = run("compare", tmp_path / "a.json", tmp_path / "a.json").stdout
    assert "another" not in same


def test_a_protection_is_never_told_by_the_end_that_flatters_it(tmp_path):
    """Nobody keeps 0-downward privacy: 0.12 stood there, the most that the counts leave."""
    for name, protected in (("a", 0), ("b", 0), ("c", 198)):
        frame = {"town": ["one"] * protected + [f"t{i // 2}" for i in range(300 - protected)],
                 "s": ["x", "y", "z"] * (protected // 3) + ["x"] * (300 - protected)}  # fmt: skip
        people = rb.read_table(frame, quasi_identifiers=["town"], sensitive=["s"])
        found = rb.disclosure(people, "s")
        found.report(tmp_path / f"{name}.json")
        told = json.loads((tmp_path / f"{name}.json").read_text())["measures"]
        for key in ("share_upward", "share_downward", "mean_ppp_full", "posterior_full"):
            exact, m = found.measures[key].value, told[key]
            assert m["value"] is None
            assert m["at_least"] <= exact <= m["at_most"] < m["at_least"] + 0.15
    a, b, c = (tmp_path / f"{name}.json" for name in "abc")
    same = {r["measure"]: r for r in json.loads(run("compare", a, b, "--json").stdout)}
    assert same["share_upward"]["first"] == pytest.approx([0, 1 / 30], abs=1e-3)
    assert same["share_upward"]["difference"] is None
    rows = {r["measure"]: r for r in json.loads(run("compare", a, c, "--json").stdout)}
    low, high = rows["share_upward"]["difference"]
    assert 0.55 < low < found.share_upward() < high < 0.75
    said = run("compare", a, c).stdout
    assert "0 to 0.0334" in said
    old = json.loads(a.read_text())  # the most that it can be stood as the value
    for m in old["measures"].values():
        m["value"] = m.pop("at_most") if m["value"] is None else m["value"]
        m.pop("at_least")
    a.write_text(json.dumps(old))
    rows = {r["measure"]: r for r in json.loads(run("compare", a, c, "--json").stdout)}
    assert rows["share_upward"]["first"] == "0.0334"
    assert all(row["difference"] is None for row in rows.values())


def test_a_difference_of_two_tens_says_its_ends_or_is_not_said(tmp_path):
    """100 people and 119 were told as 100 and 110: "+10", and it is 1 to 19."""
    for n in (100, 105, 119, 139):
        people = rb.read_table({"age": [i // 2 for i in range(n)]}, quasi_identifiers=["age"])
        rb.suda(people).report(tmp_path / f"{n}.json")

    def told(n, other):
        rows = run("compare", tmp_path / f"{n}.json", tmp_path / f"{other}.json", "--json").stdout
        return next(r for r in json.loads(rows) if r["measure"] == "people")

    assert told(100, 139) == {"measure": "people", "first": [100, 109], "second": [130, 139],
                              "difference": [21, 39]}  # fmt: skip
    assert told(100, 119)["difference"] == [1, 19]
    assert told(100, 105)["difference"] is None


@pytest.mark.parametrize("what", ["population", "p_m", "known", "chances"])
def test_the_shell_and_python_say_the_same_of_two_results(tmp_path, what):
    people = rb.read_table(PEOPLE[:60], quasi_identifiers=["age", "sex"])
    own = [np.linspace(0.1, 0.9, 60), np.linspace(0.9, 0.1, 60)]
    both = {
        "population": [{"population": p} for p in (10_000, 20_000)],
        "p_m": [{"set": {"p_m": p}, "population": 10_000} for p in (0.1, 0.2)],
        "known": [{"known": {"age": p, "sex": 0.5}, "population": 10_000} for p in (0.1, 0.2)],
        "chances": [{"known": {"age": p, "sex": 0.5}, "population": 10_000} for p in own],
    }[what]
    results = [rb.assess("adversary-routes", people, **asked) for asked in both]
    for name, result in zip("ab", results, strict=True):
        result.keep_crosscheck(draws=2_000)
        result.report(tmp_path / f"{name}.json", custodian=True)
    lines = run("compare", tmp_path / "a.json", tmp_path / "b.json").stdout.splitlines()
    with pytest.warns(ReidbnWarning, match="different questions: ") as said:
        results[0].compare(results[1])
    warned = str(said[0].message).partition("questions: ")[2].split("; ")
    assert {
        "population": "population: 10,000 -> 20,000",
        "p_m": "p_m: 0.1 -> 0.2",
        "known": "p_knows_age: 0.1 -> 0.2",
        "chances": "what is known, though both scenarios are called known",
    }[what] in warned
    assert [f"  {line}" for line in warned] == lines[1 : 1 + len(warned)]
    assert {*rb.compare(*results).differs} <= {*warned}


def test_two_arrays_of_chances_are_two_questions():
    people = rb.read_table(PEOPLE[:60], quasi_identifiers=["age", "sex"], sensitive=["diagnosis"])
    own = [np.linspace(0.1, 0.9, 60), np.linspace(0.9, 0.1, 60)]
    asked = (
        lambda known: rb.leak.assess(people, leaked=20, known=known),
        lambda known: rb.disclosure(people, "diagnosis", known=known),
        lambda known: rb.candidates(people, people, known=known),
    )
    for ask in asked:
        one, two = (ask({"age": p, "sex": 0.5}) for p in own)
        assert str(one.question) == str(two.question)
        with pytest.warns(ReidbnWarning, match="the chances that are each person's own"):
            one.compare(two)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one.compare(ask({"age": own[0].copy(), "sex": 0.5}))
        digest = one.made_from["of_each_person"]
        assert digest not in json.dumps(one._numbers())


def test_two_results_of_a_leak_are_compared_by_the_door_that_compares_attacks():
    people = rb.read_table(PEOPLE, quasi_identifiers=["age", "sex"])
    few, many = (rb.leak.assess(people, leaked=n) for n in (20, 60))
    with pytest.warns(ReidbnWarning, match="another question"):
        told = rb.compare(few, many)
    with pytest.warns(ReidbnWarning, match="another question"):
        assert told.equals(few.compare(many))
    with pytest.raises(UsageError):
        rb.compare(few, rb.suda(people))
