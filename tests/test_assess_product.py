"""Every attack that a table can fill, under every scenario, and questions about members."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from conftest import shipped, third

import reidbn as rb
from reidbn.attack import Known, Knows, Listed, Scenario
from reidbn.attacks import act_out, drivers, most_exposed
from reidbn.cli import reidbn
from reidbn.errors import DataError, UsageError
from reidbn.microdata import People

COLUMNS = {
    "worst-case": ["age", "sex", "state", "race"],
    "controlled-release": ["age", "sex", "state", "race"],
    "voter-registration": ["age", "sex", "state", "race", "ethnicity"],
    "voter-registration-by-group": ["age", "sex", "state", "race"],
    "social-media": ["sex", "race", "ethnicity", "state", "income"],
    "motivated-intruder": ["age", "sex", "state", "race"],
    "who-is-attacking": ["age", "sex", "state", "education", "marital", "birth_country"],
}
PROVIDED = {"class_size", "p_unique", "records"}
READ = {name: (bool(attack.groups), {*attack.subject}) for name, attack in shipped().items()}
ATTACKS = [name for name, (group, read) in READ.items() if group and read and read <= PROVIDED]
WORST = [name for name, (group, read) in READ.items() if not group and read and read <= PROVIDED]
OTHERS = [name for name, (group, read) in READ.items() if not group and not read]
NOTHING_READ = [name for name, (group, read) in READ.items() if group and not read]
FILLED_BY_SPARSE = ["linkage", "family-cascade", "linkage-family"]
OF_SPARSE = (
    "any-facts",
    "best-informed",
    "colleague",
    "families",
    "health-app",
    "insider",
    "vague",
)  # tests/test_linkage_model.py
WITH_ATTEMPTS = ("access-controlled", "purpose-limited")  # the same file
OWN_COLUMN = {"composition": ("k1", False), "surname": ("men", True),
              "sweeney-voter": ("people", True)}  # fmt: skip


@pytest.fixture(scope="module")
def frame():
    return rb.datasets.synthetic_patients(80, seed=5)


def test_the_columns_of_every_scenario_and_every_model_are_listed_here():
    assert {*COLUMNS, *OF_SPARSE, *WITH_ATTEMPTS} == set(rb.scenarios())
    kinds = [*ATTACKS, *WORST, *OTHERS, *NOTHING_READ, *OWN_COLUMN, *FILLED_BY_SPARSE]
    assert sorted(kinds) == sorted(rb.models())


@pytest.mark.parametrize("scenario", [*COLUMNS])
@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_that_a_table_can_fill_is_assessed_under_every_scenario(
    attack, scenario, frame
):
    people = rb.read_table(frame, quasi_identifiers=COLUMNS[scenario])
    result = rb.assess(attack, people, scenario=scenario, population=50_000)
    for measure in result.measures:
        assert ((result.risk(measure) >= 0) & (result.risk(measure) <= 1)).all(), measure
    said = " ".join(result.groups.notes)
    own = set(rb.load(attack).questions) - {"risk"}
    assert all(name in result.measures or f"question {name} is left out" in said for name in own)
    assert result.risk().max() > 0


RULES = [("ema", None), ("cell-5", None), ("cell-5", "public"), ("ema", "controlled"), (0.4, None),
         (0.02, "controlled"), ("overall=0.3", None), ("overall=0.9", "controlled")]  # fmt: skip


def kept_by_hand(result, frame, columns, threshold, release):
    """Does the release pass: counted with pandas, from the table and the risks of people alone."""
    alike = frame.groupby(columns, dropna=False)[columns[0]].transform("size").to_numpy()
    unique = (alike == 1).any()
    if threshold in ("ema", "cell-5"):
        k = {"ema": 11, "cell-5": 5}[threshold]
        release = release or {"ema": "public", "cell-5": "controlled"}[threshold]
        limit = {"ema": 1 / 11, "cell-5": 1 / 5}[threshold]
        return (
            alike.min() >= k if release == "public" else (1 / alike).mean() <= limit and not unique
        )
    if isinstance(threshold, float):
        if release == "controlled":
            return (1 / alike).mean() <= threshold and not unique
        return (1 / alike).max() <= threshold
    risk, limit = result.risk(), float(threshold.split("=")[1])
    if result.population is not None:  # an estimate: at the upper end of its interval, too
        risk = np.maximum(risk, result.population_uncertainty().of_mean("overall")[1])
    if release == "controlled":
        return risk.mean() <= limit and not unique
    return risk.max() <= limit


@pytest.mark.parametrize(("attack", "scenario"), third(product(ATTACKS, COLUMNS)))
def test_every_verdict_is_the_one_that_is_counted_by_hand(attack, scenario, frame):
    """Three tables: nearly everybody alone, classes of five or six, one class."""
    columns, seen = COLUMNS[scenario], set()
    few = pd.concat([frame.iloc[:4]] * 5 + [frame.iloc[:1]], ignore_index=True)
    for table in (frame, few, pd.concat([frame.iloc[:1]] * 30, ignore_index=True)):
        people = rb.read_table(table.drop(columns="patient_id"), quasi_identifiers=columns)
        result = rb.assess(attack, people, scenario=scenario, population=50_000)
        result.keep_crosscheck(draws=20_000, subjects=2)
        for threshold, release in RULES:
            passes = result.summary(threshold, release=release).passes
            assert passes == kept_by_hand(result, table, columns, threshold, release), threshold
            seen.add(passes)
    assert seen == {True, False}


# -- attacks without a group -----------------------------------------------------------------------


@pytest.mark.parametrize("scenario", [*COLUMNS])
@pytest.mark.parametrize("attack", OTHERS)
def test_an_attack_with_one_answer_for_everybody_is_refused_by_name(attack, scenario, frame):
    people = rb.read_table(frame, quasi_identifiers=COLUMNS[scenario])
    with pytest.raises(
        UsageError, match=f"{attack} has no group of attributes that a scenario"
    ) as e:
        rb.assess(attack, people, scenario=scenario, population=50_000)
    assert "one answer for everybody" in str(e.value)
    assert "ask it with rb.ask" in str(e.value)
    names = [n for n in ("class_size", "records") if n in rb.load(attack).parameters]
    assert all(
        re.search(rf"\(.*{name}.* there, and no column that a table fills\)", str(e.value))
        for name in names
    )
    assert ("there, and no column" in str(e.value)) == bool(names)


@pytest.mark.parametrize("scenario", [None, *COLUMNS])
@pytest.mark.parametrize("attack", NOTHING_READ)
def test_an_attack_to_which_a_table_says_nothing_is_refused_by_name(attack, scenario, frame):
    """Its members would be the table's columns, and its answer about none of them."""
    people = rb.read_table(frame, quasi_identifiers=COLUMNS[scenario or "worst-case"])
    with pytest.raises(UsageError, match=f"{attack} has no column that a table could fill") as e:
        rb.assess(attack, people, scenario=scenario, population=50_000)
    assert "ask it with rb.ask, give it a column such as class_size" in str(e.value)


