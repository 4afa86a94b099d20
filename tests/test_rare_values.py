"""A value that one or two others of a table have is known less well: its law, and who has one."""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn import population
from reidbn.theory import BESIDE, Distinct, rarest, which_beside


def origins(n, seed):
    """A tenth of the people are from one of 80 countries; sex and schooling go with nothing."""
    rng = np.random.default_rng(seed)
    country = np.where(rng.random(n) < 0.1, rng.integers(1, 81, n), 0)
    return np.column_stack([country, rng.integers(0, 2, n), rng.integers(0, 4, n)])


def test_how_few_others_hold_the_rarest_value_is_counted_by_row():
    codes, counts = np.unique(origins(400, 96), axis=0, return_counts=True)
    rows = Distinct(
        np.column_stack([np.unique(c, return_inverse=True)[1] for c in codes.T]),
        counts.astype(float),
    )
    people = np.repeat(codes, counts, axis=0)
    for row, count, got in zip(codes, counts, rarest(rows), strict=True):
        assert got == min(int((people[:, j] == row[j]).sum()) for j in range(3)) - count
    assert which_beside(np.array([0, 1, 2, 3, 40])).tolist() == [0, 1, 2, 0, 0]


def test_a_share_that_few_others_tell_is_known_as_a_gamma_is():
    """Values whose shares fall as 1/i^2, which is what (c - 1/2)/n takes them for."""
    share = 1 / np.arange(1, 200_000.0) ** 2
    share /= share.sum()
    rng, told = np.random.default_rng(99), {2: [], 3: []}
    for _ in range(400):
        held = rng.multinomial(2_000, share)
        for c, logs in told.items():
            logs += np.log(2_000 * share[held == c]).tolist()
    for c, logs in told.items():
        assert len(logs) > 1_500
        assert np.var(logs) == pytest.approx(BESIDE[c - 1], rel=0.1)
        assert np.mean(np.exp(logs)) == pytest.approx(c - 0.5, rel=0.05)


@pytest.mark.slow
def test_a_value_that_two_or_three_have_is_known_less_well():
    """Those countries are rarer than the table says: whose rows seemed common may be unique."""
    happened = said = before = 0.0
    for seed in range(20):
        everybody = origins(20_000, [97, seed])
        rows = np.random.default_rng([98, seed]).permutation(len(everybody))[:300]
        names = [f"country {c}" for c in everybody[rows, 0]]
        frame = pd.DataFrame(everybody[rows], columns=["country", "sex", "schooling"])
        table = rb.read_table(frame.assign(country=names), quasi_identifiers=list(frame.columns))
        fit = population.fit(table, population=len(everybody), model="structured")
        alone = (fit.beside > 0) & (fit.counts == 1)
        told = fit.people["p_unique"].to_numpy()[alone[fit.ids]]
        _, at, F = np.unique(everybody, axis=0, return_inverse=True, return_counts=True)
        happened += (F[at.reshape(-1)[rows]] == 1)[alone[fit.ids]].sum()
        said += told.sum()
        before += np.interp(
            fit._x[alone], fit._knots, fit.layer.weight @ fit.layer.p_unique(fit._knots, 20_000)
        ).sum()
    assert before < said
    assert abs(said - happened) < abs(before - happened)
