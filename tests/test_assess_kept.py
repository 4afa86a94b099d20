"""Numbers that are kept, and numbers that are printed: none is old, none is damaged."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from inside import inside

import reidbn as rb
from reidbn.attack import FactLookup, Known, Knows, Listed, Scenario, load_scenario, read_facts
from reidbn.attacks import act_out, risks
from reidbn.cli import main
from reidbn.cpds import yes_no
from reidbn.errors import (
    CrosscheckFailed,
    EngineError,
    ImpossibleEvidence,
    ModelError,
    ReidbnWarning,
    UsageError,
)
from reidbn.microdata import People


def people(n=60, seed=1):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, c, n) for c in (4, 3, 2)])
    return People.from_codes(codes, ["age", "race", "sex"])


def assessed(folder=None, **more):
    return rb.assess("adversary-routes", people(), checkpoint=folder, **{"population": 500, **more})


# -- checkpoints -----------------------------------------------------------------------------------


def test_a_checkpoint_does_not_answer_for_other_subject_data(tmp_path):
    few, many = (np.full((60, 2), p) for p in (0.01, 0.9))
    asked = {"scenario": Scenario("all", knows=Knows((Known("a", ("age", "race", "sex")),)))}
    first = assessed(tmp_path, subject={"p_unique": few}, **asked)
    second = assessed(tmp_path, subject={"p_unique": many}, **asked)
    fresh = assessed(None, subject={"p_unique": many}, **asked)
    assert np.array_equal(second.risk(), fresh.risk())
    assert second.risk().max() > first.risk().max()


def test_a_checkpoint_of_another_version_is_not_served(tmp_path, monkeypatch):
    assessed(tmp_path)
    before = {p.name for p in tmp_path.glob("*.npy")}
    monkeypatch.setattr(rb, "__version__", "99.0")
    assessed(tmp_path)
    after = {p.name for p in tmp_path.glob("*.npy")} - before
    assert len(after) == len(before)


def test_an_engine_is_all_the_code_that_makes_a_risk(monkeypatch):
    """Files in folders of a room, too: the code of this very module is among them."""
    blocks = inside(risks)
    own, read = Path(blocks.__file__), []
    told = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or told(path))
    blocks._code.__wrapped__()
    assert own in read
    rooms = [own.parents[2] / room for room in ("theory", "cpds", "attack", "inference")]
    assert {path for room in rooms for path in room.rglob("*.py")} < {*read}


def test_a_checkpoint_of_another_engine_is_not_served(tmp_path, monkeypatch):
    assessed(tmp_path)
    before = {p.name for p in tmp_path.glob("*.npy")}
    monkeypatch.setattr(inside(risks), "_code", lambda: "another engine")
    assessed(tmp_path)
    assert len({p.name for p in tmp_path.glob("*.npy")} - before) == len(before)


def zeroed(block):
    np.save(block, np.zeros_like(np.load(block)))


def emptied(block):
    block.write_bytes(b"")


def truncated(block):
    block.write_bytes(block.read_bytes()[:-9])


def one_bit_flipped(block):
    data = bytearray(block.read_bytes())
    data[150] ^= 4
    block.write_bytes(bytes(data))


def blanked(block):
    block.write_bytes(bytes(len(block.read_bytes())))


@pytest.mark.parametrize("harm", [zeroed, emptied, truncated, one_bit_flipped, blanked])
def test_a_damaged_block_is_noticed_and_computed_again_with_a_word(harm, tmp_path):
    fresh = assessed(tmp_path)
    for block in tmp_path.glob("*.npy"):
        harm(block)
    with pytest.warns(ReidbnWarning, match="damaged; it is computed again"):
        again = assessed(tmp_path)
    assert np.array_equal(again.subjects, fresh.subjects)
    assert np.array_equal(assessed(tmp_path).subjects, fresh.subjects)  # and mended, silently


def test_a_block_under_anothers_name_is_noticed(tmp_path):
    assessed(tmp_path)
    one, other, *_ = sorted(tmp_path.glob("*.npy"))
    other.write_bytes(one.read_bytes())
    with pytest.warns(ReidbnWarning, match=other.name):
        again = assessed(tmp_path)
    assert np.array_equal(again.subjects, assessed().subjects)


def test_the_shell_says_in_one_line_that_a_block_was_damaged(tmp_path, capsys):
    words = ["assess", "synthetic:50", "--qi", "age,sex", "--population", "500", "--attack",
             "adversary-routes", "--rows", "100000", "--checkpoint", str(tmp_path)]  # fmt: skip
    with pytest.raises(SystemExit):
        main(words)
    for block in tmp_path.glob("*.npy"):
        zeroed(block)
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr().err
    assert ended.value.code == 0
    assert "reidbn: note: the finished block" in said
    assert "blocks.py" not in said


# -- code of others: a registered function, a kind of another package ------------------------------

OTHERS = """
schema_version: 1
name: visitor
title: t
story: s
sources: [x]
parameters:
  p_looks: {{value: 0.5, range: [0, 1], source: x}}
