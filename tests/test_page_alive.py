"""The page as a file, and as somebody uses it: sealed, small, keyboard, copied settings, links."""

import base64
import hashlib
import json
import re
import shlex

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
    return looked(folder / "use.html")


# -- the file -----------------------------------------------------------------------------------


def test_a_page_is_one_sealed_file(tmp_path):
    path = rb.load("breakfast").page(tmp_path / "b.html")
    text = path.read_text()
    assert path.stat().st_size < 167_000
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
    with pytest.raises(rb.UsageError, match="a page starts from a number below 1e308"):
        model.page(path, set={"alike": 10**400})
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


def at_random(seed):
    """20 settings of a page: sliders put anywhere, up to two states seen, one brought about."""
    return f"""
      let seed = {seed};
      const draw = n => (seed = (seed * 48271) % 2147483647) % n;
      const nodes = [...at.reidbn.model.nodes.values()].filter(n => !n.helper);
      const free = at.reidbn.held.parameters.filter(p => p.frozen === null);
      for (let i = 0; i < 20; i++) {{
        press("Start again");
        const menu = paper.querySelector("select");
        if (menu) type(menu, String(draw(menu.options.length)));
        for (const p of free) type($("p-" + p.name), draw(1001), "input");
        const env = at.reidbn.model.env(at.reidbn.state().set);
        for (const mode of ["See", "See", "Do"].slice(draw(3))) {{
          const node = nodes[draw(nodes.length)], all = at.reidbn.model.states(node.name, env);
          const button = state(node.name + " = " + all[draw(all.length)]);
          if (button) {{ press(mode); button.click(); }}
        }}
        const found = at.reidbn.found();
        told.push([at.reidbn.yaml(), found.refused || Number.isNaN(found.p) ? null : found.value]);
      }}"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize(
    ("model", "start"),
    [
        ("breakfast", {}),
        ("adversary-routes", {}),
        ("leak-single", {"question": "identified=yes"}),
        ("surname", {}),
        ("family-search", {}),
        ("insider-decides", {}),
    ],
)
def test_the_command_in_a_copied_setting_says_the_pages_number(model, start, shell, tmp_path):
    """The page said 'reads it back'; no command did."""
    compared = 0
    for text, value in use(model, at_random(17), tmp_path, **start):
        path = tmp_path / "setting.yaml"
        path.write_text(text)
        (line,) = re.findall("^# Ask: reidbn (.*)$", text, re.MULTILINE)
        words = [str(path) if w == path.name else w for w in shlex.split(line)]
        code, said = shell(*words, "--json")
        if value is None:  # what is seen cannot be: the library says so, too
            assert code != 0, (text, said)
            continue
        assert code == 0, (text, said)
        told = json.loads(said)
        again = told["mean"] if "mean" in told else told["probability"]
        assert abs(again - value) <= 1e-12, text
        assert rb.ask(model, words[2], scenario=str(path)) is not None
        compared += 1
    assert compared >= 10


def _own(model, name):
    return rb.load(model).parameters[name].value


@pytest.mark.slow
@needs_browser
def test_a_condition_binds_its_sliders(tmp_path):
    body = """
      type($("p-records").closest(".slider").querySelector(".typed input"), 1000);
      told.push(at.reidbn.state().set, paper.querySelector(".slider > .stuck").textContent);
    """
    values, said = use("leak-single", body, tmp_path)
    assert values["records"] == max(values["leaked"], values["class_size"])
    assert "has to hold" in said or "than there are records" in said


# Everything that can be read of the page, on the screen or by a reader of screens.
READ = """const read = () => [...paper.querySelectorAll("main *")]
  .filter(e => at.getComputedStyle(e).visibility !== "hidden" && e.getClientRects().length)
  .flatMap(e => [e.getAttribute("aria-label") ?? "", e.title ?? "",
    ...[...e.childNodes].filter(c => c.nodeType === 3).map(c => c.textContent)])
  .concat(paper.getElementById("said").textContent).join(" | ");
