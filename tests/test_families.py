"""Relatives in a sparse table: the relation map, whom a record gives away, rightly or not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.attacks.family import ROLES, log_ratio, named, pairs_of, person_of
from reidbn.theory import Channel, codes_given, given_other, one_of_several, truth_prior


@pytest.fixture(scope="module")
def made():
    families = rb.datasets.synthetic_families(60, seed=3)
    sparse = rb.read_sparse(families.table, features=families.features)
    return families, rb.read_kin(sparse)


def small(cells, relations, more=None, **options):
    """A table with one illness; columns "self has", "father onset", ..."""
    rows = [{"feature": name, "relation": relation, "disease": "asthma", "field": field}
            for name, (relation, field) in relations.items()]  # fmt: skip
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})
    features = pd.DataFrame(rows + (more or [])).fillna("")
    return rb.read_kin(rb.read_sparse(frame, features=features), **options)


# -- the channel -----------------------------------------------------------------------------------


def test_what_is_told_is_a_law_for_every_truth():
    ages = np.random.default_rng(1).dirichlet(np.ones(111))
    for channel in (Channel(), Channel(0.7, 0.1, 2.0, 0.6), Channel(1, 0, 0, 0)):
        assert codes_given(channel, ages).sum(axis=1) == pytest.approx(1, abs=1e-12)
        several = one_of_several(channel, 0.3, ages)
        assert several.sum(axis=1) == pytest.approx(1, abs=1e-12)


def test_ratios_are_those_of_writing_every_truth_down():
    """P(a, b of one person) / P(a) P(b), truth by truth; and equation (1) sums to one."""
    rng = np.random.default_rng(2)
    prior = truth_prior(0.2, rng.dirichlet(np.ones(111)))
    first = codes_given(Channel(0.8, 0.05, 2.0, 0.7), prior[1:] / 0.2)
    second = codes_given(Channel(0.9, 0.02, 1.0, 0.5), prior[1:] / 0.2)
    conditional, ratio = given_other(first, second, prior)
    for a, b in [(1, 1), (1, 2), (2, 1), (2, 2), (43, 44), (43, 90), (1, 43), (60, 2)]:
        both = sum(prior[s] * first[s, a] * second[s, b] for s in range(112))
        alone = sum(prior[s] * first[s, a] for s in range(112))
        other = sum(prior[s] * second[s, b] for s in range(112))
        assert ratio[a, b] == pytest.approx(both / alone / other, rel=1e-12)
    assert conditional.sum(axis=0) == pytest.approx(1, abs=1e-12)
    assert (ratio[0] == 1).all()
    assert ratio[1:, 0][first[:, 1:].any(axis=0)] == pytest.approx(1, abs=1e-12)


def test_the_posterior_is_bayes_over_who_it_is_and_what_everybody_had():
    """Three candidates, one illness: every truth of the father and of each candidate's own."""
    relations = {"own": ("self", "has"), "dad": ("father", "has")}
    cells = {"own": [None, "yes", "no", "yes"], "dad": ["yes", None, None, "no"]}
    kin = small(cells, relations, completeness=0.8, false_reports=0.1)
    found = named(kin, person_of(kin, 0), "father", "posterior", 0.6)
    # The share of the ill comes from the reports: (1 + .5) / (2 + 1), set right for the channel.
    share = (0.5 - 0.1) / (0.8 - 0.1)
    says = {True: 0.8, False: 0.1}
    weights = {v: 0.6 / 3 * says[cells["own"][v] == "yes"] for v in (1, 2, 3)}
    nobody = 0.4 * sum(says[ill] * (share if ill else 1 - share) for ill in (True, False))
    whole = nobody + sum(weights.values())
    assert found.present == pytest.approx(sum(weights.values()) / whole, rel=1e-9)
    assert found.evidence == 1
    assert found.matches == 2
    alone = small({"own": [None, "yes"], "dad": ["yes", None]}, relations)
    claim = named(alone, person_of(alone, 0), "father", "posterior", 0.9).claims[0]
    assert (claim.who, claim.role) == (1, "father")
    assert claim.posterior > 0.9


def test_ratios_of_a_whole_record_multiply_over_what_is_told(made):
    _, kin = made
    of = person_of(kin, 5)
    for role in ("father",):
        expected = np.zeros(len(kin))
        for v, (d, (one, other)) in product(range(0, len(kin), 17), enumerate_pairs(kin, role)):
            a, b = of.cells[one][d], kin.tells[other][v, d]
            with np.errstate(divide="ignore"):
                expected[v] += np.log(kin.law((one, other), d)[1][a, b])
        rows = np.arange(0, len(kin), 17)
        found, expected = log_ratio(kin, of, role)[rows], expected[rows]
        sure = np.isfinite(expected)
        assert 0 < sure.sum() < len(sure)
        assert found[sure] == pytest.approx(expected[sure], abs=1e-9)
        assert (found[~sure] == -np.inf).all()


