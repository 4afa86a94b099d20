"""A page as a browser shows it: readable on a telephone, reaches nothing outside, axe is content.

Skipped where Chromium is not; the rules of axe-core are asked where `axe-core-python` is installed.
"""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from devtools import CHROMIUM, Browser
from test_result import MADE
from test_result import people as subjects

import reidbn as rb

AXE = find_spec("axe_core_python")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to look at pages with"),
]
TELEPHONE, DESK = 360, 1200
ROOT = Path(__file__).resolve().parent.parent
CLOSED = r"<meta http-equiv=.Content-Security-Policy.[^>]*default-src 'none'[^>]*>"

# What a page says of itself once it is drawn; the rules of axe are asked where they are.
LOOK = """(async () => {
  const found = {
    wide: document.documentElement.scrollWidth - innerWidth,
    text: document.body.innerText.length,
    pictures: [...document.images].filter(i => !i.complete || !i.naturalWidth).length,
    fetched: performance.getEntriesByType("resource")
      .map(e => e.name).filter(n => !n.startsWith("data:")),
    night: matchMedia("(prefers-color-scheme: dark)").matches,
    paper: getComputedStyle(document.body).backgroundColor,
    faults: [],
  };
  if (window.axe) {
    const told = await axe.run(document, {resultTypes: ["violations"]});
    found.faults = told.violations.map(v => v.id + ": " + v.nodes[0].html);
  }
  return found;
})()"""


def seen(page, width, folder, *, night=False):
    """What Chromium sees of a page in a window of a width, by day or by night."""
    look = folder / "look.html"
    look.write_text(page)
    with Browser() as browser:
        browser.ask("Page.setBypassCSP", enabled=True)  # for axe; `opened` keeps it
        browser.open(look, width, dark=night)
        if AXE:
            browser.say(Path(AXE.origin).with_name("axe.min.js").read_text() + ";0")
        return browser.say(LOOK)


def people():
    rng = np.random.default_rng(1)
    rows = {
        "age": rng.integers(20, 60, 237),
        "sex": rng.integers(0, 2, 237),
        "race": rng.integers(0, 9, 237),
        "diagnosis": rng.choice(5, 237),
    }
    return rb.read_table(
        pd.DataFrame(rows), quasi_identifiers=["age", "sex", "race"], sensitive=["diagnosis"]
    )


PAGES = {
    "assessment": lambda table: rb.assess("adversary-routes", table, population=100_000),
    "disclosure": lambda table: rb.disclosure(table, "diagnosis"),
    "leak": lambda table: rb.leak.assess(table, leaked=50),
    "population": lambda table: rb.population.fit(table, population=100_000),
    "suda": lambda table: rb.suda(table, sampling_fraction=0.1),
    "candidates": lambda table: rb.candidates(table.take(range(157)), table),
}


