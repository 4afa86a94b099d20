"""What is asked when nothing is named: one rule wherever a question can be left out."""

import numpy as np
import pytest

import reidbn as rb
from reidbn.attack import Question
from reidbn.cli import main
from reidbn.errors import UsageError
from reidbn.microdata import People

BREAKFAST = rb.load("breakfast")
ONLY = BREAKFAST.replace(questions=[Question("named", "identified=yes")])
SEVERAL = BREAKFAST.replace(
    questions=[
        Question("was_it_you", "breakfast=yes", {"overheard": "no"}),
        Question("named", "identified=yes"),
    ]
)
NONE = BREAKFAST.replace(questions=[])
# "risk" is not the first question here, and still the one
SECOND = BREAKFAST.replace(
    questions=[*SEVERAL.questions.values(), Question("risk", "identified=yes")]
)

ASKERS = {
    "ask": lambda a: float(rb.ask(a)),
    "sampling": lambda a: rb.ask(a, engine="sampling", draws=1000, seed=1).query.describe(),
    "sweep": lambda a: rb.sweep(a, grid={"alike": [1, 5]})["probability"].tolist(),
    "tornado": lambda a: rb.tornado(a).to_dict(),
    "derivatives": lambda a: rb.derivatives(a)["answer"].tolist(),
    "solve": lambda a: rb.solve(a, parameter="alike", target=0.02).to_dict(),
    "sobol": lambda a: rb.sobol(a).to_dict(),
    "uncertainty": lambda a: rb.uncertainty(a, draws=200, seed=1).mean,
    "compare": lambda a: str(rb.compare(a, before={}, after={"alike": 20})),
    "crosscheck": lambda a: rb.crosscheck(a, draws=2000, seed=1).references,
}


@pytest.mark.parametrize("name", ASKERS)
def test_every_asker_has_the_same_default_question(name):
    asker = ASKERS[name]
    assert asker(SECOND) == asker(BREAKFAST) == asker(ONLY)
    with pytest.raises(UsageError, match="none is called risk: name one of was_it_you, named"):
        asker(SEVERAL)
    with pytest.raises(UsageError, match="has no question of its own"):
        asker(NONE)


def test_an_assessment_is_about_the_same_question():
    people = People.from_codes([[0], [1], [1]], ["town"])
    attack = rb.load("leak-partial")
    questions = list(attack.questions.values())
    turned = attack.replace(questions=questions[::-1])
    assert np.array_equal(rb.assess(turned, people).risk(), rb.assess(attack, people).risk())
    with pytest.raises(UsageError, match="none is called risk"):
        rb.assess(attack.replace(questions=questions[1:]), people)


@pytest.mark.parametrize(
    "words",
    [["ask"], ["sweep", "--over", "leaked=1,2"], ["tornado"], ["crosscheck"],
     ["solve", "leaked", "0.1"]],
)  # fmt: skip
def test_the_shell_asks_the_same_and_refuses_with_the_names(words, capsys):
    for model, code in (("leak-single", 0), ("leak-targets", 2)):
        with pytest.raises(SystemExit) as ended:
            main([words[0], model, *words[1:], "--quiet"])
        shown = capsys.readouterr()
        assert ended.value.code == code, shown
        assert code == 0 or "name one of all, any, first" in shown.err