"""


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("width", [TELEPHONE, DESK])
@pytest.mark.parametrize("model", ["breakfast", "adversary-routes", "insider-decides"])
def test_predict_first_hides_all_of_the_answer(model, width, tmp_path):
    """'About 1 in 100' stood beside the grey bar."""
    body = (
        READ
        + """
      await wait(400); const shown = read();
      press("Predict first"); await wait(400);
      at.scrollTo(0, 9999); await wait(200);
      const hidden = read();
      const last = at.reidbn.held.nodes.at(-1).name;
      state(last).click(); state(last).click();
      told.push(shown, hidden, read(), at.reidbn.link());
    """
    )
    shown, hidden, moved, link = use(model, body, tmp_path, width)
    p = 100 * float(rb.ask(model))
    p = f"{p:.1f}" if p >= 1 else f"{p:.2g}"
    told = [
        re.escape(p),
        r"\babout \d+ in \d",
        r"\d of 1,?0?00? ",
        " takes (yes|no|each|hide|sell)",
    ]
    assert f"{p}\u00a0%" in shown
    for text in (hidden, moved):
        assert not re.findall("|".join(f".{{30}}{t}.{{20}}" for t in told), text)
    assert link == "predict=yes"


@pytest.mark.slow
@needs_browser
def test_guesses_are_taken_in_percent_and_what_may_be_two_things_is_asked(tmp_path):
    body = """
      press("Predict first");
      told.push(said(), number());
      const field = paper.querySelector(".guess input"), note = () => paper.querySelector(".guess .note").textContent;
      const guess = text => { type(field, text, "input"); press("Add the guess"); };
      for (const text of ["5", "20 %", "50"]) guess(text);
      guess("0.2"); told.push(note());
      const which = [...paper.querySelectorAll(".guess .row .row ~ .row button")];
      told.push(which.map(b => b.textContent)); which[0].click();
      guess("120"); told.push(note()); guess("lots"); told.push(note());
      type(field, "", "input"); press("Reveal"); told.push(note(), said());
      key($("p-alike"), "ArrowRight"); told.push(note());
      press("Start again"); told.push(paper.querySelector(".guess").hidden);
    """  # noqa: E501
    asked, number, which, both, over, none, guesses, answer, after, gone = use(
        "breakfast", body, tmp_path
    )
    assert asked.startswith("The answer is hidden")
    assert number == "?"
    assert (which, both) == ("“0.2”: which do you mean?", ["20.0\u00a0%", "0.20\u00a0%"])
    assert "“120” is no chance" in over
    assert "“lots” is no chance" in none
    assert guesses == "4 guesses, the middle one 20.0\u00a0%; the answer is 1.0\u00a0%"
    assert answer == (
        "“The neighbour finds your line, and reads a year of your shopping” has probability "
        "1.0\u00a0%."
    )
    assert after == f"{guesses} (at the setting that was revealed)."
    assert gone


@pytest.mark.slow
@needs_browser
def test_a_typed_number_is_taken_as_it_is_or_not_at_all(tmp_path):
    """10 in a field of 0 to 1 was silently a certainty; so was 0,1, and p_c=7 in a link."""
    body = """
      const own = n => $("p-" + n).closest(".slider"), field = n => own(n).querySelector(".typed input");
      const put = (n, text) => { type(field(n), text);
        const stuck = own(n).querySelector(".stuck");
        told.push([at.reidbn.state().set[n], stuck && !stuck.hidden ? stuck.textContent : ""]); };
      put("p_listed", "10"); put("p_listed", "0,3"); put("p_listed", "30 %"); put("p_listed", "often");
      put("alike", "2.6"); put("alike", "20 %"); put("alike", "100"); put("alike", "7");
      put("p_listed", "40"); own("p_listed").querySelector(".stuck button").click();
      told.push(at.reidbn.state().set.p_listed);
      told.push(own("alike").querySelector(".yours").textContent);
      told.push([...paper.querySelectorAll("#stands tr")].at(-1).textContent);
      at.location.hash = "set.p_listed=7&set.alike=9"; await wait(100);
      told.push(at.reidbn.state().set, [...paper.querySelectorAll(".warn")].map(w => w.textContent).join(""));
    """  # noqa: E501
    found = use("breakfast", body, tmp_path)
    stays = "“10” was not taken: p_listed goes from 0.1 to 0.9. p_listed stays 0.5."
    assert found[0] == [0.5, f"{stays} Did you mean 0.1 (10.0\u00a0%)"]
    assert found[1] == found[2] == [0.3, ""]
    assert found[3] == [0.3, "“often” is no number. p_listed stays 0.3."]
    assert found[4][0] == found[5][0] == found[6][0] == 5
    assert "whole number" in found[4][1]
    assert "Did you mean 3" in found[4][1]
    assert "no share" in found[5][1]
    assert found[6][1] == "“100” was not taken: alike goes from 1 to 40. alike stays 5."
    assert found[7] == [7, ""]
    assert found[9] == 0.4
    assert found[10] == "yours: 7; was 5"
    assert "yours: 7; was 5 people" in found[11]
    assert "an assumption of yours. For 5: assumption" in found[11]
    assert found[12] == {"p_breakfast": 0.5, "p_overheard": 0.2, "p_listed": 0.5, "alike": 9}
    assert "set.p_listed = 7" in found[13]


@pytest.mark.slow
@needs_browser
def test_a_line_that_somebody_sent_is_taken_whole_or_what_is_left_out_is_said(tmp_path):
    """#see.claims=maybe and #set.p_m=90% were dropped without a word, and "Opened" was said."""
    body = """
      const put = text => { $("pasted").value = text; press("Open it");
        told.push([at.reidbn.link(), paper.querySelector("#own [role=status]").textContent,
          [...paper.querySelectorAll(".warn")].map(w => w.textContent).join("")]); };
      for (const bad of ["see.claims=maybe", "see.nobody=yes", "do.nobody=yes", "set.p_x=0.1",
        "set.p_m=0,9", "set.p_m=90%", "set.p_m=abc", "set.p_m=", "set.p_m=7", "q=nothing",
        "above=0.2", "predict=maybe", "garbage"]) put("#" + bad);
      put("#set.p_m=0.9&see.claims=yes"); put("garbage"); put("set.p_m=0.2");
      put("Open your own copy of “Breakfast (2), “overheard”” (479412345678), and: #set.p_m=0.1");
      put("Open your own copy of “X” (" + at.reidbn.held.mark + "), and: #set.p_m=0.1");
      put("#set.p_m=7"); press("Start again");
      told.push([...paper.querySelectorAll(".warn")].map(w => w.textContent).join(""));
    """
    found = use("adversary-routes", body, tmp_path)
    for link, status, remark in found[:13]:
        assert link == ""
        assert status == remark
        assert status.startswith("The link says what this page cannot take, and it was left out: ")
    assert [status.split(": ", 1)[1] for _, status, _ in found[:13]] == [
        "see.claims = maybe.", "see.nobody = yes.", "do.nobody = yes.", "set.p_x = 0.1.",
        "set.p_m = 0,9.", "set.p_m=90%.", "set.p_m = abc.", "set.p_m.", "set.p_m = 7.",
        "q = nothing.", "above = 0.2.", "predict = maybe.", "garbage.",
    ]  # fmt: skip
    good = "set.p_m=0.9&see.claims=yes"
    assert found[13] == [good, "Opened", ""]
    none = "Nothing was opened: a line that a page wrote has a # before its setting"
    for link, status, remark in found[14:16]:
        assert (link, remark) == (good, "")
        assert status.startswith(none)
    link, status, remark = found[16]
    assert (link, remark) == (good, "")
    assert "the line is of “Breakfast (2), “overheard”” (479412345678)" in status
    assert found[17] == ["set.p_m=0.1", "Opened", ""]
    assert "set.p_m = 7" in found[18][1]
    assert found[19] == ""


