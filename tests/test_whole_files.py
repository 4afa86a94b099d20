"""Files in which all means of the language occur together, against a second reading of the text."""

from collections import Counter

import numpy as np
import pytest

from tests.whole_files import compare

SEED = 20261122
TOGETHER = ("repeat", "use", "extends", "numbers", "where", "decisions", "own stories", "over:",
            "measured:", "kind count", "kind noisy-or")  # fmt: skip


def compared(first, count, folder, often):
    seen = Counter()
    for i in range(first, first + count):
        place = folder / str(i)
        place.mkdir()
        seen.update(compare(np.random.default_rng([SEED, i]), place, often=often))
    return seen


@pytest.mark.wide
@pytest.mark.filterwarnings("ignore:.* counts as it", "ignore:Tied: ")  # of random files
def test_files_with_all_means_are_answered_as_a_second_reading_answers_them(tmp_path):
    seen = compared(0, 24, tmp_path, often=0.1)
    assert seen["events"] + seen["means"] >= 24
    assert all(seen[word] >= 2 for word in TOGETHER), seen


@pytest.mark.filterwarnings("ignore:.* counts as it", "ignore:Tied: ")  # of random files
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_files_with_all_means_none_wrong(part, tmp_path):
    seen = compared(100 * part, 100, tmp_path, often=0.1)
    assert seen["events"] + seen["means"] >= 100
    assert seen["best of every policy"] >= 5
