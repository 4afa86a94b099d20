"""Small random tables, and counting by the definition to compare with."""

import numpy as np
from hypothesis import strategies as st

KANON_PEOPLE = [  # the course's running example: date of birth, gender, disease
    ("02/09/1970", "M", "A"),
    ("20/09/1970", "F", "B"),
    ("01/08/1960", "F", "C"),
    ("02/08/1960", "F", "D"),
    ("25/08/1970", "M", "E"),
    ("30/08/1970", "M", "F"),
]


def write(tmp_path, text, name="t.csv"):
    """A file with this text, as it is."""
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def as_columns(rows, names):
    return {name: [row[j] for row in rows] for j, name in enumerate(names)}


@st.composite
def coded(draw, most_rows=30, most_columns=4, most_values=4):
    """A table of codes, at least one row and one column."""
    columns = draw(st.integers(1, most_columns))
    row = st.tuples(*[st.integers(0, most_values - 1)] * columns)
    rows = draw(st.lists(row, min_size=1, max_size=most_rows))
    return np.array(rows, dtype=np.int32)


def sizes_by_definition(rows):
    """How many rows equal each row, counted one by one."""
    rows = [tuple(row) for row in rows]
    return [sum(other == row for other in rows) for row in rows]


def matches_by_definition(rows, alike):
    """How many rows match each row in every column, by `alike(column, a, b)`."""
    rows = [tuple(row) for row in rows]
    return [
        sum(all(alike(j, a, b) for j, (a, b) in enumerate(zip(row, other, strict=True)))
            for other in rows)
        for row in rows
    ]  # fmt: skip
