"""What the releases that a report names as keeping the rule tell of counts marked "under 10".

    python -m benchmarks.attacker_releases [tables]

The reader of tests/outward_attacker.py is also told how many values each column has.  A named
release drops columns; what was in classes is merged, at most as many of them as the dropped columns
have combinations of values, into classes of k or more.  So a class of fewer is merged with others of
fewer, or with one that is large enough.  Each release stands beside the numbers of the page in one
integer programme, as unknowns of its own.
"""

import re
import sys
from collections import Counter
from math import prod
from pathlib import Path

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks.attacker import attacker, files, person_sizes

RESULTS = Path(__file__).parent / "results" / "attacker_releases.md"
CAPTION = "Releases with nobody left out that keep the rule"
FEW = 4  # classes in one, of which every way to merge them is an unknown
RULES = {3: "1/3", 5: "0.2", 11: "0.09"}


def table(rng):
    """Two to four columns, one or two of them with two values, some values rarely held."""
    n, columns = int(rng.integers(100, 300)), {}
    for i in range(int(rng.integers(2, 5))):
        values = 2 if i < 1 else int(rng.choice([2, 4, 12, 40]))
        weights = rng.dirichlet(np.full(values, rng.choice([0.3, 1.0, 3.0])))
        columns[f"c{i}"] = rng.choice(values, n, p=weights).astype(str)
    return columns


def merges(k, most):
    """All ways to put two to `most` classes of fewer than k into one of k or more."""

    def more(parts):
        if len(parts) > 1 and sum(parts) >= k:
            yield tuple(parts)
            return  # a further small one is as well put into it as a guest
        if len(parts) < most:
            for size in range(1, (parts[-1] if parts else k - 1) + 1):
                yield from more([*parts, size])

    return list(more([]))


def ends(reader, coefficients, values, k, dropped):
    """The smallest and largest of a count, with the named releases."""
    n = reader.most
    rows = [(np.asarray(row, float), low, high) for row, low, high in reader.rows]
    rows.append((np.ones(n), 0, prod(values.values())))
    width, limits = n, [n // s for s in range(1, n + 1)]
    blocks = []
    for gone in dropped:
        most = prod(values[name] for name in gone)
        found = merges(k, most) if most <= FEW else [()]
        blocks.append((width, found, most))
        width += len(found) + 2 * (k - 1)
        limits += [n] * (len(found) + 2 * (k - 1))
    matrix, low, high = [np.pad(row, (0, width - n)) for row, _, _ in rows], *map(
        list, zip(*[(a, b) for _, a, b in rows], strict=True))  # fmt: skip
    for start, found, most in blocks:
        guests = start + len(found)
        merged = guests + k - 1
        hosts, people, parts_of = np.zeros(width), np.zeros(width), np.zeros(width)
        hosts[k - 1 : n] = most - 1
        for parts, column in zip(found, range(start, guests), strict=True):
            hosts[column] = most - len(parts)
        if found == [()]:  # so many of only small ones: by their people and their number alone
            hosts[start], people[start], parts_of[start] = 0, -k, most
            people[merged : merged + k - 1] = range(1, k)
            parts_of[merged : merged + k - 1] = -1
        else:
            people[merged : merged + k - 1] = -1
        for s in range(1, k):
            own = np.zeros(width)
            own[[s - 1, guests + s - 1, merged + s - 1]] = 1, -1, -1
            for parts, column in zip(found, range(start, guests), strict=True):
                own[column] = -Counter(parts)[s]
            hosts[guests + s - 1] = -1
            matrix, low, high = [*matrix, own], [*low, 0], [*high, 0]
        matrix = [*matrix, hosts, people, parts_of]
        low, high = [*low, 0, 0, 0], [*high, np.inf, np.inf, np.inf]
    told = []
    for sign in (1, -1):
        answer = milp(
            sign * np.pad(np.asarray(coefficients, float), (0, width - n)),
            constraints=LinearConstraint(np.array(matrix), np.array(low, float) - 1e-7,
                                         np.array(high, float) + 1e-7),
            bounds=Bounds(0, np.array(limits, float)), integrality=np.ones(width),
            options={"time_limit": 20},
        )  # fmt: skip
        assert answer.x is not None, answer.message  # the table itself is an answer
        told.append(sign * round(answer.fun))
    return tuple(told)


def main(tables=60, seed=20261123):
    rng = np.random.default_rng(seed)
    counted = Counter()
    for i in range(tables):
        columns, k = table(rng), int(rng.choice([*RULES]))
        result, page = files(columns, drawn=False, threshold=RULES[k])
        part = page[0].split(f"**{CAPTION}**")
        dropped = re.findall(r"^\| ((?:c\d dropped(?:, )?)+) \| passes", part[-1], flags=re.M)
        dropped = [re.findall(r"c\d", one) for one in dropped] if len(part) > 1 else []
        values = {name: len({*own}) for name, own in columns.items()}
        counted["names"] += len(dropped)
        counted["tables"] += 1
        if not dropped:
            continue
        counted["told"] += 1
        reader, each = attacker.read(*page), person_sizes(result)
        for (first, last), _ in reader.open_cells():
            own = reader.people(first, last)
            truth = int(((each >= first) & (each <= (last or each.size))).sum())
            plain, more = (ends(reader, own, values, k, which) for which in ([], dropped))
            assert more[0] <= truth <= more[1], (plain, more, truth)
            counted["cells"] += 1
            if plain != more:
                counted["narrowed"] += 1
                print(i, k, len(each), values, dropped, (first, last), plain, more, truth,
                      "known" if more[0] == more[1] else "", flush=True)  # fmt: skip
        if i % 10 == 9:
            print(i, counted, flush=True)
    text = (
        f"Of {counted['tables']} made-up tables of 100 to 299 people the report names "
        f"{counted['names']} releases for {counted['told']}; of their {counted['cells']} marked "
        f"cells that are open, {counted['narrowed']} are narrowed by the names."
    )
    RESULTS.write_text(f"# What names of releases tell\n\nMade by `python -m benchmarks "
                       f"attacker_releases`.  {text}\n")  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
