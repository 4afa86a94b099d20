"""Every result has every verb, and gives nobody away in what leaves the house."""

import json
import pickle
import re
import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pandas as pd
import pytest

import reidbn as rb
from reidbn.release import mean_in_steps
from reidbn.report import Section, Shown, bars
from reidbn.result import Measure, Result, count_of, mean_of

PEOPLE = 237


@cache
def people(seed=1):
    rng = np.random.default_rng(seed)
    rows = {
        "who": [f"p{i}" for i in range(PEOPLE)],
        "age": rng.integers(20, 60, PEOPLE),
        "sex": rng.integers(0, 2, PEOPLE),
        "race": rng.integers(0, 9, PEOPLE),
        "diagnosis": rng.choice(5, PEOPLE, p=[0.6, 0.2, 0.1, 0.06, 0.04]),
    }
    return rb.read_table(
        pd.DataFrame(rows), quasi_identifiers=["age", "sex", "race"], sensitive=["diagnosis"],
        subject_id="who",
    )  # fmt: skip


def assessment(table):
    found = rb.assess("adversary-routes", table, population=100_000)
    found.keep_crosscheck(draws=2_000)
    return found


MADE = {
    "Assessment": assessment,
    "Disclosure": lambda table: rb.disclosure(table, "diagnosis"),
    "Leak": lambda table: rb.leak.assess(table, leaked=50),
    "Uniqueness": lambda table: rb.population.fit(table, population=100_000),
    "Suda": lambda table: rb.suda(table, sampling_fraction=0.1),
    "Candidates": lambda table: rb.candidates(table.take(range(157)), table),
    "Linkage": lambda table: rb.linkage(
        sparse(table), known=["age", "sex", "race"], facts=[1, 2, 3], node_budget=10**5
    ),
    "Neighbourhood": lambda table: rb.neighbourhood(kin(table)),
}


def sparse(table):
    """The same people as a sparse table."""
    cells = {name: table.labels(name)[table.codes([name])[:, 0]] for name in table.columns}
    return rb.read_sparse({"who": table.subject_ids, **cells}, subject_id="who")


def kin(table):
    """The same people as records that tell of relatives: an illness each for age, sex and race."""
    names = ("age", "sex", "race")
    codes = dict(zip(names, table.codes(names).T, strict=True))
    cells = {
        f"{relation}: {name}": np.where((codes[name] + shift) % 3 == 0, "yes", "no").astype(object)
        for shift, relation in enumerate(("self", "father"))
        for name in names
    }
    features = {
        "feature": list(cells), "kind": ["yes/no"] * 6, "relation": ["self"] * 3 + ["father"] * 3,
        "disease": [*names, *names], "field": ["has"] * 6,
    }  # fmt: skip
    read = rb.read_sparse(
        {"who": table.subject_ids, **cells},
        features={n: np.array(v, dtype=object) for n, v in features.items()}, subject_id="who",
    )  # fmt: skip
    return rb.read_kin(read)


