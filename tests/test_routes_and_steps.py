"""A route brings the event about alone; of what has to come together each is a step."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.attacks import explain_from, most_exposed, routes

MODEL = """
schema_version: 1
name: gate
subject: {{class_size: {{per: known, unit: records, range: [1, 1000000]}}}}
groups: {{known: {{members: [knows_age, knows_sex], probability: [0.6, 0.3], source: assumption}}}}
nodes:
  right: {{parents: [known], cpd: {{kind: one-over, of: "@class_size"}}}}
  luck: {{cpd: {{kind: probability, p: 0.3}}, source: assumption}}
  door: {{cpd: {{kind: probability, p: 0.2}}, source: assumption}}
  many: {{states: [none, few, lots], rows: [{{p: [0.5, 0.3, 0.2]}}], source: assumption}}
  done: {{parents: [{parents}], {how}}}
questions: {{risk: {{target: "done=yes"}}}}
"""
NAMES = ["right", "luck", "door"]
YES_NO = ("no", "yes")


def people():
    table = pd.DataFrame({"age": np.arange(30) % 7, "sex": np.arange(30) % 2})
    return rb.read_table(table, quasi_identifiers=["age", "sex"])


def explained(how, parents=NAMES):
    attack = rb.loads(MODEL.format(parents=", ".join(parents), how=how))
    return rb.assess(attack, people(), known={"age": 0.6, "sex": 0.3})


@pytest.mark.parametrize(
    ("how", "alone"),
    [("cpd: {kind: and}", ""), ("cpd: {kind: or}", "right luck door"),
     ("cpd: {kind: threshold, at_least: 2}", ""),
     ("cpd: {kind: threshold, at_least: 1}", "right luck door"),
     ("cpd: {kind: noisy-or, weights: [0.5, 0, 0.2], leak: 0.1}, source: assumption", "right door"),
     ("cpd: {kind: noisy-and, weights: [1, 0, 0]}, source: assumption", "right"),
     ("cpd: {kind: probability, p: 0.4, only_if: [right, luck]}, source: assumption", "")],
)  # fmt: skip
def test_what_is_told_as_a_route_is_one(how, alone):
    result = explained(how)
    found = result.explain(3)
    assert [*found.routes] == alone.split()
    assert {*found.routes, *found.steps} == {*NAMES}
    words = found.in_words()
    assert ("By route" in words) == bool(found.routes)
    assert ("no step is enough by itself" in words) == bool(found.steps)
    for name, p in {**found.routes, **found.steps}.items():
        one = rb.ask(result.attack, f"{name}=yes", engine="enumeration", subject={
            "class_size": sizes(result, 3)})  # fmt: skip
        assert p == pytest.approx(float(one), abs=1e-12)
    assert {*found.closed} == {*NAMES}
    table = most_exposed(result, 5)
    assert ("main_route" in table) == bool(alone)
    assert [*routes(result).columns] == alone.split()


def sizes(result, row):
    known = (), ("age",), ("sex",), ("age", "sex")
    seen = pd.DataFrame({"age": np.arange(30) % 7, "sex": np.arange(30) % 2})
    mine = seen.iloc[row]
    return [int((seen[[*some]] == mine[[*some]]).all(axis=1).sum()) if some else 30
            for some in known]  # fmt: skip


def test_random_tables_by_their_rows():
    """A parent is a route where the event is likelier with it alone than with none of them."""
    rng = np.random.default_rng(8)
    both = 0
    for _ in range(12):
        states = [("none", "few", "lots"), *[YES_NO] * 3]
        cases = [*product(*states)]
        p = {case: round(float(rng.choice([0, 0, 0.25, 0.5])), 2) for case in cases}
        parents = ["many", *NAMES]
        rows = [{"when": dict(zip(parents, case, strict=True)), "p": [1 - x, x]}
                for case, x in p.items()]  # fmt: skip
        found = explained(f"rows: {json.dumps(rows)}, source: assumption", parents).explain(0)

        def mean(*yes, p=p):
            weights = {"none": 0.5, "few": 0.3, "lots": 0.2}
            rest = [YES_NO[name in yes] for name in NAMES]
            return sum(w * p[many, *rest] for many, w in weights.items())

        wanted = {name for name in NAMES if mean(name) > mean() + 1e-15}
        assert {*found.routes} == wanted
        both += 0 < len(wanted) < 3
    assert both > 2


def test_an_insider_who_has_to_try_and_to_be_right_takes_two_steps(tmp_path):
    result = rb.assess("insider-decides", people(), known={"age": 0.6, "sex": 0.3})
    found = result.explain(0)
    assert found.routes == {}
    assert len(found.steps) >= 2
    assert "Step by step (no step is enough by itself): " in found.in_words()
    file = tmp_path / "why.json"
    result.to_explained(file)
    assert explain_from(file, 0).in_words() == found.in_words()
    assert explain_from(file, 0).to_dict()["steps"] == pytest.approx(found.steps)
