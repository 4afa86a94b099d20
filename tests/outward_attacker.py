"""A reader of outward reports who works suppressed cells out, in whole numbers.

The reader has the page (its Markdown, its JSON and the curves drawn in its HTML), knows how numbers
are told and that people alike on everything stand in classes, so that the people in classes of s
are a multiple of s, and asks an exact integer programme (HiGHS) how small and how large each cell
that is marked "under 10" can be.  Nothing of the product's telling is used.

It is taken to know how the risks of `adversary-routes` in the worst case follow from the class of a
person (prosecutor 1 where alone; marketer 1/s; overall 1/2s, and above 1/2 where alone).
"""

import re
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

MARK = 9  # "under 10": 0 to 9
NONE = ("nobody", "0")  # which the verdict says
BANDS = {"1": (1, 1), "2": (2, 2), "3 to 4": (3, 4), "5 to 9": (5, 9), "10 to 19": (10, 19),
         "20 to 99": (20, 99), "100 or more": (100, None)}  # fmt: skip
ROUTES = {"prosecutor": lambda s: 1.0 * (s == 1), "marketer": lambda s: 1 / s,
          "overall": lambda s: 0.6 if s == 1 else 0.5 / s}  # fmt: skip
COLOURS = {"#0072b2": "prosecutor", "#009e73": "marketer", "#cc79a7": "overall"}
LEVELS = sorted({*(float(f"{m}e-{e}") for e in range(1, 6) for m in (1, 2, 5)), 0.09, 0.33})


def partitions(n, largest=None):
    """All ways to stand in classes: sizes that add up to n."""
    if n == 0:
        yield ()
    for first in range(min(n, largest or n), 0, -1):
        for rest in partitions(n - first, first):
            yield (first, *rest)


def joined(n, last=None):
    """All ways to put all classes of n people together: coarser classes, each with its parts."""
    if n == 0:
        yield ()
        return
    size, place = last or (n, len(list(partitions(n))) - 1)
    for one in range(min(n, size), 0, -1):
        parts = list(partitions(one))
        for i in range(place if one == size else len(parts) - 1, -1, -1):
            for rest in joined(n - one, (one, i)):
                yield ((one, parts[i]), *rest)


