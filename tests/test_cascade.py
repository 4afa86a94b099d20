"""The cascade through a family: its columns, its answers set by set, and what really happens."""

from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from inside import inside

import reidbn as rb
from reidbn.attacks.family import FAMILY, RELATIVES, Looking, chances, planted
from reidbn.inference import exact
from reidbn.theory import disagrees, found_sets

NAMES = list(RELATIVES)


def column_of(one, other):
    """The chance with which a record leads to another relative's; None where it never does."""
    up = {"father": "paternal", "mother": "maternal"}
    if one.startswith("sibling"):
        return f"sideways_{other}"
    for parent, side in up.items():
        if one == parent and other.startswith((f"{side}_", "sibling")):
            return f"across_{other}"
        if other == parent and one.startswith(f"{side}_"):
            return f"across_{other}"
    return None


def grandchildren(names, numbers, state):
    """P(which siblings are led to by grandparents who were found first); of one state of all."""
    first, tells, here, key = state
    elders = sum(first[i] & here[i] for i, name in enumerate(names) if "_grand" in name)
    found = {key: 1}
    for i, name in enumerate(names):
        if name.startswith("sibling") and here[i] and tells[i]:
            p = 1 - (1 - numbers[f"down_{name}"]) ** elders
            both = [(k | hit << i, q * (p if hit else 1 - p)) for k, q in found.items()
                    for hit in (0, 1)]  # fmt: skip
            found = {}
            for k, q in both:
                found[k] = found.get(k, 0) + q
    return found


def by_sets(names, numbers, p_here, p_in, rounds):
    """P(who is found): over whether the family is here, who tells, who can be found from others,
    and every set of people found.

    Whose record tells of the family is a coin of the record that leads on (of the child's on the
    way down), with a chance that goes by whether the first record leads there.  A sibling's leads
    to whoever can be found from siblings' records at all.  A grandparent who was found first leads
    to grandchildren, who lead on no further.
    """
    n, total = len(names), {}
    again = [numbers[f"again_{name}"] for name in names]
    for led, telling, openly in product(range(2**n), repeat=3):
        first, tells, open_ = ([key >> i & 1 for i in range(n)] for key in (led, telling, openly))
        weight = 1
        for name, e, t, o, p in zip(names, first, tells, open_, again, strict=True):
            q = numbers[f"tells_{'found' if e else 'missed'}_{name}"]
            match = numbers[f"match_{name}"]
            weight = (
                weight * (match if e else 1 - match) * (q if t else 1 - q) * (p if o else 1 - p)
            )
        if not weight:
            continue
        onward = [[0] * n for _ in range(n)]
        for u, one in enumerate(names):
            for v, other in enumerate(names):
                column = column_of(one, other) if u != v else None
                down = other in ("father", "mother") and "grand" in one
                down = down or (other.startswith("sibling") and not one.startswith("sibling"))
                if column:
                    openly_so = open_[v] if column.startswith("sideways") else 1
                    onward[u][v] = numbers[column] * tells[v if down else u] * openly_so
        for here in product((0, 1), repeat=n):
            there = p_here * np.prod([p_in if i else 1 - p_in for i in here])
            there += 0 if any(here) else 1 - p_here
            for key, chance in found_sets(first, onward, here, rounds).items():
                more = {key: 1}
                if rounds > 2:  # whom grandparents lead to is found in the end
                    more = grandchildren(names, numbers, (first, tells, here, key))
                for every, p in more.items():
                    total[every] = total.get(every, 0) + weight * there * chance * p
    return total


