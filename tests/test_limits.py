"""Parameters stay within their declared ranges, and keep the conditions of their story."""

import inspect

import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import main
from reidbn.cli import reidbn as command

LEAK = rb.load("leak-single")
PEOPLE = rb.read_table(
    rb.datasets.synthetic_patients(40, seed=1), quasi_identifiers=["age", "sex", "state"]
)


def narrow(name="marketer"):
    """A shipped attack with a range that leaves 0.9 out."""
    attack = rb.load(name)
    p_c = attack.parameters["p_c"]
    new = rb.Parameter("p_c", 0.1, 0.0, 0.5, source=p_c.source)
    asked = [attack.questions["risk"]]
    return attack.replace(parameters=attack.parameters.replace(new), questions=asked)


BEYOND = {"class_size": 40}  # its range is 1 to 20
ROUTES = {"p_c": 0.9}
CALLS = {
    "ask": lambda **more: rb.ask(LEAK, "risk", set=BEYOND, **more),
    "crosscheck": lambda **more: rb.crosscheck(LEAK, set=BEYOND, draws=2000, **more),
    "export": lambda tmp, **more: rb.export(LEAK, tmp / "x.bif", set=BEYOND, **more),
    "most_probable": lambda **more: rb.most_probable(LEAK, set=BEYOND, **more),
    "draw": lambda **more: rb.draw(LEAK, set=BEYOND, **more),
    "sweep": lambda **more: rb.sweep(LEAK, "risk", {"leaked": [1]}, set=BEYOND, **more),
    "tornado": lambda **more: rb.tornado(LEAK, "risk", set=BEYOND, over=["leaked"], **more),
    "solve": lambda **more: rb.solve(LEAK, "risk", "leaked", 0.01, set=BEYOND, **more),
    "derivatives": lambda **more: rb.derivatives(
        LEAK, "risk", set=BEYOND, over=["leaked"], **more
    ),
    "derivative": lambda **more: rb.derivative(LEAK, "risk", "leaked", set=BEYOND, **more),
    "compare": lambda **more: rb.compare(LEAK, "risk", {}, {"set": {"leaked": 1}}, set=BEYOND,
                                         **more),
    "sobol": lambda **more: rb.sobol(LEAK, "risk", set=BEYOND, over={"leaked": (1, 9)}, **more),
    "uncertainty": lambda **more: rb.uncertainty(
        LEAK, "risk", set=BEYOND, over={"leaked": (1, 9)}, draws=100, **more
    ),
    "subject_uncertainty": lambda **more: rb.subject_uncertainty(
        LEAK, "risk", set=BEYOND, over={"leaked": (1, 9)}, draws=100, **more
    ),
    "expect": lambda **more: rb.expect(LEAK, "leaked_class_size", set=BEYOND, **more),
    "learn": lambda **more: rb.learn(
        narrow("adversary-routes"), [{"target": "risk", "hits": 1, "trials": 9}], set=ROUTES, **more
    ),
    "recommend": lambda **more: rb.recommend(
        PEOPLE, narrow(), target={"overall": "highest <= 0.999"}, set=ROUTES, **more
    ),
    "decide": lambda **more: rb.decide("insider-decides", set={"p_audit": 0.9}, **more),
    "assess": lambda **more: rb.assess(narrow(), PEOPLE, set=ROUTES, **more),
    "what_if": lambda **more: rb.what_if(rb.assess(narrow(), PEOPLE), set=ROUTES, **more),
}  # fmt: skip


def test_every_public_call_that_sets_parameters_is_tried_here():
    takes = {
        name
        for name in rb.__homes__
        if inspect.isfunction(thing := getattr(rb, name))
        and {"set", "asked"} & {*inspect.signature(thing).parameters}
    }
    assert takes == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_a_value_outside_its_declared_range_is_refused_unless_it_is_asked_for(name, tmp_path):
    more = {"tmp": tmp_path} if name == "export" else {}
    with pytest.raises(rb.UsageError, match=r"=(40|0\.9) lies outside its range .*--beyond-range"):
        CALLS[name](**more)
    CALLS[name](**more, beyond_range=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda **more: rb.sweep(LEAK, "risk", {"class_size": [40]}, **more),
        lambda **more: rb.sweep(LEAK, "risk", [{"class_size": 40}], **more),
        lambda **more: rb.tornado(LEAK, "risk", over={"class_size": (1, 40)}, **more),
        lambda **more: rb.solve(LEAK, "risk", "class_size", 0.09, range=(1, 40), **more),
        lambda **more: rb.sobol(LEAK, "risk", over={"class_size": (1, 40)}, **more),
        lambda **more: rb.compare(LEAK, "risk", {}, {"set": {"class_size": 40}}, **more),
        lambda **more: LEAK.with_values({"class_size": 40}, **more),
        lambda **more: LEAK.to_pgmpy(set={"class_size": 40}, **more),
    ],
)
def test_a_grid_a_range_or_a_change_beyond_the_declared_range_is_refused_too(call):
    with pytest.raises(rb.UsageError, match="class_size=40 lies outside its range 1 to 20"):
        call()
    call(beyond_range=True)


def test_a_scenario_that_sets_a_value_beyond_its_range_is_refused():
    scenario = rb.Scenario("careless", set={"p_c": 0.9})
    with pytest.raises(rb.UsageError, match=r"p_c=0\.9 lies outside its range 0 to 0\.5"):
        rb.assess(narrow(), PEOPLE, scenario=scenario)
    result = rb.assess(narrow(), PEOPLE, scenario=scenario, beyond_range=True)
    assert rb.tornado(result)["p_c"].high == 0.5  # the bars stay where the author put them


