"""A question, read and checked against its attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reidbn.attack.attack import Attack
from reidbn.attack.parts import Given, Node, parse_given, parse_states
from reidbn.cpds.protocol import NO, YES
from reidbn.cpds.report import Report, left_out
from reidbn.errors import UsageError, did_you_mean


@dataclass(frozen=True)
class Query:
    """Target states (or a node whose whole distribution is wanted), evidence, interventions."""

    targets: tuple[str, ...]
    wanted: Mapping[str, str]
    given: Mapping[str, str]
    do: Mapping[str, str]
    reports: Mapping[str, str] = field(default_factory=dict)  # soft evidence in words, by node

    @property
    def known(self) -> list[str]:
        """What is given, in words."""
        return [self.reports.get(n, f"{n}={s}") for n, s in self.given.items()]

    @property
    def is_distribution(self) -> bool:
        return not self.wanted

    def describe(self) -> str:
        target = ", ".join(f"{n}={s}" for n, s in self.wanted.items()) or ", ".join(self.targets)
        given = ", ".join(self.known)
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
    known = parse_given({} if given is None else given)
    target, known = _named_question(attack, target, known)
    attack, hard, words = with_soft_evidence(attack, known)
    done = parse_states({} if do is None else do)
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
    return attack, Query(targets, wanted, hard, done, words)


def _named_question(
    attack: Attack, target: str | Mapping[str, str], given: dict[str, Given]
) -> tuple[str | Mapping[str, str], dict[str, Given]]:
    """A bare word that names a question of the attack, and no node, stands for that question."""
    if isinstance(target, str) and target in attack.questions and target not in attack.all_nodes:
        question = attack.questions[target]
        return question.target, {**question.given, **given}
    return target, given


def with_soft_evidence(
    attack: Attack, given: Mapping[str, Given]
) -> tuple[Attack, dict[str, str], dict[str, str]]:
    """Evidence `node: {state: likelihood}` as a report on the node that was seen to say yes.

    P(report = yes | state) is the likelihood, so P(evidence) stays a probability.  Returned are the
    attack with its reports, the states that are given, and the reports in words.
    """
    hard: dict[str, str] = {}
    words: dict[str, str] = {}
    for node, value in given.items():
        if isinstance(value, str):
            hard[node] = value
            continue
        if node not in attack.all_nodes:
            raise UsageError(f'no node "{node}"; {did_you_mean(node, attack.all_nodes)}')
        _check_states(attack.all_nodes[node], value)
        report = Node(
            _free_name(attack, f"{node}_report"), (NO, YES), Report(dict(value)), (node,),
            story=f"An uncertain report about {node}", source="evidence of the question",
        )  # fmt: skip
        attack = attack.with_node(report)
        hard[report.name] = YES
        words[report.name] = f"{node}=" + ",".join(f"{s}:{p:.12g}" for s, p in value.items())
    return attack, hard, words


def _check_states(node: Node, likelihood: Mapping[str, float]) -> None:
    """All states are named, and no others; of a span only what no parameter can change."""
    if isinstance(node.states, str):
        odd = [state for state in likelihood if not state.lstrip("-").isdigit()]
        if odd or not likelihood:
            raise UsageError(f"{node.name} has the states {node.states}, not {', '.join(odd)}")
        return
    unknown = [state for state in likelihood if state not in node.states]
    if unknown:
        hint = did_you_mean(unknown[0], node.states)
        raise UsageError(f'{node.name} has no state "{unknown[0]}"; {hint}')
    missing = [state for state in node.states if state not in likelihood]
    if missing:
        raise UsageError(left_out(node.name, missing))


def _free_name(attack: Attack, wanted: str) -> str:
    """A name that nothing of the author's has."""
    taken = {*attack.all_nodes, *attack.groups, *attack.parameters, *attack.subject}
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def refuse_nothing(query: Query) -> None:
    """A question has to ask for something."""
    if not query.targets:
        raise UsageError("an empty target asks for nothing; name a state, such as node=yes")
