"""Assessments of people counted as cells, against the same people one by one."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.attack import Known, Knows, Scenario

QI = ["age", "sex", "state", "race"]
HALF = Scenario("half", knows=Knows(tuple(Known(c, (c,), (0.4,), source="made up") for c in QI)))
PAIRS = Scenario("pairs", knows=Knows((
    Known("place", ("state", "race"), (0.3,), source="made up"),
    Known("rest", ("age", "sex"), (0.7,), source="made up"))))  # fmt: skip
POPULATION = 60_000


@pytest.fixture(scope="module")
def frame():
    found = rb.datasets.synthetic_patients(1_500, seed=8)[QI]
    found["age"] = found["age"] // 10  # so that many cells hold several people
    found.loc[found.index % 50 == 0, "race"] = None
    return found


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("cells") / "people.parquet"
    frame.assign(number=np.arange(len(frame))).to_parquet(path)
    return path


def as_people(frame):
    return rb.read_table(frame, quasi_identifiers=QI)


def in_order(values):
    return np.sort(np.asarray(values))


@pytest.mark.parametrize("engine", ["numpy", "duckdb"])
@pytest.mark.parametrize(
    ("scenario", "model"),
    [*product((HALF, PAIRS, "worst-case"), ("log-linear", "pitman")),
     ("voter-registration", "log-linear")],
)  # fmt: skip
def test_cells_and_people_one_by_one_have_the_same_risks(frame, file, engine, scenario, model):
    asked = {"scenario": scenario, "population": POPULATION, "population_model": model}
    cells = rb.contingency(file if engine == "duckdb" else frame, QI, engine=engine)
    found, whole = (rb.assess("adversary-routes", p, **asked) for p in (cells, as_people(frame)))
    assert len(found) == len(whole) == 1_500
    assert len(cells) < 1_500
    assert list(found.risks) == list(whole.risks)
    for measure in whole.risks:
        np.testing.assert_allclose(
            in_order(found.risk(measure)), in_order(whole.risk(measure)), rtol=0, atol=1e-12
        )
    assert found.above().equals(whole.above())
    assert found.population.notes == whole.population.notes
    pd.testing.assert_frame_equal(found.shares_above(), whole.shares_above())


def test_everything_told_of_cells_is_about_people(frame):
    """The report's counts, the verdict, the cross-check and what-if, as of people one by one."""
    asked = {"scenario": HALF, "population": POPULATION}
    found = rb.assess("adversary-routes", rb.contingency(frame, QI), **asked)
    whole = rb.assess("adversary-routes", as_people(frame), **asked)
    check, _ = (r.keep_crosscheck(draws=20_000) for r in (found, whole))
    assert check.passed
    assert check.compared.of == 1_500
    for measure in found.measures:
        assert found.measures[measure].value == pytest.approx(whole.measures[measure].value, 1e-12)
    asked_again = [rb.what_if(r, scenario=PAIRS) for r in (found, whole)]
    np.testing.assert_allclose(*(in_order(r.risk()) for r in asked_again), rtol=0, atol=1e-12)
    swept = [rb.sweep(r, {"p_m": [0.1, 0.9]}) for r in (found, whole)]
    np.testing.assert_allclose(swept[0]["mean"], swept[1]["mean"], atol=1e-12)
    assert (swept[0]["subjects"] == swept[1]["subjects"]).all()
    ends = [r.population_uncertainty() for r in (found, whole)]
    assert str(ends[0]) == str(ends[1])


@pytest.mark.slow
def test_the_summary_of_cells_is_the_summary_of_people(frame):
    asked = {"scenario": HALF, "population": POPULATION}
    found = rb.assess("adversary-routes", rb.contingency(frame, QI), **asked)
    whole = rb.assess("adversary-routes", as_people(frame), **asked)
    one, other = (r.summary().to_dict() for r in (found, whole))
    for key in ("people", "people_above", "judged", "verdict", "other_rule", "passes", "rule",
                "remarks", "fits", "release", "threshold", "assumptions"):  # fmt: skip
        assert one[key] == other[key], key


