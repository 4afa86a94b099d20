"""The hospital of ten patients: the paper's tables, told again, still say what they said."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import reidbn as rb


def test_the_counts_of_the_story():
    hospital = rb.toy_hospital()
    assert hospital.register["patient"].nunique() == hospital.anonymised["patient"].nunique() == 10
    assert hospital.leak["patient"].nunique() == len(hospital.leaked) == 3
    people = hospital.people()
    assert (len(people), people.k()) == (10, 3)
    found = people.classes().frequencies()
    assert dict(zip(found.sizes.tolist(), found.counts.tolist(), strict=True)) == hospital.classes


def test_the_target_is_in_the_register_once_and_not_in_the_leak():
    hospital = rb.toy_hospital()
    register = hospital.register
    same = np.logical_and.reduce([register[c] == v for c, v in hospital.target.items()])
    assert set(register["patient"][same]) == {"A"}
    assert "A" not in hospital.leaked


def test_the_risk_of_the_target_is_that_of_every_leak_of_three():
    hospital = rb.toy_hospital()
    alike = {"A", "B", "C"}
    risks = []
    for leak in combinations("ABCDEFGHIJ", 3):
        inside = alike & set(leak)
        risks.append(1 / len(inside) if "A" in leak else 0)
    one = rb.leak.risk(records=10, leaked=3, class_size=3)
    assert np.mean(risks) == pytest.approx(one, rel=1e-14)
    assert rb.leak.risks(hospital.people(), leaked=3)[0] == pytest.approx(one, rel=1e-14)


def test_the_tables_are_those_of_the_paper(real_data):
    hospital = rb.toy_hospital()
    folder = real_data / "papers"
    printed = pd.read_csv(folder / "antoniou_table1.csv")
    ours = hospital.register
    for column in ("sex", "age", "postcode", "ethnicity"):
        assert printed[column].tolist() == ours[column].tolist()
    assert printed["length_of_stay_days"].tolist() == ours["length_of_stay"].tolist()
    assert printed["primary_diagnosis"].tolist() == ours["diagnosis"].tolist()
    assert printed["patient_nhs_number"].factorize()[0].tolist() == (
        ours["patient"].factorize()[0].tolist()
    )
    for name, mine in (("3", hospital.anonymised), ("4", hospital.leak)):
        printed = pd.read_csv(folder / f"antoniou_table{name}.csv")
        assert printed.iloc[:, 1:7].to_numpy().tolist() == mine.iloc[:, 1:].to_numpy().tolist()
        assert printed["patient_id"].factorize()[0].tolist() == (
            mine["patient"].factorize()[0].tolist()
        )
