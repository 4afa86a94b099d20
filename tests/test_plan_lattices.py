"""Random lattices: the plan against every way to release, counted by a reading of their own.

Five attackers: two of adversary-routes whose risk is arithmetic (alone, or one of those alike),
one who guesses best where nobody is alone, everybody on every column (k), and adversary-routes
whole.  Six losses, with and without people left out, with levels that
nest and levels that do not.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.plans import direction_of

ATTACKS = ("prosecutor", "marketer", "crowd", "k", "overall")
LOSSES = ("entropy", "discernibility", "granularity", "average-class", "tables", "function")
TABLES = (("a", "b"), ("c",))
CROWD = """
schema_version: 1
name: crowd
title: Who is alone is missed
story: Who is one of many is found. Assumed all of it.
subject: {class_size: {per: known, unit: records, range: [1, 1000000000], story: alike}}
groups: {known: {story: what is known, members: [a, b], probability: 0.5, source: assumption}}
nodes:
  alone: {parents: [known], story: one record, cpd: {kind: unique, of: "@class_size"}}
  found:
    parents: [alone]
    story: found where somebody else is alike
    source: assumption
    cpd: {kind: rows, rows: [{when: {alone: "no"}, p: [0.4, 0.6]}, {p: [0.9, 0.1]}]}
