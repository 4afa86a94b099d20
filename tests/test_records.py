"""The record network: the papers' small tables, and counting, as ordinary queries on one graph."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from tables import KANON_PEOPLE, as_columns, coded

import reidbn as rb
from reidbn.attacks import MOST_RECORDS, Near, Noisy, record_network
from reidbn.cpds import NearCopy, NoisyCopy, OneOf, Variable
from reidbn.errors import DataError, ImpossibleEvidence, ModelError, TooLarge, UsageError
from reidbn.inference import lower, sampling
from reidbn.microdata import People

KANON = as_columns(KANON_PEOPLE, ("birth", "gender", "disease"))
YEAR = {birth: f"*/{birth[-4:]}" for birth in KANON["birth"]}

# [Kroes21] Table 1: diagnosis, gender, age, and the two ways in which it groups the ages.
KROES = {
    "diagnosis": ["Cancer", "Cancer", "Cancer", "Arthrosis", "Diabetes"],
    "gender": ["Female", "Male", "Female", "Male", "Female"],
    "age": [50, 40, 35, 64, 49],
}
OPTION_1 = {50: "50-54", 40: "40-44", 35: "35-39", 64: "60-64", 49: "45-49"}
OPTION_2 = {50: "45-54", 40: "35-44", 35: "35-44", 64: "55-64", 49: "45-54"}


def exactly(p, n):
    """The fraction with a denominator up to n that a query's answer stands for."""
    found = Fraction(p).limit_denominator(n)
    assert abs(float(found) - p) < 1e-12
    return found


def grouped(table, column, groups):
    return {**table, column: [groups[v] for v in table[column]]}


# -- the k-anonymity course ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "k", "sizes"),
    [
        (["birth", "gender"], 1, [1] * 6),
        ({"birth": YEAR}, 2, [4, 4, 2, 2, 4, 4]),
        (["gender"], 3, [3, 3, 3, 3, 3, 3]),
    ],
)
def test_the_courses_three_tables_are_one_network_seen_in_three_ways(seen, k, sizes):
    """[KAnonCourse] Tables 2, 3 and 4: the attacker's eyes are coarsened, not the table."""
    net = record_network(KANON, seen=seen, secret=["disease"])
    guesses = [exactly(net.match(i), 6) for i in range(6)]
    assert guesses == [Fraction(1, size) for size in sizes]
    assert max(guesses) == Fraction(1, k)


def test_k_is_the_smallest_class_of_what_was_released():
    released = grouped(KANON, "birth", YEAR)
    net = record_network(
        {"birth": released["birth"], "disease": KANON["disease"]}, secret=["disease"]
    )
    assert net.class_sizes().tolist() == [4, 4, 2, 2, 4, 4]
    assert (net.k(), net.uniques) == (2, 0)
    assert record_network(KANON, secret=["disease"]).k() == 1


# -- Kroes et al. -------------------------------------------------------------------------------


def test_table_1_of_kroes_as_queries():
    """Example 3: PPP .5; with option 2, row 1: 1/2 with gender and age, 1/3 with gender alone."""
    net = record_network(grouped(KROES, "age", OPTION_2), secret=["diagnosis"])
    assert exactly(net.ppp(0, ["gender", "age"], "diagnosis"), 5) == Fraction(1, 2)
    assert exactly(net.ppp(0, ["gender"], "diagnosis"), 5) == Fraction(1, 3)
    assert net.ppp(0, ["age"], "diagnosis") == 0.5
    full = record_network(grouped(KROES, "age", OPTION_1), secret=["diagnosis"])
    assert [full.ppp(i, ["gender", "age"], "diagnosis") for i in range(5)] == [0.0] * 5
    assert {d: exactly(p, 5) for d, p in net.prior("diagnosis").items()} == {
        "Cancer": Fraction(3, 5), "Arthrosis": Fraction(1, 5), "Diabetes": Fraction(1, 5),
    }  # fmt: skip


