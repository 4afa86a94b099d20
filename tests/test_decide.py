"""Attackers who decide, against every policy there is, and what each of them means for people."""

from itertools import product
from math import prod

import numpy as np
import pytest

import reidbn as rb
from tests.decision_oracle import Diagram, random_diagram
from tests.inside import inside

MOST = 600  # policies, and worlds, that are tried for one diagram


def policy_of(found, diagram):
    """The policy of a result in the oracle's words."""
    out = {}
    for name, table in found.tables.items():
        sees = diagram.decisions[name].get("sees", [])
        cases = [*product(*(diagram.states(p) for p in sees))]
        taken = table[0].reshape(len(cases), -1)
        assert set(np.unique(taken)) <= {0.0, 1.0}
        options = diagram.states(name)
        out[name] = {c: options[int(row.argmax())] for c, row in zip(cases, taken, strict=True)}
    return out


def small(rng, **how):
    """A random diagram that is quickly enumerated."""
    while True:
        words = random_diagram(rng, **how)
        diagram = Diagram.read(words)
        states = {n: len(diagram.states(n)) for n in (*diagram.decisions, *diagram.file["nodes"])}
        tries = [states[d] ** prod(states[p] for p in spec.get("sees", []))
                 for d, spec in diagram.decisions.items()]  # fmt: skip
        if prod(tries) <= MOST and prod(states.values()) <= MOST:
            return words, diagram


def tried_on(diagrams, seed):
    """Random diagrams against every policy there is; how many had two decisions."""
    rng = np.random.default_rng(seed)
    two = 0
    for i in range(diagrams):
        words, diagram = small(rng, ties=i % 4 == 0)
        attack = rb.attack.loads(words)
        found = rb.decide(attack)
        best, tried = diagram.best()
        assert tried > 1
        policy = policy_of(found, diagram)
        assert found.method == "exact"
        assert diagram.value(policy) == best, words
        assert found.value == pytest.approx(float(best), abs=1e-12 * 100), words
        risk = float(diagram.chance(policy, {"e0": "yes"}))
        assert found.risk == pytest.approx(risk, abs=1e-12), words
        for engine in ("exact", "enumeration", *(["pgmpy"] if i % 10 == 0 else [])):
            assert float(rb.ask(attack, "risk", engine=engine)) == pytest.approx(risk, abs=1e-12)
        two += len(diagram.decisions) == 2
    return two


def test_the_policy_is_the_best_of_all_on_random_diagrams():
    assert tried_on(20, seed=20261122) >= 5


@pytest.mark.slow
def test_the_policy_is_the_best_of_all_on_two_hundred_random_diagrams():
    assert tried_on(200, seed=20261123) >= 50


def test_a_tie_goes_to_the_attack():
    rng = np.random.default_rng(7)
    ties = 0
    for _ in range(24):
        words, diagram = small(rng, decisions=1, ties=True)
        found = rb.decide(rb.attack.loads(words))
        policy, best = policy_of(found, diagram), found.value
        ((name, taken),) = policy.items()
        options = diagram.states(name)
        order = [o for o in options if o == "yes"] or options[::-1]
        for case, option in taken.items():
            if not diagram.chance(
                {}, dict(zip(diagram.decisions[name]["sees"], case, strict=True))
            ):
                continue  # never seen
            later = order[: order.index(option)] if option in order else order
            for other in later:  # what would have gone first is worth less
                changed = {name: {**taken, case: other}}
                assert diagram.value(changed) < best - 1e-9
        if (found.policy["tied"]).any():
            ties += 1
            assert "worth the same" in str(found)
    assert ties >= 4


SIGN = """
schema_version: 1
name: sign
subject: {size: {unit: records, range: [1, 100]}}
parameters:
  p_aim: {value: 0, source: assumption}
nodes:
  aim: {cpd: {kind: probability, p: $p_aim}}
  guard: {rows: [{p: [0.5, 0.5]}], source: assumption}
  sign: {parents: [guard], rows: [{p: [1, 0]}]}
  named: {parents: [tries], cpd: {kind: one-over, of: "@size", only_if: [tries]}}
decisions:
  tries: {options: [no, yes], sees: [aim, sign]}
utilities:
  gain:
    of: [tries, aim]
    unit: euro
    rows: [{when: {tries: yes, aim: yes}, value: 5}, {when: {tries: yes}, value: -1}, {value: 0}]
    source: assumption
questions: {risk: {target: named=yes}}
example: {size: 4}
"""


