"""The answers of the leak's models in rationals, from their stories and not from their graphs."""

from fractions import Fraction
from itertools import combinations
from math import comb

import leak_oracle as oracle

HALF = Fraction(1, 2)
HOSPITAL = {3: 2, 4: 1}


def chance(D, L, k, h):
    """P(h of k leaked)."""
    return Fraction(comb(k, h) * comb(D - k, L - h), comb(D, L)) if h <= L else Fraction(0)


def one(D, L, k):
    return (1 - chance(D, L, k, 0)) / k


def classes():
    of_3, of_4 = Fraction(6, 10) * one(10, 3, 3), Fraction(4, 10) * one(10, 3, 4)
    return {
        "risk": of_3 + of_4,
        "risk_in_a_class_of_3": one(10, 3, 3),
        "class_of_the_identified": of_3 / (of_3 + of_4),
    }


def claims():
    D, L, k, present = 10_000, 4_000, 5, Fraction(8, 10)
    claimed = HALF * (1 - chance(D, L, k, 0)) + HALF * chance(D, L, k, 1)
    right = present * claimed / k
    return {
        "true_positive": right,
        "false_positive": claimed - right,
        "precision": present / k,
        "precision_if_known_in_leak_and_patient": Fraction(1),
        "recall": right / (present * L / D),
    }


def known_secret():
    known, unknown = (
        Fraction(3, 10) * one(10_000, 4_000, 2),
        Fraction(7, 10) * one(10_000, 4_000, 5),
    )
    return {
        "risk": known + unknown,
        "risk_if_known": one(10_000, 4_000, 2),
        "was_it_known": known / (known + unknown),
    }


def uncertain_size():
    prior = {1000: Fraction(5, 10), 4000: Fraction(3, 10), 8000: Fraction(2, 10)}
    four = {L: p * chance(10_000, L, 5, 4) for L, p in prior.items()}
    return {
        "risk": sum(p * one(10_000, L, 5) for L, p in prior.items()),
        "was_it_large": four[8000] / sum(four.values()),
    }


def homogeneous():
    """The class of four: 0 and 1 share the target's diagnosis, 2 and 3 have others."""
    believed = disclosed = 0
    for leak in combinations(range(10), 3):
        same = {0, 1} & set(leak) and not {2, 3} & set(leak)
        believed += bool(same)
        disclosed += bool(same and 0 in leak)
    return {
        "believed": Fraction(believed, 120),
        "disclosed": Fraction(disclosed, 120),
        "disclosed_if_in_the_leak": Fraction(disclosed, 36),
    }


def histories():
    seen = Fraction(3, 4)
    none = sum(chance(10, 3, 3, h) * (1 - seen) ** h for h in range(4))
    risk = (1 - none) / 3
    return {"risk": risk, "risk_if_seen": risk / (Fraction(3, 10) * seen)}


def partial():
    """One in 16 knows nothing, three know sex or ethnicity or both, twelve know the class."""
    return {
        "risk": (one(10, 3, 10) + 3 * one(10, 3, 7) + 12 * one(10, 3, 3)) / 16,
        "everything_known": one(10, 3, 3),
        "nothing_known": one(10, 3, 10),
    }


def targets():
    class_of = oracle.members(HOSPITAL)
    nobody = Fraction(0)
    for leak in combinations(range(10), 3):
        for wanted in combinations(range(10), 3):
            missed = Fraction(1)
            for target in set(wanted) & set(leak):
                missed *= 1 - Fraction(1, sum(class_of[i] == class_of[target] for i in leak))
            nobody += missed
    all_, two = (oracle.generating_function(HOSPITAL, 3, n) for n in (3, 2))
    first = Fraction(6, 10) * one(10, 3, 3) + Fraction(4, 10) * one(10, 3, 4)
    return {"all": all_, "any": 1 - nobody / 120**2, "first": first, "third_after_two": all_ / two}


MODELS = {
    "leak-classes": classes,
    "leak-claims": claims,
    "leak-known-secret": known_secret,
    "leak-uncertain-size": uncertain_size,
    "leak-homogeneous": homogeneous,
    "leak-histories": histories,
    "leak-partial": partial,
    "leak-targets": targets,
}
