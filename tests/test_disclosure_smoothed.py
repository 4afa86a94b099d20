"""Smoothed posteriors: the formula, the learnt tree against brute force and pgmpy, calibration."""

from fractions import Fraction
from itertools import combinations, product

import disclosure_by_hand as by_hand
import numpy as np
import pytest

import reidbn as rb
from reidbn.attacks import SecretTree, margin, mutual_information, spanning_tree
from reidbn.errors import UsageError
from reidbn.microdata import People

NAMES = ["age", "job", "town", "sick"]


def table_like(seed, rows=60, sizes=(4, 3, 2, 3)):
    """Columns that hang on each other, so that a tree has something to find."""
    generator = np.random.default_rng(seed)
    first = generator.integers(0, sizes[0], rows)
    columns = [first]
    for size in sizes[1:]:
        noise = generator.integers(0, size, rows)
        columns.append(np.where(generator.random(rows) < 0.6, columns[-1] % size, noise))
    return np.stack(columns, axis=1).astype(np.int32)


@pytest.mark.parametrize("strength", [0.5, 4.0])
def test_the_dirichlet_posterior_is_its_formula_on_every_subset(strength):
    codes = table_like(1)
    found = rb.smoothed_disclosure(People.from_codes(codes, NAMES), "sick", strength=strength)
    table = [tuple(row) for row in codes]
    weight = Fraction(strength)
    for i, row in enumerate(table):
        baseline = Fraction(sum(other[3] == row[3] for other in table), len(table))

        def ppp(known, i=i, baseline=baseline):
            npp, peers = by_hand.npp_and_peers(table, i, 3, known)
            return 1 - (peers - npp + weight * baseline) / (peers + weight)

        least = min(ppp(known) for known in by_hand.subsets(range(3)))
        assert found.ppp_full[i] == pytest.approx(float(ppp((0, 1, 2))), abs=1e-12)
        assert found.ppp_min[i] == pytest.approx(float(least), abs=1e-12)
    assert found.share_upward(p=0.3) == (found.ppp_min > 0.3).mean()


def test_the_tree_has_the_most_mutual_information_of_all_trees():
    codes = table_like(2)
    information = mutual_information(codes, (4, 3, 2, 3))
    edges = list(combinations(range(4), 2))

    def is_tree(some):
        group = list(range(4))
        for a, b in some:
            old, new = group[a], group[b]
            if old == new:
                return False
            group = [new if g == old else g for g in group]
        return True

    best = max(
        sum(information[e] for e in some) for some in combinations(edges, 3) if is_tree(some)
    )
    for root in range(4):
        parent = spanning_tree(information, root)
        assert parent[root] == -1
        total = sum(information[j, above] for j, above in enumerate(parent) if above >= 0)
        assert total == pytest.approx(best, abs=1e-12)


def brute_posterior(tree, codes, known, sizes):
    """P(secret | known) by adding up the joint over everything unknown."""
    found = np.zeros((len(codes), sizes[tree.secret]))
    for i, row in enumerate(codes):
        for values in product(*(range(size) for size in sizes)):
            if any(values[j] != row[j] for j in known):
                continue
            joint = tree.prior[values[tree.secret]]
            for child, table in tree.tables.items():
                joint *= table[values[tree.parent[child]], values[child]]
            found[i, values[tree.secret]] += joint
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("secret", [0, 3])
def test_messages_give_what_adding_up_the_joint_gives(secret):
    sizes = (4, 3, 2, 3)
    codes = table_like(3)
    tree = SecretTree.learn(codes, sizes, NAMES, secret, strength=2.0)
    some = codes[:6]
    others = [j for j in range(4) if j != secret]
    least = np.full(len(some), np.inf)
    for known in by_hand.subsets(others, empty=True):
        told = brute_posterior(tree, some, known, sizes)
        assert np.abs(tree.posterior(some, known) - told).max() < 1e-12
        if known:
            other = 1 - told[np.arange(len(some)), some[:, secret]]
            least = np.minimum(least, other)
    found, masks = tree.least_other(some, others)
    assert np.abs(found - least).max() < 1e-12
    for i, mask in enumerate(masks):
        known = [j for j in range(4) if mask >> j & 1]
        own = tree.posterior(some[i : i + 1], known)[0, some[i, secret]]
        assert 1 - own == pytest.approx(least[i], abs=1e-11)


