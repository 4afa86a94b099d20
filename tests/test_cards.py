"""Cards are the models' own events; the class has its ninety minutes."""

import html
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from devtools import Browser
from scripts import needs_browser

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
        assert "p_overheard" not in card  # a number without its meaning
    assert sum("Nobody wrote this one" in c for c in found) == len(none)
    assert [t for t in TYPES if t not in text] == []
    assert "<script" not in text
    assert "default-src 'none'" in text


@pytest.mark.parametrize("blank", [0, 3, 8, 12])
def test_every_group_gets_a_list_of_the_threat_types(blank, tmp_path):
    """Two lists for seven groups."""
    _, found = made(tmp_path / "c.html", "breakfast", blank=blank)
    lists = sum("card types" in c for c in found)
    assert max(blank, 1) <= lists < max(blank, 1) + 8


def test_a_card_is_of_what_happens_or_does_not_and_has_a_story_and_one_mark_at_an_end(tmp_path):
    text, found = made(tmp_path / "c.html", blank=0)
    assert "How many relatives are found</p>" not in text  # "Can it happen here?"
    assert not re.search(r"[?!.][.?!]", text.partition("<main>")[2])
    told = [re.search(r'class="story"><b>(.+?)</b> (.*?)</p>', c) for c in found]
    told = [t for t in told if t and not t[1].startswith("Nobody wrote")]
    assert len(told) > 40
    assert all(t[2] for t in told)


@pytest.mark.slow
@needs_browser
def test_nothing_of_a_card_is_cut_on_paper_nor_too_small_to_read(tmp_path):
    path = rb.report.cards(tmp_path / "c.html")
    with Browser() as browser:
        browser.open(path)
        browser.ask("Emulation.setEmulatedMedia", media="print")
        cut, small = browser.say("""[
          [...document.querySelectorAll(".card")].filter(c => c.scrollHeight > c.clientHeight + 1)
            .map(c => c.textContent),
          [...document.querySelectorAll(".happens, .story, li")]
            .filter(e => parseFloat(getComputedStyle(e).fontSize) < 8.8 * 96 / 72 - 0.1).length]""")
    assert (cut, small) == ([], 0)


def test_the_class_has_the_cards_that_its_page_counts(tmp_path):
    """A counted event's type had no card; eight groups drew six of 27."""
    make = (DOCS.parent / "Makefile").read_text()
    models = re.search(r"^CARDS = ((?:.*\\\n)*.*)$", make, re.M)[1].replace("\\", " ").split()
    _, found = made(tmp_path / "c.html", *models)
    lists = ["card types" in c for c in found]
    empty = ["Your own" in c for c in found]
    told = found[: lists.index(True)]
    unwritten = [c for c in told if "Nobody wrote this one" in c]
    about = [t for c in told for t in TYPES if t in re.sub("<p class=.(story|happens).*", "", c)]
    assert {*about} == {*TYPES}
    assert (len(told), len(unwritten), sum(empty)) == (28, 3, 8)
    assert len(told) <= 4 * 8
    assert all(lists[4 * 8 : 5 * 8])  # the fifth sheet
    assert all(empty[-8:])
    assert 6 * 4 <= 28
    assert 6 * 9 <= 2 * 28
    assert 5 * 10 <= 2 * 28
    said = (DOCS / "class.md").read_text()
    assert "There are 28 on the first four sheets: 25 threats, and three types" in said
    assert "the fifth sheet of `cards.html` holds eight" in said
    assert "--blank" not in said  # which printed the cards of all models


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
    assert path.read_text().count("<section") == 3  # cards, lists, empty ones


def test_the_class_goes_from_minute_to_minute():
    text = (DOCS / "class.md").read_text()
    minutes = [int(n) for pair in re.findall(r"^## (\d+) to (\d+):", text, re.M) for n in pair]
    assert minutes == [0, 10, 10, 25, 25, 45, 45, 70, 70, 85, 85, 90]
