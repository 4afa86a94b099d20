"""Result: what every answer about people can do; Measure: one number of it, with what it means.

Assessment, Disclosure, Leak, Uniqueness, Suda and Candidates are results.  A result brings its
fields, `table` among them, and three methods; the verbs are written here, once:

    _measures()   {name: Measure}
    _people()     a DataFrame, one row per person in record order
    _sections     the page's parts: a late door to report/

A measure says how it is told outside the house.  Without a word it is not told at all, so that a
new one gives nobody away.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import typed
from reidbn.errors import ReidbnWarning, UsageError
from reidbn.late import late
from reidbn.written import is_number

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.sparse import Sparse
    from reidbn.microdata.table import People

Array = NDArray[np.float64]
SHARE = "share of people"  # a unit that is written as a percentage
Told = Literal["withheld", "given", "count", "mean", "rest", "highest", "ratio", "scaled", "total"]


@dataclass(frozen=True, eq=False)
class Measure:
    """One number of a result.

    >>> mean_of(np.array([0.5, 0.25]), "chance of a right guess").value
    0.375
    """

    value: float | int | None
    """None where the number is not defined (a share of no false values, say)."""
    interval: tuple[float, float] | None = None
    unit: str = "probability"
    per_person: bool = False
    """Whether each person has an own value, in the column of `people` of this name."""
    words: str = ""
    told: Told = "withheld"
    """Outside the house: not at all, as it is (what was asked), or rounded as a count, as a mean
    over people, as one minus a mean, as its sum, as a highest value, as the ratio of two counts, or
    as a number that counts of the table are scaled up to."""
    each: Array | None = field(default=None, repr=False)
    """What it is the mean or the highest of: a value per person; of a ratio, both counts."""
    scale: float = 1.0
    """How many one person of the table stands for in it."""

    def in_words(self) -> str:
        """The number and its interval, exactly."""
        between = self.between()
        return f"{self.number()} ({between})" if between else self.number()

    def number(self) -> str:
        """The number alone, exactly."""
        return _plain(self.value, self.unit)

    def between(self) -> str:
        """The interval, exactly; empty without one."""
        if self.interval is None:
            return ""
        low, high = (_plain(end, self.unit) for end in self.interval)
        return f"{low} to {high}"


def _plain(value: float | int | None, unit: str) -> str:
    if value is None:
        return "undefined"
    if unit == SHARE:
        return f"{100 * value:.3g} %"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.5g}"


def mean_of(
    values: NDArray[Any],
    words: str,
    *,
    unit: str = "probability",
    per_person: bool = False,
    interval: tuple[float, float] | None = None,
) -> Measure:
    """The mean of a value per person."""
    each = np.asarray(values, dtype=np.float64)
    mean = float(each.mean())
    if not np.isfinite(mean):  # of somebody it says nothing, so of all
        return Measure(None, None, unit, per_person, words)
    return Measure(mean, interval, unit, per_person, words, "mean", each)


def rest_of(values: NDArray[Any], words: str, *, per_person: bool = False) -> Measure:
    """The mean of a chance per person that is the better the higher; told by what is missing.

    Counts that leave the house are of those who are worse off: were both ends of a scale counted,
    what lies between and the whole would tell more of either.
    """
    return replace(mean_of(values, words, per_person=per_person), told="rest")


def highest_of(values: NDArray[Any], words: str) -> Measure:
    """The highest of a value per person."""
    each = np.asarray(values, dtype=np.float64)
    return Measure(float(each.max()), words=words, told="highest", each=each)


def count_of(count: int, words: str, *, unit: str = "people") -> Measure:
    """A number of people."""
    return Measure(int(count), None, unit, words=words, told="count")


def given(value: float | int, words: str, *, unit: str) -> Measure:
    """What was asked for, or is known anyhow: it tells nothing of the table."""
    return Measure(value, None, unit, words=words, told="given")


class Result:
    """What every answer about people can do."""

    question: Any = None
    """What was asked, in words."""
    by_classes: ClassVar[bool] = True
    """Whether its numbers follow from classes of people, and are told by these outwards."""
    _model: ClassVar[str] = "NAME"
    """The shipped model that is nearest to it."""

    @property
    def asked_of(self) -> People | Sparse | None:
        """The people that it was asked of, by the word that every result knows."""
        return self.table

    if TYPE_CHECKING:  # a field or a property of each result

        @property
        def table(self) -> People | None:
            """The people it was asked of; None where there were none."""

        _sections: Any

    @property
    def sure_columns(self) -> tuple[str, ...] | None:
        """The columns by which people are alike, where all are known for sure and a class alone
        makes the risk; None where it tells of more: a chance, a secret, parts of the columns.
        """
        return None

    @property
    def about(self) -> str:
        """The event or the quantity that the measures are of: only such are compared."""
        return self.kind

    table_given: People | None = None
    """The whole table, where some of it are not asked about (whoever has no secret)."""
    changed: tuple[str, ...] = ()
    """What was changed in the question that was asked before (rb.what_if), in words."""

    @property
    def may_be_known(self) -> tuple[str, ...]:
        """The columns that an attacker may know, where the question is about some."""
        return ()

    def whatif_case(self) -> Any:
        """What sweep, tornado and the like vary: an assessment's attack; no other has one."""
        raise UsageError(
            f"a {self.kind} has no parameters that sweep, solve, tornado and the like could vary: "
            "ask it again with what changed, rb.what_if(result, ...), and rb.compare(before, "
            "after) tells the two"
        )

    def _measures(self) -> dict[str, Measure]:
        raise NotImplementedError

    def _people(self) -> pd.DataFrame:
        raise NotImplementedError

    @property
    def made_from(self) -> dict[str, Any]:
        """Whom it was asked of, and how, beside the question."""
        people = self.asked_of
        found: dict[str, Any] = {} if people is None else {
            "table_fingerprint": people.fingerprint, "people": len(people),
        }  # fmt: skip
        return found | self._made_with()

    @property
    def asked(self) -> str | None:
        """The question in one form, in whatever order and by what names its columns were given."""
        return (
            None
            if self.question is None
            else str(getattr(self.question, "in_order", self.question))
        )

    def _on(self) -> dict[str, Any]:
        """By which columns people are told apart, where the question names an event alone."""
        return {}

    @property
    def identity(self) -> dict[str, Any]:
        """What `to_dict` says of it beside its numbers."""
        table, question = self.asked_of, self.question
        return {
            "question": None if question is None else str(question), "asked": self.asked,
            **self._on(), "provenance": self.made_from,
            **({} if table is None else {"table": table.fingerprint, "records": table.content}),
        }  # fmt: skip

    @property
    def as_released(self) -> dict[str, Any]:
        """How the table that it was asked of is released."""
        people = self.asked_of if self.table_given is None else self.table_given
        return {} if people is None else people.as_released

    def _made_with(self) -> dict[str, Any]:
        """What the question does not tell: how the table is released, whom of it was asked about,
        what was said of each person, and further settings; only what was said at all.
        """
        each, rows = self._of_each(), self._asked_about()
        found = self.as_released
        found |= {"of_each_person": digest(*each)} if each else {}
        exactly = self._asked_exactly()
        found |= {"asked_fingerprint": digest(*exactly)} if exactly else {}
        if rows is not None:
            found |= {"individuals": len(rows), "rows_fingerprint": digest(rows)}
        settings = self._settings()
        return found | ({"settings": settings} if settings else {})

    def _of_each(self) -> tuple[Any, ...]:
        """What was said of each person that the question does not tell, such as own chances."""
        return ()

    def _asked_exactly(self) -> tuple[Any, ...]:
        """What the question rounds or only names: chances that everybody shares, the columns of a
        group.
        """
        return ()

    def _asked_about(self) -> NDArray[np.int64] | None:
        """The rows of those who were asked about; None for everybody."""
        return None

    def _intervals(self, _telling: Any) -> dict[str, tuple[float, float]]:
        """Of measures without an interval of their own: one that takes long, as it is told."""
        return {}

    def _settings(self) -> dict[str, Any]:
        """What was asked for by name and changes the numbers, where the question is silent."""
        return {}

    @property
    def kind(self) -> str:
        """Which result it is: the name of the class under Result, whatever its own model."""
        return next(c.__name__ for c in type(self).__mro__ if Result in c.__bases__)

    @cached_property
    def measures(self) -> Mapping[str, Measure]:
        """Every number of the result by name; `tuple(result.measures)` are the names."""
        return MappingProxyType(self._measures())

    @cached_property
    def people(self) -> pd.DataFrame:
        """One row per person, in record order.  Restricted: for the custodian alone."""
        return self._people()

    @property
    def subjects(self) -> pd.DataFrame:
        """The same as `people`."""
        return self.people

    def __getstate__(self) -> dict[str, Any]:
        """To be pickled: the measures are made anew."""
        return {name: value for name, value in vars(self).items() if name != "measures"}

    def remarks(self) -> tuple[str, ...]:
        """What to bear in mind about these numbers."""
        return ()

    def frame(self) -> pd.DataFrame:
        """The measures, one row each."""
        import pandas as pd

        rows = [
            {
                "value": m.value,
                "low": None if m.interval is None else m.interval[0],
                "high": None if m.interval is None else m.interval[1],
                "unit": m.unit,
                "per_person": m.per_person,
                "words": m.words,
            }
            for m in self.measures.values()
        ]
        found = pd.DataFrame(rows, index=pd.Index(self.measures, name="measure", dtype=object))
        return found.astype(dict.fromkeys(("value", "low", "high"), float))

    def to_dict(self) -> dict[str, Any]:
        """Every measure and remark as plain numbers and words; exact, for the custodian."""
        found: dict[str, Any] = self._every_measure(custodian=True)
        return found

    def compare(self, other: Result) -> pd.DataFrame:
        """The measures of two results of one kind side by side, and what lies between them.

        `difference` is the other's value minus this one's, where both have the measure.  Other
        events (another secret, another attack) are refused; another question about one event is
        compared with a word.
        """
        import pandas as pd

        if not isinstance(other, Result):
            raise UsageError(f"compare takes a result, not a {type(other).__name__}")
        if other.kind != self.kind:
            raise UsageError(
                f"a {self.kind} is compared with another {self.kind}, not with a {other.kind}: "
                "their measures mean different things"
            )
        if other.about != self.about:
            raise UsageError(other_events(self.about, other.about))
        if apart := differing(self.identity, other.identity):
            asked = [what for what in apart if not what.startswith((*OF_WHOM, *_OF_RELEASE))]
            whom = "are of different tables" if apart.get("table") == OTHER else ""
            how = "answer different questions" if asked else whom or "are of different releases"
            said = "; ".join(apart.values())
            warnings.warn(f"the two {how}: {said}", ReidbnWarning, stacklevel=2)
        names = list(dict.fromkeys([*self.measures, *other.measures]))
        values = [[r.measures[n].value if n in r.measures else None for n in names]
                  for r in (self, other)]  # fmt: skip
        found = pd.DataFrame(
            {"this": values[0], "other": values[1]},
            index=pd.Index(names, name="measure", dtype=object),
            dtype=float,
        )
        return found.assign(difference=found["other"] - found["this"])

    def check(self) -> Any:
        """The numbers reached in another way; raises CrosscheckFailed where they differ."""
        raise UsageError(f"a {self.kind} has no cross-check")

    @typed
    def explain(self, person: Any = None, measure: str = "overall") -> Any:
        """Why one person's number is what it is, and what would protect that person.

        `person` is the subject's id, or the row from 0; `measure` the risk that is explained.
        """
        raise UsageError(
            f"a {self.kind} has no routes and no facts that add up to one person's number: read "
            f"that person's row in .people, or explain an assessment, rb.assess(...).explain(id)"
        )

    @typed
    def page(self, path: Any, *, ledger: Any = None) -> Any:
        """Write an .html file at `path` in which anybody moves the attack, its people behind it.

        An assessment has one, and so has every attack; `ledger` is as in `report`.
        """
        raise UsageError(
            f"a {self.kind} has no page in which anybody moves it: such a page holds an attack and "
            f"rounded people, and this result exact counts of a table; of an attack with numbers "
            f'of your own write rb.load("{self._model}").page(path, set={{...}}), of people '
            f"rb.assess(...).page(path); .report(path) writes what this result says"
        )

    report = late("reidbn.report.page:write_report")
    plot = late("reidbn.report.page:write_plot")
    _sheet = late("reidbn.report.page:sheet_of")
    _numbers = _every_measure = late("reidbn.report.page:numbers_of")

    def refuse_what_is_wrong(self) -> None:
        """Raise where the numbers are known to be wrong; a report was written and says so."""

    def __str__(self) -> str:
        """The measures as text, exactly: the custodian's own copy."""
        words = [m.words or name.replace("_", " ") for name, m in self.measures.items()]
        width = max(map(len, words), default=0)
        lines = [repr(self)]
        lines += [
            f"  {text:<{width}}  {m.in_words()}"
            for text, m in zip(words, self.measures.values(), strict=True)
        ]
        lines += [f"  Changed: {words}" for words in self.changed]
        return "\n".join([*lines, *(f"  Note: {remark}" for remark in self.remarks())])

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(repr(self))}</p>{self.frame().to_html()}"


