"""What records that tell of relatives give the cascade: the columns of models/family-cascade.yaml.

    match_R, presence_R                           chances of each relative R, of every first record
    confused_R, stranger_R                        a stranger in their place, in the table or not
    stranger_siblings, stranger_children, ..      a stranger among those of whom there are several
    again_R, sideways_R                           R can be found from siblings'; these lead to R
    across_R                                      another relative's record leads to R
    down_R                                        that of a grandparent leads to a sibling
    next_stranger                                 a stranger's record leads on to a stranger
    tells_found_R, tells_missed_R                 R's record tells of the family, found first or not
    leads_on                                      records that lead to anybody, right or wrong

Where the match of a relative is right is not known of a table; virtual relatives say how often it
is (planting.py).  What a first record tells is its own, so its chances are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.scenario import SparseKnown
from reidbn.attacks.family.claims import POSTERIOR, all_named, person_of
from reidbn.attacks.family.kin import (
    CHILD,
    DAUGHTERS_CHILD,
    FATHER,
    MGF,
    MGM,
    MOTHER,
    PGF,
    PGM,
    PLANTS,
    SIBLING,
    SONS_CHILD,
    Kin,
    read_kin,
)
from reidbn.attacks.family.planting import Rates, chances, planted
from reidbn.attacks.linkage.columns import COLUMNS as FACTS
from reidbn.attacks.linkage.columns import SparsePeople
from reidbn.errors import DataError, UsageError
from reidbn.microdata.sparse import Sparse

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_READ = 500
"""Records that are read to see from how many anybody is named."""
NAMED_FIRST = (
    "who is looked for is known by facts of their own; that the family goes to the same hospital "
    "is said of people who are in the table"
)
RELATIVES = {
    "sibling_1": SIBLING, "sibling_2": SIBLING, "father": FATHER, "mother": MOTHER,
    "paternal_grandfather": PGF, "paternal_grandmother": PGM, "maternal_grandfather": MGF,
    "maternal_grandmother": MGM,
}  # fmt: skip
ANCESTORS = tuple(name for name, role in RELATIVES.items() if role != SIBLING)
SEVERAL_OF = {
    "siblings": SIBLING, "children": CHILD, "sons_children": SONS_CHILD,
    "daughters_children": DAUGHTERS_CHILD,
}  # fmt: skip
ONWARD = ("next_stranger",)
SIDEWAYS = "sideways"
KINDS = {
    "match": "right", "presence": "present", "tells_found": "tells_found",
    "tells_missed": "tells_missed", "again": "findable", "across": "across",
}  # fmt: skip
STRANGE, DOWN = ("confused", "stranger"), "down"
SIBLINGS = tuple(name for name, role in RELATIVES.items() if role == SIBLING)
LEADS_ON = "leads_on"
FAMILY = (
    *(f"{word}_{name}" for word in (*KINDS, SIDEWAYS) for name in RELATIVES),
    *(f"{word}_{name}" for word in STRANGE for name in ANCESTORS),
    *(f"{DOWN}_{name}" for name in SIBLINGS),
    *(f"stranger_{name}" for name in SEVERAL_OF), *ONWARD, LEADS_ON,
)  # fmt: skip


class NoRelatives(UsageError):
    """A release in which nothing tells of relatives."""


@dataclass(frozen=True)
class Looking:
    """How relatives are looked for: the rule, what the attacker believes, and virtual relatives."""

    rule: str = POSTERIOR
    in_release: float = 0.5
    plants: int = PLANTS
    seed: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class KinPeople(SparsePeople):
    """The people of a sparse table whose records tell of relatives."""

    fills: ClassVar[tuple[str, ...]] = (*FACTS, *FAMILY)
    kin: Kin = field(default=None)  # type: ignore[assignment]  # made by `of_kin` alone
    looking: Looking = Looking()
    drawn_rates: dict[bytes | None, tuple[Mapping[str, Rates], Mapping[str, Rates]]] = field(
        default_factory=dict
    )

    @classmethod
    def of_kin(cls, kin: Kin, looking: Looking | None = None) -> KinPeople:
        """One record per person, in the order of the table."""
        plain = SparsePeople.of(kin.sparse)
        held = {one.name: getattr(plain, one.name) for one in fields(SparsePeople)}
        held |= {"notes": kin.notes, "made": {}}
        return cls(**held, kin=kin, looking=looking or Looking(plants=kin.plants))

    @property
    def settings(self) -> dict[str, str]:
        """How curves are found, how records tell, and how relatives are looked for."""
        kin, how = self.kin, self.looking
        return super().settings | {
            "records tell": f"an illness with {kin.completeness:g}, a false one with "
            f"{kin.false_reports:g}, ages off by {kin.jitter:g}, the same within {kin.years}",
            "relatives": f"by the {how.rule} rule, one in the table with {how.in_release:g}, "
            f"{how.plants:,} virtual ones from seed {how.seed}",
        }

    def released(self, sparse: Sparse) -> KinPeople:
        """The same people in another release: fewer features, or coarser ones."""
        return replace(
            self, sparse=sparse, kin=self._read_again(sparse), original=self.as_read, made={},
            drawn_rates={},
        )  # fmt: skip

    def take(self, rows: ArrayLike) -> KinPeople:
        """Some people; relatives are looked for among these alone."""
        index = self._rows(rows)
        kept = KinPeople.of_kin(self._read_again(self.sparse.take(index)), self.looking)
        original = None if self.original is None else self.original.take(index)
        return replace(kept, origin=self.rows_read[index], reading=self.reading, original=original)

    def _read_again(self, sparse: Sparse) -> Kin:
        kin = self.kin
        try:
            return read_kin(
                sparse, completeness=kin.completeness, false_reports=kin.false_reports,
                jitter=kin.jitter, years=kin.years, plants=kin.plants,
            )  # fmt: skip
        except DataError as slip:
            raise NoRelatives(
                f"relatives cannot be looked for in that release, which does not say that nobody "
                f"else could: {slip}"
            ) from None

    def columns_for(
        self,
        attack: Attack,
        known: SparseKnown,
        given: Iterable[str],
        rows: NDArray[np.int64] | None,
    ) -> tuple[dict[str, Array], list[str]]:
        """The columns of the cascade that the attack has and the call did not give; and notes."""
        wanted = {name for name in FAMILY if name in attack.subject and name not in given}
        found, said = super().columns_for(attack, known, given, rows)
        if not wanted:
            return found, said
        looked_for = any(name in attack.subject for name in FACTS)
        if not looked_for and (known.known or known.match != "equal"):
            raise UsageError(
                "which facts somebody knows plays no part once a record is named: assess a family "
                'with scenario="families", or ask linkage-family, where it is looked for first'
            )
        if known.guesses > 1:
            raise UsageError(
                f"relatives are looked for from one record, and the scenario looks at up to "
                f"{known.guesses}: choose one with one guess, or say known=[...]"
            )
        for name in wanted:
            if attack.subject[name].axes:
                raise UsageError(f"{attack.name}: the column {name} is one number a person")
        made = self.columns_of_relatives(rows)
        if LEADS_ON in wanted and LEADS_ON not in made:
            made[LEADS_ON] = np.full(len(self), np.divide(*self._leading_on))
        if looked_for:
            said = [*said, NAMED_FIRST]
        return {**found, **{name: made[name] for name in FAMILY if name in wanted}}, [
            *said,
            f"relatives are looked for by the {self.looking.rule} rule, one in the table with the "
            f"chance {self.looking.in_release:g}; how often that is right is drawn with "
            f"{self.looking.plants:,} virtual relatives of each kind; how many rounds they "
            f"lead on is the attack's, and no depth of a neighbourhood",
        ]

    @cached_property
    def _leading_on(self) -> tuple[int, int]:
        """From how many of the records that were read anybody is named; of many, some are drawn."""
        how, kin = self.looking, self.kin
        rng = np.random.default_rng((how.seed, 2))
        some = rng.choice(len(kin), min(MOST_READ, len(kin)), replace=False).tolist()
        found = (all_named(kin, person_of(kin, i), how.rule, how.in_release) for i in some)
        return sum(any(one.claims for one in each.values()) for each in found), len(some)

    def rates(self, rows: Ints | None) -> tuple[Mapping[str, Rates], Mapping[str, Rates]]:
        """The chances of everybody's relatives, and those of these first records, as drawn."""
        key = None if rows is None else rows.tobytes()
        if key not in self.drawn_rates:
            every, how = self.drawn_rates.get(None), vars(self.looking)
            every = (planted(self.kin, **how),) * 2 if every is None else every
            own = every[0] if rows is None else planted(self.kin, **how, rows=rows)
            self.drawn_rates[key] = every[0], own
        return self.drawn_rates[key]

    def columns_of_relatives(self, rows: Ints | None) -> dict[str, Array]:
        """The columns of the cascade, of everybody; rates of these first records."""
        key = ("family", None if rows is None else rows.tobytes())
        if key not in self.made:
            self.made[key] = self._columns(*self.rates(rows))
        return self.made[key]

    def anew(self, rows: Ints | None, turn: int, *, up: bool) -> dict[str, Array]:
        """The columns as they might be in truth: drawn from what the virtual relatives leave open.

        The rates are common to people, and so are errors in them: one turn is of everybody.
        """
        key = ("anew", turn, up, None if rows is None else rows.tobytes())
        if key not in self.made:
            rng = np.random.default_rng((self.looking.seed, 3, turn, up))
            drawn = self.rates(rows)
            every = {role: one.anew(rng, up=up) for role, one in drawn[0].items()}
            own = every
            if drawn[1] is not drawn[0]:
                own = {role: one.anew(rng, up=up) for role, one in drawn[1].items()}
            found = self._columns(every, own)
            if LEADS_ON in self.columns_of_relatives(rows):
                hits, read = self._leading_on
                share = float(rng.beta(hits + up + 1e-9, read - hits + (not up) + 1e-9))
                unread = len(self) - read
                found[LEADS_ON] = np.full(len(self), (hits + unread * share) / len(self))
            self.made[key] = found
        return self.made[key]

    def _columns(self, every: Mapping[str, Rates], own: Mapping[str, Rates]) -> dict[str, Array]:
        """Of every person.  First records have chances of their own; what follows has not."""
        told = chances(self.kin, every)
        if own is not every:
            told = replace(chances(self.kin, own), next_stranger=told.next_stranger)
        found = {
            f"{word}_{name}": told.of_first[role][what]
            for name, role in RELATIVES.items()
            for word, what in KINDS.items()
        }
        for name in ANCESTORS:
            for word in STRANGE:
                found[f"{word}_{name}"] = told.of_first[RELATIVES[name]][word]
        for name in SIBLINGS:
            found[f"{DOWN}_{name}"] = told.of_first[SIBLING]["down"]
        for name, role in SEVERAL_OF.items():
            found[f"stranger_{name}"] = told.of_first[role]["stranger"]
        for name, role in RELATIVES.items():
            found[f"{SIDEWAYS}_{name}"] = np.full(len(self), told.sideways[role])
        for name in ONWARD:
            found[name] = np.full(len(self), getattr(told, name))
        return found
