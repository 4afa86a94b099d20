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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, hypot
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import typed
from reidbn.differing import differing, in_one_sentence, other_events
from reidbn.errors import ReidbnWarning, UsageError
from reidbn.late import late

if TYPE_CHECKING:
    import pandas as pd

    from reidbn.microdata.sparse import Sparse
    from reidbn.microdata.table import People

Array = NDArray[np.float64]
SHARE = "share of people"  # a unit that is written as a percentage
Told = Literal["withheld", "given", "count", "ends", "mean", "rest", "highest", "ratio", "scaled",
               "total"]  # fmt: skip


WITH_CHANCES = (
    "What is known is known with chances, and a risk is then a mean over several ways to be alike"
)
NOTHING = 1e-12  # between two means: a computer's last digits
WITHIN_DRAWING = (
    "the difference is within what drawing alone may make of it (at 95 %), and shows no change"
)


@dataclass(frozen=True)
class Drawn:
    """How far drawing may put a mean off, at 95 %, and which draws it rests on."""

    off: float
    draws: str | None
    """A digest of what was drawn; None where that is not told."""


def drawing_between(one: Mapping[str, Drawn], two: Mapping[str, Drawn]) -> dict[str, float]:
    """By measure, how far draws alone may put two means apart, at 95 %.

    Where both rest on the same draws, as they do where numbers of a model alone changed, nothing.

    >>> one, two = {"risk": Drawn(0.03, "ab")}, {"risk": Drawn(0.04, "cd")}
    >>> drawing_between(one, two), drawing_between(one, one)
    ({'risk': 0.05}, {})
    """
    found = {}
    for name in {**one, **two}:
        both = [of[name] for of in (one, two) if name in of]
        if len(both) < 2 or both[0].draws is None or both[0].draws != both[1].draws:
            found[name] = hypot(*(drawn.off for drawn in both))
    return found


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
    """Outside the house: not at all, as it is (what was asked), or rounded as a count, as from the
    one to the other of its ends in `each`, as a mean over people, as one minus a mean, as its sum,
    as a highest value, as the ratio of two counts, or as a number that counts of the table are
    scaled up to."""
    each: Array | None = field(default=None, repr=False)
    """What it is the mean or the highest of: a value per person; of a ratio, both counts; both
    ends of what is told by these."""
    scale: float = 1.0
    """How many one person of the table stands for in it."""
    most: float | None = None
    """What it cannot be above, whatever the table is: the population, of people of it."""
    up_to: tuple[float, ...] = ()
    """Of a mean: the levels up to each of which people are counted on the page, by which it is
    told."""

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


