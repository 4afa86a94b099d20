"""The page about data shows what really comes out."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "data.md"


def test_every_example_of_the_page_about_data_is_true():
    page = doctest.testfile(
        str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert page.attempted > 20
    assert page.failed == 0
