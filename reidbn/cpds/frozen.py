"""Values that cannot change: lists become tuples, dicts become read-only, NumPy numbers plain."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict that cannot be changed, so that it can be hashed and shared.

    >>> FrozenDict(a=1) == {"a": 1}
    True
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping cannot be changed; make a copy with dict(...)")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def __copy__(self) -> FrozenDict[K, V]:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict[K, V]:
        return self


def frozen(value: Any) -> Any:
    """The value with every list, dict and NumPy value inside it made immutable and plain.

    >>> frozen({"p": [0.5, "rest"]})
    {'p': (0.5, 'rest')}
    """
    if hasattr(value, "tolist"):  # a NumPy array or number
        value = value.tolist()
    if isinstance(value, dict):
        return FrozenDict({key: frozen(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    return value


def freeze_fields(thing: Any) -> None:
    """Make the fields of a frozen dataclass immutable, at its birth."""
    for field in fields(thing):
        object.__setattr__(thing, field.name, frozen(getattr(thing, field.name)))
