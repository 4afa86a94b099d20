"""What a reader who knows all people but a few makes of the suppressed counts of one page.

    python -m benchmarks.attacker_strangers [PAGE [others]]

Of the few all tables are tried beside others who are known, each is asked anew, and tables are
grouped by every count of the page, in tens, and then by the whole page as well (its JSON and its
Markdown).  A count of fewer than ten is narrowed where some number that the counts leave occurs in
no table with the same page: by a mean, a median, the order of two rows, a sentence that is said.
"""

import json
import sys
import warnings
from collections import defaultdict
from itertools import combinations_with_replacement
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import reidbn as rb
from reidbn.attacks.family import ROLES
from reidbn.release import Alike
from reidbn.report import Telling, markdown
from reidbn.report import disclosure_figures as figures


def page(result, **options):
    """All that leaves, as one text."""
    told = json.dumps(result._numbers(custodian=False), sort_keys=True, default=float)
    return told + markdown(result._sheet(custodian=False, **options))


def classes_of(people, start=(1, 0)):
    """All ways to stand in classes in which so many have either secret."""
    if people == 0:
        yield ()
    for size in range(1, people + 1):
        for first in range(size + 1):
            if (size, first) >= start:
                for rest in classes_of(people - size, (size, first)):
                    yield ((size, first), *rest)


def in_bands(name, ppp):
    below = np.cumsum(np.bincount(figures.band_of(ppp, 0.0), minlength=6))[:-1]
    return {f"{name} {i}": int(count) for i, count in enumerate(below)}


def of_disclosure(d):
    """Every count of people on the page of a disclosure."""
    by, first = d.by_value()["people"], figures.by_value(d, Telling())["sure"].iloc[0]
    found = {"sure": int(d.sure.sum()), "of the first": int(first)} | in_bands("least", d.ppp_min)
    found |= {f"value {v}": int(by.get(v, 0)) for v in "xy"} | in_bands("all", d.ppp_full)
    if len(d.known) > 1:
        for reading in ("full", "weakest"):
            for name, ppp in figures.left_out_rows(d, reading).items():
                found |= in_bands(f"{reading} {name}", ppp)
        found |= {f"worst {i}": int(n) for i, n in enumerate(figures.worst_subsets(d)["broken"])}
    return found


def disclosures(rng, others, strangers=8):
    """One column: classes of their own for the strangers, beside classes nobody is sure in."""
    known = []
    while sum(size for size, _ in known) < others:
        size = int(rng.choice([2, 3, 4, 5, 8, 12, 20, 40]))
        first = int(np.clip(rng.binomial(size, rng.choice([0.2, 0.5, 0.8])), 1, size - 1))
        known.append((size, first))
    for table in classes_of(strangers):
        every = [*known, *table]
        alike = np.repeat(np.arange(len(every)), [size for size, _ in every])
        secret = "".join("x" * first + "y" * (size - first) for size, first in every)
        people = rb.read_table({"c": alike.astype(str), "s": list(secret)},
                               quasi_identifiers=["c"], sensitive=["s"])  # fmt: skip
        found = rb.disclosure(people, "s")
        yield of_disclosure(found), page(found), len(people)


def of_two(ask):
    """Two columns, in each a value of the strangers' own or one that others have."""

    def tables(rng, others, strangers=4):
        a, b = (rng.choice([*map(str, range(int(k)))], others) for k in rng.integers(2, 7, 2))
        secret = rng.choice(["x", "y"], others, p=[0.6, 0.4])
        kinds = [(x, y, s) for x in ("new", a[0]) for y in ("new", b[0]) for s in "xy"]
        for table in combinations_with_replacement(kinds, strangers):
            columns = {n: [*old, *new] for n, old, new in
                       zip("abs", (a, b, secret), zip(*table, strict=True), strict=True)}  # fmt: skip
            yield ask(rb.read_table(columns, quasi_identifiers=["a", "b"], sensitive=["s"]))

    return tables


def disclosed(people, **how):
    found = rb.disclosure(people, "s", **how)
    return of_disclosure(found), page(found), len(people)


def every_secret(people):
    """A disclosure, and beside it every column as the secret in turn."""
    found, every = rb.disclosure(people, "s"), rb.disclosure_all(people)
    counts = of_disclosure(found)
    for name, one in every.items():
        counts |= in_bands(f"{name} as the secret", one.ppp_min)
    return counts, page(found, every=every), len(people)