@pytest.mark.parametrize(
    "keep",
    [
        ["sibling_1", "father", "paternal_grandfather"],
        ["sibling_1", "sibling_2", "mother"],
        ["sibling_2", "mother", "maternal_grandmother"],
        pytest.param(
            ["sibling_1", "father", "mother", "paternal_grandfather"], marks=pytest.mark.slow
        ),
        pytest.param(
            ["sibling_1", "sibling_2", "mother", "maternal_grandmother"], marks=pytest.mark.slow
        ),
    ],
)
def test_the_cascade_is_the_walk_over_sets_of_people(keep):
    """Some relatives can be in the table; the others never are: nothing leads to them."""
    attack = rb.load("family-cascade")
    rng = np.random.default_rng(len(keep[0]))
    numbers = {name: float(p) for name, p in zip(attack.subject, rng.random(199), strict=False)}
    gone = [f"in_{name}" for name in NAMES if name not in keep]
    found = by_sets(keep, numbers, 0.8, 0.7, 3)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    asked = {"subject": numbers, "do": dict.fromkeys(gone, "no")}
    for i, name in enumerate(keep):
        expected = sum(p for key, p in found.items() if key >> i & 1)
        assert float(rb.ask(attack, f"found_{name}=yes", **asked)) == pytest.approx(
            expected, abs=1e-12
        )
    mean = sum(p * key.bit_count() for key, p in found.items())
    assert float(rb.expect(attack, "exposed", **asked)) == pytest.approx(mean, abs=1e-12)
    both = sum(p for key, p in found.items() if key & 3 == 3)
    seen = rb.ask(attack, f"found_{keep[0]}=yes", given={f"found_{keep[1]}": "yes"}, **asked)
    one = sum(p for key, p in found.items() if key >> 1 & 1)
    assert float(seen) == pytest.approx(both / one, abs=1e-12)
    two = by_sets(keep, numbers, 0.8, 0.7, 2)
    expected = sum(p for key, p in two.items() if key & 1)
    assert float(rb.ask(attack, f"found2_{keep[0]}=yes", **asked)) == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.slow
def test_all_eight_relatives_are_the_walk_over_sets_of_people():
    attack = rb.load("family-cascade")
    numbers = dict(attack.example)
    numbers |= {name: 1.0 for name in numbers if name.startswith(("again_", "tells_"))}
    numbers |= {name: 0.0 for name in numbers if name.startswith("down_")}
    first = [numbers[f"match_{name}"] for name in NAMES]
    onward = [[numbers[column_of(u, v)] if u != v and column_of(u, v) else 0 for v in NAMES]
              for u in NAMES]  # fmt: skip
    found = found_sets(first, onward, [0.7] * 8, 3)
    for i, name in enumerate(NAMES):
        expected = 0.8 * sum(p for key, p in found.items() if key >> i & 1)
        got = float(rb.ask(attack, f"found_{name}=yes", subject=numbers))
        assert got == pytest.approx(expected, abs=1e-12)
    mean = 0.8 * sum(p * key.bit_count() for key, p in found.items())
    assert float(rb.expect(attack, "exposed", subject=numbers)) == pytest.approx(mean, abs=1e-12)


def test_the_walk_over_sets_is_every_coin_written_down():
    """Three people in fractions: every set of coins, and who can be reached within the rounds."""
    first = [Fraction(1, 2), Fraction(1, 3), Fraction(0)]
    onward = [[0, Fraction(1, 4), Fraction(1, 5)], [Fraction(2, 3), 0, Fraction(1, 7)],
              [Fraction(1, 2), 0, 0]]  # fmt: skip
    there = [Fraction(3, 4), Fraction(1), Fraction(1, 2)]
    arrows = [(None, v, first[v]) for v in range(3)]
    arrows += [(u, v, onward[u][v]) for u in range(3) for v in range(3) if onward[u][v]]
    for rounds in (1, 2, 3):
        expected = {}
        for within in range(8):
            for many in range(len(arrows) + 1):
                for open_ in combinations(range(len(arrows)), many):
                    weight = Fraction(1)
                    for v in range(3):
                        weight *= there[v] if within >> v & 1 else 1 - there[v]
                    for i, (_, _, p) in enumerate(arrows):
                        weight *= p if i in open_ else 1 - p
                    found = 0
                    for _ in range(rounds):
                        found |= sum(
                            {
                                1 << v
                                for i in open_
                                for u, v, _ in [arrows[i]]
                                if within >> v & 1 and (u is None or found >> u & 1)
                            }
                        )
                    if weight:
                        expected[found] = expected.get(found, 0) + weight
        assert found_sets(first, onward, there, rounds) == expected


