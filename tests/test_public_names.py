"""What a user finds when looking around: few names on top, the rest in the rooms they belong to."""

import re
from inspect import getdoc, isfunction, ismethod, signature
from types import ModuleType

import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn

SHOWN = dir(rb)
ROOMS = {name: getattr(rb, name) for name in SHOWN if isinstance(getattr(rb, name), ModuleType)}
OLDER = sorted(set(rb.__homes__) - set(SHOWN))
# Older doors whose better place is not a room: another word, or a verb of a value.
ELSEWHERE = {"Case": rb.Asked, "population_uncertainty": rb.Assessment.population_uncertainty}


def test_few_names_are_on_top():
    assert rb.__all__ == SHOWN
    assert len(SHOWN) <= 52
    assert sorted(ROOMS) == [
        "attack", "cpd", "datasets", "errors", "leak", "lesson", "microdata", "plans",
        "population", "records", "report", "secrets", "whatif",
    ]  # fmt: skip


@pytest.mark.parametrize("room", ["rb", *ROOMS])
def test_a_room_shows_public_names_and_each_says_what_it_is(room):
    place = ROOMS.get(room, rb)
    assert dir(place) == sorted(place.__all__)
    for name in dir(place):
        assert name == "__version__" or not name.startswith("_")
        assert (getattr(place, name).__doc__ or "").strip(), f"{room}.{name} says nothing"


def test_there_are_older_doors():
    """Those that documents and other people's notebooks name; none may go."""
    assert len(OLDER) == 93
    assert {"And", "Bands", "Near", "disclosure_all", "dumps", "sobol", "toy_hospital"} < set(OLDER)


@pytest.mark.parametrize("name", OLDER)
def test_an_older_door_leads_to_the_thing_in_its_new_place(name):
    thing = getattr(rb, name)
    if name in ELSEWHERE:
        assert thing is ELSEWHERE[name]
    else:
        places = [r for r, room in ROOMS.items() if name in dir(room)]
        assert len(places) == 1
        assert thing is getattr(ROOMS[places[0]], name)


# -- one word per thing: older words are understood, and help() does not show them -----------------

PEOPLE = rb.microdata.People.from_codes([[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]], ["sex", "race"])
LEAK, ROUTES = "leak-single", "adversary-routes"


# What is called with the word of today or the older one, and what is compared.
RENAMED = {
    "ask": ("rows", "draws", 500, lambda **k: float(rb.ask(LEAK, engine="sampling", **k))),
    "crosscheck": ("rows", "draws", 2_000, lambda **k: str(rb.crosscheck(LEAK, **k))),
    "joint_risk": ("runs", "draws", 50, lambda **k: rb.leak.joint_risk(
        {2: 3}, leaked=4, targets=2, method="simulation", **k)),
    "smallest_k": ("target", "threshold", 0.2, lambda **k: rb.leak.smallest_k(
        records=100, leaked=40, **k)),
    "largest_leak": ("target", "threshold", 0.2, lambda **k: rb.leak.largest_leak({5: 20}, **k)),
    "simulate": ("runs", "draws", 50, lambda **k: str(rb.leak.simulate({2: 3}, leaked=4, **k))),
    "assess": ("trials", "draws", 7, lambda **k: rb.assess(
        ROUTES, PEOPLE, population=50, method="simulation", **k).risk().tolist()),
    "uncertainty": ("samples", "draws", 50, lambda **k: str(rb.whatif.uncertainty(ROUTES, **k))),
    "subject_uncertainty": ("samples", "draws", 50, lambda **k: rb.whatif.subject_uncertainty(
        ROUTES, **k).to_csv()),
    "subsets drawn": ("samples", "draws", 9, lambda **k: rb.subsets(PEOPLE, **k).to_csv()),
    "subsets": ("per_record", "per_person", True, lambda **k: rb.subsets(PEOPLE, **k).to_csv()),
    "sweep": ("per_subject", "per_person", True, lambda **k: rb.sweep(
        LEAK, "risk", {"leaked": [9]}, **k).to_csv()),
    "derivatives": ("per_subject", "per_person", True, lambda **k: rb.whatif.derivatives(
        LEAK, **k).to_csv()),
    "rehearse": ("repeats", "draws", 2, lambda **k: str(rb.population.fit(
        sizes=[1, 2, 3], counts=[90, 40, 20], population=10_000, model="pitman").rehearse(**k))),
    "leak check": ("attempts", "draws", 90, lambda **k: str(rb.leak.assess(
        PEOPLE, leaked=2).check(**k))),
}  # fmt: skip


