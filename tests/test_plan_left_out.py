"""Who is left out by a plan: counted by pandas, told in the house alone, and what it costs to leave
out nobody."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn


def frame(seed=5, n=600):
    """Few of one group of seven stay long, and only they do."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "who": [f"p{i}" for i in range(n)],
            "race": rng.choice(["White", "Black", None], n, p=[0.8, 0.1, 0.1]),
            "nights": rng.integers(1, 4, n),
            "ward": rng.choice(["A", "B"], n),
            "illness": rng.choice(["none", "asthma"], n),
        }
    )
    rows.loc[:6, ["race", "nights"]] = [["Black", 11 + i] for i in range(7)]
    return rows


def plan_of(rows, share=0.03, **more):
    people = rb.read_table(
        rows,
        quasi_identifiers=["race", "nights", "ward"],
        subject_id="who",
        sensitive=["illness"],
        hierarchies={"nights": rb.Bands(10)},
        missing="value",
    )
    return rb.recommend(people, target="k=5", suppress_at_most=share, **more)


@pytest.mark.parametrize("seed", range(6))
def test_groups_that_lose_most_are_those_that_pandas_counts(seed):
    rows = frame(seed)
    plan = plan_of(rows)
    assert plan.best.suppressed
    kept = plan.apply()
    gone = ~rows.who.isin(kept.subject_ids)
    assert gone.sum() == plan.best.suppressed
    share = gone.mean()
    bands = (rows.nights // 10 * 10).map(lambda low: f"{low}-{low + 9}")
    as_read = {name: rows[name].astype(object) for name in rows}
    for name, found in plan.left_out.groupby("column"):
        by_level = [as_read[name], bands] if name == "nights" else [as_read[name]]
        told = None
        for values in by_level:  # the finer, but where a coarser group loses half as much more
            cells = values.map(lambda v: "missing" if pd.isna(v) else str(v))
            each = pd.DataFrame({"all": cells.value_counts()})
            each["out"] = cells[gone].value_counts().reindex(each.index, fill_value=0)
            each["more"] = each["out"] - share * each["all"]
            if told is None or each["more"].max() > 1.5 * told["more"].max() + 1e-9:
                told = each
        told = told[told["more"] > 1e-9]
        assert {(r.value, r.left_out, r.people) for r in found.itertuples()} == {
            (value, r["out"], r["all"]) for value, r in told.iterrows()
        }
        np.testing.assert_allclose(
            sorted(found.expected), sorted(share * told["all"]), rtol=0, atol=1e-12
        )
    assert set(plan.left_out.column) == {"race", "nights", "ward", "illness"}


def test_who_is_left_out_is_told_in_the_house_and_nowhere_else(tmp_path):
    plan = plan_of(frame())
    own = plan.report(tmp_path / "own.md", custodian=True).read_text()
    assert "Who is left out" in own
    assert "nights: 7 of the" in own
    assert " left out are 10-19 (of 7; " in own
    assert "With nobody left out the least: " in own
    assert json.loads(plan.report(tmp_path / "own.json", custodian=True).read_text())["left_out"]
    for kind in ("md", "html", "json"):
        told = plan.report(tmp_path / f"told.{kind}").read_text()
        for word in ("Who is left out", "Black", "asthma", "With nobody left out"):
            assert word not in told
    nobody = plan_of(frame(), share=0)
    assert nobody.left_out.empty
    text = nobody.report(tmp_path / "none.md", custodian=True).read_text()
    assert "Who is left out" not in text


@pytest.mark.parametrize("more", [{}, {"loss": "discernibility"}, {"empty_at_most": 0.01}])
def test_the_way_that_leaves_out_nobody_is_what_a_search_without_a_share_finds(more):
    rows = frame()
    plan = plan_of(rows, **more)
    alone = plan_of(rows, share=0, **{k: v for k, v in more.items() if k == "loss"})
    beside = plan.with_everybody
    assert beside.best.suppressed == beside.best.emptied == 0
    assert beside.best.levels == alone.best.levels
    assert beside.best.loss == pytest.approx(alone.best.loss, abs=1e-12)
    assert str(beside.certificate).split(";")[0] == str(alone.certificate).split(";")[0]


QUESTIONS = [
    {"target": "k=3"},
    {"target": {"ill": "best guess <= 70%"}},
    {"target": {"ill": "mean PPP >= 40%"}},
    {"target": {"overall": 0.4}, "attack": "prosecutor"},
    {"target": {"overall": "q90 <= 0.2"}, "attack": "adversary-routes", "population": 5_000},
    {"target": [{"overall": "mean <= 0.1"}, "k=2"], "attack": "adversary-routes",
     "population": 5_000},
]  # fmt: skip


@pytest.mark.parametrize("loss", ["entropy", "average-class", rb.plans.Margins(("a", "b"))],
                         ids=str)  # fmt: skip
@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda a: str(a["target"]))
@pytest.mark.parametrize("seed", [1, 2, pytest.param(3, marks=pytest.mark.wide)])
def test_with_everybody_follows_from_what_was_counted(seed, asked, loss, monkeypatch):
    """Held against a search of its own, and no way is looked at twice."""
    rng = np.random.default_rng(seed)
    n = 60
    table = {name: rng.binomial(8, p, n) for name, p in (("a", 0.5), ("b", 0.3), ("c", 0.1))}
    table["ill"] = rng.choice(["x", "y", "z"], n)
    people = rb.read_table(pd.DataFrame(table), quasi_identifiers=["a", "b", "c"], sensitive="ill")
    how = asked | {"loss": loss, "hierarchies": {"a": "bands:2,4", "b": "bands:3"},
                   "pareto": bool(seed % 2)}  # fmt: skip
    plan = rb.recommend(people, suppress_at_most=0.3, **how)
    looked, kind = [], type(plan._table)
    look = kind.look
    monkeypatch.setattr(kind, "look", lambda own, node: looked.append(node) or look(own, node))
    beside, before = plan.with_everybody, set(plan._search.seen)
    assert before.isdisjoint(looked)
    try:
        alone = rb.recommend(people, **how)
    except rb.DataError:
        assert beside is None
        return
    assert beside.best.suppressed == 0
    assert beside.best.loss == pytest.approx(alone.best.loss, abs=1e-12)
    assert beside.certificate.is_proved == alone.certificate.is_proved


