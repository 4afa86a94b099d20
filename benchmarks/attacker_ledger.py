"""What a reader makes of suppressed cells who has two reports of one table that a ledger let out.

    python -m benchmarks.attacker_ledger [most]

First every ordered pair of kinds of report (tests/test_ledger.py) is put to a ledger: which are let
out.  Then, of those by one set of classes, all tables of 10 to `most` people (12) are reported in every way
and grouped by the two texts that a reader would have: the page of the product, whatever is in it.  The
reader knows how both are made, and keeps the tables that print the same.  A marked cell is narrowed
where the tables that are left under both have a smaller range than each text alone leaves.
"""

import json
import sys
import tempfile
import warnings
from collections import defaultdict
from itertools import product
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


def page(result, options):
    """All that is told: the text, how it stands, and what its verdict says of classes."""
    if isinstance(result, rb.leak.Leak):
        told = result._sections(telling_of(result))
        text = [[s.text, s.answers, [shown.rows for shown in s.shown]] for s in told]
        return json.dumps([text, result._numbers()], default=str), 1, (0, 0)
    summary = summarise(result, **options)
    telling, audit = audited_telling(summary, custodian=False)
    of = audit.classes.nobody, audit.classes.somebody
    text = json.dumps(summary.told(telling), default=float)
    return text + audit.in_words(), 2 if summary.passes else 0, of


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


def ranges(same):
    """Of each text the smallest and the largest number of each marked cell."""
    found = {}
    for text, tables in same.items():
        held = defaultdict(list)
        for classes in tables:
            for cell in cells(classes):
                held[cell.after, cell.last].append(cell.exact)
        found[text] = {c: (min(v), max(v)) for c, v in held.items() if len(v) == len(tables)}
    return found


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


def main(most=12):
    warnings.simplefilter("ignore")
    pairs_of_kinds()
    made = {}
    for n in range(10, most + 1):
        for sizes in partitions(n):
            people, classes = table(sizes), Alike(np.repeat(sizes, sizes))
            asked = {way: make(people) for way, make in WAYS.items()}
            made[sizes] = classes, {w: (r, o, page(r, o)) for w, (r, o) in asked.items()}
    alone = {}
    for way in WAYS:
        same = defaultdict(list)
        for classes, of in made.values():
            same[of[way][2][0]].append(classes)
        alone[way] = ranges(same)
    folder = Path(tempfile.mkdtemp())
    total = bad = refused = 0
    for one, two in product(WAYS, WAYS):
        if one == two:
            continue
        same, many, narrowed, gone = defaultdict(list), 0, 0, 0
        for classes, of in made.values():
            texts = let_out(folder / "ledger", (of[one], of[two]))
            gone += "refused" in texts
            same[texts].append(classes)
        for texts, held in ranges(same).items():
            for cell, (low, high) in held.items():
                each = [alone[w][t].get(cell) for w, t in zip((one, two), texts, strict=True)
                        if t != "refused"]  # fmt: skip
                each = [e for e in each if e]  # marked in all that print this
                if not each:
                    continue
                least, most_ = max(e[0] for e in each), min(e[1] for e in each)
                if least < most_:
                    many += len(same[texts])
                    narrowed += len(same[texts]) * ((low, high) != (least, most_))
        print(f"{one}, then {two}: of {len(made)} tables {gone} refused; of {many:,} marked cells "
              f"{narrowed} narrowed", flush=True)  # fmt: skip
        total, bad, refused = total + many, bad + narrowed, refused + gone
    print(f"all: of {total:,} marked cells {bad} narrowed; {refused} reports refused")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
