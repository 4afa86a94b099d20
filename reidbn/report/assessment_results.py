"""The results of a report: the data, the risk by route, what moves it, tests and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.above import band_of
from reidbn.attack.scenariofile import told_name
from reidbn.attacks.routes.assessment import MATCH, OVERALL, THRESHOLDS, Assessment
from reidbn.attacks.routes.drivers import beside_routes, route_names
from reidbn.attacks.routes.truth import act_out, not_acted
from reidbn.calls import refuse_misfit
from reidbn.inference.compared import DISAGREES
from reidbn.microdata.hierarchy import ANY
from reidbn.release.counts import BASE, Tens, down
from reidbn.release.counts import told as told_ten
from reidbn.report import assessment_figures as figures
from reidbn.report.assessment_sure import sure_in_words
from reidbn.report.counting import NOT_TOLD, in_words
from reidbn.report.options import information_lost
from reidbn.report.page import Section, Shown, bars, telling_of, told_how
from reidbn.report.style import titled
from reidbn.report.summary import Summary, told_left_out, told_not
from reidbn.report.telling import Telling
from reidbn.report.thresholds import Rule, judge, risk_told, tells_changes, written_alike
from reidbn.report.unseen import holds_only_since
from reidbn.report.words import one_in, per_cent
from reidbn.written import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EDGES = (0.0, 0.01, 0.05, 0.09, 0.2, 0.33, 1.0)
BANDS = ("up to 0.01", "to 0.05", "to 0.09", "to 0.2", "to 0.33", "above 0.33")
SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 99), (100, None))
MOST_VALUES = 12
OTHERS = "all others"  # and not how many values: of rare ones each is nearly a person
MISSING = {
    "value": "a missing cell is a value of its own",
    "matches-anything": "a missing cell matches anything",
    "drop": "people with a missing cell were left out",
}


NOBODY = "nobody"
"""Where the verdict says so; everywhere else a count under 10 may be none."""


def data(result: Assessment, telling: Telling) -> Section:
    """What the table holds, without a single value of a person."""
    people = result.inputs.people
    population = result.inputs.population
    used = {c for g in result.groups.columns for c in g}
    rows = [
        [name, "quasi-identifier" if name in people.quasi_identifiers else "sensitive",
         _values(result, name, telling), _may_be_known(result, name, used)]
        for name in people.columns
    ]  # fmt: skip
    sizes = written_alike(people)
    names = [f"{low}" if low == high else f"{low} to {high}" if high else f"{low} or more"
             for low, high in SIZES]  # fmt: skip
    none = telling.classes[0].nobody if telling.classes else 0
    alike = [
        [n, NOBODY if high and high <= none else in_words(c)]
        for n, c, (_, high) in zip(names, alike_in_bands(sizes, telling), SIZES, strict=True)
    ]
    one = len(people) == 1 and telling.custodian
    who = f"{telling.counted(len(people))} {'person' if one else 'people'}"
    text = [f"{who}; {MISSING[people.missing]}."]
    if bare := [name for name in people.columns if _is_bare(result, name)]:
        text.append(
            f"Left away before this report (* for everybody, so that nothing is to be learnt from "
            f"them here): {', '.join(bare)}."
        )
    if gone := told_left_out(people, telling):
        text.append(f"Left out before this report, and counted nowhere in it: {gone}.")
    if population:
        text.append(_drawn(result, population, telling))
    coarse = [f"{c} at level {people.column(c).level} of its hierarchy" for c in people.columns
              if people.column(c).level]  # fmt: skip
    heads = ("column", "role", "values" if telling.custodian else f"values held by {BASE} or more",
             "may be known")  # fmt: skip
    return Section(
        "Data and rule",
        text=text,
        bullets=list(people.notes) if telling.custodian else coarse,
        details=[Shown("People by the number who are alike on every quasi-identifier",
                       ("people alike", "people"), alike),
                 Shown("Columns", heads, rows)],
    )  # fmt: skip


def _drawn(result: Assessment, population: float, telling: Telling) -> str:
    """Of how many people the table is a sample."""
    people, of = result.inputs.people, result._population_of
    told = telling.number_above(population, len(people), of=of)
    known = len(people.whole) if telling.custodian else down(len(people))
    if told is None or (told == known and not telling.custodian):
        return "The table is the population from which it was drawn, or nearly all of it."
    left = ", with those left out" if telling.custodian and people.before is not None else ""
    about = "" if telling.tells_exactly(population, len(people), of=of) else "about "
    return (
        f"Drawn{left} from a population of {about}{told:,.0f}: a sampling fraction of "
        f"{per_cent(known / told)}."
    )


def alike_in_bands(sizes: NDArray[np.int64], telling: Telling) -> list[int | list[int] | None]:
    """How many people have so many alike, band by band."""
    if telling.custodian:
        return [int(((sizes >= low) & (sizes <= (high or 1 << 62))).sum()) for low, high in SIZES]
    classes = telling.by_size(sizes)
    return telling.in_bands([classes.at(high or classes.end) for _, high in SIZES])


def _is_bare(result: Assessment, name: str) -> bool:
    """Whether a column is * for everybody, as one that was dropped is written."""
    return [str(label) for label in result.inputs.people.column(name).labels] == [ANY]


def _may_be_known(result: Assessment, name: str, used: set[str]) -> str:
    if _is_bare(result, name):
        return "no: * for everybody"
    return "yes" if name in used else "no"


def _values(result: Assessment, name: str, telling: Telling) -> str:
    """How many values a column has; outwards, values that enough people hold."""
    people = result.inputs.people
    if telling.custodian:
        return f"{people.cardinalities([name])[0]:,}"
    counts = np.bincount(people.codes([name])[:, 0])
    return f"{int((counts >= BASE).sum()):,}"


NO_WORST = "The worst case is not beside it"
NOT_WORST = f"{NO_WORST}: under this scenario a risk can be higher than where everything is known."
NOT_POSSIBLE = f"{NO_WORST}: what is given cannot happen for some people when everything is known."


def results(
    result: Assessment, worst: Assessment | str, summary: Summary, telling: Telling
) -> Section:
    """Distribution by route, counts above levels, worst case beside scenario, subgroups.

    Where there is no worst case, `worst` says why.
    """
    if telling.kept_back:
        return _in_its_place(worst, summary, telling)
    text = []
    parts = [_bands(result, telling)]
    if isinstance(worst, str):
        text.append(worst)
    elif worst is not result:
        parts.append(_heat_map(result, worst, telling))
        text.append(
            "The worst case, in which everything is known, is the initial risk; the scenario's is "
            "the residual one."
        )
    parts += [*_attributes(summary, telling), *_subgroups(result, telling)]
    if summary.untold:
        text.append(f"{summary.untold[:1].upper()}{summary.untold[1:]}.")
    return Section(
        "Risk",
        text=[*text, *_before_the_odds(result)],
        shown=[_by_route(summary, telling), curves(result, telling, summary.rule)],
        details=parts,
        folded=[told_how(telling)],
    )


def _before_the_odds(result: Assessment) -> list[str]:
    """Of routes whose row is of an event before the route's own: where the odds between are."""
    own = result.questions.get(OVERALL)
    routes = [] if own is None else route_names(result, OVERALL)
    asked = {name: result.questions[name] for name in routes if name in result.questions}
    before = [f"{name} {q.describe()}" for name, q in asked.items() if q.targets != (name,)]
    if own is None or not before:
        return []
    besides = beside_routes(result, OVERALL)
    too = f" It has {' and '.join(besides)} in it, too, and no route has." if besides else ""
    return [
        f"The rows of the routes are of the events before the odds that the attack gives each: "
        f"{', '.join(before)}. The overall risk, {own.describe()}, has these odds in it, as has "
        f"what reidbn explain says of a person's routes.{too}"
    ]


