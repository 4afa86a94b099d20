"""What was asked is what holds, and what is said: targets twice, options in order, pictures."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from test_plan_beside import assessed, section

import reidbn as rb


def patients(n=300, **named):
    table = rb.datasets.synthetic_patients(n, seed=1)
    return rb.read_table(table, quasi_identifiers=["age", "sex", "race"], **named)


BANDS = {"age": "bands:5,10,20"}


@pytest.mark.parametrize("target", [["k=5", "k=11"], ["k=11", "k>=5"], ["k=5", ["k=11"], "k=5"]])
def test_of_two_limits_of_one_measure_both_hold(target):
    plan = rb.recommend(patients(), target=target, hierarchies=BANDS, suppress_at_most=0.05)
    alone = rb.recommend(patients(), target="k=11", hierarchies=BANDS, suppress_at_most=0.05)
    assert plan.best.levels == alone.best.levels
    assert plan.best.loss == alone.best.loss
    assert sorted(plan.best.after) == ["11 or more alike", "5 or more alike"]
    assert plan.apply().k() >= 11


def test_two_limits_of_one_risk_both_hold():
    people = patients(200)
    asked = ["overall: highest <= 0.2", "overall: highest <= 0.1", "overall: mean <= 0.15",
             "overall: mean <= 0.02"]  # fmt: skip
    how = {"population": 100_000, "hierarchies": BANDS, "suppress_at_most": 0.1}
    plan = rb.recommend(people, "adversary-routes", target=asked, **how)
    risk = plan.result.risk("overall")
    assert risk.max() <= 0.1
    assert risk.mean() <= 0.02
    assert len(plan.best.after) == 4


@pytest.mark.parametrize(
    "target", [["k=5", "k>=5"], ["ema", "k=11"],
               [{"diagnosis": "PPP >= 40%"}, {"diagnosis": "best guess <= 60%"}]]
)  # fmt: skip
def test_what_is_asked_twice_is_told_once(target):
    people = patients(sensitive=["diagnosis"])
    plan = rb.recommend(people, target=target, hierarchies=BANDS, suppress_at_most=0.05)
    assert len(plan.targets) == 1
    assert plan.explain().count(str(plan.targets[0])) == 1 + len(plan._finer)


def test_limits_that_differ_by_less_than_is_told_are_refused():
    with pytest.raises(rb.UsageError, match="differ by less than is told"):
        rb.recommend(patients(), "adversary-routes", population=10**5,
                     target=["overall: 0.12345678", "overall: 0.12345679"])  # fmt: skip


@pytest.mark.parametrize("text", ["k>=5, k>=11", "k=5 and k=11", "k=5; overall: q95 <= 0.09"])
def test_several_targets_in_one_text_are_refused_with_the_way_to_write_them(text, shell, tmp_path):
    with pytest.raises(rb.UsageError, match="is several: give them as a list"):
        rb.recommend(patients(), target=text)
    rb.datasets.synthetic_patients(100, seed=1).to_csv(tmp_path / "t.csv", index=False)
    args = ["recommend", str(tmp_path / "t.csv"), "--qi", "age,sex"]
    code, said = shell(*args, "--target", text)
    assert code
    assert "give each its own --target" in " ".join(said.split())
    code, said = shell(*args, "--target", "k=5", "--target", "k=11", "--json")
    assert code == 0
    assert json.loads(said[said.index("{") :])["targets"] == ["5 or more alike", "11 or more alike"]


def test_options_stand_in_the_order_of_the_loss_that_was_asked_for(tmp_path):
    """The report's "information lost" is another measure, and orders them otherwise here."""
    rng = np.random.default_rng(1)
    n = 300
    table = {"age": rng.integers(20, 84, n), "sex": rng.choice(["f", "m"], n),
             "town": rng.choice(list("abcd"), n)}  # fmt: skip
    people = rb.read_table(table, quasi_identifiers=[*table])
    plan = rb.recommend(
        people, "marketer", target="k=5", importance={"town": 4},
        hierarchies={"age": "bands:5,10,20,40"}, suppress_at_most=0.05,
    )  # fmt: skip
    options = plan.options(6)
    assert options.by == plan.loss_told
    losses = {plan.named(one): one.loss for one in plan.kept}
    own = [losses[name] for name in [*options][1:]]
    assert len(own) > 1
    assert own == sorted(own)
    lost = rb.risk_utility(options).table["information_lost"].tolist()[1:]
    assert lost != sorted(lost)
    for custodian in (False, True):
        text = plan.result.report(tmp_path / "r.md", options=options, custodian=custodian)
        said = " ".join(text.read_text().split())
        assert f'in the order of loss by {plan.loss_told}, the least first; "inf' in said
    text = plan.result.report(tmp_path / "r.md", options=dict(options), custodian=True).read_text()
    assert "in the order of loss" not in text


