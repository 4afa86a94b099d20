"""Policies worth the same to the attacker, in every room that tells of a table of people.

Each risk is known by hand: g, the chance to pick somebody out, times the best of two ways in.
"""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn

TIED = """
schema_version: 1
name: two-ways
title: Two ways in
story: By the front or by the back, and neither pays more
sources: [me]
parameters:
  pa: {value: 0.6, range: [0.2, 0.9], source: assumption}
  pb: {value: 0.3, range: [0.1, 0.8], source: assumption}
subject: {class_size: {per: known, unit: records, range: [1, 1000]}}
groups: {known: {members: [knows_a, knows_b], probability: [0.5, 0.4], source: assumption}}
decisions: {way: {options: [front, back], sees: [known], source: assumption}}
utilities: {win: {of: [way], unit: euro, rows: [{value: 1}], source: assumption}}
nodes:
  guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  tries: {states: 0..3, parents: [way], source: assumption, rows: [
    {when: {way: front}, p: {3: $pa, 1: rest}}, {p: {2: $pb, 0: rest}}]}
  hits: {states: 0..3, parents: [tries], cpd: {kind: binomial, n: tries, p: $pb}}
  named: {parents: [guess, hits], source: assumption, rows: [
    {when: {guess: yes, hits: ">=1"}, p: {yes: 1, no: 0}}, {p: {yes: 0, no: 1}}]}
questions:
  risk: {target: named=yes}
  few: {target: hits<1}
  many: {expect: hits}
example: {class_size: [10, 4, 5, 2]}
"""
HOW = {0: lambda pa, pb: {3: pa, 1: 1 - pa}, 1: lambda pa, pb: {2: pb, 0: 1 - pb}}
pytestmark = pytest.mark.filterwarnings("ignore::reidbn.errors.ReidbnWarning")


def hit(pa, pb, way):
    """The chance of a hit by one of the ways."""
    return sum(p * (1 - (1 - pb) ** n) for n, p in HOW[way](pa, pb).items())


def best(pa=0.6, pb=0.3):
    return max(hit(pa, pb, way) for way in HOW)


def mean_hits(pa=0.6, pb=0.3):
    return max(sum(p * n * pb for n, p in HOW[way](pa, pb).items()) for way in HOW)


@pytest.fixture(scope="module")
def attack():
    return rb.loads(TIED)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    return pd.DataFrame({"a": rng.choice([*"uvw"], 30), "b": rng.choice([*"xyz"], 30)})


@pytest.fixture(scope="module")
def guess(people):
    """By chances of a and b, everybody's chance to be picked out."""

    def of(a, b):
        alike = [people.groupby(by)["a"].transform("size") for by in (["a"], ["b"], ["a", "b"])]
        return np.asarray((1 - a) * (1 - b) / 30 + a * (1 - b) / alike[0]
                          + (1 - a) * b / alike[1] + a * b / alike[2])  # fmt: skip

    return of


@pytest.fixture(scope="module")
def assessed(attack, people):
    def of(**how):
        table = rb.read_table(people, quasi_identifiers=["a", "b"])
        return rb.assess(attack, table, known={"a": 0.5, "b": 0.4}, **how)

    return of


def test_the_risk_of_everybody_is_the_highest_of_tied_policies(assessed, guess, attack):
    result, g = assessed(), guess(0.5, 0.4)
    assert hit(0.6, 0.3, 1) < best()  # by the back, which he takes
    assert result.risk() == pytest.approx(g * best(), abs=1e-12)
    own = result.taken["overall"][result.subject_table.of_person]
    assert own == pytest.approx(g * hit(0.6, 0.3, 1), abs=1e-12)
    for way, option in enumerate(("front", "back")):
        held = rb.assess(attack.with_policy({"way": option}), result.table,
                         known={"a": 0.5, "b": 0.4})  # fmt: skip
        assert held.risk() == pytest.approx(g * hit(0.6, 0.3, way), abs=1e-12)
        assert not held.taken
        assert "worth the same" not in str(held.summary())
    assert "the policy with the highest answer" in " ".join(result.notes)


def test_what_is_told_of_a_table_is_of_one_policy(assessed, guess):
    """A verdict said that 6 people were above .2, and its table that nobody was."""
    result, g = assessed(), guess(0.5, 0.4)
    highest = g * best()
    limit = float(np.sort(highest)[-6] * 0.999)
    above = int((highest > limit).sum())
    assert result.above(limit)["overall"].tolist() == [above]
    assert result.shares_above([limit])["people"].tolist() == [above]
    assert result.measures["overall"].value == pytest.approx(highest.mean(), abs=1e-12)
    assert result.most_at_risk(1)["overall"].tolist() == pytest.approx([highest.max()])
    summary = result.summary({"overall": limit})
    assert not summary.passes
    told = str(summary)
    assert f"{above} of 30 people" in summary.verdict
    assert told.count(f"{highest.max():.3g} ") == 2  # the verdict's and the headline's
    assert f"{highest.mean():.4g}" in told
    assert told.count("of the policies that are worth the same") == 2
    assert "they are higher (overall)" in told  # what the engines did not compare
    assert result.drivers().mean.sum() == pytest.approx(highest.mean() - best() / 30)


def test_somebody_is_explained_by_the_highest_of_tied_policies(assessed, guess, attack, people):
    table = rb.read_table(people, quasi_identifiers=["a", "b"])
    for known, of in (({"a": 0.5, "b": 0.4}, (0.5, 0.4)), (["a", "b"], (1, 1))):
        result = rb.assess(attack, table, known=known)
        one = result.explain(4)
        assert one.risk == pytest.approx(guess(*of)[4] * best(), abs=1e-12)
        assert one.hidden["a"] == pytest.approx(guess(0, of[1])[4] * best(), abs=1e-12)
        assert one.nothing == pytest.approx(best() / 30, abs=1e-12)
        assert "the highest of the policies that are worth the same" in one.in_words()


