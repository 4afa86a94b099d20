"""What a reader can work out of suppressed cells from every other page that leaves the house.

    python -m benchmarks.attacker_pages [tables] [first] [PAGE,PAGE]

Of each random table of 30 to 250 people (two or three columns and a secret) every page is written as
it leaves: leak, disclosure, minimal uniques, population, candidates and the assessment, beside them
a linkage of made-up records; Markdown and JSON.  The reader of tests/outward_pages.py reads each
alone and all of one table together, which is more than any two.  A cell is one that is marked
"under 10" and may be several numbers; it is narrowed where a number from 0 to 9 is excluded that
classes can make up and a verdict leaves.  With the names of some pages only these are read.
"""

import json
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

import reidbn as rb

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import outward_pages as pages

SEED = 20261122
READ = {"leak": pages.read_leak, "population": pages.read_population, "suda": pages.read_suda,
        "disclosure": pages.read_disclosure}  # fmt: skip


def table(rng):
    """Two or three columns whose values are unevenly held, and a secret that hangs on one."""
    n = int(rng.integers(30, 251))
    columns = {}
    for i in range(int(rng.integers(2, 4))):
        weights = rng.dirichlet(np.full(int(rng.integers(2, 8)), rng.choice([0.3, 1.0, 3.0])))
        columns[f"c{i}"] = rng.choice(len(weights), n, p=weights).astype(str)
    weights = rng.dirichlet(np.full(int(rng.integers(2, 6)), rng.choice([0.5, 2.0])))
    own = rng.choice(len(weights), n, p=weights)
    follows = rng.random(n) < rng.choice([0.0, 0.5, 0.95])
    columns["s"] = np.where(follows, columns["c0"].astype(int) % len(weights), own).astype(str)
    return columns


def results(columns, rng, only=()):
    """Every result of a table, by page; or some of them."""
    names = [name for name in columns if name != "s"]
    people = rb.read_table(columns, quasi_identifiers=names, sensitive=["s"])
    n = len(people)
    drawn = {name: rng.permutation(columns[name]) for name in names}
    leaked = int(rng.integers(1, max(2, n - 20)))

    def assessed():
        found = rb.assess("adversary-routes", people, scenario="worst-case", population=50_000)
        found.__dict__["crosscheck"] = _check(found)
        return found

    made = {
        "leak": lambda: rb.leak.assess(people, leaked=leaked),
        "population": lambda: rb.population.fit(people, population=50_000),
        "suda": lambda: rb.suda(people),
        "disclosure": lambda: rb.disclosure(people, "s"),
        "candidates": lambda: rb.candidates(
            people, rb.read_table(drawn, quasi_identifiers=names)
        ),
        "assess": assessed,
    }  # fmt: skip
    return {page: make() for page, make in made.items() if page in (only or made)}


def _check(result, kept=[]):  # noqa: B006 - of another table: it is not what is read
    if not kept:
        kept.append(result.keep_crosscheck(draws=2_000))
    return kept[0]


def linked(rng):
    """A linkage of a few made-up records of few facts."""
    ehr = rb.datasets.synthetic_ehr(int(rng.integers(30, 150)), seed=int(rng.integers(1 << 30)))
    few = ehr.table.iloc[:, :40]
    sparse = rb.read_sparse(few)
    return rb.linkage(sparse, facts=[1, 2, 4], draws=100)


def related(rng):
    """Which relatives made-up records give away."""
    ehr = rb.datasets.synthetic_ehr(int(rng.integers(20, 120)), seed=int(rng.integers(1 << 30)))
    kin = rb.read_kin(rb.read_sparse(ehr.table, features=ehr.features))
    return rb.neighbourhood(kin, rule=str(rng.choice(["strict", "posterior"])))


def texts(result):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for ending in ("md", "json"):
            result.report(Path(folder) / f"r.{ending}")
        return (Path(folder) / "r.md").read_text(), json.loads(
            (Path(folder) / "r.json").read_text())  # fmt: skip


def tried(found, n):
    """By page, and of all together: the cells, and those of them that are narrowed."""
    told = {name: texts(result) for name, result in found.items()}
    people = 10 * (n // 10)
    for name, read in READ.items():
        if name in told:
            me = pages.reader(people)
            read(me, *told[name])
            yield name, me
    if "candidates" in told:
        yield "candidates", pages.read_candidates(*told["candidates"])
    if "assess" not in told:
        return
    me = pages.reader(people)
    pages.read_assessment(me, *told["assess"])
    for name, read in READ.items():
        read(me, *told[name])
    yield "all of one table", me


def main(tables=200, first=0, only=(), *, report=print):
    counts = defaultdict(lambda: np.zeros(6))
    for i in range(first, first + tables):
        rng = np.random.default_rng([SEED, i])
        columns = table(rng)
        n = len(columns["s"])
        found = results(columns, rng, only)
        whole = [*tried(found, n)]
        if "family" in only:
            kin = related(rng)
            whole.append(("family", pages.read_family(*texts(kin))))
        if i % 5 == 0 if not only else "linkage" in only:
            link = linked(rng)
            whole.append(("linkage", pages.read_linkage(*texts(link))))
        for name, me in whole:
            start = time.process_time()
            truth = len(link.sparse) if name == "linkage" else n
            truth = len(kin.starts) if name == "family" else truth
            ends = me.read_out(truth)
            bad = [(c, e) for c, e in zip(me.cells, ends, strict=True)
                   if e[0] > c.low or e[1] < c.high]  # fmt: skip
            exact = sum(e[0] == e[1] for e in ends)
            counts[name] += [1, len(ends), len(bad), exact, time.process_time() - start,
                             len(me.unsettled)]  # fmt: skip
            for cell, end in bad:
                report(f"table {i}, {name}: {cell.page} {cell.name} is {end[0]} to {end[1]}, "
                       f"promised {cell.low} to {cell.high}", flush=True)  # fmt: skip
        if i % 10 == 9 or i == first + tables - 1:
            report(f"after {i + 1 - first} tables", flush=True)
            for name, (many, cells, bad, exact, seconds, open_) in counts.items():
                report(f"  {name}: {many:.0f} pages, {cells:.0f} cells, narrowed {bad:.0f}, worked "
                       f"out {exact:.0f}, not settled {open_:.0f}; {seconds:.0f} CPU s", flush=True)  # fmt: skip
    return counts


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:3]), *(x.split(",") for x in sys.argv[3:4]))
