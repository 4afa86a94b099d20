"""Model files: file -> Attack -> file and Attack -> file -> Attack are the identity."""

import json
import pickle
import shutil
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from attacks import random_attacks
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

import reidbn as rb
from reidbn.attack import (
    WIDTH,
    json_schema,
    json_schema_text,
    layout,
    models_folder,
    read_yaml,
    scalar,
)
from reidbn.cli import reidbn
from reidbn.cpds import installed_kinds, shipped_kinds

YES_NO = ("no", "yes")
MODELS = models_folder()
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=120)
WORDS = ["the", "who", "#", "a:", "-", "'x'", '"y"', "[1]", "yes", "é", "0.5", "&", "*"]
PROSE = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)


# -- file -> Attack -> file -----------------------------------------------------------------------


@pytest.mark.parametrize("name", rb.models())
def test_reading_and_writing_a_shipped_model_changes_nothing(name):
    text = (MODELS / f"{name}.yaml").read_text(encoding="utf-8")
    assert rb.dumps(rb.loads(text)) == text, "run: make golden"


@pytest.mark.parametrize("name", rb.models())
def test_shipped_models_are_readable_on_a_screen(name):
    text = (MODELS / f"{name}.yaml").read_text(encoding="utf-8")
    assert all(len(line) <= WIDTH for line in text.splitlines())
    assert text.startswith("# yaml-language-server: $schema=./model.schema.json\n")


def test_saving_and_loading_by_path(tmp_path):
    attack = rb.load("breakfast")
    path = tmp_path / "mine.yaml"
    rb.save(attack, path)
    assert rb.load(path) == attack
    assert rb.load(str(path)) == attack
    attack.save(path)
    assert rb.load(attack) is attack


def test_a_shipped_name_wins_over_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text(rb.dumps(rb.load("marketer")), encoding="utf-8")
    Path("breakfast").write_text("", encoding="utf-8")
    assert rb.load("mine").name == "marketer"
    assert rb.load("breakfast").name == "breakfast"


def test_models_are_found_inside_an_installed_package(tmp_path, monkeypatch):
    package = tmp_path / "reidbn"
    (package / "attack").mkdir(parents=True)
    shutil.copytree(MODELS, package / "models")
    monkeypatch.setattr(inside(models_folder), "__file__", str(package / "attack" / "modelfile.py"))
    assert models_folder() == package / "models"
    assert rb.load("breakfast").name == "breakfast"


def test_line_ends_and_byte_order_marks_of_other_systems_are_read(tmp_path):
    text = rb.dumps(rb.load("breakfast"))
    path = tmp_path / "from-elsewhere.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert rb.load(path) == rb.load("breakfast")
    assert rb.loads(text.replace("\n", "\r\n")) == rb.load("breakfast")


# -- Attack -> file -> Attack ---------------------------------------------------------------------


@st.composite
def parameters(draw):
    """A parameter of any unit, range and prior, and a node that uses it."""
    name = draw(st.sampled_from(["p", "null", "on", "true", "é", "_1"]))
    if draw(st.booleans()):
        value = draw(st.floats(0, 1))
        low, high = sorted([draw(st.floats(0, value)), draw(st.floats(value, 1))])
        unit, cpd = "probability", rb.Probability(f"${name}")
    else:
        numbers = st.integers(1, 10**15) | st.floats(1, 1e15)
        low, value, high = sorted(draw(st.tuples(numbers, numbers, numbers)))
        unit, cpd = draw(st.sampled_from(["people", "", "1", "no"])), rb.OneOver(f"${name}")
    prior = None
    if low < high:
        prior = draw(
            st.none()
            | st.just(rb.Prior())
            | st.builds(rb.Prior, st.just("beta"), a=st.floats(0.1, 9), b=st.integers(1, 9))
            | st.just(rb.Prior("triangular", mode=value))
        )
    source = draw(TEXT.filter(str.strip))
    parameter = rb.Parameter(name, value, low, high, unit, source, prior, draw(TEXT | PROSE))
    return parameter, rb.Node(f"use_{name}", YES_NO, cpd, story=draw(TEXT))


