"""What lies beyond a node's states is said by everything that answers, once, where it is worst."""

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from inside import inside
from scipy.stats import poisson

import reidbn as rb
from reidbn.cli import reidbn as shell
from reidbn.errors import ReidbnWarning
from reidbn.inference import ask, exact
from reidbn.report import remarks

FILE = """
schema_version: 1
name: cut
parameters:
  m: {value: 7, range: [0.5, 30], unit: queries, source: assumption}
  p: {value: 0.4, range: [0.1, 0.6], source: assumption}
nodes:
  busy: {cpd: {kind: probability, p: $p}}
  asks: {states: 0..14, cpd: {kind: poisson, mean: $m}}
  found: {parents: [asks, busy], rows: [{when: {asks: ">=9", busy: yes}, p: {yes: 0.5, no: rest}},
                 {p: {yes: 0.1, no: rest}}],
          source: assumption}
questions:
  risk: {target: found=yes}
  how_many: {expect: asks}
  seen: {target: found=yes, given: {asks: "14"}}
"""
ATTACK = rb.loads(FILE)
BEYOND = float(poisson.sf(14, 7.0))
LATE = float(poisson.sf(14, 30.0))  # at the end of the range
DECIDES = FILE.replace("questions:", """
decisions:
  tries: {options: [no, yes], sees: [asks]}
utilities:
  gain: {of: [tries, asks], unit: euro, source: assumption,
         rows: [{when: {tries: yes, asks: ">=9"}, value: 3}, {when: {tries: yes}, value: -1},
                {value: 0}]}
questions:
  tried: {target: tries=yes}""")  # fmt: skip

EVERYTHING = {
    "ask": (lambda: rb.ask(ATTACK, "risk"), BEYOND),
    "ask by sampling": (lambda: rb.ask(ATTACK, "risk", engine="sampling", draws=1000), BEYOND),
    "ask at settings": (lambda: rb.ask(ATTACK, "risk", set={"m": [2.0, 30.0]}), LATE),
    "expect": (lambda: rb.expect(ATTACK, "asks"), BEYOND),
    "sweep": (lambda: rb.sweep(ATTACK, "risk", {"m": [2.0, 7.0]}), BEYOND),
    "sweep a mean": (lambda: rb.sweep(ATTACK, "how_many", {"m": [30.0]}), LATE),
    "tornado": (lambda: rb.tornado(ATTACK, "risk"), LATE),
    "tornado of another": (lambda: rb.tornado(ATTACK, "risk", over="p"), BEYOND),
    "solve": (lambda: rb.solve(ATTACK, "risk", "m", 0.5), LATE),
    "compare": (lambda: rb.compare(ATTACK, "risk", {}, {"set": {"p": 0.5}}), BEYOND),
    "uncertainty": (lambda: rb.uncertainty(ATTACK, "risk", over="p", draws=50), BEYOND),
    "sobol": (lambda: rb.sobol(ATTACK, "risk", over=["p", "m"]), LATE),
    "derivatives": (lambda: rb.derivatives(ATTACK, "risk", over="p"), BEYOND),
    "learn": (
        lambda: rb.learn(ATTACK, [{"target": "risk", "hits": 2, "trials": 9}], over="p"), BEYOND),
    "crosscheck": (lambda: rb.crosscheck(ATTACK, "risk", draws=20_000, seed=1), BEYOND),
    "decide": (lambda: rb.decide(rb.loads(DECIDES), "tried"), BEYOND),
    "most probable": (lambda: rb.most_probable(ATTACK, {"found": "yes"}), None),
}  # fmt: skip


@pytest.mark.parametrize("name", EVERYTHING)
def test_every_answer_says_it_once_and_keeps_it(name):
    run, share = EVERYTHING[name]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = run()
    assert len(heard) == 1
    text = str(heard[0].message)
    assert heard[0].category is ReidbnWarning
    assert heard[0].filename == __file__  # the caller's line, not ours
    if share is not None:
        much = "nearly all" if share > 0.995 else f"{share:.2g}"
        assert text.startswith(f"cut: asks: {much} of what can be")
    kept = getattr(found, "notes", None) or getattr(found, "attrs", {}).get("notes", ())
    if hasattr(found, "cut"):
        assert found.cut["asks"] == pytest.approx(share, rel=1e-9)
    elif name not in ("crosscheck", "most probable", "derivatives"):
        assert text in kept


