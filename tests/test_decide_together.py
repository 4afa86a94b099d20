"""Attackers who decide together without seeing what the other sees, against every policy."""

import json
from itertools import product

import numpy as np
import pytest

import reidbn as rb
from reidbn.cli import main
from tests.inside import inside
from tests.test_decide import policy_of, small


def forgetful(diagrams, seed, *, decisions):
    """Random diagrams that forget, the oracle's, and what was decided; those decided together."""
    rng = np.random.default_rng(seed)
    for i in range(diagrams):
        words, diagram = small(rng, decisions=decisions, forgets=True, ties=i % 4 == 0)
        attack = rb.loads(words)
        if inside(rb.decide).order_of(attack)[1]:
            yield words, attack, diagram


def best_where_it_forgets(diagrams, seed):
    """How many had to be decided together, all of them by the best of all policies."""
    together = 0
    for decisions in (2, 3):
        for words, attack, diagram in forgetful(diagrams, seed, decisions=decisions):
            found = rb.decide(attack)
            policy = policy_of(found, diagram)
            assert found.method == "exact"
            assert diagram.value(policy) == diagram.best()[0], words
            risk = float(diagram.chance(policy, {"e0": "yes"}))
            for engine in ("exact", "enumeration"):
                assert float(rb.ask(attack, "risk", engine=engine)) == pytest.approx(
                    risk, abs=1e-12
                )
            together += 1
    return together


def test_what_forgets_is_the_best_of_all_policies():
    assert best_where_it_forgets(20, seed=11) >= 10


@pytest.mark.slow
def test_what_forgets_is_the_best_of_all_policies_of_many():
    assert best_where_it_forgets(200, seed=12) >= 100


def declared_backwards(words):
    """The same model, its decisions declared and its nodes seen in the other order."""
    file = json.loads(words)
    file["decisions"] = dict(reversed(file["decisions"].items()))
    for node in file["decisions"].values():
        node["sees"] = node.get("sees", [])[::-1]
    return json.dumps(file)


def ties_of_teams(diagrams, seed):
    """How many had ties, all of them as every policy there is says."""
    rng = np.random.default_rng(seed)
    several = 0
    for _ in range(diagrams):
        words, diagram = small(rng, decisions=2, forgets=True, ties=True)
        attack = rb.loads(words)
        if inside(rb.decide).order_of(attack)[0]:
            continue  # one of them is solved for itself
        found = rb.decide(attack)
        policy = policy_of(found, diagram)
        attacks, eager, differ = diagram.tied()
        assert diagram.value(policy) == diagram.best()[0], words
        assert diagram.eagerness(policy) == (attacks, eager), words
        assert found.attacks == pytest.approx(float(attacks), abs=1e-12)
        for name, choice in found.choices.items():
            cases = product(*(diagram.states(p) for p in diagram.decisions[name]["sees"]))
            seen = found.seen[name].reshape(-1) > 0
            flags = np.broadcast_to(choice.tied, found.seen[name].shape).reshape(-1)
            for case, flag, ever in zip(cases, flags, seen, strict=True):
                if ever:
                    assert flag == (case in differ[name]), (words, name, case)
        if found.policy["tied"].any():
            several += 1
            assert "worth the same" in str(found)
            assert "worth the same" in found.to_dict()["notes"][0]
        again = rb.decide(rb.loads(declared_backwards(words)))
        assert again.risk == pytest.approx(found.risk, abs=1e-12), words
        assert again.chances == {d: pytest.approx(p) for d, p in found.chances.items()}
    return several


def test_of_joint_policies_worth_the_same_it_is_the_one_that_attacks_most():
    """The lower risk was told, by which decision was declared first, and nothing of a tie."""
    assert ties_of_teams(40, seed=5) >= 5


@pytest.mark.slow
def test_of_joint_policies_worth_the_same_it_is_the_one_that_attacks_most_of_many():
    assert ties_of_teams(600, seed=6) >= 60


