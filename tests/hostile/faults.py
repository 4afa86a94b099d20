"""Every write failed once: a full disk, a broken one, no right to write, a kill.

A helper process runs under a shim (shim.c) that fails the n-th call that changes the disk.  It
makes what is to be written, and forks for each failure; afterwards the file is the old one or a
whole new one, and the next write of that name leaves nothing beside it.
"""

import atexit
import ctypes
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

import cases
import wrong_calls

import reidbn as rb
from reidbn.report import cards

HERE = Path(__file__).parent
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES, "SIGKILL": 0}
OLD = "the old file"
LEDGER = "ledger"  # beside a file that is written with one
MOST_CALLS = 400  # that change the disk, in one write


def writers():
    """What is written to a path, by the name of the file."""
    found = wrong_calls.results()
    assessed, table = found["Assessment"], rb.read_table(wrong_calls.frame(), **wrong_calls.ROLES)
    many = rb.datasets.synthetic_patients(400, seed=1)
    alike = rb.read_table(many, quasi_identifiers=["sex", "race"])
    behind = rb.assess("adversary-routes", alike, population=10_000)
    plan = rb.recommend(table, target="k=2", suppress_at_most=0.5)
    sparse = rb.read_sparse(rb.datasets.synthetic_ehr(30, seed=1).table.iloc[:, :8])
    linked = rb.linkage(sparse, facts=[1, 2], draws=50)
    ehr = rb.datasets.synthetic_ehr(30, seed=1)
    kin = rb.neighbourhood(rb.read_kin(rb.read_sparse(ehr.table, features=ehr.features)))
    return {
        "a.html": assessed.report, "a.md": assessed.report, "a.json": assessed.report,
        "own.html": lambda p: assessed.report(p, custodian=True), "a.svg": assessed.plot,
        "a.parquet": assessed.to_parquet, "e.json": assessed.to_explained,
        "r.csv": assessed.to_restricted,
        "r.parquet": assessed.to_restricted, "d.html": found["Disclosure"].report,
        "l.json": found["Leak"].report, "m.yaml": rb.load("breakfast").save,
        "n.bif": lambda p: rb.export("breakfast", p), "n.xdsl": lambda p: rb.export("breakfast", p),
        "p.svg": lambda p: rb.draw("breakfast", p),
        "page.html": lambda p: behind.page(p, custodian=True),
        "plan.html": plan.report, "plan.json": lambda p: plan.report(p, custodian=True),
        "out.csv": plan.write, "out.parquet": plan.write, "cards.html": cards,
        "link.html": linked.report, "kin.json": kin.report, "pop.md": found["Uniqueness"].report,
        "kept": lambda p: rb.assess("prosecutor", table, population=10_000, checkpoint=p),
        "let-out.json": lambda p: assessed.report(p, ledger=p.with_name(LEDGER)),
    }  # fmt: skip