def other_events(first: str, second: str) -> str:
    """Why two results are not compared."""
    return (
        f"these are numbers of different events: {first} | {second}. The difference of the two "
        f"says nothing; compare results about one event, or read each by itself"
    )


OF_WHOM = ("table", "people")
OTHER = "another table"
_OF_RELEASE = (
    "suppressed",
    "cells emptied",
    "weights",
    "hierarchies",
    "features",
    "level of ",
    "bands of ",
)


def differing(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, str]:
    """In what two results differ beside their numbers, in words; from what their JSON says."""
    first, second = (dict(content.get("provenance") or {}) for content in (one, two))
    found = {}
    if (first.get("scenario"), second.get("scenario")) != (None, None):
        pair = [
            (made.get("scenario"), made.get("scenario_fingerprint")) for made in (first, second)
        ]
        if pair[0][0] != pair[1][0]:
            found["scenario"] = f"scenario: {pair[0][0]} -> {pair[1][0]}"
        elif pair[0] != pair[1]:
            found["known"] = f"what is known, though both scenarios are called {pair[0][0]}"
    if first.get("model_fingerprint") != second.get("model_fingerprint"):
        found["model"] = f"the model {first.get('attack')} was changed"
    found |= _of_settings(first, second)
    found |= _of_the_records(one, two, first, second)
    found |= {
        name: words for name, (mark, words) in MARKS.items() if first.get(mark) != second.get(mark)
    }
    questions = [content.get("question") for content in (one, two)]
    same = one.get("asked", questions[0]) == two.get("asked", questions[1])
    if not same and questions[0] == questions[1]:
        found["exactly"] = MARKS["exactly"][1]  # groups of one name
    if (not same and questions[0] != questions[1]) or "of each person" in found:
        found.pop("exactly", None)  # it is said already
    if any(what.startswith(("level of ", "bands of ")) for what in found):
        found.pop("hierarchies", None)  # one of the two has none, or it is said already
    marks = [made.get("weighted") or made.get("weights_fingerprint") for made in (first, second)]
    found |= _apart("weights", *("of people" if mark else None for mark in marks))
    if one.get("on") and two.get("on"):
        found |= _apart("known columns", *(", ".join(content["on"]) for content in (one, two)))
    found |= _gone(first, second)
    for key in sorted(({*first} & {*second}) - _NAMED):
        found |= _apart(key.replace("_", " "), first[key], second[key])
    found |= _apart("release", one.get("release"), two.get("release"))
    _say_of_what_is_known(found, one, two)
    explained = {*found} - {*OF_WHOM, "known", "of each person"} and first.get("parameters")
    if not same and questions[0] != questions[1] and not explained:
        found["question"] = f"another question: {questions[0]} | {questions[1]}"
    hidden = [mark for mark in one.get("not_told", ()) if mark in two.get("not_told", ())]
    if same and hidden:
        found["not told"] = f"{UNTOLD}: {', '.join(_HIDDEN.get(m, MARKS[m][1]) for m in hidden)}"
    return found


