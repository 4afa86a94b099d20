"""Pictures: nothing overlaps, every word and number is there, the same bytes every time."""

import re
from itertools import combinations
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest

import reidbn as rb
from reidbn.attack.attack import Attack
from reidbn.attack.cards import cards, edges, sources
from reidbn.attack.modelfile import load, models
from reidbn.attack.parameter import Parameter
from reidbn.attack.parts import Group, GroupRow, Node
from reidbn.cpds.logic import Or
from reidbn.cpds.match import Probability, Uniform
from reidbn.errors import UsageError
from reidbn.report.boxes import CardBox, percent
from reidbn.report.drawing import draw
from reidbn.report.layers import layered
from reidbn.report.lettering import width_of, wrapped
from reidbn.report.scene import Arrow, pieces

SVG = "{http://www.w3.org/2000/svg}"


def random_graph(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 16))
    sizes = {
        f"n{i}": (float(rng.integers(60, 220)), float(rng.integers(30, 160))) for i in range(n)
    }
    pairs = [(f"n{i}", f"n{j}") for i in range(n) for j in range(i + 1, n)]
    return sizes, [p for p in pairs if rng.random() < 1.6 / n]


def on_the_way(route):
    """Many points of the line that is drawn for a route."""
    here, found = None, []
    for command, points in pieces(Arrow(route)):
        t = np.linspace(0, 1, 25)[:, None]
        if command == "L":
            found += [np.add(here, t * np.subtract(points[0], here))]
        elif command == "C":
            a, b, c, d = (np.array(p) for p in (here, *points))
            found += [
                (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
            ]
        here = points[-1]
    return np.concatenate(found)


def apart(one, other):
    return (
        one.x + one.width <= other.x or other.x + other.width <= one.x
        or one.y + one.height <= other.y or other.y + other.height <= one.y
    )  # fmt: skip


def check_layout(layout, pairs):
    for one, other in combinations(layout.boxes.values(), 2):
        assert apart(one, other)
    for (start, end), route in zip(pairs, layout.routes, strict=True):
        first, last = layout.boxes[start], layout.boxes[end]
        assert first.x <= route[0][0] <= first.x + first.width
        assert route[0][1] == pytest.approx(first.y + first.height)
        assert last.x <= route[-1][0] <= last.x + last.width
        assert route[-1][1] == pytest.approx(last.y)
        assert route[0][1] < route[-1][1]
        line = on_the_way(route)
        for name, box in layout.boxes.items():
            if name not in (start, end):
                inside = (line > [box.x, box.y]) & (line < [box.x + box.width, box.y + box.height])
                assert not inside.all(axis=1).any(), f"{start} -> {end} runs through {name}"


@pytest.mark.parametrize("seed", range(40))
def test_no_box_overlaps_another_and_no_arrow_runs_through_a_box(seed):
    sizes, pairs = random_graph(seed)
    check_layout(layered(sizes, pairs), pairs)


@pytest.mark.parametrize("model", models())
def test_shipped_models_are_laid_out_without_overlaps(model):
    attack = load(model)
    boxes = {c.name: CardBox(c, {}, {}, {}) for c in cards(attack)}
    pairs = [(e.start, e.end) for e in edges(attack)]
    check_layout(layered({n: (b.width, b.height) for n, b in boxes.items()}, pairs), pairs)


def test_a_diamond_is_drawn_without_a_crossing_whatever_the_order():
    pairs = [("a", "c"), ("b", "d"), ("a", "e"), ("b", "f")]
    sizes = dict.fromkeys(("a", "b", "f", "c", "d", "e"), (50.0, 20.0))
    layout = layered(sizes, pairs)
    x = {n: b.x for n, b in layout.boxes.items()}
    crossed = [(p, q) for p, q in combinations(pairs, 2)
               if (x[p[0]] - x[q[0]]) * (x[p[1]] - x[q[1]]) < 0]  # fmt: skip
    assert crossed == []


def test_a_chain_stands_in_one_column():
    layout = layered(
        {n: (40.0 + 10 * i, 20.0) for i, n in enumerate("abc")}, [("a", "b"), ("b", "c")]
    )
    middles = [b.x + b.width / 2 for b in layout.boxes.values()]
    assert np.ptp(middles) < 1e-6


@pytest.mark.parametrize("model", models())
@pytest.mark.parametrize("marginals", [False, True])
def test_every_words_stay_on_the_sheet_and_inside_their_card(model, marginals):
    drawing = draw(model, marginals=marginals)
    root = fromstring(drawing.svg)  # noqa: S314 - our own text
    width, height = float(root.get("width")), float(root.get("height"))
    for text in root.iter(f"{SVG}text"):
        size, bold = float(text.get("font-size")), text.get("font-weight") == "bold"
        wide = width_of(text.text, size, bold=bold)
        x = (
            float(text.get("x"))
            - {None: 0, "middle": wide / 2, "end": wide}[text.get("text-anchor")]
        )
        assert x >= 0
        assert x + wide <= width
        assert size <= float(text.get("y")) <= height


@pytest.mark.parametrize("model", models())
def test_lines_of_words_never_lie_on_each_other(model):
    root = fromstring(draw(model, marginals=True).svg)  # noqa: S314 - our own text
    lines = []
    for text in root.iter(f"{SVG}text"):
        size, bold = float(text.get("font-size")), text.get("font-weight") == "bold"
        wide = width_of(text.text, size, bold=bold)
        x = (
            float(text.get("x"))
            - {None: 0, "middle": wide / 2, "end": wide}[text.get("text-anchor")]
        )
        y = float(text.get("y"))
        lines.append((x, x + wide, y - 0.75 * size, y + 0.2 * size, text.text))
    for one, other in combinations(lines, 2):
        across = one[0] < other[1] - 0.5 and other[0] < one[1] - 0.5
        assert not (across and one[2] < other[3] and other[2] < one[3]), (one[4], other[4])


@pytest.mark.parametrize("model", models())
def test_a_picture_says_every_name_parameter_and_source(model):
    attack = load(model)
    svg = draw(attack).svg
    said = " ".join(re.findall(r"<text[^>]*>([^<]*)<", svg)) + " "
    for name in (*attack.nodes, *attack.groups, *attack.parameters):
        assert name in said.replace("_ ", "_")
    for group in attack.groups.values():
        assert all(m in said for m in group.members)
    for parameter in attack.parameters.values():
        assert f"{parameter.name} = {parameter.value:,.12g}" in said
    assert said.count("(assumed)") >= sum(p.is_assumption for p in attack.parameters.values())
    assumed = sum(s.is_assumption for s in sources(attack))
    assert ("no assumptions" if assumed == 0 else f"{assumed} assumption") in said


def test_a_picture_is_accessible_and_self_contained():
    root = fromstring(draw("adversary-routes").svg)  # noqa: S314 - our own text
    assert root.get("role") == "img"
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert root.get("aria-labelledby").split() == [title.get("id"), desc.get("id")]
    assert "three routes" in title.text
    assert "reidentified, after prosecutor, journalist, marketer" in desc.text
    assert "knows_birth" in desc.text
    assert "http" not in draw("adversary-routes").svg.replace("http://www.w3.org/2000/svg", "")


def test_the_same_attack_gives_the_same_bytes():
    one, other = draw("leak-single", marginals=True), draw(load("leak-single"), marginals=True)
    assert one.svg == other.svg
    assert one.png == other.png
    assert one.png[:8] == b"\x89PNG\r\n\x1a\n"
    assert one.dot == other.dot


def test_chances_are_the_engines_answers_with_evidence_and_interventions():
    drawing = draw(
        "leak-single", marginals=True, given={"identified": "yes"}, set={"class_size": 3}
    )
    said = re.findall(r"<text[^>]*>([^<]*)<", drawing.svg)
    answer = rb.ask("leak-single", "leaked_class_size", given={"identified": "yes"},
                    set={"class_size": 3})  # fmt: skip
    for p in answer.probability:
        assert percent(float(p)) in said
    assert "seen: yes" in said
    assert "class_size = 3" in said
    assert any("set here; the file says 5" in line for line in said)
    cut = draw("leak-single", marginals=True, do={"in_leak": "yes"})
    assert "set: yes" in cut.svg
    assert cut.svg.count("stroke-dasharray") == 2  # the card and the arrow that no longer counts


def test_evidence_without_chances_says_what_to_add():
    with pytest.raises(UsageError, match="add marginals=True"):
        draw("leak-single", given={"identified": "yes"})


def test_many_states_become_a_histogram():
    svg = draw("leak-single", marginals=True, set={"class_size": 20}).svg
    assert "most likely 8: 18.0 %" in svg


def test_pictures_are_saved_by_their_ending(tmp_path):
    drawing = draw("breakfast", tmp_path / "b.svg")
    assert (tmp_path / "b.svg").read_text() == drawing.svg
    assert drawing.save(tmp_path / "b.png").read_bytes() == drawing.png
    assert drawing.save(tmp_path / "b.dot").read_text().startswith('digraph "breakfast"')
    assert drawing._repr_svg_() == drawing.svg
    with pytest.raises(UsageError, match=r"a picture is \.svg, \.png or \.dot"):
        drawing.save(tmp_path / "b.pdf")


def test_an_arrow_from_one_member_of_a_group_says_which():
    attack = Attack(
        "member",
        groups=[Group("g", ("one", "two"), (GroupRow("$p"),), source="assumption")],
        parameters=[Parameter("p", 0.5)],
        nodes=[Node("x", ("no", "yes"), Or(), ("one",)), Node("y", ("no", "yes"), Or(), ("g",))],
    )
    assert [(e.start, e.end, e.member) for e in edges(attack)] == [
        ("g", "x", "one"),
        ("g", "y", ""),
    ]
    assert "only one" in draw(attack).svg
    assert "p = 0.5 (assumed)" in draw(attack).svg


def test_awkward_words_are_escaped_and_long_ones_are_cut():
    attack = Attack(
        "odd", title="a < b & c", story="x" * 300,
        nodes=[Node("n" * 60, ("<low>", "&"), Uniform(), story="<script>")],
    )  # fmt: skip
    svg = draw(attack, marginals=True).svg
    fromstring(svg)  # noqa: S314 - our own text
    assert "<script>" not in svg
    assert len(draw(attack).png) > 1000


def test_a_network_of_sixty_nodes_is_laid_out():
    rng = np.random.default_rng(20250601)
    nodes = [Node("n0", ("no", "yes"), Probability(0.5), source="assumption")]
    for i in range(1, 60):
        parents = tuple(f"n{j}" for j in sorted(rng.choice(i, size=min(i, 2), replace=False)))
        nodes.append(Node(f"n{i}", ("no", "yes"), Or(), parents))
    attack = Attack("large", nodes=nodes)
    boxes = {c.name: CardBox(c, {}, {}, {}) for c in cards(attack)}
    pairs = [(e.start, e.end) for e in edges(attack)]
    check_layout(layered({n: (b.width, b.height) for n, b in boxes.items()}, pairs), pairs)


def test_words_are_wrapped_to_the_room_and_none_is_lost():
    text = "What the adversary knows_about_the_target_of_the_attack in a small room"
    lines = wrapped(text, 11, 80)
    assert all(width_of(line, 11) <= 80 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_small_and_large_chances_are_never_shown_as_impossible_or_certain():
    assert [percent(p) for p in (0.0, 1e-9, 0.00099, 0.5, 0.99901, 1.0)] == [
        "0 %", "<0.1 %", "<0.1 %", "50.0 %", ">99.9 %", "100 %",
    ]  # fmt: skip