subject:
  class_size: {{per: known, unit: records, range: [1, 1000000], story: s}}
groups:
  known: {{story: s, members: [a, b], probability: 0.5, source: x}}
nodes:
  looks: {{story: s, cpd: {{kind: probability, p: $p_looks}}}}
  right: {{story: s, parents: [known], cpd: {{kind: one-over, of: "@class_size"}}}}
  extra: {{story: s, parents: [known], cpd: {{{cpd}}}}}
  named: {{story: s, parents: [right, extra, looks], cpd: {{kind: and}}}}
questions:
  risk: {{target: named=yes}}
"""
CHANGES = {"share": 0.2}  # what code of somebody else reads, and no text of an attack shows


@rb.cpd.cpd_function("by-another-number")
def by_another_number(known):
    return CHANGES["share"] * (known >= 1)


@dataclass(frozen=True)
class Edge(rb.cpd.CPD):
    """Yes with a share that stands elsewhere."""

    kind: ClassVar[str] = "edge"

    def probabilities(self, scope):
        return yes_no(scope.child, CHANGES["share"] + 0.0 * scope.number("known"))


@pytest.mark.parametrize("cpd", ["kind: function, name: by-another-number", "kind: edge"])
def test_a_block_of_code_that_changed_elsewhere_is_not_served(cpd, tmp_path, monkeypatch):
    (tmp_path / "visitor.yaml").write_text(OTHERS.format(cpd=cpd))
    attack = rb.load(tmp_path / "visitor.yaml", kinds={"edge": Edge})
    known = {"age": 0.5, "race": 0.5, "sex": 0.0}

    def risk(folder):
        return rb.assess(attack, people(), known=known, checkpoint=folder).risk()

    first = risk(tmp_path / "kept")
    blocks = {*(tmp_path / "kept").glob("*.npy")}
    assert np.array_equal(risk(tmp_path / "kept"), first)
    assert {*(tmp_path / "kept").glob("*.npy")} == blocks  # unchanged code goes on
    monkeypatch.setitem(CHANGES, "share", 0.9)
    assert np.array_equal(risk(tmp_path / "kept"), risk(None))
    assert risk(tmp_path / "kept") == pytest.approx(4.5 * first, rel=1e-12)


# -- what is printed -------------------------------------------------------------------------------


def test_the_crosscheck_compares_the_numbers_that_are_printed():
    result = assessed()
    assert result.check(draws=60_000, seed=1).passed
    silent = replace(result, risks={m: np.zeros_like(v) for m, v in result.risks.items()})
    with pytest.raises(CrosscheckFailed, match="FAILED"):
        silent.check(draws=60_000, seed=1)


def test_the_crosscheck_of_people_who_are_all_alike_compares_the_printed_number_too():
    table = People.from_codes(np.zeros((20, 2), dtype=int), ["age", "sex"])
    result = rb.assess("adversary-routes", table, population=500)
    assert result.check(draws=60_000, seed=1).passed
    risks = {**result.risks, "overall": result.risks["overall"] / 2}
    with pytest.raises(CrosscheckFailed, match="the numbers printed"):
        replace(result, risks=risks).check(draws=60_000, seed=1)


@pytest.mark.parametrize("bad", [-0.01, 1.01, np.nan, np.inf])
def test_a_result_with_a_risk_outside_0_to_1_is_not_born(bad):
    result = assessed()
    wrong = result.risks["overall"].copy()
    wrong[0] = bad
    with pytest.raises(EngineError, match="no number between 0 and 1"):
        replace(result, risks={**result.risks, "overall": wrong})


def test_a_result_without_a_risk_for_somebody_is_not_born():
    result = assessed()
    with pytest.raises(EngineError, match="risks for"):
        replace(result, risks={"overall": result.risks["overall"][:-1]})


# -- tables of facts -------------------------------------------------------------------------------

FILE = """schema_version: 1
kind: scenario
name: listed
facts: {lists: lists.csv}
knows:
  attributes:
    age: {chance: {table: lists, column: p, by: [sex]}, source: s}
