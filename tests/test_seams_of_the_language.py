"""Seams of the language: what one part of it says and the next believes."""

import numpy as np
import pytest

import reidbn as rb
from reidbn.cli import main


def written(tmp_path, text):
    path = tmp_path / "model.yaml"
    path.write_text(f"schema_version: 1\nname: model\ntitle: t\nstory: s\n{text}", encoding="utf-8")
    return str(path)


# -- what is offered, and what is noted ------------------------------------------------------------


def test_the_help_of_decide_offers_nothing_that_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["decide", "--help"])
    told = capsys.readouterr().out
    assert "--given" not in told
    assert "--do " not in told
    for option in ("--given", "--do"):
        with pytest.raises(SystemExit) as ended:
            main(["decide", "insider-decides", option, "aim=money"])
        assert ended.value.code == 2
        assert f"{option}: the policy is that of the attack as it is; use reidbn ask" in (
            capsys.readouterr().err
        )


# -- what is done, and what is known ---------------------------------------------------------------


def test_a_control_is_something_that_is_done(tmp_path):
    found = rb.decide("insider-decides")
    scenario = tmp_path / "caught.yaml"
    scenario.write_text("schema_version: 1\nkind: scenario\nname: c\ntitle: t\nstory: s\n"
                        "given: {aim: money}\n", encoding="utf-8")  # fmt: skip
    money = {"aim": "money"}
    for said in ({"given": money}, {"given": money, "set": {"p_audit": 0.2}},
                 {"scenario": str(scenario)}):  # fmt: skip
        with pytest.raises(rb.UsageError, match="a control is something that is done: write set"):
            found.controls({"x": {**said, "cost": 5}})
    done = found.controls({"x": {"do": money, "cost": 5}})
    assert done["attacks"].item() == pytest.approx(0.612, abs=1e-12)  # what is done is in both


# -- what stands behind a number -------------------------------------------------------------------


def test_a_value_follows_from_the_evidence_beside_a_prior_of_ones_own():
    counted = rb.attack.Measured(rb.attack.Study(20, 38, "x"))
    alone = rb.attack.Parameter("p", evidence=counted)
    uniform = rb.attack.Prior("uniform")
    beside = rb.attack.Parameter("p", evidence=counted, prior=uniform)
    assert (beside.value, beside.range, beside.source) == (alone.value, alone.range, alone.source)
    assert beside.prior == uniform
    text = ("schema_version: 1\nname: m\ntitle: t\nstory: s\nparameters:\n"
            "  p: {measured: {hits: 20, trials: 38, study: x}, prior: {kind: uniform}}\n"
            "nodes: {a: {cpd: {kind: probability, p: $p}, source: s}}\n"
            "questions: {risk: {target: a=yes}}\n")  # fmt: skip
    attack = rb.loads(text)
    assert float(rb.ask(attack)) == pytest.approx(20.5 / 39, rel=1e-12)
    assert rb.loads(rb.dumps(attack)) == attack
    assert rb.uncertainty(attack).mean == pytest.approx(sum(alone.range) / 2, rel=1e-9)


def test_quantiles_say_each_level_once():
    text = ("schema_version: 1\nname: m\ntitle: t\nstory: s\nparameters:\n"
            "  p: {elicited: [{expert: A, quantiles: {0.1: .1, LEVEL: .15, 0.5: .3}}]}\n"
            "nodes: {a: {cpd: {kind: probability, p: $p}, source: s}}\n"
            "questions: {risk: {target: a=yes}}\n")  # fmt: skip
    for level in ("0.10", "1e-1"):
        with pytest.raises(rb.ModelError, match=f"0.1 and {level} are one level"):
            rb.loads(text.replace("LEVEL", level))
    said = rb.loads(text.replace("LEVEL", "0.2")).parameters["p"].evidence.experts[0]
    assert said.quantiles == {0.1: 0.1, 0.2: 0.15, 0.5: 0.3}


