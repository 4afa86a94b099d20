"""In what two results differ beside their numbers: each change once, in words.

`differing` is the one place that says so, from what results (or their files) say of themselves;
`rb.compare`, `rb.what_if` and `reidbn compare` print it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations
from typing import Any

from reidbn.written import is_number


def other_events(first: str, second: str) -> str:
    """Why two results are not compared."""
    return (
        f"these are numbers of different events: {first} | {second}. The difference of the two "
        f"says nothing; compare results about one event, or read each by itself"
    )


IN_A_CALL = "known"  # the name of what a caller says is known, and of no file's
OF_WHOM = ("table", "people")
OTHER = "another table"
AS_RELEASED = "the table as it is released"
_OF_FACTS = ("facts known", "chance of ")  # of which one set may have several names
OF_RELEASE = (
    "suppressed",
    "cells emptied",
    "weights",
    "hierarchies",
    "features",
    "level of ",
    "bands of ",
)


def in_one_sentence(apart: Mapping[str, str]) -> str:
    """What two results that are compared differ in: questions, or tables and releases alone."""
    asked = [what for what in apart if not what.startswith((*OF_WHOM, *OF_RELEASE))]
    whom = "are of different tables" if apart.get("table", "").startswith(OTHER) else ""
    how = "answer different questions" if asked else whom or "are of different releases"
    return f"the two {how}: {'; '.join(apart.values())}"


def differing(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, str]:
    """In what two results differ beside their numbers, in words; from what their JSON says."""
    first, second = (dict(content.get("provenance") or {}) for content in (one, two))
    found = {}
    alike = _knows_the_same(one, two, first, second)
    if not alike and (first.get("scenario"), second.get("scenario")) != (None, None):
        pair = [
            (made.get("scenario"), made.get("scenario_fingerprint")) for made in (first, second)
        ]
        if pair[0][0] != pair[1][0]:
            found["scenario"] = f"scenario: {pair[0][0]} -> {pair[1][0]}"
        elif pair[0] != pair[1]:
            found["known"] = f"what is known, though both scenarios are called {pair[0][0]}"
    if first.get("model_fingerprint") != second.get("model_fingerprint"):
        found["model"] = f"the model {first.get('attack')} was changed"
    found |= _of_settings(first, second, _names(one, two) if alike else None)
    found |= _of_the_records(one, two, first, second)
    found |= {
        name: words for name, (mark, words) in MARKS.items()
        if first.get(mark) != second.get(mark)
        and (name != "of each person" or _each_apart(one, two, first, second))
    }  # fmt: skip
    questions = [content.get("question") for content in (one, two)]
    same = one.get("asked", questions[0]) == two.get("asked", questions[1])
    if not same and questions[0] == questions[1]:
        found["exactly"] = MARKS["exactly"][1]  # groups of one name
    if (not same and questions[0] != questions[1]) or "of each person" in found:
        found.pop("exactly", None)  # it is said already
    if any(what.startswith(("level of ", "bands of ")) for what in found):
        found.pop("hierarchies", None)  # one of the two has none, or it is said already
    marks = [made.get("weighted") or made.get("weights_fingerprint") for made in (first, second)]
    found |= _apart("weights", *("of people" if mark else None for mark in marks))
    if one.get("on") and two.get("on"):
        found |= _apart("known columns", *(", ".join(content["on"]) for content in (one, two)))
    found |= _gone(first, second)
    for key in sorted(({*first} & {*second}) - _NAMED):
        found |= _apart(key.replace("_", " "), first[key], second[key])
    found |= _apart("release", one.get("release"), two.get("release"))
    _say_of_what_is_known(found, one, two)
    if not same and questions[0] != questions[1] and not (alike or _explained(found, one, two)):
        found["question"] = f"another question: {questions[0]} | {questions[1]}"
    hidden = [mark for mark in one.get("not_told", ()) if mark in two.get("not_told", ())]
    if same and hidden:
        found["not told"] = f"{UNTOLD}: {', '.join(_HIDDEN.get(m, MARKS[m][1]) for m in hidden)}"
    return found


def _knows_the_same(
    one: Mapping[str, Any], two: Mapping[str, Any],
    first: Mapping[str, Any], second: Mapping[str, Any],
) -> bool:  # fmt: skip
    """Whether two scenarios, of whatever names, come to the same chances."""
    laws = [content.get("law") for content in (one, two)]
    told = [_by_column(content.get("chances") or {}) for content in (one, two)]
    by_law = bool(laws[0] and laws[1] and laws[0][0] == laws[1][0])
    attack = "model_fingerprint" if by_law else "attack_fingerprint"
    shared = bool(told[0]) and told[0] == told[1] and not any(
        isinstance(chance, str) for chance, _ in told[0].values()
    )  # fmt: skip
    return (
        (by_law or shared)
        and first.get(attack) is not None
        and all(first.get(what) == second.get(what) for what in (attack, "given", "do", "settings"))
        and _set_beside(first, laws[0] if by_law else ())
        == _set_beside(second, laws[1] if by_law else ())
    )


def _names(one: Mapping[str, Any], two: Mapping[str, Any]) -> set[str]:
    """The parameters that are chances of what is known, in either of two results."""
    return {n for content in (one, two) for n in (content.get("law") or ())[1:]}


def _by_column(chances: Mapping[str, Any]) -> dict[str, Any]:
    """The chances of columns without the names of their groups."""
    return {key: said[1:] for key, said in chances.items()}


def _set_beside(made: Mapping[str, Any], chances: Any) -> dict[str, Any]:
    """The parameters, without those that are `chances` of what is known."""
    return {n: value for n, value in (made.get("parameters") or {}).items() if n not in chances}


def _explained(found: Mapping[str, str], one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    """Whether what was found is all in which the two questions differ."""
    if "beside" not in one:
        said = {*found} - {*OF_WHOM, "known", "of each person"}
        return bool(said and "parameters" in (one.get("provenance") or {}))
    told = one.get("chances") and two.get("chances") and {*found} - {*OF_WHOM}
    return bool(told and one["beside"] == two.get("beside"))


def _of_settings(
    first: Mapping[str, Any], second: Mapping[str, Any], chances: Set[str] | None
) -> dict[str, str]:
    """In what they differ of what is said by name; where the names alone of what is known differ,
    of these `chances` nothing, nor of columns.
    """
    found: dict[str, str] = {}
    for kind, word in _SAID.items():
        values, others = first.get(kind) or {}, second.get(kind) or {}
        both = [
            n
            for n in {**values, **others}
            if (kind not in ("parameters", "bands") and n != "together")
            or (n in values and n in others)
        ]
        for name in both:
            least = 0 if kind == "levels" else None
            found |= _apart(f"{word}{name}", values.get(name, least), others.get(name, least))
    if chances is not None:
        found = {w: said for w, said in found.items() if w not in chances and w[:7] != "column "}
    exactly = [made.get("asked_fingerprint") for made in (first, second)]
    if exactly[0] == exactly[1] is not None:
        return {what: words for what, words in found.items() if not what.startswith(_OF_FACTS)}
    return found


OWN = "each person's own"  # in place of a chance that all share


def chances_told(said: Iterable[tuple[Sequence[str], str, float | str]]) -> dict[str, list[Any]]:
    """Of columns that are known together the name, the chance and which they are; what is sure
    stands apart.

    >>> chances_told([(["sex", "age"], "of g", 0.5), (["age"], "of age", 1)])
    {'sex': ['of g', 0.5, ['sex']], 'age': ['of age', 1, ['age']]}
    """
    every = list(said)
    sure = {c for columns, _, p in every if p == 1 for c in columns}
    found: dict[str, list[Any]] = {}
    for columns, name, p in every:
        left = [c for c in sorted(columns) if p == 1 or c not in sure]
        for some in [[c] for c in left] if p == 1 else [left] if left else []:
            key = " + ".join(some)
            if p != 1 and key in found:  # two groups of the same columns
                p = " and ".join(sorted((str(found[key][1]), str(p))))
                name = " and ".join(sorted({*found[key][0].split(" and "), name}))
            found[key] = [name, p, some]
    return found


def _each_apart(
    one: Mapping[str, Any], two: Mapping[str, Any],
    first: Mapping[str, Any], second: Mapping[str, Any],
) -> bool:  # fmt: skip
    """Whether numbers of each person differ beside those of columns that have them in one alone,
    of which the chances tell.
    """
    each = [made.get("of_each_person") or {} for made in (first, second)]
    own = [{c for c, told in (content.get("chances") or {}).items() if told[1] == OWN}
           for content in (one, two)]  # fmt: skip
    return any(
        each[0].get(name) != each[1].get(name)
        for name in {*each[0]} | {*each[1]}
        if not (name in own[0] ^ own[1] and one.get("chances") and two.get("chances"))
    )


def _of_chances(
    one: Mapping[str, Any], two: Mapping[str, Any], known: Sequence[set[str]], told: set[str]
) -> dict[str, str]:
    """Which chances of what may be known were raised or lowered, and how what both know is put
    together; `known` are the columns of each, `told` the names of which something is said.
    """
    found: dict[str, str] = {}
    gone = known[0] - known[1]  # columns are told by themselves: what is left of a group stays
    left = {key: " + ".join(c for c in one[key][2] if c not in gone) for key in {*one} - {*two}}
    one = {key if left.get(key) not in {*two} - {*one} else left[key]: one[key] for key in one}
    for columns in sorted({*one} & {*two}):
        (name, chance, _), (other, after, _) = one[columns], two[columns]
        if 1 in (chance, after):  # the name of what is sure may be that of more columns
            name = other = name if chance != 1 else other
        if told.isdisjoint(name.split(" and ")):
            found |= _apart(name if name == other else f"chance of {columns}", chance, after)
    if not (one and two):
        return found
    for columns in sorted({*one} - {*two}):
        name, chance, which = one[columns]
        if chance != 0 and {*which} <= known[1] and name not in told:
            found |= _apart(name, chance, None)
    for columns in sorted({*two} - {*one}):
        name, chance, which = two[columns]
        if name not in told and chance != 0 and (chance != 1 or {*which} <= known[0]):
            found |= _apart(name, None, chance)
    return found


def _say_of_what_is_known(
    found: dict[str, str], one: Mapping[str, Any], two: Mapping[str, Any]
) -> None:
    """Each change once: a chance, what nobody knows, what is left out of a scenario, columns."""
    first, second = _as_renamed(one, two)
    for columns in {*first} & {*second}:  # what a chance is says more than what it was set to
        alike = first[columns] == second[columns]
        for name, *_ in (first[columns], second[columns]):
            for each in name.split(" and ") if alike else [name]:  # of two groups each by itself
                found.pop(each, None)
    known = [{*content.get("on", ())} for content in (one, two)]
    every = {n for told in (*first.values(), *second.values()) for n in told[0].split(" and ")}
    chances = _of_chances(first, second, known, every & {*found})
    set_anew = every & {*found}
    found |= chances
    made = [{**c, **(c.get("provenance") or {})} for c in (one, two)]
    words = {"unknown": "unknown", "without": "without", "known columns": "on"}
    sets = [{n: {*(m.get(w) or ())} for n, w in words.items()} for m in made]
    both = _to_nobody(sets, (first, second))
    apart = {n: sets[0][n] ^ sets[1][n] for n in words}
    for what in {*words} & {*found}:
        if not apart[what]:
            found.pop(what)
        elif both:
            found |= _apart(what, *(sorted(each[what]) for each in sets))
    for what, other in combinations(words, 2):
        if what in found and apart[other] <= apart[what]:
            found.pop(other, None)
    if any(m.get("estimated") for m in made):
        found |= {f"of {c}": f"{c}: known to nobody in both, and the population is estimated "
                  f"{'with it -> without it' if which else 'without it -> with it'}"
                  for c, which in both.items()}  # fmt: skip
    if chances or set_anew or {*words, "together", "facts known"} & {*found}:
        found.pop("known", None)
    on = first and second and "known columns" in found
    if on or any(what.startswith((*_OF_FACTS, "features")) for what in found):
        found.pop("exactly", None)


def _as_renamed(
    one: Mapping[str, Any], two: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What may be known in both, of the first by the columns that `columns=` means in the second:
    a chance goes with the attribute that it was said of.
    """
    first, second = (content.get("chances") or {} for content in (one, two))
    made = [content.get("provenance") or {} for content in (one, two)]
    before, after = (one_of.get("columns") or {} for one_of in made)
    said = IN_A_CALL in (one_of.get("scenario") for one_of in made)  # of columns, then
    if said or _by_column(first) == _by_column(second):
        return first, second
    found: dict[str, Any] = {}
    for name, chance, which in first.values():
        moved = [p for p in {*before, *after} if {*before.get(p, [p])} <= {*which}]
        left = {*which} - {c for p in moved for c in before.get(p, [p])}
        here = " + ".join(sorted(left.union(*(after.get(p, [p]) for p in moved))))
        if here in second and second[here][0] == name:
            found[here] = [name, chance, which]
    for key, told in first.items():
        if told not in found.values():
            found[key if key not in found else f"{key} ({told[0]})"] = told
    return found, second


