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

from reidbn.attacks.family.claims import LookedFor, Person, named
from reidbn.attacks.family.kin import (
    CHILD,
    FATHER,
    FEMALE,
    MALE,
    MOTHER,
    ROLES,
    SIBLING,
    Kin,
    pairs_of,
)
from reidbn.progress import progress
from reidbn.theory.kinship import CODES, UNKNOWN

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
FEW = 10
MOST_EVIDENCE = 12
"""Illnesses told are counted up to here; more count as so many."""


@dataclass(frozen=True)
class Rates:
    """Chances of one kind of relative, by how many illnesses a record tells that bear on it."""

    right: Array
    """The relative is named, where they are in the table."""
    confused: Array
    """Not named, and a stranger is, where they are in the table."""
    stranger: Array
    """A stranger is named, where they are not in the table."""
    present: Array
    """Not named, and still the relative is known to be in the table, where they are."""
    plants: Ints
    """How many virtual records stand behind each."""


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
        if not told:
            continue
        found = named(kin, virtual, role, rule, in_release)
        right = any(claim.who == relative for claim in found.claims)
        tried[0, told] += 1
        counts[0, told] += right
        counts[1, told] += not right and bool(found.claims)
        missed[told] += not right
        counts[3, told] += not right and found.present > 0.5
        gone: LookedFor = named(kin, virtual, role, rule, in_release, gone=relative)
        tried[1, told] += 1
        counts[2, told] += bool(gone.claims)
    return Rates(
        right=_by_evidence(counts[0], tried[0]),
        confused=_by_evidence(counts[1], missed),
        stranger=_by_evidence(counts[2], tried[1]),
        present=_by_evidence(counts[3], missed),
        plants=tried[0].astype(np.int64),
    )


def _by_evidence(hits: Array, tried: Array) -> Array:
    """Shares; 0 where nothing is told.  Where few were tried, together with the next less told."""
    found = np.zeros(len(hits))
    for told in range(1, len(hits)):
        least = told
        while least > 1 and tried[least : told + 1].sum() < FEW:
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
        for d in range(len(kin.diseases)):
            law = kin.law((one, other), d)[0][:, int(theirs[d])]
            codes[d] = rng.choice(CODES, p=law / law.sum())
        cells[one] = codes
    return Person(cells, sex, born)


@dataclass(frozen=True)
class Chances:
    """What a first record's story needs: its own chances, and those of records it leads to."""

    of_first: Mapping[str, Mapping[str, Array]]
    """Of each kind of relative the four chances, record by record."""
    onward: Mapping[str, float]
    """The mean over records that tell of their family (of a child's record: where that tells)."""
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
    telling = kin.telling
    mean = {
        role: float(first[role]["right"][telling].mean()) if telling.any() else 0.0
        for role in ROLES
    }
    grand = [mean[role] for role in ROLES if role.startswith(("paternal", "maternal"))]
    misled = 1 - np.prod([1 - first[role]["stranger"] for role in ROLES], axis=0)
    return Chances(
        of_first=first,
        onward={
            "next_father": mean[FATHER],
            "next_mother": mean[MOTHER],
            "next_grandparent": float(np.mean(grand)),
            "next_sibling": mean[SIBLING],
            "next_child": float(first[CHILD]["right"].mean()),
            "next_stranger": float(misled.mean()),
        },
        share_telling=float(telling.mean()),
    )


def _evidence(kin: Kin, role: str) -> Ints:
    """How many illnesses each record tells that bear on a role, as the chances count them."""
    found = [kin.evidence(kin.cells(i), role, int(kin.sex[i])) for i in range(len(kin))]
    return np.minimum(found, MOST_EVIDENCE).astype(np.int64)
