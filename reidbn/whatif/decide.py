"""An attacker who decides: his best policy, what it is worth to him, and what stops him.

The policy is worked out for every subject on its own: the attacker knows the numbers of the model
and what the table says of the person, and besides what a decision `sees`.  What-if through a
decision is worked out anew at every setting; nothing is read off between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from reidbn.aside import aside, asides
from reidbn.attack.attack import Attack
from reidbn.attack.events import as_written
from reidbn.attack.scenario import Scenario
from reidbn.attack.scenariofile import load_scenario
from reidbn.attacks.routes.assessment import Assessment
from reidbn.attacks.routes.changes import what_if
from reidbn.calls import typed
from reidbn.cpds.decides import Decides, holds_back
from reidbn.cpds.protocol import Array, Ref
from reidbn.errors import ImpossibleEvidence, UsageError, did_you_mean
from reidbn.inference.answers import at_once, tell
from reidbn.inference.asked import Asked
from reidbn.inference.deciding import Choice, Solved, chance_seen
from reidbn.inference.exact import Plan
from reidbn.inference.lowering import STEPS, Lowering
from reidbn.inference.network import Network
from reidbn.inference.policies import OF_TIED, Rules, as_rules, with_policy
from reidbn.inference.ties import tied_in
from reidbn.inference.together import ROUNDING, order_of
from reidbn.inference.values import subject_values
from reidbn.inference.worst import TIED, Tied, of_tied, tied_in_words
from reidbn.late import late
from reidbn.progress import progress
from reidbn.whatif.cases import BringsCase, Target, case_of, change, row_by_row
from reidbn.whatif.done import left_out, policy_table
from reidbn.written import is_number

if TYPE_CHECKING:
    import pandas as pd

EXACT, LOCAL = "exact", "local"
MOST_RULES, MOST_SEEN = 24, 512  # rules that are printed, and cases that they are made of
MOST_STATES = 64  # of a node whose worth to know is asked for
_HOW = {
    EXACT: "no policy is worth more to the attacker",
    LOCAL: "no single decision can be bettered alone, but another policy may be worth more: what "
    "one decision sees another has forgotten, and its risk may be higher. Let later decisions see "
    "what earlier ones saw",
}
_SOFT = "options are taken by exp(worth / temperature), and another policy may be worth more"
_TIED = (
    "Where options or policies are worth the same, the attacker attacks: of those that are tied it "
    "is the one with the highest P(attack), and the risk of another may be another."
)
_LEFT_OPEN = (
    "ahead is over the next best option with what follows it in this policy; {} decided together "
    "with others, and what is done there in a case that never happens is left open: with the best "
    "that could follow, ahead may be less"
)
_TIED_CONTROLS = (
    f"{TIED}policies are worth the same to the attacker; risk is that of the one he takes, "
    "worst_tied the highest of them, and reduction and per_cost are of the highest before and after"
)


@dataclass(frozen=True, eq=False)
class Decision:
    """The attacker's best policy, its worth to him, and what it means for people."""

    case: Asked
    method: str
    """"exact": no policy is better; "local": no single decision can be bettered alone, and no
    other question is answered under it."""
    choices: Mapping[str, Choice] = field(repr=False)
    seen: Mapping[str, Array] = field(repr=False)
    """P(what is seen before each decision), those decided for themselves left open: where it is 0
    no policy of his brings it about."""
    happens: Mapping[str, Array] = field(repr=False)
    """P(what is seen before each decision) under this policy."""
    values: Array = field(repr=False)
    """What the attacker expects of each subject."""
    attacking: Array = field(repr=False)
    """P(attack) of each subject: some decision is not to hold back."""
    risks: Array = field(repr=False)
    options: Mapping[str, Array] = field(repr=False)
    """P(option) of each subject, decision by decision."""
    notes: tuple[str, ...] = ()
    again: Callable[[Scenario], Decision] | None = field(default=None, repr=False)
    """The same of the assessment that it is of, under another scenario."""

    # -- numbers ---------------------------------------------------------------------------

    def _mean(self, values: Array) -> float:
        return float(np.average(values, weights=self.case.weights))

    @property
    def value(self) -> float:
        """What the attacker expects, in the unit of the utilities; of people, their mean."""
        return self._mean(self.values)

    @property
    def attacks(self) -> float:
        """P(attack): some decision is taken otherwise than to hold back; of people, their mean."""
        return self._mean(self.attacking)

    @property
    def risk(self) -> float:
        """P(what is asked for) under this policy; of people, their mean."""
        return self._mean(self.risks)

    @cached_property
    def _ties(self) -> Tied:
        return of_tied(self.case, taken=self.risks[:, None]) if self.method == EXACT else Tied()

    @property
    def worst(self) -> Array | None:
        """Of policies that are worth the same the highest risk of each subject; None: no higher."""
        return None if self._ties.highest is None else self._ties.highest[:, 0]

    @property
    def highest(self) -> float:
        """The risk under the worst of the policies that are worth the same to the attacker."""
        return self.risk if self.worst is None else self._mean(self.worst)

    def __float__(self) -> float:
        return self.risk

    @property
    def unit(self) -> str:
        """What the attacker counts gain and cost in."""
        return next(iter(self.case.attack.utilities.values())).unit

    @property
    def chances(self) -> dict[str, dict[str, float]]:
        """P(option) of every decision; of people, their mean."""
        nodes = self.case.attack.decisions
        return {name: {o: self._mean(p[:, i]) for i, o in enumerate(nodes[name].states)}
                for name, p in self.options.items()}  # fmt: skip

    @property
    def tables(self) -> dict[str, Array]:
        """The policy as tables: axes subject, what is seen, options."""
        return {name: choice.policy[:, 0] for name, choice in self.choices.items()}

    @cached_property
    def attack(self) -> Attack:
        """The attack with this policy written in, which holds whatever is changed afterwards."""
        attack = as_written(self.case.attack)
        attack = attack.with_values(self.case.settings, beyond_range=True)
        settled = with_policy(attack, self)
        tied = [n for n, c in self.choices.items() if (c.tied & (self.seen[n] > 0)).any()]
        nodes = [settled.nodes[n] for n in tied]
        told = [replace(n, story=f"{OF_TIED} {n.story}") for n in nodes]
        return settled.with_node(*told)

    @cached_property
    def rules(self) -> tuple[str, ...]:
        """The policy as rules that `policy=`, attack.with_policy and --policy read again.

        Of each decision the first that fits counts; those of what never happens are in it, too.
        """
        return tuple(rule for name in self.choices for rule in self._rules(name).every)

    @property
    def never(self) -> tuple[str, ...]:
        """Those of the rules that are of what never happens: what he would do, if it did."""
        return tuple(rule for name in self.choices for rule in self._rules(name).never)

    def _rules(self, name: str) -> Rules:
        table, attack = self.tables[name], self.case.attack
        if len(table) > 1:
            raise UsageError(
                f"what {name} is differs between people; decide for one of them (subject={{...}})"
            )
        sizes = {n: self.case.base(n) for n in attack.structural}
        parents = attack.decisions[name].parents
        states = {p: attack.variable(p, sizes).states for p in parents}
        happens = np.broadcast_to(self.happens[name].max(axis=(0, 1)) > 0, table.shape[1:-1])
        return as_rules(attack, name, table[0], states, happens)

    @cached_property
    def people(self) -> pd.DataFrame:
        """One row per person, in record order.  Restricted: for the custodian alone."""
        import pandas as pd

        worst = {} if self.worst is None else {"worst_tied": self.worst}
        columns = {"attacks": self.attacking, "risk": self.risks, **worst, "value": self.values}
        return pd.DataFrame(row_by_row(self.case, **columns)).set_index("subject")

    # -- the policy ------------------------------------------------------------------------

    @cached_property
    def policy(self) -> pd.DataFrame:
        """What is done for what is seen; of several people, per class of people treated alike.

        `takes` is the option with the highest chance `p`, `happens` how likely this is what is
        seen, `worth` what the option is worth then, `ahead` how much more than the next best, each
        with what follows it in this policy, also on a path that is then never taken;
        `tied` says that another option is worth the same, or is taken in another policy that is, of
        those who decide together.  What never happens is left out, and counted in `notes`.
        """
        return policy_table(self.case, self.choices, self.happens)

    # -- what to know, and what to do about it -----------------------------------------------

    @typed
    def information(self, nodes: Sequence[str] | None = None) -> pd.DataFrame:
        """What it would be worth to the attacker to see a node, or a group, before he decides.

        `nodes` are those asked about; without, all that no decision of his can move.  `gain` is in
        the unit of the utilities; `attacks` and `risk` are what they would be then.
        """
        import pandas as pd

        if self.method != EXACT:
            raise UsageError(
                f"{self.case.attack.name}: this policy is local, another may be worth more: what "
                f"it would be worth to see more cannot be told. Let later decisions see what "
                f"earlier ones saw"
            )
        hair, rows = ROUNDING * max(np.abs(c.worth).max() for c in self.choices.values()), []
        for name in self._to_be_seen() if nodes is None else nodes:
            knowing = _seeing(self.case.attack, name)
            try:
                then = decided(replace(self.case, attack=knowing), may_be_local=False)
            except UsageError as problem:
                raise UsageError(f"with {name} seen: {problem}") from None
            gain = then.value - self.value
            rows.append({"node": name, "gain": gain if abs(gain) > hair else 0.0,
                         "attacks": then.attacks, "risk": then.risk})  # fmt: skip
        found = pd.DataFrame(rows, columns=["node", "gain", "attacks", "risk"])
        return found.sort_values("gain", ascending=False, kind="stable", ignore_index=True)

    def _to_be_seen(self) -> list[str]:
        attack = as_written(self.case.attack)
        members = {m for g in attack.groups.values() for m in g.members}
        sizes = {n: self.case.base(n) for n in attack.structural}
        few = [n for n in (*attack.groups, *attack.all_nodes)
               if n not in members and attack.variable(n, sizes).size <= MOST_STATES]  # fmt: skip
        return [name for name in few if _blind(attack, name)]

    @typed
    def controls(self, controls: Mapping[str, Any]) -> pd.DataFrame:
        """Which of the `controls` lowers the risk most per unit of cost, the best first.

        Where policies are worth the same to the attacker, `worst_tied` is the highest risk of them,
        and what a control does is told of it.

        Each is {"set": {...}, "do": {...}, "cost": ...}, or {"scenario": name, "cost": ...}, or
        {"assessment": of another table, "cost": ...}; the attacker knows of what is set.

        >>> found = decide("insider-decides")
        >>> audits = {"more audits": {"set": {"p_audit": 0.2}, "cost": 1000}}
        >>> found.controls(audits)[["control", "cost"]].values.tolist()
        [['more audits', 1000.0]]
        """
        import pandas as pd

        rows, each = [], [self]
        for name, said in controls.items():
            cost, then = self._under(name, said)
            down = self.highest - then.highest
            each.append(then)
            rows.append({"control": name, "cost": cost, "attacks": then.attacks, "risk": then.risk,
                         "worst_tied": then.highest,
                         "reduction": down, "per_cost": down / cost, "value": then.value,
                         "method": then.method})  # fmt: skip
        if not rows:
            raise UsageError(f"controls takes at least one, such as {_CONTROL}")
        found = pd.DataFrame(rows)
        for one in each:
            if not one._ties.is_known:
                aside("tied", 2.0, f"{one._ties.in_words}: controls are ranked by one of them")
        if all(one.worst is None for one in each):
            found = found.drop(columns="worst_tied")
        else:
            aside("tied", 1.0, _TIED_CONTROLS)
        return found.sort_values("per_cost", ascending=False, kind="stable", ignore_index=True)

    def _under(self, name: str, said: Any) -> tuple[float, Decision]:
        if not isinstance(said, Mapping) or "cost" not in said:
            raise UsageError(f'control "{name}" has no cost; write it as {_CONTROL}')
        rest = {key: value for key, value in said.items() if key != "cost"}
        cost = said["cost"]
        if not is_number(cost) or not cost > 0:
            raise UsageError(f'control "{name}": its cost must be a number above 0')
        if {*rest} == {"assessment"}:
            return float(cost), decided(case_of(rest["assessment"]))
        known = {"set", "do", "scenario", "assessment"}
        odd = [key for key in rest if key not in (*known, "given")]
        if odd or ({"scenario", "assessment"} & {*rest} and len(rest) > 1):
            hint = did_you_mean(odd[0], known) if odd else "one way at a time"
            raise UsageError(f'control "{name}": {", ".join(odd or rest)}; {hint}')
        thing = rest.get("scenario", rest)
        if "scenario" in rest and self.again is not None:
            scenario = load_scenario(thing)
            if scenario.knows is not None:  # what is known changes with the people's classes
                _refuse_evidence(name, scenario.given)
                return float(cost), self.again(scenario)
        changed = change(thing, name)
        _refuse_evidence(name, changed.given)
        return float(cost), decided(changed.on(self.case))

    # -- as text and data --------------------------------------------------------------------

    @property
    def in_words(self) -> str:
        """How sure it is that this policy is the best; of a softened attacker what it is."""
        soft = f"{self.method} under his temperature: {_SOFT}"
        return soft if self.is_soft else f"{self.method}: {_HOW[self.method]}"

    @property
    def is_soft(self) -> bool:
        """Whether he is less than rational, and takes options by their chances."""
        return any(((c.policy > 0) & (c.policy < 1)).any() for c in self.choices.values())

    def __repr__(self) -> str:
        of = f" of {self.case.count:,} people" if self.case.count > 1 else ""
        before = " without what is given" if self.case.query.given else ""
        return (
            f"{self.case.attack.name}{of}: P(attack) = {self.attacks:.4g}{before}, "
            f"{self.case.query.describe()} = {self.risk:.4g}, worth {self.value:.6g} {self.unit} "
            f"to the attacker ({self.method}{' under his temperature' if self.is_soft else ''})"
        )

    def __str__(self) -> str:
        lines = [repr(self), *self._each, self.policy.to_string(index=False)]
        lines.append(f"{self.in_words.capitalize()}.")
        if self._is_one:
            lines.append(f"As policy= and --policy read it: {'; '.join(self.rules)}")
        if self._is_one and self.never:
            lines.append(
                f"Of these, of what never happens (what he would do, if it did): "
                f"{'; '.join(self.never)}."
            )
        return "\n".join([*lines, *self._said])

    @property
    def _each(self) -> list[str]:
        """Of several decisions what P(attack) is of, and how often each option is taken."""
        if len(self.chances) == 1:
            return []
        told = (f"{name}: {', '.join(f'{o} {p:.4g}' for o, p in options.items())}"
                for name, options in self.chances.items())  # fmt: skip
        return [
            f"P(attack) is of any option but to hold back, in whatever decision: {'; '.join(told)}"
        ]

    @property
    def _is_one(self) -> bool:
        """Whether it is one policy for all, and of few rules."""
        tables = self.tables.values()
        few = all(len(t) == 1 and t[0, ..., 0].size <= MOST_SEEN for t in tables)
        return few and len(self.rules) <= MOST_RULES

    @cached_property
    def _said(self) -> tuple[str, ...]:
        """What is said beside it: ties, and what came up on the way."""
        most = "" if self.worst is None else f" The highest is {self.highest:.6g}."
        tied = [f"{_TIED}{most}"] if self.policy["tied"].any() else []
        return (*tied, *self._left_open, *left_out(self.choices, self.happens), *self.notes)

    @property
    def _left_open(self) -> list[str]:
        """Where decisions are taken together, of which that could follow what is not done."""
        together = order_of(self.case.attack)[1]
        found = [n for n in self.choices if n in together and (self.happens[n] <= 0).any()]
        are = f"{', '.join(found)} {'is' if len(found) == 1 else 'are'}"
        return [_LEFT_OPEN.format(are)] if found else []

    def to_dict(self) -> dict[str, Any]:
        """Every number, without people's own."""
        return {
            "attack": self.case.attack.name,
            "question": self.case.query.describe(),
            "method": self.method,
            "in_words": self.in_words,
            "people": self.case.count,
            "attacks": self.attacks,
            "risk": self.risk,
            **({} if self.worst is None else {"worst_of_tied": self.highest}),
            "value": self.value,
            "unit": self.unit,
            "chances": self.chances,
            "policy": self.policy.to_dict("records"),
            **({"rules": list(self.rules)} if self._is_one else {}),
            **({"rules_never_used": list(self.never)} if self._is_one and self.never else {}),
            **({"notes": self._said} if self._said else {}),
        }

    plot = late("reidbn.report.decision_figures:draw_decision")