def test_what_the_attacker_holds_impossible():
    """Nobody has the aim, and the sign is never sent."""
    attack = rb.loads(SIGN)
    assert float(rb.ask(attack, "tries=yes")) == 0
    for p in (0, 1e-9):  # an aim is seen and has no cause: it is reckoned with, rare or impossible
        assert float(rb.ask(attack, "tries=yes", do={"aim": "yes"}, set={"p_aim": p})) == 1
    assert float(rb.ask(attack, "tries=yes", do={"sign": "yes"})) == 1  # nothing to reckon with
    assert float(rb.ask(attack, "tries=yes", do={"sign": "yes", "aim": "yes"})) == 1
    for engine in ("pgmpy", "enumeration"):
        assert float(rb.ask(attack, "tries=yes", do={"sign": "yes"}, engine=engine)) == 1


def test_one_policy_for_all_stays_one_in_blocks(monkeypatch):
    attack = rb.loads(SIGN.replace("value: 0, source", "value: 1, source"))
    whole = rb.decide(attack, subject={"size": [2.0, 4, 5, 8, 10]})
    monkeypatch.setattr(inside(rb.decide), "at_once", lambda *_, **__: 2)
    found = rb.decide(attack, subject={"size": [2.0, 4, 5, 8, 10]})
    assert found.people["risk"].tolist() == [0.5, 0.25, 0.2, 0.125, 0.1]
    assert found.policy.equals(whole.policy)
    assert found.policy["people"].tolist() == [5]


# -- the shipped attacker, by hand -----------------------------------------------------------------

SIZES = [2000, 60, 150, 6, 40, 2, 5, 1]  # of the example, for each subset of what is known
CHANCES = [0.8, 0.6, 0.3]


def known(mask):
    """P(this subset is known)."""
    return np.prod([p if mask >> j & 1 else 1 - p for j, p in enumerate(CHANCES)])


def by_hand(sizes, *, p_audit=0.05, worth=400.0, amusement=30.0, fine=1000.0, effort=5.0):
    """P(attack), P(identified) and the attacker's gain, written out."""
    attacks = risk = value = 0.0
    for share, prize in ((0.002, worth), (0.05, amusement), (0.948, 0.0)):
        for mask, size in enumerate(sizes):
            gain = prize / size - p_audit * fine - effort
            if gain >= -1e-9:
                attacks += share * known(mask)
                risk += share * known(mask) / size
                value += share * known(mask) * gain
    return attacks, risk, value


@pytest.mark.parametrize(
    "changes", [{}, {"p_audit": 0.01}, {"fine": 0, "effort": 0}, {"worth": 110, "fine": 1000}]
)
def test_the_insider_does_what_is_worked_out_by_hand(changes):
    found = rb.decide("insider-decides", set=changes)
    attacks, risk, value = by_hand(SIZES, **changes)
    assert (found.attacks, found.risk, found.value) == pytest.approx((attacks, risk, value))
    assert found.method == "exact"
    assert float(rb.ask("insider-decides", "risk", set=changes)) == pytest.approx(risk, abs=1e-15)


def test_each_persons_own_chance_of_success_decides():
    sizes = [SIZES, [9] * 8, [1] * 8, [3, 3, 3, 3, 3, 3, 3, 3]]
    found = rb.decide("insider-decides", subject={"class_size": sizes})
    for i, own in enumerate(sizes):
        attacks, risk, value = by_hand(own)
        row = found.people.iloc[i]
        assert (row["attacks"], row["risk"], row["value"]) == pytest.approx((attacks, risk, value))
    money = found.policy[(found.policy["aim"] == "money") & (found.policy["known"] == "nothing")]
    assert money.set_index("class")["people"].sum() == 4
    assert sorted(money["takes"]) == ["no", "no", "yes"]  # alike: nines and nothing else
    assert found.policy.groupby("class")["people"].first().tolist() == [2, 1, 1]


@pytest.fixture(scope="module")
def people():
    table = rb.datasets.synthetic_patients(400, seed=3)
    return rb.read_table(table, quasi_identifiers=["age", "sex", "state", "race"])


