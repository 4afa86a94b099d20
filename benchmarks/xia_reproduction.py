"""Tables 3 and 4 and Figure 2 of [Xia21] on the survey table, beside the printed figures.

    python -m benchmarks.xia_reproduction            writes docs/reproduction-xia.md and a figure

Needs the ATUS-CPS table (REIDBN_DATA or ../shared/data) and the printed tables beside it.
"""

import argparse
import itertools
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import reidbn as rb
from reidbn.attack import FactLookup, Known, Knows, Listed, Scenario

ROOT = Path(__file__).resolve().parent.parent
POPULATION = 100_000_000
MODEL = "pitman"  # the study's, by maximum likelihood; not the one that is recommended
SIZES = (1_000, 4_000, 7_000, 20_000, 40_000)
SAMPLES = 10
NEIGHBOURS = ["KY", "AL", "MS", "AR", "NC", "GA", "VA"]
FURTHER = ["SC", "FL", "LA", "MO", "WV", "OH", "IN", "IL"]  # for 40,000 people only
TENNESSEE = 0.8
COLUMNS = ["yob", "sex", "state", "race", "hispanic", "edu", "marital", "work_class",
           "famincome_gt50k", "country_born", "tenure", "orientation"]  # fmt: skip
PARAMETERS = ("p_m", "p_fm", "p_cu", "p_c")
GRID = np.array(list(itertools.product([0.2, 0.5, 0.8], repeat=4)))
PRINTED_SETTINGS = [  # p_m, p_c, p_fm, p_cu as Table 4 prints them
    (0.2, 0.2, 0.2, 0.2), (0.5, 0.5, 0.5, 0.5), (0.8, 0.8, 0.8, 0.8), (0.5, 0.2, 0.8, 0.5),
    (0.2, 0.2, 0.5, 0.8),
]  # fmt: skip


def data_folder():
    place = Path(os.environ.get("REIDBN_DATA", ROOT.parent / "shared" / "data"))
    if not (place / "atus_cps").is_dir():
        sys.exit("the survey table is not here: set REIDBN_DATA to the folder that holds atus_cps")
    return place


def survey(folder, rng):
    """Respondents born before 1978, with sexual orientation simulated by generation."""
    frame = pd.read_parquet(folder / "atus_cps" / "atus_cps_2003_2016.parquet")
    frame = frame[frame["yob"] < 1978].reset_index(drop=True)
    shares = pd.read_csv(folder / "scenarios" / "population_marginals.csv")
    shares = shares[shares["attribute"] == "sexual_orientation"].set_index("group")["share"]
    p = np.select(
        [frame["yob"] < 1946, frame["yob"] < 1965],
        [shares["born before 1946"], shares["born 1946-1964"]],
        shares["born 1965-1979"],
    )
    frame["orientation"] = np.where(rng.random(len(frame)) < p, "other", "straight")
    return frame


def draw(frame, n, rng):
    """A sample without replacement, four in five from Tennessee (its neighbours relabelled)."""
    wanted = round(TENNESSEE * n)
    home = np.flatnonzero(frame["state"] == "TN")
    rng.shuffle(home)
    near = np.flatnonzero(frame["state"].isin(NEIGHBOURS))
    further = np.flatnonzero(frame["state"].isin(FURTHER))
    rng.shuffle(near)
    rng.shuffle(further)
    local = np.concatenate([home, near, further])[:wanted]
    if len(local) < wanted:
        sys.exit(f"only {len(local)} respondents of Tennessee and its neighbours for n={n}")
    others = np.setdiff1d(np.flatnonzero(frame["state"] != "TN"), local)
    rows = np.concatenate([local, rng.choice(others, n - wanted, replace=False)])
    sample = frame.iloc[rows].copy()
    sample.iloc[: len(local), sample.columns.get_loc("state")] = "TN"
    return rb.read_table(sample, quasi_identifiers=COLUMNS)