def test_where_nobody_can_stay_no_way_is_named():
    people = rb.read_table({"age": [1] * 9 + [2]}, quasi_identifiers=["age"])
    plan = rb.recommend(people, target="k=3", suppress_at_most=0.1, keep="age")
    assert plan.best.suppressed == 1
    assert plan.with_everybody is None


def test_the_shell_says_who_is_left_out(tmp_path):
    path = tmp_path / "table.csv"
    frame().to_csv(path, index=False)
    words = ["recommend", str(path), "--qi", "race,nights,ward", "--hierarchy", "nights=bands:10",
             "--target", "k=5", "--suppress-at-most", "3%"]  # fmt: skip
    said = CliRunner().invoke(reidbn, words).stdout
    assert "  nights: 7 of the" in said
    assert "  With nobody left out the least: " in said
    nobody = CliRunner().invoke(reidbn, [*words[:-1], "0"]).stdout
    assert "With nobody" not in nobody


OUTWARDS = [(3, "under 10 people"), (17, "10 to 19 people (told in tens)")]


@pytest.mark.parametrize(("few", "said"), OUTWARDS)
def test_outwards_people_left_out_are_told_as_from_so_many_to_so_many(few, said, tmp_path):
    """It was "10 of 2,400 people", and meant 17."""
    people = rb.read_table({"age": [1] * (600 - few) + [*range(2, 2 + few)]},
                           quasi_identifiers=["age"])  # fmt: skip
    plan = rb.recommend(people, target="k=5", suppress_at_most=0.05)
    assert plan.best.suppressed == few
    assert f"{said} left out" in plan.report(tmp_path / "p.md").read_text()


@pytest.mark.parametrize("seed", range(4))
def test_groups_of_which_nobody_is_left_are_named_whatever_else_a_column_loses(seed, tmp_path):
    """Counted by pandas, at every level; and named though another group loses more."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({
        "race": ["White"] * 500 + ["Black"] * 90 + ["Other"] * 3 + ["None"] * 2,
        "nights": rng.integers(1, 4, 595),
    })  # fmt: skip
    rows.loc[500:540, "nights"] = np.arange(41) * 3 + 30  # many of one group are alone, too
    people = rb.read_table(rows, quasi_identifiers=["race", "nights"],
                           hierarchies={"nights": rb.Bands(10)})  # fmt: skip
    plan = rb.recommend(people, target="k=4", suppress_at_most=0.2, keep=["race", "nights"])
    assert plan.best.suppressed
    own = plan.apply().rows_read
    out = ~np.isin(np.arange(len(rows)), own)
    each = {"race": [rows.race], "nights": [rows.nights, rows.nights // 10 * 10]}
    whole = set()
    for name, levels in each.items():
        covered = pd.Series(False, index=rows.index)
        for values in reversed(levels):
            coarse = len(levels) > 1 and values is levels[-1]
            for value, who in values.groupby(values).groups.items():
                if len(who) > 1 and out[who].all() and not covered[who].all():
                    label = f"{value}-{value + 9}" if coarse else str(value)
                    whole.add(f"{name} {label} ({len(who)} people)")
                    covered[who] = True
    said = plan.report(tmp_path / "own.md", custodian=True).read_text()
    said = [line for line in said.splitlines() if "nobody is left of " in line]
    assert said[-1].startswith("nobody is left of ")
    named = said[-1].removeprefix("nobody is left of ").split(" and ")
    told = set(named[0].split(", "))
    assert told <= whole
    assert len(told) == min(5, len(whole))
    assert len(named) == 1 or named[1].startswith(f"{len(whole) - 5} other group")
    assert {"race Other (3 people)", "race None (2 people)"} <= whole
