"""How exactly an attacker knows a value, and P(subset) of the columns that may be known.

- `ranges`: a column known only as the range that its value lies in;
- `tolerance`: a column known to within plus or minus t, so that peers need not be equal.

What a question about disclosure names, checked against the table and turned into codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attacks.secrets.histories import Histories, value_sets
from reidbn.calls import refuse_misfit
from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.microdata.classes import Codes, Floats, Ints
from reidbn.microdata.decimals import bands, near
from reidbn.microdata.knowledge import FORMS, Knowledge, Known, is_scenario, knowledge
from reidbn.microdata.table import People, refuse_emptied
from reidbn.written import agree, counted

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
    refuse_misfit("disclosure", f'ranges["{column}"]', spec, float | Sequence[float])
    if isinstance(spec, Sequence | np.ndarray):
        cuts = np.asarray(spec, dtype=np.float64)
        if cuts.size == 0 or np.any(np.diff(cuts) <= 0):
            raise UsageError(f'ranges["{column}"] must list rising first values, such as [18, 65]')
        place: NDArray[Any] = np.searchsorted(cuts, values, side="right")
    else:
        if not spec > 0:
            raise UsageError(f'ranges["{column}"] is a width of {spec}; it must be above 0')
        place = bands(values, spec)
    place = np.where(np.isnan(values), np.inf, place)
    return np.unique(place, return_inverse=True)[1]


def near_matrix(labels: NDArray[Any], column: str, width: float) -> NDArray[np.bool_]:
    """Codes x codes: whether two values of a numeric column are at most `width` apart.

    >>> near_matrix(np.array([1, 3, 4]), "age", 2).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    """
    refuse_misfit("tolerance", column, width, float)
    if not width >= 0:
        raise UsageError(f'the tolerance of "{column}" is {width}; it must be 0 or more')
    values = numbers(labels, column)
    found = near(values, values, width)
    np.fill_diagonal(found, val=True)
    return found


def chances_of(people: int, known: Sequence[str], what: Knowledge) -> tuple[Floats, Ints | None]:
    """P(A) for every subset of the known columns, per profile, and each person's profile.

    Columns in no group are never known, and a column in two groups is known when either is.  The
    profile is None when everybody has the same chances.

    >>> what = Knowledge(("age", "sex"), (("age",), ("sex",)), np.array([0.5, 0.25]))
    >>> chances_of(2, ["age", "sex"], what)[0].round(3).tolist()
    [[0.375, 0.375, 0.125, 0.125]]
    """
    groups = [sum(1 << known.index(c) for c in columns) for columns in what.columns]
    size = 1 << len(known)
    if what.kinds is not None:
        each = _independent(groups, what.probabilities, size)
        table: Floats = what.kinds[None, :] @ each
    elif what.probabilities.ndim == 1:
        table = _independent(groups, what.probabilities[None, :], size)
    else:
        rows, kind = np.unique(what.probabilities, axis=0, return_inverse=True)
        return _on_list(_independent(groups, rows, size), kind.reshape(-1), what, people)
    return _on_list(table, None, what, people)


def _on_list(
    table: Floats, profile: Ints | None, what: Knowledge, people: int
) -> tuple[Floats, Ints | None]:
    """The chances where all groups hang on one list: nothing is known of who is not on it."""
    if what.listed is None:
        return table, profile
    on, which = np.unique(what.listed, return_inverse=True)
    mixed = on[:, None, None] * table
    mixed[:, :, 0] += (1 - on)[:, None]
    if on.size == 1:
        return mixed[0], profile
    place = which.reshape(-1) * len(table) + (0 if profile is None else profile)
    pairs, profile = np.unique(np.broadcast_to(place, people), return_inverse=True)
    return mixed.reshape(-1, table.shape[1])[pairs], profile.reshape(-1)


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


# -- what a question about disclosure names, checked against the table and  ------------------------


MOST_KNOWN = 20
IF_MISSING = ("left-out", "value")
NOTHING_KNOWN = "knowing nothing counts, too"
Match = NDArray[np.bool_]


def auxiliaries(people: People, sensitive: str, known: Any) -> list[str]:
    people.names([sensitive])
    if known is not None and not isinstance(known, str | list | tuple | Mapping | Knowledge):
        raise UsageError(f"known= is a {type(known).__name__}; {FORMS}")
    if known is not None and not isinstance(known, str | list | tuple):
        raise UsageError(
            "known= lists columns here, where every subset of them counts alike: chances would be "
            "dropped; rb.disclosure takes them"
        )
    if known is None:
        names = [name for name in people.columns if name != sensitive]
    else:
        wanted = set(people.names(known))
        if not wanted:
            raise UsageError(f"known= is empty; {FORMS}")
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


@dataclass(frozen=True, eq=False)
class Individuals:
    """Whose secrets are asked about, and among whom their peers are counted."""

    people: People
    """Those whose secret is in the table."""
    rows: Ints | None
    """The individuals, as rows of `people`; None for all of them."""
    drawn_from: int | None
    """How many people the individuals are a random sample of; None if they are not a sample."""
    origin: Ints | None
    """Each of `people`'s row in the table given; None where nobody was left out."""
    notes: tuple[str, ...] = ()
    blank_counts: bool = False
    """Whether a blank is a value of the secret, also in one of a person's several records."""

    def settled(self, profile: Ints | None) -> Ints | None:
        """One number per person of the table given, as one per person of `people`."""
        return profile if profile is None or self.origin is None else profile[self.origin]


