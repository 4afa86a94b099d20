"""Thresholds judge what they are about, and one rule runs through a report."""

import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.attack import Attack, Question
from reidbn.cli import main, reidbn
from reidbn.errors import UsageError
from reidbn.report import PRESETS, Telling, least_change, report, rule


def alike(*sizes, extra=None):
    """A table with one class of each size."""
    values = np.repeat(np.arange(len(sizes)), sizes)
    columns = {"where": values.tolist()}
    if extra is not None:
        columns["more"] = list(extra)
    return rb.read_table(pd.DataFrame(columns), quasi_identifiers=list(columns))


def assessed(people, **more):
    found = rb.assess("adversary-routes", people, population=100_000, **more)
    found.keep_crosscheck(draws=5_000, subjects=2)
    return found


@pytest.mark.parametrize("name", [n for n, t in PRESETS.items() if t.release != "controlled"])
def test_k_alike_passes_exactly_when_every_class_has_k(name):
    k = PRESETS[name].k
    assert assessed(alike(k, k, 3 * k)).summary(name, "public").passes
    assert not assessed(alike(k, k - 1, 3 * k)).summary(name, "public").passes


@pytest.mark.parametrize("name", PRESETS)
def test_k_alike_everywhere_passes_the_mean_as_well(name):
    k = PRESETS[name].k
    assert assessed(alike(k, k, k)).summary(name, "controlled").passes
    small = assessed(alike(*[2] * 40))
    assert not small.summary(name, "controlled").passes  # nobody unique, and the mean is .5


def test_a_class_of_six_does_not_pass_a_precedent_for_eleven_whatever_the_attackers_odds():
    """`overall` holds the odds .5 of a published grid: 1/6 times .5 was under .09."""
    result = assessed(alike(6, 6, 12))
    assert result.risk().max() < 0.09
    found = result.summary("ema")
    assert not found.passes
    assert "12 of 24 people" in found.verdict
    assert result.summary("cell-5", "public").passes is not True or min(6, 6, 12) >= 5


def test_the_verdict_does_not_move_with_odds_that_somebody_assumed():
    people = alike(6, 6, 12)
    verdicts = {assessed(people, set={"p_c": p}).summary("ema").verdict for p in (0, 1)}
    assert len(verdicts) == 1


def test_a_controlled_release_takes_the_mean_and_nobody_unique():
    one_alone = assessed(alike(1, 400, 400))
    found = one_alone.summary("cell-5")
    assert found.rule.release == "controlled"
    assert found.judged.values.mean() < 0.2
    assert not found.passes
    assert "1 of 801 people (0.12 %) is unique" in found.verdict
    assert assessed(alike(2, 400, 400)).summary("cell-5").passes  # a public release would not
    assert not assessed(alike(2, 400, 400)).summary("cell-5", "public").passes


def test_what_is_not_named_follows_from_what_is():
    assert (rule().release, rule().limit.name) == ("public", "ema")
    assert rule(release="controlled").limit.name == "cell-5"
    assert rule("cell-3").release == "controlled"
    assert "No release and no threshold were named" in rule().notes[0]
    assert "written for a public release" in rule("ema", "controlled").notes[0]
    assert rule("ema").notes == ()
    with pytest.raises(UsageError, match='no release "private"'):
        rule(release="private")


def test_overall_is_judged_by_a_limit_of_the_users_own_only():
    result = assessed(alike(6, 6, 12))
    found = result.summary({"overall": 0.09})
    assert found.passes
    assert "your own limit" in found.verdict
    assert "no precedent is about that" in found.rule.notes[0]
    assert "stands on" in found.notes_on_the_rule(Telling(custodian=True))[1]
    assert not found.other.passes  # and the precedent stands beside it
    assert not result.summary({"overall": 0.08}).passes
    own = result.summary(0.09)
    assert own.rule.limit.k == 12  # 1/11 is above .09
    assert "ema" in own.threshold.source
    with pytest.raises(UsageError, match='no measure "overal"'):
        _ = result.summary({"overal": 0.09}).passes


def test_values_that_match_several_are_judged_by_the_records_that_are_written_alike():
    frame = pd.DataFrame({"sex": ["f"] * 10 + ["m"] * 10 + [None] * 2})
    people = rb.read_table(frame, quasi_identifiers=["sex"], missing="matches-anything")
    result = assessed(people)
    assert people.class_sizes().tolist() == [12] * 20 + [22] * 2
    assert result.summary("ema").judged.sizes.tolist() == [10] * 20 + [2] * 2
    assert not result.summary("ema").passes
    as_value = rb.read_table(frame, quasi_identifiers=["sex"])
    assert not assessed(as_value).summary("ema").passes


