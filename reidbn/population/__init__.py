"""Population uniqueness: fits with status and interval, models compared, all subsets at once."""

from reidbn.population.compare import compare
from reidbn.population.curve import uniqueness_curve
from reidbn.population.fitting import MODELS, fit
from reidbn.population.pitman import PitmanFit
from reidbn.population.rehearsal import Rehearsal
from reidbn.population.result import Uniqueness
from reidbn.population.subsets import SubsetFits, fit_subsets, fit_tables

__all__ = [
    "MODELS",
    "PitmanFit",
    "Rehearsal",
    "SubsetFits",
    "Uniqueness",
    "compare",
    "fit",
    "fit_subsets",
    "fit_tables",
    "uniqueness_curve",
]
