"""reidbn check: every problem of every file, and every warning."""

from __future__ import annotations

from typing import Any

import click

from reidbn.cli._options import output_options, print_json
from reidbn.errors import UsageError


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option("--strict", is_flag=True, help="Warnings count: exit 3 for them too.")
@output_options
def check(files: tuple[str, ...], strict: bool, as_json: bool, quiet: bool) -> int:
    """Check models and scenarios, by file or by shipped name: all problems of all at once.

    Every table is built at the ends of every range.  Problems exit with 3; warnings, about what can
    be meant but rarely is, are printed and exit with 0 unless --strict.
    """
    results = [_checked(name, strict=strict) for name in files]
    if as_json:
        print_json(results)
    for result in () if as_json else results:
        for problem in (*result["problems"], *result["warnings"]):
            click.echo(problem["shown"])
        if not result["problems"] and not quiet:
            click.echo(f"{result['file']}: {result['summary']}")
    wrong = [result for result in results if not result["ok"]]
    count = sum(len(result["problems"]) for result in wrong)
    if count > 1 and not as_json:
        click.echo(f"{_some(count, 'problem')} in {_some(len(wrong), 'file')}", err=True)
    return 3 if wrong else 0


def _checked(name: str, *, strict: bool) -> dict[str, Any]:
    import reidbn as rb
    from reidbn.attack.explain import FileProblem

    try:
        found = rb.check(name)
    except UsageError as error:  # no such name: the other files are still checked
        found = (FileProblem((), str(error), file=name),)
    problems = [_as_dict(p) for p in found if not p.is_warning]
    warnings = [_as_dict(p) for p in found if p.is_warning]
    ok = not problems and not (strict and warnings)
    result = {"file": name, "ok": ok, "problems": problems, "warnings": warnings}
    if problems:
        return result
    said = _some(len(warnings), "warning") if warnings else ""
    result["name"], summary = _about(name)
    return result | {"summary": ", ".join(part for part in (summary, said) if part)}


def _about(name: str) -> tuple[str, str]:
    """The name of a sound model or scenario, and what it holds."""
    import reidbn as rb
    from reidbn.inference.checking import is_scenario

    if is_scenario(name):
        return rb.load_scenario(name).name, "a scenario"
    attack = rb.load(name)
    counts = (
        (len(attack.all_nodes), "node"),
        (len(attack.parameters), "parameter"),
        (len(attack.assumptions), "assumption"),
    )
    return attack.name, ", ".join(_some(count, what) for count, what in counts)


def _as_dict(problem: Any) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.line or None,
        "column": problem.column or None,
        "address": problem.address if problem.where else None,
        "message": problem.message,
        "level": problem.level,
        "shown": str(problem),
    }


def _some(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
