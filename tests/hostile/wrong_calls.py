"""Every public name with arguments that are right, and what nobody should hand in.

A name is (a call, its arguments by name, each right).  `test_hostile.py` asks that every function
that the faces of the rooms show, and every documented method, stands here.
"""

import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import reidbn as rb

GROUPS = ["age", "sex", "race"]
CLASSES = {1: 3, 2: 5, 50: 1}

WRONG = {
    "None": None,
    "minus one": -1,
    "nought": 0,
    "a fraction": 2.5,
    "NaN": math.nan,
    "infinity": math.inf,
    "400 digits": 10**400,
    "19 digits": 10**18,
    "a complex number": 1j,
    "True": True,
    "NumPy's True": np.True_,
    "an exact fraction": Fraction(1, 3),
    "a decimal": Decimal("0.2"),
    "an array of one number": np.array(0.2),
    "a wrong name": "nonsense",
    "an empty text": "",
    "a text with a nought byte": "a\0b",
    "the text of a model": "schema_version: 1\nname: a\n",
    "a text that is no name": "ab" * 3000,
    "bytes": b"x",
    "an empty list": [],
    "numbers": [1, 2],
    "names": ["nonsense", "sex"],
    "nested": [[1], [2, 3]],
    "an empty mapping": {},
    "a wrong key": {"nonsense": 1},
    "a numbered key": {1: 2},
    "a NaN inside": {"age": math.nan},
    "a set": {1},
    "three numbers": (1, 2, 3),
    "a matrix": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "an empty array": np.array([]),
    "whole numbers below nought": np.array([-1, 5], dtype=np.int8),
    "an array of objects": np.array([None, "a"], dtype=object),
    "an array of NaN": np.array([math.nan, 1.0]),
    "a frame": pd.DataFrame({"age": [1, 2], "nonsense": ["a", None]}),
    "pd.NA": pd.NA,
    "NaT": pd.NaT,
    "a class": int,
    "a function": len,
    "an object": object(),
    "a path": Path("nonsense"),
}


def frame(n=120, seed=3):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({
        "who": [f"p{i}" for i in range(n)],
        "age": rng.integers(20, 30, n),
        "sex": rng.integers(0, 2, n),
        "race": rng.integers(0, 4, n),
        "diagnosis": rng.choice(4, n, p=[0.6, 0.2, 0.15, 0.05]),
        "weight": rng.integers(1, 5, n).astype(float),
    })  # fmt: skip


ROLES = {"quasi_identifiers": GROUPS, "sensitive": ["diagnosis"], "subject_id": "who"}


@cache
def people():
    return rb.read_table(frame(), **ROLES)


@cache
def results():
    """One small result of each kind, and other values that have public methods."""
    table = people()
    assessed = rb.assess("adversary-routes", table, population=10_000)
    history = rb.read_table(
        pd.DataFrame({"who": [0, 0, 1, 1, 2, 3], "age": [1, 2, 1, 2, 1, 3]}),
        quasi_identifiers=["age"], subject_id="who", history="multiset",
    )  # fmt: skip
    return {
        "Assessment": assessed,
        "Disclosure": rb.disclosure(table, "diagnosis"),
        "DisclosureAll": rb.secrets.disclosure_all(table),
        "Leak": rb.leak.assess(table, leaked=20),
        "Uniqueness": rb.population.fit(table, population=10_000),
        "Suda": rb.suda(table, sampling_fraction=0.1),
        "Candidates": rb.candidates(table.take(range(40)), table),
        "Contingency": rb.contingency(frame(), GROUPS),
        "Asked": assessed.whatif_case(),
        "Tornado": rb.tornado("breakfast", "risk"),
        "Sobol": rb.whatif.sobol("breakfast", "risk", over=["p_listed", "alike"]),
        "history": history,
    }


