"""Policies that are worth the same to the attacker: every gate takes that with the highest risk."""

import json
from functools import reduce

import numpy as np
import pytest

import reidbn as rb
from reidbn.cli import main
from reidbn.inference.interchange import export_text
from tests.decision_oracle import Diagram
from tests.inside import inside
from tests.test_decide import small
from tests.test_policy_of_one import TIE

ALIKE = TIE.replace("PHONE", "30")  # by phone .5, on the web .25 (which is taken)


@pytest.fixture
def tie(tmp_path):
    file = tmp_path / "tie.yaml"
    file.write_text(ALIKE)
    return str(file)


def evidence(rng, diagram):
    """Nothing, or a node after the decisions, which may have another chance under each policy."""
    states = {n: "no" if n == "e0" else "yes" for n in diagram.file["nodes"]}
    node = str(rng.choice([*states]))  # the target itself, too: then it is not
    return {node: states[node]} if rng.random() < 0.5 else {}


def against_every_policy(diagrams, seed, **how):
    """How many answers of random diagrams differ between policies worth the same."""
    rng = np.random.default_rng(seed)
    differ = with_evidence = 0
    for i in range(diagrams):
        words, diagram = small(rng, ties=True, forgets=bool(i % 2), **how)
        given = evidence(rng, diagram)
        try:
            answer = rb.ask(rb.loads(words), "risk", given=given)
        except rb.errors.ImpossibleEvidence:
            continue
        high, low = diagram.highest({"e0": "yes"}, given)
        told = float(answer)
        assert float(low) - 1e-12 <= told <= float(high) + 1e-12, words
        worst = told if answer.worst is None else float(answer.worst)
        assert worst == pytest.approx(float(high), abs=1e-12), (words, given)
        if high != low:
            assert answer.tied, words
        differ += high > told + 1e-12
        with_evidence += bool(given) and high > told + 1e-12
    return differ, with_evidence


def test_the_worst_of_tied_policies_is_that_of_all_policies_there_are():
    differ, with_evidence = against_every_policy(70, seed=31)
    assert differ >= 8
    assert with_evidence >= 2


@pytest.mark.slow
@pytest.mark.parametrize("decisions", [1, 2, 3])
def test_the_worst_of_tied_policies_is_that_of_all_policies_there_are_of_many(decisions):
    assert against_every_policy(150, seed=40 + decisions, decisions=decisions)[0] >= 10


