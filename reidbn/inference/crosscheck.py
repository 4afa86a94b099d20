"""Cross-check: the exact engine against forward sampling and against pgmpy.

False alarms: if everything is right, the probability that any cell disagrees is at most `level`
(1e-6), split evenly over the cells.  A disagreement raises; a cell that no sample could decide does
not, and the first line says how many there are.

One subject: the marginal of every node, every entry P(state | parents) of small families, and the
question asked; only that question is put to pgmpy and to enumeration.  Many subjects: the mean risk
over people and the tenths of people by risk, with the person drawn as a root node; 30 subjects
(highest, median, random) acted out one by one, and asked of pgmpy; and every person's number
against a second exact answer (see compared.py), or as many as the work allows: a plain "passed"
means everybody.  A cell that is too rare to tell is counted again where it is not rare (rare.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.calls import older, refuse_outside, renamed, typed
from reidbn.errors import CrosscheckFailed, ImpossibleEvidence, TooLarge, UsageError
from reidbn.inference import enumeration, exact
from reidbn.inference.answers import joint, load_attack, tell
from reidbn.inference.compared import (
    AGREES,
    DISAGREES,
    TOO_RARE,
    WORK,
    Cell,
    Compared,
    Counted,
    Printed,
    compare,
)
from reidbn.inference.estimates import batches, check_sample
from reidbn.inference.lowering import Lowering
from reidbn.inference.network import Array, Network
from reidbn.inference.query import Query, read_query
from reidbn.inference.rare import count_rare
from reidbn.inference.sampling import forward, matching
from reidbn.inference.values import check_settings, parameter_values, subject_values
from reidbn.inference.worst import not_checked
from reidbn.progress import progress
from reidbn.written import agree, counted

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 1e-6
TOLERANCE = 1e-12
MOST_RARE = 50  # rare cells that are counted again
ROWS_RARE = 200_000
SUBJECTS_RARE = 20  # of a tenth that is counted again
PRINTED = "the numbers printed"
NEGLIGIBLE = 1e-4  # among many subjects, an error in one risk that changes nobody's verdict
FAMILY = 32  # families with at most this many parent configurations are checked entry by entry


@dataclass(frozen=True)
class CrossCheck:
    """Every cell with its verdict, and the largest differences from the reference engines."""

    attack: str
    cells: tuple[Cell, ...]
    level: float
    draws: int
    seed: int
    references: Mapping[str, float] = field(default_factory=dict)
    subjects: int = 1
    compared: Compared | None = None
    """How many people were compared one by one; None where nobody's number was shown."""
    not_checked: str = ""
    """What all engines share, so that none of them checks it."""
    rows = older("draws")

    @property
    def decided(self) -> float:
        """Share of the cells that the sample could decide."""
        told = [c for c in self.cells if self.verdicts[c.what] != TOO_RARE]
        return len(told) / len(self.cells) if self.cells else 0.0

    @cached_property
    def verdicts(self) -> dict[str, str]:
        return {c.what: c.verdict for c in self.cells}

    @property
    def disagreements(self) -> tuple[Cell, ...]:
        return tuple(c for c in self.cells if self.verdicts[c.what] == DISAGREES)

    @property
    def failed(self) -> bool:
        """Something disagrees."""
        near = all(gap <= TOLERANCE for gap in self.references.values())
        differ = self.compared is not None and self.compared.differing > 0
        return not near or differ or bool(self.disagreements)

    @property
    def passed(self) -> bool:
        """Nothing disagrees, and something could be decided."""
        return not self.failed and self.decided > 0 and not self._is_blunt

    @property
    def _is_blunt(self) -> bool:
        """The numbers shown are shares of so few draws that nothing can be said of them."""
        return self.compared is not None and self.compared.is_blunt

    @property
    def word(self) -> str:
        """Passed, FAILED or undecided."""
        return "FAILED" if self.failed else "passed" if self.passed else "undecided"

    @property
    def status(self) -> str:
        """The word, what the sample could not decide, and how many people were compared."""
        if self.failed:
            return self.word
        found = self.word
        if self.decided < 1:
            told = round(self.decided * len(self.cells))
            rare, share = len(self.cells) - told, int(100 * self.decided + 1e-9)
            found += (
                f", with {share} % decided: nothing disagrees, and {rare} of "
                f"{counted(len(self.cells), 'cell')} {agree(rare, 'is', 'are')} too rare to tell"
            )
        if self.compared is not None and self._is_blunt:
            draws = counted(self.compared.draws, "draw")
            found += f": the numbers shown are shares of {draws} each, too few to tell"
        part = self.compared is not None and not self.compared.is_all
        return f"{found}; {self.compared}" if part else found

    def table(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([c.to_dict() for c in self.cells])

    def to_dict(self) -> dict[str, Any]:
        return {
            "attack": self.attack,
            "passed": self.passed,
            "failed": self.failed,
            "status": self.status,
            "draws": self.draws,
            "rows": self.draws,  # the older word
            "seed": self.seed,
            "false_alarm_rate": self.level,
            "decided": self.decided,
            "subjects": self.subjects,
            "not_checked": self.not_checked,
            "largest_difference": dict(self.references),
            "one_by_one": None if self.compared is None else self.compared.to_dict(),
            "cells": [c.to_dict() for c in self.cells],
        }

    def raise_on_failure(self) -> CrossCheck:
        if self.failed:
            raise CrosscheckFailed(str(self))
        return self

    def __str__(self) -> str:
        count = {v: list(self.verdicts.values()).count(v) for v in (AGREES, DISAGREES, TOO_RARE)}
        agreed = count[AGREES]
        lines = [
            f"cross-check of {self.attack}: {self.status}",
            f"  exact against {self.draws:,} sampled rows (seed {self.seed}): "
            f"{counted(agreed, 'cell')} {agree(agreed, 'agrees', 'agree')}, "
            f"{agree(count[DISAGREES], '1 disagrees', f'{count[DISAGREES]} disagree')}, "
            f"{count[TOO_RARE]} too rare to tell "
            f"({int(100 * self.decided + 1e-9)}% decided; false alarm in {self.level:g} of runs)",
        ]
        errors = [c.would_catch for c in self.cells if self.verdicts[c.what] == AGREES]
        if errors:
            lines.append(f"  an error of {max(errors):.2g} in any decided cell would be caught")
        asked = ", the question asked alone" if self.subjects == 1 else ""
        for name, gap in self.references.items():
            alone = "" if name == PRINTED else asked
            lines.append(f"  exact against {name}{alone}: largest difference {gap:.2g}")
        if self.not_checked:
            lines.append(f"  {self.not_checked}")
        if self.compared is not None:
            lines.append(f"  {self.compared.in_words()}")
        for c in self.disagreements:
            sampled = f"sampled {c.sampled or 0:.6g} in {c.draws:,} rows"
            lines.append(f"  {c.what}: exact {c.exact:.6g}, {sampled}")
        return "\n".join(lines)

    __repr__ = __str__


@renamed(rows="draws")
@typed
def crosscheck(
    attack: Attack | str,
    target: str | Mapping[str, str] | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    draws: int = 1_000_000,
    seed: int = 0,
    level: float = LEVEL,
    subjects: int = 30,
    printed: Array | None = None,
    shown: Mapping[str, Printed] | None = None,
    shown_in: tuple[Attack, Mapping[str, Any]] | None = None,
    work: int = WORK,
    beyond_range: bool = False,
    people: NDArray[np.intp] | None = None,
    must_agree: bool = True,
) -> CrossCheck:
    """Check an attack's exact answers by sampling and by pgmpy; raise when they disagree.

    `people` says which subject each person is, where people alike are one subject: means are over
    people.  `must_agree=False` hands a failed check back instead of raising.  `printed` are answers
    that were shown before, one per subject: with them it is these numbers that the samples are held
    against, and an exact answer asked anew must equal them.  `shown` are all numbers that were
    shown, by name, the main one last: everybody's are compared with a second exact answer, or those
    of as many people as `work` multiplications allow, which the status then says.  `shown_in` is
    the attack in which `shown` are asked and its subject data, where it holds more than this one.

    `target` is the event, by default the attack's own question; `given`, `do`, `set`, `subject` and
    `beyond_range` are as in rb.ask. The attack is sampled by so many `draws` from `seed`; `level`
    is the chance of a false alarm of the whole check, and `subjects` how many people are compared
    one by one.

    >>> check = crosscheck("leak-single", draws=20_000, seed=1)
    >>> check.passed
    True
    """
    attack = load_attack(attack)
    if draws < 1000:
        raise UsageError(f"{draws} draws decide nothing: cross-check with at least 1,000")
    check_sample(draws, seed)
    refuse_outside("level", level, least=1e-300, most=0.5)
    attack, query = read_query(attack, target, given, do)
    query = replace(query, scale=None)  # a mean is checked as the share of its range that it is
    check_settings(attack, set, beyond_range=beyond_range)
    if any(len(v) > 1 for v in parameter_values(attack, set).values()):
        raise UsageError("cross-check one setting at a time")
    columns = subject_values(attack, subject)
    network = Lowering(attack, set, tables=False, do=query.do).network(columns)
    for node, state in (*query.wanted.items(), *query.given.items()):
        network.state_index(node, state)
    rng = np.random.default_rng(seed)
    who = np.arange(network.subjects) if people is None else people
    if network.subjects == 1:
        tell(attack, query, set, columns)
        network = Lowering(attack, set, do=query.do).network(columns).do(query.do)
        references = _references(network, query)  # what is asked is refused before all else
        counted = _one_subject(network, query, draws, rng)
        if printed is not None:
            references[PRINTED] = float(np.abs(printed - _answer(network, query)).max())
    else:
        counted, references, one_by_one = _many_subjects(
            attack, query, set, columns, draws, rng, subjects, printed, who
        )
        if shown is None:
            asked = replace(query, wanted=one_by_one.wanted)
            shown = {"risk": Printed(asked, one_by_one.risk)}
    compared = None
    if shown:
        told, data = shown_in or (attack, columns)
        compared = compare(told, set, data, shown, who, level=level, work=work, seed=seed)
    negligible = NEGLIGIBLE if network.subjects > 1 else 0.0
    cells = _judged(counted, level, negligible, min(draws, ROWS_RARE), rng)
    taken = [d for d in attack.decisions if d in network.factors]
    check = CrossCheck(
        attack.name, cells, level, draws, seed, references, network.subjects, compared,
        not_checked(attack, taken, set, columns, query.do),
    )  # fmt: skip
    return check.raise_on_failure() if must_agree else check


@dataclass(frozen=True)
class _Counted:
    """A cell of the plain sample, and how to count it again where it proves too rare."""

    cell: Counted
    again: Callable[[int, np.random.Generator], Counted | None]


def _judged(
    counted: Sequence[_Counted],
    level: float,
    negligible: float,
    rows: int,
    rng: np.random.Generator,
) -> tuple[Cell, ...]:
    """Every cell judged; the rare ones counted again, for which half of the level is kept."""
    share = level / (2 * len(counted))
    cells = [c.cell.judged(share) for c in counted]
    rare = [i for i, cell in enumerate(cells) if _is_coarse(cell)]
    for i in progress(rare[:MOST_RARE], "rare cells"):
        found = counted[i].again(rows, rng)
        if found is not None and not _is_coarse(found.judged(share)):
            cells[i] = found.judged(share)
    return tuple(replace(c, negligible=negligible) for c in cells)


def _is_coarse(cell: Cell) -> bool:
    """Too rare to tell, or told so coarsely that a doubled probability would pass."""
    rare = cell.verdict == TOO_RARE
    return rare or (cell.verdict == AGREES and 0 < cell.exact < cell.would_catch)


def _answer(network: Network, query: Query) -> float:
    """P(wanted | given) of one subject."""
    values = exact.joint(network, query.targets, dict(query.given))[0, 0]
    return float(values[_index(network, query.wanted)] / values.sum())


def _index(network: Network, wanted: Mapping[str, str]) -> tuple[int, ...]:
    return tuple(network.state_index(n, s) for n, s in wanted.items())


# -- one subject -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Case:
    """P(wanted | given) to be counted among the rows that fit."""

    what: str
    exact: float
    wanted: dict[str, str]
    given: dict[str, str]
    given_exact: float = 1.0

    def again(self, network: Network, rows: int, rng: np.random.Generator) -> Counted | None:
        """What is wanted and given together, counted where it is not rare."""
        found = count_rare([network], {**self.given, **self.wanted}, rows, rng)
        if found is None:
            return None
        both = ", ".join(f"{n}={s}" for n, s in {**self.given, **self.wanted}.items())
        what = f"P({both})" if self.given else self.what
        exact = self.exact * self.given_exact
        return Counted(what, exact, found.hits, found.rows, found.scale)


def _one_subject(
    network: Network, query: Query, rows: int, rng: np.random.Generator
) -> list[_Counted]:
    cases = [*_marginals(network), *_families(network), *_question(network, query)]
    hits = np.zeros(len(cases), dtype=int)
    fits = np.zeros(len(cases), dtype=int)
    for batch in batches(rows):
        states = forward(network, batch, rng)
        for i, case in enumerate(cases):
            fit = np.broadcast_to(matching(network, states, case.given), batch)
            fits[i] += fit.sum()
            hits[i] += (fit & matching(network, states, case.wanted)).sum()
    return [
        _Counted(Counted(c.what, c.exact, int(h), int(n)), partial(c.again, network))
        for c, h, n in zip(cases, hits, fits, strict=True)
    ]


def _marginals(network: Network) -> list[_Case]:
    """The last nodes first: what is too wide to be worked out is refused at once."""
    found = []
    hidden = network.hidden
    for node, states in reversed([*network.states.items()]):
        if node in hidden:
            continue
        p = exact.joint(network, [node], {})[0, 0]
        shown = range(1, len(states)) if len(states) == 2 else range(len(states))
        found.append(
            [_Case(f"P({node}={states[i]})", float(p[i]), {node: states[i]}, {}) for i in shown]
        )
    return [case for cases in reversed(found) for case in cases]


def _families(network: Network) -> list[_Case]:
    """Every entry P(state | parents) of the small families, from the exact joint."""
    cases = []
    apart = {*network.groups, *network.hidden}
    for node, factor in network.factors.items():
        parents = factor.parents
        sizes = [network.size(p) for p in parents]
        if not parents or prod(sizes) > FAMILY or not apart.isdisjoint((node, *parents)):
            continue
        states = network.states[node]
        joint = exact.joint(network, [*parents, node], {})[0, 0]
        for where in product(*(range(n) for n in sizes)):
            case = {p: network.states[p][i] for p, i in zip(parents, where, strict=True)}
            total = joint[where].sum()
            if total > 0:
                text = ", ".join(f"{p}={s}" for p, s in case.items())
                for i, state in list(enumerate(states))[1:]:
                    p = float(joint[(*where, i)] / total)
                    what = f"P({node}={state} | {text})"
                    cases.append(_Case(what, p, {node: state}, case, float(total)))
    return cases


def _question(network: Network, query: Query) -> list[_Case]:
    """P(evidence) and P(target | evidence)."""
    if not query.given:
        return []
    given = dict(query.given)
    joint = exact.joint(network, query.targets, given)[0, 0]
    text = ", ".join(f"{n}={s}" for n, s in given.items())
    if joint.sum() == 0:
        raise ImpossibleEvidence(f"{text} has probability 0: there is nothing to cross-check")
    cases = [_Case(f"P({text})", float(joint.sum()), given, {})]
    for where in np.ndindex(joint.shape):
        wanted = {t: network.states[t][i] for t, i in zip(query.targets, where, strict=True)}
        if _apart(wanted, given):
            continue
        named = ", ".join(f"{n}={s}" for n, s in wanted.items())
        p = float(joint[where] / joint.sum())
        cases.append(_Case(f"P({named} | {text})", p, wanted, given, float(joint.sum())))
    return cases


def _apart(wanted: Mapping[str, str], given: Mapping[str, str]) -> bool:
    """Whether a node is asked for in another state than it is given in: that happens nowhere."""
    return any(given.get(node, state) != state for node, state in wanted.items())


def _references(network: Network, query: Query) -> dict[str, float]:
    """Largest difference from pgmpy, and from enumeration where that is small enough."""
    from reidbn.inference import pgmpy_bridge

    ours = exact.joint(network, query.targets, query.given)[0, 0]
    model = pgmpy_bridge.network_to_pgmpy(network)
    theirs = pgmpy_bridge.joint(model, query.targets, query.given)
    gaps = {"pgmpy": float(np.abs(theirs - ours).max())}
    with suppress(TooLarge):
        brute = enumeration.joint(network, query.targets, query.given)
        gaps["enumeration"] = float(np.abs(brute - ours).max())
    return gaps


# -- many subjects -----------------------------------------------------------------------------


def _many_subjects(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any] | None,
    columns: Mapping[str, Array],
    rows: int,
    rng: np.random.Generator,
    subjects: int,
    printed: Array | None,
    people: NDArray[np.intp],
) -> tuple[list[_Counted], dict[str, float], _OneByOne]:
    wanted = dict(query.wanted) or {query.targets[0]: attack.all_nodes[query.targets[0]].states[-1]}
    values = joint(attack, query, settings, columns)
    network = Lowering(attack, settings, tables=False, do=query.do).network(columns).do(query.do)
    where: Any = (slice(None), 0, *_index(network, wanted))
    likely = np.ones(1)  # without evidence there is nothing to divide by
    if query.given:
        likely = values[:, 0].sum(axis=tuple(range(1, values.ndim - 1)))
    if not (likely > 0).all():
        raise ImpossibleEvidence(
            "the evidence is impossible for some subjects: there is nothing to cross-check"
        )
    likely = np.broadcast_to(likely, network.subjects)
    risk = np.broadcast_to(values[where], network.subjects) / likely
    gaps = {}
    if printed is not None:
        gaps[PRINTED] = float(np.abs(printed - risk).max())
        risk = printed
    one_by_one = _OneByOne(attack, query, settings, columns, wanted, risk, likely)
    counted = _strata(network, one_by_one, people, rows, rng)
    chosen = _chosen(risk, subjects, rng)
    gap = 0.0
    for label, i in progress(chosen, "cross-check, subject by subject"):
        hits = fits = 0
        for batch in batches(rows):
            fit, hit = one_by_one.acted(network, np.full(batch, i, dtype=np.intp), rng)
            fits, hits = fits + int(fit.sum()), hits + int(hit.sum())
        what = f"risk of a subject ({label})"
        again = partial(one_by_one.again, what, np.array([i]))
        counted.append(_Counted(Counted(what, float(risk[i]), hits, fits), again))
        gap = max(gap, one_by_one.pgmpy_gap(i, values[i if len(values) > 1 else 0, 0]))
    return counted, {**gaps, f"pgmpy on {len(chosen)} subjects": gap}, one_by_one


