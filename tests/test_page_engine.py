"""The engine of the pages against the library: the same answers to 1e-12, or a slider that stays.

Everything that can be moved is: parameters, states sized by them, evidence, interventions, events,
means, functions, decisions.
"""

import warnings

import numpy as np
import pytest
from random_pages import library, linear, random_attack, random_case, step
from scripts import answered, needs_scripts

import reidbn as rb
from reidbn.attack import Attack, Node, Number, Parameter, Question
from reidbn.cpds import Function, Poisson
from reidbn.page import Start, payload
from tests.test_worst_of_tied import SWEPT

pytestmark = needs_scripts
CLOSE = 1e-12


def held_of(attack, question=None, **start):
    return payload(attack, question, Start(start, {}, {}, None))


def compare(attacks, cases, folder, seed):
    """Ask both, everything; returns how many answers, impossibilities and refusals there were."""
    rng = np.random.default_rng(seed)
    jobs = []
    for attack in attacks:
        held = held_of(attack)
        drawn = [random_case(rng, attack, held) for _ in range(cases)]
        jobs.append({"payload": held, "cases": drawn})
    counts = {"answers": 0, "impossible": 0, "refused": 0}
    for attack, job, told in zip(attacks, jobs, answered(jobs, folder), strict=True):
        for case, found in zip(job["cases"], told, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rb.errors.ReidbnWarning)
                wanted = library(attack, job["payload"], case)
            said = (attack.name, case, wanted, found)
            if isinstance(wanted, str):
                assert "refused" in found, said
                counts["refused"] += 1
            elif wanted is None:
                assert found.get("value", 0) is None, said
                counts["impossible"] += 1
            else:
                assert abs(found["value"] - wanted[0]) <= CLOSE * max(1, abs(wanted[0])), said
                assert abs(found["evidence"] - wanted[1]) <= CLOSE, said
                assert abs(found["again"] - wanted[1]) <= CLOSE, said
                counts["answers"] += 1
    return counts


def shipped(every=1):
    """The models of which a page can be made, and why of the others none can."""
    models, without = [], {}
    for name in [*rb.models()][::every]:
        attack = rb.load(name)
        try:
            held_of(attack)
        except rb.ReidbnError as problem:
            without[name] = str(problem)
        else:
            models.append(attack)
    return models, without


def random_ones(count, seed):
    rng = np.random.default_rng(seed)
    return [random_attack(rng) for _ in range(count)]


def test_random_attacks_answer_in_the_page_as_in_the_library(tmp_path):
    counts = compare(random_ones(5, 17), 8, tmp_path, seed=1)
    assert counts["answers"] > 12
    assert counts["refused"] > 3  # more leaked than there are records
    assert counts["impossible"] > 0


@pytest.mark.slow
def test_five_hundred_random_attacks(tmp_path):
    counts = compare(random_ones(500, 18), 10, tmp_path, seed=2)
    assert counts["answers"] > 1_800


def test_shipped_models_answer_in_the_page_as_in_the_library(tmp_path):
    counts = compare(shipped(every=4)[0], 2, tmp_path, seed=3)
    assert counts["answers"] > 6


@pytest.mark.slow
def test_shipped_models_at_two_hundred_settings(tmp_path):
    models, without = shipped()
    assert without == {}
    counts = compare(models, 200, tmp_path, seed=4)
    assert counts["answers"] > 3_000


def test_every_chance_of_the_graph_is_the_librarys(tmp_path):
    attack = rb.load("insider-decides")
    held = held_of(attack)
    see, do = {"caught": "no"}, {"knows_job": "yes"}
    values = {p["name"]: p["value"] for p in held["parameters"]} | {"p_audit": 0.001, "fine": 40}
    case = {"question": 0, "set": values, "see": see, "do": do}
    ((found,),) = answered([{"payload": held, "cases": [case]}], tmp_path)
    for name in attack.all_nodes:
        plain = attack.replace(questions=())
        wanted = rb.ask(plain, name, given=see, do=do, set=values).probability
        assert np.abs(np.array(found["marginals"][name]) - wanted).max() <= CLOSE
    chosen = rb.decide(attack, set=values).choices["attacks"].policy[0, 0]
    assert np.array_equal(found["policies"]["attacks"], chosen.ravel())


