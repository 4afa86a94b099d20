"""One file per attack: data to subject data to answer."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "": "leak records secrets",
        "family.kin": "Kin read_kin",
        "family.neighbourhood": "Neighbourhood family_experiments neighbourhood",
        "leak.ask": "classes_of equal_classes",
        "leak.design": "ceiling_of",
        "linkage.ask": "linkage",
        "linkage.experiments": "linkage_experiments",
        "linkage.model_truth": "linkage_truth",
        "linkage.result": "Linkage",
        "records.network": "MOST_RECORDS Near Noisy record_network",
        "routes.assess": "assess",
        "routes.assessment": "Assessment",
        "routes.blocks": "risks",
        "routes.changes": "what_if",
        "routes.counts": "subset_classes",
        "routes.explained": "PersonExplained explain explain_from",
        "routes.drivers": "drivers most_exposed routes",
        "routes.population": "SubsetPopulation",
        "routes.speaking": "subset_population",
        "routes.readings": "population_uncertainty",
        "routes.register": "assumed register",
        "routes.subject_data": "Provider Told providers",
        "routes.summed": "summed",
        "routes.truth": "act_out truth_check",
        "secrets.ask": "DisclosureAll disclosure disclosure_all disclosure_crosscheck",
        "secrets.counts": "tally",
        "secrets.generalise": "READINGS best_generalisation equal_width_search "
        "generalisation_effect generalise_several",
        "secrets.peers": "Matched Partitioned",
        "secrets.result": "Disclosure",
        "secrets.smoothed": "SecretTree disclosure_calibration margin mutual_information "
        "smoothed_disclosure spanning_tree",
    },
)
