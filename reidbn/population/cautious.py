"""Where no model was held against a real population, the more cautious of two speaks.

One rule for the recommendation (compare.py) and for assessments.
"""

from __future__ import annotations

COMPARED = 0.005
"""The smallest sampling fraction at which models were held against real populations."""
LOG_LINEAR, POSTERIOR = "log-linear", "pitman-bayes"


def is_uncompared(n: float, population: float) -> bool:
    """Whether so few are in the table that no record says which model is nearer."""
    return n < population and n / population < COMPARED


def uncompared(n: float, population: float) -> str:
    """Why a number at this sampling fraction has no record, in words."""
    return (
        f"{n / population:.2g} of the population is in the table, and models of it were held "
        f"against real populations from {COMPARED:g} on"
    )
