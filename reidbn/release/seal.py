"""A seal in every report: a digest of its text, and what it was made from.

The digest finds a number that was changed, or a page cut short; it is nobody's signature, since
who changes a page can seal it again.  Of the table nothing is kept outside the house: who knows all
records but one could try the last until a digest of them agrees.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from reidbn.errors import UsageError

_START = "<!-- reidbn-seal {"
_MARK = re.compile(_START + r"(.*)\} -->\n?\Z", re.DOTALL)


def sealed(text: str, made_from: Mapping[str, Any]) -> str:
    """The text of a report (HTML, Markdown or JSON) with its seal at the end.

    >>> unsealed(sealed("# 12 people", {"attack": "a"}))
    ('# 12 people', {'attack': 'a'}, True)
    """
    seal = {"made_from": dict(made_from), "sha256": _digest(text, made_from)}
    if text.startswith("{"):
        content = json.loads(text)
        return json.dumps(content | {"seal": seal}, indent=1) + "\n"
    written = json.dumps(seal, sort_keys=True).replace("--", "-\\u002d").replace(">", "\\u003e")
    return f"{text}<!-- reidbn-seal {written} -->\n"


def unsealed(text: str) -> tuple[str, dict[str, Any], bool]:
    """The text without its seal, what it was made from, and whether it is as it was written."""
    try:
        if text.startswith("{"):
            content = _read(text)
            seal = content.pop("seal")
            body = json.dumps(content, indent=1) + "\n"
        else:
            last = text.rfind(_START)  # a cell may hold one, and no seal does
            found = _MARK.match(text, last) if last >= 0 else None
            seal = _read(f"{{{found[1]}}}") if found else {}
            body = text[: found.start()] if found else text
        made_from, digest = dict(seal["made_from"]), str(seal["sha256"])
        is_whole = digest == _digest(body, made_from)
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(
            "there is no seal in it: it is no report or page of people (the page of a model alone "
            "has none), of an older reidbn, cut short, or something stands after its end"
        ) from None
    return body, made_from, is_whole


def _read(text: str) -> dict[str, Any]:
    return dict(json.loads(text, object_pairs_hook=_each_once))


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, refused where it says two things of one key: readers differ on which."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f'the key "{twice[:40]}" stands in it twice: it was changed')
    return found


def _digest(text: str, made_from: Mapping[str, Any]) -> str:
    if text.startswith("{"):
        text = json.dumps(json.loads(text), sort_keys=True)
    about = json.dumps(made_from, sort_keys=True, default=str)
    return hashlib.sha256(f"{about}\n{text}".encode()).hexdigest()
