"""Hierarchies that are proposed: what is seen in the values, and nothing that a ladder refuses."""

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from inside import inside

import reidbn as rb

N = 400
RNG = np.random.default_rng(3)
MADE = {
    "age": (RNG.integers(18, 90, N), lambda v, up: up[1] == f"{v // 5 * 5}-{v // 5 * 5 + 4}"),
    "born": ([f"19{y:02}-{m:02}-11" for y, m in RNG.integers(1, 12, (N, 2))],
             lambda v, up: up[1:3] == [v[:7], v[:4]]),
    "zip": ([f"{z:05}" for z in RNG.integers(1, 60, N) * 501], lambda v, up: up[1] == v[:4] + "*"),
    "icd": (RNG.choice(["E11.9", "I10", "C50.1", "U07.1", "V01", "D48", "D50.0", "E105"], N),
            lambda v, up: up[1] == v[:3] and all(u[:3] <= v[:3] <= u[-3:] for u in up[2:4])),
    "land": (RNG.choice(["France", "Peru", "Chad", "Iran", "south korea"], N),
             lambda v, up: up[2] == {"F": "Europe", "P": "Americas", "C": "Africa"}.get(
                 v[0], "Asia")),
    "zip_code": (RNG.integers(10_000, 99_999, N),
                 lambda v, up: up[1:4] == [f"{str(v)[:kept]}*" for kept in (4, 3, 2)]),
    "plz": (RNG.integers(1_000, 99_999, N),  # 01067 was read as 1067
            lambda v, up: up[2] == f"{int(v) // 100 * 100}-{int(v) // 100 * 100 + 99}"),
    "income": (np.round(RNG.lognormal(10, 1, N)), lambda v, up: up[1] != up[0]),
    "weight": (np.round(RNG.normal(70, 12, N), 1), lambda v, up: up[1].startswith("[")),
    "town": (np.repeat(list("abcdefgh"), [160, 118, 76, 21, 11, 9, 4, 1]),
             lambda v, up: ((up[1] == "other") == (v in "fgh"))  # fewer than 10 people
             and (up[2] == "other (level 2)") == (v in "efgh")),  # fewer than 20, which is 5 %
    "group": (np.repeat(["<10", "10-19", "20-29", "30-39", "40-49", "50-59", "60+"],
                        [1, 70, 80, 90, 80, 78, 1]),  # the rare ones are far apart
              lambda v, up: up[1] == {"<10": "<=19", "10-19": "<=19", "20-29": "20-39",
                                      "30-39": "20-39"}.get(v, "40+")),
    "risen": (np.repeat(["[0, 2.5)", "[2.5, 5)", "[5, 7.5)", "7.5+"], 100),
              lambda v, up: up[1] == ("5+" if "7.5" in v else "[0, 2.5) to [2.5, 5)")),
    "capped": (np.array([str(a) for a in RNG.integers(18, 85, N - 2)] + ["85+", "<18"]),
               lambda v, up: up[1] == (v if v in ("<18", "85+") else
                                       f"[{max(int(v) // 5 * 5, 18)}, {int(v) // 5 * 5 + 5})")),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_what_is_proposed_follows_from_the_values_and_nests(name):
    values, is_right = MADE[name]
    people = rb.read_table(pd.DataFrame({name: values}), quasi_identifiers=[name])
    ladder = rb.microdata.propose_hierarchies(people)[name]
    labels = people.labels(name).tolist()
    ups = [ladder.all_up(labels, level) for level in range(ladder.levels + 1)]
    for j, value in enumerate(labels):
        assert is_right(value, [up[j] for up in ups]), value
    for fine, coarse in pairwise(ups):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))
    sizes = [len(set(up)) for up in ups]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    people.generalise({name: 1}, hierarchies={name: ladder})  # what a table takes


