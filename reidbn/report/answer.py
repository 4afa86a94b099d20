"""An answer in plain words: the chance, what it is given, and the assumptions that it stands on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from reidbn.attack.assumptions import assumptions_behind
from reidbn.inference.answer import Answer
from reidbn.report.words import one_in


def sentence(answer: Answer) -> str:
    """One plain sentence.

    >>> from reidbn.inference.answers import ask
    >>> sentence(ask("leak-single", "identified=yes", given={"in_leak": "yes"}))
    'identified=yes has probability 0.461 (about 1 in 2.2), given that in_leak=yes.'
    """
    query = answer.query
    what = " and ".join(f"{n}={s}" for n, s in query.wanted.items()) or query.targets[0]
    p = np.asarray(answer.probability)
    if query.is_distribution and p.ndim == 1:
        best = int(p.argmax())
        found = f"{what} is most probably {answer.states[best]}: {one_in(float(p[best]))}"
    elif query.is_distribution:
        found = f"{what} has {np.prod(p.shape[:-1]):,} distributions"
    elif p.size == 1:
        found = f"{what} has probability {one_in(float(answer))}"
    else:
        found = (
            f"{what} has a mean probability of {one_in(float(p.mean()))} over {p.size:,} answers, "
            f"the highest {one_in(float(p.max()))}"
        )
    conditions = [f"given that {', '.join(query.known)}"] if query.given else []
    conditions += [f"when {_listed(query.do)} is brought about"] if query.do else []
    return f"{', '.join([found, *conditions])}."


def used_assumptions(answer: Answer) -> tuple[str, ...]:
    """Assumptions behind the answer, except parameters that were set for it."""
    query = answer.query
    behind = assumptions_behind(answer.attack, [*query.targets, *query.given], query.do)
    return tuple(name for name in behind if name not in answer.settings)


def remarks(answer: Answer) -> list[str]:
    """What has to be said beside the sentence."""
    out = []
    if answer.query.given:
        p = np.asarray(answer.evidence_probability)
        shown = one_in(float(p)) if p.size == 1 else f"{p.min():.3g} to {p.max():.3g}"
        out.append(f"Probability of what is given: {shown}")
    if answer.settings:
        out.append(f"Set here: {_listed({k: f'{v:,.12g}' for k, v in answer.settings.items()})}")
    if answer.interval:
        low, high = answer.interval
        out.append(f"Sampled with {answer.rows:,} rows; 95 % interval {low:.4g} to {high:.4g}")
    return [*out, _assumed(answer, used_assumptions(answer))]


def _assumed(answer: Answer, names: Iterable[str]) -> str:
    parameters = answer.attack.parameters
    shown = [
        f"{n} = {parameters[n].value:,.12g}" if n in parameters else f"the numbers of {n}"
        for n in names
    ]
    return f"Assumptions used ({len(shown)}): {', '.join(shown)}" if shown else (
        "Assumptions used: none")  # fmt: skip


def _listed(pairs: object) -> str:
    return " and ".join(f"{name}={value}" for name, value in dict(pairs).items())  # type: ignore[call-overload]
