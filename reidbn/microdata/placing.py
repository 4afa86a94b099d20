"""From what an attacker knows to the groups of an attack, for the people of a table.

Groups that are known to everybody for sure are joined into one member, and groups that are known
of nobody are left out: the answer is the same, and 2^b stays small.  Where the attack counts how
many are known it would not be, and every attribute is a member of its own.

Every column that was named for an attacker is one that the scenario speaks of, or is refused.

A quasi-identifier that no group of the scenario uses would be known of nobody: a verdict about
everything but that column, in the words of one about everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.events import EVERYTHING_SURE
from reidbn.attack.register import REGISTER, SHOWS, as_key, values_by_key
from reidbn.attack.scenario import (
    ByPerson,
    Chance,
    FactLookup,
    Known,
    Knows,
    Listed,
    Profile,
    Scenario,
)  # fmt: skip
from reidbn.errors import DataError, ModelError, UsageError, did_you_mean
from reidbn.microdata.banded import (
    CROSSES,
    can_be_banded,
    is_finer,
    reaches_over,
    refuse_dates,
    refuse_no_ages,
    seen,
    why_not_banded,
)
from reidbn.microdata.classes import some_of
from reidbn.microdata.table import People
from reidbn.written import agree, counted

Array = NDArray[np.float64]
RACES = frozenset(
    ("white", "black", "asian", "african", "native", "pacific", "indian", "caucasian")
)
FactTable = Mapping[str, Sequence[object]]  # a table of facts: columns by name


@dataclass(frozen=True)
class Placed:
    """One member of the group, at the people: columns, and the chance of each person."""

    member: str
    label: str
    columns: tuple[str, ...]
    p: Array  # length 1 or one per person; one row per profile with a Profile parent
    source: str


@dataclass(frozen=True)
class Groups:
    """The members of the attack's group for these people, and what was left out and why."""

    placed: tuple[Placed, ...]
    parent: Listed | Profile | None
    parent_p: Array | None
    notes: tuple[str, ...]
    joined: Mapping[str, str] = field(default_factory=dict)
    """Members that were joined with others, and the one that stands for them."""
    bands: Mapping[str, float] = field(default_factory=dict)
    """Columns that are known only in bands of a width."""
    used: frozenset[str] = frozenset()
    """Columns of which the scenario says how likely they are known, never included."""
    missed: tuple[Known, ...] = ()
    """What was left out because the table lacks the columns."""

    def seen(self, people: People) -> People:
        """The people as the attacker sees them, who knows some columns in bands only."""
        return seen(people, self.bands)

    @property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        return tuple(p.columns for p in self.placed)

    @property
    def is_sure(self) -> bool:
        """Whether all of it is known of everybody."""
        return self.parent is None and all(bool((one.p == 1).all()) for one in self.placed)

    def refuse_overlap(self) -> None:
        """Raise where a column is in two groups: population models take them as parts."""
        every = [column for columns in self.columns for column in columns]
        twice = next((column for column in every if every.count(column) > 1), None)
        if twice is not None:
            names = ", ".join(p.label for p in self.placed)
            raise UsageError(
                f'groups overlap: "{twice}" is in more than one of {names}, and who is alike in '
                f"the population is estimated for groups that do not: put it in one of them, or "
                f"join the two (where an attack asks of the table alone, leave population= out)"
            )

    def columns_in(self, mask: int) -> list[str]:
        """The columns that a subset of the groups makes known, each once."""
        return list(dict.fromkeys(
            c for j, p in enumerate(self.placed) if mask >> j & 1 for c in p.columns
        ))  # fmt: skip


