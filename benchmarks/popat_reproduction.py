"""What [Popat25] prints, and what comes out on a made-up table of the same shape.

    nice python -m benchmarks.popat_reproduction      writes docs/reproduction-popat.md (3 CPU min)

Needs the printed tables (REIDBN_DATA or ../shared/data, folder papers).
"""

from pathlib import Path

import numpy as np
import pandas as pd

import reidbn as rb
from benchmarks import DATA
from reidbn.microdata import Bands

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
    for rule, of in (("best", 1), ("threshold", 1), ("lineup", 5), ("lineup", 20), ("guess", 1),
                     ("separated", 1), ("eccentricity", 1)):  # fmt: skip
        curve = rb.linkage(sparse, success=rule, lineup=of, draws=10, node_budget=0)
        mean = curve.table()["success"]
        found[f"{rule} of {of}" if of > 1 else rule] = {
            **{f"above {level:.0%}": curve.facts_for(level) or "-" for level in (0.9, 0.8, 0.6)},
            **{f"{k} facts": float(mean.loc[k]) for k in (5, 6, 10, 11)},
        }
    return rows(pd.DataFrame.from_dict(found, orient="index").rename_axis("success"))


def averaged(sparse, instances=10):
    """One fact at a time, ten times: scores averaged over these, against success averaged."""
    found = {}
    for match in ("equal", "tolerance"):
        curve = rb.linkage(
            sparse, match=match, facts=range(1, instances + 1), draws=200, node_budget=0
        )
        means = []
        for facts, chances in zip(sparse.facts, curve.success, strict=True):
            law = np.eye(instances + 1)[0]  # how many different facts the ten are about
            for _ in range(instances):
                new = np.clip(1 - np.arange(instances + 1) / max(facts, 1), 0, 1)
                law = law * (1 - new) + np.concatenate(([0], (law * new)[:-1]))
            means.append(law[1:] @ chances)
        one = float(curve.success[:, 0].mean())
        found[match] = {"success averaged": one, "scores averaged": float(np.mean(means))}
    return rows(pd.DataFrame.from_dict(found, orient="index").rename_axis("one fact"))


def likenesses(sparse):
    """Unusual contents by delta, bands of years, correlated features together."""
    deltas = {0.5: 558, 0.66: 521}
    kept = {delta: sparse.unusual(delta) for delta in deltas}
    births = [one.name for one in sparse.schema if one.kind == "year"]
    asked = {
        **{f"unusual, delta {delta:.0%}": (kept[delta], {"match": "present"}) for delta in deltas},
        "any value": (sparse, {"match": "present"}),
        "equal": (sparse, {}),
        "equal, years in bands of five": (sparse.coarser(dict.fromkeys(births, Bands(5))), {}),
        "equal, correlated features one fact": (sparse, {"facts_together": True}),
    }
    found = {}
    for name, (table, how) in asked.items():
        curve = rb.linkage(table, draws=10, node_budget=0, **how)
        mean = curve.table()["success"]
        found[name] = {
            "features": sum(1 for _ in table.schema),
            **{f"above {level:.0%}": curve.facts_for(level) or "-" for level in (0.9, 0.8, 0.6)},
            **{f"{k} facts": float(mean.loc[k]) for k in (3, 5, 10)},
        }
    return rows(pd.DataFrame.from_dict(found, orient="index").rename_axis("likeness"))


def guesses(sparse):
    """Three facts, and so many records looked at: how often the person is among them."""
    found = {}
    for known in ("random", "colleague"):
        line = {}
        for many in (1, 2, 5, 10, 20, 50):
            curve = rb.linkage(sparse, known=known, facts=[3], success="lineup", lineup=many,
                               draws=10, node_budget=0)  # fmt: skip
            line[f"{many} guesses" if many > 1 else "1 guess"] = float(curve.success.mean())
        found[known] = line
    return rows(pd.DataFrame.from_dict(found, orient="index").rename_axis("three facts"))


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


NHANES = ("2013_2014", "2017_2018")


