"""The public names and where each lives; `reidbn.NAME` imports its room on first use.

One line per name, so that `import reidbn` and `reidbn --help` stay quick.
"""

PUBLIC: dict[str, str] = {
    # errors
    "ReidbnError": "reidbn.errors",
    "ModelError": "reidbn.errors",
    "DataError": "reidbn.errors",
    "UsageError": "reidbn.errors",
    "ImpossibleEvidence": "reidbn.errors",
    "TooLarge": "reidbn.errors",
    "CrosscheckFailed": "reidbn.errors",
    "MissingPart": "reidbn.errors",
    # the language
    "Attack": "reidbn.attack.attack",
    "Node": "reidbn.attack.parts",
    "Group": "reidbn.attack.parts",
    "GroupRow": "reidbn.attack.parts",
    "Question": "reidbn.attack.parts",
    "SubjectColumn": "reidbn.attack.parts",
    "Parameter": "reidbn.attack.parameter",
    "Prior": "reidbn.attack.parameter",
    "load": "reidbn.attack.modelfile",
    "loads": "reidbn.attack.modelfile",
    "dumps": "reidbn.attack.modelfile",
    "save": "reidbn.attack.modelfile",
    "models": "reidbn.attack.modelfile",
    "CPD": "reidbn.cpds.protocol",
    "Row": "reidbn.cpds.rows",
    "Rows": "reidbn.cpds.rows",
    "And": "reidbn.cpds.logic",
    "Or": "reidbn.cpds.logic",
    "Threshold": "reidbn.cpds.logic",
    "NoisyOr": "reidbn.cpds.logic",
    "NoisyAnd": "reidbn.cpds.logic",
    "Mixture": "reidbn.cpds.mixture",
    "Unique": "reidbn.cpds.match",
    "OneOver": "reidbn.cpds.match",
    "Share": "reidbn.cpds.match",
    "Probability": "reidbn.cpds.match",
    "Uniform": "reidbn.cpds.match",
    "HypergeometricLeak": "reidbn.cpds.leak",
    "Empirical": "reidbn.cpds.empirical",
    "Lookup": "reidbn.cpds.empirical",
    "Table": "reidbn.cpds.table",
    "Function": "reidbn.cpds.function",
    "cpd_function": "reidbn.cpds.function",
    # engines and questions
    "ask": "reidbn.inference.answers",
    "Answer": "reidbn.inference.answers",
    "crosscheck": "reidbn.inference.crosscheck",
    "export": "reidbn.inference.interchange",
    "import_network": "reidbn.inference.interchange",
    # what-if
    # microdata
    "read_table": "reidbn.microdata.read",
    "People": "reidbn.microdata.table",
    "candidates": "reidbn.microdata.candidates",
    "Bands": "reidbn.microdata.bands",
    "Prefix": "reidbn.microdata.prefixes",
    "Suffix": "reidbn.microdata.prefixes",
    "Tree": "reidbn.microdata.ladders",
    "Ladder": "reidbn.microdata.ladders",
    "read_hierarchy": "reidbn.microdata.ladders",
    "subsets": "reidbn.microdata.subsets",
    "class_size_matrix": "reidbn.microdata.subsets",
    "class_sizes_by_mask": "reidbn.microdata.masks",
    "class_size_chunks": "reidbn.microdata.masks",
    # population
    # attacks
    "assess": "reidbn.attacks.assess",
    "Assessment": "reidbn.attacks.assessment",
    "what_if": "reidbn.attacks.changes",
    "Scenario": "reidbn.attack.scenario",
    "load_scenario": "reidbn.attack.scenariofile",
    "scenarios": "reidbn.attack.scenariofile",
    "disclosure": "reidbn.attacks.disclosure",
    "disclosure_all": "reidbn.attacks.disclosure",
    "Disclosure": "reidbn.attacks.disclosure_result",
    "DisclosureAll": "reidbn.attacks.disclosure",
    "best_generalisation": "reidbn.attacks.disclosure_generalise",
    "equal_width_search": "reidbn.attacks.disclosure_generalise",
    "generalisation_effect": "reidbn.attacks.disclosure_generalise",
    "generalise_several": "reidbn.attacks.disclosure_several",
    # datasets
    "toy_hospital": "reidbn.datasets.toy_hospital",
    "ToyHospital": "reidbn.datasets.toy_hospital",
}

MODULES: dict[str, str] = {
    "leak": "reidbn.attacks.leak",
}
