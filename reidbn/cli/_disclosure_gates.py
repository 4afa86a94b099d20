"""What `--fail-above` and `--fail-above-share` of `reidbn disclosure` judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reidbn.above import is_above
from reidbn.cli._options import say_gate
from reidbn.errors import UsageError

if TYPE_CHECKING:
    from reidbn.attacks.secrets.result import Disclosure


def _gate_of_each(found: dict[str, Disclosure], limit: float, *, as_json: bool) -> dict[str, Any]:
    """What `--fail-above` judges: the chance of the person whose secrets are least protected."""
    from reidbn.attacks.secrets.joint import breach_of_any, unprotected

    sure = all(d.chances is None for d in found.values())
    chance = float((unprotected(found)[0] if sure else breach_of_any(found)).max())
    told = f"the highest chance that {_any_of(found)} is given away is {chance:.4g}"
    if sure:
        told += " (no chances were said: what may be known is known)"
    return say_gate(limit, told, exceeded=bool(is_above(chance, limit)), as_json=as_json)


def _any_of(found: dict[str, Disclosure]) -> str:
    names = list(found)
    return (
        f"a person's {', '.join(names[:-1])} or {names[-1]}"
        if names[1:]
        else f"a person's {names[0]}"
    )


def _gate_of_share(found: dict[str, Disclosure], limit: float, *, as_json: bool) -> dict[str, Any]:
    """What `--fail-above-share` judges: the share of people some secret of whom is not protected.

    Somebody whose secret is missing is not asked about it, so that the share of one secret alone
    may be higher; and the share of weight is judged where it is higher than that of people.
    """
    from reidbn.attacks.secrets.joint import unprotected

    shares = []
    for some in [found, *({name: d} for name, d in found.items())]:
        names = list(some)
        whose = names[0] if len(names) == 1 else f"one or more of {', '.join(names)}"
        broken, weights = unprotected(some)
        shares.append((float(broken.mean()), "people asked about", whose))
        if weights is not None:
            heavy = float(np.average(broken, weights=weights))
            shares.append((heavy, "weight of the people asked about", whose))
    worst, of, whose = max(shares, key=lambda share: share[0])
    told = f"{worst:.1%} of the {of} have no upward privacy of {whose}"
    return say_gate(
        limit, told, exceeded=bool(is_above(worst, limit)), as_json=as_json, of="-share"
    )


GATES = {"fail_above": _gate_of_each, "fail_above_share": _gate_of_share}


def refuse_of_some(individuals: int | None, limits: Mapping[str, float | None]) -> None:
    """A limit is about everybody who is asked about, and a sample does not say it of them."""
    for name in (name for name, limit in limits.items() if limit is not None):
        if individuals is not None:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} is about everybody, --individuals asks about some: leave one of the "
                f"two out (without {option} the 95 % interval of the share is printed)"
            )