def place(
    knows: Knows,
    people: People,
    facts: Mapping[str, FactTable],
    *,
    apart: bool = False,
    unknown: Sequence[str] = (),
    whole: bool = False,
) -> Groups:
    """Resolve the knowledge at these people: columns found, look-ups made, sure groups joined.

    What is known depends on the person and not on what is released: look-ups take the values that
    were read, also where the table was generalised since.  `apart` leaves sure groups as members of
    their own: the same risks, on more subsets.  `unknown` are columns that nobody knows.
    `whole` leaves every attribute a member of its own, for attacks that count them.
    """
    if knows.sparse is not None:
        raise UsageError(
            "this scenario is about any few facts of a sparse table: read the table with "
            "rb.read_sparse, and assess that; for columns that are known or not choose another"
        )
    notes: list[str] = []
    bands: dict[str, float] = {}
    known = _with_every_column(knows, people, unknown)
    known = tuple(_banded(k, known, people, unknown, bands, notes) for k in known)
    kept = [k for k in known if _has_columns(k, people, notes)]
    missed = tuple(k for k in known if k not in kept)
    notes += [
        f"ethnicity: its column holds what looks like races, and the table has no race: if they "
        f"are, name it so (column race={k.columns[0]}, without ethnicity)"
        for k in kept
        if len(k.columns) == 1 and _is_race_instead(k, people, k.columns[0], missed)
    ]
    parent, parent_p = knows.parent, None
    extra: Chance = ()
    if isinstance(parent, Listed):
        if parent.shared:
            parent_p = chance_of(parent.chance, people, facts, parent.node, notes)
        else:
            extra = parent.chance
    placed = []
    for item in kept:
        p = _member_p(item, extra, parent, people, facts, notes)
        if not p.any():
            notes.append(f"{item.name}: known of nobody in this scenario")
            if not whole:
                continue
        placed.append(Placed(item.member, item.name, item.columns, p, item.source))
    if not any(one.p.any() for one in placed):
        raise _knows_nothing(missed, people, notes)
    shared_parent = parent if parent_p is not None or isinstance(parent, Profile) else None
    members = tuple(placed) if apart or whole else _joined(placed)
    names = {m.member for m in members}
    joined = {p.member: EVERYTHING_SURE for p in placed if p.member not in names}
    used = frozenset(c for k in kept for c in k.columns)
    return Groups(
        members,
        shared_parent,
        parent_p,
        tuple(dict.fromkeys(notes)),
        joined,
        bands,
        used=used,
        missed=missed,
    )


def _knows_nothing(missed: Sequence[Known], people: People, notes: Sequence[str]) -> DataError:
    """None of the scenario's attributes is in the table: what would help."""
    start = "this scenario knows nothing about the table"
    names = [k.name for k in missed if len(k.columns) == 1]
    if not names:
        why = "; ".join(notes) or "no column is left that it may know; leave one out of unknown="
        return DataError(f"{start}: {why}")
    said = (
        f"{start}: of what it speaks of ({', '.join(k.name for k in missed)}) the table has no "
        f"column of that name among {', '.join(people.quasi_identifiers)}. If one holds "
        f"{names[0]}, name it: "
    )
    python, shell = f'columns={{"{names[0]}": "your_column"}}', f"--column {names[0]}=your_column"
    end = "; and so on for the others. A list of your own country is a register: "
    return DataError(
        f'{said}{python}{end}scenario="register:FILE.csv"',
        in_shell=f"{said}{shell}{end}--scenario register:FILE.csv",
    )


def _banded(
    item: Known,
    known: Sequence[Known],
    people: People,
    unknown: Sequence[str],
    bands: dict[str, float],
    notes: list[str],
) -> Known:
    """An attribute that is known in bands of a finer column, at the columns that the table has.

    Where the table has the attribute's own column and the finer one, both are known.
    """
    finer = item.in_bands
    if finer is None:
        return item
    own = item.columns == (item.name,) and item.name in people.quasi_identifiers
    own = own and finer.of != item.name
    taken = {c for k in known if k is not item for c in k.columns}
    if finer.of in taken or finer.of in unknown or finer.of not in people.quasi_identifiers:
        if own and is_finer(people, item.name, finer.width):
            notes.append(
                f"{item.name}: the table's column {item.name} is matched as it is written, and not "
                f"in bands of {finer.width:g}; if it holds the {finer.of} of which bands are "
                f"known, name it so (column {finer.of}={item.name})"
            )
        return item
    refuse_dates(people, finer.of, item.name, finer.width)
    why_not = why_not_banded(people, finer.of, finer.width)
    said = f"{item.name}: people are alike in bands of {finer.width:g} of {finer.of}"
    if why_not is not None:
        notes.append(f"{item.name}: {finer.of} is matched as it is written, since {why_not}")
    else:
        bands[finer.of] = finer.width
        crosses = reaches_over(people, finer.of, finer.width)
        notes.append(f"{said}{CROSSES if crosses else ''}")
    if own:
        notes.append(f"{item.name}: the table has a column {item.name}, too; both are known")
    return replace(item, columns=(*(item.columns if own else ()), finer.of))