def _in_its_place(worst: Assessment | str, summary: Summary, telling: Telling) -> Section:
    """Under chances the means, and the worst case, which follows from the classes."""
    text = [f"{told_not(telling)}."]
    shown = [means_by_route(summary.result, telling)]
    text += [f"{summary.untold[:1].upper()}{summary.untold[1:]}."] if summary.untold else []
    if isinstance(worst, str):
        text.append(worst)
        return Section("Risk", text=text, shown=shown, folded=[told_how(telling)])
    risk, sure = worst.risk(), replace(telling.of_classes, enclosed=worst._enclosed())
    text.append(
        f"In the worst case, in which everything is known for sure, the mean overall risk is "
        f"{sure.mean_in_words(risk)}, {sure.all_but_a_few(risk)}."
    )
    if not sure.ladder(risk).is_kept_back:
        bands = _bands(worst, sure)
        figure = figures.risk_curves({"worst-case": risk}, (0.05, 0.09, 0.2, 0.33), sure)
        about = "Share of people above each overall risk when everything is known."
        shown.append(replace(bands, caption=f"{bands.caption}: the worst case", figure=figure,
                             about=about))  # fmt: skip
    return Section("Risk", text=text, shown=shown, folded=[told_how(telling)])


def means_by_route(result: Assessment, telling: Telling) -> Shown:
    """The mean of each measure between the ends that are told, and a bar where one is."""
    risks = {name.replace("_", " "): result.risk(name) for name in result.measures}
    ends = [telling.mean_ends(risk) for risk in risks.values()]
    said = [telling.mean_in_short(risk) for risk in risks.values()]
    asked = result.inputs
    title = f"{asked.attack.name} under {told_name(asked.scenario)}"
    figure = bars(list(risks), ends, said, "mean risk", title) if any(ends) else ""
    rows = [list(row) for row in zip(risks, said, strict=True)]
    about = "The mean risk of each route, between the ends that are told."
    return Shown("Risk by route", ("measure", "mean"), rows, figure, about)


