"""What [Popat25] prints, and what comes out on a made-up table of the same shape.

    nice python -m benchmarks.popat_reproduction      writes docs/reproduction-popat.md (3 CPU min)

Needs the printed tables (REIDBN_DATA or ../shared/data, folder papers).
"""

from pathlib import Path

import numpy as np
import pandas as pd

import reidbn as rb
from benchmarks import DATA

PAGE = Path(__file__).parent.parent / "docs" / "reproduction-popat.md"
PEOPLE = 2_692
SCENARIOS = ("any-facts", "colleague", "insider", "health-app", "vague", "best-informed",
             "access-controlled", "purpose-limited")  # fmt: skip


def rows(frame):
    """A table of the page."""
    head = [str(name) for name in (*frame.index.names, *frame.columns)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for index, row in zip(frame.index, frame.itertuples(index=False), strict=True):
        where = index if isinstance(index, tuple) else (index,)
        lines.append("| " + " | ".join(said(x) for x in (*where, *row)) + " |")
    return "\n".join(lines)


def said(value):
    if value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def table_1(features):
    printed = pd.read_csv(DATA / "papers" / "popat_table1.csv").dropna(subset=["category"])
    own = features.groupby("section").size()
    frame = printed.set_index("feature")[["type", "category", "count"]]
    frame["ours"] = own.reindex(frame.index).fillna(0).astype(int)
    sums = printed.groupby("type")["count"].sum().to_dict()
    return rows(frame), int((frame["count"] != frame["ours"]).sum()), sums


def rules(sparse):
    """The first number of facts above each level, by rule; and what six facts do."""
    found = {}
    for rule in ("best", "guess", "separated", "eccentricity"):
        curve = rb.linkage(sparse, success=rule, draws=10, node_budget=0)
        mean = curve.table()["success"]
        found[rule] = {
            **{f"above {level:.0%}": curve.facts_for(level) or "-" for level in (0.9, 0.8, 0.6)},
            **{f"{k} facts": float(mean.loc[k]) for k in (5, 6, 10, 11)},
        }
    return rows(pd.DataFrame.from_dict(found, orient="index").rename_axis("success"))


def text(sparse):
    """Single figures of the text, held against the curves."""
    asked = [
        ("most informative, equal, 5 facts", "rarest", "equal", 5, "more than 97 %"),
        ("random, equal, 5 facts", "random", "equal", 5, "more than 95 %"),
        ("random, within 20 %, 10 facts", "random", "tolerance", 10, "more than 90 %"),
        ("random, present, 16 facts", "random", "modal", 16, "80 %"),
        ("random, present, 11 facts", "random", "modal", 11, "60 %"),
        ("acquaintance, present, 20 facts", "colleague", "modal", 20, "up to 50 %"),
        ("insider, present, 20 facts", "insider", "modal", 20, "10 to 30 %"),
        ("app, present, 20 facts", "app", "modal", 20, "10 to 30 %"),
    ]
    found = {}
    for name, known, match, k, printed in asked:
        curve = rb.linkage(sparse, known=known, match=match, facts=[k], draws=10, node_budget=0)
        found[name] = {"printed": printed, "ours": f"{curve.success.mean():.1%}"}
    return rows(pd.DataFrame.from_dict(found, orient="index").rename_axis("what"))


def families(kin):
    return rows(kin.experiments().round(3))


def claims(kin):
    """Who is named where nobody's relative is in the table: every claim is false."""
    found = {}
    for rule in ("posterior", "strict"):
        some = rb.neighbourhood(kin, rule=rule, individuals=500, seed=1)
        found[rule] = {
            "records": len(some.starts), "named from one record": some.measures["named"].value,
            "at least one": float((some.people["named"] > 0).mean()),
        }  # fmt: skip
    return rows(pd.DataFrame.from_dict(found, orient="index").rename_axis("rule"))


def scenarios(sparse):
    found = {}
    for name in SCENARIOS:
        r = rb.assess("linkage", sparse, scenario=name, individuals=40, seed=1)
        found[name] = {"headline": float(r.risk().mean()),
                       "a stranger named": float(r.risk("wrong_person").mean())}  # fmt: skip
    return rows(pd.DataFrame.from_dict(found, orient="index").rename_axis("scenario"))


def main():
    ehr = rb.datasets.synthetic_ehr(PEOPLE, seed=0)
    sparse = rb.read_sparse(ehr.table, features=ehr.features)
    kin = rb.read_kin(sparse)
    made = rb.datasets.synthetic_families(300, seed=0)
    truth = rb.read_kin(rb.read_sparse(made.table, features=made.features))
    counts, off, sums = table_1(ehr.features)
    experiments = rb.linkage_experiments(sparse, draws=10)
    names = [c for c in experiments.columns if c.startswith(("above", "printed"))]
    near = 0
    for level in ("90%", "80%", "60%"):
        both = experiments[[f"above {level}", f"printed {level}"]].astype(float).fillna(21)
        near += int((both.diff(axis=1).iloc[:, 1].abs() <= 1).sum())
    page = PAGE_TEXT.format(
        people=f"{PEOPLE:_}", counts=counts, off=off, survey=sums["Survey"],
        observed=sums["Observation"], shape=str(sparse.describe()),
        levels=rows(sparse.describe().table().rename_axis("similarity above")),
        experiments=rows(experiments[[*names, "at 20 facts", "ties"]]),
        near=near, rules=rules(sparse), text=text(sparse),
        without=families(kin), related=families(truth), claims=claims(kin),
        scenarios=scenarios(sparse),
    )  # fmt: skip
    PAGE.write_text(page)
    print(page)


PAGE_TEXT = """# A study of sparse records, rebuilt: [Popat25]

What the paper prints, and what comes out here. Its hospital table is not public: everything is run
on a made-up table of the same shape (`rb.datasets.synthetic_ehr({people}, seed=0)`), so that levels
may differ and orders should not. Made by `python -m benchmarks.popat_reproduction`; the examples in
this page are run by the tests.

## The table (Table 1, Figures 1 to 3)

{counts}

Sections that differ: {off}. Printed are {survey} features of surveys and {observed} of observations,
629 together; the four groups of the text (7, 53, 382, 164) sum to 606, for two sections of 23
features are left out there.

```python
>>> import reidbn as rb
>>> ehr = rb.datasets.synthetic_ehr(150, seed=0)
>>> len(ehr.features), int((ehr.features["section"] == "Family History").sum())
(629, 231)
>>> sparse = rb.read_sparse(ehr.table, features=ehr.features)

```

```
{shape}
```

Printed: most records have fewer than 200 facts, most features fewer than 100 people, and most records
no other that is more than .4 similar. All three hold (by presence alone records are more alike here
than the paper's Figure 3). The definition of a sparse table is printed
with the wrong quantifier (*all* others are similar, which hardly ever happens, so that every table
would be sparse); meant is *some* other:

{levels}

## How many facts single out a record (Tables 2 and 3, Figures 4 to 8)

The first number of facts that singles out more than 90, 80, 60 % of people; `-`: not within twenty.
"Thirty experiments" are announced, fifteen are listed. Of 45 numbers {near} are within one fact of
the printed ones (or, like these, beyond twenty). What an insider and an app know feature by feature
is not printed, so that their rows are guesses here and their levels mean little.

{experiments}

{text}

## When the attacker succeeds

The rule as printed, that no other record fits more than 80 % of the facts, cannot have made Table 3:
more than 80 % of six facts is five of six, as it is five of five, so that the sixth fact *lowers*
success, and so does the eleventh and the sixteenth. None of these can be the first number of facts
above a level; six cells of Table 3 are 6, 11 or 16.

```python
>>> mean = rb.linkage(sparse, success="separated", draws=200, node_budget=0).table()["success"]
>>> [bool(mean[k] < mean[k - 1]) for k in (6, 11, 16)]
[True, True, True]
>>> best = rb.linkage(sparse, draws=200, node_budget=0).table()["success"]
>>> bool(best.is_monotonic_increasing)
True

```

{rules}

## Relatives (Table 4, Figures 9 to 12)

Records without a match by the strict rule. The paper counts records that tell nothing as without a
match; here those that tell of an illness (*attackable*) stand apart. In the made-up table nobody is
anybody's relative:

{without}

The paper's numbers do not say how often relatives are found: it has no relatives to find, and a
match there is a stranger. In 300 made-up families it can be seen ([families](families.md)):

{related}

Claims in the table without relatives, all of them false:

{claims}

The attack goes down and sideways as well (the paper: upwards only), and the lesser result, that a
relative is in the table whoever it is, is the column `present` of `rb.neighbourhood(kin).table()`.

## From a child to the parents (2.3.3), and what protects (3)

Facts of a child, the child's record, the parents' and grandparents': one question.

```python
>>> rb.ask("linkage-family", "reached_father=yes")
P(reached_father=yes) = 0.256098 (about 1 in 3.905)

```

Mean over 40 people of the table drawn at random, one who is looked for being in the table with the
chance .7 (`best-informed`: for sure); a stranger named stands beside, before any attempt is made:

{scenarios}

## Not answered here

Facts that are off and noise on the table are not the same (the paper, 4.4.2, takes them for it): the
first is `match="tolerance"`, wrong facts are `p_wrong`; noise on the table is not modelled. Figures
13 and 14 (pictures of the relation map) are not drawn.
"""


if __name__ == "__main__":
    main()