def ends_of_count(count: int, words: str, ends: tuple[int, int]) -> Measure:
    """A number of people of which both ends are told."""
    return Measure(int(count), None, "people", words=words, told="ends", each=np.array(ends))


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

    def _known(self) -> dict[str, Any]:
        """Which columns may be known, with what chances, and what else was asked (`beside`), where
        the question names them all.
        """
        return {}

    @property
    def identity(self) -> dict[str, Any]:
        """What `to_dict` says of it beside its numbers."""
        table, question = self.asked_of, self.question
        return {
            "question": None if question is None else str(question), "asked": self.asked,
            **self._on(), **self._known(), "provenance": self.made_from,
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
        own = {name: digest(*values) for name, values in sorted(each.items())}
        found |= {"of_each_person": own} if own else {}
        exactly = self._asked_exactly()
        found |= {"asked_fingerprint": digest(*exactly)} if exactly else {}
        if rows is not None:
            found |= {"individuals": len(rows), "rows_fingerprint": digest(rows)}
        settings = self._settings()
        return found | ({"settings": settings} if settings else {})

    def _of_each(self) -> Mapping[str, Sequence[Any]]:
        """What was said of each person that the question does not tell, such as own chances, by
        what it was said of.
        """
        return {}

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

    @property
    def _population_of(self) -> int | None:
        """The people, each of whom makes up a known part of the population; None where it was said
        by itself.  Of suppressed people it is without those for whom they stood.
        """
        table = self.table
        whole = None if table is None else table.whole
        return None if whole is None or whole.share_kept == 1 else len(whole)

    def _population_told(self, telling: Any, said: float) -> float | None:
        """The population as it is told beside the number of people."""
        of = self._population_of
        found: float | None = telling.number_above(said, len(self.table or ()), of=of)
        return found

    @property
    def _hangs_on_more(self) -> str:
        """Why risks are no matter of one class of a person; empty where they are."""
        return ""

    def _tells_population(self, telling: Any) -> bool:
        """Whether it is told as it was said."""
        said = self.made_from.get("population")
        if said is None or self.table is None:
            return True
        return bool(telling.tells_exactly(said, len(self.table), of=self._population_of))

    def _as_told(self, _telling: Any) -> Result:
        """The same question by the numbers that are told of it: those that are beside the number
        of people would tell more of that.
        """
        return self

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

    def remarks_told(self) -> tuple[str, ...]:
        """Those that may be told outside the house, where their numbers are rounded."""
        return self.remarks()

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
                f"{self.kind} is compared with another {self.kind}, not with {other.kind}: their "
                "measures mean different things"
            )
        if other.about != self.about:
            raise UsageError(other_events(self.about, other.about))
        if apart := differing(self._beside_other(other), other._beside_other(self)):
            warnings.warn(in_one_sentence(apart), ReidbnWarning, stacklevel=2)
        names = list(dict.fromkeys([*self.measures, *other.measures]))
        values = [[r.measures[n].value if n in r.measures else None for n in names]
                  for r in (self, other)]  # fmt: skip
        found = pd.DataFrame(
            {"this": values[0], "other": values[1]},
            index=pd.Index(names, name="measure", dtype=object),
            dtype=float,
        )
        found["difference"] = found["other"] - found["this"]
        drawing = drawing_between(self._off_by_drawing(), other._off_by_drawing())
        if not drawing:
            return found
        off = np.array([drawing.get(name, 0.0) for name in names])
        near = found["difference"].abs().between(NOTHING, off)
        if near.any():
            said = f"{', '.join(found.index[near])}: {WITHIN_DRAWING}"
            warnings.warn(said, ReidbnWarning, stacklevel=2)
        return found.assign(drawing=off)

    def _beside_other(self, other: Result) -> dict[str, Any]:
        """The identity beside another's; where that counts people as cells, of the same cells."""
        found = self.identity
        pair: tuple[Any, Any] = (self.asked_of, other.asked_of)
        here, there = pair
        one_by_one = [getattr(people, "one_by_one", None) for people in (here, there)]
        if one_by_one == [True, False] and {*there.columns} <= {*here.columns}:
            cells = here.content_as_cells(there.columns)
            found |= {"records": cells, "counted": other.identity.get("counted")}
        return found

    def _off_by_drawing(self) -> Mapping[str, Drawn]:
        """By measure, how far off its mean may be by drawing; only where something was drawn."""
        return {}

    def _at_most_off(self) -> Mapping[str, float]:
        """The same of whatever people, so many of them, which tells of none; where it is drawn what
        cannot be counted.
        """
        return {}

    def _off_told(self, *, exactly: bool) -> dict[str, dict[str, Any]]:
        """What is drawn as a file has it, outside the house in whole per cent."""
        if exactly:
            return {name: vars(one) for name, one in self._off_by_drawing().items()}
        return {n: {"off": ceil(100 * most) / 100} for n, most in self._at_most_off().items()}

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
    def page(self, path: Any, *, custodian: bool = False, ledger: Any = None) -> Any:
        """Write an .html file at `path` in which anybody moves the attack, its people behind it.

        An assessment has one, and so has every attack; `custodian` and `ledger` are as in `report`.
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