def voter(column, *, one_list=True):
    """The shipped scenario: one of its sourced probabilities, one list or attribute by attribute."""
    scenario = rb.load_scenario("voter-registration").renamed(
        {"birth_year": "yob", "ethnicity": "hispanic"}
    )
    knows = scenario.knows
    look = FactLookup("lists", column, ("state",))
    listed = Listed("listed", (look,), shared=one_list, source=knows.parent.source)
    changed = Knows(knows.known, listed)
    return Scenario(scenario.name, knows=changed, facts=scenario.facts, title=column)


def twitter():
    scenario = rb.load_scenario("social-media")
    names = {"ethnicity": "hispanic", "income": "famincome_gt50k"}
    known = tuple(
        Known(k.name, (names.get(k.name, k.name),), k.chance, source=k.source)
        for k in scenario.knows.known
        if k.name != "age_decade"  # the table holds years of birth, which nothing infers
    )
    return Scenario("social-media", knows=Knows(known, scenario.knows.parent))


def unspoken(scenario):
    """Columns of the table that the scenario says nothing about: known of nobody."""
    if scenario == "worst-case":
        return []
    named = {c for k in scenario.knows.known for c in k.columns}
    return [c for c in COLUMNS if c not in named]


def quartiles(values):
    return np.quantile(values, [0.25, 0.5, 0.75])


def reductions(worst, other, measure):
    return quartiles(100 * rb.compare(worst, other).reduction(measure))


def table3(frame, rng, sizes, samples):
    """Marketer's reduction (Q1, median, Q3), prosecutor's and journalist's Q1, per size."""
    scenarios = {"Twitter": twitter(), "Voter, one list, registered 2008": voter("listed_2008"),
                 "Voter, one list, ballots 2016": voter("listed_2016"),
                 "Voter, independent, registered 2008": voter("listed_2008", one_list=False)}  # fmt: skip
    rows = []
    for n in sizes:
        found = {name: [] for name in scenarios}
        for _ in range(samples):
            people = draw(frame, n, rng)
            worst = rb.assess(
                "adversary-routes", people, population=POPULATION, population_model=MODEL
            )
            for name, scenario in scenarios.items():
                other = rb.what_if(worst, scenario=scenario, unknown=unspoken(scenario))
                found[name].append([
                    reductions(worst, other, "journalist")[0],
                    reductions(worst, other, "prosecutor")[0],
                    *reductions(worst, other, "marketer"),
                ])  # fmt: skip
        for name, values in found.items():
            mean, spread = np.mean(values, axis=0), np.std(values, axis=0)
            rows.append((n, name, mean, spread))
            print(n, name, np.round(mean, 2), flush=True)
    return rows


def overall_by_setting(people, scenario):
    """Overall risk of every person at all 81 settings: people x 81."""
    unknown = unspoken(scenario)
    result = rb.assess("adversary-routes", people, scenario=scenario, population=POPULATION,
                       population_model=MODEL, unknown=unknown)  # fmt: skip
    case = result.whatif_case()
    changes = {name: GRID[:, i] for i, name in enumerate(PARAMETERS)}
    return result, case.each(case.answers(changes))


def table4(frame, rng, samples):
    """Overall risk's reduction per setting: exact, and by simulation with 100 trials."""
    exact = {name: [] for name in ("Twitter", "Voter")}
    acted = {name: [] for name in ("Twitter", "Voter")}
    worst_quartiles = []
    scenarios = {"Twitter": twitter(), "Voter": voter("listed_2008")}
    for i in range(samples):
        people = draw(frame, 1_000, rng)
        _, worst = overall_by_setting(people, "worst-case")
        worst_quartiles.append([*quartiles(worst).tolist(), worst.max()])
        tossed_worst = rng.binomial(100, worst) / 100
        for name, scenario in scenarios.items():
            _, risk = overall_by_setting(people, scenario)
            exact[name].append(
                [quartiles(100 * (1 - risk[:, t] / worst[:, t])) for t in range(len(GRID))]
            )
            # Acting the attack out 100 times per person is a binomial count at the exact risk.
            tossed = rng.binomial(100, risk) / 100
            some = tossed_worst > 0
            acted[name].append([
                quartiles(100 * (1 - tossed[s, t] / tossed_worst[s, t]))
                for t in range(len(GRID)) for s in [some[:, t]]
            ])  # fmt: skip
        print("table 4, sample", i + 1, flush=True)
    return exact, acted, np.mean(worst_quartiles, axis=0)


