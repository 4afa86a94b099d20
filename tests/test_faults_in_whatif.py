"""A fault of the engine is never rounded, fitted or clipped into a plausible what-if answer.

Two kinds are planted: one that is always there, and one that acts only where a polynomial is read
off tables that cannot be checked, because they lie beyond a parameter's range.
"""

import numpy as np
import pytest
from attacks import YES_NO

import reidbn as rb
from reidbn.attack import Attack, Group, GroupRow, Node
from reidbn.cpds import Probability, Threshold
from reidbn.errors import EngineError
from reidbn.inference import as_probability, exact, make_case
from reidbn.whatif import RATIO, Curve, Grid, Line, Response, responses, with_ranges

SOURCE = "assumption"


def several(low: float = 0.4, high: float = 0.6) -> Attack:
    """Three of four attributes are known, two learnt at home and two at work."""
    return Attack(
        "several",
        parameters=[
            rb.Parameter("p", 0.5, source=SOURCE, low=low, high=high),
            rb.Parameter("q", 0.3, source=SOURCE),
        ],
        groups=[
            Group("home", ("age", "sex"), (GroupRow("$p"),), source=SOURCE),
            Group("work", ("job", "pay"), (GroupRow("$q"),), source=SOURCE),
        ],
        nodes=[Node("enough", YES_NO, Threshold(3), ("home", "work"), source=SOURCE)],
    )


def uses_a_table_twice(monkeypatch, *, only_unchecked: bool):
    collapse, joint, state = exact.collapse, exact.Plan.joint, {"faulty": not only_unchecked}

    def run(plan, network, *, check=True):
        state["faulty"] = not (only_unchecked and check)
        try:
            return joint(plan, network, check=check)
        finally:
            state["faulty"] = not only_unchecked

    def faulty(group, tables, *rest):
        return collapse(group, [*tables, *tables] if state["faulty"] else tables, *rest)

    monkeypatch.setattr(exact, "collapse", faulty)
    monkeypatch.setattr(exact.Plan, "joint", run)


WHAT_IF = {
    "tornado": lambda **kw: rb.tornado(several(), "enough=yes", **kw),
    "solve": lambda **kw: rb.solve(several(), "enough=yes", "q", 0.2, **kw),
    "sweep": lambda **kw: rb.sweep(several(), "enough=yes", {"p": [0.45, 0.55]}, **kw),
    "sobol": lambda **kw: rb.sobol(several(), "enough=yes", **kw),
    "uncertainty": lambda **kw: rb.uncertainty(several(), "enough=yes", draws=1000, **kw),
    "derivatives": lambda **kw: rb.derivatives(several(), "enough=yes", **kw),
    "derivative": lambda **kw: rb.derivative(several(), "enough=yes", "q", **kw),
}


@pytest.fixture(autouse=True)
def _forget():
    exact.forget_trials()
    yield
    exact.forget_trials()


@pytest.mark.parametrize("seen", [{}, {"age": "yes"}])
@pytest.mark.parametrize("question", WHAT_IF)
def test_an_engine_that_uses_a_table_twice_answers_no_what_if(monkeypatch, question, seen):
    WHAT_IF[question](given=seen)
    exact.forget_trials()
    uses_a_table_twice(monkeypatch, only_unchecked=False)
    with pytest.raises(EngineError, match="fault of reidbn and not of the model"):
        WHAT_IF[question](given=seen)


@pytest.mark.parametrize("seen", [{}, {"age": "yes"}])
@pytest.mark.parametrize("question", ["tornado", "solve", "derivatives", "derivative"])
def test_a_fault_only_where_a_polynomial_is_read_off_is_found(monkeypatch, question, seen):
    WHAT_IF[question](given=seen)  # every plan is tried, and sound
    uses_a_table_twice(monkeypatch, only_unchecked=True)
    with pytest.raises(EngineError, match="fault of reidbn and not of the model"):
        WHAT_IF[question](given=seen)


def bent(response: Response, by: float) -> Response:
    """The response with its curve raised by so much everywhere."""
    c = response.curve
    top = c.numerator.copy()
    top[0] += by * c.evidence[0]
    return Response(
        response.case, response.name, response.low, response.high, response.method,
        Curve(c.low, c.high, top, c.evidence),
    )  # fmt: skip


@pytest.mark.parametrize("by", [0.9, -0.9])
def test_a_curve_beyond_rounding_of_a_probability_is_an_error_and_a_hair_is_none(by):
    case = make_case(several(0.2, 0.8), "enough=yes")
    response = responses(case, ["p"])["p"]
    points = np.linspace(0.4, 0.6, 7)
    for read in (lambda r: r.values(points), lambda r: Line(r)(points)):
        assert ((read(response) >= 0) & (read(response) <= 1)).all()
        with pytest.raises(EngineError, match="which is no probability"):
            read(bent(response, by))


def test_interpolated_answers_of_a_grid_beyond_rounding_are_an_error():
    case = make_case(several(), "enough=yes")
    grid = Grid(case, with_ranges(case, {"p": None, "q": None}))
    draws = grid.draws(np.random.default_rng(1), 50)
    assert np.abs(grid.at(draws) - case.answers(draws)).max() <= 1e-14
    grid.numerator = grid.numerator + 1.0
    with pytest.raises(EngineError, match="which is no probability"):
        grid.at(draws)


def test_only_what_is_within_rounding_is_clipped():
    assert as_probability(np.array([-9e-10, 1 + 9e-10])).tolist() == [0.0, 1.0]
    for wrong in (-2e-9, 1 + 2e-9, np.nan):
        with pytest.raises(EngineError):
            as_probability(np.array([0.5, wrong]))
    assert as_probability(np.array([-2e-9]), np.array([2e-9])).tolist() == [0.0]


def test_where_the_evidence_is_rare_the_curve_is_asked_of_the_engine_again():
    """P(evidence) is (p q)^2 of the largest: its digits are gone, the answer is 1 all the same."""
    attack = Attack(
        "rare",
        parameters=[rb.Parameter("p", 0.5, source=SOURCE, low=1e-9, high=1.0)],
        nodes=[
            *(Node(f"n{i}", YES_NO, Probability("$p"), (), source=SOURCE) for i in range(4)),
            Node("all", YES_NO, Threshold(4), tuple(f"n{i}" for i in range(4)), source=SOURCE),
            Node("three", YES_NO, Threshold(3), tuple(f"n{i}" for i in range(4)), source=SOURCE),
        ],
    )
    case = make_case(attack, "n0=yes", given={"three": "yes"})
    response = responses(case, ["p"])["p"]
    assert response.method == RATIO
    points = np.array([1e-9, 1e-6, 1e-5, 1e-4, 1e-3])
    truth = np.array([(3 * x**3 * (1 - x) + x**4) / (4 * x**3 * (1 - x) + x**4) for x in points])
    assert np.abs(response.values(points)[0] - truth).max() <= 1e-9
