"""The page with keys alone, on paper, and with nothing asked of any network: in a real browser."""

import re

import numpy as np
import pandas as pd
import pytest
from devtools import Browser
from scripts import needs_browser

import reidbn as rb

pytestmark = [pytest.mark.slow, needs_browser]

# What has the focus: its name, how its focus is drawn, and whether it can be seen.
FOCUS = """(() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const look = getComputedStyle(at), box = at.getBoundingClientRect();
  return {
    id: at.id, tag: at.tagName, text: (at.getAttribute("aria-label") ?? at.textContent).trim(),
    drawn: look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 2,
    seen: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
})()"""


@pytest.fixture(scope="module")
def browser():
    with Browser() as one:
        yield one


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"age": rng.integers(20, 40, 900), "sex": rng.integers(0, 2, 900),
                          "race": rng.choice(4, 900)})  # fmt: skip
    people = rb.read_table(frame, quasi_identifiers=["age", "sex", "race"])
    assessed = rb.assess("adversary-routes", people, population=90_000)
    found = {name: rb.load(name).page(folder / f"{name}.html")
             for name in ("breakfast", "insider-decides", "family-cascade")}  # fmt: skip
    return found | {"people": assessed.page(folder / "people.html")}


def walked(browser, most=600):
    """Everything that Tab comes to, from the top of the page to its end."""
    found = []
    for _ in range(most):
        browser.press("Tab")
        told = browser.say(FOCUS)
        if told is None:
            return found
        found.append(told)
    raise AssertionError(f"{most} tabs, and no end")


@pytest.mark.parametrize("name", ["breakfast", "insider-decides", "family-cascade", "people"])
def test_tab_comes_to_everything_and_shows_where_it_is(name, browser, pages):
    browser.open(pages[name])
    wanted = browser.say("""[...document.querySelectorAll(
        "button, select, textarea, input, summary, [tabindex='0']")]
      .filter(e => !e.disabled && e.offsetParent !== null).length""")
    found = walked(browser)
    assert len(found) == wanted + 1  # and the link over all to the answer
    assert all(f["drawn"] and f["seen"] for f in found), [
        f for f in found if not (f["drawn"] and f["seen"])
    ]
    names = " | ".join(f["text"] for f in found)
    for said in ("Skip to the answer", "Predict first", "Copy", "Print one page", "See", "Do"):
        assert said in names
    sliders = browser.say("[...document.querySelectorAll('input[type=range]')].map(r => r.id)")
    assert {*sliders} <= {f["id"] for f in found}


def to(browser, text, most=120):
    """Tab on until something of a name has the focus."""
    for _ in range(most):
        browser.press("Tab")
        told = browser.say(FOCUS)
        if told and (told["text"].startswith(text) or told["id"] == text):
            return
    raise AssertionError(f"no {text}")


def test_a_slider_a_state_a_guess_and_a_copy_with_keys_alone(browser, pages):
    browser.open(pages["breakfast"])
    to(browser, "p-alike")
    browser.press("ArrowRight")
    moved = browser.say("reidbn.state().set.alike")
    assert moved > 5
    browser.press("ArrowLeft")
    assert browser.say("reidbn.state().set.alike") < moved
    to(browser, "Do")
    browser.press("Space")
    to(browser, "overheard = yes")
    browser.press("Enter")
    assert browser.say("reidbn.state().do") == {"overheard": "yes"}
    assert browser.say(FOCUS)["text"].startswith("overheard = yes")  # and stays where it was
    assert "do:" in browser.say("document.querySelector('textarea').value")
    to(browser, "Copy")
    browser.press("Enter")
    browser.open(pages["breakfast"])
    to(browser, "Predict first")
    browser.press("Enter")
    browser.ask("Input.insertText", text="7")
    to(browser, "Reveal")
    assert browser.say("document.body.classList.contains('hiding')")
    browser.press("Enter")
    assert not browser.say("document.body.classList.contains('hiding')")
    assert browser.say(FOCUS) is not None  # what is taken away does not take the focus with it


