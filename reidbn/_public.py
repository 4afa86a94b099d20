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
    # engines and questions
    "ask": "reidbn.inference.answers",
    "Answer": "reidbn.inference.answers",
    "crosscheck": "reidbn.inference.crosscheck",
    # what-if
    # microdata
    "read_table": "reidbn.microdata.read",
    "People": "reidbn.microdata.table",
    "Bands": "reidbn.microdata.bands",
    "Prefix": "reidbn.microdata.prefixes",
    "Suffix": "reidbn.microdata.prefixes",
    "Tree": "reidbn.microdata.ladders",
    "Ladder": "reidbn.microdata.ladders",
    "read_hierarchy": "reidbn.microdata.ladders",
    # population
    # attacks
    "disclosure": "reidbn.attacks.disclosure",
    "disclosure_all": "reidbn.attacks.disclosure",
    "Disclosure": "reidbn.attacks.disclosure_result",
    "DisclosureAll": "reidbn.attacks.disclosure",
    # datasets
}

MODULES: dict[str, str] = {}
