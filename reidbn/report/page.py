"""The sheet of a result: sections of sentences, lists, figures and tables, as HTML or Markdown.

The HTML is one file without any outside part, the same bytes for the same result: figures are
inline SVG with a name and a description, and every figure has its table.  What leaves the house is
rounded (see telling.py); `custodian=True` writes the custodian's own copy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.attacks.linkage.columns import SparsePeople, rows_of
from reidbn.attacks.routes.assessment import Assessment
from reidbn.calls import described, typed
from reidbn.differing import MARKS, OF_PERSONS, OF_THE_TABLE
from reidbn.errors import UsageError
from reidbn.microdata.table import People
from reidbn.release.counts import APART, BASE, NOT_BESIDE, PART, STEP, Alike
from reidbn.release.seal import sealed
from reidbn.release.writing import write_text
from reidbn.report.counting import OWN_COPY
from reidbn.report.style import (
    BLUE,
    KINDS,
    PALE,
    WIDE,
    blank,
    inline,
    paper,
    said_below,
    save,
    svg_of,
    titled,
)
from reidbn.report.telling import FEWEST, Telling
from reidbn.report.unseen import KINDS as ASKED
from reidbn.report.unseen import NOBODY, ONE_TABLE, not_looked_at
from reidbn.written import capital
from reidbn.written import ending as kind_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reidbn.report.ledgered import Texts
    from reidbn.result import Measure, Result

__all__ = ["Section", "Sheet", "Shown", "html", "inline", "markdown", "sheet_of", "svg_of"]

NUMBERLESS = ("-", "suppressed", "never", "not seen", "not told", f"under {BASE}")
PHONE = 340  # pixels that a table may need before its rows are stacked on a telephone
REPORTS = (".html", ".md", ".json")
HOW_TOLD = "How these numbers are told"
AND_AGAINST = f"{HOW_TOLD}, and what is not promised"
NOT_LOOKED_AT = "What this assessment did not look at"
SAFE, UNSAFE, PLAIN = "#2a9d8f", "#c1440e", "#5b7c99"


class Stated(str):
    """A sentence of what the caller states of a release, which tells of nobody in the table."""

    __slots__ = ()


@dataclass(frozen=True)
class Shown:
    """A figure (or none) and the table under it."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    figure: Figure | str = ""
    """Drawn when the page is written; or the text of an SVG element."""
    about: str = ""
    """What the figure shows, for who cannot see it."""
    is_stated: bool = False
    """Whether it holds nothing but what the caller states of the release."""

    @cached_property
    def svg(self) -> str:
        """The figure as an SVG element; empty without one.  The caption is its title."""
        if isinstance(self.figure, str):
            return self.figure
        if len(self.figure.axes) == 1:
            self.figure.axes[0].set_title("", loc="left")
        return svg_of(self.figure, self.caption, self.about)

    def is_text(self, column: int) -> bool:
        """Columns of words stand to the left, columns of numbers to the right."""
        numbers = [_is_number(str(row[column])) for row in self.rows]
        return sum(numbers) * 2 < len(numbers)

    @cached_property
    def is_stacked(self) -> bool:
        """Too wide for a telephone, where every row then stands as a short list."""
        width = 0.0
        for column, head in enumerate(self.heads):
            cells = [str(row[column]) for row in self.rows]
            if self.is_text(column):  # is wrapped
                cells = [word for cell in cells for word in cell.split()]
            width += 10 + 7.5 * max(map(len, [*head.split(), *cells]), default=0)
        return width > PHONE


@dataclass(frozen=True)
class Section:
    """A part of the report."""

    title: str
    text: Sequence[str] = ()
    bullets: Sequence[str] = ()
    shown: Sequence[Shown] = ()
    details: Sequence[Shown] = ()
    """Long tables and further figures that open on a click."""
    folded: Sequence[tuple[str, Sequence[str]]] = ()
    """Titles and sentences that open on a click."""
    answers: Sequence[tuple[str, Sequence[str]]] = ()
    """Of the first section: what the sheet answers on its first screen."""