@st.composite
def dressed_attacks(draw):
    """A random attack with parameters, a node of odd state names, stories and questions."""
    attack = draw(random_attacks())
    parameter, user = draw(parameters())
    odd = draw(st.lists(st.sampled_from(["0", "007", "1.50", "on", "~", "null", "true", "#a", "- b",
        "é", "a b", "'", "*", "&x", "@", "1e3", "0x1", "[", "yes", "a: b"]),
        min_size=1, max_size=6, unique=True))  # fmt: skip
    chances = rb.Row({odd[0]: 0.5, odd[-1]: "rest"} if len(odd) > 1 else {odd[0]: 1})
    rows = [rb.Row(("rest", draw(st.floats(0, 1))), {"odd": (state,)}) for state in odd]
    nodes = [
        rb.Node("odd", odd, rb.Rows([chances]), source=draw(TEXT.filter(str.strip))),
        rb.Node("after", YES_NO, rb.Rows(rows), ("odd",), source="x",
                linddun=draw(st.lists(TEXT, max_size=2))),
    ]  # fmt: skip
    state = draw(st.sampled_from(odd))
    question = rb.Question("q", f"after=yes, odd={state}", story=draw(TEXT))
    given_question = rb.Question("r", "after=yes", {"odd": state})
    return attack.replace(
        name=draw(TEXT.filter(str.strip)),
        title=draw(TEXT),
        story=draw(TEXT | PROSE | st.lists(PROSE, max_size=3).map("\n".join)),
        sources=draw(st.lists(TEXT | PROSE, max_size=3)),
        parameters=[parameter],
        nodes=[*attack.nodes.values(), user, *nodes],
        questions=[question, given_question],
    )


@settings(max_examples=60)
@given(dressed_attacks())
@pytest.mark.wide
def test_writing_and_reading_an_attack_changes_nothing(attack):
    text = rb.dumps(attack)
    again = rb.loads(text)
    assert again == attack
    assert again.to_dict() == attack.to_dict()
    assert rb.dumps(again) == text
    assert list(again.nodes) == list(attack.nodes)


def kitchen_sink() -> rb.Attack:
    """An attack with every shipped kind of CPD in it."""
    one = rb.Row((0.25, "rest"))
    return rb.Attack(
        "kitchen-sink",
        parameters=[
            rb.Parameter("p", 0.1 + 0.2),
            rb.Parameter("k", 3, 1, 5, "people", source="me"),
            rb.Parameter("weight", 2.0, 0.5, 8.0, "kg"),
        ],
        subject=[
            rb.SubjectColumn("size", per="known", unit="records", low=1),
            rb.SubjectColumn("seen", each="known", low=0, high=1, story="how often"),
            rb.SubjectColumn("age"),
        ],
        groups=[
            rb.Group("known", ("a", "b"), [rb.GroupRow("@seen")], source="x"),
            rb.Group("also", ("c",), [rb.GroupRow([0.5], {"x": "yes"}), rb.GroupRow(0)], ["x"],
                     source="y"),
        ],
        nodes=[
            rb.Node("x", YES_NO, rb.Rows([one]), source="s"),
            rb.Node("y", YES_NO, rb.Rows([rb.Row({"yes": "$p", "no": "rest"},
                                                 {"x": ["no", "yes"]})]), ["x"]),
            rb.Node("and_", YES_NO, rb.And(), ("x", "known")),
            rb.Node("or_", YES_NO, rb.Or(), ("x", "y")),
            rb.Node("few", YES_NO, rb.Threshold(2), ("x", "y", "also")),
            rb.Node("causes", YES_NO, rb.NoisyOr({"x": 0.5, "y": "$p"}, leak=0.125), ("x", "y"),
                    source="s"),
            rb.Node("needs", YES_NO, rb.NoisyAnd("$p"), ("x",)),
            rb.Node("mixed", YES_NO, rb.Mixture(["$p", "rest"], [rb.And(), rb.Mixture(
                [0.5, 0.5], [rb.Or(), rb.Rows([one])])]), ("x", "y"), source="s"),
            rb.Node("alone", YES_NO, rb.Unique("@size", "$p"), ("known",)),
            rb.Node("guess", YES_NO, rb.OneOver("@size", ("x",)), ("known", "x")),
            rb.Node("leaked", "0..$k", rb.HypergeometricLeak(100, 10.0, "$k"), source="s"),
            rb.Node("inside", YES_NO, rb.Share("leaked", "$k"), ("leaked",)),
            rb.Node("old", YES_NO, rb.OneOver("@age")),
            rb.Node("heavy", YES_NO, rb.OneOver("$weight")),
            rb.Node("chance", YES_NO, rb.Probability("$p", ("x",)), ("x",)),
            rb.Node("any", ("u", "v", "w"), rb.Uniform()),
            rb.Node("named", ("far", "near"), rb.Lookup(("near", "far", "far")), ("any",)),
            rb.Node("counted", YES_NO, rb.Empirical(((1, 2), (3.5, 4), (0, 1)), prior=0.5),
                    ("any",), source="s"),
            rb.Node("written", YES_NO, shipped_kinds()["table"](((0.3, 0.7),) * 3),
                    ("any",), source="s"),
            rb.Node("python", YES_NO, rb.Function("test_modelfile.half"), ("x",)),
        ],
        example={"size": [9, 4, 2, 1], "seen": [0.5, 0.25], "age": 7},
    )  # fmt: skip