@pytest.mark.wide
def test_too_many_to_try_are_local_and_no_decision_alone_betters_them(monkeypatch):
    monkeypatch.setattr(inside(inside(rb.decide).order_of), "MOST_POLICIES", 0)
    local = worse = 0
    for _, attack, diagram in forgetful(40, 11, decisions=2):
        found = rb.decide(attack)
        policy = policy_of(found, diagram)
        value = diagram.value(policy)
        assert found.value == pytest.approx(float(value), abs=1e-10)
        assert found.method == "local"
        local += 1
        worse += value < diagram.best()[0]
        assert "may be worth more" in str(found)
        for name in policy:
            rest = {k: v for k, v in policy.items() if k != name}
            cases = list(policy[name])
            for taken in product(diagram.states(name), repeat=len(cases)):
                other = {name: dict(zip(cases, taken, strict=True)), **rest}
                assert diagram.value(other) <= value
        with pytest.raises(rb.UsageError, match="local, another may be worth more"):
            rb.ask(attack, "risk")
        risk = float(diagram.chance(policy, {"e0": "yes"}))
        assert float(rb.ask(attack, "risk", policy=found)) == pytest.approx(risk, abs=1e-12)
    assert local >= 8


TEAM = """
schema_version: 1
name: team
repeat: {who: [ann, bob]}
parameters:
  p_[who]: {value: 0.702, range: [0, 1], source: assumption}
  worth: {value: 10.88, range: [0, 100], unit: euro, source: assumption}
  p_audit: {value: 0.2, range: [0, 1], source: assumption}
  fine: {value: 11.65, range: [0, 100], unit: euro, source: assumption}
numbers: {loss: "-fine"}
subject: {size: {per: known, unit: records, range: [1, 1000000]}}
groups: {known: {members: [k1, k2], probability: [0.6, 0.3], source: assumption}}
decisions:
  tries_[who]: {options: [no, yes], sees: ["s_[who]", known]}
utilities:
  gain_[who]: {of: ["hit_[who]"], unit: euro, source: assumption,
               rows: [{when: {"hit_[who]": yes}, value: $worth}, {value: 0}]}
  penalty: {of: [audit, n], unit: euro, source: assumption,
            rows: [{when: {audit: yes, n: ">=1"}, value: $loss}, {value: 0}]}
nodes:
  s_[who]: {cpd: {kind: probability, p: "$p_[who]"}}
  right: {parents: [known], cpd: {kind: one-over, of: "@size"}}
  hit_[who]: {parents: ["tries_[who]", "s_[who]", right], cpd: {kind: and}}
  n: {states: [0, 1, 2], parents: ["tries_*"], cpd: {kind: count}}
  audit: {cpd: {kind: probability, p: $p_audit}}
  any: {parents: ["hit_*"], cpd: {kind: or}}
questions: {risk: {target: any=yes}, tries: {expect: n}}
example: {size: [8, 7, 7, 2]}
"""


def team_worth(subject, p_ann, p_bob):
    """The best of all pairs of policies, case by case of what both see: worth, and risk."""
    value = risk = 0.0
    for case, size in enumerate(subject):
        chance = (0.6 if case & 1 else 0.4) * (0.3 if case & 2 else 0.7)
        found = []
        for a, b in product(product((1, 0), repeat=2), repeat=2):  # tries unsighted, and sighted
            worth = any_hit = 0.0
            for s, t in product((0, 1), repeat=2):
                p = (p_ann if s else 1 - p_ann) * (p_bob if t else 1 - p_bob)
                hits = a[s] * s + b[t] * t
                worth += p * (10.88 * hits / size - 0.2 * 11.65 * (a[s] or b[t]))
                any_hit += p * (hits > 0) / size
            found.append((worth, any_hit))
        best = max(found)
        value, risk = value + chance * best[0], risk + chance * best[1]
    return value, risk


