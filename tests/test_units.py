"""What is counted in a unit, and stands where a chance is meant."""

import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn as shell

CHANCES = """
schema_version: 1
name: units
parameters:
  fine: {value: 0.5, range: [0.1, 1], unit: euro, source: assumption}
  p: {value: 0.5, range: [0.1, 1], source: assumption}
  part: {value: 0.5, unit: share, source: assumption}
numbers:
  loss: "fine * p"
  named: {is: "p / 2", unit: euro}
  fits: "any(p, 3) * fine / fine"
subject: {own: {unit: euro, range: [0, 1]}}
groups: {known: {members: {age: CELL, sex: 0.5}, source: assumption}}
nodes:
  first: {rows: [{p: {yes: $fine, no: rest}}]}
  second: {parents: [first], rows: [{when: {first: yes}, p: {yes: $loss, no: rest}},
                                    {p: {yes: "@own", no: rest}}]}
  either: {parents: [first, second], cpd: {kind: noisy-or, weights: {first: $named, second: $fits}, leak: $part}}
  both: {parents: [first, second], cpd: {kind: noisy-and, weights: $loss}}
  mixed: {cpd: {kind: mixture, weights: [$fits, rest],
                components: [{kind: probability, p: $fine}, {kind: probability, p: $p}]}}
  tries: {cpd: {kind: geometric, p: $loss, budget: 3}, source: x}
  hits: {states: 0..3, cpd: {kind: binomial, p: $loss, n: 3}, source: x}
  rank: {parents: [first], cpd: {kind: ranked, weights: {first: $fine}, p: [$p, $fine]}, source: x}
  top: {parents: [first], cpd: {kind: noisy-max, rows: [{when: {first: yes}, p: {yes: $fine, no: rest}}]}}
  copy: {parents: [first], cpd: {kind: noisy-copy, same: $fine}}
  mean: {states: 0..20, cpd: {kind: poisson, mean: $fine}}
example: {own: 0.3}
"""  # noqa: E501


def test_what_is_counted_in_a_unit_is_no_chance_and_check_says_where():
    found = rb.check(rb.loads(CHANCES.replace("CELL", "$fine")))
    told = {".".join(map(str, p.where)): p.message for p in found if "for a chance" in p.message}
    assert told.keys() == {
        "groups.known.members.age.cpd.rows.0.p.1", "nodes.first.cpd.rows.0.p.yes",
        "nodes.second.cpd.rows.0.p.yes",
        "nodes.second.cpd.rows.1.p.yes", "nodes.either.cpd.weights.first", "nodes.both.cpd.weights",
        "nodes.mixed.cpd.components.0.p", "nodes.tries.cpd.p", "nodes.hits.cpd.p",
        "nodes.rank.cpd.p.1", "nodes.top.cpd.rows.0.p.yes", "nodes.copy.cpd.same",
    }  # fmt: skip
    assert told["nodes.first.cpd.rows.0.p.yes"] == (
        '$fine is in "euro", and stands for a chance here: a chance is a number between 0 and 1 '
        "and has no unit. If fine is one, take its unit away"
    )
    assert '$loss = fine * p works out in "euro"' in told["nodes.tries.cpd.p"]
    assert "If loss is one, divide it by a parameter in the same unit" in told["nodes.tries.cpd.p"]
    assert told["nodes.either.cpd.weights.first"] == (
        '$named = p / 2 is in "euro", and stands for a chance here: a chance is a number between 0 '
        "and 1 and has no unit. If named is one, take its unit away"
    )


SCALED = """
schema_version: 1
name: scaled
parameters:
  fine: {value: 0.5, range: [0.1, 1], unit: UNIT, source: assumption}
  records: {value: 20, range: [1, 30], unit: records, source: assumption}
  most: {value: 40, unit: euro, source: assumption}
numbers: {loss: FORMULA}
nodes: {pays: {rows: [{p: {yes: $loss, no: rest}}]}}
questions: {risk: {target: pays=yes}}
"""


@pytest.mark.parametrize(
    ("unit", "formula", "told"),
    [
        ("euro", '"fine / most"', ""),
        ("euro per record", '"fine * records / most"', ""),
        ("Euro/person", '"fine / most"', '"1 per person"'),
        ("probability per attempt", '"fine"', ""),
        ("share of people", '"fine"', ""),
        ("share/person", '"fine"', ""),
        ("1/record", '"fine * records / 100"', ""),
        ("chance", '"fine"', ""),
        ("euro", '"fine / 2"', 'works out in "euro"'),
        ("euro", '{is: "fine / 40", unit: probability}', "works out in euro, and is called a "
         "probability; divide it by a parameter in the same unit"),
        ("records per day", '"min(fine, records)"', "compares records per day with records"),
    ],
)  # fmt: skip
def test_what_a_number_is_counted_in_cancels_out_and_a_part_of_one_has_no_unit(unit, formula, told):
    file = SCALED.replace("UNIT", unit).replace("FORMULA", formula)
    others = "a range", "without a source", "never used", "assumption", "proved"
    found = [p.message for p in rb.check(rb.loads(file))]
    found = [text for text in found if not any(word in text.lower() for word in others)]
    assert any(told in text for text in found) if told else not found, found


def test_the_shell_points_to_the_cell_whose_unit_is_none_of_a_chance(tmp_path):
    path = tmp_path / "units.yaml"
    path.write_text(CHANCES.replace("CELL", "0.5"))
    done = CliRunner().invoke(shell, ["check", str(path)])
    assert f"{path}:15:28: warning: nodes.first.rows[0].p.yes: $fine is in" in done.output
    path.write_text(CHANCES.replace("CELL", "0.5").replace('"fine * p"', '"any(fine, 2)"'))
    done = CliRunner().invoke(shell, ["check", str(path)])
    assert "numbers.loss.is: column 1: takes euro for a chance" in done.output
