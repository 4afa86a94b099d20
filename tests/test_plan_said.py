"""What a plan says of itself, and what is said of a call that asks for one wrongly."""

import json
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import reidbn as rb
from reidbn.report import options_figure

RNG = np.random.default_rng(1611)
TABLE = {"age": RNG.integers(20, 90, 400).tolist(), "sex": RNG.choice(["F", "M"], 400).tolist(),
         "town": RNG.choice([f"t{i}" for i in range(9)], 400).tolist(),
         "cost": RNG.integers(1, 9, 400).tolist()}  # fmt: skip
PEOPLE = rb.read_table(TABLE, quasi_identifiers=["age", "sex", "town"])
HOW = {"hierarchies": {"age": "bands:5,10,20"}, "suppress_at_most": 0.1}


@pytest.mark.parametrize("attack", [None, "adversary-routes"])
@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"supress_at_most": 0.02}, 'recommend takes no "supress_at_most"; .*"suppress_at_most"'),
        ({"foo": 1}, 'recommend takes no "foo"'),
        ({"populaton": 10}, '"population"'),
    ],
)
def test_an_argument_that_is_not_there_is_said_to_be_misspelt(attack, named, said):
    more = [] if attack is None else [attack]
    with pytest.raises(rb.errors.UsageError, match=said):
        rb.recommend(PEOPLE, *more, target="k=5", **named)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "overall <= 0.09"], '"overall: highest <= 0.09"'),
        (["--target", "nonsense"], '"overall: q95 <= 0.09"'),
        (["--target", "k=abc"], '"k=5"'),
        (["--target", "k=5", "--scenario", "worst-case"], "--attack adversary-routes"),
        (["--target", "k=300"], "the table has 200 people"),
        (["--target", "k=2", "--loss", "cost ~ age"], "--sensitive cost"),
    ],
)
def test_the_shell_says_what_to_write(shell, tmp_path, words, said):
    rows = ["F", "M"] * 100
    path = tmp_path / "t.csv"
    path.write_text("sex,cost\n" + "".join(f"{sex},{i % 7}\n" for i, sex in enumerate(rows)))
    code, out = shell("recommend", str(path), "--qi", "sex", *words)
    assert code == 2
    assert said in out
    assert "{" not in out
    assert "rb." not in out


def test_many_alike_are_told_in_all_digits():
    people = rb.read_table({"sex": ["F"] * 3456, "x": [1] * 3456}, quasi_identifiers=["sex", "x"])
    assert "3,456 now, 3,456 then" in rb.recommend(people, target="k=2000").explain()


def test_a_plan_is_explained_in_two_sentences_with_all_that_would_break():
    targets = ["k=5", "overall: q95 <= 0.2", "marketer: mean <= 0.05"]
    plan = rb.recommend(PEOPLE, "adversary-routes", target=targets, population=40_000, **HOW)
    said = plan.explain()
    assert said.count(". ") == 1
    broken = plan.binding[plan.binding.breaks]
    assert len(broken) > 1
    for row in broken.to_dict("records"):
        assert f"{row['column']} at level {row['level']} would break" in said
        assert row["target"] in said.partition("One level finer")[2]
    assert "mean of marketer at most 0.05 for" not in said


def test_the_front_is_told_as_the_best_way_is():
    plan = rb.recommend(PEOPLE, target=["k=5"], **HOW)
    front = plan.front
    best = front[(front["loss"] - plan.best.loss).abs() < 1e-12]
    assert best["5 or more alike"].tolist() == [plan.best.after["5 or more alike"]]
    assert set(plan.binding["value"]) <= set(range(len(PEOPLE)))


