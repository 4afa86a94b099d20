"""What the installed product is made of, as CycloneDX 1.5: `make sbom` writes sbom.json."""

import json
import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needs(name: str) -> set[str]:
    """What a package needs here, without its extras."""
    from packaging.requirements import Requirement

    found = map(Requirement, distribution(name).requires or ())
    return {
        plain(r.name) for r in found if r.marker is None or r.marker.evaluate({"extra": ""})
    }  # fmt: skip


def closure(root: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    todo = [root]
    while todo:
        name = todo.pop()
        if name not in found:
            try:
                found[name] = needs(name)
            except PackageNotFoundError:
                sys.exit(f"{name} is needed and not installed: make setup")
            todo += found[name]
    return found


def hashes() -> dict[str, list[str]]:
    """The digests that the lock allows, by name and version."""
    found: dict[str, list[str]] = {}
    for block in re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text()):
        if start := re.match(r"(\S+)==(\S+)", block):
            found[f"{plain(start[1])}@{start[2]}"] = re.findall(r"--hash=sha256:(\w+)", block)
    return found


def component(name: str, locked: dict[str, list[str]]) -> dict[str, object]:
    meta = distribution(name).metadata
    version = meta["Version"]
    licence = meta.get("License-Expression") or next(
        (c.rpartition(" :: ")[2] for c in meta.get_all("Classifier") or () if "License ::" in c),
        (meta.get("License") or "not stated").splitlines()[0],
    )
    return {
        "type": "library", "bom-ref": f"pkg:pypi/{name}@{version}", "name": name,
        "version": version, "purl": f"pkg:pypi/{name}@{version}",
        "licenses": [{"license": {"name": licence}}],
        "externalReferences": [
            {"type": "distribution", "url": f"pkg:pypi/{name}@{version}",
             "hashes": [{"alg": "SHA-256", "content": h} for h in locked[f"{name}@{version}"]]}
        ] if f"{name}@{version}" in locked else [],
    }  # fmt: skip


def bill() -> dict[str, object]:
    tree, locked = closure("reidbn"), hashes()
    parts = {name: component(name, locked) for name in sorted(tree)}
    refs = {name: part["bom-ref"] for name, part in parts.items()}
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": parts.pop("reidbn")},
        "components": list(parts.values()),
        "dependencies": [
            {"ref": refs[name], "dependsOn": [refs[n] for n in sorted(needed)]}
            for name, needed in sorted(tree.items())
        ],
    }  # fmt: skip


if __name__ == "__main__":
    (ROOT / "sbom.json").write_text(json.dumps(bill(), indent=1) + "\n")
    print("sbom.json")  # noqa: T201