def test_two_assessments_are_compared_by_the_highest_of_tied_policies(assessed, guess, tmp_path):
    """A control that lowers pb from .8 to .3 was said to take 80 % of the risk, and takes 44 %."""
    before = assessed(set={"pb": 0.8})
    after = rb.what_if(before, set={"pb": 0.3})
    g, both = guess(0.5, 0.4), (best(pb=0.8), best(pb=0.3))
    told = rb.compare(before, after)
    row = told.table.loc["overall"]
    assert row["median"] == pytest.approx(100 * (1 - both[1] / both[0]))
    means = [(g * b).mean() for b in both]
    assert (row.mean_before, row.mean_after) == pytest.approx(means)
    assert "overall: the highest of the policies that are worth the same" in str(told)
    assert told.to_dict()["tied"] == list(told.tied)
    for name, result in (("before", before), ("after", after)):
        result.to_json(tmp_path / f"{name}.json", custodian=True)
    files = [str(tmp_path / f"{name}.json") for name in ("before", "after")]
    done = CliRunner().invoke(reidbn, ["compare", *files])
    assert done.exit_code == 0, done.output
    row = next(line.split() for line in done.output.splitlines() if line[:9] == " overall ")
    assert [float(x) for x in row[1:3]] == pytest.approx(means, rel=1e-3)
    assert "Tied: at way" in done.output


def test_means_have_the_highest_of_tied_policies_beside_them(assessed, attack, tmp_path):
    high, own = mean_hits(), 0.3 * 2 * 0.3
    found = rb.expect(attack, "hits")
    assert (float(found), float(found.worst)) == pytest.approx((own, high), abs=1e-12)
    assert found.to_dict()["worst_of_tied"] == pytest.approx(high)
    (tmp_path / "two.yaml").write_text(TIED)
    done = CliRunner().invoke(reidbn, ["ask", str(tmp_path / "two.yaml"), "many"])
    assert f"the highest is {high:.6g}" in " ".join(done.output.split())
    table = rb.sweep(attack, "expect hits", {"pa": [0.2, 0.9], "pb": [0.1, 0.8]})
    wanted = [mean_hits(pa, pb) for pa, pb in zip(table.pa, table.pb, strict=True)]
    assert table["worst_tied"].tolist() == pytest.approx(wanted)
    of_all = rb.expect(assessed(), "hits")
    assert of_all.people["worst_tied"].tolist() == pytest.approx([high] * 30)
    assert f"the highest is {high:.6g}" in str(of_all)
    given = rb.expect(attack, "hits", given={"named": "yes"})
    each = [rb.expect(attack.with_policy({"way": w}), "hits", given={"named": "yes"})
            for w in ("front", "back")]  # fmt: skip
    assert float(given.worst) == pytest.approx(max(map(float, each)))
    assert float(given) < float(given.worst)


def test_a_sweep_over_people_is_of_the_highest_of_tied_policies(assessed, guess):
    g = guess(0.5, 0.4)
    limit = float(np.sort(g)[15] * best())
    found = rb.sweep(assessed(), {"pa": [0.2, 0.9]}, thresholds=[limit])
    for row in found.itertuples(index=False):
        risk = g * best(pa=row.pa)
        assert (row.mean, row.max, row.worst_tied) == pytest.approx(
            (risk.mean(), risk.max(), risk.max())
        )
        assert row.q95 == pytest.approx(np.sort(risk)[int(np.ceil(0.95 * 30)) - 1])
        assert row[found.columns.get_loc(f"above_{limit:g}")] == (risk > limit).sum()
    assert "the policy with the highest answer" in " ".join(found.attrs["notes"])
    means = rb.sweep(assessed(), "expect hits", {"pa": [0.2, 0.9]})
    assert means["mean"].tolist() == pytest.approx([mean_hits(pa) for pa in (0.2, 0.9)])


def test_controls_are_ranked_by_the_highest_of_tied_policies(attack, assessed, guess):
    """A gate that closes most of the front was said to do nothing: he takes the back."""
    found = rb.decide(attack)
    with pytest.warns(rb.errors.ReidbnWarning, match="reduction and per_cost are of the highest"):
        told = found.controls({"lock": {"set": {"pb": 0.2}, "cost": 10},
                               "gate": {"set": {"pa": 0.2}, "cost": 10}})  # fmt: skip
    g = 0.3 / 10 + 0.3 / 4 + 0.2 / 5 + 0.2 / 2
    after = {"lock": best(pb=0.2), "gate": best(pa=0.2)}
    assert sorted(after, key=after.get) == told["control"].tolist()
    for row in told.itertuples(index=False):
        assert row.worst_tied == pytest.approx(g * after[row.control])
        assert row.reduction == pytest.approx(g * (best() - after[row.control]))
    assert found.highest == pytest.approx(g * best())
    assert found.risk == pytest.approx(g * hit(0.6, 0.3, 1))
    assert f"The highest is {g * best():.6g}." in str(found)
    assert found.to_dict()["worst_of_tied"] == pytest.approx(g * best())
    everybody = rb.decide(assessed()).people
    assert everybody["worst_tied"].to_numpy() == pytest.approx(guess(0.5, 0.4) * best())
    sure = rb.decide("insider-decides")
    assert "worst_tied" not in sure.controls({"a": {"set": {"p_audit": 0.2}, "cost": 1}})
