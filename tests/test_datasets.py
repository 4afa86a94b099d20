"""Data sets: the synthetic patients follow their tables; fetched tables are the ones asked for."""

import gzip
import hashlib
import io
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from inside import inside
from scipy import stats

import reidbn as rb
from reidbn.datasets import DATASETS, shares
from reidbn.errors import DataError, UsageError

COLUMNS = ["patient_id", "age", "sex", "state", "race", "ethnicity", "education", "marital",
           "work", "income", "tenure", "birth_country", "diagnosis"]  # fmt: skip


@pytest.fixture(scope="module")
def table():
    return rb.datasets.synthetic_patients(200_000, seed=20250310)


def test_a_seed_gives_the_same_people_and_another_seed_others():
    one, again = (rb.datasets.synthetic_patients(500, seed=5) for _ in range(2))
    pd.testing.assert_frame_equal(one, again)
    assert not one.equals(rb.datasets.synthetic_patients(500, seed=6))
    with pytest.raises(UsageError, match="a whole number"):
        rb.datasets.synthetic_patients(1.5)
    with pytest.raises(UsageError, match="between 1 and"):
        rb.datasets.synthetic_patients(0, seed=1)


def test_the_columns_are_whole_and_read_as_people(table):
    assert table.columns.tolist() == COLUMNS
    assert not table.isna().any().any()
    assert table["patient_id"].is_unique
    assert table["age"].between(18, 94).all()
    people = rb.read_table(
        table, quasi_identifiers=COLUMNS[1:12], sensitive="diagnosis", subject_id="patient_id"
    )
    assert len(people) == 200_000
    assert people.labels("state").size == 51


def groups(table):
    """The five groups: Hispanic of any race, else the race."""
    race = table["race"].astype(str)
    return race.where(table["ethnicity"] == "not Hispanic", "Hispanic")


def bands(table):
    return np.searchsorted(shares.BANDS, table["age"], side="right") - 1


GIVEN = {  # the table, the column it draws, and what it draws it from
    "SEX": ("sex", shares.SEXES, lambda t: [bands(t)]),
    "SCHOOL": ("education", shares.EDUCATION,
               lambda t: [numbers(groups(t), shares.GROUPS), bands(t)]),
    "MARRIAGE": ("marital", shares.MARITAL,
                 lambda t: [sex(t), bands(t), numbers(groups(t), shares.GROUPS)]),
    "JOB": ("work", shares.WORK, lambda t: [sex(t), bands(t), schooling(t)]),
    "EARNING": ("income", shares.INCOME, lambda t: [
        schooling(t), np.array(shares.WORKING)[numbers(t["work"], shares.WORK)], married(t),
        np.searchsorted([35, 65], t["age"], side="right")]),
    "HOME": ("tenure", shares.TENURE,
             lambda t: [bands(t), numbers(t["income"], shares.INCOME), married(t)]),
    "ILLNESS": ("diagnosis", shares.DIAGNOSES, lambda t: [sex(t), bands(t)]),
}  # fmt: skip


def numbers(column, labels):
    return column.astype(str).map({name: i for i, name in enumerate(labels)}).to_numpy()


def sex(table):
    return numbers(table["sex"], shares.SEXES)


def married(table):
    return (table["marital"] == "married").to_numpy().astype(int)


def schooling(table):
    return np.array(shares.SCHOOLING)[numbers(table["education"], shares.EDUCATION)]


@pytest.mark.parametrize("name", GIVEN)
def test_each_attribute_follows_its_table_given_what_it_depends_on(name, table):
    """Pearson's test over all rows together; a right table is refused once in a million."""
    column, labels, given = GIVEN[name]
    shared = getattr(shares, name)
    row = np.ravel_multi_index([np.asarray(g) for g in given(table)], shared.shape[:-1])
    found = np.zeros((shared[..., 0].size, len(labels)))
    np.add.at(found, (row, numbers(table[column], labels)), 1)
    expected = found.sum(1, keepdims=True) * shared.reshape(-1, len(labels))
    assert (found[expected == 0] == 0).all()
    large = expected >= 5
    chi = ((found - expected)[large] ** 2 / expected[large]).sum()
    rows = ((expected >= 5).sum(1) > 1).sum()
    assert stats.chi2.sf(chi, large.sum() - rows) > 1e-6


