"""Answers by sampling: for any number of group members, with an interval that says how sure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.calls import refuse_outside
from reidbn.errors import ImpossibleEvidence, UsageError
from reidbn.inference.answer import Answer
from reidbn.inference.lowering import Lowering
from reidbn.inference.network import Network
from reidbn.inference.query import Query
from reidbn.inference.sampling import States, forward, matching
from reidbn.inference.values import subject_values
from reidbn.progress import progress
from reidbn.theory.agreement import interval

MOST_ROWS = 10**11  # some days' work
MOST_SEED = 2**128 - 1
AT_ONCE = 250_000  # rows acted out at a time, so that memory does not grow with the sample


def check_sample(rows: int, seed: int) -> None:
    """Rows that can be sampled, from a seed that a generator takes."""
    refuse_outside("draws", rows, least=1, most=MOST_ROWS)
    refuse_outside("seed", seed, least=0, most=MOST_SEED)


def batches(rows: int) -> Iterator[int]:
    """The sizes of the batches that make up `rows`."""
    return progress(
        [min(AT_ONCE, rows - done) for done in range(0, rows, AT_ONCE)], "forward sampling"
    )


def estimate(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Any] | None,
    *,
    draws: int,
    seed: int,
) -> Answer:
    """P(target | given, do) as a share of the sampled rows that fit the evidence."""
    columns = subject_values(attack, subject)
    lowering = Lowering.of(attack, settings, query, tables=False)
    network = lowering.network(columns).do(query.do)
    if network.subjects > 1 or network.settings > 1:
        raise UsageError(
            f"sampling answers for one subject at one setting; got {network.subjects} subjects "
            f"and {network.settings} settings"
        )
    check_sample(draws, seed)
    hits, fits = _count(network, query, draws, np.random.default_rng(seed))
    if not fits:
        raise ImpossibleEvidence(
            f"none of {draws:,} sampled rows fits the evidence: it is impossible or too rare; "
            f"ask the exact engine"
        )
    states = () if query.wanted else network.states[query.targets[0]]
    p = hits / fits
    return Answer(
        query=query,
        probability=p if query.is_distribution else p[0],
        evidence_probability=np.asarray(fits / draws),
        states=states,
        engine="sampling",
        attack=attack,
        settings=dict(settings),
        draws=draws,
        interval=interval(int(hits[0]), fits) if query.wanted else None,
    )


def _count(
    network: Network, query: Query, rows: int, rng: np.random.Generator
) -> tuple[np.ndarray, int]:
    """Rows with each wanted state (or each state of the node) among those that fit."""
    nodes = [*query.targets, *query.given]
    hits: Any = 0
    fits = 0
    for batch in batches(rows):
        states = forward(network, batch, rng, wanted=nodes)
        fit = np.broadcast_to(matching(network, states, dict(query.given)), batch)
        fits += int(fit.sum())
        hits = hits + _hits(network, query, states, fit)
    return np.asarray(hits), fits


def _hits(network: Network, query: Query, states: dict[str, States], fit: Any) -> np.ndarray:
    if query.wanted:
        return np.array([(matching(network, states, dict(query.wanted)) & fit).sum()])
    target = query.targets[0]
    return np.bincount(states[target][fit], minlength=network.size(target))
