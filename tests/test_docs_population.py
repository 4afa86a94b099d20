"""The page about population uniqueness quotes what was measured."""

import re
from pathlib import Path

from reidbn import population

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "population.md"


def test_every_model_is_in_the_table_of_models():
    text = PAGE.read_text(encoding="utf-8").split("## Which model")[1].split("## What breaks")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE) == list(population.MODELS)


def test_the_page_quotes_the_results_that_were_measured():
    page = PAGE.read_text(encoding="utf-8")
    measured = (ROOT / "benchmarks" / "results" / "two_populations.md").read_text(encoding="utf-8")
    shares = measured.split("## By share of the value combinations in use")[1].split("##")[0]
    rows = re.findall(r"\| (\d+) \| (\d+ ?%) \| ([\d.]+) \| (\d+ ?%)", shares)
    quoted = page.split("What foretells it")[1].split("Few attributes")[0]
    told = re.findall(r"\| (\d+) \| (\d+) % \| (\d+) % \| ([\d.]+) \|", quoted)
    assert len(rows) == len(told) == 6
    for (cases, held, error, high), (n, kept, over, factor) in zip(rows, told, strict=True):
        assert (cases, held.rstrip(" %"), high.rstrip(" %")) == (n, kept, over)
        assert abs(2 ** float(error) - float(factor)) < 0.015
    coverage = (ROOT / "benchmarks" / "results" / "coverage.md").read_text(encoding="utf-8")
    line = re.search(r"\| all tables \| (\d+) \| ([\d.]+) % .*?\| ([\d.]+) % .*?\| ([\d.]+) % .*?"
                     r"\| ([\d.]+) %", coverage)  # fmt: skip
    number, uniques, _, profile, grid = line.groups()
    assert f"{int(number):,}\nsimulated populations" in page
    for share in (uniques, profile, grid):
        assert f"{share} %" in page
