"""Recommend: the least change that keeps every target, against an exhaustive search of its own."""

import itertools
import json
from collections import Counter
from itertools import product
from math import log2

import numpy as np
import pandas as pd
import pytest

import reidbn as rb


def general(value, widths, level):
    """A number in a band: by hand, and "*" at the top."""
    if level == 0:
        return value
    return "*" if level > len(widths) else value // widths[level - 1]


def exhaustive(frame, ladders, k, budget, loss):
    """The least loss over every way to release, with what is left out as arithmetic says."""
    n, best = len(frame), (float("inf"), None)
    columns = list(frame)
    for levels in product(*(range(len(ladders[c]) + 2) for c in columns)):
        coarse = [
            [general(v, ladders[c], level) for v in frame[c]]
            for c, level in zip(columns, levels, strict=True)
        ]
        sizes = Counter(zip(*coarse, strict=True))
        out = [sizes[row] < k for row in zip(*coarse, strict=True)]
        if sum(out) > budget or all(out):
            continue
        total = 0.0
        for c, values in zip(columns, coarse, strict=True):
            exact, wide = Counter(frame[c]), Counter(values)
            distinct = len(exact)
            under = {w: len({v for v, x in zip(frame[c], values, strict=True) if x == w})
                     for w in wide}  # fmt: skip
            lost = whole = 0.0
            for v, w, gone in zip(frame[c], values, out, strict=True):
                all_of_it = log2(n / exact[v]) if loss == "entropy" else 1.0
                some = (
                    log2(wide[w] / exact[v])
                    if loss == "entropy"
                    else (under[w] - 1) / max(distinct - 1, 1)
                )
                lost += all_of_it if gone else some
                whole += all_of_it
            total += lost / whole / len(columns) if whole else 0.0
        if total < best[0] - 1e-12:
            best = (total, levels)
    return best


def made_up(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 60))
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "zip": rng.integers(0, 12, n),
            "sex": rng.integers(0, 2, n),
        }
    )
    ladders = {"age": [(5, 10, 20), (10,), (2, 20)][seed % 3], "zip": [(3, 6), (4,)][seed % 2],
               "sex": ()}  # fmt: skip
    given = {c: rb.Bands(*w) for c, w in ladders.items() if w}
    return frame, ladders, given, int(rng.integers(2, 6)), float(rng.choice([0.0, 0.1, 0.3]))


@pytest.mark.parametrize("loss", ["entropy", "granularity"])
@pytest.mark.parametrize("seed", range(12))
def test_the_plan_is_the_best_of_all_and_its_certificate_is_true(seed, loss):
    frame, ladders, given, k, share = made_up(seed)
    people = rb.read_table(frame, quasi_identifiers=list(frame))
    best, levels = exhaustive(frame, ladders, k, int(share * len(frame) + 1e-9), loss)
    asked = {"target": f"k={k}", "hierarchies": given, "suppress_at_most": share, "loss": loss}
    if levels is None:
        with pytest.raises(rb.errors.DataError, match="no way to release keeps"):
            rb.recommend(people, **asked)
        return
    plan = rb.recommend(people, **asked)
    assert plan.best.loss == pytest.approx(best, abs=1e-12)
    proof = plan.certificate
    assert proof.is_proved
    assert proof.nodes == proof.counted + sum(proof.skipped.values())
    safer = plan.apply()
    assert safer.k() >= k
    assert len(safer) == len(people) - plan.best.suppressed


class Crossing(rb.Bands):
    """Threes that do not hold whole pairs: 2 and 3 are a pair, and in two threes."""

    def climb(self, value, level, **_):
        low = int(value) // (level + 1) * (level + 1)
        return f"{low}-{low + level}"


def test_levels_that_do_not_nest_are_searched_without_the_rule_that_needs_it():
    """At pairs 2 is alone; at threes nobody is: a coarser level can also part what was together."""
    frame = pd.DataFrame({"x": [0, 1, 2, 3, 6, 7, 6, 7]})
    people = rb.read_table(frame, quasi_identifiers=["x"])
    plan = rb.recommend(people, target="k=2", hierarchies={"x": Crossing(2, 4)})
    assert plan.best.levels == {"x": 1}  # pairs; at threes, 3 is alone
    three = people.generalise({"x": 2}, hierarchies={"x": Crossing(2, 4)})
    assert three.k() == 1
    assert plan.certificate.is_proved


