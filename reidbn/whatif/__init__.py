"""What if: sweep, tornado, solve, compare, uncertainty, for every attack alike."""

from reidbn.whatif.bars import Tornado, tornado
from reidbn.whatif.cases import BringsCase, Change, case_of, change
from reidbn.whatif.comparison import Comparison, compare
from reidbn.whatif.crossings import Solution, solve
from reidbn.whatif.distributions import Uncertainty, subject_uncertainty, uncertainty
from reidbn.whatif.indices import Sobol, sobol
from reidbn.whatif.slopes import derivative, derivatives
from reidbn.whatif.sweeps import sweep

__all__ = [
    "BringsCase",
    "Change",
    "Comparison",
    "Sobol",
    "Solution",
    "Tornado",
    "Uncertainty",
    "case_of",
    "change",
    "compare",
    "derivative",
    "derivatives",
    "sobol",
    "solve",
    "subject_uncertainty",
    "sweep",
    "tornado",
    "uncertainty",
]