@dataclass(frozen=True)
class Sheet:
    """The whole report."""

    title: str
    colour: str
    verdict: Sequence[str]
    sections: Sequence[Section] = field(default_factory=tuple)
    headline: str = ""
    """The answer in a few words."""
    answers: Sequence[tuple[str, Sequence[str]]] = ()
    """What else must be answered on the first screen: questions, and sentences."""
    of_classes: tuple[int, int] = (0, 0)
    """Nobody, and somebody, is said to be in a class of at most so many."""

    @property
    def has_images(self) -> bool:
        """Whether a figure holds a picture of its own, which the page's policy must let in."""
        every = (shown for s in self.sections for shown in (*s.shown, *s.details))
        return any('href="data:image/' in shown.svg for shown in every)


def unstated(sheet: Sheet) -> Sheet:
    """The sheet without its title and all that the caller states of who receives the data."""

    def said(sentences: Sequence[str]) -> list[str]:
        return [sentence for sentence in sentences if not isinstance(sentence, Stated)]

    sections = [
        replace(s, text=said(s.text), shown=[one for one in s.shown if not one.is_stated],
                details=[one for one in s.details if not one.is_stated])
        for s in sheet.sections
    ]  # fmt: skip
    answers = [(question, said(sentences)) for question, sentences in sheet.answers]
    return replace(sheet, title="", answers=answers, sections=sections)


def _is_number(cell: str) -> bool:
    """A number, what stands for one, or a bound on one."""
    bound = cell.startswith(("below ", "up to ", "at least "))
    return bound or cell[:1].isdigit() or cell in NUMBERLESS


