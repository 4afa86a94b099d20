"""What a page of people says: how far off, of whom, and the same in every place."""

import json
import re

import numpy as np
import pytest
from devtools import Browser
from scipy.optimize import linprog
from scripts import needs_browser, needs_scripts, run
from test_page_people import KNOWN, assessed, held_of, table

import reidbn as rb

SEEN = """
const told = jobs.map(payload => {
  const model = new Engine.Model(payload), start = model.start(), q = payload.questions[0];
  const of = (see, set = start) => model.error(model.byFaces(set, q, see, {}));
  const faces = model.byFaces(start, q, {unique_in_table: "yes"}, {});
  return {
    own: payload.people.error, none: of({}), settled: of({reidentified: "yes"}),
    marketer: of({marketer: "yes"}), member: of({knows_membership: "yes"}),
    moved: of({}, {...start, p_m: 1}), unique: of({unique_in_table: "yes"}),
    law: model.people.mean, joint: [...faces.joint], evidence: [...faces.evidence],
    above: model.sharesAbove(faces, 0.64),
    can: model.sharesAbove({joint: faces.evidence, evidence: faces.evidence}, 0),
  };
});
"""


@needs_scripts
def test_how_far_off_an_answer_is_follows_what_is_seen(tmp_path):
    """What is certain is not off, and what hangs on nobody's table makes no answer worse.

    By hand: of all states of the three faces the farthest apart are a chance of nothing, and
    unique in both with the marketer's guess, 1 - .75 .5 .5 = .8125; that is how far a mean can go.
    """
    rng = np.random.default_rng(5)
    frame = table(900, seed=5).assign(age=rng.integers(20, 90, 900))
    result = assessed(frame)
    (found,) = run(SEEN, [held_of(result, tmp_path)], tmp_path)
    assert abs(found["none"] - 0.8125 * found["own"]) < 1e-12
    assert (found["settled"], found["marketer"]) == (0, 0)
    assert abs(found["member"] - found["moved"]) < 1e-12
    assert found["unique"] >= farthest(found) - 1e-9
    assert found["unique"] < 1.1 * farthest(found)  # it forgets only that no law is below 0
    assert found["above"]["low"] == 0
    assert found["can"]["low"] > 0.2


def farthest(found):
    """The same by linear programming (Charnes, Cooper): y = t law, and the evidence of y is 1."""
    law, joint, evidence = (np.array(found[n]) for n in ("law", "joint", "evidence"))
    can, k = law > 0, len(law)
    ends = []
    for sign in (1, -1):
        # unknowns: y, plus, minus, t
        least = linprog(
            np.r_[sign * joint, np.zeros(2 * k + 1)],
            A_eq=np.vstack([
                np.r_[evidence, np.zeros(2 * k + 1)],
                np.c_[np.eye(k), -np.eye(k), np.eye(k), -law],
                np.r_[np.ones(k), np.zeros(2 * k), -1.0],
            ]),
            b_eq=np.r_[1.0, np.zeros(k + 1)],
            A_ub=[np.r_[np.zeros(k), np.ones(2 * k), -2 * found["own"]]], b_ub=[0.0],
            bounds=[(0, None if c else 0) for c in can] + [(0, None)] * (2 * k + 1),
        )  # fmt: skip
        ends.append(sign * least.fun)
    p = law @ joint / (law @ evidence)
    return max(p - ends[0], ends[1] - p)


