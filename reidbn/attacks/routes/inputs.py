"""Inputs: what an assessment was asked to do, and how that is told, so that two are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

import reidbn
from reidbn.attack.attack import Attack
from reidbn.attack.parts import Given, Question
from reidbn.attack.scenario import Listed, Scenario
from reidbn.attack.scenariofile import told_name
from reidbn.attacks.linkage.columns import SparsePeople, known_of, still_named
from reidbn.attacks.routes.by_weight import people_behind
from reidbn.calls import older
from reidbn.differing import OWN, chances_told
from reidbn.microdata.placing import Groups, Placed
from reidbn.microdata.table import People
from reidbn.result import digest


@dataclass(frozen=True, eq=False)
class Inputs:
    """What an assessment was asked to do; another one is asked by changing a part."""

    attack: Attack
    people: People
    scenario: Scenario
    population: float | None
    population_model: str
    set: Mapping[str, float]
    do: Mapping[str, str]
    given: Mapping[str, Given]
    subject: Mapping[str, Any]
    columns: Mapping[str, str | Sequence[str]]
    without: tuple[str, ...]
    unknown: tuple[str, ...]
    method: str
    draws: int
    seed: int
    checkpoint: str | None = None
    beyond_range: bool = False
    apart: bool = False
    """Sure groups stay members of their own, so that each one's part can be told."""
    individuals: NDArray[np.int64] | None = None
    """The rows of those asked about; None: everybody."""
    drawn: bool = False
    """Whether they were drawn at random."""
    said: Mapping[str, float] = field(default_factory=dict)
    """What the caller set; `set` holds what the scenario sets, too."""
    counted: bool = False
    """Whether it matters how many groups are known, so that a sure group is not its columns."""
    named: frozenset[str] = frozenset()
    """Nodes that something names one by one, so that a group is not its columns alone."""
    given_for: Any = None
    """What may be known where numbers of the call are by what is known (following.py)."""
    trials = older("draws")

    @property
    def learnt(self) -> dict[str, Given]:
        """What the scenario says is known, and the call, which goes before it."""
        return {**self.scenario.given, **self.given}

    def given_names(self, scenario: Scenario) -> frozenset[str]:
        """Nodes and groups that evidence names, in states or in events."""
        return frozenset(Question("given", given={**scenario.given, **self.given}).names)

    @property
    def done(self) -> dict[str, str]:
        """What is set by the scenario and by the call, which goes before it."""
        return {**self.scenario.do, **self.do}

    # -- how it is told --------------------------------------------------------------------

    @property
    def _taken(self) -> tuple[Scenario, Mapping[str, float]]:
        """The scenario with the chances that were set, and what else was set."""
        return self.scenario.taking(self.said)

    @property
    def set_in_words(self) -> list[str]:
        """What was set, beside chances of what is known."""
        said = [f"{name} set to {value:,.12g}" for name, value in self._taken[1].items()]
        return [f"with {' and '.join(said)}"] if said else []

    def question(self, event: str, columns: Sequence[str]) -> str:
        """What was asked, in the words and the order of who asked it."""
        known = self._taken[0]
        return self._told(event, columns, known, self.unknown, self.set_in_words)

    def in_order(self, event: str) -> str:
        """The same in one form, without what is told by itself: columns, known or not, settings."""
        return self._told(event, [], self._known_in_order, [], [])

    @property
    def _known_in_order(self) -> Scenario:
        return self._taken[0].in_order(apart=self.counted, named=self.named)

    def _told(
        self, event: str, columns: Sequence[str], known: Scenario, unknown: Sequence[str],
        said: Sequence[str],
    ) -> str:  # fmt: skip
        own = "".join(f", {what}" for what in said)
        whole = self.people.whole.share_kept == 1  # else it would count the suppressed
        if self.population is not None and whole:
            own += f", among {self.population:,.12g}"
        if unknown:
            own += f", {', '.join(sorted(unknown))} known to nobody"
        if known.is_said and known.knows is not None:
            for item in known.knows.known:
                c = item.constant
                chance = "by a chance of each person's own" if c is None else f"{c:.4g}"
                own += f", {item.name} {chance}"
        on = f" on {', '.join(columns)}" if columns else ""
        return f"{self.attack.name} under {told_name(known)}: {event}{on}{own}"

    @property
    def known_to_nobody(self) -> tuple[str, ...]:
        """Columns that were named unknown, or of which a chance of 0 was said."""
        knows = self.scenario.renamed(self.columns).without(self.without).knows
        said = knows.known if knows is not None else ()
        gone = {c for item in said if item.constant == 0 for c in item.columns}
        gone &= {*self.people.columns}
        gone -= {c for item in said if item.constant != 0 for c in item.columns}
        return tuple(sorted(gone | {*self.unknown}))

    def knowing(self, groups: Groups) -> dict[str, Any]:
        """By which columns people are told apart, and the chances that all of them share."""
        columns = sorted({name for group in groups.columns for name in group})
        chances = self._chances(groups)
        found: dict[str, Any] = {"chances": chances}
        return found | ({"on": columns} if columns else {})

    def law(self, groups: Groups, *, of_each: bool) -> dict[str, Any]:
        """What is known with which chances, by whatever names it was said, as a digest and the
        parameters that it holds; of chances that are each person's own, or of no such.

        Nothing where the scenario brings more, or something else names the groups.
        """
        more, members = self.scenario, {f"p_{one.member}": one for one in groups.placed}
        node = groups.parent.node if groups.parent else None
        names, own = {*members, f"p_{node}"}, self.attack.settable.keys()
        if (
            more.parameters or more.nodes or more.questions or self.counted or not members
            or names & {*own} or not {*self.set} <= names | own
            or any(one.member in self.named for one in groups.placed)
        ):  # fmt: skip
            return {}
        parent = groups.parent_p
        if parent is not None:
            parent = _one_for_all(self.set.get(f"p_{node}", parent))
        each = {name: _one_for_all(self.set.get(name, one.p)) for name, one in members.items()}
        listed = [] if parent is None else [np.round(parent, 12)]
        personal = any(p.shape[-1] > 1 for p in (*each.values(), *listed))
        if personal != of_each:
            return {}
        beside = getattr(groups.parent, "weights", None)
        sure = {c for name, one in members.items() if (each[name] == 1).all() for c in one.columns}
        known = [
            (left, np.round(each[name], 12).tobytes())
            for name, one in members.items()
            if (left := tuple(sorted({*one.columns} - sure)))
        ]
        told = repr((sorted(sure), sorted(known), sorted(groups.bands.items()), node, beside))
        return {"law": [digest(told, *listed), *sorted(names)]}

    def _chances(self, groups: Groups) -> dict[str, list[Any]]:
        """Of columns that are known together the parameter and the chance; what is sure apart.

        Nothing where kinds of attackers have chances of their own, or a scenario looks them up.
        """
        listed = np.ones(1) if groups.parent_p is None else groups.parent_p
        each = any(one.p.shape != (1,) for one in groups.placed) and not self.scenario.is_said
        profile = not (groups.parent is None or isinstance(groups.parent, Listed))
        if each or profile or listed.shape != (1,):
            return {}
        on = float(listed[0])
        if groups.parent is not None:
            on = float(self.set.get(f"p_{groups.parent.node}", on))

        def told(one: Placed) -> tuple[Sequence[str], str, float | str]:
            name = f"p_{one.member}"
            p = self.set.get(name, one.p[0] if one.p.shape == (1,) else None)
            return one.columns, name, OWN if p is None else float(p)

        found = chances_told(map(told, groups.placed))
        return {key: [name, p if isinstance(p, str) else on * p, some]
                for key, (name, p, some) in found.items()}  # fmt: skip

    @property
    def settings(self) -> dict[str, Any]:
        """Whether a list is one event for all that is on it; which facts of a sparse table."""
        found: dict[str, Any] = {}
        if isinstance(self.people, SparsePeople):
            facts = known_of(self.scenario)
            read = cast(SparsePeople, self.people.as_read).sparse
            every = len(read.named(facts.known)) == len(read.schema)
            told = replace(facts, known=()) if every else facts
            found |= {"facts known": told.in_words, "matched": facts.match}
            found |= self.people.settings
        parent = None if self.scenario.knows is None else self.scenario.knows.parent
        if isinstance(parent, Listed):
            found["together"] = "yes" if parent.shared else "no"
        return found

    @property
    def facts_exactly(self) -> tuple[Any, ...]:
        """Which features of a sparse table may be known, by whatever words they were named."""
        if not isinstance(self.people, SparsePeople):
            return ()
        sparse = self.people.sparse
        named = [still_named(self.people, sparse, word) for word in known_of(self.scenario).known]
        places = np.unique(np.concatenate(named)) if named else np.arange(len(sparse.schema))
        return (np.array([sparse.names[i] for i in places]),)

    @property
    def population_of(self) -> int | None:
        """Those who make up the population: whom survey weights say each for how many they stand,
        or whom suppressed people left; None where it was said by itself.
        """
        whole = self.people.whole
        behind = None if self.population is None else people_behind(whole, self.population_model)
        is_said = whole.share_kept == 1 and (behind is None or behind != self.population)
        return None if is_said else len(whole)

    def as_told(self, telling: Any) -> Inputs:
        """The same with the population as it is told; themselves, where that is as it was said."""
        said = self.population
        if said is None:
            return self
        told = telling.number_above(said, len(self.people), of=self.population_of)
        return self if told == said else replace(self, population=told)

    def provenance(self, attack: Attack) -> dict[str, Any]:
        """What numbers of this attack, as it was laid on the table, were made from."""
        known = self._known_in_order
        return {
            "reidbn": reidbn.__version__,
            "attack": self.attack.name,
            "attack_fingerprint": attack.fingerprint,
            "model_fingerprint": self.attack.fingerprint,
            "scenario": self.scenario.name,
            "scenario_fingerprint": known.told_fingerprint,
            "table_fingerprint": self.people.fingerprint,
            "original_fingerprint": self.people.whole.as_read.fingerprint,
            "people": len(self.people),
            "individuals": None if self.individuals is None else len(self.individuals),
            "population": self.population,
            "population_model": self.population_model if self.population is not None else None,
            "method": self.method,
            "draws": None if self.method == "exact" else self.draws,
            "seed": self.seed,
            "parameters": {name: p.value for name, p in attack.parameters.items()} | dict(self.set),
            "given": {name: state if isinstance(state, str) else str(state)
                      for name, state in self.learnt.items()},
            "do": self.done,
            "columns": {name: [names] if isinstance(names, str) else list(names)
                        for name, names in self.columns.items()},
            "unknown": list(self.known_to_nobody),
            "without": sorted(self.without),
        }  # fmt: skip


def _one_for_all(chance: Any) -> NDArray[np.float64]:
    """The chances of people, or one where all have the same."""
    p = np.atleast_1d(np.asarray(chance, dtype=np.float64))
    return p if (p != p[..., :1]).any() else p[..., :1]