@pytest.mark.parametrize(
    ("target", "statistic"),
    [
        ({"marketer": "mean <= 0.1"}, lambda r: r.mean() <= 0.1),
        ({"marketer": "q90 <= 0.2"}, lambda r: (r > 0.2).mean() <= 0.1),
        ({"marketer": "above 0.1 <= 20%"}, lambda r: (r > 0.1).mean() <= 0.2),
        ({"overall": 0.3}, lambda r: r.max() <= 0.3),
    ],
)
def test_a_limit_on_an_attack_is_kept_by_a_fresh_assessment_and_nothing_finer_keeps_it(
    target, statistic
):
    """Nobody may be left out, so every way is tried by rb.assess on a table made by hand."""
    people = rb.read_table(
        rb.datasets.synthetic_patients(300, seed=3), quasi_identifiers=["age", "sex", "race"]
    )
    known = {"age": 0.5, "sex": 0.9, "race": 0.2}
    ladders = {"age": rb.Bands(10, 20)}
    plan = rb.recommend(people, "adversary-routes", target=target, known=known, population=10_000,
                        population_model="pitman", hierarchies=ladders)  # fmt: skip
    assert plan.certificate.is_proved
    (measure,) = target

    def risk_of(table):
        return rb.assess("adversary-routes", table, known=known, population=10_000,
                         population_model="pitman").risk(measure)  # fmt: skip

    assert statistic(risk_of(plan.apply()))
    lattice, kept = plan._table.ways, []
    losses = lattice.losses()
    for i in range(lattice.size):
        levels = lattice.levels(lattice.node(i))
        coarse = people.generalise(levels, hierarchies={o.name: o.ladder for o in lattice.options})
        if statistic(risk_of(coarse)):
            kept.append(losses[i])
    assert plan.best.loss == pytest.approx(min(kept), abs=1e-12)


def test_people_left_out_for_an_attack_are_the_fewest_and_the_release_is_safe():
    people = rb.read_table(
        rb.datasets.synthetic_patients(400, seed=5), quasi_identifiers=["age", "sex"]
    )
    known = {"age": 1.0, "sex": 0.5}
    plan = rb.recommend(people, "adversary-routes", target={"marketer": 0.2}, known=known,
                        population=20_000, hierarchies={"age": rb.Bands(5, 10)},
                        suppress_at_most=0.1)  # fmt: skip
    assert plan.certificate.is_proved
    assert plan.best.suppressed == 8
    again = rb.assess("adversary-routes", plan.apply(), known=known, population=20_000)
    assert again.risk("marketer").max() <= 0.2 * (1 + 1e-12)
    np.testing.assert_allclose(again.risk(), plan.result.risk(), rtol=1e-12)


def test_what_is_known_of_a_person_is_known_when_the_state_is_dropped():
    people = rb.read_table(
        rb.datasets.synthetic_patients(600, seed=2), quasi_identifiers=["age", "state", "race"]
    )
    plan = rb.recommend(people, "adversary-routes", known="voter-registration", drop=["state"],
                        target={"overall": "q95 <= 0.2"}, population=10**6)  # fmt: skip
    assert plan.best.dropped[:1] in (("state",), ("age",))
    again = rb.assess("adversary-routes", plan.apply(), known="voter-registration",
                      population=10**6)  # fmt: skip
    np.testing.assert_allclose(again.risk(), plan.result.risk(), rtol=1e-12)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_written_table_has_every_other_column_as_it_was_and_keeps_the_target(tmp_path, ending):
    frame = rb.datasets.synthetic_patients(500, seed=1)
    source = tmp_path / f"t.{ending}"
    getattr(frame, f"to_{ending}")(source, index=False)
    people = rb.read_table(source, quasi_identifiers=["age", "sex", "race"])
    plan = rb.recommend(people, target="k=5", hierarchies={"age": "bands:10,20"},
                        suppress_at_most=0.05)  # fmt: skip
    out = plan.write(tmp_path / f"safer.{ending}", keep_id=True)
    read = pd.read_csv if ending == "csv" else pd.read_parquet
    safer, before = (read(path).sort_values("patient_id") for path in (out, source))
    safer = safer.reset_index(drop=True)
    kept = before[before.patient_id.isin(safer.patient_id)].reset_index(drop=True)
    others = [c for c in before if c not in ("age", "sex", "race")]
    pd.testing.assert_frame_equal(safer[others].astype(str), kept[others].astype(str))
    assert len(safer) == len(before) - plan.best.suppressed
    again = rb.read_table(out, quasi_identifiers=["age", "sex", "race"])
    assert again.k() >= 5
    assert out.stat().st_mode & 0o077 == 0
    with pytest.raises(rb.errors.DataError, match="name the table"):
        plan.write(tmp_path / f"x.{ending}", source=frame.sample(frac=1, random_state=1))


