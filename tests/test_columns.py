"""Columns that a table fills in: those of packages, and those that the call gives instead."""

import re
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from inside import inside

import reidbn as rb
from reidbn.attack import Known, Knows, Scenario
from reidbn.attacks import Provider, drivers, providers, summed
from reidbn.errors import DataError, ModelError, UsageError

QI = ["age", "sex", "state"]
TEXT = """
schema_version: 1
name: finder
title: A search that may overlook
story: Somebody searches among those alike
sources: [made up]
subject:
  p_overlooked: {per: known, unit: probability, range: [0, 1]}
groups:
  known: {members: [knows_age], probability: 0.5, source: assumption, story: What is known}
nodes:
  overlooked: {parents: [known], cpd: {kind: probability, p: "@p_overlooked"}}
questions: {risk: {target: overlooked=yes}}
"""


def overlooked(table, rows):
    return 0.9 ** table.sizes(rows)


def unique_twice(table, rows):
    return table.unique(rows) ** 2


P_OVERLOOKED = Provider(overlooked, "everybody alike is overlooked")
P_TWICE = Provider(unique_twice, "two of two are unique", needs_population=True)
SHARE = Provider(lambda table, _: np.array([1 / table.records]), "one person", per_subset=False)


@pytest.fixture
def installed(monkeypatch):
    """Pretends that a package with an entry point is installed."""

    def install(name, value):
        point = EntryPoint(name, f"{__name__}:{value}", "reidbn.columns")
        monkeypatch.setattr(inside(Provider), "entry_points", lambda group: [point])
        providers.cache_clear()

    yield install
    monkeypatch.undo()
    providers.cache_clear()


@pytest.fixture(scope="module")
def frame():
    return rb.datasets.synthetic_patients(300, seed=7)


def people_of(frame):
    return rb.read_table(frame, quasi_identifiers=QI)


def half():
    groups = tuple(Known(c, (c,), (0.5,), source="made up") for c in QI)
    return Scenario("half", knows=Knows(groups))


def by_hand(frame, told):
    """The mean over the eight equally likely subsets, counted with pandas."""
    total = np.zeros(len(frame))
    for mask in range(8):
        columns = [c for j, c in enumerate(QI) if mask >> j & 1]
        sizes = (
            frame.groupby(columns, dropna=False)["age"].transform("size").to_numpy()
            if columns
            else np.full(len(frame), len(frame))
        )
        total += told(sizes) / 8
    return total


@pytest.mark.parametrize("many", [False, True])
def test_a_package_brings_a_column(installed, frame, monkeypatch, many):
    installed("p_overlooked", "P_OVERLOOKED")
    monkeypatch.setattr(inside(summed), "FROM", 0 if many else 1 << 62)
    attack, expected = rb.loads(TEXT), by_hand(frame, lambda sizes: 0.9**sizes)
    result = rb.assess(attack, people_of(frame), scenario=half())
    assert result.risk() == pytest.approx(expected, abs=1e-12)
    some = rb.assess(attack, people_of(frame), scenario=half(), individuals=[3, 100])
    assert some.risk() == pytest.approx(expected[[3, 100]], abs=1e-12)
    cells = rb.assess(attack, rb.contingency(frame, QI), scenario=half())
    assert cells.risk().mean() == pytest.approx(expected.mean(), abs=1e-12)
    assert not result.crosscheck.failed


def test_a_column_that_rests_on_the_population_asks_for_one_and_has_an_interval(installed, frame):
    installed("p_overlooked", "P_TWICE")
    people, attack = people_of(frame), rb.loads(TEXT)
    with pytest.raises(UsageError, match="give population=N"):
        rb.assess(attack, people, scenario=half())
    asked = {"scenario": half(), "population": 3_000, "population_model": "pitman"}
    result = rb.assess(attack, people, **asked)
    once = rb.assess("journalist", people, **asked).subject_table.columns["p_unique"]
    row = np.broadcast_to(once, (result.subject_table.subjects, 8))
    expected = (row**2).mean(axis=1)[result.subject_table.of_person]
    assert result.risk() == pytest.approx(expected, abs=1e-12)
    ends = result.population_uncertainty().table().loc["overall"]
    assert ends.low < ends["mean"] < ends.high


def test_a_column_of_one_number(installed, frame):
    installed("p_overlooked", "SHARE")
    attack = rb.loads(TEXT.replace("per: known, ", ""))
    result = rb.assess(attack, people_of(frame), scenario=half())
    assert result.risk() == pytest.approx(np.full(len(frame), 1 / 300))


