"""Values that cannot change: lists become tuples, dicts become read-only, NumPy numbers plain.

What a conditional probability table is: a small protocol that every kind follows.

A CPD is a frozen dataclass.  Its fields hold numbers or *references*:

    0.3          a number
    "$p_match"   a parameter of the attack
    "@class_size" a column of subject data
    "class_size" a parent node (its state read as a number)

It is asked in one of two scopes, and never knows which: a *grid* (every parent state, subject and
setting at once, arrays with axes subject x setting x parents) or *rows* (one forward-sampled case
per row).  `probabilities(scope)` answers both; a kind with a story of its own also has `act`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from reidbn.calls import check_fields, described
from reidbn.errors import Problem, UsageError, did_you_mean
from reidbn.late import late
from reidbn.written import few

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict that cannot be changed, so that it can be hashed and shared.

    >>> FrozenDict(a=1) == {"a": 1}
    True
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping cannot be changed; make a copy with dict(...)")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def __copy__(self) -> FrozenDict[K, V]:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict[K, V]:
        return self


def frozen(value: Any) -> Any:
    """The value with every list, dict and NumPy value inside it made immutable and plain.

    >>> frozen({"p": [0.5, "rest"]})
    {'p': (0.5, 'rest')}
    """
    if hasattr(value, "tolist"):  # a NumPy array or number
        value = value.tolist()
    if isinstance(value, dict):
        return FrozenDict({key: frozen(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(frozen(item) for item in value)
    return value


def freeze_fields(thing: Any) -> None:
    """Make the fields of a frozen dataclass immutable, at its birth."""
    for field in fields(thing):
        object.__setattr__(thing, field.name, frozen(getattr(thing, field.name)))


# -- what a conditional probability table is -------------------------------------------------------


Array = NDArray[np.float64]
Ref = float | str
YES, NO = "yes", "no"


@dataclass(frozen=True)
class Variable:
    """What a CPD may know of its node, of a parent node or of a parent group.

    A group's state is the mask of what is known: bit j set means member j is known.
    """

    name: str
    states: tuple[str, ...] = (NO, YES)
    members: tuple[str, ...] = ()
    member_index: int | None = None
    bands: bool = (
        False  # a state stands for all numbers up to the next; known where rows are checked
    )

    @property
    def is_group(self) -> bool:
        return bool(self.members)

    @property
    def size(self) -> int:
        return 1 << len(self.members) if self.is_group else len(self.states)

    @cached_property
    def numbers(self) -> Array:
        """The states read as numbers: numerals as they are, yes/no as 1/0, else their position."""
        if self.is_group:
            return np.bitwise_count(np.arange(self.size, dtype=np.uint32)).astype(float)
        if set(self.states) <= {YES, NO}:
            return np.array([float(state == YES) for state in self.states])
        try:
            return np.array([float(state) for state in self.states])
        except ValueError:
            return np.arange(self.size, dtype=float)

    @property
    def has_numbers(self) -> bool:
        """True when reading the state as a number means something: also yes/no and groups."""
        return self.is_group or self.is_numeric or set(self.states) <= {YES, NO}

    @property
    def is_numeric(self) -> bool:
        """True when the states are numerals, such as class sizes."""
        return not self.is_group and all(is_numeral(state) for state in self.states)


def yes_or_no(child: Variable, happened: Any) -> NDArray[np.intp]:
    """The state of each row: yes where it happened."""
    return np.where(happened, child.states.index(YES), child.states.index(NO))


def is_numeral(text: str) -> bool:
    """Whether a state's name is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


class Scope(ABC):
    """Where a CPD is asked: it resolves references to arrays that broadcast with each other."""

    child: Variable
    parents: tuple[Variable, ...]
    checks = True  # whether what is read is held to what it may be; not where a polynomial is read

    @abstractmethod
    def state(self, parent: str) -> NDArray[np.intp]:
        """State positions of a parent (masks for a group)."""

    @abstractmethod
    def parameter(self, name: str) -> Array:
        """Values of a parameter."""

    @abstractmethod
    def column(self, name: str) -> Array:
        """Values of a subject-data column, at the parent states it depends on."""

    def resolve(self, name: str) -> str:
        """The reference to a bare name that is a parameter or a column: for functions."""
        raise UsageError(f'"{name}" is no parent here, and this scope knows no other names')

    def is_of_people(self, name: str) -> bool:
        """Whether a bare name that a function reads stands for what a table says of people."""
        named = any(p.name == name for p in self.parents)
        return not named and self.resolve(name).startswith("@")

    def read_people(self, refs: Iterable[object]) -> bool:
        """Whether any of these cells stands on what a table says of people."""
        cells = [ref for ref in refs if isinstance(ref, str) and ref[:1] in ("$", "@")]
        return any(ref[0] == "@" or self.is_of_people(ref[1:]) for ref in cells)

    def shown(self, value: Any, *refs: object) -> str:
        """A number for a message; of what a table says of people its name alone."""
        own = next((ref for ref in refs if self.read_people([ref])), None)
        return f"{value:g}" if own is None else str(own)

    def parent(self, name: str) -> Variable:
        return next(p for p in self.parents if p.name == name)

    def number(self, parent: str) -> Array:
        """The parent's state read as a number."""
        values: Array = self.parent(parent).numbers[self.state(parent)]
        return values

    def value(self, ref: Ref) -> Array:
        """A number, `$parameter`, `@column` or parent name, as an array that broadcasts."""
        if not isinstance(ref, str):
            return np.asarray(float(ref))
        if ref.startswith("$"):
            return self.parameter(ref[1:])
        if ref.startswith("@"):
            return self.column(ref[1:])
        return self.number(ref)


