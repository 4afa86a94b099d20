"""Asking: one question, any engine, any number of subjects and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attack.attack import Attack
from reidbn.attack.scenario import Scenario
from reidbn.attack.scenariofile import load_scenario
from reidbn.calls import renamed, typed
from reidbn.errors import ImpossibleEvidence, TooLarge, UsageError, did_you_mean, which_state
from reidbn.inference import enumeration, exact
from reidbn.inference.answer import Answer, Expectation
from reidbn.inference.counted import by_counts, counted_nodes, interval
from reidbn.inference.cut import looked_at, shares, tell_cut
from reidbn.inference.estimates import estimate
from reidbn.inference.lowering import STEPS, WHOLE, Lowering
from reidbn.inference.network import Array, Network, check_mass
from reidbn.inference.policies import told_policy, with_policy
from reidbn.inference.query import Query, read_query, refuse_nothing
from reidbn.inference.tensors import BUDGET, rows_of
from reidbn.inference.ties import tied_in
from reidbn.inference.values import check_settings, parameter_values, subject_values
from reidbn.progress import progress

MEMORY = 256 * 2**20  # bytes that the tables of one block of subjects may take
ENGINES = ("exact", "pgmpy", "enumeration", "sampling")


@renamed(rows="draws")
@typed
def ask(
    attack: Attack | str,
    target: str | Mapping[str, str] | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    engine: str = "exact",
    draws: int = 1_000_000,
    seed: int = 0,
    beyond_range: bool = False,
    policy: Any = None,
    scenario: Scenario | str | None = None,
) -> Answer | Expectation:
    """P(target | given, do) and P(given | do); of a question about a mean, an Expectation.

    Without a target: the attack's question called "risk", or its only one.  An event may be more
    than states: "a=yes or b=yes", "not (a=yes, b=no)", "n>=3", "known>=2" of a group.
    `beyond_range=True` also takes values outside the ranges that the attack declares.

    `given` is what is known, `do` what is brought about, `set` gives parameters values and
    `subject` is what a table says of one person. `engine` is exact, enumeration, pgmpy or sampling,
    which takes so many random `draws` from `seed`.

    An attacker who decides takes his best policy, or the `policy` that is given: an option for each
    decision, {"attacks": "yes"}, rows over what is seen, or what rb.decide found.

    A `scenario` is a file, or what rb.load_scenario read: what it sets, gives and does holds where
    the call says nothing else of it.  One that says what is known of people changes assessments.

    >>> a = ask("leak-single", "identified=yes", set={"leaked": 4000, "class_size": 5})
    >>> round(float(a), 12)
    0.184458368691
    """
    attack = load_attack(attack)
    if scenario is not None:
        said = load_scenario(scenario).without_people()
        attack, set = said.on(attack), {**said.set, **(set or {})}
        given, do = {**said.given, **(given or {})}, {**said.do, **(do or {})}
    if policy is not None:
        own = ask(
            with_policy(attack, policy), target, given=given, do=do, set=set, subject=subject,
            engine=engine, draws=draws, seed=seed, beyond_range=beyond_range,
        )  # fmt: skip
        return replace(own, policy=told_policy(policy))
    attack, query = read_query(attack, target, given, do)
    refuse_nothing(query)
    check_settings(attack, set, beyond_range=beyond_range)
    if engine not in ENGINES:
        raise UsageError(f'no engine "{engine}"; {did_you_mean(engine, ENGINES)}')
    if query.scale is not None:
        return expectation(attack, query, set, subject, engine=engine, draws=draws, seed=seed)
    return _answer(attack, query, set, subject, engine, draws, seed)


def _answer(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any] | None,
    subject: Mapping[str, Any] | None,
    engine: str,
    draws: int,
    seed: int,
) -> Answer:
    if engine == "sampling":
        answer = estimate(attack, query, settings or {}, subject, draws=draws, seed=seed)
        answer = _with_ties(answer, settings or {}, subject)
        return replace(answer, cut=tell(attack, query, settings, subject))
    values = joint(attack, query, settings, subject, engine=engine, alone=True)
    states = attack_states(attack, query, settings)
    answer = to_answer(attack, query, values, states, engine, settings or {}, subject)
    answer = replace(answer, cut=tell(attack, query, settings, subject))
    names = attack.upstream([*query.targets, *query.given], cut=query.do)
    counted = counted_nodes(attack, names)
    answer = _with_ties(answer, settings or {}, subject)
    if values.shape[:2] == (1, 1) and counted and not query.is_distribution:
        columns = subject_values(attack, subject)
        alone = partial(joint, alone=True, worst=answer.worst is not None)
        drawn = by_counts(attack, counted, query, settings or {}, columns, alone)[:, 0]
        given = drawn.sum(axis=tuple(range(1, drawn.ndim))) if query.given else np.ones(len(drawn))
        wanted: Any = (slice(None), *positions(attack, query, settings or {}))
        ends, share = interval(drawn[wanted], given)
        answer = replace(answer, by_counts=ends, by_counts_share=share)
    return answer


def _with_ties(
    answer: Answer, settings: Mapping[str, Any], subject: Mapping[str, Any] | None
) -> Answer:
    """With the decisions that are tied, and the highest answer of the policies that are."""
    attack, query = answer.attack, answer.query
    answer = replace(answer, tied=_tied_for(attack, query, settings, subject))
    if not answer.tied or not query.wanted:
        return answer
    try:
        values = joint(attack, query, settings, subject, alone=True, worst=True)
    except (UsageError, TooLarge):  # which has the highest is not told, that they are tied is
        return answer
    worst = to_answer(attack, query, values, (), "exact", settings, subject).probability
    return replace(answer, worst=np.asarray(worst))


def _tied_for(
    attack: Attack, query: Query, settings: Mapping[str, Any], subject: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """Decisions that are tied, where any has a say in the answer."""
    names = attack.upstream([*query.targets, *query.given], cut=query.do)
    if attack.decisions.keys().isdisjoint(attack.above(names, query.do)):
        return ()
    return tied(attack, settings, subject, query.do)


def by_tied(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any],
    subject: Mapping[str, Any] | None,
    impossible: NDArray[np.bool_],
) -> str:
    """What to do where evidence is impossible under the policy taken, and not under one as good.

    `impossible` has axes subject, setting; empty where no other policy gives it an answer above 0.
    """
    names = _tied_for(attack, query, settings, subject)
    may = "may have"
    if names and query.wanted:
        with suppress(UsageError, TooLarge):  # then whether another has one is not told
            values = joint(attack, query, settings, subject, alone=True, worst=True)
            evidence = values.sum(axis=tuple(range(2, values.ndim)))
            may = "has" if (evidence[impossible] > 0).any() else ""
    if not names or not may:
        return ""
    return (
        f" under the policy that is taken; at {', '.join(names)} another option is worth the same "
        f"to the attacker and {may} an answer: ask under that policy, too (policy=)"
    )


def tied(
    attack: Attack,
    settings: Mapping[str, Any],
    subject: Mapping[str, Any] | None,
    do: Mapping[str, str],
) -> tuple[str, ...]:
    """Decisions in which another option is worth as much, where what is seen then can be."""
    lowering = Lowering(
        attack, settings, nodes={*attack.behind_decisions, *attack.upstream(do)}, whole=STEPS
    )
    columns = subject_values(attack, subject)
    subjects = rows_of(columns)
    step = at_once(lowering, subjects)
    found: set[str] = set()
    starts = range(0, subjects, step)
    for start in starts:
        part = {n: v[start : start + step] if len(v) > 1 else v for n, v in columns.items()}
        solved = lowering.decided(lowering.undecided(part), part, blocks=len(starts))
        found |= tied_in(solved, do)
    return tuple(name for name in attack.decisions if name in found)


def expectation(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    *,
    engine: str = "exact",
    draws: int = 1_000_000,
    seed: int = 0,
) -> Expectation:
    """The mean that a question asks for, from the distribution of its node."""
    assert query.scale is not None  # noqa: S101 - callers asked for a mean
    whole = replace(query, targets=(query.scale.node,), wanted={}, scale=None)
    answer = _answer(attack, whole, settings, subject, engine, draws, seed)
    values = parameter_values(attack, settings)
    structural = {name: float(values[name][0]) for name in attack.structural}
    numbers = attack.variable(query.scale.node, structural).numbers
    p = np.asarray(answer.probability)
    mean = p @ numbers
    sd = np.sqrt((p * (numbers - mean[..., None]) ** 2).sum(axis=-1))
    interval = None
    if answer.draws:
        fits = answer.draws * float(answer.evidence_probability)
        half = 1.96 * float(sd) / float(np.sqrt(fits))
        interval = float(mean) - half, float(mean) + half
    return Expectation(
        query=query,
        value=mean,
        sd=sd,
        probability=p,
        evidence_probability=answer.evidence_probability,
        states=answer.states,
        engine=engine,
        attack=attack,
        settings=dict(settings or {}),
        draws=answer.draws,
        interval=interval,
        cut=answer.cut,
        tied=answer.tied,
        worst=_highest_mean(attack, query, settings, subject) if answer.tied else None,
    )


def _highest_mean(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any] | None,
    subject: Mapping[str, Any] | None,
) -> Array | None:
    """The highest mean of the policies that are tied; None where they are too many to try."""
    assert query.scale is not None  # noqa: S101 - callers asked for a mean
    try:
        values = joint(attack, query, settings, subject, alone=True, worst=True)
    except (UsageError, TooLarge):
        return None
    found = to_answer(attack, query, values, (), "exact", settings or {}, subject)
    return np.asarray(query.scale.value(np.asarray(found.probability)))


def joint(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    *,
    engine: str = "exact",
    validate: bool = True,
    alone: bool = False,
    worst: bool = False,
) -> Array:
    """P(targets, evidence) for all subjects and settings: axes subject, setting, targets.

    What is cut off is said beside it, unless the numbers are asked for `alone`.  Of policies that
    are worth the same to the attacker, `worst` takes that with the highest answer.
    """
    columns = subject_values(attack, subject)
    if not alone:
        tell(attack, query, settings, columns, within=not validate)
    try:
        return _joint(
            attack, query, settings or {}, columns, engine=engine, validate=validate, worst=worst
        )
    except TooLarge as large:
        pieces = _in_pieces(attack, settings or {}, large)
        if engine != "exact" or len(pieces) < 2:
            raise
    found = [
        joint(
            attack, query, piece, subject, engine=engine, validate=validate, alone=True, worst=worst
        )
        for piece in progress(pieces, "exact inference, some settings at a time")
    ]
    counts = [rows_of(piece) for piece in pieces]
    return np.concatenate(
        [np.broadcast_to(v, (v.shape[0], n, *v.shape[2:]))
         for v, n in zip(found, counts, strict=True)], axis=1)  # fmt: skip


def tell(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any] | None,
    subject: Mapping[str, Any] | None,
    *,
    within: bool = False,
) -> dict[str, float]:
    """Say beside an answer what is cut off of what it stands on; of each node, how much at most.

    `within`: settings that lie beyond their ranges stand for a polynomial, not for themselves.
    """
    if not looked_at(attack, query):
        return {}
    values = dict(settings or {})
    if within:
        ranges = {name: attack.settable[name].range for name in values}
        values = {name: np.clip(v, *ranges[name]) for name, v in values.items()}
    return tell_cut(attack, query, values, subject_values(attack, subject), _alone)


def cut_of(
    attack: Attack, query: Query, settings: Mapping[str, Any], subject: Mapping[str, Any] | None
) -> Array:
    """By how much the answer may be higher for what lies beyond states, at every setting.

    Of a mean it is how much lies beyond them: nothing says by how much that raises it.
    """
    columns, missed = subject_values(attack, subject), query.scale is None
    found = shares(
        attack, looked_at(attack, query), query, settings, columns, _alone, missed=missed
    )
    return np.asarray(sum((worst for _, worst, _ in found), np.zeros(1)))


def _alone(attack: Attack, query: Query, settings: Any, columns: Mapping[str, Array]) -> Array:
    return joint(attack, query, settings, columns, validate=False, alone=True)


def _in_pieces(
    attack: Attack, settings: Mapping[str, Any], large: TooLarge
) -> list[dict[str, Any]]:
    """The settings in as many pieces as make what was too large fit; one when that cannot help."""
    values = parameter_values(attack, settings)
    count = rows_of(values)
    parts = min(count, -(-large.numbers // BUDGET))
    cuts = np.array_split(np.arange(count), max(parts, 1))
    return [
        {n: values[n][cut] if len(values[n]) > 1 else values[n] for n in settings} for cut in cuts
    ]


def refuse_dear(attack: Attack, query: Query, settings: Mapping[str, Any]) -> None:
    """Refuse now what `joint` would refuse of one subject, by the model's example, if it has one.

    For whoever has much to do before there are subjects; settings are not checked here.
    """
    if attack.subject.keys() - attack.example.keys():
        return
    known = {name: value for name, value in settings.items() if name in attack.settable}
    lowering = Lowering.of(attack, known, query, validate=False, whole=STEPS)
    network = lowering.undecided(subject_values(attack, None)).do(query.do)
    evidence = {n: network.state_index(n, s) for n, s in query.given.items()}
    exact.Plan(query.targets, evidence).laid_out(network)


def _joint(
    attack: Attack,
    query: Query,
    settings: Mapping[str, Any],
    columns: Mapping[str, Array],
    *,
    engine: str,
    validate: bool,
    worst: bool,
) -> Array:
    quick = engine == "exact"
    lowering = Lowering.of(
        attack, settings, query, validate=validate, whole=STEPS if quick else WHOLE
    )
    subjects = rows_of(columns)
    run = _engine(engine, query, check=validate)

    def ask_block(start: int, stop: int) -> list[Array]:
        """The block at once, or in smaller ones where something on the way would not fit."""
        part = {
            n: np.ascontiguousarray(v[start:stop]) if len(v) > 1 else v for n, v in columns.items()
        }
        try:
            network = lowering.network(part, query if worst else None, len(starts))
            values = run(network.do(query.do))
        except TooLarge as large:
            size = (stop - start) // -(-large.numbers // BUDGET) if large.numbers else 0
            if stop - start < 2 or not (quick and large.numbers):
                raise
            size = max(1, size)
            return [v for at in range(start, stop, size)
                    for v in ask_block(at, min(at + size, stop))]  # fmt: skip
        return [np.broadcast_to(values, (stop - start, *values.shape[1:]))]

    leaning = (*query.targets, *query.given) if worst else ()
    step = at_once(lowering, subjects, leaning=leaning) if quick else subjects
    starts, blocks = range(0, subjects, step), list[Array]()
    for start in progress(starts, "exact inference"):
        blocks += ask_block(start, min(start + step, subjects))
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


def _engine(engine: str, query: Query, *, check: bool) -> Any:
    if engine == "exact":
        plans: list[exact.Plan] = []

        def run(network: Network) -> Array:
            if not plans:
                evidence = {n: network.state_index(n, s) for n, s in query.given.items()}
                plans.append(exact.Plan(query.targets, evidence))
            return plans[0].joint(network, check=check)

        return run
    return lambda network: _one_by_one(engine, query, network)


def _one_by_one(engine: str, query: Query, network: Network) -> Array:
    """The reference engines take one subject at one setting at a time."""
    from reidbn.inference import pgmpy_bridge

    out = []
    for i in range(network.subjects):
        for t in range(network.settings):
            if engine == "enumeration":
                p = enumeration.joint(network, query.targets, query.given, subject=i, setting=t)
            else:
                model = pgmpy_bridge.network_to_pgmpy(network, subject=i, setting=t)
                p = pgmpy_bridge.joint(model, query.targets, query.given)
            out.append(p)
    values = np.array(out).reshape(network.subjects, network.settings, *out[0].shape)
    check_mass(values, None if query.given else 1.0)
    return values


def at_once(
    lowering: Lowering, subjects: int, *, leaning: Sequence[str] = (), options: int = 0
) -> int:
    """Subjects per block: their tables, and those of who decides, stay within the memory budget.

    `leaning` are nodes by which ties between policies are broken, and `options` numbers of a table
    over all that is decided.
    """
    per_subject = 8 * 4 * max(lowering.numbers, 1)
    deciding = 8 * lowering.settings * (options + lowering.decided_together(leaning))
    return max(1, min(subjects, MEMORY // 8 // per_subject, MEMORY // 2 // max(deciding, 1)))


def attack_states(
    attack: Attack, query: Query, settings: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """The states of a node asked as a whole, at the structural values of the setting."""
    if not query.is_distribution:
        return ()
    values = parameter_values(attack, settings)
    structural = {name: float(values[name][0]) for name in attack.structural}
    return attack.variable(query.targets[0], structural).states


def to_answer(
    attack: Attack,
    query: Query,
    values: Array,
    states: tuple[str, ...],
    engine: str,
    settings: Mapping[str, Any],
    subject: Mapping[str, Any] | None,
) -> Answer:
    """Normalise P(targets, evidence); impossible evidence raises."""
    axes = tuple(range(2, values.ndim))
    # Without evidence there is nothing to divide by; the sum would be 1 up to rounding.
    evidence = values.sum(axis=axes) if query.given else np.ones(values.shape[:2])
    if query.given and (evidence <= 0).any():
        share = float((evidence <= 0).mean())
        where = "" if np.size(evidence) == 1 else f" for {share:.1%} of subjects and settings"
        other = by_tied(attack, query, settings, subject, evidence <= 0)
        raise ImpossibleEvidence(
            f"{attack.name}: the evidence {', '.join(query.known)} has probability 0{where}{other}"
        )
    if query.wanted:
        index = positions(attack, query, settings)
        at: Any = (slice(None), slice(None), *index)
        values = values[at]
    p = values / evidence.reshape(evidence.shape + (1,) * (values.ndim - 2))
    single = values.shape[:2] == (1, 1)
    return Answer(
        query=query,
        probability=p[0, 0] if single else p,
        evidence_probability=evidence[0, 0] if single else evidence,
        states=states,
        engine=engine,
        attack=attack,
        settings=dict(settings),
    )


def positions(attack: Attack, query: Query, settings: Mapping[str, Any]) -> list[int]:
    """Positions of the wanted states on the axes of the targets."""
    values = parameter_values(attack, settings)
    structural = {name: float(values[name][0]) for name in attack.structural}
    out = []
    for node, state in query.wanted.items():
        states = attack.variable(node, structural).states
        if state not in states:
            raise UsageError(f'{node} has no state "{state}"; {which_state(state, states)}')
        out.append(states.index(state))
    return out


def load_attack(attack: Attack | str) -> Attack:
    if isinstance(attack, Attack):
        return attack
    if not isinstance(attack, str | PathLike):
        raise UsageError(
            f"{type(attack).__name__} is no attack; give the name of a shipped one, the path of a "
            f"model file, or an Attack"
        )
    from reidbn.attack.modelfile import load

    loaded: Attack = load(attack)
    return loaded