def test_of_an_assessment_there_is_a_row_for_everybody(people):
    result = rb.assess("insider-decides", people, set={"worth": 160})
    found = rb.decide(result)
    assert list(found.people[["attacks", "risk"]].columns) == ["attacks", "risk"]
    assert len(found.people) == 400
    np.testing.assert_allclose(found.people["risk"], result.people["overall"], rtol=0, atol=1e-15)
    size = people.k()["k"] if hasattr(people.k(), "columns") else np.asarray(people.k())
    pays = 160 / np.asarray(size) >= 55
    assert 0 < pays.sum() < 400
    np.testing.assert_allclose(found.people["attacks"] > 0.001, pays)
    assert found.policy.groupby("class")["people"].first().sum() == 400
    assert found.risk == pytest.approx(found.people["risk"].mean())


# -- what-if, softened attackers, what knowing is worth, what stops him ----------------------------


def test_what_if_through_a_decision_is_scanned_and_says_so():
    bars = rb.tornado("insider-decides")
    assert all(bar.method.startswith("scan of") for bar in bars.bars)
    table = rb.sweep("insider-decides", "risk", {"p_audit": [0.0, 0.01, 0.05, 0.1, 0.4]})
    expected = [by_hand(SIZES, p_audit=p)[1] for p in table["p_audit"]]
    np.testing.assert_allclose(table["probability"], expected, rtol=0, atol=1e-15)
    given = rb.tornado("insider-decides", over=["p_audit"], do={"attacks": "yes"})
    assert [bar.swing for bar in given.bars] == [0.0]  # he does not decide: nothing moves it
    found = rb.solve("insider-decides", "risk", "p_audit", 0.0004)
    assert "exact" not in str(found).lower() or "scan" in str(found).lower()


def test_a_softened_attacker_is_the_logit_of_his_worth():
    found = rb.decide("insider-decides", temperature=20.0)
    for row in found.policy.itertuples():
        assert row.p == pytest.approx(1 / (1 + np.exp(-row.ahead / 20)))
    cold = rb.decide("insider-decides", temperature=1e-3)
    assert cold.risk == pytest.approx(rb.decide("insider-decides").risk)
    assert found.value < rb.decide("insider-decides").value
    text = rb.attack.dumps(rb.load("insider-decides"))
    seen = "sees: [aim, known]"
    warm = rb.attack.loads(text.replace(seen, f"{seen}\n    temperature: $effort"))
    assert rb.attack.loads(rb.attack.dumps(warm)) == warm
    table = rb.sweep(warm, "risk", {"effort": [5.0, 20.0]})
    expected = [float(rb.decide("insider-decides", set={"effort": t}, temperature=t).risk)
                for t in (5.0, 20.0)]  # fmt: skip
    np.testing.assert_allclose(table["probability"], expected, rtol=1e-12)
    with pytest.raises(rb.ReidbnError, match="below 0"):
        rb.decide("insider-decides", temperature=-1.0)


def test_a_temperature_of_the_call_needs_no_source_in_the_file():
    """It was refused as a number without a source, at an address that the file does not have."""
    text = """
schema_version: 1
name: tries
parameters: {worth: {value: 3, unit: euro, source: assumption}}
nodes: {there: {cpd: {kind: probability, p: 0.5}, source: assumption}}
decisions: {tries: {options: [no, yes]}}
utilities:
  gain: {of: [tries], unit: euro, rows: [{when: {tries: yes}, value: $worth}, {value: 0}],
         source: assumption}
questions: {risk: {target: tries=yes}}
"""
    found = rb.decide(rb.attack.loads(text), temperature=2.0)
    assert found.attacks == pytest.approx(1 / (1 + np.exp(-1.5)), rel=1e-12)


def test_what_seeing_the_audit_is_worth_to_the_attacker():
    found = rb.decide("insider-decides").information(["noticed"])
    calm = by_hand(SIZES, p_audit=0.0)[2] * 0.95  # noticed: he stays at home
    assert found["gain"][0] == pytest.approx(calm - by_hand(SIZES)[2])
    with pytest.raises(rb.UsageError, match="seen already"):
        rb.decide("insider-decides").information(["aim"])


