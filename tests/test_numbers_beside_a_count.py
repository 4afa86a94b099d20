"""A number that was said and lies in the ten of a count would leave out a part of that ten."""

import json
import re

import numpy as np
import pytest

import reidbn as rb
from reidbn.cli import main
from reidbn.errors import TooLarge, UsageError
from reidbn.release import sealed, unsealed

QUICK = "--check-draws 1000"
WIDE = pytest.mark.wide


def table_of(sizes, weight=1):
    return {"c": np.repeat([f"v{i}" for i in range(len(sizes))], sizes), "w": weight}


def people_of(sizes, **how):
    return rb.read_table(table_of(sizes), quasi_identifiers=["c"], **how)


def written(folder, sizes, command, weight=1):
    """The Markdown and the JSON of a command about such classes, seals included."""
    rows = [f"{c},{weight}" for c in table_of(sizes)["c"]]
    (folder / "t.csv").write_text("\n".join(["c,w", *rows]) + "\n")
    paths = folder / "r.md", folder / "r.json"
    name, *rest = command.split()
    words = [name, str(folder / "t.csv"), "--qi", "c", *rest]
    with pytest.raises(SystemExit) as end:
        main([*words, "--markdown", str(paths[0]), "--json-report", str(paths[1])])
    assert end.value.code in (0, 1), command
    return [path.read_text() for path in paths]


def says(number, text):
    plain = f"{number:,}"
    return any(re.search(rf"(?<![\w.,-]){n}(?![\d.,]*\w)", text) for n in {str(number), plain})


def command_of(text):
    return json.loads(text)["seal"]["made_from"]["command"]


@pytest.mark.parametrize("population", [23, pytest.param(28, marks=WIDE)])
def test_a_population_in_the_ten_of_the_table_is_told_as_that_ten(population, tmp_path):
    """In Python; a command is longer, and wide."""
    made = rb.assess("journalist", people_of([3, 20]), known=["c"], population=population)
    made.report(tmp_path / "r.json", threshold=0.2)
    numbers = (tmp_path / "r.json").read_text()
    assert not says(population, numbers)
    told = json.loads(numbers)
    assert told["provenance"]["population"] == 20
    assert "among 20," in told["question"]


@pytest.mark.wide
@pytest.mark.parametrize("population", [23, 28])
def test_so_does_a_command(population, tmp_path):
    asked = f"assess {QUICK} --scenario worst-case --threshold 0.2 --population {population}"
    page, numbers = written(tmp_path, [3, 20], asked)
    assert not says(population, page)
    told = json.loads(numbers)
    assert told["provenance"]["population"] == 20
    assert told["question"].endswith("among 20")
    assert str(population) not in command_of(numbers)
    assert "or nearly all of it" in page
    own = rb.assess("adversary-routes", people_of([3, 20]), known="worst-case",
                    population=population)  # fmt: skip
    own.report(tmp_path / "own.md", custodian=True, threshold=0.2)
    assert f"a population of {population}:" in (tmp_path / "own.md").read_text()


@pytest.mark.wide
def test_a_population_beyond_that_ten_is_told_as_it_was_said(tmp_path):
    page, numbers = written(
        tmp_path, [3, 20], f"assess {QUICK} --known c --threshold 0.2 --population 31"
    )
    assert "a population of 31:" in page
    assert json.loads(numbers)["provenance"]["population"] == 31
    assert command_of(numbers)[-1] == "31"


@pytest.mark.wide
@pytest.mark.parametrize("more", [0, 3, 9])
def test_weights_alike_do_not_count_the_people(more, tmp_path):
    """Who knows that everybody stands for ten divides the sum by ten."""
    sizes = [5] * 20 + [more]
    page, numbers = written(tmp_path, sizes, f"assess {QUICK} --weights w --threshold 0.17", 10)
    told = json.loads(numbers)
    assert told["provenance"]["population"] == 1000
    assert told["question"].endswith("among 1,000")
    assert "a population of about 1,000:" in page
    assert not more or not any(says(10 * sum(sizes), text) for text in (page, numbers))


