"""What a report about somebody says of who they are: chances through a channel.

A person has had an illness from an age on, or not (truths: 0 not, 1 + age).  A record tells of them
with a code: 0 nothing, 1 no, 2 yes, 3 + age yes from that age.  A channel says P(code | truth) of
what is told.  Two records a and b tell of the same person; then

    P(a | b) = sum over truths s of P(s | b) P(a | s),   P(s | b) ~ prior(s) P(b | s)            (1)

and how much likelier a is where b tells of the same person than where it tells of anybody:

    ratio(a, b) = P(a | b) / P(a),   P(a) = sum over s of prior(s) P(a | s)                      (2)

Nothing told leaves the ratio at 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
OLDEST = 110
TRUTHS, CODES = OLDEST + 2, OLDEST + 4
UNKNOWN, NO, YES, FIRST_AGE = 0, 1, 2, 3


@dataclass(frozen=True)
class Channel:
    """How records tell of somebody: of what is so, of what is not, how well ages are known."""

    completeness: float = 1.0
    """An illness that somebody had is told."""
    false_reports: float = 0.0
    """An illness that they did not have is told."""
    jitter: float = 0.0
    """Standard deviation of a told age, in years."""
    with_age: float = 1.0
    """Its age is told, where it is told."""


def codes_given(channel: Channel, ages: Array) -> Array:
    """P(code | truth) of what is told: truths x codes; `ages` is the law of ages of onset.

    >>> table = codes_given(Channel(0.75, with_age=0.5), np.full(OLDEST + 1, 1 / (OLDEST + 1)))
    >>> table[1 + 40, [NO, YES, FIRST_AGE + 40]].tolist()
    [0.25, 0.375, 0.375]
    """
    found = np.zeros((TRUTHS, CODES))
    found[0, NO], found[1:, NO] = 1 - channel.false_reports, 1 - channel.completeness
    found[0, YES] = channel.false_reports * (1 - channel.with_age)
    found[1:, YES] = channel.completeness * (1 - channel.with_age)
    found[0, FIRST_AGE:] = channel.false_reports * channel.with_age * ages
    found[1:, FIRST_AGE:] = channel.completeness * channel.with_age * _blurred(channel.jitter)
    return found


def _blurred(jitter: float) -> Array:
    """P(told age | age): a normal law at whole years within 0 and the oldest; exact without it."""
    years = np.arange(OLDEST + 1)
    if not jitter:
        return np.eye(OLDEST + 1)
    law = np.exp(-0.5 * ((years - years[:, None]) / jitter) ** 2)
    law[law < 1e-30] = 0.0  # tails that weigh nothing; denormal numbers are slow to multiply
    return np.asarray(law / law.sum(axis=1, keepdims=True))


def one_of_several(channel: Channel, others: float, ages: Array) -> Array:
    """P(code | truth of one) where a record tells of several people at once: siblings.

    With the chance `others` it tells of somebody else's illness, whatever this one's truth.
    """
    alone = codes_given(channel, ages)
    told = np.zeros(CODES)
    told[YES] = others * (1 - channel.with_age)
    told[FIRST_AGE:] = others * channel.with_age * ages
    found = alone * (1 - others) + told
    found[:, NO] = alone[:, NO] * (1 - others)
    return found


def truth_prior(share: float, ages: Array) -> Array:
    """P(truth): a share has had the illness, from an age of that law."""
    return np.concatenate(([1 - share], share * ages))


def told_of_the_ill(first: Array, second: Array, ages: Array) -> Array:
    """P(code, other code | the person had the illness): codes x codes."""
    return np.asarray((first[1:].T * ages) @ second[1:])


def given_other(
    first: Array, second: Array, prior: Array, ill: Array | None = None
) -> tuple[Array, Array]:
    """Equations (1) and (2): P(a | b) and ratio(a, b), codes of the first x codes of the second.

    `ill` is told_of_the_ill of the two, which is the same for illnesses told in the same way.  Of
    a code that cannot be told nothing follows: its ratio is 1.
    """
    share = float(prior[1:].sum())
    if ill is None:
        ill = told_of_the_ill(first, second, prior[1:] / share if share else prior[1:])
    joint = (1 - share) * np.outer(first[0], second[0]) + share * ill
    alone, whole = prior @ first, prior @ second
    known = whole > 0
    conditional = np.repeat(alone[:, None], CODES, axis=1)
    conditional[:, known] = joint[:, known] / whole[known]
    ratio = np.ones((CODES, CODES))
    told = alone > 0
    ratio[told] = conditional[told] / alone[told, None]
    ratio[UNKNOWN] = 1.0
    return conditional, ratio
