"""neighbourhood: from one named record to its relatives, from theirs to further ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attacks.family.claims import (
    POSTERIOR,
    RULES,
    STRICT,
    LookedFor,
    all_named,
    fits_pair,
    person_of,
)
from reidbn.attacks.family.kin import FATHER, MOTHER, PGF, PGM, ROLES, SELF, SIBLINGS, Kin
from reidbn.attacks.routes.arguments import individuals_of
from reidbn.calls import refuse_outside, typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.late import late
from reidbn.microdata.again import asked_again
from reidbn.microdata.sparse import Sparse
from reidbn.progress import progress
from reidbn.result import Measure, Result, by_person, count_of, mean_of
from reidbn.theory.kinship import YES
from reidbn.written import counted

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]
MOST_ROUNDS = 20
NOBODY = -1
IN_RELEASE = 0.5  # how likely a relative is in the table, where nobody says
_ANCESTORS = {
    "father": ("father",), "mother": ("mother",),
    "paternal_grandfather": ("father", "father"), "paternal_grandmother": ("father", "mother"),
    "maternal_grandfather": ("mother", "father"), "maternal_grandmother": ("mother", "mother"),
}  # fmt: skip
# [Popat25, Table 4 and Figures 9 to 12]: whose history against whose, and the share of records
# that the paper says found no match.
TABLE_4: dict[str, tuple[tuple[tuple[str, str], ...], float | None]] = {
    "parents: father's history": (((FATHER, SELF),), 0.882),
    "parents: mother's history": (((MOTHER, SELF),), 0.96),
    "parents: grandfather's history": (((PGF, FATHER),), 0.992),
    "parents: grandmother's history": (((PGM, MOTHER),), 0.995),
    "siblings: siblings' history": (((SIBLINGS, SELF),), 0.796),
    "siblings: father's history": (((FATHER, FATHER),), 0.522),
    "siblings: mother's history": (((MOTHER, MOTHER),), 0.5204),
    "father and grandfather": (((FATHER, SELF), (PGF, FATHER)), None),
    "mother and grandmother": (((MOTHER, SELF), (PGM, MOTHER)), None),
    "shared father and mother": (((FATHER, FATHER), (MOTHER, MOTHER)), None),
}


@dataclass(frozen=True, eq=False, repr=False)
class Neighbourhood(Result):
    """Who is named as whose relative, starting from one record or from each of several."""

    _model: ClassVar[str] = "family-cascade"

    kin: Kin
    starts: Ints
    rule: str
    depth: int
    in_release: float
    claims: pd.DataFrame = field(repr=False)
    """One row per claim: start, round, source, relation, who, posterior, path.  Restricted."""
    looked: Mapping[int, Mapping[str, LookedFor]] = field(repr=False)
    """What came of each record that was read, kind by kind."""
    drawn: bool = False

    @property
    def asked_of(self) -> Sparse:
        """The people it was asked of."""
        return self.kin.sparse

    @property
    def question(self) -> str:
        """The rule, and how far it goes."""
        said = (
            f"illnesses: {', '.join(self.kin.diseases)}; rule: {self.rule}; "
            f"{counted(self.depth, 'round')}"
        )
        if self.rule == STRICT:
            return said
        return (
            f"{said}; a relative is in the table with the chance {self.in_release:g}; an illness "
            f"is told with {self.kin.completeness:g}"
        )

    def _asked_about(self) -> Ints | None:
        return None if len(self.starts) == len(self.kin) else self.starts

    def _settings(self) -> dict[str, Any]:
        """The channel by which records tell, as far as the question is silent of it."""
        return {name: getattr(self.kin, name) for name in ("false_reports", "jitter", "years")}

    @property
    def about(self) -> str:
        """The event: relatives are named."""
        return "relatives are named from one record"

    def share_of(self, role: str, what: str) -> NDArray[np.float64]:
        """Of which first records `what` (attackable, named, present) is so in a `role`: 1 or 0."""
        found = [self.looked[start][role] for start in self.starts.tolist()]
        if what == "attackable":
            return np.array([one.evidence > 0 for one in found], dtype=float)
        if what == "present":
            return np.array([one.present > 0.5 for one in found], dtype=float)
        return np.array([len(one.claims) > 0 for one in found], dtype=float)

    def _people(self) -> pd.DataFrame:
        counts = self.claims.groupby("start").size().reindex(self.starts, fill_value=0)
        columns: dict[str, Any] = {"named": counts.to_numpy()}
        for role in ROLES:
            word = role.replace(" ", "_").replace("'", "")
            for what in ("attackable", "named", "present"):
                columns[f"{word}_{what}"] = self.share_of(role, what).astype(bool)
        return by_person(columns, self.kin.sparse, self.starts)

    def _measures(self) -> dict[str, Measure]:
        found = {
            "people": count_of(len(self.kin), "people in the table"),
            "named": mean_of(
                self.people["named"].to_numpy(), "people named from one record, right or wrong",
                unit="people", per_person=True,
            ),
        }  # fmt: skip
        for role in ROLES:
            word = role.replace(" ", "_").replace("'", "")
            for what, told in (
                ("attackable", f"tell of illnesses that bear on a {role}"),
                ("named", f"lead to somebody named as a {role}, right or wrong"),
                ("present", f"tell that a {role} is in the table"),
            ):
                found[f"{word}_{what}"] = mean_of(
                    self.share_of(role, what), f"records that {told}", per_person=True
                )
        return found

    def table(self) -> pd.DataFrame:  # type: ignore[override]
        """One row per kind of relative: shares of first records, those attackable apart."""
        import pandas as pd

        rows = {}
        for role in ROLES:
            able, claimed, present = (
                self.share_of(role, what) for what in ("attackable", "named", "present")
            )
            some = float(able.sum())
            rows[role] = {
                "attackable": able.mean(), "named": claimed.mean(), "present": present.mean(),
                "named of attackable": float(claimed.sum()) / some if some else np.nan,
            }  # fmt: skip
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("relative")

    def against(self, truth: pd.DataFrame) -> pd.DataFrame:
        """The claims beside who really is whose child: a column `right`.

        `truth` has one row per person: person, row (-1 where not in the table), father and mother
        (persons; -1 where unknown), as of rb.datasets.synthetic_families.  A claim is right where
        its relation to the *source* is, and the source itself was named rightly.
        """
        relatives = Pedigree(truth, len(self.kin))
        right: dict[tuple[int, int], bool] = {}
        found = []
        columns = (self.claims[name].tolist() for name in ("start", "source", "who", "relation"))
        for start, source, who, relation in zip(*columns, strict=True):
            before = source == start or right[start, source]
            right[start, who] = before and relatives.are(source, who, relation)
            found.append(right[start, who])
        return self.claims.assign(right=np.array(found, dtype=bool))

    def remarks(self) -> tuple[str, ...]:
        """Of the table, and of what is named."""
        said = [
            *self.kin.notes,
            "who is named may be a stranger: a claim is the best guess of the rule, and with no "
            "relative in the table there are claims too",
        ]
        if self.rule == POSTERIOR:
            said.append(
                "how completely records tell of relatives, and how likely one is in the table, are "
                "assumptions (read_kin, in_release)"
            )
        return tuple(said)

    check = late("reidbn.attacks.family.checked:check")
    _sections = late("reidbn.report.family_page:sections")

    def __repr__(self) -> str:
        mean = self.people["named"].mean()
        return (
            f"<Neighbourhood of {len(self.starts):,} first records: {mean:.3g} people named each, "
            f"{self.rule} rule, {counted(self.depth, 'round')}>"
        )


class Pedigree:
    """Who is whose relative, among rows of the table."""

    def __init__(self, truth: Any, people: int) -> None:
        wanted = ("person", "row", "father", "mother")
        for name in wanted:
            if name not in getattr(truth, "columns", ()):
                raise DataError(f'the truth has no column "{name}"; it needs {", ".join(wanted)}')
            if truth[name].dtype.kind not in "iu":
                raise DataError(
                    f'the truth\'s column "{name}" is to hold whole numbers, -1 where there is none'
                )
        rows = truth["row"].to_numpy()
        if rows.max(initial=-1) >= people:
            raise DataError(f"the truth names row {rows.max()} of {people} people")
        for name in ("person", "row"):
            told = truth[name][truth[name] >= 0] if name == "row" else truth[name]
            if told.duplicated().any():
                raise DataError(
                    f'the truth has one row per person, and its column "{name}" has the same '
                    f"number in {int(told.duplicated(keep=False).sum())} of its rows; each once"
                )
        self.person = {int(r): p for r, p in zip(rows, truth["person"], strict=True) if r >= 0}
        ids = truth["person"].tolist()
        self.father = dict(zip(ids, truth["father"].tolist(), strict=True))
        self.mother = dict(zip(ids, truth["mother"].tolist(), strict=True))
        self._refuse_circles()

    def _refuse_circles(self) -> None:
        """Raise where somebody is among their own ancestors."""
        parents = {p: {self.father[p], self.mother[p]} & {*self.father} for p in self.father}
        while parents:  # whoever has no parents left to look at goes, until nobody does
            gone = {p for p, above in parents.items() if not above & parents.keys()}
            if not gone:
                raise DataError(
                    f"the truth makes {counted(len(parents), 'person')} their own ancestors, or "
                    "descendants of such; mend the columns father and mother"
                )
            parents = {p: above for p, above in parents.items() if p not in gone}

    def are(self, source: int, who: int, role: str) -> bool:
        """Whether one row is a relative of that kind of another."""
        one, other = self.person.get(source), self.person.get(who)
        if one is None or other is None:
            return False
        if role == "sibling":
            parents = [(self.father[p], self.mother[p]) for p in (one, other)]
            return parents[0] == parents[1] and min(parents[0]) >= 0
        if role in ("child", "son's child", "daughter's child"):
            back = {"child": (), "son's child": ("father",), "daughter's child": ("mother",)}[role]
            middle = self._up(other, back)
            return one in (self._up(middle, ("father",)), self._up(middle, ("mother",)))
        words = {"paternal": ("father",), "maternal": ("mother",)}.get(role.split(" ")[0], ())
        last = "father" if role.endswith("father") else "mother"
        return bool(self._up(one, (*words, last)) == other)

    def relatives(self, row: int) -> dict[str, int]:
        """The rows of two siblings, parents and grandparents, as far as they are known of.

        -1 where one is known and not in the table.
        """
        one = self.person.get(row, NOBODY)
        found: dict[str, int] = {}
        for name, steps in _ANCESTORS.items():
            found[name] = self._up(one, steps)
        parents = (found["father"], found["mother"])
        if min(parents) != NOBODY:
            mothers = self.mother
            also = [p for p, dad in self.father.items() if (dad, mothers[p]) == parents]
            for i, sibling in enumerate([p for p in also if p != one][:2]):
                found[f"sibling_{i + 1}"] = sibling
        rows = {person: row for row, person in self.person.items()}
        return {n: rows.get(p, NOBODY) for n, p in found.items() if p != NOBODY}

    def _up(self, person: int, steps: Sequence[str]) -> int:
        for step in steps:
            person = getattr(self, step).get(person, NOBODY)
        return person


@asked_again
@typed
def neighbourhood(
    kin: Kin,
    *,
    start: int | ArrayLike | None = None,
    rule: str = "posterior",
    depth: int = 1,
    in_release: float = IN_RELEASE,
    individuals: int | None = None,
    seed: int = 0,
) -> Neighbourhood:
    """Who is named as a relative from what one record tells, and from theirs, `depth` rounds.

    `kin` is of rb.read_kin.  `start` is the row of the record that is named first, or several;
    everybody's in turn where it is left out (or `individuals` drawn with `seed`).  `rule` is
    "posterior" (who is above 1/2 against all others and against nobody, a relative being in the
    table with the chance `in_release`) or "strict" (the only record on which everything told is
    found again).  Sex and birth year rule people out.  Nobody is named twice:
    whose sex is not told may fit as father and mother, and is named as the first.

    >>> from reidbn.microdata.sparse import read_sparse
    >>> features = {"feature": ["a", "b"], "relation": ["self", "father"],
    ...             "disease": ["asthma", "asthma"], "field": ["onset", "onset"]}
    >>> cells = {"a": [None, 41, 62], "b": [41, None, None]}
    >>> from reidbn.attacks.family.kin import read_kin
    >>> found = neighbourhood(read_kin(read_sparse(cells, features=features)), start=0,
    ...                       rule="strict")
    >>> found.claims[["relation", "who"]].values.tolist()
    [['father', 1]]
    """
    if rule not in RULES:
        raise UsageError(f'rule="{rule}"; {did_you_mean(rule, RULES)}')
    refuse_outside("depth", depth, least=1, most=MOST_ROUNDS)
    refuse_outside("in_release", in_release, least=0, most=1)
    if rule != POSTERIOR and in_release != IN_RELEASE:
        raise UsageError(
            f'in_release= is of rule="{POSTERIOR}" alone, and would say nothing of rule="{rule}"; '
            "leave it out"
        )
    if start is not None and individuals is not None:
        raise UsageError("start= and individuals= both say whose record is named; give one")
    rows = individuals_of(kin.sparse, individuals, seed) if start is None else _rows(start, kin)
    starts = np.arange(len(kin)) if rows is None else rows
    looked: dict[int, Mapping[str, LookedFor]] = {}

    def look(person: int) -> Mapping[str, LookedFor]:
        if person not in looked:
            looked[person] = all_named(kin, person_of(kin, person), rule, float(in_release))
        return looked[person]

    import pandas as pd

    claims = []
    for first in progress(starts.tolist(), "first records"):
        claims += _spread(first, depth, look)
    names = ["start", "round", "source", "relation", "who", "posterior", "path"]
    return Neighbourhood(
        kin, starts, rule, depth, float(in_release), pd.DataFrame(claims, columns=names), looked,
        drawn=individuals is not None,
    )  # fmt: skip


def _rows(start: Any, kin: Kin) -> Ints:
    rows = np.atleast_1d(np.asarray(start))
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or not rows.size:
        raise UsageError("start= is the row of a record, from 0, or several")
    if rows.min() < 0 or rows.max() >= len(kin) or np.unique(rows).size != rows.size:
        raise UsageError(f"start= takes rows from 0 to {len(kin) - 1}, each once")
    return rows.astype(np.int64)


def _spread(first: int, depth: int, look: Any) -> list[tuple[Any, ...]]:
    """Round after round, who has just been named is read; nobody is named twice."""
    found: list[tuple[Any, ...]] = []
    seen, queue = {first}, deque([(first, 1, "")])
    while queue:
        source, step, path = queue.popleft()
        for role, outcome in look(source).items():
            for claim in outcome.claims:
                if claim.who in seen:
                    continue
                seen.add(claim.who)
                way = f"{path} > {role}" if path else role
                found.append((first, step, source, role, claim.who, claim.posterior, way))
                if step < depth:
                    queue.append((claim.who, step + 1, way))
    return found


@typed
def family_experiments(kin: Kin) -> pd.DataFrame:
    """The paper's comparisons by the strict rule: records without a match, all and attackable.

    Sex and birth year are not used, as in the paper; a record that tells nothing is not attackable,
    and counts as without a match only in the paper's own way of counting.
    """
    import pandas as pd

    rows = {}
    for name, (pairs, printed) in TABLE_4.items():
        if not all(one in kin.tells and other in kin.tells for one, other in pairs):
            continue
        matches = np.zeros(len(kin), dtype=np.int64)
        able = np.ones(len(kin), dtype=bool)
        for i in progress(range(len(kin)), name):
            of = person_of(kin, i)
            able[i] = all((of.cells[one] >= YES).any() for one, _ in pairs)
            if able[i]:
                fits = np.logical_and.reduce([fits_pair(kin, of, pair) for pair in pairs])
                fits[i] = False
                matches[i] = int(fits.sum())
        none = matches == 0
        rows[name] = {
            "attackable": able.mean(), "no match": none.mean(),
            "no match of attackable": none[able].mean() if able.any() else np.nan,
            "matches of attackable": matches[able].mean() if able.any() else np.nan,
            "printed no match": np.nan if printed is None else printed,
        }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("comparison")
