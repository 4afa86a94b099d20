"""A column at its last level, "*" for everybody, through every room that reads a release."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn

NAMES = ["age", "sex", "race"]
LADDERS = {
    "age": lambda: rb.microdata.Bands(10),
    "race": lambda: rb.microdata.Tree({"x": ["a", "b"], "y": ["c", "d"]}),
    "sex": lambda: rb.microdata.Prefix(1),
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    return pd.DataFrame({
        "age": rng.integers(20, 60, 90), "sex": rng.choice(["F", "M"], 90),
        "race": rng.choice(list("abcd"), 90), "dx": rng.choice(["flu", "gout", "none"], 90),
    })  # fmt: skip


def dropped(table, name):
    people = rb.read_table(table, quasi_identifiers=NAMES, sensitive=["dx"])
    ladder = LADDERS[name]()
    return people.generalise({name: ladder.levels}, hierarchies={name: ladder})


RESULTS = {
    "assess": lambda p: rb.assess("adversary-routes", p, population=2_000),
    "leak": lambda p: rb.leak.assess(p, leaked=20),
    "disclosure": lambda p: rb.disclosure(p, "dx", empty=True),
    "fit": lambda p: rb.population.fit(p, population=2_000),
    "suda": lambda p: rb.suda(p, sampling_fraction=0.1),
}


@pytest.mark.parametrize("name", LADDERS)
@pytest.mark.parametrize("kind", RESULTS)
def test_a_dropped_column_goes_through_every_verb(table, name, kind, tmp_path):
    released = dropped(table, name)
    result = RESULTS[kind](released)
    without = RESULTS[kind](
        rb.read_table(table, quasi_identifiers=[n for n in NAMES if n != name], sensitive=["dx"])
    )
    if kind != "suda":  # whose scores count columns
        shared = {*result.measures} & {*without.measures}
        assert shared
        for measure in shared:
            one, two = (r.measures[measure].value for r in (result, without))
            assert one == pytest.approx(two, abs=1e-12), measure
    assert result.to_dict()["provenance"]["levels"] == {name: LADDERS[name]().levels}
    if kind != "assess":  # whose page takes its time, and its numbers are those of the JSON
        result.report(tmp_path / "r.html")
    with pytest.warns(rb.errors.ReidbnWarning, match="level of"):
        result.compare(RESULTS[kind](released.as_read))
    finer = rb.what_if(result, generalise={name: 0})
    assert any(line.startswith(f"level of {name}: ") for line in finer.changed)


def test_a_band_has_its_width_and_the_last_level_none(table):
    people = rb.read_table(table, quasi_identifiers=NAMES)
    widths = [
        people.generalise({"age": level}, hierarchies={"age": rb.microdata.Bands(5, 10)})
        .as_released.get("bands")
        for level in (1, 2, 3)
    ]  # fmt: skip
    assert widths == [{"age": "5 wide"}, {"age": "10 wide"}, None]


@pytest.mark.parametrize("name", LADDERS)
def test_a_column_that_tells_nobodys_value_is_no_secret(table, name):
    released = dropped(table, name)
    every = rb.secrets.disclosure_all(released, empty=True)  # who knows "*" knows nothing
    others = [n for n in (*NAMES, "dx") if n != name]
    assert list(every) == others
    plain = rb.secrets.disclosure_all(released.select(others), empty=True)
    for secret in others:
        assert np.array_equal(every[secret].ppp_min, plain[secret].ppp_min)
        assert f'{name} is no secret here: it is "*" for everybody' in every[secret].remarks()
    assert every.ppp_min.shape == (90, 3)
    with pytest.raises(rb.UsageError, match=f'every value of "{name}" is "\\*"; name another'):
        rb.disclosure(released, name)
    ladders = {n: LADDERS[n]() for n in NAMES}
    tops = {n: ladder.levels for n, ladder in ladders.items()}
    nobody = released.generalise(tops, hierarchies=ladders).select(NAMES)
    with pytest.raises(rb.UsageError, match="there is no secret to ask"):
        rb.secrets.disclosure_all(nobody)
    constant = rb.secrets.disclosure_all(released, if_missing="value")
    assert name in constant


@pytest.mark.parametrize(("rule", "column"), [("bands:10", "age"), ("prefix:1", "sex")])
def test_the_shell_answers_with_a_dropped_column(table, rule, column, tmp_path):
    path, page = tmp_path / "t.csv", tmp_path / "r.html"
    table.to_csv(path, index=False)
    words = [str(path), "--qi", "age,sex,race", "--hierarchy", f"{column}={rule}",
             "--level", f"{column}=2"]  # fmt: skip
    for command in (["disclosure", "--sensitive", "dx", "--html", page, "--json"],
                    ["disclosure", "--all", "--json"],
                    ["leak", "--leaked", "20", "--html", page, "--json"],
                    ["classes", "--json"]):  # fmt: skip
        done = CliRunner().invoke(reidbn, [command[0], *words, *map(str, command[1:])])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)
    assert page.exists()


@pytest.mark.wide
def test_levels_of_a_sparse_table_are_those_of_the_values_that_were_read():
    ehr = rb.datasets.synthetic_ehr(16, seed=0)
    sparse = rb.read_sparse(ehr.table, features=ehr.features)
    year, ladders = "Personal: birth year", {"Personal: birth year": rb.microdata.Bands(10)}
    read = rb.assess("linkage", sparse)

    def at(before, level):
        return rb.what_if(before, generalise={year: level}, hierarchies=ladders)

    direct = {0: read.risk(), 1: rb.assess("linkage", sparse.coarser(ladders)).risk()}
    direct[2] = rb.assess("linkage", sparse.coarser(ladders, level=2)).risk()
    assert not np.array_equal(direct[1], direct[2])
    for first, level in ((2, 1), (2, 0), (1, 2)):
        assert np.array_equal(at(at(read, first), level).risk(), direct[level]), (first, level)
    fewer = rb.what_if(at(read, 2), drop="Personal: sex")
    plain = rb.assess("linkage", sparse.drop("Personal: sex"))
    assert np.array_equal(at(fewer, 0).risk(), plain.risk())
    for level in (3, -1):
        with pytest.raises(rb.UsageError, match=r"level.*levels 0 to 2|at least 0"):
            at(read, level)
    noisy = rb.what_if(at(read, 2), noise=0.1)
    plain = rb.assess("linkage", sparse.noisy(0.1))
    assert np.array_equal(at(noisy, 0).risk(), plain.risk())
    for before, whole in (
        (sparse.coarser(ladders), sparse),
        (sparse.coarser(ladders, level=2).drop("Personal: sex"), sparse.drop("Personal: sex")),
        (sparse.coarser(ladders).take(np.arange(3, 12)), sparse.take(np.arange(3, 12))),
    ):
        made = rb.assess("linkage", before)
        assert np.array_equal(at(made, 0).risk(), rb.assess("linkage", whole).risk())
        finer = rb.assess("linkage", whole.coarser(ladders)).risk()
        assert np.array_equal(at(made, 1).risk(), finer)