ENDS_AT_ITS_VALUE = """\
parameters: {p: {value: 0.526, range: [0.3, 0.9], source: s}}
numbers:
  q1: 1 - (1 - p) ^ 5
  q2: {is: "max(q1, p)", unit: probability, source: s}
where: [q2 <= q1]
nodes: {a: {cpd: {kind: probability, p: $q2}, source: s}}
questions: {risk: {target: a=yes}}
"""


def test_a_bar_that_ends_at_the_value_holds_the_answer_there(tmp_path):
    bar = rb.tornado(written(tmp_path, ENDS_AT_ITS_VALUE))["q2"]
    assert bar.high == pytest.approx(bar.value, rel=1e-8)
    assert bar.highest == pytest.approx(0.976072809441, abs=1e-8)
    assert not any("outside" in note for note in bar.notes)
    beyond = rb.tornado(written(tmp_path, ENDS_AT_ITS_VALUE), over={"p": (0.6, 0.8)})["p"]
    assert any("p is 0.526, outside of 0.6 to 0.8" in note for note in beyond.notes)


# -- gates -----------------------------------------------------------------------------------------


ALARMS = """\
parameters: {mu: {value: 2, range: [0.1, 6], unit: alarms per day, source: s}}
nodes:
  n: {states: 0..3, cpd: {kind: poisson, mean: $mu}, source: s}
  hit: {parents: [n], rows: [{when: {n: "3"}, p: {yes: 0.1, no: rest}},
                             {p: {yes: 0.4, no: rest}}], source: s}
questions: {risk: {target: hit=yes}}
"""


@pytest.mark.parametrize(
    ("target", "limit", "code"),
    [("n=1", "0.3", 0), ("n<3", "0.7", 0), ("n=1", "0.27", 1), ("n=3", "0.33", 0),
     ("hit=yes", "0.35", 1), ("hit=yes", "0.44", 0)],
)  # fmt: skip
def test_gates_of_ask_and_sweep_agree_on_what_is_cut_off(tmp_path, capsys, target, limit, code):
    path = written(tmp_path, ALARMS)
    for words in (("ask", path, target, "--set", "mu=2"), ("sweep", path, target, "--over=mu=2")):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--fail-above", limit])
        assert ended.value.code == code, (words, capsys.readouterr())


# -- what attempts teach ---------------------------------------------------------------------------


SURELY = """\
parameters:
  p: {value: 0.3, source: s, prior: {kind: triangular, mode: 0.3}}
  q: {value: 0.6, source: s}
nodes:
  a: {cpd: {kind: probability, p: $p}, source: s}
  b: {parents: [a], rows: [{when: {a: "yes"}, p: {low: $q, mid: rest, high: 0}},
                           {p: {low: rest, mid: $q, high: 0}}], states: [low, mid, high], source: s}
questions: {risk: {target: a=yes}}
"""


def test_what_can_never_be_teaches_nothing(tmp_path):
    path = written(tmp_path, SURELY)
    for target, hits, chance in (("not (b=high)", 1, 1), ("b=high", 1, 0), ("b=high", 7, 0)):
        message = f"can never be in this model: .* has probability {chance} whatever p, q may be"
        with pytest.raises(rb.UsageError, match=message):
            rb.learn(path, [{"target": target, "hits": hits, "trials": 7}])
    sure = rb.learn(path, [{"target": "not (b=high)", "hits": 7, "trials": 7}])
    assert sure["p"].mean == pytest.approx(sure["p"].mean_before, rel=1e-9)


TWICE = """\
parameters: {p: {value: 0.3, range: [0, 1], source: s}}
numbers: {twice: "2 * p"}
nodes: {a: {cpd: {kind: probability, p: $p}, source: s},
        b: {cpd: {kind: probability, p: $twice}, source: s}}
questions: {risk: {target: a=yes}}
"""