_CONTROL = '{"audits": {"set": {"p_audit": 0.2}, "cost": 1000}}'


@typed
def decide(
    what: Attack | str | BringsCase,
    target: Target | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    temperature: Ref | None = None,
    beyond_range: bool = False,
) -> Decision:
    """The best policy of an attacker who decides, what it is worth, P(attack) and the risk.

    `what` is an attack, a name or file of one, or an assessment: then everybody's own chances
    decide, and `.people` has a row for each.  `target` is the risk; without it the attack's own
    question.  `set` gives parameters values, which the attacker knows of; `subject` is what a table
    says of one person, and `beyond_range` takes values outside the declared ranges.

    `temperature`, in the unit of the utilities, makes the attacker less than rational: options are
    taken in proportion to exp(worth / temperature).

    >>> d = decide("insider-decides", subject={"class_size": [9, 9, 9, 9, 9, 9, 9, 9]})
    >>> d.method, d.attacks
    ('exact', 0.0)
    """
    how = partial(_decide, target=target, set=set, subject=subject, temperature=temperature,
                  beyond_range=beyond_range)  # fmt: skip
    found = how(what)
    if isinstance(what, Assessment):
        found = replace(found, again=partial(_of_scenario, what, how))
    return found


def _of_scenario(
    result: Assessment, how: Callable[[Assessment], Decision], scenario: Scenario
) -> Decision:
    return how(what_if(result, scenario=scenario))


