"""Attributes and groups by other names: one question where a name means nothing, else two."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from test_one_question import ALONE, COUNTED, PEOPLE, apart, people

import reidbn as rb
from reidbn.cli import reidbn

__all__ = ["people"]


SAID = [
    ("age: {chance: 0.3}, sex: {}, race: {chance: 0.5}", {}),
    ("years: {chance: 0.3, columns: [age]}, gender: {columns: [sex]}, race: {chance: 0.5}", {}),
    ("x: {chance: 0.5}, y: {}, z: {chance: 0.3}", {"x": "race", "y": "sex", "z": "age"}),
    ("age: {chance: 0.5, columns: [race]}, race: {chance: 0.3, columns: [age]}, sex: {}", {}),
]


def as_scenario(folder, said, columns):
    """Attributes of a scenario file, and what else a call says of them."""
    path = folder / f"{len([*folder.iterdir()])}.yaml"
    said = said.replace("{", "{source: assumption, ").replace(", }", "}")
    path.write_text(
        f"schema_version: 1\nkind: scenario\nname: {path.stem}th\ntitle: x\n"
        f"source: assumption\nknows: {{attributes: {{{said}}}}}\n"
    )
    return {"scenario": str(path), **({"columns": columns} if columns else {})}


def test_attributes_of_a_scenario_by_other_names_are_one_question(people, tmp_path):
    asked = [as_scenario(tmp_path, *said) for said in SAID]
    asked += [{"known": {"age": 0.3, "sex": 1, "race": 0.5}}]
    found = [rb.assess("adversary-routes", people, population=20_000, **how) for how in asked]
    for other in found[1:]:
        assert apart(found[0], other) == ([], pytest.approx(0, abs=1e-12))
    more = SAID[1][0].replace("0.3", "0.4"), {}
    changed = rb.assess(
        "adversary-routes", people, population=20_000, **as_scenario(tmp_path, *more)
    )
    assert "chance of age: 0.3 -> 0.4" in apart(found[0], changed)[0][0]


def test_what_nobody_knows_in_a_scenario_is_known_to_nobody(people, tmp_path):
    said = as_scenario(tmp_path, "age: {chance: 0}, sex: {}, race: {chance: 0.5}", {})
    one = rb.assess("adversary-routes", people, population=20_000, **said)
    for asked in ({"known": {"age": 0, "sex": 1, "race": 0.5}},
                  {"known": {"sex": 1, "race": 0.5}, "unknown": "age"}):  # fmt: skip
        other = rb.assess("adversary-routes", people, population=20_000, **asked)
        assert apart(one, other) == ([], 0)
    assert one.provenance["unknown"] == ["age"]


@pytest.mark.parametrize(
    ("model", "more"),
    [
        (ALONE.replace("knows_a, knows_b", "knows_age, knows_sex, knows_race")
         .replace("right_guess=yes}", "'knows_age=yes and right_guess=yes'}"), {}),
        (ALONE, {"given": {"knows_age": "yes"}}),
        (COUNTED, {}),
    ],
)  # fmt: skip
def test_other_names_are_another_question_where_a_name_means_something(
    people, tmp_path, model, more
):
    """A question, or evidence, of what is called age asks of the race in the second."""
    said = ["age: {chance: 0.3}, sex: {chance: 0.9}, race: {chance: 0.5}",
            "race: {chance: 0.3, columns: [age]}, age: {chance: 0.5, columns: [race]}, "
            "sex: {chance: 0.9}"]  # fmt: skip
    if model == COUNTED:  # here their number does
        said = ["g: {columns: [age, sex]}, race: {chance: 0.5}",
                "age: {}, sex: {}, race: {chance: 0.5}"]  # fmt: skip
    found = [
        rb.assess(rb.loads(model), people, **as_scenario(tmp_path, text, {}), **more)
        for text in said
    ]
    words, difference = apart(*found)
    assert len(words) == 1
    assert difference > 1e-3


def test_a_group_of_which_a_question_speaks_is_not_its_columns_alone(people):
    """The chance that race (sure) or age (.3) is known, by the name of whose group it is."""
    asks = ALONE.replace("knows_a, knows_b", "knows_age, knows_sex, knows_race")
    asks = rb.loads(asks.replace("right_guess=yes}", "'knows_age=yes and right_guess=yes'}"))
    one, other = (
        rb.assess(asks, people, known={name: ([c], p), other: ([d], q), "sex": 1})
        for (name, c, p), (other, d, q) in (
            (("age", "age", 0.3), ("race", "race", 1)),
            (("race", "age", 0.3), ("age", "race", 1)),
        )
    )
    words, difference = apart(one, other)
    assert words[0].startswith("the two answer different questions: what is known, though both")
    assert difference > 0.01


def test_people_and_the_cells_that_count_them_are_one_table(people):
    """In whatever order the cells have their columns; one person more is another table."""
    names = ["sex", "race", "age"]
    frame = rb.datasets.synthetic_patients(PEOPLE, seed=1)
    asked = {"population": 20_000}
    one = rb.assess("adversary-routes", people, **asked)
    cells = [rb.contingency(people, names[::-1]), rb.contingency(frame, names)]
    for found in (rb.assess("adversary-routes", each, **asked) for each in cells):
        assert apart(one, found) == apart(found, one) == ([], pytest.approx(0, abs=1e-12))
    fewer = rb.assess("adversary-routes", rb.contingency(frame.iloc[1:], names), **asked)
    told = ["the two are of different tables: another table; people: 120 -> 119"]
    assert apart(one, fewer)[0] == told
    other = frame.assign(sex=frame["sex"].to_numpy()[::-1])
    other = rb.assess("adversary-routes", rb.contingency(other, names), **asked)
    assert apart(one, other)[0] == ["the two are of different tables: another table"]


def test_two_files_of_people_and_of_cells_do_not_say_that_the_tables_differ(people, tmp_path):
    """A file does not tell the cells: what it cannot know it leaves open."""
    paths = [tmp_path / "people.json", tmp_path / "cells.json"]
    tables = (people, rb.contingency(people, ["age", "sex", "race"]))
    for path, table in zip(paths, tables, strict=True):
        rb.assess("adversary-routes", table, population=20_000).report(path, custodian=True)
    done = CliRunner().invoke(reidbn, ["compare", *map(str, paths)])
    assert "another table, or the same counted as cells" in done.output


LOOKED_UP = "[0.9, {table: t, column: p, by: [sex]}]"
KINDS = {  # the same by other names, and something else by the first ones
    "list": (
        "list: {node: on, chance: 0.4, shared: SHARED}",
        "age: {chance: 0.5}, sex: {}, race: {chance: 0.3}",
        "x: {chance: 0.3, columns: [race]}, age: {columns: [sex]}, "
        "y: {chance: 0.5, columns: [age]}",
        "age: {chance: 0.5}, sex: {chance: 0.3}, race: {}",
    ),
    "looked up": (
        "list: {node: on, chance: {table: t, column: p, by: [sex]}, shared: SHARED}",
        f"age: {{chance: {LOOKED_UP}}}, g: {{columns: [race, sex], chance: 0.5}}",
        f"race: {{chance: {LOOKED_UP}, columns: [age]}}, h: {{columns: [sex, race], chance: 0.5}}",
        f"age: {{chance: 0.5}}, g: {{columns: [race, sex], chance: {LOOKED_UP}}}",
    ),
    "profile": (
        "profile: {node: who, weights: {a: 0.3, b: 0.7}}",
        "age: {by_profile: {a: 0.3, b: 0.9}}, sex: {by_profile: {a: 1, b: 1}}, "
        "race: {by_profile: {a: 0.5, b: 0}}",
        "sex: {by_profile: {a: 0.3, b: 0.9}, columns: [age]}, "
        "age: {by_profile: {a: 1, b: 1}, columns: [sex]}, "
        "z: {by_profile: {a: 0.5, b: 0}, columns: [race]}",
        "age: {by_profile: {a: 0.9, b: 0.3}}, sex: {by_profile: {a: 1, b: 1}}, "
        "race: {by_profile: {a: 0.5, b: 0}}",
    ),
    "bands": (
        "",
        "decade: {chance: 0.5, in_bands: {of: age, width: 10}}, sex: {}, race: {chance: 0.3}",
        "race: {columns: [sex]}, ten: {chance: 0.5, in_bands: {of: age, width: 10}}, "
        "x: {chance: 0.3, columns: [race]}",
        "decade: {chance: 0.5, in_bands: {of: age, width: 20}}, sex: {}, race: {chance: 0.3}",
    ),
}  # fmt: skip


def in_a_file(folder, more, said):
    """A scenario file with a list, profiles, facts or bands."""
    pd.DataFrame({"sex": ["female", "male"], "p": [0.3, 0.8]}).to_csv(folder / "t.csv", index=False)
    more, said = (f"{{{text}}}" if text else "" for text in (more, said))
    for old in ("{node", ": {chance", "{columns", "{by_profile", ": {in_bands", "{}"):
        new = old.replace("{", "{source: a, ")
        more, said = more.replace(old, new), said.replace(old, new)
    path = folder / f"{len([*folder.iterdir()])}.yaml"
    knows = f"{{{more[1:-1]}{', ' if more else ''}attributes: {said}}}"
    path.write_text(
        f"schema_version: 1\nkind: scenario\nname: {path.stem}th\ntitle: x\nsource: assumption\n"
        f"facts: {{t: t.csv}}\nknows: {knows}\n"
    )
    return str(path)


@pytest.mark.parametrize("shared", ["true", "false"])
@pytest.mark.parametrize("kind", KINDS)
def test_lists_profiles_facts_and_bands_by_other_names_are_one_question(
    people, tmp_path, kind, shared
):
    more, *said = KINDS[kind]
    more = more.replace("SHARED", shared)
    one, same, other = (
        rb.assess(rb.loads(ALONE), people, scenario=in_a_file(tmp_path, more, text))
        for text in said
    )
    assert apart(one, same) == apart(same, one) == ([], pytest.approx(0, abs=1e-12))
    assert np.abs(one.risk() - other.risk()).max() > 1e-4
    for first, second in ((one, other), (other, one), (same, other)):
        assert len(apart(first, second)[0]) == 1
    assert rb.what_if(one, scenario=in_a_file(tmp_path, more, said[1])).changed == ()


def test_what_happens_to_a_list_or_an_attacker_is_asked_by_the_same_names_or_is_another_question(
    people, tmp_path
):
    """Evidence and interventions name nodes: what they come to stays with the names."""
    more, *said = KINDS["profile"]
    files = [in_a_file(tmp_path, more, text) for text in said[:2]]
    files += [in_a_file(tmp_path, more.replace("who", "he"), said[0])]
    ask = [rb.assess(rb.loads(ALONE), people, scenario=f, do={node: "a"})
           for f, node in zip(files, ("who", "who", "he"), strict=True)]  # fmt: skip
    assert apart(ask[0], ask[1]) == ([], pytest.approx(0, abs=1e-12))
    assert apart(ask[0], ask[2])[0]
    given = rb.assess(rb.loads(ALONE), people, scenario=files[1], do={"who": "b"})
    assert apart(ask[0], given)[0]


def test_chances_of_each_person_stay_in_the_custodians_file(people, tmp_path):
    """A digest of everybody's chances would confirm a guess at somebody's values."""
    for kind, told in (("looked up", False), ("profile", True)):
        more, said, *_ = KINDS[kind]
        path = in_a_file(tmp_path, more.replace("SHARED", "true"), said)
        found = rb.assess(rb.loads(ALONE), people, scenario=path)
        paths = [found.report(tmp_path / f"{name}.json", custodian=own)
                 for name, own in (("own", True), ("out", False))]  # fmt: skip
        assert ['"law"' in path.read_text() for path in paths] == [True, told]
