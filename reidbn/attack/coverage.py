"""Coverage: which threats some models are about, by which node, and which they exclude and why."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from reidbn.attack.attack import Attack
from reidbn.attack.modelfile import load
from reidbn.attack.modelfile import models as shipped
from reidbn.attack.threats import FRAMEWORKS, excluded_threat, threat
from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.late import late

if TYPE_CHECKING:
    import pandas as pd

MODELLED, EXCLUDED, OPEN = "modelled", "excluded", "open"
_MARKS = {MODELLED: "x", EXCLUDED: "-", OPEN: "."}


@dataclass(frozen=True)
class Covered:
    """One threat in one model: modelled by nodes, excluded for a reason, or open."""

    framework: str
    threat: str
    model: str
    status: str
    nodes: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Coverage:
    """Every threat of every list that a model speaks of, in every model."""

    models: tuple[str, ...]
    entries: tuple[Covered, ...]

    @property
    def open(self) -> tuple[str, ...]:
        """Threats that no model is about, and none excludes."""
        return self._never(OPEN)

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """Threats that no model is about."""
        return self._never(OPEN, EXCLUDED)

    def _never(self, *statuses: str) -> tuple[str, ...]:
        found: dict[tuple[str, str], bool] = {}
        for entry in self.entries:
            key = entry.framework, entry.threat
            found[key] = found.get(key, True) and entry.status in statuses
        return tuple(name for (_, name), never in found.items() if never)

    def to_frame(self) -> pd.DataFrame:
        """One row per threat and model."""
        import pandas as pd

        rows = [{**asdict(e), "nodes": ", ".join(e.nodes)} for e in self.entries]
        return pd.DataFrame(rows, columns=list(Covered.__dataclass_fields__))

    def grid(self) -> dict[tuple[str, str], dict[str, Covered]]:
        """The entries by framework and threat, then by model."""
        out: dict[tuple[str, str], dict[str, Covered]] = {}
        for entry in self.entries:
            out.setdefault((entry.framework, entry.threat), {})[entry.model] = entry
        return out

    def to_dict(self) -> dict[str, Any]:
        return {
            "models": list(self.models),
            "open": list(self.open),
            "entries": [{**asdict(e), "nodes": list(e.nodes)} for e in self.entries],
        }

    plot = late("reidbn.report.coverage_figure:draw_coverage")

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False))

    def __str__(self) -> str:
        grid = self.grid()
        width = max(len(name) for _, name in grid)
        lines = [f"{i}  {name}" for i, name in enumerate(self.models, start=1)]
        heads = " ".join(f"{i:>2}" for i in range(1, len(self.models) + 1))
        last = ""
        for (framework, name), row in grid.items():
            if framework != last:
                lines.append(f"{framework:<{width}}  {heads}")
                last = framework
            marks = " ".join(f"{_MARKS[row[m].status]:>2}" for m in self.models)
            lines.append(f"{name:<{width}}  {marks}")
        lines.append("x modelled, - excluded, . neither")
        for entry in self.entries:
            if entry.status == MODELLED:
                lines.append(f"{entry.model}: {entry.threat} by {', '.join(entry.nodes)}")
            if entry.status == EXCLUDED:
                lines.append(f"{entry.model}: {entry.threat} excluded: {entry.reason}")
        if self.open:
            lines.append(f"Neither modelled nor excluded by any: {', '.join(self.open)}")
        return "\n".join(lines)

    __repr__ = __str__


@typed
def coverage(
    models: Iterable[str | os.PathLike[str] | Attack] | str | Attack | None = None,
) -> Coverage:
    """Which threats some models are about, by which node, and which they exclude and why.

    `models` are attacks, files or names of shipped models; without any, all that are shipped.
    LINDDUN is always told, the risks of [WP216] and the five safes where a model speaks of them.

    >>> coverage(["breakfast"]).to_frame().query("status == 'modelled'")["threat"].tolist()
    ['Linking', 'Identifying', 'Detecting', 'Data disclosure']
    """
    given = shipped() if models is None else models
    attacks = [load(m) for m in ([given] if isinstance(given, str | Attack) else given)]
    names = [attack.name for attack in attacks]
    if not names:
        raise UsageError("no model is named; leave the list out for all that are shipped")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"two of the models are called {twice[0]}; rename one of them")
    told = [f for f in FRAMEWORKS if f == "linddun" or any(_speaks(a, f) for a in attacks)]
    entries = [
        _covered(attack, framework, name)
        for framework in told
        for name in FRAMEWORKS[framework][1]
        for attack in attacks
    ]
    return Coverage(tuple(names), tuple(entries))


def _speaks(attack: Attack, framework: str) -> bool:
    tagged = any(getattr(node, framework) for node in attack.nodes.values())
    return tagged or any(
        found is not None and found[0] == framework
        for found in map(excluded_threat, attack.excluded)
    )


def _covered(attack: Attack, framework: str, name: str) -> Covered:
    nodes = tuple(
        node.name
        for node in attack.nodes.values()
        if any(threat(framework, tag) == name for tag in getattr(node, framework))
    )
    if nodes:
        return Covered(framework, name, attack.name, MODELLED, nodes)
    for word, reason in attack.excluded.items():
        if excluded_threat(word) == (framework, name):
            return Covered(framework, name, attack.name, EXCLUDED, reason=reason)
    return Covered(framework, name, attack.name, OPEN)
