"""`check` finds what would stop or mislead a question, before it is asked."""

import json

import broken
import numpy as np
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.attack import LINDDUN, is_threat_type
from reidbn.cli import reidbn as command

FILES = sorted(broken.CHECKED.glob("*.yaml"))
YES_NO = ("no", "yes")


def run(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_file_that_loads_is_told_what_is_wrong_or_odd_about_it(path):
    expected = path.with_suffix(".txt").read_text(encoding="utf-8")
    assert broken.found(path) == expected


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_errors_exit_with_2_and_warnings_with_0_unless_strict(path):
    found = rb.check(path)
    levels = {problem.level for problem in found}
    assert run("check", path).return_value == (2 if "error" in levels else 0)
    assert run("check", path, "--strict").return_value == 2
    (told,) = json.loads(run("check", path, "--json").stdout)
    assert told["ok"] == ("error" not in levels)
    assert len(told["problems"]) + len(told["warnings"]) == len(found)
    assert {p["level"] for p in told["warnings"]} <= {"warning"}
    for problem in found:
        assert path.read_text(encoding="utf-8").split("\n")[problem.line - 1] == problem.source


@pytest.mark.parametrize("name", rb.models())
def test_nothing_is_wrong_or_odd_about_a_shipped_model(name):
    assert rb.check(name) == ()


@pytest.mark.parametrize("name", rb.scenarios())
def test_nothing_is_wrong_or_odd_about_a_shipped_scenario(name):
    assert rb.check(name) == ()
    on = rb.load_scenario(name).on(rb.load("prosecutor"))
    assert on.warnings == ()


def test_a_broken_file_is_told_by_check_and_not_raised():
    path = broken.FOLDER / "row_over.yaml"
    with pytest.raises(rb.ModelError) as caught:
        rb.load(path)
    assert rb.check(path) == caught.value.problems
    with pytest.raises(rb.UsageError, match="a int cannot be checked"):
        rb.check(3)


def test_an_attack_made_in_python_is_checked_like_a_file():
    table = rb.Table(((1.0, 0.0), (0.5, 0.5), (0.2, 0.8)))
    attack = rb.Attack(
        "leak",
        parameters=[rb.Parameter("k", 2, 1, 9, "records", "made up")],
        nodes=[
            rb.Node("leaked", "0..$k", rb.Uniform()),
            rb.Node("seen", YES_NO, table, ("leaked",), source="made up"),
        ],
    )
    (found,) = rb.check(attack)
    assert found.address == "nodes.seen.cpd.p"
    assert "at k=1 it has 3 rows for 2 configurations" in found.message
    assert found.level == "error"


# -- tables that cannot follow a parameter ---------------------------------------------------


@pytest.mark.parametrize("kind", ["table", "lookup", "counts", "list"])
def test_a_hand_written_table_under_a_growing_parent_ends_in_our_own_error(kind):
    attack = rb.load(broken.CHECKED / f"{kind}_that_cannot_grow.yaml")
    question = "leaked=1" if kind == "list" else "seen=yes"
    assert 0 <= float(rb.ask(attack, question)) <= 1
    message = r"at class_size=4: (needs|has) "
    with pytest.raises(rb.ModelError, match=message):
        rb.ask(attack, question, set={"class_size": 4})
    with pytest.raises(rb.ModelError, match=message):
        rb.sweep(attack, question, {"class_size": [2, 4]})


def test_a_shrinking_parent_does_not_shift_the_rows_of_a_table_in_silence():
    rows = tuple((1 - p, p) for p in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5))
    attack = rb.Attack(
        "shift",
        parameters=[rb.Parameter("k", 2, 1, 2, "records", "made up")],
        nodes=[
            rb.Node("coin", YES_NO, rb.Uniform()),
            rb.Node("n", "0..$k", rb.Uniform()),
            rb.Node("seen", YES_NO, rb.Table(rows), ("coin", "n"), source="made up"),
        ],
    )
    with pytest.raises(rb.ModelError, match=r"seen at k=1: has 6 rows for 4 configurations"):
        rb.ask(attack, "seen=yes", set={"k": 1})


def test_check_with_many_parameters_looks_at_a_bounded_number_of_corners():
    names = [f"p{i}" for i in range(24)]
    attack = rb.Attack(
        "many",
        parameters=[rb.Parameter(n, 0.01, 0.0, 0.5, source="made up") for n in names],
        nodes=[
            rb.Node("r", tuple("abcdefghijklmnopqrstuvwxyz"[:25]),
                    rb.Rows((rb.Row((*(f"${n}" for n in names), "rest")),)))
        ],
    )  # fmt: skip
    (found,) = rb.check(attack)
    assert found.level == "warning"  # all at 0.5 leave nothing for the rest
    assert "which the ranges allow" in found.message


# -- classes that grow -----------------------------------------------------------------------