def test_two_who_would_both_have_to_try_do():
    """Alone it pays for neither, and no single policy can be bettered: together it pays for both.

    Blocks of settings and of people find the same, and it is within the file's own gate or not.
    """
    attack = rb.loads(TEAM)
    people = [[8, 7, 7, 2], [50, 8, 4, 1], [9, 8, 2, 1], [1, 1, 1, 1]]
    found = rb.decide(attack, subject={"size": np.array(people, dtype=float)})
    assert found.method == "exact"
    for i, subject in enumerate(people):
        value, risk = team_worth(subject, 0.702, 0.702)
        assert found.values[i] == pytest.approx(value, abs=1e-12)
        assert float(rb.ask(attack, "risk", subject={"size": subject})) == pytest.approx(risk)
    assert team_worth(people[0], 0.702, 0.702)[1] > 0.15
    table = rb.sweep(attack, "risk", {"p_ann": [0.1, 0.7, 0.75, 0.9], "p_bob": [0.5, 0.71]})
    for row in table.to_dict("records"):
        assert row["probability"] == pytest.approx(
            team_worth(people[0], row["p_ann"], row["p_bob"])[1]
        )


CROWD = TEAM.replace("[ann, bob]", "[ann, bob, cem, dora, eva, finn, gül, hans, ida]").replace(
    "[0, 1, 2]", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
)
ANSWERS = {
    "ask": lambda a: rb.ask(a, "risk"),
    "ask by sampling": lambda a: rb.ask(a, "risk", engine="sampling", draws=1000),
    "expect": lambda a: rb.expect(a, "n"),
    "sweep": lambda a: rb.sweep(a, "risk", {"p_audit": [0.1, 0.2]}),
    "tornado": lambda a: rb.tornado(a, "risk"),
    "solve": lambda a: rb.solve(a, "risk", "p_audit", 0.05),
    "uncertainty": lambda a: rb.uncertainty(a, "risk", draws=100),
    "sobol": lambda a: rb.sobol(a, "risk", over=["p_audit", "fine"]),
    "compare": lambda a: rb.compare(a, "risk", {"p_audit": 0.5}),
    "crosscheck": lambda a: rb.crosscheck(a, draws=1000),
    "learn": lambda a: rb.learn(a, [{"target": "any=yes", "hits": 1, "trials": 4}]),
}


def test_a_group_that_every_attacker_sees_is_no_table_of_them_all(monkeypatch):
    """With seven of them each update multiplied out what all might do: 48 CPU s, and 4 now."""
    seven = CROWD.replace(", hans, ida]", "]").replace("7, 8, 9]", "7]")
    opened, exact = rb.decide(rb.loads(seven)), inside(inside(rb.decide).Plan)
    monkeypatch.setattr(exact, "MOST_OPENED", 0)
    three = CROWD.replace(", dora, eva, finn, gül, hans, ida]", "]").replace(
        "3, 4, 5, 6, 7, 8, 9]", "3]"
    )
    closed = rb.decide(rb.loads(three))
    monkeypatch.setattr(exact, "MOST_OPENED", 6)
    again = rb.decide(rb.loads(three))
    assert (closed.value, closed.risk) == pytest.approx((again.value, again.risk), abs=1e-13)
    assert opened.risk > closed.risk


@pytest.mark.parametrize("room", ANSWERS)
def test_no_answer_is_built_on_a_policy_that_is_only_local(room):
    with pytest.raises(rb.UsageError, match="its risk may be higher") as told:
        ANSWERS[room](rb.loads(CROWD))
    assert "with_policy" in str(told.value)


def test_a_cross_check_says_that_no_engine_checks_the_policy():
    check = rb.crosscheck(rb.loads(TEAM), "any=yes", draws=2000)
    words = "not checked: the attacker's policy (tries_ann, tries_bob), which all engines share"
    assert words in str(check)
    assert check.to_dict()["not_checked"] == words
    assert not rb.crosscheck("leak-single", draws=2000).not_checked


