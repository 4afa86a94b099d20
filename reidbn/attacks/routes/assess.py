"""assess: from a table and a scenario to the risk of every person."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reidbn.aside import aside, asides
from reidbn.attack.attack import Attack
from reidbn.attack.parts import Group, parse_given, parse_states
from reidbn.attack.scenario import Knows, Scenario, SparseKnown
from reidbn.attack.scenariofile import load_scenario
from reidbn.attacks.family.columns import KinPeople, Looking
from reidbn.attacks.family.kin import Kin
from reidbn.attacks.family.neighbourhood import Neighbourhood
from reidbn.attacks.linkage.columns import (
    Effort,
    SparsePeople,
    any_for_every,
    every_record,
    facts_of,
    of_sparse,
    rows_of,
)
from reidbn.attacks.linkage.result import Linkage
from reidbn.attacks.routes.arguments import (
    columns_of,
    filled_otherwise,
    individuals_of,
    laid_over,
    means_left_out,
    names_of,
    of_empty_cells,
    people_columns_of,
    place_of,
    settings_of,
    truth,
    whole_number,
)
from reidbn.attacks.routes.assessment import MATCH, OVERALL, Array, Assessment
from reidbn.attacks.routes.blocks import ENDING
from reidbn.attacks.routes.blocks import risks as exact_risks
from reidbn.attacks.routes.by_weight import HEARS_WEIGHTS, has_part, people_behind
from reidbn.attacks.routes.counts import SubsetClasses, as_it_was, subset_classes
from reidbn.attacks.routes.expected_match import journalist_match
from reidbn.attacks.routes.following import following
from reidbn.attacks.routes.inputs import Inputs
from reidbn.attacks.routes.placing import (
    attach,
    counted_as_one,
    group_to_fill,
    own_node_stands,
    refuse_other_risk,
    refuse_silence,
    scenario_of,
    without_say,
)
from reidbn.attacks.routes.population import SubsetPopulation
from reidbn.attacks.routes.simulated import of_draws, simulated
from reidbn.attacks.routes.speaking import model_for, subset_population
from reidbn.attacks.routes.subject_data import (
    CLASS_SIZE,
    SubjectTable,
    as_needed,
    given_columns,
    on_population,
    subject_table,
    with_records,
)
from reidbn.attacks.routes.summed import are_many, summed
from reidbn.attacks.routes.told import AS_TOLD, as_spoken, attach_told, set_aside, told_group
from reidbn.calls import renamed, typed
from reidbn.errors import DataError, ImpossibleEvidence, UsageError, did_you_mean
from reidbn.inference.answers import load_attack, refuse_dear
from reidbn.inference.asked import Asked
from reidbn.inference.policies import refuse_policy_of_one
from reidbn.inference.query import Query, asked_by, default_question, read_query
from reidbn.inference.values import check_settings
from reidbn.inference.worst import OF_HIGHEST, Tied, Ties, of_tied
from reidbn.limits import MOST_PEOPLE
from reidbn.microdata.contingency import Contingency
from reidbn.microdata.knowledge import Known
from reidbn.microdata.placing import Groups, place
from reidbn.microdata.sparse import Sparse
from reidbn.microdata.table import People
from reidbn.microdata.tallied import TalliedPeople
from reidbn.population.sample import AS_IT_WAS, SUPPRESSED, population_size, stood_for
from reidbn.release.writing import private_folder
from reidbn.written import InTheHouse, agree, counted

METHODS = ("exact", "simulation")


@renamed(trials="draws")
@typed
def assess(
    attack: Attack | str,
    people: People | SparsePeople | Contingency | Sparse | Linkage | Kin | Neighbourhood,
    *,
    scenario: Scenario | str | None = None,
    known: Known | None = None,
    population: float | None = None,
    population_model: str | None = None,
    set: Mapping[str, float] | None = None,
    do: str | Mapping[str, str] | None = None,
    given: str | Mapping[str, str] | None = None,
    subject: Mapping[str, Any] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    without: str | Sequence[str] = (),
    unknown: str | Sequence[str] = (),
    method: str = "exact",
    draws: int = 100,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    histories: bool = False,
    beyond_range: bool = False,
    individuals: int | ArrayLike | None = None,
) -> Assessment:
    """Risk of every person of a table under an attack and a scenario.

    `people` may also be what rb.contingency counts, from a file larger than memory: everybody is
    assessed from the cells.  A sparse table (rb.read_sparse) is assessed under an attack without a
    group, such as linkage, whose curves it fills; rb.linkage(sparse, node_budget=..., draws=...) in
    its place says how they are found, and nothing of what is known.  Records that tell of relatives
    (rb.read_kin) are assessed under family-cascade; rb.neighbourhood(kin, rule=..., in_release=...)
    in their place says how relatives are looked for.
    `known` says what the attacker may know, however it is said (rb.knowledge): columns, {name:
    chance}, {name: (columns, chance)}, a scenario; it fills the attack's group, and columns of
    which no chance is said are known.  `scenario` names a whole scenario, with its parameters and
    nodes; the worst case is the default, and all that an attack without a group is asked about.
    Where the members of the attack's group tell how they are learnt, that is the default, and each
    is the table's column of its name (`columns` says of which other).
    `population_model` names the model of rb.population.fit
    that says who is unique in the population (docs/population.md): log-linear without a name, and
    structured where the table has survey weights.
    Every quasi-identifier of the table is one that the scenario speaks of, or is named in
    `unknown`: columns that nobody knows.  `columns` maps the scenario's attributes to the table's
    columns; `without` leaves attributes of the scenario out;
    `method="simulation"` acts the attack out `draws` times instead of summing exactly, once for all
    who are alike: each risk is a share of draws with its interval, and no verdict is given;
    `checkpoint` is a folder that keeps finished blocks, so that a killed run can go on;
    `histories` says that a repeated subject id is a person's history and not a slip;
    `beyond_range=True` also takes parameter values outside the ranges that the attack declares.
    `individuals` asks about that many people drawn at random with `seed` (or about these rows),
    where a table is too large; their classes are counted among all people.

    `set` gives parameters values; `do` brings something about and `given` learns it, for everybody.
    """
    if method not in METHODS:
        raise UsageError(f'no method "{method}"; {did_you_mean(method, METHODS)}')
    people = _people_of(people)
    if method == "simulation" and individuals is not None and np.ndim(individuals) == 0:
        raise UsageError(
            "individuals= draws people, and the simulation draws what befalls them, and the "
            "interval of a mean knows of one kind of draws: leave one of the two out"
        )
    if isinstance(people, TalliedPeople):
        _refuse_of_cells(individuals=individuals, subject=subject, checkpoint=checkpoint)
    population = check_population(population, people)
    population_model = model_for(people, population_model)
    _check_ids(people, histories=truth(histories, "histories"))
    read = load_attack(attack)
    refuse_policy_of_one(read)
    chosen = chosen_scenario(people, scenario, known)
    if chosen is None and isinstance(people, SparsePeople):
        chosen = load_scenario("any-facts")
    if chosen is None:
        chosen = AS_TOLD if told_group(read) else load_scenario("worst-case")
    inputs = Inputs(
        attack=read,
        people=people,
        scenario=chosen,
        population=population,
        population_model=population_model,
        set={},
        said=settings_of(set),
        do=parse_states({} if do is None else do),
        given=parse_given({} if given is None else given),
        subject=people_columns_of(subject, people),
        columns=columns_of(columns, people.columns, filled_otherwise(read, chosen)),
        without=names_of(without, "without"),
        unknown=names_of(unknown, "unknown"),
        method=method,
        draws=whole_number(draws, "draws", least=1),
        seed=whole_number(seed, "seed", least=0),
        checkpoint=None
        if checkpoint is None
        else str(private_folder(place_of(checkpoint, "checkpoint"), ENDING)),
        beyond_range=truth(beyond_range, "beyond_range"),
        individuals=individuals_of(people, individuals, seed),
        drawn=individuals is not None and np.ndim(individuals) == 0,
    )
    return run(inputs)


def _people_of(people: Any) -> People:
    """The people to assess, or those whom a contingency counts."""
    if isinstance(people, Contingency):
        return TalliedPeople.of(people)
    if isinstance(people, Sparse):
        return SparsePeople.of(people)
    if isinstance(people, Linkage):
        c = people.curves
        if people.is_of_one_question:
            raise UsageError(
                f"the curves answer one question ({people.question}), and in assess the scenario "
                f"says what is known and the attack who wins: give it "
                f"rb.linkage(sparse, node_budget=..., draws=..., seed=...) or the sparse table"
            )
        return SparsePeople.of(people.sparse, Effort(c.node_budget, c.draws, c.seed))
    if isinstance(people, Kin):
        return KinPeople.of_kin(people)
    if isinstance(people, Neighbourhood):
        kin = people.kin
        return KinPeople.of_kin(kin, Looking(people.rule, people.in_release, kin.plants))
    if not isinstance(people, People):
        raise UsageError("assess needs people = rb.read_table(table, quasi_identifiers=[...])")
    return people


def _refuse_of_cells(**asked: Any) -> None:
    """Raise for what is said person by person, where people are counted as cells."""
    for name, value in asked.items():
        if value is not None:
            raise UsageError(
                f"{name}= is about people one by one, and a contingency tells only how many there "
                f"are of each combination: leave it out, or read the people with rb.read_table"
            )


def chosen_scenario(
    people: People, scenario: Scenario | str | None, known: Known | None
) -> Scenario | None:
    """The scenario that one of the two arguments asks for; None where neither was given."""
    if known is not None and scenario is not None:
        raise UsageError("known= and scenario= both say what is known; give one of them")
    if known is not None and isinstance(people, SparsePeople):
        return of_sparse(people.sparse, known)
    if known is not None:
        return scenario_of(people, known)
    return None if scenario is None else load_scenario(scenario)


def check_population(population: float | None, people: People) -> float | None:
    """A population is a whole number of people, at least those of the table.

    What comes back is without those for whom suppressed people stood, where the table as it was
    before is not there any more.
    """
    gone = "" if people.before is None else ", before people were left out"
    people = people.whole
    if population is None:
        return None
    size, register = population_size(population)
    if register is not None:
        raise UsageError("population is a table of people; assess takes their number")
    if size < len(people):
        raise DataError(
            f"a population of {size:,} is smaller than the table ({len(people):,}{gone}); "
            f"population is the number of people from whom the table was drawn"
        )
    left = stood_for(size, people)[0]
    return population if left == size else left


def _check_ids(people: People, *, histories: bool) -> None:
    """One row per person, so that each risk has one owner."""
    ids, history = people.subject_ids, people.history
    repeats = 0 if ids is None else len(ids) - len(set(ids.tolist()))
    if repeats:
        raise DataError(
            f"{counted(repeats, 'row')} {agree(repeats, 'repeats', 'repeat')} the subject id of "
            f"another row; an assessment has one row per "
            f"person: drop the repeats, or name the column as subject_id when the table is read"
        )
    if history is not None and not histories:
        more = int((history.lengths > 1).sum())
        raise DataError(
            f"the subject id of {counted(more, 'person')} repeats; an assessment has one row per "
            f"person: drop the repeats, or say histories=True where several rows are one person's "
            f"history"
        )


def run(inputs: Inputs, *, measures: Sequence[str] | None = None) -> Assessment:
    """Do what the inputs say; of these measures alone, where not all are wanted."""
    told = told_group(inputs.attack) if inputs.scenario.knows is None else None
    spoken = as_spoken(inputs)
    facts = facts_of(inputs.people, spoken, inputs.population)
    spoken = spoken if facts is None else replace(spoken, knows=every_record())
    scenario = spoken.renamed(inputs.columns).without(inputs.without)
    knows = scenario.knows or Knows((), every_column=True)  # silent: the worst case
    inputs = replace(inputs, set={**scenario.set, **inputs.said})
    group_to_fill(inputs.attack, knows.group)
    base = scenario.on(with_records(inputs.attack, len(inputs.people), inputs.set))
    filled = group_to_fill(base, knows.group)
    cells, counts = _entries(inputs.people)
    where = (knows, cells, scenario.facts)
    whole = filled is not None and (
        told is not None
        or base.counts_members(filled.name)
        or filled.name in inputs.given_names(scenario)
    )
    named = _named_alone(base, inputs, scenario)
    inputs = replace(inputs, counted=whole, named=named)
    groups = place(*where, apart=inputs.apart, unknown=inputs.unknown, whole=whole)
    if named & {*groups.joined}:
        groups = place(*where, apart=True, unknown=inputs.unknown, whole=whole)
    unnamed = refuse_silence(
        base, groups, filled, inputs.people, spoken.renamed(inputs.columns),
        without=inputs.without, unknown=inputs.unknown,
    )  # fmt: skip
    inputs = following(inputs, base, filled, groups)
    attack, own, groups, notes = _attached(base, groups, filled, inputs, told, facts, whole=whole)
    notes += any_for_every(inputs.scenario, facts)
    subject = given_columns(attack, len(inputs.people), inputs.subject)
    inputs = replace(inputs, subject=subject)
    attack = as_needed(attack, {*own, *subject}, inputs.population)
    seen = groups.seen(cells)
    classes = subset_classes(seen, groups.columns, inputs.individuals, counts=counts)
    asked, given = of_individuals(inputs, own), of_individuals(inputs, inputs.subject)
    if on_population(attack):
        inputs, weighted = _with_weights(inputs, needed=bool(on_population(attack, subject)))
        notes += weighted
    population = None
    if inputs.population is not None and inputs.people.share_kept < 1:
        notes.append(SUPPRESSED if inputs.people.whole.share_kept < 1 else AS_IT_WAS)
    if inputs.population is not None and on_population(attack):
        population = _population(inputs, groups, seen, classes, match=_is_among(MATCH, measures))
    table = subject_table(attack, classes, population, asked, given, filled)
    inputs, fallen = without_say(inputs, attack)
    check_settings(attack, inputs.set, beyond_range=inputs.beyond_range)
    notes += [*fallen, *means_left_out(attack), *of_empty_cells(seen, groups.columns)]
    attack, questions = _questions(attack, inputs)
    questions = {name: q for name, q in questions.items() if _is_among(name, measures)}
    for measure, query in list(questions.items()):
        if inputs.method == "simulation" and query.given and measure != OVERALL:
            del questions[measure]
            notes.append(
                f"question {measure} is left out: it has evidence, and acting runs forward"
            )
    notes += laid_over(attack, questions, inputs.learnt)
    seen_before, done = inputs.given or scenario.given, inputs.done
    asks_match = population is not None and CLASS_SIZE in attack.subject and not seen_before
    asks_match = asks_match and _is_among(MATCH, measures)
    match_done = done if asks_match else None
    sums = _summed(attack, questions, inputs, classes, population, table, match_done)
    beside = ", beside what is given or done" if inputs.given or inputs.do else ""
    asked_of: dict[str, tuple[Array, Tied]] = {}
    ties: Ties = {}
    for measure, query in list(questions.items()):
        try:
            found = sums.get(measure)
            risk = _risks(attack, query, inputs, table) if found is None else found
            asked_of[measure] = risk, _of_tied(attack, query, inputs, table, risk, ties)
        except ImpossibleEvidence as problem:
            if measure == OVERALL:
                raise type(problem)(
                    f"question {default_question(attack)}, scenario {scenario.name}: {problem}"
                ) from None
            del questions[measure]
            notes = [note for note in notes if not note.startswith(f"question {measure} ")]
            notes.append(
                f"question {measure} is left out: what it is given cannot happen for some people "
                f"in this scenario{beside}"
            )
    risks = {m: risk if tied.highest is None else tied.highest[:, 0]
             for m, (risk, tied) in asked_of.items()}  # fmt: skip
    if population is not None and asks_match:
        match = sums.get("")
        if match is None:
            match = journalist_match(attack, population, table, inputs.set, done)
        risks = {**_until(risks, "journalist"), MATCH: match, **risks}
    notes += of_draws(inputs, table)
    return Assessment(
        inputs=inputs,
        attack=attack,
        groups=replace(
            _each_person(groups, inputs.people), notes=(*groups.notes, *unnamed, *notes, *asides())
        ),
        classes=classes,
        subject_table=table,
        population=population,
        questions=questions,
        risks=risks,
        taken={m: risk for m, (risk, tied) in asked_of.items() if tied.highest is not None},
        untried=tuple(m for m, (_, tied) in asked_of.items() if not tied.is_known),
        provenance=inputs.provenance(attack),
    )


def _is_among(measure: str, wanted: Sequence[str] | None) -> bool:
    return wanted is None or measure in wanted


def _attached(
    base: Attack,
    groups: Groups,
    filled: Group | None,
    inputs: Inputs,
    told: Group | None,
    facts: SparseKnown | None,
    *,
    whole: bool,
) -> tuple[Attack, dict[str, Array], Groups, list[str]]:
    """The attack on the table's attributes, the columns that it needs, what is known, and notes."""
    people = inputs.people
    if facts is not None and isinstance(people, SparsePeople):
        asked, questions = _questions(base, inputs)
        for query in questions.values() if inputs.method == "exact" else ():
            refuse_dear(asked, query, inputs.set)  # before curves are counted, relatives planted
        own, notes = people.columns_for(base, facts, inputs.subject, inputs.individuals)
        told_of = replace(groups.placed[0], label=facts.in_words, source=facts.source)
        return base, own, replace(groups, notes=(), placed=(told_of,)), notes
    if told is not None:
        attack, groups, notes = attach_told(base, groups, base.groups[told.name], inputs)
        return attack, {}, groups, notes
    attack, own, notes = attach(base, groups, filled, inputs.people)
    refuse_other_risk(base, attack, notes)
    if filled is not None and whole:
        notes += counted_as_one(base, filled, groups, inputs.given_names(inputs.scenario))
    notes += own_node_stands(base, inputs.scenario)
    return attack, own, groups, notes + set_aside(filled, inputs.scenario)