def _by_route(summary: Summary, telling: Telling) -> Shown:
    """Mean, interval and quantiles of each measure."""
    sure, rows = sure_in_words(summary.result, telling), []
    for name in summary.measures:
        values = summary.result.risk(name)
        row = sure.get(name)
        rows.append([
            name.replace("_", " "), telling.mean_in_short(values),
            f"{row['low']} to {row['high']}" if row else "-",
            *(cell.partition(" (")[0] for cell in (  # not also as one in so many
                telling.quantile_in_words(values, 0.5), telling.quantile_in_words(values, 0.95),
                telling.highest_in_short(values))),
        ])  # fmt: skip
    heads = ("measure", "mean", "95 % interval of the mean", "median", "95 % are below",
             telling.highest_head)  # fmt: skip
    return Shown("Risk by route", heads, rows)


def curves(result: Assessment, telling: Telling, rule: Rule | None = None) -> Shown:
    """The share of people above each risk, route by route; a level has the name of the rule."""
    routes = {m: result.risk(m) for m in result.measures if m != MATCH}
    levels = (0.001, 0.01, *THRESHOLDS, 0.5)
    rows = [
        [f"{t:g}", *(telling.share(telling.above(v, t), len(result)) for v in routes.values())]
        for t in levels
    ]
    named = rule is not None and rule.on_classes and not rule.limit.is_own
    own = {rule.limit.value: rule.limit.name} if rule is not None and named else {}
    figure = figures.risk_curves(routes, (0.05, 0.09, 0.2, 0.33), telling, own)
    titled(
        figure.axes[0],
        f"{result.inputs.attack.name} under {told_name(result.inputs.scenario)}",
        pad=14,
    )
    said = "; ".join(f"{m}: mean {telling.mean_in_words(v)}" for m, v in routes.items())
    return Shown(
        "How many people have how much risk, by route",
        ("people above", *(m.replace("_", " ") for m in routes)),
        rows,
        figure,
        f"Share of people above each risk. {said}.",
    )


