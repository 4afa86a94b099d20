"""Pitman's partition in rationals, seated one by one: the oracle of the closed forms."""

from collections import Counter
from fractions import Fraction
from math import comb, prod


def seatings(sizes, N, theta, alpha):
    """Every class-size multiset after seating up to N people, with its exact probability."""
    now = {tuple(sorted(sizes)): Fraction(1)}
    for m in range(sum(sizes), N):
        after = Counter()
        for classes, p in now.items():
            for i, j in enumerate(classes):
                joined = list(classes)
                joined[i] += 1
                after[tuple(sorted(joined))] += p * (j - alpha) / (m + theta)
            founded = tuple(sorted((*classes, 1)))
            after[founded] += p * (theta + len(classes) * alpha) / (m + theta)
        now = after
    assert sum(now.values()) == 1
    return now


def rising(x, k):
    return prod((x + i for i in range(k)), start=Fraction(1))


def class_law(f, n, N, theta, alpha):
    """P(F = f + K | f), K = 0..N-n, by following one class only."""
    M, a, b = N - n, f - alpha, theta + n - f + alpha
    return [comb(M, K) * rising(a, K) * rising(b, M - K) / rising(a + b, M) for K in range(M + 1)]


def followed_class(f, n, N, theta, alpha):
    """The same law by seating the newcomers one by one."""
    law = {f: Fraction(1)}
    for m in range(n, N):
        after = Counter()
        for size, p in law.items():
            join = (size - alpha) / (m + theta)
            after[size + 1] += p * join
            after[size] += p * (1 - join)
        law = after
    return [law.get(f + K, Fraction(0)) for K in range(N - n + 1)]