@pytest.mark.slow
def test_the_page_of_cells_is_the_page_of_people(frame, tmp_path):
    asked = {"scenario": HALF, "population": POPULATION}
    found = rb.assess("adversary-routes", rb.contingency(frame, QI), **asked)
    whole = rb.assess("adversary-routes", as_people(frame), **asked)
    pages = []
    for name, result in (("cells", found), ("people", whole)):
        result.to_json(tmp_path / f"{name}.json", custodian=True)
        result.to_html(tmp_path / f"{name}.html")
        pages.append((tmp_path / f"{name}.html").read_text())
    assert all("1,500" in page for page in pages)


def test_the_histogram_of_class_sizes_counts_people(frame):
    cells, people = (
        rb.assess("marketer", rb.contingency(frame, QI), scenario=HALF),
        as_people(frame),
    )
    assert in_order(cells.table.class_sizes()).tolist() == in_order(people.class_sizes()).tolist()
    assert cells.table.k() == people.k()
    assert str(cells.table.frequencies()) == str(people.frequencies())
    assert len(cells.table) == len(people)


def test_risks_come_back_beside_every_row_of_the_file(frame, file, tmp_path):
    found = rb.assess("adversary-routes", rb.contingency(file, QI), scenario=HALF,
                      population=POPULATION)  # fmt: skip
    whole = rb.assess("adversary-routes", as_people(frame), scenario=HALF, population=POPULATION)
    back = pd.read_parquet(found.to_parquet(tmp_path / "risks.parquet", source=file))
    back = back.sort_values("number", ignore_index=True)
    assert back["number"].tolist() == list(range(1_500))
    for measure in whole.risks:
        np.testing.assert_allclose(back[measure], whole.risk(measure), rtol=0, atol=1e-12)
    cells = pd.read_parquet(found.to_parquet(tmp_path / "cells.parquet"))
    assert cells["people"].sum() == 1_500
    assert list(cells.columns) == [*QI, "people", *found.risks]
    top = found.most_at_risk(5)
    assert top["overall"].max() == whole.risk().max()


def test_a_source_with_other_rows_is_refused_and_nothing_is_left(frame, file, tmp_path):
    found = rb.assess(
        "marketer", rb.contingency(frame[frame["sex"] == "female"], QI), scenario=HALF
    )
    with pytest.raises(rb.errors.DataError, match="rows of the source are in none of the cells"):
        found.to_parquet(tmp_path / "risks.parquet", source=file)
    assert not (tmp_path / "risks.parquet").exists()
    with pytest.raises(rb.errors.UsageError, match="have a row each"):
        rb.assess("marketer", as_people(frame), scenario=HALF).to_parquet(
            tmp_path / "x.parquet", source=file
        )


@pytest.mark.parametrize(
    "asked", [{"individuals": 10}, {"subject": {"x": [1]}}, {"checkpoint": "folder"}]
)
def test_what_cells_cannot_tell_is_refused_with_a_remedy(frame, asked):
    with pytest.raises(rb.errors.UsageError, match=r"rb\.read_table"):
        rb.assess("marketer", rb.contingency(frame, QI), scenario=HALF, **asked)


def test_chances_of_people_one_by_one_are_refused_of_cells(frame):
    cells, people = rb.contingency(frame, QI), as_people(frame)
    chance = np.where(frame["age"] > 5, 0.9, 0.05)
    rest = {"sex": 0.5, "state": 0.3, "race": 0.2}
    result = rb.assess("adversary-routes", cells, scenario="worst-case", population=POPULATION)
    each = [
        {"age": chance, **rest},
        {"age": list(chance), **rest},
        {"age": pd.Series(chance, index=frame.index[::-1]), **rest},
        {"body": (["age", "sex"], chance), "state": 0.3, "race": 0.2},
        {"age": np.full(2, 0.5), **rest},
        {"age": np.full(len(cells), 0.5), **rest},
        rb.knowledge(people, {"age": chance, **rest}),
        rb.knowledge(result.table, "voter-registration", columns={"birth_year": "age"}),
    ]
    for known in each:
        with pytest.raises(rb.errors.UsageError, match=r"one by one.*rb\.read_table"):
            rb.assess("adversary-routes", cells, known=known, population=POPULATION)
        with pytest.raises(rb.errors.UsageError, match=r"one by one.*rb\.read_table"):
            rb.what_if(result, known=known)
    for known in (HALF, "voter-registration", {"age": 0.5, **rest}):
        for told in (known, rb.knowledge(people, {"age": 0.5, **rest})):
            rows = rb.assess("adversary-routes", people, known=told, population=POPULATION)
            for found in (
                rb.assess("adversary-routes", cells, known=told, population=POPULATION),
                rb.what_if(result, known=told),
            ):
                np.testing.assert_allclose(
                    in_order(found.risk("marketer")), in_order(rows.risk("marketer")), atol=1e-12
                )


