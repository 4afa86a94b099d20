"""Numbers about people that the call gives: whose each is, and how long it holds."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn as shell

SEEN = """
schema_version: 1
name: seen
title: seen
story: seen
sources: [me]
subject:
  class_size: {per: known, unit: records}
  shown: {each: known, unit: probability, range: [0, 1]}
  homes: {over: home, unit: probability}
groups:
  known:
    members:
      age: {rows: [{p: {yes: "@shown", no: rest}}]}
      job: {rows: [{p: {yes: "@shown", no: rest}}]}
    source: assumption
nodes:
  home: {states: [flat, house], cpd: {kind: measured, p: "@homes"}}
  guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  named: {parents: [guess, home],
          rows: [{when: {guess: yes, home: house}, p: {yes: 1}}, {p: {no: 1}}]}
questions: {risk: {target: named=yes}}
"""
TABLE = pd.DataFrame({"id": list("abcd"), "age": [1, 1, 2, 2], "job": ["x", "y", "y", "y"]})
SHOWN = pd.DataFrame({"age": [1.0] * 4, "job": [0.0] * 4}, index=TABLE.id)
HOMES = pd.DataFrame({"flat": [0.1] * 4, "house": [0.9] * 4}, index=TABLE.id)


@pytest.fixture
def seen():
    return rb.attack.loads(SEEN)


def people():
    return rb.read_table(TABLE, quasi_identifiers=["age", "job"], subject_id="id")


def risks(attack, **subject):
    return rb.assess(attack, people(), subject=subject).risk().tolist()


def test_columns_of_a_frame_are_taken_by_their_names(seen):
    right = [0.45] * 4  # .9 of being at home in a house, one of two by age
    turned = {"shown": SHOWN[["job", "age"]].iloc[::-1], "homes": HOMES[["house", "flat"]]}
    for given in ({"shown": SHOWN, "homes": HOMES}, turned,
                  {"shown": SHOWN.to_numpy(), "homes": HOMES.to_numpy()},
                  {"shown": pd.DataFrame(SHOWN.to_numpy()), "homes": HOMES}):  # fmt: skip
        assert risks(seen, **given) == pytest.approx(right)
    one = {"class_size": [4, 2, 3, 1], "shown": pd.Series({"job": 0.0, "age": 1.0}),
           "homes": pd.Series({"house": 0.9, "flat": 0.1})}  # fmt: skip
    assert float(rb.ask(seen, "risk", subject=one)) == pytest.approx(0.45)


def test_subsets_of_what_is_known_may_be_named_too():
    attack = rb.load("prosecutor")
    members = attack.groups[attack.subject["class_size"].axes[0]].members
    sizes = [64.0 / (1 + i) for i in range(1 << len(members))]
    names = [" with ".join(m for j, m in enumerate(members) if i >> j & 1) or "nothing"
             for i in range(len(sizes))]  # fmt: skip
    order = np.random.default_rng(1).permutation(len(sizes))
    named = pd.DataFrame([np.array(sizes)[order]], columns=[names[i] for i in order])
    asked = [float(rb.ask(attack, "risk", subject={"class_size": given}))
             for given in ([sizes], named)]  # fmt: skip
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    "names", [{"age": "height", "job": "town"}, {"age": "height"}, {"age": "job"}]
)
def test_columns_whose_names_do_not_all_fit_are_refused(seen, names):
    with pytest.raises(rb.DataError, match="name them age, job"):
        risks(seen, shown=SHOWN.rename(columns=names), homes=HOMES)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"homes": [[0.1, 0.9]] * 4}, 'needs the subject column "shown"'),
        ({}, 'needs the subject column "shown"'),
        ({"shown": [[1, 0]] * 4}, 'needs the subject column "homes"'),
        ({"shown": [1, 0], "homes": [[0.1, 0.9]] * 4}, "2 rows for 4 people"),
        ({"shown": [1, 0, 1, 0], "homes": [[0.1, 0.9]] * 4}, "one per member"),
    ],
)
def test_what_is_missing_or_has_another_shape_is_refused_in_words(seen, given, said):
    with pytest.raises(rb.DataError, match=said):
        risks(seen, **given)


def sizes(frame):
    return np.array([[len(frame), (frame.age == a).sum(), (frame.town == t).sum(),
                      ((frame.age == a) & (frame.town == t)).sum()]
                     for a, t in zip(frame.age, frame.town, strict=True)])  # fmt: skip


@pytest.mark.parametrize("change", [{"suppress": 2}, {"generalise": {"age": 1}}])
def test_class_sizes_of_the_call_are_not_carried_into_another_release(change):
    frame = pd.DataFrame({"age": ["11", "12", "21", "22"] * 4 + ["31", "32", "33", "34"],
                          "town": ["x", "x", "y", "y"] * 5})  # fmt: skip
    table = rb.read_table(frame, quasi_identifiers=["age", "town"],
                          hierarchies={"age": rb.microdata.Prefix(1)})  # fmt: skip
    counted = rb.assess("insider-decides", table)
    given = rb.assess("insider-decides", table, subject={"class_size": sizes(frame)})
    assert given.risk().tolist() == counted.risk().tolist()
    assert rb.what_if(counted, **change).risk().mean() > 0
    with pytest.raises(rb.UsageError, match="leave class_size out of subject="):
        rb.what_if(given, **change)


def test_class_sizes_of_the_call_are_of_what_was_known_then():
    frame = TABLE.assign(town=TABLE.job)
    table = rb.read_table(frame, quasi_identifiers=["age", "town"], subject_id="id")
    by_age = [[4, 2]] * 4
    given = rb.assess("insider-decides", table, known=["age"], unknown=["town"],
                      subject={"class_size": by_age})  # fmt: skip
    assert rb.what_if(given, set={"fine": 0.0}).risk().tolist()
    with pytest.raises(rb.UsageError, match="may be known is something else now"):
        rb.what_if(given, known=["town"], unknown=["age"])
    with pytest.raises(rb.UsageError, match="may be known is something else now"):
        rb.what_if(given, known=["town", "age"], unknown=[])


def test_what_the_call_says_of_a_person_stays_and_a_note_says_so(seen):
    homes = HOMES.assign(flat=[0.1, 0.2, 0.3, 0.4], house=[0.9, 0.8, 0.7, 0.6])
    before = rb.assess(seen, people(), subject={"shown": SHOWN, "homes": homes})
    after = rb.what_if(before, suppress=2)  # c and d are alike
    assert "shown was given in the call" in str(after)
    assert after.risk().tolist() == pytest.approx([0.35, 0.3])


def test_coverage_takes_functions_from_the_shell(tmp_path):
    (tmp_path / "mine.py").write_text("def a_lucky_look(home):\n    return 0.5\n")
    (tmp_path / "fn.yaml").write_text(
        "schema_version: 1\nname: fn\ntitle: fn\nstory: fn\nsources: [me]\nnodes:\n"
        "  home: {cpd: {kind: probability, p: 0.5}, source: assumption, linddun: [Identifying]}\n"
        "  named: {parents: [home], cpd: {kind: function, name: a_lucky_look}}\n"
        "questions: {risk: {target: named=yes}}\n"
    )
    asked = ["coverage", str(tmp_path / "fn.yaml")]
    done = CliRunner().invoke(shell, [*asked, "--functions", str(tmp_path / "mine.py")])
    assert done.exit_code == 0, done.output
    assert "fn: Identifying by home" in done.output


RIGHT = """
schema_version: 1
name: right
title: right
story: right
sources: [me]
subject:
  class_size: {per: known, unit: records}
  p_right: {per: [fresh, known], unit: probability, range: [0, 1]}
