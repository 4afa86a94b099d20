"""A scenario means the same in leak and disclosure as in assess; nothing is dropped unseen."""

import numpy as np

import reidbn as rb


def _people(*columns, rows=200):
    table = rb.datasets.synthetic_patients(rows, seed=8)
    return rb.read_table(table, quasi_identifiers=columns, sensitive=["diagnosis"])


def test_a_leak_under_a_scenario_that_knows_the_decade_of_an_age_is_what_assess_says():
    people = _people("age", "sex", "state")
    leak = rb.leak.risks(people, leaked=7, known=rb.load_scenario("social-media"))
    assessed = rb.assess("leak-partial", people, scenario="social-media", set={"leaked": 7})
    assert np.allclose(leak, assessed.risk(), atol=1e-12)


def test_disclosure_tells_in_the_shell_who_is_left_out(shell, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sex,illness\n" + "f,flu\nm,\nf,gout\n" * 5, encoding="utf-8")
    code, said = shell("disclosure", str(path), "--qi", "sex", "--sensitive", "illness")
    assert code == 0
    assert said.count("5 people whose illness") == 1


def test_sobol_writes_its_remedy_as_the_shell_takes_it(shell):
    code, said = shell("sobol", "leak-single", "risk", "--over", "leaked=0:10000", "--over",
                  "records=100:2000")  # fmt: skip
    assert code == 2
    remedy = said.rstrip().partition("Narrow them: ")[2]
    assert {"--over leaked=LOW:HIGH", "--over records=LOW:HIGH"} <= {
        f"--over {part.strip()}" for part in remedy.split("--over")}  # fmt: skip


def test_the_journalists_guess_heeds_what_a_scenario_does_or_takes_as_given(tmp_path):
    text = """\
schema_version: 1
kind: scenario
name: seen
title: Somebody
knows:
  attributes:
    age: {chance: 0.5, source: assumption}
    sex: {chance: 0.5, source: assumption}
"""
    people = _people("age", "sex")

    def match(more, **said):
        (tmp_path / "s.yaml").write_text(text + more, encoding="utf-8")
        scenario = rb.load_scenario(str(tmp_path / "s.yaml"))
        ask = ("adversary-routes", people)
        return rb.assess(*ask, scenario=scenario, population=9_000, **said)

    scenarios, callers = match("do: {knows_age: yes}\n"), match("", do={"knows_age": "yes"})
    by_scenario, by_caller = (r.risk("journalist_match") for r in (scenarios, callers))
    assert np.allclose(by_scenario, by_caller, atol=1e-12)
    assert by_scenario.mean() > match("").risk("journalist_match").mean()
    told, other = (str(r.population_uncertainty()) for r in (scenarios, callers))
    assert told == other
    assert "journalist_match" not in match("given: {knows_age: yes}\n").risks  # as for the caller's
