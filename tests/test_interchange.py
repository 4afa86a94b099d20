"""Files for other tools carry every number to the last bit, and come back as they went."""

import re
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from conftest import undecided

import reidbn as rb
from reidbn.attack import Attack, Node, dumps, load, loads
from reidbn.cpds import Table, Variable
from reidbn.errors import DataError, ModelError, UsageError
from reidbn.inference import lower, pgmpy_bridge, plain_nodes
from reidbn.inference.interchange import (
    decoded,
    encoded,
    export,
    export_text,
    import_network,
    read_network,
)

FORMATS = ("bif", "xmlbif", "xdsl")
AWKWARD_STATES = (
    "0",
    "very high",
    "20-29",
    "yes",
    "é",
    "a|b",
    "Ω",
    "(x)",
    "<5",
    "//",
    "1e3",
    "a--b",
)


def random_attack(seed):
    """Up to six nodes with one to four awkwardly named states, zeros and tiny numbers included."""
    rng = np.random.default_rng(seed)
    names = ["a", "A", "age", "table", "_x", "n2"]
    nodes, sizes = [], {}
    for i, name in enumerate(names[: int(rng.integers(2, 7))]):
        sizes[name] = int(rng.integers(1, 5))
        states = tuple(rng.choice(AWKWARD_STATES, size=sizes[name], replace=False).tolist())
        before = [n.name for n in nodes]
        parents = tuple(rng.permutation(before)[: int(rng.integers(0, 4))].tolist()) if i else ()
        rows = int(np.prod([sizes[p] for p in parents], initial=1))
        p = rng.dirichlet(np.full(sizes[name], 0.2), size=rows)
        p[rng.random(rows) < 0.2] = np.eye(sizes[name])[0]
        p /= p.sum(axis=1, keepdims=True)
        nodes.append(
            Node(name, states, Table(tuple(map(tuple, p.tolist()))), parents, source="made up")
        )
    return Attack(f"random-{seed}", nodes=nodes)


def same(found, wanted):
    """Equal names, states, parents and, to the last bit, numbers.

    The steps of a gate (gate~1) may stand anywhere, and are written gate_1.
    """
    found, wanted = ({plain(n.name): n for n in nodes} for nodes in (found, wanted))
    assert found.keys() == wanted.keys()
    for name, node in wanted.items():
        assert found[name].states == node.states
        assert [*map(plain, found[name].parents)] == [*map(plain, node.parents)]
        assert np.array_equal(found[name].table, node.table)


def plain(name):
    return name.replace("~", "_")


# -- other readers ---------------------------------------------------------------------------


@pytest.mark.parametrize("model", undecided())
def test_xmlbif_holds_nothing_that_stops_the_parser_of_pyagrum(model):
    """A DOCTYPE with its grammar made pyAgrum 3.3 say that there is no BIF element."""
    text = export_text(model, "xmlbif")
    assert "<!DOCTYPE" not in text
    assert "<!ELEMENT" not in text
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    assert "\n<BIF " in text


@pytest.mark.parametrize(("ending", "digits"), [("bifxml", 1e-15), ("bif", 1e-7)])
@pytest.mark.parametrize("model", undecided())
def test_pyagrum_reads_every_number_in_its_place(model, ending, digits, tmp_path):
    """Of a BIF it keeps single precision, of an XMLBIF every digit."""
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
    nodes = plain_nodes(lower(load(model)))
    if ending == "bif" and min(len(node.states) for node in nodes) < 2:
        pytest.skip("pyAgrum reads no BIF whose node has one state")
    read = gum.loadBN(str(export(model, tmp_path / f"m.{ending}")))
    called = {node.name: "type_" if node.name == "type" else plain(node.name) for node in nodes}
    assert set(read.names()) == {*called.values()}  # type is a word of BIF
    for node in nodes:
        table = read.cpt(called[node.name])
        for label, state in zip(
            read.variable(called[node.name]).labels(), node.states, strict=True
        ):
            pointless = state.replace(".", "_")  # words that pyAgrum reads have no point
            assert label in (state, pointless) or (state[0] == "-" and label.startswith(state[1:]))
        order = [called[name] for name in (*node.parents, node.name)]
        assert set(table.names) == {*order}
        axes = [list(reversed(table.names)).index(name) for name in order]
        found = np.transpose(table.toarray(), axes)
        assert found == pytest.approx(node.table, abs=digits)