def test_subject_data_in_another_order_of_subsets_is_refused_and_not_nine_times_off():
    attack = rb.load("marketer")
    right = list(attack.example["class_size"])
    by_count = sorted(range(16), key=lambda mask: (mask.bit_count(), mask))
    slip = [right[mask] for mask in by_count]
    with pytest.raises(rb.DataError, match="class_size: a class grows when knows_"):
        rb.ask(attack, "risk", subject={"class_size": slip})
    with pytest.raises(rb.DataError, match="class_size: a class grows when knows_"):
        rb.ask(attack, "risk", subject={"class_size": np.array([right] * 9 + [slip])})
    with pytest.raises(rb.ModelError, match=r"example\.class_size\[\d+\]  a class grows when"):
        attack.replace(example={"class_size": slip})


# -- lists, tags -----------------------------------------------------------------------------


def test_only_a_list_with_a_parameter_or_rest_on_a_yes_no_node_is_a_warning():
    def warned(row, states=YES_NO):
        node = rb.Node("n", states, rb.Rows((rb.Row(row),)), source="made up")
        return len(rb.Attack("a", nodes=[node]).warnings)

    assert warned(("rest", 0.3)) == warned((0.3, "rest")) == warned(("rest", 0.3), ("yes", "no"))
    assert warned(("rest", 0.3)) == 1
    assert warned((0.7, 0.3)) == warned({"yes": 0.3, "no": "rest"}) == 0
    assert warned(("rest", 0.3), ("low", "high")) == warned((0.2, 0.3, "rest"), tuple("abc")) == 0


def test_every_threat_type_is_known_by_all_its_names():
    assert all(is_threat_type(name) for name in LINDDUN)
    others = "linking, Linkability, Identifiability, non repudiation, Detectability, DD.4.1"
    for other in (*others.split(", "), "Disclosure of information", "Unawareness"):
        assert is_threat_type(other)
    for odd in ("Identifing", "Spoofing", "", "I.x"):
        assert not is_threat_type(odd)


# -- Python functions ------------------------------------------------------------------------


def with_function(function):
    nodes = [rb.Node("n", "0..5", rb.Uniform()), rb.Node.from_function(function)]
    return rb.Attack("f", nodes=nodes)


def with_if(n):
    return 0.5 if n > 1 else 0.1


def with_float(n):
    return float(n) / 10


def with_a_list(n):
    return [0.1, 0.2, 0.3]


def with_words(n):
    return "often"


def with_a_mistake(n):
    return n.nothing


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (with_if, r"asks whether an array is true: .* must be vectorised.*np\.where"),
        (with_float, "uses an array as one number: .* must be vectorised"),
        (with_a_list, r"returned shape \(3,\) .* must be vectorised"),
        (with_words, "returned something that is no array of numbers: .* must be vectorised"),
        (with_a_mistake, "stopped with an AttributeError: .*nothing.*; .* must be vectorised"),
    ],
)
def test_a_function_that_is_not_vectorised_is_told_how_to_be(function, message):
    attack = with_function(function)
    with pytest.raises(rb.ModelError, match=message):
        rb.ask(attack, f"{function.__name__}=yes")
    (found,) = rb.check(attack)
    assert found.level == "error"
    assert "must be vectorised" in found.message


# -- the template ----------------------------------------------------------------------------


def test_the_template_of_new_is_sound_and_can_be_assessed(tmp_path):
    path = tmp_path / "mine.yaml"
    assert run("new", "mine", "-o", path, "--quiet").exit_code == 0
    assert rb.check(path) == ()
    attack = rb.load(path)
    by_hand = 0.3 * 0.8 * 0.98 * (0.28 / 500 + 0.42 / 20 + 0.12 / 40 + 0.18 / 2)
    assert float(rb.ask(attack, "risk")) == pytest.approx(by_hand, rel=1e-12)
    table = rb.datasets.synthetic_patients(60, seed=1)
    people = rb.read_table(table, quasi_identifiers=["age", "sex", "state"])
    result = rb.assess(attack, people)
    alike = table.groupby(["age", "sex", "state"])["age"].transform("size").to_numpy()
    assert result.risk() == pytest.approx(0.3 * 0.8 * 0.98 / alike, rel=1e-12)


# -- a number that is infinite ---------------------------------------------------------------


def test_a_division_by_0_is_a_problem_in_words_and_no_raw_warning():
    text = """
schema_version: 1
name: divided
parameters:
  a: {value: 0.2, range: [0, 0.4], source: assumption}
  b: {value: 0.5, range: [0, 1], source: assumption}
numbers: {q: {is: a / b, unit: probability}}
nodes: {hit: {cpd: {kind: probability, p: $q}, source: assumption}}
questions: {risk: {target: hit=yes}}
"""
    found = [p.message for p in rb.check(rb.loads(text))]  # a RuntimeWarning would be an error here
    assert any("at b=0, which the ranges allow: the number q = a / b is inf" in m for m in found)
