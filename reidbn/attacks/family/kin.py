"""Who tells of whom: the relation map of a sparse table, and what records tell through it.

A feature of the table is about a `relation` (self, father, ..., siblings), a `disease`, and a
`field`: has (yes or no), onset (an age), since (a year, of the person), or anything else that is
told.  Of the person themselves `sex` and `birth year` may stand there, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import refuse_outside, typed
from reidbn.errors import DataError, UsageError, did_you_mean
from reidbn.late import late
from reidbn.microdata.coding import plainly
from reidbn.microdata.kinds import NUMBER, YEAR, YES_NO
from reidbn.microdata.sparse import Sparse
from reidbn.theory.kinship import (
    FIRST_AGE,
    NO,
    OLDEST,
    UNKNOWN,
    YES,
    Channel,
    codes_given,
    given_other,
    one_of_several,
    told_of_the_ill,
    truth_prior,
)
from reidbn.written import agree, counted

Ints = NDArray[np.int64]
Array = NDArray[np.float64]
SELF, FATHER, MOTHER, SIBLINGS = "self", "father", "mother", "siblings"
PGF, PGM = "paternal grandfather", "paternal grandmother"
MGF, MGM = "maternal grandfather", "maternal grandmother"
PLANTS = 400  # virtual relatives of each kind by which an assessment says how often they are found
MOST_PLANTS = 1_000_000
RELATIONS = (SELF, FATHER, MOTHER, PGF, PGM, MGF, MGM, SIBLINGS)
SEX, BORN, HAS, ONSET, SINCE = "sex", "birth year", "has", "onset", "since"
UNSURE, FEMALE, MALE = 0, 1, 2
_SEXES = {"female": FEMALE, "f": FEMALE, "woman": FEMALE, "male": MALE, "m": MALE, "man": MALE}
CHILD, SONS_CHILD, DAUGHTERS_CHILD, SIBLING = "child", "son's child", "daughter's child", "sibling"

Pairs = tuple[tuple[str, str], ...]
_SHARED: Pairs = tuple((one, one) for one in (FATHER, MOTHER, PGF, PGM, MGF, MGM))
UPWARDS: dict[str, Pairs] = {
    FATHER: ((FATHER, SELF), (PGF, FATHER), (PGM, MOTHER)),
    MOTHER: ((MOTHER, SELF), (MGF, FATHER), (MGM, MOTHER)),
    **{one: ((one, SELF),) for one in (PGF, PGM, MGF, MGM)},
}
DOWNWARDS: dict[str, dict[int, Pairs]] = {
    CHILD: {
        MALE: ((SELF, FATHER), (FATHER, PGF), (MOTHER, PGM)),
        FEMALE: ((SELF, MOTHER), (FATHER, MGF), (MOTHER, MGM)),
    },
    SONS_CHILD: {MALE: ((SELF, PGF),), FEMALE: ((SELF, PGM),)},
    DAUGHTERS_CHILD: {MALE: ((SELF, MGF),), FEMALE: ((SELF, MGM),)},
}
ROLES = (*UPWARDS, SIBLING, *DOWNWARDS)
SEVERAL = (SIBLING, *DOWNWARDS)
"""Roles of which somebody may have several."""
_GENERATION = {FATHER: (15, 60), MOTHER: (12, 55), **dict.fromkeys((PGF, PGM, MGF, MGM), (28, 110))}


def pairs_of(role: str, sex: int) -> Pairs:
    """Of whom both tell: (what the first record says of them, what the relative's record does)."""
    if role == SIBLING:
        return (*_SHARED, (SELF, SIBLINGS), (SIBLINGS, SELF))
    return UPWARDS[role] if role in UPWARDS else DOWNWARDS[role].get(sex, ())


@dataclass(frozen=True, eq=False)
class Kin:
    """A sparse table read as records that tell of relatives; made by `read_kin`.

    `kin.experiments()` gives the paper's comparisons beside what it prints.
    """

    sparse: Sparse
    diseases: tuple[str, ...]
    tells: Mapping[str, NDArray[np.int16]] = field(repr=False)
    """Of each relation, people x diseases: codes of theory/kinship.py."""
    others: Mapping[tuple[str, int, str], NDArray[Any]] = field(repr=False)
    """Further fields that are told, such as a status: by relation, disease and field."""
    sex: NDArray[np.int8] = field(repr=False)
    born: Ints = field(repr=False)
    completeness: float = 0.9
    false_reports: float = 0.01
    jitter: float = 2.0
    years: int = 2
    plants: int = PLANTS
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.sparse)

    @property
    def relations(self) -> tuple[str, ...]:
        """Of whom records tell."""
        return tuple(self.tells)

    @cached_property
    def telling(self) -> NDArray[np.bool_]:
        """Whose record tells anything of the family."""
        found = np.zeros(len(self), dtype=bool)
        for relation, codes in self.tells.items():
            if relation != SELF:
                found |= (codes != UNKNOWN).any(axis=1)
        return found

    def cells(self, person: int) -> dict[str, NDArray[np.int16]]:
        """What one record tells: of each relation a code for each disease."""
        return {relation: codes[person] for relation, codes in self.tells.items()}

    def evidence(self, cells: Mapping[str, NDArray[np.int16]], role: str, sex: int) -> int:
        """How many illnesses a record tells that bear on a role; 0 where it is not attackable."""
        about = {one for one, other in pairs_of(role, sex) if other in self.tells}
        return sum(int((cells[one] >= YES).sum()) for one in about if one in cells)

    def evidence_of_all(self, role: str) -> Ints:
        """The same of every record."""
        if role not in self._evidence:
            each = [self.evidence(self.cells(i), role, int(self.sex[i])) for i in range(len(self))]
            self._evidence[role] = np.array(each, dtype=np.int64)
        return self._evidence[role]

    def fits(self, role: str, sex: int, born: int) -> NDArray[np.bool_]:
        """Who may be it by sex and birth year; what is not known rules nobody out."""
        found = np.ones(len(self), dtype=bool)
        wanted = {FATHER: MALE, PGF: MALE, MGF: MALE, MOTHER: FEMALE, PGM: FEMALE, MGM: FEMALE}
        if role in wanted:
            found &= (self.sex == wanted[role]) | (self.sex == UNSURE)
        if not born:
            return found
        older = born - self.born
        if role in _GENERATION:
            low, high = _GENERATION[role]
            near = (low <= older) & (older <= high)
        elif role == SIBLING:
            near = np.abs(older) <= 25
        elif role == CHILD:
            low, high = _GENERATION[MOTHER if sex == FEMALE else FATHER]
            near = (low <= -older) & (-older <= high)
        else:
            low, high = _GENERATION[PGF]
            near = (low <= -older) & (-older <= high)
        return np.asarray(found & (near | (self.born == 0)))

    # -- the channel -------------------------------------------------------------------------------

    @cached_property
    def ages(self) -> Array:
        """The law of ages of onset: those of the records' own illnesses, smoothed."""
        own = self.tells.get(SELF)
        known = np.empty(0) if own is None else own[own >= FIRST_AGE] - FIRST_AGE
        if not known.size:
            known = np.concatenate(
                [codes[codes >= FIRST_AGE] - FIRST_AGE for codes in self.tells.values()]
            )
        years = np.arange(OLDEST + 1)
        law = np.full(OLDEST + 1, 1.0 / (OLDEST + 1))
        counts = np.bincount(known.astype(np.int64), minlength=OLDEST + 1)
        for age in np.flatnonzero(counts).tolist():
            kernel = np.exp(-0.5 * ((years - age) / 3.0) ** 2)
            law += counts[age] * kernel / kernel.sum()
        return np.asarray(law / law.sum())

    def share(self, relation: str, disease: int) -> float:
        """The share who have had an illness, of whom a relation's reports tell."""
        codes = self.tells[relation][:, disease]
        yes, no = int((codes >= YES).sum()), int((codes == NO).sum())
        told = self._who_tells(relation) if relation in self.unwritten else yes + no
        share = (yes + 0.5) / (told + 1)
        if relation != SELF:
            share = (share - self.false_reports) / (self.completeness - self.false_reports)
        return float(np.clip(share, 1e-4, 0.95))

    @cached_property
    def unwritten(self) -> dict[str, float]:
        """Relations whose health is mostly left blank, and how much of it: fewer "no" are written
        there than illnesses, and there is more health than illness.
        """
        found = {}
        for relation, codes in self.tells.items():
            no, ill = int((codes == NO).sum()), int((codes >= YES).sum())
            if no < ill or not ill:
                well = self._who_tells(relation) * codes.shape[1] - ill
                found[relation] = 1 - no / well if well > no else 0.0
        return found

    def _who_tells(self, relation: str) -> int:
        """Where health is left blank: how many records could tell of an illness."""
        return len(self) if relation == SELF else int(self.telling.sum())

    def meant(self, relation: str, person: int) -> NDArray[np.int16]:
        """What one record tells of a relation; where health is left blank, a blank as no.

        A blank in a record that tells nothing of the family tells nothing of a relative either.
        """
        codes: NDArray[np.int16] = self.tells[relation][person]
        could = relation == SELF or self.telling[person]
        if relation not in self.unwritten or not could:
            return codes
        return np.asarray(np.where(codes == UNKNOWN, NO, codes), dtype=np.int16)

    def _with_age(self, relation: str) -> float:
        codes = self.tells[relation]
        return float(((codes >= FIRST_AGE).sum() + 0.5) / ((codes >= YES).sum() + 1))

    def says(self, relation: str, about: str, disease: int) -> Array:
        """P(code | truth of the person meant) in the reports of a relation."""
        if relation == SELF:
            return codes_given(Channel(with_age=self._with_age(SELF)), self.ages)
        channel = Channel(
            self.completeness, self.false_reports, self.jitter, self._with_age(relation)
        )
        if relation == SIBLINGS and about == SELF:
            return one_of_several(channel, self.share(SIBLINGS, disease) / 2, self.ages)
        return codes_given(channel, self.ages)

    def law(self, pair: tuple[str, str], disease: int) -> tuple[Array, Array]:
        """P(code | the other's code) and its ratio, of a pair of reports on one person."""
        key = (*pair, disease)
        if key not in self._laws:
            one = pair[0]
            about = SELF if SELF in pair else one
            first, second = (self.says(name, about, disease) for name in pair)
            base = SELF if one == SIBLINGS else one
            prior = truth_prior(self.share(base, disease), self.ages)
            ill = None
            if pair not in ((SELF, SIBLINGS), (SIBLINGS, SELF)):  # told alike of every illness
                if pair not in self._told:
                    self._told[pair] = told_of_the_ill(first, second, self.ages)
                ill = self._told[pair]
            self._laws[key] = given_other(first, second, prior, ill)
        return self._laws[key]

    def log_law(self, pair: tuple[str, str], disease: int) -> Array:
        """The ratio of `law` by the logarithm; of what cannot be together it is minus infinity."""
        key = (*pair, disease)
        if key not in self._logs:
            with np.errstate(divide="ignore"):
                self._logs[key] = np.log(self.law(pair, disease)[1])
        return self._logs[key]

    @cached_property
    def _evidence(self) -> dict[str, Ints]:
        return {}

    @cached_property
    def _logs(self) -> dict[tuple[str, str, int], Array]:
        return {}

    @cached_property
    def _told(self) -> dict[tuple[str, str], Array]:
        return {}

    @cached_property
    def _laws(self) -> dict[tuple[str, str, int], tuple[Array, Array]]:
        return {}

    experiments = late("reidbn.attacks.family.neighbourhood:family_experiments")

    def __repr__(self) -> str:
        return (
            f"<Kin: {len(self):,} people who tell of "
            f"{counted(len(self.diseases), 'illness', 'illnesses')} of {', '.join(self.relations)}>"
        )


