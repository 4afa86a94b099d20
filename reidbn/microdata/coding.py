"""Coding: distinct values cleaned and sorted, and every cell an integer.

Only the distinct values of a column are ever looked at, never its cells.  The rules are the
same for every source: texts are stripped, a blank text, a null and a NaN are missing, a number
that is whole is an integer; in files without types (CSV) a column whose every value is written
as a plain number is numbers, so "01234" stays a text, and the apostrophe that keeps a spreadsheet
from running "-10--1" is read over.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError
from reidbn.microdata.classes import Codes, Ints
from reidbn.microdata.columns import object_array
from reidbn.release.writing import without_apostrophes
from reidbn.written import InTheHouse, agree, counted

_PLAIN = re.compile(
    r"[-+]?(?:(?:0|[1-9]\d{0,14})(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,3})?", re.IGNORECASE
)
"""A number as people and programs write it, also .5, 5. and 1E-05; sixteen digits before the
point, and a 0 before others, are a name."""
_CODE = re.compile(r"\d+e\d+", re.IGNORECASE)
"""A number with an exponent that may as well be a code: 1E5 beside 1F6."""
_READABLE = re.compile(r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|inf(?:inity)?)")
"""What readers such as pandas take for a number, 05 and .5 among them."""
_THOUSANDS = re.compile(
    r"[-+]?[1-9]\d{0,2}(?:([,'\u2019_])(?:\d{2,3}\1)*\d{3}(?:\.\d*)?|(?:\.\d{3})+(?:,\d*)?)", re.A
)
"""A number with its thousands apart, by a comma, an apostrophe, a line or a point."""
_DAY = re.compile(r"\d+(?:[-/:.t]\d+){2,}(?:z|[+-]\d\d:?\d\d)?|\d+[-/:]\d+", re.A)
"""A day or a time, or a part of one, in numbers."""
_DIGITS = re.compile(r"((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])", re.A)
"""A day without marks."""
_HEX = re.compile(r"[-+]?0x[0-9a-f]+")
TAKEN_FOR_MISSING = frozenset((
    "na", "n/a", "nan", "-nan", "null", "none", "nil", "<na>", "#n/a", "#na", "#n/a_n/a",
    "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan",
))  # fmt: skip
"""What pandas, R and others take for a cell that is missing."""
_SIGNS = {"\u2212": "-", "\u066b": ".", "\u066c": ","}  # minus; Arabic marks
_BEGINS = frozenset("+-.,0123456789")
_HELD = 16
"""A number of so few signs, and no exponent, is held by a float to its last digit."""


@dataclass(frozen=True, eq=False)
class Raw:
    """A column as a source gives it: codes (-1 where missing) into distinct values, any order."""

    codes: Codes
    values: list[Any]
    written: bool = False
    """Whether the values are texts as written in a file that has no types."""


class Coder:
    """Codes a column chunk by chunk; remembers distinct values only.

    `whole` says that the cells are texts of whole numbers that may be longer than 64 bits.
    """

    def __init__(self, *, written: bool = False, whole: bool = False) -> None:
        self.written = written
        self.whole = whole
        self.index: dict[Any, int] = {}
        self.parts: list[Any] = []

    def add(self, cells: Any, null: Any = None) -> None:
        import pandas as pd

        codes, values = pd.factorize(cells)
        if values.dtype.kind == "M":
            values = pd.DatetimeIndex(values)
        own = [self.index.setdefault(value, len(self.index)) for value in values.tolist()]
        codes = np.array([*own, -1], dtype=np.int32)[codes]
        if null is not None:
            codes[np.asarray(null, dtype=bool)] = -1
        self.parts.append(codes)

    def finish(self) -> Raw:
        codes = np.concatenate(self.parts) if self.parts else np.empty(0, dtype=np.int32)
        values = [int(text) for text in self.index] if self.whole else list(self.index)
        return Raw(codes, values, written=self.written)


class Blanks:
    """What is missing beside nulls and blank cells; `unseen` are the codes that no cell held.

    A text, a number or a list of them.  A number also stands for its other ways of writing:
    999 is 999.0.

    >>> blanks = Blanks(["?", 999])
    >>> "?" in blanks, 999.0 in blanks, "9" in blanks, blanks.unseen
    (True, True, False, [])
    >>> Blanks("NA").unseen
    ['NA']
    """

    def __init__(self, given: Any = ()) -> None:
        given = given.item() if isinstance(given, np.ndarray) and not given.ndim else given
        single = isinstance(given, str) or not isinstance(given, Iterable)
        wanted = [given] if single and given is not None else [] if single else list(given)
        self.texts: dict[str, bool] = {}
        self.numbers: dict[float, str] = {}
        for value in wanted:
            plain = _clean("missing_values", value)
            if plain is None or plain == "":
                continue
            text = str(plain)
            self.texts[text] = False
            if _is_number(text):
                self.numbers[float(text)] = text

    def __bool__(self) -> bool:
        return bool(self.texts)

    def __contains__(self, value: object) -> bool:
        text = str(value)
        found = text if text in self.texts else None
        if found is None and self.numbers and _is_number(text):
            found = self.numbers.get(float(text))
        if found is not None:
            self.texts[found] = True
        return found is not None

    @property
    def unseen(self) -> list[str]:
        return [text for text, seen in self.texts.items() if not seen]

    @property
    def notes(self) -> list[str]:
        """A word about the codes that no cell held: they may be misspelt."""
        said = 'missing value "{}" occurs in no column that was read'.format
        return [InTheHouse(said(text)) for text in self.unseen]  # one cell makes it untrue


def tidy(
    name: str, raw: Raw, missing_values: Blanks | None = None, *, as_text: bool = False
) -> tuple[Codes, NDArray[Any]]:
    """The column's codes (-1 where missing) and its values in sorted order.

    A mixture of kinds is refused, or with `as_text` (a column with a hierarchy) made texts.

    >>> tidy("age", Raw(np.array([0, 1, 2, 0], dtype=np.int32), ["50", "", " 7"], written=True))
    (array([ 1, -1,  0,  1], dtype=int32), array([ 7, 50]))
    """
    used = np.zeros(len(raw.values) + 1, dtype=bool)
    used[raw.codes] = True
    if not missing_values and set(map(type, raw.values)) in ({int}, {float}):
        return _tidy_numbers(raw, used[:-1])
    blanks = missing_values or Blanks()
    places = np.flatnonzero(used[:-1]).tolist()
    given = [_clean(name, raw.values[place]) for place in places]
    plain = without_apostrophes(given) if raw.written else given
    kept: list[int] = []
    values: list[Any] = []
    for place, *ways in zip(places, given, plain, strict=True):
        if not any(value is None or value == "" or value in blanks for value in ways):
            kept.append(place)
            values.append(ways[-1])
    if values and all(isinstance(raw.values[place], decimal.Decimal) for place in kept):
        values = _alike([raw.values[place] for place in kept], values)
    values = _one_kind(name, values, written=raw.written, as_text=as_text)
    labels, inverse = _sorted(values)
    new = np.full(len(raw.values) + 1, -1, dtype=np.int32)
    new[kept] = inverse
    return new[raw.codes], labels


def _tidy_numbers(raw: Raw, used: NDArray[np.bool_]) -> tuple[Codes, NDArray[Any]]:
    """The same for numbers of one type, without a look at each."""
    values = np.array(raw.values)
    if values.dtype == object or np.abs(values[np.isfinite(values)]).max(initial=0) >= 2**53:
        return tidy("", Raw(raw.codes, [*raw.values, None]))
    used &= ~np.isnan(values)
    labels, inverse = np.unique(values[used], return_inverse=True)
    new = np.full(values.size + 1, -1, dtype=np.int32)
    new[:-1][used] = inverse
    if labels.dtype.kind == "f" and (np.isfinite(labels) & (np.floor(labels) == labels)).all():
        labels = labels.astype(np.int64)
    return new[raw.codes], labels


def _clean(name: str, value: Any) -> Any:
    """A plain Python value; None where it stands for nothing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float):
        return None if math.isnan(value) else _number(value)
    if value is None or isinstance(value, int | datetime.date):
        return None if value != value else value  # NaT differs from itself
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if type(value).__name__ in ("Interval", "Period", "UUID", "time", "timedelta", "Timedelta"):
        return str(value)
    raise DataError(
        f'column "{name}" holds values of type {type(value).__name__}; '
        "use texts, numbers, dates or true/false"
    )


