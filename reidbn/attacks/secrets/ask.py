"""Attribute disclosure: what the neighbours' records give away, for every person [Kroes21].

people = rb.read_table("patients.csv", quasi_identifiers=["age", "sex"], sensitive=["diagnosis"])
d = rb.disclosure(people, sensitive="diagnosis")
d.share_upward(p=0), d.subjects

The counts of a small table asked again as queries of the record network in pgmpy.

Counting and the network share the codes of the table and nothing else: classes, masks and zeta sums
on one side, a graph and variable elimination on the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attacks.records.network import RecordNetwork, record_network
from reidbn.attacks.secrets.asked import (
    Blur,
    Individuals,
    Range,
    among,
    asked_of,
    auxiliaries,
    chances_of,
    coded,
    draw,
    has_secret,
    histories_of,
    own_labels,
    refuse_many,
    relations_of,
    said_of,
    sampling_pays,
    several,
    told_of_nobody,
    whole_codes,
)
from reidbn.attacks.secrets.counts import DisclosureQuestion, PeerCounter, threshold
from reidbn.attacks.secrets.joint import side_by_side
from reidbn.attacks.secrets.peers import Matched, Partitioned
from reidbn.attacks.secrets.result import Disclosure
from reidbn.calls import refuse_outside, typed
from reidbn.errors import CrosscheckFailed, UsageError, did_you_mean
from reidbn.inference.answers import ask
from reidbn.limits import MOST_CHECKED
from reidbn.microdata.again import asked_again
from reidbn.microdata.coding import said_otherwise
from reidbn.microdata.knowledge import Knowledge, Known, sure_of
from reidbn.microdata.knowledge import knowledge as read_knowledge
from reidbn.microdata.slab import MEMORY
from reidbn.microdata.table import People, checked_people
from reidbn.written import agree

if TYPE_CHECKING:
    import pandas as pd


WEIGHED = (
    "survey weights: the shares with upward and downward privacy are of the people's weight; "
    "counts of people, means and best guesses are of the people of the table, each counted once"
)


@asked_again
@typed
def disclosure(
    people: People,
    sensitive: str,
    *,
    known: Known | None = None,
    p: float | str = 0.0,
    q: float | str = 0.0,
    empty: bool = False,
    knowledge: Known | None = None,
    ranges: Mapping[str, Range] | None = None,
    tolerance: Mapping[str, float] | None = None,
    within: float | None = None,
    sensitive_values: Sequence[Any] | None = None,
    if_missing: str = "left-out",
    individuals: int | ArrayLike | None = None,
    seed: int = 0,
    memory: int = MEMORY,
) -> Disclosure:
    """What people's other values give away about their value of `sensitive`.

    Auxiliaries are the other columns, unless `known` names some, with or without their chances of
    being known (whatever rb.knowledge takes: columns, {name: chance}, {name: (columns, chance)}, a
    scenario).  p and q are the thresholds of the
    two verdicts (p also by name: certain, nearly-certain, more-likely-than-not; `q="joint"`:
    p / (|dom| - 1)); `empty` admits the attacker who knows nothing.
    `knowledge` gives chances of some auxiliaries where the others count, too; `ranges` and
    `tolerance` blur what is known, and `within=t` counts a guess at most t off as a breach.
    `sensitive_values` asks about the people who have one of these values only; `individuals` about
    that many people drawn at random (or about these rows) among the peers of all.  People whose
    secret is missing are nobody's peers and are not asked about, unless `if_missing="value"`.

    `seed` draws the individuals; `memory` is about how many bytes the counting takes at a time.

    >>> people = People.from_codes([[0, 0], [0, 0], [0, 1], [1, 1]], ["age", "diagnosis"])
    >>> disclosure(people, "diagnosis").ppp_full.round(3)
    array([0.333, 0.333, 0.667, 0.   ])
    """
    checked_people(people).names([sensitive])
    names, what = said_of(people, sensitive, known, knowledge)
    people = people if what is None else what.seen(people)
    wanted = asked_of(
        people, sensitive, individuals, seed, values=sensitive_values, if_missing=if_missing
    )
    blur = Blur(ranges or {}, tolerance or {}, within)
    return _one(people, sensitive, names, wanted, blur, p, q, what, memory, empty=empty)


def _one(
    given: People,
    sensitive: str,
    known: Sequence[str] | None,
    wanted: Individuals,
    blur: Blur,
    p: float | str,
    q: float | str,
    knowledge: Knowledge | None,
    memory: int,
    *,
    empty: bool,
) -> Disclosure:
    people, rows = wanted.people, wanted.rows
    names = auxiliaries(people, sensitive, known)
    blur.check(names)
    secret = len(names)
    if several(people, sensitive):
        source: PeerCounter = histories_of(people, names, sensitive, blur, wanted, empty=empty)
    else:
        relations = relations_of(people, names, sensitive, blur)
        codes, cardinalities = coded(people, names, sensitive, blur.ranges)
        if relations or (rows is not None and sampling_pays(len(people), rows.size, len(names))):
            source = Matched(codes, cardinalities, relations, empty, memory, rows)
        else:
            all_known = tuple(range(secret))
            source = Partitioned(codes, cardinalities, all_known, (secret,), empty, memory, rows)
    notes = (*people.notes, *wanted.notes, *blur.notes())
    blank = ("a missing secret is a value",) if wanted.blank_counts else ()
    words = (*blur.words(names, empty=empty), *blank)
    one = _found(given, (*names, sensitive), source, secret, p, q, knowledge, wanted, notes, words)
    return replace(one, question=replace(one.question, exactly=blur.exactly(sorted(names))))


@typed
def disclosure_all(
    people: People,
    *,
    columns: Sequence[str] | None = None,
    known: Known | None = None,
    p: float | str = 0.0,
    q: float | str = 0.0,
    empty: bool = False,
    knowledge: Known | None = None,
    ranges: Mapping[str, Range] | None = None,
    tolerance: Mapping[str, float] | None = None,
    if_missing: str = "left-out",
    individuals: int | ArrayLike | None = None,
    seed: int = 0,
    memory: int = MEMORY,
) -> DisclosureAll:
    """Every variable in turn as the secret, the other columns as auxiliaries, in one walk.

    The columns are those of `columns`, or all, and then `known` speaks of all; chances that
    `known` (or `knowledge`) gives weigh what is known of the others.
    `ranges` and `tolerance` blur a column where it is known, not where it is the secret.  A column
    that tells nobody's value (every value missing, or at its last level, "*") is no secret, and a
    note says so.

    `people` is the table; `p`, `q`, `empty`, `if_missing`, `individuals`, `seed` and `memory` are
    as in rb.disclosure.

    >>> people = People.from_codes([[0, 0], [0, 0], [0, 1], [1, 1]], ["age", "diagnosis"])
    >>> {name: d.share_upward() for name, d in disclosure_all(people).items()}
    {'age': 0.5, 'diagnosis': 0.75}
    """
    names, what = _every(people, columns, known, knowledge)
    people = people if what is None else what.seen(people)
    if len(names) < 2:
        raise UsageError(f"disclosure needs at least two columns; there are {len(names)}")
    for option, blurred in (("ranges", ranges), ("tolerance", tolerance)):
        among(names, option, blurred)
    drawn = individuals is not None and np.ndim(individuals) == 0
    if drawn:
        individuals = draw(people, int(individuals), seed)  # type: ignore[arg-type]
    told = [name for name in names if if_missing == "value" or has_secret(people, name).any()]
    if not told:
        raise UsageError("nobody's value of any column is in the table: there is no secret to ask")
    untold = tuple(f"{name} is no secret here: it is {told_of_nobody(people, name)} for everybody"
                   for name in names if name not in told)  # fmt: skip
    each = {name: None if what is None else what.without(name) for name in told}
    asked = {
        name: asked_of(
            people, name, individuals, seed, if_missing=if_missing, drawn=drawn, skip=True
        )
        for name in told
    }
    refuse_many(len(names) - 1)
    rows = asked[told[0]].rows
    sampled = rows is not None and sampling_pays(len(people), rows.size, len(names))
    whole = not sampled and not ranges and not tolerance and people.is_partition
    together = [name for name in told if whole and asked[name].origin is None]
    if any(several(people, name) for name in names):
        together = []
    found: dict[str, Disclosure] = {}
    if together:
        every, codes, sizes = (
            tuple(range(len(names))),
            whole_codes(people, names),
            people.cardinalities(names),
        )
        secrets = tuple(names.index(name) for name in together)
        source = Partitioned(codes, sizes, every, secrets, empty, memory, rows)
    for name, wanted in asked.items():
        j, others = names.index(name), [other for other in names if other != name]
        wanted = replace(wanted, notes=(*wanted.notes, *untold))
        if name in together:
            words = Blur({}, {}, None).words(others, empty=empty)
            notes = (*people.notes, *wanted.notes)
            found[name] = _found(
                people, tuple(names), source, j, p, q, each[name], wanted, notes, words
            )
            continue
        blur = Blur(
            {c: spec for c, spec in (ranges or {}).items() if c != name},
            {c: spec for c, spec in (tolerance or {}).items() if c != name},
            None,
        )
        found[name] = _one(
            people, name, others, wanted, blur, p, q, each[name], memory, empty=empty
        )
    return DisclosureAll(people, found)


def _every(
    people: People, columns: Sequence[str] | None, known: Known | None, weighed: Known | None
) -> tuple[list[str], Knowledge | None]:
    """The columns that are secrets in turn, and the chances of the others."""
    if known is not None and weighed is not None:
        raise UsageError("known= and knowledge= both say what is known; give known= alone")
    said = weighed if known is None else known
    what = None if said is None else read_knowledge(people, said)
    if columns is None and known is not None and what is not None:
        silent = [name for name in people.columns if name not in what.used]
        if silent:
            asked = f"columns={[*what.used]}" if len(what.used) > 1 else "columns=[...]"
            raise UsageError(
                f"every variable in turn is a secret, and known= says nothing of "
                f"{', '.join(silent)}, which would not be asked about: {asked} asks about some, "
                f"rb.disclosure about one secret",
                in_shell=f"--all asks about every column in turn, and what is known says nothing "
                f"of {', '.join(silent)}: leave --all out and name each secret with --sensitive",
            )
    names = list(people.columns if columns is None else people.names(columns))
    if what is not None:
        for column in what.used:
            if column not in names:
                raise UsageError(f'known= names "{column}", which is not among {names}')
    return names, what if what is not None and what.stated else None


@dataclass(frozen=True, eq=False, repr=False)
class DisclosureAll(Mapping[str, Disclosure]):
    """One `Disclosure` per variable, as a mapping, with the pictures' matrices."""

    instead: ClassVar[str] = (
        "the results of several questions: take one, every[secret]; to vary it, ask it by itself "
        "(rb.disclosure)"
    )
    people: People
    secrets: dict[str, Disclosure]

    def __getitem__(self, name: str) -> Disclosure:
        if name not in self.secrets:
            raise UsageError(f'no secret "{name}"; {did_you_mean(name, self.secrets)}')
        return self.secrets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.secrets)

    def __len__(self) -> int:
        return len(self.secrets)

    @property
    def ppp_min(self) -> NDArray[np.float64]:
        """Individuals x variables: the least PPP over all subsets (the paper's Figure 2).

        NaN where an individual's value is missing and was left out, here and in `ppp_full`.
        """
        return side_by_side(self, {name: d.ppp_min for name, d in self.items()})

    @property
    def ppp_full(self) -> NDArray[np.float64]:
        """Individuals x variables: PPP with all other variables known."""
        return side_by_side(self, {name: d.ppp_full for name, d in self.items()})

    def summary(self) -> pd.DataFrame:
        """One row per variable: domain, shares protected, mean and quartiles of the least PPP."""
        import pandas as pd

        return pd.DataFrame([_row(d) for d in self.values()], index=pd.Index(list(self)))

    def __repr__(self) -> str:
        return f"DisclosureAll({len(self)} secrets of {len(self.people)} people: {list(self)})"


