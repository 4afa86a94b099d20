"""Engines: the network, exact, enumeration, sampling, pgmpy, cross-check."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "": "enumeration exact interchange pgmpy_bridge sampling",
        "answer": "Answer",
        "answers": "ask joint",
        "asked": "Asked Case Asking make_case",
        "cells": "AGREES DISAGREES Cell Counted",
        "checking": "check",
        "compared": "Printed people_to_compare compare",
        "crosscheck": "crosscheck",
        "lowering": "STEPS Lowering lower subject_values",
        "most_probable": "best_case chancy_steps entries_of most_probable",
        "network": "as_probability",
        "paths": "by_elimination",
        "plain": "plain_nodes",
        "query": "read_query",
        "rare": "count_rare",
        "retold": "retell",
        "single": "single_table",
    },
)
