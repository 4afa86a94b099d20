"""Seams of the language, continued: laws, parts of other files, and what check says."""

import numpy as np
import pytest
from test_seams_of_the_language import written

import reidbn as rb

# -- what is taken away from a whole whose law is the same in each of its rows ---------------------

TAKEN = """\
nodes:
  wanted: {states: 0..2, rows: [{p: [0.2, 0.3, 0.5]}], source: a}
  left: {states: 0..2, parents: [wanted, used], cpd: {kind: minus, of: [wanted, used]}}
"""


def test_what_is_taken_away_may_have_one_law_in_all_rows(tmp_path, shell):
    """1 of 0 wanted is no state: .2 x .4.  left=0 where 0 is wanted, or 1 and 1 used."""
    law = "  used: {states: 0..1, parents: [wanted], rows: [{p: [0.6, 0.4]}], source: a}\n"
    with pytest.warns(rb.errors.ReidbnWarning, match=r"left: 0\.08 of what can be"):
        found = rb.ask(written(tmp_path, TAKEN + law), "left=0")
    assert float(found) == pytest.approx(0.32, abs=1e-12)
    assert float(found.cut["left"]) == pytest.approx(0.08, abs=1e-12)
    assert shell("check", written(tmp_path, TAKEN + law))[0] == 0


def test_a_policy_that_looks_at_nothing_takes_away_as_it_says(tmp_path):
    decision = """\
decisions: {used: {options: [no, yes], sees: [wanted], source: a}}
utilities: {u: {of: [used], unit: euro, source: a,
                rows: [{when: {used: yes}, value: -5}, {value: 0}]}}
"""
    path = written(tmp_path, TAKEN + decision)
    assert float(rb.ask(path, "left=0", policy="used=no")) == pytest.approx(0.2)
    with pytest.warns(rb.errors.ReidbnWarning, match=r"left: 0\.2 of what can be"):
        found = rb.ask(path, "left=0", policy="used=yes")
    assert float(found) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("parents", "told"),
    [("[a, aa]", 'unknown node "aa"'), ("[a, b]", "the story goes in a circle")],
)
@pytest.mark.parametrize("name", ["limt", "a"])
def test_two_slips_at_once_are_both_told(tmp_path, parents, told, name):
    text = f"""\
parameters: {{p: {{value: 0.2, range: [0, 0.5], source: x}}}}
where: ["p <= {name}"]
nodes:
  a: {{cpd: {{kind: probability, p: $p}}}}
  b: {{parents: {parents}, cpd: {{kind: and}}}}
questions: {{risk: {{target: b=yes}}}}
"""
    with pytest.raises(rb.errors.ModelError) as slip:
        rb.load(written(tmp_path, text))
    assert told in str(slip.value)
    assert (f'no parameter "{name}"' if name == "limt" else "a is a node") in str(slip.value)


def test_of_an_or_the_part_that_can_never_be_is_named(tmp_path):
    node = "n: {states: 0..2, rows: [{p: [0.5, 0.25, 0.25]}], source: a}"
    path = written(tmp_path, f"nodes: {{{node}}}\n")
    for asked in ("n=2 or n>2", "n>2 or n=2", "not n<=2 or n=1"):
        with pytest.raises(rb.UsageError, match=r"^n>2 can never be: n has the states 0, 1, 2"):
            rb.ask(path, asked)
    with pytest.raises(rb.UsageError, match=r"^n<1 and n>1 can never be"):
        rb.ask(path, "n<1 and n>1")


# -- the worst case of a report, and a scenario with numbers of its own ----------------------------

BOLD = """\
schema_version: 1
kind: scenario
name: bold
title: t
story: s
set: {p_m: 1, p_fm: 1, p_c: 1}
knows: {attributes: {age: {chance: 1, source: a}, sex: {chance: CHANCE, source: a}}}
"""


