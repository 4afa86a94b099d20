"""What protects most per column lost: an assessment of a sparse table, release by release.

Of a sample of the people the others are not in the table any more: whoever is in it is alike with
fewer.  So it is asked of samples that are drawn, in each of which a curve is among those people
alone, and the chance to be in the table is that share of what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.aside import aside
from reidbn.attack.scenario import Scenario
from reidbn.attack.scenariofile import load_scenario, told_name
from reidbn.attacks.family.columns import KinPeople, NoRelatives
from reidbn.attacks.linkage.columns import SparsePeople
from reidbn.attacks.routes.assess import run
from reidbn.attacks.routes.assessment import OVERALL, Assessment
from reidbn.attacks.routes.changes import as_given, what_if
from reidbn.calls import refuse_outside, typed
from reidbn.errors import UsageError
from reidbn.microdata.hierarchy import Bands
from reidbn.microdata.kinds import YEAR
from reidbn.microdata.noise import NOISY
from reidbn.progress import progress

if TYPE_CHECKING:
    import pandas as pd

BAND = 5
NOISE = {"share": 0.2, "years": 2}
NOISE_IN_WORDS = "noise of up to 20 % on numbers, 2 years on years and dates"
ROOM = "access-controlled"
IN_A_ROOM = "access in a secure room"
IN_RELEASE = "p_in_release"
SAMPLES, SEED = 5, 0
Tried = tuple[str, int, int, Callable[[], list[Assessment]]]
"""A release: its name, columns lost and made coarser, and what is assessed, one a sample."""


@typed
def protections(result: Assessment, *, sample: float = 0.5) -> pd.DataFrame:
    """What each way to protect a sparse table does to the mean risk, most per column lost first.

    `result` is an assessment of a sparse table, such as rb.assess("linkage", sparse).  Tried are:
    each section of features left out, years in bands of five, noise of up to a fifth on numbers and
    two years on years and dates, family history as yes or no, or of parents alone, a `sample` of
    the people released, and a secure room in which the attacker knows what they know now.  A way
    that takes no column stands after those that do, with what it does but no share per column; one
    after which relatives cannot be looked for has no risk.

    Of a `sample` the risk is the mean of several that are drawn, and `.attrs["samples"]` has each
    with its seed and size.  `off` is how far a risk may be off (at 95 %) by which people are in the
    samples, or by draws where curves are not counted; `.attrs["off"]` that of the risk as it is.
    """
    import pandas as pd

    people = result.inputs.people if isinstance(result, Assessment) else None
    if not isinstance(people, SparsePeople):
        raise UsageError(
            'protections needs an assessment of a sparse table: rb.assess("linkage", ...)'
        )
    refuse_outside("sample", sample, least=0, most=1)
    before = float(result.risk().mean())
    rows: dict[str, dict[str, float]] = {}
    samples: dict[str, Any] = {}
    for name, lost, coarser, asked in progress([*_ways(result, people, sample)], "releases"):
        try:
            found_in = asked()
        except NoRelatives:
            found_in = []
            aside((name,), 1.0, f"{name}: nothing tells of relatives then, and how else they could "
                  "be found is not known, so that no risk is told")  # fmt: skip
        each = [float(one.risk().mean()) for one in found_in]
        if len(each) > 1:
            size = _size(people, sample)
            samples = {"seed": SEED, "people": size, "risks": each}
        risk = float(np.mean(each)) if each else np.nan
        rows[name] = {
            "columns lost": lost, "columns coarser": coarser, "risk": risk, "less": before - risk,
            "less per column lost": (before - risk) / lost if lost else np.nan,
            "off": _off(each) if len(each) > 1 else _drawn(found_in),
        }  # fmt: skip
    found = pd.DataFrame.from_dict(rows, orient="index").rename_axis("protection")
    found.attrs |= {"risk": before, "off": _drawn([result]), "samples": samples}
    by = ["less per column lost", "less"]
    return found.astype({"columns lost": int, "columns coarser": int}).sort_values(
        by, ascending=False, na_position="last"
    )


def _ways(result: Assessment, people: SparsePeople, sample: float) -> Iterator[Tried]:
    """Each release."""

    def again(name: str, lost: int, coarser: int, **asked: Any) -> Tried:
        return name, lost, coarser, lambda: [what_if(result, **asked)]

    sparse = people.sparse
    sections = dict.fromkeys(one.section for one in sparse.schema if one.section)
    family = [one for one in sparse.schema if one.relation not in ("", "self")]
    gone = {f"without {section}": [one.name for one in sparse.schema if one.section == section]
            for section in sections}  # fmt: skip
    gone["family history as yes or no"] = [one.name for one in family if one.field != "has"]
    others = [one.name for one in family if one.relation not in ("father", "mother")]
    gone["family history of parents alone"] = others
    for name, features in gone.items():
        if 0 < len(features) < len(sparse.schema):
            yield again(name, len(features), 0, drop=features)
    years = [one.name for one in sparse.schema if one.kind == YEAR]
    if years:
        bands = {name: Bands(BAND) for name in years}
        yield again(f"years in bands of {BAND}", 0, len(years),
                    generalise=dict.fromkeys(years, 1), hierarchies=bands)  # fmt: skip
    moved = [one.name for one in sparse.schema if one.kind in NOISY]
    if moved and sparse.truth is None and not isinstance(people, KinPeople):
        yield again(NOISE_IN_WORDS, 0, len(moved), noise=NOISE)
    if IN_RELEASE in result.attack.parameters:
        drawn = SAMPLES if 0 < _size(people, sample) < len(people) else 1
        name = f"a sample of {100 * sample:.3g} % is released"
        yield (
            name,
            0,
            0,
            lambda: [_of_sample(result, people, sample, turn) for turn in range(drawn)],
        )
    if (room := _in_a_room(result.inputs.scenario)) is not None:
        yield again(IN_A_ROOM, 0, 0, scenario=room)


def _size(people: SparsePeople, share: float) -> int:
    """How many a share of the people are; none for no share alone."""
    return max(round(share * len(people)), int(share > 0))


def _off(each: list[float]) -> float:
    """How far a mean of samples may be off by which people these are, at 95 %."""
    from scipy.stats import t

    return float(t.ppf(0.975, len(each) - 1) * np.std(each, ddof=1) / np.sqrt(len(each)))


def _drawn(found: list[Assessment]) -> float:
    """How far the mean risk may be off by draws, at 95 %; 0 where nothing is drawn, or told."""
    drawn = found[0]._off_by_drawing() if found else {}
    return drawn[OVERALL].off if OVERALL in drawn else 0.0


def _of_sample(result: Assessment, people: SparsePeople, share: float, turn: int) -> Assessment:
    """The risks in a sample of those who were asked about and are in it.

    Where few were asked about, the sample holds them all, and others at random: each was drawn.
    """
    inputs = result.inputs
    now = inputs.set.get(IN_RELEASE, result.attack.parameters[IN_RELEASE].value)
    inputs = replace(inputs, said={**inputs.said, IN_RELEASE: float(np.mean(now)) * share})
    size, asked = _size(people, share), inputs.individuals
    if 0 < size < len(people):
        rng = np.random.default_rng((SEED, 4, turn))
        order = rng.permutation(len(people))
        if asked is not None and 2 * len(asked) <= size:
            order = np.concatenate([asked, order[~np.isin(order, asked)]])
        elif asked is not None and not np.isin(order[:size], asked).any():
            order = np.concatenate([rng.choice(asked, 1), order])  # a sample without any tells none
            order = order[np.sort(np.unique(order, return_index=True)[1])]
        rows = np.sort(order[:size])
        who = None if asked is None else np.flatnonzero(np.isin(rows, asked))
        taken = as_given(inputs, people.take(rows))
        subject = {name: np.asarray(values)[rows] for name, values in inputs.subject.items()}
        inputs = replace(inputs, people=taken, subject=subject, individuals=who)
    return run(inputs, measures=[OVERALL])


def _in_a_room(scenario: Scenario) -> Scenario | None:
    """The secure room in which the attacker of a scenario is: what they know and are stays.

    None, with a word, where the scenario has something of its own on who tries and what stops them.
    """
    if scenario.nodes or scenario.parameters or scenario.questions:
        aside((IN_A_ROOM,), 1.0, f"{IN_A_ROOM}: left out, for {told_name(scenario)} says by itself "
              "who tries and what stops them, and a room would take its place")  # fmt: skip
        return None
    room = load_scenario(ROOM)
    return replace(
        room, set=scenario.set, given=scenario.given, do=scenario.do,
        knows=scenario.knows or room.knows,
    )  # fmt: skip
