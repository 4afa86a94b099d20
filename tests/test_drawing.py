"""Pictures: nothing overlaps, every word and number is there, the same bytes every time."""

import re
from functools import cache
from itertools import combinations
from pathlib import Path
from warnings import catch_warnings, simplefilter
from xml.etree.ElementTree import fromstring

import matplotlib
import numpy as np
import pytest
from conftest import third
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

import reidbn as rb
from reidbn.attack import cards, edges, folded

SVG = "{http://www.w3.org/2000/svg}"


@cache
def drawn(model, *, marginals=False):
    return rb.draw(model, marginals=marginals, expanded=True)


def random_attack(seed):
    """A story with names, words, numbers and arrows of all lengths, and sometimes a group."""
    rng = np.random.default_rng(seed)

    def words(most):
        return " ".join("w" * int(n) for n in rng.integers(1, 14, size=rng.integers(0, most)))

    names = [f"n{i}_" + "x" * int(rng.integers(0, 40)) for i in range(rng.integers(1, 18))]
    nodes, groups, known = [], [], []
    if rng.random() < 0.5:
        members = ("one", "another_member")
        groups.append(rb.Group("g", members, (rb.GroupRow(0.5),), source="assumption"))
        known += ["g", "one"]
    for i, name in enumerate(names):
        chosen = [n for n in [*known, *names[:i]] if rng.random() < 1.6 / (i + 2)]
        if not chosen:
            cpd = rb.Probability(round(float(rng.random()), 3))
            nodes.append(rb.Node(name, ("no", "yes"), cpd, story=words(20), source="assumption"))
        else:
            chosen = [c for c in chosen if not (c == "one" and "g" in chosen)]
            nodes.append(rb.Node(name, ("no", "yes"), rb.Or(), tuple(chosen), story=words(20)))
    return rb.Attack("random", story=words(60), groups=groups, nodes=nodes)


PICTURES = [*((m, marginals) for m in rb.models() for marginals in (False, True)),
            *((random_attack(seed), seed % 2 == 0) for seed in range(16))]  # fmt: skip


@pytest.fixture(
    params=third((one,) for one in PICTURES),
    ids=lambda p: p[0] if isinstance(p[0], str) else "random",
    scope="module",
)
def picture(request):
    model, marginals = request.param
    return rb.load(model), drawn(model, marginals=marginals)


def paths(drawing):
    """Style and path of every shape."""
    root = fromstring(drawing.svg)  # noqa: S314 - our own text
    return [(p.get("style"), p.get("d")) for p in root.iter(f"{SVG}path")]


def points_of(path):
    """Many points of a path of lines and cubic bends."""
    found, here = [], None
    for command, numbers in re.findall(r"([MLC])([^MLCz]*)", path):
        ends = np.array(numbers.split(), dtype=float).reshape(-1, 2)
        t = np.linspace(0, 1, 20)[:, None]
        if command == "L":
            found.append(here + t * (ends[0] - here))
        elif command == "C":
            a, (b, c, d) = here, ends
            bend = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
            found.append(bend)
        here = ends[-1]
    return np.concatenate(found)


def texts(drawing):
    """Every line of words: what it says, and the rectangle that it fills."""
    for text in fromstring(drawing.svg).iter(f"{SVG}text"):  # noqa: S314 - our own text
        look = dict(part.split(": ") for part in text.get("style").split("; "))
        size, bold = float(look["font-size"][:-2]), look.get("font-weight", "normal")
        font = FontProperties(family="DejaVu Sans", size=size, weight=bold)
        with catch_warnings():
            simplefilter("ignore")  # a sign that the font lacks
            wide = text_to_path.get_text_width_height_descent(text.text, font, ismath=False)[0]
        part = {"start": 0, "middle": 0.5, "end": 1}[look.get("text-anchor", "start")]
        x, y = float(text.get("x")) - part * wide, float(text.get("y"))
        yield text.text, (x, y - 0.75 * size, x + wide, y + 0.2 * size)


def overlap(one, other, by=0.5):
    return (one[0] < other[2] - by and other[0] < one[2] - by
            and one[1] < other[3] - by and other[1] < one[3] - by)  # fmt: skip


# -- where things stand ------------------------------------------------------------------------


def test_no_card_overlaps_another_or_leaves_the_sheet(picture):
    attack, drawing = picture
    assert {*drawing.boxes} == {*attack.groups, *attack.nodes, *attack.utilities}
    for one, other in combinations(drawing.boxes.values(), 2):
        assert not overlap(one.extents, other.extents, by=-10)
    for box in drawing.boxes.values():
        assert min(box.x0, box.y0, drawing.width - box.x1, drawing.height - box.y1) > 10
    frames = [d for style, d in paths(drawing) if "Q" in d and "fill: none" not in style]
    assert sum(d.count("M") for d in frames) == len(drawing.boxes)  # rounded, square and pointed


