"""How many classes a leak touches, and with it a leak's own mean risk.

Once a leak is seen, the risk of a patient in it is 1/h, and 0 outside it; over the D patients
(section 2.2 of [Antoniou22], step 3) the sum over a touched class is h * 1/h = 1, so

    mean risk of a leak = (classes touched) / D                                       (1)

With z marking the leaked, and each class touched or not, for a classes of equal size k

    P(t touched) = C(a, t) [z^L] ((1+z)^k - 1)^t / C(D, L)                            (2)
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logit

from reidbn.theory.circle import Classes, Floats, log_binomial, log_turn, points
from reidbn.theory.hypergeometric import none_leaked


def mean_touched(classes: Classes, leaked: int) -> float:
    """Expected number of classes with at least one leaked record.

    >>> round(mean_touched(Classes(np.array([3, 4]), np.array([2, 1])), 3), 6)
    2.25
    """
    none = np.asarray(none_leaked(classes.records, leaked, classes.sizes))
    return float(classes.counts @ (1 - none))


def touched_pmf(class_size: int, number: int, leaked: int) -> Floats:
    """P(t of `number` equal classes are touched), t = 0..number: equation (2).

    >>> touched_pmf(2, 3, 2).round(6).tolist()
    [0.0, 0.2, 0.8, 0.0]
    """
    t = np.arange(number + 1)
    records = class_size * number
    if leaked in (0, records):
        return np.asarray(t == (number if leaked else 0), dtype=np.float64)
    u = np.array([float(logit(leaked / records))])
    spread = np.sqrt(np.array([leaked * (records - leaked) / records]))
    rows = points(records, spread, number)
    modulus, argument = log_turn(np.full(rows.case.size, u[0]), rows.angle)
    with np.errstate(divide="ignore"):
        # A class untouched has z^0: its share of the factor at this radius is real.
        log_none = -class_size * np.log1p(np.exp(u[0]))
        # Modulus and turn apart: at z = -1 the one is 0, and its log times the other NaN.
        whole = np.exp(class_size * modulus) * np.exp(1j * class_size * argument)
        log_some = np.log(whole - np.exp(log_none))
    choices = gammaln(number + 1) - gammaln(t + 1) - gammaln(number - t + 1)
    fixed = choices - float(log_binomial(np.array([float(leaked)]), records, u)[0])
    found = np.zeros(number + 1)
    for angle, weight, log_one in zip(rows.angle, rows.weight, log_some, strict=True):
        touched = np.where(t > 0, t * np.where(np.isfinite(log_one), log_one, 0), 0)
        value = np.exp(fixed + touched + (number - t) * log_none - 1j * leaked * angle)
        found += weight * np.where((t > 0) & ~np.isfinite(log_one), 0, value.real)
    return np.asarray(np.maximum(found, 0.0))
