"""What leaves the house of risks that are means over several ways to be alike."""

import json
import re
from collections import defaultdict

import numpy as np
import pytest
from outward_attacker import joined

import reidbn as rb
from reidbn.release import Alike, down, outwards
from reidbn.report import Telling, report, telling_of


def nested_tables(times=1):
    """Tables of 15 people, all alike in the same numbers; how many are alike on a differs."""
    b = [f"{v}{i}" for i in range(times) for v in "vwwxxxyyyyzzzzz"]
    return [
        {"a": list(a) * times, "b": b}
        for a in ("111111111111111", "122222222222222", "111111111122222", "122333444455555")
    ]


@pytest.mark.parametrize(("times", "chance"), [(1, 0.1), (1, 0.999), (8, 0.5), (20, 0.9)])
def test_under_chances_a_table_tells_what_follows_from_its_classes_alone(times, chance, tmp_path):
    """Of 15, 120 and 300 people: counts above levels of a mean over nested classes, in tens,
    narrowed 15 to 24 of 171 to 359 marks, and beside 90 others 19 of 298 to 164 of 832."""
    told, risks = [], set()
    for i, columns in enumerate(nested_tables(times)):
        people = rb.read_table(columns, quasi_identifiers=["a", "b"])
        found = rb.assess("marketer", people, known={"a": 1.0, "b": chance})
        found.keep_crosscheck(draws=2_000)
        risks.add(tuple(np.round(np.sort(found.risk()), 6)))
        found.report(path := tmp_path / f"{i}.json")
        numbers = json.loads(path.read_text())
        assert all(row["overall"]["at_least"] == 0 and row["overall"]["value"] is None
                   and row["overall"]["at_most"] == down(15 * times) + 9
                   for row in numbers["people_above"].values())  # fmt: skip
        found.report(path := tmp_path / f"{i}.md")
        risk = path.read_text().split("## 1. Risk")[1].split("## 2.")[0]
        assert "Of such risks the mean is told, in steps of 100 / people, or of 0.05" in risk
        kept = ("people_above", "spread", "measures", "judged", "attributes", "how_sure",
                "crosscheck", "verdict")  # fmt: skip
        assert numbers["crosscheck"]["passed"] is None  # so few draws may not decide
        told.append([risk, *(numbers[k] for k in kept)])
    assert len(risks) == 4
    assert all(one == told[0] for one in told)


