"""reidbn population: what it prints, writes as JSON and draws, and how it refuses."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn import population
from reidbn.cli import main, reidbn
from reidbn.report import Telling, population_figures


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A register of 4,000, and 800 of them as a table."""
    folder = tmp_path_factory.mktemp("population")
    rng = np.random.default_rng(61)
    register = pd.DataFrame(
        {
            "age": rng.integers(0, 90, 4_000),
            "job": rng.poisson(6, 4_000),
            "town": (30 * rng.beta(1, 4, 4_000)).astype(int),
            "sex": rng.choice(["f", "m"], 4_000),
        }
    )
    table = register.sample(800, random_state=62)
    register.to_csv(folder / "register.csv", index=False)
    table.to_csv(folder / "table.csv", index=False)
    return str(folder / "table.csv"), str(folder / "register.csv"), folder


def run(*words, code=0):
    done = CliRunner().invoke(reidbn, words, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def refused(capsys, *words):
    with pytest.raises(SystemExit) as stopped:
        main(["population", *words])
    said = capsys.readouterr()
    assert said.out == ""
    assert stopped.value.code not in (0, None)
    return said.err


def people(path, columns="age,job,town"):
    return rb.read_table(path, quasi_identifiers=columns.split(","))


def test_it_prints_the_recommended_fit_and_every_model(files):
    table, _, _ = files
    shown = run("population", table, "--qi", "age,job,town", "--population", "4000")
    compared = population.compare(people(table), population=4_000)
    best = compared.loc[compared["recommended"], "model"].item()
    fit = population.fit(people(table), population=4_000, model=best)
    assert f"{fit.expected_uniques:,.1f}" in shown
    assert f"* {best}" in shown
    assert compared.attrs["recommendation"] in shown
    assert all(model in shown for model in compared["model"])


def test_json_holds_the_same_numbers(files):
    table, _, _ = files
    given = json.loads(
        run("population", table, "--qi", "age,job,town", "--population", "4,000", "--json")
    )
    compared = population.compare(people(table), population=4_000)
    for row, model in zip(given["models"], compared.itertuples(), strict=True):
        assert row["model"] == model.model
        if row["p_unique"] is not None:
            assert row["p_unique"] == pytest.approx(model.p_unique, rel=1e-12)
    assert given["fit"]["population"] == 4_000
    assert given["fit"]["model"] == compared.loc[compared["recommended"], "model"].item()
    known = {row["model"]: row for row in given["models"]}["pitman-bayes"]
    assert known["lower"] <= known["expected_uniques"] <= known["upper"]


def test_one_model_by_name_and_its_confidence(files):
    table, _, _ = files
    shown = run("population", table, "--qi", "age,job,town", "--population", "4000", "--model",
                "pitman", "--confidence", "0.5", "-q")  # fmt: skip
    fit = population.fit(people(table), population=4_000)
    low, high = fit.interval(level=0.5)
    assert "50% confidence" in shown
    assert f"{low:,.0f} to {high:,.0f}" in shown
    assert "Recommended" not in shown


def test_a_population_table_gives_the_truth(files):
    table, register, _ = files
    shown = run("population", table, "--qi", "age,job,town", "--population", register)
    truth = population.fit(people(table), population=people(register), model="truth")
    assert "truth (counted)" in shown
    assert f"{truth.expected_uniques:,.1f}" in shown


@pytest.mark.parametrize("qi", ["age,job,sex", "age,job"])  # a stratum need be nothing else
def test_strata_with_populations_of_their_own(files, qi):
    table, _, _ = files
    given = json.loads(
        run("population", table, "--qi", qi, "--strata", "sex", "--population",
            "f=2000,m=2500", "--json")
    )  # fmt: skip
    assert given["fit"]["population"] == 4_500
    assert set(given["fit"]["strata"]) == {"f", "m"}


def test_a_rehearsal_is_printed(files):
    table, _, _ = files
    shown = run("population", table, "--qi", "age,job,town", "--population", "4000", "--rehearse")
    assert "Rehearsal: from parts of 160 people" in shown


def test_plots_are_written(files):
    table, _, folder = files
    names = {"--plot": "a.svg", "--plot-classes": "b.png", "--plot-models": "c.svg"}
    words = [word for option, name in names.items() for word in (option, str(folder / name))]
    run("population", table, "--qi", "age,job", "--population", "4000", "--model",
        "pitman-bayes", "--custodian", *words)  # fmt: skip
    assert (folder / "a.svg").read_text().lstrip().startswith("<?xml")
    assert (folder / "b.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "c.svg").read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize("model", [None, "log-linear", "zayatz", "snb", "dankar", "ewens"])
def test_pictures_are_of_the_model_that_answered_and_rounded_outside(files, model):
    table, _, folder = files
    words = ["population", table, "--qi", "age,job,sex", "--population", "4000"]
    words += ["--model", model] if model else []
    fit = json.loads(run(*words, "--json"))["fit"]
    picture = folder / "p.svg"
    run(*words, "--plot", str(picture))
    text = re.findall(r">([^<>]+)</text>", picture.read_text())
    assert fit["table_uniques"] % 10
    low = Telling().count(fit["table_uniques"])
    assert f"{low:,} to {low + 9:,}" in text
    assert not any(f"{fit['table_uniques']:,}" in line or "pitman" in line for line in text)
    run(*words, "--plot", str(picture), "--custodian")
    text = re.findall(r">([^<>]+)</text>", picture.read_text())
    assert any(f"{fit['table_uniques']:,}" in line for line in text)
    curve = fit["model"].startswith(("pitman", "ewens"))
    assert any("sampling fraction" in line for line in text) == curve


def test_a_page_tells_both_ends_of_a_count_and_an_interval_once(files):
    """Where a fit has its maximum hangs on the exact classes: the JSON left it out, the page did
    not."""
    table, _, folder = files
    people = rb.read_table(table, quasi_identifiers=["age", "job", "sex"])
    fit, said = rb.population.fit(people, population=4_000, model="pitman"), {}
    for name in ("out.md", "own.md"):
        said[name] = fit.report(folder / name, custodian=name == "own.md").read_text()
    exact = int(re.search(r"people in the table ([\d,]+) are", said["own.md"])[1].replace(",", ""))
    low, high = re.search(r"people in the table (\d+) to (\d+) are", said["out.md"]).groups()
    assert int(low) <= exact <= int(high) == int(low) + 9
    assert re.search(r"\(pitman: \w+\)", said["own.md"])
    assert "(pitman)." in said["out.md"]
    assert not re.search(r"interior|boundary", said["out.md"])
    ends = re.findall(r"probability (\S+ to \S+?),", said["out.md"])[0]
    assert said["out.md"].split("May I release")[0].count(ends) == 1


def test_the_models_are_drawn_rounded_and_class_sizes_only_inside(files, capsys):
    table, _, folder = files
    words = ("population", table, "--qi", "age,job,town", "--population", "4000")
    run(*words, "--plot-models", str(folder / "m.svg"))
    text = re.findall(r">([^<>]+)</text>", (folder / "m.svg").read_text())
    exact = population.compare(people(table), population=4_000)["expected_uniques"].dropna()
    assert len(exact) > 3
    assert not {f"{value:,.0f}" for value in exact if round(value) % 50} & {*text}
    said = refused(capsys, *words[1:], "--plot-classes", str(folder / "c.svg"))
    assert "add --custodian" in said


def test_what_the_figures_show():
    fit = population.fit(sizes=[1, 2, 3, 9], counts=[812, 150, 60, 9], population=100_000)
    curve = population_figures.uniqueness_figure(fit).axes[0].lines[0].get_xydata()
    at = np.interp(np.log(100 * fit.sampling_fraction), np.log(curve[:, 0]), curve[:, 1])
    assert at == pytest.approx(100 * fit.p_unique, rel=0.02)
    assert curve[-1].tolist() == [100, 100]
    step = population_figures.class_size_figure(fit, (1,)).axes[0].lines[0].get_xydata()
    assert step[0] == pytest.approx([1, 100 * fit.p_unique])
    assert step[-1, 1] == pytest.approx(99.9, abs=0.1)
    table = population.compare(sizes=[1, 2, 3], counts=[300, 80, 20], population=5_000)
    axes = population_figures.models_figure(table).axes[0]
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    expected = table["expected_uniques"].dropna().tolist()[::-1]
    assert dots == pytest.approx(expected)


def test_refusals_name_what_would_be_right(files, capsys):
    table, _, folder = files
    assert "smaller than the table" in refused(capsys, table, "--qi", "age", "--population", "10")
    said = refused(capsys, table, "--qi", "age", "--population", "lots")
    assert "no file lots; give one, or a number such as 300000" in said
    said = refused(capsys, table, "--qi", "age", "--population", "10000000001")
    assert "10000000001: there are fewer than 10,000,000,000 people" in said
    assert "did you mean" in refused(
        capsys, table, "--qi", "age", "--population", "4000", "--model", "pitmann"
    )
    assert "STRATUM=N" in refused(
        capsys, table, "--qi", "age,sex", "--population", "4000", "--strata", "sex"
    )
    assert "no number for 1 of the 2 strata" in refused(
        capsys, table, "--qi", "age,sex", "--population", "f=4000", "--strata", "sex"
    )
    assert ".svg" in refused(
        capsys, table, "--qi", "age", "--population", "4000", "--plot", str(folder / "x.doc")
    )
