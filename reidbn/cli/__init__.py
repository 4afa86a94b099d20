"""The command line: thin commands over the public names, loaded when used."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from reidbn.cli._functions import with_functions
from reidbn.cli._remedies import in_shell
from reidbn.errors import ReidbnError, ReidbnWarning, UsageError, did_you_mean
from reidbn.late import face

__all__ = ["in_shell", "main", "reidbn"]
__getattr__ = face(
    __name__,
    {
        "_bar": "share_bar",
        "_options": "WHOLE number print_table read_grid read_settings read_states read_subject",
        "disclosure": "disclosure",
    },
)

FAULT, CUT_OFF = 70, 141  # exit codes that no gate has: EX_SOFTWARE, and as after SIGPIPE
# group: command: (module in this folder, one line for --help).  Nothing heavy is imported for it.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Tables": {
        "classes": ("classes", "who is alike in a table: k, uniques, people by class size"),
        "subsets": ("subsets", "risk on every subset of what may be known"),
        "population": ("population", "how many unique people of a table are unique altogether"),
    },
    "Attacks on a table": {
        "assess": ("assess", "the risk of every person of a table, with a report"),
        "explain": ("explain", "one person's risk: which facts, which route, what would protect"),
        "leak": ("leak", "part of a table leaks: one target, many, and designing backwards"),
        "linkage": ("linkage", "how many facts of a mostly empty record single a person out"),
        "family": ("family", "which relatives one record gives away, and theirs"),
        "disclosure": ("disclosure", "what the neighbours' records give away about a secret"),
        "recommend": ("recommend", "the least change to a table that keeps a rule, with a proof"),
        "verify": ("verify", "whether a report is as it was written, and what its table says now"),
        "scenarios": ("models", "list the scenarios that come with reidbn: who knows what"),
        "thresholds": ("models", "list the precedents: for which release, and what each asks"),
        "demo": ("demo", "made-up patients from table to report; --language: models at work"),
    },
    "Models": {
        "models": ("models", "list the models that come with reidbn"),
        "coverage": ("coverage", "which threats models are about, and which they exclude and why"),
        "show": ("models", "a model file; --expanded: with everything that it stands for"),
        "new": ("models", "write a commented model to start from"),
        "ask": ("ask", "one question: the chance, what it is given, the assumptions used"),
        "decide": ("decide", "what an attacker does who weighs gain against cost"),
        "draw": ("draw", "the picture of an attack, with the sources of its numbers"),
        "page": ("page", "a page in which anybody moves an attack: sliders, graph, answer"),
        "cards": ("cards", "cards to print: an event, its threat and two questions each"),
        "check": ("check", "every problem of every model file, with line and column"),
        "crosscheck": ("whatif", "exact answers against sampled ones and against pgmpy"),
        "export": ("export", "an attack as BIF, XMLBIF, XDSL (GeNIe) or DOT"),
        "schema": ("models", "the JSON Schema of model files, for editors"),
    },
    "What if": {
        "sweep": ("whatif", "a question at every setting of a grid"),
        "tornado": ("whatif", "how far each parameter alone moves an answer"),
        "derivatives": ("whatif", "how fast an answer moves with each parameter"),
        "solve": ("whatif", "where an answer meets a target"),
        "compare": ("whatif", "a question before and after some changes; or two result files"),
        "sobol": ("whatif", "whose uncertainty makes an answer uncertain"),
        "uncertainty": ("whatif", "the distribution of an answer under priors"),
        "learn": ("learn", "what attempts on the real thing teach about the parameters"),
    },
}
COMMANDS = {name: where for group in GROUPS.values() for name, where in group.items()}
_ELSEWHERE = {
    "suda": "reidbn subsets --suda does that",
    "candidates": "rb.candidates does that, in Python",
}


class _CutOff(Exception):
    """A closed pipe under a name that click, which ends with 1 there, does not know."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports a command when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"reidbn.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return with_functions(command, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = _ELSEWHERE.get(args[0]) or did_you_mean(args[0], COMMANDS)
            raise click.UsageError(f'no command "{args[0]}"; {hint}', ctx)
        found = super().resolve_command(ctx, args)
        ctx.meta["reidbn.command"] = found[1]
        ctx.meta["reidbn.words"] = [found[0], *found[2]]
        _refuse_twice(ctx, found[1], found[2])
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it refuses names the command's own options."""
        try:
            return super().invoke(ctx)
        except ReidbnError as problem:
            problem.in_shell = in_shell(problem.in_shell, ctx.meta.get("reidbn.command"))
            raise
        except BrokenPipeError as closed:
            raise _CutOff from closed

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])


def _refuse_twice(ctx: click.Context, command: click.Command | None, args: list[str]) -> None:
    """Raise where an option that holds one value is given two: the last alone would count.

    So where it is said once by each of its names.
    """
    if command is None:
        return
    apart = click.Context(command, parent=ctx, resilient_parsing=True)  # faults are said later
    given = Counter(command.make_parser(apart).parse_args(list(args))[2])
    for option, times in given.items():
        if not isinstance(option, click.Option) or option.multiple or times == 1:
            continue
        ends = args.index("--") if "--" in args else len(args)
        written = {text.partition("=")[0] for text in args[:ends]}
        both = [name for name in option.opts if name.startswith("--") and name in written]
        raise UsageError(
            f"{' and '.join(both)} are one option, of which {both[0]} is the newer word; give "
            "one of them"
            if len(both) > 1
            else f"{' or '.join([*option.opts[:1], *option.secondary_opts])} is named twice, and "
            "the last alone would count; give it once"
        )


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="reidbn", prog_name="reidbn")
def reidbn() -> None:
    """Re-identification risk as explicit graphical models.

    Exit codes: 0 done; 1 a gate that was named is not kept; 2 asked wrongly; 3 a cross-check fails;
    4 an optional part is not installed; 70 a fault of reidbn's own.
    """


def _say_warnings() -> None:
    """Our own warnings as one line on standard error; others as Python shows them."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *more: Any, **named: Any) -> None:
        if issubclass(category, ReidbnWarning):
            context = click.get_current_context(silent=True)
            words = in_shell(str(message), None if context is None else context.command)
            click.echo(f"reidbn: note: {words}", err=True)
        else:
            others(message, category, *more, **named)

    warnings.simplefilter("always", ReidbnWarning)
    warnings.showwarning = show


def main(argv: list[str] | None = None) -> Any:
    """Run the command line; a mistake of the user's ends in one message, never a traceback."""
    with warnings.catch_warnings():
        _say_warnings()
        return _main(argv)


def _main(argv: list[str] | None) -> Any:
    try:
        code = reidbn.main(args=argv, prog_name="reidbn", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("reidbn: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as problem:
        problem.show()
        sys.exit(UsageError.exit_code)  # click's own 1 is that of a gate
    except ReidbnError as problem:
        click.echo(f"reidbn: {problem.in_shell}", err=True)
        sys.exit(problem.exit_code)
    except _CutOff:  # what a gate would have said is not known
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - Python empties them last
        sys.exit(CUT_OFF)
    except PermissionError as problem:
        where = f"{Path(problem.filename).name}: " if problem.filename else ""
        click.echo(f"reidbn: {where}{problem.strerror or 'it may not be opened'}", err=True)
        sys.exit(UsageError.exit_code)
    except Exception:
        traceback.print_exc()
        click.echo("reidbn: this is a fault of reidbn's own, and no gate has judged", err=True)
        sys.exit(FAULT)
    sys.exit(code if isinstance(code, int) else 0)
