"""Numbers that a shipped model takes from a printed table are the ones in that table.

Held against the tables of the papers in shared/data/papers, cell by cell as printed.  Sources that
are not there say "not checked against the printed page", and nothing is held against them.
"""

import csv
import re

import pytest

import reidbn as rb


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def classes(papers):
    """The patients and diagnoses of each class: its label stands on its first row alone."""
    found, label = {}, ""
    for row in rows(papers / "antoniou_table3.csv"):
        label = row["equivalence_group_label"] or label
        found.setdefault(label, []).append((row["patient_id"], row["diagnosis"]))
    return found


def printed(papers):
    """What the printed tables say, by the words of the sources."""
    third = classes(papers)
    sizes = [len({patient for patient, _ in members}) for members in third.values()]
    ills = [ill for _, ill in third["C3"]]
    leaked = {row["patient_id"] for row in rows(papers / "antoniou_table4.csv")}
    middle = rows(papers / "xia_table4.csv")[1]
    return {
        "[Antoniou22] Table 3, D = 10": {sum(sizes)},
        "[Antoniou22] Table 4, L = 3": {len(leaked)},
        "[Antoniou22] Table 3, two classes of 3 among 10 patients":
            {3 * sizes.count(3) / sum(sizes)},
        "[Antoniou22] Table 3, two patients with influenza in the class of 4":
            {ills.count("Influenza")},
        "[Antoniou22] Table 3, an ulcer and a stroke in the class of 4":
            {ills.count("Ulcer") + ills.count("Stroke")},
        "[Antoniou22] Table 3": {sizes.count(3), sizes.count(4)},
        "[Xia21] Table 4, middle setting":
            {float(middle[name]) for name in ("p_m", "p_c", "p_fm", "p_cu")},
    }  # fmt: skip


TABLES = re.compile(r"\[\w+\] Table ")


def sourced():
    for name in rb.models():
        for parameter in rb.load(name).parameters.values():
            if TABLES.match(parameter.source):
                yield name, parameter


def test_numbers_of_printed_tables_are_those_printed(shared):
    tables = printed(shared / "data" / "papers")
    found = list(sourced())
    assert len(found) >= 20
    for name, parameter in found:
        assert parameter.source in tables, (name, parameter.name)
        assert parameter.value in tables[parameter.source], (name, parameter.name)
    of_targets = {p.name: p.value for name, p in found if name == "leak-targets"}
    assert (of_targets["classes_of_3"], of_targets["classes_of_4"]) == (2, 1)


def test_voters_are_as_many_as_the_census_says(shared):
    states = rows(shared / "data" / "scenarios" / "voter_registration_by_demographic_cps2008.csv")
    [row] = [r for r in states if (r["state"], r["dimension"]) == ("MA", "total")]
    source = rb.load("sweeney-voter").parameters["p_registered"].source
    assert f"{row['pct_registered_of_citizens']} percent" in source
    value = rb.load("sweeney-voter").parameters["p_registered"].value
    assert value == pytest.approx(float(row["pct_registered_of_citizens"]) / 100, abs=0.01)


def test_what_was_not_held_against_its_page_says_so():
    """A published source is a work of the reference list, or says that nobody has looked it up."""
    for name in rb.models():
        for source in rb.load(name).sources:
            looked_up = source.startswith("[") or "not checked against the printed page" in source
            assert looked_up or "every number is an assumption" in source, (name, source)