# -- what moves, and what stays ------------------------------------------------------------------


def _with(function, **more):
    return Attack(
        "f",
        parameters=[Parameter(f"p_{i}", 0.5) for i in range(3)],
        nodes=[Node("found", ("no", "yes"), Function.of(function))],
        questions=[Question("risk", "found=yes")],
        **more,
    )


def moves(held, name):
    return next(p for p in held["parameters"] if p["name"] == name)


def test_a_function_of_unknown_bend_moves_from_stop_to_stop_and_is_exact_there(tmp_path):
    attack = _with(step)
    held = held_of(attack)
    stops = moves(held, "p_2")["stops"]
    assert len(stops) > 50
    start = {p["name"]: p["value"] for p in held["parameters"]}
    cases = [{"question": 0, "set": start | {"p_2": x}, "see": {}, "do": {}}
             for x in [*stops, 0.3715]]  # fmt: skip
    (told,) = answered([{"payload": held, "cases": cases}], tmp_path)
    assert [t["value"] for t in told[:-1]] == [float(step(x)) for x in stops]
    assert told[-1] == {"refused": "between"}  # nothing is read off between stops


def test_a_degree_that_is_proven_wrong_by_the_table_is_not_believed():
    def bends(p_0):
        return p_0**2

    bends.__name__ = "bends_as_told_wrongly"
    rb.cpd_function("bends_as_told_wrongly", degree={"p_0": 1})(bends)
    held = held_of(_with(bends))
    assert held["tables"][0]["form"]["kind"] == "stops"


def test_a_declared_degree_makes_a_polynomial():
    def bows(p_0, p_1):
        return p_0 * (1 - p_0) + 0.1 * p_1

    rb.cpd_function("bows_in_a_page", degree={"p_0": 2, "p_1": 1})(bows)
    held = held_of(_with(bows))
    form = held["tables"][0]["form"]
    assert form["kind"] == "polynomial"
    assert [len(points) for points in form["at"]] == [3, 2]
    assert not moves(held, "p_0")["stops"]


def test_what_cannot_move_says_why():
    for attack in [*map(rb.load, ("linkage", "leak-targets", "leak-single")), _with(linear)]:
        for p in held_of(attack)["parameters"]:
            low, high = attack.parameters[p["name"]].range
            assert p["frozen"] is None or (len(p["frozen"]) > 20 if low < high else not p["frozen"])
    stays = moves(held_of(sized_by_what_has_no_formula()), "most")
    assert "the page has no formula for its kind, max" in stays["frozen"]


def sized_by_what_has_no_formula():
    return Attack(
        "most", parameters=[Parameter("most", 3, 1, 5, "people")],
        nodes=[Node("some", "0..$most", rb.cpd.Uniform()),
               Node("any", "0..$most", rb.cpd.Max(), ("some",))],
        questions=[Question("risk", "any>=1")],
    )  # fmt: skip


def test_every_number_of_the_shipped_models_moves(tmp_path):
    """Structures, targets, leaks beside leaks, attempts: by formulas, and as the library does."""
    names = ("budget", "leak-homogeneous", "leak-targets", "structured-population")
    attacks = [*map(rb.load, names)]
    for attack in attacks:
        assert all(not p["frozen"] and not p["stops"] for p in held_of(attack)["parameters"])
    assert compare(attacks, 5, tmp_path, seed=6)["answers"] > 12


def test_a_part_of_a_record_is_refused_by_both(tmp_path):
    attack = Attack(
        "half", parameters=[Parameter("records", 9, 8, 12, "records")],
        numbers=[Number("leaked", "records / 3", "records", low=0, high=5, source="assumption")],
        nodes=[Node("in_it", "0..2", rb.cpd.HypergeometricLeak("$records", "$leaked", 2),
                    source="assumption")],
        questions=[Question("risk", "in_it>=1")],
    )  # fmt: skip
    cases = [{"question": 0, "set": {"records": n}, "see": {}, "do": {}} for n in (9, 10)]
    ((whole, part),) = answered([{"payload": held_of(attack), "cases": cases}], tmp_path)
    assert abs(whole["value"] - float(rb.ask(attack))) < CLOSE
    assert part == {"refused": "not_whole"}
    with pytest.raises(rb.ReidbnError, match="whole number"):
        rb.ask(attack, set={"records": 10})


