"""The columns of a source beside those that are looked at: what is said of them, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reidbn.errors import DataError
from reidbn.microdata.coding import tidy
from reidbn.microdata.direct import LOOKED_AT, looks_direct, named_direct
from reidbn.microdata.header import may_be_a_person, readable
from reidbn.microdata.sources import Source


@dataclass(frozen=True)
class Others:
    """Names of columns: nothing is known of what their values tell."""

    names: tuple[str, ...] = ()
    used: tuple[tuple[str, str], ...] = ()
    """Which were read for something else alone, and for what."""
    pointing: tuple[tuple[str, str], ...] = ()
    """Which point at a person, and by what: their names, or what their first rows hold."""
    seen: tuple[tuple[str, str], ...] = ()
    """Of the columns that are looked at those that point at a person, and by what."""

    @property
    def unseen(self) -> list[str]:
        """Those that nobody looked at; first those that point at a person."""
        used, point = dict(self.used), dict(self.pointing)
        left = [name for name in self.names if name not in used]
        return sorted(left, key=point.__contains__, reverse=True)

    @property
    def in_words(self) -> list[str]:
        """A sentence on those that nobody looked at, and one on each that was used."""
        unseen = self.unseen
        said = [f"Columns that were not looked at: {', '.join(unseen)}."] if unseen else []
        return [*said, *(f"{name} was used {why} alone." for name, why in self.used)]

    def more(self, names: Iterable[str]) -> Others:
        """With columns that were looked at, and are not any more."""
        names, seen = tuple(names), dict(self.seen)
        point = {n: seen.get(n, _BY_NAME) for n in names if n in seen or named_direct(n)}
        return replace(
            self,
            names=(*names, *self.names),
            pointing=(*point.items(), *self.pointing),
            seen=tuple((n, why) for n, why in self.seen if n not in names),
        )


_BY_NAME = "by its name"
AS_ID = "to tell persons apart"
AS_LOOKED_UP, AS_SECRET = "for look-ups", "as a secret"


def others_of(
    header: Sequence[str],
    columns: Sequence[str],
    source: Source | None,
    used: Mapping[str | None, str] = {},
    seen: Mapping[str, str] = {},
) -> Others:
    """Of a header the columns that are not looked at; no person's row is shown.

    `source` is where their first rows stand, and `used` says which are used for what; of the
    columns that are looked at `seen` says which point at a person.

    >>> others_of(["mrn", "sex", "born"], ["sex"], None).names
    ('mrn', 'born')
    >>> others_of(["M", "1970-01-02"], ["M"], None).names
    ('column 2',)
    """
    hidden = may_be_a_person(header, source)
    told = {
        name: f"column {place}" if hidden else name
        for place, name in enumerate(header, start=1)
        if name not in columns
    }
    point = {name: _BY_NAME for name in told if named_direct(name)}
    left = [name for name in told if name not in point]
    if left and source is not None and source.head is not None:
        point |= _looking_direct(source.head(LOOKED_AT), left)
    return Others(
        tuple(told.values()),
        tuple((told[name], used[name]) for name in told if name in used),
        tuple((told[name], point[name]) for name in told if name in point),
        tuple(seen.items()),
    )


def _looking_direct(first: Source, names: Sequence[str]) -> dict[str, str]:
    """By what these columns name people; of one that cannot be read nothing is said."""
    found = {}
    for name, raw in readable(first, names).items():
        try:
            codes, labels = tidy(name, raw)
        except DataError:
            continue
        if labels.size and (why := looks_direct(name, codes, labels)):
            found[name] = why
    return found
