"""A question, read and checked against its attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Node, parse_states
from reidbn.cpds.protocol import NO, YES
from reidbn.cpds.rows import REST, Row, Rows
from reidbn.errors import UsageError, did_you_mean


@dataclass(frozen=True)
class Query:
    """Target states (or a node whose whole distribution is wanted), evidence, interventions."""

    targets: tuple[str, ...]
    wanted: Mapping[str, str]
    given: Mapping[str, str]
    do: Mapping[str, str]

    @property
    def is_distribution(self) -> bool:
        return not self.wanted

    def describe(self) -> str:
        target = ", ".join(f"{n}={s}" for n, s in self.wanted.items()) or ", ".join(self.targets)
        given = ", ".join(f"{n}={s}" for n, s in self.given.items())
        do = ", ".join(f"do {n}={s}" for n, s in self.do.items())
        conditions = ", ".join(c for c in (given, do) if c)
        return f"P({target} | {conditions})" if conditions else f"P({target})"


def default_question(attack: Attack) -> str:
    """What is asked when nothing is named: the question called "risk", or the only one.

    One rule for asking, what-if, assessing and the cross-check, in Python and in the shell.
    """
    main = attack.main_question
    if main is not None:
        return main.name
    if not attack.questions:
        raise UsageError(
            f"{attack.name} has no question of its own: say what to ask, such as node=state, or "
            f"add one to the model file, such as risk: {{target: identified=yes}}"
        )
    raise UsageError(
        f"{attack.name} has several questions and none is called risk: name one of "
        f"{', '.join(attack.questions)}, or an event such as node=state"
    )


def read_query(
    attack: Attack,
    target: str | Mapping[str, str] | None,
    given: str | Mapping[str, Any] | None = None,
    do: str | Mapping[str, Any] | None = None,
) -> tuple[Attack, Query]:
    """A question checked against the attack; soft evidence becomes explicit report nodes.

    Without a target it is the attack's default question.
    """
    if target is None:
        target = default_question(attack)
    if given is not None and not isinstance(given, Mapping):
        given = parse_states(given)
    target, given = _named_question(attack, target, given)
    attack, hard = with_soft_evidence(attack, given or {})
    done = parse_states(do or {})
    if isinstance(target, str) and "=" not in target:
        targets = tuple(t.strip() for t in target.split(","))
        wanted: dict[str, str] = {}
        if len(targets) > 1:
            raise UsageError(f'"{target}": ask one node as a whole, or states such as a=yes, b=no')
    else:
        wanted = parse_states(target)
        targets = tuple(wanted)
    for node in {*targets, *hard, *done}:
        if node not in attack.all_nodes:
            hint = did_you_mean(node, attack.all_nodes)
            raise UsageError(f'{attack.name} has no node "{node}"; {hint}')
    return attack, Query(targets, wanted, hard, done)


def _named_question(
    attack: Attack, target: str | Mapping[str, str], given: Mapping[str, Any] | None
) -> tuple[str | Mapping[str, str], Mapping[str, Any] | None]:
    """A bare word that names a question of the attack, and no node, stands for that question."""
    if isinstance(target, str) and target in attack.questions and target not in attack.all_nodes:
        question = attack.questions[target]
        return question.target, {**question.given, **(given or {})}
    return target, given


def with_soft_evidence(attack: Attack, given: Mapping[str, Any]) -> tuple[Attack, dict[str, str]]:
    """Evidence `node: {state: likelihood}` as a node "node_report" that was seen to say yes.

    P(report = yes | state) is the likelihood, so P(evidence) stays a probability.
    """
    hard: dict[str, str] = {}
    for node, value in given.items():
        if not isinstance(value, Mapping):
            hard |= parse_states({node: value})
            continue
        if node not in attack.all_nodes:
            raise UsageError(f'no node "{node}"; {did_you_mean(node, attack.all_nodes)}')
        if not all(0 <= float(p) <= 1 for p in value.values()):
            raise UsageError(f"{node}: a likelihood P(report | state) must lie between 0 and 1")
        rows = tuple(Row((REST, float(p)), {node: str(s)}) for s, p in value.items())
        report = Node(
            f"{node}_report", (NO, YES), Rows((*rows, Row((1.0, 0.0)))), (node,),
            story=f"An uncertain report about {node}", source="evidence of the question",
        )  # fmt: skip
        states = attack.all_nodes[node].states
        if not isinstance(states, str) and set(states) <= {str(s) for s in value}:
            report = replace(report, cpd=Rows(rows))
        attack = attack.with_node(report)
        hard[report.name] = YES
    return attack, hard