@typed
def read_kin(
    sparse: Sparse,
    *,
    completeness: float = 0.9,
    false_reports: float = 0.01,
    jitter: float = 2.0,
    years: int = 2,
    plants: int = PLANTS,
) -> Kin:
    """A sparse table as records that tell of relatives; its feature table says which feature does.

    `relation` is self, father, mother, paternal or maternal grandfather or grandmother, siblings;
    `disease` the illness; `field` has (yes or no), onset (an age), since (a year, of the person), a
    word for anything else, or sex and birth year (of the person, without a disease).

    How records tell of others is assumed: an illness with the chance `completeness`, one that they
    did not have with `false_reports`, ages off by `jitter` years (standard deviation).  The strict
    rule takes ages for the same within `years`.  An assessment draws `plants` virtual relatives of
    each kind, which say how often a match is right: ten times as many, a third of the error.

    >>> from reidbn.microdata.sparse import read_sparse
    >>> features = {"feature": ["a", "b"], "relation": ["self", "father"],
    ...             "disease": ["asthma", "asthma"], "field": ["has", "has"]}
    >>> read_kin(read_sparse({"a": ["yes", "no"], "b": [None, "yes"]}, features=features))
    <Kin: 2 people who tell of 1 illness of self, father>
    """
    refuse_outside("completeness", completeness, least=0.01, most=1)
    refuse_outside("false_reports", false_reports, least=0, most=0.5)
    refuse_outside("jitter", jitter, least=0, most=50)
    refuse_outside("years", years, least=0, most=100)
    refuse_outside("plants", plants, least=1, most=MOST_PLANTS)
    if completeness <= false_reports:
        raise DataError(
            f"completeness={completeness}, false_reports={false_reports}: an illness that somebody "
            "had must be told oftener than one that they had not"
        )
    if sparse.truth is not None:
        raise UsageError(
            "relatives are compared by ages and years as they are told, and this table has noise "
            "on them: read the table without noise, and say how far ages are off with jitter="
        )
    places = _map(sparse)
    diseases = tuple(dict.fromkeys(disease for _, disease, _ in places if disease))
    sex, born = _sexes(sparse, places), _years(sparse, places)
    tells: dict[str, NDArray[np.int16]] = {}
    others: dict[tuple[str, int, str], NDArray[Any]] = {}
    for (relation, disease, what), j in places.items():
        if not disease:
            continue
        d = diseases.index(disease)
        codes = tells.setdefault(relation, np.zeros((len(sparse), len(diseases)), dtype=np.int16))
        if what in (HAS, ONSET, SINCE):
            _fill(codes[:, d], sparse, j, what, born)
        else:
            others[relation, d, what] = _column(sparse, j)
    if not tells or {*tells} == {SELF}:
        raise DataError(
            "no feature tells of a relative: give the feature table the columns relation (father), "
            "disease (asthma) and field (has)"
        )
    for d, disease in enumerate(diseases):
        if not any(codes[:, d].any() for codes in tells.values()):
            _refuse_unsaid(disease, sorted({what for (_, one, what) in places if one == disease}))
    tells = {one: tells[one] for one in RELATIONS if one in tells}
    return Kin(
        sparse=sparse, diseases=diseases, tells=tells, others=others, sex=sex, born=born,
        completeness=float(completeness), false_reports=float(false_reports),
        jitter=float(jitter), years=int(years), plants=int(plants),
        notes=(*sparse.notes, *_notes(tells, sex, born), *_of_nobodys_own(tells, diseases)),
    )  # fmt: skip


