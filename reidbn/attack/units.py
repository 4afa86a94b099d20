"""Units of derived numbers: what a formula counts in, worked out from what it reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reidbn.attack.formula import Term
from reidbn.attack.parts import PARTS_OF_ONE, PROBABILITY

# What is a part of one has no unit, whatever it is a part of: a share of people.
_BARE = re.compile(rf"|1|({PARTS_OF_ONE})( (of|per|that|to) .+|/.+)?", re.IGNORECASE)
PERCENT = ("%", "percent", "per cent", "percentage")
TO_A_CHANCE = "divide it by a parameter in the same unit"
_PER = re.compile(r" per (?!cent\b)|/", re.IGNORECASE)


def _one(unit: str) -> str:
    """One of what a unit counts: euro per record, of so many records, is in euro."""
    name = unit.strip().lower()
    return {"people": "person"}.get(name) or re.sub(r"(?<=\w{2}[^su])s$", "", name)


@dataclass(frozen=True)
class Units:
    """A product of units with whole powers; bare when there are none, as of a probability."""

    powers: tuple[tuple[str, int], ...] = ()
    is_literal: bool = field(default=False, compare=False)  # a number written out fits any unit
    spelt: Mapping[str, str] = field(default_factory=dict, compare=False)  # as it was written

    @classmethod
    def read(cls, unit: str) -> Units:
        """What a unit says.

        >>> rate, records = Units.read("euro per record"), Units.read("records")
        >>> str(rate), str(rate.times(records)), str(Units.read("1/record").times(records))
        ('euro per record', 'euro', 'probability')
        """
        if _BARE.fullmatch(unit.strip()):
            return cls()
        above, *below = [part.strip() for part in _PER.split(unit)]
        if not below:
            return cls(((_one(above), 1),), spelt={_one(above): above})
        found = cls.read(above)
        for part in below:
            found = found.times(cls.read(part), -1)
        return found

    @property
    def is_bare(self) -> bool:
        return not self.powers

    def times(self, other: Units, sign: int = 1) -> Units:
        powers = dict(self.powers)
        for unit, power in other.powers:
            powers[unit] = powers.get(unit, 0) + sign * power
        both = self.is_literal and other.is_literal
        left = tuple(sorted((u, p) for u, p in powers.items() if p))
        return Units(left, both, {**other.spelt, **self.spelt})

    def raised(self, power: int) -> Units:
        powers = tuple((u, p * power) for u, p in self.powers if p * power)
        return Units(powers, self.is_literal, self.spelt)

    def __str__(self) -> str:
        named = [(self.spelt.get(u, u), p) for u, p in self.powers]
        above = [u if p == 1 else f"{u}^{p}" for u, p in named if p > 0]
        below = [u if p == -1 else f"{u}^{-p}" for u, p in named if p < 0]
        text = " x ".join(above) or ("1" if below else PROBABILITY)
        return f"{text} per {' per '.join(below)}" if below else text


def units_of(term: Term, known: Mapping[str, Units | None]) -> tuple[Units | None, str]:
    """The units of a formula (None when not clear), and what in it looks like a slip.

    >>> from reidbn.attack.formula import parse
    >>> units = {"fine": Units.read("euro"), "p": Units.read("probability")}
    >>> str(units_of(parse("-fine * p"), units)[0])
    'euro'
    >>> units_of(parse("fine + p"), units)[1]
    'column 6: adds euro to probability'
    """
    if term.op == "number":
        return Units(is_literal=True), ""
    if term.op == "name":
        return known[term.name], ""
    found = [units_of(arg, known) for arg in term.args]
    slip = next((text for _, text in found if text), "")
    units = [unit for unit, _ in found]
    if term.op == "any" and units[0] is not None and not units[0].is_bare:
        slip = slip or f"column {term.at + 1}: takes {units[0]} for a chance"
    if term.op in ("exp", "log", "any"):
        return Units(), slip
    sure = [unit for unit in units if unit is not None]
    if slip or len(sure) < len(units):
        return None, slip
    if term.op == "neg":
        return sure[0], ""
    if term.op == "/" and sure[0].is_bare and not sure[1].is_bare:
        return None, ""  # 1 / class_size, a chance among so many
    if term.op in ("*", "/"):
        return sure[0].times(sure[1], 1 if term.op == "*" else -1), ""
    if term.op == "^":
        return _raised(sure[0], term.args[1])
    return _alike(sure, term)


def _raised(base: Units, exponent: Term) -> tuple[Units | None, str]:
    whole = exponent.op == "number" and exponent.number % 1 == 0
    if base.is_bare or not whole:
        return (Units() if base.is_bare else None), ""
    return base.raised(int(exponent.number)), ""


def _alike(units: Iterable[Units], term: Term) -> tuple[Units | None, str]:
    """Of a sum, a difference, min or max: one unit for all, and literals fit any."""
    named = [unit for unit in units if not unit.is_literal]
    if not named:
        return Units(is_literal=True), ""
    other = next((unit for unit in named if unit != named[0]), None)
    if other is None:
        return named[0], ""
    verb = {"+": "adds {} to {}", "-": "takes {1} from {0}"}.get(term.op, "compares {} with {}")
    return None, f"column {term.at + 1}: {verb.format(named[0], other)}"
