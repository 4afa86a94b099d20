"""Random model files with plates: words and pairs, over parameters, members, nodes, questions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

GRID = (0.125, 0.25, 0.5, 0.75)
WORDS = ("ann", "bob", "cy", "di")


def plated_file(rng: np.random.Generator) -> str:
    """The text of a random file, some of it written once for several."""

    def pick(of: Any) -> Any:
        return of[int(rng.integers(len(of)))]

    def number() -> Any:
        return pick([pick(GRID), "$p_[who]", "$p"])

    who = list(WORDS[: int(rng.integers(1, 4))])
    pairs = [f"{a}>{b}" for a in who for b in WORDS if a != b]
    steps = [pairs[i] for i in sorted(rng.permutation(len(pairs))[: int(rng.integers(1, 3))])]
    used = sorted({word for pair in steps for word in pair.split(">")})
    file: dict[str, Any] = {
        "schema_version": 1,
        "name": "plated",
        "repeat": {"who": sorted({*who, *used}), "step": steps},
        "parameters": {
            "p": {"value": pick(GRID), "source": "assumption"},
            "p_[who]": {"value": pick(GRID), "source": "assumption", "story": "Of [who]"},
        },
        "groups": {
            "known": {
                "members": pick([["k_[who]"], ["k_[who]", "k_more"]]),
                "probability": pick([0.5, "$p", ["$p_[who]"]]),
                "source": "assumption",
            }
        },
        "nodes": {
            "in_[who]": {
                "cpd": {"kind": "probability", "p": number()},
                "source": "assumption",
            },
            "from_[step.from]_to_[step.to]": {
                "parents": pick([["in_[step.from]", "in_[step.to]"], ["in_[step.*]"]]),
                "cpd": {"kind": pick(["and", "or"])},
            },
            "out_[step.from]": {
                "parents": pick([["in_[step.to]"], ["from_[step.from]_to_*"]]),
                "cpd": {"kind": "noisy-or", "weights": pick([0.5, "$p"])},
                "source": "assumption",
            },
            "rows_[who]": {
                "parents": ["in_[who]", "k_[who]"],
                "rows": [
                    {"when": {"in_[who]": "yes", "k_[who]": "yes"}, "p": {"yes": number(),
                                                                          "no": "rest"}},
                    {"p": [0.5, 0.5]},
                ],
                "source": "assumption",
            },
            "any": {
                "parents": pick([["known", "in_[who]"], ["in_*"], ["rows_*", "from_*"],
                                 ["k_*", "rows_ann"], ["out_[step.from]", "in_ann", "in_*"]]),
                "cpd": {"kind": pick(["and", "or"])},
            },
        },
        "questions": {"q_[who]": {"target": "rows_[who]=yes", "given": {"in_[who]": "yes"}},
                      "all": {"target": "any=yes", "given": {"in_[who]": pick(["no", "yes"])}}},
    }  # fmt: skip
    link = file["nodes"]["from_[step.from]_to_[step.to]"]
    if link["parents"] == ["in_[step.*]"]:
        link["parents"] = ["in_[step.to]", "in_[step.from]"]
    probability = file["groups"]["known"]["probability"]
    if isinstance(probability, list) and "k_more" in file["groups"]["known"]["members"]:
        probability.append(0.25)
    return json.dumps(file, indent=1)
