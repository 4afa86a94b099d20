"""Damaged model files end in a message, never in a traceback of ours."""

import copy
import random

import pytest

import reidbn as rb
from reidbn.attack import layout, models_folder, read_yaml

TEXTS = [(models_folder() / f"{name}.yaml").read_text(encoding="utf-8") for name in rb.models()]
TOKENS = [
    "[",
    "]",
    "{",
    "}",
    ":",
    ": ",
    "\t",
    "\n",
    "  ",
    "null",
    "-1",
    "1e400",
    "$x",
    "@y",
    "&a ",
    "*a",
    "!!x ",
    "\x00",
    "\U0001f642",
    "true",
    "'",
    '"',
    "#",
    ",",
    "- ",
    "..",
    "$",
    "rest",
    "kind",
    "p: ",
    "",
]
VALUES = [
    None,
    0,
    -1,
    1.5,
    10**400,
    float("inf"),
    float("nan"),
    "",
    "x",
    "$p",
    "@c",
    "rest",
    "yes",
    "true",
    [],
    {},
    [None],
    ["a"],
    [[]],
    {"a": None},
    {"kind": "and"},
    {"kind": None},
    "5..2",
    {"kind": "mixture", "weights": [1], "components": [{"kind": "mixture"}]},
    "0..$k",
    1e308,
    "0..99999999999",
    [0.5, 0.5],
    {"yes": 1},
    "a=yes",
    "=",
    "a=b=c",
    ["no", "no"],
]
KEYS = ["x", "state", "kind", "parents", "p", "rows", "cpd", "<<"]


def loads_or_says_why(text):
    try:
        rb.loads(text)
    except rb.ReidbnError:
        return False
    return True


def places(data, where=()):
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*where, key)
        if isinstance(value, dict | list):
            yield from places(value, (*where, key))


def damage_text(text, rng):
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(text))
        text = text[:start] + rng.choice(TOKENS) + text[start + rng.choice([0, 0, 1, 2, 5, 30]) :]
    return text


def damage_data(data, rng):
    data = copy.deepcopy(data)
    for _ in range(rng.randint(1, 3)):
        *where, key = rng.choice(list(places(data)))
        here = data
        for part in where:
            here = here[part]
        deed = rng.random()
        if deed < 0.7:
            here[key] = copy.deepcopy(rng.choice(VALUES))
        elif deed < 0.85 and isinstance(here, dict):
            here[rng.choice(KEYS)] = here.pop(key)
        else:
            del here[key]
    return data


@pytest.mark.parametrize("seed", range(4))
def test_damaged_text_ends_in_a_message(seed):
    rng = random.Random(f"text {seed}")  # noqa: S311 - no secret
    loaded = [loads_or_says_why(damage_text(rng.choice(TEXTS), rng)) for _ in range(50)]
    assert not all(loaded)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_content_ends_in_a_message(seed):
    rng = random.Random(f"data {seed}")  # noqa: S311 - no secret
    kept = [read_yaml(text).data for text in TEXTS]
    loaded = [loads_or_says_why(layout(damage_data(rng.choice(kept), rng))) for _ in range(50)]
    assert not all(loaded)


@pytest.mark.slow
def test_many_damaged_files_end_in_a_message():
    rng = random.Random("many")  # noqa: S311 - no secret
    kept = [read_yaml(text).data for text in TEXTS]
    for _ in range(5_000):
        loads_or_says_why(damage_text(rng.choice(TEXTS), rng))
        loads_or_says_why(layout(damage_data(rng.choice(kept), rng)))


@pytest.mark.parametrize("text", [
    "schema_version: 1\nname: a\nnodes: {n: {states: 0..99999999999, cpd: {kind: uniform}}}\n",
])  # fmt: skip
def test_a_span_that_no_computer_holds_is_refused(text):
    with pytest.raises(rb.ModelError) as caught:
        rb.loads(text)
    message = 'nodes.n.states: "0..99999999999" has 100,000,000,000 states; at most 1,000,000 can'
    assert message in str(caught.value)
