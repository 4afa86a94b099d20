"""The error of a regression as a loss: every way against normal equations written out by hand."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

UP = {"A": "ab", "B": "ab", "C": "cde", "D": "cde", "E": "cde"}
TREE = {"ab": ["A", "B"], "cde": ["C", "D", "E"]}
AGES = (1, 5, 10, 20)


def drawn(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 90))
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n).astype(float),
            "sex": rng.choice(["f", "m"], n),
            "reg": rng.choice(list("ABCDE"), n),
        }
    )
    income = 200 * frame.age + 3_000 * (frame.sex == "m") + rng.normal(0, 3_000, n).round()
    frame["income"], frame["high"] = income, np.where(income > income.median(), ">50K", "<=50K")
    if seed % 2:
        frame.loc[rng.random(n) < 0.1, "age"] = np.nan
        frame.loc[rng.random(n) < 0.1, "reg"] = None
    return frame


def columns(frame, node):
    """Each released column as numbers, by hand."""
    age, sex, reg = node
    gone = frame.age.isna().to_numpy()
    width = AGES[age] if age < len(AGES) else None
    middle = 0 if width is None else frame.age // width * width + (width - 1) / 2
    number = np.where(gone | (width is None), 0.0, middle)
    names = frame.reg.fillna("none").to_numpy()
    names = [UP.get(v, v) for v in names] if reg == 1 else names if reg == 0 else ["*"] * len(frame)
    return {
        "age": np.stack([number, gone & (width is not None)], axis=1).astype(float),
        "sex": np.array([[s == v for v in "fm"] for s in frame.sex]) * (sex == 0) + 0.0,
        "reg": np.array([[s == v for v in sorted(set(names))] for s in names]) + 0.0,
    }


def says(frame, y, names, node, kept):
    shown = columns(frame, node)
    x = np.hstack([np.ones((len(frame), 1)), *(shown[c] for c in names)])
    told = np.full(len(frame), y[kept].mean())
    told[kept] = x[kept] @ np.linalg.pinv(x[kept]) @ y[kept]
    return told


def lost(frame, outcome, names, node, kept):
    y = (frame.high == ">50K").to_numpy(float) if outcome == "high" else frame[outcome].to_numpy()
    then = columns(frame, node)["age"][:, 0] if outcome == "age" else y
    if outcome == "age" and node[0] == len(AGES):
        return 1.0
    whole = says(frame, y, names, (0, 0, 0), np.ones(len(frame), dtype=bool))
    off = says(frame, then, names, node, kept) - whole
    return min((off**2).sum() / ((y - y.mean()) ** 2).sum(), 1.0)


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 5)) for s in range(60)]
)
def test_a_regression_is_off_as_it_is_by_hand_and_the_plan_is_the_best_of_all_ways(seed):
    frame, k, share = drawn(seed), 2 + seed % 3, (0, 0.1)[seed // 2 % 2]
    outcome = ("income", "high", "income" if seed % 2 else "age")[seed % 3]
    names = [c for c in ("age", "sex", "reg") if c != outcome][: 2 + seed % 2]
    people = rb.read_table(frame, quasi_identifiers=["age", "sex", "reg"],
                           sensitive=["income", "high"])  # fmt: skip
    plan = rb.recommend(people, target=f"k={k}", suppress_at_most=share,
                        hierarchies={"age": "bands:5,10,20", "reg": TREE},
                        loss=rb.plans.Regression(f"{outcome} ~ {' + '.join(names)}"))  # fmt: skip
    best = np.inf
    for node in product(range(5), range(2), range(3)):
        cells = np.hstack([*columns(frame, node).values()])
        _, of, sizes = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        kept = sizes[of.ravel()] >= k
        if kept.any() and (~kept).sum() <= int(share * len(frame) + 1e-9):
            best = min(best, lost(frame, outcome, names, node, kept))
    assert plan.certificate.is_proved
    assert plan.best.loss == pytest.approx(best, abs=1e-9)
    for one in plan.kept:
        mine = lost(frame, outcome, names, one.node, ~one.left_out)
        assert one.loss == pytest.approx(mine, abs=1e-9)
    if not share:  # known by the levels of the columns that it names, before one way is counted
        bounds = plan._table.ways.losses()
        for one in plan.kept:
            assert bounds[plan._table.ways.number(one.node)] == pytest.approx(one.loss, abs=1e-9)


def test_columns_of_other_kinds_and_bands_that_are_open():
    frame = pd.DataFrame({"age": [20, 25, 70, 75, 90, 95], "yes": [True, True, False] * 2,
                          "cost": [1.0, 2.0, 5.0, 6.0, 9.0, 8.0]})  # fmt: skip
    people = rb.read_table(frame, quasi_identifiers=["age", "yes"], sensitive="cost")
    plan = rb.recommend(people, target="k=2", hierarchies={"age": rb.Bands(10, top=70)},
                        loss=rb.plans.Regression("cost ~ age"), drop="yes")  # fmt: skip
    assert plan.best.levels == {"age": 1, "yes": 1}
    whole = np.polynomial.Polynomial.fit(frame.age, frame.cost, 1)(frame.age)
    ages = np.array([24.5, 24.5, 70, 70, 70, 70])  # 20-29 by its middle, 70+ by the end it has
    then = np.polynomial.Polynomial.fit(ages, frame.cost, 1)(ages)
    off = ((then - whole) ** 2).sum() / ((frame.cost - frame.cost.mean()) ** 2).sum()
    assert plan.best.loss == pytest.approx(off, abs=1e-12)
    told = rb.recommend(people, target="k=2", keep="yes", loss=rb.plans.Regression("yes ~ age"),
                        hierarchies={"age": rb.Bands(50)})  # fmt: skip
    assert told.loss == "error of the regression yes ~ age"
    assert 0 < told.best.loss <= 1


@pytest.mark.parametrize(
    ("formula", "word"),
    [("cost", "name the outcome"), ("cost ~ ", "name the outcome"), ("a ~ b ~ c", "name the out"),
     (3, "name the outcome"), ("cost ~ age + age", "named twice"), ("cost ~ cost", "named twice"),
     ("cost ~ agee", 'did you mean "age"'), ("cost ~ age*yes", '"age*yes" is none of the columns'),
     ("same ~ age", "everybody has the same"), ("town ~ age", "neither numbers, nor bands"),
     ("hole ~ age", "missing for some people")],
)  # fmt: skip
def test_a_regression_that_cannot_be_made_is_refused_with_what_can(formula, word):
    table = {"age": [1, 2, 3, 4], "yes": ["n", "y", "n", "y"], "cost": [1, 2, 3, 5],
             "same": [1] * 4, "town": ["a", "b", "c", "c"], "hole": [1, None, 2, 3]}  # fmt: skip
    people = rb.read_table(table, quasi_identifiers=["age", "yes"],
                           sensitive=["cost", "same", "town", "hole"])  # fmt: skip
    with pytest.raises(rb.errors.ReidbnError) as problem:
        rb.recommend(people, target="k=2", loss=rb.plans.Regression(formula))
    assert word in str(problem.value)


def test_a_regression_in_the_shell_is_the_one_in_python(tmp_path, shell):
    drawn(0).to_csv(tmp_path / "t.csv", index=False)
    call = ["recommend", tmp_path / "t.csv", "--qi", "age,sex,reg", "--sensitive", "income",
            "--target", "k=3", "--hierarchy", "age=bands:10", "--json", "--loss"]  # fmt: skip
    code, printed = shell(*call, "income ~ age + sex")
    assert code == 0
    done = json.JSONDecoder().raw_decode(printed[printed.index("{") :])[0]
    people = rb.read_table(drawn(0), quasi_identifiers=["age", "sex", "reg"], sensitive="income")
    plan = rb.recommend(people, target="k=3", hierarchies={"age": "bands:10"},
                        loss=rb.plans.Regression("income ~ age + sex"))  # fmt: skip
    assert done["loss"]["value"] == pytest.approx(plan.best.loss)
    assert done["levels"] == plan.best.levels
    for wrong, word in (("entropie", 'did you mean "entropy"'), ("income ~ agee", '"age"')):
        code, printed = shell(*call, wrong)
        assert code
        assert word in printed
