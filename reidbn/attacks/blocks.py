"""Risks of all distinct subjects, block by block; finished blocks can be kept on disk.

With a checkpoint folder every finished block is written at once, under a name that depends on
everything it was computed from, so that a run that was killed goes on where it stopped and a
changed run starts anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attacks.subject_data import SubjectTable
from reidbn.errors import DataError
from reidbn.inference.answers import joint, positions
from reidbn.inference.query import Query
from reidbn.progress import progress

Array = NDArray[np.float64]
CELLS = 50_000_000  # subject x subset cells in a block


def risks(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    table: SubjectTable,
    *,
    folder: Path | None = None,
    basis: str = "",
) -> Array:
    """P(wanted | given, do) of every distinct subject."""
    widest = max((int(np.prod(np.shape(v)[1:])) for v in table.columns.values()), default=1)
    step = max(1, CELLS // widest)
    out = np.empty(table.subjects)
    key = _key(attack, query, settings, basis)
    for start in progress(range(0, table.subjects, step), "risk of every person"):
        block = slice(start, min(start + step, table.subjects))
        kept = folder / f"{key}-{start}.npy" if folder else None
        if kept is not None and kept.exists():
            out[block] = np.load(kept)
            continue
        columns = {n: v[block] if len(v) > 1 else v for n, v in table.columns.items()}
        out[block] = _risk(attack, query, settings, columns, table, block)
        if kept is not None:
            _keep(kept, out[block])
    return out


def _risk(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    columns: Mapping[str, Array],
    table: SubjectTable,
    block: slice,
) -> Array:
    values = joint(attack, query, settings, columns)[:, 0]
    evidence = values.sum(axis=tuple(range(1, values.ndim)))
    if (evidence <= 0).any():
        counts = np.broadcast_to(table.counts[block], evidence.shape)
        raise DataError(
            f"the evidence is impossible for {int(counts[evidence <= 0].sum()):,} people; "
            f"leave them out, or ask without it"
        )
    wanted: Any = (np.arange(len(values)), *positions(attack, query, settings))
    return np.asarray(values[wanted] / evidence)


def _key(attack: Attack, query: Query, settings: Mapping[str, float], basis: str) -> str:
    parts = [attack.fingerprint, query.describe(), sorted(settings.items()), basis]
    return hashlib.sha256(json.dumps(parts, default=float).encode()).hexdigest()[:20]


def _keep(path: Path, values: Array) -> None:
    """Write a block so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    with unfinished.open("wb") as file:
        np.save(file, values)
    unfinished.replace(path)