def enumerate_pairs(kin, role):
    return [(d, pair) for pair in pairs_of(role, 1) for d in range(len(kin.diseases))]


# -- the attack ------------------------------------------------------------------------------------


def test_the_contract_runs_as_written():
    fam = rb.datasets.synthetic_families(200, seed=0)
    kin = rb.read_kin(rb.read_sparse(fam.table, features=fam.features))
    found = rb.neighbourhood(kin, start=0, rule="posterior", depth=3)
    assert list(found.claims.columns) == [
        "start", "round", "source", "relation", "who", "posterior", "path"
    ]  # fmt: skip
    assert found.claims["round"].between(1, 3).all()
    assert (found.claims["posterior"] > 0.5).all()
    assert found.claims["who"].is_unique
    assert 0 not in set(found.claims["who"])


def test_a_claim_above_half_is_right_more_often_than_not(made):
    """First rounds: the mean posterior within three standard errors and .05 of what happened."""
    families, kin = made
    children = families.truth.query("role == 'child' and row >= 0")["row"].to_numpy()
    claims = rb.neighbourhood(kin, start=children).against(families.truth)
    assert len(claims) > 100
    gap = abs(claims["right"].mean() - claims["posterior"].mean())
    assert gap < 0.05 + 3 * np.sqrt(0.25 / len(claims))


def test_with_nobody_of_the_family_in_the_table_no_claim_is_right():
    families = rb.datasets.synthetic_families(70, seed=4, here=0.0)
    kin = rb.read_kin(rb.read_sparse(families.table, features=families.features))
    claims = rb.neighbourhood(kin, depth=2).against(families.truth)
    assert not claims["right"].any()


def test_with_everything_told_and_everybody_there_parents_are_found():
    families = rb.datasets.synthetic_families(
        25, seed=5, here=1.0, in_release=1.0, completeness=1.0, told=1.0, jitter=0.0
    )
    kin = rb.read_kin(
        rb.read_sparse(families.table, features=families.features),
        completeness=1.0, false_reports=0.005, jitter=0.0,
    )  # fmt: skip
    first = families.truth.query("role == 'child'")["row"].to_numpy()
    claims = rb.neighbourhood(kin, start=first, in_release=0.9).against(families.truth)
    up = claims[claims["relation"].isin(["father", "mother"])]
    assert up["right"].mean() > 0.95
    assert len(up) > 0.8 * 2 * len(first)


def test_the_strict_rule_names_the_only_record_on_which_everything_fits():
    relations = {"own": ("self", "has"), "own age": ("self", "onset"),
                 "own now": ("self", "status"), "dad": ("father", "has"),
                 "dad age": ("father", "onset"), "dad now": ("father", "status")}  # fmt: skip
    cells = {
        "own": [None, "yes", "yes", "yes", None], "own age": [None, 50, 54, 51, None],
        "own now": [None, "well", "well", "ill", None],
        "dad": ["yes", None, None, None, "no"], "dad age": [51, None, None, None, None],
        "dad now": ["well", None, None, None, None],
    }  # fmt: skip
    kin = small(cells, relations)
    found = named(kin, person_of(kin, 0), "father", "strict", 0.5)
    assert [claim.who for claim in found.claims] == [1]
    assert found.matches == 1
    cells["own now"][3] = "well"
    two = named(small(cells, relations), person_of(kin, 0), "father", "strict", 0.5)
    assert (two.matches, two.claims) == (2, ())
    assert named(kin, person_of(kin, 4), "father", "strict", 0.5).evidence == 0
    table = kin.experiments()
    assert table.loc["parents: father's history", "attackable"] == 1 / 5
    assert table.loc["parents: father's history", "no match of attackable"] == 0
    assert table.loc["parents: father's history", "no match"] == 4 / 5
    assert table["printed no match"].iloc[0] == 0.882


