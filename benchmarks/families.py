"""Are relatives found as often as predicted?  Made-up families, some of them in one table.

    nice python -m benchmarks.families        writes benchmarks/results/families.md

Per setting three tables of 240 families.  The first record is the first child's of each family, so
that attempts are independent.  `predicted` is rb.assess("family-cascade"), which sees the table,
how records tell (or, in the second column and of the first table, the defaults of read_kin) and
the setting's two chances, and not who is whose relative; `happened` is rb.neighbourhood in three rounds, held against the
truth.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import reidbn as rb

RESULTS = Path(__file__).parent / "results" / "families.md"
SEEDS = (701, 702, 703)
FAMILIES = 240
KINDS = {
    "siblings": ("sibling_1", "sibling_2"), "parents": ("father", "mother"),
    "grandparents": ("paternal_grandfather", "paternal_grandmother", "maternal_grandfather",
                     "maternal_grandmother"),
}  # fmt: skip
# The family here, a relative in the table, told completely, tell at all, years off.
BEFORE = [(0.8, 0.7, 0.9, 0.8, 1.0), (0.8, 0.6, 0.8, 0.4, 1.0), (1.0, 0.3, 0.95, 0.8, 1.0),
          (0.8, 0.7, 0.6, 0.8, 1.0)]  # fmt: skip
FRESH = [(0.9, 0.5, 0.85, 0.7, 1.0), (0.7, 0.9, 0.75, 0.9, 2.0), (0.5, 0.6, 0.95, 0.5, 0.0),
         (1.0, 0.4, 0.7, 1.0, 3.0)]  # fmt: skip

DEFAULTS = (BEFORE[3], FRESH[2])  # where the defaults of read_kin are told of, too
BEFORE_THAT = """Before that, six sets of seeds found the model wrong, and each was mended on further ones: whom
one record does not find is seldom found from others (101 to 103: relatives found were predicted above
the interval in six settings of eight); true brothers and sisters of a virtual relative are no strangers
(301 to 303).  On 501 to 506 strangers were predicted below the interval in two settings (.091 for .124,
.129 for .161) and grandparents above it in three.  Strangers: whom the virtual sibling's own record
named was taken for a true sibling, right or wrong (.011 of first records led to a stranger as a sibling
by prediction, .036 in truth); records of nobody's relatives, illness by illness, say it now.
Grandparents: in the made-up families two generations told of great-grandparents who were not the same
people, which kept parents' records from leading to grandparents.  Once they are the same, a parent's
record leads there even where a child's tells nothing (.60 in truth, .08 predicted), and whose record
is found is likelier to tell: both are chances of their own now.  Mended on the seeds 601 to 608; the
seeds above were new then, and have been kept since.  By the strict rule brothers and sisters were
predicted too often on six further tables (.130 for .109 ± .018): the first record, which a parent's
or a grandparent's may fit as well, was no further child."""


def first_records(setting, seed, rule):
    """Of one made-up table, a row per first record: what was predicted and what happened."""
    here, in_release, complete, told, jitter = setting
    made = rb.datasets.synthetic_families(
        FAMILIES, seed, here=here, in_release=in_release, completeness=complete, told=told,
        jitter=jitter,
    )  # fmt: skip
    sparse = rb.read_sparse(made.table, features=made.features)
    kin = rb.read_kin(sparse, completeness=complete, false_reports=0.005, jitter=jitter)
    people = made.truth
    first = people.loc[people["person"] % 9 == 0, "row"].to_numpy()
    found = rb.neighbourhood(kin, start=first, depth=3, rule=rule)
    claims = found.against(people)
    role = people[people["row"] >= 0].set_index("row")["role"]
    right = claims[claims["right"]]
    strangers = claims[(claims["round"] == 1) & ~claims["right"]]
    row = pd.DataFrame(index=first)
    row["found"] = right.groupby("start").size()
    for kind in KINDS:
        words = {"siblings": "child", "parents": "ther", "grandparents": "grand"}[kind]
        of = right["who"].map(role)
        inside = of.str.contains(words) & (of.str.contains("grand") == (kind == "grandparents"))
        row[kind] = right[inside].groupby("start").size()
    row["stranger"] = (strangers.groupby("start").size() > 0).astype(float)
    row = row.fillna(0.0)
    asked = {"individuals": first, "set": {"p_family_here": here, "p_in_release": in_release}}
    readings = {"as it is": found}
    if rule == "posterior" and setting in DEFAULTS and seed == SEEDS[0]:
        readings["by default"] = rb.read_kin(sparse)
    for name, given in readings.items():
        f = rb.assess("family-cascade", given, **asked)
        order = pd.Series(range(len(first)), index=np.sort(first)).loc[first].to_numpy()
        if not np.array_equal(f.people.index.to_numpy(), np.sort(first)):
            order = np.arange(len(first))
        for kind, relatives in KINDS.items():
            row[f"{kind}, {name}"] = sum(f.risk(one)[order] for one in relatives)
        row[f"found, {name}"] = sum(row[f"{kind}, {name}"] for kind in KINDS)
        row[f"stranger, {name}"] = f.risk("stranger_named")[order]
    return row


