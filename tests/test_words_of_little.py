"""Words and numbers that an assessment prints of what is small, alone or nobody's."""

import numpy as np
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import main, reidbn


@pytest.fixture(scope="module")
def people():
    codes = np.random.default_rng(3).integers(0, 4, (900, 3))
    return rb.People.from_codes(codes, ["age", "sex", "race"])


@pytest.fixture(scope="module")
def result(people):
    found = rb.assess("adversary-routes", people, known="worst-case", population=9_000)
    found.keep_crosscheck(draws=2_000)
    return found


def test_the_population_of_a_result_prints_itself_in_a_line(result):
    assert repr(result.population) == (
        "<log-linear on 2 subsets: 900 people of 9,000; see .table()>"
    )


def test_one_subset_is_one_subset_in_the_status_of_the_fits(result):
    assert "boundary on 1 subset\n" in str(result.summary())


def test_a_reduction_of_nobody_is_a_dash_and_no_nan(result):
    said = str(rb.compare(result, rb.what_if(result, set={"p_c": 0.1})))
    assert "nan" not in said
    assert said.splitlines()[3].split() == ["prosecutor", "-", "-", "-", "0", "->", "0"]


@pytest.mark.wide
def test_a_chance_under_rounding_is_not_written_out_in_a_summary():
    codes = np.random.default_rng(0).integers(0, [40, 5], (400, 2))
    table = rb.People.from_codes(codes, ["age", "job"])
    found = rb.assess("adversary-routes", table, known="worst-case", population=50_000)
    assert 0 < found.risk("journalist").mean() < 1e-12
    assert "journalist          below 1e-12 " in str(found.summary())


def test_a_register_without_a_row_for_a_band_says_which_bands_each_key_needs():
    table = {
        "region": ["n", "n", "s"], "age from": [0, 18, 0], "listed": [0, 0.9, 0.5],
        "shows age": [1, 1, 1],
    }  # fmt: skip
    frame = {"region": ["n", "s"] * 20, "age": list(range(20, 60))}
    people = rb.read_table(frame, quasi_identifiers=["age"], sensitive=["region"])
    with pytest.raises(rb.DataError, match="age from 0, 18, each a row of its own"):
        rb.assess("adversary-routes", people, known=rb.register(table), population=900)


def test_disclosure_says_that_it_wrote_a_row_per_person(tmp_path):
    table, out = tmp_path / "t.csv", tmp_path / "out.parquet"
    table.write_text("age,sex,dx\n" + "".join(f"{i % 3},{i % 2},{i % 5}\n" for i in range(60)))
    done = CliRunner().invoke(
        reidbn,
        ["disclosure", str(table), "--qi", "age,sex", "--sensitive", "dx", "--out", str(out)],
    )
    assert done.exit_code == 0
    assert f"a row per person (restricted): {out}" in done.stderr


def test_the_headline_of_a_population_page_is_a_sentence_where_hardly_any_stays_unique(tmp_path):
    codes = np.random.default_rng(5).integers(0, [40, 2, 4], (400, 3))
    people = rb.People.from_codes(codes, ["a", "b", "c"])
    fit = rb.population.fit(people, population=40_000, model="log-linear")
    fit.report(tmp_path / "p.md")
    said = (tmp_path / "p.md").read_text()
    assert "unique among all 40,000 with probability 0 to 0.1 (log-linear" in said


def test_a_column_that_everybody_shares_adds_nothing_to_the_risk():
    codes = np.random.default_rng(6).integers(0, [7, 9, 1], (60, 3))
    table = rb.People.from_codes(codes, ["age", "job", "state"])
    found = rb.assess("adversary-routes", table, known="worst-case", population=900)
    shares = found.summary().drivers.table().set_index("group")["contribution"]
    assert shares["state"] == 0
    assert shares.sum() + found.summary().drivers.nothing == pytest.approx(found.risk().mean())


def test_a_page_about_few_people_is_written_in_sentences(tmp_path):
    people = rb.People.from_codes(np.arange(22).reshape(11, 2) % 4, ["a", "b"])
    rb.leak.assess(people, leaked=3).report(tmp_path / "leak.md")
    assert (
        "3 of 10 people leak, all but under 10 people up to 0.2; no mean of fewer than 100"
        in (tmp_path / "leak.md").read_text()
    )
    rb.suda(people).report(tmp_path / "suda.md")
    assert "> Under 10 of 10 people are singled out" in (tmp_path / "suda.md").read_text()
    secret = rb.disclosure(people, "b")
    with pytest.raises(rb.UsageError, match=r"the custodian's own copy is custodian=True$"):
        secret.report(tmp_path / "d.md")


def test_columns_known_without_chances_are_refused_where_subsets_are_weighed(tmp_path, capsys):
    """They were known with 1/2 there, and for sure to a leak."""
    table = tmp_path / "t.csv"
    table.write_text("age,sex\n1,m\n" + "2,m\n2,f\n" * 9)
    asked = ["subsets", str(table), "--qi", "age,sex", "--per-record", "--top", "0", "--known"]
    with pytest.raises(SystemExit, match="2"):
        main([*asked, "age"])
    refused = capsys.readouterr().err
    assert "--known age=1" in refused
    assert "--known age=0.5" in refused
    said = CliRunner().invoke(reidbn, [*asked, "age=1"]).stdout
    assert "identified by  1 known                   1 person\n" in said
    assert "DataFrame" not in said


def test_no_mean_of_a_group_is_told_as_up_to_one():
    """Of 110 people in a table that passes at .05: the steps of 100 people said 'up to 1'."""
    telling = rb.report.Telling()
    risk = np.repeat([1 / 400, 1 / 800, 1 / 50, 1 / 60], [400, 800, 50, 60])
    part = risk[-110:]
    assert telling.roughly(part) == "up to 1"
    assert telling.mean_of_part(part, risk, [101, 119]) == "up to 0.2"
    assert telling.mean_of_part(part, risk, None) == "not told: too few people"
    own = rb.report.Telling(custodian=True)
    assert own.mean_of_part(part, risk, 110) == own.roughly(part)


def test_the_mean_of_a_group_is_never_above_what_is_told_of_it():
    rng, telling, told = np.random.default_rng(8), rb.report.Telling(), 0
    for _ in range(200):
        sizes = rng.choice([1, 2, 5, 12, 40, 200], rng.integers(3, 30))
        risk = np.repeat(1 / sizes, sizes)
        part = np.repeat(rng.random(len(sizes)) < 0.5, sizes)
        count = int(part.sum()) // 10 * 10
        if len(risk) < 100 or count < 100:
            continue
        said = telling.mean_of_part(risk[part], risk, [count, count + 9])
        assert said != "up to 1"
        if said.startswith("up to"):
            assert risk[part].mean() <= float(said.removeprefix("up to "))
            told += 1
    assert told > 50