@pytest.mark.parametrize("chance", ["0.9", "1"])
def test_no_risk_is_above_the_worst_case_that_stands_beside_it(chance, tmp_path):
    """The scenario's own numbers were lost: 0.73 stood beside a worst case of 0.45."""
    scenario = tmp_path / "bold.yaml"
    scenario.write_text(BOLD.replace("CHANCE", chance))
    people = rb.read_table(rb.datasets.synthetic_patients(400, seed=1),
                           quasi_identifiers=["age", "sex"])  # fmt: skip
    found = rb.assess("adversary-routes", people, scenario=str(scenario), population=40_000)
    own = {"set": {"p_m": 1, "p_fm": 1, "p_c": 1}}
    worst = rb.assess("adversary-routes", people, population=40_000, **own)
    assert (rb.assess("adversary-routes", people, population=40_000).risk() < found.risk()).all()
    assert (worst.risk() >= found.risk() - 1e-12).all()
    page = found.report(tmp_path / "r.md", custodian=True).read_text()
    bands = page[page.index("Worst case against scenario") :].split("\n\n")[1].splitlines()[2:]
    beside = np.array([[int(n.strip() or 0) for n in row.split("|")[2:-1]] for row in bands])
    assert beside.sum() == 400
    assert np.tril(beside, -1).sum() == 0 or np.triu(beside, 1).sum() == 0
    edges = [0.01, 0.05, 0.09, 0.2, 0.33]
    by_hand = np.bincount(np.searchsorted(edges, worst.risk(), side="left"), minlength=6)
    assert by_hand.tolist() in (beside.sum(axis=0).tolist(), beside.sum(axis=1).tolist())


# -- parts of other files, and names as people write them ------------------------------------------


def test_a_part_keeps_its_names_whatever_letters_they_have(tmp_path):
    part = tmp_path / "part.yaml"
    part.write_text("""\
schema_version: 1
name: part
title: t
story: s
parameters: {p_größe: {value: 0.3, source: a},
             e3: {value: 2, range: [0, 9], unit: tries, source: a}}
numbers: {q: {is: "1e3 * p_größe / (1e3 * e3)", source: a}}
subject: {größe: {unit: probability, range: [0, 1]}}
nodes:
  kind: {cpd: {kind: probability, p: $p_größe}}
  hit: {parents: [kind], rows: [{when: {kind: yes}, p: {yes: $q, no: rest}},
                                {p: {yes: "@größe", no: rest}}]}
questions: {risk: {target: hit=yes}}
example: {größe: 0.5}
""")
    host = written(
        tmp_path,
        """\
use: [{model: part.yaml, as: x}]
nodes: {any: {parents: [x_hit], cpd: {kind: or}}}
questions: {risk: {target: any=yes}}
example: {x_größe: 0.5}
""",
    )
    by_hand = 0.3 * 0.15 + 0.7 * 0.5
    assert float(rb.ask(str(part))) == pytest.approx(by_hand)
    assert float(rb.ask(host)) == pytest.approx(by_hand)


def test_a_group_that_is_taken_whole_says_what_of_its_members_is_missing(tmp_path):
    part = tmp_path / "part.yaml"
    part.write_text("""\
schema_version: 1
name: part
title: t
story: s
groups: {known: {members: [ka, kb], probability: [0.5, 0.25], source: a}}
nodes: {hit: {parents: [ka], source: a,
              rows: [{when: {ka: yes}, p: {yes: 0.4, no: rest}}, {p: {yes: 0.1, no: rest}}]}}
questions: {risk: {target: hit=yes}}
""")
    text = """\
use: [{model: part.yaml, as: x, with: {known: known}GIVE}]
groups: {known: {members: [ka, kb], probability: [0.5, 0.25], source: a}}
nodes: {any: {parents: [x_hit], cpd: {kind: or}}}
questions: {risk: {target: any=yes}}
"""
    with pytest.raises(rb.errors.ModelError, match=r"here, give: \{ka: ka\}"):
        rb.load(written(tmp_path, text.replace("GIVE", "")))
    found = rb.ask(written(tmp_path, text.replace("GIVE", ", give: {ka: ka}")))
    assert float(found) == pytest.approx(0.25)