def _entries(people: People) -> tuple[People, NDArray[np.int64] | None]:
    """The table's rows, and how many people each is where they were counted as cells."""
    if isinstance(people, TalliedPeople):
        return people.cells, people.counts
    return rows_of(people), None


def _each_person(groups: Groups, people: People) -> Groups:
    """What is known of each person, where it was found for cells."""
    if not isinstance(people, TalliedPeople):
        return groups

    def each(p: Array) -> Array:
        return people.spread(p) if p.ndim == 1 and len(p) > 1 else p

    placed = tuple(replace(one, p=each(one.p)) for one in groups.placed)
    parent_p = None if groups.parent_p is None else each(groups.parent_p)
    return replace(groups, placed=placed, parent_p=parent_p)


def _with_weights(inputs: Inputs, *, needed: bool) -> tuple[Inputs, list[str]]:
    """The population and its model where the table has survey weights; notes on both.

    Whether a population is `needed`, so that weights that name none are refused.
    """
    people, model = inputs.people, model_for(inputs.people, inputs.population_model)
    if people.weights is None:
        return inputs, []
    if model not in HEARS_WEIGHTS:
        return inputs, [f"survey weights are not used: {model} was asked for"]
    behind = people_behind(people.whole, model)
    notes: list[str] = []
    if inputs.population is None and (behind is not None or needed):
        weights = people.whole.weights
        light = 0 if weights is None else int((weights < 1).sum())
        wrong = (
            f"{counted(light, 'survey weight')} of {len(people.whole):,} "
            f"{agree(light, 'is', 'are')} below 1, so that they do not say for how many people "
            f"each stands (relative weights, say)"
            if behind is None
            else f"the survey weights sum to {behind:,.0f}, more than there are people on earth "
            f"(weights of days or visits, say)"
        )
        if behind is None or behind > MOST_PEOPLE:
            then = "the number of people from whom the table was drawn, and they are scaled to it"
            raise UsageError(
                f"{wrong}: give population=N, {then}",
                in_shell=f"{wrong}: give --population N, {then}",
            )
        off = " (a part of a person is left off)" if has_part(people.whole, behind) else ""
        told = f"the population is what the survey weights sum to: {behind:,.0f} people{off}"
        notes.append(InTheHouse(told))  # who knows the weights counts the people by it
        inputs = replace(inputs, population=behind)
    return inputs, notes