@pytest.mark.parametrize("named", [None, "patient_id"])
def test_columns_that_name_a_person_are_left_out_of_the_file_with_a_word(tmp_path, shell, named):
    frame = rb.datasets.synthetic_patients(300, seed=1)
    frame["mail"] = [f"p{i}@there.org" for i in range(300)]
    frame["fever"] = np.linspace(36.0, 41.0, 300)  # a number of its own that names nobody
    if named:
        frame["patient_id"] = frame["patient_id"] % 1000 * 7919 + np.arange(
            300
        )  # no running number
    frame.to_csv(tmp_path / "t.csv", index=False)
    people = rb.read_table(tmp_path / "t.csv", quasi_identifiers=["age", "sex"], subject_id=named)
    plan = rb.recommend(people, target="k=2", suppress_at_most=0.1, hierarchies={"age": "bands:10"})
    with pytest.warns(rb.errors.ReidbnWarning, match="names a person: patient_id .*, mail "):
        plan.write(tmp_path / "safer.csv")
    left = [name for name in frame if name not in ("patient_id", "mail")]
    assert list(pd.read_csv(tmp_path / "safer.csv")) == left
    plan.write(tmp_path / "all.csv", keep_id=True)
    assert list(pd.read_csv(tmp_path / "all.csv")) == list(frame)
    code, said = shell(
        "recommend", str(tmp_path / "t.csv"), "--qi", "age,sex", "--target", "k=2",
        "--suppress-at-most", "10%", "--hierarchy", "age=bands:10",
        "--write", str(tmp_path / "shell.csv"), *(["--subject-id", named] if named else []),
    )  # fmt: skip
    assert code == 0
    assert "left out of the file, since it names a person: patient_id" in said
    assert (tmp_path / "shell.csv").read_bytes() == (tmp_path / "safer.csv").read_bytes()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "how",
    [
        {"keep": ["sex", "code"], "suppress_at_most": 0.2},  # whoever has a value is left out
        {"keep": ["sex"], "empty_at_most": 0.2},  # it is emptied
    ],
)
def test_a_column_that_is_missing_for_everybody_who_is_left_is_said_when_written(
    tmp_path, how, ending
):
    frame = pd.DataFrame({"sex": list("fm") * 20, "code": ["x", "y", *[None] * 38]})
    people = rb.read_table(frame, quasi_identifiers=["sex", "code"])
    plan = rb.recommend(people, target="k=3", **how)
    out = tmp_path / f"safer.{ending}"
    with pytest.warns(rb.errors.ReidbnWarning, match='everybody who is left in the file: "code";'):
        plan.write(out)
    with pytest.raises(rb.errors.DataError, match='"code" is missing in every row; leave it out'):
        rb.read_table(out, quasi_identifiers=["sex", "code"])
    assert rb.read_table(out, quasi_identifiers=["sex"]).k() == plan.apply().as_written().k()
    some = pd.concat([frame, pd.DataFrame({"sex": list("fff"), "code": list("zzz")})])
    people = rb.read_table(some.reset_index(drop=True), quasi_identifiers=["sex", "code"])
    rb.recommend(people, target="k=3", **how).write(out)
    assert rb.read_table(out, quasi_identifiers=["sex", "code"]).k() >= 3


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"target": "k=1"}, "asks for nothing"),
        ({"target": "k five"}, "neither so many alike"),
        ({"target": {"overall": "q95 <= 0.09"}}, "name one"),
        ({"target": "k=5", "hierarchies": {"agee": "bands:5"}}, "did you mean"),
        ({"target": "k=5", "hierarchies": {"age": "bandz:5"}}, "no file and no rule"),
        ({"target": "k=5", "suppress_at_most": 2}, "between 0 and 1; write 2 per cent as 2%"),
        ({"target": "k=5", "loss": "entropie"}, "did you mean"),
        ({"target": "k=5", "keep": ["age"], "drop": ["age"]}, "name it once"),
        ({"target": "k=5", "importance": {"age": -1}}, "0 or more"),
        (
            {"target": {"overal": 0.1}, "attack": "adversary-routes", "population": 10**4},
            "did you mean",
        ),
        ({"target": {"overall": "q95"}, "attack": "adversary-routes"}, "write what of it"),
        ({"target": {"k": 5}}, 'as text, a whole number, "k=5"'),
        ({"target": "k=400"}, "no way to release keeps"),
        ({"target": "k=5", "known": "worst-case"}, "name one"),
        (
            {
                "target": {"overall": 0.1},
                "attack": "adversary-routes",
                "population": 10**4,
                "subject": {"p_unique": 0.5},
            },
            "every one of the 200 people needs one of their own",
        ),
        ({"target": "k=5", "release": "controlled"}, "no target is one: leave it out"),
        ({"target": [{"overall": 0.2}], "release": "wide"}, "no target is one: leave it out"),
        ({"target": ["k=5", "ema"], "release": "wide"}, "no release"),
    ],
)
def test_a_slip_is_told_with_what_would_be_right(asked, told):
    people = rb.read_table(
        rb.datasets.synthetic_patients(200, seed=1), quasi_identifiers=["age", "sex"]
    )
    with pytest.raises(rb.ReidbnError, match=told):
        rb.recommend(people, **asked)


