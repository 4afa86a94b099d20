"""What is too large, endless or no file at all is refused before anything is allocated."""

import gzip
import os
import time

import pytest
from inside import inside

import reidbn as rb

HALF = rb.cpd.Rows((rb.cpd.Row((0.5, 0.5)),))


def node(name, parents=(), cpd=HALF, states=("no", "yes")):
    return rb.Node(name, states, cpd, tuple(parents), source="me")


def chain(length):
    return rb.Attack("a", nodes=[node(f"n{i}", [f"n{i - 1}"] if i else []) for i in range(length)])


def test_sixty_four_parents_are_priced_before_anything_is_made():
    parents = [node(f"p{i}") for i in range(64)]
    names = [p.name for p in parents]
    plain = rb.Attack("a", nodes=[*parents, node("x", names)])
    with pytest.raises(rb.errors.TooLarge, match=r"36,893,488,147,419,103,232 numbers"):
        rb.ask(plain, "x=yes")
    gate = rb.Attack("a", nodes=[*parents, node("x", names, rb.cpd.Or())])
    assert rb.ask(gate, "x=no", given={"p1": "no"}).probability == pytest.approx(0.5**63)


def test_two_nodes_of_a_hundred_thousand_states_are_priced_at_once():
    states = [f"s{i}" for i in range(100_000)]
    nodes = [node(n, p, rb.cpd.Uniform(), states) for n, p in (("u", ()), ("v", ("u",)))]
    attack = rb.Attack("a", nodes=nodes)
    with pytest.raises(rb.errors.TooLarge, match="10,000,000,000 numbers"):
        rb.ask(attack, "v=s5")


def test_a_long_story_is_refused_before_its_order_is_looked_for(monkeypatch):
    monkeypatch.setattr(inside(rb.inference.exact.contract), "MOST_TABLES", 50)
    assert float(rb.ask(chain(50), "n49=yes").probability) == 0.5
    with pytest.raises(rb.errors.TooLarge, match=r"51 tables.*sampling"):
        rb.ask(chain(51), "n50=yes")


def test_names_given_twice_among_thousands_are_found_in_no_time():
    start = time.process_time()
    with pytest.raises(rb.errors.ModelError, match="twice"):
        rb.Attack("a", nodes=[*chain(8_000).nodes.values(), node("n5")])
    with pytest.raises(rb.errors.ModelError, match="twice"):
        rb.Attack("a", nodes=[node("x", (), rb.cpd.Uniform(), [*map(str, range(30_000)), "7"])])
    assert time.process_time() - start < 30  # 2 s; tens of minutes where all pairs were compared


def test_a_picture_of_hundreds_of_nodes_is_refused_with_a_way_out():
    with pytest.raises(rb.errors.TooLarge, match="Graphviz"):
        rb.draw(chain(500))


@pytest.mark.parametrize("table", ["table 0.5, 0.5", "default 0.5, 0.5"])
def test_a_network_file_with_sixty_three_parents_is_priced(tmp_path, table):
    lines = [f"variable p{i} {{\n type discrete [ 2 ] {{ no, yes }};\n}}" for i in range(64)]
    lines += [f"probability ( p{i} ) {{\n table 0.5, 0.5;\n}}" for i in range(63)]
    lines.append(f"probability ( p63 | {', '.join(f'p{i}' for i in range(63))} ) {{\n {table};\n}}")
    (tmp_path / "x.bif").write_text("network x {\n}\n" + "\n".join(lines) + "\n")
    with pytest.raises(rb.errors.ModelError, match=r"18,446,744,073,709,551,616 numbers"):
        rb.import_network(tmp_path / "x.bif")


READERS = {
    ".yaml": rb.load,
    ".bif": rb.import_network,
    ".csv": rb.microdata.read_hierarchy,
    ".tsv": rb.register,
    "table.csv": lambda path: rb.read_table(path, quasi_identifiers=["a"]),
    "count.csv": lambda path: rb.contingency(path, ["a"]),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    path = tmp_path / f"x{name}"
    os.mkfifo(path)
    with pytest.raises(rb.ReidbnError, match=r"pipe|no file"):
        READERS[name](path)


@pytest.mark.parametrize("reader", ["table.csv", "count.csv"])
def test_a_bomb_is_refused_and_a_packed_table_is_not(tmp_path, monkeypatch, reader):
    monkeypatch.setattr(inside(rb.microdata.contingency), "MOST_UNPACKED", 0, raising=False)
    files = inside(inside(rb.read_table).source_of)
    monkeypatch.setattr(inside(files.code_csv), "MOST_UNPACKED", 0)
    bomb, table = tmp_path / "b.csv.gz", tmp_path / "t.csv.gz"
    bomb.write_bytes(gzip.compress(b"a\n" + b"1\n" * 2_000_000))
    with pytest.raises(rb.errors.DataError, match="unpacks to more than"):
        READERS[reader](bomb)
    rows = "\n".join(str(i * 7919 % 1_000) for i in range(20_000))
    table.write_bytes(gzip.compress(f"a\n{rows}\n".encode()))
    assert READERS[reader](table)


def test_what_memory_does_not_hold_goes_to_a_private_folder_that_is_removed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spill = tmp_path / "spill"
    seen = []
    duck = inside(rb.microdata.collapse)
    made = duck.tempfile.mkdtemp

    def watched(**options):
        seen.append(made(**options))
        assert os.stat(seen[-1]).st_mode & 0o777 == 0o700
        return seen[-1]

    monkeypatch.setattr(duck.tempfile, "mkdtemp", watched)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n1,3\n")
    rb.contingency(tmp_path / "t.csv", ["a"])
    rb.contingency(tmp_path / "t.csv", ["a"], temp_directory=spill)
    assert len(seen) == 2
    assert seen[1].startswith(str(spill))
    assert not any(map(os.path.exists, seen))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["spill", "t.csv"]
    assert spill.stat().st_mode & 0o777 == 0o700


def test_far_too_many_changes_and_draws_are_refused_before_any_is_made():
    """Names of n changes were held against each other n times n; 268 million draws were taken."""
    looked = []

    def changes():
        for i in range(10**9):
            looked.append(i)
            yield {"p_c": 0.1}

    with pytest.raises(rb.TooLarge, match=r"more than 100,000 changes.*\{parameter: \[values\]\}"):
        rb.sweep("adversary-routes", "risk", changes())
    assert len(looked) == 100_001
    twenty_thousand = rb.sweep("adversary-routes", "risk", [{"p_c": 0.1}] * 20_000)  # .8 CPU s
    assert len(twenty_thousand) == 20_000
    with pytest.raises(rb.TooLarge, match="4 parameters are too many; take draws=25,000,000"):
        rb.uncertainty("adversary-routes", "risk", draws=10**8)
