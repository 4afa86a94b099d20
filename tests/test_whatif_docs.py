"""The what-if page says what the package does."""

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "what-if.md"


def test_every_example_of_the_what_if_page_is_true():
    page = doctest.testfile(
        str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert page.attempted >= 11
    assert page.failed == 0
