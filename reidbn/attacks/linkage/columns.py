"""What a sparse table tells an attack of each person: the subject columns of models/linkage.yaml.

    alone          per right facts   no other record agrees on so many of the person's facts: U(k)
    stranger       per right facts   without the person's own record, one record fits best
    stranger_fits  per right facts   without it, exactly one record fits every one of them
    facts_held     (scalar)          facts that may be known in the person's record

With K facts of which w are wrong and fit nobody, the right ones are any K - w of the person's
facts, and the person's own record scores K - w: it is best iff nobody else agrees on all of these,
P = U(K - w).  A stranger is named by the best score alone, so that curve is one of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, ClassVar, NoReturn, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attack.assumptions import ASSUMPTION
from reidbn.attack.attack import Attack
from reidbn.attack.scenario import Knows, Scenario, SparseKnown
from reidbn.attack.scenariofile import load_scenario, scenarios
from reidbn.attacks.linkage.curves import Curves, support_of
from reidbn.attacks.routes.arguments import mapping_of, whole_number
from reidbn.differing import IN_A_CALL
from reidbn.errors import UsageError
from reidbn.microdata.agree import Agreement, agreement
from reidbn.microdata.columns import Column
from reidbn.microdata.noise import noisy
from reidbn.microdata.sparse import Sparse
from reidbn.microdata.table import People
from reidbn.progress import progress
from reidbn.theory.agreement import intervals, mean_off
from reidbn.theory.singled_out import best_scores, drawn_orders
from reidbn.written import counted

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
ALONE, STRANGER, STRANGER_FITS, HELD = "alone", "stranger", "stranger_fits", "facts_held"
CURVES = (ALONE, STRANGER, STRANGER_FITS)
COLUMNS = (*CURVES, HELD)
MOST = 200
"""Facts up to which columns can go."""
_SPAN = re.compile(r"0\.\.(\d{1,4})")
STRANGERS = 200  # draws of a stranger's curve
DRAWN = {"off": (ALONE,), "strangers_off": (STRANGER, STRANGER_FITS)}
"""What says how far off columns may be by their draws, person by person; and which columns.

Those of one line are read from the same draws.
"""
LOW, HIGH = "low_", "high_"
"""Before a column's name: the ends between which its numbers lie, at 95 % each."""
RECORD = "record"
SAID = f"{ASSUMPTION}: said in the call"
MORE = "give rb.linkage(sparse, node_budget=...) in place of the table to count more of them"


@dataclass(frozen=True)
class Effort:
    """How curves are found: steps a person, draws beyond these, seed."""

    node_budget: int = 20_000
    draws: int = 1_000
    seed: int = 0

    def drawn(self, column: str) -> int:
        """Draws behind a column of `DRAWN`."""
        return self.draws if column == "off" else min(self.draws, STRANGERS)


