"""How a model file looks: content as YAML text that a person can read aloud.

ruamel.yaml writes; what is decided here is what stands on one line (`{kind: and}`, `[no, yes]`),
where long stories are folded, and that tables get one row per line.

Model files: YAML text <-> Attack, with all problems of a file at once.

Nothing in a file is run: functions are named, and must have been registered in Python.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reidbn.attack.attack import Attack
from reidbn.calls import typed
from reidbn.cpds.protocol import CPD
from reidbn.errors import ReidbnError, UsageError, did_you_mean
from reidbn.limits import MOST_MODEL, regular
from reidbn.release.writing import write_text

if TYPE_CHECKING:
    from reidbn.attack.yamltext import Document


WIDTH = 100
MODELINE = "# yaml-language-server: $schema=./model.schema.json\n"
# Mappings of named things, whose entries always get lines of their own.
_ROOMS = ("parameters", "numbers", "subject", "groups", "decisions", "utilities", "nodes")
# Where a numeral is a name: it is read as it is written, so it needs no quotes.
_NUMERALS = ("states", "when", "given", "to")


def layout(content: dict[str, Any]) -> str:
    """The text of a model file.

    >>> print(layout({"nodes": {"a": {"rows": [{"p": ["rest", 0.25]}], "source": "assumption"}}}))
    # yaml-language-server: $schema=./model.schema.json
    nodes:
      a:
        rows:
          - {p: [rest, 0.25]}
        source: assumption
    <BLANKLINE>
    """
    text = _written(_laid_out(content, (), numerals=False), WIDTH)
    return MODELINE + "".join(line.rstrip(" ") + "\n" for line in text.split("\n")[:-1])


def _written(value: Any, width: int) -> str:
    from ruamel.yaml import YAML
    from ruamel.yaml.emitter import Emitter
    from ruamel.yaml.representer import RoundTripRepresenter

    class Quotes(Emitter):  # double ones, which can hold anything
        def choose_scalar_style(self) -> Any:
            style = super().choose_scalar_style()
            text = self.event.value
            sign = text[:1] in ("?", "-") and not text[1:2].isdigit()
            sign = sign or text.endswith("?")  # which other readers take for a key
            misread = style == "" and self.flow_level and (":" in text or sign)
            return '"' if misread or style == "'" else style

        def write_double_quoted(self, text: Any, *split: Any, **more: Any) -> None:
            if not text.replace("\n", " ").isprintable():
                split, more = (), {"split": False}  # wrapped at an escape, a text gets a blank
            super().write_double_quoted(text, *split, **more)

    class Words(RoundTripRepresenter):  # nothing is a word of its own
        def represent_none(self, data: None) -> Any:
            return self.represent_scalar("tag:yaml.org,2002:null", "null")

    Words.add_representer(type(None), Words.represent_none)
    yaml = YAML()
    yaml.Emitter, yaml.Representer = Quotes, Words
    yaml.width = width
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = StringIO()
    yaml.dump(value, out)
    return out.getvalue()


def _laid_out(value: Any, where: tuple[str | int, ...], *, numerals: bool) -> Any:
    """The value as ruamel's own kinds, which know how they are to be written."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    key = where[-1] if where else ""
    if isinstance(value, str):
        return int(value) if numerals and _canonical(value) else _folded(value, where)
    numerals = numerals or (key in _NUMERALS and not (where[0] in _ROOMS and len(where) == 2))
    if isinstance(value, dict):
        out = CommentedMap()
        for name, item in value.items():
            word = float(name) if key == "quantiles" else int(name) if _canonical(name) else name
            out[word] = _laid_out(item, (*where, name), numerals=numerals)
        named = bool(value) and len(where) < (3 if where and where[0] in _ROOMS else 2)
        table = any(isinstance(v, list) and _is_table(v) for v in value.values())
        flows = not named and not table
    elif isinstance(value, list | tuple):
        rows = CommentedSeq(
            _laid_out(v, (*where, i), numerals=numerals) for i, v in enumerate(value)
        )
        return rows if _is_table(value) or (value and key == "sources") else _flow(rows)
    else:
        return value if value is None else float(value) if isinstance(value, float) else int(value)
    return _flow(out) if flows and _fits(out, where) else out


def _canonical(numeral: str) -> bool:
    return numeral.isascii() and numeral.isdecimal() and str(int(numeral)) == numeral


def _is_table(values: Any) -> bool:
    return any(isinstance(v, dict | list | tuple) for v in values)


def _flow(value: Any) -> Any:
    value.fa.set_flow_style()
    return value


