"""What an attacker may know: groups of columns, each learnt whole, each with a probability.

Groups are learnt independently.  A subset of the b groups is a mask (bit j: group j is known);
with P_j the probability of group j,

    P(subset y) = prod_{j in y} P_j  prod_{j not in y} (1 - P_j)                  (1)

Where kinds of attackers know differently, P is the mixture over the kinds; where all groups hang on
one list, nothing is known of a person who is not on it.

`knowledge` is the one reader: whatever a function takes as `known=` goes through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from reidbn.calls import refuse_misfit, typed
from reidbn.differing import OWN, chances_told
from reidbn.errors import TooLarge, UsageError, did_you_mean
from reidbn.microdata.classes import Floats, Ints, class_ids, some_of
from reidbn.microdata.table import People, checked_people
from reidbn.written import agree

if TYPE_CHECKING:
    from reidbn.attack.scenario import Scenario

MOST_NAMED = 62
_AT_ONCE = 1 << 23  # numbers of people and subsets
EVEN = 0.5  # the chance of a group of which none was said, where subsets are weighed

Known: TypeAlias = "Mapping[Any, Any] | Sequence[str] | str | Scenario | Knowledge"
"""What `known=` takes; None is every quasi-identifier."""

FORMS = (
    'known= takes column names, {"age": 0.9}, {"home": (["town", "street"], 0.3)} for columns '
    "learnt together, or a scenario (its name, its file or a Scenario)"
)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The groups that may be known, their columns, and how likely each person's are known."""

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    probabilities: Floats
    """One per group; persons x groups where they differ; kinds of attackers x groups."""
    kinds: Floats | None = None
    """The weights of the kinds of attackers, where they know differently."""
    listed: Floats | None = None
    """The chance to be on the one list that all groups hang on: one for all, or one per person."""
    stated: bool = True
    """Whether chances were given, and not columns alone."""
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    bands: Mapping[str, float] = field(default_factory=dict)
    """Columns that are known only in bands of a width."""
    never: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Groups that nobody can know, with their columns; they are in no subset."""
    by_default: bool = False
    """Whether no column was named, so that they are all quasi-identifiers that may be known."""
    about: People | None = None
    """The people whose chances differ, one by one; None where they were not read for a table, and
    where everybody shares the chances.
    """

    def __post_init__(self) -> None:
        """What is the same for everybody, or for all kinds of attackers, is said once."""
        own: dict[str, Any] = {}
        if self.probabilities.ndim == 2 and (self.probabilities == self.probabilities[:1]).all():
            own = {"probabilities": self.probabilities[0], "kinds": None}
        if self.listed is not None and (self.listed == self.listed[:1]).all():
            own["listed"] = self.listed[:1]
        vars(self).update(own)
        if self.is_shared:
            vars(self)["about"] = None

    @property
    def groups(self) -> int:
        return len(self.names)

    @property
    def is_shared(self) -> bool:
        """Whether the probabilities are the same for everybody."""
        each = self.probabilities.ndim == 2 and self.kinds is None
        return not each and (self.listed is None or self.listed.size == 1)

    @property
    def of_each(self) -> dict[str, list[Floats]]:
        """The chances that are each person's own, by the columns that they were said of."""
        one, found = self.in_order, dict[str, list[Floats]]()
        if one.probabilities.ndim == 2 and one.kinds is None:
            for name, own in zip(one.names, one.probabilities.T, strict=True):
                if (own != own[0]).any():
                    found.setdefault(name, []).append(own)
        if one.listed is not None and one.listed.size > 1:
            found["listed"] = [one.listed]
        return found

    @property
    def exactly(self) -> tuple[Any, ...]:
        """What `in_words` rounds or leaves to a group's name: chances for all, columns, bands."""
        one = self.in_order
        if one.is_sure and not one.bands:
            return ()
        shared = [one._of_all(j) if one.kinds is None else None for j in range(one.groups)]
        said = repr((one.columns, sorted(one.bands.items()), shared))
        kinds = () if one.kinds is None else (one.probabilities, one.kinds)
        return (said, *kinds, *(() if one.listed is None or one.listed.size > 1 else (one.listed,)))

    def _of_all(self, j: int) -> float | None:
        """The chance of a group, where everybody shares it."""
        own = self.probabilities[..., j]
        return float(own.flat[0]) if (own == own.flat[0]).all() else None

    @property
    def told(self) -> dict[str, Any]:
        """The columns, and the chances where a chance is all that there is to a group."""
        found: dict[str, Any] = {"on": sorted(self.used)}
        if self.kinds is not None or self.listed is not None or self.bands:
            return found
        said = []
        for j, columns in enumerate(self.columns):
            chance = self._of_all(j)
            name = f"chance of {' + '.join(sorted(columns))}"
            said.append((columns, name, OWN if chance is None else chance))
        return found | {"chances": chances_told(said)}

    @property
    def in_order(self) -> Knowledge:
        """The same, however it was said: what is sure column by column, other groups by what they
        tell beside it, all in the order of the alphabet.
        """
        chances = np.atleast_2d(self.probabilities)
        known, may_be = (chances == 1).all(axis=0), (chances > 0).any(axis=0)
        sure = {c: j for j in np.flatnonzero(known).tolist() for c in self.columns[j]}
        left = [(tuple(sorted({*self.columns[j]} - {*sure})), j)
                for j in np.flatnonzero(may_be & ~known).tolist()]  # fmt: skip
        every = [*(((c,), j) for c, j in sure.items()), *(one for one in left if one[0])]
        every.sort(key=lambda one: (one[0], chances[:, one[1]].tobytes()))
        order = [j for _, j in every]
        return replace(
            self,
            names=tuple(" + ".join(columns) for columns, _ in every),
            columns=tuple(columns for columns, _ in every),
            probabilities=self.probabilities[..., order],
            sources=tuple(self.sources[j] for j in order if self.sources),
        )

    def subset_probabilities(self) -> Floats:
        """P(subset) for every mask, equation (1), where everybody shares the probabilities."""
        rows = np.atleast_2d(self.probabilities)
        weights = np.ones((len(rows), 1))
        for p in rows.T[:, :, None]:
            weights = np.concatenate((weights * (1 - p), weights * p), axis=1)
        found = weights[0] if self.kinds is None else np.asarray(self.kinds @ weights)
        if self.listed is not None:
            found = found * self.listed
            found[0] += 1 - self.listed[0]
        return found

    def alike(self) -> tuple[Floats, Floats, Ints]:
        """Each person's chances once: of the groups, to be on the list, and which are whose."""
        on = np.ones(1) if self.listed is None else self.listed
        people = max(on.size, len(np.atleast_2d(self.probabilities)))
        each = np.empty((people, self.groups + 1), order="F")
        each[:, :-1], each[:, -1] = self.probabilities, on
        codes, ranges = np.empty(each.shape, dtype=np.int32, order="F"), []
        for j, column in enumerate(each.T):
            values, codes[:, j] = np.unique(column, return_inverse=True)
            ranges.append(values.size)
        whose, count = class_ids(codes, ranges)
        rows = each[some_of(whose, count)]
        return rows[:, :-1], rows[:, -1], whose

    def chances(self, masks: Ints) -> Floats:
        """P(subset) of some subsets (`masks`), equation (1): of a person drawn from these."""
        if self.kinds is None:
            rows, on, whose = self.alike()
            share = np.bincount(whose) / whose.size
        else:
            rows, share = self.probabilities, self.kinds
            on = np.ones(1) if self.listed is None else self.listed
        found: Floats = (masks == 0) * float((share * (1 - on)).sum())
        for i in range(0, len(rows), step := max(1, _AT_ONCE // masks.size)):
            weights = np.ones((len(rows[i : i + step]), masks.size))
            for j, p in enumerate(rows[i : i + step].T[:, :, None]):
                weights *= np.where(masks >> j & 1, p, 1 - p)
            found += (share * on)[i : i + step] @ weights
        return found

    def expected(self, values: Floats, rows: slice = slice(None)) -> Floats:
        """Expectation over subsets of values (people x subsets) of the people in `rows`."""
        if self.kinds is not None:
            each = [expected(values, p) for p in self.probabilities]
            found = np.asarray(self.kinds @ np.stack(each))
        elif self.probabilities.ndim == 2:
            found = expected(values, self.probabilities[rows])
        else:
            found = expected(values, self.probabilities)
        if self.listed is None:
            return found
        on = self.listed if self.listed.size == 1 else self.listed[rows]
        return np.asarray(on * found + (1 - on) * values[:, 0])

    @property
    def is_sure(self) -> bool:
        """Whether every column is known of everybody."""
        of_all = (np.atleast_2d(self.probabilities) == 1).all(axis=0)
        sure = {c for j in np.flatnonzero(of_all).tolist() for c in self.columns[j]}
        return self.listed is None and sure >= {*self.used}

    def sure(self) -> Knowledge:
        """Every group is known for sure."""
        every = np.ones(self.groups)
        return replace(self, probabilities=every, kinds=None, listed=None, stated=True)

    def without(self, column: str) -> Knowledge:
        """Nobody learns this column; a group of which nothing is left goes."""
        columns = [tuple(c for c in group if c != column) for group in self.columns]
        kept = [j for j, group in enumerate(columns) if group]
        return replace(
            self,
            names=tuple(self.names[j] for j in kept),
            columns=tuple(columns[j] for j in kept),
            probabilities=self.probabilities[..., kept],
            sources=tuple(self.sources[j] for j in kept if self.sources),
            bands={name: width for name, width in self.bands.items() if name != column},
        )

    def seen(self, people: People) -> People:
        """The people as the attacker sees them, who knows some columns in bands only."""
        from reidbn.microdata.banded import seen

        return seen(people, self.bands) if self.bands else people

    def subset(self, mask: int) -> tuple[str, ...]:
        """The names of the groups in a subset."""
        return tuple(name for j, name in enumerate(self.names) if mask >> j & 1)

    def in_words(self) -> str:
        """The groups, with the chances that everybody shares; others are each person's own."""
        if self.is_sure or not self.names:
            return f"{', '.join(self.names) or 'nothing'} known"
        how = ", by a chance of each person's own"
        if self.is_shared:
            rows = np.atleast_2d(self.probabilities)
            shared = rows[0] if self.kinds is None else self.kinds @ rows / self.kinds.sum()
            how = f" with {'chance' if len(shared) == 1 else 'chances'} "
            how += ", ".join(f"{chance:.4g}" for chance in shared)
            how += "" if self.kinds is None else f", on average over {len(rows)} kinds of attackers"
            how += "" if self.listed is None else f", of those on a list ({self.listed[0]:.4g})"
        return f"{', '.join(self.names)} known{how}"

    @property
    def used(self) -> tuple[str, ...]:
        """The columns of all groups, each once."""
        return tuple(dict.fromkeys(column for columns in self.columns for column in columns))

    def known_columns(self, mask: int) -> tuple[str, ...]:
        """The columns that a subset of the groups makes known, each once."""
        chosen = [self.columns[j] for j in range(self.groups) if mask >> j & 1]
        return tuple(dict.fromkeys(column for columns in chosen for column in columns))

    def __repr__(self) -> str:
        chances = "" if self.stated else ", chances not said"
        return f"<Knowledge of {', '.join(self.names) or 'nothing'}{chances}>"


def sure_of(columns: Iterable[str]) -> Knowledge:
    """These columns are known, each by itself."""
    names = tuple(columns)
    return Knowledge(names, tuple((name,) for name in names), np.ones(len(names)))


def expected(values: Floats, probabilities: Floats) -> Floats:
    """Expectation over subsets of values (people x subsets), groups being known independently.

    `probabilities` has one entry per group, or people x groups.

    >>> expected(np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([0.25, 0.5]))
    array([0.25])
    """
    groups = probabilities.shape[-1]
    for j in range(groups - 1, -1, -1):
        p = probabilities[..., j : j + 1]
        half = 1 << j
        values = (1 - p) * values[:, :half] + p * values[:, half:]
    return values[:, 0]


# -- the one reader ------------------------------------------------------------------------------


@typed
def knowledge(
    people: People,
    known: Known | None = None,
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    without: Sequence[str] = (),
    unknown: Sequence[str] = (),
    sensitive: str | None = None,
) -> Knowledge:
    """What an attacker may know of these people, from any way to say it.

    `known` is None (every quasi-identifier), column names, {name: chance}, {name: (columns,
    chance)}, a scenario's name or file, or a `Scenario`; a chance is one number, or one per person.
    A pandas Series follows its index where that is the subject ids.  What differs from person to
    person holds for these people alone, however coarse they are made.
    A group that nobody can know (chance 0 throughout) is in no subset, and one must be left that
    somebody can.  `unknown` names
    quasi-identifiers that nobody knows: a scenario has to speak of all others, but of the
    `sensitive` column asked about.  Of a scenario, `columns` maps its attributes to the table's
    columns, and `without` leaves attributes out.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1]], ["sex", "race"])
    >>> knowledge(people, {"sex": 0.25, "both": (["sex", "race"], 0.5)}).subset_probabilities()
    array([0.375, 0.125, 0.375, 0.125])
    """
    checked_people(people)
    if isinstance(known, Knowledge):
        return _fitting(known, people)
    if is_scenario(known, people):
        return _of_scenario(people, known, columns or {}, without, unknown, sensitive)
    if columns or len(without):
        raise UsageError("columns= and without= are about a scenario; known= names none")
    groups, stated = said_groups(people, known)
    if known is None:
        groups = [group for group in groups if group[0] not in unknown]
    refuse_contradiction(people, groups, unknown)
    kept = [group for group in groups if group[2].any()]
    if not kept:
        raise UsageError("nothing can be known by this known=; name a column with a chance above 0")
    if len(kept) > MOST_NAMED:
        raise TooLarge(
            f"{len(kept)} groups; at most {MOST_NAMED} may be known or not: join some that are "
            f"learnt together, or leave some out"
        )
    chances = [chance for _, _, chance in kept]
    if all(chance.ndim == 0 for chance in chances):
        table = np.array(chances, dtype=np.float64)
    else:
        table = np.stack([np.broadcast_to(chance, len(people)) for chance in chances], axis=1)
    names, owned = tuple(name for name, _, _ in kept), tuple(columns for _, columns, _ in kept)
    never = [(name, columns) for name, columns, chance in groups if not chance.any()]
    never += [(name, (name,)) for name in unknown]
    return Knowledge(
        names, owned, table, stated=stated, never=tuple(never), by_default=known is None,
        about=people,
    )  # fmt: skip


def weighed(people: People, known: Known | None) -> Knowledge:
    """What is known, where subsets are weighed by its chances: by default 1/2 of each column.

    Columns without chances are refused: what is named to a leak is known, and the default is not.
    """
    what = knowledge(people, known)
    if what.by_default or what.stated or not what.groups:
        return replace(what, stated=True)
    first = what.names[0]
    raise UsageError(
        f"{', '.join(what.names)} {agree(what.groups, 'is', 'are')} named without chances, and a "
        f"person's risk over all subsets is an average by these: say 1 where something is known "
        f'for sure, as a leak takes it (known={{"{first}": 1}}), or 0.5 for an even chance '
        f'(known={{"{first}": 0.5}}), which every column has where nothing is named at all'
    )


def is_scenario(known: Any, people: People) -> bool:
    """Whether `known=` is a scenario, or the name or file of one, and not a column."""
    if isinstance(known, str):
        if not known.strip():
            raise UsageError(f"known= is empty; {FORMS}")
        return known not in people.columns
    return hasattr(known, "knows") and hasattr(known, "facts")


def said_groups(
    people: People, known: Any
) -> tuple[list[tuple[str, tuple[str, ...], Floats]], bool]:
    """The groups of `known=` where it is no scenario: name, columns, chance; and whether chances
    were given.
    """
    if known is None or isinstance(known, str | list | tuple):
        listed = people.names(known)
        if not listed:
            raise UsageError(f"known= is empty; {FORMS}")
        return [(name, (name,), np.array(EVEN)) for name in listed], False
    if not isinstance(known, Mapping):
        raise UsageError(f"{FORMS}; found {type(known).__name__}")
    if not known:
        raise UsageError(f"known= is empty; {FORMS}")
    groups = [_group(people, name, value) for name, value in known.items()]
    names = [name for name, _, _ in groups]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f'known= names "{name}" twice; give each group once')
    return groups, True


def refuse_contradiction(
    people: People, groups: Sequence[tuple[str, tuple[str, ...], Any]], unknown: Sequence[str]
) -> None:
    """What is said to be unknown is a quasi-identifier that no group makes known."""
    for name in unknown:
        if name not in people.quasi_identifiers:
            hint = did_you_mean(name, people.quasi_identifiers)
            raise UsageError(f'unknown names "{name}", which is no quasi-identifier; {hint}')
        if any(name in columns for _, columns, _ in groups):
            raise UsageError(f'"{name}" is said to be unknown, and known= names it; leave one out')


def _group(people: People, name: Any, value: Any) -> tuple[str, tuple[str, ...], Floats]:
    """One entry of a mapping; a name may be a tuple of columns."""
    label = " + ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    pair = is_pair(value)
    if not pair and not isinstance(name, str | tuple):
        raise UsageError(f"{FORMS}; a name is {type(name).__name__}")
    wanted = value[0] if pair else name
    refuse_misfit("known", label, wanted, str | Sequence[str] | np.ndarray)
    wanted = np.atleast_1d(np.asarray(wanted, dtype=object)).tolist()
    if not wanted:
        raise UsageError(f'known["{label}"] names no column; a group has at least one')
    for column in wanted:
        if np.ndim(column):
            raise UsageError(f'known["{label}"] names its columns in a plain list, not in lists')
        if column not in people.columns:
            hint = did_you_mean(str(column), people.columns)
            if not hint.startswith("did"):  # a secret is a column, and hardly what was meant
                hint = did_you_mean(str(column), people.quasi_identifiers or people.columns)
            raise UsageError(f'known["{label}"]: there is no column "{column}"; {hint}')
    columns = tuple(dict.fromkeys(map(str, wanted)))
    return label, columns, _chance(label, value[1] if pair else value, people)


def is_pair(value: Any) -> bool:
    """Whether a value is (columns, chance), and not two chances.

    >>> is_pair(("age", 0.1)), is_pair((["age", "sex"], 0.1)), is_pair([0.1, 0.2])
    (True, True, False)
    """
    two = isinstance(value, tuple | list) and len(value) == 2
    return two and (isinstance(value[0], str) or not np.isscalar(value[0]))


def in_their_order(people: People, values: Any, where: str) -> Any:
    """Values one per person; a pandas index says whose each is, where it names the subjects."""
    index = getattr(values, "index", None)
    if index is None or callable(index) or not people.one_by_one or len(index) != len(people):
        return values
    import pandas as pd

    by_row = index.equals(pd.RangeIndex(len(people)))
    ids = people.subject_ids
    place = np.empty(0, dtype=np.intp)
    if ids is not None and index.is_unique and index.nlevels == 1 and pd.Index(ids).is_unique:
        place = index.get_indexer(pd.Index(ids))
    by_id = place.size > 0 and bool((place >= 0).all())
    if by_row and (not by_id or bool((place == np.arange(place.size)).all())):
        return values
    if by_id and not by_row:
        return values.to_numpy()[place]
    found = "may be row numbers or subject ids" if by_row else "is not 0, 1, 2, ..."
    also = "" if ids is None or by_row else ", or index them by the subject ids, each once"
    raise UsageError(
        f"{where}: the index of these values {found}, and does not say whose each is; put them in "
        f"the order of the people and give them without it (.to_numpy()){also}"
    )


def _refuse_of_cells(name: str) -> NoReturn:
    raise UsageError(
        f"known{name} is said of people one by one, and a contingency tells only how many there "
        "are of each combination: give one number for all, or a scenario's name, or read the "
        "people with rb.read_table"
    )


def _chance(name: str, value: Any, people: People) -> Floats:
    records, ordered = len(people), in_their_order(people, value, f'known["{name}"]')
    try:
        chance = np.array(ordered, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(
            f'known["{name}"]: the probability is not a number, nor one per person; write '
            '{"age": 0.9}, or {"home": (["town", "street"], 0.3)} for columns learnt together'
        ) from None
    if chance.ndim and not people.one_by_one:
        _refuse_of_cells(f'["{name}"]')
    if chance.ndim > 1 or (chance.ndim == 1 and chance.size != records):
        raise UsageError(
            f'known["{name}"]: {chance.size} probabilities for {records} people; '
            "give one for all, or one each"
        )
    if not ((chance >= 0) & (chance <= 1)).all():
        raise UsageError(f'known["{name}"]: a probability is outside 0..1 or not a number')
    same = chance.ndim and (chance == chance.flat[0]).all()
    return np.array(chance.flat[0]) if same else chance  # one for all, however it was said


def _fitting(known: Knowledge, people: People) -> Knowledge:
    people.names(list(known.used))
    if known.is_shared:
        return known
    if not people.one_by_one:
        _refuse_of_cells("=")
    each = known.probabilities if known.kinds is None else np.empty(0)
    sizes = {len(each)} if each.ndim == 2 else set()
    if known.listed is not None and known.listed.size > 1:
        sizes.add(known.listed.size)
    if sizes - {len(people)}:
        raise UsageError(
            f"this knowledge is about {max(sizes)} people, and the table has {len(people)}; read "
            "it for these: rb.microdata.knowledge(people, ...)"
        )
    if known.about is not None and not people.has_the_people_of(known.about):
        raise UsageError(
            "this knowledge has a chance for each person of another table, or of these people in "
            "another order; read it for these: rb.microdata.knowledge(people, ...)"
        )
    return known


def _of_scenario(
    people: People,
    known: Any,
    columns: Mapping[str, str | Sequence[str]],
    without: Sequence[str],
    unknown: Sequence[str],
    sensitive: str | None,
) -> Knowledge:
    """What a scenario says is known of these people; refused where it says more than that."""
    from reidbn.attack.modelfile import models_with
    from reidbn.attack.scenario import Profile
    from reidbn.attack.scenariofile import load_scenario
    from reidbn.microdata.placing import place, refuse_unnamed

    whole = load_scenario(known)
    if whole.knows is not None and whole.knows.sparse is not None:
        raise UsageError(
            f"scenario {whole.name} is about sparse records, of which any few facts may be known: "
            f'rb.assess("linkage", rb.read_sparse(table), scenario="{whole.name}")',
            in_shell=f"scenario {whole.name} is about sparse records, of which any few facts may "
            "be known: reidbn linkage reads these",
        )
    if whole.beside_known:
        more = ", ".join(whole.beside_known)
        said = (
            f"scenario {whole.name} says more than what is known ({more}), which would be dropped "
            "here: there is no network. Ask "
        )
        takes = models_with(*whole.set) if whole.set else ()
        attack = f'"{takes[0]}"' if takes else "attack"
        named = f" --attack {takes[0]}" if takes else ""
        raise UsageError(
            f'{said}rb.assess({attack}, people, scenario="{whole.name}"), or say what is known in '
            "a dict",
            in_shell=f"{said}reidbn assess{named} --scenario {whole.name}, or say what is known: "
            "--known COLUMN=CHANCE",
        )
    if whole.knows is None:
        raise UsageError(f'scenario "{whole.name}" does not say what is known')
    renamed = whole.renamed(columns)
    scenario = renamed.without(without)
    assert scenario.knows is not None  # noqa: S101 - the whole one has it
    found = place(scenario.knows, people, scenario.facts, unknown=unknown)
    notes = refuse_unnamed(
        people, renamed, found, without=without, unknown=unknown, alone=True, sensitive=sensitive
    )
    placed = found.placed
    names, owned = tuple(p.label for p in placed), tuple(p.columns for p in placed)
    kinds = None
    if isinstance(found.parent, Profile):
        kinds = np.array(list(found.parent.weights.values()))
        table = np.concatenate([p.p for p in placed], axis=1)
    elif all(len(p.p) == 1 for p in placed):
        table = np.array([float(p.p[0]) for p in placed])
    else:
        table = np.stack([np.broadcast_to(p.p, len(people)) for p in placed], axis=1)
    return Knowledge(
        names,
        owned,
        table,
        kinds,
        found.parent_p,
        sources=tuple(p.source for p in placed),
        notes=(*found.notes, *notes),
        bands=found.bands,
        never=tuple((name, (name,)) for name in unknown),
        about=people,
    )