def _band_of(risk: Any) -> NDArray[np.intp]:
    found = band_of(risk, EDGES) - 1
    return np.asarray(np.clip(found, 0, len(BANDS) - 1), dtype=np.intp)


def _in_bands(risk: Any, telling: Telling) -> list[int | list[int] | None]:
    """People in each band, the least risky first; counted from the riskiest."""
    if telling.custodian:
        return [int(c) for c in np.bincount(_band_of(risk), minlength=len(BANDS))]
    return telling.in_bands(_told_above(risk, telling))[::-1]


def _told_above(risk: Any, telling: Telling) -> list[Tens]:
    """People above each edge of the bands, from the riskiest on; all of them at the end."""
    ladder = telling.ladder(risk)
    return [*(ladder.above(edge) for edge in EDGES[-2:0:-1]), told_ten(len(risk))]


def _bands(result: Assessment, telling: Telling) -> Shown:
    told = _in_bands(result.risk(), telling)
    rows = [[b, in_words(c)] for b, c in zip(BANDS, told, strict=True)]
    return Shown("People by overall risk", ("overall risk", "people"), rows)


def _heat_map(result: Assessment, worst: Assessment, telling: Telling) -> Shown:
    counts = np.zeros((len(BANDS), len(BANDS)), dtype=np.int64)
    np.add.at(counts, (_band_of(result.risk()), _band_of(worst.risk())), 1)
    if not telling.custodian:
        return _beside(result, worst, telling)
    rows = [[b, *(in_words(int(c)) for c in row)] for b, row in zip(BANDS, counts, strict=True)]
    cells = counts.astype(object)
    figure = figures.heat_map(cells, BANDS, "worst-case", told_name(result.inputs.scenario))
    less = int((result.risk() < worst.risk()).sum())
    share = telling.share(less, len(result))
    return Shown(
        "Worst case against scenario",
        (f"{told_name(result.inputs.scenario)} / worst case", *BANDS),
        rows,
        figure,
        f"People by overall risk in both; {share} have less risk in the scenario.",
    )  # fmt: skip


def _beside(result: Assessment, worst: Assessment, telling: Telling) -> Shown:
    """Both by themselves: who moves from where to where would part the people into small cells."""
    both = [_in_bands(worst.risk(), telling), _in_bands(result.risk(), telling)]
    rows = [[b, *map(in_words, pair)] for b, *pair in zip(BANDS, *both, strict=True)]
    name = told_name(result.inputs.scenario)
    figure = figures.risk_curves(
        {"worst-case": worst.risk(), name: result.risk()}, (0.05, 0.09, 0.2, 0.33), telling
    )
    return Shown(
        "Worst case against scenario", ("overall risk", "worst case", name), rows, figure,
        "People by overall risk in the worst case and in the scenario.",
    )  # fmt: skip


def _attributes(summary: Summary, telling: Telling) -> list[Shown]:
    parts = summary.contributions(telling)
    if not parts:
        return []
    method = summary.drivers.method
    labels = [label for label, _ in parts]
    rows = [  # differences, which may be below 0 where an attacker decides
        [label, f"{v.mean():+.3g}" if telling.custodian else telling.roughly(v)]
        for label, v in parts
    ]
    told = [telling.rough(v) or 0.0 for _, v in parts]
    figure = figures.attribute_bars(labels, told, [cell for _, cell in rows], method)
    least = "" if told[0] > 0 else ", or takes least off it"
    most = len(told) == 1 or told[0] > told[1]
    shown = Shown(
        f"Most exposed attributes ({method})",
        ("attributes", "added to the mean risk"),
        rows,
        figure,
        f"{labels[0]} adds most to the mean risk{least}." if most else "What each adds.",
    )
    return [shown]


MEAN_OF_PART = "mean overall risk of these people"


