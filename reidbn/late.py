"""What is found when it is first asked for: late doors of a value, and the faces of the rooms.

The house builds upwards only.  Where a value is to have a verb of a higher room (`attack.to_pgmpy`,
`people.suppress`, `assessment.to_html`), its class names a door:

    to_pgmpy = late("reidbn.inference.pgmpy_bridge:attack_to_pgmpy")

The function behind it takes the value first.  tests/test_house.py lists every door.

A room says in its `__init__.py` which names may be used from outside and where they live, so that a
file that moves changes that table and no user of the room:

    __getattr__ = face(__name__, {"logic": "And Or Threshold", "": "registry"})

`from reidbn.cpds import And` then imports `reidbn.cpds.logic`; the names under "" are modules, and
`cpd=cpds` is one by another name.  A second table has names that are found but not shown: what only
the house itself uses, and older names of things that have a better place now.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MethodType, ModuleType
from typing import Any

at_first_sight: list[Callable[[type], None]] = []
"""What is done to a dataclass of a face when it is asked for (calls.py)."""


class late:  # noqa: N801 - read as a word in a class body
    """A method that is the function at `module:name`, imported when it is asked for."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __get__(self, thing: object | None, owner: type | None = None) -> Any:
        module, _, name = self.place.partition(":")
        function = getattr(import_module(module), name)
        return function if thing is None else MethodType(function, thing)


class Face(ModuleType):
    """A room with a face: `__homes__` says in which module each of its names lives."""

    __homes__: dict[str, str]

    def __setattr__(self, name: str, value: Any) -> None:
        """Python hangs every loaded file on its room: not where a name of the room is called so."""
        if not (isinstance(value, ModuleType) and self.__homes__.get(name)):
            super().__setattr__(name, value)


def face(
    room: str, shown: Mapping[str, str], found: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Give `room` its face and return its `__getattr__`.

    `shown` has the names in each module; those of `found` resolve alike and `dir` leaves them out.
    """
    module = sys.modules[room]
    aliases: dict[str, str] = {}

    def homes_of(modules: Mapping[str, str]) -> dict[str, str]:
        homes = {}
        for home, names in modules.items():
            for name, _, target in (word.partition("=") for word in names.split()):
                homes[name] = home
                aliases[name] = target or name
        return homes

    public = homes_of(shown)
    homes = public | homes_of(found or {})

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{room}' has no attribute '{name}'")
        if not homes[name]:
            return import_module(f"{room}.{aliases[name]}")
        thing = getattr(import_module(f"{room}.{homes[name]}"), name)
        if isinstance(thing, type) and "__dataclass_fields__" in vars(thing):
            for look in at_first_sight:
                look(thing)
        return thing

    own = vars(module)
    own["__all__"] = sorted({*public, *own.get("__all__", ())})
    own["__dir__"] = lambda: own["__all__"]
    own["__homes__"] = homes
    module.__class__ = Face
    return find