def test_no_arrow_runs_through_a_card(picture):
    _, drawing = picture
    for style, d in paths(drawing):
        if "fill: none" in style and "Q" not in d:
            line = points_of(d)
            assert line.min() > 5
            assert line[:, 0].max() < drawing.width - 5
            for name, box in drawing.boxes.items():
                inside = (line > box.min + 0.11) & (line < box.max - 0.11)
                assert not inside.all(axis=1).any(), f"an arrow runs through {name}"


@pytest.mark.parametrize("model", ["family-cascade", "linkage-family"])
def test_where_plates_are_drawn_once_cards_and_arrows_are_apart_as_well(model):
    drawing = rb.draw(model)
    assert len(drawing.boxes) < len(rb.load(model).nodes)
    for one, other in combinations(drawing.boxes.values(), 2):
        assert not overlap(one.extents, other.extents, by=-10)
    test_no_arrow_runs_through_a_card((None, drawing))


def test_every_parent_has_an_arrow_to_its_child(picture):
    attack, drawing = picture
    owner = {n: getattr(attack.group_of(n), "name", n) for n in attack.all_nodes}
    wanted = {(owner[a], owner[b]) for a, b in attack.graph().edges if owner[a] != owner[b]}
    wanted |= {(owner[n], u.name) for u in attack.utilities.values() for n in u.of}
    assert {(edge.start, edge.end) for edge in drawing.arrows} == wanted
    lines = [points_of(d) for style, d in paths(drawing) if "fill: none" in style and "Q" not in d]
    heads = [d for style, d in paths(drawing) if style == "fill: #64748b" and "L" in d]
    tips = {tuple(map(float, tip)) for d in heads for tip in re.findall(r"M (\S+) (\S+)", d)}
    for edge, route in drawing.arrows.items():
        first, last = drawing.boxes[edge.start], drawing.boxes[edge.end]
        assert first.x0 < route[0][0] < first.x1
        assert last.x0 < route[-1][0] < last.x1
        assert route[0][1] == pytest.approx(first.y1)
        assert route[-1][1] == pytest.approx(last.y0)
        assert min(np.hypot(*np.subtract(tip, route[-1])) for tip in tips) < 0.2
        for point in route[:-1]:  # the line is drawn where the route says
            assert min(np.hypot(*(line - point).T).min() for line in lines) < 0.2


def test_words_fit_their_card_and_the_sheet_and_never_lie_on_each_other(picture):
    _, drawing = picture
    lines = list(texts(drawing))
    for text, (x0, y0, x1, y1) in lines:
        assert x0 > 5, text
        assert y0 > 5, text
        assert x1 < drawing.width - 5, text
        assert y1 < drawing.height - 2, text
        for box in drawing.boxes.values():
            if overlap((x0, y0, x1, y1), box.extents):
                assert box.x0 + 5 < x0 < x1 < box.x1 - 5, text
                assert box.y0 + 2 < y0 < y1 < box.y1 - 2, text
    for (one, at), (other, there) in combinations(lines, 2):
        assert not overlap(at, there), (one, other)


def test_every_card_says_its_name(picture):
    _, drawing = picture
    lines = list(texts(drawing))
    for name, box in drawing.boxes.items():
        inside = "".join(text for text, at in lines if overlap(at, box.extents))
        assert inside.startswith(name)


def attack_of(pairs, names):
    cpd = {True: rb.Or(), False: rb.Probability(0.5)}
    parents = {n: tuple(a for a, b in pairs if b == n) for n in names}
    return rb.Attack(
        "small",
        nodes=[rb.Node(n, ("no", "yes"), cpd[bool(parents[n])], parents[n], source="assumption")
               for n in names],
    )  # fmt: skip


def test_a_graph_without_need_of_crossings_has_none_whatever_the_order():
    pairs = [("a", "c"), ("b", "d"), ("a", "e"), ("b", "f")]
    x = {n: b.x0 for n, b in rb.draw(attack_of(pairs, "abfcde")).boxes.items()}
    assert all((x[p[0]] - x[q[0]]) * (x[p[1]] - x[q[1]]) >= 0 for p, q in combinations(pairs, 2))


def test_a_chain_stands_in_one_column():
    boxes = rb.draw(attack_of([("a", "b"), ("b", "c")], "abc")).boxes
    assert np.ptp([box.x0 for box in boxes.values()]) < 1e-6


