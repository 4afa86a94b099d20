"""Nodes that count what is known: every attribute of the scenario is one."""

from itertools import product

import numpy as np
import pytest
from inside import inside

import reidbn as rb
from reidbn.attacks import summed

STORY = """\
schema_version: 1
name: counting
subject:
  class_size: {per: known, unit: records, range: [1, 1000000]}
groups:
  known: {members: [knows_a, knows_b, knows_c], probability: 0.5, source: assumption}
nodes:
  enough: {parents: [known], cpd: %s, source: assumption}
  right_guess: {parents: [known], cpd: {kind: %s, of: "@class_size"}}
  named: {parents: [enough, right_guess], cpd: {kind: and}}
questions:
  risk: {target: named=yes}
"""
GATES = {
    "{kind: threshold, at_least: 2}": lambda y: sum(y) >= 2,
    "{kind: and}": all,
    "{kind: or}": any,
    "{kind: noisy-or, weights: 0.3}": lambda y: 1 - 0.7 ** sum(y),
    "{kind: noisy-and, weights: 0.3}": lambda y: 0.7 ** (len(y) - sum(y)),
    "{kind: mixture, weights: [0.5, rest], components: [{kind: or}, {kind: uniform}]}": lambda y: (
        0.25 + 0.5 * any(y)
    ),
}
"""P(enough) where y says of each attribute whether it is known."""


def by_hand(records, chances, gate):
    risk = np.zeros(len(records))
    for y in product((False, True), repeat=len(chances)):
        chance = np.prod([p if known else 1 - p for p, known in zip(chances, y, strict=True)])
        seen = [tuple(v for v, known in zip(row, y, strict=True) if known) for row in records]
        risk += chance * gate(y) / np.array([seen.count(one) for one in seen])
    return risk


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("chances", [(1, 1, 0.5), (1, 1, 1), (1, 0, 0.4), (0, 1, 1), (0.2, 0.7, 1)])
def test_attributes_known_for_sure_or_never_are_counted_one_by_one(gate, chances):
    records = np.random.default_rng(1).integers(0, 3, (20, 3))
    people = rb.People.from_codes(records, ["a", "b", "c"])
    attack = rb.loads(STORY % (gate, "one-over"))
    result = rb.assess(attack, people, known=dict(zip("abc", chances, strict=True)))
    expected = by_hand(records.tolist(), chances, GATES[gate])
    np.testing.assert_allclose(result.risk(), expected, rtol=1e-12, atol=1e-15)


def test_attacks_that_count_what_is_known_are_not_summed_by_class(monkeypatch):
    """One person alone among thousands, whom a comparison of some people would not meet."""
    monkeypatch.setattr(inside(summed), "FROM", 0)
    records = np.append(np.repeat(np.arange(80), 50), 80)[:, None].repeat(3, axis=1)
    people = rb.People.from_codes(records, ["a", "b", "c"])
    attack = rb.loads(STORY % ("{kind: noisy-or, weights: 0.3}", "unique"))
    result = rb.assess(attack, people, known=dict.fromkeys("abc", 0.5))
    truth = sum(0.125 * (1 - 0.7 ** mask.bit_count()) for mask in range(8))
    assert result.risk()[-1] == pytest.approx(truth, rel=1e-12)
    assert not result.risk()[:-1].any()
