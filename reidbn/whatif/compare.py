"""Compare: two scenarios side by side, and which of their differences matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import comb
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from reidbn.aside import asides
from reidbn.attack.attack import Attack
from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.inference.asked import Asked, Asking
from reidbn.inference.network import Array
from reidbn.inference.query import Query
from reidbn.inference.worst import of_worst
from reidbn.result import Result
from reidbn.whatif.cases import Target, What, brings_case, case_of, change
from reidbn.whatif.summaries import quantile, summary

if TYPE_CHECKING:
    import pandas as pd


MOST = 10  # differences whose every combination is asked: 2^10 settings


@dataclass(frozen=True)
class Step:
    """One difference between two scenarios.

    `alone` what it changes by itself, made in the first scenario; `last` what it changes as the
    last one, after all others; `share` its mean over all orders, so that shares add up to the whole
    difference (Shapley).  None where a combination has impossible evidence.
    """

    change: str
    alone: float | None
    last: float | None
    share: float | None


@dataclass(frozen=True)
class Comparison:
    """The answers of two scenarios, their difference and ratio, and each change's part in it."""

    attack: str
    question: str
    before: str
    after: str
    answer_before: float
    answer_after: float
    steps: tuple[Step, ...]
    statistic: str
    subjects: int
    reduction: dict[str, float]
    without_risk: int
    notes: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """The answer after less that before."""
        return self.answer_after - self.answer_before

    @property
    def ratio(self) -> float | None:
        """After over before; None when there was no risk before."""
        return self.answer_after / self.answer_before if self.answer_before else None

    def to_frame(self) -> pd.DataFrame:
        """One row per change: alone, last, share."""
        import pandas as pd

        return pd.DataFrame([asdict(s) for s in self.steps], columns=["change", "alone", "last",
                                                                      "share"])  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """What was asked and found, as plain values."""
        plain = {k: v for k, v in asdict(self).items() if k != "notes" or v}
        return {**plain, "difference": self.difference, "ratio": self.ratio}

    def __str__(self) -> str:
        what = self.question if self.subjects == 1 else f"{self.statistic} of {self.question}"
        times = f", {self.ratio:.4g} times" if self.ratio is not None else ""
        lines = [
            f"{self.attack}: {what}",
            f"  {self.before}: {self.answer_before:.6g}",
            f"  {self.after}: {self.answer_after:.6g} ({self.difference:+.6g}{times})",
        ]
        for s in self.steps:
            lines.append(f"  {s.change}: {_signed(s.share)} (alone {_signed(s.alone)}, "
                         f"last {_signed(s.last)})")  # fmt: skip
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    __repr__ = __str__


@typed
def compare(
    what: What,
    target: Target | What | None = None,
    *changes: Any,
    before: Any = None,
    after: Any = None,
    statistic: str = "mean",
    **asked: Unpack[Asking],
) -> Any:
    """Two scenarios of one question: difference, ratio, and what each change between them does.

    `changes` are before and after, or what comes after alone: scenarios or changes such as {"set":
    {"p_c": 0.2}, "do": {...}}; {} or None stands for the attack as it is.  `before` and `after` say
    them by name.  Two results that bring their own cases are compared as
    they are, compare(result, other); a result with a method `compare_with` does it its own way,
    and results of a leak, a disclosure and so on are told side by side, as result.compare does.
    `asked` is how it is asked: given, do, set, subject and beyond_range, as in rb.ask.

    `target` is the event asked about; of several people a `statistic` is compared: mean, median,
    max, q95.

    >>> c = compare("adversary-routes", "risk", {}, {"set": {"p_m": 0.9}, "do": {"claims": "no"}})
    >>> round(c.answer_before, 4), round(c.answer_after, 4)
    (0.1613, 0.1007)
    """
    if hasattr(what, "compare_with") and isinstance(target, type(what)):
        return what.compare_with(target)
    if isinstance(what, Result) and isinstance(target, Result):
        return what.compare(target)
    if brings_case(what) and brings_case(target):
        first, second = case_of(what), case_of(target)  # type: ignore[arg-type]
        names = _name(what, "before"), _name(target, "after")
    else:
        named = sum(one is not None for one in (before, after))
        no_event = target is not None and not isinstance(target, str)
        if brings_case(what) and no_event and len(changes) + named < 2:
            target, changes = None, (target, *changes)
        before, after = _two(changes, before, after)
        if before is None and after is None:
            if isinstance(target, Attack) or type(target) is type(what) is not str:
                raise UsageError(
                    "compare takes two results of rb.assess and the like, or one attack as it is "
                    "before and after a change; two attacks are asked each by itself: "
                    "rb.ask(first), rb.ask(second)"
                )
            raise UsageError(
                'nothing changes: give before and after, such as {} and {"set": {"p_c": 0.2}}'
            )
        event: Any = target
        base = case_of(what, event, **asked)
        changes = (
            change({} if before is None else before, "before"),
            change({} if after is None else after, "after"),
        )
        first, second = (c.on(base) for c in changes)
        names = changes[0].name or "before", changes[1].name or "after"
    return _comparison(first, second, names, statistic)