def test_the_tree_is_the_same_network_in_pgmpy():
    from pgmpy.inference import VariableElimination

    sizes = (4, 3, 2, 3)
    codes = table_like(4)
    tree = SecretTree.learn(codes, sizes, NAMES, 3, strength=1.0)
    asked = VariableElimination(tree.to_pgmpy())
    for row in codes[:4]:
        for known in ((0,), (0, 2), (0, 1, 2)):
            evidence = {NAMES[j]: str(row[j]) for j in known}
            told = asked.query(["sick"], evidence=evidence, show_progress=False).values
            assert np.abs(tree.posterior(row[None, :], known)[0] - told).max() < 1e-12


def test_pgmpy_learns_the_same_tree():
    """Its tree search draws undirected edges from the same mutual information."""
    import pandas as pd
    from pgmpy.estimators import TreeSearch

    codes = table_like(5, rows=400)
    tree = SecretTree.learn(codes, (4, 3, 2, 3), NAMES, 3)
    ours = {frozenset((NAMES[j], NAMES[a])) for j, a in enumerate(tree.parent) if a >= 0}
    frame = pd.DataFrame(codes, columns=NAMES)
    theirs = TreeSearch(frame, root_node="sick", n_jobs=1).estimate(
        estimator_type="chow-liu", show_progress=False
    )
    assert ours == {frozenset(edge) for edge in theirs.edges()}


def test_a_network_posterior_in_the_result_is_the_trees():
    codes = table_like(6)
    people = People.from_codes(codes, NAMES)
    found = rb.smoothed_disclosure(people, "sick", posterior="network", strength=3.0, p=0.1)
    tree = SecretTree.learn(codes, (4, 3, 2, 3), NAMES, 3, strength=3.0)
    full = 1 - tree.posterior(codes, range(3))[np.arange(len(codes)), codes[:, 3]]
    assert np.abs(found.ppp_full - full).max() < 1e-12
    assert (found.ppp_min <= found.ppp_full + 1e-12).all()
    assert found.share_upward() == (found.ppp_min > 0.1).mean()


def test_nothing_is_impossible_not_even_a_value_never_seen():
    assert margin(np.array([0, 0]), 2).tolist() == pytest.approx([2.5 / 3, 0.5 / 3])
    codes = table_like(7)
    tree = SecretTree.learn(codes, (5, 4, 3, 4), NAMES, 3)
    strange = np.array([[4, 3, 2, 3]], dtype=np.int32)
    posterior = tree.posterior(strange, range(3))
    assert np.isfinite(posterior).all()
    assert (posterior > 0).all()


# Which one to believe


def test_held_out_scores_are_what_a_loop_over_people_gives():
    codes = table_like(8, rows=40)
    people = People.from_codes(codes, NAMES)
    found = rb.disclosure_calibration(people, "sick", folds=4, strengths=[2.0], seed=11)
    fold = np.random.default_rng(11).permutation(40) % 4
    own, brier = np.empty(40), np.empty(40)
    for i in range(40):
        learnt = codes[fold != fold[i]]
        counts = np.bincount(learnt[:, 3], minlength=3) + 0.5
        baseline = counts / counts.sum()
        alike = learnt[(learnt[:, :3] == codes[i, :3]).all(axis=1), 3]
        posterior = (np.bincount(alike, minlength=3) + 2 * baseline) / (alike.size + 2)
        own[i] = posterior[codes[i, 3]]
        brier[i] = ((posterior - np.eye(3)[codes[i, 3]]) ** 2).sum()
    row = found[(found["posterior"] == "dirichlet")].iloc[0]
    assert row["log_loss"] == pytest.approx(-np.log(own).mean(), abs=1e-12)
    assert row["brier"] == pytest.approx(brier.mean(), abs=1e-12)