def test_what_was_learnt_is_told_where_no_attack_can_be_kept(tmp_path, capsys):
    path, new = written(tmp_path, TWICE), tmp_path / "new.yaml"
    found = rb.learn(path, [{"target": "risk", "hits": 9, "trials": 10}])
    assert found["p"].mean == pytest.approx(10 / 12, abs=1e-12)
    assert found.tests[0].saved == pytest.approx(10 / 12, abs=1e-12)
    with pytest.raises(rb.ModelError, match=r"numbers.twice.is: .*no probability.*over narrower"):
        _ = found.attack
    told = found.to_dict()
    assert told["attack"] is None
    assert told["refused"] in str(found)
    with pytest.raises(SystemExit) as ended:
        main(["learn", path, "--test", "risk: 9/10", "--save", str(new)])
    assert ended.value.code == 2
    assert "expected 5 before, 8.333 after" in capsys.readouterr().out
    assert not new.exists()
    narrow = rb.learn(path, [{"target": "risk", "hits": 9, "trials": 10}], over={"p": (0, 0.5)})
    assert float(rb.ask(narrow.attack, "risk")) == narrow["p"].mean
    assert "refused" not in narrow.to_dict()


TWO_LISTS = """\
parameters: {r1: {value: 0.2, source: s}, r2: {value: 0.6, source: s},
             worth: {value: 10, range: [0, 100], unit: euro, source: s}}
nodes:
  success: {parents: [list], rows: [{when: {list: none}, p: {yes: 0, no: 1}},
                                    {p: {yes: 0.3, no: rest}}], source: s}
  harm: {parents: [success, list], rows: [{when: {success: "no"}, p: {yes: 0, no: 1}},
         {when: {list: first}, p: {yes: $r2, no: rest}}, {p: {yes: $r1, no: rest}}], source: s}
decisions: {list: {options: [none, first, second], source: s}}
utilities: {g: {of: [success], unit: euro, source: s,
                rows: [{when: {success: "yes"}, value: $worth}, {value: 0}]}}
questions: {risk: {target: harm=yes}}
"""


def test_learn_says_of_which_of_tied_policies_it_is(tmp_path):
    attack = rb.load(written(tmp_path, TWO_LISTS))
    test = {"target": "risk", "hits": 3, "trials": 40}
    with pytest.warns(UserWarning, match=r"Tied: at list another option .* takes \(list=second\)"):
        found = rb.learn(attack, [test], over=["r1", "r2"])
    assert any("what is learnt is of the policy that he takes" in note for note in found.notes)
    assert found["r1"].mean < 0.4
    assert found["r2"].mean == pytest.approx(0.5, abs=1e-3)
    for taken, moved, still in (("second", "r1", "r2"), ("first", "r2", "r1")):
        other = rb.learn(attack.with_policy(f"list={taken}"), [test], over=["r1", "r2"])
        assert other[moved].mean == pytest.approx(found["r1"].mean, abs=1e-3)
        assert other[still].mean == pytest.approx(0.5, abs=1e-9)
        assert not other.notes


def test_learn_says_that_policies_are_tied_at_some_values(tmp_path):
    text = TWO_LISTS.replace("{value: $worth}", "{value: 0}").replace(
        "nodes:", "numbers: {gap: {is: 'max(worth - 50, 0)', unit: euro, source: s}}\nnodes:"
    ).replace("utilities: {", "utilities: {more: {of: [list], unit: euro, source: s, "
              "rows: [{when: {list: second}, value: $gap}, {value: 0}]}, ")  # fmt: skip
    attack = rb.load(written(tmp_path, text)).with_values({"worth": 80})
    assert not rb.ask(attack, "risk").tied
    with pytest.warns(UserWarning, match="Tied: at some values options are worth the same"):
        rb.learn(attack, [{"target": "risk", "hits": 3, "trials": 40}])


# -- counts that are worked out --------------------------------------------------------------------


ATTEMPTS = """\
parameters: {m: {value: 3, range: [1, 8], unit: people, source: s}, p: {value: 0.1, source: s}}
numbers: {h: {is: 2 * m, unit: people}}
nodes: {a: {states: 0..16, cpd: {kind: binomial, n: $h, p: $p}, source: s}}
questions: {risk: {target: "a>=1"}}
"""