def test_the_shell_and_the_page_say_what_was_left_out_as_assess_does(shell, tmp_path):
    """By hand: this column of ethnicity holds races; the table has neither race nor party."""
    frame = table(600, seed=4).assign(
        state="WA", ethnicity=lambda t: np.where(t["race"] < 2, "White", "Black")
    )
    at, path = str(tmp_path / "t.csv"), tmp_path / "p.html"
    frame.rename(columns={"age": "Years"}).to_csv(at, index=False)
    how = ("--qi", "Years,sex,state,ethnicity", "--scenario", "voter-registration",
           "--column", "birth_year=Years", "--population", "6900000")  # fmt: skip
    told = [line.removeprefix("  ") for line in shell("assess", at, *how)[1].splitlines()
            if line.strip().startswith("Note: ")]  # fmt: skip
    for left in ("race: race is no quasi-identifier of the table",
                 "party: party is not in the table", "looks like races",
                 "is an extrapolation"):  # fmt: skip
        assert any(left in line for line in told), left
    more = ("--assess", at, *how, "--custodian", "-o", str(path))
    code, said = shell("page", "adversary-routes", *more, "--title", "Request <17>",
                       "--recipient", "the board")  # fmt: skip
    assert code == 0, said
    assert [line for line in said.splitlines() if line.startswith("Note: ")] == told
    assert json.loads(shell("page", "adversary-routes", *more, "--json")[1])["notes"] == [
        line.removeprefix("Note: ") for line in told
    ]
    page = shell("page", "adversary-routes", *more, "--title", "Request <17>", "--recipient",
                 "the board") and path.read_text()  # fmt: skip
    held = json.loads(re.search(r'id="held">(.*?)</script>', page)[1])
    own = held["people"]
    assert "party: party is not in the table; left out" in own["notes"]
    assert [f"Note: {note}" for note in own["notes"]] == told[-len(own["notes"]) :]  # in the house
    assert ["birth_year", ["Years"]] in own["known"]
    what = {e["name"]: e["what"] for e in held["stands_on"]}
    assert what["birth_year"].endswith("(column Years)")
    (p_unique,) = (c for c in held["columns"] if c["name"] == "p_unique")
    for words in ("population model log-linear", "6,900,000 people", "an extrapolation"):
        assert words in p_unique["model"]
    assert "asks that at least 11 people are alike" in own["rule"]
    assert "<h1>Request &lt;17&gt;</h1>" in page
    assert "Recipient: the board" in page


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("known", KNOWN[:2])
def test_what_a_page_of_people_says_in_several_places_agrees(known, tmp_path):
    """Answer, bar, box, picture and curve, wherever something is seen or done."""
    own = known is not None
    rng = np.random.default_rng(5)
    frame = table(2_400, seed=5).assign(age=rng.integers(20, 90, 2_400))
    path = assessed(frame, known).page(tmp_path / "page.html", custodian=own)
    with Browser() as browser:
        browser.open(path)
        bars = {}
        for see in ("", *(f"{how}.{n}=yes" for how in ("see", "do") for n in
                    ("unique_in_table", "unique_in_population", "right_guess", "marketer",
                     "knows_membership"))):  # fmt: skip
            for question in ("", "q=prosecutor&", "q=journalist&"):
                browser.say(f"location.hash = {json.dumps(question + see)}")
                told = browser.say("""new Promise(done => setTimeout(() => {
                  const $ = q => document.querySelector(q), found = reidbn.found();
                  const q = reidbn.held.questions[reidbn.state().question];
                  const [[node, state]] = Object.entries(q.wanted);
                  const box = [...document.querySelectorAll("button.state")]
                    .find(b => b.getAttribute("aria-label").startsWith(`${node} = ${state},`));
                  done({p: found.p, error: found.error, number: $(".number").firstChild.data,
                        bar: parseFloat($(".track i")?.style.width ?? "nan"),
                        box: box.querySelector(".p").textContent, dots: $(".dots-said").textContent,
                        on: document.querySelectorAll(".dots circle.on").length,
                        all: document.querySelectorAll(".dots circle").length,
                        shown: $(".dots").style.display !== "none",
                        curve: $(".chart .edge").getAttribute("d"),
                        above: $("#people .sentence").textContent,
                        mine: $(".sentence").textContent}); }, 80))""")
                at = (question, see, told)
                if told["number"] == "—":
                    assert not told["shown"], at
                    continue
                most = told["number"].startswith("up to")
                *_, shown = (float(x) / 100 for x in re.findall(r"([\d.]+)\u00a0%", told["number"]))
                assert most is (told["error"] >= told["p"]), at
                far = told["error"] > 0 and told["error"] >= 0.1 * told["p"]
                assert far is (most or " to " in told["number"]), at
                if far:
                    assert shown >= told["p"] + told["error"] - 1e-12, at
                if most:
                    assert shown >= told["p"] + told["error"] - 1e-12, at
                    assert told["box"] == "≤" + told["number"].removeprefix("up to "), at
                    assert f"at most {told['on']:,} of" in told["dots"], at
                bars[shown if far else told["p"]] = told["bar"]
                if told["error"] < 1e-9:
                    assert "percentage point" not in told["mine"], at
                    assert not (own and "for everybody" in told["mine"]), at  # exact means are not
                wide = re.search(r"between ([\d.]+)\D+([\d.]+)", told["above"])
                assert (wide is None) or float(wide[2]) - float(wide[1]) > 33, at
        ordered = [bars[p] for p in sorted(bars)]
        assert len(ordered) > 8
        assert ordered == sorted(ordered)  # never a shorter bar for a larger answer
        # All who can be unique are at .625: the custodian's page says so, and the band of the
        # other holds more levels, so that no line is drawn in the middle of it.
        browser.say("location.hash = 'see.unique_in_table=yes&above=0.64'")
        above, curve = browser.say("""new Promise(done => setTimeout(() => done([
          document.querySelector("#people .sentence").textContent,
          document.querySelector(".chart .edge").getAttribute("d")]), 80))""")
        assert above.startswith(f"Above 0.64: {'0' if own else 'between 0'}\u00a0% ")
        assert "the others have no such chance, and count as not above" in above
        assert not re.search(r"([\d.]+\u00a0%) to \1", above)
        last = [float(x) for x in re.findall(r"[ML]([\d.]+) ", curve)]
        assert own or not [x for x in last if 46 + 660 * 0.7 < x < 46 + 660 * 0.8]
        kept = browser.say("""(() => { [...document.querySelectorAll("button")]
          .find(b => b.textContent.startsWith("Remember")).click();
          return document.querySelector(".asks [role=status]").textContent; })()""")
        assert kept.startswith("Kept as “before”: ")
        line = browser.say("reidbn.link()")
        browser.say("location.hash = ''")
        browser.say(f"document.getElementById('pasted').value = 'Open ... paste this: #{line}'")
        browser.say("""[...document.querySelectorAll("button")]
          .find(b => b.textContent === "Open it").click()""")
        assert browser.say("reidbn.link()") == line


