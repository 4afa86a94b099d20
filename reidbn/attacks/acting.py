"""The attack acted out on the table itself: draw what is known, look the class up, guess.

Nothing here uses the class sizes of the model: matching is done on the table's own values, so a
slip in counting, in the order of subsets or in the knowledge shows up as a disagreement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.scenario import Listed, Profile
from reidbn.attacks.arguments import whole_number
from reidbn.attacks.assessment import Array, Assessment
from reidbn.errors import UsageError
from reidbn.inference.compared import Cell
from reidbn.progress import progress

LEVEL = 1e-6


@dataclass(frozen=True, eq=False)
class ActedOut:
    """Attempts on people drawn at random: how many guesses were right, and what was predicted."""

    attempts: int
    right: int
    unique: int
    predicted_right: float
    predicted_unique: float
    seed: int

    @property
    def cells(self) -> tuple[Cell, Cell]:
        """The guess and the unique match, each against its prediction."""
        return (
            Cell("a guess within the class is right", self.predicted_right, self.right,
                 self.attempts, LEVEL / 2),
            Cell("the match is unique in the table", self.predicted_unique, self.unique,
                 self.attempts, LEVEL / 2),
        )  # fmt: skip

    @property
    def agrees(self) -> bool:
        return all(c.verdict != "disagrees" for c in self.cells)

    def __str__(self) -> str:
        lines = [f"acted out {self.attempts:,} times on people drawn at random (seed {self.seed})"]
        lines += [f"  {c.what}: {c.sampled:.4g}, predicted {c.exact:.4g}: {c.verdict}"
                  for c in self.cells]  # fmt: skip
        return "\n".join(lines)


def act_out(result: Assessment, *, attempts: int = 20_000, seed: int = 0) -> ActedOut:
    """Attack people of the table for real; compare with the marketer and the prosecutor."""
    result.refuse_part("an attack on the table")
    for measure in ("marketer", "prosecutor"):
        if measure not in result.risks:
            raise UsageError(f"this attack has no question {measure} to compare a match with")
    whole_number(attempts, "attempts", least=1)
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    who = rng.integers(len(result), size=attempts)
    masks = draw_known(result, who, rng)
    people = result.groups.seen(result.inputs.people)
    right = unique = 0
    for mask in progress(np.unique(masks).tolist(), "acting the attack out"):
        columns = [c for j, g in enumerate(result.groups.columns) if mask >> j & 1 for c in g]
        targets = who[masks == mask]
        guessed, sizes = _guess(people.class_ids(columns)[0], targets, rng)
        right += int((guessed == targets).sum())
        unique += int((sizes == 1).sum())
    return ActedOut(
        attempts,
        right,
        unique,
        float(result.risk("marketer").mean()),
        float(result.risk("prosecutor").mean()),
        seed,
    )


def _guess(
    ids: NDArray[np.intp], targets: NDArray[np.intp], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """A record drawn from each target's class, and the size of the class."""
    order = np.argsort(ids, kind="stable")
    starts = np.searchsorted(ids[order], np.arange(ids.max() + 2))
    first, last = starts[ids[targets]], starts[ids[targets] + 1]
    chosen = order[first + np.floor(rng.random(len(targets)) * (last - first)).astype(np.intp)]
    return chosen, last - first


def draw_known(
    result: Assessment, who: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """The groups known in each attempt, drawn from the scenario."""
    groups = result.groups
    rows = np.arange(len(who))
    masks = np.zeros(len(who), dtype=np.intp)
    present = np.ones(len(who), dtype=bool)
    profile = np.zeros(len(who), dtype=np.intp)
    if isinstance(groups.parent, Listed) and groups.parent_p is not None:
        present = rng.random(len(who)) < _of(groups.parent_p, who)
    if isinstance(groups.parent, Profile):
        weights = list(groups.parent.weights.values())
        profile = rng.choice(len(weights), size=len(who), p=np.array(weights) / sum(weights))
    for j, placed in enumerate(groups.placed):
        p = placed.p[profile, 0] if placed.p.ndim == 2 else _of(placed.p, who)
        masks[rows[present & (rng.random(len(who)) < p)]] |= 1 << j
    return masks


def _of(p: Array, who: NDArray[np.intp]) -> Array:
    return p[who] if len(p) > 1 else np.broadcast_to(p, len(who))