# -- filled by a table -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def told():
    families = rb.datasets.synthetic_families(60, seed=7)
    return families, rb.read_kin(rb.read_sparse(families.table, features=families.features))


@pytest.fixture(scope="module")
def made(told):
    families, kin = told
    return families, kin, rb.assess("family-cascade", kin, scenario="families", individuals=25)


@pytest.mark.wide
def test_the_contract_runs_as_written(made):
    _, _, f = made
    with pytest.warns(rb.errors.ReidbnWarning, match="more virtual relatives"):
        mean = rb.expect(f, "exposed")
    assert 0 < float(mean) < 8
    assert len(np.ravel(mean.value)) == f.subject_table.subjects
    found = sum(f.risk(name) for name in NAMES)
    assert float(mean) == pytest.approx(float(found.mean()), abs=1e-9)
    p = rb.ask("family-cascade", "found_mother=yes", given={"found_father": "yes"})
    assert float(p) > float(rb.ask("family-cascade", "found_mother=yes"))
    assert len(f.subjects) == 25
    assert any("virtual relatives" in note for note in f.remarks())


@pytest.mark.wide
def test_chances_of_matches_need_no_truth_and_happen(made):
    """Fathers and mothers who are in the table: predicted by virtual relatives; level 1e-4."""
    families = rb.datasets.synthetic_families(130, seed=11)
    kin = rb.read_kin(
        rb.read_sparse(families.table, features=families.features), false_reports=0.005, jitter=1.0
    )
    first = families.truth.query("role == 'child' and row >= 0")
    rates = planted(kin, rule="posterior", in_release=0.5, plants=100, seed=1,
                    rows=first["row"].to_numpy())  # fmt: skip
    told = chances(kin, rates)
    row_of = families.truth.set_index("person")["row"]
    claims = rb.neighbourhood(kin, start=first["row"].to_numpy()).against(families.truth)
    right = {(s, r) for s, r, ok in claims[["start", "relation", "right"]].to_numpy() if ok}
    there = [(row, role) for role in ("father", "mother")
             for row, person in zip(first["row"], first[role], strict=True)
             if row_of[person] >= 0]  # fmt: skip
    predicted = np.mean([told.of_first[role]["right"][row] for row, role in there])
    hits = sum(one in right for one in there)
    spread = 3.9 * np.sqrt(0.25 / len(there)) + 3.9 * np.sqrt(0.25 / 100 / 2)
    assert len(there) > 200
    assert abs(hits / len(there) - predicted) < spread


@pytest.mark.wide
def test_whose_record_tells_nothing_leads_nowhere_and_says_so(made):
    _, kin, f = made
    rows = f.inputs.individuals
    assert (~kin.telling[rows]).any()
    own = np.array([kin.evidence(kin.cells(i), "father", int(kin.sex[i])) for i in rows])
    assert (f.risk("father")[own == 0] < f.risk("father").max()).all()
    table = f.subject_table
    column = np.asarray(table.columns["match_father"])[table.of_person]
    assert (column[own == 0] == 0).all()


