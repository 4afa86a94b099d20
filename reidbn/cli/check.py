"""reidbn check: every problem of every file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from reidbn.cli._options import output_options, print_json
from reidbn.errors import ModelError, UsageError


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@output_options
def check(files: tuple[str, ...], as_json: bool, quiet: bool) -> int:
    """Check models and scenarios, by file or by shipped name: all problems of all at once."""
    results = [_checked(name) for name in files]
    if as_json:
        print_json(results)
    for result in () if as_json else results:
        if result["problems"]:
            click.echo("\n".join(problem["shown"] for problem in result["problems"]))
        elif not quiet:
            click.echo(f"{result['file']}: {result['summary']}")
    wrong = [result for result in results if result["problems"]]
    count = sum(len(result["problems"]) for result in wrong)
    if wrong and not as_json and count > 1:
        click.echo(f"{_some(count, 'problem')} in {_some(len(wrong), 'file')}", err=True)
    return 3 if wrong else 0


def _checked(name: str) -> dict[str, Any]:
    from reidbn.attack.fileproblem import FileProblem
    from reidbn.attack.modelfile import load
    from reidbn.attack.scenariofile import load_scenario

    try:
        if _is_scenario(name):
            scenario = load_scenario(name)
            return _fine(name, scenario.name, "a scenario")
        attack = load(name)
    except ModelError as error:
        return {"file": name, "ok": False, "problems": [_as_dict(p) for p in error.problems]}
    except UsageError as error:  # no such name: the other files are still checked
        problem = FileProblem((), str(error), file=name)
        return {"file": name, "ok": False, "problems": [_as_dict(problem)]}
    summary = ", ".join(
        _some(count, what)
        for count, what in (
            (len(attack.all_nodes), "node"),
            (len(attack.parameters), "parameter"),
            (len(attack.assumptions), "assumption"),
        )
    )
    return _fine(name, attack.name, summary)


def _fine(file: str, name: str, summary: str) -> dict[str, Any]:
    return {"file": file, "ok": True, "name": name, "summary": summary, "problems": []}


def _is_scenario(name: str) -> bool:
    """A shipped scenario, or a file that says so of itself."""
    from reidbn.attack.modelfile import read_text
    from reidbn.attack.scenariofile import scenarios

    path = Path(name)
    if name in scenarios() or not path.is_file():
        return name in scenarios()
    return re.search(r"^kind: *scenario *$", read_text(path), re.MULTILINE) is not None


def _as_dict(problem: Any) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line or None,
        "column": problem.column or None,
        "address": problem.address if problem.where else None,
        "message": problem.message,
        "shown": str(problem),
    }


def _some(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
