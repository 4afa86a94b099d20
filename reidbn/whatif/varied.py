"""What may vary: the parameters of a case that are drawn, and what is said of those held."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from reidbn.attack.evidence import Belief
from reidbn.attack.parts import Parameter
from reidbn.attack.prior import Prior
from reidbn.errors import UsageError
from reidbn.inference.asked import Asked
from reidbn.whatif.priors import cut_to
from reidbn.whatif.sensitivity import Over, spans


def as_set(parameters: Mapping[str, Parameter], settings: Collection[str]) -> list[str]:
    """The parameters that have a range, and are held at what they are set to."""
    return [n for n, p in parameters.items() if n in settings and p.range[0] < p.range[1]]


def held(case: Asked, varied: Mapping[str, Parameter]) -> tuple[str, ...]:
    """A word on priors that `over` does not name, and so holds at one value, and on what is set.

    And on what is held in a condition with what is varied, which it may break where it is not.
    """
    moved = {n: p for n, p in case.parameters.items() if n not in varied and case.matters(n)}
    still = as_set(moved, case.settings)
    still += [n for n in case.settings if n in case.attack.numbers and case.matters(n)]
    names = [n for n, p in moved.items() if p.prior is not None and n not in case.settings]
    others = [n for n in _in_conditions(case, varied) if n not in names]
    return tuple(
        f"held at {'its value' if len(some) == 1 else 'their values'}, {why}: {', '.join(some)}"
        for some, why in ((names, "though the model has a prior"),
                          (others, "in a condition with what is varied"),
                          (still, "as set"))
        if some
    )  # fmt: skip


def _in_conditions(case: Asked, varied: Mapping[str, Parameter]) -> list[str]:
    """What is not varied and stands in a condition with what is, where its range may break it."""
    found: dict[str, None] = {}
    for condition in case.attack.conditions:
        names = condition.stands_on(case.attack, case.settings)
        free = {n: p for n, p in case.parameters.items()
                if n in names and n not in varied and n not in case.settings
                and p.range[0] < p.range[1]}  # fmt: skip
        box = {n: (case.base(n), case.base(n)) for n in names}
        box |= {n: p.range for n, p in {**varied, **free}.items() if n in names}
        is_shared = any(n in varied and case.matters(n) for n in names)
        least = condition.lowest(case.attack, case.settings, box) if is_shared else 0.0
        if is_shared and not condition.is_kept_by(least):
            found |= dict.fromkeys(free)
    return [*found]


def counts_held(case: Asked, varied: Mapping[str, Parameter]) -> tuple[str, ...]:
    """A word on counts that stay as they are where only real numbers are learnt about."""
    names = [
        n for n, p in case.parameters.items()
        if p.is_integer and p.range[0] < p.range[1] and n not in varied
        and n not in case.settings and case.matters(n)
    ]  # fmt: skip
    return (f"counts stay as they are: {', '.join(names)}",) if names else ()


def varied_of(
    case: Asked, over: Over, priors: Mapping[str, Prior] | None = None
) -> dict[str, Parameter]:
    """The parameters that vary: those that `over` or a prior of the call's own names, or all that
    are not set.
    """
    named = spans(case, over)
    if over is None:
        named = {n: named[n] for n in named if n not in case.settings or n in (priors or {})}
    return with_ranges(case, named, priors)


def with_ranges(
    case: Asked,
    over: Mapping[str, tuple[float, float] | None],
    priors: Mapping[str, Prior] | None = None,
) -> dict[str, Parameter]:
    """The parameters to vary, with the ranges and priors that are asked for."""
    out = {}
    for name, ends in over.items():
        parameter = case.parameter(name)
        if name in case.attack.numbers:
            raise UsageError(_derived(case, name))
        prior = (priors or {}).get(name) or parameter.prior
        low, high = ends or (prior.ends if isinstance(prior, Belief) else parameter.range)
        whole = parameter.is_integer
        low, high = (int(low), int(high)) if whole else (float(low), float(high))
        if ends and parameter.prior is not None and name not in (priors or {}):
            low, high, prior = cut_to(parameter, low, high)
        if low < high:
            value = min(max(parameter.value, low), high)
            out[name] = replace(parameter, value=value, low=low, high=high, prior=prior)
    for name in priors or {}:
        case.parameter(name)
        if name in case.attack.numbers:
            raise UsageError(_derived(case, name))
        if name not in out:
            but = "no range to vary over" if name in over else "over= does not name it"
            raise UsageError(f"{name} has a prior but {but}")
    if not out:
        still = as_set(case.parameters, case.settings)
        but = f" but what is held as set: {', '.join(still)}; over= varies it all the same"
        said = f"{case.attack.name}: no parameter has a range to vary over{but if still else ''}"
        raise UsageError(said, in_shell=said.replace("over=", "--over"))
    return out


def _derived(case: Asked, name: str) -> str:
    behind = ", ".join(r[1:] for r in case.attack.derived.behind(name))
    return (
        f"{name} is derived ({case.attack.numbers[name].formula}) and has no prior of its own; "
        f"vary {behind}"
    )
