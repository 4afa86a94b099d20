"""The sum over tables, however it is gone about: pair by pair, and by the shortest of many ways."""

import random

import numpy as np
import pytest
from inside import inside

from reidbn.inference import exact

NAMES = ["<subject>", "<setting>", *"abcdefgh"]
SIZES = dict(zip(NAMES, (3, 4, 2, 2, 3, 2, 2, 2, 3, 2), strict=True))
AT = {name: i for i, name in enumerate(NAMES)}


def some(rng, names, most):
    return tuple(rng.permutation(names)[: int(rng.integers(0, most))].tolist())


@pytest.mark.parametrize("long", [10, 1 << 27])
def test_tables_pair_by_pair_are_the_sum_over_everything(long, monkeypatch):
    """With subjects, settings, and numbers of no axis; the user's own random numbers stay."""
    tables = inside(exact.contract)
    monkeypatch.setattr(tables, "LONG", long)
    monkeypatch.setattr(tables, "COMFORTABLE", 2)
    tables._expression.cache_clear()
    rng, before = np.random.default_rng(7), random.getstate()
    for _ in range(60):
        terms = [some(rng, NAMES, 5) for _ in range(int(rng.integers(1, 9)))]
        keep = some(rng, sorted({name for axes in terms for name in axes}), 4)
        values = [rng.random(tuple(SIZES[name] for name in axes)) for axes in terms]
        asked = [x for v, axes in zip(values, terms, strict=True)
                 for x in (v, [AT[name] for name in axes])]  # fmt: skip
        found = exact.contract([tables.Tensor(axes, v) for axes, v in
                                zip(terms, values, strict=True)], keep)  # fmt: skip
        assert found.axes == keep
        assert found.values == pytest.approx(np.einsum(*asked, [AT[n] for n in keep]), rel=1e-12)
    assert random.getstate() == before
    tables._expression.cache_clear()