@dataclass(frozen=True, eq=False)
class _OneByOne:
    """The subjects of a question, each with a network of its own."""

    attack: Attack
    query: Query
    settings: Mapping[str, Any] | None
    columns: Mapping[str, Array]
    wanted: dict[str, str]
    risk: Array
    likely: Array
    """P(evidence) of each subject."""

    def acted(
        self, network: Network, who: NDArray[np.intp], rng: np.random.Generator
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Rows of these subjects acted out: where the evidence fits, and the event with it."""
        given = dict(self.query.given)
        states = forward(network, len(who), rng, subject=who, wanted=[*self.wanted, *given])
        fit = np.broadcast_to(matching(network, states, given), len(who))
        return fit, fit & matching(network, states, self.wanted)

    def network(self, i: int) -> Network:
        one = {n: v[i : i + 1] if len(v) > 1 else v for n, v in self.columns.items()}
        return Lowering.of(self.attack, self.settings, self.query).network(one).do(self.query.do)

    def pgmpy_gap(self, i: int, ours: Array) -> float:
        from reidbn.inference import pgmpy_bridge

        model = pgmpy_bridge.network_to_pgmpy(self.network(i))
        theirs = pgmpy_bridge.joint(model, self.query.targets, self.query.given)
        return float(np.abs(theirs - ours).max())

    def again(
        self, what: str, who: NDArray[np.intp], rows: int, rng: np.random.Generator
    ) -> Counted | None:
        """The mean risk of these subjects (of some, where they are many), where it is not rare.

        With evidence it is the chance of both, which is the risk times that of the evidence.
        """
        some = rng.choice(who, SUBJECTS_RARE, replace=False) if len(who) > SUBJECTS_RARE else who
        both = {**self.query.given, **self.wanted}
        if _apart(self.wanted, self.query.given):
            return None
        found = count_rare([self.network(int(i)) for i in some], both, rows, rng)
        if found is None:
            return None
        if self.query.given:
            what = f"{what}, with the evidence"
        if len(some) < len(who):
            what = f"{what}: {len(some)} drawn from it"
        exact = float((self.risk[some] * self.likely[some]).mean())
        return Counted(what, exact, found.hits, found.rows, found.scale)


def _strata(
    network: Network,
    one_by_one: _OneByOne,
    people: NDArray[np.intp],
    rows: int,
    rng: np.random.Generator,
) -> list[_Counted]:
    """The mean risk, and the mean risk in each tenth of the people ordered by risk.

    The person of a row is drawn at random, so hits in a tenth are binomial with its mean risk; of
    the rows in which the evidence fits, with the mean in which each person weighs as much as the
    evidence is likely.
    """
    risk, likely = one_by_one.risk[people], one_by_one.likely[people]
    order = np.argsort(risk, kind="stable")
    parts = min(10, len(risk))
    stratum = np.empty(len(risk), dtype=np.intp)
    stratum[order] = np.arange(len(risk)) * parts // len(risk)
    hits = np.zeros(parts, dtype=int)
    drawn = np.zeros(parts, dtype=int)
    for batch in batches(rows):
        who = rng.integers(len(risk), size=batch)
        fit, hit = one_by_one.acted(network, people[who], rng)
        drawn += np.bincount(stratum[who[fit]], minlength=parts)
        hits += np.bincount(stratum[who[hit]], minlength=parts)
    means = np.bincount(stratum, weights=risk * likely) / np.bincount(stratum, weights=likely)
    mean, fits = float(np.average(risk, weights=likely)), int(drawn.sum())
    which = ", where the evidence fits" if one_by_one.query.given else ""
    whole = Counted(f"mean risk of all people{which}", mean, int(hits.sum()), fits)
    out = [_Counted(whole, partial(one_by_one.again, "mean risk of all people", people))]
    if which:
        seen = Counted("chance of the evidence, mean", float(likely.mean()), fits, rows)
        out.append(_Counted(seen, lambda rows, rng: None))
    for j in range(parts):
        name = f"mean risk of tenth {j + 1} of {parts} of the people, by risk{which}"
        cell = Counted(name, float(means[j]), int(hits[j]), int(drawn[j]))
        again = partial(one_by_one.again, name, people[stratum == j])
        out.append(_Counted(cell, again))
    return out


def _chosen(risk: Array, subjects: int, rng: np.random.Generator) -> list[tuple[str, int]]:
    """Some of the highest risk, some around the median, and the rest at random."""
    count = min(max(subjects, 1), len(risk))
    order = np.argsort(-risk, kind="stable")
    third = max(1, count // 3)
    middle = order[len(order) // 2 - third // 2 :][:third]
    picks = [("highest", i) for i in order[:third]] + [("median", i) for i in middle]
    seen = {int(i) for _, i in picks}
    rest = rng.permutation([i for i in range(len(risk)) if i not in seen])
    picks += [("random", i) for i in rest[: max(0, count - len(seen))]]
    unique = {int(i): label for label, i in reversed(picks)}
    numbered = enumerate(sorted(unique.items(), key=lambda item: item[1]), start=1)
    return [(f"{label}, no. {n}", i) for n, (i, label) in numbered]