def asked_of(
    people: People,
    sensitive: str,
    individuals: int | ArrayLike | None,
    seed: int,
    *,
    values: Sequence[Any] | None = None,
    if_missing: str = "left-out",
    drawn: bool = False,
    skip: bool = False,
) -> Individuals:
    """Leave out whoever's secret is missing, then choose the individuals among the others.

    `drawn` says that `individuals` are rows that were drawn at random from everybody; `skip` leaves
    those whose secret is missing out of them, too, instead of refusing.
    """
    people.names([sensitive])
    if if_missing not in IF_MISSING:
        raise UsageError(f'if_missing is "{if_missing}"; {did_you_mean(if_missing, IF_MISSING)}')
    there = has_secret(people, sensitive)
    if if_missing == "value" or there.all():
        there, origin, kept, notes = np.ones(len(people), dtype=bool), None, people, []
    else:
        if not there.any():
            raise UsageError(
                f'every value of "{sensitive}" is {told_of_nobody(people, sensitive)}; name '
                "another secret, or ask of a table in which its values stand"
            )
        origin = np.flatnonzero(there)
        kept = people.take(origin)
        lost = len(people) - origin.size
        notes = [f"left out, as peers too: {counted(lost, 'person')} whose {sensitive} is missing"]
    place = np.cumsum(there) - 1
    may = np.flatnonzero(there)
    if values is not None:
        may = may[_having(people, sensitive, values)[may]]
        notes.append(
            f"asked about the {counted(may.size, 'person')} with a named value of {sensitive}"
        )
        if several(people, sensitive):
            notes.append(
                f"where a person has several records, PPP is the least over all of the person's "
                f"own values of {sensitive}, named or not"
            )
    rows = _chosen(people, individuals, seed, may, there, skip=skip)
    named = values is not None and individuals is None
    sampled = individuals is not None and (drawn or np.ndim(individuals) == 0)
    if rows is not None and not named:
        notes.append(
            f"{counted(rows.size, 'individual')} "
            f"{'drawn at random from' if sampled else 'chosen among'} "
            f"{counted(may.size, 'person')}"
        )
    return Individuals(
        kept,
        None if rows is None else place[rows],
        may.size if sampled else None,
        origin,
        tuple(notes),
        blank_counts=if_missing == "value",
    )


