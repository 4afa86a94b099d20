"""Whom disclosure counts: several records a person, missing secrets, values, samples, chances."""

from fractions import Fraction

import disclosure_by_hand as by_hand
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import inside

import reidbn as rb
from reidbn.attacks import Partitioned
from reidbn.errors import UsageError
from reidbn.microdata import People


def fractions(parts):
    return [Fraction(int(a), int(b)) for a, b in zip(*parts, strict=True)]


# Chances given where columns are named


@pytest.fixture
def small():
    return People.from_codes([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 0]], ["age", "sex", "sick"])


def test_chances_given_to_known_are_not_dropped_in_silence(small):
    d = rb.disclosure(small, "sick", known={"age": ("age", 0.01), "sex": ("sex", 0.5)})
    same = rb.disclosure(small, "sick", knowledge={"age": 0.01, "sex": 0.5})
    assert np.array_equal(d.expected_ppp, same.expected_ppp)
    some = rb.disclosure(small, "sick", known={"age": 0.5})
    assert some.known == ("age",)
    assert some.expected_ppp == pytest.approx((some.ppp_full + 1 - some.prior) / 2)
    with pytest.raises(UsageError, match="both give chances"):
        rb.disclosure(small, "sick", known={"age": 0.5}, knowledge={"sex": 0.5})


def test_knowledge_takes_a_column_and_its_chance_as_subsets_do(small):
    pairs = rb.disclosure(small, "sick", knowledge={"a": ("age", 0.01), "s": (["sex"], 0.5)})
    plain = rb.disclosure(small, "sick", knowledge={"age": 0.01, "sex": 0.5})
    assert np.array_equal(pairs.expected_ppp, plain.expected_ppp)
    assert "breach probability" in repr(pairs)
    every = rb.disclosure_all(small, knowledge={"a": ("age", 0.01), "s": ("sex", 0.5)})
    assert np.array_equal(every["sick"].expected_ppp, plain.expected_ppp)
    with pytest.raises(UsageError, match="not a number"):
        rb.disclosure(small, "sick", knowledge={"age": "often"})


# Several records per person


def contains(histories, i, known, value):
    """(people alike on `known` whose history holds the value, people alike)."""
    rows = [h for a, h in histories if all(a[c] == histories[i][0][c] for c in known)]
    return sum(value in h for h in rows), len(rows)


def share(histories, i, known):
    """The largest share of peers who have one of the person's own values: equation by hand."""
    return max(Fraction(*contains(histories, i, known, v)) for v in histories[i][1])


def test_three_men_whose_records_all_hold_cancer_are_disclosed():
    table = {
        "id": [1, 1, 2, 2, 3, 3, 4],
        "sex": ["m"] * 6 + ["f"],
        "code": ["cancer", "flu", "cancer", "gout", "acne", "cancer", "flu"],
    }
    people = rb.read_table(table, quasi_identifiers=["sex"], sensitive=["code"], subject_id="id")
    d = rb.disclosure(people, "code")
    assert d.npp_full.tolist() == [0, 0, 0, 0]
    assert d.share_upward() == 0
    by = d.by_value()
    assert by.loc["cancer"].tolist() == [3, 0.75, 3, 3, 0, 1.0, 4 / 3]
    assert by.loc["acne", ["people", "sure", "posterior"]].tolist() == [1, 0, 1 / 3]
    with pytest.raises(UsageError, match="by_value"):
        d.readings()
    with pytest.raises(UsageError, match="one each"):
        rb.disclosure_crosscheck(d)


@st.composite
def histories(draw):
    width = draw(st.integers(1, 3))
    person = st.tuples(
        st.tuples(*[st.integers(0, 2)] * width),
        st.lists(st.integers(0, 3), min_size=1, max_size=3),
    )
    return draw(st.lists(person, min_size=2, max_size=10))


