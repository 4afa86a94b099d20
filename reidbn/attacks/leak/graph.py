"""The leak of a table as a graph: one attack that every engine answers.

The network of n targets unrolls: whose class, how much of it leaked, in the leak, picked.  It
grows with the number of targets and of class sizes; for more, `joint_risk` needs no graph.
"""

from __future__ import annotations

from reidbn.attack.attack import Attack, Catalogue
from reidbn.attack.parts import Node, Parameter, Question
from reidbn.attacks.leak.ask import ClassesLike, checked_leak, checked_targets, classes_of
from reidbn.calls import typed
from reidbn.cpds.logic import And, Or
from reidbn.cpds.protocol import NO, YES
from reidbn.cpds.targets import (
    NEW,
    SAME,
    TargetClass,
    TargetClassLeaked,
    TargetInLeak,
    TargetPicked,
)
from reidbn.errors import TooLarge

_YES_NO = (NO, YES)
_SOURCE = "[Antoniou22] section 2"
_MOST_CELLS = 20_000_000


@typed
def as_attack(
    classes: ClassesLike,
    *,
    leaked: int,
    targets: int = 1,
    source: str = "the table",
    name: str = "leak",
) -> Attack:
    """The attack on a table with these classes, as a graph of so many targets.

    Nodes class_i, class_leaked_i, in_leak_i, identified_i for each target, and all_identified and
    any_identified for several.  The leak size and the number of classes of each size are
    parameters.

    `leaked` is how many records leak; `source` says where the classes are from, and `name` is the
    attack's.

    >>> from reidbn.inference.answers import ask
    >>> attack = as_attack({3: 2, 4: 1}, leaked=3, targets=2)
    >>> round(float(ask(attack, "all_identified=yes")), 6)
    0.042222
    """
    what = classes_of(classes)
    n = checked_targets(targets, what.records)
    leak = checked_leak(leaked, what.records)
    sizes = tuple(int(k) for k in what.sizes)
    _refuse_large(n, sizes)
    parameters = [
        Parameter("leaked", leak, 0, what.records, "records", source, story="Records in the leak"),
        *(
            Parameter(
                f"classes_of_{k}", int(a), 0, int(a), "classes", source,
                story=f"Classes of {k} records in the table",
            )
            for k, a in zip(what.sizes, what.counts, strict=True)
        ),
    ]  # fmt: skip
    nodes = [node for i in range(1, n + 1) for node in _target(i, n, sizes)]
    all_ = tuple(_named("identified", i, n) for i in range(1, n + 1))
    questions = [Question("risk", f"{all_[0]}=yes")]
    if n > 1:
        nodes.append(Node("all_identified", _YES_NO, And(), all_, "Every target is identified"))
        nodes.append(Node("any_identified", _YES_NO, Or(), all_, "A target is identified"))
        questions = [Question("all", "all_identified=yes"), Question("any", "any_identified=yes")]
    return Attack(
        name,
        nodes=Catalogue(nodes),
        parameters=Catalogue(parameters),
        questions=Catalogue(questions),
        title="A leak of a table" if n == 1 else f"A leak of a table and {n} targets",
        story="A thief copies part of an anonymised table and looks for patients one by one.",
        sources=(_SOURCE,),
    )


def _named(what: str, i: int, n: int) -> str:
    return what if n == 1 else f"{what}_{i}"


def _target(i: int, n: int, sizes: tuple[int, ...]) -> list[Node]:
    """The four nodes of the i-th of n targets."""

    def names(what: str, last: int) -> tuple[str, ...]:
        return tuple(_named(what, j, n) for j in range(1, last + 1))

    own_class, own_leaked = _named("class", i, n), _named("class_leaked", i, n)
    inside, picked = _named("in_leak", i, n), _named("identified", i, n)
    classes, before = names("class", i), i - 1
    counts = tuple(f"$classes_of_{k}" for k in sizes)
    states = tuple(f"{NEW}{k}" for k in sizes) + tuple(f"{SAME}{j}" for j in range(1, i))
    range_of_h = tuple(str(h) for h in range(max(sizes) + 1))
    drawn = TargetClassLeaked(classes, sizes, counts, "$leaked", names("class_leaked", before))
    member = TargetInLeak(classes, own_leaked, names("in_leak", before))
    guess = TargetPicked(classes, own_leaked, inside, names("identified", before))
    return [
        Node(own_class, states, TargetClass(sizes, counts, classes[:-1]), classes[:-1],
             "The class of the target"),
        Node(own_leaked, range_of_h, drawn, (*classes, *drawn.earlier),
             "How many of the class are in the leak"),
        Node(inside, _YES_NO, member, (*classes, own_leaked, *member.earlier),
             "The target is in the leak"),
        Node(picked, _YES_NO, guess, (*classes, own_leaked, inside, *guess.earlier),
             "The guess among the leaked of the class falls on the target"),
    ]  # fmt: skip


def _refuse_large(n: int, sizes: tuple[int, ...]) -> None:
    """The largest table: how much of the last target's class leaked, given all before."""
    cells = (max(sizes) + 1.0) ** n
    for i in range(n):
        cells *= len(sizes) + i
    if cells > _MOST_CELLS:
        raise TooLarge(
            f"the graph of {n} targets in classes of {len(sizes)} sizes up to {max(sizes)} needs "
            f"a table of {cells:.2g} numbers; rb.leak.joint_risk needs no graph"
        )