def test_any_column_can_be_the_secret_one():
    net = record_network(grouped(KROES, "age", OPTION_2))
    assert net.ppp(2, ["diagnosis", "age"], "gender") == 0.5
    assert net.ppp(2, ["gender", "age"], "diagnosis") == 0.0
    assert exactly(net.pp(2, ["gender", "diagnosis"], "age", "45-54"), 5) == Fraction(1, 2)


# -- equal to counting --------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(table=coded(most_rows=14, most_columns=3, most_values=3), data=st.data())
def test_class_sizes_and_guesses_equal_counting_rows(table, data):
    people = People.from_codes(table)
    net = record_network(people)
    known = data.draw(st.sets(st.sampled_from(people.columns)))
    known = [c for c in people.columns if c in known]
    assert net.class_sizes(known).tolist() == people.class_sizes(known).tolist()
    for i, size in enumerate(people.class_sizes(known).tolist()):
        assert exactly(net.match(i, known), len(people)) == Fraction(1, size)


@settings(max_examples=60, deadline=None)
@given(table=coded(most_rows=14, most_columns=4, most_values=3), data=st.data())
def test_deniability_equals_counting_rows(table, data):
    """PPP = NPP / #{a}, PP_v = #{v, a} / #{a}, in rationals from the definition [Kroes21]."""
    rows = [tuple(r) for r in table.tolist()]
    names = [f"x{j}" for j in range(table.shape[1])]
    secret = data.draw(st.integers(0, len(names) - 1))
    known = data.draw(
        st.sets(st.sampled_from([j for j in range(len(names)) if j != secret] or [-1]))
    )
    known -= {-1}
    net = record_network(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    for i, row in enumerate(rows):
        alike = [r for r in rows if all(r[j] == row[j] for j in known)]
        true = Fraction(sum(r[secret] == row[secret] for r in alike), len(alike))
        asked = [names[j] for j in sorted(known)]
        assert exactly(net.ppp(i, asked, names[secret]), len(rows)) == 1 - true
        other = rows[(i + 1) % len(rows)][secret]
        pp = Fraction(sum(r[secret] == other for r in alike), len(alike))
        assert exactly(net.pp(i, asked, names[secret], other), len(rows)) == pp


@pytest.mark.parametrize("seed", range(6))
def test_missing_values_that_match_anything_count_as_the_table_counts_them(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {c: [None if rng.random() < 0.25 else f"v{rng.integers(3)}" for _ in range(12)]
         for c in ("a", "b", "c")}
    )  # fmt: skip
    people = rb.read_table(frame, quasi_identifiers=["a", "b", "c"], missing="matches-anything")
    net = record_network(people)
    assert not people.is_partition
    for known in (["a"], ["a", "b"], ["a", "b", "c"]):
        assert net.class_sizes(known).tolist() == people.class_sizes(known).tolist()
        sizes = people.class_sizes(known)
        assert [net.match(i, known) for i in range(12)] == pytest.approx(1 / sizes, rel=1e-12)


@pytest.mark.parametrize("engine", ["pgmpy", "enumeration", "exact"])
def test_every_engine_answers_and_pgmpy_holds_the_whole_network(engine):
    net = record_network(KANON, seen={"birth": YEAR, "gender": "equal"}, secret=["disease"],
                         engine=engine)  # fmt: skip
    if engine == "enumeration":
        net = record_network({"gender": KANON["gender"]}, engine=engine)
        assert net.class_size(0) == 3
        assert net.posterior({"gender": "F"}) == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 0, 0])
        return
    assert [net.class_size(i, ["gender"]) for i in range(6)] == [3] * 6
    assert net.posterior({"birth": "*/1960", "gender": "F"}) == pytest.approx(
        [0, 0, 0.5, 0.5, 0, 0], abs=1e-15
    )
    assert net.ppp(0, ["gender"], "disease") == pytest.approx(2 / 3, abs=1e-15)
    model = net.to_pgmpy()
    assert model.check_model()
    assert len(model.get_cpds("record").values) == 6


