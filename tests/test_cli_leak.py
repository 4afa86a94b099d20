"""reidbn leak as a user types it: what is printed, written and returned."""

import json
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

import reidbn as rb
from reidbn.cli import main


@pytest.fixture
def run(capsys):
    """(exit code, standard output, standard error) of a command."""

    def command(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["leak", *[str(a) for a in arguments]])
        shown = capsys.readouterr()
        return ended.value.code, shown.out, shown.err

    return command


def test_one_target_among_equal_classes(run):
    code, out, err = run("--records", 10_000, "--class-size", 5, "--leaked", 4_000)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "10,000 records in 2,000 classes, k = 5",
        "leaked                               4,000",
        "risk of a patient                 0.184458",
        "risk in the smallest class        0.184458",
    ]


def test_many_targets_as_json(run):
    code, out, _ = run("--classes", "5:2000", "--leaked", "4000,8000", "--targets", 15, "--json")
    found = json.loads(out)
    assert code == 0
    assert [row["leaked"] for row in found["leaks"]] == [4000, 8000]
    first = found["leaks"][0]
    assert first["all"] == pytest.approx(9.715426e-12, rel=1e-6)
    law = rb.leak.number_identified({5: 2000}, leaked=4000, targets=15)
    assert first["expected"] == pytest.approx(law.mean)
    assert first["at_least_one"] == pytest.approx(law.at_least(1))


def test_the_methods_have_their_names(run):
    asked = ("--classes", "2:3", "--leaked", 4, "--targets", 2, "--json")
    recursion = json.loads(run(*asked, "--method", "recursion")[1])["leaks"][0]
    assert recursion["all"] == pytest.approx(0.224)
    sampled = json.loads(run(*asked, "--method", "simulation", "--runs", 20_000, "--seed", 3)[1])
    row = sampled["leaks"][0]
    assert row["low"] < 16 / 75 < row["high"]
    inside = json.loads(run(*asked, "--from-the-leak")[1])["leaks"][0]
    assert inside["all"] == pytest.approx(16 / 75 * 30 / 12)


def test_designing_backwards_is_said_in_words(run):
    out = run("--records", 10_000, "--class-size", 5, "--leaked", 4_000, "--smallest-k", 0.09,
              "--largest-leak", 0.09)[1]  # fmt: skip
    assert "4,000 leaked: classes of 12 or more keep the risk at or under 0.09" in out
    assert "every leak of up to 1,126 keeps everybody's risk at or under 0.09" in out
    out = run("--classes", "5:40", "--leaked", 50, "--targets", 3, "--question", "any",
              "--largest-leak", 0.2)[1]  # fmt: skip
    assert "keeps the chance that any of 3 targets is identified at or under 0.2" in out


def test_a_table_is_read_and_its_classes_are_counted(run, tmp_path):
    rb.toy_hospital().anonymised.to_csv(tmp_path / "hospital.csv", index=False)
    table = ("--qi", "sex,age,postcode,ethnicity", "--subject-id", "patient")
    code, out, _ = run(tmp_path / "hospital.csv", *table, "--leaked", 3, "--json", "--quiet")
    found = json.loads(out)
    assert (code, found["records"], found["classes"], found["k"]) == (0, 10, 3, 3)
    assert found["leaks"][0]["risk"] == pytest.approx(0.225)


def test_a_risk_above_the_limit_ends_with_1(run):
    asked = ("--classes", "5:2000", "--leaked", 4_000, "--quiet", "--fail-above")
    assert run(*asked, 0.1)[0] == 1
    assert run(*asked, 0.2)[0] == 0


def test_what_cannot_happen_is_called_impossible(run):
    out = run("--classes", "2:3", "--leaked", 1, "--targets", 2)[1]
    assert "impossible" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--leaked", 3), "give one of: a TABLE with --qi, --classes, --records"),
        (("--leaked", 3, "--records", 9), "--records needs --class-size"),
        (("--leaked", 3, "--classes", "5"), '--classes: "5" is not SIZE:COUNT, such as 5:2000'),
        (("--leaked", 3, "--classes", "5:1,5:2"), "--classes: size 5 is named twice"),
        (("--leaked", "x", "--classes", "5:2"), '--leaked: "x" is not a number'),
        (("--leaked", "2.5", "--classes", "5:2"), "is not a whole number"),
        (("--leaked", 3, "table.csv"), "name the columns that an attacker may know with --qi"),
        (("--leaked", 11, "--classes", "5:2"), "leaked is 11; it must be from 0 to"),
    ],
)
def test_a_mistake_ends_with_2_and_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_the_figures_are_written(run, tmp_path):
    code, out, _ = run("--classes", "5:2", "--leaked", 3, "--figures", tmp_path)
    assert code == 0
    assert "wrote figure-4b.svg" in out
    assert (tmp_path / "recursion-bias.svg").stat().st_size > 5_000


