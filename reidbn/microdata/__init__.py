"""Tables of people: classes, subsets, masks, contingency."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "candidates": "candidates pair_probabilities",
        "classes": "class_ids class_sizes",
        "coding": "Raw tidy",
        "columns": "is_nhs_number",
        "contingency": "Contingency contingency",
        "csvfile": "code_csv",
        "duck": "collapse",
        "hierarchy": "Bands Prefix Suffix interval stars_meet",
        "knowledge": "Knowledge expected grouped knowledge",
        "ladders": "Dates Ladder Tree read_hierarchy",
        "lattice": "Gather Walk distinct_rows",
        "masks": "Matcher class_size_chunks class_sizes_by_mask superset_sums",
        "matching": "Relation match_totals wildcard",
        "placing": "chance_of seen",
        "read": "read_table",
        "slab": "every_subset sizes_of_rows",
        "sources": "source_of",
        "spark": "local_session",
        "subset_table": "binomial_interval",
        "subsets": "class_size_matrix expectations frequencies_by_mask inverse is_unique subsets",
        "suda": "Suda suda",
        "table": "People",
    },
)
