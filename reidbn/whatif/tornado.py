"""Tornado: how far each parameter alone moves the answer over its range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

from reidbn.above import is_above
from reidbn.aside import asides
from reidbn.attack.parts import Parameter
from reidbn.calls import typed
from reidbn.errors import ModelError, ReidbnError, UsageError, did_you_mean
from reidbn.inference.asked import Asking, Values
from reidbn.inference.cut import SHOWN
from reidbn.inference.network import Array
from reidbn.inference.query import Scale
from reidbn.late import late
from reidbn.whatif.cases import Target, What, case_of, check_mean, outside
from reidbn.whatif.curve import Response, one_at_a_time, responses
from reidbn.whatif.ranges import AGAIN, Range
from reidbn.whatif.scan import worst_along
from reidbn.whatif.scattered import at_most
from reidbn.whatif.sensitivity import Line, base_answers, spans
from reidbn.whatif.solve import Level, beyond, level
from reidbn.whatif.summaries import summary

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Bar:
    """One parameter: the answer at both ends of its range, its lowest and highest, and where.

    `method` says how the answer is known in between (see reidbn/inference/responses.py), and
    `extremes` where lowest and highest were found: at the "ends", at a "turning point" of the
    curve, or by a "scan".  `is_proven` is False where something could hide between the values
    that were looked at; `undecided` are intervals too close to the threshold to tell.
    """

    parameter: str
    value: float
    unit: str
    low: float
    high: float
    at_low: float
    at_high: float
    lowest: float
    lowest_at: float
    highest: float
    highest_at: float
    crossings: tuple[float, ...]
    method: str
    extremes: str
    source: str
    is_assumption: bool
    notes: tuple[str, ...] = ()
    undecided: tuple[tuple[float, float], ...] = ()
    is_proven: bool = True

    @property
    def swing(self) -> float:
        return self.highest - self.lowest

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "swing": self.swing}


@dataclass(frozen=True)
class Tornado:
    """The bars of a question, longest first: if this assumption changes, the answer moves so far.

    (What changes when the attacker *learns* something is a question with evidence, not a bar.)
    """

    attack: str
    question: str
    answer: float
    bars: tuple[Bar, ...]
    fixed: tuple[str, ...]
    statistic: str
    subjects: int
    threshold: float | None = None
    notes: tuple[str, ...] = ()
    uncounted: float = 0.0  # at most: what is cut off of states, which is in no bar

    def __iter__(self) -> Iterator[Bar]:
        return iter(self.bars)

    def __len__(self) -> int:
        return len(self.bars)

    def __getitem__(self, parameter: str) -> Bar:
        for bar in self.bars:
            if bar.parameter == parameter:
                return bar
        names = [bar.parameter for bar in self.bars]
        raise UsageError(f'no bar for "{parameter}"; {did_you_mean(parameter, names)}')

    def to_frame(self) -> pd.DataFrame:
        """One row per parameter, longest bar first."""
        import pandas as pd

        rows = [bar.to_dict() for bar in self.bars]
        for row in rows:
            row["undecided"] = "; ".join(f"{a:g} to {b:g}" for a, b in row["undecided"])
            row["notes"] = "; ".join(row["notes"])
        names = [*Bar.__dataclass_fields__, "swing"]
        return pd.DataFrame(rows, columns=names)

    def to_dict(self) -> dict[str, Any]:
        """What was asked and found, bar by bar, as plain values."""
        bars = [bar.to_dict() for bar in self.bars]
        plain = {k: getattr(self, k) for k in self.__dataclass_fields__ if k != "notes"}
        return {**plain, "bars": bars, **({"notes": self.notes} if self.notes else {})}

    def sentences(self) -> list[str]:
        """Which single change of a parameter takes the answer across the threshold."""
        if self.threshold is None:
            return []
        said = []
        for bar in self.bars:
            for value in bar.crossings:
                around = [i for i in bar.undecided if i[0] < value < i[1]]
                at = "{} to {}".format(*map(_short, around[0])) if around else _short(value)
                said.append(f"the answer crosses {self.threshold:g} at {bar.parameter} = {at}")
            for low, high in bar.undecided:
                if not any(low < value < high for value in bar.crossings):
                    said.append(
                        f"{bar.parameter} from {_short(low)} to {_short(high)}: undecided, the "
                        f"answer is within rounding of {self.threshold:g}"
                    )
        said = said or [self._never_crossed(self.threshold)]
        if self.uncounted > SHOWN:
            is_mean = self.question.startswith("E(")
            may = "be higher, and nothing says by how much" if is_mean else "be so much higher"
            most = at_most(self.uncounted)
            said.append(f"what is cut off of states, at most {most}, is not in it: it may {may}")
        return said

    def _never_crossed(self, threshold: float) -> str:
        """That no bar reaches the threshold, and which comes next to it."""
        known = all(bar.is_proven for bar in self.bars)
        sure = "" if known else ", as far as was looked at (a scan)"
        if is_above(self.answer, threshold):
            ends = [(b.lowest, f" at {b.parameter} = {_short(b.lowest_at)}") for b in self.bars]
            least, where = min([(self.answer, " as it is"), *ends], key=lambda end: end[0])
            stays, told = "above", f"the lowest is {least:.6g}{where}"
        else:
            ends = [(b.highest, f" at {b.parameter} = {_short(b.highest_at)}") for b in self.bars]
            most, where = max([(self.answer, " as it is"), *ends], key=lambda end: end[0])
            stays, told = "at or below", f"the highest is {most:.6g}{where}"
        cut = [b.parameter for b in self.bars if any(AGAIN in note for note in b.notes)]
        sure += f"; beyond the bar of {' and of '.join(cut)} it was not asked" if cut else ""
        return f"no single change here crosses {threshold:g}: it stays {stays} it, {told}{sure}"

    plot = late("reidbn.report.whatif_figures:draw_tornado")

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False))

    def __str__(self) -> str:
        what = self.question if self.subjects == 1 else f"{self.statistic} of {self.question}"
        lines = [f"{self.attack}: {what} = {self.answer:.6g}"]
        width = max((len(b.parameter) for b in self.bars), default=0)
        for b in self.bars:
            mark = " (assumption)" if b.is_assumption else ""
            lines.append(
                f"  {b.parameter:<{width}}  {b.low:g}..{b.high:g}: {b.at_low:.6g} to "
                f"{b.at_high:.6g}, swing {b.swing:.6g} [{b.method}]{mark}"
            )
            lines += [f"  {'':<{width}}  {note}" for note in b.notes]
        return "\n".join([*lines, *self.sentences(), *self.notes])

    __repr__ = __str__


Bars: TypeAlias = dict[str, tuple[Response, Bar]]


def _short(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


@typed
def tornado(
    what: What,
    target: Target | None = None,
    *,
    over: Mapping[str, tuple[float, float] | None] | Sequence[str] | str | None = None,
    threshold: float | None = None,
    statistic: str = "mean",
    **asked: Unpack[Asking],
) -> Tornado:
    """The answer over each parameter's range while all others stay: exact ends, longest bar first.

    `over` names the parameters to vary, or maps them to other ranges.  For several subjects the
    bars show a `statistic` over them: mean, median, max, q95, "above 0.09".  With a `threshold`
    every bar also holds the values at which the answer crosses it.  A derived number has a bar of
    its own, over the values that it can reach, while the parameters behind it stay.
    `asked` is how it is asked: given, do, set, subject and beyond_range, as in rb.ask.

    `what` is an attack, a name or file of one, or a result; `target` is the event, by default the
    attack's own question.

    >>> t = tornado("leak-single", "identified=yes", threshold=0.09)
    >>> [bar.parameter for bar in t], t["class_size"].crossings
    (['class_size', 'leaked', 'records'], (12.0,))
    """
    case = case_of(what, target, means=True, **asked).as_mean(statistic)
    scale = case.query.scale
    if scale is None:
        _check_threshold(threshold)
    else:
        threshold = check_mean(scale, statistic, threshold, "threshold")
    wanted = spans(case, over)
    if over is None:  # derived numbers too, each by itself, while what it stands on stays
        wanted |= dict.fromkeys(n for n in case.attack.settable if n not in case.parameters)
    ranges = {n: ends or case.parameter(n).range for n, ends in wanted.items()}
    varied = [n for n, (low, high) in ranges.items() if low < high]
    case = worst_along(case, {n: ranges[n] for n in varied})
    own = base_answers(case)
    numbers = [n for n in varied if n in case.attack.numbers] if over is None else []

    def bars_of(some: Mapping[str, Range]) -> Bars:
        found = responses(case, [*some], some)
        for response in found.values():
            response.check(np.array([response.base]), own)
        ends = one_at_a_time(case, {n: np.array([r.low, r.high]) for n, r in found.items()})
        return {n: (r, _bar(r, ends[n], threshold, statistic)) for n, r in found.items()}

    found, left_out = _that_have_bars(bars_of, {n: ranges[n] for n in varied}, numbers)
    answer = summary(statistic)(own.probability, case.weights)
    found_tornado = Tornado(
        attack=case.attack.name,
        question=case.query.describe(),
        answer=float(answer[0]),
        bars=tuple(sorted((bar for _, bar in found.values()), key=lambda b: -b.swing)),
        fixed=tuple(n for n in wanted if n not in found),
        statistic=statistic,
        subjects=case.count,
        threshold=threshold,
        notes=(*left_out, *asides()),
        uncounted=max((beyond(r)[1] for r, _ in found.values()), default=0.0)
        if threshold is not None
        else 0.0,
    )
    return found_tornado if scale is None else _in_units(found_tornado, scale)


def _that_have_bars(
    bars_of: Callable[[Mapping[str, Range]], Bars],
    ranges: Mapping[str, Range],
    numbers: Sequence[str],
) -> tuple[Bars, tuple[str, ...]]:
    """The bars along each range; what is said of derived numbers that are left out.

    Such as one that is a count where the model stands, and no whole number in between.  Of a
    parameter nothing is left out without being asked: a threshold may be crossed there.
    """
    try:
        return bars_of(ranges), ()
    except (ModelError, UsageError) as problem:
        without: dict[str, ReidbnError] = {}
        for name, ends in ranges.items():
            try:
                bars_of({name: ends})
            except (ModelError, UsageError) as own:
                without[name] = own
        asked = [n for n in without if n not in numbers]
        kept = [n for n in ranges if n not in without and n not in numbers]
        if not without or (asked and not kept):
            raise
        if asked:
            rest = f"{' and '.join(asked)}: no bar ({without[asked[0]]}); those of others: "
            over = ", ".join(f'"{n}"' for n in kept)
            shell = " ".join(f"--over {n}" for n in kept)
            raise UsageError(f"{rest}over=[{over}]", in_shell=f"{rest}{shell}") from problem
        said = []
        for name, found in without.items():
            low, high = ranges[name]
            why = str(found).partition(". ")[0]
            said.append(f"{name} has no bar: from {low:g} to {high:g} it is not always what it is "
                        f"read as ({why})")  # fmt: skip
        return bars_of({n: ends for n, ends in ranges.items() if n not in without}), tuple(said)


def _in_units(tornado: Tornado, scale: Scale) -> Tornado:
    """The bars of a mean, in the units of its node."""
    names = ("at_low", "at_high", "lowest", "highest")
    bars = tuple(
        replace(bar, **{name: scale.value(getattr(bar, name)) for name in names})
        for bar in tornado.bars
    )
    threshold = None if tornado.threshold is None else scale.value(tornado.threshold)
    return replace(tornado, answer=scale.value(tornado.answer), bars=bars, threshold=threshold)


def _bar(response: Response, ends: Values, threshold: float | None, statistic: str) -> Bar:
    line = Line(response, statistic)
    parameter: Parameter = response.case.parameter(response.name)
    at_low, at_high = _ends(response, ends, statistic)
    extent = line.extent()
    at = {response.low: at_low, response.high: at_high}  # as the engine has them, to the last digit
    met = Level("", (), ()) if threshold is None else level(line, threshold)
    inside = not {extent.lowest_at, extent.highest_at} <= set(at)
    return Bar(
        parameter=response.name,
        value=response.base,
        unit=parameter.unit,
        low=response.low,
        high=response.high,
        at_low=at_low,
        at_high=at_high,
        lowest=at.get(extent.lowest_at, extent.lowest),
        lowest_at=extent.lowest_at,
        highest=at.get(extent.highest_at, extent.highest),
        highest_at=extent.highest_at,
        crossings=met.values,
        method=line.method,
        extremes="scan" if extent.is_scanned else "turning point" if inside else "ends",
        source=parameter.source,
        is_assumption=parameter.is_assumption,
        notes=(
            *outside(response.name, response.base, response.low, response.high),
            *response.notes,
            *_limits(response, ends),
        ),
        undecided=met.undecided,
        is_proven=line.is_proven,
    )


def _ends(response: Response, ends: Values, statistic: str) -> tuple[float, float]:
    """The answers at both ends; where the evidence is impossible there, the limit."""
    response.check(np.array([response.low, response.high]), ends)
    values: Array = ends.probability
    if not ends.possible.all():
        limits = response.values(np.array([response.low, response.high]))
        values = np.where(ends.possible, values, limits)
    low, high = summary(statistic)(values, response.case.weights)
    return float(low), float(high)


def _limits(response: Response, ends: Values) -> tuple[str, ...]:
    open_ends = np.logical_not(ends.possible.all(axis=0)).tolist()
    return tuple(
        f"at {end:g} the evidence is impossible: the limit is shown"
        for end, is_open in zip((response.low, response.high), open_ends, strict=True)
        if is_open
    )


def _check_threshold(threshold: float | None) -> None:
    is_number = isinstance(threshold, int | float | np.number)
    if threshold is not None and not (is_number and 0 <= threshold <= 1):
        raise UsageError(f"threshold={threshold} is no probability: it must lie between 0 and 1")
