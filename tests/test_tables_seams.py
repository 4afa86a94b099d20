"""The seam between a table that was read and everything that counts on it: who is whom."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reidbn as rb
from reidbn.attacks import subset_classes
from reidbn.cli import main
from reidbn.microdata import class_sizes_by_mask
from tests.tables import as_columns
from tests.test_suppress import alike

NAMES = ["sex", "age"]
POLICIES = ("value", "matches-anything", "drop")
ROWS = st.lists(
    st.tuples(st.sampled_from(["F", "M", None]), st.sampled_from([50, 51, 61, "50-59", "*", None])),
    min_size=2,
    max_size=9,
)


def shell(capsys, *words):
    with pytest.raises(SystemExit) as done:
        main([str(word) for word in words])
    out = capsys.readouterr()
    assert done.value.code == 0, out.err
    return out.out


@pytest.mark.parametrize("command", ["classes", "subsets", "suda"])
def test_each_row_that_is_written_is_the_row_of_the_file_also_where_others_are_left_out(
    command, tmp_path, capsys
):
    path, out = tmp_path / "t.csv", tmp_path / "out.parquet"
    path.write_text("id,age,sex\nz,50,F\ny,,M\na,51,M\nc,50,F\nb,,F\n")
    words = {"classes": ["classes"], "subsets": ["subsets", "--per-person"],
             "suda": ["subsets", "--suda"]}[command]  # fmt: skip
    shell(capsys, words[0], path, "--qi", "age,sex", "--missing", "drop", "--subject-id", "id",
          *words[1:], "--parquet", out)  # fmt: skip
    found = pd.read_parquet(out)
    assert found["row"].tolist() == [0, 2, 3]
    assert found["subject"].tolist() == ["z", "a", "c"]


def test_people_left_after_suppression_keep_their_rows_in_the_file(tmp_path, capsys):
    path, out = tmp_path / "t.csv", tmp_path / "out.parquet"
    path.write_text("age\n50\n51\n50\n52\n50\n")
    shown = shell(
        capsys, "classes", path, "--qi", "age", "--suppress", 3, "--parquet", out, "--json"
    )
    found = json.loads(shown)
    assert found["k"] == 3
    assert found["share_left_out"] == pytest.approx(0.4)
    assert pd.read_parquet(out)["row"].tolist() == [0, 2, 4]
    people = rb.read_table(path, quasi_identifiers="age").suppress(3)
    assert people.take([2, 0]).origin.tolist() == [4, 0]


def by_definition(rows, missing):
    """For every person and every subset of the columns (bit j: column j): how many match."""
    sizes = np.empty((len(rows), 4), dtype=int)
    for mask in range(4):
        cut = [tuple(v if mask >> j & 1 else 0 for j, v in enumerate(row)) for row in rows]
        sizes[:, mask] = [sum(alike(a, b, missing) for b in cut) for a in cut]
    return sizes


@pytest.mark.parametrize("missing", POLICIES)
@settings(max_examples=40, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_everything_that_counts_on_a_table_counts_the_same_people(missing, rows, seed):
    kept = [i for i, row in enumerate(rows) if missing != "drop" or None not in row]
    if not kept or any(all(rows[i][j] is None for i in range(len(rows))) for j in (0, 1)):
        return
    ids = [f"p{i}" for i in np.random.default_rng(seed).permutation(len(rows))]  # not sorted
    people = rb.read_table(
        as_columns(rows, NAMES) | {"id": ids}, quasi_identifiers=NAMES, missing=missing,
        hierarchies={"age": rb.Bands(10)}, subject_id="id",
    )  # fmt: skip
    true = by_definition([rows[i] for i in kept], missing)
    assert people.subject_ids.tolist() == [ids[i] for i in kept]
    assert (people.origin is None and len(kept) == len(rows)) or people.origin.tolist() == kept
    masks = [[name for j, name in enumerate(NAMES) if mask >> j & 1] for mask in range(4)]

    by_mask = class_sizes_by_mask(people)
    assert by_mask.tolist() == true.tolist()
    assert np.array([people.class_sizes(columns) for columns in masks]).T.tolist() == true.tolist()
    table = rb.subsets(people).set_index("subset")
    for mask in (1, 2, 3):
        row = table.loc[[tuple(masks[mask])]].iloc[0]
        assert row["uniques"] == (true[:, mask] == 1).sum()
        assert row["posterior"] == pytest.approx((1 / true[:, mask]).mean(), rel=1e-12)
    each = rb.subsets(people, per_person=True)
    assert each["unique"].to_numpy() == pytest.approx((true == 1).mean(axis=1), abs=1e-12)
    assert each["mean_inverse"].to_numpy() == pytest.approx((1 / true).mean(axis=1), rel=1e-12)
    found = rb.suda(people)
    for i in range(len(kept)):
        alone = [m for m in (1, 2, 3) if true[i, m] == 1]
        least = [m for m in alone if not any(o != m and o & m == o for o in alone)]
        if true[i, 0] > 1:  # one person is alone whatever is known
            assert sorted(found.minimal_uniques(i)) == sorted(tuple(masks[m]) for m in least)

    classes = subset_classes(people, [(name,) for name in NAMES])  # what assess asks with
    assert classes.sizes[:, classes.of_person].T.tolist() == true.tolist()
    assert classes.people == len(kept)
    k = int(np.median(true[:, 3]))
    if people.suppression_rate(k) < 1:
        left = people.suppress(k)
        assert subset_classes(left, [tuple(NAMES)]).sizes[1].min() >= k
        assert rb.subsets(left).iloc[-1]["posterior"] <= 1 / k


@settings(max_examples=15, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 99), missing=st.sampled_from(POLICIES[:2]))
def test_the_order_of_the_rows_changes_nobodys_numbers(rows, seed, missing):
    if any(all(row[j] is None for row in rows) for j in (0, 1)):
        return
    order = np.random.default_rng(seed).permutation(len(rows))
    options = {"quasi_identifiers": NAMES, "missing": missing, "subject_id": "id",
               "hierarchies": {"age": rb.Bands(10)}}  # fmt: skip
    ids = [f"p{i}" for i in range(len(rows))]
    straight = rb.read_table(as_columns(rows, NAMES) | {"id": ids}, **options)
    mixed = rb.read_table(
        as_columns([rows[i] for i in order], NAMES) | {"id": [ids[i] for i in order]}, **options
    )
    for measure in (
        lambda p: p.class_sizes(),
        lambda p: rb.subsets(p, per_person=True)["mean_inverse"].to_numpy(),
        lambda p: rb.suda(p).score,
        lambda p: rb.leak.risks(p, leaked=1, known={"age": ("age", 0.3), "sex": ("sex", 0.6)}),
    ):
        assert measure(mixed) == pytest.approx(measure(straight)[order], rel=1e-12)


@pytest.mark.parametrize("missing", POLICIES)
def test_an_assessment_is_of_the_people_of_the_table_in_their_order(missing):
    rows = [("F", 50), ("M", None), ("F", "50-59"), (None, 61), ("M", 61), ("F", 50), ("M", "*")]
    ids = ["g", "a", "f", "b", "e", "c", "d"]
    people = rb.read_table(
        as_columns(rows, NAMES) | {"id": ids}, quasi_identifiers=NAMES, missing=missing,
        hierarchies={"age": rb.Bands(10)}, subject_id="id",
    )  # fmt: skip
    kept = [i for i, row in enumerate(rows) if missing != "drop" or None not in row]
    true = by_definition([rows[i] for i in kept], missing)
    result = rb.assess("prosecutor", people, set={"p_m": 1, "p_fm": 1})
    assert result.subjects.index.tolist() == [ids[i] for i in kept]
    every = {"overall": (true == 1).mean(axis=1), "unique": (true == 1).mean(axis=1)}
    sure = {"overall": true[:, 3] == 1, "unique": true[:, 3] == 1}
    wanted = sure if len(result.groups.columns) == 1 else every
    for measure, values in wanted.items():
        assert result.risk(measure) == pytest.approx(values.astype(float), abs=1e-12)


@pytest.mark.parametrize("missing", POLICIES)
def test_what_the_shell_prints_is_what_the_library_counts(missing, tmp_path, capsys):
    rng = np.random.default_rng(5)
    table = rb.datasets.synthetic_patients(400, seed=4)[["age", "sex", "state"]]
    table["sex"] = table["sex"].str.upper().where(rng.random(400) < 0.5, table["sex"])
    table["age"] = table["age"].astype(object).mask(rng.random(400) < 0.05)
    path = tmp_path / "t.csv"
    table.to_csv(path, index=False)
    shown = shell(
        capsys, "classes", path, "--qi", "age,sex,state", "--missing", missing, "--tidy",
        "--hierarchy", "age=bands:10", "--level", "age=1", "--json",
    )  # fmt: skip
    found = json.loads(shown)
    people = rb.read_table(
        table, quasi_identifiers=["age", "sex", "state"], missing=missing, tidy=True,
        hierarchies={"age": rb.Bands(10)},
    ).generalise({"age": 1})  # fmt: skip
    ages = [None if a is None or a != a else int(a) // 10 for a in table["age"]]
    rows = list(zip(ages, table["sex"].str.upper(), table["state"], strict=True))
    if missing == "drop":
        rows = [row for row in rows if row[0] is not None]
    any_age = missing == "matches-anything"
    sizes = [
        sum(a[1:] == b[1:] and (a[0] == b[0] or (any_age and None in (a[0], b[0]))) for b in rows)
        for a in rows
    ]
    assert people.class_sizes().tolist() == sizes
    assert found["k"] == min(sizes)
    assert found["uniques"] == sizes.count(1)
    assert found["mean_risk"] == pytest.approx(np.mean(1 / np.array(sizes)), rel=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        ["--hierarchy", "age=bands:10", "--level", "age=1"],
        ["--missing-values", "?"],
        ["--tidy"],
        ["--missing-values", "?", "--tidy", "--hierarchy", "age=bands:10", "--level", "age=1"],
    ],
)
def test_the_population_s_own_table_is_read_as_the_table_was(options, tmp_path, capsys):
    table = rb.datasets.synthetic_patients(900, seed=6)[["age", "sex", "state"]].astype(object)
    rng = np.random.default_rng(2)
    table["sex"] = table["sex"].where(rng.random(900) < 0.9, "?")
    some = table.iloc[:90].copy()
    some["sex"] = some["sex"].str.upper()  # the release shouts, the register does not
    if "--tidy" not in options:
        some["sex"] = table["sex"].iloc[:90]
    table.to_csv(tmp_path / "register.csv", index=False)
    some.to_csv(tmp_path / "release.csv", index=False)
    shown = shell(
        capsys, "population", tmp_path / "release.csv", "--qi", "age,sex,state", *options,
        "--population", tmp_path / "register.csv", "--model", "truth", "--json",
    )  # fmt: skip
    ages = [age // 10 if "--level" in options else age for age in table["age"]]
    sexes = [sex if sex != "?" else None for sex in table["sex"]]
    rows = list(zip(ages, sexes, table["state"], strict=True))
    alone = [i for i in range(90) if rows[:90].count(rows[i]) == 1]
    unique = sum(rows.count(rows[i]) == 1 for i in alone)
    found = json.loads(shown)
    p_unique = found["fit"]["p_unique"] if "fit" in found else found["p_unique"]
    assert p_unique == pytest.approx(unique / len(alone), rel=1e-12)


def test_the_leak_reads_a_table_with_the_options_of_the_other_commands(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("sex|name\nF|?\nf|a b\nM|c d\nM|a b\nF|?\n")
    words = ["--qi", "sex,name", "--delimiter", "|", "--tidy", "--allow-direct"]
    words += ["--missing-values", "?", "--missing", "drop"]
    people = json.loads(shell(capsys, "classes", path, *words, "--json"))
    assert people["people"] == 3
    leak = json.loads(shell(capsys, "leak", path, *words, "--leaked", "2", "--json"))
    assert leak["records"] == 3