@pytest.mark.wide
def test_what_is_left_out_of_the_table_gives_nobody_away(made):
    _, kin, f = made
    some = rb.what_if(f, drop=[name for name in kin.sparse.names if name.startswith("father")])
    assert some.risk("father").mean() < f.risk("father").mean()
    with pytest.raises(rb.UsageError, match="cannot be looked for in that release"):
        rb.what_if(f, drop=[n for n in kin.sparse.names if not n.startswith("self")])
    q = rb.what_if(f, set={"p_in_release": 0.0})
    assert q.risk().max() == 0
    strict = rb.assess("family-cascade", rb.neighbourhood(kin, start=0, rule="strict"))
    assert any("strict rule" in note for note in strict.remarks())
    assert strict.inputs.people.looking == Looking("strict", 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda k: rb.assess("family-cascade", k.sparse), "rb.read_kin"),
        (lambda k: rb.assess("family-cascade", k, scenario="colleague"), "plays no part"),
        (lambda k: rb.assess("adversary-routes", k), "attack without a group"),
        (lambda k: rb.neighbourhood(k.sparse), "takes a Kin"),
    ],
)
def test_what_cannot_be_assessed_of_families_is_refused(told, call, message):
    with pytest.raises(rb.ReidbnError, match=message):
        call(told[1])


def of_rounds(count, folder):
    """The model file with more rounds: each is the last one's two nodes, written again."""
    text = yaml_of("family-cascade")
    begin, end = text.index("  via2_[step.from]"), text.index("  exposed:")
    down = (("  from_grandparents_", "  found2_[relative]"),
            ("  via3_grandparents_", "  found_[relative]"))  # fmt: skip
    rounds = "".join(text[text.index(a) : text.index(b)] for a, b in down)
    rounds = rounds.replace("via3", f"via{count}")
    for turn in range(2, count + 1):
        before = "ego" if turn == 2 else f"found{turn - 1}"
        found = "found" if turn == count else f"found{turn}"
        rounds += f"""\
  via{turn}_[step.from]_[step.to]:
    parents: ["{before}_[step.from]", "from_[step.from]_[step.to]"]
    cpd: {{kind: and}}
  {found}_[relative]:
    parents: ["{before}_[relative]", "via{turn}_*_[relative]"]
    cpd: {{kind: or}}
"""
    path = folder / f"rounds-{count}.yaml"
    path.write_text(text[:begin] + rounds + text[end:])
    return rb.load(path)


def yaml_of(name):
    return (Path(__file__).parents[1] / "models" / f"{name}.yaml").read_text()


