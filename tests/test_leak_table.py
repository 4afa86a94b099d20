"""The homogeneity attack and partial histories on a table, and all of it from the shell.

Oracle: every leak of a small table written down, in rationals.
"""

import json
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.cli import main

SECRETS = ["yes", "yes", "no", "no", "no", "yes", None]
TABLE = pd.DataFrame({"age": [30, 30, 30, 40, 40, 50, 50], "flu": SECRETS})


def people(frame=TABLE, **options):
    return rb.read_table(frame, quasi_identifiers=["age"], sensitive=["flu"], **options)


def told(L):
    """Disclosed, believed, identified, either for each person, over every leak.

    Who has no secret counts as sharing the target's; somebody has to show one to be believed.
    """
    ages, secrets, D = TABLE["age"].tolist(), SECRETS, len(SECRETS)
    out = []
    for target in range(D):
        sums = [Fraction(0)] * 4
        for leak in combinations(range(D), L):
            shown = [i for i in leak if ages[i] == ages[target]]
            same = all(secrets[i] in (secrets[target], None) for i in shown)
            inside = target in shown and same
            believed = same and any(secrets[i] is not None for i in shown)
            picked = Fraction(1, len(shown)) if target in shown else Fraction(0)
            either = picked + (1 - picked) * inside
            for j, value in enumerate((inside, believed, picked, either)):
                sums[j] += Fraction(value)
        out.append([s / comb(D, L) for s in sums])
    return out


@pytest.mark.parametrize("L", [0, 1, 3, 6, 7])
def test_what_a_leak_tells_of_each_persons_secret_is_that_of_every_leak(L):
    found = rb.leak.homogeneity_risks(people(), leaked=L, sensitive="flu")
    for i, wanted in enumerate(told(L)):
        disclosed, believed, identified, either = (float(x) for x in wanted)
        if SECRETS[i] is None:  # no secret, nothing to disclose
            disclosed, believed, either = 0.0, 0.0, identified
        assert found.disclosed[i] == pytest.approx(disclosed, abs=1e-14)
        assert found.believed[i] == pytest.approx(believed, abs=1e-14)
        assert found.identified[i] == pytest.approx(identified, abs=1e-14)
        assert found.either[i] == pytest.approx(either, abs=1e-14)


def test_a_missing_secret_does_not_protect_its_neighbours():
    """In the class of 50 the only other person has no known secret: disclosed when leaked."""
    found = rb.leak.homogeneity_risks(people(), leaked=3, sensitive="flu")
    assert found.disclosed[5] == pytest.approx(3 / 7)
    assert found.disclosed[6] == 0


def test_nor_does_one_that_is_suppressed():
    told = [
        rb.leak.homogeneity_risks(
            rb.read_table({"age": [1, 1, 1, 2, 2, 2], "flu": ["y", gap, gap, "y", "n", "y"]},
                          quasi_identifiers=["age"], sensitive=["flu"]),
            leaked=3, sensitive="flu",
        )
        for gap in (None, "*")
    ]  # fmt: skip
    assert told[0].disclosed[0] == pytest.approx(0.5)  # who leaks is told by what leaks of them
    for name in ("disclosed", "believed", "identified", "either"):
        assert np.array_equal(getattr(told[0], name), getattr(told[1], name))


def test_a_prior_of_the_leak_is_a_mean_over_it():
    one, other = (
        rb.leak.homogeneity_risks(people(), leaked=L, sensitive="flu").either for L in (2, 5)
    )
    found = rb.leak.homogeneity_risks(people(), leaked={2: 0.25, 5: 0.75}, sensitive="flu").either
    assert found == pytest.approx(0.25 * one + 0.75 * other, abs=1e-15)


def test_secrets_that_cannot_be_asked_about_are_refused():
    with pytest.raises(rb.UsageError, match='no sensitive column "age"; '):
        rb.leak.homogeneity_risks(people(), leaked=2, sensitive="age")
    several = pd.DataFrame({"id": [1, 1, 2], "age": [30, 30, 30], "flu": ["a", "b", "a"]})
    changing = people(several, subject_id="id")
    with pytest.raises(rb.DataError, match="each of several values is a secret of its own"):
        rb.leak.homogeneity_risks(changing, leaked=1, sensitive="flu")


VISITS = pd.DataFrame({
    "id": ["a", "a", "b", "c", "c", "c", "d", "e", "e"],
    "age": [30, 30, 30, 30, 30, 30, 40, 40, 40],
    "flu": ["yes"] * 9,
})  # fmt: skip


