"""The pictures of [Antoniou22] with exact curves, sampled points and their intervals.

Lines are exact; dots are the leak acted out, with 95 % intervals; both from the same call, so that
a picture that looks wrong is wrong.  The paper's D = 10,000 is the default throughout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reidbn.attacks.leak.ask import classes_of, given_target, risk
from reidbn.attacks.leak.targets import Estimate, joint_risk, simulate
from reidbn.attacks.leak.variations import Rule, claims
from reidbn.calls import renamed
from reidbn.report.style import (
    INK,
    LINE,
    SERIES,
    blank,
    end_labels,
    names_on_lines,
    said_below,
    save,
    titled,
)
from reidbn.theory.hypergeometric import touched_pmf

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RECORDS = 10_000


@renamed(runs="draws")
def risk_by_class_size(
    path: str | Path | None = None,
    *,
    records: int = RECORDS,
    leaks: Sequence[int] = (1_000, 2_000, 4_000, 8_000),
    class_sizes: Sequence[int] = range(1, 21),
    draws: int = 4_000,
    seed: int = 0,
) -> Figure:
    """Figure 2: one target's risk against the class size, one curve per leak size."""
    figure, (axes,) = blank(6.4, 4.0)
    sizes, rng = np.asarray(class_sizes), np.random.default_rng(seed)
    ends: list[tuple[str, float, Any]] = []
    for color, leaked in zip(SERIES, leaks, strict=False):
        exact = risk(records=records, leaked=leaked, class_size=sizes)
        axes.plot(sizes, exact, color=color, label=f"{leaked:,} leaked")
        ends.append((f"{leaked:,} leaked", float(exact[-1]), color))
        sampled = [_acted_out(records, leaked, int(k), draws, rng) for k in sizes]
        _points(axes, sizes, sampled, color)
    axes.plot(sizes, 1 / sizes, color=LINE, linewidth=1, linestyle="--", label="1/k: all leaked")
    ends.append(("1/k: all leaked", 1 / float(sizes[-1]), LINE))
    _labels(axes, "class size k", "probability that the target is identified")
    axes.set_xticks(sizes[:: max(1, sizes.size // 10)])
    axes.set_ylim(bottom=0)
    end_labels(axes, ends)
    return save(figure, path)


@renamed(runs="draws")
def risk_of_a_leak(
    path: str | Path | None = None,
    *,
    records: int = RECORDS,
    leaked: int = 4_000,
    class_size: int = 5,
    draws: int = 4_000,
    seed: int = 0,
) -> Figure:
    """Figures 3a and 3b: what the risk turns out to be, over leaks and for one given target.

    Left, the mean risk of all patients in one leak: exact law and acted-out leaks.  Right, the
    given target's risk: 0 when not in the leak, 1 when alone of the class in it.
    """
    figure, (left, right) = blank(8.4, 3.6, 2)
    number = records // class_size
    records = number * class_size
    rng = np.random.default_rng(seed)
    _means_of_leaks(left, class_size, number, leaked, draws, rng)
    found = given_target(records=records, leaked=leaked, class_size=class_size)
    width = 0.035
    right.bar(found.risk, found.probability, width=width, color=SERIES[0], label="exact")
    seen = _risks_seen(records, leaked, class_size, draws, rng)
    hits = [int((abs(seen - value) < 1e-9).sum()) for value in found.risk]
    _points(right, found.risk, [_share(hit, draws) for hit in hits], INK, label="acted out")
    _mean(right, found.mean, f"mean {found.mean:.4f}")
    _labels(right, "risk of the given target", "probability")
    titled(right, "bars: exact; dots: acted out")
    figure.suptitle(f"{leaked:,} of {records:,} leaked, classes of {class_size}", fontsize=10)
    return save(figure, path)


def _means_of_leaks(
    axes: Axes, class_size: int, number: int, leaked: int, runs: int, rng: np.random.Generator
) -> None:
    records = class_size * number
    pmf = touched_pmf(class_size, number, leaked)
    means = np.arange(number + 1) / records
    centre = float(pmf @ means)
    spread = float(np.sqrt(pmf @ (means - centre) ** 2))
    drawn = rng.multivariate_hypergeometric(np.full(number, class_size), leaked, size=runs)
    sampled = (drawn > 0).sum(axis=1) / records
    touched = np.arange(number + 1)
    low = max(int((centre - 4.5 * spread) * records), 0)
    high = min(int((centre + 4.5 * spread) * records) + 2, number)
    step = max(1, (high - low) // 24)
    edges = np.append(touched[low:high:step], touched[low:high:step][-1] + step) - 0.5
    axes.hist(sampled * records, bins=edges.tolist(), density=True, color=SERIES[5],
              alpha=0.6, label=f"{runs:,} leaks acted out")  # fmt: skip
    axes.plot(touched[low:high], pmf[low:high], color=SERIES[0], label="exact")
    _mean(axes, centre * records, f"mean {centre:.4f}")
    ticks = np.linspace(low, high, 5)
    axes.set_xticks(ticks, [f"{tick / records:.4f}" for tick in ticks])
    _labels(axes, "mean risk of all patients in one leak", "probability")
    titled(axes, f"line: exact; bars: {runs:,} leaks acted out")


def _mean(axes: Axes, at: float, said: str) -> None:
    """An upright line with its name beside its top."""
    axes.axvline(at, color=SERIES[1], linewidth=1, label=said)
    axes.annotate(said, (at, 1), xycoords=("data", "axes fraction"), xytext=(3, -2), va="top",
                  textcoords="offset points", fontsize=8, color=SERIES[1])  # fmt: skip


@renamed(runs="draws")
def all_targets_by_leak(
    path: str | Path | None = None,
    *,
    class_size: int = 5,
    records: int = RECORDS,
    targets: Sequence[int] = (5, 10, 15),
    sampled_at: Sequence[int] = (1_000, 2_500, 4_000, 5_500, 7_000, 8_500, 10_000),
    draws: int = 4_000,
    seed: int = 0,
) -> Figure:
    """Figures 4a (class_size=1) and 4b (class_size=5): all of n targets, against the leak size.

    The dots act out leaks with the targets drawn from the leak, as the paper does, times the chance
    that n targets drawn from all patients are in it.
    """
    figure, (axes,) = blank(6.4, 4.2)
    classes = {class_size: records // class_size}
    leaks, lines = np.append(np.arange(1_000, records, 100), records), []
    for color, n in zip(SERIES, targets, strict=False):
        exact = np.asarray(joint_risk(classes, leaked=leaks, targets=n))
        axes.semilogy(leaks, exact, color=color, label=f"{n} targets")
        lines.append((f"{n} targets", leaks, exact, color))
        found = []
        for leaked in sampled_at:
            inside = simulate(
                classes, leaked=leaked, targets=n, reading="from the leak", draws=draws, seed=seed
            ).all_identified
            found.append(_times(inside, _all_in_leak(leaked, records, n)))
        _points(axes, np.asarray(sampled_at), found, color)
    _labels(axes, "records leaked", "probability that all targets are identified")
    titled(axes, f"classes of {class_size}")
    names_on_lines(axes, lines)
    return save(figure, path)


@renamed(runs="draws")
def equal_and_mixed_classes(
    path: str | Path | None = None,
    *,
    tables: Mapping[str, Mapping[int, int]] | None = None,
    targets: int = 5,
    draws: int = 20_000,
    seed: int = 0,
) -> Figure:
    """Figure 5: equal classes against mixed ones with as many classes, all of n targets.

    For this risk the equal table was the upper bound wherever it was compared; for "at least one"
    and for the patient who is worst off it is not.
    """
    figure, (axes,) = blank(6.4, 4.2)
    given = tables or {
        "equal: 5": {5: 2000},
        "mild: 3 and 7": {3: 1000, 7: 1000},
        "strong: 1 and 9": {1: 1000, 9: 1000},
        "few large: 2 and 32": {2: 1800, 32: 200},
    }
    ends: list[tuple[str, float, Any]] = []
    for color, (name, classes) in zip(SERIES, given.items(), strict=False):
        what = classes_of(classes)
        leaks = np.linspace(targets, what.records, 60).astype(int)
        exact = np.asarray(joint_risk(what, leaked=leaks, targets=targets))
        axes.semilogy(leaks, exact, color=color, label=name)
        ends.append((name, float(exact[-1]), color))
        at = np.linspace(0.1, 1.0, 7) * what.records
        found = [
            _times(
                simulate(what, leaked=int(leaked), targets=targets, reading="from the leak",
                         draws=draws, seed=seed).all_identified,
                _all_in_leak(int(leaked), what.records, targets),
            )
            for leaked in at
        ]  # fmt: skip
        _points(axes, at, found, color)
    _labels(axes, "records leaked", f"probability that all {targets} targets are identified")
    axes.set_ylim(bottom=1e-9)
    end_labels(axes, ends)
    return save(figure, path)


def recursion_bias(
    path: str | Path | None = None,
    *,
    tables: Mapping[str, tuple[Mapping[int, int], int]] | None = None,
) -> Figure:
    """The recursion of section 2.3 against the exact value: too high, and too low.

    `tables` = {name: (classes, targets)}; against the share of the table that leaked.
    """
    figure, (axes,) = blank(6.4, 4.2)
    given = tables or {
        "classes 5 x 2,000, n = 15": ({5: 2000}, 15),
        "classes 5 x 40, n = 4": ({5: 40}, 4),
        "classes 2, 2, 2, n = 2": ({2: 3}, 2),
        "classes 3, 1, n = 2": ({3: 1, 1: 1}, 2),
        "classes 7, 1, 1, n = 4": ({7: 1, 1: 2}, 4),
        "classes 50 x 2, 1 x 100, n = 4": ({50: 2, 1: 100}, 4),
    }
    ends: list[tuple[str, float, Any]] = []
    for i, (color, (name, (classes, n))) in enumerate(zip(SERIES, given.items(), strict=False)):
        what = classes_of(classes)
        leaks = np.unique(np.linspace(n, what.records, 60).astype(int))
        logs = joint_risk(what, leaked=leaks, targets=n, log=True)
        bias = np.expm1(
            joint_risk(what, leaked=leaks, targets=n, method="recursion", log=True) - logs
        )
        style = "o-" if leaks.size < 12 else "-"
        axes.plot(leaks / what.records, 100 * bias, style, color=color, markersize=4, label=name,
                  zorder=3 + i)  # fmt: skip
        ends.append((name, 100 * float(bias[-1]), color))
    axes.axhline(0, color=INK, linewidth=1)
    _labels(axes, "share of the table that leaked", "recursion against exact, per cent")
    end_labels(axes, ends)
    return save(figure, path)


def claim_curves(
    path: str | Path | None = None,
    *,
    records: int = RECORDS,
    leaked: int = 4_000,
    class_size: int = 5,
    in_table: float = 0.8,
) -> Figure:
    """Right and wrong claims of two rules, against the leak size and against the class size.

    The target may not be in the table; the precision is that of an attacker who knows that the
    target is in the leak (who does not know is right in_table / k of the times, with either rule).
    """
    figure, panels = blank(8.4, 3.8, 2)
    leaks, sizes = np.linspace(records // 50, records, 50).astype(int), np.arange(1, 21)
    both: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        (f"records leaked, classes of {class_size}", leaks, {"leaked": leaks}),
        (f"class size, {leaked:,} leaked", sizes, {"class_size": sizes}),
    )
    rules: tuple[tuple[Rule, str], ...] = (("guess", "-"), ("only one", "--"))
    ends: list[tuple[str, float, Any]] = []
    for axes, (label, at, varied) in zip(panels, both, strict=True):
        asked = {"records": records, "leaked": leaked, "class_size": class_size, **varied}
        for rule, style in rules:
            found = claims(**asked, rule=rule, in_table=in_table)
            sure = claims(**asked, rule=rule, known_in_leak=True)
            precision = np.where(sure.claimed > 0, sure.precision, np.nan)  # a gap without claims
            for i, (name, values) in enumerate(
                (
                    ("right", found.true_positive),
                    ("wrong", found.false_positive),
                    ("precision if known in leak", precision),
                )
            ):
                axes.plot(at, values, style, color=SERIES[i], label=f"{rule}: {name}")
                ends.append((f"{rule}: {name}", float(np.nan_to_num(values)[-1]), SERIES[i]))
        _labels(axes, label, "probability")
        axes.set_ylim(0, 1.02)
    end_labels(panels[1], ends[6:])
    said_below(panels[0], "whole lines: guess, broken lines: only one")
    return save(figure, path)


FIGURES: dict[str, Any] = {
    "figure-2": risk_by_class_size,
    "figure-3a": lambda path: risk_of_a_leak(path, leaked=1_000),
    "figure-3b": lambda path: risk_of_a_leak(path, leaked=4_000),
    "figure-4a": lambda path: all_targets_by_leak(path, class_size=1),
    "figure-4b": lambda path: all_targets_by_leak(path, class_size=5),
    "figure-5": equal_and_mixed_classes,
    "recursion-bias": recursion_bias,
    "claims": claim_curves,
}
"""Every picture by name: a function of the path to write to."""


def draw_all(folder: str | Path, *, kind: str = "svg") -> list[Path]:
    """Write every picture into a folder; the paths of the files."""
    place = Path(folder)
    place.mkdir(exist_ok=True)
    paths = [place / f"{name}.{kind}" for name in FIGURES]
    for path, draw in zip(paths, FIGURES.values(), strict=True):
        draw(path)
    return paths


def _points(
    axes: Axes, at: Any, estimates: Sequence[Estimate], color: str, label: str | None = None
) -> None:
    """Dots with their 95 % intervals."""
    middle = np.array([float(e) for e in estimates])
    low = middle - np.array([e.low for e in estimates])
    high = np.array([e.high for e in estimates]) - middle
    axes.errorbar(at, middle, yerr=np.maximum([low, high], 0), fmt="o", color=color, markersize=3,
                  linewidth=0.9, label=label, zorder=5)  # fmt: skip


def _risks_seen(
    records: int, leaked: int, class_size: int, runs: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw leaks; the risk that each leaves a given target with: 1/h in it, 0 outside."""
    h = rng.hypergeometric(class_size, records - class_size, leaked, runs)
    inside = rng.random(runs) * class_size < h
    return np.where(inside, 1 / np.maximum(h, 1), 0.0)


def _acted_out(
    records: int, leaked: int, class_size: int, runs: int, rng: np.random.Generator
) -> Estimate:
    """How often a given target is identified in that many leaks."""
    seen = _risks_seen(records, leaked, class_size, runs, rng)
    return _share(int((rng.random(runs) < seen).sum()), runs)


def _share(hits: int, runs: int) -> Estimate:
    from reidbn.theory.agreement import interval

    p = hits / runs
    low, high = interval(hits, runs)
    return Estimate(p, float(np.sqrt(p * (1 - p) / runs)), low, high, runs, "unconditional")


def _times(e: Estimate, factor: float) -> Estimate:
    error, low, high = e.standard_error * factor, e.low * factor, e.high * factor
    return Estimate(float(e) * factor, error, low, high, e.draws, "unconditional")


def _all_in_leak(leaked: int, records: int, n: int) -> float:
    i = np.arange(n)
    return float(np.prod((leaked - i) / (records - i)))


def _labels(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
