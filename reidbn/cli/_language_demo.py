"""reidbn demo --language: the attack language at work on the shipped models, as a short report."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from reidbn.cli._options import print_json
from reidbn.release.writing import write_text

if TYPE_CHECKING:
    pass

WIDTH = 92
CHECKED = ("breakfast", "prosecutor", "journalist", "marketer", "leak-single", "adversary-routes")


def language_demo(folder: Path, rows: int, seed: int, *, as_json: bool, quiet: bool) -> None:
    """Check, ask, vary and cross-check the shipped models; write a report with pictures."""
    start = time.perf_counter()
    data: dict[str, Any] = {}
    text = [_heading("reidbn: what an explicit attack model answers", "=")]
    for title, body in _sections(folder, rows, seed, data):
        text += [_heading(title, "-"), body]
        if not (as_json or quiet):
            click.echo(f"{title} ...", err=True)
    report = folder / "report.txt"
    write_text("\n".join(text) + "\n", report)
    data["files"] = sorted(str(path) for path in folder.iterdir())
    if as_json:
        print_json(data)
        return
    if not quiet:
        click.echo("\n".join(text))
    click.echo(f"report: {report}  ({time.perf_counter() - start:.1f} s)")


def _sections(
    folder: Path, rows: int, seed: int, data: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    yield "1  The models, checked", _models(data)
    yield "2  A question, and what its answer stands on", _questions(folder, data)
    yield "3  What if the leak were larger, or the classes smaller", _sweep(data)
    yield "4  Which number matters most", _tornado(folder, data)
    yield "5  How it most probably came about", _explanation(data)
    yield "6  Cross-check: exact against sampled and against pgmpy", _crosschecks(rows, seed, data)


def _models(data: dict[str, Any]) -> str:
    import reidbn as rb

    attacks = [rb.load(name) for name in rb.models()]
    data["models"] = [attack.name for attack in attacks]
    lines = [
        f"  {a.name:<20} {len(a.all_nodes):>3} nodes {len(a.parameters):>3} parameters "
        f"{len(a.assumptions):>2} assumed   {a.title}"
        for a in attacks
    ]
    return "\n".join([*lines, "", f"{len(attacks)} model files read; no problem found."])


def _questions(folder: Path, data: dict[str, Any]) -> str:
    import reidbn as rb
    from reidbn.report.words import remarks, sentence
    from reidbn.written import ended

    lines, answers = [], []
    for name in ("breakfast", "leak-single", "adversary-routes"):
        attack = rb.load(name)
        answer = rb.ask(attack, "risk")
        rb.draw(attack, folder / f"{name}.svg", marginals=True)
        answers.append(answer.to_dict())
        told = fill(f"{ended(attack.title)} {attack.story}", WIDTH)
        lines += [told, f"  {sentence(answer)}", *(f"  {r}" for r in remarks(answer)),
                  f"  picture: {folder / name}.svg", ""]  # fmt: skip
    data["answers"] = answers
    return "\n".join(lines[:-1])


def _sweep(data: dict[str, Any]) -> str:
    import reidbn as rb
    from reidbn.report.words import one_in

    sizes = [1, 2, 5, 10, 20]
    table = rb.sweep(
        "leak-single", "risk", {"leaked": [1000, 2000, 4000, 8000], "class_size": sizes}
    )
    data["sweep"] = table.to_dict(orient="records")
    shown = table.pivot_table(index="leaked", columns="class_size", values="probability")
    head = "Chance to be identified; rows: patients leaked of 10,000; columns: patients alike"
    lines = [f"  {head}", "", "  leaked " + "".join(f"{size:>10}" for size in sizes)]
    lines += [
        f"  {leaked:>6,} " + "".join(f"{p:>10.4f}" for p in row)
        for leaked, row in zip(shown.index, shown.to_numpy(), strict=True)
    ]
    worst = float(table["probability"].max())
    return "\n".join([*lines, "", f"  The largest of these is {one_in(worst)}."])


def _tornado(folder: Path, data: dict[str, Any]) -> str:
    import reidbn as rb

    bars = rb.tornado("adversary-routes", "risk")
    bars.plot(folder / "tornado.svg")
    data["tornado"] = bars.to_dict()
    found = rb.solve("adversary-routes", "risk", "p_c", 0.09)
    data["solve"] = found.to_dict()
    lines = [str(bars), str(found), f"picture: {folder / 'tornado.svg'}"]
    return "\n".join(f"  {line}" for part in lines for line in part.split("\n"))


def _explanation(data: dict[str, Any]) -> str:
    import reidbn as rb
    from reidbn.report.words import per_cent

    found = rb.most_probable("leak-single", {"identified": "yes"})
    data["most_probable"] = found.to_dict()
    case = ", ".join(f"{node}={state}" for node, state in found.case.items())
    return (
        f"  A thief of leak-single has identified the target. Most probably: {case}\n"
        f"  ({per_cent(found.posterior)} of all that fits)."
    )


def _crosschecks(rows: int, seed: int, data: dict[str, Any]) -> str:
    import reidbn as rb

    checks = [rb.crosscheck(name, draws=rows, seed=seed) for name in CHECKED]
    data["crosschecks"] = [check.to_dict() for check in checks]
    return "\n".join(f"  {line}" for check in checks for line in str(check).split("\n"))


def _heading(title: str, line: str) -> str:
    return f"\n{title}\n{line * len(title)}\n"