def test_a_swapped_table_would_be_noticed(table):
    """The test above on marital status with the sexes exchanged: it must fail, and it does."""
    found = np.zeros((2, 5))
    np.add.at(found, (sex(table), numbers(table["marital"], shares.MARITAL)), 1)
    assert stats.chi2_contingency(found).pvalue < 1e-6


def test_where_people_are_and_how_old_follow_their_shares(table):
    place = numbers(table["state"], shares.STATES) * 5 + numbers(groups(table), shares.GROUPS)
    kept = shares.STATE_AND_GROUP * len(table) > 5
    found = np.bincount(place, minlength=255)[kept]
    expected = shares.STATE_AND_GROUP[kept] * len(table)
    rest = len(table) - found.sum(), len(table) - expected.sum()
    assert stats.chisquare([*found, rest[0]], [*expected, rest[1]]).pvalue > 1e-6
    abroad = (table["birth_country"] != "United States").to_numpy()
    row = np.ravel_multi_index([numbers(groups(table), shares.GROUPS), bands(table)], (5, 7))
    expected_abroad = shares.ABROAD[..., 1].ravel()[row]
    spread = np.sqrt((expected_abroad * (1 - expected_abroad)).sum())
    assert abs(abroad.sum() - expected_abroad.sum()) < 5 * spread


def test_a_draw_lands_in_its_row_even_at_its_end():
    class AlmostOne:
        def random(self, n):
            return np.full(n, 1 - 2**-53)

    table = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    drawn = inside(rb.datasets.synthetic_patients)._pick(AlmostOne(), table, np.array([0, 1, 2]))
    assert ((drawn >= 0) & (drawn < 2)).all()


@pytest.mark.slow
def test_the_synthetic_people_are_as_unique_as_real_ones(real_data):
    """Share of uniques on the same eleven attributes, against respondents of a national survey."""
    import duckdb

    path = str(real_data / "atus_cps" / "atus_cps_2003_2016.parquet")
    real = duckdb.read_parquet(path).filter("age >= 18").df()
    names = ["age", "sex", "state", "race", "hispanic", "edu", "marital", "work_class",
             "famincome_gt50k", "tenure", "country_born"]  # fmt: skip
    made = rb.datasets.synthetic_patients(140_000, seed=20250311)
    made["birth_country"] = made["birth_country"] == "United States"
    made["age"] = made["age"].mask(made["age"] >= 80, 80).mask(made["age"] >= 85, 85)
    for n in (1_000, 40_000, 140_000):
        sample = real.sample(n, random_state=20250312)
        a = rb.read_table(sample, quasi_identifiers=names).classes().uniques / n
        b = rb.read_table(made.head(n), quasi_identifiers=COLUMNS[1:12]).classes().uniques / n
        assert abs(a - b) < 0.03


# Fetched tables


