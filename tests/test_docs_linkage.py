"""The pages about linkage and families show what really comes out."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize(
    "name", ["linkage", pytest.param("families", marks=pytest.mark.wide), "reproduction-popat"]
)
def test_every_example_of_the_page_is_true(name):
    page = doctest.testfile(
        str(DOCS / f"{name}.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert page.attempted > 6
    assert page.failed == 0