def _two(changes: Sequence[Any], before: Any, after: Any) -> tuple[Any, Any]:
    """Before and after, of changes in a row and by name; one alone is what comes after."""
    free = [place for place, one in enumerate((before, after)) if one is None]
    if len(changes) > len(free):
        raise UsageError(
            f"{len(changes) + 2 - len(free)} changes: a comparison has two, before and after, such "
            'as {} and {"set": {"p_c": 0.2}}'
        )
    both = [before, after]
    for place, one in zip(free[len(free) - len(changes) :], changes, strict=True):
        both[place] = one
    return both[0], both[1]


def _name(what: object, otherwise: str) -> str:
    return str(getattr(what, "name", None) or otherwise)


def _comparison(first: Asked, second: Asked, names: tuple[str, str], statistic: str) -> Comparison:
    first, second = of_worst(first, ()), of_worst(second, ())
    if first.worst or second.worst:  # of one rule, so that the parts add up to the whole
        first, second = replace(first, worst=True), replace(second, worst=True)
    each = [case.answers({})[:, 0] for case in (first, second)]
    weights = [case.weights for case in (first, second)]
    summed = [
        float(summary(statistic)(v[:, None], w)[0]) for v, w in zip(each, weights, strict=True)
    ]
    reduction: dict[str, float] = {}
    without_risk = 0
    if _same_subjects(first, second):
        reduction, without_risk = _reduction(first.each(each[0]), second.each(each[1]))
    return Comparison(
        attack=first.attack.name,
        question=_question(first.query, second.query),
        before=names[0],
        after=names[1],
        answer_before=summed[0],
        answer_after=summed[1],
        steps=_steps(first, second, statistic),
        statistic=statistic,
        subjects=len(first.each(each[0])),
        reduction=reduction,
        without_risk=without_risk,
        notes=asides(),
    )


def _question(first: Query, second: Query) -> str:
    one, two = first.describe(), second.describe()
    return one if one == two else f"{one} against {two}"


def _same_subjects(first: Asked, second: Asked) -> bool:
    """Whether row i of both is one subject: by their labels, else by what is said of them."""
    if first.labels is not None and second.labels is not None:
        return list(first.labels) == list(second.labels)
    if first.subject is second.subject:
        return True
    one, two = first.subject or {}, second.subject or {}
    return set(one) == set(two) and all(np.array_equal(one[n], two[n]) for n in one)


def _reduction(before: Array, after: Array) -> tuple[dict[str, float], int]:
    """Quartiles of the relative reduction, subject by subject; those without risk are left out."""
    if len(before) != len(after) or len(before) == 1:
        return {}, 0
    risky = before > 0
    if not risky.any():
        return {}, len(before)
    cut = 1 - after[risky] / before[risky]
    q1, median, q3 = (float(quantile(cut, share)) for share in (0.25, 0.5, 0.75))
    return {"q1": q1, "median": median, "q3": q3}, int((~risky).sum())


# -- which change matters --------------------------------------------------------------------

Item = tuple[str, str]  # what kind of difference, and the name of what differs


def _items(first: Asked, second: Asked) -> list[Item]:
    """Everything in which two cases differ; another attack brings its own evidence with it."""
    out: list[Item] = []
    same = first.attack.fingerprint == second.attack.fingerprint
    if not same:
        out.append(("attack", second.attack.name))
    if first.subject is not second.subject:
        out.append(("subjects", "subjects"))
    shared = [n for n in second.parameters if n in first.parameters]
    shared += _held(first, second)
    out += [("set", n) for n in shared if first.base(n) != second.base(n)]
    for kind in ("given", "do") if same else ():
        one, two = getattr(first.query, kind), getattr(second.query, kind)
        names = dict.fromkeys([*one, *two])
        out += [(kind, n) for n in names if one.get(n) != two.get(n)]
    return out


def _held(first: Asked, second: Asked) -> list[str]:
    """Derived numbers that one of the cases holds at a value of their own."""
    named = dict.fromkeys([*first.settings, *second.settings])
    both = (first.attack, second.attack)
    return [n for n in named if all(n in a.numbers and n in a.settable for a in both)]


