"""Limits on the best guess of a secret, against every way to release and every set of people."""

import json
import re
from itertools import product

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

WIDTHS = {"age": (2, 4), "zip": (3,)}


def released(frame, levels):
    """What is written of everybody: by hand."""
    coarse = []
    for c, level in zip(WIDTHS, levels, strict=True):
        values, widths = frame[c].to_numpy(), WIDTHS[c]
        top = level > len(widths)
        coarse.append(np.zeros_like(values) if top else values // widths[level - 1] if level
                      else values)  # fmt: skip
    return list(zip(*coarse, strict=True))


def guess(rows, secret, kept):
    """The largest share of one secret among people who are written alike and have one."""
    alike = {}
    for row, own, here in zip(rows, secret, kept, strict=True):
        if here and isinstance(own, str | int):
            alike.setdefault(row, []).append(own)
    return max((max(own.count(v) for v in own) / len(own) for own in alike.values()), default=0)


def fewest_alike(rows, kept):
    rows = [row for row, here in zip(rows, kept, strict=True) if here]
    return min(rows.count(row) for row in rows)


def least(frame, limit, k, budget, loss):
    """The least loss over every level and every set of people left out."""
    best = np.inf
    for levels in product(*(range(len(w) + 2) for w in WIDTHS.values())):
        rows = released(frame, levels)
        for out in product((False, True), repeat=len(frame)):
            kept = ~np.array(out)
            if sum(out) > budget or not kept.any() or fewest_alike(rows, kept) < k:
                continue
            if guess(rows, frame["d"].tolist(), kept) <= limit + 1e-12:
                best = min(best, loss(levels, ~kept))
    return best


@pytest.mark.parametrize("loss", ["entropy", "discernibility"])
@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 5)) for s in range(36)]
)
def test_a_limit_on_the_best_guess_against_every_way_and_every_set_of_people(seed, loss):
    rng = np.random.default_rng(seed)
    n, share = int(rng.integers(6, 10)), (0.0, 0.25, 0.4)[seed % 3]
    frame = pd.DataFrame({"age": rng.integers(0, 8, n), "zip": rng.integers(0, 6, n),
                          "d": rng.integers(0, 3, n)})  # fmt: skip
    limit, k = float(rng.choice([0.5, 0.6, 0.75])), (1, 2)[seed % 2]
    people = rb.read_table(frame, quasi_identifiers=[*WIDTHS], sensitive=["d"])
    asked = {"target": [{"d": f"best guess <= {limit}"}] + ["k=2"] * (k > 1), "loss": loss,
             "hierarchies": {c: rb.Bands(*(2 * 2**i for i in range(len(w))))
                             if c == "age" else rb.Bands(*w) for c, w in WIDTHS.items()},
             "suppress_at_most": share}  # fmt: skip
    plan, said = None, ""
    try:
        plan = rb.recommend(people, **asked)
    except rb.errors.DataError as problem:
        said = str(problem)
    if plan is None:
        nothing = least(frame, limit, k, int(share * n + 1e-9), lambda *_: 0.0)
        assert np.isinf(nothing) or "was found" in said
        return
    best = least(frame, limit, k, int(share * n + 1e-9), plan._table.ways.loss)
    assert best <= plan.best.loss + 1e-12
    if loss == "entropy" or not share:  # of classes, leaving out more can be a gain
        assert plan.best.loss - plan.certificate.gap <= best + 1e-12
    if plan.certificate.is_proved and (loss == "entropy" or not share):
        assert plan.best.loss == pytest.approx(best, abs=1e-12)
    if not share:
        assert plan.certificate.is_proved
    fresh = rb.disclosure(plan.apply(), sensitive="d").readings().alpha
    assert fresh <= limit + 1e-12
    assert next(iter(plan.best.after.values())) == pytest.approx(fresh)
    before = rb.disclosure(people, sensitive="d").readings().alpha
    assert next(iter(plan.best.before.values())) == pytest.approx(before)


