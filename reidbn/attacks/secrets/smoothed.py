"""A Bayesian network learnt from the table: a tree, rooted at the secret [ChowLiu68].

Among all trees it has the highest likelihood: the maximum spanning tree of the mutual information
of every two variables.  Each row of a table P(x | u) is smoothed with a Dirichlet prior at the
variable's own distribution m (with half a person more per value), (n_xu + a m_x) / (n_u + a), so
nothing is ever impossible.
The posterior of the secret given any known columns is asked of the exact engine.

A posterior that does not read a class of one as certainty, and which one to believe.

Counting says that somebody alone in their class has their secret for sure.  That is true of the
table; as a statement about people it is only as good as its forecasts.  Two smoothed posteriors:

    dirichlet    P(s | a) = (#{s, a} + w m_s) / (#{a} + w), m the baseline, w its weight      (1)
    network      a tree learnt from the table (`disclosure_tree`)

and `disclosure_calibration`, which forecasts held-out people with each of them and the counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.above import is_above
from reidbn.attacks.secrets.asked import asked_of, auxiliaries, coded
from reidbn.attacks.secrets.counts import Half, SlabStep, tally, threshold
from reidbn.calls import typed
from reidbn.errors import UsageError, did_you_mean
from reidbn.inference import exact
from reidbn.inference.network import Factor, Network
from reidbn.microdata.classes import Codes, Floats, Ints, class_ids, fused_key, some_of
from reidbn.microdata.rows import distinct_rows
from reidbn.microdata.table import People

if TYPE_CHECKING:
    import pandas as pd


_CELLS = 1 << 24  # numbers of people whose tables are asked at once
_OWN = "own"


@dataclass(frozen=True, eq=False)
class SecretTree:
    """A tree of conditional tables; `tables[c]` has axes (parent's value, own value)."""

    names: tuple[str, ...]
    secret: int
    parent: tuple[int, ...]
    """Parent of each variable; -1 for the secret, the root."""
    prior: Floats
    tables: dict[int, Floats]

    @classmethod
    def learn(
        cls,
        codes: Codes,
        cardinalities: Sequence[int],
        names: Sequence[str],
        secret: int,
        *,
        strength: float = 1.0,
    ) -> SecretTree:
        """The tree of greatest mutual information; `strength` is the Dirichlet prior's weight a."""
        parent = spanning_tree(mutual_information(codes, cardinalities), secret)
        margins = [margin(codes[:, j], size) for j, size in enumerate(cardinalities)]
        tables = {}
        for child, above in enumerate(parent):
            if above >= 0:
                counts = _counts(codes, above, child, cardinalities)
                seen = counts.sum(axis=1, keepdims=True)
                tables[child] = (counts + strength * margins[child]) / (seen + strength)
        return cls(tuple(names), secret, parent, margins[secret], tables)

    def posterior(self, codes: Codes, known: Sequence[int]) -> Floats:
        """P(secret = v | the known values), people x values.

        >>> rows = np.array([[0, 0], [0, 0], [1, 1], [1, 0]], dtype=np.int32)
        >>> tree = SecretTree.learn(rows, (2, 2), ("sex", "sick"), 1, strength=1.0)
        >>> tree.posterior(rows[:1], [0]).round(3).tolist()
        [[0.854, 0.146]]
        """
        columns = list(known)
        if not columns:
            return np.broadcast_to(self.prior, (len(codes), self.prior.size))
        kind, count = class_ids(codes[:, columns], [self.tables[j].shape[1] for j in columns])
        part = codes[some_of(kind, count)]
        step = max(1, _CELLS // max(table.size for table in (self.prior, *self.tables.values())))
        target, evidence = (self.names[self.secret],), {self.names[j]: _OWN for j in columns}
        found = [
            exact.joint(self._network(part[i : i + step], columns), target, evidence)
            for i in range(0, count, step)
        ]
        joint = np.concatenate(found)[:, 0]
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))[kind]

    def _network(self, codes: Codes, known: Sequence[int]) -> Network:
        """The tree as it is about some people: each one's own value of what is known, or another.

        What follows a known value follows the own one; where it is another no row is ever asked.
        """
        states: dict[str, tuple[str, ...]] = {}
        factors: dict[str, Factor] = {}
        for j in self._order:
            name, above = self.names[j], self.parent[j]
            table = (self.prior if above < 0 else self.tables[j])[None]
            if above in known:
                table = table[0][codes[:, [above, above]]]
            if j in known:
                p = np.take_along_axis(table, codes[:, j, None, None], axis=-1)
                table = np.concatenate([p, 1 - p], axis=-1)
            named = (_OWN, "another") if j in known else map(str, range(table.shape[-1]))
            states[name] = tuple(named)
            factors[name] = Factor(name, () if above < 0 else (self.names[above],), table[:, None])
        return Network(states, {}, factors, subjects=len(codes))

    @cached_property
    def _order(self) -> list[int]:
        """Each variable behind its parent."""
        found = [self.secret]
        for above in found:
            found += [j for j, own in enumerate(self.parent) if own == above]
        return found

    def least_other(self, codes: Codes, known: Sequence[int]) -> tuple[Floats, Ints]:
        """Per person the least posterior of *not* having the own secret, over non-empty subsets.

        And the first subset that attains it (to 1e-12), by size and then by column.
        """
        masks = [
            sum(1 << j for j in some)
            for size in range(1, len(known) + 1)
            for some in combinations(known, size)
        ]
        least, at = np.full(len(codes), np.inf), np.zeros(len(codes), dtype=np.int64)
        for mask in masks:
            other = 1 - self.own_share(codes, [j for j in known if mask >> j & 1])
            better = other < least - 1e-12
            at[better], least[better] = mask, other[better]
        return least, at

    def own_share(self, codes: Codes, known: Sequence[int]) -> Floats:
        """The posterior of each person's own secret."""
        own = codes[:, self.secret, None]
        return np.asarray(np.take_along_axis(self.posterior(codes, known), own, axis=1)[:, 0])

    def to_pgmpy(self) -> Any:
        """The same network as a checked pgmpy DiscreteBayesianNetwork; states are code numbers."""
        from reidbn.inference.pgmpy_bridge import check, pgmpy, tabular

        model = pgmpy().DiscreteBayesianNetwork()
        model.add_nodes_from(self.names)
        sizes = {child: table.shape[1] for child, table in self.tables.items()}
        sizes[self.secret] = self.prior.size
        states = {j: [str(code) for code in range(size)] for j, size in sizes.items()}
        for j, above in enumerate(self.parent):
            if above < 0:
                model.add_cpds(tabular(self.names[j], states[j], {}, self.prior))
            else:
                model.add_edge(self.names[above], self.names[j])
                over = {self.names[above]: states[above]}
                model.add_cpds(tabular(self.names[j], states[j], over, self.tables[j]))
        check(model)
        return model