def _label(item: Item, first: Asked, second: Asked) -> str:
    kind, name = item
    if kind == "set":
        return f"{name}: {first.base(name):g} -> {second.base(name):g}"
    if kind in ("given", "do"):
        one, two = (getattr(c.query, kind).get(name, "free") for c in (first, second))
        return f"{kind} {name}: {one} -> {two}"
    return f"other {kind}"


def _mixed(first: Asked, second: Asked, taken: Sequence[Item]) -> Asked:
    """The first case with some of its differences from the second made."""
    kinds = {kind for kind, _ in taken}
    source = second if "attack" in kinds else first
    query = source.query
    for kind in kinds & {"given", "do"}:
        two = getattr(second.query, kind)
        took = [n for k, n in taken if k == kind]
        kept = {n: s for n, s in getattr(query, kind).items() if n not in took}
        mixed = kept | {n: two[n] for n in took if n in two}
        query = replace(query, given=mixed) if kind == "given" else replace(query, do=mixed)
    settings = {n: (first if n in first.parameters else second).base(n) for n in source.parameters}
    held = second if "attack" in kinds else first
    settings |= {n: v for n, v in held.settings.items() if n in source.attack.numbers}
    whose = second if "subjects" in kinds else first
    return replace(first, attack=source.attack, query=query, settings=settings,
                   subject=whose.subject, people=whose.people, many=whose.many)  # fmt: skip


def _steps(first: Asked, second: Asked, statistic: str) -> tuple[Step, ...]:
    items = _items(first, second)
    if not items:
        return ()
    complete = len(items) <= MOST
    wanted = list(product((0, 1), repeat=len(items))) if complete else _edges(len(items))
    values = _answers(first, second, items, wanted, statistic)
    shares = _shapley(values, len(items)) if complete else [None] * len(items)
    out = []
    none, full = (0,) * len(items), (1,) * len(items)
    for i, item in enumerate(items):
        only = tuple(int(j == i) for j in range(len(items)))
        rest = tuple(int(j != i) for j in range(len(items)))
        alone = _gap(values[only], values[none])
        last = _gap(values[full], values[rest])
        out.append(Step(_label(item, first, second), alone, last, shares[i]))
    return tuple(sorted(out, key=lambda s: -abs(s.share or s.alone or 0.0)))


def _edges(count: int) -> list[tuple[int, ...]]:
    """Nothing, everything, each one alone, all but each one."""
    rows = [(0,) * count, (1,) * count]
    for i in range(count):
        rows += [tuple(int(j == i) for j in range(count)), tuple(int(j != i) for j in range(count))]
    return list(dict.fromkeys(rows))


def _answers(
    first: Asked,
    second: Asked,
    items: Sequence[Item],
    wanted: Sequence[tuple[int, ...]],
    statistic: str,
) -> dict[tuple[int, ...], float | None]:
    """The answer for every combination; parameters ride on the setting axis of one contraction."""
    out: dict[tuple[int, ...], float | None] = {}
    fixed = [i for i, (kind, _) in enumerate(items) if kind != "set"]
    moving = [i for i, (kind, _) in enumerate(items) if kind == "set"]
    for key in dict.fromkeys(tuple(row[i] for i in fixed) for row in wanted):
        rows = [row for row in wanted if tuple(row[i] for i in fixed) == key]
        case = _mixed(first, second, [items[i] for i, on in zip(fixed, key, strict=True) if on])
        changes = {
            items[i][1]: np.array([(second if row[i] else first).base(items[i][1]) for row in rows])
            for i in moving
        }
        found = of_worst(case, (changes,)).evaluate(changes)
        count = len(rows)
        p = np.broadcast_to(found.probability, (len(found.numerator), count))
        possible = np.broadcast_to(found.possible.all(axis=0), count)
        summed = summary(statistic)(np.where(possible, p, 0.0), case.weights)
        for row, value, is_possible in zip(rows, summed, possible, strict=True):
            out[row] = float(value) if is_possible else None
    return out


def _shapley(values: Mapping[tuple[int, ...], float | None], count: int) -> list[float | None]:
    """Each change's mean effect over all orders in which the changes could be made."""
    if any(v is None for v in values.values()):
        return [None] * count
    out: list[float | None] = []
    for i in range(count):
        total = 0.0
        for row, value in values.items():
            if not row[i]:
                added = (*row[:i], 1, *row[i + 1 :])
                weight = 1 / (count * comb(count - 1, sum(row)))
                total += weight * (_known(values[added]) - _known(value))
        out.append(total)
    return out


def _known(value: float | None) -> float:
    if value is None:
        raise UsageError("a combination of the changes has impossible evidence")
    return value


def _gap(new: float | None, old: float | None) -> float | None:
    return None if new is None or old is None else new - old


def _signed(value: float | None) -> str:
    return "impossible" if value is None else f"{value:+.6g}"
