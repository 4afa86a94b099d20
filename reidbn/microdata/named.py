"""Every column that was named for an attacker is one that the scenario speaks of, or is refused.

A quasi-identifier that no group of the scenario uses would be known of nobody: a verdict about
everything but that column, in the words of one about everything.
"""

from __future__ import annotations

from collections.abc import Sequence

from reidbn.attack.register import REGISTER, SHOWS
from reidbn.attack.scenario import Known, Scenario
from reidbn.errors import UsageError, did_you_mean
from reidbn.microdata.placing import Groups
from reidbn.microdata.seen import can_be_banded
from reidbn.microdata.table import People

MOST = 13  # bands that ages reach over, at most


def refuse_unnamed(
    people: People,
    scenario: Scenario,
    groups: Groups,
    *,
    without: Sequence[str],
    unknown: Sequence[str],
    alone: bool = False,
    sensitive: str | None = None,
) -> tuple[str, ...]:
    """Refuse columns of which nothing is said; a note on those that are said to be unknown.

    `alone`: the knowledge is read without an attack, so that remedies are arguments of the reader;
    it need not speak of the `sensitive` column asked about.
    """
    for name in unknown:
        if name not in people.quasi_identifiers:
            hint = did_you_mean(name, people.quasi_identifiers)
            raise UsageError(f'unknown names "{name}", which is no quasi-identifier; {hint}')
        if name in groups.used:
            raise UsageError(*_contradiction(name, scenario))
    left_out = _left_out(scenario, without)
    spoken_of = groups.used | left_out | {*unknown, sensitive}
    silent = [c for c in people.quasi_identifiers if c not in spoken_of]
    if silent:
        python, shell = _remedies(silent, people, groups)
        if scenario.name == REGISTER:
            added = f"{SHOWS}{silent[0]}"
            own = f'If the register shows it, add the column "{added}" to its table. '
            python, shell = own + python, own + shell
        listed = " and ".join([", ".join(silent[:-1]), silent[-1]] if silent[1:] else silent)
        said = (
            f"scenario {scenario.name} says nothing about {listed}, which the table names as "
            f"quasi-identifier{'s' if silent[1:] else ''}: {'their' if silent[1:] else 'its'} "
            f"part of the risk would be left out. "
        )
        read = f'Read it with known=rb.knowledge(people, "{scenario.name}", ...): ' if alone else ""
        raise UsageError(said + read + python, in_shell=said + shell)
    if not unknown:
        return ()
    return (
        f"taken as not known to the attacker, by the caller: {', '.join(unknown)} (a rule on who "
        f"is alike counts every quasi-identifier all the same)",
    )


def _contradiction(name: str, scenario: Scenario) -> tuple[str]:
    known = scenario.knows.known if scenario.knows else ()
    group = next((k.name for k in known if name in k.columns), name)
    return (
        f'"{name}" is said to be unknown, and scenario {scenario.name} knows it as {group}; leave '
        f'that out with without=["{group}"]',
    )


def _left_out(scenario: Scenario, without: Sequence[str]) -> frozenset[str]:
    """The columns of the attributes that the caller left out."""
    known = scenario.knows.known if scenario.knows else ()
    gone = [k for k in known if k.name in without]
    finer = {k.in_bands.of for k in gone if k.in_bands}
    return frozenset({c for k in gone for c in k.columns} | finer)


def _remedies(silent: Sequence[str], people: People, groups: Groups) -> tuple[str, str]:
    """The mapping that would help, and the words for a column that is not known."""
    pairs = [(item, name) for name in silent if (item := _taker(name, people, groups.missed))]
    python, shell = "", ""
    for item, name in pairs:
        how = f" in bands of {item.in_bands.width:g}" if item.in_bands else ""
        python += f'{item.name} can take {name}{how}: columns={{"{item.name}": "{name}"}}. '
        shell += f"{item.name} can take {name}{how}: --column {item.name}={name}. "
    open_names = [k.name for k in groups.missed if len(k.columns) == 1]
    if open_names and not pairs:
        said = (
            f"It also knows {', '.join(open_names)}, which the table lacks. If "
            f"{silent[0]} holds one of them, say which, such as "
        )
        first = open_names[0]
        python += f'{said}columns={{"{first}": "{silent[0]}"}}. '
        shell += f"{said}--column {first}={silent[0]}. "
    listed = ", ".join(f'"{name}"' for name in silent)
    end = "If the attacker does not know it, say "
    return (
        f"{python}{end}unknown=[{listed}]",
        f"{shell}{end}--unknown {','.join(silent)}",
    )


def _taker(name: str, people: People, missed: Sequence[Known]) -> Known | None:
    """An attribute that the table lacks and that this column may hold."""
    words = {*name.lower().replace("-", "_").split("_")}
    for item in missed:
        if len(item.columns) != 1:
            continue
        if item.in_bands and can_be_banded(people, name, item.in_bands.width, most=MOST):
            return item
        if words & {*item.name.lower().split("_")}:
            return item
    return None
