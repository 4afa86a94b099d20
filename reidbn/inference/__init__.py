"""Engines: the network, exact, enumeration, sampling, pgmpy, cross-check."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "": "enumeration exact interchange pgmpy_bridge sampling",
        "answer": "Answer Expectation",
        "answers": "ask joint",
        "asked": "Asked Case Asking make_case",
        "checking": "check",
        "compared": "AGREES Cell Counted DISAGREES Printed compare people_to_compare",
        "crosscheck": "crosscheck",
        "lowering": "STEPS Lowering lower",
        "most_probable": "best_case chancy_steps entries_of most_probable",
        "network": "as_probability plain_nodes",
        "paths": "by_elimination",
        "query": "read_query",
        "rare": "count_rare",
        "retold": "retell",
        "single": "single_table",
        "values": "subject_values",
    },
)