# -- round trips -----------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("model", undecided())
def test_every_shipped_model_comes_back_from_a_file_to_the_last_bit(model, format, tmp_path):
    path = export(model, tmp_path / f"m.{format}")
    same(plain_nodes(lower(import_network(path))), plain_nodes(lower(load(model))))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(20))
def test_random_networks_with_awkward_names_come_back_to_the_last_bit(seed, format, tmp_path):
    attack = random_attack(seed)
    path = export(attack, tmp_path / f"m.{format}")
    again = import_network(path)
    same(plain_nodes(lower(again)), plain_nodes(lower(attack)))
    assert export_text(again, format).split("\n")[4:] != []
    same(plain_nodes(lower(import_network(export(again, tmp_path / f"n.{format}")))),
         plain_nodes(lower(attack)))  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_a_network_goes_through_pgmpy_and_comes_back_to_the_last_bit(seed):
    attack = random_attack(seed)
    same(plain_nodes(lower(import_network(attack.to_pgmpy()))),
         plain_nodes(lower(attack)))  # fmt: skip


@pytest.mark.parametrize("model", undecided())
def test_every_shipped_model_goes_through_pgmpy_and_comes_back(model):
    attack = load(model)
    again = import_network(attack.to_pgmpy())
    same(plain_nodes(lower(again)), plain_nodes(lower(attack)))


@pytest.mark.parametrize("seed", range(5))
def test_an_imported_attack_is_saved_as_a_model_file_and_read_again(seed):
    attack = import_network(random_attack(seed).to_pgmpy(), name="imported")
    again = loads(dumps(attack))
    assert again == attack
    same(plain_nodes(lower(again)), plain_nodes(lower(attack)))


def xml_of(attack):
    return fromstring(export_text(attack, "xdsl").encode())  # noqa: S314 - our own text


# -- other readers read our files --------------------------------------------------------------


@pytest.mark.parametrize(
    "seed", [1, 8, *(pytest.param(s, marks=pytest.mark.slow) for s in range(9, 25))]
)
def test_pgmpy_reads_our_bif_and_xmlbif_with_every_number_in_its_place(seed, tmp_path):
    from pgmpy.readwrite import BIFReader, XMLBIFReader

    attack = random_attack(seed)
    wanted = plain_nodes(lower(attack))
    for reader, format in ((BIFReader, "bif"), (XMLBIFReader, "xmlbif")):
        text = export_text(attack, format)
        model = reader(string=text).get_model()
        assert len(model.nodes()) == len(wanted)
        names = dict(zip((n.name for n in wanted), written_names(text, format), strict=True))
        for node in wanted:
            cpd = model.get_cpds(names[node.name])
            assert cpd.variables[1:] == [names[p] for p in node.parents]
            assert np.array_equal(np.moveaxis(cpd.values, 0, -1), node.table)


def written_names(text, format):
    pattern = r"^variable (\S+) \{" if format == "bif" else r"<VARIABLE[^>]*>\s*<NAME>([^<]+)<"
    return re.findall(pattern, text, re.M)


@pytest.mark.parametrize("seed", range(8))
def test_names_in_files_are_plain_and_unique_whatever_their_case(seed):
    for format in ("bif", "xmlbif"):
        names = written_names(export_text(random_attack(seed), format), format)
        assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", n) for n in names)
        assert len({n.lower() for n in names}) == len(names)
    root = xml_of(random_attack(seed))
    for element in [*root.iter("cpt"), *root.iter("state")]:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", element.get("id"))


def test_comments_carry_parameters_with_their_sources():
    for format in FORMATS:
        text = export_text("leak-single", format, set={"leaked": 1000})
        assert "parameter records = 10000" in text
        assert "[Antoniou22] section 3.1, D = 10,000" in text
        assert "parameter leaked = 1000 (0 to 10000 records); source: changed" in text


# -- GeNIe -------------------------------------------------------------------------------------

