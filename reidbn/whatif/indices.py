"""Sobol's indices: whose uncertainty makes the answer uncertain [Sobol01]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from reidbn.attack.parameter import Parameter, Prior
from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.inference.case import Case
from reidbn.inference.quadrature import prior_text
from reidbn.inference.sensitivity import Over, spans
from reidbn.inference.variance import Grid, Spread, with_ranges
from reidbn.late import late
from reidbn.whatif.cases import Target, What, case_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Index:
    """One parameter's part in the variance: by itself (first), and in all it is part of (total)."""

    parameter: str
    prior: str
    first: float
    total: float
    source: str
    is_assumption: bool


@dataclass(frozen=True)
class Sobol:
    """The variance of the answer under independent priors, split over parameters and their sets.

    `method` is "exact" (the answer is a polynomial, and the quadrature exact) or "quadrature" with
    the `error` that is left, relative to the standard deviation.
    """

    attack: str
    question: str
    mean: float
    sd: float
    indices: tuple[Index, ...]
    method: str
    error: float
    settings: int
    spread: Spread

    def __getitem__(self, parameter: str) -> Index:
        for index in self.indices:
            if index.parameter == parameter:
                return index
        raise UsageError(f'no index for "{parameter}": it was not varied')

    def interaction(self, *parameters: str) -> float:
        """The share of the variance that exactly this set of parameters makes together."""
        for name in parameters:
            _ = self[name]
        inside = [n for n in parameters if n in self.spread.names]
        return self.spread.share(inside) if len(inside) == len(parameters) else 0.0

    def interactions(self, order: int = 2) -> pd.DataFrame:
        """Every set of `order` parameters and its share, largest first."""
        import pandas as pd

        rows = [
            {"parameters": " x ".join(names), "share": self.spread.share(names)}
            for names in combinations(self.spread.names, order)
        ]
        table = pd.DataFrame(rows, columns=["parameters", "share"])
        return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)

    def to_frame(self) -> pd.DataFrame:
        """One row per parameter, largest total first."""
        import pandas as pd

        return pd.DataFrame([asdict(i) for i in self.indices])

    def to_dict(self) -> dict[str, Any]:
        plain = {k: getattr(self, k) for k in self.__dataclass_fields__ if k != "spread"}
        pairs = self.interactions().to_dict("records")
        return {**plain, "indices": [asdict(i) for i in self.indices], "pairs": pairs}

    plot = late("reidbn.report.whatif_figures:draw_sobol")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the error cannot know of."""
        return self.spread.notes

    def __str__(self) -> str:
        how = (
            self.method
            if self.method == "exact"
            else f"{self.method}, measured error {self.error:.1g} sd"
        )
        lines = [f"{self.attack}: {self.question}: mean {self.mean:.6g}, sd {self.sd:.6g} ({how})"]
        width = max(len(i.parameter) for i in self.indices)
        for i in self.indices:
            lines.append(f"  {i.parameter:<{width}}  first {i.first:.4f}  total {i.total:.4f}  "
                         f"({i.prior})")  # fmt: skip
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    __repr__ = __str__


@typed
def sobol(
    what: What,
    target: Target | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    over: Over = None,
    priors: Mapping[str, Prior] | None = None,
    beyond_range: bool = False,
) -> Sobol:
    """Sobol's indices of every parameter under independent priors, without sampling.

    A parameter without a prior counts as uniform over its range, and the result says so.  For
    several subjects the answer is their mean.

    >>> s = sobol("adversary-routes", "risk")
    >>> s.method, round(s["p_c"].total, 3)
    ('exact', 0.894)
    """
    case = case_of(
        what, target, given=given, do=do, set=set, subject=subject, beyond_range=beyond_range
    )
    varied = with_ranges(case, spans(case, over), priors)
    grid = Grid(case, varied)
    spread = grid.spread()
    indices = [_index(case, name, varied[name], spread) for name in varied]
    return Sobol(
        attack=case.attack.name,
        question=case.query.describe(),
        mean=spread.mean,
        sd=spread.sd,
        indices=tuple(sorted(indices, key=lambda i: -i.total)),
        method="exact" if spread.is_exact else "quadrature",
        error=spread.error,
        settings=spread.settings,
        spread=spread,
    )


def _index(case: Case, name: str, parameter: Parameter, spread: Spread) -> Index:
    inside = name in spread.names
    return Index(
        parameter=name,
        prior=prior_text(parameter),
        first=spread.share([name]) if inside else 0.0,
        total=spread.total(name) if inside else 0.0,
        source=case.parameter(name).source,
        is_assumption=parameter.is_assumption,
    )
