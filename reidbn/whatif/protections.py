"""What protects most per column lost: an assessment of a sparse table, release by release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.aside import aside
from reidbn.attack.scenario import SparseKnown
from reidbn.attacks.family.columns import KinPeople, NoRelatives
from reidbn.attacks.linkage.columns import SparsePeople, known_of
from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.changes import what_if
from reidbn.calls import refuse_outside, typed
from reidbn.errors import UsageError
from reidbn.microdata.hierarchy import Bands
from reidbn.microdata.kinds import YEAR
from reidbn.microdata.noise import NOISY
from reidbn.microdata.sparse import Sparse
from reidbn.progress import progress

if TYPE_CHECKING:
    import pandas as pd

BAND = 5
NOISE = {"share": 0.2, "years": 2}
NOISE_IN_WORDS = "noise of up to 20 % on numbers, 2 years on years and dates"
ROOM = "access-controlled"
IN_RELEASE = "p_in_release"
Tried = tuple[str, int, int, dict[str, Any]]


@typed
def protections(result: Assessment, *, sample: float = 0.5) -> pd.DataFrame:
    """What each way to protect a sparse table does to the mean risk, most per column lost first.

    `result` is an assessment of a sparse table, such as rb.assess("linkage", sparse).  Tried are:
    each section of features left out, years in bands of five, noise of up to a fifth on numbers and
    two years on years and dates, family history as yes or no, or of parents alone, a `sample` of
    the people released, and a secure room.  A way that takes no column stands after those that do,
    with what it does but no share per column; one after which relatives cannot be looked for has no
    risk.
    """
    import pandas as pd

    people = result.inputs.people if isinstance(result, Assessment) else None
    if not isinstance(people, SparsePeople):
        raise UsageError(
            'protections needs an assessment of a sparse table: rb.assess("linkage", ...)'
        )
    refuse_outside("sample", sample, least=0, most=1)
    before = float(result.risk().mean())
    rows = {}
    for name, lost, coarser, asked in progress([*_ways(result, people, sample)], "releases"):
        try:
            risk = float(what_if(result, **asked).risk().mean())
        except NoRelatives:
            risk = np.nan
            aside((name,), 1.0, f"{name}: nothing tells of relatives then, and how else they could "
                  "be found is not known, so that no risk is told")  # fmt: skip
        rows[name] = {
            "columns lost": lost, "columns coarser": coarser, "risk": risk, "less": before - risk,
            "less per column lost": (before - risk) / lost if lost else np.nan,
        }  # fmt: skip
    found = pd.DataFrame.from_dict(rows, orient="index").rename_axis("protection")
    found.attrs["risk"] = before
    by = ["less per column lost", "less"]
    return found.astype({"columns lost": int, "columns coarser": int}).sort_values(
        by, ascending=False, na_position="last"
    )


def _ways(result: Assessment, people: SparsePeople, sample: float) -> Iterator[Tried]:
    """Each release: its name, columns lost and made coarser, and how it is asked."""
    sparse = people.sparse
    sections = dict.fromkeys(one.section for one in sparse.schema if one.section)
    for section in sections:
        gone = [one.name for one in sparse.schema if one.section == section]
        yield from _without(sparse, f"without {section}", gone)
    years = [one.name for one in sparse.schema if one.kind == YEAR]
    if years:
        yield f"years in bands of {BAND}", 0, len(years), {
            "generalise": dict.fromkeys(years, 1),
            "hierarchies": {name: Bands(BAND) for name in years},
        }  # fmt: skip
    moved = [one.name for one in sparse.schema if one.kind in NOISY]
    if moved and sparse.truth is None and not isinstance(people, KinPeople):
        yield NOISE_IN_WORDS, 0, len(moved), {"noise": NOISE}
    family = [one for one in sparse.schema if one.relation not in ("", "self")]
    details = [one.name for one in family if one.field != "has"]
    yield from _without(sparse, "family history as yes or no", details)
    others = [one.name for one in family if one.relation not in ("father", "mother")]
    yield from _without(sparse, "family history of parents alone", others)
    if IN_RELEASE in result.attack.parameters:
        now = (result.inputs.set or {}).get(IN_RELEASE, result.attack.parameters[IN_RELEASE].value)
        share = f"a sample of {100 * sample:.3g} % is released"
        yield share, 0, 0, {"set": {IN_RELEASE: float(np.mean(now)) * sample}}
    if replace(known_of(result.inputs.scenario), source="") == SparseKnown(source=""):  # any facts
        yield "access in a secure room", 0, 0, {"scenario": ROOM}


def _without(sparse: Sparse, name: str, gone: list[str]) -> Iterator[Tried]:
    if 0 < len(gone) < len(sparse.schema):
        yield name, len(gone), 0, {"drop": gone}