@rb.cpd_function("test_modelfile.half")
def half(x):
    return 0.5 * x


def test_all_kinds_of_cpd_can_be_written_and_read():
    attack = kitchen_sink()
    used = {node.cpd.kind for node in attack.nodes.values()}
    assert len(used) >= 17
    assert used <= set(shipped_kinds())
    again = rb.loads(rb.dumps(attack))
    assert again == attack
    assert again.to_dict() == attack.to_dict()
    assert again.nodes["leaked"].cpd == rb.HypergeometricLeak(100.0, 10.0, "$k")


def test_numbers_keep_their_kind_and_every_digit():
    attack = rb.loads(rb.dumps(kitchen_sink()))
    p, k, weight = attack.parameters.values()
    assert p.value == 0.1 + 0.2
    assert (type(k.value), type(weight.value)) == (int, float)
    assert k.is_integer
    assert not weight.is_integer
    assert attack.structural == ("k",)


def test_defaults_are_left_out():
    attack = rb.Attack(
        "small",
        parameters=[rb.Parameter("p", 0.5)],
        nodes=[rb.Node("n", YES_NO, rb.NoisyOr("$p"), ("m",)), rb.Node("m", YES_NO, rb.Uniform())],
    )
    assert attack.to_dict() == {
        "schema_version": 1,
        "name": "small",
        "parameters": {"p": {"value": 0.5, "source": "assumption"}},
        "nodes": {
            "n": {"parents": ["m"], "cpd": {"kind": "noisy-or", "weights": "$p"}},
            "m": {"cpd": {"kind": "uniform"}},
        },
    }


def test_numpy_values_are_written_as_plain_numbers():
    attack = rb.Attack(
        "n",
        parameters=[rb.Parameter("k", np.int64(3), np.int64(1), np.int64(9), "people")],
        subject=[rb.SubjectColumn("c")],
        nodes=[
            rb.Node("h", "0..$k", rb.Uniform()),
            rb.Node("n", YES_NO, rb.Probability(np.float64(0.25)), source="x"),
            rb.Node("o", YES_NO, rb.OneOver("@c")),
        ],
        example={"c": np.float64(4.0)},
    )
    assert "value: 3\n" in rb.dumps(attack)
    assert "p: 0.25}" in rb.dumps(attack)
    assert rb.loads(rb.dumps(attack)) == attack


# -- YAML 1.2 -------------------------------------------------------------------------------------


def test_words_of_yaml_1_1_stay_words():
    text = "a: [no, yes, on, off, y, n, No, 2024-03-01, 0o7, 1_000, 12:30:00, =, .x]"
    words = ["no", "yes", "on", "off", "y", "n", "No", "2024-03-01", "0o7"]
    assert read_yaml(text).data == {"a": [*words, 1000, "12:30:00", "=", ".x"]}


def test_a_version_directive_changes_nothing():
    assert read_yaml("%YAML 1.1\n---\na: yes\n").data == {"a": "yes"}


