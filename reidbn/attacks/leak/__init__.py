"""The leak: someone copies part of an anonymised table and looks for patients [Antoniou22].

    import reidbn as rb

    rb.leak.risk(records=10_000, leaked=4_000, class_size=5)        one target
    rb.leak.risk(people, leaked=4_000)                              a patient of a real table
    rb.leak.assess(people, leaked=4_000)                            everybody, with a page
    rb.leak.joint_risk({5: 2000}, leaked=4_000, targets=15)         all of many targets
    rb.leak.number_identified({5: 2000}, leaked=4_000, targets=15)  how many of them
    rb.leak.smallest_k(records=10_000, leaked=4_000, threshold=0.09)   design backwards

Classes are {class size: number of classes}, or a table of people.  The same attacks as graphs that
any engine answers are the models leak-single, leak-classes, leak-targets and their variations.
"""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "ask": "Homogeneity TargetRisk between classes_of equal_classes given_target "
        "homogeneity risk risks",
        "design": "Loss information_loss k_curve largest_leak non_uniform_entropy "
        "smallest_k trade_off",
        "graph": "as_attack",
        "result": "Leak assess",
        "targets": "Estimate NumberIdentified Simulation any_identified "
        "expected_identified joint_risk number_identified simulate",
        "variations": "Claims claims history_risks homogeneity_risks partial_histories",
    },
)