def test_an_attack_without_class_sizes_is_refused_and_not_judged():
    routes = rb.load("adversary-routes")
    bare = Attack(
        "bare",
        groups=[routes.groups["known"]],
        nodes=[routes.nodes["claims"]],
        parameters=[routes.parameters["p_c"]],
        questions=[Question("risk", "claims=yes")],
    )
    with pytest.raises(UsageError, match="give it a column such as class_size"):
        rb.assess(bare, alike(11, 11))


# -- one rule per report -----------------------------------------------------------------------


@pytest.mark.parametrize(("release", "passes"), [("public", False), ("controlled", True)])
def test_banner_threshold_section_flips_options_and_json_follow_one_rule(release, passes, tmp_path):
    result = assessed(alike(4, 40, 60))
    page = report(result, release=release, threshold="ontario-low", custodian=True)
    word = "Passes" if passes else "Does not pass"
    told = f"{word} the rule for a {release} release by ontario-low"
    assert page.verdict[0].startswith(told)
    by = {section.title: section for section in page.sections}
    assert page.headline.startswith("This rule allows" if passes else f"No {release} release")
    told = by["Data and rule"].text
    assert any(f"The rule: a {release} release by ontario-low" in said for said in told)
    assert any("a rule that this report does not use" in said for said in told)
    flips = by["What would change this"].shown[0]
    assert flips.caption == f"What would flip the verdict for a {release} release by ontario-low"
    assert flips.rows[0][2] == ("passes" if passes else "does not pass")
    result.to_json(tmp_path / "r.json", threshold="ontario-low", release=release, custodian=True)
    numbers = json.loads((tmp_path / "r.json").read_text())
    assert (numbers["passes"], numbers["release"]) == (passes, release)
    assert numbers["other_rule"]["passes"] is not passes


def test_what_flips_the_verdict_is_a_change_after_which_it_really_flips():
    people = alike(20, 20, extra=[0] * 19 + [1] + [0] * 20)
    result = assessed(people)
    page = report(result, threshold="ema")
    found = page.sections[1].shown[0]
    rows = {row[0]: row for row in found.rows}
    assert rows["without more"][3] == "yes"
    assert people.class_sizes(["where"]).min() >= 11 > people.class_sizes().min()
    assert rows["without where"][3] == "no"
    assert rows["leaving people out until 11 are alike"][1].startswith("under 10 of 40")
    assert page.answers[-1][1][0].endswith("enough for this rule: the table without more.")


def test_what_to_do_next_is_the_fewest_columns_left_out_that_keep_the_rule():
    """By brute force over all sets of columns; the one of several that leaves most classes."""
    rng = np.random.default_rng(5)
    frame = {name: rng.integers(0, k, 300).astype(str) for name, k in zip("abcd", (9, 8, 5, 2),
                                                                          strict=True)}  # fmt: skip
    people = rb.read_table(frame, quasi_identifiers=list(frame))
    kept = {
        names: people.class_sizes(names)
        for size in (1, 2, 3, 4)
        for names in combinations(frame, size)
        if people.class_sizes(names).min() >= 11
    }
    most = max(map(len, kept))
    best = max((n for n in kept if len(n) == most), key=lambda n: len(set(zip(*(
        frame[c] for c in n), strict=True))))  # fmt: skip
    assert most == 2
    change = least_change(people, rule("ema"))
    gone = [name for name in frame if name not in best]
    assert change.what == f"without {gone[0]} and {gone[1]}"
    assert np.array_equal(np.sort(change.after.sizes), np.sort(kept[best]))
    assert least_change(people.suppress(1), rule(0.003)) is None


def test_a_limit_on_overall_asks_the_tornado_what_flips_this_verdict():
    result = assessed(alike(6, 6, 12))
    page = report(result, threshold={"overall": 0.1})
    said = "Whether a single assumption moves the max across 0.1 is not told."
    assert (
        said in page.sections[1].bullets
    )  # of a highest risk that would tell whether one person is
    own = report(result, threshold={"overall": 0.1}, custodian=True).sections[1]
    assert any("The verdict flips where p_c reaches 0.6" in b for b in own.bullets)
    assert result.summary({"overall": 0.1}).passes
    moved = rb.what_if(result, set={"p_c": 0.62})
    moved.keep_crosscheck(draws=5_000)
    assert not moved.summary({"overall": 0.1}).passes
    by_class = report(result, threshold="ema")
    assert "no assumption about the attacker moves it" in by_class.answers[1][1][0]
    assert not any("flips where" in b for b in by_class.sections[1].bullets)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("where\n" + "\n".join(["a"] * 4 + ["b"] * 40 + ["c"] * 60) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 0),  # no rule was named: nothing is enforced
        (("--release", "public"), 1),
        (("--release", "controlled"), 0),
        (("--threshold", "ema"), 1),
        (("--threshold", "overall=0.2"), 0),
        (("--threshold", "overall=0.1"), 1),
        (("--fail-above", "0.2"), 0),
        (("--fail-above", "0.1"), 1),
    ],
)
def test_the_exit_code_follows_the_rule_that_was_named(table, words, code):
    asked = ["assess", table, "--qi", "where", "--population", "5000", "--rows", "5000", *words]
    with pytest.raises(SystemExit) as ended:
        main(asked)
    assert ended.value.code == code


