"""What is known depends on the person, and every column that was named is spoken of."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.attack import InBands, Known, Knows, Scenario
from reidbn.attacks import act_out, truth_check
from reidbn.cli import main
from reidbn.errors import DataError, UsageError
from reidbn.microdata import Relation, seen

ATTACK = "adversary-routes"
QI = ["age", "sex", "state", "race"]


@pytest.fixture(scope="module")
def frame():
    return rb.datasets.synthetic_patients(400, seed=5)


@pytest.fixture(scope="module")
def ladders(frame):
    """A coarser level for every column that voter lists are looked up by."""
    states = sorted(frame["state"].unique())
    return {
        "age": rb.Bands(10),
        "state": rb.Tree({"south": [s for s in states if s in ("TN", "KY", "GA", "AL", "MS")],
                          "elsewhere": [s for s in states
                                        if s not in ("TN", "KY", "GA", "AL", "MS")]}),
        "race": rb.Tree({"white": ["White"], "others": ["Black", "Asian", "Other"]}),
    }  # fmt: skip


def chances(result):
    """The chance that each group is known, for every person."""
    people = len(result)
    return {p.label: np.broadcast_to(p.p, people) for p in result.groups.placed}


def assess(people, scenario, **more):
    return rb.assess(ATTACK, people, scenario=scenario, population=6_900_000, **more)


# -- the scenario is placed on the table as it was read --------------------------------------------


@pytest.mark.parametrize("scenario", ["voter-registration", "voter-registration-by-group"])
@pytest.mark.parametrize("column", ["age", "state", "race"])
def test_coarsening_a_column_changes_nobodys_chance_of_being_listed(
    column, scenario, frame, ladders
):
    plain = assess(rb.read_table(frame, quasi_identifiers=QI), scenario)
    coarse = rb.what_if(plain, generalise={column: 1}, hierarchies={column: ladders[column]})
    before, after = chances(plain), chances(coarse)
    assert before.keys() == after.keys()
    for label, p in before.items():
        assert np.array_equal(p, after[label]), label
    assert coarse.risk("marketer").mean() < plain.risk("marketer").mean()


def test_a_table_that_was_coarsened_before_is_assessed_as_by_what_if(frame, ladders):
    people = rb.read_table(frame, quasi_identifiers=QI)
    levels = {"age": 1, "state": 1, "race": 1}
    released = people.generalise(levels, hierarchies=ladders)
    direct = assess(released, "voter-registration-by-group")
    plain = assess(people, "voter-registration-by-group")
    asked = rb.what_if(plain, generalise=levels, hierarchies=ladders)
    assert np.array_equal(direct.subjects, asked.subjects)
    steps = rb.what_if(
        rb.what_if(plain, generalise={"age": 1}, hierarchies={"age": ladders["age"]}),
        generalise={"state": 1, "race": 1}, hierarchies={n: ladders[n] for n in ("state", "race")},
    )  # fmt: skip
    assert np.array_equal(direct.subjects, steps.subjects)


def test_the_marketer_on_a_coarser_table_is_counted_by_hand(frame, ladders):
    """Every subset of groups, each person's own chances, the coarser table's classes."""
    people = rb.read_table(frame, quasi_identifiers=QI)
    plain = assess(people, "voter-registration")
    coarse = rb.what_if(plain, generalise={"state": 1}, hierarchies={"state": ladders["state"]})
    p, released = chances(plain), coarse.inputs.people
    names = {"birth_year": "age", "sex": "sex", "state": "state", "race": "race"}
    expected = np.zeros(len(people))
    for mask in range(1 << len(p)):
        weight, known = np.ones(len(people)), []
        for j, (label, chance) in enumerate(p.items()):
            weight *= chance if mask >> j & 1 else 1 - chance
            known += [names[label]] if mask >> j & 1 else []
        expected += weight / released.class_sizes(known)
    assert np.abs(coarse.risk("marketer") - expected).max() <= 1e-12


def test_people_who_are_suppressed_leave_with_their_chances(frame, ladders):
    people = rb.read_table(frame, quasi_identifiers=QI, subject_id="patient_id")
    plain = assess(people, "voter-registration-by-group", subject=None)
    held = rb.what_if(plain, generalise={"age": 1, "state": 1}, hierarchies=ladders, suppress=3)
    kept = held.inputs.people
    assert 0 < len(kept) < len(people)
    assert kept.k() >= 3
    rows = np.flatnonzero(np.isin(people.subject_ids, kept.subject_ids))
    for label, p in chances(held).items():
        assert np.array_equal(p, chances(plain)[label][rows]), label
    assert any("suppressed" in note for note in kept.notes)


def test_what_the_call_says_of_uniqueness_is_not_carried_into_another_release_or_population():
    table = rb.People.from_codes([[0, 0], [1, 1], [0, 0], [2, 0]], ["age", "sex"])
    p = np.array([[0.1], [0.2], [0.3], [0.4]])
    result = rb.assess("journalist", table, population=50,
                       subject={"p_unique": np.tile(p, (1, 2))})  # fmt: skip
    for change in ({"suppress": 2}, {"population": 90}):
        with pytest.raises(UsageError, match=r"leave p_unique out|leave it out of subject="):
            rb.what_if(result, **change)


def test_parts_of_a_coarser_table_remember_the_values_that_were_read(frame, ladders):
    people = rb.read_table(frame, quasi_identifiers=[*QI, "income"])
    coarse = people.generalise({"state": 1}, hierarchies={"state": ladders["state"]})
    part = coarse.select(QI).take(np.arange(0, 400, 3))
    whole = assess(people.select(QI), "voter-registration")
    for label, p in chances(assess(part, "voter-registration")).items():
        assert np.array_equal(p, chances(whole)[label][::3]), label


def test_a_table_that_was_coarsened_elsewhere_is_refused_with_the_remedy(frame):
    south = frame.assign(state=np.where(frame["state"] == "TN", "south", "elsewhere"))
    people = rb.read_table(south, quasi_identifiers=QI)
    with pytest.raises(DataError, match=r"read them as they were and generalise with people"):
        assess(people, "voter-registration")


def test_a_look_up_that_guesses_for_some_values_says_so(frame):
    race = frame["race"].astype(object)
    odd = frame.assign(race=race.where(race == "White", "somebody else"))
    people = rb.read_table(odd, quasi_identifiers=QI)
    result = assess(people, "voter-registration-by-group")
    said = [n for n in result.groups.notes if "relative by state x race" in n]
    assert len(said) == 1
    assert "have no row in the table races and count as 1" in said[0]


def test_missing_states_that_match_anything_are_looked_up_as_written(frame):
    odd = frame.assign(state=frame["state"].where(frame.index > 3))
    people = rb.read_table(odd, quasi_identifiers=QI, missing="matches-anything")
    with pytest.raises(DataError, match="4 people have a blank state"):
        assess(people, "voter-registration")


# -- every column is spoken of ---------------------------------------------------------------------


def test_a_named_column_that_the_scenario_says_nothing_about_is_refused(frame):
    people = rb.read_table(frame, quasi_identifiers=["sex", "race", "income", "education"])
    with pytest.raises(UsageError) as caught:
        assess(people, "social-media")
    said = str(caught.value)
    assert said.startswith("scenario social-media says nothing about education, which the table")
    assert 'unknown=["education"]' in said
    assert "--unknown education" in caught.value.in_shell
    told = assess(people, "social-media", unknown=["education"])
    note = told.groups.notes[-1]
    assert note.startswith("taken as not known to the attacker, by the caller: education (a rule")
    assert told.summary("ema").judged.sizes.tolist() == told.inputs.people.class_sizes().tolist()


def test_the_refusal_names_the_mapping_that_would_help(frame):
    renamed = frame.rename(columns={"age": "years", "state": "home_state"})
    people = rb.read_table(renamed, quasi_identifiers=["years", "sex", "home_state"])
    with pytest.raises(UsageError) as caught:
        assess(people, "social-media")
    said = str(caught.value)
    assert 'age_decade can take years in bands of 10: columns={"age_decade": "years"}' in said
    assert 'state can take home_state: columns={"state": "home_state"}' in said
    assert "--column age_decade=years" in caught.value.in_shell
    assert "columns=" not in caught.value.in_shell
    told = assess(people, "social-media", columns={"age_decade": "years", "state": "home_state"})
    assert told.groups.bands == {"years": 10}


def test_a_column_called_ethnicity_that_holds_races_is_asked_about(frame):
    """Voter lists show race far more often than ethnicity: the wrong one says too little."""
    plain = frame.drop(columns="ethnicity")
    own = plain.assign(race=np.resize(["White", "Black", "Asian"], len(frame)))
    renamed = own.rename(columns={"race": "Ethnicity"})
    people = rb.read_table(renamed, quasi_identifiers=["age", "sex", "state", "Ethnicity"])
    with pytest.raises(UsageError) as caught:
        assess(people, "voter-registration")
    said = str(caught.value)
    assert "Ethnicity holds what looks like races. If it does, race takes it: " in said
    assert 'columns={"race": "Ethnicity"}; if it says who is Hispanic, ethnicity does: ' in said
    assert "--column race=Ethnicity" in caught.value.in_shell
    assert "can take Ethnicity" not in said
    hispanic = renamed.assign(Ethnicity=np.resize(["Hispanic", "not Hispanic"], len(frame)))
    people = rb.read_table(hispanic, quasi_identifiers=["age", "sex", "state", "Ethnicity"])
    with pytest.raises(UsageError, match="ethnicity can take Ethnicity: columns="):
        assess(people, "voter-registration")
    named = own.rename(columns={"race": "ethnicity"})
    people = rb.read_table(named, quasi_identifiers=["age", "sex", "state", "ethnicity"])
    told = assess(people, "voter-registration")
    remedy = "name it so (column race=ethnicity, without ethnicity)"
    assert any(remedy in note for note in told.groups.notes)
    how = {"columns": {"race": "ethnicity"}, "without": ["ethnicity"]}
    less, told = told, assess(people, "voter-registration", **how)
    assert told.risk().mean() > less.risk().mean()
    assert not any("looks like races" in note for note in told.groups.notes)


def test_the_refusal_in_the_shell_speaks_of_options(tmp_path, frame, capsys):
    path = tmp_path / "patients.csv"
    frame.to_csv(path, index=False)
    words = ["assess", str(path), "--qi", "sex,race,education", "--scenario", "social-media",
             "--population", "5000", "--rows", "300000"]  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "--unknown education" in said
    assert "unknown=[" not in said
    with pytest.raises(SystemExit) as ended:
        main([*words, "--unknown", "education"])
    assert ended.value.code == 0


def test_attributes_that_the_caller_left_out_count_as_said(frame):
    people = rb.read_table(frame, quasi_identifiers=QI)
    result = assess(people, "voter-registration", without=["birth_year"])
    assert "birth_year" not in chances(result)
    media = assess(people, "social-media", without=["age_decade"])
    assert "age_decade" not in chances(media)


def test_a_scenario_that_knows_every_column_takes_what_is_unknown_out(frame):
    people = rb.read_table(frame, quasi_identifiers=QI)
    some = assess(people, "worst-case", unknown=["age"])
    assert some.risk("marketer") == pytest.approx(1 / people.class_sizes(["sex", "state", "race"]))
    worst = rb.what_if(some, scenario="worst-case")
    assert worst.risk("marketer") == pytest.approx(1 / people.class_sizes())


def test_another_scenario_asks_anew_what_is_unknown(frame):
    people = rb.read_table(frame, quasi_identifiers=["sex", "race", "education"])
    media = assess(people, "social-media", unknown=["education"])
    worst = rb.what_if(media, scenario="worst-case")
    assert worst.risk("marketer") == pytest.approx(1 / people.class_sizes())
    with pytest.raises(UsageError, match="says nothing about education"):
        rb.what_if(worst, scenario="social-media")
    again = rb.what_if(worst, scenario="social-media", unknown=["education"])
    assert np.array_equal(again.subjects, media.subjects)
    assert rb.what_if(media, set={"p_c": 0.1}).inputs.unknown == ("education",)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"unknown": ["agee"]}, 'no quasi-identifier; did you mean "age"'),
        ({"unknown": "age", "scenario": "voter-registration"}, r'without=\["birth_year"\]'),
        ({"unknown": 3}, "unknown is an int; it takes text"),
        ({"without": [3]}, "without is a list with an int in it"),
        ({"without": ["age"]}, r'knows every column; .* say unknown=\["age"\]'),
    ],
)
def test_mistaken_words_about_what_is_unknown_are_refused(call, message, frame):
    people = rb.read_table(frame, quasi_identifiers=QI)
    call = {"scenario": "worst-case", **call}
    with pytest.raises(UsageError, match=message):
        assess(people, **call)


# -- the decade of an age --------------------------------------------------------------------------


def test_an_age_serves_an_attribute_that_is_known_by_decade(frame):
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])
    result = assess(people, "social-media")
    by_decade = rb.read_table(
        frame.assign(age_decade=frame["age"] // 10), quasi_identifiers=["age_decade", "sex"]
    )
    plain = assess(by_decade, "social-media")
    for measure in result.measures:
        gap = np.abs(result.risk(measure) - plain.risk(measure)).max()
        assert gap <= 1e-12, measure
    assert any("in bands of 10 of age" in note for note in result.groups.notes)
    assert act_out(result, draws=20_000, seed=3).agrees


@pytest.mark.parametrize("ladder", [rb.Bands(5), rb.Bands(20)])
def test_a_released_band_is_matched_with_the_decade_that_is_known(ladder, frame):
    """Bands of 5 lie within decades; bands of 20 are coarser than what is known."""
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"], hierarchies={"age": ladder})
    released = people.generalise({"age": 1})
    result = assess(released, "social-media")
    width = 10 if ladder == rb.Bands(5) else 20
    by_hand = rb.read_table(
        frame.assign(age=frame["age"] // width), quasi_identifiers=["age", "sex"]
    )
    sizes = released.class_sizes() if width == 20 else by_hand.class_sizes()
    full = result.classes.sizes[-1][result.classes.of_person]
    assert np.array_equal(full, sizes)


def test_records_that_may_be_the_targets_are_never_overcounted(frame):
    """By the definition: a record matches when its released value may be of the target's decade."""
    people = rb.read_table(frame, quasi_identifiers=["age"])
    for ladder in (rb.Bands(5), rb.Bands(7), rb.Bands(15), rb.Bands(20)):
        released = people.generalise({"age": 1}, hierarchies={"age": ladder})
        ages = frame["age"].to_numpy()
        codes = released.codes()[:, 0]
        counted = seen(released, {"age": 10}).class_sizes()
        for i in range(0, 400, 7):
            held = {c for c, a in zip(codes, ages, strict=True) if a // 10 == ages[i] // 10}
            assert counted[i] <= np.isin(codes, list(held)).sum()


def test_codes_of_age_groups_are_not_put_into_bands(frame):
    grouped = frame.assign(age=frame["age"] // 5)
    people = rb.read_table(grouped, quasi_identifiers=["age", "sex"])
    result = assess(people, "social-media")
    assert result.groups.bands == {}
    assert np.array_equal(result.classes.sizes[-1][result.classes.of_person], people.class_sizes())
    assert any("matched as it is written" in note for note in result.groups.notes)


def test_missing_ages_are_alike_with_one_another_and_with_nobody_else():
    table = pd.DataFrame({"age": [31, 34, None, 58, None, 7]})
    people = rb.read_table(table, quasi_identifiers=["age"])
    assert seen(people, {"age": 10}).class_sizes().tolist() == [2, 2, 2, 1, 2, 1]


def test_the_attack_acted_out_on_a_population_sees_decades_too():
    """Truth check: a correct program fails with probability 1e-6."""
    whole = rb.read_table(rb.datasets.synthetic_patients(900, seed=8),
                          quasi_identifiers=["age", "sex"])  # fmt: skip
    known = (Known("decade", ("decade",), (0.8,), in_bands=InBands("age", 10)),
             Known("sex", ("sex",), (0.6,)))  # fmt: skip
    scenario = Scenario("by decade", knows=Knows(known))
    check = truth_check(whole, np.arange(300), scenario=scenario, draws=20_000, seed=2)
    predicted = check.result.risk("marketer")[check.who].mean()
    happened = check.happened["marketer"].mean()
    assert abs(happened - predicted) <= 5 * np.sqrt(predicted / 20_000)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("in_bands: {of: age, width: 0}", "must be a number above 0"),
        ("in_bands: {of: age}", "width"),
        ("columns: [age, sex], in_bands: {of: age, width: 5}", "goes with one column"),
    ],
)
def test_mistaken_bands_in_a_scenario_file_are_explained(written, message, tmp_path):
    (tmp_path / "s.yaml").write_text(
        f"schema_version: 1\nkind: scenario\nname: s\nknows:\n  attributes:\n"
        f"    decade: {{chance: 1, source: s, {written}}}\n"
    )
    with pytest.raises(rb.ModelError, match=message):
        rb.load_scenario(tmp_path / "s.yaml")


