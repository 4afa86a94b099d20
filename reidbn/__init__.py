"""Re-identification risk as explicit graphical models; `import reidbn as rb`."""

from reidbn.late import face

__version__ = "0.1.0"
__all__ = ["__version__"]
# The public names and the rooms that have them: nothing is imported before it is used.
__getattr__ = face(
    __name__,
    {
        "errors": "CrosscheckFailed DataError ImpossibleEvidence MissingPart ModelError "
        "Problem ReidbnError TooLarge UsageError",
        "result": "Result",
        "attack": "Attack Group GroupRow Node Parameter Prior Question Scenario SubjectColumn "
        "dumps load load_scenario loads models register save scenarios",
        "cpds": "CPD And Empirical Function HypergeometricLeak Lookup Mixture NoisyAnd "
        "NoisyOr OneOver Or PitmanClassSize PitmanMatch PitmanUniqueness Probability "
        "Row Rows Share SurveyClassSize Table Threshold Uniform Unique cpd_function",
        "inference": "Answer Asked Case ask check crosscheck most_probable",
        "inference.interchange": "export import_network",
        "microdata": "Bands Contingency Dates Knowledge Ladder People Prefix Suda Suffix Tree "
        "candidates class_size_chunks class_size_matrix class_sizes_by_mask collapse "
        "contingency knowledge read_hierarchy read_table subsets suda",
        "attacks": "Assessment Disclosure DisclosureAll Near Noisy assess "
        "best_generalisation disclosure disclosure_all disclosure_calibration "
        "disclosure_crosscheck equal_width_search generalisation_effect "
        "generalise_several leak population_uncertainty record_network records "
        "secrets smoothed_disclosure what_if",
        "whatif": "Comparison Sobol Solution Tornado Uncertainty compare derivative "
        "derivatives sobol solve subject_uncertainty sweep tornado uncertainty",
        "report": "disclosure_figures disclosure_page draw leak_figures risk_utility",
        "": "datasets population",
        "datasets": "ToyHospital toy_hospital",
    },
)
