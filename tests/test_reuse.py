"""A model as a part of another one, and a variant of one: what comes out, and what is refused."""

import json
import re

import numpy as np
import pytest
from conftest import undecided

import reidbn as rb
from tests.random_files import random_file
from tests.yaml_oracle import read_target

LEAK = """\
schema_version: 1
name: with-a-leak
subject:
  class_size: {per: known, unit: records, range: [1, 20]}
parameters:
  p_tries: {value: 0.5, source: assumption}
groups:
  known: {members: [knows_age, knows_sex], probability: 0.5, source: assumption}
use:
  - {model: leak-single, as: leak, with: {class_size: "@class_size"}, give: {identified: leak_identified}}
nodes:
  tries: {cpd: {kind: probability, p: $p_tries}}
  both: {parents: [tries, leak_identified], cpd: {kind: and}}
questions:
  risk: {target: both=yes}
example: {class_size: [20, 5, 3, 1]}
"""  # noqa: E501


def renamed(states, prefix):
    return {f"{prefix}_{node}": state for node, state in states.items()}


@pytest.mark.parametrize("name", undecided())
def test_a_shipped_model_answers_as_a_part_as_it_does_alone(name):
    own = rb.load(name)
    words = {"schema_version": 1, "name": "whole", "use": [{"model": name, "as": "part"}],
             "nodes": {"n": {"cpd": {"kind": "uniform"}}}}  # fmt: skip
    whole = rb.loads(json.dumps(words))
    assert {*whole.all_nodes} == {"n", *(f"part_{n}" for n in own.all_nodes)}
    for question in own.questions.values():
        if question.expect:
            mean = float(rb.expect(own, question.expect))
            assert float(rb.expect(whole, f"part_{question.expect}")) == mean
            continue
        if " and " in question.target:
            parts = re.sub(r"\b(\w+)=", r"part_\1=", question.target)
            assert float(rb.ask(whole, parts)) == float(rb.ask(own, question.target))
            continue
        target = read_target(question.target)
        given = {n: s for n, s in question.given.items() if isinstance(s, str)}
        expected = float(rb.ask(own, target, given=given))
        found = rb.ask(whole, renamed(target, "part"), given=renamed(given, "part"))
        assert float(found) == expected
    assert not [p for p in rb.check(whole) if "never used" in p.message]


@pytest.mark.parametrize("name", rb.models())
def test_a_variant_that_says_nothing_is_the_model(name):
    words = json.dumps({"schema_version": 1, "name": name, "extends": name})
    variant = rb.loads(words)
    assert variant == rb.load(name)
    text = rb.attack.dumps(variant)
    assert f"extends: {name}" in text
    assert rb.loads(text) == variant


@pytest.mark.wide
@pytest.mark.filterwarnings("ignore:.* counts as it")  # of random files
def test_random_models_answer_as_parts_as_they_do_alone(tmp_path):
    rng = np.random.default_rng(20261122)
    for i in range(15):
        words, writer = random_file(rng)
        path = tmp_path / f"r{i}.yaml"
        path.write_text(words)
        own = rb.load(path)
        outer = tmp_path / "outer.yaml"
        outer.write_text(json.dumps({
            "schema_version": 1, "name": "outer", "extends": f"r{i}",
            "use": [{"model": f"r{i}", "as": "a"}, {"model": f"r{i}", "as": "b"}],
        }))  # fmt: skip
        whole = rb.load(outer)
        assert rb.loads(rb.attack.dumps(whole, expanded=True)) == whole
        rb.save(whole, tmp_path / "again.yaml")
        assert "extends:" in (tmp_path / "again.yaml").read_text()
        assert rb.load(tmp_path / "again.yaml") == whole
        (tmp_path / "far").mkdir(exist_ok=True)
        rb.save(whole, tmp_path / "far" / "again.yaml")  # where no such model stands: in full
        assert rb.load(tmp_path / "far" / "again.yaml") == whole
        states = {n: own.variable(n, {p: own.parameters[p].value for p in own.structural}).states
                  for n in own.all_nodes}  # fmt: skip
        for _ in range(3):
            target, given, _ = writer.question({n: [*s] for n, s in states.items()})
            for prefix in ("a", "b"):
                try:
                    expected = float(rb.ask(own, target, given=given))
                except rb.ImpossibleEvidence:
                    continue
                other = renamed(target, prefix), renamed(given, prefix)
                assert float(rb.ask(whole, other[0], given=other[1])) == pytest.approx(
                    expected, abs=1e-12
                )
                assert float(rb.ask(whole, target, given=given)) == pytest.approx(
                    expected, abs=1e-12
                )


