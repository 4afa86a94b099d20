"""What a reader makes of suppressed cells who has two reports of one table that a ledger let out.

    python -m benchmarks.attacker_ledger [most]

First every ordered pair of kinds of report (tests/test_ledger.py) is put to a ledger: which are let
out.  Then, of those by one set of classes, all tables of 10 to `most` people (12) are reported in every way
and grouped by the two texts that a reader would have: the page of the product, whatever is in it.  The
reader knows how both are made, and keeps the tables that print the same.  A marked cell is narrowed
where the tables that print both leave it a smaller range than the numbers that each text leaves.
Two reports of which one is refused are no pair that a reader has, and are not counted as cells.

Before that, reports of two tables of which one has ten or more people more, which a ledger lets out
with a word (`ten_or_more`): all tables of 10 to 13 people beside all that they may lie in.
"""

import sys
import tempfile
import warnings
from collections import defaultdict
from itertools import permutations, product
from pathlib import Path

import numpy as np

import reidbn as rb
from reidbn.errors import UsageError
from reidbn.release import Alike, cells
from reidbn.report import audited_telling, released, summarise, telling_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from outward_attacker import partitions
from test_ledger import every_kind, told_of

CHECK = []


def table(sizes):
    names = [f"v{i}" for i, k in enumerate(sizes) for _ in range(k)]
    return rb.read_table({"q": names}, quasi_identifiers=["q"])


def leak(people, leaked):
    return rb.leak.assess(people, leaked=leaked), {}


def marketer(people, k):
    result = rb.assess("marketer", people)
    if not CHECK:
        CHECK.append(result.keep_crosscheck(draws=1_000))
    result.__dict__["crosscheck"] = CHECK[0]  # of another table: it is not what is read
    return result, {"threshold": 1 / k, "release": "public"}


WAYS = {
    "3 leak": lambda people: leak(people, 3),
    "7 leak": lambda people: leak(people, 7),
    "2 or 9 leak": lambda people: leak(people, {2: 0.5, 9: 0.5}),
    "marketer, 1/3": lambda people: marketer(people, 3),
    "marketer, 1/5": lambda people: marketer(people, 5),
    "marketer, 1/10": lambda people: marketer(people, 10),
}


def page(result, options, folder):
    """All that is told, in Markdown and JSON; how it stands, and what its verdict says of classes."""
    text = ""
    for ending in ("md", "json"):
        result.report(folder / f"page.{ending}", **options)
        text += (folder / f"page.{ending}").read_text()
    if isinstance(result, rb.leak.Leak):
        return text, 1, (0, 0)
    summary = summarise(result, **options)
    of = audited_telling(summary, custodian=False)[1].classes
    return text, 2 if summary.passes else 0, (of.nobody, of.somebody)


def let_out(place, pair):
    """The texts that leave: of each report one, or "refused"."""
    texts = []
    for result, options, (text, standing, of) in pair:
        try:
            said = ({".json": text}, standing, of)
            telling = telling_of(result)
            texts.append(released(place, ".json", result, options, telling, lambda s=said: s))
        except UsageError:
            texts.append("refused")
    place.unlink()
    return tuple(texts)


def narrowed(tables, texts, alone):
    """Marked cells that each text alone leaves several numbers, and those that both narrow."""
    many = bad = 0
    for cell in set.intersection(*({(c.after, c.last) for c in cells(t)} for t in tables)):
        left = set.intersection(*({held(t, cell) for t in alone[text]} for text in texts))
        can = {held(t, cell) for t in tables}
        if len(left) > 1:
            many += len(tables)
            bad += len(tables) * ((min(can), max(can)) != (min(left), max(left)))
    return many, bad


def held(classes, cell):
    return classes.exactly(cell[1]) - classes.exactly(cell[0])


def pairs_of_kinds():
    every, out = list(every_kind()), 0
    with tempfile.TemporaryDirectory() as folder:
        for (_, one, kind), (_, other, how) in product(every, every):
            place = Path(folder) / "ledger"
            told_of(one, kind, place)
            try:
                told_of(other, how, place)
                out += 1
            except UsageError:
                pass
            place.unlink()
    print(f"{len(every)} ways to report ten people: of {len(every) ** 2} ordered pairs {out} let "
          f"out ({len(every)} of them the very same report), {len(every) ** 2 - out} refused",
          flush=True)  # fmt: skip


def ten_or_more(apart, most=13):
    """Marks of all tables of 10 to `most` people, and those narrowed by the page of one with so many
    people more: to a ledger this is another table."""
    many = bad = 0
    for n in range(10, most + 1):
        alone, both = defaultdict(set), defaultdict(set)
        small = [(sizes, *by_class(sizes)) for sizes in partitions(n)]
        for _, told, holds in small:
            alone[told].add(holds)
        for larger in partitions(n + apart):
            beside = by_class(larger)[0]
            for sizes, told, holds in small:
                fits = len(sizes) <= len(larger)
                if fits and all(a <= b for a, b in zip(sizes, larger, strict=False)):
                    both[told, beside].add(holds)
        for (told, _), tables in both.items():
            for can, left in zip(
                zip(*tables, strict=True), zip(*alone[told], strict=True), strict=True
            ):
                if min(left) < max(left) < 10:
                    many += 1
                    bad += (min(can), max(can)) != (min(left), max(left))
    return many, bad


def by_class(sizes):
    """What is told of people in classes, and how many there are up to each cutoff."""
    classes = Alike(np.repeat(sizes, sizes))
    told = tuple(map(classes.at, [*classes.cutoffs, classes.end]))
    return told, tuple(map(classes.exactly, [*range(1, 11), 19]))


def main(most=12):
    warnings.simplefilter("ignore")
    pairs_of_kinds()
    for apart in (10, 11, 15):
        many, bad = ten_or_more(apart)
        print(f"tables {apart} people apart: of {many:,} marked cells {bad:,} narrowed", flush=True)
    folder = Path(tempfile.mkdtemp())
    made, alone = [], defaultdict(list)
    for n in range(10, most + 1):
        for sizes in partitions(n):
            people, classes = table(sizes), Alike(np.repeat(sizes, sizes))
            asked = {way: make(people) for way, make in WAYS.items()}
            made.append((classes, {w: (r, o, page(r, o, folder)) for w, (r, o) in asked.items()}))
            for _, _, (text, _, _) in made[-1][1].values():
                alone[text].append(classes)
    total = bad = refused = 0
    for one, two in permutations(WAYS, 2):
        same, gone = defaultdict(list), 0
        for classes, of in made:
            texts = let_out(folder / "ledger", (of[one], of[two]))
            if "refused" in texts:
                gone += 1
            else:
                same[texts].append(classes)
        found = [narrowed(tables, texts, alone) for texts, tables in same.items()]
        many, less = (sum(part) for part in zip(*found, strict=True)) if found else (0, 0)
        print(f"{one}, then {two}: of {len(made)} tables {gone} refused; of {many:,} marked cells "
              f"{less} narrowed", flush=True)  # fmt: skip
        total, bad, refused = total + many, bad + less, refused + gone
    print(f"all: of {total:,} marked cells {bad} narrowed; {refused} reports refused")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