def tables(folder):
    """Functions of tables of people."""
    t, data = people(), frame()
    data.to_csv(folder / "t.csv", index=False)
    (folder / "h.csv").write_text("20,young\n21,young\n22,old\n")
    known = {"known": ["age", "sex"]}
    micro, pop = rb.microdata, rb.population
    reading = {**ROLES, "weights": None, "missing": "value", "missing_values": (),
               "history": "multiset", "hierarchies": None, "tidy": False, "allow_direct": False,
               "delimiter": None, "identifiers": None}  # fmt: skip
    counting = {"columns": GROUPS, "engine": None, "counts": None, "missing": "value",
                "missing_values": (), "memory_limit": None, "temp_directory": None,
                "threads": None}  # fmt: skip
    groups = {"age": ["age"], "rest": ["sex", "race"]}
    return {
        "read_table": (rb.read_table, {"source": data, **reading}),
        "read_table of a file": (rb.read_table, {"source": folder / "t.csv", **reading}),
        "contingency": (rb.contingency, {"source": data, **counting}),
        "contingency of a file": (rb.contingency, {"source": folder / "t.csv", **counting}),
        "candidates": (rb.candidates, {"release": t, "external": t, "columns": GROUPS,
                                       "match": {"age": 1}, **known}),
        "suda": (rb.suda, {"people": t, "columns": GROUPS, "score": "elliot", "most": 2,
                           "sampling_fraction": 0.1, "memory_limit": 1 << 30}),
        "subsets": (rb.subsets, {"people": t, "per_person": False, **known, "most": 2,
                                 "draws": None, "seed": 0, "progress": None}),
        "microdata.class_size_chunks": (lambda **k: list(micro.class_size_chunks(**k)), {
            "people": t, "groups": groups, "chunk_bytes": 1 << 20}),
        "microdata.class_size_matrix": (micro.class_size_matrix, {
            "people": t, "wanted": ["age", ["age", "sex"]], "memory_limit": 1 << 30}),
        "microdata.class_sizes_by_mask": (micro.class_sizes_by_mask, {
            "people": t, "groups": groups, "records": slice(0, 3), "memory_limit": 1 << 30}),
        "microdata.collapse": (micro.collapse, {
            "source": folder / "t.csv", "columns": GROUPS, "into": folder / "c.parquet",
            "counts": "n", "memory_limit": None, "temp_directory": None, "threads": None}),
        "microdata.empty_cells": (micro.empty_cells, {"people": t, "where": {"age": [0, 1]}}),
        "microdata.knowledge": (micro.knowledge, {
            "people": t, **known, "columns": None, "without": (), "unknown": (),
            "sensitive": "diagnosis"}),
        "microdata.read_hierarchy": (micro.read_hierarchy, {"path": folder / "h.csv",
                                                            "delimiter": None}),
        "microdata.Tree": (micro.Tree, {"branches": {"x": ["a", "b"]}}),
        "microdata.Bands": (lambda **k: rb.read_table(
            data, quasi_identifiers=GROUPS, hierarchies={"age": micro.Bands(*k.values())}
        ).generalise({"age": 1}), {"width": 5}),
        "microdata.Prefix": (lambda **k: rb.read_table(
            data, quasi_identifiers=["who", "sex"], hierarchies={"who": micro.Prefix(*k.values())},
            allow_direct=True).generalise({"who": 1}), {"keeps": 1}),
        "microdata.Suffix": (lambda **k: rb.read_table(
            data, quasi_identifiers=["who", "sex"], hierarchies={"who": micro.Suffix(*k.values())},
            allow_direct=True).generalise({"who": 1}), {"keeps": 1}),
        "population.fit": (pop.fit, {"people": t, "columns": GROUPS, "population": 10_000,
                                     "model": "pitman", "approximation": None, "strata": None}),
        "population.fit of sizes": (pop.fit, {"population": 10_000, "sizes": [1, 2, 3, 9],
                                              "counts": [9, 4, 2, 1], "model": "pitman"}),
        "population.compare": (pop.compare, {
            "people": t, "columns": GROUPS, "population": 10_000, "models": ["pitman", "zayatz"],
            "approximation": None, "level": 0.9}),
        "population.fit_subsets": (pop.fit_subsets, {
            "people": t, "groups": ["age", ["sex", "race"]], "population": 10_000,
            "estimate": "maximum likelihood", "approximation": None}),
        "population.uniqueness_curve": (pop.uniqueness_curve, {
            "fit": pop.fit(t, population=10_000), "fractions": [0.1, 0.5], "level": 0.9}),
        "datasets.fetch": (lambda **k: str(k["name"]) == "adult" or rb.datasets.fetch(**k),
                           {"name": "adult"}),
        "datasets.synthetic_patients": (rb.datasets.synthetic_patients, {"n": 20, "seed": 1}),
    }  # fmt: skip