def _with_every_column(knows: Knows, people: People, unknown: Sequence[str]) -> tuple[Known, ...]:
    if not knows.every_column:
        return knows.known
    named = {c for k in knows.known for c in k.columns} | {*unknown}
    rest = (c for c in people.quasi_identifiers if c not in named)
    return (*knows.known, *(Known(c, (c,), source="worst case: known for sure") for c in rest))


def _has_columns(item: Known, people: People, notes: list[str]) -> bool:
    missing = [c for c in item.columns if c not in people.quasi_identifiers]
    if not missing:
        return True
    if item.optional:
        there = {*missing} & {*people.columns, *people.others.names}
        lacks = "is no quasi-identifier of" if there else "is not in"
        notes.append(f"{item.name}: {', '.join(missing)} {lacks} the table; left out")
        return False
    hint = did_you_mean(missing[0], people.quasi_identifiers)
    said = (
        f'the scenario knows {item.name} from "{missing[0]}", which is no quasi-identifier of the '
        f"table; {hint}{'' if hint.endswith('?') else '.'} Map it with "
    )
    raise DataError(
        f'{said}columns={{"{item.name}": "your_column"}}, or leave the group out with '
        f'without=["{item.name}"]',
        in_shell=f"{said}--column {item.name}=YOUR_COLUMN, or leave the group out with "
        f"--without {item.name}",
    )


def _member_p(
    item: Known,
    extra: Chance,
    parent: Listed | Profile | None,
    people: People,
    facts: Mapping[str, FactTable],
    notes: list[str],
) -> Array:
    if not isinstance(parent, Profile):
        return chance_of((*extra, *item.chance), people, facts, item.name, notes)
    wrong = set(item.by_profile) ^ set(parent.weights)
    if wrong:
        raise ModelError(
            f"{item.name} needs one probability per profile ({', '.join(parent.weights)}); "
            f"missing or unknown: {', '.join(sorted(wrong))}"
        )
    return np.array([item.by_profile[state] for state in parent.weights])[:, None]


def chance_of(
    chance: Chance, people: People, facts: Mapping[str, FactTable], name: str, notes: list[str]
) -> Array:
    """The product of the factors, for everybody (length 1) or for each person."""
    p: Array = np.ones(1)
    for factor in chance:
        if isinstance(factor, ByPerson):
            p = p * factor.values[people.rows_in(factor.about)]
        elif isinstance(factor, FactLookup):
            p = p * look_up(factor, people, facts, notes)
        else:
            p = p * factor
    if any(isinstance(factor, FactLookup) and factor.relative for factor in chance):
        above = int((p > 1).sum())
        if above:
            notes.append(
                f"{name}: a relative chance times the others comes to more than 1 "
                f"({above:,} of {counted(p.size, 'person')}, at most {p.max():.3g}), and counts "
                f"as 1"
            )
        p = np.minimum(p, 1.0)
    wrong = ~((p >= 0) & (p <= 1))
    if wrong.any():
        if p.size == 1:
            raise ModelError(f"{name}: a probability of {p[0]:g}; need 0 to 1")
        many = counted(int(wrong.sum()), "person")  # what each has is in no message
        raise ModelError(f"{name}: the probability of {many} is not from 0 to 1")
    return p


