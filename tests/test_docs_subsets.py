"""The page about subsets shows what really comes out."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "subsets.md"


def test_every_example_of_the_page_about_subsets_is_true():
    page = doctest.testfile(
        str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert page.attempted > 15
    assert page.failed == 0
