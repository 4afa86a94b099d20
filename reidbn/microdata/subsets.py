"""Risk on every subset of what may be known: one table of subsets, or one row per person.

For a subset y of the groups, a person's class size a(y) is the number of people who match the
person on y.  The chance of naming a record's owner is 1/n before the release (the prior
vulnerability) and the mean of 1/a(y) after it (the posterior): classes / n where classes part the
people.  Per person the expectations are over a distribution on subsets, the empty one included:

    unique = E[1(a(Y) = 1)]        mean_inverse = E[1 / a(Y)]                      (1)

the prosecutor's and the marketer's risk of [Xia21].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import renamed, typed
from reidbn.errors import TooLarge, UsageError
from reidbn.microdata.classes import Floats, Ints, frequencies_of
from reidbn.microdata.groups import (
    Groups,
    group_codes,
    group_rows,
    grouped,
    is_product,
    overlaps,
    reading_order,
)
from reidbn.microdata.knowledge import Knowledge, Known, knowledge, weighed
from reidbn.microdata.lattice import (
    Array,
    Block,
    Gather,
    Walk,
    refuse_many,
)
from reidbn.microdata.masks import class_size_chunks
from reidbn.microdata.rows import DistinctRows, distinct_rows
from reidbn.microdata.slab import every_subset
from reidbn.microdata.subset_table import Progress, subset_table
from reidbn.microdata.table import People, checked_people
from reidbn.theory.frequencies import FrequencyTable
from reidbn.written import agree

if TYPE_CHECKING:
    import pandas as pd

Risk = Callable[[Array, Ints], Array]
"""Values of class sizes (subsets x classes, 0 for nobody) on subsets (their masks)."""
_NONE = np.iinfo(np.int32).max


@renamed(per_record="per_person", samples="draws")
@typed
def subsets(
    people: People,
    *,
    per_person: bool = False,
    known: Known | None = None,
    most: int | None = None,
    draws: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Risk on every non-empty subset of the groups, or per person over all subsets.

    The table has one row per subset: `subset` (names), `size`, `classes`, `uniques`, `prior`,
    `posterior`, `mean_inverse` (the posterior under the survey weights, if any), the `largest`
    class, and where chances are said the `chance` that just this subset is known (of a person
    drawn from these, where chances differ).  Per person: `unique`, `mean_inverse`, the
    `smallest_identifying` subset (None: none does) and its `smallest_size`.

    `known` is what an attacker may know, however it is said (rb.knowledge): column names, {name:
    chance}, {name: (columns, chance)} or a scenario; by default each quasi-identifier is a group,
    per person with chance 1/2 (columns named without chances are refused there).  `most` leaves out
    subsets of more groups; `draws` takes so many subsets at random instead of visiting all, for
    estimates with 95 % intervals.

    `people` is the table; `per_person` gives a row for each. `seed` is that of the draws;
    `progress` is called with the share done.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1]], ["sex", "race"])
    >>> subsets(people)[["subset", "classes", "uniques"]].values.tolist()
    [[('sex',), 2, 1], [('race',), 2, 1], [('sex', 'race'), 3, 3]]
    >>> subsets(people, per_person=True)["mean_inverse"].round(4).tolist()
    [0.7083, 0.5833, 0.7083]
    """
    what = weighed(people, known) if per_person else knowledge(people, known)
    people = what.seen(people)
    if draws is not None:
        if most is not None:
            raise UsageError("draws= takes subsets of any size; leave out most=")
        from reidbn.microdata.subset_table import sampled_people, sampled_subsets

        draw = sampled_people if per_person else sampled_subsets
        found = draw(people, what, samples=draws, seed=seed, progress=progress)
        return _stated(found, people, what)
    if not per_person:
        found = subset_table(people, what, most=most, progress=progress)
        return _stated(found, people, what)
    if most is not None:
        raise UsageError("most= leaves out rows of the table; per person all subsets count")
    refuse_many(what.groups)
    return _stated(_per_person(people, what, progress), people, what)


def expectations(
    people: People,
    risks: Sequence[Risk],
    *,
    known: Known | None = None,
    progress: Progress | None = None,
) -> list[Floats]:
    """E over subsets of any functions of class size and subset, exactly: one array each.

    Each risk gets class sizes (subsets x classes) and the subsets' masks, and returns values of
    the sizes' shape: `lambda sizes, masks: (sizes == 1) * rho[masks][:, None]`, with one rho per
    mask, gives the journalist's E[1(a = 1) rho] of [Xia21].  Where a size is 0 anything will do.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1]], ["sex", "race"])
    >>> expectations(people, [is_unique])[0]
    array([0.5 , 0.25, 0.5 ])
    """
    what = weighed(people, known)
    people = what.seen(people)
    refuse_many(what.groups)
    if not is_product(people, what):
        return _in_chunks(people, what, risks, progress)
    if not what.is_shared:
        return _one_by_one(people, what, risks, progress)
    gathers = _gathers(risks, what.subset_probabilities())
    return Walk(group_rows(people, what), gathers, progress=progress).run()