def test_a_column_stands_for_a_number_that_sizes_states():
    attack = rb.loads(LEAK)
    assert attack.nodes["leak_leaked_class_size"].states == "0..20"
    assert attack.nodes["leak_in_leak"].parents == ("leak_leaked_class_size", "known")
    assert "leak_class_size" not in attack.parameters
    by_size = [float(rb.ask("leak-single", set={"class_size": k})) for k in (20, 5, 3, 1)]
    assert float(rb.ask(attack)) == pytest.approx(0.5 * np.mean(by_size), abs=1e-12)
    assert rb.crosscheck(attack, draws=20_000, seed=1).passed
    assert rb.loads(rb.attack.dumps(attack)) == attack
    assert "use:" in rb.attack.dumps(attack)
    assert rb.loads(rb.attack.dumps(attack, expanded=True)) == attack


def test_a_part_is_repeated_like_anything_else():
    words = LEAK.replace("subject:", "repeat: {who: [first, second]}\nsubject:", 1)
    words = words.replace("as: leak,", 'as: "[who]",').replace(
        "give: {identified: leak_identified}", 'give: {identified: "leak_[who]"}'
    )
    words = words.replace("[tries, leak_identified]", '[tries, "leak_[who]"]')
    attack = rb.loads(words)
    assert attack.nodes["both"].parents == ("tries", "leak_first", "leak_second")
    assert {"first_in_leak", "second_in_leak"} <= {*attack.nodes}
    assert rb.loads(rb.attack.dumps(attack)) == attack


def test_a_node_of_the_file_stands_for_one_of_the_part(tmp_path):
    (tmp_path / "inner.yaml").write_text("""\
schema_version: 1
name: inner
nodes:
  motive: {states: [low, high], cpd: {kind: uniform}}
  acts:
    parents: [motive]
    rows: [{when: {motive: high}, p: [0, 1]}, {p: [1, 0]}]
""")
    outer = tmp_path / "outer.yaml"
    words = """\
schema_version: 1
name: outer
use: [{model: inner, as: i, with: {motive: why}}]
nodes:
  why: {states: [low, high], rows: [{p: [0.75, 0.25]}], source: me}
"""
    outer.write_text(words)
    attack = rb.load(outer)
    assert [*attack.nodes] == ["i_acts", "why"]
    assert float(rb.ask(attack, "i_acts=yes")) == 0.25
    outer.write_text(words.replace("[low, high], rows", "[high, low], rows"))
    with pytest.raises(rb.ModelError, match="needed, in this order: low, high"):
        rb.load(outer)
    outer.write_text(words.replace("motive: why", "motive: wyh"))
    with pytest.raises(rb.ModelError, match='did you mean "why"'):
        rb.load(outer)


def test_a_variant_replaces_things_as_a_whole():
    words = """\
schema_version: 1
name: bolder
extends: leak-single
parameters:
  leaked: {value: 9000, range: [0, 10000], unit: records, source: assumption}
questions:
  both: {target: "identified=yes or in_leak=yes"}
"""
    attack, base = rb.loads(words), rb.load("leak-single")
    assert float(rb.ask(attack, "risk")) == float(rb.ask(base, "risk", set={"leaked": 9000}))
    assert attack.parameters["leaked"].source == "assumption"
    assert attack.title == base.title
    assert attack.where == base.where
    assert {*attack.questions} == {"risk", "both"}
    text = rb.attack.dumps(attack.with_values({"leaked": 100}))
    assert "extends: leak-single" in text
    assert rb.loads(text) == attack.with_values({"leaked": 100})
    told = attack.with_values({"leaked": 100}).replace(story="Another story.")
    text = rb.attack.dumps(told)
    assert [line for line in text.splitlines() if line[:1].strip()][1:] == [
        "schema_version: 1", "name: bolder", "extends: leak-single", "parameters:", "questions:",
        "story: Another story.",
    ]  # fmt: skip
    assert rb.loads(text) == told
    odd = words.replace("{value: 9000, range: [0, 10000], unit: records, source: assumption}",
                        "{value: 9000}")  # fmt: skip
    with pytest.raises(rb.ModelError, match="source"):  # the old one is not kept for a new number
        rb.loads(odd)