def check_simulation(frame, rng):
    """`method="simulation"` is that binomial count: shown once, on one sample and setting."""
    people = draw(frame, 1_000, rng)
    scenario = voter("listed_2008")
    call = {
        "scenario": scenario,
        "population": POPULATION,
        "population_model": MODEL,
        "unknown": unspoken(scenario),
    }
    exact = rb.assess("adversary-routes", people, **call)
    acted = rb.assess("adversary-routes", people, **call,
                      method="simulation", draws=100, seed=1)  # fmt: skip
    p = exact.risk()
    z = (acted.risk() - p) / np.sqrt(np.maximum(p * (1 - p), 1e-12) / 100)
    return float(z.mean()), float(z.std())


def number(x):
    return f"{x:.2f}"


def printed3(folder):
    table = pd.read_csv(folder / "papers" / "xia_table3.csv")
    columns = ["journalist_q1", "prosecutor_q1", "marketer_q1", "marketer_median", "marketer_q3"]
    out = {}
    for _, row in table.iterrows():
        name = "Twitter" if row.iloc[0] == "Twitter" else "Voter"
        out[1000 * int(row["n_subjects_x1000"]), name] = [
            float(str(row[c]).rstrip("%")) for c in columns
        ]
    return out


def page(rows3, result4, printed, folder, check, samples):
    exact, acted, worst = result4
    lines = ["# Tables 3 and 4 of [Xia21], beside the printed figures", ""]
    lines += [INTRODUCTION.format(samples=samples), "", "## Table 3", "", TABLE3, ""]
    lines.append("| n | scenario | journalist Q1 | prosecutor Q1 | marketer Q1 | median | Q3 |")
    lines.append("|---|---|---|---|---|---|---|")
    largest = {}
    for n, name, mean, spread in rows3:
        ours = " | ".join(f"{m:.2f} ± {s:.2f}" for m, s in zip(mean, spread, strict=True))
        kind = name.split(",")[0]
        if name == kind or "one list, registered" in name:
            print_ = " | ".join(number(x) for x in printed[n, kind])
            lines.append(f"| {n:,} | {kind}, printed | {print_} |")
        lines.append(f"| {n:,} | {name} | {ours} |")
        gap = np.abs(np.array(mean)[2:] - np.array(printed[n, kind])[2:]).max()
        largest[name, n] = gap
    lines += ["", "Largest difference from the printed marketer quartiles, in points:", ""]
    names = list(dict.fromkeys(k for k, _ in largest))
    sizes = list(dict.fromkeys(n for _, n in largest))
    lines.append("| scenario | " + " | ".join(f"n = {n:,}" for n in sizes) + " |")
    lines.append("|---" * (len(sizes) + 1) + "|")
    for name in names:
        lines.append(f"| {name} | " + " | ".join(number(largest[name, n]) for n in sizes) + " |")
    lines += ["", "## Table 4", "", TABLE4.format(z=check[0], sd=check[1]), ""]
    heads = "| p_m | p_c | p_fm | p_cu | | Twitter Q1 | median | Q3 | Voter Q1 | median | Q3 |"
    lines += [heads, "|---" * 11 + "|"]
    printed4 = pd.read_csv(folder / "papers" / "xia_table4.csv")
    for k, setting in enumerate(PRINTED_SETTINGS):
        p_m, p_c, p_fm, p_cu = setting
        t = int(np.flatnonzero((np.array([p_m, p_fm, p_cu, p_c]) == GRID).all(axis=1))[0])
        label = " | ".join(str(x) for x in setting)
        cells = " | ".join(str(x) for x in printed4.iloc[k, 4:])
        lines.append(f"| {label} | printed | {cells} |")
        for what, found in (("exact", exact), ("100 trials", acted)):
            cells = " | ".join(
                number(np.mean([s[t][q] for s in found[name]]))
                for name in ("Twitter", "Voter") for q in range(3)
            )  # fmt: skip
            lines.append(f"| {label} | {what} | {cells} |")
    average = printed4[printed4.iloc[:, 0].astype(str).str.startswith("Average")].iloc[0, 4:]
    lines.append("| average of | all | 81 | | printed | " + " | ".join(map(str, average)) + " |")
    for what, found in (("exact", exact), ("100 trials", acted)):
        means = {
            name: np.mean([list(s[t]) for s in found[name] for t in range(len(GRID))], axis=0)
            for name in found
        }
        cells = " | ".join(number(x) for name in ("Twitter", "Voter") for x in means[name])
        lines.append(f"| average of | all | 81 | | {what} | {cells} |")
    lines += ["", WORST.format(*worst), "", WHY]
    return "\n".join(lines) + "\n"


