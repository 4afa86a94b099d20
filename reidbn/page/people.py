"""The people behind a page: rounded cells of what a table says of each, and how far off they are.

A table reaches the rest of an attack through the joint law of the frontier's faces, a few numbers a
person, and nothing that the page moves changes these.  With the law of everybody's cell known,

    mean risk = sum_f mean law(f) P(event | f)                                            (1)

is exact at every slider, for what is seen and what is done.  A person is counted in a cell of a
grid that no data decide on; its edges below a tenth are those of the class sizes that counts are
told at (release/counts.py).  Outwards cells of fewer than ten are one rest, the others are told in
tens, and each stands for the middle of its cell.  So a page leaves the house where everything is
known for sure and that rest is under ten itself: a programme in whole numbers narrows no cell then
(tests/test_page_read.py).  With a rest of 18 in two cells, there are nine in each; and under
chances a cell says in which of nested classes its people stand.  The custodian's own page has every
cell, its exact count and mean law.  This holds at every setting:

    |mean by the page - mean| <= 1/2 sum_f |page's mean law - mean law|(f)                (2)

(2) is printed, rounded up to the next rung of a ladder.  A person is above a level t where

    sum_f law(f) (P(event, evidence | f) - t P(evidence | f)) > 0                         (3)

and the least and the largest such sum over all laws in a cell say whether all, or any, in it are;
shares above thresholds come with all that this, the tens and the rest leave open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.frontier import Frontier
from reidbn.attack.scenariofile import is_shipped, load_scenario
from reidbn.attacks.routes.register import Entry, register, story
from reidbn.attacks.routes.subject_data import P_UNIQUE
from reidbn.errors import TooLarge, UsageError, a_dozen
from reidbn.inference.answers import joint
from reidbn.inference.query import Query
from reidbn.microdata.table import People
from reidbn.page.closed import Json
from reidbn.population.cautious import is_uncompared
from reidbn.release.counts import BASE, Tens, down
from reidbn.report.telling import FEWEST, Telling
from reidbn.report.thresholds import rule
from reidbn.report.unseen import beside, read_alone

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack
    from reidbn.attack.scenario import Scenario
    from reidbn.attacks.routes.assessment import Assessment
    from reidbn.inference.asked import Asked

Array = NDArray[np.float64]
MOST_FACES = 64  # joint states of the faces
MOST_CELLS = 400
MOST_NUMBERS = 1 << 26  # people x subsets
CLASSES = (999, 499, 199, 99, 49, 19, 9)
"""Class sizes up to which people are counted: the grid has an edge after each."""
GRIDS = ((20_000, 24), (3_000, 16), (1_000, 12), (0, 6))
"""From so many people on: parts into which the rest of 0 to 1 is cut.  What the people are like has
no say in it: a grid that followed them would tell of them (whole tens, as people are told)."""
_MADE_UP = 256  # people on whom it is looked at what the attack's tables allow
_RUNGS = (0.001, 0.0015, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15,
          0.2, 0.3, 0.5, 1.0)  # fmt: skip


@dataclass(frozen=True)
class Behind:
    """The people of an assessment as a page has them."""

    case: Asked
    scenario: str
    frontier: Frontier
    counts: tuple[Tens, ...]
    rest: Tens
    laws: Array
    """The joint law of the faces in each cell."""
    places: NDArray[np.intp]
    """Between which edges of the grid each number of such a law lies."""
    edges: Array
    error: float
    """(2), rounded up."""
    story: str
    stands_on: tuple[Entry, ...]
    """The register of the report: what the scenario sets is in it, and the table's own tables."""
    known: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What an attacker may know, and the columns of the table that this is."""
    looked_at: tuple[str, ...] = ()
    """Of which columns it is, and of which of the table it is not."""
    knows: Json = None
    """What a scenario file says of who knows what: which it extends, or columns and their chances;
    None where only a file of the house says it."""

    @property
    def mean(self) -> Array:
        """The mean law by the cells."""
        weights = np.array([(c.low + c.high) / 2 for c in self.counts])
        return np.asarray(weights @ self.laws / weights.sum())

    notes: tuple[str, ...] = ()
    """What was left out of what may be known, and other remarks, as they may leave the house."""
    by_model: str = ""
    """Which model of the population says who is unique in it, and for how many people."""
    is_sure: bool = False
    """Whether the attacker knows all columns of everybody."""
    custodian: bool = False
    """Whether these are exact counts, which stay in the house."""

    def columns(self) -> Json:
        """What the table says of each person, as the attack reads it."""
        own = self.case.attack.subject
        return [
            {"name": n, "story": own[n].story, "model": self.by_model if n == P_UNIQUE else ""}
            for n in self.frontier.columns if own[n].story
        ]  # fmt: skip

    def to_dict(self) -> Json:
        """What the page holds of them."""
        attack, faces = self.case.attack, self.frontier.faces
        locked = {n for n in faces if any(n in attack.above([o]) for o in faces if o != n)}
        return {
            "scenario": self.scenario,
            "knows": self.knows,
            "faces": [*faces],
            "inside": [*self.frontier.inside],
            "locked": sorted(locked),
            "cells": [
                {"low": int(c.low), "high": int(c.high), "law": law, "at": at}
                for c, law, at in zip(
                    self.counts, self.laws.tolist(), self.places.tolist(), strict=True
                )
            ],
            "edges": self.edges.tolist(),
            "rest": [int(self.rest.low), int(self.rest.high)],
            "error": self.error,
            "least": BASE,
            "known": [[label, [*columns]] for label, columns in self.known],
            "looked_at": " ".join(self.looked_at),
            "notes": [*self.notes],
            "rule": _of_a_release(),
            "is_sure": self.is_sure,
            "custodian": self.custodian,
        }


def behind(result: Assessment, *, custodian: bool = False) -> Behind:
    """The people of an assessment, as cells of their frontier's law; exact for the custodian."""
    result.refuse_part("a page")
    if result.inputs.method != "exact":
        raise UsageError('a page is worked out exactly: assess with method="exact"')
    case = result.whatif_case()
    attack = case.attack
    if attack.decisions:
        raise UsageError(
            f"{attack.name}: its attacker decides anew for every person, which a page of people "
            f"cannot show; a page of the model alone, attack.page(path), shows it for one"
        )
    if not custodian:
        _refuse_outward(result)
    frontier = _plain(attack).frontier()
    if not frontier.faces:
        raise UsageError(f"{attack.name}: nothing that a table says reaches its questions")
    if result.classes.rows * result.classes.subsets > MOST_NUMBERS:
        raise TooLarge(
            "a page of so many people and subsets would take too long; assess a sample of the "
            "table, or join attributes that are learnt together"
        )
    laws = _laws(case, frontier)
    grid = next(parts for least, parts in GRIDS if len(laws) >= least)
    scenario = result.inputs.scenario
    tell, telling = _exactly if custodian else _told, Telling(custodian=custodian)
    found = tell(case, scenario.title or scenario.name, frontier, laws, grid)
    return replace(
        found, story=" ".join(story(result)), looked_at=tuple(_looked_at(result)),
        stands_on=register(result), knows=_knows(scenario),
        known=tuple((p.label, tuple(p.columns)) for p in result.groups.placed),
        notes=tuple(telling.notes(result.notes)), by_model=_by_model(result, telling),
        is_sure=result.groups.is_sure, custodian=custodian,
    )  # fmt: skip