def _subgroups(result: Assessment, telling: Telling) -> list[Shown]:
    """Mean risk by each column with few values; outwards small groups are taken together."""
    people, risk, out = result.inputs.people, result.risk(), []
    for name in people.quasi_identifiers:
        column = people.column(name)
        if column.relation is not None or not 2 <= column.cardinality <= MOST_VALUES:
            continue
        ids = people.codes([name])[:, 0]
        labels = ["missing" if v is None else str(v) for v in people.labels(name)]
        groups = [[i] for i in range(len(labels)) if (ids == i).any()]
        if not telling.custodian:
            groups = large_enough([int((ids == i).sum()) for i in range(len(labels))])
        counts = [int(np.isin(ids, group).sum()) for group in groups]
        rows = []
        for group, told in zip(groups, telling.bands(counts), strict=True):
            label = labels[group[0]] if len(group) == 1 else OTHERS
            mean = telling.mean_of_part(risk[np.isin(ids, group)], risk, told)
            rows.append([label, in_words(told), mean])
        out.append(Shown(f"Risk by {name}", (name, "people", MEAN_OF_PART), rows))
    return out


def large_enough(counts: list[int]) -> list[list[int]]:
    """Values with enough people each; the others together, with the next smallest if need be.

    >>> large_enough([50, 3, 400, 0, 4, 60])
    [[2], [5], [0, 1, 4]]
    """
    order = sorted((i for i, c in enumerate(counts) if c), key=lambda i: down(counts[i]))
    few = [i for i in order if counts[i] < BASE]
    rest = order[len(few) :]
    while few and rest and sum(counts[i] for i in few) < BASE:
        few.append(rest.pop(0))
    found = [[i] for i in sorted(rest)]
    return [*found, sorted(few)] if few else found


NOT_ACTED = (
    "Not acted out: some values of the table match several others, so people do not fall into "
    "classes in which a guess could be drawn. Nothing here checks the predicted matches."
)


NOT_ACTED_GIVEN = (
    "Not acted out: attacks on the table run forward, and these risks are those of who has learnt "
    "something. The cross-check acts out what was learnt, too."
)


NOT_ACTED_DO = (
    "Not acted out: attacks on the table happen as the scenario draws them, and these risks are "
    "those with {} set by an intervention. The cross-check sets it, too."
)


def adversarial_test(result: Assessment, telling: Telling) -> Section:
    """The attack acted out on the table, beside what the model predicts."""
    if not {"marketer", "prosecutor"} <= set(result.risks):
        return Section("Adversarial test", text=["This attack has no match that can be acted out."])
    if not result.groups.seen(result.inputs.people).is_partition:
        return Section("Adversarial test", text=[NOT_ACTED])
    if result.questions["marketer"].given:
        return Section("Adversarial test", text=[NOT_ACTED_GIVEN])
    if left := not_acted(result):
        return Section("Adversarial test", text=[NOT_ACTED_DO.format(left)])
    acted = act_out(result)
    rows = []
    for c, measure in zip(acted.cells, ("marketer", "prosecutor"), strict=True):
        risk = result.risk(measure)
        sampled, verdict = one_in(c.sampled or 0.0), c.verdict
        if not telling.custodian:  # its digits, and whether it is rare, would tell of the mean
            sampled = NOT_TOLD
            verdict = verdict if verdict == DISAGREES else f"nothing {DISAGREES}"
        rows.append([c.what, telling.mean_in_words(risk), sampled, verdict])
    return Section(
        "Adversarial test",
        text=[
            f"{acted.attempts:,} attacks on people drawn at random were acted out on the table: "
            f"what is known was drawn from the scenario, the class was looked up by matching, and "
            f"a guess was made."
        ],
        shown=[Shown("Predicted and acted out", ("what", "predicted", "acted out", "verdict"),
                     rows)],
    )  # fmt: skip