def _decide(
    what: Attack | str | BringsCase, *, target: Target | None, set: Mapping[str, Any] | None,
    subject: Mapping[str, Any] | None, temperature: Ref | None, beyond_range: bool,
) -> Decision:  # fmt: skip
    case = case_of(what, target, set=set, subject=subject, beyond_range=beyond_range)
    if temperature is not None:
        warm = [replace(n, cpd=Decides(temperature), source=n.source or "set in the call")
                for n in case.attack.decisions.values()]  # fmt: skip
        case = replace(case, attack=case.attack.with_node(*warm))
    return decided(case)


def decided(case: Asked, *, may_be_local: bool = True) -> Decision:
    """The decision in a case, for all its subjects; refused where it can only be local, or told."""
    attack, query = case.attack, case.query
    if not attack.decisions:
        raise UsageError(
            f"{attack.name} has no decision: its attacker does what its chances say. Add decisions "
            f"and utilities to the model file, as models/insider-decides.yaml does"
        )
    nodes = attack.upstream([*query.targets, *query.given, *query.do]) | attack.behind_decisions
    lowering = Lowering(attack, case.settings, nodes=nodes, whole=STEPS)
    columns = subject_values(attack, case.subject)
    asked = replace(query, targets=(*query.targets, *attack.decisions))
    tell(attack, asked, case.settings, case.subject)
    count = case.subjects
    found: list[tuple[Solved, dict[str, Array]]] = []
    sizes: list[int] = []
    together = order_of(attack)[1]
    step = at_once(lowering, count, options=prod(len(d.states) for d in attack.decisions.values()))
    starts = range(0, count, step)
    for start in progress(starts, "what the attacker decides"):
        stop = min(start + step, count)
        part = {n: v[start:stop] if len(v) > 1 else v for n, v in columns.items()}
        undecided = lowering.undecided(part)
        solved = lowering.decided(undecided, part, may_be_local=may_be_local, blocks=len(starts))
        numbers = _numbers(case, solved)
        for name, choice in solved.choices.items():
            network = solved.network if name in together else undecided
            numbers[f"~{name}"] = chance_seen(network, name)
            numbers[f"^{name}"] = chance_seen(solved.network.do(query.do), name)
            numbers |= {f"policy {name}": choice.policy, f"worth {name}": choice.worth,
                        f"tied {name}": choice.tied.astype(float)}  # fmt: skip
        found.append((solved, numbers))
        sizes.append(stop - start)

    def each(key: str) -> Array:
        parts = [np.broadcast_to(numbers[key], (n, *numbers[key].shape[1:]))
                 for (_, numbers), n in zip(found, sizes, strict=True)]  # fmt: skip
        return np.concatenate(parts)

    def once(key: str) -> Array:
        """One for all where it is that in every block."""
        alike = all(len(numbers[key]) == 1 for _, numbers in found)
        return found[0][1][key] if alike else each(key)

    return Decision(
        case=case,
        method=EXACT if found[0][0].is_exact else LOCAL,
        choices={n: Choice(once(f"policy {n}"), once(f"worth {n}"), once(f"tied {n}") > 0)
                 for n in found[0][0].choices},
        seen={n: once(f"~{n}") for n in found[0][0].choices},
        happens={n: once(f"^{n}") for n in found[0][0].choices},
        values=each("value"),
        attacking=each("attacks"),
        risks=each("risk"),
        options={name: each(f"={name}") for name in attack.decisions},
        notes=asides(),
    )  # fmt: skip


