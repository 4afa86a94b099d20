"""The report: whole, the same bytes again, nothing from outside, no values, no small counts."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import reidbn as rb
from reidbn.report import PRESETS, about, inline, report, threshold

TITLES = [
    "Risk", "What would change this", "Threat model and assumptions", "Data and rule",
    "What this assessment did not look at", "Provenance and cross-check",
]  # fmt: skip


@pytest.fixture(scope="module")
def result():
    frame = rb.datasets.synthetic_patients(700, seed=3)
    people = rb.read_table(
        frame,
        quasi_identifiers=["age", "sex", "state", "race"],
        sensitive=["diagnosis"],
        subject_id="patient_id",
    )
    found = rb.assess(
        "adversary-routes", people, scenario="voter-registration", population=6_900_000
    )
    found.keep_crosscheck(draws=50_000)
    return found


@pytest.fixture(scope="module")
def sure(result):
    """The same, with race not known and the others for sure: of chances no risk is told."""
    known = dict.fromkeys(("age", "sex", "state"), 1.0)
    found = rb.assess("adversary-routes", result.table, known=known, unknown=["race"],
                      population=6_900_000)  # fmt: skip
    found.keep_crosscheck(draws=50_000)
    return found


@pytest.fixture(scope="module")
def page(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    result.to_html(path, threshold="ema", context={"recipient": "A university group"})
    return path.read_text()


def test_the_first_screen_answers_and_six_sections_follow(page):
    top = page.split('<div class="verdict">')[1].split("</div>")[0]
    assert "No public release of this table as it is." in top
    for question in ("To whom?", "On what condition?", "What next?"):
        assert f"<dt>{question}</dt>" in top
    assert "A university group" in top
    found = re.findall(r"<h2[^>]*>\d+\. (.*?)</h2>", page)
    assert found == TITLES


def test_the_same_result_gives_the_same_bytes(result, page, tmp_path):
    path = tmp_path / "again.html"
    result.to_html(path, threshold="ema", context={"recipient": "A university group"})
    assert path.read_text() == page


@pytest.mark.parametrize("write", ["to_html", "page"])
def test_what_is_stated_of_the_recipient_is_text(result, tmp_path, write):
    with pytest.raises(rb.UsageError, match="context: recipient is an int; it takes text"):
        getattr(result, write)(tmp_path / "r.html", context={"recipient": 12})
    assert not list(tmp_path.iterdir())


def test_nothing_is_loaded_from_outside(page):
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', page)
    assert "@import" not in page
    assert "<script" not in page
    allowed = ("http://www.w3.org/",)
    urls = re.findall(r"https?://[^\s\"'<)]+", page)
    assert [u for u in urls if not u.startswith(allowed)] == []


class Outline(HTMLParser):
    """Images with names, tables with heads, ids once, headings in order."""

    def __init__(self):
        super().__init__()
        self.ids, self.labelled, self.images, self.headings, self.tables = [], [], [], [], 0

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.ids.append(given["id"])
        if "aria-labelledby" in given:
            self.labelled += given["aria-labelledby"].split()
        if tag == "svg":
            self.images.append(given)
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        self.tables += tag == "table"


def test_the_page_can_be_read_aloud(page):
    outline = Outline()
    outline.feed(page)
    assert len(outline.ids) == len(set(outline.ids))
    assert set(outline.labelled) <= set(outline.ids)
    assert all(image.get("role") == "img" for image in outline.images)
    assert all("aria-labelledby" in image for image in outline.images)
    assert outline.headings[0] == 1
    assert all(b - a <= 1 for a, b in zip(outline.headings, outline.headings[1:], strict=False))
    assert outline.tables >= len(outline.images)


def test_no_persons_id_is_in_the_report(page, result):
    for identity in result.inputs.people.subject_ids:
        assert str(identity) not in page


def test_small_counts_do_not_leave_the_house(sure, tmp_path):
    sure.to_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    cells = re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", page)
    heads = page.split("<caption>People by overall risk</caption>")[1].split("</table>")[0]
    counts = re.findall(r"<td[^>]*>([\d,]+)</td>", heads)
    assert counts
    assert all(int(c.replace(",", "")) % 10 == 0 for c in counts)
    assert cells


def test_the_json_holds_the_numbers_of_the_report(sure, tmp_path):
    result = sure
    result.to_html(tmp_path / "page.html", threshold="ema")
    page = (tmp_path / "page.html").read_text()
    result.to_json(tmp_path / "report.json", threshold="ema")
    numbers = json.loads((tmp_path / "report.json").read_text())
    told = numbers["measures"]["overall"]
    mean = result.risk().mean()
    assert told["value"] is None
    assert told["at_least"] <= mean <= told["at_most"] <= told["at_least"] + 0.05 + 0.25 * mean
    for row, values in (
        (numbers["judged"]["mean"], result.summary("ema").judged.values),
        (numbers["spread"]["overall"]["q50"], np.sort(result.risk())[349:350]),
    ):
        assert row["at_least"] <= values.mean() <= row["at_most"] < row["at_least"] + 0.6
    assert {(row["value"], row["at_least"]) for row in numbers["attributes"]} == {(None, None)}
    assert all(row["at_most"] > 0 for row in numbers["attributes"])
    assert {row["unit"] for row in numbers["attributes"]} == {"difference of probabilities"}
    counts = [c for row in numbers["people_above"].values() for c in row.values()]
    assert all(c["value"] is None or c["value"] % 10 == 0 for c in counts)
    for level, row in numbers["people_above"].items():
        for name, told in row.items():
            count = int((result.risk(name) > float(level) + 1e-9).sum())
            assert told["at_least"] <= count <= told["at_most"]
    assert numbers["judged"]["people_beyond"]["value"] == 700
    assert "all but under 10 of 700 people" in numbers["verdict"]
    assert numbers["how_sure"]
    for name, ends in numbers["how_sure"].items():
        assert numbers["measures"][name]["interval"] == [ends["low"], ends["high"]]
        assert f"{ends['low']:.3g} to {ends['high']:.3g}" in page
    assert result.inputs.people.fingerprint not in (tmp_path / "report.json").read_text()
    result.to_json(tmp_path / "own.json", threshold="ema", custodian=True)
    own = json.loads((tmp_path / "own.json").read_text())
    assert own["measures"]["overall"]["value"] == pytest.approx(mean, rel=1e-12)
    assert own["provenance"]["table_fingerprint"] == result.inputs.people.fingerprint
    assert own["people"] == 700


def test_markdown_has_the_same_sections_and_tables(result, tmp_path):
    result.to_markdown(tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text()
    assert re.findall(r"^## \d+\. (.*)$", text, re.M) == TITLES


def test_thresholds_are_presets_or_values():
    assert threshold("ema").value == 0.09
    assert threshold("EMA ") == PRESETS["ema"]
    assert threshold("9%").value == 0.09
    assert threshold("overall=9%") == threshold({"overall": 0.09})
    with pytest.raises(rb.UsageError, match="between 0 and 1"):
        threshold(7)
    with pytest.raises(rb.UsageError, match='did you mean "ema"'):
        threshold("emma")
    with pytest.raises(rb.UsageError, match="name one measure"):
        threshold({"overall": 0.1, "marketer": 0.2})


def test_the_summary_states_verdict_and_checks(result):
    text = str(result.summary("ema"))
    assert text.startswith("Does not pass the rule for a public release by ema")
    assert "cross-check of adversary-routes: passed" in text
    assert "exact Shapley value" in text
    assert "custodian's own copy" in text


def test_an_inline_figure_keeps_its_references():
    svg = '<svg width="3"><defs><path id="a"/></defs><use href="#a"/><g clip-path="url(#a)"/></svg>'
    text = inline(svg, "T", "D")
    own = re.search(r'<path id="(\S+)"', text)[1]
    assert f'href="#{own}"' in text
    assert f"url(#{own})" in text


def test_every_journalists_number_stands_with_its_fits_and_interval(result, page, tmp_path):
    """In a worst case everybody is unique or nobody: the rows were dropped at the boundary."""
    found = result.population_uncertainty().table()
    assert {"journalist", "journalist_match"} <= set(found.index)
    text = str(result.summary("ema"))
    result.to_markdown(tmp_path / "report.md")
    lines = (tmp_path / "report.md").read_text()
    result.to_json(tmp_path / "own.json", custodian=True)
    numbers = json.loads((tmp_path / "own.json").read_text())
    status = numbers["fits"]
    assert "Pitman's likelihood: " in status
    assert status in text
    outwards = "log-linear; how its fits stand is in the custodian's own copy"
    assert outwards in lines
    assert outwards.replace("'", "&#39;") in page
    result.to_markdown(tmp_path / "own.md", custodian=True)
    lines = (tmp_path / "own.md").read_text()
    for measure in ("journalist", "journalist_match"):
        row = numbers["how_sure"][measure]
        assert row["low"] == pytest.approx(found.loc[measure, "low"])
        assert row["low"] <= numbers["measures"][measure]["value"] <= row["high"]
        assert f"{measure}: 95 % interval of the mean {row['low']:.4g}" in text
        cell = re.search(rf"\| {measure.replace('_', ' ')} \| [^|]* \| ([^|]*) \|", lines)[1]
        assert " to " in cell


def ends(cell):
    low, high = cell.split(" to ")
    return float(low), float(high)


def test_a_mean_at_the_end_of_a_range_lies_between_what_is_told_of_it(sure):
    """Asked again with that value set: told levels were drawn as if they were means."""
    result, limit = sure, float(f"{0.9 * sure.risk().mean():.2g}")
    page = report(result, threshold={"overall": limit}, release="controlled")
    bars = next(s for s in page.sections[1].shown if s.caption == "If this assumption changes")
    assert bars.heads[2:5] == ["mean at the low end", "at the high end", f"crosses {limit:g} at"]
    drawn = [(p.get_x(), p.get_x() + p.get_width()) for p in bars.figure.axes[0].patches]
    crossed = 0
    for name, span, *told, crosses, _ in bars.rows:
        for at, cell in zip(ends(span), told, strict=True):
            low, high = ends(cell)
            mean = rb.what_if(result, set={name: at}).risk().mean()
            assert low <= mean <= high < 1.6 * low + 0.02
            assert any(np.allclose((low, high), bar) for bar in drawn)
        if " to " in crosses:
            low, high = ends(crosses)
            root = rb.solve(result, name, target=limit, statistic="mean").values[0]
            assert low <= root <= high
            assert f"The verdict flips where {name} reaches {crosses}." in page.sections[1].bullets
            crossed += 1
    assert crossed
    name, span, low, high = bars.rows[0][:4]
    first, last = span.split(" to ")
    story = result.attack.parameters[name].story
    said = f"{name} ({story}): at {first} the mean lies somewhere in {low}, at {last} in {high}."
    assert f"most is {said}" in page.answers[1][1][-1]


def test_few_people_have_no_bars_and_no_value_at_which_a_limit_is_crossed():
    """Ninety-nine people: a crossing to three digits would tell their mean."""
    people = rb.read_table({"where": [*range(40)] + [99] * 59}, quasi_identifiers=["where"])
    found = rb.assess("adversary-routes", people, population=100_000)
    found.keep_crosscheck(draws=5_000, subjects=2)
    limit = {"overall": 0.9 * float(found.risk().mean())}
    for custodian in (False, True):
        page = report(found, threshold=limit, release="controlled", custodian=custodian)
        bars = next(s for s in page.sections[1].shown if s.caption == "If this assumption changes")
        row = next(r for r in bars.rows if r[0] == "p_c")
        assert (row[2:5] == ["not told"] * 3) is not custodian
        assert bool(bars.figure) is custodian


def test_what_the_parameters_leave_open_lies_between_what_is_told_of_it(sure):
    """It was told as so many times the mean, which narrowed marks of small tables."""
    result, told = sure, {}
    for custodian in (False, True):
        page = report(result, threshold="ema", custodian=custodian)
        shown = next(s for s in page.sections[1].details if "leave open" in s.caption)
        told[custodian] = dict(shown.rows)
    assert told[True].keys() - told[False].keys() == {"mean"}
    for name, said in told[False].items():
        low, high = ends(said)
        assert low <= float(told[True][name].split(" ")[0]) <= high < 1.3 * low + 0.05


def _chances_drawn(page):
    """What stands behind bars in both pictures of the attack; and the page without pictures."""
    graphs = re.findall(r'<div class="(?:wide|slim)-graph">(.*?)</div>', page, flags=re.DOTALL)
    assert len(graphs) == 2
    said = {t.replace("\u00a0", " ").removeprefix("yes: ")
            for graph in graphs for t in re.findall(r">([^<>]*\d.%)<", graph)}  # fmt: skip
    return said, re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)


def test_the_graph_of_a_report_tells_no_more_of_people_than_its_tables(result, page, tmp_path):
    """A bar for what is measured, may be known, or is alike for all, with the ends told there."""
    said, tables = _chances_drawn(page)
    ends = re.findall(r"([\d.]+) to ([\d.]+)", tables)
    told = {f"{100 * float(low):.4g} to {100 * float(high):.4g} %" for low, high in ends}
    spans = {text for text in said if " to " in text}
    assert len(spans) >= 5
    for span in spans - told:  # a mean under chances stands in words, to two digits
        assert about(*(float(end) / 100 for end in span.removesuffix(" %").split(" to "))) in tables
    assert said - spans <= {"50.0 %", "0 %", "100 %"}
    given = rb.what_if(result, given={"knows_membership": "yes"})
    given.keep_crosscheck(draws=2_000)
    given.to_html(tmp_path / "given.html")
    assert _chances_drawn((tmp_path / "given.html").read_text())[0] == set()


@pytest.mark.parametrize("custodian", [False, True])
def test_a_column_that_was_dropped_is_said_to_be(custodian):
    """The board's page had it as a column of one value that may be known."""
    table = {"age": ["*"] * 60, "sex": ["f", "m"] * 30, "ward": ["A"] * 60}
    people = rb.read_table(table, quasi_identifiers=list(table))
    sheet = rb.report.report(rb.assess("marketer", people), custodian=custodian)
    data = next(s for s in sheet.sections if s.title == "Data and rule")
    assert [said.rpartition(": ")[2] for said in data.text if said.startswith("Left away")] == [
        "age."
    ]
    columns = next(one for one in data.details if one.caption == "Columns")
    assert [(row[0], row[-1]) for row in columns.rows] == [
        ("age", "no: * for everybody"), ("sex", "yes"), ("ward", "yes")
    ]  # fmt: skip