def test_what_is_given_counts():
    """Of those who ask 14 times or more, most ask more than 14 times at a mean of 30."""
    for m, given in ((30.0, {"asks": "14"}), (7.0, {"asks": "14"}), (7.0, {"found": "yes"})):
        with pytest.warns(ReidbnWarning, match="beyond its last state"):
            found = rb.ask(ATTACK, "busy=yes", given=given, set={"m": m}).cut["asks"]
        if "asks" in given:
            right = poisson.sf(14, m) / poisson.sf(13, m)
        else:
            hit = 0.4 * np.where(np.arange(200) >= 9, 0.5, 0.1) + 0.6 * 0.1
            law = poisson.pmf(np.arange(200), m) * hit
            right = law[15:].sum() / law.sum()
        assert found == pytest.approx(right, rel=1e-9)
    assert rb.ask(ATTACK, "busy=yes", given={"asks": "3"}).cut == {}
    assert rb.ask(ATTACK, "risk", do={"asks": "14"}).cut == {}


LOADS = """
schema_version: 1
name: loads
nodes:
  load: {states: [1, 4, 9], rows: [{p: [0.5, 0.3, 0.2]}], source: assumption}
  asks: {states: 0..6, parents: [load], cpd: {kind: poisson, mean: load}}
  some: {parents: [asks], rows: [{when: {asks: ">=4"}, p: {yes: 0.8, no: rest}},
                                 {p: {yes: 0.3, no: rest}}], source: assumption}
"""


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"load": "9"},
        {"some": "yes"},
        {"asks": "6"},
        {"asks": "6", "load": "4"},
        {"load": "1", "some": "no"},
    ],
)
def test_it_is_the_share_of_what_fits_the_evidence(given):
    """Held against the same file with so many states that nothing is cut off."""
    wide = rb.loads(LOADS.replace("0..6", "0..60"))
    seen = {n: ">=6" if n == "asks" else s for n, s in given.items()}
    right = float(rb.ask(wide, "asks>=7", given=seen))
    asked = "some=yes" if "some" not in given else "load=4" if "load" not in given else "asks=0"
    with pytest.warns(ReidbnWarning, match="beyond its last state"):
        found = rb.ask(rb.loads(LOADS), asked, given=given)
    assert found.cut == {"asks": pytest.approx(right, rel=1e-9)}


def test_what_is_no_more_than_a_millionth_is_kept_and_not_said():
    found = rb.ask(ATTACK, "risk", set={"m": 2.5})
    assert 0 < found.cut["asks"] < 1e-6


def test_check_tells_where_it_is_worst():
    words = [p.message for p in rb.check(ATTACK)]
    assert words == [
        "nearly all of what can be at m=30 lies beyond its last state, and counts as it "
        "(0.0057 at the values of the parameters); let the states run further, or narrow a range"
    ]


def test_of_people_it_stands_among_the_notes():
    attack = rb.loads(FILE.replace("nodes:", """
subject:
  class_size: {per: known, unit: people, story: How many are alike}
groups:
  known: {members: [age, town], probability: [0.5, 0.5], source: assumption}
nodes:
  guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  both: {parents: [guess, found], cpd: {kind: and}}""", 1).replace("target: found=yes}",
        "target: both=yes}", 1))  # fmt: skip
    frame = pd.DataFrame({"age": [1, 1, 2, 3], "town": list("abab")})
    people = rb.read_table(frame, quasi_identifiers=["age", "town"])
    with pytest.warns(ReidbnWarning, match="beyond its last state"):
        found = rb.assess(attack, people)
    assert any("beyond its last state" in note for note in found.groups.notes)
    with pytest.warns(ReidbnWarning, match="nearly all of what can be at m=30"):
        rb.sweep(found, {"m": [2.0, 30.0]})


