"""Which kinds of CPD there are: the shipped ones, installed ones, and any mapping given.

A third-party package adds kinds with an entry point, without touching this one:

    [project.entry-points."reidbn.cpds"]
    my-kind = "my_package.cpds:MyKind"
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from reidbn.cpds.protocol import CPD
from reidbn.errors import ModelError

SHIPPED: dict[str, str] = {
    "rows": "rows:Rows",
    "and": "logic:And",
    "or": "logic:Or",
    "threshold": "logic:Threshold",
    "noisy-or": "logic:NoisyOr",
    "noisy-and": "logic:NoisyAnd",
    "mixture": "logic:Mixture",
    "count": "arithmetic:Count",
    "sum": "arithmetic:Sum",
    "minus": "arithmetic:Minus",
    "max": "arithmetic:Max",
    "binomial": "trials:Binomial",
    "geometric": "trials:Geometric",
    "poisson": "trials:Poisson",
    "ranked": "ranks:Ranked",
    "noisy-max": "ranks:NoisyMax",
    "unique": "match:Unique",
    "one-over": "match:OneOver",
    "share": "match:Share",
    "probability": "match:Probability",
    "uniform": "match:Uniform",
    "pitman-uniqueness": "uniqueness:PitmanUniqueness",
    "pitman-match": "uniqueness:PitmanMatch",
    "pitman-class-size": "uniqueness:PitmanClassSize",
    "survey-class-size": "uniqueness:SurveyClassSize",
    "hypergeometric-leak": "leak:HypergeometricLeak",
    "rest-of-leak": "targets:RestOfLeak",
    "target-class": "targets:TargetClass",
    "target-class-leaked": "targets:TargetClassLeaked",
    "target-in-leak": "targets:TargetInLeak",
    "target-picked": "targets:TargetPicked",
    "table": "rows:Table",
    "empirical": "rows:Empirical",
    "lookup": "rows:Lookup",
    "one-of": "match:OneOf",
    "noisy-copy": "match:NoisyCopy",
    "near-copy": "match:NearCopy",
    "function": "function:Function",
}


@cache
def shipped_kinds() -> Mapping[str, type[CPD]]:
    """The kinds of this package by name."""
    kinds: dict[str, type[CPD]] = {}
    for kind, place in SHIPPED.items():
        module, name = place.split(":")
        kinds[kind] = getattr(import_module(f"reidbn.cpds.{module}"), name)
    return kinds


@cache
def installed_kinds() -> Mapping[str, type[CPD]]:
    """Every kind by name: the shipped ones and those that installed packages register."""
    kinds = dict(shipped_kinds())
    for point in entry_points(group="reidbn.cpds"):
        if point.name in kinds:
            raise ModelError(f'an installed package redefines the CPD kind "{point.name}"')
        kinds[point.name] = _checked(point.name, point.load())
    return kinds


def all_kinds(more: Mapping[str, type[CPD]] | None = None) -> dict[str, type[CPD]]:
    """The installed kinds and those of an explicit mapping."""
    kinds = dict(installed_kinds())
    for name, kind in (more or {}).items():
        kinds[name] = _checked(name, kind)
    return kinds


def _checked(name: str, kind: object) -> type[CPD]:
    if not (isinstance(kind, type) and issubclass(kind, CPD)):
        raise ModelError(f'CPD kind "{name}" is not a subclass of reidbn.CPD')
    return kind
