"""A policy written into an attack: what was a decision is then a node like any other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Node, parse_given, parse_states
from reidbn.cpds.protocol import NO, YES, Array
from reidbn.cpds.rows import Row, Rows, Table
from reidbn.errors import ModelError, UsageError, did_you_mean

_FORM = (
    'an option for each decision, such as {"attacks": "yes"}, or rows, such as {"attacks": '
    '[{"when": {"motive": "money"}, "p": {"yes": 1}}, {"p": {"no": 1}}]}, rules, such as '
    '"attacks=yes if motive=money; attacks=no", or what rb.decide found (whose .rules are such)'
)

GIVEN = "(policy given)"  # ends the story of a decision that is a node now

OF_ONE = "(decided for one person)"  # ends the story of such a node, in files too

OF_TIED = "(Another option is worth the same to the attacker: answers may be higher under it.)"


@runtime_checkable
class HasTables(Protocol):
    """A result that knows a table for every decision, axes subject, what is seen, options."""

    @property
    def tables(self) -> Mapping[str, Array]: ...


def with_policy(attack: Attack, policy: Any) -> Attack:
    """The attack with a policy in the places of its decisions; those not named stay decisions.

    `policy` is an option for each decision, rows over what is seen, rules of which the first that
    fits counts ("attacks=yes if motive=money; attacks=no"), or what rb.decide found.

    >>> from reidbn.attack.modelfile import load
    >>> with_policy(load("insider-decides"), {"attacks": "yes"}).decisions
    {}
    """
    policy = _in_rows(policy)
    of_one = isinstance(policy, HasTables) and _differs_between_people(attack)
    if isinstance(policy, HasTables):
        policy = dict(policy.tables)
    if not isinstance(policy, Mapping) or not policy:
        raise UsageError(f"policy takes {_FORM}")
    unknown = [name for name in policy if name not in attack.decisions]
    if unknown:
        hint = (
            did_you_mean(str(unknown[0]), attack.decisions) if attack.decisions else "it has none"
        )
        raise UsageError(f'{attack.name} has no decision "{unknown[0]}"; {hint}')
    nodes = [_settled(attack, attack.decisions[name], taken) for name, taken in policy.items()]
    if of_one:
        nodes = [replace(n, story=f"{n.story} {OF_ONE}".strip()) for n in nodes]
    left = attack.decisions.keys() - policy.keys()
    try:
        return attack.replace(
            nodes=attack.nodes.replace(*nodes), utilities=attack.utilities if left else ()
        )
    except ModelError as error:
        raise UsageError(_refused(error)) from None


def _refused(error: ModelError) -> str:
    """What is wrong with the rules of a policy, by decision and rule."""
    said = []
    for problem in error.problems:
        if not problem.is_warning:
            name, place = problem.where[1:2], [n for n in problem.where if isinstance(n, int)][:1]
            where = [*name, *(f"rule {n + 1}" for n in place)]
            said.append(": ".join(["policy", *map(str, where), problem.message]))
    return "; ".join(said)


def _in_rows(policy: Any) -> Any:
    """A policy whose rules are in words, or as rb.decide has them, as rows."""
    if isinstance(policy, list | tuple) and all(isinstance(rule, str) for rule in policy):
        policy = "; ".join(policy)
    return read_rules(policy) if isinstance(policy, str) else policy


def read_rules(text: str) -> dict[str, Any]:
    """A policy in words: of each decision the rules in their order, of which the first that fits.

    A rule ends with its line or with a semicolon; an option may be chances of several.

    >>> read_rules("a=yes if aim=money, knows=no; a=no; b=yes:0.3,no:0.7")["a"]
    [{'p': {'yes': 1.0}, 'when': {'aim': 'money', 'knows': 'no'}}, {'p': {'no': 1.0}}]
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    for rule in (part.strip() for part in re.split(r"[;\n]", text)):
        taken, is_bound, seen = re.split(r"\s(if)\s", rule, maxsplit=1) if " if " in rule else (
            rule, "", "")  # fmt: skip
        when = {"when": parse_states(seen)} if is_bound else {}
        for name, option in (parse_given(taken.rstrip(" ,")) if rule else {}).items():
            chances = {option: 1.0} if isinstance(option, str) else dict(option)
            rows.setdefault(name, []).append({"p": chances, **when})
    if not rows:
        raise UsageError(f"policy takes {_FORM}")
    return {
        name: next(iter(found[0]["p"])) if len(found) == 1 and found[0].keys() == {"p"}
        and len(found[0]["p"]) == 1 else found
        for name, found in rows.items()
    }  # fmt: skip


@dataclass(frozen=True)
class Rules:
    """What is done for what is seen as rules, of which the first that fits counts."""

    used: tuple[str, ...]
    never: tuple[str, ...]
    """Those of what never happens that say something else than the last rule."""
    last: str

    @property
    def every(self) -> tuple[str, ...]:
        """All of them, in the order in which they are read."""
        return *self.used, *self.never, self.last


def as_rules(
    attack: Attack, name: str, table: Array, states: Mapping[str, tuple[str, ...]],
    happens: NDArray[np.bool_],
) -> Rules:  # fmt: skip
    """What is done for what is seen as rules, the most frequent of what ever happens last."""
    node, found = attack.decisions[name], dict[str, tuple[list[str], list[str]]]()
    for at in np.ndindex(*table.shape[:-1]):
        seen = []
        for parent, place in zip(node.parents, at, strict=True):
            if parent in attack.groups:
                members = attack.groups[parent].members
                seen += [f"{m}={YES if place >> j & 1 else NO}" for j, m in enumerate(members)]
            else:
                seen.append(f"{parent}={states[parent][place]}")
        chances = table[at].tolist()
        taken = ",".join(f"{o}:{p!r}" for o, p in zip(node.states, chances, strict=True))
        if max(chances) == 1.0:
            taken = node.states[chances.index(1.0)]
        both = found.setdefault(f"{name}={taken}", ([], []))
        both[0 if happens[at] else 1].append(", ".join(seen))
    *rare, usual = sorted(found.items(), key=lambda rule: [len(cases) for cases in rule[1]])
    used, never = (
        tuple(f"{taken} if {seen}" for taken, both in rare for seen in both[k]) for k in (0, 1)
    )
    return Rules(used, never, usual[0])