def is_unique(sizes: Array, masks: Ints) -> Array:
    """1(a = 1): the prosecutor is certain [Xia21]."""
    return np.equal(sizes, 1)


def inverse(sizes: Array, masks: Ints) -> Array:
    """1/a: the marketer's chance of a right guess [Xia21]."""
    return 1.0 / np.maximum(sizes, 1)


def frequencies_by_mask(people: People, groups: Groups | None = None) -> list[FrequencyTable]:
    """FrequencyTable of class sizes (f_j) on every union of groups, one per mask.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1]], ["sex", "race"])
    >>> frequencies_by_mask(people)[1]
    FrequencyTable(n=3, classes=2, f1=1)
    """
    what = grouped(people, groups)
    refuse_many(what.groups)
    if not is_product(people, what):
        return [people.frequencies(what.known_columns(m)) for m in range(1 << what.groups)]
    return frequencies_of_rows(group_rows(people, what))


def frequencies_of_rows(rows: DistinctRows) -> list[FrequencyTable]:
    """How many classes of each size there are, for every subset: indexed by the mask."""
    found = [FrequencyTable(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))] * (
        1 << rows.groups
    )

    def note(block: Block) -> None:
        for mask, sizes in block.subsets():
            found[mask] = frequencies_of(sizes)

    walk = Walk(rows, on_block=note)
    walk.run()
    return [_with(found[mask], alone) for mask, alone in enumerate(walk.alone.tolist())]


def _with(found: FrequencyTable, alone: int) -> FrequencyTable:
    """FrequencyTable and so many more classes of one."""
    if not alone:
        return found
    if found.sizes.size and found.sizes[0] == 1:
        counts = found.counts.copy()
        counts[0] += alone
        return FrequencyTable(found.sizes, counts)
    one = np.array([1], dtype=np.int64)
    return FrequencyTable(
        np.concatenate((one, found.sizes)), np.concatenate((one * alone, found.counts))
    )


@typed
def class_size_matrix(
    people: People, wanted: Sequence[str | Sequence[str]], *, memory_limit: int = 1 << 30
) -> NDArray[np.int32]:
    """Class sizes of every person on each of the wanted subsets of columns: people x subsets.

    `memory_limit` is the most bytes that the matrix may take.

    >>> people = People.from_codes([[0, 0], [0, 1], [1, 1]], ["sex", "race"])
    >>> class_size_matrix(people, ["sex", ("sex", "race")]).tolist()
    [[2, 1], [2, 1], [1, 1]]
    """
    chosen = [checked_people(people).names(columns) for columns in wanted]
    needed = len(people) * len(chosen) * 4
    if needed > memory_limit:
        raise TooLarge(
            f"{len(people)} people x {len(chosen)} subsets need {needed / 1e6:.0f} MB, more than "
            f"memory_limit = {memory_limit / 1e6:.0f} MB; ask for fewer subsets, or raise it"
        )
    matrix = np.empty((len(people), len(chosen)), dtype=np.int32, order="F")
    for place, columns in enumerate(chosen):
        matrix[:, place] = people.class_sizes(columns)
    return matrix


# One row per person


def _per_person(people: People, what: Knowledge, progress: Progress | None) -> pd.DataFrame:
    import pandas as pd

    rank = np.empty(1 << what.groups, dtype=np.int32)
    order = reading_order(np.arange(rank.size), what.groups)
    rank[order] = np.arange(rank.size, dtype=np.int32)
    if is_product(people, what) and what.is_shared:
        gathers = _gathers([is_unique, inverse], what.subset_probabilities())
        gathers.append(Gather(_least(rank), rank, np.minimum))
        unique, mean, least = Walk(group_rows(people, what), gathers, progress=progress).run()
    else:
        unique, mean = expectations(people, [is_unique, inverse], known=what, progress=progress)
        least = _least_rank(people, what, rank)
    names = np.empty(rank.size + 1, dtype=object)
    names[:-1] = [what.subset(mask) for mask in order.tolist()]
    sizes = np.append(np.bitwise_count(order), 0)
    found = least < rank.size
    place = np.where(found, least, rank.size)
    smallest = pd.arrays.IntegerArray(sizes[place].astype(np.int64), ~found)
    return pd.DataFrame(
        {
            "unique": unique,
            "mean_inverse": mean,
            "smallest_identifying": pd.Series(names[place], dtype=object),
            "smallest_size": smallest,
        }
    )