def test_a_few_hundred_records_are_answered_by_pgmpy_too():
    rng = np.random.default_rng(20250301)
    codes = rng.integers(0, (3, 4, 6), size=(200, 3))
    people = People.from_codes(codes)
    counted = people.class_sizes()
    exact = record_network(people)
    theirs = record_network(people, engine="pgmpy")
    for i in (0, 57, 199):
        assert exact.class_size(i) == theirs.class_size(i) == counted[i]


# -- linkage ------------------------------------------------------------------------------------


def test_a_noisy_copy_makes_the_posterior_a_linkage_score_by_bayes_by_hand():
    table = {"zip": ["a", "a", "b", "c"], "age": [30, 31, 35, 50]}
    net = record_network(table, seen={"zip": Noisy(0.8), "age": Near(2)})
    zips = [0.8 if z == "a" else 0.1 for z in table["zip"]]
    near = {30: [30, 31], 31: [30, 31], 35: [35], 50: [50]}
    ages = [(31 in near[a]) / len(near[a]) for a in table["age"]]
    score = np.array(zips) * ages
    assert net.posterior({"zip": "a", "age": 31}) == pytest.approx(score / score.sum(), abs=1e-15)
    with pytest.raises(ImpossibleEvidence):
        net.posterior({"age": 35, "zip": {"b": 0.0}})
    assert net.attack.parameters["same_zip"].is_assumption


def test_presence_only_is_a_generalisation():
    table = {"code": ["I10", None, "E11", None]}
    net = record_network(table, seen={"code": lambda v: "some" if v != "(missing)" else "none"})
    assert net.posterior({"code": "some"}).tolist() == [0.5, 0, 0.5, 0]


def test_a_set_of_values_and_likelihoods_are_soft_evidence():
    net = record_network({"age": [30, 31, 35, 50]})
    assert net.posterior({"age": {30, 31}}).tolist() == [0.5, 0.5, 0, 0]
    assert net.posterior({"age": {30: 0.5, 35: 1.0}}) == pytest.approx([1 / 3, 0, 2 / 3, 0])


def test_what_is_not_seen_tells_nothing():
    net = record_network(
        {"age": [30, 30, 41], "zip": ["a", "b", "c"]}, seen={"age": "equal", "zip": None}
    )
    assert net.match(0) == 0.5
    with pytest.raises(UsageError, match="the attacker does not see zip"):
        net.posterior({"zip": "a"})


# -- uncertain membership -----------------------------------------------------------------------


@pytest.mark.parametrize("population", [4, 5, 40, 1000])
def test_membership_that_is_uncertain_gives_one_over_f_plus_the_outsiders(population):
    """P(record | seen) = 1 / (f + (N - n) q_c)."""
    table = {"age": [30, 30, 41, 41], "sex": ["f", "f", "f", "m"]}
    shares = {(30, "f"): 0.5, (41, "f"): 0.125, (41, "m"): 0.0, (50, "m"): 0.25}
    net = record_network(table, population=population, others=shares)
    for i, (f, q) in enumerate([(2, 0.5), (2, 0.5), (1, 0.125), (1, 0.0)]):
        wanted = 1 / (f + (population - 4) * q)
        assert net.match(i) == pytest.approx(wanted, rel=1e-13)
        assert net.class_size(i) == f
    if population > 4:
        outside = net.posterior({"age": 50, "sex": "m"})
        assert outside[:4].tolist() == [0, 0, 0, 0]
        assert outside[-1] == 1


def test_without_shares_the_others_are_like_the_table():
    net = record_network({"age": [30, 30, 41, 50]}, population=400)
    assert [net.match(i) for i in range(4)] == pytest.approx([1 / 200, 1 / 200, 1 / 100, 1 / 100])


def test_a_posterior_is_at_most_the_mean_of_one_over_the_population_class():
    """Jensen: 1 / E[F | f] <= E[1/F | f] where the others fall in the class independently."""
    population, n, f, q = 60, 4, 2, 0.3
    net = record_network({"age": [30, 30, 41, 50]}, population=population, others={(30,): q})
    extra = np.arange(population - n + 1)
    journalist = float((binom.pmf(extra, population - n, q) / (f + extra)).sum())
    assert net.match(0) == pytest.approx(1 / (f + (population - n) * q), rel=1e-13)
    assert net.match(0) < journalist