@pytest.fixture(scope="module", params=PAGES)
def page(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    PAGES[request.param](people()).report(path)
    return path.read_text()


@pytest.mark.parametrize(("width", "night"), [(TELEPHONE, False), (DESK, False), (DESK, True)])
def test_a_page_is_readable_at_every_width_by_day_and_by_night(page, width, night, tmp_path):
    assert len(re.findall(CLOSED, page)) == 1
    found = seen(page, width, tmp_path, night=night)
    assert found["night"] is night
    assert (found["paper"] == "rgb(26, 26, 26)") is night
    assert found["wide"] <= 0, f"the page is {found['wide']} pixels wider than its window"
    assert found["text"] > 300
    assert found["pictures"] == 0
    assert found["fetched"] == []
    assert found["faults"] == []


# Every picture of a page, and whether there is something in it.
PICTURES = """Promise.all([...document.querySelectorAll("img, image")].map(async at => {
  const from = at.getAttribute("src") ?? at.getAttribute("href") ?? at.getAttribute("xlink:href");
  const image = new Image();
  image.src = from ?? "";
  try { await image.decode(); } catch { return false; }
  if (at.checkVisibility()) {
    const size = at.getBoundingClientRect();
    if (!size.width || !size.height) return false;
  }
  return image.naturalWidth > 0;
}))"""


def opened(path):
    """Its pictures, what it asked for and what its own policy forbade, as it was written."""
    with Browser() as browser:
        browser.ask("Log.enable")
        browser.open(path)
        pictures = browser.say(PICTURES)
        entries = [
            e["params"]["entry"] for e in browser.events if e.get("method") == "Log.entryAdded"
        ]
        broken = [e["text"] for e in entries if e["source"] == "security"]
        return pictures, browser.asked_for(), broken


@pytest.mark.parametrize("custodian", [False, True])
@pytest.mark.parametrize("kind", MADE)
def test_a_report_as_it_was_written_has_its_pictures_and_keeps_its_own_policy(
    kind, custodian, tmp_path
):
    """Not in a frame, and with its policy, which `seen` has to pass by for axe."""
    path = MADE[kind](subjects()).report(tmp_path / "page.html", custodian=custodian)
    assert len(re.findall(CLOSED, path.read_text())) == 1
    pictures, asked, broken = opened(path)
    assert (all(pictures), [a for a in asked if not a.startswith("data:")], broken) == (
        True,
        [],
        [],
    )
    text = path.read_text()
    assert ("img-src data:" in text) is ("data:image/png" in text)  # let in nowhere else


def test_a_broken_picture_and_what_a_policy_forbids_are_seen(tmp_path):
    wrong = (
        """<!doctype html><html><head><meta http-equiv="Content-Security-Policy" """
        """content="default-src 'none'"></head><body><style>b { color: red }</style>"""
        """<svg><image href=""/></svg></body></html>"""
    )
    (tmp_path / "wrong.html").write_text(wrong)
    pictures, _, broken = opened(tmp_path / "wrong.html")
    assert pictures == [False]
    assert any("inline style" in text for text in broken)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Cards, and the pages of the docs."""
    folder = tmp_path_factory.mktemp("written")
    rb.report.cards(folder / "cards.html")
    subprocess.run([sys.executable, ROOT / "docs" / "build.py", folder / "site"], check=True)
    return folder


@pytest.mark.parametrize("night", [False, True])
@pytest.mark.parametrize(
    "name",
    ["cards.html", "site/index.html", "site/docs/class.html", "site/docs/models.html",
     "site/docs/truth-check.html", "site/docs/lessons/3_three_routes.html",
     "site/docs/lessons/5_neighbours.html"],
)  # fmt: skip
def test_docs_lessons_and_cards_are_readable_by_day_and_by_night(written, name, night, tmp_path):
    text = (written / name).read_text()
    found = seen(re.sub(r"<img [^>]*>", "", text), DESK, tmp_path, night=night)
    assert (found["night"], found["wide"] <= 0, found["faults"]) == (night, True, [])


def test_a_map_of_colours_is_by_night_what_its_words_say():
    """ "Dark red is disclosed", and by night it was light pink."""
    with Browser() as browser:
        browser.open(ROOT / "docs" / "lessons" / "5_neighbours.html", DESK, dark=True)
        found = browser.say("""[...document.querySelectorAll(".said svg")].map(s =>
          [Boolean(s.querySelector("image")), getComputedStyle(s).filter,
           getComputedStyle(s).backgroundColor])""")
    assert [have for have, _, _ in found].count(True) == 2
    for have, filtered, paper in found:
        assert (filtered == "none") is have
        assert not have or paper == "rgb(255, 255, 255)"


def test_the_look_sees_what_is_wrong(tmp_path):
    """A page with every fault is told from one without."""
    wrong = (
        '<!doctype html><html><body><div style="width:900px">wide</div>'
        '<img src="http://127.0.0.1:9/nowhere.png"></body></html>'
    )
    found = seen(wrong, TELEPHONE, tmp_path)
    assert found["wide"] > 500
    assert found["pictures"] == 1
    assert found["fetched"] == ["http://127.0.0.1:9/nowhere.png"]
    if AXE:
        assert {"html-has-lang", "image-alt"} <= {f.partition(":")[0] for f in found["faults"]}
