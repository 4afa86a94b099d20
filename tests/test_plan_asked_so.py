"""What a plan is asked for means what its writer meant by it, or is refused with what would."""

from __future__ import annotations

import numpy as np
import pytest

import reidbn as rb


def people(name="d", n=12):
    return rb.read_table({"age": [30, 40] * (n // 2), name: list("abc") * (n // 3)},
                         quasi_identifiers="age", sensitive=name)  # fmt: skip


@pytest.mark.parametrize("low", ["q0.95", "q.5", "q0.999", "q95%", "q49", "q0", "q100"])
def test_a_quantile_of_fewer_than_half_of_people_is_no_limit(low):
    """q0.95 was taken as .95 %: nearly everybody could be above a limit that was "proved"."""
    with pytest.raises(rb.errors.UsageError, match="Write q50 to") as said:
        rb.recommend(people(), "adversary-routes", population=500, known={"age": 0.5},
                     target=f"overall: {low} <= 0.09")  # fmt: skip
    meant = {"q0.95": "q95", "q.5": "q50", "q0.999": "q99.9", "q95%": "q95"}.get(low)
    assert ("did you mean" in str(said.value)) == bool(meant)
    assert meant is None or f"did you mean {meant}?" in str(said.value)


def test_a_quantile_is_told_in_per_cent_in_a_statistic_too():
    found = rb.assess("adversary-routes", people(), known={"age": 0.5}, population=500)
    with pytest.raises(rb.errors.UsageError, match='did you mean "q95"'):
        rb.solve(found, "p_c", target=0.09, statistic="q0.95")
    one = rb.solve(found, "p_c", target=0.09, statistic="q95")
    assert one is not None


NAMES = [
    "HIV-status",
    "primary diagnosis",
    "État",
    "k",
    "2nd test",
    "a=b",
    "a: b",
    "Diagnose (ICD)",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "limit", ["best guess <= 50%", "PPP >= 20%", "mean PPP >= 0.2", "best guess ≤ .5"]
)
def test_a_secret_may_be_called_anything(name, limit):
    table = people(name)
    said, named = (rb.recommend(table, target=t) for t in (f"{name}: {limit}", {name: limit}))
    assert said.targets == named.targets
    assert said.targets[0].measure == name
    (found,) = said.best.after.values()
    assert found == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", NAMES)
def test_the_shell_limits_a_secret_that_is_called_so(name, shell, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        f'age,"{name}"\n' + "".join(f"{30 + i % 2},{'abc'[i % 3]}\n" for i in range(12))
    )
    args = ["recommend", str(path), "--qi", "age", "--sensitive", name]
    code, said = shell(*args, "--target", f"{name}: PPP >= 20%")
    assert code == 0, said
    assert f"largest share of one {name} among people alike at most 0.8: 0.3333 now" in said


def test_k_and_limits_on_measures_are_read_as_they_were():
    targets = rb.recommend(
        people(), "adversary-routes", population=500, known={"age": 0.5}, suppress_at_most=0.9,
        target=["k=2", " k >= 3 ", "overall: mean <= 0.9", "overall=q95 <= 0.9",
                {"overall": "0.95"}, "overall : above 0.5 <= 50%"],
    ).targets  # fmt: skip
    assert [t.k for t in targets] == [2, 3, 0, 0, 0, 0]
    assert [(t.what, t.limit, t.at) for t in targets[2:]] == [
        ("mean", 0.9, 0.0), ("quantile", 0.9, 0.95), ("highest", 0.95, 0.0), ("above", 0.5, 0.5)
    ]  # fmt: skip
    assert np.isclose(targets[0].limit, 1 / 2)
    for wrong in ("k: 5", "k: highest <= 0.2", {"k": 5}):
        with pytest.raises(rb.errors.UsageError, match='as text, a whole number, "k=5"'):
            rb.recommend(people(), target=wrong)