def html(page: Sheet) -> str:
    """The page as one self-contained HTML file."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("reidbn.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["words"] = _words
    text = templates.get_template("page.html").render(page=page, paper=paper())
    return re.sub(r"(?<=\d) %", "\u00a0%", text)  # a number and its unit stay on one line


def _words(sentence: str) -> str:
    """A sentence in HTML; an option as it is typed stays on one line."""
    from markupsafe import Markup, escape

    typed = re.sub(
        r"(?<![\w-])--[a-z][a-z-]*", r'<span class="typed">\g<0></span>', str(escape(sentence))
    )
    return Markup(typed)  # noqa: S704 - escaped above


def markdown(page: Sheet) -> str:
    """The page as Markdown; figures are left out, their tables stay."""
    lines = [f"# {page.title}", ""]
    lines += [f"> **{page.headline}**"] if page.headline else []
    lines += [f"> {sentence}" for sentence in page.verdict]
    for question, said in page.answers:
        lines += [">", f"> **{question}** {' '.join(said)}"]
    for number, section in enumerate(page.sections, start=1):
        lines += ["", f"## {number}. {section.title}", ""]
        lines += [f"{sentence}\n" for sentence in section.text]
        lines += [f"- {bullet}" for bullet in section.bullets]
        for shown in (*section.shown, *section.details):
            lines += ["", f"**{shown.caption}**", ""]
            rows = ["| " + " | ".join(map(_cell, row)) + " |" for row in (shown.heads, *shown.rows)]
            lines += [rows[0], "|" + "---|" * len(shown.heads), *rows[1:]]
        for title, sentences in section.folded:
            lines += ["", f"**{title}**", "", *sentences]
    # No tag, link or bare address that a cell or a name brings.
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", "\n".join(lines) + "\n").replace("](", "]\\(")
    return re.sub(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)", r"\\", text, flags=re.IGNORECASE)


def _cell(text: str) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


# -- of any result ---------------------------------------------------------------------------


def telling_of(result: Result, *, custodian: bool = False) -> Telling:
    """How a result is told: outwards what follows from classes of people is counted by class."""
    table = result.table
    if custodian or not result.by_classes or not isinstance(table, People):  # nor an empty one
        return Telling(custodian=custodian)
    if isinstance(table, SparsePeople):  # in no classes, and one risk of all follows from none
        return Telling()
    lawful = getattr(result, "by_class", None)
    if lawful is not None:  # the only classes that such a page counts by
        return Telling(classes=(lawful,))
    found = [Alike(rows_of(table).as_written().class_sizes())]
    known = getattr(result, "known_classes", None)
    if known is not None and not np.array_equal(known, found[0].sizes):
        found.append(Alike(known, without=NOT_BESIDE))
    if not isinstance(result, Assessment):
        why = result._hangs_on_more
        return Telling(classes=tuple(found), kept_back=why, of_risks=bool(why))
    return Telling(
        classes=tuple(found), kept_back=result._hangs_on_more, of_risks=True,
        enclosed=result._enclosed(),
    )  # fmt: skip


@typed
def sheet_of(result: Result, *, custodian: bool = False, title: str = "") -> Sheet:
    """The sheet of a result: its own sections, every measure, and what the numbers stand on.

    The first section's sentences are the verdict on top, its title is the sheet's.
    """
    telling = telling_of(result, custodian=custodian)
    first, *rest = result._as_told(telling)._sections(telling)
    numbers = in_numbers(result._as_told(telling), telling)
    picture = replace(first, title="The picture and the numbers", text=(), answers=(),
                      details=[*first.details, *numbers.shown])  # fmt: skip
    return Sheet(
        title=title or first.title,
        colour=PLAIN,
        verdict=[*first.text, *([OWN_COPY] if custodian else [])],
        answers=first_screen(result, first.answers, telling),
        sections=[
            picture if first.shown else numbers,
            *rest,
            left_aside(result, telling),
            stands_on(result, telling),
        ],
    )


NOT_JUDGED = "This page judges no release: reidbn assess puts a rule to the table."


def first_screen(
    result: Result, own: Sequence[tuple[str, Sequence[str]]], telling: Telling
) -> list[tuple[str, Sequence[str]]]:
    """May I release, to whom, on what condition, what next; what a result says itself stands."""
    kind = ASKED.get(result.kind, NOBODY)
    said = result._as_told(telling).question
    asked = "" if said is None else f"As asked: {telling.rounded(str(said))}."
    found: dict[str, Sequence[str]] = {
        "May I release it?": [NOT_JUDGED],
        "To whom?": [kind.whom],
        "On what condition?": [asked],
        "What next?": [kind.then],
        **dict(own),
    }
    return [(question, said) for question, said in found.items() if any(said)]


def in_numbers(result: Result, telling: Telling) -> Section:
    """Every measure, as it is told."""
    told = {
        name: m for name, m in result.measures.items() if telling.custodian or m.told != "withheld"
    }
    rows = []
    for name, m in told.items():
        said, between = ends_in_words(m, telling), telling.interval_in_words(m)
        interval = "the same" if between == said else between or "-"
        rows.append([telling.named(name, m)[1], said, interval, m.unit])
    heads = ["measure", "value", "95 % interval", "unit"]
    if all(row[2] in ("-", "the same") for row in rows):
        rows, heads = [[*row[:2], row[3]] for row in rows], [*heads[:2], heads[3]]
    return Section("In numbers", shown=[Shown("Measures", heads, rows)])


def ends_in_words(m: Measure, telling: Telling) -> str:
    """A number as it is told; a count by both ends, beside others that are."""
    ends = telling.bounds(m)
    if telling.custodian or m.told != "count" or ends is None or ends[0] == 0:
        return telling.measure_in_words(m)
    return f"{ends[0]:,} to {ends[1]:,}"


def left_aside(result: Result, telling: Telling) -> Section:
    """What the answer did not look at, from what is not in the model, the table and the call."""
    return aside(not_looked_at(result, telling))


def aside(said: Sequence[str]) -> Section:
    """Sentences of what was left aside: what stands after a colon opens on a click."""
    parts = [sentence.partition(": ") for sentence in said]
    folded = [(head, [capital(rest)]) for head, colon, rest in parts if colon]
    return Section(NOT_LOOKED_AT, bullets=[s for s, colon, _ in parts if not colon], folded=folded)


def stands_on(result: Result, telling: Telling) -> Section:
    """The remarks, where the numbers come from, and how they are told."""
    import reidbn

    table = result.asked_of
    mark = f", SHA-256 {table.fingerprint}" if table is not None and telling.custodian else ""
    of = [] if table is None else [f"Table: {telling.counted(len(table))} people{mark}."]
    told = telling.notes(result.remarks() if telling.custodian else result.remarks_told())
    return Section(
        "What these numbers stand on",
        bullets=[*of, *(f"{capital(r)}." for r in told),
                 f"reidbn {reidbn.__version__}."],
        folded=[told_how(telling)],
    )  # fmt: skip


def told_how(telling: Telling) -> tuple[str, Sequence[str]]:
    """How the numbers about people are told, and against whom nothing is promised."""
    own = telling.custodian
    return (HOW_TOLD, [how_told(telling)]) if own else (AND_AGAINST, [how_told(telling), ONE_TABLE])


def how_told(telling: Telling) -> str:
    """How counts, and what is worked out from them, are told."""
    if telling.custodian:
        return "The custodian's own copy: every number is exact. It may not leave the house."
    steps = f"in steps of {STEP} / people, or of {PART}"
    more = (
        f"The mean of risks that follow from no class is told {steps}. "
        if telling.kept_back
        else f"A mean that follows from no class is told {steps} besides. "
        if telling.enclosed
        else ""
        if telling.of_risks or any(classes.law for classes in telling.classes)
        else f"A mean that follows from no class is told {steps}, and of fewer than {APART} "
        f"people not at all. "
    )
    return (
        f"Counts are told in tens, rounded down: 20 is 20 to 29, and under {BASE} is 0 to "
        f"{BASE - 1}. Between two levels stands the difference of two such counts, from its least "
        f"to its most; where classes of people could be worked out from two counts, one is told "
        f"as from so many to so many, too. Shares, curves, quantiles, means and maxima are worked "
        f"out from these counts alone: a mean is told as from the least to the most that they "
        f"leave, in steps of {BASE} / people, and of fewer than {FEWEST} people not at all, and of "
        f"a maximum a level that fewer than {BASE} people exceed. Under {BASE} may be nobody, and "
        f"is told as nobody or 0 only where a verdict says so: of the same people one row can "
        f"therefore say 0 %, the next a bound and a third a level above them. {more}"
        f"The custodian's own copy has the exact numbers."
    )


def numbers_of(
    result: Result, *, custodian: bool = False, telling: Telling | None = None
) -> dict[str, Any]:
    """Every measure as it is told, in the one shape that the JSON of every result begins with.

    What is not told is null; what is told by its two ends alone has them, and no value.
    """
    telling = telling or telling_of(result, custodian=custodian)
    found, sure, worded = {}, result._intervals(telling), result._as_told(telling)
    for name, m in worded.measures.items():
        if telling.custodian or m.told != "withheld":
            ends = telling.ends(m) if m.interval is not None else sure.get(name)
            key, words = telling.named(name, m)
            found[key] = {
                **telling.number(m),
                "interval": None if ends is None else list(ends),
                "per_person": m.per_person,
                "words": words if m.words else "",
            }
    of, own, said = result.asked_of, telling.custodian, result.remarks_told()
    drawn = {name: off for name, off in result._off_told(exactly=own).items()
             if found.get(name, {}).get("at_least") is not None}  # fmt: skip
    asked, question, made = worded.asked, worded.question, result.made_from
    more = result._on()
    if asked is not None and asked != str(question):
        more["asked"] = telling.rounded(asked)
    if own:
        more |= result._known() | ({} if of is None else {"records": of.content})
    else:
        hidden = [name for name, (mark, _) in MARKS.items() if mark in made]
        more |= {"not_told": hidden} if hidden else {}
    return {
        "result": result.kind,
        "about": result.about,
        "question": None if question is None else telling.rounded(str(question)),
        "custodians_own_copy": own,
        "table": of.fingerprint if own and of is not None else None,
        "measures": found,
        **({"drawn": drawn} if drawn else {}),
        "remarks": [r for r in map(telling.noted, result.remarks() if own else said) if r],
        "provenance": made_from(result, telling),
        "not_looked_at": not_looked_at(result, telling),
        **({} if own else {"not_promised": ONE_TABLE}),
        **more,
    }


def made_from(result: Result, telling: Telling) -> dict[str, Any]:
    """What the numbers were made from; outwards without digests of the table and of persons.

    Who has all records but one could try candidates for the last until a digest agrees.
    """
    found, table = result._as_told(telling).made_from, result.table
    if found.get("population") is not None and table is not None:
        found["population"] = result._population_told(telling, found["population"])
    if not telling.custodian:
        found = {name: value for name, value in found.items() if name not in OF_PERSONS}
        told = {"people", "suppressed", "cells_emptied", "individuals"} & {*found}
        found |= {n: telling.count(int(found[n])) for n in told if found[n] is not None}
    return found


@typed
def write_report(
    result: Result, path: str | Path, *, custodian: bool = False, **options: Any
) -> Path:
    """Write the report; the name's ending says as what: .html, .md or .json.

    `result` is written to the file `path`.  `custodian`: exact counts and values, for a copy that
    stays in the house.  `ledger`: a file that knows what was released; of a table fewer than ten
    people apart from one in it, the numbers of that one are printed again.  Further `options` are
    those of the result's own page.
    """
    return write_as(ending(path, REPORTS), result, path, custodian=custodian, **options)


def write_as(kind: str, result: Result, path: str | Path, **options: Any) -> Path:
    """Write the report as ".html", ".md" or ".json", whatever the file is called."""
    ledger, command = options.pop("ledger", None), options.pop("command", None)
    seal = seal_of(result, command, custodian=bool(options.get("custodian")))
    if ledger is not None and options.get("custodian"):
        raise UsageError("the custodian's own copy does not leave: it is written without a ledger")
    if ledger is not None:
        from reidbn.report.ledgered import released

        result.refuse_what_is_wrong()
        text = released(
            ledger,
            kind,
            result,
            options,
            telling_of(result),
            lambda: _every_text(result, options, seal),
        )
    else:
        text = sealed(_text(kind, result, options), seal)
    written = write_text(text, path, of_people=bool(options.get("custodian")))
    result.refuse_what_is_wrong()
    return written


SHEET_ALONE = ("options", "every", "generalisations", "context", "title")


def _text(kind: str, result: Result, options: dict[str, Any]) -> str:
    if kind == ".json":
        return json.dumps(result._numbers(**options), indent=1, default=float) + "\n"
    sheet = result._sheet(**options)
    return html(sheet) if kind == ".html" else markdown(sheet)


def context_of(context: Mapping[str, str] | None) -> dict[str, str]:
    """What is stated of who receives the data, each by name and as text."""
    for name, text in (context or {}).items():
        if not isinstance(text, str):
            raise UsageError(f"context: {name} is {described(text)}; it takes text")
    return dict(context or {})


def seal_of(result: Result, command: list[str] | None, *, custodian: bool) -> dict[str, Any]:
    """What a seal keeps; of the table nothing, but in the custodian's own copy."""
    import reidbn

    hidden = () if custodian else (*OF_PERSONS, *OF_THE_TABLE, "individuals")
    about = {k: v for k, v in result.made_from.items()
             if k not in hidden and not isinstance(v, dict | list)}  # fmt: skip
    found = {"result": result.kind, "about": result.about, "reidbn": reidbn.__version__, **about}
    found = {k: v if isinstance(v, int | float) else str(v) for k, v in found.items()
             if v is not None}  # fmt: skip
    return found if command is None else found | {"command": command}