def kinds():
    """The classes right under Result, found among those that the package defines."""
    for module in walk_packages(rb.__path__, "reidbn."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    return [c.__name__ for c in Result.__subclasses__() if c.__module__.startswith("reidbn.")]


@pytest.fixture(scope="module", params=kinds())
def result(request):
    return made(request.param)


@cache
def made(kind, seed=1):
    return MADE[kind](people(seed))


def test_a_result_says_its_measures_as_numbers_words_and_a_frame(result):
    assert result.measures
    for name, m in result.measures.items():
        assert isinstance(m, Measure)
        assert m.words, name
        assert m.unit, name
        assert m.value is None or np.isfinite(m.value), name
        assert m.interval is None or m.interval[0] <= m.interval[1], name
    with pytest.raises(TypeError):
        result.measures["more"] = 1
    frame = result.frame()
    assert tuple(frame.index) == tuple(result.measures)
    assert list(frame.columns) == ["value", "low", "high", "unit", "per_person", "words"]
    for m in result.measures.values():
        assert m.words in str(result)
    assert "<table" in result._repr_html_()


WHOLE = ["result", "about", "question", "custodians_own_copy", "table", "measures", "remarks",
         "provenance", "not_looked_at"]  # fmt: skip
EACH = {"value", "at_least", "at_most", "unit", "interval", "per_person", "words"}


def test_every_result_has_one_json_in_which_each_number_has_both_its_ends(result, tmp_path):
    own, told = (
        json.loads(result.report(tmp_path / "r.json", custodian=custodian).read_text())
        for custodian in (True, False)
    )
    plain = json.loads(json.dumps(result.to_dict()))
    for content in (plain, own, told):
        front = WHOLE if content["custodians_own_copy"] else [*WHOLE, "not_promised"]
        assert [name for name in content if name != "drawn"][: len(front)] == front
        assert content["result"] == result.kind
        assert all(set(row) == EACH for row in content["measures"].values())
    assert plain["measures"] == own["measures"]
    for name, m in result.measures.items():
        row = plain["measures"][name]
        assert row["value"] == row["at_least"] == row["at_most"] == m.value
        outward = told["measures"].get(name.replace("highest", "all_but_a_few"))
        if outward is None or outward["at_most"] is None or m.told == "highest":
            continue
        assert outward["at_least"] <= m.value <= outward["at_most"], name
        assert outward["value"] in (None, outward["at_least"]), name
        if m.interval is not None and outward["interval"] is not None:
            low, high = outward["interval"]
            assert low <= m.interval[0] <= m.interval[1] <= high, name


def test_a_result_says_what_was_asked_in_words(result):
    asked = str(result.question)
    assert result.to_dict()["question"] == asked
    assert asked in str(made(result.kind).question)
    if result.kind != "Assessment":  # whose scenario says what is known
        assert "age" in asked
        assert "race" in asked
    assert "None" not in asked


def test_a_result_has_a_row_for_each_person_in_record_order(result):
    assert isinstance(result.asked_of, rb.People | rb.microdata.Sparse)
    assert len(result.people) == len(result.asked_of)
    assert result.people.index.tolist() == result.asked_of.subject_ids.tolist()
    assert result.subjects is result.people
    own = [name for name, m in result.measures.items() if m.per_person]
    assert own
    for name in own:
        m, column = result.measures[name], result.people[name].to_numpy(dtype=float)
        assert m.value == pytest.approx(column.mean(), rel=1e-12), name


def assert_it_is_read_back(frame, folder):
    """Equal in values, kinds and whose they are, from Parquet and from CSV."""
    frame.to_parquet(folder / "p.parquet")
    frame.to_csv(folder / "p.csv")
    again = pd.read_parquet(folder / "p.parquet")
    texts = pd.read_csv(folder / "p.csv", index_col=0, dtype=frame.dtypes.to_dict())
    for read in (again, texts):
        pd.testing.assert_frame_equal(read, frame, check_index_type=False, rtol=1e-12, atol=0)
    assert again.equals(frame)  # which tells a tuple from an array, as the other does not


def test_the_people_of_a_result_are_read_back_as_they_were(result, tmp_path):
    assert_it_is_read_back(result.people, tmp_path)


@pytest.mark.parametrize("more", [{}, {"empty": True}, {"individuals": [9, 2, 5]},
                                  {"known": {"a, b": 0.5}}])  # fmt: skip
@pytest.mark.parametrize("values", ["several", "one"])
@pytest.mark.parametrize("ids", [True, False])
def test_the_people_of_a_disclosure_are_read_back_whatever_it_is_of(values, ids, more, tmp_path):
    rng = np.random.default_rng(6)
    rows = {"who": [f"p{i}" for i in range(60)], "a, b": rng.integers(0, 4, 60),
            "c": rng.integers(0, 3, 60), "d": rng.integers(0, 3, 60).astype(float)}  # fmt: skip
    rows["d"] = np.where(rng.random(60) < 0.2, np.nan, rows["d"] if values == "several" else 1)
    rows["d"][[9, 2, 5]] = 1
    table = rb.read_table(
        pd.DataFrame(rows if ids else {n: v for n, v in rows.items() if n != "who"}),
        quasi_identifiers=["a, b", "c"], sensitive=["d"], subject_id="who" if ids else None,
    )  # fmt: skip
    found = rb.disclosure(table, "d", **more)
    assert_it_is_read_back(found.people, tmp_path)
    assert found.people["poac_min"].isna().all() == (values == "one")
    said = {(): "nothing", ("a, b",): '"a, b"', ("c",): "c", ("a, b", "c"): '"a, b",c'}
    assert found.people["weakest_subset"].tolist() == [said[s] for s in found.weakest_subset]


def of_each(found, count):
    """Everything that a result shows with an entry for each person, by its name."""
    shown = {}
    for name in {*dir(type(found)), *vars(found)} - {"table", "asked_of", "starts"}:
        if name.startswith("_") or name in ("report", "plot", "page", "explain", "check"):
            continue
        try:
            value = getattr(found, name)
            value = value() if callable(value) else value
        except (TypeError, rb.UsageError):  # which takes more words, or is not for this one
            continue
        for place, part in enumerate(value if isinstance(value, tuple) else (value,)):
            if isinstance(part, np.ndarray | pd.DataFrame | pd.Series) and len(part) == count:
                shown[name, place] = np.asarray(part)
    return shown


@pytest.mark.parametrize("kind", [*MADE, "chances"])
def test_row_i_of_all_that_is_said_of_each_person_is_that_of_person_i(kind):
    """The same people in another order: every array, frame and method goes with them."""
    order = np.random.default_rng(5).permutation(PEOPLE)
    each = np.random.default_rng(2).choice([0.1, 0.5, 1], PEOPLE)
    one, two = (
        rb.candidates(table, people().take(range(157))) if kind == "Candidates"
        else rb.disclosure(table, "diagnosis", known={"age": ("age", chance), "sex": 0.3})
        if kind == "chances" else MADE[kind](table)
        for table, chance in ((people(), each), (people().take(order), each[order]))
    )  # fmt: skip
    assert two.people.index.tolist() == one.people.index[order].tolist()
    said, moved = of_each(one, PEOPLE), of_each(two, PEOPLE)
    assert said.keys() == moved.keys() >= {("people", 0)}
    for what, values in said.items():
        pd.testing.assert_frame_equal(
            pd.DataFrame(moved[what]), pd.DataFrame(values[order]), rtol=0, atol=1e-12
        )


def test_a_result_is_compared_with_one_of_its_kind(result):
    other = made(result.kind, 2)
    with pytest.warns(rb.errors.ReidbnWarning, match="another table"):
        frame = result.compare(other)
    assert frame.loc[:, "difference"].equals(frame["other"] - frame["this"])
    assert (frame["difference"] != 0).any()
    stranger = made("Leak" if result.kind != "Leak" else "Suda")
    with pytest.raises(rb.UsageError, match=f"{result.kind} is compared with another"):
        result.compare(stranger)
    with pytest.raises(rb.UsageError, match="takes a result, not a str"):
        result.compare("another")
    again = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (result.compare(again)["difference"].dropna() == 0).all()


def test_a_result_checks_itself_in_another_way(result):
    options = {"Assessment": {"rows": 20_000}, "Disclosure": {"individuals": 1}}
    assert str(result.check(**options.get(result.kind, {})))


def test_a_result_without_a_page_names_what_has_one(result, tmp_path):
    if not isinstance(result, rb.Assessment):
        with pytest.raises(rb.UsageError, match=r'rb\.load\("[\w-]+"\)\.page') as refused:
            result.page(tmp_path / "p.html")
        model = re.search(r'load\("([\w-]+)"', str(refused.value))[1]
        assert model in ("NAME", *rb.models())
        assert not (tmp_path / "p.html").exists()


@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_a_result_writes_its_report_by_the_ending(result, ending, tmp_path):
    path = result.report(tmp_path / f"r.{ending}")
    text = path.read_text()
    if ending == "json":
        assert json.loads(text)["custodians_own_copy"] is False
        assert len(json.loads(text)["not_looked_at"]) > 1
    else:
        title = text.splitlines()[0] if ending == "md" else re.search("<h1>(.*)</h1>", text)[1]
        assert len(title) > 10
        assert "What this assessment did not look at" in text
    assert "http" not in text.replace("http://www.w3.org", "").replace("<meta http-equiv", "")
    own = result.report(tmp_path / f"own.{ending}", custodian=True).read_text()
    assert own != text
    promised = "does not promise anything against them"
    assert (promised in text, promised in own) == (True, False)


def test_a_report_or_picture_of_another_ending_is_refused(result, tmp_path):
    with pytest.raises(rb.UsageError, match=r"end the name in .html, .md, .json"):
        result.report(tmp_path / "r.txt")
    with pytest.raises(rb.UsageError, match=r"end the name in .svg, .png, .pdf"):
        result.plot(tmp_path / "r.html")


def beyond_the_edge(figure):
    """Texts that do not fit the picture; of numbers along an axis those of its own range alone."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    ticks = {label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)
             for label in axis.get_ticklabels(which="both")}  # fmt: skip
    every = [
        text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()
    ]
    boxes = [(text.get_text(), text.get_window_extent()) for text in every if text not in ticks]
    return [said for said, box in boxes
            if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1]  # fmt: skip


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_result_draws_itself_with_a_title_and_the_same_bytes(result, ending, tmp_path):
    first = tmp_path / f"first.{ending}"
    figure = result.plot(first)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert any(titles) or figure.get_suptitle()
    assert not beyond_the_edge(figure)
    assert all(axes.get_xlabel() for axes in figure.axes)
    result.plot(tmp_path / f"again.{ending}")
    assert first.read_bytes() == (tmp_path / f"again.{ending}").read_bytes()


def numbers_in(text):
    """Every number of three figures and more that a reader sees; places in pictures are not."""
    text = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    seen = re.sub(r"<[^>]*>", " ", text)
    return set(re.findall(r"(?<![\w.#-])\d[\d,]*(?:\.\d+)?", seen))


def test_no_exact_count_leaves_the_house(result, tmp_path):
    seen = numbers_in(result.report(tmp_path / "r.html").read_text())
    seen |= numbers_in(result.plot(tmp_path / "r.svg") and (tmp_path / "r.svg").read_text())
    told = json.loads(result.report(tmp_path / "r.json").read_text())
    seen |= numbers_in(json.dumps({k: v for k, v in told.items() if k != "provenance"}))
    for name, m in result.measures.items():
        if m.told in ("withheld", "count") and m.value is not None and m.value > 100:
            exact = {f"{m.value:,}", f"{m.value}"}
            assert m.value % 10 == 0 or not exact & seen, name
        if m.told in ("mean", "ratio", "scaled", "total") and m.value not in (0, 1, None):
            assert f"{m.value:.6g}" not in {s.replace(",", "")[:8] for s in seen}, name
    assert not {f"{PEOPLE}", "157"} & seen


def test_a_measure_without_a_word_stays_in_the_house(result):
    told = result._numbers()["measures"]
    assert "new" not in told
    held = {name for name, m in result.measures.items() if m.told == "withheld"}
    assert not held & set(told)


@dataclass(frozen=True, eq=False)
class Linked(Result):
    """A result that brings its fields and three methods, as a new attack would."""

    table: rb.People
    chance: np.ndarray

    def _measures(self):
        return {
            "people": count_of(len(self.table), "people"),
            "chance": mean_of(self.chance, "chance", per_person=True),
            "secret": Measure(12.5, unit="people", words="told to nobody"),
        }

    def _people(self):
        return pd.DataFrame({"chance": self.chance})

    def _sections(self, telling):
        share = telling.mean_ends(self.chance)[1]
        picture = bars(["all"], [share], [f"{share:g}"], "chance", "Linked")
        rows = [["all", f"{share:g}"]]
        return [Section("Linked people", ["A sentence."], shown=[Shown("x", "ab", rows, picture)])]


def test_a_new_result_needs_its_fields_and_three_methods(tmp_path):
    found = Linked(people(), np.linspace(0, 1, PEOPLE))
    assert found.kind == "Linked"
    assert "told to nobody" in str(found)
    page = found.report(tmp_path / "r.html").read_text()
    assert "A sentence." in page
    assert "told to nobody" not in page
    assert "told to nobody" in found.report(tmp_path / "own.html", custodian=True).read_text()
    assert found.plot(tmp_path / "r.svg").axes
    assert found.compare(found)["difference"].eq(0).all()
    with pytest.raises(rb.UsageError, match="has no cross-check"):
        found.check()


def test_an_estimate_of_counts_has_no_persons_and_says_so(tmp_path):
    fit = rb.population.fit(sizes=[1, 2, 3, 9], counts=[812, 150, 60, 9], population=100_000)
    assert fit.table is None
    with pytest.raises(rb.UsageError, match="without persons; give a table of people"):
        fit.people  # noqa: B018
    assert "81" in fit.report(tmp_path / "r.md").read_text()


@pytest.mark.parametrize("approximation", ["drop", "finest-common-level"])
def test_whom_an_approximation_leaves_out_has_no_number(approximation):
    rows = {"age": [1, None, 2, 2, 3, None], "sex": ["f", "f", "m", "m", "f", "m"]}
    table = rb.read_table(
        pd.DataFrame(rows), quasi_identifiers=["age", "sex"], missing="matches-anything"
    )
    fit = rb.population.fit(table, population=1000, approximation=approximation)
    assert len(fit.people) == 6
    missing = fit.people["class_size"].isna()
    assert missing.tolist() == [False, approximation == "drop", False, False, False,
                                approximation == "drop"]  # fmt: skip


@pytest.mark.parametrize("model", ["pitman", "log-linear", "snb", "zayatz", "dankar"])
def test_persons_add_up_to_the_estimate(model):
    fit = rb.population.fit(people(), population=5_000, model=model)
    unique = fit.people["class_size"] == 1
    assert unique.sum() == fit.uniques
    assert fit.people["p_unique"][unique].mean() == pytest.approx(fit.p_unique, rel=1e-9)
    assert (fit.people["p_unique"][~unique] == 0).all()


def test_persons_of_strata_have_their_own_stratums_chance():
    sizes = {0: 40_000, 1: 900}
    table = people()
    fit = rb.population.fit(table, population=sizes, strata="sex", model="pitman-bayes")
    sex = table.codes(["sex"])[:, 0]
    alone = (fit.people["class_size"] == 1).to_numpy()
    for code, part in fit.parts.items():
        own = fit.people["p_unique"][alone & (sex == code)]
        assert own.nunique() == 1
        assert own.iloc[0] == pytest.approx(part.p_unique, rel=1e-12)


def test_a_leak_is_acted_out_whatever_is_known():
    each = np.linspace(0, 1, PEOPLE)
    knows = {"age": ("age", 0.3), "both": (["sex", "race"], each)}
    for known in (None, knows, "social-media", "who-is-attacking"):
        found = rb.leak.assess(people(), leaked={40: 0.5, 90: 0.5}, known=known,
                               sensitive="diagnosis", sensitive_known=0.5)  # fmt: skip
        assert found.check(seed=3).cell.verdict == "agrees"  # false alarm 1e-6
        wrong = rb.leak.assess(people(), leaked={40: 0.5, 90: 0.5}, known=known)
        object.__setattr__(wrong, "risk", wrong.risk * 1.3)
        with pytest.raises(rb.CrosscheckFailed, match="acted out"):
            wrong.check(seed=3)


def test_planted_slips_in_minimal_uniques_and_candidates_are_found():
    found = made("Suda")
    from dataclasses import replace

    slipped = replace(found, masks=np.where(found.masks == found.masks[0], 0b111, found.masks))
    with pytest.raises(rb.CrosscheckFailed, match="minimal uniques"):
        slipped.check(individuals=PEOPLE)
    pairs = made("Candidates")
    records, persons = pairs.links
    with pytest.raises(rb.CrosscheckFailed, match="one by one"):
        replace(pairs, links=(records[1:], persons[1:])).check(individuals=157)


@pytest.mark.parametrize("kind", [k for k in MADE if k != "Assessment"])
def test_one_person_less_hardly_ever_shows_in_what_is_told(kind):
    """Each number moves by a step at most, and for few people; the exact ones move for many."""
    told, exact = {}, {}
    for left_out in range(0, PEOPLE, 10):
        table = people().take([i for i in range(PEOPLE) if i != left_out])
        found = rb.candidates(table, people()) if kind == "Candidates" else MADE[kind](table)
        for name, m in found._numbers()["measures"].items():
            ends = m.get("at_least"), m.get("at_most")
            told.setdefault(name, set()).add((m["value"], *ends, *(m["interval"] or ())))
        for name, m in found.measures.items():
            exact.setdefault(name, set()).add(m.value)
    assert max(map(len, exact.values())) >= 2 + (kind != "Neighbourhood")  # shares of a few records
    steps = {"mean_ppp_min": 3}  # it follows from several counts on the page, each of which steps
    assert {n: len(v) for n, v in told.items() if len(v) > steps.get(n, 2)} == {}


def test_the_loop_over_five_results_runs_as_it_is_written(tmp_path):
    known = {"age": ("age", 0.01), "sex": (["sex"], 0.5), "race": 0.3}
    r = rb.assess("adversary-routes", people(), known=known, population=100_000)
    r.keep_crosscheck(draws=2_000)
    results = (
        r,
        rb.disclosure(people(), "diagnosis"),
        rb.leak.assess(people(), leaked=200),
        rb.population.fit(people(), population=100_000),
        rb.suda(people()),
    )
    for result in results:
        assert result.measures
        assert len(result.people) == PEOPLE
        assert len(result.frame()) == len(result.measures)
        assert result.to_dict()
        assert result.report(tmp_path / "r.html").exists()
        assert result.plot(tmp_path / "r.svg").axes
        assert result.plot(tmp_path / "own.svg", custodian=True).axes
        assert str(result)


def test_under_chances_a_picture_draws_the_means_that_are_told_and_nothing_else(tmp_path):
    known = {"age": ("age", 0.01), "sex": (["sex"], 0.5), "race": 0.3}
    r = rb.assess("adversary-routes", people(), known=known, population=100_000)
    [axes] = r.plot(tmp_path / "r.svg").axes
    words = [text.get_text() for text in axes.texts]
    r.keep_crosscheck(draws=2_000)
    page = r.report(tmp_path / "r.md").read_text()
    for name, said in zip((t.get_text() for t in axes.get_yticklabels()), words, strict=True):
        assert f"| {name} | {said} |" in page
    drawn = [end for bar in axes.patches for end in (bar.get_x(), bar.get_x() + bar.get_width())]
    told = [0.0, *(end for row in r.measures for end in mean_in_steps(r.risk(row)))]
    assert {round(end, 9) for end in drawn} <= {round(end, 9) for end in told}
    few = rb.assess("adversary-routes", people().take(np.arange(60)), known=known, population=9_000)
    with pytest.raises(rb.UsageError, match=r"nothing to draw.*custodian=True"):
        few.plot(tmp_path / "r.svg")


def test_a_page_counts_by_the_columns_of_a_group_and_not_by_its_name(tmp_path):
    """A group called otherwise than its column stopped the page; a swapped name would miscount."""
    pages = []
    for known in ({"age": 0.5, "race": 0.5}, {"home": ("age", 0.5), "sex": ("race", 0.5)}):
        found = rb.leak.assess(people(), leaked=50, known=known)
        told = json.loads(found.report(tmp_path / "r.json").read_text())
        pages.append(told["measures"])
    assert pages[0] == pages[1]
