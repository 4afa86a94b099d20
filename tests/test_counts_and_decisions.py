"""Intervals by what was counted, where the attacker decides by the very shares that are open."""

import json

import pytest
from click.testing import CliRunner
from scipy.stats import beta

import reidbn as rb
from reidbn.cli import reidbn

PAYS = """
schema_version: 1
name: pays
title: Where it pays
story: He attacks where enough sites are good
sources: [me]
parameters: {cost: {value: 4, range: [0, 20], unit: euro, source: assumption}}
numbers: {minus: "-cost"}
subject: {hits: {over: site, unit: records, range: [0, 1000]}}
decisions: {act: {options: [no, yes], sees: [], source: assumption}}
utilities:
  win: {of: [named], unit: euro, rows: [{when: {named: yes}, value: 10}, {value: 0}], source: x}
  c: {of: [act], unit: euro, rows: [{when: {act: yes}, value: $minus}, {value: 0}], source: x}
nodes:
  site: {states: [0, 1, 2], cpd: {kind: measured, counts: "@hits"}}
  good: {parents: [site], rows: [{when: {site: ">=1"}, p: {yes: 1, no: 0}}, {p: {yes: 0, no: 1}}]}
  named: {parents: [act, good], cpd: {kind: and}}
questions: {risk: {target: named=yes}}
example: {hits: [6, 2, 2]}
"""
GOOD = beta(2 + 2 + 2 * 0.5, 6 + 0.5)  # the share of good sites, after 6, 2 and 2 of each


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pays.yaml"
    path.write_text(PAYS)
    return str(path)


def test_the_interval_is_of_where_he_does_what_is_given(file):
    """It was "nan to nan": where he would not attack nothing can be said of an attack."""
    found = rb.ask(file, "risk", given={"act": "yes"})
    share = GOOD.sf(0.4)  # ten euro times this share pays for four
    ends = [GOOD.ppf(1 - share * (1 - tail)) for tail in (0.025, 0.975)]
    assert found.by_counts_share == pytest.approx(share, abs=0.025)
    assert found.by_counts == pytest.approx(ends, abs=0.01)
    done = CliRunner().invoke(reidbn, ["ask", file, "risk", "--given", "act=yes"])
    assert "act=yes can be at 58" in done.output, done.output
    told = CliRunner().invoke(reidbn, ["ask", file, "risk", "--given", "act=yes", "--json"])
    assert "NaN" not in told.output
    assert json.loads(told.output)["interval_95_share"] == found.by_counts_share
    free = rb.ask(file, "risk")
    assert free.by_counts_share == 1
    assert free.by_counts[0] == 0
    assert "interval_95_share" not in free.to_dict()


def test_of_little_there_is_no_interval_and_it_is_said(tmp_path):
    """What hardly anybody expects is worth much where it is so, and the mean pays for it."""
    path = tmp_path / "seldom.yaml"
    words = PAYS.replace('counts: "@hits"', 'counts: "@hits", prior: 0.0005')
    mean = 0.001 / 10.0015
    words = words.replace("value: 4,", f"value: {9 * mean:.9f},").replace("[6, 2, 2]", "[10, 0, 0]")
    path.write_text(words)
    found = rb.ask(str(path), "risk", given={"act": "yes"})
    assert float(found) == pytest.approx(mean)
    assert found.by_counts is None
    share = beta(0.001, 10.0005).sf(0.9 * mean)
    assert found.by_counts_share == pytest.approx(share, abs=0.005)
    done = CliRunner().invoke(reidbn, ["ask", str(path), "risk", "--given", "act=yes"])
    assert "By what was counted: no 95 % interval, since act=yes can be at" in done.output


def test_of_tied_policies_the_interval_is_of_the_highest(tmp_path):
    """It was of the policy that is taken, below "the highest is"."""
    rows = ("{when: {act: no, good: yes}, p: [0, 1]}, {when: {act: yes, good: yes}, "
            "p: [0.5, 0.5]}, {p: [1, 0]}")  # fmt: skip
    words = PAYS.replace("cpd: {kind: and}", f"rows: [{rows}], source: x")
    words = words.replace("value: 10", "value: 0").replace("value: $minus", "value: 0")
    words = words.replace('numbers: {minus: "-cost"}\n', "")
    path = tmp_path / "tie.yaml"
    path.write_text(words)
    found = rb.ask(str(path), "risk")
    assert float(found.worst) == pytest.approx(2 * float(found))
    ends = [GOOD.ppf(tail) for tail in (0.025, 0.975)]
    assert found.by_counts == pytest.approx(ends, abs=0.015)  # of 4,000 draws: about .005
    done = CliRunner().invoke(reidbn, ["ask", str(path), "risk"])
    assert "95 % interval of the highest answer" in done.output


