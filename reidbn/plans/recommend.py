"""Recommend: the least change to a table that keeps every target, and what proves it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from math import floor
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attacks.routes.arguments import names_of, people_columns_of, share_of, truth
from reidbn.attacks.routes.assess import assess
from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.changes import as_given
from reidbn.attacks.routes.placing import scenario_of
from reidbn.attacks.secrets.asked import IF_MISSING, has_secret
from reidbn.calls import typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.inference.cut import MOST
from reidbn.microdata.knowledge import Known
from reidbn.microdata.proposed import propose_hierarchies
from reidbn.microdata.table import People, refuse_emptied
from reidbn.plans.emptying import emptied
from reidbn.plans.losses import MOST_NODES, SEPARABLE, Loss, is_of_cells, name_of, ways_of
from reidbn.plans.nodes import TIE, Release, rows_of
from reidbn.plans.plan import ReleasePlan
from reidbn.plans.rising import Direction, direction_of
from reidbn.plans.search import Certificate, Search
from reidbn.plans.targets import BY_PEERS, MEAN_GUESS, Target, targets_of
from reidbn.plans.ways import options_of
from reidbn.plans.wide import WideSearch
from reidbn.population.subsets import fits_kept
from reidbn.report.thresholds import cut_off
from reidbn.written import capital, counted


@typed
def recommend(
    people: People,
    attack: Attack | str | Sequence[Attack | str] | None = None,
    *,
    target: Any,
    known: Known | None = None,
    scenario: Any = None,
    population: float | None = None,
    hierarchies: Mapping[str, Any] | str | None = None,
    suppress_at_most: float | str = 0.0,
    empty_at_most: float | str = 0.0,
    keep: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    sample: float | str | None = None,
    seed: int | None = None,
    loss: Loss = "entropy",
    importance: Mapping[str, float] | None = None,
    pareto: bool = True,
    release: str | None = None,
    seconds: float | None = None,
    if_missing: str = "left-out",
    **asked: Any,
) -> ReleasePlan:
    """The least change to a table that keeps every target.

    `target` is so many alike ("k=5"), a precedent ("ema", with `release`), limits on measures of
    the attack ({"overall": "q95 <= 0.09"}), or on what people alike tell of a secret
    ({"diagnosis": "best guess <= 50%"}); several in a list all hold.  `attack`, `known`,
    `scenario`, `population` and what else `asked` names are as in rb.assess; under lists of attacks
    or scenarios the limits hold under each.  `hierarchies` says how each column may be made coarser
    (rules such as "bands:5,10,20" too; "auto": rb.microdata.propose_hierarchies); a column without
    one is kept or dropped.  `suppress_at_most` is the share of people who may be left out (.02 or
    "2%"), `empty_at_most` the share of cells that may be emptied in place of it (by a heuristic),
    `keep` and `drop` are columns that stay as they are or go, `seconds` bounds the search.  People
    whose secret is missing are nobody's peers, unless `if_missing="value"`, as in rb.disclosure.
    Without
    `pareto` the plan keeps its best way alone, and no others for `plan.front` and pictures.  With
    `sample` that share of the people is drawn first (by the `seed`; without one so that nobody can
    draw it again), and the others are not released; targets are about those who are
    (`plan.sampled` tells both sides).  The
    `loss` is "entropy" or "granularity" (columns weighed by `importance`), "discernibility",
    "average-class", tables that researchers make (rb.plans.Margins(("age", "sex"))) or a regression
    (rb.plans.Regression("income ~ age + sex")), all of them 0 to 1, or a function of the people as
    they would be released.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], ["sex", "race"])
    >>> plan = recommend(people, target="k=2")
    >>> plan.best.dropped, plan.best.after
    (('sex',), {'2 or more alike': 2})
    """
    _checked_table(people)
    targets = _of_secrets(people, targets_of(target, release), if_missing)
    _refuse_unknown_names(asked)
    _refuse_idle_seed(sample, seed)
    asked = {"known": known, "population": population, "scenario": scenario, **asked}
    whole = people
    if sample is None:
        bases, targets = _bases(people, attack, targets, **asked)
        as_read = bases
    else:
        people, of_drawn = _drawn(whole, sample, seed, asked, about=attack is not None)
        as_read = _bases(whole, attack, (), **of_drawn | {"subject": asked.get("subject")})[0]
        bases, targets = _bases(people, attack, targets, **of_drawn)
    if isinstance(hierarchies, str):
        if hierarchies != "auto":
            raise UsageError(f'hierarchies="{hierarchies}"; give {{column: rule}}, or "auto"')
        hierarchies = propose_hierarchies(people)
    share = share_of(suppress_at_most, "suppress_at_most", "the people")
    if share == 1:
        raise UsageError("suppress_at_most=1 leaves nobody; give a share, such as 0.02")
    cells = share_of(empty_at_most, "empty_at_most", "the cells")
    named = name_of(loss)
    if seconds is not None and not seconds >= 0:
        raise UsageError(f"seconds={seconds:g}; give how long to search at most, 0 or more")
    options = options_of(
        people, hierarchies, keep=names_of(keep, "keep"), drop=names_of(drop, "drop")
    )
    budget, rows = floor(share * len(people) + 1e-9), rows_of(people, options)
    ways = ways_of(people, options, loss, importance, rows, budget)
    if cells:
        _refuse_emptying(people, targets, loss, ways.size)
    table = Release(
        people, options, ways, targets, bases, budget, rows,
        {t.key: _direction(bases, t) for t in targets},
    )  # fmt: skip
    kind = WideSearch if ways.size > MOST_NODES else Search
    search = kind(ways, table.look, table.falls, seconds, truth(pareto, "pareto"))
    with fits_kept():
        certificate, best = search.run(), search.best
        some = None
        if cells:
            some = emptied(table, search, floor(cells * len(people) * len(options) + 1e-9))
            if some.best is not None and (best is None or some.best.loss < best.loss - TIE):
                best = some.best
            if best is not None:
                certificate = some.certificate(certificate, best.loss)
    if best is None:
        raise DataError(_nothing_found(table, certificate))
    also = () if some is None else tuple(one for one in some.found if one is not best)
    best, results = table.looked_at_again(best)
    if best.emptied is None:
        search.seen[best.node] = best
    else:
        also = (*also, best)
    return ReleasePlan(people, targets, named, certificate, table, search, best, results,
                       len(whole), as_read, also)  # fmt: skip


def _refuse_unknown_names(asked: Mapping[str, Any]) -> None:
    """Raise where what is asked is an argument neither of recommend nor of rb.assess."""
    own = [*signature(recommend).parameters][:-1]
    known = [*own, *(n for n in signature(assess).parameters if n not in (*own, "people"))]
    for name in asked:
        if name not in known:
            raise UsageError(f'recommend takes no "{name}"; {did_you_mean(name, known)}')


def _refuse_idle_seed(sample: Any, seed: int | None) -> None:
    """Raise where a seed draws nothing."""
    if sample is None and seed is not None:
        raise UsageError(
            "seed= is of a sample, and none is drawn: leave it out, or say how many are drawn "
            "(sample=)",
            in_shell="--seed is of a sample, and none is drawn: leave it out, or say how many are "
            "drawn (--sample)",
        )


def _of_secrets(people: People, targets: Sequence[Target], if_missing: str) -> tuple[Target, ...]:
    """The targets, those of a secret with what a missing one is; raise where none is counted."""
    if if_missing not in IF_MISSING:
        raise UsageError(f'if_missing is "{if_missing}"; {did_you_mean(if_missing, IF_MISSING)}')
    if if_missing == "value" and not any(t.on_secret for t in targets):
        raise UsageError("if_missing= is about a secret, and no target is; leave it out")
    return tuple(_of_secret(people, t, if_missing) if t.on_secret else t for t in targets)


def _of_secret(people: People, target: Target, if_missing: str) -> Target:
    name = target.measure
    if name not in people.sensitive:
        if (hint := did_you_mean(name, people.sensitive)).startswith("did you"):
            raise UsageError(f'target {name}: no secret "{name}"; {hint}')
        raise UsageError(
            f'target {name}: a best guess is about a secret; name it, sensitive=["{name}"], '
            f"when the table is read",
            in_shell=f"target {name}: a best guess is about a secret; name it: --sensitive {name}",
        )
    if not people.is_partition:
        raise UsageError(
            f"target {name}: some values match several others, so people fall into no classes; "
            f'read the table with missing="value" or missing="drop"'
        )
    there = has_secret(people, name)
    if there.all():
        return target
    if if_missing == "left-out" and not there.any():
        raise UsageError(f"target {name}: it is missing for everybody; name another secret")
    if if_missing == "left-out" and target.what == MEAN_GUESS:
        raise UsageError(
            f"target {name}: it is missing for some people, and a mean PPP is of people who have "
            f'one: count missing as a value (if_missing="value"), read the table without these '
            f"people, or limit the PPP of everybody"
        )
    return replace(target, if_missing=if_missing)


def _refuse_emptying(people: People, targets: Sequence[Target], loss: Loss, ways: int) -> None:
    """Raise where cells cannot be emptied, or what that loses is not counted."""
    if ways > MOST_NODES:
        raise UsageError(
            f"empty_at_most= is for up to {MOST_NODES:,} combinations of levels, and these are "
            f"{ways:,}: leave it out, keep a column as it is (keep=), drop one (drop=), or give "
            f"hierarchies fewer levels"
        )
    if not people.is_partition:
        raise UsageError(
            "empty_at_most= empties cells of tables whose values match themselves alone: read the "
            'table with missing="value", and release columns at one level'
        )
    if not is_of_cells(loss):
        raise UsageError(
            f"empty_at_most= goes with a loss of each cell ({', '.join(SEPARABLE)}); "
            f"{name_of(loss)} has none"
        )
    for t in targets:
        if t.on_secret:
            raise UsageError(
                f"target {t.measure}: cells are emptied for limits on risks and so many alike, and "
                f"not for what people alike tell of a secret: leave empty_at_most= out"
            )


def _checked_table(people: Any) -> None:
    """Refuse what is no table with a row per person, whole in its cells."""
    if not isinstance(people, People):
        raise UsageError("recommend needs people = rb.read_table(table, quasi_identifiers=[...])")
    if people.history is not None:
        raise UsageError(
            "recommend is for tables with one row per person, and some of these have several: "
            "make one row of each person's (the first, or a count of them as a column), and read "
            "that table"
        )
    refuse_emptied(people, "recommend")


def _drawn(
    whole: People, sample: float | str, seed: int | None, asked: Mapping[str, Any], *, about: bool
) -> tuple[People, dict[str, Any]]:
    """A random share of the people, in their order, and what is asked of them; if `about` an
    attack.  What is said of the others is not released.

    Whoever knows the seed and the order of the table knows who was drawn.
    """
    share = share_of(sample, "sample", "the people")
    number = round(share * len(whole))
    if number < 1:
        raise UsageError(
            f"sample={share:g} of {len(whole):,} people is nobody; give a larger share"
        )
    if whole.weights is not None or whole.before is not None or whole.share_kept < 1:
        raise UsageError(
            "sample= is for a table as it was read, without survey weights: nobody has been left "
            "out of it yet, and everybody stands for themselves"
        )
    rows = np.sort(np.random.default_rng(seed).choice(len(whole), number, replace=False))
    found = dict(asked)
    if about and asked["known"] is not None and asked["scenario"] is None:
        found |= {"known": None, "scenario": scenario_of(whole, asked["known"])}  # of the drawn
    if said := people_columns_of(asked.get("subject"), whole):
        found["subject"] = {name: values.take(rows, axis=0) for name, values in said.items()}
    return whole.take(rows), found


def _bases(
    people: People, attack: Any, targets: tuple[Target, ...], *, scenario: Any, **asked: Any
) -> tuple[dict[str, Assessment], tuple[Target, ...]]:
    """The table as it is under every attack and scenario, and each target under each of them."""
    named = {name: value for name, value in asked.items() if value is not None}
    if attack is None:
        about = [t.measure for t in targets if not t.on_classes]
        _refuse_bare_secret(people, targets, ())
        if about or named or scenario is not None:
            what = f"a limit on {about[0]}" if about else f"{min([*named, 'scenario'])}="
            raise UsageError(
                f"{what} is about an attack: name one, such as rb.recommend(people, "
                f'"adversary-routes", ...)',
                in_shell=f"{what.replace('=', '')} is about an attack: name one, --attack "
                f"adversary-routes",
            )
        return {}, targets
    if named.get("method", "exact") != "exact":
        raise UsageError(
            "method= is not for recommend: what it proves stands on exact risks; leave it out"
        )
    for name in ("individuals", "checkpoint"):
        if name in named:
            raise UsageError(
                f"{name}= is not for recommend: everybody is assessed, many times. Leave it out, "
                f"or change the table yourself (people.generalise) and give it to rb.assess"
            )
    every = [(a, s) for a in _several(attack, "attack") for s in _several(scenario, "scenario")]
    found = [assess(a, people, scenario=s, **named) for a, s in every]
    _refuse_unsearched(found, targets)
    names = [""] if len(found) == 1 else [_named(one, found) for one in found]
    if len(set(names)) < len(names):
        raise UsageError("two of the attacks and scenarios have the same name; rename one of them")
    bases = dict(zip(names, found, strict=True))
    spread = [[t] if t.on_classes else [replace(t, under=n) for n in bases] for t in targets]
    return bases, tuple(t for each in spread for t in each)


def _refuse_unsearched(found: Sequence[Assessment], targets: Sequence[Target]) -> None:
    """Raise where a target names no measure, or no release of the table has risks to search for."""
    for base in found:
        as_given(base.inputs, base.inputs.people)  # what the call counted of the table is refused
        _refuse_bare_secret(base.inputs.people, targets, base.risks)
        for t in targets:
            if not t.on_classes and t.measure not in base.risks:
                hint = did_you_mean(t.measure, base.risks)
                raise UsageError(f'target: {base.attack.name} has no measure "{t.measure}"; {hint}')
        if not all(t.on_classes for t in targets) and (cut := cut_off(base)) > MOST:
            raise UsageError(
                f"{base.attack.name}: {cut:.2g} of what can be lies beyond the states of its "
                f"nodes, and no plan on such risks is sure to keep a limit: let the states run "
                f"further"
            )


def _refuse_bare_secret(people: People, targets: Sequence[Target], risks: Collection[str]) -> None:
    """Raise where a limit on a secret does not say what people alike may tell of it."""
    for t in targets:
        if not t.on_classes and t.measure in people.sensitive and t.measure not in risks:
            raise UsageError(
                f"target {t.measure}: it is a secret, and a limit on one says what people alike "
                f"may tell of it, {BY_PEERS}",
            )


def _several(given: Any, what: str) -> list[Any]:
    """One or several attacks or scenarios."""
    found = list(given) if isinstance(given, list | tuple) else [given]
    if not found:
        raise UsageError(f"{what}=[] names none")
    return found


def _named(base: Assessment, of: Sequence[Assessment]) -> str:
    """An assessment among several, by what tells it apart."""
    attacks = {one.inputs.attack.name for one in of}
    scenarios = {one.inputs.scenario.name for one in of}
    parts = [base.inputs.attack.name] * (len(attacks) > 1)
    return ", ".join([*parts, *[base.inputs.scenario.name] * (len(scenarios) > 1)])


def _direction(bases: Mapping[str, Assessment], target: Target) -> Direction | None:
    """Which way what a target limits moves; classes grow by themselves.

    A best guess in a class of several classes is no better than in the best of these.
    """
    if target.on_classes:
        return Direction(1.0 / np.arange(1, 3), 0.0)
    return direction_of(bases[target.under], target.measure)


def _more_left_out(table: Release, top: tuple[int, ...]) -> Iterator[str]:
    """How many would have to be left out for the targets to be kept, if that is possible."""
    found = table.but(budget=len(table.people) - 1).look(top)
    if found.left_out is not None and not found.left_out.all():
        many, of = int(found.left_out.sum()), len(table.people)
        yield f"allow more to be left out (suppress_at_most=; {many:,} of {of:,} would do)"


def _nothing_found(table: Release, certificate: Certificate) -> str:
    """Why there is no plan, and what could be allowed."""
    top = tuple(n - 1 for n in table.ways.shape)
    risks = table.risks(top, np.ones(len(table.people), dtype=bool))
    unmet = [t for t in table.targets if not t.is_met(risks[t.key])]
    many = next((t for t in unmet if t.k > len(table.people)), None)
    if many is not None:
        people = counted(len(table.people), "person")
        return f"no way to release keeps {many}: the table has {people}"
    if not unmet:
        return "no way to release was found in the time; give it more (seconds=)"
    kept = [o.name for o in table.options if o.levels[-1] < o.ladder.levels]
    found = "" if certificate.is_proved else " was found that"
    every = unmet if len(table.targets) == 1 else table.targets
    now = {t: t.told(t.shown(t.value(risks[t.key]))) for t in unmet}
    highest = f"it is {now[unmet[0]]}"
    if len(table.targets) > 1:
        highest = ", ".join(f"{t.axis} is {said}" for t, said in now.items())
    if any(t.on_secret for t in unmet):
        highest += (
            " (of a class that breaks a limit on a secret everybody goes, never single people)"
        )
    remedy = "Ask for less: all are alike there, and leaving people out lowers nothing"
    if kept:
        ways = [*_more_left_out(table, top), f"let {' and '.join(kept)} be made coarser"]
        remedy = f"{capital(', '.join(ways))}, or ask for less"
    if not kept and all(t.on_secret for t in unmet):
        remedy = "Ask for less, or leave some whose secret is the commonest out of the table first"
    for t in unmet:
        values = 0
        if t.on_secret:
            own = has_secret(table.people, t.measure)
            values = len(np.unique(table.secrets[t.measure][own]))
        if values and t.limit < 1 / values:  # so it is in every class, whoever goes
            remedy = (
                f"Ask for less: of {counted(values, 'value')} of {t.measure} one has a share of "
                f"1/{values} in every class at least"
            )
    return (
        f"no way to release{found} keeps {' and '.join(map(str, every))}"
        f"{' together' if len(every) > 1 else ''}: at the highest levels {highest}. {remedy}"
    )