def test_how_rare_joined_values_are_is_said():
    values = np.repeat(list("abcdefgh"), [160, 118, 76, 21, 11, 9, 4, 1])
    people = rb.read_table(pd.DataFrame({"town": values}), quasi_identifiers=["town"])
    ladder = rb.microdata.propose_hierarchies(people)["town"]
    steps_of = inside(rb.microdata.propose_hierarchies).steps_of
    assert steps_of(people, "town", ladder) == (
        "8 values; level 1 leaves 6 (values of 9 people or fewer -> other), level 2 leaves 5 "
        "(values of 11 people or fewer -> other (level 2)), level 3 none"
    )
    own = rb.microdata.rare_together(people, "town", [5, 0.05])
    assert [own.up("f", level) for level in (1, 2)] == ["f", "other (level 2)"]
    assert [own.up("g", level) for level in (1, 2)] == ["other", "other (level 2)"]
    for wrong in ([0.05, 5], [1.5], [0.0], [1], [], [-3]):
        with pytest.raises(rb.UsageError, match="numbers of people"):
            rb.microdata.rare_together(people, "town", wrong)
    few = rb.read_table(pd.DataFrame({"town": values[::4]}), quasi_identifiers=["town"])
    assert rb.microdata.propose_hierarchies(few)["town"].levels == 2  # 5 % of 100 are fewer than 10


@pytest.mark.parametrize("own", [("other",), ("other", "other values", "(other)", "other (2)")])
def test_joined_values_have_a_name_that_no_value_has(own):
    towns = (
        ["here"] * 9 + ["there"] * 9 + ["a", "b", "c"] + [town for town in own for _ in range(9)]
    )
    people = rb.read_table({"town": towns}, quasi_identifiers=["town"])
    ladder = rb.microdata.rare_together(people, "town", [3, 30])
    joined = {ladder.up(town, 1) for town in "abc"}
    assert len(joined) == 1
    assert not joined & {*towns}
    assert [ladder.up(town, 1) for town in own] == [*own]
    assert {ladder.up(town, 2) for town in towns} & {*towns, *joined} == set()


def test_few_values_and_columns_with_a_hierarchy_are_left_alone():
    frame = pd.DataFrame({"sex": [0, 1] * 20, "age": range(20, 60), "g": ["a", "b", "c", "d"] * 10})
    people = rb.read_table(frame, quasi_identifiers=list(frame), hierarchies={"age": rb.Bands(10)})
    assert rb.microdata.propose_hierarchies(people) == {}
    with pytest.raises(rb.UsageError, match="did you mean"):
        rb.microdata.propose_hierarchies(people, ["agee"])
    with pytest.raises(rb.UsageError, match='or "auto"'):
        rb.recommend(people, target="k=2", hierarchies="automatic")


def test_recommend_takes_proposals_and_says_them(shell):
    frame = rb.datasets.synthetic_patients(600, seed=1)
    people = rb.read_table(frame, quasi_identifiers=["age", "sex", "birth_country"])
    plan = rb.recommend(people, target="k=5", hierarchies="auto", suppress_at_most=0.05)
    assert plan.apply().k() >= 5
    code, said = shell("recommend", "synthetic:600:1", "--qi", "age,sex,birth_country", "--target",
                       "k=5", "--auto", "--suppress-at-most", "5%")  # fmt: skip
    assert code == 0
    assert "proposed for age: " in said
    assert f"left out: {plan.best.suppressed:,} of 600" in said


