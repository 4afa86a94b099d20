"""How far off the risks of a sparse table's people may be because something behind them is drawn.

Curves of facts are drawn person by person, each number with an interval of its own.  The numbers
of one curve come from the same draws and err together, so that a risk in which that of k facts has
the share w_k, and lies at most d_k away, is off by at most

    sum_k |w_k| d_k                                                                          (1)

Shares are found by asking again with other numbers.  How often relatives are found is drawn for
everybody together, and the cascade is no sum of it: it is asked again with rates that may be behind
what was counted, `TURNS` times up and as often down.  If such turns move a risk upwards by d_1,
d_2, ..., of the mean d and standard deviation s, it is in truth higher by at most

    d + t s sqrt(1 + 1/TURNS),  t the 97.5 % point of Student's law of TURNS - 1 degrees     (2)

for 97.5 % of draws, as far as what is left open of a risk is normal; and so downwards.  The mean
over people is moved by a turn as a whole, for people share the rates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import ceil, hypot, sqrt

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.aside import aside
from reidbn.attacks.family.columns import FAMILY, KinPeople
from reidbn.attacks.linkage.columns import DRAWN, HIGH, LOW, MORE, SparsePeople, known_of
from reidbn.attacks.routes.assessment import OVERALL, Array, Assessment
from reidbn.attacks.routes.blocks import risks
from reidbn.attacks.routes.readings import columns_behind
from reidbn.inference.query import Query
from reidbn.release.counts import down
from reidbn.result import NOTHING, Drawn, digest
from reidbn.theory.agreement import mean_off, most_off

Rows = NDArray[np.intp]
TURNS = 10
AWAY = 2.2621571627409915 * (1 + 1 / TURNS) ** 0.5
"""By how many standard deviations, equation (2)."""
SOME = 25
"""People by whom it is seen how far a turn moves a mean, and of whom is asked at once: the engine
takes many times longer for people together whose numbers all differ."""


def off_by_drawing(result: Assessment) -> dict[str, Drawn]:
    """By measure, how far off its mean may be by what is drawn of a sparse table."""
    found = {}
    for measure in result.questions:
        if off := _off_of_mean(result, measure):
            behind = _curves_behind(result, measure) | _rates_behind(result, measure)
            found[measure] = Drawn(off, digest(*behind.values()))
    return found


def at_most_off(result: Assessment) -> dict[str, float]:
    """The same of whatever people, so many of them: outside the house.

    What virtual relatives leave open hangs on the records: of whatever records, everything.
    """
    people, found = result.inputs.people, {}
    if not isinstance(people, SparsePeople):
        return {}
    given, n = result.subject_table.given, max(int(down(len(result))), 1)
    for measure, query in result.questions.items():
        behind = columns_behind(result.attack, query) - given
        off = [
            most_off(people.effort.drawn(name))
            for name, of in DRAWN.items()
            if behind.intersection(of)
        ]
        if _rates_behind(result, measure) or (off and _is_ratio(result, query)):
            found[measure] = 1.0
        elif off:
            found[measure] = hypot(*off) / sqrt(n)
    return found


def _is_ratio(result: Assessment, query: Query) -> bool:
    """Whether the evidence rests on curves: a share of what is rare may be off by anything."""
    of = {name for columns in DRAWN.values() for name in columns}
    return bool(query.given) and bool(
        columns_behind(
            result.attack, replace(query, targets=(*query.given,), wanted={}, scale=None)
        )
        & of
    )


def _off_of_mean(result: Assessment, measure: str) -> float:
    """By some people, where it costs an answer of each to say how far a turn moves it."""
    kept: dict[str, float] = result.__dict__.setdefault("_off_of_mean", {})
    if measure not in kept:
        curves = float(mean_off(_off_of_curves(result, measure)))
        if not _rates_behind(result, measure):
            return curves
        rows = np.arange(len(result))
        if len(rows) > SOME:
            rows = np.sort(np.random.default_rng(0).choice(rows, SOME, replace=False))
        ends = [_end(_moved(result, measure, rows, up=up).mean(axis=1)) for up in (True, False)]
        kept[measure] = hypot(curves, float(max(ends)))
    return kept[measure]


def off_of_each(
    result: Assessment, measure: str, some: Rows | None = None, *, up: bool = True
) -> Array:
    """How much higher (or lower) each person's number may be by drawing; 0 if nothing is drawn."""
    rows = np.arange(len(result)) if some is None else some
    curves = _off_of_curves(result, measure)[rows]
    if not _rates_behind(result, measure):
        return curves
    return np.hypot(curves, _end(_moved(result, measure, rows, up=up)))