def test_the_population_is_a_parameter_that_can_be_varied():
    net = record_network({"age": [30, 41]}, population=10, others={(30,): 1.0})
    swept = [float(rb.ask(net.attack, "record=0", given={"sees_age": "30"}, set={"population": n}))
             for n in (2, 10, 100)]  # fmt: skip
    assert swept == pytest.approx([1, 1 / 9, 1 / 99], rel=1e-13)


def test_a_secret_of_someone_else_is_unknown():
    net = record_network({"age": [30, 30], "ill": ["yes", "no"]}, secret=["ill"], population=4)
    assert net.pp(0, ["age"], "ill", "yes") == pytest.approx(0.25)
    assert float(rb.ask(net.attack, "ill=unknown", given={"age": "30"})) == pytest.approx(0.5)


# -- names, tables, limits ----------------------------------------------------------------------


def test_awkward_columns_and_values_are_asked_by_their_own_names():
    table = pd.DataFrame(
        {"ZIP code": ["94152", "94143"], "record": ["<=50K", ">50K"], "x=y": [1, 1]}
    )
    net = record_network(table)
    assert list(net.attack.nodes)[:4] == ["record", "ZIP_code", "record_2", "x_y"]
    assert net.posterior({"record": "<=50K"}).tolist() == [1, 0]
    assert net.posterior({"ZIP code": 94143}).tolist() == [0, 1]
    assert net.class_size(0, ["x=y"]) == 2


