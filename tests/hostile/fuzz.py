"""Hostile cases by the thousand, counted by what became of them.

    python tests/hostile/fuzz.py CASES [SEED [PAGE]]
    python tests/hostile/fuzz.py writes [NAME ...]    every call of every write (or of some), failed
                                                      in every way

A case damages something that comes in (a model, a scenario, a table, a network of another tool, a
finished block of a checkpoint, the arguments of a call) or fails one write, and ends as

    ok         an answer, the same as by a second way where the damage leaves one
    refused    an error of the product's own
    traceback  any other error, or a foreign warning
    wrong      an answer that differs from the second way's, or a file that is half written
    hang       more processor seconds than LIMIT

Each case has its own seed, which is printed with every case that is neither ok nor refused:
`python tests/hostile/fuzz.py case FAMILY SEED` shows that one.
"""

import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import cases
import faults
import plans

import reidbn as rb

LIMIT = 20  # processor seconds of one case; the slowest that is right takes about two
MEMORY = 4 << 30
FAMILIES = {
    # of a thousand cases
    "arguments": (616, cases.arguments),
    "networks": (160, cases.networks),
    "tables": (100, cases.tables),
    "texts": (60, cases.texts),
    "models": (40, cases.models),
    "scenarios": (12, cases.scenarios),
    "checkpoints": (4, cases.checkpoints),
    "plans": (4, plans.plans),
    "writes": (4, faults.writes),
}
BAD = ("traceback", "wrong", "hang")


class Hang(BaseException):
    """More time than is meant; no Exception, so that nothing on the way takes it for its own."""


def _late(*_):
    raise Hang


def outcome(family, seed, folder):
    """What becomes of one case, and the error where it is none of ours."""
    rng = random.Random(f"{family} {seed}")  # noqa: S311 - no secret
    old = signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # What a library announces about another one is not ours.
            warnings.filterwarnings("ignore", category=DeprecationWarning, module="matplotlib")
            warnings.simplefilter("ignore", rb.errors.ReidbnWarning)
            FAMILIES[family][1](rng, folder)
    except rb.ReidbnError:
        return "refused", None
    except cases.Skipped:
        return "skipped", None
    except cases.Wrong as problem:
        return "wrong", problem
    except Hang as problem:
        return "hang", problem
    except Exception as problem:
        return "traceback", problem
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
    return "ok", None


def run(number, seed, report=print):
    """So many cases over all families; the counts, by family and outcome."""
    counts, took, left = Counter(), Counter(), number
    weights = sum(weight for weight, _ in FAMILIES.values())
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for i, (family, (weight, _)) in enumerate(FAMILIES.items()):
                share = left if i == len(FAMILIES) - 1 else max(1, number * weight // weights)
                left -= share
                start = time.process_time()
                for k in range(share):
                    found, problem = outcome(family, f"{seed}-{k}", Path(folder))
                    counts[family, found] += 1
                    if found in BAD:
                        report(f"{found}: {family} {seed}-{k}: {_short(problem)}")
                took[family] = time.process_time() - start
        finally:
            os.chdir(home)
    return counts, took


def _short(problem):
    places = [f for f in traceback.extract_tb(problem.__traceback__) if "/reidbn/" in f.filename]
    at = f" at {Path(places[-1].filename).name}:{places[-1].lineno}" if places else ""
    return f"{type(problem).__name__} {str(problem)[:120]!r}{at}"


def table(counts, took, seed):
    """The counts as a page."""
    kinds = ["ok", "refused", "skipped", *BAD]
    lines = [
        f"| damage | cases | {' | '.join(kinds)} | ms a case |",
        "|---" * (len(kinds) + 3) + "|",
    ]
    for family in FAMILIES:
        row = [counts[family, kind] for kind in kinds]
        cost = 1_000 * took[family] / max(1, sum(row))
        lines.append(
            f"| {family} | {sum(row):,} | {' | '.join(f'{n:,}' for n in row)} | {cost:.1f} |"
        )
    total = [sum(counts[f, kind] for f in FAMILIES) for kind in kinds]
    lines.append(f"| all | {sum(total):,} | {' | '.join(f'{n:,}' for n in total)} | |")
    return f"Seed {seed}, Python {sys.version.split()[0]}.\n\n" + "\n".join(lines) + "\n"


def main(argv):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if argv[:1] == ["case"]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            found, problem = outcome(argv[1], argv[2], Path(folder))
            print(found)
            if problem is not None:
                traceback.print_exception(problem)
        return 0
    if argv[:1] == ["writes"]:
        with tempfile.TemporaryDirectory() as folder:
            print(faults.every_call(Path(folder), argv[1:] or None, lambda s: print(s, flush=True)))
        return 0
    seed = argv[1] if len(argv) > 1 else "1"
    counts, took = run(int(argv[0]), seed, lambda line: print(line, flush=True))
    page = table(counts, took, seed)
    print(page)
    if len(argv) > 2:
        Path(argv[2]).write_text(page)
    return int(any(counts[family, kind] for family in FAMILIES for kind in BAD))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