def test_rows_by_route_say_of_which_event_they_are():
    people = rb.read_table({"age": [*range(30)] * 2}, quasi_identifiers=["age"])
    result = rb.assess("adversary-routes", people, population=1_000)
    said = rb.report.report(result, custodian=True).sections[0].text[-1]
    assert "prosecutor P(unique_in_table=yes), " in said
    assert "The overall risk, P(reidentified=yes), has these odds in it" in said
    alone = rb.assess("marketer", people)
    assert not any("odds" in s for s in rb.report.report(alone).sections[0].text)
    why = result.explain(0)
    assert why.routes["marketer"] != why.risks["marketer"] == 0.5
    assert "marketer 0.5 (P(right_guess=yes))" in str(why)


def test_how_many_were_left_out_is_counted_in_the_house_copy_of_options():
    ages = ["20"] * 40 + ["21"] * 40 + ["22"] * 3
    result = rb.assess("marketer", rb.read_table({"age": ages}, quasi_identifiers=["age"]))
    option = {"without": rb.what_if(result, suppress=5)}
    for custodian, said in ((True, "14.6 % (3 people left out)"), (False, "people left out")):
        sheet = rb.report.report(result, options=option, custodian=custodian)
        shown = [
            one for s in sheet.sections for one in s.shown if one.caption == "Options compared"
        ]
        assert shown[0].rows[1][-1] == said


