"""What the neighbours' records give away of a secret: attribute disclosure [Kroes21].

import reidbn as rb

d = rb.disclosure(people, "diagnosis")                    for every person, all subsets
rb.secrets.disclosure_all(people)                         every column in turn as the secret
rb.secrets.best_generalisation(people, "age", "diagnosis", p=0.1)
rb.secrets.smoothed_disclosure(people, "diagnosis", posterior="network", p=0.05)
"""

from reidbn.late import face

__getattr__ = face(
    __name__,
    {
        "ask": "DisclosureAll disclosure disclosure_all disclosure_crosscheck",
        "generalise": "best_generalisation equal_width_search generalisation_effect "
        "generalise_several",
        "result": "Disclosure",
        "smoothed": "disclosure_calibration smoothed_disclosure",
    },
)
