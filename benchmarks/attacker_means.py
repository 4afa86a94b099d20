"""What a reader makes of suppressed cells who has the mean of a risk at other settings, too.

    python -m benchmarks.attacker_means

Risks are w/(class) + (1 - w)/(class by what is known), a mean over both.  All tables of 10 to 19
people beside one class of 90 are grouped by what is told of the classes, of how many are above each
level, and of the mean: where an assumption is as it is, and at the ends of two ranges (the chance
of an attempt, and w).  A marked cell is narrowed where some number that classes can make up occurs
in no table of its group.
"""

from collections import defaultdict
from math import ceil, floor

import numpy as np

from benchmarks.attacker_nested import LEVELS, about
from reidbn.release import FINE, outwards
from tests.outward_attacker import joined

OTHERS, W = 90, 0.5
ENDS = ((0.5, W), (0.9, W), (1.0, 0.2), (1.0, 0.8))  # attempt, w
AT = np.array([0.0, *FINE, 1.0])


def tens_above(values, people):
    """How many have more than each level, in tens."""
    order = np.argsort(values)
    below = np.concatenate([[0], np.cumsum(people[order])])
    last = np.searchsorted(values[order], AT * (1 + 1e-12) + 1e-15, side="right")
    return (below[-1] - below[last]) // 10 * 10


def told_mean(values, people):
    """Both ends of the mean, as a page tells them."""
    low, step = tens_above(values, people), np.diff(AT)
    whole = int(people.sum()) // 10 * 10
    most = float((step * np.minimum((low[:-1] + 10) / whole, 1)).sum())
    least = float((step * low[1:] / (whole + 10)).sum())
    unit = 10 / whole
    return outwards(floor(least / unit + 1e-9) * unit, min(ceil(most / unit - 1e-9) * unit, 1.0))


def narrowed(same):
    """Marked cells of all pages that are told alike, and those narrowed."""
    many = bad = 0
    for tables in same.values():
        kept = [about(t[0]) for t in tables]
        cans = zip(*(k[2] for k in kept), strict=True)
        found = [(p, can) for (_, _, p), can in zip(kept[0][1], cans, strict=True)]
        columns = list(zip(*(t[1:] for t in tables), strict=True))
        found += [((0, 9), can) for can in columns if can[0] < 10]
        for promise, can in found:
            if promise[0] < promise[1]:
                many += 1
                bad += (min(can), max(can)) != promise
    return len(same), many, bad


def main():
    how = ("no mean", "its two ends", "and at the ends of two ranges",
           "so many times the mean, to one digit, in their place")  # fmt: skip
    readers = {name: defaultdict(set) for name in how}
    for n in range(10, 20):
        for table in joined(n):
            pairs = [(part, size) for size, parts in table for part in parts] + [(OTHERS, OTHERS)]
            fine, coarse = np.array(pairs).T
            risk = W / fine + (1 - W) / coarse
            above = [int(fine[risk > level * (1 + 1e-9)].sum()) for level in LEVELS]
            item = (tuple(sorted(map(int, fine), reverse=True)), *above)
            told = about(item[0])[0], tuple(a // 10 for a in above)
            mean, moved = (
                told_mean(risk, fine),
                [s * (w / fine + (1 - w) / coarse) for s, w in ENDS],
            )
            times = tuple(float(f"{(m * fine).sum() / (risk * fine).sum():.1g}") for m in moved)
            ends = tuple(told_mean(m, fine) for m in moved)
            for name, more in zip(how, ((), (mean,), (mean, ends), (mean, times)), strict=True):
                readers[name][told, more].add(item)
    for name, same in readers.items():
        pages, many, bad = narrowed(same)
        print(f"{name}: {pages} told alike, of {many:,} cells {bad} narrowed", flush=True)


if __name__ == "__main__":
    main()
