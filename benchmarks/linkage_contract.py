"""Every line that the linkage of sparse records and the family cascade promise, run as written.

    nice python -m benchmarks.linkage_contract    writes benchmarks/results/linkage_contract.md

One line after the other in one process, on 2,692 made-up records of 629 features and 200 made-up
families; a line that raises, or says something else than is asserted here, ends the run.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import reidbn as rb

RESULT = Path(__file__).parent / "results" / "linkage_contract.md"
PEOPLE, FAMILIES, ATTEMPTS, BUDGET = 2_692, 200, 20_000, 3_000_000
HEAD = """# What is promised of sparse records and families, line by line

    nice python -m benchmarks.linkage_contract    writes benchmarks/results/linkage_contract.md

{people:,} made-up records of 629 features, {families} made-up families; CPU seconds of one core on a machine
that is shared, numba {numba}.  Each line stands on those before it; {memory:.1f} GB at the most.

| line | CPU s | what it says |
|---|---:|---|
"""


class Lines:
    """What was run, how long it took, and what it said."""

    def __init__(self) -> None:
        self.rows: list[str] = []

    def run(self, line: str, ask: Callable[[], Any], say: Callable[[Any], str] = str) -> Any:
        start = _cpu()
        found = ask()
        row = f"| `{line}` | {_cpu() - start:.3g} | {say(found)} |"
        self.rows.append(row)
        self.write()
        return found

    def write(self) -> None:
        """The page so far."""
        numba = "in use" if find_spec("numba") else "not installed"
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        head = HEAD.format(people=PEOPLE, families=FAMILIES, numba=numba, memory=used)
        RESULT.write_text(head + "\n".join(self.rows) + "\n")


def _cpu() -> float:
    """Of this process and of those that it waited for."""
    return sum(os.times()[:4])


def main() -> None:
    """Run every line, and write what was found."""
    warnings.simplefilter("ignore")
    lines = Lines()
    sparse = records(lines)
    families(lines)
    with TemporaryDirectory() as folder:
        shell(lines, Path(folder))
    exact(lines, sparse)


def records(lines: Lines) -> Any:
    """Curves, experiments, an assessment and its what-ifs."""
    run = lines.run
    ehr = run(f"rb.datasets.synthetic_ehr({PEOPLE:_}, seed=0)",
              lambda: rb.datasets.synthetic_ehr(PEOPLE, seed=0),
              lambda e: f"{len(e.features)} features")  # fmt: skip
    sparse = run("rb.read_sparse(ehr.table, features=ehr.features)",
                 lambda: rb.read_sparse(ehr.table, features=ehr.features), repr)  # fmt: skip
    run('sparse.describe().figure("nearest")', lambda: sparse.describe().figure("nearest"),
        lambda _: "Figure 3")  # fmt: skip
    run("rb.linkage_experiments(sparse, draws=10)",
        lambda: rb.linkage_experiments(sparse, draws=10), lambda t: f"{len(t)} rows")  # fmt: skip
    run('rb.linkage(sparse, known={"alcohol": 0.3, "travel": 0.5}, otherwise=0.0)',
        lambda: rb.linkage(sparse, known={"alcohol": 0.3, "travel": 0.5}, otherwise=0.0),
        lambda c: f"{c.success.mean():.4f} singled out")  # fmt: skip
    r = run('r = rb.assess("linkage", sparse, scenario="colleague")',
            lambda: rb.assess("linkage", sparse, scenario="colleague"),
            lambda a: f"mean {a.risk().mean():.4f}; a stranger "
                      f"{a.risk('wrong_person').mean():.4f}")  # fmt: skip
    run("rb.tornado(r)", lambda: rb.tornado(r), lambda t: f"{len(t.bars)} parameters")
    run('rb.solve(r, parameter="p_in_release", target=0.09, statistic="q95")',
        lambda: rb.solve(r, parameter="p_in_release", target=0.09, statistic="q95"),
        lambda s: _first(str(s)))  # fmt: skip
    s = run('s = rb.what_if(r, drop=["Family History"])',
            lambda: rb.what_if(r, drop=["Family History"]),
            lambda a: f"mean {a.risk().mean():.4f}")  # fmt: skip
    run("rb.compare(r, s)", lambda: rb.compare(r, s), lambda c: _first(str(c)))
    run(f'rb.linkage_truth(r, attempts={ATTEMPTS:_}, seed=1).reliability("identified")',
        lambda: rb.linkage_truth(r, attempts=ATTEMPTS, seed=1).reliability("identified"),
        lambda t: f"{len(t)} bins")  # fmt: skip
    return sparse


def exact(lines: Lines, sparse: Any) -> None:
    """Everybody's curve, counted: the long one, and last."""
    run = lines.run
    curve = run(
        'rb.linkage(sparse, known="random", match="equal", facts=range(1, 21), '
        "node_budget=3_000_000)",
        lambda: rb.linkage(sparse, known="random", match="equal", facts=range(1, 21),
                           node_budget=BUDGET),
        lambda c: f"{c.success.shape[0]:,} x {c.success.shape[1]}, {c.exact.mean():.1%} exact",
    )  # fmt: skip
    run("curve.facts_for(0.9), curve.table()",
        lambda: (curve.facts_for(0.9), curve.table()),
        lambda f: f"{f[0]} facts; of 3 facts {f[1]['success'][3]:.4f}")  # fmt: skip


