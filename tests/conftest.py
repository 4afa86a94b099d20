"""Where the real tables are, and a clear word when they are not there."""

import os
from functools import cache, partialmethod
from inspect import signature
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import settings

import reidbn as rb
from reidbn.cli import main

if "mix_stderr" in signature(CliRunner).parameters:  # click 8.1: errors apart only where asked
    CliRunner.__init__ = partialmethod(CliRunner.__init__, mix_stderr=False)
    Result.output = property(lambda found: found.stdout + found.stderr)

settings.register_profile("reidbn", deadline=None)  # a busy machine is no fault of the product
settings.load_profile("reidbn")

ROOT = Path(__file__).resolve().parent.parent


@cache
def shipped() -> dict[str, rb.Attack]:
    """Read once for all lists of cases, where one is asked for."""
    return {name: rb.load(name) for name in rb.models()}


def undecided() -> list[str]:
    """A decision has no table until somebody decides: its files are refused (test_decide)."""
    return [name for name, attack in shipped().items() if not attack.decisions]


def third(cases):
    """Every third case; the others are slow tests, which CI runs where they are named."""
    slow = pytest.mark.slow
    return [pytest.param(*case, marks=[slow] * (i % 3 > 0)) for i, case in enumerate(cases)]


# Files with many long cases of one kind: every fourth is tried by default, CI tries them all.
WIDE = {
    "test_assess_kept.py", "test_assess_named.py", "test_assess_product.py", "test_cascade.py",
    "test_cli_results.py", "test_columns.py", "test_compare_files.py", "test_compared.py",
    "test_counting.py", "test_crosscheck.py", "test_disclosure_page.py", "test_drawing.py",
    "test_each_question_its_evidence.py", "test_editor.py", "test_emptied.py",
    "test_every_measure_is_checked.py", "test_evidence.py", "test_examples.py", "test_explained.py",
    "test_families.py", "test_interchange.py", "test_leak_bounds.py", "test_leak_truth.py",
    "test_ledger.py", "test_library.py", "test_linkage_model.py", "test_modelfile.py",
    "test_modelfile_errors.py", "test_modelfile_fuzz.py", "test_nothing_given_away.py",
    "test_numbers_of_the_call.py", "test_one_meaning.py", "test_pgmpy_export.py",
    "test_pitman_formulas.py", "test_plan_beside.py", "test_plan_emptying.py",
    "test_plan_lattices.py", "test_plates.py", "test_population_coherence.py",
    "test_population_intervals.py", "test_recommend.py", "test_result.py", "test_reuse.py",
    "test_rules.py", "test_scenario.py", "test_second_oracle.py", "test_sensitivity.py",
    "test_sensitivity_priors.py", "test_similar_sizes.py", "test_solve_truth.py",
    "test_structured_subsets.py", "test_subsets.py", "test_summed.py",
    "test_suppressed_population.py", "test_tables_seams.py", "test_targets.py",
    "test_targets_number.py", "test_told_by_chance.py", "test_unseen.py",
    "test_values_of_ones_own.py", "test_where_he_decides_otherwise.py", "test_whose_uncertainty.py",
    "test_wide_gates.py", "test_wrong_types.py",
}  # fmt: skip


# Of these, whose every test is long, the default run tries every second one.
LONG = {
    "test_asked_again.py", "test_assess_cells.py", "test_chains.py", "test_cli_assess.py",
    "test_crosscheck.py", "test_datasets.py", "test_decide_together.py", "test_disclosure_page.py",
    "test_files_together.py", "test_last_level.py", "test_ledger.py", "test_library.py",
    "test_measured.py", "test_nothing_given_away.py", "test_plan_beside.py", "test_population.py",
    "test_population_cli.py", "test_population_coherence.py", "test_recommend_attacks.py",
    "test_report.py", "test_result.py", "test_rules.py", "test_sensitivity.py",
    "test_structured_subsets.py", "test_summed.py", "test_suppress.py",
    "test_suppressed_population.py", "test_told_by_chance.py", "test_where_he_decides_otherwise.py",
    "test_wrong_calls.py",
}  # fmt: skip


def pytest_collection_modifyitems(items):
    cases = [item for item in items if item.path.name in WIDE and "[" in item.nodeid]
    for i, item in enumerate(cases):
        if i % 4:
            item.add_marker(pytest.mark.wide)
    for name in LONG:
        whole = [i for i in items if i.path.name == name and not {"wide", "slow"} & _marks(i)]
        for item in whole[1::2]:
            item.add_marker(pytest.mark.wide)


def _marks(item):
    return {mark.name for mark in item.iter_markers()}


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with `data/` and `oracles/`, beside the project; a test that needs it skips."""
    place = ROOT.parent / "shared"
    if not (place / "oracles").is_dir():
        pytest.skip("the outside oracles (../shared) are not on this machine")
    return place


@pytest.fixture(scope="session")
def authored(shared) -> Path:
    """Published adversaries as they were written before the language had words for them."""
    return shared / "authored"


@pytest.fixture
def shell(capsys):
    """(exit code, what is printed, its errors after it) of a command."""

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out + printed.err

    return run


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The real tables: REIDBN_DATA, or ../shared/data; a test that needs them skips."""
    named = os.environ.get("REIDBN_DATA")
    for place in [Path(named)] if named else [ROOT.parent / "shared" / "data"]:
        if place.is_dir():
            return place
    pytest.skip("the real tables are not here: set REIDBN_DATA to their folder")