def test_the_custodians_copy_is_behind_one_switch(table, tmp_path):
    page = tmp_path / "r.html"
    words = ["assess", table, "--qi", "where", "--population", "5000", "--rows", "5000",
             "--html", str(page)]  # fmt: skip
    out = CliRunner().invoke(reidbn, words, catch_exceptions=False).output
    assert "104 people" in out  # the terminal is the custodian's
    assert "custodian's own copy" in out
    cells = re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", page.read_text())
    assert "4" not in cells
    CliRunner().invoke(reidbn, [*words, "--custodian"], catch_exceptions=False)
    cells = re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", page.read_text())
    assert "4" in cells


def test_the_page_on_rules_has_every_precedent_as_it_is_asked():
    page = (Path(rb.__file__).parents[1] / "docs/which-rule.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.match(r"\| `[\w-]+` \|", line)]
    assert rows == [
        f"| `{t.name}` | {t.release or 'either'} | {rule(name).asks} | {t.recipient} |"
        for name, t in PRESETS.items()
    ]


@pytest.mark.parametrize("name", [n for n, t in PRESETS.items() if t.release == "controlled"])
def test_no_word_of_a_controlled_precedent_asks_more_than_what_is_judged(name, shell):
    """Pairs among large classes pass; nothing says that so many must be alike."""
    people = assessed(alike(2, 400, 400))
    assert people.summary(name).passes
    code, said = shell("thresholds", "--json")
    found = next(t for t in json.loads(said) if t["name"] == name)
    assert code == 0
    for words in (*map(str, found.values()), PRESETS[name].about, people.summary(name).verdict):
        assert not re.search(r"at least \d+ (people )?(are )?alike", words)
    assert "mean of 1/class" in found["asks"]


@pytest.mark.parametrize("command", ["assess", "recommend", "classes", "subsets", "disclosure"])
def test_without_columns_a_command_says_which_there_are_and_where_it_is_written(
    command, shell, tmp_path
):
    table = tmp_path / "t.csv"
    table.write_text("Age,Admitted\n30,2025-01-01\n")
    more = {"recommend": ["--target", "k=5"], "disclosure": ["--sensitive", "Age"]}
    code, said = shell(command, str(table), *more.get(command, []))
    assert code == 2
    assert "which-columns.md" in said
    assert "The table has Age, Admitted" in said
    table.write_text("1970-01-01,12345\n1980-01-01,54321\n")  # a person's row: not shown
    assert "12345" not in shell(command, str(table), *more.get(command, []))[1]


def test_a_report_says_of_nobody_what_its_verdict_says(tmp_path):
    """A table that passes: no row below the rule is marked as if somebody could be in it."""
    result = assessed(alike(30, 400, 400))
    page = result.report(tmp_path / "r.md", threshold="ema").read_text()
    assert "| as it is | nobody | passes | - |" in page
    rows = dict(re.findall(r"^\| ([\w ]+) \| ([\w, ]+) \|$", page, re.M))
    assert {rows[n] for n in ("1", "2", "3 to 4", "5 to 9")} == {"nobody"}
    assert "\nP_m" not in page
    failed = assessed(alike(3, 400, 400)).report(tmp_path / "f.md", threshold="ema").read_text()
    assert "| 3 to 4 | under 10 |" in failed


def test_who_receives_the_data_is_stated_by_an_option_and_never_made_up(shell, tmp_path):
    asked = ["assess", "synthetic:400:1", "--qi", "sex,race", "--population", "10000",
             "--check-draws", "5k", "--markdown", str(tmp_path / "r.md")]  # fmt: skip
    assert shell(*asked)[0] == 0
    page = (tmp_path / "r.md").read_text()
    assert "| Who receives the data | not stated |" in page
    assert "--recipient" in page
    assert shell(*asked, "--recipient", "the cancer <registry>")[0] == 0
    page = (tmp_path / "r.md").read_text()
    assert "Stated recipient: the cancer" in page
    assert "Who receives the data | the cancer" in page
    assert "nothing of it was taken into" not in page
    assert shell(*asked[:6], "--recipient", "x")[0] == 2
