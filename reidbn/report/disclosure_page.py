"""One page about what the neighbours' records give away: verdict, figures, numbers, limits.

The page is one file without any outside part, names no value that fewer than ten people have, and
is the same bytes for the same table and question.  Everything on it answers one question, or says
in its heading which other one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import reidbn
from reidbn.attacks.secrets.ask import DisclosureAll
from reidbn.attacks.secrets.asked import NOTHING_KNOWN, has_secret
from reidbn.attacks.secrets.counts import Reading
from reidbn.attacks.secrets.generalise import Generalisation
from reidbn.attacks.secrets.result import Disclosure
from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.microdata.classes import Floats
from reidbn.release.counts import APART, BASE, down, told
from reidbn.release.writing import write_text
from reidbn.report import disclosure_figures as figures
from reidbn.report.page import (
    PLAIN,
    SAFE,
    Section,
    Sheet,
    Shown,
    first_screen,
    html,
    in_numbers,
    left_aside,
    told_how,
)
from reidbn.report.telling import FEWEST, Telling
from reidbn.written import agree, counted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

UNSAFE = figures.DISCLOSED


@typed
def disclosure_page(
    d: Disclosure,
    path: str | Path | None = None,
    *,
    every: DisclosureAll | None = None,
    generalisations: Sequence[tuple[Generalisation, Generalisation | None]] = (),
    own_copy: bool = False,
) -> str:
    """The page as text, also written to `path`; `d.report(path)` is the shorter way.

    `every` adds all columns as the secret in turn, `generalisations` what was tried (the paper's
    search in the custodian's own copy); `own_copy` keeps exact numbers, for the custodian alone.
    """
    made = sheet(d, every=every, generalisations=generalisations, custodian=own_copy)
    text = html(made)
    if path is not None:
        write_text(text, path, of_people=own_copy)
    return text


@typed
def sheet(
    d: Disclosure,
    *,
    every: DisclosureAll | None = None,
    generalisations: Sequence[tuple[Generalisation, Generalisation | None]] = (),
    custodian: bool = False,
    title: str = "",
) -> Sheet:
    """The sheet of a disclosure.

    `every` adds the map of all variables as secrets, `generalisations` a part for each variable
    that was made coarse (the best, and the paper's search or None).  A part that answers another
    question than `d` says so in its heading.  Counts of people are rounded to tens and shares come
    from the rounded counts, so that one person more or less is not seen; `custodian` is the exact
    page, for the custodian's eyes.
    """
    said = Telling(custodian=custodian)
    if not custodian and len(d) < 2 * BASE:
        raise UsageError(
            f"a page about {counted(len(d), 'person')} that leaves the house needs {2 * BASE} or "
            f"more; the custodian's own copy is custodian=True"
        )
    parts = [_measures(d, said), _values(d, said), _spread(d, said)]
    if len(d.known) > 1:
        parts += [_left_out(d, said), _subsets(d, said)]
    if d.chances is not None:
        parts.append(_scenario(d, d.chances, said))
    if every is not None:
        parts.append(_every(d, every, said))
    parts += [_generalised(d, best, paper, said) for best, paper in generalisations]
    parts += [
        left_aside(d, said),
        Section("What these numbers stand on", bullets=_origin(d, said),
                folded=[("What they say and what they do not", _limits(d, said)), told_how(said)]),
    ]  # fmt: skip
    return Sheet(
        title=title or f"What the neighbours' records give away about {d.secret}",
        colour=_colour(d, said),
        verdict=[*_found(d, said), *_of_whom(d, said)],
        answers=first_screen(d, [("To whom?", [_whoever(d)])], said),
        sections=parts,
    )


def _colour(d: Disclosure, said: Telling) -> str:
    """Outwards no colour says whether there is one person among under ten."""
    broken = int((~d.upward()).sum())
    if said.custodian:
        return UNSAFE if broken else SAFE
    return PLAIN if told(broken).is_few else UNSAFE


def sections(d: Disclosure, telling: Telling) -> list[Section]:
    """The picture of a disclosure: people by how certain an attacker can be."""
    return [_spread(d, telling)]


def verdict(d: Disclosure, said: Telling | None = None) -> list[str]:
    """What was found, in plain sentences; exact numbers unless `said` rounds them."""
    said = said or Telling(custodian=True)
    return [*_found(d, said), *_guessed(d, said), *_of_whom(d, said)]


def _whoever(d: Disclosure) -> str:
    """The attacker."""
    known = d.known[0] if len(d.known) == 1 else f"some or all of {', '.join(d.known)}"
    return f"Whoever knows that the person is in the table, and {known}."


def _found(d: Disclosure, said: Telling) -> list[str]:
    """Of how many people the secret is known, or stays uncertain."""
    if d.status == "constant":
        return [f"Everybody in the table has the same {d.secret}: it is known of all of them."]
    sure, others = int(d.sure.sum()), int(d.sure_without_own.sum())
    up = said.rest(int((~d.upward()).sum()), len(d))
    known = "the auxiliary" if len(d.known) == 1 else f"the {len(d.known)} auxiliaries"
    return [
        f"{said.of(up, len(d))} {'keeps' if up == 1 else 'keep'} their {d.secret} uncertain (PPP "
        f"above {d.p:g}) whatever an attacker knows of {known}.",
        f"Somebody who knows all of them is sure about {said.of(sure, len(d))}"
        + (
            f": {others:,} because the others alike all have it, too, the rest because they are "
            "alone and their own record says it."
            if said.custodian
            else ", because the others alike all have it, too, or because they are alone and "
            "their own record says it."
        ),
        *_commonest(d, said),
    ]


def _guessed(d: Disclosure, said: Telling) -> list[str]:
    """How often guesses are right."""
    if d.status == "constant":
        return []
    drawn = d.measures["mean_ppp_full"]
    if not said.custodian and said.bounds(drawn) is None:
        return [
            f"How often guesses are right is a mean over people, and no mean of fewer than "
            f"{FEWEST} people is told: what is told is of how many {d.secret} is sure, and how "
            "many have which PPP."
        ]
    if not said.custodian:
        before = said.measure_in_words(d.measures["best_guess_prior"])
        return [
            f"A guess drawn from the people alike is wrong with probability "
            f"{said.measure_in_words(drawn)} (the mean PPP) when all auxiliaries are known. The "
            f"best guess, the commonest value among them, is right at least as often as a drawn "
            f"one; with nothing known the commonest value of all is right with {before}."
        ]
    prior, best = (said.mean_in_short(each) for each in guesses(d))
    sentences = [
        f"The best guess, the commonest value among the people alike, is right{_whom(d)} with "
        f"probability {best} when all auxiliaries are known, and {prior} when nothing is; a guess "
        f"drawn from the people alike with {said.mean_in_short(1 - d.ppp_full)} (one minus the "
        "mean PPP).",
    ]
    if not d.several and d.source.near(d.column) is None:
        sentences.append(
            "From the others' records alone, without the person's own, the best guess is right "
            f"with probability {said.mean_in_short(d.best_guess_without_own)}."
        )
    return sentences


def _of_whom(d: Disclosure, said: Telling) -> list[str]:
    """What follows for the others, where not everybody was asked about."""
    sentences: list[str] = []
    if d.status == "constant":
        return sentences
    if d.drawn_from is not None and d.weights is None:
        low, high = d.interval("upward")
        share = f"lies between {100 * low:.3g} % and {100 * high:.3g} % (at 95 %)"
        sentences.append(
            f"These are {said.counted(len(d))} of {said.counted(d.drawn_from)} people drawn at "
            "random; "
            + (
                f"among all of those the protected share {share}."
                if said.custodian
                else "in what interval the share of all of those lies is told to the custodian."
            )
        )
    elif d.rows is not None:
        sentences.append(
            f"{said.verb(len(d), 'This', 'These')} {said.counted(len(d))} "
            f"{said.verb(len(d), 'person was', 'people were')} chosen, so nothing follows for the "
            "others in the table."
        )
    return sentences


def guesses(d: Disclosure) -> tuple[Any, Any]:
    """How often the best guess is right with nothing known and with all, of each individual.

    Of people who were chosen, about themselves: their peers are not like them.
    """
    if d.chosen and d.source.near(d.column) is None:
        return d.right_about(()), d.right_about()
    return np.full(len(d), d.best_guess_prior), d.best_guess


def _whom(d: Disclosure) -> str:
    if not d.chosen:
        return ""
    return " about them" if d.source.near(d.column) is None else " about the people alike"


def _commonest(d: Disclosure, said: Telling) -> list[str]:
    """What being sure is worth, where most of those who are given away have the commonest value."""
    table, base = figures.by_value(d, said), d.source.baseline(d.column)  # of the whole table
    ranks = [said.rank(round(share * len(d))) for share in base] if not said.custodian else -base
    commonest = d.value_labels[int(np.argmin(ranks))]
    if commonest not in table.index:
        return []
    first = table.loc[commonest]
    sure, prior = int(first["sure"]), float(first["prior"])
    few, everybody = (
        (sure, table["sure"].sum())
        if said.custodian
        else map(down, (sure, int(table["sure"].sum())))
    )
    if not few or 2 * few < everybody:  # by what is told: its being said tells, too
        return []
    return [
        f"Of these, {said.counted(sure)} {said.verb(sure, 'has', 'have')} the commonest value of "
        f"{d.secret}, which {_share_of(prior, d, said)} of the table have anyway"
        + (
            f": being sure of it is {1 / prior:.3g} times what was believed before."
            if said.custodian
            else "."
        )
    ]


def _measures(d: Disclosure, telling: Telling) -> Section:
    """The result's measures; beside them the page says what the two families of them are."""
    text = [
        *_guessed(d, telling),
        "PPP is the share of a person's peers (the people alike on what is known) who have another "
        f"{d.secret}: how often a guess drawn from the peers would be wrong. An attacker who "
        "always guesses the commonest value does better: the best guess."
        + (" PoAC is the share of false values that stay plausible." if telling.custodian else ""),
    ]
    return replace(in_numbers(d, telling), text=text)


MOST_VALUES = 12
MOST_OWN = 40  # values in the custodian's own copy and on the terminal: the rare ones matter most


_BY_VALUE = {"sure": "sure", "sure_without_own": "by others' records", "upward": "protected"}


def _values(d: Disclosure, said: Telling) -> Section:
    table = figures.by_value(d, said)
    named = table[table["people"] >= (1 if said.custodian else BASE)]
    named = named[: MOST_OWN if said.custodian else MOST_VALUES]
    counts = [int(n) for n in named["people"]]
    cumulative = said.in_chain(counts)
    rows = [
        [
            str(value),
            said.counted(here),
            _share_of(float(row["prior"]), d, said)
            if said.custodian or d.weights is not None or d.rows is not None
            else said.share(here, len(d)),
            *(_of_value(row) if said.custodian else ()),
        ]
        for (value, row), here in zip(named.iterrows(), cumulative, strict=True)
    ]
    # Beside their totals, counts by value would give small ones back; means would tell of few.
    own = (*_BY_VALUE.values(), "mean posterior", "lift") if said.custodian else ()
    heads = [d.secret, "people", "share of the table", *own]
    meaning = (
        "Sure: all their peers share the value, all auxiliaries known. Protected: PPP above "
        f"{d.p:g} whatever is known. The posterior is the value's share among the peers of the "
        "people who have it; lift is posterior / share of the table, so 1 says that nothing was "
        "learnt."
    )
    text = [meaning] if said.custodian else []
    # Outwards, that values are left out for few people would tell that there are some.
    left = len(table) if said.custodian else int((table["people"] >= BASE).sum())
    if len(named) < left:
        text.append(_rarer(left - len(named), said))
    return Section(
        "By value", text, shown=[Shown(f"What is known, by value of {d.secret}", heads, rows)]
    )


def _of_value(row: Any) -> list[str]:
    counts = [f"{int(row[name]):,}" for name in _BY_VALUE]
    return [*counts, f"{row['posterior']:.4f}", f"{row['lift']:.3g}"]


def _banded(
    caption: str, rows: Mapping[str, Any], p: float, first: str, said: Telling, drawn: Figure | None
) -> Shown:
    """People in each band of PPP, and its mean; outwards their number, for a share has two ends."""
    import pandas as pd

    counts = [np.bincount(figures.band_of(ppp, p), minlength=6) for ppp in rows.values()]
    names, of = figures.band_names(p), pd.Index(list(rows))
    table = pd.DataFrame([said.portions(row) for row in counts], columns=names, index=of)
    if drawn is None:
        drawn = figures.draw_shares(table, p, caption)
    if not said.custodian:
        told = [[said.counted(n) for n in said.in_chain(row.tolist())] for row in counts]
        table, first = pd.DataFrame(told, columns=names, index=of), f"people by {first}"
    levels = figures.edges(p)[:-1].tolist()
    table["mean PPP"] = [_mean(ppp, said, levels) for ppp in rows.values()]
    return _drawn(caption, drawn, table, first, said)


def _spread(d: Disclosure, said: Telling) -> Section:
    rows = {"all known": d.ppp_full, "least over subsets": d.ppp_min}
    if d.chances is not None and said.custodian:
        rows["expected in the scenario"] = d.expected_ppp
    shown = _banded(f"People by PPP of {d.secret}", rows, d.p, "knowledge", said, None)
    return Section("How certain an attacker can be", shown=[shown])


def _left_out(d: Disclosure, said: Telling) -> Section:
    import pandas as pd

    shown, poac = [], {}
    readings: list[tuple[Reading, str]] = [
        ("full", "all others known"), ("weakest", "least over subsets")
    ]  # fmt: skip
    for reading, words in readings:
        rows = figures.left_out_rows(d, reading)
        picture = figures.leave_one_out_map(d, reading=reading) if said.custodian else None
        caption = f"PPP of {d.secret} with one auxiliary unknown, {words}"
        shown.append(_banded(caption, rows, d.p, "left out", said, picture))
        if said.custodian and d.status != "constant":
            found = d.leave_one_out_poac(reading)
            poac[words] = [_mean(values, said) for values in (found.level, *found.poac)]
    shown, more = shown[:1], shown[1:]
    if poac:
        names = ["nothing left out", *(f"without {name}" for name in d.known)]
        table = pd.DataFrame(poac, index=pd.Index(names))
        more.append(
            Shown(f"Mean PoAC at q = {d.q:g} with one auxiliary unknown",
                  ["left out", *table.columns], _cells(table, said))
        )  # fmt: skip
    return Section(
        "Which auxiliary matters", ["What people keep if one value stays unknown."], shown=shown,
        details=more,
    )  # fmt: skip


def _subsets(d: Disclosure, said: Telling) -> Section:
    table = figures.worst_subsets(d, told=said)
    counts = table["broken"].tolist()
    table["share"] = [said.portion(count, len(d)) for count in counts]
    shares = [said.share(count, len(d)) for count in counts]
    picture = figures.worst_subsets_bars(d, table=table, told=shares)
    table.insert(0, "known", [figures.subset_in_words(s, d.known) for s in table["subset"]])
    table["broken"] = [said.counted(count) for count in counts]
    table["share"] = table["share"] if said.custodian else shares
    table = table.drop(columns="subset").set_index("known")
    caption = "The subset that breaks most people, for each number of auxiliaries known"
    return Section(
        "Which knowledge breaks most people",
        [f"Broken means PPP at or below {d.p:g} when exactly these values are known."],
        shown=[_drawn(caption, picture, table, "known", said)],
    )


def _scenario(d: Disclosure, chances: Floats, said: Telling) -> Section:
    breach = d.breach_probability
    few = not said.custodian and len(d) < APART
    text = [
        f"No mean of fewer than {APART} people is told, and of chances no more than a mean."
        if few
        else "In the scenario a guess drawn from the people alike is wrong with probability "
        f"{said.mean_in_short(d.expected_ppp, rest=True)} on average, and the chance that "
        f"somebody's {d.secret} is broken (PPP at or below {d.p:g}) is "
        f"{said.mean_in_words(breach)}.",
    ]
    if NOTHING_KNOWN not in d.question.blurred and float(np.max(chances[:, 0])) > 0:
        text.append(
            "Whoever knows nothing counts here, with the chance of that, and not where privacy is "
            f"to hold whatever is known: where so many have the same {d.secret} that a guess is "
            "good without knowing anything, a breach has a chance and nothing known gives it away."
        )
    cuts = [0.0, 0.05, 0.09, 0.2, 0.33, 0.5]
    rows = [[f"above {cut:g}", said.counted(said.above(breach, cut))] for cut in cuts]
    shown = Shown("People by their probability of a breach", ["probability", "people"], rows)
    # Means over what may be known follow from no class: counts above levels would tell of these.
    return Section("In the scenario", text, shown=[shown] if said.custodian else [])


def _every(d: Disclosure, every: DisclosureAll, said: Telling) -> Section:
    rows = figures.map_rows(every)
    same = d.secret in every and every[d.secret].question == d.question
    p = d.p
    caption = "Least PPP of each variable as the secret"
    picture = figures.heat_map(every, p=p) if said.custodian else None
    named = {*d.known, d.secret}
    all_in_turn = set(every) >= {name for name in named if has_secret(d.table, name).any()}
    title = "Every variable as the secret" if all_in_turn else "The secrets asked about"
    if same:
        text = [
            "The same columns, known in the same way, each in turn as the secret and the others "
            f"(with {d.secret} among them) as auxiliaries; the row of {d.secret} is this page's."
        ]
    else:
        one = every[d.secret] if d.secret in every else next(iter(every.values()))
        title += f" - another question: {said.rounded(str(one.question))}"
        text = [_otherwise(d, said)]
    if not all_in_turn and len(every) > 1:
        text.append(
            "A limit on the share of people without upward privacy (--fail-above-share) judges the "
            "highest of these secrets' own shares and of the share that lose any of them."
        )
    elif not set(every) >= named:
        text.append('A column that tells nobody\'s value (at its last level, "*") is no secret.')
    if {len(x) for x in every.values()} != {len(d)}:
        text.append("Secrets that some people lack are counted among the others.")
    return Section(title, text, shown=[_banded(caption, rows, p, "secret", said, picture)])


def _otherwise(d: Disclosure, said: Telling) -> str:
    return (
        f"Counted otherwise than the rest of this page, which has {said.rounded(str(d.question))}."
    )


_FEW_IN_ONE = "No categories of {} with ten people or more each were tried."


def _generalised(
    d: Disclosure, best: Generalisation, paper: Generalisation | None, said: Telling
) -> Section:
    import pandas as pd

    if not said.custodian:  # which widths there are tells the range, and few are in a category
        best = replace(best, table=best.table[best.table["smallest"] >= BASE])
        paper = None
        if best.table.empty:
            return Section(f"If {best.column} were coarser", text=[_FEW_IN_ONE.format(best.column)])
    best = replace(best, table=_protected(best.table, d, said))
    table = best.table.set_index("categories")[["protected", "share", "smallest"]]
    share = "share" if said.custodian else "share, at least"
    table.columns = pd.Index(["protected", share, "people in the smallest category"])
    title = f"If {best.column} were coarser"
    text = [f"The best contiguous categories of {best.column}, for each number of categories."]
    if best.question == d.question:
        text.append(f"As it is, {_protected_share(d.share_upward(), d, said)} are protected.")
    else:
        title += f" - another question: {said.rounded(str(best.question))}"
        text.append(_otherwise(d, said))
    if paper is not None:
        own = paper.table.set_index("categories")[["share", "worst"]]
        own.columns = pd.Index(["equal width, best", "equal width, worst"])
        table = table.join(own)
    return Section(
        title,
        text,
        shown=[_drawn(f"Share protected by categories of {best.column}",
                figures.generalisation_curve(best, paper), table, "categories", said)],
    )  # fmt: skip


def _limits(d: Disclosure, said: Telling) -> list[str]:
    return [
        *_who(d),
        "Values count as different when they are written differently, numbers too, unless a "
        "range or a tolerance was given.",
        "A class of one is counted as certainty. A smoothed posterior may be a better forecast.",
        "PPP is about a guess drawn from the people alike; the best guess is right more often.",
        "Nothing here says whether anybody can be singled out in the population.",
        *(f"{note}." for note in said.notes(d.notes)),
        *([] if said.custodian else [f"Values that fewer than {BASE} people have are not named."]),
    ]


def _who(d: Disclosure) -> list[str]:
    """What was taken to be one person."""
    if d.several:
        return [
            f"Persons have several records and several values of {d.secret}: what counts is the "
            "value of theirs that most of their peers have, too."
        ]
    if d.table.history is not None or d.table.subject_ids is not None:
        return []
    return ["A row is taken to be a person; several rows of one person count as several people."]


def _origin(d: Disclosure, said: Telling) -> list[str]:
    return [
        f"reidbn {reidbn.__version__}; measures of Kroes et al. 2021, counted exactly over all "
        f"{2 ** len(d.known) - 1:,} non-empty subsets of {len(d.known)} auxiliaries"
        f"{'' if d.q else '; q = 0'}.",
        f"Table: {said.counted(len(d.table))} people"
        + (f", SHA-256 {d.table.fingerprint}." if said.custodian else "."),
    ]


def _mean(values: Any, said: Telling, up_to: Sequence[float] = ()) -> str:
    """Of PPP or PoAC, which are the better the higher."""
    if said.custodian:
        return f"{float(np.mean(values)):.4f}"
    return said.mean_in_short(values, rest=True, up_to=up_to)


def _share_of(share: float, d: Disclosure, said: Telling) -> str:
    """A share that may be one of weights."""
    if said.custodian:
        return f"{100 * share:.3g} %"
    return said.share(round(share * len(d)), len(d))


def _protected_share(share: float, d: Disclosure, said: Telling) -> str:
    """The same of those who are protected: by the others."""
    if said.custodian:
        return _share_of(share, d, said)
    return said.share(said.rest(round((1 - share) * len(d)), len(d)), len(d), rest=True)


def _rarer(values: int, said: Telling) -> str:
    if said.custodian:
        return f"{counted(values, 'rarer value')} {agree(values, 'is', 'are')} not shown."
    return f"Rarer values are not shown; those of fewer than {BASE} people never are."


def _protected(table: pd.DataFrame, d: Disclosure, said: Telling) -> pd.DataFrame:
    """The table of a generalisation, as it is told."""
    if said.custodian:
        return table
    found = table.copy()
    everybody = len(d)
    found["protected"] = [said.counted(said.rest(everybody - int(x), everybody))
                          for x in table["protected"]]  # fmt: skip
    found["share"] = [1 - said.portion(min(everybody, (1 - x) * everybody + BASE), everybody)
                      for x in table["share"]]  # fmt: skip
    found["smallest"] = [said.counted(int(x)) for x in table["smallest"]]
    return found


def _drawn(caption: str, figure: Figure, table: pd.DataFrame, first: str, said: Telling) -> Shown:
    heads = [first, *(str(column) for column in table.columns)]
    return Shown(caption, heads, _cells(table, said), figure)


def _cells(table: pd.DataFrame, said: Telling) -> list[list[str]]:
    return [
        [str(name), *(_cell(value, said) for value in row)]
        for name, row in zip(table.index, table.itertuples(index=False), strict=True)
    ]


def _cell(value: Any, said: Telling) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.{4 if said.custodian else 3}f}"
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