REFUSED = {
    "no such model": ("model: leak-single", "model: leak-singel", 'did you mean "leak-single"?'),
    "out of the folder": ("model: leak-single", "model: ../x", "leads out of the folder"),
    "an absolute path": ("model: leak-single", "model: /x.yaml", "leads out of the folder"),
    "no such number": ("{class_size:", "{class_sise:", 'did you mean "class_size"?'),
    "no such node": ("{identified:", "{identifid:", 'did you mean "identified"?'),
    "a bare word": ('"@class_size"}', "class_size}", "$parameter, or @column"),
    "no such column": ('"@class_size"}', '"@class_sise"}', 'no subject column "class_sise"'),
    "another unit": ('"@class_size"}', "$p_tries}", "$p_tries is in probability, and class_size"),
    "a name that is there": ("leak_identified}", "tries}", 'brings a node "tries", and one is'),
    "a key": ("as: leak", "az: leak", "known: as, give, model, with"),
    "no model": ("model: leak-single, ", "", "has no model"),
    "a number": ("{class_size: ", '{leaked: "5", class_size: ', "$parameter, or @column"),
    "a condition": ("{class_size: ", '{leaked: "@class_size", class_size: ', "always holds there"),
}


@pytest.mark.parametrize(("old", "new", "said"), REFUSED.values(), ids=list(REFUSED))
def test_a_slip_in_a_part_points_to_its_line(old, new, said):
    assert old in LEAK
    with pytest.raises(rb.ModelError) as caught:
        rb.loads(LEAK.replace(old, new, 1))
    assert said in str(caught.value), str(caught.value)
    assert all(problem.line for problem in caught.value.problems)


def test_models_that_use_each_other_are_refused_by_name(tmp_path):
    for name, other in (("one", "two"), ("two", "one")):
        (tmp_path / f"{name}.yaml").write_text(
            f"schema_version: 1\nname: {name}\nextends: {other}\n"
            "nodes: {n: {cpd: {kind: uniform}}}\n"
        )
    with pytest.raises(rb.ModelError, match=r"in a circle: one.yaml -> two.yaml -> one.yaml"):
        rb.load(tmp_path / "one.yaml")


def test_what_is_wrong_in_the_other_file_is_told_with_its_line(tmp_path):
    (tmp_path / "inner.yaml").write_text("schema_version: 1\nname: i\nnodes: {n: {cpd: {kind: o}}}")
    path = tmp_path / "outer.yaml"
    path.write_text("schema_version: 1\nname: outer\nextends: inner\n")
    with pytest.raises(rb.ModelError) as caught:
        rb.load(path)
    assert "outer.yaml:3:10: extends:" in str(caught.value)
    assert "inner.yaml:3:" in str(caught.value)


def test_an_assessment_takes_a_variant():
    people = rb.read_table(rb.datasets.synthetic_patients(200, seed=1),
                           quasi_identifiers=["age", "sex"])  # fmt: skip
    variant = rb.loads("schema_version: 1\nname: v\nextends: prosecutor\n")
    known = {"age": 0.5, "sex": 0.5}
    one, two = (rb.assess(a, people, known=known).risk() for a in (variant, "prosecutor"))
    assert np.array_equal(one, two)


TAKES = """\
schema_version: 1
name: takes
takes: [attacker]
subject: {class_size: {per: known, unit: records}}
groups:
  known: {members: [knows_age], probability: 0.5, source: assumption}
nodes:
  attacker: {states: [neighbour, stranger], cpd: {kind: uniform}, story: Who it is}
  tries:
    parents: [attacker]
    rows: [{when: {attacker: stranger}, p: [1, 0]}, {p: [0, 1]}]
  right: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  named: {parents: [tries, right], cpd: {kind: and}}
questions: {risk: {target: named=yes}}
example: {class_size: [4, 2]}
"""


