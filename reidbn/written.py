"""Numbers, lists and endings of names as people write them, and counts in the right number."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeGuard

from reidbn.errors import UsageError


class InTheHouse(str):
    """A remark that hangs on single people: for the custodian's own copy alone."""

    __slots__ = ()


_BLANK = "[ \u00a0\u2009\u202f]"
_PLAIN = r"[-+]?(?:\d[\d_]*)?(?:\.\d*)?(?:[eE][-+]?\d+)?"
_MARK = "['\u2019]"  # 300'000, as the Swiss write it
_GROUPED = (
    rf"[-+]?[1-9]\d{{0,2}}(?:(?:,\d{{3}})+|(?:{_BLANK}\d{{3}})+|(?:{_MARK}\d{{3}})+)(?:\.\d+)?"
)
_FORM = re.compile(
    rf"(?P<digits>{_GROUPED}|{_PLAIN}){_BLANK}*(?P<unit>%|k|m|mn|million|bn|billion|)", re.I
)
_UNITS = {"": 0, "%": -2, "k": 3, "m": 6, "mn": 6, "million": 6, "bn": 9, "billion": 9}
_FRACTION = re.compile(rf"(?P<over>\d{{1,18}}){_BLANK}*/{_BLANK}*(?P<under>\d{{1,18}})")
SMALLEST = 1e-300
_COMMA = re.compile(r"[-+]?\d+,\d+")
_ALIKE = {".htm": ".html", ".markdown": ".md", ".pq": ".parquet", ".yml": ".yaml"}


def read_number(text: str, what: str) -> int | float:
    """A whole number or a fraction; `what` names it in the message.

    Thousands may stand apart by a comma, a blank, an apostrophe or "_"; k is thousand, m million,
    bn billion, % hundredths, and 1/11 one of eleven.  A comma that is no thousands mark is refused:
    0,09 may be two numbers.

    >>> read_number("300,000", "population"), read_number("300k", "population")
    (300000, 300000)
    >>> read_number("9%", "threshold"), read_number("2.5e8", "population")
    (0.09, 250000000.0)
    >>> read_number("1/8", "threshold")
    0.125
    """
    exact, is_count = _read(text, what)
    return int(exact) if is_count else float(exact)


def read_exact(text: str, what: str) -> Fraction:
    """The same, with no digit lost.

    >>> read_exact("1/11", "threshold"), read_exact("9%", "threshold")
    (Fraction(1, 11), Fraction(9, 100))
    """
    return _read(text, what)[0]


def _read(text: str, what: str) -> tuple[Fraction, bool]:
    """The number, and whether it was written as a whole one."""
    given = str(text).strip()
    shared = _FRACTION.fullmatch(given)
    if shared is not None:
        if not int(shared["under"]):
            raise UsageError(f'{what}: "{text}" is not a number: it divides by 0')
        return Fraction(int(shared["over"]), int(shared["under"])), False
    found = _FORM.fullmatch(given)
    digits = "" if found is None else re.sub(rf"[,_]|{_BLANK}|{_MARK}", "", found["digits"])
    if given.lstrip("+-").lower() in ("inf", "infinity", "nan"):
        raise UsageError(f"{what}: {text} is not a finite number")
    if found is None or not re.search(r"\d", digits) or re.fullmatch(r"[-+]?0\d.*", digits):
        raise UsageError(f'{what}: "{text}" is not a number{_hint(given)}')
    if math.isinf(float(digits)):
        raise UsageError(f"{what}: {text} is not a finite number")
    unit = _UNITS[found["unit"].lower()]
    is_tiny = abs(float(digits)) < SMALLEST  # no number that anybody writes, and long as a fraction
    value = Fraction(0 if is_tiny else Decimal(digits)) * Fraction(10) ** unit
    is_plain = not unit and re.fullmatch(r"[-+]?\d+", digits) is not None
    return value, is_plain or (unit > 0 and value.denominator == 1)


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether it is a plain number, and not a yes or no."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def tiny(p: float, form: str = ".4g") -> str:
    """A number from 0 to 1 in short; what is no more than rounding is not written out.

    >>> tiny(0.00123456), tiny(0.0), tiny(1.9e-247)
    ('0.001235', '0', 'below 1e-12')
    """
    return "below 1e-12" if 0 < p < 1e-12 else format(p, form)


def ended(text: str) -> str:
    """A sentence with its end, which it may have.

    >>> ended("It is so"), ended("Were you there?")
    ('It is so.', 'Were you there?')
    """
    return text if text.endswith((".", "?", "!", "…")) else f"{text}."


def counted(count: int, one: str, many: str = "") -> str:
    """So many of a thing, in the right number.

    >>> counted(1, "person"), counted(2, "person"), counted(0, "value"), counted(1_200, "class")
    ('1 person', '2 people', '0 values', '1,200 classes')
    """
    return f"{count:,} {one if count == 1 else many or plural(one)}"


def agree(count: int, one: str, many: str) -> str:
    """The verb of so many.

    >>> agree(1, "is", "are"), agree(0, "is", "are")
    ('is', 'are')
    """
    return one if count == 1 else many


def few(words: Sequence[str], most: int = 6) -> str:
    """The first of several words, and that there are more.

    >>> few(["a", "b"]), few("abcdefgh", 3)
    ('a, b', 'a, b, c, ...')
    """
    return ", ".join(words[:most]) + (", ..." if len(words) > most else "")


def plural(one: str) -> str:
    """More than one of a thing.

    >>> plural("history"), plural("person"), plural("spelling")
    ('histories', 'people', 'spellings')
    """
    if one.endswith("person"):
        return one.removesuffix("person") + "people"
    if one.endswith("y") and one[-2] not in "aeiou":
        return one[:-1] + "ies"
    return one + ("es" if one.endswith(("s", "x", "ch", "sh")) else "s")


def _hint(text: str) -> str:
    """What may have been meant by a text that is no number."""
    if _COMMA.fullmatch(text):
        return f"; write the fraction with a point: {text.replace(',', '.')}"
    if re.fullmatch(r"0\d\d", text):
        return "; in a list, write 300,000 as 300000 or 300k"
    if text.isdigit():
        return "; write it without the leading 0"
    return "; write it as 0.05, 5%, 300000 or 300k" if re.search(r"\d", text) else ""


def capital(sentence: str) -> str:
    """With a capital letter, unless it begins with a name as it is written: p_m, worst-case.

    >>> capital("what is left"), capital("p_m, p_c."), capital("families, vague")
    ('What is left', 'p_m, p_c.', 'families, vague')
    """
    first = sentence.partition(" ")[0]
    is_name = "_" in first or first.endswith((",", "."))
    return sentence if is_name else f"{sentence[:1].upper()}{sentence[1:]}"


def ending(path: str | os.PathLike[str]) -> str:
    """What kind of file a name is of, by its ending: .htm is .html.

    >>> ending("r.HTM"), ending("r.pq")
    ('.html', '.parquet')
    """
    found = Path(path).suffix.lower()
    return _ALIKE.get(found, found)