@pytest.mark.parametrize("name", ["breakfast", "people"])
def test_a_page_asks_for_nothing(name, browser, pages):
    browser.open(pages[name])
    browser.say("new Promise(done => setTimeout(done, 300))")
    assert browser.asked_for() == []


def test_a_link_that_is_put_there_while_the_page_keeps_its_own_is_opened(browser, pages):
    """The page keeps its state in the address a moment after each change: not over a new link."""
    browser.open(pages["breakfast"])
    link = browser.say("""new Promise(done => {
      const wait = setTimeout;
      let rest = null;
      window.setTimeout = later => { rest = later; };
      document.querySelector("input[type=range]").dispatchEvent(new Event("input"));
      location.hash = "see.overheard=yes";
      rest();
      wait(() => done(reidbn.link()), 200);
    })""")
    assert "see.overheard=yes" in link


def test_the_address_says_of_which_page_its_setting_is(browser, pages):
    browser.open(pages["breakfast"])
    there = browser.say("""new Promise(done => {
      location.hash = "set.alike=9";
      setTimeout(() => document.querySelector("input[type=range]").dispatchEvent(
        new Event("input")), 100);
      setTimeout(() => done([location.hash, reidbn.held.mark]), 600);
    })""")
    assert there[0].startswith(f"#page={there[1]}&set.")


@pytest.mark.parametrize("name", ["breakfast", "insider-decides", "people"])
def test_a_page_is_printed_on_one_sheet(name, browser, pages, tmp_path):
    browser.open(pages[name])
    browser.printed(tmp_path / "p.pdf")
    text = (tmp_path / "p.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", text)) == 1


@pytest.mark.parametrize("width", [400, 1280])
def test_a_page_is_printed_on_one_sheet_whatever_is_seen_or_done(width, browser, pages, tmp_path):
    browser.open(pages["people"], width, 1000)
    names = [n["name"] for n in browser.say("reidbn.held.nodes") if not n["helper"]]
    sheets = {}
    for at in (f"{what}.{name}=yes" for what in ("see", "do") for name in names):
        browser.say(f"location.hash = '{at}'")
        browser.say("new Promise(done => setTimeout(done, 60))")
        browser.printed(tmp_path / "p.pdf")
        text = (tmp_path / "p.pdf").read_bytes()
        sheets[at] = len(re.findall(rb"/Type\s*/Page\b", text))
    assert len(sheets) > 10
    assert {*sheets.values()} == {1}, sheets


@pytest.mark.parametrize("name", ["breakfast", "insider-decides", "people"])
@pytest.mark.parametrize("width", [1024, 1280, 1600])
def test_the_graph_fits_its_sheet_and_sliders_that_fit_the_window_stay(name, width, browser, pages):
    browser.open(pages[name], width, 1000)
    wide, high = browser.say("""(() => { const s = document.querySelector(".space");
      return [s.scrollWidth - s.clientWidth, s.scrollHeight - s.clientHeight]; })()""")
    assert (wide, high) == (0, 0)
    sticks = browser.say("""(() => { scrollTo(0, 1200);
      const sliders = document.getElementById("sliders");
      return [getComputedStyle(sliders).position, sliders.offsetHeight]; })()""")
    assert (sticks[0] == "sticky") is (width >= 1280 and sticks[1] < 1000 - 72)


@pytest.mark.parametrize("name", ["breakfast", "family-cascade"])
def test_a_page_that_is_printed_at_once_has_its_curves(name, browser, pages, tmp_path):
    browser.open(pages[name])
    browser.printed(tmp_path / "at_once.pdf")
    drawn = browser.say("""[...document.querySelectorAll(".curve svg")]
      .every(s => s.querySelector(".edge")?.getAttribute("d").length > 50)""")
    assert drawn
