"""Two files of the same people: nobody joins them by order, and a ledger judges them together.

The oracle joins the written files themselves, by a key that both have unchanged, and counts who is
written alike in both.
"""

import json
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.errors import ReidbnWarning, UsageError

QI = ["age", "sex", "town"]
LADDERS = {"age": "bands:5,10,20"}


def frame_of(seed, n=120):
    """People with a key of their own that names nobody, as lengths of stay to the minute do."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "age": rng.integers(20, 60, n),
        "sex": rng.choice(["f", "m"], n),
        "town": rng.choice(["Elbheim", "Altdorf", "Neustadt"], n, p=[0.6, 0.3, 0.1]),
        "minutes": np.round(rng.permutation(np.linspace(60, 9000, n)), 3),
    })  # fmt: skip


def plan_of(frame, target, **more):
    people = rb.read_table(frame, quasi_identifiers=QI)
    return rb.recommend(people, target=target, hierarchies=LADDERS, suppress_at_most=0.1, **more)


@cache
def pair(seed):
    rng, frame = np.random.default_rng(seed), frame_of(seed)
    ways = [{}, {"empty_at_most": 0.1}, {"drop": "town"}, {"drop": "age"}]
    ways += [{"keep": name} for name in QI]
    made = []
    while len(made) < 2:
        k = int(rng.choice([2, 3, 5]))
        try:
            made.append((k, plan_of(frame, f"k={k}", **ways[rng.integers(len(ways))])))
        except rb.DataError:
            continue
    return tuple(made)


def joined_by_hand(first, second):
    """How many are written alike, for each row that is in one of two files, by both versions."""
    one, two = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in (first, second))
    both = one.merge(two, on="minutes", how="outer", indicator=True).fillna("not there")
    seen = [f"{c}_{side}" for c in QI for side in "xy"] + ["_merge"]
    alike = both.groupby(seen, observed=True)["minutes"].transform("size")
    classes = [set(map(tuple, f[QI].to_numpy())) for f in (one, two)]
    number = both.groupby(seen, observed=True).ngroups
    alone = [
        len(f) == len(both) and len(c) == number for f, c in zip((one, two), classes, strict=True)
    ]
    return alike.to_numpy(), *alone


@pytest.mark.parametrize(
    "seed", [s if s < 12 else pytest.param(s, marks=pytest.mark.wide) for s in range(60)]
)
def test_a_second_file_is_let_out_where_who_joins_both_by_hand_finds_every_rule_kept(
    seed, tmp_path
):
    (k, one), (m, two) = pair(seed)
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write(first), two.write(second)
    alike, first_tells_all, second_tells_all = joined_by_hand(first, second)
    ledger = tmp_path / "releases.json"
    one.write(tmp_path / "a2.csv", ledger=ledger)
    assert (tmp_path / "a2.csv").read_bytes() == first.read_bytes()
    if first_tells_all or alike.min() >= max(k, m):
        who = "a2.csv" if first_tells_all else "this file"
        says = f"what {who} tells, no more" if first_tells_all or second_tells_all else "kept"
        with pytest.warns(ReidbnWarning, match=f"beside a2.csv.*{says}"):
            two.write(tmp_path / "b2.csv", ledger=ledger)
        assert (tmp_path / "b2.csv").read_bytes() == second.read_bytes()
        return
    with pytest.raises(UsageError, match="same file") as refused:
        two.write(tmp_path / "b2.csv", ledger=ledger)
    assert not (tmp_path / "b2.csv").exists()
    assert len(json.loads(ledger.read_text())["files"]) == 1
    found = re.search(r"(\d+) (?:person|people) of (\d+) would be alone", str(refused.value))
    least = re.search(r"of (\d+) people would be (\d+)", str(refused.value))
    if found:
        assert tuple(map(int, found.groups())) == ((alike == 1).sum(), len(alike))
    else:
        assert tuple(map(int, least.groups())) == (len(alike), alike.min())


def test_the_cases_above_have_every_outcome(tmp_path):
    outcomes = set()
    for seed in range(12):
        (k, one), (m, two) = pair(seed)
        one.write(tmp_path / "a.csv"), two.write(tmp_path / "b.csv")
        alike, alone, own = joined_by_hand(tmp_path / "a.csv", tmp_path / "b.csv")
        kept = alike.min() >= max(k, m)
        outcomes.add("alone" if alone else "kept" if kept else "finer" if own else "broken")
    assert outcomes >= {"alone", "broken"}


def test_a_finer_file_is_held_against_the_rule_of_the_coarser_one_that_is_out(tmp_path):
    """Five alike were promised of everybody, and the finer file has pairs."""
    rows = [(a, b, "z") for a in "xy" for b in "pqr" for _ in range(2 + (b == "p"))]
    frame = pd.DataFrame(rows, columns=QI)
    people, ledger = rb.read_table(frame, quasi_identifiers=QI), tmp_path / "releases.json"
    coarse = rb.recommend(people, target="k=5", drop="sex", keep=["age", "town"])
    fine = rb.recommend(people, target="k=2", keep=QI)
    coarse.write(tmp_path / "a.csv", ledger=ledger)
    with pytest.raises(UsageError, match=r"would be 2, which breaks 5 or more alike"):
        fine.write(tmp_path / "b.csv", ledger=ledger)
    assert not (tmp_path / "b.csv").exists()
    assert len(json.loads(ledger.read_text())["files"]) == 1
    finer = rb.recommend(people, target="k=2", drop="sex", keep=["age", "town"])
    with pytest.warns(ReidbnWarning, match="what a.csv tells, no more$"):
        finer.write(tmp_path / "c.csv", ledger=ledger)
    other = tmp_path / "other.json"
    fine.write(tmp_path / "b.csv", ledger=other)
    with pytest.warns(ReidbnWarning, match="what b.csv tells, no more: 5 or more alike holds for"):
        coarse.write(tmp_path / "d.csv", ledger=other)


def test_a_finer_file_is_not_taken_to_keep_a_limit_on_a_risk_of_one_that_is_out(tmp_path):
    rows = [(a, b, "z") for a in "xy" for b in "pqr" for _ in range(4)]
    people = rb.read_table(pd.DataFrame(rows, columns=QI), quasi_identifiers=QI)
    ledger = tmp_path / "releases.json"
    limit = {"attack": "marketer", "known": dict.fromkeys(QI, 0.9)}
    rb.recommend(people, target={"overall": "mean <= 0.12"}, drop="sex", **limit).write(
        tmp_path / "a.csv", ledger=ledger
    )
    with pytest.raises(UsageError, match="nothing proves that the mean of overall"):
        rb.recommend(people, target={"overall": "mean <= 0.3"}, keep=QI, **limit).write(
            tmp_path / "b.csv", ledger=ledger
        )


@pytest.mark.filterwarnings("ignore:an apostrophe")  # of a text that is a formula
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_follows_from_its_rows_and_not_from_their_order(tmp_path, ending):
    """With a categorical column, a text that is a formula, empty texts and missing cells."""
    frame = frame_of(1)
    rng = np.random.default_rng(2)
    frame["ward"] = pd.Categorical(rng.choice(["north", "south"], len(frame)))
    frame["note"] = rng.choice(["", "=a", "'=a", "b"], len(frame)).astype(object)
    frame.loc[rng.random(len(frame)) < 0.2, "note"] = None
    frame["half"] = rng.choice([0.5, 9.0, 10.0, np.nan], len(frame))
    frame = frame.drop(columns="minutes")
    written = []
    for turn in range(3):
        turned = frame.sample(frac=1, random_state=turn).reset_index(drop=True)
        turned["ward"] = turned["ward"].cat.reorder_categories(
            ["south", "north"][:: 2 * (turn % 2) - 1]
        )
        path = tmp_path / f"{turn}.{ending}"
        plan_of(turned, "k=3", keep="town").write(path)
        written.append(path)
    if ending == "csv":
        assert len({path.read_bytes() for path in written}) == 1
    else:
        tables = [pd.read_parquet(path).to_json() for path in written]
        assert len(set(tables)) == 1


def test_a_parquet_file_has_no_word_of_a_value_that_only_those_left_out_have(tmp_path):
    frame = frame_of(3)
    plan = plan_of(frame, "k=4")
    out = np.setdiff1d(np.arange(len(frame)), plan.apply().rows_read)
    assert len(out)
    ward = np.full(len(frame), "north", dtype=object)
    ward[out] = "sanatorium"
    frame["ward"] = pd.Categorical(ward)
    path = plan_of(frame, "k=4").write(tmp_path / "safer.parquet")
    assert b"north" in path.read_bytes()
    assert b"sanatorium" not in path.read_bytes()


def test_two_files_have_the_same_order_where_rows_differ_by_what_both_have_alone(tmp_path):
    """Row i of one file says nothing of row i of the other, but what their own cells say."""
    frame = frame_of(5).drop(columns="minutes")
    plan_of(frame, "k=5", keep="sex", drop="town").write(tmp_path / "a.csv")
    plan_of(frame, "k=5", keep="town", drop="age").write(tmp_path / "b.csv")
    for name in "ab":
        rows = pd.read_csv(tmp_path / f"{name}.csv", dtype=str)
        again = rows.sample(frac=1, random_state=1).sort_values(list(rows), kind="stable")
        assert again.to_numpy().tolist() == rows.to_numpy().tolist()


def other_tables(frame):
    """Readings of the same people that are not the same table."""
    more = frame_of(99, 60)
    yield pd.concat([frame, more], ignore_index=True)  # the next month added
    yield frame.iloc[:70].reset_index(drop=True)  # a part of them
    yield frame.iloc[::-1].reset_index(drop=True)  # in another order
    yield frame.assign(nights=np.arange(len(frame)) % 7)  # with a column more


@pytest.mark.parametrize("which", range(4))
def test_another_table_with_the_same_people_is_refused(which, tmp_path):
    frame, ledger = frame_of(7), tmp_path / "releases.json"
    plan_of(frame, "k=3").write(tmp_path / "a.csv", ledger=ledger)
    other = list(other_tables(frame))[which]
    with pytest.raises(UsageError, match="may have people of this table"):
        plan_of(other, "k=3").write(tmp_path / "b.csv", ledger=ledger)
    assert not (tmp_path / "b.csv").exists()
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])
    plan = rb.recommend(people, target="k=3", hierarchies=LADDERS, suppress_at_most=0.1)
    with pytest.raises(UsageError, match="other columns"):
        plan.write(tmp_path / "b.csv", ledger=ledger)


def test_other_people_may_have_a_file_of_their_own(tmp_path, recwarn):
    ledger = tmp_path / "releases.json"
    for seed in (1, 2, 3):
        plan_of(frame_of(seed), "k=3").write(tmp_path / f"{seed}.csv", ledger=ledger)
    assert len(json.loads(ledger.read_text())["files"]) == 3
    assert not [w for w in recwarn if "beside" in str(w.message)]


def test_a_limit_on_a_risk_is_not_taken_to_hold_of_two_files(tmp_path):
    frame, ledger = frame_of(11), tmp_path / "releases.json"
    limits = {"attack": "adversary-routes", "known": dict.fromkeys(QI, 0.9), "population": 10_000}
    plan_of(frame, {"marketer": "mean <= 0.2"}, keep="town", **limits).write(
        tmp_path / "a.csv", ledger=ledger
    )
    with pytest.raises(UsageError, match="nothing proves that the mean of marketer"):
        plan_of(frame, {"marketer": "mean <= 0.2"}, drop="town", keep="sex", **limits).write(
            tmp_path / "b.csv", ledger=ledger
        )


def test_three_files_are_judged_as_one_who_holds_all_of_them_sees(tmp_path):
    """Two pairs keep the rule, and all three together do not."""
    n = 4
    rows = [(a, b, c) for a in "xy" for b in "xy" for c in "xy" for _ in range(n)]
    frame = pd.DataFrame(rows, columns=QI)
    people, ledger = rb.read_table(frame, quasi_identifiers=QI), tmp_path / "releases.json"
    rb.recommend(people, target="k=8", drop=["sex", "town"]).write(
        tmp_path / "0.csv", ledger=ledger
    )
    with pytest.warns(ReidbnWarning, match="8 or more are alike"):
        rb.recommend(people, target="k=8", drop=["age", "town"]).write(
            tmp_path / "1.csv", ledger=ledger
        )
    with pytest.raises(UsageError, match="the fewest alike of 32 people would be 4"):
        rb.recommend(people, target="k=8", drop=["age", "sex"]).write(
            tmp_path / "2.csv", ledger=ledger
        )


def test_the_ledger_is_the_owners_and_has_no_value_in_the_clear(tmp_path):
    ledger = tmp_path / "releases.json"
    plan_of(frame_of(1), "k=3").write(tmp_path / "a.csv", ledger=ledger)
    assert ledger.stat().st_mode & 0o077 == 0
    text = ledger.read_text()
    assert not any(word in text for word in ("Elbheim", "Altdorf", "20-", "9000"))


def test_the_shell_says_what_a_second_file_does_and_refuses_it_with_a_ledger(tmp_path, shell):
    table = tmp_path / "t.csv"
    frame_of(2).to_csv(table, index=False)
    asked = ["recommend", str(table), "--qi", ",".join(QI), "--hierarchy", "age=bands:5,10,20",
             "--suppress-at-most", "10%", "--target", "k=5"]  # fmt: skip
    code, said = shell(*asked, "--write", str(tmp_path / "a.csv"))
    assert code == 0
    assert "different file of the same people can be joined" in said
    assert "--ledger" in said
    ledger = ["--ledger", str(tmp_path / "releases.json")]
    assert shell(*asked, *ledger)[0] == 2
    code, said = shell(*asked, *ledger, "--write", str(tmp_path / "b.csv"), "--keep", "town")
    assert code == 0
    assert "different file" not in said
    code, said = shell(*asked, *ledger, "--write", str(tmp_path / "c.csv"), "--drop", "town")
    assert code == 2
    assert "same file" in said
    assert not (tmp_path / "c.csv").exists()


def test_the_page_says_that_a_second_version_is_not_held_against_it(tmp_path):
    plan = plan_of(frame_of(2), "k=5")
    page = plan.report(tmp_path / "p.html").read_text()
    assert "different file of the same people can be joined" in page
    assert "This page is in no ledger" in page
    told = json.loads(plan.report(tmp_path / "p.json").read_text())
    assert "different file of the same people" in told["not_promised"]


def test_a_refused_file_leaves_no_page_of_it_and_reports_keep_their_ledger(tmp_path, shell):
    """One ledger holds reports and files: each is held against its kind, and both are kept."""
    table, ledger = tmp_path / "t.csv", tmp_path / "releases.json"
    frame_of(2).to_csv(table, index=False)
    report = ["assess", str(table), "--qi", "sex,town", "--population", "10000", "--check-draws",
              "5k", "--ledger", str(ledger), "--html"]  # fmt: skip
    assert shell(*report, str(tmp_path / "1.html"))[0] == 0
    asked = ["recommend", str(table), "--qi", ",".join(QI), "--hierarchy", "age=bands:5,10,20",
             "--suppress-at-most", "10%", "--target", "k=5", "--ledger", str(ledger)]  # fmt: skip
    first = ["--keep", "town", "--write", str(tmp_path / "a.csv")]
    assert shell(*asked, *first, "--html", str(tmp_path / "a.html"))[0] == 0
    second = ["--drop", "town", "--write", str(tmp_path / "b.csv")]
    code, said = shell(*asked, *second, "--html", str(tmp_path / "b.html"))
    assert code == 2
    assert "same file" in said
    assert not (tmp_path / "b.csv").exists()
    assert not (tmp_path / "b.html").exists()
    assert shell(*report, str(tmp_path / "2.html"))[0] == 0
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()
    kept = json.loads(ledger.read_text())
    assert (len(kept["releases"]), len(kept["files"])) == (1, 1)


def test_of_limits_on_a_secret_nothing_is_proved_for_who_holds_a_finer_file_too(tmp_path):
    """Both classes of the finer file are of one secret each: the best guess there is right."""
    rows = pd.DataFrame({"a": [*"xxyy"], "s": [*"AABB"]})
    people = rb.read_table(rows, quasi_identifiers=["a"], sensitive=["s"])
    rb.recommend(people, target="k=2").write(tmp_path / "fine.csv", ledger=tmp_path / "l.json")
    limit = {"s": "best guess <= 0.5"}
    for name, target, rule in (
        ("both", ["k=4", limit], "4 or more alike holds"),
        ("one", limit, ""),
    ):
        plan = rb.recommend(people, target=target)
        assert 0.5 in plan.best.after.values()
        with pytest.warns(ReidbnWarning) as told:
            plan.write(tmp_path / f"{name}.csv", ledger=tmp_path / "l.json")
        said = " ".join(str(w.message) for w in told)
        assert "nothing proves the largest share of one s among people alike at most 0.5" in said
        assert rule in said
