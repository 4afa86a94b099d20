"""One file per attack: data to subject data to answer."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "": "leak",
        "acting": "act_out",
        "assess": "assess",
        "assessment": "Assessment",
        "blocks": "risks",
        "changes": "what_if",
        "disclosure": "DisclosureAll disclosure disclosure_all",
        "disclosure_crosscheck": "disclosure_crosscheck",
        "disclosure_exact": "Partitioned",
        "disclosure_generalise": "READINGS best_generalisation equal_width_search "
        "generalisation_effect",
        "disclosure_matched": "Matched",
        "disclosure_result": "Disclosure",
        "disclosure_several": "generalise_several",
        "disclosure_smoothed": "disclosure_calibration smoothed_disclosure",
        "disclosure_tally": "tally",
        "disclosure_tree": "SecretTree margin mutual_information spanning_tree",
        "drivers": "drivers most_exposed routes",
        "leak.ask": "classes_of equal_classes",
        "leak.design": "ceiling_of",
        "population_by_subset": "subset_population",
        "population_uncertainty": "population_uncertainty",
        "records": "MOST_RECORDS Near Noisy record_network",
        "register": "assumed register",
        "subset_classes": "subset_classes",
        "summed": "summed",
        "truth": "truth_check",
    },
)