@pytest.mark.slow
@needs_browser
def test_the_address_of_a_page_is_of_that_page_alone(tmp_path):
    """One of breakfast was opened by any page with a parameter of that name, without a word."""
    body = """
      const state = () => told.push([at.reidbn.link(),
        [...paper.querySelectorAll(".warn")].map(w => w.textContent).join(""),
        paper.querySelector("#own [role=status]").textContent]);
      const put = text => { $("pasted").value = text; press("Open it"); state(); };
      const go = async text => { at.location.hash = text; await wait(60); state(); };
      const own = at.reidbn.held.mark;
      put("file:///other.html#page=000000000000&set.alike=9");
      put("file:///own.html#page=" + own + "&set.alike=9&see.overheard=yes");
      await go("page=000000000000&set.alike=20&predict=yes");
      await go("page=" + own + "&set.alike=20");
      await go("set.alike=3");
    """
    found = use("breakfast", body, tmp_path)
    other = "the line is of another page (000000000000), and this page is “Breakfast, overheard”"
    assert found[0][0] == ""
    assert other in found[0][2]
    assert found[1][0] == "set.alike=9&see.overheard=yes"
    assert found[2][0] == ""
    assert other in found[2][1]
    assert found[3][:2] == ["set.alike=20", ""]
    assert found[4][:2] == ["set.alike=3", ""]