def test_a_page_says_what_is_cut_off_where_its_sliders_go():
    attack = Attack(
        "counts",
        parameters=[Parameter("rate", 0.2, 0.1, 4.0, "tries")],
        nodes=[Node("tries", "0..5", Poisson("$rate"))],
        questions=[Question("risk", "tries>=1")],
    )
    (said,) = held_of(attack)["cut"]
    assert said.startswith("tries: 0.21 of what can be where the sliders go lies beyond its last")
    assert held_of(rb.load("breakfast"))["cut"] == []


def test_a_page_that_would_be_slow_is_refused_with_a_remedy():
    attack = rb.load("family-cascade")
    with pytest.raises(rb.TooLarge, match="exposed needs more sums than a page has time for"):
        held_of(attack, "how_many")
    lots = [Node(f"n{i}", ("no", "yes"), rb.cpd.Probability(0.5), source="made up")
            for i in range(26)]  # fmt: skip
    sized = [*lots, Node("how_many", "0..26", rb.cpd.Count(), tuple(n.name for n in lots))]
    held_of(Attack("wide", nodes=sized, questions=[Question("risk", "how_many>=3")]))
    tight = [Node("a", "0..2000", rb.cpd.Uniform()), Node("b", "0..2000", rb.cpd.Uniform()),
             Node("c", "0..4000", rb.cpd.Sum(), ("a", "b"))]  # fmt: skip
    with pytest.raises(rb.TooLarge, match="c>=3 needs more sums"):
        held_of(Attack("tight", nodes=tight, questions=[Question("risk", "c>=3")]))


def test_a_family_answers_part_by_part_as_the_library_does(tmp_path):
    """A network too large at once: every node with what is above it, and what is left out."""
    attack = rb.load("family-cascade")
    held = held_of(attack)
    assert held["left_out"] == ["how_many", "exposed"]
    see, do = {"found_father": "yes"}, {"tells_mother": "no"}
    values = {p["name"]: p["value"] for p in held["parameters"]} | {"p_in_release": 0.4}
    case = {"question": 0, "set": values, "see": see, "do": do}
    ((found,),) = answered([{"payload": held, "cases": [case]}], tmp_path)
    plain = attack.replace(questions=())
    for name in ("in_mother", "ego_father", "strangers", "via3_mother_sibling_1", "any_found"):
        wanted = rb.ask(plain, name, given=see, do=do, set=values).probability
        assert np.abs(np.array(found["marginals"][name]) - wanted).max() <= CLOSE
    assert {*found["marginals"]} == {n["name"] for n in held["nodes"]}


def test_decisions_that_have_to_be_taken_together_are_refused(tmp_path):
    text = """
schema_version: 1
name: two
parameters:
  gain: {value: 5, range: [0, 9], unit: euro, source: assumption}
  half: {value: 0.5, source: assumption}
nodes:
  coin: {cpd: {kind: probability, p: $half}}
  won: {parents: [one, two], cpd: {kind: and}}
decisions:
  one: {options: [no, yes], sees: [coin], story: one}
  two: {options: [no, yes], story: two}
utilities:
  worth:
    of: [won]
    unit: euro
    source: assumption
    rows: [{when: {won: yes}, value: $gain}, {value: 0}]
questions: {risk: {target: won=yes}}
"""
    with pytest.raises(rb.UsageError, match="have to be decided together"):
        held_of(rb.loads(text))


