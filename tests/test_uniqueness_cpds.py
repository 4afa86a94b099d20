"""From the table to the population as CPDs: tables in rationals, stories that agree with them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from cpd_cases import COLUMNS, KNOWN, PARAMETERS, SIZE, Case, OnGrid, at_rows
from inside import inside
from seating import class_law

import reidbn as rb
from reidbn import population
from reidbn.theory import disagrees, individual_risk

ROWS, FALSE_ALARM = 40_000, 1e-6
YES_NO = ("no", "yes")
SIZES = ("1", "2", "3", "5", "9")
FIT = {"theta": 0.75, "alpha": 0.125}  # "$q" and "$p" of cpd_cases
MIX = ((0.75, 0.125, 0.25), (4.0, 0.5, 0.75))
PLAIN = {"records": 9.0, "population": 14.0, "theta": "$q", "alpha": "$p"}
AVERAGED = {"records": 9.0, "population": 14.0, "posterior": MIX}


def law(f, parameters=((Fraction(3, 4), Fraction(1, 8), 1),), n=9, N=14):
    """P(F = f + K), K = 0.., averaged over parameters, in rationals."""
    laws = [(class_law(f, n, N, t, a), w) for t, a, w in parameters]
    return [sum(p[K] * w for p, w in laws) for K in range(N - n + 1)]


MIXED = tuple(tuple(Fraction(x).limit_denominator(100) for x in row) for row in MIX)


def binned(f, probabilities):
    starts = [int(s) for s in SIZES]
    row = [Fraction(0)] * len(starts)
    for K, p in enumerate(probabilities):
        row[max(i for i, s in enumerate(starts) if s <= f + K)] += p
    return row


def matched(f, probabilities):
    return sum(p / (f + K) for K, p in enumerate(probabilities))


def survey(f, weight, last=400):
    """Negative binomial class sizes, summed up to where nothing is left."""
    p = Fraction(f) / Fraction(weight)
    term, law = p**f, []
    for K in range(last):
        law.append(float(term))
        term = term * (f + K) / (K + 1) * (1 - p)
    return binned(f, law)


def sized(by_hand):
    """By hand for a parent SIZE, whose state 0 is an empty class."""
    return lambda size: by_hand(max(size, 1))


CASES = {
    "pitman-uniqueness": Case(
        rb.PitmanUniqueness("size", **PLAIN),
        lambda size: law(1)[0] if size == 1 else 0,
        (SIZE,),
    ),
    "pitman-uniqueness, posterior": Case(
        rb.PitmanUniqueness("size", **AVERAGED),
        lambda size: law(1, MIXED)[0] if size == 1 else 0,
        (SIZE,),
    ),
    "pitman-uniqueness, a column": Case(
        rb.PitmanUniqueness("@class_size", **PLAIN),
        lambda known: law(1)[0] if known in (1, 3) else 0,
        (KNOWN,),
    ),
    "pitman-match": Case(
        rb.PitmanMatch("size", **PLAIN),
        lambda size: matched(size, law(size)) if size else 0,
        (SIZE,),
    ),
    "pitman-match, posterior": Case(
        rb.PitmanMatch("size", **AVERAGED),
        lambda size: matched(size, law(size, MIXED)) if size else 0,
        (SIZE,),
    ),
    "pitman-class-size": Case(
        rb.PitmanClassSize("size", **PLAIN), sized(lambda f: binned(f, law(f))), (SIZE,), SIZES
    ),
    "pitman-class-size, posterior": Case(
        rb.PitmanClassSize("size", **AVERAGED),
        sized(lambda f: binned(f, law(f, MIXED))),
        (SIZE,),
        SIZES,
    ),
    "pitman-class-size, complete table": Case(
        rb.PitmanClassSize("size", 9.0, 9.0, "$q", "$p"),
        sized(lambda f: binned(f, [1])),
        (SIZE,),
        SIZES,
    ),
    "survey-class-size": Case(
        rb.SurveyClassSize("@class_size", 12.0),
        lambda known: survey([9, 1, 4, 1][known], 12),
        (KNOWN,),
        SIZES,
    ),
}
KINDS = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@KINDS
def test_the_table_is_the_one_in_rationals(case):
    shape = [p.size for p in case.parents] + [len(case.states)]
    found = np.broadcast_to(case.cpd.probabilities(OnGrid(case)), shape)
    np.testing.assert_allclose(found.reshape(case.table().shape), case.table(), atol=1e-13)
    assert np.abs(found.sum(axis=-1) - 1).max() < 1e-13


@KINDS
def test_rows_and_grid_say_the_same(case):
    which = np.random.default_rng(1).integers(len(case.configurations()), size=200)
    found = np.broadcast_to(case.cpd.probabilities(at_rows(case, which)), (200, len(case.states)))
    np.testing.assert_allclose(found, case.table()[which], atol=1e-13)


@KINDS
def test_a_sound_cpd_has_no_problems_and_survives_its_file_form(case):
    assert case.cpd.problems(case.child, case.parents) == []
    again = type(case.cpd)(**{k: v for k, v in case.cpd.to_dict().items() if k not in ("kind",)})
    if case.cpd.to_dict().get("posterior") is None:
        assert again == case.cpd


@pytest.mark.parametrize("literal", [True, False], ids=["one by one", "urn"])
@KINDS
def test_acting_out_agrees_with_the_table(case, literal, monkeypatch):
    monkeypatch.setattr(inside(rb.PitmanUniqueness), "LITERAL", 10_000 if literal else 0)
    monkeypatch.setattr(type(case.cpd), "probabilities", None)
    table = case.table()
    cells = table.size * 2 * len(CASES)
    which = np.arange(ROWS) % len(table)
    drawn = case.cpd.act(np.random.default_rng(20250601), at_rows(case, which), ROWS)
    for i in range(len(table)):
        for j in range(table.shape[1]):
            hits, trials = int((drawn[which == i] == j).sum()), int((which == i).sum())
            assert not disagrees(hits, trials, float(table[i, j]), level=FALSE_ALARM / cells)


def test_eight_billion_people_are_drawn_from_the_urn():
    case = Case(rb.PitmanUniqueness(1.0, 40_000.0, 8e9, 300.0, 0.9), lambda: 0)
    p = float(case.cpd.probabilities(OnGrid(case))[1])
    drawn = case.cpd.act(np.random.default_rng(3), at_rows(case, np.zeros(ROWS, dtype=int)), ROWS)
    assert 0.1 < p < 0.5
    assert not disagrees(int(drawn.sum()), ROWS, p, level=1e-6)


def test_a_fit_becomes_a_cpd_and_its_posterior_predictive():
    fit = population.fit(sizes=[1, 2, 3], counts=[40, 6, 2], population=3_000, model="pitman-bayes")
    nodes = fit.posterior
    rows = tuple(
        zip(nodes.theta.tolist(), nodes.alpha.tolist(), nodes.weight.tolist(), strict=True)
    )
    cpd = rb.PitmanUniqueness(1.0, float(fit.n), 3_000.0, posterior=rows)
    case = Case(cpd, lambda: 0)
    assert cpd.problems(case.child, ()) == []
    assert float(cpd.probabilities(OnGrid(case))[1]) == pytest.approx(fit.p_unique, rel=1e-12)
    match = Case(rb.PitmanMatch(3.0, float(fit.n), 3_000.0, posterior=rows), lambda: 0)
    found = float(match.cpd.probabilities(OnGrid(match))[1])
    assert found == pytest.approx(fit.mean_inverse(3), rel=1e-12)
    size = Case(
        rb.PitmanClassSize(3.0, float(fit.n), 3_000.0, posterior=rows), lambda: 0, states=SIZES
    )
    row = np.ravel(size.cpd.probabilities(OnGrid(size)))
    posterior = fit.class_size_posterior(3)
    assert row[:2].tolist() == [0, 0]
    assert row[2] == pytest.approx(float(posterior.cdf(4)), rel=1e-9)
    assert row[-1] == pytest.approx(1 - float(posterior.cdf(8)), rel=1e-9)


def test_survey_class_sizes_have_the_published_individual_risk():
    states = tuple(str(k) for k in range(1, 4000))
    case = Case(rb.SurveyClassSize(3.0, 108.0), lambda: 0, states=states)
    row = np.ravel(case.cpd.probabilities(OnGrid(case)))
    assert row @ (1 / np.arange(1.0, 4000)) == pytest.approx(individual_risk(3, 108.0), rel=1e-12)


def problems(cpd, states=YES_NO, parents=(SIZE,)):
    case = Case(cpd, lambda: 0, parents, states)
    return " / ".join(str(p) for p in cpd.problems(case.child, case.parents))


def test_problems_are_named():
    right = rb.PitmanUniqueness("size", **PLAIN)
    assert "needs theta and alpha" in problems(replace(right, theta=None))
    assert "not both" in problems(replace(right, posterior=MIX))
    assert "sum to 1" in problems(rb.PitmanMatch("size", 9.0, 14.0, posterior=((1.0, 0.5, 0.4),)))
    assert "did you mean" in problems(replace(right, class_size="sise"))
    assert "no and yes" in problems(right, SIZES)
    size = rb.PitmanClassSize("size", **PLAIN)
    for states in (("2", "3"), ("1", "3", "2"), ("one", "two"), ("1",)):
        assert "rising class sizes from 1" in problems(size, states)


def test_values_that_cannot_be_are_refused_without_showing_a_person():
    grown = Case(rb.PitmanUniqueness(1.0, 20.0, 14.0, "$q", "$p"), lambda: 0)
    with pytest.raises(rb.ModelError, match="part of the population"):
        grown.cpd.probabilities(OnGrid(grown))
    with pytest.raises(rb.UsageError, match="theta holds a number that is not finite"):
        rb.PitmanUniqueness(1.0, 9.0, 14.0, np.inf, 0.0)
    light = Case(rb.SurveyClassSize(3.0, 2.0), lambda: 0, states=SIZES)
    with pytest.raises(rb.ModelError, match="less than its records"):
        light.cpd.probabilities(OnGrid(light))


def test_a_model_file_asks_them():
    text = """