def within(values):
    """The mean and the half of its 95 % interval; of nothing that happened, Poisson's 3.69."""
    if not values.any():
        return 0.0, 3.69 / len(values)
    return values.mean(), 1.96 * values.std(ddof=1) / np.sqrt(len(values))


def cell(rows, what):
    mean, half = within(rows[what])
    told = rows[f"{what}, as it is"].mean()
    mark = "" if abs(told - mean) <= half else " *"
    return f"{told:.3g}{mark}, {mean:.3g} ± {half:.2g}"


def deciles(rows):
    """How many of ten bins of predicted relatives lie within the 95 % interval of what happened."""
    ranked = rows.sort_values("found, as it is", kind="stable")
    inside = 0
    for part in np.array_split(np.arange(len(ranked)), 10):
        some = ranked.iloc[part]
        mean, half = within(some["found"])
        inside += abs(some["found, as it is"].mean() - mean) <= half
    return inside


def main():
    bins = parts = outside = 0
    lines = [f"# {__doc__.splitlines()[0]}", "", *__doc__.strip().splitlines()[2:], ""]
    for title, settings, rule in (
        ("Settings of before, other seeds", BEFORE, "posterior"),
        ("Settings chosen before any was run", FRESH, "posterior"),
        ("By the strict rule", (BEFORE[0], FRESH[0], FRESH[2]), "strict"),
    ):
        lines += [
            f"## {title}", "",
            "Predicted, happened with its 95 % interval; * where the prediction is outside it.",
            "",
            "| here, in the table, told completely, tell, years off | first records | relatives "
            "found | by default | siblings | parents | grandparents | a stranger in round 1 | bins "
            "of ten inside |", "|---|" + "---:|" * 8,
        ]  # fmt: skip
        for setting in settings:
            rows = pd.concat([first_records(setting, seed, rule) for seed in SEEDS])
            each = [cell(rows, what) for what in ("found", *KINDS, "stranger")]
            inside = deciles(rows)
            bins, parts = bins + inside, parts + 10
            outside += sum(" *" in one for one in each)
            other = rows.get("found, by default", pd.Series(dtype=float)).dropna()
            line = [", ".join(f"{x:g}" for x in setting), f"{len(rows)}", each[0],
                    f"{other.mean():.3g}" if other.size else "", *each[1:],
                    str(inside)]  # fmt: skip
            lines.append("| " + " | ".join(line) + " |")
            print(lines[-1], flush=True)
        lines.append("")
    numbers = parts // 2  # five numbers and ten bins per setting
    lines += [f"Of {parts} bins {bins} are inside ({parts * 0.95:g} are expected), and of {numbers} "
              f"numbers {outside} outside ({numbers * 0.05:g} are expected).", ""]  # fmt: skip
    RESULTS.write_text("\n".join([*lines, BEFORE_THAT, ""]))


if __name__ == "__main__":
    main()
