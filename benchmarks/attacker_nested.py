"""What a reader makes of suppressed cells who has the counts of one table by two nested sets of columns.

    python -m benchmarks.attacker_nested

Everybody who is alike on age, sex and town is alike on age: the classes of the second are unions of
those of the first.  All tables of 10 to 19 people, and all ways to join their classes, are grouped
by what is told; a marked cell is narrowed where some number that classes can make up occurs in no
table of its group.  Three readers: of two reports, each at all cutoffs (a ledger refuses these); of
one page, which tells the coarser classes at fewer; and of a page whose risk is known with a chance,
w/(class) + (1 - w)/(class by what is known), counted above the levels of a report.
"""

from collections import defaultdict
from functools import lru_cache

import numpy as np

from reidbn.release import NOT_BESIDE, Alike, cells, promised
from tests.outward_attacker import joined, partitions

LEVELS = (0.01, 0.05, 0.09, 0.2, 0.33, 0.5)


def coarser(sizes):
    """All that classes of these sizes can be joined to, themselves included."""
    found, todo = {sizes}, [sizes]
    while todo:
        one = todo.pop()
        for i in range(len(one)):
            for j in range(i + 1, len(one)):
                rest = (*one[:i], *one[i + 1 : j], *one[j + 1 :], one[i] + one[j])
                joined = tuple(sorted(rest, reverse=True))
                if joined not in found:
                    found.add(joined)
                    todo.append(joined)
    return found


def about(sizes, without=frozenset(), kept={}):  # noqa: B006 - what was worked out
    """What is told of such a table, its marked cells with their promise, and what they hold."""
    if (sizes, without) not in kept:
        classes = Alike(np.repeat(sizes, sizes), without=without)
        told = tuple(map(classes.at, [*classes.cutoffs, classes.end]))
        marked = [(c.after, c.last, promised(c, classes)) for c in cells(classes)]
        holds = [classes.exactly(last) - classes.exactly(after) for after, last, _ in marked]
        kept[sizes, without] = told, marked, holds
    return kept[sizes, without]


def narrowed(without):
    """Marked cells of both, and those narrowed; coarser classes are not told at some cutoffs."""
    same = defaultdict(list)
    for n in range(10, 20):
        for fine in partitions(n):
            for coarse in coarser(fine):
                (first, _, holds), (second, _, holds_too) = about(fine), about(coarse, without)
                same[first, second].append((fine, coarse, (*holds, *holds_too)))
    many = bad = 0
    for tables in same.values():
        fine, coarse, _ = tables[0]
        promises = [p for _, _, p in (*about(fine)[1], *about(coarse, without)[1])]
        for promise, can in zip(promises, zip(*(t[2] for t in tables), strict=True), strict=True):
            if promise[0] < promise[1]:
                many += 1
                bad += (min(can), max(can)) != promise
    return sum(map(len, same.values())), len(same), many, bad


def at(sizes, k):
    """What "what would flip the verdict" tells of a coarser table, and whether that passes."""
    classes = Alike(np.repeat(sizes, sizes))
    return classes.at(k - 1), classes.exactly(k - 1) == 0


def thresholds(*ks):
    """Two pages, each with who fails its own threshold, also in one coarser table (as a ledger
    once let out): marked counts that either leaves several numbers, and those that both narrow."""
    told = lru_cache(None)(at)
    alone, both = (defaultdict(set), defaultdict(set)), defaultdict(set)
    for n in range(10, 20):
        for fine in partitions(n):
            for coarse in coarser(fine):
                pages = [(about(fine)[0], told(fine, k)[1], *told(coarse, k)) for k in ks]
                holds = (*about(fine)[2], *(sum(s for s in coarse if s < k) for k in ks))
                both[tuple(pages)].add(holds)
                for kept, page in zip(alone, pages, strict=True):
                    kept[page].add(holds)
    many = bad = 0
    for pages, tables in both.items():
        is_marked = [True] * (len(next(iter(tables))) - 2) + [page[2].is_few for page in pages]
        each = [zip(*kept[page], strict=True) for kept, page in zip(alone, pages, strict=True)]
        for mark, can, *cans in zip(is_marked, zip(*tables, strict=True), *each, strict=True):
            left = set(cans[0]) & set(cans[1])
            if mark and len(left) > 1:
                many += 1
                bad += (min(can), max(can)) != (min(left), max(left))
    return many, bad


def by_chance(w):
    """Marked counts of a page with a risk that is a mean over both, and those narrowed."""
    same = defaultdict(set)
    for n in range(10, 20):
        for table in joined(n):
            above = [0] * len(LEVELS)
            for size, parts in table:
                for part in parts:
                    for k, level in enumerate(LEVELS):
                        above[k] += part * (w / part + (1 - w) / size > level * (1 + 1e-9))
            fine = tuple(sorted((p for _, parts in table for p in parts), reverse=True))
            same[about(fine)[0], tuple(a // 10 for a in above)].add((fine, *above))
    many = bad = 0
    for (_, told), tables in same.items():
        kept = [about(t[0]) for t in tables]
        cans = zip(*(k[2] for k in kept), strict=True)
        found = [(p, can) for (_, _, p), can in zip(kept[0][1], cans, strict=True)]
        columns = list(zip(*(t[1:] for t in tables), strict=True))
        found += [((0, 9), can) for ten, can in zip(told, columns, strict=True) if not ten]
        for promise, can in found:
            if promise[0] < promise[1]:
                many += 1
                bad += (min(can), max(can)) != promise
    return many, bad


def main():
    for what, without in (("two reports", frozenset()), ("one page", NOT_BESIDE)):
        pairs, told, many, bad = narrowed(without)
        print(f"{what}: {pairs:,} pairs of tables, {told} told alike: of {many:,} cells {bad} "
              f"narrowed", flush=True)  # fmt: skip
    for ks in ((3, 5), (5, 10), (5, 11), (11, 15)):
        many, bad = thresholds(*ks)
        print(f"coarser under {ks[0]} and {ks[1]}: of {many:,} cells {bad} narrowed", flush=True)
    for w in (0.1, 0.5, 0.9):
        many, bad = by_chance(w)
        print(f"all known with chance {w:g}, else a part: of {many:,} cells {bad} narrowed",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