@dataclass
class Reader:
    """What is known: rows of coefficients on the number of classes of each size, with bounds."""

    most: int
    """How many people there can be."""
    rows: list = field(default_factory=list)
    marked: dict = field(default_factory=dict)
    """Cells marked "under 10", as the sizes of class that they hold; with what they may be."""
    nobody: int = 0
    """A verdict says that nobody is in a class of at most so many."""
    somebody: int = 0

    @property
    def sizes(self):
        return np.arange(1, self.most + 1)

    def know(self, coefficients, low, high):
        self.rows.append((np.asarray(coefficients, float), low, high))

    def people(self, first, last):
        s = self.sizes
        return np.where((s >= first) & (s <= (last or self.most)), s, 0)

    def cell(self, first, last, low, high, *, mark=False):
        """So many people in classes of `first` to `last`."""
        if last == 0:
            return
        self.know(self.people(first, last), low, high)
        if mark:
            self.marked[(first, last)] = None

    def ends(self, coefficients):
        """The smallest and largest that it can be."""
        matrix = np.array([row for row, _, _ in self.rows])
        low, high = np.array([[a, b] for _, a, b in self.rows], float).T
        found = []
        for sign in (1, -1):
            answer = milp(
                sign * np.asarray(coefficients, float),
                constraints=LinearConstraint(matrix, low - 1e-7, high + 1e-7),
                bounds=Bounds(0, self.most // self.sizes),
                integrality=np.ones(self.most),
            )
            assert answer.status == 0, answer.message  # the table itself is an answer
            found.append(sign * round(answer.fun))
        return tuple(found)

    def promised(self, first, last):
        """What a mark leaves: 0 to 9, as far as multiples of class sizes can be that at all."""
        last = last or self.most
        smaller = 0 < self.somebody < first and (1, last) in self.marked  # one of the few is there
        can = {0}
        for size in range(max(first, self.nobody + 1), min(last, MARK) + 1):
            for many in range(MARK // size + 1):
                can |= {c + size * many for c in set(can) if c + size * many <= MARK - smaller}
        few = (1, self.somebody) in self.marked  # then no class of ten or more is among them
        if first == 1 and self.somebody and (last >= self.somebody or (few and last >= MARK)):
            can -= {0}
        return (min(can), max(can)) if last > self.nobody else (0, 0)

    def open_cells(self):
        """Marked cells, with what the mark promises, where that is more than one number."""
        for first, last in self.marked:
            promise = self.promised(first, last)
            if promise[0] < promise[1]:
                yield (first, last), promise


def counted(text, down):
    """What a printed count may be: (low, high, whether it is marked)."""
    text = text.replace(",", "").strip()
    if text.startswith("under"):
        return 0, MARK, True
    if text in NONE:
        return 0, 0, False
    if " to " in text:
        low, high = text.split(" to ")
        return int(low), int(high), False
    told = int(text)
    return (told, told + 9, False) if down else (max(told - 5, 10), told + 4, False)


def tables(markdown):
    found = {}
    for part in re.split(r"\n\*\*", markdown)[1:]:
        caption, _, rest = part.partition("**\n")
        lines = [x for x in rest.strip().splitlines() if x.startswith("|")]
        found[caption] = [[c.strip() for c in x.strip("|").split("|")] for x in lines]
    return found


def cutoff(level, route, most):
    """The largest class whose people have more risk than that."""
    found = 0
    for s in range(1, most + 1):
        if ROUTES[route](s) > level * (1 + 1e-9):
            found = s
        elif s > 1:
            break
    return found


def read(markdown, numbers, html, most_extra=0, reader=None):
    """Everything that the files of one report tell, added to what a reader knows."""
    down = "rounded down" in markdown
    told = numbers["people"]
    n_low, n_high = (told, told + 9) if down else (told - 5, told + 4)
    me = reader or Reader(n_high + most_extra)
    n = me.most if not most_extra else n_high
    me.cell(1, None, n_low, n_high)
    found = tables(markdown)
    _bands(me, found["People by the number who are alike on every quasi-identifier"][2:], n_low,
           n_high, down)  # fmt: skip
    _verdict(me, markdown, numbers, n_low, n_high, down)
    for level, row in numbers["people_above"].items():
        for route in ROUTES:
            _above(me, row[route], float(level), route, n)
    _curves(me, html, n_low, n_high, down, n)
    for route in ROUTES:
        _mean(me, numbers["measures"][route], route, told, n_low, n_high, down)
    if "People by overall risk: the worst case" in found:  # under chances: in their place
        _worst(me, markdown, found, told, n_low, n_high)
    return me


def _worst(me, markdown, found, told, n_low, n_high):
    """How many people have how much risk where everything is known, and the mean of it."""
    edges = (0.33, 0.2, 0.09, 0.05, 0.01, 0.0)
    cuts = [0, *(cutoff(edge, "overall", n_high) for edge in edges[:-1]), me.most]
    rows = found["People by overall risk: the worst case"][2:]
    for (_, text), before, last in zip(reversed(rows), cuts, cuts[1:], strict=False):
        low, high, mark = counted(text, down=True)
        me.cell(before + 1, last, low, high, mark=mark)
    mean = re.search(r"mean overall risk is ([\d.e-]+) to ([\d.e-]+),", markdown)
    row = {"at_least": float(mean[1]), "at_most": float(mean[2])}
    _mean(me, row, "overall", told, n_low, n_high, down=True)


def _bands(me, rows, n_low, n_high, down):
    cumulative = n_low // 10 * 10 if down else (n_low + 5)
    for name, text in reversed(rows):
        first, last = BANDS[name]
        _, _, mark = counted(text, down)
        if first == 1:
            low, high, _ = counted(text, down)
            me.cell(1, 1, low, high, mark=mark)
            if cumulative is None:
                break
            # What stays of the whole is the rounded first band, however it is marked.
            me.cell(1, 1, *((cumulative, cumulative + 9) if down
                            else (max(cumulative - 5, 0), cumulative + 4)))  # fmt: skip
            break
        if " to " in text:
            low, high, _ = counted(text, down)
            me.cell(first, last, low, high)
            plain = cumulative is not None and high - low == 18  # the difference of two tens
            cumulative = cumulative - (low + 9) if plain else None
            if plain:
                me.cell(1, first - 1, cumulative, cumulative + 9)
            continue
        if mark:
            me.marked[(first, last)] = None
        if text in NONE:
            me.cell(first, last, 0, 0)
            mark = True
        if cumulative is not None:
            cumulative -= 0 if mark else int(text.replace(",", ""))
            me.cell(1, first - 1, *((cumulative, cumulative + 9) if down
                                    else (max(cumulative - 5, 0), cumulative + 4)))  # fmt: skip


def _verdict(me, markdown, numbers, n_low, n_high, down):
    k = numbers["threshold"]["k"]
    if numbers["release"] == "public" and k:
        if numbers["passes"]:
            me.nobody = max(me.nobody, k - 1)
            me.cell(1, k - 1, 0, 0)
        else:
            me.somebody = min(me.somebody or k - 1, k - 1)
            me.cell(1, k - 1, 1, me.most)
            _of(me, numbers["verdict"].partition(": ")[2], k - 1, n_low, n_high, down)
    other = numbers["other_rule"]["verdict"]
    if "unique" in other and "at most" in other:
        if "nobody is unique" in other:
            me.nobody = max(me.nobody, 1)
            me.cell(1, 1, 0, 0)
        else:
            _of(me, other.rpartition("; ")[2], 1, n_low, n_high, down)
            if not down:  # "are unique" is said of somebody; the page of today says so of nobody
                me.cell(1, 1, 1, me.most)
    if under := re.search(r"alike on every quasi-identifier with fewer than (\d+),", other):
        last = int(under[1]) - 1
        me.somebody = min(me.somebody or last, last)
        me.cell(1, last, 1, me.most)
        _of(me, other.partition(": ")[2], last, n_low, n_high, down)
    caption = next(c for c in tables(markdown) if c.startswith("What would flip"))
    rows = tables(markdown)[caption][2:]
    if numbers["release"] == "public" and k:
        _of(me, rows[0][1], k - 1, n_low, n_high, down)


def _of(me, text, last, n_low, n_high, down):
    """So many of all people."""
    if text.startswith("all but under"):
        me.cell(1, last, n_low, n_high)
        me.marked[(last + 1, None)] = None
        return
    if found := re.match(r"at least ([\d,]+) of", text):
        me.cell(1, last, int(found[1].replace(",", "")), n_high)
        return
    if text in NONE:
        me.cell(1, last, 0, 0)
        return
    found = re.match(r"(under 10|[\d,]+(?: to [\d,]+)?) of", text)
    if found:
        low, high, mark = counted(found[1], down)
        me.cell(1, last, low, high, mark=mark)


def _above(me, value, level, route, n):
    last = cutoff(level, route, n)
    low, high = value["at_least"], value["at_most"]
    me.cell(1, last, low, high, mark=high <= MARK)


def _curves(me, html, n_low, n_high, down, n):
    """The curves as drawn: a level's share of the rounded whole."""
    parts = [s for s in re.findall(r"<svg.*?</svg>", html, flags=re.S)
             if "How many people have how much risk" in s]  # fmt: skip
    if down or not parts:  # drawn as the upper end of what the tables tell
        return
    floor, top, left, right = 239.976947, 24.598678, 40.179693, 507.47976
    box = re.search(r'patch_2">\s*<path d="M ([\d.]+) ([\d.]+)\s+L ([\d.]+) [\d.]+\s+L [\d.]+ '
                    r'([\d.]+)', parts[0])  # fmt: skip
    left, floor, right, top = map(float, box.groups())
    for d, style in re.findall(r'<path d="([^"]*)" clip-path[^>]*style="([^"]*)"', parts[0]):
        colour = re.search(r"stroke: (#\w+)", style)[1]
        points = np.array(re.findall(r"[ML] ([\d.]+) ([\d.]+)", d), float)
        if colour not in COLOURS or len(points) < 4:
            continue
        for level in (t for t in LEVELS if 1e-5 < t < 1):
            x = left + (np.log10(level) + 5) / 5 * (right - left)
            at = points[np.abs(points[:, 0] - x) < 1e-3]
            share = (floor - at[:, 1].max()) / (floor - top)
            rounded = int(round(share * (n_low + 5) / 10) * 10)
            me.cell(1, cutoff(level, COLOURS[colour], n), max(rounded - 5, 0), rounded + 4)


def _mean(me, row, route, told, n_low, n_high, down):
    value, step = row.get("mean"), row.get("step")  # of releases that were not rounded down
    weights = np.array([s * ROUTES[route](s) for s in me.sizes])
    more = weights.copy()  # where alone: 0.625, and more if unique in the population
    if route == "overall":
        weights[0], more[0] = 0.625, 0.75
    if down:
        low, high = row["at_least"], row["at_most"]
        if high is not None:
            s = me.sizes
            me.know(weights - (high + 1e-6) * s, -np.inf, 0)
            me.know(more - (low - 1e-6) * s, 0, np.inf)
        return
    if not step:
        return
    top = step * told / 10  # the level above the largest value: 1, .5, .33 ...
    units = round((value or 0) / step)
    top = min(sorted({1.0, *LEVELS}), key=lambda t: abs(t / top - 1))
    me.know(weights, -np.inf, (units + 0.5) * 10 * top + 1e-6)
    me.know(more, max((units - 0.5) * 10 * top, 0), np.inf)
    if route == "marketer":  # the step gives the largest value away
        levels = sorted({1.0, *LEVELS})
        level = min(levels, key=lambda t: abs(t - top))
        before = levels[levels.index(level) - 1]
        me.cell(1, cutoff(before, route, n_high), 1, me.most)
        me.cell(1, cutoff(level, route, n_high), 0, 0)
