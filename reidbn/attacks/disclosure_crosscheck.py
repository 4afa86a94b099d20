"""The counts of a small table asked again as queries of the record network in pgmpy.

Counting and the network share the codes of the table and nothing else: classes, masks and zeta sums
on one side, a graph and variable elimination on the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from reidbn.attacks.disclosure_result import Disclosure
from reidbn.attacks.records import RecordNetwork, record_network
from reidbn.errors import CrosscheckFailed, UsageError
from reidbn.inference.answers import ask
from reidbn.microdata.table import People


@dataclass(frozen=True)
class NetworkCheck:
    """How many posteriors were asked of pgmpy; all of them were the counted fractions."""

    individuals: int
    subsets: int
    queries: int

    def __str__(self) -> str:
        return (
            f"{self.queries} posteriors of {self.individuals} people on {self.subsets} subsets: "
            "pgmpy and the counts agree in every fraction"
        )


def disclosure_crosscheck(d: Disclosure, *, individuals: int = 10, seed: int = 0) -> NetworkCheck:
    """Ask pgmpy for P(own secret | A) of some people on every subset, and compare the fractions.

    For tables of up to 500 people; raises `CrosscheckFailed` at the first difference.
    """
    if d.several:
        raise UsageError(
            f'people have several values of "{d.secret}", and the record network holds one each'
        )
    codes = d.source.codes
    people = People.from_codes(codes, d.names)
    net = record_network(people, engine="pgmpy")
    rows = np.arange(len(d.table)) if d.rows is None else d.rows
    generator = np.random.default_rng(seed)
    chosen = np.sort(generator.choice(rows.size, min(individuals, rows.size), replace=False))
    others = d.source.others(d.column)
    subsets = [some for size in range(1, len(others) + 1) for some in combinations(others, size)]
    asked: dict[tuple[Any, ...], dict[str, float]] = {}
    for known in subsets:
        peers, same = d.source.at(d.column, known)
        for place in chosen:
            own = codes[rows[place]]
            key = (known, *(int(own[j]) for j in known))
            if key not in asked:
                asked[key] = _posterior(d, net, known, own)
            near = d.source.alike(d.column, int(own[d.column]))
            share = sum(asked[key].get(str(value), 0.0) for value in near.tolist())
            counted = Fraction(int(same[place]), int(peers[place]))
            if Fraction(share).limit_denominator(len(people)) != counted:
                raise CrosscheckFailed(
                    f"person {rows[place]} on {len(known)} known columns: counted "
                    f"{float(counted):.12g}, pgmpy {share:.12g}"
                )
    return NetworkCheck(chosen.size, len(subsets), len(asked))


def _posterior(
    d: Disclosure, net: RecordNetwork, known: tuple[int, ...], own: np.ndarray[Any, Any]
) -> dict[str, float]:
    """P(secret | the known columns are what matches this person's), by code."""
    given: dict[str, Any] = {}
    for j in known:
        column = net.columns[d.names[j]]
        alike = set(d.source.alike(j, int(own[j])).tolist())
        states = column.states
        given[column.node] = (
            states[int(own[j])]
            if len(alike) == 1
            else {state: float(value in alike) for value, state in states.items()}
        )
    secret = net.columns[d.secret]
    found = ask(net.attack, secret.node, given=given, engine="pgmpy").distribution
    return {str(value): found[state] for value, state in secret.states.items()}