def is_undecided(result: Assessment, measure: str, limit: float) -> bool:
    """Whether drawing leaves open that a limit is kept, or that it is not; the highest first."""
    risk = result.risk(measure)
    order, above = np.argsort(-risk, kind="stable"), bool(is_above(risk, limit).any())
    for start in range(0, len(order), SOME):
        some = order[start : start + SOME]
        off = off_of_each(result, measure, some, up=not above)
        if is_above(risk[some] + (-off if above else off), limit).any():
            return not above
    return above


def remedy(result: Assessment, measure: str) -> str:
    """What leaves less open of what is drawn behind a risk."""
    found = [MORE] if _off_of_curves(result, measure).any() else []
    people = result.inputs.people
    if isinstance(people, KinPeople) and _rates_behind(result, measure):
        more = 10 * people.looking.plants
        found.append(f"rb.read_kin(..., plants={more:_}) draws more virtual relatives")
    return ", and ".join(found)


def remarks(result: Assessment) -> tuple[str, ...]:
    """How far off the mean risk may be where the chances of relatives are drawn."""
    if not isinstance(result.inputs.people, KinPeople) or not _rates_behind(result, OVERALL):
        return ()
    off = ceil(100 * _off_of_mean(result, OVERALL))  # in whole per cent: what leaves the house
    return (f"by what is drawn, the mean risk, overall, is at most {off} % away (at 95 %)",)


def say(result: Assessment) -> None:
    """Beside what is asked of drawn numbers: how far off these may be."""
    measure = OVERALL
    if off := _off_of_mean(result, measure):
        aside(
            "drawn",
            off,
            f"people's numbers are drawn, and their mean may be {ceil(100 * off)} % away (at "
            "95 %), one person's further: what lies nearer to a target is not decided; "
            f"{remedy(result, measure)}",
        )


def _end(moved: Array) -> Array:
    """Equation (2), of turns x anything."""
    return np.asarray(np.maximum(moved.mean(axis=0) + AWAY * moved.std(axis=0, ddof=1), 0.0))


def _moved(result: Assessment, measure: str, rows: Rows, *, up: bool) -> Array:
    """How far each turn moves the risk of some people up (or down): turns x people."""
    people, asked = result.inputs.people, result.inputs.individuals
    assert isinstance(people, KinPeople)  # noqa: S101 - the caller looked
    found = np.zeros((TURNS, len(rows)))
    for turn, start in product(range(TURNS), range(0, len(rows), SOME)):
        some = rows[start : start + SOME]
        drawn, who = people.anew(asked, turn, up=up), some if asked is None else asked[some]
        other = {name: drawn[name][who] for name in _rates_behind(result, measure)}
        found[turn, start : start + SOME] = _asked_again(result, measure, some, other)
    moved = found - result.risk(measure)[rows]
    return moved if up else -moved


def _asked_again(result: Assessment, measure: str, rows: Rows, other: Mapping[str, Array]) -> Array:
    """A risk of some people with other columns."""
    table = result.subject_table
    columns = {**table.of_subjects(table.of_person[rows]), **other}
    own = replace(table, columns=columns, of_entry=np.arange(len(rows)), some=None, people=None)
    query = result.questions[measure]
    return risks(result.attack, query, result.inputs.set, own, taken=True)