def generalised(rng, others, strangers=4):
    """A disclosure, and what it would be if ages were coarser; one of the strangers may be old."""
    age, sex = rng.integers(20, 30, others), rng.choice(["p", "q", "r"], others)
    secret = rng.choice(["x", "y"], others, p=[0.7, 0.3])
    kinds = [(x, y, s) for x in (int(age[0]), 31) for y in ("new", sex[0]) for s in "xy"]
    for table in combinations_with_replacement(kinds, strangers):
        columns = {n: [*old, *new] for n, old, new in
                   zip("abs", (age, sex, secret), zip(*table, strict=True), strict=True)}  # fmt: skip
        people = rb.read_table(columns, quasi_identifiers=["a", "b"], sensitive=["s"])
        found, best = rb.disclosure(people, "s"), rb.best_generalisation(people, "a", "s")
        rows = best.table.set_index("categories")
        counts = of_disclosure(found)
        for k in range(1, 13):
            there = k in rows.index
            counts[f"smallest of {k}"] = int(rows["smallest"].get(k, 0))
            counts[f"open in {k}"] = len(people) - int(rows["protected"][k]) if there else 0
        tried = [(best, rb.equal_width_search(people, "a", "s"))]
        yield counts, page(found, generalisations=tried), len(people)


def planned(rng, others, strangers=3):
    """The least change that lets nobody be one of fewer than three; who is left out."""
    a, b = (rng.choice([*map(str, range(int(k)))], others) for k in rng.integers(2, 7, 2))
    kinds = [(x, y) for x in ("n1", "n2", a[0]) for y in ("m1", b[0])]
    for table in combinations_with_replacement(kinds, strangers):
        columns = {n: [*old, *new] for n, old, new in
                   zip("ab", (a, b), zip(*table, strict=True), strict=True)}  # fmt: skip
        people = rb.read_table(columns, quasi_identifiers=["a", "b"])
        plan = rb.recommend(people, target="k=3", suppress_at_most=0.3)
        with TemporaryDirectory() as folder:
            files = [Path(folder) / name for name in ("p.json", "p.md")]
            text = "".join(plan.report(file).read_text() for file in files)
        yield {"left out": plan.best.suppressed}, text, len(people)


def minimal_uniques(rng, others, strangers=4):
    """Two columns; who is singled out by one of them, by both, and by which."""
    a, b = (rng.choice([*map(str, range(int(k)))], others) for k in rng.integers(2, 9, 2))
    kinds = [(x, y) for x in ("n1", "n2", a[0]) for y in ("m1", "m2", b[0])]
    for table in combinations_with_replacement(kinds, strangers):
        columns = {n: [*old, *new] for n, old, new in
                   zip("ab", (a, b), zip(*table, strict=True), strict=True)}  # fmt: skip
        people = rb.read_table(columns, quasi_identifiers=["a", "b"])
        found = rb.suda(people, sampling_fraction=0.05)
        number, size = found.counts.sum(axis=1), (found.counts > 0).argmax(axis=1)
        counts = {f"up to {k}": int(((number > 0) & (size <= k)).sum()) for k in (1, 2)}
        for j, name in enumerate(found.columns):
            held = found.owners[(found.masks >> j) & 1 == 1]
            counts[name] = len(np.unique(held))
        yield counts, page(found), len(people)


def fits(rng, others, strangers=4):
    """Released records by how many of an outside list, which the reader has, fit them."""
    known = rng.choice([0, 1, 2, 3, 5, 12, 40], others, p=[0.02, 0.03, 0.1, 0.15, 0.2, 0.2, 0.3])
    for table in combinations_with_replacement((0, 1, 2, 3, 4, 6, 12), strangers):
        every = [*map(int, known), *table]
        keys = np.arange(len(every)).astype(str)
        released = rb.read_table({"key": keys}, quasi_identifiers=["key"], allow_direct=True)
        outside = rb.read_table(
            {"key": np.repeat(keys, every)}, quasi_identifiers=["key"], allow_direct=True
        )
        found = rb.candidates(released, outside)
        upto = {
            k: int(((found.counts > 0) & (found.counts <= k)).sum()) for k in (1, 2, 4, 9, 19, 99)
        }
        nobody = int((found.counts == 0).sum())
        counts = {**upto, "nobody": nobody, "outside": sum(every)}
        yield counts, page(found), len(released)


