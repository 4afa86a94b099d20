"""Who is named, reached in another way: candidate by candidate, illness by illness, truth by truth.

Nothing here uses the laws and masks of claims.py; only what the channel is assumed to do is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isclose, isnan, prod
from typing import TYPE_CHECKING

import numpy as np

from reidbn.attacks.family.claims import STRICT, LookedFor
from reidbn.attacks.family.kin import (
    CHILD,
    FATHER,
    FEMALE,
    MALE,
    MOTHER,
    ROLES,
    SELF,
    SEVERAL,
    SIBLING,
    SIBLINGS,
    Kin,
    pairs_of,
)
from reidbn.errors import CrosscheckFailed, UsageError
from reidbn.theory.kinship import FIRST_AGE, UNKNOWN, YES, truth_prior
from reidbn.written import counted

if TYPE_CHECKING:
    from reidbn.attacks.family.neighbourhood import Neighbourhood

CLOSE = 1e-9
_YEARS = {
    FATHER: (15, 60), MOTHER: (12, 55), SIBLING: (-25, 25), "grandparent": (28, 110),
}  # fmt: skip


@dataclass(frozen=True)
class CheckedNeighbourhood:
    """How many searches for one kind of relative were made anew; none differs."""

    searches: int
    records: int

    def __str__(self) -> str:
        return (
            f"{self.searches:,} searches from {counted(self.records, 'record')} made anew, "
            "candidate by candidate: agree"
        )


def check(self: Neighbourhood, *, individuals: int = 10, seed: int = 0) -> CheckedNeighbourhood:
    """Who is named from some records that were read, weighed again one by one; raises.

    `individuals` of them are chosen from `seed`.
    """
    if individuals < 1:
        raise UsageError(f"individuals={individuals}; at least 1 record is read again")
    again = _Again(self.kin)
    read = sorted(self.looked)
    rng = np.random.default_rng(seed)
    some = rng.choice(read, min(individuals, len(read)), replace=False).tolist()
    for person in some:
        for role in ROLES:
            expected = again.search(person, role, self.rule, self.in_release)
            if not _same(expected, self.looked[person][role]):
                raise CrosscheckFailed(
                    "a search for relatives made anew, candidate by candidate, names others; this "
                    "is a fault of reidbn, please report it"
                )
    _follow(self)
    return CheckedNeighbourhood(len(some) * len(ROLES), len(some))


def _same(expected: tuple[int, dict[int, float], float], found: LookedFor) -> bool:
    """Whether evidence, who is named with which chance, and presence are those expected."""
    evidence, chances, present = expected
    named = {claim.who: claim.posterior for claim in found.claims}
    sure = {who for who, p in chances.items() if p > 0.5 + CLOSE}
    unsure = {who for who, p in chances.items() if abs(p - 0.5) <= CLOSE}
    alike = isnan(present) == isnan(found.present)
    return (
        evidence == found.evidence
        and sure <= {*named} <= sure | unsure
        and all(isclose(p, chances[who], abs_tol=CLOSE) for who, p in named.items())
        and alike
        and (isnan(present) or isclose(present, found.present, abs_tol=CLOSE))
    )


def _follow(found: Neighbourhood) -> None:
    """Every claim is one that its source's record makes, and everybody is named once."""
    for start in found.starts.tolist():
        claims = found.claims[found.claims["start"] == start]
        rounds: dict[int, int] = {start: 0}
        columns = (claims[name].tolist() for name in ("source", "relation", "who", "round"))
        for source, relation, who, step in zip(*columns, strict=True):
            made = {one.who for one in found.looked[source][relation].claims}
            if who not in made or who in rounds or rounds.get(source) != step - 1:
                raise CrosscheckFailed(
                    "somebody is named whom no record read before leads to; this is a fault of "
                    "reidbn, please report it"
                )
            rounds[who] = step
        for source, step in rounds.items():
            made = {c.who for one in found.looked.get(source, {}).values() for c in one.claims}
            if step < found.depth and not made <= {*rounds}:
                raise CrosscheckFailed(
                    "somebody to whom a record leads is not named; this is a fault of reidbn, "
                    "please report it"
                )


