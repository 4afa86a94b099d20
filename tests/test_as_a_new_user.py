"""What new users met when they did what the pages say: each a sentence, each once red."""

from __future__ import annotations

import pytest

import reidbn as rb
from reidbn.cli import WHOLE, main, number
from reidbn.report import threshold

pytestmark = pytest.mark.wide  # tried in CI


def typed(capsys, *words):
    """Exit code and what was printed, of a command as typed in a shell."""
    with pytest.raises(SystemExit) as done:
        main(list(words))
    said = capsys.readouterr()
    return done.value.code or 0, said.out, said.err


def csv_of(folder, name, *lines):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def assessed(cells, missing="value", **options):
    people = rb.read_table(cells, quasi_identifiers=list(cells), missing=missing, **options)
    return rb.assess("prosecutor", people)


# -- who is alike ----------------------------------------------------------------------------------


def test_people_without_an_age_do_not_make_the_only_one_with_an_age_eleven_alike():
    result = assessed({"age": ["25"] + [None] * 11, "sex": ["F"] * 12}, "matches-anything")
    summary = result.summary("ema")
    assert not summary.passes
    assert summary.judged.unique == 1
    assert "written alike" in str(summary)
    assert any("written alike" in note for note in summary.to_dict()["notes_on_the_rule"])


def test_where_both_counts_say_the_same_the_rule_says_it_once():
    alike = assessed({"age": ["25"] * 11 + [None] * 11, "sex": ["F"] * 11 + ["M"] * 11},
                     "matches-anything")  # fmt: skip
    (note,) = (n for n in alike.summary("ema").to_dict()["notes_on_the_rule"] if "alike" in n)
    assert note.endswith("the highest 1/class is 0.0909 (about 1 in 11) either way.")
    apart = assessed({"age": ["25"] + [None] * 11}, "matches-anything")
    (note,) = (n for n in apart.summary("ema").to_dict()["notes_on_the_rule"] if "alike" in n)
    assert note.endswith("it is 1 (certain), where only rows that are written alike count.")


def test_somebody_whose_only_row_has_no_age_is_not_alike_to_everybody():
    result = assessed({"age": [None] + ["20"] * 11}, "matches-anything")
    assert not result.summary("ema").passes
    assert not result.summary(release="controlled").passes


def test_a_band_beside_exact_values_hides_none_of_them():
    cells = {"age": ["52"] + ["50-59"] * 11}
    result = assessed(cells, hierarchies={"age": rb.Bands(10)})
    assert result.inputs.people.class_sizes().min() == 12
    assert not result.summary("ema").passes


def test_what_would_flip_the_verdict_counts_as_the_verdict_does(tmp_path):
    result = assessed({"age": ["25"] + [None] * 11, "sex": ["F"] * 12}, "matches-anything")
    result.keep_crosscheck(draws=2_000)
    path = result.to_markdown(tmp_path / "r.md", threshold="ema", custodian=True)
    rows = path.read_text(encoding="utf-8")
    assert "1 of 12 people (8.3 %) left out | passes | yes" in rows
    assert "| 1 | 1 |" in rows


def test_a_report_on_a_table_whose_gaps_match_anything_is_written(tmp_path, capsys):
    table = csv_of(tmp_path, "t.csv", "age,sex", "25,F", *[",F"] * 11)
    path = tmp_path / "r.html"
    code, out, err = typed(
        capsys, "assess", table, "--qi", "age,sex", "--population", "10000", "--threshold", "ema",
        "--missing", "matches-anything", "--rows", "2000", "--html", str(path),
    )  # fmt: skip
    assert code == 1
    assert "match others" not in err
    assert "Does not pass" in out
    page = path.read_text(encoding="utf-8")
    assert "Not acted out" in page
    assert "written alike" in page


def test_classes_of_a_table_without_gaps_are_judged_as_before():
    assert assessed({"age": ["25"] * 11}, "matches-anything").summary("ema").passes