def test_counts_rule_true_secrets_out_and_smoothing_does_not():
    people = People.from_codes(table_like(9, rows=300), NAMES)
    found = rb.disclosure_calibration(people, "sick", folds=5).set_index(["posterior", "strength"])
    assert found.loc[("counts", 0.0), "log_loss"] == float("inf")
    assert found.loc[("counts", 0.0), "ruled_out"] > 0
    smooth = found.drop(index=[("counts", 0.0)])
    assert np.isfinite(smooth["log_loss"]).all()
    assert (smooth["ruled_out"] == 0).all()


def test_where_the_truth_is_a_tree_the_learnt_tree_forecasts_best():
    """Made by a chain of noisy copies; with many sparse classes counting has little to go by."""
    codes = table_like(10, rows=1500, sizes=(12, 9, 7, 4))
    found = rb.disclosure_calibration(People.from_codes(codes, NAMES), "sick", folds=5, seed=1)
    assert found["posterior"][0] == "network"
    assert (np.diff(found["log_loss"]) >= 0).all()


def test_a_smoothed_verdict_can_fail_and_p_0_is_refused():
    """Twenty alike people with one value: the attacker may be 95 % sure, and that is told."""
    codes = [[0, 0]] * 30 + [[1, i % 2] for i in range(30)]
    people = People.from_codes(codes, ["age", "sick"])
    found = rb.smoothed_disclosure(people, "sick")
    assert found.p == 0.05
    assert found.share_upward() == 0.5
    for ask in (lambda: rb.smoothed_disclosure(people, "sick", p=0), lambda: found.share_upward(0)):
        with pytest.raises(UsageError, match="everybody would pass"):
            ask()


def test_held_out_scores_come_with_their_errors():
    codes = table_like(12, rows=200)
    found = rb.disclosure_calibration(People.from_codes(codes, NAMES), "sick", folds=4, seed=2,
                                      strengths=[1.0, 8.0])  # fmt: skip
    assert (found["behind"][0], found["behind_error"][0]) == (0, 0)
    fold = np.random.default_rng(2).permutation(200) % 4
    losses = {}
    for weight in (1.0, 8.0):
        own = np.empty(200)
        for i in range(200):
            learnt = codes[fold != fold[i]]
            counts = np.bincount(learnt[:, 3], minlength=3) + 0.5
            alike = learnt[(learnt[:, :3] == codes[i, :3]).all(axis=1), 3]
            posterior = np.bincount(alike, minlength=3) + weight * counts / counts.sum()
            own[i] = posterior[codes[i, 3]] / (alike.size + weight)
        losses[weight] = -np.log(own)
    rows = found.set_index(["posterior", "strength"])
    for weight, loss in losses.items():
        error = rows.loc[("dirichlet", weight), "log_loss_error"]
        assert error == pytest.approx(loss.std(ddof=1) / np.sqrt(200), abs=1e-12)
    apart = rows["behind"]["dirichlet"][1.0] - rows["behind"]["dirichlet"][8.0]
    assert apart == pytest.approx((losses[1.0] - losses[8.0]).mean(), abs=1e-12)
    assert rows.loc[("counts", 0.0), "log_loss_error"] == float("inf")
    assert not found.isna().any().any()


def test_bad_calls_say_what_would_be_right():
    people = People.from_codes(table_like(11), NAMES)
    with pytest.raises(UsageError, match='did you mean "network"'):
        rb.smoothed_disclosure(people, "sick", posterior="networks")
    with pytest.raises(UsageError, match="above 0"):
        rb.smoothed_disclosure(people, "sick", strength=0)
    with pytest.raises(UsageError, match="folds=1"):
        rb.disclosure_calibration(people, "sick", folds=1)