def _row(d: Disclosure) -> dict[str, Any]:
    low, middle, high = np.quantile(d.ppp_min, [0.25, 0.5, 0.75])
    return {
        "domain": int(d.falsehoods.max()) + 1,
        "status": d.status,
        "share_upward": d.share_upward(),
        "share_downward": d.share_downward(),
        "mean_ppp_min": float(d.ppp_min.mean()),
        "q1": float(low),
        "median": float(middle),
        "q3": float(high),
    }


def _found(
    given: People,
    names: tuple[str, ...],
    source: PeerCounter,
    secret: int,
    p: float | str,
    q: float | str,
    knowledge: Knowledge | None,
    wanted: Individuals,
    notes: tuple[str, ...],
    words: tuple[str, ...],
) -> Disclosure:
    known = [name for name in names if name != names[secret]]
    others = tuple(known)
    if secret < len(known):
        known.insert(secret, "")  # keeps the places of the others; no column has no name
    chances, profile = (
        (None, None) if knowledge is None else chances_of(len(given), known, knowledge)
    )
    if wanted.people.weights is not None:
        notes = (*notes, WEIGHED)
    same, text = said_otherwise(own_labels(wanted.people, names[secret]), names[secret])
    if same:
        notes = (*notes, f"{text}, and {agree(same, 'is', 'are')} counted as another secret here; "
                 f"a limit in a plan counts them as one, and who takes them so guesses no worse, "
                 f"and may guess better")  # fmt: skip
    rows = wanted.rows
    individuals = None if rows is None else (int(rows.size), int(rows.sum()))
    at = threshold("p", p)
    found = Disclosure(
        wanted.people,
        names[secret],
        names,
        source,
        secret,
        p=at,
        rows=rows,
        chances=chances,
        profile=wanted.settled(profile),
        notes=notes,
        origin=wanted.origin,
        drawn_from=wanted.drawn_from,
        question=DisclosureQuestion(others, at, words, individuals, names[secret]),
        table_given=given,
    )
    at = found.joint_q() if q == "joint" else threshold("q", q)
    sure = knowledge is None or (knowledge.is_sure and {*knowledge.used} == {*others})
    said = sure_of(others) if knowledge is None or sure else knowledge
    words = () if sure else (said.in_order.in_words(),)
    beside = (*words, *((f"q = {at:g}",) if at else ()))
    return replace(found, q=at, question=replace(found.question, beside=beside, said=said))


