"""Direct identifiers: columns that name a person, which have no place in an analysis or a file.

One look, for columns that are read and for those that are written beside them: at a column's name,
and at its values as every column is coded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import DataError
from reidbn.microdata.classes import Codes
from reidbn.microdata.coding import Blanks, Raw
from reidbn.written import counted

LOOKED_AT = 1000
_FEW = 100
"""Below so many rows, distinct texts prove nothing."""
_OFTEN = 0.05
"""Of the rows; a value that so many have may be a code for one that is missing."""
_LONG = 100_000_000
"""Nine digits: longer than a date, as long as a social security number."""
_NAMES = {  # as they are called in English, German, French, Italian, Spanish, Portuguese, Dutch
    "name", "fullname", "firstname", "lastname", "surname", "forename", "givenname", "familyname",
    "patientname", "email", "emailaddress", "phone", "phonenumber", "telephone", "ssn",
    "ipaddress", "streetaddress", "passport", "hospitalnumber", "hospitalno",
    "vorname", "nachname", "familienname", "geburtsname", "patientenname", "telefon", "adresse",
    "nom", "prenom", "nomdefamille", "nome", "cognome", "nombre", "nombres",
    "apellido", "apellidos", "sobrenome", "voornaam", "achternaam", "naam",
}  # fmt: skip
_NO = "(no|nr|nbr|num|number|nummer)"
_PERSONS = re.compile(
    rf"id|{_NO}?id{_NO}?|(unique|u|gu|uu|p)id|identifier|mrn|patient"
    rf"|(patient|subject|participant|respondent|client|customer|insured)s?(id|key|identifier|{_NO})"
    rf"|(person|individual|member|employee|student|resident|donor|nhs|hospitalpatient)(id|key)"
    rf"|(patienten|versicherten|versicherungs|sozialversicherungs|ahv|sv|insurance|policy|nhs|passport|medicalrecord"
    rf"|socialsecurity){_NO}"
)  # "person no", "member no" and the like count the people of a household
_RECORDS = re.compile(
    rf"(case|record|fall|row){_NO}|(case|record|row|encounter|admission|visit|stay|hadm)(id|key)"
    rf"|encounter"
)
AS_IF = "as if each row were somebody else"
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T][\d:.]+)?")


def is_nhs_number(text: str) -> bool:
    """Ten digits, the last a check on the others modulo 11, as in NHS numbers."""
    digits = re.sub(r"[ -]", "", text)
    if not re.fullmatch(r"\d{10}", digits):
        return False
    total = sum((10 - i) * int(digit) for i, digit in enumerate(digits[:9]))
    return (11 - total % 11) % 11 == int(digits[9])


_FORMATS: dict[str, Callable[[str], object]] = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}").fullmatch,
    "social security numbers": re.compile(r"\d{3}-\d{2}-\d{4}").fullmatch,
    "NHS numbers": lambda t: re.fullmatch(r"\d{3} \d{3} \d{4}", t) or is_nhs_number(t),
    "phone numbers": re.compile(r"(?:\+|00)\d[\d ()-]{8,}|\(\d{3}\) ?\d{3}-\d{4}").fullmatch,
}


def refuse_direct(
    name: str,
    codes: Codes,
    labels: NDArray[Any],
    n: NDArray[np.int64] | None = None,
    *,
    allowed: bool,
) -> dict[str, str]:
    """Raise if the column looks like a direct identifier; the message says which kind.

    Where that is allowed: the column, and by what it points at people.  `n` are how many rows each
    code stands for.
    """
    looks = looks_direct(name, codes, labels, n)
    if looks and not allowed:
        raise DataError(
            f'column "{name}" looks like a direct identifier ({looks}); leave it out, or '
            "name it as subject_id if it tells persons apart; allow_direct=True keeps it"
        )
    return {name: looks} if looks else {}


def looks_direct(
    name: str, codes: Codes, labels: NDArray[Any], n: NDArray[np.int64] | None = None
) -> str | None:
    """Why a column of these codes (-1 where missing, `n` rows each) and values seems to name
    people.
    """
    if named_direct(name):
        return "by its name"
    texts = [str(value) for value in labels[:: max(1, labels.size // LOOKED_AT)].tolist()]
    for what, fits in _FORMATS.items():
        if texts and sum(bool(fits(text)) for text in texts) > 0.8 * len(texts):
            return f"its values have the form of {what}"
    there = codes >= 0
    rows_of = None if n is None else n[there]
    held = np.bincount(codes[there], weights=rows_of, minlength=labels.size)
    if held.size and held.max() >= max(2, _OFTEN * held.sum()):
        other = np.arange(held.size) != held.argmax()
        labels, held = labels[other], held[other]
    rows = int(held.sum())
    if rows < _FEW or labels.size < 0.95 * rows:
        return None
    if isinstance(labels[0], str):
        dates = sum(bool(_DATE.fullmatch(text)) for text in texts)
        return None if dates >= 0.8 * len(texts) else "a text of its own in almost every row"
    return _like_a_number(labels, rows) if labels.dtype.kind == "i" else None


def named_direct(name: str) -> bool:
    """Whether a column of this name seems to name people."""
    plain = _plain(name)
    return plain in _NAMES or bool(_PERSONS.fullmatch(plain) or _RECORDS.fullmatch(plain))


def tells_persons(name: str) -> bool:
    """Whether a column of this name holds numbers of persons."""
    return bool(_PERSONS.fullmatch(_plain(name)))


def of_several_rows(name: str, raw: Raw, blanks: Blanks) -> str | None:
    """A word where a column that should tell persons apart has the same value in several rows."""
    held = np.bincount(raw.codes[raw.codes >= 0], minlength=len(raw.values))
    if held.max(initial=0) < 2:
        return None
    for place in np.flatnonzero(held).tolist():
        value = raw.values[place]
        if not str(value).strip() or value in blanks:
            held[place] = 0
    rows, persons = int(held.sum()), int((held > 0).sum())
    if rows == persons:
        return None
    return (
        f'"{name}" has {counted(persons, "value")} in {counted(rows, "row")}: where it tells '
        f"persons apart, some have several rows, and k and every risk are told {AS_IF}: name it, "
        f'subject_id="{name}"'
    )


def _plain(name: str) -> str:
    apart = unicodedata.normalize("NFKD", name.casefold())  # an accent is a sign of its own
    return re.sub(r"[^a-z]", "", apart)


def _like_a_number(labels: NDArray[Any], rows: int) -> str | None:
    if labels.size == rows and int(labels[-1] - labels[0]) == rows - 1:
        return "a running number"
    return "a long number of its own in almost every row" if int(labels[0]) >= _LONG else None