def test_one_band_of_decimals_is_written_in_one_way():
    cells = {"weight": [69.5, 70.0, 79.9, 80.1, 70.2]}
    people = rb.read_table(cells, quasi_identifiers="weight", hierarchies={"weight": rb.Bands(10)})
    bands = people.generalise({"weight": 1})
    assert bands.is_partition
    assert set(bands.labels("weight")) == {"[60, 70)", "[70, 80)", "[80, 90)"}
    assert bands.class_sizes().tolist() == [1, 3, 3, 1, 3]
    assert bands.as_written().class_sizes().tolist() == [1, 3, 3, 1, 3]


def test_a_decimal_comma_in_a_frame_is_named():
    with pytest.raises(rb.DataError, match="write decimals with a point"):
        rb.read_table(
            {"w": ["69,5", "70,0"]}, quasi_identifiers="w", hierarchies={"w": rb.Bands(10)}
        )


# -- numbers as other countries write them ---------------------------------------------------------


@pytest.mark.parametrize("text", ["300.000", "4.000", "1.000"])
def test_a_point_before_three_noughts_may_mean_thousands_and_is_asked_about(text):
    with pytest.raises(rb.UsageError, match=f"may be .*write .* or {text.replace('.', '')}"):
        number(text, "--population")


def test_several_points_are_thousands_and_the_remedy_says_how_to_write_them():
    with pytest.raises(rb.UsageError, match="write 8000000 or 8,000,000"):
        number("8.000.000", "--population")
    with pytest.raises(rb.UsageError, match="write 4500"):
        WHOLE.convert("4.500", None, None)
    assert number("0.125", "p") == 0.125
    assert number("2.500", "p") == 2.5


def test_four_thousand_leaked_records_are_not_read_as_four(capsys):
    code, out, err = typed(
        capsys, "leak", "--records", "14000", "--class-size", "5", "--leaked", "4.000",
        "--fail-above", "ema",
    )  # fmt: skip
    assert code == 2
    assert "write 4 or 4000" in err
    assert not out


def test_a_population_of_many_thousands_is_not_read_as_a_few_hundred(tmp_path, capsys):
    table = csv_of(tmp_path, "t.csv", "age", *["30"] * 20)
    code, _, err = typed(capsys, "assess", table, "--qi", "age", "--population", "300.500")
    assert code == 2
    assert "write 300500" in err


@pytest.mark.parametrize(("given", "k"), [(11, 11), (3, 3), (7, 7), (5, 5)])
def test_people_alike_given_as_a_threshold_get_a_number_that_asks_for_them(given, k):
    with pytest.raises(rb.UsageError, match="people alike as 0") as caught:
        threshold(given)
    written = str(caught.value).split("people alike as ")[1].split(",")[0]
    assert threshold(written).k == k


# -- a rule is about everybody ---------------------------------------------------------------------


def test_a_sample_of_the_people_passes_no_rule(tmp_path, capsys):
    table = csv_of(tmp_path, "t.csv", "age", *["30"] * 60, "99")
    words = ("assess", table, "--qi", "age", "--attack", "prosecutor", "--individuals", "5")
    for rule in (["--threshold", "ema"], ["--threshold", "overall=0.2"]):
        code, out, err = typed(capsys, *words, *rule)
        assert code == 2
        assert "--threshold is about everybody" in err
        assert not out
    code, out, _ = typed(capsys, *words, "--rows", "2000")
    assert code == 0
    assert "; no rule is judged" in out


# -- remedies that can be typed --------------------------------------------------------------------


def test_columns_under_names_of_another_language_get_the_mapping(tmp_path, capsys):
    table = csv_of(tmp_path, "t.csv", "Geschlecht", *["m", "w"] * 20)
    words = ["assess", table, "--qi", "Geschlecht", "--scenario", "social-media",
             "--attack", "prosecutor", "--rows", "2000"]  # fmt: skip
    code, _, err = typed(capsys, *words)
    assert code == 2
    assert "--column sex=your_column" in err
    assert "--scenario register:FILE.csv" in err
    code, out, _ = typed(capsys, *words, "--column", "sex=Geschlecht")
    assert code == 0
    assert "Does not pass" in out or "Passes" in out


