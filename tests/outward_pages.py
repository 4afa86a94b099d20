"""A reader of the other pages that leave the house, alone and together with that of an assessment.

Unknown are the classes of each size, and so many people in every set that a page counts; the reader
knows how these sets lie in each other (who is alone is in a class of one; what is known of all is
the union over what is known of parts; parts make up a whole), everything that the Markdown and the
JSON tell, and asks an exact integer programme (HiGHS) how small and how large each cell marked
"under 10" can be.  Nothing of the product's telling is used.

What the reader does not model: how the shares of a secret step within a class (PPP of 1/3 needs a
class of three, six, ...), but that who is sure is alone or in a class of one value.
"""

import re
from dataclasses import dataclass, field
from itertools import combinations
from math import lgamma

import numpy as np
import outward_attacker as assess
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

MARK, EPS = 9, 1e-6


@dataclass
class Cell:
    """What is marked "under 10": a row over the unknowns, the truth, and what the mark promises."""

    page: str
    name: str
    row: dict
    low: int = 0
    high: int = MARK


@dataclass
class Pages:
    """Everything that is known, as rows over named unknowns."""

    most: int
    index: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)
    by_n: list = field(default_factory=list)
    """Rows that depend on how many people there are: functions of it."""
    cells: list = field(default_factory=list)
    whole: tuple = (0, 0)
    nobody: int = 0
    somebody: int = 0
    few: bool = False
    """Those are marked of whom a verdict says that there are some."""
    unsettled: set = field(default_factory=set)
    """Cells of which the search did not end in time."""

    def __post_init__(self):
        for size in range(1, self.most + 1):
            self.index["class", size] = len(self.index)

    def of(self, *names):
        for name in names:
            self.index.setdefault(name, len(self.index))
        return dict.fromkeys(names, 1.0)

    def upto(self, last, first=1):
        """The people in classes of first to last."""
        return {("class", s): float(s) for s in range(first, min(last, self.most) + 1)}

    @property
    def everybody(self):
        return self.upto(self.most)

    def know(self, row, low, high):
        self.rows.append((row, low, high))

    def mark(self, page, name, row, promise=(0, MARK)):
        if promise[0] < promise[1]:
            self.cells.append(Cell(page, name, row, *promise))

    def chain(self, page, name, cumulative, first=None, promise=(0, MARK)):
        """Sets that lie in each other, each told from so many to so many; marks told or between.

        promise: what the mark of the first leaves.
        """
        before, low_before = first, 0
        for i, (row, (low, high)) in enumerate(cumulative):
            self.know(row, low, high)
            if high <= MARK:
                self.mark(page, f"{name} {i}", row, (0, MARK) if i else promise)
            if before is not None:
                between = minus(row, before)
                self.know(between, 0, np.inf)
                if i and high - low_before <= MARK:
                    self.mark(page, f"{name} {i - 1} to {i}", between)
            before, low_before = row, low

    def classes_can(self, last, least=None):
        """What sums of class sizes up to `last` can be, from 0 to 9; of a cutoff from `least`."""
        least = last if least is None else least
        can = {0}
        for size in range(self.nobody + 1, min(last, MARK) + 1):
            can |= {c + size * k for c in can for k in range(MARK // size + 1)}
        can = {c for c in can if c <= MARK}
        if self.somebody and (least >= self.somebody or (self.few and least >= MARK)):
            can -= {0}  # of few people nobody is in a class of ten or more
        return (min(can), max(can)) if last > self.nobody else (0, 0)

    def class_cell(self, page, last, low, high):
        self.know(self.upto(last), low, high)
        if high <= MARK:
            self.mark(page, f"classes to {last}", self.upto(last), self.classes_can(last))

    def matrix(self, n):
        rows = [*self.rows, (self.everybody, n, n)]
        for more in self.by_n:
            rows += more(n)
        found = [(r, self.index[k], v) for r, (row, _, _) in enumerate(rows)
                 for k, v in row.items() if v]  # fmt: skip
        i, j, values = zip(*found, strict=True)
        matrix = csr_array((values, (i, j)), shape=(len(rows), len(self.index)))
        return matrix, np.array([r[1] for r in rows]) - EPS, np.array([r[2] for r in rows]) + EPS

    def vector(self, row):
        found = np.zeros(len(self.index))
        for name, value in row.items():
            found[self.index[name]] = value
        return found

    def _at_or_beyond(self, sign, row, goal, upper, matrix, least, most):
        """The promised end, where some table has it; None where none has."""
        whole = vstack([matrix, csr_array(row[None, :])])
        ends = (-np.inf, goal) if sign > 0 else (goal, np.inf)
        answer = _solved(0 * row, whole, np.append(least, ends[0]), np.append(most, ends[1]), upper)
        return None if answer.status == 2 else "not settled" if answer.status == 1 else goal

    def _furthest(self, sign, row, upper, matrix, least, most, cell):
        answer = _solved(sign * row, matrix, least, most, upper)
        if answer.status == 2:
            return None
        assert answer.status in (0, 1), (cell, answer.message)
        return "not settled" if answer.status else sign * round(answer.fun)

    def read_out(self, truth_n):
        """Of every cell the numbers that are left: the least and the most over all n."""
        low, high = self.whole
        left, pending = {i: [np.inf, -np.inf] for i in range(len(self.cells))}, set()
        upper = np.full(len(self.index), float(self.most))
        upper[: self.most] = self.most // np.arange(1, self.most + 1)
        for n in dict.fromkeys((truth_n, low, high, *range(low, high + 1))):
            matrix, least, most = self.matrix(n)
            for i, cell in enumerate(self.cells):
                for sign, end in ((1, 0), (-1, 1)):
                    if (left[i][0] <= cell.low, left[i][1] >= cell.high)[end]:
                        continue
                    row = self.vector(cell.row(n) if callable(cell.row) else cell.row)
                    goal = (cell.low, cell.high)[end]
                    value = self._at_or_beyond(sign, row, goal, upper, matrix, least, most)
                    if value is None:  # the promised end is not reached: how far is it?
                        value = self._furthest(sign, row, upper, matrix, least, most, cell)
                    if value is None:
                        assert n != truth_n, cell
                        continue
                    if value == "not settled":
                        pending.add((i, end, goal))
                        continue
                    left[i][end] = (min, max)[end](left[i][end], value)
        for i, end, goal in pending:  # nothing is proved: for the reader
            if (left[i][end] > goal, left[i][end] < goal)[end]:
                left[i][end] = goal
                self.unsettled.add(i)
        return [tuple(left[i]) for i in range(len(self.cells))]


def _solved(goal, matrix, least, most, upper):
    return milp(
        goal,
        constraints=LinearConstraint(matrix, least, most),
        bounds=Bounds(0, upper),
        integrality=np.ones(len(upper)),
        options={"time_limit": 60, "node_limit": 5_000},
    )


def minus(row, other):
    found = dict(row)
    for name, value in other.items():
        found[name] = found.get(name, 0.0) - value
    return found


def plus(*rows):
    found = {}
    for row in rows:
        for name, value in row.items():
            found[name] = found.get(name, 0.0) + value
    return found


def counted(text):
    """What a printed count may be."""
    text = text.replace(",", "").strip()
    if text in assess.NONE:
        return 0, 0
    if text.startswith("under"):
        return 0, MARK
    if text in ("-", "not told", ""):
        return 0, np.inf
    if text.startswith("at least"):
        return int(re.search(r"\d+", text)[0]), np.inf
    if " to " in text:
        low, high = re.match(r"(\d+) to (\d+)", text).groups()
        return int(low), int(high)
    told = int(re.match(r"\d+", text)[0])
    return told, told + 9


def rows_of(markdown, caption):
    return next(rows for c, rows in assess.tables(markdown).items() if c.startswith(caption))[2:]


def reader(people):
    """Of so many people, as they are told."""
    me = Pages(people + MARK, whole=(people, people + MARK))
    me.know(me.everybody, people, people + MARK)
    return me


def read_assessment(me, markdown, numbers):
    """The rows of the reader of an assessment."""
    found = assess.read(markdown, numbers, "", reader=assess.Reader(me.most))
    for row, low, high in found.rows:
        me.know({("class", s): v for s, v in enumerate(row, 1) if v}, low, high)
    me.nobody, me.somebody = found.nobody, found.somebody
    me.few = (1, me.somebody) in found.marked
    for (first, last), promise in found.open_cells():
        row = me.upto(last or me.most, first)
        me.mark("assess", f"classes of {first} to {last}", row, promise)


def _in_leak(size, n, leaked):
    """1/s of the chance that one of s at least is among the leaked."""
    if size > n:
        return 0.0
    rest = n - size
    none = 0.0
    if rest >= leaked:
        none = np.exp(lgamma(rest + 1) - lgamma(rest - leaked + 1)
                      - lgamma(n + 1) + lgamma(n - leaked + 1))  # fmt: skip
    return (1 - none) / size


def read_leak(me, markdown, numbers):
    leaked = numbers["measures"]["leaked"]["value"]
    told = [(float(row[0].split()[1]), counted(row[1]))
            for row in rows_of(markdown, "People by their risk in the leak")]  # fmt: skip
    mean = numbers["measures"]["risk"]
    low, high = mean["at_least"], mean["at_most"]

    def risks(n):
        risk = {s: _in_leak(s, n, leaked) for s in range(1, n + 1)}
        for level, (least, most) in told:
            last = max((s for s, r in risk.items() if r > level * (1 + 1e-9)), default=0)
            yield me.upto(last), least, most
        sums = {("class", s): s * r for s, r in risk.items()}
        if high is not None:
            yield sums, (low or 0) * n * 0.995, high * n * 1.005  # three digits

    me.by_n.append(lambda n: list(risks(n)))

    def above(level):
        def row(n):
            risks = {s: _in_leak(s, n, leaked) for s in range(1, n + 1)}
            return me.upto(max((s for s, r in risks.items() if r > level * (1 + 1e-9)), default=0))

        return row

    can_be = [n for n in range(me.whole[0], me.whole[1] + 1) if n >= leaked]
    for level, (_, most) in told:
        row = above(level)
        lasts = [len(row(n)) for n in can_be]
        if most <= MARK and min(lasts):
            me.mark("leak", f"above {level:g}", row, me.classes_can(max(lasts), min(lasts)))


def read_population(me, markdown, numbers):
    measures = numbers["measures"]
    rows = rows_of(markdown, "People who are unique")
    me.class_cell("population", 1, *counted(rows[0][1]))
    classes = measures.get("classes", {}).get("value")
    if classes is not None:
        row = {("class", s): 1.0 for s in range(1, me.most + 1)}
        me.know(row, classes, classes + MARK)


def read_suda(me, markdown, numbers):
    """Everybody who is singled out is alone on all columns: in a class of one."""
    by_size = rows_of(markdown, "People by their smallest minimal unique")[:-1]
    columns = [row[0] for row in rows_of(markdown, "People with a minimal unique that holds")]
    many = len(by_size)
    assert many == len(columns)
    types = {}
    for size in range(1, many + 1):
        for held in range(size, many + 1):
            for mask in combinations(sorted(columns), held):
                if size < many or held == many:
                    types["suda", size, mask] = size
    me.of(*types)
    singled = dict.fromkeys(types, 1.0)
    me.know(minus(singled, me.upto(1)), 0, 0)
    cumulative, low, high = [], 0, MARK
    for size, (_, text) in enumerate(by_size, 1):
        row = {t: 1.0 for t, s in types.items() if s <= size}
        if text.startswith("under"):
            low, high = low, low + MARK
        else:
            low, high = low + counted(text)[0], low + counted(text)[0] + MARK
        cumulative.append((row, (low, high)))
    me.chain("suda", "sets up to", cumulative)
    if me.nobody:
        me.cells = [c for c in me.cells if c.page != "suda"]
    for name, text, *_ in rows_of(markdown, "People with a minimal unique that holds"):
        row = {t: 1.0 for t in types if name in t[2]}
        me.know(row, *counted(text))
        if counted(text)[1] <= MARK and not me.nobody:
            me.mark("suda", f"holds {name}", row)


def _banded(row):
    """Cumulative counts, in tens, from the parts that lie between them."""
    floors = [0]
    for i, text in enumerate(row):
        floors.append(floors[-1] + counted(text)[1 if i else 0] - MARK * (i > 0))
    return [(floor, floor + MARK) for floor in floors[1:]]


def read_disclosure(me, markdown, numbers):
    n_low = numbers["measures"]["people"]["value"]
    measures, everybody = numbers["measures"], me.everybody
    one = {("one value", s): float(s) for s in range(2, me.most + 1)}  # classes of one value
    me.of(*one)
    for _, s in one:
        me.know({("class", s): 1.0, ("one value", s): -1.0}, 0, np.inf)
    sure = plus(me.upto(1), one)
    can = (0, MARK) if me.nobody < MARK else (0, 0)

    def of_measure(name):
        told = measures.get(name)
        if told is None:
            return None
        value = told["value"]
        return (0, MARK) if value is None else (value, value + MARK)

    for name, row in (("sure_when_all_known", sure), ("sure_without_own_record", one)):
        told = of_measure(name)
        if told is not None:
            me.know(row, *told)
            if told[1] <= MARK:
                me.mark("disclosure", name, row, can)
    _ppp(me, markdown, n_low, sure, everybody, measures, can)
    _by_value(me, markdown, everybody, sure)


def _ppp(me, markdown, n_low, sure, everybody, measures, can):
    """Who is sure is alone or in a class of one value: where no class is small, not few."""
    chains = {}
    spread = rows_of(markdown, "People by PPP")
    out = rows_of(markdown, "PPP of s with one auxiliary unknown, all others known")
    for name, *bands, _ in [*spread, *out[1:]]:
        sets = [me.of(("ppp", name, i)) for i in range(5)]
        if name == "all known":
            me.know(minus(sets[0], sure), 0, 0)
        chains[name] = sets
        me.chain("disclosure", f"PPP {name}",
                 list(zip([*sets, everybody], _banded(bands), strict=True)),
                 promise=can)  # fmt: skip
        for row in sets:
            me.know(minus(everybody, row), 0, np.inf)
    least = chains.pop("least over subsets")
    for i in range(5):
        for row in chains.values():
            me.know(minus(least[i], row[i]), 0, np.inf)
        if len(out) <= 3:  # of two columns every subset is there
            me.know(minus(plus(*(row[i] for row in chains.values())), least[i]), 0, np.inf)
    me.know(minus(least[0], chains["all known"][0]), 0, 0)  # parts of classes of one value are such
    text = markdown.partition("\n> ")[2]
    found = re.match(r"(all but under 10|under 10|at least [\d,]+|[\d,]+(?: to [\d,]+)?) of", text)
    kept = found[1] if found else "at least 0"  # everybody has one value: nothing is counted
    if kept.startswith("all but"):
        me.know(least[0], 0, MARK)
        me.mark("disclosure", "broken", least[0], can)
    else:
        me.know(minus(everybody, least[0]), *counted(kept))
    edges = [0, 0.2, 0.4, 0.6, 0.8, 1]
    for measure, sets in (("mean_ppp_full", chains["all known"]), ("mean_ppp_min", least)):
        told = measures[measure]
        if told["at_least"] is None:
            continue
        bands = [sets[0], *(minus(b, a) for a, b in zip(sets, [*sets[1:], everybody], strict=True))]
        low = plus(
            *({k: v * e for k, v in b.items()} for b, e in zip(bands, [0, *edges], strict=False))
        )
        high = plus(*({k: v * e for k, v in b.items()} for b, e in zip(bands, edges, strict=False)))
        n = everybody
        me.know(minus({k: v * (told["at_most"] + 1e-3) for k, v in n.items()}, low), 0, np.inf)
        me.know(minus(high, {k: v * (told["at_least"] - 1e-3) for k, v in n.items()}), 0, np.inf)
    for known, _, broken, _ in rows_of(markdown, "The subset that breaks most people"):
        if known == f"all {len(out) - 1}" or (len(out) == 3 and " + " in known):
            me.know(chains["all known"][0], *counted(broken))


def _by_value(me, markdown, everybody, sure):
    """Values of ten people or more; the others are what is left."""
    rows = rows_of(markdown, "What is known, by value")
    cumulative, sums = {}, (0, 0)
    for value, text, *_ in rows:
        here = me.of(("value", value))
        low, high = counted(text)
        me.know(here, max(low, 10), high)
        me.know(minus(everybody, here), 0, np.inf)
        cumulative = plus(cumulative, here)
        if " to " in text:  # the difference of what is summed up
            sums = (low + sums[1], low + sums[1] + MARK)
            me.know(cumulative, *sums)
        elif len(cumulative) == 1:
            sums = (low, high)
    rest = minus(everybody, cumulative)
    me.know(rest, 0, np.inf)
    n_low = me.whole[0]
    floors = sums[0] if any(" to " in row[1] for row in rows) or len(rows) == 1 else None
    me.left_over = (rest, floors is not None and n_low - floors < 10)
    found = re.search(r"Of these, (under 10|[\d,]+) have the commonest value", markdown)
    if found:
        common = me.of(("sure", "commonest"))
        me.know(minus(sure, common), 0, np.inf)
        me.know(minus(me.of(("value", rows[0][0])), common), 0, np.inf)
        me.know({**{k: 2 * v for k, v in common.items()}, **{k: -v for k, v in sure.items()}},
                0, np.inf)  # fmt: skip
        me.know(common, max(1, counted(found[1])[0]), counted(found[1])[1])  # it would not be said
        if counted(found[1])[1] <= MARK:
            me.mark("disclosure", "sure of the commonest", common)


def read_candidates(markdown, numbers):
    """Another whole: released records by how many named people fit."""
    n_low = numbers["measures"]["people"]["value"]
    me = reader(n_low)
    one, nobody = me.of("one"), me.of("nobody")
    bands = rows_of(markdown, "Released records by how many named people fit")
    cumulative, low = [], 0
    so_far = {}
    for label, text in bands:
        here = one if label == "1" else nobody if label == "nobody" else me.of(("fit", label))
        so_far = plus(so_far, here)
        low += counted(text)[1] - MARK  # of a difference of tens both ends are told
        cumulative.append((so_far, (low, low + MARK)))
    me.chain("candidates", "fit", cumulative)
    me.know(minus(me.everybody, so_far), 0, 0)
    for key, row in (("fit_one", one), ("fit_nobody", nobody)):
        told = numbers["measures"].get(key)
        if told is not None:
            value = told["value"]
            me.know(row, value or 0, (value or 0) + MARK)
            if value is None:
                me.mark("candidates", key, row)
    return me


def shared(text, n_low):
    """What a share of all people, who may be nine more, says of their number."""
    if text.startswith("below"):
        return (0, MARK)
    if text.startswith("above"):
        return (n_low, n_low + MARK)
    count = 10 * round(float(text.split()[0]) / 100 * (n_low + MARK) / 10)
    return (count, count + MARK)


def read_family(markdown, numbers):
    """First records by the relatives they give away; who names anybody names one in some role."""
    me = reader(numbers["measures"]["people"]["value"])
    n_low, named = me.whole[0], []
    for role, *shares in rows_of(markdown, "Records that give relatives away"):
        for what, text in zip(("attackable", "named", "present"), shares, strict=True):
            row = me.of((what, role))
            me.know(minus(me.everybody, row), 0, np.inf)
            me.know(row, *shared(text, n_low))
            if what == "named":
                named.append(row)
            if shared(text, n_low)[1] <= MARK:
                me.mark("family", f"{what} {role}", row)
            told = numbers["measures"][f"{role.replace(' ', '_').replace(chr(39), '')}_{what}"]
            if told["at_most"] is not None:
                low, high = ({k: v * (told[end] + near) for k, v in me.everybody.items()}
                             for end, near in (("at_least", -EPS), ("at_most", EPS)))  # fmt: skip
                me.know(minus(high, row), 0, np.inf)
                me.know(minus(row, low), 0, np.inf)
    some = me.of("somebody named")
    text = re.search(r"first that is named, (.*?) lead to", markdown)[1]
    me.know(some, *shared(text, n_low))
    me.know(minus(plus(*named), some), 0, np.inf)
    for row in named:
        me.know(minus(some, row), 0, np.inf)
    if shared(text, n_low)[1] <= MARK:
        me.mark("family", "somebody named", some)
    mean = numbers["measures"]["named"]
    if mean["at_most"] is not None:  # so many named by a record: those who name any name one each
        high = {k: v * (mean["at_most"] + 1e-9) for k, v in me.everybody.items()}
        me.know(minus(high, some), 0, np.inf)
    return me


def read_linkage(markdown, numbers):
    """People above three levels, by the number of facts; more facts never single fewer out."""
    me = reader(numbers["measures"]["people"]["value"])
    n_low = me.whole[0]
    for k, _, *shares in rows_of(markdown, "People singled out"):
        cumulative = []
        for level, text in zip((0.5, 0.9, 0.99), shares, strict=True):
            row = me.of(("above", k, level))
            me.know(minus(me.everybody, row), 0, np.inf)
            cumulative.append((row, shared(text, n_low)))
        me.chain("linkage", f"{k} facts", cumulative[::-1])
    found = re.search(r"[Oo]f (under 10|[\d,]+) (?:people|person) no fact", markdown)
    if found:
        none = me.of("no fact")
        low, high = counted(found[1])
        me.know(none, max(1, low), high)
        for name in [n for n in me.index if n[0] == "above"]:
            me.know(minus(minus(me.everybody, none), {name: 1.0}), 0, np.inf)
        if high <= MARK:
            me.mark("linkage", "no fact", none)
    return me