@pytest.mark.parametrize("case", RENAMED)
def test_an_older_word_means_the_same_and_never_both(case):
    older, word, value, call = RENAMED[case]
    assert call(**{older: value}) == call(**{word: value})
    with pytest.raises(rb.errors.UsageError, match=f"{older} is an older word for {word}"):
        call(**{older: value, word: value})


def test_a_result_says_draws_and_has_a_door_for_the_older_word():
    answer = rb.ask(LEAK, engine="sampling", draws=500, seed=1)
    check = rb.crosscheck(LEAK, draws=2_000)
    drawn = rb.leak.simulate({2: 3}, leaked=4, draws=50)
    acted = rb.assess(ROUTES, PEOPLE, population=50, method="simulation", draws=7)
    assert (answer.draws, check.draws, drawn.draws, acted.inputs.draws) == (500, 2_000, 50, 7)
    assert (answer.rows, check.rows, drawn.runs, acted.inputs.trials) == (500, 2_000, 50, 7)
    estimate = drawn.all_identified
    assert estimate.runs == estimate.draws == 50
    for told in (answer.to_dict(), check.to_dict(), check.to_dict()["cells"][0]):
        assert told["draws"] == told["rows"] > 0
    assert check.cells[0].trials == check.cells[0].draws
    guessed = rb.leak.assess(PEOPLE, leaked=2).check(draws=90)
    assert guessed.cell.draws == 90


OLDER_WORDS = {
    "rows",
    "runs",
    "trials",
    "samples",
    "repeats",
    "attempts",
    "per_record",
    "per_subject",
}


def public_functions():
    """Every function that a user finds on top or in a room, and the verbs of results."""
    for room, place in {"rb": rb, **ROOMS}.items():
        for name in dir(place):
            if isfunction(thing := getattr(place, name)):
                yield f"{room}.{name}", thing


FUNCTIONS = dict(public_functions())


def test_signatures_know_the_words_of_today_alone():
    found = {name: OLDER_WORDS & {*signature(f).parameters} for name, f in FUNCTIONS.items()}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("command", reidbn.list_commands(None))
def test_help_of_a_command_shows_the_words_of_today_alone(command):
    said = CliRunner().invoke(reidbn, [command, "--help"], prog_name="reidbn").output
    assert not re.search(r"--(rows|runs|trials|samples|per-record|per-subject)\b", said)


def test_older_options_are_understood():
    asked = ["ask", LEAK, "risk", "--engine", "sampling", "--json"]
    told = [
        CliRunner().invoke(reidbn, [*asked, word, "500"]).output for word in ("--rows", "--draws")
    ]
    assert told[0] == told[1]
    assert "probability" in told[0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_of_a_function_names_every_argument(name):
    said = (getdoc(FUNCTIONS[name]) or "").partition(">>>")[0]
    names = [*signature(FUNCTIONS[name]).parameters]
    assert [n for n in names if not re.search(rf"\b{n}\b", said)] == []


def kinds_of(base):
    for name in rb.__homes__:  # imports every room
        getattr(rb, name)
    own = base.__subclasses__()
    return [*own, *(kind for c in own for kind in kinds_of(c))]


def answers():
    """The classes whose values answer a question: of people, of an attack, of what would change."""
    whatif = ("Comparison", "Decision", "Learned", "Sobol", "Solution", "Tornado", "Uncertainty")
    return {
        *(c for c in kinds_of(rb.Result) if c.__module__.startswith("reidbn.")),
        *(getattr(rb.whatif, name) for name in whatif),
        rb.Answer, rb.inference.Expectation, rb.leak.NumberIdentified, rb.leak.TargetRisk,
    }  # fmt: skip


@pytest.mark.parametrize(
    "kind", sorted(answers(), key=lambda c: c.__name__), ids=lambda c: c.__name__
)
def test_help_of_a_result_says_what_each_of_its_methods_does(kind):
    thin = {}
    for name in (name for name in dir(kind) if not name.startswith("_")):
        found = getattr(kind, name)
        said = " ".join(getdoc(vars(c)[name]) or "" for c in kind.__mro__ if name in vars(c))
        said += (getdoc(found) or "") if ismethod(found) or isfunction(found) else ""
        own = [*signature(found).parameters][not ismethod(found) :] if callable(found) else []
        missed = [n for n in own if not re.search(rf"\b{n}\b", said.partition(">>>")[0])]
        is_value = not any(hasattr(vars(c).get(name), "__get__") for c in kind.__mro__)
        if not is_value and (missed or not said.strip()):
            thin[name] = missed
    assert thin == {}