def _alike(given: list[decimal.Decimal], values: list[Any]) -> list[Any]:
    """Decimals that floats tell apart; else all as texts, each number written once."""
    if not any(isinstance(value, str) for value in values):
        return values
    near = [float(value) if isinstance(value, str) else value for value in values]
    if _tell_apart(near, given):
        return near
    texts = [format(value, "f") for value in given]
    shortest = [text.rstrip("0").rstrip(".") if "." in text else text for text in texts]
    return ["0" if not value else text for value, text in zip(given, shortest, strict=True)]


def _decimal(value: decimal.Decimal) -> Any:
    """A whole number, a float that holds it to the last digit, or its text."""
    if value.is_nan():
        return None
    if value.is_finite() and value == value.to_integral_value():
        return int(value)
    near = float(value)
    return near if decimal.Decimal(repr(near)) == value else str(value)


def _number(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _one_kind(name: str, values: list[Any], *, written: bool, as_text: bool) -> list[Any]:
    if written and values:
        numbers = _written_numbers(values)
        if numbers is not None:
            return numbers
    kinds = {_kind(value) for value in values}
    if kinds == {"dates"}:
        return _dates(name, values)
    if len(kinds) > 1 and as_text:
        return [str(value) for value in values]
    if len(kinds) > 1:
        raise DataError(
            f'column "{name}" mixes {" and ".join(sorted(kinds))}; convert it to one type, '
            "or name a hierarchy for it if some values are generalised"
        )
    return values


def _written_numbers(values: list[str]) -> list[Any] | None:
    """The numbers of a column whose every value is written as one, also with decimal commas."""
    pointed = _with_points(values)
    if pointed is None:
        return None
    values = pointed
    if not all(_PLAIN.fullmatch(value) for value in values):
        return None
    exponents = [value for value in values if "e" in value.lower()]
    if exponents and all(map(_CODE.fullmatch, exponents)):
        return None
    numbers = [_number(float(value)) for value in values]
    if not exponents and all(len(value) <= _HELD for value in values):
        return numbers
    return numbers if _tell_apart(numbers, [decimal.Decimal(value) for value in values]) else None


def may_be_codes(labels: NDArray[Any]) -> bool:
    """Whether texts would be numbers, but those of them that have an exponent may be codes."""
    texts = labels.tolist() if labels.dtype == object else []
    if not texts or not all(isinstance(text, str) and _PLAIN.fullmatch(text) for text in texts):
        return False
    some = [text for text in texts if "e" in text.lower()]
    return 0 < len(some) < len(texts) and all(map(_CODE.fullmatch, some))


def _is_number(text: str) -> bool:
    """Whether a text by itself is a number, and no code."""
    return bool(_PLAIN.fullmatch(text)) and not _CODE.fullmatch(text)


def _with_points(values: list[str]) -> list[str] | None:
    """The values with points for decimal commas; None where commas may be something else.

    1,234 may be a thousand or one and a bit: commas with three digits each time stay texts, and
    so does a comma before nothing.
    """
    if not any("," in value for value in values):
        return values
    fractions = [value.partition(",")[2] for value in values if "," in value]
    thousands = all(len(part) == 3 for part in fractions)
    if thousands or not all(fractions) or any("." in value for value in values):
        return None
    return [value.replace(",", ".") for value in values]


def _tell_apart(near: list[Any], given: list[decimal.Decimal]) -> bool:
    """Whether finite numbers near those that are given are as many."""
    return len(set(near)) == len(set(given)) and all(map(math.isfinite, near))


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true/false"
    if isinstance(value, int | float):
        return "numbers"
    return "texts" if isinstance(value, str) else "dates"


def _dates(name: str, values: list[Any]) -> list[Any]:
    """Dates where no value has a time of day, else times."""
    times = [v for v in values if isinstance(v, datetime.datetime)]
    if len({v.tzinfo is None for v in times}) > 1:
        raise DataError(f'column "{name}" has times with and without a time zone; use one kind')
    if all(
        v.time() == datetime.time() and v.tzinfo is None and not getattr(v, "nanosecond", 0)
        for v in times
    ):
        return [v.date() if isinstance(v, datetime.datetime) else v for v in values]
    midnight = datetime.time()
    return [
        v
        if isinstance(v, datetime.datetime)
        else datetime.datetime.combine(v, midnight, times[0].tzinfo)
        for v in values
    ]


def _sorted(values: list[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Distinct values in order, in an array of their type, and where each given one is in it."""
    distinct = sorted(set(values))
    place = {value: i for i, value in enumerate(distinct)}
    inverse = np.array([place[value] for value in values], dtype=np.int32)
    plain = bool(distinct) and isinstance(distinct[0], int | float)
    if plain and all(isinstance(value, float) or abs(value) < 2**63 for value in distinct):
        return np.array(distinct), inverse
    return object_array(distinct), inverse


def spellings(codes: Codes, labels: NDArray[Any]) -> tuple[Codes, NDArray[Any], int]:
    """Values that differ only by capitals or blanks as one, by its commonest spelling.

    The third is how many values this leaves out; 0 where all differ otherwise too.

    >>> spellings(np.array([0, 2, 2, 1]), object_array(["F", "M", "f"]))
    (array([1, 1, 1, 0], dtype=int32), array(['M', 'f'], dtype=object), 1)
    """
    if labels.dtype != object or not any(isinstance(value, str) for value in labels.tolist()):
        return codes, labels, 0
    keys = [plainly(value) for value in labels.tolist()]
    gone = len(keys) - len(set(keys))
    if not gone:
        return codes, labels, 0
    often = np.bincount(codes[codes >= 0], minlength=labels.size)
    chosen: dict[Any, int] = {}
    for place in np.argsort(-often, kind="stable").tolist():
        chosen.setdefault(keys[place], place)
    kept = sorted(chosen.values())
    rank = {place: new for new, place in enumerate(kept)}
    new = np.array([*(rank[chosen[key]] for key in keys), -1], dtype=np.int32)
    return new[codes], labels[kept], gone


def one_said(labels: NDArray[Any]) -> Ints:
    """The place of each value, where texts that say one thing have one: the first's.

    They differ by capitals, blanks, ways to write a letter, or by the form of a number, since a
    file of texts has no types: what is read beside them says whether they are numbers.

    >>> one_said(object_array(["+5", "05", "5.0", "<2", "Flu", "flu"])), one_said(np.array([5, 7]))
    (array([0, 0, 0, 3, 4, 4]), array([0, 1]))
    """
    places = np.arange(labels.size)
    if labels.dtype != object:
        return places
    first = dict[Any, int]()

    def root(i: int) -> int:
        while places[i] != i:
            i = int(places[i])
        return i

    for i, value in enumerate(labels.tolist()):
        if isinstance(value, str) and value != "*":  # "*" is no secret, whatever looks like it
            for said in _readings(value):
                one, other = root(i), root(first.setdefault(said, i))
                places[max(one, other)] = min(one, other)
    places[:] = [root(i) for i in range(len(places))]
    return places


def said_otherwise(labels: NDArray[Any], of: str) -> tuple[int, str]:
    """How many texts of a column say what one before them says, and that in words."""
    same = int((one_said(labels) != np.arange(labels.size)).sum())
    return same, (
        f"{counted(same, 'text')} of {of} {agree(same, 'differs', 'differ')} from another in "
        f"capitals, blanks or the form of a letter, a number or a day alone (as Flu and flu, or 5, "
        f"5.0 and 05)"
    )


def said_twice(labels: NDArray[Any]) -> int:
    """How many texts say a number that one before them says in another form."""
    if labels.dtype != object:
        return 0
    texts = {plainly(value) for value in labels.tolist() if isinstance(value, str)}
    numbers = [number for text in texts if isinstance(number := _said(text), float)]
    return len(numbers) - len({*numbers})


def _said(text: str) -> str | float:
    """The number that some reader takes a text for, or else what the text says, without blanks."""
    return _readings(text)[0]


def _readings(text: str) -> list[str | float]:
    """All that readers may take a text for: 1,500 is one and a half, or fifteen hundred.

    >>> _readings("1,500"), _readings("2020-01-01 00:00:00"), _readings("Flu"), _readings("5 %")
    ([1.5, 1500.0], ['2020-1-1'], ['flu'], [0.05])
    """
    text = re.sub(r"(?<=\d) (?=\d{1,2}:\d)", "t", plainly(text)).replace(" ", "")
    if not text.isascii():
        shown = (c for c in text if unicodedata.category(c) != "Cf")
        text = "".join(_SIGNS.get(c) or str(unicodedata.decimal(c, c)) for c in shown)
    return [*_days(text), *_numbers(text)] or [text]


def _numbers(text: str) -> Iterator[float]:
    """The numbers that a text may say, with a comma or a point before its parts, or between
    thousands.
    """
    if _HEX.fullmatch(text):
        yield float(int(text, 16))
    bare, share = text.removesuffix("%"), text.endswith("%")
    forms = dict.fromkeys([bare.replace(",", ".")])
    if apart := _THOUSANDS.fullmatch(bare):
        forms[bare.replace(apart[1] or ".", "").replace(",", ".")] = None
    for form in forms:
        if _READABLE.fullmatch(form):
            yield float(decimal.Decimal(form) / 100) if share else float(form)


def _days(text: str) -> Iterator[str]:
    """The day or time that a text says: 2020-1-1 of 20200101, 2020/01/01 and one at midnight."""
    if (plain := _DIGITS.fullmatch(text)) is not None:
        text = "-".join(plain.groups())
    if not _DAY.fullmatch(text):
        return
    text = re.sub(r"(?<=:\d\d)\.0+", "", re.sub(r"(z|[+-]00:?00)$", "", text))
    text = re.sub(r"\d+", lambda number: number[0].lstrip("0") or "0", text)
    text = re.sub(r"(?<=\d)t0:0(:0)?$", "", text)
    yield re.sub(r"[/.]", "-", re.sub(r"(\d:\d+):0$", r"\1", text))


def taken_for_missing(labels: NDArray[Any]) -> list[str]:
    """The texts of a column that whoever reads a file of them may take for a missing cell.

    >>> taken_for_missing(object_array(["flu", "NA", "None", "nausea"]))
    ['NA', 'None']
    """
    texts = [value for value in labels.tolist() if isinstance(value, str)]
    return [text for text in texts if plainly(text).replace(" ", "_") in TAKEN_FOR_MISSING]


def _number_of(value: Any) -> Any:
    """The number that a text says where its column is read as numbers; None where it says none."""
    if not isinstance(value, str):
        return value if isinstance(value, Number) else None
    if value[:1] not in _BEGINS:
        return None
    text = value.replace(",", ".")
    return decimal.Decimal(text) if _PLAIN.fullmatch(text) else None


def numbers_of(texts: Iterable[str]) -> dict[str, float]:
    """The number that each of these texts says once a column of them is read as numbers; of those
    that say one.

    >>> numbers_of(["5.0", "+7", "low", "007"]), numbers_of(["5,0", "7,25"]), numbers_of(["1,234"])
    ({'5.0': 5.0, '+7': 7.0}, {'5,0': 5.0, '7,25': 7.25}, {})
    """
    said = [text for text in texts if isinstance(text, str) and _number_of(text) is not None]
    pointed = _with_points(said)
    if pointed is None:
        pointed = said = [text for text in said if "," not in text]
    read = zip(said, map(float, pointed), strict=True)
    return {text: number for text, number in read if math.isfinite(number)}


def plainly(value: Any) -> Any:
    """A text without what people do not mean by it: capitals, blanks, ways to write an accent."""
    if not isinstance(value, str):
        return value
    text = value if value.isascii() else unicodedata.normalize("NFKC", value)
    return " ".join(text.casefold().split())


def with_missing(codes: Codes, labels: NDArray[Any]) -> tuple[Codes, NDArray[Any]]:
    """The same with missing cells as a value of their own: the last code, labelled None."""
    if not (codes < 0).any():
        return codes, labels
    settled = np.where(codes < 0, np.int32(labels.size), codes)
    return settled, object_array([*labels.tolist(), None])


def whole_numbers(raw: Raw) -> Ints:
    """A column of counts: whole numbers above 0."""
    codes, values = tidy("counts", raw)
    if (codes < 0).any() or values.dtype.kind != "i" or (values < 1).any():
        raise DataError("the column of counts holds something else than whole numbers above 0")
    return values.astype(np.int64)[codes]
