"""Options that commands about attacks share, and how their texts are read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reidbn.above import is_above, refuse_no_limit
from reidbn.errors import UsageError
from reidbn.limits import regular
from reidbn.release.writing import PARQUET, ends_in, is_stream, probe
from reidbn.written import read_number

if TYPE_CHECKING:
    from reidbn.report.thresholds import RiskLimit

F = TypeVar("F", bound=Callable[..., Any])
Number = int | float

attack_argument = click.argument("attack")
question_argument = click.argument("question", required=False)
_BEYOND = "beyond_range"
_WRITTEN = "reidbn.written"
HEADER = "reidbn.header"
"""Where a command's context has the columns of its table."""
_ONE_MARK = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_THOUSANDS = re.compile(
    r"[1-9]\d{0,2}(?:\.000|(?:\.\d{3}){2,})"
)  # thousands, as many countries write them


def _keep_beyond_range(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[_BEYOND] = value


def asked_beyond_range() -> bool:
    """True when this command was called with `--beyond-range`."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_BEYOND))


beyond_range_option = click.option(
    "--beyond-range",
    is_flag=True,
    expose_value=False,
    callback=_keep_beyond_range,
    help="Take values outside the ranges that the model declares.",
)


def set_option(function: F) -> F:
    """`--set`, and `--beyond-range` for values that the model does not foresee."""
    setting = click.option(
        "--set", "settings", multiple=True, metavar="NAME=NUMBER", help="Give a parameter a value."
    )
    return setting(beyond_range_option(function))


given_option = click.option(
    "--given",
    multiple=True,
    metavar="NODE=STATE",
    help="What is known (evidence), also NODE>=N, GROUP<N, 'A=yes or B=yes'; or "
    "NODE=STATE:P,STATE:P,... how likely each state makes it.",
)
do_option = click.option(
    "--do", multiple=True, metavar="NODE=STATE", help="What is brought about (an intervention)."
)
subject_option = click.option(
    "--subject",
    multiple=True,
    metavar="COLUMN=NUMBERS|FILE.json",
    help="Subject data of one person; without it, the model's example.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress, no remarks.")


def output_options(function: F) -> F:
    """`--json` and `--quiet`."""
    return json_option(quiet_option(function))


def number(text: str, what: str) -> Number:
    """A whole number or a fraction as people write it; `what` names it in the message.

    >>> number("40_000", "leaked"), number("300,000", "population"), number("20%", "p_c")
    (40000, 300000, 0.2)
    """
    given = str(text).strip()
    if _THOUSANDS.fullmatch(given):
        whole = given.replace(".", "")
        few = given.split(".")[0]
        raise UsageError(
            f'{what}: "{given}" may be {few} or {int(whole):,}; write {few} or {whole}'
            if given.count(".") == 1
            else f'{what}: "{given}" is not a number; write {whole} or {int(whole):,}'
        )
    named = _precedent(given)
    if named is not None:
        raise UsageError(
            f"{what}: {given} is a precedent on how many are alike ({named.k}), and this is no "
            f"class; write 1/{named.k} if a chance of one in {named.k} is meant. A table is judged "
            f"by it with reidbn assess --threshold {named.name}"
        )
    return read_number(text, what)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.strip()[:1].isalpha() and "=" not in value


def _precedent(text: str) -> RiskLimit | None:
    """The threshold of that name; None where the text is no name of one."""
    if not _is_name(text):
        return None
    from reidbn.report.thresholds import PRESETS

    return PRESETS.get(text.strip().lower())


class NewFile(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """A file that will be written: where it cannot be, the command says so before it works."""

    name = "file"

    def __init__(self, *endings: str) -> None:
        self.endings = endings

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        option = param.opts[0] if param is not None and param.opts else "the file"
        probe(value)
        if self.endings and not is_stream(value):
            ends_in(value, self.endings, f"{option} ")
        if ctx is not None and not is_stream(value):
            files = ctx.meta.setdefault(_WRITTEN, {})
            other = files.setdefault(os.path.realpath(value), option)
            if other != option:
                raise UsageError(f"{other} and {option} name the same file, {value}")
        return value


def refuse_to_write_over(source: str) -> None:
    """Raise where the file that is read is also one that this command is to write."""
    context = click.get_current_context(silent=True)
    files = {} if context is None else context.meta.get(_WRITTEN, {})
    option = files.get(os.path.realpath(source))
    if option is not None:
        raise UsageError(f"{option} {source} is the table itself, which would be lost")


FILE = NewFile()
PICTURE = NewFile(".svg", ".png", ".pdf")
TABLE = NewFile(*PARQUET)
EXACT_PICTURE = "{}: drawn from exact counts; it stays in the house, for its owner alone (0600)"


class Written(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """The type of an option that takes a number: 300,000, 300k, 0.05 or 5%."""

    name = "number"

    def __init__(self, *, whole: bool = False) -> None:
        self.whole = whole

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Number:
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        what = _named(param)
        found = number(value, what)
        if not self.whole:
            return found
        if found != int(found):
            digits = value.strip().replace(".", "")
            hint = (
                f"; write {digits} if that is meant" if _ONE_MARK.fullmatch(value.strip()) else ""
            )
            raise UsageError(f"{what}: {value} is not a whole number{hint}")
        return int(found)


class Renamed(click.Option):
    """An option whose help shows the first of its names alone; the older ones are understood."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        names, self.opts = self.opts, self.opts[:1]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = names


def option_once(*names: str, **more: Any) -> Callable[[F], F]:
    """An option and the names that it once had."""
    return click.option(*names, cls=Renamed, **more)


def listing(*names: str, **more: Any) -> Callable[[F], F]:
    """An option that holds a list between commas, and may be repeated: all of it counts."""

    def join(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> Several:
        return Several(texts)

    return click.option(*names, multiple=True, callback=join, **more)


class Several(str):
    """What a repeated option was given, between commas; `texts` as they were given."""

    texts: tuple[str, ...]

    def __new__(cls, texts: tuple[str, ...]) -> Several:
        found = super().__new__(cls, ",".join(texts))
        found.texts = texts
        return found


_PART = re.compile(r'(?:"(?:[^"]|"")*"|[^,])+')
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


def listed(text: str, names: Sequence[str] = ()) -> list[str]:
    """What stands between commas; a comma stays in double quotes, and in one of these names.

    Such a name stands alone, or before a = or : and what is said of it.

    >>> listed('age, sex,"last, first"=2,')
    ['age', 'sex', 'last, first=2']
    >>> listed("born, year", ["born, year"]), listed("born, year=0.5", ["born, year"])
    (['born, year'], ['born, year=0.5'])
    """
    found: list[str] = []
    for one in getattr(text, "texts", (text,)):
        name, _, said = (one if one.strip() in names else one.replace(":", "=")).partition("=")
        whole = name.strip() in names and "," not in said
        parts = [one] if whole else _PART.findall(one)
        plain = parts if whole else [
            _QUOTED.sub(lambda q: q[1].replace('""', '"'), p.strip()) for p in parts
        ]  # fmt: skip
        found += [part.strip() for part in plain if part.strip()]
    return found


def columns_listed(text: str) -> list[str]:
    """The same, where the columns of the command's table are such names."""
    return listed(text, header_here())


def header_here() -> Sequence[str]:
    """The columns of the command's table; none before it is read."""
    context = click.get_current_context(silent=True)
    return () if context is None else context.meta.get(HEADER, ())


def split_pair(text: str, header: Sequence[str] = ()) -> tuple[str, str]:
    """NAME=VALUE in two; a name of the header may have = in it, and the longest that fits counts.

    >>> split_pair("age = 2"), split_pair("a=b=2"), split_pair("a=b=2", ["a", "a=b"])
    (('age', '2'), ('a', 'b=2'), ('a=b', '2'))
    """
    text = text.strip()
    whole = [name for name in header if text.startswith(f"{name}=")]
    name = max(whole, key=len, default=text.partition("=")[0].strip())
    return name, text[len(name) :].strip().removeprefix("=").strip()


class NamedLimit(float):
    """The limit of a precedent, which remembers whose it is."""

    said: str

    def __new__(cls, precedent: RiskLimit) -> NamedLimit:
        found = super().__new__(cls, precedent.as_risk)
        number = f"{precedent.value:g}, which it publishes"
        found.said = f"{precedent.name} stands for " + (
            number if precedent.has_number else f"1/{precedent.k}: it asks for {precedent.k} alike"
        )
        return found


class Chance(Written):
    """A probability or a share: 0.05, 5% or 1/20, from 0 to 1.

    `is_limit`: a command judges by it, so that it lies below 1, above which nothing is.
    """

    def __init__(self, *, is_limit: bool = False, alike: bool = False) -> None:
        super().__init__()
        self.is_limit, self.alike = is_limit, alike

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Number:
        found = super().convert(value, param, ctx)
        if self.is_limit or found != 1:
            refuse_no_limit(found, f"{_named(param)} {str(value).strip()}", alike=self.alike)
        return found


class Limit(Chance):
    """A risk, or a precedent by name: the number it publishes, else of k alike each has 1/k."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Number:
        named = _precedent(value) if isinstance(value, str) else None
        if named is None and _is_name(value):
            from reidbn.report.thresholds import threshold

            threshold(value)  # refuses it, with the name that is nearest
        return NamedLimit(named) if named else super().convert(value, param, ctx)


def _named(param: click.Parameter | None) -> str:
    return param.opts[0] if param is not None and param.opts else "number"


NUMBER = Written()
CHANCE = Chance()
LIMIT = Limit()
ABOVE = Chance(is_limit=True, alike=True)
WHOLE = Written(whole=True)


def read_pairs(
    texts: Iterable[str], option: str, form: str, header: Sequence[str] = ()
) -> dict[str, str]:
    """NAME=VALUE of an option that may be repeated, each name once; it may be one of the header."""
    found: dict[str, str] = {}
    for text in texts:
        name, value = _pair(text, option, form, header)
        _once(name, found, option)
        found[name] = value
    return found


def read_settings(texts: Iterable[str]) -> dict[str, Number]:
    """Values of `--set`.

    >>> read_settings(["p_m=0.2", "leaked=4000,records=10k"])
    {'p_m': 0.2, 'leaked': 4000, 'records': 10000}
    """
    found: dict[str, Number] = {}
    for text in texts:
        for part in text.split(","):
            name, value = _pair(part, "--set", "NAME=NUMBER")
            _once(name, found, "--set")
            found[name] = number(value, f"--set {name}")
    return found


def read_grid(texts: Iterable[str], option: str = "--set") -> dict[str, list[Number]]:
    """Several values per parameter: a list, or `from:to:count`.

    >>> read_grid(["leaked=1000,2000,4000", "p_c=0:1:5"])
    {'leaked': [1000, 2000, 4000], 'p_c': [0, 0.25, 0.5, 0.75, 1]}
    """
    found: dict[str, list[Number]] = {}
    for text in texts:
        name, values = _pair(text, option, "NAME=NUMBER,NUMBER,...")
        _once(name, found, option)
        what = f"{option} {name}"
        if ":" in values:
            found[name] = _span(values, what)
        else:
            found[name] = [number(value.strip(), what) for value in values.split(",")]
    return found


def _span(text: str, what: str) -> list[Number]:
    ends = text.split(":")
    if len(ends) != 3 or not ends[2].strip().isdigit() or int(ends[2]) < 2:
        raise UsageError(f'{what}: "{text}" is not from:to:count, such as 0:1:11')
    low, high = number(ends[0], what), number(ends[1], what)
    steps = int(ends[2]) - 1
    values = [low + (high - low) * i / steps for i in range(steps)] + [high]
    return [int(v) if float(v).is_integer() else v for v in values]


def read_states(texts: Iterable[str], option: str) -> dict[str, Any]:
    """States of `--given` and `--do`; what is given may also be likelihoods of every state.

    >>> read_states(["in_leak=yes,claims=no"], "--do")
    {'in_leak': 'yes', 'claims': 'no'}
    >>> read_states(["in_leak=yes:0.8,no:0.1", "claims=no"], "--given")
    {'in_leak': {'yes': 0.8, 'no': 0.1}, 'claims': 'no'}
    """
    from reidbn.attack.parts import parse_given, parse_states

    read: Callable[[str], Mapping[str, Any]] = parse_given if option == "--given" else parse_states
    found: dict[str, Any] = {}
    for text in texts:
        for node, state in read(text).items():
            _once(node, found, option)
            found[node] = state
    return found


policy_option = click.option(
    "--policy", multiple=True, metavar="RULE|FILE",
    help="In place of the attacker's best: DECISION=OPTION, or DECISION=OPTION if NODE=STATE, in "
    "order; or a file of such rules.",
)  # fmt: skip


def read_policy(texts: Iterable[str]) -> dict[str, Any] | None:
    """The rules of `--policy`, or of the files that it names.

    >>> read_policy(["attacks=yes if aim=money", "attacks=no"])["attacks"][1]
    {'p': {'no': 1.0}}
    """
    from reidbn.inference.policies import read_rules

    rules = []
    for text in texts:
        if "=" in text:
            rules.append(text)
            continue
        try:
            found = regular(Path(text)).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise UsageError(
                f"--policy {text}: is neither DECISION=OPTION nor a file that can be read"
            ) from None
        if not all(re.match(r"\s*(\w+\s*=|$)", rule) for rule in re.split(r"[;\n]", found)):
            raise UsageError(
                f"--policy {text}: a line of it is no rule, DECISION=OPTION if NODE=STATE; nothing "
                f"of the file is shown: it may be a table of people"
            )
        rules.append(found)
    return read_rules(";".join(rules)) if rules else None


def said_policy(policy: Any) -> dict[str, Any]:
    """A policy that was given, as JSON has it."""
    from reidbn.inference.policies import told_policy

    return {"policy": told_policy(policy)} if policy else {}


def say_policy(policy: Any) -> None:
    """That what is told is not of the attacker's own policy."""
    for name, taken in said_policy(policy).get("policy", {}).items():
        click.echo(f"Under a policy that was given: {name}={taken}.")


def under(attack: Any, policy: Any) -> Any:
    """The attack with a policy written in."""
    from reidbn.inference.answers import load_attack

    return load_attack(attack).with_policy(policy)


def read_subject(texts: Iterable[str]) -> dict[str, Any] | None:
    """Subject data of `--subject`: columns with one number or several, or a JSON file of them.

    >>> read_subject(["class_size=9,3,3,1"])
    {'class_size': [9, 3, 3, 1]}
    """
    found: dict[str, Any] = {}
    for text in texts:
        if "=" not in text:
            data = _json_file(Path(text))
            for name in data:
                _once(name, found, "--subject")
            found |= data
            continue
        name, values = _pair(text, "--subject", "COLUMN=NUMBERS")
        _once(name, found, "--subject")
        numbers = [number(v.strip(), f"--subject {name}") for v in values.split(",")]
        found[name] = numbers if len(numbers) > 1 else numbers[0]
    return found or None


def _json_file(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(regular(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise UsageError(f"--subject {path}: cannot be read: {problem.strerror}") from None
    except ValueError:
        raise UsageError(f"--subject {path}: is not JSON") from None
    if not isinstance(data, dict):
        raise UsageError(f"--subject {path}: must hold an object, column: numbers")
    return data


def _pair(text: str, option: str, form: str, header: Sequence[str] = ()) -> tuple[str, str]:
    name, value = split_pair(text, header)
    if not (name and value):
        hint = "; in a list, write 300,000 as 300000 or 300k" if text.strip().isdigit() else ""
        raise UsageError(f'{option}: "{text}" is not of the form {form}{hint}')
    return name, value


def _once(name: str, found: dict[str, Any], option: str) -> None:
    if name in found:
        raise UsageError(f"{option}: {name} is named twice")


def say_gate(
    limit: float, what: str, *, exceeded: bool, as_json: bool, of: str = ""
) -> dict[str, Any]:
    """What `--fail-above` found, said where text is printed; for JSON as what it adds."""
    if not as_json:
        ends = "the command ends with exit code 1" if exceeded else "it is kept"
        click.echo(f"--fail-above{of} {limit:g}: {what}: {ends}.")
    return {"limit": float(limit), "found": what, "exceeded": exceeded}


def say_highest(
    highest: float, limit: float, *, exceeded: bool, as_json: bool, of_tied: bool = False
) -> dict[str, Any]:
    """The same of answers, with as many digits as show on which side of the limit they are."""
    from reidbn.inference.worst import OF_TIED

    short = f"{highest:.6g}"
    told = short if is_above(float(short), limit) == is_above(highest, limit) else repr(highest)
    what = f"the highest answer is {told}{', ' + OF_TIED if of_tied else ''}"
    return say_gate(limit, what, exceeded=exceeded, as_json=as_json)


def is_high(found: Iterable[tuple[float, float]], limit: float) -> bool:
    """Whether one of some answers is above a limit, or may be with what is cut off of it."""
    found = list(found)
    if any(is_above(answer, limit) for answer, _ in found):
        return True
    beyond = [cut for answer, cut in found if is_above(answer + cut, limit)]
    if beyond:
        click.echo(
            f"--fail-above {limit:g}: the answer is under it, and with what is cut off (at most "
            f"{max(beyond):.2g}) it may be above: the command ends with exit code 1. Let the "
            f"states run further.",
            err=True,
        )
    return bool(beyond)


def print_json(value: Any) -> None:
    """Print a result for machines; NumPy values and things with `to_dict` are written plainly."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    for method in ("to_dict", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def print_table(columns: tuple[str, ...], rows: Iterable[Iterable[Any]]) -> None:
    """Print rows in aligned columns; numbers stand to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [tuple(row) for row in rows]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        numeric = bool(cells) and all(isinstance(row[i], int | float) for row in cells)
        table.add_column(column, justify="right" if numeric else "left")
    for row in cells:
        table.add_row(*(Text(str(cell)) for cell in row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    console.print(table)


def typed_options(names: Iterable[str]) -> list[str]:
    """Those of these options that stand in the command, as they are written."""
    source = click.get_current_context().get_parameter_source
    typed = click.core.ParameterSource.COMMANDLINE
    return [f"--{name.replace('_', '-')}" for name in names if source(name) is typed]


def refuse_without(name: str, needs: str, *, is_there: bool) -> None:
    """An option that was typed and would be dropped, since what it is about is not there."""
    for option in typed_options([] if is_there else [name]):
        raise UsageError(f"{option} needs {needs}")


def refuse_beside(options: Mapping[str, Any], names: Iterable[str], why: str) -> None:
    """Options that are there and may not be, beside another one."""
    for name in (name for name in names if options[name] is not None):
        raise UsageError(f"--{name.replace('_', '-')} {why}; leave one of the two out")