"""


def test_two_rows_with_the_same_key_in_a_scenarios_facts_are_refused(tmp_path):
    (tmp_path / "s.yaml").write_text(FILE)
    (tmp_path / "lists.csv").write_text("sex,p\n0,0.6\n1,0.5\n0,0\n")
    with pytest.raises(ModelError, match=r"lists.csv: row 3 repeats the sex of an earlier row"):
        load_scenario(tmp_path / "s.yaml")
    (tmp_path / "lists.csv").write_text("sex,p\nM,0.6\nm,0.5\n")  # keys are compared without case
    with pytest.raises(ModelError, match="row 2 repeats"):
        load_scenario(tmp_path / "s.yaml")


def test_two_rows_with_the_same_key_are_refused_in_python_too():
    facts = {"lists": {"sex": [0, 1, 0], "p": [0.6, 0.5, 0.0]}}
    known = Known("age", ("age",), (FactLookup("lists", "p", ("sex",)),))
    with pytest.raises(ModelError, match=r"table lists: row 3 repeats the sex"):
        assessed(scenario=Scenario("x", knows=Knows((known,), Listed()), facts=facts))


def test_a_table_of_facts_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "s.yaml").write_text(FILE)
    (tmp_path / "lists.csv").write_text("sex,p\n0,0.6\n1,0.5\n", encoding="utf-8-sig")
    assert read_facts(tmp_path / "lists.csv")["sex"] == ["0", "1"]
    result = assessed(scenario=load_scenario(tmp_path / "s.yaml"), unknown=["race", "sex"])
    assert set(result.groups.placed[0].p) == {0.6, 0.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"sex,p\n0,high\n1,0.5\n", "p of row 1 is not a number"),
        (b"sex,p\n0,nan\n1,0.5\n", "p of row 1 is not a number"),
        (b"sex,p,p\n0,0.5,1\n", 'two columns "p"'),
        ("sex,p\nweiß,0.5\n".encode("latin-1"), "not written in UTF-8"),
    ],
)
def test_a_table_of_facts_that_cannot_be_read_one_way_is_refused(text, message, tmp_path):
    (tmp_path / "s.yaml").write_text(FILE)
    (tmp_path / "lists.csv").write_bytes(text)
    with pytest.raises(ModelError, match=message):
        load_scenario(tmp_path / "s.yaml")


# -- what is given, of many people -----------------------------------------------------------------

HALF_KNOWN = {"age": 0.5, "race": 0.5, "sex": 0.5}


@pytest.mark.parametrize(
    "given", [{"claims": "yes"}, {"right_guess": "no"}, {"claims": {"yes": 0.8, "no": 0.3}}]
)
def test_risks_of_who_has_learnt_something_are_cross_checked(given):
    """False alarm: one in a million a check."""
    result = assessed(known=HALF_KNOWN, given=given)
    check = result.check(draws=20_000, subjects=3)
    assert check.passed
    assert check.compared.is_all
    assert any("where the evidence fits" in cell.what for cell in check.cells)
    wrong = replace(result, risks={**result.risks, "overall": 0.05 + 0.7 * result.risks["overall"]})
    found = wrong.keep_crosscheck(draws=20_000)
    assert found.compared.differing > 0
    assert found.disagreements  # the sample alone sees it, too
    with pytest.raises(CrosscheckFailed):
        wrong.check(draws=20_000, subjects=3)


def test_a_report_on_what_cannot_be_learnt_in_the_worst_case_is_written(tmp_path):
    result = assessed(known=HALF_KNOWN, given={"right_guess": "no"})
    result.keep_crosscheck(draws=20_000)
    said = r"question risk, scenario worst-case: the evidence right_guess=no is impossible for"
    with pytest.raises(ImpossibleEvidence, match=said):
        rb.what_if(result, scenario="worst-case")
    page = result.report(tmp_path / "page.md").read_text()
    assert "The worst case is not beside it" in page
    assert "run forward" in page
    assert "many subjects" not in page
    with pytest.raises(UsageError, match="forward, without evidence"):
        act_out(result)


def test_an_attack_is_not_acted_out_where_do_changes_what_is_not_acted():
    result = rb.assess("adversary-routes", people(), population=500, do={"right_guess": "no"})
    with pytest.raises(UsageError, match="do= sets right_guess"):
        act_out(result)


ONE_BY_NAME = """
schema_version: 1
name: nosy
subject: {class_size: {per: known, unit: records}}
groups: {known: {members: {age: 0.9, sex: 0.5}, source: assumption}}
nodes:
  asks: {parents: [age], rows: [{when: {age: yes}, p: {yes: 0.5, no: rest}},
                                {p: {yes: 0.1, no: rest}}], source: assumption}
  guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  named: {parents: [asks, guess], cpd: {kind: and}}
questions: {risk: {target: named=yes}}
"""


def test_a_report_on_an_attack_that_no_other_scenario_fits_is_written(tmp_path):
    frame = pd.DataFrame({"age": [1, 1, 2], "sex": list("mmf")})
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])
    result = rb.assess(rb.loads(ONE_BY_NAME), people)
    result.keep_crosscheck(draws=20_000)
    with pytest.raises(UsageError, match="call that member knows_age in the model"):
        rb.what_if(result, scenario="worst-case")
    page = result.report(tmp_path / "page.md").read_text()
    assert "The worst case is not beside it: nosy: node" in page