@dataclass(frozen=True, eq=False, repr=False)
class SparsePeople(People):
    """The people of a sparse table, each a record of their own; a scenario says what is known.

    They have no columns: what counts people who are alike on columns is refused (`instead`).
    """

    instead: ClassVar[str] = f"the people of a sparse table, {Sparse.instead}"
    fills: ClassVar[tuple[str, ...]] = COLUMNS
    sparse: Sparse = field(default=None)  # type: ignore[assignment]  # made by `of` alone
    effort: Effort = Effort()
    made: dict[Any, dict[str, Array]] = field(default_factory=dict, repr=False)
    """Columns that were made already, by what is known and of whom."""

    @classmethod
    def of(cls, sparse: Sparse, effort: Effort | None = None) -> SparsePeople:
        """One record per person, in the order of the table."""
        n = len(sparse)
        return cls(
            np.empty((n, 0), dtype=np.int32, order="F"),
            (),
            (),
            subject_ids=sparse.subject_ids,
            notes=sparse.notes,
            others=sparse.others,
            origin=sparse.origin,
            sparse=sparse,
            effort=effort or Effort(),
        )

    @property
    def fingerprint(self) -> str:
        return self.sparse.fingerprint

    @property
    def content(self) -> str:
        return self.sparse.content

    @property
    def settings(self) -> dict[str, str]:
        """How curves are found."""
        draws, steps, seed = self.effort.draws, self.effort.node_budget, self.effort.seed
        return {"curves": f"{draws:,} draws from seed {seed} beyond {steps:,} steps a person"}

    @property
    def as_released(self) -> dict[str, Any]:
        """As the sparse table is, and what was read."""
        return {"original_fingerprint": self.as_read.fingerprint, **self.sparse.as_released}

    def released(self, sparse: Sparse) -> SparsePeople:
        """The same people in another release: fewer features, coarser ones, or noise."""
        own = (note for note in self.notes if note not in self.sparse.notes)
        notes = tuple(dict.fromkeys((*own, *sparse.notes)))
        return replace(self, sparse=sparse, notes=notes, original=self.as_read, made={})

    def columns_for(
        self, attack: Attack, known: SparseKnown, given: Iterable[str], rows: Ints | None
    ) -> tuple[dict[str, Array], list[str]]:
        """The columns that the attack has and the call did not give; and notes."""
        return sparse_columns(attack, self, known, given, rows)

    def drawn(
        self, attack: Attack, known: SparseKnown, given: Iterable[str], rows: Ints | None
    ) -> dict[str, Array]:
        """The columns that `columns_for` made, with how far off what is drawn may be."""
        wanted = wanted_of(attack, given)
        key = key_of(known, most_facts(attack, wanted), wanted, rows) if wanted else None
        return self.made.get(key, {})

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.sparse!r}>"

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        raise UsageError(f"these are {self.instead}")

    generalise = suppress = suppression_rate = names = missing_rates = compared_with = _refused

    def take(self, rows: ArrayLike) -> SparsePeople:
        """Some people; their curves are among these alone."""
        index = self._rows(rows)
        kept = SparsePeople.of(self.sparse.take(index), self.effort)
        original = None if self.original is None else self.original.take(index)
        return replace(kept, origin=self.rows_read[index], reading=self.reading, original=original)


def rows_of(people: People) -> People:
    """The rows on which an attack is laid: of a sparse table one of its own for each person."""
    if not isinstance(people, SparsePeople):
        return people
    n = len(people)
    codes = np.asfortranarray(np.arange(n, dtype=np.int32)[:, None])
    record = (Column(RECORD, np.arange(n)),)
    return People(codes, record, (RECORD,), subject_ids=people.subject_ids, notes=people.notes)


def in_release(
    people: People,
    drop: str | Sequence[str] | None,
    generalise: Any,
    hierarchies: Any,
    suppress: int | None,
    noise: float | Mapping[str, float] | None = None,
) -> People:
    """The people of a sparse table in another release; of another table, dropping is refused."""
    if not isinstance(people, SparsePeople):
        raise UsageError(
            "drop= leaves features of a sparse table out, and noise= moves its numbers; where "
            "quasi-identifiers are columns, say that nobody knows one: unknown=[...], or make them "
            "coarse: generalise="
        )
    if suppress is not None:
        raise UsageError(
            "suppress= is about people alike on all quasi-identifiers, which a sparse table has "
            "not; leave features out with drop=, or make them coarse with generalise="
        )
    if (generalise is None) != (hierarchies is None):
        raise UsageError(
            "of a sparse table give both: generalise={'birth year': 1} and "
            "hierarchies={'birth year': rb.Bands(5)}"
        )
    sparse = people.sparse if drop is None else people.sparse.drop(drop)
    before, sparse = sparse, sparse.as_known if generalise or noise is not None else sparse
    levels = mapping_of(generalise, "generalise", '{"birth year": 1}')
    ladders = mapping_of(hierarchies, "hierarchies", '{"birth year": rb.Bands(5)}')
    if levels.keys() != ladders.keys():
        raise UsageError("generalise= and hierarchies= name the same features")
    given = cast(SparsePeople, people.as_read).sparse.as_known
    finest = given if given.finest is None else given.finest
    for name, level in levels.items():  # of the values as they were read, however coarse they are
        sparse = sparse.as_in(finest, name)
        if steps := whole_number(level, name, least=0):
            sparse = sparse.coarser({name: ladders[name]}, level=steps)
    if noise is not None:
        sparse = noised(sparse, noise, people.effort.seed)
    elif before.truth is not None and sparse.truth is None:
        sparse = noisy(sparse, before.noise[0], years=before.noise[1], seed=before.noise_seed)
    return people if sparse is people.sparse else people.released(sparse)


