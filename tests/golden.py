"""Rewrites the golden answers and the layout of the shipped models; the diff is for review."""

import json
from pathlib import Path

import reidbn as rb
from reidbn.attack import models_folder

FOLDER = Path(__file__).with_name("golden")


def answers(name: str, engine: str = "exact") -> dict:
    """Every question of a model, answered on its example."""
    attack = rb.load(name)
    found = {}
    for question in attack.questions.values():
        target = question.target or f"expect {question.expect}"
        answer = rb.ask(attack, target, given=dict(question.given), engine=engine)
        found[question.name] = {
            "target": target,
            "given": dict(question.given),
            "probability": float(answer),
            "evidence_probability": float(answer.evidence_probability),
        }
    return {"model": name, "answers": found}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.json"):
        if path.stem not in rb.models():
            path.unlink()
    for name in rb.models():
        rb.save(rb.load(name), models_folder() / f"{name}.yaml")  # in the layout that we write
        text = json.dumps(answers(name), indent=2, ensure_ascii=False) + "\n"
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
