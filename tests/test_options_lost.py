"""What options beside a release have lost: of cells, of who is left out, of what is emptied."""

from fractions import Fraction
from math import log2

import numpy as np
import pytest

import reidbn as rb


def bits_of(values, i):
    return log2(Fraction(len(values), values.count(values[i])))


def lost_by_hand(rows, groups, gone):
    """Bits lost of all bits, cell by cell: of a value those that its group hides, else all."""
    lost = whole = 0.0
    for own, group, away in zip(zip(*rows, strict=True), groups, gone, strict=True):
        for i in range(len(own)):
            whole += bits_of(own, i)
            lost += bits_of(own, i) if away[i] else bits_of(own, i) - bits_of(group, i)
    return lost / whole


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6])
def test_what_an_option_lost_is_what_its_plan_says_where_columns_weigh_their_bits(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 140))
    rows = [(int(a), str(s), str(t)) for a, s, t in zip(
        rng.integers(20, 60, n), rng.choice(["f", "m"], n), rng.choice(list("abcdef"), n),
        strict=True)]  # fmt: skip
    names = ["age", "sex", "town"]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    people = rb.read_table(columns, quasi_identifiers=names)
    bits = {c: sum(bits_of(values, i) for i in range(n)) for c, values in columns.items()}
    plan = rb.recommend(
        people, "marketer", target=["k=3", {"overall": "highest <= 0.34"}], importance=bits,
        hierarchies={"age": "bands:5,10,20"}, suppress_at_most=0.3, keep="town",
        empty_at_most=0.05 * (seed % 2),
    )  # fmt: skip
    options = {"as it is": plan.options(1).popitem()[1], "best": plan.result, **plan.options(3)}
    lost = rb.risk_utility(options, threshold={"overall": 0.34}).table["information_lost"]
    assert lost.iloc[0] == 0
    assert lost.iloc[1] == pytest.approx(plan.best.loss, abs=1e-12)
    assert plan.best.suppressed or plan.best.emptied
    for (_, option), found in zip(options.items(), lost, strict=True):
        released = option.inputs.people
        whole = released.whole
        out = ~np.isin(range(n), released.rows_read)
        groups = [whole.before_emptying.codes([c])[:, 0].tolist() for c in names]
        gone = [out | whole.emptied.get(c, np.zeros(n, dtype=bool)) for c in names]
        assert found == pytest.approx(lost_by_hand(rows, groups, gone), abs=1e-12)


def test_outside_the_house_what_is_lost_does_not_count_who_was_left_out():
    ages = [20] * 40 + [21] * 40 + [22] * 3
    people = rb.read_table({"age": ages}, quasi_identifiers=["age"])
    result = rb.assess("marketer", people)
    option = rb.what_if(result, suppress=5)
    all_bits = 80 * log2(83 / 40) + 3 * log2(83 / 3)
    assert rb.report.information_lost(result, option) == pytest.approx(3 * log2(83 / 3) / all_bits)
    for custodian, said in ((True, "14.6 % (3 people left out)"), (False, "people left out")):
        sheet = rb.report.report(result, options={"without": option}, custodian=custodian)
        shown = [s for part in sheet.sections for s in part.shown]
        rows = next(s.rows for s in shown if s.caption == "Options compared")
        assert rows[1][-1] == said
