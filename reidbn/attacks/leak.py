"""The leak: someone copies part of an anonymised table and looks for patients [Antoniou22].

    import reidbn as rb

    rb.leak.risk(records=10_000, leaked=4_000, class_size=5)        one target
    rb.leak.risk(people, leaked=4_000)                              a patient of a real table
    rb.leak.assess(people, leaked=4_000)                            everybody, with a page
    rb.leak.joint_risk({5: 2000}, leaked=4_000, targets=15)         all of many targets
    rb.leak.number_identified({5: 2000}, leaked=4_000, targets=15)  how many of them
    rb.leak.smallest_k(records=10_000, leaked=4_000, target=0.09)   design backwards

Classes are {class size: number of classes}, or a table of people.  The same attacks as graphs that
any engine answers are the models leak-single, leak-classes, leak-targets and their variations.
"""

from __future__ import annotations

from reidbn.attacks.leak_claims import Claims, claims
from reidbn.attacks.leak_classes import classes_of, equal_classes
from reidbn.attacks.leak_design import k_curve, largest_leak, smallest_k
from reidbn.attacks.leak_graph import as_attack
from reidbn.attacks.leak_histories import partial_histories
from reidbn.attacks.leak_loss import Loss, information_loss, non_uniform_entropy, trade_off
from reidbn.attacks.leak_people import risks
from reidbn.attacks.leak_result import Leak, assess
from reidbn.attacks.leak_single import (
    Homogeneity,
    TargetRisk,
    between,
    given_target,
    homogeneity,
    risk,
)
from reidbn.attacks.leak_table import history_risks, homogeneity_risks
from reidbn.attacks.leak_targets import (
    Estimate,
    NumberIdentified,
    Simulation,
    any_identified,
    expected_identified,
    joint_risk,
    number_identified,
    simulate,
)

__all__ = [
    "Claims",
    "Estimate",
    "Homogeneity",
    "Leak",
    "Loss",
    "NumberIdentified",
    "Simulation",
    "TargetRisk",
    "any_identified",
    "as_attack",
    "assess",
    "between",
    "claims",
    "classes_of",
    "equal_classes",
    "expected_identified",
    "given_target",
    "history_risks",
    "homogeneity",
    "homogeneity_risks",
    "information_loss",
    "joint_risk",
    "k_curve",
    "largest_leak",
    "non_uniform_entropy",
    "number_identified",
    "partial_histories",
    "risk",
    "risks",
    "simulate",
    "smallest_k",
    "trade_off",
]