def test_who_would_have_to_go_is_a_choice_and_no_proof_is_claimed():
    """A, A, A, B at one half: all four go, where two would have been enough."""
    frame = pd.DataFrame({"x": [1] * 4 + [2] * 6, "d": list("AAAB") + list("AABBCC")})
    people = rb.read_table(frame, quasi_identifiers=["x"], sensitive=["d"])
    plan = rb.recommend(people, target="d: best guess <= 50%", suppress_at_most=0.4)
    assert plan.best.suppressed in (0, 4)
    assert not plan.certificate.is_proved or plan.best.suppressed == 0
    assert rb.disclosure(plan.apply(), sensitive="d").readings().alpha <= 0.5
    with pytest.raises(rb.errors.UsageError, match="name it, sensitive="):
        rb.recommend(people, target={"x": "best guess <= 0.5"})
    blank = rb.read_table(frame.assign(d=[None, *frame.d[1:]]), quasi_identifiers=["x"],
                          sensitive=["d"])  # fmt: skip
    with pytest.raises(rb.errors.UsageError, match="a mean PPP is of people who have one"):
        rb.recommend(blank, target={"d": "mean PPP >= 0.5"})
    nobody = rb.read_table({"x": [1, 2], "d": ["*", "*"]}, quasi_identifiers="x", sensitive="d")
    with pytest.raises(rb.errors.UsageError, match="missing for everybody"):
        rb.recommend(nobody, target={"d": "best guess <= 0.5"})
    with pytest.raises(rb.errors.UsageError, match="if_missing= is about a secret"):
        rb.recommend(people, target="k=2", if_missing="value")


@pytest.mark.parametrize("if_missing", ["left-out", "value"])
@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 5)) for s in range(30)]
)
def test_who_has_no_secret_is_nobodys_peer_or_has_one_more_value(seed, if_missing):
    rng = np.random.default_rng([seed, 7])
    n, share = int(rng.integers(6, 10)), (0.0, 0.25, 0.4)[seed % 3]
    gap, limit = (None, "*")[seed % 2], float(rng.choice([0.5, 0.6, 0.75]))
    frame = pd.DataFrame({"age": rng.integers(0, 8, n), "zip": rng.integers(0, 6, n),
                          "d": rng.choice(["x", "y", "z"], n)})  # fmt: skip
    there = rng.random(n) < 0.7
    there[0] = True
    frame["d"] = frame["d"].where(there, gap)
    people = rb.read_table(frame, quasi_identifiers=[*WIDTHS], sensitive=["d"])
    counted = frame.assign(d=frame["d"].where(there, None if if_missing == "left-out" else "gap"))
    budget = int(share * n + 1e-9)
    plan, said = None, ""
    try:
        plan = rb.recommend(people, target=[{"d": f"best guess <= {limit}"}, "k=2"],
                            hierarchies={"age": rb.Bands(2, 4), "zip": rb.Bands(3)},
                            suppress_at_most=share, if_missing=if_missing)  # fmt: skip
    except rb.errors.DataError as problem:
        said = str(problem)
    if plan is None:
        assert np.isinf(least(counted, limit, 2, budget, lambda *_: 0.0)) or "was found" in said
        return
    best = least(counted, limit, 2, budget, plan._table.ways.loss)
    assert plan.best.loss - plan.certificate.gap - 1e-12 <= best <= plan.best.loss + 1e-12
    if plan.certificate.is_proved:
        assert plan.best.loss == pytest.approx(best, abs=1e-12)
    after = plan.apply()
    if if_missing == "value" or there[after.rows_read].any():
        fresh = rb.disclosure(after, sensitive="d", if_missing=if_missing).readings().alpha
        assert fresh <= limit + 1e-12
        assert next(iter(plan.best.after.values())) == pytest.approx(fresh)
    before = rb.disclosure(people, sensitive="d", if_missing=if_missing).readings().alpha
    assert next(iter(plan.best.before.values())) == pytest.approx(before)
    is_said = any("nobody's peers" in note for note in plan.notes)
    assert is_said == (if_missing == "left-out" and not there.all())


def test_the_command_takes_a_limit_on_a_secret_and_says_how_to_name_one(shell):
    asked = ["recommend", "synthetic:300:2", "--qi", "age,sex", "--target",
             "race: best guess <= 90%", "--hierarchy", "age=bands:10,20"]  # fmt: skip
    code, said = shell(*asked, "--sensitive", "race", "--target", "k=3")
    assert code == 0
    assert "the largest share of one race among people alike at most 0.9" in said
    code, said = shell(*asked)
    assert code == 2
    assert "--sensitive race" in said


