"""The page about linkage shows what really comes out."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "linkage.md"


def test_every_example_of_the_page_about_linkage_is_true():
    page = doctest.testfile(
        str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert page.attempted > 6
    assert page.failed == 0
