"""The page as a file, and as somebody uses it: sealed, small, keyboard, copied settings, links."""

import base64
import hashlib
import json
import re

import pytest
from scripts import looked, needs_browser
from test_page_in_browser import DESK, seen

import reidbn as rb
from reidbn.attack import Attack, Node, Parameter, Question
from reidbn.cpds import Probability

TELEPHONE = 400

# A page in a frame, and beside it a script that does what a reader would.
USED = """<!doctype html><meta charset="utf-8">
<iframe id="page" width="{width}" height="900"></iframe>
<pre id="found"></pre><script>
const page = {page}, frame = document.getElementById("page");
const wait = ms => new Promise(done => setTimeout(done, ms));
frame.addEventListener("load", async () => {{
  const at = frame.contentWindow, paper = at.document, $ = id => paper.getElementById(id);
  const state = label => [...paper.querySelectorAll("button.state")]
    .find(b => b.getAttribute("aria-label").startsWith(label));
  const buttons = () => [...paper.querySelectorAll("button")];
  const press = text => buttons().find(b => b.textContent === text).click();
  const key = (element, name) =>
    element.dispatchEvent(new at.KeyboardEvent("keydown", {{key: name, bubbles: true}}));
  const type = (element, value, kind = "change") => {{
    element.value = value;
    element.dispatchEvent(new at.Event(kind, {{bubbles: true}}));
  }};
  const said = () => paper.querySelector(".sentence").textContent;
  const number = () => paper.querySelector(".number").textContent;
  const told = [];
  try {{ {body} }} catch (problem) {{ told.push(String(problem)); }}
  document.getElementById("found").textContent = JSON.stringify(told);
}});
frame.srcdoc = page;
</script>"""


def use(model, body, folder, width=DESK, **start):
    """What a script sees who uses the page of a model."""
    path = rb.load(model).page(folder / "page.html", **start)
    text = json.dumps(path.read_text())
    safe = re.sub("[<>&]", lambda m: f"\\u{ord(m[0]):04x}", text)
    (folder / "use.html").write_text(USED.format(width=width, page=safe, body=body))
    return looked(folder / "use.html", folder)


# -- the file -----------------------------------------------------------------------------------


