"""docs/models.md and its pictures, written from the shipped models by `make golden`."""

import re
from itertools import groupby
from pathlib import Path

import reidbn as rb

DOCS = Path(__file__).parents[1] / "docs"
SHELVES = {
    "families": "DNA and family histories, where relatives tell of a person",
    "insiders": "people and recipients who may hold the data, and attempts",
    "leaks": "part of a table in the wrong hands",
    "lessons": "to learn the language on",
    "linkage": "records put beside what is known from elsewhere",
    "routes": "prosecutor, journalist, marketer, filled by your own table",
    "synthetic": "data made from patients",
}
# What a source prints, and what is asked of the model; "entered" where the figure was put in.
PUBLISHED = [
    ("family-search", "Nearly everybody of European descent has a third cousin or closer in a "
     "database of 2 percent of the population (Erlich 2018)", "someone_matches=yes", {},
     "comes out of an assumed number of cousins, 200"),
    ("family-search", "60 percent of searches among 1.28 million people find one (Erlich 2018), "
     "who leads to about 16 people", "named_by_many=yes", {}, "the chance of the right one of the "
     "16, half of the trees leading on; the headline has four cousins and is far lower"),
    ("surname", "12 percent of US Caucasian men get their own surname (Gymrek 2013)",
     "surname=right", {}, "entered"),
    ("surname", "With surname, age and state, a few men are left (Gymrek 2013)", "named=yes",
     {"surname": "right", "age": "yes", "state": "yes"}, "the example has 12"),
    ("hipaa-expert", "Birth date, sex and five-digit ZIP code are alone for over half of US "
     "residents (HHS 2012)", "distinguished=yes", {"usable_birth": "yes", "usable_zip": "yes"},
     "entered, higher than half by assumption, and without sex"),
    ("netflix", "Eight ratings, two of them wrong, single out 99 percent of the records [NS08]",
     "eccentric=yes", {}, "lower: the chances that ratings fit, and the runner-up, are assumed"),
    ("mobility", "Four points single out 95 percent (de Montjoye 2013)", "unique=yes",
     {"fits": "4"}, "entered"),
    ("el-emam-context", "27 percent had a breach (HIMSS, quoted by El Emam 2013)",
     "breach=yes", {}, "entered"),
    ("el-emam-context", "An attempt where controls are weakest and motives strongest: 0.6 "
     "(El Emam 2013, table 2-1)", "attempt=yes", {"controls": "low", "motives": "high"}, "entered"),
    ("sweeney-voter", "The governor was the only one of the city's list (Sweeney 2002)",
     "named=yes", {"on_list": "yes", "zip": "yes", "birth": "yes", "sex": "yes"},
     "entered with the example: one row, one person"),
]  # fmt: skip
HEAD = """\
# Models

Adversaries that come with reidbn, by shelf. `reidbn models` lists them, `reidbn show NAME` prints
one, `reidbn draw NAME` draws it, `rb.ask("NAME", "risk")` asks its question of that name (its page
lists the others). Each has a golden answer, and enumeration and pgmpy find the same. The headline
is what the file answers as it stands, for its example; your own table, numbers and scenario change
it. `rb.assess` says which of them a table can fill: it refuses the others, and says what they lack.

A start for your own: `extends: NAME` and what differs, or `reidbn new`.
"""
PUBLISHED_HEAD = """
## Beside what the sources say

Most models were written from what a source is known to say. Where it says "not checked against the
printed page" under `sources`, nobody has held the two beside each other. *Entered* means that the
figure was put into the model, so that it proves nothing to find it again.

| model | the source says | the model answers | |
|---|---|---|---|
"""
SIZES = """
## Before and after

The fourteen published adversaries were first written without formulas, counts, plates and members
with stories of their own: [what that took, and what it takes
now](../benchmarks/results/library.md).
"""


def question(attack):
    """The main one, else the first."""
    return attack.main_question or next(iter(attack.questions.values()))


def entry(attack) -> str:
    story, assumed = attack.story.split(" Assumed: ")
    first = re.split(r"(?<=[.:]) ", story)[0].rstrip(":.") + "."
    asked = question(attack)
    answer = re.sub(r"\|", r"\\|", str(rb.ask(attack, asked.name)))
    name = f"[`{attack.name}`](../models/{attack.name}.yaml)"
    return (
        f"| {name} | {attack.title}. {first} | {answer} | {assumed[0].upper()}{assumed[1:]} "
        f"| [picture](models/{attack.name}.svg) |\n"
    ).replace("?. ", "? ")


def page() -> str:
    attacks = sorted(map(rb.load, rb.models()), key=lambda a: (a.shelf, a.name))
    text = HEAD
    for shelf, models in groupby(attacks, lambda a: a.shelf):
        text += f"\n## Shelf {shelf}: {SHELVES[shelf]}\n\n"
        text += "| model | story | headline | assumed | |\n|---|---|---|---|---|\n"
        text += "".join(map(entry, models))
    text += PUBLISHED_HEAD
    for name, printed, target, given, remark in PUBLISHED:
        answer = re.sub(r"\|", r"\\|", str(rb.ask(name, target, given=given)))
        text += f"| `{name}` | {printed} | {answer} | {remark} |\n"
    return text + SIZES


def main() -> None:
    (DOCS / "models").mkdir(exist_ok=True)
    for path in (DOCS / "models").glob("*.svg"):
        if path.stem not in rb.models():
            path.unlink()
    (DOCS / "models.md").write_text(page(), encoding="utf-8")
    for name in rb.models():
        rb.draw(name, DOCS / "models" / f"{name}.svg", marginals=True)


if __name__ == "__main__":
    main()
