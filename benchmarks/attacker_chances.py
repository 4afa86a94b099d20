"""What a reader makes of suppressed cells who has a mean of risks under chances, in whole numbers.

    python -m benchmarks.attacker_chances [draws]

Risks are g(class) with chance w, and else g(class by what is surely known), g as in
`adversary-routes`.  People are drawn who stand in classes, small ones mostly; the reader knows all
of them but 10 to 12, of whom all tables are tried, and every chance.  Tables are grouped by what is
told of the classes and by what a rule tells of the risks beside it.  A marked cell is narrowed
where some number that the classes' counts leave occurs in no table of its group: so this reader
learns more from the classes than who has the page alone, and is asked what the risks add.
"""

import sys
from collections import defaultdict

import numpy as np

from benchmarks.attacker_nested import about
from reidbn.release import mean_in_steps
from tests.outward_attacker import joined

CHANCES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
LEVELS = np.array((0.001, 0.01, 0.05, 0.09, 0.1, 0.2, 0.33, 0.5))
FOUR = [2, 4, 5, 6]
FAMILIES = ((1, 1, 2, 3, 4, 5, 7, 9, 12, 15, 20), (2, 2, 3, 3, 4), (3, 5, 8, 10, 15, 30),
            (1, 2, 4, 8, 16, 32, 64))  # fmt: skip


def routes(sizes, coarse, w):
    """Overall, marketer's and prosecutor's risk of everybody in a class."""

    def of(size):
        alone = size == 1
        return np.where(alone, 0.625, 0.5 / size), 0.5 / size, 0.25 * alone

    return [w * a + (1 - w) * b for a, b in zip(of(sizes), of(coarse), strict=True)]


def drawn(rng, n):
    """The size of each class of so many people, and of the coarser one that it lies in."""
    left, sizes = n, []
    small = rng.choice(FAMILIES[rng.integers(4)], n)
    for size in range(1, 10):  # rare ones, of which marks are made
        many = int(rng.integers(0, 12 // size + 1)) * int(rng.random() < 0.5)
        sizes += [size] * many
        left -= size * many
    most = 0 if rng.random() < 0.3 else int(left * rng.random())
    for size in small:
        if left <= most:
            break
        sizes.append(min(left, int(size)))
        left -= sizes[-1]
    while left > 0:
        sizes.append(min(left, int(rng.choice([50, 100, 200, 400, n]))))
        left -= sizes[-1]
    sizes = rng.permutation(sizes)
    group = rng.integers(0, max(1, int(len(sizes) ** rng.random())), len(sizes))
    if rng.random() < 0.5:
        group = np.arange(len(sizes)) // rng.choice([1, 2, 3, 5, 10, 1000])
    return sizes, np.bincount(group, weights=sizes).astype(int)[group]


def beside(last):
    """All tables of 10 to so many people: classes, and the coarser class of each."""
    tables = [t for n in range(10, last + 1) for t in joined(n)]
    return [np.array([(p, c) for c, parts in t for p in parts]).T for t in tables]


def rules(people):
    """By name what is told of how many are above the levels, of the sums, and of everybody's risk."""
    return {
        "nothing": lambda above, sums, risks: (),
        "eight levels in tens": lambda above, sums, risks: tuple(above // 10),
        "eight in hundreds": lambda above, sums, risks: tuple(above // 100),
        "four in hundreds": lambda above, sums, risks: tuple(above[FOUR] // 100),
        "four in tenths of all": lambda above, sums, risks: tuple(above[FOUR] // (people // 10)),
        "a mean by 10 people": lambda above, sums, risks: int(sums[0] // 10),
        "by 50": lambda above, sums, risks: int(sums[0] // 50),
        "by 100": lambda above, sums, risks: int(sums[0] // 100),
        "exactly, as a slider that scales it tells it": lambda above, sums, risks: round(
            sums[0], 6
        ),
        "three means as told": lambda above, sums, risks: tuple(map(mean_in_steps, risks())),
    }


def narrowed(rng, n, w, tables):
    """By rule the marked cells that the classes leave open, and those that it narrows."""
    sizes, coarse = drawn(rng, n)
    of_others = [(r * sizes).sum() for r in routes(sizes, coarse, w)]
    over = (sizes * (routes(sizes, coarse, w)[0][:, None] > LEVELS * (1 + 1e-9)).T).sum(1)
    told_by, same, kept = rules(n), defaultdict(lambda: defaultdict(set)), {}
    for fine, wider in tables:
        risks = routes(fine, wider, w)
        above = over + (fine * (risks[0][:, None] > LEVELS * (1 + 1e-9)).T).sum(1)
        sums = [a + (r * fine).sum() + 1e-9 for a, r in zip(of_others, risks, strict=True)]
        key = tuple(sorted(map(int, fine)))
        if key not in kept:
            kept[key] = about((*key, *map(int, sizes)))
        whole = n + int(fine.sum())
        for name, tell in told_by.items():
            means = lambda: [np.full(whole, s / whole) for s in sums]  # noqa: B023, E731
            same[name][kept[key][0], tell(above, sums, means)].add(key)
    return by_rule(same, kept)


def by_rule(same, kept):
    """By what is told: cells that the classes leave open, and how many of them are narrowed."""
    left, found = {}, {}
    for name, groups in same.items():
        many = bad = 0
        for (told, _), keys in groups.items():
            for cell, can in enumerate(zip(*(kept[k][2] for k in keys), strict=True)):
                ends = min(can), max(can)
                open_ = left.setdefault((told, cell), ends)  # "nothing" is the first
                many += open_[0] < open_[1]
                bad += open_ != ends
        found[name] = np.array([many, bad])
    about.__defaults__[-1].clear()
    return found


def main(draws=100):
    tables = beside(12)
    for n in (150, 300, 1_000, 3_000):
        total = defaultdict(lambda: np.zeros(2, dtype=int))
        for i in range(draws):
            rng = np.random.default_rng([20261123, n, i])
            people = int(n * (0.85 + 0.3 * rng.random()))
            for name, found in narrowed(rng, people, CHANCES[i % len(CHANCES)], tables).items():
                total[name] += found
        said = "; ".join(f"{name} {bad} of {many:,}" for name, (many, bad) in total.items())
        print(f"about {n:,} people, {draws} draws: {said}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