def nhanes():
    """Figures 1 to 3 of two real tables, and how many facts single people out there."""
    shape, curves = {}, {}
    for years in NHANES:
        place = DATA / f"nhanes_{years}"
        whole = rb.read_sparse(
            place / f"nhanes_{years}.parquet", features=place / "codebook.csv", allow_direct=True
        )
        some = np.sort(np.random.default_rng(0).permutation(len(whole))[:PEOPLE])
        part, name = whole.take(some), years.replace("_", "-")
        said = part.describe()
        near, present = said.nearest, said.nearest_present
        shape[name] = {
            "people": f"{PEOPLE:,} of {len(whole):,}", "features": len(part.schema),
            "facts, median": float(np.median(part.facts)), "at most": int(part.facts.max()),
            "features of under 100": float((part.records < 100).mean()),
            "nearest record under .4": float((near < 0.4).mean()),
            "nearest by presence, median": float(np.median(present)),
        }  # fmt: skip
        for match in ("equal", "tolerance", "present"):
            curve = rb.linkage(part, match=match, facts=[1, 3, 5, 10, 20], draws=10, node_budget=0,
                               individuals=300)  # fmt: skip
            mean = curve.table()["success"]
            curves[f"{name}, {match}"] = {f"{k} known": float(mean.loc[k]) for k in mean.index}
    return (rows(pd.DataFrame.from_dict(shape, orient="index").rename_axis("NHANES")),
            rows(pd.DataFrame.from_dict(curves, orient="index").rename_axis("table, match")))  # fmt: skip


def error_and_noise(sparse, facts=8, attempts=4_000, off=0.2):
    """Identified by numeric facts: facts that are off, against noise on the table."""
    rng = np.random.default_rng(0)
    numbers = [j for j, one in enumerate(sparse.schema) if one.kind == "number"]
    values = np.full((len(sparse), len(numbers)), np.nan)
    for place, j in enumerate(numbers):
        here = slice(sparse.start[j], sparse.start[j + 1])
        values[sparse.rows[here], place] = sparse.labels[j][sparse.codes[here]].astype(float)
    noisy = values * (1 + rng.uniform(-off, off, values.shape))
    hits = dict.fromkeys(
        ("facts off, within 20 %", "facts off, within 25 %", "noise, within 20 %"), 0
    )
    able = np.flatnonzero((~np.isnan(values)).sum(axis=1) >= facts)
    for person in rng.choice(able, attempts).tolist():
        known = rng.permutation(np.flatnonzero(~np.isnan(values[person])))[:facts]
        true = values[person, known]
        belief = true * (1 + rng.uniform(-off, off, facts))
        for name, table, fact, reach in (
            ("facts off, within 20 %", values, belief, off),
            ("facts off, within 25 %", values, belief, 0.25),
            ("noise, within 20 %", noisy, true, off),
        ):
            fits = np.abs(table[:, known] - fact) <= reach * np.abs(fact) + 1e-12
            scores = fits.sum(axis=1)
            own = scores[person]
            scores[person] = -1
            hits[name] += own > scores.max()
    found = {name: {"identified": hit / attempts, "+-": 1.96 * np.sqrt(hit / attempts * (1 - hit / attempts) / attempts)}
             for name, hit in hits.items()}  # fmt: skip
    return rows(pd.DataFrame.from_dict(found, orient="index").rename_axis(f"{facts} numeric facts"))


TREE = {
    "paternal grandfather": (0, 2), "paternal grandmother": (1, 2), "maternal grandfather": (2, 2),
    "maternal grandmother": (3, 2), "father": (0.5, 1), "mother": (2.5, 1), "self": (1, 0),
    "siblings": (2, 0),
}  # fmt: skip