# What GeNIe itself writes for the node dysp of Asia: absent is the first state of all three.
GENIE_ASIA = """<?xml version="1.0" encoding="ISO-8859-1"?>
<smile version="1.0" id="Asia" numsamples="1000">
  <nodes>
    <cpt id="either"><state id="Nothing" /><state id="CancerORTuberculosis" />
      <probabilities>0.935 0.065</probabilities></cpt>
    <cpt id="bronc"><state id="Absent" /><state id="Present" />
      <probabilities>0.55 0.45</probabilities></cpt>
    <cpt id="dysp"><state id="Absent" /><state id="Present" />
      <parents>either bronc</parents>
      <probabilities>0.9 0.1 0.2 0.8 0.3 0.7 0.1 0.9</probabilities></cpt>
  </nodes>
</smile>
"""


def test_xdsl_is_read_and_written_as_genie_does_with_the_last_parent_fastest(tmp_path):
    path = tmp_path / "asia.xdsl"
    path.write_text(GENIE_ASIA)
    attack = import_network(path)
    p = {
        (e, b): float(rb.ask(attack, "dysp=Present", given={"either": e, "bronc": b}))
        for e in ("Nothing", "CancerORTuberculosis") for b in ("Absent", "Present")
    }  # fmt: skip
    assert list(p.values()) == pytest.approx([0.1, 0.8, 0.7, 0.9], abs=1e-15)
    # Bronchitis alone is what makes .8; with the parents reversed it would be .7.
    assert p["Nothing", "Present"] == pytest.approx(0.8, abs=1e-15)
    root = xml_of(attack)
    dysp = next(c for c in root.iter("cpt") if c.get("id") == "dysp")
    assert dysp.findtext("parents") == "either bronc"
    assert dysp.findtext("probabilities") == "0.9 0.1 0.2 0.8 0.3 0.7 0.1 0.9"


def test_pgmpy_reads_our_xdsl_alike():
    from pgmpy.readwrite import XDSLReader

    attack = load("leak-single")
    model = XDSLReader(string=export_text(attack, "xdsl").encode()).get_model()
    for node in plain_nodes(lower(attack)):
        cpd = model.get_cpds(node.name)
        assert np.array_equal(np.moveaxis(cpd.values, 0, -1), node.table)


def test_every_xdsl_node_has_a_place_of_its_own():
    root = xml_of("adversary-routes")
    boxes = [tuple(map(int, p.text.split())) for p in root.iter("position")]
    assert len(boxes) == len(list(root.iter("cpt")))
    for i, (l1, t1, r1, b1) in enumerate(boxes):
        for l2, t2, r2, b2 in boxes[:i]:
            assert r1 < l2 or r2 < l1 or b1 < t2 or b2 < t1


def test_other_kinds_of_genie_nodes_are_refused_by_name(tmp_path):
    path = tmp_path / "n.xdsl"
    noisy = GENIE_ASIA.replace('<cpt id="bronc">', '<noisymax id="bronc">')
    path.write_text(noisy.replace("0.55 0.45</probabilities></cpt>", "</noisymax>").replace(
        "<probabilities></noisymax>", "</noisymax>"))  # fmt: skip
    with pytest.raises(ModelError, match="bronc is a noisymax node; only plain cpt nodes"):
        import_network(path)


# -- what other tools write --------------------------------------------------------------------

DOG = """
network "Dog-Problem" { //5 variables in the original
  property "credal-set constant-density-bounded 1.1" ;
}
variable "light-on" {
  type discrete[2] {  "true"  "false" };
  property position = (218, 195) ;
}
variable "family-out" { type discrete[2] { "true" "false" }; }
/* the oldest dialect: no bar,
   blanks between names */
probability ( "light-on" "family-out" ) {
  table 0.6 0.05 0.4 0.95 ;
}
probability ( "family-out" ) { table 0.15 0.85; }
"""


def test_the_oldest_bif_dialect_is_read(tmp_path):
    path = tmp_path / "dog.bif"
    path.write_text(DOG)
    found = read_network(path)
    assert found.names == {"light_on": "light-on", "family_out": "family-out"}
    assert float(rb.ask(found.attack, "light_on=true", given={"family_out": "false"})) == 0.05
    assert 'light_on was "light-on"' in found.attack.story
    assert found.attack.sources == ("imported from dog.bif",)
    assert found.attack.nodes["light_on"].story == 'Called "light-on" there'