NEVER = """
const told = jobs.map(payload => {
  const model = new Engine.Model(payload), start = model.start(), see = {unique_in_table: "no"};
  const faces = model.byFaces(start, payload.questions[0], see, {});
  return {above: model.sharesAbove(faces, 0.9),
          can: model.sharesAbove({joint: faces.evidence, evidence: faces.evidence}, 0.5)};
});
"""


@needs_scripts
def test_whoever_can_never_show_what_is_seen_is_above_no_level(tmp_path):
    """On the custodian's own page: of the unique nobody is told who is not; they were above all."""
    rng = np.random.default_rng(5)
    frame = table(900, seed=5).assign(age=rng.integers(20, 60, 900))
    result = assessed(frame)
    alone = np.mean(result.table.class_sizes() == 1)
    assert 0.02 < alone < 0.9
    (found,) = run(NEVER, [held_of(result, tmp_path, custodian=True)], tmp_path)
    assert found["above"] == {"low": 0, "high": 0, "share": 0}
    assert found["can"]["high"] == pytest.approx(1 - alone)


@pytest.mark.slow
@needs_browser
def test_no_headline_falls_where_a_slider_raises_the_answer(tmp_path):
    """Of a safe table it said 'up to 0.44 %' at p_c = .5, and 0.28 % at .75, where more is so."""
    frame = rb.datasets.synthetic_patients(4_000, seed=1)
    people = rb.read_table(frame, quasi_identifiers=["sex", "marital"])
    result = rb.assess("adversary-routes", people, population=6_900_000)
    path = result.page(tmp_path / "page.html")
    values, least, most = [k / 20 for k in range(21)], [], []
    with Browser() as browser:
        browser.open(path)
        for x in values:
            browser.say(f"location.hash = 'set.p_c={x}'")
            said = browser.say("""new Promise(done => setTimeout(() => done(
              document.querySelector(".number").firstChild.data), 60))""")
            found = [float(n) / 100 for n in re.findall(r"([\d.]+)\u00a0%", said)]
            least.append(0.0 if said.startswith("up to") else found[0])
            most.append(found[-1])
    assert most == sorted(most)
    assert least[-1] > 0 == least[0]
    for x, low, high in zip(values, least, most, strict=True):
        assert low <= rb.what_if(result, set={"p_c": x}).risk().mean() <= high