def _map(sparse: Sparse) -> dict[tuple[str, str, str], int]:
    """The feature of each relation, disease and field."""
    found: dict[tuple[str, str, str], int] = {}
    for j, one in enumerate(sparse.schema):
        if not one.relation:
            continue
        relation = plainly(one.relation)
        if relation not in RELATIONS:
            raise DataError(
                f'feature "{one.name}": no relation "{one.relation}"; '
                f"{did_you_mean(relation, RELATIONS)}"
            )
        what = plainly(one.field) or HAS
        of_self = what in (SEX, BORN) and relation == SELF
        if not one.disease and not of_self:
            raise DataError(
                f'feature "{one.name}" is about {relation} and names no disease; name one (of self '
                f'a field "{SEX}" or "{BORN}" needs none)'
            )
        key = (relation, plainly(one.disease), what)
        if key in found:
            raise DataError(
                f'features "{sparse.schema[found[key]].name}" and "{one.name}" tell the same '
                f"({', '.join(part for part in key if part)}); keep one"
            )
        _refuse_kind(one, what, relation, is_empty=not sparse.records[j])
        found[key] = j
    return found


def _refuse_unsaid(disease: str, fields: Sequence[str]) -> None:
    """Raise where no field says who has an illness: a status says nothing by itself."""
    if not {HAS, ONSET, SINCE} & {*fields}:
        raise DataError(
            f"{disease}: no feature says who has it, by the field {HAS}, {ONSET} or {SINCE}; "
            f"{', '.join(fields)} {agree(len(fields), 'is', 'are')} read as a status"
        )


