"""What a reader makes of suppressed cells who has the counts of one table by two nested sets of columns.

    python -m benchmarks.attacker_nested

Everybody who is alike on age, sex and town is alike on age: the classes of the second report are unions
of those of the first.  All tables of 10 to 19 people, and all ways to join their classes, are
grouped by what the two reports tell (people by the size of their class, at all cutoffs); a marked
cell is narrowed where some number that classes can make up occurs in no table of its group.
"""

from collections import defaultdict

import numpy as np

from reidbn.release import Alike, cells, promised
from tests.outward_attacker import partitions


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


def about(sizes, kept={}):  # noqa: B006 - what was worked out
    """What is told of such a table, its marked cells with their promise, and what they hold."""
    if sizes not in kept:
        classes = Alike(np.repeat(sizes, sizes))
        told = tuple(map(classes.at, [*classes.cutoffs, classes.end]))
        marked = [(c.after, c.last, promised(c, classes)) for c in cells(classes)]
        holds = [classes.exactly(last) - classes.exactly(after) for after, last, _ in marked]
        kept[sizes] = told, marked, holds
    return kept[sizes]


def main():
    same = defaultdict(list)
    for n in range(10, 20):
        for fine in partitions(n):
            for coarse in coarser(fine):
                (first, _, holds), (second, _, holds_too) = about(fine), about(coarse)
                same[first, second].append((fine, coarse, (*holds, *holds_too)))
    many = narrowed = 0
    for tables in same.values():
        fine, coarse, _ = tables[0]
        promises = [p for _, _, p in (*about(fine)[1], *about(coarse)[1])]
        for promise, can in zip(promises, zip(*(t[2] for t in tables), strict=True), strict=True):
            if promise[0] < promise[1]:
                many += 1
                narrowed += (min(can), max(can)) != promise
    pairs = sum(map(len, same.values()))
    print(
        f"{pairs:,} pairs of tables, {len(same)} told alike: of {many:,} cells {narrowed} narrowed"
    )


if __name__ == "__main__":
    main()
