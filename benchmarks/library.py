"""The fourteen published adversaries before and after: lines, and numbers written by hand.

    python -m benchmarks.library

Before: as they had to be written without formulas, counting kinds, plates and members with stories
of their own (REIDBN_AUTHORED, or ../shared/authored).  Some models answer more questions now, so
both are cut down to what the questions of before read.  Lines are those of the layout that reidbn
writes, stories, sources, ranges and example data left out.  A number is one in a value, a cell, a
state, a condition, a formula or a plate; 0 and 1 in cells are logic.  Answers differ by at most the
last column.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

import reidbn as rb
from reidbn.attack import models_folder

BEFORE = Path(os.environ.get("REIDBN_AUTHORED", Path(__file__).parents[2] / "shared" / "authored"))
OTHER_NAMES = {"el-emam-context": "el-emam", "family-search": "pedigree", "surname": "gymrek"}
RENAMED = {("synthetic-membership", "risk"): "precision"}
MODELS = [
    "el-emam-context", "motivated-intruder", "jigsaw", "hipaa-expert", "netflix", "mobility",
    "synthetic-membership", "insider-audit", "composition", "linddun-tree", "family-search",
    "surname", "sweeney-voter", "budget",
]  # fmt: skip
WORDS = {"story", "title", "sources", "shelf", "excluded", "where", "example", "linddun",
         "wp216", "five_safes", "schema_version", "name", "questions"}  # fmt: skip
NUMBER = re.compile(r"(?<![\w.$\[])\d+(?:\.\d+)?(?![\w\]])")


def read(path: Path) -> dict[str, Any]:
    reader = YAML(typ="safe", pure=True)  # YAML 1.2, in which yes and no are text
    return json.loads(json.dumps(reader.load(path.read_text(encoding="utf-8"))))


def ancestors(attack, targets) -> set[str]:
    """Nodes and groups from which an answer about these follows."""
    found: set[str] = set()
    left = list(targets)
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        if name in attack.groups:
            left += attack.groups[name].members
            left += attack.groups[name].parents
        else:
            left += attack.all_nodes[name].parents
            left += [g.name for g in attack.groups.values() if name in g.members]
    return found


def fits(template: str, names: set[str]) -> bool:
    pattern = ".+".join(map(re.escape, re.split(r"\[[\w.]+\]", template)))
    return any(re.fullmatch(pattern, name) for name in names)


def cut(path: Path, questions) -> dict[str, Any]:
    """The file with what these questions read, and without words."""
    attack, data = rb.load(path), read(path)
    asked = {n for name in questions for n in named(attack.questions[name])}
    kept = ancestors(attack, asked)
    for part in ("nodes", "groups"):
        data[part] = {n: v for n, v in data.get(part, {}).items() if fits(n, kept)}
    data = {k: without_words(v) for k, v in data.items() if k not in WORDS}
    for part in ("numbers", "parameters", "subject"):  # in the order in which they are read
        rest = json.dumps([v for k, v in data.items() if k != "parameters" or part == "parameters"])
        own = data.get(part, {})
        data[part] = {n: v for n, v in own.items() if used(n, own, rest)}
    return {k: v for k, v in data.items() if v}


def used(name: str, own, rest: str) -> bool:
    read = re.findall(r"\w[\w\[\].]*", rest)
    return sum(name in (word, word.rstrip("]")) or fits(word, {name}) for word in read) > (
        name in own
    )


def named(question) -> Iterator[str]:
    yield question.target.split("=")[0]
    yield from question.given


def without_words(data: Any) -> Any:
    if isinstance(data, dict):
        return {k: "assumption" if k == "source" else without_words(v)
                for k, v in data.items() if k == "source" or k not in WORDS}  # fmt: skip
    return [without_words(x) for x in data] if isinstance(data, list) else data


def lines(data: dict[str, Any]) -> int:
    head = {"schema_version": 1, "name": "x"}
    text = rb.attack.dumps(rb.loads(json.dumps(head | data)))
    return sum(
        not re.match(r"#|schema_version:|name:|\s+(range|unit):", x) for x in text.splitlines()
    )


def numbers(data: Any, *, cell: bool = False) -> int:
    """Numbers written by hand, 0 and 1 in cells left out."""
    if isinstance(data, dict):
        return sum(
            numbers(v, cell=k in ("p", "weights", "leak", "probability") or (cell and k != "when"))
            + (len(NUMBER.findall(k)) if k.isdecimal() else 0)
            for k, v in data.items()
            if k not in ("source", "range", "unit")
        )
    if isinstance(data, list):
        return sum(numbers(x, cell=cell) for x in data)
    if cell and data in (0, 1):
        return 0
    if isinstance(data, str) and re.search(r"[@]|^\$", data):
        return 0
    text = data.replace("..", " ") if isinstance(data, str) else str(data)
    return len(NUMBER.findall(text))


def answer(attack, name: str) -> float:
    question = attack.questions[name]
    return float(rb.ask(attack, question.target, given=dict(question.given)))


def pair(model: str) -> tuple[list[int], float]:
    """Lines before and after, numbers before and after, and by how much answers differ."""
    old_path = BEFORE / f"{OTHER_NAMES.get(model, model)}.yaml"
    new_path = models_folder() / f"{model}.yaml"
    old, new = rb.load(old_path), rb.load(new_path)
    same = {n: RENAMED.get((model, n), n) for n in new.questions}
    same = {n: o for n, o in same.items() if o in old.questions}
    assert {*same.values()} == {*old.questions}, model
    before, after = cut(old_path, same.values()), cut(new_path, same)
    off = max(abs(answer(old, o) - answer(new, n)) for n, o in same.items())
    return [lines(before), lines(after), numbers(before), numbers(after)], off


def main() -> None:
    print("| model | lines before | after | numbers by hand before | after | answers differ by |")
    print("|---|---|---|---|---|---|")
    total = [0, 0, 0, 0]
    worst = 0.0
    for model in MODELS:
        counts, off = pair(model)
        total = [a + b for a, b in zip(total, counts, strict=True)]
        worst = max(worst, off)
        print(f"| {model} | {' | '.join(map(str, counts))} | {off:.1g} |")
    print(f"| all | {' | '.join(map(str, total))} | {worst:.1g} |")


if __name__ == "__main__":
    main()