def test_a_column_that_the_risk_does_not_read_is_as_good_as_none(frame):
    """Its members would be the table's columns, too few to score six: a risk of 0 for everybody."""
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])
    netflix = rb.load("netflix")
    size = rb.attack.SubjectColumn("class_size", per="ratings", unit="records", low=1, high=10_000)
    guess = rb.Node("guess", ("no", "yes"), rb.cpd.OneOver("@class_size"), ("ratings",))
    beside = netflix.replace(subject=[size], nodes=[*netflix.nodes.values(), guess])
    with pytest.raises(UsageError, match="netflix has no column behind its question risk that a"):
        rb.assess(beside, people)


@pytest.mark.parametrize("attack", OWN_COLUMN)
def test_a_column_that_no_table_has_is_asked_for_by_name_and_taken(attack, frame):
    """Given, each person's risk is that of the attack asked about that person."""
    name, subsets = OWN_COLUMN[attack]
    people = rb.read_table(frame, quasi_identifiers=["age", "state", "sex"])
    columns = {"zip": "state", "birth": "age"} if attack == "sweeney-voter" else {}
    with pytest.raises(DataError, match=f'{attack} needs the subject column "{name}"') as caught:
        rb.assess(attack, people, columns=columns)
    assert f'subject={{"{name}": values}}' in str(caught.value)
    if not subsets:
        given = np.arange(2.0, 2 + len(people))
        result = rb.assess(attack, people, subject={name: given})
        for i in (0, 7):
            alone = rb.ask(attack, subject={name: [given[i]]})
            assert result.risk()[i] == pytest.approx(float(alone), rel=1e-12)
    elif attack == "sweeney-voter":
        given = np.tile([5000.0, 40, 12, 3, 2500, 20, 6, 2], (len(people), 1))
        result = rb.assess(attack, people, columns=columns, subject={name: given})
        sizes = [people.class_sizes(c) if c else np.full(len(people), len(people))
                 for c in ([], ["state"], ["age"], ["state", "age"], ["sex"], ["state", "sex"],
                           ["age", "sex"], ["state", "age", "sex"])]  # fmt: skip
        for i in (0, 7):
            alone = rb.ask(attack, subject={"class_size": [s[i] for s in sizes], name: given[i]})
            assert result.risk()[i] == pytest.approx(float(alone), rel=1e-12)