def test_a_number_that_can_only_be_whole_moves_in_whole_steps(tmp_path):
    path = written(tmp_path, ATTEMPTS)
    bars = rb.tornado(path)
    assert {*bars} == {bars["m"], bars["h"], bars["p"]}
    assert (bars["h"].low, bars["h"].high, bars["h"].method) == (2, 16, "scan")
    assert bars["h"].at_high == pytest.approx(1 - 0.9**16, abs=1e-12)
    solved = rb.solve(path, "risk", "h", 0.5)
    assert solved.values == (6.0,)  # 1 - .9^6 = .469, 1 - .9^7 = .522
    assert float(rb.ask(path, set={"h": 7})) == pytest.approx(1 - 0.9**7, abs=1e-12)
    cut = written(
        tmp_path, ATTEMPTS.replace("unit: people}}", "unit: people, range: [2.5, 15.5]}}")
    )
    assert (rb.tornado(cut)["h"].low, rb.tornado(cut)["h"].high) == (3, 15)


def test_a_parameter_without_a_bar_is_named_and_the_others_are(tmp_path):
    """Attempts per day: half a day's are no count."""
    path = written(tmp_path, ATTEMPTS.replace("2 * m", "2 * rate").replace(
        "m: {value: 3, range: [1, 8], unit: people, source: s}",
        "rate: {value: 2.0, range: [0.5, 4], unit: people, source: s}"))  # fmt: skip
    with pytest.raises(rb.UsageError, match=r'rate: no bar .*; those of others: over=\["p"\]'):
        rb.tornado(path)
    several = written(tmp_path, ATTEMPTS.replace("2 * m", "m * share").replace(
        "p: {value", "share: {value: 1, range: [0, 1], source: s}, p: {value"))  # fmt: skip
    with pytest.raises(rb.UsageError, match=r'share: no bar .* of others: over=\["m", "p"\]'):
        rb.tornado(several)
    assert {bar.parameter for bar in rb.tornado(several, over=["m", "p"])} == {"m", "p"}
    path = written(tmp_path, ATTEMPTS.replace("2 * m", "2 * rate").replace(
        "m: {value: 3, range: [1, 8], unit: people, source: s}",
        "rate: {value: 2.0, range: [0.5, 4], unit: people, source: s}"))  # fmt: skip
    assert [bar.parameter for bar in rb.tornado(path, over=["p"])] == ["p"]


def test_a_number_that_is_read_as_a_count_loses_its_bar_alone(tmp_path):
    path = written(tmp_path, ATTEMPTS.replace("2 * m", "2 * m + 0.0 * p"))
    bars = rb.tornado(path)
    assert {bar.parameter for bar in bars} == {"m", "p"}
    (note,) = (n for n in bars.notes if "h has no bar" in n)
    assert "from 2 to 16 it is not always what it is read as (a: a number of attempts" in note
    kind = "hypergeometric-leak, records: 30, leaked: $h, class_size: 5"
    leak = ATTEMPTS.replace("binomial, n: $h, p: $p", kind).replace("2 * m", "2 * m + 0.0 * p")
    (note,) = (n for n in rb.tornado(written(tmp_path, leak)).notes if "h has no bar" in n)
    assert "leaked is 2.0" in note
    assert "float64" not in note


# -- conditions ------------------------------------------------------------------------------------


TOGETHER = """\
parameters: {p: {value: 0.4, source: s}, r: {value: 0.2, range: [0.1, 0.9], source: s},
             t: {value: 0.5, source: s}}
numbers: {least: FORMULA}
where: [p + r <= 1.2]
nodes: {a: {cpd: {kind: probability, p: $least}, source: s},
        b: {cpd: {kind: probability, p: $r}, source: s},
        c: {cpd: {kind: probability, p: $t}, source: s}}
questions: {risk: {target: a=yes}}
"""


