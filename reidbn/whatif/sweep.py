"""Sweep: the answer at every setting of a grid, as a tidy table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from reidbn.aside import aside, asides
from reidbn.attack.attack import Attack
from reidbn.attacks.parquet import write_frames
from reidbn.attacks.routes.arguments import probabilities_of
from reidbn.calls import renamed, typed
from reidbn.errors import TooLarge, UsageError
from reidbn.inference.answers import load_attack
from reidbn.inference.asked import MOST_NUMBERS, Asked, Asking, Values
from reidbn.inference.network import Array
from reidbn.inference.query import refuse_two_readings
from reidbn.inference.worst import OF_HIGHEST, TIED, worst_answers
from reidbn.progress import progress
from reidbn.whatif.cases import Target, What, brings_case, case_of, row_by_row
from reidbn.whatif.scan import changes, full_grid
from reidbn.whatif.summaries import mean, quantile, share_above

if TYPE_CHECKING:
    import pandas as pd


THRESHOLDS = (0.05, 0.09, 0.1, 0.2, 0.33)
QUANTILES = {"q5": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
MOST_ROWS = 200_000_000  # of one table with a row per subject
_RESULTS = {"scenario", "subject", "state", "probability", "evidence_probability", "subjects",
            "people", "mean", "max", *QUANTILES, "worst_tied"}  # fmt: skip
WORST = "worst_tied"
_TIED = (
    f"{TIED}at some settings policies are worth the same to the attacker; the answer is that of "
    f"one of them, {WORST} the highest of them all"
)
_TIED_OF_ALL = f"{TIED}at some settings policies are worth the same to the attacker; {OF_HIGHEST}"
Columns = dict[str, Any]


@renamed(per_subject="per_person")
@typed
def sweep(
    what: What,
    target: Target | Mapping[str, Any] | Iterable[Any] | None = None,
    grid: Mapping[str, Any] | Iterable[Any] | None = None,
    *,
    per_person: bool = False,
    thresholds: Sequence[float] = THRESHOLDS,
    impossible: str = "raise",
    path: str | os.PathLike[str] | None = None,
    **asked: Unpack[Asking],
) -> pd.DataFrame:
    """The answer at every setting of a grid, one row each.

    `grid` is {parameter: values}, where values are a list, a range, or a number of points over the
    parameter's range; every combination is asked, in one contraction (a structural parameter
    rebuilds the network once per value).  Or it is a list of scenarios, or {name: change}.

    One subject gives `probability` (`mean` where a mean is asked for); several give mean,
    quantiles, largest, and how many lie above each threshold, or one row per subject with
    `per_person=True` (of people counted as cells one per cell, with its `people`).  A question on
    a whole node gives a row per state.  `impossible="null"` leaves a cell empty where the evidence
    cannot be, or where a condition of the attack (`where: [leaked <= records]`) does not hold,
    instead of raising.  With `path`, the rows per subject go to that Parquet file part by part,
    never all in memory, and what comes back is one row per setting.
    `asked` is how it is asked: given, do, set, subject and beyond_range, as in rb.ask.

    Where policies are worth the same to an attacker who decides, the answer is that of one of them,
    and a column `worst_tied` has the highest; what is told of several subjects together is of the
    highest of each, and `worst_tied` the largest of these.

    `target` is the event, by default the attack's own question; `thresholds` are the risks above
    which people are counted.

    >>> table = sweep("leak-single", "identified=yes", {"leaked": [1000, 2000, 4000]})
    >>> table["probability"].round(6).tolist()
    [0.081915, 0.13448, 0.184458]
    """
    import pandas as pd

    if brings_case(what) and grid is None:
        target, grid = None, target
    if grid is None:
        raise UsageError("give a grid: {parameter: [values]}, or a list of scenarios")
    if impossible not in ("raise", "null"):
        raise UsageError(f'impossible="{impossible}": use "raise" or "null"')
    case, states = _case_and_states(what, target, grid, asked)
    if case.query.scale is not None and thresholds is THRESHOLDS:
        thresholds = ()  # they are for risks
    if path is not None:
        if not per_person:
            raise UsageError("path= is for the rows per subject: give per_person=True too")
        every = _Reading(per_person=True, thresholds=(), strict=impossible == "raise")
        write_frames(path, _parts(every, case, grid, states))
        per_person = False
    if case.query.scale is None:
        thresholds = probabilities_of(thresholds, "thresholds")
    read = _Reading(per_person, tuple(thresholds), impossible == "raise")
    parts = [
        (state, *part)
        for state in states
        for part in _slices(_plan(case, grid), per_person=per_person)
    ]
    blocks = [
        read.block(shown.wanting(state), columns, settings, state)
        for state, shown, columns, settings in progress(parts, "settings")
    ]
    out = pd.concat([pd.DataFrame(block) for block in blocks], ignore_index=True)
    if WORST in out:  # where no policies are tied it is the answer
        told = out[next(name for name in ("probability", "max", "mean") if name in out)]
        out[WORST] = out[WORST].fillna(told)
    if len(states) > 1:  # the states of one setting stand together
        order = np.concatenate([np.arange(len(out) // len(states))] * len(states))
        out = out.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)
    out.attrs.update(attack=case.attack.name, fingerprint=case.attack.fingerprint,
                     answer=_answer(case), question=_asked(case, states), method="exact",
                     base={n: case.base(n) for n in case.parameters},
                     **({"notes": asides()} if asides() else {}))  # fmt: skip
    return out


def _parts(read: _Reading, case: Asked, grid: Any, states: Sequence[str]) -> Iterator[pd.DataFrame]:
    """A row per subject, for a few settings at a time."""
    import pandas as pd

    for state in states:
        for shown, columns, settings in _slices(_plan(case, grid), per_person=False):
            part = pd.DataFrame(read.block(shown.wanting(state), columns, settings, state))
            if shown.decides and _answer(shown) in part and WORST not in part and not state:
                part[WORST] = part[_answer(shown)]  # every part has the same columns
            yield part


def _case_and_states(what: What, target: Any, grid: Any, asked: Asking) -> tuple[Asked, list[str]]:
    """The case, and the states to ask for: all of them when a whole node is asked."""
    if isinstance(what, str):
        what = load_attack(what)
    if not (isinstance(what, Attack) and isinstance(target, str) and target in what.all_nodes):
        return case_of(what, target, means=True, **asked), [""]
    refuse_two_readings(what, target)
    first = what.variable(target, {n: what.parameters[n].value for n in what.structural}).states[0]
    case = case_of(what, {target: first}, **asked)
    return case, list(_states(case, target, grid))


def _states(case: Asked, node: str, grid: Any) -> tuple[str, ...]:
    """Every state that a node has at some setting of the grid."""
    found: dict[str, None] = {}
    for _, _, settings in _plan(case, grid):
        sizing = {n: settings[n] for n in case.attack.structural if n in settings}
        base = {n: case.base(n) for n in case.attack.structural}
        largest = {n: float(np.max(v)) for n, v in sizing.items()}
        found |= dict.fromkeys(case.attack.variable(node, {**base, **largest}).states)
    return tuple(found)


def _plan(case: Asked, grid: Any) -> Iterator[tuple[Asked, Columns, dict[str, Array]]]:
    """Blocks of settings to ask together: the case, columns to show, parameter values to set."""
    named = changes(grid)
    if named is None:
        columns = full_grid(case, grid)
        yield case, {_column(n): _tidy(case, n, v) for n, v in columns.items()}, columns
        return
    varied = list(dict.fromkeys(name for c in named for name in c.set))
    if not any(c.given or c.do or c.scenario for c in named):
        for c in named:
            c.on(case)  # refuses what it may not set
        columns = {n: np.array([c.set.get(n, case.base(n)) for c in named], float) for n in varied}
        shown = {_column(n): _tidy(case, n, v) for n, v in columns.items()}
        yield case, {"scenario": [c.name for c in named], **shown}, columns
        return
    for c in named:
        changed = c.on(case)
        shown = {_column(n): _tidy(case, n, np.array([changed.base(n)])) for n in varied}
        yield changed, {"scenario": [c.name], **shown}, {}


def _tidy(case: Asked, name: str, values: Array) -> Array:
    """Counts as whole numbers."""
    whole = case.parameter(name).is_integer and bool((values == np.floor(values)).all())
    return values.astype(np.int64) if whole else values


def _slices(
    plan: Iterator[tuple[Asked, Columns, dict[str, Array]]], *, per_person: bool
) -> Iterator[tuple[Asked, Columns, dict[str, Array]]]:
    """The plan in parts whose answers fit into memory."""
    for case, columns, settings in plan:
        rows = len(next(iter(columns.values())))
        each = case.count if case.cells is None else len(case.cells[0])
        if per_person and rows * each > MOST_ROWS:
            raise TooLarge(
                f"{rows:,} settings of {each:,} subjects make {rows * each:,} rows; "
                f"the most is {MOST_ROWS:,}: sweep fewer at a time, or leave out per_person"
            )
        step = max(1, 4 * MOST_NUMBERS // case.count)
        for i in range(0, rows, step):
            part = {n: v[i : i + step] for n, v in columns.items()}
            yield case, part, {n: v[i : i + step] for n, v in settings.items()}


def _column(name: str) -> str:
    """The column of a parameter; one that is called like a result gets a $ in front."""
    taken = name in _RESULTS or name.startswith("above_")
    return f"${name}" if taken else name


class _Reading:
    """How values become columns."""

    def __init__(self, per_person: bool, thresholds: tuple[float, ...], strict: bool) -> None:  # noqa: FBT001
        self.per_subject, self.thresholds, self.strict = per_person, thresholds, strict

    def block(
        self, case: Asked, columns: Columns, settings: dict[str, Array], state: str
    ) -> Columns:
        values = case.evaluate(settings)
        if self.strict:
            case.refuse_impossible(values, settings)
        more = {"state": state} if state else {}
        worst = None if state else worst_answers(case, settings, taken=values.probability)
        one = len(case.each(values.numerator)) == 1 and case.people is None  # and no table of one
        told = _in_units(case, values.probability)
        if worst is not None:
            worst = _in_units(case, worst)
            aside("tied", 1.0, _TIED if one or self.per_subject else _TIED_OF_ALL)
        if self.per_subject:
            return self._every_subject(case, columns, values, more, worst)
        if one:
            found = {_answer(case): told[0]}
        else:
            found = self._summary(case, told if worst is None else worst)
        if worst is not None:
            found[WORST] = worst.max(axis=0)
        evidence = mean(_evidence(values), case.weights)
        return {**columns, **more, **found, "evidence_probability": evidence}

    def _summary(self, case: Asked, p: Array) -> Columns:
        possible = ~np.isnan(p).any(axis=0)
        people = len(case.each(p))
        out: Columns = {"subjects": people, "mean": mean(p, case.weights)}
        safe = np.where(possible, p, 0.0)
        for name, share in QUANTILES.items():
            out[name] = np.where(possible, quantile(safe, share, case.weights), np.nan)
        out["max"] = p.max(axis=0)
        for threshold in self.thresholds:
            shares = share_above(p, threshold, case.weights)
            counts = np.rint(shares * people)
            out[f"above_{threshold:g}"] = counts.astype(np.int64) if possible.all() else counts
        return out

    @staticmethod
    def _every_subject(
        case: Asked, columns: Columns, values: Values, more: Columns, worst: Array | None
    ) -> Columns:
        numbers = {
            _answer(case): _in_units(case, values.probability),
            "evidence_probability": _evidence(values),
        }
        numbers |= {} if worst is None else {WORST: worst}
        told = row_by_row(case, **numbers)
        rows, settings = told[_answer(case)].shape
        return {
            **{name: np.repeat(np.asarray(column), rows) for name, column in columns.items()},
            **{name: np.tile(v, settings) for name, v in told.items() if name not in numbers},
            **more,
            **{name: told[name].T.reshape(-1) for name in numbers},
        }


def _asked(case: Asked, states: Sequence[str]) -> str:
    """The question in words; a whole node is asked about as one."""
    whole = case.query if states == [""] else replace(case.query, wanted={})
    return whole.describe()


def _answer(case: Asked) -> str:
    return "probability" if case.query.scale is None else "mean"


def _in_units(case: Asked, probability: Array) -> Array:
    """Probabilities, or means in the units of their node."""
    scale = case.query.scale
    return probability if scale is None else np.asarray(scale.value(probability))


def _evidence(values: Values) -> Array:
    if values.evidence is not None:
        return values.evidence
    return np.where(values.possible, 1.0, np.nan)
