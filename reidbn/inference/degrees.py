"""How often a parameter is multiplied with itself: the degree of an answer in one parameter.

P(target, evidence) is a sum of products with one entry of every table in each product, so its
degree in a parameter is at most the sum, over the tables that hold the parameter, of the degree of
their entries.  1 means affine; a parameter that several tables share makes it 2 or more.

Another kind of CPD says its own degree with `@degree.register`; where nothing is known (a formula,
a Python function) the answer is None and callers must measure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch

from reidbn.attack.attack import Attack
from reidbn.cpds.logic import NoisyAnd, NoisyOr
from reidbn.cpds.match import Probability, Unique
from reidbn.cpds.mixture import Mixture
from reidbn.cpds.protocol import CPD, Variable
from reidbn.cpds.rows import Rows
from reidbn.inference.query import Query


@singledispatch
def degree(cpd: CPD, name: str, parents: Sequence[Variable]) -> int | None:
    """Degree of a table's entries in a parameter that it holds; None when that is not known."""
    return None


@degree.register
def _(cpd: Rows, name: str, parents: Sequence[Variable]) -> int | None:
    return 1  # one row holds at a time; its cells are the parameter, numbers, and what is left


@degree.register
def _(cpd: Probability, name: str, parents: Sequence[Variable]) -> int | None:
    return 1


@degree.register
def _(cpd: Unique, name: str, parents: Sequence[Variable]) -> int | None:
    return None if cpd.of == f"${name}" else 1


@degree.register(NoisyOr)
@degree.register(NoisyAnd)
def _(cpd: NoisyOr | NoisyAnd, name: str, parents: Sequence[Variable]) -> int | None:
    """(1 - leak) prod (1 - weight): one factor for every input that may count."""
    inputs = sum(len(p.members) or 1 for p in parents if cpd.weight(p.name) == f"${name}")
    return inputs + (cpd.leak == f"${name}")


@degree.register
def _(cpd: Mixture, name: str, parents: Sequence[Variable]) -> int | None:
    parts = [degree_in(component, name, parents) for component in cpd.components]
    if None in parts:
        return None
    return (f"${name}" in cpd.weights) + max((p for p in parts if p is not None), default=0)


def holds(cpd: CPD, name: str) -> bool:
    """True when the CPD refers to the parameter."""
    return any(ref in (name, f"${name}") for ref in cpd.references())


def degree_in(cpd: CPD, name: str, parents: Sequence[Variable]) -> int | None:
    """Degree of a table's entries in any parameter; 0 when it does not hold it."""
    return degree(cpd, name, parents) if holds(cpd, name) else 0


def nodes_that_matter(attack: Attack, query: Query) -> set[str]:
    """Nodes whose tables can change the answer: upstream of it, and not set from outside."""
    found: set[str] = set()
    todo = [*query.targets, *query.given]
    while todo:
        node = todo.pop()
        if node not in found and node not in query.do:
            found.add(node)
            todo += attack.parent_nodes(attack.all_nodes[node])
    return found


def degree_of_answer(
    attack: Attack, query: Query, name: str, values: Mapping[str, float]
) -> int | None:
    """Degree of P(target, evidence) and of P(evidence) in a parameter; None when not known.

    >>> from reidbn.attack.modelfile import load
    >>> from reidbn.inference.query import read_query
    >>> attack, query = read_query(load("adversary-routes"), "reidentified=yes")
    >>> degree_of_answer(attack, query, "p_c", {})
    1
    """
    total = 0
    for node_name in nodes_that_matter(attack, query):
        node = attack.all_nodes[node_name]
        if holds(node.cpd, name):
            parents = [attack.variable(p, values) for p in node.parents]
            part = degree_in(node.cpd, name, parents)
            if part is None:
                return None
            total += part
    return total