# -- the counts of a small table asked again as queries of the record netwo ------------------------


@dataclass(frozen=True)
class NetworkCheck:
    """How many posteriors were asked of pgmpy; all of them were the counted fractions."""

    individuals: int
    subsets: int
    queries: int

    def __str__(self) -> str:
        return (
            f"{self.queries} posteriors of {self.individuals} people on {self.subsets} subsets: "
            "pgmpy and the counts agree in every fraction"
        )


@typed
def disclosure_crosscheck(d: Disclosure, *, individuals: int = 10, seed: int = 0) -> NetworkCheck:
    """Ask pgmpy for P(own secret | A) of some people on every subset, and compare the fractions.

    For tables of up to 500 people; raises `CrosscheckFailed` at the first difference.

    `d` is the disclosure; so many `individuals` are drawn from `seed`.
    """
    if d.several:
        raise UsageError(
            f'people have several values of "{d.secret}", and the record network holds one each'
        )
    refuse_outside("individuals", individuals, least=1, most=MOST_CHECKED)
    codes = d.source.codes
    people = People.from_codes(codes, d.names)
    net = record_network(people, engine="pgmpy")
    rows = np.arange(len(d.table)) if d.rows is None else d.rows
    generator = np.random.default_rng(seed)
    chosen = np.sort(generator.choice(rows.size, min(individuals, rows.size), replace=False))
    others = d.source.others(d.column)
    subsets = [some for size in range(1, len(others) + 1) for some in combinations(others, size)]
    asked: dict[tuple[Any, ...], dict[str, float]] = {}
    for known in subsets:
        peers, same = d.source.at(d.column, known)
        for place in chosen:
            own = codes[rows[place]]
            key = (known, *(int(own[j]) for j in known))
            if key not in asked:
                asked[key] = _posterior(d, net, known, own)
            near = d.source.alike(d.column, int(own[d.column]))
            share = sum(asked[key].get(str(value), 0.0) for value in near.tolist())
            counted = Fraction(int(same[place]), int(peers[place]))
            if Fraction(share).limit_denominator(len(people)) != counted:
                raise CrosscheckFailed(
                    f"person {rows[place]} on {len(known)} known columns: counted "
                    f"{float(counted):.12g}, pgmpy {share:.12g}"
                )
    return NetworkCheck(chosen.size, len(subsets), len(asked))


def _posterior(
    d: Disclosure, net: RecordNetwork, known: tuple[int, ...], own: np.ndarray[Any, Any]
) -> dict[str, float]:
    """P(secret | the known columns are what matches this person's), by code."""
    given: dict[str, Any] = {}
    for j in known:
        column = net.columns[d.names[j]]
        alike = set(d.source.alike(j, int(own[j])).tolist())
        states = column.states
        given[column.node] = (
            states[int(own[j])]
            if len(alike) == 1
            else {state: float(value in alike) for value, state in states.items()}
        )
    secret = net.columns[d.secret]
    found = ask(net.attack, secret.node, given=given, engine="pgmpy").distribution
    return {str(value): found[state] for value, state in secret.states.items()}
