"""How sparse a table is: facts a person, people a fact, the nearest other record [Popat25, 4.1].

similarity(r, r') = facts on which both agree / facts known of either                       (1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.errors import UsageError
from reidbn.late import late
from reidbn.microdata.classes import Ints
from reidbn.microdata.sparse import Sparse
from reidbn.progress import progress

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
_ALL = 20_000  # people up to whom everybody's nearest record is looked for
_BLOCK = 1 << 24  # pairs at once


@dataclass(frozen=True, eq=False)
class Sparsity:
    """What `sparse.describe()` found."""

    sparse: Sparse
    targets: Ints
    """Whose nearest and farthest other record were looked for."""
    nearest: Floats
    """The similarity of the nearest other record, by equal values."""
    nearest_present: Floats
    """The same where any two values agree."""
    farthest: Floats = field(repr=False)
    """The similarity of the least similar other record, by equal values."""

    figure = late("reidbn.report.sparse_figures:figure")

    def share_sparse(self, similarity: float, *, as_printed: bool = False) -> float:
        """The share of people with another record more similar than this: small in a sparse table.

        As it is meant: *some* other record is.  As it is printed, P(similar for all r' != r): *all*
        others are, which hardly ever happens, so that every table would be sparse.
        """
        found = self.farthest if as_printed else self.nearest
        return float((found > similarity).mean())

    def table(self, levels: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)) -> pd.DataFrame:
        """The share of people with another record above each similarity, both ways to read it."""
        import pandas as pd

        rows = {
            level: {
                "some other record": self.share_sparse(level),
                "all other records": self.share_sparse(level, as_printed=True),
                "some other, presence alone": float((self.nearest_present > level).mean()),
            }
            for level in levels
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("similarity above")

    def to_dict(self) -> dict[str, Any]:
        """The numbers of the text form."""
        facts, records = self.sparse.facts, self.sparse.records
        return {
            "people": len(self.sparse),
            "features": len(self.sparse.schema),
            "facts_median": float(np.median(facts)),
            "facts_highest": int(facts.max()),
            "features_of_fewer_than_100": float((records < 100).mean()),
            "features_of_fewer_than_10": float((records < 10).mean()),
            "nearest_below_0.4": float((self.nearest < 0.4).mean()),
            "nearest_below_0.5": float((self.nearest < 0.5).mean()),
            "nearest_present_median": float(np.median(self.nearest_present)),
        }

    def __str__(self) -> str:
        d = self.to_dict()
        drawn = (
            "" if len(self.targets) == len(self.sparse) else f" (of {len(self.targets):,} drawn)"
        )
        return "\n".join(
            [
                repr(self.sparse),
                f"  facts a person: median {d['facts_median']:g}, at most {d['facts_highest']}",
                "  features known of fewer than 100 people: "
                f"{d['features_of_fewer_than_100']:.1%}, of fewer than 10: "
                f"{d['features_of_fewer_than_10']:.1%}",
                f"  people whose nearest other record is less than 0.4 similar: "
                f"{d['nearest_below_0.4']:.1%}, less than 0.5: {d['nearest_below_0.5']:.1%}{drawn}",
                "  nearest other record by presence alone: median "
                f"{d['nearest_present_median']:.2f}",
            ]
        )

    def __repr__(self) -> str:
        return f"<Sparsity of {len(self.sparse):,} people x {len(self.sparse.schema):,} features>"


def describe(sparse: Sparse, *, targets: int | None = None, seed: int = 0) -> Sparsity:
    """How sparse the table is: the paper's Figures 1 to 3 and its definition.

    The nearest other record is looked for among all people; for everybody, or in tables of more
    than 20,000 people for 2,000 drawn with `seed` (or `targets`).

    >>> from reidbn.microdata.sparse import read_sparse
    >>> describe(read_sparse({"a": [1, 1, None], "b": [None, 2, 2]})).nearest.tolist()
    [0.5, 0.5, 0.5]
    """
    n = len(sparse)
    if n < 2:
        raise UsageError("a nearest other record needs at least two people")
    wanted = targets if targets is not None else n if n <= _ALL else 2_000
    if not 1 <= wanted <= n:
        raise UsageError(f"targets={wanted}; ask for 1 to {n} people")
    who = np.arange(n)
    if wanted < n:
        who = np.sort(np.random.default_rng(seed).choice(n, wanted, replace=False))
    return Sparsity(sparse, who, *_nearest(sparse, who))


def _nearest(sparse: Sparse, who: Ints) -> tuple[Floats, Floats, Floats]:
    """Equation (1) of the nearest other record, the nearest by presence and the least similar."""
    from scipy.sparse import csr_array

    first = np.concatenate(([0], np.cumsum([labels.size for labels in sparse.labels])))
    feature = np.repeat(np.arange(len(sparse.schema)), sparse.records)
    ones = np.ones(sparse.rows.size, dtype=np.float32)
    values = csr_array(
        (ones, (sparse.rows, first[feature] + sparse.codes)), (len(sparse), max(1, int(first[-1])))
    )
    filled = csr_array((ones, (sparse.rows, feature)), (len(sparse), len(sparse.schema)))
    nearest, present, farthest = np.empty((3, who.size))
    step = max(1, _BLOCK // len(sparse))
    for start in progress(range(0, who.size, step), "nearest other records"):
        here = slice(start, min(start + step, who.size))
        some = who[here]
        both = (filled[some] @ filled.T).toarray()
        either = np.maximum(sparse.facts[some][:, None] + sparse.facts - both, 1)
        own = (np.arange(some.size), some)
        for found, agreed in ((nearest, (values[some] @ values.T).toarray()), (present, both)):
            alike = agreed / either
            alike[own] = -1.0
            found[here] = alike.max(axis=1)
            if found is nearest:
                alike[own] = 2.0
                farthest[here] = alike.min(axis=1)
    return nearest, present, farthest
