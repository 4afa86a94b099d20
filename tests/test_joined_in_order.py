"""Risks written beside the rows of a file stand in the order of the file."""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb


@pytest.mark.parametrize(("rows", "values"), [(60, 40), (300_000, 500)])
def test_risks_beside_the_rows_of_a_file_keep_their_order(tmp_path, rows, values):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, values, rows), "b": rng.integers(0, 3, rows)})
    frame["line"] = np.arange(rows)
    source = tmp_path / "people.parquet"
    frame.to_parquet(source, row_group_size=20_000)
    result = rb.assess("prosecutor", rb.contingency(source, ["a", "b"]))
    joined = pd.read_parquet(result.to_parquet(tmp_path / "risks.parquet", source=source))
    assert joined["line"].tolist() == frame["line"].tolist()
    alone = frame.groupby(["a", "b"])["a"].transform("size") == 1
    assert ((joined["unique"] == 1) == alone).all()