def noised(sparse: Sparse, noise: float | Mapping[str, float], seed: int) -> Sparse:
    """The table with noise: a share of every number, or that and years of years and dates.

    Nothing of either is no noise.
    """
    said = dict(noise) if isinstance(noise, Mapping) else {"share": noise}
    if not said or not {*said} <= {"share", "years"}:
        raise UsageError(
            "noise= is a share of every number, noise=0.2, or also how many years years and dates "
            'are off: noise={"share": 0.2, "years": 2}'
        )
    found = noisy(sparse, **{"share": 0.0, **said}, seed=seed)
    return found if any(found.noise) else sparse


def known_of(scenario: Scenario) -> SparseKnown:
    """What a scenario says is known of a sparse table; any fact where it says nothing."""
    knows = scenario.knows
    if scenario.says_everything:
        raise UsageError(
            f"scenario {scenario.name} says that everything is known, which of a sparse table is "
            'every fact of a person: ask scenario="best-informed" (many facts, all of them right), '
            "or rb.linkage(sparse, facts=[...]) for as many as you say"
        )
    if knows is None or (knows.sparse is None and not knows.known and knows.parent is None):
        return SparseKnown()
    if knows.sparse is None:
        raise UsageError(
            f"scenario {scenario.name} says what is known column by column, of a table read with "
            "rb.read_table; of a sparse table a scenario knows any facts, or those of a tag: "
            "any-facts, colleague, insider, health-app, vague, best-informed"
        )
    return knows.sparse


def fits_what_is_near(people: SparsePeople, known: SparseKnown) -> bool:
    """Whether a value may fit the record of somebody who has another one."""
    return known.match != "equal" or any(people.sparse.noise)


_NO_POPULATION = (
    "{} says nothing of a sparse table: nobody outside of it is counted; how likely the person is "
    "in it is the parameter p_in_release ({})"
)


def facts_of(people: Any, scenario: Scenario, population: float | None) -> SparseKnown | None:
    """What may be known of a sparse table; None of any other table.  No population is used."""
    if not isinstance(people, SparsePeople):
        return None
    if population is not None:
        raise UsageError(
            _NO_POPULATION.format("population=", "set="),
            in_shell=_NO_POPULATION.format("--population", "--set"),
        )
    return known_of(scenario)


def any_for_every(scenario: Scenario, facts: SparseKnown | None) -> list[str]:
    """A word where a scenario says that all columns are known, which no attacker of this is."""
    if facts is None or scenario.knows is None or not scenario.knows.every_column:
        return []
    return [
        f"scenario {scenario.name} says that every column is known; of a sparse table it is told "
        "of somebody who knows a few facts, as many as mean_facts says"
    ]


def of_sparse(sparse: Sparse, known: Any) -> Scenario:
    """`known=` of a sparse table as a scenario: one of a name, or facts that words name."""
    if isinstance(known, Scenario) or (isinstance(known, str) and known in scenarios()):
        return load_scenario(known)
    is_listed = isinstance(known, Sequence) and not isinstance(known, str | bytes)
    words = tuple(known) if is_listed else (known,) if isinstance(known, str) else ()
    if words == ("random",) and "random" not in sparse.names:
        return Scenario(IN_A_CALL, knows=Knows((), sparse=SparseKnown()))
    if not words or not all(isinstance(word, str) for word in words):
        raise UsageError(
            "known= of a sparse table is a scenario, random, or names of features, tags or "
            "sections; for chances of each fact, or facts chosen by the attacker: rb.linkage"
        )
    sparse.named(words)
    return Scenario(IN_A_CALL, knows=Knows((), sparse=SparseKnown(words, source=SAID)))


def every_record() -> Knows:
    """What the lattice of attributes is told of people whose attributes are not in columns."""
    return Knows((), every_column=True)