def _looked_at(result: Assessment) -> list[str]:
    """Which columns are behind the page, how coarse, and which are not: it is of no other file."""
    people = result.inputs.people
    if not isinstance(result.table, People):
        return []
    others = beside(result)
    levels = {n: people.column(n).level for n in people.columns if n not in others.names}
    coarse = [f"{name} (made coarser, level {n} of its hierarchy)" if n else name
              for name, n in levels.items()]  # fmt: skip
    told = [f"Looked at in the table: {', '.join(coarse)}."]
    told += [
        f"{name} was read {why} alone, and is in no file of which this page speaks."
        for name, why in read_alone(result).items()
    ]
    if gone := others.unseen:
        some = a_dozen(gone)
        told.append(f"Not looked at, and no number here is of a file that has them, too: {some}.")
    return told


def _refuse_outward(result: Assessment) -> None:
    """Raise where a page of these people may not leave the house."""
    if not result.groups.is_sure:
        raise in_the_house(
            "what an attacker knows has chances here, and nothing proves that a reader of the "
            "page makes no small count out of its cells: each says in which of nested classes its "
            "people stand. A mean alone that moved would tell itself exactly, by where its steps "
            "end. The report leaves with the mean as asked, and where all of it is known for sure "
            "a page may leave, too"
        )
    if len(result) < FEWEST:
        raise in_the_house(
            f"a page shows {FEWEST} people or more, and here are fewer: fewer are told nothing of"
        )
    _refuse_what_was_counted(result)