def test_default_rows_and_rows_in_any_order_are_read(tmp_path):
    path = tmp_path / "d.bif"
    path.write_text(
        "network d { }\nvariable a { type discrete [ 3 ] { x, y, z }; }\n"
        "variable b { type discrete [ 2 ] { no, yes }; }\n"
        "probability ( a ) { table 0.5, 0.25, 0.25; }\n"
        "probability ( b | a ) { ( z ) 0.1, 0.9; default 0.75, 0.25; }\n"
    )
    assert import_network(path).nodes["b"].cpd.p == ((0.75, 0.25), (0.75, 0.25), (0.1, 0.9))


def test_blanks_in_names_as_pgmpy_writes_them_are_read(tmp_path):
    from pgmpy.readwrite import BIFWriter

    model = pgmpy_bridge.pgmpy().DiscreteBayesianNetwork([("lung cancer", "x ray")])
    states = ["very low", "quite high"]
    model.add_cpds(pgmpy_bridge.tabular("lung cancer", states, {}, np.array([0.9, 0.1])))
    model.add_cpds(
        pgmpy_bridge.tabular(
            "x ray", states, {"lung cancer": states}, np.array([[0.8, 0.2], [0.3, 0.7]])
        )
    )
    path = tmp_path / "lung.bif"
    path.write_text(str(BIFWriter(model)))
    attack = import_network(path)
    assert attack.nodes["x_ray"].states == ("very low", "quite high")
    assert attack.nodes["x_ray"].cpd.p == ((0.8, 0.2), (0.3, 0.7))


def test_whole_numbers_and_booleans_of_a_pgmpy_model_become_states_and_are_reported():
    model = pgmpy_bridge.pgmpy().DiscreteBayesianNetwork([("a b", 3)])
    model.add_cpds(pgmpy_bridge.tabular("a b", [True, False], {}, np.array([0.25, 0.75])))
    table = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    model.add_cpds(pgmpy_bridge.tabular(3, [1, 2, "1"], {"a b": [True, False]}, table))
    found = read_network(model)
    assert found.names == {"a_b": "a b", "n3": 3}
    assert found.states == {"a_b": {"yes": True, "no": False}, "n3": {"1_2": 1, "2": 2}}
    assert found.attack.nodes["n3"].states == ("1_2", "2", "1")
    assert np.array_equal(lower(found.attack).factors["n3"].table[0, 0], table)
    theirs = pgmpy_bridge.joint(model, [3], {"a b": True})
    ours = rb.ask(found.attack, "n3", given={"a_b": "yes"}).probability * 0.25
    assert ours == pytest.approx(theirs, abs=1e-16)


X = "variable x { type discrete [ 2 ] { a, b }; } "
TEN_BY_TEN = "".join(
    f"variable v{i} {{ type discrete [ 10 ] {{ a, b, c, d, e, f, g, h, i, j }}; }}"
    for i in range(8)
)
XML_X = "<BIF><NETWORK><VARIABLE><NAME>x</NAME><OUTCOME>a</OUTCOME></VARIABLE>"

# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.bif", "variable x { type discrete [ 2 ] { a, b }; }", "no probability block for x"),
        ("a.bif", "netwrok x { }", '"netwrok" starts no block'),
        ("a.bif", "variable x { type discrete [ 2 ] { a, b };", "ends in the middle of a block"),
        ("a.bif", "variable x { property p = 1 ; }", "variable x has no states"),
        ("a.bif", "network x { }\nprobability ( y ) { table 1; }", r'a.bif:2: no variable "y"'),
        ("a.bif", X + "probability ( x ) { table 1; }",
         "has 1 numbers; 2 belong here"),
        ("a.bif", X + "probability ( x ) { table 1, z; }",
         "holds something that is no number"),
        ("a.bif", X + "probability ( x ) { table 1, nan; }",
         "have no row"),
        ("a.bif", X + "probability ( x ) { table 2, -1; }",
         "the table of x holds something that is no probability"),
        ("a.bif", X + "probability ( x ) { table .5 .4; }",
         "sum to 1 only within 0.1; they must within 1e-12, or be rescaled with normalise=True"),
        ("a.bif", 'variable x { type discrete [ 2 ] { a, b " }; }', "cannot read"),
        ("a.bif", X + 2 * "probability ( x ) { table .5 .5; }", "x has a second probability block"),
        ("a.bif", TEN_BY_TEN + "probability ( v0 | v1, v2, v3, v4, v5, v6, v7 ) { }",
         "has 100,000,000 numbers; at most"),
        ("a.xml", "<BIF><NETWORK>", "not well-formed XML"),
        ("a.xml", "<BIF></BIF>", "no NETWORK element"),
        ("a.xml", '<!DOCTYPE x [<!ENTITY a "b">]><BIF></BIF>', "declares XML entities"),
        ("a.xml", "<BIF><NETWORK><VARIABLE></VARIABLE></NETWORK></BIF>", "a VARIABLE has no NAME"),
        ("a.xml", XML_X + "</NETWORK></BIF>",
         "no DEFINITION of x"),
        ("a.xml", XML_X + "<DEFINITION><FOR>x</FOR><GIVEN>y</GIVEN><TABLE>1</TABLE></DEFINITION>"
         "</NETWORK></BIF>",
         'no VARIABLE "y" with states'),
        ("a.xdsl", "<smile></smile>", "no nodes element"),
        ("a.xdsl", '<smile><nodes><cpt id="x"><state id="a"/><state id="b"/>'
         "<probabilities>1</probabilities></cpt></nodes></smile>", "has 1 numbers; 2 belong here"),
    ],
)  # fmt: skip
def test_a_broken_network_file_is_refused_with_where_and_what(name, text, message, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ModelError, match=message):
        import_network(path)


def test_unknown_endings_files_and_formats_get_a_clear_word(tmp_path):
    with pytest.raises(UsageError, match=r"use one of \.bif"):
        import_network(tmp_path / "x.net")
    with pytest.raises(UsageError, match="no file"):
        import_network(tmp_path / "x.bif")
    with pytest.raises(UsageError, match=r"the ending says no format"):
        export("leak-single", tmp_path / "x.net")
    with pytest.raises(UsageError, match='no format "biff"; did you mean "bif"'):
        export("leak-single", tmp_path / "x.bif", format="biff")
    (tmp_path / "y.bif").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not UTF-8"):
        import_network(tmp_path / "y.bif")


def test_a_file_holds_one_subject_at_one_setting():
    with pytest.raises(UsageError, match="1 subjects and 2 settings"):
        export_text("leak-single", "bif", set={"leaked": [1, 2]})


def test_rescaling_is_asked_for_and_then_exact(tmp_path):
    path = tmp_path / "r.bif"
    path.write_text("variable x { type discrete [ 2 ] { a, b }; } probability ( x ) { table 1 3; }")
    assert import_network(path, normalise=True).nodes["x"].cpd.p == ((0.25, 0.75),)


# -- the table itself ----------------------------------------------------------------------------


def test_a_table_says_what_is_wrong_with_it_row_by_row():
    yes_no = Variable("x")
    parent = Variable("a", ("0", "1"))
    assert [str(p) for p in Table(((0.5, 0.5),)).problems(yes_no, (parent,))] == [
        "p  has 1 rows for 2 configurations of the parents"
    ]
    found = Table(((0.5, 0.4), (1.5, -0.5), (1.0,))).problems(
        yes_no, (Variable("a", ("0", "1", "2")),)
    )
    assert [str(p) for p in found] == [
        "p[0]  sums to 0.9, not 1 (short by 0.1)",
        "p[1]  holds something that is no probability: every number lies between 0 and 1",
        "p[2]  has 1 numbers for 2 states",
    ]


def test_words_with_any_sign_survive_the_encoding():
    words = ["a b", "20-29", "ß|x", "--", "100%", "a=b", "é"]
    assert decoded(encoded(words)) == words
    assert not re.search(r"[-;=\"{}()<>&]", encoded(words))


def test_dot_names_every_card_arrow_and_source():
    text = export_text("adversary-routes", "dot")
    assert text.count(" -> ") == 11
    assert "knows_birth" in text
    assert '"known"' in text
    assert "[Xia21] Table 4, middle setting" in text
    assert text == export_text("adversary-routes", "dot")