def options_compared(
    options: Mapping[str, Assessment], rule: Rule, telling: Telling, by: str = ""
) -> Section:
    """Each option by the same rule, its risk, and what it costs in information; `by` says in which
    order they stand.
    """
    for name, option in options.items():
        refuse_misfit("report", f'options["{name}"]', option, Assessment)
    first = next(iter(options.values()))
    own_classes = judge(first, rule).sizes
    rows, names, risks, losses, notes = [], [], [], [], []
    whose: dict[str, list[str]] = {}  # releases by what alone is said of them
    for name, option in options.items():
        judged, (risk, tied) = judge(option, rule), risk_told(option)
        notes.append(tied)
        own = telling
        if not telling.custodian:  # of two, one may have chances
            found = telling_of(option)
            own = replace(telling, kept_back=found.kept_back, enclosed=found.enclosed)
        kept_back = bool(own.kept_back)
        count = judged.told_beyond(own)
        loss = information_lost(first, option, telling)
        lost = "-" if loss is None else per_cent(loss)
        if option.table.share_kept < 1:
            lost = _gone(option, lost, telling)
        elif loss is None and information_lost(first, option) is not None:
            lost = NOT_TOLD
        verdict, share = judged.word(own), telling.share(count, len(risk))
        mean, highest = own.mean_in_words(risk), own.highest_in_short(risk)
        mean = NOT_TOLD if kept_back and option is not first else mean  # finer parts of one whole
        is_told = telling.custodian or np.array_equal(judged.sizes, own_classes)
        if not is_told:  # counts of other classes of the same people would tell of those within
            verdict = verdict if tells_changes(telling, option.inputs.people, rule) else NOT_TOLD
            share = mean = highest = NOT_TOLD
        since = "" if judged.told_passes(own) is False else holds_only_since(option)
        if since:
            whose.setdefault(since, []).append(name)
        rows.append([name, verdict, share, mean, highest, lost])
        if is_told and loss is not None and (rule.on_classes or not kept_back):
            names.append(name)
            risks.append(100 * telling.portion(count, len(risk)))
            losses.append(100 * loss)
    figure: Figure | str = ""
    if len(names) > 1:
        figure = figures.options_figure(names, risks, losses, rule.beyond)
    if len(options) < 2:  # the verdict and the risks stand above
        return Section("Options compared")
    heads = ("option", "verdict", rule.beyond, "mean risk", f"risk, {telling.highest_head}",
             "information lost")  # fmt: skip
    return Section(
        "Options compared",
        text=[
            *(f"{said[0].upper()}{said[1:]}." for said in dict.fromkeys(notes) if said),
            *(f"The verdict on {', '.join(of)} is of {since}." for since, of in whose.items()),
            *_ordered(by, f"; {INFORMATION_LOST}"),
        ],
        shown=[
            Shown(
                "Options compared", heads, rows, figure, f"{rule.beyond} against information lost."
            )
        ],
    )


INFORMATION_LOST = (
    '"information lost" is the share of the bits of all columns together, and may order them '
    "otherwise"
)


def _ordered(by: str, more: str = "") -> list[str]:
    """By which loss releases stand one after the other."""
    said = (
        f"The releases that were found stand in the order of loss by {by}, the least first{more}."
    )
    return [said] if by else []


def _gone(option: Assessment, lost: str, telling: Telling) -> str:
    """That people were left out; in the house how many, and what is lost with them."""
    gone = f"{counted(len(option.table.whole) - len(option.table), 'person')} left out"
    return f"{lost} ({gone})" if telling.custodian else "people left out"


def best_options(result: Assessment, best: Any, rule: Rule, telling: Telling) -> Section:
    """The best releases that were found for the rule; outwards their names alone."""
    if not telling.custodian:
        rows = [[name, "passes"] for name in best.names]
        caption = "Releases with nobody left out that keep the rule"
        shown = [Shown(caption, ("columns", "verdict"), rows)] if rows else []
        since = holds_only_since(result)
        text = [*_ordered(best.by), *([f"A verdict here is of {since}."] if since else [])]
        return Section("Options compared", text=text if rows else [], shown=shown)
    by = best.by if best.results else ""
    found = options_compared({"this release": result, **best.results}, rule, telling, by)
    steps = [[name, how] for name, how in best.proposed.items()] if best.results else []
    levels = Shown("Levels that were proposed", ("column", "what each level leaves"), steps)
    return replace(found, details=[*found.details, *([levels] if steps else [])])