def table_of(*rows):
    frame = pd.DataFrame(
        [(value, secret) for value, secrets in rows for secret in secrets], columns=["a", "d"]
    )
    return rb.read_table(frame, quasi_identifiers=["a"], sensitive=["d"])


MIXED = [("x", "AB"), ("y", "AAAAAABBBB"), ("u", "AB" * 6), ("v", "AB" * 6), ("w", "AB" * 7)]


@pytest.mark.parametrize("attack", [None, "adversary-routes"])
def test_a_secret_beside_a_mean_proves_nothing_that_it_cannot(attack):
    """By hand: without x and two of y, 46 people, four classes, the best guess is one half."""
    least = {"d": "best guess <= 55%"}
    if attack is None:
        asked = {"target": ["ema", least], "release": "controlled"}
    else:
        limit = {"marketer": "mean <= 0.095"}
        asked = {"target": [limit, least], "known": "worst-case", "population": 100_000}
    plan = rb.recommend(table_of(*MIXED), *[attack][: attack is not None], **asked,
                        suppress_at_most=0.08)  # fmt: skip
    assert plan.best.loss == pytest.approx(0.08) or plan.certificate.gap >= 1 - 0.08 - 1e-12


@pytest.mark.parametrize("shift", [0, 10])
def test_a_function_below_nothing_is_no_proof(shift):
    """By hand: two of y left out, the best guess is one half and there are two classes."""
    people = table_of(("y", "AAAAAABBBB"), ("u", "AB" * 6))
    limit = {"d": "best guess <= 55%"}
    plan = rb.recommend(people, target=[limit], suppress_at_most=0.1,
                        loss=lambda r: shift - len(np.unique(r.codes(["a"]))))  # fmt: skip
    assert plan.best.loss == shift - 2 or not plan.certificate.is_proved


def test_a_function_that_falls_with_who_is_left_out_is_no_proof():
    people = table_of(*MIXED)
    plan = rb.recommend(
        people, target=["ema", {"d": "best guess <= 55%"}], release="controlled",
        suppress_at_most=0.22,
        loss=lambda r: 1 / r.k() + 0.4 * (len(np.unique(r.codes(["a"]))) == 1),
    )  # fmt: skip
    assert plan.best.loss <= 0.125 or not plan.certificate.is_proved


CROWD = """
schema_version: 1
name: crowd
title: Who is alone is missed
story: Who is one of many is found. Assumed all of it.
subject: {class_size: {per: known, unit: records, range: [1, 1000000000], story: alike}}
groups: {known: {story: what is known, members: [a], probability: 0.5, source: assumption}}
nodes:
  alone: {parents: [known], story: one record, cpd: {kind: unique, of: "@class_size"}}
  found:
    parents: [alone]
    story: found where somebody else is alike
    source: assumption
    cpd: {kind: rows, rows: [{when: {alone: "no"}, p: [0.4, 0.6]}, {p: [0.9, 0.1]}]}
questions: {risk: {target: found=yes}}
"""


def test_where_more_alike_is_more_risk_who_goes_is_a_choice(tmp_path):
    """By hand: without one of the two x nobody is over one half, and three are released."""
    (tmp_path / "crowd.yaml").write_text(CROWD)
    people = table_of(("x", "AB"), ("y", "A"), ("z", "B"))
    plan = rb.recommend(
        people, rb.load(tmp_path / "crowd.yaml"), known={"a": 1.0}, target={"overall": 0.5},
        keep="a", suppress_at_most=0.5, loss=lambda released: (len(released) - 3) ** 2,
    )  # fmt: skip
    assert plan.best.loss == 0 or not plan.certificate.is_proved


def test_with_nobody_left_out_a_secret_beside_any_attack_is_proved(tmp_path):
    (tmp_path / "crowd.yaml").write_text(CROWD)
    people = table_of(("x", "ABAB"), ("y", "A"), ("z", "B"))
    asked = {"known": {"a": 1.0}, "target": [{"overall": 0.7}, {"d": "best guess <= 60%"}]}
    plan = rb.recommend(people, rb.load(tmp_path / "crowd.yaml"), **asked)
    assert plan.best.dropped == ("a",)
    assert plan.certificate.is_proved


