"""Numbers in words: about 1 in N, percentages, one plain sentence."""

from __future__ import annotations

from reidbn.errors import EngineError
from reidbn.inference.network import MASS
from reidbn.written import counted


def one_in(p: float) -> str:
    """A probability beside its everyday form.

    >>> one_in(0.0021), one_in(0.75), one_in(0)
    ('0.0021 (about 1 in 480)', '0.75 (about 3 in 4)', '0')
    """
    if not -MASS <= p <= 1 + MASS:  # also catches NaN; what is no probability is never "certain"
        raise EngineError(f"{p:.9g} was to be shown as a probability, and is none")
    if p <= 0:
        return "0"
    shown = f"{p:.3g}" if p >= 1e-4 else f"{p:.2g}"
    if p >= 1:
        return "1 (certain)"
    if p < 0.5:
        return f"{shown} (about 1 in {_round(1 / p)})"
    of = min(range(2, 21), key=lambda n: abs(round(p * n) / n - p))
    return f"{shown} (about {round(p * of)} in {of})" if round(p * of) < of else f"{shown}"


def _round(n: float) -> str:
    if n < 10:
        return f"{n:.2g}"
    digits = max(0, len(str(int(n))) - 2)
    return f"{round(n / 10**digits) * 10**digits:,.0f}"


def people(count: int, total: int) -> str:
    """A count of people with its share.

    >>> people(12, 480)
    '12 of 480 people (2.5 %)'
    >>> people(480, 480), people(479, 480)
    ('480 of 480 people (100 %)', '479 of 480 people (over 99 %)')
    """
    return f"{count:,} of {counted(total, 'person')} ({_share(count, total)} %)"


def _share(count: int, total: int) -> str:
    """Two figures; never 0 or 100 % where some are in or out."""
    share = 100 * count / total
    if 99 < share < 100:
        return "over 99"
    return f"{share:.0f}" if share >= 10 or not count else f"{share:.2g}"


def per_cent(share: float) -> str:
    """A share as a percentage.

    >>> per_cent(0.12345)
    '12.3 %'
    """
    return f"{100 * share:.3g} %"
