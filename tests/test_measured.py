"""Distributions that a table brings along, as shares or as counts, and how sure counts are."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import beta

import reidbn as rb
from reidbn.cli import reidbn
from reidbn.cpds import MeasuredShares

TEXT = """
schema_version: 1
name: measured
parameters:
  p_looks: {value: 0.25, source: assumption}
subject:
  seen: {over: kind, unit: records, range: [0, 100000], story: What was found in such records}
  shown: {over: place, per: kind, unit: probability, range: [0, 1]}
nodes:
  kind: {states: [none, near, exact], cpd: {kind: measured, counts: "@seen"}}
  place: {states: [town, region], parents: [kind], cpd: {kind: measured, p: "@shown"}}
  looks: {cpd: {kind: probability, p: $p_looks}}
  named:
    parents: [kind, place, looks]
    rows:
      - {when: {kind: exact, place: town, looks: yes}, p: {yes: 1, no: 0}}
      - {p: {yes: 0, no: 1}}
questions:
  risk: {target: named=yes}
  exact: {target: kind=exact}
example:
  seen: [60, 30, 9]
  shown: [[0.5, 0.5], [0.25, 0.75], [0.75, 0.25]]
"""
SHARES = np.array([60.5, 30.5, 9.5]) / 100.5


def test_an_answer_is_the_shares_of_what_was_counted():
    attack = rb.loads(TEXT)
    assert rb.check(attack) == ()
    assert rb.loads(rb.dumps(attack)) == attack
    answer = rb.ask(attack)
    assert float(answer) == pytest.approx(SHARES[2] * 0.75 * 0.25, abs=1e-15)
    for engine in ("pgmpy", "enumeration"):
        assert float(rb.ask(attack, engine=engine)) == pytest.approx(float(answer), abs=1e-15)
    assert rb.crosscheck(attack, "named=yes", draws=20_000, seed=1).passed
    bar = rb.tornado(attack, "named=yes").bars[0]
    assert bar.method == "exact affine"


def test_a_page_tells_the_interval_of_where_it_starts(tmp_path):
    attack = rb.loads(TEXT)
    for given in ({}, {"place": "town"}):
        page = attack.page(tmp_path / "page.html", given=given).read_text()
        held = json.loads(re.search(r'id="held">(.*?)</script>', page)[1])
        told = {q["name"]: q["counts"] for q in held["questions"]}
        for name in ("risk", "exact"):
            assert told[name] == list(rb.ask(attack, name, given=given).by_counts)
    plain = rb.load("breakfast").page(tmp_path / "plain.html").read_text()
    assert '"counts":null' in plain


def test_counts_give_the_interval_of_their_law_and_shares_give_none():
    """One state's share is beta; 4,000 draws tell its quantiles within a tenth of its width."""
    attack = rb.loads(TEXT)
    answer = rb.ask(attack, "kind=exact")
    low, high = beta.ppf([0.025, 0.975], 9.5, 91.0)
    assert answer.by_counts == pytest.approx((low, high), abs=(high - low) / 10)
    assert answer.to_dict()["interval_95"] == answer.by_counts
    risk = rb.ask(attack).by_counts
    assert risk == pytest.approx([x * 0.75 * 0.25 for x in answer.by_counts], rel=1e-12)
    given = rb.ask(attack, "kind=exact", given={"place": "town"}).by_counts
    assert given[0] < 0.75 * SHARES[2] / (SHARES @ [0.5, 0.25, 0.75]) < given[1]
    assert rb.ask(attack, "place=town", given={"kind": "near"}).by_counts == (0.25, 0.25)
    assert rb.ask(attack, "looks=yes").by_counts is None
    assert rb.ask(attack, "kind=exact", do={"kind": "exact"}).by_counts is None
    assert rb.ask(attack, "kind=exact").by_counts == answer.by_counts  # the same every time