def _of_nobodys_own(tells: Mapping[str, Any], diseases: Sequence[str]) -> Iterator[str]:
    """Illnesses that only relatives are said to have, where another has nearly their name."""
    own = tells.get(SELF)
    said = {d: own is not None and bool(own[:, d].any()) for d in range(len(diseases))}
    for d, disease in enumerate(diseases):
        others = [other for i, other in enumerate(diseases) if said[i]]
        if not said[d] and (near := get_close_matches(disease, others, n=1)):
            yield f"{disease} is told of relatives alone; if {near[0]} was meant, write it alike"


def _refuse_kind(one: Any, what: str, relation: str, *, is_empty: bool) -> None:
    """Raise where a field is of another kind; of an empty column none is seen."""
    wanted = {HAS: (YES_NO,), ONSET: (NUMBER,), SINCE: (YEAR, NUMBER), BORN: (YEAR, NUMBER)}
    if what in wanted and one.kind not in wanted[what] and not is_empty:
        raise DataError(
            f'feature "{one.name}": {what} is of the kind {wanted[what][0]}, not {one.kind}; '
            "say so in the feature table, or give the field another word"
        )
    if what == SINCE and relation != SELF:
        raise DataError(
            f'feature "{one.name}": since is a year in the life of the person (self); of relatives '
            "give the age, field onset"
        )