def sparse_columns(
    attack: Attack,
    people: SparsePeople,
    known: SparseKnown,
    given: Iterable[str],
    rows: Ints | None,
) -> tuple[dict[str, Array], list[str]]:
    """The columns that the attack has and the call did not give, for everybody; and notes.

    Of `rows` alone where these are asked about; the others' are 0, and read by nobody.
    """
    if attack.groups:
        raise UsageError(
            f"{attack.name} is about columns that are known or not, a group fixed in advance; of a "
            "sparse table an attack without a group is asked, such as linkage"
        )
    wanted = wanted_of(attack, given)
    if not wanted:
        return {}, []
    most = most_facts(attack, wanted)
    curves, key = curves_of(people, known, most), key_of(known, most, wanted, rows)
    who = np.arange(len(people)) if rows is None else rows
    if key not in people.made:
        people.made[key] = _columns(curves, len(people), who, wanted)
    found = people.made[key]
    return {name: found[name] for name in wanted}, _notes(found, known, curves, who, wanted)


def wanted_of(attack: Attack, given: Iterable[str]) -> list[str]:
    """The columns that a sparse table fills in: those of the attack, but what the call gave."""
    said = {*given}
    return [name for name in COLUMNS if name in attack.subject and name not in said]


def key_of(known: SparseKnown, most: int, wanted: Sequence[str], rows: Ints | None) -> Any:
    """By what columns that were made are found again."""
    return known, most, tuple(wanted), None if rows is None else rows.tobytes()


def most_facts(attack: Attack, names: Sequence[str]) -> int:
    """How many facts the columns go to: they stand per a node with the states 0..n."""
    found = set()
    for name in names:
        column = attack.subject[name]
        if name == HELD:
            if column.axes:
                raise UsageError(f"{attack.name}: the column {name} is one number a person")
            continue
        axes = column.axes
        node = attack.nodes[axes[0]] if len(axes) == 1 and axes[0] in attack.nodes else None
        span = _SPAN.fullmatch(str(None if node is None else node.states))
        states = () if node is None or span else node.states
        if not span and (not states or states != tuple(map(str, range(len(states))))):
            raise UsageError(
                f"{attack.name}: the column {name} has a number for each number of right facts: "
                f"write per: right, a node with the states 0..20"
            )
        found.add(int(span[1]) if span else len(states) - 1)
    if len(found) > 1:
        raise UsageError(f"{attack.name}: its columns per right facts are of different lengths")
    most = found.pop() if found else 1
    if not 1 <= most <= MOST:
        raise UsageError(
            f"{attack.name}: {most} facts; columns per right facts go from 1 to {MOST}"
        )
    return most


def curves_of(people: SparsePeople, known: SparseKnown, most: int = 1) -> Curves:
    """How the curves of these people are asked."""
    found = agreement(people.sparse, known.match, together=known.together)
    allowed = None
    if known.known:
        allowed = np.zeros(len(found.facts), dtype=bool)
        for word in known.known:
            allowed[found.fact_of[still_named(people, found, word)]] = True
    effort = people.effort
    return Curves(
        agreement=found, ks=tuple(range(1, most + 1)), allowed=allowed,
        node_budget=effort.node_budget, draws=effort.draws, seed=effort.seed,
        support=support_of(found), rule="best" if known.guesses == 1 else "lineup",
        lineup=known.guesses,
    )  # fmt: skip


def still_named(people: SparsePeople, found: Agreement | Sparse, word: str) -> Ints:
    """The features of a word; none where the release has left all of them out."""
    try:
        return found.named(word)
    except UsageError:
        if people.original is None:
            raise
        return np.empty(0, dtype=np.int64)


