"""Files are written whole or not at all, and those of people can be read by their owner alone."""

import ast
import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import numpy as np
import pandas as pd
import pytest
from inside import inside

import reidbn as rb
from reidbn.release import probe, safe_cells, whole, write_csv, write_text
from reidbn.report import draw_sweep


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_there_whole_and_nothing_beside_it(tmp_path):
    write_text("old\n", tmp_path / "a.txt")
    write_text("new\n", tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == "new\n"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
@pytest.mark.parametrize("call", ["fsync", "replace", "mkdtemp"])
def test_a_disk_that_fails_leaves_the_old_file(tmp_path, monkeypatch, call, number):
    place = write_text("old\n", tmp_path / "a.txt")

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    where = {"fsync": "os.fsync", "replace": "pathlib.Path.replace", "mkdtemp": "tempfile.mkdtemp"}
    monkeypatch.setattr(where[call], fail)
    with pytest.raises(rb.errors.UsageError, match="untouched") as found:
        write_text("new\n", place)
    assert os.strerror(number) in str(found.value)
    assert place.read_text() == "old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.fixture(scope="module")
def writers(tmp_path_factory):
    """Of every kind of file: what writes it to a path."""
    folder = tmp_path_factory.mktemp("source")
    table = pd.DataFrame({"a": [1, 2] * 60, "b": [1, 2, 3] * 40, "d": ["x"] * 120})
    table.to_csv(folder / "t.csv", index=False)
    people = rb.read_table(str(folder / "t.csv"), quasi_identifiers=["a", "b"])
    risks = rb.assess("marketer", people, known=["a", "b"])
    leak, other = (rb.leak.assess(people, leaked=n) for n in (50, 60))
    plan, model = rb.recommend(people, target="k=2"), rb.load("breakfast")
    picture = rb.draw(model)
    report = folder / "r.md"

    def ledger(path):
        if not path.exists():
            leak.report(report, ledger=path)
            return
        other.report(report, ledger=path)

    return {
        "r.html": leak.report, "r.md": leak.report, "r.json": leak.report, "l.json": ledger,
        "f.svg": leak.plot, "f.png": leak.plot, "f.pdf": leak.plot, "x.json": risks.to_explained,
        "p.parquet": risks.to_parquet, "people.html": lambda p: risks.page(p, custodian=True),
        "plan.html": plan.report, "safer.csv": plan.write, "safer.parquet": plan.write,
        "page.html": model.page, "m.yaml": lambda p: rb.attack.save(model, p),
        "m.bif": lambda p: rb.export(model, p), "a.svg": picture.save, "a.png": picture.save,
    }  # fmt: skip


KINDS = ["r.html", "l.json", "f.png", "f.pdf", "x.json", "p.parquet", "safer.csv", "a.svg",
         *(pytest.param(name, marks=pytest.mark.wide) for name in (
             "r.md", "r.json", "f.svg", "people.html", "plan.html", "safer.parquet", "page.html",
             "m.yaml", "m.bif", "a.png"))]  # fmt: skip


@contextmanager
def small_disk():
    """No file of more than 64 bytes can be written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.filterwarnings("ignore::reidbn.errors.ReidbnWarning")
@pytest.mark.parametrize("name", KINDS)
def test_a_full_disk_leaves_the_old_file_of_every_kind_and_says_so(name, writers, tmp_path):
    place = tmp_path / name
    writers[name](place)
    old = place.read_bytes()
    with small_disk(), pytest.raises(rb.errors.UsageError, match=r"too large.*untouched") as found:
        writers[name](place)
    assert str(found.value).startswith(f"{name}: ")
    assert place.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == [name]
    if name == "l.json":
        return
    place.unlink()
    place.symlink_to("/dev/full")
    with pytest.raises(rb.errors.UsageError, match="No space left on device"):
        writers[name](place)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert not [*Path("/dev").glob("full?*")]  # nothing of people beside a device


def test_a_full_disk_leaves_no_half_of_counted_cells_nor_of_a_checkpoint(tmp_path):
    table = tmp_path / "t.csv"
    pd.DataFrame({"a": [1, 2] * 60, "b": [1, 2, 3] * 40}).to_csv(table, index=False)
    people = rb.read_table(str(table), quasi_identifiers=["a", "b"])
    with small_disk(), pytest.raises(rb.errors.UsageError, match=r"disk refused.*too large"):
        rb.microdata.collapse(str(table), ["a", "b"], tmp_path / "cells.parquet")
    with small_disk(), pytest.raises(rb.errors.UsageError, match="cannot be written: File too lar"):
        rb.assess("adversary-routes", people, known=["a", "b"], population=900,
                  checkpoint=tmp_path / "c")  # fmt: skip
    left = [p for p in tmp_path.rglob("*") if p.is_file() and p != table]
    assert not left


def test_risks_go_through_a_pipe_and_nothing_of_them_is_left_beside_it(writers, tmp_path):
    pipe, found = tmp_path / "p.parquet", []
    os.mkfifo(pipe)
    reader = Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    writers["p.parquet"](pipe)
    reader.join(60)
    assert [p.name for p in tmp_path.iterdir()] == ["p.parquet"]
    whole_file = tmp_path / "q.parquet"
    whole_file.write_bytes(found[0])
    assert len(pd.read_parquet(whole_file)) == 120


def test_a_writer_that_is_killed_leaves_the_old_file_and_the_next_one_tidies_up(tmp_path):
    place = write_text("old\n", tmp_path / "a.txt")
    script = f"""
        import os, signal
        from reidbn.release import whole
        with whole({str(place)!r}) as made:
            made.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert place.read_text() == "old\n"
    left = [p for p in tmp_path.iterdir() if p != place]
    assert len(left) == 1
    assert mode(left[0]) == 0o700
    write_text("new\n", place)
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert place.read_text() == "new\n"


@pytest.mark.parametrize("left", ["", "lock.new", "lock", "a.txt"])
def test_what_a_kill_leaves_at_any_moment_is_removed_by_the_next_write(tmp_path, left):
    """Before its lock, with it, and on the way out: a young folder was left for an hour."""
    part = tmp_path / ".a.txt.abcdefgh.part"
    part.mkdir()
    if left:
        (part / left).write_text("")
    write_text("new\n", tmp_path / "a.txt")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("moment", ["made", "opened"])
def test_a_folder_that_is_taken_away_before_it_is_locked_is_made_again(
    tmp_path, monkeypatch, moment
):
    """Another process tidies up between the making of a folder and its lock."""
    writing, seen = inside(write_text), []
    hold, made = writing._hold, writing._private

    def tidied(*_):
        if len(seen) < 3:
            (folder,) = tmp_path.iterdir()
            seen.append(folder)
            with monkeypatch.context() as other:
                other.setattr(writing, "_hold", hold)
                writing._remove_if_left(folder)
            assert not folder.exists()

    def just_made(home, start):
        folder = made(home, start)
        tidied()
        return folder

    def just_opened(lock):
        tidied()
        hold(lock)

    if moment == "made":
        monkeypatch.setattr(writing, "_private", just_made)
    else:
        monkeypatch.setattr(writing, "_hold", just_opened)
    write_text("new\n", tmp_path / "a.txt")
    assert len(set(seen)) == 3
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_checkpoints_start_removes_what_a_killed_run_left_of_other_blocks(tmp_path):
    """A block that is whole, or another question's, is not written again by the next run."""
    place, foreign = tmp_path / "kept", tmp_path / "kept" / ".their.part"
    people = rb.read_table({"a": list("xxxyyz")}, quasi_identifiers=["a"])
    rb.assess("prosecutor", people, population=10_000, checkpoint=place)
    names = {p.name for p in place.iterdir()}
    assert names
    for name in (*names, "0123-0.npy"):
        part = place / f".{name}.abcdefgh.part"
        part.mkdir()
        (part / "lock").write_text("")
    foreign.mkdir()
    rb.assess("prosecutor", people, population=10_000, checkpoint=place)
    assert {p.name for p in place.iterdir()} == {*names, foreign.name}


def test_what_another_process_is_writing_is_left_alone(tmp_path):
    place = tmp_path / "a.txt"
    with whole(place) as slow:
        slow.write_text("first")
        write_text("second", place)
        assert slow.exists()
    assert place.read_text() == "first"


def test_files_of_people_are_their_owners_alone(tmp_path):
    place = tmp_path / "a.csv"
    place.write_text("x")
    place.chmod(0o644)
    write_csv(pd.DataFrame({"x": [1]}), place, of_people=True)
    assert mode(place) == 0o600
    write_text("public", tmp_path / "b.txt")
    assert mode(tmp_path / "b.txt") == 0o666 & ~umask()


def umask() -> int:
    return int(Path("/proc/self/status").read_text().split("Umask:")[1].split()[0], 8)


def test_a_link_stays_a_link(tmp_path):
    write_text("old", tmp_path / "real.txt")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_text("new", tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_place_that_cannot_be_is_refused_before_the_work(tmp_path):
    with pytest.raises(rb.errors.UsageError, match="its folder is not there"):
        probe(tmp_path / "none" / "a.txt")
    with pytest.raises(rb.errors.UsageError, match="is a folder"):
        probe(tmp_path)
    probe(None, tmp_path / "a.txt", "/dev/null")
    assert list(tmp_path.iterdir()) == []


def test_no_cell_of_a_csv_is_a_formula(tmp_path):
    table = pd.DataFrame(
        {
            "=name": ["=1+1", "-5", "plain", None],
            "n": [-1, 2, 3, 4],
            "c": pd.Categorical(["@a"] * 4),
        }
    )
    found = pd.read_csv(write_csv(table, tmp_path / "a.csv"), dtype=str)
    assert list(found.columns) == ["'=name", "n", "c"]
    assert list(found.iloc[:, 0].fillna("")) == ["'=1+1", "-5", "plain", ""]
    assert list(found["n"]) == ["-1", "2", "3", "4"]
    assert set(found["c"]) == {"'@a"}
    assert list(table["c"]) == ["@a"] * 4
    assert safe_cells(pd.DataFrame({"x": np.zeros(2)})).equals(pd.DataFrame({"x": np.zeros(2)}))


@pytest.mark.wide
def test_everything_that_is_about_single_people_is_private(tmp_path):
    people = rb.read_table(
        rb.datasets.synthetic_patients(300, seed=1), quasi_identifiers=["age", "sex", "state"]
    )
    result = rb.assess("adversary-routes", people, population=100_000, checkpoint=tmp_path / "kept")
    result.to_parquet(tmp_path / "risks.parquet")
    result.to_restricted(tmp_path / "risks.csv")
    result.report(tmp_path / "own.html", custodian=True)
    result.report(tmp_path / "out.html")
    found = {p.name: mode(p) for p in tmp_path.iterdir()}
    assert found == {
        "kept": 0o700, "risks.parquet": 0o600, "risks.csv": 0o600, "own.html": 0o600,
        "out.html": 0o666 & ~umask(),
    }  # fmt: skip
    assert {mode(p) for p in (tmp_path / "kept").iterdir()} == {0o600}


PRIVATE = {
    "linkage": ("synthetic:40", "--facts", "1,2", "--out", "l.parquet", "--html", "own.html",
                "--custodian"),
    "family": ("synthetic:40", "--out", "f.parquet", "--json-report", "own.json", "--custodian"),
    "recommend": ("synthetic:120", "--qi", "age,sex", "--target", "k=2", "--suppress-at-most",
                  "50%", "--write", "t.csv", "--markdown", "own.md", "--custodian"),
    "leak": ("synthetic:120", "--qi", "age,sex", "--leaked", "9", "--ledger", "ledger",
             "--out", "k.parquet", "--json-report", "out.json"),
    "classes": ("synthetic:120", "--qi", "age,sex", "--out", "c.parquet"),
    "subsets": ("synthetic:120", "--qi", "age,sex", "--out", "s.parquet"),
}  # fmt: skip


@pytest.mark.parametrize("command", PRIVATE)
def test_what_every_command_writes_of_people_is_its_owners_alone(
    command, tmp_path, shell, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    code, said = shell(command, *PRIVATE[command])
    assert code == 0, said
    found = {p.name: mode(p) for p in tmp_path.iterdir()}
    named = [word for word in PRIVATE[command] if word in found]
    assert len(found) == len(named) > 0
    assert found == {n: 0o666 & ~umask() if n.startswith("out") else 0o600 for n in named}


def told(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    with pytest.raises(SystemExit) as ended:
        rb.cli.main([str(w) for w in words])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_a_command_tries_every_path_before_it_works(tmp_path, capsys, monkeypatch):
    table = tmp_path / "t.csv"
    rb.datasets.synthetic_patients(200, seed=1).to_csv(table, index=False)
    before = table.read_bytes()
    asked = ("assess", table, "--qi", "age,sex", "--population", "5000", "--quiet")
    kinds = {"--html": ".html", "--json-report": ".json", "--markdown": ".md", "--plot": ".svg",
             "--out": ".parquet", "--restricted": ".csv"}  # fmt: skip
    for option, kind in kinds.items():
        place = tmp_path / "none" / f"a{kind}"
        assert "its folder is not there" in told(capsys, *asked, option, place)
        assert not place.parent.exists()
    same = told(capsys, *asked, "--html", tmp_path / "a", "--out", tmp_path / "a")
    assert "--html and --out name the same file" in same
    for option in {*kinds} - {"--restricted"}:  # what is written is what the ending says
        said = told(capsys, *asked, option, tmp_path / "a.csv")
        assert f"{option} a.csv: end the name in {kinds[option]}" in said
    rb.datasets.synthetic_patients(200, seed=1).to_parquet(tmp_path / "t.parquet")
    own = ("assess", tmp_path / "t.parquet", *asked[2:], "--out", tmp_path / "t.parquet")
    assert "is the table itself" in told(capsys, *own)
    (tmp_path / "link.csv").symlink_to(table)
    assert "is the table itself" in told(capsys, *asked, "--restricted", tmp_path / "link.csv")
    assert table.read_bytes() == before


def test_pictures_of_exact_counts_are_for_their_owner_alone(tmp_path, shell):
    table = tmp_path / "t.csv"
    frame = rb.datasets.synthetic_patients(120, seed=1)
    frame.to_csv(table, index=False)
    asked = (str(table), "--qi", "age,sex", "--plot", str(tmp_path / "classes.svg"))
    assert "drawn from exact counts; it stays in the house" in shell("classes", *asked)[1]
    lattice = ("--plot-lattice", str(tmp_path / "lattice.svg"))
    said = shell("subsets", *asked[:-1], tmp_path / "subsets.svg", *lattice)[1]
    assert said.count("it stays in the house") == 2
    people = rb.read_table(frame, quasi_identifiers=["age", "sex"])
    result = rb.assess("adversary-routes", people, population=5_000)
    grid = {"p_m": [0.1, 0.5]}
    draw_sweep(rb.sweep(result, "right_guess=yes", grid), tmp_path / "sweep.svg")
    rb.whatif.sobol(result).plot(tmp_path / "sobol.svg")
    assert {p.name: mode(p) for p in tmp_path.iterdir() if p.suffix == ".svg"} == dict.fromkeys(
        ("classes.svg", "lattice.svg", "subsets.svg", "sweep.svg", "sobol.svg"), 0o600
    )
    rb.tornado("breakfast").plot(tmp_path / "model.svg")
    assert mode(tmp_path / "model.svg") == 0o666 & ~umask()


# -- one door --------------------------------------------------------------------------------------

PUTS = {"to_csv", "to_json", "to_pickle", "to_excel", "write_text", "write_bytes", "write_parquet",
        "savefig", "tofile", "writelines"}  # fmt: skip
ROOT = Path(rb.__file__).parent


def names_in(*nodes):
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def around_the_door(text):
    """Calls that write a file, and whose path is not what `whole` gave (nor a text in memory)."""
    for made in (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)):
        inside = set()
        for n in ast.walk(made):
            if isinstance(n, ast.withitem) and ast.unparse(n.context_expr).startswith("whole("):
                inside |= names_in(n.optional_vars)
            if isinstance(n, ast.Assign) and ast.unparse(n.value) in (
                "io.BytesIO()",
                "io.StringIO()",
            ):
                inside |= names_in(*n.targets)
        for call in (n for n in ast.walk(made) if isinstance(n, ast.Call)):
            verb = getattr(call.func, "attr", getattr(call.func, "id", ""))
            of = getattr(call.func, "value", call.func)
            modes = [a.value for a in (*call.args, *(k.value for k in call.keywords))
                     if isinstance(a, ast.Constant) and isinstance(a.value, str)]  # fmt: skip
            opens = verb in ("open", "fdopen") and any(
                set(m) <= set("rwaxbt+") and set(m) & set("wax+") for m in modes
            )
            puts = verb in PUTS and isinstance(call.func, ast.Attribute)
            puts |= verb in ("save", "savez") and ast.unparse(of) == "np"
            if opens or (puts and not names_in(of, *call.args) & inside):
                yield ast.unparse(call)


def test_whatever_is_written_goes_through_one_door():
    """A half-written file is one that `whole` did not write."""
    found = {(path.name, call) for path in ROOT.rglob("*.py") if path.name != "writing.py"
             for call in around_the_door(path.read_text())}  # fmt: skip
    assert found == {("__init__.py", "open(os.devnull, 'w')")}


@pytest.mark.parametrize(
    "body",
    ["Path(p).write_text('a')", "open(p, 'w').write('a')", "t.to_csv(p, index=False)",
     "with whole(p) as made:\n        figure.savefig(p)", "np.save(p, x)", "p.open(mode='ab')"],
)  # fmt: skip
def test_what_goes_around_the_door_is_seen(body):
    assert [*around_the_door(f"def f(p):\n    {body}\n")]


@pytest.mark.parametrize("name", ["r.htm", "r.HTML", "r.markdown", "p.pq"])
def test_names_that_mean_one_kind_of_file_are_taken_everywhere(name, tmp_path):
    people = rb.read_table({"sex": list("FM") * 60}, quasi_identifiers=["sex"])
    path = tmp_path / name
    if name == "p.pq":
        rb.recommend(people, target="k=5").write(path)
        assert pd.read_parquet(path)["sex"].tolist() == ["F"] * 60 + ["M"] * 60
        rb.assess("marketer", people).to_restricted(path)
        assert len(pd.read_parquet(path)) == 120
    else:
        text = rb.suda(people).report(path).read_text()
        assert text.startswith("<!DOCTYPE html>" if name.lower()[:4] == "r.ht" else "# ")


def test_a_command_writes_no_file_of_another_kind_than_its_name_says(tmp_path, capsys):
    from reidbn.cli import main

    for call in (["sweep", "breakfast", "breakfast", "p_oats", "--csv", "s.parquet"],
                 ["new", "mine", "-o", "x.html"]):  # fmt: skip
        with pytest.raises(SystemExit) as stopped:
            main(call)
        assert stopped.value.code == 2
        assert "end the name in" in capsys.readouterr().err
