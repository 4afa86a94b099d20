"""reidbn check: every problem of every file, and every warning."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import sleep, strftime
from typing import Any

import click

from reidbn.cli._options import output_options, print_json
from reidbn.errors import UsageError

TABLE = re.compile(r"\.(csv|tsv|parquet|pq|arrow|feather)(\.gz)?$", re.IGNORECASE)
PAUSE = 0.5  # seconds between two looks at the files


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option("--strict", is_flag=True, help="Warnings count: exit 2 for them too.")
@click.option("--draw", metavar="FILE", help="The picture of the one model, when it is sound.")
@click.option("--watch", is_flag=True, help="Again after every change, until Ctrl-C.")
@output_options
def check(
    files: tuple[str, ...], strict: bool, draw: str | None, watch: bool, as_json: bool, quiet: bool
) -> int:
    """Check models and scenarios, by file or by shipped name: all problems of all at once.

    Every table is built at the ends of every range.  Problems exit with 2; warnings, about what can
    be meant but rarely is, are printed and exit with 0 unless --strict.  With --watch all of it is
    done again, the picture too, when one of the files changes, or another model in its folder.
    """
    if draw and len(files) != 1:
        raise UsageError(f"--draw is the picture of one model, and {len(files)} files are named")
    for name in files:
        if TABLE.search(name):
            raise UsageError(
                f"{name} is a table, and check is for models and scenarios: reidbn subsets {name} "
                "--qi COLUMN,COLUMN says what its columns do, reidbn assess what the risk is"
            )
    if watch and as_json:
        raise UsageError("--watch is for people, and --json for programs: give one of the two")

    def look() -> int:
        code = _look(files, strict=strict, as_json=as_json, quiet=quiet)
        if draw and not code:
            click.echo(f"drawn: {_drawn(files[0], draw)}")
        return code

    return _watched(files, look) if watch else look()


def _look(files: tuple[str, ...], *, strict: bool, as_json: bool, quiet: bool) -> int:
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
    return 2 if wrong else 0


def _drawn(name: str, path: str) -> str:
    import reidbn as rb

    return str(rb.draw(rb.load(name)).save(path))


def _watched(files: tuple[str, ...], look: Callable[[], int]) -> int:
    """Look again after every change; Ctrl-C ends with what was found last."""
    code, seen = 0, None
    try:
        while True:
            now = _times(files)
            if now != seen:
                seen = now
                click.clear()
                code = look()
                click.echo(f"{strftime('%H:%M:%S')} watching; Ctrl-C ends it", err=True)
            sleep(PAUSE)
    except KeyboardInterrupt:
        return code


def _times(files: tuple[str, ...]) -> dict[str, int]:
    """When the files, and the models beside them, were last written."""
    found = {}
    for name in files:
        path = Path(name)
        for one in {path, *path.parent.glob("*.y*ml")} if path.suffix else ():
            with suppress(OSError):  # gone between two looks, or being written
                found[str(one)] = one.stat().st_mtime_ns
    return found


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
        return rb.attack.load_scenario(name).name, "a scenario"
    attack = rb.load(name)
    counts = (
        (len(attack.all_nodes), "node"),
        (len(attack.parameters), "parameter"),
        *([(len(attack.numbers), "derived number")] if attack.numbers else []),
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
