"""Where an answer never crosses a threshold, that is said, with how near it comes."""

import json
from itertools import product

import numpy as np
import pytest

import reidbn as rb
from tests.test_worst_of_tied import SWEPT, run

MODEL = "leak-single"


def swept(capsys, *over, limit, model=MODEL, question="risk"):
    words = ["sweep", str(model), question, *(w for o in over for w in ("--over", o)),
             "--threshold", str(limit)]  # fmt: skip
    code, out, _ = run(*words, capsys=capsys)
    assert code == 0
    _, as_json, _ = run(*words, "--json", capsys=capsys)
    return out.strip().splitlines()[-1], json.loads(as_json)["threshold"]


def test_a_sweep_says_on_which_side_it_stays_and_how_near_it_comes(capsys):
    answers = [float(rb.ask(MODEL, "risk", set={"leaked": x})) for x in (100, 2050, 4000)]
    words, said = swept(capsys, "leaked=100,2050,4000", limit=0.9)
    assert said["above"] == 0
    assert said["between"] == []
    assert said["highest"] == pytest.approx(max(answers), abs=1e-15)
    assert said["highest_at"] == {"leaked": 4000}
    assert words.startswith(f"The answer is nowhere above 0.9: the highest is {max(answers):.6g}")
    words, said = swept(capsys, "leaked=100,2050,4000", limit=0.0001)
    assert said["above"] == 3
    assert said["lowest"] == pytest.approx(min(answers), abs=1e-15)
    assert f"at all 3 settings: the lowest is {min(answers):.6g} at leaked = 100" in words


def test_a_sweep_counts_and_finds_its_crossings_as_they_are_one_by_one(capsys):
    rng = np.random.default_rng(4)
    crossings = 0
    for _ in range(6):
        values = np.unique(rng.integers(0, 10_001, 8)).tolist()
        sizes = [1, 3]
        limit = float(np.round(rng.uniform(0.02, 0.15), 3))
        p = {(a, b): float(rb.ask(MODEL, "risk", set={"leaked": a, "class_size": b}))
             for a, b in product(values, sizes)}  # fmt: skip
        text = ",".join(map(str, values))
        words, said = swept(capsys, f"leaked={text}", "class_size=1,3", limit=limit)
        assert said["above"] == sum(x > limit for x in p.values())
        assert f"{said['above']} of {len(p)}" in words or said["above"] in (0, len(p))
        one = [float(rb.ask(MODEL, "risk", set={"leaked": a})) > limit for a in values]
        shuffled = ",".join(map(str, rng.permutation(values)))
        words, said = swept(capsys, f"leaked={shuffled}", limit=limit)
        pairs = zip(values, values[1:], one, one[1:], strict=False)
        wanted = [[a, b] for a, b, here, there in pairs if here != there]
        assert said["between"] == wanted
        crossings += len(wanted)
        assert all(f"{a:,} and {b:,}" in words for a, b in wanted)
    assert crossings > 2


def test_a_sweep_of_ties_is_held_against_the_highest_of_them(tmp_path, capsys):
    model = tmp_path / "swept.yaml"
    model.write_text(SWEPT)
    _, said = swept(capsys, "fee=4,5", limit=0.2, model=model)
    assert (said["of"], said["above"], said["highest"]) == ("worst_tied", 1, 0.25)


def test_a_mean_and_what_has_no_answer(tmp_path, capsys):
    words, said = swept(
        capsys, "coverage=0.01,0.1", limit=99, model="family-search", question="how_many"
    )
    assert said["above"] == 0, words
    empty = ["sweep", "insider-decides", "caught_if_tried", "--over", "fine=0,900", "--impossible",
             "null", "--threshold", "0.5"]  # fmt: skip
    code, out, _ = run(*empty, capsys=capsys)
    assert code == 0
    assert "nowhere above 0.5" in out


def bars(limit, **asked):
    found = rb.tornado(MODEL, "risk", threshold=limit, **asked)
    return found, found.sentences()


def test_a_tornado_says_that_no_bar_reaches_it():
    found, (said,) = bars(0.99)
    most = max(bar.highest for bar in found)
    assert most < 0.99
    assert f"stays at or below it, the highest is {most:.6g} at class_size = 1" in said
    assert said in str(found)
    found, (said,) = bars(0.0001, over={"leaked": (1000, 4000), "class_size": (1, 20)})
    assert min(bar.lowest for bar in found) > 0.0001
    assert f"stays above it, the lowest is {min(b.lowest for b in found):.6g} at" in said
    assert not any("no single change" in s for s in bars(0.09)[1])
    assert rb.tornado(MODEL, "risk").sentences() == []
