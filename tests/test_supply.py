"""What the product is made of, and that it keeps to itself."""

import re
import subprocess
import sys
import textwrap
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import sbom

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CORE = [sbom.plain(re.split(r"[<>=]", need)[0]) for need in PROJECT["dependencies"]]


def test_the_bill_lists_every_part_with_version_licence_and_digest():
    bill = sbom.bill()
    parts = {part["name"]: part for part in bill["components"]}
    assert set(CORE) <= set(parts)
    assert not {"pytest", "ruff", "mypy"} & set(parts)
    for name, part in parts.items():
        assert part["version"] == distribution(name).version
        assert part["licenses"][0]["license"]["name"] != "not stated"
    if all(f"{n}@{p['version']}" in sbom.hashes() for n, p in parts.items()):  # set up by the lock
        assert all(part["externalReferences"][0]["hashes"] for part in parts.values())
    known = {part["bom-ref"] for part in [*parts.values(), bill["metadata"]["component"]]}
    assert {d["ref"] for d in bill["dependencies"]} == known
    assert {ref for d in bill["dependencies"] for ref in d["dependsOn"]} <= known


def test_the_licence_that_is_named_is_there():
    assert PROJECT["license"] == "Apache-2.0"
    assert (
        "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text()
    )


@pytest.mark.parametrize(
    "name", re.findall(r"`(tests/\w+\.py)`", (ROOT / "SECURITY.md").read_text())
)
def test_every_promise_names_a_test_that_is_there(name):
    assert (ROOT / name).exists()


@pytest.mark.wide
def test_nothing_goes_over_the_network(tmp_path):
    """pgmpy brings HTTP clients: they are not even loaded before it is asked, and never called."""
    script = f"""
        import sys
        def listen(event, arguments):
            if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"):
                raise SystemExit(f"{{event}} {{arguments}}")
        sys.addaudithook(listen)
        import reidbn as rb
        people = rb.read_table(rb.datasets.synthetic_patients(200, seed=1),
                               quasi_identifiers=["age", "sex", "state"])
        result = rb.assess("adversary-routes", people, population=100_000)
        rb.tornado("leak-single")
        light = "pgmpy" not in sys.modules
        assert light, "pgmpy is loaded before it is asked"
        clients = {{"httpx", "requests", "huggingface_hub", "aiohttp"}} & set(sys.modules)
        assert not clients, clients
        result.report({str(tmp_path / "r.html")!r})  # with its cross-check
        rb.leak.assess(people, leaked=20).report({str(tmp_path / "l.html")!r})
        assert "pgmpy" in sys.modules
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
