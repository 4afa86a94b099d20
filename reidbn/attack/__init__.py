"""The attack language: parameters, nodes, groups, files and scenarios."""
