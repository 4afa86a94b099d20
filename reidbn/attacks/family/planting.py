"""How often a match is right, without knowing who is whose relative: virtual relatives.

A record of the table is taken for the relative of another, where sex and birth year allow it.
From what it tells, and from what the channel does to it, a virtual record is drawn that tells of
this person; the attack is run with it, once as the
table is, once with the record taken out.  Who is named is then known to be right or wrong, and the
chances are counted by how much the virtual record tells.  How much a real record tells is seen in
the table, so that each first record has chances of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.family.claims import STRICT, LookedFor, Person, again, named
from reidbn.attacks.family.kin import (
    CHILD,
    DAUGHTERS_CHILD,
    DOWNWARDS,
    FATHER,
    FEMALE,
    MALE,
    MGF,
    MGM,
    MOTHER,
    PGF,
    PGM,
    ROLES,
    SELF,
    SEVERAL,
    SIBLING,
    SONS_CHILD,
    Kin,
    pairs_of,
)
from reidbn.progress import progress
from reidbn.theory.kinship import CODES, FIRST_AGE, NO, UNKNOWN, YES

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
FEW = 10
SILENT = 4  # so many times fewer virtual records that tell of no family
NEAR = 10  # years between people who are about as old
MOST_EVIDENCE = 12
"""Illnesses told are counted up to here; more count as so many."""
# Of a relative: who the others are that may lead there (for the relative), and as what they do.
FOUND_AGAIN = {
    FATHER: (FATHER, CHILD), MOTHER: (FATHER, CHILD), SIBLING: (FATHER, CHILD),
    PGF: (CHILD, FATHER), PGM: (CHILD, MOTHER), MGF: (CHILD, FATHER), MGM: (CHILD, MOTHER),
}  # fmt: skip
# Of a brother or sister: who their grandparents are, and as what these lead to them.
DOWN = ((PGF, SONS_CHILD), (PGM, SONS_CHILD), (MGF, DAUGHTERS_CHILD), (MGM, DAUGHTERS_CHILD))


@dataclass(frozen=True)
class Rates:
    """Chances of one kind of relative, by how many illnesses a record tells that bear on it.

    Two rows: of records that tell of the family, and of those that do not.
    """

    right: Array
    """The relative is named, where they are in the table."""
    confused: Array
    """Not named, and a stranger is, where they are in the table."""
    stranger: Array
    """A stranger is named, where they are not in the table; of several, beside true ones, too."""
    present: Array
    """Not named, and still the relative is known to be in the table, where they are."""
    tells_found: Array
    """The record of a relative who is named tells of the family."""
    tells_missed: Array
    """The record of a relative who is in the table and not named does."""
    plants: Ints
    """How many virtual records stand behind each."""
    again: Again
    counts: Mapping[str, Counts]

    def anew(self, rng: np.random.Generator, *, up: bool) -> Rates:
        """The chances as they might be in truth, `up` or down: drawn from what is left open."""
        drawn: dict[str, Any] = {what: one.anew(rng, up=up) for what, one in self.counts.items()}
        return replace(self, **drawn, again=self.again.anew(rng, up=up))


@dataclass(frozen=True)
class Counts:
    """So many of so many tried, by how much is told; what is told less than `least` times is none.

    A cell in which few were tried takes the share of its neighbours with it (`_by_evidence`), but
    what it may be in truth is said by its own alone: neighbours are other people.
    """

    hits: Array
    tried: Array
    least: int = 1

    @property
    def shares(self) -> Array:
        """The shares, by which chances are told."""
        return _by_evidence(self.hits, self.tried, self.least)

    def anew(self, rng: np.random.Generator, *, up: bool) -> Array:
        """Shares that may be behind them: the laws whose quantiles are [ClopperPearson34]'s ends.

        Beta(hits + 1, misses) upwards and Beta(hits, misses + 1) downwards, cell by cell.
        """
        found = _of_weights(np.stack([self.tried - self.hits, self.hits]), rng, up=up)[1]
        found[:, : self.least] = 0.0
        return np.asarray(found)


def _of_weights(weights: Array, rng: np.random.Generator, *, up: bool) -> Array:
    """Shares of several kinds: Dirichlet, one more of the last kind, or of the first."""
    more = weights.copy()
    more[-1 if up else 0] += 1
    found = rng.standard_gamma(more)
    return np.asarray(found / found.sum(axis=0))


@dataclass(frozen=True)
class Again:
    """Of a relative to whom one record has not led: whether others lead there.

    What keeps one record from leading to somebody (they have few illnesses, say) keeps a sibling's,
    too.  So the relative can be found from siblings' records or cannot, and who can is found from
    each with a chance of its own, independently:

        P(a sibling's leads there) = findable x sideways
        P(two siblings' do)        = findable x sideways^2                                      (1)

    A parent's, a child's or a grandparent's record (`across`) tells of others as well, and so does
    that of a grandparent of a brother or sister (`down`).
    """

    findable: Array
    across: Array
    down: Array
    sideways: float
    pairs: Array
    """Pairs of siblings of which none, one and both led there, by how much the first tells."""
    counts: tuple[Counts, Counts]
    """Of `across` and of `down`."""

    @classmethod
    def of(cls, pairs: Array, across: Counts, down: Counts) -> Again:
        """Equation (1) solved for its two chances; where no two led there, all can be found."""
        asked, led = 2 * pairs.sum(axis=0), pairs[1] + 2 * pairs[2]
        both, every = float(pairs[2].sum()), float(led.sum())
        sideways = 2 * both / every if both else every / max(1.0, float(asked.sum()))
        shares = _by_evidence(led, asked, least=0)
        findable = np.minimum(shares / sideways, 1.0) if sideways else np.zeros_like(shares)
        return cls(findable, across.shares, down.shares, sideways, pairs, (across, down))

    def anew(self, rng: np.random.Generator, *, up: bool) -> Again:
        """The same from what the pairs leave open."""
        none, one, both = _of_weights(self.pairs, rng, up=up)
        led, weight = one / 2 + both, self.pairs.sum(axis=0) + 1e-9
        every = float((weight * led).sum())
        sideways = float((weight * both).sum()) / every if every else 0.0
        findable = np.minimum(led / sideways, 1.0) if sideways else np.ones_like(none)
        across, down = (one.anew(rng, up=up) for one in self.counts)
        return replace(self, findable=findable, across=across, down=down, sideways=sideways)


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
    shape = (2, MOST_EVIDENCE + 1)
    tried, found_, confused, present = (np.zeros(shape) for _ in range(4))
    missed, telling, told_missed = (np.zeros(shape) for _ in range(3))
    alone, strangers = np.zeros(shape), np.zeros(shape)
    others = _Others(kin, role, rule, in_release, rng)
    for first in _firsts(kin, plants, rng, rows):
        sex = int(kin.sex[first]) or int(rng.choice([FEMALE, MALE]))
        born = int(kin.born[first])
        silent = int(not kin.telling[first])
        if role in SEVERAL and kin.telling.any():
            nobodys = record_of_nobodys(kin, role, first, sex, rng)
            at = silent, min(kin.evidence(nobodys.cells, role, sex), MOST_EVIDENCE)
            alone[at] += 1
            strangers[at] += bool(named(kin, nobodys, role, rule, in_release).claims)
        allowed = kin.fits(role, sex, born)
        allowed[first] = False
        if not allowed.any():
            continue
        relative = int(rng.choice(np.flatnonzero(allowed)))
        virtual = virtual_record(kin, role, relative, sex, born, rng)
        if silent:
            virtual = replace(
                virtual, cells={SELF: virtual.cells[SELF]} if SELF in virtual.cells else {}
            )
        at = silent, min(kin.evidence(virtual.cells, role, sex), MOST_EVIDENCE)
        found = named(kin, virtual, role, rule, in_release)
        right = any(claim.who == relative for claim in found.claims)
        tried[at] += 1
        found_[at] += right
        telling[at] += right and kin.telling[relative]
        if not right:
            missed[at] += 1
            told_missed[at] += kin.telling[relative]
            confused[at] += bool(found.claims)
            present[at] += found.present > 0.5
            if role in FOUND_AGAIN:
                others.ask(at, relative, virtual)
        if role not in SEVERAL and at[1]:
            gone: LookedFor = named(kin, virtual, role, rule, in_release, gone=relative)
            alone[at] += 1
            strangers[at] += bool(gone.claims)
    counts = {
        "right": Counts(found_, tried),
        "confused": Counts(confused, missed),
        "stranger": Counts(strangers, alone),
        "present": Counts(present, missed),
        "tells_found": Counts(telling, found_),
        "tells_missed": Counts(told_missed, missed, least=0),
    }
    shares: dict[str, Any] = {what: one.shares for what, one in counts.items()}
    return Rates(**shares, plants=tried.astype(np.int64), again=others.found(), counts=counts)


def _firsts(kin: Kin, plants: int, rng: np.random.Generator, rows: Ints | None) -> list[int]:
    """First records: those that tell of the family, and fewer of those that do not."""
    everybody = np.arange(len(kin)) if rows is None else rows
    found: list[int] = []
    for tells, many in ((True, plants), (False, plants // SILENT)):
        some = everybody[kin.telling[everybody] == tells]
        found += rng.choice(some, many).tolist() if some.size else []
    return found


def record_of_nobodys(
    kin: Kin, role: str, first: int, sex: int, rng: np.random.Generator
) -> Person:
    """A record that tells as much as the first, of people who are nobody's relatives in the table.

    A virtual record that tells of one of several siblings tells of the others, too, so that who is
    named where the one is taken out may be no stranger.  Here each illness is told of as by another
    record of somebody about as old; ages are those that one of these tells of other illnesses, for
    illnesses of one person begin at ages that lie closer together.
    """
    born = int(kin.born[first])
    tellers = np.flatnonzero(kin.telling)
    near = tellers[np.abs(kin.born[tellers] - born) <= NEAR] if born else tellers
    alike = near if near.size >= FEW else tellers
    cells = {
        one: _shuffled(kin.tells[one][first], kin.tells[one][alike], rng)
        for one in dict.fromkeys(one for one, _ in pairs_of(role, sex) if one in kin.tells)
    }
    return Person(cells, sex, born)


def _shuffled(
    codes: NDArray[np.int16], theirs: NDArray[np.int16], rng: np.random.Generator
) -> NDArray[np.int16]:
    """Codes for what the first tells: each from another record, all ages from one more."""
    found, aged = codes.copy(), theirs >= FIRST_AGE
    rows = np.flatnonzero(aged.any(axis=1))
    donor = theirs[rng.choice(rows)] if rows.size else theirs[0]
    for d in np.flatnonzero(codes != UNKNOWN).tolist():
        told = theirs[theirs[:, d] != UNKNOWN, d]
        found[d] = rng.choice(told) if told.size else found[d]
        if found[d] >= FIRST_AGE and aged.any():
            others = np.delete(donor, d)
            ages = others[others >= FIRST_AGE]
            found[d] = rng.choice(ages if ages.size else theirs[aged])
    return found


class _Others:
    """Other records that tell of a relative to whom the first has not led, counted."""

    def __init__(
        self, kin: Kin, role: str, rule: str, in_release: float, rng: np.random.Generator
    ) -> None:
        self.kin, self.role, self.rng = kin, role, rng
        self.how = (rule, in_release)
        shape = (2, MOST_EVIDENCE + 1)
        self.pairs = np.zeros((3, *shape))
        self.across, self.down = (Counts(np.zeros(shape), np.zeros(shape), least=0)
                                  for _ in range(2))  # fmt: skip

    def ask(self, at: tuple[int, int], relative: int, first: Person) -> None:
        """Two who are to the relative what the first is, and others who are something else."""
        rng = self.rng
        sexes = rng.choice([FEMALE, MALE], 2).tolist()
        led = [bool(self._led(self.role, relative, sex, first.born)) for sex in sexes]
        self.pairs[(sum(led), *at)] += 1
        self._ask_one(self.across, at, relative, first, *FOUND_AGAIN[self.role])
        if self.role == SIBLING:
            self._ask_one(self.down, at, relative, first, *DOWN[rng.integers(len(DOWN))])

    def _ask_one(
        self,
        counts: Counts,
        at: tuple[int, int],
        relative: int,
        first: Person,
        who: str,
        role: str,
    ) -> None:
        """Whether the record of the relative's father, say, leads to them, as a child."""
        kin, rng = self.kin, self.rng
        sex = int(kin.sex[relative]) or int(rng.choice([FEMALE, MALE]))
        near = np.flatnonzero(kin.fits(who, sex, int(kin.born[relative])))
        if not near.size or (role in DOWNWARDS and not kin.telling[relative]):
            return
        teller = int(rng.choice(near))
        its = int(kin.sex[teller]) or int(rng.choice([FEMALE, MALE]))
        counts.tried[at] += 1
        of = self._led(role, relative, its, int(kin.born[teller]))
        if of and role in DOWNWARDS and self.how[0] == STRICT:
            # A brother's or sister's parent is the first's, too: the first is one more child then.
            alone = self.role != SIBLING or not self._fits(first, of, role)
            counts.hits[at] += alone and rng.random() >= self._fits_another(of, role)
        else:
            counts.hits[at] += of is not None

    def _led(self, role: str, relative: int, sex: int, born: int) -> Person | None:
        """A record that tells of the relative, where it leads there."""
        of = virtual_record(self.kin, role, relative, sex, born, self.rng)
        claims = named(self.kin, of, role, *self.how).claims
        return of if any(claim.who == relative for claim in claims) else None

    def _told(self, of: Person, role: str) -> Iterator[tuple[tuple[str, str], int, int]]:
        """What a record tells of illnesses: of whom (and as whom others know them), which, how."""
        for one, other in pairs_of(role, of.sex):
            if one in of.cells and other in self.kin.tells:
                for d in np.flatnonzero(of.cells[one] >= YES).tolist():
                    yield (one, other), d, int(of.cells[one][d])

    def _fits(self, child: Person, of: Person, role: str) -> bool:
        """Whether all that a record tells is found again on a virtual child's.

        The strict rule names nobody then.
        """
        return all(
            other in child.cells and bool(again(told, child.cells[other][d], self.kin.years))
            for (_, other), d, told in self._told(of, role)
        )

    def _fits_another(self, of: Person, role: str) -> float:
        """P(one more child is in the table, brother or sister of the relative, and all told fits).

        Those of a record of the table are in it, too, but what they tell is of their own parents:
        here it is of the virtual record's.
        """
        kin, codes = self.kin, np.arange(CODES, dtype=np.int16)
        chance = self.how[1] * float(kin.telling.mean())
        for (one, other), d, told in self._told(of, role):
            law = kin.law((other, one), d)[0][:, told]
            chance *= float(law[again(told, codes, kin.years)].sum() / law.sum())
        return chance

    def found(self) -> Again:
        """What came of them."""
        return Again.of(self.pairs, self.across, self.down)


def _by_evidence(hits: Array, tried: Array, least: int = 1) -> Array:
    """Shares, from `least` told on.  Where few were tried, together with the next less told."""
    found = np.zeros_like(hits)
    for silent, told in np.ndindex(hits.shape):
        low = told
        while low > least and tried[silent, low : told + 1].sum() < FEW:
            low -= 1
        some = tried[silent, low : told + 1].sum()
        if told >= least and some:
            found[silent, told] = hits[silent, low : told + 1].sum() / some
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
        theirs = kin.meant(other, relative)
        coins = rng.random(len(kin.diseases))
        for d in range(len(kin.diseases)):
            upto = kin.law((one, other), d)[0][:, int(theirs[d])].cumsum()
            codes[d] = min(int(upto.searchsorted(coins[d] * upto[-1], side="right")), CODES - 1)
        if one in kin.unwritten:
            codes[(codes == NO) & (rng.random(codes.size) < kin.unwritten[one])] = UNKNOWN
        cells[one] = codes
    return Person(cells, sex, born)


@dataclass(frozen=True)
class Chances:
    """What a first record's story needs: its own chances, and those of records it leads to."""

    of_first: Mapping[str, Mapping[str, Array]]
    """Of each kind of relative the chances, record by record."""
    sideways: Mapping[str, float]
    """Of each kind of relative whom the first does not find: a sibling's record leads there."""
    next_stranger: float


OF_FIRST = ("right", "confused", "stranger", "present", "tells_found", "tells_missed")


def chances(kin: Kin, rates: Mapping[str, Rates]) -> Chances:
    """The chances of every record of the table, and of a record that it leads to."""
    silent = (~kin.telling).astype(np.int64)
    first: dict[str, dict[str, Array]] = {}
    for role in ROLES:
        at = silent, np.minimum(kin.evidence_of_all(role), MOST_EVIDENCE)
        first[role] = {what: getattr(rates[role], what)[at] for what in OF_FIRST}
        for what in ("findable", "across", "down"):
            first[role][what] = getattr(rates[role].again, what)[at]
    misled = 1 - np.prod([1 - first[role]["stranger"] for role in ROLES], axis=0)
    return Chances(
        of_first=first,
        sideways={role: rates[role].again.sideways for role in FOUND_AGAIN},
        next_stranger=float(misled.mean()),
    )