def families(lines: Lines) -> None:
    """Kin, the attack run, the cascade assessed and asked."""
    run = lines.run
    fam = run(f"rb.datasets.synthetic_families({FAMILIES}, seed=0)",
              lambda: rb.datasets.synthetic_families(FAMILIES, seed=0),
              lambda f: f"{len(f.table):,} records")  # fmt: skip
    kin = run("rb.read_kin(rb.read_sparse(fam.table, features=fam.features))",
              lambda: rb.read_kin(rb.read_sparse(fam.table, features=fam.features)),
              lambda k: f"{len(k.diseases)} diseases")  # fmt: skip
    run('rb.neighbourhood(kin, start=0, rule="posterior", depth=3)',
        lambda: rb.neighbourhood(kin, start=0, rule="posterior", depth=3),
        lambda n: f"{len(n.claims)} claims")  # fmt: skip
    f = run('f = rb.assess("family-cascade", kin, scenario="families")',
            lambda: rb.assess("family-cascade", kin, scenario="families"),
            lambda a: f"mother {a.risk('mother').mean():.3f}")  # fmt: skip
    run('rb.expect(f, "exposed")', lambda: rb.expect(f, "exposed"),
        lambda m: f"{float(m):.3f} relatives")  # fmt: skip
    run(
        'rb.ask("family-cascade", "found_mother=yes", given={"found_father": "yes"})',
        lambda: rb.ask("family-cascade", "found_mother=yes", given={"found_father": "yes"}),
    )


def shell(lines: Lines, folder: Path) -> None:
    """The three lines of the shell, each a process of its own."""
    ehr = rb.datasets.synthetic_ehr(PEOPLE, seed=0)
    ehr.table.to_csv(folder / "ehr.csv", index=False)
    ehr.features.to_csv(folder / "features.csv", index=False)
    here = Path(__file__).parents[1]
    for line in (
        "linkage ehr.csv --features features.csv --known colleague --match tolerance "
        "--facts 1..20 --html linkage.html",
        "family ehr.csv --features features.csv --rule strict --depth 3 --json",
        f"check {here}/models/linkage.yaml {here}/models/family-cascade.yaml",
    ):
        told = lines.run(f"reidbn {line}".replace(f"{here}/", ""),
                         lambda line=line: _shell(line, folder),  # type: ignore[misc]
                         lambda text: f"{len(text):,} letters")  # fmt: skip
        if "--json" in line:
            json.loads(told)


def _shell(line: str, folder: Path) -> str:
    asked = [sys.executable, "-m", "reidbn", *line.split()]
    return subprocess.run(asked, cwd=folder, check=True, capture_output=True, text=True).stdout


def _first(text: str) -> str:
    return text.splitlines()[0].replace("|", "/")


if __name__ == "__main__":
    main()