def in_the_house(why: str) -> UsageError:
    """Why a page does not leave, and the one that may be made in its place."""
    return UsageError(
        f"{why}. custodian=True writes your own page, which stays in the house; of the model alone "
        f"attack.page(path) leaves it",
        in_shell=f"{why}. --custodian writes your own page, which stays in the house; without "
        f"--assess the page of the model alone leaves it",
    )


def _by_model(result: Assessment, telling: Telling) -> str:
    """Whose word it is who is unique in the population, by numbers that are told anyway."""
    if result.population is None or not isinstance(result.table, People):
        return ""
    n, told_of = len(result), result.population.population
    of = result._population_of
    people = telling.number_above(told_of, n, of=of) or 0
    how = (
        "a number that was said, and not counted here"
        if telling.tells_exactly(told_of, n, of=of)
        else "told no more exactly than how many people are in the table"
    )
    found = (
        f"an estimate by the population model {result.population.model}, for a population of "
        f"{people:,.0f} people from whom the table was drawn ({how})"
    )
    if is_uncompared(down(n), people):
        found += (
            "; so small a part of it is in the table that no model was held against real "
            "populations there: an extrapolation"
        )
    return found


def _of_a_release() -> str:
    """What the rule of a public release asks for, which no slider moves."""
    public = rule()
    return (
        f"None of this is the rule of a release. {public.title[:1].upper()}{public.title[1:]} asks "
        f"that {public.asks}: on all columns that may be known at once, whatever an attacker "
        f"happens to know, so that no slider here moves it. Whether this table keeps it is said by "
        f"its report (reidbn assess)."
    )


def _knows(scenario: Scenario) -> Json:
    """What a scenario file of the page's setting says beside the sliders."""
    if is_shipped(scenario, scenario.name):
        own = load_scenario(scenario.name)
        is_same = own.fingerprint == scenario.fingerprint and not own.given and not own.do
        return {"extends": own.name, "set": [*own.set]} if is_same else None
    known = scenario.knows.known if scenario.knows and scenario.is_said else ()
    if not known or any(k.constant is None for k in known):
        return None
    return {"attributes": [[k.name, [*k.columns], k.constant, k.source] for k in known]}


def _refuse_what_was_counted(result: Assessment) -> None:
    """Parameters that were read off the table would tell exact counts of it."""
    own, said = result.inputs.attack.parameters, {*result.inputs.set, *result.inputs.scenario.set}
    for name, p in result.attack.parameters.items():
        if name in own and name not in said and own[name] != p:
            raise in_the_house(
                f"{result.attack.name}: {name} was counted in the table, and a page would tell it "
                f"exactly; set= says a number of your own"
            )


def _plain(attack: Attack) -> Attack:
    """The attack without questions that name members of a group, but for what it is about."""
    members = {m for g in attack.groups.values() for m in g.members}
    own = attack.main_question
    kept = [q for q in attack.questions.values() if q == own or members.isdisjoint(q.names)]
    return attack.replace(questions=kept)


def _laws(case: Asked, frontier: Frontier) -> Array:
    """The joint law of the faces for everybody: people x joint states."""
    attack = case.attack
    sizes = {n: float(case.base(n)) for n in attack.structural}
    states = int(np.prod([attack.variable(n, sizes).size for n in frontier.faces]))
    if states > MOST_FACES:
        raise TooLarge(
            f"{attack.name}: what a table says reaches the rest through {states} joint states of "
            f"{', '.join(frontier.faces)}, and a page holds {MOST_FACES}: give the nodes that look "
            f"at the table fewer states, or let them meet in one node first"
        )
    for name in (*case.laid, *case.query.do):
        if name in frontier.inside:
            raise UsageError(
                f"{name} is given or done, and is part of what is worked out for every person: a "
                f"page of people cannot take it back. Assess without it"
            )
    return np.asarray(case.each(_of(case, frontier, case.subject)))


def _of(case: Asked, frontier: Frontier, subject: Mapping[str, Any] | None) -> Array:
    """The joint law of the faces for every row of subject data."""
    query = Query(frontier.faces, {}, {}, {})
    found = joint(case.attack, query, case.settings, subject, validate=False, alone=True)[:, 0]
    return np.asarray(found.reshape(len(found), -1))