def test_a_precedent_is_what_it_is_for_each_release():
    from reidbn.plans import Target  # noqa: F401 - a public name of the room

    people = rb.read_table(
        rb.datasets.synthetic_patients(1_000, seed=1), quasi_identifiers=["age", "sex"]
    )
    public = rb.recommend(people, target="ema", hierarchies={"age": "bands:5,10,20"})
    assert public.apply().k() >= 11
    controlled = rb.recommend(people, target="cell-5", hierarchies={"age": "bands:5,10,20"})
    sizes = controlled.apply().class_sizes()
    assert (1 / sizes).mean() <= 0.2
    assert sizes.min() >= 2
    assert controlled.best.loss <= public.best.loss


def test_the_command_says_what_to_do_and_writes_it(shell, tmp_path):
    out = tmp_path / "safer.csv"
    code, said = shell("recommend", "synthetic:600:2", "--qi", "age,sex,race", "--target", "k=5",
                       "--hierarchy", "age=bands:10,20", "--suppress-at-most", "2%",
                       "--write", out)  # fmt: skip
    assert code == 0
    assert "No other way is better: proved." in said
    assert "hierarchy alone" not in said
    assert "written as they are unless they name a person: patient_id, state" in said
    again = rb.read_table(out, quasi_identifiers=["age", "sex", "race"])
    assert again.k() >= 5
    limit, known = "overall: highest <= 50%", "age=0.5,sex=1"
    code, said = shell("recommend", "synthetic:300:2", "--qi", "age,sex", "--json",
                       "--target", limit, "--known", known, "--population", "9000")  # fmt: skip
    found = json.loads(said)
    assert code == 0
    assert found["targets"] == ["the highest overall at most 0.5"]
    assert all(value <= 0.5 for value in found["after"].values())
    code, said = shell("recommend", "synthetic:300", "--qi", "age", "--target", "k=5",
                       "--known", "age")  # fmt: skip
    assert code != 0
    assert "about an attack" in said


def test_what_the_next_finer_level_would_break_is_counted():
    people = rb.read_table(
        rb.datasets.synthetic_patients(2_000, seed=1),
        quasi_identifiers=["age", "sex", "state", "race", "education", "marital"],
    )
    ladders = {"age": rb.Bands(5, 10, 20)}
    plan = rb.recommend(people, target="k=5", hierarchies=ladders, suppress_at_most=0.1)
    assert plan.certificate.is_proved
    assert plan.binding.breaks.any()
    for row in plan.binding[plan.binding.breaks].itertuples():
        levels = {**plan.best.levels, row.column: row.level}
        columns = [c for c in people.columns if c not in {*plan.best.dropped} - {row.column}]
        finer = people.generalise({"age": levels["age"]}, hierarchies=ladders)
        sizes = finer.take(~plan._found.left_out).class_sizes(columns)
        assert int((sizes < 5).sum()) == row.people
    with pytest.raises(rb.errors.DataError, match="give it more"):
        rb.recommend(people, target="k=5", seconds=0)