def test_the_page_does_not_say_that_a_secret_with_a_limit_was_not_looked_at(tmp_path):
    frame = pd.DataFrame({"a": [1, 1, 2, 2] * 5, "d": list("AB") * 10, "e": list("AABB") * 5})
    for secrets in (["d"], ["d", "e"]):
        people = rb.read_table(frame, quasi_identifiers=["a"], sensitive=secrets)
        asked = {"target": {"d": "best guess <= 50%"}}
        attack = {"known": "worst-case", "population": 10_000, "attack": "adversary-routes"}
        for more in ({}, attack):
            plan = rb.recommend(people, **asked, **more)
            told = json.loads(plan.report(tmp_path / "p.json").read_text())["not_looked_at"]
            besides = [t for t in told if t.startswith("Who guesses d and knows e")]
            unsaid = [t for t in told if t.startswith("Secret columns")]
            assert len(besides) == len(secrets) - 1
            assert unsaid == ["Secret columns, of which nothing is said here: e."] * len(besides)


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 4)) for s in range(20)]
)
def test_a_limit_on_ppp_is_kept_whichever_columns_are_known(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 25))
    frame = pd.DataFrame({"age": rng.integers(0, 8, n), "zip": rng.integers(0, 6, n),
                          "d": rng.integers(0, 3, n)})  # fmt: skip
    people = rb.read_table(frame, quasi_identifiers=[*WIDTHS], sensitive=["d"])
    keep = float(rng.choice([0.2, 0.3, 0.4]))
    asked = {"hierarchies": {"age": rb.Bands(2, 4), "zip": rb.Bands(3)}}
    ways = [  # every way, by a disclosure of what is released
        rb.disclosure(people.generalise(dict(zip(WIDTHS, levels, strict=True)), **asked), "d",
                      known=[*WIDTHS])
        for levels in product(range(4), range(3))
    ]  # fmt: skip
    if not any(way.ppp_min.min() >= keep - 1e-12 for way in ways):
        with pytest.raises(rb.errors.DataError, match="no way to release"):
            rb.recommend(people, target={"d": f"PPP >= {keep}"}, **asked)
        return
    plan = rb.recommend(people, target={"d": f"PPP >= {keep}"}, **asked)
    assert plan.certificate.is_proved
    losses = plan._table.ways.losses()
    kept = [way.ppp_min.min() >= keep - 1e-12 for way in ways]
    assert plan.best.loss == pytest.approx(losses[np.array(kept)].min(), abs=1e-12)
    fresh = rb.disclosure(plan.apply(), "d", known=[*WIDTHS])
    assert min(fresh.ppp_min.min(), fresh.ppp_full.min()) >= keep - 1e-12


@pytest.mark.parametrize(
    "limit", ["PPP <= 0.5", "PPP >= 0", "PPP >= 1", "PPP > 0.5", "ppp 50%", "mean PPP <= 0.5"]
)
def test_what_is_no_limit_on_ppp_is_refused_with_one(limit):
    with pytest.raises(rb.UsageError, match="target d"):
        rb.recommend(table_of(("x", "AABB")), target={"d": limit})


def mean_ppp(rows, secret, kept):
    """The mean over people of the share of those written alike who have another secret."""
    alike = {}
    for row, own, here in zip(rows, secret, kept, strict=True):
        if here:
            alike.setdefault(row, []).append(own)
    shares = [sum(w != v for w in own) / len(own) for own in alike.values() for v in own]
    return sum(shares) / len(shares)


