"""The best guesser: how often the value that most peers have is right [Kroes21].

PPP is the probability that a guess drawn from the peers is wrong; whoever wants to be right does
not draw.  With p_v the shares of the secret's values among the peers the best guess is right with

    max_v p_v                                                                                  (1)

and where a guess within t of the secret counts, with max_g sum_{v near g} p_v.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reidbn.microdata.classes import Floats, Ints

_CELLS = 4_000_000


def guess_values(place: Ints, owner: Ints, value: Ints, people: Ints) -> Ints:
    """The people of the commonest value in each individual's class.

    `place` is the class of each individual; `owner`, `value`, `people` list the classes' values.

    >>> owner, value, people = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([3, 1, 2])
    >>> guess_values(np.array([0, 1]), owner, value, people)
    array([3, 2])
    """
    top = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    np.maximum.at(top, owner, people)
    return top[place]


def guess_near(
    place: Ints, owner: Ints, value: Ints, people: Ints, near: NDArray[np.bool_]
) -> Ints:
    """The people of each individual's class about whom the best guess is near enough."""
    classes, domain = int(owner.max()) + 1, len(near)
    top = np.zeros(classes, dtype=np.int64)
    step = max(1, _CELLS // domain)
    for first in range(0, classes, step):
        here = np.flatnonzero((owner >= first) & (owner < first + step))
        table = np.zeros((min(step, classes - first), domain))
        table[owner[here] - first, value[here]] = people[here]
        top[first : first + step] = (table @ near.T).max(axis=1)
    return top[place]


def guess_alone(place: Ints, owner: Ints, value: Ints, people: Ints, own: Ints) -> Floats:
    """How often the commonest value of the others is each individual's own; ties are drawn.

    Taking one record away, a person's value is the commonest of the others only if it was the only
    commonest one before: ahead by two or more it stays so, ahead by one it ties with the second.

    >>> guess_alone(np.zeros(3, dtype=np.int64), np.array([0, 0]), np.array([0, 1]),
    ...             np.array([2, 1]), np.array([0, 0, 1]))
    array([0.5, 0.5, 0. ])
    """
    classes = int(owner.max()) + 1
    first, second, winner = np.zeros((3, classes), dtype=np.int64)
    np.maximum.at(first, owner, people)
    is_top = people == first[owner]
    winner[owner[is_top]] = value[is_top]
    tops = np.bincount(owner[is_top], minlength=classes)
    np.maximum.at(second, owner[~is_top], people[~is_top])
    seconds = np.bincount(owner[~is_top & (people == second[owner])], minlength=classes)
    success = np.where(first - 1 > second, 1.0, 0.0)
    tied = (first - 1 == second) & (second > 0)
    success[tied] = 1 / (1 + seconds[tied])
    success[tops > 1] = 0
    return np.where(winner[place] == own, success[place], 0.0)