INTRODUCTION = """The paper's supplement and its patients are not public, so this is a
reconstruction, not a replication.  Table: ATUS-CPS respondents born before 1978, eleven observed
attributes and a simulated twelfth (sexual orientation, by generation).  Population 100,000,000.
{samples} samples per size; figures are their mean ± standard deviation.  Four in five people of a
sample are from Tennessee, because the paper's patients mostly are; that share, and the default of
the social-media scenario, **were chosen after seeing the printed rows for n = 1,000**, so those
rows show only that plausible inputs can give them.  The survey has 2,689 Tennesseans: for larger
samples respondents of neighbouring states are relabelled (for 40,000 people also those of eight
states further off), never drawn twice.

Made by `python -m benchmarks.xia_reproduction` with seed 20260101."""
TABLE3 = """Reduction of each person's risk from the worst case to the scenario, in percent,
quartiles over people.  People with no risk in the worst case have nothing to reduce and are left
out.  The voter scenario comes in both of its sourced probabilities of being listed, as one list
(a person is on it with everything it shows, or not at all), and with each attribute meeting the list
independently, which is how the paper describes its groups."""
TABLE4 = """Reduction of the overall risk at n = 1,000: the five settings that are printed, and the
average over all 81.  The printed figures look as if every risk had been estimated by about 100
trials: 1 - 0.01/risk gives their 97.0, 98.53 and 98.49 where 96.85, 98.47 and 98.46 are printed,
and an exact reduction never reaches 100.  So the table is made twice: exactly, and with every risk
replaced by a share of 100 trials, which is what `method="simulation", draws=100` does (checked on
one sample: standardised differences have mean {z:.2f} and standard deviation {sd:.2f})."""
WORST = """Worst-case overall risk over people and settings: quartiles {0:.3f}, {1:.3f}, {2:.3f},
highest {3:.4f}.  The printed median 0.987 and third quartile 1 cannot be reached: with a class of
one that is surely unique in the population, the largest of the 81 settings gives 0.9856."""
WHY = """## What agrees, what does not, and why

- **Agrees**: with one list, the marketer's quartiles of the voter scenario, and those of the
  social-media scenario; with independent attributes the voter scenario's reduction is larger than
  printed, so the printed figures speak for one event "on the list".  From n = 4,000 on prosecutor and
  journalist fall to nothing for at least three people in four, as printed; at n = 1,000 their first
  quartiles are 88 to 96 and 99 to 100 where 100 is printed.  The marketer's reduction grows with the
  sample.
- **The study's model of the population**, Pitman's by maximum likelihood (`population_model="pitman"`),
  not the one that an assessment takes by default.  What is said of larger subsets is raised to what
  their parts say, and the worst case, where everything is known together, is held to what is said of
  its parts, too.  That makes the journalist's first quartile of the voter scenario at n = 1,000:
  measured on the same samples with the worst case not held to its parts, it is 8.04 ± 245.09,
  27.26 ± 193.87 and 77.76 ± 59.26 (in the order of the table), because the scenario can then say more
  of a person than the worst case; every other figure of the four rows stays as it is.  Table 4's
  exact averages moved by less than 0.4 points.
- **Noisy at n = 1,000**: almost every subset of so small a table has all its people unique or
  nearly so, and the prosecutor's first quartile varies from sample to sample by far more than the
  others (by 8 to 22).
- **Depends on the mix of states**: a sample spread over the nation is far from the printed
  figures, because a class on a few attributes is much smaller in a large mixed state list.
- **Does not agree**: Table 4's first quartile of the voter scenario (38.69 printed on average; 75
  exactly and 70 with 100 trials here), while its median and third quartile lie within 2 points.  A
  quarter of the authors' people keep much more of their risk than ours; without their mix of
  states and lists this cannot be settled.
- **Table 4's 100.0 medians** appear with 100 trials and not exactly: a risk below about 0.005 is
  seen as zero.
- **Not comparable**: the printed worst-case quartiles (see above); journalist 0.66 for most
  people needs the authors' own fit of uniqueness, which depends on the 1,583,020 records.
- The inputs of the supplement (lists by state, accuracies by attribute) are re-sourced here; each
  is in `models/scenarios/` with its source or the word assumption."""