parameters: {p_fresh: {value: 0.6, source: assumption}}
groups:
  known: {members: [knows_age, knows_job], probability: [0.5, 0.5], source: assumption}
nodes:
  fresh: {cpd: {kind: probability, p: $p_fresh}, source: assumption}
  right: {parents: [fresh, known], cpd: {kind: probability, p: "@p_right"}}
  guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  named: {parents: [right, guess], cpd: {kind: and}, linddun: [Identifying]}
questions: {risk: {target: named=yes}}
"""
OF_SUBSETS = np.array([[0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.6, 0.8]])
CHANCES = {"age": 0.5, "job": 0.25}


def of_right(numbers, **asked):
    frame = pd.concat([TABLE] * 10, ignore_index=True).assign(id=range(40))
    table = rb.read_table(frame, quasi_identifiers=["age", "job"], subject_id="id")
    given = np.tile(numbers, (len(table), 1, 1)) * np.linspace(0.5, 1, len(table))[:, None, None]
    return rb.assess(rb.loads(RIGHT), table, subject={"p_right": given}, **asked)


def test_numbers_by_what_is_known_follow_it_into_the_worst_case(tmp_path):
    before = of_right(OF_SUBSETS, known=CHANCES)
    ends = of_right(OF_SUBSETS[:, [0, 3]], scenario="worst-case")
    found = rb.what_if(before, scenario="worst-case")
    assert found.risk().tolist() == ends.risk().tolist()
    by_age = of_right(OF_SUBSETS[:, [0, 1]], known=["age"], unknown="job")
    found = rb.what_if(before, known=["age"], unknown="job")
    assert found.risk().tolist() == by_age.risk().tolist()
    with pytest.raises(rb.UsageError, match="what is known of age, job, and what may be known is"):
        rb.what_if(ends, known=CHANCES)  # of each alone nothing was said
    for result in (before, ends):
        for ending in ("html", "md", "json"):
            for custodian in (False, True):
                assert result.report(tmp_path / f"r.{ending}", custodian=custodian).exists()
        assert result.explain(worst=1)[0].risk == pytest.approx(result.risk().max())
        assert result.crosscheck.passed


def test_a_report_says_why_the_worst_case_is_not_beside_it(seen, tmp_path):
    many = pd.concat([TABLE] * 10, ignore_index=True).assign(id=range(40))
    table = rb.read_table(many, quasi_identifiers=["age", "job"], subject_id="id")
    given = {"shown": np.tile([1.0, 0.5], (40, 1)), "homes": np.tile([0.1, 0.9], (40, 1))}
    result = rb.assess(seen, table, subject=given)
    said = result.report(tmp_path / "r.md", custodian=True).read_text()
    assert "The worst case is not beside it: shown was given in the call" in said
