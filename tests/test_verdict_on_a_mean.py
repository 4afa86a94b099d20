"""Whether a mean keeps its limit says how many classes there are at most.

So it is told where it follows from the counts that are.  Brute force over all ways to stand in
classes, beside people whom the reader knows.
"""

import json
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from outward_attacker import partitions

import reidbn as rb
from reidbn.release import Alike, cells, promised
from reidbn.report import Judged, Telling, held_together, report, rule

K = 11  # of the public rule in the footnote


def told(sizes, limit, kept):
    """What a page tells of such a table: the verdict on the mean and the classes."""
    each = np.repeat(sizes, sizes)
    both = [Judged(rule(limit, "controlled"), each, None), Judged(rule(1 / K), each, None)]
    plain = Alike(each)
    same = (tuple(map(plain.at, [*plain.cutoffs, plain.end])), both[0].passes, both[0].unique > 0,
            both[1].passes)  # fmt: skip
    if same not in kept:  # nothing else of the table goes into what is told
        telling, _ = held_together(Telling(classes=(plain,)), both)
        kept[same] = telling.classes[0], both[0].told_passes(telling)
    model, verdict = kept[same]
    return both[0].passes, verdict, replace(model, sizes=each)


def narrowed(limit, others, people, *, as_it_is):
    """Marked cells, those narrowed, and what the verdicts were; `as_it_is`: every verdict."""
    kept, same, verdicts = {}, defaultdict(set), defaultdict(int)
    for sizes in ((*s, *others) for n in people for s in partitions(n)):
        passes, verdict, classes = told(sizes, limit, kept)
        if as_it_is:
            verdict, classes = passes, replace(classes, nobody=max(classes.nobody, int(passes)))
        assert verdict in (passes, None)
        verdicts[verdict] += 1
        counts = tuple(map(classes.at, [*classes.cutoffs, classes.end]))
        marked = tuple(((c.after, c.last), promised(c, classes)) for c in cells(classes))
        holds = tuple(classes.exactly(b) - classes.exactly(a) for (a, b), _ in marked)
        said = verdict, classes.without, classes.nobody, classes.somebody
        same[said, counts, marked].add(holds)
    many = bad = 0
    for (*_, marked), tables in same.items():
        for (_, promise), can in zip(marked, zip(*tables, strict=True), strict=True):
            if promise[0] < promise[1]:
                many += 1
                bad += (min(can), max(can)) != promise
    return many, bad, verdicts


LIMITS = (0.05, 0.09, 0.1, 0.2, 0.25, 1 / 3, 0.5)


@pytest.mark.parametrize(("limit", "others"), [
    pytest.param(0.25, (), marks=pytest.mark.wide),
    *(pytest.param(limit, others, marks=pytest.mark.slow) for limit in LIMITS
      for others in ((), (30,), (90,), (10,) * 9)),
])  # fmt: skip
def test_the_verdict_on_a_mean_excludes_no_number_of_a_mark(limit, others):
    """Every verdict told narrowed 17, 58, 59, 55 and 53 of 133 to 217 marks (limits .1 to .5)."""
    many, bad, verdicts = narrowed(limit, others, range(10, 20), as_it_is=False)
    assert many > 100
    assert bad == 0
    fewest = (1 + len(others)) / (19 + sum(others))  # the mean of 19 people in one class
    assert set(verdicts) == {False} if fewest > limit else len(verdicts) > 1
    if not others and limit > 0.09:
        assert narrowed(limit, others, range(10, 20), as_it_is=True)[1] > 0


def judged_report(tmp_path, columns, **options):
    found = rb.assess("marketer", rb.read_table(columns, quasi_identifiers=["a"]),
                      known="worst-case")  # fmt: skip
    found.keep_crosscheck(draws=2_000)
    found.report(tmp_path / "r.json", **options)
    return report(found, **options), json.loads((tmp_path / "r.json").read_text())


def test_a_page_of_few_people_leaves_the_verdict_on_a_mean_to_the_custodian(tmp_path):
    """Of 19 people in classes of 7, 7 and 5 the mean of 1/class is 3/19."""
    columns, rule_ = {"a": list("xxxxxxxyyyyyyyzzzzz")}, {"release": "controlled"}
    page, numbers = judged_report(tmp_path, columns, threshold="cell-5", **rule_)
    assert numbers["passes"] is None
    assert numbers["verdict"].startswith("It is not told whether this passes the rule")
    assert page.headline == "The custodian's own copy says whether this rule allows a controlled " \
                            "release."  # fmt: skip
    shown = [s for part in page.sections for s in (*part.shown, *part.details)]
    (flips,) = [s for s in shown if s.caption.startswith("What would flip")]
    assert [row[2] for row in flips.rows] == ["not told"]
    own, exact = judged_report(tmp_path, columns, threshold="cell-5", custodian=True, **rule_)
    assert exact["passes"] is True
    assert own.headline == "This rule allows a controlled release."


def test_a_verdict_on_a_mean_is_told_where_the_counts_leave_no_other(tmp_path):
    """400 people in four classes: whatever the tens hide, the mean is far below; nobody is unique.
    Who is said to be nobody stands in no other place as under ten."""
    page, numbers = judged_report(tmp_path, {"a": list("wxyz") * 100}, release="controlled")
    assert numbers["passes"] is True
    assert "nobody is unique" in numbers["verdict"]
    for name in ("people_beyond", "unique"):
        found = numbers["judged"][name]
        assert (found["value"], found["at_least"], found["at_most"]) == (0, 0, 0)
    assert page.headline == "This rule allows a controlled release."
    one = {"a": [*list("wxyz") * 100, "v"]}
    alone = judged_report(tmp_path, one, release="controlled")[1]
    assert alone["passes"] is False
    assert alone["judged"]["unique"]["at_most"] == 9


@pytest.mark.parametrize(("least", "passes"), [(10, True), (9, False)])
def test_a_limit_on_a_risk_that_follows_from_classes_is_held_against_them(least, passes, tmp_path):
    """One over twice the class, at most .05: nobody, or somebody, is in a class of at most nine;
    who is nobody by the verdict stood as under ten in the counts."""
    columns = {"a": [*"x" * 30, *"y" * 40, *"z" * least]}
    page, numbers = judged_report(tmp_path, columns, threshold={"overall": 0.05})
    assert numbers["passes"] is passes
    assert page.of_classes == ((9, 10) if passes else (0, 9))
    few = numbers["people_above"]["0.05"]["overall"]
    assert few["at_most"] == (0 if passes else 9)
