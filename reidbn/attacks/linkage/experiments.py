"""The fifteen experiments of [Popat25, Tables 2 and 3] on any sparse table, printed ones beside."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.attacks.linkage.ask import linkage
from reidbn.attacks.linkage.result import Linkage
from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.microdata.sparse import Sparse
from reidbn.progress import progress

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.9, 0.8, 0.6)
MATCHED = {"perfect": "equal", "20 % tolerance": "tolerance", "presence": "modal"}
KNOWN = {
    "most informative": "rarest", "random": "random", "acquaintance": "colleague",
    "insider": "insider", "app": "app",
}  # fmt: skip
PRINTED: dict[tuple[str, str], tuple[int | None, int | None, int | None]] = {
    ("most informative", "perfect"): (4, 4, 3),
    ("most informative", "20 % tolerance"): (5, 4, 3),
    ("most informative", "presence"): (None, None, 10),
    ("random", "perfect"): (5, 4, 3),
    ("random", "20 % tolerance"): (10, 8, 6),
    ("random", "presence"): (None, 16, 11),
    ("acquaintance", "perfect"): (4, 3, 3),
    ("acquaintance", "20 % tolerance"): (10, 8, 6),
    ("acquaintance", "presence"): (None, None, None),
    ("insider", "perfect"): (6, 4, 3),
    ("insider", "20 % tolerance"): (7, 5, 4),
    ("insider", "presence"): (None, None, None),
    ("app", "perfect"): (4, 4, 3),
    ("app", "20 % tolerance"): (11, 9, 7),
    ("app", "presence"): (None, None, None),
}


@typed
def linkage_experiments(
    sparse: Sparse, *, draws: int = 10, seed: int = 0, success: str = "best", modal: float = 0.5
) -> pd.DataFrame:
    """The fifteen rows of [Popat25, Table 3]: how many facts single out more than 90, 80, 60 %.

    `sparse` has the tags colleague, insider and app.  As in the paper, k facts are drawn `draws`
    times with `seed` for each person and the share identified is averaged; `success` is the rule,
    as in rb.linkage, and `modal` the share above which a content is the usual one.  A number is the
    first of 1 to 20 facts whose share is above the level.  `ties` says whether the most informative
    facts, where some are as rare as each other, lead to other numbers in another order.
    """
    import pandas as pd

    if not isinstance(sparse, Sparse):
        raise UsageError("linkage_experiments needs sparse = rb.read_sparse(table, features=...)")
    for tag in ("colleague", "insider", "app"):
        if not any(tag in one.tags for one in sparse.schema):
            raise UsageError(
                f'no feature has the tag "{tag}": name in the column tags of the feature table '
                "what a colleague, an insider and an app know"
            )
    rows: list[dict[str, Any]] = []
    for name, match in progress(list(PRINTED), "experiments"):
        options: dict[str, Any] = {"match": MATCHED[match], "success": success}
        options |= {"modal": modal} if MATCHED[match] == "modal" else {}
        found = linkage(sparse, known=KNOWN[name], draws=draws, seed=seed, node_budget=0, **options)
        own = [found.facts_for(level) for level in LEVELS]
        row: dict[str, Any] = {"known": name, "match": match}
        for level, k, printed in zip(LEVELS, own, PRINTED[name, match], strict=True):
            row[f"above {level:.0%}"], row[f"printed {level:.0%}"] = k, printed
        row["at 20 facts"] = float(found.success[:, -1].mean())
        row["ties"] = "-" if name != "most informative" else _ties(found, own)
        rows.append(row)
    frame = pd.DataFrame(rows).set_index(["known", "match"])
    numbers = [c for c in frame.columns if c.startswith(("above", "printed"))]
    return frame.astype(dict.fromkeys(numbers, "Int64"))


def _ties(found: Linkage, own: list[int | None]) -> str:
    """Whether the order among facts as rare as each other matters."""
    other = replace(found.curves, backwards=True)
    turned = [other.of(person).success for person in range(len(found.sparse))]
    again = replace(found, success=np.stack(turned))
    return "matter" if [again.facts_for(level) for level in LEVELS] != own else "do not matter"
