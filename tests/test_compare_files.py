"""reidbn compare of two result files: numbers side by side, and nothing that is not comparable."""

import json
import re
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn
from reidbn.errors import ReidbnWarning, UsageError

UNTOLD = "whether exactly the same was asked is not told in a rounded file"

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
    assert "how many leak: 20 -> 60" in done.stderr
    rows = json.loads(done.stdout)
    with pytest.warns(ReidbnWarning, match="how many leak: 20 -> 60"):
        frame = results["few"].compare(results["many"])
    assert {row["measure"] for row in rows} == set(frame.index)
    for row in rows:
        told = frame.loc[row["measure"]]
        assert row["first"] == pytest.approx(told["this"])
        assert row["second"] == pytest.approx(told["other"])
        assert row["difference"] == pytest.approx(told["difference"], abs=1e-15)
    said = run("compare", paths["few"], paths["many"]).stdout
    assert "Leak: " in said
    assert "how many leak: 20 -> 60" in said
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
        assert "posterior_full" not in told
        for key in ("share_upward", "share_downward", "mean_ppp_full"):
            exact, m = found.measures[key].value, told[key]
            assert m["value"] is None
            assert m["at_least"] <= exact <= m["at_most"] < m["at_least"] + 0.3
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
        "chances": "the chances that are each person's own",
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
        lambda known: rb.assess("prosecutor", people, known=known),
    )
    for ask in asked:
        one, two = (ask({"age": p, "sex": 0.5}) for p in own)
        assert str(one.question) == str(two.question)
        with pytest.warns(ReidbnWarning, match="the chances that are each person's own"):
            one.compare(two)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one.compare(ask({"age": own[0].copy(), "sex": 0.5}))
        (digest,) = one.made_from["of_each_person"].values()
        outward = [json.dumps(r._every_measure()["provenance"]) for r in (one, two)]
        assert outward[0] == outward[1]  # nothing by which somebody could confirm a guess
        assert digest not in outward[0]


