"""Slow and certain ways to the leak's probabilities: enumeration in rationals, sixty digits."""

from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from math import comb, factorial

import mpmath


def members(classes):
    """The class of every record: {3: 1, 1: 2} -> (0, 0, 0, 1, 2)."""
    sizes = [size for size, count in classes.items() for _ in range(count)]
    return tuple(c for c, size in enumerate(sizes) for _ in range(size))


def partitions(D, largest=None):
    """Every way to divide D records into classes, as {size: count}."""
    if D == 0:
        yield {}
        return
    for size in range(min(D, largest or D), 0, -1):
        for rest in partitions(D - size, size):
            classes = defaultdict(int, rest)
            classes[size] += 1
            yield dict(classes)


def every_leak(classes, L, n):
    """P(all n identified) over every leak and every ordered choice of targets [Antoniou22]."""
    class_of = members(classes)
    D = len(class_of)
    total = Fraction(0)
    for leak in combinations(range(D), L):
        for targets in permutations(leak, n):  # targets outside the leak add nothing
            pool, p = list(leak), Fraction(1)
            for target in targets:
                p /= sum(class_of[i] == class_of[target] for i in pool)
                pool.remove(target)
            total += p
    return total / comb(D, L) / (factorial(D) // factorial(D - n))


def every_leak_by_sets(classes, L, n):
    """The same with the targets as a set: the guesses' probabilities do not depend on the order."""
    class_of = members(classes)
    D, total = len(class_of), Fraction(0)
    for leak in combinations(range(D), L):
        in_leak = defaultdict(int)
        for i in leak:
            in_leak[class_of[i]] += 1
        for targets in combinations(leak, n):
            wanted = defaultdict(int)
            for i in targets:
                wanted[class_of[i]] += 1
            p = 1
            for c, m in wanted.items():
                p *= factorial(in_leak[c]) // factorial(in_leak[c] - m)
            total += Fraction(1, p)
    return total / comb(D, L) / comb(D, n)


def every_number_identified(classes, L, n, *, removed=True, ordered=False):
    """P(m of n identified), m = 0..n, over every leak, all targets and every outcome of guesses.

    The order in which targets are looked for changes nothing (a test says so), so sets will do.
    """
    class_of = members(classes)
    D = len(class_of)
    wanted = list((permutations if ordered else combinations)(range(D), n))
    answer = [Fraction(0)] * (n + 1)
    for leak in combinations(range(D), L):
        for targets in wanted:
            for m, p in enumerate(_guesses(leak, targets, class_of, removed=removed)):
                answer[m] += p
    return [p / (comb(D, L) * len(wanted)) for p in answer]


def _guesses(leak, targets, class_of, *, removed):
    states = {frozenset(leak): {0: Fraction(1)}}
    for target in targets:
        new = defaultdict(lambda: defaultdict(Fraction))
        for pool, counts in states.items():
            rivals = sum(class_of[i] == class_of[target] for i in pool)
            hit = Fraction(1, rivals) if target in pool else Fraction(0)
            for m, p in counts.items():
                new[pool][m] += p * (1 - hit)
                new[pool - {target} if removed else pool][m + 1] += p * hit
        states = new
    answer = [Fraction(0)] * (len(targets) + 1)
    for counts in states.values():
        for m, p in counts.items():
            answer[m] += p
    return answer


def generating_function(classes, L, n):
    """Equation (1) multiplied out in rationals, one class after the other; D in the hundreds."""
    table = {(0, 0): Fraction(1)}  # (leaked, targets): weight
    D = sum(k * a for k, a in classes.items())
    for k, count in classes.items():
        for _ in range(count):
            new = defaultdict(Fraction)
            for (leaked, targets), weight in table.items():
                for h in range(min(k, L - leaked) + 1):
                    for m in range(min(h, n - targets) + 1):
                        new[leaked + h, targets + m] += weight * comb(k, h) / factorial(m)
            table = new
    return table.get((L, n), Fraction(0)) / comb(D, L) / comb(D, n)


def recursion(classes, L, n):
    """Section 2.3 as it is written, one branch per class size, no memory of states."""
    D = sum(k * a for k, a in classes.items())
    if n == 0:
        return Fraction(1)
    total = Fraction(0)
    for k, count in classes.items():
        if count and k and L:
            none = Fraction(comb(D - k, L), comb(D, L))
            rest = dict(classes)
            rest[k] -= 1
            rest[k - 1] = rest.get(k - 1, 0) + 1
            total += Fraction(k * count, D) * (1 - none) / k * recursion(rest, L - 1, n - 1)
    return total


def sixty_digits(classes, L, n):
    """Log of equation (1), by a sum on |z| = L / (D - L) with sixty digits to lose.

    Powers by Miller's recurrence, many more points than needed: nothing shared with the package.
    """
    with mpmath.workdps(60):
        D = sum(k * a for k, a in classes.items())
        spread = float(mpmath.sqrt(mpmath.mpf(L) * (D - L) / D))
        number = min(D + 1, int(12 * spread) + 2 * n + 50)
        last = number // 2
        if D > 5000:  # beyond 12 standard deviations of the angle a point is below 1e-30
            last = min(last, int(number / 6.28 * 12 / spread) + 1)
        radius = mpmath.mpf(L) / (D - L)
        if last == number // 2:
            radius *= 1.01  # off the zeros at z = -1, which the recurrence cannot divide by
        total = mpmath.mpf(0)
        for j in range(last + 1):
            angle = 2 * mpmath.pi * j / number
            z = radius * mpmath.expj(angle)
            value = _coefficient(classes, z, n) * mpmath.expj(-angle * L)
            total += value.real * (1 if j == 0 or 2 * j == number else 2)
        log_all = mpmath.log(total / number) - L * mpmath.log(radius)
        return log_all - _log_choose(D, L) - mpmath.log(mpmath.binomial(D, n))


def only_the_targets_leaked(classes, n):
    """Log of equation (1) at L = n, where z marks nothing but targets: no circle is needed."""
    with mpmath.workdps(60):
        D = sum(k * a for k, a in classes.items())
        product = [mpmath.mpf(1)] + [mpmath.mpf(0)] * n
        for k, count in classes.items():
            c = [mpmath.mpf(comb(k, m)) / _factorial(m) for m in range(min(k, n) + 1)]
            product = _times(product, _to_the(count, c, n))
        return mpmath.log(product[n].real) - 2 * mpmath.log(mpmath.binomial(D, n))


def _to_the(count, c, n):
    """A power of a series that starts with 1: Miller's recurrence, or by hand for a few factors.

    The recurrence cancels when the power is smaller than the degree.
    """
    q = [mpmath.mpc(1)] + [mpmath.mpc(0)] * n
    if count <= n:
        factor = [*c, *[mpmath.mpc(0)] * (n + 1 - len(c))]
        for _ in range(count):
            q = _times(q, factor)
        return q
    for i in range(1, n + 1):
        reach = range(1, min(i, len(c) - 1) + 1)
        q[i] = sum((r * (count + 1) - i) * c[r] * q[i - r] for r in reach) / i
    return q


def _times(f, g):
    return [sum(f[r] * g[i - r] for r in range(i + 1)) for i in range(len(f))]


def _log_choose(D, L):
    return mpmath.loggamma(D + 1) - mpmath.loggamma(L + 1) - mpmath.loggamma(D - L + 1)


def _coefficient(classes, z, n):
    product, log_constant = [mpmath.mpf(1)] + [mpmath.mpf(0)] * n, mpmath.mpc(0)
    for k, count in classes.items():
        above, tails = mpmath.mpc(0), []
        for h in range(k, -1, -1):
            above += comb(k, h) * z**h
            tails.append(above)
        c = [tail / _factorial(m) for m, tail in enumerate(tails[::-1][: n + 1])]
        log_constant += count * mpmath.log(c[0])
        product = _times(product, _to_the(count, [value / c[0] for value in c], n))
    return product[n] * mpmath.exp(log_constant)


@cache
def _factorial(m):
    return mpmath.mpf(factorial(m))
