"""One person's risk explained: the numbers are the assessment's own, and the file stays inside."""

import json
import stat
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.attacks import drivers, explain_from, most_exposed, routes
from reidbn.cli import reidbn
from reidbn.release import sealed
from tests.test_result import made

QI = ["age", "sex", "race", "state"]


def table(n=120, seed=5):
    rng = np.random.default_rng(seed)
    data = {name: rng.integers(0, size, n) for name, size in zip(QI, (30, 2, 4, 6), strict=True)}
    return rb.read_table(
        pd.DataFrame({"who": [f"id{i}" for i in range(n)], **data}),
        quasi_identifiers=QI, subject_id="who",
    )  # fmt: skip


CASES = {
    "worst case": {},
    "asked otherwise": {"known": {"age": 0.9, "sex": 1.0, "race": 0.2, "state": 0.6},
                        "given": {"knows_membership": "yes"}, "do": {"journalist": "no"},
                        "set": {"p_c": 0.9}},
}  # fmt: skip


@pytest.fixture(scope="module", params=CASES)
def result(request):
    people = table()
    return rb.assess("adversary-routes", people, population=len(people), **CASES[request.param])


def by_hand(result, row, *, hidden=(), closed=(), target="reidentified"):
    """One person asked of the enumeration, from the class sizes of the table itself.

    The population is the table, so that who is unique in one is unique in the other.
    """
    group = next(iter(result.attack.groups.values()))
    people = result.table
    sizes = np.array([
        people.class_sizes([c for j, p in enumerate(result.groups.placed) if s >> j & 1
                            for c in p.columns])[row]
        for s in range(1 << len(group.members))
    ], dtype=float)  # fmt: skip
    subject = {"class_size": sizes[None], "p_unique": np.ones_like(sizes)[None]}
    own = {p.member: float(p.p[row if len(p.p) > 1 else 0]) for p in result.groups.placed}
    query = result.questions["overall"]
    never = {p.member: "no" for p in result.groups.placed if p.label in hidden}
    for name, column in result.attack.subject.items():
        if name not in subject:  # each member's chance, from what is known
            subject[name] = np.array([[own[m] for m in group.members]])
            assert column.each
    asked = rb.ask(
        result.attack, f"{target}=yes", subject=subject, set=dict(result.inputs.set),
        given=dict(query.given), engine="enumeration",
        do={**query.do, **never, **dict.fromkeys(closed, "no")},
    )  # fmt: skip
    return float(asked)


def test_every_number_is_the_exact_engine_s_own(result):
    one = any(len(p.columns) > 1 for p in result.groups.placed)
    for row in (41, 119):
        found = result.explain(f"id{row}")
        assert found.risk == result.risk()[row]
        assert found.risks == {m: result.risk(m)[row] for m in result.risks}
        assert found.higher == (result.risk() > result.risk()[row] + 1e-9).sum()
        assert found.alike == result.table.class_sizes()[row]
        assert found.nothing + sum(found.facts.values()) == pytest.approx(found.risk, abs=1e-12)
        for route, p in found.routes.items():
            assert p == pytest.approx(by_hand(result, row, target=route), abs=1e-12)
        for route, p in found.closed.items():
            assert p == pytest.approx(by_hand(result, row, closed=[route]), abs=1e-12)
        if one:  # all are known at once, and the graph has one member for them
            continue
        everything = [p.label for p in result.groups.placed]
        assert found.nothing == pytest.approx(by_hand(result, row, hidden=everything), abs=1e-12)
        for names, p in found.hidden.items():
            assert p == pytest.approx(
                by_hand(result, row, hidden=names.split(" + ")), abs=1e-12
            ), names  # fmt: skip