def archive(name, content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        out.writestr("folder/" + name, content)
    return packed.getvalue()


RAW = (
    b"39, State-gov, 77516, Bachelors, 13, Never-married, ?, Own-child, White, Male, "
    b"0, 0, 40, ?, <=50K\n\n"
)


@pytest.fixture
def remote(tmp_path, monkeypatch):
    """A made-up Adult behind a counted download, an empty cache and no folder of the user's."""
    asked = []
    answers = {"content": archive("adult.data", RAW)}

    def urlopen(address, timeout):
        asked.append(address)
        return io.BytesIO(answers["content"])

    made = replace(DATASETS["adult"], sha256=hashlib.sha256(RAW).hexdigest())
    monkeypatch.setitem(DATASETS, "adult", made)
    monkeypatch.setattr(inside(rb.datasets.fetch), "urlopen", urlopen)
    monkeypatch.setenv("REIDBN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("REIDBN_DATA", raising=False)
    return asked, answers, tmp_path


def test_a_table_is_downloaded_once_and_then_taken_from_the_cache(remote):
    asked, _, folder = remote
    first, again = rb.datasets.fetch("adult"), rb.datasets.fetch("adult")
    assert asked == ["https://archive.ics.uci.edu/static/public/2/adult.zip"]
    pd.testing.assert_frame_equal(first, again)
    assert first["workclass"].tolist() == ["State-gov"]
    assert first["occupation"].isna().all()
    assert first["age"].tolist() == [39]
    assert [p.name for p in (folder / "cache" / "adult").iterdir()] == ["adult.data"]


def test_the_users_own_folder_comes_first(remote, monkeypatch):
    asked, _, folder = remote
    own = folder / "mine" / "adult"
    own.mkdir(parents=True)
    (own / "adult.data").write_bytes(RAW)
    monkeypatch.setenv("REIDBN_DATA", str(own.parent))
    assert len(rb.datasets.fetch("adult")) == 1
    assert asked == []
    (own / "adult.data").write_bytes(RAW + b" ")
    with pytest.raises(DataError, match="damaged or another version"):
        rb.datasets.fetch("adult")
    monkeypatch.setenv("REIDBN_DATA", str(folder / "nowhere"))
    with pytest.raises(DataError, match="not there"):
        rb.datasets.fetch("adult")


def test_a_tidied_file_may_stand_in_for_the_published_one(remote, monkeypatch):
    _, _, folder = remote
    content = gzip.compress(b"age,workclass\n39,\n", mtime=0)
    prepared = {"adult_data.csv.gz": hashlib.sha256(content).hexdigest()}
    made = replace(DATASETS["adult"], prepared=prepared)
    monkeypatch.setitem(DATASETS, "adult", made)
    (folder / "mine" / "adult").mkdir(parents=True)
    (folder / "mine" / "adult" / "adult_data.csv.gz").write_bytes(content)
    monkeypatch.setenv("REIDBN_DATA", str(folder / "mine"))
    found = rb.datasets.fetch("adult")
    assert found["workclass"].isna().tolist() == [True]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (archive("adult.data", RAW + b"x"), "SHA-256"),
        (archive("other.data", RAW), "no adult.data"),
        (b"<html>sorry</html>", "not an archive"),
    ],
)
def test_what_is_not_the_table_is_refused_and_not_kept(remote, content, words):
    _, answers, folder = remote
    answers["content"] = content
    with pytest.raises(DataError, match=words):
        rb.datasets.fetch("adult")
    assert not (folder / "cache").exists()


def test_without_a_network_the_way_out_is_said(remote, monkeypatch):
    from urllib.error import URLError

    def urlopen(address, timeout):
        raise URLError("no route")

    monkeypatch.setattr(inside(rb.datasets.fetch), "urlopen", urlopen)
    with pytest.raises(DataError, match=r"no route.*REIDBN_DATA"):
        rb.datasets.fetch("adult")
    with pytest.raises(UsageError, match='mean "adult"'):
        rb.datasets.fetch("adlut")


def test_encounters_and_patients_are_renumbered():
    raw = (
        b"encounter_id,patient_nbr,race,diag_1,max_glu_serum,A1Cresult\n"
        b"77,9,?,250.83,None,>8\n78,4,X,V27,Norm,None\n79,9,X,276,None,None\n"
    )
    found = DATASETS["diabetes130"].tidy(raw)
    assert found["encounter"].tolist() == [1, 2, 3]
    assert found["patient"].tolist() == [1, 2, 1]
    assert found["diag_1"].tolist() == ["250.83", "V27", "276"]
    assert found[["race", "max_glu_serum", "A1Cresult"]].isna().sum().tolist() == [1, 2, 2]
    assert DATASETS["cervical"].tidy(b"Age,Smokes\n18,?\n")["Smokes"].isna().all()


def test_the_real_tables_are_those_of_their_checksums(real_data, monkeypatch):
    monkeypatch.setenv("REIDBN_DATA", str(real_data))
    shapes = {name: rb.datasets.fetch(name).shape for name in DATASETS}
    assert shapes == {"adult": (32561, 15), "diabetes130": (101766, 50), "cervical": (858, 36)}


def test_the_repeat_admissions_of_the_diabetes_table_become_histories(real_data, monkeypatch):
    monkeypatch.setenv("REIDBN_DATA", str(real_data))
    table = rb.datasets.fetch("diabetes130")
    assert table["patient"].nunique() == 71518
    table = table[table["patient"] <= 15_000]
    people = rb.read_table(
        table, quasi_identifiers=["race", "gender", "age", "time_in_hospital"],
        sensitive=["diag_1"], subject_id="patient",
    )  # fmt: skip
    assert len(people) == 15_000
    assert people.history.lengths.sum() == len(table)
    sequences = table.fillna("").groupby("patient", sort=False)[
        ["race", "gender", "age", "time_in_hospital"]
    ]
    wholes = pd.Series({k: tuple(sorted(map(tuple, g.to_numpy().tolist()))) for k, g in sequences})
    assert people.class_sizes().tolist() == wholes.map(wholes.value_counts()).tolist()