@pytest.mark.wide
def test_a_ledger_prints_nothing_again_for_other_chances_of_each_person(tmp_path):
    people = rb.read_table({"age": [i // 20 for i in range(200)]}, quasi_identifiers=["age"])
    own = [np.linspace(0.1, 0.9, 200), np.linspace(0.9, 0.1, 200)]
    for name, chances in zip("ab", own, strict=True):
        result = rb.assess("prosecutor", people, known={"age": chances})
        result.keep_crosscheck(draws=2_000)
        text = result.report(tmp_path / f"{name}.json").read_text()
        assert result.inputs.scenario.fingerprint not in text
        if name == "a":
            result.report(tmp_path / "r.json", ledger=tmp_path / "ledger")
    with pytest.raises(UsageError, match="more than one set of classes"):
        result.report(tmp_path / "no.json", ledger=tmp_path / "ledger")


def test_two_results_of_a_leak_are_compared_by_the_door_that_compares_attacks():
    people = rb.read_table(PEOPLE, quasi_identifiers=["age", "sex"])
    few, many = (rb.leak.assess(people, leaked=n) for n in (20, 60))
    with pytest.warns(ReidbnWarning, match="how many leak: 20 -> 60"):
        told = rb.compare(few, many)
    with pytest.warns(ReidbnWarning, match="how many leak: 20 -> 60"):
        assert told.equals(few.compare(many))
    with pytest.raises(UsageError):
        rb.compare(few, rb.suda(people))


ALIKE = "what was asked exactly, though both questions are worded alike"


def _table(weights=None):
    found = rb.read_table(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["diagnosis"])
    return found if weights is None else replace(found, weights=np.asarray(weights, dtype=float))


def _gaps(missing):
    """The same people, some of whom have no age or no diagnosis."""
    found = PEOPLE[["age", "sex", "diagnosis"]].astype(object)
    found.loc[::3, "age"] = None
    found.loc[::5, "diagnosis"] = None
    return rb.read_table(
        found, quasi_identifiers=["age", "sex"], sensitive=["diagnosis"], missing=missing
    )


def _pairs():
    """Two results that differ in one thing, and how that is named."""
    leak = lambda people: rb.leak.assess(people, leaked=20)  # noqa: E731
    coarse = lambda width, **more: _table().generalise(  # noqa: E731
        {"age": 1}, hierarchies={"age": rb.microdata.Bands(width, **more)}
    )
    fit = lambda **how: rb.population.fit(_table(), population=9_000, **how)  # noqa: E731
    drawn = lambda seed: rb.disclosure(_table(), "diagnosis", individuals=150, seed=seed)  # noqa: E731
    some = lambda seed: rb.assess("prosecutor", _table(), individuals=9, seed=seed)  # noqa: E731
    link = lambda **how: rb.linkage(  # noqa: E731
        rb.read_sparse(
            {"a": [1, 1, 2], "b": [5, 6, 6], "c": [7, 8, None]},
            features={n: np.array(v, dtype=object) for n, v in {
                "feature": ["a", "b", "c"], "kind": ["number"] * 3, "together": ["x", "x", None],
            }.items()},
        ), facts=[1], **how,
    )  # fmt: skip
    families = cache(lambda: rb.datasets.synthetic_families(12, seed=1))
    kin = lambda jitter: rb.neighbourhood(  # noqa: E731
        rb.read_kin(rb.read_sparse(families().table, features=families().features), jitter=jitter)
    )
    band = lambda edge: {a: "x" if a < edge else "y" for a in set(PEOPLE.age.tolist())}  # noqa: E731
    half, more = ({"age": 0.3, "sex": p} for p in (0.5, 0.50001))
    finer = "chance of sex: 0.5 -> 0.50001"
    heavy, light = np.full(300, 2.0), np.arange(1, 301)
    return {
        "levels": lambda: (leak(_table()), leak(coarse(5)), "level of age: 0 -> 1"),
        "hierarchies": lambda: (leak(coarse(5)), leak(coarse(5, top=90)),
                        "the hierarchies by which"),
        "suppressed": lambda: (leak(_table()), leak(_table().suppress(2)), "suppressed: 0 -> "),
        "weights": lambda: (leak(_table(heavy)), leak(_table(light)), "the survey weights"),
        "seed": lambda: (drawn(1), drawn(2), "the individuals who were asked about"),
        "assessed": lambda: (some(1), some(2), "the individuals who were asked about"),
        "variant": lambda: (fit(model="log-linear"), fit(model="log-linear", variant="default"),
                    "variant: nothing -> default"),
        "population": lambda: (fit(), rb.population.fit(_table(), population=9_999),
                       "population: 9,000 -> 9,999"),
        "outside": lambda: (rb.candidates(_table(), _table()),
                    rb.candidates(_table(), _table().take(range(99))), "the attacker's own list"),
        "together": lambda: (link(), link(facts_together=True), "facts_together: False -> True"),
        "sampled": lambda: (rb.suda(_table()), rb.suda(_table(), sampling_fraction=0.1),
                    "sampling_fraction: nothing -> 0.1"),
        "sizes": lambda: (rb.leak.assess(_table(), leaked={10: 0.25, 20: 0.5, 30: 0.25}),
                          rb.leak.assess(_table(), leaked={10: 0.5, 30: 0.5}),
                          "how many leak: 10 (0.25), 20 (0.5), 30 (0.25) -> 10 (0.5), 30 (0.5)"),
        "chances": lambda: (rb.leak.assess(_table(), leaked=20, known=half),
                            rb.leak.assess(_table(), leaked=20, known=more), finer),
        "columns": lambda: (rb.leak.assess(_table(), leaked=20, known={"x": ("age", 0.5)}),
                            rb.leak.assess(_table(), leaked=20, known={"x": ("sex", 0.5)}),
                            "known columns: age -> sex"),
        "secret": lambda: (rb.disclosure(_table(), "diagnosis", known=half),
                           rb.disclosure(_table(), "diagnosis", known=more), finer),
        "fitting": lambda: (rb.candidates(_table(), _table(), known=half),
                            rb.candidates(_table(), _table(), known=more), finer),
        "ranges": lambda: (rb.disclosure(_table(), "diagnosis", ranges={"age": band(40)}),
                           rb.disclosure(_table(), "diagnosis", ranges={"age": band(60)}),
                           ALIKE),
        "missing": lambda: (leak(_gaps("value")), leak(_gaps("matches-anything")),
                    "another policy for missing cells: value -> matches-anything"),
        "if_missing": lambda: (
            rb.disclosure(_gaps("value"), "diagnosis"),
            rb.disclosure(_gaps("value"), "diagnosis", if_missing="value"),
            "a missing secret is a value"),
        "rules": lambda: (*(rb.candidates(_table(), _table(), match={"age": rule})
                            for rule in (lambda a, b: a == b, lambda a, b: abs(a - b) < 9)),
                          "another rule of matching"),
        "draws": lambda: (*(rb.assess("marketer", _table(), method="simulation", draws=n, seed=1)
                            for n in (100, 101)), "draws: 100 -> 101"),
        "seed of draws": lambda: (*(rb.assess("marketer", _table(), method="simulation", draws=100,
                                              seed=s) for s in (1, 2)),
                                  "seed of the draws: 1 -> 2"),
        "tables": lambda: (leak(_table()), leak(_table().take(range(200))), "people: 300 -> 200"),
        "halves": lambda: (leak(_table().take(range(150))), leak(_table().take(range(150, 300))),
                           "another table"),
        "known columns": lambda: (
            *(rb.assess("prosecutor", rb.read_table(PEOPLE, quasi_identifiers=["age", name]))
              for name in ("sex", "race")), "known columns: age, sex -> age, race"),
        "bands": lambda: (leak(coarse(5)), leak(coarse(10)),
                          "bands of age: 5 wide -> 10 wide"),
        "weighted": lambda: (leak(_table()), leak(_table(heavy)), "weights: nothing -> of people"),
        "match": lambda: (*(rb.candidates(_table(), _table(), match={"age": rb.microdata.Bands(w)})
                            for w in (5, 10)), "age in Bands(widths=(5,)"),
        "jitter": lambda: (kin(1.0), kin(3.0), "jitter: 1 -> 3"),
    }  # fmt: skip


@pytest.mark.parametrize("what", ["levels", "hierarchies", "suppressed", "weights", "seed",
                                  "assessed", "variant", "population", "outside", "together",
                                  "sampled", "jitter", "sizes", "chances", "columns", "secret",
                                  "fitting", "ranges", "missing", "if_missing", "rules", "draws",
                                  "seed of draws", "tables", "halves", "known columns", "bands",
                                  "weighted", "match"])  # fmt: skip
def test_what_two_results_differ_in_is_named_in_python_and_in_the_shell(what, tmp_path):
    one, two, words = _pairs()[what]()
    with pytest.warns(ReidbnWarning, match=re.escape(words)):
        one.compare(two)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one.compare(one)
    for name, result in (("a", one), ("b", two)):
        (tmp_path / f"{name}.json").write_text(json.dumps(result.to_dict(), default=float))
    assert words in run("compare", tmp_path / "a.json", tmp_path / "b.json").stdout
    for mark in [name for name in one.made_from if name.endswith("_fingerprint")]:
        if mark.partition("_")[0] not in ("attack", "model", "scenario"):
            assert one.made_from[mark] not in json.dumps(one._every_measure(), default=float), mark


@pytest.mark.parametrize("what", ["sizes", "ranges", "match", "bands", "weighted", "rules",
                                  "known columns", "hierarchies"])  # fmt: skip
def test_two_rounded_files_say_what_they_differ_in_or_that_it_is_not_told(what, tmp_path):
    one, two, words = _pairs()[what]()
    for name, result in (("a", one), ("b", two)):
        (tmp_path / f"{name}.json").write_text(json.dumps(result._every_measure(), default=float))
    hidden = what in ("ranges", "rules", "hierarchies")
    lines = run("compare", tmp_path / "a.json", tmp_path / "b.json").stdout.splitlines()
    said = [line for line in lines if line.startswith("  ")]
    assert any((UNTOLD if hidden else words) in line for line in said), said


def _orders(quasi):
    """The same knowledge, said in two ways of one table whose columns are named in two orders."""
    people = rb.read_table(PEOPLE, quasi_identifiers=quasi, sensitive=["diagnosis"])
    first = quasi[0] == "age"
    chances = {"age": 0.5, "sex": 0.25, "race": 0.125}
    known = dict(zip(quasi, map(chances.get, quasi), strict=True))
    pair = {("sex", "race"): 0.3, "age": 0.2} if first else {
        "age": (["age"], 0.2), "sex+race": (["race", "sex"], 0.3)}  # fmt: skip
    named = quasi if first else dict.fromkeys(quasi, 1)
    set_ = {} if first else {"p_c": 0.5}
    return (
        rb.leak.assess(people, leaked=30, known=pair),
        rb.leak.assess(people, leaked=30, known=known),
        rb.disclosure(people, "diagnosis", known=named),
        rb.disclosure(people, "diagnosis", known=known),
        rb.population.fit(people, population=9_000),
        rb.suda(people),
        rb.candidates(people, people, known=known),
        rb.assess("adversary-routes", people, known=pair, set=set_, population=9_000),
        rb.assess("adversary-routes", people, population=9_000),
    )


def test_the_same_knowledge_said_in_two_ways_is_one_question():
    for one, two in zip(*map(_orders, (["age", "sex", "race"], ["race", "age", "sex"])),
                        strict=True):  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gap = one.compare(two)["difference"]
        assert np.allclose(gap.dropna(), 0, atol=1e-12), one


def test_what_is_unknown_is_said_in_what_is_known():
    with pytest.raises(UsageError, match=r"knowledge\(people, ..., unknown="):
        rb.leak.assess(_table(), leaked=20, unknown=["age"])


def test_a_ledger_tells_no_counts_of_two_samples_of_one_table(tmp_path):
    people = _table()
    first = rb.disclosure(people, "diagnosis", individuals=150, seed=1)
    first.report(tmp_path / "a.md", ledger=tmp_path / "ledger")
    again = rb.disclosure(people, "diagnosis", individuals=150, seed=1)
    again.report(tmp_path / "again.md", ledger=tmp_path / "ledger")
    assert (tmp_path / "a.md").read_text() == (tmp_path / "again.md").read_text()
    for other in (rb.disclosure(people, "diagnosis", individuals=150, seed=2),
                  rb.disclosure(people, "diagnosis")):  # fmt: skip
        with pytest.raises(UsageError, match="more than one set of classes"):
            other.report(tmp_path / "b.md", ledger=tmp_path / "ledger")


@pytest.mark.wide
@pytest.mark.parametrize("what", ["population", "sizes", "chances", "variant", "weights", "ranges",
                                  "if_missing", "rules"])  # fmt: skip
def test_a_ledger_prints_nothing_again_for_what_was_not_asked(what, tmp_path):
    one, two, _ = _pairs()[what]()
    tables = 1 + (what == "if_missing")  # those who have a secret are a table of their own, too
    for result in (one, one):
        result.report(tmp_path / "r.json", ledger=tmp_path / "ledger")
        assert len(json.loads((tmp_path / "ledger").read_text())["releases"]) == tables
    if what == "sizes":  # the same classes; hundreds of people fewer
        two.report(tmp_path / "two.json", ledger=tmp_path / "ledger")
        assert len(json.loads((tmp_path / "ledger").read_text())["releases"]) == 2
        return
    with pytest.raises(UsageError, match="more than one set of classes"):
        two.report(tmp_path / "two.json", ledger=tmp_path / "ledger")


def test_rounded_files_say_of_how_many_numbers_anything_is_told(tmp_path):
    """Two halves of one table: no table is named, and no number lies apart."""
    read = rb.read_table(PEOPLE, quasi_identifiers=["age", "sex"])
    parts = {"first": range(150), "second": range(150, 300), "all": range(300)}
    for name, rows in parts.items():
        rb.leak.assess(read.take(rows), leaked=60).report(tmp_path / f"{name}.json")
    first = tmp_path / "first.json"
    halves, other = (
        [
            run("compare", first, tmp_path / f"{name}.json", *more).stdout
            for more in ([], ["--json"])
        ]
        for name in ("second", "all")
    )
    rows = json.loads(other[1])
    assert "whether both are of one table is not told in rounded files" in halves[0]
    assert "That any number differs cannot be told: where the two ranges overlap" in halves[0]
    assert "people: 150 -> 300" in other[0]
    assert "whether both are of one table" not in other[0]
    apart = [row for row in rows if row["difference"] not in (None, 0)]
    assert 1 < len(apart) < len(rows)
    assert f"{len(apart)} of {len(rows)} numbers differ for sure; of " in other[0]
    for row in apart:  # the ranges themselves lie apart, as the sentence says
        (low, high), (least, most) = (
            row[side] if isinstance(row[side], list) else [row[side]] * 2
            for side in ("first", "second")
        )
        assert high < least or most < low