def test_numerals_as_states_keep_how_they_are_written():
    text = """
schema_version: 1
name: numerals
nodes:
  zone: {states: [007, 1.50, 1_0, .inf], cpd: {kind: uniform}}
  n:
    parents: [zone]
    rows: [{when: {zone: 007}, p: {1.0: 1}}, {p: [0, 1]}]
    states: [1.0, 2]
questions: {q: {target: "n=2", given: {zone: 1.50}}}
"""
    attack = rb.loads(text)
    assert attack.nodes["zone"].states == ("007", "1.50", "1_0", ".inf")
    assert attack.nodes["n"].states == ("1.0", "2")
    assert attack.questions["q"].given == {"zone": "1.50"}
    assert rb.loads(rb.dumps(attack)) == attack


@given(TEXT | PROSE)
def test_any_text_survives_as_value_and_as_key(text):
    data = {"story": text, text: {"a": [text, {text: text}]}, "sources": [text, text]}
    if len(data) == 3 and text != "<<" and text not in ("parameters", "subject", "groups", "nodes"):
        assert read_yaml(layout(data)).data == data


@given(st.floats(allow_nan=False) | st.integers(-(10**300), 10**300))
def test_any_number_survives(number):
    found = read_yaml(layout({"a": number})).data["a"]
    assert found == number
    assert isinstance(found, type(number))


def test_long_lists_and_tables_are_wrapped():
    text = layout({"example": {"size": [1000] * 64}, "rows": {"p": [[0.125] * 8] * 3}})
    assert all(len(line) <= WIDTH for line in text.splitlines())
    assert read_yaml(text).data["example"]["size"] == [1000] * 64
    assert text.count("- [0.125, ") == 3


def test_plain_words_are_read_as_yaml_1_2_reads_them():
    assert scalar("-0.5e-3") == -0.0005
    assert scalar(".inf") == float("inf")
    assert scalar("-.inf") == float("-inf")
    assert scalar("1.") == 1.0
    assert scalar("+7") == 7
    assert [scalar(word) for word in ("1.2.3", "e5", ".", "-", "1e", "0x1F")] == [
        "1.2.3", "e5", ".", "-", "1e", "0x1F",
    ]  # fmt: skip


# -- kinds from elsewhere -------------------------------------------------------------------------


def coin():
    """A kind of CPD as a third-party package would write it."""
    from dataclasses import dataclass
    from typing import ClassVar

    from reidbn.cpds import Ref, yes_no

    @dataclass(frozen=True)
    class Coin(rb.CPD):
        """Yes when a coin falls on its edge."""

        kind: ClassVar[str] = "coin"
        edge: Ref
        tosses: int = 1
        faces: tuple[str, ...] = ()

        def probabilities(self, scope):
            return yes_no(scope.child, 1 - (1 - scope.value(self.edge)) ** self.tosses)

        def __post_init__(self):
            super().__post_init__()
            if self.tosses < 1:
                raise ValueError(f"needs at least one toss, not {self.tosses}")

    return Coin


COIN = """\
schema_version: 1
name: coins
nodes:
  edge:
    cpd: {kind: coin, edge: 0.25, tosses: 2, faces: [heads, tails]}
    source: assumption
"""


def test_a_third_party_kind_by_explicit_mapping():
    Coin = coin()
    attack = rb.loads(COIN, kinds={"coin": Coin})
    assert attack.nodes["edge"].cpd == Coin(0.25, 2, ("heads", "tails"))
    assert float(rb.ask(attack, "edge=yes")) == pytest.approx(1 - 0.75**2, rel=1e-12)
    assert rb.loads(rb.dumps(attack), kinds={"coin": Coin}) == attack
    with pytest.raises(rb.ModelError, match='no CPD kind "coin"'):
        rb.loads(COIN)


def test_a_third_party_kind_that_refuses_its_values_says_so_at_its_line():
    with pytest.raises(rb.ModelError) as caught:
        rb.loads(COIN.replace("tosses: 2", "tosses: 0"), kinds={"coin": coin()})
    assert "<text>:5:10: nodes.edge.cpd: needs at least one toss, not 0" in str(caught.value)
    with pytest.raises(rb.ModelError, match="needed: a whole number"):
        rb.loads(COIN.replace("tosses: 2", "tosses: two"), kinds={"coin": coin()})