@pytest.mark.parametrize("limit", ["0.5", "5"])
def test_a_gate_of_a_mean_is_refused_as_what_it_is(limit, tmp_path, capsys):
    file = tmp_path / "team.yaml"
    file.write_text(TEAM)

    def told(command, question, *options):
        with pytest.raises(SystemExit) as left:
            main([command, str(file), question, *options])
        return left.value.code, "".join(capsys.readouterr())

    for command in (["ask"], ["sweep", "--over", "p_audit"]):
        code, text = told(command[0], "tries", *command[1:], "--fail-above", limit)
        assert code == 2
        assert "needs a probability: ask for an event, such as node>=2" in text
        code, text = told(command[0], "risk", *command[1:], "--fail-above", "5")
        assert code == 2
        assert "write 5 people alike as 0.2" in text
        assert told(command[0], "risk", *command[1:], "--fail-above", "0.1")[0] == 1


def test_what_it_would_be_worth_to_see_more_is_refused_of_a_local_policy(monkeypatch):
    """It went on for minutes, policy by policy, for numbers of no use."""
    found = rb.decide(rb.loads(TEAM))
    assert len(found.information(["audit"])) == 1
    asked = []
    monkeypatch.setattr(inside(inside(rb.decide).order_of), "MOST_POLICIES", 0)
    local = rb.decide(rb.loads(TEAM))
    assert local.method == "local"
    monkeypatch.setattr(inside(rb.decide), "decided", lambda *a, **k: asked.append(a))
    with pytest.raises(rb.UsageError, match="local, another may be worth more: what it would be"):
        local.information()
    assert not asked