BY_SUBSET = """
schema_version: 1
name: by_subset
subject:
  class_size: {per: known, unit: people}
  worth: {per: known, unit: euro, range: [0, 100]}
groups: {known: {members: {a: 0.5, b: 0.5}, source: assumption}}
nodes:
  found: {parents: [known, tries], cpd: {kind: one-over, of: "@class_size", only_if: [tries]}}
decisions:
  tries: {options: [no, yes], sees: [known]}
utilities:
  gain: {of: [tries, found], unit: euro, source: x,
         rows: [{when: {tries: yes, found: yes}, value: "@worth"}, {value: 0}]}
example: {class_size: [8, 4, 2, 1], worth: [1, 2, 3, 4]}
"""


def test_a_worth_per_subset_is_refused_where_it_stands_and_the_remedy_works():
    """By hand: each of four subsets a quarter, worth / class size."""
    said = (
        r"@worth has one value per subset of known, and a utility is of nodes: declare it "
        r"per: \[b, a\], in which its values keep their order, and name these in `of`"
    )
    for text in (BY_SUBSET, BY_SUBSET.replace('"@worth"}', "$w}").replace(
            "groups:", 'numbers: {w: {is: "worth * 1", unit: euro}}\ngroups:')):  # fmt: skip
        with pytest.raises(rb.ModelError, match=said):
            rb.loads(text)
    mended = BY_SUBSET.replace("worth: {per: known", "worth: {per: [b, a]").replace(
        "of: [tries, found]", "of: [tries, found, a, b]").replace(
        "[1, 2, 3, 4]", "[[1, 2], [3, 4]]")  # fmt: skip
    found = rb.decide(rb.loads(mended), "found=yes")
    assert found.value == pytest.approx((1 / 8 + 2 / 4 + 3 / 2 + 4 / 1) / 4, rel=1e-12)
    each = BY_SUBSET.replace("worth: {per: known", "worth: {each: known").replace(
        "[1, 2, 3, 4]", "[1, 2]")  # fmt: skip
    with pytest.raises(rb.ModelError, match="declare a column for each of a, b, and give each a"):
        rb.loads(each)
    elsewhere = BY_SUBSET.replace("worth: {per: known", "worth: {per: a").replace(
        "[1, 2, 3, 4]", "[1, 2]")  # fmt: skip
    with pytest.raises(rb.ModelError, match="per state of a, which is not among the nodes that"):
        rb.loads(elsewhere)


TIED = """
schema_version: 1
name: tie
nodes:
  x: {rows: [{p: {yes: 0.3, no: rest}}], source: x}
  hit: {parents: [first, x], source: x,
        rows: [{when: {first: yes, x: yes}, p: {yes: 0.5, no: rest}},
               {when: {first: b}, p: {yes: 0.9, no: rest}}, {p: {no: 1}}]}
decisions:
  first: {options: [no, b, yes]}
utilities:
  u: {of: [first], unit: euro, source: x, rows: [{when: {first: no}, value: 0}, {value: 1}]}
questions: {risk: {target: hit=yes}}
"""


def test_an_export_and_a_cross_check_say_of_ties_what_an_answer_says(tmp_path):
    path = tmp_path / "tied.yaml"
    path.write_text(TIED)
    run = CliRunner().invoke
    told = "another option is worth the same to the attacker"
    asked = run(reidbn, ["ask", str(path), "risk", "--engine", "sampling", "--draws", "2000"])
    checked = run(reidbn, ["crosscheck", str(path), "risk", "--draws", "2000"])
    assert told in asked.output
    assert told in checked.output
    assert told in rb.crosscheck(str(path), "risk", draws=2000).to_dict()["not_checked"]
    with pytest.raises(rb.errors.UsageError, match=r"rb\.decide") as refused:
        rb.export(str(path), tmp_path / "tied.bif")
    assert "--policy with his rules" in refused.value.in_shell
    assert "another option is worth the same" in refused.value.in_shell
    name = "first"
    done = run(reidbn, ["export", str(path), "--policy", f"{name}=yes"])
    assert f"{name}: decided by the attacker, here by a policy given" in done.output
    (tmp_path / "set.bif").write_text(done.output)
    again = rb.import_network(tmp_path / "set.bif")
    assert float(rb.ask(again, "hit=yes")) == pytest.approx(0.3 * 0.5, rel=1e-12)