def test_breakfast_is_as_symmetric_as_its_story():
    boxes = drawn("breakfast").boxes
    middle = {name: (box.x0 + box.x1) / 2 for name, box in boxes.items()}
    assert middle["breakfast"] == pytest.approx(middle["overheard"], abs=0.1)
    assert middle["identified"] == pytest.approx(middle["overheard"], abs=0.1)
    assert middle["listed"] + middle["right_line"] == pytest.approx(
        2 * middle["overheard"], abs=0.2
    )


def test_a_network_of_sixty_nodes_is_drawn():
    rng = np.random.default_rng(20250601)
    names = [f"n{i}" for i in range(60)]
    pairs = [(names[j], names[i]) for i in range(1, 60)
             for j in rng.choice(i, size=min(i, 2), replace=False)]  # fmt: skip
    picture = attack_of(pairs, names), rb.draw(attack_of(pairs, names))
    test_no_card_overlaps_another_or_leaves_the_sheet(picture)
    test_no_arrow_runs_through_a_card(picture)
    assert {(e.start, e.end) for e in picture[1].arrows} == {*pairs}


# -- what a picture says -----------------------------------------------------------------------


@pytest.mark.parametrize("model", rb.models())
def test_a_picture_says_every_name_parameter_and_source(model):
    attack = rb.load(model)
    said = " ".join(text for text, _ in texts(drawn(model))) + " "
    for name in (*attack.nodes, *attack.groups, *attack.parameters):
        assert name in said.replace("_ ", "_")
    for group in attack.groups.values():
        assert all(m in said for m in group.members)
    for parameter in attack.parameters.values():
        value = f"{parameter.value:,.12g}"  # beside its node, or in the list where a formula has it
        assert f"{parameter.name} = {value}" in said or f" {parameter.name} {value} " in said
        assert parameter.source in said
    assumed = sum(p.is_assumption for p in attack.parameters.values())
    assert said.count("(assumed)") >= assumed


def test_the_list_counts_its_assumptions_in_words():
    said = [text for text, _ in texts(drawn("adversary-routes"))]
    assert "Numbers and where they come from (5 assumptions)" in said
    said = [text for text, _ in texts(drawn("leak-histories"))]
    assert "Numbers and where they come from (1 assumption)" in said
    said = [text for text, _ in texts(drawn("leak-single"))]
    assert "Numbers and where they come from (no assumptions)" in said


def test_a_picture_is_accessible_and_self_contained():
    svg = drawn("adversary-routes").svg
    root = fromstring(svg)  # noqa: S314 - our own text
    assert root.get("role") == "img"
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert root.get("aria-labelledby").split() == [title.get("id"), desc.get("id")]
    assert "three routes" in title.text
    assert "reidentified, after prosecutor, journalist, marketer" in desc.text
    assert "knows_birth" in desc.text
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    least = re.search(r"max-width: max\(100%, (\d+)px\)", root.get("style"))
    assert 0.7 < int(least[1]) / float(root.get("width")) < 0.8  # it shrinks, and is still read


def test_a_picture_brings_its_own_light_background():
    style, d = paths(drawn("breakfast"))[0]
    assert style == "fill: #ffffff"
    assert points_of(d).max(axis=0).tolist() == [
        drawn("breakfast").width,
        drawn("breakfast").height,
    ]


@pytest.mark.parametrize(("model", "most"), [("breakfast", 11_000), ("leak-targets", 42_000)])
def test_a_picture_is_small(model, most):
    assert 5_000 < len(drawn(model, marginals=True).svg) < most


@pytest.mark.parametrize("model", ["breakfast", "adversary-routes", "family-search"])
def test_the_pictures_of_the_pages_say_what_the_models_say(model):
    page = Path(__file__).parents[1] / "docs" / "models" / f"{model}.svg"
    shown = re.findall(r"<text[^>]*>([^<]*)<", page.read_text())
    assert shown == re.findall(r"<text[^>]*>([^<]*)<", drawn(model, marginals=True).svg)


def test_the_same_attack_gives_the_same_bytes_whatever_the_style_of_the_caller():
    one = rb.draw("leak-single", marginals=True)
    strange = {"font.family": "serif", "lines.linewidth": 9, "savefig.facecolor": "black",
               "savefig.bbox": "tight", "axes.unicode_minus": False}  # fmt: skip
    with matplotlib.rc_context(strange):
        other = rb.draw(rb.load("leak-single"), marginals=True)
        assert other.svg == one.svg
        assert other.png == one.png
    assert one.svg == one.svg
    assert one.png[:8] == b"\x89PNG\r\n\x1a\n"
    assert one.dot == other.dot