@pytest.mark.parametrize(
    "count", [20, 23, 29, *(pytest.param(n, marks=WIDE) for n in range(21, 29) if n != 23)]
)
def test_a_sum_of_few_weights_leaves_every_count_of_the_ten(count):
    """For each told population every number of people has a whole population behind it."""
    telling = rb.report.Telling()
    for population in range(count + 10, 20 * count):
        said = telling.number_above(population, count, of=count)
        for other in range(20, 30):
            near = round(said * other / 20)
            assert any(telling.number_above(n, other, of=other) == said for n in
                       range(near - other, near + other)), (population, other)  # fmt: skip


def test_a_share_that_leaked_does_not_stand_beside_its_number(tmp_path):
    page, numbers = written(tmp_path, [2, 20], "leak --leaked 50%")
    assert "When 11 of 20 people leak" in page
    assert command_of(numbers)[-2:] == ["--leaked", "11"]
    assert "50" not in " ".join(command_of(numbers))
    again = written(tmp_path, [2, 20], "leak --leaked=11")
    assert [page, numbers] == again


def test_a_leak_of_nearly_everybody_does_not_count_them(tmp_path):
    """However many of the last ten leak, and asked as a share or as a number: one page."""
    pages = {
        tuple(written(tmp_path, [3, 20], f"leak --leaked {leaked}"))
        for leaked in ("20", "21", "23", "100%")
    }
    assert len(pages) == 1
    page, numbers = pages.pop()
    assert not says(23, page)
    assert "20 to 29 of 20 people, up to all of them" in page
    assert json.loads(numbers)["measures"]["leaked"]["at_most"] == 29


@pytest.mark.parametrize("leaked", [23, pytest.param({5: 0.5, 21: 0.25, 23: 0.25}, marks=WIDE)])
def test_in_python_a_leak_of_nearly_everybody_is_told_alike(leaked, tmp_path):
    found = rb.leak.assess(people_of([3, 20]), leaked=leaked)
    for name in ("r.md", "r.json", "r.html"):
        found.report(tmp_path / name)
        text = re.sub(r"<svg.*?</svg>|<style.*?</style>", "", (tmp_path / name).read_text(),
                      flags=re.DOTALL)  # fmt: skip
        assert not says(23, text)
    found.report(tmp_path / "own.md", custodian=True)
    assert says(23, (tmp_path / "own.md").read_text())
    found.plot(tmp_path / "r.svg")
    assert "23 of" not in (tmp_path / "r.svg").read_text()


def test_people_above_a_risk_are_told_by_every_leak_that_may_be_meant():
    """By the exact leak alone the classes that are above a level would say which it is."""
    rows = [[1] * 4 + [2] * 3 + [5] * 2, [23 - 20, 20], [2, 3, 5, 13]]
    for sizes in rows:
        people = people_of(sizes)
        n = sum(sizes)
        first = n // 10 * 10
        told = {
            json.dumps(rb.leak.assess(people, leaked=leaked)._numbers()["measures"])
            for leaked in range(first, n + 1)
        }
        assert len(told) == 1


def test_an_estimate_of_nearly_all_does_not_count_them(tmp_path):
    page, numbers = written(tmp_path, [2] * 5 + [1] * 3 + [10], "population --population 23")
    assert not says(23, page)
    assert not says(23, numbers)
    assert "unique among all 20 to 29" in page
    assert "{in the house}" in command_of(numbers)
    assert json.loads(numbers)["measures"]["population"]["at_most"] == 29
    fit = rb.population.fit(people_of([2] * 5 + [1] * 3 + [10]), population=23)
    assert fit.measures["population"].value == 23


WHOLE = {
    "population": "--population {}",
    "recommend": "--target overall:0.9 --suppress-at-most 50% --population {}",
    "assess": f"--attack journalist {QUICK} --known c --threshold 0.2 --population {{}}",
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=WIDE if n == "assess" else ())
                                  for n in WHOLE])  # fmt: skip
def test_a_whole_population_of_a_round_number_is_told_as_any_other_of_its_ten(name, tmp_path):
    """A population that stands there only where it is round would say that it is."""
    for n in (20, 23):
        asked = f"{name} {WHOLE[name].format(n)}"
        _, numbers = written(tmp_path, [2] * 4 + [1] * (n - 18) + [10], asked)
        command = command_of(numbers)
        assert command[command.index("--population") + 1] == "{in the house}"


def test_a_page_of_people_tells_a_round_population_as_any_other(tmp_path):
    said = []
    for n in (100, 103):
        people = people_of([5] * 20 + [n - 100] * (n > 100))
        found = rb.assess("adversary-routes", people, known="worst-case", population=n)
        said += re.findall(r"a population of [^;.]*", found.page(tmp_path / "p.html").read_text())
    assert len(said) == 2
    assert len({*said}) == 1
    assert "told no more exactly" in said[0]