@pytest.mark.parametrize("attack", WORST)
def test_an_attack_that_knows_everything_answers_for_each_class(attack, frame):
    people = rb.read_table(frame, quasi_identifiers=["sex", "race"])
    result = rb.assess(attack, people)
    for i in (0, 7, 50):
        alone = rb.ask(attack, subject={"class_size": [people.class_sizes()[i]]})
        assert result.risk()[i] == pytest.approx(float(alone), rel=1e-12)


def without_group(attack):
    """The same attack about somebody who knows everything: one number in place of one a subset."""
    found = rb.load(attack)
    (group,) = found.groups.values()
    own = {group.name, *group.members}
    return found.replace(
        groups=[],
        subject=[replace(c, per=None) for c in found.subject.values()],
        nodes=[replace(n, parents=tuple(p for p in n.parents if p not in own))
               for n in found.nodes.values()],
        questions=[q for q in found.questions.values() if not own & {*q.given}],
        example={},
    )  # fmt: skip


EVERYTHING = ("worst-case", "controlled-release")  # scenarios in which everything is known


@pytest.mark.parametrize("scenario", EVERYTHING)
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_without_a_group_has_the_worst_cases_risks_and_verdicts(attack, scenario, frame):
    """Its risks are those of the same attack with a group; verdicts are counted with pandas."""
    columns, seen = COLUMNS[scenario], set()
    alone = without_group(attack)
    for table in (frame, pd.concat([frame.iloc[:1]] * 30, ignore_index=True)):
        people = rb.read_table(table.drop(columns="patient_id"), quasi_identifiers=columns)
        result = rb.assess(alone, people, scenario=scenario, population=50_000)
        whole = rb.assess(attack, people, scenario=scenario, population=50_000)
        assert {*result.measures} <= {*whole.measures}
        assert ("journalist_match" in result.measures) == ("journalist_match" in whole.measures)
        for measure in result.measures:
            assert result.risk(measure) == pytest.approx(whole.risk(measure), rel=1e-12, abs=1e-15)
        result.keep_crosscheck(draws=2_000)
        for threshold, release in RULES:
            passes = result.summary(threshold, release=release).passes
            assert passes == kept_by_hand(result, table, columns, threshold, release), threshold
            seen.add(passes)
    assert seen == {True, False}


@pytest.mark.parametrize("scenario", sorted({*COLUMNS} - {*EVERYTHING}))
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_without_a_group_refuses_a_scenario_that_knows_less(attack, scenario, frame):
    people = rb.read_table(frame, quasi_identifiers=COLUMNS[scenario])
    with pytest.raises(UsageError, match="in this scenario the attacker may") as caught:
        rb.assess(without_group(attack), people, scenario=scenario, population=50_000)
    assert "an attack with a group, such as adversary-routes" in str(caught.value)


def test_what_counts_as_knowing_everything(frame):
    """Sure of all columns, however it is said; not a chance, a band, or a column nobody knows."""
    attack = without_group("marketer")
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])
    alike = frame.groupby(["age", "sex"])["age"].transform("size").to_numpy()
    for said in (["age", "sex"], {"age": 1.0, "sex": 1.0}, {"both": (["age", "sex"], 1.0)}):
        assert rb.assess(attack, people, known=said).risk("right") == pytest.approx(1 / alike)
    with pytest.raises(UsageError, match="may not know age"):
        rb.assess(attack, people, known={"age": 0.99, "sex": 1.0})
    with pytest.raises(UsageError, match="may not know sex"):
        rb.assess(attack, people, known=["age"], unknown=["sex"])
    every = tuple(Known(c, (c,), (1.0,), source="made up") for c in ("age", "sex"))
    listed = Scenario("list", knows=Knows(every, Listed("listed", (0.4,), shared=True)))
    with pytest.raises(UsageError, match="may know nothing"):
        rb.assess(attack, people, scenario=listed)
    named = Scenario("named", knows=Knows(every, group="known"))
    with pytest.raises(UsageError, match='marketer has no group "known"; leave group out'):
        rb.assess(attack, people, scenario=named)


