"""reidbn export: an attack as a file for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from reidbn.cli._examples import examples
from reidbn.cli._options import (
    FILE,
    asked_beyond_range,
    attack_argument,
    output_options,
    policy_option,
    print_json,
    read_policy,
    read_settings,
    read_subject,
    set_option,
    subject_option,
    under,
)
from reidbn.release.writing import write_text


@click.command(
    epilog=examples(
        "reidbn export leak-single -o leak.xdsl",
        "reidbn export adversary-routes --format bif --set p_c=0.2",
    )
)
@attack_argument
@click.option("--output", "-o", type=FILE, help="Where to write it; default: print it.")
@click.option("--format", "format_", metavar="FORMAT", help="bif, xmlbif, xdsl (GeNIe) or dot.")
@set_option
@subject_option
@policy_option
@output_options
def export(
    attack: str,
    output: str | None,
    format_: str | None,
    settings: tuple[str, ...],
    subject: tuple[str, ...],
    policy: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> int:
    """Write ATTACK, for one person at one setting, in a format that other tools read."""
    from reidbn.inference.interchange.files import FORMATS, export_text, format_of

    chosen = format_ or (format_of(Path(output), FORMATS) if output else "bif")
    text = export_text(
        under(attack, read_policy(policy)) if policy else attack,
        chosen,
        set=read_settings(settings),
        subject=read_subject(subject),
        beyond_range=asked_beyond_range(),
    )
    if output:
        write_text(text, output)
    if as_json:
        print_json({"attack": attack, "format": chosen, **({"file": output} if output else
                                                           {"text": text})})  # fmt: skip
    else:
        click.echo(output or text, nl=bool(output))
    return 0
