"""`.explain()` of a fit: the number, of which population, by which model, how sure, in words."""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn import population

MODELS = ("pitman", "pitman-bayes", "ewens", "zayatz", "snb", "dankar", "log-linear",
          "benedetti-franconi")  # fmt: skip


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    columns = {
        c: rng.integers(0, k, 900).astype(str) for c, k in zip("abc", (20, 9, 6), strict=True)
    }
    return pd.DataFrame({**columns, "weight": 20.0})


@pytest.fixture(scope="module")
def table(frame):
    return rb.read_table(frame, quasi_identifiers=list("abc"), weights="weight")


@pytest.mark.parametrize("model", MODELS)
def test_every_fit_says_its_number_population_model_status_and_interval(table, model):
    fit = population.fit(table, population=18_000, model=model)
    said = fit.explain()
    assert f"{model} ({fit.status})" in said
    assert "18,000" in said
    assert f"{fit.uniques:,} of the 900 people" in said
    assert f"{fit.p_unique:.2g} on average" in said
    assert all(warning in said for warning in fit.warnings)
    if model == "benedetti-franconi":
        assert "does not say how many" in said
        return
    assert said.startswith(f"{fit.expected_uniques:,.0f} of the 18,000 people")
    try:
        low, high = fit.prediction_interval()
    except rb.UsageError:
        assert "(without an interval)" in said
    else:
        assert f"(95 % {low:,} to {high:,})" in said


def test_strata_a_truth_and_what_stands_in_are_explained(frame, table):
    everybody = pd.concat([frame] * 3)
    everybody.loc[:, "b"] = np.random.default_rng(4).integers(0, 9, len(everybody)).astype(str)
    register = rb.read_table(everybody, quasi_identifiers=list("abc"))
    part = rb.read_table(everybody.iloc[:900], quasi_identifiers=list("abc"))
    truth = population.fit(part, population=register, model="truth")
    alone = int((truth.people["p_unique"] == 1).sum())
    assert f"{truth.expected_uniques:,.0f} of the 2,700 people" in truth.explain()
    assert f"{alone} are" in truth.explain()
    sizes = dict.fromkeys(frame["c"].unique(), 3_000)
    strata = population.fit(part, list("abc"), population=sizes, strata="c", model="zayatz")
    assert "of the 18,000 people" in strata.explain()
    assert "(without an interval), says zayatz" in strata.explain()
    one = population.fit(part, ["a"], population=18_000, model="structured")
    low, high = one.prediction_interval()
    assert one.explain().startswith("pitman-bayes speaks: one attribute alone")
    assert f"(95 % {low:,} to {high:,})" in one.explain()
    none = population.fit(sizes=[1], counts=[30], population=4_000, model="snb")
    assert (
        none.explain() == "snb (no solution) does not say how many of the 4,000 people are unique."
    )


@pytest.mark.parametrize("model", ["pitman", "structured"])
def test_a_person_is_not_explained(table, model):
    fit = population.fit(table, population=18_000, model=model)
    with pytest.raises(rb.UsageError, match="no routes"):
        fit.explain(0)