def test_everything_else_follows_an_attack_without_a_group(frame, tmp_path):
    """Pages, what-if, intervals, individuals, cells, blocks on disk: as with the group."""
    alone, columns = without_group("adversary-routes"), ["age", "sex"]
    people = rb.read_table(frame, quasi_identifiers=columns)
    asked = {"population": 50_000, "population_model": "pitman"}
    result = rb.assess(alone, people, **asked)
    whole = rb.assess("adversary-routes", people, scenario="worst-case", **asked)
    result.keep_crosscheck(draws=20_000)
    assert not result.crosscheck.failed
    result.report(tmp_path / "r.md")
    assert "Most exposed attributes" not in (tmp_path / "r.md").read_text()
    assert "adds most" not in str(result.summary())
    assert any("no group of attributes" in note for note in result.groups.notes)
    mine, theirs = (r.population_uncertainty().table() for r in (result, whole))
    pd.testing.assert_frame_equal(mine, theirs.loc[mine.index])
    swings = [rb.tornado(r)["p_c"].swing for r in (result, whole)]
    assert swings[0] == pytest.approx(swings[1])
    part = rb.assess(alone, people, individuals=[5, 2], **asked)
    assert part.risk() == pytest.approx(whole.risk()[[5, 2]])
    cells = rb.assess(alone, rb.contingency(frame, columns), **asked)
    assert cells.risk().mean() == pytest.approx(whole.risk().mean())
    kept = rb.assess(alone, people, checkpoint=tmp_path / "blocks", **asked)
    assert kept.risk() == pytest.approx(whole.risk())
    fewer = [rb.what_if(r, suppress=2) for r in (result, whole)]
    assert fewer[0].risk() == pytest.approx(fewer[1].risk())
    with pytest.raises(UsageError, match="in this scenario the attacker may not know"):
        rb.what_if(result, known={"age": 0.5, "sex": 1})
    with pytest.raises(UsageError, match="what each of them adds cannot be told"):
        drivers(result)
    assert "main_group" not in most_exposed(result)
    assert act_out(result, draws=2_000, seed=1).agrees


@pytest.mark.parametrize("scenario", [*COLUMNS])
def test_the_model_that_reidbn_new_writes_is_assessed_under_every_scenario(
    scenario, frame, tmp_path
):
    done = CliRunner().invoke(reidbn, ["new", "mine", "-o", str(tmp_path / "mine.yaml")])
    assert done.exit_code == 0, done.output
    people = rb.read_table(frame, quasi_identifiers=COLUMNS[scenario])
    result = rb.assess(str(tmp_path / "mine.yaml"), people, scenario=scenario)
    assert 0 < result.risk().max() <= 1


# -- questions about members -----------------------------------------------------------------------


def people(n=60, seed=1):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, c, n) for c in (4, 3, 2)])
    return People.from_codes(codes, ["age", "town", "sex"])


def worked_example():
    text = (Path(__file__).parent.parent / "docs" / "model-files.md").read_text()
    return rb.loads(re.search(r"```yaml\n(.*?)```", text, re.S)[1])


def template():
    """What `reidbn new` writes."""
    return rb.load(Path(rb.__file__).parent / "cli" / "starter.yaml")


@pytest.mark.parametrize("scenario", [*COLUMNS])
@pytest.mark.parametrize(("made", "most"), [(template, 0.3 * 0.8 * 0.98), (worked_example, 0.1)])
def test_the_template_and_the_worked_example_are_assessed_under_every_scenario(
    made, most, scenario, frame
):
    columns = COLUMNS[scenario]
    result = rb.assess(made(), rb.read_table(frame, quasi_identifiers=columns), scenario=scenario)
    assert 0 < result.risk().max() <= most * (1 + 1e-12)
    if scenario == "worst-case":
        alike = frame.groupby(columns)["age"].transform("size").to_numpy()
        assert result.risk() == pytest.approx(most / alike, rel=1e-12)


def known(**chances):
    groups = tuple(Known(n, (n,), (p,), source="assumption") for n, p in chances.items())
    return Scenario("some", knows=Knows(groups))


def test_a_question_about_a_member_that_is_known_for_sure_asks_for_all_that_is_sure():
    table = people()
    result = rb.assess(worked_example(), table, scenario=known(age=1, town=1, sex=0.5))
    assert "knows_for_sure" in result.attack.groups["known"].members
    p = 0.1 * (0.5 / table.class_sizes() + 0.5 / table.class_sizes(["age", "town"]))
    assert result.risk("risk_if_age_is_known") == pytest.approx(p, abs=1e-12)
    assert result.risk() == pytest.approx(p, abs=1e-12)


