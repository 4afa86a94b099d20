"""The measures of a disclosure: the list that its page, its command and its JSON share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reidbn.attacks.secrets.result import NUMERIC, Disclosure
from reidbn.result import SHARE, Measure, count_of, given, mean_of, rest_of

WITHHELD = {
    "best_guess", "best_guess_without_own_record", "mean_poac_full", "mean_poac_min",
    "mean_ppp_without_own_record", "posterior_full", "posterior_max", "prior", "right_about_them",
    "right_about_them_prior",
}  # fmt: skip
"""Means that stay in the house: they follow from no count of people that a page tells, and a few
people move some of them by as many (benchmarks.attacker_strangers); the rest repeats what is told.
"""


def measures(d: Disclosure) -> dict[str, Measure]:
    """The numbers of the page, of the command and of its JSON."""
    full, least = d.poac()
    about = " about the people alike" if d.chosen else ""
    found = {
        "people": count_of(len(d), "people asked about"),
        "p": given(d.p, "a secret is broken at PPP up to p", unit="PPP"),
        "q": given(d.q, "a value stays plausible above q", unit="share of peers"),
        "share_upward": _verdict(d, "upward"),
        "share_downward": _verdict(d, "downward"),
        "sure_when_all_known": count_of(
            int(d.sure.sum()), "people about whom who knows all is sure"
        ),
        "sure_without_own_record": Measure(  # the others are alone, and counted elsewhere
            int(d.sure_without_own.sum()), unit="people", words="of these by others' records alone"
        ),
        "best_guess_prior": Measure(
            d.best_guess_prior,
            words=f"best guess right{about}, nothing known",
            told="ratio",
            each=np.array([d.best_guess_prior * len(d), len(d)]),
        ),
        "best_guess": mean_of(d.best_guess, f"best guess right{about}, all known", per_person=True),
    }
    if about and d.source.near(d.column) is None:
        for name, known in (("right_about_them_prior", ()), ("right_about_them", None)):
            words = "nothing known" if known is not None else "all known"
            found[name] = mean_of(
                d.right_about(known), f"best guess right about those asked about, {words}"
            )
    if not d.several and d.source.near(d.column) is None:
        found["best_guess_without_own_record"] = mean_of(
            d.best_guess_without_own, "best guess right without the own record"
        )
    means = {
        "posterior_full": (1 - d.ppp_full, "drawn guess right, all known (1 - mean PPP)"),
        "mean_ppp_full": (d.ppp_full, "mean PPP, all known"),
        "mean_ppp_without_own_record": (
            d.ppp_without_own, "mean PPP without the own record"
        ),
        "mean_ppp_min": (d.ppp_min, "mean PPP, least over subsets"),
        "mean_poac_full": (full, f"mean PoAC at q = {d.q:g}, all known"),
        "mean_poac_min": (least, f"mean PoAC at q = {d.q:g}, least over subsets"),
        "prior": (d.prior, "mean share of the own secret in the table"),
        "posterior_max": (1 - d.ppp_min, "drawn guess right, at the telling subset"),
    }  # fmt: skip
    if d.chances is not None:
        means["expected_ppp"] = d.expected_ppp, "mean PPP in the scenario"
        means["breach_probability"] = d.breach_probability, "chance of a breach in it"
    for name, (values, words) in means.items():
        own = name in (*NUMERIC, "expected_ppp", "breach_probability")
        found[name] = (
            Measure(None, words=words)
            if values is None
            else (rest_of if "ppp" in name or "poac" in name else mean_of)(
                values, words, per_person=own
            )
        )
    counted = tuple(d.p + (1 - d.p) * i / 5 for i in range(5))  # bands in which a page has people
    for name in ("mean_ppp_full", "mean_ppp_min"):
        found[name] = replace(found[name], up_to=counted)
    for name in WITHHELD & {*found}:
        found[name] = replace(found[name], told="withheld")
    return found | _worst_readings(d)


def _verdict(d: Disclosure, what: str) -> Measure:
    """The share of people with this privacy, of their weight where people have weights."""
    has = np.asarray(d.upward() if what == "upward" else d.downward(), dtype=np.float64)
    if d.weights is not None:
        has = has * d.weights / d.weights.mean()
    drawn = d.drawn_from is not None and d.weights is None
    at = f"{d.p:g}" if what == "upward" else f"{d.q:g}"
    return replace(
        rest_of(has, f"share with {at}-{what} privacy"),
        unit=SHARE,
        value=d.share_upward() if what == "upward" else d.share_downward(),
        interval=d.interval(what) if drawn else None,
    )


def _worst_readings(d: Disclosure) -> dict[str, Measure]:
    """The table's worst classes: of single people, so that they stay in the house."""
    if d.several:
        return {}
    r = d.readings()
    found: dict[str, tuple[float | int, str, str]] = {
        "k": (r.k, "people", "k (smallest class, all known)"),
        "l": (r.l, "values", "l (fewest values in a class)"),
        "entropy_l": (r.entropy_l, "values", "entropy l"),
        "alpha": (r.alpha, "share of a class", "alpha (largest share of one value)"),
        "t": (r.t, "distance", "t (largest distance from the table)"),
    }
    return {name: Measure(value, unit=unit, words=words)
            for name, (value, unit, words) in found.items()}  # fmt: skip
