"""One tree of errors.

Every message says where, what was found, and what would be right; none ever
prints a person's values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

__all__ = [
    "CrosscheckFailed", "DataError", "EngineError", "ImpossibleEvidence", "MissingPart",
    "ModelError", "Problem", "ReidbnError", "ReidbnWarning", "TooLarge", "UsageError",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


class ReidbnError(Exception):
    """Base of every error that reidbn raises on purpose; `exit_code` is the command line's.

    `in_shell` is the same message with the command line's options in place of Python's arguments.
    """

    exit_code = 2  # what was asked cannot be; 3 is of answers that must not be used

    def __init__(self, *message: object, in_shell: str = "") -> None:
        super().__init__(*message)
        self.in_shell = in_shell or str(self)


class ReidbnWarning(UserWarning):
    """Something that the user should hear of, while the work goes on."""


class ModelError(ReidbnError):
    """An attack, a scenario or one of their files is not valid; `problems` lists what is wrong."""

    problems: tuple[Problem, ...] = ()


class DataError(ReidbnError):
    """A table cannot be used as it was given."""


class UsageError(ReidbnError, ValueError):
    """A call names something that does not exist or asks for something impossible."""


class ImpossibleEvidence(ReidbnError):
    """The evidence has probability zero, so nothing can be said given it."""


class TooLarge(ReidbnError):
    """The exact answer needs more memory or time than allowed; the message offers a way."""

    numbers: int = 0  # in the table that is too large, where that is what is too large

    def __init__(self, message: str, *, numbers: int = 0, in_shell: str = "") -> None:
        super().__init__(message, in_shell=in_shell)
        self.numbers = numbers


class CrosscheckFailed(ReidbnError):
    """Two engines that share nothing but the tables do not agree."""

    exit_code = 3


class EngineError(ReidbnError):
    """A number that cannot be right, such as a risk above 1: it is not handed out."""

    exit_code = 3


class MissingPart(ReidbnError):
    """An optional part is not installed; the message names the extra."""

    exit_code = 4


ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Problem:
    """One thing wrong: its address, what was found there, and what would be right.

    A warning does not stop anything: what it is about can be meant, but rarely is.
    """

    where: tuple[str | int, ...]
    message: str
    at_key: bool = False  # about the name at this address, not about what stands under it
    level: str = ERROR

    @property
    def is_warning(self) -> bool:
        return self.level == WARNING

    @property
    def address(self) -> str:
        text = ""
        for part in self.where:
            text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
        return text or "(whole file)"

    def __str__(self) -> str:
        mark = "warning: " if self.is_warning else ""
        return f"{self.address}  {mark}{self.message}"


def raise_problems(subject: str, problems: Sequence[Problem], *, before: str = "  ") -> None:
    """Raise all problems at once as one ModelError, or do nothing when there is no error.

    Warnings alone raise nothing; beside an error they are told too.
    """
    errors = [problem for problem in problems if not problem.is_warning]
    if errors:
        lines = [f"{subject} has {count_problems(problems)}"]
        error = ModelError("\n".join([*lines, *(f"{before}{p}" for p in problems)]))
        error.problems = tuple(problems)
        raise error


def count_problems(problems: Sequence[Problem]) -> str:
    """How many errors and warnings.

    >>> count_problems([Problem((), "odd", level=WARNING), Problem((), "wrong")])
    '1 problem and 1 warning'
    """
    warnings = sum(p.is_warning for p in problems)
    counts = ((len(problems) - warnings, "problem"), (warnings, "warning"))
    said = [f"{n} {what}" if n == 1 else f"{n} {what}s" for n, what in counts if n]
    return " and ".join(said) or "no problem"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest known one, or all of them.

    >>> did_you_mean("leakd", ["leaked", "records"])
    'did you mean "leaked"?'
    >>> did_you_mean("zzz", ["leaked", "records"])
    'known: leaked, records'
    """
    names = sorted({str(name) for name in known})
    small = {name.lower(): name for name in reversed(names)}
    near = get_close_matches(str(word), names, n=1)
    near = near or [small[n] for n in get_close_matches(str(word).lower(), small, n=1)]
    if near:
        return f'did you mean "{near[0]}"?'
    return f"known: {a_dozen(names)}" if names else "there are none"


def which_state(word: str, states: Iterable[str]) -> str:
    """The end of a message about an unknown state; of a comparison written the wrong way round.

    >>> which_state("=>2", ["1", "2", "3"])
    '>=2 was meant: the = of a comparison stands last'
    """
    turned = re.match(r"=?\s*([<>])(?!=)\s*(.+)\Z", word)
    if turned is None:
        return did_you_mean(word, states)
    return f"{turned[1]}={turned[2]} was meant: the = of a comparison stands last"


def a_dozen(names: Sequence[str]) -> str:
    """The first twelve names of a list."""
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
