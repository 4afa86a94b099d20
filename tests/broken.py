"""Rewrites the expected messages of tests/broken_models and tests/checked_models.

The first are refused when they are loaded; the second load, and `check` finds something.  Read
every line of the diff.
"""

from pathlib import Path

import reidbn as rb

FOLDER = Path(__file__).with_name("broken_models")
CHECKED = Path(__file__).with_name("checked_models")


def message(path: Path) -> str:
    """What loading a broken file says, with the file's bare name."""
    try:
        rb.load(path)
    except rb.ModelError as error:
        return str(error).replace(str(path), path.name) + "\n"
    raise AssertionError(f"{path.name} loads")


def found(path: Path) -> str:
    """What `check` finds in a file that loads, with the file's bare name."""
    rb.load(path)
    lines = [str(problem) for problem in rb.check(path)]
    return "\n".join(lines).replace(str(path), path.name) + "\n"


def main() -> None:
    for folder, say in ((FOLDER, message), (CHECKED, found)):
        for path in sorted(folder.glob("*.yaml")):
            path.with_suffix(".txt").write_text(say(path), encoding="utf-8")


if __name__ == "__main__":
    main()
