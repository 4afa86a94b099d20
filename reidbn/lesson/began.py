"""Files that somebody began to write, for lessons to go on with."""

from __future__ import annotations

from reidbn.calls import typed
from reidbn.errors import UsageError, did_you_mean

NEIGHBOUR = """\
schema_version: 1
name: nosy-neighbour
title: The neighbour and the ward list
story: >-
  A ward list without names lies on a train. A neighbour saw an ambulance take you away, remembers
  the day, and finds the one line that fits. Assumed: every number.
parameters:
  p_seen:
    value: 0.4
    range: [0.1, 0.8]
    source: assumption
    story: The neighbour is at the window
  p_day:
    value: 0.5
    range: [0.2, 0.9]
    source: assumption
    story: The day is remembered
  alike:
    value: 3
    range: [1, 12]
    unit: people
    source: assumption
    story: People on the list who came on one day
nodes:
  saw:
    story: The neighbour saw the ambulance
    cpd: {kind: probability, p: $p_seen}
  remembers:
    story: And remembers the day
    parents: [saw]
    cpd: {kind: probability, p: $p_day, only_if: [saw]}
  found:
    story: The right line is picked among those of the day
    parents: [remembers]
    cpd: {kind: one-over, of: $alike, only_if: [remembers]}
    linddun: [Identifying]
questions:
  risk: {target: found=yes}
"""
FILES = {"nosy-neighbour": NEIGHBOUR}


@typed
def began(name: str = "nosy-neighbour") -> str:
    """The text of a model file to go on with.

    `name` is that of the file.

    >>> began().splitlines()[1]
    'name: nosy-neighbour'
    """
    if name not in FILES:
        raise UsageError(f'no file "{name}" was begun; {did_you_mean(name, FILES)}')
    return FILES[name]