def test_the_network_is_an_attack_like_any_other(tmp_path):
    net = record_network(KROES, seen={"age": Near(5), "gender": Noisy(0.9)}, secret=["diagnosis"])
    again = rb.loads(rb.dumps(net.attack))
    assert again == net.attack
    network = lower(net.attack)
    states = sampling.forward(network, 200_000, np.random.default_rng(3))
    hits = sampling.matching(network, states, {"sees_gender": "Female", "diagnosis": "Cancer"})
    p = float(rb.ask(net.attack, "sees_gender=Female, diagnosis=Cancer"))
    assert abs(hits.sum() - 200_000 * p) < 6 * np.sqrt(200_000 * p * (1 - p))
    rb.export(net.attack, tmp_path / "records.bif")
    assert rb.import_network(tmp_path / "records.bif").nodes["record"].states == tuple("01234")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: record_network({}), DataError, "the table is empty"),
        (lambda: record_network({"a": []}), DataError, "the table is empty"),
        (lambda: record_network({"a": [1], "b": [1, 2]}), DataError, "different lengths"),
        (lambda: record_network({"a": [1]}, secret=["b"]), UsageError, 'no column "b"'),
        (lambda: record_network({"age": [1]}, seen=["agee"]), UsageError, 'did you mean "age"'),
        (lambda: record_network({"a": [1]}, seen={"a": 3}), UsageError, "use 'equal', None"),
        (lambda: record_network({"a": [1]}, seen={"a": np.arange(3)}), UsageError, "a ndarray"),
        (lambda: record_network({"a": [[1], [2]]}), DataError, "hold a list or an array"),
        (lambda: record_network({"a": [np.zeros(2), 1]}), DataError, "hold a list or an array"),
        (lambda: record_network({"a": [1, 2]}, seen={"a": {1: "x"}}), UsageError,
         "says nothing about 1 of its values"),
        (lambda: record_network({"a": list(range(MOST_RECORDS + 1))}), TooLarge, "up to 500"),
        (lambda: record_network({"a": [1]}, others={(1,): 1}), UsageError, "give population"),
        (lambda: record_network({"a": [1, 1]}, population=1), UsageError,
         "cannot hold a table of 2"),
        (lambda: record_network({"a": [1]}, population=3, others={(1, 2): 1}), DataError,
         "a class has 2 values for a"),
        (lambda: record_network({"a": [1]}, population=3, others={(1,): 0.7, (2,): 0.4}), DataError,
         "sum to 1.1"),
        (lambda: record_network({"a": [1]}, population=3, others={1: -0.5}), DataError,
         "a share of -0.5"),
        (lambda: record_network({"a": [1]}, population=3, secret=["a"]), UsageError,
         "every column is secret"),
        (lambda: record_network({"a": ["x", "y"]}, seen={"a": Near(1)}), ModelError,
         "needs states that are numbers"),
        (lambda: record_network({"a": [1]}).class_size(1), UsageError, "numbered 0 to 0"),
        (lambda: record_network({"a": [1]}).posterior({"a": 7}), UsageError,
         "nobody has that value of a"),
        (lambda: record_network({"a": [1]}).ppp(0, ["a"], "a"), UsageError, "known and secret"),
        (lambda: record_network({"a": [1]}).class_size(0, ["b"]), UsageError, 'no column "b"'),
    ],
)  # fmt: skip
def test_bad_calls_get_a_clear_word(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_error_never_prints_a_persons_value():
    with pytest.raises(UsageError) as problem:
        record_network({"a": ["secret-value", "other"]}, seen={"a": {"other": "x"}})
    assert "secret-value" not in str(problem.value)
    with pytest.raises(UsageError) as problem:
        record_network({"a": ["secret-value", "other"]}).posterior({"a": "secret-valeu"})
    assert "secret-value" not in str(problem.value)


# -- the kinds of CPD of this page -----------------------------------------------------------------


def test_one_of_n_by_hand_and_acted_out():
    table = OneOf("$n").to_pgmpy("r", ["0", "1", "else"], parameters={"n": 10}).get_values()[:, 0]
    assert table.tolist() == [0.1, 0.1, 0.8]
    assert OneOf(3).to_pgmpy("r", ["0", "1", "2"]).get_values()[:, 0] == pytest.approx([1 / 3] * 3)
    with pytest.raises(ModelError, match="one of 1, but 2 are named"):
        OneOf(1).to_pgmpy("r", ["0", "1", "else"])


def test_copies_by_hand():
    states = ["1", "2", "4"]
    noisy = NoisyCopy(0.5).to_pgmpy("s", states, {"a": states}).get_values()
    assert noisy.tolist() == [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    near = NearCopy(1).to_pgmpy("s", states, {"a": states}).get_values()
    assert near.tolist() == [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]
    single = NoisyCopy(0.5).to_pgmpy("s", ["1"], {"a": ["1"]}).get_values()
    assert single.tolist() == [[1.0]]


def test_copies_are_acted_out_as_their_tables_say():
    net = record_network({"a": ["x", "y", "z", "z"]}, seen={"a": Noisy(0.7)})
    network = lower(net.attack)
    rng = np.random.default_rng(20250302)
    rows = 300_000
    states = sampling.forward(network, rows, rng)
    for state, name in enumerate(network.states["sees_a"]):
        p = float(rb.ask(net.attack, f"sees_a={name}"))
        seen = int((states["sees_a"] == state).sum())
        assert abs(seen - rows * p) < 6 * np.sqrt(rows * p * (1 - p))
    single = record_network({"a": ["x", "x"]}, seen={"a": Noisy(0.7)})
    assert set(sampling.forward(lower(single.attack), 50, rng)["sees_a"].tolist()) == {0}
    outside = record_network({"a": ["x", "x"]}, population=8)
    record = sampling.forward(lower(outside.attack), rows, rng)["record"]
    assert np.bincount(record) / rows == pytest.approx([1 / 8, 1 / 8, 6 / 8], abs=0.005)


def test_what_is_wrong_with_a_copy_is_said_with_its_address():
    two, three = Variable("s", ("1", "2")), Variable("a", ("1", "2", "3"))
    assert "exactly one parent" in str(NoisyCopy(0.5).problems(two, ())[0])
    assert "same states as its parent a" in str(NoisyCopy(0.5).problems(two, (three,))[0])
    assert "not a probability" in str(NoisyCopy(1.5).problems(two, (two,))[0])
    assert "no distance" in str(NearCopy(-1).problems(two, (two,))[0])
