"""The size of a population, as a caller may give it by mistake."""

import pytest

import reidbn as rb

PEOPLE = rb.read_table(
    {"age": [1, 1, 2, 3], "sex": list("FFMM")}, quasi_identifiers=["age", "sex"]
)  # fmt: skip


@pytest.mark.parametrize(
    "size", [float("inf"), float("nan"), 1e300, 2.5e12, -5, 0, 4.5, "300k", [5], True, PEOPLE]
)
def test_a_population_that_is_no_number_of_people_is_refused_by_assess_as_by_a_fit(size):
    with pytest.raises((rb.UsageError, rb.DataError), match="population"):
        rb.assess("adversary-routes", PEOPLE, population=size)
    if size is not PEOPLE:
        with pytest.raises(rb.UsageError, match="population"):
            rb.population.fit(PEOPLE, population=size, model="pitman")
    known = rb.assess("adversary-routes", PEOPLE, population=400)
    with pytest.raises((rb.UsageError, rb.DataError), match="population"):
        rb.what_if(known, population=size)