def test_a_mean_under_chances_is_told_in_steps_that_hang_on_how_many_people_there_are_alone():
    """Which step its sum lies in is all that is told, and the true mean lies in it."""
    telling, rng = Telling(kept_back="Chances"), np.random.default_rng(3)
    for people in (100, 109, 110, 155, 999, 1_000, 2_009, 3_000, 44_444):
        step, whole = max(100, 0.05 * down(people)), down(people)
        for _ in range(40):
            risks = rng.random(people) * rng.random()
            ends, k = telling.mean_ends(risks), int(risks.sum() // step)
            if people < 110:
                assert ends is None
                continue
            assert ends[0] <= risks.mean() <= ends[1]
            assert ends == (outwards(k * step / (whole + 9), min((k + 1) * step / whole, 1.0)))
        assert telling.rough(risks) is None
        assert (
            telling.quantile_in_words(risks, 0.5) == telling.highest_in_short(risks) == "not told"
        )
    assert Telling(custodian=True).mean_ends(risks) == (risks.mean(),) * 2


def test_who_knows_everybody_but_a_dozen_learns_nothing_from_a_mean_under_chances():
    """All tables of 10 to 12 people beside 580 others, whom the reader knows, by what is told of
    them: a mean in steps of 100 people narrows no mark; one in steps of ten narrows some."""
    others, same = np.array([5] * 30 + [3] * 10 + [400]), defaultdict(lambda: defaultdict(set))
    for table in (t for n in (10, 11, 12) for t in joined(n)):
        fine, coarse = np.array([(p, c) for c, parts in table for p in parts]).T
        of_classes, people = (
            np.array([*(0.5 / fine + 0.5 / coarse), *(1 / others)]),
            [*fine, *others],
        )
        risks, classes = np.repeat(of_classes, people), Alike(np.repeat(people, people))
        told = tuple(map(classes.at, [*classes.cutoffs, classes.end]))
        holds = tuple(map(classes.exactly, classes.cutoffs))
        beside = {
            "": 0,
            "tens": risks.sum() // 10,
            "steps": Telling(kept_back="Chances").mean_ends(risks),
        }
        for name, mean in beside.items():
            same[name][told, mean].add(holds)
    left = {told: ends_of_each(cells) for (told, _), cells in same[""].items()}
    bad = {name: sum(ends_of_each(cells) != left[told] for (told, _), cells in found.items())
           for name, found in same.items()}  # fmt: skip
    assert bad["steps"] == 0 < bad["tens"]


def ends_of_each(cells):
    return [(min(can), max(can)) for can in zip(*cells, strict=True)]


def test_what_is_said_of_the_cross_check_hangs_on_nothing_but_whether_it_failed(tmp_path):
    """Few draws decide hardly anything, many do: whoever knows the risks would know which."""
    people = rb.read_table(nested_tables(8)[3], quasi_identifiers=["a", "b"])
    found, told = rb.assess("marketer", people, known="worst-case"), []
    for draws in (1_000, 50_000):
        check = found.keep_crosscheck(draws=draws)
        found.report(tmp_path / "r.md")
        found.report(tmp_path / "r.json")
        numbers = json.loads((tmp_path / "r.json").read_text())["crosscheck"]
        text = (tmp_path / "r.md").read_text()
        assert "## 6. Provenance" in text
        page = re.sub(r"\b(1,000|50,000) sampled|drawn [\d,]+|sha256.*", "", text)
        told.append([check.decided, page, {k: v for k, v in numbers.items()
                                           if k not in ("draws", "rows")}])  # fmt: skip
    assert told[0][0] < told[1][0]
    assert told[0][1:] == told[1][1:]
    assert told[0][2]["passed"] is None
    assert told[0][2]["status"].startswith("nothing disagrees")


def test_the_cross_check_does_not_count_the_people_who_differ(tmp_path):
    def told(more):
        table = {"sex": ["f", "m"] * 21 + more, "town": ["a", "a", "b"] * 14 + more}
        found = rb.assess("adversary-routes", rb.read_table(
            table, quasi_identifiers=["sex", "town"]), population=5_000)  # fmt: skip
        found.keep_crosscheck(draws=2_000)
        path = tmp_path / "r.json"
        found.to_json(path)
        check = json.loads(path.read_text())["crosscheck"]
        text = [s.bullets for s in report(found).sections if s.title.startswith("Provenance")]
        return sorted(check["largest_difference"]), check["status"], [
            line.partition("largest")[0] for line in text[0]]  # fmt: skip

    assert told([]) == told(["z"])


def test_the_mean_of_risks_that_follow_from_no_class_is_told_in_steps_of_a_hundred_people():
    """A journalist's match: what is told of it at ten people narrowed 586 of 6,631 counts."""
    rng = np.random.default_rng(2)
    table = rb.read_table({n: list(map(str, rng.integers(0, 9, 400))) for n in "ab"},
                          quasi_identifiers=["a", "b"])  # fmt: skip
    found = rb.assess("adversary-routes", table, population=20_000)
    telling, match = telling_of(found), np.asarray(found.measures["journalist_match"].each)
    assert not telling.kept_back
    assert not telling.ladder(match).is_by_class
    assert telling.mean_ends(match) == Telling(kept_back="Chances").mean_ends(match) == (0.0, 0.25)
    low, high = telling.mean_ends(found.risk("marketer"))  # of the class alone: in tens, as it was
    assert high - low < 0.2


@pytest.mark.parametrize("model", ["pitman", "structured", "log-linear"])
def test_counts_of_risks_that_hang_on_the_population_follow_from_the_classes_alone(model, tmp_path):
    """Four tables of the same classes whose coarser classes differ: told in tens, as it was, their
    counts differed too; what the true counts are lies in what is told."""
    told, matches = [], set()
    for columns in nested_tables(20):
        people = rb.read_table(columns, quasi_identifiers=["a", "b"])
        found = rb.assess("adversary-routes", people, population=310, population_model=model)
        telling = telling_of(found)
        for name in found.measures:
            risk, ladder = found.risk(name), telling.ladder(found.risk(name))
            for level in (0, 0.01, 0.09, 0.2, 0.33, 0.5, 0.9):
                low, high = ladder.above(level)
                assert low <= (risk > level * (1 + 1e-9)).sum() <= high
            low, high = telling.mean_ends(risk)
            assert low <= risk.mean() <= high
        matches.add(tuple(np.round(np.sort(found.risk("journalist_match")), 6)))
        found.report(path := tmp_path / "r.json", threshold={"overall": 0.8}, release="public")
        numbers = json.loads(path.read_text())
        told.append([numbers[k] for k in ("people_above", "spread", "judged", "verdict", "passes")])
    # a column that is a function of the other moves neither sizes nor, since it is dropped, shares
    assert len(matches) == 1 or model == "structured"
    assert all(one == told[0] for one in told)
    above = numbers["people_above"]["0.09"]
    assert above["overall"]["at_least"] == 300
    assert above["journalist"] == {"value": None, "at_least": 0, "at_most": 29, "unit": "people"}


@pytest.mark.parametrize(("limit", "passes"), [(0.9, True), (0.7, None), (0.6, False)])
def test_a_verdict_on_everybodys_risk_is_told_as_far_as_the_classes_say_it(limit, passes, tmp_path):
    """Who is alone has .625 where nobody is unique in the population, and .875 where everybody is:
    where a limit lies between, whether anybody is above it narrowed 138 of 405 counts."""
    people = rb.read_table(nested_tables(20)[3], quasi_identifiers=["a", "b"])
    found = rb.assess("adversary-routes", people, population=400)
    rule = {"threshold": {"overall": limit}, "release": "public"}
    assert 0.625 <= found.risk().max() <= 0.875
    found.report(path := tmp_path / "r.json", **rule)
    numbers = json.loads(path.read_text())
    assert numbers["passes"] is passes
    said = "It is not told whether this passes" in numbers["verdict"]
    assert said == (passes is None)
    assert ("everybody's risk keeps the limit does not follow" in numbers["verdict"]) == said
    found.report(path, **rule, custodian=True)
    assert json.loads(path.read_text())["passes"] is not None


def test_given_or_with_columns_of_ones_own_the_mean_alone_is_told(tmp_path):
    rng = np.random.default_rng(3)
    table = rb.read_table({n: list(map(str, rng.integers(0, 5, 400))) for n in "ab"},
                          quasi_identifiers=["a", "b"])  # fmt: skip
    found = rb.assess("adversary-routes", table, given={"marketer": "no"}, population=4_000)
    assert telling_of(found).kept_back.startswith("Something is given")
    found.report(path := tmp_path / "r.md")
    assert "Something is given, and a risk then hangs on how likely that is" in path.read_text()
    found.report(path := tmp_path / "r.json")
    assert json.loads(path.read_text())["people_above"]["0.09"]["marketer"]["at_least"] == 0


def test_where_cells_match_what_they_are_not_equal_to_counts_lie_between_what_classes_leave():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        columns = {n: rng.integers(0, 5, 300).astype(object) for n in "abc"}
        for name in "ab":
            columns[name][rng.random(300) < 0.05] = None
        people = rb.read_table(
            columns, quasi_identifiers=["a", "b", "c"], missing="matches-anything"
        )
        for more in ({}, {"known": ["a", "b"], "unknown": ["c"]}):
            found = rb.assess("marketer", people, **more)
            telling, risk = telling_of(found), found.risk()
            ladder = telling.ladder(risk)
            assert not ladder.is_by_class
            for level in (0, 0.01, 0.05, 0.09, 0.2, 0.33, 0.5, 0.9):
                low, high = ladder.above(level)
                assert low <= (risk > level * (1 + 1e-9)).sum() <= high
            low, high = telling.mean_ends(risk)
            assert low <= risk.mean() <= high


def test_what_is_told_of_risks_that_a_population_tells_apart_narrows_no_count():
    """By a reader who knows all but nine people (benchmarks.attacker_apart asks for more of them);
    counts above levels in tens narrow some."""
    from benchmarks.attacker_apart import beside, drawn, narrowed

    found = narrowed(*drawn(np.random.default_rng([20261123, 150, 3]), 150), beside(9))
    assert found["as told"][1] == 0 < found["as told"][0]
    assert found["as was"][1] > 0


def test_a_verdict_that_is_not_told_has_the_same_words_whoever_is_above(tmp_path):
    """It said "nobody is above" where nobody was, and "not told how many" elsewhere."""
    rng = np.random.default_rng(1)
    columns = {"a": rng.integers(0, 4, 167), "b": rng.integers(0, 3, 167)}
    columns["c"] = (rng.random(167) < 0.1).astype(int)
    people = rb.read_table(columns, quasi_identifiers=["a", "b", "c"])
    known = {"a": 0.5, "b": 1, "c": 1}
    result = rb.assess(
        "adversary-routes", people, known=known, population=4_000, population_model="pitman"
    )
    risk, said = result.risk("journalist_match"), set()
    for limit in (float(risk.min()) / 2, float(np.median(risk)), float(risk.max()) * 1.5):
        limit = round(limit, 6)
        limits = {"threshold": {"journalist_match": limit}, "release": "public"}
        path = result.report(tmp_path / "r.json", **limits)
        text = json.loads(path.read_text())["verdict"]
        assert "is not told" in text
        said.add(text.replace(f"{limit:g}", "LIMIT"))
    assert len(said) == 1