def test_a_question_about_a_member_that_is_still_there_asks_for_it():
    table = people().select(["age", "sex"])
    result = rb.assess(worked_example(), table, scenario=known(age=0.3, sex=0.5))
    both, age = table.class_sizes(["age", "sex"]), table.class_sizes(["age"])
    expected = 0.1 * (0.5 / both + 0.5 / age)
    assert result.risk("risk_if_age_is_known") == pytest.approx(expected, abs=1e-12)


def test_a_question_about_a_member_that_is_gone_is_left_out_by_name():
    table = people().select(["town", "sex"])
    result = rb.assess(worked_example(), table, scenario=known(town=0.3, sex=0.5))
    assert tuple(result.measures) == ("overall",)
    assert result.groups.notes[-1] == (
        "question risk_if_age_is_known is left out: the scenario has no knows_age"
    )


def test_everything_and_nothing_known_mean_what_the_scenario_may_know():
    table = people()
    attack = rb.load("marketer")
    some = rb.assess(attack, table, scenario=known(age=0.3, town=0.6, sex=0.5))
    assert some.risk("nothing_known") == pytest.approx(0.5 / 60, abs=1e-12)
    whole = rb.assess("journalist", table, scenario=known(age=0.3, town=0.6, sex=0.5),
                      population=60)  # fmt: skip
    unique = table.class_sizes() == 1
    assert whole.risk("everything_known") == pytest.approx(0.5 * unique, abs=1e-12)


def test_a_question_that_cannot_happen_is_left_out_by_name():
    result = rb.assess("marketer", people(), scenario="worst-case")
    assert tuple(result.measures) == ("right", "overall")
    assert any(n.startswith("question nothing_known is left out") for n in result.groups.notes)


def test_a_list_for_all_keeps_the_question_what_if_nobody_is_on_it():
    groups = tuple(Known(n, (n,), (1.0,), source="s") for n in ("age", "town", "sex"))
    scenario = Scenario("list", knows=Knows(groups, Listed("listed", (0.4,), shared=True)))
    table = people()
    result = rb.assess("marketer", table, scenario=scenario)
    assert result.risk("nothing_known") == pytest.approx(0.5 / 60, abs=1e-12)
    assert result.risk("right") == pytest.approx(0.4 / table.class_sizes() + 0.6 / 60, abs=1e-12)


def test_evidence_of_the_call_may_name_a_member_that_is_known_for_sure():
    table = people()
    result = rb.assess("marketer", table, scenario=known(age=1, town=1, sex=0.5),
                       do={"knows_age": "no"})  # fmt: skip
    expected = 0.5 / table.class_sizes(["town", "sex"]) + 0.5 / table.class_sizes(["town"])
    assert result.risk("right") == pytest.approx(expected, abs=1e-12)


def test_a_node_that_hangs_on_one_member_alone_is_refused_with_the_remedy():
    attack = worked_example()
    looks = rb.Node("sees", ("no", "yes"), rb.And(), ("looks", "knows_town"))
    hanging = attack.with_node(looks)
    kept = rb.assess(hanging, people(), scenario=known(age=1, town=1, sex=0.5))
    assert "knows_town" in kept.attack.groups["known"].members
    with pytest.raises(UsageError, match='node "sees" depends on "knows_town" alone'):
        rb.assess(hanging, people().select(["age", "sex"]), scenario=known(age=0.5, sex=0.5))


def test_records_are_the_tables_people_unless_the_call_says_otherwise():
    """One of k alike in a leak of 3 among n: E[1/h; in the leak], counted by hand for k = 1."""
    table = People.from_codes([[0], [1], [2], [3], [4]], ["town"])
    result = rb.assess("leak-partial", table)
    assert result.risk() == pytest.approx(3 / 5, abs=1e-12)
    more = rb.assess("leak-partial", table, set={"records": 10})
    assert more.risk() == pytest.approx(3 / 10, abs=1e-12)
    two = People.from_codes([[0], [1]], ["town"])
    with pytest.raises(UsageError, match=r"with the table's 2 people as records"):
        rb.assess("leak-partial", two)