def look_up(
    lookup: FactLookup, people: People, facts: Mapping[str, FactTable], notes: list[str]
) -> Array:
    """The value for each person, by the person's own values; keys are compared as text."""
    if lookup.table not in facts:
        hint = did_you_mean(lookup.table, facts)
        raise ModelError(f'the scenario has no table of facts "{lookup.table}"; {hint}')
    table = facts[lookup.table]
    for column in (lookup.column, *lookup.fact_columns):
        if column not in table:
            hint = did_you_mean(column, table)
            raise ModelError(f'table {lookup.table} has no column "{column}"; {hint}')
    for column in lookup.by:
        if column not in people.as_read.columns:
            said = f'the scenario looks {lookup.column} up by "{column}", which the table lacks; '
            raise DataError(
                f"{said}name the column that holds it with "
                f'columns={{"{column}": "your_column"}} (where none is taken: known=rb.microdata.'
                f"knowledge(people, NAME, columns=...)); one that is not released is read with "
                f'sensitive=["your_column"], and no rule counts it{_own_list(lookup)}',
                in_shell=f"{said}name the column that holds it with --column "
                f"{column}=YOUR_COLUMN; one that is not released is read with --sensitive "
                f"YOUR_COLUMN, and no rule counts it{_own_list(lookup, typed=True)}",
            )
    values = values_by_key(table, lookup.column, lookup.fact_columns, f"table {lookup.table}")
    keys, ids = _keys(lookup, people)
    found = [values.get(key, lookup.otherwise) for key in keys]
    gone = sum(key not in values for key in keys)
    if gone and lookup.otherwise is not None:
        notes.append(
            f"{lookup.column} by {' x '.join(lookup.by)}: {gone:,} of "
            f"{counted(len(keys), 'value')} {agree(gone, 'has', 'have')} no row in the table "
            f"{lookup.table} and {agree(gone, 'counts', 'count')} as {lookup.otherwise:g}"
        )
    missed = np.array([value is None for value in found])
    if missed.any():
        _refuse_blanks(lookup, keys, missed, ids)
        lost = int(missed[ids].sum())
        who = f"{counted(lost, 'person')} {agree(lost, 'has', 'have')}"
        of = f"{int(missed.sum())} of {counted(len(keys), 'value')}{_edges_of(lookup)}"
        raise DataError(
            f"{who} a {' x '.join(lookup.by)} with no row in the "
            f"scenario's table {lookup.table} ({of}); "
            f"{_rows_of(lookup)}recode them as the table writes them, or give the look-up an "
            f"`otherwise`; where the "
            f"values were generalised before they were read, read them as they were and generalise "
            f"with people.generalise{_own_list(lookup)}",
            in_shell=f"{who} a {' x '.join(lookup.by)} with no row in the "
            f"scenario's table {lookup.table} ({of}); {_rows_of(lookup)}"
            f"recode them as the table writes them; where the values were generalised before they "
            f"were read, read them as they were and generalise with --level"
            f"{_own_list(lookup, typed=True)}",
        )
    return np.array([0.0 if value is None else value for value in found])[ids]


def _rows_of(lookup: FactLookup) -> str:
    """The first remedy where the table is the user's own: its missing rows."""
    return "add these rows to your file, or " if lookup.table == REGISTER else ""


def _edges_of(lookup: FactLookup) -> str:
    """The lower edges of bands in a look-up; each stands with every value of the other columns."""
    edges = "".join(
        f"; {column.removesuffix(' from')} from {', '.join(f'{edge:g}' for edge in edges)}"
        for column, edges in lookup.bands.items()
    )
    several = edges and len(lookup.by) > 1
    return edges + (", each a row of its own with every other key" if several else "")


def _refuse_blanks(
    lookup: FactLookup,
    keys: Sequence[tuple[str, ...]],
    missed: NDArray[np.bool_],
    ids: NDArray[np.int64],
) -> None:
    """Say it where values are not found because they are blank."""
    blank = missed & np.array(["" in key for key in keys])
    if not blank.any():
        return
    at = [j for j in range(len(lookup.by)) if any(b and k[j] == "" for b, k in zip(blank, keys,
          strict=True))]  # fmt: skip
    columns = " or ".join(lookup.by[j] for j in at)
    lost = int(blank[ids].sum())
    who = f"{counted(lost, 'person')} {agree(lost, 'has', 'have')} a blank {columns}"
    row = f"give it a row whose {' or '.join(lookup.fact_columns[j] for j in at)} is blank"
    said = f"{who}, and the scenario's table {lookup.table} has no row for a blank: {row}, or "
    raise DataError(
        f'{said}leave them out when the table is read: missing="drop"',
        in_shell=f"{said}leave them out: --missing drop",
    )