@pytest.mark.parametrize("formula", ["min(p, 0.5)", "0.5 * p"])  # scattered points, a quadrature
def test_a_condition_holds_of_all_that_is_varied(tmp_path, formula):
    path = written(tmp_path, TOGETHER.replace("FORMULA", f'"{formula}"'))
    test = {"target": "risk", "hits": 3, "trials": 9}
    for ask in (rb.uncertainty, rb.sobol):
        for target in ("risk", "a=yes and b=yes"):  # r has a say in the second alone
            with pytest.raises(rb.UsageError, match=r"ranges of p, r meet where p \+ r <= 1.2"):
                ask(path, target)
        assert ask(path, "c=yes").mean == pytest.approx(0.5, abs=1e-9)  # in no condition
        narrow = ask(path, "risk", over={"p": None, "r": (0.1, 0.2)})
        alone = ask(path, "risk", over=["p"])
        assert narrow.mean == pytest.approx(alone.mean, abs=1e-4)
        assert "held at its value, in a condition with what is varied: r" in alone.notes
        assert not any("in a condition" in note for note in narrow.notes)
    learnt = rb.learn(path, [test])
    assert "held at its value, in a condition with what is varied: r" in learnt.notes


# -- rounding of what is worked out ----------------------------------------------------------------


WHOLE = """\
parameters:
  n: {value: 3, range: [0, 100], unit: people, source: s}
  share: {value: 0.05, range: [0, 1], source: s}
  p: {value: 0.25, range: [0, 1], source: s}
numbers: {m: {is: "FORMULA", unit: people}}
nodes:
  a: {states: 0..9, cpd: {kind: binomial, n: $m, p: $p}, source: s}
  b: {cpd: {kind: unique, of: $m}, source: s}
questions: {risk: {target: "a>=1"}}
"""


@pytest.mark.parametrize(
    ("formula", "values", "m"),
    [
        ("share * n", {"share": 0.07, "n": 100}, 7),
        ("share * n", {"share": 0.29, "n": 100}, 29),
        ("n * 0.1 * 10", {"n": 3}, 3),
        ("(n + 0.3) - 0.3", {"n": 2}, 2),
        ("n / 49 * 49", {"n": 1}, 1),
        ("n / 3 * 3", {"n": 1}, 1),
    ],
)
def test_what_is_whole_but_for_rounding_is_a_count(formula, values, m, tmp_path):
    path = written(tmp_path, WHOLE.replace("FORMULA", formula).replace("0..9", "0..40"))
    assert float(rb.ask(path, set=values)) == pytest.approx(1 - 0.75**m, abs=1e-12)
    assert float(rb.ask(path, "b=yes", set=values)) == (m == 1)


def test_what_is_far_from_whole_is_none(tmp_path):
    path = written(tmp_path, WHOLE.replace("FORMULA", "share * n"))
    with pytest.raises(rb.errors.ModelError, match=r"a class of 0\.5; its size is a whole number"):
        rb.ask(path, "b=yes", set={"n": 10})
    with pytest.raises(rb.errors.ModelError, match=r"a number of attempts of 0\.30000000000003"):
        rb.ask(path, set={"n": 1, "share": 0.30000000000003})


LEFT = """\
parameters:
  a: {value: 0.7, range: [0, 0.7], source: s}
  b: {value: 0.3, range: [0, 0.3], source: s}
numbers: {r: "1 - a - b"}
nodes:
  x: {cpd: {kind: probability, p: $r}, source: s}
  y: {parents: [x], rows: [{when: {x: yes}, p: {yes: 0.9, no: 0.1}}, {p: {yes: 0.2, no: 0.8}}],
      source: s}
questions: {risk: {target: y=yes, given: {x: yes}}}
"""


def test_what_can_never_be_is_no_evidence(tmp_path):
    """1 - 0.7 - 0.3 is 5.6e-17 in a computer, and 0."""
    path = written(tmp_path, LEFT)
    with pytest.raises(rb.errors.ImpossibleEvidence, match="x=yes"):
        rb.ask(path)
    assert float(rb.ask(path, "x=yes")) == 0
    assert float(rb.ask(path, set={"a": 0.6})) == pytest.approx(0.9, abs=1e-12)