def has_secret(people: People, sensitive: str) -> NDArray[np.bool_]:
    """Whose secret is in the table: not missing, not suppressed as "*".

    A person with several records has one when any of the records does.
    """
    history = people.history
    if history is not None and several(people, sensitive):
        labels, codes = history.schema[history.place(sensitive)].labels, history.records
        found = _told(labels)[codes[:, history.place(sensitive)]]
        return np.asarray(np.bincount(history.owner, weights=found, minlength=len(people)) > 0)
    return _told(people.labels(sensitive))[people.table[:, people.columns.index(sensitive)]]


def told_of_nobody(people: People, column: str) -> str:
    """What stands in a column without values, in words."""
    starred = any(value == "*" for value in own_labels(people, column).tolist())
    return '"*"' if starred else "missing"


def several(people: People, column: str) -> bool:
    """Whether a column is coded as whole histories: people have several values of it."""
    history = people.history
    if history is None:
        return False
    return people.column(column).labels is not history.schema[history.place(column)].labels


def _told(labels: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([not (value is None or value == "*") for value in labels.tolist()])


def own_labels(people: People, column: str) -> NDArray[Any]:
    """The values of a column by code; of single records, where people have several."""
    history = people.history
    if history is not None and several(people, column):
        return history.schema[history.place(column)].labels
    return people.labels(column)


def _having(people: People, sensitive: str, values: Sequence[Any]) -> NDArray[np.bool_]:
    """Who has one of these values of the secret (in any record)."""
    wanted = [values] if isinstance(values, str) or not isinstance(values, Sequence) else values
    refuse_misfit("disclosure", "sensitive_values", wanted, Sequence[str | float | bool | None])
    labels = own_labels(people, sensitive).tolist()
    lost = [value for value in wanted if value not in labels]
    if lost or not len(wanted):
        raise UsageError(
            f"sensitive_values names {counted(len(lost), 'value') if lost else 'no values'} that "
            f"{agree(len(lost), 'does', 'do')} not occur in "
            f'"{sensitive}"; give some of its {len(labels)}, as they are read'
        )
    hit = np.array([label in wanted for label in labels])
    history = people.history
    if history is not None and several(people, sensitive):
        found = hit[history.records[:, history.place(sensitive)]]
        return np.asarray(np.bincount(history.owner, weights=found, minlength=len(people)) > 0)
    return np.asarray(hit[people.table[:, people.columns.index(sensitive)]])


def _chosen(
    people: People,
    individuals: int | ArrayLike | None,
    seed: int,
    may: Ints,
    there: NDArray[np.bool_],
    *,
    skip: bool,
) -> Ints | None:
    """The individuals' rows of the table given; None for everybody who has the secret."""
    if individuals is None:
        if may.size == 0:
            raise UsageError("nobody who has the named values is left to ask about")
        return None if may.size == np.count_nonzero(there) else may
    wanted = np.asarray(individuals)
    if wanted.ndim == 0:
        if not 0 < int(wanted) <= may.size:
            raise UsageError(
                f"individuals={int(wanted)}; there {agree(may.size, 'is', 'are')} "
                f"{counted(may.size, 'person')} to ask about, ask for 1 "
                "of them or more"
            )
        generator = np.random.default_rng(seed)
        return np.sort(may[generator.choice(may.size, int(wanted), replace=False)])
    if wanted.dtype.kind not in "iu":
        raise UsageError("individuals must be row numbers, or how many people to draw")
    if wanted.size == 0 or wanted.min() < 0 or wanted.max() >= len(people):
        raise UsageError(f"individuals must be row numbers from 0 to {len(people) - 1}")
    if np.unique(wanted).size != wanted.size:
        raise UsageError("individuals names a row twice; name each person once")
    asked = np.isin(wanted, may)
    if skip and asked.any():
        wanted = wanted[asked]
    elif not asked.all():
        lost = int(np.count_nonzero(~asked))
        raise UsageError(
            f"{lost} of the individuals {agree(lost, 'has', 'have')} no secret to ask about (it is "
            "missing, or not a named value); leave them out"
        )
    return wanted.astype(np.int64)


def draw(people: People, individuals: int, seed: int) -> Ints:
    """Rows of that many people, drawn at random from everybody."""
    everybody = np.arange(len(people))
    rows = _chosen(people, individuals, seed, everybody, np.ones(len(people), dtype=bool),
                   skip=False)  # fmt: skip
    return everybody if rows is None else rows


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
    """Codes and cardinalities of the auxiliaries and the secret, in this order."""
    if several(people, sensitive):
        raise UsageError(
            f'people have several values of "{sensitive}", and this is counted for one value '
            "each; read the table with one row per person, or ask rb.disclosure"
        )
    return recoded(people, [*names, sensitive], ranges)


def recoded(
    people: People, columns: Sequence[str], ranges: Mapping[str, Range]
) -> tuple[Codes, tuple[int, ...]]:
    """Codes and cardinalities of columns, some of them known as a range."""
    codes, cardinalities = whole_codes(people, columns), list(people.cardinalities(columns))
    if ranges:
        codes = np.array(codes, order="F")
        for name, spec in ranges.items():
            band = ranges_of(people.labels(name), name, spec)
            j = list(columns).index(name)
            codes[:, j] = band[codes[:, j]]
            cardinalities[j] = int(band.max()) + 1
    return codes, tuple(cardinalities)


@dataclass(frozen=True, eq=False)
class Blur:
    """How exactly values are known, and how near a guess must be."""

    ranges: Mapping[str, Range]
    tolerance: Mapping[str, float]
    within: float | None

    def check(self, names: Sequence[str]) -> None:
        among(names, "ranges", self.ranges)
        among(names, "tolerance", self.tolerance)
        both = [name for name in self.tolerance if name in self.ranges]
        if both:
            raise UsageError(f'"{both[0]}" has both a range and a tolerance; choose one')

    def notes(self) -> list[str]:
        found = []
        if self.ranges:
            found.append(f"known as a range only: {', '.join(self.ranges)}")
        if self.tolerance:
            near = ", ".join(f"{k} +-{v:g}" for k, v in self.tolerance.items())
            found.append(f"known within: {near}")
        if self.within is not None:
            found.append(f"a guess within {self.within:g} of the secret counts as a breach")
        return found

    def exactly(self, names: Sequence[str]) -> tuple[str, ...]:
        """Ranges that the words only count."""
        named = [(n, self.ranges[n]) for n in names if isinstance(self.ranges.get(n), Mapping)]
        return tuple(f"{n}: {sorted(spec.items(), key=str)}" for n, spec in named)  # type: ignore[union-attr]

    def words(self, names: Sequence[str], *, empty: bool) -> tuple[str, ...]:
        """What makes one question another, in words."""
        found = [f"{n} by {_range_words(self.ranges[n])}" for n in names if n in self.ranges]
        found += [f"{n} to within {self.tolerance[n]:g}" for n in names if n in self.tolerance]
        found += [f"a guess within {self.within:g} counts"] if self.within is not None else []
        return (*found, NOTHING_KNOWN) if empty else tuple(found)


def _range_words(spec: Range) -> str:
    if isinstance(spec, Mapping):
        return f"{len(set(spec.values()))} named ranges"
    if isinstance(spec, Sequence | np.ndarray):
        return "ranges from " + ", ".join(f"{cut:g}" for cut in spec)
    return f"ranges of {spec:g}"


def relations_of(
    people: People, names: Sequence[str], sensitive: str, blur: Blur
) -> dict[int, Match]:
    """Which codes may be the same person's, for the columns that do not match by equality.

    A range or a tolerance adds matches and takes none away: a missing cell that matches anything
    does so in a band, too.
    """
    refuse_emptied(people, "disclosure in bands or of such a column",
                   [*blur.tolerance, *blur.ranges, sensitive])  # fmt: skip
    found: dict[int, Match] = {}
    for j, name in enumerate(names):
        if people.is_partition and name not in blur.tolerance:
            continue
        alike = people.matches(name)
        if name in blur.tolerance:
            alike = alike | near_matrix(people.labels(name), name, blur.tolerance[name])
        if name in blur.ranges:
            alike = _of_bands(alike, ranges_of(people.labels(name), name, blur.ranges[name]))
        found[j] = alike
    if blur.within is not None:
        found[len(names)] = near_matrix(people.labels(sensitive), sensitive, blur.within)
    return found


def _of_bands(alike: Match, band: Ints) -> Match:
    """Bands x bands: whether a value of the one may match a value of the other.

    >>> _of_bands(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], bool), np.array([0, 0, 1])).tolist()
    [[True, False], [False, True]]
    """
    found = np.zeros((band.max() + 1,) * 2, dtype=bool)
    own, others = np.nonzero(alike)
    found[band[own], band[others]] = True
    return found


def histories_of(
    people: People,
    names: Sequence[str],
    sensitive: str,
    blur: Blur,
    wanted: Individuals,
    *,
    empty: bool,
) -> Histories:
    """The counts where people have several values of the secret."""
    history = people.history
    if history is None:
        raise UsageError(f'people have one value of "{sensitive}" each')
    inexact = [name for name in names if people.column(name).relation is not None]
    if blur.tolerance or blur.within is not None or inexact:
        raise UsageError(
            f'people have several values of "{sensitive}", and those are counted among people '
            'alike by equality: leave tolerance= and within= out, and read with missing="value"'
        )
    whole_codes(people, names)
    codes, cardinalities = recoded(people, names, blur.ranges)
    labels = history.schema[history.place(sensitive)].labels.tolist()
    missing = [code for code, label in enumerate(labels) if label is None or label == "*"]
    if wanted.blank_counts:
        missing = []
    owner, value, values = value_sets(history, sensitive, missing)
    return Histories(codes, cardinalities, owner, value, values, empty, wanted.rows)


def sampling_pays(people: int, individuals: int, columns: int) -> bool:
    """Whether comparing each individual with everybody beats walking over all subsets."""
    walk = 2.0**columns * people * 2
    compare = individuals * (people * (columns + 4.0) + 2.0**columns * columns * 4)
    return compare < walk


def said_of(
    people: People, sensitive: str, known: Known | None, weighed: Known | None
) -> tuple[Sequence[str] | None, Knowledge | None]:
    """The auxiliaries and their chances: what `known` and the older `knowledge` say together."""
    names: Sequence[str] | None = None
    if isinstance(known, Knowledge) and not known.stated:  # columns alone
        known = list(knowledge(people, known).used)
    if known is not None and has_chances(known, people):
        if weighed is not None:
            raise UsageError("known= and knowledge= both give chances; give them in known= alone")
        weighed = known
    else:
        names = known  # type: ignore[assignment]  # columns, or none named
    if weighed is None:
        return names, None
    what = knowledge(people, weighed, sensitive=sensitive)
    aux = what.used if weighed is known else auxiliaries(people, sensitive, names)
    for column in what.used:
        if column in aux and column != sensitive:
            continue
        if not what.sources:  # said by the caller, and not by a scenario
            if column == sensitive:
                raise UsageError(f'"{column}" is the secret and cannot be known; drop it')
            hint = did_you_mean(column, aux)
            raise UsageError(f'knowledge names "{column}", which is not an auxiliary; {hint}')
        what = what.without(column)
    if not what.groups and weighed is known:
        raise UsageError(f'nothing that is said to be known is beside "{sensitive}"')
    return (list(what.used) if weighed is known else names), what


def has_chances(known: Known, people: People) -> bool:
    """Whether `known=` says more than which columns."""
    return isinstance(known, Mapping | Knowledge) or is_scenario(known, people)


def between_commas(names: Sequence[str]) -> str:
    """Columns in one text, as a command reads them: a comma in a name stays in quotes.

    >>> between_commas(["age", "last, first"]), between_commas([])
    ('age,"last, first"', 'nothing')
    """
    return ",".join(f'"{name}"' if "," in name else name for name in names) or "nothing"
