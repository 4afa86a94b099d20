"""Whatever is handed to a public call about attacks, it ends in an answer or in our own error."""

import math

import numpy as np
import pytest
from inside import inside

import reidbn as rb

YES_NO = ("no", "yes")
HALF = rb.Rows((rb.Row((0.5, 0.5)),))
N = rb.Node("n", YES_NO, HALF, source="me")
ROOMS = ("reidbn.attack.", "reidbn.cpds.", "reidbn.inference.", "reidbn.whatif.")
# Results, which nobody makes by hand, and what has no arguments.
APART = {"Answer", "Tornado", "Solution", "Comparison", "Sobol", "Uncertainty",
         "Asked", "Case", "CPD",
         "models", "scenarios", "And", "Or", "Uniform"}  # fmt: skip

WRONG = [
    None,
    -1,
    2.5,
    math.nan,
    math.inf,
    10**400,
    1j,
    True,
    "nonsense",
    "",
    b"x",
    [],
    [1, 2],
    {},
    {"a": 1},
    {1: 2},
    {1},
    (1, 2, 3),
    np.array([[1.0, 2.0], [3.0, 4.0]]),
    int,
    len,
    object(),
]
FEW = [None, -1, 10**400, {"a": 1}, WRONG[-4]]

RISK = {"given": {}, "do": {}, "set": {}, "subject": None}


def attack_of(node, **parts):
    return rb.Attack("a", nodes=[N, node], parameters=[rb.Parameter("p", 0.3)], **parts)


def in_place(kind, states=YES_NO, /, **fields):
    """A CPD of this kind is made, put into an attack, and asked."""

    def call(**changed):
        node = rb.Node("m", states, kind(**changed), ("n",), source="me")
        return rb.ask(attack_of(node), "m")

    return call, fields


def part(room, kind, /, **fields):
    """A part of this kind is made and put into an attack."""
    return lambda **changed: rb.Attack("a", **{"nodes": [N], room: [kind(**changed)]}), fields