def run(*words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    told = capsys.readouterr()
    return ended.value.code, told.out, told.err


def test_gates_of_answers_and_sweeps_judge_the_worst(tie, capsys):
    for limit, code in (("0.3", 1), ("0.5", 0), ("0.2", 1)):
        for words in (
            ("ask", tie, "risk"), ("ask", tie, "risk", "--engine", "sampling", "--draws", "2000"),
        ):  # fmt: skip
            found, out, _ = run(*words, "--fail-above", limit, capsys=capsys)
            assert found == code, (words, limit)
            assert "highest answer is 0.5, of the policies that are worth the same" in out
        found, out, err = run("ask", tie, "risk", "--quiet", "--fail-above", limit, capsys=capsys)
        assert found == code
        assert "Tied: at way" in err
        assert "the highest is 0.5" in err
        assert "Tied" not in out
        found, out, _ = run("ask", tie, "risk", "--json", "--fail-above", limit, capsys=capsys)
        told = json.loads(out)
        assert (found, told["fail_above"]["exceeded"]) == (code, bool(code))
        assert (told["tied"], told["worst_of_tied"]) == (["way"], 0.5)
    given = ("ask", tie, "risk", "--policy", "way=web", "--fail-above", "0.3")
    assert run(*given, capsys=capsys)[0] == 0


SWEPT = reduce(lambda text, change: text.replace(*change, 1), [
    ("schema_version: 1", """schema_version: 1
parameters: {p: {value: 0.5, range: [0, 1], unit: probability, source: assumption},
             fee: {value: 5, range: [0, 10], unit: euro, source: assumption}}
numbers: {loss: "-fee"}"""),
    ("value: -5}", "value: $loss}"),
    ("questions: {risk: {target: found=yes}}", """\
  known: {parents: [found], cpd: {kind: probability, p: $p, only_if: [found]}}
questions: {risk: {target: known=yes}}"""),
], ALIKE)  # fmt: skip


def test_a_sweep_shows_the_worst_where_policies_are_tied(tmp_path, capsys):
    file = tmp_path / "swept.yaml"
    file.write_text(SWEPT)
    with pytest.warns(rb.errors.ReidbnWarning, match="Tied"):
        table = rb.sweep(str(file), "risk", {"fee": [4, 5, 6]})
    # at 5 both pay 20: the web is taken; above it the phone pays more
    assert table["probability"].tolist() == [0.125, 0.125, 0.25]
    assert table["worst_tied"].tolist() == [0.125, 0.25, 0.25]
    assert "worst_tied" not in rb.sweep(str(file), "risk", {"fee": [4, 6]})
    over = ("sweep", str(file), "risk", "--over", "fee=4,5", "--fail-above", "0.2")
    code, out, _ = run(*over, "--json", capsys=capsys)
    told = json.loads(out)
    assert code == 1
    assert told["fail_above"] == {
        "limit": 0.2, "exceeded": True,
        "found": "the highest answer is 0.25, of the policies that are worth the same to the "
        "attacker",
    }  # fmt: skip
    assert run("sweep", str(file), "--over", "fee=4", "--fail-above", "0.2", capsys=capsys)[0] == 0


def test_what_stays_under_a_limit_does_so_under_every_tied_policy(tmp_path):
    file = tmp_path / "swept.yaml"
    file.write_text(SWEPT)
    with pytest.warns(rb.errors.ReidbnWarning, match="the highest is 0.25"):
        found = rb.solve(str(file), "risk", "p", 0.2)  # .5 p by phone, .25 p on the web
    assert found.largest == pytest.approx(0.4, abs=1e-6)
    assert float(rb.ask(str(file), "risk", set={"p": found.largest}).worst) <= 0.2 + 1e-12
    with pytest.warns(rb.errors.ReidbnWarning, match="the highest is 0.25"):
        found = rb.solve(str(file), "risk", "fee", 0.2)
    assert found.largest < 5
    for ask in (rb.tornado, rb.whatif.sobol, rb.whatif.uncertainty):
        with pytest.warns(rb.errors.ReidbnWarning, match="the highest is 0.25"):
            ask(str(file), "risk")


@pytest.mark.filterwarnings("ignore::reidbn.errors.ReidbnWarning")
def test_chances_above_and_crossings_are_of_the_worst_of_tied_policies(tmp_path):
    """By phone the answer is p/2, on the web, which is taken, p/4: P(above .2) was .2 for .6."""
    file = tmp_path / "swept.yaml"
    file.write_text(SWEPT)
    found = rb.whatif.uncertainty(str(file), "risk", over=["p"], thresholds=[0.2], draws=20_000)
    assert found.above[0.2].value == pytest.approx(0.6, abs=0.02)
    assert found.mean == pytest.approx(0.25, abs=1e-6)
    assert "every figure here is of the policy with the highest answer" in str(found)
    each = rb.whatif.subject_uncertainty(str(file), "risk", over=["p"])
    assert each["mean"].tolist() == pytest.approx([0.25], abs=1e-6)
    bars = rb.tornado(str(file), "risk", threshold=0.2)
    assert bars["p"].crossings == pytest.approx((0.4,), abs=1e-6)
    assert (bars["p"].at_high, bars.answer) == (0.5, 0.25)
    # a fee at which the web pays less: no tie where it stands, and none but at one value
    for fee, mean in ((4, 0.125), (6, 0.25)):
        found = rb.whatif.uncertainty(str(file), "risk", over=["p"], set={"fee": fee})
        assert found.mean == pytest.approx(mean, abs=1e-12)
        assert (found.method, "highest answer" in str(found)) == ("exact", False)
    assert rb.tornado(str(file), "risk", set={"fee": 4})["fee"].highest == 0.25


@pytest.mark.filterwarnings("ignore::reidbn.errors.ReidbnWarning")
def test_shares_slopes_and_comparisons_are_of_the_worst_of_tied_policies(tmp_path):
    """By phone the answer is p/2, on the web, which is taken, p/4."""
    file = tmp_path / "swept.yaml"
    file.write_text(SWEPT)
    found = rb.sobol(str(file), "risk", over=["p"])
    assert found.mean == pytest.approx(0.25, abs=1e-9)
    assert found.sd == pytest.approx(0.5 / 12**0.5, abs=1e-9)
    assert "every figure here is of the policy with the highest answer" in str(found)
    assert rb.whatif.derivative(str(file), "risk", "p") == pytest.approx(0.5, abs=1e-9)
    both = rb.compare(str(file), "risk", {}, {"set": {"fee": 4}})
    assert (both.answer_before, both.answer_after) == (0.25, 0.125)
    # without a tie they are of the only best policy, as they were
    assert rb.sobol(str(file), "risk", over=["p"], set={"fee": 4}).mean == pytest.approx(0.125)
    assert rb.whatif.derivative(str(file), "risk", "p", set={"fee": 4}) == pytest.approx(0.25)


def test_an_export_of_a_decided_attack_says_where_he_is_indifferent(tmp_path):
    file = tmp_path / "swept.yaml"
    file.write_text(SWEPT)
    told = "way: (Another option is worth the same to the attacker"
    for fee, is_tied in ((5, True), (4, False)):
        attack = rb.decide(str(file), "risk", set={"fee": fee}).attack
        for form in ("bif", "xdsl", "xmlbif"):
            assert (told in export_text(attack, form)) == is_tied
        assert ("worth the same" in rb.dumps(attack)) == is_tied


OF_PEOPLE = """
schema_version: 1
name: tie-people
title: tie
story: By phone or on the web, which pay alike
sources: [me]
subject: {class_size: {per: known, unit: records, range: [1, 1000000]}}
groups: {known: {members: [known_age, known_sex], probability: [1, 1], source: assumption}}
decisions:
  way: {options: [no, phone, web], story: Which way, source: assumption}
utilities:
  gain: {of: [way], unit: euro, source: assumption,
         rows: [{when: {way: phone}, value: 20}, {when: {way: web}, value: 20}, {value: 0}]}
nodes:
  guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  tried: {parents: [way], source: assumption, rows: [
    {when: {way: phone}, p: {yes: 0.8, no: 0.2}}, {when: {way: web}, p: {yes: 0.2, no: 0.8}},
    {p: {yes: 0, no: 1}}]}
  identified: {parents: [tried, guess], cpd: {kind: and}}
questions: {risk: {target: identified=yes}}
"""


def test_gates_and_verdicts_of_a_table_judge_the_worst(tmp_path, capsys):
    file = tmp_path / "tie-people.yaml"
    file.write_text(OF_PEOPLE)
    table = rb.datasets.synthetic_patients(30, seed=1)
    table.to_csv(tmp_path / "people.csv", index=False)
    people = rb.read_table(table, quasi_identifiers=["age", "sex"])
    with pytest.warns(rb.errors.ReidbnWarning, match="Tied: at way"):
        result = rb.assess(str(file), people, known=["age", "sex"])
    taken = result.taken["overall"][result.subject_table.of_person]
    most = float(taken.max())
    assert result.risk() == pytest.approx(4 * taken)
    assert any("Tied" in note for note in result.groups.notes)
    between = most * 2
    words = ("assess", str(tmp_path / "people.csv"), "--qi", "age,sex", "--attack",
             str(file), "--known", "age,sex", "--check-draws", "10000")  # fmt: skip
    code, out, _ = run(*words, "--fail-above", f"{between:g}", capsys=capsys)
    assert code == 1, out
    assert "of the policies that are worth the same" in out
    assert run(*words, "--fail-above", f"{most * 4.01:g}", capsys=capsys)[0] == 0
    code, out, _ = run(*words, "--threshold", f"overall={between:g}", capsys=capsys)
    assert code == 1
    assert "of the policies that are worth the same" in " ".join(out.split())


@pytest.mark.filterwarnings("ignore::reidbn.errors.ReidbnWarning")
def test_ties_of_a_table_are_asked_once_for_all_measures(tmp_path, monkeypatch):
    """Once for each measure they took 1.55 times the CPU of the assessment."""
    file = tmp_path / "tie-people.yaml"
    risk = "questions: {risk: {target: identified=yes}"
    file.write_text(OF_PEOPLE.replace(risk, f"{risk}, tried: {{target: tried=yes}}"))
    table = rb.datasets.synthetic_patients(30, seed=1)
    people = rb.read_table(table, quasi_identifiers=["age", "sex"])
    worst, asked = inside(inside(rb.solve).say_tied), []
    tied = worst.tied
    monkeypatch.setattr(worst, "tied", lambda *a: asked.append(a) or tied(*a))
    result = rb.assess(str(file), people, known=["age", "sex"])
    assert {"overall", "tried"} <= {*result.measures}
    assert any("Tied at way" in note or "Tied: at way" in note for note in result.groups.notes)
    assert len(asked) == 1


def test_a_plan_keeps_its_limits_under_the_worst_of_tied_policies(tmp_path):
    file = tmp_path / "tie-people.yaml"
    file.write_text(OF_PEOPLE)
    people = rb.read_table(
        rb.datasets.synthetic_patients(30, seed=1), quasi_identifiers=["age", "sex"],
        hierarchies={"age": rb.Bands(10, 20)},
    )  # fmt: skip
    with pytest.warns(rb.errors.ReidbnWarning, match="Tied: at way"):
        plan = rb.recommend(people, str(file), target={"overall": 0.3}, known=["age", "sex"])
    assert plan.best is not None
    smallest = plan.apply().class_sizes().min()
    assert 0.8 / smallest <= 0.3  # of the policy that is taken, .2 / 1 had kept it as it was


SIGN = """
schema_version: 1
name: sign
title: sign
story: A sign that his model rules out
sources: [me]
nodes:
  cause: {source: assumption, cpd: {kind: probability, p: 0}}
  found: {parents: [way], source: assumption, rows: [
    {when: {way: phone}, p: {yes: 0.5, no: 0.5}}, {when: {way: web}, p: {yes: 0.25, no: 0.75}},
    {p: {yes: 0, no: 1}}]}
decisions:
  way: {options: [no, phone, web], sees: [cause], story: Which way, source: assumption}
utilities:
  gain: {of: [found, cause, way], unit: euro, source: assumption, rows: [
    {when: {found: yes, cause: no}, value: 100}, {value: 0}]}
questions: {risk: {target: found=yes}}
"""


def test_what_his_model_rules_out_is_tied_where_it_is_brought_about(tmp_path, capsys):
    file = tmp_path / "sign.yaml"
    file.write_text(SIGN)
    as_it_is = rb.ask(str(file), "risk")
    assert (float(as_it_is), as_it_is.tied, as_it_is.worst) == (0.5, (), None)
    done = rb.ask(str(file), "risk", do={"cause": "yes"})
    assert (float(done), done.tied, float(done.worst)) == (0.25, ("way",), 0.5)
    words = ("ask", str(file), "risk", "--do", "cause=yes", "--fail-above", "0.3")
    assert run(*words, capsys=capsys)[0] == 1


LOGGED = """
schema_version: 1
name: logged
parameters: {b: {value: B, range: [0, 1], source: assumption}}
decisions:
  way: {options: [no, phone, web], story: Which way, source: assumption}
utilities:
  gain: {of: [way], unit: euro, source: assumption, rows: [
    {when: {way: no}, value: 0}, {value: 20}]}
nodes:
  log: {parents: [way], source: assumption, rows: [
    {when: {way: phone}, p: [0, 1]}, {when: {way: web}, p: {yes: $b, no: rest}}, {p: [1, 0]}]}
  found: {parents: [way, log], source: assumption, rows: [
    {when: {way: phone}, p: [0.1, 0.9]}, {p: [0.8, 0.2]}]}
questions: {risk: {target: found=yes, given: {log: yes}}}
"""


def test_evidence_that_only_another_tied_policy_lets_happen(tmp_path, capsys):
    """By phone there is a log and an answer of .9; on the web, which is taken, there is none."""
    file = tmp_path / "logged.yaml"
    for b in ("0", "0.5"):
        file.write_text(LOGGED.replace("B,", f"{b},"))
        told = "at way another option is worth the same to the attacker and has an answer"
        for more in ((), ("--engine", "enumeration")):
            words = ("ask", str(file), "risk", "--set", "b=0", *more, "--fail-above", "0.5")
            code, _, err = run(*words, capsys=capsys)
            assert code == 2
            assert told in err
            assert "(--policy)" in err
        swept = ("sweep", str(file), "risk", "--over", "b=0,0.5", "--fail-above", "0.5")
        code, _, err = run(*swept, capsys=capsys)
        assert (code, told in err, "leave such" in err) == (2, True, False)
        code, out, _ = run(*swept, "--impossible", "null", "--json", capsys=capsys)
        assert code == 1
        rows = json.loads(out)["rows"]
        assert [(row["probability"], row["worst_tied"]) for row in rows] == [
            (None, 0.9),
            (0.2, 0.9),
        ]
        with pytest.raises(rb.errors.ImpossibleEvidence, match="at way another option is worth"):
            rb.decide(str(file), "risk", set={"b": 0})
        found = rb.ask(str(file), "risk", set={"b": 0}, policy={"way": "phone"})
        assert float(found) == pytest.approx(0.9, abs=1e-15)
        with pytest.warns(rb.errors.ReidbnWarning, match="the highest is 0.9"):
            solved = rb.solve(str(file), "risk", "b", 0.5)
        assert (solved.status, solved.under) == ("above at all values looked at", ())
    # an only policy: such settings are left out, as they were
    file.write_text(LOGGED.replace("{value: 20}", "{when: {way: web}, value: 20}, {value: 10}"))
    file.write_text(file.read_text().replace("B,", "0,"))
    assert "worth the same" not in run("ask", str(file), "risk", capsys=capsys)[2]
    swept = ("sweep", str(file), "risk", "--over", "b=0,0.5")
    assert "leave such settings out" in run(*swept, capsys=capsys)[2]


def test_where_the_answer_is_the_highest_that_is_said(tmp_path, capsys):
    file = tmp_path / "level.yaml"
    file.write_text(ALIKE.replace("[no, phone, web]", "[no, web, phone]"))
    answer = rb.ask(str(file), "risk")
    assert (answer.tied, float(answer), float(answer.worst)) == (("way",), 0.5, 0.5)
    out = run("ask", str(file), "risk", capsys=capsys)[1]
    assert "Tied: at way" in out
    assert "under it the answer is no higher" in out
    assert "the highest is" not in out


def sharpened(diagram, rng):
    """With many rows that are certain, so that much evidence is impossible under some policy."""
    file = json.loads(json.dumps(diagram.file))
    for spec in file["nodes"].values():
        for row in spec.get("rows", []):
            hot = rng.integers(len(row["p"]))
            if rng.random() < 0.6:
                row["p"] = [int(i == hot) for i in range(len(row["p"]))]
    return json.dumps(file)


@pytest.mark.slow
def test_the_tie_is_named_just_where_another_policy_has_an_answer_above_nothing():
    rng = np.random.default_rng(1)
    named = []
    for i in range(120):
        _, diagram = small(rng, ties=True, forgets=bool(i % 2))
        words = sharpened(diagram, rng)
        attack, diagram = rb.loads(words), Diagram.read(words)
        for node, state in ((n, s) for n in diagram.file["nodes"] for s in diagram.states(n)):
            try:
                rb.ask(attack, "risk", given={node: state})
            except rb.errors.ImpossibleEvidence as refused:
                said = "worth the same" in str(refused)
            else:
                continue
            try:
                high = diagram.highest({"e0": "yes"}, {node: state})[0]
            except ValueError:  # impossible under every best policy
                high = 0
            named.append(said)
            assert said == (high > 0), words
    assert sum(named) >= 4
    assert len(named) - sum(named) >= 50


@pytest.mark.parametrize("width", [0.004, 1e-5])
def test_a_tie_over_a_short_stretch_between_kinks_is_found_along_a_range(width):
    """By phone costs as much as on the web for fees of 5.1 to 5.1 + width alone."""
    flat = f'loss: "0 - min(fee - 0.1, 5) - max(0, fee - {5.1 + width!r})"'
    attack = rb.loads(
        SWEPT.replace('loss: "-fee"', flat).replace("fee: {value: 5,", "fee: {value: 2,")
    )
    with pytest.warns(rb.errors.ReidbnWarning, match="every figure here is of the policy"):
        found = rb.tornado(attack, "risk", over=["fee"])
    assert found["fee"].highest == pytest.approx(0.25)
    middle = rb.ask(attack, "risk", set={"fee": 5.1 + width / 2})
    assert float(middle.worst) == pytest.approx(0.25)  # which is what was to be found
    assert float(middle) == pytest.approx(0.125)
