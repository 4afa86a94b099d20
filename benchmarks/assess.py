"""Assessments at the sizes that custodians have: seconds, memory, and the pgmpy loop beside them.

    python -m benchmarks.assess

Synthetic patients.  CPU seconds of one process; the pgmpy loop is timed on 200 cells (subject x
setting, tables overwritten) and extrapolated.
"""

import itertools
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import reidbn as rb
from reidbn.attack import Known, Knows, Scenario
from reidbn.inference import lower, pgmpy_bridge

TWELVE = ["age", "sex", "state", "race", "ethnicity", "education", "marital", "work", "income",
          "tenure", "birth_country", "diagnosis"]  # fmt: skip
NOT_ON_A_LIST = [c for c in TWELVE if c not in ("age", "sex", "state", "race", "ethnicity")]
GRID = {name: [0.2, 0.5, 0.8] for name in ("p_m", "p_fm", "p_cu", "p_c")}
CHANGING = ("knows_membership", "prosecutor", "journalist", "claims")


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def voter_table():
    """40,000 people, CSV to one row per person and 81 settings; worst case and voter list."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "patients.csv"
        rb.datasets.synthetic_patients(40_000, seed=1).to_csv(path, index=False)
        start = time.process_time()
        people = rb.read_table(path, quasi_identifiers=TWELVE[:11], sensitive=["diagnosis"])
        cells = 0
        for scenario in ("worst-case", "voter-registration"):
            unknown = NOT_ON_A_LIST[:-1] if scenario == "voter-registration" else ()
            result = rb.assess("adversary-routes", people, scenario=scenario,
                               population=6_900_000, unknown=unknown)  # fmt: skip
            changes = np.array(list(itertools.product(*GRID.values()))).T
            case = result.whatif_case()
            cells += case.each(case.answers(dict(zip(GRID, changes, strict=True)))).size
        seconds = time.process_time() - start
    return people, result, seconds, cells


def pgmpy_cells(result, cells=200):
    """The same cells by overwriting four tables of a pgmpy model and eliminating again."""
    elimination = pgmpy_bridge.pgmpy().VariableElimination
    settings = dict(zip(GRID, np.array(list(itertools.product(*GRID.values()))).T, strict=True))
    start = time.process_time()
    done = 0
    i = -1
    while True:
        i += 1
        one = {
            n: v[i : i + 1] if len(v) > 1 else v for n, v in result.subject_table.columns.items()
        }
        network = lower(result.attack, settings, one)
        model = pgmpy_bridge.network_to_pgmpy(network)
        for t in range(81):
            for node in CHANGING:
                model.get_cpds(node).values[...] = np.moveaxis(
                    network.factors[node].table[0, t], -1, 0
                )
            elimination(model).query(["reidentified"], show_progress=False)
            done += 1
            if done == cells:
                return (time.process_time() - start) / cells


def twelve_groups():
    """40,000 people, twelve independent groups: 4,096 subsets each."""
    frame = rb.datasets.synthetic_patients(40_000, seed=2)
    people = rb.read_table(frame, quasi_identifiers=TWELVE)
    known = tuple(Known(c, (c,), (0.5,), source="assumption") for c in TWELVE)
    start = time.process_time()
    result = rb.assess("adversary-routes", people, population=6_900_000,
                       scenario=Scenario("half", knows=Knows(known)))  # fmt: skip
    return time.process_time() - start, float(result.risk().mean())


def paper_size():
    """1,583,020 people x 12 attributes, voter list."""
    frame = rb.datasets.synthetic_patients(1_583_020, seed=3)
    start = time.process_time()
    people = rb.read_table(frame, quasi_identifiers=TWELVE)
    del frame
    rb.assess("adversary-routes", people, scenario="voter-registration", population=100_000_000,
              unknown=NOT_ON_A_LIST)  # fmt: skip
    return time.process_time() - start, len(people)


def structured(people, groups, population, *, weighted=False):
    """The structured model of the population, every group known with chance one half.

    Survey weights, where there are any, go by age and by chance.
    """
    names = TWELVE[:groups]
    frame = rb.datasets.synthetic_patients(people, seed=2)
    if weighted:
        rng = np.random.default_rng(5)
        age = frame["age"].astype("category").cat.codes.to_numpy()
        each = np.exp(rng.normal(0, 0.4, age.max() + 1))[age] * rng.gamma(4, 0.25, people)
        frame["weight"] = 1 + each / each.mean() * (population / people - 1)
    asked = {"weights": "weight"} if weighted else {}
    table = rb.read_table(frame, quasi_identifiers=names, **asked)
    known = tuple(Known(c, (c,), (0.5,), source="assumption") for c in names)
    start = time.process_time()
    result = rb.assess("adversary-routes", table, population=population,
                       scenario=Scenario("half", knows=Knows(known)),
                       population_model="structured")  # fmt: skip
    return time.process_time() - start, float(result.risk().mean())


PARTS = {
    "twelve": twelve_groups,
    "structured-twelve": lambda: structured(30_000, 12, 6_900_000),
    "structured-million": lambda: structured(1_000_000, 8, 100_000_000),
    "weighted-twelve": lambda: structured(30_000, 12, 6_900_000, weighted=True),
    "weighted-million": lambda: structured(1_000_000, 8, 100_000_000, weighted=True),
    "paper": paper_size,
}


def main():
    if len(sys.argv) > 1:
        seconds, figure = PARTS[sys.argv[1]]()
        print(f"{seconds:.3f} {figure} {peak():.0f}")
        return
    print("| work | CPU s | peak memory, MB | bar |\n|---|---|---|---|")
    _, result, seconds, cells = voter_table()
    print(f"| 40,000 people from CSV, worst case and voter list, {cells:,} cells | {seconds:.2f} | "
          f"{peak():,.0f} | 10 s |", flush=True)  # fmt: skip
    each = pgmpy_cells(result)
    print(f"| the same cells by a pgmpy loop, extrapolated | {each * cells:,.0f} | | "
          f"{each * cells / seconds:,.0f} x slower |", flush=True)  # fmt: skip
    for part, text, bar in (
        ("twelve", "40,000 people, 12 independent groups, every measure", "60 s, 2 GB"),
        (
            "structured-twelve",
            "30,000 people, 12 independent groups, structured population model",
            "20 s",
        ),
        ("structured-million", "1,000,000 people, 8 independent groups, structured", "30 s"),
        ("weighted-twelve", "30,000 people, 12 independent groups, survey weights", "20 s"),
        ("weighted-million", "1,000,000 people, 8 independent groups, survey weights", "30 s"),
        ("paper", "1,583,020 people x 12 attributes, voter list, from a data frame", "300 s, 6 GB"),
    ):
        out = subprocess.run([sys.executable, "-m", "benchmarks.assess", part],
                             capture_output=True, text=True, check=True).stdout.split()  # fmt: skip
        print(f"| {text} | {float(out[0]):.1f} | {float(out[2]):,.0f} | {bar} |", flush=True)


if __name__ == "__main__":
    main()
