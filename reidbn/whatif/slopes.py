"""Derivatives: how fast the answer moves when a parameter starts to move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reidbn.calls import typed
from reidbn.whatif.cases import Target, What, brings_case, case_of
from reidbn.whatif.curve import responses
from reidbn.whatif.sensitivity import base_answers, slopes, spans, subject_slopes

if TYPE_CHECKING:
    import pandas as pd


@typed
def derivatives(
    what: What,
    target: Target | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    do: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    subject: Mapping[str, Any] | None = None,
    over: Sequence[str] | str | None = None,
    per_subject: bool = False,
    beyond_range: bool = False,
) -> pd.DataFrame:
    """d(answer)/d(parameter) at the parameters' values, for every parameter, and how it is known.

    For several subjects it is the derivative of their mean answer, or of each one's own with
    `per_subject=True`.  `elasticity` is per cent per per cent.  Whole numbers have no derivative:
    the difference of their neighbours, per step, stands for it ("finite difference").

    >>> derivatives("adversary-routes", "risk", over="p_c").round(4)[["derivative", "method"]]
       derivative        method
    0      0.1843  exact affine
    """
    import pandas as pd

    case = case_of(
        what, target, given=given, do=do, set=set, subject=subject, beyond_range=beyond_range
    )
    names = list(spans(case, over))
    if not per_subject:
        return pd.DataFrame(
            [
                {
                    "parameter": s.parameter, "value": s.value, "answer": s.answer,
                    "derivative": s.slope, "elasticity": s.elasticity, "method": s.method,
                }
                for s in slopes(case, names)
            ]
        )  # fmt: skip
    answers = base_answers(case)
    parts = []
    for name, response in responses(case, names).items():
        steps, method = subject_slopes(response, answers)
        parts.append(pd.DataFrame({"parameter": name, "subject": case.names(len(steps)),
                                   "derivative": case.each(steps), "method": method}))  # fmt: skip
    return pd.concat(parts, ignore_index=True)


@typed
def derivative(
    what: What,
    target: Target | None = None,
    parameter: str | None = None,
    **options: Any,
) -> float:
    """d(answer)/d(one parameter) at the parameters' values.

    >>> round(derivative("adversary-routes", "risk", "p_c"), 4)
    0.1843
    """
    if brings_case(what) and parameter is None and isinstance(target, str):
        target, parameter = None, target
    table = derivatives(what, target, over=[parameter] if parameter else None, **options)
    return float(table["derivative"].iloc[0])
