"""Of policies that are worth the same to the attacker, that with the highest answer.

An answer is told for one of them (`deciding`: that with the highest P(attack)), and a gate must not
let pass what another, which the attacker may take as well, would not keep.  Ties are broken by

    m(policy) = P(target, evidence) - x P(evidence)                                           (1)

which each decision, in the order in which they are solved, has as much of as it can.  Without
evidence x is 0; with it (1) is solved again with x at the answer found, until that grows no more
(Dinkelbach's ratio of two sums [Dinkelbach67]): policies are finitely many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from reidbn.above import is_above
from reidbn.cpds.protocol import Array
from reidbn.errors import EngineError
from reidbn.inference.deciding import MOST_ROUNDS, Payoff, Solved, Solver, chance_seen, written
from reidbn.inference.exact import Plan
from reidbn.inference.network import FAULT, Network
from reidbn.inference.query import Query


def tied_in(solved: Solved, do: Mapping[str, str]) -> set[str]:
    """Decisions in which another option is worth as much, where what is seen then can be.

    What is brought about (`do`) may show him what his model rules out.
    """
    done = solved.network.do(do)
    return {
        name for name, choice in solved.choices.items()
        if name not in do and (choice.tied & (chance_seen(done, name) > 0)).any()
    }  # fmt: skip


def worst_of_tied(solver: Solver, query: Query) -> Network:
    """The network with, of the policies that are worth most, that with the highest answer."""
    solved = solver.solve()
    network = solved.network
    if not tied_in(solved, query.do):
        return network
    answer = _answer(network, query)
    for _ in range(MOST_ROUNDS):
        leaning = _leaning(network, query, answer)
        trial = replace(solver, leaning=leaning, do=query.do).solve().network
        if not query.given:
            return trial
        found = _answer(trial, query)
        better = is_above(found, answer)
        if not better.any():
            return network
        for name in solved.choices:
            here, there = network.factors[name].table, trial.factors[name].table
            keep = better.reshape(*better.shape, *(1,) * (here.ndim - 2))
            table = np.where(keep, there, here)
            network = written(network, name, table, solver.act(name, table))
        answer = np.where(better, found, answer)
    raise EngineError(f"{solver.attack.name}: no policy settles. {FAULT}")


def _answer(network: Network, query: Query) -> Array:
    """P(target | evidence), subject x setting; 0 where the evidence cannot be."""
    if not query.given:
        return np.zeros((1, 1))
    given = {n: network.state_index(n, s) for n, s in query.given.items()}
    p = Plan(query.targets, given).joint(network.do(query.do))
    evidence = p.sum(axis=tuple(range(2, p.ndim)))
    wanted: Any = (..., *(network.state_index(n, query.wanted[n]) for n in query.targets))
    top = p[wanted]
    return np.where(evidence > 0, top / np.where(evidence > 0, evidence, 1.0), 0.0)


def _leaning(network: Network, query: Query, answer: Array) -> Payoff:
    """Equation (1) as a table over the nodes of the question."""
    of = tuple(dict.fromkeys((*query.targets, *query.given)))
    sizes = [network.size(n) for n in of]

    def holds(states: dict[str, str]) -> Array:
        table = np.zeros(sizes)
        table[tuple(network.state_index(n, states[n]) if n in states else slice(None)
                    for n in of)] = 1.0  # fmt: skip
        return table

    fits = holds(dict(query.given))
    hit = fits * holds({n: query.wanted[n] for n in query.targets})
    return Payoff(of, hit - answer.reshape(*answer.shape, *(1,) * len(of)) * fits)