def _numbers(case: Asked, solved: Solved) -> dict[str, Array]:
    """What a block of subjects is about: one value each, or one for all."""
    network, decisions = solved.network, tuple(case.attack.decisions)
    done = network.do(case.query.do)
    taken = Plan(decisions, {}).joint(done)[:, 0]
    back = tuple(holds_back(network.states[d]) for d in decisions)
    attacking = np.array(taken)
    held: Any = (slice(None), *back)
    attacking[held] = 0.0  # and not one less, which would lose digits
    axes = range(1, taken.ndim)
    options = {f"={name}": taken.sum(axis=tuple(a for a in axes if a != i + 1))
               for i, name in enumerate(decisions)}  # fmt: skip
    return {
        "value": replace(solved, network=done).value()[:, 0],
        "attacks": attacking.sum(axis=tuple(axes)),
        "risk": _risk(case, done, tied_in(solved, case.query.do)),
        **options,
    }


def _risk(case: Asked, network: Network, tied: set[str]) -> Array:
    query = case.query
    given = {n: network.state_index(n, s) for n, s in query.given.items()}
    values = Plan(query.targets, given).joint(network)[:, 0]
    wanted: Any = tuple(network.state_index(n, s) for n, s in query.wanted.items())
    top = values[(slice(None), *wanted)]
    if not given:
        return np.asarray(top)
    evidence = values.sum(axis=tuple(range(1, values.ndim)))
    if not (evidence > 0).all():
        other = f". {tied_in_words(tuple(sorted(tied)))}" if tied else ""
        raise ImpossibleEvidence(
            f"{case.attack.name}: under the attacker's best policy the evidence "
            f"{', '.join(query.known)} has probability 0{other}"
        )
    return np.asarray(top / evidence)