def _of_settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, str]:
    """In what they differ of what is said by name."""
    found: dict[str, str] = {}
    for kind, word in _SAID.items():
        values, others = first.get(kind) or {}, second.get(kind) or {}
        both = [
            n
            for n in {**values, **others}
            if kind not in ("parameters", "bands") or (n in values and n in others)
        ]
        for name in both:
            least = 0 if kind == "levels" else None
            found |= _apart(f"{word}{name}", values.get(name, least), others.get(name, least))
    return found


def _of_chances(one: Mapping[Any, Any], two: Mapping[Any, Any]) -> dict[str, str]:
    """Which chances of what may be known were raised or lowered, of columns that both know."""
    found: dict[str, str] = {}
    for columns in sorted({*one} & {*two}):
        (name, chance), (other, after) = one[columns], two[columns]
        found |= _apart(name if chance != 1 else other, chance, after)
    return found


def _say_of_what_is_known(
    found: dict[str, str], one: Mapping[str, Any], two: Mapping[str, Any]
) -> None:
    """Each change once: a chance, what nobody knows, what is left out of a scenario, columns."""
    found |= (chances := _of_chances(one.get("chances", {}), two.get("chances", {})))
    if chances or {"unknown", "known columns"} & {*found}:
        found.pop("known", None)
    made = [{**c, **(c.get("provenance") or {})} for c in (one, two)]
    words = {"unknown": "unknown", "without": "without", "known columns": "on"}
    apart = {n: {*(made[0].get(w) or ())} ^ {*(made[1].get(w) or ())} for n, w in words.items()}
    for what, other in combinations(words, 2):
        if what in found and apart[other] <= apart[what]:
            found.pop(other, None)