def test_controls_are_ordered_by_what_they_bring_for_their_cost():
    before = rb.decide("insider-decides")
    found = before.controls({
        "audits": {"set": {"p_audit": 0.2}, "cost": 1000},
        "contract": {"set": {"fine": 10_000}, "cost": 200},
        "nothing": {"set": {}, "cost": 1},
    })  # fmt: skip
    assert found["control"].tolist() == ["contract", "audits", "nothing"]
    risks = [by_hand(SIZES, fine=10_000)[1], by_hand(SIZES, p_audit=0.2)[1], by_hand(SIZES)[1]]
    np.testing.assert_allclose(found["risk"], risks, atol=1e-15)
    np.testing.assert_allclose(found["per_cost"], (before.risk - found["risk"]) / found["cost"])
    with pytest.raises(rb.UsageError, match="has no cost"):
        before.controls({"audits": {"set": {"p_audit": 0.2}}})


def test_another_policy_is_asked_for_by_name_rows_or_result():
    attack = rb.load("insider-decides")
    every = sum(known(m) / size for m, size in enumerate(SIZES))
    assert float(rb.ask(attack, "risk", policy={"attacks": "yes"})) == pytest.approx(every)
    rows = [{"when": {"aim": "money", "knows_job": "yes"}, "p": {"yes": 0.5, "no": 0.5}},
            {"p": {"no": 1}}]  # fmt: skip
    half = 0.5 * 0.002 * sum(known(m) / size for m, size in enumerate(SIZES) if m & 4)
    assert float(rb.ask(attack, "risk", policy={"attacks": rows})) == pytest.approx(half)
    old = rb.decide(attack, set={"p_audit": 0.01})
    still = rb.ask(attack, "risk", policy=old, set={"p_audit": 0.4})
    assert float(still) == pytest.approx(by_hand(SIZES, p_audit=0.01)[1])
    assert float(rb.ask(old.attack, "risk")) == pytest.approx(old.risk)
    with pytest.raises(rb.UsageError, match='no option "maybe"'):
        rb.ask(attack, "risk", policy={"attacks": "maybe"})
    with pytest.raises(rb.UsageError, match='no decision "tries"'):
        rb.ask(attack, "risk", policy={"tries": "yes"})


# -- every room that meets a decision handles it, or refuses with a remedy -------------------------


def same_as_exact(engine):
    def ask(attack, folder):
        risk = float(rb.ask(attack, "risk", engine=engine))
        assert risk == pytest.approx(by_hand(SIZES)[1], abs=1e-12)

    return ask


def sampled(attack, folder):
    found = rb.ask(attack, "tries", engine="sampling", draws=200_000, seed=5)
    low, high = found.interval
    assert low <= by_hand(SIZES)[0] <= high  # 95 %: the seed is fixed


def crosschecked(attack, folder):
    found = rb.crosscheck(attack, "risk", draws=20_000, seed=1)
    assert found.agrees if hasattr(found, "agrees") else found


def saved(attack, folder):
    attack.save(folder / "x.yaml")
    again = rb.load(folder / "x.yaml")
    assert again == attack
    assert again.fingerprint == attack.fingerprint
    dearer = attack.with_values({"fine": 7.0})
    assert dearer != attack
    assert {*attack.decisions} == {*again.decisions} == {"attacks"}


def exported(attack, folder):
    for name in ("x.bif", "x.xmlbif", "x.xdsl"):
        with pytest.raises(rb.UsageError, match=r"rb\.decide\(attack\)\.attack"):
            rb.export(attack, folder / name)
        rb.export(rb.decide(attack).attack, folder / name)
    rb.export(attack, folder / "x.dot")
    text = (folder / "x.dot").read_text()
    assert "shape=diamond" in text
    with pytest.raises(rb.UsageError, match=r"rb\.decide\(attack\)\.attack"):
        attack.to_pgmpy()


def drawn(attack, folder):
    svg = rb.draw(attack, folder / "x.svg", marginals=True).svg
    for word in ("attacks", "gain", "penalty", "trouble", "fine = 1,000 (assumed)"):
        assert word in svg


def checked(attack, folder):
    assert rb.check(attack) == ()


def in_schema(attack, folder):
    words = rb.attack.json_schema()["properties"]
    assert {"decisions", "utilities"} <= {*words}


def expected(attack, folder):
    number = rb.whatif.expect(attack, "attacks")
    assert float(number) == pytest.approx(by_hand(SIZES)[0])
    tried = rb.whatif.expect(attack, "known", given={"attacks": "yes"})
    hit = [m for m, s in enumerate(SIZES) if 400 / s >= 55]
    mean = sum(known(m) * m.bit_count() for m in hit) / sum(map(known, hit))
    assert float(tried) == pytest.approx(mean)


