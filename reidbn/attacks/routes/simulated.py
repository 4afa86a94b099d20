"""An assessment acted out: shares of draws in place of sums."""

from __future__ import annotations

import numpy as np

from reidbn.attack.attack import Attack
from reidbn.attacks.routes.assessment import Array
from reidbn.attacks.routes.inputs import Inputs
from reidbn.attacks.routes.subject_data import SubjectTable
from reidbn.errors import UsageError
from reidbn.inference.estimates import AT_ONCE
from reidbn.inference.lowering import Lowering
from reidbn.inference.query import Query
from reidbn.inference.sampling import forward, matching
from reidbn.written import counted


def simulated(attack: Attack, query: Query, inputs: Inputs, table: SubjectTable) -> Array:
    """Act the attack out `draws` times per person; the share of successes."""
    if query.given:
        raise UsageError("simulation acts forward and takes no evidence; use the exact method")
    rng = np.random.default_rng(inputs.seed)
    columns = {n: np.asarray(v) for n, v in table.columns.items()}
    network = Lowering(attack, inputs.set, tables=False).network(columns).do(query.do)
    wanted = dict(query.wanted)
    risk = np.empty(table.subjects)
    step = max(1, AT_ONCE // inputs.draws)
    for start in range(0, table.subjects, step):
        who = np.arange(start, min(start + step, table.subjects))
        rows = np.repeat(who, inputs.draws)
        states = forward(network, len(rows), rng, subject=rows, wanted=wanted)
        hits = np.broadcast_to(matching(network, states, wanted), len(rows))
        risk[who] = hits.reshape(len(who), inputs.draws).mean(axis=1)
    return risk


def of_draws(inputs: Inputs, table: SubjectTable) -> list[str]:
    """How people's risks were drawn, where they were."""
    if inputs.method == "exact":
        return []
    kinds = counted(table.subjects, "kind")
    return [
        f"acted out {counted(inputs.draws, 'time')} for each of {kinds} of people: those alike "
        f"have one share of draws together. No rule is judged by it, and no interval holds what an "
        f"estimate of the population leaves open"
    ]