@pytest.mark.filterwarnings("ignore:.* is one value alone")
@pytest.mark.parametrize("seed", range(12))
def test_a_hierarchy_written_for_arx_and_read_again_makes_the_same_groups(seed, tmp_path):
    rng = np.random.default_rng(seed)
    n = 80
    frame = pd.DataFrame(
        {
            "age": rng.integers(-5, 60, n),
            "zip": rng.integers(10000, 10300, n),
            "land": rng.choice(list("ABCDEFG"), n, p=[0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01]),
        }
    )
    frame["zip"] = frame["zip"].astype(str)
    people = rb.read_table(frame, quasi_identifiers=list(frame))
    micro = rb.microdata
    by, parts = ("quantiles", "width")[seed % 2], ([8, 4, 2], [6, 3], [9])[seed % 3]
    ladders = {
        "age": micro.in_parts(people, "age", parts, by=by),
        "zip": rb.Prefix(4, 3),
        "land": micro.rare_together(people, "land", [0.05, 0.2]),
    }
    for name, ladder in ladders.items():
        path = micro.write_hierarchy(people, name, tmp_path / f"{name}.csv", hierarchy=ladder)
        assert path.stat().st_mode & 0o077 == 0  # as restricted as the table
        again = micro.read_hierarchy(path)
        assert again.levels == ladder.levels
        values = people.labels(name).tolist()
        for level in range(ladder.levels + 1):
            assert [str(v) for v in ladder.all_up(values, level)] == [
                str(v) for v in again.all_up(values, level)
            ]
    for level, most in enumerate(parts, 1):  # by hand: how many parts, in order, and they nest
        coarse = people.generalise({"age": level}, hierarchies=ladders)
        group = coarse.table[:, 0]
        assert len(set(group)) <= most
        lows = [frame.age[group == g].min() for g in set(group)]
        highs = [frame.age[group == g].max() for g in set(group)]
        assert all(h < low for h, low in zip(sorted(highs), sorted(lows)[1:], strict=False))
        if by == "quantiles":  # a part holds its share, but for the values at its two ends
            end = frame.age.value_counts().max()
            assert max(np.bincount(group)) <= n / most + end
        else:
            wide = (frame.age.max() - frame.age.min()) / most
            assert max(h - low for h, low in zip(sorted(highs), sorted(lows), strict=True)) <= wide


def test_the_blocks_of_icd10_nest_and_each_lies_in_its_chapter():
    from reidbn.microdata import icd10_blocks, icd10_chapters

    every, chapters = icd10_blocks(), icd10_chapters()
    assert len(every) == len(set(every)) == 274
    assert len(chapters) == 22
    for first, last in every:
        assert first <= last
        assert sum(low <= first and last <= high for low, high in chapters) == 1
        for low, high in every:  # two of them part, or one holds the other
            assert last < low or high < first or (first <= low and high <= last) or (
                low <= first and last <= high)  # fmt: skip


WHO_2019 = """
I A00-B99, II C00-D48, III D50-D89, IV E00-E90, V F00-F99, VI G00-G99, VII H00-H59, VIII H60-H95,
IX I00-I99, X J00-J99, XI K00-K93, XII L00-L99, XIII M00-M99, XIV N00-N99, XV O00-O99, XVI P00-P96,
XVII Q00-Q99, XVIII R00-R99, XIX S00-T98, XX V01-Y98, XXI Z00-Z99, XXII U00-U85
"""
BORDERS = [tuple(chapter.split()[1].split("-")) for chapter in WHO_2019.split(",")]


def test_every_category_goes_to_its_chapter_of_2019():
    """Also what clinical modifications add; between two chapters, to none."""
    from reidbn.microdata import icd10_chapters

    assert sorted(icd10_chapters()) == sorted(BORDERS)
    own = {"D49": "C00-D48", "K94": "K00-K93", "K95": "K00-K93", "O9A": "O00-O99",
           "V00": "V01-Y98", "Y99": "V01-Y98", "U86": "U00-U85", "U99": "U00-U85"}  # fmt: skip
    codes = [f"{a}{n:02}" for a in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for n in range(100)] + ["O9A"]
    people = rb.read_table({"dx": codes * 2}, quasi_identifiers=["dx"])
    ladder = rb.microdata.by_icd10(people, "dx")
    for code in codes:
        within = [f"{low}-{high}" for low, high in BORDERS if low <= code <= high]
        if code in own or code[0] == "U":
            within = [own.get(code, "U00-U85")]
        assert ladder.up(code, 3) == (within[0] if within else f"{code[0]} (no chapter)")


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("D48.9", ["D48", "D37-D48", "C00-D48"]),
        ("D49.0", ["D49", "C00-D48 (no block)", "C00-D48"]),
        ("K94", ["K94", "K00-K93 (no block)", "K00-K93"]),
        ("C18.0", ["C18", "C15-C26", "C00-D48"]),
        ("C97", ["C97", "C97-C97", "C00-D48"]),
        ("E119", ["E11", "E10-E14", "E00-E90"]),
        ("W10.1", ["W10", "W00-W19", "V01-Y98"]),
        ("T25.2", ["T25", "T20-T25", "S00-T98"]),
        ("U07.1", ["U07", "U00-U49", "U00-U85"]),
        ("e11.9", ["E11", "E10-E14", "E00-E90"]),
        ("c50", ["C50", "C50-C50", "C00-D48"]),
        ("E11.-", ["E11", "E10-E14", "E00-E90"]),
        ("O9A.1", ["O9A", "O00-O99 (no block)", "O00-O99"]),  # of a clinical modification
    ],
)
def test_diagnoses_go_up_by_the_narrowest_block_and_the_chapter(code, steps):
    people = rb.read_table({"dx": [code, "A00", "Z99"]}, quasi_identifiers=["dx"])
    ladder = rb.microdata.by_icd10(people, "dx")
    assert [ladder.up(code, level) for level in (1, 2, 3)] == steps