def test_the_best_three_of_a_report_say_their_order(tmp_path):
    result = assessed()
    for custodian in (False, True):
        text = result.report(tmp_path / "r.md", threshold=1 / 11, custodian=custodian).read_text()
        assert ("in the order of loss by entropy" in text) == custodian  # outwards it tells nothing
    rows = section(text, "Options compared")
    best = result._beside(result.summary(1 / 11).rule, custodian=True)
    assert [row[0] for row in rows[1:]] == best.names


@pytest.mark.parametrize("loss", ["entropy", rb.plans.Margins(("age", "sex"), ("race",))])
def test_every_axis_of_a_plans_picture_says_what_it_counts(loss):
    people = patients(sensitive=["diagnosis"])
    plan = rb.recommend(
        people, "adversary-routes", population=10**5, hierarchies=BANDS, suppress_at_most=0.05,
        loss=loss,
        target=["k=3", "overall: q95 <= 0.2", "overall: above 0.1 <= 10%", "diagnosis: PPP >= 20%"],
    )  # fmt: skip
    axes = plan.plot().axes
    assert [one.get_ylabel() for one in axes] == [
        "people", "probability", "share of people", "share of people alike"]  # fmt: skip
    assert all(one.get_xlabel().startswith("what is lost (") for one in axes)
    assert all(one.get_ylim()[0] >= 0 for one in axes)


@pytest.mark.parametrize("what", ["PPP >= 40%", "mean PPP >= 62%"])
def test_of_whom_a_secret_is_counted_where_people_are_left_out_is_said(what, tmp_path):
    people = patients(sensitive=["diagnosis"])
    plan = rb.recommend(people, target=["k=4", {"diagnosis": what}], suppress_at_most=0.1,
                        hierarchies={"age": "bands:5,10,20,40"})  # fmt: skip
    gone = plan.best.suppressed
    assert gone
    said = f"counted among those who are released: the {gone} left out are not among them"
    assert said in " ".join(plan.notes)
    assert said in " ".join(plan.report(tmp_path / "p.md", custodian=True).read_text().split())
    assert any(said in note for note in plan.to_dict()["notes"])
    outward = plan.report(tmp_path / "o.md").read_text()
    assert "left out are not among them" not in outward
    people = plan.apply()
    frame = {c: people.labels(c)[people.codes([c])[:, 0]] for c in people.columns}
    rows = list(zip(*(frame[c] for c in people.quasi_identifiers), strict=True))
    secret = frame["diagnosis"].tolist()
    apart = [
        np.mean([b != own for other, b in zip(rows, secret, strict=True) if other == row])
        for row, own in zip(rows, secret, strict=True)
    ]
    told = plan.best.after[str(plan.targets[1])]
    assert 1 - told == pytest.approx(np.mean(apart) if "mean" in what else min(apart))
    nobody = rb.recommend(patients(sensitive=["diagnosis"]), target={"diagnosis": "PPP >= 5%"},
                          hierarchies=BANDS)  # fmt: skip
    assert not re.search("left out are not among them", " ".join(nobody.notes))
