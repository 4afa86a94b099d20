"""Recommend where two rooms meet: an oracle that reads a CSV and acts every release out by itself.

Small tables with columns of every kind (numbers, nullable ones, dates, truth values, categories,
texts with blanks, mixed ones), missing cells read in each way, tables suppressed, coarser, sampled
before, chances of each person, several attacks, evidence, secrets, losses and columns kept, dropped
and weighed.  The oracle knows the raw values alone: every level of every column with every set of
people left out.
"""

import csv
import datetime
import warnings
from itertools import product
from math import floor

import numpy as np
import pandas as pd
import pytest
from inside import inside

import reidbn as rb

TREE = {"ab": ["A", "B"], "cd": ["C", "D"], "rest": ["E"]}
UP = {leaf: branch for branch, leaves in TREE.items() for leaf in leaves}
DAYS = [datetime.date(2020 + y, 1 + m, 1 + d) for y, m, d in product(range(2), repeat=3)]
KINDS = {  # values, hierarchy, and what each level above 0 makes of a value, the top left away
    "int": (list(range(7)), rb.Bands(2, 4), (lambda v: v // 2, lambda v: v // 4)),
    "Int64": (list(range(7)), "bands:3", (lambda v: v // 3,)),
    "float": ([v / 2 for v in range(6)], rb.Bands(1), (lambda v: v // 1,)),
    "text": (list("ABCDE"), TREE, (UP.get,)),
    "category": (list("ABCDE"), TREE, (UP.get,)),
    "date": (DAYS, rb.microdata.Dates("month", "year"),
             (lambda v: (v.year, v.month), lambda v: v.year)),
    "bool": ([False, True], None, ()),
    "mixed": ([3, "x", "y z"], None, ()),
}  # fmt: skip
SET = {"p_cu": 0.0, "p_m": 0.75, "p_fm": 0.5}
MEASURES = ("prosecutor", "marketer", "overall")
SLACK = 1 + 1e-12


class Seam:
    """A table, what is asked of it, and by hand what every way to release it tells and loses."""

    def __init__(self, seed):
        self.seed = seed
        rng = np.random.default_rng([seed, 16])

        def pick(*these):
            return these[rng.integers(len(these))]

        self.n = n = int(rng.integers(5, 9))
        self.names = list("pqr")[: int(rng.integers(2, 4))]
        self.kinds = {c: pick(*KINDS) for c in self.names}
        self.missing, gaps = pick("value", "matches-anything", "drop"), pick(0.0, 0.2)
        self.raw = {
            c: [None if rng.random() < gaps else KINDS[kind][0][i]
                for i in rng.integers(len(KINDS[kind][0]), size=n)]
            for c, kind in self.kinds.items()
        }  # fmt: skip
        self.secret = [str(s) for s in rng.choice(["flu", "hiv", "leg"], n)]
        self.key = [f"k{i}" for i in rng.permutation(n)]
        self.by_file = "mixed" in self.kinds.values() or pick(True, False)
        self.start = pick("plain", "plain", "suppressed", "coarser", "sample", "both")
        self.loss = pick("entropy", "entropy", "granularity", "discernibility", "average-class")
        self.share = pick(0.0, 0.2, 0.4)
        self.asked = pick("nothing", "one", "one", "given", "several")
        self.each = [pick(True, False) for _ in self.names]  # chances of each person
        self.p = np.where(self.each, np.round(rng.uniform(0.1, 1, (n, len(self.names))), 2),
                          np.round(rng.uniform(0.1, 1, len(self.names)), 2))  # fmt: skip
        self.keep = self.names[:1] if rng.random() < 0.25 else []
        self.drop = self.names[-1:] if rng.random() < 0.2 else []
        self.weight = dict.fromkeys(self.names, 1.0)
        self.cells = self.loss in ("entropy", "granularity")
        if self.cells:
            self.weight |= {c: float(rng.integers(0, 4)) for c in self.names[1:]}
        kinds = ("k", "best guess", "PPP", "mean PPP") if self.asked == "nothing" else (
            "highest", "mean", "q", "above", "k", "best guess")  # fmt: skip
        self.targets = [(pick(*kinds), pick(*MEASURES), float(np.round(rng.uniform(0.25, 0.9), 3)),
                         int(rng.integers(2, 4))) for _ in range(pick(1, 1, 2, 3))]  # fmt: skip
        self.base = dict.fromkeys(self.names, 0)
        self.rows = [i for i in range(n) if self.missing != "drop"
                     or all(v[i] is not None for v in self.raw.values())]  # fmt: skip

    def source(self, folder):
        as_typed = {"Int64": "Int64", "category": "category"}
        frame = pd.DataFrame({
            c: pd.Series([f" {v} " if kind == "text" and v else v for v in self.raw[c]],
                         dtype=as_typed.get(kind, object))
            for c, kind in self.kinds.items()
        } | {"s": self.secret, "key": self.key})  # fmt: skip
        if not self.by_file:
            return frame
        frame.to_csv(folder / "t.csv", index=False)
        return folder / "t.csv"

    def people(self, folder):
        """The people, and in self.rows by hand who they are."""
        found = rb.read_table(self.source(folder), quasi_identifiers=self.names, sensitive="s",
                              subject_id="key", missing=self.missing)  # fmt: skip
        first, ladder = self.names[0], KINDS[self.kinds[self.names[0]]][1]
        if self.start in ("coarser", "both") and ladder is not None:
            found = found.generalise({first: 1}, hierarchies={first: ladder})
            self.base[first] = 1
        if self.start in ("suppressed", "both"):
            found = found.suppress(2)
            while True:
                told = [tuple(self.at(c, i, self.base[c]) for c in self.names) for i in self.rows]
                left = [i for i, own in zip(self.rows, told, strict=True) if told.count(own) > 1]
                if left == self.rows:
                    break
                self.rows = left
        assert found.rows_read.tolist() == self.rows
        return found

    def at(self, column, i, level):
        steps, value = KINDS[self.kinds[column]][2], self.raw[column][i]
        if level > len(steps):
            return "*"
        return value if value is None or not level else steps[level - 1](value)

    def known(self, rows):
        return {c: self.p[rows, j] if each else float(self.p[0, j])
                for j, (c, each) in enumerate(zip(self.names, self.each, strict=True))}  # fmt: skip

    def attacks(self):
        """Each attack, and the chance of a claim in it."""
        one = rb.load("adversary-routes")
        both = [(one.with_values({"p_c": 0.4}), 0.4),
                (one.with_values({"p_c": 0.9}).replace(name="other"), 0.9)]  # fmt: skip
        return both[: {"nothing": 0, "several": 2}.get(self.asked, 1)]

    def plan(self, people):
        told = {"k": lambda m, x, k: f"k={k}", "q": lambda m, x, k: {m: f"q75 <= {x!r}"},
                "best guess": lambda m, x, k: {"s": f"best guess <= {x!r}"},
                "PPP": lambda m, x, k: {"s": f"PPP >= {x!r}"},
                "mean PPP": lambda m, x, k: {"s": f"mean PPP >= {x!r}"},
                "above": lambda m, x, k: {m: f"above {x!r} <= 25%"}}  # fmt: skip
        asked = {
            "target": [told.get(w, lambda m, x, k, w=w: {m: f"{w} <= {x!r}"})(m, x, k)
                       for w, m, x, k in self.targets],
            "hierarchies": {c: KINDS[kind][1] for c, kind in self.kinds.items() if KINDS[kind][1]},
            "suppress_at_most": self.share, "loss": self.loss, "keep": self.keep,
            "drop": self.drop, "importance": self.weight if self.cells else None,
        }  # fmt: skip
        attacks = [attack for attack, _ in self.attacks()]
        if attacks:
            asked |= self.about(self.rows) | {"attack": attacks}
        if self.start == "sample":
            asked |= {"sample": 0.8, "seed": self.seed}
            share = round(0.8 * len(self.rows))
            draw = np.random.default_rng(self.seed).choice(len(self.rows), share, replace=False)
            self.rows = [self.rows[i] for i in np.sort(draw)]
        return rb.recommend(people, **asked)

    def about(self, rows):
        given = {"given": {"knows_membership": "yes"}} if self.asked == "given" else {}
        return {"known": self.known(rows), "population": 10**6, "population_model": "pitman",
                "set": SET} | given  # fmt: skip

    # -- a release, by hand ------------------------------------------------------------------------

    def released(self, node):
        return [[self.at(c, i, level) for i in self.rows]
                for c, level in zip(self.names, node, strict=True)]  # fmt: skip

    def risks(self, cells, rows, sets, claims):
        """Every measure of everybody in each set of people: sets x people."""
        wild = self.missing == "matches-anything"
        fits = [np.array([[a == b or (wild and None in (a, b)) for b in col] for a in col])
                for col in cells]  # fmt: skip
        p, member = self.p[rows], 1.0 if self.asked == "given" else SET["p_m"]
        found = dict.fromkeys(MEASURES, 0.0)
        for known in product((0, 1), repeat=len(cells)):
            fit = np.all([np.ones((len(rows),) * 2), *(f for f, k in zip(fits, known, strict=True)
                                                       if k)], axis=0)  # fmt: skip
            alike = np.where(sets, sets.astype(float) @ fit.T, 1.0)
            chance = np.prod([p[:, j] if k else 1 - p[:, j] for j, k in enumerate(known)], axis=0)
            alone = alike == 1
            found["prosecutor"] += chance * alone
            found["marketer"] += chance / alike
            found["overall"] += chance * (
                1 - (1 - member * SET["p_fm"] * alone) * (1 - claims / alike)
            )
        return found

    def classes(self, cells, rows, sets):
        """How many are written alike, and the share of them who have one's secret."""
        same = np.all([[[a == b for b in col] for a in col] for col in cells], axis=0)
        own = np.array([[self.secret[a] == self.secret[b] for b in rows] for a in rows])
        alike = np.where(sets, sets.astype(float) @ same.T, 1.0)
        return alike, sets.astype(float) @ (same & own).T / alike

    def numbers(self, cells, rows, sets):
        """Of each target the number of every set of people, and whether it is kept."""
        alike, own = self.classes(cells, rows, sets)
        count = sets.sum(axis=1)

        def highest(values):
            return np.where(sets, values, -1).max(axis=1)

        for what, measure, x, k in self.targets:
            if what == "k":
                yield 1 / highest(1 / alike), highest(1 / alike) <= 1 / k * SLACK
            elif what in ("best guess", "PPP"):
                limit = x if what == "best guess" else 1 - x
                yield highest(own), highest(own) <= limit * SLACK
            elif what == "mean PPP":
                mean = np.where(sets, own, 0).sum(axis=1) / count
                yield mean, mean <= (1 - x) * SLACK
            else:
                for _, claims in self.attacks():
                    risk = np.where(sets, self.risks(cells, rows, sets, claims)[measure], -1)
                    over = (risk > x * SLACK).sum(axis=1)
                    if what == "mean":
                        mean = np.where(sets, risk, 0).sum(axis=1) / count
                        yield mean, mean <= x * SLACK
                    elif what == "highest":
                        yield risk.max(axis=1), over == 0
                    elif what == "above":
                        yield over / count, over <= np.floor(0.25 * count + 1e-9)
                    else:
                        some = [np.quantile(r[s], 0.75, method="inverted_cdf")
                                for r, s in zip(risk, sets, strict=True)]  # fmt: skip
                        yield np.array(some), over <= np.floor(0.25 * count + 1e-9)

    def keeps(self, cells, rows, sets):
        return np.all([met for _, met in self.numbers(cells, rows, sets)], axis=0)

    def lost(self, cells, sets):
        fine, n = self.released([self.base[c] for c in self.names]), len(self.rows)
        alike = self.classes(cells, self.rows, sets)[0]
        first = self.classes(fine, self.rows, np.ones((1, n), dtype=bool))[0][0]
        if self.loss == "discernibility":
            pairs = np.where(sets, alike, 0).sum(axis=1) + (~sets).sum(axis=1) * n
            span = n * n - first.sum()
            return (pairs - first.sum()) / span if span else np.zeros(len(sets))
        if self.loss == "average-class":
            number, most = (
                np.rint(np.where(sets, 1 / alike, 0).sum(axis=1)),
                round((1 / first).sum()),
            )
            return (n / number - n / most) / (n - n / most) if most > 1 else np.zeros(len(sets))
        total = np.zeros(len(sets))
        for c, was, now in zip(self.names, fine, cells, strict=True):
            has, group = (np.array([col.count(v) for v in col]) for col in (was, now))
            some, whole = np.log2(group / has), np.log2(n / has)
            if self.loss == "granularity":
                under = {w: len({a for a, b in zip(was, now, strict=True) if b == w}) for w in now}
                some = np.array([(under[w] - 1) / max(len(set(was)) - 1, 1) for w in now])
                whole = np.ones(n)
            if whole.sum():
                share = self.weight[c] / sum(self.weight.values())
                total += share * np.where(sets, some, whole).sum(axis=1) / whole.sum()
        return total

    def best(self):
        """The least loss that can be had; of a loss of classes by leaving out no more than must."""
        n = len(self.rows)
        budget = floor(self.share * n + 1e-9)
        sets = np.array([s for s in product((True, False), repeat=n)
                         if sum(s) >= max(1, n - budget)])  # fmt: skip
        levels = []
        for c, kind in self.kinds.items():
            own = list(range(self.base[c], len(KINDS[kind][2]) + 2))
            levels.append(own[:1] if c in self.keep else own[-1:] if c in self.drop else own)
        least = np.inf
        for node in product(*levels):
            cells = self.released(node)
            kept = sets[self.keeps(cells, self.rows, sets)]
            if not self.cells and len(kept):
                more = (kept[:, None] <= kept[None]).all(axis=2) & ~np.eye(len(kept), dtype=bool)
                kept = kept[~more.any(axis=1)]
            if len(kept):
                least = min(least, self.lost(cells, kept).min())
        return least


def refused(seam, message):
    """Whether a problem is one that is refused, and why that is right."""
    vague = seam.missing == "matches-anything" and any(None in v for v in seam.raw.values())
    about = any(what in ("best guess", "PPP", "mean PPP") for what, *_ in seam.targets)
    return vague and about and "some values match several others" in message


def check(seed, folder):
    seam = Seam(seed)
    try:
        people = seam.people(folder)
    except rb.errors.DataError as problem:
        assert any(word in str(problem) for word in ("nobody", "every"))  # noqa: PT017 - any of them
        return
    try:
        plan = seam.plan(people)
    except rb.errors.UsageError as problem:
        assert refused(seam, str(problem))  # noqa: PT017 - the other outcome
        return
    except rb.errors.DataError as problem:
        least = seam.best()
        assert str(problem).startswith("no way to release")  # noqa: PT017 - the other outcome
        assert np.isinf(least) or "was found" in str(problem)  # noqa: PT017 - the other outcome
        return
    least, proof = seam.best(), plan.certificate
    kept = ~plan._found.left_out
    node = [plan.best.levels[c] for c in seam.names]
    cells, rows = seam.released(node), [i for i, k in zip(seam.rows, kept, strict=True) if k]
    assert seam.keeps(cells, seam.rows, kept[None])[0]
    assert plan.best.loss == pytest.approx(seam.lost(cells, kept[None])[0], abs=1e-9)
    assert plan.best.loss - proof.gap <= least + 1e-9
    assert not proof.is_proved or plan.best.loss <= least + 1e-9
    says_what_is_true(seam, plan, cells, kept)
    is_told_by_a_fresh_assessment(seam, plan.apply(), cells, rows, kept)
    is_so_in_its_file(seam, plan, rows, folder)


def says_what_is_true(seam, plan, cells, kept):
    """Measures, targets and what binds, before and after, by hand."""
    asis, every = seam.released([seam.base[c] for c in seam.names]), np.ones(len(kept), dtype=bool)
    claims = {"adversary-routes": 0.4, "other": 0.9}
    for row in plan.measures.itertuples():
        if row.measure in MEASURES:
            for values, some, when in ((asis, every, "before"), (cells, kept, "after")):
                risk = seam.risks(values, seam.rows, some[None], claims[row.under])[row.measure]
                risk = risk[0][some]
                assert getattr(row, f"highest_{when}") == pytest.approx(risk.max(), abs=1e-9)
                assert getattr(row, f"mean_{when}") == pytest.approx(risk.mean(), abs=1e-9)
    names = [str(t) for t in plan.targets]
    if len([*seam.numbers(asis, seam.rows, every[None])]) > len(names):
        return  # what is asked twice is told once
    for values, some, told in ((asis, every, plan.best.before), (cells, kept, plan.best.after)):
        mine = [number[0] for number, _ in seam.numbers(values, seam.rows, some[None])]
        assert [told[name] for name in names] == pytest.approx(mine, abs=1e-9)
    for row in plan.binding.itertuples():
        finer = [row.level if c == row.column else plan.best.levels[c] for c in seam.names]
        found = list(seam.numbers(seam.released(finer), seam.rows, kept[None]))
        number, met = found[names.index(row.target)]
        assert row.value == pytest.approx(number[0], abs=1e-9)
        assert row.breaks != met[0]


def is_told_by_a_fresh_assessment(seam, people, cells, rows, kept):
    assert people.rows_read.tolist() == rows
    for attack, claims in seam.attacks():
        fresh, mine = rb.assess(attack, people, **seam.about(rows)), seam.risks(
            cells, seam.rows, kept[None], claims)  # fmt: skip
        for measure in MEASURES:
            np.testing.assert_allclose(fresh.risk(measure), mine[measure][0][kept], atol=1e-9)


def is_so_in_its_file(seam, plan, rows, folder):
    """The file is read by itself, acted out, and read again by read_table."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        plan.write(folder / "w.csv", keep_id=True)
    with open(folder / "w.csv", newline="", encoding="utf-8-sig") as file:
        lines = [{k: v.strip() or None for k, v in line.items()} for line in csv.DictReader(file)]
    order = [seam.key.index(line["key"]) for line in lines]
    cells, whole = [[line[c] for line in lines] for c in seam.names], np.ones((1, len(order)), bool)
    assert sorted(order) == rows
    assert [line["s"] for line in lines] == [seam.secret[i] for i in order]
    assert seam.keeps(cells, order, whole)[0]
    empty = any(not any(col) for col in cells)
    assert empty <= any("missing for everybody" in str(one.message) for one in told)
    if empty:
        return  # a column without a value is not read
    back = rb.read_table(folder / "w.csv", quasi_identifiers=seam.names, sensitive="s",
                         missing="value" if seam.missing == "drop" else seam.missing)  # fmt: skip
    assert np.array_equal(back.as_written().class_sizes(), seam.classes(cells, order, whole)[0][0])
    for attack, claims in seam.attacks():
        fresh, mine = rb.assess(attack, back, **seam.about(order)), seam.risks(
            cells, order, whole, claims)  # fmt: skip
        for measure in MEASURES:
            np.testing.assert_allclose(fresh.risk(measure), mine[measure][0], atol=1e-9)


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 11)) for s in range(300)]
)
def test_a_release_acted_out_by_itself_keeps_what_was_asked_and_none_loses_less(seed, tmp_path):
    check(seed, tmp_path)


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 1_003)) for s in range(1_000, 1_060)]
)
def test_so_do_those_of_a_search_that_holds_no_number_for_every_way(seed, tmp_path, monkeypatch):
    cells = Seam(seed).cells
    monkeypatch.setattr(inside(rb.recommend), "MOST_NODES", 0 if cells else 10**6)
    check(seed, tmp_path)
