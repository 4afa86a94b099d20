"""A table as it comes, a plan for it, and everything that a plan can be asked, held against a
second way: a fresh assessment of what is released, and the file that is written, read again.
"""

import json

import numpy as np
import pandas as pd
from cases import Wrong, same

import reidbn as rb

ATTACKS = ("adversary-routes", "prosecutor", "insider-decides", "marketer")
LIMITS = ("highest <= 0.3", "q90 <= 0.2", "mean <= 0.1", "above 0.2 <= 10%")
RULES = {"age": "bands:5,10,20", "day": "month,year"}
TOWNS = [f"t{i}" for i in range(12)]


def frame_of(rng, draw):
    """People with a number, a word, a place that may be missing, a day, a weight and a secret."""
    n = rng.randint(40, 150)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 400, n), "D")
    often = [0.3, 0.2, 0.15, 0.1, 0.05, *[0.2 / 7] * 7]
    frame = pd.DataFrame({
        "id": draw.permutation(n), "age": draw.integers(20, 60, n),
        "sex": draw.choice(["m", "f"], n), "town": draw.choice(TOWNS, n, p=often),
        "day": days.strftime("%Y-%m-%d"), "w": draw.uniform(0.5, 5, n).round(1),
        "ill": draw.choice(["x", "y", "z"], n),
    })  # fmt: skip
    if rng.random() < 0.5:
        frame.loc[draw.random(n) < 0.1, "town"] = None
    if rng.random() < 0.3:
        frame["age"] = frame.age.astype("Int64").mask(draw.random(n) < 0.1)
    return frame


def plans(rng, folder):
    """One plan, asked for as a custodian might, and looked at from every side."""
    draw = np.random.default_rng(rng.getrandbits(32))
    frame, path = frame_of(rng, draw), folder / "people.csv"
    frame.to_csv(path, index=False)
    columns = rng.sample(["age", "sex", "town", "day"], rng.randint(2, 4))
    read = {"missing": rng.choice(["value", "matches-anything", "drop"])}
    read |= {"weights": "w"} if rng.random() < 0.3 else {}
    people = rb.read_table(
        path, quasi_identifiers=columns, **read,
        subject_id="id" if rng.random() < 0.4 else None,
        sensitive=["ill"] if rng.random() < 0.4 else [],
    )  # fmt: skip
    about = {
        "known": {c: rng.choice([0.3, 0.8, 1.0]) for c in columns},
        "population": 20 * len(frame),
    }
    attacks = rng.sample(ATTACKS, rng.randint(1, 2))
    if "weights" in read or "insider-decides" in attacks or rng.random() < 0.5:
        about["population_model"] = "pitman"  # the others take seconds a way there
    empties = rng.choice([0, 0, 0.05]) if read["missing"] == "value" else 0
    plan = rb.recommend(
        people, attacks, target={"overall": rng.choice(LIMITS)},
        hierarchies={c: RULES[c] for c in columns if c in RULES} if rng.random() < 0.7 else "auto",
        suppress_at_most=rng.choice([0, 0.05, 0.2]), empty_at_most=empties,
        loss="entropy" if empties else rng.choice(["entropy", "granularity", "discernibility"]),
        **about,
    )  # fmt: skip
    released = plan.apply()
    for name, result in plan.results.items():
        fresh = rb.assess(result.inputs.attack, released, **about)
        for measure in result.risks:
            same(fresh.risk(measure), result.risk(measure), f"{measure} of a fresh assessment")
        for t in plan.targets:
            if t.under == name and not t.is_met(fresh.risk(t.measure)):
                raise Wrong(f"a fresh assessment does not keep {t}")
    _is_in_its_file(plan, released, path, folder, read)
    _says_all(plan, folder / f"plan{rng.choice(['.html', '.md', '.json'])}")


def _is_in_its_file(plan, released, path, folder, read):
    """The classes of the file are those of the release."""
    dropped, best = plan.best.dropped, plan.best
    for ending in ("csv", "parquet"):
        out = plan.write(folder / f"out.{ending}", path, keep_id=True)
        raw = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
        if len(raw) != len(released):
            raise Wrong(f"{len(raw)} rows are written of {len(released)} people")
        left = [c for c in released.quasi_identifiers if c not in dropped and raw[c].notna().any()]
        if left and read["missing"] != "drop" and not best.emptied:
            back = rb.read_table(out, quasi_identifiers=left, **read)
            mine, told = (sorted(p.class_sizes(left)) for p in (released, back))
            same(told, mine, "the classes of the file")


def _says_all(plan, path):
    """Every view of a plan ends, and says the same number where two say it."""
    json.dumps(plan.to_dict(), default=float)
    for told in (plan.front, plan.binding, plan.left_out, plan.measures, plan.options(2)):
        len(told)
    str(plan.with_everybody)
    plan.report(path, custodian=True)
    plan.report(path)
    if not plan.result.attack.decisions:  # bars of what he decides are scans
        plan.result.report(path, custodian=True, threshold={"overall": 0.2})
    for row in plan.measures.itertuples():
        if not 0 <= row.mean_after <= row.highest_after + 1e-12 <= 1 + 2e-12:
            raise Wrong(f"{row.measure} after: a mean of {row.mean_after}, {row.highest_after}")
