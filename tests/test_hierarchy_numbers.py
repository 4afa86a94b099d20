"""A line of a hierarchy holds the number that it says, however it writes it, and no other."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import reidbn as rb
from reidbn import DataError

DOSES = {"5.0": 5, "5.50": 5.5, "7": 7, "10.25": 10.25}
LOW = {5: "low", 5.5: "low", 7: "high", 10.25: "high"}
WAYS = [
    ["5", "5.5", "7", "10.25"],
    ["5.0", "5.50", "7.0", "10.250"],
    ["+5", "+5.5", "+7.00", "+10.25"],
    ["5,0", "5,50", "7", "10,25"],
]


def table(tmp_path, texts=DOSES):
    path = tmp_path / "t.csv"
    rows = [f"{dose};{sex}" for dose in texts for sex in "ab" for _ in range(3)]
    path.write_text("\n".join(["dose;sex", *rows]) + "\n")
    return path


def hierarchy(tmp_path, lines):
    path = tmp_path / "h.csv"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def lines(texts):
    return [f"{text};{name};*" for text, name in zip(texts, LOW.values(), strict=True)]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("texts", WAYS)
def test_a_number_is_found_however_its_line_writes_it(texts, ending, tmp_path, shell):
    source, ladder = table(tmp_path), hierarchy(tmp_path, lines(texts))
    names = ["dose", "sex"]
    people = rb.read_table(source, quasi_identifiers=names, hierarchies={"dose": ladder})
    assert people.class_sizes().tolist() == [3] * len(people)  # no number is another one's
    coarse = people.generalise({"dose": 1})
    was, now = (p.labels("dose")[p.codes(["dose"])[:, 0]].tolist() for p in (people, coarse))
    assert now == [LOW[dose] for dose in was]
    plan = rb.recommend(people, target="k=5", keep="sex")
    assert plan.best.levels == {"dose": 1, "sex": 0}
    out = plan.write(tmp_path / f"out.{ending}")
    back = rb.read_table(out, quasi_identifiers=names, hierarchies={"dose": ladder})
    assert sorted(back.class_sizes()) == sorted(plan.apply().class_sizes()) == [6] * 24
    page = json.loads(plan.report(tmp_path / "p.json", custodian=True).read_text())
    assert page["levels"] == {"dose": 1, "sex": 0}
    code, said = shell(
        "assess", out, "--qi", "dose,sex", "--known", "dose=1,sex=1",
        "--population", "100", "--hierarchy", f"dose={ladder}",
    )  # fmt: skip
    assert code == 0, said


def test_two_lines_of_one_number_at_different_levels_are_refused_with_both(tmp_path):
    source = table(tmp_path)
    rest = lines(WAYS[0])[1:]
    for two in (["5;low;*", "+5.0;high;*"], ["5.00;low;*", "5.0;high;*"]):
        ladder = hierarchy(tmp_path, [*two, *rest])
        names = [line.partition(";")[0] for line in two]
        with pytest.raises(DataError) as refused:
            rb.read_table(source, quasi_identifiers="dose", hierarchies={"dose": ladder})
        assert f'the lines "{names[0]}" and "{names[1]}" of the hierarchy' in str(refused.value)
        people = rb.read_table(source, quasi_identifiers="dose")
        with pytest.raises(DataError, match=r'column "dose": the lines .* say one number'):
            rb.recommend(people, target="k=5", hierarchies={"dose": ladder})
    ladder = hierarchy(tmp_path, ["5;low;*", "5.0;low;*", *rest])  # the same, written twice
    people = rb.read_table(source, quasi_identifiers="dose", hierarchies={"dose": ladder})
    assert sorted(people.generalise({"dose": 1}).class_sizes()) == [12] * 24


def test_a_group_that_says_the_number_of_another_groups_value_is_refused(tmp_path):
    """Number 5 stood for 5 and 5.5."""
    source = table(tmp_path, ["5.0", "5.5"])
    ladder = hierarchy(tmp_path, ["5.0;5;*", "5.5;5;*"])
    with pytest.raises(DataError, match=r'"5.0" is a value of the hierarchy, and "5", which says'):
        rb.read_table(source, quasi_identifiers="dose", hierarchies={"dose": ladder})
    ladder = hierarchy(tmp_path, ["5.0;5;*", "5.5;5.5 or so;*"])  # a value by another name
    people = rb.read_table(source, quasi_identifiers="dose", hierarchies={"dose": ladder})
    assert people.is_partition
    assert people.generalise({"dose": 1}).labels("dose").tolist() == ["5", "5.5 or so"]


def test_texts_are_found_in_their_own_line_alone(tmp_path):
    """Of codes 250.1 and 250.10 are two; true is no 1, and 1,234 may be a thousand."""
    codes = pd.DataFrame({"code": ["250.1", "250.10", "V10"] * 2})
    tree = {"type 1": ["250.1"], "type 2": ["250.10"], "history": ["V10"]}
    people = rb.read_table(codes, quasi_identifiers="code", hierarchies={"code": tree})
    assert people.generalise({"code": 1}).labels("code").tolist() == ["type 1", "type 2", "history"]
    numbers = rb.Tree({"all": ["1.1", "1"], "more": ["1,234"], "much": ["1e+400"]})
    assert [numbers.up(x, 1) for x in (1, 1.0, 1.1)] == ["all"] * 3
    for value in ("1.10", "1.0", "01", True, 1.234, 1234, float("inf"), 10**400):
        with pytest.raises(DataError, match="in no level"):
            numbers.up(value, 1)


def test_a_line_without_a_digit_before_the_point_is_the_number(tmp_path):
    (tmp_path / "h.csv").write_text("0.50;low;*\n.75;low;*\n1.50;high;*\n1E5;high;*\n")
    ladder = rb.microdata.read_hierarchy(tmp_path / "h.csv")
    assert [ladder.up(x, 1) for x in (0.5, 0.75, 1.5, 100_000)] == ["low", "low", "high", "high"]
