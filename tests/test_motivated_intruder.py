"""The motivated intruder as a scenario: weights are the model's answers, shares the table's."""

from pathlib import Path

import pandas as pd
import pytest

import reidbn as rb
from reidbn.attack import load_scenario

FACTS = Path(__file__).parent.parent / "models" / "scenarios" / "voter-lists.csv"
STEPS = {
    "register": "in_register=yes",
    "social_media": "in_register=no and on_social_media=yes",
    "street": "in_register=no and on_social_media=no and in_the_street=yes",
}


def knows():
    return load_scenario("motivated-intruder").knows


def test_how_often_each_step_succeeds_is_what_the_model_answers():
    weights, model = knows().parent.weights, rb.load("motivated-intruder")
    told = {step: float(rb.ask(model, event)) for step, event in STEPS.items()}
    told["gave_up"] = 1 - float(rb.ask(model, "identified=yes"))
    assert {step: round(p, 2) for step, p in told.items()} == dict(weights)


def test_what_the_register_shows_is_the_share_of_lists_that_show_it():
    lists = pd.read_csv(FACTS, comment="#")
    for attribute, column in {"age": "birth_year", "sex": "sex", "race": "race",
                              "ethnicity": "ethnicity"}.items():  # fmt: skip
        (known,) = (k for k in knows().known if k.name == attribute)
        shows = 51 * lists[column].mean()  # each state by its name and by its letters
        assert known.by_profile["register"] == pytest.approx(lists[column].mean(), abs=0.005)
        assert f"{shows:.0f} of 51 lists" in known.source


def test_an_assessment_under_it_is_the_mean_over_the_steps():
    people = rb.read_table(
        rb.datasets.synthetic_patients(300, seed=3), quasi_identifiers=["age", "sex", "race"]
    )
    asked = {"scenario": "motivated-intruder", "population": 300}
    whole = rb.assess("adversary-routes", people, **asked)
    parts = {
        step: rb.assess("adversary-routes", people, do={"step": step}, **asked).risk()
        for step in (*STEPS, "gave_up")
    }
    weights = knows().parent.weights
    mean = sum(weights[step] * p for step, p in parts.items())
    assert whole.risk() == pytest.approx(mean, abs=1e-12)
    assert parts["gave_up"].max() < parts["street"].mean()