def _own_list(lookup: FactLookup, *, typed: bool = False) -> str:
    """The end of a refusal: where no shipped list fits, the user's own."""
    if lookup.table == REGISTER:
        return ""
    how = "--scenario register:FILE.csv" if typed else 'scenario="register:FILE.csv"'
    return f"; elsewhere, or for another list, take your own: {how}"


def _keys(lookup: FactLookup, people: People) -> tuple[list[tuple[str, ...]], NDArray[np.int64]]:
    """Distinct combinations of values as the facts would write them, and which each person has."""
    people = people.as_read.as_written()
    ids, count = people.class_ids(list(lookup.by))
    codes = people.codes(list(lookup.by))[some_of(ids, count)]
    labels = [people.labels(c) for c in lookup.by]
    edges = [lookup.bands.get(name) for name in lookup.fact_columns]
    for column, fact, of, shown in zip(lookup.by, lookup.fact_columns, edges, labels, strict=True):
        if of and fact.removesuffix(" from") == "age":
            refuse_no_ages(column, of, shown)
    keys = [
        tuple(_key(labels[j][c], edges[j]) for j, c in enumerate(row)) for row in codes.tolist()
    ]
    return keys, ids


def _key(value: object, edges: Sequence[float] | None) -> str:
    """How a value stands in the table of facts: as text, or as the edge of its band."""
    if edges is None:
        return as_key(value)
    try:
        number = float(str(value))
    except ValueError:
        return as_key(value)
    reached = [edge for edge in edges if edge <= number]
    return as_key(float(max(reached))) if reached else as_key(value)


def _joined(placed: Sequence[Placed]) -> tuple[Placed, ...]:
    """Members that are known to everybody for sure, as one."""
    sure = [p for p in placed if (p.p == 1).all()]
    if len(sure) < 2:
        return tuple(placed)
    one = Placed(
        EVERYTHING_SURE,
        " + ".join(p.label for p in sure),
        tuple(dict.fromkeys(c for p in sure for c in p.columns)),
        np.ones_like(sure[0].p),
        "; ".join(dict.fromkeys(p.source for p in sure)),
    )
    return (one, *(p for p in placed if p not in sure))


# -- every column that was named for an attacker is one that the scenario s ------------------------


MOST = 13  # bands that ages reach over, at most


def refuse_unnamed(
    people: People,
    scenario: Scenario,
    groups: Groups,
    *,
    without: Sequence[str],
    unknown: Sequence[str],
    alone: bool = False,
    sensitive: str | None = None,
) -> tuple[str, ...]:
    """Refuse columns of which nothing is said; a note on those that are said to be unknown.

    `alone`: the knowledge is read without an attack, so that remedies are arguments of the reader;
    it need not speak of the `sensitive` column asked about.
    """
    for name in unknown:
        if name not in people.quasi_identifiers:
            hint = did_you_mean(name, people.quasi_identifiers)
            raise UsageError(f'unknown names "{name}", which is no quasi-identifier; {hint}')
        if name in groups.used:
            raise UsageError(*_contradiction(name, scenario))
    left_out = _left_out(scenario, without)
    spoken_of = groups.used | left_out | {*unknown, sensitive}
    silent = [c for c in people.quasi_identifiers if c not in spoken_of]
    if silent:
        python, shell = _remedies(silent, people, groups)
        if scenario.name == REGISTER:
            added = f"{SHOWS}{silent[0]}"
            own = f'If the register shows it, add the column "{added}" to its table. '
            python, shell = own + python, own + shell
        listed = " and ".join([", ".join(silent[:-1]), silent[-1]] if silent[1:] else silent)
        named, whose = (
            ("quasi-identifiers", "their") if silent[1:] else ("a quasi-identifier", "its")
        )
        said = (
            f"scenario {scenario.name} says nothing about {listed}, which the table names as "
            f"{named}: {whose} part of the risk would be left out. "
        )
        name = "register:FILE.csv" if scenario.name == REGISTER else scenario.name
        read = f'Read it with known=rb.knowledge(people, "{name}", ...): ' if alone else ""
        raise UsageError(said + read + python, in_shell=said + shell)
    if not unknown:
        return ()
    return (
        f"taken as not known to the attacker, by the caller: {', '.join(unknown)} (a rule on who "
        f"is alike counts every quasi-identifier all the same)",
    )