def test_the_worst_case_is_told_apart_by_leaving_columns_out():
    people = table()
    result = rb.assess("adversary-routes", people, population=len(people))
    found = result.explain("id7")
    for names, p in found.hidden.items():
        kept = [name for name in QI if name not in names.split(" + ")]
        fewer = rb.assess(
            "adversary-routes", people, population=len(people), known=kept,
            unknown=[n for n in QI if n not in kept],
        )  # fmt: skip
        assert p == pytest.approx(fewer.risk()[7], abs=1e-12), names


def test_it_is_what_the_drill_down_says(result):
    told, through = drivers(result), routes(result)
    exposed = most_exposed(result, 1)
    of = result.subject_table.of_person
    for row in (3, 64):
        found = result.explain(f"id{row}")
        facts = dict(zip(told.labels, told.by_subject[of[row]], strict=True))
        assert found.facts == pytest.approx(facts, abs=1e-12)
        assert found.routes == pytest.approx(through.loc[f"id{row}"].to_dict(), abs=1e-12)
    for who, one in exposed.iterrows():
        found = result.explain(who)
        assert max(found.facts.values()) == pytest.approx(found.facts[one["main_group"]], abs=1e-12)
        assert max(found.routes.values()) == pytest.approx(found.routes[one["main_route"]])