def _every_text(result: Result, options: dict[str, Any], seal: dict[str, Any]) -> Texts:
    """The report in all its forms, how it stands, and what is said of classes and of people."""
    from reidbn.report.ledgered import digest

    sheet = result._sheet(**options)
    own = {name: value for name, value in options.items() if name not in SHEET_ALONE}
    texts = {".html": html(sheet), ".md": markdown(sheet), ".json": _text(".json", result, own)}
    done = {kind: sealed(text, seal) for kind, text in texts.items()}
    standing = {SAFE: 2, PLAIN: 1}.get(sheet.colour, 0)
    tells = digest([html(unstated(sheet)), texts[".json"]])
    return done, standing, sheet.of_classes, tells


@typed
def write_plot(result: Result, path: str | Path, *, custodian: bool = False) -> Figure:
    """Draw the `result`'s first picture to the .svg, .png or .pdf file `path`.

    It is rounded as its report is; with `custodian` it is exact, for a copy that stays here.
    """
    ending(path, KINDS)
    telling = telling_of(result, custodian=custodian)
    drawn = next(_figures(result, telling), None)
    if drawn is None and telling.kept_back:
        said = f"{telling.kept_back}; {_NO_PICTURE}"
        raise UsageError(said.format("custodian=True"), in_shell=said.format("--custodian"))
    if drawn is None:
        raise UsageError(f"this {result.kind} has no picture")
    return save(drawn, path, of_people=custodian)