def test_more_counts_make_a_narrower_interval_and_the_words_say_it(tmp_path):
    attack = rb.loads(TEXT)
    few, many = (
        rb.ask(attack, "kind=exact", subject={"seen": np.array([60, 30, 9]) * k,
                                              "shown": attack.example["shown"]})
        for k in (1, 100)
    )  # fmt: skip
    assert many.by_counts[1] - many.by_counts[0] < (few.by_counts[1] - few.by_counts[0]) / 8
    (tmp_path / "m.yaml").write_text(TEXT)
    said = CliRunner().invoke(reidbn, ["ask", str(tmp_path / "m.yaml"), "kind=exact"]).stdout
    low, high = few.by_counts
    assert f"By what was counted: 95 % interval {low:.4g} to {high:.4g}" in said
    assert any("counts behind kind" in note for note in rb.whatif.uncertainty(
        attack, "named=yes", draws=100).notes)  # fmt: skip


def test_many_people_have_their_own_counts():
    attack = rb.loads(TEXT)
    rng = np.random.default_rng(2)
    seen, shown = rng.integers(0, 20, (5, 3)), rng.dirichlet([1, 1], (5, 3))
    found = rb.ask(attack, subject={"seen": seen, "shown": shown})
    expected = (seen[:, 2] + 0.5) / (seen.sum(axis=1) + 1.5) * shown[:, 2, 0] * 0.25
    np.testing.assert_allclose(found.probability[:, 0], expected, atol=1e-15)
    assert found.by_counts is None