def _indent(where: tuple[str | int, ...]) -> int:
    """Columns in front of what stands at an address."""
    return 2 * (len(where) - 1) + (2 if isinstance(where[-1], int) else len(str(where[-1])) + 2)


def _fits(mapping: Any, where: tuple[str | int, ...]) -> bool:
    from copy import deepcopy

    line = _written(_flow(deepcopy(mapping)), 1_000_000)
    return _indent(where) + len(line.rstrip("\n")) <= WIDTH


def _folded(text: str, where: tuple[str | int, ...]) -> Any:
    """Long text folded at its single blanks; text that folding would change stays as it is."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, FoldedScalarString

    long = _indent(where) + len(text) > WIDTH
    if long and "  " in text:  # a plain one may be wrapped there, and loses a blank
        return DoubleQuotedScalarString(text)
    if not (long and text == " ".join(text.split()) and text.isprintable()):
        return text
    found = FoldedScalarString(text)
    ends: list[int] = []
    for line in textwrap.wrap(text, WIDTH - 2 * len(where), break_long_words=False,
                              break_on_hyphens=False)[:-1]:  # fmt: skip
        ends.append((ends[-1] + 1 if ends else 0) + len(line))
    found.fold_pos = ends
    return found


# -- model files -----------------------------------------------------------------------------------


Kinds = Mapping[str, type[CPD]]


def models() -> tuple[str, ...]:
    """Names of the models that come with reidbn.

    >>> "leak-single" in models()
    True
    """
    return tuple(sorted(path.stem for path in models_folder().glob("*.yaml")))


@cache
def models_with(*parameters: str) -> tuple[str, ...]:
    """Those of them that have all of these parameters.

    >>> models_with("p_family_here", "p_in_release")
    ('family-cascade', 'linkage-family')
    """
    return tuple(one for one in models() if load(one).settable.keys() >= set(parameters))


@cache
def _references() -> dict[str, str]:
    """What each [Key] stands for."""
    path = models_folder() / "REFERENCES.md"
    lines = path.read_text(encoding="utf-8").splitlines()
    found = (re.match(r"- \[(\w+)\] (.+)", line) for line in lines)
    return {m[1]: m[2].replace("*", "") for m in found if m}


def cited(texts: Iterable[str]) -> list[str]:
    """The [Key]s in some texts with what they stand for; a key that is nobody's is left out.

    >>> cited(["[Xia21] Table 4, middle setting", "[x] and y"])[0][:25]
    '[Xia21] Xia, Liu, Wan, Vo'
    """
    keys = dict.fromkeys(key for text in texts for key in re.findall(r"\[(\w+)\]", text))
    return [f"[{key}] {_references()[key]}" for key in keys if key in _references()]


def models_folder() -> Path:
    """Where the shipped models are: inside an installed package, beside an editable one."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "models"
    return inside if inside.is_dir() else package.parent / "models"


@typed
def load(name_or_path: str | os.PathLike[str] | Attack, kinds: Kinds | None = None) -> Attack:
    """The attack in a model file: a path, or the name of a shipped model.

    `kinds` maps further kinds of CPD to their classes.  An Attack is handed back as it is.

    `name_or_path` is the name of a shipped attack, or a file.

    >>> load("leak-single").parameters["class_size"].value
    5
    """
    if isinstance(name_or_path, Attack):
        return name_or_path
    path = find(name_or_path)
    return parsed(read_text(path), kinds, label=short(path), via=(path,))[0]


def _part(name: str, kinds: Kinds | None, via: tuple[Path, ...]) -> Attack:
    """The attack of a model that a file names: a shipped one, or a file beside it or below.

    `via` are the files that led here, the first one first.
    """
    folder = via[-1].parent
    inner = Path(name) if Path(name).suffix else Path(f"{name}.yaml")
    path = models_folder() / f"{name}.yaml" if name in models() else folder / inner
    if inner.is_absolute() or ".." in inner.parts:
        raise UsageError(f'"{name}" leads out of the folder; name a model in it, or a shipped one')
    if not path.is_file():
        hint = did_you_mean(name, [*models(), *(p.stem for p in sorted(folder.glob("*.yaml")))])
        raise UsageError(f'no model is called "{name}", here or among the shipped; {hint}')
    if path.resolve() in [p.resolve() for p in via]:
        circle = " -> ".join(p.name for p in (*via, path))
        raise UsageError(f"the models go in a circle: {circle}")
    return parsed(read_text(path), kinds, label=short(path), via=(*via, path))[0]


