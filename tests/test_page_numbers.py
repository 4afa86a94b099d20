"""Numbers as a page says and reads them, against the library's words."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scripts import needs_scripts, run

import reidbn as rb
from reidbn.report import one_in

pytestmark = needs_scripts
_PAGE = Path(rb.__file__).with_name("page")
NUMBERS = (
    f"const words = {(_PAGE / 'words.json').read_text()};\n"
    + (_PAGE / "numbers.js").read_text()
    + "const numbers = Numbers(words);\n"
)
GRID = (
    *(0.0, 5e-324, 1e-310, 1e-300, 1e-30, 1e-13, 9.99e-13, 1e-12, 1.234e-12, 1e-9, 1e-6, 1e-4),
    *(1 / 125, 1 / 2.25, 1 / 9.96, 1 / 99.5, 1 / 995, 0.49999, 0.5, 0.75, 0.974, 0.976, 0.9995),
    *(1 - 1e-6, 1 - 1e-12, 1 - 1e-16, 1.0, 1 + 1e-12),
)


def everyday(p):
    """What the library says beside a number; of no chance and of certainty, the page's word."""
    text = one_in(p)
    beside = re.search(r"\((.+)\)$", text)
    return "impossible" if text == "0" else beside[1] if beside else ""


def test_a_page_says_chances_in_the_librarys_words_however_small_or_large(tmp_path):
    """1e-300 was '1 in 9.999,999,999,999,999e+299', 1e-310 '1 in Infinity', a crash in a report."""
    rng = np.random.default_rng(7)
    drawn = [*rng.random(2_000), *10.0 ** rng.uniform(-14, 0, 2_000),
             *(k / n for n in range(1, 130) for k in range(n + 1))]  # fmt: skip
    chances = [*GRID, *map(float, drawn)]
    body = NUMBERS + "const told = jobs.map(p => [numbers.oneIn(p), numbers.percent(p)]);"
    for p, (said, percent) in zip(chances, run(body, chances, tmp_path), strict=True):
        assert said.replace(percent, "") == everyday(p), p
        assert not re.search(r"\de|Infinity|NaN|\.\d+,", said + percent), p
        assert len(said) < 40, p


def test_chances_at_the_ends_are_no_digits():
    assert one_in(1e-310) == one_in(1e-300) == "below 1e-12 (less than 1 in 1,000,000,000,000)"
    assert one_in(1e-12) == "1e-12 (about 1 in 1,000,000,000,000)"
    assert one_in(1 - 1e-12) == "over 0.999"
    assert one_in(1 - 1e-16) == one_in(1.0) == "1 (certain)"


def test_a_page_writes_no_long_or_broken_number(tmp_path):
    values = [1e300, 123456.789, 1e15, 999_999_999_999_999, 1 / 3, 0.0, -2.5, 1e-300]
    told = run(NUMBERS + "const told = jobs.map(numbers.short);", values, tmp_path)
    assert told == ["1e+300", "123,460", "1,000,000,000,000,000", "999,999,999,999,999", "0.33333",
                    "0", "-2.5", "1e-300"]  # fmt: skip


@pytest.mark.parametrize("text", ["Were you there?", "It is so.", "Who leaves …", "Stop!"])
def test_a_sentence_that_has_an_end_gets_none(text, tmp_path):
    """'Nobody overheard you; were you there?.' stood on the page of breakfast."""
    body = NUMBERS + "const told = jobs.map(numbers.ended);"
    assert run(body, [text, "It is so"], tmp_path) == [text, "It is so."]


def test_no_two_words_of_a_page_have_one_name():
    """A chance of nothing was said as '; more cannot happen': the later of two hid the first."""
    pairs = json.loads((_PAGE / "words.json").read_text(), object_pairs_hook=list)
    names = [name for name, _ in pairs]
    assert len({*names}) == len(names)


def test_a_chance_is_read_however_it_is_written(tmp_path):
    texts = ["10 %", "1 in 10", "1/10", "0.1", "0,1", ".1", "1,000", "1/0", "in 10", "1e-3", "x"]
    told = run(NUMBERS + "const told = jobs.map(numbers.written);", texts, tmp_path)
    tenth, share = {"value": 0.1, "share": False}, {"value": 0.1, "share": True}
    assert told == [share, share, share, tenth, tenth, tenth, {"value": 1000, "share": False},
                    None, None, {"value": 1e-3, "share": False}, None]  # fmt: skip