@pytest.mark.parametrize("seed", [1, 2, 3, 7, 9, 13])
def test_no_way_of_the_front_is_beaten_by_one_that_ties_but_for_rounding(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    frame = pd.DataFrame(
        {c: rng.integers(0, most, n) for c, most in zip("abc", (8, 8, 3), strict=True)}
    )
    people = rb.read_table(frame, quasi_identifiers=["a", "b", "c"])
    plan = rb.recommend(people, target=["k=2", {"1/class": "mean <= 0.3"}], suppress_at_most=0.1,
                        hierarchies={"a": "bands:2,4", "b": "bands:2,4"})  # fmt: skip
    k, mean = map(str, plan.targets)
    rows = [(r["loss"], 1 / r[k], r[mean]) for r in plan.front.to_dict("records")]
    for low, other in permutations(rows, 2):
        pairs = [(a - b, 1e-12 * b) for a, b in zip(low, other, strict=True)]
        assert not (all(d <= hair for d, hair in pairs) and any(d < -hair for d, hair in pairs))


def test_a_plan_of_no_attack_says_that_its_ways_are_assessed_under_none():
    plan = rb.recommend(PEOPLE, target="k=5", **HOW)
    for asked in (plan.options, lambda: plan.assessed(2)):
        with pytest.raises(rb.UsageError, match="risk under an attack: name one in rb"):
            asked()


def test_a_seed_without_a_sample_is_refused(shell):
    with pytest.raises(rb.UsageError, match="seed= is of a sample, and none is drawn"):
        rb.recommend(PEOPLE, target="k=5", seed=3, **HOW)
    code, said = shell("recommend", "synthetic:300:2", "--qi", "age", "--target", "k=2",
                       "--seed", "3")  # fmt: skip
    assert code == 2
    assert "--seed is of a sample, and none is drawn: leave it out" in said


def test_every_target_has_its_picture_and_no_label_touches_another():
    targets = ["k=5", "overall: q95 <= 0.2", "marketer: mean <= 0.05"]
    plan = rb.recommend(PEOPLE, "adversary-routes", target=targets, population=40_000, **HOW)
    figure = plan.plot()
    titles = [axes.get_title(loc="left").replace("\n", " ") for axes in figure.axes]
    assert len(titles) == len(plan.targets)
    assert all(t.axis[1:] in title for t, title in zip(plan.targets, titles, strict=True))
    assert not any(line.get_clip_on() for axes in figure.axes for line in axes.lines
                   if line.get_marker() == "o")  # fmt: skip


@pytest.mark.parametrize(
    "points",
    [[(79, 3), (79.4, 3.1), (79.2, 3.3), (0, 90)], [(0, 0), (0, 0)], [(0, 5), (50, 5), (52, 5)]],
)
def test_labels_of_options_do_not_print_over_each_other(points):
    names = [f"age at level {i}, state dropped, some people left out" for i in range(len(points))]
    figure = options_figure(names, [y for _, y in points], [x for x, _ in points], "people")
    FigureCanvasAgg(figure).draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    numbers = sorted(n for text in figure.axes[0].texts for n in text.get_text().split(", "))
    assert numbers == [f"{i}" for i in range(1, len(points) + 1)]
    assert all(name in figure._supxlabel.get_text().replace("\n", " ") for name in names)


LIMITS = {  # a target, the level that people may be above, and who may, as the page says it
    "q60 <= 0.05": (0.05, "up to 40 % of those released may be above 0.05"),
    "above 0.3 <= 5%": (0.3, "up to 5 % of those released may be above 0.3"),
    "mean <= 0.05": (0.05, "being a mean, it lets people stay above 0.05"),
    "highest <= 0.4": (None, ""),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_how_many_people_stay_above_a_limit_is_said_first(limit, tmp_path, shell):
    level, said = LIMITS[limit]
    asked = {"population": 9_000}
    people = rb.read_table(TABLE, quasi_identifiers=["age", "sex"])
    plan = rb.recommend(people, "adversary-routes", target={"overall": limit}, **asked, **HOW)
    own = plan.report(tmp_path / "own.md", custodian=True).read_text()
    out = plan.report(tmp_path / "out.md").read_text()
    if level is None:
        assert dict(plan.best.above) == plan.to_dict()["people_above"] == {}
        assert own.startswith("# The least change that keeps the highest overall at most 0.4\n")
        assert "above it" not in own.split("##")[0] + plan.explain()
        return
    fresh = rb.assess("adversary-routes", plan.apply(), **asked).subjects["overall"]
    count = int((fresh > level * (1 + 1e-12)).sum())
    assert count
    verb = "is" if count == 1 else "are"
    words = f"{count} of {len(plan.apply())} people released {verb} above it"
    for text in (plan.explain().split(". ")[0], own.split("##")[0]):
        assert words in text
    assert own.startswith("# The least change that keeps a limit that some people may be above: ")
    assert said in out.split("##")[0]
    assert words not in out


def test_the_shell_says_how_many_stay_above(shell, tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(TABLE).to_csv(path, index=False)
    code, said = shell(
        "recommend", str(path), "--qi", "age,sex", "--population", "9000",
        "--hierarchy", "age=bands:5,10,20", "--target", "overall: mean <= 0.1",
    )  # fmt: skip
    assert code == 0
    line = next(line for line in said.splitlines() if line.startswith("the mean of overall"))
    assert line.endswith("released are above it")


def test_a_picture_of_ways_that_all_keep_every_target_fills_its_page():
    plan = rb.recommend(PEOPLE, "marketer", target={"overall": 0.99}, **HOW)
    assert plan.front["keeps"].all()
    figure = plan.plot()
    FigureCanvasAgg(figure).draw()
    assert all(axes.get_position().height > 0.65 for axes in figure.axes)


@pytest.mark.parametrize("seconds", [-1, -0.5, float("nan")])
def test_a_time_below_nothing_is_refused(seconds, shell, tmp_path):
    with pytest.raises(rb.UsageError, match="give how long to search at most, 0 or more"):
        rb.recommend(PEOPLE, target="k=2", seconds=seconds)
    (tmp_path / "t.csv").write_text("a\n" + "1\n2\n" * 5)
    code, said = shell("recommend", tmp_path / "t.csv", "--qi", "a", "--target", "k=2",
                       "--seconds", seconds)  # fmt: skip
    assert code == 2
    assert "give how long to search at most, 0 or more" in said


def test_a_slip_in_a_loss_ends_with_what_was_meant():
    with pytest.raises(rb.UsageError, match=r'\); did you mean "entropy"\?$'):
        rb.recommend(PEOPLE, target="k=2", loss="entropi")
    with pytest.raises(rb.UsageError, match=r'"; did you mean "age"\?$'):
        rb.recommend(PEOPLE, target="k=2", loss=rb.plans.Regression("agee ~ sex"))


def test_a_column_with_an_equals_sign_takes_a_hierarchy(shell, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a=b,a\n" + "10,x\n11,x\n25,y\n26,y\n" * 3)
    for said, levels in (("a=b=bands:10", {"a=b": 1, "a": 0}), ("a=x.csv", None)):
        code, told = shell("recommend", path, "--qi", "a=b,a", "--target", "k=6", "--hierarchy",
                           said, "--json")  # fmt: skip
        if levels is None:
            assert code == 2
            assert 'no file and no rule "x.csv"' in told
        else:
            assert json.loads(told)["levels"] == levels


def test_a_column_with_an_equals_sign_is_named_in_every_option(shell, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a=b,a,d\n" + "10,x,p\n11,x,q\n25,y,p\n26,y,q\n" * 3)
    asked = ["recommend", path, "--qi", "a=b,a", "--target", "k=6", "--json"]
    code, told = shell(*asked, "--importance", "a=b=2", "--importance", "a=1")
    assert code == 0
    assert "weighed by importance (a=b 0.667, a 0.333)" in told
    risk = ["assess", path, "--qi", "a=b,a", "--attack", "marketer", "--json", "--known"]
    told = [shell(*risk, f"{said},a=0.5") for said in ("a=b=0.5", "a=b:0.5", "pair=a=b:0.5")]
    means = {str(json.loads(text)["measures"]) for code, text in told if not code}
    assert [code for code, _ in told] == [0, 0, 0]
    assert len(means) == 1
    for said in ("a=b+a=0.5", "a=b,a"):
        assert shell(*risk, said)[0] == 0
    code, told = shell("classes", path, "--qi", "a=b,a", "--hierarchy", "a=b=bands:10", "--level",
                       "a=b=1", "--json")  # fmt: skip
    assert code == 0, told
    guess = ["disclosure", path, "--qi", "a=b,a", "--sensitive", "d", "--json"]
    code, told = shell(*guess, "--tolerance", "a=b=1")
    assert code == 0, told


def test_two_releases_under_one_scenario_are_told_apart():
    """It was called known against known."""
    asked = {"known": {"age": 0.5, "sex": 0.5}, "population": 9_000}
    people = rb.read_table(rb.datasets.synthetic_patients(300, seed=1),
                           quasi_identifiers=["age", "sex"])  # fmt: skip
    how = {"hierarchies": {"age": "bands:10,20"}}
    one, two = (rb.recommend(people, "adversary-routes", target=k, **how, **asked).result
                for k in ("k=2", "k=9"))  # fmt: skip
    first = str(rb.compare(one, two)).splitlines()[0]
    assert first.startswith("the second against the first, both under known, 300 people: ")
    worst = rb.assess("adversary-routes", people, scenario="worst-case", population=9_000)
    told = str(rb.compare(worst, rb.what_if(worst, scenario="who-is-attacking")))
    assert told.startswith("who-is-attacking against worst-case, 300 people: ")
