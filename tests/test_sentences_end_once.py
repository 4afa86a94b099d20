"""Titles and stories that are questions, and what a picture says to who cannot see it."""

import html
import re

import numpy as np

import reidbn as rb
from reidbn.attack import Attack, Node, Question
from reidbn.cpds import Probability


def test_a_picture_says_each_story_with_one_end():
    attack = Attack(
        "asks", title="Who is it?", story="Somebody asks.",
        nodes=[Node("found", ("no", "yes"), Probability(0.5), story="Was it you?", source="x"),
               Node("told", ("no", "yes"), Probability(0.5), story="It is told.", source="x")],
        questions=[Question("risk", "found=yes")],
    )  # fmt: skip
    said = rb.draw(attack).description
    assert "found: Was it you? told: It is told. " in f"{said} "
    assert not re.search(r"[.?!]\.", said.replace("...", ""))


def test_the_graph_of_a_report_is_told_to_who_cannot_see_it(tmp_path):
    """It was described by the story that stands beside it, and no event or arrow of it was."""
    codes = np.random.default_rng(1).integers(0, 3, (300, 2))
    people = rb.People.from_codes(codes, ["age", "sex"])
    result = rb.assess("adversary-routes", people, population=9_000)
    text = result.to_html(tmp_path / "r.html").read_text()
    graphs = [html.unescape(d) for d in re.findall(r"<desc[^>]*>(.*?)</desc>", text, re.DOTALL)
              if "adversary with three routes." in d]  # fmt: skip
    assert len(graphs) == 2  # one for a telephone
    for said in graphs:
        for node in result.attack.nodes.values():
            assert f"{node.name}, after " in said or f"{node.name}: " in said
        assert "prosecutor, after knows_membership, unique_in_table: Re-identified by" in said