def sparse(folder):
    """Functions of tables with mostly empty columns, and the search for a release."""
    cells = {"smokes": ["yes", None, "no", None], "weight": [61.5, 70, None, 61.5]}
    ehr = rb.datasets.synthetic_ehr(30, seed=1)
    table = rb.read_sparse(cells)
    fam = rb.datasets.synthetic_families(3, seed=1)
    told = rb.read_sparse(fam.table, features=fam.features)
    coded = rb.read_table(
        {"dx": ["A00", "E11.9"], "born": ["DE", "Peru"]}, quasi_identifiers=["dx", "born"]
    )
    return {
        "read_sparse": (rb.read_sparse, {
            "source": cells, "features": None, "subject_id": None, "missing_values": (),
            "allow_direct": False, "delimiter": None}),
        "linkage": (rb.linkage, {
            "sparse": table, "known": "random", "match": "equal", "facts": [1], "success": "best",
            "otherwise": None, "weights": None, "facts_together": False, "tolerance": 0.2,
            "years": 2, "modal": 0.5, "share": 0.8, "lineup": 1, "phi": 1.5, "node_budget": 2_000,
            "draws": 20, "seed": 0, "individuals": None}),
        "linkage_experiments": (rb.linkage_experiments, {
            "sparse": rb.read_sparse(ehr.table, features=ehr.features), "draws": 2, "seed": 0,
            "success": "best", "modal": 0.5}),
        "whatif.protections": (rb.whatif.protections, {
            "result": rb.assess("linkage", table), "sample": 0.5}),
        "linkage_truth": (rb.linkage_truth, {
            "result": rb.assess("linkage", table), "draws": 20, "seed": 0,
            "wrong": "garbled", "truth": None}),
        "microdata.propose_hierarchies": (rb.microdata.propose_hierarchies, {
            "people": people(), "columns": ["age"]}),
        "microdata.in_parts": (rb.microdata.in_parts, {
            "people": people(), "column": "age", "parts": [4, 2], "by": "width"}),
        "microdata.by_icd10": (rb.microdata.by_icd10, {
            "people": coded, "column": "dx"}),
        "microdata.by_region": (rb.microdata.by_region, {
            "people": coded, "column": "born", "more": {"Kosovo": "Southern Europe"}}),
        "microdata.rare_together": (rb.microdata.rare_together, {
            "people": people(), "column": "age", "shares": [0.3, 0.9]}),
        "microdata.write_hierarchy": (rb.microdata.write_hierarchy, {
            "people": people(), "column": "age", "path": folder / "age-levels.csv",
            "hierarchy": rb.microdata.Bands(5, 10)}),
        "recommend": (rb.recommend, {
            "people": people(), "attack": None, "target": "k=2", "known": None,
            "scenario": None, "population": None,
            "hierarchies": {"age": rb.microdata.Bands(5, 10)}, "suppress_at_most": 0.2,
            "empty_at_most": 0.1, "keep": (), "drop": (), "sample": 0.9, "seed": 1,
            "loss": "entropy", "importance": None, "pareto": True, "release": None,
            "seconds": 5.0}),
        "plans.Regression": (rb.plans.Regression, {"formula": "age ~ sex"}),
        "datasets.synthetic_ehr": (rb.datasets.synthetic_ehr, {"n": 20, "seed": 1}),
        "datasets.synthetic_families": (rb.datasets.synthetic_families, {
            "families": 3, "seed": 1, "here": 0.8, "in_release": 0.7, "completeness": 0.9,
            "told": 0.8, "jitter": 1.0}),
        "read_kin": (rb.read_kin, {
            "sparse": told, "completeness": 0.9, "false_reports": 0.01, "jitter": 2.0,
            "years": 2}),
        "neighbourhood": (rb.neighbourhood, {
            "kin": rb.read_kin(told), "start": [0], "rule": "posterior", "depth": 1,
            "in_release": 0.5, "individuals": None, "seed": 0}),
    }  # fmt: skip


