"""Several secrets at once: a gate hears of all of them, and records stand side by side."""

import json
from itertools import combinations

import numpy as np
import pytest

import reidbn as rb
from reidbn.report import disclosure_figures as figures

CHANCES = {"age": 0.5, "town": 0.25, "sex": 0.75}


def a_table(seed, n=60):
    """Rows of three columns that may be known, two secrets (some blank), and a weight."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        age, town, sex = (int(rng.integers(c)) for c in (6, 4, 2))
        diag = "" if rng.random() < 0.1 else f"d{age // 2 if rng.random() < 0.8 else 3}"
        job = "" if rng.random() < 0.3 else f"j{town if rng.random() < 0.8 else 4}"
        rows.append((f"a{age}", f"t{town}", f"s{sex}", diag, job, int(rng.integers(1, 50))))
    return rows


def by_hand(rows, p=0.0):
    """For each row the chance that any secret of its own has PPP <= p.

    Reads rows and knows nothing of classes, masks or codes.
    """
    chance = np.zeros(len(rows))
    for i, me in enumerate(rows):
        for size in range(4):
            for some in combinations(range(3), size):
                given_away = False
                for secret in (3, 4):
                    if me[secret] == "":
                        continue
                    peers = [r for r in rows if r[secret] and all(r[c] == me[c] for c in some)]
                    other = sum(r[secret] != me[secret] for r in peers)
                    given_away |= other / len(peers) <= p
                if given_away:
                    each = (x if c in some else 1 - x for c, x in enumerate(CHANCES.values()))
                    chance[i] += np.prod([*each])
    return chance


def ask(run, tmp_path, rows, *more):
    path = tmp_path / "t.csv"
    lines = [",".join(map(str, row)) for row in rows]
    path.write_text("age,town,sex,diag,job,w\n" + "\n".join(lines) + "\n")
    table = ("disclosure", path, "--qi", "age,town,sex", "--sensitive", "diag,job", "--json", "-q")
    code, out, err = run(*table, *more)
    return code, json.loads(out) if out.lstrip().startswith("{") else {}, err


@pytest.fixture
def run(capsys):
    from reidbn.cli import main

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return call


def told(text):
    return float(text.split(" is given away is ")[1].split()[0])


@pytest.mark.parametrize(("seed", "p"), [(1, 0.0), (2, 0.2)])
def test_a_gate_of_two_secrets_judges_the_chance_that_either_is_given_away(run, tmp_path, seed, p):
    rows = a_table(seed)
    chance = by_hand(rows, p)
    known = ("--p", p, "--known", ",".join(f"{c}={x}" for c, x in CHANCES.items()))
    code, found, _ = ask(run, tmp_path, rows, *known, "--fail-above", chance.max() - 1e-4)
    assert (code, found["fail_above"]["exceeded"]) == (1, True)
    assert told(found["fail_above"]["found"]) == pytest.approx(chance.max(), abs=1e-4)
    assert "a person's diag or job" in found["fail_above"]["found"]
    alone = max(secret["measures"]["breach_probability"]["value"] for secret in found["secrets"])
    assert chance.mean() > alone  # neither secret says it
    assert ask(run, tmp_path, rows, *known, "--fail-above", chance.max() + 1e-4)[0] == 0


def test_a_gate_on_shares_counts_who_loses_either_secret(run, tmp_path):
    each = [("a", "t", "s", "x", "yz"[i % 2], 1) for i in range(10)]  # diag is given away
    each += [("b", "t", "s", "xw"[i % 2], "y", 1) for i in range(10)]  # job is
    code, found, _ = ask(run, tmp_path, each, "--known", "age", "--fail-above-share", 0.6)
    said = "100.0% of the people asked about have no upward privacy of one or more of diag, job"
    assert (code, found["fail_above_share"]["found"]) == (1, said)
    blank = [row if row[0] == "b" else (*row[:4], "", 1) for row in each]
    blank += [("c", "t", "s", "", "yz"[i % 2], 1) for i in range(10)]
    code, found, _ = ask(run, tmp_path, blank, "--known", "age", "--fail-above-share", 0.6)
    assert (code, found["fail_above_share"]["found"][:5]) == (1, "66.7%")  # 20 of 30


def test_secrets_of_which_other_things_may_be_known_have_no_joint_chance(run, tmp_path):
    rows = a_table(3)
    known = ("--knowledge", "age=0.5")  # the older word: all other columns count, each secret's own
    code, _, err = ask(run, tmp_path, rows, *known, "--fail-above", 0.5)
    assert (code, "ask about one secret at a time" in err) == (2, True)
    assert ask(run, tmp_path, rows, *known)[0] == 0


def test_weights_do_not_turn_a_gate_on_shares_green(run, tmp_path):
    rows = [(f"a{i}", "t", "s", "x", "y", 1) for i in range(10)]
    rows += [("a", "t", "s", "xy"[i % 2], "xy"[i % 2], 1000) for i in range(10)]
    asked = ("--known", "age", "--fail-above-share", 0.2)
    for weights in ((), ("--weights", "w")):
        code, found, _ = ask(run, tmp_path, rows, *asked, *weights)
        assert (code, found["fail_above_share"]["found"][:30]) == (
            1,
            "50.0% of the people asked abou",
        )
    heavy = [(*row[:5], 1001 - row[5]) for row in rows]
    code, found, _ = ask(run, tmp_path, heavy, *asked, "--weights", "w")
    assert (code, "% of the weight of the people" in found["fail_above_share"]["found"]) == (
        1,
        True,
    )


@pytest.mark.parametrize("blank", [(0,), (0, 1, 2)])
def test_a_record_is_one_column_of_the_map_whatever_others_lack(blank):
    """As many blanks in every column, of different people; or blanks in one column alone."""
    n, columns = 30, ("age", "sex", "diag")
    cells = {"age": [str(30 + i % 3) for i in range(n)], "sex": ["FM"[i % 2] for i in range(n)],
             "diag": ["xyz"[i * 7 // 3 % 3] for i in range(n)]}  # fmt: skip
    for k in blank:
        cells[columns[k]][5 + k] = ""
    people = rb.read_table(cells, quasi_identifiers=["age", "sex"], sensitive=["diag"])
    found = rb.secrets.disclosure_all(people)
    table = found.ppp_min
    assert table.shape == (n, 3)
    assert np.argwhere(np.isnan(table)).tolist() == [[5 + k, k] for k in blank]
    for k, name in enumerate(columns):
        of = found[name].people["ppp_min"]
        assert table[of.index.to_numpy(), k] == pytest.approx(of.to_numpy(), abs=0)
    image = figures.heat_map(found).axes[0].get_images()[0]
    drawn, left_out = np.asarray(image.get_array()), len(figures.BANDS) + 1
    assert drawn.shape == (3, n)
    assert (drawn == left_out).sum(axis=1).tolist() == [int(k in blank) for k in range(3)]
    assert image.cmap(image.norm(left_out))[:3] != image.cmap(image.norm(5))[:3]
    order = figures.people_order([*table.T], 0.0)
    assert (
        np.argwhere(drawn.T[np.argsort(order)] == left_out).tolist()
        == np.argwhere(np.isnan(table)).tolist()
    )
    figures.example_map(found)