def told_policy(policy: Any) -> dict[str, str]:
    """What is taken of each decision, in a word: its option, or where its rows come from.

    >>> told_policy({"attacks": True}), told_policy({"attacks": [{"p": {"no": 1}}]})
    ({'attacks': 'yes'}, {'attacks': 'rows given'})
    """
    if isinstance(policy, HasTables):
        return dict.fromkeys(policy.tables, "as rb.decide found")
    policy = _in_rows(policy)
    options = {True: "yes", False: "no"}
    return {
        name: options[x] if isinstance(x, bool) else x if isinstance(x, str) else "rows given"
        for name, x in (policy or {}).items()
    }


def refuse_policy_of_one(attack: Attack) -> None:
    """Raise where a policy that was decided for one person would be that of a whole table."""
    found = [name for name, node in attack.nodes.items() if node.story.endswith(OF_ONE)]
    if found:
        raise UsageError(
            f"{attack.name}: what {', '.join(found)} is was decided for one person (rb.decide of "
            f"its example, or of one subject), and is another for others of a table: take the "
            f"model itself, in which the attacker decides for each person; or write a node with "
            f"rows that hold for everybody"
        )


def _differs_between_people(attack: Attack) -> bool:
    """Whether what a table says of a person has a say in what is decided."""
    refs = [r for n in attack.behind_decisions for r in attack.behind(attack.all_nodes[n].cpd)]
    return any(r.startswith("@") for r in (*refs, *attack.behind_utilities))


def reckoned_with(attack: Attack, states: Mapping[str, str]) -> Attack:
    """The attack in which nodes have these states for sure, and the attacker knows it.

    An intervention (`do`) leaves his policy as it was; here he decides anew.
    """

    def sure(node: Node) -> Node:
        if node.name not in states:
            return node
        one = Rows((Row({states[node.name]: 1.0}),))
        return replace(node, cpd=one, parents=(), source=node.source or "brought about")

    named = [g for g in attack.groups.values() if not states.keys().isdisjoint(g.members)]
    groups = [replace(g, own=tuple(map(sure, g.member_nodes()))) for g in named]
    nodes = [sure(attack.nodes[name]) for name in states if name in attack.nodes]
    return attack.replace(
        nodes=attack.nodes.replace(*nodes),
        groups=attack.groups.replace(*groups),
        utilities=attack.utilities if attack.decisions.keys() - states.keys() else (),
    )


def refuse_undecided(attack: Attack, what: str) -> None:
    """Raise where a decision would be handed on as a chance."""
    if attack.decisions:
        said = f"{attack.name}: {what} has no place for {', '.join(attack.decisions)}, which the "
        said += "attacker decides. Take {}, which is kept whatever is changed there"
        raise UsageError(
            said.format("rb.decide(attack).attack, with his policy written in"),
            in_shell=said.format(
                "--policy with his rules, which reidbn decide ends with (and with where another "
                "option is worth the same to him)"
            ),
        )


def _settled(attack: Attack, node: Node, taken: Any) -> Node:
    """The node of one decision, with its table."""
    options = tuple(node.states)
    story = f"{node.story} {GIVEN}".strip()
    node = replace(node, story=story, source=node.source or "policy given")
    if isinstance(taken, bool | str):
        option = ("yes" if taken else "no") if isinstance(taken, bool) else taken
        if option not in options:
            hint = did_you_mean(option, options)
            raise UsageError(f'policy: {node.name} has no option "{option}"; {hint}')
        return replace(node, cpd=Rows((Row({option: 1.0}),)))
    if isinstance(taken, list | tuple):
        return _by_rows(attack, node, taken)
    if hasattr(taken, "shape"):
        if len(taken) > 1:
            raise UsageError(
                f"policy: what {node.name} is differs between {len(taken):,} people; decide for "
                f"one of them (subject={{...}}), or give rows that hold for all"
            )
        rows = taken.reshape(-1, len(options)).tolist()
        return replace(node, cpd=Table(tuple(map(tuple, rows))))
    raise UsageError(f"policy: {node.name} takes {_FORM}")


def _by_rows(attack: Attack, node: Node, rows: Any) -> Node:
    """Rows over what is seen; members of a group that is seen may be named one by one."""
    made = []
    for row in rows:
        if not isinstance(row, Mapping) or not {*row} <= {"when", "p"} or "p" not in row:
            raise UsageError(f"policy: {node.name} takes {_FORM}")
        made.append(Row(row["p"], row.get("when") or {}))
    named = {name for row in made for name in row.when}
    known = [*node.parents]
    known += [m for p in node.parents if p in attack.groups for m in attack.groups[p].members]
    for name in sorted(named - {*known}):
        hint = did_you_mean(name, known) if known else "it sees nothing"
        raise UsageError(f'policy: {node.name} is decided without seeing "{name}"; {hint}')
    parents: list[str] = []
    for parent in node.parents:
        members = attack.groups[parent].members if parent in attack.groups else ()
        parents += members if named & {*members} else (parent,)
    return replace(node, cpd=Rows(tuple(made)), parents=tuple(parents))