# -- bands that are known, over what is released ---------------------------------------------------

AGES = [72, 77, 65, 70, 61, 20, 22, 39]
DECADES = Scenario(
    "decades", knows=Knows((Known("decade", ("decade",), in_bands=InBands("age", 10)),))
)


def alike(result):
    return np.rint(1 / result.risk("right")).astype(int).tolist()


def test_released_bands_that_cross_the_known_ones_are_told_and_never_count_more_alike():
    people = rb.read_table(
        {"age": AGES}, quasi_identifiers="age", hierarchies={"age": rb.Bands(15)}
    )
    result = rb.assess("marketer", people.generalise({"age": 1}), scenario=DECADES)
    released = [(a // 15 * 15, a // 15 * 15 + 14) for a in AGES]
    may = [sum(low < a // 10 * 10 + 10 and a // 10 * 10 <= high for low, high in released)
           for a in AGES]  # fmt: skip
    assert all(own <= there for own, there in zip(alike(result), may, strict=True))
    assert any(own < there for own, there in zip(alike(result), may, strict=True))
    told = [note for note in result.remarks() if note.startswith("decade")]
    assert "matched as they are released" in told[0]
    exact = rb.assess("marketer", people, scenario=DECADES)
    assert alike(exact) == [sum(b // 10 == a // 10 for b in AGES) for a in AGES]
    assert not any("as they are released" in note for note in exact.remarks())


@pytest.mark.parametrize("missing", ["value", "matches-anything"])
@pytest.mark.parametrize("hierarchies", [None, {"age": rb.Bands(5)}])
def test_ages_are_seen_in_bands_where_some_are_missing(missing, hierarchies):
    ages = [26, 21, 47, 45, 64, None]
    people = rb.read_table(
        {"age": ages}, quasi_identifiers="age", missing=missing, hierarchies=hierarchies
    )

    def match(a, b):
        if a is None or b is None:
            return missing == "matches-anything" or a is b
        return a // 10 == b // 10

    truth = [sum(match(a, b) for b in ages) for a in ages]
    shown_as = [people, people.generalise({"age": 1})] if hierarchies else [people]
    for shown in shown_as:
        assert alike(rb.assess("marketer", shown, scenario=DECADES)) == truth


def test_why_bands_are_not_used_is_said_as_it_is():
    people = rb.read_table({"age": AGES}, quasi_identifiers="age")
    relation = Relation(len(people.labels("age")), {0: np.array([1])})
    column = replace(people.schema[0], relation=relation)
    result = rb.assess("marketer", replace(people, schema=(column,)), scenario=DECADES)
    assert any("its released values match several others" in note for note in result.remarks())


def test_numbers_that_could_be_codes_are_matched_as_written_and_the_note_says_the_rule():
    decades = Scenario(
        "decades", knows=Knows((Known("decade", ("decade",), in_bands=InBands("age", 20)),))
    )
    under, over = (
        rb.assess(
            "marketer",
            rb.read_table({"age": [*range(60), last]}, quasi_identifiers=["age"]),
            scenario=decades,
        )
        for last in (59, 60)
    )
    said = "its numbers stay under 60 (3 bands of 20) and could be codes of groups"
    assert said in " ".join(under.remarks())
    assert said not in " ".join(over.remarks())
    assert under.risk().mean() > over.risk().mean()  # the cautious side


def test_a_date_is_no_age_and_a_year_of_birth_is_not_the_oldest_age(frame):
    """Both were taken: dates as known to the day, and everybody born in 1950 as 75 or older."""
    born = 2020 - frame["age"]
    dated = frame.assign(born=born.astype(str) + "-05-01", year=born, state="TN")
    people = rb.read_table(dated, quasi_identifiers=["born", "sex"])
    with pytest.raises(rb.DataError, match="holds dates") as caught:
        assess(people, "social-media", columns={"age_decade": "born"})
    assert "--without age_decade --unknown born" in caught.value.in_shell
    assert "20" not in str(caught.value)
    assess(people, "social-media", without=["age_decade"], unknown=["born"])
    people = rb.read_table(dated, quasi_identifiers=["year", "sex", "state", "race"])
    with pytest.raises(rb.DataError, match="a year of birth or months are no age in years"):
        assess(people, "voter-registration-by-group", columns={"age": "year"})
    people = rb.read_table(dated, quasi_identifiers=["age", "sex", "state", "race"])
    assess(people, "voter-registration-by-group")