def test_a_single_rare_value_has_no_group_of_its_own():
    """Nor one with values that nobody has: whoever was left out keeps nobody company."""
    words = ["a"] * 50 + ["b"] * 50 + ["c"] * 15 + ["x", "y"]
    people = rb.read_table({"w": words}, quasi_identifiers=["w"])
    alone = people.take([i for i, w in enumerate(words) if w != "y"])
    assert "y" in alone.labels("w")
    with pytest.raises(rb.errors.DataError, match="has no two values of fewer than 10 people"):
        rb.microdata.rare_together(alone, "w", 10)
    assert "w" not in rb.microdata.propose_hierarchies(alone.take(np.arange(100)))
    with pytest.warns(rb.errors.ReidbnWarning, match="fewer than 5 people is one value alone"):
        ladder = rb.microdata.rare_together(alone, "w", [5, 20])
    assert ladder.levels == 2
    assert [ladder.up(v, 1) for v in "abcx"] == ["a", "b", "other", "other"]


@pytest.mark.parametrize("seed", range(40))
def test_whoever_is_joined_as_rare_is_joined_with_somebody(seed):
    rng = np.random.default_rng([66, seed])
    counts = rng.choice([0, 1, 2, 3, 9, 30, 80], int(rng.integers(2, 9)))
    words = np.repeat([f"v{i}" for i in range(len(counts))], np.maximum(counts, 1))
    people = rb.read_table({"w": words.tolist()}, quasi_identifiers=["w"], allow_direct=True)
    people = people.take(np.flatnonzero(np.isin(words, [f"v{i}" for i in np.flatnonzero(counts)])))
    here = {f"v{i}": int(c) for i, c in enumerate(counts) if c}
    limits = sorted({int(x) for x in rng.integers(2, 60, 3)})
    asked = [x for x in limits if sum(c < x for c in here.values()) > 1]
    if not asked:
        with pytest.raises(rb.errors.DataError, match="no two values"):
            rb.microdata.rare_together(people, "w", limits)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.errors.ReidbnWarning)
        ladder = rb.microdata.rare_together(people, "w", limits)
    for level in range(1, ladder.levels):
        groups = {}
        for value in here:
            groups.setdefault(ladder.up(value, level), []).append(value)
        assert all(len(own) > 1 for name, own in groups.items() if name != own[0])


def test_a_category_beside_its_own_codes_is_a_group_of_all_of_them():
    codes = ["E11", "E11.9", "e11", "e11.0", "I10", "c50.1", "C50"]
    people = rb.read_table({"dx": codes}, quasi_identifiers=["dx"])
    ladder = rb.microdata.propose_hierarchies(people)["dx"]
    assert ladder == rb.microdata.by_icd10(people, "dx")
    assert ladder.all_up(codes, 1) == ["E11.-"] * 4 + ["I10", "C50.-", "C50.-"]
    up = people.generalise({"dx": 1}, hierarchies={"dx": ladder})
    assert sorted(up.class_sizes()) == [1, 2, 2, 4, 4, 4, 4]