def leaks(folder):
    """Functions of a leak."""
    t, leak = people(), rb.leak
    asked = {"leaked": 20, "targets": 2}
    return {
        "leak.any_identified": (leak.any_identified, {"classes": CLASSES, **asked}),
        "leak.as_attack": (leak.as_attack, {"classes": CLASSES, **asked, "source": "me",
                                            "name": "leak"}),
        "leak.assess": (leak.assess, {"people": t, "leaked": 20, "known": ["age", "sex"],
                                      "sensitive": "diagnosis", "sensitive_known": 0.5}),
        "leak.between": (leak.between, {"lowest": 3, "highest": 9, "step": 2}),
        "leak.claims": (leak.claims, {"classes": CLASSES, "leaked": 20, "rule": "guess",
                                      "in_table": 0.9, "known_in_leak": False}),
        "leak.claims of one": (leak.claims, {"leaked": 20, "records": 100, "class_size": 3}),
        "leak.classes_of": (leak.classes_of, {"given": CLASSES}),
        "leak.equal_classes": (leak.equal_classes, {"records": 100, "class_size": 5}),
        "leak.expected_identified": (leak.expected_identified, {
            "classes": t, **asked, "removed": True}),
        "leak.given_target": (leak.given_target, {"records": 100, "leaked": 20, "class_size": 3,
                                                  "reading": "unconditional"}),
        "leak.history_risks": (leak.history_risks, {"people": results()["history"], "leaked": 2,
                                                    "seen": 0.5}),
        "leak.homogeneity": (leak.homogeneity, {"records": 100, "leaked": 20, "class_size": 5,
                                                "alike": 3}),
        "leak.homogeneity_risks": (leak.homogeneity_risks, {"people": t, "leaked": 20,
                                                            "sensitive": "diagnosis"}),
        "leak.information_loss": (leak.information_loss, {"classes": t, "before": t, "k": 2,
                                                          "left_out": 0}),
        "leak.joint_risk": (leak.joint_risk, {"classes": CLASSES, **asked,
                                              "method": "exact", "reading": "unconditional",
                                              "log": False, "draws": 100, "seed": 0}),
        "leak.k_curve": (leak.k_curve, {"records": 100, **asked, "class_sizes": [1, 2, 5],
                                        "question": "any"}),
        "leak.largest_leak": (leak.largest_leak, {"classes": CLASSES, "threshold": 0.3,
                                                  "targets": 2, "question": "any"}),
        "leak.largest_leak of equal classes": (leak.largest_leak, {
            "threshold": 0.3, "records": 100, "class_size": 5}),
        "leak.non_uniform_entropy": (leak.non_uniform_entropy, {"before": t, "after": t}),
        "leak.number_identified": (leak.number_identified, {
            "classes": CLASSES, **asked, "removed": True, "error": 0.0}),
        "leak.partial_histories": (leak.partial_histories, {
            "records": 4, "leaked": 2, "histories": [2, 2], "seen": 0.5}),
        "leak.risk": (leak.risk, {"classes": t, "leaked": 20}),
        "leak.risk of one": (leak.risk, {"leaked": 20, "records": 100, "class_size": [1, 2]}),
        "leak.risks": (leak.risks, {"people": t, "leaked": 20, "known": ["age"],
                                    "sensitive": "diagnosis", "sensitive_known": 0.5}),
        "leak.simulate": (leak.simulate, {"classes": CLASSES, **asked,
                                          "reading": "unconditional", "removed": True,
                                          "draws": 100, "seed": 0}),
        "leak.smallest_k": (leak.smallest_k, {"records": 100, **asked, "threshold": 0.3,
                                              "question": "any"}),
        "leak.trade_off": (leak.trade_off, {"variants": {"a": t}, **asked, "before": t}),
    }  # fmt: skip


