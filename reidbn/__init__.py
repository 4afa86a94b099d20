"""Re-identification risk as explicit graphical models; `import reidbn as rb`."""

from reidbn.late import face

__version__ = "0.1.0"
__all__ = ["__version__"]
# The public names and the rooms that have them: nothing is imported before it is used.  The second
# table has the names that stood here before their rooms were public: rb.cpd.And is rb.cpd.And.
__getattr__ = face(
    __name__,
    {
        "result": "Result",
        "attack": "Attack coverage load models scenarios",
        "inference": "Answer Asked ask check crosscheck most_probable",
        "inference.interchange": "export import_network",
        "microdata": "candidates contingency read_sparse read_table subsets suda",
        "attacks": "Assessment assess disclosure linkage linkage_experiments linkage_truth "
        "neighbourhood read_kin what_if",
        "whatif": "compare decide expect learn solve sweep tornado",
        "report": "draw",
        "plans": "recommend",
        "": "attack cpd=cpds datasets errors leak=attacks.leak lesson microdata plans "
        "population records=attacks.records report secrets=attacks.secrets whatif",
    },
    {
        "errors": "CrosscheckFailed DataError ImpossibleEvidence MissingPart ModelError Problem "
        "ReidbnError TooLarge UsageError",
        "attack": "Group GroupRow Node Parameter Prior Question Scenario SubjectColumn dumps "
        "load_scenario loads register save",
        "cpds": "CPD And Empirical Function HypergeometricLeak Lookup Mixture NoisyAnd NoisyOr "
        "OneOver Or PitmanClassSize PitmanMatch PitmanUniqueness Probability Row Rows Share "
        "SurveyClassSize Table Threshold Uniform Unique cpd_function",
        "inference": "Case",
        "microdata": "Bands Contingency Dates Knowledge Ladder People Prefix Suda Suffix Tree "
        "class_size_chunks class_size_matrix class_sizes_by_mask collapse knowledge "
        "read_hierarchy",
        "attacks": "population_uncertainty",
        "attacks.records": "Near Noisy record_network",
        "attacks.secrets": "Disclosure DisclosureAll best_generalisation disclosure_all "
        "disclosure_calibration disclosure_crosscheck equal_width_search generalisation_effect "
        "generalise_several smoothed_disclosure",
        "whatif": "Comparison Sobol Solution Tornado Uncertainty derivative derivatives sobol "
        "subject_uncertainty uncertainty",
        "report": "disclosure_figures disclosure_page leak_figures risk_utility",
        "datasets": "ToyHospital toy_hospital",
    },
)