def swept(attack, folder):
    found = rb.sweep(attack, "risk", {"worth": [0, 400]})["probability"].tolist()
    assert found == [0.0, pytest.approx(by_hand(SIZES)[1])]


def compared(attack, folder):
    found = rb.compare(attack, "risk", {}, {"set": {"fine": 0}})
    assert found.answer_after == pytest.approx(by_hand(SIZES, fine=0)[1])


def integrated(attack, folder):
    found = rb.whatif.uncertainty(attack, "risk", over=["p_audit"])
    grid = np.linspace(0, 0.5, 20_001)
    mean = np.mean([by_hand(SIZES, p_audit=p)[1] for p in grid[::20]])
    assert float(found.mean) == pytest.approx(mean, abs=5e-5)


def explained(attack, folder):
    assert rb.most_probable(attack, given={"attacks": "yes"}).case["aim"] == "money"


def evidence_and_interventions(attack, folder):
    caught = rb.ask(attack, "caught_if_tried")
    assert float(caught) == pytest.approx(0.05)
    assert float(rb.ask(attack, "risk", do={"attacks": "no"})) == 0.0
    unaware = rb.ask(attack, "caught=yes", do={"noticed": "yes"})  # he is not told
    assert float(unaware) == pytest.approx(by_hand(SIZES)[0])
    with pytest.raises(rb.ImpossibleEvidence):
        rb.ask(attack, "risk", given={"attacks": "yes", "aim": "none"})


def renamed_as_a_part(attack, folder):
    with pytest.raises(rb.ModelError, match="use extends"):
        rb.attack.loads('{"schema_version": 1, "name": "w", "use": [{"model": "insider-decides", '
                        '"as": "p"}], "nodes": {"n": {"cpd": {"kind": "uniform"}}}}')  # fmt: skip
    words = '{"schema_version": 1, "name": "v", "extends": "insider-decides"}'
    assert float(rb.ask(rb.attack.loads(words), "risk")) == float(rb.ask(attack, "risk"))


def told_of_assumptions(attack, folder):
    from reidbn.attack import assumptions_behind

    assert {"fine", "worth", "p_audit"} <= {*assumptions_behind(attack, ["identified"])}
    assert "fine" not in assumptions_behind(attack, ["identified"], done=["attacks"])


ROOMS = {
    "ask": same_as_exact("exact"), "enumeration": same_as_exact("enumeration"),
    "pgmpy": same_as_exact("pgmpy"), "sampling": sampled, "crosscheck": crosschecked,
    "save": saved, "export": exported, "draw": drawn, "check": checked, "schema": in_schema,
    "expect": expected, "sweep": swept, "compare": compared, "uncertainty": integrated,
    "most_probable": explained, "given and do": evidence_and_interventions,
    "reuse": renamed_as_a_part, "assumptions": told_of_assumptions,
}  # fmt: skip


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_decides_or_refuses_with_a_remedy(room, tmp_path):
    ROOMS[room](rb.load("insider-decides"), tmp_path)


@pytest.mark.slow
def test_an_assessment_of_deciders_is_reported_checked_and_varied(people, tmp_path):
    result = rb.assess("insider-decides", people)
    result.report(tmp_path / "r.html")
    said = (tmp_path / "r.html").read_text()
    assert "What being caught costs" in said
    result.keep_crosscheck(draws=2_000)
    voter = rb.assess("insider-decides", people, scenario="voter-registration")
    found = rb.decide(voter)
    np.testing.assert_allclose(found.people["risk"], voter.people["overall"], rtol=0, atol=1e-15)
    assert all(b.method.startswith("scan") for b in rb.tornado(result, over=["fine"]).bars)


# -- files -----------------------------------------------------------------------------------------