def test_what_a_package_may_not_bring(installed):
    installed("class_size", "P_OVERLOOKED")
    with pytest.raises(ModelError, match='redefines the subject column "class_size"'):
        providers()
    installed("p_overlooked", "TEXT")
    with pytest.raises(ModelError, match='"p_overlooked": its entry point is no Provider'):
        providers()


def test_a_column_of_nobody_is_refused_by_name_with_those_there_are(installed, frame):
    with pytest.raises(DataError, match=r"p_unique \(.*\) and records \(the table's rows\)"):
        rb.assess(rb.loads(TEXT), people_of(frame), scenario=half())
    installed("p_found", "P_OVERLOOKED")
    with pytest.raises(DataError, match=r"p_found \(everybody alike is overlooked\)"):
        rb.assess(rb.loads(TEXT), people_of(frame), scenario=half())


def test_a_column_that_is_not_per_what_is_known_is_refused(frame):
    text = TEXT.replace("p_overlooked", "class_size").replace("probability, p:", "one-over, of:")
    once = rb.loads(text.replace("per: known, unit: probability, range: [0, 1]", "unit: records"))
    with pytest.raises(UsageError, match="write per: known in the model"):
        rb.assess(once, people_of(frame), scenario=half())


def test_what_the_call_gives_is_not_replaced_by_the_table(monkeypatch, frame):
    """P(unique) of a half for everybody: half the prosecutor's chance, and no interval."""
    people, given = people_of(frame), {"p_unique": np.full((300, 8), 0.5)}
    alone = by_hand(frame, lambda sizes: sizes == 1)
    for limit in (0, 1 << 62):
        monkeypatch.setattr(inside(summed), "FROM", limit)
        for population in (None, 3_000):
            asked = {"scenario": half(), "subject": given, "population": population}
            result = rb.assess("journalist", people, **asked)
            assert result.risk("unique") == pytest.approx(alone / 2, abs=1e-12)
        sizes = {"class_size": np.full((300, 8), 2.0)}
        pairs = rb.assess("marketer", people, scenario=half(), subject=sizes)
        assert pairs.risk("right") == pytest.approx(np.full(300, 0.5), abs=1e-12)
    told = result.population_uncertainty().table()
    assert [*told.index] == ["journalist_match"]
    contribution = drivers(result).table()["contribution"].sum()
    assert contribution == pytest.approx(result.risk().mean(), abs=1e-12)


class FourAlike:
    def sizes(self, rows):
        return np.full((len(rows), 1), 4)


def test_the_page_shows_a_provider_that_runs():
    text = (Path(__file__).parent.parent / "docs" / "model-files.md").read_text()
    code = next(c for c in re.findall(r"```python\n(.*?)```", text, re.S) if "Provider" in c)
    names = {}
    exec(code, names)  # noqa: S102 - our own page
    assert names["p_overlooked"].meaning == P_OVERLOOKED.meaning
    assert names["overlooked"](FourAlike(), [0]) == 0.9**4


UNREAD = """
schema_version: 1
name: unread
subject:
  class_size: {per: known, unit: records}
  k_all: {unit: years}
  p_unique: {per: known, unit: probability}
groups:
  known: {members: [knows_age], probability: 0.5, source: assumption}
nodes:
  guess: {parents: [known], cpd: {kind: one-over, of: "@class_size"}, linddun: [Identifying]}
questions: {risk: {target: guess=yes}}
"""


def test_a_column_that_nothing_reads_is_not_needed(frame, tmp_path):
    people = rb.read_table(frame, quasi_identifiers=QI)
    read = UNREAD.replace("  k_all: {unit: years}\n", "")
    read = read.replace("  p_unique: {per: known, unit: probability}\n", "")
    asked = {"scenario": "worst-case"}
    plain, found = (rb.assess(rb.loads(text), people, **asked) for text in (read, UNREAD))
    assert found.risk().tolist() == plain.risk().tolist()
    assert found.report(tmp_path / "r.html").exists()
    own = {"k_all": np.arange(len(people))}
    assert rb.assess(rb.loads(UNREAD), people, subject=own, **asked).risk().tolist() == (
        plain.risk().tolist())  # fmt: skip
    assert float(rb.ask(rb.loads(UNREAD), "risk", subject={"class_size": [9, 3]})) == (
        pytest.approx((1 / 9 + 1 / 3) / 2))  # fmt: skip
    used = UNREAD.replace('of: "@class_size"', 'of: "@k_all"')
    with pytest.raises(DataError, match='needs the subject column "k_all"'):
        rb.assess(rb.loads(used), people, **asked)
