"""An ordered, immutable collection of named things."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

from reidbn.errors import UsageError, did_you_mean


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Catalogue(Mapping[str, T], Generic[T]):
    """Things by name, in the order they were declared; an unknown name says what there is.

    `twice` lists names that were given more than once, for the owner to report.
    """

    __slots__ = ("_items", "twice", "what")

    def __init__(self, things: Iterable[T] = (), *, what: str = "thing") -> None:
        things = tuple(things)
        self._items = {thing.name: thing for thing in things}
        names = [thing.name for thing in things]
        self.twice = tuple(sorted({name for name in names if names.count(name) > 1}))
        self.what = what

    def __getitem__(self, name: str) -> T:
        try:
            return self._items[name]
        except KeyError:
            hint = did_you_mean(name, self._items)
            raise UnknownName(f'no {self.what} "{name}"; {hint}') from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def replace(self, *things: T) -> Catalogue[T]:
        """A copy with some things replaced or added."""
        merged = {**self._items, **{thing.name: thing for thing in things}}
        return Catalogue(merged.values(), what=self.what)

    def __repr__(self) -> str:
        return f"{{{', '.join(self._items)}}}"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Catalogue) and list(self.items()) == list(other.items())

    __hash__ = None  # type: ignore[assignment]


class UnknownName(UsageError, KeyError):
    """A name that the catalogue does not hold."""

    def __str__(self) -> str:
        return str(self.args[0])