def calls(tmp):
    leak, marketer = rb.load("leak-single"), rb.load("marketer")
    rb.export("breakfast", tmp / "b.bif")
    people = {"records": 100, "population": 1000, "theta": 10.0, "alpha": 0.5, "class_size": 1}
    return {
        "load": (rb.load, {"name_or_path": "breakfast", "kinds": None}),
        "loads": (rb.loads, {"text": rb.dumps(leak), "kinds": None, "label": "x"}),
        "dumps": (rb.dumps, {"attack": leak}),
        "save": (rb.save, {"attack": leak, "path": tmp / "s.yaml"}),
        "check": (rb.check, {"what": "breakfast", "kinds": None}),
        "register": (rb.register, {"table": {"listed": [0.9], "shows age": [1]}, "source": "me"}),
        "load_scenario": (rb.load_scenario, {"name_or_path": "worst-case"}),
        "ask": (rb.ask, {"attack": marketer, "target": "risk", **RISK, "engine": "exact",
                         "draws": 1000, "seed": 0, "beyond_range": False}),
        "ask by sampling": (rb.ask, {"attack": "breakfast", "target": "risk",
                                     "engine": "sampling", "draws": 1000, "seed": 0}),
        "crosscheck": (rb.crosscheck, {"attack": "breakfast", "target": "risk", **RISK,
                                       "draws": 1000, "seed": 0, "level": 1e-6, "subjects": 2}),
        "export": (rb.export, {"attack": "breakfast", "path": tmp / "a.bif", "format": None,
                               "set": {}, "subject": None}),
        "import_network": (rb.import_network, {"source": tmp / "b.bif", "name": None}),
        "learn": (rb.learn, {"what": "breakfast", **RISK, "over": None, "priors": None,
                             "tests": [{"target": "risk", "hits": 3, "trials": 40}]}),
        "decide": (rb.decide, {"what": "insider-decides", "target": "risk", "set": {},
                               "subject": None, "temperature": None, "beyond_range": False}),
        "coverage": (rb.coverage, {"models": ["breakfast"]}),
        "expect": (rb.expect, {"what": "leak-single", "of": "leaked_class_size", **RISK,
                               "engine": "exact", "draws": 1000, "seed": 0}),
        "most_probable": (rb.most_probable, {"attack": "breakfast", **RISK}),
        "draw": (rb.draw, {"attack": "breakfast", "path": None, **RISK, "marginals": False}),
        "sweep": (rb.sweep, {"what": "breakfast", "target": "risk", "grid": {"alike": [1, 2]},
                             **RISK, "thresholds": (0.1,), "impossible": "raise", "path": None}),
        "tornado": (rb.tornado, {"what": "breakfast", "target": "risk", **RISK,
                                 "over": ["p_listed"], "threshold": 0.1, "statistic": "mean"}),
        "solve": (rb.solve, {"what": "breakfast", "question": "risk", "parameter": "p_listed",
                             "target": 0.01, **RISK, "range": None, "statistic": "mean"}),
        "derivatives": (rb.derivatives, {"what": "breakfast", "target": "risk", **RISK,
                                         "over": ["p_listed"]}),
        "derivative": (rb.derivative, {"what": "breakfast", "target": "risk",
                                       "parameter": "p_listed"}),
        "compare": (rb.compare, {"what": "breakfast", "target": "risk", "before": {},
                                 "after": {"p_listed": 0.3}, **RISK, "statistic": "mean"}),
        "sobol": (rb.sobol, {"what": "breakfast", "target": "risk", **RISK,
                             "over": ["p_listed"], "priors": None}),
        "uncertainty": (rb.uncertainty, {"what": "breakfast", "target": "risk", **RISK,
                                         "over": ["p_listed"], "priors": None, "samples": 100,
                                         "seed": 0, "quantiles": (0.5,), "thresholds": (0.1,)}),
        "subject_uncertainty": (rb.subject_uncertainty, {
            "what": "breakfast", "target": "risk", **RISK, "over": ["p_listed"], "priors": None,
            "samples": 100, "seed": 0, "quantiles": (0.5,)}),
        "cpd_function": (lambda **k: rb.cpd_function(**k)(lambda n: n), {"name": "f"}),
        "Attack": (rb.Attack, {"name": "a", "nodes": [N], "parameters": [], "groups": [],
                               "subject": [], "questions": [], "example": {}, "title": "",
                               "story": "", "sources": (), "where": ()}),
        "Attack.with_values": (leak.with_values, {"values": {"leaked": 5}}),
        "Attack.with_members": (marketer.with_members, {
            "group": "known", "members": ["a"], "probability": 0.5, "example": None}),
        "Node": part("nodes", rb.Node, name="n", states=YES_NO, cpd=HALF, parents=(), story="",
                     source="me", linddun=(), panoptic=()),
        "Group": part("groups", rb.Group, name="g", members=("a", "b"),
                      rows=(rb.GroupRow(0.5),), parents=(), story="", source="me"),
        "GroupRow": part("groups", lambda **k: rb.Group("g", ("a", "b"), (rb.GroupRow(**k),),
                                                        ("n",), source="me"),
                         p=(0.5, 0.4), when={}),
        "SubjectColumn": part("subject", rb.SubjectColumn, name="c", per=None, each=None,
                              unit="", low=1, high=5, story=""),
        "Question": part("questions", rb.Question, name="q", target="n=yes", given={}, story=""),
        "Parameter": part("parameters", rb.Parameter, name="p", value=0.2, low=0.1, high=0.5,
                          unit="probability", source="me", prior=None, story=""),
        "Prior": part("parameters", lambda **k: rb.Parameter("p", 0.2, prior=rb.Prior(**k)),
                      kind="beta", a=1, b=2, mode=None),
        "Scenario": (lambda **k: rb.Scenario(**k).on(leak), {
            "name": "s", "set": {}, "given": {}, "do": {}, "knows": None, "parameters": (),
            "nodes": (), "questions": ()}),
        "Row": in_place(lambda **k: rb.Rows((rb.Row(**k),)), p=(0.5, 0.5), when={}),
        "Rows": in_place(rb.Rows, rows=(rb.Row((0.5, 0.5)),)),
        "Threshold": in_place(rb.Threshold, at_least=1),
        "NoisyOr": in_place(rb.NoisyOr, weights=0.5, leak=0.1),
        "NoisyAnd": in_place(rb.NoisyAnd, weights=0.5, leak=0.1),
        "Mixture": in_place(rb.Mixture, weights=(0.5, "rest"),
                            components=(rb.And(), rb.Uniform())),
        "Unique": in_place(rb.Unique, of=1, stays=0.5),
        "OneOver": in_place(rb.OneOver, of=2, only_if=("n",)),
        "Share": in_place(rb.Share, part=1, whole=2),
        "Probability": in_place(rb.Probability, p=0.4, only_if=("n",)),
        "Table": in_place(rb.Table, p=((0.5, 0.5), (0.1, 0.9))),
        "Empirical": in_place(rb.Empirical, counts=((1, 2), (3, 4)), prior=0.5),
        "Lookup": in_place(rb.Lookup, to=YES_NO),
        "Function": in_place(rb.Function, name="f", function=lambda n: n),
        "PitmanUniqueness": in_place(rb.PitmanUniqueness, **people),
        "PitmanMatch": in_place(rb.PitmanMatch, **people),
        "PitmanClassSize": in_place(rb.PitmanClassSize, tuple("1235"), **people),
        "SurveyClassSize": in_place(rb.SurveyClassSize, tuple("1235"), class_size=1,
                                    class_weight=10.0),
        "HypergeometricLeak": in_place(rb.HypergeometricLeak, tuple("0123"), records=100,
                                       leaked=10, class_size=3),
    }  # fmt: skip


