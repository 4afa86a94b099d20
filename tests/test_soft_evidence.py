"""Uncertain reports: in Python, in a model file's questions, in the shell, in what-if, in assess.

Oracle: Bayes' rule written out, with the likelihoods as the file or the call gives them.
"""

import pytest

import reidbn as rb
from reidbn.attack import Attack, Node, Parameter, Question, loads, parse_given
from reidbn.cli import main
from reidbn.cpds import Row, Rows, Uniform
from reidbn.errors import ModelError, UsageError
from reidbn.microdata import People

YES_NO = ("no", "yes")
SAID = {"yes": 0.8, "no": 0.1}


def story(*others: Node, **more) -> Attack:
    """a happens or not; b follows it."""
    return Attack(
        "story",
        nodes=[
            Node("a", YES_NO, Rows((Row({"yes": "$p", "no": "rest"}),)), source="assumption"),
            Node("b", YES_NO, Rows((Row({"yes": 0.9, "no": 0.1}, {"a": "yes"}),
                                    Row({"yes": 0.2, "no": 0.8}))), ("a",), source="assumption"),
            *others,
        ],
        parameters=[Parameter("p", 0.3, source="assumption")],
        **more,
    )  # fmt: skip


def bayes(p: float = 0.3) -> float:
    """P(b=yes | the report on a)."""
    yes, no = 0.8 * p, 0.1 * (1 - p)
    return (0.9 * yes + 0.2 * no) / (yes + no)


def test_soft_evidence_leaves_an_authors_own_report_alone():
    own = Node("a_report", YES_NO, Rows((Row({"yes": 0.6, "no": 0.4}, {"b": "yes"}),
                                         Row({"yes": 0.05, "no": 0.95}))), ("b",),
               source="assumption")  # fmt: skip
    attack = story(own)
    for engine in ("exact", "pgmpy", "enumeration"):
        answer = rb.ask(attack, "a_report=yes", given={"a": SAID}, engine=engine)
        assert float(answer) == pytest.approx(0.6 * bayes() + 0.05 * (1 - bayes()), abs=1e-12)
    both = rb.ask(attack, "b=yes", given={"a": SAID, "a_report": "yes"})
    likely = 0.6 * bayes() / (0.6 * bayes() + 0.05 * (1 - bayes()))
    assert float(both) == pytest.approx(likely, abs=1e-12)
    assert both.query.describe() == "P(b=yes | a=yes:0.8,no:0.1, a_report=yes)"


def test_a_state_left_out_of_a_report_is_refused_and_so_is_one_that_is_not():
    with pytest.raises(UsageError, match="the evidence on a says nothing of no"):
        rb.ask(story(), "b=yes", given={"a": {"yes": 0.8}})
    with pytest.raises(UsageError, match='a has no state "maybe"'):
        rb.ask(story(), "b=yes", given={"a": {**SAID, "maybe": 0.1}})
    for wrong in (1.5, -0.1, float("nan"), "much"):
        with pytest.raises(UsageError, match="must lie between 0 and 1"):
            rb.ask(story(), "b=yes", given={"a": {"yes": wrong, "no": 0.1}})
    with pytest.raises(UsageError, match='no node "c"'):
        rb.ask(story(), "b=yes", given={"c": SAID})


def test_a_report_on_a_count_names_every_count_that_there_is():
    attack = Attack(
        "counts",
        nodes=[Node("h", "0..$most", Uniform(), source="assumption")],
        parameters=[Parameter("most", 2, 1, 3, "people", source="assumption")],
    )
    said = {"0": 0.1, "1": 0.2, "2": 0.3}
    assert float(rb.ask(attack, "h=2", given={"h": said})) == pytest.approx(0.5, abs=1e-12)
    with pytest.raises(UsageError, match="the evidence on h says nothing of 3"):
        rb.ask(attack, "h=2", given={"h": said}, set={"most": 3})
    more = {**said, "3": 0.4}
    found = rb.sweep(attack, "h=1", {"most": [2, 3]}, given={"h": more})["probability"]
    assert found.tolist() == pytest.approx([1 / 3, 0.2], abs=1e-12)
    with pytest.raises(UsageError, match=r"has the states 0\.\.\$most, not many"):
        rb.ask(attack, "h=2", given={"h": {**said, "many": 1}})


FILE = """
schema_version: 1
name: story
parameters:
  p: {value: 0.3, source: assumption}
nodes:
  a: {rows: [{p: {yes: $p, no: rest}}], source: assumption}
  b:
    parents: [a]
    rows:
      - {when: {a: yes}, p: {yes: 0.9, no: 0.1}}
      - {p: {yes: 0.2, no: 0.8}}
    source: assumption
questions:
  risk: {target: b=yes, given: {a: {yes: 0.8, no: 0.1}}}
  sure: {target: b=yes, given: {a: yes}}
"""


