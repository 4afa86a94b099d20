"""One file per attack: data to subject data to answer."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "": "leak records secrets",
        "acting": "act_out",
        "assess": "assess",
        "assessment": "Assessment",
        "blocks": "risks",
        "changes": "what_if",
        "columns": "Provider Told providers",
        "secrets.ask": "DisclosureAll disclosure disclosure_all disclosure_crosscheck",
        "secrets.counts": "tally",
        "secrets.generalise": "READINGS best_generalisation equal_width_search "
        "generalisation_effect generalise_several",
        "secrets.peers": "Matched Partitioned",
        "secrets.result": "Disclosure",
        "secrets.smoothed": "SecretTree disclosure_calibration margin mutual_information "
        "smoothed_disclosure spanning_tree",
        "drivers": "drivers most_exposed routes",
        "leak.ask": "classes_of equal_classes",
        "leak.design": "ceiling_of",
        "population_by_subset": "subset_population",
        "population_uncertainty": "population_uncertainty",
        "records.network": "MOST_RECORDS Near Noisy record_network",
        "register": "assumed register",
        "subset_classes": "subset_classes",
        "summed": "summed",
        "truth": "truth_check",
    },
)
