"""Conditional probability tables, one file per idea."""
