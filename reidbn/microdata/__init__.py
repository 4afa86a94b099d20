"""Tables of people: classes, subsets, masks, contingency."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "assignment": "pair_probabilities",
        "bands": "Bands interval",
        "candidates": "candidates",
        "classes": "class_ids class_sizes",
        "coding": "Raw tidy",
        "contingency": "Contingency contingency",
        "csvfile": "code_csv",
        "dates": "Dates",
        "direct": "is_nhs_number",
        "duck": "collapse",
        "knowledge": "Knowledge expected grouped knowledge",
        "ladders": "Ladder Tree read_hierarchy",
        "lattice": "distinct_rows",
        "masks": "Matcher class_size_chunks class_sizes_by_mask superset_sums",
        "matching": "Relation match_totals wildcard",
        "placing": "chance_of",
        "prefixes": "Prefix Suffix stars_meet",
        "read": "read_table",
        "sampled": "binomial_interval",
        "seen": "seen",
        "slab": "every_subset sizes_of_rows",
        "sources": "source_of",
        "spark": "local_session",
        "subsets": "class_size_matrix expectations frequencies_by_mask inverse is_unique subsets",
        "suda": "Suda suda",
        "table": "People",
        "walk": "Gather Walk",
    },
)