def test_a_model_files_question_holds_a_report_and_every_asker_follows_it(capsys):
    attack = loads(FILE)
    assert float(rb.ask(attack)) == pytest.approx(bayes(), abs=1e-12)
    assert float(rb.ask(attack, "sure")) == pytest.approx(0.9, abs=1e-12)
    assert loads(rb.dumps(attack)) == attack
    assert "given: {a: {yes: 0.8, no: 0.1}}" in rb.dumps(attack)
    ends = [rb.tornado(attack).bars[0].lowest, rb.tornado(attack).bars[0].highest]
    assert ends == pytest.approx([0.2, 0.9], abs=1e-9)
    swept = rb.sweep(attack, grid={"p": [0.1, 0.5]})["probability"].tolist()
    assert swept == pytest.approx([bayes(0.1), bayes(0.5)], abs=1e-12)
    solved = rb.solve(attack, parameter="p", target=bayes(0.5))
    assert list(solved.values) == pytest.approx([0.5], abs=1e-9)
    assert rb.crosscheck(attack, draws=20_000, seed=2).passed
    changed = rb.compare(attack, before={}, after={"given": {"a": {"yes": 0.1, "no": 0.8}}})
    assert "0.9" not in str(changed.before)


@pytest.mark.parametrize(
    ("given", "message"),
    [("{a: {yes: 0.8}}", "says nothing of no"), ("{a: {yes: 0.8, no: 0.1, odd: 0}}", "no state"),
     ("{a: {yes: 8, no: 0.1}}", "between 0 and 1"), ("{a: {yes: high, no: 0.1}}", "number"),
     ("{c: {yes: 0.8, no: 0.1}}", 'unknown node "c"'), ("{a: [yes]}", "text")],
)  # fmt: skip
def test_a_report_in_a_model_file_that_cannot_be_is_refused_at_its_line(given, message):
    wrong = FILE.replace("{a: {yes: 0.8, no: 0.1}}", given)
    with pytest.raises(ModelError, match=message) as refused:
        loads(wrong)
    assert "questions.risk" in str(refused.value)


def test_the_shell_takes_a_report(tmp_path, capsys):
    path = tmp_path / "story.yaml"
    path.write_text(FILE)
    for words in (["sure", "--given", "a=yes:0.8,no:0.1"], []):
        with pytest.raises(SystemExit) as ended:
            main(["ask", str(path), *words, "--json"])
        shown = capsys.readouterr()
        assert ended.value.code == 0, shown.err
        assert f"{bayes():.9g}"[:9] in shown.out
    with pytest.raises(SystemExit) as ended:
        main(["ask", str(path), "b=yes", "--do", "a=yes:0.8,no:0.1"])
    assert ended.value.code == 2
    with pytest.raises(SystemExit) as ended:
        main(["ask", str(path), "b=yes", "--given", "a=yes:0.8,no:0.1", "--quiet"])
    assert "given that a=yes:0.8,no:0.1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a=yes", {"a": "yes"}),
        ("a=10:30, b=no", {"a": "10:30", "b": "no"}),
        ("b=no,a=yes:0.8,no:0.1,c=x", {"b": "no", "a": SAID, "c": "x"}),
    ],
)
def test_evidence_is_read_as_it_is_written(text, read):
    assert parse_given(text) == read


@pytest.mark.parametrize("text", ["a=yes:0.8,no", "a=yes:0.8,yes:0.1", "a=yes,a=yes:0.8,no:0.1",
                                  "a=yes:0.8,no:often"])  # fmt: skip
def test_evidence_that_cannot_be_read_is_refused(text):
    with pytest.raises(UsageError):
        parse_given(text)


def test_an_assessment_takes_reports_of_its_questions_and_of_the_call():
    attack = rb.load("leak-partial")
    attack = attack.replace(questions=[attack.questions["risk"]])
    people = People.from_codes([[0], [1], [1]], ["town"])
    how = {"set": {"leaked": 3, "records": 10}}
    said = {"in_leak": {"yes": 0.8, "no": 0.1}}
    hard = rb.assess(attack, people, **how, given={"in_leak": "yes"}).risk()
    soft = rb.assess(attack, people, **how, given=said).risk()
    never = rb.assess(attack, people, **how, given={"in_leak": {"yes": 1.0, "no": 0.0}}).risk()
    assert never == pytest.approx(hard, abs=1e-12)
    assert ((soft < hard) & (soft > 0)).all()
    own = Question("risk", attack.questions["risk"].target, said)
    asked = attack.replace(questions=attack.questions.replace(own))
    assert rb.assess(asked, people, **how).risk() == pytest.approx(soft, abs=1e-12)
