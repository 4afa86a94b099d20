"""The attack language: parameters, nodes, groups, files and scenarios."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "assumptions": "assumptions_behind",
        "attack": "Attack",
        "cells": "LINDDUN",
        "facts": "read_facts",
        "knows": "InBands Known Knows Listed FactLookup Profile",
        "layout": "WIDTH layout",
        "modelfile": "dumps load loads models models_folder save",
        "parameter": "Parameter Prior",
        "parts": "Group GroupRow Node Question SubjectColumn parse_given",
        "register": "register",
        "scenario": "Scenario",
        "scenariofile": "load_scenario scenarios scenarios_folder",
        "schema": "json_schema json_schema_text",
        "slips": "is_threat_type",
        "yamltext": "read_yaml scalar",
    },
)