def test_a_threshold_in_the_picture_has_the_name_of_the_rule():
    people = rb.read_table({"age": [*range(3)] * 30}, quasi_identifiers=["age"])
    result = rb.assess("adversary-routes", people, population=1_000)
    for name in ("cell-20", "ontario-high"):
        first = rb.report.report(result, threshold=name, custodian=True).sections[0]
        texts = [
            t.get_text() for one in first.shown if one.figure for t in one.figure.axes[0].texts
        ]
        assert f"0.05 {name}" in texts


TWO_WAYS_IN = """
schema_version: 1
name: two-ways-in
title: Two ways in
story: Somebody gets in one way or the other, and asks for whoever is alone. Assumed all of it.
parameters:
  p_door: {value: 0.1, range: [0, 0.4], source: assumption, story: The door}
  p_window: {value: 0.1, range: [0, 0.4], source: assumption, story: The window}
numbers: {p_in: p_door + p_window}
subject: {class_size: {per: known, unit: records, range: [1, 1000000000], story: alike}}
groups: {known: {story: what is known, members: [age], probability: 1, source: assumption}}
nodes:
  inside: {story: got in, cpd: {kind: probability, p: $p_in}}
  alone: {parents: [known], story: one record, cpd: {kind: unique, of: "@class_size"}}
  found: {parents: [inside, alone], story: found, cpd: {kind: and}}
questions: {overall: {target: found=yes}}
"""