def _population(
    inputs: Inputs, groups: Groups, seen: People, classes: SubsetClasses, *, match: bool
) -> SubsetPopulation:
    """The population model, of the table as it was before anybody was left out of it."""
    assert inputs.population is not None  # noqa: S101 - the caller looked
    groups.refuse_overlap()
    who = inputs.individuals
    if inputs.people.before is not None:
        who = inputs.people.rows_of_whole if who is None else inputs.people.rows_of_whole[who]
        seen = groups.seen(inputs.people.before)
        classes = as_it_was(classes, seen, who)
    return subset_population(
        seen, classes, inputs.population, model=inputs.population_model, individuals=who,
        match=match,
    )  # fmt: skip


def of_individuals(inputs: Inputs, columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """Columns with one value per person of the table, cut to those who are asked about."""
    rows = inputs.individuals
    if rows is None:
        return columns
    for name, values in columns.items():
        if len(np.atleast_1d(values)) != len(inputs.people):
            raise DataError(
                f'subject column "{name}" has {len(np.atleast_1d(values)):,} rows for '
                f"{len(inputs.people):,} people; give one per person of the table, in record order"
            )
    return {name: np.asarray(values)[rows] for name, values in columns.items()}


def _named_alone(attack: Attack, inputs: Inputs, scenario: Scenario) -> frozenset[str]:
    """Nodes that something names one by one, so that they are not joined with others."""
    parents = (p for node in attack.nodes.values() for p in node.parents)
    events = (n for q in attack.questions.values() if not q.is_plain for n in q.names)
    done = (*inputs.do, *scenario.do)
    return frozenset((*parents, *events, *done, *inputs.given_names(scenario)))


def _risks(attack: Attack, query: Query, inputs: Inputs, table: SubjectTable) -> Array:
    if inputs.method == "exact":
        folder = None if inputs.checkpoint is None else Path(inputs.checkpoint)
        return exact_risks(attack, query, inputs.set, table, folder=folder, taken=True)
    return simulated(attack, query, inputs, table)


def _of_tied(
    attack: Attack, query: Query, inputs: Inputs, table: SubjectTable, risk: Array, ties: Ties
) -> Tied:
    """What other policies, worth the same, say; and a word of it.

    Risks that were acted out are of the one that is taken alone.
    """
    people = table.of_person if attack.utilities else None  # large where people are cells
    case = Asked(attack, query, dict(inputs.set), table.columns, people=people,
                 beyond_range=inputs.beyond_range)  # fmt: skip
    exact = inputs.method == "exact"
    found = of_tied(case, ties, taken=risk[:, None] if exact else None)
    if not exact and found.highest is not None:
        found = replace(found, highest=None, is_known=False)
    if found.in_words:
        told = found.is_known
        aside("tied", 2.0 - told, f"{found.in_words}; {OF_HIGHEST}" if told else found.in_words)
    return found


def _summed(
    attack: Attack,
    questions: Mapping[str, Query],
    inputs: Inputs,
    classes: SubsetClasses,
    population: SubsetPopulation | None,
    table: SubjectTable,
    match: Mapping[str, str] | None,
) -> Mapping[str, Array]:
    """The risks that are found without a number per person and subset, where these are many."""
    if not are_many(classes) or inputs.method != "exact" or inputs.checkpoint is not None:
        return {}
    done = None if match is None else Query((), {}, {}, match)
    found = summed(attack, questions, inputs.set, classes, population, table, match=done)
    return {} if found is None else found


def _questions(attack: Attack, inputs: Inputs) -> tuple[Attack, dict[str, Query]]:
    """The attack's named questions, the main one last and under the name "overall".

    Soft evidence adds its report nodes to the attack, which no other question sees.
    """
    main = default_question(attack)
    names = [n for n, q in attack.questions.items() if n != main and not q.expect]
    found = {}
    for name in (*names, main):
        question = attack.questions[name]
        given = {**question.given, **inputs.learnt}
        what = asked_by(question)
        attack, query = read_query(attack, what, given, inputs.done, of_people=True)
        if query.is_distribution:
            raise UsageError(f"question {name} asks for a distribution; name a state")
        if query.scale is not None:
            raise UsageError(
                f"question {name} asks for a mean, and people are assessed by the chance of an "
                f"event; call the event's question risk, and ask rb.expect for the mean"
            )
        found[OVERALL if name == main else name] = query
    return attack, found


def _until(risks: Mapping[str, Array], measure: str) -> dict[str, Array]:
    """The measures up to and with one of them; none when it is not there."""
    names = list(risks)
    place = names.index(measure) + 1 if measure in risks else 0
    return {name: risks[name] for name in names[:place]}
