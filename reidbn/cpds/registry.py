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
from pkgutil import iter_modules

from reidbn.cpds.protocol import CPD
from reidbn.errors import ModelError


@cache
def shipped_kinds() -> Mapping[str, type[CPD]]:
    """The kinds of this package by name: every public one of its files that a model may name."""
    kinds: dict[str, type[CPD]] = {}
    for found in iter_modules(import_module("reidbn.cpds").__path__, "reidbn.cpds."):
        for name, made in vars(import_module(found.name)).items():
            is_kind = isinstance(made, type) and issubclass(made, CPD) and "kind" in vars(made)
            if is_kind and made.in_files and made.__module__ == found.name and name[0] != "_":
                kinds[made.kind] = made
    return dict(sorted(kinds.items()))


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