UNTOLD = "worded alike; whether exactly the same was asked is not told in a rounded file"
_SAID = {"parameters": "", "given": "given ", "do": "do ", "columns": "column ",
         "levels": "level of ", "bands": "bands of ", "settings": ""}  # fmt: skip
MARKS = {
    "of each person": ("of_each_person", "the chances that are each person's own"),
    "exactly": (
        "asked_fingerprint",
        "what was asked exactly, though both questions are worded alike",
    ),
    "hierarchies": ("hierarchies_fingerprint", "the hierarchies by which columns are made coarse"),
    "weights": ("weights_fingerprint", "the survey weights"),
    "rows": ("rows_fingerprint", "the individuals who were asked about"),
    "rules": ("rules_fingerprint", "another rule of matching"),
    "outside": ("outside_fingerprint", "the attacker's own list"),
}
"""Digests, by what they are of."""
_HIDDEN = {"exactly": "what the words round or only count", "rules": "rules of matching"}
_NAMED = {
    *_SAID, *(mark for mark, _ in MARKS.values()), "attack", "scenario", "seed", "missing",
    "suppressed", "cells_emptied", "weighted",
    "attack_fingerprint", "model_fingerprint", "scenario_fingerprint", "table_fingerprint",
    "original_fingerprint",
}  # fmt: skip