def figure2(frame, rng, path):
    """Worst case against scenario, person by person, at the middle setting."""
    from matplotlib.figure import Figure

    people = draw(frame, 1_000, rng)
    worst = rb.assess("adversary-routes", people, population=POPULATION, population_model=MODEL)
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for place, (name, scenario) in zip(
        axes, (("Voter registration", voter("listed_2008")), ("Twitter", twitter())), strict=True
    ):
        other = rb.what_if(worst, scenario=scenario, unknown=unspoken(scenario))
        for measure, colour in (("prosecutor", "#0072B2"), ("marketer", "#009E73"),
                                ("overall", "#D55E00")):  # fmt: skip
            x = np.sort(other.risk(measure))
            place.step(np.maximum(x, 1e-6), np.arange(1, len(x) + 1) / len(x) * 100,
                       color=colour, label=f"{measure}, scenario")  # fmt: skip
            x = np.sort(worst.risk(measure))
            place.step(np.maximum(x, 1e-6), np.arange(1, len(x) + 1) / len(x) * 100,
                       color=colour, ls=":", label=f"{measure}, worst case")  # fmt: skip
        place.set_xscale("log")
        place.set(xlim=(1e-5, 1), title=name, xlabel="risk")
        place.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("% of people at or below")
    axes[1].legend(fontsize=7, frameon=False, loc="upper left")
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "reidbn", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    options = parser.parse_args()
    rng = np.random.default_rng(20260101)
    folder = data_folder()
    frame = survey(folder, rng)
    rows3 = table3(frame, rng, options.sizes, options.samples)
    result4 = table4(frame, rng, options.samples)
    check = check_simulation(frame, rng)
    text = page(rows3, result4, printed3(folder), folder, check, options.samples)
    (options.out / "reproduction-xia.md").write_text(
        text.replace("## Table 4", "![Risk in the scenarios and in the worst case]"
                     "(reproduction-xia-figure2.svg)\n\n## Table 4", 1))  # fmt: skip
    figure2(frame, rng, options.out / "reproduction-xia-figure2.svg")
    print(text)


if __name__ == "__main__":
    main()