def test_no_call_makes_a_probability_larger_than_1():
    for more in ({}, {"beyond_range": True}):
        with pytest.raises(rb.UsageError, match=r"p_c=1\.2 is not a probability"):
            rb.ask("adversary-routes", "risk", set={"p_c": 1.2}, **more)


def test_the_shell_refuses_minus_three_people_and_says_how_to_insist(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["ask", "breakfast", "--set", "alike=-3"])
    assert ended.value.code == 2
    assert "alike=-3 lies outside its range 1 to 40" in capsys.readouterr().err
    asked = CliRunner().invoke(command, ["ask", "breakfast", "--set", "alike=50", "--beyond-range"])
    assert asked.exit_code == 0
    for name in ("sweep", "tornado", "solve", "compare", "sobol", "uncertainty", "derivatives",
                 "crosscheck", "export", "draw", "assess"):  # fmt: skip
        assert "--beyond-range" in CliRunner().invoke(command, [name, "--help"]).output


def test_a_count_without_a_declared_range_takes_any_value():
    text = """
schema_version: 1
name: free
parameters: {n: {value: 5, unit: people, source: assumption}}
nodes: {found: {cpd: {kind: one-over, of: $n}}}
"""
    assert float(rb.ask(rb.loads(text), "found=yes", set={"n": 8})) == 1 / 8


# -- conditions ------------------------------------------------------------------------------

BREAKS = {"leaked": 6000, "records": 5000}


def test_a_condition_is_written_read_and_part_of_what_an_attack_is():
    assert LEAK.where == ("leaked <= records",)
    assert rb.loads(rb.dumps(LEAK)) == LEAK
    assert LEAK.replace(where=()) != LEAK


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("leaked <= recrods", 'where[0]  no parameter "recrods"; did you mean "records"?'),
        ("leaked", 'where[0]  "leaked" is no condition: write one comparison'),
        ("leaked = records", "is no condition"),
        ("leaked <= records <= 9", "is no condition"),
        ("3 < 4", "is no condition"),
        ("records < leaked", "records < leaked does not hold at records=10000, leaked=4000"),
        ("leaked > 5e3", "does not hold at leaked=4000"),
    ],
)
def test_a_condition_that_cannot_be_or_does_not_hold_is_a_problem_of_the_file(condition, message):
    with pytest.raises(rb.ModelError) as caught:
        LEAK.replace(where=(condition,))
    assert message in str(caught.value)


def test_leaking_more_records_than_there_are_is_refused_by_name():
    for call in (
        lambda: rb.ask(LEAK, "risk", set=BREAKS),
        lambda: rb.tornado(LEAK, "risk", set=BREAKS),
        lambda: LEAK.with_values(BREAKS),
        lambda: rb.ask(LEAK, "risk", set={"leaked": [100, 6000], "records": 5000}),
    ):
        with pytest.raises(rb.ReidbnError, match="leaked <= records"):
            call()


def test_a_condition_holds_even_where_the_tables_do_not_need_it():
    free = rb.load("breakfast").replace(where=("p_overheard <= p_listed",))
    assert float(rb.ask(free, "risk", set={"p_overheard": 0.4})) > 0
    with pytest.raises(rb.UsageError, match="p_overheard <= p_listed does not hold"):
        rb.ask(free, "risk", set={"p_overheard": 0.4, "p_listed": 0.3})
    bar = rb.tornado(free, "risk", set={"p_listed": 0.3})["p_overheard"]
    assert bar.high == pytest.approx(0.3, abs=1e-9)
    assert "p_overheard <= p_listed does not hold" in bar.notes[0]
    with pytest.raises(rb.UsageError, match="meet where p_overheard <= p_listed does not hold"):
        rb.sobol(free, "risk")


def test_a_sweep_stops_at_a_point_that_breaks_a_condition_or_leaves_it_empty():
    grid = {"leaked": [100, 6000], "records": [5000, 50_000]}
    with pytest.raises(rb.UsageError, match="leaked <= records does not hold at leaked=6000"):
        rb.sweep(LEAK, "risk", grid)
    table = rb.sweep(LEAK, "risk", grid, impossible="null")
    assert table["probability"].isna().tolist() == [False, False, True, False]
    alone = rb.ask(LEAK, "risk", set={"leaked": 6000, "records": 50_000})
    assert table["probability"].iloc[3] == float(alone)


def test_a_bar_is_cut_at_a_condition_with_a_note():
    bar = rb.tornado(LEAK, "risk")["records"]
    assert (bar.low, bar.high) == (4000, 100_000)
    assert bar.notes == (
        "range ends at 4000, since at 100 leaked <= records does not hold at leaked=4000, "
        "records=100",
    )
    assert rb.solve(LEAK, "risk", "records", 0.09).low == 4000


def test_a_comparison_whose_steps_break_a_condition_says_which_are_impossible():
    more = {"set": {"records": 50_000, "leaked": 20_000}}
    found = rb.compare(LEAK, "risk", {}, more, beyond_range=True)
    assert found.answer_after == float(rb.ask(LEAK, "risk", **more, beyond_range=True))
    assert {s.alone for s in found.steps if "leaked" in str(s)} == {None}
