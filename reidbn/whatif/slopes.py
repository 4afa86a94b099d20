"""Derivatives: how fast the answer moves when a parameter starts to move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from reidbn.calls import renamed, typed
from reidbn.inference.asked import Asking
from reidbn.inference.worst import of_worst
from reidbn.whatif.cases import Target, What, brings_case, case_of, row_by_row
from reidbn.whatif.curve import responses
from reidbn.whatif.sensitivity import base_answers, slopes, spans, subject_slopes, unit

if TYPE_CHECKING:
    import pandas as pd


@renamed(per_subject="per_person")
@typed
def derivatives(
    what: What,
    target: Target | None = None,
    *,
    over: Sequence[str] | str | None = None,
    per_person: bool = False,
    **asked: Unpack[Asking],
) -> pd.DataFrame:
    """d(answer)/d(parameter) at the parameters' values, for every parameter, and how it is known.

    For several subjects it is the derivative of their mean answer, or of each one's own with
    `per_person=True`.  `elasticity` is per cent per per cent.  Whole numbers have no derivative:
    the difference of their neighbours, per step, stands for it ("finite difference").
    `asked` is how it is asked: given, do, set, subject and beyond_range, as in rb.ask.

    `what` is an attack, a name or file of one, or a result; `target` is the event, by default the
    attack's own question. `over` names the parameters.

    >>> derivatives("adversary-routes", "risk", over="p_c").round(4)[["derivative", "method"]]
       derivative        method
    0      0.1843  exact affine
    """
    import pandas as pd

    case = case_of(what, target, means=True, **asked)
    names = list(spans(case, over))
    case = of_worst(case, ())
    if not per_person:
        return pd.DataFrame(
            [
                {
                    "parameter": s.parameter, "value": s.value, "answer": s.answer,
                    "derivative": s.slope, "elasticity": s.elasticity, "method": s.method,
                }
                for s in slopes(case.as_mean(), names)
            ]
        )  # fmt: skip
    answers = base_answers(case)
    parts = []
    for name, response in responses(case, names).items():
        steps, method = subject_slopes(response, answers)
        rows = row_by_row(case, derivative=steps * unit(case))
        parts.append(pd.DataFrame({"parameter": name, **rows, "method": method}))
    return pd.concat(parts, ignore_index=True)


@typed
def derivative(
    what: What,
    target: Target | None = None,
    parameter: str | None = None,
    **asked: Unpack[Asking],
) -> float:
    """d(answer)/d(one parameter) at the parameters' values.

    `asked` is how it is asked: given, do, set, subject and beyond_range, as in rb.ask.

    `what` is an attack, a name or file of one, or a result; `target` is the event, by default the
    attack's own question.

    >>> round(derivative("adversary-routes", "risk", "p_c"), 4)
    0.1843
    """
    if brings_case(what) and parameter is None and isinstance(target, str):
        target, parameter = None, target
    table = derivatives(what, target, over=[parameter] if parameter else None, **asked)
    return float(table["derivative"].iloc[0])