COUNTED = """\
groups:
  known: {members: [ka, kb], probability: [0.1, 0.2], source: s}
nodes:
  shown: {states: STATES, parents: [known], cpd: {kind: count}, story: How many the form counts}
  hit: {parents: [ka, kb], cpd: {kind: and}}
questions: {risk: {target: "known>=2"}, many: {expect: known}}
"""


@pytest.mark.parametrize("states", ["0..2", "[0, 1, 2]"])
def test_setting_a_count_changes_nothing_of_what_is_counted(states, tmp_path):
    """By hand: .1 x .2 = .02 know both; of .28 who know one or more, .02."""
    path = written(tmp_path, COUNTED.replace("STATES", states))
    for n in "012":
        how = {"do": {"shown": n}}
        assert float(rb.ask(path, **how)) == pytest.approx(0.02, abs=1e-12)
        assert float(rb.ask(path, "many", **how)) == pytest.approx(0.3, abs=1e-12)
        both = rb.ask(path, "hit=yes", given={"known": ">=1"}, **how)
        assert float(both) == pytest.approx(0.02 / 0.28, abs=1e-12)
    assert float(rb.ask(path, "known>=2", given={"shown": "2"})) == 1
    changed = rb.sweep(path, "known>=1", {"set": {"do": {"shown": "0"}}, "free": {}})
    assert np.ptp(changed["probability"]) == pytest.approx(0, abs=1e-12)


NESTED = """\
parameters: {share: {value: 1, range: [0.01, 1], source: s}}
subject: {tot: {unit: records, range: [1, 100000], story: a}}
numbers:
  part: {is: "share * tot", unit: records}
  some: {is: "part * 0.07", unit: records}
nodes: {a: {states: 0..40, cpd: {kind: binomial, n: $some, p: 0.25}, source: s}}
questions: {risk: {target: "a>=1"}}
example: {tot: 100}
"""


def test_numbers_of_people_that_stand_on_others_are_whole_too(tmp_path):
    """0.07 x 100, where the 100 is itself worked out of everybody's own column."""
    path = written(tmp_path, NESTED)
    assert float(rb.ask(path)) == pytest.approx(1 - 0.75**7, abs=1e-12)
    told = rb.ask(path, subject={"tot": np.array([100, 200])}).probability
    assert np.ravel(told) == pytest.approx([1 - 0.75**7, 1 - 0.75**14], abs=1e-12)
    odd = NESTED.replace("binomial, n: $some, p: 0.25", "probability, p: $some").replace(
        "unit: records}\nnodes", "unit: probability}\nnodes").replace(
        "states: 0..40, ", "").replace("a>=1", "a=yes").replace("tot: 100", "tot: 5")  # fmt: skip
    with pytest.raises(rb.errors.ModelError, match="is no probability for somebody"):
        rb.ask(written(tmp_path, odd), subject={"tot": 16})


SHARED = """\
parameters: {a: {value: 0.7, range: [0, 1], source: s}}
subject: {w: {unit: probability, range: [0, 1], story: a}}
numbers: {ab: "1 - a", n: {is: "ab - w", range: [-1, 1]}, q: "max(n, 0)"}
nodes: {x: {cpd: {kind: probability, p: $q}, source: s}}
questions: {risk: {target: x=yes}}
example: {w: 0.3}
"""


def test_numbers_of_people_that_stand_on_shared_ones_are_whole_too(tmp_path):
    """1 - 0.7 - 0.3, where 1 - 0.7 is one number for all, and where large numbers cancel before."""
    for formula in ("1 - a", "1000000 + (1 - a) - 1000000"):
        path = written(tmp_path, SHARED.replace('"1 - a"', f'"{formula}"'))
        assert str(float(rb.ask(path))) == "0.0"
        for a in (0.1, 0.6, 0.9):
            told = rb.ask(path, set={"a": a}, subject={"w": np.array([round(1 - a, 12), 0.0])})
            assert np.ravel(told.probability) == pytest.approx([0, 1 - a], abs=1e-9)
            assert np.ravel(told.probability)[0] == 0
    assert float(rb.ask(path, set={"ab": 0.3})) == 0
    assert rb.tornado(path)["a"].highest == pytest.approx(0.7)


