"""Late doors: verbs of a value whose work is done in a room above, found when first used.

The house builds upwards only.  Where a value is to have a verb of a higher room (`attack.to_pgmpy`,
`people.suppress`, `assessment.to_html`), its class names a door:

    to_pgmpy = late("reidbn.inference.pgmpy_bridge:attack_to_pgmpy")

The function behind it takes the value first.  tests/test_house.py lists every door.
"""

from __future__ import annotations

from importlib import import_module
from types import MethodType
from typing import Any


class late:  # noqa: N801 - read as a word in a class body
    """A method that is the function at `module:name`, imported when it is asked for."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __get__(self, thing: object | None, owner: type | None = None) -> Any:
        module, _, name = self.place.partition(":")
        function = getattr(import_module(module), name)
        return function if thing is None else MethodType(function, thing)