def margin(column: Codes, size: int) -> Floats:
    """The distribution of a column, with half a person more for each value: none is impossible.

    >>> margin(np.array([0, 0, 1]), 3).round(3)
    array([0.556, 0.333, 0.111])
    """
    counts = np.bincount(column, minlength=size) + 0.5
    return np.asarray(counts / counts.sum())


def _counts(codes: Codes, one: int, two: int, sizes: Sequence[int]) -> Floats:
    key = codes[:, one].astype(np.int64) * sizes[two] + codes[:, two]
    table = np.bincount(key, minlength=sizes[one] * sizes[two]).astype(np.float64)
    return table.reshape(sizes[one], sizes[two])


def mutual_information(codes: Codes, sizes: Sequence[int]) -> Floats:
    count = len(sizes)
    found = np.zeros((count, count))
    for one, two in combinations(range(count), 2):
        joint = _counts(codes, one, two, sizes) / len(codes)
        apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        seen = joint > 0
        information = float((joint[seen] * np.log(joint[seen] / apart[seen])).sum())
        found[one, two] = found[two, one] = information
    return found


def spanning_tree(weight: Floats, root: int) -> tuple[int, ...]:
    """Each variable's parent in the maximum spanning tree, grown from the root (Prim)."""
    count = len(weight)
    parent, reach = np.full(count, root), weight[root].copy()
    inside = np.zeros(count, dtype=bool)
    inside[root] = True
    for _ in range(count - 1):
        new = int(np.where(inside, -np.inf, reach).argmax())
        inside[new] = True
        closer = ~inside & (weight[new] > reach)
        parent[closer], reach[closer] = new, weight[new][closer]
    parent[root] = -1
    return tuple(parent.tolist())


# -- a posterior that does not read a class of one as certainty, and which  ------------------------


POSTERIORS = ("dirichlet", "network")
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(eq=False)
class SmoothedShare:
    """The largest smoothed share of the own secret over all subsets: a tally for equation (1)."""

    secret: int
    added: Floats
    """w m_s for each row's own secret."""
    weight: float

    def __post_init__(self) -> None:
        self.best = np.zeros(self.added.size)

    def start(self, step: SlabStep) -> Floats:
        factor = 1 / (step.alike + self.weight)
        factor[step.masks == 0] = 0
        return factor

    def add(self, secret: int, step: SlabStep, half: Half) -> None:
        share = (half.same + self.added[step.rows]) * half.started
        best = self.best[step.rows]
        np.maximum(best, share.reshape(-1, best.size).max(axis=0), out=best)


