"""Which threats are modelled, by which node, and which are excluded because of what."""

import json

import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli import reidbn

TREE = """\
schema_version: 1
name: tree
shelf: linkage
excluded:
  Non-repudiation: The table holds no actions of a person
  Inference: No secret is guessed
nodes:
  access: {cpd: {kind: uniform}, linddun: [L.1, identifiability], five_safes: [settings]}
  linked: {parents: [access], cpd: {kind: and}, linddun: [Linking], wp216: [linking, Singling out]}
"""


def test_a_threat_is_modelled_excluded_or_open():
    tree = rb.loads(TREE)
    found = rb.coverage([tree, "breakfast"])
    frame = found.to_frame().set_index(["framework", "threat", "model"])
    status = frame["status"]
    assert frame.loc[("linddun", "Linking", "tree"), "nodes"] == "access, linked"
    assert status[("linddun", "Identifying", "tree")] == "modelled"
    assert status[("linddun", "Non-repudiation", "tree")] == "excluded"
    assert frame.loc[("linddun", "Non-repudiation", "tree"), "reason"].startswith("The table holds")
    assert status[("linddun", "Detecting", "tree")] == "open"
    assert status[("linddun", "Detecting", "breakfast")] == "modelled"
    assert status[("wp216", "Linkability", "tree")] == "modelled"
    assert status[("wp216", "Inference", "tree")] == "excluded"
    assert status[("five_safes", "Safe settings", "tree")] == "modelled"
    assert len(frame) == 2 * (7 + 3 + 5)
    assert "Detecting" not in found.open
    assert "Unawareness and unintervenability" in found.open
    assert "Inference" in found.not_modelled
    assert "Inference" not in found.open
    assert {*rb.coverage(["leak-single"]).to_frame()["framework"]} == {"linddun"}
    assert rb.coverage().models == tuple(rb.load(name).name for name in rb.models())


def test_the_tags_are_kept_and_told_apart():
    tree = rb.loads(TREE)
    assert rb.loads(rb.attack.dumps(tree)) == tree
    assert tree.shelf == "linkage"
    assert tree != tree.replace(excluded={})
    assert tree.warnings == ()
    variant = rb.loads(
        "schema_version: 1\nname: v\nextends: breakfast\nexcluded: {Detecting: Not here}\n"
    )
    assert [p.message for p in variant.warnings] == [
        "is excluded here, and node overheard models it; say one of them"
    ]


SLIPS = {
    "linddun": ("[Linking]", "[Linkin]", 'is no LINDDUN threat type; did you mean "Linking"?'),
    "wp216": (
        "linking, ",
        "singeling out, ",
        'is no risk of [WP216]; did you mean "Singling out"?',
    ),
    "safes": ("[settings]", "[Safe place]", "is no safe of the five [Desai16]"),
    "excluded": ("Non-repudiation:", "Non-reputation:", 'did you mean "Non-repudiation"?'),
    "both": ("Inference:", "Linkability:", "is excluded here, and node linked models it"),
}


@pytest.mark.parametrize(("old", "new", "said"), SLIPS.values(), ids=list(SLIPS))
def test_a_word_that_is_no_threat_is_warned_about(old, new, said):
    assert old in TREE
    warnings = rb.loads(TREE.replace(old, new)).warnings
    assert any(said in p.message and p.is_warning for p in warnings), warnings


def test_a_reason_is_needed():
    with pytest.raises(rb.ModelError, match="without a reason"):
        rb.loads(TREE.replace("No secret is guessed", '""'))


def test_the_shell_tells_and_draws_it(tmp_path):
    path, picture = tmp_path / "tree.yaml", tmp_path / "coverage.svg"
    path.write_text(TREE)
    run = CliRunner().invoke
    told = run(reidbn, ["coverage", str(path), "breakfast", "--plot", str(picture)])
    assert told.exit_code == 0, told.output
    assert "tree: Non-repudiation excluded: The table holds no actions of a person" in told.output
    assert "tree: Linking by access, linked" in told.output
    assert picture.read_text().count("Safe settings") == 1
    data = json.loads(run(reidbn, ["coverage", "breakfast", "--json"]).output)
    assert data["models"] == ["breakfast"]
    assert len(data["entries"]) == 7
    assert run(reidbn, ["coverage"]).exit_code == 0
    listed = run(reidbn, ["models"])
    assert "breakfast" in listed.output


def test_what_cannot_be_covered_is_refused():
    with pytest.raises(rb.UsageError, match="two of the models are called breakfast"):
        rb.coverage(["breakfast", "breakfast"])
    with pytest.raises(rb.UsageError, match="no model is named"):
        rb.coverage([])