def _column(sparse: Sparse, j: int) -> NDArray[Any]:
    """The values of a feature, one per person; None where nothing is known."""
    found = np.full(len(sparse), None, dtype=object)
    here = slice(sparse.start[j], sparse.start[j + 1])
    found[sparse.rows[here]] = sparse.labels[j][sparse.codes[here]]
    return found


def _sexes(sparse: Sparse, places: Mapping[tuple[str, str, str], int]) -> NDArray[np.int8]:
    found = np.full(len(sparse), UNSURE, dtype=np.int8)
    if (SELF, "", SEX) in places:
        words = _column(sparse, places[SELF, "", SEX])
        found[:] = [_SEXES.get(plainly(str(word)), UNSURE) for word in words]
    return found


def _years(sparse: Sparse, places: Mapping[tuple[str, str, str], int]) -> Ints:
    """Birth years; 0 where not known."""
    found = np.zeros(len(sparse), dtype=np.int64)
    if (SELF, "", BORN) in places:
        found[:] = [int(year or 0) for year in _column(sparse, places[SELF, "", BORN])]
    return found


def _fill(codes: NDArray[np.int16], sparse: Sparse, j: int, what: str, born: Ints) -> None:
    """One column's part of the codes: an age says yes, where no other column says no."""
    here = slice(sparse.start[j], sparse.start[j + 1])
    rows, values = sparse.rows[here], sparse.labels[j][sparse.codes[here]]
    if what == HAS:
        yes = np.array([bool(value) for value in values], dtype=bool)
        codes[rows[yes & (codes[rows] < YES)]] = YES
        codes[rows[~yes]] = NO
        return
    ages = np.round(values.astype(np.float64)).astype(np.int64)
    if what == SINCE:
        ages = np.where(born[rows] > 0, ages - born[rows], -1)
    elif ages.size and (ages.min() < 0 or ages.max() > OLDEST):
        raise DataError(
            f'feature "{sparse.schema[j].name}": ages of onset lie from 0 to {OLDEST}; mend them, '
            "or list what means unknown in missing_values"
        )
    sure = (ages >= 0) & (ages <= OLDEST)
    unsaid = codes[rows] != NO
    codes[rows[~sure & unsaid]] = np.maximum(codes[rows[~sure & unsaid]], YES)
    codes[rows[sure & unsaid]] = (FIRST_AGE + ages[sure & unsaid]).astype(np.int16)


def _notes(tells: Mapping[str, Any], sex: NDArray[np.int8], born: Ints) -> list[str]:
    said = []
    if SELF not in tells:
        said.append(
            "no feature tells of the person's own illnesses (relation self): relatives are matched "
            "only where two records tell of a third person"
        )
    if not sex.any() or not born.any():
        gone = " and ".join(
            word for word, known in (("sex", sex.any()), ("birth year", born.any())) if not known
        )
        said.append(f"nobody's {gone} is known (relation self): they rule nobody out")
    return said