def test_the_page_tells_outwards_what_was_done_and_the_custodian_everything(tmp_path, shell):
    frame = rb.datasets.synthetic_patients(1_000, seed=1)
    people = rb.read_table(frame, quasi_identifiers=["age", "sex", "race"])
    plan = rb.recommend(people, target="k=5", hierarchies={"age": "bands:5,10,20"},
                        suppress_at_most=0.03)  # fmt: skip
    assert 10 < plan.best.suppressed < 100
    texts = {}
    for custodian in (False, True):
        for kind in ("html", "md", "json"):
            path = plan.report(tmp_path / f"{custodian}.{kind}", custodian=custodian)
            texts[custodian, kind] = path.read_text()
            assert shell("verify", path)[0] == 0
    told, own = json.loads(texts[False, "json"]), json.loads(texts[True, "json"])
    assert told["suppressed"] == plan.best.suppressed // 10 * 10
    assert own["suppressed"] == plan.best.suppressed
    assert {"before", "after", "certificate"}.isdisjoint(told)
    assert "What one level finer would break" in texts[True, "md"]
    for kind in ("html", "md", "json"):
        for custodian in (False, True):
            text = texts[custodian, kind]
            assert ("does not promise anything against them" in text) != custodian
    assert "finer" not in texts[False, "md"]
    assert f"{plan.best.suppressed:,} of" not in texts[False, "html"]
    assert "age | level" in texts[False, "md"]
    plan.plot(tmp_path / "front.png")
    assert (tmp_path / "front.png").stat().st_mode & 0o077 == 0
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ["recommend", tmp_path / "t.csv", "--qi", "age,sex", "--target", "k=5"]
    assert shell(*asked, "--html", tmp_path / "p.html")[0] == 0
    assert shell("verify", tmp_path / "p.html", tmp_path / "t.csv")[0] == 0
    code, said = shell(*asked, "--plot", tmp_path / "p.png")
    assert code != 0
    assert "add --custodian" in said


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_a_sample_is_told_from_both_sides_and_its_release_keeps_the_target(share):
    """Per released person the risk rises, per person of the table it falls: counted by hand."""
    frame = rb.datasets.synthetic_patients(400, seed=2)[["age", "sex", "race"]]
    people = rb.read_table(frame, quasi_identifiers=list(frame))
    call = {"known": dict.fromkeys(frame, 1.0), "population": 10**6, "population_model": "pitman"}
    plan = rb.recommend(people, "adversary-routes", target={"marketer": "mean <= 0.2"},
                        sample=share, seed=3, suppress_at_most=0.05,
                        hierarchies={"age": "bands:5,10,20"},
                        **call)  # fmt: skip
    told = plan.sampled.set_index("measure").loc["marketer"]
    drawn = frame.iloc[plan.people.rows_read]
    assert len(drawn) == round(400 * share) == len(set(drawn.index))
    out = plan.apply()
    sizes = out.class_sizes()
    assert told.per_released == pytest.approx((1 / sizes).mean())
    assert (1 / sizes).mean() <= 0.2
    assert told.per_original == pytest.approx((1 / sizes).sum() / 400)
    assert told.all_released == pytest.approx(len(frame.drop_duplicates()) / 400)
    fine = rb.recommend(people, "adversary-routes", target={"marketer": 0.999999}, sample=share,
                        seed=3, suppress_at_most=0.99, keep=list(frame), **call)  # fmt: skip
    assert fine.is_sample
    whole = rb.recommend(people, "adversary-routes", target={"marketer": "mean <= 0.9"}, **call)
    assert not whole.is_sample
    assert whole.sampled.set_index("measure").loc["marketer"].per_original == pytest.approx(
        told.all_released
    )
    again = people.take(plan.people.rows_read).class_sizes()
    assert (1 / again).mean() > told.all_released > (1 / again).sum() / 400


def test_who_was_drawn_into_a_sample_is_told_by_no_seed_that_leaves(shell, tmp_path):
    data = rb.datasets.synthetic_patients(400, seed=2)[["age", "sex"]]
    people = rb.read_table(data, quasi_identifiers=["age", "sex"])
    drawn = [rb.recommend(people, target="k=3", sample=0.5).people.rows_read for _ in range(2)]
    assert (drawn[0] != drawn[1]).any()
    data.to_csv(table := tmp_path / "t.csv", index=False)
    asked = ("recommend", table, "--qi", "age,sex", "--target", "k=3", "--sample", "50%",
             "--seed", "7", "--html", page := tmp_path / "p.html")  # fmt: skip
    assert shell(*asked)[0] == 0
    assert '"-\\u002dseed", "{in the house}"]' in page.read_text()
    code, said = shell("verify", page, table)
    assert code == 2
    assert "does not say by which seed" in said
    assert shell(*asked, "--custodian")[0] == 0
    assert shell("verify", page, table)[0] == 0


