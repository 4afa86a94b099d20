"""The mean of a number: how many relatives are found, how many attributes are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from reidbn.calls import typed
from reidbn.errors import UsageError
from reidbn.inference.answer import Expectation
from reidbn.inference.answers import ENGINES, expectation, load_attack
from reidbn.inference.asked import Asking
from reidbn.inference.query import Mean, refuse_two_readings
from reidbn.whatif.cases import What, brings_case, case_of, row_by_row


@typed
def expect(
    what: What,
    of: str | None = None,
    *,
    engine: str = "exact",
    draws: int = 1_000_000,
    seed: int = 0,
    **asked: Unpack[Asking],
) -> Expectation:
    """The mean of a node whose states are numbers, or of how many members of a group are known.

    `of` is the node, the group, or a question such as how_many: {expect: exposed}; without it the
    attack's own question.  `what` is an attack, a name or file of one, or an assessment: then there
    is one mean per person, or per cell where people are counted as cells, and float() is the mean
    over people.  `engine`, `draws` and `seed` are as in rb.ask, and `asked` is how it is asked:
    given, do, set, subject and beyond_range.  Of policies that are worth the same to
    the attacker the highest mean is in `.worst` (`worst_tied` of `.people`).

    >>> e = expect("leak-single", "leaked_class_size")
    >>> round(float(e), 12), round(float(e.sd), 4)
    (2.0, 1.0952)
    """
    if engine not in ENGINES:
        raise UsageError(f'no engine "{engine}"; use {", ".join(ENGINES)}')
    attack = what if brings_case(what) else load_attack(what)  # type: ignore[arg-type]
    asked_of: Any = getattr(attack, "attack", attack)
    target = None if of is None else of if of.startswith("expect ") else Mean(of)
    if of is not None and of in getattr(asked_of, "questions", {}):
        if of in asked_of.groups or of in asked_of.all_nodes:
            refuse_two_readings(asked_of, of)
        else:
            target = of
        if not asked_of.questions[of].expect:
            raise UsageError(f"question {of} asks for a probability: use rb.ask")
    case = case_of(attack, target, means=True, **asked)  # type: ignore[arg-type]
    if case.query.scale is None:
        raise UsageError(f"{case.query.describe()} is a probability: use rb.ask, or name a node")
    found = expectation(
        case.attack, case.query, case.settings, case.subject, engine=engine, draws=draws, seed=seed
    )
    if np.ndim(found.value) < 2:
        return found
    names = _EACH if found.worst is None else (*_EACH, "worst")
    each = {name: np.asarray(getattr(found, name)) for name in names}
    rows = row_by_row(case, **each)
    whose, counts = rows.pop("subject"), rows.pop("people", None)
    return replace(found, **rows, labels=whose.tolist(), counts=counts)


_EACH = ("value", "sd", "probability", "evidence_probability")
