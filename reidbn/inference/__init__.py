"""Engines: the network, exact, enumeration, sampling, pgmpy, cross-check."""