def _off_of_curves(result: Assessment, measure: str) -> Array:
    """Equation (1), of every person; what comes from other draws is off by itself."""
    kept: dict[str, Array] = result.__dict__.setdefault("_off_of_curves", {})
    if measure not in kept:
        behind = _curves_behind(result, measure)
        parts = [_off_together(result, measure, {n: behind[n] for n in of if n in behind})
                 for of in DRAWN.values()]  # fmt: skip
        kept[measure] = np.asarray(np.sqrt(sum((p**2 for p in parts), np.zeros(len(result)))))
    return kept[measure]


def _off_together(result: Assessment, measure: str, curves: Mapping[str, Array]) -> Array:
    """Equation (1), of curves from the same draws.

    Which way a number moves a risk is seen by some people, whose numbers are moved one by one;
    where they agree, everybody's are moved together to the ends that raise it, and to those that
    lower it.
    """
    made, rows = _made(result), np.arange(len(result))
    told = {name: _of_asked(result, values) for name, values in curves.items()}
    ends = {name: (made[LOW + name], made[HIGH + name]) for name in curves}
    cells = [(name, int(k)) for name, (low, high) in ends.items()
             for k in np.flatnonzero((low < high).any(axis=0))]  # fmt: skip
    if not cells:
        return np.zeros(len(rows))
    halfway = {name: np.where(own < 0.5, (own + 1) / 2, own / 2) for name, own in told.items()}
    moved = _moved_by(result, measure, rows[:: -(-len(rows) // SOME)], cells, told, halfway)
    ways = np.sign(moved.sum(axis=0))
    if (moved * ways < -NOTHING).any():
        further = {n: np.where(high - told[n] >= told[n] - low, high, low)
                   for n, (low, high) in ends.items()}  # fmt: skip
        off = np.abs(_moved_by(result, measure, rows, cells, told, further)).sum(axis=1)
        return np.where(off > NOTHING, off, 0.0)
    risk, off = result.risk(measure), np.zeros(len(rows))
    for up in (True, False):
        other = {name: own.copy() for name, own in told.items()}
        for (name, k), way in zip(cells, ways, strict=True):
            other[name][:, k] = ends[name][int((way >= 0) == up)][:, k]
        off = np.maximum(off, np.abs(_asked_again(result, measure, rows, other) - risk))
    return np.where(off > NOTHING, off, 0.0)


def _moved_by(
    result: Assessment, measure: str, rows: Rows, cells: Sequence[tuple[str, int]],
    told: Mapping[str, Array], moved: Mapping[str, Array],
) -> Array:  # fmt: skip
    """How far each number alone, where it is moved, moves a risk, as if it were moved upwards."""
    found, risk = np.empty((len(rows), len(cells))), result.risk(measure)[rows]
    for i, (name, k) in enumerate(cells):
        other = told[name][rows]
        own, new = other[:, k].copy(), moved[name][rows, k]
        other[:, k] = new
        by = _asked_again(result, measure, rows, {name: other}) - risk
        found[:, i] = np.where(new >= own, by, -by)
    return found


def _of_asked(result: Assessment, values: Array) -> Array:
    """Of everybody's values those of the people who were asked about."""
    some = result.inputs.individuals
    return values if some is None else values[some]


def _curves_behind(result: Assessment, measure: str) -> dict[str, Array]:
    """The curves of a sparse table that an answer rests on and the call did not give."""
    read = columns_behind(result.attack, result.questions[measure]) - result.subject_table.given
    of_curves = {name for of in DRAWN.values() for name in of} & read
    return {name: column for name, column in _made(result).items() if name in of_curves}


def _rates_behind(result: Assessment, measure: str) -> dict[str, Array]:
    """The same of what virtual relatives say."""
    people = result.inputs.people
    if not isinstance(people, KinPeople):
        return {}
    read = columns_behind(result.attack, result.questions[measure]) - result.subject_table.given
    of = result.subject_table.columns
    return {name: np.asarray(of[name]) for name in FAMILY if name in read}


def _made(result: Assessment) -> Mapping[str, Array]:
    """What was made of a sparse table for these people; nothing of another."""
    people, known = result.inputs.people, result.inputs.scenario
    if not isinstance(people, SparsePeople):
        return {}
    given = result.subject_table.given
    return people.drawn(result.attack, known_of(known), given, result.inputs.individuals)