def test_a_class_of_somebody_is_not_told(tmp_path):
    text = SHARED.replace("kind: probability, p: $q", "kind: unique, of: $n").replace(
        "unit: probability", "unit: records").replace('"ab - w", range: [-1, 1]',
        '"w / 2", unit: records').replace("[0, 1], story", "[0, 99], story").replace(
        "w: 0.3", "w: 2")  # fmt: skip
    with pytest.raises(rb.errors.ModelError, match="x: a class; its size is a whole number"):
        rb.ask(written(tmp_path, text.replace(', q: "max(n, 0)"', "")), subject={"w": 37})


def test_what_was_taken_as_whole_is_whole_for_what_reads_it(tmp_path):
    """10000.5 - 9995.5 is 5, so that 5 x 20 - 99.0000000001 is a little under 1."""
    text = """\
parameters: {big: {value: 10000.5, range: [0, 20000], unit: euro, source: s},
             less: {value: 9995.5, range: [0, 20000], unit: euro, source: s}}
numbers: {five: {is: big - less, unit: euro}, n: {is: "five * 20 - 99.0000000001", range: [0, 1]}}
nodes: {x: {cpd: {kind: probability, p: $n}, source: s}}
questions: {risk: {target: x=no}}
"""
    path = written(tmp_path, text)
    assert float(rb.ask(path)) == pytest.approx(1e-10, rel=1e-3)
    assert float(rb.ask(path, set={"five": 5})) == pytest.approx(1e-10, rel=1e-3)


def test_a_condition_alone_keeps_its_parameter_where_a_table_is_assessed(tmp_path):
    text = """\
parameters: {q: {value: 0.1, source: s}, r: {value: 0.5, source: s}, pk: {value: 0.3, source: s}}
where: ["q <= r"]
subject: {class_size: {unit: records, range: [1, 10000], per: [known]}}
groups: {known: {members: [age, town], probability: [$pk, 0.25], source: s}}
nodes:
  right: {parents: [known], cpd: {kind: one-over, of: "@class_size"}, source: s}
  looks: {cpd: {kind: probability, p: $r}, source: s}
  risk_: {parents: [right, looks], cpd: {kind: and}, source: s}
questions: {risk: {target: risk_=yes}}
example: {class_size: [4, 3, 2, 1]}
"""
    people = rb.read_table({"age": [1, 1, 2, 2], "town": list("abab")},
                           quasi_identifiers=["age", "town"])  # fmt: skip
    found = rb.assess(written(tmp_path, text), people, known={"age": 0.3, "town": 0.25})
    by_hand = 0.5 * (0.7 * 0.75 / 4 + (0.3 * 0.75 + 0.7 * 0.25) / 2 + 0.3 * 0.25)
    assert found.risk() == pytest.approx(np.full(4, by_hand), abs=1e-12)


def test_a_page_refuses_names_that_scripts_use(tmp_path):
    path = written(tmp_path, LEFT.replace("x:", "constructor:").replace("[x]", "[constructor]")
                   .replace("given: {constructor: yes}", "given: {constructor: no}"))  # fmt: skip
    with pytest.raises(rb.UsageError, match="cannot hold the name constructor"):
        rb.load(path).page(tmp_path / "p.html")


def test_what_is_seen_keeps_its_column_beside_the_results(tmp_path):
    text = """\
nodes: {worth: {cpd: {kind: probability, p: 0.5}, source: s},
        hit: {parents: [d, worth], cpd: {kind: and}, source: s}}
decisions: {d: {options: [no, yes], sees: [worth], source: s}}
utilities: {gain: {of: [hit], unit: euro, source: s,
                   rows: [{when: {hit: yes}, value: 5}, {value: 0}]}}
questions: {risk: {target: hit=yes}}
"""
    policy = rb.decide(written(tmp_path, text)).policy
    assert sorted(policy["$worth"]) == ["no", "yes"]
    assert sorted(policy["worth"]) == [0, 5]
    rb.decide(written(tmp_path, text)).plot(tmp_path / "d.svg")
