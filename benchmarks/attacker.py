"""What a reader can work out of suppressed cells from the page of an assessment, in whole numbers.

    python -m benchmarks.attacker [tables] [one]

Random tables of 30 to 500 people are assessed in the worst case; the reader of
tests/outward_attacker.py has the Markdown and the JSON (the tests give it the drawn curves, too),
and an exact integer programme.  A cell is one that is marked "under 10" and that may be several numbers by the
arithmetic of classes.  Its promise is that all of 0 to 9 stay possible, as far as multiples of
class sizes and a verdict ("somebody is", "nobody is") leave them; below that it is narrowed.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

import reidbn as rb

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import outward_attacker as attacker


def table(rng):
    """A few columns whose values are unevenly held."""
    n = int(rng.integers(30, 501))
    columns = {}
    for i in range(int(rng.integers(1, 4))):
        values = int(rng.integers(2, 9))
        weights = rng.dirichlet(np.full(values, rng.choice([0.3, 1.0, 3.0])))
        columns[f"c{i}"] = rng.choice(values, n, p=weights).astype(str)
    return columns


CHECK = []


def files(columns, *, drawn=True, **options):
    """The files of an outward report; without the drawn curves it takes half the time."""
    people = rb.read_table(columns, quasi_identifiers=list(columns))
    result = rb.assess("adversary-routes", people, scenario="worst-case", population=50_000)
    if not CHECK:
        CHECK.append(result.keep_crosscheck(draws=2_000))
    result.__dict__["crosscheck"] = CHECK[0]  # of another table: it is not what is read
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("md", "json", "html")[: 2 + drawn]:
            path = Path(folder) / f"r.{ending}"
            result.report(path, **options)
            found.append(path.read_text())
    return result, (found[0], json.loads(found[1]), found[2] if drawn else "")


def tried(reports, sizes):
    """(marked cells, narrowed, exact, worst widths) of one table's reports, read together."""
    reader = None
    for markdown, numbers, html in reports:
        reader = attacker.read(markdown, numbers, html, reader=reader)
    cells = []
    for (first, last), (low, high) in reader.open_cells():
        found = reader.ends(reader.people(first, last))
        truth = int(((sizes >= first) & (sizes <= (last or sizes.size))).sum())
        assert found[0] <= truth <= found[1], (first, last, found, truth)
        cells.append((truth - found[0], found[1] - truth, found[1] - found[0],
                      truth - low, high - truth, high - low))  # fmt: skip
    return cells


def person_sizes(result):
    counts = result.inputs.people.as_written().class_sizes()
    return np.asarray(counts)


def main(tables=200, *, both=True, seed=20261122):
    rng = np.random.default_rng(seed)
    one, two = [], []
    for i in range(tables):
        columns = table(rng)
        result, ema = files(columns, drawn=False)
        other = (
            files(columns, drawn=False, threshold="ontario-medium", release="public")[1]
            if both
            else None
        )
        each = person_sizes(result)
        one += tried([ema], each)
        two += tried([ema, other], each) if both else []
        if i % 10 == 9 or i == tables - 1:
            print(f"after {i + 1} tables of 30 to 500 people", flush=True)
            for name, cells in (("one report", one), ("two thresholds", two)):
                if cells:
                    say(name, np.array(cells))


def say(name, cells):
    lower, upper, sliding, p_lower, p_upper, p_sliding = cells.T
    print(f"{name}: {len(cells)} marked cells; narrowed below the promise "
          f"{int(((lower < p_lower) | (upper < p_upper)).sum())} (lower "
          f"{int((lower < p_lower).sum())}, upper {int((upper < p_upper).sum())}, sliding "
          f"{int((sliding < p_sliding).sum())}); worked out exactly {int((sliding == 0).sum())}; "
          f"numbers left, mean {1 + sliding.mean():.2f} of {1 + p_sliding.mean():.2f}")  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, both="one" not in sys.argv)