@pytest.mark.slow
@needs_browser
def test_start_again_is_as_the_page_was_opened(tmp_path):
    body = """
      const asked = paper.querySelector("select");
      type(asked, "2"); press("Do"); state("overheard = yes").click(); key($("p-alike"), "ArrowRight");
      told.push(at.reidbn.link(), said()); press("Predict first"); press("Start again");
      told.push(at.reidbn.link(), asked.value, asked.options[2].text, number(),
        paper.querySelector(".modes .see").getAttribute("aria-pressed"));
    """  # noqa: E501
    link, said, empty, asked, label, number, see = use("breakfast", body, tmp_path)
    assert link.startswith("q=was_it_you&set.alike=")
    assert said.startswith("This question is asked given overheard=no, and that is impossible")
    assert (empty, asked, number, see) == ("", "0", "1.0\u00a0%about 1 in 100", "true")
    assert label == "Given overheard=no: You are at the café (breakfast=yes)"


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
    found = seen(path.read_text(), width, tmp_path)
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


@pytest.mark.parametrize(
    "name", ["linkage", "budget", "composition", "leak-claims", "linddun-tree"]
)
def test_no_card_of_a_page_is_in_the_words_of_a_model_file(name, tmp_path):
    text = rb.load(name).page(tmp_path / "p.html").read_text()
    held = json.loads(re.search(r'id="held">(.*?)</script>', text)[1])
    rules = [card["rule"] for card in held["drawn"]["cards"]]
    assert not [rule for rule in rules if re.match(r"[a-z-]+(: |$)", rule)], rules
    # fmt: off
    said = {"linkage": "a count that is mean_facts on average",
            "leak-claims": "how many of class_size are among leaked drawn from records"}
    # fmt: on
    assert said.get(name, rules[0]) in rules


@pytest.mark.parametrize(
    ("cpd", "on_the_card", "on_the_page"),
    [
        ("{kind: minus, of: [b, a]}", "minus: b less a", "b, less a"),
        ("{kind: noisy-max, rows: [{when: {a: 3}, p: [0, 0.3, 0.2, 0.5]}, "
         "{when: {b: 2}, p: [0.5, 0.5, 0, 0]}]}",
         "noisy-max", "the highest that anything that points to it brings about"),
        ("{kind: noisy-max, rows: [{when: {a: 3}, p: [0, 0.3, 0.2, 0.5]}, "
         "{when: {b: 2}, p: [0.5, 0.5, 0, 0]}, {p: [0.9, 0.1, 0, 0]}]}",
         "noisy-max: leak", "brings about, or that comes by itself"),
        ("{kind: ranked, weights: {a: 1, b: 1}, sd: 0.2}", "ranked: sd 0.2",
         "rises with what points to it, give or take 0.2 of its range"),
        ("{kind: ranked, weights: {a: $below, b: 1}, sd: 0.2}", "ranked: falls with a, sd 0.2",
         "falls with a, rises with whatever else points to it, give or take 0.2 of its range"),
        ("{kind: ranked, weights: {a: 1, b: $either}, sd: 0.2}",
         "ranked: by the sign of each weight, sd 0.2",
         "rises or falls with what points to it, by the sign of each weight, give or take 0.2"),
    ],
)  # fmt: skip
def test_a_card_says_what_falls_what_is_taken_from_what_and_what_the_highest_is_of(
    cpd, on_the_card, on_the_page, tmp_path
):
    attack = rb.loads(f"""
schema_version: 1
name: m
parameters:
  below: {{value: -2, range: [-3, -1], unit: weight, source: assumption}}
  either: {{value: -2, range: [-3, 1], unit: weight, source: assumption}}
nodes:
  a: {{states: 0..3, cpd: {{kind: uniform}}}}
  b: {{states: 0..3, cpd: {{kind: uniform}}}}
  c: {{states: 0..3, parents: [a, b], source: assumption, cpd: {cpd}}}
questions: {{risk: {{target: c>=1}}}}
""")
    (card,) = (c for c in rb.attack.cards(attack) if c.name == "c")
    assert card.rule == on_the_card
    text = attack.page(tmp_path / "p.html").read_text()
    held = json.loads(re.search(r'id="held">(.*?)</script>', text)[1])
    (rule,) = (c["rule"] for c in held["drawn"]["cards"] if c["name"] == "c")
    assert on_the_page in rule
