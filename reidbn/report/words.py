"""Numbers in words: about 1 in N, percentages, one plain sentence.

An answer in plain words: the chance, what it is given, and the assumptions that it stands on.

The picture of class sizes: how many people share their row with how many.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.above import is_above
from reidbn.attack.assumptions import assumptions_behind, behind
from reidbn.errors import EngineError
from reidbn.inference.answer import Answer, Expectation
from reidbn.inference.cut import SHOWN, in_words
from reidbn.inference.network import MASS
from reidbn.inference.worst import tied_in_words
from reidbn.microdata.classes import bands_of_sizes
from reidbn.microdata.table import Columns, People
from reidbn.report.style import WIDE, blank, titled
from reidbn.written import counted, tiny

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def outward(low: float, high: float) -> tuple[float, float]:
    """Two ends in two digits, between which everything lies that lay between them.

    >>> outward(0.0366, 0.167), outward(0.29, 0.65)
    ((0.036, 0.17), (0.29, 0.65))
    """
    down, up = (Context(prec=2, rounding=how) for how in (ROUND_FLOOR, ROUND_CEILING))
    return float(down.create_decimal(repr(float(low)))), float(up.create_decimal(repr(float(high))))


def about(low: float, high: float) -> str:
    """Two ends far apart, to two digits; the exact ends stand in the JSON.

    >>> about(0.0998, 0.15), about(0.0, 0.05)
    ('about 0.099 to 0.15', 'at most 0.05')
    """
    down, up = outward(low, high)
    return f"about {down:g} to {up:g}" if low else f"at most {up:g}"


def one_in(p: float) -> str:
    """A probability beside its everyday form; numbers.js says the same, rounded by the same sums.

    >>> one_in(0.0021), one_in(0.75), one_in(0)
    ('0.0021 (about 1 in 480)', '0.75 (about 3 in 4)', '0')
    >>> one_in(1e-300), one_in(1 - 1e-12)
    ('below 1e-12 (less than 1 in 1,000,000,000,000)', 'over 0.999')
    """
    if not -MASS <= p <= 1 + MASS:  # also catches NaN; what is no probability is never "certain"
        raise EngineError(f"{p:.9g} was to be shown as a probability, and is none")
    if p <= 0:
        return "0"
    if p > 1 - 4e-15:  # what only rounding keeps from it
        return "1 (certain)"
    shown = tiny(p, ".3g" if p >= 1e-4 else ".2g")
    if p < 1e-12:
        return f"{shown} (less than 1 in 1,000,000,000,000)"
    if p < 0.5:
        return f"{shown} (about 1 in {_round(1 / p)})"
    of = min(range(2, 21), key=lambda n: abs(round(p * n) / n - p))
    if round(p * of) < of:
        return f"{shown} (about {round(p * of)} in {of})"
    return "over 0.999" if shown == "1" else shown


def _round(n: float) -> str:
    if n < 10:
        return f"{floor(n * 10 + 0.5) / 10:g}"
    unit = 10 ** (len(str(int(n))) - 2)
    return f"{floor(n / unit + 0.5) * unit:,}"


def people(count: int, total: int) -> str:
    """A count of people with its share.

    >>> people(12, 480)
    '12 of 480 people (2.5 %)'
    >>> people(480, 480), people(479, 480)
    ('480 of 480 people (100 %)', '479 of 480 people (over 99 %)')
    """
    return f"{count:,} of {counted(total, 'person')} ({_share(count, total)} %)"


def _share(count: int, total: int) -> str:
    """Two figures; never 0 or 100 % where some are in or out."""
    share = 100 * count / total
    if 99 < share < 100:
        return "over 99"
    return f"{share:.0f}" if share >= 10 or not count else f"{share:.2g}"


def per_cent(share: float) -> str:
    """A share as a percentage.

    >>> per_cent(0.12345)
    '12.3 %'
    """
    return f"{100 * share:.3g} %"


# -- an answer in plain words ----------------------------------------------------------------------


def sentence(answer: Answer | Expectation) -> str:
    """One plain sentence.

    >>> from reidbn.inference.answers import ask
    >>> sentence(ask("leak-single", "identified=yes", given={"in_leak": "yes"}))
    'identified=yes has probability 0.461 (about 1 in 2.2), given that in_leak=yes.'
    """
    query = answer.query
    what = " and ".join(query.asked)
    p = np.asarray(answer.probability)
    if isinstance(answer, Expectation):
        found = _mean_in_words(answer)
    elif query.is_distribution and p.ndim == 1:
        best = int(p.argmax())
        found = f"{what} is most probably {answer.states[best]}: {one_in(float(p[best]))}"
    elif query.is_distribution:
        found = f"{what} has {np.prod(p.shape[:-1]):,} distributions"
    elif p.size == 1:
        found = f"{what} has probability {one_in(float(answer))}"
    else:
        found = (
            f"{what} has a mean probability of {one_in(float(p.mean()))} over {p.size:,} answers, "
            f"the highest {one_in(float(p.max()))}"
        )
    conditions = [f"given that {', '.join(query.known)}"] if query.given else []
    conditions += [f"when {_listed(query.do)} is brought about"] if query.do else []
    conditions += [answer.of_policy] if answer.policy else []
    return f"{', '.join([found, *conditions])}."


def _mean_in_words(answer: Expectation) -> str:
    what, mean = answer.query.asked[0], np.asarray(answer.value)
    if mean.size == 1:
        return f"{what} is {float(answer):.4g} on average (standard deviation {answer.sd:.3g})"
    return (
        f"{what} is {mean.mean():.4g} on average over {mean.size:,} answers, the highest "
        f"{mean.max():.4g}"
    )


def used_assumptions(answer: Answer | Expectation) -> tuple[str, ...]:
    """Assumptions behind the answer; a number that was moved for it is one, whatever its source."""
    query, own = answer.query, answer.attack.settable
    about = answer.attack, [*query.targets, *query.given], query.do
    assumed, used = assumptions_behind(*about), behind(*about)
    yours = [n for n, v in answer.settings.items() if n in used and n not in assumed]
    return (*assumed, *(n for n in yours if _moved(answer.settings[n], own[n].value)))


def _moved(now: Any, own: float) -> bool:
    return bool((np.asarray(now) != own).any())


def remarks(answer: Answer | Expectation) -> list[str]:
    """What has to be said beside the sentence."""
    out = []
    if answer.query.given:
        p = np.asarray(answer.evidence_probability)
        shown = one_in(float(p)) if p.size == 1 else f"{p.min():.3g} to {p.max():.3g}"
        out.append(f"Probability of what is given: {shown}")
    if answer.settings:
        out.append(f"Set here: {_listed({k: f'{v:,.12g}' for k, v in answer.settings.items()})}")
    if answer.tied:
        is_highest, most = False, ""
        if answer.worst is not None:
            told = answer.value if isinstance(answer, Expectation) else answer.probability
            is_highest = not is_above(answer.worst, told).any()
            most = "" if is_highest else f"; the highest is {answer.worst.max():.6g}"
        out.append(f"{tied_in_words(answer.tied, is_highest=is_highest)}{most}")
    if answer.interval:
        low, high = answer.interval
        out.append(f"Sampled with {answer.draws:,} rows; 95 % interval {low:.4g} to {high:.4g}")
    if isinstance(answer, Answer):
        out += _by_counts(answer)
    cut = {name: share for name, share in answer.cut.items() if share >= SHOWN}
    out += [f"Cut off: {text}" for text in in_words(answer.attack, cut)]
    return [*out, _assumed(answer, used_assumptions(answer))]


def _by_counts(answer: Answer) -> list[str]:
    """The interval by what was counted, and of what it is; or why there is none."""
    share, given = answer.by_counts_share, " and ".join(answer.query.known)
    only = f"{given} can be at {per_cent(share)} of what the counts leave open"
    if answer.by_counts is None:
        return [] if share == 1 else [f"By what was counted: no 95 % interval, since {only}"]
    low, high = answer.by_counts
    of = "" if answer.worst is None else " of the highest answer"
    where = "" if share == 1 else f", of that alone: {only}"
    return [f"By what was counted: 95 % interval{of} {low:.4g} to {high:.4g}{where}"]


def _assumed(answer: Answer | Expectation, names: Iterable[str]) -> str:
    parameters, set_here = answer.attack.settable, answer.settings
    shown = []
    for n in names:
        own = parameters[n].value if n in parameters else 0.0
        yours = " (yours)" if n in set_here and _moved(set_here[n], own) else ""
        value = f"{n} = {set_here.get(n, own):,.12g}{yours}"
        shown.append(value if n in parameters else f"the numbers of {n}")
    return f"Assumptions used ({len(shown)}): {', '.join(shown)}" if shown else (
        "Assumptions used: none")  # fmt: skip


def _listed(pairs: object) -> str:
    return " and ".join(f"{name}={value}" for name, value in dict(pairs).items())  # type: ignore[call-overload]


# -- the picture of class sizes --------------------------------------------------------------------


def class_size_figure(people: People, columns: Columns = None) -> Figure:
    """People by the size of their class: a bar per band of sizes, the unique ones on the left."""
    names = people.names(columns)
    table = bands_of_sizes(people.class_sizes(names))
    figure, (axes,) = blank(WIDE, 3.2)
    shares = table["share"].to_numpy() * 100
    bars = axes.bar(np.arange(len(table)), shares, color="#4c78a8", width=0.85)
    bars[0].set_color("#e45756" if table["smallest"].iloc[0] == 1 else "#4c78a8")
    axes.bar_label(bars, [_percent(s) for s in shares], padding=2, fontsize=9)
    axes.set_xticks(np.arange(len(table)), [_band(row) for row in table.itertuples()])
    axes.set_xlabel("people alike" if people.is_partition else "people who match")
    axes.set_ylabel("% of people")
    axes.set_ylim(0, max(shares) * 1.15)
    titled(axes, _title(people, names, table))
    return figure


def _title(people: People, names: tuple[str, ...], table: Any) -> str:
    known = ", ".join(names) if len(names) <= 6 else f"{len(names)} attributes"
    alone = int(table["people"].iloc[0]) if table["smallest"].iloc[0] == 1 else 0
    return f"{counted(len(people), 'person')} on {known}: {alone:,} unique"


def _band(row: Any) -> str:
    return f"{row.smallest}" + (f"\u2013{row.largest}" if row.largest > row.smallest else "")


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{share:.1f}" if share >= 0.1 else "<0.1"