@pytest.mark.parametrize(("name", "k"), [("cell-11", 11), ("Ontario-Low", 11), ("cell-3", 3),
                                         ("ontario-medium", 15), ("cell-20", 20)])  # fmt: skip
def test_a_precedent_by_name_asks_for_its_number_alike_and_not_for_its_printed_decimals(
    run, name, k
):
    asked = ("--leaked", 330 * k, "--fail-above", name)
    assert run("--records", 330 * k, "--class-size", k, *asked)[0] == 0
    one_less = ("--classes", f"{k - 1}:1,{k}:{330}")
    assert run(*one_less, "--leaked", 330 * k + k - 1, "--fail-above", name)[0] == 1
    code, out, _ = run("--records", 330 * k, "--class-size", k, "--leaked", 330 * k,
                       "--smallest-k", name, "--largest-leak", name, "--json")  # fmt: skip
    found = json.loads(out)
    assert (code, found["smallest_k"]) == (0, {f"{330 * k}": k})
    assert found["largest_leak"] == 330 * k


@pytest.mark.parametrize(
    "words",
    [["ask", "breakfast", "--fail-above", "cell-11"], ["solve", "breakfast", "alike", "Cell-11"],
     ["sweep", "breakfast", "--over", "alike", "--threshold", "cell-11"],
     ["assess", "synthetic:20", "--qi", "sex", "--fail-above", "cell-11"]],
)  # fmt: skip
def test_a_precedent_where_a_chance_is_asked_for_is_refused_with_what_to_write(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "ell-11 is a precedent on how many are alike (11)" in said
    assert "write 1/11 if" in said
    assert "reidbn assess --threshold cell-11" in said


ALONE = ("--records", 40, "--class-size", 2, "--leaked", 40)


@pytest.mark.parametrize(("gate", "beside"), [
    (("--fail-above", 0.6), ("--targets", 8)),
    (("--fail-above", 0.6), ("--from-the-leak",)),
    (("--fail-above", 0.6), ("--claims", "guess", "--known-in-leak")),
    (("--largest-leak", 0.2), ("--from-the-leak", "--targets", 3)),
    (("--largest-leak", 0.2), ("--alike", 1)),
    (("--smallest-k", 0.2), ("--seen", 0.5, "--histories", "2,2")),
    (("--k-curve", "2,3"), ("--alike", 1)),
])  # fmt: skip
def test_a_gate_beside_numbers_of_another_risk_is_refused(run, gate, beside):
    code, _, err = run(*ALONE, *gate, *beside)
    assert code == 2
    assert f"{gate[0]} is about a patient of the table who is looked for alone" in err
    assert run(*ALONE, *gate)[0] == 0
    assert run(*ALONE, *beside)[0] == 0


def test_a_design_or_a_page_beside_what_else_is_known_is_refused(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,sec\n" + "p,x\np,y\n" * 20)
    table = (path, "--qi", "a", "--leaked", 20)
    known = ("--sensitive", "sec", "--sensitive-known", 1)
    assert run(*table, *known, "--largest-leak", 0.2)[0] == 2
    assert run(*table, "--known", "a=0.5", "--smallest-k", 0.2)[0] == 2
    code, _, err = run(*table, "--targets", 3, "--html", tmp_path / "p.html")
    assert (code, "--html is about a patient" in err) == (2, True)
    assert not (tmp_path / "p.html").exists()


def test_the_sum_of_everybodys_risk_says_that_each_is_looked_for_alone():
    people = rb.read_table({"a": ["p"] * 2 + ["q"] * 3}, quasi_identifiers=["a"])
    alone = rb.leak.assess(people, leaked=5).measures["expected_identified"]
    assert alone.value == pytest.approx(2)
    assert "each looked for alone" in alone.words
    assert rb.leak.expected_identified(people, leaked=5, targets=5) == pytest.approx(
        2.4815, abs=1e-4
    )


@pytest.mark.parametrize("beside", [("--sensitive", "sec", "--homogeneity"), ("--seen", 0.5),
                                    ("--claims", "guess"), ("--from-the-leak",)])  # fmt: skip
def test_a_page_of_one_question_is_not_written_of_another(run, tmp_path, beside):
    path = tmp_path / "t.csv"
    path.write_text("a,sec\n" + "p,x\np,y\n" * 20)
    table = (path, "--qi", "a", "--leaked", 20, "--json-report", tmp_path / "p.json")
    code, _, err = run(*table, *beside)
    asked = [word for word in beside if str(word).startswith("--")][-1]
    assert (code, f"looked for alone, and {asked} asks about another risk" in err) == (2, True)
    assert not (tmp_path / "p.json").exists()


def test_a_gate_on_secrets_judges_what_is_believed_too(run, tmp_path):
    path = tmp_path / "t.csv"
    rows = ["30,hiv"] * 10 + ["40,hiv", "40,flu"] * 5
    path.write_text("age,dx\n" + "\n".join(rows) + "\n")
    asked = (path, "--qi", "age", "--leaked", 9, "--sensitive", "dx", "--homogeneity")
    # By hand: of the ten of 30, who all have hiv, somebody leaks but in one of C(20, 9) leaks.
    believed = 1 - comb(10, 9) / comb(20, 9)
    found = json.loads(run(*asked, "--json")[1])["homogeneity"][0]["dx"]
    assert found["highest"] == pytest.approx(believed, abs=1e-12)
    assert run(*asked, "--fail-above", 0.9)[0] == 1
    assert run(*asked, "--fail-above", 0.99999)[0] == 0
    alike = ("--records", 20, "--class-size", 10, "--leaked", 9, "--alike", 10)
    assert run(*alike, "--fail-above", 0.9)[0] == 1


def test_believed_or_identified_is_that_of_every_leak():
    people = rb.People.from_codes(
        [[0, 0], [0, 0], [0, 1], [1, 0], [1, 1]], ["age", "flu"], sensitive=["flu"]
    )
    age, flu = [0, 0, 0, 1, 1], [0, 0, 1, 0, 1]
    found = rb.leak.homogeneity_risks(people, leaked=3, sensitive="flu")
    union = found.either - found.disclosed + found.believed
    for i in range(5):
        total = Fraction(0)
        for leak in combinations(range(5), 3):
            shown = [j for j in leak if age[j] == age[i]]
            same = bool(shown) and all(flu[j] == flu[i] for j in shown)
            total += 1 if same else Fraction(int(i in shown), max(len(shown), 1))
        assert union[i] == pytest.approx(float(total / comb(5, 3)), abs=1e-14)


AGES, TOWNS, ILL = [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 1], [0, 0, 0, 0, 1, 0]


def union_by_hand(columns, L=2):
    """P(identified, or the secret believed) of everybody, over every leak, in rationals."""
    found = []
    for i in range(6):
        total = Fraction(0)
        for leak in combinations(range(6), L):
            shown = [j for j in leak if all(column[j] == column[i] for column in columns)]
            same = bool(shown) and all(ILL[j] == ILL[i] for j in shown)
            total += 1 if same else Fraction(int(i in shown), max(len(shown), 1))
        found.append(float(total / comb(6, L)))
    return np.array(found)


def test_who_knows_less_may_believe_more_and_a_gate_on_secrets_hears_of_what_is_known(
    run, tmp_path
):
    people = rb.People.from_codes(
        np.column_stack([AGES, TOWNS, ILL]), ["age", "town", "ill"], sensitive=["ill"]
    )
    some = {"age": ("age", 0.25), "town": ("town", 0.5)}
    known, by = rb.leak.homogeneity_risks(people, leaked=2, sensitive="ill", known=some), {}
    for names in ([], ["age"], ["town"], ["age", "town"]):
        columns = [{"age": AGES, "town": TOWNS}[name] for name in names]
        by["".join(names)] = union_by_hand(columns)
        if names:
            of = rb.leak.homogeneity_risks(people, leaked=2, sensitive="ill", known=names)
            found = of.either - of.disclosed + of.believed
            assert found == pytest.approx(by["".join(names)], abs=1e-14)
    mean = 0.375 * by[""] + 0.125 * by["age"] + 0.375 * by["town"] + 0.125 * by["agetown"]
    assert known.either - known.disclosed + known.believed == pytest.approx(mean, abs=1e-14)
    path = tmp_path / "t.csv"
    lines = (f"{a},{t},{i}" for a, t, i in zip(AGES, TOWNS, ILL, strict=True))
    path.write_text("age,town,ill\n" + "\n".join(lines) + "\n")
    asked = (path, "--qi", "age,town", "--leaked", 2, "--sensitive", "ill", "--homogeneity")
    most = max(by[name].max() for name in ("age", "town", "agetown"))
    assert most > by["agetown"].max() + 0.1  # so that all known is not the worst
    said = {
        (): most,
        ("--known", "age"): by["age"].max(),
        ("--unknown", "age"): by["town"].max(),
        ("--known", "age=.25,town=.5"): mean.max(),
    }
    for more, highest in said.items():
        found = json.loads(run(*asked, *more, "--json")[1])["homogeneity"][0]["ill"]
        assert found["highest"] == pytest.approx(highest, abs=1e-12)
        assert run(*asked, *more, "--fail-above", highest - 1e-6)[0] == 1
    with pytest.raises(rb.UsageError, match="the secret that is asked about"):
        rb.leak.homogeneity_risks(people, leaked=2, sensitive="ill", known=["age", "ill"])


@pytest.mark.parametrize(("one", "other"), [
    (("--homogeneity",), ("--seen", 0.5)),
    (("--sensitive-known", 1), ("--seen", 0.5)),
    (("--sensitive-known", 1), ("--homogeneity",)),
    (("--homogeneity",), ("--targets", 3)),
    (("--seen", 0.5), ("--known", "a=0.5")),
    (("--claims", "guess"), ("--unknown", "a")),
])  # fmt: skip
def test_two_risks_of_which_neither_hears_of_the_other_are_not_asked_together(
    run, tmp_path, one, other
):
    path = tmp_path / "t.csv"
    path.write_text("a,sec\n" + "p,x\np,y\n" * 20)
    table = (path, "--qi", "a", "--leaked", 20, "--sensitive", "sec")
    code, _, err = run(*table, *one, *other)
    assert (code, "ask about two risks" in err, one[0] in err, other[0] in err) == (2, *[True] * 3)
    assert run(*table, *one)[0] == 0


def test_the_largest_leak_keeps_everybodys_risk_where_classes_are_mixed(run):
    mixed = ("--classes", "1:1,100:10", "--leaked", 500)
    out = run(*mixed, "--largest-leak", "cell-11")[1]
    assert "every leak of up to 91 keeps everybody's risk at or under 0.0909091" in out
    drawn = run(*mixed, "--largest-leak", 0.09, "--question", "any")[1]
    assert "up to 1,001 keeps the risk of a patient drawn at random at or under 0.09" in drawn
    assert rb.leak.largest_leak({1: 1, 100: 10}, threshold=1 / 11, question="each") == 91
    for more in ("--question", "any"), ("--targets", 3):
        code, _, err = run(*mixed, "--largest-leak", "cell-11", *more)
        assert (code, "of everybody's own risk" in err) == (2, True)
    with pytest.raises(rb.UsageError, match="is about one target"):
        rb.leak.largest_leak({5: 2}, threshold=0.1, targets=2, question="each")


@pytest.mark.parametrize("dropped", [
    ("--unknown", "town"), ("--without", "a"), ("--column", "b=c"), ("--hierarchy", "age=bands:9"),
    ("--level", "age=1"), ("--subject-id", "id"), ("--missing", "drop"), ("--qi", "age"),
    ("--question", "any"),
])  # fmt: skip
def test_an_option_of_what_is_not_there_is_refused_and_not_dropped(run, dropped):
    code, _, err = run(*ALONE, *dropped, "--fail-above", 0.6)
    assert (code, f"{dropped[0]} needs" in err) == (2, True)


@pytest.mark.parametrize(("asked", "remedy"), [
    (("--sensitive-known", 1), "with --known each column's chance"),
    (("--homogeneity", "--fail-above", 0.5), "ask of one column at a time"),
])  # fmt: skip
def test_no_gate_judges_each_of_several_secrets_as_if_it_were_known_alone(
    run, tmp_path, asked, remedy
):
    path = tmp_path / "t.csv"
    rows = [f"F,d{i % 5},j{i // 5}" for i in range(40)]  # diag and job together single out all
    path.write_text("sex,diag,job\n" + "\n".join(rows) + "\n")
    table = (path, "--qi", "sex", "--leaked", 20, "--sensitive")
    code, _, err = run(*table, "diag,job", *asked)
    assert (code, remedy in err) == (2, True)
    assert run(*table, "diag", *asked)[0] in (0, 1)
    together = (path, "--qi", "sex,diag,job", "--leaked", 20, "--known", "sex=1,diag=1,job=1")
    assert run(*together, "--fail-above", 0.49)[0] == 1  # what the remedy asks: one is in half


@pytest.mark.parametrize("more", [("--draws", 10), ("--seed", 4)])
def test_what_belongs_to_a_simulation_is_not_dropped_without_one(run, more):
    asked = ("--classes", "2:5", "--leaked", 4, *more)
    code, _, err = run(*asked)
    assert (code, f"{more[0]} needs --method simulation" in err) == (2, True)
    assert run(*asked, "--method", "simulation")[0] == 0