# -- information -----------------------------------------------------------------------------------


def _refuse_evidence(control: str, given: Any) -> None:
    if given:
        raise UsageError(
            f'control "{control}" gives evidence, and a control is something that is done: write '
            f"set, do, scenario or assessment. What is so where something is known is told by "
            f"rb.ask(..., given=)"
        )


def _blind(attack: Attack, name: str) -> list[str]:
    """The decisions that do not see a node or group, and could: they cannot move it."""
    graph = attack.graph()
    nodes = attack.groups[name].members if name in attack.groups else (name,)
    return [
        d for d, node in attack.decisions.items()
        if d not in nodes and not {name, *nodes} & {*attack.parent_nodes(node), *node.parents}
        and not nx.descendants(graph, d) & {*nodes}
    ]  # fmt: skip


def _seeing(attack: Attack, name: str) -> Attack:
    """The attack in which every decision that can sees a node, or a group."""
    if name not in attack.all_nodes and name not in attack.groups:
        hint = did_you_mean(name, [*attack.all_nodes, *attack.groups])
        raise UsageError(f'{attack.name} has no node "{name}"; {hint}')
    blind = _blind(attack, name)
    if not blind:
        raise UsageError(f"{name} is seen already, or is moved by what is decided")
    seeing = [replace(attack.decisions[d], parents=(*attack.decisions[d].parents, name))
              for d in blind]  # fmt: skip
    return attack.with_node(*seeing)
