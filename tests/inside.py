"""Where a public name lives: for the few tests that turn a limit down or make a helper fail.

Tests know the package by its faces alone.  A limit that a test turns down is found beside something
public that uses it, so it is found wherever the two go:

    monkeypatch.setattr(inside(rb.contingency), "_DENSE", 0)
"""

import sys
from types import ModuleType
from typing import Any


def inside(thing: Any) -> ModuleType:
    """The module that a function or class of the package is written in."""
    return sys.modules[thing.__module__]