questions: {risk: {target: found=yes}}
"""


def ladder(widths):
    """Bands of these widths, whether or not each holds whole ones of the one before."""

    class Widths(rb.Bands):
        def climb(self, value, level, **_):
            low = int(value) // widths[level - 1] * widths[level - 1]
            return f"{low}-{low + widths[level - 1] - 1}"

    return Widths(*(2 * 2**i for i in range(len(widths))))


class Lattice:
    """A table, its widths, and by hand what every way loses and who has which risk."""

    def __init__(self, seed, most):
        rng = np.random.default_rng(seed)
        self.attack = ATTACKS[seed % 5]
        self.loss = LOSSES[seed // 5 % 6]
        self.share = (0.0, 0.15)[seed // 30 % 2] if self.attack != "crowd" else 0.0
        nests = seed // 60 % 2 == 0
        columns = 2 + int(rng.integers(0, 3))
        self.names = list("abcd")[: max(columns, 3)]
        self.n = n = int(rng.integers(12, 70))
        self.frame = pd.DataFrame({c: rng.integers(0, rng.integers(3, 24), n) for c in self.names})
        some = [(2, 4, 8, 16), (3, 6), (2, 6, 12), (4,)] if nests else [(2, 3), (3, 4, 8), (5, 7)]
        self.widths = {c: some[rng.integers(len(some))] for c in self.names}
        few = 2 if most < 300 else 4
        self.widths = {c: w[:few] for c, w in self.widths.items()}
        self.k = int(rng.integers(2, 5))
        self.chances = np.round(rng.uniform(0.2, 1, len(self.names)), 2)
        self.what = "highest" if self.share else ("highest", "mean", "q80", "above")[seed // 7 % 4]
        if self.attack == "overall":
            people = rb.read_table(self.frame, quasi_identifiers=self.names)
            result = rb.assess("adversary-routes", people, **self.call())
            shown = direction_of(result, "overall")
            self.curve, self.gain = shown.base, shown.gain
            np.testing.assert_allclose(self.risks(self.frame.to_numpy()), result.risk(), rtol=1e-12)
        # ...a limit that some ways keep: the number of a random way
        self.limit = 1.0
        if self.attack != "k":
            node = [int(rng.integers(0, len(self.widths[c]) + 2)) for c in self.names]
            self.limit = float(self.number(self.risks(self.coarse(node)))) + 1e-6

    def coarse(self, node):
        found = []
        for c, level in zip(self.names, node, strict=True):
            values, widths = self.frame[c].to_numpy(), self.widths[c]
            top = level > len(widths)
            coarse = np.zeros_like(values) if top else values // widths[level - 1]
            found.append(coarse if level else values)
        return np.stack(found, axis=1)

    def alike(self, codes, some):
        if not len(some):
            return np.full(len(codes), len(codes))
        _, of, sizes = np.unique(codes[:, some], axis=0, return_inverse=True, return_counts=True)
        return sizes[of.ravel()]

    def risks(self, codes, kept=None):
        """The risk of everybody who is kept, by hand; of `overall` by its curve."""
        kept = np.ones(len(codes), dtype=bool) if kept is None else kept
        left = codes[kept]
        if self.attack == "k":
            return 1 / self.alike(left, range(codes.shape[1]))
        total = np.zeros(len(left))
        for known in product((0, 1), repeat=codes.shape[1]):
            p = np.prod([c if k else 1 - c for c, k in zip(self.chances, known, strict=True)])
            some = np.flatnonzero(known)
            f, whole = self.alike(left, some), self.alike(codes, some)[kept]
            if self.attack == "overall":  # the table is the population: alone is unique there
                own = self.curve[f - 1] + self.gain * ((f == 1) & (whole == 1))
            elif self.attack == "crowd":
                own = np.where(f == 1, 0.1, 0.6)
            else:
                own = f == 1 if self.attack == "prosecutor" else 1 / f
            total += p * own
        return total

    def number(self, risk):
        if self.what == "highest":
            return risk.max()
        if self.what == "mean":
            return risk.mean()
        return np.sort(risk)[int(np.ceil(0.8 * len(risk))) - 1]  # q80, and above it 20 %

    def keeps(self, risk):
        if self.attack == "k":
            return risk.max() <= 1 / self.k + 1e-12
        if self.what in ("highest", "mean"):
            return self.number(risk) <= self.limit * (1 + 1e-12)
        return (risk > self.limit * (1 + 1e-12)).sum() <= 0.2 * len(risk) + 1e-9

    def peeled(self, codes):
        """Who stays when all who are over the limit go, again and again; None beyond the budget."""
        kept = np.ones(self.n, dtype=bool)
        while True:
            risk = self.risks(codes, kept)
            if self.keeps(risk):
                return kept
            limit = 1 / self.k if self.attack == "k" else self.limit
            over = risk > limit * (1 + 1e-12)
            kept[np.flatnonzero(kept)[over]] = False
            if not self.share or (~kept).sum() > int(self.share * self.n + 1e-9):
                return None

    def lost(self, codes, kept):
        n, out = self.n, self.n - kept.sum()
        fine = self.frame.to_numpy()
        if self.loss in ("discernibility", "average-class", "function"):
            sizes = self.alike(codes[kept], range(codes.shape[1]))
            least = self.alike(fine, range(codes.shape[1]))
            classes, finest = round((1 / sizes).sum()), round((1 / least).sum())
            if self.loss == "function":
                return float(sizes.mean()) + out
            if self.loss == "average-class":
                return (n / classes - n / finest) / (n - n / finest) if finest > 1 else 0
            pairs = sizes.sum() + out * n
            return (pairs - least.sum()) / (n * n - least.sum()) if least.sum() < n * n else 0
        if self.loss == "tables":
            return np.mean([self.apart(codes, kept, [self.names.index(c) for c in t])
                            for t in TABLES])  # fmt: skip
        total = 0.0
        for j in range(codes.shape[1]):
            v, w = fine[:, j], codes[:, j]
            has, group = self.alike(fine, [j]), self.alike(codes, [j])
            if self.loss == "entropy":
                whole, some = np.log2(n / has), np.log2(group / has)
            else:
                under = {x: len(set(v[w == x])) for x in set(w)}
                most = max(len(set(v)) - 1, 1)
                whole, some = np.ones(n), np.array([(under[x] - 1) / most for x in w])
            if whole.sum():
                total += np.where(kept, some, whole).sum() / whole.sum() / codes.shape[1]
        return total

    def apart(self, codes, kept, own):
        fine = self.frame.to_numpy()
        values = [sorted(set(fine[:, j])) for j in own]
        group = [dict(zip(fine[:, j], codes[:, j], strict=True)) for j in own]
        total = 0.0
        for cell in product(*values):
            share = (fine[:, own] == cell).all(axis=1).mean()
            above = [g[v] for g, v in zip(group, cell, strict=True)]
            told = (codes[kept][:, own] == above).all(axis=1).mean()
            for g, a, some in zip(group, above, values, strict=True):
                told /= sum(g[v] == a for v in some)
            total += abs(share - told) / 2
        return total

    def best(self):
        """The least loss over every way, and how many ways there are."""
        every = list(product(*(range(len(self.widths[c]) + 2) for c in self.names)))
        least = np.inf
        for node in every:
            codes = self.coarse(node)
            kept = self.peeled(codes)
            if kept is not None:
                least = min(least, self.lost(codes, kept))
        return least, len(every)

    def call(self):
        """What the attack is asked with; the table is its own population for `overall`."""
        known = {"known": dict(zip(self.names, self.chances, strict=True))}
        people = {"population": self.n if self.attack == "overall" else 10**6,
                  "population_model": "pitman"}  # fmt: skip
        return {} if self.attack == "k" else known | ({} if self.attack == "crowd" else people)

    def plan(self, folder, **more):
        people = rb.read_table(self.frame, quasi_identifiers=self.names)
        limit = {"highest": "highest <= {}", "mean": "mean <= {}", "q80": "q80 <= {}",
                 "above": "above {} <= 20%"}[self.what].format(repr(self.limit))  # fmt: skip
        measure = {"crowd": "overall"}.get(self.attack, self.attack)
        attack = None if self.attack == "k" else "adversary-routes"
        if self.attack == "crowd":
            (folder / "crowd.yaml").write_text(CROWD)
            attack = rb.load(folder / "crowd.yaml")
        loss = {"tables": rb.plans.Margins(*TABLES), "function": sizes_and_gone(self.n)}
        return people, rb.recommend(
            people, attack, target=f"k={self.k}" if self.attack == "k" else {measure: limit},
            hierarchies={c: ladder(w) for c, w in self.widths.items()}, **self.call(),
            suppress_at_most=self.share, loss=loss.get(self.loss, self.loss), **more,
        )  # fmt: skip


def sizes_and_gone(n):
    return lambda people: float(people.class_sizes().mean()) + n - len(people)


def check(seed, folder, most):
    made = Lattice(seed, most)
    least, nodes = made.best()
    assert nodes <= 4_000
    if np.isinf(least):
        with pytest.raises(rb.errors.DataError, match="no way to release"):
            made.plan(folder)
        return
    people, plan = made.plan(folder)
    proof = plan.certificate
    assert plan.best.loss == pytest.approx(least, abs=1e-9)
    assert proof.is_proved
    assert proof.nodes == nodes == proof.counted + sum(proof.skipped.values())
    kept = ~plan._found.left_out
    codes = made.coarse([plan.best.levels[c] for c in made.names])
    assert made.keeps(made.risks(codes, kept))
    assert kept.sum() == len(plan.apply()) == len(people) - plan.best.suppressed


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 10)) for s in range(40)]
)
def test_a_plan_is_the_best_of_all_ways_and_its_certificate_is_true(seed, tmp_path):
    check(13 * seed + 1000, tmp_path, most=100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_three_hundred_lattices_of_up_to_4_000_ways(seed, tmp_path):
    check(seed, tmp_path, most=4_000)
