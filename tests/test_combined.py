"""Shares over a node, steps that repeat, shared sources, attackers who decide: all in one file."""

import warnings

import numpy as np
import pytest

import reidbn as rb
from tests.combined_oracle import Combined, combined_file, pooled

GIVEN = ({"in_ann": "yes"}, {"caught": "no"}, {"caught": "yes"}, {"kind_bob": "near"},
         {"hit_ann": "no"})  # fmt: skip
CLOSE = 1e-12


def is_between(told, worst, found):
    """Whether it is that of a best policy, and the worst of tied ones the highest there is."""
    high, low, _ = found
    return low - CLOSE <= told <= high + CLOSE and abs(worst - high) <= CLOSE


def against_the_oracle(files, seed):
    """How many answers of random files there were, and of how many the policies are tied."""
    rng = np.random.default_rng(seed)
    answers = several = 0
    for _ in range(files):
        words = combined_file(rng)
        attack = rb.loads(words)
        told = attack.parameters["p_told"].value
        assert told == pytest.approx(pooled(words), abs=1e-6)
        given = dict(GIVEN[rng.integers(len(GIVEN))]) if rng.random() < 0.5 else {}
        own = Combined.read(words, told)
        found = own.answers(lambda world: world["any"] == "yes", given)
        for engine in ("exact", "enumeration", "pgmpy"):
            try:
                answer = rb.ask(attack, "any=yes", given=given, engine=engine)
            except rb.errors.ImpossibleEvidence as refused:
                if found[0] and "worth the same" not in str(refused):
                    pytest.fail(f"{words} {given}: {refused}")
                continue
            except rb.errors.TooLarge:  # more worlds than that engine writes down: it says so
                assert engine == "enumeration"
                continue
            worst = answer.probability if answer.worst is None else answer.worst
            assert is_between(float(answer), float(worst), found), (words, given, engine)
            answers += 1
            several += found[0] > found[1] + CLOSE
        high, low, _ = own.answers(lambda world: int(world["hits"]), {})
        assert low - CLOSE <= float(rb.expect(attack, "hits")) <= high + CLOSE, words
        answers += of_several_people(words, attack, told)
    return answers, several


def of_several_people(words, attack, told):
    """Three people at two settings, in one call, each as if asked alone."""
    example = Combined.read(words, told).subject
    rows = [{k: np.roll(np.array(v, dtype=float), j, axis=-1).tolist() for k, v in example.items()}
            for j in range(3)]  # fmt: skip
    subject = {k: np.array([row[k] for row in rows]) for k in example}
    seen = [0.25, 0.6]
    answer = rb.ask(attack, "any=yes", subject=subject, set={"p_seen": seen}, beyond_range=True)
    values = np.broadcast_to(answer.probability, (3, 2))
    worst = values if answer.worst is None else np.broadcast_to(answer.worst, (3, 2))
    for i, row in enumerate(rows):
        for j, p in enumerate(seen):
            own = Combined.read(words, told, set={"p_seen": p}, subject=row)
            found = own.answers(lambda world: world["any"] == "yes", {})
            assert is_between(values[i, j], worst[i, j], found), (words, row, p)
    return values.size


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.errors.ReidbnWarning)
        yield


def test_everything_at_once_is_what_every_world_and_every_policy_says():
    assert against_the_oracle(4, seed=1)[0] >= 24


@pytest.mark.slow
def test_everything_at_once_is_what_every_world_and_every_policy_says_of_many():
    answers, several = against_the_oracle(150, seed=2)
    assert answers >= 1000
    assert several >= 5
