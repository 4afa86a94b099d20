"""Writing an attack, for one subject at one setting, in a format that other tools read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from reidbn.attack.attack import Attack
from reidbn.attack.modelfile import load
from reidbn.calls import typed
from reidbn.errors import UsageError, did_you_mean
from reidbn.inference.interchange.bif import write_bif
from reidbn.inference.interchange.dot import write_dot
from reidbn.inference.interchange.formats import FORMATS, format_of
from reidbn.inference.interchange.xdsl import write_xdsl
from reidbn.inference.interchange.xmlbif import write_xmlbif
from reidbn.inference.lowering import check_settings, lower, parameter_values
from reidbn.inference.plain import plain_nodes

_WRITERS: dict[str, Callable[..., str]] = {
    "bif": write_bif, "xmlbif": write_xmlbif, "xdsl": write_xdsl,
}  # fmt: skip


@typed
def export(
    attack: Attack | str,
    path: str | Path,
    format: str | None = None,
    *,
    set: Mapping[str, float] | None = None,
    subject: Mapping[str, Any] | None = None,
    beyond_range: bool = False,
) -> Path:
    """Write an attack, for one subject at one setting, as a file for other tools."""
    path = Path(path)
    text = export_text(attack, format or format_of(path, FORMATS), set=set, subject=subject,
                       beyond_range=beyond_range)  # fmt: skip
    path.write_text(text, encoding="utf-8")
    return path


@typed
def export_text(
    attack: Attack | str,
    format: str,
    *,
    set: Mapping[str, float] | None = None,
    subject: Mapping[str, Any] | None = None,
    beyond_range: bool = False,
) -> str:
    """What `export` writes.

    >>> print(export_text("leak-single", "bif", set={"class_size": 1}).splitlines()[-2])
        ( yes, 1 ) 0.0, 1.0;
    """
    if format not in FORMATS:
        raise UsageError(f'no format "{format}"; {did_you_mean(format, FORMATS)}')
    attack = load(attack)
    check_settings(attack, set, beyond_range=beyond_range)
    if format == "dot":
        return write_dot(attack, parameter_values(attack, set))
    network = lower(attack, set, subject)
    if network.subjects > 1 or network.settings > 1:
        raise UsageError(
            f"a file holds one subject at one setting; got {network.subjects} subjects and "
            f"{network.settings} settings"
        )
    return _WRITERS[format](plain_nodes(network), title=attack.name, notes=_notes(attack, set))


def _notes(attack: Attack, settings: Mapping[str, float] | None) -> list[str]:
    """Where the numbers come from: no format can carry parameters, so they stand in comments."""
    values = parameter_values(attack, settings)
    notes = [f"{attack.name}: {attack.title}" if attack.title else attack.name,
             f"written by reidbn {metadata.version('reidbn')}"]  # fmt: skip
    for p in attack.parameters.values():
        low, high = p.range
        source = "changed" if values[p.name][0] != p.value else p.source
        notes.append(
            f"parameter {p.name} = {values[p.name][0]:.12g} ({low:.12g} to {high:.12g} {p.unit}); "
            f"source: {source}"
        )
    if attack.subject:
        notes.append(f"subject data of one person: {', '.join(attack.subject)}")
    return [" ".join(note.split()) for note in notes]