def test_a_model_says_which_nodes_of_a_scenario_it_takes(tmp_path):
    attack = rb.loads(TAKES)
    assert rb.loads(rb.attack.dumps(attack)) == attack
    scenario = tmp_path / "who.yaml"
    words = """\
schema_version: 1
kind: scenario
name: who
knows:
  profile: {node: attacker, weights: {neighbour: 0.25, stranger: 0.75}, source: me}
  attributes: {age: {by_profile: {neighbour: 1, stranger: 0.5}, source: me}}
"""
    scenario.write_text(words)
    table = rb.datasets.synthetic_patients(100, seed=1)
    people = rb.read_table(table, quasi_identifiers=["age"])
    found = rb.assess(attack, people, scenario=scenario)
    sizes = table.groupby("age")["age"].transform("size").to_numpy()
    assert np.allclose(found.risk(), 0.25 / sizes, rtol=0, atol=1e-12)
    assert found.crosscheck.passed
    own = rb.loads(TAKES.replace("takes: [attacker]\n", ""))
    with pytest.raises(rb.UsageError, match=r'"attacker", and takes has one of its own'):
        rb.assess(own, people, scenario=scenario)
    scenario.write_text(words.replace("neighbour: 0.25, stranger: 0.75", "a: 0.5, b: 0.5")
                        .replace("neighbour: 1, stranger: 0.5", "a: 1, b: 1"))  # fmt: skip
    with pytest.raises(rb.UsageError, match="with the states neighbour, stranger, in this order"):
        rb.assess(attack, people, scenario=scenario)
    with pytest.raises(rb.ModelError, match='no node "atacker"; did you mean "attacker"'):
        rb.loads(TAKES.replace("takes: [attacker]", "takes: [atacker]"))


def test_what_a_model_does_not_take_is_refused():
    attack = rb.loads(TAKES)
    node = rb.Node("tries", ("no", "yes"), rb.Uniform())
    brings = rb.Scenario("brings", nodes=(node,))
    with pytest.raises(rb.UsageError, match="scenario brings brings a node"):
        brings.on(attack)
    assert brings.on(attack.replace(takes=("attacker", "tries"))).nodes["tries"] == node
    assert brings.on(attack.replace(takes=())).nodes["tries"] == node


def test_derived_numbers_counts_and_own_stories_come_along(tmp_path):
    (tmp_path / "inner.yaml").write_text("""\
schema_version: 1
name: inner
takes: [ill]
excluded: {Detecting: Not here}
sources: [one study]
parameters:
  p_ill: {value: 0.01, source: assumption}
  n: {value: 150, range: [1, 500], unit: people, source: assumption}
  p_confirms: {measured: {hits: 241, trials: 579}, source: a study}
numbers:
  p_any: {is: "1 - (1 - p_ill) ^ n", story: Anybody is ill}
where: [n >= 1]
groups:
  known:
    members:
      age: {parents: [ill], cpd: {kind: probability, p: $p_confirms, only_if: [ill]}}
      town: $p_ill
    source: assumption
nodes:
  ill: {cpd: {kind: probability, p: $p_any}}
  both: {parents: [known], cpd: {kind: count}, states: 0..2}
questions: {risk: {target: both=2}}
""")
    outer = tmp_path / "outer.yaml"
    outer.write_text("""\
schema_version: 1
name: outer
sources: [two]
parameters: {rate: {value: 0.02, source: assumption}}
use: [{model: inner, as: i, with: {p_ill: $rate}}, {model: inner, as: j}]
nodes: {n: {parents: [i_age, j_age], cpd: {kind: and}}}
""")
    inner, attack = rb.load(tmp_path / "inner.yaml"), rb.load(outer)
    assert attack.numbers["i_p_any"].formula == "1 - (1 - rate) ^ i_n"
    assert attack.sources == ("two", "one study")
    assert float(rb.ask(attack, "i_both=2")) == float(rb.ask(inner, set={"p_ill": 0.02}))
    assert float(rb.ask(attack, "j_both=2")) == float(rb.ask(inner))
    assert rb.loads(rb.attack.dumps(attack, expanded=True)) == attack
    assert rb.check(outer) == ()
    variant = tmp_path / "variant.yaml"
    variant.write_text(
        "schema_version: 1\nname: v\nextends: inner\nexcluded: {Linking: Nor this}\n"
        'numbers: {p_any: "p_ill * min(n, 2)"}\nsources: [three]\n'
    )
    found = rb.load(variant)
    assert {*found.excluded} == {"Detecting", "Linking"}
    assert found.sources == ("three", "one study")
    assert found.takes == ("ill",)
    assert float(rb.ask(found, "ill=yes")) == 0.02


