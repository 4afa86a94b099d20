"""Slips in feature tables of sparse records and of families: refused, or told; never numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.attacks.family import log_ratio, person_of
from reidbn.cli import reidbn

COLUMNS = ["feature", "kind", "relation", "disease", "field"]
PEOPLE = {"sex": ["male", "male"], "birth year": [1950, 1980], "own asthma": ["yes", None],
          "father asthma": [None, "yes"]}  # fmt: skip
MAP = [
    ("sex", "category", "self", "", "sex"), ("birth year", "year", "self", "", "birth year"),
    ("own asthma", "yes/no", "self", "asthma", "has"),
    ("father asthma", "yes/no", "father", "asthma", "has"),
]  # fmt: skip
AGES = [("oa", "number", "self", "asthma", "onset"), ("oc", "number", "self", "cancer", "onset"),
        ("fa", "number", "father", "asthma", "onset"),
        ("fc", "number", "father", "cancer", "onset")]  # fmt: skip


def kin_of(table, rows, **options):
    features = pd.DataFrame(rows, columns=COLUMNS)
    return rb.read_kin(rb.read_sparse(pd.DataFrame(table), features=features), **options)


def invoke(*words):
    return CliRunner().invoke(reidbn, list(words), standalone_mode=False, catch_exceptions=False)


# -- somebody who is in the table for sure ---------------------------------------------------------


def test_who_is_there_for_sure_is_found_without_a_warning():
    kin = kin_of(PEOPLE, MAP)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rb.neighbourhood(kin, start=0, in_release=1.0)
        near = rb.neighbourhood(kin, start=0, in_release=1 - 1e-9)
    child, close = found.looked[0]["child"], near.looked[0]["child"]
    assert child.present == pytest.approx(1, abs=1e-12)
    assert [c.who for c in child.claims] == [c.who for c in close.claims] == [1]
    assert child.claims[0].posterior == pytest.approx(close.claims[0].posterior, abs=1e-8)
    assert found.check()


@pytest.mark.parametrize("seed", range(12))
def test_the_limit_of_surely_there_is_that_of_nearly_so(seed):
    families = rb.datasets.synthetic_families(5, seed=seed)
    kin = rb.read_kin(rb.read_sparse(families.table, features=families.features), jitter=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sure, near = (rb.neighbourhood(kin, start=0, in_release=q) for q in (1.0, 1 - 1e-12))
    assert sure.check()
    for role, one in sure.looked[0].items():
        if not one.evidence:
            continue
        logs = log_ratio(kin, person_of(kin, 0), role)
        if np.isfinite(logs).any() and logs.max() > -15:  # else 1e-12 of nobody weighs as much
            other = near.looked[0][role]
            assert one.present == pytest.approx(other.present, abs=1e-4)
            assert [c.who for c in one.claims] == [c.who for c in other.claims]


@pytest.mark.parametrize("jitter", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("others", [[(80, 50, None, None), (65, None, None, None)],
                                    [(70, 80, None, None), (75, 85, None, None)]])  # fmt: skip
def test_what_fits_nobody_names_nobody(others, jitter):
    rows = [(None, None, 40, 50), *others]
    table = pd.DataFrame(rows, columns=[one[0] for one in AGES])
    kin = kin_of(table, AGES, jitter=jitter)
    logs = log_ratio(kin, person_of(kin, 0), "father")[1:]
    found = rb.neighbourhood(kin, start=0, in_release=1.0)
    father = found.looked[0]["father"]
    assert found.check()
    assert father.present == 1
    if np.isfinite(logs).any():
        with np.errstate(under="ignore"):
            chance = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
        assert [c.who for c in father.claims] == [int(chance.argmax()) + 1]
        assert father.claims[0].posterior == pytest.approx(chance.max())
    else:
        assert not father.claims


# -- what a kin table says -------------------------------------------------------------------------


def test_a_field_that_nobody_has_is_refused():
    rows = [(*row[:4], row[4].replace("has", "hsa")) for row in MAP]
    with pytest.raises(rb.errors.DataError, match="asthma: no feature says who has it") as told:
        kin_of(PEOPLE, rows)
    assert "hsa is read as a status" in str(told.value)


def test_an_illness_of_relatives_alone_that_is_nearly_another_is_told():
    rows = [*MAP[:3], (*MAP[3][:3], "astma", "has")]
    kin = kin_of(PEOPLE, rows)
    assert any("astma is told of relatives alone; if asthma was meant" in n for n in kin.notes)
    assert not any("relatives alone" in n for n in kin_of(PEOPLE, MAP).notes)


# -- columns of the feature table ------------------------------------------------------------------

HEIGHTS = {"height": [170, 171, 180, 181], "job": ["a", "b", "c", "d"]}


@pytest.mark.parametrize("header", ["kind", "Kind", " KIND "])
def test_capitals_of_a_header_mean_nothing(header):
    features = pd.DataFrame({"Feature": ["height", "job"], header: ["category", "text"]})
    sparse = rb.read_sparse(pd.DataFrame(HEIGHTS), features=features)
    assert sparse.features["kind"].tolist() == ["category", "text"]
    found = rb.linkage(sparse, known=["height"], match="tolerance", facts=[1])
    assert found.success[:, 0].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(("header", "meant"), [("kinds", "kind"), ("relaton", "relation"),
                                               ("tag", "tags"), ("feild", "field")])  # fmt: skip
def test_a_misspelt_header_is_refused_and_one_of_ones_own_is_not(header, meant):
    features = pd.DataFrame({"feature": ["height"], header: ["x"], "remarks": ["mine"]})
    with pytest.raises(rb.errors.DataError, match=f'"{header}"; did you mean "{meant}"'):
        rb.read_sparse(pd.DataFrame(HEIGHTS), features=features)
    assert len(rb.read_sparse(pd.DataFrame(HEIGHTS), features=features.drop(columns=header))) == 4


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["1980-01-02?", "1980-01-0299", "1980-01-02 or 03", "02/03/1981"])
def test_what_is_no_date_is_none(text):
    features = pd.DataFrame({"feature": ["seen"], "kind": ["date"]})
    with pytest.raises(rb.errors.DataError, match="no date, such as 1980-01-31") as told:
        rb.read_sparse({"seen": [text, "1990-05-06"]}, features=features)
    assert text not in str(told.value)


def test_times_of_a_day_are_that_day_and_years_may_be_texts():
    features = pd.DataFrame({"feature": ["seen", "born"], "kind": ["date", "year"]})
    table = {"seen": ["1980-01-02T10:30:00Z", "1980-01-02 08:00", "1990-05-06"],
             "born": ["1981", None, "1990"]}  # fmt: skip
    sparse = rb.read_sparse(pd.DataFrame(table, dtype=object), features=features)
    assert [len(values) for values in sparse.labels] == [2, 2]
    assert rb.linkage(sparse, known=["seen"], facts=[1]).success[:, 0].tolist() == [0, 0, 1]


def test_one_comma_that_makes_a_category_of_numbers_is_told():
    sparse = rb.read_sparse({"weight": ["61", "1,060", "62", "63"], "town": ["a", "b", "c", "d"]})
    (note,) = [n for n in sparse.notes if "taken for a category" in n]
    assert note.startswith("weight is taken for a category")
    assert "1,060" not in note


# -- the command line ------------------------------------------------------------------------------


@pytest.fixture
def heights(tmp_path):
    file = tmp_path / "heights.csv"
    pd.DataFrame(HEIGHTS).to_csv(file, index=False)
    return str(file)


@pytest.mark.parametrize(("words", "message"), [
    (["--known", "height=0.3,height=0.9"], "--known names height twice"),
    (["--facts", "0..3"], "write 1..20"), (["--facts", "3..1"], "write 1..20"),
    (["--known", "colleague"], 'no feature has the name or tag "colleague"'),
])  # fmt: skip
def test_slips_on_the_command_line_say_what_they_are(heights, words, message):
    with pytest.raises(rb.UsageError, match=message):
        invoke("linkage", heights, *words)


def test_weights_that_are_too_far_apart_are_refused():
    sparse = rb.read_sparse(pd.DataFrame(HEIGHTS))
    for weight in (1e-320, 1e15):
        with pytest.raises(rb.UsageError, match="times apart"):
            rb.linkage(sparse, weights={"height": weight}, facts=[1])


@pytest.mark.parametrize("support", range(2, 10))
def test_a_tie_of_standing_out_is_one_whatever_the_digits(support):
    """Nine people, two facts of one support, one other agrees on one of them.

    The best score is 2w, the second w, the spread 2w/3, and 1.5 of these are w: by hand a tie.
    """
    more, gone = support - 1, 9 - support
    a = [7] + [1_000 + i for i in range(more)] + [None] * gone
    b = [8] + [None] * gone + [2_000 + i for i in range(more)]
    b[8] = 8
    curve = rb.linkage(rb.read_sparse({"a": a, "b": b}), success="eccentricity", facts=[2],
                       individuals=[0])  # fmt: skip
    assert curve.success.tolist() == [[1.0]]
