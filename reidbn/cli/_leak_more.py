"""What `reidbn leak` also answers: secrets, knowledge, parts of histories, claims, one target."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
import numpy as np

from reidbn.attacks.leak.variations import found_out, most_found_out
from reidbn.cli._known import known_of, known_options
from reidbn.cli._options import (
    CHANCE,
    WHOLE,
    columns_listed,
    listed,
    listing,
    number,
    print_table,
    refuse_without,
)
from reidbn.cli._results import REPORTS, told_as
from reidbn.errors import UsageError
from reidbn.written import read_exact

if TYPE_CHECKING:
    from reidbn.microdata.table import People
    from reidbn.theory.circle import Classes

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    known_options,
    click.option("--sensitive-known", type=CHANCE, metavar="P",
                 help="Chance that the value of the one --sensitive column is known and filters "
                 "the candidates; of several, use --qi and --known."),
    click.option("--homogeneity", is_flag=True,
                 help="What the leak tells of every --sensitive column of a table; --fail-above "
                 "(of one column) judges the chance to be identified or to have one's secret "
                 "believed."),
    click.option("--alike", type=WHOLE, metavar="S",
                 help="The same without a table: S of --class-size share the target's secret."),
    click.option("--seen", type=CHANCE, metavar="Q",
                 help="Each record of a leaked person comes out with chance Q only."),
    listing("--histories", metavar="N,N,...",
                 help="With --seen and --records: records of each member of one class."),
    click.option("--claims", metavar="guess|only-one|P",
                 help="When the attacker claims; how often that is right."),
    click.option("--in-table", type=CHANCE, default=1.0, metavar="P",
                 help="With --claims: chance that the target is in the table."),
    click.option("--known-in-leak", is_flag=True,
                 help="With --claims: the attacker knows that the target leaked."),
    click.option("--target-risk", is_flag=True,
                 help="What the risk of one target in the smallest class can turn out as."),
)  # fmt: skip
_OF_A_TABLE = (
    "sensitive", "sensitive_known", "homogeneity", "known", "knowledge", "scenario", "unknown",
    "column", "without", "qi", "subject_id", "missing", "missing_values", "history", "hierarchy",
    "level", "tidy", "delimiter", "allow_direct",
)  # fmt: skip
_OF_A_CLASS = ("alike", "histories", "class_size")
_DESIGNS = ("smallest_k", "largest_leak", "k_curve")
_SECRET = {
    "disclosed": "disclosed",
    "believed": "believed",
    "identified": "identified",
    "either": "disclosed or identified",
}


def more_options(function: F) -> F:
    """The options of these questions."""
    for decorate in reversed(_OPTIONS):
        function = decorate(function)
    return function


def read_leaks(text: str, method: str, records: int) -> list[Any]:
    """Leak sizes, or one prior over them: 1000:0.5,4000:0.5, or 1000-4000 where all are alike.

    A size may be a share of the records: 10%.
    """
    import reidbn as rb

    told = {one: in_records(one, records) for one in (text, *text.split(","))}
    told_as("--leaked", {one: number for one, number in told.items() if one != number})
    text = told[text]
    if ":" not in text and "-" not in text:
        return list(read_sizes(text, "--leaked"))
    if method != "exact":
        raise UsageError("a prior of the leak size is reckoned exactly: leave --method out")
    if ":" not in text:
        ends = [_whole(part, "--leaked") for part in text.split("-")]
        if len(ends) != 2:
            raise UsageError(f'--leaked: "{text}" is not of the form LOWEST-HIGHEST')
        return [rb.leak.between(*ends)]
    prior: dict[int, float] = {}
    for part in text.split(","):
        size, _, chance = part.partition(":")
        if _whole(size, "--leaked") in prior:
            raise UsageError(f"--leaked: {size.strip()} is named twice")
        prior[_whole(size, "--leaked")] = float(number(chance.strip(), "--leaked"))
    return [prior]


_SHARE = re.compile(r"(?<![:\d.])\d[\d.]*\s*%")  # not a chance, which stands after a colon


def in_records(leaked: str, records: int) -> str:
    """Leak sizes, the shares among them as numbers of records: beside one the number would count
    all of them.
    """
    return _SHARE.sub(lambda found: _records(found[0], records), leaked)


def _records(share: str, records: int) -> str:
    """A share of the records as their number."""
    count = read_exact(share, "--leaked") * records
    if count.denominator != 1:
        near = round(count)
        raise UsageError(
            f"--leaked: {share} of {records:,} records is no whole number of them; write {near}"
        )
    return str(count)


def named_leak(leaked: Any) -> str:
    """A leak size, or a prior, as it is shown."""
    if not isinstance(leaked, dict):
        return str(leaked)
    mean = sum(size * p for size, p in leaked.items())
    return f"{min(leaked):,}-{max(leaked):,} (mean {mean:,.1f})"


def _whole(text: str, option: str) -> int:
    value = number(text.strip(), option)
    if value != int(value):
        raise UsageError(f'{option}: "{text.strip()}" is not a whole number')
    return int(value)


def read_sizes(text: str, option: str) -> list[int]:
    """Whole numbers between commas."""
    values = [_whole(part, option) for part in text.split(",") if part.strip()]
    if not values:
        raise UsageError(f'{option}: "{text}" is not a whole number, or several between commas')
    return values


def refuse_misplaced(people: People | None, options: dict[str, Any]) -> None:
    """No option is dropped silently."""
    needs = "--records with --class-size" if people is not None else "a TABLE"
    for name in _OF_A_CLASS if people is not None else _OF_A_TABLE:
        refuse_without(name, needs, is_there=False)
    designs = any(_is_asked(name, options) for name in _DESIGNS)
    refuse_without("question", "--largest-leak, --smallest-k or --k-curve", is_there=designs)
    for name in ("draws", "seed"):
        refuse_without(name, "--method simulation", is_there=options["method"] == "simulation")
    if people is None and options["seen"] is not None and not options["histories"]:
        raise UsageError("--seen needs a TABLE, or --histories with --records")
    if options["histories"] and (options["records"] is None or options["seen"] is None):
        raise UsageError("--histories needs --records and --seen")
    if options["alike"] is not None and options["class_size"] is None:
        raise UsageError("--alike needs --records with --class-size")
    for name in ("sensitive_known", "homogeneity"):
        if options[name] not in (None, False) and not options["sensitive"]:
            raise UsageError(f"--{name.replace('_', '-')} needs --sensitive")
    _refuse_several_secrets(options)
    _refuse_another_risk(options)
    if not options["claims"] and (options["known_in_leak"] or options["in_table"] != 1):
        raise UsageError("--in-table and --known-in-leak are about --claims; name a rule")


def _refuse_several_secrets(options: dict[str, Any]) -> None:
    """Secrets that are asked of one at a time tell more together, which no answer would hear of."""
    secrets = columns_listed(options["sensitive"])
    if len(secrets) < 2:
        return
    if options["sensitive_known"] is not None:
        raise UsageError(
            f"--sensitive-known is about one --sensitive column, and who knows {len(secrets)} of "
            f"them tells more people apart than by any one: name {', '.join(secrets)} with --qi, "
            f"too, and with --known each column's chance (A=1,B=0.3)"
        )
    if options["homogeneity"] and options["fail_above"] is not None:
        raise UsageError(
            f"--fail-above with --homogeneity is about one --sensitive column, and the chance that "
            f"any of {len(secrets)} secrets is believed is higher than each one's: ask of one "
            f"column at a time, or leave --fail-above out"
        )


_READINGS = {
    "secret": ("sensitive_known",),
    "shared": ("homogeneity", "alike"),
    "parts": ("seen", "histories"),
    "many": ("targets", "from_the_leak"),
    "alone": ("claims", "target_risk"),
}
"""Each is a risk of its own, reckoned as if no other were asked."""
_KNOWN = ("known", "knowledge", "scenario", "unknown", "column", "without")
_HEARS = ("secret", "shared")
"""The readings for which it plays a part what is known."""
_GATES = {
    "fail_above": (*_READINGS["many"], "known_in_leak"),
    **dict.fromkeys(
        _DESIGNS,
        (
            *_KNOWN,
            *(n for r in ("secret", "shared", "parts") for n in _READINGS[r]),
            "from_the_leak",
            "known_in_leak",
        ),
    ),
    **dict.fromkeys(
        (*REPORTS, "plot", "out"),
        (*(n for r in _READINGS if r != "secret" for n in _READINGS[r]), "known_in_leak"),
    ),
}
"""What is about the risk of a patient looked for alone; and what asks about another risk."""


def _is_asked(name: str, options: dict[str, Any]) -> bool:
    value = options.get(name)
    if name == "targets":
        return bool(value != 1)
    return value not in (None, "", (), False)


def _refuse_another_risk(options: dict[str, Any]) -> None:
    """A gate, a design, a page or another risk beside one would be taken for about both."""
    readings = dict(_READINGS)
    if not any(_is_asked(n, options) for r in _HEARS for n in _READINGS[r]):
        readings["known"] = _KNOWN
    asked = {
        reading: name
        for reading, names in readings.items()
        for name in reversed(names)
        if _is_asked(name, options)
    }
    if len(asked) > 1:
        one, other, *_ = asked.values()
        raise UsageError(
            f"{_typed(one)} and {_typed(other)} ask about two risks, and neither would hear of the "
            f"other: ask for one of them at a time (which columns are known at all is --qi)"
        )
    for gate, names in _GATES.items():
        if not _is_asked(gate, options):
            continue
        for name in names:
            if not _is_asked(name, options):
                continue
            more = "; or ask --largest-leak P --question share" if name == "targets" else ""
            raise UsageError(
                f"{_typed(gate)} is about a patient of the table who is looked for alone, and "
                f"{_typed(name)} asks about another risk, which can be higher: leave one of the "
                f"two out{more if gate == 'fail_above' else ''}"
            )


def _typed(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def asked_more(
    people: People | None, classes: Classes, leaks: list[Any], options: dict[str, Any]
) -> dict[str, Any]:
    """The answers to what was also asked, by what they are about; one per leak size."""
    found: dict[str, Any] = {}
    parts = {
        "known": _known, "homogeneity": _homogeneity, "partial_histories": _partial,
        "claims": _claims, "target": _target,
    }  # fmt: skip
    for name, part in parts.items():
        rows = [part(people, classes, leaked, options) for leaked in leaks]
        if rows[0]:
            found[name] = [{"leaked": named_leak(leaked)} | answer
                           for leaked, answer in zip(leaks, rows, strict=True)]  # fmt: skip
    return found


def _known(
    people: People | None, classes: Classes, leaked: Any, options: dict[str, Any]
) -> dict[str, Any]:
    """Every person's risk when not everything is known, or a secret is: mean and highest."""
    import reidbn as rb

    if people is None:
        return {}
    known, secret = known_of(people, options), options["sensitive_known"]
    if known is None and secret is None:
        return {}
    filters: list[dict[str, Any]] = [{}]
    if secret is not None:
        filters = [{"sensitive": name, "sensitive_known": secret}
                   for name in columns_listed(options["sensitive"])]  # fmt: skip
    out = {}
    for more in filters:
        risks = rb.leak.risks(people, leaked=leaked, known=known, **more)
        name = f"with {more['sensitive']}" if more else "risk"
        out[name] = {"mean": float(risks.mean()), "highest": float(risks.max())}
    return out


