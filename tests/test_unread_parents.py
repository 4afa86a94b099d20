"""A parent that a kind does not read is an arrow that changes nothing: check says so."""

import pytest

import reidbn as rb

MODEL = """schema_version: 1
name: c
title: t
story: s
sources: [me]
nodes:
  reads: {{cpd: {{kind: probability, p: 0.1}}, source: x}}
  tries: {{{states}parents: [reads], cpd: {{kind: {kind}}}, source: x}}
questions:
  risk: {{target: reads=yes}}
"""
UNREAD = [
    ("probability, p: 0.1", ""),
    ("geometric, p: 0.4, budget: 3", "states: 0..3, "),
    ("binomial, n: 3, p: 0.4", "states: 0..3, "),
    ("poisson, mean: 0.4", "states: 0..9, "),
    ("one-over, of: 4", ""),
    ("share, part: 1, whole: 3", ""),
    ("unique, of: 3", ""),
    ("uniform", "states: [x, y], "),
]


def found(tmp_path, kind, states):
    path = tmp_path / "c.yaml"
    path.write_text(MODEL.format(kind=kind, states=states))
    return [p for p in rb.check(path) if "does not read its parent reads" in p.message]


@pytest.mark.parametrize(("kind", "states"), UNREAD, ids=[k.split(",")[0] for k, _ in UNREAD])
def test_an_unread_parent_is_told(tmp_path, kind, states):
    (told,) = found(tmp_path, kind, states)
    assert told.is_warning
    assert told.where == ("nodes", "tries", "cpd", "kind")
    assert told.line == 8


@pytest.mark.parametrize(
    ("kind", "states"),
    [
        ("probability, p: 0.1, only_if: [reads]", ""),
        ("one-over, of: 4, only_if: [reads]", ""),
        ("noisy-copy, same: 0.9", ""),
        ("rows, rows: [{when: {reads: yes}, p: {yes: 0.5, no: 0.5}}, {p: {yes: 0, no: 1}}]", ""),
    ],
)
def test_a_parent_that_is_read_is_not(tmp_path, kind, states):
    assert not found(tmp_path, kind, states)
