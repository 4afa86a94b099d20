"""What a question about disclosure names, checked against the table and turned into codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attacks.disclosure_knowledge import (
    Knowledge,
    Range,
    near_matrix,
    ranges_of,
)
from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.microdata.classes import Codes, Ints
from reidbn.microdata.table import People

MOST_KNOWN = 20
Match = NDArray[np.bool_]


def auxiliaries(people: People, sensitive: str, known: Sequence[str] | None) -> list[str]:
    people.names([sensitive])
    if known is None:
        names = [name for name in people.columns if name != sensitive]
    else:
        wanted = set(people.names(known))
        if sensitive in wanted:
            raise UsageError(f'"{sensitive}" is the secret and cannot be known; drop it from known')
        names = [name for name in people.columns if name in wanted]
    if not names:
        raise UsageError(f'no auxiliaries beside "{sensitive}"; name at least one column')
    refuse_many(len(names))
    return names


def refuse_many(count: int) -> None:
    if count > MOST_KNOWN:
        raise TooLarge(
            f"{count} auxiliaries have 2^{count} subsets; exact answers go up to {MOST_KNOWN}: "
            "name fewer with known=[...]"
        )


def among(names: Sequence[str], option: str, given: Mapping[str, Any] | None) -> None:
    for name in given or {}:
        if name not in names:
            raise UsageError(
                f'{option} names "{name}", which is not an auxiliary; {did_you_mean(name, names)}'
            )


def individuals_of(
    people: People, individuals: int | ArrayLike | None, seed: int
) -> NDArray[np.int64] | None:
    if individuals is None:
        return None
    wanted = np.asarray(individuals)
    if wanted.ndim == 0:
        if not 0 < int(wanted) <= len(people):
            raise UsageError(
                f"individuals={int(wanted)}; there are {len(people)} people, ask for 1 of them "
                "or more"
            )
        generator = np.random.default_rng(seed)
        return np.sort(generator.choice(len(people), int(wanted), replace=False))
    if wanted.size == 0 or wanted.min() < 0 or wanted.max() >= len(people):
        raise UsageError(f"individuals must be row numbers from 0 to {len(people) - 1}")
    return wanted.astype(np.int64)


def whole_codes(people: People, columns: Sequence[str]) -> Codes:
    """The columns' codes; refused where a person's several rows hang together."""
    try:
        return people.codes(columns)
    except UsageError as problem:
        raise UsageError(
            f"{problem}. Disclosure takes columns one by one: keep one of these in known=[...]"
        ) from None


def coded(
    people: People, names: Sequence[str], sensitive: str, ranges: Mapping[str, Range]
) -> tuple[Codes, tuple[int, ...]]:
    columns = [*names, sensitive]
    codes, cardinalities = whole_codes(people, columns), list(people.cardinalities(columns))
    if ranges:
        codes = np.array(codes, order="F")
        for name, spec in ranges.items():
            band = ranges_of(people.labels(name), name, spec)
            j = columns.index(name)
            codes[:, j] = band[codes[:, j]]
            cardinalities[j] = int(band.max()) + 1
    return codes, tuple(cardinalities)


def relations_of(
    people: People,
    names: Sequence[str],
    sensitive: str,
    ranges: Mapping[str, Range],
    tolerance: Mapping[str, float],
    width: float | None,
) -> dict[int, Match]:
    found: dict[int, Match] = {}
    if not people.is_partition:
        for j, name in enumerate(names):
            if name not in ranges:
                found[j] = people.matches(name)
    for name, allowed in tolerance.items():
        if name in ranges:
            raise UsageError(f'"{name}" has both a range and a tolerance; choose one')
        found[names.index(name)] = near_matrix(people.labels(name), name, allowed)
    if width is not None:
        found[len(names)] = near_matrix(people.labels(sensitive), sensitive, width)
    return found


def sampling_pays(people: int, individuals: int, columns: int) -> bool:
    """Whether comparing each individual with everybody beats walking over all subsets."""
    walk = 2.0**columns * people * 8
    compare = individuals * (people * (columns + 4.0) + 2.0**columns * columns * 4)
    return compare < walk


def without_secret(knowledge: Knowledge | None, secret: str) -> Knowledge | None:
    """The knowledge for one secret: its own column cannot be learnt."""
    if not isinstance(knowledge, Mapping):
        return knowledge  # none, or a scenario, whose columns are matched by name
    kept: dict[Any, Any] = {}
    for name, value in knowledge.items():
        if isinstance(value, tuple | list) and len(value) == 2 and not np.isscalar(value[0]):
            columns = tuple(c for c in value[0] if c != secret)
            kept.update({name: (columns, value[1])} if columns else {})
        elif isinstance(name, tuple):
            columns = tuple(c for c in name if c != secret)
            kept.update({columns: value} if columns else {})
        elif name != secret:
            kept[name] = value
    return kept or None


def notes_of(
    people: People,
    ranges: Mapping[str, Range] | None,
    tolerance: Mapping[str, float] | None,
    width: float | None,
    rows: Ints | None,
) -> tuple[str, ...]:
    notes = list(people.notes)
    if ranges:
        notes.append(f"known as a range only: {', '.join(ranges)}")
    if tolerance:
        notes.append("known within: " + ", ".join(f"{k} +-{v:g}" for k, v in tolerance.items()))
    if width is not None:
        notes.append(f"a guess within {width:g} of the secret counts as a breach")
    if rows is not None:
        notes.append(f"{rows.size} individuals among {len(people)} people")
    return tuple(notes)