@pytest.mark.wide
def test_eight_rounds_are_refused_before_any_work_whoever_asks(told, tmp_path, monkeypatch):
    """In every verb, and before virtual relatives are planted; the remedy that is named answers."""
    attack = of_rounds(8, tmp_path)

    def fail(*_):
        raise AssertionError("work was done before the refusal")

    asking = [
        lambda: rb.ask(attack, "found_mother=yes"),
        lambda: rb.ask(attack, "found_mother=yes", given={"found_father": "yes"}),
        lambda: rb.expect(attack, "exposed"),
        lambda: rb.sweep(attack, "found_mother=yes", {"p_in_release": [0.1, 0.5]}),
        lambda: rb.tornado(attack, "found_mother=yes"),
        lambda: rb.crosscheck(attack, "found_mother=yes"),
        lambda: rb.assess(attack, told[1], scenario="families"),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(inside(planted), "virtual_record", fail)
        patch.setattr(exact, "contract", fail)
        for call in asking:
            with pytest.raises(rb.TooLarge, match=r"rb\.ask\(\.\.\., engine='sampling'\)"):
                call()
    with pytest.raises(rb.TooLarge, match=r"rb\.ask or rb\.sweep"):
        attack.page(tmp_path / "page.html", "found_mother=yes")
    drawn = rb.expect(attack, "exposed", engine="sampling", draws=20_000, seed=1)
    four = rb.expect(of_rounds(4, tmp_path), "exposed")
    assert float(rb.expect("family-cascade", "exposed")) < float(four)
    assert float(four) == pytest.approx(float(drawn), abs=5 * 2.4 / 20_000**0.5)


@pytest.mark.wide
def test_more_rounds_are_the_walk_over_sets_of_people(tmp_path):
    attack, rounds = of_rounds(4, tmp_path), 4
    keep = ["sibling_1", "father", "mother", "paternal_grandfather"]
    rng = np.random.default_rng(rounds)
    numbers = {name: float(p) for name, p in zip(attack.subject, rng.random(199), strict=False)}
    found = by_sets(keep, numbers, 0.8, 0.7, rounds)
    gone = {f"in_{name}": "no" for name in NAMES if name not in keep}
    for i, name in enumerate(keep):
        expected = sum(p for key, p in found.items() if key >> i & 1)
        got = float(rb.ask(attack, f"found_{name}=yes", subject=numbers, do=gone))
        assert got == pytest.approx(expected, abs=1e-12)


def test_every_column_of_the_cascade_is_filled():
    both = {*rb.load("family-cascade").subject} | {*rb.load("linkage-family").subject}
    assert {*FAMILY} <= both


def test_forward_sampling_agrees_with_what_is_worked_out():
    """False alarm below 1e-6."""
    attack = rb.load("family-cascade")
    drawn = rb.ask(attack, "found_mother=yes", engine="sampling", draws=40_000, seed=2)
    exact = float(rb.ask(attack, "found_mother=yes"))
    assert not disagrees(round(float(drawn) * 40_000), 40_000, exact, level=1e-6)


@pytest.mark.wide
def test_own_brothers_and_sisters_are_no_strangers():
    """Everybody here and told exactly: a sibling's record leads to siblings, nearly always."""
    families = rb.datasets.synthetic_families(
        40, seed=12, here=1.0, in_release=1.0, completeness=1.0, told=1.0, jitter=0.0
    )
    kin = rb.read_kin(rb.read_sparse(families.table, features=families.features), jitter=0.5)
    rates = planted(kin, rule="posterior", in_release=0.5, plants=40, seed=1)
    some = [rates["sibling"], rates["child"]]
    assert max(float((one.stranger * one.plants).sum() / one.plants.sum()) for one in some) < 0.1
    found = rates["sibling"]
    assert float((found.right * found.plants).sum() / found.plants.sum()) > 0.9


@pytest.mark.wide
def test_strangers_are_named_as_siblings_as_often_as_the_truth_says():
    """Predicted from records of nobody's relatives; that a table of families is a draw: 4 sd."""
    families = rb.datasets.synthetic_families(240, 31, here=0.7, in_release=0.9, completeness=0.75,
                                              told=0.9, jitter=2.0)  # fmt: skip
    kin = rb.read_kin(rb.read_sparse(families.table, features=families.features),
                      completeness=0.75, jitter=2.0)  # fmt: skip
    first = families.truth.loc[families.truth["person"] % 9 == 0, "row"].to_numpy()
    rates = planted(kin, rule="posterior", in_release=0.5, plants=400, seed=3, rows=first)
    predicted = chances(kin, rates).of_first["sibling"]["stranger"][first].mean()
    claims = rb.neighbourhood(kin, start=first).against(families.truth)
    wrong = claims[(claims["relation"] == "sibling") & ~claims["right"]]["start"].nunique()
    assert wrong > 0
    assert abs(wrong / len(first) - predicted) < 3.9 * np.sqrt(predicted * (1 / 240 + 1 / 400))


def test_two_generations_tell_of_the_same_great_grandparents():
    families = rb.datasets.synthetic_families(
        30, seed=3, here=1.0, in_release=1.0, completeness=1.0, told=1.0, jitter=0.0
    )
    truth, table = families.truth, families.table
    row = truth.set_index("person")["row"]
    of_her = [c for c in table if c.startswith("mother: ") and "onset" not in c]
    of_his = [f"maternal grand{name}" for name in of_her]
    parents = truth[truth["role"] == "mother"]
    one = table.loc[parents["row"], of_his].to_numpy()
    other = table.loc[row[parents["mother"]], of_her].to_numpy()
    assert (one == other).mean() > 0.97  # but for false reports