class _Again:
    """Searches made anew over one table."""

    def __init__(self, kin: Kin) -> None:
        self.kin = kin
        self.ratios: dict[tuple[str, str, int, int, int], float] = {}

    def search(
        self, person: int, role: str, rule: str, in_release: float
    ) -> tuple[int, dict[int, float], float]:
        """Evidence; the chance of each candidate to be it; the chance that one is in the table."""
        kin = self.kin
        sex = int(kin.sex[person])
        pairs = [(a, b) for a, b in pairs_of(role, sex) if a in kin.tells and b in kin.tells]
        told = {a: kin.tells[a][person].tolist() for a, _ in pairs}
        evidence = sum(code >= YES for codes in told.values() for code in codes)
        if not evidence:
            return 0, {}, float("nan")
        who = [v for v in range(len(kin)) if v != person and self._may_be(person, v, role)]
        if not who:
            return evidence, {}, 0.0
        if rule == STRICT:
            fits = [v for v in who if self._all_found(person, v, pairs)]
            return evidence, {v: 1.0 for v in fits if len(fits) == 1}, float(bool(fits))
        share = Fraction(in_release) / len(who)
        weights = {v: share * self._ratio(told, v, pairs) for v in who}
        base = 1 - (share if role in SEVERAL else Fraction(in_release))
        if not base and not any(weights.values()):
            return evidence, dict.fromkeys(who, 0.0), 1.0
        if role in SEVERAL:
            chances = {v: float(w / (base + w)) if w else 0.0 for v, w in weights.items()}
            return evidence, chances, 1 - prod(1 - min(p, 1 - 1e-15) for p in chances.values())
        whole = base + sum(weights.values())
        chances = {v: float(w / whole) for v, w in weights.items()}
        return evidence, chances, sum(chances.values())

    def _may_be(self, person: int, other: int, role: str) -> bool:
        """Whether sex and birth year allow it; what is not known rules nobody out."""
        kin = self.kin
        last = {"father": MALE, "mother": FEMALE}.get(role[-6:])
        if last and int(kin.sex[other]) == 3 - last:
            return False
        if not kin.born[person] or not kin.born[other]:
            return True
        older = int(kin.born[person] - kin.born[other])
        down = role not in (FATHER, MOTHER, SIBLING) and "grand" not in role
        kind = role if role in _YEARS else "grandparent"
        if role == CHILD:
            kind = MOTHER if int(kin.sex[person]) == FEMALE else FATHER
        low, high = _YEARS[kind]
        return low <= (-older if down else older) <= high

    def _all_found(self, person: int, other: int, pairs: Sequence[tuple[str, str]]) -> bool:
        kin = self.kin
        for one, its in pairs:
            for d, code in enumerate(kin.tells[one][person].tolist()):
                if code < YES:
                    continue
                there = int(kin.tells[its][other, d])
                aged = code >= FIRST_AGE
                if there < YES or (aged and there < FIRST_AGE):
                    return False
                if aged and abs(there - code) > kin.years:
                    return False
                for (relation, disease, what), values in kin.others.items():
                    if (relation, disease) == (one, d) and values[person] is not None:
                        also = kin.others.get((its, d, what))
                        if also is None or also[other] != values[person]:
                            return False
        return True

    def _ratio(
        self, told: dict[str, list[int]], other: int, pairs: Sequence[tuple[str, str]]
    ) -> Fraction:
        """How much likelier what is told is where it is this candidate's; no digit is lost."""
        found = Fraction(1)
        for one, its in pairs:
            theirs = self.kin.tells[its][other].tolist()
            for d, code in enumerate(told[one]):
                if code != UNKNOWN:
                    found *= Fraction(self._cell(one, its, d, code, theirs[d]))
        return found

    def _cell(self, one: str, its: str, d: int, a: int, b: int) -> float:
        """P(both codes) over P(a) P(b), summed over what the person meant really had."""
        key = (one, its, d, a, b)
        if key not in self.ratios:
            kin = self.kin
            about = SELF if SELF in (one, its) else one
            first, second = kin.says(one, about, d), kin.says(its, about, d)
            prior = truth_prior(kin.share(SELF if one == SIBLINGS else one, d), kin.ages)
            truths = range(len(prior))
            both = sum(float(prior[t] * first[t, a] * second[t, b]) for t in truths)
            p = sum(float(prior[t] * first[t, a]) for t in truths)
            q = sum(float(prior[t] * second[t, b]) for t in truths)
            self.ratios[key] = both / (p * q) if p * q else 1.0
        return self.ratios[key]
