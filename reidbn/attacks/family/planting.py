"""How often a match is right, without knowing who is whose relative: virtual relatives.

A record of the table is taken for the relative of another, where sex and birth year allow it.
From what it tells, and from what the channel does to it, a virtual record is drawn that tells of
this person; the attack is run with it, once as the
table is, once with the record taken out.  Who is named is then known to be right or wrong, and the
chances are counted by how much the virtual record tells.  How much a real record tells is seen in
the table, so that each first record has chances of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.family.claims import POSTERIOR, LookedFor, Person, named, person_of
from reidbn.attacks.family.kin import (
    CHILD,
    FATHER,
    FEMALE,
    MALE,
    MGF,
    MGM,
    MOTHER,
    PGF,
    PGM,
    ROLES,
    SEVERAL,
    SIBLING,
    Kin,
    pairs_of,
)
from reidbn.progress import progress
from reidbn.theory.kinship import CODES, UNKNOWN

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
FEW = 10
EVEN = 0.5  # a sibling is in the table
MOST_EVIDENCE = 12
"""Illnesses told are counted up to here; more count as so many."""
# Of a relative: who the others are that may lead there (for the relative), and as what they do.
FOUND_AGAIN = {
    FATHER: (FATHER, CHILD), MOTHER: (FATHER, CHILD), SIBLING: (FATHER, CHILD),
    PGF: (CHILD, FATHER), PGM: (CHILD, MOTHER), MGF: (CHILD, FATHER), MGM: (CHILD, MOTHER),
}  # fmt: skip


@dataclass(frozen=True)
class Rates:
    """Chances of one kind of relative, by how many illnesses a record tells that bear on it."""

    right: Array
    """The relative is named, where they are in the table."""
    confused: Array
    """Not named, and a stranger is, where they are in the table."""
    stranger: Array
    """A stranger is named, where they are not in the table; of several, beside true ones, too."""
    present: Array
    """Not named, and still the relative is known to be in the table, where they are."""
    plants: Ints
    """How many virtual records stand behind each."""
    again: Again


@dataclass(frozen=True)
class Again:
    """Of a relative to whom one record has not led: whether others lead there.

    What keeps one record from leading to somebody (they have few illnesses, say) keeps others, too.
    So the relative can be found from others or cannot, and who can is found from each others'
    record with a chance of its own, independently:

        P(a sibling's leads there) = findable x sideways
        P(both lead there) = findable x sideways x across                                       (1)

    with `across` that of a parent's, a child's or a grandparent's record.
    """

    findable: Array
    """By how many illnesses the first record tells that bear on the relative."""
    sideways: float
    across: float


def planted(
    kin: Kin, *, rule: str, in_release: float, plants: int, seed: int, rows: Ints | None = None
) -> dict[str, Rates]:
    """The chances of every kind of relative, of first records such as these rows (or all)."""
    rng = np.random.default_rng(seed)
    return {
        role: _rates(kin, role, rule, in_release, plants, rng, rows)
        for role in progress(ROLES, "virtual relatives")
    }


def _rates(
    kin: Kin,
    role: str,
    rule: str,
    in_release: float,
    plants: int,
    rng: np.random.Generator,
    rows: Ints | None,
) -> Rates:
    counts = np.zeros((4, MOST_EVIDENCE + 1))
    tried = np.zeros((2, MOST_EVIDENCE + 1))
    missed = np.zeros(MOST_EVIDENCE + 1)
    others = _Others(kin, role, rule, in_release, rng)
    firsts = np.flatnonzero(kin.telling) if rows is None else rows[kin.telling[rows]]
    for first in rng.choice(firsts, plants).tolist() if firsts.size else ():
        sex = int(kin.sex[first]) or int(rng.choice([FEMALE, MALE]))
        allowed = kin.fits(role, sex, int(kin.born[first]))
        allowed[first] = False
        if not allowed.any():
            continue
        relative = int(rng.choice(np.flatnonzero(allowed)))
        virtual = virtual_record(kin, role, relative, sex, int(kin.born[first]), rng)
        told = min(kin.evidence(virtual.cells, role, virtual.sex), MOST_EVIDENCE)
        found = named(kin, virtual, role, rule, in_release)
        right = any(claim.who == relative for claim in found.claims)
        if not right and role in FOUND_AGAIN:
            others.ask(told, relative, virtual)
        if not told:
            continue
        tried[0, told] += 1
        counts[0, told] += right
        counts[1, told] += not right and bool(found.claims)
        missed[told] += not right
        counts[3, told] += not right and found.present > 0.5
        gone: LookedFor = named(kin, virtual, role, rule, in_release, gone=relative)
        kin_of = own_siblings(kin, relative) if role in SEVERAL and gone.claims else set()
        tried[1, told] += 1
        counts[2, told] += any(claim.who not in kin_of for claim in gone.claims)
    return Rates(
        right=_by_evidence(counts[0], tried[0]),
        confused=_by_evidence(counts[1], missed),
        stranger=_by_evidence(counts[2], tried[1]),
        present=_by_evidence(counts[3], missed),
        plants=tried[0].astype(np.int64),
        again=others.found(),
    )


def own_siblings(kin: Kin, relative: int) -> set[int]:
    """Whom a record of the table itself names as siblings.

    A virtual record that tells of one of several siblings (as theirs, as children, ...) tells of
    the others, too: who is still named where the one is taken out is no stranger.
    """
    found = named(kin, person_of(kin, relative), SIBLING, POSTERIOR, EVEN)
    return {claim.who for claim in found.claims}


class _Others:
    """Other records that tell of a relative to whom the first has not led, counted."""

    def __init__(
        self, kin: Kin, role: str, rule: str, in_release: float, rng: np.random.Generator
    ) -> None:
        self.kin, self.role, self.rng = kin, role, rng
        self.how = (rule, in_release)
        self.asked = np.zeros(MOST_EVIDENCE + 1)
        self.led = np.zeros(MOST_EVIDENCE + 1)
        self.counts = np.zeros(4)  # asked both; led sideways, across, both

    def ask(self, told: int, relative: int, first: Person) -> None:
        """Two pairs of others: somebody who is to the relative what the first is, and another."""
        kin, rng = self.kin, self.rng
        back, across = FOUND_AGAIN[self.role]
        sex = int(kin.sex[relative]) or int(rng.choice([FEMALE, MALE]))
        near = np.flatnonzero(kin.fits(back, sex, int(kin.born[relative])))
        for _ in range(2):
            one = self._leads(self.role, relative, int(rng.choice([FEMALE, MALE])), first.born)
            self.asked[told] += 1
            self.led[told] += one
            if not near.size or (across == CHILD and not kin.telling[relative]):
                continue
            teller = int(rng.choice(near))
            its = int(kin.sex[teller]) or int(rng.choice([FEMALE, MALE]))
            other = self._leads(across, relative, its, int(kin.born[teller]))
            self.counts += 1, one, other, one and other

    def _leads(self, role: str, relative: int, sex: int, born: int) -> bool:
        of = virtual_record(self.kin, role, relative, sex, born, self.rng)
        claims = named(self.kin, of, role, *self.how).claims
        return any(claim.who == relative for claim in claims)

    def found(self) -> Again:
        """Equation (1) solved for its three chances; where nobody can be told apart, all can."""
        asked, one, other, both = self.counts.tolist()
        sideways = both / other if other else (one / asked if asked else 0.0)
        across = both / one if one else (other / asked if asked else 0.0)
        shares = _by_evidence(self.led, self.asked, least=0)
        if not both or not sideways:  # seldom found: as if each were found or not by itself
            sideways = float(self.led.sum() / max(1.0, self.asked.sum()))
            across = other / asked if asked else 0.0
        findable = np.minimum(shares / sideways, 1.0) if sideways else np.zeros(len(shares))
        return Again(findable, sideways, across)


def _by_evidence(hits: Array, tried: Array, least: int = 1) -> Array:
    """Shares, from `least` told on.  Where few were tried, together with the next less told."""
    found = np.zeros(len(hits))
    first = least
    for told in range(first, len(hits)):
        least = told
        while least > first and tried[least : told + 1].sum() < FEW:
            least -= 1
        some = tried[least : told + 1].sum()
        found[told] = hits[least : told + 1].sum() / some if some else 0.0
    return found


def virtual_record(
    kin: Kin, role: str, relative: int, sex: int, born: int, rng: np.random.Generator
) -> Person:
    """A record that tells of somebody as a father, a sibling, ...: drawn through the channel."""
    cells: dict[str, NDArray[np.int16]] = {}
    for one, other in pairs_of(role, sex):
        if other not in kin.tells or one not in kin.tells or one in cells:
            continue
        codes = np.full(len(kin.diseases), UNKNOWN, dtype=np.int16)
        theirs = kin.tells[other][relative]
        coins = rng.random(len(kin.diseases))
        for d in range(len(kin.diseases)):
            upto = kin.law((one, other), d)[0][:, int(theirs[d])].cumsum()
            codes[d] = min(int(upto.searchsorted(coins[d] * upto[-1], side="right")), CODES - 1)
        cells[one] = codes
    return Person(cells, sex, born)


@dataclass(frozen=True)
class Chances:
    """What a first record's story needs: its own chances, and those of records it leads to."""

    of_first: Mapping[str, Mapping[str, Array]]
    """Of each kind of relative the four chances, record by record."""
    again: Mapping[str, Again]
    """Of each kind of relative: whether other records lead to those to whom the first does not."""
    findable: Mapping[str, Array]
    """The chance that they may, record by record."""
    next_stranger: float
    share_telling: float


def chances(kin: Kin, rates: Mapping[str, Rates]) -> Chances:
    """The chances of every record of the table, and of a record that it leads to."""
    told = {role: _evidence(kin, role) for role in ROLES}
    first = {
        role: {
            what: getattr(rates[role], what)[told[role]]
            for what in ("right", "confused", "stranger", "present")
        }
        for role in ROLES
    }
    misled = 1 - np.prod([1 - first[role]["stranger"] for role in ROLES], axis=0)
    return Chances(
        of_first=first,
        again={role: rates[role].again for role in FOUND_AGAIN},
        findable={role: rates[role].again.findable[told[role]] for role in FOUND_AGAIN},
        next_stranger=float(misled.mean()),
        share_telling=float(kin.telling.mean()),
    )


def _evidence(kin: Kin, role: str) -> Ints:
    """How many illnesses each record tells that bear on a role, as the chances count them."""
    found = [kin.evidence(kin.cells(i), role, int(kin.sex[i])) for i in range(len(kin))]
    return np.minimum(found, MOST_EVIDENCE).astype(np.int64)
