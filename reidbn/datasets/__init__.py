"""Synthetic tables, and real ones fetched on request."""