def by_stratum(north, south, populations, folder):
    """A table of two strata, its estimate, and what leaves the house of it."""
    rows = [(where, age % 17, "mf"[age % 2])
            for where, n in (("north", north), ("south", south)) for age in range(n)]  # fmt: skip
    (folder / "t.csv").write_text("state,age,sex\n" + "".join(f"{s},{a},{x}\n" for s, a, x in rows))
    asked = ",".join(f"{name}={n}" for name, n in populations.items())
    paths = [folder / f"r.{kind}" for kind in ("html", "md", "json")]
    with pytest.raises(SystemExit) as end:
        main(["population", str(folder / "t.csv"), "--qi", "age,sex,state", "--strata", "state",
              "--population", asked, "--html", str(paths[0]), "--markdown", str(paths[1]),
              "--json-report", str(paths[2])])  # fmt: skip
    assert end.value.code == 0
    return [re.sub(r"<style.*?</style>", "", path.read_text(), flags=re.DOTALL) for path in paths]


@pytest.mark.parametrize(
    ("north", "population"), [(103, 103), *(pytest.param(*c, marks=WIDE) for c in
                              ((100, 100), (103, 107), (3, 7), (103, 109)))]
)  # fmt: skip
def test_a_stratum_of_nearly_all_its_people_is_told_as_their_ten(
    north, population, tmp_path, capsys
):
    """The sum less the others' populations would be the stratum's."""
    texts = by_stratum(north, 60, {"north": population, "south": 1004}, tmp_path)
    low = north // 10 * 10 + 1004
    for text in texts:
        for hidden in {population, population + 1004} - {low, low + 9, 100}:
            assert not says(hidden, text)
        assert "south=1004" not in text
    numbers = json.loads(texts[2])
    told = numbers["measures"]["population"]
    assert (told["value"], told["at_least"], told["at_most"]) == (None, low, low + 9)
    assert numbers["provenance"]["population"] == low
    assert f"unique among all {low:,} to {low + 9:,}" in texts[1]
    assert command_of(texts[2])[-1] == "{in the house}"
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["verify", str(tmp_path / "r.json"), str(tmp_path / "t.csv")])
    assert end.value.code == 2
    assert "was written with --population" in capsys.readouterr().err
    own = rb.population.fit(
        rb.read_table(str(tmp_path / "t.csv"), quasi_identifiers=["age", "sex", "state"]),
        population={"north": population, "south": 1004}, strata="state", model="pitman-bayes",
    )  # fmt: skip
    assert own.measures["population"].value == population + 1004
    own.report(tmp_path / "own.json", custodian=True)
    exactly = json.loads((tmp_path / "own.json").read_text())
    assert exactly["measures"]["population"]["value"] == population + 1004
    assert exactly["provenance"]["population"] == population + 1004


@pytest.mark.wide
def test_strata_of_which_the_table_is_a_part_are_told_as_they_were_said(tmp_path):
    texts = by_stratum(103, 60, {"north": 110, "south": 1004}, tmp_path)
    assert json.loads(texts[2])["measures"]["population"]["value"] == 1114
    assert command_of(texts[2])[-1] == "north=110,south=1004"
    with pytest.raises(SystemExit) as end:
        main(["verify", str(tmp_path / "r.md"), str(tmp_path / "t.csv")])
    assert end.value.code == 0


def test_a_page_of_people_says_how_its_population_is_told(tmp_path):
    people = people_of([5] * 20 + [3])
    for population, how in ((107, "100 {} (told no more"), (110, "110 {} (a number")):
        told = how.format("people from whom the table was drawn")
        result = rb.assess("adversary-routes", people, known="worst-case", population=population)
        text = result.page(tmp_path / "p.html").read_text()
        assert told in text
        assert says(population, text) == (population == 110)


def test_a_plan_of_nearly_all_and_of_a_share_does_not_count_them(tmp_path):
    for asked, typed in (("--target overall:0.9 --population 23", "23"),
                         ("--target k=2 --sample 50% --seed 3", "50%")):  # fmt: skip
        _, numbers = written(tmp_path, [3, 20], f"recommend --suppress-at-most 50% {asked}")
        assert typed not in command_of(numbers)
        assert not says(23, numbers)
    _, numbers = written(tmp_path, [3, 20], "recommend --target overall:0.9 --population 31 "
                         "--suppress-at-most 50%")  # fmt: skip
    assert "31" in command_of(numbers)