@pytest.fixture
def installed(monkeypatch):
    """Pretends that a package with an entry point is installed."""

    def install(name, value):
        point = EntryPoint(name, value, "reidbn.cpds")
        monkeypatch.setattr(inside(installed_kinds), "entry_points", lambda group: [point])
        installed_kinds.cache_clear()
        inside(json_schema)._shipped_and_installed.cache_clear()

    yield install
    monkeypatch.undo()
    installed_kinds.cache_clear()
    inside(json_schema)._shipped_and_installed.cache_clear()


COIN_CLASS = coin()


def test_a_third_party_kind_by_entry_point(installed):
    installed("coin", f"{__name__}:COIN_CLASS")
    attack = rb.loads(COIN)
    assert isinstance(attack.nodes["edge"].cpd, COIN_CLASS)
    assert rb.loads(rb.dumps(attack)) == attack


def test_an_installed_package_cannot_redefine_a_shipped_kind(installed):
    installed("and", f"{__name__}:COIN_CLASS")
    with pytest.raises(rb.ModelError, match='redefines the CPD kind "and"'):
        rb.load("breakfast")


# -- the JSON Schema ------------------------------------------------------------------------------


def test_the_committed_schema_is_the_generated_one():
    kept = (MODELS / "model.schema.json").read_text(encoding="utf-8")
    assert kept == json_schema_text(), "run: make schema"


def validator():
    jsonschema = pytest.importorskip("jsonschema")
    kind = jsonschema.Draft202012Validator
    kind.check_schema(json_schema())
    return kind(json_schema())


def test_the_schema_accepts_what_we_accept():
    check = validator()
    texts = [rb.dumps(rb.load(name)) for name in rb.models()] + [rb.dumps(kitchen_sink())]
    for text in texts:
        assert list(check.iter_errors(read_yaml(text).data)) == []


@pytest.mark.parametrize("name", [
    "unknown_kind", "unknown_node_key", "no_name", "quoted_number", "cpd_and_rows", "row_without_p",
    "neither_cpd_nor_rows", "schema_version_2", "unknown_cpd_key", "nodes_as_list",
])  # fmt: skip
def test_an_editor_with_the_schema_sees_mistakes_of_shape(name):
    text = (Path(__file__).with_name("broken_models") / f"{name}.yaml").read_text(encoding="utf-8")
    assert list(validator().iter_errors(read_yaml(text).data))


def test_every_kind_and_its_fields_are_described_in_the_schema():
    definitions = json_schema()["$defs"]
    for kind, made_of in shipped_kinds().items():
        definition = definitions[made_of.__name__]
        assert definition["description"]
        described = {name: f for name, f in definition["properties"].items() if name != "kind"}
        if kind in ("noisy-or", "unique", "mixture", "hypergeometric-leak", "rows", "function"):
            assert all(field["description"] for field in described.values())


# -- commands -------------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(reidbn, [str(a) for a in arguments], standalone_mode=False)


def test_models_lists_what_is_shipped():
    rows = json.loads(run("models", "--json").stdout)
    assert {row["name"] for row in rows} == {*rb.models()}
    assert {"name": "breakfast", "title": "Breakfast, overheard", "shelf": "lessons", "nodes": 5,
            "parameters": 4, "assumptions": 4} in rows  # fmt: skip
    shown = run("models").stdout
    assert all(row["title"] in shown for row in rows)


def test_new_writes_a_model_that_loads_and_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("new", "my-model")
    assert result.stdout == "my-model.yaml\n"
    attack = rb.load("my-model.yaml")
    assert attack.name == "my-model"
    answer = float(rb.ask(attack, "identified=yes"))
    guessed = 0.28 / 500 + 0.42 / 20 + 0.12 / 40 + 0.18 / 2
    assert answer == pytest.approx(0.3 * 0.8 * 0.98 * guessed, rel=1e-12)
    assert rb.loads(rb.dumps(attack)) == attack
    assert isinstance(run("new", "my-model").exception, rb.UsageError)
    assert run("new", "my-model", "--force", "--quiet").stderr == ""
    assert isinstance(run("new", "../x").exception, rb.UsageError)
    assert json.loads(run("new", "b", "--json").stdout) == {"file": "b.yaml", "name": "b"}
    assert run("new", "as-in-readme.yaml").stdout == "as-in-readme.yaml\n"
    assert rb.load("as-in-readme.yaml").name == "as-in-readme"


def test_schema_prints_the_schema():
    assert run("schema").stdout == json_schema_text()