def test_the_file_says_the_same_of_everybody_and_is_its_owner_s_alone(result, tmp_path):
    path = result.to_explained(tmp_path / "risks.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for row in (3, 119):
        here, there = result.explain(f"id{row}").to_dict(), explain_from(path, f"id{row}").to_dict()
        for d in (here, there):
            d.pop("in_words")
        assert there.keys() == here.keys()
        for key, value in here.items():
            if isinstance(value, dict) and all(isinstance(v, float) for v in value.values()):
                assert there[key] == pytest.approx(value, abs=1e-12)
            else:
                assert there[key] == value or there[key] == pytest.approx(value, abs=1e-12)


def test_one_paragraph_has_the_numbers_and_no_value_of_the_person():
    result = rb.assess("adversary-routes", table(), population=120, known=dict.fromkeys(QI, 0.5))
    found = result.explain("id41")
    text = str(found)
    assert text.startswith("Person id41: overall risk ")
    assert "\n" not in text
    for p in (found.risk, found.mean, *found.routes.values(), min(found.closed.values())):
        assert f"{p:.4g}" in text
    best = min((p, n) for n, p in found.hidden.items() if "+" not in n)
    assert f"not knowing {best[1]} leaves {best[0]:.4g}" in text
    assert list(found.protections.values()) == sorted(found.protections.values())


def run(*words):
    done = CliRunner().invoke(reidbn, [str(w) for w in words])
    return done, str(done.exception or "")


def test_from_the_shell_and_what_may_leave_the_house_is_refused(tmp_path):
    risks, report, rows, page = (
        tmp_path / n for n in ("risks.json", "report.json", "rows.parquet", "r.html")
    )
    words = ("synthetic:200", "--qi", "age,sex", "--population", "200", "--check-draws", "1000")
    done, _ = run("assess", *words, "--out", risks)
    assert done.exit_code == 0
    result = rb.assess("adversary-routes", table(), population=120)
    result.to_parquet(rows)
    report.write_text(sealed('{"custodians_own_copy": false}', {}))
    page.write_text(sealed("<html></html>", {}))
    assert stat.S_IMODE(risks.stat().st_mode) == 0o600
    done, _ = run("explain", risks, "--person", "17")
    assert done.exit_code == 0
    assert done.output.startswith("Person 17: overall risk")
    told = json.loads(run("explain", risks, "--person", "17", "--json")[0].output)
    assert f"{told['risk']:.4g}" in done.output
    for file, why in ((report, "is a report, which tells of nobody"), (page, "is a report"),
                      (rows, "holds risks without their reasons")):  # fmt: skip
        problem = run("explain", file, "--person", "17")[1]
        assert why in problem
        assert "--out risks.json" in problem
    assert "nobody of the 200 people" in run("explain", risks, "--person", "Ann Example")[1]
    assert "Ann" not in run("explain", risks, "--person", "Ann Example")[1]
    risks.write_text(risks.read_text().replace('"alike"', '"alikf"'))
    assert "was changed since it was written" in run("explain", risks, "--person", "17")[1]


def test_what_cannot_be_explained_is_refused_with_a_remedy():
    people = table()
    with pytest.raises(rb.UsageError, match=r"a Leak has no routes .* rb.assess"):
        made("Leak").explain("p1")
    result = rb.assess("adversary-routes", people, population=9_000, known=dict.fromkeys(QI, 0.5))
    with pytest.raises(rb.UsageError, match=r"explain one of .*overall"):
        result.explain("id1", "journalist_match")
    acted = rb.assess("adversary-routes", people, population=120, method="simulation", draws=3)
    with pytest.raises(rb.UsageError, match='method="exact"'):
        acted.explain("id1")
    cells = rb.contingency(pd.DataFrame({n: people.codes([n])[:, 0] for n in QI}), QI)
    with pytest.raises(rb.UsageError, match="counted as cells"):
        rb.assess("adversary-routes", cells, population=120).explain(1)


def test_the_worst_off_are_explained_without_an_id(result, tmp_path, shell):
    """Their risks are the highest that a plain sort of everybody's finds; in Python and shell."""
    worst = result.explain(worst=4)
    risks = sorted(result.people["overall"].tolist(), reverse=True)
    assert [one.risk for one in worst] == pytest.approx(risks[:4], abs=1e-12)
    assert [one.person for one in worst] == result.most_at_risk(4).index.tolist()
    assert worst[0].in_words() == result.explain(worst[0].person).in_words()
    path = result.to_explained(tmp_path / "risks.json")
    code, said = shell("explain", str(path), "--worst", "4", "--json")
    told = json.loads(said)
    assert (code, [one["person"] for one in told]) == (0, [one.person for one in worst])
    assert [one["risk"] for one in told] == pytest.approx(risks[:4], abs=1e-12)
    assert len(explain_from(path, worst=1_000)) == len(result)
    code, said = shell("explain", str(path), "--worst", "2")
    assert said.count("overall risk") == 2
    for asked in ([], ["--worst", "0"], ["--worst", "2", "--person", "id1"]):
        assert shell("explain", str(path), *asked)[0] == 2
    for wrong in ({}, {"worst": 0}, {"worst": 2, "person": "id1"}, {"worst": 1.5}):
        with pytest.raises(rb.UsageError):
            result.explain(**wrong)


@pytest.mark.parametrize(("scenario", "besides"), [("controlled-release", ["attempt"]), (None, [])])
def test_a_route_above_the_whole_says_what_the_whole_has_besides(scenario, besides, tmp_path):
    """Under a scenario's attempt the risk is less than a route's chance, which has it not."""
    people = rb.read_table(
        rb.datasets.synthetic_patients(400, seed=1), quasi_identifiers=["sex", "age", "state"]
    )
    asked = {} if scenario is None else {"scenario": scenario}
    result = rb.assess("adversary-routes", people, population=20_000, **asked)
    (worst,) = result.explain(worst=1)
    assert (max(worst.routes.values()) > worst.risk) == bool(besides)
    said = "The overall risk has attempt in it, too, and no route has: a route may be above it."
    assert (said in worst.in_words()) == bool(besides)
    page = result.report(tmp_path / "r.html", custodian=True).read_text()
    assert ("It has attempt in it, too, and no route has." in page) == bool(besides)
    (read,) = explain_from(result.to_explained(tmp_path / "r.json"), worst=1)
    assert (read.besides, read.in_words()) == (besides, worst.in_words())
    low = result.explain(int(result.risk().argmin()))
    assert f"a higher one, up to {result.risk().max():.4g}." in low.in_words()
    close = replace(low, highest=low.risk * (1 + 1e-9))
    assert "nobody has a higher one by as many digits as are told" in close.in_words()