def _homogeneity(
    people: People | None, classes: Classes, leaked: Any, options: dict[str, Any]
) -> dict[str, Any]:
    import reidbn as rb

    if people is not None:
        if not options["homogeneity"]:
            return {}
        out = {}
        for name in columns_listed(options["sensitive"]):
            asked = {"leaked": leaked, "sensitive": name, "known": known_of(people, options)}
            means = _means(rb.leak.homogeneity_risks(people, **asked))
            out[name] = means | {"highest": float(most_found_out(people, **asked).max())}
        return out
    if options["alike"] is None:
        return {}
    if isinstance(leaked, dict):
        raise UsageError("--alike takes leak sizes, not a prior of them")
    asked = {"records": classes.records, "class_size": options["class_size"]}
    found = rb.leak.homogeneity(leaked=leaked, alike=options["alike"], **asked)
    return {"the secret": _means(found) | {"highest": float(np.max(found_out(found)))}}


def _means(found: Any) -> dict[str, float]:
    return {name: float(np.mean(getattr(found, name))) for name in _SECRET}


def _partial(
    people: People | None, classes: Classes, leaked: Any, options: dict[str, Any]
) -> dict[str, Any]:
    import reidbn as rb

    seen = options["seen"]
    if seen is None:
        return {}
    if people is not None:
        risks = rb.leak.history_risks(people, leaked=leaked, seen=seen)
        return {"mean": float(risks.mean()), "highest": float(risks.max())}
    if not options["histories"]:
        return {}
    lengths = [float(number(part, "--histories")) for part in listed(options["histories"])]
    asked = {"records": classes.records, "leaked": leaked, "seen": seen}
    risks = rb.leak.partial_histories(histories=lengths, **asked)
    return {"members": risks.tolist(), "highest": float(risks.max())}


