"""Pages that answer for themselves, in a real browser: how quick, how large, what they ask for.

    python -m benchmarks.pages [pairs]

Of every page: its bytes, the first paint, a redraw as a slider moves (script and layout, median and
nine in ten of 40 moves, the best of three rounds; curves follow in slices of 6 ms between moves),
requests and sheets of paper.  Then pairs of random tables one person apart: how often their pages of
people differ, and in what.
"""

import re
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import reidbn as rb
from reidbn.errors import ReidbnWarning

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from devtools import CHROMIUM, Browser
from test_page_people import KNOWN, assessed, held_of, table

PAINT = """new Promise(done => {
  const look = () => {
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    if (paint) done(paint.startTime); else setTimeout(look, 50);
  };
  look();
})"""
MOVED = """(async () => {
  const sliders = [...document.querySelectorAll("#sliders input[type=range]")], took = [];
  for (let i = 0; i < 40 && sliders.length; i++) {
    const one = sliders[i % sliders.length];
    one.value = (0.1 + 0.8 * Math.abs(Math.sin(i))) * Number(one.max);
    const began = performance.now();
    one.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    took.push(performance.now() - began);
    await new Promise(done => requestAnimationFrame(done));
  }
  return took.sort((a, b) => a - b);
})()"""


def pages(folder):
    """Pages by what they are of."""
    found = {}
    for name in ("breakfast", "adversary-routes", "insider-decides", "structured-population",
                 "leak-targets", "family-cascade", "linkage-family"):  # fmt: skip
        found[name] = rb.load(name).page(folder / f"{name}.html")
    patients = rb.datasets.synthetic_patients(4_000, seed=1)
    people = rb.read_table(patients, quasi_identifiers=["age", "sex", "state", "race"])
    of = rb.assess("adversary-routes", people, scenario="voter-registration", population=6_900_000)
    return found | {
        "adversary-routes, 4,000 people": of.page(folder / "people.html", custodian=True)
    }


def looked(browser, path, folder):
    """Bytes, first paint, redraws, requests, sheets and stops of the Tab key."""
    browser.open(path, 1600, 1000)
    paint = browser.say(PAINT)
    took = min((browser.say(MOVED) for _ in range(3)), key=lambda took: took[len(took) // 2])
    asked = len(browser.asked_for())
    browser.printed(folder / "printed.pdf")
    sheets = len(re.findall(rb"/Type\s*/Page\b", (folder / "printed.pdf").read_bytes()))
    nodes = browser.say("reidbn.held.nodes.filter(n => !n.helper).length")
    return nodes, path.stat().st_size, paint, took[len(took) // 2], took[-5], asked, sheets


def apart(pairs, folder):
    """How many pairs of pages differ in cells, in which there are, in the error told, in the grid."""
    counts = np.zeros(6, dtype=int)
    for seed in range(pairs):
        rng = np.random.default_rng([20261122, seed])
        frame = table(int(rng.integers(300, 1_500)), seed)
        known = KNOWN[seed % 2]
        two = (frame, frame.drop(index=int(rng.integers(len(frame)))))
        one, other = (held_of(assessed(rows, known), folder)["people"] for rows in two)
        cells = [{tuple(c["at"]): (c["low"], c["high"]) for c in p["cells"]} for p in (one, other)]
        counts += [1, cells[0] != cells[1], cells[0].keys() != cells[1].keys(),
                   one["error"] != other["error"],
                   cells[0] == cells[1] and one["error"] != other["error"],
                   one["edges"] != other["edges"]]  # fmt: skip
    return counts


def main(pairs=60):
    if CHROMIUM is None:
        print("no Chromium here: nothing was measured")
        return
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", ReidbnWarning)
        folder = Path(name)
        print(
            "| page of | nodes | kB | first paint, ms | redraw, ms | nine in ten | requests | sheets |"
        )
        print("|---|---|---|---|---|---|---|---|")
        with Browser() as browser:
            for what, path in pages(folder).items():
                nodes, size, paint, middle, most, *rest = looked(browser, path, folder)
                print(f"| {what} | {nodes} | {size / 1000:.0f} | {paint:.0f} | {middle:.1f} | "
                      f"{most:.1f} | {rest[0]} | {rest[1]} |", flush=True)  # fmt: skip
        whole, cells, which, error, alone, grid = apart(pairs, folder)
        print(f"\n{whole} pairs of tables one person apart: cells differ in {cells}, which cells "
              f"there are in {which}, the error told in {error} (in {alone} that alone), the "
              f"grid in {grid}.")  # fmt: skip


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:]))
