"""The hostile suite counts what it should; `make hostile` is the long run."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cases
import faults
import fuzz
import numpy as np
import pytest


def spin(*_):
    while True:
        pass


def unequal(*_):
    cases.same(1, 2, "a sum")


def odd(*_):
    return np.float64(1) / np.float64(0)


@pytest.mark.parametrize(
    ("family", "found"), [(spin, "hang"), (unequal, "wrong"), (odd, "traceback")]
)
def test_what_is_planted_is_counted(family, found, monkeypatch, tmp_path):
    monkeypatch.setitem(fuzz.FAMILIES, "planted", (1, family))
    monkeypatch.setattr(fuzz, "LIMIT", 0.2)
    assert fuzz.outcome("planted", "1", tmp_path)[0] == found


@pytest.mark.parametrize(
    "family",
    ["networks", "tables", "texts", "models", pytest.param("plans", marks=pytest.mark.wide)],
)
def test_a_few_damaged_inputs_end_well(family, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = {fuzz.outcome(family, f"few-{k}", tmp_path)[0] for k in range(12)}
    assert found <= {"ok", "refused", "skipped"}


@pytest.mark.slow
def test_thousands_of_hostile_cases_end_well():
    said = []
    counts, _ = fuzz.run(3_000, "suite", said.append)
    assert said == []
    assert sum(n for (_, found), n in counts.items() if found == "ok") > 200


@pytest.mark.slow
@pytest.mark.skipif(faults.shim() is None, reason="no compiler here: no write can be failed")
def test_every_call_of_a_write_is_failed_and_the_old_file_or_a_new_one_is_left(tmp_path):
    assert "failures of" in faults.every_call(tmp_path, ["a.json", "m.yaml", "r.parquet", "kept"])


def in_a_process(place, answers):
    answers.put(cases.kept_assessment(place))


@pytest.mark.slow
def test_two_processes_share_a_checkpoint_folder(tmp_path):
    right = cases.kept_assessment(tmp_path / "alone")
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    both = [context.Process(target=in_a_process, args=(tmp_path / "shared", answers))
            for _ in range(2)]  # fmt: skip
    for process in both:
        process.start()
    found = [answers.get(timeout=120) for _ in both]
    for process in both:
        process.join()
    assert all(np.array_equal(one, right) for one in found)
    assert {p.suffix for p in (tmp_path / "shared").iterdir()} == {".npy"}


@pytest.mark.slow
def test_a_run_that_is_killed_is_taken_up_where_it_was(tmp_path):
    """Killed at ten moments of its run; what it left is taken up, and nothing is left beside."""
    right = cases.kept_assessment(tmp_path / "alone")
    line = "import cases; cases.few(); print(1, flush=True); cases.kept_assessment({})"
    for moment in range(10):
        place = tmp_path / f"killed{moment}"
        run = subprocess.Popen(
            [sys.executable, "-c", line.format(repr(str(place)))], stdout=subprocess.PIPE,
            cwd=Path(__file__).parent,
        )  # fmt: skip
        run.stdout.readline()
        time.sleep(0.03 * moment)
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
        assert np.array_equal(cases.kept_assessment(place), right)
        assert {p.suffix for p in place.iterdir()} == {".npy"}