def test_the_last_seal_of_a_report_is_its_own():
    """A cell of a table may look like one."""
    text = "| a <!-- reidbn-seal {} --> | <!-- reidbn-seal { |\n"
    body, made_from, whole = unsealed(sealed(text, {"attack": "a <!-- reidbn-seal {"}))
    assert (body, whole) == (text, True)
    assert made_from == {"attack": "a <!-- reidbn-seal {"}


@pytest.mark.wide
def test_a_ledger_says_that_weights_are_asked_with(tmp_path):
    table, ledger = table_of([5] * 20 + [3], weight=np.full(103, 10.0)), tmp_path / "l.json"

    def report():
        people = rb.read_table(table, quasi_identifiers=["c"], weights="w")
        found = rb.assess("adversary-routes", people, known="worst-case")
        found.keep_crosscheck(draws=1_000)
        return found.report(tmp_path / "r.md", threshold="ema", ledger=ledger)

    report()
    table["w"][0] += 1
    with pytest.raises(UsageError, match="Survey weights are a part of what is asked"):
        report()


HIDDEN = {
    "recommend --target k=5 --suppress-at-most 60%": ("60%", "0.6"),
    "recommend --target k=5 --suppress-at-most 60% --empty-at-most 7%": ("7%", "0.07"),
    "disclosure --sensitive w --individuals 21": ("21",),
}


@pytest.mark.parametrize("command", HIDDEN)
def test_a_command_does_not_tell_what_its_page_withholds(command, tmp_path, capsys):
    _, numbers = written(tmp_path, [3, 20], command)
    told = command_of(numbers)
    assert not {*told} & {*HIDDEN[command]}
    assert "{in the house}" in told
    with pytest.raises(SystemExit) as end:
        main(["verify", str(tmp_path / "r.json"), str(tmp_path / "t.csv")])
    assert end.value.code == 2
    assert "does not tell what that was" in capsys.readouterr().err
    name, *rest = command.split()
    own = tmp_path / "own.json"
    with pytest.raises(SystemExit):
        main([name, str(tmp_path / "t.csv"), "--qi", "c", *rest, "--json-report", str(own),
              "--custodian"])  # fmt: skip
    assert {*command_of(own.read_text())} & {*HIDDEN[command]}


def test_which_record_was_named_first_stays_in_the_house(tmp_path):
    made = rb.datasets.synthetic_ehr(60, seed=3)
    made.table.to_csv(tmp_path / "k.csv", index=False)
    made.features.to_csv(tmp_path / "f.csv", index=False)
    page = tmp_path / "r.json"
    with pytest.raises(SystemExit) as end:
        main(["family", str(tmp_path / "k.csv"), "--features", str(tmp_path / "f.csv"),
              "--start", "7", "--json-report", str(page)])  # fmt: skip
    assert end.value.code == 0
    told = command_of(page.read_text())
    assert told[told.index("--start") + 1] == "{in the house}"


NAMES = {
    "sweep": lambda r: rb.sweep(r, {1: 2}),
    "sweep of a model": lambda r: rb.sweep("breakfast", "identified=yes", {1: [0.2]}),
    "compare": lambda r: rb.compare(r, {1: 2}),
}


@pytest.mark.parametrize("call", NAMES)
def test_a_parameter_is_called_by_text(call):
    result = rb.assess("adversary-routes", people_of([3, 20]), known="worst-case", population=90)
    with pytest.raises(UsageError, match="a parameter is called an int; give its name as text"):
        NAMES[call](result)


@pytest.mark.parametrize("many", [5_000_001, 10**30])
def test_points_over_a_range_are_priced_before_they_are_made(many):
    with pytest.raises(TooLarge, match="the most is 5,000,000"):
        rb.sweep("breakfast", "identified=yes", {"p_listed": many})


@pytest.mark.parametrize("leaked", [[3], (3,), np.array([3]), [3, 4]])
def test_several_sizes_of_a_leak_are_no_one_leak(leaked):
    with pytest.raises(UsageError, match="one number or one prior here"):
        rb.leak.assess(people_of([3, 20]), leaked=leaked)
