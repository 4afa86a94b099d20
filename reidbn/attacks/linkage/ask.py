"""linkage: how likely any few facts of a person single out their record in a sparse table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.attack.scenario import Known, Knows, Scenario
from reidbn.attack.scenariofile import load_scenario, scenarios
from reidbn.attacks.linkage.curves import ORDERS, RULES, Curves, PersonCurve, support_of
from reidbn.attacks.linkage.result import Linkage
from reidbn.attacks.routes.arguments import individuals_of, truth, whole_number
from reidbn.calls import refuse_outside, typed
from reidbn.errors import UsageError, did_you_mean
from reidbn.limits import MOST_CHECKED
from reidbn.microdata.again import asked_again
from reidbn.microdata.agree import agreement
from reidbn.microdata.knowledge import Knowledge, is_pair
from reidbn.microdata.sparse import Sparse
from reidbn.progress import progress

MOST_FACTS = 1_000
FARTHEST = 1e12


@asked_again
@typed
def linkage(
    sparse: Sparse,
    *,
    known: str | Sequence[str] | Mapping[Any, Any] | Scenario | Knowledge = "random",
    match: str = "equal",
    facts: Sequence[int] | int | None = None,
    success: str = "best",
    otherwise: float | None = None,
    weights: Mapping[str, float] | None = None,
    facts_together: bool = False,
    tolerance: float = 0.2,
    years: float = 2,
    modal: float = 0.5,
    share: float = 0.8,
    lineup: int = 1,
    phi: float = 1.5,
    node_budget: int = 20_000,
    draws: int = 1_000,
    seed: int = 0,
    individuals: int | ArrayLike | None = None,
) -> Linkage:
    """For every person and k, the chance that k of their facts single out their record.

    `sparse` is the table, of rb.read_sparse; the person is in it, and the facts are right (for
    wrong facts and absent people: rb.assess("linkage", sparse)).

    `known` says which facts: "random" (any k), "rarest" (the k known of fewest people), "greedy"
    (each leaves the fewest others), "optimal" (the k that serve best), a tag, section or
    several names (any k of these), or {name: chance} for facts that are known independently, with
    the chance `otherwise` of all others; so are columns with chances read as {name: (columns,
    chance)}, from a Knowledge or a Scenario.  `weights` makes some facts likelier to be among
    the k.
    `facts` are the numbers of facts, 1 to 20 by default; more than a person has are all.
    `facts_together` makes features that the feature table puts together one fact.

    `match` says who agrees: "equal", "tolerance" (a share `tolerance` of a number, `years` of a
    date), "present", or "modal" (unusual contents; see sparse.unusual, with the share `modal`).

    `success` is the rule: "best" (no other record fits as many facts), "threshold" (the same where
    all facts are right), "lineup" (at most `lineup` records fit as many), "guess" (a guess among
    all that fit as many is right), "separated" (no other fits more than a `share` of the facts),
    "eccentricity" (the best score stands out by `phi` standard deviations, where a fact counts
    1/ln(records that hold a value there) [NS08]).

    Exact within `node_budget` steps a person (see `.exact`), else drawn `draws` times with `seed`,
    with 95 % intervals.  `individuals`: so many people drawn at random, or these rows.

    >>> from reidbn.microdata.sparse import read_sparse
    >>> sparse = read_sparse({"a": [1, 1, 2], "b": [5, 6, 6], "c": [7, 8, None]})
    >>> linkage(sparse, facts=[1, 2]).success.tolist()
    [[0.6666666666666666, 1.0], [0.3333333333333333, 1.0], [0.5, 1.0]]
    """
    refuse_outside("draws", draws, least=1, most=MOST_CHECKED)
    if not isinstance(sparse, Sparse):
        raise UsageError("linkage needs sparse = rb.read_sparse(table, features=...)")
    if success not in RULES:
        raise UsageError(f'success="{success}"; {did_you_mean(str(success), RULES)}')
    _refuse_unused(
        (match, success), tolerance=tolerance, years=years, modal=modal, share=share,
        lineup=lineup, phi=phi,
    )  # fmt: skip
    found = agreement(
        sparse, match, tolerance=_number(tolerance, "tolerance"), years=_number(years, "years"),
        modal=float(_share(modal, "modal")), together=truth(facts_together, "facts_together"),
    )  # fmt: skip
    support = support_of(found)
    curves = Curves(
        agreement=found,
        ks=numbers_of_facts(facts),
        rule=success,
        lineup=whole_number(lineup, "lineup", least=1),
        share=_share(share, "share"),
        phi=_number(phi, "phi"),
        node_budget=whole_number(node_budget, "node_budget", least=0),
        draws=draws,
        seed=whole_number(seed, "seed", least=0),
        support=support,
    )
    known = _by_columns(known, sparse)
    curves, words = _knowing(curves, known, otherwise, weights)
    if curves.chances is not None and facts is not None:
        raise UsageError("facts= is how many are known; with chances that is a matter of chance")
    if curves.chances is not None and success not in ("best", "threshold"):
        raise UsageError(
            f'success="{success}" is not there for facts known independently; ask for "best"'
        )
    rows = individuals_of(sparse, individuals, curves.seed)
    wanted = range(len(sparse)) if rows is None else rows.tolist()
    cells = [curves.of(person) for person in progress(wanted, "people's curves")]
    drawn = individuals is None or np.ndim(individuals) == 0
    told = _result(sparse, curves, cells, words, rows, drawn=drawn)
    if not isinstance(known, Mapping):
        return told
    said = {str(name): float(p[1] if is_pair(p) else p) for name, p in known.items()}
    others = {} if otherwise is None else {"all others": float(otherwise)}
    return replace(told, chances=said | others)


_USED = {  # each option, its default, and the rule that uses it
    "tolerance": (0.2, "match", "tolerance"), "years": (2, "match", "tolerance"),
    "modal": (0.5, "match", "modal"), "share": (0.8, "success", "separated"),
    "lineup": (1, "success", "lineup"), "phi": (1.5, "success", "eccentricity"),
}  # fmt: skip


def _refuse_unused(rules: tuple[str, str], **given: Any) -> None:
    """Raise where an option says something that the question does not ask."""
    for name, value in given.items():
        default, word, rule = _USED[name]
        if value != default and rule not in rules:
            raise UsageError(
                f'{name}= is of {word}="{rule}" alone, and would say nothing here; leave it out'
            )


def _result(
    sparse: Sparse, curves: Curves, cells: Sequence[PersonCurve], words: str,
    rows: NDArray[np.int64] | None, *, drawn: bool,
) -> Linkage:  # fmt: skip
    held = _held(curves)
    return Linkage(
        sparse=sparse,
        ks=() if curves.chances is not None else curves.ks,
        success=np.stack([one.success for one in cells]),
        exact=np.stack([one.exact for one in cells]),
        low=np.stack([one.low for one in cells]),
        high=np.stack([one.high for one in cells]),
        held=held if rows is None else held[rows],
        nodes=np.array([one.nodes for one in cells]),
        knows=words,
        curves=curves,
        individuals=rows,
        drawn=drawn and rows is not None,
    )


def numbers_of_facts(given: Any) -> tuple[int, ...]:
    """The numbers of facts asked about, ascending."""
    if given is None:
        return tuple(range(1, 21))
    wanted = np.unique(np.atleast_1d(np.asarray(given)))
    if wanted.dtype.kind not in "iu" or not wanted.size or wanted.min() < 1:
        raise UsageError("facts= are whole numbers from 1, such as range(1, 21)")
    if wanted.max() > MOST_FACTS:
        raise UsageError(f"facts={wanted.max()}; ask for at most {MOST_FACTS}")
    return tuple(wanted.tolist())


def _number(given: Any, name: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float | np.number):
        raise UsageError(f"{name} is a number")
    if not np.isfinite(given) or given < 0:
        raise UsageError(f"{name}={given}; it must be 0 or more")
    return float(given)


def _share(given: Any, name: str) -> Fraction:
    if _number(given, name) >= 1:
        raise UsageError(f"{name}={given}; it must lie from 0 to below 1")
    return Fraction(Decimal(str(float(given))))


def _held(curves: Curves) -> NDArray[np.int64]:
    """How many facts that may be known each person has."""
    found = curves.agreement
    return np.array(
        [np.unique(found.known(i, curves.allowed)[1]).size for i in range(found.people)]
    )


def _knowing(curves: Curves, known: Any, otherwise: Any, weights: Any) -> tuple[Curves, str]:
    """What the attacker knows, and the words for it."""
    if isinstance(known, Mapping):
        if weights is not None:
            raise UsageError("weights= are about k facts; known={name: chance} says each chance")
        words = f"{', '.join(sorted(map(str, known)))} known by chance"
        return replace(curves, chances=_by_name(curves, known, otherwise)), words
    if otherwise is not None:
        raise UsageError("otherwise= is the chance of all other facts: known={name: chance}")
    found = curves.agreement
    if isinstance(known, str) and known in ORDERS and known not in found.given.names:
        curves, words = replace(curves, order=known), known
    elif isinstance(known, str) or _are_names(known):
        listed = [known] if isinstance(known, str) else list(known)
        try:
            places = found.named(listed)
        except UsageError as slip:
            raise UsageError(f"known=: {slip}; or one of {', '.join(ORDERS)}") from None
        allowed = np.zeros(len(found.facts), dtype=bool)
        allowed[found.fact_of[places]] = True
        curves, words = replace(curves, allowed=allowed), " and ".join(sorted({*listed}))
    else:
        raise UsageError(
            f"known= takes one of {', '.join(ORDERS)}, names of features, tags or sections, or "
            '{"alcohol": 0.3} for facts known independently'
        )
    if weights is None:
        return curves, words
    if curves.order != "random":
        raise UsageError(f'weights= are about facts drawn at random, and known="{known}" is not')
    if not isinstance(weights, Mapping):
        raise UsageError('weights= is a mapping of names to numbers above 0: {"alcohol": 3}')
    heavy = np.ones(len(found.facts))
    for word, value in weights.items():
        heavy[found.fact_of[found.named(word)]] = _number(value, f'weights["{word}"]')
    if not (heavy > 0).all() or heavy.max() / FARTHEST > heavy.min():
        raise UsageError(
            f"weights= are above 0, and at most {FARTHEST:g} times apart; name the facts that may "
            f"be known in known="
        )
    return replace(curves, weights=heavy), f"{words}, weighted"


def _by_columns(known: Any, sparse: Sparse) -> Any:
    """Columns with chances as {name: (columns, chance)}; what else a scenario says is refused."""
    if isinstance(known, Knowledge):
        chances = known.probabilities if known.stated else np.ones(known.groups)
        if not (known.is_shared and known.kinds is None and known.listed is None) or known.bands:
            raise UsageError(
                "known= has chances of each person's own, kinds of attackers, a list or bands, and "
                'linkage takes one chance for each fact: known={"alcohol": 0.3}'
            )
        groups = zip(known.columns, chances.tolist(), strict=True)
        return dict(zip(known.names, groups, strict=True))
    named = isinstance(known, str) and known in scenarios() and not sparse.has(known)
    if not named:
        return _of_scenario(known) if isinstance(known, Scenario) else known
    try:
        return _of_scenario(load_scenario(known))
    except UsageError as problem:
        raise UsageError(f'no feature has the name or tag "{known}", and {problem}') from None


def _of_scenario(scenario: Scenario) -> dict[str, Any]:
    """A scenario that says a chance for some columns, and nothing else."""
    knows = scenario.knows
    items = () if knows is None else knows.known
    plain = tuple(Known(one.name, one.columns, one.chance, source=one.source) for one in items)
    pairs = {one.name: (one.columns, one.constant) for one in plain}
    alone = scenario == replace(scenario, knows=Knows(plain), **_SAYS_NO_MORE)
    if items and alone and None not in (p for _, p in pairs.values()):
        return pairs
    if items or knows is None or knows.parent is not None:
        raise UsageError(
            f"scenario {scenario.name} says more than one chance for each fact, or none; name the "
            'facts and their chances: known={"alcohol": 0.3}'
        )
    if scenario.says_everything:
        raise UsageError(
            f"scenario {scenario.name} says that everything is known: ask for as many facts as a "
            "person has at most, facts=[...] (more than somebody has are all of theirs)"
        )
    raise UsageError(
        f"scenario {scenario.name} says which facts are known, how they are matched and when the "
        "attacker succeeds, which are arguments of their own here; ask it as a whole: "
        f'rb.assess("linkage", sparse, scenario="{scenario.name}")'
    )


_SAYS_NO_MORE: dict[str, Any] = {
    "set": {}, "given": {}, "do": {}, "parameters": (), "nodes": (), "questions": (),
}  # fmt: skip


def _are_names(known: Any) -> bool:
    return (
        isinstance(known, Sequence) and bool(known) and all(isinstance(name, str) for name in known)
    )


def _by_name(curves: Curves, known: Mapping[Any, Any], otherwise: Any) -> NDArray[np.float64]:
    """The chance of each fact."""
    rest = 0.0 if otherwise is None else _chance(otherwise, "otherwise")
    if curves.order != "random" or not known:
        raise UsageError('known= is empty; write {"alcohol": 0.3}')
    found = curves.agreement
    chances = np.full(len(found.facts), np.nan)
    for word, said in known.items():
        names, value = said if is_pair(said) else (word, said)
        p = _chance(value, f'known["{word}"]')
        listed = [names] if isinstance(names, str) else list(map(str, names))
        places = np.unique(found.fact_of[found.named(listed)])
        if len(listed) > 1 and places.size > 1:
            raise UsageError(
                f'known["{word}"]: {", ".join(listed)} are learnt together, and here each fact is '
                "known by itself: give each a chance of its own, or let the feature table put them "
                "together (facts_together=True)"
            )
        if (~np.isnan(chances[places]) & (chances[places] != p)).any():
            raise UsageError(
                f'known["{word}"]: some of its facts have another chance by another name, or '
                "through features known together; give each fact one chance"
            )
        chances[places] = p
    return np.where(np.isnan(chances), rest, chances)


def _chance(value: Any, name: str) -> float:
    p = _number(value, name)
    if p > 1:
        raise UsageError(f"{name}={value}; a chance lies from 0 to 1")
    return p