def test_chances_are_the_engines_answers_with_evidence_and_interventions():
    drawing = rb.draw(
        "leak-single", marginals=True, given={"identified": "yes"}, set={"class_size": 3}
    )
    said = [text for text, _ in texts(drawing)]
    answer = rb.ask("leak-single", "leaked_class_size", given={"identified": "yes"},
                    set={"class_size": 3})  # fmt: skip
    for p in answer.probability:
        assert (f"{100 * p:.1f} %" if 0 < p < 1 else f"{100 * p:.0f} %") in said
    assert "seen: yes" in said
    assert "class_size = 3" in said
    assert any("set here; the file says 5" in line for line in said)
    cut = rb.draw("leak-single", marginals=True, do={"in_leak": "yes"})
    assert "set: yes" in cut.svg
    assert cut.svg.count("stroke-dasharray") == 2  # the card and the arrow that no longer counts


def test_what_is_seen_is_framed_and_only_what_is_set_is_dashed():
    node = rb.Node("x", ("reset", "offset"), rb.Uniform())
    attack = rb.Attack("states", nodes=[node])
    assert "stroke-dasharray" not in rb.draw(attack, marginals=True, given={"x": "offset"}).svg
    assert "stroke-dasharray" in rb.draw(attack, marginals=True, do={"x": "offset"}).svg


def test_bars_are_as_long_as_the_chances():
    bars = {style: d for style, d in paths(drawn("breakfast", marginals=True)) if "Q" not in d}
    wide = {}
    for colour in ("#1d4ed8", "#94a3b8", "#e2e8f0"):  # yes, no, the whole
        corners = re.findall(r"M (\S+) \S+\s+L (\S+) ", bars[f"fill: {colour}"])
        wide[colour] = np.array([float(b) - float(a) for a, b in corners])
    whole = wide["#e2e8f0"].mean()
    risks = [rb.ask("breakfast", f"{name}=yes").probability for name in drawn("breakfast").boxes]
    assert wide["#1d4ed8"] / whole == pytest.approx(risks, abs=0.002)
    assert wide["#94a3b8"] / whole == pytest.approx([1 - p for p in risks], abs=0.002)


def test_what_is_told_of_a_chance_is_drawn_as_its_two_ends():
    told = {"listed": (0.0366, 0.5), "overheard": (0.25, 0.25)}
    for narrow in (None, 1):
        text = rb.draw("breakfast", told=told, side_by_side=narrow).svg
        assert text.count(" to 50 %") == 1
        assert "3.6 to 50 %" in text  # outward: 3.7 would not hold what is told
        assert text.count("25.0 %") == 1
        assert "breakfast" in text
    plain = rb.draw("breakfast").svg
    assert " to 50 %" not in plain


def test_evidence_without_chances_says_what_to_add():
    with pytest.raises(rb.UsageError, match="add marginals=True"):
        rb.draw("leak-single", given={"identified": "yes"})


def test_many_states_become_a_histogram():
    svg = rb.draw("leak-single", marginals=True, set={"class_size": 20}).svg
    assert "most likely 8: 18.0 %" in svg


