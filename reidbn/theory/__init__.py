"""Pure mathematics: arrays in and out, NumPy and SciPy only."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "agreement": "clustered_interval detectable disagrees interval intervals mean_interval "
        "mean_of_shares_interval probability_interval share_interval tell_apart",
        "alike": "mean_inverse_drawn",
        "circle": "Classes find_log_odds",
        "class_law": "ClassSizePosterior log_class_size_pmf mean_inverse mean_inverse_over",
        "faces": "Budget Faces chance_of_faces count_faces maximal packed split "
        "union_bound unpacked",
        "frequencies": "FrequencyTable Packed",
        "functions_of": "columns_kept determined smallest",
        "gamma": "log1p_sums log_ratio log_ratio_slope log_thinning",
        "generalisation": "best_partitions equal_width_options partition_value",
        "hypergeometric": "identified leaked_pmf log_none_leaked mean_touched none_leaked "
        "touched_pmf",
        "independence": "evened independent_at moments squared",
        "kinship": "Channel codes_given given_other one_of_several truth_prior",
        "layer": "BESIDE CalibratedLayer common_layer fit_layer mean_inverse_common which_beside",
        "layers": "fit_layers knots read tally",
        "leak_by_paper": "act_out log_recursion",
        "loglinear": "VARIANTS Cells expected_counts mean_inverse_beside proportional_fit risk",
        "marginals": "Marginals rarest",
        "number_identified": "log_number_identified missed seconds_of_law support",
        "pitman": "expected_uniques expected_uniques_asymptotic expected_uniques_given "
        "factorial_moments_given log_stays_unique seat_people stays_unique "
        "urn_growth",
        "pitman_fit": "BOUNDARY INTERIOR NO_MAXIMUM log_likelihood maximise slopes within_classes",
        "ratios": "fractions_near ranks_by_size tie_step",
        "reached": "found_sets",
        "real_roots": "common real_roots simplest square_free",
        "realised": "Realised",
        "region": "Nodes Region posterior posteriors",
        "similar_sizes": "Levelled level_steps levelled",
        "singled_out": "best_scores drawn_orders failures_by_union left_over",
        "species": "CLASSES classes_in_population solve_snb zayatz",
        "structure": "Distinct LatentClasses by_classes by_forest forest latent_classes pair pairs"
        " together",
        "survey": "individual_risk individual_risk_approximate",
        "targets": "log_all_identified",
    },
)
