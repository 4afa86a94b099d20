"""Pictures and pages of attribute disclosure, and the command that makes them."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner

import reidbn as rb
from reidbn.cli.disclosure import disclosure as command
from reidbn.errors import UsageError
from reidbn.microdata.table import People
from reidbn.report import disclosure_figures as figures
from reidbn.report.disclosure_page import disclosure_page, verdict


def people_like(seed, rows=150):
    generator = np.random.default_rng(seed)
    age, job = generator.integers(20, 40, rows), generator.integers(0, 4, rows)
    sick = np.where(generator.random(rows) < 0.7, age % 3, generator.integers(0, 3, rows))
    source = {
        "age": age.tolist(),
        "job": [f"trade{j}" for j in job],
        "diagnosis": [f"condition{s}" for s in sick],
    }
    return rb.read_table(source, quasi_identifiers=["age", "job"], sensitive=["diagnosis"])


# The colours


@pytest.mark.parametrize("p", [0.0, 0.05, 0.5])
def test_dark_red_is_at_or_below_the_threshold_and_nothing_else(p):
    just_above = np.nextafter(p, 1)
    bands = figures.band_of(np.array([0.0, p, just_above, 1.0]), p)
    assert bands.tolist() == [0, 0, 1, 5]


def pixels(figure):
    """The colours of the map inside the axes."""
    image = figure.axes[0].get_images()[0]
    return image.get_array(), image


def test_few_people_keep_one_order_in_all_rows_and_many_become_quantiles():
    people = people_like(1)
    found = rb.disclosure_all(people)
    drawn, image = pixels(figures.heat_map(found))
    rows = figures.map_rows(found)
    order = figures.people_order(list(rows.values()), 0.0)
    told = np.stack([figures.band_of(ppp[order], 0.0) for ppp in rows.values()])
    assert np.array_equal(drawn, told)
    red = image.cmap(image.norm(0))
    assert red[:3] == pytest.approx((0x7F / 255, 0, 0), abs=1e-6)
    many = People.from_codes(np.tile(people.codes(people.columns), (10, 1)), people.columns)
    strips, _ = pixels(figures.heat_map(rb.disclosure_all(many)))
    assert strips.shape == (3, figures.ONE_BY_ONE)
    assert (np.diff(np.asarray(strips), axis=1) >= 0).all()
    shares = (np.asarray(strips) == 0).mean(axis=1)
    exact = [(d.ppp_min == 0).mean() for d in rb.disclosure_all(many).values()]
    assert np.abs(shares - exact).max() <= 1 / figures.ONE_BY_ONE


def test_the_numbers_under_a_map_are_the_shares_of_the_bands():
    found = rb.disclosure_all(people_like(2))
    table = figures.band_table(figures.map_rows(found), 0.0)
    assert np.allclose(table.iloc[:, :6].sum(axis=1), 1)
    for name, d in found.items():
        assert table.loc[name].iloc[0] == (d.ppp_min == 0).mean()
        assert table.loc[name, "mean PPP"] == d.ppp_min.mean()


def test_an_example_shows_every_number_and_refuses_a_crowd():
    table = {"diagnosis": ["a", "a", "b"], "sex": ["f", "m", "f"], "age": [30, 30, 30]}
    found = rb.disclosure_all(rb.read_table(table, quasi_identifiers=list(table)))
    figure = figures.example_map(found)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert len(texts) == 2 * 3 * 3
    assert texts.count("undefined") == 3  # PoAC of the age, which is the same for all
    with pytest.raises(UsageError, match="at most 30"):
        figures.example_map(rb.disclosure_all(people_like(3)))


def test_the_worst_subset_of_each_size_is_the_one_with_most_people():
    d = rb.disclosure(people_like(4), "diagnosis")
    every, worst = d.breaks(), figures.worst_subsets(d)
    assert worst["size"].tolist() == [1, 2]
    for size, broken in zip(worst["size"], worst["broken"], strict=True):
        assert broken == every.loc[every["size"] == size, "broken"].max()


def test_figures_are_the_same_bytes_every_time(tmp_path):
    people = people_like(5)

    def draw(folder):
        folder.mkdir()
        found, d = rb.disclosure_all(people), rb.disclosure(people, "diagnosis")
        best = rb.best_generalisation(people, "age", sensitive="diagnosis", smallest=1)
        paper = rb.equal_width_search(people, "age", "diagnosis")
        figures.heat_map(found, path=folder / "map.svg")
        figures.leave_one_out_map(d, path=folder / "left.svg")
        figures.leave_one_out_map(d, reading="weakest", path=folder / "least.svg")
        figures.worst_subsets_bars(d, path=folder / "worst.svg")
        figures.generalisation_curve(best, paper, path=folder / "curve.svg")
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    first, second = draw(tmp_path / "one"), draw(tmp_path / "two")
    assert first == second
    assert len(first) == 5


# The page


class Outline(HTMLParser):
    """What a page is made of: tags in order, ids, outside addresses."""

    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.headings, self.links, self.open = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        self.links += [v for k, v in attrs if k in ("src", "href", "xlink:href") and v]


@pytest.fixture(scope="module")
def page():
    people = people_like(6)
    d = rb.disclosure(people, "diagnosis", q="joint", p=0.1, knowledge={"age": 0.5})
    best = rb.best_generalisation(people, "age", sensitive="diagnosis", smallest=1)
    return disclosure_page(
        d,
        every=rb.disclosure_all(people),
        generalisations=[(best, rb.equal_width_search(people, "age", "diagnosis"))],
    )


def test_the_page_needs_nothing_from_outside_and_names_every_part_once(page):
    outline = Outline()
    outline.feed(page)
    assert all(link.startswith(("#", "data:image/png")) for link in outline.links)
    assert "<script" not in page
    assert "@import" not in page
    assert len(set(outline.ids)) == len(outline.ids)
    targets = {link[1:] for link in outline.links if link.startswith("#")}
    assert targets <= set(outline.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(outline.ids)
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    assert (np.diff(outline.headings) <= 1).all()


def test_under_every_figure_lies_a_table(page):
    parts = re.split(r"<figure>", page)[1:]
    assert len(parts) == 6
    for part in parts:
        after = part[part.index("</figure>") :]
        assert re.match(r"</figure>\s*<div[^>]*>\s*<table>", after)
        assert "The numbers of this figure" in after


def test_the_page_shows_no_persons_values(page):
    assert "condition0" not in page
    assert "trade1" not in page


def test_the_same_question_gives_the_same_page(tmp_path):
    people = people_like(7)
    texts = [
        disclosure_page(rb.disclosure(people, "diagnosis"), tmp_path / f"{i}.html")
        for i in range(2)
    ]
    assert texts[0] == texts[1] == (tmp_path / "0.html").read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        disclosure_page(rb.disclosure(people, "diagnosis"), tmp_path / "none" / "x.html")


def test_the_verdict_counts_what_the_result_counts():
    d = rb.disclosure(people_like(8), "diagnosis", p=0.2)
    first, second, *_ = verdict(d)
    assert first.startswith(f"{int(d.upward().sum()):,} of 150 people")
    assert f"sure about {int((d.npp_full == 0).sum()):,} of 150" in second
    constant = rb.disclosure(People.from_codes([[0, 0], [1, 0]], ["age", "sick"]), "sick")
    assert "known of all of them" in verdict(constant)[0]
    assert "undefined" in disclosure_page(constant)


# The command


@pytest.fixture
def table(tmp_path):
    people = people_like(9)
    path = tmp_path / "people.csv"
    lines = ["age,job,diagnosis"]
    columns = [people.labels(c)[people.codes([c])[:, 0]] for c in people.columns]
    lines += [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path, people


def run(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


def test_the_command_says_what_the_function_finds(table, tmp_path):
    path, people = table
    ask = (path, "--qi", "age,job", "--sensitive", "diagnosis")
    d = rb.disclosure(people, "diagnosis", p=0.1, q=0.05, knowledge={"age": 0.5})
    done = run(*ask, "--json", "--p", "0.1", "--q", "0.05", "--knowledge", "age=0.5")
    assert done.exit_code == 0, done.output
    (told,) = json.loads(done.stdout)["secrets"]
    assert told["share_upward"] == d.share_upward()
    assert told["share_downward"] == d.share_downward()
    assert told["expected_ppp"] == pytest.approx(d.expected_ppp.mean(), abs=1e-12)
    page, out = tmp_path / "page.html", tmp_path / "people.parquet"
    done = run(*ask, "--html", page, "--out", out, "--generalise", "age")
    assert done.exit_code == 0, done.output
    assert "150 people" in done.stdout
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    import pandas as pd

    written = pd.read_parquet(out)
    assert np.array_equal(written["ppp_min"], rb.disclosure(people, "diagnosis").ppp_min)


def test_every_column_in_turn_and_the_gate(table):
    path, people = table
    done = run(path, "--qi", "age,job,diagnosis", "--all", "--json", "--fail-above", "0")
    assert done.exit_code == 1
    told = {secret["secret"]: secret for secret in json.loads(done.stdout)["secrets"]}
    every = rb.disclosure_all(people)
    assert {name: d.share_upward() for name, d in every.items()} == {
        name: secret["share_upward"] for name, secret in told.items()
    }


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ([], "--sensitive"),
        (["--sensitive", "diagnosis", "--q", "much"], "not a number"),
        (["--sensitive", "diagnosis", "--knowledge", "age"], "COLUMN=NUMBER"),
        (["--sensitive", "diagnosis", "--tolerance", "job=1"], "holds text"),
        (["--all", "--within", "1"], "one secret"),
    ],
)
def test_bad_options_say_what_would_be_right(table, extra, says):
    path, _ = table
    done = run(path, "--qi", "age,job", *extra)
    assert isinstance(done.exception, UsageError)
    assert says in str(done.exception)