def test_a_loaded_attack_can_be_pickled():
    attack = rb.load("adversary-routes")
    again = pickle.loads(pickle.dumps(attack))  # noqa: S301 - our own bytes
    assert again == attack
    assert hash(again) == hash(attack)


@pytest.mark.parametrize("at", [80, 90, 95])
def test_two_blanks_in_a_long_text_are_kept(at):
    """A plain text was wrapped at its two blanks, and came back with one."""
    attack = rb.load("surname").replace(sources=("a" * 20 + " " + "b" * (at - 21) + "  c d" * 9,))
    assert rb.attack.loads(rb.attack.dumps(attack)) == attack


def test_a_long_story_with_a_character_that_is_escaped_is_read_back():
    """The wrapped text had a blank after it."""
    story = (
        "The attacker tries candidates one after another, none twice, until the portal, bu{}dget"
    )
    breakfast = rb.load("breakfast")
    for sign in ("\ufeff", "\x85", "\u2028", "\x1b"):
        attack = breakfast.replace(story=story.format(sign) + " is spent" * 20)
        assert rb.attack.loads(rb.attack.dumps(attack)).story == attack.story


@pytest.mark.parametrize("path", sorted(MODELS.rglob("*.yaml")), ids=lambda p: p.stem)
def test_a_shipped_file_is_yaml_to_any_reader(path):
    """`story: Was it?}` stopped PyYAML in six models."""
    yaml = pytest.importorskip("yaml", reason="PyYAML, another reader, is not here")
    assert yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "Zaphod Muster,1955-03-01,8771\nMuster Zwei,1961-01-01,8772\n",
        '"Zaphod Muster","1955-03-01"\n',  # no YAML at all
        "Zaphod: Muster: 8771\n",
        "\tZaphod Muster\t8771\n",
        "@Muster,1\n",
        '[{"name": "Zaphod Muster", "born": "1955-03-01"}]',
        '{"name": "Zaphod Muster", "Muster": {"a": 1}}',
        '{"name": "Zaphod Muster", "nodes": 3}\n{"name": "Muster Zwei", "nodes": 8771}\n',
        "name: Zaphod Muster\nborn: 1955-03-01\nnodes: 8771\n",
    ],
)
def test_a_table_given_as_a_model_or_a_scenario_shows_nobodys_values(text, tmp_path):
    table = tmp_path / "x.csv"
    table.write_text(text, encoding="utf-8")
    asked = (
        lambda: rb.load(table),
        lambda: rb.loads(text),
        lambda: rb.ask(str(table), "identified=yes"),
        lambda: rb.ask("breakfast", "identified=yes", scenario=str(table)),
        lambda: rb.attack.load_scenario(table),
        lambda: rb.attack.register(table),
    )
    for ask in asked:
        with pytest.raises(rb.ReidbnError) as error:
            ask()
        told = str(error.value) + error.value.in_shell
        assert not [x for x in ("Zaphod", "Muster", "1955", "8771", "Zwei") if x in told], told


@pytest.mark.parametrize(
    ("value", "low", "said"),
    [
        ("0", "0", "alike is 0, which is no chance at all"),
        ("0.5", "0.5", "alike is 0.5, which is no chance at all"),
        ("5", "0", "warning: alike may be 0, which is no chance at all"),
        ("2.5", "1", "warning: is 2.5 people, and the range is whole"),
    ],
)
def test_a_guess_among_fewer_than_one_is_not_told_as_no_risk(value, low, said, tmp_path):
    text = (rb.attack.models_folder() / "breakfast.yaml").read_text(encoding="utf-8")
    text = text.replace("value: 5\n    range: [1, 40]", f"value: {value}\n    range: [{low}, 40]")
    if "warning" in said:
        assert [str(p) for p in rb.loads(text).warnings if said.split(": ")[1] in str(p)]
    else:
        with pytest.raises(rb.ModelError, match=said):
            rb.loads(text)


def test_a_source_that_says_guess_is_an_assumption():
    text = (rb.attack.models_folder() / "breakfast.yaml").read_text(encoding="utf-8")
    own = rb.loads(text.replace("source: assumption", "source: a guess of ours", 1))
    assert own.assumptions == rb.load("breakfast").assumptions