def _columns(curves: Curves, people: int, who: Ints, wanted: Sequence[str]) -> dict[str, Array]:
    most = curves.ks[-1]
    found: dict[str, Array] = {HELD: np.zeros(people)}
    for name in CURVES:
        found[name] = np.zeros((people, most + 1))
    ends = {f"{end}{name}": found[name].copy() for end in (LOW, HIGH) for name in CURVES}
    exact = np.zeros(people)
    draws = min(curves.draws, STRANGERS)
    for person in progress(who.tolist(), "people's curves"):
        if ALONE in wanted:
            cells = curves.of(person)
            found[ALONE][person, 1:] = cells.success
            found[ALONE][person, 0] = people <= curves.lineup
            exact[person] = cells.exact.mean()
            ends[LOW + ALONE][person, 1:], ends[HIGH + ALONE][person, 1:] = cells.low, cells.high
        facts, sets = curves.agreement.sets(person, curves.allowed)
        found[HELD][person] = facts.size
        if facts.size and {STRANGER, STRANGER_FITS} & {*wanted}:
            one, fits = _strangers(curves, person, sets)
            found[STRANGER][person, 1:], found[STRANGER_FITS][person, 1:] = one, fits
            for name, drawn in ((STRANGER, one), (STRANGER_FITS, fits)):
                low, high = intervals(np.rint(drawn * draws).astype(np.int64), draws)
                ends[LOW + name][person, 1:], ends[HIGH + name][person, 1:] = low, high
    for name in CURVES:  # of no facts nothing is drawn
        ends[LOW + name][:, 0] = ends[HIGH + name][:, 0] = found[name][:, 0]
    found |= {"exact": exact[who], **{name: end[who] for name, end in ends.items()}}
    for name, of in DRAWN.items():
        found[name] = np.max([_furthest(found, column, who) for column in of], axis=0)
    return found


def _furthest(found: Mapping[str, Array], column: str, who: Ints) -> Array:
    """How far one number of each person's curve may lie from what is told, at most."""
    told = found[column][who]
    away = np.maximum(told - found[LOW + column], found[HIGH + column] - told)
    return np.asarray(away.max(axis=1))


def _away(off: Array) -> str:
    """In words, at 95 %, and in whole per cent: no more than leaves the house."""
    mean, one = (ceil(100 * p) for p in (float(mean_off(off)), off.max()))
    return f"a person's is at most {one} % away, a mean over people at most {mean} % (at 95 %)"


def _strangers(curves: Curves, person: int, sets: NDArray[np.uint64]) -> tuple[Array, Array]:
    """How often one of the others alone (or a line-up) fits best, and how often it fits all."""
    rng = np.random.default_rng((curves.seed, person, 1))
    draws, most = min(curves.draws, STRANGERS), curves.ks[-1]
    best, alike = best_scores(sets, drawn_orders(rng, len(sets), most, draws))
    alone = (alike <= curves.lineup) & (best > 0)
    whole = alone & (best == np.arange(1, best.shape[1] + 1))
    last = np.minimum(np.arange(most), best.shape[1] - 1)
    return alone.sum(axis=0)[last] / draws, whole.sum(axis=0)[last] / draws


def _notes(
    found: dict[str, Array], known: SparseKnown, curves: Curves, who: Ints, wanted: Sequence[str]
) -> list[str]:
    said = [f"facts known: {known.in_words}; matched: {known.match}"]
    if curves.agreement.left_out:
        said.append(curves.agreement.left_out)
    if known.guesses > 1:
        said.append(
            f"the attacker looks at up to {known.guesses} records that fit best: identified means "
            "that the person is among them, and a wrong person named, that only strangers are"
        )
    if ALONE in wanted and found["exact"].min(initial=1.0) < 1:
        share = int(100 * found["exact"].mean())
        said.append(
            f"{share} % of the numbers of people's curves are exact, the others are drawn: "
            f"{_away(found['off'])}"
        )
        more = f": {MORE}" if curves.lineup == 1 else ""
        said.append(f"numbers that are not exact are drawn {curves.draws:,} times each{more}")
    if {STRANGER, STRANGER_FITS} & {*wanted}:
        said.append(f"how often a stranger is named is drawn: {_away(found['strangers_off'])}")
        said.append(f"it is drawn {min(curves.draws, STRANGERS)} times a person")
    none = int((found[HELD][who] == 0).sum())
    if none:
        said.append(f"of {counted(none, 'person')} nothing that may be known is in the table")
    return said