def test_a_page_is_one_sealed_file(tmp_path):
    path = rb.load("breakfast").page(tmp_path / "b.html")
    text = path.read_text()
    assert path.stat().st_size < 150_000
    assert set(re.findall(r"https?://[^\s\"'`)]+", text)) == {"http://www.w3.org/2000/svg"}
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    for tag in ("script", "style"):
        (own,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        seal = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{seal}&#39;" in policy
    assert rb.load("breakfast").page(tmp_path / "c.html").read_text() == text


def test_a_name_that_is_markup_stays_a_name(tmp_path):
    evil = "</script><script>alert(1)</script><!--"
    attack = Attack(
        "evil", title=evil, story=evil,
        parameters=[Parameter("p", 0.5, source=evil, story=evil)],
        nodes=[Node("found", ("no", "yes"), Probability("$p"), story=evil)],
        questions=[Question("risk", "found=yes", story=evil)],
    )  # fmt: skip
    text = attack.page(tmp_path / "e.html").read_text()
    assert text.count("<script") == 2
    assert text.count("</script") == 2
    assert "alert(1)</script" not in text


@pytest.mark.parametrize("name", ["adversary-routes", "leak-targets", "structured-population"])
def test_pages_are_small(name, tmp_path):
    assert rb.load(name).page(tmp_path / "p.html").stat().st_size < 300_000


def test_the_shell_writes_a_page(shell, tmp_path):
    path = tmp_path / "p.html"
    code, said = shell("page", "leak-single", "identified=yes", "--set", "leaked=4000",
                       "--given", "in_leak=yes", "-o", str(path))  # fmt: skip
    assert (code, said.strip()) == (0, str(path))
    held = json.loads(re.search(r'id="held">(.*?)</script>', path.read_text())[1])
    assert held["start"]["see"] == {"in_leak": "yes"}
    assert held["questions"][0]["wanted"] == {"identified": "yes"}
    code, said = shell("page", "leak-single", "--beyond-range", "--set", "leaked=40000")
    assert code == 2
    assert "leave --beyond-range out" in said


def test_what_a_page_cannot_start_from_is_refused(tmp_path):
    model, path = rb.load("breakfast"), tmp_path / "p.html"
    with pytest.raises(rb.UsageError, match="lies outside its range"):
        model.page(path, set={"alike": 400})
    with pytest.raises(rb.UsageError, match="starts from one number, not a list"):
        model.page(path, set={"alike": [1, 2]})
    with pytest.raises(rb.UsageError, match="has no state"):
        model.page(path, given={"overheard": "loudly"})
    with pytest.raises(rb.UsageError, match="a page is an"):
        model.page(tmp_path / "p.pdf")
    assert not path.exists()


# -- in use -------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_browser
def test_what_is_seen_and_what_is_done_differ_as_they_do_in_the_library(tmp_path):
    body = """
      told.push(at.reidbn.found().p);
      state("overheard = no").click();
      told.push(said(), at.reidbn.found().marginals.breakfast[1]);
      press("Do"); state("overheard = no").click();
      told.push(said(), at.reidbn.found().marginals.breakfast[1]);
      key($("p-alike"), "ArrowRight"); press("Do");
      told.push(at.reidbn.state().set.alike, at.reidbn.link());
    """
    found = use("breakfast", body, tmp_path)
    assert found[0] == float(rb.ask("breakfast"))
    assert "given overheard = no" in found[1]
    wanted = rb.ask("breakfast", "breakfast=yes", given={"overheard": "no"})
    assert abs(found[2] - float(wanted)) < 1e-12
    assert "when overheard = no is brought about" in found[3]
    assert found[4] == 0.5
    assert found[5] > 5
    assert found[6] == f"set.alike={found[5]}&do.overheard=no"


@pytest.mark.slow
@needs_browser
def test_a_copied_setting_is_a_scenario_that_says_the_same_numbers(tmp_path):
    body = """
      type($("p-leaked"), 371.2, "input"); type($("p-class_size"), 640, "input");
      state("in_leak = yes").click();
      told.push(at.reidbn.yaml(), at.reidbn.found().p, at.reidbn.state().set);
      const link = at.reidbn.link();
      press("Start again"); told.push(at.reidbn.link());
      at.location.hash = link; await wait(50);
      told.push(at.reidbn.found().p);
    """
    text, p, values, empty, again = use("leak-single", body, tmp_path)
    (tmp_path / "s.yaml").write_text(text)
    scenario = rb.load_scenario(str(tmp_path / "s.yaml"))
    assert values["class_size"] > 5
    assert scenario.set == {n: v for n, v in values.items() if v != _own("leak-single", n)}
    wanted = rb.ask("leak-single", set=scenario.set, given=scenario.given, do=scenario.do)
    assert abs(p - float(wanted)) <= 1e-12
    assert empty == ""
    assert again == p


def _own(model, name):
    return rb.load(model).parameters[name].value


@pytest.mark.slow
@needs_browser
def test_a_condition_binds_its_sliders(tmp_path):
    body = """
      type(paper.querySelector("#p-records").closest(".slider").querySelector("[type=number]"), 1);
      told.push(at.reidbn.state().set, paper.querySelector("#sliders > .stuck").textContent);
    """
    values, said = use("leak-single", body, tmp_path)
    assert values["records"] == max(values["leaked"], values["class_size"])
    assert "has to hold" in said or "than there are records" in said


@pytest.mark.slow
@needs_browser
def test_predict_first_hides_the_answer_until_it_is_revealed(tmp_path):
    body = """
      press("Predict first");
      const hidden = [...paper.querySelectorAll(".secret")].every(
        e => at.getComputedStyle(e).visibility === "hidden");
      told.push(hidden, said(), at.getComputedStyle(paper.querySelector(".number")).color);
      for (const guess of [5, 20, 50]) {
        type(paper.querySelector(".guess input"), guess, "input"); press("Add the guess");
      }
      press("Reveal");
      told.push(paper.querySelector(".guess .note").textContent, said());
    """
    hidden, asked, colour, guesses, answer = use("breakfast", body, tmp_path)
    assert hidden
    assert asked.startswith("The answer is hidden")
    assert colour in ("rgba(0, 0, 0, 0)", "transparent")
    assert guesses == "3 guesses, the middle one 20\u00a0%; the answer is 1.0\u00a0%"
    assert answer == "identified=yes has probability 1.0\u00a0%."


@pytest.mark.slow
@needs_browser
def test_a_choice_flips_as_the_fine_moves(tmp_path):
    body = """
      const takes = () => [...paper.querySelectorAll("#decisions strong")].map(s => s.textContent);
      told.push(takes()); await wait(1500);
      told.push(paper.querySelectorAll("#sliders .flip").length);
      type($("p-fine"), 0, "input"); type($("p-effort"), 0, "input"); told.push(takes());
    """
    before, flips, after = use("insider-decides", body, tmp_path)
    assert flips > 3
    assert sum(a != b for a, b in zip(before, after, strict=True)) > 2


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("width", [TELEPHONE, 1024, 1600])
@pytest.mark.parametrize("model", ["breakfast", "insider-decides", "linkage"])
def test_a_page_is_readable_at_every_width_and_axe_is_content(model, width, tmp_path):
    path = rb.load(model).page(tmp_path / "page.html")
    # axe is put into the page from outside, which its own policy forbids
    open_page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", path.read_text())
    found = seen(open_page, width, tmp_path)
    assert found["wide"] <= 0
    assert found["fetched"] == []
    assert found["faults"] == []


@pytest.mark.slow
@needs_browser
def test_a_member_of_a_group_is_known_not_known_and_left_open_in_turn(tmp_path):
    body = """
      for (let i = 0; i < 3; i++) {
        state("known: knows_sex").click();
        told.push(at.reidbn.state().see.knows_sex ?? null, at.reidbn.found().p);
      }
    """
    yes, p_yes, no, p_no, free, p = use("adversary-routes", body, tmp_path)
    assert (yes, no, free) == ("yes", "no", None)
    for told, given in ((p_yes, {"knows_sex": "yes"}), (p_no, {"knows_sex": "no"}), (p, {})):
        assert abs(told - float(rb.ask("adversary-routes", given=given))) < 1e-12
