"""What the benchmarks share: where the real tables are, how a second is measured, and how
results are kept."""

import os
import sys
import time
from pathlib import Path

DATA = Path(os.environ.get("REIDBN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def best(work, times=3):
    """Least CPU seconds of some runs, and the result of the last."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        result = work()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def keep(path, title, doc, text):
    """The page of results, written where `--keep` is said."""
    if "--keep" in sys.argv:
        path.write_text(f"# {title}\n\n{doc.strip()}\n\n{text}\n", encoding="utf-8")
