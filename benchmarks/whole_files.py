"""Random files in which all means of the language occur together, against a second reading.

    python -m benchmarks.whole_files [FILES] [FIRST] [OFTEN]

Each file is read a second time by tests/yaml_oracle.py, which enumerates its worlds in rationals.
The share OFTEN also goes through sampling and what-if.  The first file that differs ends the run
with its text and the question; what was compared is counted.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from tests.whole_files import compare

SEED = 20261122


def main():
    files, first, often = ([*sys.argv[1:], "", "", ""])[:3]
    seen = Counter()
    start = int(first or 0)
    for i in range(start, start + int(files or 200)):
        with tempfile.TemporaryDirectory() as folder:
            seen.update(
                compare(np.random.default_rng([SEED, i]), Path(folder), often=float(often or 0.25))
            )
    print("| what | how often |\n|---|---|")
    for word, number in sorted(seen.items()):
        print(f"| {word} | {number:,} |")


if __name__ == "__main__":
    main()