@pytest.mark.parametrize("share", [0.0, 0.25])
@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 5)) for s in range(24)]
)
def test_a_limit_on_the_mean_of_ppp_against_every_way_and_every_set_of_people(seed, share):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 9))
    frame = pd.DataFrame({"age": rng.integers(0, 8, n), "zip": rng.integers(0, 6, n),
                          "d": rng.integers(0, 3, n)})  # fmt: skip
    people, keep = (
        rb.read_table(frame, quasi_identifiers=[*WIDTHS], sensitive=["d"]),
        float(rng.choice([0.15, 0.3, 0.45])),
    )
    asked = {"hierarchies": {"age": rb.Bands(2, 4), "zip": rb.Bands(3)},
             "suppress_at_most": share, "target": {"d": f"mean PPP >= {keep}"}}  # fmt: skip
    try:
        plan = rb.recommend(people, **asked)
    except rb.errors.DataError as problem:
        plan, said = None, str(problem)
    secret, best = frame["d"].tolist(), np.inf
    whole = rb.recommend(
        people, target="k=2", suppress_at_most=0.9, hierarchies=asked["hierarchies"]
    )
    for levels in product(*(range(len(w) + 2) for w in WIDTHS.values())):
        rows = released(frame, levels)
        for out in product((False, True), repeat=n):
            kept = ~np.array(out)
            if sum(out) <= int(share * n + 1e-9) and mean_ppp(rows, secret, kept) >= keep - 1e-12:
                best = min(best, whole._table.ways.loss(levels, ~kept))
    if plan is None:
        assert np.isinf(best) or (share and "was found" in said)
        return
    assert best <= plan.best.loss + 1e-12
    assert plan.best.loss - plan.certificate.gap <= best + 1e-9
    if plan.certificate.is_proved or not share:
        assert plan.certificate.is_proved
        assert plan.best.loss == pytest.approx(best, abs=1e-9)
    for known in ([], ["age"], ["zip"], [*WIDTHS]):
        own = plan.apply()
        cells = [tuple(row) for row in own.codes(known).tolist()]
        mine = own.labels("d")[own.codes(["d"])[:, 0]].tolist()
        assert mean_ppp(cells, mine, [True] * len(own)) >= keep - 1e-12


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (0.5, 'target d: it is a secret, .* "best guess <= 50%", "PPP >= 50%"'),
        ("mean <= 50%", 'target d: it is a secret, .* "best guess <= 50%", "PPP >= 50%"'),
        ("best guess >= 50%", 'of a secret "best guess <= 50%", "PPP >= 50%"'),
        ("<= 50%", 'of a secret "best guess <= 50%", "PPP >= 50%"'),
        ("l-diversity >= 3", 'of a secret "best guess <= 50%", "PPP >= 50%"'),
        ("PPP >= 100%", "PPP >= 100% is kept by nobody.* a share above 0 and below 100 %"),
        ("PPP >= 50", "a share above 0 and below 100 %, or 50% if per cent was meant"),
        ("mean PPP >= 0", "asks for nothing; write a share above 0"),
    ],
)
def test_a_limit_on_a_secret_that_is_none_is_refused_with_what_is_one(limit, said, shell, tmp_path):
    people = table_of(("x", "AABB"))
    with pytest.raises(rb.UsageError, match=said):
        rb.recommend(people, target={"d": limit})
    if limit == 0.5:
        with pytest.raises(rb.UsageError, match=said):
            rb.recommend(people, "marketer", known={"a": 0.5}, target={"d": limit})
    (tmp_path / "t.csv").write_text("a,d\nx,A\nx,A\nx,B\nx,B\n")
    args = ["recommend", str(tmp_path / "t.csv"), "--qi", "a", "--sensitive", "d"]
    code, told = shell(*args, "--target", f"d: {limit}")
    assert code == 2
    assert re.search(said, told)


def test_a_disclosure_says_that_a_plan_counts_its_secrets_otherwise(tmp_path):
    """The plan says .75 of the table of which the disclosure says .25."""
    table = {"x": ["u"] * 8, "s": ["5", "5.0", "+5", "<2"] * 2}
    people = rb.read_table(table, quasi_identifiers="x", sensitive="s")
    plan, found = rb.recommend(people, target="s: best guess <= 80%"), rb.disclosure(people, "s")
    assert [*plan.best.after.values()] == [0.75]
    assert found.best_guess.max() == 0.25
    said = [n for n in found.notes if n.startswith("2 texts of s differ from another in capitals")]
    assert len(said) == 1
    page = found.report(tmp_path / "d.md", custodian=True).read_text()
    assert "a limit in a plan counts them as one" in page
    assert said[0] in rb.secrets.disclosure_all(people)["s"].notes
    plain = rb.disclosure(rb.read_table({"x": [1], "s": ["5"]}, quasi_identifiers="x",
                                        sensitive="s"), "s")  # fmt: skip
    assert not plain.notes


@pytest.mark.parametrize("more", [{}, {"keep": "n"}, {"suppress_at_most": 0.5}])
def test_a_share_that_every_class_has_is_told_as_that(more):
    table = {"n": ["a", "b"] * 12, "s": ["u"] * 12 + ["v"] * 12}
    people = rb.read_table(table, quasi_identifiers="n", sensitive="s")
    with pytest.raises(rb.errors.DataError, match=r"of 2 values of s one has a share of 1/2 in"):
        rb.recommend(people, target={"s": "best guess <= 40%"}, **more)