def by_class(ask):
    """A page that counts people in classes, of whom the strangers stand in their own."""

    def tables(rng, others, strangers=10):
        known = []
        while sum(known) < others:
            known.append(int(rng.choice([1, 2, 3, 5, 8, 15, 40], p=[0.03, 0.05, *[0.184] * 5])))
        for table in {tuple(size for size, _ in found) for found in one_secret(strangers)}:
            sizes = [*known, *table]
            alike = np.repeat(np.arange(len(sizes)), sizes).astype(str)
            people = rb.read_table({"c": alike}, quasi_identifiers=["c"])
            classes = Alike(np.repeat(sizes, sizes))
            yield ({c: classes.exactly(c) for c in classes.cutoffs}, page(ask(people)), len(people))

    return tables


def one_secret(people):
    return (found for found in classes_of(people) if all(first == 0 for _, first in found))


def sparse(rng, others, features, strangers, ask):
    """Sparse records of a few features; the strangers' are like one's, with one fact, all or none."""
    names = [f"f{i}" for i in range(features)]
    known = rng.random((others, features)) < 0.3
    one, every = np.eye(features, dtype=bool)[0], np.ones(features, dtype=bool)
    kinds = [known[0], one, every, ~every]
    for table in combinations_with_replacement(range(4), strangers):
        cells = np.vstack([known, *(kinds[k] for k in table)])
        records = pd.DataFrame(np.where(cells, "y", None), columns=names)
        found, risks = ask(rb.read_sparse(records))
        counts = {(name, level): int((risk > level * (1 + 1e-9)).sum())
                  for name, risk in risks.items() for level in LEVELS}  # fmt: skip
        yield {**counts, "none": int((~cells.any(axis=1)).sum())}, page(found), len(cells)


LEVELS = (0.001, 0.01, 0.05, 0.09, 0.1, 0.2, 0.33, 0.5, 0.9, 0.99)


def linked(rng, others, strangers=3):
    def ask(table):
        found = rb.linkage(table, facts=[1, 2, 4], draws=20)
        return found, dict(zip(found.ks, found.success.T, strict=True))

    return sparse(rng, others, 5, strangers, ask)


def assessed_sparse(rng, others, strangers=3):
    def ask(table, kept=[]):  # noqa: B006 - of another table: a check is not what is read
        found = rb.assess("linkage", table)
        kept[:] = kept or [found.keep_crosscheck(draws=1_000)]
        found.__dict__["crosscheck"] = kept[0]
        return found, found.risks

    return sparse(rng, others, 6, strangers, ask)


def related(rng, others, strangers=2):
    """Whose record leads to relatives; the strangers are some of four made-up people."""
    made = rb.datasets.synthetic_ehr(others + 4, seed=int(rng.integers(1000)))
    for table in combinations_with_replacement(range(others, others + 4), strangers):
        rows = made.table.iloc[[*range(others), *table]].reset_index(drop=True)
        found = rb.neighbourhood(rb.read_kin(rb.read_sparse(rows, features=made.features)))
        counts = {(role, what): int(found.share_of(role, what).sum()) for role in ROLES
                  for what in ("attackable", "named", "present")}  # fmt: skip
        yield counts | {"some": int((found.people["named"] > 0).sum())}, page(found), len(rows)


PAGES = {
    "disclosure": disclosures, "two": of_two(disclosed),
    "chances": of_two(lambda people: disclosed(people, known={"a": 0.9, "b": 0.5})),
    "every": of_two(every_secret), "coarser": generalised, "plan": planned,
    "suda": minimal_uniques, "fits": fits,
    "leak": by_class(lambda people: rb.leak.assess(people, leaked=20)),
    "population": by_class(lambda people: rb.population.fit(people, population=20_000)),
    "linkage": linked, "sparse": assessed_sparse, "family": related,
}  # fmt: skip


def narrowed(tables):
    """Counts of fewer than ten that the counts in tens leave open, and those that the page narrows."""
    left, same = defaultdict(set), defaultdict(set)
    for counts, text, people in tables:
        told = (people // 10, *(count // 10 for count in counts.values()))
        left[told].add(tuple(counts.values()))
        same[told, text].add(tuple(counts.values()))
    many = bad = 0
    for (told, _), tables in same.items():
        for ten, can, open_ in zip(
            told[1:], zip(*tables, strict=True), zip(*left[told], strict=True), strict=True
        ):
            if ten == 0 and min(open_) < max(open_):
                many += 1
                bad += (min(can), max(can)) != (min(open_), max(open_))
    return many, bad


def main(only="", others=150):
    warnings.simplefilter("ignore")
    for name in [only] if only else PAGES:
        for draw in range(3):
            rng = np.random.default_rng([20261124, draw])
            many, bad = narrowed(PAGES[name](rng, int(others) + 37 * draw))
            print(f"{name}, about {int(others) + 37 * draw} others: {bad} of {many}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
