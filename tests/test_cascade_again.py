"""The cascade and the attack on relatives against what reads the file and the table by itself."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from cascade_oracle import ROLES, Story, Table, is_relative

import reidbn as rb
from reidbn.attacks.family import RELATIVES, KinPeople, Looking

NAMES = list(RELATIVES)
FILE = Path(__file__).parents[1] / "models" / "family-cascade.yaml"
STORY = Story(FILE.read_text())
MANY = pytest.mark.wide


def some(count, few):
    """Seeds, of which all but the first few are tried in CI."""
    return [pytest.param(seed, marks=() if seed < few else MANY) for seed in range(count)]


def a_family(rng):
    """Who may be in the table, the others kept out; and how likely they are."""
    keep = sorted(rng.choice(NAMES, int(rng.integers(1, 4)), replace=False).tolist())
    gone = {f"in_{name}": 0 for name in NAMES if name not in keep}
    chances = {p: round(float(rng.uniform(0.05, 1)), 3) for p in ("p_family_here", "p_in_release")}
    return keep, gone, chances


@pytest.mark.parametrize("seed", some(25, 3))
def test_every_world_of_the_file_adds_up_to_what_is_answered(seed):
    """Any event, given up to two others, households and rounds as the file has them."""
    attack, rng = rb.load("family-cascade"), np.random.default_rng((seed, 1))
    assert {*STORY.nodes} == {*attack.nodes}
    keep, gone, chances = a_family(rng)
    columns = {name: float(rng.choice([0, 1, *rng.random(4)])) for name in attack.subject}
    asked = {"subject": columns, "set": chances, "do": dict.fromkeys(gone, "no")}
    yes_no = [n for n in STORY.nodes if n not in ("exposed", "strangers") and n not in gone]
    last = [f"found_{keep[0]}", f"known_in_{keep[-1]}"]
    for target in (*rng.choice(yes_no, 2, replace=False).tolist(), *last):
        given = [n for n in rng.choice(yes_no, 2, replace=False).tolist() if n != target]
        law = STORY.law([target, *given], columns, gone, **chances)
        for states in product((0, 1), repeat=len(given)):
            seen = dict(zip(given, np.where(states, "yes", "no").tolist(), strict=True))
            whole = sum(p for key, p in law.items() if key[1:] == states)
            if whole < 1e-9:
                continue
            expected = law.get((1, *states), 0.0) / whole
            found = float(rb.ask(attack, f"{target}=yes", given=seen, **asked))
            assert found == pytest.approx(expected, abs=1e-11)
    for number in ("exposed", "strangers") if seed % 5 == 0 else ("exposed",):
        law = STORY.law([number], columns, gone, **chances)
        mean = sum(key[0] * p for key, p in law.items())
        assert float(rb.expect(attack, number, **asked)) == pytest.approx(mean, abs=1e-12)


@pytest.mark.wide
@pytest.mark.filterwarnings("ignore:people's numbers are drawn")
@pytest.mark.parametrize("seed", range(6))
def test_each_first_record_has_the_answers_of_its_own_columns(seed):
    """Every question of an assessment, with evidence, and what-ifs after what-ifs in any order."""
    rng = np.random.default_rng((seed, 2))
    made = rb.datasets.synthetic_families(int(rng.integers(4, 12)), seed=seed, told=0.8)
    kin = rb.read_kin(rb.read_sparse(made.table, features=made.features))
    keep, gone, chances = a_family(rng)
    people = KinPeople.of_kin(kin, Looking(("posterior", "strict")[seed % 2], plants=15))
    given = {f"in_{keep[0]}": "yes"} if seed % 3 else {}
    first = rng.choice(len(kin), 3, replace=False)
    r = rb.assess("family-cascade", people, individuals=first, set=chances, given=given,
                  do=dict.fromkeys(gone, "no"))  # fmt: skip
    drop = [n for n in kin.sparse.names if n.startswith(("father", "siblings")[seed % 2])]
    less = rb.what_if(rb.what_if(r, set={"p_in_release": 0.25}), drop=drop)
    for result, p_in in ((r, chances["p_in_release"]), (less, 0.25)):
        each = rb.expect(result, "exposed").value.ravel()
        for place in range(len(first)):
            columns = columns_of(result, place)
            asked = {name: result.questions[name].wanted for name in result.questions
                     if name != "stranger_named" or place == 0}  # fmt: skip
            for name, ((node, _),) in {n: tuple(dict(w).items()) for n, w in asked.items()}.items():
                law = STORY.law([node, *given], columns, gone, **{**chances, "p_in_release": p_in})
                whole = sum(p for key, p in law.items() if all(key[1:]))
                expected = sum(p for key, p in law.items() if all(key)) / whole
                assert result.risk(name)[place] == pytest.approx(expected, abs=1e-11)
            law = STORY.law(["exposed", *given], columns, gone, **{**chances, "p_in_release": p_in})
            whole = sum(p for key, p in law.items() if all(key[1:]))
            mean = sum(key[0] * p for key, p in law.items() if all(key[1:])) / whole
            assert each[place] == pytest.approx(mean, abs=1e-11)
    swapped = rb.what_if(rb.what_if(r, drop=drop), set={"p_in_release": 0.25})
    for name in less.risks:
        np.testing.assert_allclose(less.risk(name), swapped.risk(name), atol=1e-12)


def columns_of(result, place):
    """The subject columns of one person who was asked about."""
    table = result.subject_table
    row = table.of_person[place]
    return {
        name: float(np.broadcast_to(np.asarray(values).ravel(), table.subjects)[row])
        for name, values in table.columns.items()
    }


@pytest.mark.parametrize("seed", some(20, 2))
def test_whom_records_lead_to_is_read_off_the_cells(seed):
    """Both rules, the filters, rounds, whether a relative is there, and who is whose child."""
    rng = np.random.default_rng((seed, 3))
    made = rb.datasets.synthetic_families(
        int(rng.integers(2, 7)), seed=seed, told=float(rng.choice([0.5, 1])),
        here=float(rng.choice([0.5, 1])), in_release=float(rng.choice([0.6, 0.95])),
        completeness=float(rng.choice([0.7, 1])), jitter=float(rng.choice([0, 1, 2])),
    )  # fmt: skip
    illnesses = [d for d in dict.fromkeys(made.features["disease"]) if d]
    kept = {"", *rng.choice(illnesses, int(rng.integers(2, 6)), replace=False).tolist()}
    without = rng.choice(["nobody", "siblings", "father", "paternal grandfather"])
    features = made.features[made.features["disease"].isin(kept)]
    features = features[features["relation"] != without]
    table = made.table[features["feature"].tolist()].astype(object)
    for name in ("self: sex", "self: birth year"):
        table.loc[rng.random(len(table)) < rng.choice([0, 0.3]), name] = None
    channel = float(rng.choice([0.9, 0.7])), float(rng.choice([0.01, 0.1]))
    spread = float(rng.choice([0, 2.0])), int(rng.choice([0, 2, 5]))
    kin = rb.read_kin(
        rb.read_sparse(table, features=features), completeness=channel[0],
        false_reports=channel[1], jitter=spread[0], years=spread[1],
    )  # fmt: skip
    again = Table(table, features, *channel, *spread)
    rule, there = ("strict", 0.5) if seed % 2 else ("posterior", float(rng.choice([0.3, 0.8])))
    start, depth = int(rng.integers(len(table))), int(rng.integers(1, 4))
    found = rb.neighbourhood(kin, start=start, rule=rule, depth=depth, in_release=there)
    named = again.spread(start, rule, depth, there)
    claims = found.claims.set_index("who")
    assert {*claims.index} == {*named}
    for who, (source, role, step, chance) in named.items():
        told = claims.loc[who]
        assert (told["source"], told["relation"], told["round"]) == (source, role, step)
        assert told["posterior"] == pytest.approx(chance, abs=1e-9)
    for role in ROLES:
        mine, its = again.search(start, role, rule, there), found.looked[start][role]
        assert its.evidence == mine["evidence"]
        present = np.nan if mine["present"] is None else mine["present"]
        assert its.present == pytest.approx(present, abs=1e-9, nan_ok=True)
    right = {start: True}
    rows = ("source", "who", "relation", "right")
    against = found.against(made.truth)
    for source, who, relation, told in zip(*(against[n].tolist() for n in rows), strict=True):
        right[who] = right[source] and is_relative(made.truth, source, who, relation)
        assert told == right[who]