def partly(L, seen):
    """Each person's risk over every leak and every subset of persons who are seen."""
    lengths, ages, D = [2, 1, 3, 1, 2], [30, 30, 30, 40, 40], 5
    q, out = Fraction(seen), [Fraction(0)] * 5
    for leak in combinations(range(D), L):
        for showing in product((False, True), repeat=L):
            p = Fraction(1, comb(D, L))
            for i, is_seen in zip(leak, showing, strict=True):
                none = (1 - q) ** lengths[i]
                p *= 1 - none if is_seen else none
            shown = [i for i, is_seen in zip(leak, showing, strict=True) if is_seen]
            for i in shown:
                out[i] += p / sum(ages[j] == ages[i] for j in shown)
    return [float(x) for x in out]


@pytest.mark.parametrize("L", [0, 1, 3, 5])
@pytest.mark.parametrize("seen", [0.0, 0.25, 1.0])
def test_partial_histories_of_a_table_are_those_of_every_leak(L, seen):
    visits = people(VISITS, subject_id="id")
    found = rb.leak.history_risks(visits, leaked=L, seen=seen)
    assert found == pytest.approx(partly(L, seen), abs=1e-14)


def test_members_who_are_all_alike_need_no_limit_on_their_class():
    same = rb.leak.partial_histories(records=50, leaked=20, histories=[2] * 6, seen=0.3)
    assert len(set(same.tolist())) == 1
    w = 1 - 0.7**2
    exact = sum(
        comb(5, j) * comb(44, 19 - j) / comb(49, 19) * (1 - (1 - w) ** (j + 1)) / (j + 1)
        for j in range(6)
    )
    assert same[0] == pytest.approx(20 / 50 * exact, abs=1e-14)
    many = rb.leak.partial_histories(records=5000, leaked=900, histories=[1] * 1000, seen=0.5)
    assert many[0] == pytest.approx(1 / 1000, rel=1e-9)  # somebody is seen for certain, nearly
    with pytest.raises(rb.TooLarge, match="histories of several lengths"):
        rb.leak.partial_histories(records=5000, leaked=9, histories=[1, 2] * 500, seen=0.5)


# -- from the shell ------------------------------------------------------------------------------


@pytest.fixture
def run(capsys):
    """(exit code, standard output, standard error) of a command."""

    def command(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["leak", *[str(a) for a in arguments]])
        shown = capsys.readouterr()
        return ended.value.code, shown.out, shown.err

    return command


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    TABLE.to_csv(path, index=False)
    return path


def test_the_homogeneity_attack_on_a_table_from_the_shell(run, file):
    asked = (file, "--qi", "age", "--sensitive", "flu", "--leaked", "2,3", "--homogeneity")
    rows = json.loads(run(*asked, "--json")[1])["homogeneity"]
    for row, L in zip(rows, (2, 3), strict=True):
        true = rb.leak.homogeneity_risks(people(), leaked=L, sensitive="flu")
        assert row["leaked"] == str(L)
        assert row["flu"]["disclosed"] == pytest.approx(float(true.disclosed.mean()))
        found_out = true.either - true.disclosed + true.believed
        assert row["flu"]["highest"] == pytest.approx(float(found_out.max()))
    assert "flu disclosed or identified, mean" in run(*asked)[1]
    by_hand = ("--records", 10, "--class-size", 3, "--alike", 2, "--leaked", 3, "--json")
    row = json.loads(run(*by_hand)[1])["homogeneity"][0]["the secret"]
    assert row["believed"] == pytest.approx(0.408333, abs=1e-6)


def test_partial_histories_from_the_shell(run, tmp_path):
    path = tmp_path / "visits.csv"
    VISITS.to_csv(path, index=False)
    asked = (path, "--qi", "age", "--subject-id", "id", "--leaked", 3, "--seen", "25%", "--json")
    [row] = json.loads(run(*asked)[1])["partial_histories"]
    assert row["mean"] == pytest.approx(np.mean(partly(3, 0.25)), abs=1e-12)
    by_hand = ("--records", 10, "--class-size", 3, "--leaked", 3, "--histories", "2,2,3", "--seen",
               0.5, "--json")  # fmt: skip
    [row] = json.loads(run(*by_hand)[1])["partial_histories"]
    assert row["members"] == pytest.approx([0.185742, 0.185742, 0.220117], abs=1e-6)


def test_what_is_known_and_known_secrets_from_the_shell(run, file):
    asked = (file, "--qi", "age", "--sensitive", "flu", "--leaked", 3, "--json")
    [row] = json.loads(run(*asked, "--knowledge", "age=0.5")[1])["known"]
    true = rb.leak.risks(people(), leaked=3, known={"age": ("age", 0.5)})
    assert row["risk"]["mean"] == pytest.approx(float(true.mean()))
    [row] = json.loads(run(*asked, "--sensitive-known", 0.3)[1])["known"]
    true = rb.leak.risks(people(), leaked=3, sensitive="flu", sensitive_known=0.3)
    assert row["with flu"]["highest"] == pytest.approx(float(true.max()))


