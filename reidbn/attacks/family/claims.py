"""Whom one record gives away: the relatives whom an attacker names from what it tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.family.kin import ROLES, SEVERAL, Kin, pairs_of
from reidbn.theory.kinship import FIRST_AGE, UNKNOWN, YES

Array = NDArray[np.float64]
Yes = NDArray[np.bool_]
Cells = Mapping[str, NDArray[np.int16]]
STRICT, POSTERIOR = "strict", "posterior"
RULES = (STRICT, POSTERIOR)


@dataclass(frozen=True)
class Person:
    """What an attacker has of somebody: what their record tells, sex, birth year, its place."""

    cells: Cells
    sex: int
    born: int
    place: int = -1
    """The row of the record; -1 where it is not in the table."""


@dataclass(frozen=True)
class Claim:
    """Somebody who is named as a relative, and how sure that is."""

    role: str
    who: int
    posterior: float
    """P(it is they | what both tell); 1 where exactly one record fits, by the strict rule."""


@dataclass(frozen=True)
class LookedFor:
    """What came of looking for one kind of relative."""

    evidence: int
    """Illnesses told that bear on it; 0: not attackable, which is not the same as no match."""
    claims: tuple[Claim, ...]
    matches: int
    """How many records fit everything that is told."""
    present: float
    """P(such a relative is in the table | what all tell)."""


def person_of(kin: Kin, place: int) -> Person:
    """A record of the table."""
    return Person(kin.cells(place), int(kin.sex[place]), int(kin.born[place]), place)


def named(
    kin: Kin, of: Person, role: str, rule: str, in_release: float, gone: int = -1
) -> LookedFor:
    """Who is named as one kind of relative; `gone` is a record that is taken out of the table.

    The posterior rule weighs every record that sex and birth year allow by how much likelier what
    is told becomes if it is theirs (theory/kinship.py), against nobody in the table:

        P(v | told) = q/N L_v / (1 - q + q/N sum of L),  q = P(in the table), N records allowed

    and names v above 1/2.  Of several relatives of a kind each record is weighed by itself.  Where
    one is in the table for sure (q = 1) and what is told fits nobody, nobody is named.  The strict
    rule names the only record on which everything told fits [Popat25, 4.5].
    """
    evidence = kin.evidence(of.cells, role, of.sex)
    if not evidence:
        return LookedFor(0, (), 0, float("nan"))
    allowed = kin.fits(role, of.sex, of.born)
    for row in (of.place, gone):
        if row >= 0:
            allowed[row] = False
    if not allowed.any():
        return LookedFor(evidence, (), 0, 0.0)
    fits = allowed & strictly(kin, of, role)
    if rule == STRICT:
        only = np.flatnonzero(fits)
        one = tuple(Claim(role, int(v), 1.0) for v in only if only.size == 1)
        return LookedFor(evidence, one, int(only.size), float(bool(only.size)))
    chance, share = np.zeros(len(kin)), in_release / int(allowed.sum())
    logs = log_ratio(kin, of, role)[allowed]
    with np.errstate(divide="ignore"):
        logs, nobody = logs + np.log(share), np.log(1 - (share if role in SEVERAL else in_release))
    if max(nobody, logs.max()) == -np.inf:  # one is there for sure, and nobody can be it
        present = 1.0
    elif role in SEVERAL:
        chance[allowed] = np.exp(logs - np.logaddexp(logs, nobody))
        present = -float(np.expm1(np.log1p(-np.minimum(chance, 1 - 1e-15)).sum()))
    else:
        chance[allowed] = np.exp(logs - np.logaddexp.reduce(np.append(logs, nobody)))
        present = min(float(chance.sum()), 1.0)
    sure = np.flatnonzero(chance > 0.5)
    claims = tuple(Claim(role, int(v), float(chance[v])) for v in sure.tolist())
    return LookedFor(evidence, claims, int(fits.sum()), present)


def log_ratio(kin: Kin, of: Person, role: str) -> Array:
    """How much likelier what a record tells is, by the logarithm, if each other is the relative."""
    found = np.zeros(len(kin))
    for one, other in pairs_of(role, of.sex):
        if one not in of.cells or other not in kin.tells:
            continue
        told = of.cells[one]
        for d in np.flatnonzero(told != UNKNOWN).tolist():
            found += kin.log_law((one, other), d)[int(told[d])][kin.tells[other][:, d]]
    return found


def strictly(kin: Kin, of: Person, role: str) -> Yes:
    """On whose records every illness told, and all that is told of it, is found again."""
    found = np.ones(len(kin), dtype=bool)
    for pair in pairs_of(role, of.sex):
        if pair[0] in of.cells and pair[1] in kin.tells:
            found &= fits_pair(kin, of, pair)
    return found


def fits_pair(kin: Kin, of: Person, pair: tuple[str, str]) -> Yes:
    """The same of one pair of reports; ages within `kin.years`."""
    one, other = pair
    found = np.ones(len(kin), dtype=bool)
    for d in np.flatnonzero(of.cells[one] >= YES).tolist():
        found &= again(int(of.cells[one][d]), kin.tells[other][:, d], kin.years)
        for (relation, disease, what), values in kin.others.items():
            if (relation, disease) == (one, d) and of.place >= 0 and values[of.place] is not None:
                there = kin.others.get((other, d, what))
                found &= False if there is None else there == values[of.place]
    return found


def again(told: int, theirs: NDArray[np.int16], years: float) -> Yes:
    """Where an illness that is told is found again; its age, too, within so many years."""
    found: Yes = theirs >= YES
    if told >= FIRST_AGE:
        found = (theirs >= FIRST_AGE) & (np.abs(theirs - told) <= years)
    return found


def all_named(kin: Kin, of: Person, rule: str, in_release: float) -> dict[str, LookedFor]:
    """Whom one record gives away, kind by kind."""
    return {role: named(kin, of, role, rule, in_release) for role in ROLES}