def tree(path, boxes, arrows, title):
    """A family as boxes with a text, and arrows between them."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "popat"
    drawn, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for one, two, colour in arrows:
        axes.annotate("", TREE[two], TREE[one], arrowprops={"arrowstyle": "->", "color": colour,
                      "shrinkA": 22, "shrinkB": 22, "connectionstyle": "arc3,rad=0.12"})  # fmt: skip
    for name, (text, colour) in boxes.items():
        axes.text(*TREE[name], f"{name}\n{text}", ha="center", va="center", fontsize=8,
                  bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": colour})  # fmt: skip
    axes.set(xlim=(-0.6, 3.6), ylim=(-0.4, 2.4))
    axes.axis("off")
    axes.set_title(title, loc="left", fontsize=10)
    drawn.savefig(path, metadata={"Date": None})
    plt.close(drawn)


def relation_map(features):
    """Figure 13: how many columns of a record tell of whom."""
    told = features.groupby("relation").size()
    boxes = {name: (f"{int(told.get(name, 0))} columns", "0.3") for name in TREE}
    arrows = [("self", name, "0.6") for name in TREE if name != "self"]
    tree(PAGE.with_name("reproduction-popat-figure13.svg"), boxes, arrows,
         "What one record tells of whom")  # fmt: skip


def one_family(made, kin):
    """Figure 14: from whose record each relative of one family is named, right or wrong."""
    of = {"child": "self", "father": "father", "mother": "mother"}
    people = made.truth
    best = (0, None)
    for family in people["family"].unique()[:60]:
        ours = people[people["family"] == family]
        first = ours[(ours["role"] == "child") & (ours["row"] >= 0)]["row"]
        if first.empty:
            continue
        claims = rb.neighbourhood(kin, start=int(first.iloc[0]), depth=3).against(people)
        named = int(claims["right"].sum())
        if named > best[0]:
            best = (named, (ours, int(first.iloc[0]), claims))
    ours, start, claims = best[1]
    place = {}
    for role, row in zip(ours["role"], ours["row"], strict=True):
        name = of.get(role, role.replace("_", " "))
        place[row] = "self" if row == start else "siblings" if name == "self" else name
    named = {
        row: int(n) for row, n in claims[claims["right"]].groupby("who")["round"].min().items()
    }
    boxes, seen = {}, {place[row] for row in ours["row"] if row >= 0}
    for name in TREE:
        rounds = [n for row, n in named.items() if place.get(row) == name]
        text = ("the first record" if name == "self" else f"named in round {min(rounds)}" if rounds
                else "not named" if name in seen else "not in the table")  # fmt: skip
        boxes[name] = text, "0.3" if rounds or name == "self" else "#cc4400"
    arrows = [(place[row["source"]], place[row["who"]], "#0072B2")
              for _, row in claims[claims["right"]].iterrows()
              if place.get(row["source"]) in TREE and place.get(row["who"]) in TREE]  # fmt: skip
    tree(PAGE.with_name("reproduction-popat-figure14.svg"), boxes, arrows,
         "One family: from whose record each is named")  # fmt: skip
    return len(claims), int(claims["right"].sum())


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
    relation_map(ehr.features)
    claimed, right = one_family(made, truth)
    real, singled = nhanes()
    page = PAGE_TEXT.format(
        nhanes=real, real=singled, noise=error_and_noise(sparse), named=claimed, right=right,
        people=f"{PEOPLE:_}", counts=counts, off=off, survey=sums["Survey"],
        observed=sums["Observation"], shape=str(sparse.describe()),
        levels=rows(sparse.describe().table().rename_axis("similarity above")),
        experiments=rows(experiments[[*names, "at 20 facts", "ties"]]),
        near=near, rules=rules(sparse), text=text(sparse), averaged=averaged(sparse),
        likenesses=likenesses(sparse), guesses=guesses(sparse),
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

### Two real tables

Public-use tables of NHANES (for statistics alone; facts are taken from the table itself, 2,692 people
drawn from each): the first is as sparse as the paper's by facts a person, and yet four in five of
its records have another that is more than .4 like them; the second is fuller.

{nhanes}

How many of any facts single people out there (300 people, ten draws). **Presence hardly does:** a cell is
missing where the questionnaire did not ask, so that who has a value is the same for many. Presence tells
people apart where what is recorded depends on the person, as in a hospital's records.

{real}

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

(`threshold` is `best` where all facts are right; a `lineup` of five is the paper's algorithm A with its l
candidates.) "The average of the similarity scores" of ten instances cannot be what is meant, either: somebody
who averages the scores of ten draws of one fact each knows ten facts, and not one:

{averaged}

## What is alike, and how many guesses (4.4, 2.3.2, 3)

Presence as the paper has it: a content counts where it is not the commonest one of its feature, and
features whose commonest content has at most delta of the people are left out (558 of 629 features are kept
at 50 %, 521 at 66 %, it prints). Years in bands take little away where few features are years, and
correlated features as one fact little where few facts are known:

{likenesses}

"A woman who smokes": three facts that a colleague knows name one in four, and twenty guesses reach four
in five. How often the person is among so many records that fit best:

{guesses}

What is read in a record may open other data sets (depth: `more_opened` of the model `linkage`: its
chance is a parameter there) and leads to relatives (breadth, below).

## Facts that are off are not noise (4.4.2)

The paper finds no formal difference between an attacker's facts that are off by up to 20 % and noise of up
to 20 % on the table. Under its own rule, within 20 % of what the attacker believes, there is one: a belief
that is 20 % too low is 25 % below the truth, and the person's own record does not fit it; noise on the table
never takes it out of reach. Eight numeric facts of 4,000 people, half of a 95 % interval beside:

{noise}

Within 25 % every belief that is off by 20 % fits its own record; wider still takes others in, too. They
agree only where neither takes the own record out of reach and both take as many others in. In the house
noise is `sparse.noisy(0.2)`, an allowance for facts that are off `match="tolerance"`.

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

![What one record tells of whom](reproduction-popat-figure13.svg)

*Figure 13, the relation map: columns of the made-up hospital table that tell of each relative.*

![One family](reproduction-popat-figure14.svg)

*Figure 14, one made-up family from one child's record in three rounds: {right} of {named} claims are right.*

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

What an insider and an app know feature by feature, and the hospital's own table, are not public.
"""


if __name__ == "__main__":
    main()
