"""Tables of people: classes, subsets, masks, contingency."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "candidates": "Candidates candidates",
        "contingency": "Contingency contingency",
        "duck": "collapse",
        "hierarchy": "Bands Prefix Suffix",
        "knowledge": "Knowledge knowledge",
        "ladders": "Dates Ladder Tree read_hierarchy",
        "masks": "class_size_chunks class_sizes_by_mask",
        "proposed": "in_parts propose_hierarchies rare_together write_hierarchy",
        "read": "read_table",
        "sparse": "Feature Sparse read_sparse",
        "sparsity": "Sparsity",
        "subsets": "class_size_matrix subsets",
        "suda": "Suda suda",
        "table": "People",
    },
    {
        "agree": "Agreement agreement members patterns",
        "banded": "seen",
        "assignment": "pair_probabilities",
        "classes": "class_ids class_sizes",
        "coding": "Raw tidy",
        "columns": "is_nhs_number",
        "csvfile": "code_csv",
        "hierarchy": "interval stars_meet",
        "knowledge": "expected grouped",
        "lattice": "Gather Walk",
        "masks": "superset_sums",
        "matching": "Relation match_totals wildcard",
        "placing": "chance_of",
        "rows": "distinct_rows",
        "slab": "every_subset sizes_of_rows",
        "sources": "source_of",
        "spark": "local_session",
        "subset_table": "binomial_interval",
        "subsets": "expectations frequencies_by_mask inverse is_unique",
    },
)