def attacks(folder):
    """Functions that assess people, and what is told of their secrets."""
    t, s, found = people(), rb.secrets, results()
    told = {"known": ["age", "sex"], "p": 0.1}
    reading = {**told, "q": 0.0, "empty": False, "knowledge": None, "ranges": {"age": 2},
               "tolerance": None, "if_missing": "left-out", "individuals": 3, "seed": 0,
               "memory": 1 << 24}  # fmt: skip
    changes = {"set": {}, "scenario": "worst-case", "known": None, "do": None, "given": None,
               "population": None, "population_model": None, "columns": None, "without": None,
               "unknown": None, "beyond_range": False}  # fmt: skip
    by_age = {"people": t, "column": "age", "sensitive": "diagnosis"}
    return {
        "assess": (rb.assess, {
            "attack": "adversary-routes", "people": t, **changes, "population": 10_000,
            "population_model": "log-linear", "without": (), "unknown": (), "subject": None,
            "method": "exact", "draws": 10, "seed": 0, "checkpoint": folder / "kept",
            "histories": False, "individuals": 3}),
        "PopulationUncertainty.shares_above": (rb.assess(
            "adversary-routes", rb.read_table(rb.datasets.synthetic_patients(150, seed=1)[GROUPS],
                                              quasi_identifiers=GROUPS),
            population=2_000, population_model="structured",
        ).population_uncertainty().shares_above, {"thresholds": [0.1], "measure": "journalist"}),
        "what_if of a leak": (rb.what_if, {"result": found["Leak"], "leaked": 5, "known": ["age"],
                                           "suppress": None, "generalise": None}),
        "what_if": (rb.what_if, {"result": found["Assessment"], **changes, "generalise": None,
                                 "hierarchies": None, "suppress": 1, "together": None}),
        "disclosure": (rb.disclosure, {"people": t, "sensitive": "diagnosis", **reading,
                                       "within": None, "sensitive_values": None}),
        "secrets.disclosure_all": (s.disclosure_all, {
            "people": t, "columns": ["age", "diagnosis"], **reading, "known": None}),
        "secrets.best_generalisation": (s.best_generalisation, {
            **by_age, "categories": [2], "smallest": 2, **told, "order": None, "ranges": None,
            "empty": False, "individuals": None}),
        "secrets.equal_width_search": (s.equal_width_search, {
            **by_age, "reading": "paper", **told, "ranges": None, "empty": False,
            "individuals": None}),
        "secrets.generalisation_effect": (s.generalisation_effect, {
            "people": t, "sensitive": "diagnosis", "ranges": {"age": 2}, **told}),
        "secrets.generalise_several": (s.generalise_several, {
            "people": t, "categories": {"age": 2, "race": 2}, "sensitive": "diagnosis",
            "smallest": 2, **told, "known": None, "order": None, "rounds": 2}),
        "secrets.smoothed_disclosure": (s.smoothed_disclosure, {
            "people": t, "sensitive": "diagnosis", "posterior": "dirichlet", "strength": 1.0,
            **told}),
        "secrets.disclosure_calibration": (s.disclosure_calibration, {
            "people": t, "sensitive": "diagnosis", "known": ["age"], "folds": 2,
            "strengths": (1.0,), "seed": 0}),
        "secrets.disclosure_crosscheck": (s.disclosure_crosscheck, {
            "d": found["Disclosure"], "individuals": 1, "seed": 0}),
        "records.record_network": (rb.records.record_network, {
            "table": frame(6)[["age", "sex"]], "seen": ["age", "sex"], "secret": (),
            "population": None, "others": None, "engine": "exact", "name": "r"}),
        "records.Near": (lambda **k: rb.records.record_network(
            frame(6)[["age", "sex"]], seen={"age": rb.records.Near(**k)}), {"within": 1}),
        "report.risk_utility": (rb.report.risk_utility, {
            "options": {"a": found["Assessment"]}, "threshold": 0.09, "release": None}),
        "report.cards": (rb.report.cards, {"path": folder / "c.html", "models": "breakfast",
                                           "blank": 1}),
        "report.disclosure_page": (rb.report.disclosure_page, {
            "d": found["Disclosure"], "path": folder / "d.html", "every": None,
            "generalisations": (), "own_copy": False}),
        "register": (rb.register, {"table": {"listed": [0.9], "shows age": [1]}, "source": "me"}),
    }  # fmt: skip