def _to_nobody(
    sets: Sequence[dict[str, set[str]]], chances: Sequence[Mapping[str, Any]]
) -> dict[str, bool]:
    """Columns of a chance of 0 in one of two results that are said to be unknown in the other, and
    whether that is the second: nobody knows them in either, and so it stands in the sets.
    """
    found: dict[str, bool] = {}
    for i, (own, other) in enumerate((sets, sets[::-1])):
        for column in {c for _, chance, some in chances[i].values() if chance == 0 for c in some}:
            if column in other["unknown"] - other["known columns"]:
                own["known columns"].discard(column)
                own["unknown"].add(column)
                found[column] = i == 0
    return found


UNTOLD = "worded alike; whether exactly the same was asked is not told in a rounded file"
_SAID = {"parameters": "", "given": "given ", "do": "do ", "columns": "column ",
         "levels": "level of ", "bands": "bands of ", "settings": ""}  # fmt: skip
MARKS = {
    "of each person": ("of_each_person", "the chances that are each person's own"),
    "exactly": (
        "asked_fingerprint",
        "what was asked exactly, though both questions are worded alike",
    ),
    "hierarchies": ("hierarchies_fingerprint", "the hierarchies by which columns are made coarse"),
    "weights": ("weights_fingerprint", "the survey weights"),
    "rows": ("rows_fingerprint", "the individuals who were asked about"),
    "rules": ("rules_fingerprint", "another rule of matching"),
    "outside": ("outside_fingerprint", "the attacker's own list"),
}
"""Digests, by what they are of."""
OF_PERSONS = ("table_fingerprint", "original_fingerprint", *(mark for mark, _ in MARKS.values()))
OF_THE_TABLE = ("people", *OF_PERSONS[:2], "population", "suppressed", "cells_emptied")
"""Of what numbers were made from, what outside the house could tell of people."""
_HIDDEN = {"exactly": "what the words round or only count", "rules": "rules of matching"}
_NAMED = {
    *_SAID, *(mark for mark, _ in MARKS.values()), "attack", "scenario", "seed", "missing",
    "suppressed", "cells_emptied", "weighted",
    "attack_fingerprint", "model_fingerprint", "scenario_fingerprint", "table_fingerprint",
    "original_fingerprint",
}  # fmt: skip