def test_a_mapping_to_a_column_that_is_not_there_is_refused_not_left_out(tmp_path, capsys):
    table = csv_of(tmp_path, "t.csv", "Geschlecht,age", *["m,30", "w,40"] * 20)
    words = ["assess", table, "--qi", "Geschlecht,age", "--scenario", "social-media",
             "--attack", "prosecutor", "--rows", "2000"]  # fmt: skip
    code, _, err = typed(capsys, *words, "--column", "sex=Geschlecht", "--column", "race=Geschlcht")
    assert code == 2
    assert 'did you mean "Geschlecht"?' in err
    code, _, _ = typed(capsys, *words, "--column", "sex=Geschlecht,age_decade=age")
    assert code == 0


def test_a_number_below_nothing_and_a_folder_are_named_as_they_were_typed(tmp_path, capsys):
    table = csv_of(tmp_path, "t.csv", "age", *["30"] * 20)
    words = ["assess", table, "--qi", "age", "--rows", "2000"]
    code, _, err = typed(capsys, *words, "--population", "-5")
    assert code == 2
    assert "--population -5" in err
    missing = str(tmp_path / "none" / "r.html")
    code, _, err = typed(capsys, *words, "--population", "900", "--html", missing)
    assert code == 2
    assert missing in err


def test_a_register_made_by_excel_abroad_is_the_same_as_one_with_commas(tmp_path):
    plain = csv_of(
        tmp_path, "plain.csv", "# Kanton, 2024", "Ort,Alter from,listed,shows Alter",
        "Zürich,0,0.2,1", "Zürich,18,0.97,0.5",
    )  # fmt: skip
    excel = tmp_path / "excel.csv"
    lines = ['"# Kanton, 2024";;;', "Ort;Alter from;listed;shows Alter", "Zürich;0;0,2;1",
             "Zürich;18;0,97;0,500", ";;;"]  # fmt: skip
    for start in ("", "sep=;\r\n"):
        excel.write_text(start + "\r\n".join(lines), encoding="utf-8-sig")
        own, other = rb.register(plain), rb.register(str(excel))
        assert own.source == other.source == "Kanton, 2024"
        cells = {"Ort": ["Zürich"] * 4, "Alter": [10, 10, 40, 50]}
        people = rb.read_table(cells, quasi_identifiers=["Ort", "Alter"])
        risks = [
            rb.assess("prosecutor", people, scenario=s, unknown=["Ort"]).risk().tolist()
            for s in (own, other)
        ]
        assert risks[0] == risks[1]
        assert risks[0][0] == 0
        assert risks[0][2] == pytest.approx(0.97 * 0.5 * 0.25)  # p_m and p_fm are one half


def test_the_option_for_values_beyond_a_range_is_named_once(capsys):
    code, _, err = typed(capsys, "ask", "breakfast", "--set", "alike=50")
    assert code == 2
    assert err.count("--beyond-range") == 1


def test_a_model_without_its_ending_is_found_by_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert typed(capsys, "new", "mine")[0] == 0
    code, _, err = typed(capsys, "ask", "mine")
    assert code == 2
    assert 'did you mean the file "mine.yaml"?' in err


def test_a_class_size_under_another_name_gets_the_name_that_a_table_fills_in(tmp_path, capsys):
    model = tmp_path / "mine.yaml"
    assert typed(capsys, "new", "mine", "-o", str(model))[0] == 0
    text = model.read_text(encoding="utf-8")
    model.write_text(text.replace("class_size", "klasse"), encoding="utf-8")
    table = csv_of(tmp_path, "t.csv", "age,sex", *["30,f", "40,m"] * 12)
    words = ["assess", table, "--qi", "age,sex", "--attack", str(model), "--rows", "2000"]
    code, _, err = typed(capsys, *words)
    assert code == 2
    assert "call it class_size" in err
    assert "subject={" not in err
    model.write_text(text, encoding="utf-8")
    assert typed(capsys, *words)[0] == 0


def test_a_file_of_an_old_excel_is_refused_with_a_way_out(tmp_path, capsys):
    path = tmp_path / "orte.csv"
    path.write_bytes("Ort;Jahr\nZürich;1970\nKöln;1971\n".encode("cp1252"))
    code, _, err = typed(capsys, "classes", str(path), "--qi", "Ort")
    assert code == 2
    assert "CSV UTF-8" in err
    assert "Zürich" not in err