def test_a_number_that_is_derived_may_move_the_risk_most(tmp_path):
    (tmp_path / "two.yaml").write_text(TWO_WAYS_IN)
    people = rb.read_table({"age": [1, 2, 3] * 20 + [4]}, quasi_identifiers=["age"])
    result = rb.assess(tmp_path / "two.yaml", people)
    result.report(tmp_path / "r.md", custodian=True)
    text = (tmp_path / "r.md").read_text()
    assert "moves it most is p_in (derived: p_door + p_window): at 0 the" in text


def test_ranges_that_meet_where_no_answer_is_leave_the_report_written(tmp_path):
    """What they leave open is not worked out, and the report says so."""
    people = rb.read_table({"sex": list("FM") * 60}, quasi_identifiers=["sex"])
    attack = rb.loads("""
schema_version: 1
name: ends
title: t
story: s
sources: [me]
parameters:
  a: {value: 0.2, range: [0, 0.9], source: me}
  b: {value: 0.3, range: [0, 0.9], source: me}
subject: {class_size: {per: known, unit: records, range: [1, 100000]}}
groups: {known: {members: [knows_sex], probability: [0.5], source: me}}
nodes:
  size: {states: [s, m, l], rows: [{p: [$a, $b, rest]}]}
  right: {parents: [known], cpd: {kind: one-over, of: "@class_size"}}
  named: {parents: [size, right], rows: [{when: {size: s, right: yes}, p: {yes: 1}}, {p: {no: 1}}]}
questions:
  overall: {target: named=yes}
example: {class_size: [120, 60]}
""")
    result = rb.assess(attack, people)
    for custodian in (False, True):
        text = result.report(tmp_path / "r.md", custodian=custodian).read_text()
        assert "not worked out: the ranges of some parameters meet where no answer is" in text