def test_a_sample_is_refused_where_people_stand_for_others():
    frame = rb.datasets.synthetic_patients(100, seed=2)[["age", "sex"]].assign(w=2.0)
    weighed = rb.read_table(frame, quasi_identifiers=["age", "sex"], weights="w")
    left = rb.read_table(frame, quasi_identifiers=["age", "sex"]).suppress(2)
    for people in (weighed, left):
        with pytest.raises(rb.errors.UsageError, match="sample= is for a table as it was read"):
            rb.recommend(people, target="k=2", sample=0.5)
    with pytest.raises(rb.errors.UsageError, match="is nobody"):
        rb.recommend(rb.read_table(frame, quasi_identifiers=["age"]), target="k=2", sample=0.001)


def test_a_function_of_the_people_is_a_loss_of_its_own_scale(tmp_path):
    """Every way is tried, by hand too; outwards nothing of what it gives is told."""
    frame = pd.DataFrame({"age": [20, 21, 33, 34, 35, 47, 48, 20], "sex": [0, 1, 0, 1, 0, 1, 0, 1]})
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])

    def apart(released):
        return 1234.5 - 100 * float(len(np.unique(released.table, axis=0)))

    plan = rb.recommend(people, target="k=2", hierarchies={"age": "bands:10,40"}, loss=apart)
    values = []
    for age, sex in itertools.product(range(4), range(2)):
        ladders = {o.name: o.ladder for o in plan._table.options}
        coarse = people.generalise({"age": age, "sex": sex}, hierarchies=ladders)
        values += [apart(coarse)] if coarse.k() >= 2 else []
    assert plan.best.loss == min(values)
    assert plan.certificate.is_proved
    for ending in ("md", "json"):
        text = plan.report(tmp_path / f"p.{ending}").read_text()
        assert f"{plan.best.loss:.0f}" not in text
        assert f"{100 * plan.best.loss:.0f}" not in text
    by_class = rb.recommend(people, target="k=2", hierarchies={"age": "bands:10,40"},
                            loss="average-class")  # fmt: skip
    told = json.loads(by_class.report(tmp_path / "c.json").read_text())
    assert told["loss"] == {
        "name": "average-class",
        "measured_by": "average-class",
        "percent": None,
        "at_least": None,
        "at_most": None,
    }
    assert "it loses" in plan.report(tmp_path / "own.md", custodian=True).read_text()
    for wrong, told in ((lambda p: "much", "gives a number"), (lambda p: float("nan"), "finite"),
                        (lambda p: p.agee, "ended in a AttributeError"),
                        (lambda p: 10**400, "a loss is finite")):  # fmt: skip
        with pytest.raises(rb.errors.UsageError, match=told):
            rb.recommend(people, target="k=2", loss=wrong)
    with pytest.raises(rb.errors.UsageError, match="has no columns"):
        rb.recommend(people, target="k=2", loss="discernibility", importance={"age": 2})
    with pytest.raises(rb.errors.UsageError, match="did you mean"):
        rb.recommend(people, target="k=2", loss=rb.plans.Margins("agee"))
    for odd in (None, 1.5, {"age"}):
        with pytest.raises(rb.errors.UsageError, match="name the columns of each table"):
            rb.plans.Margins(odd)


def test_a_refusal_of_several_targets_names_them_all_and_what_each_is_at_the_highest_levels():
    """It named the first one alone, which ways do keep."""
    people = rb.read_table({"a": [1, 1, 1, 2, 2, 2], "s": list("xxxxxy")},
                           quasi_identifiers="a", sensitive="s")  # fmt: skip
    few = {"s": "best guess <= 40%"}
    with pytest.raises(rb.errors.DataError) as refused:
        rb.recommend(people, target=["k=3", few])
    said = str(refused.value)
    assert "no way to release keeps 3 or more alike and " in said
    assert "together: at the highest levels" in said
    assert "fewest alike is" not in said  # six are: that one is kept
    assert "is 0.833" in said
    with pytest.raises(rb.errors.DataError, match="keeps 7 or more alike: the table has 6 people"):
        rb.recommend(people, target=["k=7", few])
