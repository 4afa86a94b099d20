"""The page about leaks says what the code does."""

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "leak.md"


def test_the_examples_of_the_page_run():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted >= 14
    assert found.failed == 0
