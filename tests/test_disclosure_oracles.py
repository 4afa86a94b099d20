"""Attribute disclosure against the outside oracles: integers equal, on real tables."""

import json
from fractions import Fraction

import numpy as np
import pytest

import reidbn as rb
from reidbn.microdata import People

COLUMNS = {
    "cervical": "num_pregnancies smokes age biopsy",
    "adult2000": "gender age race marital_status education native_country work_class salary "
    "occupation",
    "diabetes2000": "gender age race num_lab_procedures num_medications change_in_medications "
    "diabetes_medications readmitted",
}
# Mean PPP of `salary` with all other columns but one known, one column left out after the other,
# as a comment in the authors' published source prints them.
AUTHORS_MEANS = [0.10201724, 0.19252669, 0.09874690, 0.13474677,
                 0.15474972, 0.09647474, 0.12545721, 0.15101291]  # fmt: skip


def read(real_data, name):
    table = name.removesuffix("2000")
    columns = COLUMNS[table if table == "cervical" else f"{table}2000"].split()
    return rb.read_table(real_data / "kroes" / f"{table}.csv.gz", quasi_identifiers=columns)


@pytest.fixture(scope="module", params=list(COLUMNS))
def case(request, shared):
    oracle = np.load(shared / "oracles" / "disclosure" / f"{request.param}.npz")
    names = COLUMNS[request.param].split()
    people = People.from_codes(oracle["codes"], names)
    return oracle, names, rb.disclosure_all(people, q=0.05)


def test_the_least_ppp_and_its_first_subset_equal_the_oracle(case):
    oracle, names, everything = case
    for j, name in enumerate(names):
        d = everything[name]
        num, den = d.ppp_min_fraction
        assert np.array_equal(num, oracle["ppp_min_num"][:, j])
        assert np.array_equal(den, oracle["ppp_min_den"][:, j])
        assert np.array_equal(d.weakest_mask, oracle["ppp_min_first_mask"][:, j])
        npp, peers = d.at_weakest
        assert np.array_equal(npp, oracle["npp_at_argmin"][:, j])
        assert np.array_equal(peers, oracle["peers_at_argmin"][:, j])


def test_full_knowledge_and_alternatives_equal_the_oracle(case):
    oracle, names, everything = case
    for j, name in enumerate(names):
        d = everything[name]
        assert np.array_equal(d.npp_full, oracle["npp_max_aux"][:, j])
        assert np.array_equal(d.peers_full, oracle["peers_max_aux"][:, j])
        assert (d.falsehoods + 1 == oracle["domain"][j]).all()
        assert np.array_equal(d.alternatives(0)[0], oracle["alts_max_aux_q0"][:, j])
        full, fewest = d.alternatives()
        assert np.array_equal(full, oracle["alts_max_aux_q005"][:, j])
        assert np.array_equal(fewest, oracle["alts_min_q005"][:, j])


def test_admitting_the_empty_set_equals_the_oracle(case):
    oracle, names, everything = case
    open_to_all = rb.disclosure_all(everything.people, empty=True)
    for j, name in enumerate(names):
        num, den = open_to_all[name].ppp_min_fraction
        assert np.array_equal(num, oracle["ppp_min_with_empty_num"][:, j])
        assert np.array_equal(den, oracle["ppp_min_with_empty_den"][:, j])


def test_leaving_one_out_equals_the_oracle_in_both_readings(case):
    oracle, names, everything = case
    for j, name in enumerate(names):
        full = everything[name].leave_one_out("full")
        weakest = everything[name].leave_one_out("weakest")
        for place, other in enumerate(full.columns):
            v = names.index(other)
            for found, kind in ((full, "max"), (weakest, "min")):
                num = oracle[f"lovo_ppp_{kind}_num"][j, v].astype(np.int64)
                den = oracle[f"lovo_ppp_{kind}_den"][j, v].astype(np.int64)
                assert np.array_equal(found.npp[place] * den, num * found.peers[place])


def test_poac_with_one_left_out_equals_the_oracle(case):
    oracle, names, everything = case
    for j, name in enumerate(names):
        full = everything[name].leave_one_out_poac("full", q=0)
        weakest = everything[name].leave_one_out_poac("weakest", q=0)
        for place, other in enumerate(full.columns):
            told = oracle["lovo_alts_max_q0"][j, names.index(other)]
            assert np.array_equal(full.alternatives[place], told)
            assert np.array_equal(weakest.alternatives[place], told)


