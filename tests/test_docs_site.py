"""The documentation as pages: strict about links, nothing loaded, everything found from disk."""

import importlib.util
import re
from pathlib import Path

import pytest

import reidbn as rb

ROOT = Path(__file__).resolve().parent.parent
pytest.importorskip("markdown_it")
_spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
build = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build)


def test_every_page_is_made_and_every_link_of_it_leads_to_a_file(tmp_path):
    assert build.build(tmp_path) == []
    pages = {p.relative_to(tmp_path).as_posix(): p.read_text() for p in tmp_path.rglob("*.html")}
    assert {"index.html", "docs/class.html", "docs/lessons/1_attack_model.html"} <= set(pages)
    assert len([p for p in pages if p.startswith("docs/") and "lessons/" not in p]) >= 20
    for name, text in pages.items():
        assert "<script" not in text
        assert "default-src 'none'" in text
        for target in re.findall(r'(?:href|src)="([^"#]+)(?:#[^"]*)?"', text):
            if not re.match(r"[a-z]+:", target):
                assert (tmp_path / name).parent.joinpath(target).exists(), f"{name}: {target}"
    assert all('href="../lessons.html"' in t for n, t in pages.items() if "lessons/" in n)
    rooms = (tmp_path / "reference").glob("*.html")
    told = "".join(p.read_text() for p in rooms)
    for name in rb.__all__:
        assert name == "__version__" or f"rb.{name}" in told


def test_a_link_that_leads_nowhere_is_named():
    site = build.Site(Path("none"))
    site.add("docs/data.md", "# Data\n\n[a](nowhere.md) [b](#data) [c](#dta) [d](https://x.org)")
    assert site.problems() == [
        "docs/data.md: docs/nowhere.md is not there",
        "docs/data.md: docs/data.md has no heading #dta",
    ]


def test_the_stick_has_the_minutes_and_links_only_to_what_is_on_it(tmp_path):
    said = build.stick(tmp_path).read_text()
    # the answer is not on the screen at once, however the page is opened
    assert "page breakfast --predict -o class/breakfast.html" in (ROOT / "Makefile").read_text()
    links = set(re.findall(r'href="([^"#]+)[^"]*"', said))
    for page in tmp_path.glob("[0-9]_*.html"):  # the lessons lead to each other, and back
        assert 'href="index.html"' in page.read_text()
        for target in re.findall(r'(?:href|src)="([^"#:]+)"', page.read_text()):
            assert (tmp_path / target).exists(), f"{page.name}: {target}"
    lessons = {p.name for p in (ROOT / "docs" / "lessons").glob("*.html")}
    assert links == lessons | {
        "breakfast.html",
        "cards.html",
        "adversary-routes.html",
        "report.html",
    }
    makefile = (ROOT / "Makefile").read_text()
    # its report is of the release that the teacher names, and may fail its rule
    assert re.search(r"--release public --threshold ema \\\n\s+--html class/report", makefile)
    assert "a <em>public</em> release, judged by the EMA" in said
    made = re.findall(r"class/(\S+\.html)", makefile)
    assert links - lessons == {*made}
    for minutes in ("0 to 10", "10 to 25", "25 to 45", "45 to 70", "70 to 85", "85 to 90"):
        assert minutes in said