def test_a_page_names_the_decisions_at_which_options_are_worth_the_same(tmp_path):
    """Its answer is that of the policy that is taken: .125, where by phone it is .25."""
    attack = rb.loads(SWEPT)
    held = held_of(attack)
    cases = [{"question": 0, "set": {"p": 0.5, "fee": fee}, "see": {}, "do": {}}
             for fee in (4, 5, 6)]  # fmt: skip
    (told,) = answered([{"payload": held, "cases": cases}], tmp_path)
    assert [found["tied"] for found in told] == [[], ["way"], []]
    for case, found in zip(cases, told, strict=True):
        answer = rb.ask(attack, "risk", set=case["set"])
        assert found["value"] == pytest.approx(float(answer), abs=CLOSE)
        assert found["tied"] == [*answer.tied]


def test_what_is_no_chance_deep_in_a_table_is_refused_by_both(tmp_path):
    """Tables that look sound: weights of a mixture and a row of a noisy-max that leave rest < 0."""
    attack = rb.loads("""
schema_version: 1
name: hidden
parameters:
  p: {value: 0.5, source: assumption}
  r: {value: 0.2, source: assumption}
  town: {value: 3000, range: [0, 5000], unit: records, source: assumption}
numbers: {fit: {is: "town * 0.001", unit: records, source: assumption},
          odd: {is: "p + r", unit: times, source: assumption}}
nodes:
  b: {cpd: {kind: probability, p: 0.5}, source: assumption}
  a: {source: assumption, cpd: {kind: mixture, weights: [$p, $r, rest], components:
      [{kind: probability, p: 0.2}, {kind: probability, p: 0.4}, {kind: probability, p: 1}]}}
  most: {states: [n, s, l], parents: [b], source: assumption, cpd: {kind: noisy-max, rows:
      [{when: {b: yes}, p: {s: $p, l: $r, n: rest}}]}}
  some: {parents: [b], cpd: {kind: noisy-or, weights: [$odd]}}
  named: {cpd: {kind: one-over, of: $fit}}
questions: {risk: {target: a=yes}, level: {target: most=l}, any: {target: some=yes},
            one: {target: named=yes}}
""")
    own = {name: p.value for name, p in attack.parameters.items()}
    fine = [{}, {"r": 0.5}, {"town": 1000}, {"town": 0}]
    bad = [({"r": 0.500001}, "risk"), ({"p": 0.9}, "level"), ({"p": 0.9}, "any"),
           ({"town": 999}, "one")]  # fmt: skip
    cases = [{"question": 3, "set": own | at, "see": {}, "do": {}}
             for at in (*fine, *(at for at, _ in bad))]  # fmt: skip
    told = answered([{"payload": held_of(attack), "cases": cases}], tmp_path)[0]
    for at, found in zip(fine, told, strict=False):
        assert abs(found["value"] - float(rb.ask(attack, "one", set=at))) < CLOSE
    assert all("refused" in found for found in told[len(fine) :])
    for at, question in bad:
        with pytest.raises(rb.ReidbnError):
            rb.ask(attack, question, set=at)


STOREYS = """\
schema_version: 1
name: storeys
title: t
story: s
sources: [s]
parameters: {p: {value: 0.2, range: [0, 1], source: s}, a: {value: 0.3, range: [0, 1], source: s}}
subject: {covered: {unit: percent, range: [0, 100], story: c}}
numbers:
  rest: {is: "100 - covered", unit: percent}
  tries: {is: "rest * 10", unit: attempts}
  left: {is: "1000000 + (0.3 + a) - 1000000 - a - rest", range: [-1, 1]}
  none: "max(left, 0)"
nodes:
  x: {cpd: {kind: geometric, p: $p, budget: $tries}, source: s}
  y: {cpd: {kind: probability, p: $none}, source: s}
questions: {risk: {target: x=yes}, never: {target: y=yes}}
example: {covered: 99.7}
"""


def test_numbers_of_people_keep_the_rounding_of_what_they_stand_on(tmp_path):
    """100 - 99.7 is not 0.3 in a computer, and three attempts for all that."""
    attack = rb.loads(STOREYS)
    counts = compare([attack], 24, tmp_path, seed=6)
    assert counts["answers"] > 10
    assert counts["refused"] == 0
    assert float(rb.ask(attack, "risk")) == pytest.approx(1 - 0.8**3)
    assert float(rb.ask(attack, "never")) == 0