def test_what_an_attacker_decides_stands_for_a_node_of_a_part(tmp_path):
    (tmp_path / "inner.yaml").write_text("""\
schema_version: 1
name: inner
nodes:
  tries: {cpd: {kind: uniform}}
  named: {parents: [tries], cpd: {kind: probability, p: 0.25, only_if: [tries]}, source: assumption}
""")
    outer = tmp_path / "outer.yaml"
    words = """\
schema_version: 1
name: outer
use: [{model: inner, as: i, with: {tries: attacks}}]
decisions:
  attacks: {options: [no, yes], source: assumption}
utilities:
  gain: {of: [i_named], unit: euro, rows: [{when: {i_named: yes}, value: 4}, {value: -1}],
         source: assumption}
nodes:
  seen: {parents: [i_named], cpd: {kind: or}}
questions:
  risk: {target: i_named=yes}
"""
    outer.write_text(words)
    assert float(rb.ask(rb.load(outer))) == 0.25
    outer.write_text(words.replace("[no, yes]", "[yes, no]", 1))
    with pytest.raises(rb.ModelError, match="attacks has the states yes, no; needed, in this"):
        rb.load(outer)


def test_a_function_keeps_its_name_where_a_node_of_the_part_is_called_like_it(tmp_path):
    (tmp_path / "part.yaml").write_text("""
schema_version: 1
name: part
sources: [s]
parameters: {p: {value: .1, source: s}}
numbers: {some: {is: "any (p, 3)"}}
nodes:
  a: {cpd: {kind: probability, p: $some}, source: s}
  any: {parents: [a], cpd: {kind: or}}
questions: {risk: {target: any=yes}}
""")
    (tmp_path / "whole.yaml").write_text("""
schema_version: 1
name: whole
sources: [s]
use: [{model: part, as: x, give: {any: somebody}}]
nodes: {end: {parents: [somebody], cpd: {kind: or}}}
questions: {risk: {target: end=yes}}
""")
    assert float(rb.ask(tmp_path / "whole.yaml", "risk")) == pytest.approx(1 - 0.9**3, abs=1e-15)


def test_example_data_come_along_where_a_node_of_the_file_stands_for_an_axis(tmp_path):
    """It has the same states, so that its data fit; a group may have other members."""
    (tmp_path / "part.yaml").write_text("""\
schema_version: 1
name: part
subject:
  class_size: {per: known, unit: records}
  rate: {per: has, unit: probability}
groups:
  known: {members: [knows_age], probability: 0.5, source: assumption}
nodes:
  has: {cpd: {kind: probability, p: 0.5}, source: assumption}
  seen: {parents: [has], cpd: {kind: probability, p: "@rate"}}
  right: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  named: {parents: [seen, right], cpd: {kind: and}}
questions: {risk: {target: named=yes}}
example: {class_size: [4, 2], rate: [0.2, 0.6]}
""")
    path = tmp_path / "whole.yaml"
    path.write_text("""\
schema_version: 1
name: whole
subject: {k: {per: mine, unit: records}}
groups:
  mine: {members: [knows_age, knows_sex], probability: 0.5, source: assumption}
use:
  - {model: part.yaml, as: one, with: {known: mine, class_size: "@k", has: owns}}
nodes:
  owns: {cpd: {kind: probability, p: 0.25}, source: assumption}
questions: {risk: {target: one_named=yes}}
example: {k: [8, 4, 2, 1]}
""")
    attack = rb.load(path)
    assert {n: [*v] for n, v in attack.example.items()} == {
        "k": [8, 4, 2, 1],
        "one_rate": [0.2, 0.6],
    }
    by_hand = (0.75 * 0.2 + 0.25 * 0.6) * (1 / 8 + 1 / 4 + 1 / 2 + 1) / 4
    assert float(rb.ask(attack, "risk")) == pytest.approx(by_hand, abs=1e-15)


def test_a_variant_that_replaces_what_is_repeated_says_the_repeat_again(tmp_path):
    base = "schema_version: 1\nname: base\nrepeat: {j: 1..2}\nnodes:\n  %s\n"
    node = "good_[j]: {cpd: {kind: probability, p: 1}}"
    (tmp_path / "base.yaml").write_text(base % node)
    variant = "schema_version: 1\nname: other\nextends: base\nnodes:\n  good_[j]: {cpd: {kind: probability, p: 0}}\n"  # noqa: E501
    (tmp_path / "other.yaml").write_text(variant)
    with pytest.raises(rb.ModelError, match="j is no word of `repeat` in this file"):
        rb.load(tmp_path / "other.yaml")
    (tmp_path / "other.yaml").write_text(variant.replace("nodes:", "repeat: {j: 1..2}\nnodes:"))
    assert float(rb.ask(tmp_path / "other.yaml", "good_2=yes")) == 0