def test_matching_row_by_row_equals_the_oracle_too(case):
    """The road for tolerances and samples, on equality, where the oracle knows the answer."""
    oracle, names, everything = case
    rows = np.arange(0, len(oracle["codes"]), 17)
    d = rb.disclosure(everything.people, names[-1], tolerance={names[1]: 0}, individuals=rows)
    num, den = d.ppp_min_fraction
    assert np.array_equal(num, oracle["ppp_min_num"][rows, -1])
    assert np.array_equal(den, oracle["ppp_min_den"][rows, -1])
    assert np.array_equal(d.weakest_mask, oracle["ppp_min_first_mask"][rows, -1])


@pytest.mark.parametrize("option", ["table1a", "table1b", "table1c"])
def test_table_1_of_the_paper_in_all_its_variants(shared, option):
    told = json.loads((shared / "oracles" / "disclosure" / "table1.json").read_text())[option]
    columns = told["columns"]
    source = {name: [row[j] for row in told["rows"]] for j, name in enumerate(columns)}
    people = rb.read_table(source, quasi_identifiers=columns)
    everything, with_empty = rb.disclosure_all(people), rb.disclosure_all(people, empty=True)

    def fractions(key):
        return [[Fraction(cell) for cell in row] for row in told[key]]

    for j, name in enumerate(columns):
        d = everything[name]
        full = [Fraction(int(n), int(m)) for n, m in zip(d.npp_full, d.peers_full, strict=True)]
        assert full == [row[j] for row in fractions("ppp_max_aux")]
        assert d.npp_full.tolist() == [row[j] for row in told["npp_max_aux"]]
        for one, key in ((d, "ppp_min_nonempty"), (with_empty[name], "ppp_min_with_empty")):
            pairs = zip(*one.ppp_min_fraction, strict=True)
            assert [Fraction(int(n), int(m)) for n, m in pairs] == [r[j] for r in fractions(key)]
        for q in (0.0, 0.25, 0.34, 0.5):
            false = d.falsehoods.tolist()
            for count, key in zip(
                d.alternatives(q), ("poac_max_aux", "poac_min_nonempty"), strict=True
            ):
                poac = [Fraction(int(c), f) for c, f in zip(count, false, strict=True)]
                assert poac == [row[j] for row in fractions(f"{key}_q{q}")]


def test_the_shares_the_paper_prints_for_its_cervical_table(real_data):
    people = read(real_data, "cervical")
    d = rb.disclosure(people, "biopsy")
    assert int(d.upward().sum()) == 223
    assert d.share_upward(p=0) == 223 / 789
    without = d.leave_one_out("full")
    protected = dict(zip(without.columns, (without.npp > 0).sum(axis=1).tolist(), strict=True))
    assert protected["age"] == 761
    assert protected["num_pregnancies"] == 463


@pytest.fixture(scope="module")
def adult(real_data):
    return read(real_data, "adult2000")


def test_the_eight_means_the_authors_left_in_their_source(adult):
    d = rb.disclosure(adult, "salary")
    means = d.leave_one_out("full").ppp.mean(axis=1)
    assert np.abs(means - AUTHORS_MEANS).max() < 5e-9


def test_full_adult_has_the_means_and_zeros_of_a_group_by_loop(adult):
    """Values of the plain pandas loop over every (secret, subset), to the digits it printed."""
    told = {
        "gender": (0.0587, 0.726), "age": (0.7267, 0.148), "race": (0.0449, 0.774),
        "marital_status": (0.1221, 0.594), "education": (0.3460, 0.342),
        "native_country": (0.0205, 0.878), "work_class": (0.1182, 0.614),
        "salary": (0.0425, 0.777), "occupation": (0.4210, 0.335),
    }  # fmt: skip
    for name, d in rb.disclosure_all(adult).items():
        mean, zeros = told[name]
        assert d.ppp_min.mean() == pytest.approx(mean, abs=6e-5)
        assert (d.ppp_min == 0).mean() == pytest.approx(zeros, abs=6e-4)


def test_full_diabetes_has_the_means_and_zeros_of_a_group_by_loop(real_data):
    told = {
        "gender": (0.1057, 0.637), "age": (0.3985, 0.286), "race": (0.0682, 0.760),
        "num_lab_procedures": (0.8622, 0.042), "num_medications": (0.7459, 0.086),
        "change_in_medications": (0.0724, 0.720), "diabetes_medications": (0.0412, 0.826),
        "readmitted": (0.1629, 0.553),
    }  # fmt: skip
    for name, d in rb.disclosure_all(read(real_data, "diabetes2000")).items():
        mean, zeros = told[name]
        assert d.ppp_min.mean() == pytest.approx(mean, abs=6e-5)
        assert (d.ppp_min == 0).mean() == pytest.approx(zeros, abs=6e-4)
