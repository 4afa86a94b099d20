"""Attribute disclosure as queries on the record network in pgmpy, equal to the last bit.

With 2^m records every probability that pgmpy adds up is a dyadic fraction, so its quotients must be
the very doubles that counting gives; with other numbers of records the fractions must be the same.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import reidbn as rb
from reidbn.errors import CrosscheckFailed
from reidbn.microdata import People

NAMES = ["age", "job", "town", "sick"]
SIZES = (4, 2, 3, 3)


def people_like(seed, rows):
    generator = np.random.default_rng(seed)
    codes = np.stack([generator.integers(0, size, rows) for size in SIZES], axis=1)
    return People.from_codes(codes, NAMES)


def subsets(names):
    return [some for size in range(1, len(names) + 1) for some in combinations(names, size)]


def state(people, name, i):
    return str(people.codes([name])[i, 0])


def asked(net, secret, given):
    """P(secret | given) by value, from pgmpy."""
    return rb.ask(net.attack, secret, given=given, engine="pgmpy").distribution


@pytest.fixture(scope="module", params=[(1, 16), (2, 32)])
def dyadic(request):
    seed, rows = request.param
    people = people_like(seed, rows)
    return people, rb.record_network(people, engine="pgmpy"), rb.disclosure_all(people, q=0.2)


def test_every_posterior_is_the_quotient_of_the_counts(dyadic):
    """P(own secret | A) = same / peers, bit by bit, for every record, secret and subset."""
    people, net, everything = dyadic
    for secret, d in everything.items():
        own = people.codes([secret])[:, 0]
        for known in subsets(d.known):
            at = [d.names.index(name) for name in known]
            peers, same = d.source.at(d.column, at)
            seen = {}
            for i in range(0, len(people), 3):
                given = {name: state(people, name, i) for name in known}
                key = tuple(given.values())
                if key not in seen:
                    seen[key] = asked(net, secret, given)
                assert seen[key][str(own[i])] == same[i] / peers[i]


def test_the_weakest_subset_and_the_alternatives_are_what_the_network_says(dyadic):
    people, net, everything = dyadic
    d = everything["sick"]
    full, fewest = d.alternatives()
    numerator, denominator = d.ppp_min_fraction
    for i in range(0, len(people), 4):
        own, found = state(people, "sick", i), []
        for known in subsets(d.known):
            given = {name: state(people, name, i) for name in known}
            posterior = asked(net, "sick", given)
            above = sum(p > 0.2 for value, p in posterior.items() if value != own)
            found.append((posterior[own], known, above))
        largest = max(p for p, _, _ in found)
        assert largest == (denominator[i] - numerator[i]) / denominator[i]
        assert next(known for p, known, _ in found if p == largest) == d.weakest_subset[i]
        assert found[-1][2] == full[i]
        assert min(above for _, _, above in found) == fewest[i]


def test_the_baseline_is_the_networks_prior(dyadic):
    people, net, everything = dyadic
    for secret, d in everything.items():
        prior = net.prior(secret)
        own = people.codes([secret])[:, 0]
        assert d.prior.tolist() == [prior[value] for value in own]


def test_a_tolerance_and_a_near_guess_are_soft_evidence_and_a_set_of_values(dyadic):
    """`tolerance` = "the age is one of these"; `within` = P(secret is one of those near)."""
    people, net, _ = dyadic
    d = rb.disclosure(people, "sick", tolerance={"age": 1}, within=1)
    age, sick = people.codes(["age"])[:, 0], people.codes(["sick"])[:, 0]
    for known in subsets(d.known):
        peers, same = d.source.at(d.column, [d.names.index(name) for name in known])
        for i in range(0, len(people), 5):
            given = {name: state(people, name, i) for name in known}
            if "age" in known:
                given["age"] = {str(v): float(abs(v - age[i]) <= 1) for v in range(SIZES[0])}
            posterior = asked(net, "sick", given)
            near = [p for value, p in posterior.items() if abs(int(value) - sick[i]) <= 1]
            # The soft evidence is a node of pgmpy's, but 0 and 1 keep every sum dyadic.
            assert Fraction(sum(near)).limit_denominator(len(people)) == Fraction(
                int(same[i]), int(peers[i])
            )
            assert sum(near) == pytest.approx(same[i] / peers[i], abs=1e-15)


def test_a_range_is_what_the_attacker_sees_of_the_column(dyadic):
    people, _, _ = dyadic
    net = rb.record_network(people, seen={"age": lambda v: f"band {v // 2}", "job": "equal"})
    d = rb.disclosure(people, "sick", known=["age", "job"], ranges={"age": 2})
    age, sees = people.codes(["age"])[:, 0], {n: net.columns[n].sight for n in ("age", "job")}
    for i in range(0, len(people), 3):
        given = {sees["age"]: f"band {age[i] // 2}", sees["job"]: state(people, "job", i)}
        posterior = asked(net, "sick", given)
        own = 1 - d.npp_full[i] / d.peers_full[i]
        assert posterior[state(people, "sick", i)] == pytest.approx(own, abs=1e-15)


@pytest.mark.parametrize(("seed", "rows"), [(3, 11), (4, 25)])
def test_with_any_number_of_records_the_fractions_are_the_same(seed, rows):
    people = people_like(seed, rows)
    net = rb.record_network(people, engine="pgmpy")
    d = rb.disclosure(people, "sick")
    numerator, denominator = d.ppp_min_fraction
    for i in range(0, rows, 2):
        own = people.codes(["sick"])[i, 0]
        least = min(
            1 - Fraction(net.pp(i, list(known), "sick", own)).limit_denominator(rows)
            for known in subsets(d.known)
        )
        assert least == Fraction(int(numerator[i]), int(denominator[i]))


def test_diversity_is_read_off_the_same_posterior(dyadic):
    people, net, everything = dyadic
    found = everything["sick"].readings(["age", "job"])
    for i in range(0, len(people), 5):
        given = {name: state(people, name, i) for name in ("age", "job")}
        posterior = asked(net, "sick", given)
        assert found.distinct[i] == sum(p > 0 for p in posterior.values())
        assert found.largest_share[i] == max(posterior.values())


# The same comparison as a call


def test_a_result_can_be_checked_against_the_network(dyadic):
    people, _, everything = dyadic
    blurred = rb.disclosure(people, "sick", tolerance={"age": 1}, within=1)
    coarse = rb.disclosure(people, "sick", ranges={"age": 2}, individuals=9)
    for d in (everything["age"], everything["sick"], blurred, coarse):
        found = rb.disclosure_crosscheck(d, individuals=4)
        assert (found.individuals, found.subsets) == (4, 7)
        assert "agree" in str(found)


def test_a_count_that_is_one_off_is_caught(dyadic):
    people, _, _ = dyadic
    d = rb.disclosure(people, "sick")
    counted = d.source.at
    d.source.at = lambda column, known: (counted(column, known)[0] + 1, counted(column, known)[1])
    with pytest.raises(CrosscheckFailed, match="pgmpy"):
        rb.disclosure_crosscheck(d)