METHODS = {
    "Assessment": {
        "above": {"thresholds": [0.1]}, "check": {"draws": 1_000, "seed": 0, "subjects": 2},
        "event": {"measure": "overall"}, "keep_crosscheck": {"draws": 1_000, "seed": 0},
        "most_at_risk": {"count": 3, "measure": "overall"}, "risk": {"measure": "overall"},
        "population_uncertainty": {"level": 0.9}, "shares_above": {"thresholds": [0.1]},
        "summary": {"threshold": 0.09, "release": None}, "whatif_case": {"measure": "overall"},
        "page": {"path": "p.html", "title": "t", "context": {"recipient": "r"}},
        "to_html": {"path": "a.html"},
        "to_json": {"path": "a.json", "threshold": 0.09},
        "to_markdown": {"path": "a.md"}, "to_parquet": {"path": "a.parquet", "source": None},
        "to_restricted": {"path": "r.csv", "measure": "overall"},
        "compare_with": {"after": "same"}, "drivers": {"measure": "overall"},
        "explain": {"person": "p3", "measure": "overall"},
        "to_explained": {"path": "e.json"},
        "uncertainty": {"target": None, "over": ["p_c"], "priors": None, "draws": 20,
                        "seed": 0, "quantiles": (0.5,), "thresholds": (0.1,)},
    },
    "Disclosure": {
        "alternatives": {"q": 0.1}, "breaks": {"p": 0.1}, "downward": {"q": 0.1},
        "interval": {"what": "upward", "level": 0.9, "p": 0.1}, "joint_q": {"p": 0.1},
        "leave_one_out": {"reading": "full"}, "leave_one_out_poac": {"reading": "full", "q": 0.1},
        "poac": {"q": 0.1}, "right_about": {"known": ["age"]}, "share_downward": {"q": 0.1},
        "readings": {"known": ["age"]},
        "share_upward": {"p": 0.1}, "subset": {"mask": 1}, "upward": {"p": 0.1},
        "check": {"individuals": 1, "seed": 0},
    },
    "Leak": {"check": {"draws": 50, "seed": 0}},
    "Uniqueness": {
        "class_size_posterior": {"class_size": 2}, "mean_inverse": {"class_sizes": [1, 2]},
        "interval": {"quantity": "expected_uniques", "level": 0.9, "method": "profile",
                     "class_size": 1},
        "prediction_interval": {"quantity": "uniques", "level": 0.9},
        "rehearse": {"fraction": 0.5, "draws": 1, "seed": 0},
    },
    "Suda": {"check": {"individuals": 2, "seed": 0}, "minimal_uniques": {"person": 3}},
    "Candidates": {"check": {"individuals": 2, "seed": 0}, "joint": {"row": 3},
                   "names": {"row": 3}, "of": {"row": 3}, "pairs": {"joint": False}},
    "Contingency": {"frequencies": {"columns": ["age"]}, "marginal": {"columns": ["age"]},
                    "subsets": {"most": 1, "progress": None}},
    "Tornado": {"plot": {"path": "t.svg", "most": 3}},
    "Sobol": {"interaction": {}, "interactions": {"order": 2}, "plot": {"path": "s.svg"}},
    "People": {
        **{name: {"columns": ["age"]} for name in (
            "cardinalities", "class_ids", "class_sizes", "class_weights", "classes", "codes",
            "frequencies", "k", "names", "select", "missing_rates")},
        "column": {"name": "age"}, "labels": {"column": "age"}, "matches": {"column": "age"},
        "drop": {"rows": [1]}, "take": {"rows": [1]}, "compared_with": {"before": "same",
                                                                         "columns": ["age"]},
        "from_codes": {"codes": [[0, 1], [1, 0]], "names": ["a", "b"], "sensitive": ["b"],
                       "labels": {"a": ["x", "y"]}, "weights": [1.0, 2.0]},
        "generalise": {"levels": {"age": 1}, "hierarchies": {"age": rb.microdata.Bands(5)}},
        "has_the_people_of": {"other": "same"}, "rows_in": {"other": "same"},
        "suppress": {"k": 2, "columns": ["age"], "may_match": False},
        "suppression_rate": {"k": 2, "columns": ["age"], "may_match": False},
    },
    "Attack": {
        "replace": {"name": "x"}, "save": {"path": "m.yaml", "expanded": False},
        "page": {"path": "p.html", "question": "risk", "set": {"alike": 4}, "given": {},
                 "do": {"listed": "yes"}, "subject": None, "title": "t", "predict": True},
        "with_values": {"values": {"p_listed": 0.2}, "beyond_range": False},
        "with_node": {}, "frontier": {},
        "to_pgmpy": {"set": {}, "subject": None, "beyond_range": False},
    },
}  # fmt: skip
RESULTS = ("Assessment", "Disclosure", "Leak", "Uniqueness", "Suda", "Candidates")


def methods(folder):
    """Documented methods of results, of people and of attacks."""
    things = {**results(), "People": people(), "Attack": rb.load("breakfast")}
    calls = {}
    for kind, own in METHODS.items():
        thing = things[kind]
        if kind in RESULTS:
            own = {**own, "compare": {"other": "same"},
                   "plot": {"path": "p.svg", "custodian": False},
                   "report": {"path": "r.html", "custodian": False}}  # fmt: skip
        for name, arguments in own.items():
            right = {
                key: thing if value == "same"
                else folder / value if key == "path" else value
                for key, value in arguments.items()
            }  # fmt: skip
            calls[f"{kind}.{name}"] = (getattr(thing, name), right)
    return calls


def every(folder):
    rooms = (tables, sparse, leaks, attacks, methods)
    return {name: call for room in rooms for name, call in room(folder).items()}
