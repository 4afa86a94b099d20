"""Threats by the names that others gave them: LINDDUN, the three of [WP216], the five safes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

from reidbn.attack.cells import FIVE_SAFES, LINDDUN, WP216
from reidbn.errors import WARNING, Problem

if TYPE_CHECKING:
    from reidbn.attack.attack import Attack

# The key of a node, how the list is called, and its words.
FRAMEWORKS: dict[str, tuple[str, tuple[str, ...]]] = {
    "linddun": ("LINDDUN threat type", LINDDUN),
    "wp216": ("risk of [WP216]", WP216),
    "five_safes": ("safe of the five [Desai16]", FIVE_SAFES),
}
_TREE = re.compile(r"(L|I|Nr?|D|DD|U|Nc?)(\.\d+)*\Z")  # of the threat trees, such as I.2.1
_TREES = dict(zip(("L", "I", "N", "D", "DD", "U", "Nc"), LINDDUN, strict=True)) | {
    "Nr": "Non-repudiation"
}
# Other names: earlier editions of LINDDUN, and common forms of the words.
_SYNONYMS: dict[str, dict[str, str]] = {
    "linddun": {
        "linkability": "Linking",
        "linkable": "Linking",
        "identifiability": "Identifying",
        "identification": "Identifying",
        "nonrepudiation": "Non-repudiation",
        "detectability": "Detecting",
        "disclosureofinformation": "Data disclosure",
        "informationdisclosure": "Data disclosure",
        "disclosure": "Data disclosure",
        "unawareness": "Unawareness and unintervenability",
        "contentunawareness": "Unawareness and unintervenability",
        "unintervenability": "Unawareness and unintervenability",
        "unawarenessunintervenability": "Unawareness and unintervenability",
        "noncompliance": "Non-compliance",
        "policyandconsentnoncompliance": "Non-compliance",
    },
    "wp216": {"singlingout": "Singling out", "linking": "Linkability", "inferring": "Inference"},
    "five_safes": {
        word: f"Safe {word}" for word in ("projects", "people", "settings", "data", "outputs")
    },
}


def threat(framework: str, tag: str) -> str | None:
    """The threat that a tag means, by any of its names; None when it is none.

    >>> threat("linddun", "identifiability"), threat("linddun", "I.2.1"), threat("wp216", "linking")
    ('Identifying', 'Identifying', 'Linkability')
    """
    found = _known(framework).get(_bare(tag))
    tree = _TREE.match(tag) if framework == "linddun" and found is None else None
    return _TREES[tree[1]] if tree else found


def is_threat_type(tag: str) -> bool:
    """True for a LINDDUN threat type, by any of its names or its place in the threat trees.

    >>> is_threat_type("identifiability"), is_threat_type("I.2.1"), is_threat_type("Identifing")
    (True, True, False)
    """
    return threat("linddun", tag) is not None


def excluded_threat(name: str) -> tuple[str, str] | None:
    """Framework and threat that `excluded:` names: by its own name first, then by another one."""
    for framework, (_, words) in FRAMEWORKS.items():
        if name in words:
            return framework, name
    for framework in FRAMEWORKS:
        if (found := threat(framework, name)) is not None:
            return framework, found
    return None


def threat_problems(attack: Attack) -> Iterator[Problem]:
    """Tags that are no threats, and threats that are modelled and excluded at once: warnings."""
    modelled: dict[tuple[str, str], str] = {}
    for node in attack.nodes.values():
        for framework, (what, words) in FRAMEWORKS.items():
            for i, tag in enumerate(getattr(node, framework)):
                found = threat(framework, tag)
                if found is None:
                    message = f'"{tag}" is no {what}; {_nearest(tag, framework, words)}'
                    at = ("nodes", node.name, framework, i)
                    yield Problem(at, message, level=WARNING)
                else:
                    modelled.setdefault((framework, found), node.name)
    for name in attack.excluded:
        where = ("excluded", name)
        excluded = excluded_threat(name)
        if excluded is None:
            every = tuple(word for _, words in FRAMEWORKS.values() for word in words)
            near = get_close_matches(name, every, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(every)}"
            yield Problem(where, f"is no threat; {hint}", at_key=True, level=WARNING)
        elif excluded in modelled:
            message = f"is excluded here, and node {modelled[excluded]} models it; say one of them"
            yield Problem(where, message, at_key=True, level=WARNING)


def _bare(tag: str) -> str:
    return re.sub(r"[^a-z]", "", tag.lower())


def _known(framework: str) -> dict[str, str]:
    return {_bare(name): name for name in FRAMEWORKS[framework][1]} | _SYNONYMS[framework]


def _nearest(tag: str, framework: str, words: tuple[str, ...]) -> str:
    known = _known(framework)
    near = get_close_matches(_bare(tag), known, n=1)
    return f'did you mean "{known[near[0]]}"?' if near else f"known: {', '.join(words)}"
