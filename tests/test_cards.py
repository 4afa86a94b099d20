"""Cards are the models' own events; the class has its ninety minutes."""

import html
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn

DOCS = Path(__file__).parent.parent / "docs"
TYPES = ("Linking", "Identifying", "Non-repudiation", "Detecting", "Data disclosure",
         "Unawareness and unintervenability", "Non-compliance")  # fmt: skip


def made(path, *models, **options):
    text = rb.report.cards(path, models or None, **options).read_text()
    return text, re.findall(r"<article.*?</article>", text)


def test_a_card_says_what_happens_what_it_needs_and_what_it_leads_to(tmp_path):
    text, found = made(tmp_path / "c.html", "breakfast", blank=3)
    model = rb.load("breakfast")
    tagged = [n for n in model.nodes.values() if n.linddun]
    none = [t for t in TYPES if t in rb.coverage(["breakfast"]).not_modelled]
    lists = [c for c in found if "card types" in c]
    assert len(found) == len(tagged) + len(none) + len(lists) + 3
    assert (len(tagged) + len(none) + len(lists)) % 8 == 0
    assert all(f"<b>{t}:</b>" in lists[0] for t in TYPES)
    assert f"Cards: {len(tagged)} threats to talk about, and {len(none)} types" in text
    for node in tagged:
        (card,) = (c for c in found if f"breakfast: {node.name}" in c)
        card = html.unescape(card)
        assert node.story.rstrip(".") in card
        assert f">{node.linddun[0]}<" in card
        for parent in node.parents:
            assert model.nodes[parent].story.rstrip(".") in card
        assert card.count("<li>") == 2
    assert sum("Nobody wrote this one" in c for c in found) == len(none)
    assert [t for t in TYPES if t not in text] == []
    assert "<script" not in text
    assert "default-src 'none'" in text


def test_of_all_models_an_event_is_told_once(tmp_path):
    _, found = made(tmp_path / "c.html", blank=0)
    told = [re.findall(r'<h2[^>]*>(.*?)</h2>|class="happens">(.*?)<', c) for c in found]
    told = [str(t) for t in told if "____" not in str(t) and "LINDDUN" not in str(t)]
    assert len(told) == len(set(told)) > 40


def test_what_cannot_be_a_card_is_refused(tmp_path):
    plain = rb.attack.loads(rb.lesson.began().replace("    linddun: [Identifying]\n", ""))
    with pytest.raises(rb.UsageError, match=r"says which threat .* add linddun: \[Identifying\]"):
        rb.report.cards(tmp_path / "c.html", plain)
    with pytest.raises(rb.UsageError, match=r"end the name in \.html"):
        rb.report.cards(tmp_path / "c.pdf", "breakfast")
    with pytest.raises(rb.UsageError, match="0 to 1,000"):
        rb.report.cards(tmp_path / "c.html", "breakfast", blank=-1)
    with pytest.raises(rb.UsageError, match="0 to 1,000"):
        rb.report.cards(tmp_path / "c.html", "breakfast", blank=10**18)


def test_from_the_shell(tmp_path):
    path = tmp_path / "two.html"
    done = CliRunner().invoke(reidbn, ["cards", "breakfast", "leak-single", "-o", str(path)])
    assert done.exit_code == 0, done.output
    assert done.output.strip() == str(path)
    assert path.read_text().count("<section") == 2


def test_the_class_goes_from_minute_to_minute():
    text = (DOCS / "class.md").read_text()
    minutes = [int(n) for pair in re.findall(r"^## (\d+) to (\d+):", text, re.M) for n in pair]
    assert minutes == [0, 10, 10, 25, 25, 45, 45, 70, 70, 85, 85, 90]
