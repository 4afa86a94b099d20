"""Risks of all distinct subjects, block by block; finished blocks can be kept on disk.

With a checkpoint folder every finished block is written at once, under a name that depends on
everything it was computed from (the attack, the question, the settings, the subjects' own numbers,
the engine), so that a run that was killed goes on where it stopped and a changed run starts anew.
Of a node whose table is made by somebody else's code (a registered function, a kind of another
package) no text says what that code does: the very numbers of its table are in the name.
A block carries a seal, the digest of its name and content; one whose seal is broken is computed
again, with a word.
"""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

import reidbn
from reidbn.attack.attack import Attack
from reidbn.attacks.routes.subject_data import SubjectTable
from reidbn.cpds.function import Function
from reidbn.cpds.protocol import CPD
from reidbn.errors import DataError, ImpossibleEvidence, ReidbnWarning, TooLarge, UsageError
from reidbn.inference.answers import at_once, joint, positions
from reidbn.inference.lowering import STEPS, Lowering
from reidbn.inference.query import Query
from reidbn.inference.tensors import rows_of
from reidbn.limits import MOST_TEXT, regular
from reidbn.progress import progress
from reidbn.release.writing import whole
from reidbn.written import counted

Array = NDArray[np.float64]
CELLS = 50_000_000  # subject x subset cells in a block
SEAL = 32  # bytes of a digest
ENDING = ".npy"  # of the file of a block
ENGINE = ("theory", "cpds", "attack", "inference", "attacks")  # rooms that make a risk


def risks(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    table: SubjectTable,
    *,
    folder: Path | None = None,
    taken: bool = False,
) -> Array:
    """P(wanted | given, do) of every distinct subject.

    Of policies that are worth the same to the attacker the highest; with `taken` that of the one
    he takes, which it is, too, where the others are too many to try.
    """
    if attack.decisions and not taken:
        with suppress(UsageError, TooLarge):
            return _in_blocks(attack, query, settings, table, None, worst=True)
    return _in_blocks(attack, query, settings, table, folder, worst=False)


def _in_blocks(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    table: SubjectTable,
    folder: Path | None,
    *,
    worst: bool,
) -> Array:
    step = max(1, CELLS // max((1 << len(g.members) for g in attack.groups.values()), default=1))
    out = np.empty(table.subjects)
    for start in progress(range(0, table.subjects, step), "risk of every person"):
        block = slice(start, min(start + step, table.subjects))
        columns = table.block(block)
        if folder is None:
            out[block] = _risk(attack, query, settings, columns, table, block, worst=worst)
            continue
        place = folder / f"{_key(attack, query, settings, columns)}-{start}{ENDING}"
        kept = _kept(place, block.stop - block.start)
        if kept is None:
            kept = _risk(attack, query, settings, columns, table, block)
            _keep(place, kept)
        out[block] = kept
    return out


def _risk(
    attack: Attack,
    query: Query,
    settings: Mapping[str, float],
    columns: Mapping[str, Array],
    table: SubjectTable,
    block: slice,
    *,
    worst: bool = False,
) -> Array:
    values = joint(attack, query, settings, columns, worst=worst)[:, 0]
    evidence = values.sum(axis=tuple(range(1, values.ndim)))
    if (evidence <= 0).any():
        counts = np.broadcast_to(table.counts[block], evidence.shape)
        lost = int(counts[evidence <= 0].sum())
        raise EvidenceOfNobody(
            f"the evidence {', '.join(query.known)} is impossible for {counted(lost, 'person')}; "
            f"leave them out, or ask without it"
        )
    wanted: Any = (np.arange(len(values)), *positions(attack, query, settings))
    return np.asarray(values[wanted] / evidence)


class EvidenceOfNobody(DataError, ImpossibleEvidence):
    """The evidence of a question is impossible for some people of the table."""


# -- blocks on disk --------------------------------------------------------------------------------


def _key(
    attack: Attack, query: Query, settings: Mapping[str, float], columns: Mapping[str, Array]
) -> str:
    """A digest of everything that a block is computed from."""
    parts = [attack.fingerprint, query.describe(), sorted(settings.items()),
             reidbn.__version__, np.__version__, scipy.__version__, _code()]  # fmt: skip
    digest = hashlib.sha256(json.dumps(parts, default=float).encode())
    for name, values in sorted(columns.items()):
        data = np.ascontiguousarray(values)
        _add(digest, name, data)
    for name, data in _tables_of_others(attack, query, settings, columns):
        _add(digest, name, data)
    return digest.hexdigest()[:20]


def _add(digest: Any, name: str, data: Array) -> None:
    digest.update(f"{name} {data.dtype.str} {data.shape} ".encode())
    digest.update(data.reshape(-1).view(np.uint8).data)


def _tables_of_others(
    attack: Attack, query: Query, settings: Mapping[str, float], columns: Mapping[str, Array]
) -> Iterator[tuple[str, Array]]:
    """The tables, as the engine gets them, of nodes that code outside of reidbn has a say in.

    What such code reads (another function, a module's number, a file) cannot be seen from here.
    """
    asked = attack.upstream([*query.targets, *query.given, *query.do])
    nodes = {name for name in asked if _is_of_others(attack.all_nodes[name].cpd)}
    if not nodes:
        return
    lowering = Lowering(attack, settings, nodes=nodes, whole=STEPS)
    subjects = rows_of(columns)
    step = at_once(lowering, subjects)
    for start in range(0, subjects, step):
        part = {n: v[start : start + step] if len(v) > 1 else v for n, v in columns.items()}
        for name, factor in lowering.network(part).factors.items():
            yield f"table {name} {start}", np.ascontiguousarray(factor.table)


def _is_of_others(cpd: Any) -> bool:
    """Whether a CPD, or one inside of it, is a function or a kind that reidbn does not bring."""
    if isinstance(cpd, CPD):
        own = type(cpd).__module__.partition(".")[0] == reidbn.__name__
        if isinstance(cpd, Function) or not own:
            return True
    if isinstance(cpd, list | tuple):
        return any(map(_is_of_others, cpd))
    if isinstance(cpd, Mapping):
        return any(map(_is_of_others, cpd.values()))
    if is_dataclass(cpd):
        return any(_is_of_others(getattr(cpd, f.name)) for f in fields(cpd))
    return False


@cache
def _code() -> str:
    digest = hashlib.sha256()
    root = Path(reidbn.__file__).parent
    for room in ENGINE:
        for path in sorted((root / room).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _keep(place: Path, values: Array) -> None:
    """Write a block so that it is there whole or not at all, with its seal at the end."""
    written = io.BytesIO()
    np.save(written, values)
    with whole(place, of_people=True) as made:
        made.write_bytes(written.getvalue() + _seal(place, written.getvalue()))


def _kept(place: Path, subjects: int) -> Array | None:
    """A block from disk; None, with a word, where it is not what was written."""
    try:
        found = regular(place, 16 * subjects + MOST_TEXT).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise UsageError(f"checkpoint: {place.name}: {problem.strerror}") from None
    content, seal = found[:-SEAL], found[-SEAL:]
    if seal == _seal(place, content):
        values = np.load(io.BytesIO(content), allow_pickle=False)
        if values.shape == (subjects,) and values.dtype == np.float64:
            return np.asarray(values)
    warnings.warn(
        f"the finished block {place.name} of the checkpoint is damaged; it is computed again",
        ReidbnWarning,
        stacklevel=2,
    )
    return None


def _seal(place: Path, content: bytes) -> bytes:
    return hashlib.sha256(place.name.encode() + content).digest()