SLIPS = {
    "sees: [aim, known]": [
        ("sees: [aim, knwon]", r'decisions\.attacks\.sees\[1\]: unknown node "knwon"'),
        ("sees: [caught]", "the story goes in a circle"),
    ],
    "options: [no, yes]": [("options: [yes]", r"decisions\.attacks\.options: a decision needs")],
    "value: $worth": [
        ("value: $wroth", r'utilities\.gain\.rows\[0\]\.value: no parameter "wroth"'),
        ("value: $p_audit", r'utilities\.gain\.rows\[0\]\.value: \$p_audit is in "probability"'),
        ("value: 400 euro", r"utilities\.gain\.rows\[0\]\.value"),
        ("value: 400", r"utilities\.gain\.source: holds numbers without a source"),
    ],
    "of: [caught]": [
        ("of: [cought]", r'utilities\.penalty\.of\[0\]: unknown node "cought"'),
        ("of: [known]", r"utilities\.penalty\.of\[0\]: known is a group"),
    ],
    "when: {caught: yes}": [("when: {caught: maybe}", 'caught has no state "maybe"')],
    "unit: euro\n    rows:\n      - {when: {caught": [
        ("unit: hours\n    rows:\n      - {when: {caught", "they are added")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [(old, new, message) for old, slips in SLIPS.items() for new, message in slips],
)
def test_a_slip_in_a_decision_is_told_with_its_place(old, new, message):
    text = rb.attack.dumps(rb.load("insider-decides"))
    assert old in text
    with pytest.raises(rb.ModelError, match=message) as told:
        rb.attack.loads(text.replace(old, new))
    assert "<text>:" in str(told.value)


def test_a_decision_that_moves_nothing_is_a_warning():
    text = rb.attack.dumps(rb.load("insider-decides"))
    idle = text.replace("utilities:\n", "  rests: {options: [no, yes]}\nutilities:\n", 1)
    warned = [p.message for p in rb.attack.loads(idle).warnings]
    assert any("moves no utility" in message for message in warned)


def test_a_softened_attacker_is_not_said_to_do_best():
    """ "Exact: no policy is worth more", of one who loses three euro where .14 could be won."""
    cold, warm = rb.decide("insider-decides"), rb.decide("insider-decides", temperature=20)
    assert warm.value < 0 < cold.value
    for text in (str(warm), warm.to_dict()["in_words"]):
        assert "no policy is worth more" not in text
        assert "exp(worth / temperature)" in text
    assert repr(warm).endswith("(exact under his temperature)")
    assert "no policy is worth more" in str(cold)
    assert repr(cold).endswith("(exact)")


def test_a_gain_that_is_rounding_is_none():
    """5.6e-17 euro, for seeing what never changes what he does."""
    text = rb.attack.dumps(rb.load("insider-decides"))
    odd = "\nnodes:\n  weather: {cpd: {kind: probability, p: 0.1}, source: assumption}\n"
    found = rb.decide(rb.loads(text.replace("\nnodes:\n", odd, 1))).information()
    told = dict(zip(found["node"], found["gain"], strict=True))
    assert told["weather"] == 0
    assert told["noticed"] > 0.2


@pytest.mark.parametrize("question", ["identified=yes or aim=money", "not aim=none"])
def test_what_a_question_made_for_itself_is_nothing_to_see(question):
    plain = rb.decide("insider-decides").information()["node"].tolist()
    assert rb.decide("insider-decides", question).information()["node"].tolist() == plain


def test_a_cost_that_is_above_nought_is_told_by_its_place():
    text = rb.attack.dumps(rb.load("insider-decides"))
    assert rb.loads(text).warnings == rb.load("insider-decides").warnings
    found = rb.loads(text.replace("value: $loss", "value: $fine")).warnings
    (told,) = (w for w in found if w.where[:2] == ("utilities", "penalty"))
    assert told.message.startswith("$fine is above 0")


def test_a_policy_line_is_copied_as_it_is():
    line = next(x for x in str(rb.decide("insider-decides")).splitlines() if "--policy" in x)
    rules = line.partition(": ")[2]
    own = rb.ask("insider-decides", "risk", policy=rules)
    assert float(own) == pytest.approx(float(rb.ask("insider-decides", "risk")), abs=1e-12)


def test_evidence_that_can_never_be_seen_is_told_before_it_is_asked(tmp_path):
    text = rb.attack.dumps(rb.load("breakfast"))
    text = text.replace("questions:", "questions:\n  odd: {target: identified=yes, "
                        "given: {overheard: {yes: 0, no: 0}}}")  # fmt: skip
    (tmp_path / "odd.yaml").write_text(text)
    assert any("every likelihood is 0" in str(w) for w in rb.check(tmp_path / "odd.yaml"))