def _claims(
    people: People | None, classes: Classes, leaked: Any, options: dict[str, Any]
) -> dict[str, Any]:
    import reidbn as rb

    if not options["claims"]:
        return {}
    if isinstance(leaked, dict):
        raise UsageError("--claims takes leak sizes, not a prior of them")
    text = options["claims"].strip().replace("-", " ")
    rule = text if text[:1].isalpha() else float(number(options["claims"], "--claims"))
    more = {"in_table": options["in_table"], "known_in_leak": options["known_in_leak"]}
    return dict(rb.leak.claims(classes, leaked=leaked, rule=rule, **more).table().iloc[0])


def _target(
    people: People | None, classes: Classes, leaked: Any, options: dict[str, Any]
) -> dict[str, Any]:
    import reidbn as rb

    if not options["target_risk"]:
        return {}
    if isinstance(leaked, dict):
        raise UsageError("--target-risk takes leak sizes, not a prior of them")
    k = int(classes.sizes.min())
    found = rb.leak.given_target(records=classes.records, leaked=leaked, class_size=k)
    return {"class_size": k, "outcomes": found.table().to_dict("records")}


def highest(found: dict[str, Any]) -> list[float]:
    """The highest risks of persons among these answers, for an exit code."""
    out = [row["highest"] for row in found.get("partial_histories", ())]
    for part in ("known", "homogeneity"):
        for row in found.get(part, ()):
            out += [answer["highest"] for answer in row.values() if isinstance(answer, dict)]
    return out