def _contradiction(name: str, scenario: Scenario) -> tuple[str]:
    known = scenario.knows.known if scenario.knows else ()
    group, columns = next(((k.name, k.columns) for k in known if name in k.columns), (name, ()))
    rest = ", ".join(f'"{c}"' for c in columns if c != name)
    keep = f", and then nobody knows {rest}, either: to keep it, say anew what is known, known="
    return (
        f'"{name}" is said to be unknown, and scenario {scenario.name} knows it as {group}; leave '
        f'that out with without=["{group}"]{keep if rest else ""}',
    )


def _left_out(scenario: Scenario, without: Sequence[str]) -> frozenset[str]:
    """The columns of the attributes that the caller left out."""
    known = scenario.knows.known if scenario.knows else ()
    gone = [k for k in known if k.name in without]
    finer = {k.in_bands.of for k in gone if k.in_bands}
    return frozenset({c for k in gone for c in k.columns} | finer)


def _remedies(silent: Sequence[str], people: People, groups: Groups) -> tuple[str, str]:
    """The mapping that would help, and the words for a column that is not known."""
    pairs = [(item, name) for name in silent if (item := _taker(name, people, groups.missed))]
    python, shell = "", ""
    for item, name in pairs:
        if _is_race_instead(item, people, name, groups.missed):
            asks = f"{name} holds what looks like races. If it does, race takes it: "
            other = f"; if it says who is Hispanic, {item.name} does: "
            python += (
                f'{asks}columns={{"race": "{name}"}}{other}columns={{"{item.name}": "{name}"}}. '
            )
            shell += f"{asks}--column race={name}{other}--column {item.name}={name}. "
            continue
        how = f" in bands of {item.in_bands.width:g}" if item.in_bands else ""
        python += f'{item.name} can take {name}{how}: columns={{"{item.name}": "{name}"}}. '
        shell += f"{item.name} can take {name}{how}: --column {item.name}={name}. "
    taken = {item.name for item, _ in pairs}
    open_names = [k.name for k in groups.missed if len(k.columns) == 1 and k.name not in taken]
    others = [name for name in silent if name not in [column for _, column in pairs]]
    if open_names and others:
        said = (
            f"It also knows {', '.join(open_names)}, which the table lacks. If "
            f"{' or '.join(others)} holds one of them, say which: "
        )
        python += f'{said}columns={{"THAT_ONE": "{others[0]}"}}. '
        shell += f"{said}--column THAT_ONE={others[0]}. "
    listed = ", ".join(f'"{name}"' for name in silent)
    end = "If the attacker does not know it, say "
    return (
        f"{python}{end}unknown=[{listed}]",
        f"{shell}{end}--unknown {','.join(silent)}",
    )


def _is_race_instead(item: Known, people: People, name: str, others: Sequence[Known]) -> bool:
    """Whether a column is called as an ethnicity is, and holds races, of which a list says more.

    In the lists of the United States ethnicity is Hispanic or not, and hardly any shows it.
    """
    if item.name != "ethnicity" or "race" not in {k.name for k in others}:
        return False
    labels = people.column(name).labels.tolist()
    return len(RACES.intersection(*[re.findall("[a-z]+", " ".join(map(str, labels)).lower())])) > 1


def _taker(name: str, people: People, missed: Sequence[Known]) -> Known | None:
    """An attribute that the table lacks and that this column may hold."""
    words = {*name.lower().replace("-", "_").split("_")}
    for item in missed:
        if len(item.columns) != 1:
            continue
        if item.in_bands and can_be_banded(people, name, item.in_bands.width, most=MOST):
            return item
        own = (item.name, *item.columns)
        if words & {word for name in own for word in name.lower().split("_")}:
            return item
    return None
