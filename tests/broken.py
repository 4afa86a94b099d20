"""Rewrites the expected messages of tests/broken_models; read every line of the diff."""

from pathlib import Path

import reidbn as rb

FOLDER = Path(__file__).with_name("broken_models")


def message(path: Path) -> str:
    """What loading a broken file says, with the file's bare name."""
    try:
        rb.load(path)
    except rb.ModelError as error:
        return str(error).replace(str(path), path.name) + "\n"
    raise AssertionError(f"{path.name} loads")


def main() -> None:
    for path in sorted(FOLDER.glob("*.yaml")):
        path.with_suffix(".txt").write_text(message(path), encoding="utf-8")


if __name__ == "__main__":
    main()
