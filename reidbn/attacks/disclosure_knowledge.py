"""What an attacker knows of each auxiliary: with which chance, and how exactly.

- `knowledge`: groups of columns that are learnt together, each with a probability (one for all,
  or one per person), independently of the other groups;
- `ranges`: a column known only as the range that its value lies in;
- `tolerance`: a column known to within plus or minus t, so that peers need not be equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.microdata.classes import Floats, Ints
from reidbn.microdata.table import People

if TYPE_CHECKING:
    from reidbn.attack.scenario import Scenario

Knowledge: TypeAlias = "Mapping[Any, Any] | Scenario"
Range = float | Sequence[float] | Mapping[Any, Any]


def numbers(labels: NDArray[Any], column: str) -> Floats:
    """The values behind a column's codes as numbers; a missing value is nan, near to nothing."""
    try:
        return np.array([np.nan if x is None else float(x) for x in labels], dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            f'column "{column}" holds text; a tolerance or a range by width needs numbers '
            "(a mapping value -> range works for any column)"
        ) from None


def ranges_of(labels: NDArray[Any], column: str, spec: Range) -> Ints:
    """The range of each code, numbered from 0: by width, by first values, or by a mapping.

    >>> ranges_of(np.array([13, 18, 29, 30]), "age", 10), ranges_of(np.arange(4), "age", [1, 3])
    (array([0, 0, 1, 2]), array([0, 1, 1, 2]))
    """
    if isinstance(spec, Mapping):
        lost = sum(label not in spec for label in labels)
        if lost:
            raise UsageError(
                f'ranges["{column}"] says nothing about {lost} of the column\'s {len(labels)} '
                "values; name a range for each"
            )
        named: dict[Any, int] = {}
        return np.array([named.setdefault(spec[x], len(named)) for x in labels], dtype=np.int64)
    values = numbers(labels, column)
    if isinstance(spec, Sequence | np.ndarray):
        cuts = np.asarray(spec, dtype=np.float64)
        if cuts.size == 0 or np.any(np.diff(cuts) <= 0):
            raise UsageError(f'ranges["{column}"] must list rising first values, such as [18, 65]')
        place: NDArray[Any] = np.searchsorted(cuts, values, side="right")
    else:
        if not spec > 0:
            raise UsageError(f'ranges["{column}"] is a width of {spec}; it must be above 0')
        place = np.floor(values / spec)
    place = np.where(np.isnan(values), np.inf, place)
    return np.unique(place, return_inverse=True)[1]


def near_matrix(labels: NDArray[Any], column: str, width: float) -> NDArray[np.bool_]:
    """Codes x codes: whether two values of a numeric column are at most `width` apart.

    >>> near_matrix(np.array([1, 3, 4]), "age", 2).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    if not width >= 0:
        raise UsageError(f'the tolerance of "{column}" is {width}; it must be 0 or more')
    values = numbers(labels, column)
    near = np.abs(values[:, None] - values[None, :]) <= width
    np.fill_diagonal(near, val=True)
    return near


def chances_of(
    people: People, known: Sequence[str], knowledge: Knowledge
) -> tuple[Floats, Ints | None]:
    """P(A) for every subset of the known columns, per profile, and each person's profile.

    Groups are independent; columns in no group are never known, and a column in two groups is
    known when either is.  The profile is None when everybody has the same chances.  A `Scenario`
    brings its own groups, and its shared list or attacker as a mixture over them.

    >>> people = People.from_codes([[0, 1], [1, 1]], ["age", "sex"])
    >>> chances_of(people, ["age", "sex"], {"age": 0.5, "sex": 0.25})[0].round(3).tolist()
    [[0.375, 0.375, 0.125, 0.125]]
    """
    if not isinstance(knowledge, Mapping):
        return _scenario_chances(people, known, knowledge)
    groups = [_group(people, known, name, value) for name, value in knowledge.items()]
    if not groups:
        raise UsageError('knowledge is empty; name at least one column, as in {"age": 0.9}')
    table, profile = _profiles([chance for _, chance in groups], len(people))
    return _independent([bits for bits, _ in groups], table, 1 << len(known)), profile


def _profiles(chances: Sequence[Floats], people: int) -> tuple[Floats, Ints | None]:
    """Everybody's probabilities as distinct rows, and the row of each person."""
    if all(chance.size == 1 for chance in chances):
        return np.array([[float(chance.reshape(-1)[0]) for chance in chances]]), None
    table = np.stack([np.broadcast_to(chance, people) for chance in chances], axis=1)
    rows, profile = np.unique(table, axis=0, return_inverse=True)
    return rows, profile.reshape(-1)