def test_countries_go_up_by_the_regions_of_the_united_nations():
    born = ["DE", "deu", "Germany", "UK", "United Kingdom", "Nauru", "Viet Nam", "USA", "Mexico"]
    people = rb.read_table({"born": born}, quasi_identifiers=["born"])
    ladder = rb.microdata.by_region(people, "born")
    parts = [ladder.up(v, 1) for v in born]
    assert parts == ["Western Europe"] * 3 + ["Northern Europe"] * 2 + [
        "Micronesia", "South-eastern Asia", "Northern America", "Central America"]  # fmt: skip
    assert {ladder.up(v, 2) for v in born} == {"Europe", "Oceania", "Asia", "Americas"}
    more = rb.read_table({"born": [*born, "Kosovo"]}, quasi_identifiers=["born"])
    with pytest.raises(rb.errors.DataError, match="1 value of 10 are no country") as said:
        rb.microdata.by_region(more, "born")
    assert '"Kosovo"' not in str(said.value).split("more=")[0]
    with pytest.raises(rb.UsageError, match="did you mean"):
        rb.microdata.by_region(more, "born", more={"Kosovo": "Southern Europ"})
    with pytest.raises(rb.UsageError, match="no sub-region"):
        rb.microdata.by_region(more, "born", more={"Kosovo": {"in": "Europe"}})
    own = rb.microdata.by_region(more, "born", more={"Kosovo": "Southern Europe"})
    assert own.up("Kosovo", 2) == "Europe"
    with pytest.raises(rb.errors.DataError, match="no codes of ICD-10"):
        rb.microdata.by_icd10(more, "born")


def test_every_country_stands_once_and_codes_that_may_be_states_are_not_proposed():
    from reidbn.microdata import countries

    by_code = {name: where for name, where in countries().items() if len(name) == 2}
    by_three = [name for name in countries() if len(name) == 3]
    assert len(by_code) == 248  # 247 of ISO 3166 that M49 puts in a region, and "UK"
    assert len(by_three) == 247
    assert len({part for part, _ in countries().values()}) == 22
    assert len({region for _, region in countries().values()}) == 5
    states = rb.read_table({"s": ["AL", "CA", "GA", "IN", "DE"] * 4}, quasi_identifiers=["s"])
    ladder = rb.microdata.propose_hierarchies(states).get("s")
    assert ladder is None or "Europe" not in {ladder.up(v, 1) for v in ("AL", "DE")}


STATES = ["AL", "CA", "GA", "IN", "DE", "MO", "MA"]


@pytest.mark.parametrize(
    ("column", "values", "parts"),
    [
        ("birth_country", STATES, 7),  # Albania, Canada, Gabon, India, Germany, Macao, Morocco
        ("birthCountry", STATES, 7),
        ("NATIONALITY", [v.lower() for v in STATES], 7),
        ("country of birth", ["DE", "France", "usa", "United Kingdom", "PER"], 4),
        ("home", ["DEU", "FRA", "USA", "GBR", "PER"], 4),
        ("state", STATES, None),
        ("vaccination", STATES, None),  # has "nation" in it
        ("donation", STATES, None),
        ("home", ["deu", "fra", "usa", "gbr"], None),  # may be languages
        ("country", [*STATES, "XX"], None),
    ],
)
def test_codes_of_countries_are_proposed_where_they_can_be_nothing_else(column, values, parts):
    people = rb.read_table({column: values * 4}, quasi_identifiers=[column])
    found = rb.microdata.propose_hierarchies(people).get(column)
    regions = {region for _, region in countries_of().values()}
    tops = {found.up(v, found.levels - 1) for v in values} if found else set()
    assert (tops <= regions and found is not None) == (parts is not None)
    if parts:
        assert len({found.up(v, 1) for v in values}) == parts
        by_name = rb.microdata.by_region(people, column)
        assert all(found.up(v, level) == by_name.up(v, level) for v in values for level in (1, 2))


def countries_of():
    from reidbn.microdata import countries

    return countries()


UK = {  # sector, district and area by hand
    "OX12 6HU": ("OX12 6", "OX12", "OX"), "OX12 7AB": ("OX12 7", "OX12", "OX"),
    "OX1 1DP": ("OX1 1", "OX1", "OX"), "M1 1AE": ("M1 1", "M1", "M"),
    "M60 1NW": ("M60 1", "M60", "M"), "EC1A 1BB": ("EC1A 1", "EC1A", "EC"),
    "W1A 0AX": ("W1A 0", "W1A", "W"), "CR26XH": ("CR2 6", "CR2", "CR"),
    "dn55 1pt": ("DN55 1", "DN55", "DN"), "B338TH": ("B33 8", "B33", "B"),
}  # fmt: skip