_NO_PICTURE = (
    "of so few people no mean of such risks leaves the house either, so that there is nothing to "
    "draw: the custodian's own copy has a picture ({}), and so has the worst case, where all is "
    "known for sure and nothing is given"
)


def _figures(result: Result, telling: Telling) -> Iterator[Figure]:
    for section in result._as_told(telling)._sections(telling):
        for shown in section.shown:
            if not isinstance(shown.figure, str):
                yield shown.figure


def ending(path: str | Path, kinds: Sequence[str]) -> str:
    """The ending of a file's name, which must be one of these."""
    if not isinstance(path, str | PathLike):
        raise UsageError("path is the path of a file")
    found = kind_of(path)
    if found not in kinds:
        raise UsageError(f"{Path(path).name}: end the name in {', '.join(kinds)}")
    return found


Extent = float | Sequence[float] | None


def bars(
    labels: Sequence[str], values: Sequence[Extent], texts: Sequence[str], axis: str, title: str
) -> Figure:
    """Horizontal bars with their numbers as they are told; None has no bar.

    What is told between two ends is full up to the first and pale up to the second.
    """
    from matplotlib.ticker import MaxNLocator

    figure, (axes,) = blank(WIDE, 1.0 + 0.34 * len(labels))
    rows = range(len(labels))
    ends = [tuple(v) if isinstance(v, Sequence) else (v or 0.0,) * 2 for v in values]
    low, high = ([end[i] for end in ends] for i in (0, 1))
    wide = [b - a for a, b in ends]
    axes.barh(rows, low, color=BLUE, height=0.7)
    drawn = axes.barh(rows, wide, left=low, color=PALE, height=0.7)
    axes.bar_label(drawn, list(texts), padding=3, fontsize=8)
    axes.set_yticks(rows, labels)
    axes.invert_yaxis()
    longest = [0.065 * max(map(len, said), default=0) for said in (labels, texts)]  # inches
    room = longest[1] / max(WIDE - longest[0], 2.0)
    axes.set_xlim(0, max(high, default=0.0) / (0.95 - room) or 1.0)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,g}")
    axes.set_xlabel(axis)
    titled(axes, title)
    if any(wide):
        said_below(axes, "Pale: from the least to the most that it can be, as it is told.")
    return figure