@dataclass(frozen=True, eq=False, repr=False)
class SmoothedDisclosure:
    """PPP under a smoothed posterior: at full knowledge, and the least over all subsets."""

    secret: str
    known: tuple[str, ...]
    posterior: str
    strength: float
    ppp_full: Floats
    ppp_min: Floats
    p: float
    weights: Floats | None = None

    def share_upward(self, p: float | str | None = None) -> float:
        """The share of people whose secret stays uncertain by more than p, whatever is known."""
        at = self.p if p is None else _above_zero(p)
        return float(np.average(is_above(self.ppp_min, at), weights=self.weights))

    @cached_property
    def subjects(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({"ppp_full": self.ppp_full, "ppp_min": self.ppp_min})

    def __repr__(self) -> str:
        return (
            f"SmoothedDisclosure({self.secret!r}, {self.posterior} of weight {self.strength:g}: "
            f"{self.share_upward():.1%} upward at p={self.p:g})"
        )


@typed
def smoothed_disclosure(
    people: People,
    sensitive: str,
    *,
    posterior: str = "dirichlet",
    strength: float = 1.0,
    known: Sequence[str] | None = None,
    p: float | str = "nearly-certain",
) -> SmoothedDisclosure:
    """What an attacker should believe who knows that small classes are luck, too.

    A smoothed posterior never reaches 1, so p is above 0: by default the attacker may be 95 % sure.
    People whose secret is missing are left out.

    `people` is the table, `sensitive` the column with the secret; `strength` is how many people the
    smoothing is worth, and `known` names the columns the attacker knows.

    >>> people = People.from_codes([[0, 0], [0, 0], [0, 1], [1, 1]], ["age", "diagnosis"])
    >>> smoothed_disclosure(people, "diagnosis").ppp_full.round(3)     # the last one is alone
    array([0.375, 0.375, 0.625, 0.25 ])
    """
    _check(posterior, strength)
    at = _above_zero(p)
    people = asked_of(people, sensitive, None, 0).people
    names = auxiliaries(people, sensitive, known)
    codes, sizes = coded(people, names, sensitive, {})
    secret = len(names)
    if posterior == "dirichlet":
        full, least = _by_counts(codes, sizes, secret, strength)
    else:
        tree = SecretTree.learn(codes, sizes, [*names, sensitive], secret, strength=strength)
        cells = distinct_rows(codes, sizes)
        rows = np.stack(cells.codes, axis=1).astype(np.int32)
        every = range(secret)
        full = 1 - tree.own_share(rows, every)[cells.of_record]
        least = tree.least_other(rows, every)[0][cells.of_record]
    return SmoothedDisclosure(
        sensitive,
        tuple(names),
        posterior,
        strength,
        full,
        least,
        at,
        people.weights,
    )


def _check(posterior: str, strength: float) -> None:
    if posterior not in POSTERIORS:
        raise UsageError(f'posterior is "{posterior}"; {did_you_mean(posterior, POSTERIORS)}')
    if not 0 < strength < math.inf:
        raise UsageError(f"strength is {strength}; the prior's weight must be above 0")


def _above_zero(p: float | str) -> float:
    at = threshold("p", p)
    if at == 0:
        raise UsageError(
            "a smoothed posterior is never certain, so at p = 0 everybody would pass; give a p "
            'above 0, such as 0.05 ("nearly-certain")'
        )
    return at


def _by_counts(
    codes: Codes, sizes: tuple[int, ...], secret: int, strength: float
) -> tuple[Floats, Floats]:
    cells = distinct_rows(codes, sizes)
    baseline = np.bincount(cells.codes[secret], weights=cells.people) / cells.total
    added = strength * baseline[cells.codes[secret]]
    every = list(range(secret))
    alike, same = cells.peers(every), cells.peers([*every, secret])
    full = 1 - (same + added) / (alike + strength)
    kept = SmoothedShare(secret, added, strength)
    tally(cells, every, [secret], [kept])
    return full[cells.of_record], (1 - kept.best)[cells.of_record]


# Which posterior to believe


@typed
def disclosure_calibration(
    people: People,
    sensitive: str,
    *,
    known: Sequence[str] | None = None,
    folds: int = 10,
    strengths: Sequence[float] = STRENGTHS,
    seed: int = 0,
) -> pd.DataFrame:
    """How well each posterior forecasts the secrets of people it has not seen, and how surely.

    Best first.

    People are dealt into folds; each fold's secrets are forecast from the others, with all
    auxiliaries known.  `log_loss` is the mean -ln P(true secret) (infinite when a posterior rules a
    true secret out; `ruled_out` is the share of people to whom that happens), `log_loss_error` its
    standard error over people; `behind` says how much worse than the best it is, and
    `behind_error` the standard error of that difference, person by person.  `brier` is the mean
    squared error over values.  `counts` are the plain shares, with the baseline where nobody is
    alike.  People whose secret is missing are left out.

    `sensitive` is the column with the secret, `strengths` are those of the smoothing that are
    tried, `seed` deals the folds.
    """
    import pandas as pd

    people = asked_of(people, sensitive, None, 0).people
    names = auxiliaries(people, sensitive, known)
    for strength in strengths:
        _check(POSTERIORS[0], strength)
    if not 2 <= folds <= len(people):
        raise UsageError(f"folds={folds}; need 2 up to the number of people ({len(people)})")
    codes, sizes = coded(people, names, sensitive, {})
    fold = np.random.default_rng(seed).permutation(len(people)) % folds
    methods: list[tuple[str, float]] = [("baseline", 0.0), ("counts", 0.0)]
    methods += [(kind, weight) for kind in POSTERIORS for weight in strengths]
    scores = {method: np.zeros((len(people), 3)) for method in methods}
    for held in range(folds):
        out = fold == held
        learnt, asked = codes[~out], codes[out]
        forecaster = _Forecaster(learnt, sizes, [*names, sensitive])
        for method in methods:
            scores[method][out] = _scores(forecaster.posterior(*method, asked), asked[:, -1])
    losses = {method: _losses(table[:, 0]) for method, table in scores.items()}
    best = min(losses.values(), key=lambda loss: float(loss.mean()))
    rows = [
        _summary(kind, weight, table, losses[kind, weight], best)
        for (kind, weight), table in scores.items()
    ]
    frame = pd.DataFrame(rows)
    return frame.sort_values(["log_loss", "brier"], kind="stable", ignore_index=True)


def _scores(posterior: Floats, truth: NDArray[np.int32]) -> Floats:
    own = np.take_along_axis(posterior, truth[:, None], axis=1)[:, 0]
    brier = (posterior**2).sum(axis=1) - 2 * own + 1
    return np.stack([own, brier, posterior.argmax(axis=1) == truth], axis=1)


def _losses(own: Floats) -> Floats:
    """-ln P(true secret), person by person; infinite where it was ruled out."""
    return -np.log(own, out=np.full(own.size, -np.inf), where=own > 0)


def _error(loss: Floats) -> float:
    """The standard error of a mean loss; infinite where the loss is."""
    if not np.isfinite(loss).all():
        return float("inf")
    return float(loss.std(ddof=1) / np.sqrt(loss.size))


def _summary(kind: str, weight: float, table: Floats, loss: Floats, best: Floats) -> dict[str, Any]:
    own, brier, right = table.T
    return {
        "posterior": kind,
        "strength": weight,
        "log_loss": float(loss.mean()),
        "log_loss_error": _error(loss),
        "behind": float((loss - best).mean()),
        "behind_error": _error(loss - best),
        "brier": float(brier.mean()),
        "accuracy": float(right.mean()),
        "ruled_out": float((own == 0).mean()),
    }


class _Forecaster:
    """Posteriors learnt from some people, for others."""

    def __init__(self, codes: Codes, sizes: Sequence[int], names: Sequence[str]) -> None:
        self.codes, self.sizes, self.names = codes, sizes, names
        self.margin = margin(codes[:, -1], sizes[-1])

    def posterior(self, kind: str, weight: float, codes: Codes) -> Floats:
        """P(secret | all auxiliaries), people x values."""
        if kind == "baseline":
            return np.broadcast_to(self.margin, (len(codes), self.margin.size))
        if kind == "network":
            secret = len(self.sizes) - 1
            tree = SecretTree.learn(self.codes, self.sizes, self.names, secret, strength=weight)
            return tree.posterior(codes, range(secret))
        counts = self._counts(codes)
        alike = counts.sum(axis=1, keepdims=True)
        if kind == "counts":
            shares = np.divide(counts, alike, out=np.zeros_like(counts), where=alike > 0)
            return np.where(alike > 0, shares, self.margin)
        return np.asarray((counts + weight * self.margin) / (alike + weight))

    def _counts(self, codes: Codes) -> Floats:
        """For each of these people, how many learnt ones are alike, by value of the secret."""
        both = np.asfortranarray(np.concatenate([self.codes, codes])[:, :-1])
        _, ids = np.unique(fused_key(both, self.sizes[:-1])[0], return_inverse=True)
        learnt, asked = ids[: len(self.codes)], ids[len(self.codes) :]
        classes, here = np.unique(asked, return_inverse=True)
        place = np.full(int(ids.max()) + 1, -1, dtype=np.int64)
        place[classes] = np.arange(classes.size)
        seen = place[learnt] >= 0
        key = place[learnt[seen]] * self.sizes[-1] + self.codes[seen, -1]
        table = np.bincount(key, minlength=classes.size * self.sizes[-1]).astype(np.float64)
        return table.reshape(classes.size, -1)[here]