# -- in words ------------------------------------------------------------------------------------


def say_more(found: dict[str, Any]) -> None:
    """The same answers in words."""
    parts = {"known": _say_known, "homogeneity": _say_secrets, "partial_histories": _say_partial,
             "claims": _say_claims, "target": _say_target}  # fmt: skip
    for name, part in parts.items():
        for row in found.get(name, ()):
            if len(found[name]) > 1:
                click.echo(f"{row['leaked']} leaked:")
            part({what: answer for what, answer in row.items() if what != "leaked"})
    for leaked, curve in found.get("k_curve", {}).items():
        click.echo(f"{leaked} leaked, all classes alike:")
        names = ("class_size", "risk", "drop", "left")
        print_table(names, ([f"{row[n]:.6g}" for n in names] for row in curve))


def _say_known(row: dict[str, Any]) -> None:
    for name, answer in row.items():
        what = "risk with what is known" if name == "risk" else f"risk {name} known"
        _pair(f"{what}, mean", answer["mean"])
        _pair("  highest", answer["highest"])


def _say_secrets(row: dict[str, Any]) -> None:
    for column, answer in row.items():
        for name, words in _SECRET.items():
            _pair(f"{column} {words}, mean", answer[name])
        _pair("  highest, believed or identified", answer["highest"])


def _say_partial(row: dict[str, Any]) -> None:
    for i, risk in enumerate(row.get("members", ()), start=1):
        _pair(f"partly seen: member {i}", risk)
    if "mean" in row:
        _pair("partly seen: risk, mean", row["mean"])
    _pair("  highest", row["highest"])


def _say_claims(row: dict[str, Any]) -> None:
    for name, value in row.items():
        _pair(f"claims: {name.replace('_', ' ')}", value)


def _say_target(row: dict[str, Any]) -> None:
    click.echo(f"the risk of a target in a class of {row['class_size']} turns out as")
    cells = [(f"{o['risk']:.6g}", f"{o['probability']:.6g}") for o in row["outcomes"]]
    print_table(("risk", "with probability"), cells)


def _pair(words: str, value: float) -> None:
    click.echo(f"{words:<40}{value:>14.6g}")