def warmed(known):
    """The same, each called once: what a result works out at its first report is there then.

    Without it every failed write would work out its cross-check again, which is not what fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, write in known.items():
            if name != "kept":  # whose work is what is written
                write(Path(folder) / name)
    return known


@cache
def shim():
    """The shim, compiled; None where there is no compiler."""
    if shutil.which("gcc") is None or sys.platform != "linux":
        return None
    place = Path(tempfile.mkdtemp(prefix="shim-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    made = place / "shim.so"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(made), str(HERE / "shim.c"), "-ldl"]
    done = subprocess.run(command, check=False, capture_output=True)
    return made if done.returncode == 0 else None


def serve():
    """The helper: one line of JSON per failure, one back."""
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    library.shim_seen.restype = ctypes.c_long
    warnings.simplefilter("ignore")
    known = warmed(writers())
    print(json.dumps(sorted(known)), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(asked["folder"])
            library.shim_arm(ctypes.c_long(asked["nth"]), asked["error"])
            code = 0
            try:
                known[asked["name"]](Path(asked["folder"]) / asked["name"])
            except rb.ReidbnError:
                code = 3
            except BaseException as problem:
                sys.stderr.write(f"{type(problem).__name__}: {problem}\n")
                code = 4
            reached = library.shim_seen() >= asked["nth"]
            os._exit(code + 10 * reached)
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


class Helper:
    """The helper process and the names that it can write."""

    def __init__(self, library):
        environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "serve"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        atexit.register(self.end)
        self.names = json.loads(self.process.stdout.readline())

    def end(self):
        self.process.kill()
        self.process.communicate()

    def write(self, folder, name, nth, error):
        asked = {"folder": str(folder), "name": name, "nth": nth, "error": error}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@cache
def helper():
    library = shim()
    return None if library is None else Helper(library)


def writes(rng, folder):
    """One write of one kind of file, failed at one of its calls."""
    if helper() is None:
        raise cases.Skipped  # no compiler here
    name = rng.choice(helper().names)
    fail_once(folder, name, rng.randint(1, 60), rng.choice(sorted(ERRORS)))


def fail_once(folder, name, nth, error):
    """Fail one call; False where the write has fewer."""
    place = folder / "failed"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    file = place / name
    if name == "kept":
        file.mkdir()
    else:
        file.write_text(OLD)
    code = helper().write(place, name, nth, ERRORS[error])
    what = f"{name}, call {nth}, {error}"
    if code % 10 == 4:
        raise cases.Wrong(f"{what}: the error is none of ours")
    if code == -signal.SIGKILL:
        if error != "SIGKILL":
            raise cases.Wrong(f"{what}: the process was killed")
    elif name != "kept" and code in (3, 13) and file.read_text(errors="replace") != OLD:
        raise cases.Wrong(f"{what}: refused, and the old file is gone")
    if name != "kept":
        intact(file, what)
        has_entry(file, what)
    again = helper().write(place, name, 10**6, ERRORS["EIO"])
    if again != 0:
        raise cases.Wrong(f"{what}: the next write ends with {again}")
    beside = [p.name for p in place.iterdir() if p.name not in (name, LEDGER)]
    if name == "kept":
        beside += [p.name for p in file.iterdir() if p.suffix != ".npy"]
    else:
        intact(file, what, may_be_old=False)
        has_entry(file, what)
    if beside:
        raise cases.Wrong(f"{what}: {beside} is left")
    return code >= 10 or code < 0


def every_call(folder, names=None, report=lambda line: None):
    """Each call of each write failed in each way once; how many, in words."""
    if helper() is None:
        return "no compiler here: no write was failed"
    failed = 0
    names = helper().names if names is None else names
    for name in names:
        before, start = failed, time.monotonic()
        for error in sorted(ERRORS):
            nth = 1
            while nth < MOST_CALLS and fail_once(folder, name, nth, error):
                nth += 1
            failed += nth - 1
        report(f"{name}: {failed - before} failures, {time.monotonic() - start:.0f} s")
    return f"{failed:,} failures of {len(names)} kinds of files: the old file or a new one was left"


def has_entry(file, what):
    """What was written with a ledger is in it, and the ledger is whole; the old file is in none."""
    place = file.with_name(LEDGER)
    known = place.exists() and place.stat().st_size
    if known and len(json.loads(place.read_text())["releases"]) != 1:
        raise cases.Wrong(f"{what}: the ledger does not have its one release")
    if file.name.startswith("let-out") and not known and file.read_bytes() != OLD.encode():
        raise cases.Wrong(f"{what}: a report left the house, and its ledger does not know it")


def intact(file, what, *, may_be_old=True):
    content = file.read_bytes()
    if content == OLD.encode():
        if not may_be_old:
            raise cases.Wrong(f"{what}: nothing was written")
        return
    text = content.decode("utf-8", "replace").rstrip()
    whole = {
        ".html": "</html>" in text and text.endswith(("-->", "</html>")),
        ".svg": text.endswith("</svg>"),
        ".json": text.startswith("{") and text.endswith("}"),
        ".parquet": content[:4] == content[-4:] == b"PAR1",
        ".xdsl": text.endswith("</smile>"), ".bif": text.endswith("}"),
        ".csv": len(text.splitlines()) > 10, ".md": len(text) > 500, ".yaml": len(text) > 500,
    }  # fmt: skip
    if not whole[file.suffix]:
        raise cases.Wrong(f"{what}: half a file is left")


if __name__ == "__main__":
    serve()