def _gone(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, str]:
    """Who was left out and which cells were emptied, where that is not the same."""
    found: dict[str, str] = {}
    for what in ("suppressed", "cells_emptied"):
        gone = [made.get(what, 0) for made in (first, second)]
        told = ["under 10" if few is None else few for few in gone]
        found |= _apart(what.replace("_", " "), *told)
    return found


def _apart(what: str, one: Any, two: Any) -> dict[str, str]:
    """What was said of two results, where that is not the same."""

    def said(value: Any) -> str:
        if is_number(value):
            return f"{value:,.12g}"
        if isinstance(value, list | tuple):
            return ", ".join(map(str, value)) or "nothing"
        return "nothing" if value is None else str(value)

    return {} if one == two else {what: f"{what}: {said(one)} -> {said(two)}"}


def _of_the_records(
    one: Mapping[str, Any], two: Mapping[str, Any],
    first: Mapping[str, Any], second: Mapping[str, Any],
) -> dict[str, str]:  # fmt: skip
    """In what the records differ, how a missing cell is read, and what was drawn."""
    missing = [made.get("missing", "value") for made in (first, second)]
    found = _apart("another policy for missing cells", *missing)
    alike = one.get("records") is not None and one.get("records") == two.get("records")
    if one.get("table") != two.get("table") and not alike:
        read = {made.get("original_fingerprint") for made in (first, second)}
        if len(read) != 1 or None in read:
            found["table"] = OTHER
        elif not found:
            found["table"] = "the table as it is released"
    drawn = [made.get("seed") if made.get("draws") else None for made in (first, second)]
    return found if None in drawn else found | _apart("seed of the draws", *drawn)


def digest(*arrays: Any) -> str:
    """SHA-256 of arrays: of what is said person by person."""
    text = hashlib.sha256()
    for values in map(np.ascontiguousarray, arrays):
        text.update(f"{values.dtype} {values.shape}".encode())
        text.update(repr(values.tolist()).encode() if values.dtype == object else values.tobytes())
    return text.hexdigest()


def by_person(
    columns: Mapping[str, Any], table: People | Sparse | None, rows: NDArray[np.int64] | None = None
) -> pd.DataFrame:
    """Columns of one value per person as a frame, by the subject's id where the table has ids.

    Without ids the row says who is meant, as the source has it: where rows were left out, and where
    only some (`rows`) were asked about.
    """
    import pandas as pd

    ids = None if table is None else table.who
    if rows is not None:
        ids = rows if ids is None else ids[rows]
    return pd.DataFrame(columns, index=None if ids is None else pd.Index(ids, name="subject"))