def _independent(groups: Sequence[int], table: Floats, size: int) -> Floats:
    """P(A) of independent groups (masks), one row per row of probabilities."""
    masks = np.arange(size)
    chances = np.zeros((len(table), size))
    chances[:, 0] = 1
    for j, bits in enumerate(groups):
        learnt = np.zeros_like(chances)
        np.add.at(learnt.T, masks | bits, chances.T)
        chances = chances * (1 - table[:, j : j + 1]) + learnt * table[:, j : j + 1]
    return chances


def _scenario_chances(
    people: People, known: Sequence[str], scenario: Scenario
) -> tuple[Floats, Ints | None]:
    """A scenario's groups; nothing is known of a person who is not on its shared list."""
    from reidbn.attack.knows import Profile
    from reidbn.attacks.placing import place

    if scenario.knows is None:
        raise UsageError(f'scenario "{scenario.name}" does not say what is known')
    found = place(scenario.knows, people, scenario.facts)
    groups = [
        sum(1 << known.index(column) for column in item.columns if column in known)
        for item in found.placed
    ]
    size = 1 << len(known)
    if isinstance(found.parent, Profile):
        weights = np.array(list(found.parent.weights.values()))
        states = np.concatenate([item.p for item in found.placed], axis=1)
        return weights[None, :] @ _independent(groups, states, size), None
    on_list = np.ones(1) if found.parent_p is None else found.parent_p
    table, profile = _profiles([on_list, *(item.p for item in found.placed)], len(people))
    chances = table[:, :1] * _independent(groups, table[:, 1:], size)
    chances[:, 0] += 1 - table[:, 0]
    return chances, profile


def _group(
    people: People, known: Sequence[str], name: Any, value: Any
) -> tuple[int, NDArray[np.float64]]:
    pair = is_pair(value)
    columns = columns_of(value[0]) if pair else (name if isinstance(name, tuple) else (name,))
    chance = _chance(people, name, value[1] if pair else value)
    for column in columns:
        if column not in known:
            raise UsageError(
                f'knowledge names "{column}", which is not an auxiliary; '
                f"{did_you_mean(str(column), known)}"
            )
    return sum(1 << known.index(column) for column in set(columns)), chance


def is_pair(value: Any) -> bool:
    """Whether a value is (columns, chance), as `rb.subsets` takes it, and not two chances.

    >>> is_pair(("age", 0.1)), is_pair((["age", "sex"], 0.1)), is_pair([0.1, 0.2])
    (True, True, False)
    """
    two = isinstance(value, tuple | list) and len(value) == 2
    return two and (isinstance(value[0], str) or not np.isscalar(value[0]))


def columns_of(columns: str | Sequence[str]) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _chance(people: People, name: Any, value: ArrayLike) -> NDArray[np.float64]:
    try:
        chance = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            f'knowledge["{name}"] is not a probability; write {{"age": 0.9}}, or '
            '{"home": (["town", "street"], 0.3)} for columns that are learnt together'
        ) from None
    if chance.ndim > 1 or (chance.ndim == 1 and chance.size != len(people)):
        raise UsageError(
            f'knowledge["{name}"] has shape {chance.shape}; give one probability, or one for each '
            f"of the {len(people)} people"
        )
    if not np.all((chance >= 0) & (chance <= 1)):
        raise DataError(f'knowledge["{name}"] must lie between 0 and 1')
    return chance
