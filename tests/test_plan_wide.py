"""More ways than can be held: the search with its limit lowered, against every way by hand."""

import numpy as np
import pytest
from inside import inside
from test_plan_lattices import Lattice

import reidbn as rb
from reidbn.plans import WideSearch


def lowered(monkeypatch, **limits):
    """Every lattice is one of too many; these limits of its search are turned down."""
    monkeypatch.setattr(inside(rb.recommend), "MOST_NODES", 0)
    for name, value in limits.items():
        monkeypatch.setattr(inside(WideSearch), name, value)


def some(seed):
    made = Lattice(seed, 300)
    made.loss = ("entropy", "granularity")[seed % 2]
    return made


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.wide] * (s > 8)) for s in range(120)]
)
def test_a_plan_of_many_ways_is_the_best_or_says_how_far_it_may_be_off(seed, monkeypatch, tmp_path):
    """With room it is proved as the search that holds every way is; without, the gap is true."""
    rng, made = np.random.default_rng(seed), some(seed)
    least, nodes = made.best()
    small = seed % 3 == 0
    lowered(monkeypatch, MOST_BEAM=int(rng.choice([0, 3, 1_000])), BEAM=int(rng.integers(1, 6)),
            MOST_BOXES=int(rng.integers(1, 40)) if small else 100_000,
            MOST_LOOKED=int(rng.integers(2, 30)) if seed % 4 == 0 else 20_000)  # fmt: skip
    if np.isinf(least):
        with pytest.raises(rb.errors.DataError, match="no way to release"):
            made.plan(tmp_path)
        return
    plan = made.plan(tmp_path)[1]
    assert isinstance(plan._search, WideSearch)
    proof = plan.certificate
    whole = proof.counted + sum(proof.skipped.values())
    assert proof.nodes == nodes == whole + (proof.unsettled if proof.too_many else 0)
    assert plan.best.loss >= least - 1e-9
    assert plan.best.loss - proof.gap <= least + 1e-9
    assert proof.is_proved or small or seed % 4 == 0
    if proof.is_proved:
        assert plan.best.loss == pytest.approx(least, abs=1e-9)
    else:
        assert "more than can be gone through" in str(proof)
        assert 0 < proof.gap <= plan.best.loss
    kept = ~plan._found.left_out
    codes = made.coarse([plan.best.levels[c] for c in made.names])
    assert made.keeps(made.risks(codes, kept))


def test_sixty_million_ways_have_a_plan_and_a_bound(monkeypatch):
    """Ten columns of six levels: what is found keeps the rule, and nothing is called proved."""
    rng = np.random.default_rng(0)
    hidden, n = rng.normal(size=(2_000, 3)), 2_000
    drawn = hidden @ rng.normal(size=(3, 10)) + rng.normal(size=(n, 10))
    codes = drawn.argsort(axis=0).argsort(axis=0) * 32 // n
    names = [f"c{j}" for j in range(10)]
    people = rb.read_table(dict(zip(names, codes.T, strict=True)), quasi_identifiers=names)
    call = {"target": "k=5", "suppress_at_most": 0.02,
            "hierarchies": dict.fromkeys(names, "bands:2,4,8,16")}  # fmt: skip
    monkeypatch.setattr(inside(WideSearch), "MOST_LOOKED", 1_000)
    monkeypatch.setattr(inside(WideSearch), "MOST_BEAM", 100)
    plan = rb.recommend(people, **call)
    proof = plan.certificate
    assert proof.nodes == 6**10
    assert not proof.is_proved
    assert 0 < proof.gap < plan.best.loss
    assert plan.apply().k() >= 5
    for refused in (lambda: plan.front, plan.options, lambda: plan.kept):
        with pytest.raises(rb.errors.UsageError, match=r"keep=|rb\.recommend"):
            refused()
    fewer = rb.recommend(people, drop=names[4:], **call)  # the remedy
    assert len(fewer.front)
    assert fewer.best.loss >= plan.best.loss - proof.gap


@pytest.mark.parametrize(
    ("change", "word"),
    [({"loss": "discernibility"}, "Ask for a loss of each cell"),
     ({"loss": rb.plans.Margins("a")}, "Ask for a loss of each cell"),
     ({"empty_at_most": 0.1}, "leave it out")],
)  # fmt: skip
def test_what_cannot_be_done_with_so_many_ways_is_refused_with_what_can(monkeypatch, change, word):
    people = rb.read_table({"a": [1, 1, 2, 3], "b": [1, 2, 1, 2]}, quasi_identifiers=["a", "b"])
    lowered(monkeypatch)
    monkeypatch.setattr(inside(rb.plans.Margins), "MOST_NODES", 0)
    with pytest.raises(rb.errors.ReidbnError, match=word):
        rb.recommend(people, target="k=2", **change)
    assert rb.recommend(people, target="k=2", loss="entropy").best.loss > 0


@pytest.mark.parametrize("seed", [3, 4])
def test_given_time_the_search_goes_on_until_it_is_through(seed, monkeypatch, tmp_path):
    made = some(seed)
    least, _ = made.best()
    lowered(monkeypatch, MOST_BOXES=2, MOST_LOOKED=2, MOST_BEAM=0)
    short = made.plan(tmp_path)[1]
    assert not short.certificate.is_proved
    assert short.certificate.too_many
    long = made.plan(tmp_path, seconds=600)[1]
    assert long.certificate.is_proved
    assert long.best.loss == pytest.approx(least, abs=1e-9)
    monkeypatch.setattr(inside(WideSearch), "MOST_OPEN", 1)
    full = made.plan(tmp_path, seconds=600)[1]
    assert full.certificate.too_many
    assert full.best.loss - full.certificate.gap <= least + 1e-9


def test_a_plan_without_a_front_keeps_its_best_way_alone(tmp_path):
    people = rb.read_table(rb.datasets.synthetic_patients(400, seed=1),
                           quasi_identifiers=["age", "sex", "race"])  # fmt: skip
    call = {"target": "k=3", "hierarchies": {"age": "bands:5,10"}, "suppress_at_most": 0.03}
    one, other = (rb.recommend(people, pareto=p, **call) for p in (True, False))
    for what in ("levels", "suppressed", "loss", "after"):
        assert getattr(one.best, what) == getattr(other.best, what)
    assert one.certificate.counted == other.certificate.counted
    assert len(one.front) > 1
    assert np.array_equal(one.apply().table, other.apply().table)
    assert one.binding.equals(other.binding)
    with pytest.raises(rb.errors.UsageError, match="without pareto=False"):
        other.front  # noqa: B018 - asked for
    with pytest.raises(rb.errors.UsageError, match="pareto"):
        rb.recommend(people, pareto=3, **call)
    others = sum(found.keeps for found in one._search.seen.values())
    for plan, ways in ((one, others), (other, 1)):
        plan.report(tmp_path / "plan.md", custodian=True)
        assert ("Other ways" in (tmp_path / "plan.md").read_text()) == (ways > 1)
        kept = [found.left_out for found in plan._search.seen.values() if found.keeps]
        assert sum(left_out.size > 0 for left_out in kept) == ways
