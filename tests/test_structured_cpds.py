"""Latent classes as CPDs: every other person enumerated in rationals; the fit's own numbers."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from cpd_cases import COLUMNS, KNOWN, PART, RAIN, SIZE, Case, OnGrid, X, at_rows

import reidbn as rb
from reidbn.population import fit
from reidbn.theory import CalibratedLayer, disagrees, mean_inverse_drawn

ROWS, FALSE_ALARM = 40_000, 1e-6
SETTLED, STUDENT = Fraction(7, 8), Fraction(1, 8)  # "$p" of cpd_cases is 1/8
BY_X = {"settled": (Fraction(1, 4), Fraction(3, 4)), "student": (Fraction(7, 8), Fraction(1, 8))}
BY_RAIN = {
    "settled": (Fraction(1, 2), Fraction(3, 8), Fraction(1, 8)),
    "student": (Fraction(1, 4), Fraction(0), Fraction(3, 4)),
}
FIELDS = {
    "classes": {"settled": "rest", "student": "$p"},
    "shares": {
        "x": {"settled": {"yes": "$q", "no": "rest"}, "student": {"no": 0.875, "yes": "$p"}},
        "rain": {
            "settled": {"dry": 0.5, "wet": 0.375, "flood": "$p"},
            "student": {"dry": 0.25, "flood": "rest"},
        },
    },
    "records": 9.0,
    "population": 13.0,
}


def others_alike(x, rain, *, knows_x=True, times=1, outside=4):
    """P(X = 0), P(X = 1), ...: every class and every value of somebody else, one by one."""
    h = Fraction(0)
    for kind, weight in (("settled", SETTLED), ("student", STUDENT)):
        for own_x, own_rain in product(range(2), range(3)):
            if own_rain == rain and (own_x == x or not knows_x):
                h += weight * BY_X[kind][own_x] * BY_RAIN[kind][own_rain]
    p = min(times * h, Fraction(1))
    return [comb(outside, k) * p**k * (1 - p) ** (outside - k) for k in range(outside + 1)]


def match(f, law):
    return sum(p / (f + k) for k, p in enumerate(law)) if f else 0


TIMES = (Fraction(0), Fraction(1, 10), Fraction(3, 10))
CASES = {
    "unique": Case(
        rb.cpd.StructuredUniqueness(class_size=1.0, **FIELDS),
        lambda x, rain: others_alike(x, rain)[0], (X, RAIN),
    ),
    "unique, what is known": Case(
        rb.cpd.StructuredUniqueness(class_size="@class_size", known={"x": "a"}, **FIELDS),
        lambda x, rain, known: (
            others_alike(x, rain, knows_x=bool(known & 1))[0] if known in (1, 3) else 0
        ), (X, RAIN, KNOWN),
    ),
    "unique, rarer": Case(
        rb.cpd.StructuredUniqueness(class_size=1.0, times="part", **FIELDS),
        lambda x, rain, part: others_alike(x, rain, times=TIMES[part])[0], (X, RAIN, PART),
    ),
    "match": Case(
        rb.cpd.StructuredMatch(class_size="size", **FIELDS),
        lambda x, rain, size: match(size, others_alike(x, rain)), (X, RAIN, SIZE),
    ),
    "match, more common": Case(
        rb.cpd.StructuredMatch(class_size=2.0, times="$n", **FIELDS),
        lambda x, rain: match(2, others_alike(x, rain, times=3)), (X, RAIN),
    ),
}  # fmt: skip
KINDS = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@KINDS
def test_the_table_is_the_one_in_rationals(case):
    shape = [p.size for p in case.parents] + [2]
    found = np.broadcast_to(case.cpd.probabilities(OnGrid(case)), shape).reshape(-1, 2)
    np.testing.assert_allclose(found, case.table(), atol=1e-13)
    which = np.random.default_rng(1).integers(len(found), size=200)
    at = np.broadcast_to(case.cpd.probabilities(at_rows(case, which)), (200, 2))
    np.testing.assert_allclose(at, case.table()[which], atol=1e-13)
    assert case.cpd.problems(case.child, case.parents) == []
    told = {name: value for name, value in case.cpd.to_dict().items() if name != "kind"}
    assert type(case.cpd)(**told) == case.cpd


@KINDS
def test_drawing_the_population_agrees_with_the_table(case, monkeypatch):
    monkeypatch.setattr(type(case.cpd), "probabilities", None)
    table = case.table()
    which = np.arange(ROWS) % len(table)
    drawn = case.cpd.act(np.random.default_rng(1), at_rows(case, which), ROWS)
    for i, (_, yes) in enumerate(table):
        own = drawn[which == i]
        assert not disagrees(int(own.sum()), own.size, yes, level=FALSE_ALARM / 100)


@pytest.mark.parametrize(("f", "m"), [(1, 0), (1, 1), (3, 7), (40, 90), (2, 300), (700, 50)])
@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 10**9), Fraction(3, 7), Fraction(1)])
def test_a_guess_among_those_drawn_is_the_sum_over_how_many_they_are(f, m, p):
    top = min(m, 400) if p * m < 1 else m
    exact = sum(comb(m, k) * p**k * (1 - p) ** (m - k) / (f + k) for k in range(top + 1))
    assert float(mean_inverse_drawn(f, m, float(p))) == pytest.approx(float(exact), rel=1e-12)


def test_a_fit_becomes_a_network_and_says_what_its_layer_says():
    """One grid point of the layer: its errors are the states of a node, and nobody is left out."""
    people = rb.read_table(
        rb.datasets.synthetic_patients(300, seed=4), quasi_identifiers=["sex", "race", "state"]
    )
    layer = fit(people, population=6_000, model="structured").layer
    best = int(np.argmax(layer.weight))
    a, b, s = (float(v[best]) for v in (layer.a, layer.b, layer.s))
    one = CalibratedLayer(300.0, *(np.array([v]) for v in (a, b, s)), np.ones(1))
    z, w = np.polynomial.hermite_e.hermegauss(15)
    w = np.concatenate([0.9 * w, 0.1 * w]) / w.sum()
    shares = {"x": {"one": 0.02, "other": 0.3}, "y": {"one": 0.1, "other": 0.01}}
    here = {}  # of each row its share, and how often so many times as many are alike
    for x, y in product(("this", "else"), repeat=2):
        h = sum(
            weight * np.prod([by[of] if value == "this" else 1 - by[of]
                              for by, value in zip(shares.values(), (x, y), strict=True)])
            for of, weight in (("one", 0.25), ("other", 0.75))
        )  # fmt: skip
        own = min(s * np.exp(-0.3 * (a + b * np.log(300 * h))), 2.5)
        off = np.concatenate([own * z, np.hypot(own, 0.85) * z])
        off, place = np.unique(off, return_inverse=True)  # both have a node in their middle
        times = [f"{t:.17g}" for t in np.exp(a + off) * 300.0 ** (b - 1)]
        here[x, y] = h, dict(zip(times, np.bincount(place, w), strict=True))
    states = sorted({t for _, chances in here.values() for t in chances}, key=float)
    how_off = [
        {"when": {"x": x, "y": y}, "p": [*(chances.get(t, 0.0) for t in states[:-1]), "rest"]}
        for (x, y), (_, chances) in here.items()
    ]
    cpd = {"kind": "structured-uniqueness", "times": "off", "power": b,
           "classes": {"one": 0.25, "other": "rest"},
           "shares": {name: {of: {"this": p, "else": "rest"} for of, p in by.items()}
                      for name, by in shares.items()}}  # fmt: skip
    rows = {
        name: [{"when": {"kind": of}, "p": {"this": p, "else": "rest"}} for of, p in by.items()]
        for name, by in shares.items()
    }
    nodes = {
        "kind": {"states": ["one", "other"], "rows": [{"p": [0.25, "rest"]}]},
        **{name: {"states": ["this", "else"], "parents": ["kind"], "rows": own}
           for name, own in rows.items()},
        "off": {"states": states, "parents": ["x", "y"], "rows": how_off},
        "here": {"parents": ["x", "y", "off"],
                 "cpd": cpd | {"class_size": 1, "records": 1, "population": 300}},
        "there": {"parents": ["x", "y", "off", "here"],
                  "cpd": cpd | {"class_size": "here", "records": 300, "population": 6000}},
    }  # fmt: skip
    for node in nodes.values():
        node["source"] = "made up"
    text = {"schema_version": 1, "name": "fitted", "nodes": nodes,
            "questions": {"risk": {"target": "there=yes", "given": {"here": "yes"}}}}  # fmt: skip
    attack = rb.loads(json.dumps(text))
    for (x, y), (h, _) in here.items():
        found = rb.ask(attack, "there=yes", given={"here": "yes", "x": x, "y": y})
        expected = one.p_unique(np.array([np.log(300 * h)]), 6_000.0).item()
        assert float(found.probability) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_what_does_not_fit_is_named():
    def said(parents=(X, RAIN), **more):
        cpd = replace(rb.cpd.StructuredUniqueness(class_size=1.0, **FIELDS), **more)
        case = Case(cpd, lambda: 0, parents)
        return " / ".join(str(p) for p in cpd.problems(case.child, case.parents))

    assert "not a parent" in said((X,))
    assert "size is a parent that nothing here reads" in said((X, RAIN, SIZE))
    assert "sum to 0.75" in said(classes={"settled": 0.5, "student": 0.25})
    assert "a second rest" in said(classes={"settled": "rest", "student": "rest"})
    shares = {**FIELDS["shares"], "x": {"settled": {"yse": 1.0}, "student": {"yes": 1.0}}}
    assert 'no state "yse"; did you mean "yes"' in said(shares=shares)
    assert "no shares in the latent class student" in said(
        shares=FIELDS["shares"] | {"x": {"settled": {"yes": 1.0}}}
    )
    assert "no member of a parent group" in said(known={"x": "a"})
    off = replace(CASES["unique"].cpd, classes={"settled": "$q", "student": "$q"})
    with pytest.raises(rb.ModelError, match="classes are below 0 or sum to more than 1"):
        off.probabilities(OnGrid(Case(off, lambda: 0, (X, RAIN))))
    small = replace(CASES["match"].cpd, records=2.0)
    with pytest.raises(rb.ModelError, match="where the table has 2 records"):
        small.probabilities(OnGrid(replace(CASES["match"], cpd=small)))
    assert COLUMNS["class_size"] == [9.0, 1.0, 4.0, 1.0]
