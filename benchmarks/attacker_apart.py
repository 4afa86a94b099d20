"""What a reader makes of suppressed cells who has a report whose risks follow from no class.

    python -m benchmarks.attacker_apart [draws]

A model of the population tells people of one class apart: who is alone in the table is so in the
population with a chance that hangs on a coarser class, and an expected match hangs on it in every
class.  People are drawn who stand in classes, small ones mostly; the reader knows all of them but
10 or 11, of whom all tables are tried, and every chance.  Tables are grouped by what is told of the
classes, and by what `Telling` says of the three risks beside it: people above eight levels, means,
medians, levels that a few exceed; then by the verdict of a limit of .9 for everybody, too, which a
report leaves to the custodian for that reason.  "As was": counts above levels in tens, the means in
steps of 100.  A marked cell is narrowed where some number that the classes' counts leave occurs in
no table of its group.
"""

import sys
from collections import defaultdict

import numpy as np

from benchmarks.attacker_chances import LEVELS, by_rule, drawn
from benchmarks.attacker_nested import about
from reidbn.release import Alike, mean_in_steps
from reidbn.report import Telling
from tests.outward_attacker import joined


def of_classes(sizes, coarse):
    """Overall risk, journalist's and expected match, each with the ends that classes leave."""
    alone, unique = sizes == 1, 0.9 / coarse
    base = 0.5 / sizes + 0.25 * alone
    return [
        (base + 0.25 * alone * unique, base, base + 0.25 * alone),
        (alone * unique, 0.0 * sizes, 1.0 * alone),
        (1 / (sizes + 0.3 * coarse), 0.0 * sizes, 1 / sizes),
    ]


def as_told(telling, risk):
    return (
        *(tuple(telling.ladder(risk).above(level)) for level in LEVELS),
        telling.mean_ends(risk), telling.quantile_ends(risk, 0.5), telling.highest_ends(risk),
    )  # fmt: skip


def as_was(risk):
    above = (risk > LEVELS[:, None] * (1 + 1e-9)).sum(1)
    return tuple(above // 10), mean_in_steps(risk)


def narrowed(sizes, coarse, tables):
    """By what is told: marked cells that the classes leave open, and those that it narrows."""
    same, kept = defaultdict(lambda: defaultdict(set)), {}
    for fine, wider in tables:
        both, over = np.concatenate([fine, sizes]), np.concatenate([wider, coarse])
        key = tuple(sorted(map(int, fine)))
        if key not in kept:
            kept[key] = about((*key, *map(int, sizes)))
        classes = Alike(np.repeat(both, both))
        risks = [tuple(np.repeat(v, both) for v in one) for one in of_classes(both, over)]
        telling = Telling(classes=(classes,), of_risks=True, enclosed=tuple(risks))
        same["nothing"][kept[key][0], ()].add(key)
        told = tuple(as_told(telling, r) for r, *_ in risks)
        same["as told"][kept[key][0], told].add(key)
        verdict = bool((risks[0][0] > 0.9).any())
        same["and whether anybody is above 0.9"][kept[key][0], (*told, verdict)].add(key)
        same["as was"][kept[key][0], tuple(as_was(r) for r, *_ in risks)].add(key)
    return by_rule(same, kept)


def beside(*people):
    """All tables of so many people: classes, and the coarser class of each."""
    tables = [t for n in people for t in joined(n)]
    return [np.array([(p, c) for c, parts in t for p in parts]).T for t in tables]


def main(draws=5):
    tables = beside(10, 11)
    for n in (150, 300, 1_000):
        total = defaultdict(lambda: np.zeros(2, dtype=int))
        for i in range(draws):
            rng = np.random.default_rng([20261123, n, i])
            for name, found in narrowed(*drawn(rng, n), tables).items():
                total[name] += found
        said = "; ".join(f"{name} {bad} of {many:,}" for name, (many, bad) in total.items())
        print(f"{n:,} others, {draws} draws: {said}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