def _possible(case: Asked, frontier: Frontier, laws: Array) -> NDArray[np.bool_]:
    """Joint states of the faces that the tables of the attack allow, whoever is in the table.

    Who is unique in the population is unique in the table, too: so the cells say it, and not only
    the people.  It is found on made-up people of all kinds, each with one value whatever is known
    of them (a law is a mixture over that), so that nobody of the table has a say.
    """
    rng = np.random.default_rng(20261123)
    made = {}
    for name, column in (case.subject or {}).items():
        own = case.attack.subject[name]
        low = own.low or 0.0
        high = low + 1_000 if own.high is None else own.high
        rest = np.shape(column)[1:]
        if own.over is not None:
            values, last = rng.dirichlet(np.ones(rest[-1]), _MADE_UP), rest[-1:]
        elif high - low <= 1:
            values, last = rng.uniform(low, high, _MADE_UP), ()
        else:
            values, last = rng.choice([low, low + 1, low + 2, high], _MADE_UP), ()
        alike = values.reshape(_MADE_UP, *(1 for _ in rest[len(last) :]), *last)
        made[name] = np.broadcast_to(alike, (_MADE_UP, *rest))
    found = _of(case, frontier, made)
    return np.asarray((found > 0).any(axis=0) | (laws > 0).any(axis=0))


def _edges(grid: int) -> Array:
    """Edges of the grid: of class sizes, then evenly."""
    low = [1 / (size + 0.5) for size in CLASSES]
    return np.array([0.0, *low[:-1], *np.linspace(low[-1], 1.0, grid + 1)])


def _placed(laws: Array, grid: int) -> NDArray[np.intp]:
    edges = _edges(grid)
    return np.clip(np.searchsorted(edges, laws + 1e-12, side="right") - 1, 0, len(edges) - 2)


def _told(case: Asked, scenario: str, frontier: Frontier, laws: Array, grid: int) -> Behind:
    """Cells of ten people or more as they may leave the house."""
    cells, counts, _ = _in_cells(laws, grid)
    large = counts >= BASE
    if not large.any() or counts[~large].sum() >= BASE:
        raise in_the_house(
            f"{BASE} people or more of this table stand in cells of fewer than {BASE} who are "
            f"alike in what the attack makes of them, and how many they are together would tell "
            f"of each cell: make the table coarser (generalise=), or leave columns out"
        )
    cells, counts = cells[large], counts[large]
    outward: list[Any] = Telling().in_chain([*map(int, counts)])
    edges = _edges(grid)
    low, high = edges[cells], edges[cells + 1]
    middle = np.where(cells == 0, high / 3, (low + high) / 2)
    middle[:, ~_possible(case, frontier, laws)] = 0
    middle = np.round(middle / middle.sum(axis=1, keepdims=True), 6)
    middle[np.arange(len(middle)), middle.argmax(axis=1)] += 1 - middle.sum(axis=1)
    found = Behind(
        case, scenario, frontier, tuple(outward), Tens(0, BASE - 1), middle, cells, edges, 0.0, "",
        (),
    )  # fmt: skip
    off = 0.5 * float(np.abs(found.mean - laws.mean(axis=0)).sum())
    return replace(found, error=_up(off, down(len(laws))))


def _exactly(case: Asked, scenario: str, frontier: Frontier, laws: Array, grid: int) -> Behind:
    """Every cell with its count and the mean law of its people."""
    cells, counts, of = _in_cells(laws, grid)
    mean = np.stack([np.bincount(of, law, len(counts)) / counts for law in laws.T], axis=1)
    return Behind(
        case, scenario, frontier, tuple(Tens(int(c), int(c)) for c in counts), Tens(0, 0), mean,
        cells, _edges(grid), 0.0, "", (),
    )  # fmt: skip


def _in_cells(laws: Array, grid: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Any]:
    """The cells in which somebody stands, how many do, and in which one each of them."""
    cells, of, counts = np.unique(
        _placed(laws, grid), axis=0, return_inverse=True, return_counts=True
    )
    if len(counts) > MOST_CELLS:
        raise TooLarge(
            f"the table's people stand in more cells than the {MOST_CELLS} that a page holds; know "
            f"attributes together, or leave some out"
        )
    order = np.lexsort(cells.T)
    return cells[order], counts[order], np.argsort(order)[of.ravel()]


def _up(error: float, people: int) -> float:
    """The next rung of a ladder: what is told of an error.

    Rungs are ten people's share apart, at least: an error says where the exact mean lies.

    >>> _up(0.0012, 20_000), _up(0.0012, 400)
    (0.0015, 0.03)
    """
    at = 0.0
    for rung in _RUNGS:
        if rung == 1 or rung - at >= BASE / people - 1e-12:
            if rung >= error:
                return rung
            at = rung
    return 1.0
