"""A policy in words: as rb.decide prints it, read again in Python and in the shell."""

import json

import numpy as np
import pytest

import reidbn as rb
from tests.test_decide import small
from tests.test_worst_of_tied import ALIKE, run


def test_what_is_printed_is_read_again():
    found = rb.decide("insider-decides")
    assert found.rules[-1] == "attacks=no"
    assert "aim=money" in found.rules[0]
    told = str(found)
    assert "; ".join(found.rules) in told
    answer = rb.ask("insider-decides", "risk", policy="; ".join(found.rules))
    for rules in (found.rules, found.to_dict()["rules"]):  # as they are, and as JSON has them
        assert float(rb.ask("insider-decides", "risk", policy=rules)) == float(answer)
    assert float(answer) == pytest.approx(found.risk, abs=1e-15)
    assert answer.policy == {"attacks": "rows given"}
    again = rb.load("insider-decides").with_policy("\n".join(found.rules))
    assert float(rb.ask(again, "risk")) == pytest.approx(found.risk, abs=1e-15)
    assert found.to_dict()["rules"] == list(found.rules)


def test_policies_of_random_diagrams_are_read_again():
    rng = np.random.default_rng(3)
    for i in range(40):
        words, _ = small(rng, decisions=1 + i % 2)
        found = rb.decide(rb.loads(words), temperature=1.5 if i % 5 == 0 else None)
        again = rb.ask(rb.loads(words), "risk", policy="; ".join(found.rules))
        assert float(again) == pytest.approx(found.risk, abs=1e-12), words


def test_a_policy_that_differs_between_people_has_no_rules():
    sizes = {"class_size": [[9] * 8, [1] * 8]}
    found = rb.decide("insider-decides", subject=sizes)
    with pytest.raises(rb.UsageError, match="differs between people"):
        _ = found.rules
    assert "As policy=" not in str(found)
    assert "rules" not in found.to_dict()


@pytest.mark.parametrize(
    ("rules", "why"),
    [("attacks", "not of the form node=state"), ("attack=yes", 'no decision "attack"'),
     ("attacks=maybe", 'no option "maybe"'), ("attacks=yes if ", "no option"), (";", "takes"),
     ("attacks=yes if aim=money", "no row")],
)  # fmt: skip
def test_rules_that_cannot_be_are_refused(rules, why):
    with pytest.raises(rb.ReidbnError, match=why):
        rb.ask("insider-decides", "risk", policy=rules)


def test_every_command_that_asks_takes_rules(tmp_path, capsys):
    model, rules = tmp_path / "tie.yaml", tmp_path / "rules.txt"
    model.write_text(ALIKE)
    rules.write_text("way=phone\n")
    for given in (["--policy", "way=phone"], ["--policy", str(rules)]):
        code, out, err = run("ask", str(model), "risk", *given, "--fail-above", "0.3",
                             capsys=capsys)  # fmt: skip
        assert (code, "0.5" in out, "Tied" in out + err) == (1, True, False)
    for words in (("crosscheck", "risk", "--draws", "1000"), ("decide",)):
        run(words[0], str(model), *words[1:], "--policy", "way=web", capsys=capsys)
    mixed = ("--policy", "way=phone:0.5,web:0.5,no:0", "--json")
    code, out, _ = run("ask", str(model), "risk", *mixed, capsys=capsys)
    assert (code, json.loads(out)["probability"]) == (0, 0.375)
    model = "insider-decides"
    rule = ("--policy", "attacks=yes if aim=money", "--policy", "attacks=no")
    for words in (
        ("sweep", model, "risk", "--over", "p_audit=0.1,0.2"), ("tornado", model, "risk"),
        ("solve", model, "risk", "p_audit", "0.3"), ("derivatives", model, "risk"),
        ("compare", model, "risk", "--then-set", "p_audit=0.2"), ("sobol", model, "risk"),
        ("uncertainty", model, "risk", "--draws", "100"),
    ):  # fmt: skip
        code, out, err = run(*words, *rule, capsys=capsys)
        assert code == 0, (words, err)
        assert "Under a policy that was given: attacks=rows given." in out, words
    code, out, _ = run("sweep", model, "risk", "--over", "p_audit=0.1", *rule, "--json",
                       capsys=capsys)  # fmt: skip
    assert json.loads(out)["policy"] == {"attacks": "rows given"}


def test_an_assessment_takes_rules(tmp_path, capsys):
    table = rb.datasets.synthetic_patients(20, seed=1)
    table.to_csv(tmp_path / "people.csv", index=False)
    words = ("assess", str(tmp_path / "people.csv"), "--qi", "age,sex", "--attack",
             "insider-decides", "--known", "age,sex", "--check-draws", "1000")  # fmt: skip
    code, out, err = run(*words, "--policy", "attacks=no", "--json", capsys=capsys)
    assert code == 0, err
    assert json.loads(out)["policy"] == {"attacks": "no"}
    code, out, err = run(*words, "--policy", "attacks=no", capsys=capsys)
    assert "Under a policy that was given: attacks=no." in out


def test_a_table_given_as_a_policy_shows_nobodys_values(tmp_path, capsys):
    table = tmp_path / "x.csv"
    table.write_text("Zaphod Muster,1955-03-01\nMuster Zwei,8771\n", encoding="utf-8")
    words = ("ask", "insider-decides", "caught=yes", "--policy", str(table))
    code, out, err = run(*words, capsys=capsys)
    assert code == 2
    assert "it may be a table of people" in err
    assert not [x for x in ("Zaphod", "Muster", "1955", "8771") if x in out + err]


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("attacks=yes if motive=money; attacks=no",
         'attacks is decided without seeing "motive"; known: aim, known, knows_age,'),
        ("attacks=yes if aim=mony; attacks=no",
         'attacks: rule 1: aim has no state "mony"; did you mean "money"?'),
        ("attacks=yes if aim=money", "attacks: no row holds for aim=none"),
        ("attacks=no; attacks=yes if aim=money", "attacks: rule 2: is never reached"),
        ([{"p": {"maybe": 1}}], 'attacks: rule 1: this node has no state "maybe"'),
        ([{"p": {"no": 1}, "when": {"aim": "none"}}, {"p": ["no", 0.5]}],
         "attacks: rule 2: "),
    ],
)  # fmt: skip
def test_a_slip_in_a_policy_is_told_in_one_line_and_nothing_else(policy, told):
    given = policy if isinstance(policy, str) else {"attacks": policy}
    with pytest.raises(rb.UsageError) as caught:
        rb.ask("insider-decides", "risk", policy=given)
    assert str(caught.value).startswith(f"policy: {told}")
    assert "\n" not in str(caught.value)
    assert "warning" not in str(caught.value)


def test_a_comma_before_if_is_no_slip():
    rules = "attacks=yes{} if aim=money; attacks=no"
    one, other = (rb.ask("insider-decides", "risk", policy=rules.format(x)) for x in ("", ","))
    assert float(one) == float(other) > 0