def test_priors_claims_target_and_curve_from_the_shell(run):
    found = json.loads(run("--classes", "5:200", "--leaked", "100:.5,400:.5", "--json")[1])
    prior = {100: 0.5, 400: 0.5}
    assert found["leaks"][0]["risk"] == pytest.approx(rb.leak.risk({5: 200}, leaked=prior))
    found = json.loads(run("--classes", "5:200", "--leaked", "100-400", "--json")[1])
    between = rb.leak.between(100, 400)
    assert found["leaks"][0]["risk"] == pytest.approx(rb.leak.risk({5: 200}, leaked=between))
    asked = ("--records", 10_000, "--class-size", 5, "--leaked", 4_000, "--json")
    found = json.loads(
        run(*asked, "--claims", "only-one", "--in-table", 0.8, "--target-risk", "--k-curve", "1,5")[
            1
        ]
    )
    assert found["claims"][0]["precision"] == pytest.approx(0.16)
    assert found["target"][0]["outcomes"][0] == {"risk": 0.0, "probability": pytest.approx(0.6)}
    assert found["k_curve"]["4000"][1]["risk"] == pytest.approx(0.184458, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "value"), [("ema", 0.09), ("cell-11", "1/11"), ("ontario-high", 0.05), ("cell-5", 0.2)]
)
def test_a_threshold_by_its_name_is_the_same_as_its_number(run, name, value):
    asked = ("--records", 10_000, "--class-size", 5, "--leaked", 4_000)
    options = ("--smallest-k", "--largest-leak", "--fail-above")
    by_name = run(*asked, *(x for o in options for x in (o, name)))
    said = [line for line in by_name[1].splitlines() if not line.startswith("limit: ")]
    assert len(said) < len(by_name[1].splitlines())
    by_name = (by_name[0], "".join(f"{line}\n" for line in said), by_name[2])
    assert by_name == run(*asked, *(x for o in options for x in (o, value)))
    assert by_name[0] == int(value != 0.2)  # the risk is .184
    code, _, err = run(*asked, "--fail-above", "emma")
    assert (code, 'no threshold "emma"; did you mean "ema"?' in err) == (2, True)


@pytest.mark.parametrize(("options", "message"), [
    (("--alike", 2, "--classes", "5:2"), "--alike needs --records with --class-size"),
    (("--homogeneity", "--classes", "5:2"), "--homogeneity needs a TABLE"),
    (("--seen", 0.5, "--classes", "5:2"), "--seen needs a TABLE, or --histories"),
    (("--known-in-leak", "--classes", "5:2"), "are about --claims; name a rule"),
    (("--knowledge", "age=.5", "--classes", "5:2"), "--knowledge needs a TABLE"),
])  # fmt: skip
def test_an_option_that_would_be_dropped_is_refused(run, options, message):
    code, _, err = run("--leaked", 3, *options)
    assert code == 2
    assert message in err


def test_a_secret_option_without_a_secret_is_refused(run, file):
    code, _, err = run(file, "--qi", "age", "--leaked", 3, "--homogeneity")
    assert (code, "--homogeneity needs --sensitive" in err) == (2, True)
    code, _, err = run("--classes", "5:2", "--leaked", "1-3", "--targets", 2, "--method",
                       "simulation")  # fmt: skip
    assert (code, "a prior of the leak size is reckoned exactly" in err) == (2, True)


def test_information_lost_is_not_told_of_as_many_other_people():
    people = rb.read_table({"age": [50, 51, 60, 61]}, quasi_identifiers="age")
    coarse = people.generalise({"age": 1}, hierarchies={"age": rb.Bands(10)})
    assert rb.leak.non_uniform_entropy(people, coarse) == 0.5
    for rows in ([3, 2, 1, 0], [0, 1, 1, 2]):
        with pytest.raises(rb.DataError, match="other people, or the same ones in another order"):
            rb.leak.non_uniform_entropy(people, coarse.take(rows))


def test_a_leak_of_a_suppressed_table_is_one_of_those_who_are_left():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, [6, 3], (80, 2))
    _, place, count = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    left = rb.People.from_codes(codes[count[place.ravel()] >= 4], ["a", "b"])
    table = rb.People.from_codes(codes, ["a", "b"]).suppress(4)
    for known in (None, {"a": 0.5, "b": 1.0}):
        found = rb.leak.assess(table, leaked=20, known=known)
        assert np.array_equal(found.risk, rb.leak.assess(left, leaked=20, known=known).risk)
    with pytest.raises(rb.UsageError, match="from 0 to the number of records"):
        rb.leak.assess(table, leaked=len(left) + 1)
