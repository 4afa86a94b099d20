"""--functions: Python functions for nodes of kind `function`, named on the command line alone.

A model file never names a file of code: whoever runs the command says whose code is run.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from inspect import getmembers, isfunction
from pathlib import Path
from typing import Any

import click

from reidbn.errors import UsageError

# The commands that read a model, by name.
COMMANDS = (
    "ask", "assess", "check", "compare", "coverage", "crosscheck", "decide", "derivatives", "draw",
    "export", "learn", "page", "show", "sobol", "solve", "sweep", "tornado", "uncertainty",
)  # fmt: skip


def with_functions(command: click.Command, name: str) -> click.Command:
    """The command with the option, where it reads models."""
    if name in COMMANDS and not any("--functions" in p.opts for p in command.params):
        command.params.append(
            click.Option(
                ["--functions"],
                multiple=True,
                metavar="FILE.py",
                is_eager=True,
                expose_value=False,
                callback=_read,
                help="Run this Python file, for nodes of kind function.",
            )
        )
    return command


def _read(_: click.Context, __: click.Parameter, paths: tuple[str, ...]) -> None:
    for path in paths:
        read_functions(Path(path))


def read_functions(path: Path) -> list[str]:
    """Run a file and register its functions; their names.

    What @rb.cpd.cpd_function has registered is as declared there.  Any other function of the file
    is known by its own name, and called case by case.
    """
    from reidbn.cpds.function import _REGISTERED, cpd_function

    if not path.is_file():
        raise UsageError(f"--functions {path}: there is no such Python file")
    if path.suffix != ".py":
        raise UsageError(f"--functions {path}: it is no Python file; name one that ends in .py")
    name = f"reidbn_functions_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"--functions {path}: it cannot be read as Python")
    module: Any = module_from_spec(spec)
    sys.modules[name] = module
    before = {*_REGISTERED}
    try:
        spec.loader.exec_module(module)
    except Exception as problem:  # whatever code of the user's may raise
        raise UsageError(f"--functions {path}: {type(problem).__name__}: {problem}") from problem
    known = {id(function) for function in _REGISTERED.values()}
    for own, function in getmembers(module, isfunction):
        if function.__module__ == name and own[0] != "_" and id(function) not in known:
            cpd_function(own, scalar=True)(function)
    found = sorted({*_REGISTERED} - before)
    if not found and not any(f.__module__ == name for f in _REGISTERED.values()):
        raise UsageError(f"--functions {path}: it defines no function")
    return found
