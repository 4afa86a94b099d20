"""The measures of [Kroes21] written out: loops over people, subsets and values, in rationals.

Shares nothing with the package: no classes, no masks, no floating point.  `match[column]` may say
which values agree; without it values agree when they are equal.
"""

from fractions import Fraction
from itertools import combinations


def subsets(columns, *, empty=False):
    """By size, then lexicographically by column."""
    for size in range(0 if empty else 1, len(columns) + 1):
        yield from combinations(columns, size)


def agrees(row, other, columns, match=None):
    return all(
        match[c](row[c], other[c]) if match and c in match else row[c] == other[c] for c in columns
    )


def peers(table, i, known, match=None):
    return [other for other in table if agrees(table[i], other, known, match)]


def npp_and_peers(table, i, secret, known, match=None):
    alike = peers(table, i, known, match)
    same = [other for other in alike if agrees(table[i], other, [secret], match)]
    return len(alike) - len(same), len(alike)


def ppp(table, i, secret, known, match=None):
    return Fraction(*npp_and_peers(table, i, secret, known, match))


def false_values(table, i, secret, match=None):
    values = {other[secret]: other for other in table}
    return [v for v, other in values.items() if not agrees(table[i], other, [secret], match)]


def alternatives(table, i, secret, known, q, match=None):
    alike = peers(table, i, known, match)
    return sum(
        Fraction(sum(other[secret] == v for other in alike), len(alike)) > q
        for v in false_values(table, i, secret, match)
    )


def weakest(table, i, secret, auxiliaries, *, empty=False, match=None):
    """(least PPP, first subset that attains it)."""
    options = [
        (ppp(table, i, secret, known, match), known) for known in subsets(auxiliaries, empty=empty)
    ]
    least = min(value for value, _ in options)
    return least, next(known for value, known in options if value == least)


def fewest_alternatives(table, i, secret, auxiliaries, q, *, empty=False, match=None):
    return min(
        alternatives(table, i, secret, known, q, match)
        for known in subsets(auxiliaries, empty=empty)
    )


def expected(table, i, secret, chance, p):
    """(E[PPP], P(PPP <= p)) over independent knowledge of each column, exactly."""
    mean = breach = Fraction(0)
    for known in subsets(list(chance), empty=True):
        weight = Fraction(1)
        for column, value in chance.items():
            weight *= Fraction(value) if column in known else 1 - Fraction(value)
        value = ppp(table, i, secret, known)
        mean += weight * value
        breach += weight * (value <= p)
    return mean, breach