# -- what check says of what is refused later ------------------------------------------------------


@pytest.mark.parametrize("given", ["{a: yes}", '{"a=no and b=yes": yes}'])
def test_check_says_of_evidence_that_it_can_never_be(given, tmp_path, shell):
    path = written(
        tmp_path,
        f"""\
nodes: {{a: {{cpd: {{kind: probability, p: 0}}, source: x}},
         b: {{parents: [a], cpd: {{kind: or}}}}}}
questions: {{risk: {{target: b=yes, given: {given}}}}}
""",
    )
    (warned,) = rb.check(path)
    assert "is refused when it is asked: the evidence" in str(warned)
    assert "has probability 0" in str(warned)
    with pytest.raises(rb.errors.ImpossibleEvidence):
        rb.ask(path)
    assert shell("check", path, "--strict")[0] == 2


def test_check_tries_what_a_column_may_hold(tmp_path):
    text = """\
subject: {m: {unit: tries, range: [1, TOP]}}
nodes: {k: {states: "0..5", cpd: {kind: binomial, n: "@m", p: 0.2}, source: a}}
questions: {risk: {target: "k>=2"}}
example: {m: 4}
"""
    (warned,) = rb.check(written(tmp_path, text.replace("TOP", "8")))
    assert "cannot be built at @m=8, which the ranges allow" in str(warned)
    assert rb.check(written(tmp_path, text.replace("TOP", "5"))) == ()


def test_columns_that_hang_together_are_no_warning(tmp_path):
    """A part of 20 goes with a whole of 20; a class of 100,000 with a table of more."""
    path = written(
        tmp_path,
        """\
subject: {part: {unit: records, range: [0, 20]}, whole: {unit: records, range: [1, 20]}}
nodes: {k: {cpd: {kind: share, part: "@part", whole: "@whole"}}}
questions: {risk: {target: k=yes}}
example: {part: 1, whole: 4}
""",
    )
    assert rb.check(path) == ()
    assert rb.check("leak-partial") == ()


@pytest.mark.parametrize("seen", [{"n": 7777, "f": 1}, {"n": 4444, "f": 4999}])
def test_what_is_wrong_with_a_persons_numbers_is_said_without_them(seen, tmp_path):
    path = written(
        tmp_path,
        """\
subject: {n: {unit: records, range: [1, 100000]}, f: {unit: records, range: [1, 99999]}}
nodes: {u: {source: s, cpd: {kind: pitman-uniqueness, class_size: "@f", records: "@n",
                             population: 5000, theta: 1, alpha: 0.5}}}
questions: {risk: {target: u=yes}}
""",
    )
    with pytest.raises((rb.errors.ModelError, rb.errors.DataError)) as problem:
        rb.ask(path, subject=seen)
    assert "@n" in str(problem.value)
    assert not any(str(value) in str(problem.value) for value in seen.values() if value > 1)


def test_of_what_does_not_vary_nobody_has_a_share(tmp_path):
    """It said that p makes 58 % of a variance that is rounding."""
    path = written(
        tmp_path,
        """\
parameters: {p: {value: 0.3, range: [0, 1], source: a}, q: {value: 0.3, range: [0, 1], source: a}}
nodes: {x: {states: 0..3, cpd: {kind: binomial, n: 3, p: $p}, source: s},
        y: {parents: [x], cpd: {kind: probability, p: $q}}}
questions: {risk: {target: "x>=0 or y=yes"}}
""",
    )
    found = rb.whatif.sobol(path)
    assert found.mean == pytest.approx(1)
    for index in found.indices:
        assert (index.first, index.total, index.first_error, index.total_error) == (0, 0, 0, 0)
