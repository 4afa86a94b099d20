"""The attack language: parameters, nodes, groups, files and scenarios."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "attack": "Attack",
        "coverage": "Coverage coverage",
        "evidence": "Elicited Expert Measured Study",
        "modelfile": "dumps load loads models save",
        "parts": "Group GroupRow Node Number Parameter Question SubjectColumn",
        "prior": "Prior",
        "register": "register",
        "scenario": "Scenario",
        "scenariofile": "load_scenario scenarios",
    },
    {
        "assumptions": "assumptions_behind",
        "bounds": "enclosure",
        "cards": "cards edges",
        "cells": "LINDDUN",
        "evidence": "interval",
        "formula": "evaluate parse",
        "modelfile": "WIDTH layout models_folder",
        "parts": "parse_given",
        "register": "read_facts",
        "repeated": "folded",
        "scenario": "FactLookup InBands Known Knows Listed Profile",
        "scenariofile": "scenarios_folder",
        "schema": "json_schema json_schema_text",
        "threats": "is_threat_type",
        "yamltext": "read_yaml scalar",
    },
)
