"""Whatever is handed to a public name, it ends in an answer or in our own error."""

import inspect
import warnings
from importlib import import_module

import pytest
from wrong_calls import METHODS, WRONG, every

import reidbn as rb

ROOMS = {"": rb, "population": rb.population, "leak": rb.leak, "secrets": rb.secrets,
         "records": rb.records, "datasets": rb.datasets, "microdata": rb.microdata,
         "report": rb.report}  # fmt: skip
ELSEWHERE = ("reidbn.attack.", "reidbn.inference.", "reidbn.whatif.", "reidbn.report.drawing")
CALLERS_OWN = {"progress"}  # a function that is called back: its errors are its author's


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    return every(tmp_path_factory.mktemp("wrong"))


def fate(call, arguments):
    """Our own error or None; anything else goes through, a foreign warning too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What a library announces about another one is not ours.
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="matplotlib")
        warnings.simplefilter("ignore", rb.errors.ReidbnWarning)
        try:
            call(**arguments)
        except rb.ReidbnError as problem:
            return problem
    return None


def test_every_function_that_a_room_shows_is_tried(calls):
    """Those of attacks, engines and what-ifs are in tests/test_wrong_types.py."""
    shown = {
        f"{room}.{name}".lstrip(".")
        for room, face in ROOMS.items()
        for name in face.__all__
        for thing in [getattr(face, name)]
        if inspect.isfunction(thing) and inspect.signature(thing).parameters
        and not thing.__module__.startswith(ELSEWHERE)
    }  # fmt: skip
    tried = {name.split(" of ")[0] for name in calls}
    tried |= {name.rpartition(".")[2] for name in tried}
    assert shown - tried - {name for name in shown if name.rpartition(".")[2] in tried} == set()


def test_every_method_of_a_result_with_arguments_is_tried():
    kinds = {"Assessment": rb.Assessment, "People": rb.People, "Suda": rb.microdata.Suda,
             "Disclosure": rb.secrets.Disclosure, "Candidates": rb.microdata.Candidates,
             "Contingency": rb.microdata.Contingency, "Leak": rb.leak.Leak}  # fmt: skip
    inherited = {"compare", "explain", "page", "plot", "report", "refuse_part",
                 "refuse_simulated", "content_as_cells", "cells_told"}  # fmt: skip
    for kind, owner in kinds.items():
        own = {
            name
            for name in dir(owner)
            if name[0] != "_"
            and inspect.isfunction(function := getattr(owner, name))
            and len(inspect.signature(function).parameters) > 1
        }
        assert own - inherited <= set(METHODS[kind]), kind


def test_every_call_is_right_before_it_is_made_wrong(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in list(calls)[::17]:
        call, arguments = calls[name]
        assert fate(call, arguments) is None, name


def wrong_ways(arguments):
    return [(n, label) for n in arguments if n not in CALLERS_OWN for label in WRONG]


def test_a_few_wrong_arguments_of_every_name_end_in_our_own_error(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = made = 0
    for number, (call, arguments) in enumerate(calls.values()):
        for name, label in wrong_ways(arguments)[number % 397 :: 397]:
            made += 1
            refused += fate(call, {**arguments, name: WRONG[label]}) is not None
    assert made > 20
    assert refused > 0.8 * made


def test_people_of_a_sparse_table_are_taken_for_no_people_with_columns(calls):
    """The table of an assessment of a sparse table, wherever a table of people may be given."""
    families = rb.datasets.synthetic_families(12, seed=1)
    sparse = rb.read_sparse(families.table, features=families.features)
    tables = [
        rb.assess("linkage", sparse, individuals=[0]).table,
        rb.assess("family-cascade", rb.read_kin(sparse), individuals=[0]).table,
    ]
    tried = 0
    for name, (call, arguments) in calls.items():
        own = isinstance(getattr(call, "__self__", None), rb.People)
        unchanged = name.rpartition(".")[2] in ("drop", "take", "has_the_people_of", "rows_in")
        for table in tables:
            made = [getattr(table, call.__name__)] if own and not unchanged else []
            ways = [(one, arguments) for one in made]
            for key, value in arguments.items():
                given = {"a": table} if isinstance(value, dict) and key == "variants" else table
                if (isinstance(value, rb.People) or given is not table) and not unchanged:
                    ways.append((call, {**arguments, key: given}))
            for one, ask in ways:
                tried += 1
                with pytest.raises(rb.UsageError, match="sparse table"):
                    one(**ask)
    assert tried > 100
    for table in tables:
        with pytest.raises(rb.UsageError, match="sparse table"):
            rb.records.record_network(table)
        assert table.has_the_people_of(table)
        assert "sparse" in repr(table).lower()


@pytest.mark.slow
def test_no_wrong_argument_ends_in_a_foreign_error(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call, arguments in calls.values():
        for name, label in wrong_ways(arguments):
            fate(call, {**arguments, name: WRONG[label]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rb.suda(3), r"suda: people: int is not a table of people; .*rb.read_table"),
        (lambda: rb.leak.joint_risk({1: 3}, leaked=1, targets=1, metod="exact"),
         'joint_risk takes no "metod"; did you mean "method"'),
        (lambda: rb.leak.equal_classes(9), "equal_classes: missing a required argument"),
        (lambda: rb.leak.risk(leaked=[1, None], records=9, class_size=3),
         "risk: leaked is a list with an int in it; it takes numbers or a mapping"),
        (lambda: rb.load("a\0b"), "code 0"),
        (lambda: rb.report.cards("a\0.html"), "code 0"),
        (lambda: rb.microdata.collapse({"a": [1]}, [], "new.parquet"), "names no column"),
        (lambda: rb.leak.equal_classes(10**400, 3), "more digits than a computer counts with"),
        (lambda: rb.datasets.synthetic_patients(3, seed=-1), "seed=-1: it must lie between 0"),
    ],
)  # fmt: skip
def test_the_error_says_what_would_be_right(call, message):
    with pytest.raises(rb.UsageError, match=message):
        call()


def test_a_number_of_four_hundred_digits_is_refused_wherever_settings_are_named():
    """It is finite, and no float: Python's own error came of it."""
    table = rb.read_table({"a": ["x", "y"] * 6, "b": ["x", "y", "z"] * 4},
                          quasi_identifiers=["a", "b"])  # fmt: skip
    with pytest.raises(rb.UsageError, match="needs one number"):
        rb.assess("marketer", table, set={"x": 10**400})
    with pytest.raises(rb.UsageError, match="give a number, 0 or more"):
        rb.recommend(table, target="k=2", importance={"a": 10**400})


def test_a_hint_for_the_checker_of_types_alone_is_read_too():
    hints = import_module("reidbn.calls")._hints
    inner = getattr(rb.population.compare, "__wrapped__", rb.population.compare)
    assert rb.People in hints(inner)["people"].__args__