WRONG = {
    "another node": ("{kind: probability, p: $p_looks}", '{kind: measured, p: "@seen"}',
                     "a distribution of kind: only that node may use it"),
    "another kind": ('{kind: measured, counts: "@seen"}', '{kind: probability, p: "@seen"}',
                     "goes with kind: measured"),
    "no distribution": ("seen: {over: kind, ", "seen: {", "goes with over: kind"),
    "both": ('counts: "@seen"', 'counts: "@seen", p: "@shown"', "needs either p"),
    "a parameter": ('counts: "@seen"', "counts: $p_looks", "takes a column over kind"),
    "no such node": ("over: kind", "over: knid", 'no node "knid"; did you mean "kind"'),
    "beside each": ("{over: kind, unit", "{over: kind, each: kind, unit", "stands beside over"),
    "not 1 in all": ("[0.5, 0.5]", "[0.5, 0.4]", "shares that are 1 in all only within 0.1"),
    "too few": ("[60, 30, 9]", "[60, 30]", "3 values, one per state of kind"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_says_what_would(case):
    old, new, message = WRONG[case]
    assert old in TEXT
    with pytest.raises(rb.ModelError) as refused:
        rb.loads(TEXT.replace(old, new))
    assert message in str(refused.value)


def test_nobody_counted_is_refused_without_a_prior_and_a_wrong_share_of_somebody_too():
    attack = rb.loads(TEXT.replace('counts: "@seen"', 'counts: "@seen", prior: 0'))
    shown = attack.example["shown"]
    with pytest.raises(rb.ModelError, match="nobody was counted"):
        rb.ask(attack, subject={"seen": [0, 0, 0], "shown": shown})
    with pytest.raises(rb.DataError, match="that are 1 in all only within"):
        rb.ask(attack, subject={"seen": [1, 2, 3], "shown": [[0.5, 1], [0, 1], [1, 0]]})
    assert MeasuredShares(counts="@x").prior == 0.5


HELD = """
schema_version: 1
name: o
parameters:
  p_m: {measured: {hits: 3, trials: 12, study: s}}
  p_a: {value: 0.3, range: [0.2, 0.8], source: assumption}
  p_b: {value: 0.3, range: [0.2, 0.8], source: assumption}
where: ["p_a + p_b <= 1"]
nodes:
  m: {cpd: {kind: probability, p: $p_m}}
  n: {parents: [m], states: [a, b, c], rows: [{when: {m: yes}, p: {a: $p_a, b: $p_b, c: rest}},
      {p: {c: 1}}]}
questions: {risk: {target: "n=a"}}
"""
ASKED = {
    "uncertainty": lambda attack, **more: rb.uncertainty(attack, "risk", draws=50, **more),
    "sobol": lambda attack, **more: rb.sobol(attack, "risk", **more),
    "learn": lambda attack, **more: rb.learn(
        attack, [{"target": "risk", "hits": 5, "trials": 20}], **more),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_the_remedy_for_ranges_that_meet_keeps_what_else_varies(name):
    attack, run = rb.loads(HELD), ASKED[name]
    with pytest.raises(rb.UsageError) as refused:
        run(attack)
    written = str(refused.value).partition("over=")[2].partition("}")[0] + "}"
    over = eval(written, {"low": 0.2, "high": 0.5})  # noqa: S307 - as a reader would type it
    assert over == {"p_a": (0.2, 0.5), "p_b": (0.2, 0.5), "p_m": None}
    found = run(attack, over=over)
    assert found.notes == ()
    if name != "learn":
        m, a, v = 3.5 / 13, 0.35, 0.3**2 / 12  # Beta(3.5, 9.5) and a uniform from .2 to .5
        w = m * (1 - m) / 14
        assert found.mean == pytest.approx(m * a, rel=1e-12)
        sd = found.sd
        assert sd == pytest.approx(((w + m * m) * (v + a * a) - (m * a) ** 2) ** 0.5, rel=1e-9)
    less = run(attack, over={"p_a": (0.2, 0.5), "p_b": (0.2, 0.5)})
    assert less.notes == ("held at its value, though the model has a prior: p_m",)


@pytest.mark.parametrize(
    ("hits", "trials"),
    [([14, 21], 20_000), ([0, 0], 5), ([1, 0], 600), ([19, 14, 20, 19, 19], 20_000),
     ([241, 300], 579), ([19_999, 19_980], 20_000)],
)  # fmt: skip
def test_quantiles_of_studies_reach_into_both_tails(hits, trials):
    """Of the last the highest 0.12 % were one value: the table ended where Gauss points did."""
    parameter = rb.loads(json.dumps({
        "schema_version": 1, "name": "tails", "questions": {"risk": {"target": "a=yes"}},
        "parameters": {"q": {"measured": [{"hits": h, "trials": trials} for h in hits],
                             "range": [0, 1], "source": "studies"}},
        "nodes": {"a": {"cpd": {"kind": "probability", "p": "$q"}}},
    })).parameters["q"]  # fmt: skip
    law = parameter.evidence.law
    small = 10.0 ** -np.arange(8, 2, -0.37)
    levels = np.concatenate([small, np.linspace(0.01, 0.99, 99), 1 - small])
    found = law.cumulative(parameter.prior.quantile(levels, 0.0, 1.0))
    assert np.abs(found - levels).max() <= 1e-4
    assert (np.abs(found - levels) / np.minimum(levels, 1 - levels)).max() <= 3e-4


@pytest.mark.parametrize(("hits", "trials"), [(0, 3), (0, 579), (579, 579), (1, 579)])
def test_quantiles_of_one_study_are_those_of_its_beta_law(hits, trials):
    attack = rb.loads(HELD.replace("hits: 3, trials: 12", f"hits: {hits}, trials: {trials}"))
    levels = np.array([1e-6, 0.001, 0.05, 0.95, 0.999, 1 - 1e-6])
    law = beta(hits + 0.5, trials - hits + 0.5)
    quantiles = attack.parameters["p_m"].prior.quantile(levels, 0.0, 1.0)
    floor = 2 * np.spacing(quantiles) * law.pdf(quantiles)  # next to 1 there are few numbers
    for found, right in ((law.cdf, levels), (law.sf, 1 - levels)):
        assert (np.abs(found(quantiles) - right) <= 3e-4 * right + floor).all()


def test_what_is_learnt_of_a_number_that_is_cut_keeps_both_tails():
    """Beta(.5, 579.5) lies below .3, so that one more attempt in vain leaves Beta(.5, 580.5)."""
    attack = rb.loads("""
schema_version: 1
name: cut
parameters: {p: {measured: {hits: 0, trials: 579}, source: a study}}
numbers: {z: "min(p, 0.3)"}
nodes: {found: {cpd: {kind: probability, p: $z}, source: assumption}}
questions: {risk: {target: found=yes}}
""")
    found = rb.learn(attack, [{"target": "risk", "hits": 0, "trials": 1}])["p"]
    low, high = beta.ppf([0.025, 0.975], 0.5, 580.5)
    assert found.low == pytest.approx(low, rel=0.02)
    assert found.high == pytest.approx(high, rel=0.02)