@given(histories(), st.sampled_from([0.0, 0.25, 0.5]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_history_discloses_the_value_that_most_peers_share(people, q, empty):
    """NPP, least PPP and its subset, alternatives, leave-one-out and scenarios, by hand."""
    rows = [(i, *a, v) for i, (a, values) in enumerate(people) for v in values]
    names = ["a", "b", "c"][: len(people[0][0])]
    columns = dict(zip(["id", *names, "code"], zip(*rows, strict=True), strict=True))
    table = {name: list(column) for name, column in columns.items()}
    read = rb.read_table(table, quasi_identifiers=names, sensitive=["code"], subject_id="id")
    chance = dict.fromkeys(names, 0.25)
    d = rb.disclosure(read, "code", q=q, empty=empty, knowledge=chance, p=0.25)
    found = [(a, frozenset(v)) for a, v in people]
    every = range(len(names))
    domain = set().union(*(h for _, h in found))
    least, full = fractions(d.ppp_min_fraction), d.alternatives()
    left = [d.leave_one_out(r) for r in ("full", "weakest")] if len(names) > 1 else []
    for i, (_, own) in enumerate(found):
        assert Fraction(int(d.npp_full[i]), int(d.peers_full[i])) == 1 - share(found, i, every)
        options = [
            (1 - share(found, i, known), known) for known in by_hand.subsets(every, empty=empty)
        ]
        smallest = min(x for x, _ in options)
        assert least[i] == smallest
        first = next(known for x, known in options if x == smallest)
        assert d.weakest_subset[i] == tuple(names[c] for c in first)

        def above(known, i=i, own=own):
            shares = [Fraction(*contains(found, i, known, v)) for v in domain - own]
            return sum(x > Fraction(q) for x in shares)

        assert full[0][i] == above(every)
        assert full[1][i] == min(above(known) for known in by_hand.subsets(every, empty=empty))
        assert d.falsehoods[i] == len(domain - own)
        for v in range(len(names)) if left else ():
            rest = [c for c in every if c != v]
            assert Fraction(int(left[0].npp[v, i]), int(left[0].peers[v, i])) == 1 - share(
                found, i, rest
            )
            assert Fraction(int(left[1].npp[v, i]), int(left[1].peers[v, i])) == min(
                1 - share(found, i, known) for known in by_hand.subsets(rest, empty=empty)
            )
        mean = breach = Fraction(0)
        for known in by_hand.subsets(every, empty=True):
            weight = Fraction(1, 4) ** len(known) * Fraction(3, 4) ** (len(names) - len(known))
            ppp = 1 - share(found, i, known)
            mean, breach = mean + weight * ppp, breach + weight * (ppp <= Fraction(1, 4))
        assert d.expected_ppp[i] == pytest.approx(float(mean), abs=1e-12)
        assert d.breach_probability[i] == pytest.approx(float(breach), abs=1e-12)
        top = max(Fraction(*contains(found, i, every, v)) for v in domain)
        assert d.best_guess[i] == float(top)
    broken = d.breaks().set_index("subset")["broken"]
    for known in by_hand.subsets(every):
        assert broken[tuple(names[c] for c in known)] == sum(
            1 - share(found, i, known) <= Fraction(1, 4) for i in range(len(found))
        )


def test_one_value_per_person_written_in_several_records_is_one_value():
    """A history with a single value is the same question as a table with one row per person."""
    table = {"id": [1, 1, 2, 3], "sex": ["m", "m", "m", "f"], "code": ["a", "a", "b", "a"],
             "visit": [1, 2, 3, 4]}  # fmt: skip
    people = rb.read_table(
        table, quasi_identifiers=["sex"], sensitive=["code", "visit"], subject_id="id"
    )
    d = rb.disclosure(people, "code", known=["sex"])
    assert d.npp_full.tolist() == [1, 1, 0]
    visits = rb.disclosure(people, "visit", known=["sex", "code"])
    assert visits.npp_full.tolist() == [0, 0, 0]  # alone on sex and code


# A missing secret


@given(st.integers(0, 10**6), st.sampled_from(["value", "matches-anything"]))
@settings(max_examples=25, deadline=None)
def test_a_missing_secret_protects_nobody(seed, policy):
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 3, (20, 3)).tolist()
    gone = set(generator.choice(20, 6, replace=False).tolist())
    table = {
        "age": [row[0] for row in codes],
        "job": [row[1] for row in codes],
        "sick": [None if i in gone else row[2] for i, row in enumerate(codes)],
    }
    people = rb.read_table(
        table, quasi_identifiers=["age", "job"], sensitive=["sick"], missing=policy
    )
    d = rb.disclosure(people, "sick", knowledge={"age": np.linspace(0, 1, 20)})
    there = [i for i in range(20) if i not in gone]
    kept = [codes[i] for i in there]
    assert d.subjects.index.tolist() == there
    assert any("6 people whose sick is missing" in note for note in d.notes)
    for place, i in enumerate(there):
        assert (d.npp_full[place], d.peers_full[place]) == by_hand.npp_and_peers(
            kept, place, 2, [0, 1]
        )
        assert fractions(d.ppp_min_fraction)[place] == by_hand.weakest(kept, place, 2, [0, 1])[0]
        alone, baseline = (float(by_hand.ppp(kept, place, 2, known)) for known in ([0], []))
        chance = i / 19
        assert d.expected_ppp[place] == pytest.approx(
            chance * alone + (1 - chance) * baseline, abs=1e-12
        )
    every = rb.disclosure_all(people)["sick"]
    assert np.array_equal(every.ppp_min_fraction, d.ppp_min_fraction)
    assert len(rb.disclosure(people, "sick", if_missing="value")) == 20
    assert rb.smoothed_disclosure(people, "sick").ppp_full.size == 14


def test_a_neighbour_without_a_diagnosis_is_no_plausible_other_diagnosis():
    table = {"age": [30, 30, 30, 40], "sick": ["flu", "flu", None, None]}
    people = rb.read_table(table, quasi_identifiers=["age"], sensitive=["sick"])
    assert rb.disclosure(people, "sick").npp_full.tolist() == [0, 0]
    with pytest.raises(UsageError, match="missing, or not a named value"):
        rb.disclosure(people, "sick", individuals=[0, 2])
    with pytest.raises(UsageError, match="2 people to ask about"):
        rb.disclosure(people, "sick", individuals=3)
    best = rb.best_generalisation(people, "age", "sick", smallest=1)
    assert best.table["share"].tolist() == [0.0]  # of the two people with a secret
    with pytest.raises(UsageError, match="every value"):
        rb.disclosure(people.take([2, 3]), "sick")


def test_a_history_without_any_value_is_a_missing_secret():
    table = {"id": [1, 1, 2, 3, 3], "sex": ["m"] * 5, "code": ["a", None, None, "a", "b"]}
    people = rb.read_table(table, quasi_identifiers=["sex"], sensitive=["code"], subject_id="id")
    d = rb.disclosure(people, "code")
    assert d.subjects.index.tolist() == [1, 3]
    assert d.npp_full.tolist() == [0, 0]
    assert d.peers_full.tolist() == [2, 2]


# The best guesser, and what the own record adds


def modes(rows):
    counts = {v: rows.count(v) for v in rows}
    return [v for v in counts if counts[v] == max(counts.values())]


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_the_best_guesser_and_the_own_record_as_by_hand(seed):
    generator = np.random.default_rng(seed)
    table = [tuple(row) for row in generator.integers(0, 3, (14, 3)).tolist()]
    d = rb.disclosure(People.from_codes(np.array(table), ["a", "b", "sick"]), "sick")
    everybody = [row[2] for row in table]
    assert d.best_guess_prior == everybody.count(modes(everybody)[0]) / 14
    for i, row in enumerate(table):
        alike = [other[2] for other in by_hand.peers(table, i, [0, 1])]
        assert d.best_guess[i] == alike.count(modes(alike)[0]) / len(alike)
        others = list(alike)
        others.remove(row[2])
        if not others:
            others = [other[2] for j, other in enumerate(table) if j != i]
        top = modes(others)
        assert d.best_guess_without_own[i] == pytest.approx((row[2] in top) / len(top), abs=1e-15)
        wrong = Fraction(sum(v != row[2] for v in others), len(others))
        assert d.ppp_without_own[i] == pytest.approx(float(wrong), abs=1e-15)
        assert d.sure_without_own[i] == (len(alike) > 1 and set(alike) == {row[2]})
        lift = Fraction(alike.count(row[2]), len(alike)) / Fraction(everybody.count(row[2]), 14)
        assert d.lift[i] == pytest.approx(float(lift), abs=1e-12)
    by = d.by_value()
    assert by["people"].sum() == 14
    assert by["sure"].sum() == d.sure.sum()
    assert by["upward"].sum() == d.upward().sum()
    for value, line in by.iterrows():
        own = [i for i in range(14) if table[i][2] == value]
        assert line["sure"] == d.sure[own].sum()
        assert line["sure_without_own"] == d.sure_without_own[own].sum()
        assert line["posterior"] == pytest.approx((1 - d.ppp_full[own]).mean(), abs=1e-12)


def test_the_best_guesser_is_right_more_often_than_a_drawn_guess():
    """Adult with all eight auxiliaries: 0.9093 for a drawn guess, 0.9272 for the best one."""
    generator = np.random.default_rng(3)
    people = People.from_codes(generator.integers(0, 4, (300, 4)))
    for d in rb.disclosure_all(people).values():
        assert (d.best_guess >= 1 - d.ppp_full - 1e-15).all()
        assert d.best_guess.mean() >= d.best_guess_prior


def test_adult_and_cervical_as_measured_outside(real_data):
    names = [
        "gender",
        "age",
        "race",
        "marital_status",
        "education",
        "native_country",
        "work_class",
        "salary",
        "occupation",
    ]
    adult = rb.read_table(real_data / "kroes" / "adult.csv.gz", quasi_identifiers=names)
    d = rb.disclosure(adult, "salary")
    assert round(float((1 - d.ppp_full).mean()), 4) == 0.9093
    assert round(float(d.best_guess.mean()), 4) == 0.9272
    names = ["num_pregnancies", "smokes", "age", "biopsy"]
    cervical = rb.read_table(real_data / "kroes" / "cervical.csv.gz", quasi_identifiers=names)
    d = rb.disclosure(cervical, "biopsy")
    by = d.by_value()
    assert (d.sure.sum(), by.loc[0, "sure"], by.loc[1, "sure"]) == (566, 550, 16)
    assert round(by.loc[0, "prior"], 2) == 0.94
    positive = rb.disclosure(cervical, "biopsy", sensitive_values=[1])
    assert len(positive) == by.loc[1, "people"]
    assert positive.sure.sum() == 16


def test_a_near_guess_is_best_where_most_values_lie_near():
    codes = [[0, v] for v in (0, 0, 0, 3, 4, 5, 5)]
    d = rb.disclosure(People.from_codes(codes, ["age", "sick"]), "sick", within=1)
    assert d.best_guess.tolist() == [4 / 7] * 7  # guess 4: near 3, 4, 5, 5
    with pytest.raises(UsageError, match="within="):
        _ = d.best_guess_without_own


# Named values, samples, chosen people


def test_only_people_with_a_sensitive_value_are_asked_about_among_the_peers_of_all(small):
    everybody = rb.disclosure(small, "sick")
    some = rb.disclosure(small, "sick", sensitive_values=[1])
    assert np.array_equal(some.ppp_min, everybody.ppp_min[[1, 2]])
    assert some.subjects.index.tolist() == [1, 2]
    with pytest.raises(UsageError, match="value that does not occur") as refused:
        rb.disclosure(small, "sick", sensitive_values=["Avonlea"])
    assert "Avonlea" not in str(refused.value)


def test_hand_picked_people_are_not_called_a_random_sample(small):
    from reidbn.report import verdict

    picked, drawn = (rb.disclosure(small, "sick", individuals=x) for x in ([0, 1], 2))
    assert not any("random" in line for line in (*verdict(picked), *picked.notes))
    assert any("chosen" in line for line in verdict(picked))
    with pytest.raises(UsageError, match="not drawn at random"):
        picked.interval("upward")
    assert any("drawn at random" in line for line in verdict(drawn))
    low, high = drawn.interval("upward")
    assert 0 <= low <= high <= 1
    from_all = rb.disclosure_all(small, individuals=2)
    assert from_all["sick"].drawn_from == 4


def test_asking_about_a_few_of_many_gives_what_asking_about_all_gives():
    """The walk that drops everybody else's classes, on equality and every reading."""
    generator = np.random.default_rng(21)
    codes = np.stack([generator.integers(0, size, 900) for size in (7, 5, 4, 3, 3)], axis=1)
    sizes, rows = (7, 5, 4, 3, 3), np.array([4, 90, 90, 501, 899])
    for memory in (10**7, 2000):
        options = {"known": (0, 1, 2, 3, 4), "secrets": (2, 4), "memory": memory}
        every = Partitioned(codes.astype(np.int32), sizes, **options)
        some = Partitioned(codes.astype(np.int32), sizes, rows=rows, **options)
        assert some._asked is not None
        for secret in (2, 4):
            share_of_all, mask = every.weakest(secret)
            share_of_some, own = some.weakest(secret)
            assert np.array_equal(np.array(share_of_all)[:, rows], share_of_some)
            assert np.array_equal(mask[rows], own)
            for column in (0, 3):
                one, two = (x.without(secret, column, all_others=False) for x in (every, some))
                assert fractions([part[rows] for part in one]) == fractions(two)
            chances = generator.dirichlet(np.ones(32), size=1)
            chances[:, [m for m in range(32) if m >> secret & 1]] = 0
            for profile in (None, np.zeros(900, dtype=np.int64)):
                one, two = (x.expected(secret, chances, profile, 0.2) for x in (every, some))
                assert np.allclose(np.array(one)[:, rows], two, atol=1e-12, rtol=0)
            apart = np.arange(900) % 2
            two_profiles = np.concatenate([chances, chances[:, ::-1] * 0 + chances])
            one, two = (x.expected(secret, two_profiles, apart, 0.2) for x in (every, some))
            assert np.allclose(np.array(one)[:, rows], two, atol=1e-12, rtol=0)
            told = np.zeros(32)
            for i in rows:
                for m in range(32):
                    if not m >> secret & 1:
                        alike, same = every.at(secret, [j for j in range(5) if m >> j & 1])
                        told[m] += (alike[i] - same[i]) / alike[i] <= 0.3
            assert np.array_equal(some.broken(secret, 0.3)[1:], told[1:])


def test_at_p_0_the_verdict_needs_full_knowledge_only(monkeypatch):
    people = People.from_codes(np.random.default_rng(4).integers(0, 3, (200, 5)))
    told = rb.disclosure(people, "x4").ppp_min > 0

    def refuse(*args, **kwargs):
        raise AssertionError("walked over all subsets")

    monkeypatch.setattr(inside(Partitioned), "tally", refuse)
    assert np.array_equal(rb.disclosure(people, "x4").upward(), told)
    assert rb.disclosure(people, "x4").share_upward() == told.mean()


@pytest.mark.slow
def test_a_random_sample_of_a_large_table_is_cheaper_than_all():
    from time import process_time

    generator = np.random.default_rng(5)
    sizes = (60, 12, 9, 5, 4, 3, 2, 6)
    people = People.from_codes(
        np.stack([(s * generator.random(400_000) ** 2).astype(int) for s in sizes], axis=1)
    )
    taken = []
    for individuals in (None, 500):
        start = process_time()
        _ = rb.disclosure(people, "x7", individuals=individuals).ppp_min
        taken.append(process_time() - start)
    assert taken[1] < taken[0] / 2


# Thresholds by name


def test_thresholds_have_names_and_those_of_other_measures_are_refused(small):
    assert rb.disclosure(small, "sick", p="nearly-certain").p == 0.05
    assert rb.disclosure(small, "sick", p="20 %").p == 0.2
    with pytest.raises(UsageError, match="singling out"):
        rb.disclosure(small, "sick", p="ema")
    with pytest.raises(UsageError, match="joint"):
        rb.disclosure(small, "sick", q="half")