def _gone(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, str]:
    """Who was left out and which cells were emptied, where that is not the same."""
    found: dict[str, str] = {}
    for what in ("suppressed", "cells_emptied"):
        gone = [made.get(what, 0) for made in (first, second)]
        told = ["under 10" if few is None else few for few in gone]
        found |= _apart(what.replace("_", " "), *told)
    return found


def _apart(what: str, one: Any, two: Any) -> dict[str, str]:
    """What was said of two results, where that is not the same."""

    def said(value: Any) -> str:
        if is_number(value):
            return f"{value:,.12g}"
        if isinstance(value, list | tuple):
            return ", ".join(map(str, value)) or "nothing"
        return "nothing" if value is None else str(value)

    return {} if one == two else {what: f"{what}: {said(one)} -> {said(two)}"}


def _of_the_records(
    one: Mapping[str, Any], two: Mapping[str, Any],
    first: Mapping[str, Any], second: Mapping[str, Any],
) -> dict[str, str]:  # fmt: skip
    """In what the records differ, how a missing cell is read, and what was drawn."""
    missing = [made.get("missing", "value") for made in (first, second)]
    found = _apart("another policy for missing cells", *missing)
    alike = one.get("records") is not None and one.get("records") == two.get("records")
    if one.get("table") != two.get("table") and not alike:
        read = {made.get("original_fingerprint") for made in (first, second)}
        if len(read) != 1 or None in read:
            cells = one.get("counted") != two.get("counted")
            found["table"] = f"{OTHER}, or the same counted as cells" if cells else OTHER
        elif not found:
            found["table"] = AS_RELEASED
    drawn = [made.get("seed") if made.get("draws") else None for made in (first, second)]
    return found if None in drawn else found | _apart("seed of the draws", *drawn)