def test_postcodes_of_the_uk_go_up_by_sector_district_and_area():
    people = rb.read_table({"home": [*UK] * 2}, quasi_identifiers=["home"])
    ladder = rb.microdata.propose_hierarchies(people)["home"]
    assert ladder.levels == 4
    for value, steps in UK.items():
        assert tuple(ladder.up(value, level) for level in (1, 2, 3)) == steps
    for other in ("K1A 0B6", "1234 AB", "OX12", "OX12  6HU", "OX12 6H", "OXF1 2AB"):
        some = rb.read_table({"home": [*UK, other] * 2}, quasi_identifiers=["home"])
        found = rb.microdata.propose_hierarchies(some).get("home")
        assert found is None or "OX" not in {found.up("OX1 1DP", i) for i in range(found.levels)}
    plan = rb.recommend(people, target="k=2", hierarchies="auto")
    assert plan.best.levels == {"home": 0}
    plan = rb.recommend(people, target="k=3", hierarchies="auto", suppress_at_most=0.9)
    assert plan.apply().k() >= 3


ONE_DECADE = [f"2025-{m:02d}-{d:02d}" for m in range(1, 13) for d in (3, 17, 28)]
LEFT = {
    "one decade": ([*ONE_DECADE, "2024-05-05"], [37, 13, 2, 1]),
    "one year": (ONE_DECADE, [36, 12, 1]),
    "one month": ([f"2025-03-{d:02d}" for d in range(1, 29)], None),
    "ages under forty": (list(range(20, 41)) * 3, [21, 5, 3, 2, 1]),
    "one place": ([f"0710{i}" for i in range(10)], [10, 1]),
}


@pytest.mark.parametrize("name", LEFT)
def test_a_level_that_leaves_one_value_is_not_proposed(name):
    """Sizes counted from the values that each level makes."""
    values, sizes = LEFT[name]
    people = rb.read_table(pd.DataFrame({"v": values}), quasi_identifiers=["v"])
    found = rb.microdata.propose_hierarchies(people).get("v")
    if found is None:
        assert sizes is None or sizes == [len({*values}), 1]
        return
    labels = people.labels("v").tolist()
    left = [len({found.up(v, level) for v in labels}) for level in range(found.levels + 1)]
    assert left == sizes


def test_what_each_level_leaves_is_said(shell, tmp_path):
    pd.DataFrame({"day": ONE_DECADE * 3, "sex": ["f", "m"] * 54}).to_csv(tmp_path / "t.csv")
    code, said = shell("recommend", str(tmp_path / "t.csv"), "--qi", "day,sex", "--target", "k=3",
                       "--auto")  # fmt: skip
    assert code == 0
    assert "proposed for day: 36 values; level 1 leaves 12 (2025-01-03 -> 2025-01), " \
           "level 2 none" in said  # fmt: skip


def test_bands_that_overlap_are_not_proposed_as_rare_words():
    values = np.repeat(["0-15", "10-20", "20-30", "30-40"], [1, 1, 90, 90])
    people = rb.read_table(pd.DataFrame({"age": values}), quasi_identifiers=["age"])
    assert rb.microdata.propose_hierarchies(people) == {}


@pytest.mark.parametrize("by", ["quantiles", "width"])
@pytest.mark.parametrize("whole", [True, False])
def test_no_part_is_called_by_what_a_person_has(by, whole):
    """The highest income of somebody who is left out stood in the file of all others."""
    rng = np.random.default_rng(4)
    income = [*rng.integers(20_011, 89_999, 400), 4_871_233] if whole else (
        [*(np.round(rng.lognormal(3, 1, 400), 4)), 871.2331])  # fmt: skip
    people = rb.read_table({"income": income}, quasi_identifiers=["income"])
    ladder = rb.microdata.in_parts(people, "income", [8, 4, 2], by=by)
    for level in (1, 2, 3):
        labels = ladder.all_up(people.labels("income").tolist(), level)
        said = " ".join(set(labels))
        assert not [x for x in income if (x > 1000 and str(x) in said) or repr(float(x)) in said]
        for value, label in zip(people.labels("income").tolist(), labels, strict=True):
            low, high = rb.microdata.interval(label)
            assert low <= value <= high
