"""Calls that ended in an error of Python's, found by damaging arguments by the thousand."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import reidbn as rb
from reidbn import records

PEOPLE = {"age": [30, 41, 52], "sex": ["f", "m", "f"]}


def people(**more):
    return rb.read_table(PEOPLE, quasi_identifiers=["age", "sex"], **more)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: records.Near(wrong=1), 'Near takes no "wrong"'),
        (lambda: rb.leak.homogeneity(records=9, leaked=[1, 2], class_size=[1, 2, 3], alike=1),
         "arrays of different lengths"),
        (lambda: rb.register(Path("a\0b.csv")), "called so"),
        (lambda: rb.read_table({"age": {1, 2}}, quasi_identifiers=["age"]), "in order"),
        (lambda: rb.knowledge(people(), {"age": 10**400}), "not a number"),
        (lambda: rb.candidates(people(), people(), match={"age": int}), "function fails"),
        (lambda: rb.disclosure(people(), "sex", tolerance={"age": np.ones(2)}), "tolerance"),
        (lambda: rb.attack.Expert("e", 5), "Expert: quantiles is an int"),
        (lambda: rb.attack.Measured(5), "Measured: studies is an int"),
        (lambda: rb.attack.Elicited(5), "Elicited: experts is an int"),
        (lambda: rb.Attack("a", nodes=np.array(0.2)), "nodes is a ndarray; it takes a list"),
        (lambda: rb.load("marketer").with_node("risk"), "nodes is a tuple with a str in it"),
        (lambda: rb.load("marketer").save("half \ud800.yaml"), "half a character"),
        (lambda: rb.attack.Node.from_function(5), "an int is no function"),
        (lambda: rb.microdata.Ladder(5.0), "Ladder: rungs is a float"),
        (lambda: rb.microdata.Ladder({"a": 5}), "the levels of a value is an int"),
        (lambda: rb.microdata.Dates(order=np.array([1, 2])), "Dates: order is"),
    ],
)  # fmt: skip
def test_it_ends_in_an_error_of_the_house(call, said):
    with pytest.raises(rb.ReidbnError, match=said):
        call()


def test_a_message_about_many_chances_names_none_of_them():
    known = {"age": np.array([0.5, 0.5, 1.71875])}
    with pytest.raises(rb.ReidbnError) as found:
        rb.assess("adversary-routes", people(), known=known, population=100)
    assert "1.7" not in str(found.value)


def test_what_a_killed_run_spilled_is_removed_by_the_next(tmp_path):
    pytest.importorskip("duckdb")
    line = ("import sys, time\nfrom pathlib import Path\n"
            "from reidbn.release import held_folder\n"
            "with held_folder(Path(sys.argv[1]), 'reidbn-spill-') as folder:\n"
            "    (folder / 'people').write_text('x'); print(1, flush=True)\n"
            "    time.sleep(60)\n")  # fmt: skip
    run = subprocess.Popen([sys.executable, "-c", line, str(tmp_path)], stdout=subprocess.PIPE)
    run.stdout.readline()
    file = tmp_path / "t.csv"
    file.write_text("age,sex\n30,f\n41,m\n")

    def spilled():
        rb.contingency(file, columns=["age"], temp_directory=tmp_path)
        return [p.name for p in tmp_path.iterdir() if p.name.startswith("reidbn-spill-")]

    assert len(spilled()) == 1  # it runs
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    time.sleep(0.05)
    assert spilled() == []