def test_a_limit_is_not_called_kept_where_what_is_cut_off_may_be_above(tmp_path):
    path = tmp_path / "cut.yaml"
    path.write_text(FILE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        risk = float(rb.ask(ATTACK, "risk"))
        for limit, code in ((risk + BEYOND / 2, 1), (risk + 2 * BEYOND, 0)):
            for command, *more in (["ask"], ["sweep", "--over", "m=7"]):
                asked = [command, str(path), "risk", *more, "--fail-above", repr(limit)]
                done = CliRunner().invoke(shell, asked, standalone_mode=False)
                assert done.return_value == code, done.output
                assert ("with what is cut off" in done.output) == bool(code)


def test_an_assessment_is_judged_with_what_is_cut_off_too(tmp_path):
    model = FILE.replace("nodes:", """
subject: {class_size: {per: known, unit: records}}
groups: {known: {members: {age: 0.9}, source: assumption}}
nodes:
  guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  named: {parents: [found, guess], cpd: {kind: and}}""").replace(
        "risk: {target: found=yes}", "risk: {target: named=yes}")  # fmt: skip
    (tmp_path / "cut.yaml").write_text(model)
    pd.DataFrame({"age": [1, 2, 2, 3]}).to_csv(tmp_path / "t.csv", index=False)
    people = rb.read_table(tmp_path / "t.csv", quasi_identifiers=["age"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        highest = rb.assess(tmp_path / "cut.yaml", people, known=["age"]).risk().max()
        asked = ["assess", str(tmp_path / "t.csv"), "--attack", str(tmp_path / "cut.yaml"), "--qi",
                 "age", "--known", "age", "--check-draws", "1000"]  # fmt: skip
        for part, code in ((0.5, 1), (2, 0)):
            limit = repr(float(highest + part * BEYOND))
            done = CliRunner().invoke(shell, [*asked, "--fail-above", limit], standalone_mode=False)
            assert done.return_value == code, done.output
            assert "with what is cut off of the states" in done.output


@pytest.mark.parametrize(
    ("question", "parameter", "target", "how"),
    [
        ("asks>=9", "m", 0.5, {}),
        ("asks<=8", "m", 0.5, {}),
        ("asks=14", "m", 0.05, {}),
        ("risk", "p", 0.12, {}),
        ("risk", "p", 0.0005, {}),
        ("risk", "m", 0.13, {"given": {"busy": "yes"}}),
    ],
)
def test_what_solve_says_is_under_stays_so_with_what_is_cut_off(question, parameter, target, how):
    """Held against the same file with so many states that nothing is cut off."""
    wide = rb.loads(FILE.replace("0..14", "0..120"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = rb.solve(ATTACK, question, parameter, target, **how)
    for low, high in found.under:
        points = np.linspace(low, high, 25)
        true = rb.ask(wide, question, set={parameter: points}, **how).probability
        assert true.max() <= target * (1 + 1e-9)
    right = rb.solve(wide, question, parameter, target, **how)
    assert bool(found.under) == (bool(right.under) and target > BEYOND)


def test_what_is_a_hit_already_is_not_counted_again():
    """Of seven or more the last of two states says all, of a rarer hit what it says is missed."""
    few = rb.loads(FILE.replace("0..14", "0..1").replace('">=9"', '">=1"').replace('"14"', '"1"'))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert float(rb.solve(few, "asks>=1", "m", 0.5)) == pytest.approx(np.log(2), abs=1e-9)
        found = rb.solve(few, "risk", "m", 0.5, set={"p": 0.6})
    m = found.largest
    more, beyond = 1 - np.exp(-m), 1 - (1 + m) * np.exp(-m)
    told = 0.1 + 0.4 * 0.6 * more
    missed = beyond * (0.6 * 0.5 + 0.4 * 0.9)  # beyond the states, and no hit as it stands
    assert told + missed == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize(
    ("question", "is_added"),
    [
        ("asks<5", False), ("asks<=13", False), ("asks>=9", False), ("asks=3", False),
        ("asks!=3", False), ("not asks<5", False), ("asks=3, busy=yes", False),
        ("asks<3 or busy=yes", False), ("asks>=9 and found=yes", True), ("asks!=14", True),
        ("found=yes", True), ("risk", True),
    ],
)  # fmt: skip
def test_what_makes_no_hit_is_not_added(question, is_added):
    """Of fewer than five the sixth of six states and all beyond it say the same: no hit."""
    wide = rb.loads(FILE.replace("0..14", "0..120"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = rb.solve(ATTACK, question, "m", 0.6)
        assert (found.added > 0) == is_added
        assert ("counted as a hit" in str(found)) == is_added
    if not is_added:
        right = rb.solve(wide, question, "m", 0.6)
        assert found.status == right.status
        assert np.array(found.under) == pytest.approx(np.array(right.under), abs=1e-6)


def test_of_a_mean_nothing_is_called_kept_where_nothing_bounds_what_is_cut_off():
    """The mean of m is m, and its states end at 14."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            rb.UsageError, match=r"E\(asks\) leaves out what lies beyond .* of asks"
        ):
            rb.solve(ATTACK, "how_many", "m", 13.9)
        found = rb.tornado(ATTACK, "how_many", threshold=13.9)
        chance = rb.tornado(ATTACK, "risk", threshold=0.5)
        closed = rb.tornado(ATTACK, "asks<5", threshold=0.5)
    assert "it may be higher, and nothing says by how much" in str(found)
    assert "it may be so much higher" in str(chance)
    assert "cut off of states" not in str(closed)
    wide = rb.loads(FILE.replace("0..14", "0..120"))
    assert float(rb.solve(wide, "how_many", "m", 13.9)) == pytest.approx(13.9)


@pytest.mark.parametrize("given", [{"found": "yes"}, {"asks": ">=9"}, {"busy": "yes"}])
def test_what_makes_no_hit_still_changes_evidence_that_reads_it(given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = rb.solve(ATTACK, "asks<5", "m", 0.6, given=given)
    assert (found.added > 0) == (given != {"busy": "yes"})


BEHIND = """
schema_version: 1
name: behind
subject: {mean: {per: known, unit: letters, range: [0, 100]}}
groups: {known: {members: [a, b], probability: [0.001, 0.1], source: assumption}}
nodes:
  lets: {states: 0..2, parents: [known], cpd: {kind: poisson, mean: "@mean"}}
  lets_in_full: {parents: [lets], rows: [{when: {lets: ">=2"}, p: {yes: 0.5, no: rest}},
                                         {p: {yes: 0.1, no: rest}}], source: assumption}
questions: {any: {target: lets>=1}}
example: {mean: [0.05, 0.05, 4, 30]}
"""  # a node may be called what the question asked on the way could be
MEANS = [[0.05, 0.05, 4, 30], [0.5, 2, 0.1, 9]]


@pytest.mark.parametrize("given", [{}, {"a": "yes"}, {"lets_in_full": "yes"},
                                   {"lets": "2"}, {"lets": "2", "b": "yes"}])  # fmt: skip
def test_behind_a_group_it_is_as_large_as_it_is(given):
    """Held against sums over the subsets of the group and 200 counts, of several people."""
    asked, right = "a=yes" if "lets" in given else "lets>=1", []
    for means in MEANS:
        count, law = np.arange(200), np.zeros(200)
        for subset, mean in enumerate(means):
            chance = (0.001, 0.999)[not subset & 1] * (0.1, 0.9)[not subset & 2]
            fits = ("a" not in given or subset & 1) and ("b" not in given or subset & 2)
            law += bool(fits) * chance * poisson.pmf(count, mean)
        law *= np.where(count >= 2, 0.5, 0.1) if "lets_in_full" in given else 1.0
        law *= count >= 2 if "lets" in given else 1.0
        right.append(law[3:].sum() / law.sum())
    for means, share in ((MEANS[0], right[0]), (MEANS[1], right[1]), (MEANS, max(right))):
        with pytest.warns(ReidbnWarning, match=f"lets: {share:.2g} of what can be lies beyond"):
            found = rb.ask(rb.loads(BEHIND), asked, given=given, subject={"mean": means})
        assert found.cut == {"lets": pytest.approx(share, rel=1e-9)}


def test_of_what_is_too_large_to_be_told_it_is_an_upper_end_in_every_room(monkeypatch):
    """Of people of whom every two may meet it is sampled, where tables may not be large."""
    pairs = [(i, j) for i in range(7) for j in range(i)]
    people = [f"  a{i}: {{cpd: {{kind: probability, p: 0.02}}, source: x}}" for i in range(7)]
    meet = [f"  p{i}_{j}: {{parents: [a{i}, a{j}], cpd: {{kind: and}}}}" for i, j in pairs]
    nodes = "\n".join([*people, *meet])
    wide = rb.loads(f"""
schema_version: 1
name: wide
nodes:
{nodes}
  high: {{parents: [{", ".join(f"p{i}_{j}" for i, j in pairs)}], cpd: {{kind: or}}}}
  pace: {{states: [1, 4], parents: [high],
         rows: [{{when: {{high: yes}}, p: {{4: 1}}}}, {{p: {{1: 1}}}}]}}
  lets: {{states: 0..9, parents: [pace], cpd: {{kind: poisson, mean: pace}}}}
  left: {{states: 0..9, parents: [lets, pace], cpd: {{kind: minus, of: [lets, pace]}}}}
""")
    monkeypatch.setattr(inside(exact.contract), "BUDGET", 1 << 5)
    monkeypatch.setattr(inside(ask), "BUDGET", 1 << 5)
    with pytest.raises(rb.errors.TooLarge):
        rb.ask(wide, "lets>=1")
    most, how = float(poisson.sf(9, 4)), {"engine": "sampling", "draws": 5000}
    with pytest.warns(ReidbnWarning, match=f"lets: at most {most:.2g} of what can be lies beyond"):
        found = rb.ask(wide, "lets>=1", **how)
    assert found.cut == {"lets": pytest.approx(most, rel=1e-9)}
    assert found.to_dict()["cut_at_most"] == ["lets"]
    assert any("Cut off: lets: at most" in text for text in remarks(found))
    held = most / (float(poisson.sf(8, 4)))  # of those who are in the last state
    with pytest.warns(ReidbnWarning, match=f"lets: at most {held:.2g} of what can be"):
        assert rb.ask(wide, "lets>=1", given={"a0": "no"}, **how).cut["lets"] >= most
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert rb.ask(wide, "left>=1", **how).cut["left"] == 1.0
    assert any("left: an unknown share of what can be lies below" in str(w.message) for w in heard)


CAPPED = """
schema_version: 1
name: capped
groups: {known: {members: {age: 0.5, sex: 0.5}, source: assumption}}
subject: {class_size: {per: known, unit: records}}
nodes:
  asks: {states: 0..4, cpd: {kind: poisson, mean: 3}, source: assumption}
  few: {parents: [asks], rows: [{when: {asks: "<=3"}, p: {yes: 0.2, no: rest}},
                                {p: {yes: 0.01, no: rest}}], source: assumption}
  named: {parents: [known, few], cpd: {kind: one-over, of: "@class_size", only_if: [few]}}
questions: {risk: {target: named=yes}}
"""


@pytest.mark.wide
def test_verdicts_and_plans_about_a_risk_count_what_is_cut_off(tmp_path):
    rows = "\n".join(f"{age},{sex}" for age in (1, 2, 3, 1, 2, 5) for sex in "mfm")
    table, model = tmp_path / "t.csv", tmp_path / "capped.yaml"
    table.write_text(f"age,sex\n{rows}\n")
    model.write_text(CAPPED)
    people = rb.read_table(table, quasi_identifiers=["age", "sex"])
    with pytest.warns(ReidbnWarning, match="beyond its last state"):
        highest = float(rb.assess(rb.load(model), people).risk().max())
    asked = ["assess", str(table), "--attack", str(model), "--qi", "age,sex"]
    beyond = float(poisson.sf(4, 3.0))
    for more, code in ((beyond / 2, 1), (beyond + 0.001, 0)):
        for gate in (["--fail-above", f"{highest + more}"],
                     ["--threshold", f"overall={highest + more}"]):  # fmt: skip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = CliRunner().invoke(shell, [*asked, *gate], standalone_mode=False)
                assert found.return_value == code
    with pytest.raises(rb.errors.UsageError, match="let the states run further"):
        rb.recommend(people, rb.load(model), target={"overall": highest + 0.1})


TAKEN_AWAY = """
schema_version: 1
name: taken
title: t
story: s
parameters:
  p: {value: 0.5, range: [0, 1], source: assumption, story: P}
groups:
  known: {members: [a, b], probability: $p, source: assumption}
nodes:
  src: {states: 0..2, cpd: {kind: uniform}}
  left: {states: 0..2, parents: [src, known], cpd: {kind: minus, of: [src, known]}}
  hit: {parents: [left], rows: [{when: {left: 2}, p: {yes: 1}}, {p: {no: 1}}]}
questions:
  risk: {target: hit=yes}
"""


def test_a_difference_tells_what_is_cut_off_where_one_group_is_all_that_is_taken_away():
    """More known than there was: of 0 one or two (3/4), of 1 two (1/4), a third of each."""
    with pytest.warns(ReidbnWarning, match="0.33 of what can be lies below"):
        answer = rb.ask(rb.loads(TAKEN_AWAY), "risk")
    assert answer.cut["left"] == pytest.approx((3 / 4 + 1 / 4) / 3)
