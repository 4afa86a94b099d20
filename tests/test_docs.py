"""Every example of the documentation is true, at Python and in a shell."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reidbn as rb

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WIDE = {"families", "tutorial"}
# A rule that was named and is not kept ends with 1.
ENDS = {"assess": (0, 1), "leak": (0, 1), "disclosure": (0, 1)}


def of(pages, holds):
    return [
        pytest.param(page, id=page.stem, marks=[pytest.mark.wide] * (page.stem in WIDE))
        for page in pages
        if holds(page.read_text(encoding="utf-8"))
    ]


def commands(text):
    """The lines of a page that call reidbn, as they stand in its blocks and sentences."""
    found = []
    for block in re.findall(r"```(?:sh)?\n(.*?)```", text, re.DOTALL):
        if ">>>" not in block:
            lines = block.replace("\\\n", " ").splitlines()
            found += [line for line in lines if line.startswith("reidbn ")]
    inline = [re.sub(r"\s+", " ", one) for one in re.findall(r"`(reidbn [^`]+)`", text)]
    found += [one for one in inline if " --" in one and "..." not in one]
    lines = [shlex.split(line, comments=True)[1:] for line in found]
    return [words for words in lines if "--watch" not in words]  # it does not end


@pytest.mark.parametrize("page", of(PAGES[1:], lambda text: ">>> " in text))
def test_every_example_at_python_is_true(page):
    found = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert found.attempted == len(re.findall(r"^>>> ", page.read_text(encoding="utf-8"), re.M))
    assert found.failed == 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that the pages speak of."""
    monkeypatch.chdir(tmp_path)
    patients = rb.datasets.synthetic_patients(600, seed=1)
    draw = np.random.default_rng(2)
    days = pd.Timestamp("2020-01-06") + pd.to_timedelta(draw.integers(0, 900, 600), "D")
    more = {"zip": draw.integers(10_000, 10_040, 600).astype(str), "admitted": days.astype(str),
            "born": (days - pd.to_timedelta(365 * patients["age"], "D")).astype(str),
            "town": draw.choice(["Aare", "Birs"], 600), "city": draw.choice(["Chur ", "chur"], 600),
            "diagnosis": draw.choice(["flu", "asthma", "?"], 600)}  # fmt: skip
    people = patients.assign(**more)
    for name in ("table.csv", "patients.csv", "people.csv"):
        people.to_csv(name, index=False)
    people.to_parquet("people.parquet")
    records = rb.datasets.synthetic_families(40, seed=0)
    records.table.to_csv("ehr.csv", index=False)
    records.features.to_csv("features.csv", index=False)
    shutil.copy(ROOT / "models" / "family-search.yaml", "family.yaml")
    Path("setting.yaml").write_text(
        "schema_version: 1\nkind: scenario\nname: setting\ntitle: A setting of a page\n"
        "source: assumption\nset: {alike: 17}\n"
    )
    Path("my_functions.py").write_text("def half(parents):\n    return parents / 2\n")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", of(PAGES, commands))
def test_every_command_runs(page, folder, shell):
    for words in commands(page.read_text(encoding="utf-8")):
        if ">" in words:
            words = words[: words.index(">")]
        code, said = shell(*words)
        assert code in ENDS.get(words[0], (0,)), f"reidbn {' '.join(words)}\n{said[-2000:]}"