NAMES = ["ask by sampling", "draw", "Attack.with_values", "Attack.with_members"] + [
    name
    for name in rb.__homes__
    if getattr(getattr(rb, name), "__module__", "").startswith(ROOMS) and name not in APART
]


@pytest.fixture(autouse=True)
def no_registered_functions(monkeypatch):
    monkeypatch.setattr(inside(rb.cpd_function), "_REGISTERED", {})


def refused(call, arguments, values):
    """How many of the calls were refused; an error that is not ours goes through."""
    count = 0
    for name in arguments:
        for value in values:
            try:
                call(**{**arguments, name: value})
            except rb.ReidbnError:
                count += 1
    return count


def test_every_public_call_about_attacks_is_tried_here(tmp_path):
    assert set(NAMES) == set(calls(tmp_path))


@pytest.mark.parametrize("name", [n for n in NAMES if n != "crosscheck"])  # takes long
def test_a_wrong_type_ends_in_our_own_error(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, arguments = calls(tmp_path)[name]
    call(**arguments)  # as it should be called
    assert refused(call, arguments, FEW) >= len(arguments)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_wrong_type_of_many_ends_in_a_foreign_error(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, arguments = calls(tmp_path)[name]
    assert refused(call, arguments, WRONG) >= len(arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rb.load(3), r"load: name_or_path is an int; it takes text or a path or an Attack"),
        (lambda: rb.dumps("breakfast"), "dumps: attack is a str; it takes an Attack"),
        (
            lambda: rb.ask("breakfast", "risk", set={"alike"}),
            r"ask: set is a set with a str in it; it takes a mapping \{name: anything\} or None",
        ),
        (
            lambda: rb.ask("breakfast", "risk", engine="sampling", draws=1e6),
            "ask: draws is a float; it takes a whole number",
        ),
        (
            lambda: rb.ask("breakfast", "risk", engine="sampling", seed=-1),
            "seed=-1: it must lie between 0",
        ),
        (
            lambda: rb.OneOver([2]),
            "OneOver: of is a tuple with an int in it; it takes a number or text",
        ),
        (lambda: rb.Node("n", 2, HALF), "Node: states is an int; it takes text or a list"),
        (lambda: rb.Attack("a", nodes=3), "attack a: nodes is an int; it takes Nodes"),
        (lambda: rb.OneOver(math.inf), "one-over: of holds a number that is not finite"),
    ],
)
def test_the_error_says_which_argument_and_what_it_takes(call, message):
    with pytest.raises(rb.UsageError, match=message):
        call()


@pytest.mark.parametrize("population", [math.inf, math.nan, 10**400, -1, "many", [5000]])
def test_a_population_that_is_no_number_of_people_is_refused(population):
    table = {"sex": ["F", "M", "M"], "age": [30, 40, 40]}
    people = rb.read_table(table, quasi_identifiers=["sex", "age"])
    for call in (
        lambda: rb.assess("adversary-routes", people, population=population),
        lambda: rb.population.fit(people, population=population),
    ):
        with pytest.raises(rb.UsageError, match="number of people"):
            call()


def test_a_slip_in_how_a_question_is_asked_is_refused_with_what_was_meant():
    with pytest.raises(rb.UsageError, match='tornado takes no "gvien"; did you mean "given"'):
        rb.tornado("leak-single", gvien={})
    with pytest.raises(rb.UsageError, match="solve: set is an int"):
        rb.solve("leak-single", "identified=yes", "class_size", 0.09, set=3)