def find(name_or_path: str | os.PathLike[str]) -> Path:
    """The file of a model."""
    name = os.fspath(name_or_path)
    if isinstance(name_or_path, str) and name in models():
        return models_folder() / f"{name}.yaml"
    if "\n" in name:
        raise UsageError("this is the text of a model and no file: rb.loads(text) reads it")
    path = Path(name)
    is_name = isinstance(name_or_path, str) and not path.suffix and path.name == name
    if is_name and not path.exists():
        written = next((n for n in (f"{name}.yaml", f"{name}.yml") if Path(n).exists()), None)
        hint = f'did you mean the file "{written}"?' if written else did_you_mean(name, models())
        raise UsageError(f'no file and no shipped model is called "{name}"; {hint}')
    return path


@typed
def loads(text: str, kinds: Kinds | None = None, *, label: str = "<text>") -> Attack:
    """The attack in the text of a model file; `label` names it in messages.

    `kinds` are conditional tables of your own, by name.
    """
    return parsed(text, kinds, label=label)[0]


def parsed(
    text: str,
    kinds: Kinds | None = None,
    *,
    label: str = "<text>",
    via: tuple[Path, ...] = (Path("<text>"),),
) -> tuple[Attack, Document]:
    """The attack in a text, and the document that knows where everything stands.

    `via` ends with the file of the text: models that it uses stand beside it.
    """
    from reidbn.attack.build import build
    from reidbn.attack.explain import in_file, raise_file_problems, refuse_others, whole
    from reidbn.attack.reuse import written_out
    from reidbn.attack.schema import file_model, head_problems
    from reidbn.attack.yamltext import read_yaml

    document = read_yaml(text)
    starts = "a model file starts with schema_version: 1 and a name"
    refuse_others(document, label, "model file", starts)
    if document.broken:
        raise_file_problems(label, in_file(document, label, []))
    if document.data.get("kind") == "scenario":
        raise whole(label, "is a scenario; it goes with an attack and is none itself")
    problems = head_problems(document.data)
    if not problems:
        document, problems = written_out(document, lambda name: _part(name, kinds, via))
    if problems:
        raise_file_problems(label, in_file(document, label, problems))
    attack, problems = build(document, file_model(kinds))
    raise_file_problems(label, in_file(document, label, problems))
    assert attack is not None  # noqa: S101 - no problem, no excuse
    return attack, document


@typed
def dumps(attack: Attack, *, expanded: bool = False) -> str:
    """The text of a model file of this attack; reading it back gives an equal attack.

    What was written once for several, or taken from another model, is written so again where that
    still says this attack; `expanded` writes everything out.
    """
    return _text(attack, Path("<text>"), expanded=expanded)


def _text(attack: Attack, path: Path, *, expanded: bool = False) -> str:
    from reidbn.attack.content import brought_up_to_date, content, plain_words

    full = content(attack)
    if expanded or attack.template is None:
        return layout(full)
    short = plain_words(attack.template)
    kinds = _more(
        {n.cpd.kind: type(n.cpd) for n in attack.nodes.values() if n.name not in attack.decisions}
    )
    try:
        then = parsed(layout(short), kinds, via=(path,))[0]
        if then != attack:
            short = brought_up_to_date(short, content(then), full)
            then = parsed(layout(short), kinds, via=(path,))[0]
    except ReidbnError:  # it cannot be said in short any more, or not from that folder
        return layout(full)
    return layout(short if then == attack else full)


def _more(kinds: Kinds) -> Kinds | None:
    """The kinds that are not installed."""
    from reidbn.cpds.registry import all_kinds

    return {name: kind for name, kind in kinds.items() if name not in all_kinds()} or None


@typed
def save(attack: Attack, path: str | os.PathLike[str], *, expanded: bool = False) -> None:
    """Write an attack as a model file.

    `path` is where it goes; `expanded` writes out what was written once for several.
    """
    write_text(_text(attack, Path(path), expanded=expanded), path)


def read_text(path: Path) -> str:
    from reidbn.attack.explain import whole

    label = short(path)
    if path.is_dir():
        raise whole(label, "is a folder; name a file in it")
    try:
        data = regular(path, MOST_MODEL).read_bytes()
    except FileNotFoundError:
        raise whole(label, "there is no such file") from None
    except OSError as problem:
        raise whole(label, f"cannot be read: {problem.strerror}") from None
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        message = f"is not UTF-8 text (byte {problem.start + 1:,}); is it a model file?"
        raise whole(label, message) from None


def short(path: Path) -> str:
    """The path as a reader would write it: from here, or the bare name of a shipped model."""
    folder = models_folder()
    if path.parent == folder:
        return f"models/{path.name}"
    return os.fspath(path)


__all__: list[Any] = [
    "dumps",
    "find",
    "load",
    "loads",
    "models",
    "models_folder",
    "parsed",
    "read_text",
    "save",
    "short",
]
