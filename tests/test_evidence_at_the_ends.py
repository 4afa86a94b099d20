"""What-if where an end of a range makes the evidence impossible: the limit, and no made-up roots.

Oracle: with two coins of chance p and b at 1/2 or 1/4 after the first,

    P(b | either) = (3/4 - p/4) / (2 - p),     slope 1 / (4 (2 - p)^2),     from 3/8 to 1/2

worked out by hand; the slope at 1e-9 is lost in rounding unless the shared factor p is divided out.
"""

from fractions import Fraction

import numpy as np
import pytest

from reidbn.attack import Attack, Node, Parameter
from reidbn.cpds import And, Function, Or, Row, Rows
from reidbn.errors import UsageError
from reidbn.whatif import compare, derivatives, divided, solve, tornado

YES_NO = ("no", "yes")


def coin(chance):
    return Rows((Row(("rest", chance)),))


def as_a_function(p):
    return p


def attack(*, smooth=False, together="or"):
    first = Function.of(as_a_function) if smooth else coin("$p")
    second = coin("$p")
    after = Rows((Row(("rest", 0.5), {"one": "yes"}), Row(("rest", 0.25))))
    gate = Or() if together == "or" else And()
    return Attack(
        name="ends",
        parameters=[Parameter("p", 0.3, low=0.0, high=1.0, source="test")],
        nodes=[
            Node("one", YES_NO, cpd=first),
            Node("two", YES_NO, cpd=second),
            Node("either", YES_NO, gate, ("one", "two")),
            Node("b", YES_NO, after, ("one",), source="test"),
        ],
    )


def oracle(p):
    return (Fraction(3, 4) - p / 4) / (2 - p)


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize(("target", "root"), [(0.4, 1 / 3), (0.45, 0.75)])
def test_only_the_true_crossing_is_found(smooth, target, root):
    assert float(oracle(Fraction(root).limit_denominator(100))) == pytest.approx(target)
    given = {"either": "yes"}
    found = solve(attack(smooth=smooth), "b=yes", "p", target, given=given)
    assert found.values == pytest.approx((root,), abs=1e-9)
    assert found.under[0] == pytest.approx((0.0, root), abs=1e-9)
    bars = tornado(attack(smooth=smooth), "b=yes", given=given, threshold=target)
    assert bars.bars[0].crossings == pytest.approx((root,), abs=1e-9)
    assert (bars.bars[0].low, bars.bars[0].at_low) == pytest.approx((0.0, 0.375), abs=1e-9)


@pytest.mark.parametrize("smooth", [False, True])
def test_a_target_below_the_limit_is_never_met(smooth):
    found = solve(attack(smooth=smooth), "b=yes", "p", 0.3749, given={"either": "yes"})
    status = "above at all values looked at" if smooth else "always above"
    assert (found.status, found.values, found.under) == (status, (), ())


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("p", [1e-9, 1e-6, 0.01, 0.5, 1 - 1e-9])
def test_slopes_next_to_impossible_evidence_keep_their_digits(smooth, p):
    found = derivatives(attack(smooth=smooth), "b=yes", given={"either": "yes"}, set={"p": p})
    assert found["derivative"].item() == pytest.approx(1 / (4 * (2 - p) ** 2), rel=1e-7)


def test_a_factor_of_second_order_is_divided_out_whole():
    """Both coins: P(b | both) is 1/2 whatever p, and the evidence is p squared."""
    a = attack(together="and")
    found = derivatives(a, "b=yes", given={"either": "yes"}, set={"p": 1e-5})
    assert found["derivative"].item() == pytest.approx(0.0, abs=1e-9)
    assert solve(a, "b=yes", "p", 0.4, given={"either": "yes"}).status == "always above"


@pytest.mark.parametrize("end", [-1.0, 1.0])
@pytest.mark.parametrize("degree", [0, 1, 2, 7, 60])
def test_dividing_undoes_multiplying(end, degree):
    quotient = np.random.default_rng(20250102).normal(size=(degree + 1, 3))
    product = np.stack(
        [np.polynomial.chebyshev.chebmul(c, [-end, 1.0]) for c in quotient.T], axis=1
    )
    got = divided(product, end)
    assert got[:-1] == pytest.approx(quotient, abs=1e-10)
    assert got[-1] == pytest.approx(0.0, abs=1e-12)


def test_crossings_at_whole_numbers_are_printed():
    """A crossing may come as an int, such as an end of the range as the file has it."""
    parameter = Parameter("p", 0.3, low=0, high=1, source="test")
    a = Attack(name="line", parameters=[parameter], nodes=[Node("x", YES_NO, cpd=coin("$p"))])
    found = tornado(a, "x=yes", threshold=0)
    assert found.bars[0].crossings == pytest.approx((0,))
    assert "the answer crosses 0 at p = 0" in str(found)


def test_comparing_an_attack_with_itself_unchanged_is_refused():
    with pytest.raises(UsageError, match="nothing changes: give before and after"):
        compare(attack(), "b=yes", set={"p": 0.9})
