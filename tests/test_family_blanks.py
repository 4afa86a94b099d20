"""Where only illnesses are written down: what the attack really does on made-up families."""

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.attacks.family import KinPeople, Looking

PAIRS, ILLNESSES, INSIDE = 200, 8, 0.6


def fathers_and_children(seed, *, says_no):
    """Illnesses by age, told of fathers as read_kin takes it: nine in ten, one in 100 false."""
    rng = np.random.default_rng(seed)

    def own():
        ill = rng.random(ILLNESSES) < 0.25
        return [int(rng.integers(20, 80)) if one else None for one in ill]

    def told(age):
        if age is None:
            return int(rng.integers(20, 80)) if rng.random() < 0.01 else None
        return int(np.clip(round(age + rng.normal(0, 2)), 0, 110)) if rng.random() < 0.9 else None

    rows, truth = [], []
    for pair in range(PAIRS):
        father, child = own(), own()
        said = [told(age) for age in father]
        for sex, born, mine, dads in (("f", 1960, child, said), ("m", 1930, father, None)):
            here = sex == "f" or rng.random() < INSIDE
            person = 2 * pair + (sex == "m")
            truth.append((person, len(rows) if here else -1, 2 * pair + 1 if dads else -1, -1))
            row = {"sex": sex, "born": born}
            for i in range(ILLNESSES):
                row[f"self {i} onset"] = mine[i]
                row[f"father {i} onset"] = dads[i] if dads else None
                if says_no:
                    row[f"self {i} has"] = "yes" if mine[i] is not None else "no"
                    if dads:
                        row[f"father {i} has"] = "yes" if dads[i] is not None else "no"
            if here:
                rows.append(row)
    table = pd.DataFrame(rows)
    features = [("sex", "category", "self", "", "sex"), ("born", "year", "self", "", "birth year")]
    for name in table.columns[2:]:
        relation, i, field = name.split()
        kind = "number" if field == "onset" else "yes/no"
        features.append((name, kind, relation, f"illness {i}", field))
    names = ["feature", "kind", "relation", "disease", "field"]
    people = rb.read_sparse(table, features=pd.DataFrame(features, columns=names))
    known = pd.DataFrame(truth, columns=["person", "row", "father", "mother"])
    return rb.read_kin(people, plants=800), known


@pytest.mark.parametrize("says_no", [True, False])
def test_fathers_are_told_to_be_found_as_often_as_they_are(says_no):
    """Blanks were no evidence of health to the virtual children: .155 was told, .32 happened."""
    kin, truth = fathers_and_children(1, says_no=says_no)
    first = truth.row[::2].to_numpy()
    looked = rb.neighbourhood(kin, start=first, in_release=INSIDE)
    claims = looked.against(truth)
    happened = claims[(claims.relation == "father") & claims.right].start.nunique() / PAIRS
    people = KinPeople.of_kin(kin, Looking(plants=800, in_release=INSIDE))
    told = INSIDE * people.columns_of_relatives(None)["match_father"][first].mean()
    spread = np.sqrt(happened * (1 - happened) / PAIRS)
    assert abs(told - happened) < 3 * spread
    assert happened > 0.25
