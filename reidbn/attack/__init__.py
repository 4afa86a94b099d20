"""The attack language: parameters, nodes, groups, files and scenarios."""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "assumptions": "assumptions_behind",
        "attack": "Attack",
        "cells": "LINDDUN",
        "check": "is_threat_type",
        "modelfile": "WIDTH dumps layout load loads models models_folder save",
        "parts": "Group GroupRow Node Parameter Prior Question SubjectColumn parse_given",
        "register": "read_facts register",
        "scenario": "FactLookup InBands Known Knows Listed Profile Scenario",
        "scenariofile": "load_scenario scenarios scenarios_folder",
        "schema": "json_schema json_schema_text",
        "yamltext": "read_yaml scalar",
    },
)