schema_version: 1
name: neighbour
parameters:
  people: {value: 9, unit: people, range: [1, 100], source: made up}
  town: {value: 14, unit: people, range: [1, 100], source: made up}
  theta: {value: 0.75, unit: people, range: [0, 9], source: made up}
  alpha: {value: 0.125, source: made up}
subject:
  class_size: {unit: records}
nodes:
  in_town:
    states: ["1", "2", "3", "5", "9"]
    cpd: {kind: pitman-class-size, class_size: "@class_size", records: $people, population: $town,
          theta: $theta, alpha: $alpha}
  alone:
    cpd: {kind: pitman-uniqueness, class_size: "@class_size", records: $people, population: $town,
          theta: $theta, alpha: $alpha}
  named:
    source: made up
    cpd: {kind: pitman-match, class_size: "@class_size", records: $people, population: $town,
          posterior: [[0.75, 0.125, 1]]}
questions:
  risk: {target: named=yes}
example: {class_size: 1}
"""
    attack = rb.loads(text)
    assert rb.loads(rb.dumps(attack)) == attack
    found = rb.ask(attack, "alone=yes", subject={"class_size": [1, 2]})
    assert np.ravel(found.probability) == pytest.approx([float(law(1)[0]), 0])
    found = rb.ask(attack, "named=yes", subject={"class_size": [1, 2]})
    assert np.ravel(found.probability) == pytest.approx(
        [float(matched(1, law(1))), float(matched(2, law(2)))]
    )
    sized_up = rb.ask(attack, "in_town", subject={"class_size": 2})
    assert np.ravel(sized_up.probability) == pytest.approx([float(p) for p in binned(2, law(2))])


@pytest.mark.parametrize("kind", [rb.PitmanMatch, rb.PitmanClassSize, rb.PitmanUniqueness])
def test_a_class_of_more_records_than_the_table_has_is_refused(kind):
    states = SIZES if kind is rb.PitmanClassSize else YES_NO
    whole = Case(kind(9.0, **PLAIN), lambda: 0, states=states)
    assert np.allclose(whole.cpd.probabilities(OnGrid(whole)).sum(-1), 1)
    for ref, error in ((10.0, rb.ModelError), ("$n", rb.ModelError), ("@alone", rb.DataError)):
        records = 9.0 if ref == 10.0 else 2.0
        large = Case(kind(ref, **PLAIN | {"records": records}), lambda: 0, states=states)
        said = {"$n": "3", "@alone": "too large"}.get(ref, "10")
        said = rf"class_size \({ref}\) is {said} where the table"
        said = said.replace("$", r"\$")
        with pytest.raises(error, match=said):
            large.cpd.probabilities(OnGrid(large))
        with pytest.raises(error, match="counts records of the table"):
            large.cpd.act(np.random.default_rng(1), at_rows(large, np.zeros(3, dtype=np.intp)), 3)


@pytest.mark.parametrize("kind", [rb.PitmanMatch, rb.PitmanClassSize, rb.PitmanUniqueness])
def test_a_node_with_states_beyond_the_table_is_refused_by_node_and_state(kind):
    """They were read as the whole table, without a word."""
    states = SIZES if kind is rb.PitmanClassSize else YES_NO
    large = Case(kind("size", **PLAIN | {"records": 2.0}), lambda size: 0, (SIZE,), states)
    said = 'size, which has a state "3", where the table has 2 records'
    with pytest.raises(rb.ModelError, match=said):
        large.cpd.probabilities(OnGrid(large))
    drawn = np.array([SIZE.states.index("3")] * 3, dtype=np.intp)
    with pytest.raises(rb.ModelError, match=said):
        large.cpd.act(np.random.default_rng(1), at_rows(large, drawn), 3)


def test_subject_data_with_a_class_larger_than_the_table_is_refused_by_name():
    text = """
schema_version: 1
name: neighbour
subject:
  class_size: {unit: records}
nodes:
  named:
    source: made up
    cpd: {kind: pitman-match, class_size: "@class_size", records: 9, population: 14,
          theta: 0.75, alpha: 0.125}
questions:
  risk: {target: named=yes}
example: {class_size: 9}
"""
    attack = rb.loads(text)
    assert float(np.ravel(rb.ask(attack).probability)[0]) == pytest.approx(
        float(matched(9, law(9)))
    )
    with pytest.raises(
        rb.DataError, match=r"named: class_size \(@class_size\) is too large where the table"
    ):
        rb.ask(attack, subject={"class_size": [4, 12]})


def test_the_cases_use_what_the_other_kinds_use():
    assert (PARAMETERS["q"], PARAMETERS["p"]) == (FIT["theta"], FIT["alpha"])
    assert COLUMNS["class_size"] == [9.0, 1.0, 4.0, 1.0]