def test_sex_and_birth_year_rule_people_out_and_unknown_ones_do_not():
    relations = {"own": ("self", "onset"), "dad": ("father", "onset")}
    more = [{"feature": "sex", "relation": "self", "field": "sex", "kind": "category"},
            {"feature": "born", "relation": "self", "field": "birth year"}]  # fmt: skip
    cells = {"own": [None, 50, 50, 50, 50], "dad": [50, None, None, None, None],
             "sex": ["f", "m", "f", None, "m"], "born": [1980, 1950, 1950, 1950, 1985]}  # fmt: skip
    kin = small(cells, relations, more)
    assert kin.fits("father", 1, 1980).tolist() == [False, True, False, True, False]
    assert named(kin, person_of(kin, 0), "father", "strict", 0.5).matches == 2


def test_ages_come_from_years_and_a_no_stands_against_an_age():
    relations = {"own": ("self", "has"), "since": ("self", "since"), "dad": ("father", "has")}
    more = [{"feature": "born", "relation": "self", "field": "birth year", "kind": "year"}]
    cells = {"own": ["yes", "no", None], "since": [2001, 2002, 2003], "born": [1950, 1950, None],
             "dad": [None, None, "yes"]}  # fmt: skip
    kin = small(cells, relations, [*more])
    assert kin.tells["self"][:, 0].tolist() == [3 + 51, 1, 2]


@pytest.mark.parametrize(
    ("relations", "cells", "options", "message"),
    [
        ({"a": ("uncle", "has")}, {"a": ["yes"]}, {}, 'no relation "uncle"'),
        ({"a": ("self", "has")}, {"a": ["yes"]}, {}, "no feature tells of a relative"),
        ({"a": ("father", "has"), "b": ("father", "has")}, {"a": ["yes"], "b": ["no"]}, {},
         "tell the same"),
        ({"a": ("father", "onset")}, {"a": ["yes"]}, {}, "onset is of the kind number"),
        ({"a": ("father", "onset")}, {"a": [400]}, {}, "from 0 to 110"),
        ({"a": ("father", "since")}, {"a": [1990]}, {}, "of relatives give the age"),
        ({"a": ("father", "has")}, {"a": ["yes"]}, {"completeness": 0.2, "false_reports": 0.3},
         "told oftener"),
        ({"a": ("father", "has")}, {"a": ["yes"]}, {"jitter": -1}, "jitter"),
    ],
)  # fmt: skip
def test_a_map_that_cannot_be_read_is_refused(relations, cells, options, message):
    with pytest.raises(rb.ReidbnError, match=message) as refused:
        small(cells, relations, **options)
    assert "400" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": 10**6}, "start= takes rows"),
        ({"start": [0, 0]}, "each once"),
        ({"start": 0, "individuals": 3}, "give one"),
        ({"rule": "stric"}, 'did you mean "strict"'),
        ({"depth": 0}, "depth"),
        ({"in_release": 1.5}, "in_release"),
    ],
)
def test_what_cannot_be_asked_of_families_is_refused(made, options, message):
    with pytest.raises(rb.UsageError, match=message):
        rb.neighbourhood(made[1], **options)


def test_whose_relatives_are_found_is_told_kind_by_kind(made):
    families, kin = made
    found = rb.neighbourhood(kin, start=[0, 4, 9])
    table = found.table()
    assert table.index.tolist() == list(ROLES)
    assert found.measures["father_named"].value == table.loc["father", "named"]
    assert found.people.index.tolist() == [0, 4, 9]
    with pytest.raises(rb.DataError, match='no column "row"'):
        found.against(families.truth.drop(columns="row"))


@pytest.mark.parametrize("rule", ["posterior", "strict"])
def test_a_neighbourhood_is_reached_candidate_by_candidate_and_slips_are_found(made, rule):
    found = rb.neighbourhood(made[1], start=[0, 4, 9], depth=2, rule=rule)
    assert "agree" in str(found.check(individuals=3))
    assert found.claims["round"].max() == 2
    every = found.looked
    wrong = {
        person: {
            role: replace(one, claims=tuple(replace(c, who=c.who + 1) for c in one.claims))
            for role, one in roles.items()
        }
        for person, roles in every.items()
    }
    with pytest.raises(rb.CrosscheckFailed, match="names others"):
        replace(found, looked=wrong).check(individuals=len(every))
    twice = pd.concat([found.claims, found.claims.tail(1)])
    with pytest.raises(rb.CrosscheckFailed, match="no record read before"):
        replace(found, claims=twice).check(individuals=1)
    with pytest.raises(rb.CrosscheckFailed, match="is not named"):
        replace(found, claims=found.claims.iloc[:0]).check(individuals=1)
    with pytest.raises(rb.UsageError, match="at least 1"):
        found.check(individuals=0)
