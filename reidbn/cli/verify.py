"""reidbn verify: whether a report is as it was written, and what its table says today."""

from __future__ import annotations

import contextlib
import html
import io
import re
import tempfile
from collections.abc import Sequence
from difflib import unified_diff
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from reidbn.cli._options import print_json
from reidbn.cli._results import OWN, writes
from reidbn.errors import UsageError
from reidbn.release.seal import unsealed
from reidbn.written import ending

MOST = 12
"""Lines that are shown of those that differ."""
_KINDS = {".html": "--html", ".md": "--markdown", ".json": "--json-report"}


@click.command()
@click.argument("report", type=click.Path(exists=True, dir_okay=False))
@click.argument("table", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(report: str, table: str | None, as_json: bool) -> int:
    """Whether REPORT is as it was written; with TABLE, its numbers are made again and compared.

    A report written by a command says with which options; files that they name (models, scenarios,
    hierarchies) are looked for under the names that they had; one that would write or run more is
    refused, since anybody can change a seal.  Exit code 1 where something differs.
    """
    place = Path(report)
    if ending(place) not in _KINDS:
        raise UsageError(f"{place.name}: a report ends in {', '.join(_KINDS)}")
    try:
        text, made_from, whole = unsealed(place.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise UsageError(f"{place.name}: is no text") from None
    except UsageError as problem:
        raise UsageError(f"{place.name}: {problem}") from None
    differs = _differs(place, text, made_from, table) if table and whole else []
    found = {"report": place.name, "as_written": whole, "made_from": made_from,
             "table_compared": bool(table and whole), "differs": differs}  # fmt: skip
    if as_json:
        print_json(found)
    else:
        _say(found, table)
    return int(not whole or bool(differs))


def _say(found: dict[str, Any], table: str | None) -> None:
    for name, value in found["made_from"].items():
        if name != "command":
            click.echo(_one_line(f"{name.replace('_', ' ')}: {value}"))
    if not found["as_written"]:
        click.echo(
            f"{found['report']}: CHANGED since it was written: its digest is of another text"
        )
        return
    click.echo(f"{found['report']}: as it was written")
    if table:
        same = "and made again from the table it is the same"
        click.echo(same if not found["differs"] else "made again from the table it differs:")
        for line in found["differs"][:MOST]:
            click.echo(f"  {line}")
        if len(found["differs"]) > MOST:
            click.echo(f"  and {len(found['differs']) - MOST} lines more")
        if found["differs"]:
            click.echo(
                "(- is what the report says, + what this table says. A report that a ledger "
                "printed again is of the table that was released first: verify it with it.)"
            )


def _one_line(text: str) -> str:
    """What a seal says, which anybody can write, as one line without signs that move others."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def _differs(place: Path, text: str, made_from: dict[str, Any], table: str) -> list[str]:
    """What a report made again says otherwise, line by line."""
    command = made_from.get("command")
    if not isinstance(command, list) or "{table}" not in command:
        raise UsageError(
            f"{place.name} was written from Python and does not say by what calls: make it again "
            f"there, and compare the two with diff or reidbn compare"
        )
    _refuse_deeds(place, [str(word) for word in command])
    words = [str(word).partition("=")[0] for word in command]
    no_seed = "--seed" not in words or command[words.index("--seed") + 1 :][:1] == [OWN]
    if "--sample" in words and no_seed:
        raise UsageError(
            f"{place.name} is about a random sample, and does not say by which seed: make it again "
            f"with --seed in the house, and compare the two with diff"
        )
    kept = [before for before, word in pairwise(command) if word == OWN]
    if kept:
        raise UsageError(
            f"{place.name} was written with {', '.join(kept)}, and does not tell what that was: "
            f"make it again in the house, and compare the two with diff"
        )
    from reidbn.cli import main

    with tempfile.TemporaryDirectory(prefix=".verify-", dir=place.resolve().parent) as folder:
        again = Path(folder) / f"again{place.suffix}"
        words = [table if word == "{table}" else str(word) for word in command]
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                main([*words, _KINDS[ending(place)], str(again)])
            except SystemExit as end:
                if not again.exists():
                    raise UsageError(
                        f"the report could not be made again (exit code {end.code}): "
                        f"{said.getvalue().strip()[-300:]}"
                    ) from None
        other, _, _ = unsealed(again.read_text(encoding="utf-8"))
    lines = unified_diff(_lines(text), _lines(other), lineterm="", n=0)
    return [x for x in lines if x[:1] in "+-" and not x.startswith(("+++", "---"))]


def _refuse_deeds(place: Path, words: Sequence[str]) -> None:
    """Raise where the command in a seal, which anybody can write, would do more than read.

    A report that was written by reidbn has no such words in it.
    """
    from reidbn.cli import reidbn

    said = f"{place.name}: the command in its seal"
    command = reidbn.get_command(click.Context(reidbn), words[0])
    if command is None or not {"html", "markdown", "json_report"} & {
        p.name for p in command.params
    }:
        raise UsageError(f"{said} is none that writes a report; it is not run")
    apart = click.Context(command, resilient_parsing=True)
    try:
        given = command.make_parser(apart).parse_args([*words[1:]])[2]
    except click.ClickException as problem:
        raise UsageError(f"{said} cannot be read ({problem.message}); it is not run") from None
    if any("--functions" in p.opts for p in given):
        raise UsageError(
            f"{said} names a Python file (--functions), and nobody's code is run for a report: "
            "make it again yourself, and compare the two with diff"
        )
    deeds = [option.opts[0] for option in given if writes(option)]
    if deeds:
        raise UsageError(
            f"{said} would write files ({', '.join(dict.fromkeys(deeds))}), which none that reidbn "
            "wrote does: it was changed, and is not run"
        )


def _lines(text: str) -> list[str]:
    """The text of a page, a line for each of its pieces."""
    if not text.startswith("<"):
        return text.splitlines()
    text = re.sub(r"<style.*?</style>|<svg.*?</svg>", " ", text, flags=re.DOTALL)
    plain = html.unescape(re.sub(r"<[^>]+>", "\n", text))
    return [line.strip() for line in plain.splitlines() if line.strip()]