def test_pictures_are_saved_by_their_ending(tmp_path):
    drawing = rb.draw("breakfast", tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text() == drawing.svg
    assert drawing.save(tmp_path / "b.png").read_bytes() == drawing.png
    one, other = (drawing.save(tmp_path / f"{n}.PDF").read_bytes() for n in "bc")
    assert one == other
    assert one.startswith(b"%PDF")
    assert drawing.save(tmp_path / "b.dot").read_text().startswith('digraph "breakfast"')
    assert drawing._repr_svg_() == drawing.svg
    with pytest.raises(rb.UsageError, match=r"a picture is \.svg, \.png, \.pdf or \.dot"):
        drawing.save(tmp_path / "b.jpg")


def test_an_arrow_from_one_member_of_a_group_says_which():
    attack = rb.Attack(
        "member",
        groups=[rb.Group("g", ("one", "two"), (rb.GroupRow("$p"),), source="assumption")],
        parameters=[rb.Parameter("p", 0.5)],
        nodes=[rb.Node("x", ("no", "yes"), rb.Or(), ("one",)),
               rb.Node("y", ("no", "yes"), rb.Or(), ("g",))],
    )  # fmt: skip
    drawing = rb.draw(attack)
    assert [(e.start, e.end, e.member) for e in drawing.arrows] == [
        ("g", "x", "one"),
        ("g", "y", ""),
    ]
    assert "only one" in drawing.svg
    assert "p = 0.5 (assumed)" in drawing.svg


def test_awkward_words_are_escaped_and_long_ones_are_cut():
    attack = rb.Attack(
        "odd", title="a < b & c costs $5 and $6", story="x" * 300 + " \u4e2d\u6587",
        nodes=[rb.Node("n" * 60, ("<low>", "&"), rb.Uniform(), story="<script>")],
    )  # fmt: skip
    drawing = rb.draw(attack, marginals=True)
    fromstring(drawing.svg)  # noqa: S314 - our own text
    assert "<script>" not in drawing.svg
    said = [text for text, _ in texts(drawing)]
    assert "a < b & c costs $5 and $6" in said
    assert sum(text.count("x") for text in said) == 300
    assert len(drawing.png) > 1000


def test_small_and_large_chances_are_never_shown_as_impossible_or_certain():
    chances = {0.0: "0 %", 1e-9: "<0.1 %", 0.00099: "<0.1 %", 0.5: "50.0 %", 0.99901: ">99.9 %",
               1.0: "100 %"}  # fmt: skip
    for p, shown in chances.items():
        node = rb.Node("x", ("no", "yes"), rb.Probability(p), source="assumption")
        said = [text for text, _ in texts(rb.draw(rb.Attack("one", nodes=[node]), marginals=True))]
        assert said[said.index("yes") + 1] == shown


# -- plates ------------------------------------------------------------------------------------


def test_a_plate_is_drawn_once_and_every_node_is_in_it_once():
    attack = rb.load("family-cascade")
    drawing = rb.draw(attack)
    once = folded(attack, cards(attack), edges(attack))
    assert {*drawing.boxes} == {c.name for c in once.cards}
    stands_for = [n for c in once.cards for n in ([node for _, node in c.each] or [c.name])]
    assert sorted(stands_for) == sorted(attack.all_nodes)
    links = {(once.names[e.start], once.names[e.end]) for e in edges(attack)}
    assert {(e.start, e.end) for e in drawing.arrows} == links
    assert drawing.width < 1_600
    assert len(drawing.svg) < 100_000
    assert "[relative] is each of sibling_1, sibling_2, father" in drawing.svg
    assert len(rb.draw(attack, expanded=True).boxes) == len(attack.all_nodes)


def test_what_leads_to_itself_is_drawn_one_by_one(tmp_path):
    text = """
schema_version: 1
name: chain
repeat: {day: 1..6, after: [1>2, 2>3, 3>4, 4>5, 5>6], hour: 1..24}
parameters: {p: {value: 0.2, source: assumption}}
nodes:
  day_1: {cpd: {kind: probability, p: $p}}
  "day_[after.to]": {parents: ["day_[after.from]"], cpd: {kind: noisy-or, weights: $p}}
  "seen_[day]": {parents: ["day_[day]"], cpd: {kind: noisy-or, weights: $p}}
  "at_[hour]": {cpd: {kind: probability, p: $p}}
questions: {risk: {target: day_6=yes}}
"""
    attack = rb.loads(text)
    assert {*rb.draw(attack).boxes} == {
        *(f"day_{i}" for i in range(1, 7)),
        "seen_[day]",
        "at_[hour]",
    }
    plain = rb.loads(rb.dumps(attack, expanded=True))  # written by hand: nothing in it repeats
    assert {*rb.draw(plain).boxes} == {*attack.all_nodes}


@pytest.mark.wide
def test_a_plate_shows_the_chance_of_each():
    drawing = rb.draw("family-cascade", marginals=True, given={"found_mother": "yes"})
    p = float(rb.ask("family-cascade", "in_mother=yes", given={"found_mother": "yes"}))
    assert p == 1
    texts = re.findall(r"<text[^>]*>([^<]*)", drawing.svg)
    at = texts.index("in_[relative]")
    assert "mother" in texts[at : at + 24]
    assert "100 %" in texts[at : at + 24]
    assert "found_mother seen: yes" in " ".join(texts)


@pytest.mark.parametrize("most", [1, 2])
def test_no_more_cards_stand_side_by_side_than_asked_and_all_below_their_parents(most):
    attack = rb.load("adversary-routes")
    found = rb.draw(attack, side_by_side=most)
    tops = [round(box.y0) for box in found.boxes.values()]
    assert max(tops.count(top) for top in tops) == most
    assert all(found.boxes[e.start].y1 < found.boxes[e.end].y0 for e in found.arrows)
    assert found.width < rb.draw(attack).width
    with pytest.raises(rb.UsageError, match="1 or more"):
        rb.draw(attack, side_by_side=0)