def test_a_refusal_says_which_policy_can_be_given_where(monkeypatch, tmp_path, capsys):
    """In the shell it read "(policy=, --policy)" with both in the shell's words."""
    monkeypatch.setattr(inside(inside(rb.decide).order_of), "MOST_POLICIES", 0)
    with pytest.raises(rb.UsageError, match=r"attack.with_policy\(...\), or rb.decide\(attack\)"):
        rb.ask(rb.loads(TEAM), "risk")
    model = tmp_path / "team.yaml"
    model.write_text(TEAM)
    for words in (["ask", str(model)], ["sweep", str(model), "risk", "--over", "worth=1,2"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        said = " ".join(capsys.readouterr().err.split())
        assert "kept whatever is asked or set: --policy 'DECISION=OPTION if NODE=STATE'" in said
        assert "rb." not in said


def people_of_team(count):
    sizes = np.random.default_rng(0).integers(1, 60, size=(count, 4))
    return {"size": -np.sort(-sizes, axis=1).astype(float)}


def test_those_who_decide_together_are_walked_through_in_blocks_of_people(monkeypatch):
    """The tables of all their policies were of everybody at once: 440 MB of 4,000 people."""
    four = rb.loads(crowd_of("ann, bob, cem, dora"))
    subject = people_of_team(60)
    whole, asked = rb.decide(four, subject=subject), rb.ask(four, "risk", subject=subject)
    largest, summed = [], inside(inside(rb.decide).Solved).Solver._summed

    def noted(self, *more):
        found = summed(self, *more)
        largest.append(found[0].size)
        return found

    monkeypatch.setattr(inside(inside(rb.decide).Solved).Solver, "_summed", noted)
    monkeypatch.setattr(inside(rb.ask), "MEMORY", 1 << 24)
    blocks = rb.decide(four, subject=subject)
    assert max(largest) * 8 * 8 <= 1 << 24  # eight such tables at once
    assert (blocks.risks == whole.risks).all()
    assert (blocks.values == whole.values).all()
    again = rb.ask(four, "risk", subject=subject)
    assert max(largest) * 8 * 8 <= 1 << 24
    assert (again.probability == asked.probability).all()


def crowd_of(names):
    count = names.count(",") + 1
    return TEAM.replace("[ann, bob]", f"[{names}]").replace("[0, 1, 2]", str([*range(count + 1)]))


def test_a_group_that_nine_attackers_see_is_not_summed_over_for_all_that_they_do(monkeypatch):
    """Its message was one table over all of them and their options: 46 CPU s for nine."""
    exact = inside(inside(inside(rb.decide).Solved).Plan)
    monkeypatch.setattr(exact, "MOST_SUMS", 1 << 12)
    found = rb.decide(rb.loads(CROWD))
    assert found.method == "local"
    right = 0.4 * 0.7 / 8 + 0.6 * 0.7 / 7 + 0.4 * 0.3 / 7 + 0.6 * 0.3 / 2  # all nine try
    assert found.risk == pytest.approx(right * (1 - 0.298**9), abs=1e-12)


@pytest.mark.parametrize("names", ["ann, bob", "a, b, c, d, e, f, g, h, i"])
def test_attackers_whose_policy_would_take_hours_are_refused_before_they_decide(names, monkeypatch):
    attack = rb.loads(crowd_of(names))
    deciding = inside(inside(rb.decide).Solved)
    took = []
    monkeypatch.setattr(deciding, "MOST_DECIDED", 1000)
    monkeypatch.setattr(deciding.Solver, "choice", lambda *_: took.append(1))
    with pytest.raises(rb.errors.TooLarge, match="decided together") as told:
        rb.decide(attack, subject=people_of_team(20))
    assert not took
    assert "for 20 people" in str(told.value)
    assert "attack.with_policy(...)" in str(told.value)
    assert "--policy 'DECISION=OPTION if NODE=STATE'" in told.value.in_shell


FORGETS = """
schema_version: 1
name: forgets
nodes:
  x: {rows: [{p: {yes: 0.5, no: rest}}], source: x}
decisions:
  first: {options: [no, yes], sees: [x]}
  second: {options: [no, yes], sees: [first]}
utilities:
  u: {of: [x, first, second], unit: euro, source: x, rows: [
    {when: {first: no}, value: 10},
    {when: {first: yes, x: yes, second: no}, value: 8},
    {when: {first: yes, x: no, second: no}, value: 6},
    {when: {first: yes, second: yes}, value: 1}]}
"""


@pytest.mark.parametrize(("sees", "best"), [("[first]", (9, 9)), ("[first, x]", (4, 2))])
def test_what_is_ahead_on_a_path_never_taken_says_what_follows_there(sees, best):
    """By hand: first=yes is worth 6 or 8 if second=no follows, which one that sees x would do."""
    found = rb.decide(rb.loads(FORGETS.replace("sees: [first]", f"sees: {sees}")), "first=yes")
    told = found.policy.query("decision == 'first'").sort_values("x")
    assert tuple(told["ahead"]) == best
    is_open = sees == "[first]"
    assert ("second is decided together with others" in str(found)) == is_open
    assert any("is left open" in note for note in found.to_dict()["notes"]) == is_open


MEETS_ITS_END = """
schema_version: 1
name: ends
title: t
story: s
sources: [me]
parameters:
  a: {value: 0.2, range: [0, 0.9], source: me}
  b: {value: 0.3, range: [0, 0.9], source: me}
nodes:
  size: {states: [s, m, l], rows: [{p: [$a, $b, rest]}]}
  named: {parents: [size, tries], rows: [{when: {size: s, tries: yes}, p: {yes: 1}}, {p: {no: 1}}]}
decisions:
  tries: {options: [no, yes], story: x}
utilities:
  gain: {of: [named, tries], unit: euro, source: me,
         rows: [{when: {named: yes}, value: 10}, {when: {tries: yes}, value: -1}, {value: 0}]}
questions:
  risk: {target: named=yes}
"""


def test_ranges_that_leave_no_table_are_cut_and_refused_where_somebody_decides_as_elsewhere():
    """a + b is at most one: the search for ties along a whole range stopped at what is beyond."""
    attack = rb.loads(MEETS_ITS_END)
    bar = rb.tornado(attack, "risk")["a"]
    assert (bar.low, bar.high) == (0, pytest.approx(0.7))
    assert "range ends at 0.7" in bar.notes[0]
    for asks in (rb.uncertainty, rb.sobol):
        with pytest.raises(rb.UsageError, match=r"the ranges of a, b meet where no answer is"):
            asks(attack, "risk", over=["a", "b"])
    found = rb.uncertainty(attack, "risk", over={"a": (0.3, 0.5)})
    assert found.mean == pytest.approx(0.4, abs=5e-3)  # tries where a is above a tenth