@dataclass(frozen=True)
class CPD(ABC):
    """A conditional probability table as an idea, not as numbers."""

    kind: ClassVar[str]
    in_files: ClassVar[bool] = True  # False for what only the house itself makes nodes of
    by_name: ClassVar[bool] = False  # True when it reads only those parents that its fields name
    has_bands: ClassVar[bool] = False  # True when a state stands for all numbers up to the next

    def __post_init__(self) -> None:
        freeze_fields(self)
        check_fields(self)
        for field in fields(self):
            if any(not np.isfinite(number) for number in _numbers(getattr(self, field.name))):
                raise UsageError(f"{self.kind}: {field.name} holds a number that is not finite")

    @abstractmethod
    def probabilities(self, scope: Scope) -> Array:
        """P(state | parents), states on the last axis."""

    def references(self) -> tuple[str, ...]:
        """Every reference in the fields, in order: `$parameter`, `@column`, parent names."""
        return self._references

    @cached_property
    def _references(self) -> tuple[str, ...]:
        return tuple(_references(self))

    def named(self, parents: Sequence[str]) -> CPD:
        """The same at a node with these parents: what it lists in their order stands by name."""
        return self

    def reads_group(self, group: str) -> bool:
        """Whether it reads of a parent group how many members, or which, are known.

        Else it sees of the group what subject columns hold for each subset, and nothing more.
        """
        return not self.by_name or group in self.references()

    def problems(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        """What is wrong with this CPD at this node, with addresses inside the CPD."""
        return []

    def misfits(self, child: Variable, parents: tuple[Variable, ...]) -> list[Problem]:
        """Why it cannot follow a parameter to other numbers of states, where it is written for one.

        Asked when a structural parameter has changed; kinds that follow any number have none.
        """
        return []

    def parts(self, child: Variable, parents: tuple[Variable, ...]) -> tuple[Part, ...]:
        """The same table in small steps, the node itself last; none when it has no steps.

        Many parents make a table that nobody can write down, though a count or a flag may be all
        that matters of them.  A kind that knows says here how it is carried from parent to parent.
        """
        return ()

    def holds(self, name: str) -> bool:
        """Whether it refers to the parameter."""
        return any(ref in (name, f"${name}") for ref in self.references())

    def degree(self, name: str, parents: Sequence[Variable]) -> int | None:
        """How often an entry of the table multiplies a parameter with itself; None: not known."""
        return self.degree_held(name, parents) if self.holds(name) else 0

    def degree_held(self, name: str, parents: Sequence[Variable]) -> int | None:
        """The same for a parameter that it holds; a kind that can say it, says it here.

        What-if answers are then exact; where nothing is known, as of a formula, they measure.
        """
        return None

    def cut(self, scope: Scope) -> Array | None:
        """How likely, in each configuration, that more is counted than the node has states for.

        The last state then stands for it, and the answer says so; None: the kind cuts nothing off.
        """
        return None

    def act(self, rng: np.random.Generator, scope: Scope, rows: int) -> NDArray[np.intp]:
        """Act the story out for `rows` cases; without a story, draw from the table."""
        return draw(rng, self.probabilities(scope), rows)

    def to_dict(self) -> dict[str, Any]:
        """The form it has in a model file; fields at their default are left out."""
        return {"kind": self.kind, **_plain_fields(self)}

    to_pgmpy = late("reidbn.inference.pgmpy_bridge:cpd_to_pgmpy")


@dataclass(frozen=True)
class Part:
    """One step of a wide table: a hidden node that only the next step reads, or the node itself."""

    variable: Variable
    parents: tuple[Variable, ...]
    cpd: CPD


def in_steps(
    child: Variable,
    parents: tuple[Variable, ...],
    states: tuple[str, ...] | Callable[[tuple[Variable, ...]], tuple[str, ...]],
    step: Callable[[tuple[Variable, ...]], CPD],
    last: Callable[[tuple[Variable, ...]], CPD],
) -> tuple[Part, ...]:
    """A chain of hidden nodes, each over the one before and one parent more.

    Their states are given, or a function of what they are over.  A hidden node's name holds a sign
    that no declared name can; a group starts a chain alone.
    """
    first = 1 if parents and parents[0].is_group else 2
    met = parents[:first]
    found = []
    for i, parent in enumerate(parents[first:], start=1):
        so_far = Variable(f"{child.name}~{i}", states(met) if callable(states) else states)
        found.append(Part(so_far, met, step(met)))
        met = (so_far, parent)
    return (*found, Part(child, met, last(met))) if found else ()


def draw(rng: np.random.Generator, p: Array, rows: int) -> NDArray[np.intp]:
    """One state per row from P(state) on the last axis."""
    p = np.broadcast_to(p, (rows, p.shape[-1]))
    u = rng.random(rows)
    if p.shape[-1] == 2:
        return (u >= p[:, 0]).astype(np.intp)
    cumulative = np.cumsum(p[:, :-1], axis=1)
    return np.asarray((u[:, None] >= cumulative).sum(axis=1), dtype=np.intp)


def yes_no(child: Variable, p_yes: NDArray[Any], p_no: NDArray[Any] | None = None) -> Array:
    """The table of a yes/no node from P(yes); P(no) is what is left, or given with its own digits.

    The two states are stored as two whole arrays: the engines read them one state at a time.
    """
    p_yes = np.asarray(p_yes, dtype=float)
    table = np.empty((2, *p_yes.shape))
    yes = child.states.index(YES)
    table[yes] = p_yes
    if p_no is None:
        np.subtract(1.0, p_yes, out=table[1 - yes, ...])
    else:
        table[1 - yes] = p_no
    return np.moveaxis(table, 0, -1)


def needs_yes_no(child: Variable, kind: str) -> list[Problem]:
    if set(child.states) != {YES, NO} or child.is_group:
        found = few(child.states)
        return [Problem(("kind",), f"{kind} needs the states no and yes; this node has {found}")]
    return []


def needs_parents(parents: Sequence[Variable], kind: str) -> list[Problem]:
    if not parents:
        return [Problem(("kind",), f"{kind} needs at least one parent; this node has none")]
    return []


def needs_parent(ref: Ref, field: str, parents: Sequence[Variable]) -> list[Problem]:
    """A reference to a parent must name one."""
    if isinstance(ref, str) and not ref.startswith(("$", "@")):
        names = [p.name for p in parents]
        if ref not in names:
            hint = did_you_mean(ref, names) if names else "it has none"
            message = f'"{ref}" is not a parent of this node; {hint} '
            message += f"(a parameter is written ${ref}, a column @{ref})"
            if ref in ("rest",) or not ref.isidentifier():
                message = f'"{ref}" is neither a number, $parameter, @column nor a parent'
            return [Problem((field,), message)]
        if not parents[names.index(ref)].has_numbers:
            states = few(parents[names.index(ref)].states)
            message = f"reads {ref} as a number, but its states are {states}"
            return [Problem((field,), message)]
    return []


def needs_probability(ref: Ref, *where: str | int) -> list[Problem]:
    if isinstance(ref, int | float) and not 0 <= ref <= 1:
        return [Problem(where, f"{ref:.12g} is not a probability: it must lie between 0 and 1")]
    return []


def needs_weight_each(weights: Mapping[str, Ref], parents: Sequence[Variable]) -> list[Problem]:
    """One weight for every parent, and none for anybody else."""
    names = [p.name for p in parents]
    found = []
    for name in weights:
        if name not in names:
            message = f'"{name}" is not a parent of this node; {did_you_mean(name, names)}'
            found.append(Problem(("weights", name), message, at_key=True))
    missing = sorted(set(names) - set(weights))
    return found + [Problem(("weights",), f"has no weight for the parent {n}") for n in missing]


def needs_reference(ref: Ref, *where: str | int) -> list[Problem]:
    """A cell that takes a number, `$parameter` or `@column`, and no parent name."""
    if not isinstance(ref, int | float | str):
        return [Problem(where, f"is {described(ref)}; it takes a number, $parameter or @column")]
    if isinstance(ref, str) and not ref.startswith(("$", "@")):
        message = f'"{ref}" is neither a number nor $parameter nor @column'
        if ref.lower() == "rest":
            message += (
                "; write rest in small letters" if ref != "rest" else "; rest has no place here"
            )
        elif ref.isidentifier():
            message += f"; for a parameter write ${ref}"
        return [Problem(where, message)]
    return []


def _numbers(value: object) -> list[float]:
    """The numbers in a field, at any depth of tuples and mappings."""
    if isinstance(value, float):
        return [value]
    inner = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(inner, tuple | list):
        return []
    return [number for item in inner for number in _numbers(item)]


def _references(value: object) -> list[str]:
    if isinstance(value, CPD) or (is_dataclass(value) and not isinstance(value, type)):
        found = []
        for field in fields(value):
            if field.metadata.get("references", True):
                found += _references(getattr(value, field.name))
        return found
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [ref for item in value.values() for ref in _references(item)]
    if isinstance(value, tuple | list):
        return [ref for item in value for ref in _references(item)]
    return []


def _plain_fields(value: Any) -> dict[str, Any]:
    out = {}
    for field in fields(value):
        if not field.metadata.get("plain", True):
            continue
        item = getattr(value, field.name)
        if isinstance(item, np.ndarray) or (
            item != field.default and item not in ((), {}, None, "")
        ):
            out[field.name] = plain(item)
    return out


def plain(value: Any) -> Any:
    """Dataclasses, tuples and mappings as dicts and lists, the form that files hold."""
    if isinstance(value, CPD):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return _plain_fields(value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value