def test_the_main_question_is_the_one_named_risk_or_the_only_one():
    attack = worked_example()
    only = attack.replace(questions=[rb.Question("named", "named=yes")])
    ours = rb.assess(only, people(), scenario=known(age=0.5, town=0.5, sex=0.5))
    theirs = rb.assess(attack, people(), scenario=known(age=0.5, town=0.5, sex=0.5))
    assert np.array_equal(ours.risk(), theirs.risk())
    second = rb.Question("if_age", "named=yes", {"knows_age": "yes"})
    several = only.replace(questions=[*only.questions.values(), second])
    with pytest.raises(UsageError, match="none is called risk: name one of named, if_age"):
        rb.assess(several, people(), scenario=known(age=0.5, town=0.5, sex=0.5))


def test_an_attempt_comes_before_whatever_the_attack_is_about():
    attack = worked_example()
    plain = rb.assess(attack, people(), scenario="worst-case")
    tried = rb.assess(attack, people(), scenario="controlled-release",
                      do={"motive": "low", "controls": "high"})  # fmt: skip
    assert tried.risk() == pytest.approx(0.05 * plain.risk(), abs=1e-12)


def test_a_simulation_leaves_questions_with_evidence_out_by_name():
    result = rb.assess("marketer", people(), scenario=known(age=0.3, town=0.6, sex=0.5),
                       method="simulation", draws=20)  # fmt: skip
    assert tuple(result.measures) == ("right", "overall")
    assert any(n.startswith("question nothing_known is left out") for n in result.groups.notes)


@pytest.mark.parametrize(
    ("scenario", "done"),
    [("who-is-attacking", "attacker=insider"), ("controlled-release", "motive=low"),
     ("voter-registration", "knows_sex=no")],
)  # fmt: skip
def test_the_worst_case_beside_a_fixed_attacker_is_the_whole_worst_case(
    scenario, done, frame, tmp_path
):
    table = rb.read_table(frame, quasi_identifiers=["age", "sex", "state"])
    fixed = rb.assess("adversary-routes", table, scenario=scenario, population=50_000, do=done)
    worst = rb.what_if(fixed, scenario="worst-case")
    assert worst.risk("marketer") == pytest.approx(1 / table.class_sizes())
    quiet = rb.what_if(rb.what_if(fixed, do="claims=no"), scenario="worst-case")
    assert quiet.inputs.do == {"claims": "no"}
    fixed.keep_crosscheck(draws=20_000)
    page = fixed.to_html(tmp_path / "r.html").read_text()
    acted = not done.startswith("motive")  # on which the match does not rest
    assert ("set by an intervention" in page) == acted


# -- what a function alone reads -------------------------------------------------------------------


@rb.cpd.cpd_function("looks-when-some-is-known")
def looks_when_some_is_known(known, p_looks):
    return p_looks * (known >= 1)


@rb.cpd.cpd_function("alone-in-the-population")
def alone_in_the_population(known, p_unique, class_size):
    return p_unique * (class_size == 1) + 0.0 * known


READ_BY_A_FUNCTION = """
schema_version: 1
name: visitor
title: t
story: s
sources: [x]
parameters:
  p_looks: {value: 0.5, range: [0, 1], source: x}
subject:
  class_size: {per: known, unit: records, range: [1, 1000000], story: s}
  p_unique: {per: known, unit: probability, range: [0, 1], story: s}
groups:
  known: {story: s, members: [a, b], probability: 0.5, source: x}
nodes:
  right: {story: s, parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  looks: {story: s, parents: [known], cpd: {kind: function, name: looks-when-some-is-known}}
  alone: {story: s, parents: [known], cpd: {kind: function, name: alone-in-the-population}}
  named: {story: s, parents: [right, looks], cpd: {kind: and}}
  found: {story: s, parents: [alone, looks], cpd: {kind: and}}
questions:
  risk: {target: named=yes}
  population: {target: found=yes}
"""


def test_what_only_a_function_reads_is_there_when_a_scenario_is_placed(tmp_path):
    (tmp_path / "visitor.yaml").write_text(READ_BY_A_FUNCTION)
    table = rb.read_table(
        {"age": [1, 1, 2, 3], "sex": list("fmff")}, quasi_identifiers=["age", "sex"]
    )
    found = rb.assess(
        tmp_path / "visitor.yaml", table, known={"age": 0.5, "sex": 0.5}, population=40
    )
    # nothing known: no look; age, sex, both, each with chance 1/4: 1 of 2, 1 of 3 and 1 of 1 alike
    assert found.risk()[0] == pytest.approx((1 / 2 + 1 / 3 + 1) / 4 / 2, abs=1e-15)
    assert rb.what_if(found, set={"p_looks": 0.1}).risk() == pytest.approx(found.risk() / 5)
    assert "population" in str(found.population_uncertainty())