def test_cells_are_not_changed(frame):
    found = rb.assess("marketer", rb.contingency(frame, QI), scenario=HALF)
    with pytest.raises(rb.errors.UsageError, match="before counting"):
        found.table.generalise({"age": 1})
    with pytest.raises(rb.errors.UsageError, match="read_table"):
        rb.assess("marketer", frame, scenario=HALF)


def test_people_in_the_order_of_their_cells_are_not_compared_one_by_one_with_rows_of_a_table(
    frame, file
):
    asked = {"known": "worst-case", "population": POPULATION}
    cells = rb.assess("adversary-routes", rb.contingency(file, QI), **asked)
    rows = rb.assess("adversary-routes", as_people(frame), **asked)
    other_order = rb.assess("adversary-routes", rb.contingency(file, QI[::-1]), **asked)
    for before, after in ((cells, rows), (rows, cells), (cells, other_order)):
        with pytest.raises(rb.UsageError, match="order of their cells"):
            rb.compare(before, after)
    assert np.allclose(cells.compare(rows)["difference"], 0)  # one table, measure by measure
    again = rb.assess("adversary-routes", rb.contingency(file, QI), **asked)
    assert rb.compare(cells, again).table["q3"].eq(0).all()


@pytest.mark.parametrize(
    "change", [{"suppress": 3}, {"generalise": {"age": 1}, "hierarchies": {"age": rb.Bands(2)}}]
)
def test_what_if_says_that_people_counted_as_cells_are_not_changed(file, change):
    cells = rb.assess(
        "adversary-routes", rb.contingency(file, QI), known="worst-case", population=POPULATION
    )
    with pytest.raises(rb.UsageError, match="people counted as cells are not changed"):
        rb.what_if(cells, **change)


def test_risks_are_never_written_over_the_file_they_came_from(frame, file, tmp_path):
    cells = rb.assess(
        "adversary-routes", rb.contingency(file, QI), known="worst-case", population=POPULATION
    )
    before = file.read_bytes()
    for source in (file, [file], str(file.parent / "*.parquet")):
        with pytest.raises(rb.UsageError, match="is the source itself"):
            cells.to_parquet(file, source=source)
    assert file.read_bytes() == before
    strangers, place = tmp_path / "strangers.parquet", tmp_path / "risks.parquet"
    frame.head(1).assign(age=99).to_parquet(strangers)
    place.write_text("of yesterday")
    with pytest.raises(rb.DataError, match="1 row of the source is in none"):
        cells.to_parquet(place, source=strangers)
    assert place.read_text() == "of yesterday"
    for part in (frame.head(len(frame) // 2), pd.concat([frame, frame.head(3)])):
        part.to_parquet(strangers)  # the risks of a table are not those of a part of it
        with pytest.raises(rb.DataError, match="another number of rows in the source"):
            cells.to_parquet(place, source=strangers)
        assert place.read_text() == "of yesterday"
    halves = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    frame.head(5).to_parquet(halves[0])
    frame.iloc[5:].to_parquet(halves[1])
    assert len(pd.read_parquet(cells.to_parquet(place, source=halves))) == len(frame)
    (tmp_path / "people.csv").write_text("age\n1\n")
    with pytest.raises(rb.DataError, match=r"people\.csv: cannot be read as Parquet"):
        cells.to_parquet(place, source=tmp_path / "people.csv")


def test_a_disclosure_from_a_contingency_is_refused_with_what_to_read(file):
    with pytest.raises(rb.UsageError, match=r"Contingency is not a table of people.*read_table"):
        rb.disclosure(rb.contingency(file, QI), "race")


def test_cells_are_assessed_without_a_number_for_everybody_of_them():
    """40,000,000 people in 38,800 cells would be 320 MB, of which nothing is asked."""
    frame = rb.datasets.synthetic_patients(300, seed=1)
    cells = rb.contingency(frame, ["age", "sex"])
    result = rb.assess("adversary-routes", cells, known="worst-case", population=10_000)
    assert "of_person" not in vars(result.subject_table)
    assert vars(result.subject_table)["of_entry"].size == len(cells)