def _gathers(risks: Sequence[Risk], weights: Floats) -> list[Gather]:
    masks, ones = np.arange(weights.size), np.ones((weights.size, 1), dtype=np.int64)
    return [Gather(_weighted(r, weights), weights * r(ones, masks)[:, 0]) for r in risks]


def _weighted(risk: Risk, weights: Floats) -> Callable[[Block], Array]:
    def values(block: Block) -> Array:
        weighted: Array = risk(block.cells, block.masks) * weights[block.masks][:, None]
        return weighted

    return values


def _least(rank: NDArray[np.int32]) -> Callable[[Block], Array]:
    def values(block: Block) -> Array:
        return np.where(block.cells == 1, rank[block.masks][:, None], np.int32(_NONE))

    return values


def _least_rank(people: People, what: Knowledge, rank: NDArray[np.int32]) -> Array:
    """The first identifying subset of each person, in reading order."""
    if is_product(people, what):
        walk = Walk(group_rows(people, what), [Gather(_least(rank), rank, np.minimum)])
        return walk.run()[0]
    least = np.full(len(people), _NONE, dtype=np.int32)
    for records, sizes in class_size_chunks(people, what):
        least[records] = np.where(sizes == 1, rank, np.int32(_NONE)).min(axis=1)
    return least


def _in_chunks(
    people: People, what: Knowledge, risks: Sequence[Risk], progress: Progress | None
) -> list[Floats]:
    """Through each person's class sizes on all subsets: any rule of matching."""
    found = [np.empty(len(people)) for _ in risks]
    masks = np.arange(1 << what.groups)
    for records, sizes in class_size_chunks(people, what):
        for values, risk in zip(found, risks, strict=True):
            per_subset = risk(np.ascontiguousarray(sizes.T), masks).T
            values[records] = what.expected(per_subset.astype(np.float64), records)
        if progress is not None:
            progress(records.stop / len(people))
    return found


def _one_by_one(
    people: People, what: Knowledge, risks: Sequence[Risk], progress: Progress | None
) -> list[Floats]:
    """Probabilities that differ between people: subset by subset, on distinct (row, chances)."""
    codes, ranges = group_codes(people, what)
    rows = distinct_rows(codes, ranges)
    each, listed, whose = what.alike()
    pair, of_record = np.unique(rows.of_record * len(each) + whose, return_inverse=True)
    row, kind = pair // len(each), pair % len(each)
    chances, on = np.ascontiguousarray(each[kind].T), listed[kind]
    found = [np.zeros(pair.size) for _ in risks]
    for done, subset in enumerate(every_subset(rows), start=1):
        sizes, masks = subset.row_sizes.take(row)[None], np.array([subset.mask])
        weight = np.ones(pair.size)
        for j, chance in enumerate(chances):
            weight *= chance if subset.mask >> j & 1 else 1 - chance
        weight = weight * on + (1 - on if subset.mask == 0 else 0)
        for values, risk in zip(found, risks, strict=True):
            values += weight * risk(sizes, masks)[0]
        if progress is not None:
            progress(done / (1 << what.groups))
    return [values[of_record] for values in found]


def _notes(table: pd.DataFrame, people: People, what: Knowledge) -> Iterator[str]:
    """What no subset holds, and what the chances weigh."""
    left = [name for name in people.quasi_identifiers if name not in what.used]
    if left:
        which = agree(len(left), "it", "them")
        yield f"no subset holds {', '.join(left)}: nobody is said to know {which}"
    if not what.stated or "subset" not in table:
        return
    whose = "" if what.is_shared else " of a person, on average over these people"
    yield (
        f"chance is how likely just this subset is known{whose} and nothing else; the other "
        "columns are of the subset, whatever its chance (per person, they are averaged by it)"
    )


def _stated(table: pd.DataFrame, people: People, what: Knowledge) -> pd.DataFrame:
    """The table with what it was computed from, in `.attrs`."""
    matching = "any value that may be the same" if overlaps(people, what) else "equality"
    table.attrs = {
        "records": len(people),
        "missing": people.missing,
        "matching": matching,
        "fingerprint": people.fingerprint,
        "notes": (*what.notes, *_notes(table, people, what)),
    }
    return table
