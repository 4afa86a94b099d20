"""Small sparse tables of every kind, and who agrees with whom by the definition."""

import datetime
from fractions import Fraction

import numpy as np
import pandas as pd

import reidbn as rb


def random_table(seed, people=30, features=9, filled=0.5):
    """Every kind of feature, half empty; few values, so that many agree."""
    rng = np.random.default_rng(seed)
    kinds = ["yes/no", "category", "number", "year", "date", "text"]
    makers = {
        "yes/no": lambda: bool(rng.integers(2)),
        "category": lambda: f"c{rng.integers(3)}",
        "number": lambda: float(rng.choice([-1, 0, 0.8, 1, 1.2, 10, 12, 12.5, 15])),
        "year": lambda: int(rng.integers(1990, 1998)),
        "date": lambda: datetime.date(2000 + int(rng.integers(5)), 3, 1),
        "text": lambda: f"t{rng.integers(4)}",
    }
    used = [kinds[j % 6] for j in range(features)]
    cells = {
        f"f{j}": [makers[kind]() if rng.random() < filled else None for _ in range(people)]
        for j, kind in enumerate(used)
    }
    table = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})
    features = pd.DataFrame({"feature": list(cells), "kind": used})
    return cells, rb.read_sparse(table, features=features), used


def agrees(mode, kind, mine, other):
    """By the definition, in rationals: does the other's cell agree with what is known of mine?"""
    if mine is None or other is None:
        return False
    if mode == "present":
        return True
    if mode == "tolerance" and kind == "number":
        a, b = Fraction(str(mine)), Fraction(str(other))
        return abs(b - a) <= Fraction(1, 5) * abs(a)
    if mode == "tolerance" and kind == "year":
        return abs(mine - other) <= 2
    if mode == "tolerance" and kind == "date":
        return abs((mine - other).days) <= 730
    return mine == other
